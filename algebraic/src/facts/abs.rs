//! Sets of values that a component may have, and arithmetic on them.
//!
//! A set is an unsigned range, known bits and a float class together; a value is in it if it satisfies all three.
//! Every function here contains the result of the corresponding primitive for all members of its operands (tested
//! exhaustively at 8 bits), and is exact on singletons. The generated code that calls them comes from the `eval`
//! column of the opcode table and from the definitions of facts.
//!
//! Sections: the domain, integers, casts, branches; floats are in a file of their own.

mod float;

pub use float::*;

use super::class::{self, Class};
use deburr_ir_core::fold::{Cx, Denorm, FloatEnv, Rounding, prim};

// ---- the domain -------------------------------------------------------------------------------------

/// A set of bit patterns of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abs {
    /// Least unsigned value.
    pub lo: u64,
    /// Greatest unsigned value.
    pub hi: u64,
    /// Bits known to be zero.
    pub zeros: u64,
    /// Bits known to be one.
    pub ones: u64,
    /// Classes of floats, where the value is a float.
    pub class: Class,
}

/// What evaluation on sets depends on.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// The float environment of the function.
    pub float: FloatEnv,
    /// Whether constants are being folded, so that the first choice of the environment may be taken.
    pub folding: bool,
}

impl Abs {
    /// The only member, if there is just one.
    pub fn exact(&self) -> Option<u64> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// Whether the set has this pattern.
    pub fn contains(&self, w: u32, v: u64) -> bool {
        let float = !matches!(w, 16 | 32 | 64) || self.class.contains(class::of(w, v));
        v >= self.lo && v <= self.hi && v & self.zeros == 0 && v & self.ones == self.ones && float
    }

    /// The set as a float's, with what range and bits say of the class.
    pub fn float_class(&self, w: u32) -> Class {
        match self.exact() {
            Some(v) => class::of(w, v),
            None => class::by_sign(
                self.class,
                self.zeros >> (w - 1) & 1 != 0,
                self.ones >> (w - 1) & 1 != 0,
            ),
        }
    }
}

/// All ones at a width.
pub fn mask(w: u32) -> u64 {
    if w >= 64 { u64::MAX } else { (1 << w) - 1 }
}

/// A constant pattern cut to a size.
pub fn cut(bits: u8, v: u64) -> u64 {
    v & mask(bits.into())
}

/// One of three patterns by float size.
pub fn by_size(bits: u8, half: u64, single: u64, double: u64) -> u64 {
    match bits {
        16 => half,
        32 => single,
        _ => double,
    }
}

/// Every value.
pub fn top(w: u32) -> Abs {
    Abs { lo: 0, hi: mask(w), zeros: !mask(w), ones: 0, class: Class::ALL }
}

/// One value.
pub fn int(w: u32, v: u64) -> Abs {
    let v = v & mask(w);
    Abs { lo: v, hi: v, zeros: !v, ones: v, class: Class::ALL }
}

/// The float nearest to that of the bits of an f64.
pub fn float(w: u32, bits: u64) -> Abs {
    int(w, prim::fconst(w, f64::from_bits(bits)))
}

/// A truth value.
pub fn bool(v: bool) -> Abs {
    int(1, v.into())
}

/// A truth value as it is kept in a width: all ones or 0.
pub fn kept_truth(w: u32, v: Abs) -> Abs {
    match truth(v) {
        _ if w == 1 => v,
        Some(v) => int(w, if v { u64::MAX } else { 0 }),
        None => top(w),
    }
}

/// The least signed value.
pub fn int_min(w: u32) -> Abs {
    int(w, 1 << (w - 1))
}

/// The greatest signed value.
pub fn int_max(w: u32) -> Abs {
    int(w, mask(w) >> 1)
}

