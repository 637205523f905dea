//! The steps of float arithmetic: as the solver's own, or as functions of which only a few laws are known.
//!
//! Most rules only move arithmetic about: both sides add and multiply the same, and a solver needn't know what a product
//! is. Made of bits, a product costs it seconds; left unknown, nothing. Every law that is given is one of the operation,
//! so that what holds of the unknown function holds of it.

use super::prims;
use super::term::{Sort, Term, Terms};
use deburr_ir_core::fold::prim;

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
    let mut laws = Laws { t, w, mode };
    let bits = match step {
        Step::Add => laws.sum(v[0], v[1]),
        Step::Sub => {
            let negated = prims::float_neg(laws.t, v[1]);
            laws.sum(v[0], negated)
        }
        Step::Mul => laws.product(v[0], v[1]),
        Step::Div => laws.quotient(v[0], v[1]),
        Step::Sqrt => laws.function("sqrt", &[v[0]], &[]),
        Step::Fma => laws.fused(v[0], v[1], v[2]),
    };
    t.float(bits)
}

/// Steps as functions of magnitudes. Both roundings treat both signs alike, so that signs can be told without knowing what a
/// function is; and a function of which two operands may change places is one of the greater and the lesser.
struct Laws<'t> {
    t: &'t mut Terms,
    w: u32,
    mode: Term,
}

