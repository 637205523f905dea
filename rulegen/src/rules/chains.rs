//! `ac(op: a, #c, b)`: chains of one associative and commutative operation.
//!
//! In a pattern it is resolved as the chain from left to right, and noted in [`Rule::chains`](super::model::Rule::chains),
//! by which matchers know that it stands for every other order and bracketing. In a replacement it is that chain.

use super::ast::{self, Term, TermKind};
use super::codes;
use super::model::*;
use super::resolve::{Resolver, Slot};
use crate::diagnostics::{Diagnostic, Span};

impl Resolver<'_> {
    /// The outermost node of a chain.
    pub(super) fn chain(
        &mut self,
        term: &Term,
        op: &ast::Name,
        args: &[Term],
        slot: Slot,
    ) -> Option<NodeId> {
        let lib = self.lib;
        let Some(index) = lib.ops.find(&op.text) else {
            let text = format!("there is no op `{}`", op.text);
            let d = Diagnostic::error(codes::UNKNOWN_OP, self.file, op.span, text);
            let known = lib.ops.iter().filter(|o| o.is_ac()).map(|o| o.name.as_str());
            self.report(d.suggest(&op.text, known));
            return None;
        };
        if !lib.ops.get(index).is_ac() {
            let text = format!("`{}` is not associative and commutative", op.text);
            let d = Diagnostic::error(codes::CHAIN, self.file, op.span, text);
            self.report(d.help("operands of other operations have their places: write them out"));
            return None;
        }
        if !CHAIN_OPERANDS.contains(&args.len()) {
            let (least, most) = (CHAIN_OPERANDS.start(), CHAIN_OPERANDS.end());
            let text = format!("`ac` takes {least} to {most} operands, not {}", args.len());
            self.error(codes::ARITY, term.span, text);
            return None;
        }
        for arg in args {
            let (TermKind::Op { op: inner, .. } | TermKind::Ac(inner, _)) = &arg.kind else {
                continue;
            };
            if inner.text == op.text {
                let text = format!("this `{}` is part of the chain", op.text);
                let d = Diagnostic::error(codes::CHAIN, self.file, arg.span, text);
                self.report(d.help("write its operands as operands of the `ac`"));
                return None;
            }
        }
        let comb = left_to_right(op, args, term.span, term.bind.clone());
        let root = self.term(&comb, slot)?;
        if self.in_pattern {
            let mut nodes = vec![root];
            let mut operands = Vec::new();
            for n in (1..args.len()).rev() {
                let last = *nodes.last()?;
                let NodeKind::Op { args, .. } = &self.nodes[last].kind else { return None };
                operands.push(args[1]);
                match n {
                    1 => operands.push(args[0]),
                    _ => nodes.push(args[0]),
                }
            }
            operands.reverse();
            self.chains.push(Chain { nodes, operands });
        }
        Some(root)
    }

    /// An operation that absorbs (`iand` of 0, `ior` of all ones) hides poison of the other operand: in one bracketing of a
    /// chain, and not in another. What takes the place of such a chain must hide it too.
    pub(super) fn check_absorbing(&mut self, pattern: NodeId, alts: &[Alt]) {
        for chain in &self.chains {
            let NodeKind::Op { op, .. } = &self.nodes[chain.nodes[0]].kind else { continue };
            let sig = self.lib.ops.get(*op);
            let Some(ones) = sig.absorbing() else { continue };
            let (absorbing, flag) = if ones { (-1, true) } else { (0, false) };
            let is_absorbing = |alt: &Alt| match &self.nodes[alt.term].kind {
                NodeKind::Literal(Literal::Int(v), _) => *v == absorbing,
                NodeKind::Literal(Literal::Bool(b), _) => *b == flag,
                _ => false,
            };
            if chain.nodes[0] == pattern && alts.iter().all(is_absorbing) {
                continue;
            }
            let text = format!(
                "a chain of `{}` may hide an operand's broken promise or not, as it is bracketed",
                sig.name
            );
            let d =
                Diagnostic::error(codes::CHAIN, self.file, self.nodes[chain.nodes[0]].span, text);
            let help =
                format!("only a whole chain can be replaced, and by {absorbing} or {flag} alone");
            self.report(d.help(help));
            return;
        }
    }

    /// Chains of float operations need a licence.
    pub(super) fn check_chains(&mut self, licences: u16) {
        if licences & flags::REASSOC != 0 {
            return;
        }
        let float = self.chains.iter().find_map(|chain| {
            let node = &self.nodes[chain.nodes[0]];
            let NodeKind::Op { op, .. } = &node.kind else { return None };
            let sig = self.lib.ops.get(*op);
            sig.float.then(|| (sig.name.clone(), node.span))
        });
        if let Some((name, span)) = float {
            let text = format!("`{name}` is associative only under a licence");
            let d = Diagnostic::error(codes::CHAIN, self.file, span, text);
            self.report(d.help("say `with reassoc`"));
        }
    }
}

