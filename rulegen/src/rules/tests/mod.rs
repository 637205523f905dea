//! Each test gives a rule file and looks at the diagnostics or at the model.

mod facts;
mod fmt;
mod order;
mod pairs;

use super::compile;
use super::library::Library;
use super::model::*;
use super::ops::{OpSig, Ops, SigTy};
use crate::diagnostics::Diagnostic;
use crate::expr::Base;
use std::sync::Arc;

fn sig_ty(text: &str) -> SigTy {
    let (head, comps) = match text.split_once('x') {
        Some((h, c)) => (h, c.parse().unwrap()),
        None => (text, 0),
    };
    let at = head.find(|c: char| c.is_ascii_digit()).unwrap_or(head.len());
    let base = match &head[..at] {
        "int" => Base::Int,
        "uint" => Base::Uint,
        "float" => Base::Float,
        _ => Base::Bool,
    };
    SigTy { base, bits: head[at..].parse().unwrap_or(0), comps }
}

/// A table of a dozen ops, enough for every check.
fn ops() -> Ops {
    let table = [
        ("iadd", "int int -> int", true),
        ("isub", "int int -> int", false),
        ("imul", "int int -> int", true),
        ("ineg", "int -> int", false),
        ("iand", "uint uint -> uint", true),
        ("ior", "uint uint -> uint", true),
        ("ishl", "int uint32 -> int", false),
        ("ushr", "uint uint32 -> uint", false),
        ("ieq", "int int -> bool1", true),
        ("bcsel", "bool1 uint uint -> uint", false),
        ("mov", "uint -> uint", false),
        ("vec2", "uintx1 uintx1 -> uintx2", false),
        ("fadd", "float float -> float", true),
        ("fmul", "float float -> float", true),
        ("fneg", "float -> float", false),
        ("fddx", "float -> float", false),
        ("fdot3", "floatx3 floatx3 -> floatx1", true),
        ("u2u32", "uint -> uint32", false),
        ("u2u64", "uint -> uint64", false),
        ("unpack_64_2x32", "uint64x1 -> uint32x2", false),
    ];
    let list = table.map(|(name, sig, commutative)| {
        let (inputs, output) = sig.split_once(" -> ").unwrap();
        let inputs: Vec<SigTy> = inputs.split(' ').map(sig_ty).collect();
        let output = sig_ty(output);
        let moves = matches!(name, "bcsel" | "mov" | "vec2");
        let bitwise = matches!(name, "iand" | "ior");
        let arithmetic = name.starts_with('f') && name != "fneg";
        let mut promises = if arithmetic { flags::NNAN | flags::NINF } else { 0 };
        if name == "iadd" {
            promises |= flags::NSW | flags::NUW;
        }
        let sizes = if moves || bitwise { 0b11111 } else { OpSig::default_sizes(output, &inputs) };
        let (float, convergent) = (arithmetic, name == "fddx");
        OpSig {
            name: name.into(),
            output,
            inputs,
            sizes,
            commutative,
            associative: commutative,
            float,
            promises,
            convergent,
            moves,
            selection: false,
            id: 0,
            cost: 1,
            spirv: 0b11111,
            eval: None,
            dom: None,
            nsw: None,
            nuw: None,
        }
    });
    Ops::new(list.into())
}

const FACTS: &str = "rules 1
/// A power of two.
fact is_pow2(c: uint) = c != 0 && (c & (c - 1)) == 0;
/// Below a bound.
fact ult(a: uint, k: uint) on values = a < k;
fn low_bits(n: u32) -> uint = (1 << n) - 1;
";
const GROUPS: &str = "rules 1
/// The main loop.
group opt;
group late;
option lower_bitops;
file t;
";

fn run(text: &str) -> Result<RuleSet, Vec<Diagnostic>> {
    let mut diags = Vec::new();
    let library = Library::new(
        ops(),
        (&"facts.rules".into(), FACTS),
        (&"groups.rules".into(), GROUPS),
        &mut diags,
    );
    assert_eq!(diags, []);
    let text: Arc<str> = format!("rules 1\n{text}").into();
    compile(&library, &[("t.rules".into(), text)])
}

/// The rules' instances, by name.
fn instances(text: &str) -> Vec<String> {
    let set = run(text).unwrap_or_else(|d| panic!("{}", show(text, &d)));
    set.rules.iter().flat_map(|r| (0..r.instances.len()).map(|i| r.instance_name(i))).collect()
}

fn show(text: &str, diags: &[Diagnostic]) -> String {
    let text = format!("rules 1\n{text}");
    diags.iter().map(|d| d.to_plain(|f| (f == "t.rules").then_some(text.as_str()))).collect()
}

