//! Classes of floats: which of nine kinds a value may be, and whether it is surely an integer where finite.
//!
//! The functions give the class of a result from those of the operands under every environment: a denormal may be
//! read and written as zero, results may be rounded to either neighbour.

use super::abs::{self, Abs};

/// A set of kinds of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class(u16);

impl Class {
    /// NaN of any sign.
    pub const NAN: Class = Class(1);
    /// −∞
    pub const NEG_INF: Class = Class(2);
    /// Normal, below zero.
    pub const NEG_NORM: Class = Class(4);
    /// Denormal, below zero.
    pub const NEG_DEN: Class = Class(8);
    /// −0
    pub const NEG_ZERO: Class = Class(16);
    /// +0
    pub const POS_ZERO: Class = Class(32);
    /// Denormal, above zero.
    pub const POS_DEN: Class = Class(64);
    /// Normal, above zero.
    pub const POS_NORM: Class = Class(128);
    /// +∞
    pub const POS_INF: Class = Class(256);
    /// Both infinities.
    pub const INF: Class = Class(2 | 256);
    /// Both zeros.
    pub const ZERO: Class = Class(16 | 32);
    /// Both signs of denormals.
    pub const DEN: Class = Class(8 | 64);
    /// Everything with the sign bit set but NaN.
    pub const NEG: Class = Class(2 | 4 | 8 | 16);
    /// Everything with the sign bit clear but NaN.
    pub const POS: Class = Class(32 | 64 | 128 | 256);
    /// Every float.
    pub const ALL: Class = Class(0x1ff);
    /// With this bit: finite members are integers.
    const INTEGRAL: u16 = 0x200;

    /// Either of two.
    pub const fn join(self, other: Class) -> Class {
        Class((self.0 | other.0) & 0x1ff | self.0 & other.0 & Self::INTEGRAL)
    }

    /// Both at once.
    pub const fn meet(self, other: Class) -> Class {
        Class(self.0 & other.0 & 0x1ff | (self.0 | other.0) & Self::INTEGRAL)
    }

    /// The members that `other` doesn't have.
    pub const fn without(self, other: Class) -> Class {
        Class(self.0 & !(other.0 & 0x1ff))
    }

    /// Whether every kind of `other` is one of these.
    pub const fn contains(self, other: Class) -> bool {
        other.0 & 0x1ff & !self.0 == 0
    }

    /// Whether they have a kind in common.
    pub const fn meets(self, other: Class) -> bool {
        self.0 & other.0 & 0x1ff != 0
    }

    /// Whether no kind is left.
    pub const fn is_empty(self) -> bool {
        self.0 & 0x1ff == 0
    }

    /// Whether a member may be flushed to zero.
    pub const fn may_flush(self) -> bool {
        self.meets(Class::DEN)
    }

    /// Whether finite members are integers.
    pub const fn is_integral(self) -> bool {
        self.0 & Self::INTEGRAL != 0
    }

    const fn integral(self) -> Class {
        Class(self.0 | Self::INTEGRAL)
    }

    const fn unknown_fraction(self) -> Class {
        Class(self.0 & 0x1ff)
    }

    fn when(self, condition: bool) -> Class {
        if condition { self } else { Class(0) }
    }
}

/// The class of one pattern.
pub fn of(w: u32, v: u64) -> Class {
    let (exponent_bits, fraction_bits) = match w {
        16 => (5, 10),
        32 => (8, 23),
        64 => (11, 52),
        _ => return Class::ALL,
    };
    let negative = v >> (w - 1) & 1 != 0;
    let exponent = v >> fraction_bits & ((1 << exponent_bits) - 1);
    let fraction = v & ((1 << fraction_bits) - 1);
    let top = (1 << exponent_bits) - 1;
    let by_sign = |neg: Class, pos: Class| if negative { neg } else { pos };
    match (exponent, fraction) {
        (0, 0) => by_sign(Class::NEG_ZERO, Class::POS_ZERO).integral(),
        (0, _) => by_sign(Class::NEG_DEN, Class::POS_DEN),
        (e, 0) if e == top => by_sign(Class::NEG_INF, Class::POS_INF).integral(),
        (e, _) if e == top => Class::NAN.integral(),
        (e, f) => {
            let class = by_sign(Class::NEG_NORM, Class::POS_NORM);
            let unbiased = e as i64 - (top as i64 >> 1);
            let whole = unbiased >= fraction_bits
                || unbiased >= 0 && f & ((1 << (fraction_bits - unbiased)) - 1) == 0;
            if whole { class.integral() } else { class }
        }
    }
}

