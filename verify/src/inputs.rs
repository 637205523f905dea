//! Points at which a rule is tried: all of them, or edge values first and random ones after.

use crate::{Options, is_input};
use deburr_algebraic::interp::expr::{Out, Value};
use deburr_algebraic::interp::term::{Inputs, Terms};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{Node, NodeKind, Rule, VarKind};
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
    edges: Vec<u64>,
}

/// The points of one instance.
pub(crate) struct Source {
    /// Component count by variable; 0 for bound operations.
    shapes: Vec<usize>,
    scalars: Vec<Scalar>,
    /// Scalars of variables that may be poison.
    may_poison: Vec<usize>,
    exhaustive: bool,
    /// Whether the product of all edge values is tried.
    product: bool,
    step: u64,
    wanted: u64,
    tries: u64,
    poison_slot: usize,
    poison_step: usize,
    rng: Rng,
}

/// Points tried at least before facts count as unsatisfiable.
const MIN_TRIES: u64 = 40_000;

/// Points with poison, a component of a variable, where not all are tried.
const POISON_POINTS: usize = 256;

/// Bits of all other inputs together up to which all are tried beside poison.
const POISON_BITS: u32 = 12;

impl Source {
    pub(crate) fn new(rule: &Rule, terms: &Terms<'_>, options: &Options, name: &str) -> Source {
        let mut scalars = Vec::new();
        let mut shapes = Vec::new();
        let mut may_poison = Vec::new();
        // Numbers of the rule itself decide where it goes wrong.
        let own: Vec<(u8, u64)> = rule.nodes.iter().filter_map(|n| literal(n, terms)).collect();
        for (v, var) in rule.vars.iter().enumerate() {
            if !is_input(rule, v) {
                shapes.push(0);
                continue;
            }
            let comps = usize::from(terms.comps(var.comps)).max(1);
            let bits = terms.class_bits(var.class);
            shapes.push(comps);
            for _ in 0..comps {
                if var.kind == VarKind::Value {
                    may_poison.push(scalars.len());
                }
                let base = if is_float_use(rule, v) && bits >= 16 { Base::Float } else { var.base };
                let mut edges = edges(base, bits);
                for (_, v) in own.iter().filter(|o| o.0 == bits) {
                    if !edges.contains(v) {
                        edges.insert(edges.len().min(3), *v);
                    }
                }
                scalars.push(Scalar { bits, base, edges });
            }
        }
        let total: u32 = scalars.iter().map(|s| u32::from(s.bits)).sum();
        let exhaustive = total <= options.exhaustive_bits;
        let product: f64 = scalars.iter().map(|s| s.edges.len() as f64).product();
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
            product: product <= (options.points as f64).max(512.0),
            step: 0,
            wanted: options.points,
            tries: 0,
            poison_slot: 0,
            poison_step: 0,
            rng: Rng(hash),
        }
    }

    /// Whether every input is tried, poison included.
    pub(crate) fn exhaustive(&self) -> bool {
        let all = |slot: &usize| self.bits_beside(*slot) <= POISON_BITS;
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
        if self.product {
            let mut rest = self.step as usize;
            let mut out = Scalars::new();
            for s in &self.scalars {
                out.push(s.edges[rest % s.edges.len()]);
                rest /= s.edges.len();
            }
            if rest == 0 {
                self.step += 1;
                return Some(out);
            }
            self.product = false;
        }
        self.tries += 1;
        if satisfied >= self.wanted || self.tries > (64 * self.wanted).max(MIN_TRIES) {
            return None;
        }
        // Early points are simple, so that what refutes a rule is.
        Some(self.draw(3 + self.tries as usize / 4))
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
                _ => random(&mut self.rng, s.base, s.bits),
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
        let all = beside <= POISON_BITS;
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

/// A literal's bits, and how many.
fn literal(node: &Node, terms: &Terms<'_>) -> Option<(u8, u64)> {
    let NodeKind::Literal(value, base) = &node.kind else { return None };
    let bits = terms.class_bits(node.class);
    value.encode(*base, bits).ok().map(|v| (bits, v))
}

/// Whether some operation of the rule may ignore an operand: selections and absorbing bit operations.
fn may_drop_poison(rule: &Rule) -> bool {
    // A replacement that uses fewer operands than the pattern only drops poison; one that selects may need them.
    rule.nodes.iter().any(|n| match &n.kind {
        NodeKind::Op { args, .. } => args.len() >= 2,
        _ => false,
    })
}

/// Whether a variable is read as a float somewhere, so that float edge values matter to it.
fn is_float_use(rule: &Rule, var: usize) -> bool {
    rule.vars[var].base == Base::Float
}

/// Values that rules are wrong at, simplest first.
pub(crate) fn edges(base: Base, bits: u8) -> Vec<u64> {
    let m = mask(bits);
    let mut out: Vec<u64> = match base {
        // Wide bools are read as true where they are not 0.
        Base::Bool => vec![0, m, 1, 2 & m, 1 << (bits - 1)],
        Base::Float => float_edges(bits),
        Base::Int | Base::Uint => {
            let below = |n: u64| m.wrapping_sub(n);
            let mut out = vec![0, 1, m, 2, below(1), 1 << (bits - 1), m >> 1, 3, 7, 8];
            out.extend([
                31,
                32,
                5,
                (1 << (bits - 1)) + 1,
                (m >> 1).wrapping_sub(1),
                below(2),
                4,
                15,
                16,
                33,
                63,
                64,
            ]);
            out.extend((0..bits).map(|i| 1 << i));
            out.extend((0..bits).map(|i| (1 << i) - 1));
            out.extend((0..bits).map(|i| m << i));
            out.extend([
                0xff,
                0xff00,
                0xffff,
                0x5555_5555_5555_5555,
                0xaaaa_aaaa_aaaa_aaaa,
                10,
                100,
            ]);
            if bits == 64 {
                // Rounded to 53 bits it is the middle between two 24-bit neighbours.
                out.extend([1 << 62 | 1 << 38 | 1, 1 << 61 | 1 << 37 | 1]);
            }
            if bits >= 16 {
                // Bit patterns of floats: 1.0, -1.0, NaN.
                out.extend(float_edges(bits).into_iter().take(8));
            }
            out
        }
    };
    let mut seen = Vec::new();
    out.retain(|v| {
        let v = *v & m;
        let new = !seen.contains(&v);
        seen.push(v);
        new
    });
    out.iter().map(|v| v & m).collect()
}

fn float_edges(bits: u8) -> Vec<u64> {
    let (exponent, fraction) = match bits {
        16 => (5u32, 10u32),
        32 => (8, 23),
        _ => (11, 52),
    };
    let sign = 1u64 << (bits - 1);
    let bias = (1u64 << (exponent - 1)) - 1;
    let of = |e: i64, f: u64| ((bias as i64 + e) as u64) << fraction | f;
    let inf = ((1u64 << exponent) - 1) << fraction;
    let half = 1u64 << (fraction - 1);
    let one = of(0, 0);
    let mut out = vec![0, sign, one, one | sign, inf | half, inf, inf | sign, of(1, 0), of(-1, 0)];
    out.extend([of(1, half), of(0, half), of(0, half) | sign, of(-1, 0) | sign, of(1, 0) | sign]);
    // The least and the greatest denormal, the least normal, the greatest number, and beside them.
    out.extend([
        1,
        1 | sign,
        (1 << fraction) - 1,
        1 << fraction,
        (1 << fraction) | sign,
        inf - 1,
        (inf - 1) | sign,
    ]);
    out.extend([
        one + 1,
        one - 1,
        inf | 1,
        inf | half | sign,
        inf | half | 1,
        half,
        (1 << fraction) + 1,
    ]);
    out.extend([
        of(2, half),
        of(3, 0),
        of(-2, 0),
        of(-3, half),
        of(4, 3),
        of(1, 1),
        of(2, half) | sign,
    ]);
    let big = i64::from(fraction);
    // Just above the middle between two neighbours of a narrower format: wrong if rounded twice.
    let above_half = |narrow: u32| of(0, 1 << (fraction - narrow - 1) | 1);
    out.extend([10, 23].into_iter().filter(|n| *n + 1 < fraction).map(above_half));
    out.extend([of(big, 0), of(big, 1), of(big - 1, 1), of(big + 1, 0)].map(|v| v & !sign));
    out.extend([of(-(bias as i64) + 2, half), of(bias as i64 - 1, half), of(bias as i64, 0)]);
    out
}

fn random(rng: &mut Rng, base: Base, bits: u8) -> u64 {
    let raw = rng.next();
    match base {
        Base::Bool => {
            if bits == 1 {
                raw & 1
            } else {
                (raw & 1).wrapping_neg()
            }
        }
        Base::Float => match rng.below(3) {
            // A moderate exponent: sums and products of such are exact or rounded, not Inf.
            0 | 1 => {
                let (exponent, fraction) = match bits {
                    16 => (5u32, 10u32),
                    32 => (8, 23),
                    _ => (11, 52),
                };
                let bias = (1u64 << (exponent - 1)) - 1;
                let e = bias - 4 + rng.below(9) as u64;
                (raw & ((1 << fraction) - 1)) | e << fraction | (raw >> 63) << (bits - 1)
            }
            _ => raw,
        },
        Base::Int | Base::Uint => match rng.below(3) {
            0 => raw >> rng.below(64),
            1 => raw & 0xff,
            _ => raw,
        },
    }
}
