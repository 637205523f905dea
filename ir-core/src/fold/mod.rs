//! Constant folding: what an opcode gives for known operands.
//!
//! The folders are generated from the `eval` column of `opcodes.toml`; this module runs them over the components of an
//! instruction and says what is free in the result. [`float`] has the arithmetic, [`prim`] the primitives that the
//! generated code calls.

pub mod float;
pub mod prim;
mod prim_float;
pub(crate) mod table;

pub use crate::env::{Denorm, FloatEnv, Rounding};
use crate::instr::Flags;
use crate::op::{AluInfo, AluOp, AluProps, AluType, BaseType};

/// What is free in a folded value, a bit a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shadow {
    /// The component came from `choose`, `any` or poison.
    pub free: u16,
    /// The component is a NaN that arithmetic gave: its payload is free.
    pub nan: u16,
}

impl Shadow {
    /// Nothing is free.
    pub const CLEAN: Shadow = Shadow { free: 0, nan: 0 };

    /// Whether nothing is free.
    pub fn is_clean(self) -> bool {
        self == Shadow::CLEAN
    }
}

/// What an evaluation reads and notes.
#[derive(Clone, Copy, Debug)]
pub struct Cx {
    /// Float environment.
    pub env: FloatEnv,
    /// A choice was met.
    pub free: bool,
    /// Arithmetic gave a NaN.
    pub nan: bool,
}

/// Folds one component of an opcode: context, unsized width (0 if there is none), component, operands by component,
/// result. An opcode whose result has a fixed component count is folded at component 0, and gives all of them.
pub type FoldFn = fn(&mut Cx, u32, usize, &[&[u64]], &mut [u64]);

/// Folds an opcode of the built-in table; `None` for one that isn't in it, and for derivatives.
///
/// `bits` is the opcode's unsized width (0 if it has none), `comps` the result's component count. `srcs` holds each
/// operand's components after its swizzle, as bit patterns with zeros above.
pub fn fold(
    op: AluOp,
    bits: u8,
    comps: u8,
    srcs: &[&[u64]],
    env: &FloatEnv,
    out: &mut [u64; 16],
) -> Option<Shadow> {
    fold_info(op.builtin()?, bits, comps, srcs, env, out)
}

/// As [`fold`], for any table's opcode.
pub fn fold_info(
    info: &AluInfo,
    bits: u8,
    comps: u8,
    srcs: &[&[u64]],
    env: &FloatEnv,
    out: &mut [u64; 16],
) -> Option<Shadow> {
    let fold = info.fold?;
    let float_width = match (info.output.base, info.output.bits) {
        (BaseType::Float, 0) => u32::from(bits),
        (BaseType::Float, fixed) => u32::from(fixed),
        _ => 0,
    };
    let is_nan = |v: u64| float_width != 0 && float::is_nan(float_width, v);
    let mut shadow = Shadow::CLEAN;
    let mut run = |comp: usize, results: std::ops::Range<usize>, out: &mut [u64; 16]| {
        let mut cx = Cx { env: *env, free: false, nan: false };
        fold(&mut cx, u32::from(bits), comp, srcs, out);
        for i in results {
            shadow.free |= u16::from(cx.free) << i;
            shadow.nan |= u16::from(cx.nan && is_nan(out[i])) << i;
        }
    };
    match info.output.comps {
        0 => (0..usize::from(comps.min(16))).for_each(|i| run(i, i..i + 1, out)),
        n => run(0, 0..usize::from(n), out),
    }
    Some(shadow)
}

/// The components for which a promise of the instruction is broken: they are poison.
///
/// `nnan` and `ninf` are broken by an operand or result that is one, the others as the table says. `out` is the result
/// that [`fold_info`] gave.
pub fn broken_promises(
    info: &AluInfo,
    flags: Flags,
    shape: (u8, u8),
    srcs: &[&[u64]],
    env: &FloatEnv,
    out: &[u64; 16],
) -> u16 {
    let (bits, comps) = shape;
    let results = if info.output.comps == 0 { comps } else { info.output.comps }.min(16);
    let all = ((1u32 << results) - 1) as u16;
    let mut broken = 0;
    for (flag, test) in [(Flags::DOM, info.dom), (Flags::NSW, info.nsw), (Flags::NUW, info.nuw)] {
        let Some(test) = test.filter(|_| flags.contains(flag)) else { continue };
        let mut kept = [0; 16];
        let mut cx = Cx { env: *env, free: false, nan: false };
        let tested = if info.output.comps == 0 { results } else { 1 };
        for i in 0..usize::from(tested) {
            test(&mut cx, u32::from(bits), i, srcs, &mut kept);
            let components = if info.output.comps == 0 { 1 << i } else { all };
            broken |= if kept[i] == 0 { components } else { 0 };
        }
    }
    if flags.intersects(Flags::NNAN | Flags::NINF) {
        let excluded = |ty: AluType, v: u64| {
            let w = u32::from(if ty.bits == 0 { bits } else { ty.bits });
            ty.base == BaseType::Float
                && (flags.contains(Flags::NNAN) && float::is_nan(w, v)
                    || flags.contains(Flags::NINF) && float::is_inf(w, v))
        };
        for (i, &v) in out.iter().enumerate().take(results.into()) {
            broken |= u16::from(excluded(info.output, v)) << i;
        }
        for (ty, value) in info.inputs.iter().zip(srcs) {
            for (i, &v) in value.iter().enumerate() {
                let components = if ty.comps == 0 { 1u16.wrapping_shl(i as u32) } else { all };
                broken |= if excluded(*ty, v) { components & all } else { 0 };
            }
        }
    }
    broken
}

