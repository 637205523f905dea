//! What the terms of a rule give for given inputs: every result that choices, the float environment and licences allow.

use super::expr::{Choices, Evaluator, Freedom, Out, Side, Value, is_outermost_step, steps};
use super::results::{Call, dedup, is_move};
use deburr_ir_core::fold::{FloatEnv, prim};
use deburr_ir_core::{AluInfo, AluOp, Denorm, Rounding};
use deburr_rulegen::expr::{Base, Expr, ExprKind};
use deburr_rulegen::rules::model::{
    Comps, FactUse, Literal, NodeId, NodeKind, Rule, RuleSet, VarId, VarKind, flags,
};
use deburr_rulegen::rules::ops::OpSig;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A float environment as a rule claims it: one behaviour for all sizes, `any` included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Denormals.
    pub denorm: Denorm,
    /// Rounding.
    pub rounding: Rounding,
}

impl Claim {
    /// The folder's environment under this claim.
    pub fn first(self) -> FloatEnv {
        FloatEnv::uniform(
            if self.denorm == Denorm::Any { Denorm::Keep } else { self.denorm },
            if self.rounding == Rounding::Any { Rounding::Rte } else { self.rounding },
        )
    }
}

/// What a claim leaves to each step of an operation. Its operands may be flushed wherever its results may.
fn freedom(claim: Claim) -> Freedom {
    let roundings: &[Rounding] = match claim.rounding {
        Rounding::Any => &[Rounding::Rte, Rounding::Rtz],
        Rounding::Rte => &[Rounding::Rte],
        Rounding::Rtz => &[Rounding::Rtz],
    };
    Freedom { roundings: SmallVec::from_slice(roundings), denorm: claim.denorm }
}

/// The terms of one instance of a rule under one claim.
pub struct Terms<'a> {
    pub(super) set: &'a RuleSet,
    pub(super) rule: &'a Rule,
    pub(super) bits: &'a [u8],
    pub(super) claim: Claim,
    pub(super) freedom: Freedom,
    /// Steps of float arithmetic by node.
    steps: Vec<u32>,
    /// By node and operand, the first operand that is the same term.
    alike: Vec<SmallVec<[usize; 4]>>,
    /// Nodes of the pattern that are the same term stand for one instruction.
    pub(super) same: Vec<NodeId>,
    /// Nodes of the pattern that several operands are: all see one value.
    read_twice: Vec<bool>,
    /// Bound operations that a replacement uses, with their nodes: both sides see one value of theirs.
    kept: Vec<(VarId, NodeId)>,
}

/// Values of the variables by number; those of bound operations are filled in by the evaluation of the pattern.
pub type Inputs = Vec<Value>;

/// One result of the pattern: its value, and those of the bound operations.
pub type Outcome = (Value, Vec<(VarId, Value)>);

/// Most runs of one side at one input; beyond it the point is given up.
pub(super) const MAX_RUNS: usize = 4096;

