//! IEEE 754 binary16, binary32 and binary64 as bit patterns, from integer arithmetic.
//!
//! Every operation is correctly rounded, to nearest even or toward zero, and gives the same bits on every platform.
//! A value is a `u64` that holds its pattern in the low `w` bits, `w` being 16, 32 or 64. Denormals are computed with;
//! flushing them is the business of [`prim`](super::prim). A result that is NaN is the canonical one, [`nan`].
//!
//! An operation on finite operands computes `sig * 2^exp` exactly, or exactly but for a sticky bit far below the last
//! place, and leaves the rest to `round_pack`. Where hardware does the same (binary32 and binary64, to nearest), it
//! is let do it.

use crate::env::Rounding;

/// The layout of a binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Format {
    /// Bits of the exponent field.
    exp_bits: u32,
    /// Bits of the fraction field.
    frac_bits: u32,
}

impl Format {
    const fn of(w: u32) -> Format {
        match w {
            16 => Format { exp_bits: 5, frac_bits: 10 },
            32 => Format { exp_bits: 8, frac_bits: 23 },
            _ => Format { exp_bits: 11, frac_bits: 52 },
        }
    }

    const fn bias(self) -> i32 {
        (1 << (self.exp_bits - 1)) - 1
    }

    /// Exponent of the least normal number.
    const fn min_exp(self) -> i32 {
        1 - self.bias()
    }

    const fn sign_bit(self) -> u64 {
        1 << (self.exp_bits + self.frac_bits)
    }

    const fn frac_mask(self) -> u64 {
        (1 << self.frac_bits) - 1
    }

    /// The pattern of +Inf, which is the exponent field's mask.
    const fn inf(self) -> u64 {
        ((1 << self.exp_bits) - 1) << self.frac_bits
    }
}

/// A finite number `(-1)^sign * sig * 2^exp`.
#[derive(Clone, Copy, Debug)]
struct Number {
    sign: bool,
    sig: u128,
    exp: i32,
}

/// What a pattern stands for.
enum Class {
    Nan,
    Inf { sign: bool },
    Finite(Number),
}

fn classify(w: u32, a: u64) -> Class {
    let f = Format::of(w);
    let sign = a & f.sign_bit() != 0;
    let field = ((a & f.inf()) >> f.frac_bits) as i32;
    let frac = a & f.frac_mask();
    if a & f.inf() == f.inf() {
        return if frac == 0 { Class::Inf { sign } } else { Class::Nan };
    }
    // A denormal has the exponent of the least normal number and no implicit bit.
    let implicit = u64::from(field != 0) << f.frac_bits;
    let exp = field.max(1) - f.bias() - f.frac_bits as i32;
    Class::Finite(Number { sign, sig: u128::from(frac | implicit), exp })
}

fn signed(w: u32, sign: bool, magnitude: u64) -> u64 {
    magnitude | if sign { sign_bit(w) } else { 0 }
}

/// Rounds `(-1)^sign * (sig + s) * 2^exp` to `w` bits, where `s` is 0, or somewhere in (0, 1) if `sticky`.
///
/// `sig` has at most 127 bits, and with `sticky` at least as many as the result's significand plus two.
fn round_pack(w: u32, n: Number, sticky: bool, rounding: Rounding) -> u64 {
    let f = Format::of(w);
    let Number { sign, sig, exp } = n;
    if sig == 0 {
        return signed(w, sign, 0);
    }
    let to_zero = rounding == Rounding::Rtz;
    let overflow = if to_zero { f.inf() - 1 } else { f.inf() };
    let top = 127 - sig.leading_zeros() as i32;
    let e = top + exp;
    if e > f.bias() {
        return signed(w, sign, overflow);
    }
    // Exponents of the result: of its leading place if it is normal, and of its last place.
    let lead = e.max(f.min_exp());
    let shift = lead - f.frac_bits as i32 - exp;
    let (kept, half, rest) = match shift {
        ..=0 => (sig << -shift, false, sticky),
        1..=127 => {
            let below = sig & ((1u128 << (shift - 1)) - 1);
            (sig >> shift, sig >> (shift - 1) & 1 == 1, below != 0 || sticky)
        }
        _ => (0, false, true),
    };
    let up = !to_zero && half && (rest || kept & 1 == 1);
    // A carry out of the significand moves into the exponent field, as it should.
    let exponent_field = ((lead - f.min_exp()) as u64) << f.frac_bits;
    let pattern = exponent_field + kept as u64 + u64::from(up);
    signed(w, sign, if pattern >= f.inf() { overflow } else { pattern })
}

