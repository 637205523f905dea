//! C 3, mutants of rules: each is killed or proved sound.
//!
//! A mutant is a rule of the tree with one thing changed (`deburr_verify::mutants`), at one of its instances, in every
//! environment that it claims. It is killed by a counterexample, and sound if every environment is proved. What no input
//! satisfies says nothing and isn't counted. Rules under `reassoc` or `transform`, and those with a bound, are left out:
//! within a bound there is nothing to prove.

use super::{Args, Outcome};
use deburr_fuzz::Rng;
use deburr_rulegen::rules::RuleSet;
use deburr_rulegen::rules::model::{Rule, flags};
use deburr_ruleset::{INTRINSICS, OPCODES, SOURCES};
use deburr_verify::mutants::{Mutant, Operator, mutants, traits};
use deburr_verify::smt::{Prover, Solver};
use deburr_verify::{Kind, Options, check_instance, claims};
use std::sync::atomic::{AtomicUsize, Ordering};

// The command's way to ask solvers, which writes questions to temporary files.
#[path = "../../../cli/command/src/solvers.rs"]
pub mod solvers;
use tempfile as _;

/// Mutants at full size.
const MUTANTS: u64 = 2_400;
/// Share of each kind of rule, and of undecided mutants, in percent.
const LEAST_SHARE: f64 = 15.0;
const MOST_UNDECIDED: f64 = 0.5;
/// Seconds a question.
const SECONDS: u64 = 10;

/// Kinds of rules that must be there.
const TRAITS: [&str; 4] = ["float", "64-bit", "vector", "with facts"];

/// What became of a mutant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Killed,
    Sound,
    Vacuous,
    Undecided,
}

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = format!(
        "≥ 2000 mutants, ≥ 6 operators evenly, {} ≥ {LEAST_SHARE} % each: killed or proved, ≤ {MOST_UNDECIDED} % undecided",
        TRAITS.join(", ")
    );
    let mut list = Vec::new();
    let measured = measure(args, &mut list);
    Outcome::of(target, list, measured)
}

fn measure(args: &Args, list: &mut Vec<String>) -> Result<(bool, String), String> {
    let found = solvers::on_path(std::time::Duration::from_secs(SECONDS));
    if found.is_empty() {
        return Err("needs bitwuzla, z3 or cvc5".into());
    }
    let solvers: Vec<&dyn Solver> = found.iter().map(|s| s as &dyn Solver).collect();
    let texts =
        deburr_rulegen::rules::Texts { opcodes: OPCODES, intrinsics: INTRINSICS, rules: SOURCES };
    let set = texts
        .load()
        .and_then(|book| book.rules())
        .map_err(|list| list.first().map_or(String::new(), |d| d.message.clone()))?;
    let mut rng = Rng::new(args.seed ^ 0xc3);
    let chosen = chosen(&set, args.count(MUTANTS) as usize, &mut rng);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut fates = Vec::new();
        while let Some((m, _)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            fates.push((m, fate(&set, m, &solvers)));
        }
        fates
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let fates: Vec<(&Mutant, Fate)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        // A panic of one is one of the line.
        handles.into_iter().flat_map(|h| h.join().unwrap_or_default()).collect()
    });
    let counted: Vec<&(&Mutant, Fate)> = fates.iter().filter(|f| f.1 != Fate::Vacuous).collect();
    let of = |fate: Fate| counted.iter().filter(|f| f.1 == fate).count();
    let mut even = 0;
    for operator in Operator::ALL {
        let own: Vec<_> = counted.iter().filter(|f| f.0.operator == operator).collect();
        let with = |fate| own.iter().filter(|f| f.1 == fate).count();
        let (killed, sound, open) = (with(Fate::Killed), with(Fate::Sound), with(Fate::Undecided));
        list.push(format!(
            "{operator}: {} mutants, {killed} killed, {sound} proved, {open} undecided",
            own.len()
        ));
        even += usize::from(own.len() * Operator::ALL.len() * 10 >= counted.len() * 7);
    }
    let mut shares = true;
    for (i, name) in TRAITS.iter().enumerate() {
        let n = counted.iter().filter(|f| traits(&set, &f.0.rule)[i]).count();
        let share = 100.0 * n as f64 / counted.len().max(1) as f64;
        shares &= share >= LEAST_SHARE;
        list.push(format!("{name}: {n} mutants, {share:.1} %"));
    }
    for (m, _) in counted.iter().filter(|f| f.1 == Fate::Undecided) {
        list.push(format!("undecided: {}: {} ({})", m.rule.instance_name(0), m.what, m.operator));
    }
    let open = of(Fate::Undecided);
    let undecided = 100.0 * open as f64 / counted.len().max(1) as f64;
    let figure = format!(
        "{} mutants of {} operators, {even} of them evenly: {} killed, {} proved sound, {open} undecided ({undecided:.2} %)",
        counted.len(),
        Operator::ALL.len(),
        of(Fate::Killed),
        of(Fate::Sound),
    );
    let whole = args.cases < 1.0 || (counted.len() >= 2000 && even >= 6 && shares);
    Ok((whole && undecided <= MOST_UNDECIDED, figure))
}

