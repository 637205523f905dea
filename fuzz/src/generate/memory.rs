//! Memory and other invocations: locals, buffers, shared memory, atomics, subgroup operations.

use super::{Maker, Types, Value, Vars};
use deburr_ir_core::{
    AluOp, AluSrc, Builder, Def, DerefKind, Index, Intrinsic, Modes, Shape, Var, Variable, index,
};

/// Words of the local array.
pub(super) const ROW: u32 = 4;

impl Maker<'_> {
    pub(super) fn make_locals(&mut self) {
        let Types { word, pair, row, .. } = self.types;
        for (name, ty) in [("x", word), ("y", word), ("p", pair), ("q", pair), ("row", row)] {
            self.locals.push(self.f.add_local(Variable::new(name, Modes::FUNCTION, ty)));
        }
        let words: Vec<Def> =
            self.pool.iter().filter(|v| v.bits == 32 && v.comps == 1).map(|v| v.def).collect();
        for n in 0..2 {
            let value = words[self.rng.below(words.len())];
            let (var, ty) = (self.locals[n], self.types.word);
            self.build(|b| {
                let p = b.deref_var(var, Modes::FUNCTION, ty);
                b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
            });
        }
        let (a, v) = (words[self.rng.below(words.len())], words[self.rng.below(words.len())]);
        let types = self.types;
        for var in [self.locals[2], self.locals[3]] {
            self.build(|b| {
                let p = b.deref_var(var, Modes::FUNCTION, types.pair);
                let first = b.deref_step(DerefKind::Struct(0), p, None, types.word);
                b.store_deref(first, a, &[(Index::WRITE_MASK, 1)]);
                let second = b.deref_step(DerefKind::Struct(1), p, None, types.vector);
                let vector = b.vec(&[v, a, v]);
                b.store_deref(second, vector, &[(Index::WRITE_MASK, 7)]);
            });
        }
        let row = self.locals[4];
        self.build(|b| {
            for n in 0..ROW {
                let p = row_pointer(b, types, row, n);
                b.store_deref(p, if n % 2 == 0 { a } else { v }, &[(Index::WRITE_MASK, 1)]);
            }
        });
    }

    /// Stores a word to shared memory, waits, and loads a neighbour's.
    pub(super) fn through_shared(&mut self, vars: &Vars, index: Def) {
        let value = self.word(true);
        let (shared, array, word) = (vars.shared, vars.array, self.types.word);
        let loaded = self.build(|b| {
            let p = b.deref_var(shared, Modes::SHARED, array);
            let own = b.deref_step(DerefKind::Array, p, Some(index), word);
            b.store_deref(own, value, &[(Index::WRITE_MASK, 1)]);
            barrier(b);
            let one = b.imm_u32(1);
            let next = b.ixor(index, one);
            let other = b.deref_step(DerefKind::Array, p, Some(next), word);
            let loaded = b.load_deref(1, 32, other, &[]);
            barrier(b);
            loaded
        });
        self.add(loaded, true);
    }

    pub(super) fn through_private(&mut self, vars: &Vars) {
        let value = self.word(true);
        let (scratch, word) = (vars.scratch, self.types.word);
        let loaded = self.build(|b| {
            let p = b.deref_var(scratch, Modes::PRIVATE, word);
            let before = b.load_deref(1, 32, p, &[]);
            b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
            let after = b.load_deref(1, 32, p, &[]);
            b.iadd(before, after)
        });
        self.add(loaded, true);
    }

    /// A store to and a load from a local.
    pub(super) fn local(&mut self) {
        let value = self.word(true);
        let (var, types) = (self.locals[self.rng.below(2)], self.types);
        let loaded = match self.rng.below(8) {
            0..=1 => {
                let store = self.rng.below(3) > 0;
                self.build(|b| {
                    let p = b.deref_var(var, Modes::FUNCTION, types.word);
                    let before = b.load_deref(1, 32, p, &[]);
                    if store {
                        b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
                    }
                    before
                })
            }
            2 => {
                let p = self.pair();
                self.build(|b| {
                    let first = b.deref_step(DerefKind::Struct(0), p, None, types.word);
                    let before = b.load_deref(1, 32, first, &[]);
                    b.store_deref(first, value, &[(Index::WRITE_MASK, 1)]);
                    before
                })
            }
            3 => self.component_of_pair(value),
            4 => self.masked_store(),
            5 => {
                let (to, from) = (self.pair(), self.pair());
                self.build(|b| {
                    b.intrinsic_with(Intrinsic::COPY_DEREF, Shape::NONE, &[to, from], &[]);
                    let second = b.deref_step(DerefKind::Struct(1), to, None, types.vector);
                    b.load_deref(3, 32, second, &[])
                })
            }
            _ => self.element_of_row(value),
        };
        self.add(loaded, true);
    }

    /// A pointer to a pair: a local, or what a helper's caller lends it.
    pub(super) fn pair(&mut self) -> Def {
        if let Some(lent) = self.lent
            && self.rng.one_in(3)
        {
            return lent;
        }
        let (var, ty) = (self.locals[2 + self.rng.below(2)], self.types.pair);
        self.build(|b| b.deref_var(var, Modes::FUNCTION, ty))
    }

    /// Stores a component of a vector through a pointer to it, and loads the vector.
    fn component_of_pair(&mut self, value: Def) -> Def {
        let (p, types) = (self.pair(), self.types);
        let comp = self.rng.below(3) as u32;
        self.build(|b| {
            let second = b.deref_step(DerefKind::Struct(1), p, None, types.vector);
            let index = b.imm_u32(comp);
            let part = b.deref_step(DerefKind::Array, second, Some(index), types.word);
            b.store_deref(part, value, &[(Index::WRITE_MASK, 1)]);
            b.load_deref(3, 32, second, &[])
        })
    }

    /// Stores some components of a vector, and loads the vector.
    fn masked_store(&mut self) -> Def {
        let parts = [(); 3].map(|()| self.word(true));
        let mask = 1 + self.rng.below(7) as u32;
        let (p, types) = (self.pair(), self.types);
        self.build(|b| {
            let vector = b.vec(&parts);
            let second = b.deref_step(DerefKind::Struct(1), p, None, types.vector);
            b.store_deref(second, vector, &[(Index::WRITE_MASK, mask)]);
            b.load_deref(3, 32, second, &[])
        })
    }

    /// Stores to an element of an array, at an index known or not, and loads another.
    fn element_of_row(&mut self, value: Def) -> Def {
        let (row, types) = (self.locals[4], self.types);
        let index = self.known_word();
        let (dynamic, fixed) = (self.rng.one_in(2), self.rng.below(ROW as usize) as u32);
        self.build(|b| {
            let mask = b.imm_u32(ROW - 1);
            let index = b.iand(index, mask);
            let at = if dynamic { index } else { b.imm_u32(fixed) };
            let p = b.deref_var(row, Modes::FUNCTION, types.row);
            let to = b.deref_step(DerefKind::Array, p, Some(at), types.word);
            b.store_deref(to, value, &[(Index::WRITE_MASK, 1)]);
            let other = if dynamic { b.imm_u32(fixed) } else { index };
            let from = b.deref_step(DerefKind::Array, p, Some(other), types.word);
            b.load_deref(1, 32, from, &[])
        })
    }

    /// An atomic operation on the invocation's own counter, and one on a counter of all whose result nobody looks at.
    pub(super) fn atomic(&mut self, vars: &Vars, index: Def) {
        const OWN: [u32; 10] = [
            index::atomic_op::IADD,
            index::atomic_op::ISUB,
            index::atomic_op::IMIN,
            index::atomic_op::UMIN,
            index::atomic_op::IMAX,
            index::atomic_op::UMAX,
            index::atomic_op::IAND,
            index::atomic_op::IOR,
            index::atomic_op::IXOR,
            index::atomic_op::XCHG,
        ];
        // Each of these has a counter to itself: two kinds don't commute, and the order of invocations is free.
        let shared = [OWN[0], OWN[5], OWN[8]];
        let slot = self.rng.below(shared.len());
        let (op, shared_op) = (*self.rng.pick(&OWN), shared[slot]);
        let (value, other) = (self.word(true), self.word(true));
        let (counters, types, kind) = (vars.counters, self.types, self.rng.below(5));
        let word = Shape::new(1, 32).expect("a word");
        let loaded = self.build(|b| {
            let own = word_pointer(b, types, counters, index, 0);
            let scope = (Index::MEMORY_SCOPE, index::memory_scope::WORKGROUP);
            let atomic = |b: &mut Builder<'_>, at, op, value| {
                let indices = [(Index::ATOMIC_OP, op), scope];
                b.intrinsic_with(Intrinsic::DEREF_ATOMIC, word, &[at, value], &indices).def()
            };
            match kind {
                0 => {
                    let indices = [(Index::ATOMIC_OP, index::atomic_op::CMPXCHG), scope];
                    let srcs = [own, other, value];
                    b.intrinsic_with(Intrinsic::DEREF_ATOMIC_SWAP, word, &srcs, &indices).def()
                }
                1 => {
                    let srcs = [own, value];
                    b.intrinsic_with(Intrinsic::DEREF_ATOMIC_STORE, Shape::NONE, &srcs, &[scope]);
                    b.intrinsic_with(Intrinsic::DEREF_ATOMIC_LOAD, word, &[own], &[scope]).def()
                }
                2 => {
                    let all = b.imm_u32(super::INVOCATIONS + slot as u32);
                    let all = word_pointer(b, types, counters, all, 0);
                    atomic(b, all, shared_op, value);
                    let p = b.deref_var(counters, Modes::SSBO, types.block);
                    let words = b.deref_step(DerefKind::Struct(0), p, None, types.words);
                    b.intrinsic_with(Intrinsic::DEREF_BUFFER_ARRAY_LENGTH, word, &[words], &[])
                        .def()
                }
                _ => {
                    let first = atomic(b, own, op, value);
                    let second = b.load_deref(1, 32, own, &[]);
                    b.ixor(first, second)
                }
            }
        });
        self.add(loaded, true);
    }

    /// Something that the invocations of a subgroup do together.
    pub(super) fn subgroup(&mut self) {
        use deburr_ir_core::index::reduction_op as op;
        const KINDS: [u32; 9] = [
            op::IADD,
            op::IMUL,
            op::IMIN,
            op::UMIN,
            op::IMAX,
            op::UMAX,
            op::IAND,
            op::IOR,
            op::IXOR,
        ];
        let kind = *self.rng.pick(&KINDS);
        let value = self.known_word();
        let condition = self.condition();
        let choice = self.rng.below(15);
        let bool_shape = Shape::new(1, 1).expect("a bool");
        let word = Shape::new(1, 32).expect("a word");
        let four = Shape::new(4, 32).expect("a vector");
        let lane = self.rng.below(super::INVOCATIONS as usize) as u32;
        let def = self.build(|b| {
            let with = |b: &mut Builder<'_>, op, shape, srcs: &[Def]| {
                b.intrinsic_with(op, shape, srcs, &[]).def()
            };
            let reduce = |b: &mut Builder<'_>, op| {
                b.intrinsic_with(op, word, &[value], &[(Index::REDUCTION_OP, kind)]).def()
            };
            match choice {
                0 => with(b, Intrinsic::ELECT, bool_shape, &[]),
                1 => with(b, Intrinsic::BALLOT, four, &[condition]),
                2 => with(b, Intrinsic::VOTE_ANY, bool_shape, &[condition]),
                3 => with(b, Intrinsic::VOTE_ALL, bool_shape, &[condition]),
                4 => with(b, Intrinsic::VOTE_IEQ, bool_shape, &[value]),
                5 => with(b, Intrinsic::READ_FIRST_INVOCATION, word, &[value]),
                6 => {
                    let lane = b.imm_u32(lane);
                    with(b, Intrinsic::READ_INVOCATION, word, &[value, lane])
                }
                7 => {
                    let mask = b.imm_u32(super::INVOCATIONS - 1);
                    let lane = b.iand(value, mask);
                    with(b, Intrinsic::SHUFFLE, word, &[value, lane])
                }
                8 => {
                    let mask = b.imm_u32(lane);
                    with(b, Intrinsic::SHUFFLE_XOR, word, &[value, mask])
                }
                9 | 10 => {
                    // Over the edge there is nobody: none of these words is compared.
                    let one = b.imm_u32(1);
                    let up = choice == 9;
                    let op = if up { Intrinsic::SHUFFLE_UP } else { Intrinsic::SHUFFLE_DOWN };
                    with(b, op, word, &[value, one])
                }
                11 => reduce(b, Intrinsic::INCLUSIVE_SCAN),
                12 => reduce(b, Intrinsic::EXCLUSIVE_SCAN),
                _ => reduce(b, Intrinsic::REDUCE),
            }
        });
        self.add(def, true);
    }

    /// A move or vector of what is there, an undef, a constant.
    pub(super) fn copy(&mut self) {
        match self.rng.below(4) {
            0 => {
                let bits = *self.rng.pick(&[1u8, 8, 16, 32, 64]);
                let comps = *self.rng.pick(&[1u8, 2, 3, 4, 5, 8, 16]);
                let value = self.constant(bits, comps);
                self.pool.push(value);
            }
            1 => {
                let bits = *self.rng.pick(&[1u8, 8, 16, 32, 64]);
                let value = self.value(bits, true);
                let comps = *self.rng.pick(&[1u8, 2, 3, 4]);
                let lanes: Vec<u8> =
                    (0..comps).map(|_| self.rng.below(value.comps.into()) as u8).collect();
                let def = self.build(|b| {
                    b.alu_instr(AluOp::MOV, comps, &[AluSrc::swizzled(value.def, &lanes)]).def()
                });
                self.add(def, value.depends);
            }
            _ => {
                let bits = *self.rng.pick(&[1u8, 8, 16, 32, 64]);
                let comps = *self.rng.pick(&[2usize, 3, 4]);
                let parts: Vec<Value> = (0..comps).map(|_| self.value(bits, true)).collect();
                let srcs: Vec<AluSrc> = parts
                    .iter()
                    .map(|v| AluSrc::comp(v.def, self.rng.below(v.comps.into()) as u8))
                    .collect();
                let def = self.build(|b| b.vec_of(&srcs));
                self.add(def, true);
            }
        }
    }
}