/// Codes and the marked text of all diagnostics.
fn errors(text: &str) -> Vec<String> {
    let full = format!("rules 1\n{text}");
    match run(text) {
        Ok(_) => Vec::new(),
        Err(d) => d.iter().map(|d| format!("{} {}", d.code, &full[d.span.range()])).collect(),
    }
}

#[test]
fn every_admissible_size_is_an_instance() {
    assert_eq!(instances("rule a: iadd(a, 0) => a;"), ["a@8x1", "a@16x1", "a@32x1", "a@64x1"]);
    assert_eq!(instances("rule a: fadd(a:32, -0.0) => a;"), ["a@32x1"]);
    assert_eq!(instances("rule a: ieq(a:32, ineg(a)) => true;"), ["a@32x1"]);
    assert_eq!(instances("rule a: iand(a, true) => a;"), ["a@1x1", "a@8x1", "a@16x1", "a@32x1"]);
    assert_eq!(instances("rule a: vec2(a.x, a.y) => mov(a.xy);").len(), 5);
    assert_eq!(instances("rule a: ieq(a, a) => true;").len(), 4);
}

#[test]
fn sizes_that_the_pattern_leaves_open_are_tested() {
    let set = run("rule a: u2u32(u2u64(a)) => a;").unwrap();
    let test = set.rules[0].size_test.as_ref().unwrap();
    assert_eq!(test.allowed, [[32]]);
    assert!(run("rule a: u2u32(u2u64(a)) => u2u32(a);").unwrap().rules[0].size_test.is_none());
    let set =
        run("rule a: iadd(u2u64(a:N), u2u64(b:2*N)) => u2u64(iadd(u2u32(a), u2u32(b)));").unwrap();
    assert_eq!(set.rules[0].size_test.as_ref().unwrap().allowed, [[8, 16], [16, 32], [32, 64]]);
    assert_eq!(set.rules[0].instance_name(0), "a@8.16x1");
}

#[test]
fn templates_stamp_names_and_bindings() {
    let text = "for (op, dual) in [(iand, ior), (ior, iand)] {
        rule ${op}_absorb: op(a, dual(a, b)) => a;
    }";
    let set = run(text).unwrap();
    let names: Vec<&str> = set.rules.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["iand_absorb[op=iand,dual=ior]", "ior_absorb[op=ior,dual=iand]"]);
    assert_eq!(
        instances("for n in [16, 32] { rule a: fadd(a:n, -0.0) => a; }"),
        ["a[n=16]@16x1", "a[n=32]@32x1"]
    );
    assert_eq!(errors("for n in [] { rule a: iadd(a, 0) => a; }").len(), 1);
    assert_eq!(errors("for n in [iadd] { rule a: iadd(n, 0) => 1; }"), ["E0323 n"]);
    assert_eq!(
        errors("for (n, m) in [(1, 2), 3] { rule a: iadd(a, n) => isub(a, m); }"),
        ["E0323 3"]
    );
}

#[test]
fn constants_are_computed() {
    let set = run("rule a: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c);").unwrap();
    assert_eq!(set.rules[0].instances.len(), 4);
    run("rule a: iadd(iadd(a, #c), #d) => { let k = c + d; } iadd(a, k);").unwrap();
    run("rule a: iand(a, #c) => let k = !c; ior(a, k);").unwrap();
    run("rule a: ushr(ishl(a, #c), c2) => iand(a, low_bits(c)) where ult(c, 8);").unwrap();
    run("rule a: ushr(ishl(a, #c), #d) => iand(a, low_bits(c)) where ult(c, 8), ult(d, BITS);")
        .unwrap();
    assert_eq!(errors("rule a: imul(a, c) => ishl(a, ilog2(c));"), ["E0326 c"]);
    assert_eq!(
        errors("rule a: imul(a, #c) => ishl(a, ilog2(c, c)) where is_pow2(c);"),
        ["E0311 ilog2(c, c)"]
    );
}

#[test]
fn names_are_looked_up_with_suggestions() {
    let diags =
        run("rule a: iad(a, 0) => a;\nrule b: imul(a, #c) => a where is_pow(c);").unwrap_err();
    let found: Vec<_> =
        diags.iter().map(|d| (d.code.to_string(), d.help.clone().unwrap_or_default())).collect();
    assert_eq!(
        found,
        [
            ("E0304".to_string(), "did you mean `iadd`?".to_string()),
            ("E0305".to_string(), "did you mean `is_pow2`?".to_string()),
        ]
    );
    assert_eq!(errors("rule a: iadd.nsq(a, 0) => a;"), ["E0306 nsq"]);
    assert_eq!(errors("rule a: fadd.nsz(a, 0.0) => a;"), ["E0307 nsz"]);
    assert_eq!(errors("rule a: fadd(a, 0.0) => a with nnan;"), ["E0307 nnan"]);
    assert_eq!(errors("rule a: imul.nsw(a, 1) => a;"), ["E0333 nsw"]);
    assert_eq!(errors("rule a: iadd(a, 0) => a when target.nope;"), ["E0308 target.nope"]);
    assert_eq!(errors("rule a: iadd(m@ineg(a), b) => isub(b, a) if onc(m);"), ["E0309 onc"]);
    assert_eq!(errors("rule a: iadd(a, 0) => a group lat;"), ["E0310 lat"]);
    assert_eq!(errors("rule a: iadd(a, 0) => a with nsz;"), ["E0328 nsz"]);
    assert_eq!(
        errors("rule a: iadd(a, 0) => a where env(denorm = keep);"),
        ["E0332 env(denorm = keep)"]
    );
}

