//! Expressions over sets of values, interpreted: what a fact says of operands that are not constants.
//!
//! The compiled matchers have the same written out. Branches are joined without what their conditions say of variables,
//! so that a fact with an `if` may hold there and not here; the library has none that is asked of values.

use crate::facts::abs::{self, Abs, Env};
use deburr_rulegen::expr::{Base, BinaryOp, Const, Expr, ExprKind, Prim, Ty, UnaryOp, Width};

/// The values that an expression may have for sets of operands; `None` where it has vectors or a primitive of which
/// nothing is known for sets.
pub fn eval(e: &Env, w: u32, expr: &Expr, vars: &[Abs]) -> Option<Abs> {
    let mut vars: Vec<Option<Abs>> = vars.iter().copied().map(Some).collect();
    Walk { e, w }.value(expr, &mut vars)
}

struct Walk<'a> {
    e: &'a Env,
    w: u32,
}

impl Walk<'_> {
    fn width(&self, ty: Ty) -> u32 {
        match (ty.base, ty.width) {
            (Base::Bool, _) => 1,
            (_, Width::Fixed(n)) => n.into(),
            (_, Width::Bits) => self.w,
        }
    }

    /// Depth is bounded by the parser of expressions.
    fn value(&self, x: &Expr, vars: &mut Vec<Option<Abs>>) -> Option<Abs> {
        let w = self.width(x.ty);
        Some(match &x.kind {
            ExprKind::Int(v) => abs::int(w, *v),
            ExprKind::Float(v) => abs::float(w, v.to_bits()),
            ExprKind::Bool(v) => abs::bool(*v),
            ExprKind::Const(c) => match c {
                Const::Bits => abs::int(32, self.w.into()),
                Const::IntMin => abs::int_min(w),
                Const::IntMax => abs::int_max(w),
                Const::UintMax => abs::int(w, u64::MAX),
                Const::Nan => abs::float(w, f64::NAN.to_bits()),
                Const::Inf => abs::float(w, f64::INFINITY.to_bits()),
            },
            ExprKind::Var { id, .. } => vars.get(*id as usize).copied().flatten()?,
            ExprKind::Let { id, value, body, .. } => {
                let value = self.value(value, vars)?;
                let at = *id as usize;
                if vars.len() <= at {
                    vars.resize(at + 1, None);
                }
                vars[at] = Some(value);
                self.value(body, vars)?
            }
            ExprKind::Unary(op, a) => {
                let a = self.value(a, vars)?;
                match (op, x.ty.base) {
                    (UnaryOp::Neg, Base::Float) => abs::fneg(w, a),
                    (UnaryOp::Neg, _) => abs::neg(w, a),
                    (UnaryOp::Not, _) => abs::not(w, a),
                }
            }
            ExprKind::Binary(op, a, b) => {
                if let Some(a) = x.integral() {
                    return Some(abs::is_integral(self.width(a.ty), self.value(a, vars)?));
                }
                let (base, w) = (a.ty.base, self.width(a.ty));
                let (a, b) = (self.value(a, vars)?, self.value(b, vars)?);
                self.binary(*op, base, w, a, b)?
            }
            ExprKind::If { condition, then, otherwise } => {
                let c = self.value(condition, vars)?;
                match abs::truth(c) {
                    Some(true) => self.value(then, vars)?,
                    Some(false) => self.value(otherwise, vars)?,
                    None => abs::join(w, self.value(then, vars)?, self.value(otherwise, vars)?),
                }
            }
            ExprKind::Cast(a) => {
                let from = self.width(a.ty);
                let base = a.ty.base;
                let a = self.value(a, vars)?;
                match (base, x.ty.base) {
                    (Base::Float, Base::Float) => abs::f2f(self.e, from, w, a),
                    (Base::Int, Base::Float) => abs::i2f(self.e, from, w, a),
                    (_, Base::Float) => abs::u2f(self.e, from, w, a),
                    (Base::Int, _) => abs::sign_cast(from, w, a),
                    _ => abs::zero_cast(from, w, a),
                }
            }
            ExprKind::Choose(a, b) => abs::join(w, self.value(a, vars)?, self.value(b, vars)?),
            ExprKind::Any | ExprKind::Poison => abs::top(w),
            ExprKind::Call(prim, args) => {
                let from = args.first().map_or(w, |a| self.width(a.ty));
                let base = args.first().map_or(x.ty.base, |a| a.ty.base);
                let args: Option<Vec<Abs>> = args.iter().map(|a| self.value(a, vars)).collect();
                self.primitive(*prim, base, from, w, &args?)?
            }
            ExprKind::FloatToInt { .. }
            | ExprKind::Vector(_)
            | ExprKind::Component(..)
            | ExprKind::Splat(_)
            | ExprKind::Reduce(..) => return None,
        })
    }

    fn binary(&self, op: BinaryOp, base: Base, w: u32, a: Abs, b: Abs) -> Option<Abs> {
        use BinaryOp::*;
        let e = self.e;
        let float = base == Base::Float;
        let signed = base == Base::Int;
        Some(match op {
            Add if float => abs::fadd(e, w, a, b),
            Sub if float => abs::fsub(e, w, a, b),
            Mul if float => abs::fmul(e, w, a, b),
            Div if float => abs::fdiv(e, w, a, b),
            Rem if float => return None,
            Add => abs::add(w, a, b),
            Sub => abs::sub(w, a, b),
            Mul => abs::mul(w, a, b),
            Div if signed => abs::idiv(w, a, b),
            Div => abs::udiv(w, a, b),
            Rem if signed => abs::irem(w, a, b),
            Rem => abs::urem(w, a, b),
            And | AndAlso => abs::and(w, a, b),
            Or | OrElse => abs::or(w, a, b),
            Xor => abs::xor(w, a, b),
            Shl => abs::shl(w, a, b),
            Shr if signed => abs::ishr(w, a, b),
            Shr => abs::ushr(w, a, b),
            Eq if float => abs::feq(e, w, a, b),
            Ne if float => abs::fne(e, w, a, b),
            Lt if float => abs::flt(e, w, a, b),
            Le if float => abs::fle(e, w, a, b),
            Gt if float => abs::flt(e, w, b, a),
            Ge if float => abs::fle(e, w, b, a),
            Eq => abs::eq(w, a, b),
            Ne => abs::ne(w, a, b),
            Lt if signed => abs::ilt(w, a, b),
            Le if signed => abs::ile(w, a, b),
            Gt if signed => abs::ilt(w, b, a),
            Ge if signed => abs::ile(w, b, a),
            Lt => abs::ult(w, a, b),
            Le => abs::ule(w, a, b),
            Gt => abs::ult(w, b, a),
            Ge => abs::ule(w, b, a),
        })
    }

    fn primitive(&self, p: Prim, base: Base, from: u32, to: u32, a: &[Abs]) -> Option<Abs> {
        let signed = base == Base::Int;
        Some(match p {
            Prim::Abs if base == Base::Float => abs::fabs(from, a[0]),
            Prim::Abs if signed => abs::iabs(from, a[0]),
            Prim::Abs | Prim::FromBits => a[0],
            Prim::Min if signed => abs::imin(from, a[0], a[1]),
            Prim::Min => abs::umin(from, a[0], a[1]),
            Prim::Max if signed => abs::imax(from, a[0], a[1]),
            Prim::Max => abs::umax(from, a[0], a[1]),
            Prim::Floor => abs::floor(from, a[0]),
            Prim::Ceil => abs::ceil(from, a[0]),
            Prim::Trunc => abs::trunc(from, a[0]),
            Prim::RoundEven => abs::round_even(from, a[0]),
            Prim::IsNan => abs::is_nan(from, a[0]),
            Prim::IsInf => abs::is_inf(from, a[0]),
            Prim::IsFinite => abs::is_finite(from, a[0]),
            Prim::Canonicalize => abs::canonicalize(self.e, from, a[0]),
            Prim::Sqrt => abs::sqrt(self.e, from, a[0]),
            Prim::Significand => abs::significand(self.e, from, a[0]),
            Prim::Bits => abs::bits(from, a[0]),
            Prim::CountOnes => abs::count_ones(from, a[0]),
            Prim::LeadingZeros => abs::leading_zeros(from, a[0]),
            Prim::TrailingZeros => abs::trailing_zeros(from, a[0]),
            Prim::Ilog2 => abs::ilog2(from, a[0]),
            other => {
                let convention = other.info().convention;
                let pure = convention == deburr_rulegen::expr::prim::Convention::Pure;
                let values: Option<Vec<u64>> = a.iter().map(Abs::exact).collect();
                match values {
                    Some(v) if pure || self.e.folding => {
                        let mut cx =
                            deburr_ir_core::fold::Cx { env: self.e.float, free: false, nan: false };
                        let r = super::expr::primitive(&mut cx, other, base, from, &v);
                        if cx.free { abs::top(to) } else { abs::int(to, r) }
                    }
                    _ => abs::top(to),
                }
            }
        })
    }
}