impl<'a> Terms<'a> {
    /// The terms of the instance with these bits by class.
    pub fn new(set: &'a RuleSet, rule: &'a Rule, bits: &'a [u8], claim: Claim) -> Terms<'a> {
        let (same, read_twice) = instructions(rule);
        let used: Vec<NodeId> = rule.alts.iter().flat_map(|a| rule.reachable(a.term)).collect();
        let is_used = |v: VarId| {
            used.iter().any(|n| matches!(&rule.nodes[*n].kind, NodeKind::Var(w) if *w == v))
        };
        let kept = rule.vars.iter().enumerate().filter_map(|(v, var)| match var.kind {
            VarKind::Bound(node) if is_used(v) => Some((v, same[node])),
            _ => None,
        });
        let kept = kept.collect();
        let steps_of = |kind: &NodeKind| match kind {
            NodeKind::Op { op, .. } => set.ops.get(*op).eval.as_ref().map_or(0, |e| steps(e)),
            _ => 0,
        };
        let steps = rule.nodes.iter().map(|n| steps_of(&n.kind)).collect();
        let alike_of = |kind: &NodeKind| match kind {
            NodeKind::Op { args, .. } => args
                .iter()
                .map(|a| args.iter().position(|b| equal_terms(rule, *b, *a)).unwrap_or(0))
                .collect(),
            _ => SmallVec::new(),
        };
        let alike = rule.nodes.iter().map(|n| alike_of(&n.kind)).collect();
        let freedom = freedom(claim);
        Terms { set, rule, bits, claim, freedom, steps, alike, same, read_twice, kept }
    }

    /// Components of a node in this instance; generic ones are checked with one.
    pub fn comps(&self, comps: Comps) -> u8 {
        match comps {
            Comps::Fixed(n) => n,
            Comps::Generic => 1,
        }
    }

    /// How the result is read.
    pub fn root_base(&self) -> Base {
        match &self.rule.nodes[self.rule.pattern].kind {
            NodeKind::Op { op, .. } => self.set.ops.get(*op).output.base,
            _ => Base::Uint,
        }
    }

    /// Whether the outermost operation of the pattern only moves bits.
    pub fn root_moves(&self) -> bool {
        match &self.rule.nodes[self.rule.pattern].kind {
            NodeKind::Op { op, .. } => self.set.ops.get(*op).moves,
            _ => false,
        }
    }

    /// Bits of a class.
    pub fn class_bits(&self, class: usize) -> u8 {
        self.bits[class]
    }

    /// Every result of the pattern; `None` if there are too many.
    pub fn pattern(&self, inputs: &Inputs) -> Option<Vec<Outcome>> {
        let mut out: Vec<Outcome> = Vec::new();
        let mut choices = Choices::default();
        for _ in 0..MAX_RUNS {
            let mut memo = Memo::default();
            let value =
                self.node(self.rule.pattern, inputs, &[], Side::Before, &mut choices, &mut memo)?;
            let bound = self.kept.iter().filter_map(|(v, node)| {
                memo.values.get(node).map(|m| (*v, self.swizzled(m, *node)))
            });
            let outcome = (value, bound.collect());
            if !out.contains(&outcome) {
                out.push(outcome);
            }
            if !choices.turn() {
                return Some(out);
            }
        }
        None
    }

    /// Every result of a replacement, given the values of the bound operations; `None` if there are too many. An inner
    /// `None` says that a constant has no value there, so that the rule doesn't fire.
    pub fn replacement(
        &self,
        alt: NodeId,
        inputs: &Inputs,
        bound: &[(VarId, Value)],
    ) -> Option<Option<Vec<Value>>> {
        let mut out: Vec<Value> = Vec::new();
        let mut choices = Choices::default();
        for _ in 0..MAX_RUNS {
            let mut memo = Memo::default();
            let Some(value) = self.node(alt, inputs, bound, Side::After, &mut choices, &mut memo)
            else {
                return Some(None);
            };
            if !out.contains(&value) {
                out.push(value);
            }
            if !choices.turn() {
                return Some(Some(out));
            }
        }
        None
    }

    /// Whether the rule's facts hold for these inputs.
    pub fn facts_hold(&self, inputs: &Inputs) -> bool {
        self.rule.facts.iter().all(|f| self.fact_holds(f, inputs))
    }

    /// For each component of the root the bits that its users may read, by the rule; `None` if the rule says nothing of
    /// them. An inner `None` says that the constant has no value there, so that the rule doesn't fire.
    pub fn used_bits(&self, inputs: &Inputs) -> Option<Option<SmallVec<[u64; 4]>>> {
        let value = self.constant(self.rule.used?, inputs);
        let bits = |o: &Out| match o {
            Out::Bits(v) => Some(*v),
            _ => None,
        };
        Some(value.and_then(|value| value.iter().map(bits).collect()))
    }

    /// Whether one fact of the rule holds.
    pub fn fact_holds(&self, f: &FactUse, inputs: &Inputs) -> bool {
        let body = &self.set.facts[f.fact].body;
        let args: Option<Vec<Value>> = f.args.iter().map(|a| self.constant(*a, inputs)).collect();
        let Some(args) = args else { return false };
        let comps = args.iter().map(|a| a.len()).max().unwrap_or(1);
        (0..comps).all(|i| {
            let vars = args.iter().map(|a| Some(SmallVec::from_slice(&[a[i.min(a.len() - 1)]])));
            let value = self.expr(body, self.bits[f.bits], vars.collect());
            // Of poison every fact holds: an analysis speaks of values that follow from operands.
            matches!(value.first(), Some(Out::Bits(1) | Out::Poison))
        })
    }

    /// An expression by the first choice of everything.
    pub(super) fn expr(&self, e: &Expr, width: u8, vars: SmallVec<[Option<Value>; 8]>) -> Value {
        let mut choices = Choices::default();
        let env = self.claim.first();
        Evaluator { choices: &mut choices, env, freedom: None, width, side: Side::After, vars }
            .eval(e)
    }

    /// The value of an input or of a constant term; of any other term the first of its values. Bound operations have none.
    pub fn constant(&self, id: NodeId, inputs: &Inputs) -> Option<Value> {
        let mut choices = Choices::default();
        self.node(id, inputs, &[], Side::After, &mut choices, &mut Memo::default())
    }

    fn node(
        &self,
        id: NodeId,
        inputs: &Inputs,
        bound: &[(VarId, Value)],
        side: Side,
        choices: &mut Choices,
        memo: &mut Memo,
    ) -> Option<Value> {
        let id = self.same[id];
        let node = &self.rule.nodes[id];
        let bits = self.bits[node.class];
        let comps = usize::from(self.comps(node.comps));
        let value: Value = match &node.kind {
            NodeKind::Var(v) => match bound.iter().find(|b| b.0 == *v) {
                Some((_, value)) => value.clone(),
                None => inputs[*v].clone(),
            },
            NodeKind::Ref(inner) => self.node(*inner, inputs, bound, side, choices, memo)?,
            NodeKind::Outside { .. } => return None,
            NodeKind::Undef => {
                let any = |choices: &mut Choices| match bits {
                    1 => Out::Bits(choices.pick(2) as u64),
                    _ => Out::Any,
                };
                (0..comps).map(|_| any(choices)).collect()
            }
            NodeKind::Literal(value, base) => literal(value, *base, bits, comps)?,
            NodeKind::Compute { expr, args, bits: class } => {
                let args: Option<Vec<Value>> = args
                    .iter()
                    .map(|a| self.node(*a, inputs, bound, side, choices, memo))
                    .collect();
                let args = args?;
                let mut out = Value::new();
                for i in 0..comps {
                    let vars =
                        args.iter().map(|a| Some(SmallVec::from_slice(&[a[i.min(a.len() - 1)]])));
                    match self.expr(expr, self.bits[*class], vars.collect()).first() {
                        Some(Out::Bits(v)) if expr.ty.base == Base::Bool && bits > 1 => {
                            out.push(Out::Bits(prim::from_bool(bits.into(), *v != 0)));
                        }
                        Some(Out::Bits(v)) => out.push(Out::Bits(*v)),
                        Some(Out::AnyNan) => out.push(Out::Bits(prim::nan(bits.into()))),
                        _ => return None,
                    }
                }
                out
            }
            NodeKind::Op { .. } => {
                if let Some(done) = memo.values.get(&id) {
                    return Some(self.swizzled(done, id));
                }
                let mut value = self.op(id, inputs, bound, side, choices, memo)?;
                if side == Side::Before && self.kept.iter().any(|k| k.1 == id) {
                    settle_nans(&mut value, bits, choices);
                    settle(&mut value, bits, choices);
                    // It stays as it is matched, and may promise more than the pattern asks for.
                    if self.may_promise(id) && choices.pick(2) == 1 {
                        value.iter_mut().for_each(|o| *o = Out::Poison);
                    }
                }
                if side == Side::Before && self.read_twice[id] {
                    settle(&mut value, bits, choices);
                }
                memo.values.insert(id, value.clone());
                value
            }
        };
        Some(self.swizzled(&value, id))
    }

    fn op(
        &self,
        id: NodeId,
        inputs: &Inputs,
        bound: &[(VarId, Value)],
        side: Side,
        choices: &mut Choices,
        memo: &mut Memo,
    ) -> Option<Value> {
        let NodeKind::Op { op, promises, args, .. } = &self.rule.nodes[id].kind else {
            return None;
        };
        let sig = self.set.ops.get(*op);
        let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
        for arg in args {
            operands.push(self.node(*arg, inputs, bound, side, choices, memo)?);
        }
        for (i, operand) in operands.iter_mut().enumerate() {
            if side == Side::Before && operand.contains(&Out::Any) && reads_twice(sig, i) {
                settle(operand, self.bits[self.rule.nodes[args[i]].class], choices);
            }
        }
        let licences = if sig.float { self.rule.licences } else { 0 };
        let width = self.width(id, sig, args);
        let call = Call {
            sig,
            info: builtin(sig),
            width,
            bits: self.bits[self.rule.nodes[id].class],
            operand_bits: args.iter().map(|a| self.bits[self.rule.nodes[*a].class]).collect(),
            alike: self.alike[id].clone(),
            steps: self.steps[id],
            outermost: self.steps[id] == 0
                || sig.eval.as_ref().is_some_and(|e| is_outermost_step(e)),
            float: sig.float && !is_move(sig, width, self.bits[self.rule.nodes[id].class]),
            flags: promises | licences,
            side,
        };
        let contracted = match licences & flags::CONTRACT != 0 {
            true => self.contracted(sig, args, &operands, memo, side, width),
            false => Vec::new(),
        };
        let value = match sig.output.comps {
            0 => {
                let comps = usize::from(self.comps(self.rule.nodes[id].comps));
                let mut out = Value::new();
                for c in 0..comps {
                    let slice: SmallVec<[Value; 4]> = operands
                        .iter()
                        .zip(&sig.inputs)
                        .map(|(v, ty)| match ty.comps {
                            0 => SmallVec::from_slice(&[v[c.min(v.len() - 1)]]),
                            _ => v.clone(),
                        })
                        .collect();
                    let mut results = self.results(&call, &slice, c);
                    results.extend(
                        contracted.iter().map(|v| SmallVec::from_slice(&[v[c.min(v.len() - 1)]])),
                    );
                    dedup(&mut results);
                    out.push(results.get(choices.pick(results.len()))?[0]);
                }
                out
            }
            _ => {
                let results = self.results(&call, &operands, 0);
                results.get(choices.pick(results.len()))?.clone()
            }
        };
        memo.operands.insert(id, operands);
        Some(value)
    }

    /// Whether a replacement keeps a matched operation that may carry promises that the pattern doesn't ask for: then more is
    /// poison than the pattern says.
    pub fn keeps_promises(&self) -> bool {
        self.kept.iter().any(|(_, node)| self.may_promise(*node))
    }

    /// Whether a matched operation may carry a promise that the pattern doesn't ask for.
    fn may_promise(&self, id: NodeId) -> bool {
        match &self.rule.nodes[id].kind {
            NodeKind::Op { op, promises, .. } => self.set.ops.get(*op).promises & !promises != 0,
            _ => false,
        }
    }

    /// What a node gives of the value that is computed for it.
    fn swizzled(&self, value: &Value, id: NodeId) -> Value {
        // The swizzle of a per-component operation was applied to its operands.
        let per_component = match &self.rule.nodes[id].kind {
            NodeKind::Op { op, .. } => self.set.ops.get(*op).output.comps == 0,
            _ => false,
        };
        let part = |c: &u8| value.get(usize::from(*c)).copied().unwrap_or(Out::Poison);
        match &self.rule.nodes[id].swizzle {
            Some(s) if !per_component => s.iter().map(part).collect(),
            _ => value.clone(),
        }
    }

    /// The unsized width of an operation.
    pub(super) fn width(&self, id: NodeId, sig: &OpSig, args: &[NodeId]) -> u8 {
        match sig.inputs.iter().position(|t| t.bits == 0) {
            _ if sig.output.bits == 0 => self.bits[self.rule.nodes[id].class],
            Some(i) => self.bits[self.rule.nodes[args[i]].class],
            None => 0,
        }
    }

    /// Results of a sum of a product computed as one operation.
    fn contracted(
        &self,
        sig: &OpSig,
        args: &[NodeId],
        operands: &[Value],
        memo: &Memo,
        side: Side,
        width: u8,
    ) -> Vec<Value> {
        let negate = |v: &Value| -> Value {
            let flip = |o: &Out| match o {
                Out::Bits(b) => Out::Bits(prim::fneg(width.into(), *b)),
                other => *other,
            };
            v.iter().map(flip).collect()
        };
        let Some(fma) = self.set.ops.find("ffma") else { return Vec::new() };
        let mut out = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let arg = self.same[*arg];
            let NodeKind::Op { op, args: inner, .. } = &self.rule.nodes[arg].kind else { continue };
            let (mut product, mut sign) = (arg, false);
            if self.set.ops.get(*op).name == "fneg" {
                (product, sign) = (self.same[inner[0]], true);
            }
            let NodeKind::Op { op, .. } = &self.rule.nodes[product].kind else { continue };
            if self.set.ops.get(*op).name != "fmul" {
                continue;
            }
            let Some(factors) = memo.operands.get(&product) else { continue };
            let Some(addend) = operands.get(1 - i.min(1)) else { continue };
            let (mut x, mut c) = (factors[0].clone(), addend.clone());
            match (sig.name.as_str(), i) {
                ("fadd", _) => {}
                ("fsub", 0) => c = negate(&c),
                ("fsub", _) => sign = !sign,
                _ => continue,
            }
            if sign {
                x = negate(&x);
            }
            let fma_sig = self.set.ops.get(fma);
            let call = Call {
                sig: fma_sig,
                info: builtin(fma_sig),
                width,
                bits: width,
                operand_bits: SmallVec::from_slice(&[width; 3]),
                alike: SmallVec::new(),
                steps: 1,
                outermost: true,
                float: true,
                flags: 0,
                side,
            };
            let comps = x.len().max(c.len());
            // Vectors are contracted by component; patterns of that kind are checked with one.
            if comps == 1 {
                out.extend(self.results(&call, &[x, factors[1].clone(), c], 0));
            }
        }
        out
    }
}

