//! Intrinsics: whatever touches memory, other invocations or the outside, as an open set of ids with one
//! table. Ids below [`Intrinsic::FIRST_DIALECT`] come from `intrinsics.toml`.

use crate::op::Convergent;
use bitflags::bitflags;

/// An intrinsic. Constants are named after the table's entries: `Intrinsic::LOAD_DEREF`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Intrinsic(pub u16);

impl Intrinsic {
    /// Ids from here on belong to a user's dialect.
    pub const FIRST_DIALECT: u16 = 0x4000;
}

bitflags! {
    /// What passes may do with an intrinsic.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct IntrinsicFlags: u8 {
        /// May be removed when its result is unused.
        const ELIMINATE = 1;
        /// May be reordered, so that equal ones may be merged.
        const REORDER = 2;
        /// May be executed where the program did not.
        const SPECULATABLE = 4;
        /// Loads a system value.
        const SYSTEM_VALUE = 8;
        /// Orders other accesses.
        const BARRIER = 16;
    }
}

/// The kind of value that a const index holds; it decides how the index prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// Unsigned number.
    U32,
    /// Signed number.
    I32,
    /// 0 or 1.
    Bool,
    /// An ALU opcode.
    Op,
    /// One of the listed names, numbered in order.
    Enum(&'static [&'static str]),
    /// A set of the listed names, bit i = the i-th.
    Flags(&'static [&'static str]),
}

/// A const index: a named number on an intrinsic instruction.
#[derive(Debug)]
pub struct IndexInfo {
    /// Name, as in the text.
    pub name: &'static str,
    /// What it holds.
    pub kind: IndexKind,
    /// The value that the text may leave out.
    pub default: u32,
    /// Documentation.
    pub doc: &'static str,
}

/// A const index id: constants are named after the table's entries: `Index::BASE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Index(pub u8);

/// Divergence of a result by stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// The same in every invocation of the subgroup.
    Uniform,
    /// May differ.
    Divergent,
    /// Uniform if the sources are.
    Sources,
}

/// What memory an intrinsic touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEffect {
    /// Modes that are read.
    pub reads: crate::types::Modes,
    /// Modes that are written.
    pub writes: crate::types::Modes,
    /// The modes that source 0's deref may have are read.
    pub reads_deref: bool,
    /// The modes that source 0's deref may have are written.
    pub writes_deref: bool,
    /// The modes that source 1's deref may have are read (copies).
    pub reads_deref1: bool,
}

/// A SPIR-V instruction that an intrinsic is read from or written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntrinsicForm {
    /// Instruction name without `Op`, or the GLSL.std.450 instruction.
    pub name: &'static str,
    /// Whether `name` is of GLSL.std.450.
    pub ext: bool,
    /// The form stands for these values of const indices.
    pub when: &'static [(Index, u32)],
    /// Operands in SPIR-V's order, separated by blanks: a letter = source, `@index` = a const index as a constant,
    /// any other word = a literal enumerant. Empty = the sources in order.
    pub args: &'static str,
    /// Bit sizes of the result where the form applies; empty = all.
    pub sizes: &'static [u8],
    /// Only in modules that declare this capability.
    pub capability: Option<&'static str>,
    /// Direction of use.
    pub dir: crate::op::FormDir,
}

/// Values that each component of a result may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRange {
    /// Unsigned integers from one to another, both included.
    Int(u64, UpperEnd),
    /// Floats from one to another, both included, and zeros of both signs if one is; no NaN.
    Float(f64, f64),
}

/// The greatest value of a range of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpperEnd {
    /// A number.
    Value(u64),
    /// The workgroup's size in the component's dimension, so much less.
    WorkgroupSize(u64),
    /// The invocations of the workgroup, so much less.
    WorkgroupInvocations(u64),
}

/// Everything the table says of an intrinsic.
#[derive(Debug)]
pub struct IntrinsicInfo {
    /// Name, as in text and table.
    pub name: &'static str,
    /// Components of each source: 0 = the instruction's count, −1 = any.
    pub srcs: &'static [i8],
    /// Bit size of each source; 0 = any. Empty = all any.
    pub src_bits: &'static [u8],
    /// Components of the result: `None` = no result, 0 = the instruction's count, −1 = any.
    pub dest: Option<i8>,
    /// Admissible bit sizes of the result; empty = any.
    pub dest_bits: &'static [u8],
    /// The result has the bit size of this source.
    pub bits_from: Option<u8>,
    /// Values that each component of the result may have; `None` = all.
    pub range: Option<ValueRange>,
    /// Const indices in order.
    pub indices: &'static [Index],
    /// What passes may do.
    pub flags: IntrinsicFlags,
    /// Memory touched.
    pub memory: MemoryEffect,
    /// Which invocations it depends on.
    pub convergent: Convergent,
    /// Divergence of the result in every stage but those listed.
    pub divergence: Divergence,
    /// Divergence by stage (stage name, divergence).
    pub divergence_by_stage: &'static [(&'static str, Divergence)],
    /// SPIR-V built-in that a system value is read from.
    pub builtin: Option<&'static str>,
    /// SPIR-V instructions that it is read from or written as, the preferred one to write first.
    pub spirv: &'static [IntrinsicForm],
    /// Documentation.
    pub doc: &'static str,
}

impl IntrinsicInfo {
    /// Whether the instruction's component count is a free parameter (any 0 among sources and result).
    pub fn has_num_components(&self) -> bool {
        self.dest == Some(0) || self.srcs.contains(&0)
    }

    /// Position of a const index among the instruction's, if it has it.
    pub fn index_slot(&self, index: Index) -> Option<usize> {
        self.indices.iter().position(|&i| i == index)
    }
}

impl std::fmt::Debug for Intrinsic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.builtin() {
            Some(info) => f.write_str(info.name),
            None => write!(f, "intrinsic{:#x}", self.0),
        }
    }
}
