//! Rules as rewrites of an e-graph: matching of patterns against classes, and building of what they are equal to.

use super::bench::{left_out, postorder};
use super::graph::{Graph, Head, Node, add_constant, add_swizzle, of_op, settle};
use deburr_algebraic::facts::abs::{self, Abs, Env};
use deburr_algebraic::interp::abstractly;
use deburr_algebraic::interp::expr::{Choices, Evaluator, Out, Side, Value};
use deburr_ir_core::fold::{FloatEnv, prim};
use deburr_ir_core::{Denorm, Flags, Rounding};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{
    Comps, Cond, EnvClause, FactUse, Literal, NodeId, NodeKind, Rule, RuleSet, VarKind,
};
use egg::Id;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeSet;

/// How far an e-graph may grow.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nodes after which nothing is added.
    pub nodes: usize,
    /// Rounds of matching.
    pub rounds: usize,
    /// Matches of one rule in one round.
    pub matches: usize,
}

/// A side of a rule that is matched, and the sides that are equal to it.
#[derive(Clone, Debug)]
struct Equation<'a> {
    rule: &'a Rule,
    pattern: NodeId,
    equal: Vec<NodeId>,
    /// Whether what is matched is a replacement.
    back: bool,
}

/// The rules that hold somewhere.
pub(crate) struct Equations<'a> {
    set: &'a RuleSet,
    list: Vec<Equation<'a>>,
    /// Opcodes of which chains are bracketed in every way.
    chains: BTreeSet<u16>,
}

/// What a match binds.
#[derive(Clone)]
struct Binding {
    vars: SmallVec<[Option<Id>; 6]>,
    /// Bits by size class; 0 if still open.
    sizes: SmallVec<[u8; 8]>,
    /// Operations of the pattern: their flags, and whether their first two operands are exchanged.
    ops: SmallVec<[(NodeId, u16, bool); 4]>,
    /// Components of the root.
    comps: u8,
    /// Licences that all float operations carry; all of them where there is none.
    licences: u16,
    float: bool,
}

/// A rule and what it may be tried on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'c> {
    /// Rules that are left out.
    pub without: &'c [usize],
    /// The environments under which the rules must hold.
    pub env: EnvClause,
    /// Groups whose rules take part.
    pub groups: &'c [usize],
    /// Whether replacements are matched too.
    pub back: bool,
}