/// The sum of two numbers whose significands have at most 106 bits.
fn add_numbers(w: u32, a: Number, b: Number, rounding: Rounding) -> u64 {
    if a.sig == 0 && b.sig == 0 {
        // Zeros of unlike sign add up to +0 in both roundings.
        return signed(w, a.sign && b.sign, 0);
    }
    if a.sig == 0 || b.sig == 0 {
        return round_pack(w, if a.sig == 0 { b } else { a }, false, rounding);
    }
    // Bit 125 on top leaves room for a carry and 20 zeros below: a shift by up to 20 loses nothing, and after a longer
    // one the difference keeps 124 bits, so that a sticky bit decides the rounding.
    let (a, b) = (top_at_125(a), top_at_125(b));
    let (big, small) = if (a.exp, a.sig) >= (b.exp, b.sig) { (a, b) } else { (b, a) };
    let distance = (big.exp - small.exp) as u32;
    let (shifted, sticky) = match distance {
        0..=127 => (small.sig >> distance, small.sig & ((1u128 << distance) - 1) != 0),
        _ => (0, true),
    };
    let sig = if big.sign == small.sign {
        big.sig + shifted
    } else {
        // What was shifted out is taken away too: one unit less, and the sticky bit makes up for the rest of it.
        big.sig - shifted - u128::from(sticky)
    };
    let sign = big.sign && sig != 0;
    round_pack(w, Number { sign, sig, exp: big.exp }, sticky, rounding)
}

fn top_at_125(n: Number) -> Number {
    let shift = n.sig.leading_zeros() as i32 - 2;
    Number { sig: n.sig << shift, exp: n.exp - shift, ..n }
}

/// The significand with its highest bit at 63.
fn top_at_63(n: Number) -> (u64, i32) {
    let sig = n.sig as u64;
    let shift = sig.leading_zeros();
    (sig << shift, n.exp - shift as i32)
}

/// Whether hardware gives the wanted result for a basic operation at this size.
fn native(w: u32, rounding: Rounding) -> bool {
    w >= 32 && rounding != Rounding::Rtz
}

/// Does a basic operation in hardware; the result's NaN is made canonical.
macro_rules! in_hardware {
    ($w:expr, $($x:ident),+ => $e:expr) => {
        match $w {
            32 => { $(let $x = f32::from_bits($x as u32);)+ canonical_nan(32, u64::from(($e).to_bits())) }
            _ => { $(let $x = f64::from_bits($x);)+ canonical_nan(64, ($e).to_bits()) }
        }
    };
}

/// The canonical NaN: positive, quiet, no payload.
pub fn nan(w: u32) -> u64 {
    let f = Format::of(w);
    f.inf() | 1 << (f.frac_bits - 1)
}

/// Positive infinity.
pub fn inf(w: u32) -> u64 {
    Format::of(w).inf()
}

/// The sign bit.
pub fn sign_bit(w: u32) -> u64 {
    Format::of(w).sign_bit()
}

/// 1.0.
pub fn one(w: u32) -> u64 {
    let f = Format::of(w);
    (f.bias() as u64) << f.frac_bits
}

/// Whether the pattern is a NaN's.
pub fn is_nan(w: u32, a: u64) -> bool {
    a & !sign_bit(w) > inf(w)
}

/// Whether the pattern is an infinity's.
pub fn is_inf(w: u32, a: u64) -> bool {
    a & !sign_bit(w) == inf(w)
}

/// Whether the pattern is that of a number neither zero nor normal.
pub fn is_denormal(w: u32, a: u64) -> bool {
    a & inf(w) == 0 && a & !sign_bit(w) != 0
}

/// Whether the pattern is that of a normal number: not zero, denormal, infinite or NaN.
pub fn is_normal(w: u32, a: u64) -> bool {
    let field = a & inf(w);
    field != 0 && field != inf(w)
}

/// The canonical NaN for any NaN, else the operand.
pub fn canonical_nan(w: u32, a: u64) -> u64 {
    if is_nan(w, a) { nan(w) } else { a }
}

/// `a + b`.
pub fn add(w: u32, a: u64, b: u64, rounding: Rounding) -> u64 {
    if native(w, rounding) {
        return in_hardware!(w, a, b => a + b);
    }
    add_in_software(w, a, b, rounding)
}

fn add_in_software(w: u32, a: u64, b: u64, rounding: Rounding) -> u64 {
    match (classify(w, a), classify(w, b)) {
        (Class::Nan, _) | (_, Class::Nan) => nan(w),
        (Class::Inf { sign: x }, Class::Inf { sign: y }) if x != y => nan(w),
        (Class::Inf { sign }, _) | (_, Class::Inf { sign }) => signed(w, sign, inf(w)),
        (Class::Finite(x), Class::Finite(y)) => add_numbers(w, x, y, rounding),
    }
}

/// `a - b`.
pub fn sub(w: u32, a: u64, b: u64, rounding: Rounding) -> u64 {
    add(w, a, b ^ sign_bit(w), rounding)
}

