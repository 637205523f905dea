//! What an arm asks of the operands of what the pattern matches.
//!
//! The kinds of the root's operands are known before any arm is tried: from them follows, often, which operand stands for
//! which, and what needs no test.

use super::super::model::*;
use super::matcher::{Emitter, flag_names, op_path};
use super::mirror;

/// The kind of an operand that is a constant.
const CONST: &str = "Turn::CONST";

/// Which of the root's first two operands stands for the pattern's first, where the root is commutative.
pub(super) enum Order {
    /// The first.
    Same,
    /// The second.
    Exchanged,
    /// The second, if the first isn't defined by this.
    Unless(String),
    /// Both are tried.
    Both,
}

impl Emitter<'_> {
    /// A condition over the kinds of the root's operands that everything that matches satisfies. Notes what follows from
    /// it: which operand stands for which, and which are known then.
    pub(super) fn guard(&mut self) -> String {
        let root = self.rule.pattern;
        let NodeKind::Op { op, args, .. } = &self.rule.nodes[root].kind else {
            return String::new();
        };
        let sig = self.set.ops.get(*op);
        if let Some(chain) = self.rule.chain_at(root) {
            // Two operands may be all that the chain has.
            let inner = format!("{}.0", op_path(sig));
            return match chain.operands.len() {
                2 => String::new(),
                _ => format!("k0 == {inner} || k1 == {inner}"),
            };
        }
        if args.len() > super::MAX_KINDS {
            return String::new();
        }
        let args = args.clone();
        let kinds: Vec<Option<String>> = args.iter().map(|a| self.kind_of(*a)).collect();
        let mut tests = Vec::new();
        let mut from = 0;
        if sig.commutative && kinds.len() >= 2 {
            from = 2;
            // In the driver's normal form a constant stands second, and operations on constants are folded.
            let folds = sig.eval.is_some() && kinds.len() == 2;
            let is_const = |kind: &Option<String>| kind.as_deref() == Some(CONST);
            let either = |a: &String, all: bool| match all {
                true => format!("k0 == {a} || k1 == {a}"),
                false => format!("(k0 == {a} || k1 == {a})"),
            };
            let (order, test) = match (&kinds[0], &kinds[1]) {
                (Some(a), Some(b)) if a == b => {
                    (Order::Both, Some(format!("k0 == {a} && k1 == {a}")))
                }
                (a, b) if (is_const(a) || is_const(b)) && (folds || a.is_some() && b.is_some()) => {
                    let other = if is_const(b) { a } else { b };
                    let other = other.iter().map(|k| format!("k0 == {k} && "));
                    let order = if is_const(b) { Order::Same } else { Order::Exchanged };
                    (order, Some(format!("{}k1 == {CONST}", other.collect::<String>())))
                }
                (Some(a), Some(b)) => {
                    let test = format!("(k0 == {a} && k1 == {b}) || (k0 == {b} && k1 == {a})");
                    let test = if kinds.len() == 2 { test } else { format!("({test})") };
                    (Order::Unless(a.clone()), Some(test))
                }
                (Some(a), None) | (None, Some(a)) => {
                    (Order::Both, Some(either(a, kinds.len() == 2)))
                }
                (None, None) => (Order::Both, None),
            };
            let both = matches!(order, Order::Both);
            if !both || kinds[0].is_some() == kinds[1].is_some() {
                self.proven.extend(&args[..2]);
            }
            self.order = order;
            tests.extend(test);
        }
        for (i, kind) in kinds.iter().enumerate().skip(from) {
            if let Some(kind) = kind {
                tests.push(format!("k{i} == {kind}"));
                self.proven.push(args[i]);
            }
        }
        tests.join(" && ")
    }

    /// What defines an operand that a pattern node matches, where only one kind will do.
    fn kind_of(&self, node: NodeId) -> Option<String> {
        match &self.rule.nodes[node].kind {
            NodeKind::Op { .. } => self.sig(node).map(|s| format!("{}.0", op_path(s))),
            NodeKind::Outside { .. } | NodeKind::Undef => Some("Turn::OTHER".to_string()),
            NodeKind::Literal(..) => Some(CONST.to_string()),
            NodeKind::Var(v) if self.rule.vars[*v].kind == VarKind::Const => {
                Some(CONST.to_string())
            }
            NodeKind::Var(_) | NodeKind::Compute { .. } | NodeKind::Ref(_) => None,
        }
    }

    /// Whether an operand is any value that nothing but the replacement looks at.
    pub(super) fn is_loose(&self, node: NodeId) -> bool {
        let NodeKind::Var(var) = &self.rule.nodes[node].kind else { return false };
        let is_var = |n: NodeId| matches!(self.rule.nodes[n].kind, NodeKind::Var(v) if v == *var);
        let places = self.rule.pattern_nodes().iter().filter(|n| is_var(**n)).count();
        let in_facts = self.rule.fact_args().any(is_var);
        let in_profit =
            self.rule.alts.iter().any(|a| a.profit.as_ref().is_some_and(|p| mentions(p, *var)));
        let any_value =
            self.rule.vars[*var].kind == VarKind::Value && self.rule.nodes[node].swizzle.is_none();
        let placed = self.rule.needed_at_phis().iter().any(|(v, _)| v == var);
        places == 1 && !in_facts && !in_profit && any_value && !placed
    }

    /// Matches the operands of a matched operation, cheap tests of all of them first.
    pub(super) fn operands(&mut self, node: NodeId) {
        let (op, args) = match &self.rule.nodes[node].kind {
            NodeKind::Op { op, args, .. } => (op, args),
            NodeKind::Outside { what, args, .. } => return self.outside_operands(node, what, args),
            _ => return,
        };
        if let Some(chain) = self.rule.chain_at(node) {
            return self.chain(node, *op, &chain.operands);
        }
        let (sig, args) = (self.set.ops.get(*op).clone(), args.clone());
        let same_var = args.len() >= 2
            && match (&self.rule.nodes[args[0]].kind, &self.rule.nodes[args[1]].kind) {
                (NodeKind::Var(a), NodeKind::Var(b)) => {
                    a == b && self.rule.nodes[args[0]].swizzle == self.rule.nodes[args[1]].swizzle
                }
                _ => false,
            };
        let is_root = node == self.rule.pattern;
        let commutes = sig.commutative && args.len() >= 2 && !same_var;
        let both = commutes && !mirror::is_mirrored(self.set, self.rule, args[0], args[1]);
        let mut slots: Vec<String> = (0..args.len()).map(|i| i.to_string()).collect();
        if both {
            let orders = [format!("o{node}"), format!("1 - o{node}")];
            match &self.order {
                Order::Same if is_root => {}
                Order::Exchanged if is_root => slots.swap(0, 1),
                Order::Unless(first) if is_root => {
                    let first = first.clone();
                    self.line(format!("let o{node} = usize::from(k0 != {first});"));
                    slots[..2].clone_from_slice(&orders);
                }
                _ => {
                    self.open(format!("for o{node} in 0..2 {{"));
                    self.loops += 1;
                    slots[..2].clone_from_slice(&orders);
                }
            }
        }
        let shown = is_root && args.len() <= super::MAX_KINDS;
        // Below the root looking is a call: what is tested most sharply comes first, what passes anyhow last. The size of a
        // literal may be that of an operand beside it.
        let literal =
            args.iter().any(|a| matches!(self.rule.nodes[*a].kind, NodeKind::Literal(..)));
        let mut places: Vec<usize> = (0..args.len()).collect();
        if !is_root && !literal {
            places.sort_by_key(|i| match &self.rule.nodes[args[*i]].kind {
                _ if self.kind_of(args[*i]).is_some() => 0,
                NodeKind::Var(var) if self.bound.contains_key(var) => 1,
                _ => 2,
            });
        }
        for i in places {
            let (arg, slot) = (args[i], &slots[i]);
            // Operands of fixed component count are read whole, whatever the root takes of the result.
            let value = match sig.inputs[i].comps {
                _ if shown => format!("turn.args[{slot}]"),
                0 if !is_root => format!("cx.under(v{node}, {slot})"),
                _ => format!("cx.arg(n{node}, {slot})"),
            };
            self.line(format!("let v{arg} = {value};"));
            if let (true, 0, Ok(n)) = (shown, sig.inputs[i].comps, slot.parse()) {
                self.shown.insert(arg, n);
            }
            if let (true, false, Some(kind)) =
                (shown, self.proven.contains(&arg), self.kind_of(arg))
            {
                self.test(format!("turn.kinds[{slot}] == {kind}"));
                self.proven.push(arg);
            }
            if !is_root && !literal {
                self.cheap(arg);
            }
        }
        if is_root || literal {
            args.iter().for_each(|arg| self.cheap(*arg));
        }
        for arg in &args {
            self.instruction(*arg);
        }
        for arg in &args {
            self.operands(*arg);
        }
    }

    /// Matches the operands of a chain: each with one of the chain's own, the first in source order first.
    fn chain(&mut self, node: NodeId, op: usize, operands: &[NodeId]) {
        let sig = self.set.ops.get(op);
        let licences =
            if sig.float { flag_names(self.rule.licences) } else { "Flags::empty()".into() };
        self.line(format!(
            "let c{node} = cx.chain(n{node}, v{node}.swizzle, {}, {licences});",
            op_path(sig)
        ));
        let rule = self.rule;
        match node == rule.pattern {
            true => self.test(format!("c{node}.len() >= {}", operands.len())),
            false => self.test(format!("c{node}.len() == {}", operands.len())),
        }
        for (n, operand) in operands.iter().enumerate() {
            self.open(format!("for i{operand} in 0..c{node}.len() {{"));
            self.loops += 1;
            if n > 0 {
                let taken: Vec<String> =
                    operands[..n].iter().map(|o| format!("i{operand} != i{o}")).collect();
                self.test(taken.join(" && "));
            }
            self.line(format!("let v{operand} = c{node}.operand(i{operand});"));
            self.cheap(*operand);
            self.instruction(*operand);
        }
        for operand in operands {
            self.operands(*operand);
        }
    }

    /// What can be said of an operand without looking further down.
    pub(super) fn cheap(&mut self, id: NodeId) {
        let node = self.rule.nodes[id].clone();
        let comps = self.comps(node.comps);
        match &node.kind {
            NodeKind::Literal(value, base) => {
                let nan = matches!(value, Literal::Float(v) if f64::from_bits(*v).is_nan());
                let literal = self.literal(value, *base, node.class);
                let text = match (nan, self.shown.get(&id)) {
                    (true, _) => format!("cx.is_nan(v{id}, {comps})"),
                    (false, Some(n)) => {
                        self.compared.insert(*n);
                        format!("u{n} == Some({literal})")
                    }
                    (false, None) => format!("cx.is_bits(v{id}, {comps}, {literal})"),
                };
                self.test(text);
            }
            NodeKind::Op { op, .. } => {
                let sig = self.set.ops.get(*op).clone();
                let fail = self.fail();
                let path = op_path(&sig);
                self.line(match self.proven.contains(&id) {
                    true => format!("let n{id} = v{id}.def.instr();"),
                    false => {
                        format!("let Some(n{id}) = cx.alu(v{id}, {path}) else {{ {fail} }};")
                    }
                });
                match (&node.swizzle, sig.output.comps) {
                    (Some(s), _) => self.test(format!("cx.takes(v{id}, &{s:?})")),
                    (None, 0) => {}
                    (None, n) => {
                        let all: Vec<u8> = (0..n).collect();
                        self.test(format!("cx.takes(v{id}, &{all:?})"));
                    }
                }
                self.unseen(id);
            }
            NodeKind::Var(var) => {
                let v = &self.rule.vars[*var];
                if let Some(s) = &node.swizzle {
                    self.test(format!("cx.takes(v{id}, &{s:?})"));
                }
                if let Some(first) = self.bound.get(var).cloned() {
                    let text = match v.whole {
                        true => format!("{first}.def == v{id}.def"),
                        false => {
                            let quick = self.quick_same(*var, id, &first).unwrap_or_default();
                            format!("{quick}cx.same({first}, v{id}, {comps})")
                        }
                    };
                    self.test(text);
                    return;
                }
                if v.kind == VarKind::Const && !self.proven.contains(&id) {
                    self.test(format!("cx.is_const(v{id})"));
                }
                let value = self.value_at(*var, id);
                self.bound.insert(*var, value);
            }
            NodeKind::Outside { what, .. } => {
                let find = match what {
                    Outside::Intrinsic { id: which, .. } => {
                        format!("intrinsic(v{id}, {})", super::outside::intrinsic(self.set, *which))
                    }
                    Outside::Tex { op, .. } => format!("tex(v{id}, {})", super::outside::tex(*op)),
                    Outside::Phi => format!("phi(v{id})"),
                };
                let fail = self.fail();
                self.line(format!("let Some(n{id}) = cx.{find} else {{ {fail} }};"));
                match (&node.swizzle, what) {
                    (Some(s), _) => self.test(format!("cx.takes(v{id}, &{s:?})")),
                    (None, Outside::Phi) => {}
                    (None, _) => self.test(format!("cx.is_whole(v{id}, {comps})")),
                }
                self.unseen(id);
                self.outside(id, what);
            }
            NodeKind::Undef => self.test(format!("cx.is_undef(v{id}, n0, {comps})")),
            NodeKind::Compute { .. } | NodeKind::Ref(_) => {}
        }
    }

    /// Through an operation over an undefined value nothing but the pattern may see what is chosen for it.
    fn unseen(&mut self, id: NodeId) {
        if self.rule.chooses(id) {
            self.test(format!("cx.once(v{id})"));
        }
    }

    /// What two operands of the root that are the same value satisfy, seen without a call.
    fn quick_same(&self, var: VarId, id: NodeId, first: &str) -> Option<String> {
        let NodeKind::Op { args, .. } = &self.rule.nodes[self.rule.pattern].kind else {
            return None;
        };
        let at = args.iter().position(|a| *a == id)?;
        (args.len() <= super::MAX_KINDS).then_some(())?;
        let earlier = |a: &NodeId| matches!(self.rule.nodes[*a].kind, NodeKind::Var(v) if v == var);
        args[..at].iter().any(earlier).then_some(())?;
        let sig = self.sig(self.rule.pattern)?;
        let equal = format!("{first}.def == v{id}.def");
        match (args.len(), sig.commutative) {
            // Operations on constants were folded.
            (2, _) if sig.eval.is_some() => Some(format!("{equal} && ")),
            (_, false) => Some(format!("({equal} || k{at} == {CONST}) && ")),
            _ => None,
        }
    }

    /// From here on a variable is what stands at its first place in source order. Equal constants may be different
    /// instructions, and tests bind a variable at the place that they come to first.
    pub(super) fn first_places(&mut self) {
        let mut seen = Vec::new();
        for id in self.rule.pattern_nodes() {
            let NodeKind::Var(var) = self.rule.nodes[id].kind else { continue };
            if !seen.contains(&var) {
                seen.push(var);
                let value = self.value_at(var, id);
                self.bound.insert(var, value);
            }
        }
    }

    /// What a variable stands for, seen at one of its places.
    fn value_at(&self, var: VarId, id: NodeId) -> String {
        match self.rule.vars[var].whole {
            true => format!("Val::from(v{id}.def)"),
            false => format!("v{id}"),
        }
    }
}

fn mentions(cond: &Cond, var: VarId) -> bool {
    let mut found = false;
    cond.tests(&mut |test, _| found |= test.var() == Some(var));
    found
}
