//! Where a slip in rounding or flushing can make a difference.
//!
//! A node that only ever meets numbers without denormals and gives none computes the same whether it flushes or not. Such
//! places are left out: a mutant there is the original.

use super::evaluate::Quirk;
use deburr_rulegen::expr::prim::Convention;
use deburr_rulegen::expr::{Base, BinaryOp, Expr, ExprKind, Prim, Reduction};
use std::collections::BTreeSet;

/// What is around the nodes of a tree.
#[derive(Default)]
pub struct Places {
    /// Numbers of the `let` variables whose values have no denormals under flush.
    flushed: BTreeSet<u32>,
    /// Nodes, by address, of which everything that uses them flushes its operands.
    absorbed: BTreeSet<*const Expr>,
}

impl Places {
    /// The places of a tree.
    pub fn of(tree: &Expr) -> Places {
        let mut places = Places::default();
        // `let`s come before the uses of their variables in the order of the walk.
        tree.walk(&mut |node| {
            if let ExprKind::Let { id, value, .. } = &node.kind
                && flushed(value, &places.flushed)
            {
                places.flushed.insert(*id);
            }
        });
        places.mark(tree, false, &mut BTreeSet::new());
        places
    }

    /// Notes whether what uses `expr` flushes it; `exposed` are the variables with a use that doesn't. The recursion is
    /// bounded by the parser's limit on depth.
    fn mark(&mut self, expr: &Expr, absorbed: bool, exposed: &mut BTreeSet<u32>) {
        if absorbed {
            self.absorbed.insert(expr);
        }
        match &expr.kind {
            ExprKind::Var { id, .. } => {
                if !absorbed {
                    exposed.insert(*id);
                }
            }
            ExprKind::Let { id, value, body, .. } => {
                // The uses first: they say what becomes of the value.
                self.mark(body, absorbed, exposed);
                self.mark(value, !exposed.contains(id), exposed);
            }
            ExprKind::If { condition, then, otherwise } => {
                self.mark(condition, false, exposed);
                self.mark(then, absorbed, exposed);
                self.mark(otherwise, absorbed, exposed);
            }
            kind => {
                let inner = match kind {
                    ExprKind::Binary(_, a, _) => a.ty.base == Base::Float,
                    ExprKind::Reduce(reduction, _) => *reduction == Reduction::Sum,
                    ExprKind::FloatToInt { .. } => true,
                    ExprKind::Cast(_) => expr.ty.base == Base::Float,
                    ExprKind::Call(prim, _) => {
                        prim.info().convention == Convention::Env && *prim != Prim::Bits
                    }
                    _ => absorbed,
                };
                for child in expr.children() {
                    self.mark(child, inner, exposed);
                }
            }
        }
    }
}

/// An operand without its repetition for a vector.
pub fn unrepeated(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Splat(inner) => inner,
        _ => expr,
    }
}

/// Whether a float has been through arithmetic, so that it is no denormal under flush.
fn flushed(expr: &Expr, variables: &BTreeSet<u32>) -> bool {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        let fine = match &expr.kind {
            ExprKind::Float(_) | ExprKind::Const(_) | ExprKind::Binary(..) | ExprKind::Cast(_) => {
                true
            }
            ExprKind::Reduce(reduction, _) => *reduction == Reduction::Sum,
            ExprKind::Var { id, .. } => variables.contains(id),
            ExprKind::Call(prim, _) => !matches!(prim, Prim::Abs | Prim::CopySign | Prim::FromBits),
            ExprKind::Unary(_, a) | ExprKind::Splat(a) | ExprKind::Component(a, _) => {
                stack.push(a);
                true
            }
            ExprKind::Vector(items) => {
                stack.extend(items);
                true
            }
            ExprKind::If { then, otherwise, .. } => {
                stack.extend([&**then, &**otherwise]);
                true
            }
            ExprKind::Let { body, .. } => {
                stack.push(body);
                true
            }
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::FloatToInt { .. }
            | ExprKind::Choose(..)
            | ExprKind::Any
            | ExprKind::Poison => false,
        };
        if !fine {
            return false;
        }
    }
    true
}

/// Quirks that can make a difference at a node.
pub fn of(node: &Expr, places: &Places) -> Vec<Quirk> {
    let operands_flushed = node.children().iter().all(|c| flushed(c, &places.flushed));
    // A denormal result shows only where it isn't flushed by what takes it.
    let shows = !places.absorbed.contains(&(node as *const Expr));
    let flush = |gives: bool, takes: bool| {
        ((gives && shows) || (takes && !operands_flushed)).then_some(Quirk::NoFlush)
    };
    match &node.kind {
        ExprKind::Binary(op, a, b) if a.ty.base == Base::Float => {
            use BinaryOp::*;
            let scale =
                |x: &Expr| matches!(unrepeated(x).kind, ExprKind::Float(v) if v.abs() >= 1.0);
            let of_integer =
                matches!(&unrepeated(a).kind, ExprKind::Cast(x) if x.ty.base != Base::Float);
            let (gives, takes) = match op {
                // A multiple of a denormal or its square is near zero still, and so is a flushed one.
                Mul if scale(a) || scale(b) => (false, shows),
                Mul if a.to_string() == b.to_string() => (true, shows),
                // By a few bits only.
                Div if of_integer => (false, true),
                Mul | Div | Add | Sub => (true, true),
                _ => (false, true),
            };
            let rounds = matches!(op, Add | Sub | Mul | Div).then_some(Quirk::OtherRounding);
            flush(gives, takes).into_iter().chain(rounds).collect()
        }
        ExprKind::Call(Prim::Fma, _) => {
            flush(true, true).into_iter().chain([Quirk::OtherRounding]).collect()
        }
        ExprKind::Call(Prim::Sqrt, _) => {
            flush(false, true).into_iter().chain([Quirk::OtherRounding]).collect()
        }
        ExprKind::Call(Prim::ScalePow2, _) => flush(true, true).into_iter().collect(),
        ExprKind::Call(Prim::Canonicalize | Prim::Significand, _) => {
            flush(false, shows).into_iter().collect()
        }
        ExprKind::Call(Prim::Floor | Prim::Ceil, _) => flush(false, true).into_iter().collect(),
        ExprKind::Cast(a) if node.ty.base == Base::Float && a.ty.base != Base::Bool => {
            vec![Quirk::OtherRounding]
        }
        _ => Vec::new(),
    }
}
