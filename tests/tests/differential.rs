//! Passes keep what programs do: random programs before and after, bit for bit on clean components.
//!
//! A failure prints the smallest program that shows it and the pass at fault. `DEBURR_CASES` scales the number of
//! programs.

use deburr_algebraic::Target;
use deburr_fuzz::{Options as Programs, Subject, Trial, explain, inputs, program, trial};
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
    let target = Target::generic("test");
    let subject = Subject {
        pipeline: &passes,
        rules: deburr_ruleset::rules(),
        target: &target,
        options: &options,
        fault: None,
    };
    let mut changed = 0;
    let (mut compared, mut skipped) = (0u64, 0u64);
    for seed in seeds {
        let mut programs = Programs::default();
        // Only these two environments leave no choice to the interpreter.
        if seed % 4 == 3 {
            programs.env = FloatEnv::uniform(Denorm::Flush, Rounding::Rtz);
        }
        let before = program(seed, &programs);
        let dispatches = [0, 1].map(|n| inputs(seed * 7 + n));
        match trial(&before, &dispatches, None, &subject) {
            Trial::Unchanged => {}
            Trial::Agreed { compared: good, skipped: bad } => {
                changed += 1;
                compared += u64::from(good);
                skipped += u64::from(bad);
            }
            Trial::Failed(_) => {
                let why = explain(&before, &dispatches, None, &subject);
                panic!("{pipeline}, seed {seed}: {why}");
            }
        }
    }
    println!("{pipeline}: {changed} changed, {compared} runs compared, {skipped} skipped");
    assert!(skipped * 50 <= compared + skipped, "{skipped} of {compared} comparisons were skipped");
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

/// What calls mean stays where they stay: other passes see pointers that are lent, and what is called with them.
#[test]
fn passes_around_calls_keep_meaning() {
    let n = cases(20_000.0, 60.0);
    let without = DEFAULT.replace("inline,", "");
    assert_ne!(without, DEFAULT);
    differential(&without, 2_000_000..2_000_000 + n);
    differential(&format!("lower_returns,{without}"), 3_000_000..3_000_000 + n);
}

#[test]
fn the_default_pipeline_keeps_meaning() {
    let n = cases(100_000.0, 150.0);
    let changed = differential(DEFAULT, 1_000_000..1_000_000 + n);
    assert!(changed * 10 >= n * 9, "only {changed} of {n} programs changed");
}
