//! Primitives on floats: [`float`](super::float) under the environment of a [`Cx`].
//!
//! Arithmetic flushes denormal operands and results where the environment says `flush`, and notes a NaN that it gives.
//! Bit operations do neither.

use super::Cx;
use super::float::{self, Integral};
use super::prim::{sext, trunc};
use crate::env::{Denorm, Rounding};

/// A zero of the same sign for a denormal, if the environment flushes.
fn flush(cx: &Cx, w: u32, a: u64) -> u64 {
    if cx.env.denorm(w) == Denorm::Flush && float::is_denormal(w, a) {
        a & float::sign_bit(w)
    } else {
        a
    }
}

/// A result of arithmetic: flushed, and noted if it is NaN.
fn result(cx: &mut Cx, w: u32, a: u64) -> u64 {
    if float::is_nan(w, a) {
        cx.nan = true;
        return float::nan(w);
    }
    flush(cx, w, a)
}

/// A literal, rounded to nearest whatever the environment.
pub fn fconst(w: u32, v: f64) -> u64 {
    float::from_f64(w, v, Rounding::Rte)
}

/// The canonical NaN.
pub fn nan(w: u32) -> u64 {
    float::nan(w)
}

/// Positive infinity.
pub fn inf(w: u32) -> u64 {
    float::inf(w)
}

/// `a + b`.
pub fn fadd(cx: &mut Cx, w: u32, a: u64, b: u64) -> u64 {
    let r = float::add(w, flush(cx, w, a), flush(cx, w, b), cx.env.rounding(w));
    result(cx, w, r)
}

/// `a - b`.
pub fn fsub(cx: &mut Cx, w: u32, a: u64, b: u64) -> u64 {
    let r = float::sub(w, flush(cx, w, a), flush(cx, w, b), cx.env.rounding(w));
    result(cx, w, r)
}

/// `a * b`.
pub fn fmul(cx: &mut Cx, w: u32, a: u64, b: u64) -> u64 {
    let r = float::mul(w, flush(cx, w, a), flush(cx, w, b), cx.env.rounding(w));
    result(cx, w, r)
}

/// `a / b`.
pub fn fdiv(cx: &mut Cx, w: u32, a: u64, b: u64) -> u64 {
    let r = float::div(w, flush(cx, w, a), flush(cx, w, b), cx.env.rounding(w));
    result(cx, w, r)
}

/// `a * b + c`, rounded once.
pub fn fma(cx: &mut Cx, w: u32, a: u64, b: u64, c: u64) -> u64 {
    let (a, b, c) = (flush(cx, w, a), flush(cx, w, b), flush(cx, w, c));
    let r = float::fma(w, a, b, c, cx.env.rounding(w));
    result(cx, w, r)
}

/// Square root.
pub fn sqrt(cx: &mut Cx, w: u32, a: u64) -> u64 {
    let r = float::sqrt(w, flush(cx, w, a), cx.env.rounding(w));
    result(cx, w, r)
}

/// Reciprocal of the square root: at 16 and 32 bits rounded once from 64, at 64 bits after each step.
pub fn rsqrt(cx: &mut Cx, w: u32, a: u64) -> u64 {
    let a = flush(cx, w, a);
    let inner = if w == 64 { cx.env.rounding(64) } else { Rounding::Rte };
    let root = float::sqrt(64, float::convert(w, 64, a, Rounding::Rte), inner);
    let r = float::div(64, float::one(64), root, inner);
    let r = float::convert(64, w, r, cx.env.rounding(w));
    result(cx, w, r)
}

/// Whether `a == b` and neither is NaN.
pub fn feq(cx: &mut Cx, w: u32, a: u64, b: u64) -> bool {
    float::eq(w, flush(cx, w, a), flush(cx, w, b))
}

/// Whether `a < b` and neither is NaN.
pub fn flt(cx: &mut Cx, w: u32, a: u64, b: u64) -> bool {
    float::lt(w, flush(cx, w, a), flush(cx, w, b))
}

/// Whether `a <= b` and neither is NaN.
pub fn fle(cx: &mut Cx, w: u32, a: u64, b: u64) -> bool {
    float::le(w, flush(cx, w, a), flush(cx, w, b))
}

/// The sign bit inverted.
pub fn fneg(w: u32, a: u64) -> u64 {
    a ^ float::sign_bit(w)
}

/// The sign bit cleared.
pub fn fabs(w: u32, a: u64) -> u64 {
    a & !float::sign_bit(w)
}

/// `a` with the sign bit of `b`.
pub fn copysign(w: u32, a: u64, b: u64) -> u64 {
    fabs(w, a) | b & float::sign_bit(w)
}

