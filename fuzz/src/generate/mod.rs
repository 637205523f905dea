//! Random programs.
//!
//! A program is a compute shader that reads a buffer of words, computes, and writes a buffer of words. Values of every
//! size and component count are drawn from those in scope, opcodes from the whole table; control flow nests, loops end
//! by a counter, helper functions return early, locals and shared memory are stored and loaded. Words written depend on
//! the input, and every opcode has its turn.
//!
//! Half of the programs are grown from what passes look for: shapes of code that one of them changes, and the left
//! sides of rewrite rules, as they are or with one perturbation.
//!
//! This file has the program around it and straight-line code; [`flow`] has ifs and calls, [`exits`] what is left from
//! within, [`memory`] memory and other invocations, [`grow`] the shapes of the passes, [`term`] those of the rules.

mod exits;
mod flow;
mod grow;
mod memory;
pub(crate) mod term;

pub use term::{Term, TermKind, TermNode};

use crate::rng::Rng;
use deburr_ir_core::fold::fold_info;
use deburr_ir_core::{
    ALU_INFO, AluInfo, AluOp, AluSrc, AluType, ArrayLen, BaseType, Builder, Constant, Cursor,
    Decoration, Def, Denorm, DerefKind, EntryPoint, ExecutionMode, Flags, FloatEnv, Func, Function,
    Index, Intrinsic, JumpKind, Member, ModeArg, Modes, Module, Param, Rounding, Shape,
    SpecConstant, SpecValue, Stage, StructType, Swizzle, Type, TypeData, Var, Variable,
};
use exits::Returns;
pub(crate) use memory::word_pointer;
use std::sync::Arc;

/// Invocations of the generated workgroup.
pub const INVOCATIONS: u32 = 4;
/// Words that each invocation reads.
pub const WORDS: u32 = 8;
/// Words that each invocation writes.
pub const OUTPUTS: u32 = 16;

/// Programs in a row that use every opcode at every size.
const ROUND: u64 = 400;

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
    /// Let seeds of odd numbers grow from what passes look for.
    pub grow: bool,
    /// Left sides of rewrite rules to grow from.
    pub terms: Arc<[Term]>,
    /// Pointers that SPIR-V's logical addressing hasn't: wildcards, casts, neighbours, elements lent to calls.
    pub pointers: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            size: 80,
            licences: false,
            env: FloatEnv::uniform(Denorm::Keep, Rounding::Rte),
            depth: 4,
            grow: true,
            terms: Arc::new([]),
            pointers: true,
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
    let counters = buffer(&mut m, &types, "counters", 2);
    m.spec_consts.push(SpecConstant {
        name: "spec".into(),
        ty: types.word,
        value: SpecValue::Scalar { id: Some(0), default: 3 },
        decorations: Vec::new(),
    });
    let scratch = m.add_var(Variable {
        init: Some(Constant::Bits(vec![7])),
        ..Variable::new("scratch", Modes::PRIVATE, types.word)
    });
    let grown = options.grow && seed % 2 == 1;
    let mut rng = Rng::new(seed);
    let mut helpers = Vec::new();
    for n in 0..rng.below(3) {
        // A helper calls those before it.
        let f = Maker::new(&mut rng, options, types, &helpers, grown).helper(n);
        helpers.push(m.add_function(f));
    }
    let vars = Vars { input, output, counters, id, shared, array, scratch };
    let mut main = Maker::new(&mut rng, options, types, &helpers, grown);
    main.due = due(seed / 2);
    let main = main.main(&vars);
    let main = m.add_function(main);
    entry_point(&mut m, main, id);
    m
}

/// The opcodes, with widths, whose turn it is in the n-th program: [`ROUND`] programs in a row use all.
fn due(n: u64) -> Vec<(AluOp, u8)> {
    let widths = |info: &'static AluInfo| if info.sizes.is_empty() { &[0] } else { info.sizes };
    let all =
        ALU_INFO.iter().enumerate().filter(|(_, info)| info.fold.is_some()).flat_map(
            |(op, info)| widths(info).iter().map(move |&width| (AluOp(op as u16), width)),
        );
    all.skip((n % ROUND) as usize).step_by(ROUND as usize).collect()
}

