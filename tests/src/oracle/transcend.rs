//! Transcendental functions: semantics 21.
//!
//! The special values are exact. Elsewhere the result must lie between bounds around the real value: at 16 and 32 bits
//! the host's f64 function, whose error is far below the result's last place, rounded once by the environment; at 64 bits
//! a 256-bit evaluation ([`super::big`]), give or take [`BOUND`] units in the last place.

use super::big::{self, Big, LN2, PI};
use super::fp::{self, Fp};
use super::{Lane, Table, Value, Want};
use std::cmp::Ordering;
use std::ops::{Div, Mul, Neg, Sub};

/// The error, in units in the last place, that a result at 64 bits may have.
pub const BOUND: u64 = 2;

/// The error, in units in the last place of an f64, of the two libraries behind a result at 16 or 32 bits together.
const HOST_BOUND: u64 = 4;

/// Adds the family to the table.
pub fn define(t: &mut Table) {
    t.family("transcendentals");
    for f in UNARY {
        t.each(f.name, "float -> float", |l| unary(l, f));
    }
    t.each("frsq", "float -> float", |l| rsqrt(l.fp(0), l.v[0]));
    t.each("fpow", "float, float -> float", |l| pow(l.fp(0), l.v[0], l.v[1]));
    t.each("fatan2", "float, float -> float", |l| atan2(l.fp(0), l.v[0], l.v[1]));
}

/// A function of one argument.
struct Unary {
    name: &'static str,
    /// What the function is at ±0, ±1, ±Inf and outside its domain, exactly.
    special: fn(f64) -> Option<f64>,
    host: fn(f64) -> f64,
    big: fn(f64) -> Big,
}

/// Odd functions through the origin.
fn odd(x: f64) -> Option<f64> {
    (x == 0.0).then_some(x)
}

/// Odd functions through the origin that are periodic, so have no limit.
fn odd_periodic(x: f64) -> Option<f64> {
    if x.is_infinite() { Some(f64::NAN) } else { odd(x) }
}

/// Odd functions through the origin with infinite limits.
fn odd_unbounded(x: f64) -> Option<f64> {
    if x.is_infinite() { Some(x) } else { odd(x) }
}

fn exponential(x: f64) -> Option<f64> {
    match x {
        0.0 => Some(1.0),
        f64::INFINITY => Some(x),
        f64::NEG_INFINITY => Some(0.0),
        _ => None,
    }
}

fn logarithm(x: f64) -> Option<f64> {
    match x {
        0.0 => Some(f64::NEG_INFINITY),
        1.0 => Some(0.0),
        f64::INFINITY => Some(x),
        _ if x < 0.0 => Some(f64::NAN),
        _ => None,
    }
}

/// Beyond this every exponential overflows or vanishes.
fn limited(x: f64) -> Big {
    Big::new(x.clamp(-5000.0, 5000.0))
}

const UNARY: &[Unary] = &[
    Unary {
        name: "fexp2",
        special: exponential,
        host: f64::exp2,
        big: |x| big::exp(limited(x).mul(*LN2)),
    },
    Unary { name: "fexp", special: exponential, host: f64::exp, big: |x| big::exp(limited(x)) },
    Unary {
        name: "flog2",
        special: logarithm,
        host: f64::log2,
        big: |x| big::ln(Big::new(x)).div(*LN2),
    },
    Unary { name: "flog", special: logarithm, host: f64::ln, big: |x| big::ln(Big::new(x)) },
    Unary { name: "fsin", special: odd_periodic, host: f64::sin, big: |x| big::sin_cos(x).0 },
    Unary {
        name: "fcos",
        special: |x| match x {
            0.0 => Some(1.0),
            _ if x.is_infinite() => Some(f64::NAN),
            _ => None,
        },
        host: f64::cos,
        big: |x| big::sin_cos(x).1,
    },
    Unary {
        name: "ftan",
        special: odd_periodic,
        host: f64::tan,
        big: |x| {
            let (s, c) = big::sin_cos(x);
            s.div(c)
        },
    },
    Unary {
        name: "fasin",
        special: |x| if x.abs() > 1.0 { Some(f64::NAN) } else { odd(x) },
        host: f64::asin,
        big: |x| big::atan2(Big::new(x), big::other_leg(x)),
    },
    Unary {
        name: "facos",
        special: |x| match x {
            1.0 => Some(0.0),
            _ if x.abs() > 1.0 => Some(f64::NAN),
            _ => None,
        },
        host: f64::acos,
        big: |x| big::atan2(big::other_leg(x), Big::new(x)),
    },
    Unary {
        name: "fatan",
        special: odd,
        host: f64::atan,
        big: |x| {
            if x.is_infinite() {
                let half = PI.shift(-1);
                if x < 0.0 { half.neg() } else { half }
            } else {
                big::atan(Big::new(x))
            }
        },
    },
    Unary {
        name: "fsinh",
        special: odd_unbounded,
        host: f64::sinh,
        big: |x| big::sinh_cosh(limited(x)).0,
    },
    Unary {
        name: "fcosh",
        special: |x| match x {
            0.0 => Some(1.0),
            _ if x.is_infinite() => Some(f64::INFINITY),
            _ => None,
        },
        host: f64::cosh,
        big: |x| big::sinh_cosh(limited(x)).1,
    },
    Unary {
        name: "ftanh",
        special: |x| if x.is_infinite() { Some(x.signum()) } else { odd(x) },
        host: f64::tanh,
        big: |x| {
            let (s, c) = big::sinh_cosh(limited(x));
            s.div(c)
        },
    },
    Unary { name: "fasinh", special: odd_unbounded, host: host_asinh, big: big::asinh },
    Unary {
        name: "facosh",
        special: |x| match x {
            1.0 => Some(0.0),
            f64::INFINITY => Some(x),
            _ if x < 1.0 => Some(f64::NAN),
            _ => None,
        },
        host: host_acosh,
        big: big::acosh,
    },
    Unary {
        name: "fatanh",
        special: |x| match x.abs() {
            1.0 => Some(f64::INFINITY.copysign(x)),
            magnitude if magnitude > 1.0 => Some(f64::NAN),
            _ => odd(x),
        },
        host: host_atanh,
        big: big::atanh,
    },
];

