//! Random programs.
//!
//! A program is a compute shader that reads a buffer of words, computes, and writes a buffer of words. Values of every
//! size and component count are drawn from those in scope, opcodes from the whole table; control flow nests, loops end
//! by a counter, helper functions return early, locals and shared memory are stored and loaded. Every word written
//! depends on the input.

use crate::rng::Rng;
use deburr_ir_core::fold::fold_info;
use deburr_ir_core::{
    ALU_INFO, AluInfo, AluOp, AluSrc, AluType, ArrayLen, BaseType, Builder, Constant, Cursor,
    Decoration, Def, Denorm, DerefKind, EntryPoint, ExecutionMode, Flags, FloatEnv, Func, Function,
    Index, InstrInit, JumpKind, Member, ModeArg, Modes, Module, Param, Rounding, Shape, Stage,
    StructType, Swizzle, Type, TypeData, Var, Variable, index,
};

/// Invocations of the generated workgroup.
pub const INVOCATIONS: u32 = 4;
/// Words that each invocation reads, and writes.
pub const WORDS: u32 = 8;

/// What programs to make.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Instructions to aim at.
    pub size: usize,
    /// Give float operations licences.
    pub licences: bool,
    /// Float environment of the code.
    pub env: FloatEnv,
    /// Depth to which control flow nests.
    pub depth: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            size: 80,
            licences: false,
            env: FloatEnv::uniform(Denorm::Keep, Rounding::Rte),
            depth: 4,
        }
    }
}

/// A value in scope.
#[derive(Clone, Copy, Debug)]
struct Value {
    def: Def,
    bits: u8,
    comps: u8,
    /// Whether the input has a say in it.
    depends: bool,
    /// What the interpreter may not know of it.
    may: Freedom,
}

/// What may be free in a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Freedom {
    /// It may come from a choice.
    free: bool,
    /// It may be a NaN that arithmetic gave.
    nan: bool,
}

/// What an opcode may make free of clean operands, found by trying.
fn freedom(rng: &mut Rng, info: &AluInfo, width: u8, comps: u8, env: &FloatEnv) -> Freedom {
    let mut may = Freedom::default();
    for _ in 0..64 {
        let operand = |ty: &AluType, rng: &mut Rng| {
            let bits = if ty.bits == 0 { width } else { ty.bits };
            (0..16).map(|_| rng.edge(bits)).collect::<Vec<u64>>()
        };
        let operands: Vec<Vec<u64>> = info.inputs.iter().map(|ty| operand(ty, rng)).collect();
        let slices: Vec<&[u64]> = operands
            .iter()
            .enumerate()
            .map(|(n, v)| &v[..usize::from(info.src_comps(n, comps))])
            .collect();
        let mut out = [0; 16];
        if let Some(shadow) = fold_info(info, width, comps, &slices, env, &mut out) {
            may.free |= shadow.free != 0;
            may.nan |= shadow.nan != 0;
        }
    }
    may
}

/// The program of a seed.
pub fn program(seed: u64, options: &Options) -> Module {
    let mut m = Module::new();
    let types = Types::new(&mut m);
    let input = buffer(&mut m, &types, "input", 0);
    let output = buffer(&mut m, &types, "output", 1);
    let id = m.add_var(Variable {
        builtin: Some("LocalInvocationIndex".into()),
        ..Variable::new("index", Modes::IN, types.word)
    });
    let array = m.types.intern(TypeData::Array {
        elem: types.word,
        len: ArrayLen::Const(INVOCATIONS),
        stride: 0,
    });
    let shared = m.add_var(Variable::new("tile", Modes::SHARED, array));
    m.add_var(Variable::new("unused", Modes::PRIVATE, types.word));
    let scratch = m.add_var(Variable {
        init: Some(Constant::Bits(vec![7])),
        ..Variable::new("scratch", Modes::PRIVATE, types.word)
    });
    let mut rng = Rng::new(seed);
    let mut helpers = Vec::new();
    for n in 0..rng.below(3) {
        let f = Maker::new(&mut rng, options, types, &[]).helper(n);
        helpers.push(m.add_function(f));
    }
    let vars = Vars { input, output, id, shared, array, scratch };
    let main = Maker::new(&mut rng, options, types, &helpers).main(&vars);
    let main = m.add_function(main);
    let size = [INVOCATIONS, 1, 1].map(ModeArg::Literal).to_vec();
    m.entry_points.push(EntryPoint {
        stage: Stage::Compute,
        name: "main".into(),
        function: main,
        modes: vec![ExecutionMode { name: "LocalSize".into(), args: size }],
        interface: vec![id],
    });
    m
}

