//! Float arithmetic without transcendentals: semantics 9 to 13 and 15 to 17.

use super::fp::{self, Fp};
use super::{Lane, Table, Value, wrap};
use std::cmp::Ordering;

/// Adds the family to the table.
pub fn define(t: &mut Table) {
    t.family("float arithmetic");
    arithmetic(t);
    t.family("float sign, min, max, rounding");
    signs(t);
    extremes(t);
    integral(t);
    t.family("float exponent");
    exponents(t);
}

fn arithmetic(t: &mut Table) {
    t.each("fadd", "float, float -> float", |l| Value::bits(l.fp(0).add(l.v[0], l.v[1])));
    t.each("fsub", "float, float -> float", |l| Value::bits(l.fp(0).sub(l.v[0], l.v[1])));
    t.each("fmul", "float, float -> float", |l| Value::bits(l.fp(0).mul(l.v[0], l.v[1])));
    t.each("fdiv", "float, float -> float", |l| Value::bits(l.fp(0).div(l.v[0], l.v[1])));
    t.each("frcp", "float -> float", |l| Value::bits(l.fp(0).div(fp::one(l.out), l.v[0])));
    t.each("fsqrt", "float -> float", |l| Value::bits(l.fp(0).sqrt(l.v[0])));
    t.each("ffma", "float, float, float -> float", |l| {
        Value::bits(l.fp(0).fma(l.v[0], l.v[1], l.v[2]))
    });
    t.each("fmad", "float, float, float -> float", |l| {
        let f = l.fp(0);
        let split = f.add(f.mul(l.v[0], l.v[1]), l.v[2]);
        Value::choice(split, split != f.fma(l.v[0], l.v[1], l.v[2]))
    });
    let absorbed = |l: &Lane| (0..2).any(|i| fp::is_zero(32, l.fp(0).operand(l.v[i])));
    t.each("fmulz", "float32, float32 -> float32", move |l| {
        Value::bits(if absorbed(l) { 0 } else { l.fp(0).mul(l.v[0], l.v[1]) })
    });
    t.each("ffmaz", "float32, float32, float32 -> float32", move |l| {
        let f = l.fp(0);
        Value::bits(if absorbed(l) { f.add(0, l.v[2]) } else { f.fma(l.v[0], l.v[1], l.v[2]) })
    });
    t.each("flrp", "float, float, float -> float", |l| {
        let f = l.fp(0);
        let rest = f.sub(fp::one(l.out), l.v[2]);
        Value::bits(f.add(f.mul(l.v[0], rest), f.mul(l.v[1], l.v[2])))
    });
    // a − b · ⌊a / b⌋ and a − b · trunc(a / b), each step rounded; of x by x it may be x.
    let remainder = |l: &Lane, whole: fn(Fp, u64) -> u64| {
        let f = l.fp(0);
        let value = f.sub(l.v[0], f.mul(l.v[1], whole(f, f.div(l.v[0], l.v[1]))));
        let equal = f.order(l.v[0], l.v[1]) == Some(Ordering::Equal);
        let other = if equal { f.operand(l.v[0]) } else { value };
        Value::choice(value, other != value)
    };
    t.each("fmod", "float, float -> float", move |l| remainder(l, Fp::floor));
    t.each("frem", "float, float -> float", move |l| remainder(l, Fp::trunc));
}

fn signs(t: &mut Table) {
    // The bits, whatever they are: NaNs keep their payload, denormals stay.
    t.each("fneg", "float -> float", |l| Value::bits(l.v[0] ^ fp::sign_bit(l.out)));
    t.each("fabs", "float -> float", |l| Value::bits(l.v[0] & !fp::sign_bit(l.out)));
    t.each("fcanonicalize", "float -> float", |l| {
        let f = l.fp(0);
        Value::bits(f.result(f.operand(l.v[0])))
    });
    t.each("fsat", "float -> float", |l| {
        let f = l.fp(0);
        match (f.order(l.v[0], 0), f.order(l.v[0], fp::one(l.out))) {
            (None, _) | (_, None) | (Some(Ordering::Less), _) => Value::bits(0),
            (Some(Ordering::Equal), _) => Value::choice(0, fp::is_neg(l.out, l.v[0])),
            (_, Some(Ordering::Less)) => Value::bits(f.operand(l.v[0])),
            _ => Value::bits(fp::one(l.out)),
        }
    });
    t.each("fsign", "float -> float", |l| {
        let f = l.fp(0);
        match f.order(l.v[0], 0) {
            None => Value::choice(0, true),
            Some(Ordering::Less) => Value::bits(fp::one(l.out) | fp::sign_bit(l.out)),
            Some(Ordering::Equal) => Value::bits(f.operand(l.v[0])),
            Some(Ordering::Greater) => Value::bits(fp::one(l.out)),
        }
    });
}

