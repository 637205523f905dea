//! The checker is checked: for decisions of the semantics, minimal rules that are wrong and minimal rules that are right.

use deburr_rulegen::rules::{Library, Ops, compile_bare};
use deburr_rulegen::tables::{TableFile, Tables};
use deburr_verify::{Kind, Options, Verdict, check_rule};
use std::path::Path;

fn read(name: &str) -> String {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    std::fs::read_to_string(root.join(name)).unwrap()
}

fn library() -> Library {
    let tables = Tables::parse(&[TableFile::new("opcodes.toml", read("opcodes.toml"))]).unwrap();
    let (facts, groups) = (read("rules/facts.rules"), read("rules/groups.rules"));
    let mut diags = Vec::new();
    let library = Library::new(
        Ops::from_tables(&tables),
        (&"facts.rules".into(), &facts),
        (&"groups.rules".into(), &groups),
        &mut diags,
    );
    assert_eq!(diags, []);
    library
}

fn verdicts(library: &Library, rule: &str) -> Vec<Verdict> {
    let file = "expr".into();
    let set = compile_bare(library, &file, rule).unwrap_or_else(|diags| {
        panic!("{}", diags.iter().map(|d| d.to_plain(|_| Some(rule))).collect::<String>())
    });
    check_rule(&set, &set.rules[0], &Options::scaled(0.05))
}

/// Rules that are wrong somewhere.
const WRONG: &[&str] = &[
    // Shifts take the count modulo the size.
    "ishl(ishl(a:32, #c), #d) => { let k = c + d; } ishl(a, k)",
    "ushr(ishl(a, n), n) => a",
    "ishr(a, n) => ushr(a, n)",
    // Bit fields take offset and width & 31.
    "ubfe(a, b, c) => ubitfield_extract(a, b, c)",
    "ubfe(a, 0, #w) => { let m = UINT_MAX >> (32u32 - w); } iand(a, m)",
    // INT_MIN.
    "ige(iabs(a), 0) => true",
    "imax(ineg(a), ineg(b)) => ineg(imin(a, b))",
    "idiv(ineg(a), ineg(b)) => idiv(a, b)",
    "ilt(ineg(a), ineg(b)) => ilt(b, a)",
    "isub.nsw(a, #c) => { let k = 0 - c; } iadd.nsw(a, k)",
    // Remainders have the sign of one operand or of the other.
    "imod(a, b) => irem(a, b)",
    "irem(a, #c) => { let k = c - 1; } iand(a, k) where is_pow2(c)",
    "idiv(a, #c) => { let k = ilog2(c); } ishr(a, k) where is_pow2(c)",
    // Overflow.
    "ult(iadd(a, b), iadd(a, c)) => ult(b, c)",
    "udiv(imul(a, b), b) => a",
    "iadd(uadd_sat(a, b), c) => uadd_sat(a, iadd(b, c))",
    // NaN.
    "inot(flt(a, b)) => fge(a, b)",
    "feq(a, a) => true",
    "flt(a, b) => inot(fge(a, b))",
    "fmin(a, b) => bcsel(flt(a, b), a, b)",
    "bcsel(flt(a, b), a, b) => fmin_any(a, b)",
    "fabs(fmul(a, a)) => fmul(a, a)",
    "fmul(a, 0.0) => 0.0 with nsz",
    "fsat(a) => fmax(fmin(a, 1.0), 0.0)",
    "fdiv(a, a) => 1.0",
    // The sign of zero.
    "fadd(a, 0.0) => a where env(denorm = keep | any)",
    "fneg(fsub(a, b)) => fsub(b, a)",
    "fsub(0.0, a) => fneg(a) where env(denorm = keep | any)",
    // Denormals.
    "fmul(a, 1.0) => a",
    "fadd(a, -0.0) => a",
    "fcanonicalize(a) => a",
    "flt(a, b) => flt(fsub(a, b), 0.0)",
    "fmin(a, a) => a",
    // Rounding.
    "fadd(fadd(a, b), c) => fadd(a, fadd(b, c))",
    "fadd(fmul(a, b), c) => ffma(a, b, c)",
    "ffma(a, b, c) => fadd(fmul(a, b), c)",
    "fdiv(a, b) => fmul(a, frcp(b))",
    "f2f32(i2f64(a:64)) => i2f32(a)",
    "f2f16(f2f32(a:64)) => f2f16(a)",
    // Conversions.
    "f2i32(i2f32(a:32)) => a",
    "u2u64(u2u32(a)) => u2u64(a)",
    "i2i32(u2u16(a:8)) => i2i32(a)",
    "iand(b2i32(a:16), b2i32(b)) => b2i32(iand(a, b))",
    // Poison in the arm that is not taken.
    "bcsel(c, iadd(a, x), iadd(b, x)) => iadd(a, isub(x, b))",
    "iand(c, ilt(a, b)) => ilt(bcsel(c, a, b), b)",
    // Vectors.
    "fmul(a.x, a.y) => fmul(a.x, a.x)",
    "vec2(a.x, a.y) => mov(a.yx)",
    "fdot2(vec2(a, 0.0), b) => fmul(a, b.x) with nsz",
    // Promises that don't hold.
    "iadd(iadd.nsw(a, b), c) => iadd.nsw(a, iadd.nsw(b, c))",
    "ishl(a, b) => ishl.dom(a, b)",
];

