//! Control flow: ifs, calls, and what helpers return from.

use super::{Freedom, Maker, Scope};
use deburr_ir_core::{
    Block, Cursor, Def, DerefKind, Index, Instr, InstrInit, JumpKind, LoopParts, Shape,
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
}

fn word() -> Shape {
    Shape::new(1, 32).expect("a word is a shape")
}

impl Maker<'_> {
    /// Runs `inside` with the cursor in a block; what it adds to the pool goes out of scope again.
    pub(super) fn scope(&mut self, at: Cursor, inside: impl FnOnce(&mut Self)) -> Block {
        self.enter(at);
        inside(self);
        let end = self.b().block();
        self.leave_scope(None);
        end
    }

    pub(super) fn enter(&mut self, at: Cursor) {
        self.scopes.push(Scope { pool: self.pool.len(), fresh: self.fresh.len() });
        self.cursor = at;
    }

    /// Takes out of scope what came into it since, but for the first so many values of the pool.
    pub(super) fn leave_scope(&mut self, alive: Option<usize>) {
        let scope = self.scopes.pop().expect("a scope was entered");
        self.pool.truncate(alive.unwrap_or(scope.pool));
        self.fresh.truncate(scope.fresh);
    }

    /// An `if`, one of whose arms may leave what stands around.
    pub(super) fn branch(&mut self, depth: u32) {
        let condition = self.condition();
        let parts = self.f.insert_if(self.cursor, condition);
        let slots = self.slots(0, 2);
        let mut ends = Vec::new();
        let stays = self.rng.below(2);
        for (n, block) in [parts.then_block, parts.else_block].into_iter().enumerate() {
            let skip = self.rng.one_in(3);
            self.scope(Cursor::BlockEnd(block), |maker| {
                if !skip {
                    maker.statements(depth + 1);
                }
                if n == stays || maker.tail(depth + 1) {
                    ends.push(maker.way(&slots));
                }
            });
        }
        self.merge(parts.after, &slots, &ends);
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
        self.cursor = Cursor::BlockEnd(parts.body);
        self.add_free(counter.def(), false, Freedom::default());
        self.add(carried.def(), true);
        Head { parts, counter, carried, limit, one }
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
        let Head { parts, counter, carried, limit, one } = self.loop_head(3);
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
            maker.closed(true, |maker| {
                maker.statements(3);
                if levels > 1 && maker.rng.below(3) > 0 {
                    maker.returning_loop(levels - 1);
                }
                maker.early_return();
                maker.statements(3);
                next = maker.word(true);
            });
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
            maker.closed(true, |maker| maker.statements(3));
            let condition = maker.condition();
            let inner = maker.f.insert_if(maker.cursor, condition);
            maker.f.add_jump(inner.then_block, JumpKind::Break, None);
            maker.cursor = Cursor::BlockEnd(inner.after);
            maker.closed(true, |maker| maker.returning_loop(1));
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
