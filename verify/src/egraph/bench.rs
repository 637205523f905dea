//! The sides of a rule as code: constants and operands that satisfy its facts, instructions, and what uses them.

use super::greedy::Greedy;
use crate::edges::{Numbers, Read};
use crate::inputs::Rng;
use deburr_algebraic::Target;
use deburr_algebraic::interp::expr::{Out, Value};
use deburr_algebraic::interp::term::{Claim, Inputs, Terms};
use deburr_ir_core::fold::FloatEnv;
use deburr_ir_core::{
    AluOp, AluSrc, Builder, Def, Denorm, Flags, Function, Index, Intrinsic, JumpKind, Rounding,
    Shape,
};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{FactUse, Literal, NodeId, NodeKind, Rule, RuleSet, VarKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Most constants that are tried for an instance.
const CONSTANTS: usize = 8;
/// The same where a fact speaks of operands that are no constants, beside or without a constant.
const MORE_CONSTANTS: usize = 48;
/// Most tuples of constants that are drawn for them.
const DRAWS: usize = 4_000;
/// Most samples of an instance.
const SAMPLES: usize = 600;
/// Trials of an instance on one target, under one environment, after which no more are made.
const ENOUGH: usize = 40;

/// What stands for the variables of an instance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Constants, by variable; dummies for values.
    constants: Inputs,
    /// What an operand is made of, by variable: an index in the list of its base.
    shapes: Vec<usize>,
}

/// An instance of a rule under one environment.
pub(crate) struct Bench<'a> {
    pub set: &'a RuleSet,
    pub rule: &'a Rule,
    pub bits: &'a [u8],
    terms: Terms<'a>,
    env: FloatEnv,
}

/// Who else reads what a pattern has inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Nobody.
    None,
    /// Somebody, of each.
    All,
}

/// Why a rule isn't looked at, if it isn't.
pub(crate) fn left_out(set: &RuleSet, rule: &Rule) -> Option<&'static str> {
    let any = |f: &dyn Fn(&NodeKind) -> bool| rule.nodes.iter().any(|n| f(&n.kind));
    if rule.has_outside() {
        return Some("it isn't arithmetic alone");
    }
    if any(&|kind| matches!(kind, NodeKind::Undef)) {
        return Some("it chooses for an undefined value");
    }
    if rule.used.is_some() {
        return Some("it rests on what users read");
    }
    let dialect = |kind: &NodeKind| match kind {
        NodeKind::Op { op, .. } => AluOp(set.ops.get(*op).id).builtin().is_none(),
        _ => false,
    };
    any(&dialect).then_some("an operation of it is not in the built-in table")
}

