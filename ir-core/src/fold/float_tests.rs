//! Tests of the soft floats: against hardware, against sorted tables of all binary16 numbers, and by residuals.

use super::*;
use Rounding::{Rte, Rtz};

/// A count of random cases: a fifth of the full one, or the share that `DEBURR_CASES` asks for.
fn cases(full: u32) -> u32 {
    let share = std::env::var("DEBURR_CASES").ok().and_then(|v| v.parse().ok()).unwrap_or(0.2);
    (f64::from(full) * share).ceil() as u32
}

/// xorshift64*, seeded; half of the patterns are near the corners of the format.
struct Patterns(u64);

impl Patterns {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn float(&mut self, w: u32) -> u64 {
        let mask = u64::MAX >> (64 - w);
        let raw = self.next();
        let f = Format::of(w);
        match raw >> 60 {
            // Few significant bits, so that ties and exact results happen.
            0..4 => self.next() & mask & !(f.frac_mask() >> 3),
            // Near one in magnitude, so that sums cancel.
            4..8 => {
                let exponent = (f.bias() as u64 + (raw >> 50 & 3)) << f.frac_bits;
                exponent | self.next() & (f.frac_mask() | f.sign_bit())
            }
            // Denormal, or the least normal ones.
            8..10 => self.next() & (f.frac_mask() << 1 | 1 | f.sign_bit()),
            10 => [0, f.sign_bit(), inf(w), inf(w) | f.sign_bit(), nan(w), 1, inf(w) - 1]
                [(raw >> 40 & 0xffff) as usize % 7],
            _ => self.next() & mask,
        }
    }
}

/// A correctly rounded result by search among all finite binary16 numbers.
struct Halves {
    /// Magnitudes in order; the index is the pattern.
    values: Vec<f64>,
}

impl Halves {
    fn new() -> Self {
        let value = |p: u64| {
            let (e, frac) = ((p >> 10) as i32, (p & 0x3ff) as f64);
            if e == 0 { frac * 2f64.powi(-24) } else { (1.0 + frac / 1024.0) * 2f64.powi(e - 15) }
        };
        Halves { values: (0..0x7c00).map(value).collect() }
    }

    fn of(&self, pattern: u64) -> f64 {
        let magnitude = match pattern & 0x7fff {
            0x7c00 => f64::INFINITY,
            p if p > 0x7c00 => f64::NAN,
            p => self.values[p as usize],
        };
        if pattern & 0x8000 != 0 { -magnitude } else { magnitude }
    }

    fn round(&self, v: f64, rounding: Rounding) -> u64 {
        if v.is_nan() {
            return 0x7e00;
        }
        let sign = if v.is_sign_negative() { 0x8000 } else { 0 };
        let v = v.abs();
        if v.is_infinite() {
            return sign | 0x7c00;
        }
        // Between the last value not above v and the next one, which beyond the greatest is 65536, standing for Inf.
        let low = self.values.partition_point(|&x| x <= v) - 1;
        let below = self.values[low];
        let above = self.values.get(low + 1).copied().unwrap_or(65536.0);
        let middle = (below + above) / 2.0;
        let up = rounding == Rte && (v > middle || v == middle && low & 1 == 1);
        sign | (low + usize::from(up)) as u64
    }
}

#[test]
fn every_half_converts_rounds_and_has_a_root() {
    let halves = Halves::new();
    for a in 0..0x10000u64 {
        let v = halves.of(a);
        let expect = |v: f64| halves.round(v, Rte);
        assert_eq!(convert(16, 64, a, Rte), canonical_nan(64, v.to_bits()), "{a:#x} to f64");
        assert_eq!(
            convert(16, 32, a, Rtz),
            canonical_nan(32, (v as f32).to_bits().into()),
            "{a:#x} to f32"
        );
        assert_eq!(round_integral(16, a, Integral::Floor), expect(v.floor()), "floor {a:#x}");
        assert_eq!(round_integral(16, a, Integral::Ceil), expect(v.ceil()), "ceil {a:#x}");
        assert_eq!(round_integral(16, a, Integral::Zero), expect(v.trunc()), "trunc {a:#x}");
        assert_eq!(
            round_integral(16, a, Integral::Even),
            expect(v.round_ties_even()),
            "even {a:#x}"
        );
        for rounding in [Rte, Rtz] {
            let root = if v < 0.0 { f64::NAN } else { v.sqrt() };
            assert_eq!(
                sqrt(16, a, rounding),
                halves.round(root, rounding),
                "sqrt {a:#x} {rounding:?}"
            );
        }
        let whole = if v.is_nan() { None } else { Some(v.trunc().clamp(-1e30, 1e30) as i128) };
        let got = to_integer(16, a)
            .map(|i| if v.is_infinite() { i.signum() * 10i128.pow(30) } else { i });
        match (got, whole) {
            (Some(x), Some(y)) if v.is_infinite() => assert_eq!(x.signum(), y.signum()),
            _ => assert_eq!(got, whole, "integer of {a:#x}"),
        }
    }
}

