//! A term that goes round, for rules that are in no order.
//!
//! Terms are made of the left sides of the rules that stand against each other: a variable is any value, a number, or
//! the same as another variable. What the rules make of them is looked at step by step, operations of numbers folded,
//! until a term contains one that it came from. Some rules go round where this doesn't see it, and rules may be in no
//! order and yet come to an end: then there is no such term.

use super::Symbol;
use crate::expr::Base;
use crate::rules::evaluate::{self, evaluate, holds};
use crate::rules::model::*;
use std::collections::HashMap;

/// Attempts at matching for all the terms of one rule set.
pub const ATTEMPTS: u32 = 40_000;
/// Terms that are looked at from one start.
const TERMS: usize = 120;
/// Nodes of the largest term.
const NODES: usize = 48;
/// Variables that are given numbers; more than that are left as they are.
const VARS: usize = 4;
/// Choices of what the variables stand for that are made at once; more variables all stand for the first of theirs.
const CHOICES: usize = 1_000;

/// A term without variables; a value is something that no rule looks into.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ground {
    Value(VarId, u8),
    Number(u64, u8),
    App { op: usize, symbol: Symbol, bits: u8, args: Vec<Ground> },
}

impl Ground {
    fn bits(&self) -> u8 {
        match self {
            Ground::Value(_, bits) | Ground::Number(_, bits) | Ground::App { bits, .. } => *bits,
        }
    }

    fn args(&self) -> &[Ground] {
        match self {
            Ground::App { args, .. } => args,
            _ => &[],
        }
    }

    fn size(&self) -> usize {
        1 + self.args().iter().map(Ground::size).sum::<usize>()
    }
}

/// A rewrite of a term.
pub struct Step {
    /// The rule, by its index in the set.
    pub rule: usize,
    /// The whole term before it.
    pub before: String,
    /// The whole term behind it.
    pub after: String,
}

/// A term that was reached.
struct Reached {
    term: Ground,
    /// The rule, and the index of the term that it was made of.
    from: Option<(usize, usize)>,
}

struct Search<'a> {
    set: &'a RuleSet,
    attempts: &'a mut u32,
}

/// What the variables of a rule stand for.
type Bound = Vec<Option<Ground>>;

/// Steps by `rules` that lead round, of which the first of `starts` takes part, from terms that these match.
pub fn find(
    set: &RuleSet,
    starts: &[usize],
    rules: &[usize],
    attempts: &mut u32,
) -> Option<Vec<Step>> {
    let mut search = Search { set, attempts };
    for start in starts.iter().map(|start| &set.rules[*start]) {
        // The size that people think in comes first.
        let usual = |sizes: &&Vec<u8>| sizes[start.nodes[start.pattern].class] == 32;
        let first = start.instances.iter().filter(usual);
        for sizes in first.chain(start.instances.iter().filter(|s| !usual(s))) {
            for bound in search.values(start, sizes) {
                let Some(term) = search.build(start, sizes, start.pattern, &bound) else {
                    continue;
                };
                let steps = search.from(start, term, rules, starts[0]);
                if steps.is_some() || *search.attempts == 0 {
                    return steps;
                }
            }
        }
    }
    None
}

