//! Points at which a rule is tried: all of them, or edge values first and random ones after.

use crate::aim::Aim;
use crate::edges::{Format, Numbers, Read, format};
use crate::{Options, is_input};
use deburr_algebraic::interp::expr::{Out, Value};
use deburr_algebraic::interp::term::{Inputs, Terms};
use deburr_ir_core::fold::prim;
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{NodeKind, Rule, RuleSet, VarKind};
use smallvec::SmallVec;

/// A small generator of numbers (SplitMix64): the points of a rule are the same in every run.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The components of all inputs, one after the other.
pub(crate) type Scalars = SmallVec<[u64; 8]>;

/// A point at which a rule is tried.
pub(crate) enum Point {
    /// Plain values.
    Bits(Scalars),
    /// One of them is poison.
    Poisoned(Vec<Out>),
}

/// One scalar to be chosen.
struct Scalar {
    bits: u8,
    base: Base,
    read: Read,
    edges: Vec<u64>,
}

/// The points of one instance.
pub(crate) struct Source<'a> {
    /// Component count by variable; 0 for bound operations.
    shapes: Vec<usize>,
    scalars: Vec<Scalar>,
    /// Scalars of variables that may be poison.
    may_poison: Vec<usize>,
    exhaustive: bool,
    /// Bits of all other inputs together up to which all are tried beside poison, which takes longer.
    poison_bits: u32,
    /// All combinations of so many edge values of each scalar are tried, until they were.
    grid: Option<usize>,
    step: u64,
    wanted: u64,
    tries: u64,
    poison_slot: usize,
    poison_step: usize,
    aim: Aim<'a>,
    rng: Rng,
}

/// Points tried at least before facts count as unsatisfiable.
const MIN_TRIES: u64 = 40_000;

/// One of so many random points is aimed.
const AIMED: u64 = 4;

/// Points with poison, a component of a variable, where not all are tried.
const POISON_POINTS: usize = 256;

impl<'a> Source<'a> {
    pub(crate) fn new(
        set: &'a RuleSet,
        rule: &'a Rule,
        terms: &'a Terms<'a>,
        reads: &[Read],
        options: &Options,
        name: &str,
    ) -> Source<'a> {
        let mut scalars = Vec::new();
        let mut shapes = Vec::new();
        let mut may_poison = Vec::new();
        let mut places = Vec::new();
        let numbers = Numbers::of(set, rule, terms);
        for (v, var) in rule.vars.iter().enumerate() {
            if !is_input(rule, v) {
                shapes.push(0);
                places.push(None);
                continue;
            }
            let comps = usize::from(terms.comps(var.comps)).max(1);
            let bits = terms.class_bits(var.class);
            shapes.push(comps);
            places.push(Some(scalars.len()));
            for _ in 0..comps {
                if var.kind == VarKind::Value {
                    may_poison.push(scalars.len());
                }
                let read = reads[v];
                let edges = numbers.edges(var.base, read, bits);
                scalars.push(Scalar { bits, base: var.base, read, edges });
            }
        }
        let total: u32 = scalars.iter().map(|s| u32::from(s.bits)).sum();
        let exhaustive = total <= options.exhaustive_bits;
        let among = |n: usize| scalars.iter().map(|s| s.edges.len().min(n) as f64).product::<f64>();
        let longest = scalars.iter().map(|s| s.edges.len()).max().unwrap_or(0);
        let all = (options.points as f64).max(512.0);
        let grid = match among(longest) <= all {
            true => longest,
            false => (1..longest).rev().find(|n| among(*n) <= all / 4.0).unwrap_or(1),
        };
        let hash = name
            .bytes()
            .fold(options.seed, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        // Poison matters only where an operation may drop it.
        let drops = rule.nodes.iter().any(|n| matches!(n.kind, NodeKind::Op { .. }))
            && may_drop_poison(rule);
        Source {
            shapes,
            scalars,
            may_poison: if drops { may_poison } else { Vec::new() },
            exhaustive,
            poison_bits: options.exhaustive_bits * 2 / 3,
            grid: Some(grid),
            step: 0,
            wanted: options.points,
            tries: 0,
            poison_slot: 0,
            poison_step: 0,
            aim: Aim::new(set, rule, terms, places),
            rng: Rng(hash),
        }
    }

    /// Whether every input is tried, poison included.
    pub(crate) fn exhaustive(&self) -> bool {
        let all = |slot: &usize| self.bits_beside(*slot) <= self.poison_bits;
        self.exhaustive && self.may_poison.iter().all(all)
    }

    /// How many points there will be, about.
    pub(crate) fn expected(&self) -> u64 {
        match self.exhaustive {
            true => 1 << self.scalars.iter().map(|s| u32::from(s.bits)).sum::<u32>().min(63),
            false => self.wanted,
        }
    }

    /// The next point, given how many were of use so far.
    pub(crate) fn next(&mut self, satisfied: u64) -> Option<Point> {
        let values = match self.exhaustive {
            true => self.all(),
            false => self.some(satisfied),
        };
        values.map(Point::Bits).or_else(|| self.poisoned().map(Point::Poisoned))
    }

    /// The values of the variables at a point.
    pub(crate) fn inputs(&self, point: Point) -> Inputs {
        let mut bits = SmallVec::new();
        let mut poisoned = Vec::new();
        match point {
            Point::Bits(values) => bits = values,
            Point::Poisoned(values) => poisoned = values,
        }
        let mut rest = bits.into_iter().map(Out::Bits).chain(poisoned);
        self.shapes.iter().map(|n| rest.by_ref().take(*n).collect::<Value>()).collect()
    }