/// Types that the programs use.
#[derive(Clone, Copy)]
struct Types {
    word: Type,
    words: Type,
    block: Type,
    pair: Type,
    vector: Type,
}

impl Types {
    fn new(m: &mut Module) -> Self {
        let word = m.types.int(32, false);
        let words =
            m.types.intern(TypeData::Array { elem: word, len: ArrayLen::Runtime, stride: 4 });
        let member = |name: &str, ty: Type, offset: Option<u32>| Member {
            name: name.into(),
            ty,
            offset,
            matrix_stride: None,
            row_major: false,
            decorations: Vec::new(),
        };
        let block = m.types.intern(TypeData::Struct(StructType {
            name: "Words".into(),
            members: vec![member("words", words, Some(0))],
            decorations: vec![Decoration { name: "Block".into(), args: vec![] }],
        }));
        let vector = m.types.vector(word, 3);
        let pair = m.types.intern(TypeData::Struct(StructType {
            name: "Pair".into(),
            members: vec![member("a", word, None), member("v", vector, None)],
            decorations: Vec::new(),
        }));
        Types { word, words, block, pair, vector }
    }
}

struct Vars {
    input: Var,
    output: Var,
    id: Var,
    shared: Var,
    array: Type,
    scratch: Var,
}

fn buffer(m: &mut Module, types: &Types, name: &str, binding: u32) -> Var {
    m.add_var(Variable {
        binding: Some((0, binding)),
        ..Variable::new(name, Modes::SSBO, types.block)
    })
}

/// Makes one function.
struct Maker<'a> {
    rng: &'a mut Rng,
    options: &'a Options,
    types: Types,
    helpers: &'a [Func],
    f: Function,
    cursor: Cursor,
    pool: Vec<Value>,
    /// Instructions still to be made.
    budget: i64,
    /// Locals: words, a pair and an array.
    locals: Vec<Var>,
}

impl<'a> Maker<'a> {
    fn new(rng: &'a mut Rng, options: &'a Options, types: Types, helpers: &'a [Func]) -> Self {
        let mut f = Function::new("main");
        f.float_env = options.env;
        let cursor = Cursor::BlockEnd(f.start_block());
        let budget = (options.size / 2 + rng.below(options.size)) as i64;
        Maker {
            rng,
            options,
            types,
            helpers,
            f,
            cursor,
            pool: Vec::new(),
            budget,
            locals: Vec::new(),
        }
    }

