//! The independent oracle for the ALU opcodes.
//!
//! A second meaning of every opcode, written from the specification alone (the semantics chapter of the book, SPIR-V,
//! GLSL.std.450, IEEE 754) with plain integers and `rustc_apfloat`, neither of which the folder uses. It names the
//! opcodes by hand, because a name, a signature or a meaning taken from the table would not be independent of it.
//!
//! - [`fp`]: float arithmetic under an environment. [`big`]: 256-bit floats for the transcendentals at 64 bits.
//! - [`int`], [`bits`], [`logic`], [`float`], [`convert`], [`pack`], [`vector`], [`glsl`],
//!   [`transcend`]: the opcodes by family.
//! - [`grid`]: the points at which an opcode is compared. [`compare`]: the comparison with the folder.

pub mod big;
pub mod bits;
pub mod compare;
pub mod convert;
pub mod float;
pub mod fp;
pub mod glsl;
pub mod grid;
pub mod int;
pub mod logic;
pub mod pack;
pub mod transcend;
pub mod vector;

use fp::Fp;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What happens to denormals of one float size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denorm {
    /// They are kept.
    Keep,
    /// Operands and results become zero.
    Flush,
    /// Either; the first choice is to keep.
    Any,
}

/// How results of one float size are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    Rte,
    /// Toward zero.
    Rtz,
    /// Either neighbour; the first choice is to nearest even.
    Any,
}

/// The float environment at 16, 32 and 64 bits, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Env {
    /// Denormals by size.
    pub denorm: [Denorm; 3],
    /// Rounding by size.
    pub rounding: [Rounding; 3],
}

impl Env {
    /// One denormal and one rounding mode at all three sizes.
    pub fn uniform(denorm: Denorm, rounding: Rounding) -> Env {
        Env { denorm: [denorm; 3], rounding: [rounding; 3] }
    }
}

/// What a result component may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Want {
    /// These bits.
    Bits(u64),
    /// Either of these.
    Either(u64, u64),
    /// A float from `low` to `high`, inclusive, both of one sign or around zero; `truth + tail` is the real value.
    Near {
        /// The smallest admissible pattern.
        low: u64,
        /// The largest admissible pattern.
        high: u64,
        /// The real value, as far as an f64 holds it.
        truth: f64,
        /// The rest of the real value.
        tail: f64,
    },
    /// A float at most `slack` away from `truth + tail`.
    Within {
        /// The real value, as far as an f64 holds it.
        truth: f64,
        /// The rest of the real value.
        tail: f64,
        /// The largest distance.
        slack: f64,
    },
    /// Any pattern: the specification bounds nothing here.
    Anything,
}

/// Whether the specification lets the result vary (`choose`, `any`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Free {
    /// One value only, NaN payloads and the environment's freedom apart.
    No,
    /// More than one value.
    Yes,
    /// The specification can be read either way, or the freedom can't be seen in the result.
    Open,
}

/// One result component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The first choice.
    pub want: Want,
    /// Whether there are others.
    pub free: Free,
}

impl Value {
    /// Exactly these bits.
    pub fn bits(bits: u64) -> Value {
        Value { want: Want::Bits(bits), free: Free::No }
    }

    /// These bits first, others allowed where `free`.
    pub fn choice(bits: u64, free: bool) -> Value {
        Value { want: Want::Bits(bits), free: if free { Free::Yes } else { Free::No } }
    }

    /// `any()`: 0 first.
    pub fn any() -> Value {
        Value::choice(0, true)
    }

    /// A choice of which the specification names no first one: either of these two is accepted.
    pub fn either(one: u64, other: u64) -> Value {
        Value { want: Want::Either(one, other), free: Free::Yes }
    }

    /// The same value, of which it is left open whether it is a choice.
    pub fn open(self) -> Value {
        Value { free: Free::Open, ..self }
    }
}

/// What the oracle says of one evaluation: a value for every result component.
pub type Answer = Vec<Value>;

/// A base type of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Two's complement.
    Int,
    /// Without sign.
    Uint,
    /// IEEE 754.
    Float,
    /// Zero is false.
    Bool,
}

/// One operand or result of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Base type.
    pub base: Base,
    /// Bit size; 0 = the unsized width of the opcode.
    pub size: u32,
    /// Components; 0 = as many as the instruction has.
    pub comps: u32,
}

