//! Facts of a rule that can't hold together, or that say nothing.
//!
//! Values are tried: all of them where the variables have 16 bits together, else edges, small numbers and powers of two.
//! The search ends with the first point that satisfies the facts, so it costs little where nothing is wrong.

use super::check::report;
use super::codes;
use super::evaluate::{constant, holds};
use super::model::*;
use crate::diagnostics::Diagnostic;

/// Points of one variable where not all values are tried.
const FEW: usize = 3;

/// Looks at the facts of a rule.
pub(super) fn check(set: &RuleSet, rule: &Rule, diags: &mut Vec<Diagnostic>) {
    used(set, rule, diags);
    if rule.facts.is_empty() {
        return;
    }
    let args = || rule.facts.iter().flat_map(|f| &f.args).copied();
    // One value is tried for a variable, not one for each of its components.
    if args().flat_map(|arg| rule.reachable(arg)).any(|n| rule.nodes[n].swizzle.is_some()) {
        return;
    }
    let vars = variables(rule, args());
    if vars.len() > FEW {
        return;
    }
    let mut seen = Seen { first_false: vec![None; rule.facts.len()], together: None };
    let mut failed: Option<(usize, Vec<u64>)> = None;
    // Edges answer nearly every question; where they don't, all values of small sizes are tried.
    for all in [false, true] {
        for sizes in &rule.instances {
            let total: u32 = vars.iter().map(|v| u32::from(sizes[rule.vars[*v].class])).sum();
            if all && total > 16 {
                continue;
            }
            if !try_instance(set, rule, sizes, (&vars, all), &mut seen, &mut failed) {
                return;
            }
        }
    }
    let names = |values: &[u64]| {
        let list = vars.iter().zip(values);
        list.map(|(v, x)| format!("{} = {x:#x}", rule.vars[*v].name)).collect::<Vec<_>>().join(", ")
    };
    let file = &set.files[rule.file].0;
    if seen.together.is_none() {
        let (at, values) = failed.unwrap_or((0, Vec::new()));
        let text = match at {
            0 => "this fact holds for no value".to_string(),
            _ => format!(
                "these facts hold together for no value: {} satisfies the ones before, not this",
                names(&values)
            ),
        };
        let mut d = Diagnostic::error(codes::FACTS_NEVER, file, rule.facts[at].span, text);
        if at > 0 {
            d = d.label(rule.facts[0].span.to(rule.facts[at - 1].span), "with these");
        }
        report(
            set,
            rule,
            d.help("a rule whose facts never hold never fires: leave out or correct one of them"),
            diags,
        );
        return;
    }
    for (fact, found) in rule.facts.iter().zip(&seen.first_false) {
        if found.is_none() {
            let text = format!(
                "`{}` holds wherever the pattern and the other facts do",
                set.facts[fact.fact].name
            );
            let d = Diagnostic::error(codes::FACT_ALWAYS, file, fact.span, text);
            report(set, rule, super::help::without_fact(d, set, rule, fact.span), diags);
        }
    }
}

/// The variables under some nodes, each once.
fn variables(rule: &Rule, roots: impl Iterator<Item = NodeId>) -> Vec<VarId> {
    let mut vars: Vec<VarId> = Vec::new();
    for node in roots.flat_map(|root| rule.reachable(root)) {
        if let NodeKind::Var(v) = rule.nodes[node].kind
            && !vars.contains(&v)
        {
            vars.push(v);
        }
    }
    vars
}

