//! The control-flow tree and the only code that edits it.
//!
//! A function's body is a list of nodes: blocks, `if`s, loops and `once` regions. A list begins and ends with a
//! block and alternates. From the tree follow the edges, [`Function::structural_successors`]; every edit ends by
//! relinking the blocks it touched, which keeps predecessors and phis in step. A block without predecessors
//! (other than the start block) has no successors either, so phis only have sources for edges that exist.
//!
//! Sections: reading the tree, edges, edits.

use crate::entity::{Block, CfList, Def, Instr, Node, PackedOption, UseId};
use crate::func::{Cursor, Function};
use crate::instr::{InstrInit, InstrKind, JumpKind, Shape};
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
        self.relink(vec![self.start_block()]);
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

    fn node_block(&self, node: PackedOption<Node>) -> Block {
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

    /// Whether control can reach the block, as far as the tree tells (an unreachable loop keeps itself alive).
    pub fn is_reachable(&self, block: Block) -> bool {
        block == self.start_block() || !self.preds(block).is_empty()
    }

    /// Where the tree leads from a block.
    pub fn structural_successors(&self, block: Block) -> [Option<Block>; 2] {
        let Some(node) = self.block_node(block) else { return [None, None] };
        if let Some((_, jump)) = self.block_jump(block) {
            return [self.jump_target(block, jump), None];
        }
        if let Some(next) = self.next_node(node) {
            return match self.node_kind(next) {
                NodeKind::Block(_) => [None, None], // only while an edit is under way
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

    /// Brings edges, predecessors and phis of the given blocks, and of all that this makes reachable or
    /// unreachable, in line with the tree. A new edge gives each phi of its target an undef source.
    fn relink(&mut self, mut work: Vec<Block>) {
        while let Some(block) = work.pop() {
            let new = match self.is_reachable(block) {
                true => self.structural_successors(block),
                false => [None, None],
            };
            let old = self.blocks[block.index()].succs.map(PackedOption::get);
            if new == old {
                continue;
            }
            self.blocks[block.index()].succs = new.map(PackedOption::from);
            for gone in old.into_iter().flatten().filter(|b| !new.contains(&Some(*b))) {
                self.remove_edge(block, gone);
                if self.preds(gone).is_empty() {
                    work.push(gone);
                }
            }
            for come in new.into_iter().flatten().filter(|b| !old.contains(&Some(*b))) {
                if self.preds(come).is_empty() {
                    work.push(come);
                }
                self.add_edge(block, come);
            }
        }
    }

    fn remove_edge(&mut self, from: Block, to: Block) {
        self.blocks[to.index()].preds.retain(|p| *p != from);
        let mut next = self.first_instr(to);
        while let Some(phi) = next.filter(|&i| self.kind(i) == InstrKind::Phi) {
            next = self.next_instr(phi);
            if let Some(slot) = self.phi_slot(phi, from) {
                self.remove_phi_src(phi, slot);
            }
        }
    }

    fn add_edge(&mut self, from: Block, to: Block) {
        if self.preds(to).contains(&from) {
            return;
        }
        self.blocks[to.index()].preds.push(from);
        let mut next = self.first_instr(to);
        while let Some(phi) = next.filter(|&i| self.kind(i) == InstrKind::Phi) {
            next = self.next_instr(phi);
            if self.phi_slot(phi, from).is_none() {
                let undef = self.create(InstrInit::Undef, self.shape(phi.def()), &[]);
                self.insert(undef, Cursor::BlockStart(self.start_block()));
                self.add_phi_src(phi, from, undef.def());
            }
        }
    }

    /// Makes the phis of `from`'s successors name `to` in its place, and moves the edges.
    fn move_out_edges(&mut self, from: Block, to: Block) {
        let succs =
            std::mem::replace(&mut self.blocks[from.index()].succs, [PackedOption::NONE; 2]);
        self.blocks[to.index()].succs = succs;
        for succ in succs.into_iter().filter_map(PackedOption::get) {
            self.rename_pred(succ, from, to);
        }
    }

    fn rename_pred(&mut self, block: Block, from: Block, to: Block) {
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

    /// Makes the edges of a body that has none, from the tree alone: phis are taken as they are.
    pub(crate) fn compute_edges(&mut self) {
        let mut work = vec![self.start_block()];
        let mut seen = vec![false; self.blocks.len()];
        seen[self.start_block().index()] = true;
        while let Some(block) = work.pop() {
            let succs = self.structural_successors(block);
            self.blocks[block.index()].succs = succs.map(PackedOption::from);
            for succ in succs.into_iter().flatten() {
                if !self.preds(succ).contains(&block) {
                    self.blocks[succ.index()].preds.push(block);
                }
                if !std::mem::replace(&mut seen[succ.index()], true) {
                    work.push(succ);
                }
            }
        }
    }

    // ---- edits --------------------------------------------------------------------------------------

    fn new_block(&mut self) -> Block {
        self.blocks.push(BlockData {
            node: PackedOption::NONE,
            first: PackedOption::NONE,
            last: PackedOption::NONE,
            succs: [PackedOption::NONE; 2],
            preds: SmallVec::new(),
        });
        Block((self.blocks.len() - 1) as u32)
    }

    fn new_node(&mut self, kind: NodeKind, list: CfList) -> Node {
        self.nodes.push(NodeData {
            kind,
            list,
            prev: PackedOption::NONE,
            next: PackedOption::NONE,
            condition: PackedOption::NONE,
        });
        Node((self.nodes.len() - 1) as u32)
    }

    fn new_block_node(&mut self, list: CfList) -> Node {
        let block = self.new_block();
        let node = self.new_node(NodeKind::Block(block), list);
        self.blocks[block.index()].node = node.into();
        node
    }

    fn new_list(&mut self, owner: Option<Node>) -> CfList {
        self.lists.push(ListData {
            owner: owner.into(),
            first: PackedOption::NONE,
            last: PackedOption::NONE,
        });
        CfList((self.lists.len() - 1) as u32)
    }

    /// A list with one empty block.
    fn new_list_with_block(&mut self) -> (CfList, Block) {
        let list = self.new_list(None);
        let node = self.new_block_node(list);
        self.link_last(list, node);
        (list, self.first_block(list))
    }

    fn link_last(&mut self, list: CfList, node: Node) {
        let last = self.lists[list.index()].last;
        self.link_between(list, node, last, PackedOption::NONE);
    }

    fn link_after(&mut self, node: Node, after: Node) {
        let list = self.node_list(after);
        let next = self.nodes[after.index()].next;
        self.link_between(list, node, after.into(), next);
    }

    fn link_between(
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

    fn unlink_node(&mut self, node: Node) {
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

    /// Splits the block at the cursor: what stands after it moves to a new block behind, with the block's edges.
    /// Returns both halves. The two stand side by side with no edge until an edit puts a node between them.
    fn split(&mut self, cursor: Cursor) -> (Block, Block) {
        let (block, first_moved) = match cursor {
            Cursor::BlockStart(b) => (b, self.first_instr(b)),
            Cursor::AfterPhis(b) => (b, self.instrs(b).find(|&i| self.kind(i) != InstrKind::Phi)),
            Cursor::BlockEnd(b) => (b, None),
            Cursor::BeforeJump(b) => (b, self.block_jump(b).map(|(jump, _)| jump)),
            Cursor::Before(i) => {
                (self.block_of(i).expect("the cursor's instruction is in a block"), Some(i))
            }
            Cursor::After(i) => (
                self.block_of(i).expect("the cursor's instruction is in a block"),
                self.next_instr(i),
            ),
        };
        let node = self.block_node(block).expect("code goes into blocks of the tree");
        let after_node = self.new_block_node(self.node_list(node));
        self.link_after(after_node, node);
        let after = self.node_block(after_node.into());
        self.move_tail(block, first_moved, after);
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

    /// Joins a block and the block that directly follows it in its list, between which a node was taken out.
    fn stitch(&mut self, before: Block, after: Block) {
        debug_assert!(self.block_jump(before).is_none() || self.first_instr(after).is_none());
        let after_node = self.block_node(after).expect("both halves are in the tree");
        if self.block_jump(before).is_none() {
            self.move_tail(after, self.first_instr(after), before);
            self.move_out_edges(after, before);
        }
        self.unlink_node(after_node);
        self.blocks[after.index()].node = PackedOption::NONE;
    }

    /// Puts an empty `if` at the cursor, splitting the block there.
    pub fn insert_if(&mut self, cursor: Cursor, condition: Def) -> IfParts {
        let (before, after) = self.split(cursor);
        let (then_list, then_block) = self.new_list_with_block();
        let (else_list, else_block) = self.new_list_with_block();
        let node = self.put_node(before, NodeKind::If { then_list, else_list });
        let condition = self.new_if_use(node, condition);
        self.nodes[node.index()].condition = condition.into();
        self.relink(vec![then_block, else_block, before]);
        IfParts { node, then_block, else_block, after }
    }

    /// Puts an empty loop at the cursor. It never ends until a `break` is put into it.
    pub fn insert_loop(&mut self, cursor: Cursor) -> LoopParts {
        let (before, after) = self.split(cursor);
        let (body_list, body) = self.new_list_with_block();
        let (continue_list, continue_block) = self.new_list_with_block();
        // The edges out of `after` stand until the end, so that no phi loses a source meanwhile.
        let node = self.put_node(before, NodeKind::Loop { body: body_list, continue_list });
        self.relink(vec![continue_block, body, before, after]);
        LoopParts { node, body, continue_block, after }
    }

    /// Puts an empty `once` at the cursor.
    pub fn insert_once(&mut self, cursor: Cursor) -> OnceParts {
        let (before, after) = self.split(cursor);
        let (body_list, body) = self.new_list_with_block();
        let node = self.put_node(before, NodeKind::Once { body: body_list });
        self.relink(vec![body, before]);
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

    /// Ends a block with a jump; the value is for `return` from a function that returns one.
    ///
    /// Phis of the target get an undef source, to be set through [`Function::set_phi_src`]. What the jump makes
    /// unreachable stays in the tree until [`Function::remove_unreachable`].
    pub fn add_jump(&mut self, block: Block, jump: JumpKind, value: Option<Def>) -> Instr {
        debug_assert!(self.block_jump(block).is_none(), "a block ends with one jump");
        let instr = self.create(InstrInit::Jump(jump), Shape::NONE, value.as_slice());
        self.insert(instr, Cursor::BlockEnd(block));
        self.relink(vec![block]);
        instr
    }

    /// Removes the jump at the end of a block, which then falls through; phis of the block it falls to get an
    /// undef source.
    pub fn remove_jump(&mut self, block: Block) {
        if let Some((jump, _)) = self.block_jump(block) {
            self.remove(jump);
            self.relink(vec![block]);
        }
    }

    /// Sets the source of a phi for the edge from `pred`, which must exist.
    pub fn set_phi_src(&mut self, phi: Instr, pred: Block, def: Def) {
        match self.phi_slot(phi, pred) {
            Some(slot) => self.set_src(phi, slot, def),
            None => self.add_phi_src(phi, pred, def),
        }
    }

    /// Takes the contents of a list out of the tree, leaving an empty block in their place. Edges within them stay;
    /// those that leave them are cut, so phis outside lose the sources.
    pub fn extract_list(&mut self, list: CfList) -> Extracted {
        let taken = self.new_list(None);
        let data = self.lists[list.index()];
        self.lists[taken.index()].first = data.first;
        self.lists[taken.index()].last = data.last;
        self.lists[list.index()].first = PackedOption::NONE;
        self.lists[list.index()].last = PackedOption::NONE;
        let mut next = data.first.get();
        while let Some(node) = next {
            self.nodes[node.index()].list = taken;
            next = self.next_node(node);
        }
        let empty = self.new_block_node(list);
        self.link_last(list, empty);
        let empty = self.first_block(list);
        // The entry edges now lead to the empty block.
        let first = self.first_block(taken);
        let inside: Vec<Block> = self.list_blocks(taken).collect();
        let entries: Vec<Block> = self.preds(first).to_vec();
        let mut work: Vec<Block> = inside.clone();
        work.push(empty);
        work.extend(entries.iter().filter(|b| !inside.contains(b)));
        self.cut(&inside);
        self.relink(work.into_iter().filter(|b| !inside.contains(b)).collect());
        Extracted(taken)
    }

    /// Cuts the edges from the given blocks to blocks outside of them.
    fn cut(&mut self, inside: &[Block]) {
        let set: rustc_hash::FxHashSet<Block> = inside.iter().copied().collect();
        let mut orphans = Vec::new();
        for &block in inside {
            for slot in 0..2 {
                let Some(succ) = self.blocks[block.index()].succs[slot].get() else { continue };
                if !set.contains(&succ) {
                    self.blocks[block.index()].succs[slot] = PackedOption::NONE;
                    self.remove_edge(block, succ);
                    orphans.push(succ);
                }
            }
        }
        orphans.retain(|&b| self.preds(b).is_empty());
        self.relink(orphans);
    }

    /// Puts extracted nodes at the cursor: their first block joins what stands before, their last what stands behind.
    /// The extracted code must have no phis in its first block.
    pub fn reinsert(&mut self, taken: Extracted, cursor: Cursor) {
        let (before, after) = self.split(cursor);
        let (first, last) = (self.first_block(taken.0), self.last_block(taken.0));
        let blocks: Vec<Block> = self.list_blocks(taken.0).collect();
        let mut at = self.block_node(before).expect("the block was just split");
        let list = self.node_list(at);
        let mut next = self.lists[taken.0.index()].first.get();
        while let Some(node) = next {
            next = self.next_node(node);
            self.link_after(node, at);
            self.nodes[node.index()].list = list;
            at = node;
        }
        self.lists[taken.0.index()] = ListData {
            owner: PackedOption::NONE,
            first: PackedOption::NONE,
            last: PackedOption::NONE,
        };
        // Edges out of `after` may hang on the joined blocks being reachable: join back to front.
        let last = if last == first { before } else { last };
        self.stitch_into(before, first);
        self.stitch_tail(last, after);
        self.relink(
            blocks
                .into_iter()
                .rev()
                .chain([before])
                .filter(|b| self.block_node(*b).is_some())
                .collect(),
        );
    }

    /// Joins `second` to the end of `first`, which precedes it directly.
    fn stitch_into(&mut self, first: Block, second: Block) {
        self.stitch(first, second);
    }

    /// Joins the tail that was split off to the end of inserted code. Where that ends with a jump, the tail is dead:
    /// its edges go and its instructions with it.
    fn stitch_tail(&mut self, last: Block, after: Block) {
        if self.block_jump(last).is_none() {
            self.stitch(last, after);
            return;
        }
        self.blocks[after.index()].succs.map(PackedOption::get).into_iter().flatten().for_each(
            |succ| {
                self.remove_edge(after, succ);
                if self.preds(succ).is_empty() {
                    self.relink(vec![succ]);
                }
            },
        );
        self.blocks[after.index()].succs = [PackedOption::NONE; 2];
        self.empty_block(after);
        let node = self.block_node(after).expect("the tail is in the tree");
        self.unlink_node(node);
        self.blocks[after.index()].node = PackedOption::NONE;
    }

    /// Deletes extracted code. Values that others still use become undef.
    pub fn delete(&mut self, taken: Extracted) {
        let blocks: Vec<Block> = self.list_blocks(taken.0).collect();
        let nodes: Vec<Node> = self.tree_nodes(taken.0);
        for &node in &nodes {
            self.drop_condition(node);
        }
        for &block in &blocks {
            self.empty_block(block);
            self.blocks[block.index()].node = PackedOption::NONE;
            self.blocks[block.index()].succs = [PackedOption::NONE; 2];
            self.blocks[block.index()].preds.clear();
        }
    }

    /// All nodes of a list and below it.
    fn tree_nodes(&self, list: CfList) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut lists = vec![list];
        while let Some(list) = lists.pop() {
            for node in self.list_nodes(list) {
                nodes.push(node);
                lists.extend(self.child_lists(node));
            }
        }
        nodes
    }

    fn drop_condition(&mut self, node: Node) {
        if let Some(id) = self.nodes[node.index()].condition.get() {
            self.unlink_use(id);
            self.nodes[node.index()].condition = PackedOption::NONE;
        }
    }

    /// Removes every instruction of a block that nothing reaches; values still used become undef.
    fn empty_block(&mut self, block: Block) {
        while let Some(instr) = self.last_instr(block) {
            if self.def(instr).is_some() && self.is_used(instr.def()) {
                let undef = self.create(InstrInit::Undef, self.shape(instr.def()), &[]);
                self.insert(undef, Cursor::BlockStart(self.start_block()));
                self.replace_all_uses(instr.def(), undef.def());
            }
            self.remove(instr);
        }
    }

    /// Removes an `if`, loop or `once` and all in it; the blocks around it are joined.
    pub fn remove_node(&mut self, node: Node) {
        for list in self.child_lists(node) {
            let taken = self.extract_list(list);
            self.delete(taken);
        }
        self.unwrap_empty(node);
    }

    /// Removes a node whose lists hold one empty block each, joining the blocks around it.
    fn unwrap_empty(&mut self, node: Node) {
        let (before, after) = (self.block_before(node), self.block_after(node));
        let inner: SmallVec<[Block; 2]> =
            self.child_lists(node).iter().map(|&l| self.first_block(l)).collect();
        // Phis of `after` merge edges that are about to become one.
        self.drop_condition(node);
        self.unlink_node(node);
        for &block in &inner {
            for succ in
                self.blocks[block.index()].succs.map(PackedOption::get).into_iter().flatten()
            {
                self.remove_edge(block, succ);
            }
            self.blocks[block.index()].node = PackedOption::NONE;
            self.blocks[block.index()].succs = [PackedOption::NONE; 2];
            self.blocks[block.index()].preds.clear();
        }
        self.blocks[before.index()].succs = if self.block_jump(before).is_some() {
            self.blocks[before.index()].succs
        } else {
            [PackedOption::NONE; 2]
        };
        self.stitch_after_unwrap(before, after);
    }

    fn stitch_after_unwrap(&mut self, before: Block, after: Block) {
        self.dissolve_phis(after);
        self.stitch(before, after);
        self.relink(vec![before]);
    }

    /// Replaces the phis of a block that has at most one source each by that source (or undef).
    fn dissolve_phis(&mut self, block: Block) {
        while let Some(phi) = self.first_instr(block).filter(|&i| self.kind(i) == InstrKind::Phi) {
            let value = match self.srcs(phi).first() {
                Some(src) if src.def != phi.def() => src.def,
                _ => {
                    let undef = self.create(InstrInit::Undef, self.shape(phi.def()), &[]);
                    self.insert(undef, Cursor::BlockStart(self.start_block()));
                    undef.def()
                }
            };
            self.replace_all_uses(phi.def(), value);
            self.remove(phi);
        }
    }

    /// Replaces an `if` by its then branch (`taken`) or its else branch; the other is deleted. Phis after the `if`
    /// take the value of the branch that stays.
    pub fn dissolve_if(&mut self, node: Node, taken: bool) {
        let NodeKind::If { then_list, else_list } = self.node_kind(node) else { return };
        let (keep, drop) = if taken { (then_list, else_list) } else { (else_list, then_list) };
        let dropped = self.extract_list(drop);
        self.delete(dropped);
        self.splice_list(node, keep, drop);
    }

    /// Replaces a `once` without `break`s by its body.
    pub fn dissolve_once(&mut self, node: Node) {
        if let NodeKind::Once { body } = self.node_kind(node) {
            self.splice_list(node, body, body);
        }
    }

    /// Puts the contents of `keep` in place of `node`. `drop` is the node's other list, with one empty block.
    fn splice_list(&mut self, node: Node, keep: CfList, drop: CfList) {
        let (before, after) = (self.block_before(node), self.block_after(node));
        if drop != keep {
            let empty = self.first_block(drop);
            for succ in
                self.blocks[empty.index()].succs.map(PackedOption::get).into_iter().flatten()
            {
                self.remove_edge(empty, succ);
            }
            self.blocks[empty.index()].succs = [PackedOption::NONE; 2];
            self.blocks[empty.index()].preds.clear();
            self.blocks[empty.index()].node = PackedOption::NONE;
        }
        let (first, last) = (self.first_block(keep), self.last_block(keep));
        let falls = self.block_jump(last).is_none();
        if falls || self.preds(after).is_empty() {
            self.dissolve_phis_from(after, last);
        }
        // Inner nodes take the node's place.
        let list = self.node_list(node);
        let mut at = self.nodes[node.index()].prev.get().expect("a block stands before");
        self.drop_condition(node);
        self.unlink_node(node);
        let mut next = self.lists[keep.index()].first.get();
        self.lists[keep.index()].first = PackedOption::NONE;
        self.lists[keep.index()].last = PackedOption::NONE;
        while let Some(inner) = next {
            next = self.next_node(inner);
            self.link_after(inner, at);
            self.nodes[inner.index()].list = list;
            at = inner;
        }
        // before + first
        self.blocks[before.index()].succs = [PackedOption::NONE; 2];
        self.blocks[first.index()].preds.clear();
        self.dissolve_phis(first);
        self.stitch(before, first);
        let last = if last == first { before } else { last };
        if falls {
            for succ in self.blocks[last.index()].succs.map(PackedOption::get).into_iter().flatten()
            {
                self.remove_edge(last, succ);
            }
            self.blocks[last.index()].succs = [PackedOption::NONE; 2];
            self.stitch(last, after);
            self.relink(vec![last, before]);
        } else {
            self.relink(vec![last, before, after]);
            self.drop_dead_tail(last, after);
        }
    }

    /// Where a block ends with a jump and a block directly follows it, what follows is dead: it goes.
    fn drop_dead_tail(&mut self, last: Block, after: Block) {
        debug_assert!(self.block_jump(last).is_some());
        let (Some(_), Some(after_node)) = (self.block_node(last), self.block_node(after)) else {
            return;
        };
        // Everything behind in this list is unreachable, unless `after` has other predecessors, which it can't:
        // the node whose end it was is gone.
        let mut next = Some(after_node);
        let mut blocks = Vec::new();
        while let Some(node) = next {
            next = self.next_node(node);
            for list in self.child_lists(node) {
                let taken = self.extract_list(list);
                self.delete(taken);
                blocks.push(self.first_block(list));
            }
            if let NodeKind::Block(block) = self.node_kind(node) {
                blocks.push(block);
            }
            self.drop_condition(node);
            self.unlink_node(node);
        }
        for block in blocks {
            for succ in
                self.blocks[block.index()].succs.map(PackedOption::get).into_iter().flatten()
            {
                self.remove_edge(block, succ);
                if self.preds(succ).is_empty() && succ != block {
                    self.relink(vec![succ]);
                }
            }
            self.blocks[block.index()].succs = [PackedOption::NONE; 2];
            self.blocks[block.index()].preds.clear();
            self.empty_block(block);
            self.blocks[block.index()].node = PackedOption::NONE;
        }
    }

    fn dissolve_phis_from(&mut self, block: Block, pred: Block) {
        while let Some(phi) = self.first_instr(block).filter(|&i| self.kind(i) == InstrKind::Phi) {
            let value = match self.phi_src(phi, pred) {
                Some(def) if def != phi.def() => def,
                _ => {
                    let undef = self.create(InstrInit::Undef, self.shape(phi.def()), &[]);
                    self.insert(undef, Cursor::BlockStart(self.start_block()));
                    undef.def()
                }
            };
            self.replace_all_uses(phi.def(), value);
            self.remove(phi);
        }
    }
}
