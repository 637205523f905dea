//! Edits that keep the meaning of a program, each made of the library's edit functions.

use super::Rng;
use deburr_ir_core::{
    AluOp, Block, Builder, CfList, CopyMap, Cursor, Def, Dominance, Extracted, Function, Instr,
    InstrKind, JumpKind, Node, NodeKind, Shape, User,
};
use std::collections::{HashMap, HashSet};

/// Makes one edit at a time.
pub(super) struct Editor<'a> {
    pub f: &'a mut Function,
    pub rng: &'a mut Rng,
}

/// A phi outside a region that an edge out of it leads to, and its source.
struct Leaving {
    phi: Instr,
    pred: Block,
    value: Def,
}

impl Editor<'_> {
    /// Makes a random edit; its name, or `None` if it found no place.
    pub fn step(&mut self) -> Option<&'static str> {
        let edits: [(&'static str, fn(&mut Self) -> bool); 13] = [
            ("insert_if", Self::insert_if),
            ("insert_loop", Self::insert_loop),
            ("insert_once", Self::insert_once),
            ("extract and reinsert", Self::extract_reinsert),
            ("wrap in once", Self::wrap_in_once),
            ("wrap in if", Self::wrap_in_if),
            ("clone under if", Self::clone_under_if),
            ("move_rest", Self::move_rest),
            ("dissolve_if", Self::dissolve_if),
            ("dissolve_once", Self::dissolve_once),
            ("remove_node", Self::remove_node),
            ("add_jump", Self::add_jump),
            ("remove_jump", Self::remove_jump),
        ];
        // Growth is bounded: large programs shrink.
        let large = self.f.blocks().count() > 250;
        let (name, edit) = match large {
            true => edits[8 + self.rng.below(5)],
            false => edits[self.rng.below(edits.len())],
        };
        edit(self).then_some(name)
    }

    fn blocks(&self) -> Vec<Block> {
        self.f.blocks().filter(|&b| self.f.is_reachable(b)).collect()
    }

    /// A place in a reachable block, before a jump and after the phis.
    fn cursor(&mut self) -> Option<Cursor> {
        let blocks = self.blocks();
        let block = self.rng.pick(&blocks)?;
        Some(self.cursor_in(block))
    }

    fn cursor_in(&mut self, block: Block) -> Cursor {
        let f = &*self.f;
        let ordinary = |i: &Instr| !matches!(f.kind(*i), InstrKind::Phi | InstrKind::Jump);
        let instrs: Vec<Instr> = f.instrs(block).filter(ordinary).collect();
        match self.rng.below(5) {
            0 => Cursor::AfterPhis(block),
            1 => Cursor::BeforeJump(block),
            _ => match self.rng.pick(&instrs) {
                Some(instr) if self.rng.chance(50) => Cursor::Before(instr),
                Some(instr) => Cursor::After(instr),
                None => Cursor::AfterPhis(block),
            },
        }
    }

    /// A 32-bit value that is there at the end of a block.
    fn value_at(&mut self, block: Block) -> Def {
        let dominance = Dominance::new(self.f);
        let f = &*self.f;
        let values: Vec<Def> = f
            .all_instrs()
            .filter(|&i| f.def(i).is_some_and(|d| f.bits(d) == 32))
            .filter(|&i| f.block_of(i).is_some_and(|home| dominance.dominates(home, block)))
            .map(Instr::def)
            .collect();
        match self.rng.pick(&values) {
            Some(value) => value,
            None => Builder::new(self.f, Cursor::AfterPhis(block)).imm_u32(5),
        }
    }

    /// Makes some later uses of `old` uses of `new`, which is equal to it and defined in `block`.
    fn use_instead(&mut self, old: Def, new: Def, block: Block) {
        let dominance = Dominance::new(self.f);
        let users: Vec<(User, usize)> = self.f.uses_at(old).collect();
        for (user, n) in users {
            let User::Instr(user) = user else { continue };
            let Some(home) = self.f.block_of(user) else { continue };
            let phi_pred = match self.f.view(user) {
                deburr_ir_core::InstrView::Phi(preds) => Some(preds[n]),
                _ => None,
            };
            let reached = match phi_pred {
                Some(pred) => dominance.dominates(block, pred),
                None => block != home && dominance.dominates(block, home),
            };
            if reached && user != new.instr() && self.rng.chance(70) {
                self.f.set_src(user, n, new);
            }
        }
    }

    fn scalar() -> Shape {
        Shape::new(1, 32).expect("a scalar")
    }

    // ---- insertion of code without effect -----------------------------------------------------------

    fn insert_if(&mut self) -> bool {
        let Some(cursor) = self.cursor() else { return false };
        let block = block_of(self.f, cursor);
        let (old, cursor) = self.value_before(cursor, block);
        let mut b = Builder::new(self.f, cursor);
        let seven = b.imm_u32(7);
        let condition = b.alu(AluOp::ULT, &[old, seven]);
        let parts = b.f.insert_if(b.cursor, condition);
        let other =
            Builder::new(self.f, Cursor::BlockEnd(parts.else_block)).alu(AluOp::MOV, &[old]);
        let srcs = [(parts.then_block, old), (parts.else_block, other)];
        let phi = Builder::new(self.f, Cursor::AfterPhis(parts.after)).phi(
            parts.after,
            Self::scalar(),
            &srcs,
        );
        self.use_instead(old, phi, parts.after);
        true
    }

    /// A value defined before the cursor, perhaps a new one there, and the cursor behind it.
    fn value_before(&mut self, cursor: Cursor, block: Block) -> (Def, Cursor) {
        let idom = Dominance::new(self.f).idom(block).filter(|_| self.rng.chance(70));
        match idom {
            Some(idom) => (self.value_at(idom), cursor),
            None => {
                let mut b = Builder::new(self.f, cursor);
                (b.imm_u32(11), b.cursor)
            }
        }
    }

    fn insert_loop(&mut self) -> bool {
        let Some(cursor) = self.cursor() else { return false };
        let block = block_of(self.f, cursor);
        if self.f.in_continue_list(block) {
            return false;
        }
        let (old, cursor) = self.value_before(cursor, block);
        let mut b = Builder::new(self.f, cursor);
        let (zero, one, two) = (b.imm_u32(0), b.imm_u32(1), b.imm_u32(2));
        let parts = b.f.insert_loop(b.cursor);
        let latch = parts.continue_block;
        let Some(before) = b.f.preds(parts.body).iter().copied().find(|p| *p != latch) else {
            return false;
        };
        let counter = b.phi(parts.body, Self::scalar(), &[(before, zero), (latch, zero)]);
        let carried = b.phi(parts.body, Self::scalar(), &[(before, old), (latch, old)]);
        let next = Builder::new(self.f, Cursor::BlockEnd(latch)).alu(AluOp::IADD, &[counter, one]);
        self.f.set_phi_src(counter.instr(), latch, next);
        self.f.set_phi_src(carried.instr(), latch, carried);
        let mut inner = Builder::new(self.f, Cursor::BlockEnd(parts.body));
        let more = inner.alu(AluOp::ULT, &[counter, two]);
        let exit = inner.f.insert_if(inner.cursor, more);
        self.f.add_jump(exit.else_block, JumpKind::Break, None);
        let phi = Builder::new(self.f, Cursor::AfterPhis(parts.after)).phi(
            parts.after,
            Self::scalar(),
            &[(exit.else_block, carried)],
        );
        self.use_instead(old, phi, parts.after);
        true
    }

    fn insert_once(&mut self) -> bool {
        let Some(cursor) = self.cursor() else { return false };
        let block = block_of(self.f, cursor);
        let (old, cursor) = self.value_before(cursor, block);
        let parts = self.f.insert_once(cursor);
        let mut srcs = vec![(parts.body, old)];
        if self.rng.chance(60) && !self.f.in_continue_list(parts.after) {
            let mut b = Builder::new(self.f, Cursor::BlockEnd(parts.body));
            let seven = b.imm_u32(7);
            let condition = b.alu(AluOp::ULT, &[old, seven]);
            let exit = b.f.insert_if(b.cursor, condition);
            self.f.add_jump(exit.then_block, JumpKind::Break, None);
            let copy = Builder::new(self.f, Cursor::AfterPhis(exit.after)).alu(AluOp::MOV, &[old]);
            srcs = vec![(exit.then_block, old), (exit.after, copy)];
        }
        let mut b = Builder::new(self.f, Cursor::AfterPhis(parts.after));
        let phi = b.phi(parts.after, Self::scalar(), &srcs);
        self.use_instead(old, phi, parts.after);
        true
    }

    // ---- regions ------------------------------------------------------------------------------------

    /// Two cursors in one list, in order; the first one stays valid when what is between is taken out.
    fn region(&mut self) -> Option<(Cursor, Cursor)> {
        let blocks = self.blocks();
        let block = self.rng.pick(&blocks)?;
        let node = self.f.block_node(block)?;
        let f = &*self.f;
        // The blocks of the same list from here on.
        let siblings: Vec<Block> = f
            .list_nodes(f.node_list(node))
            .skip_while(|&n| n != node)
            .filter_map(|n| match f.node_kind(n) {
                NodeKind::Block(b) if f.is_reachable(b) => Some(b),
                _ => None,
            })
            .take(4)
            .collect();
        let end = self.rng.pick(&siblings)?;
        let f = &*self.f;
        let ordinary = |i: &Instr| !matches!(f.kind(*i), InstrKind::Phi | InstrKind::Jump);
        let instrs: Vec<Instr> = f.instrs(block).filter(ordinary).collect();
        let at = self.rng.below(instrs.len() + 1);
        let from = if at == 0 { Cursor::AfterPhis(block) } else { Cursor::After(instrs[at - 1]) };
        let to = if end != block {
            self.cursor_in(end)
        } else {
            let to = at + self.rng.below(instrs.len() - at + 1);
            if to == at { from } else { Cursor::After(instrs[to - 1]) }
        };
        Some((from, to))
    }

    /// Takes a region out, with the sources of phis outside that edges out of it give.
    fn take(&mut self, from: Cursor, to: Cursor) -> (Extracted, Vec<Leaving>) {
        let before = self.phi_sources();
        let taken = self.f.extract(from, to);
        let inside: HashSet<Block> = self.f.list_blocks(taken.list()).collect();
        let leaving = before
            .into_iter()
            .filter(|l| inside.contains(&l.pred))
            .filter(|l| self.f.block_of(l.phi).is_some_and(|b| !inside.contains(&b)))
            .collect();
        (taken, leaving)
    }

    fn phi_sources(&self) -> Vec<Leaving> {
        let f = &*self.f;
        let mut all = Vec::new();
        for phi in f.blocks().flat_map(|b| f.phis(b)) {
            if let deburr_ir_core::InstrView::Phi(preds) = f.view(phi) {
                all.extend(preds.iter().enumerate().map(|(n, &pred)| Leaving {
                    phi,
                    pred,
                    value: f.src(phi, n),
                }));
            }
        }
        all
    }

    fn restore(&mut self, leaving: &[Leaving]) {
        for l in leaving {
            if self.f.phi_src(l.phi, l.pred).is_some() {
                self.f.set_phi_src(l.phi, l.pred, l.value);
            }
        }
    }

    fn extract_reinsert(&mut self) -> bool {
        let Some((from, to)) = self.region() else { return false };
        let (taken, leaving) = self.take(from, to);
        self.f.reinsert(taken, from);
        self.restore(&leaving);
        true
    }

    /// Whether a region has breaks that leave it.
    fn has_free_break(&self, taken: &Extracted) -> bool {
        self.f.has_break(taken.list())
    }

    fn wrap_in_once(&mut self) -> bool {
        let Some((from, to)) = self.region() else { return false };
        let (taken, leaving) = self.take(from, to);
        if self.has_free_break(&taken) {
            self.f.reinsert(taken, from);
            self.restore(&leaving);
            return true;
        }
        let once = self.f.insert_once(from);
        self.f.reinsert(taken, Cursor::BlockEnd(once.body));
        self.restore(&leaving);
        true
    }

    /// Values defined in a region and used outside of it.
    fn live_out(&self, taken: &Extracted) -> Vec<Def> {
        let f = &*self.f;
        let inside: HashSet<Block> = f.list_blocks(taken.list()).collect();
        let outside = |user: User| match user {
            User::Instr(i) => f.block_of(i).is_some_and(|b| !inside.contains(&b)),
            User::If(node) => !inside.contains(&f.block_before(node)),
        };
        f.list_blocks(taken.list())
            .flat_map(|b| f.instrs(b))
            .filter(|&i| f.def(i).is_some() && f.uses(i.def()).any(|u| outside(u.user())))
            .map(Instr::def)
            .collect()
    }

    /// Gives values that two branches define phis behind them, which the uses outside of the branches take.
    fn merge(&mut self, after: Block, pairs: &[(Def, [Def; 2])], inside: &HashSet<Block>) {
        let preds = self.f.preds(after).to_vec();
        let dominance = Dominance::new(self.f);
        for (def, [first, second]) in pairs {
            if preds.is_empty() {
                continue;
            }
            let home = self.f.block_of(first.instr());
            let srcs: Vec<(Block, Def)> = preds
                .iter()
                .map(|&p| {
                    let is_first = home.is_some_and(|home| dominance.dominates(home, p));
                    (p, if is_first { *first } else { *second })
                })
                .collect();
            let shape = self.f.shape(*def);
            let phi = Builder::new(self.f, Cursor::AfterPhis(after)).phi(after, shape, &srcs);
            let users: Vec<(User, usize)> = self.f.uses_at(*def).collect();
            for (user, n) in users {
                match user {
                    User::Instr(i) if i == phi.instr() => {}
                    User::Instr(i) => {
                        let pred = match self.f.view(i) {
                            deburr_ir_core::InstrView::Phi(preds) => Some(preds[n]),
                            _ => self.f.block_of(i),
                        };
                        if pred.is_some_and(|b| !inside.contains(&b)) {
                            self.f.set_src(i, n, phi);
                        }
                    }
                    User::If(node) => {
                        if !inside.contains(&self.f.block_before(node)) {
                            self.f.set_condition(node, phi);
                        }
                    }
                }
            }
        }
    }

    fn blocks_of(&self, node: Node) -> HashSet<Block> {
        let lists = self.f.child_lists(node);
        lists.into_iter().flat_map(|l| self.f.list_blocks(l).collect::<Vec<_>>()).collect()
    }

    /// Whether a jump leads from the list to behind a loop or `once` around it, or to the head of one: what the list
    /// defines may be used there, without passing the end of the list.
    fn jumps_out(&self, list: CfList) -> bool {
        let f = &*self.f;
        // Whether a break, and whether a continue, stays inside.
        let mut lists = vec![(list, false, false)];
        while let Some((list, breaks, continues)) = lists.pop() {
            for node in f.list_nodes(list) {
                let inside = match f.node_kind(node) {
                    NodeKind::Block(block) => match f.block_jump(block) {
                        Some((_, JumpKind::Break)) if !breaks => return true,
                        Some((_, JumpKind::Continue)) if !continues => return true,
                        _ => continue,
                    },
                    NodeKind::If { .. } => (breaks, continues),
                    NodeKind::Once { .. } => (true, continues),
                    NodeKind::Loop { .. } => (true, true),
                };
                lists.extend(f.child_lists(node).into_iter().map(|l| (l, inside.0, inside.1)));
            }
        }
        false
    }

    fn wrap_in_if(&mut self) -> bool {
        let Some((from, to)) = self.region() else { return false };
        let (taken, leaving) = self.take(from, to);
        let live = self.live_out(&taken);
        if !live.is_empty() && self.jumps_out(taken.list()) {
            self.f.reinsert(taken, from);
            self.restore(&leaving);
            return false;
        }
        let taken_side = self.rng.chance(50);
        let mut b = Builder::new(self.f, from);
        let condition = b.imm_bool(taken_side);
        let parts = b.f.insert_if(b.cursor, condition);
        let (used, unused) = match taken_side {
            true => (parts.then_block, parts.else_block),
            false => (parts.else_block, parts.then_block),
        };
        let mut pairs = Vec::new();
        for def in live {
            let shape = self.f.shape(def);
            let undef =
                Builder::new(self.f, Cursor::BlockEnd(unused)).undef(shape.comps(), shape.bits());
            pairs.push((def, [def, undef]));
        }
        if self.rng.chance(30) && !self.f.in_continue_list(parts.after) {
            self.f.add_jump(unused, JumpKind::Halt, None);
        }
        self.f.reinsert(taken, Cursor::BlockEnd(used));
        self.restore(&leaving);
        let inside = self.blocks_of(parts.node);
        self.merge(parts.after, &pairs, &inside);
        true
    }

    fn clone_under_if(&mut self) -> bool {
        let Some((from, to)) = self.region() else { return false };
        let (taken, leaving) = self.take(from, to);
        let live = self.live_out(&taken);
        let large = self.f.list_blocks(taken.list()).count() > 30;
        if large || !live.is_empty() && self.jumps_out(taken.list()) {
            self.f.reinsert(taken, from);
            self.restore(&leaving);
            return false;
        }
        let mut map = CopyMap::default();
        let copy = self.f.clone_list(taken.list(), &mut map);
        let block = block_of(self.f, from);
        let (old, from) = self.value_before(from, block);
        let mut b = Builder::new(self.f, from);
        let seven = b.imm_u32(7);
        let condition = b.alu(AluOp::ULT, &[old, seven]);
        let parts = b.f.insert_if(b.cursor, condition);
        self.f.reinsert(taken, Cursor::BlockEnd(parts.then_block));
        self.f.reinsert(copy, Cursor::BlockEnd(parts.else_block));
        self.restore(&leaving);
        let copied: Vec<Leaving> = leaving
            .iter()
            .filter_map(|l| {
                let value = map.defs.get(&l.value).copied().unwrap_or(l.value);
                Some(Leaving { phi: l.phi, pred: *map.blocks.get(&l.pred)?, value })
            })
            .collect();
        self.restore(&copied);
        let pairs: Vec<(Def, [Def; 2])> = live.iter().map(|&d| (d, [d, map.defs[&d]])).collect();
        let inside = self.blocks_of(parts.node);
        self.merge(parts.after, &pairs, &inside);
        true
    }

    // ---- removal ------------------------------------------------------------------------------------

    fn nodes(&self, is: impl Fn(NodeKind) -> bool) -> Vec<Node> {
        let f = &*self.f;
        let blocks = f.blocks().filter(|&b| f.is_reachable(b) && f.block_jump(b).is_none());
        blocks
            .filter_map(|b| f.next_node(f.block_node(b)?))
            .filter(|&n| is(f.node_kind(n)))
            .collect()
    }

    fn dissolve_if(&mut self) -> bool {
        let mut nodes = self.nodes(|k| matches!(k, NodeKind::If { .. }));
        let value =
            |f: &Function, n: Node| f.condition(n).and_then(|c| f.constant(c)).map(|c| c[0]);
        nodes.retain(|&n| value(self.f, n).is_some());
        let Some(node) = self.rng.pick(&nodes) else { return false };
        let taken = value(self.f, node) == Some(1);
        self.f.dissolve_if(node, taken);
        true
    }

    /// Moves what follows an `if` of which one branch jumps into the other.
    fn move_rest(&mut self) -> bool {
        let f = &*self.f;
        let falls = |list: CfList| f.block_jump(f.last_block(list)).is_none();
        let other = |n: Node| match f.node_kind(n) {
            NodeKind::If { then_list, else_list } => {
                let lists = [then_list, else_list];
                let end = f.preds(f.block_after(n)).first().copied();
                lists.into_iter().find(|&l| falls(l) && end == Some(f.last_block(l)))
            }
            _ => None,
        };
        let mut nodes = self.nodes(|k| matches!(k, NodeKind::If { .. }));
        nodes.retain(|&n| other(n).is_some() && f.preds(f.block_after(n)).len() == 1);
        let lists: Vec<(Node, CfList)> =
            nodes.into_iter().filter_map(|n| Some((n, other(n)?))).collect();
        let Some((node, list)) = self.rng.pick(&lists) else { return false };
        self.f.move_rest(node, list);
        true
    }

    fn dissolve_once(&mut self) -> bool {
        let mut nodes = self.nodes(|k| matches!(k, NodeKind::Once { .. }));
        let body = |f: &Function, n: Node| match f.node_kind(n) {
            NodeKind::Once { body } => Some(body),
            _ => None,
        };
        nodes.retain(|&n| body(self.f, n).is_some_and(|list| !self.f.has_break(list)));
        let Some(node) = self.rng.pick(&nodes) else { return false };
        self.f.dissolve_once(node);
        true
    }

    /// Removes a node without effect and without values that others use.
    fn remove_node(&mut self) -> bool {
        let f = &*self.f;
        let mut nodes = self.nodes(|k| !matches!(k, NodeKind::Block(_)));
        nodes.retain(|&node| {
            let inside = self.blocks_of(node);
            let after = f.block_after(node);
            let local = |i: Instr| {
                f.uses(i.def()).all(|u| match u.user() {
                    User::Instr(u) => f.block_of(u).is_some_and(|b| inside.contains(&b)),
                    User::If(n) => inside.contains(&f.block_before(n)),
                })
            };
            let pure = |i: Instr| f.kind(i) != InstrKind::Call && (f.def(i).is_none() || local(i));
            let stays = |b: &Block| f.succs(*b).all(|s| inside.contains(&s) || s == after);
            inside.iter().all(|b| stays(b) && f.instrs(*b).all(pure))
                && f.phis(after).all(|phi| !f.is_used(phi.def()))
                && f.is_reachable(after)
        });
        let Some(node) = self.rng.pick(&nodes) else { return false };
        self.f.remove_node(node);
        true
    }

    // ---- jumps --------------------------------------------------------------------------------------

    /// Blocks whose end falls to where a break or continue leads.
    fn falling(&self) -> HashMap<Block, JumpKind> {
        let f = &*self.f;
        let mut ends = HashMap::new();
        let mut add = |list: CfList, jump| {
            let block = f.last_block(list);
            if f.is_reachable(block) && f.block_jump(block).is_none() {
                ends.insert(block, jump);
            }
        };
        for node in self.nodes(|k| !matches!(k, NodeKind::Block(_))) {
            match f.node_kind(node) {
                NodeKind::Loop { body, .. } => add(body, JumpKind::Continue),
                NodeKind::Once { body } => add(body, JumpKind::Break),
                NodeKind::Block(_) | NodeKind::If { .. } => {}
            }
        }
        add(f.body(), JumpKind::Return);
        ends
    }

    fn add_jump(&mut self) -> bool {
        let mut ends: Vec<(Block, JumpKind)> = self.falling().into_iter().collect();
        ends.sort_unstable_by_key(|(b, _)| b.index());
        let Some((block, jump)) = self.rng.pick(&ends) else { return false };
        self.f.add_jump(block, jump, None);
        true
    }

    /// Removes a jump that leads where the block falls to anyway.
    fn remove_jump(&mut self) -> bool {
        let f = &*self.f;
        let mut blocks = Vec::new();
        for block in self.blocks() {
            let Some((_, jump)) = f.block_jump(block) else { continue };
            let Some(node) = f.block_node(block) else { continue };
            let list = f.node_list(node);
            let falls = match f.list_owner(list).map(|n| f.node_kind(n)) {
                Some(NodeKind::Loop { body, .. }) => body == list && jump == JumpKind::Continue,
                Some(NodeKind::Once { .. }) => jump == JumpKind::Break,
                None => matches!(jump, JumpKind::Return | JumpKind::Halt),
                Some(NodeKind::Block(_) | NodeKind::If { .. }) => false,
            };
            if falls && f.next_node(node).is_none() {
                blocks.push(block);
            }
        }
        let Some(block) = self.rng.pick(&blocks) else { return false };
        self.f.remove_jump(block);
        true
    }
}

fn block_of(f: &Function, cursor: Cursor) -> Block {
    match cursor {
        Cursor::BlockStart(b)
        | Cursor::AfterPhis(b)
        | Cursor::BlockEnd(b)
        | Cursor::BeforeJump(b) => b,
        Cursor::Before(i) | Cursor::After(i) => {
            f.block_of(i).expect("a cursor stands at an instruction in a block")
        }
    }
}
