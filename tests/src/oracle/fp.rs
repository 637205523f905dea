//! IEEE 754 arithmetic at 16, 32 and 64 bits under a float environment.
//!
//! Add, multiply, divide, fuse and convert are `rustc_apfloat`'s. What it lacks (square root, scaling with a rounding of
//! its own) is integer arithmetic ending in [`round_parts`], against which the tests also hold `rustc_apfloat`.

use super::{Denorm, Env, Rounding};
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use std::cmp::Ordering;

/// One float size under one environment. Every method takes and gives bit patterns.
#[derive(Clone, Copy, Debug)]
pub struct Fp {
    /// 16, 32 or 64.
    pub size: u32,
    /// Denormal operands and results become zeros of their sign.
    pub flush: bool,
    /// Toward zero instead of to nearest even.
    pub rtz: bool,
}

/// Fraction bits and exponent bias of a float size.
pub fn layout(size: u32) -> (u32, i32) {
    match size {
        16 => (10, 15),
        32 => (23, 127),
        _ => (52, 1023),
    }
}

/// The sign bit of a float size.
pub fn sign_bit(size: u32) -> u64 {
    1 << (size - 1)
}

/// +Inf of a float size.
pub fn inf(size: u32) -> u64 {
    let (fraction, _) = layout(size);
    (sign_bit(size) - 1) >> fraction << fraction
}

/// The quiet NaN that the folder gives: positive, no payload.
pub fn nan(size: u32) -> u64 {
    inf(size) | 1 << (layout(size).0 - 1)
}

/// Largest finite value.
pub fn largest(size: u32) -> u64 {
    inf(size) - 1
}

/// 1.0 of a float size.
pub fn one(size: u32) -> u64 {
    let (fraction, bias) = layout(size);
    (bias as u64) << fraction
}

/// Whether the pattern is a NaN.
pub fn is_nan(size: u32, a: u64) -> bool {
    a & !sign_bit(size) > inf(size)
}

/// Whether the pattern is an infinity.
pub fn is_inf(size: u32, a: u64) -> bool {
    a & !sign_bit(size) == inf(size)
}

/// Whether the pattern is a zero.
pub fn is_zero(size: u32, a: u64) -> bool {
    a & !sign_bit(size) == 0
}

/// Whether the pattern is a denormal number, zeros apart.
pub fn is_denormal(size: u32, a: u64) -> bool {
    let magnitude = a & !sign_bit(size);
    magnitude != 0 && magnitude < 1 << layout(size).0
}

/// Whether the sign bit is set.
pub fn is_neg(size: u32, a: u64) -> bool {
    a & sign_bit(size) != 0
}

/// Sign, integer significand and exponent of a finite value: `(-1)^neg · significand · 2^exponent`.
pub fn parts(size: u32, a: u64) -> (bool, u64, i32) {
    let (fraction, bias) = layout(size);
    let field = ((a & !sign_bit(size)) >> fraction) as i32;
    let low = a & ((1 << fraction) - 1);
    if field == 0 {
        (is_neg(size, a), low, 1 - bias - fraction as i32)
    } else {
        (is_neg(size, a), low | 1 << fraction, field - bias - fraction as i32)
    }
}

