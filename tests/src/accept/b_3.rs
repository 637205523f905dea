//! B 3: the compiled matchers and the reference matcher do the same on random functions and on the examples, and each
//! rule fires and just misses often enough for that to say something; the driver comes to the fixed point that the naive
//! loop finds; facts on values imply their definitions; generators with a bug each are all found out.

use super::corpus::{Deburr, examples, root, words};
use super::{Args, Outcome, Verdict};
use crate::constructs;
use crate::matchers::both::Matchers;
use crate::matchers::change::Kind;
use crate::matchers::survey::{self, Size, Survey, survey};
use crate::matchers::{facts, faults, fixed};
use crate::terms::rule_set;
use deburr_algebraic::Target;
use deburr_ir_core::Module;
use deburr_passes::{DEFAULT, Options, Pipeline};
use deburr_rulegen::rules::RuleSet;
use deburr_spirv::{ReadOptions, read};

/// Random functions at full size, and how often each rule fires and just misses.
const FUNCTIONS: u64 = 1_000_000;
const NEED: u64 = 100;
/// Random functions for the rules about constructs that the tree's rules don't have.
const CONSTRUCTS: u64 = 100_000;
/// Random functions that the driver is compared with the naive loop on.
const DRIVEN: u64 = 100_000;
/// Terms over which facts are held to their definitions.
const TERMS: u64 = 200_000;
/// Bugs that are planted in the generator, at least.
const FAULTS: usize = 30;

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = format!(
        "both matchers the same on {FUNCTIONS} functions, {CONSTRUCTS} more of every construct, and all examples, each rule \
         firing and just missing ≥ {NEED} times; the driver at the naive loop's fixed point on {DRIVEN} functions; facts imply their definitions; ≥ {FAULTS} planted \
         bugs all found out; at full size"
    );
    let mut list = Vec::new();
    let mut figures = Vec::new();
    let set = rule_set();
    let matchers = Matchers::new(&set, deburr_ruleset::rules());
    let (constructs, mut kinds) = (constructs::set(), vec![0; Kind::ALL.len()]);
    let of_constructs = Matchers::new(&constructs, constructs::rules());
    let rules = Rules { name: "rules of the tree", matchers: &matchers, functions: FUNCTIONS };
    let mut met = agreement(args, &rules, &mut kinds, &mut list, &mut figures);
    met &= fixed_point(args, &rules, DRIVEN, &mut list, &mut figures);
    let rules =
        Rules { name: "rules of constructs", matchers: &of_constructs, functions: CONSTRUCTS };
    met &= agreement(args, &rules, &mut kinds, &mut list, &mut figures);
    met &= fixed_point(args, &rules, DRIVEN / 2, &mut list, &mut figures);
    // Few rules ask for options of the target: at less than full size there may be none.
    met &= args.cases < 1.0 || kinds.iter().all(|n| *n > 0);
    met &= over_examples(args, &matchers, &mut list, &mut figures);
    met &= definitions(args, &matchers, &mut list, &mut figures);
    if args.cases >= 1.0 {
        met &= planted(args, &mut list, &mut figures);
    }
    Outcome { figure: figures.join("; "), target, verdict: Verdict::of(met), list }
}

/// A rule set, and on how many random functions its matchers are compared.
struct Rules<'a> {
    name: &'static str,
    matchers: &'a Matchers<'a>,
    functions: u64,
}

/// Both matchers over random functions.
fn agreement(
    args: &Args,
    rules: &Rules<'_>,
    kinds: &mut [u64],
    list: &mut Vec<String>,
    figures: &mut Vec<String>,
) -> bool {
    let (matchers, set) = (rules.matchers, rules.matchers.set);
    let need = args.count(NEED);
    // The tree's rules are sound, so what they leave computes what was there.
    let of_tree = rules.functions == FUNCTIONS;
    let size = Size { functions: args.count(rules.functions), need, enough: 5, values: of_tree };
    let found = survey(matchers, args.seed, size);
    list.extend(found.wrong.iter().map(|w| format!("WRONG: {w}")));
    for (name, counts) in [("fires", &found.fired), ("just misses", &found.missed)] {
        for (rule, n) in set.rules.iter().zip(counts).filter(|(_, n)| **n < need) {
            list.push(format!("WRONG: {} {name} {n} times, not {need}", rule.name));
        }
    }
    kinds.iter_mut().zip(&found.kinds).for_each(|(all, n)| *all += n);
    let counts = Kind::ALL.iter().zip(&found.kinds).filter(|(_, n)| **n > 0);
    let counts: Vec<String> = counts.map(|((_, name), n)| format!("{name} {n}")).collect();
    list.push(format!("{}: just missed by {}", rules.name, counts.join(", ")));
    let idle = if of_tree { unseen(set, &found) } else { Vec::new() };
    if !idle.is_empty() {
        list.push(format!("WRONG: opcodes that stood in no function: {}", idle.join(" ")));
    }
    let least = |counts: &[u64]| counts.iter().min().copied().unwrap_or(0);
    figures.push(format!(
        "{}: {} functions, {} steps, {} rules, each fires ≥ {} times and just misses ≥ {} times, {} differ, {} values kept",
        rules.name,
        found.functions,
        found.steps,
        set.rules.len(),
        least(&found.fired),
        least(&found.missed),
        found.wrong.len(),
        found.compared
    ));
    found.wrong.is_empty()
        && least(&found.fired) >= need
        && least(&found.missed) >= need
        && idle.is_empty()
}