/// Whether the bits are a NaN's.
pub fn is_nan(w: u32, a: u64) -> bool {
    float::is_nan(w, a)
}

/// Whether the bits are an infinity's.
pub fn is_inf(w: u32, a: u64) -> bool {
    float::is_inf(w, a)
}

/// Whether the bits are a number's.
pub fn is_finite(w: u32, a: u64) -> bool {
    fabs(w, a) < float::inf(w)
}

/// Whether the bits are a normal number's.
pub fn is_normal(w: u32, a: u64) -> bool {
    float::is_normal(w, a)
}

/// The bits of a float as an integer. Those of a NaN that this evaluation computed are free.
pub fn bits(cx: &mut Cx, w: u32, a: u64) -> u64 {
    cx.free |= cx.nan && float::is_nan(w, a);
    a
}

/// The operand as arithmetic passes it on: denormals flushed, NaN canonical.
pub fn canonicalize(cx: &mut Cx, w: u32, a: u64) -> u64 {
    result(cx, w, a)
}

fn integral(cx: &mut Cx, w: u32, a: u64, to: Integral) -> u64 {
    let r = float::round_integral(w, flush(cx, w, a), to);
    result(cx, w, r)
}

/// The nearest integer, the even one of two.
pub fn round_even(cx: &mut Cx, w: u32, a: u64) -> u64 {
    integral(cx, w, a, Integral::Even)
}

/// The integer part.
pub fn trunc_f(cx: &mut Cx, w: u32, a: u64) -> u64 {
    integral(cx, w, a, Integral::Zero)
}

/// The greatest integer not above the operand.
pub fn floor(cx: &mut Cx, w: u32, a: u64) -> u64 {
    integral(cx, w, a, Integral::Floor)
}

/// The least integer not below the operand.
pub fn ceil(cx: &mut Cx, w: u32, a: u64) -> u64 {
    integral(cx, w, a, Integral::Ceil)
}

/// A function of one operand from the library, in 64 bits, rounded once to the operand's size.
fn library(cx: &mut Cx, w: u32, a: u64, f: fn(f64) -> f64) -> u64 {
    let v = f(float::to_f64(w, flush(cx, w, a)));
    let r = float::from_f64(w, v, cx.env.rounding(w));
    result(cx, w, r)
}

macro_rules! library {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])* pub fn $name(cx: &mut Cx, w: u32, a: u64) -> u64 { library(cx, w, a, libm::$name) })*
    };
}

library! {
    /// 2 to the power of the operand.
    exp2;
    /// Logarithm to the base 2.
    log2;
    /// e to the power of the operand.
    exp;
    /// Natural logarithm.
    log;
    /// Sine.
    sin;
    /// Cosine.
    cos;
    /// Tangent.
    tan;
    /// Arc sine.
    asin;
    /// Arc cosine.
    acos;
    /// Arc tangent.
    atan;
    /// Hyperbolic sine.
    sinh;
    /// Hyperbolic cosine.
    cosh;
    /// Hyperbolic tangent.
    tanh;
    /// Inverse hyperbolic sine.
    asinh;
    /// Inverse hyperbolic tangent.
    atanh;
}

/// Inverse hyperbolic cosine; NaN below 1, where the library's algorithm is not meant to be used.
pub fn acosh(cx: &mut Cx, w: u32, a: u64) -> u64 {
    library(cx, w, a, |v| if v < 1.0 { f64::NAN } else { libm::acosh(v) })
}

fn library2(cx: &mut Cx, w: u32, a: u64, b: u64, f: fn(f64, f64) -> f64) -> u64 {
    let v = f(float::to_f64(w, flush(cx, w, a)), float::to_f64(w, flush(cx, w, b)));
    let r = float::from_f64(w, v, cx.env.rounding(w));
    result(cx, w, r)
}

/// `a` to the power of `b`, as the C library has it.
pub fn pow(cx: &mut Cx, w: u32, a: u64, b: u64) -> u64 {
    library2(cx, w, a, b, libm::pow)
}

/// The angle of the point with ordinate `a` and abscissa `b`.
pub fn atan2(cx: &mut Cx, w: u32, a: u64, b: u64) -> u64 {
    library2(cx, w, a, b, libm::atan2)
}

/// `x * 2^e`, rounded once to nearest and infinite where it is too large: the environment's rounding is not ldexp's
/// (semantics 16, 21). `e` is a signed integer of 32 bits.
pub fn ldexp(cx: &mut Cx, w: u32, x: u64, e: u64) -> u64 {
    let r = float::scale(w, flush(cx, w, x), e as u32 as i32, Rounding::Rte);
    result(cx, w, r)
}

