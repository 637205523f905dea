//! Whether the rules of a group come to an end.
//!
//! Rules are rewrites of terms; a group terminates if some well-founded order makes every replacement smaller than what
//! it replaces, wherever in a term that is. The order is found here, for each group and each choice of target options:
//! terms are compared by `weight` first, and at equal weight by a recursive `path` order. So a rule
//! is fine if it always takes weight away, or if it never adds weight and its pattern is above its replacement in the
//! path order; a rule that does neither is told, with those that stand against it.
//!
//! Facts and profit tests are ignored: what terminates without them does with them. So is legality: a target that lacks
//! operations has fewer rules. What the driver does by itself (folding, looking through moves, ordering operands)
//! never makes a term greater; see `term`.

mod circle;
mod path;
mod term;
mod weight;

use super::codes;
use super::model::*;
use crate::diagnostics::Diagnostic;
use path::{Precedence, Relations};
pub use term::{Symbol, Term};
use weight::{Demand, Rewrite, Weights};

/// Times that the path order is built again because a rule doesn't fit into it.
const REPAIRS: usize = 12;

/// Nodes of a term beyond which it isn't looked at.
pub const LARGEST: u64 = 1000;

/// What takes a rule out of the order.
const CANONICAL: &str = "canonical \"what stops it\"";

/// Whether the terms of a rule are small enough to be written out.
pub fn is_small(rule: &Rule) -> bool {
    let roots = rule.alts.iter().map(|a| a.term).chain([rule.pattern]);
    roots.into_iter().all(|root| Term::size(rule, root) <= LARGEST)
}

/// What the order says of a rule set.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Rules that some order makes smaller, under every choice of options.
    pub proved: usize,
    /// Rules that are out of the order because they say `canonical`.
    pub canonical: Vec<usize>,
    /// Rules that no order was found for.
    pub unproved: Vec<usize>,
}

/// Why a rewrite is in no order.
struct Failure {
    rewrite: usize,
    /// Rules that ask for the opposite.
    against: Vec<usize>,
    why: String,
}

/// Looks for an order of every group, and reports the rules that are in none.
pub fn check(set: &RuleSet, diags: &mut Vec<Diagnostic>) -> Report {
    let mut report = Report::default();
    let mut unproved = vec![false; set.rules.len()];
    let mut done: Vec<Vec<usize>> = Vec::new();
    let mut attempts = circle::ATTEMPTS;
    let large: Vec<usize> = (0..set.rules.len())
        .filter(|i| set.rules[*i].canonical.is_none() && !is_small(&set.rules[*i]))
        .collect();
    for i in &large {
        let rule = &set.rules[*i];
        unproved[*i] = true;
        let text = format!(
            "`{}` is too large to be ordered: written out, a term has over {LARGEST} operations",
            rule.name
        );
        let d = Diagnostic::error(codes::NO_ORDER, &set.files[rule.file].0, rule.span, text);
        let d = super::help::with_clause(d, set, rule, CANONICAL, "split the rule, or say");
        super::check::report(set, rule, d, diags);
    }
    for group in 0..set.groups.len() {
        let all: Vec<usize> = (0..set.rules.len())
            .filter(|i| {
                let rule = &set.rules[*i];
                rule.group == group && rule.canonical.is_none() && !large.contains(i)
            })
            .collect();
        // Rules that are never on together may fit into one order all the same.
        if order(set, &rewrites(set, &all)).is_empty() {
            continue;
        }
        for choice in choices(set) {
            let on = |i: &usize| match &set.rules[*i].when {
                Some(cond) => possible(set, cond, choice),
                None => true,
            };
            let rules: Vec<usize> = all.iter().copied().filter(on).collect();
            if rules.is_empty() || done.contains(&rules) {
                continue;
            }
            let rewrites = rewrites(set, &rules);
            for failure in order(set, &rewrites) {
                unproved[rewrites[failure.rewrite].rule] = true;
                tell(set, &rewrites, &failure, &mut attempts, diags);
            }
            done.push(rules);
        }
    }
    for (i, rule) in set.rules.iter().enumerate() {
        match rule.canonical {
            Some(_) => report.canonical.push(i),
            None if unproved[i] => report.unproved.push(i),
            None => report.proved += 1,
        }
    }
    report
}

/// The choices of target options that are looked at, as sets: none, each alone, all.
fn choices(set: &RuleSet) -> impl Iterator<Item = u64> {
    let n = set.options.len().min(63);
    let all = (1u64 << n) - 1;
    let mut list = vec![0];
    list.extend((0..n).map(|i| 1 << i));
    list.push(all);
    list.dedup();
    list.into_iter()
}