/// Looks at what a rule says of its users: that they read some bits only, not that they read any.
fn used(set: &RuleSet, rule: &Rule, diags: &mut Vec<Diagnostic>) {
    let Some(used) = rule.used else { return };
    let vars = variables(rule, std::iter::once(used));
    if vars.len() > FEW {
        return;
    }
    for sizes in &rule.instances {
        let all = u64::MAX >> (64 - u32::from(sizes[rule.nodes[used].class]));
        let mut points = Points::new(rule, sizes, &vars, false);
        while let Some(point) = points.next() {
            let value = |v: VarId| vars.iter().position(|w| *w == v).map(|i| point[i]);
            // What can't be computed lets no rule fire.
            if constant(rule, used, sizes, &value).is_some_and(|read| read != all) {
                return;
            }
        }
    }
    let (file, span) = (&set.files[rule.file].0, rule.nodes[used].span);
    let text = "`bits_used` holds whatever users read: it leaves no bit out".to_string();
    report(set, rule, Diagnostic::error(codes::FACT_ALWAYS, file, span, text), diags);
}

/// Values of variables, all combinations in turn.
struct Points {
    lists: Vec<Vec<u64>>,
    at: Vec<usize>,
    over: bool,
}

impl Points {
    fn new(rule: &Rule, sizes: &[u8], vars: &[VarId], all: bool) -> Points {
        let list = |v: &VarId| values(sizes[rule.vars[*v].class], all, vars.len());
        Points { lists: vars.iter().map(list).collect(), at: vec![0; vars.len()], over: false }
    }

    fn next(&mut self) -> Option<Vec<u64>> {
        if self.over {
            return None;
        }
        let point = self.at.iter().zip(&self.lists).map(|(i, list)| list[*i]).collect();
        let digit = (0..self.at.len()).find(|d| self.at[*d] + 1 < self.lists[*d].len());
        match digit {
            Some(digit) => {
                self.at[..digit].fill(0);
                self.at[digit] += 1;
            }
            None => self.over = true,
        }
        Some(point)
    }
}

struct Seen {
    /// For each fact, values at which all others hold and it doesn't.
    first_false: Vec<Option<Vec<u64>>>,
    /// Values at which all hold.
    together: Option<Vec<u64>>,
}

impl Seen {
    /// Whether every question is answered.
    fn all(&self) -> bool {
        self.together.is_some() && self.first_false.iter().all(Option::is_some)
    }
}

/// Tries the values of an instance until every question is answered. False if some fact can't be evaluated.
fn try_instance(
    set: &RuleSet,
    rule: &Rule,
    sizes: &[u8],
    (vars, all): (&[VarId], bool),
    seen: &mut Seen,
    failed: &mut Option<(usize, Vec<u64>)>,
) -> bool {
    if seen.all() {
        return true;
    }
    let mut points = Points::new(rule, sizes, vars, all);
    while let Some(point) = points.next() {
        if seen.all() {
            return true;
        }
        let value = |v: VarId| vars.iter().position(|w| *w == v).map(|i| point[i]);
        let mut wrong = Vec::new();
        for fact in 0..rule.facts.len() {
            match holds(set, rule, fact, sizes, &value) {
                Some(true) => {}
                Some(false) => wrong.push(fact),
                None => return false,
            }
        }
        match wrong.as_slice() {
            [] => seen.together = seen.together.take().or(Some(point)),
            [first, ..] => {
                if failed.as_ref().is_none_or(|f| f.0 < *first) {
                    *failed = Some((*first, point.clone()));
                }
                if wrong.len() == 1 {
                    let slot = &mut seen.first_false[*first];
                    *slot = slot.take().or(Some(point));
                }
            }
        }
    }
    true
}

/// Values of a size: all, or edges, small ones and powers of two, and the same of floats; fewer where there are more
/// variables.
fn values(bits: u8, all: bool, vars: usize) -> Vec<u64> {
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    if all {
        return (0..=mask).collect();
    }
    let small = match vars {
        1 => 300,
        2 => 66,
        _ => 18,
    };
    let mut out: Vec<u64> = (0..small.min(mask)).collect();
    for n in 0..u32::from(bits) {
        let power = 1u64 << n;
        out.extend([power, power - 1, power.wrapping_neg() & mask, !power & mask]);
    }
    for f in [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 1e4, f64::INFINITY, f64::NAN, 1e-4] {
        for f in [f, -f] {
            out.extend(Literal::Float(f.to_bits()).encode(crate::expr::Base::Float, bits));
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}
