//! Rules against rules: shadowed ones, ones that undo each other, ones that differ.

use super::order::{codes, messages};
use expect_test::expect;

#[test]
fn groups_do_not_undo_each_other() {
    let twice = "rule sum: fadd(a, a) => fmul(a, 2.0);\n\
                 rule product: fmul(a, 2.0) => fadd(a, a) group lower;";
    expect![[r#"
        error[E0372]: `product` of group lower undoes `sum` of group opt
         --> t.rules:3:6
        3 | rule product: fmul(a, 2.0) => fadd(a, a) group lower;
          |      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
         --> t.rules:2:6
        2 | rule sum: fadd(a, a) => fmul(a, 2.0);
          |      -------------------------------- what this makes is taken back
        help: let a target option choose between them: `when target.x` here and `when !target.x` there
    "#]].assert_eq(&messages(twice));
    let other = twice.replace("2.0) => fadd", "4.0) => fadd");
    assert_eq!(codes(&other), [""; 0], "another constant");
    let gated = twice
        .replace("group", "when target.narrow group")
        .replace("2.0);", "2.0) when !target.narrow;");
    assert_eq!(codes(&gated), [""; 0]);
    let narrow = "rule narrow: ilt(i2i32(a:16), i2i32(b:16)) => ilt(a, b);\n\
                  rule widen: ilt(a:16, b) => ilt(i2i32(a), i2i32(b)) group lower;";
    assert_eq!(codes(narrow), ["E0372"]);
    assert_eq!(
        codes(&narrow.replace("widen: ilt(a:16", "widen: ilt(a:8")),
        [""; 0],
        "another size"
    );
    let constants = "rule sum: isub(a, #c) => { let k = 0 - c; } iadd(a, k);\n\
                     rule difference: iadd(#c, a) => { let k = 0 - c; } isub(a, k) group lower;";
    assert_eq!(codes(constants), ["E0372"]);
}

#[test]
fn groups_do_not_undo_each_other_outside_of_arithmetic() {
    let why = "canonical \"a test\" waive \"a test\"";
    let below = "rule one: iadd(@sparse_residency_code_and(a, b), 1) => isub(@sparse_residency_code_and(a, b), -1);\n\
                 rule two: isub(@sparse_residency_code_and(a, b), -1) => iadd(@sparse_residency_code_and(a, b), 1) group lower;";
    assert_eq!(codes(below), ["E0372"]);
    let named = "rule one: iadd(m@@sparse_residency_code_and(a, b), 1) => isub(m, -1);\n\
                 rule two: isub(m@@sparse_residency_code_and(a, b), -1) => iadd(m, 1) group lower;";
    assert_eq!(codes(named), ["E0372"]);
    assert_eq!(
        codes(
            &named.replace("two: isub(m@@sparse_residency_code_and", "two: isub(m@@quad_broadcast")
        ),
        [""; 0],
        "another intrinsic"
    );
    // A const index is what it is written as, and its default where a replacement doesn't write it.
    let indices = |first: &str, second: &str, to: &str| {
        format!(
            "rule one: @reduce(a; reduction_op = umin, cluster_size = {first}) \
             => @reduce(a; reduction_op = umax{to}) {why};\n\
             rule two: @reduce(a; reduction_op = umax{second}) \
             => @reduce(a; reduction_op = umin, cluster_size = 4) group lower {why};"
        )
    };
    assert_eq!(codes(&indices("4", "", "")), ["E0372"]);
    assert_eq!(codes(&indices("4", ", cluster_size = 0", "")), ["E0372"]);
    assert_eq!(codes(&indices("4", ", cluster_size = 8", "")), [""; 0]);
    assert_eq!(codes(&indices("4", ", cluster_size = 8", ", cluster_size = 8")), ["E0372"]);
    assert_eq!(codes(&indices("2", "", "")), [""; 0]);
    // Either order of a phi's operands, and a texture operation, both carried along by name.
    let carried = |phi: &str, tex: &str| {
        format!(
            "rule one: isub(p@phi(a, 0), t@tex.txs(lod: b, texture_deref: d)) => iadd(p, ineg(t)) {why};\n\
             rule two: iadd(q@phi({phi}), ineg(u@tex.txs({tex}))) => isub(q, u) group lower {why};"
        )
    };
    assert_eq!(codes(&carried("0, a", "texture_deref: d, lod: b")), ["E0372"]);
    assert_eq!(codes(&carried("1, a", "texture_deref: d, lod: b")), [""; 0], "another constant");
    assert_eq!(codes(&carried("0, a", "texture_deref: d")), [""; 0], "other sources");
}

#[test]
fn rules_that_differ_on_the_same_terms_are_told_with_values() {
    let wrong = "rule shift: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c);\n\
                 rule sum: imul(b, 2) => iadd(b, 2);";
    expect![[r#"
        error[E0373]: `sum` and `shift` match the same and differ: at 8 bits b = 0x1 gives 0x3 here and 0x2 there
         --> t.rules:3:25
        3 | rule sum: imul(b, 2) => iadd(b, 2);
          |                         ^^^^^^^^^^
         --> t.rules:2:6
        2 | rule shift: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c);
          |      --------------------------------------------------------- this rule is tried first
        help: one of them is wrong: `deburr verify --rules` says which, and where
    "#]].assert_eq(&messages(wrong));
    let right = wrong.replace("iadd(b, 2)", "iadd(b, b)");
    assert_eq!(codes(&right), [""; 0], "for targets that have no ishl");
    let facts = "rule one: umod(a, #c) => a where ult(a, c);\n\
                 rule two: umod(a, #c) => ior(a, c) where is_low_mask(c);";
    assert_eq!(codes(facts), ["E0373"]);
    let apart = facts.replace("is_low_mask(c)", "uge(a, c)");
    assert_eq!(codes(&apart), [""; 0], "their facts never hold together");
}

#[test]
fn what_an_earlier_rule_covers_never_fires() {
    let by_fact = "rule first: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c);\n\
                   rule second: imul(a, 4) => ishl(a, 2);";
    expect![[r#"
        error[E0320]: `second` can never fire: `first` comes first
         --> t.rules:3:6
        3 | rule second: imul(a, 4) => ishl(a, 2);
          |      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
         --> t.rules:2:6
        2 | rule first: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c);
          |      --------------------------------------------------------- this rule
        help: leave it out, or put it before the other
    "#]]
    .assert_eq(&messages(by_fact));
    assert_eq!(codes(&by_fact.replace("4) => ishl(a, 2)", "0) => 0")), [""; 0]);
    let profit = "rule first: iand(m@inot(a), b) => inot(ior(a, inot(b))) if once(m);\n\
                  rule second: iand(m@inot(a:32), 1) => inot(ior(a, -2)) if once(m);";
    assert_eq!(codes(profit), ["E0320"]);
    assert_eq!(
        codes(&profit.replace(
            "m@inot(a:32), 1) => inot(ior(a, -2)) if once(m)",
            "inot(a:32), 1) => inot(ior(a, -2))"
        )),
        [""; 0]
    );
    let when = "rule first: iand(a, a) => a when !target.narrow;\n\
                rule second: iand(inot(a), inot(a)) => inot(a)";
    assert_eq!(codes(&format!("{when};")), [""; 0]);
    assert_eq!(codes(&format!("{when} when !(target.narrow);")), ["E0320"]);
    assert_eq!(codes(&format!("{when} when target.narrow;")), [""; 0]);
}

/// Each commutative operation doubles the ways in which one pattern may lie over another.
#[test]
fn many_commutative_operations_are_compared_in_few_steps() {
    fn tree(from: usize, to: usize) -> String {
        match to - from {
            1 => format!("a{from}"),
            n => format!("iand({}, {})", tree(from, from + n / 2), tree(from + n / 2, to)),
        }
    }
    let (first, other) = (tree(0, 32), tree(0, 32).replace("a1)", "a0)"));
    let text =
        format!("rule x: ine({first}, {first}) => false;\nrule y: ine({first}, {other}) => true;");
    assert_eq!(codes(&text), [""; 0]);
}
