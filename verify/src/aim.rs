//! Points that are aimed: a comparison of the rule turns at them.
//!
//! A rule that is wrong at one value of a large type is seldom hit by chance. Where it is, two operands of a comparison, a
//! minimum or the like are equal, or differ by one: one operand is evaluated, and a variable under the other is given
//! the value for which the other is the same. That runs backward through operations of which one operand follows from the
//! result and the other operand; where none does, the point stays as it is.

use crate::inputs::Scalars;
use deburr_algebraic::interp::expr::Out;
use deburr_algebraic::interp::term::{Inputs, Terms};
use deburr_ir_core::fold::{Cx, Denorm, FloatEnv, Rounding, prim};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{NodeId, NodeKind, Rule, RuleSet, VarId, VarKind};

/// Two operands of one node that may be made equal, with how they are read.
struct Pair {
    operands: [NodeId; 2],
    base: Base,
    /// A division: it turns where the first is a multiple of the second.
    divides: bool,
}

/// Where a rule may be aimed at.
pub(crate) struct Aim<'a> {
    set: &'a RuleSet,
    rule: &'a Rule,
    terms: &'a Terms<'a>,
    pairs: Vec<Pair>,
    /// First scalar of each variable; `None` for bound operations.
    places: Vec<Option<usize>>,
}

impl<'a> Aim<'a> {
    pub(crate) fn new(
        set: &'a RuleSet,
        rule: &'a Rule,
        terms: &'a Terms<'a>,
        places: Vec<Option<usize>>,
    ) -> Aim<'a> {
        let mut aim = Aim { set, rule, terms, pairs: Vec::new(), places };
        let mut nodes = rule.reachable(rule.pattern);
        nodes.extend(rule.alts.iter().flat_map(|alt| rule.reachable(alt.term)));
        nodes.sort_unstable();
        nodes.dedup();
        aim.pairs = nodes.into_iter().filter_map(|id| aim.pair(id)).collect();
        aim
    }

    fn pair(&self, id: NodeId) -> Option<Pair> {
        let NodeKind::Op { op, args, .. } = &self.rule.nodes[id].kind else { return None };
        let sig = self.set.ops.get(*op);
        let (operands, base) = match (args.as_slice(), sig.inputs.as_slice()) {
            ([x, y], [a, b]) if a == b && a.base != Base::Bool => ([*x, *y], a.base),
            _ => return None,
        };
        let divides = matches!(sig.name.as_str(), "udiv" | "umod" | "idiv" | "irem" | "imod");
        let decides = divides
            || sig.output.base == Base::Bool
            || ["min", "max", "_sat", "sl", "sge", "se", "sne"]
                .iter()
                .any(|n| sig.name.contains(n));
        let known = |id: &NodeId| self.rule.reachable(*id).iter().all(|n| self.is_known(*n));
        let varies = |id: &NodeId| self.varies(*id);
        let useful = decides && operands.iter().all(known) && operands.iter().any(varies);
        useful.then_some(Pair { operands, base, divides })
    }

    /// Whether a node has a value before the pattern is evaluated.
    fn is_known(&self, id: NodeId) -> bool {
        match &self.rule.nodes[id].kind {
            NodeKind::Var(v) => !matches!(self.rule.vars[*v].kind, VarKind::Bound(_)),
            NodeKind::Outside { .. } | NodeKind::Undef => false,
            NodeKind::Op { .. }
            | NodeKind::Compute { .. }
            | NodeKind::Ref(_)
            | NodeKind::Literal(..) => true,
        }
    }

    /// Whether a node has variables under it.
    fn varies(&self, id: NodeId) -> bool {
        self.rule.reachable(id).iter().any(|n| matches!(self.rule.nodes[*n].kind, NodeKind::Var(_)))
    }

    /// Changes a point so that a comparison turns there, by a random number; the point's values are `inputs`.
    pub(crate) fn at(&self, point: &mut Scalars, inputs: &Inputs, mut random: u64) {
        if self.pairs.is_empty() {
            return;
        }
        let pair = &self.pairs[take(&mut random, self.pairs.len())];
        let mut which = if pair.divides { 1 } else { take(&mut random, 2) };
        if !self.varies(pair.operands[1 - which]) {
            which = 1 - which;
        }
        let Some(equal) = self.value(pair.operands[which], inputs) else { return };
        let delta = [0, 1, u64::MAX, 0][take(&mut random, 4)];
        let times = if pair.divides { random } else { 1 };
        let target = equal.wrapping_mul(times).wrapping_add(delta);
        if let Some((slot, value)) =
            self.solve(pair.operands[1 - which], target, pair.base, inputs, &mut random)
        {
            point[slot] = value;
        }
    }

    fn bits(&self, id: NodeId) -> u8 {
        self.terms.class_bits(self.rule.nodes[id].class)
    }

    /// The value of a node's first component.
    fn value(&self, id: NodeId, inputs: &Inputs) -> Option<u64> {
        match self.terms.constant(id, inputs)?.first() {
            Some(Out::Bits(v)) => Some(*v),
            _ => None,
        }
    }

    /// The scalar that gives a node this value, and what it must be.
    fn solve(
        &self,
        id: NodeId,
        target: u64,
        base: Base,
        inputs: &Inputs,
        random: &mut u64,
    ) -> Option<(usize, u64)> {
        let node = &self.rule.nodes[id];
        let width = self.bits(id);
        let target = target & (u64::MAX >> (64 - width));
        let comp = node.swizzle.as_ref().and_then(|s| s.first()).map_or(0, |c| usize::from(*c));
        let (op, args) = match &node.kind {
            NodeKind::Var(v) => return self.slot(*v, comp).map(|slot| (slot, target)),
            NodeKind::Ref(inner) => return self.solve(*inner, target, base, inputs, random),
            NodeKind::Op { op, args, .. } => (*op, args),
            _ => return None,
        };
        let sig = self.set.ops.get(op);
        if args.is_empty() {
            return None;
        }
        let which = match (sig.name.as_str(), args.len()) {
            ("bcsel", _) => 1 + take(random, 2),
            ("ishl" | "ushr" | "ishr", _) => 0,
            (_, n) => take(random, n),
        };
        // Where that is a constant, another one.
        let varies = |i: &usize| self.varies(args[*i]);
        let which = [which].into_iter().chain(0..args.len()).find(varies)?;
        let arg = args[which];
        let from = sig.inputs[which].base;
        let other = match args.len() {
            2 => self.value(args[1 - which], inputs)?,
            _ => 0,
        };
        let w = u32::from(self.bits(arg));
        let value = match base {
            _ if sig.moves => target,
            Base::Float => back_float(&sig.name, (from, w), width.into(), which, target, other)?,
            Base::Int | Base::Uint => {
                back_integer(&sig.name, (from, w), width.into(), which, target, other)?
            }
            Base::Bool => return None,
        };
        self.solve(arg, value, if sig.moves { base } else { from }, inputs, random)
    }

    fn slot(&self, v: VarId, comp: usize) -> Option<usize> {
        self.places[v].map(|first| first + comp)
    }
}

