//! The reference matcher: rewrites by rules that are interpreted, one node at a time.
//!
//! It is slow and plain: for each rule in order and for each assignment of operand orders it walks the pattern. It shares
//! nothing with the compiled matchers but the rules themselves and the driver's building blocks, and chooses the same
//! rewrites: the first rule, the first operand orders in source order.

use super::abstractly;
use super::expr::{Choices, Evaluator, Out, Side, Value};
use crate::facts::abs::{self, Abs};
use crate::rewriter::{Rewriter, Val};
use crate::ruleset::UseWatch;
use deburr_ir_core::{AluOp, Def, Denorm, Flags, Instr, InstrView, Rounding, Swizzle, User};
use deburr_rulegen::diagnostics::Span;
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{
    ClassId, Comps, Cond, Literal, NodeId, NodeKind, Profit, Rule, RuleSet, VarId, VarKind,
};
use smallvec::SmallVec;
use std::collections::HashMap;

/// A rule set to be interpreted.
#[derive(Debug)]
pub struct Interpreter<'r> {
    set: &'r RuleSet,
    group: usize,
    /// Rules by root opcode.
    by_root: HashMap<u16, Vec<usize>>,
}

/// A value during matching: a def and a component for each that the pattern sees.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    def: Def,
    comps: SmallVec<[u8; 4]>,
}

/// What a match binds.
#[derive(Clone, Default)]
struct Match {
    nodes: HashMap<NodeId, Seen>,
    instrs: HashMap<NodeId, Instr>,
    vars: HashMap<VarId, Seen>,
}

impl<'r> Interpreter<'r> {
    /// An interpreter for one group of a rule set; `None` if there is no such group. Rules that [`not_interpreted`]
    /// names are not among those that it tries.
    pub fn new(set: &'r RuleSet, group: &str) -> Option<Interpreter<'r>> {
        let group = set.groups.iter().position(|g| g.0 == group)?;
        let mut by_root: HashMap<u16, Vec<usize>> = HashMap::new();
        let own = |rule: &Rule| rule.group == group && not_interpreted(rule).is_none();
        for (i, rule) in set.rules.iter().enumerate().filter(|(_, r)| own(r)) {
            if let NodeKind::Op { op, .. } = &rule.nodes[rule.pattern].kind {
                by_root.entry(set.ops.get(*op).id).or_default().push(i);
            }
        }
        Some(Interpreter { set, group, by_root })
    }

    /// Which changes in who uses a value may let a rule fire.
    pub fn uses(&self) -> UseWatch {
        let watch = self.set.use_watch();
        UseWatch { few: watch.few, more: watch.more }
    }

    /// The number of the group.
    pub fn group(&self) -> usize {
        self.group
    }

    /// Tries the group's rules on an instruction; gives the number of the rule that fired. `number` says under which
    /// number a rule is counted and can be switched off.
    pub fn apply(
        &self,
        cx: &mut Rewriter<'_>,
        root: Instr,
        number: impl Fn(usize) -> usize,
    ) -> Option<usize> {
        let op = cx.func().alu_op(root)?;
        for &index in self.by_root.get(&op.0)? {
            let rule = &self.set.rules[index];
            let orders = commutative_nodes(self.set, rule);
            for mask in 0..1u32 << orders.len().min(8) {
                let state = State { set: self.set, rule, orders: &orders, mask };
                if state.fire(cx, root, number(index)) {
                    return Some(index);
                }
            }
        }
        None
    }
}

/// The construct for which this matcher can't try a rule, and where it stands.
pub fn not_interpreted(rule: &Rule) -> Option<(&'static str, Span)> {
    let chain = rule.chains.first()?;
    Some(("`ac(…)`", rule.nodes[chain.nodes[0]].span))
}

/// Nodes whose operands may be exchanged, parents first: the order in which their orders vary, the last fastest.
fn commutative_nodes(set: &RuleSet, rule: &Rule) -> Vec<NodeId> {
    let commutes = |id: &NodeId| match &rule.nodes[*id].kind {
        NodeKind::Op { op, args, .. } => set.ops.get(*op).commutative && args.len() >= 2,
        _ => false,
    };
    rule.pattern_nodes().into_iter().filter(commutes).collect()
}

/// One attempt: a rule with its operand orders.
struct State<'a> {
    set: &'a RuleSet,
    rule: &'a Rule,
    orders: &'a [NodeId],
    mask: u32,
}