/// Rounds `(-1)^neg · significand · 2^exponent`, plus something below one unit of the significand where `sticky`.
///
/// Overflow gives Inf to nearest and the largest number toward zero (IEEE 754-2019, 7.4).
pub fn round_parts(
    size: u32,
    neg: bool,
    significand: u128,
    exponent: i32,
    sticky: bool,
    rtz: bool,
) -> u64 {
    let sign = if neg { sign_bit(size) } else { 0 };
    if significand == 0 {
        return sign;
    }
    let (fraction, bias) = layout(size);
    let precision = fraction as i32 + 1;
    let length = 128 - significand.leading_zeros() as i32;
    let lowest = 1 - bias - fraction as i32;
    // The exponent of the result's last place: `precision` bits, or what the denormals have.
    let last = (exponent + length - precision).max(lowest);
    let shift = last - exponent;
    let (mut kept, half, rest) = if shift <= 0 {
        (significand << -shift, false, sticky)
    } else if shift > 128 {
        (0, false, true)
    } else {
        let half = significand >> (shift - 1) & 1 == 1;
        let rest = significand & ((1 << (shift - 1)) - 1) != 0 || sticky;
        (if shift == 128 { 0 } else { significand >> shift }, half, rest)
    };
    if !rtz && half && (rest || kept & 1 == 1) {
        kept += 1;
    }
    // `kept` with its implicit bit added to the exponent field carries over by itself.
    let bits = if kept >> fraction == 0 {
        kept as u64
    } else {
        let field = last - lowest;
        if field > 2 * bias {
            return sign | if rtz { largest(size) } else { inf(size) };
        }
        ((field as u64) << fraction) + kept as u64
    };
    if bits >= inf(size) {
        return sign | if rtz { largest(size) } else { inf(size) };
    }
    sign | bits
}

macro_rules! at_size {
    ($size:expr, $call:ident ( $($arg:expr),* )) => {
        match $size {
            16 => $call::<Half>($($arg),*),
            32 => $call::<Single>($($arg),*),
            _ => $call::<Double>($($arg),*),
        }
    };
}

fn add<F: Float>(a: u64, b: u64, round: Round) -> u64 {
    F::from_bits(a.into()).add_r(F::from_bits(b.into()), round).value.to_bits() as u64
}

fn mul<F: Float>(a: u64, b: u64, round: Round) -> u64 {
    F::from_bits(a.into()).mul_r(F::from_bits(b.into()), round).value.to_bits() as u64
}

fn div<F: Float>(a: u64, b: u64, round: Round) -> u64 {
    F::from_bits(a.into()).div_r(F::from_bits(b.into()), round).value.to_bits() as u64
}

fn fma<F: Float>(a: u64, b: u64, c: u64, round: Round) -> u64 {
    F::from_bits(a.into())
        .mul_add_r(F::from_bits(b.into()), F::from_bits(c.into()), round)
        .value
        .to_bits() as u64
}

fn to_integral<F: Float>(a: u64, round: Round) -> u64 {
    F::from_bits(a.into()).round_to_integral(round).value.to_bits() as u64
}

fn from_signed<F: Float>(value: i128, round: Round) -> u64 {
    F::from_i128_r(value, round).value.to_bits() as u64
}

fn compare<F: Float>(a: u64, b: u64) -> Option<Ordering> {
    F::from_bits(a.into()).partial_cmp(&F::from_bits(b.into()))
}

fn convert_from<F>(a: u64, to: u32, round: Round) -> u64
where
    F: Float + FloatConvert<Half> + FloatConvert<Single> + FloatConvert<Double>,
{
    let mut loses = false;
    let value = F::from_bits(a.into());
    match to {
        16 => FloatConvert::<Half>::convert_r(value, round, &mut loses).value.to_bits() as u64,
        32 => FloatConvert::<Single>::convert_r(value, round, &mut loses).value.to_bits() as u64,
        _ => FloatConvert::<Double>::convert_r(value, round, &mut loses).value.to_bits() as u64,
    }
}

impl Fp {
    /// The size under `env`. Under `any` the first choice is to keep denormals and to round to nearest even.
    pub fn new(size: u32, env: &Env) -> Fp {
        let slot = match size {
            16 => 0,
            32 => 1,
            _ => 2,
        };
        Fp {
            size,
            flush: env.denorm[slot] == Denorm::Flush,
            rtz: env.rounding[slot] == Rounding::Rtz,
        }
    }

    /// The same size and denormals, rounding to nearest even.
    pub fn rte(self) -> Fp {
        Fp { rtz: false, ..self }
    }

    /// The same size and denormals, rounding toward zero.
    pub fn rtz(self) -> Fp {
        Fp { rtz: true, ..self }
    }

    fn round(self) -> Round {
        if self.rtz { Round::TowardZero } else { Round::NearestTiesToEven }
    }

    /// An operand as arithmetic sees it.
    pub fn operand(self, a: u64) -> u64 {
        if self.flush && is_denormal(self.size, a) { a & sign_bit(self.size) } else { a }
    }

