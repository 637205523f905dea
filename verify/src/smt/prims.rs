//! Operators and primitives of the expression language as terms.

use super::term::{Sort, Term, Terms};
use deburr_rulegen::expr::{Base, BinaryOp, Prim};

/// An operator on integers or booleans, or a compare of them. The shifted operand says how far a count goes.
pub(super) fn integer(t: &mut Terms, op: BinaryOp, base: Base, a: Term, b: Term) -> Term {
    use BinaryOp::*;
    let signed = base == Base::Int;
    let is_bool = t.sort(a) == Sort::Bool;
    let by = |yes: &'static str, no: &'static str| if signed { yes } else { no };
    match op {
        Add => t.bv("bvadd", &[a, b]),
        Sub => t.bv("bvsub", &[a, b]),
        Mul => t.bv("bvmul", &[a, b]),
        // By zero: 0. The least number by −1 wraps, as it does here.
        Div | Rem => {
            let head = match op {
                Div => by("bvsdiv", "bvudiv"),
                _ => by("bvsrem", "bvurem"),
            };
            let (quotient, zero) = (t.bv(head, &[a, b]), t.bits(t.width(a), 0));
            let by_zero = t.equal(b, zero);
            t.ite(by_zero, zero, quotient)
        }
        And | AndAlso if is_bool => t.test("and", &[a, b]),
        Or | OrElse if is_bool => t.test("or", &[a, b]),
        Xor if is_bool => t.test("xor", &[a, b]),
        And | AndAlso => t.bv("bvand", &[a, b]),
        Or | OrElse => t.bv("bvor", &[a, b]),
        Xor => t.bv("bvxor", &[a, b]),
        Shl | Shr => {
            let w = t.width(a);
            let count = t.resize(b, w.max(t.width(b)), false);
            // Modulo a power of two; what is left fits the shifted operand's width.
            let mask = t.bits(t.width(count), u64::from(w) - 1);
            let count = t.bv("bvand", &[count, mask]);
            let count = t.resize(count, w, false);
            let head = if op == Shl { "bvshl" } else { by("bvashr", "bvlshr") };
            t.bv(head, &[a, count])
        }
        Eq => t.equal(a, b),
        Ne => {
            let same = t.equal(a, b);
            t.not(same)
        }
        // False is below true.
        Lt | Le | Gt | Ge if is_bool => {
            let (a, b) = (t.from_bool(a, 1), t.from_bool(b, 1));
            integer(t, op, Base::Uint, a, b)
        }
        Lt => t.test(by("bvslt", "bvult"), &[a, b]),
        Le => t.test(by("bvsle", "bvule"), &[a, b]),
        Gt => t.test(by("bvsgt", "bvugt"), &[a, b]),
        Ge => t.test(by("bvsge", "bvuge"), &[a, b]),
    }
}

/// A compare of floats given by their bits. `fp.eq` is used here and nowhere else: what a goal compares is bits.
pub(super) fn float_compare(t: &mut Terms, op: BinaryOp, a: Term, b: Term) -> Term {
    let (a, b) = (t.float(a), t.float(b));
    match op {
        BinaryOp::Eq => t.test("fp.eq", &[a, b]),
        BinaryOp::Ne => {
            let same = t.test("fp.eq", &[a, b]);
            t.not(same)
        }
        BinaryOp::Lt => t.test("fp.lt", &[a, b]),
        BinaryOp::Le => t.test("fp.leq", &[a, b]),
        BinaryOp::Gt => t.test("fp.gt", &[a, b]),
        _ => t.test("fp.geq", &[a, b]),
    }
}

/// Whether the bits of a float are of a class: `fp.isNaN`, `fp.isSubnormal`, ….
pub(super) fn is(t: &mut Terms, class: &str, bits: Term) -> Term {
    let float = t.float(bits);
    t.test(class, &[float])
}

fn sign_bit(t: &mut Terms, w: u32) -> Term {
    t.bits(w, 1 << (w - 1))
}

/// The sign bit inverted.
pub(super) fn float_neg(t: &mut Terms, a: Term) -> Term {
    let sign = sign_bit(t, t.width(a));
    t.bv("bvxor", &[a, sign])
}

/// A zero of the same sign for a denormal.
pub(super) fn flushed(t: &mut Terms, a: Term) -> Term {
    let sign = sign_bit(t, t.width(a));
    let zero = t.bv("bvand", &[a, sign]);
    let denormal = is(t, "fp.isSubnormal", a);
    t.ite(denormal, zero, a)
}

/// The canonical NaN for any NaN.
pub(super) fn canonical_nan(t: &mut Terms, a: Term) -> Term {
    let nan = t.bits(t.width(a), deburr_ir_core::fold::prim::nan(t.width(a)));
    let is_nan = is(t, "fp.isNaN", a);
    t.ite(is_nan, nan, a)
}

/// Bits of an f32 or f64 literal as a term.
pub(super) fn float_literal(t: &mut Terms, w: u32, v: f64) -> Term {
    t.bits(w, deburr_ir_core::fold::prim::fconst(w, v))
}

