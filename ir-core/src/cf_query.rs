//! Questions about the control-flow tree that several passes ask.

use crate::cf::NodeKind;
use crate::entity::{Block, CfList, Def, Node};
use crate::func::Function;
use crate::instr::JumpKind;

impl Function {
    /// Whether a node still stands in the body (it may have been removed, or extracted). O(depth).
    pub fn is_in_tree(&self, node: Node) -> bool {
        let mut node = node;
        loop {
            // What is unlinked has no neighbours, and what is deleted was in a list that is left without nodes.
            let stands = match self.node_kind(node) {
                NodeKind::Block(block) => self.block_node(block) == Some(node),
                NodeKind::If { .. } | NodeKind::Loop { .. } | NodeKind::Once { .. } => {
                    self.prev_node(node).is_some()
                }
            };
            let list = self.node_list(node);
            if !stands || self.lists[list.index()].first.get().is_none() {
                return false;
            }
            match self.list_owner(list) {
                Some(owner) => node = owner,
                None => return list == self.body(),
            }
        }
    }

    /// Whether a block stands in the continue list of a loop, perhaps deeper. O(depth).
    pub fn in_continue_list(&self, block: Block) -> bool {
        let mut node = self.block_node(block);
        while let Some(inner) = node {
            let list = self.node_list(inner);
            node = self.list_owner(list);
            if let Some(NodeKind::Loop { continue_list, .. }) = node.map(|n| self.node_kind(n))
                && continue_list == list
            {
                return true;
            }
        }
        false
    }

    /// Whether the code of a list has a `break` that leaves the loop or `once` whose body the list is.
    pub fn has_break(&self, list: CfList) -> bool {
        let mut lists = vec![list];
        while let Some(list) = lists.pop() {
            for node in self.list_nodes(list) {
                match self.node_kind(node) {
                    NodeKind::Block(block) => {
                        if self.block_jump(block).is_some_and(|(_, jump)| jump == JumpKind::Break) {
                            return true;
                        }
                    }
                    NodeKind::If { then_list, else_list } => lists.extend([then_list, else_list]),
                    // Their breaks are their own.
                    NodeKind::Loop { .. } | NodeKind::Once { .. } => {}
                }
            }
        }
        false
    }

    /// Removes the jump at the end of a block that falls to the jump's target anyway: edges and phis stay.
    pub fn drop_trailing_jump(&mut self, block: Block) {
        let Some((jump, _)) = self.block_jump(block) else { return };
        let before = self.structural_successors(block);
        self.detach(jump);
        debug_assert_eq!(
            before,
            self.structural_successors(block),
            "the jump leads where the block falls to"
        );
        self.remove(jump);
    }

    /// Ends a block with another jump than the one it ends with. Phis of the new target get an undef source.
    pub fn replace_jump(&mut self, block: Block, jump: JumpKind, value: Option<Def>) {
        if let Some((old, _)) = self.block_jump(block) {
            self.remove(old);
        }
        self.add_jump(block, jump, value);
    }
}
