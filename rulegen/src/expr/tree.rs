//! The typed expression tree.

use std::fmt;
use std::sync::Arc;

use super::prim::Prim;
use super::ty::{Ty, Width};
use crate::diagnostics::Span;

/// An expression with its type and place.
///
/// Equality, cloning and mutation are structural; the tree has no state beyond what is public. Its depth is bounded by
/// [`super::MAX_DEPTH`] when it comes from the parser, so that recursion over it is safe.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// The type of the result.
    pub ty: Ty,
    /// Where it is written.
    pub span: Span,
}

/// What an expression computes. Operands of arithmetic have the type of the result unless stated otherwise; a vector
/// result is computed component by component, and scalar operands of it are under an explicit [`ExprKind::Splat`].
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An integer literal, zero-extended; fits the type at every admissible width.
    Int(u64),
    /// A float literal, rounded to the type to nearest even.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A named constant.
    Const(Const),
    /// A variable: those of the scope are numbered from 0 in order, `let`s follow.
    Var {
        /// Its number.
        id: u32,
        /// Its name, for people.
        name: Arc<str>,
    },
    /// `let name = value; body`; the type of the body.
    Let {
        /// The variable's number, unique in the tree.
        id: u32,
        /// Its name.
        name: Arc<str>,
        /// Its value.
        value: Box<Expr>,
        /// Where it is in scope.
        body: Box<Expr>,
    },
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands. Compares have operands of one common type and a bool result; the count of a shift may be of any
    /// integer type.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if condition { then } else { otherwise }`; the condition is a scalar.
    If {
        /// A scalar bool.
        condition: Box<Expr>,
        /// Value if true.
        then: Box<Expr>,
        /// Value if false.
        otherwise: Box<Expr>,
    },
    /// `value as T`: between integers truncation or extension by the source's sign, bool to 0/1, to float rounded by
    /// the environment of the destination.
    Cast(Box<Expr>),
    /// `to_iN(x)`, `to_uN(x)`: toward zero; out of range or NaN gives any value or, if saturating, clamps with 0 for
    /// NaN.
    FloatToInt {
        /// A float.
        value: Box<Expr>,
        /// The `_sat` form.
        saturating: bool,
    },
    /// A primitive.
    Call(Prim, Vec<Expr>),
    /// A vector of scalars.
    Vector(Vec<Expr>),
    /// One component of a vector.
    Component(Box<Expr>, u8),
    /// A scalar as every component.
    Splat(Box<Expr>),
    /// A vector reduced to a scalar.
    Reduce(Reduction, Box<Expr>),
    /// Either value; a folder takes the first.
    Choose(Box<Expr>, Box<Expr>),
    /// Any value, each component its own; a folder takes 0.
    Any,
    /// Poison.
    Poison,
}

/// A named constant of the type that the context gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    /// `BITS`, a `u32`.
    Bits,
    /// The least `int`.
    IntMin,
    /// The greatest `int`.
    IntMax,
    /// The greatest `uint`.
    UintMax,
    /// The canonical quiet NaN.
    Nan,
    /// +∞.
    Inf,
}

