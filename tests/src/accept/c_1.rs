//! C 1: what the ledger says of the tree's rules, and how much it may be believed.
//!
//! Shares are of instances, each in every float environment that it claims. What is `tested` must have been tried at enough
//! points, and the trial must find something against the rule's own mutants at the same instance: those of them that
//! aren't proved sound, where a solver is on the path. At reduced size some of the tested rules are taken.

use super::c_3::solvers;
use super::{Args, Outcome};
use deburr_fuzz::Rng;
use deburr_rulegen::rules::RuleSet;
use deburr_rulegen::rules::model::{Comps, Rule, flags};
use deburr_ruleset::{INTRINSICS, OPCODES, SOURCES};
use deburr_verify::ledger::{Entry, Ledger};
use deburr_verify::mutants::mutants;
use deburr_verify::smt::{Prover, Solver};
use deburr_verify::{Keys, Kind, Options, check_instance, claims};
use std::time::Duration;

/// Percent of the instances of exact rules, and of the scalar ones.
const PROVED: f64 = 95.0;
const PROVED_SCALAR: f64 = 98.0;
/// Waived at most.
const WAIVED: [usize; 2] = [5, 20];
/// What is tested must have had so many points, this share of which aren't NaN.
const POINTS: u64 = 100_000;
const NUMBERS: f64 = 0.2;
/// Percent of a tested rule's mutants that its trial finds.
const KILLED: f64 = 95.0;
/// Tested instances whose mutants are tried, at full size.
const TRIED: u64 = 400;

/// Under these both sides may be different numbers.
const INEXACT: u16 = flags::REASSOC | flags::CONTRACT | flags::ARCP | flags::TRANSFORM;

/// An instance under a claim, and what is on file of it.
struct Line<'a> {
    rule: &'a Rule,
    instance: usize,
    claim: usize,
    entry: Option<Entry>,
}

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = format!(
        "nothing refuted or missing; exact ≥ {PROVED} % proved, exact scalar ≥ {PROVED_SCALAR} %; waived ≤ {} rules, ≤ {} instances; \
         tested: ≥ {POINTS} points, ≥ {:.0} % numbers, ≥ {KILLED} % of a rule's mutants found",
        WAIVED[0],
        WAIVED[1],
        100.0 * NUMBERS
    );
    let mut list = Vec::new();
    let measured = measure(args, &mut list);
    Outcome::of(target, list, measured)
}

fn measure(args: &Args, list: &mut Vec<String>) -> Result<(bool, String), String> {
    let set = rules()?;
    let lines = on_file(&set)?;
    let of =
        |kind| lines.iter().filter(|l| l.entry.as_ref().is_some_and(|e| e.kind == kind)).count();
    let missing = lines.iter().filter(|l| l.entry.is_none()).count();
    let share = |keep: &dyn Fn(&Rule) -> bool| {
        let own: Vec<&Line> = lines.iter().filter(|l| keep(l.rule)).collect();
        let proved =
            own.iter().filter(|l| l.entry.as_ref().is_some_and(|e| e.kind == Kind::Proved));
        (own.len(), 100.0 * proved.count() as f64 / own.len().max(1) as f64)
    };
    let is_exact = |r: &Rule| r.licences & INEXACT == 0;
    let is_scalar =
        |r: &Rule| r.nodes.iter().all(|n| matches!(n.comps, Comps::Generic | Comps::Fixed(1)));
    let (exact, proved) = share(&is_exact);
    let (scalar, proved_scalar) = share(&|r| is_exact(r) && is_scalar(r));
    let waived = of(Kind::Waived);
    let waived_rules = set.rules.iter().filter(|r| r.waive.is_some()).count();
    let thin: Vec<&Line> = lines
        .iter()
        .filter(|l| {
            let Some(e) = &l.entry else { return false };
            let numbers = e.numbers as f64 >= NUMBERS * e.points as f64;
            e.kind == Kind::Tested && (e.points < POINTS || !numbers)
        })
        .collect();
    for line in &thin {
        let e = line.entry.as_ref().map_or((0, 0), |e| (e.points, e.numbers));
        let name = line.rule.instance_name(line.instance);
        list.push(format!("{name}: tested at {} points, {} of them numbers", e.0, e.1));
    }
    let (tried, blind) = blind(args, &set, &lines, list);
    let figure = format!(
        "{} rules, {} instances: {} proved, {} tested, {} bounded, {waived} waived, {missing} missing; exact {proved:.2} % of {exact}, \
         exact scalar {proved_scalar:.2} % of {scalar}; {} thinly tested; {blind} of {tried} tested instances miss mutants",
        set.rules.len(),
        lines.len(),
        of(Kind::Proved),
        of(Kind::Tested),
        of(Kind::Bounded),
        thin.len(),
    );
    let met = missing == 0
        && proved >= PROVED
        && proved_scalar >= PROVED_SCALAR
        && waived_rules <= WAIVED[0]
        && waived <= WAIVED[1]
        && thin.is_empty()
        && blind == 0;
    Ok((met, figure))
}

