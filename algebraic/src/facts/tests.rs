//! Every abstract function contains what the primitive gives for all members of its operands.

use super::abs::{self, Abs, Env};
use super::class;
use super::loads::Loads;
use deburr_ir_core::fold::{Cx, Denorm, FloatEnv, Rounding, prim};

/// A small generator of numbers: the tests are the same in every run.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 24
    }
}

/// A set of 8-bit values that holds at least one, with its members.
fn set(rng: &mut Rng) -> (Abs, Vec<u64>) {
    loop {
        let (x, y) = (rng.next() & 255, rng.next() & 255);
        let kind = rng.next() % 4;
        let unknown = rng.next() & rng.next() & 255 | rng.next() & 15;
        let bits = |keep: u64| Abs { zeros: !x & keep | !255, ones: x & keep, ..abs::top(8) };
        let a = match kind {
            0 => abs::int(8, x),
            1 => Abs { lo: x.min(y), hi: x.max(y), ..abs::top(8) },
            2 => bits(!unknown & 255),
            _ => Abs { lo: x.min(y) & 0xf0, hi: x.max(y), ..bits(rng.next() & 3) },
        };
        let members: Vec<u64> = (0..256).filter(|v| a.contains(8, *v)).collect();
        if !members.is_empty() && a.ones & a.zeros == 0 {
            return (abs::tidy(8, a), members);
        }
    }
}

fn check2(name: &str, w: u32, f: impl Fn(Abs, Abs) -> Abs, g: impl Fn(u64, u64) -> u64) {
    let mut rng = Rng(1);
    for _ in 0..150 {
        let ((a, xs), (b, ys)) = (set(&mut rng), set(&mut rng));
        let out = f(a, b);
        for x in &xs {
            for y in &ys {
                let v = g(*x, *y);
                assert!(
                    out.contains(w, v),
                    "{name}({a:?}, {b:?}) = {out:?} lacks {v} for {x}, {y}"
                );
            }
        }
        if let ([x], [y]) = (xs.as_slice(), ys.as_slice())
            && a.exact().is_some()
            && b.exact().is_some()
        {
            assert_eq!(out.exact(), Some(g(*x, *y)), "{name} is exact on {x}, {y}");
        }
    }
}

fn check1(name: &str, w: u32, f: impl Fn(Abs) -> Abs, g: impl Fn(u64) -> u64) {
    check2(name, w, |a, _| f(a), |x, _| g(x));
}

#[test]
fn integers_contain_every_result() {
    check2("add", 8, |a, b| abs::add(8, a, b), |x, y| prim::iadd(8, x, y));
    check2("sub", 8, |a, b| abs::sub(8, a, b), |x, y| prim::isub(8, x, y));
    check2("mul", 8, |a, b| abs::mul(8, a, b), |x, y| prim::imul(8, x, y));
    check2("udiv", 8, |a, b| abs::udiv(8, a, b), |x, y| prim::udiv(8, x, y));
    check2("urem", 8, |a, b| abs::urem(8, a, b), |x, y| prim::urem(8, x, y));
    check2("idiv", 8, |a, b| abs::idiv(8, a, b), |x, y| prim::idiv(8, x, y));
    check2("irem", 8, |a, b| abs::irem(8, a, b), |x, y| prim::irem(8, x, y));
    check2("and", 8, |a, b| abs::and(8, a, b), |x, y| x & y);
    check2("or", 8, |a, b| abs::or(8, a, b), |x, y| x | y);
    check2("xor", 8, |a, b| abs::xor(8, a, b), |x, y| x ^ y);
    check2("shl", 8, |a, b| abs::shl(8, a, b), |x, y| prim::shl(8, x, y));
    check2("ushr", 8, |a, b| abs::ushr(8, a, b), |x, y| prim::ushr(8, x, y));
    check2("ishr", 8, |a, b| abs::ishr(8, a, b), |x, y| prim::ishr(8, x, y));
    check2("umin", 8, |a, b| abs::umin(8, a, b), |x, y| prim::umin(8, x, y));
    check2("umax", 8, |a, b| abs::umax(8, a, b), |x, y| prim::umax(8, x, y));
    check2("imin", 8, |a, b| abs::imin(8, a, b), |x, y| prim::imin(8, x, y));
    check2("imax", 8, |a, b| abs::imax(8, a, b), |x, y| prim::imax(8, x, y));
    check1("neg", 8, |a| abs::neg(8, a), |x| prim::ineg(8, x));
    check1("not", 8, |a| abs::not(8, a), |x| prim::inot(8, x));
    check1("iabs", 8, |a| abs::iabs(8, a), |x| prim::iabs(8, x));
}

