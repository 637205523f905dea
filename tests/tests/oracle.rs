//! The oracle against what Rust itself gives, and the folder against the oracle.

use deburr_tests::mutate::tree;
use deburr_tests::oracle::compare::{Tally, compare, table};
use deburr_tests::oracle::grid::Effort;
use deburr_tests::oracle::{Denorm, Env, Free, Rounding, TABLE, Value, Want, eval};

const ENV: Env = Env { denorm: [Denorm::Any; 3], rounding: [Rounding::Any; 3] };

/// The oracle's first choice of a scalar opcode.
fn first(op: &str, bits: u32, srcs: &[u64]) -> u64 {
    let srcs: Vec<Vec<u64>> = srcs.iter().map(|&s| vec![s]).collect();
    match eval(op, bits, 1, &srcs, &ENV).unwrap_or_else(|| panic!("no opcode {op}"))[0] {
        Value { want: Want::Bits(bits), .. } => bits,
        other => panic!("{op} has no single first choice: {other:?}"),
    }
}

#[test]
fn integers_agree_with_rust_on_all_pairs_of_bytes() {
    for a in i8::MIN..=i8::MAX {
        for b in i8::MIN..=i8::MAX {
            let (ua, ub) = (a as u8, b as u8);
            let at = |op: &str| first(op, 8, &[ua.into(), ub.into()]);
            let signed: [(&str, i8); 12] = [
                ("iadd", a.wrapping_add(b)),
                ("isub", a.wrapping_sub(b)),
                ("imul", a.wrapping_mul(b)),
                ("imin", a.min(b)),
                ("imax", a.max(b)),
                ("iadd_sat", a.saturating_add(b)),
                ("isub_sat", a.saturating_sub(b)),
                ("imul_high", ((i16::from(a) * i16::from(b)) >> 8) as i8),
                ("ihadd", ((i16::from(a) + i16::from(b)) >> 1) as i8),
                ("irhadd", ((i16::from(a) + i16::from(b) + 1) >> 1) as i8),
                ("idiv", a.checked_div(b).unwrap_or(if b == 0 { 0 } else { i8::MIN })),
                ("irem", a.checked_rem(b).unwrap_or(0)),
            ];
            for (op, want) in signed {
                assert_eq!(at(op), u64::from(want as u8), "{op} {a} {b}");
            }
            let floor_mod =
                if b == 0 { 0 } else { (i16::from(a) - floor(a, b) * i16::from(b)) as i8 };
            assert_eq!(at("imod"), u64::from(floor_mod as u8), "imod {a} {b}");
            let unsigned: [(&str, u8); 10] = [
                ("uadd_sat", ua.saturating_add(ub)),
                ("usub_sat", ua.saturating_sub(ub)),
                ("umul_high", ((u16::from(ua) * u16::from(ub)) >> 8) as u8),
                ("uhadd", ((u16::from(ua) + u16::from(ub)) >> 1) as u8),
                ("urhadd", (u16::from(ua) + u16::from(ub)).div_ceil(2) as u8),
                ("uabs_isub", a.abs_diff(b)),
                ("uabs_usub", ua.abs_diff(ub)),
                ("udiv", ua.checked_div(ub).unwrap_or(0)),
                ("umod", ua.checked_rem(ub).unwrap_or(0)),
                ("uadd_carry", ua.overflowing_add(ub).1.into()),
            ];
            for (op, want) in unsigned {
                assert_eq!(at(op), u64::from(want), "{op} {ua} {ub}");
            }
            let count = u32::from(ub);
            let shifted: [(&str, u8); 5] = [
                ("ishl", ua.wrapping_shl(count)),
                ("ushr", ua.wrapping_shr(count)),
                ("ishr", a.wrapping_shr(count) as u8),
                ("urol", ua.rotate_left(count)),
                ("uror", ua.rotate_right(count)),
            ];
            for (op, want) in shifted {
                assert_eq!(at(op), u64::from(want), "{op} {ua} {ub}");
            }
        }
    }
}

/// ⌊a / b⌋.
fn floor(a: i8, b: i8) -> i16 {
    (f64::from(a) / f64::from(b)).floor() as i16
}

