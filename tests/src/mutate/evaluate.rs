//! Evaluates a definition of an opcode by walking its expression tree.
//!
//! The same primitives that the generated folder calls, without the generator: what it gives for the tree as it stands in
//! the table agrees with the folder, and it can be given trees that never were in the table.

use deburr_ir_core::fold::{Cx, prim};
use deburr_ir_core::{Denorm, Rounding};
use deburr_rulegen::expr::{
    Base, BinaryOp, Const, Expr, ExprKind, Prim, Reduction, Ty, UnaryOp, Width,
};

/// A scalar or vector; booleans are 0 and 1.
pub type Value = Vec<u64>;

/// A change to how one node is evaluated that its tree can't express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quirk {
    /// The node keeps denormals.
    NoFlush,
    /// The node rounds the other way: toward zero for to nearest, to nearest for toward zero.
    OtherRounding,
}

/// Evaluates one tree.
pub struct Evaluator<'a> {
    /// The width that stands for `BITS`; 0 if there is none.
    pub bits: u8,
    /// Values of the variables, by number.
    pub vars: Vec<Option<Value>>,
    /// A node of the tree and what is odd about it.
    pub quirk: Option<(&'a Expr, Quirk)>,
}

impl<'a> Evaluator<'a> {
    fn width(&self, ty: Ty) -> u32 {
        match ty.width {
            Width::Fixed(n) => n.into(),
            Width::Bits => self.bits.into(),
        }
    }

    /// Gives a variable its value.
    pub fn bind(&mut self, id: u32, value: Value) {
        let slot = id as usize;
        if self.vars.len() <= slot {
            self.vars.resize(slot + 1, None);
        }
        self.vars[slot] = Some(value);
    }

    /// The value of `expr`. Recursion is bounded by the parser's limit on depth.
    pub fn eval(&mut self, cx: &mut Cx, expr: &'a Expr) -> Value {
        match self.quirk {
            Some((node, quirk)) if std::ptr::eq(node, expr) => {
                let env = cx.env;
                // Operands are computed as ever: only this node is odd. They are scalars or short vectors, and
                // evaluating them has no effect but on the marks in `cx`.
                let operands: Vec<Value> =
                    expr.children().into_iter().map(|c| self.eval(cx, c)).collect();
                for slot in 0..3 {
                    match quirk {
                        Quirk::NoFlush => cx.env.denorm[slot] = Denorm::Keep,
                        Quirk::OtherRounding => {
                            let rtz = cx.env.rounding[slot] == Rounding::Rtz;
                            cx.env.rounding[slot] = if rtz { Rounding::Rte } else { Rounding::Rtz };
                        }
                    }
                }
                let value = self.node(cx, expr, operands);
                cx.env = env;
                value
            }
            _ => match &expr.kind {
                ExprKind::Let { id, value, body, .. } => {
                    let value = self.eval(cx, value);
                    self.bind(*id, value);
                    self.eval(cx, body)
                }
                ExprKind::If { condition, then, otherwise } => {
                    let taken = self.eval(cx, condition)[0] != 0;
                    self.eval(cx, if taken { then } else { otherwise })
                }
                ExprKind::Binary(BinaryOp::AndAlso, a, b) if a.ty.comps == 1 => {
                    let left = self.eval(cx, a);
                    if left[0] == 0 { left } else { self.eval(cx, b) }
                }
                ExprKind::Binary(BinaryOp::OrElse, a, b) if a.ty.comps == 1 => {
                    let left = self.eval(cx, a);
                    if left[0] != 0 { left } else { self.eval(cx, b) }
                }
                _ => {
                    let operands = expr.children().into_iter().map(|c| self.eval(cx, c)).collect();
                    self.node(cx, expr, operands)
                }
            },
        }
    }