/// Makes range and known bits agree.
pub(super) fn tidy(w: u32, a: Abs) -> Abs {
    let m = mask(w);
    let zeros = a.zeros | !m;
    if a.lo == 0 && a.hi == m && a.ones == 0 && zeros == !m {
        return Abs { zeros, ..a };
    }
    let lo = a.lo.max(a.ones);
    let hi = a.hi.min(m & !zeros);
    if lo > hi {
        // No member: the code is dead. Any set will do.
        return Abs { class: a.class, ..top(w) };
    }
    // Leading bits that both ends share are those of everything between.
    let same = !((1u64 << (64 - (lo ^ hi).leading_zeros()).min(63)).wrapping_sub(1)
        | if (lo ^ hi).leading_zeros() == 0 { u64::MAX } else { 0 });
    let zeros = zeros | (!lo & same);
    let ones = a.ones | (lo & same);
    if zeros & ones != 0 {
        return Abs { class: a.class, ..top(w) };
    }
    Abs { lo: lo.max(ones), hi: hi.min(!zeros), zeros, ones, class: a.class }
}

/// A range.
pub(super) fn range(w: u32, lo: u64, hi: u64) -> Abs {
    tidy(w, Abs { lo, hi, ..top(w) })
}

/// Known bits.
fn known(w: u32, zeros: u64, ones: u64) -> Abs {
    tidy(w, Abs { zeros: zeros | !mask(w), ones: ones & mask(w), ..top(w) })
}

/// Members of both sets that describe the same values.
fn meet(w: u32, a: Abs, b: Abs) -> Abs {
    tidy(
        w,
        Abs {
            lo: a.lo.max(b.lo),
            hi: a.hi.min(b.hi),
            zeros: a.zeros | b.zeros,
            ones: a.ones | b.ones,
            class: a.class.meet(b.class),
        },
    )
}

/// Either of two values.
pub fn join(w: u32, a: Abs, b: Abs) -> Abs {
    let class = match matches!(w, 16 | 32 | 64) {
        true => a.float_class(w).join(b.float_class(w)),
        false => Class::ALL,
    };
    let (lo, hi) = (a.lo.min(b.lo), a.hi.max(b.hi));
    Abs { lo, hi, zeros: a.zeros & b.zeros, ones: a.ones & b.ones, class }
}

/// Whether a condition surely holds, or surely doesn't.
pub fn truth(a: Abs) -> Option<bool> {
    a.exact().map(|v| v != 0)
}

/// The value of an `if`.
pub fn choose(
    w: u32,
    condition: Abs,
    then: impl FnOnce() -> Abs,
    otherwise: impl FnOnce() -> Abs,
) -> Abs {
    match truth(condition) {
        Some(true) => then(),
        Some(false) => otherwise(),
        None => join(w, then(), otherwise()),
    }
}

/// The members, where each set has just one.
fn singletons<const N: usize>(args: [Abs; N]) -> Option<[u64; N]> {
    let mut values = [0; N];
    for (value, arg) in values.iter_mut().zip(args) {
        *value = arg.exact()?;
    }
    Some(values)
}

/// The result of a primitive on bits of which only singletons are known.
pub fn exactly<const N: usize>(w: u32, args: [Abs; N], f: impl FnOnce([u64; N]) -> u64) -> Abs {
    singletons(args).map_or(top(w), |values| int(w, f(values)))
}

/// The result of a float primitive of which only singletons are known. What the library gives is one choice of
/// several, which only folding may take.
pub fn folded<const N: usize>(
    e: &Env,
    w: u32,
    args: [Abs; N],
    f: impl FnOnce(&mut Cx, [u64; N]) -> u64,
) -> Abs {
    let mut cx = Cx { env: e.float, free: false, nan: false };
    match singletons(args).filter(|_| e.folding).map(|values| f(&mut cx, values)) {
        Some(result) if !cx.free => int(w, result),
        _ => top(w),
    }
}

// ---- integers ---------------------------------------------------------------------------------------

/// Whether a set has every value, whatever float they are.
fn is_top(w: u32, a: &Abs) -> bool {
    a.lo == 0 && a.hi == mask(w) && a.ones == 0 && a.zeros == !mask(w)
}

