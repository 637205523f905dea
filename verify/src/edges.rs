//! Values that rules are wrong at: those of a format, and those that the numbers of the rule itself give.

use deburr_algebraic::interp::term::Terms;
use deburr_rulegen::expr::{Base, ExprKind};
use deburr_rulegen::rules::model::{NodeId, NodeKind, Rule, RuleSet};

/// How the bits of a variable are read, by either side and through whatever only moves them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) float: bool,
    pub(crate) int: bool,
}

/// How each variable is read.
pub(crate) fn reads(set: &RuleSet, rule: &Rule) -> Vec<Read> {
    let mut out = vec![Read::default(); rule.vars.len()];
    for root in rule.alts.iter().map(|a| a.term).chain([rule.pattern]).chain(rule.used) {
        read(set, rule, root, None, &mut out);
    }
    for (var, read) in rule.vars.iter().zip(&mut out) {
        read.float |= var.base == Base::Float;
        read.int |= !read.float;
    }
    out
}

/// Notes how the variables under a node are read, whose result is read as `base`, or who knows how.
fn read(set: &RuleSet, rule: &Rule, id: NodeId, base: Option<Base>, out: &mut [Read]) {
    let node = &rule.nodes[id];
    match &node.kind {
        NodeKind::Var(v) => match base {
            Some(Base::Float) => out[*v].float = true,
            Some(Base::Int | Base::Uint) => out[*v].int = true,
            Some(Base::Bool) | None => {}
        },
        NodeKind::Op { op, args, .. } => {
            let sig = set.ops.get(*op);
            for (arg, ty) in args.iter().zip(&sig.inputs) {
                let moved = sig.moves && ty.bits == 0 && ty.base == Base::Uint;
                read(set, rule, *arg, if moved { base } else { Some(ty.base) }, out);
            }
        }
        NodeKind::Compute { expr, args, .. } => {
            let mut bases = vec![None; args.len()];
            expr.walk(&mut |e| match &e.kind {
                ExprKind::Var { id, .. } if (*id as usize) < bases.len() => {
                    bases[*id as usize] = Some(e.ty.base);
                }
                _ => {}
            });
            for (arg, base) in args.iter().zip(bases) {
                read(set, rule, *arg, base, out);
            }
        }
        NodeKind::Ref(inner) => read(set, rule, *inner, base, out),
        NodeKind::Outside { args, .. } => {
            args.iter().for_each(|arg| read(set, rule, *arg, None, out));
        }
        NodeKind::Literal(..) | NodeKind::Undef => {}
    }
}

/// Numbers that stand in a rule: where it goes wrong is at them, or beside them.
#[derive(Default)]
pub(crate) struct Numbers {
    /// Bits, value, and whether it is read as a float.
    literals: Vec<(u8, u64, bool)>,
    /// Sizes of the integers that floats become.
    integers: Vec<u8>,
}

/// Literals of other sizes that are tried.
const FEW: usize = 4;

impl Numbers {
    /// The numbers of an instance.
    pub(crate) fn of(set: &RuleSet, rule: &Rule, terms: &Terms<'_>) -> Numbers {
        let mut literals: Vec<(u8, u64, bool)> = Vec::new();
        let mut integers = Vec::new();
        for node in &rule.nodes {
            let bits = terms.class_bits(node.class);
            match &node.kind {
                NodeKind::Literal(value, base) => {
                    let Ok(v) = value.encode(*base, bits) else { continue };
                    let new = (bits, v, *base == Base::Float);
                    if !literals.contains(&new) {
                        literals.push(new);
                    }
                }
                NodeKind::Op { op, .. } => {
                    let sig = set.ops.get(*op);
                    let from_floats = sig.inputs.iter().any(|ty| ty.base == Base::Float);
                    let to_integer = matches!(sig.output.base, Base::Int | Base::Uint);
                    if from_floats && to_integer && !integers.contains(&bits) {
                        integers.push(bits);
                    }
                }
                _ => {}
            }
        }
        // A fixed order of what is found, whatever the order of the nodes.
        integers.sort_unstable();
        Numbers { literals, integers }
    }

    /// Values to try for a scalar, simplest first.
    pub(crate) fn edges(&self, base: Base, read: Read, bits: u8) -> Vec<u64> {
        let float = read.float && bits >= 16;
        let mut out = match base {
            // Wide bools are read as true where they are not 0.
            Base::Bool => vec![0, mask(bits), 1, 2, 1 << (bits - 1)],
            _ if float && read.int => mixed(&floats(bits), &integers(bits)),
            _ if float => floats(bits),
            Base::Float | Base::Int | Base::Uint => integers(bits),
        };
        if base != Base::Bool {
            let own = self.literals.iter().filter(|l| l.0 == bits).map(|l| l.1);
            let at = out.len().min(3);
            out.splice(at..at, own.rev());
            let at = out.len().min(at + 10);
            out.splice(at..at, self.derived(float, bits));
        }
        let mut seen = Vec::new();
        out.iter_mut().for_each(|v| *v &= mask(bits));
        out.retain(|v| {
            let new = !seen.contains(v);
            seen.push(*v);
            new
        });
        out
    }