/// The kinds of the numbers from one to another, and of either zero if zero is among them.
pub(super) fn between(low: f64, high: f64) -> Class {
    Class(0)
        .join(Class::NEG_INF.when(low == f64::NEG_INFINITY))
        .join(Class::NEG_NORM.join(Class::NEG_DEN).when(low < 0.0))
        .join(Class::ZERO.when(low <= 0.0 && high >= 0.0))
        .join(Class::POS_DEN.join(Class::POS_NORM).when(high > 0.0))
        .join(Class::POS_INF.when(high == f64::INFINITY))
}

/// What a known sign bit says.
pub(super) fn by_sign(class: Class, clear: bool, set: bool) -> Class {
    match (clear, set) {
        (true, _) => class.without(Class::NEG),
        (_, true) => class.without(Class::POS),
        _ => class,
    }
}

/// The set of all floats of a class.
pub(super) fn float(w: u32, class: Class) -> Abs {
    let sign = 1u64 << (w - 1);
    let mut a = Abs { class, ..abs::top(w) };
    if !class.meets(Class::NEG.join(Class::NAN)) {
        a.zeros |= sign;
        a.hi = sign - 1;
    } else if !class.meets(Class::POS.join(Class::NAN)) {
        a.ones |= sign;
        a.lo = sign;
    }
    a
}

/// What flushing may make of it.
pub(super) fn flushed(a: Class) -> Class {
    a.join(Class::NEG_ZERO.when(a.meets(Class::NEG_DEN)))
        .join(Class::POS_ZERO.when(a.meets(Class::POS_DEN)))
        .unknown_fraction()
}

/// Kinds next to these in the order of floats, without crossing zero.
pub(super) fn neighbours(a: Class) -> Class {
    let mut out = a.unknown_fraction();
    for chain in [
        [Class::NEG_ZERO, Class::NEG_DEN, Class::NEG_NORM, Class::NEG_INF],
        [Class::POS_ZERO, Class::POS_DEN, Class::POS_NORM, Class::POS_INF],
    ] {
        for pair in chain.windows(2) {
            if a.meets(pair[0]) {
                out = out.join(pair[1]);
            }
            if a.meets(pair[1]) {
                out = out.join(pair[0]);
            }
        }
    }
    out.unknown_fraction()
}

pub(super) fn neg(a: Class) -> Class {
    let mut out = a.0 & (1 | Class::INTEGRAL);
    for i in 1..9 {
        if a.0 >> i & 1 != 0 {
            out |= 1 << (9 - i);
        }
    }
    Class(out)
}

pub(super) fn abs(a: Class) -> Class {
    let both = Class((a.0 | neg(a).0) & 0x1ff | a.0 & Class::INTEGRAL);
    both.without(Class::NEG)
}

pub(super) fn add(a: Class, b: Class) -> Class {
    let (x, y) = (flushed(a), flushed(b));
    let opposite = x.meets(Class::POS_INF) && y.meets(Class::NEG_INF)
        || x.meets(Class::NEG_INF) && y.meets(Class::POS_INF);
    let nan = Class::NAN.when(x.join(y).meets(Class::NAN) || opposite);
    let zeros = Class::POS_ZERO.when(x.meets(Class::ZERO) && y.meets(Class::ZERO));
    let real = same_sign_sum(x, y)
        .or_else(|| same_sign_sum(neg(x), neg(y)).map(neg))
        .map(|c| c.join(zeros));
    let integral = a.is_integral() && b.is_integral();
    let out = real.unwrap_or(Class::ALL.without(Class::NAN)).join(nan).unknown_fraction();
    // Sums of integers are integers, or so large that every float is.
    if integral { out.integral() } else { out }
}

