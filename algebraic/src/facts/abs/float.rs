//! Arithmetic on sets of floats. Their classes are in [`crate::facts::class`].

use super::*;

/// The result of an operation that rounds: the only one possible, or the environment's first choice when folding.
pub(in crate::facts) fn exactly_rounded<const N: usize>(
    e: &Env,
    w: u32,
    args: [Abs; N],
    f: impl Fn(&mut Cx, [u64; N]) -> u64,
) -> Abs {
    let Some(values) = singletons(args) else { return top(w) };
    let run = |env: FloatEnv| {
        let mut cx = Cx { env, free: false, nan: false };
        let r = f(&mut cx, values);
        (r, cx.free || cx.nan)
    };
    let (first, free) = run(e.float);
    if e.folding {
        return int(w, first);
    }
    let mut class = class::of(w, first);
    let mut same = !free;
    for denorm in [Denorm::Keep, Denorm::Flush] {
        for rounding in [Rounding::Rte, Rounding::Rtz] {
            let (other, _) = run(FloatEnv::uniform(denorm, rounding));
            same &= other == first;
            class = class.join(class::of(w, other));
        }
    }
    match same {
        true => int(w, first),
        // Either neighbour: those of the directed roundings bound it.
        false => class::float(w, class.join(class::neighbours(class))),
    }
}

/// Whether nothing at all is known.
fn is_unknown(w: u32, a: &Abs) -> bool {
    a.class == Class::ALL && is_top(w, a)
}

/// Forwards a class function of two operands, exact on singletons.
macro_rules! binary_float {
    ($($name:ident $prim:path, $class:path, $doc:literal;)*) => { $(
        #[doc = $doc]
        pub fn $name(e: &Env, w: u32, a: Abs, b: Abs) -> Abs {
            if is_unknown(w, &a) && is_unknown(w, &b) {
                return top(w);
            }
            if a.exact().is_some() && b.exact().is_some() {
                return exactly_rounded(e, w, [a, b], |cx, v| $prim(cx, w, v[0], v[1]));
            }
            class::float(w, $class(a.float_class(w), b.float_class(w)))
        }
    )* };
}

binary_float! {
    fadd prim::fadd, class::add, "`a + b`";
    fsub prim::fsub, class::sub, "`a - b`";
    fmul prim::fmul, class::mul, "`a * b`";
    fdiv prim::fdiv, class::div, "`a / b`";
}

/// `a == b`; NaN is equal to nothing.
pub fn feq(e: &Env, w: u32, a: Abs, b: Abs) -> Abs {
    compare(e, w, a, b, prim::feq, class::equal)
}

/// `a != b`; true for NaN.
pub fn fne(e: &Env, w: u32, a: Abs, b: Abs) -> Abs {
    not(1, feq(e, w, a, b))
}

/// `a < b`
pub fn flt(e: &Env, w: u32, a: Abs, b: Abs) -> Abs {
    compare(e, w, a, b, prim::flt, class::less)
}

/// `a <= b`
pub fn fle(e: &Env, w: u32, a: Abs, b: Abs) -> Abs {
    compare(e, w, a, b, prim::fle, class::less_or_equal)
}

fn compare(
    e: &Env,
    w: u32,
    a: Abs,
    b: Abs,
    run: fn(&mut Cx, u32, u64, u64) -> bool,
    by_class: fn(Class, Class) -> Option<bool>,
) -> Abs {
    if let (Some(x), Some(y)) = (a.exact(), b.exact()) {
        let at = |denorm| {
            let env = FloatEnv::uniform(denorm, Rounding::Rte);
            run(&mut Cx { env, free: false, nan: false }, w, x, y)
        };
        let (kept, flushed) = (at(Denorm::Keep), at(Denorm::Flush));
        let first = if e.float.denorm(w) == Denorm::Flush { flushed } else { kept };
        return match kept == flushed || e.folding {
            true => bool(first),
            false => top(1),
        };
    }
    match by_class(a.float_class(w), b.float_class(w)) {
        Some(v) => bool(v),
        None => top(1),
    }
}

