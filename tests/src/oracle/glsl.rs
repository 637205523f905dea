//! Opcodes that SPIR-V and GLSL.std.450 have as one instruction: clamps, interpolation, geometry, matrices.
//!
//! Where the specification writes a formula, each of its operations is rounded. Determinants and inverses have none: they
//! are held to a bound on the error that any order of evaluation has, where the operands keep clear of over- and underflow.

use super::big::{Big, PI};
use super::float::extreme_choices;
use super::fp::{self, Fp};
use super::vector::{dot, sum};
use super::{Answer, Free, Lane, Point, Table, Value, Want};
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Adds the family to the table.
pub fn define(t: &mut Table) {
    t.family("clamps and interpolation");
    scalars(t);
    t.family("geometry");
    geometry(t);
    t.family("matrices");
    products(t);
    bit_moves(t);
    t.family("determinants and inverses");
    for n in [2usize, 3, 4] {
        let columns = vec![format!("floatx{n}"); n].join(", ");
        t.whole(&format!("fdeterminant{n}"), &format!("{columns} -> floatx1"), determinant_op);
        t.whole(&format!("finverse{n}"), &format!("{columns}, uint32x1 -> floatx{n}"), inverse_op);
    }
}

fn less(f: Fp, a: u64, b: u64) -> bool {
    f.order(a, b) == Some(Ordering::Less)
}

/// min(max(a, b), c): any value where b > c.
fn clamp(f: Fp, v: &[u64], any: bool) -> Value {
    let mut all = Vec::new();
    for low in extreme_choices(f, v[0], v[1], Ordering::Greater, any) {
        for value in extreme_choices(f, low, v[2], Ordering::Less, any) {
            if !all.contains(&value) {
                all.push(value);
            }
        }
    }
    if less(f, v[2], v[1]) {
        return Value::either(0, all[0]);
    }
    Value::choice(all[0], all.len() > 1)
}

/// t · t · (3 − 2t) for t = (x − a) / (b − a) limited to [0, 1]; any value where a ≥ b.
fn smooth_step(f: Fp, v: &[u64]) -> Value {
    let (a, b, x) = (v[0], v[1], v[2]);
    let (zero, one) = (0, fp::one(f.size));
    let t = f.div(f.sub(x, a), f.sub(b, a));
    let hermite = |t: u64| {
        let slope = f.sub(f.constant(3.0), f.mul(f.constant(2.0), t));
        f.mul(f.mul(t, t), slope)
    };
    let limited = match (less(f, t, zero), less(f, one, t)) {
        (true, _) => zero,
        (_, true) => one,
        _ => f.operand(t),
    };
    match f.order(a, b) {
        Some(Ordering::Less) if !fp::is_nan(f.size, t) => Value::bits(hermite(limited)),
        // A clamp may give either bound or the NaN itself.
        Some(Ordering::Less) | None => {
            Value { want: Want::Either(zero, fp::nan(f.size)), free: Free::Open }
        }
        _ => Value::either(0, hermite(if fp::is_nan(f.size, t) { zero } else { limited })),
    }
}

/// The product with a real constant rounded to the size.
fn times(l: &Lane, constant: Big) -> Value {
    let f = l.fp(0);
    Value::bits(f.mul(l.v[0], f.rte().from_f64(constant.to_f64().0)))
}

fn scalars(t: &mut Table) {
    let three = "float, float, float -> float";
    t.each("fclamp", three, |l| clamp(l.fp(0), l.v, false));
    t.each("fclamp_any", three, |l| clamp(l.fp(0), l.v, true));
    t.each("fstep", "float, float -> float", |l| {
        Value::bits(if less(l.fp(0), l.v[1], l.v[0]) { 0 } else { fp::one(l.out) })
    });
    t.each("fsmoothstep", three, |l| smooth_step(l.fp(0), l.v));
    t.each("fradians", "float -> float", |l| times(l, PI.div_small(180)));
    t.each("fdegrees", "float -> float", |l| times(l, Big::int(180).div(*PI)));
    t.each("fmodf_whole", "float -> float", |l| Value::bits(l.fp(0).trunc(l.v[0])));
    t.each("fmodf_fract", "float -> float", |l| {
        let f = l.fp(0);
        let a = f.operand(l.v[0]);
        let sign = a & fp::sign_bit(f.size);
        if fp::is_inf(f.size, a) {
            // C has a zero here, the difference of the operand and its whole part is NaN.
            return Value { want: Want::Either(sign, fp::nan(f.size)), free: Free::Open };
        }
        let rest = f.sub(a, f.trunc(a));
        Value::bits(if fp::is_zero(f.size, rest) { sign } else { rest })
    });
}

fn length(f: Fp, v: &[u64]) -> u64 {
    f.sqrt(dot(f, v, v))
}

/// 1/√x, as frsq has it.
fn inverse_sqrt(f: Fp, a: u64) -> u64 {
    if f.size == 64 {
        return f.div(fp::one(64), f.sqrt(a));
    }
    let x = f.to_f64(f.operand(a));
    f.from_f64(1.0 / x.sqrt())
}

