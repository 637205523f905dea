//! Rules that are missing: like one that is there, sound, and worth having.

use super::bench::{Bench, Readers, claims, left_out};
use super::greedy::{Greedy, cost};
use super::mutate::{Candidate, candidates, with_replacement, word};
use super::text::{self, bare};
use crate::smt::Solver;
use crate::{Kind, Options, Verdict, check_instance, check_rule};
use deburr_rulegen::diagnostics::Span;
use deburr_rulegen::rules::ast::{Clause, FactUse, Rule, Term, TermKind};
use deburr_rulegen::rules::{Book, Ops, RuleSet, expand, model, order, parse};
use std::collections::{BTreeSet, HashSet};

/// A pattern like that of a rule.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The rule, by number.
    pub of: usize,
    candidate: Candidate,
}

/// A rule that is missing.
#[derive(Clone, Debug)]
pub struct Sibling {
    /// The rule that it is like, by number.
    pub of: usize,
    /// In what it differs.
    pub how: &'static str,
    /// `L => R where …`
    pub text: String,
    /// What it saves.
    pub gain: u64,
}

/// Every pattern like those of some rules, each once.
pub fn variants(set: &RuleSet, of: &[usize]) -> Vec<Variant> {
    let wanted: BTreeSet<usize> = of.iter().copied().collect();
    let (mut out, mut seen) = (Vec::new(), HashSet::new());
    let mut number = 0;
    let mut all: Vec<(usize, Rule)> = Vec::new();
    for (name, text) in &set.files {
        let Ok(file) = parse::parse_rules(name, text) else { continue };
        for stamped in expand::expand(&file, &mut Vec::new()) {
            // Rules of a set are in the order of their texts.
            seen.insert(key(&set.ops, &stamped.rule.pattern));
            all.push((number, stamped.rule));
            number += 1;
        }
    }
    for (of, rule) in all.into_iter().filter(|(n, _)| wanted.contains(n)) {
        if set.rules.get(of).is_none_or(|rule| left_out(set, rule).is_some()) {
            continue;
        }
        for candidate in candidates(&set.ops, &rule) {
            if seen.insert(key(&set.ops, &candidate.rule.pattern)) {
                out.push(Variant { of, candidate });
            }
        }
    }
    out
}

/// A pattern's text with variables called by their order, exchangeable operands in the order of their shapes.
fn key(ops: &Ops, pattern: &Term) -> String {
    let mut pattern = pattern.clone();
    sort(ops, &mut pattern);
    let mut names: Vec<String> = Vec::new();
    rename(&mut pattern, &mut |name| {
        let at = names.iter().position(|n| n == name).unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        });
        format!("v{at}")
    });
    text::term(&pattern)
}

/// Recurses on the nesting of a term, which the parser bounds.
fn sort(ops: &Ops, t: &mut Term) {
    t.bind = None;
    let (TermKind::Op { args, .. } | TermKind::Ac(_, args)) = &mut t.kind else { return };
    args.iter_mut().for_each(|a| sort(ops, a));
    let TermKind::Op { op, args, .. } = &mut t.kind else { return };
    let commutative = ops.find(&op.text).is_some_and(|op| ops.get(op).commutative);
    if commutative && args.len() >= 2 {
        let shape = |t: &Term| {
            let mut t = t.clone();
            rename(&mut t, &mut |_| "_".into());
            text::term(&t)
        };
        if shape(&args[0]) > shape(&args[1]) {
            args.swap(0, 1);
        }
    }
}

/// Recurses on the nesting of a term, which the parser bounds.
fn rename(t: &mut Term, name_of: &mut dyn FnMut(&str) -> String) {
    match &mut t.kind {
        TermKind::Var(name, _) | TermKind::Const(name, _) => name.text = name_of(&name.text),
        TermKind::Op { args, .. } | TermKind::Ac(_, args) => {
            args.iter_mut().for_each(|a| rename(a, name_of));
        }
        _ => {}
    }
}

/// Points of the first look at a candidate.
const QUICK: u64 = 48;

/// Looks for the cheapest replacement of a pattern with which it is a rule worth having: sound as far as a short trial shows,
/// on what the driver leaves as it is, and cheaper than that. `book` reads rules.
pub fn sibling(greedy: &Greedy<'_>, book: &Book, variant: &Variant) -> Option<Sibling> {
    let candidate = &variant.candidate;
    let own = model::EnvClause::ALL;
    // Any replacement will do to learn of the pattern.
    let first = candidate.replacements.iter().find_map(|r| {
        let rule = with_replacement(&candidate.rule, r);
        book.bare_rule(&bare(&rule)).ok().filter(|set| !set.rules.is_empty())
    })?;
    let before = settled_cost(greedy, &first)?;
    let float = first.rules[0].nodes.iter().any(|n| match &n.kind {
        model::NodeKind::Op { op, .. } => first.ops.get(*op).float,
        _ => false,
    });
    let clauses: &[&[Extra]] = match float && first.rules[0].env == own {
        true => &[&[], &[Extra::Env], &[Extra::Nsz], &[Extra::Env, Extra::Nsz]],
        false if float => &[&[], &[Extra::Nsz]],
        false => &[&[]],
    };
    for replacement in &candidate.replacements {
        for extra in clauses {
            let mut rule = with_replacement(&candidate.rule, replacement);
            extra.iter().for_each(|e| e.add(&mut rule));
            let text = bare(&rule);
            let Ok(set) = book.bare_rule(&text) else { break };
            let Some(after) = replaced_cost(greedy, &set) else { break };
            if after >= before {
                break;
            }
            if holds_quickly(&set) {
                let gain = before.0 - after.0;
                return (gain > 0).then_some(Sibling {
                    of: variant.of,
                    how: candidate.how,
                    text,
                    gain,
                });
            }
        }
    }
    None
}