/// The rules of the tree.
fn rules() -> Result<RuleSet, String> {
    let texts =
        deburr_rulegen::rules::Texts { opcodes: OPCODES, intrinsics: INTRINSICS, rules: SOURCES };
    let told = |list: Vec<deburr_rulegen::diagnostics::Diagnostic>| {
        list.first().map_or(String::new(), |d| d.message.clone())
    };
    texts.load().and_then(|book| book.rules()).map_err(told)
}

/// Every instance and claim with what the ledger says.
fn on_file(set: &RuleSet) -> Result<Vec<Line<'_>>, String> {
    let folder = super::corpus::root().join("verify/ledger");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.extension().is_none_or(|e| e != "txt") {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        files.push(Ledger::parse(&text).map_err(|list| format!("{}: {list:?}", path.display()))?);
    }
    let mut keys = Keys::new(set);
    let mut out = Vec::new();
    for rule in &set.rules {
        let all = claims(set, rule);
        for instance in 0..rule.instances.len() {
            let name = rule.instance_name(instance);
            for (claim, key) in keys.of(rule, instance, &all).into_iter().enumerate() {
                let entry = files.iter().find_map(|f| f.get(key, &name)).cloned();
                out.push(Line { rule, instance, claim, entry });
            }
        }
    }
    Ok(out)
}

/// How many tested instances were looked at, and at how many of them the trial misses too many mutants.
fn blind(args: &Args, set: &RuleSet, lines: &[Line], list: &mut Vec<String>) -> (usize, usize) {
    let found = solvers::on_path(Duration::from_secs(5));
    let solvers: Vec<&dyn Solver> = found.iter().map(|s| s as &dyn Solver).collect();
    let tested = |l: &&Line| l.entry.as_ref().is_some_and(|e| e.kind == Kind::Tested);
    let mut tested: Vec<&Line> = lines.iter().filter(tested).collect();
    // One environment of each instance.
    tested.dedup_by_key(|l| (&l.rule.name, l.instance));
    let mut rng = Rng::new(args.seed ^ 0xc1);
    let wanted = (args.count(TRIED) as usize).min(tested.len());
    let (mut tried, mut blind) = (0, 0);
    for _ in 0..wanted {
        let line = tested.swap_remove(rng.below(tested.len()));
        let mut options = Options::scaled(1.0);
        (options.points, options.plain) = (options.unproved_points, false);
        let mut prover = Prover::new(&solvers);
        let (mut killed, mut survived) = (0, Vec::new());
        for mut m in mutants(set, line.rule) {
            m.rule.instances.retain(|bits| *bits == line.rule.instances[line.instance]);
            // An environment that the rule doesn't claim may be the one that the mutant adds.
            let own = claims(set, line.rule)[line.claim];
            for claim in claims(set, &m.rule) {
                if m.rule.instances.is_empty() || (claim != own && m.rule.env == line.rule.env) {
                    continue;
                }
                match check_instance(set, &m.rule, 0, claim, &options).kind {
                    Kind::Refuted => killed += 1,
                    Kind::Tested => {
                        let bits = &m.rule.instances[0];
                        if prover.prove(set, &m.rule, bits, claim).is_none() {
                            survived.push(m.what.clone());
                        }
                    }
                    _ => {}
                }
            }
        }
        tried += 1;
        let share =
            100.0 * f64::from(killed) / (f64::from(killed) + survived.len() as f64).max(1.0);
        if share < KILLED && killed + survived.len() as i32 > 0 {
            blind += 1;
            let name = line.rule.instance_name(line.instance);
            list.push(format!("{name}: {share:.0} % of its mutants; not {}", survived.join("; ")));
        }
    }
    (tried, blind)
}
