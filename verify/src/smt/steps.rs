//! The steps of float arithmetic: as the solver's own, or as functions of which only a few laws are known.
//!
//! Most rules only move arithmetic about: both sides add and multiply the same, and a solver needn't know what a product
//! is. Made of bits, a product costs it seconds; left unknown, nothing. Every law that is given is one of the operation,
//! so that what holds of the unknown function holds of it.

use super::prims;
use super::term::{Sort, Term, Terms};

/// How much a solver is told of float arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Steps are functions with a few laws.
    Laws,
    /// Steps are IEEE's.
    Whole,
    /// The same of constants: for a solver that calculates, and has an operator for the bits of a float (Z3).
    Calculated,
}

/// A rounded operation on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    Fma,
}

impl Step {
    fn head(self) -> &'static str {
        match self {
            Step::Add => "fp.add",
            Step::Sub => "fp.sub",
            Step::Mul => "fp.mul",
            Step::Div => "fp.div",
            Step::Sqrt => "fp.sqrt",
            Step::Fma => "fp.fma",
        }
    }
}

/// What a step gives for operands that are given by their bits.
pub(super) fn step(t: &mut Terms, detail: Detail, step: Step, mode: Term, v: &[Term]) -> Term {
    let w = t.width(v[0]);
    if detail != Detail::Laws {
        let floats: Vec<Term> = v.iter().map(|a| t.float(*a)).collect();
        return t.rounded(step.head(), mode, &floats, w);
    }
    let bits = match step {
        Step::Add => sum(t, mode, v[0], v[1]),
        Step::Sub => {
            let negated = prims::float_neg(t, v[1]);
            sum(t, mode, v[0], negated)
        }
        Step::Mul | Step::Div => {
            let (a, b) = (magnitude(t, v[0]), magnitude(t, v[1]));
            let size = match step {
                Step::Mul => commuting(t, &format!("mul{w}"), &[mode], (a, b), &[]),
                _ => known_nan(t, &format!("div{w}"), &[mode], &[a, b]),
            };
            // Both roundings treat both signs alike.
            let sign = sign_of_product(t, v[0], v[1]);
            signed(t, size, sign)
        }
        Step::Sqrt => known_nan(t, &format!("sqrt{w}"), &[mode], v),
        Step::Fma => {
            let (a, b) = (magnitude(t, v[0]), magnitude(t, v[1]));
            let sign = sign_of_product(t, v[0], v[1]);
            let addend = prims::canonical_nan(t, v[2]);
            commuting(t, &format!("fma{w}"), &[mode], (a, b), &[sign, addend])
        }
    };
    t.float(bits)
}

fn sum(t: &mut Terms, mode: Term, a: Term, b: Term) -> Term {
    let name = format!("add{}", t.width(a));
    let (a, b) = (prims::canonical_nan(t, a), prims::canonical_nan(t, b));
    commuting(t, &name, &[mode], (a, b), &[])
}

/// A function that doesn't mind the order of two operands, and gives NaN for NaN.
fn commuting(
    t: &mut Terms,
    name: &str,
    first: &[Term],
    (a, b): (Term, Term),
    rest: &[Term],
) -> Term {
    let list = |a, b| -> Vec<Term> { [a, b].iter().chain(rest).copied().collect() };
    let one = known_nan(t, name, first, &list(a, b));
    let other = known_nan(t, name, first, &list(b, a));
    let same = t.equal(one, other);
    t.assert(same);
    one
}

/// A function of which is known that it gives NaN for NaN.
fn known_nan(t: &mut Terms, name: &str, first: &[Term], v: &[Term]) -> Term {
    let w = t.width(v[0]);
    let all: Vec<Term> = first.iter().chain(v).copied().collect();
    let result = t.unknown(name, &all, Sort::Bits(w));
    let is_nan = prims::is(t, "fp.isNaN", result);
    for a in v.iter().filter(|a| t.sort(**a) == Sort::Bits(w)).copied().collect::<Vec<_>>() {
        let from = prims::is(t, "fp.isNaN", a);
        let law = t.test("=>", &[from, is_nan]);
        t.assert(law);
    }
    result
}

/// The absolute value; of a NaN the canonical one.
fn magnitude(t: &mut Terms, a: Term) -> Term {
    let w = t.width(a);
    let a = prims::canonical_nan(t, a);
    let rest = t.bits(w, !(1 << (w - 1)));
    t.bv("bvand", &[a, rest])
}

/// The sign bit of a product, alone.
fn sign_of_product(t: &mut Terms, a: Term, b: Term) -> Term {
    let w = t.width(a);
    let both = t.bv("bvxor", &[a, b]);
    t.extract(both, w - 1, w - 1)
}

/// A magnitude with a sign.
fn signed(t: &mut Terms, a: Term, sign: Term) -> Term {
    let w = t.width(a);
    let rest = t.extract(a, w - 2, 0);
    t.apply("concat", &[sign, rest], Sort::Bits(w))
}