/// The verdicts of a sibling at full size, and by solvers.
pub fn verdicts(
    book: &Book,
    sibling: &Sibling,
    options: &Options,
    solvers: &[&dyn Solver],
) -> Vec<Verdict> {
    match book.bare_rule(&sibling.text) {
        Ok(set) => set.rules.iter().flat_map(|r| check_rule(&set, r, options, solvers)).collect(),
        Err(_) => Vec::new(),
    }
}

/// What the build would say of a sibling beside the rules that are there: codes and messages.
pub fn objections(beside: &RuleSet, book: &Book, name: &str, sibling: &Sibling) -> Vec<String> {
    let text = format!("rules 1\nrule {name}: {};\n", sibling.text);
    let mut said = Vec::new();
    match book.rules_of("sibling", &text) {
        Ok(own) => {
            let mut set = beside.clone();
            let file = set.files.len();
            set.rules.extend(own.rules.into_iter().map(|rule| model::Rule { file, ..rule }));
            set.files.extend(own.files);
            order::check(&set, &mut said);
        }
        Err(list) => said = list,
    }
    said.iter().map(|d| format!("{}: {}", d.code, d.message)).collect()
}

/// What a rule may need beside what its sibling needs.
#[derive(Clone, Copy)]
enum Extra {
    Env,
    Nsz,
}

impl Extra {
    fn add(self, rule: &mut Rule) {
        let none = Span::new(0, 0);
        match self {
            Extra::Env => {
                let values = vec![word("keep"), word("any")];
                let fact = FactUse::Env(vec![(word("denorm"), values)], none);
                let facts = rule.clauses.iter_mut().find_map(|(c, _)| match c {
                    Clause::Where(facts) => Some(facts),
                    _ => None,
                });
                match facts {
                    Some(facts) => facts.push(fact),
                    None => rule.clauses.insert(0, (Clause::Where(vec![fact]), none)),
                }
            }
            Extra::Nsz => {
                let names = rule.clauses.iter_mut().find_map(|(c, _)| match c {
                    Clause::With(names) => Some(names),
                    _ => None,
                });
                match names {
                    Some(names) => names.push(word("nsz")),
                    None => {
                        // Clauses have an order.
                        let at = rule.clauses.iter().position(|(c, _)| c.keyword().1 > 1);
                        let at = at.unwrap_or(rule.clauses.len());
                        rule.clauses.insert(at, (Clause::With(vec![word("nsz")]), none));
                    }
                }
            }
        }
    }
}

/// Samples of an instance on which costs are compared.
const SAMPLES: usize = 3;

/// The instance that speaks for all.
fn usual(rule: &model::Rule) -> usize {
    rule.instances.iter().position(|bits| rule.size(bits) == 32).unwrap_or(0)
}

/// What a pattern costs, if the driver leaves it as it is.
fn settled_cost(greedy: &Greedy<'_>, set: &RuleSet) -> Option<(u64, u64)> {
    run(greedy, set, set.rules[0].pattern, true)
}

/// What the driver makes of a replacement costs.
fn replaced_cost(greedy: &Greedy<'_>, set: &RuleSet) -> Option<(u64, u64)> {
    run(greedy, set, set.rules[0].alts.first()?.term, false)
}

/// The greatest cost of what the driver makes of a side, over some samples. `None` if a rule fires and none may.
fn run(greedy: &Greedy<'_>, set: &RuleSet, side: usize, settled: bool) -> Option<(u64, u64)> {
    let rule = &set.rules[0];
    let claim = *claims(set, rule).first()?;
    let bench = Bench::new(set, rule, &rule.instances[usual(rule)], claim);
    let samples = bench.samples();
    let step = samples.len().div_ceil(SAMPLES).max(1);
    let mut most = None;
    let target = greedy.targets().swap_remove(0);
    for sample in samples.iter().step_by(step) {
        let (mut f, _) = bench.code(sample, &[side], Readers::None)?;
        let ran = greedy.run(&mut f, rule.group, &target, &[]);
        if ran.endless || settled && !ran.fired.is_empty() {
            return None;
        }
        most = most.max(Some(cost(&f)));
    }
    most.filter(|cost| !settled || cost.0 > 0)
}

/// Whether a short trial finds nothing against a rule: the smallest instance first.
fn holds_quickly(set: &RuleSet) -> bool {
    let rule = &set.rules[0];
    let options = Options { points: QUICK, exhaustive_bits: 8, ..Options::default() };
    let mut order: Vec<usize> = (0..rule.instances.len()).collect();
    order.sort_by_key(|i| rule.instances[*i].iter().map(|b| u32::from(*b)).sum::<u32>());
    order.into_iter().all(|instance| {
        crate::claims(set, rule).into_iter().all(|claim| {
            let kind = check_instance(set, rule, instance, claim, &options).kind;
            matches!(kind, Kind::Proved | Kind::Tested)
        })
    })
}