#[test]
fn sizes_and_counts_conflict_at_their_place() {
    assert_eq!(errors("rule a: iadd(a) => a;"), ["E0311 iadd(a)"]);
    assert_eq!(errors("rule a: iadd(u2u32(a), u2u64(b)) => a;"), ["E0312 u2u64(b)"]);
    assert_eq!(errors("rule a: fadd(a:8, -0.0) => a;"), ["E0312 :8"]);
    assert_eq!(
        errors("rule a: vec2(a, b) => fdot3(a, b);"),
        ["E0313 fdot3(a, b)", "E0313 a", "E0313 b"]
    );
    assert_eq!(errors("rule a: iand(a, 0x00ff0000) => a;"), ["E0318 0x00ff0000"]);
    assert_eq!(errors("rule a: ushr(a, -32) => a;"), ["E0318 -32"]);
    assert_eq!(errors("rule a: fadd(a, 0) => a;"), ["E0318 0"]);
    assert_eq!(errors("rule a: iadd(a, 0.0) => a;"), ["E0318 0.0"]);
    assert_eq!(errors("rule a: u2u32(u2u64(a)) => u2u32(u2u32(a));"), Vec::<String>::new());
    assert_eq!(errors("rule a: ieq(a, 0) => ieq(ineg(1), 1);"), ["E0314 1"]);
}

#[test]
fn variables_are_bound_once_and_used() {
    assert_eq!(errors("rule a: iadd(a, 0) => b;"), ["E0315 b"]);
    assert_eq!(errors("rule a: iadd(#a, #a) => a;"), ["E0317 a"]);
    assert_eq!(errors("rule a: iadd(m@ineg(a), a) => 0;"), ["E0316 m"]);
    assert_eq!(errors("rule a: iadd(a, #c) => 0;"), ["E0316 c"]);
    assert_eq!(errors("rule a: iadd(a, #c) => let k = c; a;"), ["E0316 k"]);
    assert_eq!(errors("rule a: vec2(a.x, a) => mov(a.xx);"), ["E0330 a"]);
    assert_eq!(errors("rule a: a => a;"), ["E0329 a"]);
}

#[test]
fn rules_are_compared() {
    assert_eq!(
        errors("rule a: iadd(a, b) => isub(a, ineg(b));\nrule b: iadd(x, y) => isub(y, ineg(x));")
            .len(),
        1
    );
    let diags =
        run("rule a: iadd(a, a) => iadd(0, a);\nrule b: iadd(ineg(a), ineg(a)) => iadd(a, a);")
            .unwrap_err();
    assert_eq!(diags[0].code, super::codes::UNREACHABLE);
    assert_eq!(diags[0].labels.len(), 1);
    let text = "rule a: iadd(0, a) => a;\nrule b: iadd(a, 0) => a allow E0319 \"says the test\";";
    assert_eq!(errors(text), Vec::<String>::new());
    assert_eq!(errors("rule a: iadd(a, b) => iadd(b, a);"), ["E0334 iadd(b, a)"]);
    assert_eq!(errors("rule a: fneg(a) => fddx(a);"), ["E0321 fddx(a)"]);
    assert_eq!(errors("rule a: fddx(fneg(a)) => fddx(a);"), Vec::<String>::new());
    assert_eq!(errors("rule a: iadd(a, 0) => a;\nrule a: imul(a, 1) => a;"), ["E0324 a"]);
}

#[test]
fn syntax_errors_name_the_place() {
    let diags = run("rule a iadd(a, 0) => a;").unwrap_err();
    assert_eq!(show("rule a iadd(a, 0) => a;", &diags).lines().nth(1), Some(" --> t.rules:2:8"));
    assert_eq!(
        errors("rule a: fadd(a, 0.0) => a with nsz where env(denorm = keep);"),
        ["E0303 where env(denorm = keep)"]
    );
    assert_eq!(errors("rule a: ineg(a) => phi(a, a);"), ["E0340 phi(a, a)"]);
    let deep = format!("rule a: {}a{} => a;", "ineg(".repeat(100), ")".repeat(100));
    assert_eq!(errors(&deep).len(), 1);
}