/// Makes the function the module's compute shader.
pub(crate) fn entry_point(m: &mut Module, function: Func, id: Var) {
    let size = [INVOCATIONS, 1, 1].map(ModeArg::Literal).to_vec();
    m.entry_points.push(EntryPoint {
        stage: Stage::Compute,
        name: "main".into(),
        function,
        modes: vec![ExecutionMode { name: "LocalSize".into(), args: size }],
        interface: vec![id],
    });
}

/// Types that the programs use.
#[derive(Clone, Copy)]
pub(crate) struct Types {
    pub(crate) word: Type,
    words: Type,
    block: Type,
    pair: Type,
    /// A pointer to a pair in memory of the function.
    pair_pointer: Type,
    vector: Type,
    /// Four words, in memory of the function.
    row: Type,
    /// As many pairs.
    grid: Type,
    /// A signed word.
    int: Type,
}

impl Types {
    pub(crate) fn new(m: &mut Module) -> Self {
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
        let row = m.types.intern(TypeData::Array {
            elem: word,
            len: ArrayLen::Const(memory::ROW),
            stride: 0,
        });
        let grid = m.types.intern(TypeData::Array {
            elem: pair,
            len: ArrayLen::Const(memory::ROW),
            stride: 0,
        });
        let int = m.types.int(32, true);
        let pair_pointer = m.types.intern(TypeData::Pointer {
            modes: Modes::FUNCTION,
            pointee: Some(pair),
            stride: 0,
        });
        Types { word, words, block, pair, pair_pointer, vector, row, grid, int }
    }
}

struct Vars {
    input: Var,
    output: Var,
    counters: Var,
    id: Var,
    shared: Var,
    array: Type,
    scratch: Var,
}

pub(crate) fn buffer(m: &mut Module, types: &Types, name: &str, binding: u32) -> Var {
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
    /// Locals: two words, two pairs, an array of words and two of pairs.
    locals: Vec<Var>,
    /// A helper's parameter that points to a pair of its caller.
    lent: Option<Def>,
    /// Whether it grows from what passes look for.
    grown: bool,
    /// Opcodes and widths still to be used.
    due: Vec<(AluOp, u8)>,
    /// The words that the invocation read.
    inputs: Vec<Def>,
    /// Lists of the tree that the cursor stands in.
    scopes: Vec<Scope>,
    /// What jumps may leave.
    regions: Vec<exits::Region>,
    /// Whether returns may stand anywhere.
    returns: Returns,
    /// Values that phis gave and nobody has used, the latest last.
    fresh: Vec<Value>,
    /// Ways to phis that have been made.
    ways: u32,
}

/// What was in scope when a list began.
struct Scope {
    /// Values in the pool.
    pool: usize,
    /// Merged values that nobody had used.
    fresh: usize,
}