impl<'a> Equations<'a> {
    pub fn new(set: &'a RuleSet, context: &Context<'_>) -> Equations<'a> {
        let mut list = Vec::new();
        let mut chains = BTreeSet::new();
        for (number, rule) in set.rules.iter().enumerate() {
            let out = context.without.contains(&number)
                || !context.groups.contains(&rule.group)
                || left_out(set, rule).is_some()
                || !covers(rule.env, context.env)
                || rule.when.as_ref().is_some_and(|when| !holds_without_options(when));
            if out {
                continue;
            }
            let op_of = |n: NodeId| match &rule.nodes[n].kind {
                NodeKind::Op { op, .. } => Some(set.ops.get(*op).id),
                _ => None,
            };
            chains.extend(rule.chains.iter().filter_map(|c| op_of(c.nodes[0])));
            let equal = rule.alts.iter().map(|a| a.term).collect();
            list.push(Equation { rule, pattern: rule.pattern, equal, back: false });
            if context.back {
                let back = rule.alts.iter().filter(|a| goes_back(set, rule, a.term));
                list.extend(back.map(|a| Equation {
                    rule,
                    pattern: a.term,
                    equal: vec![rule.pattern],
                    back: true,
                }));
            }
        }
        Equations { set, list, chains }
    }

    /// Adds what the rules say until nothing new is equal, `done` says so, or the limits are reached.
    pub fn saturate(
        &self,
        graph: &mut Graph<'_>,
        limits: &Limits,
        mut done: impl FnMut(&Graph<'_>) -> bool,
    ) {
        settle(graph, &self.chains, limits.nodes);
        for _ in 0..limits.rounds {
            if done(graph) || graph.analysis.collapsed {
                return;
            }
            // All are matched before anything is added.
            let found: Vec<(&Equation<'_>, Vec<Binding>)> =
                self.list.iter().map(|e| (e, self.search(graph, e, limits.matches))).collect();
            let mut changed = false;
            for (equation, bindings) in &found {
                for binding in bindings {
                    if graph.total_number_of_nodes() > limits.nodes {
                        break;
                    }
                    changed |= self.apply(graph, equation, binding);
                }
            }
            graph.rebuild();
            changed |= settle(graph, &self.chains, limits.nodes);
            if !changed || graph.total_number_of_nodes() > limits.nodes {
                return;
            }
        }
    }

    /// Matches of an equation, classes in order.
    fn search(&self, graph: &Graph<'_>, equation: &Equation<'_>, most: usize) -> Vec<Binding> {
        let mut out = Vec::new();
        let NodeKind::Op { op, .. } = &equation.rule.nodes[equation.pattern].kind else {
            return out;
        };
        let Some(classes) = graph.classes_for_op(&of_op(self.set.ops.get(*op).id)) else {
            return out;
        };
        let mut classes: Vec<Id> = classes.collect();
        classes.sort_unstable();
        for class in classes {
            self.matches(graph, equation, class, most, &mut out);
            if out.len() >= most {
                break;
            }
        }
        out
    }

    fn matches(
        &self,
        graph: &Graph<'_>,
        equation: &Equation<'_>,
        class: Id,
        most: usize,
        out: &mut Vec<Binding>,
    ) {
        let rule = equation.rule;
        let start = Binding {
            vars: smallvec![None; rule.vars.len()],
            sizes: smallvec![0; rule.classes],
            ops: SmallVec::new(),
            comps: graph[class].data.comps,
            licences: Flags::LICENCES.bits(),
            float: false,
        };
        let todo: SmallVec<[(NodeId, Id); 8]> = smallvec![(equation.pattern, class)];
        let mut stack = vec![(todo, start)];
        while let Some((mut todo, binding)) = stack.pop() {
            let Some((node, class)) = todo.pop() else {
                if let Some(binding) = self.holds(graph, equation, binding) {
                    out.push(binding);
                }
                if out.len() >= most {
                    return;
                }
                continue;
            };
            self.step(graph, equation, node, graph.find(class), todo, binding, &mut stack);
        }
    }

    /// Matches one node of a pattern: every way of it, with what is left to be matched.
    fn step(
        &self,
        graph: &Graph<'_>,
        equation: &Equation<'_>,
        id: NodeId,
        class: Id,
        todo: SmallVec<[(NodeId, Id); 8]>,
        mut binding: Binding,
        stack: &mut Vec<(SmallVec<[(NodeId, Id); 8]>, Binding)>,
    ) {
        let rule = equation.rule;
        let node = &rule.nodes[id];
        let data = &graph[class].data;
        let comps = match node.comps {
            Comps::Fixed(n) => n,
            Comps::Generic => binding.comps,
        };
        let size = &mut binding.sizes[node.class];
        if data.comps != comps || (*size != 0 && *size != data.bits) {
            return;
        }
        *size = data.bits;
        let inner: SmallVec<[Id; 4]> = match &node.swizzle {
            Some(list) if !self.is_per_component(rule, id) => unswizzled(graph, class, list),
            _ => smallvec![class],
        };
        for class in inner {
            let mut binding = binding.clone();
            match &node.kind {
                NodeKind::Var(v) => match (binding.vars[*v], rule.vars[*v].kind) {
                    (Some(bound), _) if graph.find(bound) == class => {
                        stack.push((todo.clone(), binding))
                    }
                    (Some(_), _) => {}
                    (None, VarKind::Bound(of)) => {
                        binding.vars[*v] = Some(class);
                        let mut todo = todo.clone();
                        todo.push((of, class));
                        stack.push((todo, binding));
                    }
                    (None, VarKind::Const) if graph[class].data.value.is_none() => {}
                    (None, _) => {
                        binding.vars[*v] = Some(class);
                        stack.push((todo.clone(), binding));
                    }
                },
                NodeKind::Literal(literal, base) => {
                    if is_literal(graph, class, literal, *base) {
                        stack.push((todo.clone(), binding));
                    }
                }
                NodeKind::Ref(of) => {
                    let mut todo = todo.clone();
                    todo.push((*of, class));
                    stack.push((todo, binding));
                }
                NodeKind::Op { op, promises, args, bind } => {
                    let sig = self.set.ops.get(*op);
                    if let Some(v) = bind {
                        match binding.vars[*v] {
                            Some(bound) if graph.find(bound) != class => continue,
                            _ => binding.vars[*v] = Some(class),
                        }
                    }
                    let wanted = promises | if sig.float { rule.licences } else { 0 };
                    for found in &graph[class].nodes {
                        let Head::Op(op, flags) = found.head else { continue };
                        if op != sig.id || flags & wanted != wanted {
                            continue;
                        }
                        let both =
                            sig.commutative && args.len() >= 2 && found.args[0] != found.args[1];
                        for swap in [both, false].into_iter().take(1 + usize::from(both)) {
                            let mut binding = binding.clone();
                            let mut todo = todo.clone();
                            let slot = |i: usize| if swap && i < 2 { 1 - i } else { i };
                            let pairs =
                                args.iter().enumerate().map(|(i, a)| (*a, found.args[slot(i)]));
                            // The first operand is looked at first.
                            todo.extend(pairs.rev());
                            if sig.float {
                                binding.licences &= flags;
                                binding.float = true;
                            }
                            binding.ops.push((id, flags, swap));
                            stack.push((todo, binding));
                        }
                    }
                }
                NodeKind::Compute { .. } | NodeKind::Undef | NodeKind::Outside { .. } => {}
            }
        }
    }

    fn is_per_component(&self, rule: &Rule, id: NodeId) -> bool {
        match &rule.nodes[id].kind {
            NodeKind::Op { op, .. } => self.set.ops.get(*op).output.comps == 0,
            _ => false,
        }
    }

    /// Whether sizes and facts allow a match; gives it with every size.
    fn holds(
        &self,
        graph: &Graph<'_>,
        equation: &Equation<'_>,
        mut binding: Binding,
    ) -> Option<Binding> {
        let rule = equation.rule;
        let fits = |bits: &&Vec<u8>| {
            bits.iter().zip(&binding.sizes).all(|(b, size)| *size == 0 || b == size)
        };
        binding.sizes = SmallVec::from_slice(rule.instances.iter().find(fits)?);
        let at = At { set: self.set, rule, graph, binding: &binding };
        rule.facts.iter().all(|fact| at.fact_holds(fact)).then_some(binding)
    }

    /// Adds what a match is equal to. True if that is new.
    fn apply(&self, graph: &mut Graph<'_>, equation: &Equation<'_>, binding: &Binding) -> bool {
        let Some(from) = self.build(graph, equation, binding, equation.pattern, true) else {
            return false;
        };
        let mut changed = false;
        for side in &equation.equal {
            let Some(to) = self.build(graph, equation, binding, *side, false) else { continue };
            changed |= graph.union_trusted(from, to, equation.rule.name.as_str());
        }
        changed
    }

    /// Adds a side of a rule: the very term that was matched, or one that is equal to it. `None` where a constant has no value.
    fn build(
        &self,
        graph: &mut Graph<'_>,
        equation: &Equation<'_>,
        binding: &Binding,
        root: NodeId,
        matched: bool,
    ) -> Option<Id> {
        let rule = equation.rule;
        let mut done: FxHashMap<NodeId, Id> = FxHashMap::default();
        for id in postorder(rule, root, equation.back && matched) {
            let node = &rule.nodes[id];
            let bits = binding.sizes[node.class];
            let comps = match node.comps {
                Comps::Fixed(n) => n,
                Comps::Generic => binding.comps,
            };
            let plain = match &node.kind {
                NodeKind::Var(v) => match rule.vars[*v].kind {
                    VarKind::Bound(of) if equation.back && matched => done[&of],
                    VarKind::Bound(of) if binding.vars[*v].is_none() => *done.get(&of)?,
                    _ => binding.vars[*v]?,
                },
                NodeKind::Ref(of) => done[of],
                NodeKind::Literal(..) | NodeKind::Compute { .. } => {
                    let at = At { set: self.set, rule, graph, binding };
                    let values: Option<SmallVec<[u64; 4]>> =
                        (0..usize::from(comps)).map(|i| at.constant(id, i)).collect();
                    add_constant(graph, bits, &values?)
                }
                NodeKind::Op { op, promises, args, .. } => {
                    let sig = self.set.ops.get(*op);
                    let mut ids: SmallVec<[Id; 3]> = args.iter().map(|a| done[a]).collect();
                    let found = binding.ops.iter().find(|o| matched && o.0 == id);
                    let flags = match found {
                        Some((_, flags, swap)) => {
                            if *swap {
                                ids.swap(0, 1);
                            }
                            *flags
                        }
                        None => {
                            let licences =
                                if sig.float && binding.float { binding.licences } else { 0 };
                            promises | licences
                        }
                    };
                    let comps = if sig.output.comps == 0 { comps } else { sig.output.comps };
                    graph.add_uncanonical(Node {
                        head: Head::Op(sig.id, flags),
                        bits,
                        comps,
                        args: ids,
                    })
                }
                NodeKind::Undef | NodeKind::Outside { .. } => return None,
            };
            let value = match &node.swizzle {
                Some(list) if !self.is_per_component(rule, id) => add_swizzle(graph, plain, list),
                _ => plain,
            };
            done.insert(id, value);
        }
        done.get(&root).copied()
    }
}

/// Whether a rule holds under every environment of a clause.
fn covers(rule: EnvClause, context: EnvClause) -> bool {
    context.denorm & !rule.denorm == 0 && context.rounding & !rule.rounding == 0
}

/// The clause of one environment at all sizes.
pub(crate) fn clause(env: FloatEnv) -> EnvClause {
    let mut out = EnvClause { denorm: 0, rounding: 0 };
    for bits in [16, 32, 64] {
        out.denorm |= match env.denorm(bits) {
            Denorm::Keep => 1,
            Denorm::Flush => 2,
            Denorm::Any => 4,
        };
        out.rounding |= match env.rounding(bits) {
            Rounding::Rte => 1,
            Rounding::Rtz => 2,
            Rounding::Any => 4,
        };
    }
    out
}

/// Whether a condition on the target holds where it has no option. Recurses on a nesting that the parser bounds.
fn holds_without_options(cond: &Cond) -> bool {
    match cond {
        Cond::And(list) => list.iter().all(holds_without_options),
        Cond::Or(list) => list.iter().any(holds_without_options),
        Cond::Not(c) => !holds_without_options(c),
        Cond::Option(_) => false,
        Cond::Profit(..) | Cond::Uses(..) | Cond::OnlyUsedAs(..) => true,
    }
}

/// Whether a replacement has everything that the pattern has, so that it can be matched and the pattern built: every
/// variable, no computed constant, and no promise that would have to be made.
fn goes_back(set: &RuleSet, rule: &Rule, alt: NodeId) -> bool {
    let after = postorder(rule, alt, true);
    let before = rule.pattern_nodes();
    let op = |n: &NodeId| match &rule.nodes[*n].kind {
        NodeKind::Op { op, promises, .. } => Some((set.ops.get(*op).float, *promises)),
        _ => None,
    };
    let has = |v: usize| {
        after.iter().any(|n| matches!(&rule.nodes[*n].kind, NodeKind::Var(w) if *w == v))
    };
    let values = (0..rule.vars.len()).filter(|v| !matches!(rule.vars[*v].kind, VarKind::Bound(_)));
    let computed = |n: &NodeId| matches!(rule.nodes[*n].kind, NodeKind::Compute { .. });
    let float = |list: &[NodeId]| list.iter().filter_map(op).any(|o| o.0);
    op(&alt).is_some()
        && !after.iter().any(computed)
        && { values }.all(has)
        && before.iter().chain(&after).filter_map(op).all(|o| o.1 == 0)
        && (float(&after) || !float(&before))
}

/// Classes whose components these are.
fn unswizzled(graph: &Graph<'_>, class: Id, list: &[u8]) -> SmallVec<[Id; 4]> {
    let mut out: SmallVec<[Id; 4]> = SmallVec::new();
    let whole = list.iter().enumerate().all(|(i, c)| i == usize::from(*c));
    if whole && usize::from(graph[class].data.comps) == list.len() {
        out.push(class);
    }
    for node in &graph[class].nodes {
        if matches!(&node.head, Head::Swizzle(found) if found.as_slice() == list) {
            out.push(graph.find(node.args[0]));
        }
    }
    out
}

fn is_literal(graph: &Graph<'_>, class: Id, literal: &Literal, base: Base) -> bool {
    let data = &graph[class].data;
    let Some(values) = &data.value else { return false };
    match literal {
        Literal::Float(v) if f64::from_bits(*v).is_nan() => {
            values.iter().all(|v| prim::is_nan(data.bits.into(), *v))
        }
        _ => literal.encode(base, data.bits).is_ok_and(|bits| values.iter().all(|v| *v == bits)),
    }
}

/// A match, for its constants and facts.
struct At<'m, 'a> {
    set: &'m RuleSet,
    rule: &'m Rule,
    graph: &'m Graph<'a>,
    binding: &'m Binding,
}

impl At<'_, '_> {
    /// Component `i` of a constant term. Recurses on the nesting of a rule, which the parser bounds.
    fn constant(&self, id: NodeId, i: usize) -> Option<u64> {
        let node = &self.rule.nodes[id];
        let bits = self.binding.sizes[node.class];
        let i = node.swizzle.as_ref().map_or(Some(i), |s| s.get(i).map(|c| usize::from(*c)))?;
        match &node.kind {
            NodeKind::Var(v) => {
                let values = self.graph[self.binding.vars[*v]?].data.value.as_ref()?;
                values.get(i).copied()
            }
            NodeKind::Ref(of) => self.constant(*of, i),
            NodeKind::Literal(value, base) => value.encode(*base, bits).ok(),
            NodeKind::Compute { expr, args, bits: class } => {
                let vars: Option<SmallVec<[Option<Value>; 8]>> = args
                    .iter()
                    .map(|a| Some(Some(smallvec![Out::Bits(self.constant(*a, i)?)])))
                    .collect();
                let mut choices = Choices::default();
                let value = Evaluator {
                    choices: &mut choices,
                    env: first(self.graph.analysis.env),
                    freedom: None,
                    width: self.binding.sizes[*class],
                    side: Side::After,
                    vars: vars?,
                }
                .eval(expr);
                match value.first() {
                    Some(Out::Bits(v)) if expr.ty.base == Base::Bool => {
                        Some(prim::from_bool(bits.into(), *v != 0))
                    }
                    Some(Out::Bits(v)) => Some(*v),
                    Some(Out::AnyNan) => Some(prim::nan(bits.into())),
                    _ => None,
                }
            }
            NodeKind::Op { .. } | NodeKind::Outside { .. } | NodeKind::Undef => None,
        }
    }

    fn fact_holds(&self, fact: &FactUse) -> bool {
        let body = &self.set.facts[fact.fact].body;
        let width = u32::from(self.binding.sizes[fact.bits]);
        let comps = fact.args.first().map_or(1, |a| match self.rule.nodes[*a].comps {
            Comps::Fixed(n) => n,
            Comps::Generic => self.binding.comps,
        });
        let env = Env { float: self.graph.analysis.env, folding: false };
        (0..usize::from(comps)).all(|i| {
            let args: Option<Vec<Abs>> = fact.args.iter().map(|a| self.known(*a, i)).collect();
            let value = args.and_then(|args| abstractly::eval(&env, width, body, &args));
            value.and_then(abs::truth) == Some(true)
        })
    }

    fn known(&self, id: NodeId, i: usize) -> Option<Abs> {
        let node = &self.rule.nodes[id];
        if let Some(v) = self.constant(id, i) {
            return Some(abs::int(self.binding.sizes[node.class].into(), v));
        }
        let NodeKind::Var(v) = &node.kind else { return None };
        Some(self.graph[self.binding.vars[*v]?].data.known)
    }
}

/// An environment as folding takes it where it is free.
fn first(env: FloatEnv) -> FloatEnv {
    let denorm = match env.denorm(32) {
        Denorm::Any => Denorm::Keep,
        denorm => denorm,
    };
    let rounding = match env.rounding(32) {
        Rounding::Any => Rounding::Rte,
        rounding => rounding,
    };
    FloatEnv::uniform(denorm, rounding)
}