/// As [`fold_info`], for operands that are themselves free in part.
///
/// Freedom spreads by component. A NaN that arithmetic gave stays one through moves, is absorbed where floats are
/// computed with, and makes free what reads its bits as an integer.
pub fn fold_shadowed(
    op: AluOp,
    info: &AluInfo,
    shape: (u8, u8),
    srcs: &[(&[u64], Shadow)],
    env: &FloatEnv,
    out: &mut [u64; 16],
) -> Option<Shadow> {
    let (bits, comps) = shape;
    let mut values: [&[u64]; 16] = [&[]; 16];
    for (slot, (value, _)) in values.iter_mut().zip(srcs) {
        *slot = value;
    }
    let mut shadow = fold_info(info, bits, comps, &values[..srcs.len().min(16)], env, out)?;
    if srcs.iter().all(|(_, s)| s.is_clean()) {
        return Some(shadow);
    }
    let results = if info.output.comps == 0 { comps } else { info.output.comps };
    let width = if info.output.bits == 0 { bits } else { info.output.bits };
    for (i, &value) in out.iter().enumerate().take(results.into()) {
        let inherited = inherit(op, info, i, srcs);
        let absorbed = absorbs(op, info, bits, i, srcs);
        shadow.free |= u16::from(inherited.free && !absorbed) << i;
        // Moved bits are a NaN's as they were.
        let is_float = info.output.base == BaseType::Float;
        let nan = !is_float || float::is_nan(u32::from(width), value);
        shadow.nan |= u16::from(inherited.nan && nan) << i;
    }
    Some(shadow)
}

/// What one component of a result inherits from the operands.
struct Inherited {
    free: bool,
    nan: bool,
}

fn inherit(op: AluOp, info: &AluInfo, comp: usize, srcs: &[(&[u64], Shadow)]) -> Inherited {
    let moves = moves_bits(op, info);
    let mut result = Inherited { free: false, nan: false };
    for (k, (_, shadow)) in srcs.iter().enumerate() {
        let Some(ty) = info.inputs.get(k) else { break };
        if not_chosen(info, comp, k, srcs) {
            continue;
        }
        // The components that this one is computed from.
        let read = match (info.output.comps, ty.comps) {
            (_, 0) => 1 << comp,
            (n, 1) if n as usize == srcs.len() && moves => {
                if k == comp {
                    1
                } else {
                    0
                }
            }
            (_, n) => ((1u32 << n) - 1) as u16,
        };
        result.free |= shadow.free & read != 0;
        let nan = shadow.nan & read != 0;
        match ty.base {
            // Arithmetic that gives NaN gives one of its own; what passes an operand on passes its freedom on too.
            BaseType::Float => result.nan |= nan && info.output.base == BaseType::Float,
            _ if moves => result.nan |= nan,
            _ => result.free |= nan,
        }
    }
    result
}

/// Whether operand `k` is an arm that a bcsel did not take.
fn not_chosen(info: &AluInfo, comp: usize, k: usize, srcs: &[(&[u64], Shadow)]) -> bool {
    let by_bool = info.props.contains(AluProps::SELECTION)
        && info.inputs.first().is_some_and(|ty| ty.base == BaseType::Bool);
    let condition = srcs.first().and_then(|(value, _)| value.get(comp));
    by_bool
        && match (k, condition) {
            (1, Some(&c)) => c == 0,
            (2, Some(&c)) => c != 0,
            _ => false,
        }
}

/// Whether the opcode passes on the bits of its unsigned operands.
fn moves_bits(op: AluOp, info: &AluInfo) -> bool {
    info.props.contains(AluProps::SELECTION)
        || op == AluOp::MOV
        || (AluOp::VEC2..=AluOp::VEC16).contains(&op)
        || (AluOp::VEC_EXTRACT2..=AluOp::VEC_INSERT4).contains(&op)
}

/// Whether a clean operand of an iand or ior decides the result whatever the other one is.
fn absorbs(op: AluOp, info: &AluInfo, bits: u8, comp: usize, srcs: &[(&[u64], Shadow)]) -> bool {
    let absorbing = match op {
        AluOp::IAND => 0,
        AluOp::IOR => prim::inot(u32::from(bits), 0),
        _ => return false,
    };
    info.per_component()
        && srcs.iter().any(|(value, shadow)| {
            let dirty = (shadow.free | shadow.nan) >> comp & 1 != 0;
            !dirty && value.get(comp) == Some(&absorbing)
        })
}
