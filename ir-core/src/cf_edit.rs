//! Edits of the control-flow tree. Nothing else changes edges.
//!
//! Every edit is the same three steps: change the tree (link and unlink nodes, split or merge blocks), then name the
//! blocks whose way out may have changed to `Function::relink`, which follows the tree and keeps predecessors and
//! phis in step. Splitting and merging hand a block's edges on as they are, so that phis elsewhere keep their sources
//! under the new block's name.
//!
//! Code that becomes unreachable loses its edges but stays in the tree until [`Function::remove_unreachable`].
//!
//! Sections: splitting and merging, insertion, jumps, extraction, removal, unreachable code.

use crate::cf::{Extracted, IfParts, LoopParts, NodeKind, OnceParts};
use crate::entity::{Block, CfList, Def, Instr, Node, PackedOption};
use crate::func::{Cursor, Function};
use crate::instr::{InstrInit, InstrKind, JumpKind, Shape};

impl Function {
    // ---- splitting and merging ----------------------------------------------------------------------

    /// The block of a cursor and the first instruction that stands behind it, for splitting there: never a phi, and
    /// never nothing where a jump ends the block.
    fn split_point(&self, cursor: Cursor) -> (Block, Option<Instr>) {
        let of =
            |i| self.block_of(i).expect("a cursor stands at an instruction that is in a block");
        let (block, behind) = match cursor {
            Cursor::BlockStart(b) | Cursor::AfterPhis(b) => (b, self.first_instr(b)),
            Cursor::BlockEnd(b) | Cursor::BeforeJump(b) => (b, None),
            Cursor::Before(i) => (of(i), Some(i)),
            Cursor::After(i) => (of(i), self.next_instr(i)),
        };
        let mut behind = behind;
        while let Some(phi) = behind.filter(|&i| self.kind(i) == InstrKind::Phi) {
            behind = self.next_instr(phi);
        }
        (block, behind.or(self.block_jump(block).map(|(jump, _)| jump)))
    }

    /// Splits the block at the cursor: what stands behind it moves to a new block, with the edges. Returns both
    /// halves, which stand side by side until an edit puts a node between them or parts them.
    fn split(&mut self, cursor: Cursor) -> (Block, Block) {
        let (block, behind) = self.split_point(cursor);
        let node = self.block_node(block).expect("code goes into blocks of the tree");
        let after_node = self.new_block_node(self.node_list(node));
        self.link_after(after_node, node);
        let after = self.node_block(after_node.into());
        self.move_tail(block, behind, after);
        self.move_out_edges(block, after);
        (block, after)
    }

    /// Moves `first` and what follows it in `from` to the end of `to`.
    fn move_tail(&mut self, from: Block, first: Option<Instr>, to: Block) {
        let Some(first) = first else { return };
        let last = self.blocks[from.index()].last;
        let prev = self.header(first).prev;
        let mut next = Some(first);
        while let Some(instr) = next {
            self.header_mut(instr).block = to.into();
            next = self.next_instr(instr);
        }
        match prev.get() {
            Some(prev) => self.header_mut(prev).next = PackedOption::NONE,
            None => self.blocks[from.index()].first = PackedOption::NONE,
        }
        self.blocks[from.index()].last = prev;
        let join = self.blocks[to.index()].last;
        self.header_mut(first).prev = join;
        match join.get() {
            Some(join) => self.header_mut(join).next = first.into(),
            None => self.blocks[to.index()].first = first.into(),
        }
        self.blocks[to.index()].last = last;
    }

    /// Joins a block to the one directly before it in its list, which must be its only predecessor. Where that ends
    /// with a jump, what the second block holds is dead and goes.
    fn merge(&mut self, first: Block, second: Block) {
        let node = self.block_node(second).expect("both blocks are in the tree");
        if self.block_jump(first).is_some() {
            self.unlink_node(node);
            self.forget_block(second);
            return;
        }
        self.dissolve_phis(second, first);
        for succ in self.succs(first) {
            self.remove_edge(first, succ);
        }
        self.unlink_node(node);
        self.move_tail(second, self.first_instr(second), first);
        self.move_out_edges(second, first);
        self.forget_block(second);
    }