    /// A result as arithmetic leaves it: canonical NaN, denormals by the environment.
    pub fn result(self, a: u64) -> u64 {
        if is_nan(self.size, a) { nan(self.size) } else { self.operand(a) }
    }

    /// a + b.
    pub fn add(self, a: u64, b: u64) -> u64 {
        self.result(at_size!(self.size, add(self.operand(a), self.operand(b), self.round())))
    }

    /// a − b.
    pub fn sub(self, a: u64, b: u64) -> u64 {
        self.add(a, b ^ sign_bit(self.size))
    }

    /// a · b.
    pub fn mul(self, a: u64, b: u64) -> u64 {
        self.result(at_size!(self.size, mul(self.operand(a), self.operand(b), self.round())))
    }

    /// a / b.
    pub fn div(self, a: u64, b: u64) -> u64 {
        self.result(at_size!(self.size, div(self.operand(a), self.operand(b), self.round())))
    }

    /// a · b + c, rounded once.
    pub fn fma(self, a: u64, b: u64, c: u64) -> u64 {
        let (a, b, c) = (self.operand(a), self.operand(b), self.operand(c));
        self.result(at_size!(self.size, fma(a, b, c, self.round())))
    }

    /// The correctly rounded square root: √−0 = −0, of other negatives NaN.
    pub fn sqrt(self, a: u64) -> u64 {
        let a = self.operand(a);
        if is_nan(self.size, a) || is_zero(self.size, a) {
            return self.result(a);
        }
        if is_neg(self.size, a) {
            return nan(self.size);
        }
        if is_inf(self.size, a) {
            return a;
        }
        let (_, significand, exponent) = parts(self.size, a);
        // An even exponent, and enough bits that the integer root has twice the precision that rounding needs.
        let mut shift = significand.leading_zeros() as i32 + 60;
        if (exponent - shift) % 2 != 0 {
            shift -= 1;
        }
        let scaled = u128::from(significand) << shift;
        let root = scaled.isqrt();
        let inexact = root * root != scaled;
        self.result(round_parts(self.size, false, root, (exponent - shift) / 2, inexact, self.rtz))
    }

    /// Rounds to an integral value; keeps −0.
    pub fn integral(self, a: u64, round: Round) -> u64 {
        self.result(at_size!(self.size, to_integral(self.operand(a), round)))
    }

    /// The nearest integral value toward −Inf.
    pub fn floor(self, a: u64) -> u64 {
        self.integral(a, Round::TowardNegative)
    }

    /// The nearest integral value toward zero.
    pub fn trunc(self, a: u64) -> u64 {
        self.integral(a, Round::TowardZero)
    }

    /// The nearest integral value, halves to even.
    pub fn round_even(self, a: u64) -> u64 {
        self.integral(a, Round::NearestTiesToEven)
    }

    /// The value of an integer, rounded.
    pub fn from_int(self, value: i128) -> u64 {
        self.result(at_size!(self.size, from_signed(value, self.round())))
    }

    /// A value of the size that `from` describes, converted to this one: the operand's denormals by `from`, rounding and
    /// the result's denormals by `self`.
    pub fn convert(self, from: Fp, a: u64) -> u64 {
        let a = from.operand(a);
        self.result(match from.size {
            16 => convert_from::<Half>(a, self.size, self.round()),
            32 => convert_from::<Single>(a, self.size, self.round()),
            _ => convert_from::<Double>(a, self.size, self.round()),
        })
    }

    /// IEEE order of two operands; `None` if one is NaN.
    pub fn order(self, a: u64, b: u64) -> Option<Ordering> {
        at_size!(self.size, compare(self.operand(a), self.operand(b)))
    }

    /// a · 2^n, rounded once to nearest even; overflow gives Inf.
    pub fn scale(self, a: u64, n: i64) -> u64 {
        let a = self.operand(a);
        if is_nan(self.size, a) || is_inf(self.size, a) || is_zero(self.size, a) {
            return self.result(a);
        }
        let (neg, significand, exponent) = parts(self.size, a);
        let exponent = (i64::from(exponent) + n).clamp(-10_000, 10_000) as i32;
        self.result(round_parts(self.size, neg, significand.into(), exponent, false, false))
    }

