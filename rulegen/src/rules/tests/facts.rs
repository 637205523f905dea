//! Facts that contradict each other or say nothing, targets that can't be, and what a replacement costs.

use super::order::{codes, codes_for, messages, messages_for};
use crate::rules::Use;
use expect_test::expect;

#[test]
fn facts_that_exclude_each_other_come_with_the_values_that_nearly_fit() {
    expect![[r#"
        error[E0374]: these facts hold together for no value: c = 0x1 satisfies the ones before, not this
         --> t.rules:2:76
        2 | rule a: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c), is_low_mask(c), uge(c, 2);
          |                                                                            ^^^^^^^^^
         --> t.rules:2:48
        2 | rule a: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c), is_low_mask(c), uge(c, 2);
          |                                                -------------------------- with these
        help: a rule whose facts never hold never fires: leave out or correct one of them
    "#]].assert_eq(&messages(
        "rule a: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c), is_low_mask(c), uge(c, 2);",
    ));
    expect![[r#"
        error[E0374]: these facts hold together for no value: a = 0x0, b = 0x1 satisfies the ones before, not this
         --> t.rules:2:42
        2 | rule a: umod(a, b) => a where ult(a, b), uge(a, b);
          |                                          ^^^^^^^^^
         --> t.rules:2:31
        2 | rule a: umod(a, b) => a where ult(a, b), uge(a, b);
          |                               --------- with these
        help: a rule whose facts never hold never fires: leave out or correct one of them
    "#]].assert_eq(&messages("rule a: umod(a, b) => a where ult(a, b), uge(a, b);"));
    assert_eq!(codes("rule a: iand(a, #c) => a where subset(a, c), negative(c);"), [""; 0]);
}

#[test]
fn facts_that_always_hold_say_nothing() {
    expect![[r#"
        error[E0375]: `nonzero` holds wherever the pattern and the other facts do
         --> t.rules:2:60
        2 | rule a: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c), nonzero(c);
          |                                                            ^^^^^^^^^^
        help: leave it out
    "#]]
    .assert_eq(&messages("rule a: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c), nonzero(c);"));
    expect![[r#"
        error[E0375]: `uge` holds wherever the pattern and the other facts do
         --> t.rules:2:32
        2 | rule a: umin(a, #c) => a where uge(c, 0);
          |                                ^^^^^^^^^
        help: leave it out
    "#]]
    .assert_eq(&messages("rule a: umin(a, #c) => a where uge(c, 0);"));
    assert_eq!(codes("rule a: fmul(a, #c) => a where finite(c), not_nan(c);"), ["E0375"]);
    assert_eq!(codes("rule a: fmul(a, #c) => a where is_integral(c), not_nan(a);"), [""; 0]);
    let allowed = "rule a: umin(a, #c) => a where uge(c, 0) allow E0375 \"for the reader\";";
    assert_eq!(codes(allowed), [""; 0]);
}

#[test]
fn some_target_must_let_a_rule_fire() {
    expect![[r#"
        error[E0376]: `a` fires on no target: its `when` contradicts itself
         --> t.rules:2:6
        2 | rule a: iadd(a, 0) => a when target.narrow && !target.narrow;
          |      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        help: leave one of the options out
    "#]]
    .assert_eq(&messages("rule a: iadd(a, 0) => a when target.narrow && !target.narrow;"));
    assert_eq!(codes("rule a: iadd(a, 0) => a when target.narrow || !target.narrow;"), [""; 0]);
}

#[test]
fn what_costs_more_says_why() {
    expect![[r#"
        error[E0377]: the replacement of `a` costs 2 and its pattern 1
         --> t.rules:2:20
        2 | rule a: ineg(a) => iadd(inot(a), 1);
          |                    ^^^^^^^^^^^^^^^^
         --> t.rules:2:9
        2 | rule a: ineg(a) => iadd(inot(a), 1);
          |         ------- this is cheaper
        help: if it is good for something, say for what: `allow E0377 "what it is good for"`
    "#]]
    .assert_eq(&messages_for(Use::Shipped, "rule a: ineg(a) => iadd(inot(a), 1);"));
    let stated = "rule a: ineg(a) => iadd(inot(a), 1) allow E0377 \"the target has no ineg\";";
    assert_eq!(codes_for(Use::Shipped, stated), [""; 0]);
    assert_eq!(
        codes_for(Use::Shipped, "rule a: ineg(a) => iadd(inot(a), 1) group lower;"),
        [""; 0]
    );
    assert_eq!(
        codes("rule a: ineg(a) => iadd(inot(a), 1);"),
        [""; 0],
        "to be tried it needn't be worth it"
    );
    // A subterm counts once, and what was matched counts before and after.
    assert_eq!(
        codes_for(Use::Shipped, "rule a: iadd(m@ineg(a), m) => { let s = ineg(a); } isub(s, a);")
            .len(),
        1
    );
    assert_eq!(
        codes_for(Use::Shipped, "rule a: umod(a, m@ishl(1, n)) => iand(a, iadd(m, -1));"),
        [""; 0]
    );
}