/// Forwards a function of one operand that is exact whatever the environment, but for flushing.
macro_rules! unary_float {
    ($($name:ident $prim:path, $class:path, $doc:literal;)*) => { $(
        #[doc = $doc]
        pub fn $name(w: u32, a: Abs) -> Abs {
            match a.exact() {
                Some(v) if !class::of(w, v).may_flush() && !class::of(w, v).contains(Class::NAN) => {
                    let env = FloatEnv::uniform(Denorm::Keep, Rounding::Rte);
                    int(w, $prim(&mut Cx { env, free: false, nan: false }, w, v))
                }
                _ => class::float(w, $class(a.float_class(w))),
            }
        }
    )* };
}

unary_float! {
    floor prim::floor, class::floor, "Greatest integer not above.";
    ceil prim::ceil, class::ceil, "Least integer not below.";
    trunc prim::trunc_f, class::trunc, "Next integer toward zero.";
    round_even prim::round_even, class::trunc, "Nearest integer.";
}

/// The sign flipped.
pub fn fneg(w: u32, a: Abs) -> Abs {
    let sign = 1 << (w - 1);
    let bits = xor(w, Abs { class: Class::ALL, ..a }, int(w, sign));
    Abs { class: class::neg(a.float_class(w)), ..bits }
}

/// The sign cleared.
pub fn fabs(w: u32, a: Abs) -> Abs {
    let bits = and(w, Abs { class: Class::ALL, ..a }, int(w, mask(w) >> 1));
    Abs { class: class::abs(a.float_class(w)), ..bits }
}

/// The same number, flushed by the environment, NaN made canonical.
pub fn canonicalize(e: &Env, w: u32, a: Abs) -> Abs {
    match a.exact() {
        Some(_) => exactly_rounded(e, w, [a], |cx, v| prim::canonicalize(cx, w, v[0])),
        None => class::float(w, class::flushed(a.float_class(w))),
    }
}

/// The significand in [0.5, 1).
pub fn significand(e: &Env, w: u32, a: Abs) -> Abs {
    exactly_rounded(e, w, [a], |cx, v| prim::frexp_sig(cx, w, v[0]))
}

/// The bits of a float: those of any NaN where it may be one that arithmetic made.
pub fn bits(w: u32, a: Abs) -> Abs {
    let class = a.float_class(w);
    if a.exact().is_some() {
        return a;
    }
    if class.meets(Class::NAN) {
        return top(w);
    }
    let half = mask(w) >> 1;
    let sign = match (class.meets(Class::POS), class.meets(Class::NEG)) {
        (true, false) => range(w, 0, half),
        (false, true) => range(w, half + 1, mask(w)),
        _ => top(w),
    };
    meet(w, a, sign)
}

/// Square root.
pub fn sqrt(e: &Env, w: u32, a: Abs) -> Abs {
    match a.exact() {
        Some(_) => exactly_rounded(e, w, [a], |cx, v| prim::sqrt(cx, w, v[0])),
        None => class::float(w, class::sqrt(a.float_class(w))),
    }
}

fn has_class(w: u32, a: Abs, wanted: Class) -> Abs {
    let class = a.float_class(w);
    decide(wanted.contains(class), !class.meets(wanted))
}

/// Whether the bits are a NaN's.
pub fn is_nan(w: u32, a: Abs) -> Abs {
    has_class(w, a, Class::NAN)
}

/// Whether the bits are an infinity's.
pub fn is_inf(w: u32, a: Abs) -> Abs {
    has_class(w, a, Class::INF)
}

/// Whether the bits are neither a NaN's nor an infinity's.
pub fn is_finite(w: u32, a: Abs) -> Abs {
    not(1, has_class(w, a, Class::INF.join(Class::NAN)))
}

/// Whether the bits are a whole number's or an infinity's.
pub fn is_integral(w: u32, a: Abs) -> Abs {
    let class = a.float_class(w);
    // A denormal may be read as zero.
    let fraction = a.exact().is_some() && !class.is_integral() && !class.may_flush();
    let whole = class.is_integral() && !class.meets(Class::NAN);
    decide(whole, fraction || Class::NAN.contains(class))
}