fn each(values: impl Iterator<Item = u64>) -> Answer {
    values.map(|v| Value::bits(v).open()).collect()
}

/// I − 2 · dot(N, I) · N.
fn reflect(f: Fp, i: &[u64], n: &[u64]) -> Answer {
    let twice = f.mul(f.constant(2.0), dot(f, n, i));
    each(i.iter().zip(n).map(|(&i, &n)| f.sub(i, f.mul(twice, n))))
}

/// k = 1 − η · η · (1 − d · d) with d = dot(N, I); zero below 0, else η · I − (η · d + √k) · N.
fn refract(f: Fp, i: &[u64], n: &[u64], eta: u64) -> Answer {
    let one = fp::one(f.size);
    let d = dot(f, n, i);
    let k = f.sub(one, f.mul(f.mul(eta, eta), f.sub(one, f.mul(d, d))));
    if less(f, k, 0) {
        return each(i.iter().map(|_| 0));
    }
    let along = f.add(f.mul(eta, d), f.sqrt(k));
    each(i.iter().zip(n).map(|(&i, &n)| f.sub(f.mul(eta, i), f.mul(along, n))))
}

fn geometry(t: &mut Table) {
    for n in [2usize, 3, 4] {
        let v = format!("floatx{n}");
        t.whole(&format!("flength{n}"), &format!("{v} -> floatx1"), |p| {
            each([length(p.fp(0), &p.v[0])].into_iter())
        });
        t.whole(&format!("fdistance{n}"), &format!("{v}, {v} -> floatx1"), |p| {
            let f = p.fp(0);
            let difference: Vec<u64> =
                p.v[0].iter().zip(&p.v[1]).map(|(&a, &b)| f.sub(a, b)).collect();
            each([length(f, &difference)].into_iter())
        });
        t.whole(&format!("fnormalize{n}"), &format!("{v} -> {v}"), |p| {
            let f = p.fp(0);
            // x / length(x) or x · inversesqrt(dot(x, x)).
            let (length, inverse) = (length(f, &p.v[0]), inverse_sqrt(f, dot(f, &p.v[0], &p.v[0])));
            p.v[0]
                .iter()
                .map(|&a| Value::either(f.div(a, length), f.mul(a, inverse)).open())
                .collect()
        });
        t.whole(&format!("ffaceforward{n}"), &format!("{v}, {v}, {v} -> {v}"), |p| {
            let f = p.fp(0);
            let faces = less(f, dot(f, &p.v[2], &p.v[1]), 0);
            let turned = |a: u64| if faces { a } else { a ^ fp::sign_bit(f.size) };
            each(p.v[0].iter().map(|&a| turned(a)))
        });
        t.whole(&format!("freflect{n}"), &format!("{v}, {v} -> {v}"), |p| {
            reflect(p.fp(0), &p.v[0], &p.v[1])
        });
        t.whole(&format!("frefract{n}"), &format!("{v}, {v}, floatx1 -> {v}"), |p| {
            refract(p.fp(0), &p.v[0], &p.v[1], p.v[2][0])
        });
    }
    t.whole("fcross", "floatx3, floatx3 -> floatx3", |p| {
        let (f, a, b) = (p.fp(0), &p.v[0], &p.v[1]);
        let minor = |i: usize, j: usize| f.sub(f.mul(a[i], b[j]), f.mul(b[i], a[j]));
        [minor(1, 2), minor(2, 0), minor(0, 1)].map(Value::bits).to_vec()
    });
}

fn products(t: &mut Table) {
    for columns in [2usize, 3, 4] {
        for rows in [2usize, 3, 4] {
            let matrix = vec![format!("floatx{rows}"); columns].join(", ");
            let signature = format!("{matrix}, floatx{columns} -> floatx{rows}");
            t.whole(&format!("fmatvec{columns}x{rows}"), &signature, move |p| {
                let f = p.fp(0);
                let row =
                    |r: usize| sum(f, (0..columns).map(|c| f.mul(p.v[c][r], p.v[columns][c])));
                each((0..rows).map(row))
            });
            let signature = format!("floatx{rows}, {matrix} -> floatx{columns}");
            t.whole(&format!("fvecmat{columns}x{rows}"), &signature, move |p| {
                each((1..=columns).map(|c| dot(p.fp(0), &p.v[0], &p.v[c])))
            });
            let signature = format!("floatx{rows}, floatx{columns}, uint32x1 -> floatx{rows}");
            t.whole(&format!("fouter{columns}x{rows}"), &signature, move |p| {
                match p.v[1].get(p.v[2][0] as usize) {
                    Some(&factor) => {
                        p.v[0].iter().map(|&a| Value::bits(p.fp(0).mul(a, factor))).collect()
                    }
                    None => vec![Value::any(); rows],
                }
            });
        }
    }
}