/// `op(op(a, b), c)`
fn left_to_right(op: &ast::Name, args: &[Term], span: Span, bind: Option<ast::Name>) -> Term {
    let kind = |left: Term, right: &Term| TermKind::Op {
        op: op.clone(),
        flags: Vec::new(),
        args: vec![left, right.clone()],
    };
    let mut chain = args[0].clone();
    for arg in &args[1..] {
        chain = Term { bind: None, kind: kind(chain, arg), swizzle: None, span };
    }
    Term { bind, ..chain }
}

/// The ways in which the operands of one term can be laid over those of another.
pub(super) struct Ways {
    /// Nodes of the first with those of the second, one list a way.
    pub pairs: Vec<Vec<(NodeId, NodeId)>>,
    /// Whether the second has operands that the first leaves.
    pub partial: bool,
}

/// How a term lies over another where one of them is a chain; `None` where none is. What matches the second must match
/// the first whatever the shape of the chain.
pub(super) fn chain_ways(first: &Rule, x: NodeId, second: &Rule, y: NodeId) -> Option<Ways> {
    let none = Ways { pairs: Vec::new(), partial: false };
    let (over, under) = (first.chain_at(x), second.chain_at(y));
    if over.is_none() && under.is_none() {
        return None;
    }
    let (NodeKind::Op { op: p, args: s, .. }, NodeKind::Op { op: q, args: t, .. }) =
        (&first.nodes[x].kind, &second.nodes[y].kind)
    else {
        return Some(none);
    };
    if p != q {
        return Some(none);
    }
    let at_roots = x == first.pattern && y == second.pattern;
    Some(match (over, under) {
        (Some(over), Some(under)) => {
            let whole = over.operands.len() == under.operands.len();
            match whole || at_roots {
                true => injections(&over.operands, &under.operands, !whole),
                false => none,
            }
        }
        // What a variable of the second stands for may be a part of the chain or not, as it is used.
        (Some(over), None) => {
            let chain_there =
                |n: &NodeId| matches!(&second.nodes[*n].kind, NodeKind::Op { op, .. } if op == q);
            let fits = over.operands.len() == 2
                && !t.iter().any(chain_there)
                && (at_roots || t.iter().all(|n| is_one(second, *n)))
                && over.operands.iter().all(|n| is_one(first, *n) || is_anything(first, *n));
            match fits {
                true => injections(&over.operands, t, false),
                false => none,
            }
        }
        (None, Some(under)) => match s.iter().all(|n| is_anything(first, *n)) {
            true => {
                let pairs = vec![(s[0], under.operands[0]), (s[1], under.operands[1])];
                Ways { pairs: vec![pairs], partial: true }
            }
            false => none,
        },
        (None, None) => none,
    })
}

/// Whether what an operand matches is never more than one operand of a chain: if it is an operation of the chain's kind,
/// it has another use in the pattern.
fn is_one(rule: &Rule, node: NodeId) -> bool {
    let NodeKind::Var(var) = rule.nodes[node].kind else { return true };
    let is_it = |n: &NodeId| matches!(rule.nodes[*n].kind, NodeKind::Var(v) if v == var);
    rule.vars[var].kind == VarKind::Const
        || rule.pattern_nodes().into_iter().filter(is_it).count() > 1
}

/// Whether an operand is matched by anything: a variable that nothing else speaks of.
fn is_anything(rule: &Rule, node: NodeId) -> bool {
    let NodeKind::Var(var) = rule.nodes[node].kind else { return false };
    let is_it = |n: &NodeId| matches!(rule.nodes[*n].kind, NodeKind::Var(v) if v == var);
    let alone = rule.pattern_nodes().iter().filter(|n| is_it(n)).count() == 1;
    let in_fact = rule.fact_args().any(|a| rule.reachable(a).iter().any(is_it));
    let mut in_profit = false;
    for profit in rule.alts.iter().filter_map(|a| a.profit.as_ref()) {
        profit.tests(&mut |test, _| in_profit |= test.var() == Some(var));
    }
    let plain = rule.vars[var].kind == VarKind::Value && rule.nodes[node].swizzle.is_none();
    plain && alone && !in_fact && !in_profit
}

/// Every way of giving each of the first one of the second for itself.
fn injections(over: &[NodeId], under: &[NodeId], partial: bool) -> Ways {
    let mut pairs: Vec<Vec<(NodeId, NodeId)>> = vec![Vec::new()];
    for x in over {
        let mut next = Vec::new();
        for done in &pairs {
            for y in under.iter().filter(|y| !done.iter().any(|d| d.1 == **y)) {
                let mut more = done.clone();
                more.push((*x, *y));
                next.push(more);
            }
        }
        pairs = next;
    }
    Ways { pairs, partial }
}