/// A number below `n`, taken from the bottom of a random one.
fn take(random: &mut u64, n: usize) -> usize {
    let n = n.max(1) as u64;
    let out = *random % n;
    *random /= n;
    out as usize
}

fn context() -> Cx {
    Cx { env: FloatEnv::uniform(Denorm::Keep, Rounding::Rte), free: false, nan: false }
}

/// The operand number `which`, read as `from` with so many bits, of an operation with a float result.
fn back_float(
    name: &str,
    (from, bits): (Base, u32),
    w: u32,
    which: usize,
    target: u64,
    other: u64,
) -> Option<u64> {
    let cx = &mut context();
    Some(match (name, which) {
        ("fadd", _) => prim::fsub(cx, w, target, other),
        ("fsub", 0) => prim::fadd(cx, w, target, other),
        ("fsub", _) => prim::fsub(cx, w, other, target),
        ("fmul", _) => prim::fdiv(cx, w, target, other),
        ("fdiv", 0) => prim::fmul(cx, w, target, other),
        ("fdiv", _) => prim::fdiv(cx, w, other, target),
        ("fneg", _) => prim::fneg(w, target),
        ("fsqrt", _) => prim::fmul(cx, w, target, target),
        ("frcp", _) => prim::fdiv(cx, w, prim::fconst(w, 1.0), target),
        // What else has one operand mostly gives numbers back: fabs, fsat, rounding to integers.
        _ if from == Base::Float => match bits == w {
            true => target,
            false => prim::f2f(cx, w, bits, target),
        },
        _ if from == Base::Int => prim::f2i_sat(cx, w, bits, target),
        _ if from == Base::Uint => prim::f2u_sat(cx, w, bits, target),
        _ => return None,
    })
}

/// The operand number `which`, read as `from` with so many bits, of an operation with an integer result.
fn back_integer(
    name: &str,
    (from, bits): (Base, u32),
    w: u32,
    which: usize,
    target: u64,
    other: u64,
) -> Option<u64> {
    let cx = &mut context();
    let count = (other % u64::from(w.max(1))) as u32;
    Some(match (name, which) {
        ("iadd", _) => target.wrapping_sub(other),
        ("isub", 0) => target.wrapping_add(other),
        ("isub", _) => other.wrapping_sub(target),
        ("ixor", _) => target ^ other,
        ("inot", _) => !target,
        ("ineg", _) => target.wrapping_neg(),
        ("imul", _) if other & 1 != 0 => target.wrapping_mul(inverse(other)),
        ("imul" | "amul", _) => target.checked_div(other)?,
        ("udiv" | "idiv", 0) => target.wrapping_mul(other),
        ("ishl", _) => target >> count,
        ("ushr" | "ishr", _) => target << count,
        _ if from == Base::Float => prim::i2f(cx, w, bits, target),
        _ if from == Base::Bool => return None,
        _ if name.starts_with("i2i") => prim::sext(w, target),
        _ => target,
    })
}

/// The inverse of an odd number modulo 2^64: each of Newton's steps doubles the bits that are right.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
}
