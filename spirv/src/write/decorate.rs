//! Decorations of instructions: what arithmetic may or may not be made of.

use super::code::Emit;
use crate::fast_math::mask_of;
use deburr_ir_core::{AluProps, BaseType, Flags, Instr, SpirvForm};

/// The licences that an operation has in SPIR-V unless it is decorated NoContraction.
const CONTRACTED: Flags = Flags::CONTRACT.union(Flags::REASSOC).union(Flags::TRANSFORM);

/// SPIR-V arithmetic that NoContraction applies to.
const NO_CONTRACTION: &[&str] = &[
    "FAdd",
    "FSub",
    "FMul",
    "FDiv",
    "FRem",
    "FMod",
    "FNegate",
    "VectorTimesScalar",
    "MatrixTimesScalar",
    "VectorTimesMatrix",
    "MatrixTimesVector",
    "MatrixTimesMatrix",
    "OuterProduct",
    "Dot",
];

impl Emit<'_, '_> {
    /// What an arithmetic instruction may or may not be made of, as decorations.
    pub(super) fn decorate_arithmetic(&mut self, instr: Instr, id: u32) {
        self.decorate_relaxed(instr, id);
        match self.w.fast_math {
            Some(defaults) => self.decorate_fast_math(instr, id, &defaults),
            None if !self.f.flags(instr).contains(CONTRACTED) => {
                self.w.decorate(id, spirv::Decoration::NoContraction, &[]);
            }
            None => {}
        }
    }

    pub(super) fn decorate_fast_math(
        &mut self,
        instr: Instr,
        id: u32,
        defaults: &[Option<Flags>; 3],
    ) {
        let f = self.f;
        let Some(info) = f.alu_info(instr).filter(|i| i.props.contains(AluProps::FLOAT)) else {
            return;
        };
        let float = info.inputs.iter().position(|ty| ty.base == BaseType::Float);
        let bits = match (info.output.base, float) {
            (BaseType::Float, _) | (_, None) => f.bits(instr.def()),
            (_, Some(n)) => f.bits(f.src(instr, n)),
        };
        let default = match bits {
            16 => defaults[0],
            32 => defaults[1],
            _ => defaults[2],
        };
        let flags = f.flags(instr);
        if default.is_none_or(|default| !flags.contains(default)) {
            self.w.decorate(id, spirv::Decoration::FPFastMathMode, &[mask_of(flags)]);
        }
    }

    pub(super) fn decorate_flags(&mut self, instr: Instr, id: u32, form: &SpirvForm) {
        let arithmetic = !form.ext && NO_CONTRACTION.contains(&form.name);
        let fast_math =
            form.ext || form.name.starts_with("FOrd") || form.name.starts_with("FUnord");
        if arithmetic {
            self.decorate_arithmetic(instr, id);
        } else if fast_math {
            self.decorate_uncontracted(instr, id);
        } else {
            self.decorate_relaxed(instr, id);
        }
    }

    /// What takes a fast-math mask, but never NoContraction: compares and extended instructions.
    pub(super) fn decorate_uncontracted(&mut self, instr: Instr, id: u32) {
        match self.w.fast_math {
            Some(_) => self.decorate_arithmetic(instr, id),
            None => self.decorate_relaxed(instr, id),
        }
    }

    pub(super) fn decorate_relaxed(&mut self, instr: Instr, id: u32) {
        if self.f.flags(instr).contains(Flags::RELAXED) {
            self.w.decorate(id, spirv::Decoration::RelaxedPrecision, &[]);
        }
    }
}