/// `a + b`
pub fn add(w: u32, a: Abs, b: Abs) -> Abs {
    if is_top(w, &a) || is_top(w, &b) {
        return top(w);
    }
    let m = mask(w);
    let bits = sum_bits(w, a, b, false);
    match (a.hi.checked_add(b.hi), a.lo.checked_add(b.lo)) {
        (Some(hi), Some(lo)) if hi <= m => meet(w, bits, range(w, lo, hi)),
        // Everything wraps.
        (hi, Some(lo)) if lo > m && (hi.is_none() || w < 64) => {
            meet(w, bits, range(w, lo & m, a.hi.wrapping_add(b.hi) & m))
        }
        _ => bits,
    }
}

/// `a - b`
pub fn sub(w: u32, a: Abs, b: Abs) -> Abs {
    if is_top(w, &a) || is_top(w, &b) {
        return top(w);
    }
    let bits = sum_bits(w, a, not(w, b), true);
    match a.lo >= b.hi {
        true => meet(w, bits, range(w, a.lo - b.hi, a.hi - b.lo)),
        false => bits,
    }
}

/// Known bits of `a + b + carry`: those below the first unknown bit of both, and those that no carry changes.
fn sum_bits(w: u32, a: Abs, b: Abs, carry: bool) -> Abs {
    let m = mask(w);
    let c = u64::from(carry);
    // The least and the greatest sum; a bit is known where both have the same carries into it.
    let least = (a.ones & m).wrapping_add(b.ones & m).wrapping_add(c);
    let most = (!a.zeros & m).wrapping_add(!b.zeros & m).wrapping_add(c);
    let carry_least = least ^ (a.ones & m) ^ (b.ones & m);
    let carry_most = most ^ (!a.zeros & m) ^ (!b.zeros & m);
    let unknown = (!a.zeros & !a.ones) | (!b.zeros & !b.ones) | (carry_least ^ carry_most);
    let sure = !unknown & m;
    known(w, !least & sure, least & sure)
}

/// `-a`
pub fn neg(w: u32, a: Abs) -> Abs {
    sub(w, int(w, 0), a)
}

/// `!a`
pub fn not(w: u32, a: Abs) -> Abs {
    let m = mask(w);
    tidy(
        w,
        Abs {
            lo: !a.hi & m,
            hi: !a.lo & m,
            zeros: a.ones | !m,
            ones: a.zeros & m,
            class: Class::ALL,
        },
    )
}

/// `a * b`
pub fn mul(w: u32, a: Abs, b: Abs) -> Abs {
    if let (Some(x), Some(y)) = (a.exact(), b.exact()) {
        return int(w, x.wrapping_mul(y));
    }
    let low = a.zeros.trailing_ones() + b.zeros.trailing_ones();
    let bits = known(w, mask(low.min(64)), 0);
    match a.hi.checked_mul(b.hi) {
        Some(hi) if hi <= mask(w) => meet(w, bits, range(w, a.lo * b.lo, hi)),
        _ => bits,
    }
}

/// `a / b`, unsigned
pub fn udiv(w: u32, a: Abs, b: Abs) -> Abs {
    match (a.exact(), b.exact()) {
        (Some(x), Some(y)) => int(w, prim::udiv(w, x, y)),
        _ if b.lo == 0 => range(w, 0, a.hi),
        _ => range(w, a.lo / b.hi, a.hi / b.lo),
    }
}

/// `a % b`, unsigned
pub fn urem(w: u32, a: Abs, b: Abs) -> Abs {
    match (a.exact(), b.exact()) {
        (Some(x), Some(y)) => int(w, prim::urem(w, x, y)),
        _ if b.lo > a.hi => a,
        _ => range(w, 0, a.hi.min(b.hi.saturating_sub(1))),
    }
}

/// `a / b`, signed
pub fn idiv(w: u32, a: Abs, b: Abs) -> Abs {
    match (a.exact(), b.exact()) {
        (Some(x), Some(y)) => int(w, prim::idiv(w, x, y)),
        _ if nonneg(w, a) && nonneg(w, b) => udiv(w, a, b),
        _ => top(w),
    }
}