impl<'a> Maker<'a> {
    fn new(
        rng: &'a mut Rng,
        options: &'a Options,
        types: Types,
        helpers: &'a [Func],
        grown: bool,
    ) -> Self {
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
            lent: None,
            grown,
            due: Vec::new(),
            inputs: Vec::new(),
            scopes: Vec::new(),
            regions: Vec::new(),
            returns: Returns::Nowhere,
            fresh: Vec::new(),
            ways: 0,
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

    /// A helper: two words and a pointer to a pair in, a word out, with an early return.
    fn helper(mut self, n: usize) -> Function {
        self.f.name = format!("helper{n}");
        let param = |name: &str, ty| Param { name: name.into(), ty, comps: 1, bits: 32 };
        self.f.params = vec![
            param("a", self.types.word),
            param("b", self.types.word),
            param("pair", self.types.pair_pointer),
        ];
        self.f.ret = Some(param("", self.types.word));
        self.budget /= 4;
        for i in 0..2 {
            let word = Shape::new(1, 32).expect("a word");
            let value =
                self.build(|b| b.load_param(word.comps(), word.bits(), &[(Index::PARAM_IDX, i)]));
            self.add_free(value, true, Freedom::default());
        }
        let pair = self.types.pair;
        self.lent = Some(self.build(|b| {
            let pointer = b.load_param(1, 32, &[(Index::PARAM_IDX, 2)]);
            b.deref_cast(pointer, Modes::FUNCTION, pair, 0)
        }));
        self.make_locals();
        self.returns = Returns::Word;
        self.statements(1);
        match self.rng.below(4) {
            0 if self.grown => self.loop_with_return(),
            0 | 1 => self.returning_loop(2),
            2 => self.returning_once(),
            _ => {}
        }
        self.statements(2);
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
        let value = self.with_fresh(value);
        self.build(|b| b.jump(JumpKind::Return, Some(value)));
        self.f
    }

    fn main(mut self, vars: &Vars) -> Function {
        let types = self.types;
        let (input, id) = (vars.input, vars.id);
        // By the address of each word, or by steps from the first one's.
        let steps = self.rng.one_in(8);
        let (index, loaded) = self.build(|b| {
            let p = b.deref_var(id, Modes::IN, types.word);
            let index = b.load_deref(1, 32, p, &[]);
            let eight = b.imm_u32(WORDS);
            let base = b.imul(index, eight);
            let first = steps.then(|| {
                let pointer = word_pointer(b, types, input, base, 0);
                b.deref_cast(pointer, Modes::SSBO, types.word, 4)
            });
            let mut loaded = Vec::new();
            for n in 0..WORDS {
                let pointer = match first {
                    Some(first) => {
                        let n = b.imm_u32(n);
                        b.deref_step(DerefKind::PtrAsArray, first, Some(n), types.word)
                    }
                    None => word_pointer(b, types, input, base, n),
                };
                loaded.push(b.load_deref(1, 32, pointer, &[]));
            }
            (index, loaded)
        });
        for &def in &loaded {
            self.add_free(def, true, Freedom::default());
        }
        self.inputs = loaded;
        self.add_free(index, false, Freedom::default());
        self.make_locals();
        self.spec_constant();
        let rounds = 2 + self.rng.below(3);
        for _ in 0..rounds {
            self.statements(0);
            if self.rng.one_in(2) {
                self.through_shared(vars, index);
            }
            if self.rng.one_in(3) {
                self.through_private(vars);
            }
            if self.rng.one_in(3) {
                self.atomic(vars, index);
            }
            if self.rng.one_in(3) {
                self.subgroup();
            }
        }
        while !self.due.is_empty() {
            self.alu();
        }
        let input = *self.rng.pick(&self.inputs);
        let merged = self.with_fresh(input);
        let output = vars.output;
        let base = self.build(|b| {
            let stride = b.imm_u32(OUTPUTS);
            b.imul(index, stride)
        });
        for n in 0..OUTPUTS {
            // Whoever stops early has written some words already.
            if n == OUTPUTS / 2 && self.rng.one_in(8) {
                let condition = self.condition();
                let jump = if self.rng.one_in(2) { JumpKind::Halt } else { JumpKind::Return };
                let parts = self.f.insert_if(self.cursor, condition);
                self.f.add_jump(parts.then_block, jump, None);
                self.cursor = Cursor::BlockEnd(parts.after);
            }
            if n == OUTPUTS / 2 && self.rng.one_in(4) {
                self.budget = self.budget.max(20);
                self.returns = Returns::Bare;
                self.statements(1);
            }
            let value = if n == 0 { merged } else { self.output_word() };
            self.build(|b| {
                let pointer = word_pointer(b, types, output, base, n);
                b.store_deref(pointer, value, &[(Index::WRITE_MASK, 1)]);
            });
        }
        self.f
    }

    /// A word to write: of any value, in all its bits now and then. A word that was read is mixed in, so that each
    /// depends on the input whatever became of the value; not into what may be a NaN, whose bits would be free then.
    fn output_word(&mut self) -> Def {
        let all: Vec<Value> = self.pool.iter().filter(|v| v.depends).copied().collect();
        let n = all.len();
        let recent = n - 1 - self.rng.below(n.min(12));
        let value = all[if self.rng.one_in(2) { recent } else { self.rng.below(n) }];
        let comp = self.rng.below(value.comps.into()) as u8;
        let high = value.bits == 64 && self.rng.one_in(2);
        let part = self.build(|b| {
            let part = b.channel(value.def, comp);
            if high {
                let half = b.imm_u32(32);
                b.ushr(part, half)
            } else {
                part
            }
        });
        let word = self.resized(part, 32);
        if value.may.nan {
            return word;
        }
        let input = *self.rng.pick(&self.inputs);
        self.build(|b| b.ixor(word, input))
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
            if self.rng.one_in(8) && self.leave_if(depth) {
                continue;
            }
            let deep = depth >= self.options.depth;
            if self.grown && self.rng.one_in(3) {
                self.grown_statement(depth);
                continue;
            }
            match self.rng.below(20) {
                0..=12 => self.alu(),
                13 => self.local(),
                14 => self.copy(),
                15 if !deep => self.branch(depth),
                16 if !deep => self.counted_loop(depth),
                17 if !deep => self.once(depth),
                18 if !self.helpers.is_empty() => self.call(),
                19 if !deep => self.switch(depth),
                _ => self.alu(),
            }
        }
    }

