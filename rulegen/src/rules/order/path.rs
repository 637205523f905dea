//! The second measure: a recursive path order with multiset status (Dershowitz, "Orderings for term-rewriting systems",
//! 1982), over a quasi-precedence of symbols in which constants are least.
//!
//! Operands are compared as multisets, so that terms which differ in the order of operands are equal, and exchanging the
//! operands of a commutative operation changes nothing. The precedence isn't written down anywhere: each rewrite gives
//! the sets of relations under which its pattern is the greater one, and the first set is taken that doesn't contradict
//! what earlier rewrites took.

use super::term::{Symbol, Term};
use std::collections::HashMap;

/// Sets of relations that are kept of one rewrite.
const MOST: usize = 48;
/// Comparisons of subterms that one rewrite may take; beyond them no way is found.
const STEPS: u32 = 20_000;

/// What is known of pairs of subterms while one rewrite is looked at.
struct Search {
    known: HashMap<(*const Term, *const Term), Vec<Relations>>,
    steps: u32,
}

/// A relation between two symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relation {
    /// The greater, or one of two equals.
    pub high: Symbol,
    /// The lesser, or the other.
    pub low: Symbol,
    /// Whether they are equal.
    pub equal: bool,
}

/// A set of relations.
pub type Relations = Vec<Relation>;

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: usize,
    strict: bool,
    rule: usize,
}

/// The precedence found so far.
#[derive(Clone, Debug, Default)]
pub struct Precedence {
    number: HashMap<Symbol, usize>,
    edges: Vec<Vec<Edge>>,
}

impl Precedence {
    fn at(&mut self, symbol: Symbol) -> usize {
        let next = self.number.len();
        let at = *self.number.entry(symbol).or_insert(next);
        if at == next {
            self.edges.push(Vec::new());
        }
        at
    }

    /// The strictest path from one symbol down to another: whether it is strict, and the rules that asked for it.
    fn path(&self, from: Symbol, to: Symbol) -> Option<(bool, Vec<usize>)> {
        let (from, to) = (*self.number.get(&from)?, *self.number.get(&to)?);
        let mut best: HashMap<(usize, bool), Vec<usize>> = HashMap::new();
        let mut stack = vec![(from, false, Vec::new())];
        while let Some((at, strict, rules)) = stack.pop() {
            if best.contains_key(&(at, strict)) {
                continue;
            }
            for edge in &self.edges[at] {
                let mut rules = rules.clone();
                if !rules.contains(&edge.rule) {
                    rules.push(edge.rule);
                }
                stack.push((edge.to, strict || edge.strict, rules));
            }
            best.insert((at, strict), rules);
        }
        let strict = best.remove(&(to, true)).map(|rules| (true, rules));
        strict.or_else(|| best.remove(&(to, false)).map(|rules| (false, rules)))
    }

    /// Whether a path leads from one symbol down to another, and whether one of them is strict.
    fn reaches(&self, from: Symbol, to: Symbol) -> Option<bool> {
        let (from, to) = (*self.number.get(&from)?, *self.number.get(&to)?);
        let mut seen = vec![0u8; self.edges.len()];
        let mut stack = vec![(from, 1u8)];
        while let Some((at, mark)) = stack.pop() {
            // A strict path says more than one that isn't.
            if seen[at] >= mark {
                continue;
            }
            seen[at] = mark;
            stack.extend(self.edges[at].iter().map(|e| (e.to, if e.strict { 2 } else { mark })));
        }
        (seen[to] > 0).then_some(seen[to] == 2)
    }

    fn above(&self, a: Symbol, b: Symbol) -> bool {
        a != b && self.reaches(a, b) == Some(true)
    }

    fn equal(&self, a: Symbol, b: Symbol) -> bool {
        a == b || self.reaches(a, b) == Some(false)
    }

