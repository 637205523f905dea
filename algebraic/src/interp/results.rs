//! What one operation gives: every result that choices, the float environment, licences and promises allow.

use super::expr::{Choices, Evaluator, Freedom, Out, Side, Value, flushed};
use super::term::{MAX_RUNS, Terms, builtin};
use deburr_ir_core::fold::{FloatEnv, fold_info, prim};
use deburr_ir_core::{AluInfo, Denorm, Rounding};
use deburr_rulegen::expr::{Base, Expr, ExprKind};
use deburr_rulegen::rules::model::flags;
use deburr_rulegen::rules::ops::{OpSig, SigTy};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Steps of an operation up to which each is free by itself; beyond it all steps round alike, since what they may give
/// together can't be listed.
const FREE_STEPS: u32 = 8;

/// An operation to be evaluated.
pub(super) struct Call<'a> {
    pub(super) sig: &'a OpSig,
    pub(super) info: Option<&'static AluInfo>,
    /// Unsized width.
    pub(super) width: u8,
    /// Bits of the result.
    pub(super) bits: u8,
    /// Bits of the operands.
    pub(super) operand_bits: SmallVec<[u8; 4]>,
    /// By operand the first that is the same value; empty where all differ.
    pub(super) alike: SmallVec<[usize; 4]>,
    /// Steps of float arithmetic.
    pub(super) steps: u32,
    /// Whether there is no step but the operation itself, on its operands: these are flushed, and its result is.
    pub(super) outermost: bool,
    /// Whether the float environment has a say.
    pub(super) float: bool,
    pub(super) flags: u16,
    pub(super) side: Side,
}

