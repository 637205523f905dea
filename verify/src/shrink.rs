//! A counterexample as a person wants it: inputs become 0, 1 and their like where the rule is wrong there too.
//!
//! First points are tried at which every input is plain, then those at which all but one are. Where a rule has too many
//! inputs for that, or none of those points is a counterexample, the inputs of the one that was found become plainer one
//! after the other, and what is left of them loses bits.

use crate::edges::Read;
use crate::{is_input, point};
use deburr_algebraic::interp::expr::{Out, Value};
use deburr_algebraic::interp::term::{Inputs, Terms};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::Rule;
use std::cell::Cell;

/// A counterexample: inputs, what the pattern may give, what the replacement gives.
pub(crate) struct Counterexample {
    pub(crate) point: Inputs,
    pub(crate) before: Vec<Value>,
    pub(crate) after: Value,
}

impl Counterexample {
    /// Whether the replacement's result is a value, which can be shown, and not that anything may come out.
    fn is_definite(&self) -> bool {
        self.after.iter().all(|o| matches!(o, Out::Bits(_)))
    }
}

/// Values that count as plain, of those that [`plainest`] gives.
const PLAIN: usize = 3;

/// Most points tried, of each kind, where the pattern has one result; fewer where it takes long to list them.
const MOST: usize = 400;

/// One component of an input, and values that are plainer than others, plainest first.
struct Slot {
    var: usize,
    comp: usize,
    bits: u8,
    float: bool,
    values: Vec<u64>,
}

impl Slot {
    fn plain(&self) -> &[u64] {
        &self.values[..self.values.len().min(PLAIN)]
    }

    /// Values between plain ones and whatever a point has.
    fn other(&self) -> &[u64] {
        &self.values[self.values.len().min(PLAIN)..]
    }

    fn set(&self, point: &mut Inputs, value: u64) {
        point[self.var][self.comp] = Out::Bits(value);
    }

    fn of(&self, point: &Inputs) -> Out {
        point[self.var][self.comp]
    }
}

struct Shrink<'a> {
    rule: &'a Rule,
    terms: &'a Terms<'a>,
    bits: &'a [u8],
    approximate: Option<&'a [Read]>,
    /// Whether the replacement's result is to be a value.
    definite: bool,
    /// Most points tried, of each kind.
    most: usize,
    slots: Vec<Slot>,
}

/// The counterexample with plainer inputs. Where the replacement's result was a value, it still is.
pub(crate) fn shrink(
    rule: &Rule,
    terms: &Terms<'_>,
    bits: &[u8],
    approximate: Option<&[Read]>,
    found: Counterexample,
) -> Counterexample {
    let mut slots = Vec::new();
    for (v, var) in rule.vars.iter().enumerate().filter(|(v, _)| is_input(rule, *v)) {
        let bits = terms.class_bits(var.class);
        let float = var.base == Base::Float && bits >= 16;
        let values = plainest(var.base, bits);
        let slot = |comp| Slot { var: v, comp, bits, float, values: values.clone() };
        slots.extend((0..found.point[v].len()).map(slot));
    }
    let definite = found.is_definite();
    let most = MOST / found.before.len().clamp(1, 8);
    let it = Shrink { rule, terms, bits, approximate, definite, most, slots };
    it.all_plain(&found)
        .or_else(|| it.all_but_one(&found))
        .unwrap_or_else(|| it.step_by_step(found))
}