/// Whether a condition on target options holds; what isn't an option counts as true.
pub fn possible(set: &RuleSet, cond: &Cond, options: u64) -> bool {
    match cond {
        Cond::And(list) => list.iter().all(|c| possible(set, c, options)),
        Cond::Or(list) => list.iter().any(|c| possible(set, c, options)),
        Cond::Not(c) => !possible(set, c, options),
        Cond::Option(name) => {
            let at = set.options.iter().position(|o| o.0 == *name);
            at.and_then(|i| options.checked_shr(i as u32)).is_some_and(|o| o & 1 != 0)
        }
        Cond::Profit(..) | Cond::Uses(..) | Cond::OnlyUsedAs(..) => true,
    }
}

/// Every alternative of the rules at every tuple of sizes.
fn rewrites(set: &RuleSet, rules: &[usize]) -> Vec<Rewrite> {
    let mut out: Vec<Rewrite> = Vec::new();
    for index in rules {
        let rule = &set.rules[*index];
        for bits in &rule.instances {
            let left = Term::new(set, rule, rule.pattern, bits);
            for alt in &rule.alts {
                let right = Term::new(set, rule, alt.term, bits);
                let chain = !rule.chains.is_empty();
                out.push(Rewrite { left: left.clone(), right, rule: *index, chain });
            }
        }
    }
    out
}

/// The rewrites that are in no order, under the best order found.
fn order(set: &RuleSet, rewrites: &[Rewrite]) -> Vec<Failure> {
    // Rules that multiply operands may need the path order alone.
    let failures = attempt(set, rewrites, true);
    if failures.is_empty() {
        return failures;
    }
    let alone = attempt(set, rewrites, false);
    if alone.len() < failures.len() { alone } else { failures }
}

/// Orders the rewrites one by one, by weight first or, unless `weighed`, by the path order alone.
fn attempt(set: &RuleSet, rewrites: &[Rewrite], weighed: bool) -> Vec<Failure> {
    let commutative = |s: Symbol| s.commutative(set);
    let mut chained: Vec<u32> = Vec::new();
    for rule in rewrites.iter().filter(|r| r.chain).map(|r| &set.rules[r.rule]) {
        let op = |c: &Chain| match &rule.nodes[c.nodes[0]].kind {
            NodeKind::Op { op, .. } => Some(*op as u32),
            _ => None,
        };
        chained.extend(rule.chains.iter().filter_map(op));
    }
    let flat = |s: Symbol| chained.contains(&s.op);
    let mut weights = Weights::new(rewrites, commutative, flat);
    let mut precedence = Precedence::default();
    let mut by_path: Vec<usize> = Vec::new();
    let mut failures = Vec::new();
    let mut pinned = Vec::new();
    let mut repairs = 0;
    for (i, rewrite) in rewrites.iter().enumerate() {
        if weighed {
            let lighter = weights.satisfied(rewrite, Demand::Less);
            if lighter && weights.demand(rewrites, i, Demand::Less).is_ok() {
                continue;
            }
            if let Err(against) = weights.demand(rewrites, i, Demand::NotMore) {
                let why = "its replacement can't be made to weigh no more than its pattern";
                failures.push(Failure { rewrite: i, against, why: why.into() });
                continue;
            }
        }
        if rewrite.chain {
            let why = "its replacement can't be made to weigh less than its pattern, as that of an `ac` must";
            let against = match weighed {
                true => weights.demand(rewrites, i, Demand::Less).err(),
                false => Some(Vec::new()),
            };
            failures.extend(against.map(|against| Failure {
                rewrite: i,
                against,
                why: why.into(),
            }));
            continue;
        }
        if place(&mut precedence, rewrite) {
            by_path.push(i);
            continue;
        }
        if weighed && weights.demand(rewrites, i, Demand::Less).is_ok() {
            continue;
        }
        let other = match repairs < REPAIRS {
            true => rebuilt(rewrites, i, &by_path, &mut pinned),
            false => None,
        };
        repairs += 1;
        match other {
            Some(other) => {
                precedence = other;
                by_path.push(i);
            }
            None => failures.push(blame(set, rewrites, i, &precedence)),
        }
    }
    debug_assert!(
        (0..rewrites.len()).filter(|i| failures.iter().all(|f| f.rewrite != *i)).all(|i| holds(
            &rewrites[i],
            weighed.then(|| (&weights, weights.demanded(i))),
            &precedence
        )),
        "what was ordered stays ordered"
    );
    failures
}

/// Adds a rewrite to the path order, if it fits.
fn place(precedence: &mut Precedence, rewrite: &Rewrite) -> bool {
    let ways = precedence.greater(&rewrite.left, &rewrite.right);
    ways.iter().any(|way| precedence.add(way, rewrite.rule))
}

/// The path order in which a rewrite comes first, each of its ways tried, if the others still fit. What was pinned in
/// this way before stays; the way that fits is pinned as well.
fn rebuilt(
    rewrites: &[Rewrite],
    first: usize,
    others: &[usize],
    pinned: &mut Vec<(usize, Relations)>,
) -> Option<Precedence> {
    let mut base = Precedence::default();
    for (i, way) in pinned.iter() {
        base.add(way, rewrites[*i].rule);
    }
    let rewrite = &rewrites[first];
    for way in base.greater(&rewrite.left, &rewrite.right) {
        let mut precedence = base.clone();
        let fit = precedence.add(&way, rewrite.rule)
            && others.iter().all(|i| place(&mut precedence, &rewrites[*i]));
        if fit {
            pinned.push((first, way));
            return Some(precedence);
        }
    }
    None
}