#[test]
fn counts_and_casts_contain_every_result() {
    check1("count_ones", 32, |a| abs::count_ones(8, a), |x| prim::count_ones(8, x));
    check1("leading_zeros", 32, |a| abs::leading_zeros(8, a), |x| prim::leading_zeros(8, x));
    check1("trailing_zeros", 32, |a| abs::trailing_zeros(8, a), |x| prim::trailing_zeros(8, x));
    check1("ilog2", 32, |a| abs::ilog2(8, a), |x| prim::ilog2(8, x));
    check1("zero_cast up", 16, |a| abs::zero_cast(8, 16, a), |x| x);
    check1("sign_cast up", 16, |a| abs::sign_cast(8, 16, a), |x| prim::sext(8, x) & 0xffff);
    check1("cast down", 1, |a| abs::zero_cast(8, 1, a), |x| x & 1);
}

#[test]
fn compares_contain_every_result() {
    let int = u64::from;
    check2("eq", 1, |a, b| abs::eq(8, a, b), |x, y| int(x == y));
    check2("ne", 1, |a, b| abs::ne(8, a, b), |x, y| int(x != y));
    check2("ult", 1, |a, b| abs::ult(8, a, b), |x, y| int(x < y));
    check2("ule", 1, |a, b| abs::ule(8, a, b), |x, y| int(x <= y));
    check2("ilt", 1, |a, b| abs::ilt(8, a, b), |x, y| int(prim::ilt(8, x, y)));
    check2("ile", 1, |a, b| abs::ile(8, a, b), |x, y| int(prim::ile(8, x, y)));
}

#[test]
fn branches_keep_every_value_that_reaches_them() {
    type Assume = fn(u32, Abs, Abs, bool) -> Abs;
    let cases: [(&str, Assume, Assume, fn(u64, u64) -> bool); 6] = [
        ("ult", abs::assume_ult_left, abs::assume_ult_right, |x, y| x < y),
        ("ule", abs::assume_ule_left, abs::assume_ule_right, |x, y| x <= y),
        ("ilt", abs::assume_ilt_left, abs::assume_ilt_right, |x, y| prim::ilt(8, x, y)),
        ("ile", abs::assume_ile_left, abs::assume_ile_right, |x, y| prim::ile(8, x, y)),
        ("eq", abs::assume_eq_left, abs::assume_eq_right, |x, y| x == y),
        ("ne", abs::assume_ne_left, abs::assume_ne_right, |x, y| x != y),
    ];
    for (name, left, right, holds) in cases {
        let mut rng = Rng(2);
        for _ in 0..100 {
            let ((a, xs), (b, ys)) = (set(&mut rng), set(&mut rng));
            for x in &xs {
                for y in &ys {
                    let h = holds(*x, *y);
                    assert!(
                        left(8, a, b, h).contains(8, *x),
                        "{name} left {a:?} {b:?} {h} lacks {x}"
                    );
                    assert!(
                        right(8, a, b, h).contains(8, *y),
                        "{name} right {a:?} {b:?} {h} lacks {y}"
                    );
                }
            }
        }
    }
}

