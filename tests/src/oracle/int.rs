//! Integer arithmetic: semantics 4 to 7, and the shifts and rotates of semantics 1.

use super::{Lane, Table, Value, signed, wrap};

/// Adds the family to the table.
pub fn define(t: &mut Table) {
    t.family("integer arithmetic");
    wrapping(t);
    saturating(t);
    products(t);
    t.family("integer division");
    division(t);
    t.family("shifts");
    shifts(t);
    t.family("dot products of packed integers");
    packed_dots(t);
    vector_dots(t);
}

/// Bounds of a width as numbers.
fn int_min(width: u32) -> i128 {
    -(1 << (width - 1))
}

fn int_max(width: u32) -> i128 {
    (1 << (width - 1)) - 1
}

fn uint_max(width: u32) -> i128 {
    (1 << width) - 1
}

fn wrapping(t: &mut Table) {
    t.each("iadd", "int, int -> int", |l| l.int(l.s(0) + l.s(1)));
    t.each("isub", "int, int -> int", |l| l.int(l.s(0) - l.s(1)));
    t.each("iadd3", "int, int, int -> int", |l| l.int(l.s(0) + l.s(1) + l.s(2)));
    t.each("imul", "int, int -> int", |l| l.int(l.s(0) * l.s(1)));
    t.each("amul", "int, int -> int", |l| l.int(l.s(0) * l.s(1)));
    t.each("ineg", "int -> int", |l| l.int(-l.s(0)));
    t.each("iabs", "int -> int", |l| l.int(l.s(0).abs()));
    t.each("isign", "int -> int", |l| l.int(l.s(0).signum()));
    t.each("imin", "int, int -> int", |l| l.int(l.s(0).min(l.s(1))));
    t.each("imax", "int, int -> int", |l| l.int(l.s(0).max(l.s(1))));
    t.each("umin", "uint, uint -> uint", |l| l.int(l.u(0).min(l.u(1))));
    t.each("umax", "uint, uint -> uint", |l| l.int(l.u(0).max(l.u(1))));
    for (name, base) in [("iclamp", "int"), ("uclamp", "uint")] {
        // min(max(a, b), c); any value where the bounds are the wrong way round.
        t.each(name, &format!("{base}, {base}, {base} -> {base}"), move |l| {
            let [a, low, high] = [0, 1, 2].map(|i| if base == "int" { l.s(i) } else { l.u(i) });
            let value = wrap(a.max(low).min(high), l.out);
            if low <= high { Value::bits(value) } else { Value::either(0, value) }
        });
    }
    t.each("uabs_isub", "int, int -> uint", |l| l.int((l.s(0) - l.s(1)).abs()));
    t.each("uabs_usub", "uint, uint -> uint", |l| l.int((l.u(0) - l.u(1)).abs()));
    t.each("uadd_carry", "uint, uint -> uint", |l| {
        l.int((l.u(0) + l.u(1) > uint_max(l.out)).into())
    });
    t.each("usub_borrow", "uint, uint -> uint", |l| l.int((l.u(0) < l.u(1)).into()));
    t.each("sad_u8x4", "uintx1, uintx1, uintx1 -> uintx1", |l| {
        let byte = |v: u64, i: u32| i128::from(v >> (8 * i) & 0xff);
        l.int((0..4).map(|i| (byte(l.v[0], i) - byte(l.v[1], i)).abs()).sum::<i128>() + l.u(2))
    });
    t.sizes(&[32]);
}

fn saturating(t: &mut Table) {
    t.each("iadd_sat", "int, int -> int", |l| {
        l.int((l.s(0) + l.s(1)).clamp(int_min(l.out), int_max(l.out)))
    });
    t.each("isub_sat", "int, int -> int", |l| {
        l.int((l.s(0) - l.s(1)).clamp(int_min(l.out), int_max(l.out)))
    });
    t.each("uadd_sat", "uint, uint -> uint", |l| l.int((l.u(0) + l.u(1)).min(uint_max(l.out))));
    t.each("usub_sat", "uint, uint -> uint", |l| l.int((l.u(0) - l.u(1)).max(0)));
    // On n + 1 bits, halved toward −Inf (h) or rounded up (rh).
    t.each("ihadd", "int, int -> int", |l| l.int((l.s(0) + l.s(1)).div_euclid(2)));
    t.each("irhadd", "int, int -> int", |l| l.int((l.s(0) + l.s(1) + 1).div_euclid(2)));
    t.each("uhadd", "uint, uint -> uint", |l| l.int((l.u(0) + l.u(1)) / 2));
    t.each("urhadd", "uint, uint -> uint", |l| l.int((l.u(0) + l.u(1) + 1) / 2));
}

