//! Regions that are left from within: `once`s, loops and the shapes of switches. Any statement inside may be a jump,
//! at whatever depth of ifs, and the phis behind the region, or in the loop's continue list, take values of each way.
//!
//! Values of different ways differ by a constant of their own, and what regions give finds its way to the outputs,
//! so that ways that are taken for each other are seen.

use super::{Freedom, Maker, Value};
use deburr_ir_core::{Block, Cursor, Def, Instr, InstrInit, JumpKind, LoopParts, Shape};

/// A region whose body is being made.
pub(super) struct Region {
    kind: Kind,
    /// Scopes around its body, with its own.
    level: usize,
    /// What phis behind it give.
    outs: Vec<Slot>,
    /// What a loop carries round.
    carried: Vec<Slot>,
    breaks: Ways,
    continues: Ways,
}

/// What a region is to the jumps in it.
#[derive(Clone, Copy)]
enum Kind {
    Once,
    Loop {
        counter: Def,
        /// Whether the rounds are over, in a loop that has no test at its head: who goes on must ask.
        done: Option<Def>,
    },
    /// No way out but returns, if those.
    Closed {
        returns: bool,
    },
}

/// What a phi gives.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    bits: u8,
    /// Whether the interpreter knows it, whatever the way.
    known: bool,
}

/// The ways to a block.
#[derive(Default)]
pub(super) struct Ways {
    ends: Vec<(Block, Vec<Def>)>,
    /// Values of the pool that are on all of these ways.
    alive: Option<usize>,
}

/// Where a function's returns may stand, besides at its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Returns {
    Nowhere,
    /// Anywhere, with a word.
    Word,
    /// Anywhere, without a value; halts too.
    Bare,
}

/// A loop being made.
pub(super) struct OpenLoop {
    parts: LoopParts,
    counter: Instr,
    carried: Vec<Instr>,
}

fn scalar(bits: u8) -> Shape {
    Shape::new(1, bits).expect("a scalar is a shape")
}