fn bit_moves(t: &mut Table) {
    for columns in [2usize, 3, 4] {
        for rows in [2usize, 3, 4] {
            let matrix = vec![format!("floatx{rows}"); columns].join(", ");
            let signature = format!("{matrix}, uint32x1 -> floatx{columns}");
            t.whole(&format!("transpose{columns}x{rows}"), &signature, move |p| {
                let row = p.v[columns][0] as usize;
                (0..columns)
                    .map(|c| p.v[c].get(row).map_or(Value::any(), |&v| Value::bits(v)))
                    .collect()
            });
        }
    }
}

/// A real number with the sum of the magnitudes of the terms that make it up, which bounds every rounding error.
#[derive(Clone, Copy)]
struct Summed {
    value: Big,
    magnitude: Big,
}

/// Σ ± of the products along each permutation, over the columns `columns` and rows `rows` of a matrix (Leibniz).
fn determinant(m: &[Vec<Big>], columns: &[usize], rows: &[usize]) -> Summed {
    let mut total = Summed { value: Big::ZERO, magnitude: Big::ZERO };
    for (permutation, odd) in permutations(rows) {
        let term = columns.iter().zip(&permutation).fold(Big::int(1), |p, (&c, &r)| p.mul(m[c][r]));
        total.value = if odd { total.value.sub(term) } else { total.value.add(term) };
        total.magnitude = total.magnitude.add(term.abs());
    }
    total
}

/// Every order of at most four items, and whether it is an odd one.
fn permutations(items: &[usize]) -> Vec<(Vec<usize>, bool)> {
    let mut all = vec![(Vec::new(), false)];
    for (count, &item) in items.iter().enumerate() {
        let insert = |(order, odd): &(Vec<usize>, bool), at: usize| {
            let mut order = order.clone();
            order.insert(at, item);
            (order, odd ^ ((count - at) % 2 == 1))
        };
        all = all.iter().flat_map(|o| (0..=count).map(move |at| insert(o, at))).collect();
    }
    all
}

/// The columns as real numbers, unless products of four of them may leave the normal range.
fn matrix(p: &Point, n: usize) -> Option<Vec<Vec<Big>>> {
    let f = p.fp(0);
    let reach = match f.size {
        16 => 3,
        32 => 30,
        _ => 250,
    };
    let number = |&a: &u64| {
        let v = f.to_f64(a);
        (v == 0.0 || (v.is_finite() && Big::new(v).exponent().abs() < reach)).then(|| Big::new(v))
    };
    p.v[..n].iter().map(|column| column.iter().map(number).collect()).collect()
}

/// A bound: `steps` roundings of terms of this total magnitude, and what underflow loses.
fn within(f: Fp, value: Big, magnitude: Big, steps: i64) -> Value {
    let (fraction, bias) = fp::layout(f.size);
    let rounding = magnitude.mul(Big::int(steps)).shift(-i64::from(fraction));
    let underflow = Big::int(steps).shift(i64::from(1 - bias) + if f.size == 16 { 8 } else { 0 });
    let (truth, tail) = value.to_f64();
    let slack = rounding.add(underflow).to_f64().0;
    Value { want: Want::Within { truth, tail, slack }, free: Free::Open }
}

fn determinant_op(p: &Point) -> Answer {
    let n = p.v.len();
    let all: Vec<usize> = (0..n).collect();
    vec![match matrix(p, n) {
        None => Value { want: Want::Anything, free: Free::Open },
        Some(m) => {
            let d = determinant(&m, &all, &all);
            within(p.fp(0), d.value, d.magnitude, 2 * n as i64 + 4)
        }
    }]
}

/// Column c of the inverse: cofactors of row c over the determinant.
fn inverse_op(p: &Point) -> Answer {
    let n = p.v.len() - 1;
    let column = p.v[n][0] as usize;
    if column >= n {
        return vec![Value::any(); n];
    }
    let anything = vec![Value { want: Want::Anything, free: Free::Open }; n];
    let Some(m) = matrix(p, n) else { return anything };
    let all: Vec<usize> = (0..n).collect();
    let d = determinant(&m, &all, &all);
    // Nearly singular: the bound says nothing.
    if d.value.is_zero() || d.magnitude.exponent() - d.value.exponent() > 4 {
        return anything;
    }
    let without = |k: usize| all.iter().copied().filter(|&i| i != k).collect::<Vec<usize>>();
    let f = p.fp(0);
    (0..n)
        .map(|row| {
            // Element (row, column) of the inverse is the cofactor of the element (column, row): column `row`, row `column`.
            let minor = determinant(&m, &without(row), &without(column));
            let minor_value = if (row + column) % 2 == 1 { minor.value.neg() } else { minor.value };
            let value = minor_value.div(d.value);
            let relative = d.magnitude.div(d.value.abs());
            let magnitude = minor.magnitude.div(d.value.abs()).add(value.abs().mul(relative));
            let bound = within(f, value, magnitude, 2 * n as i64 + 8);
            // At 16 bits the underflow of a determinant is divided by it again.
            if f.size == 16 && d.value.exponent() < -2 {
                Value { want: Want::Anything, ..bound }
            } else {
                bound
            }
        })
        .collect()
}
