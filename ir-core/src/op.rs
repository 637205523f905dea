//! ALU opcodes: an open set of ids with one table of what each is.
//!
//! The ids below [`AluOp::FIRST_DIALECT`] and the table come from `opcodes.toml`; those above belong to a
//! user's [`Dialect`](crate::Dialect).

use crate::instr::Flags;
use bitflags::bitflags;

/// An ALU opcode. Constants are named after the table's entries: [`AluOp::IADD`](Self::IADD).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AluOp(pub u16);

impl AluOp {
    /// Ids from here on belong to a user's dialect.
    pub const FIRST_DIALECT: u16 = 0x4000;
}

/// How the bits of an operand are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaseType {
    /// Two's-complement signed.
    Int,
    /// Unsigned.
    Uint,
    /// IEEE 754 binary16, binary32, binary64.
    Float,
    /// 0/1 at one bit, 0/~0 at 8, 16 and 32.
    Bool,
}

/// The type of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AluType {
    /// How the bits are read.
    pub base: BaseType,
    /// Bit size; 0 = the op's unsized width, shared by all unsized operands and the result.
    pub bits: u8,
    /// Component count; 0 = per component, as many as the instruction has.
    pub comps: u8,
}

bitflags! {
    /// Algebraic and structural properties of an opcode.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct AluProps: u8 {
        /// The first two operands may be exchanged.
        const COMMUTATIVE = 1;
        /// `op(op(a, b), c)` equals `op(a, op(b, c))` (under `reassoc` for floats).
        const ASSOCIATIVE = 2;
        /// Chooses between its operands without changing their bits.
        const SELECTION = 4;
        /// Changes base type or size.
        const CONVERSION = 8;
        /// Computed over the quad.
        const DERIVATIVE = 16;
        /// Arithmetic on floats: may carry licences, and follows the float environment.
        const FLOAT = 32;
        /// Has a domain: may carry the promise `dom`.
        const DOMAIN = 64;
    }
}

/// Which invocations an instruction's result depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convergent {
    /// Its own invocation only.
    None,
    /// The four invocations of a quad.
    Quad,
    /// The subgroup.
    Subgroup,
}

/// Which directions a [`SpirvForm`] is used in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FormDir {
    /// Reading and writing.
    Both,
    /// Reading only: another form writes it.
    Read,
    /// Writing only.
    Write,
}

/// What the SPIR-V writer does where the operands are not known to lie in the form's domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outside {
    /// The form has no narrower domain.
    Nothing,
    /// The operand of this index is reduced modulo the bit size first.
    Mask(u8),
    /// The operation is guarded by selects.
    Guard,
    /// The operation is expanded into others by the `lower.spirv` group.
    Expand,
    /// The module is refused.
    Refuse,
}

/// A SPIR-V instruction that an opcode is read from or written as.
#[derive(Clone, Copy, Debug)]
pub struct SpirvForm {
    /// Instruction name without `Op`, or the GLSL.std.450 instruction.
    pub name: &'static str,
    /// Whether `name` is of GLSL.std.450.
    pub ext: bool,
    /// Direction of use.
    pub dir: FormDir,
    /// `args[i]` = the operand of the opcode that stands as the instruction's i-th operand.
    pub args: &'static [u8],
    /// Unsized widths at which the form exists; empty = all.
    pub sizes: &'static [u8],
    /// Component counts at which the form exists; empty = all.
    pub comps: &'static [u8],
    /// Whether reading the form sets the promise `dom`.
    pub reads_dom: bool,
    /// The form's domain where it differs from the opcode's; written like [`AluInfo::dom`].
    pub exact: Option<crate::fold::FoldFn>,
    /// What the writer does outside the domain.
    pub outside: Outside,
    /// The instruction returns a struct and the opcode is this member of it.
    pub member: Option<u8>,
    /// This operand of the instruction is a matrix, whose columns are consecutive sources of the opcode there.
    pub matrix: Option<u8>,
    /// The instruction returns a matrix; the opcode gives the column that its last source, a constant, numbers.
    pub column: bool,
    /// The instruction is decorated with this FPRoundingMode.
    pub rounding: Option<&'static str>,
}

/// Everything the table says of an opcode.
#[derive(Debug)]
pub struct AluInfo {
    /// Name, as in text, rules and table.
    pub name: &'static str,
    /// Type of the result.
    pub output: AluType,
    /// Types of the operands.
    pub inputs: &'static [AluType],
    /// Properties.
    pub props: AluProps,
    /// Admissible unsized widths; empty where every operand has a size.
    pub sizes: &'static [u8],
    /// Which invocations the result depends on.
    pub convergent: Convergent,
    /// Cost a component, for the default target class.
    pub cost: u8,
    /// Folds one component; `None` for derivatives.
    pub fold: Option<crate::fold::FoldFn>,
    /// Whether operands are in the domain, as 1 or 0 where [`fold`](Self::fold) writes the result; `None` without one.
    pub dom: Option<crate::fold::FoldFn>,
    /// Whether the result doesn't overflow as a signed integer, likewise.
    pub nsw: Option<crate::fold::FoldFn>,
    /// Whether the result doesn't overflow as an unsigned integer, likewise.
    pub nuw: Option<crate::fold::FoldFn>,
    /// SPIR-V forms, the preferred one to write first.
    pub spirv: &'static [SpirvForm],
    /// Documentation.
    pub doc: &'static str,
}

impl AluInfo {
    /// The flags that an instruction of the opcode may carry. `nnan` and `ninf` promise something of a float result, so
    /// compares and conversions to integers have none: `isnan(x)` guards survive.
    pub fn allowed_flags(&self) -> Flags {
        let mut allowed = Flags::RELAXED;
        if self.props.contains(AluProps::FLOAT) {
            allowed |= Flags::LICENCES;
            allowed.set(Flags::NNAN | Flags::NINF, self.output.base == BaseType::Float);
        }
        allowed.set(Flags::NSW, self.nsw.is_some());
        allowed.set(Flags::NUW, self.nuw.is_some());
        allowed.set(Flags::DOM, self.dom.is_some() || self.props.contains(AluProps::DOMAIN));
        allowed
    }

    /// Whether the op computes each component from the same component of its operands.
    pub fn per_component(&self) -> bool {
        self.output.comps == 0
    }

    /// Components that the op reads of operand `src` in an instruction of `comps` result components.
    #[inline]
    pub fn src_comps(&self, src: usize, comps: u8) -> u8 {
        match self.inputs[src].comps {
            0 => comps,
            n => n,
        }
    }

    /// The unsized width, given the bit sizes of the result and of the operands; 0 where all are fixed.
    pub fn unsized_width(&self, def_bits: u8, src_bits: impl Iterator<Item = u8>) -> u8 {
        if self.output.bits == 0 {
            return def_bits;
        }
        self.inputs.iter().zip(src_bits).find(|(ty, _)| ty.bits == 0).map_or(0, |(_, bits)| bits)
    }
}

impl std::fmt::Debug for AluOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.builtin() {
            Some(info) => f.write_str(info.name),
            None => write!(f, "op{:#x}", self.0),
        }
    }
}
