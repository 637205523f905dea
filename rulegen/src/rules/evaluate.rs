//! Evaluation of the expressions of facts and of computed constants on numbers.
//!
//! The checks at build time need a value here and there; what defines the folder is generated Rust. Expressions that
//! have no single value, vectors, and primitives that only the run-time library has give `None`.

use super::model::{Literal, Rule, RuleSet};
use crate::expr::{Base, BinaryOp, Const, Expr, ExprKind, Prim, Ty, UnaryOp, Width};

/// The value of an expression over variables 0, 1, …, as bits; `bits` is what `BITS` stands for.
pub fn evaluate(e: &Expr, bits: u32, vars: &[u64]) -> Option<u64> {
    let mut scope: Vec<Option<u64>> = vars.iter().map(|v| Some(*v)).collect();
    eval(e, bits, &mut scope)
}

/// Whether a fact of a rule holds where its variables have these values; `None` if that can't be told.
pub fn holds(
    set: &RuleSet,
    rule: &Rule,
    fact: usize,
    sizes: &[u8],
    value: &impl Fn(usize) -> Option<u64>,
) -> Option<bool> {
    let f = &rule.facts[fact];
    let args: Option<Vec<u64>> = f.args.iter().map(|a| constant(rule, *a, sizes, value)).collect();
    let body = &set.facts[f.fact].body;
    evaluate(body, sizes[f.bits].into(), &args?).map(|v| v != 0)
}

/// The bits of a node that is a variable of known value, a literal or a computed constant.
pub fn constant(
    rule: &Rule,
    node: usize,
    sizes: &[u8],
    value: &impl Fn(usize) -> Option<u64>,
) -> Option<u64> {
    use super::model::NodeKind;
    let n = &rule.nodes[node];
    match &n.kind {
        NodeKind::Var(v) => value(*v),
        NodeKind::Literal(literal, base) => literal.encode(*base, sizes[n.class]).ok(),
        NodeKind::Compute { expr, args, bits } => {
            let args: Option<Vec<u64>> =
                args.iter().map(|a| constant(rule, *a, sizes, value)).collect();
            evaluate(expr, sizes[*bits].into(), &args?)
        }
        NodeKind::Ref(of) => constant(rule, *of, sizes, value),
        NodeKind::Op { .. } | NodeKind::Outside { .. } | NodeKind::Undef => None,
    }
}

fn width(ty: Ty, bits: u32) -> u32 {
    match (ty.base, ty.width) {
        (Base::Bool, _) => 1,
        (_, Width::Fixed(n)) => n.into(),
        (_, Width::Bits) => bits,
    }
}

fn mask(w: u32) -> u64 {
    if w >= 64 { u64::MAX } else { (1 << w) - 1 }
}

fn signed(v: u64, w: u32) -> i128 {
    i128::from(((v << (64 - w)) as i64) >> (64 - w))
}

/// The number that integer bits stand for.
fn number(v: u64, ty: Ty, w: u32) -> i128 {
    if ty.base == Base::Int { signed(v, w) } else { i128::from(v) }
}

/// The float that bits stand for.
pub(super) fn float(v: u64, w: u32) -> f64 {
    match w {
        64 => f64::from_bits(v),
        32 => f32::from_bits(v as u32).into(),
        _ => {
            let (exponent, low) = ((v >> 10 & 31) as i32, (v & 1023) as f64);
            let magnitude = match exponent {
                0 => low * 2f64.powi(-24),
                31 if low == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                e => (1024.0 + low) * 2f64.powi(e - 25),
            };
            if v >> 15 & 1 != 0 { -magnitude } else { magnitude }
        }
    }
}

/// The nearest float of that width; infinity and zero where a literal would be refused.
fn unfloat(v: f64, w: u32) -> u64 {
    match w {
        64 => v.to_bits(),
        32 => u64::from((v as f32).to_bits()),
        _ => Literal::Float(v.to_bits()).encode(Base::Float, 16).unwrap_or_else(|_| {
            let sign = u64::from(v.is_sign_negative()) << 15;
            if v.abs() < 1.0 { sign } else { sign | 0x7c00 }
        }),
    }
}

