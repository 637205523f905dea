//! The opcode table's definitions as folders, by walking their trees.

use super::evaluate::{Evaluator, Quirk};
use crate::oracle;
use crate::oracle::compare::Shadow;
use deburr_ir_core::fold::{Cx, float, prim};
use deburr_ir_core::{Denorm, FloatEnv, Rounding};
use deburr_rulegen::expr::{Base, Expr};
use deburr_rulegen::tables::op::Eval;
use deburr_rulegen::tables::{OpDef, SigTy, TableFile, Tables};

/// The opcode table of the repository.
pub fn tables() -> Result<Tables, String> {
    let file = TableFile::new("opcodes.toml", deburr_ruleset::OPCODES);
    Tables::parse(&[file]).map_err(|errors| format!("{errors:?}"))
}

/// The definition of an opcode; `None` for derivatives.
pub fn definition(op: &OpDef) -> Option<&Expr> {
    match &op.eval {
        Eval::Expr(tree) => Some(tree),
        Eval::Quad(_) => None,
    }
}

/// The oracle's environment as the folder has it.
pub fn environment(env: &oracle::Env) -> FloatEnv {
    FloatEnv {
        denorm: env.denorm.map(|d| match d {
            oracle::Denorm::Keep => Denorm::Keep,
            oracle::Denorm::Flush => Denorm::Flush,
            oracle::Denorm::Any => Denorm::Any,
        }),
        rounding: env.rounding.map(|r| match r {
            oracle::Rounding::Rte => Rounding::Rte,
            oracle::Rounding::Rtz => Rounding::Rtz,
            oracle::Rounding::Any => Rounding::Any,
        }),
    }
}

/// Folds one instruction by walking `tree`, which may be a mutant of the definition of `op`.
pub fn fold(
    op: &OpDef,
    tree: &Expr,
    quirk: Option<(&Expr, Quirk)>,
    (bits, comps): (u32, u32),
    srcs: &[Vec<u64>],
    env: &oracle::Env,
    out: &mut [u64; 16],
) -> Shadow {
    let width = |ty: SigTy| ty.bits.map_or(bits, u32::from);
    let mut shadow = Shadow::default();
    let rounds = if op.sig.output.comps.is_none() { comps as usize } else { 1 };
    for c in 0..rounds {
        let operand = |(ty, src): (&SigTy, &Vec<u64>)| {
            let values = if ty.comps.is_none() { &src[c..=c] } else { &src[..] };
            let bool = ty.base == Base::Bool;
            Some(values.iter().map(|&v| if bool { u64::from(v != 0) } else { v }).collect())
        };
        let vars = op.sig.inputs.iter().zip(srcs).map(operand).collect();
        let mut cx = Cx { env: environment(env), free: false, nan: false };
        let values = Evaluator { bits: bits as u8, vars, quirk }.eval(&mut cx, tree);
        let out_width = width(op.sig.output);
        for (i, value) in values.into_iter().enumerate() {
            let at = c + i;
            out[at] = if op.sig.output.base == Base::Bool {
                prim::from_bool(out_width, value != 0)
            } else {
                value
            };
            let nan = op.sig.output.base == Base::Float && float::is_nan(out_width, out[at]);
            shadow.free |= u16::from(cx.free) << at;
            shadow.nan |= u16::from(cx.nan && nan) << at;
        }
    }
    shadow
}