impl Operand {
    /// The bit size where the opcode's unsized width is `bits`.
    pub fn width(&self, bits: u32) -> u32 {
        if self.size == 0 { bits } else { self.size }
    }

    fn parse(text: &str) -> Operand {
        let (head, comps) = match text.split_once('x') {
            Some((head, n)) => (head, n.parse().expect("component count in an oracle signature")),
            None => (text, 0),
        };
        let letters = head.trim_end_matches(|c: char| c.is_ascii_digit());
        let base = match letters {
            "int" => Base::Int,
            "uint" => Base::Uint,
            "float" => Base::Float,
            "bool" => Base::Bool,
            _ => unreachable!("base type {letters} in an oracle signature"),
        };
        let digits = &head[letters.len()..];
        Operand {
            base,
            size: if digits.is_empty() { 0 } else { digits.parse().expect("digits") },
            comps,
        }
    }
}

/// What a per-component meaning is given: one component of each operand.
pub struct Lane<'a> {
    /// One component of each operand.
    pub v: &'a [u64],
    /// Bit size of each operand.
    pub w: &'a [u32],
    /// Bit size of the result.
    pub out: u32,
    /// The opcode's unsized width; of no meaning where the signature has none.
    pub bits: u32,
    /// The float environment.
    pub env: &'a Env,
}

impl Lane<'_> {
    /// Operand `i` as an unsigned number.
    pub fn u(&self, i: usize) -> i128 {
        self.v[i].into()
    }

    /// Operand `i` as a signed number.
    pub fn s(&self, i: usize) -> i128 {
        signed(self.v[i], self.w[i])
    }

    /// Operand `i` as a truth value.
    pub fn b(&self, i: usize) -> bool {
        self.v[i] != 0
    }

    /// An integer result, modulo the result's width.
    pub fn int(&self, value: i128) -> Value {
        Value::bits(wrap(value, self.out))
    }

    /// A boolean result: 0/1 at one bit, 0/~0 above.
    pub fn bool(&self, value: bool) -> Value {
        self.int(if value { -1 } else { 0 })
    }

    /// Float arithmetic at the size of operand `i`.
    pub fn fp(&self, i: usize) -> Fp {
        Fp::new(self.w[i], self.env)
    }

    /// Float arithmetic at the size of the result.
    pub fn fp_out(&self) -> Fp {
        Fp::new(self.out, self.env)
    }
}

/// What a horizontal meaning is given: all components of all operands.
pub struct Point<'a> {
    /// The components of each operand.
    pub v: &'a [Vec<u64>],
    /// Bit size of each operand.
    pub w: &'a [u32],
    /// Bit size of the result.
    pub out: u32,
    /// Components of the result.
    pub comps: u32,
    /// The opcode's unsized width.
    pub bits: u32,
    /// The float environment.
    pub env: &'a Env,
}

impl Point<'_> {
    /// Float arithmetic at the size of operand `i`.
    pub fn fp(&self, i: usize) -> Fp {
        Fp::new(self.w[i], self.env)
    }

    /// Float arithmetic at the size of the result.
    pub fn fp_out(&self) -> Fp {
        Fp::new(self.out, self.env)
    }
}

type EachFn = Box<dyn Fn(&Lane) -> Value + Send + Sync>;
type WholeFn = Box<dyn Fn(&Point) -> Answer + Send + Sync>;

enum Meaning {
    Each(EachFn),
    Whole(WholeFn),
}

/// An opcode as the oracle knows it.
pub struct Op {
    /// The opcode's name.
    pub name: String,
    /// The family it is reported under.
    pub family: &'static str,
    /// The operands, in order.
    pub srcs: Vec<Operand>,
    /// The result.
    pub dest: Operand,
    /// The widths that the meaning is defined for, where a signature leaves the width open.
    pub sizes: Vec<u32>,
    meaning: Meaning,
}

impl Op {
    /// Whether an operand or the result is a float, so that the environment matters.
    pub fn is_float(&self) -> bool {
        self.srcs.iter().chain([&self.dest]).any(|o| o.base == Base::Float)
    }
}

/// Every opcode that the oracle knows, in the order of the family files.
pub struct Table {
    /// The opcodes.
    pub ops: Vec<Op>,
    index: HashMap<String, usize>,
    family: &'static str,
}

impl Table {
    /// Starts a family: the opcodes that follow are reported under this name.
    pub fn family(&mut self, name: &'static str) {
        self.family = name;
    }