/// The sum of two that are not below +0, if they are.
fn same_sign_sum(x: Class, y: Class) -> Option<Class> {
    let (x, y) = (x.without(Class::NAN), y.without(Class::NAN));
    if x.meets(Class::NEG.without(Class::NEG_ZERO)) || y.meets(Class::NEG.without(Class::NEG_ZERO))
    {
        return None;
    }
    let both = x.join(y);
    // −0 comes from −0 + −0 alone.
    let mut out = both
        .without(Class::NEG_ZERO)
        .join(Class::NEG_ZERO.when(x.meets(Class::NEG_ZERO) && y.meets(Class::NEG_ZERO)));
    if x.meets(Class::ZERO) && y.meets(Class::ZERO) && both.meets(Class::POS_ZERO) {
        out = out.join(Class::POS_ZERO);
    }
    let never_zero = !x.meets(Class::ZERO) || !y.meets(Class::ZERO);
    if both.meets(Class::POS_DEN) {
        out = out.join(Class::POS_NORM).join(Class::POS_ZERO);
    }
    if both.meets(Class::POS_NORM) {
        out = out.join(Class::POS_INF).join(Class::POS_NORM);
    }
    let strictly = !x.meets(Class::ZERO.join(Class::DEN)) || !y.meets(Class::ZERO.join(Class::DEN));
    if never_zero && strictly {
        out = out.without(Class::ZERO).without(Class::DEN);
    }
    Some(out.unknown_fraction())
}

pub(super) fn sub(a: Class, b: Class) -> Class {
    add(a, neg(b))
}

/// Classes of the sign that a product or quotient may have.
fn signed(a: Class, b: Class, magnitude: Class) -> Class {
    let (ap, an) = (a.meets(Class::POS), a.meets(Class::NEG));
    let (bp, bn) = (b.meets(Class::POS), b.meets(Class::NEG));
    let positive = ap && bp || an && bn;
    let negative = ap && bn || an && bp;
    magnitude.when(positive).join(neg(magnitude).when(negative))
}

pub(super) fn mul(a: Class, b: Class) -> Class {
    let (x, y) = (flushed(a), flushed(b));
    let nan = x.join(y).meets(Class::NAN)
        || x.meets(Class::ZERO) && y.meets(Class::INF)
        || x.meets(Class::INF) && y.meets(Class::ZERO);
    let integral = a.is_integral() && b.is_integral();
    let out = signed(x, y, Class::POS).join(Class::NAN.when(nan)).unknown_fraction();
    if integral { out.integral() } else { out }
}

pub(super) fn div(a: Class, b: Class) -> Class {
    let (x, y) = (flushed(a), flushed(b));
    let nan = x.join(y).meets(Class::NAN)
        || x.meets(Class::ZERO) && y.meets(Class::ZERO)
        || x.meets(Class::INF) && y.meets(Class::INF);
    signed(x, y, Class::POS).join(Class::NAN.when(nan)).unknown_fraction()
}

pub(super) fn sqrt(a: Class) -> Class {
    let x = flushed(a);
    let nan = x.meets(Class::NAN.join(Class::NEG.without(Class::NEG_ZERO)));
    Class::NEG_ZERO
        .when(x.meets(Class::NEG_ZERO))
        .join(Class::POS_ZERO.when(x.meets(Class::POS_ZERO)))
        .join(Class::POS_NORM.when(x.meets(Class::POS_NORM.join(Class::POS_DEN))))
        .join(Class::POS_INF.when(x.meets(Class::POS_INF)))
        .join(Class::NAN.when(nan))
        .unknown_fraction()
}

/// Toward zero, or to nearest: small ones become zeros of their sign.
pub(super) fn trunc(a: Class) -> Class {
    let x = flushed(a);
    let small = |kinds: Class, zero: Class| zero.when(x.meets(kinds));
    x.without(Class::DEN)
        .join(small(Class::NEG_DEN.join(Class::NEG_NORM), Class::NEG_ZERO))
        .join(small(Class::POS_DEN.join(Class::POS_NORM), Class::POS_ZERO))
        .unknown_fraction()
        .integral()
}

pub(super) fn floor(a: Class) -> Class {
    let x = flushed(a);
    let out = x
        .without(Class::DEN)
        .join(Class::POS_ZERO.when(x.meets(Class::POS_DEN.join(Class::POS_NORM))));
    out.join(Class::NEG_NORM.when(x.meets(Class::NEG_DEN))).unknown_fraction().integral()
}

pub(super) fn ceil(a: Class) -> Class {
    neg(floor(neg(a)))
}

/// Class after a conversion between float sizes: it may overflow, underflow, or become normal.
pub(super) fn converted(a: Class) -> Class {
    let mut out = flushed(a);
    for _ in 0..3 {
        out = neighbours(out);
    }
    out = out.without(Class::NAN.when(!a.meets(Class::NAN)));
    out.unknown_fraction()
}