impl Const {
    /// Every constant with its name.
    pub const ALL: [(&'static str, Const); 6] = [
        ("BITS", Const::Bits),
        ("INT_MIN", Const::IntMin),
        ("INT_MAX", Const::IntMax),
        ("UINT_MAX", Const::UintMax),
        ("NAN", Const::Nan),
        ("INF", Const::Inf),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Const::ALL.iter().find(|(_, c)| *c == self).map_or("", |(name, _)| name)
    }
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`: wrapping for integers, the sign bit flipped for floats.
    Neg,
    /// `!`: by bit for integers, logical for bool.
    Not,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named after Rust's operators")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    AndAlso,
    OrElse,
}

impl BinaryOp {
    /// Rust's spelling.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::AndAlso => "&&",
            BinaryOp::OrElse => "||",
        }
    }

    /// Whether the result is a bool whatever the operands are.
    pub fn is_compare(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }

    /// Whether it is `<<` or `>>`.
    pub fn is_shift(self) -> bool {
        matches!(self, BinaryOp::Shl | BinaryOp::Shr)
    }
}

/// How a vector becomes a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Sum of numbers, for floats in unspecified order; a folder goes from left to right.
    Sum,
    /// Whether all are true.
    All,
    /// Whether one is true.
    Some,
}

impl Reduction {
    /// Every reduction with its name.
    pub const ALL: [(&'static str, Reduction); 3] =
        [("sum", Reduction::Sum), ("all", Reduction::All), ("some", Reduction::Some)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Reduction::ALL.iter().find(|(_, r)| *r == self).map_or("", |(name, _)| name)
    }
}

impl Expr {
    /// The variable of which this says that it is a whole number or infinite: `trunc(a) == a`. Evaluated on sets,
    /// the two sides would no longer be known to be the same number.
    pub fn integral(&self) -> Option<&Expr> {
        let ExprKind::Binary(BinaryOp::Eq, whole, a) = &self.kind else { return None };
        let ExprKind::Call(Prim::Trunc, args) = &whole.kind else { return None };
        let same = match (&args.first()?.kind, &a.kind) {
            (ExprKind::Var { id: x, .. }, ExprKind::Var { id: y, .. }) => x == y,
            _ => false,
        };
        same.then_some(a)
    }

    /// The direct operands, in order of evaluation.
    pub fn children(&self) -> Vec<&Expr> {
        use ExprKind::*;
        match &self.kind {
            Int(_) | Float(_) | Bool(_) | Const(_) | Var { .. } | Any | Poison => Vec::new(),
            Unary(_, a)
            | Cast(a)
            | FloatToInt { value: a, .. }
            | Component(a, _)
            | Splat(a)
            | Reduce(_, a) => vec![a],
            Binary(_, a, b) | Choose(a, b) | Let { value: a, body: b, .. } => vec![a, b],
            If { condition, then, otherwise } => vec![condition, then, otherwise],
            Call(_, list) | Vector(list) => list.iter().collect(),
        }
    }

    /// The direct operands, to be changed in place.
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        use ExprKind::*;
        match &mut self.kind {
            Int(_) | Float(_) | Bool(_) | Const(_) | Var { .. } | Any | Poison => Vec::new(),
            Unary(_, a)
            | Cast(a)
            | FloatToInt { value: a, .. }
            | Component(a, _)
            | Splat(a)
            | Reduce(_, a) => vec![a],
            Binary(_, a, b) | Choose(a, b) | Let { value: a, body: b, .. } => vec![a, b],
            If { condition, then, otherwise } => vec![condition, then, otherwise],
            Call(_, list) | Vector(list) => list.iter_mut().collect(),
        }
    }

    /// Calls `visit` on the tree and every subtree, parents first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        let mut stack = vec![self];
        while let Some(expr) = stack.pop() {
            visit(expr);
            stack.extend(expr.children().into_iter().rev());
        }
    }

    /// Calls `visit` on the tree and every subtree, parents first; subtrees that it puts in are visited too.
    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        let mut stack = vec![self];
        while let Some(expr) = stack.pop() {
            visit(expr);
            stack.extend(expr.children_mut().into_iter().rev());
        }
    }

    /// Number of nodes.
    pub fn size(&self) -> usize {
        let mut count = 0;
        self.walk(&mut |_| count += 1);
        count
    }

    /// The tree with `BITS` fixed in all types. The constant `BITS` becomes a literal.
    pub fn at(&self, bits: u8) -> Expr {
        let mut copy = self.clone();
        copy.walk_mut(&mut |expr| {
            expr.ty = expr.ty.at(bits);
            if let ExprKind::Const(Const::Bits) = expr.kind {
                expr.kind = ExprKind::Int(u64::from(bits));
            }
        });
        copy
    }

    /// Whether the value depends on the width `BITS`.
    pub fn mentions_bits(&self) -> bool {
        let mut found = false;
        self.walk(&mut |e| {
            found |= e.ty.width == Width::Bits || e.kind == ExprKind::Const(Const::Bits)
        });
        found
    }
}

/// Rust's syntax, every operator parenthesised; [`super::parse_expr`] reads it back.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, list: &[Expr]| {
            for (i, item) in list.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                write!(f, "{item}")?;
            }
            Ok(())
        };
        match &self.kind {
            ExprKind::Int(value) => write!(f, "{value:#x}{}", suffix(self.ty)),
            ExprKind::Float(value) => write!(f, "{value:?}{}", suffix(self.ty)),
            ExprKind::Bool(value) => write!(f, "{value}"),
            ExprKind::Const(c) => f.write_str(c.name()),
            ExprKind::Var { name, .. } => f.write_str(name),
            ExprKind::Let { name, value, body, .. } => {
                write!(f, "{{ let {name} = {value}; {body} }}")
            }
            ExprKind::Unary(op, a) => {
                write!(f, "({}{a})", if *op == UnaryOp::Neg { "-" } else { "!" })
            }
            ExprKind::Binary(op, a, b) => write!(f, "({a} {} {b})", op.symbol()),
            ExprKind::If { condition, then, otherwise } => {
                write!(f, "if {condition} {{ {then} }} else {{ {otherwise} }}")
            }
            ExprKind::Cast(a) => write!(f, "({a} as {})", self.ty.with_comps(1)),
            ExprKind::FloatToInt { value, saturating } => {
                let sat = if *saturating { "_sat" } else { "" };
                write!(f, "to_{}{sat}({value})", self.ty.with_comps(1))
            }
            ExprKind::Call(prim, operands) => {
                write!(f, "{prim}(")?;
                list(f, operands)?;
                f.write_str(")")
            }
            ExprKind::Vector(items) => {
                f.write_str("[")?;
                list(f, items)?;
                f.write_str("]")
            }
            ExprKind::Component(a, index) => write!(f, "{a}[{index}]"),
            ExprKind::Splat(a) => write!(f, "{a}"),
            ExprKind::Reduce(reduction, a) => write!(f, "{}({a})", reduction.name()),
            ExprKind::Choose(a, b) => write!(f, "choose({a}, {b})"),
            ExprKind::Any => f.write_str("any()"),
            ExprKind::Poison => f.write_str("poison()"),
        }
    }
}

/// The suffix that gives a literal its type; none for a `BITS` wide one, which the context types.
fn suffix(ty: Ty) -> String {
    match ty.width {
        Width::Fixed(_) => ty.with_comps(1).to_string(),
        Width::Bits => String::new(),
    }
}
