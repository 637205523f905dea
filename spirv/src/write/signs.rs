//! Instructions that hold another one: signs with the flush in front of them, the width of a derivative.

use super::code::Emit;
use super::types::{Class, ValueType};
use crate::error::Error;
use deburr_ir_core::{AluOp, Def, Function, Instr, Swizzle, Use, User};
use spirv::Op;

/// Whether the instruction is written with the one that uses it, and nothing else does.
pub(super) fn is_held(f: &Function, instr: Instr) -> bool {
    match f.alu_op(instr) {
        // OpFNegate and FAbs flush themselves.
        Some(AluOp::FCANONICALIZE) => {
            f.is_used(instr.def())
                && f.uses(instr.def()).all(|u| match u.user() {
                    User::Instr(i) => {
                        matches!(f.alu_op(i), Some(AluOp::FNEG | AluOp::FABS))
                    }
                    User::If(_) => false,
                })
        }
        Some(AluOp::FABS) => single_user(f, instr).is_some_and(|i| fwidth(f, i).is_some()),
        Some(
            AluOp::FDDX
            | AluOp::FDDY
            | AluOp::FDDX_FINE
            | AluOp::FDDY_FINE
            | AluOp::FDDX_COARSE
            | AluOp::FDDY_COARSE,
        ) => single_user(f, instr)
            .and_then(|abs| single_user(f, abs))
            .is_some_and(|i| fwidth(f, i).is_some()),
        _ => false,
    }
}

fn single_user(f: &Function, instr: Instr) -> Option<Instr> {
    if !f.has_one_use(instr.def()) {
        return None;
    }
    match f.uses(instr.def()).next()?.user() {
        User::Instr(user) => Some(user),
        User::If(_) => None,
    }
}

/// The instruction that a sum of the magnitudes of both derivatives is, and the value derived.
pub(super) fn fwidth(f: &Function, sum: Instr) -> Option<(Op, Def, Swizzle)> {
    if f.alu_op(sum) != Some(AluOp::FADD) {
        return None;
    }
    let [a, b] = f.srcs(sum) else { return None };
    let (first, x) = magnitude(f, sum, a)?;
    let (second, y) = magnitude(f, sum, b)?;
    let comps = f.comps(sum.def());
    let same = x.def() == y.def() && x.swizzle().iter(comps).eq(y.swizzle().iter(comps));
    let op = match (first, second) {
        (AluOp::FDDX, AluOp::FDDY) | (AluOp::FDDY, AluOp::FDDX) => Op::Fwidth,
        (AluOp::FDDX_FINE, AluOp::FDDY_FINE) | (AluOp::FDDY_FINE, AluOp::FDDX_FINE) => {
            Op::FwidthFine
        }
        (AluOp::FDDX_COARSE, AluOp::FDDY_COARSE) | (AluOp::FDDY_COARSE, AluOp::FDDX_COARSE) => {
            Op::FwidthCoarse
        }
        _ => return None,
    };
    same.then_some((op, x.def(), x.swizzle()))
}

/// The derivative that an operand of a sum is the magnitude of, and what it derives, if nothing else needs either.
/// Derivatives stay in their block.
fn magnitude<'f>(f: &'f Function, sum: Instr, src: &Use) -> Option<(AluOp, &'f Use)> {
    let comps = f.comps(sum.def());
    let inner = |src: &Use| {
        let whole = f.comps(src.def()) == comps && src.swizzle().is_identity(comps);
        let instr = src.def().instr();
        (whole && f.has_one_use(src.def()) && f.block_of(instr) == f.block_of(sum)).then_some(instr)
    };
    let abs = inner(src).filter(|&i| f.alu_op(i) == Some(AluOp::FABS))?;
    let derivative = inner(&f.srcs(abs)[0])?;
    Some((f.alu_op(derivative)?, f.srcs(derivative).first()?))
}

impl Emit<'_, '_> {
    /// The width of a derivative; `false` if the sum is none.
    pub(super) fn width_of_derivative(
        &mut self,
        instr: Instr,
        ty: ValueType,
    ) -> Result<bool, Error> {
        let Some((op, value, swizzle)) = fwidth(self.f, instr) else { return Ok(false) };
        let type_id = self.w.value_type(ty);
        let value = self.operand(value, swizzle, ty.comps, Class::Float)?;
        let id = self.id_of(instr.def());
        self.code.op(op, &[type_id, id, value]);
        self.decorate_relaxed(instr, id);
        Ok(true)
    }

    /// The operand of a sign operation: what lies behind the flush that it makes itself.
    pub(super) fn unflushed(&self, instr: Instr, src: &Use) -> (Def, Swizzle) {
        let f = self.f;
        let inner = src.def().instr();
        let is_sign = matches!(f.alu_op(instr), Some(AluOp::FNEG | AluOp::FABS));
        if !is_sign || f.alu_op(inner) != Some(AluOp::FCANONICALIZE) {
            return (src.def(), src.swizzle());
        }
        let within = f.srcs(inner)[0];
        let comps = f.comps(instr.def());
        let composed = (0..usize::from(comps)).fold(Swizzle::IDENTITY, |s, n| {
            s.with(n, within.swizzle().get(src.swizzle().get(n).into()))
        });
        (within.def(), composed)
    }

    /// A flush of its own: a product with one, which no compiler may leave out.
    pub(super) fn flush(&mut self, instr: Instr, ty: ValueType) -> Result<(), Error> {
        let src = self.f.srcs(instr)[0];
        let value = self.operand(src.def(), src.swizzle(), ty.comps, Class::Float)?;
        let one = match ty.bits {
            16 => 0x3c00,
            32 => 0x3f80_0000,
            _ => 0x3ff0_0000_0000_0000,
        };
        let one = self.w.constant(ty, &vec![one; ty.comps.into()]);
        let type_id = self.w.value_type(ty);
        let id = self.id_of(instr.def());
        self.code.op(Op::FMul, &[type_id, id, value, one]);
        self.decorate_exact(instr, id);
        Ok(())
    }
}