impl Laws<'_> {
    /// An unknown function of magnitudes and signs that gives NaN for NaN; the sign of its result is of no account.
    fn function(&mut self, name: &str, v: &[Term], signs: &[Term]) -> Term {
        let all: Vec<Term> = [self.mode].iter().chain(v).chain(signs).copied().collect();
        let result = self.t.unknown(&format!("{name}{}", self.w), &all, Sort::Bits(self.w));
        let is_nan = prims::is(self.t, "fp.isNaN", result);
        for a in v {
            let from = prims::is(self.t, "fp.isNaN", *a);
            self.law(from, is_nan);
        }
        result
    }

    /// An unknown bit that goes with a function.
    fn bit(&mut self, name: &str, v: &[Term], sign: Term) -> Term {
        let all: Vec<Term> = [self.mode].iter().chain(v).chain([&sign]).copied().collect();
        self.t.unknown(&format!("{name}{}", self.w), &all, Sort::Bool)
    }

    fn law(&mut self, from: Term, to: Term) {
        let law = self.t.test("=>", &[from, to]);
        self.t.assert(law);
    }

    /// A law on the magnitude of a result.
    fn law_equal(&mut self, from: Term, result: Term, to: Term) {
        let (result, to) = (self.digits(result), self.digits(to));
        let same = self.t.equal(result, to);
        self.law(from, same);
    }

    /// A float without its sign bit.
    fn digits(&mut self, a: Term) -> Term {
        self.t.extract(a, self.w - 2, 0)
    }

    /// The sign bit, alone.
    fn sign(&mut self, a: Term) -> Term {
        self.t.extract(a, self.w - 1, self.w - 1)
    }

    /// The absolute value; of a NaN the canonical one.
    fn magnitude(&mut self, a: Term) -> Term {
        let a = prims::canonical_nan(self.t, a);
        let rest = self.t.bits(self.w, !(1 << (self.w - 1)));
        self.t.bv("bvand", &[a, rest])
    }

    /// The greater and the lesser of two magnitudes.
    fn sorted(&mut self, a: Term, b: Term) -> (Term, Term) {
        let greater = self.t.test("bvugt", &[a, b]);
        (self.t.ite(greater, a, b), self.t.ite(greater, b, a))
    }

    /// A magnitude with a sign.
    fn signed(&mut self, a: Term, sign: Term) -> Term {
        let digits = self.digits(a);
        self.t.apply("concat", &[sign, digits], Sort::Bits(self.w))
    }

    fn is(&mut self, a: Term, value: u64) -> Term {
        let value = self.t.bits(self.w, value);
        self.t.equal(a, value)
    }

    fn is_one(&mut self, a: Term) -> Term {
        self.is(a, prim::fconst(self.w, 1.0))
    }

    /// A sum has the sign of the greater operand; it is exact where it is small, so that it is no zero but where both cancel.
    fn sum(&mut self, a: Term, b: Term) -> Term {
        let (sign_a, sign_b) = (self.sign(a), self.sign(b));
        let (a, b) = (self.magnitude(a), self.magnitude(b));
        let (high, low) = self.sorted(a, b);
        let differ = self.t.bv("bvxor", &[sign_a, sign_b]);
        let size = self.function("add", &[high, low], &[differ]);
        let (nothing, nothing_at_all) = (self.is(low, 0), self.is(high, 0));
        self.law_equal(nothing, size, high);
        let (same, finite) = (self.t.equal(a, b), self.is_finite(high));
        let opposite = self.t.nonzero(differ);
        let cancel = self.t.all(&[same, finite, opposite]);
        let zero = self.t.bits(self.w, 0);
        self.law_equal(cancel, size, zero);
        // Small sums are exact.
        let (digits, none) = (self.digits(size), self.t.bits(self.w - 1, 0));
        let vanishes = self.t.equal(digits, none);
        let either = self.t.some(&[nothing_at_all, cancel]);
        self.law(vanishes, either);
        let infinite = self.t.not(finite);
        let infinities = self.t.all(&[same, infinite, opposite]);
        let is_nan = prims::is(self.t, "fp.isNaN", size);
        self.law(infinities, is_nan);
        let (a_wins, b_wins) = (self.t.test("bvugt", &[a, b]), self.t.test("bvugt", &[b, a]));
        let both = self.t.bv("bvand", &[sign_a, sign_b]);
        let sign = self.t.ite(b_wins, sign_b, both);
        let sign = self.t.ite(a_wins, sign_a, sign);
        self.signed(size, sign)
    }

    fn is_finite(&mut self, a: Term) -> Term {
        let inf = self.t.bits(self.w, prim::inf(self.w));
        self.t.test("bvult", &[a, inf])
    }

    fn product(&mut self, a: Term, b: Term) -> Term {
        let sign = self.sign_of_product(a, b);
        let (a, b) = (self.magnitude(a), self.magnitude(b));
        let (high, low) = self.sorted(a, b);
        let size = self.function("mul", &[high, low], &[]);
        for (one, other) in [(high, low), (low, high)] {
            let is_one = self.is_one(one);
            self.law_equal(is_one, size, other);
        }
        let (zero, finite) = (self.is(low, 0), self.is_finite(high));
        let none = self.t.all(&[zero, finite]);
        let zero = self.t.bits(self.w, 0);
        self.law_equal(none, size, zero);
        self.signed(size, sign)
    }

    fn quotient(&mut self, a: Term, b: Term) -> Term {
        let sign = self.sign_of_product(a, b);
        let (a, b) = (self.magnitude(a), self.magnitude(b));
        let size = self.function("div", &[a, b], &[]);
        let is_one = self.is_one(b);
        self.law_equal(is_one, size, a);
        self.by_power_of_two(size, a, b);
        self.signed(size, sign)
    }

    /// Division by a power of two is multiplication by its reciprocal, where both are normal.
    fn by_power_of_two(&mut self, quotient: Term, a: Term, b: Term) {
        let w = self.w;
        let one = prim::fconst(w, 1.0);
        // Bits below the exponent, whose bias is odd. The exponents of a power and of its reciprocal are twice the bias.
        let fraction = one.trailing_zeros();
        let twice = self.t.bits(w, 2 * one);
        let reciprocal = self.t.bv("bvsub", &[twice, b]);
        let (high, low) = self.sorted(a, reciprocal);
        let product = self.function("mul", &[high, low], &[]);
        let digits = self.t.extract(b, fraction - 1, 0);
        let none = self.t.bits(fraction, 0);
        let mut is_power = vec![self.t.equal(digits, none)];
        for normal in [b, reciprocal] {
            let (least, inf) = (self.t.bits(w, 1 << fraction), self.t.bits(w, prim::inf(w)));
            is_power.push(self.t.test("bvuge", &[normal, least]));
            is_power.push(self.t.test("bvult", &[normal, inf]));
        }
        let is_power = self.t.all(&is_power);
        self.law_equal(is_power, quotient, product);
    }

    /// The sign of `a·b + c` is that of the product or the other, as magnitudes have it, but where the sum is exactly zero.
    fn fused(&mut self, a: Term, b: Term, c: Term) -> Term {
        let sign = self.sign_of_product(a, b);
        let sign_c = self.sign(c);
        let (a, b, c) = (self.magnitude(a), self.magnitude(b), self.magnitude(c));
        let (high, low) = self.sorted(a, b);
        let differ = self.t.bv("bvxor", &[sign, sign_c]);
        let v = [high, low, c];
        let size = self.function("fma", &v, &[differ]);
        let (other, exact) = (self.bit("fma_sign", &v, differ), self.bit("fma_zero", &v, differ));
        let opposite = self.t.nonzero(differ);
        self.law(other, opposite);
        let zero = self.t.bits(self.w, 0);
        self.law_equal(exact, size, zero);
        let cancel = self.t.all(&[exact, opposite]);
        let flipped = self.t.bv("bvnot", &[sign]);
        let sign = self.t.ite(other, flipped, sign);
        let plus = self.t.bits(1, 0);
        let sign = self.t.ite(cancel, plus, sign);
        self.signed(size, sign)
    }

    /// The sign bit of a product, alone.
    fn sign_of_product(&mut self, a: Term, b: Term) -> Term {
        let both = self.t.bv("bvxor", &[a, b]);
        self.sign(both)
    }
}