fn eval(e: &Expr, bits: u32, scope: &mut Vec<Option<u64>>) -> Option<u64> {
    if e.ty.comps != 1 {
        return None;
    }
    let w = width(e.ty, bits);
    match &e.kind {
        ExprKind::Int(v) => Some(v & mask(w)),
        ExprKind::Float(v) => Some(unfloat(*v, w)),
        ExprKind::Bool(b) => Some((*b).into()),
        ExprKind::Const(c) => Some(match c {
            Const::Bits => bits.into(),
            Const::IntMin => 1 << (w - 1),
            Const::IntMax => mask(w) >> 1,
            Const::UintMax => mask(w),
            Const::Nan => unfloat(f64::NAN, w),
            Const::Inf => unfloat(f64::INFINITY, w),
        }),
        ExprKind::Var { id, .. } => *scope.get(*id as usize)?,
        ExprKind::Let { id, value, body, .. } => {
            let value = eval(value, bits, scope)?;
            let at = *id as usize;
            scope.resize(scope.len().max(at + 1), None);
            scope[at] = Some(value);
            eval(body, bits, scope)
        }
        ExprKind::Unary(op, a) => {
            let v = eval(a, bits, scope)?;
            Some(match (op, e.ty.base) {
                (UnaryOp::Not, _) => !v & mask(w),
                (UnaryOp::Neg, Base::Float) => v ^ 1 << (w - 1),
                (UnaryOp::Neg, _) => v.wrapping_neg() & mask(w),
            })
        }
        ExprKind::Binary(op, a, b) => {
            let x = eval(a, bits, scope)?;
            match (op, x) {
                (BinaryOp::AndAlso, 0) => return Some(0),
                (BinaryOp::OrElse, 1) => return Some(1),
                _ => {}
            }
            let y = eval(b, bits, scope)?;
            match a.ty.base {
                Base::Float => float_op(*op, x, y, width(a.ty, bits)),
                _ => int_op(*op, x, y, a.ty, width(a.ty, bits)),
            }
        }
        ExprKind::If { condition, then, otherwise } => match eval(condition, bits, scope)? {
            0 => eval(otherwise, bits, scope),
            _ => eval(then, bits, scope),
        },
        ExprKind::Cast(a) => {
            let (v, from) = (eval(a, bits, scope)?, width(a.ty, bits));
            match (a.ty.base, e.ty.base) {
                (Base::Float, Base::Float) => Some(unfloat(float(v, from), w)),
                (Base::Float, _) => None,
                (_, Base::Float) => Some(unfloat(number(v, a.ty, from) as f64, w)),
                _ => Some(number(v, a.ty, from) as u64 & mask(w)),
            }
        }
        ExprKind::Call(prim, args) => {
            let values: Option<Vec<u64>> = args.iter().map(|a| eval(a, bits, scope)).collect();
            let ty = args.first()?.ty;
            call(*prim, &values?, ty, width(ty, bits), w)
        }
        _ => None,
    }
}

fn int_op(op: BinaryOp, x: u64, y: u64, ty: Ty, w: u32) -> Option<u64> {
    let (a, b) = (number(x, ty, w), number(y, ty, w));
    let count = y % u64::from(w.max(1));
    let value = match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        // What a division by zero gives is left open.
        BinaryOp::Div => a.checked_div(b)? as u64,
        BinaryOp::Rem => a.checked_rem(b)? as u64,
        BinaryOp::And | BinaryOp::AndAlso => x & y,
        BinaryOp::Or | BinaryOp::OrElse => x | y,
        BinaryOp::Xor => x ^ y,
        BinaryOp::Shl => x << count,
        BinaryOp::Shr => (a >> count) as u64,
        BinaryOp::Eq => return Some((a == b).into()),
        BinaryOp::Ne => return Some((a != b).into()),
        BinaryOp::Lt => return Some((a < b).into()),
        BinaryOp::Le => return Some((a <= b).into()),
        BinaryOp::Gt => return Some((a > b).into()),
        BinaryOp::Ge => return Some((a >= b).into()),
    };
    Some(value & mask(w))
}

fn float_op(op: BinaryOp, x: u64, y: u64, w: u32) -> Option<u64> {
    let (a, b) = (float(x, w), float(y, w));
    Some(match op {
        BinaryOp::Add => unfloat(a + b, w),
        BinaryOp::Sub => unfloat(a - b, w),
        BinaryOp::Mul => unfloat(a * b, w),
        BinaryOp::Div => unfloat(a / b, w),
        BinaryOp::Eq => (a == b).into(),
        BinaryOp::Ne => (a != b).into(),
        BinaryOp::Lt => (a < b).into(),
        BinaryOp::Le => (a <= b).into(),
        BinaryOp::Gt => (a > b).into(),
        BinaryOp::Ge => (a >= b).into(),
        _ => return None,
    })
}