    /// The value of a node whose operands are known.
    fn node(&mut self, cx: &mut Cx, expr: &Expr, operands: Vec<Value>) -> Value {
        let w = self.width(expr.ty);
        let comps = usize::from(expr.ty.comps);
        let children = expr.children();
        let from = children.first().map_or(expr.ty, |c| c.ty);
        let from_w = self.width(from);
        let each = |f: &mut dyn FnMut(usize) -> u64| -> Value { (0..comps).map(f).collect() };
        match &expr.kind {
            ExprKind::Int(value) => vec![prim::trunc(w, *value)],
            ExprKind::Float(value) => vec![prim::fconst(w, *value)],
            ExprKind::Bool(value) => vec![u64::from(*value)],
            ExprKind::Const(constant) => vec![named(*constant, w, self.bits)],
            ExprKind::Var { id, .. } => {
                self.vars.get(*id as usize).cloned().flatten().unwrap_or_else(|| vec![0; comps])
            }
            // Only with a quirk on them, which changes nothing here: the operands are known.
            ExprKind::Let { .. } => operands[1].clone(),
            ExprKind::If { .. } => operands[if operands[0][0] != 0 { 1 } else { 2 }].clone(),
            ExprKind::Unary(op, _) => each(&mut |i| unary(*op, expr.ty.base, w, operands[0][i])),
            ExprKind::Binary(op, ..) => each(&mut |i| {
                let (x, y) = (operands[0][i], operands[1][i]);
                binary(cx, *op, from.base, from_w, x, y)
            }),
            ExprKind::Cast(_) => {
                each(&mut |i| cast(cx, (from.base, from_w), (expr.ty.base, w), operands[0][i]))
            }
            ExprKind::FloatToInt { saturating, .. } => each(&mut |i| {
                let convert = match (expr.ty.base, saturating) {
                    (Base::Int, false) => prim::f2i,
                    (Base::Int, true) => prim::f2i_sat,
                    (_, false) => prim::f2u,
                    (_, true) => prim::f2u_sat,
                };
                convert(cx, from_w, w, operands[0][i])
            }),
            ExprKind::Call(prim, _) => each(&mut |i| {
                let args: Vec<u64> = operands.iter().map(|o| o[i]).collect();
                call(cx, *prim, (from.base, from_w), &args)
            }),
            ExprKind::Vector(_) => operands.iter().map(|o| o[0]).collect(),
            ExprKind::Component(_, index) => vec![operands[0][usize::from(*index)]],
            ExprKind::Splat(_) => vec![operands[0][0]; comps],
            ExprKind::Reduce(reduction, _) => {
                vec![reduce(cx, *reduction, (from.base, from_w), &operands[0])]
            }
            ExprKind::Choose(..) => each(&mut |i| prim::choose(cx, operands[0][i], operands[1][i])),
            ExprKind::Any => each(&mut |_| prim::any(cx)),
            ExprKind::Poison => each(&mut |_| prim::poison(cx)),
        }
    }
}

fn named(constant: Const, w: u32, bits: u8) -> u64 {
    match constant {
        Const::Bits => bits.into(),
        Const::IntMin => 1 << (w - 1),
        Const::IntMax => (1 << (w - 1)) - 1,
        Const::UintMax => prim::trunc(w, u64::MAX),
        Const::Nan => prim::nan(w),
        Const::Inf => prim::inf(w),
    }
}

fn unary(op: UnaryOp, base: Base, w: u32, a: u64) -> u64 {
    match (op, base) {
        (UnaryOp::Neg, Base::Float) => prim::fneg(w, a),
        (UnaryOp::Neg, _) => prim::ineg(w, a),
        (UnaryOp::Not, Base::Bool) => u64::from(a == 0),
        (UnaryOp::Not, _) => prim::inot(w, a),
    }
}

/// A binary operator on operands of one type; a shift count has a type of its own, of which only the low bits matter.
fn binary(cx: &mut Cx, op: BinaryOp, base: Base, w: u32, a: u64, b: u64) -> u64 {
    use BinaryOp::*;
    match (op, base) {
        (Add, Base::Float) => prim::fadd(cx, w, a, b),
        (Sub, Base::Float) => prim::fsub(cx, w, a, b),
        (Mul, Base::Float) => prim::fmul(cx, w, a, b),
        (Div, Base::Float) => prim::fdiv(cx, w, a, b),
        (Add, _) => prim::iadd(w, a, b),
        (Sub, _) => prim::isub(w, a, b),
        (Mul, _) => prim::imul(w, a, b),
        (Div, Base::Int) => prim::idiv(w, a, b),
        (Div, _) => prim::udiv(w, a, b),
        (Rem, Base::Int) => prim::irem(w, a, b),
        (Rem, _) => prim::urem(w, a, b),
        (And | AndAlso, _) => a & b,
        (Or | OrElse, _) => a | b,
        (Xor, _) => a ^ b,
        (Shl, _) => prim::shl(w, a, b),
        (Shr, Base::Int) => prim::ishr(w, a, b),
        (Shr, _) => prim::ushr(w, a, b),
        (Eq, Base::Float) => u64::from(prim::feq(cx, w, a, b)),
        (Ne, Base::Float) => u64::from(!prim::feq(cx, w, a, b)),
        (Lt, Base::Float) => u64::from(prim::flt(cx, w, a, b)),
        (Le, Base::Float) => u64::from(prim::fle(cx, w, a, b)),
        (Gt, Base::Float) => u64::from(prim::flt(cx, w, b, a)),
        (Ge, Base::Float) => u64::from(prim::fle(cx, w, b, a)),
        (Eq, _) => u64::from(a == b),
        (Ne, _) => u64::from(a != b),
        (Lt, Base::Int) => u64::from(prim::ilt(w, a, b)),
        (Le, Base::Int) => u64::from(prim::ile(w, a, b)),
        (Gt, Base::Int) => u64::from(prim::ilt(w, b, a)),
        (Ge, Base::Int) => u64::from(prim::ile(w, b, a)),
        (Lt, _) => u64::from(a < b),
        (Le, _) => u64::from(a <= b),
        (Gt, _) => u64::from(a > b),
        (Ge, _) => u64::from(a >= b),
    }
}

