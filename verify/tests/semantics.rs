//! The checker is checked: for each line of the opcode semantics, minimal rules that are wrong and minimal rules that are
//! right. A line is a decision that the opcode table pins down; the numbers and titles in [`LINES`] are those of the
//! specification.

use deburr_rulegen::rules::{Library, Ops, compile_bare};
use deburr_rulegen::tables::{TableFile, Tables};
use deburr_verify::smt::{Prover, Solver};
use deburr_verify::{Kind, Options, Verdict, check_instance, check_rule, claims};
use std::path::Path;

mod z3;

fn read(name: &str) -> String {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    std::fs::read_to_string(root.join(name)).unwrap()
}

fn library() -> Library {
    let files = ["opcodes.toml", "intrinsics.toml"].map(|name| TableFile::new(name, read(name)));
    let tables = Tables::parse(&files).unwrap();
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

/// The verdicts of a rule, or the codes for which it is no rule.
fn verdicts(library: &Library, rule: &str) -> Result<Vec<Verdict>, Vec<String>> {
    let file = "expr".into();
    let set = compile_bare(library, &file, rule)
        .map_err(|diags| diags.iter().map(|d| d.code.to_string()).collect::<Vec<String>>())?;
    Ok(check_rule(&set, &set.rules[0], &Options::scaled(0.05), &[]))
}

/// What a row says of its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    /// Sound at every size and in every environment.
    Right,
    /// Refuted with a counterexample at some size in some environment.
    Wrong,
    /// Not even a rule: refused with this code.
    Refused(&'static str),
}
use Is::{Refused, Right, Wrong};

/// The lines of the semantics.
const LINES: [(u8, &str); 29] = [
    (1, "shift counts are modulo the size"),
    (2, "bit field operands"),
    (3, "find_lsb, find_msb, bit_count"),
    (4, "division by zero and INT_MIN / -1"),
    (5, "signs of remainders; iabs(INT_MIN)"),
    (6, "mul_high and 24-bit products"),
    (7, "saturating and halving additions"),
    (8, "booleans"),
    (9, "NaN of arithmetic, bits of moves"),
    (10, "signs of zero"),
    (11, "minimum and maximum with NaN"),
    (12, "fsat"),
    (13, "fsign"),
    (14, "ordered and unordered comparisons"),
    (15, "denormals"),
    (16, "rounding"),
    (17, "fused, split, contracted"),
    (18, "conversions to and from integers"),
    (19, "f2f16"),
    (20, "packing and quantising"),
    (21, "transcendentals"),
    (22, "literals that don't fit"),
    (23, "unsized variables"),
    (24, "one arbitrary value per def"),
    (25, "promises and poison"),
    (26, "vectors"),
    (27, "convergence"),
    (28, "rearranging needs no ninf"),
    (29, "loops and data races"),
];

/// Lines that no rule can speak of, with the reason.
const NOT_OF_RULES: &[(u8, &str)] =
    &[(29, "a rule has neither loops nor memory: the interpreter's tests have this line")];

#[rustfmt::skip]
const ROWS: &[(u8, Is, &str)] = &[
    (1, Wrong, "ishl(ishl(a:32, #c), #d) => { let k = c + d; } ishl(a, k)"),
    (1, Wrong, "ishl(a:8, 8) => 0"),
    (1, Wrong, "ushr(ishl(a, n), n) => a"),
    (1, Wrong, "ishr(a, n) => ushr(a, n)"),
    (1, Wrong, "ishl(a, b) => ishl.dom(a, b)"),
    (1, Right, "ishl(ishl(a:32, #c), #d) => { let k = c + d; } ishl(a, k) where counts_within(c, d, 32)"),
    (1, Right, "ishl(a:8, iand(b, 7)) => ishl(a, b)"),
    (1, Right, "ushr(ishl(a, n), n) => iand(a, ushr(-1, n))"),
    (1, Right, "ishr(a, n) => ushr(a, n) where nonneg(a)"),
    (1, Right, "ishl.dom(a, b) => ishl(a, b)"),
    (2, Wrong, "ubfe(a, b, c) => ubitfield_extract(a, b, c)"),
    (2, Wrong, "ubfe(a, 0, #w) => { let m = UINT_MAX >> (32u32 - w); } iand(a, m)"),
    (2, Right, "ubfe(a, b, 0) => 0"),
    (2, Right, "ubfe(a, 0, #w) => { let m = (1u32 << w) - 1u32; } iand(a, m)"),
    (2, Right, "bfi(0, a, b) => b"),
    (3, Wrong, "ufind_msb(a:32) => isub(31, ufind_msb_rev(a))"),
    (3, Wrong, "ifind_msb(a) => ufind_msb(a)"),
    (3, Right, "find_lsb(ineg(a)) => find_lsb(a)"),
    (3, Right, "ifind_msb(inot(a)) => ifind_msb(a)"),
    (3, Right, "bit_count(bitfield_reverse(a)) => bit_count(a)"),
    (4, Wrong, "udiv(a, b) => udiv.dom(a, b)"),
    (4, Wrong, "idiv(ineg(a), ineg(b)) => idiv(a, b)"),
    (4, Wrong, "udiv(imul(a, b), b) => a"),
    (4, Right, "udiv(a, 0) => 7"),
    (4, Right, "idiv.dom(a, b) => idiv(a, b)"),
    (5, Wrong, "imod(a, b) => irem(a, b)"),
    (5, Wrong, "irem(a, #c) => { let k = c - 1; } iand(a, k) where is_pow2(c)"),
    (5, Wrong, "idiv(a, #c) => { let k = ilog2(c); } ishr(a, k) where is_pow2(c)"),
    (5, Wrong, "ige(iabs(a), 0) => true"),
    (5, Wrong, "imax(ineg(a), ineg(b)) => ineg(imin(a, b))"),
    (5, Wrong, "ilt(ineg(a), ineg(b)) => ilt(b, a)"),
    (5, Right, "imod(a, #c) => { let k = c - 1; } iand(a, k) where is_pow2(c), nonneg(c)"),
    (5, Right, "irem(a, b) => umod(a, b) where nonneg(a), nonneg(b)"),
    (5, Right, "iabs(ineg(a)) => iabs(a)"),
    (5, Right, "imax(inot(a), inot(b)) => inot(imin(a, b))"),
    (6, Wrong, "imul_high(a, b) => umul_high(a, b)"),
    (6, Wrong, "umul24(a, b) => umul24_relaxed(a, b)"),
    (6, Right, "umul24_relaxed(a, b) => umul24(a, b)"),
    (6, Right, "umul24(iand(a, 0xffffff), b) => umul24(a, b)"),
    (6, Right, "imul_high(a, 0) => 0"),
    (7, Wrong, "uhadd(a, b) => ushr(iadd(a, b), 1)"),
    (7, Wrong, "iadd(uadd_sat(a, b), c) => uadd_sat(a, iadd(b, c))"),
    (7, Wrong, "ult(iadd(a, b), iadd(a, c)) => ult(b, c)"),
    (7, Right, "uhadd(a, a) => a"),
    (7, Right, "usub_sat(a, a) => 0"),
    (7, Right, "bcsel(ult(iadd(a, b), a), -1, iadd(a, b)) => uadd_sat(a, b)"),
    (8, Wrong, "iand(b2i32(a:16), b2i32(b)) => b2i32(iand(a, b))"),
    (8, Wrong, "b2i32(a:1) => ineg(b2i32(a))"),
    (8, Right, "iand(b2i32(a:1), b2i32(b)) => b2i32(iand(a, b))"),
    (8, Right, "ine(b2i32(a:1), 0) => a"),
    (8, Right, "bcsel(c, true, b:1) => ior(c, b)"),
    (8, Right, "bcsel(c, a, bcsel(d, a, b)) => bcsel(ior(c, d), a, b)"),
    (9, Wrong, "fabs(fmul(a, a)) => fmul(a, a)"),
    (9, Wrong, "fneg(a) => fsub(-0.0, a)"),
    (9, Wrong, "feq(a, a) => true"),
    (9, Wrong, "fdiv(a, a) => 1.0"),
    (9, Wrong, "fcanonicalize(a) => a"),
    (9, Right, "fabs(fneg(a)) => fabs(a)"),
    (9, Right, "fadd(a, -0.0) => a where env(denorm = keep | any)"),
    (9, Right, "fdiv.nnan(a, a) => 1.0"),
    (10, Wrong, "fneg(fsub(a, b)) => fsub(b, a)"),
    (10, Wrong, "fadd.nnan(a, fneg(a)) => -0.0"),
    (10, Wrong, "fadd(a, 0.0) => a where env(denorm = keep | any)"),
    (10, Wrong, "fsub(0.0, a) => fneg(a) where env(denorm = keep | any)"),
    (10, Wrong, "fmul(a, 0.0) => 0.0 with nsz"),
    (10, Right, "fadd.nnan(a, fneg(a)) => 0.0"),
    (10, Right, "fneg(fsub(a, b)) => fsub(b, a) with nsz"),
    (10, Right, "fmul.nnan(a, 0.0) => 0.0 with nsz"),
    (11, Wrong, "fmin(a, b) => fmin_any(a, b)"),
    (11, Wrong, "fmin(a, b) => bcsel(flt(a, b), a, b)"),
    (11, Wrong, "bcsel(flt(a, b), a, b) => fmin_any(a, b)"),
    (11, Right, "fmin_any(a, b) => fmin(a, b)"),
    (11, Right, "fmax_any(a, b) => fmax(a, b)"),
    (12, Wrong, "fsat(a) => fmax(fmin(a, 1.0), 0.0)"),
    (12, Wrong, "fsat(fneg(a)) => fneg(fsat(a))"),
    (12, Right, "fmin(fmax(a, 0.0), 1.0) => fsat(a)"),
    (12, Right, "fsat(m@fsat(a)) => m"),
    (13, Wrong, "fsign(a) => bcsel(flt(a, 0.0), -1.0, 1.0)"),
    (13, Wrong, "fsign(a) => fdiv(a, fabs(a))"),
    (13, Right, "fsign(fneg(a)) => fneg(fsign(a))"),
    (13, Right, "fsign(m@fsign(a)) => m"),
    (14, Wrong, "inot(flt(a, b)) => fge(a, b)"),
    (14, Wrong, "flt(a, b) => inot(fge(a, b))"),
    (14, Wrong, "fneo(a, b) => fneu(a, b)"),
    (14, Right, "inot(feq(a, b)) => fneu(a, b)"),
    (14, Right, "inot(fneo(a, b)) => fequ(a, b)"),
    (15, Wrong, "fmul(a, 1.0) => a"),
    (15, Wrong, "fadd(a, -0.0) => a"),
    (15, Wrong, "fmin(a, a) => a"),
    (15, Wrong, "fneg(fneg(a)) => fcanonicalize(a)"),
    (15, Wrong, "flt(a, b) => flt(fsub(a, b), 0.0)"),
    (15, Right, "fmul(a, 1.0) => fcanonicalize(a)"),
    (15, Right, "fmul(a, 1.0) => a where env(denorm = keep | any)"),
    (15, Right, "flt(fsub(a, b), 0.0) => flt(a, b) where env(denorm = keep | any)"),
    (16, Wrong, "fadd(fadd(a, b), c) => fadd(a, fadd(b, c))"),
    (16, Wrong, "fround(a) => ffloor(fadd(a, 0.5))"),
    (16, Wrong, "fround_even(a) => fround(a)"),
    (16, Right, "fround(a) => fround_even(a)"),
    (16, Right, "ftrunc(m@ftrunc(a)) => m"),
    (17, Wrong, "fadd(fmul(a, b), c) => ffma(a, b, c)"),
    (17, Wrong, "ffma(a, b, c) => fadd(fmul(a, b), c)"),
    (17, Wrong, "fmad(a, b, c) => fadd(ffma(a, b, -0.0), fadd(c, 1.0))"),
    (17, Wrong, "fmulz(a, b) => fmul(a, b)"),
    (17, Wrong, "flrp(a, b, c) => fadd(a, fmul(c, fsub(b, a)))"),
    (17, Right, "fadd(fmul(a, b), c) => ffma(a, b, c) with contract"),
    (17, Right, "fadd(fmul(a, b), c) => fmad(a, b, c) with contract"),
    (17, Right, "fmad(a, b, c) => ffma(a, b, c)"),
    (17, Right, "fmad(a, b, c) => fadd(fmul(a, b), c)"),
    (17, Right, "flrp(a, b, c) => fadd(fmul(a, fsub(1.0, c)), fmul(b, c))"),
    (17, Right, "fmulz(a, 0.0) => 0.0"),
    (18, Wrong, "f2i32(i2f32(a:32)) => a"),
    (18, Wrong, "f2u32_sat(a:32) => f2u32(a)"),
    (18, Wrong, "f2f32(i2f64(a:64)) => i2f32(a)"),
    (18, Wrong, "u2u64(u2u32(a)) => u2u64(a)"),
    (18, Right, "f2i64(i2f64(a:32)) => i2i64(a)"),
    (18, Right, "f2u32(a:32) => f2u32_sat(a)"),
    (18, Right, "u2u64(u2u32(a:16)) => u2u64(a)"),
    (19, Wrong, "f2f16(f2f32(a:64)) => f2f16(a)"),
    (19, Wrong, "f2f16(a:32) => f2f16_rtne(a)"),
    (19, Right, "f2f16(a:32) => f2f16_rtne(a) where env(rounding = rte | any)"),
    (19, Right, "f2f16(a:32) => f2f16_rtz(a) where env(rounding = rtz | any)"),
    (20, Wrong, "unpack_32_2x16_split_y(pack_32_2x16_split(a, b)) => a"),
    (20, Wrong, "fquantize2f16(a:32) => f2f32(f2f16(a))"),
    (20, Right, "unpack_32_2x16_split_x(pack_32_2x16_split(a, b)) => a"),
    (20, Right, "fquantize2f16(m@fquantize2f16(a)) => m"),
    (21, Wrong, "fexp2(flog2(a)) => a"),
    (21, Wrong, "fsqrt(fmul(a, a)) => a with transform"),
    (21, Wrong, "fmul(frcp(a), a) => 1.0"),
    (21, Wrong, "fdiv(a, b) => fmul(a, frcp(b))"),
    (21, Wrong, "bcsel(flt(a, -1.0), 0x7fc00000, b:32) => bcsel(flt(a, -1.0), fpow(-1.0, a), b)"),
    (21, Wrong, "fpow(a:32, b) => fexp2(fmul(flog2(a), fmul(b, 1.001))) with transform"),
    (21, Right, "fexp2(flog2(a)) => a with transform"),
    (21, Right, "fpow(-1.0, a) => nan"),
    (21, Right, "fpow(a:32, b) => fexp2(fmul(flog2(a), b)) with transform"),
    (21, Right, "fcos(fneg(a)) => fcos(a)"),
    (21, Right, "fdiv(a, b) => fmul(a, frcp(b)) with arcp"),
    (22, Refused("E0318"), "iand(a:16, 0x00ff0000) => 0"),
    (22, Refused("E0318"), "iadd(a:8, 256) => a"),
    (22, Right, "iadd(a:8, 255) => isub(a, 1)"),
    (22, Right, "ushr(iand(a:32, 0x00ff0000), 16) => iand(ushr(a, 16), 255)"),
    (23, Wrong, "i2i32(a) => u2u32(a)"),
    (23, Wrong, "i2i32(u2u16(a:8)) => i2i32(a)"),
    (23, Right, "u2u32(m@u2u32(a)) => m"),
    (23, Right, "i2i64(i2i16(a:8)) => i2i64(a)"),
    (24, Wrong, "ishl(udiv(a, 0), 1) => udiv(a, 0)"),
    (24, Wrong, "isub(udiv(a, 0), udiv(a, 0)) => udiv(a, 0)"),
    (24, Right, "isub(udiv(a, 0), udiv(a, 0)) => 0"),
    (24, Right, "ieq(vec_extract2(a, 2), vec_extract2(a, 2)) => true"),
    (24, Wrong, "iadd(ixor(udiv(a, 0), udiv(a, 0)), b) => iadd(b, -1)"),
    (24, Right, "udiv(a, 0) => undef"),
    (24, Right, "iadd(a, undef) => undef"),
    (24, Right, "isub(a, ineg(inot(undef))) => undef"),
    (24, Right, "iadd.nsw(a, undef) => undef"),
    (24, Right, "ieq(a, undef) => undef"),
    (24, Right, "ieq(a, undef) => true"),
    (24, Wrong, "ult(undef, a) => true"),
    (24, Right, "ult(a, undef) => false"),
    (24, Wrong, "ult(a, undef) => undef"),
    (24, Right, "iand(a, undef) => 0"),
    (24, Wrong, "iand(a, undef) => undef"),
    (24, Wrong, "imul(a, undef) => undef"),
    (24, Right, "imul(a, undef) => a"),
    (24, Wrong, "ior(a, undef) => 0"),
    (24, Wrong, "bcsel(c, a, undef) => a"),
    (24, Right, "bcsel(c, #a, undef) => a"),
    (24, Right, "imax(bcsel(c, a, undef), a) => a"),
    (24, Right, "bcsel(undef, a, b) => b"),
    (24, Wrong, "bcsel(undef, a, b) => iand(a, b)"),
    (24, Right, "fadd(a, undef) => nan"),
    (24, Wrong, "fadd(a, undef) => undef"),
    (24, Right, "fneg(undef) => undef"),
    (24, Right, "fsat(fmul(a, undef)) => 0.0"),
    (24, Wrong, "fsat(fadd(a, undef)) => 2.0"),
    (24, Wrong, "vec2(a, undef) => mov(a.xx)"),
    (24, Right, "vec2(#a, undef) => mov(a.xx)"),
    (24, Wrong, "vec2(a, undef) => vec2(inot(a), a)"),
    (24, Wrong, "iadd(a:8, b) => undef"),
    (24, Wrong, "iadd(a:32, b) => iadd(a, undef)"),
    (24, Right, "isub(iadd(a, undef), undef) => a"),
    (24, Wrong, "phi(a, undef) => a"),
    (24, Right, "phi(#a, undef) => a"),
    (24, Wrong, "phi(a, undef) => undef"),
    (24, Right, "isub(iadd(m@iadd(a, undef), b), b) => m"),
    (25, Wrong, "isub.nsw(a, #c) => { let k = 0 - c; } iadd.nsw(a, k)"),
    (25, Wrong, "iadd(iadd.nsw(a, b), c) => iadd.nsw(a, iadd.nsw(b, c))"),
    (25, Wrong, "bcsel(c, iadd(a, x), iadd(b, x)) => iadd(a, isub(x, b))"),
    (25, Wrong, "iand(c, ilt(a, b)) => ilt(bcsel(c, a, b), b)"),
    (25, Right, "isub.nsw(a, #c) => { let k = 0 - c; } iadd.nsw(a, k) where not_int_min(c)"),
    (25, Right, "ult(iadd.nuw(a, b), iadd.nuw(a, c)) => ult(b, c)"),
    (26, Wrong, "fmul(a.x, a.y) => fmul(a.x, a.x)"),
    (26, Wrong, "vec2(a.x, a.y) => mov(a.yx)"),
    (26, Wrong, "fdot2(vec2(a, 0.0), b) => fmul(a, b.x) with nsz"),
    (26, Right, "vec2(a.x, a.y) => mov(a.xy)"),
    (26, Right, "fdot2.nnan(vec2(a, 0.0), b) => fmul(a, b.x) with nsz"),
    (27, Wrong, "fddx(a) => 0.0"),
    (27, Wrong, "fddx(a) => fsub(a, a)"),
    (27, Refused("E0321"), "fneg(fddx(a)) => fddx(fneg(a))"),
    (27, Right, "fneg(fneg(m@fddx(a))) => m"),
    (27, Right, "fabs(fneg(m@fddy(a))) => fabs(m)"),
    (28, Wrong, "fmul(fmul(a, b), c) => fmul(a, fmul(b, c))"),
    (28, Wrong, "fadd(fadd(a, b), c) => fadd(a, fadd(b, c)) with contract"),
    (28, Right, "fadd(fadd(a, b), c) => fadd(a, fadd(b, c)) with reassoc"),
    (28, Right, "fmul(fmul(a, b), c) => fmul(a, fmul(b, c)) with reassoc"),
];

/// What is wrong with a row; nothing if it is as it says.
fn misjudged(library: &Library, is: Is, rule: &str) -> Option<String> {
    match (is, verdicts(library, rule)) {
        (Refused(code), Err(codes)) if codes.iter().any(|c| c == code) => None,
        (Refused(code), Err(codes)) => Some(format!("refused with {codes:?}, not {code}")),
        (Refused(_), Ok(_)) => Some("it is a rule".into()),
        (_, Err(codes)) => Some(format!("no rule: {codes:?}")),
        (Right, Ok(found)) => found.iter().find(|v| !v.is_good()).map(Verdict::to_string),
        (Wrong, Ok(found)) => match found.iter().find(|v| v.kind == Kind::Refuted) {
            Some(v) if v.witness.as_ref().is_some_and(|w| !w.inputs.is_empty()) => None,
            Some(v) => Some(format!("no counterexample: {v}")),
            None => Some("accepted".into()),
        },
    }
}

#[test]
fn rules_of_every_line_are_judged() {
    let library = library();
    let wrong: Vec<String> = ROWS
        .iter()
        .filter_map(|(line, is, rule)| {
            Some(format!("{line}, {is:?}: {rule}\n    {}", misjudged(&library, *is, rule)?))
        })
        .collect();
    assert!(wrong.is_empty(), "rows that are not as they say:\n{}", wrong.join("\n"));
}

#[test]
fn every_line_has_two_rules_of_each_kind() {
    let mut thin = Vec::new();
    for (line, title) in LINES {
        if NOT_OF_RULES.iter().any(|(n, _)| *n == line) {
            assert!(ROWS.iter().all(|r| r.0 != line), "line {line} has rows after all");
            continue;
        }
        let of_line = || ROWS.iter().filter(|r| r.0 == line);
        let right = of_line().filter(|r| r.1 == Right).count();
        let wrong = of_line().filter(|r| r.1 != Right).count();
        if right < 2 || wrong < 2 {
            thin.push(format!("{line} ({title}): {right} right, {wrong} wrong"));
        }
    }
    assert!(thin.is_empty(), "too few rules for\n{}", thin.join("\n"));
    let known = |line: u8| LINES.iter().any(|(n, _)| *n == line);
    assert!(ROWS.iter().all(|r| known(r.0)), "a row names a line that there is not");
}

/// A rule with a chain is checked on the chain from left to right: the others must be equal to it.
#[test]
fn operations_of_chains_are_associative_and_commutative() {
    let library = library();
    let mut wrong = Vec::new();
    // What absorbs is equal but for poison, and may only become what hides that.
    let exact = library.ops.iter().filter(|o| o.is_ac() && !o.float && o.absorbing().is_none());
    let names = exact.map(|o| o.name.clone());
    let mut count = 0;
    for name in names {
        for rule in [
            format!("{name}({name}(a, b), c) => {name}(a, {name}(b, c))"),
            format!("{name}(a, {name}(b, c)) => {name}({name}(a, c), b)"),
        ] {
            wrong.extend(misjudged(&library, Right, &rule).map(|why| format!("{rule}: {why}")));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 8, "{count} operations");
}

#[test]
fn chains_are_judged() {
    let library = library();
    for (is, rule) in [
        (Right, "ac(iand: a, inot(a)) => 0"),
        (Right, "ac(iadd: a, ineg(a), b) => b"),
        (Wrong, "ac(iadd: a, inot(a), b) => b"),
        (Right, "ineg(ac(ixor: a, b, -1)) => iadd(ixor(a, b), 1)"),
        (Wrong, "ineg(ac(ixor: a, b, 1)) => iadd(ixor(a, b), 1)"),
        (Refused("E0337"), "ac(iand: a, a) => a"),
        (Refused("E0337"), "imul(ac(ior: a:32, b, 1), 0x80000000) => 0x80000000"),
        (Right, "isub(a, a) => ac(iand: a, 3, inot(a))"),
        (Refused("E0337"), "ac(isub: a, #c) => iadd(a, c)"),
        (Refused("E0337"), "ac(fadd: a, fneg(a)) => 0.0"),
    ] {
        assert_eq!(misjudged(&library, is, rule), None);
    }
}

/// The two sides agree in the bits that users read, and are poison alike: that is no matter of bits.
#[test]
fn bits_that_users_read_are_compared() {
    let library = library();
    for (is, rule) in [
        (Right, "iand(a, #c) => a where nonzero(c), bits_used(c)"),
        (Wrong, "iand(a, #c) => a where bits_used(c)"),
        (Wrong, "iand(a, #c) => a where nonzero(c)"),
        (Wrong, "ior(a, #c) => a where bits_used(c)"),
        (Right, "ior(a, #c) => a where differ(c, UINT_MAX), bits_used(!c)"),
        (Right, "iadd(a, #c) => a where bits_used((c & (0 - c)) - 1)"),
        (Wrong, "iadd(a, #c) => a where bits_used(!c)"),
        (Right, "ishr(a, #c) => ushr(a, c) where bits_used(UINT_MAX >> c)"),
        (Wrong, "ishr(a, #c) => ushr(a, c) where bits_used(UINT_MAX >> (c - 1))"),
        (Right, "imul(a:8, b) => imul(iand(a, 15), b) where bits_used(15)"),
        (Wrong, "imul(a:8, b) => imul(iand(a, 15), b) where bits_used(31)"),
        (Right, "u2u32(u2u8(a:32)) => a where bits_used(255)"),
        (Wrong, "iadd(a:8, 16) => iadd.nuw(a, 32) where bits_used(15)"),
        (Right, "isub(a:8x2, #c) => { let k = (c & (0 - c)) - 1; } a where bits_used(k)"),
        (Refused("E0379"), "fadd(a, #c) => a where bits_used(c)"),
    ] {
        assert_eq!(misjudged(&library, is, rule), None, "{rule}");
    }
}

/// What isn't arithmetic may give any value, and a phi either of its sources.
#[test]
fn what_is_outside_of_arithmetic_is_any_value() {
    let library = library();
    for (is, rule) in [
        (Right, "isub(iadd(m@@load_push_constant(o), b), b) => m"),
        (Wrong, "isub(iadd(@load_push_constant(o), b), b) => b"),
        (Right, "imul(m@@load_local_invocation_id().y, 2) => iadd(m, m)"),
        (Wrong, "imul(m@@load_local_invocation_id().y, 3) => iadd(m, m)"),
        (Right, "isub(iadd(m@tex.txs(lod: 0, texture_deref: t), b), b) => m"),
        (Right, "phi(iadd(a, b), isub(a, ineg(b))) => iadd(a, b)"),
        (Right, "iand(m@phi(0, 1), 1) => m"),
        (Wrong, "phi(a, b) => a"),
        (Right, "phi(ineg(a), ineg(b)) => ineg(phi(a, b))"),
        (Wrong, "phi(ineg(a), inot(b)) => ineg(phi(a, b))"),
        (Right, "phi(iadd(a, 1), isub(b, -1)) => iadd(phi(a, b), 1)"),
        (Wrong, "phi(iadd(a, 1), isub(b, -1)) => iadd(phi(a, b), 2)"),
        (Wrong, "phi(m@ineg(a), ineg(b)) => isub(phi(a, b), phi(m, b))"),
        (Wrong, "phi(iadd(a, b), isub(a, b)) => iadd(a, b)"),
    ] {
        assert_eq!(misjudged(&library, is, rule), None, "{rule}");
    }
    // What can't be judged so is told, never passed.
    for rule in
        ["@vote_all(true) => true", "iadd(a:32, ineg(a)) => isub(a, @is_sparse_texels_resident(a))"]
    {
        let verdicts = verdicts(&library, rule).unwrap();
        assert!(verdicts.iter().all(|v| v.kind == Kind::Missing && !v.why.is_empty()), "{rule}");
        let waived = format!("{rule} waive \"a test\"");
        let verdicts = self::verdicts(&library, &waived).unwrap();
        assert!(verdicts.iter().all(|v| v.kind == Kind::Waived), "{rule}");
    }
}

/// A licence beside one under which results are compared within a bound is judged too: what the bound covers without the
/// licence it isn't needed for.
#[test]
fn licences_that_are_not_needed_are_found() {
    let library = library();
    let needless = |rule: &str| {
        let set = compile_bare(&library, &"expr".into(), rule).unwrap();
        deburr_verify::needless_licences(&set, &set.rules[0], &Options::scaled(0.05))
    };
    let quotient = "fdiv(fdiv(a:32, b), c) => fdiv(a, fmul(b, c)) with";
    assert_eq!(needless(&format!("{quotient} arcp, reassoc")), ["arcp"]);
    assert_eq!(needless(&format!("{quotient} nsz, reassoc")), ["nsz"]);
    assert_eq!(needless(&format!("{quotient} nsz, arcp, reassoc")), ["nsz", "arcp"]);
    assert_eq!(needless(&format!("{quotient} reassoc")), [""; 0]);
    assert_eq!(needless("fadd(a:16, 0.0) => a where env(denorm = keep | any) with nsz"), [""; 0]);
    assert_eq!(needless("fadd(a:16, -0.0) => a where env(denorm = keep | any) with nsz"), ["nsz"]);
    assert_eq!(needless(&format!("{quotient} arcp waive \"a test\"")), [""; 0]);
    // Bit by bit the same with one of them, within a bound with the other: either would do.
    assert_eq!(
        needless("fadd(fmul(a:16, b), c) => fmad(a, b, c) with contract, reassoc"),
        ["reassoc"]
    );
}

/// Under a licence to rearrange, what decides on floats is still held to what it decides.
#[test]
fn rearranging_excuses_no_wrong_decision() {
    let library = library();
    for (is, rule) in [
        (Wrong, "flt(fadd(a, b), c) => false with reassoc"),
        (Wrong, "f2i32(fadd(a:32, b)) => 0 with reassoc"),
        (Wrong, "bcsel(flt(fadd(a:32, b), 0.0), x:32, y) => x with reassoc"),
        (Right, "flt(fadd(fadd(a, b), c), d) => flt(fadd(a, fadd(b, c)), d) with reassoc"),
        (
            Right,
            "bcsel(c, fadd(fadd(a:32, b), d), d) => bcsel(c, fadd(a, fadd(b, d)), d) with reassoc",
        ),
    ] {
        assert_eq!(misjudged(&library, is, rule), None, "{rule}");
    }
}

/// Components that a bound operation gives, and promises that it keeps.
#[test]
fn bound_operations_are_what_is_matched() {
    let library = library();
    for (is, rule) in [
        (Wrong, "ior(unpack_64_2x32(a).x, imul(m@unpack_64_2x32(a).y, 0)) => m"),
        (Right, "isub.nsw(m@unpack_64_2x32(a).y, 0) => m"),
        (Right, "fadd(m@unpack_half_2x16(a).y, -0.0) => m where env(denorm = keep)"),
        (Wrong, "bcsel(c, imul(a, 3), m@iadd(a, ishl(a, 1))) => m"),
    ] {
        assert_eq!(misjudged(&library, is, rule), None, "{rule}");
    }
}

/// Poison that an operand may hide is looked for beside the values that hide it, and inside of operations denormals are
/// flushed.
#[test]
fn what_hides_poison_and_denormals_is_tried() {
    let library = library();
    for (is, rule) in [
        (Wrong, "bcsel(ieq(b:8, 0), 0, imul(a, b)) => imul(a, b)"),
        (Wrong, "bcsel(ieq(b:32, 0), 0, imul(a, b)) => imul(a, b)"),
        (Wrong, "bcsel(ieq(b:32, 77), 0, imul(a, isub(b, 77))) => imul(a, isub(b, 77))"),
        (
            Wrong,
            "fmul(u2f32(iand(a:32, 0x3ff)), 0x33800000) => unpack_half_2x16_split_x(iand(a, 0x3ff))",
        ),
    ] {
        assert_eq!(misjudged(&library, is, rule), None, "{rule}");
    }
}

/// What a solver is told must not prove what trial refutes, and proves most of what is right.
#[test]
fn a_solver_proves_right_rules_and_no_wrong_one() {
    let Some(z3) = z3::found() else { return };
    let solvers: [&dyn Solver; 1] = [&z3];
    let library = library();
    let options = Options::scaled(0.05);
    let (mut right, mut proved, mut asked) = (0, 0, 0);
    for (line, is, text) in ROWS {
        let Ok(set) = compile_bare(&library, &"expr".into(), text) else { continue };
        let rule = &set.rules[0];
        let all = (0..rule.instances.len())
            .flat_map(|i| claims(&set, rule).into_iter().map(move |claim| (i, claim)));
        let refuted = |(i, claim): &(usize, _)| {
            check_instance(&set, rule, *i, *claim, &options).kind == Kind::Refuted
        };
        let proof = |(i, claim): (usize, _)| {
            Prover::new(&solvers).prove(&set, rule, &rule.instances[i], claim)
        };
        match is {
            Wrong => {
                for place in all.filter(refuted).take(1) {
                    asked += 1;
                    assert_eq!(proof(place), None, "line {line}: {text}");
                }
            }
            Right => {
                right += 1;
                proved += usize::from(all.take(1).any(|place| proof(place).is_some()));
            }
            Refused(_) => {}
        }
    }
    println!(
        "{asked} refuted instances asked, none proved; {proved} of {right} right rules proved"
    );
    assert!(asked > 60 && 4 * proved > 3 * right, "{proved} of {right} proved, {asked} asked");
}