/// Rules that are right everywhere.
const RIGHT: &[&str] = &[
    "ishl(ishl(a:32, #c), #d) => { let k = c + d; } ishl(a, k) where counts_within(c, d, 32)",
    "ushr(ishl(a, n), n) => iand(a, ushr(-1, n))",
    "ishr(a, n) => ushr(a, n) where nonneg(a)",
    "ubfe(a, b, 0) => 0",
    "ubfe(a, 0, #w) => { let m = (1u32 << w) - 1u32; } iand(a, m)",
    "imax(inot(a), inot(b)) => inot(imin(a, b))",
    "idiv.dom(a, b) => idiv(a, b)",
    "udiv(a, 0) => 7",
    "isub.nsw(a, #c) => { let k = 0 - c; } iadd.nsw(a, k) where not_int_min(c)",
    "imod(a, #c) => { let k = c - 1; } iand(a, k) where is_pow2(c), nonneg(c)",
    "irem(a, b) => umod(a, b) where nonneg(a), nonneg(b)",
    "ult(iadd.nuw(a, b), iadd.nuw(a, c)) => ult(b, c)",
    "inot(feq(a, b)) => fneu(a, b)",
    "fmin_any(a, b) => fmin(a, b)",
    "fabs(fneg(a)) => fabs(a)",
    "fmul.nnan(a, 0.0) => 0.0 with nsz",
    "fmin(fmax(a, 0.0), 1.0) => fsat(a)",
    "fdiv.nnan(a, a) => 1.0",
    "fadd(a, -0.0) => a where env(denorm = keep | any)",
    "fneg(fsub(a, b)) => fsub(b, a) with nsz",
    "fmul(a, 1.0) => fcanonicalize(a)",
    "flt(fsub(a, b), 0.0) => flt(a, b) where env(denorm = keep | any)",
    "fadd(fadd(a, b), c) => fadd(a, fadd(b, c)) with reassoc",
    "fadd(fmul(a, b), c) => ffma(a, b, c) with contract",
    "fmad(a, b, c) => ffma(a, b, c)",
    "fdiv(a, b) => fmul(a, frcp(b)) with arcp",
    "f2i64(i2f64(a:32)) => i2i64(a)",
    "u2u64(u2u32(a:16)) => u2u64(a)",
    "iand(b2i32(a:1), b2i32(b)) => b2i32(iand(a, b))",
    "bcsel(c, a, bcsel(d, a, b)) => bcsel(ior(c, d), a, b)",
    "bcsel(c, true, b:1) => ior(c, b)",
    "vec2(a.x, a.y) => mov(a.xy)",
    "fdot2.nnan(vec2(a, 0.0), b) => fmul(a, b.x) with nsz",
    "ishl.dom(a, b) => ishl(a, b)",
    "unpack_32_2x16_split_x(pack_32_2x16_split(a, b)) => a",
];

#[test]
fn wrong_rules_are_refuted_with_a_witness() {
    let library = library();
    let mut accepted = Vec::new();
    for rule in WRONG {
        let found = verdicts(&library, rule);
        match found.iter().find(|v| v.kind == Kind::Refuted) {
            Some(v) => assert!(v.witness.as_ref().is_some_and(|w| !w.inputs.is_empty()), "{rule}"),
            None => accepted.push(*rule),
        }
    }
    assert!(accepted.is_empty(), "wrong rules that were accepted:\n{}", accepted.join("\n"));
}

#[test]
fn right_rules_are_accepted() {
    let library = library();
    let mut refused = Vec::new();
    for rule in RIGHT {
        refused.extend(
            verdicts(&library, rule)
                .iter()
                .filter(|v| !v.is_good())
                .map(|v| format!("{rule}\n    {v}")),
        );
    }
    assert!(refused.is_empty(), "right rules that were refused:\n{}", refused.join("\n"));
}