impl Terms<'_> {
    /// Every result of an operation, of one component where it works per component.
    pub(super) fn results(&self, call: &Call<'_>, operands: &[Value], comp: usize) -> Vec<Value> {
        let sig = call.sig;
        // Poison spreads, but for an arm that is not chosen and for bits that another operand decides.
        let spreads = !sig.moves && !matches!(sig.name.as_str(), "iand" | "ior");
        if spreads && operands.iter().any(|v| v.contains(&Out::Poison)) {
            let comps = usize::from(sig.output.comps.max(1));
            return vec![SmallVec::from_elem(Out::Poison, comps)];
        }
        let mut out: Vec<Value> = Vec::new();
        let mut variants: Vec<SmallVec<[Value; 4]>> = vec![operands.iter().cloned().collect()];
        if call.flags & flags::NSZ != 0 {
            variants = zero_variants(call, operands);
        }
        for operands in &variants {
            self.freely(call, operands, comp, &mut out);
            for operands in self.flushed_operands(call, operands) {
                self.freely(call, &operands, comp, &mut out);
            }
        }
        if call.flags & flags::ARCP != 0 && sig.name == "fdiv" {
            self.reciprocal(call, operands, &mut out);
        }
        if call.flags & flags::NSZ != 0 && sig.output.base == Base::Float {
            let zeros = [Out::Bits(0), Out::Bits(1 << (call.bits - 1))];
            let both: Vec<Value> = out
                .iter()
                .filter(|v| v.iter().any(|o| zeros.contains(o)))
                .flat_map(|v| {
                    zeros.map(|z| {
                        v.iter().map(|o| if zeros.contains(o) { z } else { *o }).collect::<Value>()
                    })
                })
                .collect();
            out.extend(both);
        }
        dedup(&mut out);
        for value in &mut out {
            if self.breaks(call, operands, value) {
                value.iter_mut().for_each(|o| *o = Out::Poison);
            }
        }
        dedup(&mut out);
        out
    }

    /// The operands with denormals flushed in some of them, where they may be and there are any.
    fn flushed_operands(&self, call: &Call<'_>, operands: &[Value]) -> Vec<SmallVec<[Value; 4]>> {
        if !call.float || self.freedom.denorm == Denorm::Keep {
            return Vec::new();
        }
        let zeroed = |i: usize| -> Value {
            let float = call.sig.inputs[i].base == Base::Float;
            let flush = |o: &Out| match o {
                Out::Bits(v) if float => Out::Bits(flushed(call.operand_bits[i].into(), *v)),
                other => *other,
            };
            operands[i].iter().map(flush).collect()
        };
        // An instruction doesn't treat one value in two ways.
        let first = |i: usize| call.alike.get(i).copied().unwrap_or(i);
        let mut changed: SmallVec<[usize; 4]> = (0..operands.len()).map(first).collect();
        changed.retain(|i| zeroed(*i) != operands[*i]);
        changed.dedup();
        let subset = |set: usize| {
            let pick = |i: usize| {
                let k = changed.iter().position(|c| *c == first(i));
                let flushed = k.is_some_and(|k| set >> k & 1 != 0);
                if flushed { zeroed(i) } else { operands[i].clone() }
            };
            (0..operands.len()).map(pick).collect()
        };
        (1..1usize << changed.len().min(6)).map(subset).collect()
    }

    /// Adds the results for these operands, whatever each step of the operation does.
    fn freely(&self, call: &Call<'_>, operands: &[Value], comp: usize, out: &mut Vec<Value>) {
        let exact =
            Freedom { roundings: SmallVec::from_slice(&[Rounding::Rte]), denorm: Denorm::Keep };
        let freedom = if call.float { &self.freedom } else { &exact };
        let steps = if freedom.denorm == Denorm::Keep && freedom.roundings.len() == 1 {
            1
        } else {
            call.steps
        };
        let alike = |r: &Rounding| Freedom { roundings: SmallVec::from_slice(&[*r]), ..*freedom };
        match steps {
            // One step: the compiled folder may do it, if nothing else is free.
            0 | 1 if freedom.denorm == Denorm::Keep || call.outermost => {
                let known = out.len();
                for rounding in &freedom.roundings {
                    let env = FloatEnv::uniform(Denorm::Keep, *rounding);
                    let Some(value) = fast(call, operands, &env, comp) else {
                        out.truncate(known);
                        return self.stepwise(call, operands, freedom, out);
                    };
                    finish(call, freedom, value, out);
                }
            }
            0..=FREE_STEPS => self.stepwise(call, operands, freedom, out),
            _ => {
                for rounding in &freedom.roundings {
                    self.stepwise(call, operands, &alike(rounding), out);
                }
            }
        }
    }

    /// Adds the results of every script of choices.
    fn stepwise(
        &self,
        call: &Call<'_>,
        operands: &[Value],
        freedom: &Freedom,
        out: &mut Vec<Value>,
    ) {
        if let Some(value) = absorbed(call, operands) {
            finish(call, freedom, value, out);
            return;
        }
        let Some(eval) = &call.sig.eval else {
            out.push(SmallVec::from_slice(&[Out::Bits(opaque(call, operands))]));
            return;
        };
        let env = FloatEnv::uniform(Denorm::Keep, freedom.roundings[0]);
        let mut choices = Choices::default();
        for _ in 0..MAX_RUNS {
            let vars = operands
                .iter()
                .zip(&call.sig.inputs)
                .map(|(v, ty)| Some(as_operand(v, ty)))
                .collect();
            let mut value = Evaluator {
                choices: &mut choices,
                env,
                freedom: call.float.then_some(freedom),
                width: call.width,
                side: call.side,
                vars,
            }
            .eval(eval);
            if call.sig.output.base == Base::Bool && call.bits > 1 {
                for o in &mut value {
                    if let Out::Bits(v) = o {
                        *v = prim::from_bool(call.bits.into(), *v != 0);
                    }
                }
            }
            finish(call, freedom, value, out);
            if !choices.turn() {
                break;
            }
        }
    }

    /// `a / b` as `a * (1 / b)`.
    fn reciprocal(&self, call: &Call<'_>, operands: &[Value], out: &mut Vec<Value>) {
        let (Some(mul), Some(rcp)) = (self.set.ops.find("fmul"), self.set.ops.find("frcp")) else {
            return;
        };
        let sub = |op: usize, n: usize| {
            let sig = self.set.ops.get(op);
            Call {
                sig,
                info: builtin(sig),
                width: call.width,
                bits: call.bits,
                operand_bits: SmallVec::from_elem(call.bits, n),
                alike: SmallVec::new(),
                steps: 1,
                outermost: true,
                float: true,
                flags: call.flags & flags::NSZ,
                side: call.side,
            }
        };
        for r in self.results(&sub(rcp, 1), &operands[1..2], 0) {
            out.extend(self.results(&sub(mul, 2), &[operands[0].clone(), r], 0));
        }
    }

    /// Whether a promise on the operation is broken.
    fn breaks(&self, call: &Call<'_>, operands: &[Value], result: &Value) -> bool {
        let sig = call.sig;
        let float_is = |v: &Value, bits: u8, nan: bool| {
            v.iter().any(|o| match o {
                Out::AnyNan => nan,
                Out::Bits(b) if nan => prim::is_nan(bits.into(), *b),
                Out::Bits(b) => prim::is_inf(bits.into(), *b),
                Out::Any | Out::Poison => false,
            })
        };
        for (flag, nan) in [(flags::NNAN, true), (flags::NINF, false)] {
            if call.flags & flag == 0 {
                continue;
            }
            let inputs = sig.inputs.iter().zip(operands).zip(&call.operand_bits);
            let bad = inputs
                .filter(|((ty, _), _)| ty.base == Base::Float)
                .any(|((_, v), bits)| float_is(v, *bits, nan));
            if bad || sig.output.base == Base::Float && float_is(result, call.bits, nan) {
                return true;
            }
        }
        for (flag, expr) in [(flags::DOM, &sig.dom), (flags::NSW, &sig.nsw), (flags::NUW, &sig.nuw)]
        {
            let Some(expr) = expr else { continue };
            if call.flags & flag == 0 {
                continue;
            }
            let vars =
                operands.iter().zip(&sig.inputs).map(|(v, ty)| Some(as_operand(v, ty))).collect();
            if self.expr(expr, call.width, vars).first() == Some(&Out::Bits(0)) {
                return true;
            }
        }
        false
    }
}