    /// An opcode that works on each component by itself. `signature` is `in, in -> out` with the types of the facts.
    pub fn each(
        &mut self,
        name: &str,
        signature: &str,
        f: impl Fn(&Lane) -> Value + Send + Sync + 'static,
    ) {
        self.add(name, signature, Meaning::Each(Box::new(f)));
    }

    /// An opcode that needs all components of an operand at once.
    pub fn whole(
        &mut self,
        name: &str,
        signature: &str,
        f: impl Fn(&Point) -> Answer + Send + Sync + 'static,
    ) {
        self.add(name, signature, Meaning::Whole(Box::new(f)));
    }

    /// Widths of the opcode added last, where they differ from what its types suggest.
    pub fn sizes(&mut self, sizes: &[u32]) {
        if let Some(op) = self.ops.last_mut() {
            op.sizes = sizes.to_vec();
        }
    }

    fn add(&mut self, name: &str, signature: &str, meaning: Meaning) {
        let (ins, out) = signature.split_once("->").expect("an oracle signature has an arrow");
        let srcs: Vec<Operand> = ins.split(',').map(|t| Operand::parse(t.trim())).collect();
        let dest = Operand::parse(out.trim());
        let unsized_bases: Vec<Base> =
            srcs.iter().chain([&dest]).filter(|o| o.size == 0).map(|o| o.base).collect();
        let sizes = if unsized_bases.is_empty() {
            vec![0]
        } else if unsized_bases.contains(&Base::Float) {
            vec![16, 32, 64]
        } else if unsized_bases.iter().any(|b| matches!(b, Base::Int | Base::Uint)) {
            vec![8, 16, 32, 64]
        } else {
            vec![1, 8, 16, 32]
        };
        let previous = self.index.insert(name.to_string(), self.ops.len());
        assert!(previous.is_none(), "the oracle defines {name} twice");
        self.ops.push(Op {
            name: name.to_string(),
            family: self.family,
            srcs,
            dest,
            sizes,
            meaning,
        });
    }

    /// The opcode of this name.
    pub fn get(&self, name: &str) -> Option<&Op> {
        self.index.get(name).map(|&i| &self.ops[i])
    }
}

/// Every opcode that the oracle knows.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { ops: Vec::new(), index: HashMap::new(), family: "" };
    int::define(&mut table);
    bits::define(&mut table);
    logic::define(&mut table);
    float::define(&mut table);
    convert::define(&mut table);
    pack::define(&mut table);
    vector::define(&mut table);
    glsl::define(&mut table);
    transcend::define(&mut table);
    table
});

/// What `op_name` gives at unsized width `bits` and `comps` components; `None` for an opcode that the oracle lacks.
///
/// Values are zero-extended bit patterns; each source has the components that its signature fixes, or `comps`.
pub fn eval(op_name: &str, bits: u32, comps: u32, srcs: &[Vec<u64>], env: &Env) -> Option<Answer> {
    TABLE.get(op_name).map(|op| eval_op(op, bits, comps, srcs, env))
}

/// [`eval`] of an opcode already looked up.
pub fn eval_op(op: &Op, bits: u32, comps: u32, srcs: &[Vec<u64>], env: &Env) -> Answer {
    let widths: Vec<u32> = op.srcs.iter().map(|o| o.width(bits)).collect();
    let out = op.dest.width(bits);
    let comps = if op.dest.comps == 0 { comps } else { op.dest.comps };
    match &op.meaning {
        Meaning::Each(f) => (0..comps as usize)
            .map(|c| {
                let mut v = [0u64; 16];
                for (slot, src) in v.iter_mut().zip(srcs) {
                    *slot = if src.len() == 1 { src[0] } else { src[c] };
                }
                f(&Lane { v: &v[..srcs.len()], w: &widths, out, bits, env })
            })
            .collect(),
        Meaning::Whole(f) => f(&Point { v: srcs, w: &widths, out, comps, bits, env }),
    }
}

/// The two's complement reading of the low `width` bits.
pub fn signed(value: u64, width: u32) -> i128 {
    let shift = 64 - width;
    ((value << shift) as i64 >> shift).into()
}

/// A number modulo 2^width, as a bit pattern.
pub fn wrap(value: i128, width: u32) -> u64 {
    value as u64 & (u64::MAX >> (64 - width))
}