/// Class of an integer made float.
pub(super) fn from_int(w: u32, negative: bool, zero: bool, positive: bool) -> Class {
    let overflow = w == 16;
    Class::NEG_NORM
        .when(negative)
        .join(Class::NEG_INF.when(negative && overflow))
        .join(Class::POS_ZERO.when(zero))
        .join(Class::POS_NORM.when(positive))
        .join(Class::POS_INF.when(positive && overflow))
        .unknown_fraction()
        .integral()
}

/// Positions of the kinds on the number line; both zeros, and denormals that may be read as zero, are one place.
const LINE: [Class; 5] =
    [Class::NEG_INF, Class::NEG_NORM, Class(8 | 16 | 32 | 64), Class::POS_NORM, Class::POS_INF];

/// The places on the line that a class has.
fn places(a: Class) -> impl Iterator<Item = usize> {
    (0..5).filter(move |i| a.meets(LINE[*i]))
}

fn upto(last: usize) -> Class {
    LINE.iter().take(last + 1).fold(Class(0), |all, c| all.join(*c))
}

fn from(first: usize) -> Class {
    LINE.iter().skip(first).fold(Class(0), |all, c| all.join(*c))
}

fn keep_fraction(of: Class, members: Class) -> Class {
    Class(of.0 & members.0 & 0x1ff | of.0 & Class::INTEGRAL)
}

pub(super) fn equal(a: Class, b: Class) -> Option<bool> {
    let apart = !places(a).any(|p| places(b).any(|q| p == q));
    if apart { Some(false) } else { None }
}

/// Whether every member of `a` is below every member of `b`, or none is.
pub(super) fn less(a: Class, b: Class) -> Option<bool> {
    let (amin, amax) = (places(a).min(), places(a).max());
    let (bmin, bmax) = (places(b).min(), places(b).max());
    let nan = a.join(b).meets(Class::NAN);
    match (amin, amax, bmin, bmax) {
        (Some(_), Some(amax), Some(bmin), Some(_)) if amax < bmin && !nan => Some(true),
        (Some(amin), Some(_), Some(_), Some(bmax)) if amin > bmax => Some(false),
        // Equal infinities, and zeros without denormals beside them, are not below each other.
        (Some(amin), Some(_), Some(_), Some(bmax)) if amin == bmax => match amin {
            0 | 4 => Some(false),
            2 if !a.join(b).meets(Class::DEN) => Some(false),
            _ => None,
        },
        (None, ..) | (_, _, None, _) => Some(false),
        _ => None,
    }
}

pub(super) fn less_or_equal(a: Class, b: Class) -> Option<bool> {
    match less(b, a) {
        Some(true) => Some(false),
        Some(false) if !a.join(b).meets(Class::NAN) => Some(true),
        _ if places(a).next().is_none() || places(b).next().is_none() => Some(false),
        _ => None,
    }
}

/// Members of `a` that may be below a member of `b`.
pub(super) fn below(a: Class, b: Class) -> Class {
    let Some(last) = places(b).max() else { return Class(0) };
    let mut allowed = upto(last);
    match last {
        0 => allowed = Class(0),
        4 => allowed = upto(3),
        // Below zero strictly: neither zero is, nor a positive denormal unless `b` may be one.
        2 if !b.meets(Class::DEN) => allowed = allowed.without(Class::ZERO.join(Class::POS_DEN)),
        _ => {}
    }
    keep_fraction(a, allowed)
}

/// Members of `a` for which `a < b` may be false.
pub(super) fn not_below(a: Class, b: Class) -> Class {
    if b.meets(Class::NAN) {
        return a;
    }
    let Some(first) = places(b).min() else { return a };
    keep_fraction(a, from(first).join(Class::NAN))
}

/// Members of `a` that may be above a member of `b`.
pub(super) fn above(a: Class, b: Class) -> Class {
    neg(below(neg(a), neg(b)))
}

/// Members of `a` for which `b < a` may be false.
pub(super) fn not_above(a: Class, b: Class) -> Class {
    neg(not_below(neg(a), neg(b)))
}

/// Members of `a` that may be below or equal to a member of `b`.
pub(super) fn not_far_above(a: Class, b: Class) -> Class {
    let Some(last) = places(b).max() else { return Class(0) };
    keep_fraction(a, upto(last))
}

/// Members of `a` that may be above or equal to a member of `b`.
pub(super) fn not_far_below(a: Class, b: Class) -> Class {
    neg(not_far_above(neg(a), neg(b)))
}
