//! Control flow: ifs, ladders, loops, `once`, calls.

use super::{Freedom, Maker, Value};
use deburr_ir_core::{
    Block, Cursor, Def, DerefKind, Index, Instr, InstrInit, JumpKind, LoopParts, Modes, Shape,
};

/// The head of a counted loop.
struct Head {
    parts: LoopParts,
    /// The phis: the number of the round, and the value that is carried round.
    counter: Instr,
    carried: Instr,
    /// The number of rounds, and 1.
    limit: Def,
    one: Def,
    /// Values in the pool before the loop.
    mark: usize,
}

fn word() -> Shape {
    Shape::new(1, 32).expect("a word is a shape")
}

impl Maker<'_> {
    /// Runs `inside` with the cursor in a block; what it adds to the pool goes out of scope again.
    pub(super) fn scope(&mut self, at: Cursor, inside: impl FnOnce(&mut Self)) -> Block {
        let mark = self.pool.len();
        self.cursor = at;
        inside(self);
        let end = self.b().block();
        self.pool.truncate(mark);
        end
    }

    pub(super) fn branch(&mut self, depth: u32) {
        let condition = self.condition();
        let parts = self.f.insert_if(self.cursor, condition);
        let mut ends = [parts.then_block, parts.else_block];
        let mut merged: [Vec<Value>; 2] = [Vec::new(), Vec::new()];
        let shapes: Vec<u8> =
            (0..self.rng.below(3)).map(|_| *self.rng.pick(&[1u8, 32, 32, 64])).collect();
        for (n, block) in [parts.then_block, parts.else_block].into_iter().enumerate() {
            let skip = self.rng.one_in(3);
            let mut values = Vec::new();
            ends[n] = self.scope(Cursor::BlockEnd(block), |maker| {
                if !skip {
                    maker.statements(depth + 1);
                }
                for &bits in &shapes {
                    let value = maker.value(bits, true);
                    let comp = maker.rng.below(value.comps.into()) as u8;
                    let def = maker.build(|b| b.channel(value.def, comp));
                    values.push(Value { def, comps: 1, ..value });
                }
            });
            merged[n] = values;
        }
        self.cursor = Cursor::AfterPhis(parts.after);
        for (n, &bits) in shapes.iter().enumerate() {
            let srcs = [(ends[0], merged[0][n].def), (ends[1], merged[1][n].def)];
            let shape = Shape::new(1, bits).expect("a scalar");
            let def = self.build(|b| b.phi(parts.after, shape, &srcs));
            self.add(def, true);
        }
        self.cursor = Cursor::BlockEnd(parts.after);
    }

    /// A loop of up to so many rounds, with a value carried round, and the cursor in its body. Both are in the pool.
    fn loop_head(&mut self, most: usize) -> Head {
        let trips = 1 + self.rng.below(most) as u32;
        let start = self.word(true);
        let (zero, limit, one) = self.build(|b| (b.imm_u32(0), b.imm_u32(trips), b.imm_u32(1)));
        let parts = self.f.insert_loop(self.cursor);
        let before = self.f.preds(parts.body)[0];
        let [counter, carried] = [zero, start].map(|init| {
            let phi = self.f.create(InstrInit::Phi(&[before]), word(), &[init]);
            self.f.insert(phi, Cursor::AfterPhis(parts.body));
            phi
        });
        let mark = self.pool.len();
        self.cursor = Cursor::BlockEnd(parts.body);
        self.add_free(counter.def(), false, Freedom::default());
        self.add(carried.def(), true);
        Head { parts, counter, carried, limit, one, mark }
    }

    /// `for i in 0..n` with a value carried round, and sometimes a `continue` or `break` inside.
    pub(super) fn counted_loop(&mut self, depth: u32) {
        let Head { parts, counter, carried, limit, one, mark } = self.loop_head(4);
        let done = self.build(|b| b.uge(counter.def(), limit));
        let exit = self.f.insert_if(self.cursor, done);
        self.f.add_jump(exit.then_block, JumpKind::Break, None);
        self.cursor = Cursor::BlockEnd(exit.after);
        let outer = self.pool.len();
        self.statements(depth + 1);
        // Values of the body that every way round has: the carried one and the counter.
        let mut ways = Vec::new();
        if self.rng.one_in(2) {
            let condition = self.condition();
            let value = self.word(true);
            let leave = self.rng.one_in(2);
            let inner = self.f.insert_if(self.cursor, condition);
            self.f.add_jump(
                inner.then_block,
                if leave { JumpKind::Break } else { JumpKind::Continue },
                None,
            );
            if !leave {
                ways.push((inner.then_block, value));
            }
            self.cursor = Cursor::BlockEnd(inner.after);
            self.statements(depth + 1);
        }
        let value = self.word(true);
        ways.push((self.b().block(), value));
        self.pool.truncate(outer);
        self.cursor = Cursor::BlockEnd(parts.continue_block);
        let next = match &ways[..] {
            [(_, value)] => *value,
            _ => self.build(|b| b.phi(parts.continue_block, word(), &ways)),
        };
        self.cursor = Cursor::BlockEnd(parts.continue_block);
        let step = self.build(|b| b.iadd(counter.def(), one));
        let back = parts.continue_block;
        self.f.set_phi_src(counter, back, step);
        self.f.set_phi_src(carried, back, next);
        self.pool.truncate(mark);
        self.cursor = Cursor::BlockEnd(parts.after);
        self.add(carried.def(), true);
        self.add(counter.def(), true);
    }

    pub(super) fn once(&mut self, depth: u32) {
        let parts = self.f.insert_once(self.cursor);
        self.scope(Cursor::BlockEnd(parts.body), |maker| {
            maker.statements(depth + 1);
            let condition = maker.condition();
            let inner = maker.f.insert_if(maker.cursor, condition);
            maker.f.add_jump(inner.then_block, JumpKind::Break, None);
            maker.cursor = Cursor::BlockEnd(inner.after);
            maker.statements(depth + 1);
            let value = maker.word(true);
            let (var, word) = (maker.locals[0], maker.types.word);
            maker.build(|b| {
                let p = b.deref_var(var, Modes::FUNCTION, word);
                b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
            });
        });
        self.cursor = Cursor::BlockEnd(parts.after);
    }

    pub(super) fn call(&mut self) {
        let func = *self.rng.pick(self.helpers);
        // Helpers branch on what they are given.
        let args = [self.known_word(), self.known_word(), self.pair()];
        let def = self.build(|b| b.call(func, word(), &args).def());
        self.add(def, true);
    }

    /// In a helper: loops in each other with returns from within, and values of the loops' heads that are used behind
    /// them.
    pub(super) fn returning_loop(&mut self, levels: u32) {
        let Head { parts, counter, carried, limit, one, .. } = self.loop_head(3);
        // The head is on every way behind the loop: what it computes stays in scope.
        for _ in 0..1 + self.rng.below(3) {
            self.alu();
        }
        let pointer = self.rng.one_in(2).then(|| self.pair());
        let done = self.build(|b| b.uge(counter.def(), limit));
        let exit = self.f.insert_if(self.cursor, done);
        self.f.add_jump(exit.then_block, JumpKind::Break, None);
        let mut next = carried.def();
        self.scope(Cursor::BlockEnd(exit.after), |maker| {
            maker.statements(3);
            if levels > 1 && maker.rng.below(3) > 0 {
                maker.returning_loop(levels - 1);
            }
            maker.early_return();
            maker.statements(3);
            next = maker.word(true);
        });
        self.cursor = Cursor::BlockEnd(parts.continue_block);
        let step = self.build(|b| b.iadd(counter.def(), one));
        self.f.set_phi_src(counter, parts.continue_block, step);
        self.f.set_phi_src(carried, parts.continue_block, next);
        self.cursor = Cursor::BlockEnd(parts.after);
        if let Some(pair) = pointer {
            self.through_pair(pair);
        }
        let counted = self.build(|b| b.iadd(counter.def(), carried.def()));
        self.add(counted, true);
    }

    /// In a helper: a `once` that returns from within, with values that are used behind it.
    pub(super) fn returning_once(&mut self) {
        let parts = self.f.insert_once(self.cursor);
        self.cursor = Cursor::BlockEnd(parts.body);
        for _ in 0..1 + self.rng.below(3) {
            self.alu();
        }
        let pointer = self.rng.one_in(2).then(|| self.pair());
        let end = self.b().block();
        self.scope(Cursor::BlockEnd(end), |maker| {
            maker.early_return();
            maker.statements(3);
            let condition = maker.condition();
            let inner = maker.f.insert_if(maker.cursor, condition);
            maker.f.add_jump(inner.then_block, JumpKind::Break, None);
            maker.cursor = Cursor::BlockEnd(inner.after);
            maker.returning_loop(1);
        });
        self.cursor = Cursor::BlockEnd(parts.after);
        if let Some(pair) = pointer {
            self.through_pair(pair);
        }
    }

    /// `if c { return word }`.
    fn early_return(&mut self) {
        let condition = self.condition();
        let value = self.word(true);
        let parts = self.f.insert_if(self.cursor, condition);
        self.f.add_jump(parts.then_block, JumpKind::Return, Some(value));
        self.cursor = Cursor::BlockEnd(parts.after);
    }

    /// Stores to and loads from a pair.
    fn through_pair(&mut self, pair: Def) {
        let (value, types) = (self.word(true), self.types);
        let loaded = self.build(|b| {
            let first = b.deref_step(DerefKind::Struct(0), pair, None, types.word);
            let before = b.load_deref(1, 32, first, &[]);
            b.store_deref(first, value, &[(Index::WRITE_MASK, 1)]);
            before
        });
        self.add(loaded, true);
    }
}