// The standard library writes these three out itself, less exactly than the C library does the others.
fn host_asinh(x: f64) -> f64 {
    big::asinh(x).to_f64().0
}

fn host_acosh(x: f64) -> f64 {
    big::acosh(x).to_f64().0
}

fn host_atanh(x: f64) -> f64 {
    big::atanh(x).to_f64().0
}

/// A pattern `steps` further from zero, or nearer to it; zero and infinity are the ends.
fn step(size: u32, bits: u64, steps: u64, outward: bool) -> u64 {
    let sign = bits & fp::sign_bit(size);
    let magnitude = bits ^ sign;
    sign | if outward {
        (magnitude + steps).min(fp::inf(size))
    } else {
        magnitude.saturating_sub(steps)
    }
}

/// Bounds around a real value known to the host only: `near` is right to [`HOST_BOUND`] units of an f64.
fn near_host(f: Fp, near: f64) -> Value {
    if near.is_nan() {
        return Value::bits(fp::nan(f.size));
    }
    let bound = |outward| f.from_f64(f64::from_bits(step(64, near.to_bits(), HOST_BOUND, outward)));
    Value {
        want: Want::Near { low: bound(false), high: bound(true), truth: near, tail: 0.0 },
        free: super::Free::No,
    }
}

/// Bounds around a real value at 64 bits.
fn near_big(f: Fp, real: Big) -> Value {
    let (truth, tail) = real.to_f64();
    let bound = |outward| f.operand(step(64, truth.to_bits(), BOUND, outward));
    Value {
        want: Want::Near { low: bound(false), high: bound(true), truth, tail },
        free: super::Free::No,
    }
}

/// `host` at 16 and 32 bits, `wide` at 64.
fn near(f: Fp, host: impl FnOnce() -> f64, wide: impl FnOnce() -> Big) -> Value {
    if f.size == 64 { near_big(f, wide()) } else { near_host(f, host()) }
}

/// An exact f64 as a result.
fn exact(f: Fp, value: f64) -> Value {
    Value::bits(f.from_f64(value))
}

fn unary(l: &Lane, function: &Unary) -> Value {
    let f = l.fp(0);
    let x = f.to_f64(f.operand(l.v[0]));
    if x.is_nan() {
        return Value::bits(fp::nan(f.size));
    }
    match (function.special)(x) {
        Some(value) => exact(f, value),
        None => near(f, || (function.host)(x), || (function.big)(x)),
    }
}

/// 1/√x: infinite with the sign of a zero, NaN below.
fn rsqrt(f: Fp, a: u64) -> Value {
    if f.size == 64 {
        return Value::bits(f.div(fp::one(64), f.sqrt(a)));
    }
    let x = f.to_f64(f.operand(a));
    match x {
        _ if x.is_nan() || x < 0.0 => Value::bits(fp::nan(f.size)),
        0.0 => exact(f, f64::INFINITY.copysign(x)),
        f64::INFINITY => exact(f, 0.0),
        _ => near_host(f, 1.0 / x.sqrt()),
    }
}