/// The operand cut to its low 24 bits, sign- or zero-extended.
fn low24(value: u64, sign: bool) -> i128 {
    if sign { signed(value & 0xff_ffff, 24) } else { (value & 0xff_ffff).into() }
}

fn products(t: &mut Table) {
    t.each("imul_high", "int, int -> int", |l| l.int((l.s(0) * l.s(1)) >> l.out));
    t.each("umul_high", "uint, uint -> uint", |l| {
        l.int(((u128::from(l.v[0]) * u128::from(l.v[1])) >> l.out) as i128)
    });
    t.each("imul_2x32_64", "int32, int32 -> int64", |l| l.int(l.s(0) * l.s(1)));
    t.each("umul_2x32_64", "uint32, uint32 -> uint64", |l| l.int(l.u(0) * l.u(1)));
    t.each("imul_32x16", "int32, int32 -> int32", |l| l.int(l.s(0) * signed(l.v[1] & 0xffff, 16)));
    t.each("umul_32x16", "uint32, uint32 -> uint32", |l| l.int(l.u(0) * (l.u(1) & 0xffff)));
    t.each("umul_low", "uint32, uint32 -> uint32", |l| {
        l.int((l.u(0) & 0xffff) * (l.u(1) & 0xffff))
    });
    t.each("imadsh_mix16", "int32, int32, int32 -> int32", |l| {
        l.int((((l.u(0) >> 16) * (l.u(1) & 0xffff)) << 16) + l.s(2))
    });
    t.each("imul24", "int32, int32 -> int32", |l| l.int(low24(l.v[0], true) * low24(l.v[1], true)));
    t.each("umul24", "int32, int32 -> int32", |l| {
        l.int(low24(l.v[0], false) * low24(l.v[1], false))
    });
    t.each("umad24", "uint32, uint32, uint32 -> uint32", |l| {
        l.int(low24(l.v[0], false) * low24(l.v[1], false) + l.u(2))
    });
    t.each("imul24_relaxed", "int32, int32 -> int32", |l| {
        let beyond = (0..2).any(|i| l.s(i) != low24(l.v[i], true));
        Value::choice(wrap(low24(l.v[0], true) * low24(l.v[1], true), 32), beyond)
    });
    let relaxed = |l: &Lane, addend: i128| {
        let beyond = (0..2).any(|i| l.u(i) != low24(l.v[i], false));
        Value::choice(wrap(low24(l.v[0], false) * low24(l.v[1], false) + addend, 32), beyond)
    };
    t.each("umul24_relaxed", "uint32, uint32 -> uint32", move |l| relaxed(l, 0));
    t.each("umad24_relaxed", "uint32, uint32, uint32 -> uint32", move |l| relaxed(l, l.u(2)));
}

fn division(t: &mut Table) {
    // Truncating division of numbers: INT_MIN / −1 is 2^(n−1), which wraps to INT_MIN; any value is allowed there.
    let corner = |l: &Lane| l.s(0) == int_min(l.out) && l.s(1) == -1;
    t.each("idiv", "int, int -> int", move |l| match l.s(1) {
        0 => Value::any(),
        b => Value::choice(wrap(l.s(0) / b, l.out), corner(l)),
    });
    t.each("irem", "int, int -> int", move |l| match l.s(1) {
        0 => Value::any(),
        b => Value::choice(wrap(l.s(0) % b, l.out), corner(l)),
    });
    t.each("imod", "int, int -> int", move |l| match l.s(1) {
        0 => Value::any(),
        b => {
            // The remainder that has the divisor's sign.
            let rem = l.s(0) % b;
            let value = if rem != 0 && (rem < 0) != (b < 0) { rem + b } else { rem };
            Value::choice(wrap(value, l.out), corner(l))
        }
    });
    t.each("udiv", "uint, uint -> uint", |l| match l.u(1) {
        0 => Value::any(),
        b => l.int(l.u(0) / b),
    });
    t.each("umod", "uint, uint -> uint", |l| match l.u(1) {
        0 => Value::any(),
        b => l.int(l.u(0) % b),
    });
}