#[test]
fn bits_agree_with_rust() {
    let mut x = 0x9e37_79b9u32;
    for i in 0..2000u32 {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) ^ i;
        let value = x >> (i % 33).min(31);
        let at = |op: &str| first(op, 32, &[value.into()]) as u32;
        assert_eq!(at("bit_count"), value.count_ones());
        assert_eq!(at("bitfield_reverse"), value.reverse_bits());
        assert_eq!(at("uclz"), value.leading_zeros());
        let none = |found: bool, at: u32| if found { at } else { u32::MAX };
        assert_eq!(at("find_lsb"), none(value != 0, value.trailing_zeros()));
        assert_eq!(at("ufind_msb"), none(value != 0, 31u32.wrapping_sub(value.leading_zeros())));
        assert_eq!(at("ufind_msb_rev"), none(value != 0, value.leading_zeros()));
        let flipped = if (value as i32) < 0 { !value } else { value };
        assert_eq!(
            at("ifind_msb"),
            none(flipped != 0, 31u32.wrapping_sub(flipped.leading_zeros()))
        );
        let (offset, width) = (i % 37, i / 37 % 37);
        if offset + width <= 32 && width > 0 {
            let field = ((u64::from(value) >> offset) & ((1 << width) - 1)) as u32;
            let srcs = [value.into(), offset.into(), width.into()];
            assert_eq!(first("ubitfield_extract", 0, &srcs) as u32, field);
            let extended = (field << (32 - width)) as i32 >> (32 - width);
            assert_eq!(first("ibitfield_extract", 0, &srcs) as i32, extended);
            if width < 32 {
                assert_eq!(first("ubfe", 0, &srcs) as u32, field, "{offset} {width}");
                assert_eq!(first("ibfe", 0, &srcs) as i32, extended);
            }
            let mask = (((1u64 << width) - 1) << offset) as u32;
            assert_eq!(
                first("bfm", 0, &[u64::from(width & 31), offset.into()]) as u32,
                if width == 32 { 0 } else { mask }
            );
        }
    }
}

#[test]
fn conversions_agree_with_rust() {
    let mut bits = 0x0123_4567u32;
    for i in 0..4000u32 {
        bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let x = f32::from_bits(if i % 3 == 0 { bits } else { bits & 0x8fff_ffff | 0x4000_0000 });
        let raw = [u64::from(x.to_bits())];
        assert_eq!(first("f2i32_sat", 32, &raw), u64::from(x as i32 as u32), "{x:e}");
        assert_eq!(first("f2u8_sat", 32, &raw), u64::from(x as u8), "{x:e}");
        assert_eq!(first("f2i64_sat", 32, &raw), x as i64 as u64, "{x:e}");
        if !x.is_nan() {
            assert_eq!(first("f2f64", 32, &raw), f64::from(x).to_bits());
        }
        assert_eq!(first("u2f32", 32, &raw), u64::from((x.to_bits() as f32).to_bits()));
        assert_eq!(first("i2f64", 32, &raw), f64::from(x.to_bits() as i32).to_bits());
    }
}

#[test]
fn special_values_are_what_the_specification_lists() {
    let f = |x: f32| u64::from(x.to_bits());
    let nan = f(f32::NAN);
    for (op, srcs, want, free) in [
        ("fmin", vec![nan, f(1.0)], f(1.0), Free::No),
        ("fmax", vec![f(-0.0), f(0.0)], f(-0.0), Free::Yes),
        ("fmin_any", vec![nan, f(1.0)], f(1.0), Free::Yes),
        ("fsat", vec![nan], 0, Free::No),
        ("fsat", vec![f(-0.0)], 0, Free::Yes),
        ("fsign", vec![nan], 0, Free::Yes),
        ("fsign", vec![f(-0.0)], f(-0.0), Free::No),
        ("ffract", vec![f(f32::INFINITY)], nan, Free::No),
        ("fadd", vec![f(1.5), f(-1.5)], 0, Free::No),
        ("fmulz", vec![f(f32::INFINITY), f(-0.0)], 0, Free::No),
        ("frcp", vec![f(-0.0)], f(f32::NEG_INFINITY), Free::No),
        ("frsq", vec![f(-0.0)], f(f32::NEG_INFINITY), Free::No),
        ("fpow", vec![f(1.0), nan], f(1.0), Free::Yes),
        ("fpow", vec![f(-2.0), f(2.0)], nan, Free::No),
        ("fpow", vec![f(0.0), f(-1.0)], f(f32::INFINITY), Free::No),
        ("flog2", vec![f(-0.0)], f(f32::NEG_INFINITY), Free::No),
        ("fexp2", vec![f(f32::NEG_INFINITY)], 0, Free::No),
        ("fequ", vec![nan, f(1.0)], 1, Free::No),
        ("fneo", vec![nan, f(1.0)], 0, Free::No),
        ("fquantize2f16", vec![f(-6.0e-5)], f(-0.0), Free::No),
        ("fquantize2f16", vec![f(65520.0)], f(f32::INFINITY), Free::No),
        ("ldexp", vec![f(1.0), 200], f(f32::INFINITY), Free::No),
        ("f2i32", vec![f(3e9)], 0, Free::Yes),
    ] {
        let sources: Vec<Vec<u64>> = srcs.iter().map(|&s| vec![s]).collect();
        let answer = eval(op, 32, 1, &sources, &ENV).unwrap_or_else(|| panic!("no opcode {op}"));
        assert_eq!(answer[0], Value { want: Want::Bits(want), free }, "{op} {srcs:x?}");
    }
}

