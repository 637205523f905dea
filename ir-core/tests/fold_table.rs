//! Laws that every opcode of the table keeps when it is folded, and the decisions of docs/book/semantics.md by example.

use deburr_ir_core::fold::{
    Denorm, FloatEnv, Rounding, Shadow, broken_promises, fold, fold_shadowed,
};
use deburr_ir_core::{AluInfo, AluOp, AluProps, AluType, BaseType, Flags};

const STRICT: FloatEnv = FloatEnv::uniform(Denorm::Keep, Rounding::Rte);

fn environments() -> [FloatEnv; 4] {
    [
        STRICT,
        FloatEnv::uniform(Denorm::Flush, Rounding::Rte),
        FloatEnv::uniform(Denorm::Flush, Rounding::Rtz),
        FloatEnv::uniform(Denorm::Any, Rounding::Any),
    ]
}

fn table() -> impl Iterator<Item = (AluOp, &'static AluInfo)> {
    (0..AluOp::FIRST_DIALECT).map_while(|id| Some((AluOp(id), AluOp(id).builtin()?)))
}

fn widths(info: &AluInfo) -> Vec<u8> {
    if info.sizes.is_empty() { vec![0] } else { info.sizes.to_vec() }
}

fn width(ty: AluType, bits: u8) -> u32 {
    u32::from(if ty.bits == 0 { bits } else { ty.bits })
}

fn mask(w: u32) -> u64 {
    u64::MAX >> (64 - w)
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// An edge value of the type more often than not.
    fn value(&mut self, ty: AluType, bits: u8) -> u64 {
        let w = width(ty, bits);
        let pick = self.next();
        match ty.base {
            BaseType::Bool => {
                if pick >> 40 & 1 == 0 {
                    0
                } else {
                    mask(w)
                }
            }
            BaseType::Int | BaseType::Uint => {
                let top = 1u64 << (w - 1);
                let edges = [0, 1, 2, 3, u64::MAX, u64::MAX - 1, top, top - 1, top + 1, 7, 31, 32];
                match pick >> 62 {
                    0 => self.next() & mask(w),
                    1 => (self.next() & mask(w)) >> (pick % u64::from(w)),
                    _ => edges[(pick >> 20) as usize % edges.len()] & mask(w),
                }
            }
            BaseType::Float => {
                let (frac, inf) = match w {
                    16 => (10, 0x7c00),
                    32 => (23, 0x7f80_0000),
                    _ => (52, 0x7ff0_0000_0000_0000u64),
                };
                let one = inf >> 1 & inf;
                let edges = [
                    0,
                    1,
                    one,
                    one + (1 << frac),
                    one - (1 << frac),
                    inf,
                    inf + 1,
                    inf - 1,
                    1 << frac,
                ];
                let sign = (pick >> 50 & 1) << (w - 1);
                match pick >> 61 {
                    0..2 => self.next() & mask(w),
                    // Moderate numbers.
                    2..4 => sign | (one + (pick & mask(frac + 2))) & mask(w),
                    4 => sign | inf | 1 << (frac - 1) | pick & 0xff,
                    _ => sign | edges[(pick >> 20) as usize % edges.len()],
                }
            }
        }
    }

    fn operands(&mut self, info: &AluInfo, bits: u8, comps: u8) -> Vec<Vec<u64>> {
        let vector = |ty: &AluType, r: &mut Random| {
            let n = if ty.comps == 0 { comps } else { ty.comps };
            (0..n).map(|_| r.value(*ty, bits)).collect()
        };
        info.inputs.iter().map(|ty| vector(ty, self)).collect()
    }
}

fn run(
    op: AluOp,
    bits: u8,
    comps: u8,
    srcs: &[Vec<u64>],
    env: &FloatEnv,
) -> Option<([u64; 16], Shadow)> {
    let srcs: Vec<&[u64]> = srcs.iter().map(Vec::as_slice).collect();
    let mut out = [0xdead_beef_dead_beef; 16];
    fold(op, bits, comps, &srcs, env, &mut out).map(|shadow| (out, shadow))
}