impl Search<'_> {
    /// What the variables of a rule may stand for, simplest first.
    fn values(&self, rule: &Rule, sizes: &[u8]) -> Vec<Bound> {
        let is_value = |var: &Var| var.kind == VarKind::Value;
        let few = rule.vars.iter().filter(|v| is_value(v)).count() <= VARS;
        let mut out: Vec<Bound> = vec![Vec::new()];
        for (i, var) in rule.vars.iter().enumerate() {
            let bits = sizes[var.class];
            let literals = match var.base {
                Base::Float => [2.0f64, 1.0, 0.5].map(|f| Literal::Float(f.to_bits())),
                Base::Bool => [true, false, true].map(Literal::Bool),
                _ => [2, 1, 4].map(Literal::Int),
            };
            let encoded = literals.iter().filter_map(|l| l.encode(var.base, bits).ok());
            let mut numbers = encoded.map(|n| Some(Ground::Number(n, bits)));
            let mut list: Bound = match var.kind {
                VarKind::Bound(_) => vec![None],
                VarKind::Const => numbers.collect(),
                VarKind::Value => {
                    let mut list = vec![Some(Ground::Value(i, bits))];
                    if few {
                        list.extend(numbers.next());
                        let same = |v: &&Var| is_value(v) && sizes[v.class] == bits;
                        let twin = rule.vars[..i].iter().position(|v| same(&v));
                        list.extend(twin.map(|j| Some(Ground::Value(j, bits))));
                    }
                    list
                }
            };
            if out.len() * list.len() > CHOICES {
                list.truncate(1);
            }
            let longer = |values: &Bound| -> Vec<Bound> {
                list.iter().map(|v| values.iter().chain([v]).cloned().collect()).collect()
            };
            out = out.iter().flat_map(longer).collect();
        }
        out.retain(|bound| self.facts(rule, sizes, bound));
        out
    }

    /// Whether no fact is known not to hold.
    fn facts(&self, rule: &Rule, sizes: &[u8], bound: &[Option<Ground>]) -> bool {
        let value = |v: VarId| match bound.get(v) {
            Some(Some(Ground::Number(n, _))) => Some(*n),
            _ => None,
        };
        (0..rule.facts.len()).all(|f| holds(self.set, rule, f, sizes, &value) != Some(false))
    }

    /// The term of a node; `None` if it has a constant whose value isn't known.
    fn build(
        &self,
        rule: &Rule,
        sizes: &[u8],
        node: NodeId,
        bound: &[Option<Ground>],
    ) -> Option<Ground> {
        let n = &rule.nodes[node];
        match &n.kind {
            NodeKind::Var(v) => match rule.vars[*v].kind {
                VarKind::Bound(at) => self.build(rule, sizes, at, bound),
                _ => bound[*v].clone(),
            },
            NodeKind::Ref(of) => self.build(rule, sizes, *of, bound),
            NodeKind::Literal(..) | NodeKind::Compute { .. } => {
                let value = |v: VarId| match &bound[v] {
                    Some(Ground::Number(n, _)) => Some(*n),
                    _ => None,
                };
                let bits = sizes[n.class];
                evaluate::constant(rule, node, sizes, &value).map(|v| Ground::Number(v, bits))
            }
            NodeKind::Op { op, args, .. } => {
                let sig = self.set.ops.get(*op);
                let terms: Option<Vec<Ground>> =
                    args.iter().map(|a| self.build(rule, sizes, *a, bound)).collect();
                let mut terms = terms?;
                if sig.moves && terms.len() == 1 {
                    return terms.pop();
                }
                let symbol = Symbol::of(sig, *op, rule, node, sizes);
                Some(self.folded(*op, symbol, sizes[n.class], terms))
            }
            // Circles are looked for among terms of arithmetic.
            NodeKind::Outside { .. } | NodeKind::Undef => None,
        }
    }

    /// An operation, or its value.
    fn folded(&self, op: usize, symbol: Symbol, bits: u8, args: Vec<Ground>) -> Ground {
        let number = |g: &Ground| match g {
            Ground::Number(n, _) => Some(*n),
            _ => None,
        };
        let numbers: Option<Vec<u64>> = args.iter().map(number).collect();
        let eval = self.set.ops.get(op).eval.as_ref();
        let value = numbers.zip(eval).and_then(|(n, e)| evaluate(e, symbol.bits.into(), &n));
        match value {
            Some(value) => Ground::Number(value, bits),
            None => Ground::App { op, symbol, bits, args },
        }
    }

    /// Whether a node of a pattern matches a term.
    fn matches(
        &mut self,
        (rule, sizes): (&Rule, &[u8]),
        node: NodeId,
        term: &Ground,
        bound: &mut Bound,
    ) -> bool {
        *self.attempts = self.attempts.saturating_sub(1);
        let n = &rule.nodes[node];
        if *self.attempts == 0 || sizes[n.class] != term.bits() {
            return false;
        }
        match &n.kind {
            NodeKind::Var(v) => match (rule.vars[*v].kind, term) {
                (VarKind::Bound(at), _) => self.matches((rule, sizes), at, term, bound),
                (VarKind::Const, Ground::Value(..) | Ground::App { .. }) => false,
                _ => bound[*v].get_or_insert_with(|| term.clone()) == term,
            },
            NodeKind::Ref(of) => self.matches((rule, sizes), *of, term, bound),
            NodeKind::Literal(l, base) => {
                let bits = sizes[n.class];
                l.encode(*base, bits).is_ok_and(|v| *term == Ground::Number(v, bits))
            }
            NodeKind::Compute { .. } | NodeKind::Outside { .. } | NodeKind::Undef => false,
            NodeKind::Op { op, args, .. } => {
                let sig = self.set.ops.get(*op);
                let (moves, commutative) = (sig.moves, sig.commutative);
                if moves && args.len() == 1 {
                    return self.matches((rule, sizes), args[0], term, bound);
                }
                let Ground::App { op: other, symbol, args: terms, .. } = term else { return false };
                if op != other || Symbol::of(sig, *op, rule, node, sizes) != *symbol {
                    return false;
                }
                let orders: &[[usize; 2]] = if commutative { &[[0, 1], [1, 0]] } else { &[[0, 1]] };
                orders.iter().any(|order| {
                    let mut trial = bound.clone();
                    let all = args.iter().enumerate().all(|(i, arg)| {
                        let j = if i < 2 && args.len() > 1 { order[i] } else { i };
                        self.matches((rule, sizes), *arg, &terms[j], &mut trial)
                    });
                    if all {
                        *bound = trial;
                    }
                    all
                })
            }
        }
    }

    /// What rules make of a term in one step, anywhere in it.
    fn steps(&mut self, term: &Ground, rules: &[usize]) -> Vec<(usize, Ground)> {
        let mut out = Vec::new();
        let Ground::App { op, symbol, bits, args } = term else { return out };
        for index in rules {
            let rule = &self.set.rules[*index];
            let root = match &rule.nodes[rule.pattern].kind {
                NodeKind::Op { op, .. } => *op,
                _ => continue,
            };
            if root != *op {
                continue;
            }
            for sizes in &rule.instances {
                let mut bound = vec![None; rule.vars.len()];
                if self.matches((rule, sizes), rule.pattern, term, &mut bound)
                    && self.facts(rule, sizes, &bound)
                {
                    let made = rule.alts.iter();
                    let made = made.filter_map(|a| self.build(rule, sizes, a.term, &bound));
                    out.extend(made.map(|t| (*index, t)));
                    break;
                }
            }
        }
        for (i, arg) in args.iter().enumerate() {
            for (rule, new) in self.steps(arg, rules) {
                let mut args = args.clone();
                args[i] = new;
                out.push((rule, self.folded(*op, *symbol, *bits, args)));
            }
        }
        out
    }

    /// Steps from a term that lead round and have a rule among them.
    fn from(
        &mut self,
        start: &Rule,
        term: Ground,
        rules: &[usize],
        rule: usize,
    ) -> Option<Vec<Step>> {
        let mut reached = vec![Reached { term, from: None }];
        let mut next = 0;
        while next < reached.len() {
            let term = reached[next].term.clone();
            for (by, new) in self.steps(&term, rules) {
                let mut way = vec![(by, next)];
                while let Some(last) = reached[way[way.len() - 1].1].from {
                    way.push(last);
                }
                // From the nearest on, so that what leads up to the circle is left out.
                let round = |(_, old): &(usize, usize)| self.has(&new, &reached[*old].term);
                if let Some(n) = way.iter().position(round) {
                    let part = &way[..=n];
                    if part.iter().any(|(by, _)| *by == rule) {
                        return Some(self.told(start, &reached, part, &new));
                    }
                }
                let known = reached.iter().any(|r| r.term == new);
                if !known && new.size() <= NODES && reached.len() < TERMS {
                    reached.push(Reached { term: new, from: Some((by, next)) });
                }
            }
            next += 1;
        }
        None
    }

    /// The steps of a way, which is given backwards, in words.
    fn told(
        &self,
        start: &Rule,
        reached: &[Reached],
        way: &[(usize, usize)],
        last: &Ground,
    ) -> Vec<Step> {
        let mut after = self.show(start, last, Base::Uint);
        let mut out = Vec::new();
        for (rule, from) in way {
            let before = self.show(start, &reached[*from].term, Base::Uint);
            out.push(Step { rule: *rule, after, before: before.clone() });
            after = before;
        }
        out.reverse();
        out
    }

    /// A term as in a rule, its values by the names that they have in the rule they come from.
    fn show(&self, names: &Rule, term: &Ground, base: Base) -> String {
        match term {
            Ground::Value(v, _) => names.vars[*v].name.clone(),
            Ground::Number(n, bits) => match base {
                Base::Float => format!("{:?}", evaluate::float(*n, (*bits).into())),
                Base::Bool => (*n != 0).to_string(),
                _ if *n == u64::MAX >> (64 - u32::from(*bits)) => "-1".into(),
                _ if *n < 1024 => n.to_string(),
                _ => format!("{n:#x}"),
            },
            Ground::App { op, args, .. } => {
                let sig = self.set.ops.get(*op);
                let args = args.iter().zip(&sig.inputs);
                let args: Vec<String> = args.map(|(a, ty)| self.show(names, a, ty.base)).collect();
                format!("{}({})", sig.name, args.join(", "))
            }
        }
    }

    /// Whether a term contains another, whose values may stand for anything.
    fn has(&self, term: &Ground, other: &Ground) -> bool {
        self.instance(other, term, &mut HashMap::new())
            || term.args().iter().any(|a| self.has(a, other))
    }

    fn instance<'t>(
        &self,
        of: &Ground,
        term: &'t Ground,
        bound: &mut HashMap<VarId, &'t Ground>,
    ) -> bool {
        match (of, term) {
            // An operation of numbers would be folded.
            (Ground::Value(..), Ground::Number(..)) => false,
            (Ground::Value(v, bits), _) => {
                *bits == term.bits() && *bound.entry(*v).or_insert(term) == term
            }
            (
                Ground::App { symbol: f, args: ss, op, .. },
                Ground::App { symbol: g, args: ts, .. },
            ) if f == g && ss.len() == ts.len() => {
                let twice = self.set.ops.get(*op).commutative;
                let orders: &[[usize; 2]] = if twice { &[[0, 1], [1, 0]] } else { &[[0, 1]] };
                orders.iter().any(|order| {
                    let mut trial = bound.clone();
                    let all = ss.iter().enumerate().all(|(i, s)| {
                        let j = if i < 2 && ss.len() > 1 { order[i] } else { i };
                        self.instance(s, &ts[j], &mut trial)
                    });
                    if all {
                        *bound = trial;
                    }
                    all
                })
            }
            _ => of == term,
        }
    }
}
