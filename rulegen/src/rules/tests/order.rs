//! Termination: the rules of the tree, and rules that go round.

use crate::diagnostics::Diagnostic;
use crate::rules::{Library, Ops, RuleSet, Tree, Use, compile_for, order};
use crate::tables::{TableFile, Tables};
use std::sync::Arc;

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn ops() -> Ops {
    let file = |name: &str| TableFile::new(name, read(name));
    let files = ["opcodes.toml", "intrinsics.toml"].map(file);
    Ops::from_tables(&Tables::parse(&files).unwrap())
}

/// The rules of the repository.
pub(super) fn tree() -> RuleSet {
    let named = |name: &str| (name.into(), read(name).into());
    let tree =
        Tree { ops: ops(), facts: named("rules/facts.rules"), groups: named("rules/groups.rules") };
    let (result, files) = tree.compile("rules/", |name| Ok(read(&format!("rules/{name}.rules"))));
    result.unwrap_or_else(|diags| {
        let text = |name: &str| files.iter().find(|f| &*f.0 == name).map(|f| &*f.1);
        panic!("{}", diags.iter().map(|d: &Diagnostic| d.to_plain(text)).collect::<String>())
    })
}

/// What trying these rules says, over the real table of opcodes.
pub(super) fn messages(text: &str) -> String {
    messages_for(Use::Tried, text)
}

/// What compiling these rules says.
pub(super) fn messages_for(purpose: Use, text: &str) -> String {
    let groups = "rules 1\ngroup opt;\ngroup lower;\noption narrow;\nfile t;\n";
    let library = Library::new(
        ops(),
        (&"facts.rules".into(), &read("rules/facts.rules")),
        (&"groups.rules".into(), groups),
        &mut Vec::new(),
    );
    let text: Arc<str> = format!("rules 1\n{text}").into();
    match compile_for(purpose, &library, &[("t.rules".into(), text.clone())]) {
        Ok(_) => String::new(),
        Err(diags) => diags.iter().map(|d| d.to_plain(|_| Some(&text))).collect(),
    }
}

/// Codes alone.
pub(super) fn codes(text: &str) -> Vec<String> {
    codes_for(Use::Tried, text)
}

/// Codes alone, of rules for a purpose.
pub(super) fn codes_for(purpose: Use, text: &str) -> Vec<String> {
    let all = messages_for(purpose, text);
    let errors = all.lines().filter_map(|l| l.strip_prefix("error["));
    errors.map(|l| l.chars().take_while(|c| *c != ']').collect()).collect()
}

#[test]
fn the_rules_of_the_tree_terminate() {
    let set = tree();
    let report = order::check(&set, &mut Vec::new());
    let sources = |rules: &[usize]| {
        let mut list: Vec<_> =
            rules.iter().map(|i| (set.rules[*i].file, set.rules[*i].span.start)).collect();
        list.sort_unstable();
        list.dedup();
        list.len()
    };
    let all = sources(&(0..set.rules.len()).collect::<Vec<_>>());
    let out = sources(&report.canonical);
    println!(
        "{} of {} stamped rules are proved; {out} of {all} rules are out of the order",
        report.proved,
        set.rules.len()
    );
    assert!(report.unproved.is_empty());
    assert!(out * 50 <= all, "at most 2 % of the rules");
    assert!(report.proved * 50 >= set.rules.len() * 49);
}