    /// Whether a float among the components is NaN.
    pub(crate) fn has_nan(&self, values: &[u64]) -> bool {
        let pairs = self.scalars.iter().zip(values);
        pairs
            .into_iter()
            .any(|(s, v)| s.read.float && s.bits >= 16 && prim::is_nan(s.bits.into(), *v))
    }

    fn all(&mut self) -> Option<Scalars> {
        let mut rest = self.step;
        let mut out = Scalars::new();
        for s in &self.scalars {
            out.push(rest & mask(s.bits));
            rest = if s.bits >= 64 { 0 } else { rest >> s.bits };
        }
        if rest != 0 {
            return None;
        }
        self.step += 1;
        Some(out)
    }

    fn some(&mut self, satisfied: u64) -> Option<Scalars> {
        if let Some(most) = self.grid {
            let mut rest = self.step as usize;
            let mut out = Scalars::new();
            for s in &self.scalars {
                let count = s.edges.len().min(most);
                out.push(s.edges[rest % count]);
                rest /= count;
            }
            if rest == 0 {
                self.step += 1;
                return Some(out);
            }
            self.grid = None;
        }
        self.tries += 1;
        if satisfied >= self.wanted || self.tries > (64 * self.wanted).max(MIN_TRIES) {
            return None;
        }
        // Early points are simple, so that what refutes a rule is.
        let mut out = self.draw(3 + self.tries as usize / 4);
        if self.tries.is_multiple_of(AIMED) {
            let inputs = self.inputs(Point::Bits(out.clone()));
            self.aim.at(&mut out, &inputs, self.rng.next());
        }
        Some(out)
    }

    /// One random point, its edge values among the first so many.
    fn draw(&mut self, reach: usize) -> Scalars {
        let mut out = Scalars::new();
        for i in 0..self.scalars.len() {
            let s = &self.scalars[i];
            let value = match self.rng.below(10) {
                0..=5 => s.edges[self.rng.below(s.edges.len().min(reach))],
                6 if i > 0 => out[self.rng.below(i)] & mask(s.bits),
                7 if i > 0 => {
                    let near = out[self.rng.below(i)];
                    match self.rng.below(4) {
                        0 => near.wrapping_add(1),
                        1 => near.wrapping_neg(),
                        2 => !near,
                        _ => near ^ 1 << (s.bits - 1),
                    }
                }
                _ => random(&mut self.rng, s),
            };
            let value = value & mask(s.bits);
            out.push(value);
        }
        out
    }

    /// Bits of all inputs but one.
    fn bits_beside(&self, slot: usize) -> u32 {
        let others = self.scalars.iter().enumerate().filter(|(i, _)| *i != slot);
        others.map(|(_, s)| u32::from(s.bits)).sum()
    }

    /// A point with one poison value.
    fn poisoned(&mut self) -> Option<Vec<Out>> {
        let bad = *self.may_poison.get(self.poison_slot)?;
        let beside = self.bits_beside(bad);
        let all = beside <= self.poison_bits;
        let values = match all {
            true => {
                let mut rest = self.poison_step as u64;
                let take = |(i, s): (usize, &Scalar)| {
                    let bits = if i == bad { 0 } else { s.bits };
                    let value = rest & ((1 << bits) - 1);
                    rest >>= bits;
                    value
                };
                self.scalars.iter().enumerate().map(take).collect()
            }
            false => self.draw(3 + self.poison_step / 4),
        };
        self.poison_step += 1;
        if self.poison_step == if all { 1 << beside } else { POISON_POINTS } {
            (self.poison_slot, self.poison_step) = (self.poison_slot + 1, 0);
        }
        let out = values.into_iter().enumerate();
        Some(out.map(|(i, v)| if i == bad { Out::Poison } else { Out::Bits(v) }).collect())
    }
}

/// Whether some operation of the rule may ignore an operand: selections and absorbing bit operations.
fn may_drop_poison(rule: &Rule) -> bool {
    // A replacement that uses fewer operands than the pattern only drops poison; one that selects may need them.
    rule.nodes.iter().any(|n| match &n.kind {
        NodeKind::Op { args, .. } => args.len() >= 2,
        _ => false,
    })
}

fn random(rng: &mut Rng, scalar: &Scalar) -> u64 {
    let raw = rng.next();
    let bits = scalar.bits;
    let float = match scalar.read {
        Read { float: true, int: true } => rng.below(2) == 0,
        Read { float, .. } => float,
    };
    match scalar.base {
        Base::Bool if bits == 1 => raw & 1,
        Base::Bool => (raw & 1).wrapping_neg(),
        _ if float && bits >= 16 => match rng.below(3) {
            // A moderate exponent: sums and products of such are exact or rounded, not Inf.
            0 | 1 => {
                let Format { exponent, fraction } = format(bits);
                let bias = (1u64 << (exponent - 1)) - 1;
                let e = bias - 4 + rng.below(9) as u64;
                (raw & ((1 << fraction) - 1)) | e << fraction | (raw >> 63) << (bits - 1)
            }
            _ => raw,
        },
        Base::Float | Base::Int | Base::Uint => match rng.below(3) {
            0 => raw >> rng.below(64),
            1 => raw & 0xff,
            _ => raw,
        },
    }
}