/// `a % b`, signed
pub fn irem(w: u32, a: Abs, b: Abs) -> Abs {
    match (a.exact(), b.exact()) {
        (Some(x), Some(y)) => int(w, prim::irem(w, x, y)),
        _ if nonneg(w, a) && nonneg(w, b) => urem(w, a, b),
        _ => top(w),
    }
}

fn nonneg(w: u32, a: Abs) -> bool {
    a.hi <= mask(w) >> 1
}

/// `a & b`
pub fn and(w: u32, a: Abs, b: Abs) -> Abs {
    let (zeros, ones) = (a.zeros | b.zeros, a.ones & b.ones);
    tidy(w, Abs { lo: 0, hi: a.hi.min(b.hi), zeros, ones, class: Class::ALL })
}

/// `a | b`
pub fn or(w: u32, a: Abs, b: Abs) -> Abs {
    let (zeros, ones) = (a.zeros & b.zeros, a.ones | b.ones);
    tidy(w, Abs { lo: a.lo.max(b.lo), hi: mask(w), zeros, ones, class: Class::ALL })
}

/// `a ^ b`
pub fn xor(w: u32, a: Abs, b: Abs) -> Abs {
    known(w, a.zeros & b.zeros | a.ones & b.ones, a.zeros & b.ones | a.ones & b.zeros)
}

/// `a << b`, the count modulo the width
pub fn shl(w: u32, a: Abs, b: Abs) -> Abs {
    let Some(n) = b.exact().map(|n| (n % u64::from(w)) as u32) else {
        // At least the zeros at the bottom stay.
        return known(w, mask(a.zeros.trailing_ones().min(64)), 0);
    };
    let bits = known(w, a.zeros << n | mask(n), a.ones << n);
    match a.hi.leading_zeros() >= n + (64 - w) {
        true => meet(w, bits, range(w, a.lo << n, a.hi << n)),
        false => bits,
    }
}

/// `a >> b`, logical
pub fn ushr(w: u32, a: Abs, b: Abs) -> Abs {
    let m = mask(w);
    match b.exact().map(|n| (n % u64::from(w)) as u32) {
        Some(n) => {
            let bits = known(w, (a.zeros & m) >> n | !(m >> n), (a.ones & m) >> n);
            meet(w, bits, range(w, a.lo >> n, a.hi >> n))
        }
        None => range(w, 0, a.hi),
    }
}

/// `a >> b`, arithmetic
pub fn ishr(w: u32, a: Abs, b: Abs) -> Abs {
    if nonneg(w, a) {
        return ushr(w, a, b);
    }
    match b.exact().map(|n| (n % u64::from(w)) as u32) {
        Some(n) => {
            let sign = |v: u64| prim::ishr(w, v & mask(w), n.into());
            known(w, sign(a.zeros), sign(a.ones))
        }
        None => known(w, a.zeros & 1 << (w - 1), a.ones & 1 << (w - 1)),
    }
}

/// The bounds of a set as signed numbers.
fn signed(w: u32, a: Abs) -> (i64, i64) {
    let (lo, hi) = (prim::sext(w, a.lo) as i64, prim::sext(w, a.hi) as i64);
    match (a.lo ^ a.hi) >> (w - 1) & 1 {
        0 => (lo, hi),
        _ => (-1 - (mask(w) >> 1) as i64, (mask(w) >> 1) as i64),
    }
}

fn decide(yes: bool, no: bool) -> Abs {
    match (yes, no) {
        (true, _) => bool(true),
        (_, true) => bool(false),
        _ => top(1),
    }
}

/// `a == b`
pub fn eq(_w: u32, a: Abs, b: Abs) -> Abs {
    let equal = a.exact().is_some() && a.exact() == b.exact();
    let apart = a.hi < b.lo || b.hi < a.lo || a.zeros & b.ones != 0 || a.ones & b.zeros != 0;
    decide(equal, apart)
}

/// `a != b`
pub fn ne(w: u32, a: Abs, b: Abs) -> Abs {
    not(1, eq(w, a, b))
}