    fn b(&mut self) -> Builder<'_> {
        Builder::new(&mut self.f, self.cursor)
    }

    /// Builds with a builder and keeps its cursor.
    fn build<T>(&mut self, make: impl FnOnce(&mut Builder<'_>) -> T) -> T {
        let mut b = self.b();
        let result = make(&mut b);
        self.cursor = b.cursor;
        result
    }

    fn add(&mut self, def: Def, depends: bool) {
        // Loads, phis and calls may hold whatever was in scope.
        self.add_free(def, depends, Freedom { free: true, nan: true });
    }

    fn add_free(&mut self, def: Def, depends: bool, may: Freedom) {
        let (bits, comps) = (self.f.bits(def), self.f.comps(def));
        self.pool.push(Value { def, bits, comps, depends, may });
    }

    fn make_locals(&mut self) {
        for (name, ty) in [("x", self.types.word), ("y", self.types.word), ("p", self.types.pair)] {
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
        let (var, types) = (self.locals[2], self.types);
        self.build(|b| {
            let p = b.deref_var(var, Modes::FUNCTION, types.pair);
            let first = b.deref_step(DerefKind::Struct(0), p, None, types.word);
            b.store_deref(first, a, &[(Index::WRITE_MASK, 1)]);
            let second = b.deref_step(DerefKind::Struct(1), p, None, types.vector);
            let vector = b.vec(&[v, a, v]);
            b.store_deref(second, vector, &[(Index::WRITE_MASK, 7)]);
        });
    }

    /// A helper: two words in, a word out, with an early return.
    fn helper(mut self, n: usize) -> Function {
        self.f.name = format!("helper{n}");
        let param = |name: &str, ty| Param { name: name.into(), ty, comps: 1, bits: 32 };
        self.f.params = vec![param("a", self.types.word), param("b", self.types.word)];
        self.f.ret = Some(param("", self.types.word));
        self.budget /= 4;
        for i in 0..2 {
            let word = Shape::new(1, 32).expect("a word");
            let value =
                self.build(|b| b.load_param(word.comps(), word.bits(), &[(Index::PARAM_IDX, i)]));
            self.add_free(value, true, Freedom::default());
        }
        self.make_locals();
        self.statements(1);
        let condition = self.condition();
        let early = self.word(true);
        let parts = self.build(|b| {
            let parts = b.f.insert_if(b.cursor, condition);
            b.cursor = Cursor::BlockEnd(parts.after);
            parts
        });
        self.f.add_jump(parts.then_block, JumpKind::Return, Some(early));
        self.statements(1);
        let value = self.word(true);
        self.build(|b| b.jump(JumpKind::Return, Some(value)));
        self.f
    }

    fn main(mut self, vars: &Vars) -> Function {
        let types = self.types;
        let (input, id) = (vars.input, vars.id);
        let (index, loaded) = self.build(|b| {
            let p = b.deref_var(id, Modes::IN, types.word);
            let index = b.load_deref(1, 32, p, &[]);
            let eight = b.imm_u32(WORDS);
            let base = b.imul(index, eight);
            let mut loaded = Vec::new();
            for n in 0..WORDS {
                let pointer = word_pointer(b, types, input, base, n);
                loaded.push(b.load_deref(1, 32, pointer, &[]));
            }
            (index, loaded)
        });
        for def in loaded {
            self.add_free(def, true, Freedom::default());
        }
        self.add_free(index, false, Freedom::default());
        self.make_locals();
        let rounds = 2 + self.rng.below(3);
        for _ in 0..rounds {
            self.statements(0);
            if self.rng.one_in(2) {
                self.through_shared(vars, index);
            }
            if self.rng.one_in(3) {
                self.through_private(vars);
            }
        }
        let outputs: Vec<Def> = (0..WORDS).map(|_| self.word(true)).collect();
        let output = vars.output;
        self.build(|b| {
            let eight = b.imm_u32(WORDS);
            let base = b.imul(index, eight);
            for (n, value) in outputs.into_iter().enumerate() {
                let pointer = word_pointer(b, types, output, base, n as u32);
                b.store_deref(pointer, value, &[(Index::WRITE_MASK, 1)]);
            }
        });
        self.f
    }

    /// Stores a word to shared memory, waits, and loads a neighbour's.
    fn through_shared(&mut self, vars: &Vars, index: Def) {
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

    fn through_private(&mut self, vars: &Vars) {
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

    // ---- values -------------------------------------------------------------------------------------

    /// A word of the pool, or made of one.
    fn word(&mut self, depends: bool) -> Def {
        let value = self.value(32, depends);
        let comp = self.rng.below(value.comps.into()) as u8;
        self.build(|b| b.channel(value.def, comp))
    }

    fn known_word(&mut self) -> Def {
        let value = self.known(32);
        let comp = self.rng.below(value.comps.into()) as u8;
        self.build(|b| b.channel(value.def, comp))
    }

    /// A value of this size; one of another size is converted where there is none.
    fn value(&mut self, bits: u8, depends: bool) -> Value {
        self.value_where(bits, |v| v.depends || !depends)
    }

    /// A value that control flow may depend on: the interpreter knows it.
    fn known(&mut self, bits: u8) -> Value {
        self.value_where(bits, |v| v.depends && !v.may.free && !v.may.nan)
    }

    fn value_where(&mut self, bits: u8, wanted: impl Fn(&Value) -> bool) -> Value {
        let fits: Vec<Value> =
            self.pool.iter().filter(|v| v.bits == bits && wanted(v)).copied().collect();
        if !fits.is_empty() && !self.rng.one_in(12) {
            // Recent ones more often: long chains.
            let n = fits.len();
            let at = if self.rng.one_in(2) {
                n - 1 - self.rng.below(n.min(6))
            } else {
                self.rng.below(n)
            };
            return fits[at];
        }
        // The words that were read, or the parameters, are always there.
        let any: Vec<Value> = self.pool.iter().filter(|v| wanted(v)).copied().collect();
        let from = any[self.rng.below(any.len())];
        let def = self.resized(from.def, bits);
        // Reading a NaN's bits makes them free.
        let may = Freedom { free: from.may.free || from.may.nan, nan: false };
        let value = Value { def, bits, comps: from.comps, depends: from.depends, may };
        self.pool.push(value);
        value
    }

    fn resized(&mut self, def: Def, bits: u8) -> Def {
        self.build(|b| {
            let wide = match b.f.bits(def) {
                1 => b.b2i32(def),
                32 => def,
                _ => b.u2u32(def),
            };
            match bits {
                1 => {
                    let one = b.imm_u32(1);
                    let low = b.iand(wide, one);
                    let zero = b.imm_u32(0);
                    b.ine(low, zero)
                }
                8 => b.u2u8(wide),
                16 => b.u2u16(wide),
                64 => b.u2u64(wide),
                _ => wide,
            }
        })
    }

    fn constant(&mut self, bits: u8, comps: u8) -> Value {
        let value: Vec<u64> = (0..comps).map(|_| self.rng.edge(bits)).collect();
        let def = self.build(|b| b.load_const(bits, &value));
        Value { def, bits, comps, depends: false, may: Freedom::default() }
    }

    // ---- statements ---------------------------------------------------------------------------------

    fn statements(&mut self, depth: u32) {
        let count = 3 + self.rng.below(8);
        for _ in 0..count {
            if self.budget <= 0 {
                return;
            }
            self.budget -= 1;
            let deep = depth >= self.options.depth;
            match self.rng.below(20) {
                0..=12 => self.alu(),
                13 => self.local(),
                14 => self.copy(),
                15 if !deep => self.branch(depth),
                16 if !deep => self.counted_loop(depth),
                17 if !deep => self.once(depth),
                18 if !self.helpers.is_empty() => self.call(),
                _ => self.alu(),
            }
        }
    }

    /// A random opcode of the table on random operands.
    fn alu(&mut self) {
        let (op, info) = loop {
            let n = self.rng.below(ALU_INFO.len());
            let info = &ALU_INFO[n];
            if info.fold.is_some() {
                break (AluOp(n as u16), info);
            }
        };
        let width = if info.sizes.is_empty() { 0 } else { *self.rng.pick(info.sizes) };
        let comps = if info.output.comps == 0 {
            *self.rng.pick(&[1u8, 1, 1, 2, 3, 4])
        } else {
            info.output.comps
        };
        let mut srcs = Vec::new();
        let mut depends = false;
        // Now and then something to fold.
        let constants = self.rng.one_in(12);
        let mut may = freedom(self.rng, info, width, comps, &self.options.env);
        let moves = op == AluOp::MOV || info.name.starts_with("vec") || info.name.ends_with("csel");
        for (n, ty) in info.inputs.iter().enumerate() {
            let bits = if ty.bits == 0 { width } else { ty.bits };
            let need = info.src_comps(n, comps);
            let value = if constants || n > 0 && self.rng.one_in(4) {
                self.constant(bits, 1)
            } else {
                self.value(bits, n == 0)
            };
            depends |= value.depends;
            may.free |= value.may.free || value.may.nan && ty.base != BaseType::Float && !moves;
            may.nan |= value.may.nan
                && (moves || ty.base == BaseType::Float && info.output.base == BaseType::Float);
            let lanes: Vec<u8> =
                (0..need).map(|_| self.rng.below(value.comps.into()) as u8).collect();
            srcs.push(AluSrc { def: value.def, swizzle: Swizzle::new(&lanes) });
        }
        let float = info.props.contains(deburr_ir_core::AluProps::FLOAT);
        let licences = if self.options.licences && float {
            Flags::from_bits_truncate(self.rng.bits() as u16) & Flags::LICENCES - Flags::RELAXED
        } else {
            Flags::empty()
        };
        let instr = self.build(|b| b.alu_instr(op, comps, &srcs));
        self.f.set_flags(instr, licences);
        self.add_free(instr.def(), depends, may);
    }

    /// A store to and a load from a local.
    fn local(&mut self) {
        let value = self.word(true);
        let (slot, kind) = (self.rng.below(3), self.rng.below(3));
        let (var, types) = (self.locals[slot], self.types);
        let loaded = self.build(|b| {
            if slot < 2 {
                let p = b.deref_var(var, Modes::FUNCTION, types.word);
                let before = b.load_deref(1, 32, p, &[]);
                if kind > 0 {
                    b.store_deref(p, value, &[(Index::WRITE_MASK, 1)]);
                }
                return before;
            }
            let p = b.deref_var(var, Modes::FUNCTION, types.pair);
            if kind == 0 {
                let first = b.deref_step(DerefKind::Struct(0), p, None, types.word);
                let before = b.load_deref(1, 32, first, &[]);
                b.store_deref(first, value, &[(Index::WRITE_MASK, 1)]);
                return before;
            }
            let second = b.deref_step(DerefKind::Struct(1), p, None, types.vector);
            if kind == 1 {
                let one = b.imm_u32(1);
                let part = b.deref_step(DerefKind::Array, second, Some(one), types.word);
                b.store_deref(part, value, &[(Index::WRITE_MASK, 1)]);
            }
            b.load_deref(3, 32, second, &[])
        });
        self.add(loaded, true);
    }

    /// A move or vector of what is there, an undef, a constant.
    fn copy(&mut self) {
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

    fn condition(&mut self) -> Def {
        let value = self.known(1);
        let comp = self.rng.below(value.comps.into()) as u8;
        self.build(|b| b.channel(value.def, comp))
    }

    /// Runs `inside` with the cursor in a block; what it adds to the pool goes out of scope again.
    fn scope(&mut self, at: Cursor, inside: impl FnOnce(&mut Self)) -> deburr_ir_core::Block {
        let mark = self.pool.len();
        self.cursor = at;
        inside(self);
        let end = self.b().block();
        self.pool.truncate(mark);
        end
    }

    fn branch(&mut self, depth: u32) {
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

    /// `for i in 0..n` with a value carried round, and sometimes a `continue` or `break` inside.
    fn counted_loop(&mut self, depth: u32) {
        let trips = 1 + self.rng.below(4) as u32;
        let start = self.word(true);
        let (zero, limit, one) = self.build(|b| (b.imm_u32(0), b.imm_u32(trips), b.imm_u32(1)));
        let before = self.b().block();
        let parts = self.f.insert_loop(self.cursor);
        let before = if self.f.preds(parts.body).contains(&before) {
            before
        } else {
            self.f.preds(parts.body)[0]
        };
        let word = Shape::new(1, 32).expect("a word");
        let phi = |f: &mut Function, init: Def| {
            let phi = f.create(InstrInit::Phi(&[before]), word, &[init]);
            f.insert(phi, Cursor::AfterPhis(parts.body));
            phi
        };
        let counter = phi(&mut self.f, zero);
        let carried = phi(&mut self.f, start);
        let mark = self.pool.len();
        self.cursor = Cursor::BlockEnd(parts.body);
        self.add_free(counter.def(), false, Freedom::default());
        self.add(carried.def(), true);
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
            _ => self.build(|b| b.phi(parts.continue_block, word, &ways)),
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

    fn once(&mut self, depth: u32) {
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

    fn call(&mut self) {
        let func = *self.rng.pick(self.helpers);
        // Helpers branch on what they are given.
        let args = [self.known_word(), self.known_word()];
        let word = Shape::new(1, 32).expect("a word");
        let def = self.build(|b| b.call(func, word, &args).def());
        self.add(def, true);
    }
}

/// Pointer to a word of a buffer: `words[base + n]`.
fn word_pointer(b: &mut Builder<'_>, types: Types, var: Var, base: Def, n: u32) -> Def {
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
