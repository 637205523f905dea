//! Functions on which the compiled matchers and the reference matcher, or the driver and the naive loop, once differed.

use deburr_algebraic::{Options, Target};
use deburr_ir_core::parse;
use deburr_tests::constructs;
use deburr_tests::matchers::both::Matchers;
use deburr_tests::matchers::fixed;
use deburr_tests::matchers::survey::{Size, survey};
use deburr_tests::terms::rule_set;

/// Runs both matchers over the body of a function and gives what is left; they must agree.
fn both(body: &str) -> String {
    let text = format!(
        "shader compute \"main\" entry(main) LocalSize(1, 1, 1)\ndecl_function main()\n\
         impl main {{\nblock b0:\n{body}\n}}\n"
    );
    let module = parse(&text).expect("the text is right");
    let f = module.functions.iter().find(|f| f.has_body()).expect("a function");
    let set = rule_set();
    let matchers = Matchers::new(&set, deburr_ruleset::rules());
    let target = Target::generic("everything");
    let did = matchers.run(f, 0, &target, &Options::default()).expect("both do the same");
    did.after.to_string()
}

/// Of two equal constants that a variable stands for, the first in source order is used.
#[test]
fn a_variable_is_what_stands_at_its_first_place() {
    let after = both(
        "8x3 %0 = undef
         8x3 %1 = load_const (0x1, 0x1, 0x1)
         1x3 %2 = ige %0, %1.yzy
         8x3 %3 = bcsel %2, %1.yyy, %0
         32 %4 = load_const (0x0)
         @store_output %3, %4 (write_mask=0)",
    );
    assert!(after.contains("imin %0, %1.yzy"), "{after}");
}

/// Every construct of the language, also those that no rule of the tree has: both matchers choose the same, each rule fires
/// and just misses, and the driver comes to the fixed point of the naive loop.
#[test]
fn matchers_and_driver_agree_on_every_construct() {
    let set = constructs::set();
    let matchers = Matchers::new(&set, constructs::rules());
    let size = Size { functions: 3_000, need: 5, enough: 3, values: false };
    let found = survey(&matchers, 1, size);
    assert!(found.wrong.is_empty(), "{}", found.wrong.join("\n"));
    for (rule, (fired, missed)) in set.rules.iter().zip(found.fired.iter().zip(&found.missed)) {
        assert!(*fired >= 5 && *missed >= 5, "{} fires {fired}, misses {missed}", rule.name);
    }
    let found = fixed::check(&set, constructs::rules(), 1, 1_500);
    assert!(found.wrong.is_empty(), "{}", found.wrong.join("\n"));
}