    /// Moves the instructions of a block without phis and edges before an instruction elsewhere, and forgets the block.
    pub(crate) fn move_all_before(&mut self, from: Block, at: Instr) {
        while let Some(instr) = self.first_instr(from) {
            self.move_to(instr, Cursor::Before(at));
        }
        self.forget_block(from);
    }

    /// Empties a block that has left the tree, and cuts its edges.
    fn forget_block(&mut self, block: Block) {
        self.blocks[block.index()].node = PackedOption::NONE;
        self.blocks[block.index()].preds.clear();
        self.cut_dead(vec![block]);
        self.empty_block(block);
    }

    /// Removes every instruction of a block; values still used become undef.
    fn empty_block(&mut self, block: Block) {
        while let Some(instr) = self.last_instr(block) {
            self.orphan_uses(instr);
            self.remove(instr);
        }
    }

    /// Makes the uses of an instruction's value undef.
    fn orphan_uses(&mut self, instr: Instr) {
        if self.def(instr).is_some() && self.is_used(instr.def()) {
            let undef = self.undef_at_start(self.shape(instr.def()));
            self.replace_all_uses(instr.def(), undef);
        }
    }

    /// A new undef in the start block.
    pub(crate) fn undef_at_start(&mut self, shape: Shape) -> Def {
        let undef = self.create(InstrInit::Undef, shape, &[]);
        self.insert(undef, Cursor::AfterPhis(self.start_block()));
        undef.def()
    }

    /// Replaces the phis of a block by their sources for `pred`, or undef where there is none.
    fn dissolve_phis(&mut self, block: Block, pred: Block) {
        while let Some(phi) = self.first_instr(block).filter(|&i| self.kind(i) == InstrKind::Phi) {
            match self.phi_src(phi, pred).filter(|&def| def != phi.def()) {
                Some(value) => self.replace_all_uses(phi.def(), value),
                None => self.orphan_uses(phi),
            }
            self.remove(phi);
        }
    }

    // ---- insertion ----------------------------------------------------------------------------------

    /// Puts an empty `if` at the cursor, splitting the block there.
    pub fn insert_if(&mut self, cursor: Cursor, condition: Def) -> IfParts {
        let (before, after) = self.split(cursor);
        let (then_list, then_block) = self.new_list_with_block();
        let (else_list, else_block) = self.new_list_with_block();
        let node = self.put_node(before, NodeKind::If { then_list, else_list });
        let condition = self.new_if_use(node, condition);
        self.nodes[node.index()].condition = condition.into();
        self.relink(&[before, after]);
        IfParts { node, then_block, else_block, after }
    }

    /// Puts an empty loop at the cursor. It never ends until a `break` is put into it; the block behind it keeps its
    /// edges until then, so that phis keep their sources.
    pub fn insert_loop(&mut self, cursor: Cursor) -> LoopParts {
        let (before, after) = self.split(cursor);
        let (body_list, body) = self.new_list_with_block();
        let (continue_list, continue_block) = self.new_list_with_block();
        let node = self.put_node(before, NodeKind::Loop { body: body_list, continue_list });
        self.relink(&[before]);
        LoopParts { node, body, continue_block, after }
    }

    /// Puts an empty `once` at the cursor.
    pub fn insert_once(&mut self, cursor: Cursor) -> OnceParts {
        let (before, after) = self.split(cursor);
        let (body_list, body) = self.new_list_with_block();
        let node = self.put_node(before, NodeKind::Once { body: body_list });
        self.relink(&[before, after]);
        OnceParts { node, body, after }
    }

    fn put_node(&mut self, before: Block, kind: NodeKind) -> Node {
        let before_node = self.block_node(before).expect("the block was just split");
        let node = self.new_node(kind, self.node_list(before_node));
        self.link_after(node, before_node);
        for list in self.child_lists(node) {
            self.lists[list.index()].owner = node.into();
        }
        node
    }

    // ---- jumps --------------------------------------------------------------------------------------