/// minimumNumber (`wanted` = Less) or maximumNumber of two operands, the first choice first: a NaN loses, zeros of both
/// signs are a choice. Where `any`, one NaN makes it a choice between the operands.
pub fn extreme_choices(f: Fp, a: u64, b: u64, wanted: Ordering, any: bool) -> Vec<u64> {
    let (a, b) = (f.operand(a), f.operand(b));
    match (fp::is_nan(f.size, a), fp::is_nan(f.size, b)) {
        (true, true) => vec![fp::nan(f.size)],
        (true, false) if any => vec![b, fp::nan(f.size)],
        (false, true) if any => vec![a, fp::nan(f.size)],
        (true, false) => vec![b],
        (false, true) => vec![a],
        (false, false) => match f.order(a, b) {
            Some(Ordering::Equal) if a != b => vec![a, b],
            order => vec![if order == Some(wanted) { a } else { b }],
        },
    }
}

fn extreme(l: &Lane, wanted: Ordering, any: bool) -> Value {
    let all = extreme_choices(l.fp(0), l.v[0], l.v[1], wanted, any);
    Value::choice(all[0], all.len() > 1)
}

fn extremes(t: &mut Table) {
    for (name, wanted) in [("fmin", Ordering::Less), ("fmax", Ordering::Greater)] {
        t.each(name, "float, float -> float", move |l| extreme(l, wanted, false));
        t.each(&format!("{name}_any"), "float, float -> float", move |l| extreme(l, wanted, true));
    }
}

fn integral(t: &mut Table) {
    use rustc_apfloat::Round;
    for (name, round) in [
        ("ffloor", Round::TowardNegative),
        ("fceil", Round::TowardPositive),
        ("ftrunc", Round::TowardZero),
        ("fround_even", Round::NearestTiesToEven),
    ] {
        t.each(name, "float -> float", move |l| Value::bits(l.fp(0).integral(l.v[0], round)));
    }
    // GLSL's round: a half goes to either neighbour, to the even one first.
    t.each("fround", "float -> float", |l| {
        let f = l.fp(0);
        // The difference from the whole part is exact.
        let rest = f.sub(l.v[0], f.trunc(l.v[0])) & !fp::sign_bit(l.out);
        let half = rest == f.constant(0.5);
        Value::choice(f.integral(l.v[0], Round::NearestTiesToEven), half)
    });
    t.each("ffract", "float -> float", |l| {
        let f = l.fp(0);
        let value = f.sub(l.v[0], f.floor(l.v[0]));
        Value::choice(value, value == fp::one(l.out))
    });
}

/// Significand in [0.5, 1) and exponent of a number; itself and 0 for what has none.
pub fn split(f: Fp, a: u64) -> (u64, i128) {
    let a = f.operand(a);
    if fp::is_nan(f.size, a) || fp::is_inf(f.size, a) || fp::is_zero(f.size, a) {
        return (f.result(a), 0);
    }
    let (neg, significand, exponent) = fp::parts(f.size, a);
    let length = 64 - significand.leading_zeros() as i32;
    (
        fp::round_parts(f.size, neg, significand.into(), -length, false, false),
        (exponent + length).into(),
    )
}

fn exponents(t: &mut Table) {
    t.each("ldexp", "float, int32 -> float", |l| Value::bits(l.fp(0).scale(l.v[0], l.s(1) as i64)));
    t.each("frexp_sig", "float -> float", |l| Value::bits(split(l.fp(0), l.v[0]).0));
    t.each("frexp_exp", "float -> int32", |l| {
        let f = l.fp(0);
        let (significand, exponent) = split(f, l.v[0]);
        let none = fp::is_nan(f.size, significand)
            || fp::is_inf(f.size, significand)
            || fp::is_zero(f.size, significand);
        Value::choice(wrap(exponent, 32), none)
    });
    t.each("fquantize2f16", "float -> float", |l| {
        let f = l.fp(0);
        if fp::is_nan(f.size, l.v[0]) {
            return Value::bits(fp::nan(f.size));
        }
        let a = f.operand(l.v[0]);
        if f.to_f64(a).abs() < 2f64.powi(-14) {
            return Value::bits(a & fp::sign_bit(f.size));
        }
        let half = Fp { size: 16, flush: false, rtz: false };
        Value::bits(f.result(f.convert(half, half.convert(f, a))))
    });
}