#[test]
fn sums_products_and_quotients_of_halves() {
    let halves = Halves::new();
    let mut random = Patterns(1);
    for _ in 0..cases(400_000) {
        let (a, b, c) = (random.float(16), random.float(16), random.float(16));
        let (x, y, z) = (halves.of(a), halves.of(b), halves.of(c));
        for rounding in [Rte, Rtz] {
            let expect = |v: f64| halves.round(v, rounding);
            // Sums and products of halves are exact in binary64; a quotient's error can't reach a middle.
            assert_eq!(add(16, a, b, rounding), expect(x + y), "{a:#x} + {b:#x} {rounding:?}");
            assert_eq!(sub(16, a, b, rounding), expect(x - y), "{a:#x} - {b:#x} {rounding:?}");
            assert_eq!(mul(16, a, b, rounding), expect(x * y), "{a:#x} * {b:#x} {rounding:?}");
            if rounding == Rte {
                assert_eq!(div(16, a, b, rounding), expect(x / y), "{a:#x} / {b:#x}");
            }
            // The exact a * b + c needs up to 22 + 40 bits; where the native sum is exact it is the reference.
            let sum = x * y + z;
            if sum - x * y == z && sum - z == x * y || !sum.is_finite() {
                assert_eq!(fma(16, a, b, c, rounding), expect(sum), "{a:#x} * {b:#x} + {c:#x}");
            }
        }
        assert_eq!(lt(16, a, b), x < y);
        assert_eq!(le(16, a, b), x <= y);
        assert_eq!(eq(16, a, b), x == y);
    }
}

#[test]
fn software_agrees_with_hardware_to_nearest() {
    let mut random = Patterns(2);
    for _ in 0..cases(300_000) {
        let (a, b, c) = (random.float(32), random.float(32), random.float(32));
        let [x, y, z] = [a, b, c].map(|p| f32::from_bits(p as u32));
        let expect = |v: f32| canonical_nan(32, v.to_bits().into());
        assert_eq!(add_in_software(32, a, b, Rte), expect(x + y), "{a:#x} + {b:#x}");
        assert_eq!(mul_in_software(32, a, b, Rte), expect(x * y), "{a:#x} * {b:#x}");
        assert_eq!(div_in_software(32, a, b, Rte), expect(x / y), "{a:#x} / {b:#x}");
        assert_eq!(sqrt(32, a, Rte), expect(x.sqrt()), "sqrt {a:#x}");
        assert_eq!(fma(32, a, b, c, Rte), expect(x.mul_add(y, z)), "{a:#x} * {b:#x} + {c:#x}");
        assert_eq!(round_integral(32, a, Integral::Even), expect(x.round_ties_even()));
        assert_eq!(round_integral(32, a, Integral::Floor), expect(x.floor()));
        assert_eq!(convert(32, 64, a, Rte), canonical_nan(64, f64::from(x).to_bits()));

        let (a, b, c) = (random.float(64), random.float(64), random.float(64));
        let [x, y, z] = [a, b, c].map(f64::from_bits);
        let expect = |v: f64| canonical_nan(64, v.to_bits());
        assert_eq!(add_in_software(64, a, b, Rte), expect(x + y), "{a:#x} + {b:#x}");
        assert_eq!(mul_in_software(64, a, b, Rte), expect(x * y), "{a:#x} * {b:#x}");
        assert_eq!(div_in_software(64, a, b, Rte), expect(x / y), "{a:#x} / {b:#x}");
        assert_eq!(sqrt(64, a, Rte), expect(x.sqrt()), "sqrt {a:#x}");
        assert_eq!(fma(64, a, b, c, Rte), expect(x.mul_add(y, z)), "{a:#x} * {b:#x} + {c:#x}");
        assert_eq!(round_integral(64, a, Integral::Ceil), expect(x.ceil()));
        assert_eq!(round_integral(64, a, Integral::Zero), expect(x.trunc()));
        assert_eq!(
            convert(64, 32, a, Rte),
            canonical_nan(32, (x as f32).to_bits().into()),
            "{a:#x} to f32"
        );
        assert_eq!(lt(64, a, b), x < y);
        assert_eq!(eq(64, a, b), x == y);
    }
}