/// The significand in [0.5, 1); zeros, infinities and NaN are passed on.
pub fn frexp_sig(cx: &mut Cx, w: u32, x: u64) -> u64 {
    let x = flush(cx, w, x);
    let r = float::split(w, x).map_or(x, |(significand, _)| significand);
    result(cx, w, r)
}

/// The exponent that belongs to [`frexp_sig`], a signed integer of 32 bits; 0 for zeros, infinities and NaN.
pub fn frexp_exp(cx: &mut Cx, w: u32, x: u64) -> u64 {
    let exponent = float::split(w, flush(cx, w, x)).map_or(0, |(_, exponent)| exponent);
    u64::from(exponent as u32)
}

/// A float at another size, rounded by the environment of that size. At its own size it is a move (semantics 23).
pub fn f2f(cx: &mut Cx, from: u32, to: u32, a: u64) -> u64 {
    if from == to {
        return a;
    }
    let r = float::convert(from, to, flush(cx, from, a), cx.env.rounding(to));
    result(cx, to, r)
}

/// A signed integer as a float.
pub fn i2f(cx: &mut Cx, from: u32, to: u32, a: u64) -> u64 {
    let v = sext(from, a) as i64;
    let r = float::from_integer(to, v < 0, v.unsigned_abs(), cx.env.rounding(to));
    result(cx, to, r)
}

/// An unsigned integer as a float.
pub fn u2f(cx: &mut Cx, _from: u32, to: u32, a: u64) -> u64 {
    let r = float::from_integer(to, false, a, cx.env.rounding(to));
    result(cx, to, r)
}

/// 1.0 or 0.0.
pub fn bool_to_float(w: u32, b: bool) -> u64 {
    if b { float::one(w) } else { 0 }
}

/// The least and the greatest integer of `to` bits.
fn range(to: u32, is_signed: bool) -> (i128, i128) {
    match is_signed {
        true => (-(1i128 << (to - 1)), (1i128 << (to - 1)) - 1),
        false => (0, (1i128 << to) - 1),
    }
}

fn to_int(cx: &mut Cx, from: u32, to: u32, a: u64, is_signed: bool) -> u64 {
    let (min, max) = range(to, is_signed);
    match float::to_integer(from, a) {
        Some(v) if (min..=max).contains(&v) => trunc(to, v as u64),
        _ => {
            cx.free = true;
            0
        }
    }
}

fn to_int_sat(from: u32, to: u32, a: u64, is_signed: bool) -> u64 {
    let (min, max) = range(to, is_signed);
    float::to_integer(from, a).map_or(0, |v| trunc(to, v.clamp(min, max) as u64))
}

/// The integer part, signed; any value where it does not fit.
pub fn f2i(cx: &mut Cx, from: u32, to: u32, a: u64) -> u64 {
    to_int(cx, from, to, a, true)
}

/// The integer part, unsigned; any value where it does not fit.
pub fn f2u(cx: &mut Cx, from: u32, to: u32, a: u64) -> u64 {
    to_int(cx, from, to, a, false)
}

/// The integer part limited to the signed range; 0 for NaN.
pub fn f2i_sat(_cx: &mut Cx, from: u32, to: u32, a: u64) -> u64 {
    to_int_sat(from, to, a, true)
}

/// The integer part limited to the unsigned range; 0 for NaN.
pub fn f2u_sat(_cx: &mut Cx, from: u32, to: u32, a: u64) -> u64 {
    to_int_sat(from, to, a, false)
}

/// A float at 16 bits, to nearest even whatever the environment's rounding.
pub fn round_to_f16_rtne(cx: &mut Cx, from: u32, a: u64) -> u64 {
    if from == 16 {
        return a;
    }
    let r = float::convert(from, 16, flush(cx, from, a), Rounding::Rte);
    result(cx, 16, r)
}

/// A float at 16 bits, toward zero whatever the environment's rounding.
pub fn round_to_f16_rtz(cx: &mut Cx, from: u32, a: u64) -> u64 {
    if from == 16 {
        return a;
    }
    let r = float::convert(from, 16, flush(cx, from, a), Rounding::Rtz);
    result(cx, 16, r)
}

/// The value rounded to nearest to what 16 bits can hold, zero where it is below 2^-14 (SPIR-V's OpQuantizeToF16).
pub fn quantize_f16(cx: &mut Cx, w: u32, a: u64) -> u64 {
    let least_normal = float::from_f64(w, 1.0 / 16384.0, Rounding::Rte);
    let r = if float::lt(w, fabs(w, a), least_normal) {
        a & float::sign_bit(w)
    } else {
        let half = float::convert(w, 16, a, Rounding::Rte);
        float::convert(16, w, half, Rounding::Rte)
    };
    result(cx, w, r)
}
