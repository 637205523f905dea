//! A target says which rules don't fire for it.

use deburr_algebraic::{Error, Options, Target, run};

const TEXT: &str = "shader compute \"main\" entry(main) LocalSize(1, 1, 1)
decl_function main()
impl main {
  block b0:
    32 %0 = undef
    32 %1 = load_const (0x0)
    32 %2 = isub %0, %0
    @store_output %2, %1 (write_mask=0)
}
";

/// How many rules fire for a target.
fn fired(target: &Target) -> Result<u64, Error> {
    let module = deburr_ir_core::parse(TEXT).expect("it is well formed");
    let mut f = module.functions.first().expect("there is one").clone();
    Ok(run(&mut f, deburr_ruleset::rules(), "opt", target, &Options::default())?.fired)
}

#[test]
fn a_target_switches_rules_off_by_name() {
    let target = Target::generic("mine");
    assert_eq!(fired(&target), Ok(1));
    assert_eq!(fired(&target.clone().without_rule("isub_self")), Ok(0));
    let unknown = Err(Error::UnknownRule("isub_selv".into()));
    assert_eq!(fired(&target.without_rule("isub_selv")), unknown);
}
