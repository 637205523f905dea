//! Small rule sets in which it is known what follows, what is missing, and what the driver misses.

use super::text::bare;
use super::*;
use deburr_algebraic::{RuleSet as Compiled, Target};
use deburr_ir_core::{AluOp, Builder, Function};
use deburr_rulegen::rules::ast::Item;
use deburr_rulegen::rules::{Book, RuleSet, Texts, expand, parse};

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A book of these rules, and the rules.
fn book(rules: &str) -> (Book, RuleSet) {
    let (opcodes, facts) = (read("opcodes.toml"), read("rules/facts.rules"));
    let rules = format!("rules 1\n{rules}");
    let groups = "rules 1\ngroup opt;\noption lower_bitops;\nfile own;\n";
    let texts = Texts {
        opcodes: &opcodes,
        intrinsics: "",
        rules: &[
            ("rules/facts.rules", &facts),
            ("rules/groups.rules", groups),
            ("rules/own.rules", &rules),
        ],
    };
    let book = texts.load().unwrap();
    let set = book.rules().unwrap_or_else(|list| panic!("{list:#?}"));
    (book, set)
}

fn number(set: &RuleSet, name: &str) -> usize {
    set.rules.iter().position(|r| r.name == name).unwrap()
}

/// Names of the rules from which one follows.
fn follows(set: &RuleSet, name: &str) -> Option<Vec<String>> {
    let greedy = Greedy::interpreted(set, &Compiled::EMPTY);
    match need(&greedy, number(set, name), &[]) {
        Need::Derived { by, .. } => Some(by.iter().map(|n| set.rules[*n].name.clone()).collect()),
        _ => None,
    }
}