    /// Values beside literals, and those of other sizes.
    fn derived(&self, float: bool, bits: u8) -> Vec<u64> {
        let mut out = Vec::new();
        let same: Vec<u64> =
            self.literals.iter().filter(|l| l.0 == bits && l.2 == float).map(|l| l.1).collect();
        if float {
            let sign = 1 << (bits - 1);
            out.extend(self.integers.iter().flat_map(|to| limits(bits, *to)));
            out.extend(
                same.iter().filter(|v| *v & !sign != 0).flat_map(|v| [v ^ sign, v + 1, v - 1]),
            );
            return out;
        }
        for v in &same {
            out.extend([v.wrapping_sub(1), v.wrapping_add(1), !v, v.wrapping_neg()]);
        }
        // A literal of another size is compared with a part, or is one.
        let others = self.literals.iter().filter(|l| l.0 != bits && l.1 > 1);
        for (other, v, _) in others.take(FEW) {
            out.push(*v);
            if *other < bits {
                out.push(v << (bits - other));
            }
        }
        out
    }
}

/// The ends of the integers of a size as floats, and the floats beside them.
fn limits(bits: u8, to: u8) -> Vec<u64> {
    let Format { exponent, fraction } = format(bits);
    let bias = (1i64 << (exponent - 1)) - 1;
    let sign = 1 << (bits - 1);
    let mut out = Vec::new();
    for power in [i64::from(to) - 1, i64::from(to)].into_iter().filter(|p| (0..=bias).contains(p)) {
        let v = ((bias + power) as u64) << fraction;
        out.extend([v, v - 1, v | sign, (v + 1) | sign]);
    }
    out
}

/// Values of both kinds by turns, as long as there are some.
fn mixed(a: &[u64], b: &[u64]) -> Vec<u64> {
    let longest = a.len().max(b.len());
    (0..longest).flat_map(|i| [a.get(i), b.get(i)]).flatten().copied().collect()
}

/// The parts of a float format.
pub(crate) struct Format {
    pub(crate) exponent: u32,
    pub(crate) fraction: u32,
}

pub(crate) fn format(bits: u8) -> Format {
    let (exponent, fraction) = match bits {
        16 => (5, 10),
        32 => (8, 23),
        _ => (11, 52),
    };
    Format { exponent, fraction }
}

fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn integers(bits: u8) -> Vec<u64> {
    let m = mask(bits);
    let below = |n: u64| m.wrapping_sub(n);
    let top = 1 << (bits - 1);
    let mut out = vec![0, 1, m, top, m >> 1, 2, below(1), 3, 7, 8];
    out.extend([31, 32, 5, top + 1, (m >> 1).wrapping_sub(1), below(2), 4, 15, 16, 33, 63, 64]);
    out.extend((0..bits).map(|i| 1 << i));
    out.extend((0..bits).map(|i| (1 << i) - 1));
    out.extend((0..bits).map(|i| m << i));
    out.extend([0xff, 0xff00, 0xffff, 0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa, 10, 100]);
    if bits == 64 {
        // Rounded to 53 bits it is the middle between two 24-bit neighbours.
        out.extend([1 << 62 | 1 << 38 | 1, 1 << 61 | 1 << 37 | 1]);
    }
    if bits >= 16 {
        // Bit patterns of floats: 1.0, -1.0, NaN.
        out.extend(floats(bits).into_iter().take(8));
    }
    out
}

fn floats(bits: u8) -> Vec<u64> {
    let Format { exponent, fraction } = format(bits);
    let sign = 1u64 << (bits - 1);
    let bias = (1u64 << (exponent - 1)) - 1;
    let of = |e: i64, f: u64| ((bias as i64 + e) as u64) << fraction | f;
    let inf = ((1u64 << exponent) - 1) << fraction;
    let half = 1u64 << (fraction - 1);
    let one = of(0, 0);
    let mut out = vec![0, sign, one, one | sign, inf | half, inf, inf | sign, inf - 1];
    // The least normal number and its neighbour differ by the least denormal.
    let (least, most) = (1 << fraction, (1 << fraction) - 1);
    out.extend([least, least + 1, 1, of(1, 0), of(-1, 0)]);
    out.extend([of(1, half), of(0, half), of(0, half) | sign, of(-1, 0) | sign, of(1, 0) | sign]);
    out.extend([1 | sign, most, least | sign, (inf - 1) | sign]);
    out.extend([one + 1, one - 1, inf | 1, inf | half | sign, inf | half | 1, half]);
    out.extend([of(2, half), of(3, 0), of(-2, 0), of(-3, half), of(4, 3), of(1, 1)]);
    out.push(of(2, half) | sign);
    let big = i64::from(fraction);
    // Just above the middle between two neighbours of a narrower format: wrong if rounded twice.
    let above_half = |narrow: u32| of(0, 1 << (fraction - narrow - 1) | 1);
    out.extend([10, 23].into_iter().filter(|n| *n + 1 < fraction).map(above_half));
    out.extend([of(big, 0), of(big, 1), of(big - 1, 1), of(big + 1, 0)].map(|v| v & !sign));
    out.extend([of(-(bias as i64) + 2, half), of(bias as i64 - 1, half), of(bias as i64, 0)]);
    out
}
