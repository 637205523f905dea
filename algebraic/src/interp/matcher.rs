//! The reference matcher: rewrites by rules that are interpreted, one node at a time.
//!
//! It is slow and plain: for each rule in order it walks the pattern once for each script of choices: the order of two
//! operands, the operand of a chain that an operand of an `ac` stands for. Scripts come in the order of the choices in the
//! pattern, parents first, so that the first which matches is the first in source order. It shares
//! nothing with the compiled matchers but the rules themselves and the driver's building blocks, and chooses the same
//! rewrites: the first rule, the first operand orders in source order. An attempt ends with the test that failed, so that
//! it can be told why a rule doesn't apply (see `miss.rs`).

use super::abstractly;
use super::expr::{Choices, Evaluator, Out, Side, Value};
use super::miss::{Closest, Test};
pub use super::miss::{Failure, Verdict};
use super::outside;
use crate::facts::abs::{self, Abs};
use crate::rewriter::{Rewriter, Val};
use crate::ruleset::Root;
use deburr_ir_core::fold::prim;
use deburr_ir_core::{
    AluOp, AluProps, Def, Denorm, Flags, Function, Instr, InstrView, Rounding, Swizzle, User,
};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{
    Chain, ClassId, Comps, Cond, EnvClause, FactUse, LONGEST_CHAIN, Literal, MOST_USES, NodeId,
    NodeKind, Outside, Profit, Rule, RuleSet, VarId, VarKind,
};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// A rule set to be interpreted.
#[derive(Debug)]
pub struct Interpreter<'r> {
    set: &'r RuleSet,
    group: usize,
    /// Rules by root opcode.
    by_root: HashMap<u16, Vec<usize>>,
    /// Rules by root, where that is no ALU operation.
    by_outside: Vec<(Root, Vec<usize>)>,
}

/// A value during matching: a def and a component for each that the pattern sees.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) def: Def,
    pub(super) comps: SmallVec<[u8; 4]>,
}

/// What a match binds.
#[derive(Clone, Default)]
pub(super) struct Match {
    pub(super) nodes: HashMap<NodeId, Seen>,
    pub(super) instrs: HashMap<NodeId, Instr>,
    pub(super) vars: HashMap<VarId, Seen>,
    /// Operations whose operands were taken in the other order.
    pub(super) exchanged: Vec<NodeId>,
    /// Operations of chains, the outermost not among them.
    parts: Vec<Instr>,
    /// Operands of the pattern's chain that nothing of the `ac` stands for.
    rest: Vec<Seen>,
    /// Tests that were passed: how far it came.
    pub(super) passed: u32,
}

impl Match {
    /// Goes on if a test is passed.
    pub(super) fn expect(&mut self, passed: bool, test: Test) -> Result<(), Test> {
        if !passed {
            return Err(test);
        }
        self.passed += 1;
        Ok(())
    }
}

/// The right side that an attempt came to, and the constants computed for it.
struct Chosen {
    term: NodeId,
    constants: HashMap<NodeId, [u64; 16]>,
}

