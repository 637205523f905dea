//! The primitives of the expression language, as the generated folders call them.
//!
//! A value is a `u64` that holds its pattern in the low bits, zeros above; `w`, `from` and `to` are bit sizes. Operands
//! and results are of that form, booleans within an expression are `bool`. What may fold in more than one way notes so
//! in the [`Cx`].

use super::Cx;

pub use super::prim_float::*;

/// The bits of a value of size `w`.
fn mask(w: u32) -> u64 {
    u64::MAX >> (64 - w)
}

/// The value as a signed integer.
fn signed(w: u32, a: u64) -> i64 {
    sext(w, a) as i64
}

/// The low `w` bits.
pub fn trunc(w: u32, a: u64) -> u64 {
    a & mask(w)
}

/// Sign extension from `w` bits to 64.
pub fn sext(w: u32, a: u64) -> u64 {
    let shift = 64 - w;
    (((a << shift) as i64) >> shift) as u64
}

/// Sum modulo 2^w.
pub fn iadd(w: u32, a: u64, b: u64) -> u64 {
    trunc(w, a.wrapping_add(b))
}

/// Difference modulo 2^w.
pub fn isub(w: u32, a: u64, b: u64) -> u64 {
    trunc(w, a.wrapping_sub(b))
}

/// Product modulo 2^w.
pub fn imul(w: u32, a: u64, b: u64) -> u64 {
    trunc(w, a.wrapping_mul(b))
}

/// Negation modulo 2^w.
pub fn ineg(w: u32, a: u64) -> u64 {
    trunc(w, a.wrapping_neg())
}

/// Complement.
pub fn inot(w: u32, a: u64) -> u64 {
    trunc(w, !a)
}

/// Signed quotient toward zero; 0 by zero, the least integer for that by -1.
pub fn idiv(w: u32, a: u64, b: u64) -> u64 {
    match b {
        0 => 0,
        _ => trunc(w, signed(w, a).wrapping_div(signed(w, b)) as u64),
    }
}

/// Unsigned quotient; 0 by zero.
pub fn udiv(_w: u32, a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(0)
}

/// Signed remainder with the dividend's sign; 0 by zero and by -1.
pub fn irem(w: u32, a: u64, b: u64) -> u64 {
    match b {
        0 => 0,
        _ => trunc(w, signed(w, a).wrapping_rem(signed(w, b)) as u64),
    }
}

/// Unsigned remainder; 0 by zero.
pub fn urem(_w: u32, a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(0)
}

/// Left shift by the count modulo `w`.
pub fn shl(w: u32, a: u64, count: u64) -> u64 {
    trunc(w, a << (count & u64::from(w - 1)))
}

/// Arithmetic right shift by the count modulo `w`.
pub fn ishr(w: u32, a: u64, count: u64) -> u64 {
    trunc(w, (signed(w, a) >> (count & u64::from(w - 1))) as u64)
}

/// Logical right shift by the count modulo `w`.
pub fn ushr(w: u32, a: u64, count: u64) -> u64 {
    a >> (count & u64::from(w - 1))
}

/// Signed less than.
pub fn ilt(w: u32, a: u64, b: u64) -> bool {
    signed(w, a) < signed(w, b)
}

/// Signed less than or equal.
pub fn ile(w: u32, a: u64, b: u64) -> bool {
    signed(w, a) <= signed(w, b)
}

/// The lesser of two signed integers.
pub fn imin(w: u32, a: u64, b: u64) -> u64 {
    if ilt(w, b, a) { b } else { a }
}

/// The greater of two signed integers.
pub fn imax(w: u32, a: u64, b: u64) -> u64 {
    if ilt(w, a, b) { b } else { a }
}

/// The lesser of two unsigned integers.
pub fn umin(_w: u32, a: u64, b: u64) -> u64 {
    a.min(b)
}

/// The greater of two unsigned integers.
pub fn umax(_w: u32, a: u64, b: u64) -> u64 {
    a.max(b)
}

/// Absolute value modulo 2^w.
pub fn iabs(w: u32, a: u64) -> u64 {
    trunc(w, signed(w, a).wrapping_abs() as u64)
}

/// The high half of the signed product.
pub fn imul_high(w: u32, a: u64, b: u64) -> u64 {
    let product = i128::from(signed(w, a)) * i128::from(signed(w, b));
    trunc(w, (product >> w) as u64)
}

/// The high half of the unsigned product.
pub fn umul_high(w: u32, a: u64, b: u64) -> u64 {
    trunc(w, ((u128::from(a) * u128::from(b)) >> w) as u64)
}

/// A signed integer limited to `w` bits.
fn clamp_signed(w: u32, v: i128) -> u64 {
    let max = (1i128 << (w - 1)) - 1;
    trunc(w, v.clamp(-max - 1, max) as u64)
}

/// An integer limited to the unsigned range of `w` bits.
fn clamp_unsigned(w: u32, v: i128) -> u64 {
    v.clamp(0, i128::from(mask(w))) as u64
}

/// Signed sum limited to the range of the type.
pub fn iadd_sat(w: u32, a: u64, b: u64) -> u64 {
    clamp_signed(w, i128::from(signed(w, a)) + i128::from(signed(w, b)))
}

/// Unsigned sum limited to the range of the type.
pub fn uadd_sat(w: u32, a: u64, b: u64) -> u64 {
    clamp_unsigned(w, i128::from(a) + i128::from(b))
}