/// Patterns of every kind of f16.
const HALVES: [u64; 24] = [
    0, 1, 0x3ff, 0x400, 0x1400, 0x3800, 0x3c00, 0x3e00, 0x4000, 0x4200, 0x7bff, 0x7c00, 0x7e00,
    0x7c01, 0x8000, 0x8001, 0x83ff, 0x8400, 0xb800, 0xbc00, 0xbe00, 0xfbff, 0xfc00, 0xfe00,
];

/// Sets of floats by class, built from pairs of patterns.
fn float_sets() -> Vec<(Abs, Vec<u64>)> {
    let mut out = Vec::new();
    for x in HALVES {
        out.push((abs::int(16, x), vec![x]));
        for y in HALVES {
            let class = class::of(16, x).join(class::of(16, y));
            let a = class::float(16, class);
            out.push((a, HALVES.iter().copied().filter(|v| a.contains(16, *v)).collect()));
        }
    }
    out
}

fn envs() -> Vec<Env> {
    let mut out = Vec::new();
    for denorm in [Denorm::Keep, Denorm::Flush, Denorm::Any] {
        for rounding in [Rounding::Rte, Rounding::Rtz, Rounding::Any] {
            out.push(Env { float: FloatEnv::uniform(denorm, rounding), folding: false });
        }
    }
    out
}

/// Environments that an instruction may be computed under, given that of its function.
fn members(env: &Env) -> Vec<FloatEnv> {
    let denorms = match env.float.denorm(16) {
        Denorm::Any => vec![Denorm::Keep, Denorm::Flush],
        one => vec![one],
    };
    let roundings = match env.float.rounding(16) {
        Rounding::Any => vec![Rounding::Rte, Rounding::Rtz],
        one => vec![one],
    };
    denorms.iter().flat_map(|d| roundings.iter().map(|r| FloatEnv::uniform(*d, *r))).collect()
}