    /// Ends a block with a jump; the value is for `return` from a function that returns one.
    ///
    /// Phis of the target get an undef source, to be set through [`Function::set_phi_src`]. What the jump makes
    /// unreachable stays in the tree until [`Function::remove_unreachable`].
    pub fn add_jump(&mut self, block: Block, jump: JumpKind, value: Option<Def>) -> Instr {
        debug_assert!(self.block_jump(block).is_none(), "a block ends with one jump");
        let instr = self.create(InstrInit::Jump(jump), Shape::NONE, value.as_slice());
        self.insert(instr, Cursor::BlockEnd(block));
        self.relink(&[block]);
        instr
    }

    /// Removes the jump at the end of a block, which then falls through; phis of the block it falls to get an
    /// undef source.
    pub fn remove_jump(&mut self, block: Block) {
        if let Some((jump, _)) = self.block_jump(block) {
            self.remove(jump);
            self.relink(&[block]);
        }
    }

    /// Sets the source of a phi for the edge from `pred`, which must exist.
    pub fn set_phi_src(&mut self, phi: Instr, pred: Block, def: Def) {
        match self.phi_slot(phi, pred) {
            Some(slot) => self.set_src(phi, slot, def),
            None => self.add_phi_src(phi, pred, def),
        }
    }

    // ---- extraction ---------------------------------------------------------------------------------

    /// Takes the contents of a list out of the tree, leaving an empty block in their place. Edges within them stay;
    /// those that lead in or out are cut, so phis in the first block and outside lose the sources. Blocks outside that
    /// were only reached from within keep their edges.
    pub fn extract_list(&mut self, list: CfList) -> Extracted {
        let first = self.first_block(list);
        let mut dirty = self.preds(first).to_vec();
        let taken = self.new_list(None);
        let (from, to) = (self.lists[list.index()].first, self.lists[list.index()].last);
        self.move_nodes(from, to, taken, PackedOption::NONE);
        let empty = self.append_block(list);
        dirty.extend(self.list_blocks(taken));
        dirty.push(empty);
        self.relink_keeping_dead(&dirty);
        Extracted(taken)
    }

    /// Takes what stands between two cursors of one list out of the tree; phis behind `to` stay with what is taken if
    /// `to` is after the phis of its block. Edges are cut as by [`Function::extract_list`], but the code before `from`
    /// falls to that behind `to`.
    pub fn extract(&mut self, from: Cursor, to: Cursor) -> Extracted {
        let (end, rest) = self.split(to);
        let (keep, begin) = self.split(from);
        let end = if end == keep { begin } else { end };
        debug_assert!(self.block_jump(end).is_none(), "a jump stays in its block");
        let taken = self.new_list(None);
        let (from, to) = (self.blocks[begin.index()].node, self.blocks[end.index()].node);
        self.move_nodes(from, to, taken, PackedOption::NONE);
        self.merge(keep, rest);
        let mut dirty: Vec<Block> = self.list_blocks(taken).collect();
        dirty.push(keep);
        self.relink_keeping_dead(&dirty);
        Extracted(taken)
    }

    /// Takes sibling nodes, none of them a block, and what stands between them out of the tree. The phis of the block
    /// behind go with them.
    pub fn extract_range(&mut self, first: Node, last: Node) -> Extracted {
        let (before, after) = (self.block_before(first), self.block_after(last));
        self.extract(Cursor::BlockEnd(before), Cursor::AfterPhis(after))
    }

    /// Moves the nodes `from` to `to`, neighbours in one list, into another behind `at` (`NONE`: to its start).
    fn move_nodes(
        &mut self,
        from: PackedOption<Node>,
        to: PackedOption<Node>,
        list: CfList,
        at: PackedOption<Node>,
    ) {
        let mut at = at;
        let mut next = from.get();
        while let Some(node) = next {
            next = if to == node.into() { None } else { self.next_node(node) };
            self.unlink_node(node);
            let behind = match at.get() {
                Some(at) => self.nodes[at.index()].next,
                None => self.lists[list.index()].first,
            };
            self.link_between(list, node, at, behind);
            at = node.into();
        }
    }

    /// Puts extracted nodes at the cursor: their first block joins what stands before, their last what stands behind
    /// (which is dead if they end with a jump). Phis in their first block become undef.
    pub fn reinsert(&mut self, taken: Extracted, cursor: Cursor) {
        self.reinsert_at(taken, cursor);
    }