impl<'r> Interpreter<'r> {
    /// An interpreter for one group of a rule set; `None` if there is no such group.
    pub fn new(set: &'r RuleSet, group: &str) -> Option<Interpreter<'r>> {
        let group = set.groups.iter().position(|g| g.0 == group)?;
        let mut by_root: HashMap<u16, Vec<usize>> = HashMap::new();
        let mut by_outside: Vec<(Root, Vec<usize>)> = Vec::new();
        for (i, rule) in set.rules.iter().enumerate().filter(|(_, r)| r.group == group) {
            match &rule.nodes[rule.pattern].kind {
                NodeKind::Op { op, .. } => by_root.entry(set.ops.get(*op).id).or_default().push(i),
                NodeKind::Outside { what, .. } => {
                    let root = outside::root_of(set, what);
                    match by_outside.iter_mut().find(|(r, _)| *r == root) {
                        Some((_, rules)) => rules.push(i),
                        None => by_outside.push((root, vec![i])),
                    }
                }
                NodeKind::Var(_)
                | NodeKind::Literal(..)
                | NodeKind::Compute { .. }
                | NodeKind::Undef
                | NodeKind::Ref(_) => {}
            }
        }
        Some(Interpreter { set, group, by_root, by_outside })
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
        for &index in self.rules_at(cx, root) {
            let state = State { set: self.set, rule: &self.set.rules[index] };
            let mut choices = Choices::default();
            loop {
                if state.fire(cx, root, number(index), &mut choices) {
                    return Some(index);
                }
                if !choices.turn() {
                    break;
                }
            }
        }
        None
    }

    /// Tries the group's rules on an instruction, in order up to the first that applies; true if there is one. Nothing is
    /// changed. `tried` is told of each, and how long it took. `number` says under which number a rule can be switched off.
    pub fn try_each(
        &self,
        cx: &mut Rewriter<'_>,
        root: Instr,
        number: impl Fn(usize) -> usize,
        tried: &mut dyn FnMut(usize, Duration),
    ) -> bool {
        for &index in self.rules_at(cx, root) {
            let state = State { set: self.set, rule: &self.set.rules[index] };
            let start = Instant::now();
            let mut choices = Choices::default();
            let applies = loop {
                let mut m = Match::default();
                if state.attempt(cx, root, number(index), &mut choices, &mut m).is_ok() {
                    break true;
                }
                if !choices.turn() {
                    break false;
                }
            };
            tried(index, start.elapsed());
            if applies {
                return true;
            }
        }
        false
    }

    /// The rules whose root an instruction may be.
    fn rules_at(&self, cx: &Rewriter<'_>, instr: Instr) -> &[usize] {
        let rules = match cx.func().alu_op(instr) {
            Some(op) => self.by_root.get(&op.0),
            None => {
                let root = crate::outside::root(cx.func(), instr);
                self.by_outside.iter().find(|(r, _)| Some(*r) == root).map(|(_, rules)| rules)
            }
        };
        rules.map_or(&[], |rules| rules)
    }

    /// Whether a rule of the group applies to an instruction, and if not, the test that it comes to and fails; `None` if
    /// the rule is about another operation. Nothing is changed. `number` is that under which the rule can be switched
    /// off.
    pub fn explain(
        &self,
        cx: &mut Rewriter<'_>,
        root: Instr,
        rule: usize,
        number: usize,
    ) -> Option<Verdict> {
        self.rules_at(cx, root).contains(&rule).then_some(())?;
        let rule = &self.set.rules[rule];
        let state = State { set: self.set, rule };
        let mut closest = Closest::default();
        let mut choices = Choices::default();
        loop {
            let mut m = Match::default();
            match state.attempt(cx, root, number, &mut choices, &mut m) {
                Ok(chosen) => {
                    let alt = rule.alts.iter().position(|alt| alt.term == chosen.term);
                    return Some(Verdict::Matched { alternative: alt.unwrap_or(0) });
                }
                Err(test) => closest.offer(test, m),
            }
            if !choices.turn() {
                break;
            }
        }
        let (test, m) = closest.found?;
        Some(Verdict::Failed(state.failure(cx, root, test, &m)))
    }
}

/// A rule that is tried.
pub(super) struct State<'a> {
    pub(super) set: &'a RuleSet,
    pub(super) rule: &'a Rule,
}

