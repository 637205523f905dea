//! Conversions: semantics 8, 18, 19 and 23.

use super::fp::{self, Fp};
use super::{Base, Lane, Table, Value, wrap};

/// Adds the family to the table.
pub fn define(t: &mut Table) {
    t.family("conversions of booleans");
    booleans(t);
    t.family("conversions of integers");
    integers(t);
    t.family("conversions of floats");
    floats(t);
    t.family("mediump conversions");
    mediump(t);
}

fn booleans(t: &mut Table) {
    for size in [1u32, 8, 16, 32] {
        t.each(&format!("b2b{size}"), &format!("bool -> bool{size}"), |l| l.bool(l.b(0)));
    }
    for size in [1u32, 8, 16, 32, 64] {
        t.each(&format!("b2i{size}"), &format!("bool -> int{size}"), |l| l.int(l.b(0).into()));
    }
    for size in [16u32, 32, 64] {
        t.each(&format!("b2f{size}"), &format!("bool -> float{size}"), |l| {
            Value::bits(if l.b(0) { fp::one(l.out) } else { 0 })
        });
    }
}

fn integers(t: &mut Table) {
    for size in [1u32, 8, 16, 32, 64] {
        t.each(&format!("i2i{size}"), &format!("int -> int{size}"), |l| l.int(l.s(0)));
        t.sizes(&[1, 8, 16, 32, 64]);
        t.each(&format!("u2u{size}"), &format!("uint -> uint{size}"), |l| l.int(l.u(0)));
        t.sizes(&[1, 8, 16, 32, 64]);
    }
    for size in [16u32, 32, 64] {
        t.each(&format!("i2f{size}"), &format!("int -> float{size}"), |l| {
            Value::bits(l.fp_out().from_int(l.s(0)))
        });
        t.sizes(&[1, 8, 16, 32, 64]);
        t.each(&format!("u2f{size}"), &format!("uint -> float{size}"), |l| {
            Value::bits(l.fp_out().from_int(l.u(0)))
        });
        t.sizes(&[1, 8, 16, 32, 64]);
    }
}

/// Bounds of an integer type.
fn bounds(base: Base, width: u32) -> (i128, i128) {
    match base {
        Base::Uint => (0, (1 << width) - 1),
        _ => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
    }
}

/// Float to integer toward zero: any value out of range.
fn to_int(l: &Lane, base: Base) -> Value {
    let (low, high) = bounds(base, l.out);
    match l.fp(0).truncated(l.v[0]) {
        Some(value) if (low..=high).contains(&value) => l.int(value),
        _ => Value::any(),
    }
}

/// Float to integer toward zero: the nearest bound out of range, 0 for NaN.
fn to_int_sat(l: &Lane, base: Base) -> Value {
    let (low, high) = bounds(base, l.out);
    l.int(l.fp(0).truncated(l.v[0]).map_or(0, |value| value.clamp(low, high)))
}

/// Float to float; the same size is a move.
fn to_float(l: &Lane, to: Fp) -> Value {
    Value::bits(if l.w[0] == to.size { l.v[0] } else { to.convert(l.fp(0), l.v[0]) })
}

fn floats(t: &mut Table) {
    for (letter, name, base) in [("i", "int", Base::Int), ("u", "uint", Base::Uint)] {
        for size in [1u32, 8, 16, 32, 64] {
            let signature = format!("float -> {name}{size}");
            t.each(&format!("f2{letter}{size}"), &signature, move |l| to_int(l, base));
            t.each(&format!("f2{letter}{size}_sat"), &signature, move |l| to_int_sat(l, base));
        }
    }
    for size in [16u32, 32, 64] {
        t.each(&format!("f2f{size}"), &format!("float -> float{size}"), |l| {
            to_float(l, l.fp_out())
        });
    }
    t.each("f2f16_rtne", "float -> float16", |l| to_float(l, l.fp_out().rte()));
    t.each("f2f16_rtz", "float -> float16", |l| to_float(l, l.fp_out().rtz()));
}

fn mediump(t: &mut Table) {
    // Converted or not, which the 16-bit result can't tell.
    t.each("f2fmp", "float32 -> float16", |l| to_float(l, l.fp_out()).open());
    t.each("i2fmp", "int32 -> float16", |l| Value::bits(l.fp_out().from_int(l.s(0))).open());
    t.each("u2fmp", "uint32 -> float16", |l| Value::bits(l.fp_out().from_int(l.u(0))).open());
    t.each("i2imp", "int32 -> int16", |l| Value::bits(wrap(l.s(0), 16)).open());
    t.each("f2imp", "float32 -> int16", |l| to_int(l, Base::Int).open());
    t.each("f2ump", "float32 -> uint16", |l| to_int(l, Base::Uint).open());
}