    /// The operand truncated to an integer, saturating far outside every integer type; `None` for NaN.
    pub fn truncated(self, a: u64) -> Option<i128> {
        let a = self.operand(a);
        if is_nan(self.size, a) {
            return None;
        }
        let huge = 1i128 << 100;
        if is_inf(self.size, a) {
            return Some(if is_neg(self.size, a) { -huge } else { huge });
        }
        let (neg, significand, exponent) = parts(self.size, a);
        let magnitude = match exponent {
            0.. if exponent >= 47 => huge,
            0.. => i128::from(significand) << exponent,
            -63..=-1 => i128::from(significand >> -exponent),
            _ => 0,
        };
        Some(if neg { -magnitude } else { magnitude })
    }

    /// The value of an f64 constant in this size, to nearest even.
    pub fn constant(self, value: f64) -> u64 {
        convert_from::<Double>(value.to_bits(), self.size, Round::NearestTiesToEven)
    }

    /// The value as an f64: exact, whatever the environment.
    pub fn to_f64(self, a: u64) -> f64 {
        let bits = match self.size {
            16 => convert_from::<Half>(a, 64, Round::NearestTiesToEven),
            32 => convert_from::<Single>(a, 64, Round::NearestTiesToEven),
            _ => a,
        };
        f64::from_bits(bits)
    }