/// Bools of any size are 0 or 1 in expressions.
fn as_operand(value: &Value, ty: &SigTy) -> Value {
    match ty.base {
        Base::Bool => value
            .iter()
            .map(|o| match o {
                Out::Bits(v) => Out::Bits(u64::from(*v != 0)),
                other => *other,
            })
            .collect(),
        _ => value.clone(),
    }
}

/// The result by the compiled folder, where nothing is free.
fn fast(call: &Call<'_>, operands: &[Value], env: &FloatEnv, comp: usize) -> Option<Value> {
    let info = call.info?;
    let _ = comp;
    let mut bits: SmallVec<[SmallVec<[u64; 4]>; 4]> = SmallVec::new();
    for (value, ty) in operands.iter().zip(&call.sig.inputs) {
        let mut list = SmallVec::new();
        for o in value {
            list.push(match o {
                Out::Bits(v) => *v,
                // Arithmetic absorbs the payload; moves and bit operations take the slow way.
                Out::AnyNan if call.sig.float && ty.base == Base::Float => {
                    prim::nan(if ty.bits == 0 { call.width } else { ty.bits }.into())
                }
                _ => return None,
            });
        }
        bits.push(list);
    }
    let srcs: SmallVec<[&[u64]; 4]> = bits.iter().map(|b| b.as_slice()).collect();
    let mut out = [0; 16];
    let comps = if info.output.comps == 0 { 1 } else { info.output.comps };
    let shadow = fold_info(info, call.width, comps, &srcs, env, &mut out)?;
    if shadow.free != 0 {
        return None;
    }
    let of = |i: usize| if shadow.nan >> i & 1 != 0 { Out::AnyNan } else { Out::Bits(out[i]) };
    Some((0..usize::from(comps)).map(of).collect())
}