    /// The same; returns the block that the first one joined.
    pub(crate) fn reinsert_at(&mut self, taken: Extracted, cursor: Cursor) -> Block {
        let (before, after) = self.split(cursor);
        let (first, last) = (self.first_block(taken.0), self.last_block(taken.0));
        let mut dirty: Vec<Block> = self.list_blocks(taken.0).filter(|&b| b != first).collect();
        self.put_list(taken.0, before);
        self.merge(before, first);
        self.merge(if last == first { before } else { last }, after);
        dirty.push(before);
        self.relink(&dirty);
        before
    }

    /// Puts extracted nodes, more than one block, before an instruction; what they hold ends without a jump. Of the block
    /// that the instruction stands in the shorter part moves, so that one block can be parted over and over. Phis in the
    /// first of the nodes become undef. Returns the block that ends with what the instruction's ended with.
    pub(crate) fn reinsert_before(&mut self, taken: Extracted, at: Instr) -> Block {
        let block = self.block_of(at).expect("a cursor stands in a block");
        let (first, last) = (self.first_block(taken.0), self.last_block(taken.0));
        if first == last || !self.is_closer_to_start(at) || self.block_jump(last).is_some() {
            let before = self.reinsert_at(taken, Cursor::Before(at));
            return if first == last { before } else { last };
        }
        let mut dirty: Vec<Block> = self.list_blocks(taken.0).filter(|&b| b != last).collect();
        dirty.push(block);
        self.dissolve_phis(first, first);
        // The first block gets what stands before, and is led to from where the block was.
        self.move_head(block, Some(at), first);
        self.move_in_edges(block, first);
        // The block gets what the last one holds, and is led to from where that was.
        self.move_head(last, None, block);
        self.move_in_edges(last, block);
        let node = self.block_node(last).expect("the list ends with it");
        self.unlink_node(node);
        self.blocks[last.index()].node = PackedOption::NONE;
        let node = self.block_node(block).expect("code goes into blocks of the tree");
        let (list, before) = (self.node_list(node), self.nodes[node.index()].prev);
        let (from, to) = (self.lists[taken.0.index()].first, self.lists[taken.0.index()].last);
        self.move_nodes(from, to, list, before);
        self.relink(&dirty);
        block
    }

    /// Whether fewer instructions stand before this one in its block than behind it. O(the fewer).
    fn is_closer_to_start(&self, at: Instr) -> bool {
        let (mut before, mut behind) = (at, at);
        while let Some(prev) = self.prev_instr(before) {
            let Some(next) = self.next_instr(behind) else { return false };
            (before, behind) = (prev, next);
        }
        true
    }

    /// Moves what stands before `end` in `from`, all of it without, to the start of `to`.
    fn move_head(&mut self, from: Block, end: Option<Instr>, to: Block) {
        let first = self.first_instr(from).filter(|&i| Some(i) != end);
        let Some(first) = first else { return };
        let mut last = first;
        self.header_mut(first).block = to.into();
        while let Some(next) = self.next_instr(last).filter(|&i| Some(i) != end) {
            self.header_mut(next).block = to.into();
            last = next;
        }
        self.blocks[from.index()].first = end.into();
        match end {
            Some(end) => self.header_mut(end).prev = PackedOption::NONE,
            None => self.blocks[from.index()].last = PackedOption::NONE,
        }
        let join = self.blocks[to.index()].first;
        self.header_mut(last).next = join;
        match join.get() {
            Some(join) => self.header_mut(join).prev = last.into(),
            None => self.blocks[to.index()].last = last.into(),
        }
        self.blocks[to.index()].first = first.into();
    }

    /// Makes the edges to `from` edges to `to`, which has none; phis move with the instructions.
    fn move_in_edges(&mut self, from: Block, to: Block) {
        let preds = std::mem::take(&mut self.blocks[from.index()].preds);
        for pred in &preds {
            for succ in &mut self.blocks[pred.index()].succs {
                if *succ == from.into() {
                    *succ = to.into();
                }
            }
        }
        self.blocks[to.index()].preds = preds;
    }

