//! Packing and unpacking: semantics 20.

use super::fp::{self, Fp};
use super::{Answer, Lane, Point, Table, Value, Want, signed, wrap};

/// Adds the family to the table.
pub fn define(t: &mut Table) {
    t.family("packing of integers");
    integers(t);
    t.family("packing of halves");
    halves(t);
    t.family("packing of normalised numbers");
    normalised(t);
}

/// Fields of `width` bits joined, the first in the low bits.
fn join(fields: impl IntoIterator<Item = u64>, width: u32) -> u64 {
    fields.into_iter().enumerate().fold(0, |all, (i, field)| all | field << (i as u32 * width))
}

/// Field `i` of `width` bits.
fn field(value: u64, i: u32, width: u32) -> u64 {
    value >> (i * width) & ((1 << width) - 1)
}

fn integers(t: &mut Table) {
    for (total, n, width) in [(32u32, 2u32, 16u32), (32, 4, 8), (64, 2, 32), (64, 4, 16)] {
        let (whole, vector) = (format!("uint{total}x1"), format!("uint{width}x{n}"));
        t.whole(&format!("pack_{total}_{n}x{width}"), &format!("{vector} -> {whole}"), move |p| {
            vec![Value::bits(join(p.v[0].iter().copied(), width))]
        });
        t.whole(
            &format!("unpack_{total}_{n}x{width}"),
            &format!("{whole} -> {vector}"),
            move |p| (0..n).map(|i| Value::bits(field(p.v[0][0], i, width))).collect(),
        );
    }
    t.each("pack_32_2x16_split", "uint16, uint16 -> uint32", |l| {
        Value::bits(join(l.v.iter().copied(), 16))
    });
    t.each("pack_64_2x32_split", "uint32, uint32 -> uint64", |l| {
        Value::bits(join(l.v.iter().copied(), 32))
    });
    t.each("pack_32_4x8_split", "uint8, uint8, uint8, uint8 -> uint32", |l| {
        Value::bits(join(l.v.iter().copied(), 8))
    });
    for (i, letter) in [(0, "x"), (1, "y")] {
        t.each(&format!("unpack_32_2x16_split_{letter}"), "uint32 -> uint16", move |l| {
            Value::bits(field(l.v[0], i, 16))
        });
        t.each(&format!("unpack_64_2x32_split_{letter}"), "uint64 -> uint32", move |l| {
            Value::bits(field(l.v[0], i, 32))
        });
    }
    t.whole("pack_sint_2x16", "int32x2 -> int32x1", |p| {
        let clamp = |v: u64| wrap(signed(v, 32).clamp(-0x8000, 0x7fff), 16);
        vec![Value::bits(join(p.v[0].iter().map(|&v| clamp(v)), 16))]
    });
    t.whole("pack_uint_2x16", "uint32x2 -> uint32x1", |p| {
        vec![Value::bits(join(p.v[0].iter().map(|&v| v.min(0xffff)), 16))]
    });
    t.whole("pack_uvec2_to_uint", "uint32x2 -> uint32x1", |p| {
        vec![Value::bits(join(p.v[0].iter().map(|&v| v & 0xffff), 16))]
    });
    t.whole("pack_uvec4_to_uint", "uint32x4 -> uint32x1", |p| {
        vec![Value::bits(join(p.v[0].iter().map(|&v| v & 0xff), 8))]
    });
}

fn halves(t: &mut Table) {
    let pack = |p: &Point, values: [u64; 2], rtz: bool| -> Answer {
        let half = Fp::new(16, p.env);
        let half = if rtz { half.rtz() } else { half };
        // The bits of a NaN are any NaN's.
        let nan = values.iter().any(|&v| fp::is_nan(32, v));
        vec![Value::choice(join(values.map(|v| half.convert(p.fp(0), v)), 16), nan)]
    };
    t.whole("pack_half_2x16", "float32x2 -> uint32x1", move |p| {
        pack(p, [p.v[0][0], p.v[0][1]], false)
    });
    t.whole("pack_half_2x16_split", "float32x1, float32x1 -> uint32x1", move |p| {
        pack(p, [p.v[0][0], p.v[1][0]], false)
    });
    t.whole("pack_half_2x16_rtz_split", "float32x1, float32x1 -> uint32x1", move |p| {
        pack(p, [p.v[0][0], p.v[1][0]], true)
    });
    for (suffix, always) in [("", false), ("_flush_to_zero", true)] {
        let unpack = move |value: u64, i: u32, env: &super::Env| {
            let half = Fp::new(16, env);
            let half = Fp { flush: half.flush || always, ..half };
            Value::bits(Fp::new(32, env).convert(half, field(value, i, 16)))
        };
        t.whole(&format!("unpack_half_2x16{suffix}"), "uint32x1 -> float32x2", move |p| {
            (0..2).map(|i| unpack(p.v[0][0], i, p.env)).collect()
        });
        for (i, letter) in [(0, "x"), (1, "y")] {
            let name = format!("unpack_half_2x16_split_{letter}{suffix}");
            t.each(&name, "uint32 -> float32", move |l: &Lane| unpack(l.v[0], i, l.env));
        }
    }
}

/// A clamped number scaled and rounded to even. The product may be the exact one or a rounded one: SPIR-V leaves open
/// which neighbour a half goes to.
fn scaled(f: Fp, value: u64, low: f64, scale: f64) -> [i128; 2] {
    let value = f.to_f64(f.operand(value));
    let clamped = if value.is_nan() { 0.0 } else { value.clamp(low, 1.0) };
    let exact = (clamped * scale).round_ties_even();
    let wide = Fp { size: f.size.max(32), ..f };
    let product = wide.mul(wide.rte().from_f64(clamped), wide.constant(scale));
    [exact as i128, wide.to_f64(wide.round_even(product)) as i128]
}

fn normalised(t: &mut Table) {
    for (n, width, source) in [(2u32, 16u32, "float"), (4, 8, "float32")] {
        for (letter, low, scale) in [
            ("s", -1.0, ((1u64 << (width - 1)) - 1) as f64),
            ("u", 0.0, ((1u64 << width) - 1) as f64),
        ] {
            let signature = format!("{source}x{n} -> uint32x1");
            t.whole(&format!("pack_{letter}norm_{n}x{width}"), &signature, move |p| {
                let both: Vec<[u64; 2]> = p.v[0]
                    .iter()
                    .map(|&v| scaled(p.fp(0), v, low, scale).map(|i| wrap(i, width)))
                    .collect();
                let first = join(both.iter().map(|b| b[0]), width);
                let second = join(both.iter().map(|b| b[1]), width);
                vec![Value { want: Want::Either(first, second), free: super::Free::Open }]
            });
            let signature = format!("uint32x1 -> float32x{n}");
            t.whole(&format!("unpack_{letter}norm_{n}x{width}"), &signature, move |p| {
                let f = p.fp_out();
                (0..n)
                    .map(|i| {
                        let raw = field(p.v[0][0], i, width);
                        let number = if letter == "s" { signed(raw, width) } else { raw.into() };
                        let quotient = f.div(f.constant(number as f64), f.constant(scale));
                        // Only the lowest signed number is below −1.
                        let one = f.constant(-1.0);
                        let below = f.order(quotient, one) == Some(std::cmp::Ordering::Less);
                        Value::bits(if below { one } else { quotient })
                    })
                    .collect()
            });
        }
    }
}