/// Calls `check` for each opcode that folds, at each size and environment, on random operands.
fn each(
    rounds: usize,
    mut check: impl FnMut(AluOp, &'static AluInfo, u8, u8, &mut Random, &FloatEnv),
) {
    let mut random = Random(0x1234_5678_9abc_def1);
    for (op, info) in table().filter(|(_, info)| info.fold.is_some()) {
        for bits in widths(info) {
            for env in environments() {
                for round in 0..rounds {
                    let comps = match info.output.comps {
                        0 => [1, 4, 3, 2][round % 4],
                        n => n,
                    };
                    check(op, info, bits, comps, &mut random, &env);
                }
            }
        }
    }
}

#[test]
fn all_but_derivatives_fold() {
    let mut count = 0;
    for (_, info) in table() {
        count += 1;
        assert_eq!(info.fold.is_none(), info.props.contains(AluProps::DERIVATIVE), "{}", info.name);
        assert!(!info.inputs.is_empty() && info.inputs.len() <= 16, "{}", info.name);
    }
    assert!(count >= 405 + 60, "{count} opcodes");
}

#[test]
fn results_are_patterns_of_their_type() {
    each(12, |op, info, bits, comps, random, env| {
        let srcs = random.operands(info, bits, comps);
        let (out, shadow) = run(op, bits, comps, &srcs, env).unwrap();
        let w = width(info.output, bits);
        for (i, &v) in out.iter().enumerate().take(comps.into()) {
            let name = info.name;
            assert_eq!(v & !mask(w), 0, "{name}@{bits} component {i} of {srcs:x?}: {v:#x}");
            if info.output.base == BaseType::Bool {
                assert!(v == 0 || v == mask(w), "{name}@{bits} of {srcs:x?}: {v:#x}");
            }
        }
        for &v in &out[comps.into()..] {
            assert_eq!(v, 0xdead_beef_dead_beef, "{} writes past its components", info.name);
        }
        assert_eq!(u32::from(shadow.free | shadow.nan) >> comps, 0, "{}", info.name);
    });
}

#[test]
fn folding_is_by_component() {
    each(4, |op, info, bits, comps, random, env| {
        if !info.per_component() {
            return;
        }
        let srcs = random.operands(info, bits, comps);
        let (whole, _) = run(op, bits, comps, &srcs, env).unwrap();
        for i in 0..usize::from(comps) {
            let one: Vec<Vec<u64>> = srcs
                .iter()
                .zip(info.inputs)
                .map(|(v, ty)| if ty.comps == 0 { vec![v[i]] } else { v.clone() })
                .collect();
            let (single, _) = run(op, bits, 1, &one, env).unwrap();
            assert_eq!(single[0], whole[i], "{}@{bits} of {srcs:x?}", info.name);
        }
    });
}

#[test]
fn commutative_ones_commute() {
    each(24, |op, info, bits, comps, random, env| {
        if !info.props.contains(AluProps::COMMUTATIVE) {
            return;
        }
        let mut srcs = random.operands(info, bits, comps);
        let (there, free) = run(op, bits, comps, &srcs, env).unwrap();
        srcs.swap(0, 1);
        let (back, free_back) = run(op, bits, comps, &srcs, env).unwrap();
        for i in 0..usize::from(comps) {
            if (free.free | free_back.free) >> i & 1 == 0 {
                assert_eq!(there[i], back[i], "{}@{bits} of {srcs:x?}", info.name);
            }
        }
    });
}

#[test]
fn associative_integer_ones_associate() {
    each(24, |op, info, bits, comps, random, env| {
        let exact = info.inputs.iter().all(|ty| ty.base != BaseType::Float);
        // iadd3 has three.
        let closed = info.inputs.len() == 2;
        if !info.props.contains(AluProps::ASSOCIATIVE) || !exact || !closed {
            return;
        }
        let ab = random.operands(info, bits, comps);
        let c = random.operands(info, bits, comps).swap_remove(0);
        let (a, b) = (ab[0].clone(), ab[1].clone());
        let call = |x: Vec<u64>, y: Vec<u64>| {
            run(op, bits, comps, &[x, y], env).unwrap().0[..comps.into()].to_vec()
        };
        let left = call(call(a.clone(), b.clone()), c.clone());
        let right = call(a, call(b, c));
        assert_eq!(left, right, "{}@{bits}", info.name);
    });
}

/// Under `flush` no float arithmetic gives a denormal, and under `keep` some opcode does.
#[test]
fn flush_leaves_no_denormal() {
    let mut kept = 0;
    each(24, |op, info, bits, comps, random, env| {
        let arithmetic =
            info.props.contains(AluProps::FLOAT) && !info.props.contains(AluProps::SELECTION);
        if info.output.base != BaseType::Float
            || !arithmetic
            || info.name.starts_with("ffaceforward")
            // A conversion to the size that the operand has is a move.
            || info.props.contains(AluProps::CONVERSION) && info.output.bits == bits
        {
            return;
        }
        let w = width(info.output, bits);
        let inf = [0x7c00, 0x7f80_0000, 0x7ff0_0000_0000_0000u64][w as usize / 32];
        let srcs = random.operands(info, bits, comps);
        let (out, _) = run(op, bits, comps, &srcs, env).unwrap();
        for &v in &out[..comps.into()] {
            let magnitude = v & mask(w) >> 1;
            let denormal = magnitude != 0 && magnitude & inf == 0;
            kept += usize::from(denormal);
            let flushed = env.denorm(w) == Denorm::Flush;
            assert!(!(denormal && flushed), "{}@{bits} of {srcs:x?}: {v:#x}", info.name);
        }
    });
    assert!(kept > 100, "{kept} denormals in all");
}

fn op(name: &str) -> AluOp {
    AluOp::from_name(name).unwrap_or_else(|| panic!("no opcode {name}"))
}

/// Scalars (or one vector an operand, `|` between operands), `->`, the result, `?` behind it if it is free.
#[track_caller]
fn check(name: &str, bits: u8, example: &str) {
    check_in(name, bits, example, &STRICT);
}

#[track_caller]
fn check_in(name: &str, bits: u8, example: &str, env: &FloatEnv) {
    let number = |t: &str| match t.strip_prefix('-') {
        Some(t) => t.parse::<u64>().unwrap().wrapping_neg(),
        None => match t.strip_prefix("0x") {
            Some(t) => u64::from_str_radix(t, 16).unwrap(),
            None => t.parse().unwrap(),
        },
    };
    let op = op(name);
    let info = op.builtin().unwrap();
    let (inputs, result) = example.split_once("->").unwrap();
    let srcs: Vec<Vec<u64>> = inputs
        .split('|')
        .zip(info.inputs)
        .map(|(v, ty)| v.split_whitespace().map(|t| number(t) & mask(width(*ty, bits))).collect())
        .collect();
    assert_eq!(srcs.len(), info.inputs.len(), "{name}: operands");
    let free = result.contains('?');
    let result: Vec<u64> = result
        .trim_end_matches([' ', '?'])
        .split_whitespace()
        .map(|t| number(t) & mask(width(info.output, bits)))
        .collect();
    let (out, shadow) = run(op, bits, result.len() as u8, &srcs, env).unwrap();
    assert_eq!(
        &out[..result.len()],
        &result[..],
        "{name}@{bits} {example}: {:x?}",
        &out[..result.len()]
    );
    assert_eq!(shadow.free != 0, free, "{name}@{bits} {example}: free {:#b}", shadow.free);
}

#[test]
fn integers_by_example() {
    check("ishl", 8, "1 | 9 -> 2");
    check("ishl", 64, "1 | 65 -> 2");
    check("ishr", 16, "0x8000 | 31 -> 0xffff");
    check("urol", 8, "0x81 | 1 -> 3");
    check("uror", 32, "1 | 33 -> 0x80000000");
    check("urol", 32, "0x12345678 | 0 -> 0x12345678");
    check("idiv", 32, "7 | 0 -> 0?");
    check("idiv", 8, "-128 | -1 -> -128?");
    check("irem", 8, "-128 | -1 -> 0?");
    check("idiv", 32, "-7 | 2 -> -3");
    check("irem", 32, "-7 | 2 -> -1");
    check("imod", 32, "-7 | 2 -> 1");
    check("imod", 32, "7 | -2 -> -1");
    check("imod", 32, "-8 | 2 -> 0");
    check("umod", 32, "-1 | 10 -> 5");
    check("iabs", 8, "-128 -> -128");
    check("isign", 64, "-5 -> -1");
    check("imul_high", 8, "-128 | -128 -> 64");
    check("umul_high", 32, "-1 | -1 -> 0xfffffffe");
    check("uadd_carry", 32, "-1 | 1 -> 1");
    check("usub_borrow", 32, "1 | 2 -> 1");
    check("iadd_sat", 8, "100 | 100 -> 127");
    check("usub_sat", 8, "1 | 2 -> 0");
    check("ihadd", 8, "-128 | -127 -> -128");
    check("irhadd", 8, "-128 | -127 -> -127");
    check("uhadd", 8, "255 | 254 -> 254");
    check("urhadd", 8, "255 | 254 -> 255");
    check("uabs_isub", 8, "-128 | 127 -> 255");
    check("iclamp", 32, "-5 | -3 | 9 -> -3");
    check("uclamp", 32, "5 | 9 | 3 -> 0?");
    check("inot", 1, "1 -> 0");
    check("ixor", 1, "1 | 1 -> 0");
    check("ieq", 1, "1 | 1 -> 1");
    check("ieq16", 32, "5 | 5 -> 0xffff");
    check("b32csel", 8, "0xffffffff | 1 | 2 -> 1");
    check("bcsel", 1, "0 | 1 | 0 -> 0");
    check("b2b8", 1, "1 -> 0xff");
    check("b2i64", 32, "0xffffffff -> 1");
}

#[test]
fn bit_fields_by_example() {
    check("ubfe", 0, "0xff00 | 8 | 4 -> 0xf");
    check("ubfe", 0, "0xff00 | 8 | 0 -> 0");
    check("ubfe", 0, "0xff00 | 8 | 32 -> 0");
    check("ubfe", 0, "0x80000000 | 28 | 20 -> 8");
    check("ibfe", 0, "0x80000000 | 28 | 20 -> -8");
    check("ibfe", 0, "0x80 | 4 | 4 -> -8");
    check("bfm", 0, "4 | 8 -> 0xf00");
    check("bfm", 0, "32 | 8 -> 0");
    check("bfi", 0, "0xf0 | 0x5 | 0xffffffff -> 0xffffff5f");
    check("bfi", 0, "0 | 5 | 7 -> 7");
    check("ubitfield_extract", 0, "0x12345678 | 0 | 32 -> 0x12345678");
    check("ubitfield_extract", 0, "0x12345678 | 8 | 8 -> 0x56");
    check("ubitfield_extract", 0, "0x12345678 | 8 | 0 -> 0");
    check("ibitfield_extract", 0, "0xff00 | 8 | 8 -> -1");
    check("ibitfield_extract", 0, "0xff00 | 30 | 8 -> 0?");
    check("bitfield_insert", 0, "0xffffffff | 0 | 8 | 8 -> 0xffff00ff");
    check("bitfield_insert", 0, "5 | 7 | 0 | 32 -> 7");
    check("bitfield_insert", 0, "5 | 7 | 3 | 0 -> 5");
    check("bitfield_insert", 0, "5 | 7 | 1 | 32 -> 0?");
    check("find_lsb", 64, "0 -> -1");
    check("find_lsb", 64, "0x100000000 -> 32");
    check("ufind_msb", 8, "0x80 -> 7");
    check("ufind_msb", 16, "0 -> -1");
    check("ufind_msb_rev", 64, "1 -> 63");
    check("ifind_msb", 0, "-1 -> -1");
    check("ifind_msb", 0, "-2 -> 0");
    check("ifind_msb_rev", 0, "1 -> 31");
    check("uclz", 0, "0 -> 32");
    check("bit_count", 8, "0xff -> 8");
    check("bitfield_reverse", 0, "1 -> 0x80000000");
    check("bitnz", 8, "4 | 10 -> 1");
    check("extract_i8", 32, "0x8000 | 1 -> -128");
    check("extract_u8", 16, "0x1234 | 2 -> 0?");
    check("extract_i16", 64, "0x800000000000 | 2 -> -32768");
    check("insert_u16", 32, "0x12345678 | 1 -> 0x56780000");
    check("imul24", 0, "0x1ffffff | 3 -> -3");
    check("umul24_relaxed", 0, "0x1000001 | 3 -> 3?");
    check("imul_32x16", 0, "3 | 0x1ffff -> -3");
    check("imadsh_mix16", 0, "0x20000 | 3 | 1 -> 0x60001");
    check("sad_u8x4", 32, "0x01020304 | 0x04030201 | 100 -> 108");
    check("sdot_4x8_iadd", 0, "0xff02 | 0x0302 | 10 -> 11");
    check("sdot_4x8_iadd_sat", 0, "0x80808080 | 0x80808080 | 0x7fffffff -> 0x7fffffff");
    check("sdot_2x16_iadd_sat", 0, "0x80008000 | 0x80008000 | -1 -> 0x7fffffff");
    check("udot_4x8_uadd_sat", 0, "0xff | 0xff | -1 -> 0xffffffff");
    check("sudot_4x8_iadd", 0, "0xff | 0xff | 0 -> -255");
    check("sdot4_32", 8, "-128 -128 1 0 | -128 -128 -1 0 -> 32767");
    check("sudot2_32", 8, "-1 0 | 255 0 -> -255");
}

#[test]
fn floats_by_example() {
    check("fneg", 32, "0x7f800001 -> 0xff800001");
    check("fabs", 16, "0xfc01 -> 0x7c01");
    check("fadd", 32, "0x3f800000 | 0xbf800000 -> 0");
    check("fadd", 32, "0x7f800001 | 0 -> 0x7fc00000");
    check("fmin", 32, "0x7fc00000 | 0x3f800000 -> 0x3f800000");
    check("fmin", 32, "0x80000000 | 0 -> 0x80000000?");
    check("fmax", 32, "0x7f800001 | 0xffc00000 -> 0x7fc00000");
    check("fmin_any", 32, "0x7fc00000 | 0x3f800000 -> 0x3f800000?");
    check("fclamp", 32, "0x7fc00000 | 0 | 0x3f800000 -> 0");
    check("fclamp", 32, "0x40000000 | 0 | 0x3f800000 -> 0x3f800000");
    check("fclamp_any", 32, "0x7fc00000 | 0 | 0x3f800000 -> 0?");
    check("fsat", 32, "0xffc00000 -> 0");
    check("fsat", 32, "0x80000000 -> 0?");
    check("fsat", 16, "0x4000 -> 0x3c00");
    check("fsign", 32, "0x80000000 -> 0x80000000");
    check("fsign", 32, "0x7fc00000 -> 0?");
    check("fsign", 64, "0x8000000000000001 -> 0xbff0000000000000");
    check("fneu", 32, "0x7fc00000 | 0x7fc00000 -> 1");
    check("fequ", 32, "0x7fc00000 | 0 -> 1");
    check("fneo", 32, "0x7fc00000 | 0 -> 0");
    check("feq", 32, "0 | 0x80000000 -> 1");
    check("fisnan", 16, "0x7c01 -> 1");
    check("fisnormal", 16, "0x03ff -> 0");
    check("ffract", 32, "0xbe800000 -> 0x3f400000");
    check("ffract", 32, "0x80000001 -> 0x3f800000?");
    check("ffract", 32, "0x7f800000 -> 0x7fc00000");
    check("fround", 32, "0x3f000000 -> 0?");
    check("fround", 32, "0xbfc00000 -> 0xc0000000?");
    check("fround_even", 32, "0x80000000 -> 0x80000000");
    check("fmulz", 0, "0x7f800000 | 0 -> 0");
    check("ffmaz", 0, "0x7fc00000 | 0x80000000 | 0x80000000 -> 0");
    // 1 + 2^-12 squared, less 1: fused keeps the last bit.
    check("ffma", 32, "0x3f800800 | 0x3f800800 | 0xbf800000 -> 0x3a000400");
    check("fmad", 32, "0x3f800400 | 0x3f800400 | 0xbf800000 -> 0x39800000?");
    check("frcp", 32, "0x80000000 -> 0xff800000");
    check("frsq", 32, "0x40800000 -> 0x3f000000");
    check("fsqrt", 32, "0xbf800000 -> 0x7fc00000");
    check("flog2", 32, "0x80000000 -> 0xff800000");
    check("fexp2", 32, "0xff800000 -> 0");
    check("fexp2", 16, "0x4200 -> 0x4800");
    check("fpow", 32, "0x3f800000 | 0x7fc00000 -> 0x3f800000?");
    check("fpow", 32, "0x7f800000 | 0 -> 0x3f800000?");
    check("fpow", 32, "0xc0000000 | 0x40000000 -> 0x7fc00000");
    check("fpow", 32, "0x40000000 | 0x40400000 -> 0x41000000");
    check("fmod", 32, "0xc0e00000 | 0x40000000 -> 0x3f800000");
    check("frem", 32, "0xc0e00000 | 0x40000000 -> 0xbf800000");
    check("ldexp", 32, "0x3f800000 | 200 -> 0x7f800000");
    check("ldexp", 32, "0x3f800000 | -149 -> 1");
    check("frexp_sig", 32, "0x41000000 -> 0x3f000000");
    check("frexp_exp", 32, "0x41000000 -> 4");
    check("frexp_exp", 32, "0 -> 0?");
    check("fmodf_fract", 32, "0xff800000 -> 0x80000000");
    check("fmodf_fract", 32, "0xc0000000 -> 0x80000000");
    check("fstep", 32, "0x3f800000 | 0x3f800000 -> 0x3f800000");
    check("fsmoothstep", 32, "0 | 0x3f800000 | 0x3f000000 -> 0x3f000000");
    check("flrp", 32, "0x40000000 | 0x40800000 | 0x3f000000 -> 0x40400000");
    check("seq", 16, "0x3c00 | 0x3c00 -> 0x3c00");
    check("fcsel", 0, "0x7fc00000 | 1 | 2 -> 1");
}

#[test]
fn conversions_by_example() {
    check("f2i32", 32, "0x4f000000 -> 0?");
    check("f2i32", 32, "0xcf000000 -> 0x80000000");
    check("f2i8", 32, "0xc3008000 -> 0x80");
    check("f2u8", 32, "0xbf7fffff -> 0");
    check("f2u8", 32, "0xbf800000 -> 0?");
    check("f2i32_sat", 32, "0x7f800000 -> 0x7fffffff");
    check("f2u16_sat", 64, "0x7ff8000000000000 -> 0");
    check("f2i1", 32, "0xbf800000 -> 1");
    check("u2f16", 32, "65520 -> 0x7c00");
    check("i2f32", 64, "-9223372036854775808 -> 0xdf000000");
    check("f2f16", 32, "0x477ff000 -> 0x7c00");
    check("f2f16_rtz", 32, "0x7f7fffff -> 0x7bff");
    check("f2f32", 16, "1 -> 0x33800000");
    check("fquantize2f16", 32, "0xb87fffff -> 0x80000000");
    check("fquantize2f16", 32, "0x38800000 -> 0x38800000");
    check("fquantize2f16", 32, "0x3f801001 -> 0x3f802000");
    check("fquantize2f16", 32, "0x477ff000 -> 0x7f800000");
    check("pack_half_2x16", 0, "0x3f800000 0xc0000000 -> 0xc0003c00");
    check("unpack_half_2x16", 0, "0xc0003c00 -> 0x3f800000 0xc0000000");
    check("unpack_half_2x16_flush_to_zero", 0, "0x80010001 -> 0 0x80000000");
    check("pack_snorm_4x8", 0, "0xbf800000 0x3f800000 0x7fc00000 0xc2000000 -> 0x81007f81");
    check("unpack_snorm_4x8", 0, "0x807f8100 -> 0 0xbf800000 0x3f800000 0xbf800000");
    check("pack_unorm_2x16", 16, "0x3c00 0xbc00 -> 0xffff");
    check("unpack_unorm_4x8", 0, "0xff0000ff -> 0x3f800000 0 0 0x3f800000");
    check("pack_64_2x32", 0, "1 2 -> 0x200000001");
    check("unpack_64_4x16", 0, "0x4000300020001 -> 1 2 3 4");
    check("pack_sint_2x16", 0, "-100000 100000 -> 0x7fff8000");
    check("pack_uvec4_to_uint", 0, "0x101 2 3 4 -> 0x04030201");
    let flush = FloatEnv::uniform(Denorm::Flush, Rounding::Rtz);
    check_in("f2f16", 32, "0x33ffffff -> 0", &flush);
    check_in("f2f16", 32, "0x3f803fff -> 0x3c01", &flush);
    check_in("f2f16", 32, "0x7f7fffff -> 0x7bff", &flush);
    check_in("flt", 32, "0 | 1 -> 0", &flush);
    check_in("fcanonicalize", 32, "0x80000001 -> 0x80000000", &flush);
    check_in("fneg", 32, "1 -> 0x80000001", &flush);
}

#[test]
fn vectors_by_example() {
    check("vec3", 16, "1 | 2 | 3 -> 1 2 3");
    check("vec_extract3", 8, "1 2 3 | 2 -> 3");
    check("vec_extract3", 8, "1 2 3 | 3 -> 0?");
    check("vec_insert4", 1, "0 0 0 0 | 1 | 2 -> 0 0 1 0");
    check("ball_iequal3", 32, "1 2 3 | 1 2 4 -> 0");
    check("b32any_inequal2", 64, "1 2 | 1 3 -> 0xffffffff");
    check("bany3", 0, "0 0 1 -> 1");
    check("fdot2", 16, "0x3c00 0x4000 | 0x4000 0x4200 -> 0x4800");
    check("fdph", 32, "0 0 0 | 0 0 0 0x40400000 -> 0x40400000");
    check("fcross", 32, "0x3f800000 0 0 | 0 0x3f800000 0 -> 0 0 0x3f800000");
    check("flength2", 32, "0x40400000 0x40800000 -> 0x40a00000");
    check("fdistance2", 32, "0x40400000 0 | 0 0x40800000 -> 0x40a00000");
    check("fnormalize2", 32, "0 0x40800000 -> 0 0x3f800000");
    check("ffaceforward2", 32, "0x3f800000 0 | 0 0x3f800000 | 0 0xbf800000 -> 0x3f800000 0");
    check("freflect2", 32, "0x3f800000 0xbf800000 | 0 0x3f800000 -> 0x3f800000 0x3f800000");
    check("frefract2", 32, "0 0xbf800000 | 0 0x3f800000 | 0x3f000000 -> 0 0xbf800000");
    check("fmatvec2x3", 16, "0x3c00 0 0 | 0 0x3c00 0 | 0x4000 0x4200 -> 0x4000 0x4200 0");
    check("fvecmat2x3", 16, "0x3c00 0x4000 0 | 0 0x3c00 0 | 0x3c00 0 0 -> 0x4000 0x3c00");
    check("transpose3x2", 32, "1 2 | 3 4 | 5 6 | 1 -> 2 4 6");
    check("fouter3x2", 16, "0x3c00 0x4000 | 0 0x4000 0 | 1 -> 0x4000 0x4400");
}

/// A matrix times its inverse, column by column, is the unit matrix, and determinants multiply.
#[test]
fn inverse_and_determinant() {
    let mut random = Random(99);
    let float = |r: &mut Random| (r.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    for n in 2..=4usize {
        for _ in 0..200 {
            let m: Vec<Vec<f64>> =
                (0..n).map(|_| (0..n).map(|_| float(&mut random)).collect()).collect();
            let columns: Vec<Vec<u64>> =
                m.iter().map(|c| c.iter().map(|v| v.to_bits()).collect()).collect();
            let (det, _) = run(op(&format!("fdeterminant{n}")), 64, 1, &columns, &STRICT).unwrap();
            let det = f64::from_bits(det[0]);
            if det.abs() < 0.05 {
                continue;
            }
            let mut inverse = Vec::new();
            for k in 0..n as u64 {
                let mut srcs = columns.clone();
                srcs.push(vec![k]);
                let (column, _) =
                    run(op(&format!("finverse{n}")), 64, n as u8, &srcs, &STRICT).unwrap();
                inverse.push(column[..n].to_vec());
                let mut srcs = columns.clone();
                srcs.push(column[..n].to_vec());
                let (unit, _) =
                    run(op(&format!("fmatvec{n}x{n}")), 64, n as u8, &srcs, &STRICT).unwrap();
                for (i, &v) in unit[..n].iter().enumerate() {
                    let expect = f64::from(i as u64 == k);
                    assert!((f64::from_bits(v) - expect).abs() < 1e-9, "column {k} of {m:?}");
                }
            }
            let (back, _) = run(op(&format!("fdeterminant{n}")), 64, 1, &inverse, &STRICT).unwrap();
            assert!((f64::from_bits(back[0]) * det - 1.0).abs() < 1e-8, "{m:?}");
        }
    }
}

/// Free components go where their values go, and no further.
#[test]
fn shadows_follow_the_values() {
    const FREE: Shadow = Shadow { free: 1, nan: 0 };
    const NAN: Shadow = Shadow { free: 0, nan: 1 };
    let nan = 0x7fc0_0000;
    let shadow = |name: &str, srcs: &[(u64, Shadow)]| {
        let values: Vec<[u64; 1]> = srcs.iter().map(|(v, _)| [*v]).collect();
        let srcs: Vec<(&[u64], Shadow)> =
            values.iter().zip(srcs).map(|(v, (_, s))| (&v[..], *s)).collect();
        let op = op(name);
        let info = op.builtin().unwrap();
        let comps = info.output.comps.max(1);
        fold_shadowed(op, info, (32, comps), &srcs, &STRICT, &mut [0; 16]).unwrap()
    };
    let clean = Shadow::CLEAN;
    assert_eq!(shadow("iadd", &[(1, FREE), (2, clean)]), FREE);
    assert_eq!(shadow("iadd", &[(1, clean), (2, clean)]), clean);
    // A zero absorbs in iand, all ones in ior.
    assert_eq!(shadow("iand", &[(1, FREE), (0, clean)]), clean);
    assert_eq!(shadow("iand", &[(1, FREE), (1, clean)]), FREE);
    assert_eq!(shadow("ior", &[(0xffff_ffff, clean), (1, FREE)]), clean);
    assert_eq!(shadow("ior", &[(0xffff_ffff, FREE), (1, clean)]), FREE);
    // The arm that is not chosen doesn't count.
    assert_eq!(shadow("bcsel", &[(1, clean), (2, clean), (3, FREE)]), clean);
    assert_eq!(shadow("bcsel", &[(0, clean), (2, clean), (3, FREE)]), FREE);
    assert_eq!(shadow("bcsel", &[(0, FREE), (2, clean), (3, clean)]), FREE);
    // An arithmetic NaN: kept by moves, absorbed by arithmetic, free as an integer.
    assert_eq!(shadow("fadd", &[(nan, clean), (0, clean)]), NAN);
    assert_eq!(shadow("mov", &[(nan, NAN)]), NAN);
    assert_eq!(shadow("fneg", &[(nan, NAN)]), NAN);
    assert_eq!(shadow("fisnan", &[(nan, NAN)]), clean);
    assert_eq!(shadow("fmin", &[(nan, NAN), (0, clean)]), clean);
    assert_eq!(shadow("fcsel", &[(1, clean), (nan, NAN), (0, clean)]), NAN);
    assert_eq!(shadow("fcsel", &[(0, clean), (nan, NAN), (0, clean)]), clean);
    assert_eq!(shadow("iadd", &[(nan, NAN), (0, clean)]), FREE);
    assert_eq!(shadow("pack_half_2x16_split", &[(nan, clean), (0, clean)]), FREE);
    assert_eq!(shadow("vec2", &[(1, clean), (2, FREE)]), Shadow { free: 2, nan: 0 });
    assert_eq!(shadow("vec2", &[(nan, NAN), (2, clean)]), Shadow { free: 0, nan: 1 });
}

/// Broken promises are seen where they are broken.
#[test]
fn promises_by_example() {
    #[track_caller]
    fn broken(name: &str, flags: Flags, bits: u8, srcs: &[&[u64]], expect: u16) {
        let info = op(name).builtin().unwrap();
        let comps = if info.output.comps == 0 { srcs[0].len() as u8 } else { info.output.comps };
        let mut out = [0; 16];
        fold(op(name), bits, comps, srcs, &STRICT, &mut out).unwrap();
        let got = broken_promises(info, flags, (bits, comps), srcs, &STRICT, &out);
        assert_eq!(got, expect, "{name}@{bits} {flags:?} of {srcs:x?}");
    }
    broken("ishl", Flags::DOM, 32, &[&[1, 1], &[31, 32]], 2);
    broken("ishl", Flags::empty(), 32, &[&[1, 1], &[31, 32]], 0);
    broken("ishl", Flags::NSW, 8, &[&[0x40, 0x3f], &[1, 1]], 1);
    broken("ishl", Flags::NUW, 8, &[&[0x80, 0x40], &[1, 1]], 1);
    broken("iadd", Flags::NSW, 8, &[&[127, 127, 0x80], &[1, 0, 0xff]], 0b101);
    broken("iadd", Flags::NUW, 8, &[&[255, 254], &[1, 1]], 1);
    broken("isub", Flags::NSW, 8, &[&[0x80, 0], &[1, 0x80]], 0b11);
    broken("isub", Flags::NUW, 64, &[&[0, 1], &[1, 1]], 1);
    broken("imul", Flags::NSW, 16, &[&[0x4000, 0x8000, 0xffff], &[2, 0xffff, 0xffff]], 0b011);
    broken("imul", Flags::NUW, 16, &[&[0x100, 0xff], &[0x100, 0x100]], 1);
    broken("ineg", Flags::NSW, 32, &[&[0x8000_0000, 1]], 1);
    broken("idiv", Flags::DOM, 8, &[&[0x80, 5, 5], &[0xff, 0, 5]], 0b011);
    broken(
        "f2u8",
        Flags::DOM,
        32,
        &[&[0x437f_ffff, 0x4380_0000, 0x7fc0_0000, 0xbf00_0000]],
        0b0110,
    );
    broken("f2i64", Flags::DOM, 16, &[&[0x7bff, 0x7c00]], 2);
    broken("vec_insert4", Flags::DOM, 8, &[&[1, 2, 3, 4], &[9], &[4]], 0b1111);
    broken("fadd", Flags::NNAN, 32, &[&[0x7fc0_0000, 0x7f80_0000], &[0, 0]], 1);
    broken("fadd", Flags::NINF, 32, &[&[0x7f7f_ffff, 0x7f80_0000], &[0x7f7f_ffff, 0]], 0b11);
    broken("fdot2", Flags::NNAN, 16, &[&[0x7c00, 0], &[0, 0]], 1);
}