#[test]
fn opposite_forms_need_an_option_between_them() {
    let both = "rule sum: fadd(a, a) => fmul(a, 2.0);\nrule product: fmul(a, 2.0) => fadd(a, a);";
    expect_test::expect![[r#"
        error[E0370]: `product` goes round: fmul(a, 2.0) => fadd(a, a) => fmul(a, 2.0)
         --> t.rules:3:15
        3 | rule product: fmul(a, 2.0) => fadd(a, a);
          |               ^^^^^^^^^^^^^^^^^^^^^^^^^^
         --> t.rules:2:6
        2 | rule sum: fadd(a, a) => fmul(a, 2.0);
          |      -------------------------------- by `sum`: fadd(a, a) => fmul(a, 2.0)
        help: turn one of them round, or let a target option choose between them; if something else stops it, say `canonical "what stops it"`
    "#]]
    .assert_eq(&messages(both));
    let gated = "rule sum: fadd(a, a) => fmul(a, 2.0) when !target.narrow;\n\
                 rule product: fmul(a, 2.0) => fadd(a, a) when target.narrow;";
    assert_eq!(messages(gated), "");
}

#[test]
fn a_constant_condition_is_not_made_anew() {
    let grows = "rule again: bcsel(#c, a, b) => bcsel(ior(c, false), a, b);";
    expect_test::expect![[r#"
        error[E0370]: `again` goes round: bcsel(true, a, b) => bcsel(true, a, b)
         --> t.rules:2:13
        2 | rule again: bcsel(#c, a, b) => bcsel(ior(c, false), a, b);
          |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        help: the replacement must not lead back to the pattern; if something else stops it, say `canonical "what stops it"`
    "#]]
    .assert_eq(&messages(grows));
    let other = "rule again: bcsel(#c, a, b) => { let k = c && true; } bcsel(k, a, b);";
    assert_eq!(codes(other), ["E0370"]);
    assert_eq!(messages("rule once: bcsel(true, a, b) => a;"), "");
}

#[test]
fn narrower_compares_and_their_lowering_alternate() {
    let both = "rule narrow: ilt(i2i32(a:16), i2i32(b:16)) => ilt(a, b);\n\
                rule widen: ilt(a:16, b) => ilt(i2i32(a), i2i32(b));";
    assert_eq!(codes(both), ["E0370"]);
    let gated = "rule narrow: ilt(i2i32(a:16), i2i32(b:16)) => ilt(a, b) when target.narrow;\n\
                 rule widen: ilt(a:16, b) => ilt(i2i32(a), i2i32(b)) when !target.narrow;";
    assert_eq!(messages(gated), "");
}

#[test]
fn a_factor_taken_out_is_not_multiplied_in_again() {
    let factor = "rule factor: iadd(imul(a, b), a) => imul(a, iadd(b, 1));";
    let spread = "rule spread: imul(iadd(a, #c), #d) => { let k = c * d; } iadd(imul(a, d), k);";
    expect_test::expect![[r#"
        error[E0370]: `spread` goes round: iadd(imul(2, b), 2) => imul(2, iadd(b, 1)) => iadd(imul(b, 2), 2)
         --> t.rules:3:14
        3 | rule spread: imul(iadd(a, #c), #d) => { let k = c * d; } iadd(imul(a, d), k);
          |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
         --> t.rules:2:6
        2 | rule factor: iadd(imul(a, b), a) => imul(a, iadd(b, 1));
          |      --------------------------------------------------- by `factor`: iadd(imul(2, b), 2) => imul(2, iadd(b, 1))
        help: turn one of them round, or let a target option choose between them; if something else stops it, say `canonical "what stops it"`
    "#]]
    .assert_eq(&messages(&format!("{factor}\n{spread}")));
    assert_eq!(messages(factor), "");
    assert_eq!(messages(spread), "");
}

#[test]
fn de_morgan_goes_one_way() {
    let out = "rule out: iand(inot(a), inot(b)) => inot(ior(a, b));";
    let into = "rule into: inot(ior(a, b)) => iand(inot(a), inot(b));";
    assert_eq!(codes(&format!("{out}\n{into}")), ["E0370"]);
    assert_eq!(messages(out), "");
    assert_eq!(messages(into), "");
}

#[test]
fn growth_is_told_and_lowering_is_not_growth() {
    expect_test::expect![[r#"
        error[E0370]: `more` goes round: ineg(a) => ineg(ineg(ineg(a)))
         --> t.rules:2:12
        2 | rule more: ineg(a) => ineg(ineg(ineg(a)));
          |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        help: the replacement must not lead back to the pattern; if something else stops it, say `canonical "what stops it"`
    "#]]
    .assert_eq(&messages("rule more: ineg(a) => ineg(ineg(ineg(a)));"));
    expect_test::expect![[r#"
        error[E0370]: `turn` goes round: isub(a, b) => isub(b, a)
         --> t.rules:2:12
        2 | rule turn: isub(a, b) => isub(b, a);
          |            ^^^^^^^^^^^^^^^^^^^^^^^^
        help: the replacement must not lead back to the pattern; if something else stops it, say `canonical "what stops it"`
    "#]]
    .assert_eq(&messages("rule turn: isub(a, b) => isub(b, a);"));
    // Operands are multiplied, at a smaller width.
    let wide = "rule wide: iadd(a:64, b) => {
        let l = iadd(unpack_64_2x32_split_x(a), unpack_64_2x32_split_x(b));
        let c = b2i32(ult(l, unpack_64_2x32_split_x(a)));
        let h = iadd(iadd(unpack_64_2x32_split_y(a), unpack_64_2x32_split_y(b)), c);
    } pack_64_2x32_split(l, h) group lower;";
    assert_eq!(messages(wide), "");
}

/// Shared terms double with each `let`, and chains of operands have as many ways as they are deep: neither may hang.
#[test]
fn large_terms_are_refused_and_deep_ones_looked_at() {
    let mut lets = String::from("let b0 = ineg(a);");
    for i in 1..60 {
        lets += &format!(" let b{i} = isub(b{}, b{});", i - 1, i - 1);
    }
    assert_eq!(codes(&format!("rule a: ineg(a) => {{ {lets} }} b59;")), ["E0370"]);
    let chain = |op: &str, n: usize| format!("{}a{}", format!("{op}(").repeat(n), ")".repeat(n));
    let deep = format!("rule a: {} => {};", chain("ineg", 30), chain("inot", 30));
    assert_eq!(codes(&deep), [""; 0]);
    let more = format!("rule a: {} => {};", chain("ineg", 30), chain("ineg", 31));
    assert_eq!(codes(&more), ["E0370"]);
    let wide: Vec<String> = (0..16).map(|i| format!("ineg(a{i})")).collect();
    let other: Vec<String> = (0..16).map(|i| format!("inot(a{i})")).collect();
    let wide = format!("rule a: vec16({}) => vec16({});", wide.join(", "), other.join(", "));
    assert_eq!(codes(&wide), [""; 0]);
}