    /// An f64 value rounded to this size by the environment, as a result.
    pub fn from_f64(self, value: f64) -> u64 {
        self.convert(Fp { size: 64, flush: false, rtz: false }, value.to_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Env = Env { denorm: [Denorm::Keep; 3], rounding: [Rounding::Rte; 3] };

    fn patterns(size: u32) -> Vec<u64> {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut all = vec![0, 1, 2, one(size), nan(size), inf(size), largest(size), sign_bit(size)];
        for _ in 0..150 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            all.push(state.rotate_left(29) & (u64::MAX >> (64 - size)));
        }
        all
    }

    #[test]
    fn agrees_with_the_host_at_32_and_64_bits() {
        let (f, d) = (Fp::new(32, &KEEP), Fp::new(64, &KEEP));
        let canonical32 = |x: f32| if x.is_nan() { nan(32) } else { x.to_bits().into() };
        let canonical64 = |x: f64| if x.is_nan() { nan(64) } else { x.to_bits() };
        for &a in &patterns(32) {
            let x = f32::from_bits(a as u32);
            assert_eq!(f.sqrt(a), canonical32(x.sqrt()), "sqrt {a:x}");
            assert_eq!(f.floor(a), canonical32(x.floor()), "floor {a:x}");
            assert_eq!(f.round_even(a), canonical32(x.round_ties_even()), "round {a:x}");
            for &b in &patterns(32) {
                let y = f32::from_bits(b as u32);
                assert_eq!(f.add(a, b), canonical32(x + y), "{a:x} + {b:x}");
                assert_eq!(f.sub(a, b), canonical32(x - y), "{a:x} - {b:x}");
                assert_eq!(f.mul(a, b), canonical32(x * y), "{a:x} * {b:x}");
                assert_eq!(f.div(a, b), canonical32(x / y), "{a:x} / {b:x}");
                let z = f32::from_bits((a ^ b).rotate_left(7) as u32);
                assert_eq!(
                    f.fma(a, b, z.to_bits().into()),
                    canonical32(x.mul_add(y, z)),
                    "fma {a:x} {b:x}"
                );
            }
        }
        for &a in &patterns(64) {
            let x = f64::from_bits(a);
            assert_eq!(d.sqrt(a), canonical64(x.sqrt()), "sqrt {a:x}");
            assert_eq!(f.convert(d, a), canonical32(x as f32), "f64 to f32 {a:x}");
            assert_eq!(d.from_int((a as i64).into()), canonical64(a as i64 as f64));
            for &b in &patterns(64) {
                let y = f64::from_bits(b);
                assert_eq!(d.add(a, b), canonical64(x + y), "{a:x} + {b:x}");
                assert_eq!(d.mul(a, b), canonical64(x * y), "{a:x} * {b:x}");
                assert_eq!(d.div(a, b), canonical64(x / y), "{a:x} / {b:x}");
            }
        }
    }

    #[test]
    fn half_precision_agrees_with_wide_integers() {
        // Products and sums of halves are exact in 128-bit fixed point.
        for rtz in [false, true] {
            let f = Fp { size: 16, flush: false, rtz };
            for &a in &patterns(16) {
                for &b in &patterns(16) {
                    if [a, b].iter().any(|&x| is_nan(16, x) || is_inf(16, x)) {
                        continue;
                    }
                    let ((na, ma, ea), (nb, mb, eb)) = (parts(16, a), parts(16, b));
                    let product = round_parts(
                        16,
                        na != nb,
                        u128::from(ma) * u128::from(mb),
                        ea + eb,
                        false,
                        rtz,
                    );
                    assert_eq!(f.mul(a, b), product, "{a:x} * {b:x} {rtz}");
                    let fixed = |neg: bool, m: u64, e: i32| {
                        let v = i128::from(m) << (e + 24);
                        if neg { -v } else { v }
                    };
                    let sum = fixed(na, ma, ea) + fixed(nb, mb, eb);
                    if sum != 0 {
                        let want = round_parts(16, sum < 0, sum.unsigned_abs(), -24, false, rtz);
                        assert_eq!(f.add(a, b), want, "{a:x} + {b:x} {rtz}");
                    }
                    if mb != 0 {
                        let scaled = u128::from(ma) << 60;
                        let (q, r) = (scaled / u128::from(mb), scaled % u128::from(mb));
                        let want = round_parts(16, na != nb, q, ea - eb - 60, r != 0, rtz);
                        assert_eq!(f.div(a, b), want, "{a:x} / {b:x} {rtz}");
                    }
                }
            }
        }
    }

    #[test]
    fn square_roots_are_the_largest_whose_square_fits() {
        // Toward zero, r = √a is the largest with r² ≤ a; exhaustive over the positive halves.
        let f = Fp { size: 16, flush: false, rtz: true };
        for a in 1..inf(16) {
            let r = f.sqrt(a);
            let square = |x: u64| f.to_f64(x) * f.to_f64(x);
            assert!(square(r) <= f.to_f64(a) && square(r + 1) > f.to_f64(a), "{a:x} {r:x}");
        }
    }

    #[test]
    fn conversions_round_and_overflow_by_mode() {
        let d = Fp::new(64, &KEEP);
        let h = Fp { size: 16, flush: false, rtz: false };
        assert_eq!(h.convert(d, 65520.0f64.to_bits()), 0x7c00);
        assert_eq!(h.rtz().convert(d, 65520.0f64.to_bits()), 0x7bff);
        assert_eq!(h.convert(d, 65519.9f64.to_bits()), 0x7bff);
        let tiny = f64::from_bits(h.to_f64(1).to_bits());
        assert_eq!(h.convert(d, (tiny * 0.5).to_bits()), 0);
        assert_eq!(h.convert(d, (tiny * 0.51).to_bits()), 1);
        assert_eq!(Fp { flush: true, ..h }.convert(d, (tiny * 5.0).to_bits()), 0);
        for a in 0..0x10000u64 {
            let wide = d.convert(h, a);
            assert_eq!(h.convert(d, wide), if is_nan(16, a) { nan(16) } else { a });
        }
    }

    #[test]
    fn truncation_matches_saturating_casts() {
        let f = Fp::new(32, &KEEP);
        for &a in &patterns(32) {
            let x = f32::from_bits(a as u32);
            match f.truncated(a) {
                None => assert!(x.is_nan()),
                Some(v) => assert_eq!(
                    v.clamp(i64::MIN.into(), i64::MAX.into()),
                    i128::from(x as i64),
                    "{a:x}"
                ),
            }
        }
    }
}
