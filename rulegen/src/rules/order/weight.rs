//! The first of the two measures: a linear polynomial over the natural numbers.
//!
//! A leaf weighs 1 or more, a constant 1, and `f(x, y)` weighs `w + c·x + d·y` with `w ≥ 1` and `c, d ≥ 1`; the operands
//! of a commutative operation count alike, so that exchanging them changes nothing, and those of an operation whose
//! chains rules match (`ac`) count once, so that a chain weighs the same however it is bracketed. Such a weight grows with each of
//! its parts: a rule whose replacement never weighs more than its pattern makes no term heavier, wherever it is applied.
//! (Lankford, "On proving term rewriting systems are Noetherian", 1979.)
//!
//! The numbers are found by repair: where a rule asks for more than it has, an operation that its pattern has more of
//! becomes heavier, and the rules that build that operation are looked at again. A rule that can only be satisfied at
//! another's cost makes this go on for ever, which the number of steps tells.

use super::term::{Symbol, Term};
use std::collections::HashMap;

/// Steps of repair before a demand is given up.
const STEPS: usize = 300;
/// Largest coefficient.
const MAX_COEF: i64 = 16;

/// A polynomial of degree one: its constant, and the coefficients of the variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Poly {
    constant: i64,
    vars: Vec<i64>,
}

impl Poly {
    fn add(&mut self, factor: i64, other: &Poly) {
        self.constant = self.constant.saturating_add(factor.saturating_mul(other.constant));
        if self.vars.len() < other.vars.len() {
            self.vars.resize(other.vars.len(), 0);
        }
        for (mine, theirs) in self.vars.iter_mut().zip(&other.vars) {
            *mine = mine.saturating_add(factor.saturating_mul(*theirs));
        }
    }
}

/// What an operation weighs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Weight {
    own: i64,
    coefs: Vec<i64>,
    commutative: bool,
    /// Whether the coefficients stay 1, so that the operands of a chain count alike.
    flat: bool,
}

/// What a rule demands of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Nothing yet.
    None,
    /// That the replacement never weighs more.
    NotMore,
    /// That it always weighs less.
    Less,
}

/// A rewrite between two terms.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// The pattern.
    pub left: Term,
    /// The replacement.
    pub right: Term,
    /// The rule, by its index in the set.
    pub rule: usize,
    /// Whether the pattern stands for other terms too, which weigh the same but may be anything to the path order.
    pub chain: bool,
}

/// Weights of operations, and what is demanded of them.
#[derive(Clone, Debug)]
pub struct Weights {
    of: HashMap<Symbol, Weight>,
    demands: Vec<Demand>,
    /// Rewrites by the symbols that occur in them.
    users: HashMap<Symbol, Vec<usize>>,
}

/// How a rewrite changes the weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lack {
    Nothing,
    /// A variable counts more in the replacement.
    Var(usize),
    /// So much weight.
    Weight(i64),
}

impl Weights {
    /// Every operation weighs 1, and nothing is demanded.
    pub fn new(
        rewrites: &[Rewrite],
        commutative: impl Fn(Symbol) -> bool,
        flat: impl Fn(Symbol) -> bool,
    ) -> Weights {
        let mut weights = Weights {
            of: HashMap::new(),
            demands: vec![Demand::None; rewrites.len()],
            users: HashMap::new(),
        };
        for (i, rewrite) in rewrites.iter().enumerate() {
            for side in [&rewrite.left, &rewrite.right] {
                let mut stack = vec![side];
                while let Some(term) = stack.pop() {
                    let Term::App(symbol, args) = term else { continue };
                    weights.of.entry(*symbol).or_insert_with(|| Weight {
                        own: 1,
                        coefs: vec![1; args.len()],
                        commutative: commutative(*symbol),
                        flat: flat(*symbol),
                    });
                    let users = weights.users.entry(*symbol).or_default();
                    if users.last() != Some(&i) {
                        users.push(i);
                    }
                    stack.extend(args);
                }
            }
        }
        weights
    }

    fn poly(&self, term: &Term) -> Poly {
        match term {
            Term::Const => Poly { constant: 1, vars: Vec::new() },
            Term::Var(v) => {
                let mut vars = vec![0; v + 1];
                vars[*v] = 1;
                Poly { constant: 0, vars }
            }
            Term::App(symbol, args) => {
                let weight = &self.of[symbol];
                let mut out = Poly { constant: weight.own, vars: Vec::new() };
                for (arg, coef) in args.iter().zip(&weight.coefs) {
                    out.add(*coef, &self.poly(arg));
                }
                out
            }
        }
    }

    /// The change of weight, and the least that it can be.
    fn slack(&self, rewrite: &Rewrite) -> (Poly, i64) {
        let mut change = self.poly(&rewrite.left);
        change.add(-1, &self.poly(&rewrite.right));
        let least = change.constant + change.vars.iter().sum::<i64>();
        (change, least)
    }