impl Shrink<'_> {
    /// The counterexample at a point, if it is one.
    fn at(&self, point: Inputs) -> Option<Counterexample> {
        if !self.terms.facts_hold(&point) {
            return None;
        }
        match point::check(self.rule, self.terms, &point, self.bits, self.approximate) {
            point::Outcome::Differs { before, after } => {
                let new = Counterexample { point, before, after };
                Some(new).filter(|new| new.is_definite() || !self.definite)
            }
            _ => None,
        }
    }

    /// The first counterexample with a result that is a value, else the first.
    fn first(&self, points: impl Iterator<Item = Inputs>) -> Option<Counterexample> {
        let mut vague = None;
        for new in points.filter_map(|point| self.at(point)) {
            if new.is_definite() {
                return Some(new);
            }
            vague = vague.or(Some(new));
        }
        vague
    }

    fn all_plain(&self, found: &Counterexample) -> Option<Counterexample> {
        let slots: Vec<&Slot> = self.slots.iter().collect();
        let count = combinations(&slots);
        if count > self.most {
            return None;
        }
        self.first((0..count).map(|n| combined(&slots, n, found.point.clone())))
    }

    fn all_but_one(&self, found: &Counterexample) -> Option<Counterexample> {
        let others = |one: &Slot| -> Vec<&Slot> {
            self.slots.iter().filter(|s| (s.var, s.comp) != (one.var, one.comp)).collect()
        };
        let values = |one: &Slot| {
            let own = match one.of(&found.point) {
                Out::Bits(v) => Some(v),
                Out::AnyNan | Out::Any | Out::Poison => None,
            };
            let listed = one.other().iter().copied();
            listed.chain(own.filter(|v| !one.values.contains(v))).collect::<Vec<u64>>()
        };
        let count = |one: &Slot| combinations(&others(one)).saturating_mul(values(one).len());
        if self.slots.iter().map(count).fold(0, usize::saturating_add) > self.most {
            return None;
        }
        // The plainest value of whichever it is first.
        let rank = |one: &Slot| values(one).len();
        let most = self.slots.iter().map(rank).max().unwrap_or(0);
        let places = (0..most).flat_map(|n| self.slots.iter().map(move |one| (n, one)));
        self.first(places.flat_map(|(n, one)| {
            let rest = others(one);
            let value = values(one).get(n).copied();
            let tried = value.map_or(0, |_| combinations(&rest));
            (0..tried).map(move |which| {
                let mut point = combined(&rest, which, found.point.clone());
                one.set(&mut point, value.unwrap_or_default());
                point
            })
        }))
        .map(|found| self.fewer_bits(found))
    }

    /// Each input in turn becomes the plainest value that leaves a counterexample, until none changes.
    fn step_by_step(&self, found: Counterexample) -> Counterexample {
        let mut best = found;
        loop {
            let mut changed = false;
            for s in &self.slots {
                let now = s.of(&best.point);
                let plainer = s.values.iter().copied().take_while(|v| Out::Bits(*v) != now);
                let better = plainer.filter_map(|v| self.with(s, v, &best)).next();
                if let Some(new) = better {
                    (best, changed) = (new, true);
                }
            }
            // An input only ever moves up its list, so this comes to an end.
            if !changed {
                return self.fewer_bits(best);
            }
        }
    }

    fn with(&self, slot: &Slot, value: u64, found: &Counterexample) -> Option<Counterexample> {
        let mut point = found.point.clone();
        slot.set(&mut point, value);
        self.at(point)
    }

    /// Values that are in no list lose bits, the lowest of a float and the highest of an integer first.
    fn fewer_bits(&self, found: Counterexample) -> Counterexample {
        let mut best = found;
        let left = Cell::new(self.most);
        for s in &self.slots {
            let order: Vec<u8> = match s.float {
                // The sign goes first, then the fraction, then the exponent.
                true => std::iter::once(s.bits - 1).chain(0..s.bits - 1).collect(),
                false => (0..s.bits).rev().collect(),
            };
            for bit in order {
                let Out::Bits(now) = s.of(&best.point) else { break };
                if s.values.contains(&now) || left.get() == 0 {
                    break;
                }
                if now >> bit & 1 != 0 {
                    left.set(left.get() - 1);
                    best = self.with(s, now & !(1 << bit), &best).unwrap_or(best);
                }
            }
        }
        best
    }
}

/// How many points there are at which these are plain.
fn combinations(slots: &[&Slot]) -> usize {
    slots.iter().map(|s| s.plain().len()).fold(1, usize::saturating_mul)
}

/// The point of this number, the plainest first.
fn combined(slots: &[&Slot], number: usize, mut point: Inputs) -> Inputs {
    let mut rest = number;
    for s in slots {
        s.set(&mut point, s.plain()[rest % s.plain().len()]);
        rest /= s.plain().len();
    }
    point
}

/// The plainest values of a type: [`PLAIN`] of them first, then others that are easily read.
fn plainest(base: Base, bits: u8) -> Vec<u64> {
    let ones = u64::MAX >> (64 - bits);
    let top = 1 << (bits - 1);
    let list = match base {
        Base::Bool => vec![0, ones],
        Base::Float if bits >= 16 => plain_floats(bits),
        Base::Float | Base::Int | Base::Uint => {
            let mut list = vec![0, 1, ones, 2, 4, 8, 16, 32, top, ones >> 1, 3, ones - 1];
            list.extend((6..bits).map(|n| 1 << n));
            list
        }
    };
    let mut out: Vec<u64> = Vec::new();
    for v in list {
        if v <= ones && !out.contains(&v) {
            out.push(v);
        }
    }
    out
}

fn plain_floats(bits: u8) -> Vec<u64> {
    let fraction = match bits {
        16 => 10,
        32 => 23,
        _ => 52,
    };
    let sign: u64 = 1 << (bits - 1);
    // The exponent of 1.0 lacks the top bit and has all the others, that of 2.0 has no other, and infinity's has all.
    let inf = (sign - 1) >> fraction << fraction;
    let one = inf >> 1 & inf;
    let (two, nan) = (sign >> 1, inf | 1 << (fraction - 1));
    let (half, least) = (one - (1 << fraction), 1 << fraction);
    vec![
        0,
        one,
        sign,
        one | sign,
        two,
        nan,
        inf,
        inf | sign,
        half,
        two | sign,
        nan | sign,
        1,
        least,
        inf - 1,
    ]
}