/// `a * b`.
pub fn mul(w: u32, a: u64, b: u64, rounding: Rounding) -> u64 {
    if native(w, rounding) {
        return in_hardware!(w, a, b => a * b);
    }
    mul_in_software(w, a, b, rounding)
}

fn mul_in_software(w: u32, a: u64, b: u64, rounding: Rounding) -> u64 {
    match product(w, a, b) {
        Class::Nan => nan(w),
        Class::Inf { sign } => signed(w, sign, inf(w)),
        Class::Finite(p) => round_pack(w, p, false, rounding),
    }
}

/// The exact product, of at most 106 bits.
fn product(w: u32, a: u64, b: u64) -> Class {
    match (classify(w, a), classify(w, b)) {
        (Class::Nan, _) | (_, Class::Nan) => Class::Nan,
        (Class::Inf { sign: x }, Class::Inf { sign: y }) => Class::Inf { sign: x != y },
        (Class::Inf { .. }, Class::Finite(n)) | (Class::Finite(n), Class::Inf { .. })
            if n.sig == 0 =>
        {
            Class::Nan
        }
        (Class::Inf { sign }, Class::Finite(n)) | (Class::Finite(n), Class::Inf { sign }) => {
            Class::Inf { sign: sign != n.sign }
        }
        (Class::Finite(x), Class::Finite(y)) => {
            Class::Finite(Number { sign: x.sign != y.sign, sig: x.sig * y.sig, exp: x.exp + y.exp })
        }
    }
}

/// `a / b`.
pub fn div(w: u32, a: u64, b: u64, rounding: Rounding) -> u64 {
    if native(w, rounding) {
        return in_hardware!(w, a, b => a / b);
    }
    div_in_software(w, a, b, rounding)
}

fn div_in_software(w: u32, a: u64, b: u64, rounding: Rounding) -> u64 {
    match (classify(w, a), classify(w, b)) {
        (Class::Nan, _) | (_, Class::Nan) | (Class::Inf { .. }, Class::Inf { .. }) => nan(w),
        (Class::Inf { sign }, Class::Finite(n)) => signed(w, sign != n.sign, inf(w)),
        (Class::Finite(n), Class::Inf { sign }) => signed(w, sign != n.sign, 0),
        (Class::Finite(x), Class::Finite(y)) => {
            let sign = x.sign != y.sign;
            match (x.sig, y.sig) {
                (0, 0) => nan(w),
                (0, _) => signed(w, sign, 0),
                (_, 0) => signed(w, sign, inf(w)),
                _ => {
                    let ((num, num_exp), (den, den_exp)) = (top_at_63(x), top_at_63(y));
                    let (num, den) = (u128::from(num) << 63, u128::from(den));
                    let quotient = Number { sign, sig: num / den, exp: num_exp - 63 - den_exp };
                    round_pack(w, quotient, num % den != 0, rounding)
                }
            }
        }
    }
}

/// The square root; NaN for negative numbers, -0 for -0.
pub fn sqrt(w: u32, a: u64, rounding: Rounding) -> u64 {
    match classify(w, a) {
        Class::Nan | Class::Inf { sign: true } => nan(w),
        Class::Inf { sign: false } => a,
        Class::Finite(Number { sig: 0, .. }) => a,
        Class::Finite(Number { sign: true, .. }) => nan(w),
        Class::Finite(n) => {
            // An even exponent and as many bits as fit: the root has 63 or 64.
            let (sig, exp) = top_at_63(n);
            let shift = if exp & 1 == 0 { 62 } else { 63 };
            let square = u128::from(sig) << shift;
            let root = square.isqrt();
            let n = Number { sign: false, sig: root, exp: (exp - shift) / 2 };
            round_pack(w, n, root * root != square, rounding)
        }
    }
}

/// `a * b + c`, rounded once.
pub fn fma(w: u32, a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    match (product(w, a, b), classify(w, c)) {
        (Class::Nan, _) | (_, Class::Nan) => nan(w),
        (Class::Inf { sign: x }, Class::Inf { sign: y }) if x != y => nan(w),
        (Class::Inf { sign }, _) | (_, Class::Inf { sign }) => signed(w, sign, inf(w)),
        (Class::Finite(p), Class::Finite(n)) => add_numbers(w, p, n, rounding),
    }
}

/// Which integer [`round_integral`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integral {
    /// The nearest, the even one of two.
    Even,
    /// The next one toward zero.
    Zero,
    /// The next one below.
    Floor,
    /// The next one above.
    Ceil,
}