    /// Moves what stands behind a node in its list to the end of `into`, one of the node's own lists, whose end must be
    /// the only way behind the node. The block behind the node stays, empty: its phis are replaced by their sources,
    /// and where what moved falls through, it takes over the edge out of the list, so that phis there keep their
    /// sources under its name. Jumps that move keep their edges.
    pub fn move_rest(&mut self, node: Node, into: CfList) {
        debug_assert_eq!(self.list_owner(into), Some(node));
        let (after, end) = (self.block_after(node), self.last_block(into));
        debug_assert_eq!(
            self.preds(after),
            [end],
            "the list's end is the only way behind the node"
        );
        self.dissolve_phis(after, end);
        let last = self.last_block(self.node_list(node));
        let (keep, begin) = self.split(Cursor::BlockStart(after));
        let last = if last == after { begin } else { last };
        if self.block_jump(last).is_none() {
            self.move_out_edges(last, keep);
        }
        let at = self.blocks[end.index()].node;
        let (from, to) = (self.blocks[begin.index()].node, self.blocks[last.index()].node);
        self.move_nodes(from, to, into, at);
        self.merge(end, begin);
        self.relink(&[if last == begin { end } else { last }]);
    }

    /// Links the nodes of a list behind a block.
    fn put_list(&mut self, taken: CfList, before: Block) {
        let at = self.blocks[before.index()].node;
        let list = self.node_list(at.get().expect("the block is in the tree"));
        let (from, to) = (self.lists[taken.index()].first, self.lists[taken.index()].last);
        self.move_nodes(from, to, list, at);
    }

    // ---- removal ------------------------------------------------------------------------------------

    /// Deletes extracted code. Values that others still use become undef.
    pub fn delete(&mut self, taken: Extracted) {
        self.delete_list(taken.0);
    }

    /// Deletes what a list holds; the list is left without nodes.
    fn delete_list(&mut self, list: CfList) {
        let mut lists = vec![list];
        let mut blocks = Vec::new();
        while let Some(list) = lists.pop() {
            for node in self.list_nodes(list).collect::<Vec<_>>() {
                lists.extend(self.child_lists(node));
                self.drop_condition(node);
                if let NodeKind::Block(block) = self.node_kind(node) {
                    blocks.push(block);
                    self.blocks[block.index()].node = PackedOption::NONE;
                }
            }
        }
        // Edges out of the list go one by one; targets outside that lose their last one lose theirs.
        let mut dead = Vec::new();
        for &block in &blocks {
            for succ in self.succs(block) {
                self.remove_edge(block, succ);
                dead.push(succ);
            }
            self.blocks[block.index()].succs = [PackedOption::NONE; 2];
        }
        for &block in &blocks {
            self.blocks[block.index()].preds.clear();
            self.empty_block(block);
        }
        self.lists[list.index()].first = PackedOption::NONE;
        self.lists[list.index()].last = PackedOption::NONE;
        self.cut_dead(dead);
    }

    fn drop_condition(&mut self, node: Node) {
        if let Some(id) = self.nodes[node.index()].condition.get() {
            self.unlink_use(id);
            self.nodes[node.index()].condition = PackedOption::NONE;
        }
    }

    /// Removes an `if`, loop or `once` and all in it; the blocks around it are joined, and the phis behind it become
    /// undef.
    pub fn remove_node(&mut self, node: Node) {
        let (before, after) = (self.block_before(node), self.block_after(node));
        // `after` is about to lose its predecessors, and must not lose its edges for it.
        self.dissolve_phis(after, after);
        let out = std::mem::replace(&mut self.blocks[after.index()].succs, [PackedOption::NONE; 2]);
        for list in self.child_lists(node) {
            self.delete_list(list);
        }
        self.drop_condition(node);
        self.unlink_node(node);
        self.blocks[after.index()].succs = out;
        self.forget_removed_succs(before);
        self.merge(before, after);
        self.relink(&[before]);
    }

    /// Drops the edges to blocks that have left the tree.
    fn forget_removed_succs(&mut self, block: Block) {
        for slot in 0..2 {
            let succ = self.blocks[block.index()].succs[slot].get();
            let stays = |b: &Block| *b == self.end_block() || self.block_node(*b).is_some();
            self.blocks[block.index()].succs[slot] = succ.filter(stays).into();
        }
    }