fn pow(f: Fp, a: u64, b: u64) -> Value {
    let (x, y) = (f.to_f64(f.operand(a)), f.to_f64(f.operand(b)));
    if x < 0.0 {
        return Value::bits(fp::nan(f.size));
    }
    if y == 0.0 {
        // 0^0, Inf^0 and NaN^0 through exp2(y · log2 x) are 0 · ±Inf or NaN.
        return Value::choice(fp::one(f.size), x == 0.0 || x.is_infinite() || x.is_nan());
    }
    if x == 1.0 {
        // exp2(y · log2 1) is NaN for an infinite y or NaN.
        return Value::choice(fp::one(f.size), !y.is_finite());
    }
    if x.is_nan() || y.is_nan() {
        return Value::bits(fp::nan(f.size));
    }
    // The limits at the ends: growth where the base is above 1 and the exponent positive, or both the other way.
    if x == 0.0 || x.is_infinite() || y.is_infinite() {
        return exact(f, if (x > 1.0) == (y > 0.0) { f64::INFINITY } else { 0.0 });
    }
    near(
        f,
        || x.powf(y),
        || {
            let exponent = Big::new(y).mul(big::ln(Big::new(x)));
            let beyond = exponent.exponent() > 12;
            big::exp(if beyond {
                Big::new(5000.0_f64.copysign(exponent.to_f64().0))
            } else {
                exponent
            })
        },
    )
}

/// The angle of the point (x, y) as C99 has it; GLSL leaves it open where both are zero.
fn atan2(f: Fp, a: u64, b: u64) -> Value {
    let (y, x) = (f.to_f64(f.operand(a)), f.to_f64(f.operand(b)));
    if y.is_nan() || x.is_nan() {
        return Value::bits(fp::nan(f.size));
    }
    let origin = x == 0.0 && y == 0.0;
    if (y == 0.0 && x.is_sign_positive()) || (x == f64::INFINITY && y.is_finite()) {
        let value = exact(f, 0.0_f64.copysign(y));
        return if origin { value.open() } else { value };
    }
    // Infinite coordinates stand for points far out on the axes or the diagonals.
    let reach = |v: f64, other: f64| match (v.is_infinite(), other.is_infinite()) {
        (true, _) => 1.0_f64.copysign(v),
        (false, true) => 0.0_f64.copysign(v),
        _ => v,
    };
    let (py, px) = (reach(y, x), reach(x, y));
    let value = near(
        f,
        || y.atan2(x),
        || {
            let angle = if py == 0.0 { *PI } else { big::atan2(Big::new(py).abs(), Big::new(px)) };
            if y.is_sign_negative() { angle.neg() } else { angle }
        },
    );
    if origin { value.open() } else { value }
}

fn difference(size: u32, got: u64, truth: f64, tail: f64) -> Big {
    let value = Fp { size, flush: false, rtz: false }.to_f64(got);
    Big::new(value).sub(Big::new(truth)).sub(Big::new(tail))
}

/// The distance of a result from the real value, in units in the last place of its size.
pub fn ulps(size: u32, got: u64, truth: f64, tail: f64) -> f64 {
    let (fraction, bias) = fp::layout(size);
    let largest = Fp { size, flush: false, rtz: false }.to_f64(fp::largest(size));
    let overflown = fp::is_inf(size, got) || truth.abs() > largest;
    let flushed = fp::is_zero(size, got) && truth.abs() < 2f64.powi(1 - bias);
    if overflown || flushed {
        return 0.0;
    }
    let exponent = if truth == 0.0 { i32::MIN } else { Big::new(truth).exponent() as i32 };
    let last = exponent.max(1 - bias) - fraction as i32;
    difference(size, got, truth, tail).shift(-i64::from(last)).to_f64().0.abs()
}

/// The distance of a result from the real value; infinite where it is not a number.
pub fn distance(size: u32, got: u64, truth: f64, tail: f64) -> f64 {
    if fp::is_nan(size, got) || fp::is_inf(size, got) {
        return f64::INFINITY;
    }
    difference(size, got, truth, tail).to_f64().0.abs()
}

/// Whether `got` lies between the bounds of a [`Want::Near`]: all of one sign, ordered by magnitude.
pub fn between(size: u32, got: u64, low: u64, high: u64) -> bool {
    let magnitude = |bits: u64| bits & !fp::sign_bit(size);
    let same_sign = fp::is_neg(size, got) == fp::is_neg(size, high);
    !fp::is_nan(size, got)
        && same_sign
        && magnitude(got).cmp(&magnitude(low)) != Ordering::Less
        && magnitude(got) <= magnitude(high)
}