    /// An opcode of the table on random operands: one whose turn it is, or a random one.
    fn alu(&mut self) {
        let (op, width) = self.due.pop().unwrap_or_else(|| self.any_op());
        let info = &ALU_INFO[usize::from(op.0)];
        let comps = if info.output.comps == 0 {
            *self.rng.pick(&[1u8, 1, 1, 2, 3, 4])
        } else {
            info.output.comps
        };
        // Now and then something to fold.
        let constants = self.rng.one_in(12);
        let mut srcs = Vec::new();
        for (n, ty) in info.inputs.iter().enumerate() {
            let bits = if ty.bits == 0 { width } else { ty.bits };
            let need = info.src_comps(n, comps);
            let value = if constants || n > 0 && self.rng.one_in(4) {
                self.constant(bits, 1)
            } else {
                self.value(bits, n == 0)
            };
            let lanes: Vec<u8> =
                (0..need).map(|_| self.rng.below(value.comps.into()) as u8).collect();
            srcs.push((value, Swizzle::new(&lanes)));
        }
        let licences = if self.options.licences {
            let any = Flags::from_bits_truncate(self.rng.bits() as u16);
            any & (Flags::LICENCES - Flags::RELAXED)
        } else {
            Flags::empty()
        };
        let value = self.emit(op, comps, &srcs, licences);
        self.pool.push(value);
    }

    /// A random opcode that can be folded, and a width for it.
    fn any_op(&mut self) -> (AluOp, u8) {
        loop {
            let n = self.rng.below(ALU_INFO.len());
            let info = &ALU_INFO[n];
            if info.fold.is_some() {
                let width = if info.sizes.is_empty() { 0 } else { *self.rng.pick(info.sizes) };
                return (AluOp(n as u16), width);
            }
        }
    }

    /// An ALU instruction on operands of the right sizes, with what may be free of it worked out.
    fn emit(&mut self, op: AluOp, comps: u8, srcs: &[(Value, Swizzle)], flags: Flags) -> Value {
        let info = op.builtin().expect("programs use the built-in table");
        let sized = info.inputs.iter().zip(srcs).find(|(ty, _)| ty.bits == 0);
        let width = sized.map_or(0, |(_, (v, _))| v.bits);
        let flags = flags & info.allowed_flags();
        let moves = op == AluOp::MOV || info.name.starts_with("vec") || info.name.ends_with("csel");
        let mut may = freedom(self.rng, info, width, comps, &self.options.env);
        may.free |= flags.intersects(Flags::PROMISES);
        let mut depends = false;
        for (ty, (value, _)) in info.inputs.iter().zip(srcs) {
            depends |= value.depends;
            may.free |= value.may.free || value.may.nan && ty.base != BaseType::Float && !moves;
            may.nan |= value.may.nan
                && (moves || ty.base == BaseType::Float && info.output.base == BaseType::Float);
        }
        let srcs: Vec<AluSrc> =
            srcs.iter().map(|&(v, swizzle)| AluSrc { def: v.def, swizzle }).collect();
        let instr = self.build(|b| b.alu_instr(op, comps, &srcs));
        self.f.set_flags(instr, flags);
        let def = instr.def();
        Value { def, bits: self.f.bits(def), comps: self.f.comps(def), depends, may }
    }

    /// The pipeline's constant: 3 unless it is given another value.
    fn spec_constant(&mut self) {
        let word = Shape::new(1, 32).expect("a word");
        let def = self.build(|b| {
            b.intrinsic_with(Intrinsic::LOAD_SPEC_CONSTANT, word, &[], &[(Index::SPEC_CONSTANT, 0)])
                .def()
        });
        self.add_free(def, false, Freedom::default());
    }

    fn condition(&mut self) -> Def {
        let value = self.known(1);
        let comp = self.rng.below(value.comps.into()) as u8;
        self.build(|b| b.channel(value.def, comp))
    }
}
