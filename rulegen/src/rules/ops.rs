//! What the rule language needs to know of opcodes.

use super::classes::{ALL_SIZES, BOOL_SIZES, FLOAT_SIZES};
use crate::expr::Base;
use std::collections::HashMap;

/// The type of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigTy {
    /// How the bits are read.
    pub base: Base,
    /// Bits; 0 = the op's unsized width.
    pub bits: u8,
    /// Components; 0 = per component.
    pub comps: u8,
}

/// An opcode.
#[derive(Clone, Debug)]
pub struct OpSig {
    /// Name.
    pub name: String,
    /// Result.
    pub output: SigTy,
    /// Operands.
    pub inputs: Vec<SigTy>,
    /// Admissible unsized widths as a set.
    pub sizes: u8,
    /// Whether the first two operands may be exchanged.
    pub commutative: bool,
    /// Whether it carries licences, `nnan` and `ninf`, and follows the float environment.
    pub float: bool,
    /// Promises that it may carry.
    pub promises: u16,
    /// Whether its result depends on other invocations.
    pub convergent: bool,
    /// Whether it only moves bits, so that an untyped operand of it may be of any base.
    pub moves: bool,
}

impl OpSig {
    /// Default sizes by the bases of the unsized operands.
    pub fn default_sizes(output: SigTy, inputs: &[SigTy]) -> u8 {
        let open: Vec<Base> =
            inputs.iter().chain([&output]).filter(|t| t.bits == 0).map(|t| t.base).collect();
        if open.contains(&Base::Float) {
            FLOAT_SIZES
        } else if open.iter().any(|b| b.is_integer()) {
            ALL_SIZES & !1
        } else {
            BOOL_SIZES
        }
    }
}

/// The opcode table as the rule language sees it.
#[derive(Clone, Debug, Default)]
pub struct Ops {
    list: Vec<OpSig>,
    by_name: HashMap<String, usize>,
}

impl Ops {
    /// A table of these ops, in the order of their ids.
    pub fn new(list: Vec<OpSig>) -> Ops {
        let by_name = list.iter().enumerate().map(|(i, op)| (op.name.clone(), i)).collect();
        Ops { list, by_name }
    }

    /// The op at an index.
    pub fn get(&self, index: usize) -> &OpSig {
        &self.list[index]
    }

    /// The index of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// All ops in order.
    pub fn iter(&self) -> impl Iterator<Item = &OpSig> {
        self.list.iter()
    }
}
