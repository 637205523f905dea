//! Shapes of code that passes look for, with random insides: each is what one of them changes, or almost.

use super::{Maker, Value};
use deburr_ir_core::{AluOp, Cursor, Flags, Function, Index, InstrInit, JumpKind, Modes, Shape};

impl Maker<'_> {
    /// One of the shapes, or the left side of a rule.
    pub(super) fn grown_statement(&mut self, depth: u32) {
        let deep = depth >= self.options.depth;
        match self.rng.below(16) {
            0..=6 => self.term(),
            7 => self.twice(),
            8 => self.constant_expression(),
            9 if !deep => self.equal_arms(depth),
            10 if !deep => self.ladder(depth),
            11 if !deep => self.same_condition_inside(depth),
            12 if !deep => self.dead_loop(),
            13 if !deep => self.loop_of_one_trip(depth),
            14 => self.forwarding(),
            _ => self.local(),
        }
    }

    /// The same computation twice: with the same operands, with other flags, or with one operand exchanged.
    fn twice(&mut self) {
        let bits = *self.rng.pick(&[8u8, 16, 32, 64]);
        let (a, b) = (self.value(bits, true), self.value(bits, true));
        let op = *self.rng.pick(&[
            AluOp::IADD,
            AluOp::ISUB,
            AluOp::IMUL,
            AluOp::IXOR,
            AluOp::UMIN,
            AluOp::USHR,
        ]);
        // Shift counts have 32 bits whatever is shifted.
        let (a, b) =
            if op == AluOp::USHR { (self.value(32, true), self.value(32, true)) } else { (a, b) };
        let pick = |maker: &mut Self, v: Value| {
            (v, deburr_ir_core::Swizzle::splat(maker.rng.below(v.comps.into()) as u8))
        };
        let (a, b) = (pick(self, a), pick(self, b));
        let first = self.emit(op, 1, &[a, b], Flags::empty());
        let (second, flags) = match self.rng.below(4) {
            0 => ([b, a], Flags::empty()),
            1 if op == AluOp::IADD => ([a, b], Flags::NUW),
            2 => ([a, a], Flags::empty()),
            _ => ([a, b], Flags::empty()),
        };
        let second = self.emit(op, 1, &second, flags);
        let of = |v: Value| (v, deburr_ir_core::Swizzle::IDENTITY);
        let both = self.emit(AluOp::IXOR, 1, &[of(first), of(second)], Flags::empty());
        self.pool.extend([first, second, both]);
    }

    /// A few operations on constants alone, then one with a value.
    fn constant_expression(&mut self) {
        let (x, y) = (self.constant(32, 1), self.constant(32, 1));
        let value = self.value(32, true);
        let id = deburr_ir_core::Swizzle::splat(0);
        let ops = [AluOp::IADD, AluOp::IMUL, AluOp::IAND, AluOp::ISHL, AluOp::IMAX];
        let (first, second) = (*self.rng.pick(&ops), *self.rng.pick(&ops));
        let folded = self.emit(first, 1, &[(x, id), (y, id)], Flags::empty());
        let result = self.emit(second, 1, &[(value, id), (folded, id)], Flags::empty());
        self.pool.push(result);
    }

    /// An `if` whose phis take the same value from both sides, or nearly, with something that stores inside.
    fn equal_arms(&mut self, depth: u32) {
        let condition = self.condition();
        let same = self.word(true);
        let parts = self.f.insert_if(self.cursor, condition);
        let busy = self.rng.one_in(2);
        let then_end = self.scope(Cursor::BlockEnd(parts.then_block), |maker| {
            if busy {
                maker.statements(depth + 2);
            }
        });
        let mut other = same;
        let differ = self.rng.one_in(3);
        let else_end = self.scope(Cursor::BlockEnd(parts.else_block), |maker| {
            if differ {
                other = maker.word(true);
            }
        });
        self.cursor = Cursor::AfterPhis(parts.after);
        let word = Shape::new(1, 32).expect("a word");
        let srcs = [(then_end, same), (else_end, other)];
        let def = self.build(|b| b.phi(parts.after, word, &srcs));
        self.add(def, true);
        self.cursor = Cursor::BlockEnd(parts.after);
    }

    /// `if x == 0 {…} else if x == 1 {…} else …`: what a switch is read as.
    fn ladder(&mut self, depth: u32) {
        let selector = self.known_word();
        let rungs = 2 + self.rng.below(3) as u32;
        let start = self.word(true);
        let (var, word) = (self.locals[0], self.types.word);
        let selector = self.build(|b| {
            let mask = b.imm_u32(3);
            b.iand(selector, mask)
        });
        let store = |maker: &mut Self, value| {
            maker.build(|b| {
                let p = b.deref_var(var, Modes::FUNCTION, word);
                b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
            });
        };
        store(self, start);
        let mark = self.pool.len();
        let mut afters = Vec::new();
        for n in 0..rungs {
            let condition = self.build(|b| {
                let case = b.imm_u32(n);
                b.ieq(selector, case)
            });
            let parts = self.f.insert_if(self.cursor, condition);
            afters.push(parts.after);
            self.scope(Cursor::BlockEnd(parts.then_block), |maker| {
                if maker.rng.one_in(2) {
                    maker.statements(depth + 2);
                }
                let value = maker.word(true);
                store(maker, value);
            });
            self.cursor = Cursor::BlockEnd(parts.else_block);
        }
        self.pool.truncate(mark);
        self.cursor = Cursor::BlockEnd(afters[0]);
        let loaded = self.build(|b| {
            let p = b.deref_var(var, Modes::FUNCTION, word);
            b.load_deref(1, 32, p, &[])
        });
        self.add(loaded, true);
    }

    /// `if c { if c {…} else {…} }`: the inner one decides nothing.
    fn same_condition_inside(&mut self, depth: u32) {
        let condition = self.condition();
        let negated = self.rng.one_in(2);
        let parts = self.f.insert_if(self.cursor, condition);
        let outer = if self.rng.one_in(2) { parts.then_block } else { parts.else_block };
        self.scope(Cursor::BlockEnd(outer), |maker| {
            let again = if negated { maker.build(|b| b.inot(condition)) } else { condition };
            let inner = maker.f.insert_if(maker.cursor, again);
            for block in [inner.then_block, inner.else_block] {
                maker.scope(Cursor::BlockEnd(block), |maker| {
                    let value = maker.word(true);
                    let (var, word) = (maker.locals[1], maker.types.word);
                    maker.build(|b| {
                        let p = b.deref_var(var, Modes::FUNCTION, word);
                        b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
                    });
                });
            }
            maker.cursor = Cursor::BlockEnd(inner.after);
            maker.statements(depth + 2);
        });
        self.cursor = Cursor::BlockEnd(parts.after);
        self.local();
    }

    /// A counter at the head of a loop: initial value, bound, and the phi.
    fn counter(&mut self, trips: u32) -> Counter {
        let (zero, limit) = self.build(|b| (b.imm_u32(0), b.imm_u32(trips)));
        let parts = self.f.insert_loop(self.cursor);
        let before = self.f.preds(parts.body)[0];
        let word = Shape::new(1, 32).expect("a word");
        let phi = |f: &mut Function| {
            let phi = f.create(InstrInit::Phi(&[before]), word, &[zero]);
            f.insert(phi, Cursor::AfterPhis(parts.body));
            phi
        };
        let phi = phi(&mut self.f);
        self.cursor = Cursor::BlockEnd(parts.body);
        let done = self.build(|b| b.uge(phi.def(), limit));
        let exit = self.f.insert_if(self.cursor, done);
        self.f.add_jump(exit.then_block, JumpKind::Break, None);
        self.cursor = Cursor::BlockEnd(parts.continue_block);
        let next = self.build(|b| {
            let one = b.imm_u32(1);
            b.iadd(phi.def(), one)
        });
        self.f.set_phi_src(phi, parts.continue_block, next);
        Counter { body: exit.after, after: parts.after, phi }
    }

    /// A loop that computes nothing that anyone looks at.
    fn dead_loop(&mut self) {
        let trips = self.rng.below(4) as u32;
        let counter = self.counter(trips);
        self.scope(Cursor::BlockEnd(counter.body), |maker| {
            maker.alu();
            maker.alu();
        });
        self.cursor = Cursor::BlockEnd(counter.after);
    }

    /// A loop of no or one trip around something.
    fn loop_of_one_trip(&mut self, depth: u32) {
        let trips = self.rng.below(2) as u32;
        let counter = self.counter(trips);
        self.scope(Cursor::BlockEnd(counter.body), |maker| {
            maker.add_free(counter.phi.def(), false, super::Freedom::default());
            maker.closed(true, |maker| maker.statements(depth + 1));
            maker.local();
        });
        self.cursor = Cursor::BlockEnd(counter.after);
        self.local();
    }

    /// Store, load, store again, load: what store-to-load forwarding and dead-store elimination see.
    fn forwarding(&mut self) {
        let (first, second) = (self.word(true), self.word(true));
        let (var, word) = (self.locals[self.rng.below(2)], self.types.word);
        let between = self.rng.one_in(2);
        let store = |maker: &mut Self, value| {
            maker.build(|b| {
                let p = b.deref_var(var, Modes::FUNCTION, word);
                b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
            });
        };
        store(self, first);
        let loaded = between.then(|| {
            self.build(|b| {
                let p = b.deref_var(var, Modes::FUNCTION, word);
                b.load_deref(1, 32, p, &[])
            })
        });
        store(self, second);
        let last = self.build(|b| {
            let p = b.deref_var(var, Modes::FUNCTION, word);
            b.load_deref(1, 32, p, &[])
        });
        loaded.into_iter().chain([last]).for_each(|def| self.add(def, true));
    }

    /// In a helper: a loop that returns from its middle.
    pub(super) fn loop_with_return(&mut self) {
        let trips = 1 + self.rng.below(3) as u32;
        let counter = self.counter(trips);
        self.scope(Cursor::BlockEnd(counter.body), |maker| {
            maker.add_free(counter.phi.def(), false, super::Freedom::default());
            maker.closed(true, |maker| maker.statements(3));
            let condition = maker.condition();
            let value = maker.word(true);
            let parts = maker.f.insert_if(maker.cursor, condition);
            maker.f.add_jump(parts.then_block, JumpKind::Return, Some(value));
            maker.cursor = Cursor::BlockEnd(parts.after);
            maker.closed(true, |maker| maker.statements(3));
        });
        self.cursor = Cursor::BlockEnd(counter.after);
    }
}

struct Counter {
    /// Where the body goes on behind the test.
    body: deburr_ir_core::Block,
    after: deburr_ir_core::Block,
    phi: deburr_ir_core::Instr,
}