/// Whether a conversion has the size of its operand: a move (semantics 23).
pub(super) fn is_move(sig: &OpSig, width: u8, bits: u8) -> bool {
    let [input] = sig.inputs.as_slice() else { return false };
    let from = if input.bits == 0 { width } else { input.bits };
    let both = input.base == Base::Float && sig.output.base == Base::Float;
    let casts = |e: &Arc<Expr>| matches!(e.kind, ExprKind::Cast(_));
    both && from == bits && sig.eval.as_ref().is_some_and(casts)
}

/// Adds a result as it is and as it may be flushed.
fn finish(call: &Call<'_>, freedom: &Freedom, value: Value, out: &mut Vec<Value>) {
    if call.sig.output.base != Base::Float || freedom.denorm == Denorm::Keep {
        out.push(value);
        return;
    }
    let flush = |o: &Out| match o {
        Out::Bits(v) => Out::Bits(flushed(call.bits.into(), *v)),
        other => *other,
    };
    let zeroed: Value = value.iter().map(flush).collect();
    if freedom.denorm == Denorm::Any && zeroed != value {
        out.push(value);
    }
    out.push(zeroed);
}

/// Operands with zeros of both signs in place of each zero.
fn zero_variants(call: &Call<'_>, operands: &[Value]) -> Vec<SmallVec<[Value; 4]>> {
    let mut out: Vec<SmallVec<[Value; 4]>> = vec![SmallVec::new()];
    for ((value, ty), bits) in operands.iter().zip(&call.sig.inputs).zip(&call.operand_bits) {
        let sign = 1 << (bits - 1);
        let is_zero = |o: &Out| *o == Out::Bits(0) || *o == Out::Bits(sign);
        let mut forms = vec![value.clone()];
        if ty.base == Base::Float && value.iter().any(is_zero) {
            let flip = |o: &Out| match o {
                Out::Bits(v) if is_zero(o) => Out::Bits(v ^ sign),
                other => *other,
            };
            forms.push(value.iter().map(flip).collect());
        }
        out = out
            .iter()
            .flat_map(|prefix| {
                forms.iter().map(|f| {
                    let mut next = prefix.clone();
                    next.push(f.clone());
                    next
                })
            })
            .collect();
    }
    out
}

pub(super) fn dedup(list: &mut Vec<Value>) {
    let mut kept: Vec<Value> = Vec::with_capacity(list.len());
    for v in list.drain(..) {
        if !kept.contains(&v) {
            kept.push(v);
        }
    }
    *list = kept;
}

/// A derivative needs the neighbours' operands. Some function of its own operand stands for it, so that equal terms are
/// equal and nothing else is known.
fn opaque(call: &Call<'_>, operands: &[Value]) -> u64 {
    let mut hash = FxHasher::default();
    (call.sig.id, operands).hash(&mut hash);
    // The exponent stays away from NaN and infinity: such a result would be any NaN.
    let (bits, top) = (hash.finish(), call.bits.saturating_sub(2));
    prim::trunc(call.bits.into(), bits) & !(1 << top)
}

/// An iand or ior whose one operand decides the result, whatever the other is.
fn absorbed(call: &Call<'_>, operands: &[Value]) -> Option<Value> {
    let absorbing = match call.sig.name.as_str() {
        "iand" => 0,
        "ior" => prim::inot(call.width.into(), 0),
        _ => return None,
    };
    let absorbing: Value = SmallVec::from_slice(&[Out::Bits(absorbing)]);
    operands.contains(&absorbing).then_some(absorbing)
}