/// `a < b`, unsigned
pub fn ult(_w: u32, a: Abs, b: Abs) -> Abs {
    decide(a.hi < b.lo, a.lo >= b.hi)
}

/// `a <= b`, unsigned
pub fn ule(w: u32, a: Abs, b: Abs) -> Abs {
    not(1, ult(w, b, a))
}

/// `a < b`, signed
pub fn ilt(w: u32, a: Abs, b: Abs) -> Abs {
    let ((alo, ahi), (blo, bhi)) = (signed(w, a), signed(w, b));
    decide(ahi < blo, alo >= bhi)
}

/// `a <= b`, signed
pub fn ile(w: u32, a: Abs, b: Abs) -> Abs {
    not(1, ilt(w, b, a))
}

/// The lesser, unsigned.
pub fn umin(w: u32, a: Abs, b: Abs) -> Abs {
    meet(w, join_int(a, b), range(w, a.lo.min(b.lo), a.hi.min(b.hi)))
}

/// The greater, unsigned.
pub fn umax(w: u32, a: Abs, b: Abs) -> Abs {
    meet(w, join_int(a, b), range(w, a.lo.max(b.lo), a.hi.max(b.hi)))
}

/// The lesser, signed.
pub fn imin(w: u32, a: Abs, b: Abs) -> Abs {
    signed_pick(w, a, b, truth(ile(w, a, b)), i64::min)
}

/// The greater, signed.
pub fn imax(w: u32, a: Abs, b: Abs) -> Abs {
    signed_pick(w, a, b, truth(ile(w, b, a)), i64::max)
}

fn signed_pick(w: u32, a: Abs, b: Abs, first: Option<bool>, pick: fn(i64, i64) -> i64) -> Abs {
    match first {
        Some(true) => a,
        Some(false) => b,
        None => {
            let ((alo, ahi), (blo, bhi)) = (signed(w, a), signed(w, b));
            let (lo, hi) = (pick(alo, blo), pick(ahi, bhi));
            let both = join_int(a, b);
            match (lo < 0) == (hi < 0) {
                true => meet(w, both, range(w, lo as u64 & mask(w), hi as u64 & mask(w))),
                false => both,
            }
        }
    }
}

fn join_int(a: Abs, b: Abs) -> Abs {
    Abs {
        lo: a.lo.min(b.lo),
        hi: a.hi.max(b.hi),
        zeros: a.zeros & b.zeros,
        ones: a.ones & b.ones,
        class: Class::ALL,
    }
}

/// Absolute value, wrapping at the least.
pub fn iabs(w: u32, a: Abs) -> Abs {
    let (lo, hi) = signed(w, a);
    match (lo >= 0, hi < 0) {
        (true, _) => a,
        (_, true) => neg(w, a),
        _ => range(w, 0, lo.unsigned_abs().max(hi.unsigned_abs())),
    }
}

/// Number of ones.
pub fn count_ones(w: u32, a: Abs) -> Abs {
    range(32, (a.ones & mask(w)).count_ones().into(), (!a.zeros & mask(w)).count_ones().into())
}

/// Zeros above the highest one.
pub fn leading_zeros(w: u32, a: Abs) -> Abs {
    range(32, prim::leading_zeros(w, a.hi), prim::leading_zeros(w, a.lo))
}

/// Zeros below the lowest one.
pub fn trailing_zeros(w: u32, a: Abs) -> Abs {
    let least = (a.zeros & mask(w)).trailing_ones().min(w);
    let most = (a.ones & mask(w)).trailing_zeros().min(w);
    range(32, least.into(), most.into())
}

/// Index of the highest one; 0 for 0.
pub fn ilog2(w: u32, a: Abs) -> Abs {
    range(32, prim::ilog2(w, a.lo), prim::ilog2(w, a.hi))
}

// ---- casts ------------------------------------------------------------------------------------------

/// Zero extension or truncation.
pub fn zero_cast(from: u32, to: u32, a: Abs) -> Abs {
    if to >= from {
        return tidy(to, Abs { zeros: a.zeros | !mask(from), class: Class::ALL, ..a });
    }
    let bits = known(to, a.zeros, a.ones);
    match a.hi <= mask(to) {
        true => meet(to, bits, range(to, a.lo, a.hi)),
        false => bits,
    }
}

