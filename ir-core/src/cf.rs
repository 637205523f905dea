//! The control-flow tree and the only code that edits it.
//!
//! A function's body is a list of nodes: blocks, `if`s, loops and `once` regions. A list begins and ends with a
//! block and alternates. From the tree follow the edges, [`Function::structural_successors`]; every edit ends by
//! relinking the blocks it touched, which keeps predecessors and phis in step. A block without predecessors
//! (other than the start block) has no successors either, so phis only have sources for edges that exist.
//!
//! Sections: reading the tree, edges, construction. Edits are in [`crate::cf_edit`].

use crate::entity::{Block, CfList, Def, Instr, Node, PackedOption, UseId};
use crate::func::Function;
use crate::instr::{InstrKind, JumpKind};
use smallvec::{SmallVec, smallvec};

/// A node of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A basic block.
    Block(Block),
    /// Two branches by a 1-bit condition.
    If {
        /// Taken where the condition is true.
        then_list: CfList,
        /// Taken where it is false.
        else_list: CfList,
    },
    /// A loop: the body, then the continue list, then the body again.
    Loop {
        /// Left by `break`; `continue` and its end go to the continue list.
        body: CfList,
        /// Holds no jumps; its end is the only back edge.
        continue_list: CfList,
    },
    /// Code that runs once and that `break` leaves.
    Once {
        /// The code.
        body: CfList,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeData {
    pub kind: NodeKind,
    pub list: CfList,
    pub prev: PackedOption<Node>,
    pub next: PackedOption<Node>,
    /// The use record of an `if`'s condition.
    pub condition: PackedOption<UseId>,
    /// Hints of the source, as SPIR-V's selection and loop controls.
    pub control: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ListData {
    /// The node that the list is a part of; none for the function's body and for extracted lists.
    pub owner: PackedOption<Node>,
    pub first: PackedOption<Node>,
    pub last: PackedOption<Node>,
}

#[derive(Clone, Debug)]
pub(crate) struct BlockData {
    pub node: PackedOption<Node>,
    pub first: PackedOption<Instr>,
    pub last: PackedOption<Instr>,
    pub succs: [PackedOption<Block>; 2],
    pub preds: SmallVec<[Block; 2]>,
}

/// The parts of an `if` that was just made.
#[derive(Clone, Copy, Debug)]
pub struct IfParts {
    /// The node.
    pub node: Node,
    /// First (and so far only) block of the then branch.
    pub then_block: Block,
    /// First block of the else branch.
    pub else_block: Block,
    /// The block after the `if`.
    pub after: Block,
}

/// The parts of a loop that was just made.
#[derive(Clone, Copy, Debug)]
pub struct LoopParts {
    /// The node.
    pub node: Node,
    /// First block of the body: the loop header.
    pub body: Block,
    /// First block of the continue list.
    pub continue_block: Block,
    /// The block after the loop.
    pub after: Block,
}

/// The parts of a `once` that was just made.
#[derive(Clone, Copy, Debug)]
pub struct OnceParts {
    /// The node.
    pub node: Node,
    /// First block of the body.
    pub body: Block,
    /// The block after.
    pub after: Block,
}

/// A list of nodes that was taken out of the tree: begins and ends with a block.
#[must_use = "reinsert or delete what was extracted"]
#[derive(Debug)]
pub struct Extracted(pub(crate) CfList);

impl Extracted {
    /// First block of the list.
    pub fn first_block(&self, f: &Function) -> Block {
        f.first_block(self.0)
    }

    /// Last block of the list.
    pub fn last_block(&self, f: &Function) -> Block {
        f.last_block(self.0)
    }

    /// The list, to read it.
    pub fn list(&self) -> CfList {
        self.0
    }
}

// ---- reading the tree -------------------------------------------------------------------------------

impl Function {
    pub(crate) fn init_body(&mut self) {
        let list = self.new_list(None);
        debug_assert_eq!(list, self.body());
        let start = self.new_block_node(list);
        self.link_last(list, start);
        // Block 1 is the end block: in no list, without instructions.
        let end = self.new_block();
        debug_assert_eq!(end, self.end_block());
        self.relink(&[self.start_block()]);
    }

    /// The first block of the body.
    pub fn start_block(&self) -> Block {
        self.first_block(self.body())
    }

    /// The block that returns, halts and the end of the body lead to: empty, outside the tree.
    pub fn end_block(&self) -> Block {
        Block(1)
    }

    /// What a node is.
    pub fn node_kind(&self, node: Node) -> NodeKind {
        self.nodes[node.index()].kind
    }

    /// The node of a block; `None` for the end block and removed blocks.
    pub fn block_node(&self, block: Block) -> Option<Node> {
        self.blocks[block.index()].node.get()
    }

    /// The list that a node stands in.
    pub fn node_list(&self, node: Node) -> CfList {
        self.nodes[node.index()].list
    }

    /// The node before it in its list.
    pub fn prev_node(&self, node: Node) -> Option<Node> {
        self.nodes[node.index()].prev.get()
    }

    /// The node after it in its list.
    pub fn next_node(&self, node: Node) -> Option<Node> {
        self.nodes[node.index()].next.get()
    }

    /// The node that a list is a part of; `None` for the body.
    pub fn list_owner(&self, list: CfList) -> Option<Node> {
        self.lists[list.index()].owner.get()
    }

    /// The node around a node; `None` at the top of the body.
    pub fn parent(&self, node: Node) -> Option<Node> {
        self.list_owner(self.node_list(node))
    }

    /// First block of a list.
    pub fn first_block(&self, list: CfList) -> Block {
        self.node_block(self.lists[list.index()].first)
    }

    /// Last block of a list.
    pub fn last_block(&self, list: CfList) -> Block {
        self.node_block(self.lists[list.index()].last)
    }

    pub(crate) fn node_block(&self, node: PackedOption<Node>) -> Block {
        match node.get().map(|n| self.node_kind(n)) {
            Some(NodeKind::Block(block)) => block,
            _ => panic!(
                "a list begins and ends with a block, and blocks stand around every other node"
            ),
        }
    }

    /// The block before an `if`, loop or `once`.
    pub fn block_before(&self, node: Node) -> Block {
        self.node_block(self.nodes[node.index()].prev)
    }

    /// The block after an `if`, loop or `once`.
    pub fn block_after(&self, node: Node) -> Block {
        self.node_block(self.nodes[node.index()].next)
    }

    /// The nodes of a list in order.
    pub fn list_nodes(&self, list: CfList) -> impl Iterator<Item = Node> {
        let mut next = self.lists[list.index()].first.get();
        std::iter::from_fn(move || {
            let node = next?;
            next = self.next_node(node);
            Some(node)
        })
    }

    /// Hints on an `if` or loop that its source gave (SPIR-V 3.22, 3.23: flatten, unroll, …); 0 for none.
    pub fn node_control(&self, node: Node) -> u32 {
        self.nodes[node.index()].control
    }

    /// Sets the hints on an `if` or loop.
    pub fn set_node_control(&mut self, node: Node, control: u32) {
        self.nodes[node.index()].control = control;
    }

    /// The condition of an `if`.
    pub fn condition(&self, node: Node) -> Option<Def> {
        self.nodes[node.index()].condition.get().map(|id| self.uses[id.index()].def)
    }

    /// Makes an `if` test another value.
    pub fn set_condition(&mut self, node: Node, condition: Def) {
        if let Some(id) = self.nodes[node.index()].condition.get() {
            self.retarget(id, condition);
        }
    }

    /// The innermost loop around a block.
    pub fn innermost_loop(&self, block: Block) -> Option<Node> {
        self.enclosing(block, |kind| matches!(kind, NodeKind::Loop { .. }))
    }

    fn enclosing(&self, block: Block, is: impl Fn(NodeKind) -> bool) -> Option<Node> {
        let mut node = self.parent(self.block_node(block)?);
        while let Some(n) = node {
            if is(self.node_kind(n)) {
                return Some(n);
            }
            node = self.parent(n);
        }
        None
    }

    /// The lists that a node is made of, in order.
    pub fn child_lists(&self, node: Node) -> SmallVec<[CfList; 2]> {
        match self.node_kind(node) {
            NodeKind::Block(_) => smallvec![],
            NodeKind::If { then_list, else_list } => smallvec![then_list, else_list],
            NodeKind::Loop { body, continue_list } => smallvec![body, continue_list],
            NodeKind::Once { body } => smallvec![body],
        }
    }

    /// The block after this one in the order of the text, within the list `within` and what it contains.
    pub fn next_block_in(&self, block: Block, within: CfList) -> Option<Block> {
        let mut node = self.block_node(block)?;
        loop {
            if let Some(next) = self.next_node(node) {
                return Some(match self.node_kind(next) {
                    NodeKind::Block(block) => block,
                    _ => self.first_block(self.child_lists(next)[0]),
                });
            }
            let list = self.node_list(node);
            if list == within {
                return None;
            }
            let owner = self.list_owner(list)?;
            match self.node_kind(owner) {
                NodeKind::If { then_list, else_list } if then_list == list => {
                    return Some(self.first_block(else_list));
                }
                NodeKind::Loop { body, continue_list } if body == list => {
                    return Some(self.first_block(continue_list));
                }
                NodeKind::Block(_)
                | NodeKind::If { .. }
                | NodeKind::Loop { .. }
                | NodeKind::Once { .. } => {
                    node = owner;
                }
            }
        }
    }

    /// The blocks of a list and of all nodes in it, in the order of the text.
    pub fn list_blocks(&self, list: CfList) -> impl Iterator<Item = Block> {
        let mut next = Some(self.first_block(list));
        std::iter::from_fn(move || {
            let block = next?;
            next = self.next_block_in(block, list);
            Some(block)
        })
    }

    /// The blocks of the body in the order of the text, which is a reverse post-order of the edges; the end block apart.
    pub fn blocks(&self) -> impl Iterator<Item = Block> {
        self.list_blocks(self.body())
    }

    /// All instructions in the order of the text.
    pub fn all_instrs(&self) -> impl Iterator<Item = Instr> {
        self.blocks().flat_map(|b| self.instrs(b))
    }

    // ---- edges --------------------------------------------------------------------------------------

    /// The successors of a block: for the block before an `if`, the then branch first.
    pub fn succs(&self, block: Block) -> impl Iterator<Item = Block> + use<> {
        self.blocks[block.index()].succs.into_iter().filter_map(PackedOption::get)
    }

    /// The predecessors of a block, each once, in no particular order.
    pub fn preds(&self, block: Block) -> &[Block] {
        &self.blocks[block.index()].preds
    }

    /// Whether control can reach the block, as far as its predecessors tell: an unreachable loop keeps itself alive
    /// until [`Function::remove_unreachable`]. The first block of an extracted list counts as reachable.
    pub fn is_reachable(&self, block: Block) -> bool {
        !self.preds(block).is_empty() || self.is_root(block)
    }

    /// Whether the block is the first of the body or of an extracted list.
    fn is_root(&self, block: Block) -> bool {
        self.block_node(block).is_some_and(|node| {
            let list = self.node_list(node);
            self.lists[list.index()].first == node.into() && self.list_owner(list).is_none()
        })
    }

    /// Where the tree leads from a block.
    pub fn structural_successors(&self, block: Block) -> [Option<Block>; 2] {
        let Some(node) = self.block_node(block) else { return [None, None] };
        if let Some((_, jump)) = self.block_jump(block) {
            return [self.jump_target(block, jump), None];
        }
        if let Some(next) = self.next_node(node) {
            return match self.node_kind(next) {
                // Only while an edit is under way.
                NodeKind::Block(_) => [None, None],
                NodeKind::If { then_list, else_list } => {
                    [Some(self.first_block(then_list)), Some(self.first_block(else_list))]
                }
                NodeKind::Loop { body, .. } | NodeKind::Once { body } => {
                    [Some(self.first_block(body)), None]
                }
            };
        }
        let list = self.node_list(node);
        let Some(owner) = self.list_owner(list) else {
            return [(list == self.body()).then_some(self.end_block()), None];
        };
        let target = match self.node_kind(owner) {
            NodeKind::Loop { body, continue_list } if list == body => {
                self.first_block(continue_list)
            }
            NodeKind::Loop { body, .. } => self.first_block(body),
            NodeKind::Block(_) | NodeKind::If { .. } | NodeKind::Once { .. } => {
                self.block_after(owner)
            }
        };
        [Some(target), None]
    }

    fn jump_target(&self, block: Block, jump: JumpKind) -> Option<Block> {
        match jump {
            JumpKind::Return | JumpKind::Halt => self.is_in_body(block).then_some(self.end_block()),
            JumpKind::Break => {
                let around = self.enclosing(block, |k| {
                    matches!(k, NodeKind::Loop { .. } | NodeKind::Once { .. })
                })?;
                Some(self.block_after(around))
            }
            JumpKind::Continue => match self.node_kind(self.innermost_loop(block)?) {
                NodeKind::Loop { continue_list, .. } => Some(self.first_block(continue_list)),
                NodeKind::Block(_) | NodeKind::If { .. } | NodeKind::Once { .. } => None,
            },
        }
    }

    fn is_in_body(&self, block: Block) -> bool {
        let mut node = self.block_node(block);
        while let Some(n) = node {
            if self.node_list(n) == self.body() {
                return true;
            }
            node = self.parent(n);
        }
        false
    }

    /// Brings the edges out of the given blocks in line with the tree, and those of all blocks that this makes
    /// reachable or unreachable; predecessors and phis follow. A new edge gives each phi of its target an undef
    /// source.
    ///
    /// Edges are added before any is removed, so that no phi loses a source because its block was unreachable for a
    /// moment.
    pub(crate) fn relink(&mut self, dirty: &[Block]) {
        let dead = self.relink_keeping_dead(dirty);
        self.cut_dead(dead);
    }

    /// The same, but blocks that become unreachable keep the edges out of them. They are returned.
    pub(crate) fn relink_keeping_dead(&mut self, dirty: &[Block]) -> Vec<Block> {
        let mut work = dirty.to_vec();
        let mut removals = Vec::new();
        while let Some(block) = work.pop() {
            if !self.is_reachable(block) {
                continue; // perhaps it is reached below
            }
            let new = self.structural_successors(block);
            let old = self.blocks[block.index()].succs.map(PackedOption::get);
            self.blocks[block.index()].succs = new.map(PackedOption::from);
            let gone = old.into_iter().flatten().filter(|b| !new.contains(&Some(*b)));
            removals.extend(gone.map(|to| (block, to)));
            for come in new.into_iter().flatten().filter(|b| !old.contains(&Some(*b))) {
                if !self.is_reachable(come) {
                    work.push(come);
                }
                self.add_edge(block, come);
            }
        }
        let mut dead = Vec::new();
        for (from, to) in removals {
            self.remove_edge(from, to);
            dead.push(to);
        }
        dead.extend(dirty);
        dead.retain(|&b| !self.is_reachable(b));
        dead
    }

    /// Removes the edges out of the given blocks where they are unreachable, and out of all that this leaves
    /// unreachable.
    pub(crate) fn cut_dead(&mut self, mut dead: Vec<Block>) {
        while let Some(block) = dead.pop() {
            if self.is_reachable(block) {
                continue;
            }
            let succs =
                std::mem::replace(&mut self.blocks[block.index()].succs, [PackedOption::NONE; 2]);
            for succ in succs.into_iter().filter_map(PackedOption::get) {
                self.remove_edge(block, succ);
                dead.push(succ);
            }
        }
    }

    pub(crate) fn remove_edge(&mut self, from: Block, to: Block) {
        self.blocks[to.index()].preds.retain(|p| *p != from);
        let mut next = self.first_instr(to);
        while let Some(phi) = next.filter(|&i| self.kind(i) == InstrKind::Phi) {
            next = self.next_instr(phi);
            if let Some(slot) = self.phi_slot(phi, from) {
                self.remove_phi_src(phi, slot);
            }
        }
    }

    pub(crate) fn add_edge(&mut self, from: Block, to: Block) {
        if self.preds(to).contains(&from) {
            return;
        }
        self.blocks[to.index()].preds.push(from);
        let mut next = self.first_instr(to);
        while let Some(phi) = next.filter(|&i| self.kind(i) == InstrKind::Phi) {
            next = self.next_instr(phi);
            if self.phi_slot(phi, from).is_none() {
                let undef = self.undef_at_start(self.shape(phi.def()));
                self.add_phi_src(phi, from, undef);
            }
        }
    }

    /// Makes the phis of `from`'s successors name `to` in its place, and moves the edges.
    pub(crate) fn move_out_edges(&mut self, from: Block, to: Block) {
        let succs =
            std::mem::replace(&mut self.blocks[from.index()].succs, [PackedOption::NONE; 2]);
        self.blocks[to.index()].succs = succs;
        for succ in succs.into_iter().filter_map(PackedOption::get) {
            self.rename_pred(succ, from, to);
        }
    }

    pub(crate) fn rename_pred(&mut self, block: Block, from: Block, to: Block) {
        for pred in &mut self.blocks[block.index()].preds {
            if *pred == from {
                *pred = to;
            }
        }
        let mut next = self.first_instr(block);
        while let Some(phi) = next.filter(|&i| self.kind(i) == InstrKind::Phi) {
            next = self.next_instr(phi);
            if let Some(slot) = self.phi_slot(phi, from) {
                self.set_phi_pred(phi, slot, to);
            }
        }
    }

    // ---- construction ------------------------------------------------------------------------------

    /// The block that ends a list; `None` while the list is empty or ends with another node.
    pub(crate) fn last_list_block(&self, list: CfList) -> Option<Block> {
        match self.node_kind(self.lists[list.index()].last.get()?) {
            NodeKind::Block(block) => Some(block),
            NodeKind::If { .. } | NodeKind::Loop { .. } | NodeKind::Once { .. } => None,
        }
    }

    /// A list without nodes and owner.
    pub(crate) fn raw_list(&mut self) -> CfList {
        self.new_list(None)
    }

    /// Appends a new block to a list, without edges.
    pub(crate) fn append_block(&mut self, list: CfList) -> Block {
        let node = self.new_block_node(list);
        self.link_last(list, node);
        self.node_block(node.into())
    }

    /// Appends a node to a list and makes it the owner of its lists, without edges.
    pub(crate) fn append_node(&mut self, list: CfList, kind: NodeKind) -> Node {
        let node = self.new_node(kind, list);
        self.link_last(list, node);
        for inner in self.child_lists(node) {
            self.lists[inner.index()].owner = node.into();
        }
        node
    }

    /// Gives an `if` its condition; the use is in no use list yet.
    pub(crate) fn raw_condition(&mut self, node: Node, condition: Def) {
        let id = UseId(self.uses.len() as u32);
        self.uses.push(crate::instr::Use::new(
            condition,
            crate::instr::User::If(node),
            crate::instr::Swizzle::IDENTITY,
        ));
        self.nodes[node.index()].condition = id.into();
    }

    /// Makes the edges of a body anew, from the tree alone: phis are taken as they are.
    pub(crate) fn compute_edges(&mut self) {
        for block in &mut self.blocks {
            block.succs = [PackedOption::NONE; 2];
            block.preds.clear();
        }
        self.compute_edges_of(self.body());
    }

    /// Makes the edges between the blocks of the body or of an extracted list, none of which has any.
    pub(crate) fn compute_edges_of(&mut self, list: CfList) {
        let first = self.first_block(list);
        let mut work = vec![first];
        while let Some(block) = work.pop() {
            let succs = self.structural_successors(block);
            self.blocks[block.index()].succs = succs.map(PackedOption::from);
            for succ in succs.into_iter().flatten() {
                let preds = &mut self.blocks[succ.index()].preds;
                preds.push(block);
                if preds.len() == 1 && succ != first {
                    work.push(succ);
                }
            }
        }
    }

    pub(crate) fn new_block(&mut self) -> Block {
        self.blocks.push(BlockData {
            node: PackedOption::NONE,
            first: PackedOption::NONE,
            last: PackedOption::NONE,
            succs: [PackedOption::NONE; 2],
            preds: SmallVec::new(),
        });
        Block((self.blocks.len() - 1) as u32)
    }

    pub(crate) fn new_node(&mut self, kind: NodeKind, list: CfList) -> Node {
        self.nodes.push(NodeData {
            kind,
            list,
            prev: PackedOption::NONE,
            next: PackedOption::NONE,
            condition: PackedOption::NONE,
            control: 0,
        });
        Node((self.nodes.len() - 1) as u32)
    }

    pub(crate) fn new_block_node(&mut self, list: CfList) -> Node {
        let block = self.new_block();
        let node = self.new_node(NodeKind::Block(block), list);
        self.blocks[block.index()].node = node.into();
        node
    }

    pub(crate) fn new_list(&mut self, owner: Option<Node>) -> CfList {
        self.lists.push(ListData {
            owner: owner.into(),
            first: PackedOption::NONE,
            last: PackedOption::NONE,
        });
        CfList((self.lists.len() - 1) as u32)
    }

    /// A list with one empty block.
    pub(crate) fn new_list_with_block(&mut self) -> (CfList, Block) {
        let list = self.new_list(None);
        let node = self.new_block_node(list);
        self.link_last(list, node);
        (list, self.first_block(list))
    }

    pub(crate) fn link_last(&mut self, list: CfList, node: Node) {
        let last = self.lists[list.index()].last;
        self.link_between(list, node, last, PackedOption::NONE);
    }

    pub(crate) fn link_after(&mut self, node: Node, after: Node) {
        let list = self.node_list(after);
        let next = self.nodes[after.index()].next;
        self.link_between(list, node, after.into(), next);
    }

    pub(crate) fn link_between(
        &mut self,
        list: CfList,
        node: Node,
        prev: PackedOption<Node>,
        next: PackedOption<Node>,
    ) {
        let data = &mut self.nodes[node.index()];
        data.list = list;
        data.prev = prev;
        data.next = next;
        match prev.get() {
            Some(prev) => self.nodes[prev.index()].next = node.into(),
            None => self.lists[list.index()].first = node.into(),
        }
        match next.get() {
            Some(next) => self.nodes[next.index()].prev = node.into(),
            None => self.lists[list.index()].last = node.into(),
        }
    }

    pub(crate) fn unlink_node(&mut self, node: Node) {
        let NodeData { list, prev, next, .. } = self.nodes[node.index()];
        match prev.get() {
            Some(prev) => self.nodes[prev.index()].next = next,
            None => self.lists[list.index()].first = next,
        }
        match next.get() {
            Some(next) => self.nodes[next.index()].prev = prev,
            None => self.lists[list.index()].last = prev,
        }
        self.nodes[node.index()].prev = PackedOption::NONE;
        self.nodes[node.index()].next = PackedOption::NONE;
    }
}
