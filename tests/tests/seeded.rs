//! The differential runs notice bugs: each seeded one is put in behind the default pipeline and must be found.

use deburr_algebraic::Target;
use deburr_fuzz::{Subject, Trial, inputs, trial};
use deburr_passes::{Options, Pipeline};
use deburr_tests::accept::a_5::{make, programs};
use deburr_tests::faults::{FAULTS, Fault, harmless};

/// Programs within which a seeded bug must be found.
const WITHIN: u64 = 1_500;

/// How many programs it takes to find the fault.
fn found_after(fault: Fault) -> Option<u64> {
    let programs = programs();
    // A short pipeline: what matters is that the comparison sees the fault, whatever stands before it.
    let pipeline = Pipeline::parse("copy_prop,dce").expect("the test names passes");
    let target = Target::generic("test");
    let options = Options::default();
    let subject = Subject {
        pipeline: &pipeline,
        rules: deburr_ruleset::rules(),
        target: &target,
        options: &options,
        fault: Some(fault),
    };
    (0..WITHIN).find(|n| {
        let seed = 2 * n;
        let (before, tolerance) = make(seed, &programs);
        let dispatches = [inputs(seed)];
        matches!(trial(&before, &dispatches, tolerance.as_ref(), &subject), Trial::Failed(_))
    })
}

#[test]
fn every_seeded_bug_is_found() {
    let mut missed = Vec::new();
    for (name, fault) in FAULTS {
        match found_after(*fault) {
            Some(n) => println!("{name}: found by program {n}"),
            None => missed.push(*name),
        }
    }
    assert!(missed.is_empty(), "not found within {WITHIN} programs: {missed:?}");
}

#[test]
fn what_is_no_bug_is_not_found() {
    let programs = programs();
    let pipeline = Pipeline::parse("copy_prop,dce").expect("the test names passes");
    let target = Target::generic("test");
    let options = Options::default();
    let subject = Subject {
        pipeline: &pipeline,
        rules: deburr_ruleset::rules(),
        target: &target,
        options: &options,
        fault: Some(harmless),
    };
    for n in 0..50 {
        let (before, tolerance) = make(n, &programs);
        let result = trial(&before, &[inputs(n)], tolerance.as_ref(), &subject);
        assert!(!matches!(result, Trial::Failed(_)), "program {n}: {result:?}");
    }
}