/// Values of operations in one run, by node.
#[derive(Default)]
struct Memo {
    values: BTreeMap<NodeId, Value>,
    operands: BTreeMap<NodeId, SmallVec<[Value; 4]>>,
}

pub(super) fn builtin(sig: &OpSig) -> Option<&'static AluInfo> {
    (sig.id < AluOp::FIRST_DIALECT)
        .then(|| AluOp(sig.id).builtin())
        .flatten()
        .filter(|i| i.name == sig.name)
}

/// A literal in every component.
pub(super) fn literal(value: &Literal, base: Base, bits: u8, comps: usize) -> Option<Value> {
    let out = match value {
        Literal::Float(v) if f64::from_bits(*v).is_nan() => Out::AnyNan,
        other => Out::Bits(other.encode(base, bits).ok()?),
    };
    Some(SmallVec::from_elem(out, comps))
}

/// Takes one value of what may be any, where several see the same.
fn settle(value: &mut Value, bits: u8, choices: &mut Choices) {
    for o in value.iter_mut().filter(|o| **o == Out::Any) {
        let samples = super::expr::samples(bits.into());
        *o = Out::Bits(samples[choices.pick(samples.len())]);
    }
}

/// Takes one NaN of what may be any, where several see its bits.
fn settle_nans(value: &mut Value, bits: u8, choices: &mut Choices) {
    for o in value.iter_mut().filter(|o| **o == Out::AnyNan) {
        *o = Out::Bits(super::expr::nans(bits.into())[choices.pick(6)]);
    }
}