impl Maker<'_> {
    // ---- values of a way ----------------------------------------------------------------------------

    pub(super) fn slots(&mut self, least: usize, most: usize) -> Vec<Slot> {
        let count = least + self.rng.below(most - least + 1);
        let slot = |maker: &mut Self| Slot {
            bits: *maker.rng.pick(&[1u8, 16, 32, 32, 32, 64]),
            known: maker.rng.below(4) > 0,
        };
        (0..count).map(|_| slot(self)).collect()
    }

    /// What a way gives for a slot: mostly a value that no other way gives.
    fn way_value(&mut self, slot: Slot) -> Def {
        let fresh = if self.rng.below(3) > 0 { self.take_fresh() } else { None };
        let def = match fresh {
            Some(value) if value.bits == slot.bits => value.def,
            Some(value) => self.resized(value.def, slot.bits),
            None => {
                let value =
                    if slot.known { self.known(slot.bits) } else { self.value(slot.bits, true) };
                let comp = self.rng.below(value.comps.into()) as u8;
                self.build(|b| b.channel(value.def, comp))
            }
        };
        self.ways += 1;
        let own = u64::from(self.ways).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - slot.bits);
        match slot.bits {
            1 if self.rng.one_in(2) => self.build(|b| b.inot(def)),
            1 => def,
            _ if self.rng.one_in(4) => def,
            bits => self.build(|b| {
                let own = b.load_const(bits, &[own]);
                b.ixor(def, own)
            }),
        }
    }

    /// The cursor's block as a way to a block whose phis have these slots.
    pub(super) fn way(&mut self, slots: &[Slot]) -> (Block, Vec<Def>) {
        let values = slots.iter().map(|&slot| self.way_value(slot)).collect();
        (self.b().block(), values)
    }

    /// Phis at a block, which is where the cursor goes; they come into the pool.
    pub(super) fn merge(
        &mut self,
        at: Block,
        slots: &[Slot],
        ends: &[(Block, Vec<Def>)],
    ) -> Vec<Def> {
        let phi = |(n, slot): (usize, &Slot)| {
            let srcs: Vec<(Block, Def)> = ends.iter().map(|(b, values)| (*b, values[n])).collect();
            self.cursor = Cursor::BlockEnd(at);
            let def = self.build(|b| b.phi(at, scalar(slot.bits), &srcs));
            let may = Freedom { free: !slot.known, nan: !slot.known };
            self.add_free(def, true, may);
            if slot.known && self.rng.below(4) > 0 {
                self.fresh.push(Value { def, bits: slot.bits, comps: 1, depends: true, may });
            }
            def
        };
        let phis = slots.iter().enumerate().map(phi).collect();
        self.cursor = Cursor::BlockEnd(at);
        phis
    }

    /// A merged value that nobody has used.
    fn take_fresh(&mut self) -> Option<Value> {
        let value = self.fresh.pop();
        let left = self.fresh.len();
        self.scopes.iter_mut().for_each(|scope| scope.fresh = scope.fresh.min(left));
        value
    }

    /// What merged values that nobody has used amount to, on top of a word.
    pub(super) fn with_fresh(&mut self, word: Def) -> Def {
        let mut sum = word;
        for value in std::mem::take(&mut self.fresh) {
            let part = self.resized(value.def, 32);
            sum = self.build(|b| {
                let factor = b.imm_u32(33);
                let more = b.imul(sum, factor);
                b.iadd(more, part)
            });
        }
        sum
    }

    // ---- regions ------------------------------------------------------------------------------------

    fn open(&mut self, kind: Kind, body: Block, outs: Vec<Slot>, carried: Vec<Slot>) {
        self.enter(Cursor::BlockEnd(body));
        let level = self.scopes.len();
        let (breaks, continues) = (Ways::default(), Ways::default());
        self.regions.push(Region { kind, level, outs, carried, breaks, continues });
    }

    /// Makes the region's insides unreachable for the pool, or keeps what is on all ways behind it, and merges them.
    fn close(&mut self, after: Block) {
        let region = self.regions.pop().expect("a region is open");
        let alive = region.breaks.alive.filter(|_| self.rng.one_in(2));
        self.leave_scope(alive);
        self.merge(after, &region.outs, &region.breaks.ends);
    }

    /// Runs `inside` where nothing may leave what it stands in, but for returns.
    pub(super) fn closed(&mut self, returns: bool, inside: impl FnOnce(&mut Self)) {
        let block = self.b().block();
        self.open(Kind::Closed { returns }, block, Vec::new(), Vec::new());
        inside(self);
        self.regions.pop();
        let all = self.pool.len();
        self.leave_scope(Some(all));
    }

    /// A way out of, or round, the n-th region from here.
    fn go(&mut self, n: usize, jump: JumpKind, explicit: bool) {
        let region = &self.regions[n];
        let slots = if jump == JumpKind::Break { &region.outs } else { &region.carried };
        let (slots, level) = (slots.clone(), region.level);
        let (block, values) = self.way(&slots);
        if explicit {
            self.f.add_jump(block, jump, None);
        }
        // What stood in the region's own list before the statement that leaves.
        let alive = self.scopes.get(level).map_or(self.pool.len(), |scope| scope.pool);
        let region = &mut self.regions[n];
        let ways = if jump == JumpKind::Break { &mut region.breaks } else { &mut region.continues };
        ways.alive.get_or_insert(alive);
        ways.ends.push((block, values));
    }

    /// Where jumps may lead from here.
    fn jumps(&self) -> Vec<(usize, JumpKind)> {
        let mut jumps = Vec::new();
        let innermost = self.regions.len().wrapping_sub(1);
        let mut returns = self.returns != Returns::Nowhere;
        let mut inside = true;
        for (n, region) in self.regions.iter().enumerate().rev() {
            match region.kind {
                Kind::Closed { returns: may } => {
                    inside = false;
                    returns &= may;
                }
                Kind::Once if n == innermost => jumps.extend([(n, JumpKind::Break); 3]),
                Kind::Loop { done, .. } if inside => {
                    if n == innermost {
                        jumps.extend([(n, JumpKind::Break); 2]);
                    }
                    if n == innermost || done.is_none() {
                        jumps.extend([(n, JumpKind::Continue); 2]);
                    }
                    inside = false;
                }
                Kind::Once | Kind::Loop { .. } => {}
            }
        }
        if returns {
            jumps.push((0, JumpKind::Return));
        }
        jumps
    }

    fn can_leave(&self) -> bool {
        !self.jumps().is_empty()
    }

    /// Ends the cursor's block with a jump to somewhere.
    fn leave(&mut self) {
        let jumps = self.jumps();
        let &(n, jump) = self.rng.pick(&jumps);
        match jump {
            JumpKind::Return | JumpKind::Halt => {
                let value = (self.returns == Returns::Word).then(|| {
                    let value = Slot { bits: 32, known: true };
                    self.way_value(value)
                });
                let halts = self.returns == Returns::Bare && self.rng.one_in(2);
                let jump = if halts { JumpKind::Halt } else { JumpKind::Return };
                let block = self.b().block();
                self.f.add_jump(block, jump, value);
            }
            JumpKind::Break => self.go(n, jump, true),
            JumpKind::Continue => {
                self.ask_whether_done(n);
                self.go(n, jump, true);
            }
        }
    }

    /// In a loop without a test at its head: `if done { break }`.
    fn ask_whether_done(&mut self, n: usize) {
        let Kind::Loop { done: Some(done), .. } = self.regions[n].kind else { return };
        let swapped = self.rng.one_in(4);
        let condition = if swapped { self.build(|b| b.inot(done)) } else { done };
        let parts = self.f.insert_if(self.cursor, condition);
        let out = if swapped { parts.else_block } else { parts.then_block };
        self.scope(Cursor::BlockEnd(out), |maker| maker.go(n, JumpKind::Break, true));
        self.cursor = Cursor::BlockEnd(parts.after);
    }

    /// A condition that holds now and then, in a loop in some rounds.
    fn leaving_condition(&mut self) -> Def {
        if self.rng.one_in(3) {
            return self.condition();
        }
        let word = self.known_word();
        let counter = self.regions.iter().rev().find_map(|r| match r.kind {
            Kind::Loop { counter, .. } => Some(counter),
            Kind::Once | Kind::Closed { .. } => None,
        });
        let (n, shift, less) =
            (self.rng.below(4) as u32, self.rng.below(16) as u32, self.rng.one_in(2));
        self.build(|b| {
            let (shift, mask) = (b.imm_u32(shift), b.imm_u32(3));
            let shifted = b.ushr(word, shift);
            let low = b.iand(shifted, mask);
            let other = counter.unwrap_or_else(|| b.imm_u32(n));
            if less { b.ult(low, other) } else { b.ieq(low, other) }
        })
    }

    /// A statement that may leave: `if c { …; jump }`, or in the other arm. Whether there was one to make.
    pub(super) fn leave_if(&mut self, depth: u32) -> bool {
        if !self.can_leave() {
            return false;
        }
        let condition = self.leaving_condition();
        let parts = self.f.insert_if(self.cursor, condition);
        let mut arms = [parts.then_block, parts.else_block];
        if self.rng.one_in(3) {
            arms.swap(0, 1);
        }
        self.scope(Cursor::BlockEnd(arms[0]), |maker| {
            maker.a_little(depth);
            maker.leave();
        });
        // The arm that stays may compute something, too: a phi of one source.
        if self.rng.one_in(3) {
            let slots = self.slots(1, 1);
            let mut way = None;
            self.scope(Cursor::BlockEnd(arms[1]), |maker| {
                maker.a_little(depth);
                way = Some(maker.way(&slots));
            });
            self.merge(parts.after, &slots, way.as_slice());
        }
        self.cursor = Cursor::BlockEnd(parts.after);
        true
    }

    /// Nothing, a few operations, or statements.
    fn a_little(&mut self, depth: u32) {
        match self.rng.below(6) {
            0 if depth < self.options.depth => self.statements(depth + 1),
            1..=2 => {
                self.alu();
                self.local();
            }
            _ => {}
        }
    }

    /// Maybe ends an arm or a body with a jump, or with an `if` both of whose arms do. Whether control still goes on.
    pub(super) fn tail(&mut self, depth: u32) -> bool {
        if !self.can_leave() || self.rng.below(4) > 0 {
            return true;
        }
        if depth > self.options.depth || self.rng.below(3) > 0 {
            self.leave();
            return false;
        }
        let condition = self.leaving_condition();
        let parts = self.f.insert_if(self.cursor, condition);
        let mut goes_on = false;
        for block in [parts.then_block, parts.else_block] {
            self.scope(Cursor::BlockEnd(block), |maker| {
                maker.a_little(depth + 1);
                if maker.tail(depth + 1) {
                    // Some arms stay.
                    if maker.rng.one_in(4) {
                        goes_on = true;
                    } else {
                        maker.leave();
                    }
                }
            });
        }
        self.cursor = Cursor::BlockEnd(parts.after);
        goes_on
    }

    /// `once { … }`, left from anywhere in it.
    pub(super) fn once(&mut self, depth: u32) {
        let parts = self.f.insert_once(self.cursor);
        let outs = self.slots(0, 3);
        self.open(Kind::Once, parts.body, outs, Vec::new());
        self.statements(depth + 1);
        self.leave_if(depth + 1);
        self.statements(depth + 1);
        self.end_once(depth, parts.after);
    }

    fn end_once(&mut self, depth: u32, after: Block) {
        let n = self.regions.len() - 1;
        let left = !self.regions[n].breaks.ends.is_empty();
        if !left || self.tail(depth + 1) {
            let explicit = self.rng.one_in(8);
            self.go(n, JumpKind::Break, explicit);
        }
        self.close(after);
    }

    /// What a switch is read as: a `once` around ifs, whose cases break, and fall through by a condition that is
    /// carried on.
    pub(super) fn switch(&mut self, depth: u32) {
        let selector = self.known_word();
        let selector = self.build(|b| {
            let mask = b.imm_u32(3);
            b.iand(selector, mask)
        });
        let parts = self.f.insert_once(self.cursor);
        let outs = self.slots(1, 2);
        self.open(Kind::Once, parts.body, outs, Vec::new());
        let n = self.regions.len() - 1;
        let mut fell: Option<Def> = None;
        for case in 0..2 + self.rng.below(3) as u32 {
            let condition = self.build(|b| {
                let case = b.imm_u32(case);
                let hit = b.ieq(selector, case);
                fell.map_or(hit, |fell| b.ior(fell, hit))
            });
            let arm = self.f.insert_if(self.cursor, condition);
            let breaks = self.rng.below(3) > 0;
            self.scope(Cursor::BlockEnd(arm.then_block), |maker| {
                if maker.rng.one_in(2) {
                    maker.statements(depth + 2);
                }
                if breaks {
                    maker.go(n, JumpKind::Break, true);
                }
            });
            fell = (!breaks).then_some(condition);
            self.cursor = Cursor::BlockEnd(arm.after);
        }
        if self.rng.one_in(2) {
            self.statements(depth + 2);
        }
        self.end_once(depth, parts.after);
    }

    // ---- loops --------------------------------------------------------------------------------------

    /// A loop of so many rounds, with the cursor in its body, behind the test if there is one at the head.
    pub(super) fn open_loop(&mut self, trips: u32) -> OpenLoop {
        let slots = self.slots(1, 2);
        let start: Vec<Def> = slots.iter().map(|&slot| self.way_value(slot)).collect();
        let (zero, limit) = self.build(|b| (b.imm_u32(0), b.imm_u32(trips)));
        let parts = self.f.insert_loop(self.cursor);
        let before = self.f.preds(parts.body)[0];
        let outs = self.slots(0, 3);
        let phi = |f: &mut deburr_ir_core::Function, init: Def| {
            let shape = f.shape(init);
            let phi = f.create(InstrInit::Phi(&[before]), shape, &[init]);
            f.insert(phi, Cursor::AfterPhis(parts.body));
            phi
        };
        let counter = phi(&mut self.f, zero);
        let carried: Vec<Instr> = start.iter().map(|&init| phi(&mut self.f, init)).collect();
        let kind = Kind::Loop { counter: counter.def(), done: None };
        self.open(kind, parts.body, outs, slots.clone());
        self.add_free(counter.def(), false, Freedom::default());
        for (phi, slot) in carried.iter().zip(&slots) {
            let may = Freedom { free: !slot.known, nan: !slot.known };
            self.add_free(phi.def(), true, may);
        }
        let n = self.regions.len() - 1;
        // What the head computes is on every way behind the loop.
        if self.rng.one_in(3) {
            self.alu();
        }
        let done = self.build(|b| b.uge(counter.def(), limit));
        self.regions[n].kind = Kind::Loop { counter: counter.def(), done: Some(done) };
        // A loop that runs at least once may ask later.
        if trips == 0 || self.rng.below(4) > 0 {
            self.ask_whether_done(n);
            self.regions[n].kind = Kind::Loop { counter: counter.def(), done: None };
        }
        OpenLoop { parts, counter, carried }
    }

    /// The end of a loop's body, its continue list and what is behind it.
    pub(super) fn close_loop(&mut self, open: &OpenLoop, depth: u32) {
        let OpenLoop { parts, counter, ref carried } = *open;
        let n = self.regions.len() - 1;
        let goes_round = !self.regions[n].continues.ends.is_empty();
        if !goes_round || self.tail(depth + 1) {
            self.ask_whether_done(n);
            let explicit = self.rng.one_in(8);
            self.go(n, JumpKind::Continue, explicit);
        }
        let slots = self.regions[n].carried.clone();
        let ways = std::mem::take(&mut self.regions[n].continues);
        let alive = ways.alive.unwrap_or(usize::MAX);
        self.pool.truncate(alive);
        let behind = &mut self.regions[n].breaks.alive;
        *behind = behind.map(|n| n.min(alive));
        let fresh = self.scopes.last().map_or(0, |scope| scope.fresh);
        self.fresh.truncate(fresh);
        self.cursor = Cursor::BlockEnd(parts.continue_block);
        let mut next = match &ways.ends[..] {
            [(_, values)] if self.rng.one_in(2) => values.clone(),
            ends => self.merge(parts.continue_block, &slots, ends),
        };
        if self.rng.one_in(4) {
            self.closed(false, |maker| maker.statements(depth + 2));
            next = slots.iter().map(|&slot| self.way_value(slot)).collect();
        }
        let step = self.build(|b| {
            let one = b.imm_u32(1);
            b.iadd(counter.def(), one)
        });
        let back = self.b().block();
        self.f.set_phi_src(counter, back, step);
        for (&phi, &value) in carried.iter().zip(&next) {
            self.f.set_phi_src(phi, back, value);
        }
        self.close(parts.after);
    }

    /// `for i in 0..n` with values carried round, left and continued from anywhere in it.
    pub(super) fn counted_loop(&mut self, depth: u32) {
        let trips = 1 + self.rng.below(4) as u32;
        let open = self.open_loop(trips);
        self.statements(depth + 1);
        if self.rng.one_in(2) {
            self.leave_if(depth + 1);
            self.statements(depth + 1);
        }
        self.close_loop(&open, depth);
    }
}
