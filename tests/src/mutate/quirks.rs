//! Where a slip in rounding or flushing can make a difference.
//!
//! A node that only ever meets numbers without denormals and gives none computes the same whether it flushes or not. Such
//! places are left out: a mutant there is the original.

use super::evaluate::Quirk;
use deburr_rulegen::expr::{Base, BinaryOp, Expr, ExprKind, Prim, Reduction};
use std::collections::BTreeSet;

/// Numbers of the `let` variables whose values have no denormals under flush.
pub fn flushed_variables(nodes: &[&Expr]) -> BTreeSet<u32> {
    let mut flushed_ids = BTreeSet::new();
    // `let`s come before the uses of their variables in the order of the walk.
    for node in nodes {
        if let ExprKind::Let { id, value, .. } = &node.kind
            && flushed(value, &flushed_ids)
        {
            flushed_ids.insert(*id);
        }
    }
    flushed_ids
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
pub fn of(node: &Expr, variables: &BTreeSet<u32>) -> Vec<Quirk> {
    let operands_flushed = node.children().iter().all(|c| flushed(c, variables));
    let flush =
        |gives_denormals: bool| (gives_denormals || !operands_flushed).then_some(Quirk::NoFlush);
    match &node.kind {
        ExprKind::Binary(op, a, b) if a.ty.base == Base::Float => {
            use BinaryOp::*;
            let scaled_up = [a, b]
                .iter()
                .any(|x| matches!(unrepeated(x).kind, ExprKind::Float(v) if v.abs() >= 1.0));
            let of_integer =
                matches!(&unrepeated(a).kind, ExprKind::Cast(x) if x.ty.base != Base::Float);
            let gives_denormals = match op {
                Mul => !scaled_up,
                // By a few bits only.
                Div => !of_integer,
                Add | Sub => true,
                _ => false,
            };
            let rounds = matches!(op, Add | Sub | Mul | Div).then_some(Quirk::OtherRounding);
            flush(gives_denormals).into_iter().chain(rounds).collect()
        }
        ExprKind::Call(Prim::Fma, _) => {
            flush(true).into_iter().chain([Quirk::OtherRounding]).collect()
        }
        ExprKind::Call(Prim::Sqrt, _) => {
            flush(false).into_iter().chain([Quirk::OtherRounding]).collect()
        }
        ExprKind::Call(Prim::ScalePow2, _) => flush(true).into_iter().collect(),
        ExprKind::Call(Prim::Canonicalize | Prim::Floor | Prim::Ceil | Prim::Significand, _) => {
            flush(false).into_iter().collect()
        }
        ExprKind::Cast(a) if node.ty.base == Base::Float && a.ty.base != Base::Bool => {
            vec![Quirk::OtherRounding]
        }
        _ => Vec::new(),
    }
}