/// The operand as an integral number of the same format. Exact; zeros, infinities and signs are kept.
pub fn round_integral(w: u32, a: u64, to: Integral) -> u64 {
    if is_nan(w, a) {
        return nan(w);
    }
    let f = Format::of(w);
    let (sign, magnitude) = (a & f.sign_bit(), a & !f.sign_bit());
    let e = (magnitude >> f.frac_bits) as i32 - f.bias();
    if e >= f.frac_bits as i32 || magnitude == 0 {
        return a;
    }
    let away = match to {
        Integral::Zero | Integral::Even => false,
        Integral::Floor => sign != 0,
        Integral::Ceil => sign == 0,
    };
    if e < 0 {
        let half = one(w) - (1 << f.frac_bits);
        let up = away || to == Integral::Even && magnitude > half;
        return sign | if up { one(w) } else { 0 };
    }
    let unit = 1u64 << (f.frac_bits as i32 - e);
    let rest = magnitude & (unit - 1);
    let down = magnitude - rest;
    let up = match to {
        // At e = 0 the unit's place is that of the implicit bit, which is 1.
        Integral::Even => {
            let odd = e == 0 || down & unit != 0;
            rest > unit / 2 || rest == unit / 2 && odd
        }
        _ => away && rest != 0,
    };
    sign | (down + if up { unit } else { 0 })
}

/// The value at another width.
pub fn convert(from: u32, to: u32, a: u64, rounding: Rounding) -> u64 {
    match classify(from, a) {
        Class::Nan => nan(to),
        Class::Inf { sign } => signed(to, sign, inf(to)),
        Class::Finite(n) => round_pack(to, n, false, rounding),
    }
}

/// An integer as a float.
pub fn from_integer(w: u32, negative: bool, magnitude: u64, rounding: Rounding) -> u64 {
    round_pack(w, Number { sign: negative, sig: u128::from(magnitude), exp: 0 }, false, rounding)
}

/// The integer part; `None` for NaN, and ±2^100 for what is beyond that.
pub fn to_integer(w: u32, a: u64) -> Option<i128> {
    const FAR: i128 = 1 << 100;
    let (sign, magnitude) = match classify(w, a) {
        Class::Nan => return None,
        Class::Inf { sign } => (sign, FAR),
        Class::Finite(n) => {
            let magnitude = match n.exp {
                ..=-64 => 0,
                -63..0 => (n.sig >> -n.exp) as i128,
                0..=46 => (n.sig as i128) << n.exp,
                _ if n.sig == 0 => 0,
                _ => FAR,
            };
            (n.sign, magnitude.min(FAR))
        }
    };
    Some(if sign { -magnitude } else { magnitude })
}

/// `a * 2^n`, rounded once.
pub fn scale(w: u32, a: u64, n: i32, rounding: Rounding) -> u64 {
    match classify(w, a) {
        Class::Nan => nan(w),
        Class::Inf { .. } => a,
        // Beyond ±5000 every result is zero or infinite.
        Class::Finite(x) => {
            round_pack(w, Number { exp: x.exp + n.clamp(-5000, 5000), ..x }, false, rounding)
        }
    }
}

/// The significand in [0.5, 1) and the exponent of a finite number other than zero: `a = significand * 2^exponent`.
pub fn split(w: u32, a: u64) -> Option<(u64, i32)> {
    match classify(w, a) {
        Class::Finite(n) if n.sig != 0 => {
            let top = 127 - n.sig.leading_zeros() as i32;
            let half = Number { exp: -1 - top, ..n };
            Some((round_pack(w, half, false, Rounding::Rte), n.exp + top + 1))
        }
        _ => None,
    }
}

/// Whether `a == b`: false with NaN, true for zeros of unlike sign.
pub fn eq(w: u32, a: u64, b: u64) -> bool {
    !is_nan(w, a) && !is_nan(w, b) && (a == b || (a | b) & !sign_bit(w) == 0)
}

/// Whether `a < b`: false with NaN.
pub fn lt(w: u32, a: u64, b: u64) -> bool {
    !is_nan(w, a) && !is_nan(w, b) && order(w, a) < order(w, b)
}

/// Whether `a <= b`: false with NaN.
pub fn le(w: u32, a: u64, b: u64) -> bool {
    !is_nan(w, a) && !is_nan(w, b) && order(w, a) <= order(w, b)
}

/// An integer that orders numbers as they are; both zeros are 0.
fn order(w: u32, a: u64) -> i64 {
    let magnitude = (a & !sign_bit(w)) as i64;
    if a & sign_bit(w) != 0 { -magnitude } else { magnitude }
}

/// The value as a native number. Exact.
pub fn to_f64(w: u32, a: u64) -> f64 {
    f64::from_bits(convert(w, 64, a, Rounding::Rte))
}

/// A native number, rounded to `w` bits.
pub fn from_f64(w: u32, v: f64, rounding: Rounding) -> u64 {
    convert(64, w, v.to_bits(), rounding)
}

#[cfg(test)]
#[path = "float_tests.rs"]
mod tests;
