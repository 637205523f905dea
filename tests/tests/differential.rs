//! Passes keep what programs do: random programs before and after, bit for bit on clean components.
//!
//! `DEBURR_CASES` scales the number of programs.

use deburr_algebraic::Target;
use deburr_fuzz::{Options as Programs, Verdict, compare, inputs, program};
use deburr_ir_core::{Denorm, FloatEnv, Rounding};
use deburr_passes::{DEFAULT, Options, PASSES, Pipeline};

fn cases(full: f64, reduced: f64) -> u64 {
    let scale = std::env::var("DEBURR_CASES").ok().and_then(|v| v.parse::<f64>().ok());
    scale.map_or(reduced, |s| full * s).max(1.0) as u64
}

/// Runs a pipeline over programs; gives how many it changed.
fn differential(pipeline: &str, seeds: std::ops::Range<u64>) -> u64 {
    let passes = Pipeline::parse(pipeline).expect("the test names passes");
    let mut options = Options::default();
    options.validate = true;
    let mut changed = 0;
    let (mut compared, mut skipped) = (0u64, 0u64);
    for seed in seeds {
        let mut programs = Programs::default();
        // Only these two environments leave no choice to the interpreter.
        if seed % 4 == 3 {
            programs.env = FloatEnv::uniform(Denorm::Flush, Rounding::Rtz);
        }
        let before = program(seed, &programs);
        let mut after = before.clone();
        let target = Target::generic("test");
        if let Err(error) = passes.run(&mut after, deburr_ruleset::rules(), &target, &options) {
            panic!("{pipeline}, seed {seed}: {error}\n{before}");
        }
        if before == after {
            continue;
        }
        changed += 1;
        for input in 0..2 {
            match compare(&before, &after, &inputs(seed * 7 + input)) {
                Verdict::Same { compared: bytes, .. } => compared += u64::from(bytes > 0),
                Verdict::Skipped(_) => skipped += 1,
                Verdict::Different(difference) => {
                    panic!(
                        "{pipeline}, seed {seed}, input {input}: {difference}\n{before}\n// after\n{after}"
                    )
                }
                Verdict::Trapped(trap) => {
                    panic!(
                        "{pipeline}, seed {seed}, input {input}: {trap}\n{before}\n// after\n{after}"
                    )
                }
            }
        }
    }
    println!("{pipeline}: {changed} changed, {compared} runs compared, {skipped} skipped");
    changed
}

#[test]
fn each_pass_keeps_meaning() {
    let n = cases(10_000.0, 30.0);
    for pass in PASSES {
        // What must stand before the pass does, so that it has something to do.
        let mut names: Vec<&str> = pass.after.iter().map(|(name, _)| *name).collect();
        names.push(pass.name);
        differential(&names.join(","), 0..n);
    }
}

#[test]
fn the_default_pipeline_keeps_meaning() {
    let n = cases(100_000.0, 150.0);
    let changed = differential(DEFAULT, 1_000_000..1_000_000 + n);
    assert!(changed * 10 >= n * 9, "only {changed} of {n} programs changed");
}