    /// The rules that stand against a relation, if any do.
    pub fn against(&self, relation: Relation) -> Option<Vec<usize>> {
        let Relation { high, low, equal } = relation;
        if let Some((_, rules)) = self.path(low, high).filter(|p| p.0 || !equal) {
            return Some(rules);
        }
        self.path(high, low).filter(|p| p.0 && equal).map(|p| p.1)
    }

    /// Adds relations for a rule, all or none.
    pub fn add(&mut self, relations: &[Relation], rule: usize) -> bool {
        let before = self.edges.iter().map(Vec::len).collect::<Vec<_>>();
        for r in relations {
            let up = self.reaches(r.low, r.high);
            let down = self.reaches(r.high, r.low);
            if up == Some(true) || !r.equal && up.is_some() || r.equal && down == Some(true) {
                for (edges, n) in
                    self.edges.iter_mut().zip(before.iter().chain(std::iter::repeat(&0)))
                {
                    edges.truncate(*n);
                }
                return false;
            }
            let (high, low) = (self.at(r.high), self.at(r.low));
            self.edges[high].push(Edge { to: low, strict: !r.equal, rule });
            if r.equal {
                self.edges[low].push(Edge { to: high, strict: false, rule });
            }
        }
        true
    }

    /// The sets of relations to be added under which `s` is greater than `t`, the smallest first; none if there are
    /// none.
    pub fn greater(&self, s: &Term, t: &Term) -> Vec<Relations> {
        self.search(s, t, &mut Search { known: HashMap::new(), steps: STEPS })
    }

    fn search(&self, s: &Term, t: &Term, search: &mut Search) -> Vec<Relations> {
        // Subterms stay where they are while a rewrite is looked at, so that their addresses tell them apart.
        let key = (std::ptr::from_ref(s), std::ptr::from_ref(t));
        if let Some(known) = search.known.get(&key) {
            return known.clone();
        }
        let Some(steps) = search.steps.checked_sub(1) else { return Vec::new() };
        search.steps = steps;
        let mut out = match (s, t) {
            (Term::App(..), Term::Const) => vec![Vec::new()],
            (Term::App(..), Term::Var(v)) => match s.has(*v) {
                true => vec![Vec::new()],
                false => Vec::new(),
            },
            (Term::App(f, ss), Term::App(g, ts)) => {
                // An operand is as great already.
                let mut out: Vec<Relations> =
                    ss.iter().flat_map(|operand| self.at_least(operand, t, search)).collect();
                if f != g && !self.equal(*f, *g) && !self.above(*g, *f) {
                    // The symbol is greater, and so is the term than each operand of the other.
                    let mut first = Vec::new();
                    if !self.above(*f, *g) {
                        first.push(Relation { high: *f, low: *g, equal: false });
                    }
                    let each = ts.iter().map(|t| self.search(s, t, search)).collect();
                    out.extend(product(vec![first], each));
                }
                if self.equal(*f, *g) {
                    out.extend(self.multiset(ss, ts, search));
                } else if !self.above(*f, *g) && !self.above(*g, *f) {
                    let equal = Relation { high: *f, low: *g, equal: true };
                    out.extend(product(vec![vec![equal]], vec![self.multiset(ss, ts, search)]));
                }
                out
            }
            _ => Vec::new(),
        };
        tidy(&mut out);
        search.known.insert(key, out.clone());
        out
    }

    fn at_least(&self, s: &Term, t: &Term, search: &mut Search) -> Vec<Relations> {
        match self.equivalent(s, t) || *t == Term::Const {
            true => vec![Vec::new()],
            false => self.search(s, t, search),
        }
    }

    /// Whether two terms are equal but for the order of operands and equal symbols.
    pub fn equivalent(&self, s: &Term, t: &Term) -> bool {
        match (s, t) {
            (Term::App(f, ss), Term::App(g, ts)) => {
                let mut left: Vec<&Term> = ts.iter().collect();
                ss.len() == ts.len()
                    && self.equal(*f, *g)
                    && ss.iter().all(|s| {
                        let found = left.iter().position(|t| self.equivalent(s, t));
                        found.map(|i| left.swap_remove(i)).is_some()
                    })
            }
            _ => s == t,
        }
    }