fn cast(cx: &mut Cx, from: (Base, u32), to: (Base, u32), a: u64) -> u64 {
    match (from.0, to.0) {
        (Base::Bool, Base::Float) => prim::bool_to_float(to.1, a != 0),
        (Base::Int, Base::Float) => prim::i2f(cx, from.1, to.1, a),
        (Base::Uint, Base::Float) => prim::u2f(cx, from.1, to.1, a),
        (Base::Float, Base::Float) => prim::f2f(cx, from.1, to.1, a),
        (Base::Int, _) => prim::trunc(to.1, prim::sext(from.1, a)),
        _ => prim::trunc(to.1, a),
    }
}

fn reduce(cx: &mut Cx, reduction: Reduction, of: (Base, u32), values: &[u64]) -> u64 {
    let mut rest = values.iter().copied();
    match reduction {
        Reduction::Sum => {
            let first = rest.next().unwrap_or(0);
            rest.fold(first, |a, b| binary(cx, BinaryOp::Add, of.0, of.1, a, b))
        }
        Reduction::All => u64::from(values.iter().all(|&v| v != 0)),
        Reduction::Some => u64::from(values.iter().any(|&v| v != 0)),
    }
}

type Scalar = fn(u32, u64, u64) -> u64;
type Library = fn(&mut Cx, u32, u64) -> u64;

/// The function of one float that a primitive is, if it is one.
fn library(prim: Prim) -> Option<Library> {
    Some(match prim {
        Prim::Sqrt => prim::sqrt,
        Prim::Rsqrt => prim::rsqrt,
        Prim::RoundEven => prim::round_even,
        Prim::Trunc => prim::trunc_f,
        Prim::Floor => prim::floor,
        Prim::Ceil => prim::ceil,
        Prim::Canonicalize => prim::canonicalize,
        Prim::Exp2 => prim::exp2,
        Prim::Log2 => prim::log2,
        Prim::Exp => prim::exp,
        Prim::Log => prim::log,
        Prim::Sin => prim::sin,
        Prim::Cos => prim::cos,
        Prim::Tan => prim::tan,
        Prim::Asin => prim::asin,
        Prim::Acos => prim::acos,
        Prim::Atan => prim::atan,
        Prim::Sinh => prim::sinh,
        Prim::Cosh => prim::cosh,
        Prim::Tanh => prim::tanh,
        Prim::Asinh => prim::asinh,
        Prim::Acosh => prim::acosh,
        Prim::Atanh => prim::atanh,
        Prim::Significand => prim::frexp_sig,
        Prim::Exponent => prim::frexp_exp,
        Prim::QuantizeF16 => prim::quantize_f16,
        Prim::RoundToF16Rtne => prim::round_to_f16_rtne,
        Prim::RoundToF16Rtz => prim::round_to_f16_rtz,
        Prim::Bits => prim::bits,
        _ => return None,
    })
}

fn call(cx: &mut Cx, prim: Prim, of: (Base, u32), args: &[u64]) -> u64 {
    let (base, w) = of;
    let by_sign =
        |signed: Scalar, unsigned: Scalar| if base == Base::Int { signed } else { unsigned };
    if let Some(function) = library(prim) {
        return function(cx, w, args[0]);
    }
    match (prim, args) {
        (Prim::Fma, &[a, b, c]) => prim::fma(cx, w, a, b, c),
        (Prim::Pow, &[a, b]) => prim::pow(cx, w, a, b),
        (Prim::Atan2, &[a, b]) => prim::atan2(cx, w, a, b),
        (Prim::ScalePow2, &[a, b]) => prim::ldexp(cx, w, a, b),
        (Prim::CopySign, &[a, b]) => prim::copysign(w, a, b),
        (Prim::IsNan, &[a]) => prim::is_nan(w, a).into(),
        (Prim::IsInf, &[a]) => prim::is_inf(w, a).into(),
        (Prim::IsFinite, &[a]) => prim::is_finite(w, a).into(),
        (Prim::IsNormal, &[a]) => prim::is_normal(w, a).into(),
        (Prim::FromBits, &[a]) => a,
        (Prim::Abs, &[a]) => match base {
            Base::Float => prim::fabs(w, a),
            Base::Int => prim::iabs(w, a),
            _ => a,
        },
        (Prim::Min, &[a, b]) => by_sign(prim::imin, prim::umin)(w, a, b),
        (Prim::Max, &[a, b]) => by_sign(prim::imax, prim::umax)(w, a, b),
        (Prim::MulHigh, &[a, b]) => by_sign(prim::imul_high, prim::umul_high)(w, a, b),
        (Prim::AddSat, &[a, b]) => by_sign(prim::iadd_sat, prim::uadd_sat)(w, a, b),
        (Prim::SubSat, &[a, b]) => by_sign(prim::isub_sat, prim::usub_sat)(w, a, b),
        (Prim::CountOnes, &[a]) => prim::count_ones(w, a),
        (Prim::LeadingZeros, &[a]) => prim::leading_zeros(w, a),
        (Prim::TrailingZeros, &[a]) => prim::trailing_zeros(w, a),
        (Prim::Ilog2, &[a]) => prim::ilog2(w, a),
        (Prim::ReverseBits, &[a]) => prim::reverse_bits(w, a),
        _ => unreachable!("{prim} takes {} operands", prim.arity()),
    }
}
