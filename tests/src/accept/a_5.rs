//! Line A 5: random programs through the default pipeline, the validator after every pass, and what they write.
//!
//! Half of the programs carry no licences and are compared bit for bit where the interpreter is clean; half are float
//! programs with licences, compared within the bound that [`deburr_fuzz::licensed_program`] works out. The first half
//! is grown from what passes look for and from the left sides of the tree's rules.

use super::{Args, Outcome, Verdict};
use crate::terms::terms;
use deburr_algebraic::Target;
use deburr_fuzz::{
    Histogram, Options as Programs, Subject, Tolerance, Trial, explain, inputs, licensed_program,
    program, trial,
};
use deburr_ir_core::{Denorm, FloatEnv, Module, Rounding};
use deburr_passes::{DEFAULT, Options, Pipeline};
use std::collections::BTreeMap;

/// Programs at full size.
const FULL: u64 = 100_000;
/// Inputs that each program runs on.
const INPUTS: u64 = 2;
/// Failures after which the run stops: each is reduced, which takes a while.
const MOST_FAILURES: usize = 3;

/// A program of a seed: the module, and the tolerance of one with licences.
pub fn make(seed: u64, programs: &Programs) -> (Module, Option<Tolerance>) {
    // Only these two environments leave no choice to the interpreter.
    let env = match seed >> 1 & 3 {
        3 => FloatEnv::uniform(Denorm::Flush, Rounding::Rtz),
        _ => FloatEnv::uniform(Denorm::Keep, Rounding::Rte),
    };
    if seed % 2 == 1 {
        let (module, tolerance) = licensed_program(seed, env);
        return (module, Some(tolerance));
    }
    let mut programs = programs.clone();
    programs.env = env;
    // Some are much larger than the rest.
    if seed % 64 == 2 {
        programs.size *= 6;
    }
    // All of these grow, so that half of all do: odd seeds.
    (program(seed + 1, &programs), None)
}

/// Names the program at which a pass panics.
struct Underway(u64);

impl Drop for Underway {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("accept_a_5: the panic is at the program of seed {}", self.0);
        }
    }
}

#[derive(Default)]
struct Half {
    programs: u64,
    changed: u64,
    compared: u64,
    skipped: u64,
}

impl Half {
    fn line(&self, name: &str) -> String {
        format!(
            "{name}: {} programs, {} changed, {} runs compared, {} skipped",
            self.programs, self.changed, self.compared, self.skipped
        )
    }
}

/// Runs the line.
pub fn run(args: &Args) -> Outcome {
    let pipeline = Pipeline::parse(DEFAULT).expect("the default pipeline parses");
    let mut options = Options::default();
    options.validate = true;
    let target = Target::generic("fuzz");
    let subject = Subject {
        pipeline: &pipeline,
        rules: deburr_ruleset::rules(),
        target: &target,
        options: &options,
        fault: None,
    };
    let programs = programs();
    let count = args.count(FULL);
    let mut histograms = [Histogram::default(), Histogram::default()];
    let mut halves = [Half::default(), Half::default()];
    let mut failures: Vec<String> = Vec::new();
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let first = args.seed.wrapping_mul(1 << 24);
    for n in 0..count {
        let seed = first + n;
        let _underway = Underway(seed);
        let (before, tolerance) = make(seed, &programs);
        let half = &mut halves[usize::from(tolerance.is_some())];
        histograms[usize::from(tolerance.is_some())].add(&before);
        half.programs += 1;
        let dispatches: Vec<_> = (0..INPUTS).map(|i| inputs(seed * INPUTS + i)).collect();
        match trial(&before, &dispatches, tolerance.as_ref(), &subject) {
            Trial::Unchanged => {}
            Trial::Agreed { compared, skipped } => {
                half.changed += 1;
                half.compared += u64::from(compared);
                half.skipped += u64::from(skipped);
            }
            Trial::Failed(why) => {
                let kind: String = why.chars().take_while(|c| !c.is_ascii_digit()).collect();
                *kinds.entry(kind).or_default() += 1;
                let text = explain(&before, &dispatches, tolerance.as_ref(), &subject);
                failures.push(format!("seed {seed}: {text}"));
                if failures.len() >= MOST_FAILURES {
                    break;
                }
            }
        }
    }
    // Too few programs can't show everything.
    let [histogram, licensed] = &histograms;
    let missing = if count >= 2_000 {
        [histogram.missing(), licensed.missing_with_licences()].concat()
    } else {
        Vec::new()
    };
    let (size, forks) = histogram.medians();
    let total = |get: fn(&Half) -> u64| halves.iter().map(get).sum::<u64>();
    let (compared, skipped) = (total(|h| h.compared), total(|h| h.skipped));
    let mut list = histogram.lines();
    list.push(halves[0].line("without licences, bit for bit"));
    list.extend(licensed.summary().into_iter().map(|line| format!("with licences: {line}")));
    list.push(halves[1].line("with licences, within the bound"));
    list.push(format!("{} instances of rules to grow from", programs.terms.len()));
    list.extend(missing.iter().map(|m| format!("MISSING {m}")));
    list.extend(failures.iter().cloned());
    let few = skipped * 50 <= compared + skipped;
    let met = failures.is_empty()
        && missing.is_empty()
        && few
        && size >= 40
        && forks >= 2
        && total(|h| h.changed) * 10 >= total(|h| h.programs) * 9;
    Outcome {
        figure: format!(
            "{} programs changed, {compared} runs compared, {skipped} skipped, {} failures, {} kinds missing",
            total(|h| h.changed),
            failures.len(),
            missing.len()
        ),
        target: format!("{count} programs without a difference, skipped ≤ 2 %, nothing missing"),
        verdict: Verdict::of(met),
        list,
    }
}

/// What the programs of the first half are made of.
pub fn programs() -> Programs {
    let mut programs = Programs::default();
    programs.terms = terms().into();
    programs
}