fn shifts(t: &mut Table) {
    let count = |l: &Lane| (l.v[1] % u64::from(l.out)) as u32;
    t.each("ishl", "int, uint32 -> int", move |l| l.int(l.s(0) << count(l)));
    t.each("ishr", "int, uint32 -> int", move |l| l.int(l.s(0) >> count(l)));
    t.each("ushr", "uint, uint32 -> uint", move |l| l.int(l.u(0) >> count(l)));
    let rotate = |l: &Lane, left: u32| {
        let double = l.v[0] as u128 | (l.v[0] as u128) << l.out;
        l.int((double >> (l.out - left)) as i128)
    };
    t.each("urol", "uint, uint32 -> uint", move |l| rotate(l, count(l)));
    t.each("uror", "uint, uint32 -> uint", move |l| rotate(l, (l.out - count(l)) % l.out));
}

/// Sum of the products of `lanes` packed fields of `width` bits, each operand signed or not.
fn dot(l: &Lane, lanes: u32, width: u32, signs: [bool; 2]) -> i128 {
    (0..lanes)
        .map(|i| {
            let field = |operand: usize| {
                let raw = l.v[operand] >> (i * width) & ((1 << width) - 1);
                if signs[operand] { signed(raw, width) } else { raw.into() }
            };
            field(0) * field(1)
        })
        .sum()
}

fn packed_dots(t: &mut Table) {
    for (lanes, width) in [(4, 8), (2, 16)] {
        let shape = format!("{lanes}x{width}");
        for (prefix, signs, accumulate, sum, plain, saturated) in [
            (
                "s",
                [true, true],
                "iadd",
                "int32",
                "uint32, uint32, int32 -> int32",
                "uint32, uint32, int32 -> int32",
            ),
            (
                "u",
                [false, false],
                "uadd",
                "uint32",
                "uint32, uint32, uint32 -> uint32",
                "uint32, uint32, int32 -> int32",
            ),
            (
                "su",
                [true, false],
                "iadd",
                "int32",
                "uint32, uint32, int32 -> int32",
                "uint32, uint32, int32 -> int32",
            ),
        ] {
            if prefix == "su" && lanes == 2 {
                continue;
            }
            if lanes == 4 {
                let bare = format!("uint32, uint32 -> {sum}");
                t.each(&format!("{prefix}dot_{shape}"), &bare, move |l| {
                    l.int(dot(l, lanes, width, signs))
                });
            }
            let name = format!("{prefix}dot_{shape}_{accumulate}");
            t.each(&name, plain, move |l| l.int(dot(l, lanes, width, signs) + l.u(2)));
            let is_signed = sum == "int32";
            t.each(&format!("{name}_sat"), saturated, move |l| {
                let exact = dot(l, lanes, width, signs) + if is_signed { l.s(2) } else { l.u(2) };
                l.int(if is_signed {
                    exact.clamp(int_min(32), int_max(32))
                } else {
                    exact.min(uint_max(32))
                })
            });
        }
    }
}

/// OpSDot, OpUDot, OpSUDot of vectors: what overflows the result on the way is undefined; wrapping comes first.
fn vector_dots(t: &mut Table) {
    for out in [16u32, 32, 64] {
        for n in [2usize, 3, 4] {
            for (prefix, bases, result) in [
                ("s", ["int", "int"], "int"),
                ("u", ["uint", "uint"], "uint"),
                ("su", ["int", "uint"], "int"),
            ] {
                let signature = format!("{}x{n}, {}x{n} -> {result}{out}x1", bases[0], bases[1]);
                t.whole(&format!("{prefix}dot{n}_{out}"), &signature, move |p| {
                    let number = |operand: usize, i: usize| {
                        let raw = p.v[operand][i];
                        if bases[operand] == "int" { signed(raw, p.w[operand]) } else { raw.into() }
                    };
                    // Up to 2^130 for 64-bit lanes: split off whether the sum fits before it wraps.
                    let products = (0..n).map(|i| number(0, i).checked_mul(number(1, i)));
                    let exact = products.clone().try_fold(0i128, |sum, p| sum.checked_add(p?));
                    let wrapped = (0..n).fold(0i128, |sum, i| {
                        sum.wrapping_add(number(0, i).wrapping_mul(number(1, i)))
                    });
                    let value = Value::bits(wrap(wrapped, out));
                    let (low, high) = if result == "int" {
                        (int_min(out), int_max(out))
                    } else {
                        (0, uint_max(out))
                    };
                    let fits = exact.is_some_and(|sum| (low..=high).contains(&sum));
                    vec![if fits { value } else { value.open() }]
                });
            }
        }
    }
}