/// What a primitive on bits gives; `None` for arithmetic on floats.
pub(super) fn pure(t: &mut Terms, p: Prim, base: Base, v: &[Term], to: u32) -> Option<Term> {
    let w = t.width(v[0]);
    let signed = base == Base::Int;
    Some(match p {
        Prim::CopySign => {
            let sign = sign_bit(t, w);
            let rest = t.bits(w, !(1 << (w - 1)));
            let (a, b) = (t.bv("bvand", &[v[0], rest]), t.bv("bvand", &[v[1], sign]));
            t.bv("bvor", &[a, b])
        }
        Prim::IsNan => is(t, "fp.isNaN", v[0]),
        Prim::IsInf => is(t, "fp.isInfinite", v[0]),
        Prim::IsFinite => {
            let (nan, inf) = (is(t, "fp.isNaN", v[0]), is(t, "fp.isInfinite", v[0]));
            let other = t.some(&[nan, inf]);
            t.not(other)
        }
        Prim::IsNormal => is(t, "fp.isNormal", v[0]),
        Prim::Bits | Prim::FromBits => v[0],
        Prim::Abs if base == Base::Float => {
            let rest = t.bits(w, !(1 << (w - 1)));
            t.bv("bvand", &[v[0], rest])
        }
        Prim::Abs if signed => {
            let (zero, negated) = (t.bits(w, 0), t.bv("bvneg", &[v[0]]));
            let negative = t.test("bvslt", &[v[0], zero]);
            t.ite(negative, negated, v[0])
        }
        Prim::Abs => v[0],
        Prim::Min | Prim::Max => {
            let head = match (p, signed) {
                (Prim::Min, true) => "bvsle",
                (Prim::Min, false) => "bvule",
                (_, true) => "bvsge",
                (_, false) => "bvuge",
            };
            let first = t.test(head, v);
            t.ite(first, v[0], v[1])
        }
        Prim::MulHigh => {
            let wide: Vec<Term> = v.iter().map(|a| t.resize(*a, 2 * w, signed)).collect();
            let product = t.bv("bvmul", &wide);
            t.extract(product, 2 * w - 1, w)
        }
        Prim::AddSat | Prim::SubSat => {
            let wide: Vec<Term> = v.iter().map(|a| t.resize(*a, w + 2, signed)).collect();
            let sum = t.bv(if p == Prim::AddSat { "bvadd" } else { "bvsub" }, &wide);
            let ones = u64::MAX >> (64 - w);
            let (least, most) = if signed { (1 << (w - 1), ones >> 1) } else { (0, ones) };
            let (least, most) = (t.bits(w, least), t.bits(w, most));
            // A difference of unsigned numbers may be negative: signed at two bits more everything is what it is.
            let (least, most) = (t.resize(least, w + 2, signed), t.resize(most, w + 2, signed));
            let (below, above) = (t.test("bvslt", &[sum, least]), t.test("bvsgt", &[sum, most]));
            let low = t.ite(below, least, sum);
            let both = t.ite(above, most, low);
            t.extract(both, w - 1, 0)
        }
        Prim::CountOnes => {
            let mut total = t.bits(to, 0);
            for i in 0..w {
                let bit = t.extract(v[0], i, i);
                let bit = t.resize(bit, to, false);
                total = t.bv("bvadd", &[total, bit]);
            }
            total
        }
        Prim::LeadingZeros | Prim::TrailingZeros | Prim::Ilog2 => {
            let mut out = t.bits(to, if p == Prim::Ilog2 { 0 } else { u64::from(w) });
            // The bit that decides is tested last.
            let order: Vec<u32> =
                if p == Prim::TrailingZeros { (0..w).rev().collect() } else { (0..w).collect() };
            for i in order {
                let bit = t.extract(v[0], i, i);
                let set = t.nonzero(bit);
                let value = if p == Prim::LeadingZeros { w - 1 - i } else { i };
                let value = t.bits(to, value.into());
                out = t.ite(set, value, out);
            }
            out
        }
        Prim::ReverseBits => {
            let bits: Vec<Term> = (0..w).map(|i| t.extract(v[0], i, i)).collect();
            match bits.as_slice() {
                [one] => *one,
                _ => t.apply("concat", &bits, Sort::Bits(w)),
            }
        }
        _ => return None,
    })
}

/// What a primitive gives that computes with floats, as a float, where the environment's rounding has no say. `None` for
/// others.
pub(super) fn arithmetic(t: &mut Terms, p: Prim, v: &[Term], to: u32) -> Option<Term> {
    let w = t.width(v[0]);
    let integral = |t: &mut Terms, name: &str| {
        let (mode, a) = (t.mode(name), t.float(v[0]));
        t.rounded("fp.roundToIntegral", mode, &[a], w)
    };
    Some(match p {
        Prim::RoundEven => integral(t, "RNE"),
        Prim::Trunc => integral(t, "RTZ"),
        Prim::Floor => integral(t, "RTN"),
        Prim::Ceil => integral(t, "RTP"),
        Prim::Canonicalize => t.float(v[0]),
        Prim::RoundToF16Rtne | Prim::RoundToF16Rtz => {
            let name = if p == Prim::RoundToF16Rtne { "RNE" } else { "RTZ" };
            let (mode, a) = (t.mode(name), t.float(v[0]));
            t.rounded(&Terms::to_float(to), mode, &[a], to)
        }
        Prim::QuantizeF16 => {
            let (nearest, a) = (t.mode("RNE"), t.float(v[0]));
            let half = t.rounded(&Terms::to_float(16), nearest, &[a], 16);
            let back = t.rounded(&Terms::to_float(w), nearest, &[half], w);
            let least = float_literal(t, w, 1.0 / 16384.0);
            let least = t.float(least);
            let magnitude = t.apply("fp.abs", &[a], Sort::Float(w));
            let small = t.test("fp.lt", &[magnitude, least]);
            let zero = sign_bit(t, w);
            let zero = t.bv("bvand", &[v[0], zero]);
            let zero = t.float(zero);
            t.ite(small, zero, back)
        }
        _ => return None,
    })
}
