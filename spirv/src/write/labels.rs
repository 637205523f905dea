//! Labels of a function's blocks, and which blocks are not written.
//!
//! An empty block is left out where its one predecessor can branch where it leads: branches of an `if`, arms of a
//! switch, what stands behind a conditional break. A loop's first block is two in SPIR-V, the header with the phis and
//! OpLoopMerge and the rest, unless it ends in a plain branch or a conditional break, which may follow OpLoopMerge.

use super::Writer;
use super::switch::Switches;
use deburr_ir_core::{Block, CfList, Function, JumpKind, Node, NodeKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Labels of a function's blocks.
#[derive(Default)]
pub(super) struct Labels {
    /// By block number: the label that branches name.
    ids: Vec<u32>,
    /// Label of the second part of a loop's first block, where it has one.
    rests: FxHashMap<Block, u32>,
    /// Blocks that are not written: where branches to them lead.
    forwards: FxHashMap<Block, Block>,
    /// Blocks that are not written: the block that branches in their place.
    origins: FxHashMap<Block, Block>,
    /// Blocks that are not written.
    elided: FxHashSet<Block>,
    /// By block number: place in the text.
    positions: Vec<u32>,
}

impl Labels {
    pub fn assign(w: &mut Writer<'_>, f: &Function, switches: &Switches) -> Self {
        let mut labels = Labels {
            ids: vec![0; f.block_capacity()],
            positions: vec![u32::MAX; f.block_capacity()],
            ..Labels::default()
        };
        let blocks: Vec<Block> = f.blocks().collect();
        for (n, &block) in blocks.iter().enumerate() {
            labels.positions[block.index()] = n as u32;
            labels.ids[block.index()] = w.id();
        }
        labels.elide_ladders(f, switches);
        for &block in &blocks {
            let skipped = switches.at.contains_key(&block) || labels.is_elided(block);
            let node = f.block_node(block).and_then(|n| f.next_node(n));
            if let Some(node) = node.filter(|_| !skipped && f.is_reachable(block)) {
                labels.elide_branches(f, block, node);
            }
        }
        for &block in &blocks {
            if is_loop_header(f, block) && !labels.ends_plainly(f, switches, block) {
                labels.rests.insert(block, w.id());
            }
        }
        labels
    }

    /// Place of a block in the text.
    pub fn position(&self, block: Block) -> u32 {
        self.positions[block.index()]
    }

    /// The label that a branch to the block names.
    pub fn entry(&self, block: Block) -> u32 {
        self.ids[self.target(block).index()]
    }

    /// The label that stands for the block as a predecessor.
    pub fn exit(&self, block: Block) -> u32 {
        let origin = self.origin(block);
        self.rests.get(&origin).copied().unwrap_or(self.ids[origin.index()])
    }

    /// Label of the second part of a loop's first block, where it has one.
    pub fn rest(&self, block: Block) -> Option<u32> {
        self.rests.get(&block).copied()
    }

    pub fn is_elided(&self, block: Block) -> bool {
        self.elided.contains(&block)
    }

    /// Whether an `if` needs no merge, since a branch of it leaves a construct.
    pub fn is_merge_free(&self, f: &Function, then_list: CfList, else_list: CfList) -> bool {
        [then_list, else_list].into_iter().any(|list| {
            let block = f.first_block(list);
            self.is_elided(block) && f.block_jump(block).is_some()
        })
    }

    fn target(&self, mut block: Block) -> Block {
        while let Some(&next) = self.forwards.get(&block) {
            block = next;
        }
        block
    }

    fn origin(&self, mut block: Block) -> Block {
        while let Some(&next) = self.origins.get(&block) {
            block = next;
        }
        block
    }

    fn elide(&mut self, block: Block, from: Block, to: Block) {
        self.elided.insert(block);
        self.origins.insert(block, from);
        self.forwards.insert(block, to);
    }

    /// Leaves out the blocks between and behind the rungs of the ladders that become switches, and empty arms.
    fn elide_ladders(&mut self, f: &Function, switches: &Switches) {
        for &(rung, block) in &switches.rungs {
            self.elided.insert(rung);
            self.origins.insert(rung, block);
        }
        for (&join, &merge) in &switches.joins {
            self.elided.insert(join);
            self.forwards.insert(join, merge);
        }
        for (&block, switch) in &switches.at {
            // One edge at most may lead from the switch itself to phis; the default's comes first.
            let has_phis = f.phis(switch.merge).next().is_some();
            let mut lists: Vec<CfList> = switch.lists().collect();
            lists.reverse();
            let mut taken = false;
            for list in lists {
                let arm = f.first_block(list);
                let empty = arm == f.last_block(list) && f.first_instr(arm).is_none();
                if empty && !(has_phis && taken) {
                    taken = true;
                    self.elide(arm, block, switch.merge);
                }
            }
        }
    }

    /// Leaves out branches of an `if` that are one empty block, and what stands behind it if that is.
    fn elide_branches(&mut self, f: &Function, before: Block, node: Node) {
        let NodeKind::If { then_list, else_list } = f.node_kind(node) else { return };
        for list in [then_list, else_list] {
            let block = f.first_block(list);
            let jump = f.block_jump(block);
            let empty = block == f.last_block(list)
                && f.instrs(block).count() == usize::from(jump.is_some())
                && matches!(
                    jump.map(|(_, j)| j),
                    None | Some(JumpKind::Break | JumpKind::Continue)
                );
            let target = f.structural_successors(block)[0].filter(|_| empty);
            if let Some(target) = target.filter(|&to| self.is_free(f, before, block, to)) {
                self.elide(block, before, target);
            }
        }
        let after = f.block_after(node);
        let ends = f.block_node(after).is_some_and(|n| f.next_node(n).is_none());
        if !self.is_merge_free(f, then_list, else_list)
            || !ends
            || f.first_instr(after).is_some()
            || self.is_elided(after)
        {
            return;
        }
        if let (&[pred], Some(target)) = (f.preds(after), f.structural_successors(after)[0])
            && target != f.end_block()
            && !is_loop_header(f, target)
            && self.is_free(f, self.origin(pred), after, target)
        {
            self.elide(after, pred, target);
        }
    }

    /// Whether no other edge leads from `from` to `to` than the one by way of `by`.
    fn is_free(&self, f: &Function, from: Block, by: Block, to: Block) -> bool {
        let to = self.target(to);
        f.succs(from).all(|s| self.target(s) == by || self.target(s) != to)
    }

    /// Whether OpLoopMerge may stand before what ends a loop's first block.
    fn ends_plainly(&self, f: &Function, switches: &Switches, block: Block) -> bool {
        if !f.is_reachable(block) || switches.at.contains_key(&block) {
            return false;
        }
        if let Some((_, jump)) = f.block_jump(block) {
            return matches!(jump, JumpKind::Break | JumpKind::Continue);
        }
        let next = f.block_node(block).and_then(|n| f.next_node(n));
        match next.map(|n| f.node_kind(n)) {
            Some(NodeKind::If { then_list, else_list }) => {
                self.is_merge_free(f, then_list, else_list)
            }
            Some(NodeKind::Loop { .. }) | None => true,
            Some(NodeKind::Once { .. } | NodeKind::Block(_)) => false,
        }
    }
}

pub(super) fn is_loop_header(f: &Function, block: Block) -> bool {
    f.block_node(block).is_some_and(|node| {
        let list = f.node_list(node);
        let body = f.list_owner(list).map(|owner| f.node_kind(owner));
        f.first_block(list) == block
            && matches!(body, Some(NodeKind::Loop { body, .. }) if body == list)
    })
}