    /// The multiset `ss` is greater than `ts`: what is left of both without equals is such that each of the second is
    /// below one of the first, and the first is not empty.
    fn multiset(&self, ss: &[Term], ts: &[Term], search: &mut Search) -> Vec<Relations> {
        let mut ss: Vec<&Term> = ss.iter().collect();
        let mut rest: Vec<&Term> = Vec::new();
        for t in ts {
            match ss.iter().position(|s| self.equivalent(s, t)) {
                Some(i) => drop(ss.remove(i)),
                None => rest.push(t),
            }
        }
        // A constant is below or equal to anything: a term that nothing else needs takes it, but then counts as equal.
        rest.sort_by_key(|t| **t == Term::Const);
        let mut out = Vec::new();
        let mut roles = vec![Role::Free; ss.len()];
        self.cover((&ss, &rest), &mut roles, Vec::new(), &mut out, search);
        out
    }

    /// Covers each of `ts` by one of `ss`: strictly, or as a constant that a variable takes for its equal.
    fn cover(
        &self,
        (ss, ts): (&[&Term], &[&Term]),
        roles: &mut Vec<Role>,
        so_far: Relations,
        out: &mut Vec<Relations>,
        search: &mut Search,
    ) {
        let Some((t, rest)) = ts.split_first() else {
            if roles.iter().any(|r| *r != Role::Equal) {
                out.push(so_far);
            }
            return;
        };
        for i in 0..ss.len() {
            if out.len() >= MOST || search.steps == 0 {
                return;
            }
            search.steps -= 1;
            let role = roles[i];
            if role == Role::Equal {
                continue;
            }
            for more in self.search(ss[i], t, search) {
                roles[i] = Role::Greater;
                let mut next = so_far.clone();
                next.extend(more);
                self.cover((ss, rest), roles, next, out, search);
            }
            roles[i] = role;
            if **t == Term::Const && matches!(ss[i], Term::Var(_)) && role == Role::Free {
                roles[i] = Role::Equal;
                self.cover((ss, rest), roles, so_far.clone(), out, search);
                roles[i] = role;
            }
        }
    }
}

/// What an operand does in a comparison of multisets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Nothing yet.
    Free,
    /// It is above some of the others.
    Greater,
    /// It stands for one of the others.
    Equal,
}

/// Every way of taking one set of each list.
fn product(first: Vec<Relations>, lists: Vec<Vec<Relations>>) -> Vec<Relations> {
    lists.into_iter().fold(first, |done, list| {
        let mut out = Vec::new();
        for a in &done {
            for b in &list {
                let mut both = a.clone();
                both.extend(b);
                out.push(both);
            }
        }
        tidy(&mut out);
        out
    })
}

/// Sorts, smallest first, without repetitions, and keeps the smallest.
fn tidy(sets: &mut Vec<Relations>) {
    for set in sets.iter_mut() {
        set.sort_unstable();
        set.dedup();
    }
    sets.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    sets.dedup();
    sets.truncate(MOST);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duals_are_made_equal() {
        let symbol = |op| Symbol { op, bits: 32 };
        let (floor, ceil, neg) = (symbol(0), symbol(1), symbol(2));
        let app = |s, t| Term::App(s, vec![t]);
        let side = |f, g| (app(f, app(neg, Term::Var(0))), app(neg, app(g, Term::Var(0))));
        let (l, r) = side(floor, ceil);
        let mut precedence = Precedence::default();
        let ways = precedence.greater(&l, &r);
        let way = ways.iter().find(|w| w.iter().any(|r| r.equal)).unwrap();
        assert!(precedence.add(way, 0));
        let (l, r) = side(ceil, floor);
        assert_eq!(precedence.greater(&l, &r), [vec![]]);
    }
}
