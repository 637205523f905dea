//! Operands of a commutative operation that say the same of each other: where one order doesn't match, neither does the
//! other.

use super::super::model::*;
use crate::expr::{BinaryOp, Expr, ExprKind};

/// Whether two operands of a pattern's operation may change places: with the variables of the one renamed to those of the
/// other the pattern, its facts and its profit tests are what they were.
pub(super) fn is_mirrored(set: &RuleSet, rule: &Rule, a: NodeId, b: NodeId) -> bool {
    let mut mirror = Mirror { set, rule, images: Vec::new() };
    let named =
        mirror.pairs(a, b) && mirror.is_closed(a, b) && mirror.facts() && mirror.conditions();
    // What stands under a phi is asked where it is defined, which may differ between the two.
    named && mirror.constants() && rule.phis().is_empty()
}

struct Mirror<'a> {
    set: &'a RuleSet,
    rule: &'a Rule,
    /// What each variable of the two operands becomes.
    images: Vec<(VarId, VarId)>,
}

impl Mirror<'_> {
    /// Whether two terms are one but for the names of variables. The depth is bounded by the parser of rules.
    fn pairs(&mut self, a: NodeId, b: NodeId) -> bool {
        let (rule, x, y) = (self.rule, &self.rule.nodes[a], &self.rule.nodes[b]);
        if x.swizzle != y.swizzle || x.comps != y.comps || x.class != y.class {
            return false;
        }
        match (&x.kind, &y.kind) {
            (
                NodeKind::Op { op: p, promises: f, args: v, bind: m },
                NodeKind::Op { op: q, promises: g, args: w, bind: n },
            ) => {
                let bound = match (m, n) {
                    (None, None) => true,
                    (Some(m), Some(n)) => self.joins(*m, *n),
                    _ => false,
                };
                let chained = rule.chain_at(a).is_some() || rule.chain_at(b).is_some();
                p == q
                    && f == g
                    && bound
                    && !chained
                    && v.len() == w.len()
                    && v.iter().zip(w).all(|(v, w)| self.pairs(*v, *w))
            }
            (NodeKind::Var(v), NodeKind::Var(w)) => {
                let (p, q) = (&rule.vars[*v], &rule.vars[*w]);
                p.kind == q.kind && p.whole == q.whole && self.joins(*v, *w)
            }
            (NodeKind::Literal(v, _), NodeKind::Literal(w, _)) => v == w,
            _ => false,
        }
    }

    /// Notes that two variables become each other; false if one of them becomes another already.
    fn joins(&mut self, x: VarId, y: VarId) -> bool {
        let consistent = |(p, q): &(VarId, VarId)| (*p == x) == (*q == y) && (*p == y) == (*q == x);
        if !self.images.iter().all(consistent) {
            return false;
        }
        self.images.extend([(x, y), (y, x)]);
        true
    }

    fn image(&self, var: VarId) -> VarId {
        self.images.iter().find(|(from, _)| *from == var).map_or(var, |(_, to)| *to)
    }

    /// Whether no variable that becomes another stands elsewhere in the pattern.
    fn is_closed(&self, a: NodeId, b: NodeId) -> bool {
        let (inside, other) = (self.rule.reachable(a), self.rule.reachable(b));
        self.rule.pattern_nodes().into_iter().all(|node| match &self.rule.nodes[node].kind {
            NodeKind::Var(v) => {
                self.image(*v) == *v || inside.contains(&node) || other.contains(&node)
            }
            _ => true,
        })
    }

    fn facts(&self) -> bool {
        let facts = &self.rule.facts;
        let moves = |n: &NodeId| match self.rule.nodes[*n].kind {
            NodeKind::Var(v) => self.image(v) != v,
            _ => false,
        };
        let used = self.rule.used.is_none_or(|k| !self.rule.reachable(k).iter().any(moves));
        used && facts.iter().all(|fact| facts.iter().any(|other| self.becomes(fact, other)))
    }

    /// Whether a fact becomes another, or itself.
    fn becomes(&self, fact: &FactUse, other: &FactUse) -> bool {
        let arg = |(from, to): (&NodeId, &NodeId)| {
            let (from, to) = (&self.rule.nodes[*from], &self.rule.nodes[*to]);
            from.swizzle == to.swizzle
                && match (&from.kind, &to.kind) {
                    (NodeKind::Var(v), NodeKind::Var(w)) => self.image(*v) == *w,
                    (NodeKind::Literal(v, _), NodeKind::Literal(w, _)) => v == w,
                    _ => false,
                }
        };
        let straight = || fact.args.iter().zip(&other.args).all(arg);
        let crossed = || {
            let body = &self.set.facts[fact.fact].body;
            fact.args.len() == 2
                && is_symmetric(body, body)
                && fact.args.iter().rev().zip(&other.args).all(arg)
        };
        fact.fact == other.fact && fact.bits == other.bits && (straight() || crossed())
    }

    /// Whether no constant is computed from what becomes another: it may have no value one way and have one the other way.
    fn constants(&self) -> bool {
        let rule = self.rule;
        let moves = |n: &NodeId| match rule.nodes[*n].kind {
            NodeKind::Var(v) => self.image(v) != v,
            _ => false,
        };
        let made = rule.alts.iter().flat_map(|alt| rule.reachable(alt.term));
        made.into_iter().all(|node| match rule.nodes[node].kind {
            NodeKind::Compute { .. } => !rule.reachable(node).iter().any(moves),
            _ => true,
        })
    }

    fn conditions(&self) -> bool {
        let tests = self.rule.alts.iter().filter_map(|alt| alt.profit.as_ref());
        tests.into_iter().all(|test| self.same(test, test))
    }

    /// Whether a condition becomes another. The depth is bounded by the parser of rules.
    fn same(&self, a: &Cond, b: &Cond) -> bool {
        match (a, b) {
            (Cond::And(v), Cond::And(w)) | (Cond::Or(v), Cond::Or(w)) => {
                v.len() == w.len() && v.iter().all(|x| w.iter().any(|y| self.same(x, y)))
            }
            (Cond::Not(x), Cond::Not(y)) => self.same(x, y),
            (Cond::Option(x), Cond::Option(y)) => x == y,
            (Cond::Profit(p, x), Cond::Profit(q, y)) => p == q && self.image(*x) == *y,
            (Cond::Uses(x, p, m), Cond::Uses(y, q, n)) => p == q && m == n && self.image(*x) == *y,
            (Cond::OnlyUsedAs(x, p), Cond::OnlyUsedAs(y, q)) => p == q && self.image(*x) == *y,
            _ => false,
        }
    }
}

/// Whether an expression over two variables is the other with its variables exchanged, operands of commutative operations
/// in any order. The depth is bounded by the parser of expressions.
fn is_symmetric(a: &Expr, b: &Expr) -> bool {
    let commutes = |op: BinaryOp| {
        use BinaryOp::{Add, And, Eq, Mul, Ne, Or, Xor};
        matches!(op, Add | And | Eq | Mul | Ne | Or | Xor)
    };
    match (&a.kind, &b.kind) {
        (ExprKind::Var { id: x, .. }, ExprKind::Var { id: y, .. }) => x + y == 1,
        (ExprKind::Unary(p, x), ExprKind::Unary(q, y)) => p == q && is_symmetric(x, y),
        (ExprKind::Binary(p, w, x), ExprKind::Binary(q, y, z)) => {
            let straight = is_symmetric(w, y) && is_symmetric(x, z);
            p == q && (straight || commutes(*p) && is_symmetric(w, z) && is_symmetric(x, y))
        }
        (ExprKind::Int(x), ExprKind::Int(y)) => x == y,
        (ExprKind::Const(x), ExprKind::Const(y)) => x == y,
        _ => false,
    }
}