/// Sign extension or truncation.
pub fn sign_cast(from: u32, to: u32, a: Abs) -> Abs {
    if to <= from || nonneg(from, a) {
        return zero_cast(from, to, a);
    }
    let sign = |v: u64| prim::sext(from, v & mask(from));
    known(to, sign(a.zeros) & mask(to), sign(a.ones))
}

/// Number to float, signed.
pub fn i2f(e: &Env, from: u32, to: u32, a: Abs) -> Abs {
    if a.exact().is_some() {
        return exactly_rounded(e, to, [a, a], |cx, v| prim::i2f(cx, from, to, v[0]));
    }
    let (lo, hi) = signed(from, a);
    class::float(to, class::from_int(to, lo < 0, lo <= 0 && hi >= 0, hi > 0))
}

/// Number to float, unsigned.
pub fn u2f(e: &Env, from: u32, to: u32, a: Abs) -> Abs {
    if a.exact().is_some() {
        return exactly_rounded(e, to, [a, a], |cx, v| prim::u2f(cx, from, to, v[0]));
    }
    class::float(to, class::from_int(to, false, a.lo == 0, a.hi > 0))
}

/// Float to float.
pub fn f2f(e: &Env, from: u32, to: u32, a: Abs) -> Abs {
    if a.exact().is_some() {
        return exactly_rounded(e, to, [a, a], |cx, v| prim::f2f(cx, from, to, v[0]));
    }
    class::float(to, class::converted(a.float_class(from)))
}

/// Float to signed number; out of range any.
pub fn f2i(from: u32, to: u32, a: Abs) -> Abs {
    f2x(a, to, |cx, v| prim::f2i(cx, from, to, v))
}

/// Float to unsigned number; out of range any.
pub fn f2u(from: u32, to: u32, a: Abs) -> Abs {
    f2x(a, to, |cx, v| prim::f2u(cx, from, to, v))
}

/// Float to signed number, clamped.
pub fn f2i_sat(from: u32, to: u32, a: Abs) -> Abs {
    f2x(a, to, |cx, v| prim::f2i_sat(cx, from, to, v))
}

/// Float to unsigned number, clamped.
pub fn f2u_sat(from: u32, to: u32, a: Abs) -> Abs {
    f2x(a, to, |cx, v| prim::f2u_sat(cx, from, to, v))
}

fn f2x(a: Abs, to: u32, f: impl FnOnce(&mut Cx, u64) -> u64) -> Abs {
    // Truncation doesn't round; a denormal becomes 0 whether it is flushed or not.
    let mut cx = Cx { env: FloatEnv::default(), free: false, nan: false };
    match a.exact() {
        Some(v) => {
            let r = f(&mut cx, v);
            if cx.free { top(to) } else { int(to, r) }
        }
        None => top(to),
    }
}

// ---- branches ---------------------------------------------------------------------------------------

/// `a` where `a < b` (unsigned) is known to hold, or not to.
pub fn assume_ult_left(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    match holds {
        true => meet(w, a, range(w, 0, b.hi.saturating_sub(1))),
        false => meet(w, a, range(w, b.lo, mask(w))),
    }
}

/// `b` where `a < b` (unsigned) is known to hold, or not to.
pub fn assume_ult_right(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    match holds {
        true => meet(w, b, range(w, a.lo.saturating_add(1).min(mask(w)), mask(w))),
        false => meet(w, b, range(w, 0, a.hi)),
    }
}

/// `a` where `a <= b` (unsigned) is known to hold, or not to.
pub fn assume_ule_left(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    assume_ult_right(w, b, a, !holds)
}

/// `b` where `a <= b` (unsigned) is known to hold, or not to.
pub fn assume_ule_right(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    assume_ult_left(w, b, a, !holds)
}