    /// Replaces an `if` by its then branch (`taken`) or its else branch; the other is deleted. Phis after the `if`
    /// take the value of the branch that stays.
    pub fn dissolve_if(&mut self, node: Node, taken: bool) {
        if let NodeKind::If { then_list, else_list } = self.node_kind(node) {
            let (keep, drop) = if taken { (then_list, else_list) } else { (else_list, then_list) };
            self.splice(node, keep, Some(drop));
        }
    }

    /// Replaces a `once` without `break`s by its body.
    pub fn dissolve_once(&mut self, node: Node) {
        if let NodeKind::Once { body } = self.node_kind(node) {
            self.splice(node, body, None);
        }
    }

    /// Puts the contents of `keep`, whose end is the only way behind the node, in the node's place and deletes
    /// `drop`.
    fn splice(&mut self, node: Node, keep: CfList, drop: Option<CfList>) {
        let (before, after) = (self.block_before(node), self.block_after(node));
        let (first, last) = (self.first_block(keep), self.last_block(keep));
        self.dissolve_phis(after, last);
        let falls = self.block_jump(last).is_none();
        let out = std::mem::replace(&mut self.blocks[after.index()].succs, [PackedOption::NONE; 2]);
        if let Some(drop) = drop {
            self.delete_list(drop);
        }
        self.drop_condition(node);
        let list = self.node_list(node);
        let at = self.nodes[node.index()].prev;
        self.unlink_node(node);
        let (from, to) = (self.lists[keep.index()].first, self.lists[keep.index()].last);
        self.move_nodes(from, to, list, at);
        self.blocks[after.index()].succs = out;
        self.forget_removed_succs(before);
        self.merge(before, first);
        let last = if last == first { before } else { last };
        self.merge(last, after);
        debug_assert!(falls || self.block_jump(last).is_some());
        self.relink(&[before, last]);
    }

    // ---- unreachable code ---------------------------------------------------------------------------

    /// Removes code that nothing reaches: what follows a jump, an endless loop, an `if` both of whose branches jump.
    /// Blocks that must stand for the tree's sake are emptied. Returns whether anything was there to remove.
    pub fn remove_unreachable(&mut self) -> bool {
        let reached = self.reached_blocks();
        let mut changed = false;
        // Edges out of unreachable blocks, those of unreachable loops included.
        let dead: Vec<Block> = self.blocks().filter(|b| !reached[b.index()]).collect();
        for &block in &dead {
            for succ in self.succs(block) {
                self.remove_edge(block, succ);
                changed = true;
            }
            self.blocks[block.index()].succs = [PackedOption::NONE; 2];
        }
        let mut lists = vec![self.body()];
        while let Some(list) = lists.pop() {
            let mut end = None;
            for node in self.list_nodes(list) {
                match self.node_kind(node) {
                    NodeKind::Block(block) => {
                        if !reached[block.index()] || self.block_jump(block).is_some() {
                            end = Some((node, block));
                            break;
                        }
                    }
                    NodeKind::If { .. } | NodeKind::Loop { .. } | NodeKind::Once { .. } => {
                        lists.extend(self.child_lists(node));
                    }
                }
            }
            let Some((end, block)) = end else { continue };
            if let Some(next) = self.next_node(end) {
                changed = true;
                let tail = self.new_list(None);
                let last = self.lists[list.index()].last;
                self.move_nodes(next.into(), last, tail, PackedOption::NONE);
                self.delete_list(tail);
            }
            if !reached[block.index()] && self.first_instr(block).is_some() {
                changed = true;
                self.empty_block(block);
            }
        }
        changed
    }

    /// Which blocks the tree's edges lead to from the start block.
    pub(crate) fn reached_blocks(&self) -> Vec<bool> {
        let mut reached = vec![false; self.blocks.len()];
        let mut work = vec![self.start_block()];
        reached[self.start_block().index()] = true;
        while let Some(block) = work.pop() {
            for succ in self.structural_successors(block).into_iter().flatten() {
                if !std::mem::replace(&mut reached[succ.index()], true) {
                    work.push(succ);
                }
            }
        }
        reached
    }
}