const DIFFERENCES: &str = "
    rule iadd_zero: iadd(a, 0) => a;
    rule isub_const: isub(a, #c) => { let k = 0 - c; } iadd(a, k);
    rule isub_self: isub(a, a) => 0;
    rule iadd_ineg: iadd(a, ineg(b)) => isub(a, b);
";

#[test]
fn a_planted_rule_that_follows_is_found() {
    let (_, set) = book(&format!("rule isub_zero: isub(a, 0) => a;{DIFFERENCES}"));
    assert_eq!(follows(&set, "isub_zero").unwrap(), ["iadd_zero", "isub_const"]);
    for needed in ["iadd_zero", "isub_const", "isub_self", "iadd_ineg"] {
        assert_eq!(follows(&set, needed), None, "{needed}");
    }
}

#[test]
fn a_rule_that_another_replaces_at_some_constants_is_needed() {
    let rules = "
        rule imul_const: imul(a, #c) => { let k = ilog2(c); } ishl(a, k) where is_pow2(c);
        rule imul_by_two: imul(a, 2) => iadd(a, a) allow E0320 \"test\";
        rule umin_const: umin(a, #c) => c where equal(c, 0);
        rule umin_zero: umin(a, 0) => 0 allow E0320 \"test\";
    ";
    let (_, set) = book(rules);
    // It never gets its turn; nor does the second of those that say the same.
    let greedy = Greedy::interpreted(&set, &Compiled::EMPTY);
    assert_eq!(need(&greedy, number(&set, "imul_by_two"), &[]), Need::Idle);
    assert_eq!(need(&greedy, number(&set, "imul_const"), &[]), Need::Form);
    assert_eq!(need(&greedy, number(&set, "umin_zero"), &[]), Need::Idle);
    assert_eq!(follows(&set, "umin_const").unwrap(), ["umin_zero"]);
}

#[test]
fn of_two_rules_that_follow_from_each_other_one_stays() {
    let rules = "
        rule isub_zero: isub(a, 0) => a;
        rule isub_none: isub(a, #c) => a where equal(c, 0) allow E0320 \"test\";
    ";
    let (_, set) = book(rules);
    let greedy = Greedy::interpreted(&set, &Compiled::EMPTY);
    let pair = [number(&set, "isub_zero"), number(&set, "isub_none")];
    assert!(follows(&set, "isub_zero").is_some());
    assert_eq!(together(&greedy, &pair[..1]), pair[..1]);
    // The second fires only where the first is gone, so that it follows from nothing then.
    assert_eq!(together(&greedy, &pair), pair[..1]);
}

#[test]
fn what_users_read_and_inner_values_read_by_others_count() {
    // Where the sum is read by somebody else, only the rule for the whole saves the difference.
    let rules = "
        rule isub_of_sum: isub(iadd(a, b), a) => b;
        rule isub_first: isub(m@iadd(a, b), c) => iadd(isub(a, c), b) if once(m) canonical \"test\";
        rule isub_self: isub(a, a) => 0;
        rule iadd_zero: iadd(a, 0) => a;
    ";
    let (_, set) = book(rules);
    assert_eq!(follows(&set, "isub_of_sum"), None);
    let (_, set) = book(&rules.replace(" if once(m)", "").replace("m@", ""));
    assert_eq!(follows(&set, "isub_of_sum").unwrap(), ["isub_first", "isub_self", "iadd_zero"]);
}

#[test]
fn a_rule_may_follow_as_an_equation_only() {
    let rules = "
        rule bcsel_inot: bcsel(inot(c), a, b) => bcsel(c, b, a);
        rule bcsel_nested_then: bcsel(c, bcsel(c, a, b), d) => bcsel(c, a, d);
        rule bcsel_nested_else: bcsel(c, a, bcsel(c, b, d)) => bcsel(c, a, d);
        rule bcsel_same: bcsel(c, a, a) => a;
    ";
    let (_, set) = book(rules);
    let greedy = Greedy::interpreted(&set, &Compiled::EMPTY);
    assert_eq!(follows(&set, "bcsel_nested_else"), None);
    let by = derivation(&greedy, number(&set, "bcsel_nested_else"));
    assert_eq!(by.unwrap(), ["bcsel_inot", "bcsel_nested_then"]);
    assert_eq!(derivation(&greedy, number(&set, "bcsel_same")), None);
    assert_eq!(derivation(&greedy, number(&set, "bcsel_inot")), None);
}

#[test]
fn an_equation_holds_under_its_own_licences_and_environments_only() {
    let rules = "
        rule fadd_zero: fadd(a, 0.0) => a where env(denorm = keep | any) with nsz;
        rule fsub_zero: fsub(a, -0.0) => a where env(denorm = keep | any) with nsz;
        rule fsub_to_fadd: fsub(a, b) => fadd(a, fneg(b)) canonical \"test\";
    ";
    let by = |rules: &str| {
        let (_, set) = book(rules);
        let greedy = Greedy::interpreted(&set, &Compiled::EMPTY);
        derivation(&greedy, number(&set, "fsub_zero"))
    };
    assert_eq!(by(rules).unwrap(), ["fadd_zero", "fsub_to_fadd"]);
    // −0 + 0 is +0: the sum needs the licence that the difference doesn't have.
    assert_eq!(
        by(&rules.replace("any) with nsz;\n        rule fsub_to", "any);\n        rule fsub_to")),
        None
    );
    // Where operations flush, neither is a move.
    assert_eq!(
        by(&rules.replace(
            "fadd(a, 0.0) => a where env(denorm = keep | any)",
            "fadd(a, 0.0) => a where env(denorm = keep)"
        )),
        None
    );
}

fn siblings_of(rules: &str, name: &str) -> Vec<String> {
    let (book, set) = book(rules);
    let greedy = Greedy::interpreted(&set, &Compiled::EMPTY);
    let variants = variants(&set, &[number(&set, name)]);
    variants.iter().filter_map(|v| sibling(&greedy, &book, v)).map(|s| s.text).collect()
}

#[test]
fn a_planted_gap_is_found_and_then_is_none() {
    let found = siblings_of("rule umin_zero: umin(a, 0) => 0;", "umin_zero");
    assert!(found.iter().any(|t| t == "umax(a, 0) => a"), "{found:#?}");
    assert!(found.iter().any(|t| t == "umax(a, -1) => -1"), "{found:#?}");
    let rules = "
        rule umin_zero: umin(a, 0) => 0;
        rule umax_zero: umax(a, 0) => a;
        rule umax_ones: umax(a, -1) => -1;
    ";
    let found = siblings_of(rules, "umin_zero");
    assert!(!found.iter().any(|t| t.starts_with("umax(a")), "{found:#?}");
}

#[test]
fn siblings_are_sound() {
    let rules = "rule imax_ineg: imax(a, ineg(a)) => iabs(a);";
    let found = siblings_of(rules, "imax_ineg");
    // The float sibling of it needs its environment.
    let float = "fmax(a, fneg(a)) => fabs(a) where env(denorm = keep | any)";
    assert!(found.iter().any(|t| t == float), "{found:#?}");
    // −a is not below a, unsigned, in any way that a replacement tells.
    assert!(!found.iter().any(|t| t.starts_with("umax(a, ineg")), "{found:#?}");
    let (book, _) = book(rules);
    for text in found {
        let set = book.bare_rule(&text).unwrap();
        let verdicts = crate::check_rule(&set, &set.rules[0], &crate::Options::scaled(0.1), &[]);
        assert!(verdicts.iter().all(crate::Verdict::is_good), "{text}");
    }
}

#[test]
fn siblings_have_verdicts_and_a_place_among_the_others() {
    let rules = "rule umin_zero: umin(a, 0) => 0;";
    let (book, set) = book(rules);
    let greedy = Greedy::interpreted(&set, &Compiled::EMPTY);
    let variants = variants(&set, &[0]);
    let s = variants.iter().filter_map(|v| sibling(&greedy, &book, v));
    let s = s.into_iter().find(|s| s.text == "umax(a, 0) => a").unwrap();
    assert_eq!((s.of, s.how, s.gain), (0, "dual", 1));
    let options = crate::Options::scaled(0.1);
    let verdicts = verdicts(&book, &s, &options, &[]);
    assert_eq!(verdicts.len(), 4);
    assert!(verdicts.iter().all(crate::Verdict::is_good));
    assert_eq!(objections(&set, &book, "umax_zero", &s), [] as [&str; 0]);
    let loops = Sibling { text: "umax(a, b) => umax(b, a)".into(), ..s };
    assert_eq!(objections(&set, &book, "round", &loops).len(), 1);
}

/// A function of two parameters, each read by one instruction at least.
fn code(
    build: impl FnOnce(
        &mut Builder<'_>,
        deburr_ir_core::Def,
        deburr_ir_core::Def,
    ) -> deburr_ir_core::Def,
) -> Function {
    let mut f = Function::new("test");
    let mut b = Builder::at_end(&mut f);
    let x = bench::parameter(&mut b, 1, 1, 0);
    let y = bench::parameter(&mut b, 1, 32, 1);
    let value = build(&mut b, x, y);
    bench::read_all(&mut b, [value]);
    f
}

#[test]
fn the_driver_may_take_a_turn_that_is_not_the_best() {
    let rules = "
        rule imul_pow2: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c);
        rule imul_b2i32: imul(b2i32(a), b) => bcsel(a, b, 0);
    ";
    let (_, set) = book(rules);
    let greedy = Greedy::interpreted(&set, &Compiled::EMPTY);
    let f = code(|b, x, _| {
        let int = b.alu(AluOp::B2I32, &[x]);
        let eight = b.imm_u32(8);
        b.alu(AluOp::IMUL, &[int, eight])
    });
    let found = gap(&greedy, &f, 0, &Target::generic("test")).unwrap();
    assert_eq!((found.before, found.greedy, found.optimum), (2, 2, 1));
    let terms = [("ishl(b2i32(v0), 3)".into(), "bcsel(v0, 8, 0)".into())];
    assert_eq!(found.terms, terms);
    // Without the turn that hides it the driver finds it.
    let (_, set) = book("rule imul_b2i32: imul(b2i32(a), b) => bcsel(a, b, 0);");
    let greedy = Greedy::interpreted(&set, &Compiled::EMPTY);
    let found = gap(&greedy, &f, 0, &Target::generic("test")).unwrap();
    assert_eq!((found.greedy, found.optimum), (1, 1));
    assert_eq!(found.terms, []);
}

#[test]
fn what_is_shared_is_counted_once() {
    let rules = "rule iadd_self: iadd(a, a) => imul(a, 2) canonical \"test\";";
    let (_, set) = book(rules);
    let greedy = Greedy::interpreted(&set, &Compiled::EMPTY);
    let f = code(|b, _, y| {
        let square = b.alu(AluOp::IMUL, &[y, y]);
        let twice = b.alu(AluOp::IADD, &[square, square]);
        b.alu(AluOp::IXOR, &[twice, square])
    });
    let found = gap(&greedy, &f, 0, &Target::generic("test")).unwrap();
    assert_eq!((found.before, found.greedy, found.optimum), (3, 3, 3));
}

#[test]
fn rules_that_choose_otherwise_where_anything_goes_prove_nothing() {
    let rules = "
        rule udiv_self: udiv(a, a) => 1;
        rule udiv_of_zero: udiv(0, a) => 0;
    ";
    let (_, set) = book(rules);
    let greedy = Greedy::interpreted(&set, &Compiled::EMPTY);
    let f = code(|b, _, _| {
        let zero = b.imm_u32(0);
        b.alu(AluOp::UDIV, &[zero, zero])
    });
    assert_eq!(gap(&greedy, &f, 0, &Target::generic("test")), None);
}

#[test]
fn pieces_are_bounded_and_whole() {
    let f = code(|b, _, y| {
        let mut value = y;
        for n in 0..200 {
            let k = b.imm_u32(n);
            let sum = b.alu(AluOp::IXOR, &[value, k]);
            value = b.alu(AluOp::IADD, &[sum, value]);
        }
        value
    });
    let found = pieces(&f);
    let sizes: Vec<usize> = found
        .iter()
        .map(|f| f.all_instrs().filter(|i| f.kind(*i) == deburr_ir_core::InstrKind::Alu).count())
        .collect();
    assert_eq!(sizes.iter().sum::<usize>(), 400);
    assert!(sizes.iter().all(|n| *n <= PIECE), "{sizes:?}");
    assert!(sizes.len() < 10, "{sizes:?}");
}

/// Every rule of the tree, written out from its syntax tree, is read as the same rule.
#[test]
fn rules_are_written_as_they_are_read() {
    let (book, _) = book("");
    let mut count = 0;
    for entry in std::fs::read_dir(format!("{}/../rules", env!("CARGO_MANIFEST_DIR"))).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".rules") || ["facts.rules", "groups.rules"].contains(&name.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let file = parse::parse_rules(&name.as_str().into(), &text).unwrap();
        assert!(file.items.iter().any(|i| matches!(i, Item::Rule(_) | Item::For(_))));
        for stamped in expand::expand(&file, &mut Vec::new()) {
            let once = bare(&stamped.rule);
            let again = parse::parse_bare_rule(&"test".into(), &once).unwrap();
            assert_eq!(bare(&again), once);
            book.bare_rule(&once).unwrap_or_else(|e| panic!("{once}: {e:#?}"));
            count += 1;
        }
    }
    assert!(count > 500, "{count}");
}
