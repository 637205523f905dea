//! What a run is given: functions with nothing in them, or with more than a question looks at; rules that the target
//! switches off.

use deburr_algebraic::facts::Memo;
use deburr_algebraic::{Error, Options, Report, Target, run};
use deburr_ir_core::{AluOp, Def, Function};
use std::fmt::Write;

/// The function of a program.
fn function(body: &str) -> Function {
    let text = format!(
        "shader compute \"main\" entry(main) LocalSize(1, 1, 1)\ndecl_function main()\nimpl main {{\n  block b0:\n{body}}}\n"
    );
    let module = deburr_ir_core::parse(&text).expect("it is well formed");
    module.functions.first().expect("there is one").clone()
}

/// Runs the rules of the tree over a program.
fn optimised(body: &str, target: &Target) -> Result<Report, Error> {
    run(&mut function(body), deburr_ruleset::rules(), "opt", target, &Options::default())
}

#[test]
fn a_function_without_instructions_is_at_its_fixed_point() {
    let report = optimised("", &Target::generic("mine"));
    assert!(report.is_ok_and(|r| !r.changed));
}

#[test]
fn a_target_switches_rules_off_by_name() {
    let body = "    32 %0 = undef\n    32 %1 = load_const (0x0)\n    32 %2 = isub %0, %0\n    @store_output %2, %1 (write_mask=0)\n";
    let fired = |target: &Target| optimised(body, target).map(|report| report.fired);
    let target = Target::generic("mine");
    assert_eq!(fired(&target), Ok(1));
    assert_eq!(fired(&target.clone().without_rule("isub_self")), Ok(0));
    let unknown = Err(Error::UnknownRule("isub_selv".into()));
    assert_eq!(fired(&target.without_rule("isub_selv")), unknown);
}

#[test]
fn what_is_known_of_a_value_does_not_depend_on_what_was_asked_before() {
    let mut body = String::from(
        "    32 %0 = undef\n    32 %1 = load_const (0xf)\n    32 %2 = iand %0, %1\n    32 %3 = umin %2, %0\n",
    );
    for n in 4..120 {
        let _ = writeln!(body, "    32 %{n} = umin %{}, %0", n - 1);
    }
    let f = function(&body);
    let chain: Vec<Def> =
        f.all_instrs().filter(|i| f.alu_op(*i) == Some(AluOp::UMIN)).map(|i| i.def()).collect();
    let (middle, end) = (chain[40], chain[100]);
    let rules = deburr_ruleset::rules();
    let alone = Memo::default().of(&f, rules, middle);
    assert_eq!(alone.hi, 15);
    let mut memo = Memo::default();
    memo.of(&f, rules, end);
    assert_eq!(memo.of(&f, rules, middle), alone);
    assert_eq!(memo.of(&f, rules, end).hi, 15, "found by way of the middle");
}