/// Opcodes of the table that stood in no function.
fn unseen<'a>(set: &'a RuleSet, found: &Survey) -> Vec<&'a str> {
    let ops = set.ops.iter().filter(|op| op.id < 0x4000);
    ops.filter(|op| found.opcodes[usize::from(op.id)] == 0).map(|op| op.name.as_str()).collect()
}

/// Both matchers over the examples as they are read and after every pass.
fn over_examples(
    args: &Args,
    matchers: &Matchers<'_>,
    list: &mut Vec<String>,
    figures: &mut Vec<String>,
) -> bool {
    let items = match Deburr::new(args).and_then(|deburr| examples(&deburr)) {
        Ok(items) => items,
        Err(why) => {
            list.push(format!("the examples were not run: {why}"));
            return args.cases < 1.0;
        }
    };
    let mut found = Survey::new(matchers.set);
    for item in &items {
        let before = (found.functions, found.steps, found.wrong.len());
        match read(&words(&item.path), &ReadOptions::default()) {
            Ok(module) => after_every_pass(matchers, module, &mut found),
            Err(e) => found.wrong.push(format!("not read: {e}")),
        }
        let wrong = &found.wrong[before.2..];
        let (functions, steps) = (found.functions - before.0, found.steps - before.1);
        list.push(format!("{}: {functions} functions, {steps} steps", item.name));
        list.extend(wrong.iter().map(|w| format!("WRONG: {}: {w}", item.name)));
    }
    figures.push(format!(
        "{} examples after every pass: {} functions, {} steps, {} differ",
        items.len(),
        found.functions,
        found.steps,
        found.wrong.len()
    ));
    found.wrong.is_empty() && found.steps > 0
}

fn after_every_pass(matchers: &Matchers<'_>, mut module: Module, found: &mut Survey) {
    let target = Target::spirv_of(&module);
    let everything = Target::generic("everything");
    survey::module(matchers, &module, &everything, found);
    let pipeline = match Pipeline::parse(DEFAULT) {
        Ok(pipeline) => pipeline,
        Err(e) => return found.wrong.push(e.to_string()),
    };
    let mut seen = 0;
    let mut observer = |_: &'static str, module: &Module, changed: bool| {
        if changed {
            seen += 1;
            let target = if seen % 2 == 0 { &everything } else { &target };
            survey::module(matchers, module, target, found);
        }
    };
    let rules = matchers.compiled;
    let ran =
        pipeline.run_observed(&mut module, rules, &target, &Options::default(), &mut observer);
    if let Err(e) = ran {
        found.wrong.push(e.to_string());
    }
}

/// The driver against the naive loop.
fn fixed_point(
    args: &Args,
    rules: &Rules<'_>,
    functions: u64,
    list: &mut Vec<String>,
    figures: &mut Vec<String>,
) -> bool {
    let matchers = rules.matchers;
    let found = fixed::check(matchers.set, matchers.compiled, args.seed, args.count(functions));
    list.extend(found.wrong.iter().map(|w| format!("WRONG: {w}")));
    list.extend(found.otherwise.iter().map(|w| format!("in program order another result: {w}")));
    figures.push(format!(
        "{}: driver at the naive loop's fixed point on {} functions ({} steps; once through is not enough on {}), {} not; \
         in program order the same text of {}",
        rules.name,
        found.functions,
        found.steps,
        found.enabled,
        found.wrong.len(),
        found.same
    ));
    found.wrong.is_empty()
}

/// Facts on values against their definitions.
fn definitions(
    args: &Args,
    matchers: &Matchers<'_>,
    list: &mut Vec<String>,
    figures: &mut Vec<String>,
) -> bool {
    let found = facts::check(matchers.set, matchers.compiled, args.seed, args.count(TERMS));
    list.extend(found.wrong.iter().map(|w| format!("WRONG: {w}")));
    for (name, asked, held) in &found.asked {
        list.push(format!("fact {name}: asked {asked} times, surely held {held} times"));
    }
    figures.push(format!(
        "{} facts on values, {} terms at 8 bits and f16 with all inputs, {} sets of values, {} wrong",
        found.asked.len(),
        found.terms,
        found.sets,
        found.wrong.len()
    ));
    // Each fact is known to hold somewhere.
    found.wrong.is_empty() && found.asked.iter().all(|(_, _, held)| *held > 0)
}

/// Generators with a bug each.
fn planted(args: &Args, list: &mut Vec<String>, figures: &mut Vec<String>) -> bool {
    let root = root();
    match faults::check(&root, &root.join("target/b_3"), args.seed) {
        Ok(found) => {
            list.extend(found.found.iter().map(|f| format!("found out: {f}")));
            list.extend(found.missed.iter().map(|f| format!("WRONG: not found out: {f}")));
            figures.push(format!(
                "{} of {} bugs planted in the generator found out",
                found.found.len(),
                found.planted
            ));
            found.missed.is_empty() && found.planted >= FAULTS
        }
        Err(why) => {
            list.push(format!("WRONG: no bug was planted: {why}"));
            false
        }
    }
}