    fn lack(&self, rewrite: &Rewrite, demand: Demand) -> Lack {
        let want = match demand {
            Demand::None => return Lack::Nothing,
            Demand::NotMore => 0,
            Demand::Less => 1,
        };
        let (change, least) = self.slack(rewrite);
        match change.vars.iter().position(|v| *v < 0) {
            Some(var) => Lack::Var(var),
            None if least < want => Lack::Weight(want - least),
            None => Lack::Nothing,
        }
    }

    /// Whether the weights satisfy a demand on a rewrite already.
    pub fn satisfied(&self, rewrite: &Rewrite, demand: Demand) -> bool {
        self.lack(rewrite, demand) == Lack::Nothing
    }

    /// What is demanded of a rewrite.
    pub fn demanded(&self, at: usize) -> Demand {
        self.demands[at]
    }

    /// Makes a demand and repairs the weights. On failure everything is as it was, and the rules that stand against it
    /// are given.
    pub fn demand(
        &mut self,
        rewrites: &[Rewrite],
        at: usize,
        demand: Demand,
    ) -> Result<(), Vec<usize>> {
        let mut against = Vec::new();
        let before = std::mem::replace(&mut self.demands[at], demand);
        for root_first in [true, false] {
            let mut changed = Vec::new();
            match self.repair(rewrites, at, root_first, &mut changed) {
                Ok(()) => return Ok(()),
                Err(rules) => against = rules,
            }
            for (symbol, weight) in changed.into_iter().rev() {
                self.of.insert(symbol, weight);
            }
        }
        self.demands[at] = before;
        Err(against)
    }

    /// Makes operations heavier until every demand is met. What they weighed before is added to `changed`.
    fn repair(
        &mut self,
        rewrites: &[Rewrite],
        at: usize,
        root_first: bool,
        changed: &mut Vec<(Symbol, Weight)>,
    ) -> Result<(), Vec<usize>> {
        let mut todo = vec![at];
        let mut seen: HashMap<usize, usize> = HashMap::new();
        let mut steps = 0;
        let mut ok = true;
        while let Some(i) = todo.pop() {
            let heavier = match self.lack(&rewrites[i], self.demands[i]) {
                Lack::Nothing => continue,
                Lack::Var(var) => self.raise_coefficient(&rewrites[i], var, changed),
                Lack::Weight(by) => self.raise_weight(&rewrites[i], by, root_first, changed),
            };
            steps += 1;
            *seen.entry(i).or_default() += 1;
            let Some(heavier) = heavier.filter(|_| steps < STEPS) else {
                ok = false;
                break;
            };
            todo.push(i);
            todo.extend(self.users[&heavier].iter().filter(|u| **u != i));
        }
        if ok {
            return Ok(());
        }
        // Those that were looked at over and over stand in the circle.
        let most = seen.values().copied().max().unwrap_or(0);
        let mut rules: Vec<usize> =
            seen.iter().filter(|(_, n)| **n * 2 >= most).map(|(i, _)| rewrites[*i].rule).collect();
        rules.sort_unstable();
        rules.dedup();
        Err(rules)
    }

    /// Counts the operand of the root that holds a variable once more.
    fn raise_coefficient(
        &mut self,
        rewrite: &Rewrite,
        var: usize,
        changed: &mut Vec<(Symbol, Weight)>,
    ) -> Option<Symbol> {
        let Term::App(root, args) = &rewrite.left else { return None };
        let arg = args.iter().position(|a| a.has(var))?;
        let weight = self.of.get_mut(root).filter(|w| !w.flat)?;
        changed.push((*root, weight.clone()));
        let twins: &[usize] = if weight.commutative && arg < 2 { &[0, 1] } else { &[arg] };
        for twin in twins {
            weight.coefs[*twin] += 1;
            if weight.coefs[*twin] > MAX_COEF {
                return None;
            }
        }
        Some(*root)
    }

    /// Makes an operation heavier that the pattern has more of than the replacement.
    fn raise_weight(
        &mut self,
        rewrite: &Rewrite,
        by: i64,
        root_first: bool,
        changed: &mut Vec<(Symbol, Weight)>,
    ) -> Option<Symbol> {
        let mut surplus: Vec<(Symbol, i64)> = Vec::new();
        self.count(&rewrite.left, 1, &mut surplus);
        self.count(&rewrite.right, -1, &mut surplus);
        let Term::App(root, _) = &rewrite.left else { return None };
        let root_has = surplus.iter().find(|(s, n)| s == root && *n > 0).copied();
        let most = surplus.iter().copied().filter(|(_, n)| *n > 0).max_by_key(|(_, n)| *n);
        let (symbol, n) = if root_first { root_has.or(most) } else { most.or(root_has) }?;
        let weight = self.of.get_mut(&symbol)?;
        changed.push((symbol, weight.clone()));
        weight.own += (by + n - 1) / n;
        Some(symbol)
    }

    fn count(&self, term: &Term, factor: i64, out: &mut Vec<(Symbol, i64)>) {
        let Term::App(symbol, args) = term else { return };
        match out.iter_mut().find(|(s, _)| s == symbol) {
            Some((_, n)) => *n += factor,
            None => out.push((*symbol, factor)),
        }
        for (arg, coef) in args.iter().zip(&self.of[symbol].coefs) {
            self.count(arg, factor * coef, out);
        }
    }
}
