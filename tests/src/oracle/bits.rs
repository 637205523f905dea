//! Bit operations: semantics 1 to 3, and the byte and half-word extracts.

use super::{Lane, Table, Value, signed, wrap};

/// Adds the family to the table.
pub fn define(t: &mut Table) {
    t.family("bitwise");
    bitwise(t);
    t.family("bit counting");
    counting(t);
    t.family("bit fields");
    hardware_fields(t);
    glsl_fields(t);
    t.family("byte extracts");
    extracts(t);
}

fn bitwise(t: &mut Table) {
    const ALL: &[u32] = &[1, 8, 16, 32, 64];
    t.each("iand", "uint, uint -> uint", |l| Value::bits(l.v[0] & l.v[1]));
    t.sizes(ALL);
    t.each("ior", "uint, uint -> uint", |l| Value::bits(l.v[0] | l.v[1]));
    t.sizes(ALL);
    t.each("ixor", "uint, uint -> uint", |l| Value::bits(l.v[0] ^ l.v[1]));
    t.sizes(ALL);
    t.each("inot", "int -> int", |l| l.int(!l.u(0)));
    t.sizes(ALL);
    t.each("bitfield_select", "uint, uint, uint -> uint", |l| {
        l.int((l.u(0) & l.u(1)) | (!l.u(0) & l.u(2)))
    });
    for (suffix, result) in [("", "bool1"), ("8", "bool8"), ("16", "bool16"), ("32", "bool32")] {
        let bit = |l: &Lane| l.v[0] >> (l.v[1] % u64::from(l.w[0])) & 1 == 1;
        let signature = format!("uint, uint32 -> {result}");
        t.each(&format!("bitnz{suffix}"), &signature, move |l| l.bool(bit(l)));
        t.each(&format!("bitz{suffix}"), &signature, move |l| l.bool(!bit(l)));
    }
}

/// The number of the highest set bit, or −1.
fn highest(value: u64) -> i128 {
    (0..64).rev().find(|&i| value >> i & 1 == 1).unwrap_or(-1)
}

/// The bits that differ from the sign of a `width`-bit number.
fn beyond_sign(value: u64, width: u32) -> u64 {
    if signed(value, width) < 0 { wrap(!i128::from(value), width) } else { value }
}

/// The same bit counted from the top.
fn from_top(bit: i128, width: u32) -> i128 {
    if bit < 0 { -1 } else { i128::from(width) - 1 - bit }
}

fn counting(t: &mut Table) {
    t.each("bit_count", "uint -> uint32", |l| l.int((0..64).map(|i| l.u(0) >> i & 1).sum()));
    t.each("bitfield_reverse", "uint32 -> uint32", |l| {
        l.int((0..32).map(|i| (l.u(0) >> i & 1) << (31 - i)).sum())
    });
    t.each("find_lsb", "int -> int32", |l| {
        l.int((0..64).find(|&i| l.v[0] >> i & 1 == 1).unwrap_or(-1))
    });
    t.each("ufind_msb", "uint -> int32", |l| l.int(highest(l.v[0])));
    t.each("ufind_msb_rev", "uint -> int32", |l| l.int(from_top(highest(l.v[0]), l.w[0])));
    t.each("ifind_msb", "int32 -> int32", |l| l.int(highest(beyond_sign(l.v[0], 32))));
    t.each("ifind_msb_rev", "int32 -> int32", |l| {
        l.int(from_top(highest(beyond_sign(l.v[0], 32)), 32))
    });
    t.each("uclz", "uint32 -> uint32", |l| l.int(31 - highest(l.v[0])));
}

/// The field of `width` bits at `offset`, both below 32, that the hardware instructions take: what lies past bit 31 is
/// the sign or zero.
fn extract(value: i128, offset: u64, width: u64, sign: bool) -> i128 {
    if width == 0 {
        return 0;
    }
    let field = (value >> offset) as u64;
    if offset + width >= 32 {
        // A plain shift: arithmetic or logical by the sign of `value`.
        return value >> offset;
    }
    let cut = field & ((1 << width) - 1);
    if sign { signed(cut, width as u32) } else { cut.into() }
}

fn hardware_fields(t: &mut Table) {
    t.each("bfm", "int32, int32 -> uint32", |l| {
        l.int(((1i128 << (l.v[0] & 31)) - 1) << (l.v[1] & 31))
    });
    t.each("bfi", "uint32, uint32, uint32 -> uint32", |l| {
        let (mask, insert, base) = (l.u(0), l.u(1), l.u(2));
        if mask == 0 {
            return l.int(base);
        }
        let shift = (0..32).find(|&i| mask >> i & 1 == 1).unwrap_or(0);
        l.int((base & !mask) | ((insert << shift) & mask))
    });
    t.each("ubfe", "uint32, uint32, uint32 -> uint32", |l| {
        l.int(extract(l.u(0), l.v[1] & 31, l.v[2] & 31, false))
    });
    t.each("ibfe", "int32, uint32, uint32 -> int32", |l| {
        l.int(extract(l.s(0), l.v[1] & 31, l.v[2] & 31, true))
    });
}

/// Whether GLSL defines a bit field of this offset and width.
fn inside(offset: i128, width: i128) -> bool {
    offset >= 0 && width >= 0 && offset + width <= 32
}

fn glsl_fields(t: &mut Table) {
    for (name, sign, signature) in [
        ("ibitfield_extract", true, "int32, int32, int32 -> int32"),
        ("ubitfield_extract", false, "uint32, int32, int32 -> uint32"),
    ] {
        t.each(name, signature, move |l| {
            let (offset, width) = (l.s(1), l.s(2));
            if width == 0 {
                // GLSL: "if bits is zero, the result is zero", wherever the offset is.
                let value = l.int(0);
                return if inside(offset, width) { value } else { value.open() };
            }
            if !inside(offset, width) {
                return Value::any();
            }
            let cut = l.v[0] >> offset & ((1u64 << width) - 1);
            l.int(if sign { signed(cut, width as u32) } else { cut.into() })
        });
    }
    t.each("bitfield_insert", "uint32, uint32, int32, int32 -> uint32", |l| {
        let (offset, width) = (l.s(2), l.s(3));
        if width == 0 {
            // "If count is 0, the result is base", and undefined where the offset is past the end.
            return if inside(offset, width) {
                l.int(l.u(0))
            } else {
                Value::either(0, l.v[0]).open()
            };
        }
        if !inside(offset, width) {
            return Value::any();
        }
        let mask = ((1i128 << width) - 1) << offset;
        l.int((l.u(0) & !mask) | ((l.u(1) << offset) & mask))
    });
}

fn extracts(t: &mut Table) {
    for field in [8u32, 16] {
        let within = move |l: &Lane| l.u(1) * i128::from(field) < i128::from(l.w[0]);
        let cut = move |l: &Lane| l.v[0] >> (l.v[1] as u32 * field) & ((1 << field) - 1);
        t.each(&format!("extract_u{field}"), "uint, uint -> uint", move |l| {
            if within(l) { l.int(cut(l).into()) } else { Value::any() }
        });
        t.each(&format!("extract_i{field}"), "int, int -> int", move |l| {
            if within(l) { l.int(signed(cut(l), field)) } else { Value::any() }
        });
        t.each(&format!("insert_u{field}"), "uint, uint -> uint", move |l| {
            let kept = l.u(0) & ((1 << field) - 1);
            if within(l) { l.int(kept << (l.v[1] as u32 * field)) } else { Value::any() }
        });
    }
}