#[test]
fn determinants_and_inverses_hold_for_a_known_matrix() {
    // Columns (2, 0, 1), (1, 3, 2), (0, 1, 4): determinant 21.
    let f = |x: f64| x.to_bits();
    let columns = vec![
        vec![f(2.0), f(0.0), f(1.0)],
        vec![f(1.0), f(3.0), f(2.0)],
        vec![f(0.0), f(1.0), f(4.0)],
    ];
    let within = |value: &Value, want: f64| match value.want {
        Want::Within { truth, slack, .. } => (truth - want).abs() < 1e-12 && slack < 1e-10,
        _ => false,
    };
    let d = eval("fdeterminant3", 64, 1, &columns, &ENV).expect("an opcode");
    assert!(within(&d[0], 21.0), "{d:?}");
    let mut sources = columns.clone();
    sources.push(vec![1]);
    let inverse = eval("finverse3", 64, 1, &sources, &ENV).expect("an opcode");
    // Column 1 of the adjugate over 21.
    for (value, want) in inverse.iter().zip([-4.0 / 21.0, 8.0 / 21.0, -3.0 / 21.0]) {
        assert!(within(value, want), "{value:?} {want}");
    }
}

#[test]
fn every_meaning_answers_with_the_components_of_its_signature() {
    for op in &TABLE.ops {
        for &bits in &op.sizes {
            let srcs: Vec<Vec<u64>> =
                op.srcs.iter().map(|o| vec![0; o.comps.max(1) as usize]).collect();
            let answer = eval(&op.name, bits, 1, &srcs, &ENV).expect("an opcode of the table");
            assert_eq!(answer.len() as u32, op.dest.comps.max(1), "{}", op.name);
        }
    }
}

#[test]
fn definitions_walked_as_trees_agree_with_the_oracle() {
    let tables = tree::tables().expect("the repository's table is well formed");
    let mut tallies = std::collections::BTreeMap::<&str, Tally>::new();
    let mut unknown = Vec::new();
    for def in &tables.ops {
        let Some(tree) = tree::definition(def) else { continue };
        let Some(op) = TABLE.get(&def.name) else {
            unknown.push(def.name.as_str());
            continue;
        };
        let sizes = if def.sizes.is_empty() { &[0][..] } else { &def.sizes };
        for &bits in sizes {
            let effort = Effort { samples: 12, thin: 61, seed: 7, first_only: false };
            let shape = u32::from(bits);
            let found = compare(op, shape, effort, &mut |comps, srcs, env, out| {
                Some(tree::fold(def, tree, None, (shape, comps), srcs, env, out))
            });
            tallies.entry(op.family).or_default().merge(found);
        }
    }
    for line in table(&tallies) {
        println!("{line}");
    }
    let examples: Vec<&String> = tallies.values().flat_map(|t| &t.examples).collect();
    assert!(examples.is_empty() && unknown.is_empty(), "{unknown:?}\n{examples:#?}");
}

#[test]
fn the_oracle_shares_no_library_with_the_folder() {
    // Everything that ir-core is built from, by the lock file.
    let lock = include_str!("../../Cargo.lock");
    let mut needs = std::collections::BTreeMap::<&str, Vec<&str>>::new();
    for package in lock.split("[[package]]") {
        let quoted: Vec<&str> = package.split('"').skip(1).step_by(2).collect();
        let Some(&name) = quoted.first() else { continue };
        let list = package.split("dependencies = [").nth(1).unwrap_or("");
        let names = list.split('"').skip(1).step_by(2).map(|d| d.split(' ').next().unwrap_or(d));
        needs.entry(name).or_default().extend(names);
    }
    let mut linked = vec!["deburr-ir-core"];
    let mut at = 0;
    while at < linked.len() {
        for &dependency in needs.get(linked[at]).into_iter().flatten() {
            if !linked.contains(&dependency) {
                linked.push(dependency);
            }
        }
        at += 1;
    }
    assert!(linked.contains(&"libm"), "the lock file is not read as it should be: {linked:?}");
    assert!(!linked.contains(&"rustc_apfloat"));
    // And the oracle names nothing of the workspace, nor the folder's library.
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/oracle"))
        .expect("the oracle's folder")
    {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a readable file");
        for word in ["deburr_", "libm", "crate::mutate", "crate::accept"] {
            assert!(!text.contains(word), "{} mentions {word}", path.display());
        }
    }
}
