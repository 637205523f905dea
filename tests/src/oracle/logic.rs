//! Comparisons, selections and booleans: semantics 8 and 14.

use super::{Lane, Point, Table, Value, fp};
use std::cmp::Ordering;

/// Adds the family to the table.
pub fn define(t: &mut Table) {
    t.family("comparisons");
    comparisons(t);
    float_valued(t);
    t.family("vector comparisons");
    vector_comparisons(t);
    t.family("selections");
    selections(t);
}

const BOOLS: [(&str, &str); 4] =
    [("", "bool1"), ("8", "bool8"), ("16", "bool16"), ("32", "bool32")];

/// The order of two float operands of a lane.
fn order(l: &Lane) -> Option<Ordering> {
    l.fp(0).order(l.v[0], l.v[1])
}

type Test = fn(&Lane) -> bool;
type Class = fn(u32, u64) -> bool;

fn comparisons(t: &mut Table) {
    let floats: [(&str, Test); 6] = [
        ("feq", |l| order(l) == Some(Ordering::Equal)),
        ("fneu", |l| order(l) != Some(Ordering::Equal)),
        ("flt", |l| order(l) == Some(Ordering::Less)),
        ("fge", |l| matches!(order(l), Some(Ordering::Greater | Ordering::Equal))),
        ("fequ", |l| matches!(order(l), None | Some(Ordering::Equal))),
        ("fneo", |l| matches!(order(l), Some(Ordering::Less | Ordering::Greater))),
    ];
    let ints: [(&str, &str, Test); 6] = [
        ("ieq", "int", |l| l.v[0] == l.v[1]),
        ("ine", "int", |l| l.v[0] != l.v[1]),
        ("ilt", "int", |l| l.s(0) < l.s(1)),
        ("ige", "int", |l| l.s(0) >= l.s(1)),
        ("ult", "uint", |l| l.u(0) < l.u(1)),
        ("uge", "uint", |l| l.u(0) >= l.u(1)),
    ];
    for (suffix, result) in BOOLS {
        for (name, test) in floats {
            t.each(&format!("{name}{suffix}"), &format!("float, float -> {result}"), move |l| {
                l.bool(test(l))
            });
        }
        for (name, base, test) in ints {
            t.each(&format!("{name}{suffix}"), &format!("{base}, {base} -> {result}"), move |l| {
                l.bool(test(l))
            });
            t.sizes(&[1, 8, 16, 32, 64]);
        }
    }
    let classes: [(&str, Class); 4] = [
        ("fisnan", fp::is_nan),
        ("fisinf", fp::is_inf),
        ("fisfinite", |w, a| !fp::is_nan(w, a) && !fp::is_inf(w, a)),
        ("fisnormal", |w, a| {
            !fp::is_nan(w, a) && !fp::is_inf(w, a) && !fp::is_zero(w, a) && !fp::is_denormal(w, a)
        }),
    ];
    for (suffix, result) in BOOLS {
        for (name, test) in classes {
            t.each(&format!("{name}{suffix}"), &format!("float -> {result}"), move |l| {
                l.bool(test(l.w[0], l.v[0]))
            });
        }
    }
}

/// 1.0 or 0.0 of a float size.
fn truth(size: u32, value: bool) -> u64 {
    if value { fp::one(size) } else { 0 }
}

fn float_valued(t: &mut Table) {
    let tests: [(&str, Test); 4] = [
        ("seq", |l| order(l) == Some(Ordering::Equal)),
        ("sne", |l| order(l) != Some(Ordering::Equal)),
        ("slt", |l| order(l) == Some(Ordering::Less)),
        ("sge", |l| matches!(order(l), Some(Ordering::Greater | Ordering::Equal))),
    ];
    for (name, test) in tests {
        t.each(name, "float, float -> float", move |l| Value::bits(truth(l.out, test(l))));
    }
}

fn vector_comparisons(t: &mut Table) {
    let same = |p: &Point, i: usize, float: bool| {
        let (a, b) = (p.v[0][i], p.v[1][i]);
        if float { p.fp(0).order(a, b) == Some(Ordering::Equal) } else { a == b }
    };
    for n in [2usize, 3, 4, 5, 8, 16] {
        for (prefix, result) in
            [("b", "bool1"), ("b8", "bool8"), ("b16", "bool16"), ("b32", "bool32")]
        {
            for (kind, base, float) in [("f", "float", true), ("i", "int", false)] {
                let signature = format!("{base}x{n}, {base}x{n} -> {result}x1");
                t.whole(&format!("{prefix}all_{kind}equal{n}"), &signature, move |p| {
                    let all = (0..n).all(|i| same(p, i, float));
                    vec![Value::bits(super::wrap(if all { -1 } else { 0 }, p.out))]
                });
                if !float {
                    t.sizes(&[1, 8, 16, 32, 64]);
                }
                t.whole(&format!("{prefix}any_{kind}nequal{n}"), &signature, move |p| {
                    let any = (0..n).any(|i| !same(p, i, float));
                    vec![Value::bits(super::wrap(if any { -1 } else { 0 }, p.out))]
                });
                if !float {
                    t.sizes(&[1, 8, 16, 32, 64]);
                }
            }
        }
        if n <= 4 {
            t.whole(&format!("ball{n}"), &format!("bool1x{n} -> bool1x1"), |p| {
                vec![Value::bits(p.v[0].iter().all(|&v| v != 0).into())]
            });
            t.whole(&format!("bany{n}"), &format!("bool1x{n} -> bool1x1"), |p| {
                vec![Value::bits(p.v[0].iter().any(|&v| v != 0).into())]
            });
        }
        let signature = format!("float32x{n}, float32x{n} -> float32x1");
        t.whole(&format!("fall_equal{n}"), &signature, move |p| {
            vec![Value::bits(truth(32, (0..n).all(|i| same(p, i, true))))]
        });
        t.whole(&format!("fany_nequal{n}"), &signature, move |p| {
            vec![Value::bits(truth(32, (0..n).any(|i| !same(p, i, true))))]
        });
    }
}

fn selections(t: &mut Table) {
    for (name, condition) in
        [("bcsel", "bool1"), ("b8csel", "bool8"), ("b16csel", "bool16"), ("b32csel", "bool32")]
    {
        t.each(name, &format!("{condition}, uint, uint -> uint"), |l| {
            Value::bits(if l.b(0) { l.v[1] } else { l.v[2] })
        });
        t.sizes(&[1, 8, 16, 32, 64]);
    }
    let arm = |l: &Lane, take: bool| Value::bits(if take { l.v[1] } else { l.v[2] });
    t.each("i32csel_gt", "int32, int32, int32 -> int32", move |l| arm(l, l.s(0) > 0));
    t.each("i32csel_ge", "int32, int32, int32 -> int32", move |l| arm(l, l.s(0) >= 0));
    let to_zero = |l: &Lane| l.fp(0).order(l.v[0], 0);
    let floats = "float32, float32, float32 -> float32";
    t.each("fcsel", floats, move |l| arm(l, to_zero(l) != Some(Ordering::Equal)));
    t.each("fcsel_gt", floats, move |l| arm(l, to_zero(l) == Some(Ordering::Greater)));
    t.each("fcsel_ge", floats, move |l| {
        arm(l, matches!(to_zero(l), Some(Ordering::Greater | Ordering::Equal)))
    });
}