/// The neighbour of a finite number toward zero.
fn toward_zero(w: u32, a: u64) -> u64 {
    if is_inf(w, a) || a & !sign_bit(w) != 0 { a - 1 } else { a }
}

#[test]
fn toward_zero_never_exceeds_the_exact_result() {
    let mut random = Patterns(3);
    for _ in 0..cases(300_000) {
        let (a, b) = (random.float(64), random.float(64));
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        // The residual of a product or quotient is exact away from overflow and underflow, and says on which side the
        // nearest one lies.
        let moderate = |v: f64| v.abs() > 1e-200 && v.abs() < 1e200;
        if !moderate(x) || !moderate(y) {
            continue;
        }
        let p = x * y;
        if moderate(p) {
            let beyond = x.mul_add(y, -p) * p.signum() < 0.0;
            let expect = if beyond { toward_zero(64, p.to_bits()) } else { p.to_bits() };
            assert_eq!(mul(64, a, b, Rtz), expect, "{a:#x} * {b:#x}");
        }
        let q = x / y;
        if moderate(q) {
            // x - q*y has the sign of the error of q times that of y.
            let beyond = (-q).mul_add(y, x) * y.signum() * q.signum() < 0.0;
            let expect = if beyond { toward_zero(64, q.to_bits()) } else { q.to_bits() };
            assert_eq!(div(64, a, b, Rtz), expect, "{a:#x} / {b:#x}");
        }
        // Knuth's two-sum: the error of a sum, exactly.
        let s = x + y;
        let t = s - x;
        let error = (x - (s - t)) + (y - t);
        let beyond = error * s.signum() < 0.0;
        let expect = if beyond { toward_zero(64, s.to_bits()) } else { s.to_bits() };
        assert_eq!(add(64, a, b, Rtz), expect, "{a:#x} + {b:#x}");
        let r = x.abs().sqrt();
        let expect =
            if r.mul_add(-r, x.abs()) < 0.0 { toward_zero(64, r.to_bits()) } else { r.to_bits() };
        assert_eq!(sqrt(64, a & !sign_bit(64), Rtz), expect, "sqrt {a:#x}");
    }
}

#[test]
fn single_toward_zero_is_the_wide_result_cut_off() {
    let mut random = Patterns(4);
    let cut = |v: f64| {
        if v.is_nan() {
            return nan(32);
        }
        let near = v as f32;
        let near_bits = u64::from(near.to_bits());
        if f64::from(near).abs() > v.abs() { toward_zero(32, near_bits) } else { near_bits }
    };
    for _ in 0..cases(300_000) {
        let (a, b) = (random.float(32), random.float(32));
        let (x, y) = (f64::from(f32::from_bits(a as u32)), f64::from(f32::from_bits(b as u32)));
        assert_eq!(mul(32, a, b, Rtz), cut(x * y), "{a:#x} * {b:#x}");
        let s = x + y;
        if s - x == y && s - y == x {
            assert_eq!(add(32, a, b, Rtz), cut(s), "{a:#x} + {b:#x}");
        }
        let wide = random.float(64);
        assert_eq!(convert(64, 32, wide, Rtz), cut(f64::from_bits(wide)), "{wide:#x} to f32");
    }
}

#[test]
fn fma_toward_zero_is_at_most_one_step_from_nearest() {
    let mut random = Patterns(5);
    for w in [16, 32, 64] {
        for _ in 0..cases(100_000) {
            let (a, b, c) = (random.float(w), random.float(w), random.float(w));
            let (near, cut) = (fma(w, a, b, c, Rte), fma(w, a, b, c, Rtz));
            assert!(cut == near || cut == toward_zero(w, near), "{a:#x} {b:#x} {c:#x}");
            // With c = 0 it is the product, with b = 1 the sum, but for the sign of an exact zero.
            let zero = c & sign_bit(w);
            let product = mul(w, a, b, Rtz);
            if product & !sign_bit(w) != 0 {
                assert_eq!(fma(w, a, b, zero, Rtz), product, "{a:#x} * {b:#x}");
            }
            assert_eq!(fma(w, a, one(w), c, Rtz), add(w, a, c, Rtz), "{a:#x} + {c:#x}");
        }
    }
}