/// Pointer to a word of a buffer: `words[base + n]`.
pub(crate) fn word_pointer(b: &mut Builder<'_>, types: Types, var: Var, base: Def, n: u32) -> Def {
    let offset = b.imm_u32(n);
    let at = b.iadd(base, offset);
    let p = b.deref_var(var, Modes::SSBO, types.block);
    let words = b.deref_step(DerefKind::Struct(0), p, None, types.words);
    b.deref_step(DerefKind::Array, words, Some(at), types.word)
}

fn barrier(b: &mut Builder<'_>) {
    b.barrier(&[
        (Index::EXECUTION_SCOPE, index::execution_scope::WORKGROUP),
        (Index::MEMORY_SCOPE, index::memory_scope::WORKGROUP),
        (
            Index::MEMORY_SEMANTICS,
            index::memory_semantics::ACQUIRE | index::memory_semantics::RELEASE,
        ),
        (Index::MEMORY_MODES, Modes::SHARED.bits()),
    ]);
}

/// Pointer to a word of the local array.
fn row_pointer(b: &mut Builder<'_>, types: Types, row: Var, n: u32) -> Def {
    let p = b.deref_var(row, Modes::FUNCTION, types.row);
    let at = b.imm_u32(n);
    b.deref_step(DerefKind::Array, p, Some(at), types.word)
}