/// The sign bit where a signed comparison decides it.
fn sign_bit(w: u32, a: Abs, lo: i64, hi: i64) -> Abs {
    match (lo >= 0, hi < 0) {
        (true, _) => meet(w, a, range(w, 0, mask(w) >> 1)),
        (_, true) => meet(w, a, range(w, 1 << (w - 1), mask(w))),
        _ => a,
    }
}

/// `a` where `a < b` (signed) is known to hold, or not to.
pub fn assume_ilt_left(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    let ((alo, ahi), (blo, bhi)) = (signed(w, a), signed(w, b));
    match holds {
        true => sign_bit(w, a, alo, ahi.min(bhi.saturating_sub(1))),
        false => sign_bit(w, a, alo.max(blo), ahi),
    }
}

/// `b` where `a < b` (signed) is known to hold, or not to.
pub fn assume_ilt_right(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    let ((alo, ahi), (blo, bhi)) = (signed(w, a), signed(w, b));
    match holds {
        true => sign_bit(w, b, blo.max(alo.saturating_add(1)), bhi),
        false => sign_bit(w, b, blo, bhi.min(ahi)),
    }
}

/// `a` where `a <= b` (signed) is known to hold, or not to.
pub fn assume_ile_left(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    assume_ilt_right(w, b, a, !holds)
}

/// `b` where `a <= b` (signed) is known to hold, or not to.
pub fn assume_ile_right(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    assume_ilt_left(w, b, a, !holds)
}

/// `a` where `a == b` is known to hold, or not to.
pub fn assume_eq_left(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    match (holds, b.exact()) {
        (true, _) => meet(w, a, Abs { class: a.class, ..b }),
        (false, Some(v)) if v == a.lo && a.lo < a.hi => meet(w, a, range(w, v + 1, mask(w))),
        (false, Some(v)) if v == a.hi && a.lo < a.hi => meet(w, a, range(w, 0, v - 1)),
        _ => a,
    }
}

/// `b` where `a == b` is known to hold, or not to.
pub fn assume_eq_right(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    assume_eq_left(w, b, a, holds)
}

/// `a` where `a != b` is known to hold, or not to.
pub fn assume_ne_left(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    assume_eq_left(w, a, b, !holds)
}

/// `b` where `a != b` is known to hold, or not to.
pub fn assume_ne_right(w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    assume_eq_left(w, b, a, !holds)
}

fn with_class(w: u32, a: Abs, class: Class) -> Abs {
    match class.is_empty() || a.exact().is_some() {
        true => a,
        false => {
            let f = class::float(w, class);
            Abs { class, ..meet(w, Abs { class, ..a }, f) }
        }
    }
}

/// `a` where `a < b` (floats) is known to hold, or not to.
pub fn assume_flt_left(_e: &Env, w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    let (x, y) = (a.float_class(w), b.float_class(w));
    with_class(w, a, if holds { class::below(x, y) } else { class::not_below(x, y) })
}

/// `b` where `a < b` (floats) is known to hold, or not to.
pub fn assume_flt_right(_e: &Env, w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    let (x, y) = (a.float_class(w), b.float_class(w));
    with_class(w, b, if holds { class::above(y, x) } else { class::not_above(y, x) })
}

/// `a` where `a <= b` (floats) is known to hold, or not to.
pub fn assume_fle_left(_e: &Env, w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    let (x, y) = (a.float_class(w), b.float_class(w));
    with_class(w, a, if holds { class::not_far_above(x, y) } else { class::not_below(x, y) })
}

/// `b` where `a <= b` (floats) is known to hold, or not to.
pub fn assume_fle_right(_e: &Env, w: u32, a: Abs, b: Abs, holds: bool) -> Abs {
    let (x, y) = (a.float_class(w), b.float_class(w));
    with_class(w, b, if holds { class::not_far_below(y, x) } else { class::not_above(y, x) })
}

/// `a` where it is known to be NaN, or not to be.
pub fn assume_nan(w: u32, a: Abs, holds: bool) -> Abs {
    let class = a.float_class(w);
    with_class(w, a, if holds { class.meet(Class::NAN) } else { class.without(Class::NAN) })
}