/// Whether a rewrite is smaller in the order that was found.
fn holds(rewrite: &Rewrite, weights: Option<(&Weights, Demand)>, precedence: &Precedence) -> bool {
    let by_weight = weights.is_none_or(|(w, demand)| match demand {
        Demand::None => false,
        demand => w.satisfied(rewrite, demand),
    });
    let less = matches!(weights, Some((_, Demand::Less)));
    let ways = || precedence.greater(&rewrite.left, &rewrite.right);
    by_weight && (less || ways().iter().any(|way| way.is_empty()))
}

/// Why the path order fails: the smallest set of relations that would do, and who is against it.
fn blame(set: &RuleSet, rewrites: &[Rewrite], i: usize, precedence: &Precedence) -> Failure {
    let rewrite = &rewrites[i];
    let name = |s: Symbol| s.name(set);
    let ways = Precedence::default().greater(&rewrite.left, &rewrite.right);
    let conflicts =
        |way: &Relations| way.iter().find_map(|r| precedence.against(*r).map(|rules| (*r, rules)));
    let Some((relation, against)) = ways.iter().filter_map(conflicts).min_by_key(|c| c.1.len())
    else {
        let same = Precedence::default().equivalent(&rewrite.left, &rewrite.right);
        let why = if same {
            "its replacement is its pattern but for constants and the order of operands".into()
        } else if rewrite.right.contains(&rewrite.left) {
            "its replacement contains its pattern".into()
        } else {
            "its replacement has no less of anything than its pattern".to_string()
        };
        return Failure { rewrite: i, against: Vec::new(), why };
    };
    let (high, low) = (name(relation.high), name(relation.low));
    let why = match relation.equal {
        true => format!("it asks for `{high}` and `{low}` to be equal"),
        false => format!("it asks for `{high}` above `{low}`"),
    };
    Failure { rewrite: i, against, why }
}

/// Reports a rule that is in no order, once for all its instances: with a term that goes round, if there is one.
fn tell(
    set: &RuleSet,
    rewrites: &[Rewrite],
    failure: &Failure,
    attempts: &mut u32,
    diags: &mut Vec<Diagnostic>,
) {
    let index = rewrites[failure.rewrite].rule;
    let rule = &set.rules[index];
    let file = &set.files[rule.file].0;
    let told = |d: &Diagnostic| {
        let whole = d.code == codes::SELF || d.code == codes::NO_ORDER;
        whole && d.file == *file && rule.span.holds(d.span)
    };
    if diags.iter().any(told) {
        return;
    }
    let mut near = vec![index];
    near.extend(failure.against.iter().filter(|r| **r != index));
    let mut all: Vec<usize> = rewrites.iter().map(|r| r.rule).collect();
    all.dedup();
    let circle = circle::find(set, &near, &near, attempts)
        .or_else(|| circle::find(set, &near, &all, attempts));
    let span = rule.nodes[rule.pattern].span.to(rule.nodes[rule.alts[0].term].span);
    let mut others: Vec<(usize, String)> = Vec::new();
    let text = match &circle {
        Some(steps) => {
            let mut text = format!("`{}` goes round: {}", rule.name, steps[0].before);
            for step in steps {
                text += &format!(" => {}", step.after);
                if step.rule != index && !others.iter().any(|o| o.0 == step.rule) {
                    let name = &set.rules[step.rule].name;
                    let text = format!("by `{name}`: {} => {}", step.before, step.after);
                    others.push((step.rule, text));
                }
            }
            text
        }
        None => {
            let against = near[1..].iter().take(3);
            others.extend(against.map(|r| {
                let text = format!("`{}` asks for the opposite", set.rules[*r].name);
                (*r, text)
            }));
            format!("no order makes `{}` come to an end: {}", rule.name, failure.why)
        }
    };
    let mut d = Diagnostic::error(codes::NO_ORDER, file, span, text);
    for (other, text) in &others {
        let other = &set.rules[*other];
        d = d.label_in(&set.files[other.file].0, other.span, text);
    }
    let what = match (&circle, others.is_empty()) {
        (Some(_), true) => "the replacement must not lead back to the pattern",
        (Some(_), false) => "turn one of them round, or let a target option choose between them",
        (None, true) => "no term was found that goes round",
        (None, false) => "turn one of them round; no term was found that goes round",
    };
    let help = format!("{what}; if something else stops it, say");
    let d = super::help::with_clause(d, set, rule, CANONICAL, &help);
    super::check::report(set, rule, d, diags);
}