#[test]
fn integers_round_like_the_host() {
    let mut random = Patterns(6);
    for _ in 0..cases(200_000) {
        let shift = random.next() % 64;
        let i = random.next() >> shift;
        assert_eq!(from_integer(64, false, i, Rte), (i as f64).to_bits());
        assert_eq!(from_integer(32, false, i, Rte), (i as f32).to_bits().into());
        let signed = i as i64;
        assert_eq!(
            from_integer(64, signed < 0, signed.unsigned_abs(), Rte),
            (signed as f64).to_bits()
        );
        for w in [16, 32, 64] {
            // Toward zero and back never exceeds the integer, and misses it by less than a unit of the last place.
            if let Some(back) = to_integer(w, from_integer(w, false, i, Rtz)) {
                let digits = Format::of(w).frac_bits + 1;
                let top = i.checked_ilog2().unwrap_or(0) + 1;
                let unit = 1i128 << top.saturating_sub(digits);
                let i = if w == 16 { i.min(65504) } else { i };
                assert!(back <= i128::from(i) && i128::from(i) - back < unit, "{i} at {w}");
            }
        }
        let a = random.float(64);
        let v = f64::from_bits(a);
        match to_integer(64, a) {
            None => assert!(v.is_nan()),
            Some(x) => assert_eq!(x.clamp(i64::MIN.into(), i64::MAX.into()) as i64, v as i64),
        }
    }
    assert_eq!(from_integer(16, false, 65519, Rte), 0x7bff);
    assert_eq!(from_integer(16, false, 65520, Rte), 0x7c00);
    assert_eq!(from_integer(16, true, u64::MAX, Rtz), 0xfbff);
}

#[test]
fn scaling_and_splitting_undo_each_other() {
    let mut random = Patterns(7);
    for w in [16, 32, 64] {
        for _ in 0..cases(50_000) {
            let a = random.float(w);
            let Some((significand, exponent)) = split(w, a) else { continue };
            let magnitude = significand & !sign_bit(w);
            let half = one(w) - (1 << Format::of(w).frac_bits);
            assert!((half..one(w)).contains(&magnitude), "{a:#x}");
            assert_eq!(scale(w, significand, exponent, Rtz), a);
        }
        assert_eq!(scale(w, one(w), i32::MAX, Rte), inf(w));
        assert_eq!(scale(w, one(w), i32::MAX, Rtz), inf(w) - 1);
        assert_eq!(scale(w, one(w), i32::MIN, Rte), 0);
        assert!(split(w, 0).is_none() && split(w, inf(w)).is_none() && split(w, nan(w)).is_none());
    }
}

#[test]
fn special_values() {
    for w in [16, 32, 64] {
        for rounding in [Rte, Rtz] {
            let (inf, minus) = (inf(w), inf(w) | sign_bit(w));
            let zero = sign_bit(w);
            assert_eq!(add(w, inf, minus, rounding), nan(w));
            assert_eq!(add(w, zero, zero, rounding), zero);
            assert_eq!(add(w, zero, 0, rounding), 0);
            assert_eq!(sub(w, one(w), one(w), rounding), 0);
            assert_eq!(mul(w, inf, 0, rounding), nan(w));
            assert_eq!(div(w, one(w), zero, rounding), minus);
            assert_eq!(div(w, 0, 0, rounding), nan(w));
            assert_eq!(div(w, one(w), minus, rounding), zero);
            assert_eq!(sqrt(w, zero, rounding), zero);
            assert_eq!(sqrt(w, minus, rounding), nan(w));
            assert_eq!(fma(w, inf, 0, one(w), rounding), nan(w));
            assert_eq!(fma(w, one(w), one(w), minus, rounding), minus);
            // A signalling NaN comes out canonical.
            assert_eq!(add(w, inf | 1, one(w), rounding), nan(w));
        }
        let greatest = inf(w) - 1;
        assert_eq!(add(w, greatest, greatest, Rte), inf(w));
        assert_eq!(add(w, greatest, greatest, Rtz), greatest);
    }
}