/// So many mutants, as many of each operator as there are, the kinds of rules in turn; each at one instance.
fn chosen(set: &RuleSet, wanted: usize, rng: &mut Rng) -> Vec<(Mutant, [bool; 4])> {
    let inexact = flags::REASSOC | flags::TRANSFORM;
    let good = |r: &&Rule| {
        r.licences & inexact == 0 && r.ulps.is_none() && r.waive.is_none() && !r.has_outside()
    };
    let mut by_operator: Vec<Vec<(Mutant, [bool; 4])>> = vec![Vec::new(); Operator::ALL.len()];
    for rule in set.rules.iter().filter(good) {
        for m in mutants(set, rule) {
            let place = Operator::ALL.iter().position(|o| *o == m.operator).unwrap_or(0);
            let kinds = traits(set, &m.rule);
            by_operator[place].push((m, kinds));
        }
    }
    let mut out = Vec::new();
    let mut left = wanted;
    // Those of which there are few first: what they lack goes to the others.
    by_operator.sort_by_key(Vec::len);
    let operators = by_operator.len();
    for (n, mut list) in by_operator.into_iter().enumerate() {
        shuffle(&mut list, rng);
        let quota = left.div_ceil(operators - n).min(list.len());
        for turn in 0..quota {
            // The last turn of each round takes whatever comes.
            let kind = turn % 5;
            let at = list.iter().position(|(_, kinds)| kind == 4 || kinds[kind]);
            let (mut m, kinds) = list.swap_remove(at.unwrap_or(0));
            let sizes: Vec<Vec<u8>> = match kind == 1 && kinds[1] {
                true => m.rule.instances.iter().filter(|b| b.contains(&64)).cloned().collect(),
                false => m.rule.instances.clone(),
            };
            m.rule.instances = vec![sizes[rng.below(sizes.len())].clone()];
            out.push((m, kinds));
        }
        left -= quota;
    }
    out
}

fn shuffle<T>(list: &mut [T], rng: &mut Rng) {
    for i in (1..list.len()).rev() {
        list.swap(i, rng.below(i + 1));
    }
}

fn fate(set: &RuleSet, m: &Mutant, solvers: &[&dyn Solver]) -> Fate {
    let all = claims(set, &m.rule);
    let mut options = Options::scaled(1.0);
    options.exhaustive_bits = 16;
    options.plain = false;
    let mut prover = Prover::new(solvers);
    // Most mutants die at once, in any environment.
    let mut found = Vec::new();
    for claim in &all {
        match check_instance(set, &m.rule, 0, *claim, &options).kind {
            Kind::Refuted => return Fate::Killed,
            kind => found.push(kind),
        }
    }
    if found.iter().all(|kind| *kind == Kind::Missing) {
        return Fate::Vacuous;
    }
    let bits = &m.rule.instances[0];
    for (claim, kind) in all.iter().zip(&found) {
        if matches!(kind, Kind::Tested) && prover.prove(set, &m.rule, bits, *claim).is_none() {
            options.points = options.unproved_points;
            options.exhaustive_bits = 24;
            return match check_instance(set, &m.rule, 0, *claim, &options).kind {
                Kind::Refuted => Fate::Killed,
                Kind::Proved => continue,
                _ => Fate::Undecided,
            };
        }
        if matches!(kind, Kind::Bounded) {
            return Fate::Undecided;
        }
    }
    Fate::Sound
}