#[test]
fn floats_contain_every_result() {
    type F = fn(&Env, u32, Abs, Abs) -> Abs;
    type G = fn(&mut Cx, u32, u64, u64) -> u64;
    let cases: [(&str, u32, F, G); 8] = [
        ("fadd", 16, abs::fadd, prim::fadd),
        ("fsub", 16, abs::fsub, prim::fsub),
        ("fmul", 16, abs::fmul, prim::fmul),
        ("fdiv", 16, abs::fdiv, prim::fdiv),
        ("feq", 1, abs::feq, |cx, w, x, y| prim::feq(cx, w, x, y).into()),
        ("flt", 1, abs::flt, |cx, w, x, y| prim::flt(cx, w, x, y).into()),
        ("fle", 1, abs::fle, |cx, w, x, y| prim::fle(cx, w, x, y).into()),
        ("sqrt", 16, |e, w, a, _| abs::sqrt(e, w, a), |cx, w, x, _| prim::sqrt(cx, w, x)),
    ];
    let sets = float_sets();
    for env in envs() {
        for (name, w, f, g) in cases {
            for (i, (a, xs)) in sets.iter().enumerate().step_by(13) {
                for (b, ys) in sets.iter().skip(i % 17).step_by(29) {
                    let out = f(&env, 16, *a, *b);
                    for x in xs {
                        for y in ys {
                            for float in members(&env) {
                                let v =
                                    g(&mut Cx { env: float, free: false, nan: false }, 16, *x, *y);
                                assert!(
                                    out.contains(w, v),
                                    "{name}({a:?}, {b:?}) = {out:?} lacks {v:#x} for {x:#x}, {y:#x} in {float:?}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn float_steps_contain_every_result() {
    type F = fn(u32, Abs) -> Abs;
    type G = fn(&mut Cx, u32, u64) -> u64;
    let cases: [(&str, F, G); 6] = [
        ("floor", abs::floor, prim::floor),
        ("ceil", abs::ceil, prim::ceil),
        ("trunc", abs::trunc, prim::trunc_f),
        ("round_even", abs::round_even, prim::round_even),
        ("fneg", abs::fneg, |_, w, x| prim::fneg(w, x)),
        ("fabs", abs::fabs, |_, w, x| prim::fabs(w, x)),
    ];
    for (name, f, g) in cases {
        for (a, xs) in float_sets() {
            let out = f(16, a);
            for x in &xs {
                for denorm in [Denorm::Keep, Denorm::Flush] {
                    let env = FloatEnv::uniform(denorm, Rounding::Rte);
                    let v = g(&mut Cx { env, free: false, nan: false }, 16, *x);
                    assert!(out.contains(16, v), "{name}({a:?}) = {out:?} lacks {v:#x} for {x:#x}");
                }
            }
        }
    }
}

#[test]
fn what_is_told_of_floats_holds_for_every_value() {
    for (a, xs) in float_sets() {
        let (whole, bits) = (abs::is_integral(16, a), abs::bits(16, a));
        let env = Env { float: FloatEnv::default(), folding: false };
        let significand = abs::significand(&env, 16, a);
        // The kinds alone do not say that a member is whole.
        let member = |x: &&u64| !a.class.is_integral() || class::of(16, **x).is_integral();
        for x in xs.iter().filter(member) {
            for denorm in [Denorm::Keep, Denorm::Flush] {
                let float = FloatEnv::uniform(denorm, Rounding::Rte);
                let mut cx = Cx { env: float, free: false, nan: false };
                let truncated = prim::trunc_f(&mut cx, 16, *x);
                let is_whole = prim::feq(&mut cx, 16, truncated, *x);
                assert!(whole.contains(1, is_whole.into()), "{a:?} says {whole:?} of {x:#x}");
                assert!(bits.contains(16, *x), "{a:?} has no {x:#x} among {bits:?}");
                let v = prim::frexp_sig(&mut cx, 16, *x);
                assert!(significand.contains(16, v), "{a:?}: {significand:?} lacks {v:#x}");
            }
        }
    }
    let half = abs::float(16, 0.5f64.to_bits());
    assert_eq!(abs::truth(abs::is_integral(16, half)), Some(false));
    let whole = abs::floor(
        16,
        abs::u2f(&Env { float: FloatEnv::default(), folding: false }, 16, 16, abs::top(16)),
    );
    assert_eq!(abs::truth(abs::is_integral(16, whole)), Some(true));
}

#[test]
fn float_branches_keep_every_value_that_reaches_them() {
    let env = Env { float: FloatEnv::default(), folding: false };
    let sets = float_sets();
    for (i, (a, xs)) in sets.iter().enumerate().step_by(3) {
        for (b, ys) in sets.iter().skip(i % 7).step_by(5) {
            for x in xs {
                for y in ys {
                    for denorm in [Denorm::Keep, Denorm::Flush] {
                        let float = FloatEnv::uniform(denorm, Rounding::Rte);
                        let cx = &mut Cx { env: float, free: false, nan: false };
                        let less = prim::flt(cx, 16, *x, *y);
                        let not_above = prim::fle(cx, 16, *x, *y);
                        let text = || format!("{a:?} {b:?} {x:#x} {y:#x} {less} {not_above}");
                        assert!(
                            abs::assume_flt_left(&env, 16, *a, *b, less).contains(16, *x),
                            "{}",
                            text()
                        );
                        assert!(
                            abs::assume_flt_right(&env, 16, *a, *b, less).contains(16, *y),
                            "{}",
                            text()
                        );
                        assert!(
                            abs::assume_fle_left(&env, 16, *a, *b, not_above).contains(16, *x),
                            "{}",
                            text()
                        );
                        assert!(
                            abs::assume_fle_right(&env, 16, *a, *b, not_above).contains(16, *y),
                            "{}",
                            text()
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn numbers_between_two_are_of_the_kinds_between_them() {
    let ends = [f64::NEG_INFINITY, -65504.0, -1.0, 0.0, 1e-7, 0.5, 1.0, 65504.0, f64::INFINITY];
    let value = |v: u64| {
        let env = FloatEnv::uniform(Denorm::Keep, Rounding::Rte);
        let mut cx = Cx { env, free: false, nan: false };
        f64::from_bits(prim::f2f(&mut cx, 16, 64, v))
    };
    for (n, low) in ends.into_iter().enumerate() {
        for high in ends.into_iter().skip(n) {
            let a = class::float(16, class::between(low, high));
            for v in 0..=0xffff {
                let x = value(v);
                if x >= low && x <= high {
                    assert!(a.contains(16, v), "{low} to {high}: {a:?} lacks {v:#x}");
                }
                if x.is_nan() || x < 0.0 && low >= 0.0 || x.is_infinite() && high < 1e9 && x > 0.0 {
                    assert!(!a.contains(16, v), "{low} to {high}: {a:?} has {v:#x}");
                }
            }
        }
    }
}

/// The sizes of the workgroups that run the functions of a module.
fn sizes(text: &str) -> Vec<Option<[u32; 3]>> {
    let module = deburr_ir_core::parse(text).unwrap_or_else(|errors| panic!("{}", errors[0]));
    Loads::of_module(&module).iter().map(|loads| loads.size).collect()
}

#[test]
fn a_size_is_known_unless_the_pipeline_may_choose_it() {
    let with = |mode: &str, specs: &str| {
        let shader = format!("shader compute \"main\" entry(main){mode}\n{specs}");
        sizes(&format!("{shader}decl_function main()\nimpl main {{\n  block b0:\n}}\n"))
    };
    assert_eq!(with(" LocalSize(8, 4, 2)", ""), [Some([8, 4, 2])]);
    assert_eq!(with("", ""), [None]);
    let fixed = "decl_spec u32 $n = 4\n";
    assert_eq!(with(" LocalSizeId($n, 1, $n)", fixed), [Some([4, 1, 4])]);
    let open = "decl_spec u32 $n (7) = 4\n";
    assert_eq!(with(" LocalSizeId($n, 1, 1)", open), [None]);
    // The built-in constant stands above the execution mode.
    let size = "decl_spec BuiltIn(25) u32x3 $size = {$n, 2, 1}\n";
    assert_eq!(with(" LocalSize(8, 8, 8)", &format!("{fixed}{size}")), [Some([4, 2, 1])]);
    assert_eq!(with(" LocalSize(8, 8, 8)", &format!("{open}{size}")), [None]);
}

#[test]
fn a_function_has_the_largest_workgroup_of_all_that_reach_it() {
    let function = |name: &str, calls: &str| format!("impl {name} {{\n  block b0:\n{calls}}}\n");
    let names = ["a", "b", "c", "both", "deep", "alone"];
    let text = |last: &str| {
        let entries = [("a", "LocalSize(8, 1, 1)"), ("b", "LocalSize(4, 4, 1)"), ("c", last)];
        let shaders =
            entries.map(|(f, mode)| format!("shader compute \"{f}\" entry({f}) {mode}\n"));
        let declared = names.map(|f| format!("decl_function {f}()\n"));
        let bodies = [
            function("a", "    call both()\n"),
            function("b", "    call both()\n"),
            function("c", "    call deep()\n"),
            function("both", "    call deep()\n"),
            function("deep", ""),
            function("alone", ""),
        ];
        [shaders.concat(), declared.concat(), bodies.concat()].concat()
    };
    let [a, b, both] = [[8, 1, 1], [4, 4, 1], [8, 4, 1]].map(Some);
    let (c, deep) = (Some([1, 1, 2]), Some([8, 4, 2]));
    assert_eq!(sizes(&text("LocalSize(1, 1, 2)")), [a, b, c, both, deep, None]);
    assert_eq!(sizes(&text("")), [a, b, None, both, None, None]);
}