/// Signed difference limited to the range of the type.
pub fn isub_sat(w: u32, a: u64, b: u64) -> u64 {
    clamp_signed(w, i128::from(signed(w, a)) - i128::from(signed(w, b)))
}

/// Unsigned difference limited to the range of the type.
pub fn usub_sat(w: u32, a: u64, b: u64) -> u64 {
    clamp_unsigned(w, i128::from(a) - i128::from(b))
}

/// The number of ones.
pub fn count_ones(_w: u32, a: u64) -> u64 {
    u64::from(a.count_ones())
}

/// The number of zeros above the highest one; `w` for 0.
pub fn leading_zeros(w: u32, a: u64) -> u64 {
    u64::from(a.leading_zeros() - (64 - w))
}

/// The number of zeros below the lowest one; `w` for 0.
pub fn trailing_zeros(w: u32, a: u64) -> u64 {
    u64::from(a.trailing_zeros().min(w))
}

/// The bits in reverse order.
pub fn reverse_bits(w: u32, a: u64) -> u64 {
    a.reverse_bits() >> (64 - w)
}

/// The number of the highest one; 0 for 0.
pub fn ilog2(_w: u32, a: u64) -> u64 {
    u64::from(a.checked_ilog2().unwrap_or(0))
}

/// A boolean at `w` bits: 0 or all ones.
pub fn from_bool(w: u32, b: bool) -> u64 {
    if b { mask(w) } else { 0 }
}

/// Either operand: the first.
pub fn choose(cx: &mut Cx, a: u64, b: u64) -> u64 {
    cx.free |= a != b;
    a
}

/// Either operand: the first.
pub fn choose_bool(cx: &mut Cx, a: bool, b: bool) -> bool {
    cx.free |= a != b;
    a
}

/// Any value: 0.
pub fn any(cx: &mut Cx) -> u64 {
    cx.free = true;
    0
}

/// What a broken promise gives: 0.
pub fn poison(cx: &mut Cx) -> u64 {
    cx.free = true;
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of 8-bit integers against arithmetic in `i64`.
    #[test]
    fn eight_bit_arithmetic_is_that_of_the_integers() {
        let low = |v: i64| v as u64 & 0xff;
        for a in 0..256u64 {
            for b in 0..256u64 {
                let (x, y) = (a as u8 as i8 as i64, b as u8 as i8 as i64);
                let (u, v) = (a as i64, b as i64);
                assert_eq!(iadd(8, a, b), low(x + y));
                assert_eq!(isub(8, a, b), low(x - y));
                assert_eq!(imul(8, a, b), low(x * y));
                assert_eq!(imul_high(8, a, b), low((x * y) >> 8));
                assert_eq!(umul_high(8, a, b), low((u * v) >> 8));
                assert_eq!(iadd_sat(8, a, b), low((x + y).clamp(-128, 127)));
                assert_eq!(isub_sat(8, a, b), low((x - y).clamp(-128, 127)));
                assert_eq!(uadd_sat(8, a, b), low((u + v).min(255)));
                assert_eq!(usub_sat(8, a, b), low((u - v).max(0)));
                assert_eq!(imin(8, a, b), low(x.min(y)));
                assert_eq!(imax(8, a, b), low(x.max(y)));
                assert_eq!(ilt(8, a, b), x < y);
                assert_eq!(ile(8, a, b), x <= y);
                assert_eq!(idiv(8, a, b), if y == 0 { 0 } else { low(x / y) });
                assert_eq!(irem(8, a, b), if y == 0 { 0 } else { low(x % y) });
                assert_eq!(udiv(8, a, b), if v == 0 { 0 } else { low(u / v) });
                assert_eq!(urem(8, a, b), if v == 0 { 0 } else { low(u % v) });
                assert_eq!(shl(8, a, b), low(u << (v % 8)));
                assert_eq!(ishr(8, a, b), low(x >> (v % 8)));
                assert_eq!(ushr(8, a, b), low(u >> (v % 8)));
            }
        }
    }

    #[test]
    fn extremes_of_64_bits_wrap() {
        let min = 1u64 << 63;
        assert_eq!(idiv(64, min, u64::MAX), min);
        assert_eq!(irem(64, min, u64::MAX), 0);
        assert_eq!(iabs(64, min), min);
        assert_eq!(ineg(64, min), min);
        assert_eq!(iadd_sat(64, min, u64::MAX), min);
        assert_eq!(uadd_sat(64, min, min), u64::MAX);
        assert_eq!(umul_high(64, u64::MAX, u64::MAX), u64::MAX - 1);
        assert_eq!(imul_high(64, min, min), 1 << 62);
    }

    #[test]
    fn bit_counts_know_their_size() {
        for w in [1, 8, 16, 32, 64] {
            assert_eq!(leading_zeros(w, 0), u64::from(w));
            assert_eq!(trailing_zeros(w, 0), u64::from(w));
            assert_eq!(leading_zeros(w, 1), u64::from(w - 1));
            assert_eq!(reverse_bits(w, 1), 1 << (w - 1));
            assert_eq!(from_bool(w, true), u64::MAX >> (64 - w));
            assert_eq!(sext(w, 1 << (w - 1)), u64::MAX << (w - 1));
        }
    }
}