impl<'a> Bench<'a> {
    pub fn new(set: &'a RuleSet, rule: &'a Rule, bits: &'a [u8], claim: Claim) -> Bench<'a> {
        let terms = Terms::new(set, rule, bits, claim);
        let env = FloatEnv::uniform(claim.denorm, claim.rounding);
        Bench { set, rule, bits, terms, env }
    }

    /// What the variables may stand for, constants and operands of all kinds.
    pub fn samples(&self) -> Vec<Sample> {
        let mut out = Vec::new();
        let constants = self.constants();
        let shapes = self.shapes();
        // All kinds of operands with the first constants come before the second constants.
        for constants in &constants {
            for shapes in &shapes {
                if out.len() == SAMPLES {
                    return out;
                }
                out.push(Sample { constants: constants.clone(), shapes: shapes.clone() });
            }
        }
        out
    }

    /// The variables that a fact speaks of and that are no constants.
    fn narrowed(&self) -> Vec<usize> {
        let args = self.rule.fact_args().flat_map(|n| self.rule.reachable(n));
        let vars = args.filter_map(|n| match &self.rule.nodes[n].kind {
            NodeKind::Var(v) if self.rule.vars[*v].kind == VarKind::Value => Some(*v),
            _ => None,
        });
        let mut out: Vec<usize> = vars.collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Kinds of operands, by variable.
    fn shapes(&self) -> Vec<Vec<usize>> {
        let mut out = vec![vec![0; self.rule.vars.len()]];
        for v in self.narrowed() {
            let kinds = kinds(self.rule.vars[v].base);
            out = out
                .iter()
                .flat_map(|shapes| {
                    (0..kinds).map(|kind| {
                        let mut shapes = shapes.clone();
                        shapes[v] = kind;
                        shapes
                    })
                })
                .collect();
        }
        out
    }

    /// Tuples of constants that satisfy those facts that speak of constants alone.
    fn constants(&self) -> Vec<Inputs> {
        let vars: Vec<usize> = (0..self.rule.vars.len())
            .filter(|v| self.rule.vars[*v].kind == VarKind::Const)
            .collect();
        let value = |v: usize, bits: u64| -> Value {
            let comps = usize::from(self.terms.comps(self.rule.vars[v].comps)).max(1);
            SmallVec::from_elem(Out::Bits(bits), comps)
        };
        let none: Inputs = (0..self.rule.vars.len()).map(|v| value(v, 0)).collect();
        if vars.is_empty() {
            return vec![none];
        }
        let narrowed = self.narrowed();
        let speaks = |fact: &&FactUse| {
            let mut nodes = fact.args.iter().flat_map(|n| self.rule.reachable(*n));
            !nodes.any(
                |n| matches!(&self.rule.nodes[n].kind, NodeKind::Var(v) if narrowed.contains(v)),
            )
        };
        let facts: Vec<&FactUse> = self.rule.facts.iter().filter(speaks).collect();
        let lists: Vec<Vec<u64>> = vars.iter().map(|v| self.edges(*v)).collect();
        let all: usize = lists.iter().map(Vec::len).product();
        let mut rng = Rng(1);
        let most = if narrowed.is_empty() { CONSTANTS } else { MORE_CONSTANTS };
        let mut out: Vec<Inputs> = Vec::new();
        for step in 0..DRAWS.min(if vars.len() == 1 { all } else { DRAWS }) {
            // Of a few constants all edge values are there, of tuples some are enough.
            if vars.len() > 1 && out.len() >= 4 * most {
                break;
            }
            let mut inputs = none.clone();
            let mut before = Vec::new();
            for (v, list) in vars.iter().zip(&lists) {
                let bits = match (vars.len(), before.last()) {
                    (1, _) => list[step],
                    // Facts compare constants: equal ones are tried often.
                    (_, Some(same)) if rng.below(4) == 0 => *same,
                    _ => list[rng.below(list.len())],
                };
                before.push(bits);
                inputs[*v] = value(*v, bits);
            }
            if !out.contains(&inputs) && facts.iter().all(|f| self.terms.fact_holds(f, &inputs)) {
                out.push(inputs);
            }
        }
        // Edge values come first: some of those, and some that are less special.
        let step = out.len().div_ceil(most).max(1);
        out.into_iter().step_by(step).collect()
    }

    fn edges(&self, v: usize) -> Vec<u64> {
        let var = &self.rule.vars[v];
        let bits = self.bits[var.class];
        let own = self.rule.nodes.iter().filter(|n| self.bits[n.class] == bits);
        let own = own.filter_map(|n| match &n.kind {
            NodeKind::Literal(value, base) => value.encode(*base, bits).ok(),
            _ => None,
        });
        let read = Read { float: var.base == Base::Float, int: var.base != Base::Float };
        let mut out = Numbers::default().edges(var.base, read, bits);
        out.extend(own);
        out
    }

    /// Code for some sides of the rule over the same operands, and the values of the sides. `None` where a constant has no
    /// value.
    pub fn code(
        &self,
        sample: &Sample,
        sides: &[NodeId],
        readers: Readers,
    ) -> Option<(Function, Vec<Def>)> {
        let mut f = Function::new("term");
        f.float_env = self.env;
        let mut code = Code {
            bench: self,
            sample,
            b: Builder::at_end(&mut f),
            vars: vec![None; self.rule.vars.len()],
            done: FxHashMap::default(),
            made: Vec::new(),
        };
        for side in sides {
            code.side(*side)?;
        }
        let values: Vec<Def> = sides.iter().map(|side| code.done[side]).collect();
        let made = std::mem::take(&mut code.made);
        let inner = made.into_iter().map(|(_, def)| def).filter(|def| !values.contains(def));
        let read: Vec<Def> = match readers {
            Readers::None => Vec::new(),
            Readers::All => inner.collect(),
        };
        read_all(&mut code.b, values.iter().copied().chain(read));
        Some((f, values))
    }
}

/// Ends a function by instructions that read these values.
pub(crate) fn read_all(b: &mut Builder<'_>, values: impl IntoIterator<Item = Def>) {
    for value in values {
        let at = b.imm_u32(0);
        b.intrinsic_with(Intrinsic::STORE_OUTPUT, Shape::NONE, &[value, at], &[]);
    }
    b.jump(JumpKind::Return, None);
}

/// A value from outside.
pub(crate) fn parameter(b: &mut Builder<'_>, comps: u8, bits: u8, number: u32) -> Def {
    let shape = Shape::new(comps, bits).unwrap_or(Shape::NONE);
    let index = [(Index::PARAM_IDX, number)];
    b.intrinsic_with(Intrinsic::LOAD_PARAM, shape, &[], &index).def()
}

/// The nodes of a term, operands before users; constants that are computed are taken as a whole, and bound operations as what
/// they are if `bound` says so.
pub(crate) fn postorder(rule: &Rule, root: NodeId, bound: bool) -> Vec<NodeId> {
    let mut out: Vec<NodeId> = Vec::new();
    let mut stack = vec![root];
    while let Some(&id) = stack.last() {
        let node = &rule.nodes[id];
        let mut open: SmallVec<[NodeId; 4]> = match &node.kind {
            NodeKind::Compute { .. } => SmallVec::new(),
            NodeKind::Var(v) => match rule.vars[*v].kind {
                VarKind::Bound(of) if bound => SmallVec::from_slice(&[of]),
                _ => SmallVec::new(),
            },
            _ => SmallVec::from_slice(node.operands()),
        };
        open.retain(|n| !out.contains(n));
        if open.is_empty() {
            stack.pop();
            if !out.contains(&id) {
                out.push(id);
            }
        } else {
            stack.extend(open);
        }
    }
    out
}

/// An operation as it is built: equal ones are one.
type Key = (u16, u16, u8, SmallVec<[(Def, SmallVec<[u8; 4]>); 4]>);

struct Code<'b, 'f> {
    bench: &'b Bench<'b>,
    sample: &'b Sample,
    b: Builder<'f>,
    vars: Vec<Option<Def>>,
    done: FxHashMap<NodeId, Def>,
    made: Vec<(Key, Def)>,
}

impl Code<'_, '_> {
    /// Builds a term.
    fn side(&mut self, root: NodeId) -> Option<()> {
        for id in postorder(self.bench.rule, root, true) {
            if !self.done.contains_key(&id) {
                let def = self.node(id)?;
                self.done.insert(id, def);
            }
        }
        Some(())
    }

    fn node(&mut self, id: NodeId) -> Option<Def> {
        let rule = self.bench.rule;
        let node = &rule.nodes[id];
        let bits = self.bench.bits[node.class];
        Some(match &node.kind {
            NodeKind::Var(v) => self.var(*v),
            NodeKind::Literal(..) | NodeKind::Compute { .. } => {
                let value = match &node.kind {
                    NodeKind::Literal(Literal::Float(v), base) if f64::from_bits(*v).is_nan() => {
                        let bits = Literal::Float(*v).encode(*base, bits).ok()?;
                        let comps = self.bench.terms.comps(node.comps);
                        SmallVec::from_elem(Out::Bits(bits), comps.into())
                    }
                    _ => self.bench.terms.constant(id, &self.sample.constants)?,
                };
                self.constant(bits, &value)?
            }
            NodeKind::Ref(of) => self.done[of],
            NodeKind::Op { op, promises, args, .. } => {
                let sig = self.bench.set.ops.get(*op);
                let comps = match sig.output.comps {
                    0 => self.bench.terms.comps(node.comps),
                    n => n,
                };
                let taken = args.iter().map(|a| (self.done[a], self.taken(*a)));
                let taken: SmallVec<[_; 4]> = taken.collect();
                let licences = if sig.float { rule.licences } else { 0 };
                let key = (sig.id, promises | licences, comps, taken);
                if let Some((_, def)) = self.made.iter().find(|m| m.0 == key) {
                    return Some(*def);
                }
                let srcs = key.3.iter().map(|(def, comps)| match comps.is_empty() {
                    true => AluSrc::from(*def),
                    false => AluSrc::swizzled(*def, comps),
                });
                let srcs: SmallVec<[AluSrc; 4]> = srcs.collect();
                self.b.flags = Flags::from_bits_truncate(key.1);
                let def = self.b.alu_instr(AluOp(sig.id), comps, &srcs).def();
                self.b.flags = Flags::empty();
                self.made.push((key, def));
                def
            }
            NodeKind::Undef | NodeKind::Outside { .. } => return None,
        })
    }

    /// The components that are taken of an operand; none for all.
    fn taken(&self, id: NodeId) -> SmallVec<[u8; 4]> {
        let node = &self.bench.rule.nodes[id];
        let whole = match &node.kind {
            NodeKind::Op { op, .. } => self.bench.set.ops.get(*op).output.comps == 0,
            _ => false,
        };
        match &node.swizzle {
            Some(list) if !whole => SmallVec::from_slice(list),
            _ => SmallVec::new(),
        }
    }

    fn constant(&mut self, bits: u8, value: &Value) -> Option<Def> {
        let parts = value.iter().map(|o| match o {
            Out::Bits(v) => Some(*v),
            _ => None,
        });
        let parts: SmallVec<[u64; 4]> = parts.collect::<Option<_>>()?;
        Some(self.b.load_const(bits, &parts))
    }

    fn var(&mut self, v: usize) -> Def {
        let var = &self.bench.rule.vars[v];
        if let VarKind::Bound(node) = var.kind {
            return self.done[&node];
        }
        if let Some(def) = self.vars[v] {
            return def;
        }
        let bits = self.bench.bits[var.class];
        let comps = self.bench.terms.comps(var.comps).max(1);
        let def = match var.kind {
            VarKind::Const => {
                let values = &self.sample.constants[v];
                let bits_of = |o: &Out| match o {
                    Out::Bits(v) => *v,
                    _ => 0,
                };
                let values: SmallVec<[u64; 4]> = values.iter().map(bits_of).collect();
                self.b.load_const(bits, &values)
            }
            _ => {
                let shape = self.sample.shapes[v];
                operand(&mut self.b, var.base, (comps, bits), v as u32, shape)
            }
        };
        self.vars[v] = Some(def);
        def
    }
}

/// Kinds of operands of a base.
fn kinds(base: Base) -> usize {
    match base {
        Base::Bool => 1,
        Base::Int | Base::Uint => 9,
        Base::Float => 10,
    }
}

/// An operand of which the analyses know something; of kind 0 nothing.
fn operand(b: &mut Builder<'_>, base: Base, shape: (u8, u8), number: u32, kind: usize) -> Def {
    let (comps, bits) = shape;
    if base != Base::Float {
        let x = parameter(b, comps, bits, number);
        let mut with = |op: AluOp, v: u64| {
            // Counts have 32 bits.
            let size = if matches!(op, AluOp::ISHL | AluOp::USHR) { 32 } else { bits };
            let c = b.load_const(size, &vec![v & mask(size); comps.into()]);
            b.alu(op, &[x, c])
        };
        return match kind {
            1 => with(AluOp::USHR, 1),
            2 => with(AluOp::IAND, 7),
            3 => with(AluOp::IOR, 1),
            4 => with(AluOp::IOR, 1 << (bits - 1)),
            5 => with(AluOp::ISHL, 1),
            6 => with(AluOp::IAND, 0x5555_5555_5555_5555),
            7 => with(AluOp::IAND, 0xaaaa_aaaa_aaaa_aaaa),
            8 => with(AluOp::IOR, 0xf0),
            _ => x,
        };
    }
    // Two from outside the floats.
    let (int, bool) = match bits {
        16 => (AluOp::U2F16, AluOp::B2F16),
        32 => (AluOp::U2F32, AluOp::B2F32),
        _ => (AluOp::U2F64, AluOp::B2F64),
    };
    if kind >= 8 {
        let (op, bits) = if kind == 8 { (int, 16) } else { (bool, 1) };
        let other = parameter(b, comps, bits, number);
        return b.alu(op, &[other]);
    }
    let x = parameter(b, comps, bits, number);
    let mut unary = |ops: &[AluOp]| ops.iter().fold(x, |x, op| b.alu(*op, &[x]));
    match kind {
        1 => unary(&[AluOp::FABS]),
        2 => unary(&[AluOp::FSAT]),
        3 => unary(&[AluOp::FFLOOR]),
        4 => unary(&[AluOp::FSAT, AluOp::FFLOOR]),
        5 => unary(&[AluOp::FSAT, AluOp::FNEG]),
        6 => unary(&[AluOp::FEXP2]),
        7 => unary(&[AluOp::FSAT, AluOp::FSQRT]),
        _ => x,
    }
}

fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// What is tried of a rule: an instance under an environment, over some operands, read by nobody or somebody.
pub(crate) struct Trial<'t> {
    /// The instance and what stands for its variables.
    pub bench: &'t Bench<'t>,
    pub sample: &'t Sample,
    /// Whether its inner values are read by others too.
    pub readers: Readers,
    /// The group of the rule.
    pub group: usize,
    /// Where it runs.
    pub target: &'t Target,
    /// The pattern.
    pub before: Function,
}

/// Gives every trial of an instance in which the rule fires, with what the driver makes of it, until `fires` says no.
pub(crate) fn trials(
    greedy: &Greedy<'_>,
    number: usize,
    instance: usize,
    fires: &mut dyn FnMut(&Trial<'_>, &Function) -> bool,
) {
    let set = greedy.set;
    let rule = &set.rules[number];
    for claim in claims(set, rule) {
        let bench = Bench::new(set, rule, &rule.instances[instance], claim);
        let samples = bench.samples();
        for target in &greedy.targets() {
            let mut fired = 0;
            for sample in &samples {
                for readers in [Readers::None, Readers::All] {
                    let code = bench.code(sample, &[rule.pattern], readers);
                    let Some((before, _)) = code else { continue };
                    let mut after = before.clone();
                    let ran = greedy.run(&mut after, rule.group, target, &[]);
                    if !ran.fired.contains(&number) {
                        continue;
                    }
                    let (bench, group) = (&bench, rule.group);
                    let trial = Trial { bench, sample, readers, group, target, before };
                    if !fires(&trial, &after) {
                        return;
                    }
                    fired += 1;
                }
                if fired >= ENOUGH {
                    break;
                }
            }
        }
    }
}

/// Environments that tell rules apart: each behaviour of denormals that the rule claims, with the freest rounding.
pub(crate) fn claims(set: &RuleSet, rule: &Rule) -> Vec<Claim> {
    let mut out: Vec<Claim> = Vec::new();
    for claim in crate::claims(set, rule) {
        let free = claim.rounding == Rounding::Any;
        match out.iter_mut().find(|c| c.denorm == claim.denorm) {
            Some(known) if free => *known = claim,
            Some(_) => {}
            None => out.push(claim),
        }
    }
    // What holds under `any` is what matters most: shaders say nothing of denormals.
    out.sort_by_key(|c| c.denorm != Denorm::Any);
    out
}