impl State<'_> {
    fn fire(&self, cx: &mut Rewriter<'_>, root: Instr, number: usize) -> bool {
        let comps = cx.comps(root);
        let mut m = Match::default();
        let whole = Seen { def: root.def(), comps: (0..comps).collect() };
        if !self.matches(cx, self.rule.pattern, whole, comps, &mut m) {
            return false;
        }
        if !self.sizes_allow(cx, &m) || !self.environment_allows(cx, &m) {
            return false;
        }
        if let Some(when) = &self.rule.when
            && !self.condition(cx, when, &m, root)
        {
            return false;
        }
        if !self.facts_hold(cx, comps, &m) {
            return false;
        }
        for alt in &self.rule.alts {
            if !self.legal(cx, alt.term, &m) {
                continue;
            }
            if alt.profit.as_ref().is_some_and(|p| !self.condition(cx, p, &m, root)) {
                continue;
            }
            let mut constants = HashMap::new();
            if !self.compute(cx, alt.term, comps, &m, &mut constants) || !cx.begin(number) {
                continue;
            }
            let value = self.build(cx, alt.term, comps, &m, &constants);
            return cx.replace(number, root, value);
        }
        false
    }

    fn count(&self, comps: Comps, root: u8) -> u8 {
        match comps {
            Comps::Fixed(n) => n,
            Comps::Generic => root,
        }
    }

    /// Matches a node against a value that is seen. Depth is bounded by the parser of rules.
    fn matches(
        &self,
        cx: &Rewriter<'_>,
        id: NodeId,
        seen: Seen,
        root_comps: u8,
        m: &mut Match,
    ) -> bool {
        let f = cx.func();
        let node = &self.rule.nodes[id];
        m.nodes.insert(id, seen.clone());
        if let Some(wanted) = &node.swizzle
            && seen.comps.as_slice() != wanted.as_slice()
        {
            return false;
        }
        match &node.kind {
            NodeKind::Var(var) => {
                let v = &self.rule.vars[*var];
                if v.kind == VarKind::Const && f.constant(seen.def).is_none() {
                    return false;
                }
                match m.vars.get(var) {
                    None => {
                        m.vars.insert(*var, seen);
                        true
                    }
                    Some(first) if v.whole => first.def == seen.def,
                    Some(first) => *first == seen || same_constants(cx, first, &seen),
                }
            }
            NodeKind::Literal(value, base) => {
                let bits = f.bits(seen.def);
                let Some(values) = f.constant(seen.def) else { return false };
                let nan = matches!(value, Literal::Float(v) if f64::from_bits(*v).is_nan());
                let wanted = value.encode(*base, bits);
                seen.comps.iter().all(|c| match values.get(usize::from(*c)) {
                    Some(v) if nan => deburr_ir_core::fold::prim::is_nan(bits.into(), *v),
                    Some(v) => wanted.as_ref() == Ok(v),
                    None => false,
                })
            }
            NodeKind::Op { op, promises, args, bind } => {
                let sig = self.set.ops.get(*op);
                let instr = seen.def.instr();
                if f.alu_op(instr) != Some(AluOp(sig.id)) {
                    return false;
                }
                let licences = if sig.float { self.rule.licences } else { 0 };
                if !f.flags(instr).contains(Flags::from_bits_truncate(promises | licences)) {
                    return false;
                }
                let here = self.count(node.comps, root_comps);
                let is_root = id == self.rule.pattern;
                if is_root && sig.output.comps == 0 && here != root_comps {
                    return false;
                }
                // A result of fixed components is taken whole, unless the pattern swizzles it.
                let all: SmallVec<[u8; 4]> = (0..sig.output.comps).collect();
                if sig.output.comps != 0 && node.swizzle.is_none() && seen.comps != all {
                    return false;
                }
                m.instrs.insert(id, instr);
                if let Some(var) = bind {
                    m.vars.insert(*var, seen.clone());
                }
                let at = self.orders.iter().position(|n| *n == id);
                let swap = at.is_some_and(|i| self.mask >> (self.orders.len() - 1 - i) & 1 != 0);
                for (i, arg) in args.iter().enumerate() {
                    let slot = match (swap, i) {
                        (true, 0) => 1,
                        (true, 1) => 0,
                        _ => i,
                    };
                    let swizzle = f.swizzle(instr, slot);
                    let comps: SmallVec<[u8; 4]> = match sig.inputs[i].comps {
                        0 => seen.comps.iter().map(|c| swizzle.get(usize::from(*c))).collect(),
                        n => swizzle.iter(n).collect(),
                    };
                    let operand = Seen { def: f.src(instr, slot), comps };
                    if !self.matches(cx, *arg, operand, root_comps, m) {
                        return false;
                    }
                }
                true
            }
            NodeKind::Compute { .. } | NodeKind::Ref(_) => false,
        }
    }

    fn sizes_allow(&self, cx: &Rewriter<'_>, m: &Match) -> bool {
        let Some(test) = &self.rule.size_test else { return true };
        let bits: Vec<u8> = test.nodes.iter().map(|n| cx.func().bits(m.nodes[n].def)).collect();
        test.allowed.contains(&bits)
    }

    fn environment_allows(&self, cx: &Rewriter<'_>, m: &Match) -> bool {
        let env = cx.func().float_env;
        let allows = |bits: u32| {
            let d = match env.denorm(bits) {
                Denorm::Keep => 0,
                Denorm::Flush => 1,
                Denorm::Any => 2,
            };
            let r = match env.rounding(bits) {
                Rounding::Rte => 0,
                Rounding::Rtz => 1,
                Rounding::Any => 2,
            };
            self.rule.env.denorm >> d & 1 != 0 && self.rule.env.rounding >> r & 1 != 0
        };
        let root_class = self.rule.nodes[self.rule.pattern].class;
        for id in m.instrs.keys() {
            let NodeKind::Op { op, args, .. } = &self.rule.nodes[*id].kind else { continue };
            let sig = self.set.ops.get(*op);
            if !sig.float {
                continue;
            }
            let own = (sig.output.base, *id);
            for (base, node) in
                sig.inputs.iter().map(|t| t.base).zip(args.iter().copied()).chain([own])
            {
                if base != Base::Float {
                    continue;
                }
                let class = self.rule.nodes[node].class;
                let fixed =
                    self.rule.instances.iter().all(|i| i[class] == self.rule.instances[0][class]);
                let holds = match fixed || class == root_class {
                    true => allows(cx.func().bits(m.nodes[&node].def).into()),
                    // Other open sizes are held to every size, as the compiled matcher does.
                    false => [16, 32, 64].into_iter().all(allows),
                };
                if !holds {
                    return false;
                }
            }
        }
        true
    }

    /// Bits of a class in this match.
    fn bits(&self, cx: &Rewriter<'_>, class: ClassId, m: &Match) -> u8 {
        let rule = self.rule;
        if let Some((_, seen)) = m.nodes.iter().find(|(n, _)| rule.nodes[**n].class == class) {
            return cx.func().bits(seen.def);
        }
        let fits = |bits: &&Vec<u8>| {
            m.nodes.iter().all(|(n, seen)| bits[rule.nodes[*n].class] == cx.func().bits(seen.def))
        };
        rule.instances.iter().find(fits).map_or(rule.instances[0][class], |bits| bits[class])
    }

    fn condition(&self, cx: &Rewriter<'_>, cond: &Cond, m: &Match, root: Instr) -> bool {
        match cond {
            Cond::And(list) => list.iter().all(|c| self.condition(cx, c, m, root)),
            Cond::Or(list) => list.iter().any(|c| self.condition(cx, c, m, root)),
            Cond::Not(c) => !self.condition(cx, c, m, root),
            Cond::Option(name) => cx.has_option(name),
            Cond::Profit(test, var) => {
                let def = m.vars[var].def;
                match test {
                    Profit::Once => cx.func().uses(def).count() == 1,
                    Profit::IsConst => cx.func().constant(def).is_some(),
                    Profit::Dies => cx.func().uses(def).all(|u| match u.user() {
                        User::Instr(i) => i == root || cx.func().has_one_use(i.def()),
                        User::If(_) => false,
                    }),
                }
            }
            Cond::Uses(var, compare, bound) => {
                let count = cx.func().uses(m.vars[var].def).count();
                compare.holds(count as u32, *bound)
            }
            Cond::OnlyUsedAs(var, ops) => {
                let is_one = |op: AluOp| ops.iter().any(|o| self.set.ops.get(*o).id == op.0);
                cx.func().uses(m.vars[var].def).all(|u| match u.user() {
                    User::Instr(i) => cx.func().alu_op(i).is_some_and(is_one),
                    User::If(_) => false,
                })
            }
        }
    }

    // ---- constants and facts

    /// Component `i` of a constant argument.
    fn constant_at(
        &self,
        cx: &Rewriter<'_>,
        id: NodeId,
        i: usize,
        m: &Match,
        done: &HashMap<NodeId, [u64; 16]>,
    ) -> Option<u64> {
        let node = &self.rule.nodes[id];
        match &node.kind {
            NodeKind::Var(var) => {
                let seen = m.vars.get(var)?;
                let i = node.swizzle.as_ref().map_or(i, |s| usize::from(s[i]));
                let comp = *seen.comps.get(i)?;
                cx.func().constant(seen.def)?.get(usize::from(comp)).copied()
            }
            NodeKind::Literal(value, base) => {
                value.encode(*base, self.bits(cx, node.class, m)).ok()
            }
            NodeKind::Compute { .. } => done.get(&id).map(|v| v[i]),
            NodeKind::Op { .. } | NodeKind::Ref(_) => None,
        }
    }

    /// Computes the constants under a term; false where one has no value.
    fn compute(
        &self,
        cx: &Rewriter<'_>,
        root: NodeId,
        root_comps: u8,
        m: &Match,
        done: &mut HashMap<NodeId, [u64; 16]>,
    ) -> bool {
        let mut order = self.rule.reachable(root);
        order.reverse();
        for id in order {
            let NodeKind::Compute { expr, args, bits } = &self.rule.nodes[id].kind else {
                continue;
            };
            let width = self.bits(cx, *bits, m);
            let mut out = [0; 16];
            let comps = self.count(self.rule.nodes[id].comps, root_comps);
            for (i, slot) in out.iter_mut().enumerate().take(comps.into()) {
                let values: Option<SmallVec<[Option<Value>; 8]>> = args
                    .iter()
                    .map(|a| {
                        let v = self.constant_at(cx, *a, i, m, done)?;
                        Some(Some(SmallVec::from_slice(&[Out::Bits(v)])))
                    })
                    .collect();
                let Some(vars) = values else { return false };
                let mut choices = Choices::default();
                let env = cx.func().float_env;
                let value = Evaluator {
                    choices: &mut choices,
                    env,
                    freedom: None,
                    width,
                    side: Side::After,
                    vars,
                }
                .eval(expr);
                *slot = match value.first() {
                    Some(Out::Bits(v)) => *v,
                    Some(Out::AnyNan) => {
                        let bits = self.bits(cx, self.rule.nodes[id].class, m);
                        deburr_ir_core::fold::prim::nan(bits.into())
                    }
                    _ => return false,
                };
            }
            done.insert(id, out);
        }
        true
    }

    fn facts_hold(&self, cx: &mut Rewriter<'_>, root_comps: u8, m: &Match) -> bool {
        for fact in &self.rule.facts {
            let mut done = HashMap::new();
            if !fact.args.iter().all(|a| self.compute(cx, *a, root_comps, m, &mut done)) {
                return false;
            }
            let var =
                fact.args.iter().find(|a| matches!(self.rule.nodes[**a].kind, NodeKind::Var(_)));
            let comps = var.map_or(1, |a| self.count(self.rule.nodes[*a].comps, root_comps));
            let width = u32::from(self.bits(cx, fact.bits, m));
            for i in 0..usize::from(comps) {
                let mut args: Vec<Abs> = Vec::new();
                for a in &fact.args {
                    let node = &self.rule.nodes[*a];
                    let bits = u32::from(self.bits(cx, node.class, m));
                    let known = match self.constant_at(cx, *a, i, m, &done) {
                        Some(v) => abs::int(bits, v),
                        None => match &node.kind {
                            NodeKind::Var(v) => match m.vars.get(v) {
                                Some(seen) => cx.known(Val::from(seen.def), 0),
                                None => return false,
                            },
                            _ => return false,
                        },
                    };
                    args.push(known);
                }
                let body = &self.set.facts[fact.fact].body;
                let holds = abstractly::eval(&cx.fact_env(), width, body, &args);
                if holds.and_then(abs::truth) != Some(true) {
                    return false;
                }
            }
        }
        true
    }

    // ---- replacements

    fn legal(&self, cx: &Rewriter<'_>, root: NodeId, m: &Match) -> bool {
        let key = |id: NodeId| -> Option<(usize, ClassId)> {
            let NodeKind::Op { op, args, .. } = &self.rule.nodes[id].kind else { return None };
            let open = self.set.ops.get(*op).inputs.iter().position(|t| t.bits == 0);
            Some((*op, self.rule.nodes[open.map_or(id, |i| args[i])].class))
        };
        let have: Vec<_> = self.rule.pattern_nodes().into_iter().filter_map(key).collect();
        self.rule.reachable(root).into_iter().filter_map(key).all(|(op, class)| {
            have.contains(&(op, class))
                || cx.legal(AluOp(self.set.ops.get(op).id), self.bits(cx, class, m))
        })
    }

    fn build(
        &self,
        cx: &mut Rewriter<'_>,
        root: NodeId,
        root_comps: u8,
        m: &Match,
        constants: &HashMap<NodeId, [u64; 16]>,
    ) -> Val {
        let mut keep = Flags::LICENCES;
        let mut float = false;
        for (id, instr) in &m.instrs {
            if let NodeKind::Op { op, .. } = &self.rule.nodes[*id].kind
                && self.set.ops.get(*op).float
            {
                keep &= cx.flags(*instr);
                float = true;
            }
        }
        let keep = if float { keep } else { Flags::empty() };
        let mut done: HashMap<NodeId, Val> = HashMap::new();
        self.build_node(cx, root, root, root_comps, m, constants, keep, &mut done)
    }

    #[allow(clippy::too_many_arguments, reason = "the state of one replacement")]
    fn build_node(
        &self,
        cx: &mut Rewriter<'_>,
        id: NodeId,
        root: NodeId,
        root_comps: u8,
        m: &Match,
        constants: &HashMap<NodeId, [u64; 16]>,
        keep: Flags,
        done: &mut HashMap<NodeId, Val>,
    ) -> Val {
        if let Some(value) = done.get(&id) {
            return *value;
        }
        let node = &self.rule.nodes[id];
        let comps = self.count(node.comps, root_comps);
        let plain = match &node.kind {
            NodeKind::Var(var) => {
                let seen = &m.vars[var];
                match self.rule.vars[*var].whole {
                    true => Val::from(seen.def),
                    false => Val { def: seen.def, swizzle: Swizzle::new(&seen.comps) },
                }
            }
            NodeKind::Ref(inner) => {
                self.build_node(cx, *inner, root, root_comps, m, constants, keep, done)
            }
            NodeKind::Literal(value, base) => {
                let bits = self.bits(cx, node.class, m);
                let value = value.encode(*base, bits).unwrap_or(0);
                match id == root {
                    true => cx.imm_n(bits, comps, &[value; 16]),
                    false => cx.imm(bits, value),
                }
            }
            NodeKind::Compute { .. } => {
                let bits = self.bits(cx, node.class, m);
                cx.imm_n(bits, comps, &constants[&id])
            }
            NodeKind::Op { op, promises, args, .. } => {
                let sig = self.set.ops.get(*op);
                let mut operands: SmallVec<[Val; 4]> = SmallVec::new();
                for arg in args {
                    operands.push(
                        self.build_node(cx, *arg, root, root_comps, m, constants, keep, done),
                    );
                }
                let licences = if sig.float { keep } else { Flags::empty() };
                let count = if sig.output.comps == 0 { comps } else { sig.output.comps };
                cx.build(
                    AluOp(sig.id),
                    count,
                    licences | Flags::from_bits_truncate(*promises),
                    &operands,
                )
            }
        };
        let value = match &node.swizzle {
            Some(s) => plain.swz(s),
            None => plain,
        };
        done.insert(id, value);
        value
    }
}

/// Whether two constants are equal where they are seen.
fn same_constants(cx: &Rewriter<'_>, a: &Seen, b: &Seen) -> bool {
    let f = cx.func();
    match (f.view(a.def.instr()), f.view(b.def.instr())) {
        (InstrView::LoadConst(x), InstrView::LoadConst(y)) => {
            f.bits(a.def) == f.bits(b.def)
                && a.comps
                    .iter()
                    .zip(&b.comps)
                    .all(|(i, j)| x.get(usize::from(*i)) == y.get(usize::from(*j)))
        }
        _ => false,
    }
}