impl State<'_> {
    fn fire(
        &self,
        cx: &mut Rewriter<'_>,
        root: Instr,
        number: usize,
        choices: &mut Choices,
    ) -> bool {
        let mut m = Match::default();
        let Ok(chosen) = self.attempt(cx, root, number, choices, &mut m) else { return false };
        let value = self.build(cx, chosen.term, cx.comps(root), &m, &chosen.constants);
        cx.replace(number, root, value)
    }

    /// Finds the right side that applies, or the first test that fails.
    fn attempt(
        &self,
        cx: &mut Rewriter<'_>,
        root: Instr,
        number: usize,
        choices: &mut Choices,
        m: &mut Match,
    ) -> Result<Chosen, Test> {
        let comps = cx.comps(root);
        let whole = Seen { def: root.def(), comps: (0..comps).collect() };
        self.matches(cx, self.rule.pattern, whole, comps, choices, m)?;
        self.reaches_phis(cx, m)?;
        m.expect(self.sizes_allow(cx, m), Test::Sizes)?;
        if let Some(node) = self.outside_environment(cx, m) {
            return Err(Test::Environment(node));
        }
        if let Some(when) = &self.rule.when {
            m.expect(self.condition(cx, when, m, root), Test::When)?;
        }
        self.facts_hold(cx, comps, m)?;
        self.reads_few(cx, root, m)?;
        // Of several right sides the one that came furthest tells why.
        let before = m.passed;
        let mut why = (0, Test::NoAlternative);
        for (at, alt) in self.rule.alts.iter().enumerate() {
            m.passed = before;
            match self.alternative(cx, root, number, at, m) {
                Ok(constants) => return Ok(Chosen { term: alt.term, constants }),
                Err(test) if m.passed >= why.0 => why = (m.passed + 1, test),
                Err(_) => {}
            }
        }
        m.passed = why.0;
        Err(why.1)
    }

    /// The constants of a right side that applies.
    fn alternative(
        &self,
        cx: &mut Rewriter<'_>,
        root: Instr,
        number: usize,
        at: usize,
        m: &mut Match,
    ) -> Result<HashMap<NodeId, [u64; 16]>, Test> {
        let alt = &self.rule.alts[at];
        if let Some(node) = self.illegal(cx, alt.term, m) {
            return Err(Test::Legal(node));
        }
        m.passed += 1;
        if let Some(profit) = &alt.profit {
            m.expect(self.condition(cx, profit, m, root), Test::Profit(at))?;
        }
        let mut constants = HashMap::new();
        self.compute(cx, alt.term, cx.comps(root), m, &mut constants).map_err(Test::Compute)?;
        m.passed += 1;
        m.expect(cx.begin(number), Test::Disabled)?;
        Ok(constants)
    }

    pub(super) fn count(&self, comps: Comps, root: u8) -> u8 {
        match comps {
            Comps::Fixed(n) => n,
            Comps::Generic => root,
        }
    }

    /// Matches a node against a value that is seen. Depth is bounded by the parser of rules.
    pub(super) fn matches(
        &self,
        cx: &Rewriter<'_>,
        id: NodeId,
        seen: Seen,
        root_comps: u8,
        choices: &mut Choices,
        m: &mut Match,
    ) -> Result<(), Test> {
        let f = cx.func();
        let node = &self.rule.nodes[id];
        m.nodes.insert(id, seen.clone());
        let right = match &node.swizzle {
            Some(wanted) => seen.comps.as_slice() == wanted.as_slice(),
            None => true,
        };
        m.expect(right, Test::Swizzle(id))?;
        match &node.kind {
            NodeKind::Var(var) => {
                let v = &self.rule.vars[*var];
                let constant = v.kind != VarKind::Const || f.constant(seen.def).is_some();
                m.expect(constant, Test::Constant(id))?;
                let same = match m.vars.get(var) {
                    None => {
                        m.vars.insert(*var, seen);
                        true
                    }
                    Some(first) if v.whole => first.def == seen.def,
                    Some(first) => *first == seen || same_constants(cx, first, &seen),
                };
                m.expect(same, Test::Same(id))
            }
            NodeKind::Literal(value, base) => {
                let bits = f.bits(seen.def);
                let Some(values) = f.constant(seen.def) else { return Err(Test::Constant(id)) };
                m.passed += 1;
                let nan = matches!(value, Literal::Float(v) if f64::from_bits(*v).is_nan());
                let wanted = value.encode(*base, bits);
                let equal = seen.comps.iter().all(|c| match values.get(usize::from(*c)) {
                    Some(v) if nan => deburr_ir_core::fold::prim::is_nan(bits.into(), *v),
                    Some(v) => wanted.as_ref() == Ok(v),
                    None => false,
                });
                m.expect(equal, Test::Literal(id))
            }
            NodeKind::Op { op, promises, args, bind } => {
                let sig = self.set.ops.get(*op);
                let instr = seen.def.instr();
                m.expect(f.alu_op(instr) == Some(AluOp(sig.id)), Test::Opcode(id))?;
                let licences = if sig.float { self.rule.licences } else { 0 };
                let carries = |flags| f.flags(instr).contains(Flags::from_bits_truncate(flags));
                m.expect(carries(*promises), Test::Promises(id))?;
                m.expect(carries(licences), Test::Licences(id))?;
                let here = self.count(node.comps, root_comps);
                let is_root = id == self.rule.pattern;
                let as_many = !is_root || sig.output.comps != 0 || here == root_comps;
                m.expect(as_many, Test::Components(id))?;
                // A result of fixed components is taken whole, unless the pattern swizzles it.
                let all: SmallVec<[u8; 4]> = (0..sig.output.comps).collect();
                let whole = sig.output.comps == 0 || node.swizzle.is_some() || seen.comps == all;
                m.expect(whole, Test::Components(id))?;
                m.instrs.insert(id, instr);
                m.expect(self.is_unseen(cx, id, &seen), Test::Shared(id))?;
                if let Some(var) = bind {
                    m.vars.insert(*var, seen.clone());
                }
                if let Some(chain) = self.rule.chain_at(id) {
                    return self.matches_chain(cx, chain, instr, &seen, root_comps, choices, m);
                }
                let swap = sig.commutative && args.len() >= 2 && choices.pick(2) == 1;
                if swap {
                    m.exchanged.push(id);
                }
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
                    self.matches(cx, *arg, operand, root_comps, choices, m)?;
                }
                Ok(())
            }
            NodeKind::Outside { .. } => self.matches_outside(cx, id, seen, root_comps, choices, m),
            NodeKind::Undef => m.expect(self.is_chosen_here(cx, &seen, m), Test::Undef(id)),
            NodeKind::Compute { .. } | NodeKind::Ref(_) => Err(Test::Opcode(id)),
        }
    }

    /// Whether an undefined value may be chosen to suit the replacement: only what is matched depends on the choice, which is
    /// made for one component at a time and once for each run of the root.
    fn is_chosen_here(&self, cx: &Rewriter<'_>, seen: &Seen, m: &Match) -> bool {
        let f = cx.func();
        let from = f.block_of(seen.def.instr());
        let to = m.instrs.get(&self.rule.pattern).and_then(|root| f.block_of(*root));
        let (Some(from), Some(to)) = (from, to) else { return false };
        let mut comps = seen.comps.clone();
        comps.sort_unstable();
        comps.dedup();
        matches!(f.view(seen.def.instr()), InstrView::Undef)
            && used(f, seen.def, 1) == 1
            && comps.len() == seen.comps.len()
            && f.innermost_loop(from) == f.innermost_loop(to)
    }

    /// Whether nothing else sees an operation over an undefined value.
    pub(super) fn is_unseen(&self, cx: &Rewriter<'_>, id: NodeId, seen: &Seen) -> bool {
        let over_undef = |n: NodeId| matches!(self.rule.nodes[n].kind, NodeKind::Undef);
        id == self.rule.pattern
            || !self.rule.reachable(id).into_iter().any(over_undef)
            || used(cx.func(), seen.def, 1) == 1
    }

    /// Matches the operands of an `ac` with those of a chain: each in turn with one of those that are left. What is left in
    /// the end stays where the chain is the whole pattern.
    #[allow(clippy::too_many_arguments, reason = "the state of one attempt")]
    fn matches_chain(
        &self,
        cx: &Rewriter<'_>,
        chain: &Chain,
        top: Instr,
        seen: &Seen,
        root_comps: u8,
        choices: &mut Choices,
        m: &mut Match,
    ) -> Result<(), Test> {
        let outermost = chain.nodes[0];
        for inner in &chain.nodes[1..] {
            // It stands for no operation of its own, but for one of the same size.
            m.nodes.insert(*inner, seen.clone());
        }
        let mut left = self.chain_operands(cx, top, seen, m);
        let enough = match outermost == self.rule.pattern {
            true => left.len() >= chain.operands.len(),
            false => left.len() == chain.operands.len(),
        };
        m.expect(enough, Test::Chain(outermost, left.len()))?;
        // All are taken before any is looked into.
        let taken = chain.operands.iter().map(|_| left.remove(choices.pick(left.len())));
        for (node, operand) in chain.operands.iter().zip(taken.collect::<Vec<_>>()) {
            self.matches(cx, *node, operand, root_comps, choices, m)?;
        }
        if outermost == self.rule.pattern {
            m.rest = left;
        }
        Ok(())
    }

    /// The operands of the chain under an operation, from left to right: an operand that is the same operation, used by
    /// the chain alone and with the rule's licences, gives way to its own two, until there are enough.
    fn chain_operands(
        &self,
        cx: &Rewriter<'_>,
        top: Instr,
        seen: &Seen,
        m: &mut Match,
    ) -> Vec<Seen> {
        let f = cx.func();
        let op = f.alu_op(top);
        // Of other operations none are asked.
        let float =
            cx.func().alu_info(top).is_some_and(|info| info.props.contains(AluProps::FLOAT));
        let licences = Flags::from_bits_truncate(if float { self.rule.licences } else { 0 });
        let both = |instr: Instr, comps: &[u8]| {
            [0, 1].map(|slot| {
                let swizzle = f.swizzle(instr, slot);
                let comps = comps.iter().map(|c| swizzle.get(usize::from(*c))).collect();
                Seen { def: f.src(instr, slot), comps }
            })
        };
        let mut list = Vec::from(both(top, &seen.comps));
        while list.len() < LONGEST_CHAIN {
            let is_part = |s: &Seen| {
                let instr = s.def.instr();
                f.alu_op(instr) == op && used(f, s.def, 1) == 1 && f.flags(instr).contains(licences)
            };
            let Some(at) = list.iter().position(is_part) else { break };
            let part = list.remove(at);
            m.parts.push(part.def.instr());
            let operands = both(part.def.instr(), &part.comps);
            list.splice(at..at, operands);
        }
        list
    }

    fn sizes_allow(&self, cx: &Rewriter<'_>, m: &Match) -> bool {
        let Some(test) = &self.rule.size_test else { return true };
        let bits: Vec<u8> = test.nodes.iter().map(|n| cx.func().bits(m.nodes[n].def)).collect();
        test.allowed.contains(&bits)
    }

    /// An operand or result at whose size the float environment isn't one that the rule claims.
    fn outside_environment(&self, cx: &Rewriter<'_>, m: &Match) -> Option<NodeId> {
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
        for id in self.rule.pattern_nodes() {
            let NodeKind::Op { op, args, .. } = &self.rule.nodes[id].kind else { continue };
            let sig = self.set.ops.get(*op);
            if !sig.float {
                continue;
            }
            let own = (sig.output.base, id);
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
                    return Some(node);
                }
            }
        }
        // Of floats elsewhere an open size is any.
        let holds = |bits: &u8| match bits {
            0 => [16, 32, 64].into_iter().all(allows),
            bits => allows(u32::from(*bits)),
        };
        let claims_all = self.rule.env == EnvClause::ALL;
        let hidden = if claims_all { Vec::new() } else { self.rule.hidden_floats(self.set) };
        (!hidden.iter().all(holds)).then_some(self.rule.pattern)
    }

    /// Bits of a class in this match.
    pub(super) fn bits(&self, cx: &Rewriter<'_>, class: ClassId, m: &Match) -> u8 {
        let rule = self.rule;
        if let Some((_, seen)) = m.nodes.iter().find(|(n, _)| rule.nodes[**n].class == class) {
            return cx.func().bits(seen.def);
        }
        let fits = |bits: &&Vec<u8>| {
            m.nodes.iter().all(|(n, seen)| bits[rule.nodes[*n].class] == cx.func().bits(seen.def))
        };
        rule.instances.iter().find(fits).map_or(rule.instances[0][class], |bits| bits[class])
    }

    pub(super) fn condition(&self, cx: &Rewriter<'_>, cond: &Cond, m: &Match, root: Instr) -> bool {
        match cond {
            Cond::And(list) => list.iter().all(|c| self.condition(cx, c, m, root)),
            Cond::Or(list) => list.iter().any(|c| self.condition(cx, c, m, root)),
            Cond::Not(c) => !self.condition(cx, c, m, root),
            Cond::Option(name) => cx.has_option(name),
            Cond::Profit(test, var) => {
                let def = m.vars[var].def;
                match test {
                    Profit::Once => used(cx.func(), def, 1) == 1,
                    Profit::IsConst => cx.func().constant(def).is_some(),
                    Profit::Dies => self.goes(cx.func(), def, m, root),
                }
            }
            Cond::Uses(var, compare, bound) => {
                compare.holds(used(cx.func(), m.vars[var].def, *bound), *bound)
            }
            Cond::OnlyUsedAs(var, ops) => {
                let (f, def) = (cx.func(), m.vars[var].def);
                let is_one = |op: AluOp| ops.iter().any(|o| self.set.ops.get(*o).id == op.0);
                used(f, def, MOST_USES) <= MOST_USES
                    && f.uses(def).all(|u| match u.user() {
                        User::Instr(i) => f.alu_op(i).is_some_and(is_one),
                        User::If(_) => false,
                    })
            }
        }
    }

    /// Whether nothing uses a value but instructions of the match that go with the root: all that are left when those
    /// with other users are taken away, again and again.
    fn goes(&self, f: &Function, def: Def, m: &Match, root: Instr) -> bool {
        let mut going: Vec<Instr> = m.parts.clone();
        going.extend(m.instrs.values().filter(|i| **i != root));
        let only = |def: Def, going: &[Instr]| {
            f.uses(def).all(|u| match u.user() {
                User::Instr(i) => i == root || going.contains(&i),
                User::If(_) => false,
            })
        };
        while let Some(stays) = going.iter().position(|i| !only(i.def(), &going)) {
            going.remove(stays);
        }
        only(def, &going)
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
        let (mut id, mut i) = (id, i);
        while let NodeKind::Ref(inner) = self.rule.nodes[id].kind {
            i = self.rule.nodes[id].swizzle.as_ref().map_or(i, |s| usize::from(s[i]));
            id = inner;
        }
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
            NodeKind::Op { .. } | NodeKind::Outside { .. } | NodeKind::Ref(_) | NodeKind::Undef => {
                None
            }
        }
    }

    /// Computes the constants under a term; the one that has no value, if there is one.
    pub(super) fn compute(
        &self,
        cx: &Rewriter<'_>,
        root: NodeId,
        root_comps: u8,
        m: &Match,
        done: &mut HashMap<NodeId, [u64; 16]>,
    ) -> Result<(), NodeId> {
        let mut order = self.rule.reachable(root);
        // The operands of a computed constant were there before it.
        order.sort_unstable();
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
                let Some(vars) = values else { return Err(id) };
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
                let bits = u32::from(self.bits(cx, self.rule.nodes[id].class, m));
                *slot = match value.first() {
                    Some(Out::Bits(v)) if expr.ty.base == Base::Bool => {
                        prim::from_bool(bits, *v != 0)
                    }
                    Some(Out::Bits(v)) => *v,
                    Some(Out::AnyNan) => prim::nan(bits),
                    _ => return Err(id),
                };
            }
            done.insert(id, out);
        }
        Ok(())
    }

    /// Whether users of the root read those bits only that the rule says.
    fn reads_few(&self, cx: &Rewriter<'_>, root: Instr, m: &mut Match) -> Result<(), Test> {
        let Some(node) = self.rule.used else { return Ok(()) };
        let allowed = self.allowed_bits(cx, root, m).map_err(Test::Compute)?;
        let Some(allowed) = allowed else { return Err(Test::Compute(node)) };
        let read = crate::facts::used::of(cx.func(), cx.rules, root.def());
        // Where all is read, nothing is asked of the constant.
        let whole = crate::facts::abs::mask(cx.func().bits(root.def()).into());
        m.expect(read != whole && read | allowed == allowed, Test::Used { read, allowed })
    }

    /// The bits that the rule lets users read in every component; `None` or the node where there is no such constant.
    fn allowed_bits(
        &self,
        cx: &Rewriter<'_>,
        root: Instr,
        m: &Match,
    ) -> Result<Option<u64>, NodeId> {
        let Some(node) = self.rule.used else { return Ok(None) };
        let comps = cx.comps(root);
        let mut done = HashMap::new();
        self.compute(cx, node, comps, m, &mut done)?;
        let bits = (0..usize::from(comps)).map(|i| self.constant_at(cx, node, i, m, &done));
        Ok(bits.reduce(|a, b| Some(a? & b?)).flatten())
    }

    fn facts_hold(&self, cx: &mut Rewriter<'_>, root_comps: u8, m: &mut Match) -> Result<(), Test> {
        for (at, fact) in self.rule.facts.iter().enumerate() {
            let mut done = HashMap::new();
            for arg in &fact.args {
                self.compute(cx, *arg, root_comps, m, &mut done).map_err(Test::Compute)?;
            }
            // All arguments have as many components.
            let first = fact.args.first();
            let comps = first.map_or(1, |a| self.count(self.rule.nodes[*a].comps, root_comps));
            for i in 0..comps {
                let holds = self.fact_holds(cx, fact, i.into(), m, &done);
                m.expect(holds == Some(true), Test::Fact { at, comp: i, holds })?;
            }
        }
        Ok(())
    }

    /// Whether a fact holds of component `i`; `None` where that isn't known.
    fn fact_holds(
        &self,
        cx: &mut Rewriter<'_>,
        fact: &FactUse,
        i: usize,
        m: &Match,
        done: &HashMap<NodeId, [u64; 16]>,
    ) -> Option<bool> {
        let args: Option<Vec<Abs>> =
            fact.args.iter().map(|a| self.known(cx, *a, i, m, done)).collect();
        let body = &self.set.facts[fact.fact].body;
        let width = u32::from(self.bits(cx, fact.bits, m));
        abstractly::eval(&cx.fact_env(), width, body, &args?).and_then(abs::truth)
    }

    /// What is known of component `i` of a fact's argument.
    pub(super) fn known(
        &self,
        cx: &mut Rewriter<'_>,
        id: NodeId,
        i: usize,
        m: &Match,
        done: &HashMap<NodeId, [u64; 16]>,
    ) -> Option<Abs> {
        let node = &self.rule.nodes[id];
        if let Some(v) = self.constant_at(cx, id, i, m, done) {
            return Some(abs::int(self.bits(cx, node.class, m).into(), v));
        }
        let NodeKind::Var(var) = &node.kind else { return None };
        let seen = m.vars.get(var)?;
        let i = node.swizzle.as_ref().map_or(i, |s| usize::from(s[i]));
        let comps = if self.rule.vars[*var].whole { &[] } else { seen.comps.as_slice() };
        Some(cx.known(Val::from(seen.def).swz(comps), i))
    }

    // ---- replacements

    /// An operation of a replacement that the target lacks.
    fn illegal(&self, cx: &Rewriter<'_>, root: NodeId, m: &Match) -> Option<NodeId> {
        let key = |id: NodeId| -> Option<(usize, ClassId)> {
            let NodeKind::Op { op, args, .. } = &self.rule.nodes[id].kind else { return None };
            let open = self.set.ops.get(*op).inputs.iter().position(|t| t.bits == 0);
            Some((*op, self.rule.nodes[open.map_or(id, |i| args[i])].class))
        };
        let have: Vec<_> = self.rule.pattern_nodes().into_iter().filter_map(key).collect();
        self.rule.reachable(root).into_iter().find(|id| {
            let lacks = |(op, class): (usize, ClassId)| {
                !have.contains(&(op, class))
                    && !cx.legal(AluOp(self.set.ops.get(op).id), self.bits(cx, class, m))
            };
            key(*id).is_some_and(lacks) || self.lacks_outside(cx, *id, m)
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
        for part in &m.parts {
            let info = cx.func().alu_info(*part);
            if info.is_some_and(|info| info.props.contains(AluProps::FLOAT)) {
                keep &= cx.flags(*part);
            }
        }
        let keep = if float { keep } else { Flags::empty() };
        let mut done: HashMap<NodeId, Val> = HashMap::new();
        let value = self.build_node(cx, root, root, root_comps, m, constants, keep, &mut done);
        // What was left of the chain.
        let NodeKind::Op { op, .. } = &self.rule.nodes[self.rule.pattern].kind else {
            return value;
        };
        let sig = self.set.ops.get(*op);
        let licences = if sig.float { keep } else { Flags::empty() };
        m.rest.iter().fold(value, |value, left| {
            let left = Val { def: left.def, swizzle: Swizzle::new(&left.comps) };
            cx.build(AluOp(sig.id), root_comps, licences, &[value, left])
        })
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
                let value = match self.rule.vars[*var].whole {
                    true => Val::from(seen.def),
                    false => Val { def: seen.def, swizzle: Swizzle::new(&seen.comps) },
                };
                match self.rule.constants_under_phis().contains(var) {
                    true => cx.copied(value),
                    false => value,
                }
            }
            NodeKind::Outside { what: Outside::Phi, .. } => self.build_phi(cx, id, m),
            NodeKind::Outside { what, args, .. } => {
                let mut operands: SmallVec<[(Val, u8); 4]> = SmallVec::new();
                for arg in args {
                    let value =
                        self.build_node(cx, *arg, root, root_comps, m, constants, keep, done);
                    operands.push((value, self.count(self.rule.nodes[*arg].comps, root_comps)));
                }
                let bits = self.bits(cx, node.class, m);
                self.build_outside(cx, what, bits, comps, &operands, m)
            }
            NodeKind::Undef => cx.undef(self.bits(cx, node.class, m), comps),
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

/// How many operands use a value, counted up to one more than `most`.
fn used(f: &Function, def: Def, most: u32) -> u32 {
    f.uses(def).take(most as usize + 1).count() as u32
}

/// The instruction of a value that is seen.
pub(super) fn instr_of(seen: &Seen) -> Instr {
    seen.def.instr()
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
