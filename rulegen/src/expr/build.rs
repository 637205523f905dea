//! The second pass of inference: the typed tree from the untyped one and the settled classes.

use std::ops::Range;
use std::sync::Arc;

use super::E_LITERAL;
use super::infer::{Infer, Resolved, swizzle};
use super::syntax::{Ast, AstKind, Binding};
use super::tree::{Expr, ExprKind, UnaryOp};
use super::ty::{Base, Ty, Width};

impl Infer<'_> {
    /// The typed tree of `ast` with `comps` components, a scalar being repeated where a vector is wanted.
    pub(super) fn build(&mut self, ast: &Ast, comps: u8) -> Expr {
        let (tv, resolved) = self.nodes[ast.id];
        let own = tv.comps;
        let mut expr = self.build_own(ast, own, resolved);
        if own == comps {
            return expr;
        }
        if matches!(expr.kind, ExprKind::Any | ExprKind::Poison) {
            // Each component is any value of its own.
            expr.ty.comps = comps;
            return expr;
        }
        Expr {
            ty: expr.ty.with_comps(comps),
            span: expr.span,
            kind: ExprKind::Splat(Box::new(expr)),
        }
    }

    fn build_own(&mut self, ast: &Ast, comps: u8, resolved: Resolved) -> Expr {
        let (tv, _) = self.nodes[ast.id];
        let ty = self.settled(tv, &ast.span);
        let kind = match &ast.kind {
            AstKind::Int { value, hex, .. } => {
                self.check_literal(*value, *hex, ty, &ast.span);
                ExprKind::Int(*value)
            }
            AstKind::Float { value, .. } => ExprKind::Float(*value),
            AstKind::Bool(value) => ExprKind::Bool(*value),
            AstKind::Name(name) => match resolved {
                Resolved::Const(constant) => ExprKind::Const(constant),
                Resolved::Var(id) => ExprKind::Var { id, name: name.as_str().into() },
                // Anything else was reported by the first pass, and the second doesn't run after errors.
                _ => ExprKind::Poison,
            },
            AstKind::Call(_, operands) => self.build_call(operands, comps, resolved),
            AstKind::Unary(UnaryOp::Neg, operand)
                if matches!(operand.kind, AstKind::Float { .. }) =>
            {
                let AstKind::Float { value, .. } = operand.kind else {
                    unreachable!("matched by the guard")
                };
                ExprKind::Float(-value)
            }
            AstKind::Unary(op, operand) => {
                ExprKind::Unary(*op, Box::new(self.build(operand, comps)))
            }
            AstKind::Binary(op, a, b) => {
                let (a, b) = (self.build(a, comps), self.build(b, comps));
                ExprKind::Binary(*op, Box::new(a), Box::new(b))
            }
            AstKind::If(condition, then, otherwise) => ExprKind::If {
                condition: Box::new(self.build(condition, 1)),
                then: Box::new(self.build(then, comps)),
                otherwise: Box::new(self.build(otherwise, comps)),
            },
            AstKind::Block(bindings, body) => return self.build_block(bindings, body, comps),
            AstKind::Cast(operand, _) => {
                let operand = self.build(operand, comps);
                if operand.ty == ty {
                    return operand;
                }
                ExprKind::Cast(Box::new(operand))
            }
            AstKind::Array(items) => {
                ExprKind::Vector(items.iter().map(|item| self.build(item, 1)).collect())
            }
            AstKind::Field(operand, name) => {
                let indices = swizzle(&name.text).unwrap_or_default();
                return self.build_swizzle(operand, &indices, ty, &ast.span);
            }
            AstKind::Index(operand, index) => {
                return self.build_swizzle(operand, &[*index], ty, &ast.span);
            }
        };
        Expr { kind, ty, span: self.source.span(ast.span.clone()) }
    }

    fn build_call(&mut self, operands: &[Ast], comps: u8, resolved: Resolved) -> ExprKind {
        let natural = |infer: &Self, i: usize| infer.nodes[operands[i].id].0.comps;
        match resolved {
            Resolved::Prim(prim) => {
                ExprKind::Call(prim, operands.iter().map(|o| self.build(o, comps)).collect())
            }
            Resolved::FloatToInt { saturating } => ExprKind::FloatToInt {
                value: Box::new(self.build(&operands[0], comps)),
                saturating,
            },
            Resolved::Reduce(reduction) => {
                let own = natural(self, 0);
                ExprKind::Reduce(reduction, Box::new(self.build(&operands[0], own)))
            }
            Resolved::Choose => {
                let (a, b) = (self.build(&operands[0], comps), self.build(&operands[1], comps));
                ExprKind::Choose(Box::new(a), Box::new(b))
            }
            Resolved::Any => ExprKind::Any,
            Resolved::Poison | Resolved::Plain | Resolved::Var(_) | Resolved::Const(_) => {
                ExprKind::Poison
            }
        }
    }

    fn build_block(&mut self, bindings: &[Binding], body: &Ast, comps: u8) -> Expr {
        // Numbers are given in the order of the first pass: a value's own `let`s come before its name.
        let mut values: Vec<(u32, Arc<str>, Expr)> = Vec::new();
        for binding in bindings {
            let own = self.nodes[binding.value.id].0.comps;
            let value = self.build(&binding.value, own);
            let id = self.next_var;
            self.next_var += 1;
            values.push((id, binding.name.text.as_str().into(), value));
        }
        let mut expr = self.build(body, comps);
        for (id, name, value) in values.into_iter().rev() {
            let (ty, span) = (expr.ty, value.span.to(expr.span));
            expr = Expr {
                kind: ExprKind::Let { id, name, value: Box::new(value), body: Box::new(expr) },
                ty,
                span,
            };
        }
        expr
    }

    /// `.xyz` of a variable takes its components; of anything else, of a `let`.
    fn build_swizzle(
        &mut self,
        operand: &Ast,
        indices: &[u8],
        ty: Ty,
        span: &Range<usize>,
    ) -> Expr {
        let own = self.nodes[operand.id].0.comps;
        let operand = self.build(operand, own);
        let span = self.source.span(span.clone());
        let take = |vector: &Expr, index: u8| Expr {
            kind: ExprKind::Component(Box::new(vector.clone()), index),
            ty: ty.with_comps(1),
            span,
        };
        if let [index] = indices {
            return take(&operand, *index);
        }
        let pick = |vector: &Expr| {
            let items = indices.iter().map(|i| take(vector, *i)).collect();
            Expr { kind: ExprKind::Vector(items), ty, span }
        };
        if matches!(operand.kind, ExprKind::Var { .. }) {
            return pick(&operand);
        }
        let id = self.extra_var;
        self.extra_var += 1;
        let name: Arc<str> = format!("v{id}").into();
        let var = Expr {
            kind: ExprKind::Var { id, name: name.clone() },
            ty: operand.ty,
            span: operand.span,
        };
        let body = Box::new(pick(&var));
        Expr { kind: ExprKind::Let { id, name, value: Box::new(operand), body }, ty, span }
    }

    /// Whether a literal fits its type at every admissible width.
    fn check_literal(&mut self, value: u64, hex: bool, ty: Ty, span: &Range<usize>) {
        let widths: &[u8] = match ty.width {
            Width::Fixed(ref width) => std::slice::from_ref(width),
            Width::Bits => self.sizes,
        };
        let fits = |width: u8| {
            // A decimal literal of a signed type may be the magnitude of the least value, which stands under a minus.
            let limit = if ty.base == Base::Int && !hex {
                1u128 << (width - 1)
            } else {
                (1u128 << width) - 1
            };
            u128::from(value) <= limit
        };
        let Some(width) = widths.iter().copied().find(|&w| w > 0 && !fits(w)) else { return };
        let at =
            if ty.width == Width::Bits { format!(" where BITS is {width}") } else { String::new() };
        let diagnostic =
            self.source.error(E_LITERAL, span.clone(), format!("literal doesn't fit `{ty}`{at}"));
        let letter = &ty.base.name()[..1];
        self.errors.push(match ty.width {
            Width::Bits => diagnostic.help(format!(
                "write it at a width that holds it: `… as {}`, with `{letter}64` inside",
                ty.with_comps(1)
            )),
            Width::Fixed(_) => diagnostic,
        });
    }
}
