//! Memory and other invocations: locals, buffers, shared memory, atomics, subgroup operations.

use super::{Maker, Types, Value, Vars};
use deburr_ir_core::{
    AluOp, AluSrc, Builder, Constant, Def, DerefKind, Index, Intrinsic, Modes, Shape, Var,
    Variable, index,
};

/// Words of the local array.
pub(super) const ROW: u32 = 4;

impl Maker<'_> {
    pub(super) fn make_locals(&mut self) {
        let Types { word, pair, row, .. } = self.types;
        for (name, ty) in [("x", word), ("y", word), ("p", pair), ("q", pair), ("row", row)] {
            self.locals.push(self.f.add_local(Variable::new(name, Modes::FUNCTION, ty)));
        }
        // What they start with is a constant each.
        for name in ["g", "h"] {
            let pair = |n: u64| {
                let parts = vec![
                    Constant::Bits(vec![n]),
                    Constant::Bits(vec![n + 1, n << 8, u64::from(u32::MAX) - n]),
                ];
                Constant::Composite(parts)
            };
            let start = self.rng.below(1 << 16) as u64;
            let init = Constant::Composite((0..u64::from(ROW)).map(|n| pair(start + n)).collect());
            let var = Variable::new(name, Modes::FUNCTION, self.types.grid);
            self.locals.push(self.f.add_local(Variable { init: Some(init), ..var }));
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
        let loaded = match self.rng.below(if self.options.pointers { 12 } else { 8 }) {
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
            8..=9 => self.every_element(value),
            10 => self.through_cast(value),
            11 => self.neighbour(value),
            _ => self.element_of_row(value),
        };
        self.add(loaded, true);
    }

    /// An index into the local arrays, known or not, as a value and where it is known.
    fn place(&mut self) -> (Def, Option<u32>) {
        if self.rng.one_in(2) {
            let n = self.rng.below(ROW as usize) as u32;
            return (self.build(|b| b.imm_u32(n)), Some(n));
        }
        let index = self.known_word();
        let index = self.build(|b| {
            let mask = b.imm_u32(ROW - 1);
            b.iand(index, mask)
        });
        (index, None)
    }

    /// A pointer to a pair in one of the arrays of pairs.
    fn pair_in_grid(&mut self) -> Def {
        let (grid, types) = (self.locals[5 + self.rng.below(2)], self.types);
        let (at, _) = self.place();
        self.build(|b| {
            let p = b.deref_var(grid, Modes::FUNCTION, types.grid);
            b.deref_step(DerefKind::Array, p, Some(at), types.pair)
        })
    }

    /// Stores into an array, copies a part of every element to another array or the same one, and loads from that.
    fn every_element(&mut self, value: Def) -> Def {
        let (to, from) = (self.locals[5 + self.rng.below(2)], self.locals[5 + self.rng.below(2)]);
        let (row, types, kind) = (self.locals[4], self.types, self.rng.below(6));
        let ((stored, _), (loaded, _)) = (self.place(), self.place());
        self.build(|b| {
            let part = |b: &mut Builder<'_>, var: Var, at: Option<Def>, member: Option<u32>| {
                let p = b.deref_var(var, Modes::FUNCTION, types.grid);
                let kind = if at.is_some() { DerefKind::Array } else { DerefKind::Wildcard };
                let p = b.deref_step(kind, p, at, types.pair);
                match member {
                    Some(0) => b.deref_step(DerefKind::Struct(0), p, None, types.word),
                    Some(_) => b.deref_step(DerefKind::Struct(1), p, None, types.vector),
                    None => p,
                }
            };
            let p = part(b, from, Some(stored), Some(0));
            b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
            let v = part(b, from, Some(stored), Some(1));
            let vector = b.vec(&[value, value, value]);
            b.store_deref(v, vector, &[(Index::WRITE_MASK, 5)]);
            let words = |b: &mut Builder<'_>, at: Option<Def>| {
                let p = b.deref_var(row, Modes::FUNCTION, types.row);
                let kind = if at.is_some() { DerefKind::Array } else { DerefKind::Wildcard };
                b.deref_step(kind, p, at, types.word)
            };
            let (target, source) = match kind {
                0 => (part(b, to, None, Some(0)), part(b, from, None, Some(0))),
                1 => (part(b, to, None, Some(1)), part(b, from, None, Some(1))),
                2 => (part(b, to, None, None), part(b, from, None, None)),
                // Components of vectors too.
                3 => {
                    let (to, from) = (part(b, to, None, Some(1)), part(b, from, None, Some(1)));
                    let each = |b: &mut Builder<'_>, p| {
                        b.deref_step(DerefKind::Wildcard, p, None, types.word)
                    };
                    (each(b, to), each(b, from))
                }
                // Elements of other sizes.
                4 => (words(b, None), part(b, from, None, Some(0))),
                _ => (part(b, to, None, Some(0)), words(b, None)),
            };
            let sides = [target, source];
            b.intrinsic_with(Intrinsic::COPY_DEREF, Shape::NONE, &sides, &[]);
            match kind {
                0 | 2 | 5 => {
                    let p = part(b, to, Some(loaded), Some(0));
                    b.load_deref(1, 32, p, &[])
                }
                4 => {
                    let p = words(b, Some(loaded));
                    b.load_deref(1, 32, p, &[])
                }
                _ => {
                    let p = part(b, to, Some(loaded), Some(1));
                    b.load_deref(3, 32, p, &[])
                }
            }
        })
    }

    /// Stores and loads through a cast: of a pointer to what it points to already, of a word to a signed one, of an
    /// element to words in a row.
    fn through_cast(&mut self, value: Def) -> Def {
        let types = self.types;
        let (local, row) = (self.locals[self.rng.below(2)], self.locals[4]);
        match self.rng.below(4) {
            0 => {
                let p = self.pair();
                self.build(|b| {
                    let cast = b.deref_cast(p, Modes::FUNCTION, types.pair, 0);
                    let first = b.deref_step(DerefKind::Struct(0), p, None, types.word);
                    b.store_deref(first, value, &[(Index::WRITE_MASK, 1)]);
                    let second = b.deref_step(DerefKind::Struct(1), cast, None, types.vector);
                    b.load_deref(3, 32, second, &[])
                })
            }
            n @ 1..=2 => {
                let ty = if n == 1 { types.int } else { types.word };
                self.build(|b| {
                    let p = b.deref_var(local, Modes::FUNCTION, types.word);
                    let before = b.load_deref(1, 32, p, &[]);
                    let cast = b.deref_cast(p, Modes::FUNCTION, ty, 0);
                    b.store_deref(cast, value, &[(Index::WRITE_MASK, 1)]);
                    let after = b.load_deref(1, 32, p, &[]);
                    b.isub(before, after)
                })
            }
            _ => {
                let ((to, _), (from, _)) = (self.place(), self.place());
                self.build(|b| {
                    let first = row_pointer(b, types, row, 0);
                    let cast = b.deref_cast(first, Modes::FUNCTION, types.int, 4);
                    let p = b.deref_step(DerefKind::PtrAsArray, cast, Some(to), types.int);
                    b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
                    let p = b.deref_var(row, Modes::FUNCTION, types.row);
                    let p = b.deref_step(DerefKind::Array, p, Some(from), types.word);
                    b.load_deref(1, 32, p, &[])
                })
            }
        }
    }

    /// Stores to an element by its distance from another, and loads an element by its index.
    fn neighbour(&mut self, value: Def) -> Def {
        let types = self.types;
        let ((to, known), (from, _)) = (self.place(), self.place());
        // From the first element, or from any where the distance is known.
        let start = known.map_or(0, |n| self.rng.below(n as usize + 1) as u32);
        let distance = match known {
            Some(n) => self.build(|b| b.imm_u32(n - start)),
            None => to,
        };
        if self.rng.one_in(2) {
            let row = self.locals[4];
            return self.build(|b| {
                let p = row_pointer(b, types, row, start);
                let p = b.deref_step(DerefKind::PtrAsArray, p, Some(distance), types.word);
                b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
                let p = b.deref_var(row, Modes::FUNCTION, types.row);
                let p = b.deref_step(DerefKind::Array, p, Some(from), types.word);
                b.load_deref(1, 32, p, &[])
            });
        }
        let grid = self.locals[5 + self.rng.below(2)];
        self.build(|b| {
            let p = b.deref_var(grid, Modes::FUNCTION, types.grid);
            let at = b.imm_u32(start);
            let first = b.deref_step(DerefKind::Array, p, Some(at), types.pair);
            let other = b.deref_step(DerefKind::PtrAsArray, first, Some(distance), types.pair);
            let word = b.deref_step(DerefKind::Struct(0), other, None, types.word);
            b.store_deref(word, value, &[(Index::WRITE_MASK, 1)]);
            let p = b.deref_step(DerefKind::Array, p, Some(from), types.pair);
            let word = b.deref_step(DerefKind::Struct(0), p, None, types.word);
            b.load_deref(1, 32, word, &[])
        })
    }

    /// A pointer to a pair: a local, one of an array, or what a helper's caller lends it.
    pub(super) fn pair(&mut self) -> Def {
        if let Some(lent) = self.lent
            && self.rng.one_in(3)
        {
            return lent;
        }
        if self.options.pointers && self.rng.one_in(4) {
            return self.pair_in_grid();
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
