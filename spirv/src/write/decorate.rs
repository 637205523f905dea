//! Decorations of instructions: what arithmetic may or may not be made of.

use super::code::Emit;
use crate::error::Error;
use crate::fast_math::mask_of;
use deburr_ir_core::{
    AluInfo, AluProps, BaseType, Def, Flags, Function, Index, Instr, InstrView, Intrinsic,
    SpirvForm, User,
};

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

/// SPIR-V arithmetic that NoSignedWrap and NoUnsignedWrap apply to.
const NO_WRAP: &[&str] = &["IAdd", "ISub", "IMul", "SNegate", "ShiftLeftLogical"];

impl Emit<'_, '_> {
    /// What an arithmetic instruction may or may not be made of, as decorations.
    pub(super) fn decorate_arithmetic(&mut self, instr: Instr, id: u32) {
        self.decorate_relaxed(instr, id);
        let info = self.f.alu_info(instr);
        // Those that move bits alone have no licence to lose.
        let licensed = info.is_none_or(|i| i.props.contains(AluProps::FLOAT));
        match self.w.fast_math {
            Some(defaults) => self.decorate_fast_math(instr, id, &defaults),
            None if licensed && !self.f.flags(instr).contains(CONTRACTED) => {
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
        let Some(info) = f.alu_info(instr) else { return };
        let licensed = info.props.contains(AluProps::FLOAT);
        if !licensed && info.output.base != BaseType::Float {
            return;
        }
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
        if !licensed {
            // The sign of a NaN, where the default promises that there is none.
            if default.is_some_and(|default| !default.is_empty()) {
                self.w.decorate(id, spirv::Decoration::FPFastMathMode, &[mask_of(flags)]);
            }
            return;
        }
        if default.is_none_or(|default| !flags.contains(default)) {
            self.w.decorate(id, spirv::Decoration::FPFastMathMode, &[mask_of(flags)]);
        }
    }

    pub(super) fn decorate_flags(&mut self, instr: Instr, id: u32, form: &SpirvForm) {
        // An extended instruction stands for arithmetic, where it has licences at all.
        let allowed = self.f.alu_info(instr).map(AluInfo::allowed_flags);
        let arithmetic = match form.ext {
            true => allowed.is_some_and(|allowed| allowed.contains(CONTRACTED)),
            false => NO_CONTRACTION.contains(&form.name),
        };
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

    /// The promises that an integer does not wrap, where the module may say so.
    fn may_say_no_wrap(&self) -> bool {
        let spirv = &self.w.module.spirv;
        spirv.version >= (1, 4)
            || spirv.extensions.iter().any(|e| e == "SPV_KHR_no_integer_wrap_decoration")
    }

    pub(super) fn decorate_no_wrap(&mut self, instr: Instr, id: u32, form: &SpirvForm) {
        let flags = self.f.flags(instr);
        if form.ext || !NO_WRAP.contains(&form.name) || !self.may_say_no_wrap() {
            return;
        }
        let promises = [
            (Flags::NSW, spirv::Decoration::NoSignedWrap),
            (Flags::NUW, spirv::Decoration::NoUnsignedWrap),
        ];
        for (_, decoration) in promises.into_iter().filter(|(flag, _)| flags.contains(*flag)) {
            self.w.decorate(id, decoration, &[]);
        }
    }

    /// What takes a fast-math mask, but never NoContraction: compares.
    pub(super) fn decorate_uncontracted(&mut self, instr: Instr, id: u32) {
        match self.w.fast_math {
            Some(_) => self.decorate_arithmetic(instr, id),
            None => self.decorate_relaxed(instr, id),
        }
    }

    /// Decorates a conversion with its rounding mode. Shaders may store what is so converted, and nothing else.
    pub(super) fn decorate_rounding(
        &mut self,
        instr: Instr,
        id: u32,
        mode: &str,
    ) -> Result<(), Error> {
        if !self.f.uses_at(instr.def()).all(|(user, n)| is_stored(self.f, user, n)) {
            let message = "a conversion with a rounding mode of its own whose result is not stored";
            return Err(Error::unsupported(message));
        }
        let mode = mode.parse::<spirv::FPRoundingMode>();
        let mode = mode.map_err(|()| Error::unsupported("an unknown rounding mode"))?;
        self.w.decorate(id, spirv::Decoration::FPRoundingMode, &[mode as u32]);
        Ok(())
    }

    /// What may not be made of anything else, whatever its flags say.
    pub(super) fn decorate_exact(&mut self, instr: Instr, id: u32) {
        self.decorate_relaxed(instr, id);
        match self.w.fast_math {
            Some(_) => self.w.decorate(id, spirv::Decoration::FPFastMathMode, &[0]),
            None => self.w.decorate(id, spirv::Decoration::NoContraction, &[]),
        }
    }

    pub(super) fn decorate_relaxed(&mut self, instr: Instr, id: u32) {
        if self.f.flags(instr).contains(Flags::RELAXED) {
            self.w.decorate(id, spirv::Decoration::RelaxedPrecision, &[]);
        }
    }
}

/// Whether source `n` of the user is a value that it stores whole.
fn is_stored(f: &Function, user: User, n: usize) -> bool {
    let User::Instr(store) = user else { return false };
    let InstrView::Intrinsic(Intrinsic::STORE_DEREF, _) = f.view(store) else { return false };
    let all = (1u32 << f.comps(f.src(store, 1))) - 1;
    n == 1 && f.index(store, Index::WRITE_MASK).is_none_or(|mask| mask & all == all)
}

/// Whether a conversion has a rounding mode of its own.
pub(super) fn has_rounding(f: &Function, def: Def) -> bool {
    let form = f.alu_info(def.instr()).and_then(|info| info.spirv.first());
    form.is_some_and(|form| form.rounding.is_some())
}