/// A primitive; `w` is the width of the operands, `out` that of the result.
fn call(prim: Prim, v: &[u64], ty: Ty, w: u32, out: u32) -> Option<u64> {
    let x = *v.first()?;
    let y = v.get(1).copied().unwrap_or(0);
    if ty.base == Base::Float {
        let f = float(x, w);
        let smallest = match w {
            16 => 2f64.powi(-14),
            32 => f32::MIN_POSITIVE.into(),
            _ => f64::MIN_POSITIVE,
        };
        return Some(match prim {
            Prim::Trunc => unfloat(f.trunc(), w),
            Prim::Floor => unfloat(f.floor(), w),
            Prim::Ceil => unfloat(f.ceil(), w),
            Prim::RoundEven => unfloat(f.round_ties_even(), w),
            Prim::Abs => x & mask(w - 1),
            Prim::CopySign => x & mask(w - 1) | y & 1 << (w - 1),
            Prim::IsNan => f.is_nan().into(),
            Prim::IsInf => f.is_infinite().into(),
            Prim::IsFinite => f.is_finite().into(),
            Prim::IsNormal => (f.is_finite() && f.abs() >= smallest).into(),
            Prim::Bits => x,
            Prim::Significand if f.is_finite() && f != 0.0 => {
                let mut f = f;
                while f.abs() >= 1.0 {
                    f /= 2.0;
                }
                while f.abs() < 0.5 {
                    f *= 2.0;
                }
                unfloat(f, w)
            }
            Prim::Significand => x,
            _ => return None,
        });
    }
    let (a, b) = (number(x, ty, w), number(y, ty, w));
    let value = match prim {
        Prim::Abs => a.unsigned_abs() as u64,
        Prim::Min => a.min(b) as u64,
        Prim::Max => a.max(b) as u64,
        // The product of two unsigned 64-bit numbers only fits an unsigned one.
        Prim::MulHigh if ty.base == Base::Uint => (u128::from(x) * u128::from(y) >> w) as u64,
        Prim::MulHigh => (a * b >> w) as u64,
        Prim::CountOnes => x.count_ones().into(),
        Prim::LeadingZeros => u64::from(x.leading_zeros() - (64 - w)),
        Prim::TrailingZeros => u64::from(x.trailing_zeros().min(w)),
        Prim::Ilog2 => x.checked_ilog2().unwrap_or(0).into(),
        Prim::FromBits => x,
        _ => return None,
    };
    Some(value & mask(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Scope, SourceText, parse_expr};

    fn value(text: &str, bits: u8, vars: &[(&str, Ty, u64)]) -> Option<u64> {
        let scope: Vec<(&str, Ty)> = vars.iter().map(|v| (v.0, v.1)).collect();
        let source = SourceText::new(&"t".into(), 0, text);
        let e = parse_expr(&source, &Scope { vars: &scope, sizes: &[bits] }, Ty::BOOL).unwrap();
        evaluate(&e, bits.into(), &vars.iter().map(|v| v.2).collect::<Vec<_>>())
    }

    #[test]
    fn expressions_have_the_values_that_they_define() {
        let uint = |v| ("a", Ty::by_name("uint").unwrap(), v);
        let int = |v| ("a", Ty::by_name("int").unwrap(), v);
        let float = |v| ("a", Ty::by_name("float").unwrap(), v);
        assert_eq!(value("a != 0 && (a & (a - 1)) == 0", 8, &[uint(64)]), Some(1));
        assert_eq!(value("a != 0 && (a & (a - 1)) == 0", 8, &[uint(65)]), Some(0));
        assert_eq!(value("a < 0", 16, &[int(0x8000)]), Some(1));
        assert_eq!(value("a >> 1 == INT_MIN >> 1", 16, &[int(0x8000)]), Some(1));
        assert_eq!(value("mul_high(a, a) == UINT_MAX - 1", 64, &[uint(u64::MAX)]), Some(1));
        assert_eq!(value("a / 0 == 1", 8, &[uint(1)]), None);
        assert_eq!(value("trunc(a) == a", 16, &[float(0x3e00)]), Some(0));
        assert_eq!(value("is_normal(a)", 16, &[float(0x03ff)]), Some(0));
        assert_eq!(value("1.0 / a == 0.25", 16, &[float(0x4400)]), Some(1));
        assert_eq!(value("significand(a) == 0.5", 32, &[float(0x4180_0000)]), Some(1));
        assert_eq!(value("a >= 0.0", 32, &[float(0x7fc0_0000)]), Some(0));
    }
}
