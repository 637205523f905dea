//! What a rewrite may create: plain data about the code's consumer.

use deburr_ir_core::{
    AluInfo, AluOp, AluType, BaseType, FormDir, Index, Intrinsic, IntrinsicForm, IntrinsicInfo,
    Module,
};
use rustc_hash::FxHashMap;

/// A consumer of code: which operations it has at which sizes, and which options hold.
///
/// ```
/// use deburr_algebraic::Target;
/// use deburr_ir_core::AluOp;
///
/// let target = Target::generic("mine").int_sizes(&[32]).forbid(AluOp::FFMA, &[]).option("lower_bitops");
/// assert!(target.legal(AluOp::IADD, 32));
/// assert!(!target.legal(AluOp::IADD, 64));
/// assert!(!target.legal(AluOp::FFMA, 32));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Target {
    /// Name, as on the command line.
    pub name: String,
    /// Options that rules may test with `when`.
    pub options: Vec<String>,
    /// Sizes of integers, as a set.
    ints: u8,
    /// Sizes of floats, as a set.
    floats: u8,
    /// Whether only opcodes with a SPIR-V instruction are legal.
    spirv_only: bool,
    /// Sizes at which opcodes are illegal although the above allows them.
    illegal: FxHashMap<AluOp, u8>,
    /// Intrinsics that are illegal although the above allows them.
    lacking: Vec<Intrinsic>,
    /// SPIR-V capabilities that the module declares.
    capabilities: Vec<String>,
    /// Rules that don't fire for it: names with or without the bindings of templates.
    pub(crate) without_rules: Vec<String>,
}

/// The set of one size; 0 where the IR doesn't have it.
fn set(bits: u8) -> u8 {
    match bits {
        1 => 1,
        8 => 2,
        16 => 4,
        32 => 8,
        64 => 16,
        _ => 0,
    }
}

fn sets(bits: &[u8]) -> u8 {
    bits.iter().fold(0, |all, b| all | set(*b))
}

impl Target {
    /// A target that has everything.
    pub fn generic(name: impl Into<String>) -> Target {
        Target {
            name: name.into(),
            options: Vec::new(),
            ints: 31,
            floats: 28,
            spirv_only: false,
            illegal: FxHashMap::default(),
            lacking: Vec::new(),
            capabilities: Vec::new(),
            without_rules: Vec::new(),
        }
    }

    /// SPIR-V with 32-bit numbers: opcodes that an instruction is written as.
    pub fn spirv() -> Target {
        let mut target = Target { spirv_only: true, ..Target::generic("spirv") };
        (target.ints, target.floats) = (sets(&[1, 32]), sets(&[32]));
        target
    }

    /// SPIR-V as a module declares it: the sizes of numbers follow from its capabilities.
    pub fn spirv_of(module: &Module) -> Target {
        let mut target = Target::spirv();
        target.capabilities.clone_from(&module.spirv.capabilities);
        let sizes = |names: &[(&str, u8)]| {
            let has = names.iter().filter(|(name, _)| module.spirv.has_capability(name));
            has.fold(0, |all, (_, bits)| all | set(*bits))
        };
        target.ints |= sizes(&[("Int8", 8), ("Int16", 16), ("Int64", 64)]);
        target.floats |= sizes(&[("Float16", 16), ("Float64", 64)]);
        target
    }

    /// Sets the integer sizes, beside 1 bit.
    #[must_use]
    pub fn int_sizes(mut self, bits: &[u8]) -> Target {
        self.ints = sets(bits) | 1;
        self
    }

    /// Sets the float sizes.
    #[must_use]
    pub fn float_sizes(mut self, bits: &[u8]) -> Target {
        self.floats = sets(bits);
        self
    }

    /// Makes an opcode illegal at the sizes given, or at all if none is.
    #[must_use]
    pub fn forbid(mut self, op: AluOp, bits: &[u8]) -> Target {
        *self.illegal.entry(op).or_default() |= if bits.is_empty() { 31 } else { sets(bits) };
        self
    }

    /// Makes an intrinsic illegal, so that no rule makes it where it wasn't.
    #[must_use]
    pub fn forbid_intrinsic(mut self, intrinsic: Intrinsic) -> Target {
        self.lacking.push(intrinsic);
        self
    }

    /// Switches a rule off, by its name with or without the bindings of templates. A run of rules that have none of that
    /// name is an error.
    #[must_use]
    pub fn without_rule(mut self, name: impl Into<String>) -> Target {
        self.without_rules.push(name.into());
        self
    }

    /// Switches an option on.
    #[must_use]
    pub fn option(mut self, name: impl Into<String>) -> Target {
        self.options.push(name.into());
        self
    }

    /// Whether an option is on.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|o| o == name)
    }

    /// Whether the target has an opcode of the built-in table at a width: its unsized one, or its result's where
    /// every operand has a size.
    pub fn legal(&self, op: AluOp, bits: u8) -> bool {
        op.builtin().is_none_or(|info| self.legal_info(op, info, bits))
    }

    /// As [`Target::legal`], for an opcode of any table.
    pub fn legal_info(&self, op: AluOp, info: &AluInfo, bits: u8) -> bool {
        let fits = |ty: &AluType| {
            let bits = if ty.bits == 0 { bits } else { ty.bits };
            match ty.base {
                BaseType::Float => self.floats & set(bits) != 0,
                // Untyped moves carry floats too.
                BaseType::Uint => (self.ints | self.floats) & set(bits) != 0,
                BaseType::Int => self.ints & set(bits) != 0,
                BaseType::Bool => bits == 1 || self.ints & set(bits) != 0 && !self.spirv_only,
            }
        };
        let written = |dir: FormDir| matches!(dir, FormDir::Both | FormDir::Write);
        let moves = info.cost == 0;
        fits(&info.output)
            && info.inputs.iter().all(fits)
            && self.illegal.get(&op).is_none_or(|i| i & set(bits) == 0)
            && (!self.spirv_only
                || moves
                || info
                    .spirv
                    .iter()
                    .any(|f| written(f.dir) && (f.sizes.is_empty() || f.sizes.contains(&bits))))
    }

    /// Whether the target has an intrinsic whose result has so many bits, with these const indices and the defaults of
    /// others. For SPIR-V an instruction must be written as it, which the module's capabilities allow; system values
    /// depend on stage and entry point, and none is made.
    pub fn legal_intrinsic(
        &self,
        intrinsic: Intrinsic,
        info: &IntrinsicInfo,
        bits: u8,
        indices: &[(Index, u32)],
    ) -> bool {
        let default = |index: Index| index.builtin().map_or(0, |info| info.default);
        let has = |index: Index| {
            indices.iter().find(|(i, _)| *i == index).map_or_else(|| default(index), |(_, v)| *v)
        };
        let declared = |name: &str| self.capabilities.iter().any(|c| c == name);
        let written = |form: &IntrinsicForm| {
            matches!(form.dir, FormDir::Both | FormDir::Write)
                && (form.sizes.is_empty() || form.sizes.contains(&bits))
                && form.capability.is_none_or(declared)
                && form.when.iter().all(|(index, value)| has(*index) == *value)
        };
        (bits == 1 || (self.ints | self.floats) & set(bits) != 0)
            && !self.lacking.contains(&intrinsic)
            && (!self.spirv_only || info.builtin.is_none() && info.spirv.iter().any(written))
    }
}
