//! Moves, constructions, sums and dot products.

use super::fp::Fp;
use super::{Point, Table, Value};

/// Adds the family to the table.
pub fn define(t: &mut Table) {
    t.family("moves and constructions");
    t.each("mov", "uint -> uint", |l| Value::bits(l.v[0]));
    t.sizes(&[1, 8, 16, 32, 64]);
    for n in [2usize, 3, 4, 5, 8, 16] {
        let signature = format!("{} -> uintx{n}", vec!["uintx1"; n].join(", "));
        t.whole(&format!("vec{n}"), &signature, move |p| {
            (0..n).map(|i| Value::bits(p.v[i][0])).collect()
        });
        t.sizes(&[1, 8, 16, 32, 64]);
    }
    dynamic(t);
    t.family("float sums and dot products");
    sums(t);
}

/// Components by a run-time index (OpVectorExtractDynamic, OpVectorInsertDynamic): undefined past the end.
fn dynamic(t: &mut Table) {
    for n in [2usize, 3, 4] {
        t.whole(&format!("vec_extract{n}"), &format!("uintx{n}, uint32x1 -> uintx1"), |p| {
            vec![p.v[0].get(p.v[1][0] as usize).map_or(Value::any(), |&v| Value::bits(v))]
        });
        t.sizes(&[1, 8, 16, 32, 64]);
        t.whole(
            &format!("vec_insert{n}"),
            &format!("uintx{n}, uintx1, uint32x1 -> uintx{n}"),
            move |p| {
                let index = p.v[2][0] as usize;
                let component = |i: usize| match () {
                    () if index >= n => Value::either(0, p.v[0][i]),
                    () if index == i => Value::bits(p.v[1][0]),
                    () => Value::bits(p.v[0][i]),
                };
                (0..n).map(component).collect()
            },
        );
        t.sizes(&[1, 8, 16, 32, 64]);
    }
}

/// Left to right, each addition rounded. One term is that term.
pub fn sum(f: Fp, terms: impl IntoIterator<Item = u64>) -> u64 {
    let mut terms = terms.into_iter();
    let first = terms.next().unwrap_or(0);
    terms.fold(first, |total, term| f.add(total, term))
}

/// Products rounded, then summed left to right.
pub fn dot(f: Fp, a: &[u64], b: &[u64]) -> u64 {
    sum(f, a.iter().zip(b).map(|(&x, &y)| f.mul(x, y)))
}

fn sums(t: &mut Table) {
    for n in [2usize, 3, 4] {
        t.whole(&format!("fsum{n}"), &format!("floatx{n} -> floatx1"), |p| {
            vec![Value::bits(sum(p.fp(0), p.v[0].iter().copied())).open()]
        });
    }
    let homogeneous = |p: &Point| {
        let f = p.fp(0);
        let three = dot(f, &p.v[0], &p.v[1][..3]);
        Value::bits(f.add(three, p.v[1][3])).open()
    };
    t.whole("fdph", "floatx3, floatx4 -> floatx1", move |p| vec![homogeneous(p)]);
    t.whole("fdph_replicated", "floatx3, floatx4 -> float", move |p| {
        vec![homogeneous(p); p.comps as usize]
    });
    for n in [2usize, 3, 4, 5, 8, 16] {
        let of = |p: &Point| Value::bits(dot(p.fp(0), &p.v[0], &p.v[1])).open();
        t.whole(&format!("fdot{n}"), &format!("floatx{n}, floatx{n} -> floatx1"), move |p| {
            vec![of(p)]
        });
        t.whole(
            &format!("fdot{n}_replicated"),
            &format!("floatx{n}, floatx{n} -> float"),
            move |p| vec![of(p); p.comps as usize],
        );
    }
}