/// Whether an operation looks at an operand more than once, or may.
pub fn reads_twice(sig: &OpSig, operand: usize) -> bool {
    let (mut reads, mut names) = (0, false);
    if let Some(eval) = &sig.eval {
        eval.walk(&mut |e| match &e.kind {
            ExprKind::Var { id, .. } => reads += u32::from(*id as usize == operand),
            ExprKind::Let { .. } => names = true,
            _ => {}
        });
    }
    reads > 1 || names
}

/// The instructions that the nodes of a pattern stand for: by node the one that is the same term, which is one instruction
/// with it, and whether several operands are that.
pub fn instructions(rule: &Rule) -> (Vec<NodeId>, Vec<bool>) {
    let mut same: Vec<NodeId> = (0..rule.nodes.len()).collect();
    let nodes = rule.pattern_nodes();
    for (i, x) in nodes.iter().enumerate() {
        if let Some(y) = nodes[..i].iter().find(|y| equal_terms(rule, **y, *x)) {
            same[*x] = *y;
        }
    }
    let mut readers = vec![0u32; rule.nodes.len()];
    for node in nodes.iter().filter(|n| same[**n] == **n) {
        rule.nodes[*node].operands().iter().for_each(|o| readers[same[*o]] += 1);
    }
    (same, readers.into_iter().map(|n| n > 1).collect())
}

/// Whether two nodes of a pattern are the same term.
pub fn equal_terms(rule: &Rule, x: NodeId, y: NodeId) -> bool {
    let (a, b) = (&rule.nodes[x], &rule.nodes[y]);
    a.swizzle == b.swizzle
        && match (&a.kind, &b.kind) {
            (NodeKind::Var(v), NodeKind::Var(w)) => v == w,
            (NodeKind::Literal(v, p), NodeKind::Literal(w, q)) => {
                v == w && p == q && a.class == b.class
            }
            (
                NodeKind::Op { op: o, promises: f, args: s, .. },
                NodeKind::Op { op: p, promises: g, args: t, .. },
            ) => o == p && f == g && s.iter().zip(t).all(|(s, t)| equal_terms(rule, *s, *t)),
            _ => false,
        }
}
