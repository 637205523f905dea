//! Evaluation of expressions with their freedom: `choose`, `any`, poison, NaN that arithmetic gave.
//!
//! One run follows one script of [`Choices`]; [`Choices::turn`] goes on to the next script, so that a loop over runs sees
//! every result. Where a wildcard is computed with, the set of results can't be enumerated. Then a pattern takes a few
//! values of it (fewer than there are: what is left out makes a rule look worse), and a replacement stays a wildcard
//! (more than there are: likewise).

use deburr_ir_core::fold::{Cx, Denorm, FloatEnv, Rounding, prim};
use deburr_rulegen::expr::{
    Base, BinaryOp, Const, Expr, ExprKind, Prim, Reduction, Ty, UnaryOp, Width,
};
use smallvec::{SmallVec, smallvec};

/// What a component may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Out {
    /// These bits.
    Bits(u64),
    /// Any NaN of the type.
    AnyNan,
    /// Any value.
    Any,
    /// What a broken promise gives.
    Poison,
}

/// A scalar or vector by component.
pub type Value = SmallVec<[Out; 4]>;

/// A script of choices: which of how many was taken, in the order in which they come up.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    taken: SmallVec<[(u8, u8); 8]>,
    at: usize,
}

impl Choices {
    /// Takes one of `n`.
    pub fn pick(&mut self, n: usize) -> usize {
        if n <= 1 {
            return 0;
        }
        if self.at == self.taken.len() {
            self.taken.push((0, n.min(255) as u8));
        }
        let (i, _) = self.taken[self.at];
        self.at += 1;
        i.into()
    }

    /// Turns to the next script; false if there is none.
    pub fn turn(&mut self) -> bool {
        self.taken.truncate(self.at);
        self.at = 0;
        while let Some((i, n)) = self.taken.pop() {
            if i + 1 < n {
                self.taken.push((i + 1, n));
                return true;
            }
        }
        false
    }
}

/// Which side of a rule is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The pattern: results left out are on the safe side.
    Before,
    /// The replacement: results put in are on the safe side.
    After,
}

/// What each arithmetic step of an operation may do to its result. An operation of several steps (the product and the sum
/// of a split `fmad`) is as free in each as separate instructions are.
#[derive(Clone, Debug)]
pub struct Freedom {
    /// Roundings, the folder's first.
    pub roundings: SmallVec<[Rounding; 2]>,
    /// Denormal results: kept, flushed, or either.
    pub denorm: Denorm,
}

impl Freedom {
    /// The forms that a result may take.
    pub(super) fn forms(&self, w: u32, v: u64) -> SmallVec<[u64; 2]> {
        match (self.denorm, flushed(w, v)) {
            (Denorm::Flush, flushed) => smallvec![flushed],
            (Denorm::Any, flushed) if flushed != v => smallvec![v, flushed],
            _ => smallvec![v],
        }
    }
}

/// A zero of the same sign for a denormal.
pub(super) fn flushed(w: u32, v: u64) -> u64 {
    let denormal = matches!(w, 16 | 32 | 64) && !prim::is_normal(w, v) && prim::is_finite(w, v);
    if denormal { v & 1 << (w - 1) } else { v }
}

/// Whether an expression is one step of float arithmetic: rounded, and flushed where results are.
pub fn is_step(e: &Expr) -> bool {
    if e.ty.base != Base::Float {
        return false;
    }
    match &e.kind {
        ExprKind::Binary(..) => true,
        ExprKind::Cast(a) => a.ty.base != Base::Bool,
        ExprKind::Call(p, _) => !matches!(p, Prim::CopySign | Prim::Abs | Prim::FromBits),
        _ => false,
    }
}

/// Whether a step's two operands are one variable: an instruction doesn't flush one value in two ways.
fn is_squared(e: &Expr) -> bool {
    let ExprKind::Binary(_, a, b) = &e.kind else { return false };
    match (&a.kind, &b.kind) {
        (ExprKind::Var { id: x, .. }, ExprKind::Var { id: y, .. }) => x == y,
        _ => false,
    }
}

/// Whether an expression is a step on variables.
pub fn is_outermost_step(e: &Expr) -> bool {
    is_step(e) && e.children().iter().all(|a| matches!(a.kind, ExprKind::Var { .. }))
}

/// Steps of float arithmetic in an expression, all components counted.
pub fn steps(e: &Expr) -> u32 {
    let mut total = 0;
    e.walk(&mut |e| match &e.kind {
        ExprKind::Reduce(Reduction::Sum, a) if a.ty.base == Base::Float => {
            total += u32::from(a.ty.comps.max(1)) - 1;
        }
        _ if is_step(e) => total += u32::from(e.ty.comps.max(1)),
        _ => {}
    });
    total
}

/// An evaluation of one expression.
pub struct Evaluator<'c> {
    /// Choices of this run.
    pub choices: &'c mut Choices,
    /// Float environment, without `any`.
    pub env: FloatEnv,
    /// What steps may do beyond the environment, which then keeps denormals.
    pub freedom: Option<&'c Freedom>,
    /// What `BITS` stands for.
    pub width: u8,
    /// Which side it belongs to.
    pub side: Side,
    /// Values of variables by number.
    pub vars: SmallVec<[Option<Value>; 8]>,
}

fn mask(w: u32) -> u64 {
    if w >= 64 { u64::MAX } else { (1 << w) - 1 }
}

/// NaNs that stand for all: canonical, its negative, one with a payload, one that signals, and theirs.
pub fn nans(w: u32) -> [u64; 6] {
    let (quiet, sign) = (prim::nan(w), 1 << (w - 1));
    let signalling = prim::inf(w) | 1;
    [quiet, quiet | sign, quiet | 1, quiet | 1 | sign, signalling, signalling | sign]
}

/// Values of a width that stand for all of them where one is chosen.
pub(super) fn samples(w: u32) -> SmallVec<[u64; 8]> {
    let mut out = smallvec![0, mask(w), 1, 1 << (w - 1)];
    if matches!(w, 16 | 32 | 64) {
        out.extend([prim::fconst(w, 1.0), prim::inf(w)]);
    }
    out
}

/// Whether an operator gives every value where an operand may be any: whatever the other is, it can be undone.
fn is_onto(e: &Expr, operands: &[(Out, Ty)]) -> bool {
    let known = |o: &(Out, Ty)| matches!(o.0, Out::Any | Out::Bits(_));
    operands.iter().all(known)
        && match &e.kind {
            ExprKind::Unary(..) => true,
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Xor, ..) => {
                e.ty.base != Base::Float
            }
            _ => false,
        }
}

impl Evaluator<'_> {
    fn w(&self, ty: Ty) -> u32 {
        match (ty.base, ty.width) {
            (Base::Bool, _) => 1,
            (_, Width::Fixed(n)) => n.into(),
            (_, Width::Bits) => self.width.into(),
        }
    }

    fn cx(&self) -> Cx {
        Cx { env: self.env, free: false, nan: false }
    }

    /// The value of an expression. Recursion is bounded by the parser's limit on depth.
    pub fn eval(&mut self, e: &Expr) -> Value {
        match &e.kind {
            ExprKind::Var { id, .. } => {
                let value = self.vars.get(*id as usize).cloned().flatten();
                value.unwrap_or_else(|| smallvec![Out::Poison; usize::from(e.ty.comps)])
            }
            ExprKind::Let { id, value, body, .. } => {
                let value = self.eval(value);
                let at = *id as usize;
                if self.vars.len() <= at {
                    self.vars.resize(at + 1, None);
                }
                self.vars[at] = Some(value);
                self.eval(body)
            }
            ExprKind::If { condition, then, otherwise } => match self.scalar(condition) {
                Out::Poison => smallvec![Out::Poison; usize::from(e.ty.comps)],
                Out::Bits(0) => self.eval(otherwise),
                Out::Bits(_) => self.eval(then),
                Out::Any | Out::AnyNan => {
                    let first = self.choices.pick(2) == 0;
                    self.eval(if first { then } else { otherwise })
                }
            },
            ExprKind::Choose(a, b) => {
                let (a, b) = (self.eval(a), self.eval(b));
                match a == b {
                    true => a,
                    false if self.choices.pick(2) == 0 => a,
                    false => b,
                }
            }
            ExprKind::Any => smallvec![Out::Any; usize::from(e.ty.comps)],
            ExprKind::Poison => smallvec![Out::Poison; usize::from(e.ty.comps)],
            ExprKind::Vector(items) => items.iter().map(|i| self.scalar(i)).collect(),
            ExprKind::Splat(a) => {
                let value = self.scalar(a);
                smallvec![value; usize::from(e.ty.comps)]
            }
            ExprKind::Component(a, i) => {
                let value = self.eval(a);
                smallvec![value.get(usize::from(*i)).copied().unwrap_or(Out::Poison)]
            }
            ExprKind::Reduce(how, a) => {
                let value = self.eval(a);
                smallvec![self.reduce(*how, a.ty, &value)]
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::FloatToInt { value: a, .. } => {
                let operand = self.eval(a);
                operand.iter().map(|o| self.apply(e, &[(*o, a.ty)])).collect()
            }
            ExprKind::Binary(_, a, b) => {
                let (x, y) = (self.eval(a), self.eval(b));
                x.iter().zip(&y).map(|(x, y)| self.apply(e, &[(*x, a.ty), (*y, b.ty)])).collect()
            }
            ExprKind::Call(_, args) => {
                let values: SmallVec<[Value; 3]> = args.iter().map(|a| self.eval(a)).collect();
                (0..usize::from(e.ty.comps))
                    .map(|i| {
                        let operands: SmallVec<[(Out, Ty); 3]> = values
                            .iter()
                            .zip(args)
                            .map(|(v, a)| (v[i.min(v.len() - 1)], a.ty))
                            .collect();
                        self.apply(e, &operands)
                    })
                    .collect()
            }
            // Like one that arithmetic gives: the folder marks it so too.
            ExprKind::Const(Const::Nan) => smallvec![Out::AnyNan; usize::from(e.ty.comps)],
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Const(_) => {
                let bits = self.literal(e);
                smallvec![Out::Bits(bits); usize::from(e.ty.comps)]
            }
        }
    }

    fn scalar(&mut self, e: &Expr) -> Out {
        self.eval(e).first().copied().unwrap_or(Out::Poison)
    }

    fn literal(&self, e: &Expr) -> u64 {
        let w = self.w(e.ty);
        match &e.kind {
            ExprKind::Int(v) => v & mask(w),
            ExprKind::Float(v) => prim::fconst(w, *v),
            ExprKind::Bool(v) => u64::from(*v),
            ExprKind::Const(Const::Bits) => self.width.into(),
            ExprKind::Const(Const::IntMin) => 1 << (w - 1),
            ExprKind::Const(Const::IntMax) => mask(w) >> 1,
            ExprKind::Const(Const::UintMax) => mask(w),
            ExprKind::Const(Const::Inf) => prim::inf(w),
            _ => 0,
        }
    }

    /// One operator on scalars, with what is free in them.
    fn apply(&mut self, e: &Expr, operands: &[(Out, Ty)]) -> Out {
        let mut bits: SmallVec<[u64; 3]> = SmallVec::new();
        let reads_bits = match &e.kind {
            ExprKind::Call(p, _) => matches!(p, Prim::Bits | Prim::CopySign | Prim::Abs),
            _ => false,
        };
        for (out, ty) in operands {
            let w = self.w(*ty);
            bits.push(match out {
                Out::Poison => return Out::Poison,
                Out::Bits(v) => *v,
                Out::AnyNan if matches!(e.kind, ExprKind::Unary(UnaryOp::Neg, _)) => {
                    return Out::AnyNan;
                }
                Out::AnyNan if reads_bits => nans(w)[self.choices.pick(6)],
                Out::AnyNan => prim::nan(w),
                Out::Any if w == 1 => self.choices.pick(2) as u64,
                Out::Any if self.side == Side::After => return Out::Any,
                Out::Any if is_onto(e, operands) => return Out::Any,
                Out::Any => {
                    let mut samples = samples(w);
                    let others = operands.iter().filter(|o| self.w(o.1) == w);
                    samples.extend(others.filter_map(|o| match o.0 {
                        Out::Bits(v) => Some(v),
                        Out::AnyNan | Out::Any | Out::Poison => None,
                    }));
                    samples[self.choices.pick(samples.len())]
                }
            });
        }
        let to = self.w(e.ty);
        if let Some(freedom) = self.freedom.filter(|_| is_step(e) && !self.is_move(e, operands)) {
            let widths: SmallVec<[u32; 3]> = operands
                .iter()
                .map(|(_, ty)| if ty.base == Base::Float { self.w(*ty) } else { 0 })
                .collect();
            let alike = is_squared(e);
            return self.step(freedom, to, (&bits, &widths, alike), |me, cx, bits| {
                me.compute(cx, e, operands, bits)
            });
        }
        let mut cx = self.cx();
        let result = self.compute(&mut cx, e, operands, &bits);
        if cx.free && matches!(e.kind, ExprKind::FloatToInt { .. }) {
            return Out::Any;
        }
        match cx.nan && e.ty.base == Base::Float && prim::is_nan(to, result) {
            true => Out::AnyNan,
            false => Out::Bits(result),
        }
    }

    /// Whether it converts to the size that its operand has: a move (semantics 23).
    fn is_move(&self, e: &Expr, operands: &[(Out, Ty)]) -> bool {
        let same = |from: Ty| from.base == Base::Float && self.w(from) == self.w(e.ty);
        matches!(e.kind, ExprKind::Cast(_)) && operands.iter().any(|o| same(o.1))
    }

    /// One of the results that a step may have, given its operands, their widths (0 where an operand is no float) and
    /// whether they are one value. Each of them may be flushed where results may.
    fn step(
        &mut self,
        freedom: &Freedom,
        w: u32,
        (operands, widths, alike): (&[u64], &[u32], bool),
        compute: impl Fn(&Self, &mut Cx, &[u64]) -> u64,
    ) -> Out {
        let may_flush = |i: &usize| {
            freedom.denorm != Denorm::Keep && flushed(widths[*i], operands[*i]) != operands[*i]
        };
        let mut denormal: SmallVec<[usize; 3]> = (0..operands.len()).filter(may_flush).collect();
        if alike {
            denormal.truncate(1);
        }
        let mut found: SmallVec<[Out; 4]> = SmallVec::new();
        for subset in 0..1usize << denormal.len() {
            let mut operands: SmallVec<[u64; 3]> = SmallVec::from_slice(operands);
            for (i, v) in operands.iter_mut().enumerate() {
                let k = if alike { Some(0) } else { denormal.iter().position(|d| *d == i) };
                if k.is_some_and(|k| subset >> k & 1 != 0) {
                    *v = flushed(widths[i], *v);
                }
            }
            for rounding in &freedom.roundings {
                let env = FloatEnv::uniform(Denorm::Keep, *rounding);
                let mut cx = Cx { env, free: false, nan: false };
                let result = compute(self, &mut cx, &operands);
                let nan = cx.nan && prim::is_nan(w, result);
                let forms = if nan { smallvec![result] } else { freedom.forms(w, result) };
                for form in forms {
                    let out = if nan { Out::AnyNan } else { Out::Bits(form) };
                    if !found.contains(&out) {
                        found.push(out);
                    }
                }
            }
        }
        found[self.choices.pick(found.len())]
    }

    /// The bits that one operator gives.
    fn compute(&self, cx: &mut Cx, e: &Expr, operands: &[(Out, Ty)], bits: &[u64]) -> u64 {
        let w = operands.first().map_or(32, |o| self.w(o.1));
        match &e.kind {
            ExprKind::Unary(op, _) => match (op, e.ty.base) {
                (UnaryOp::Neg, Base::Float) => prim::fneg(w, bits[0]),
                (UnaryOp::Neg, _) => prim::ineg(w, bits[0]),
                (UnaryOp::Not, _) => prim::inot(w, bits[0]),
            },
            ExprKind::Binary(op, ..) => binary(cx, *op, operands[0].1.base, w, bits[0], bits[1]),
            ExprKind::Cast(_) => {
                let to = self.w(e.ty);
                match (operands[0].1.base, e.ty.base) {
                    (Base::Float, Base::Float) => prim::f2f(cx, w, to, bits[0]),
                    (Base::Int, Base::Float) => prim::i2f(cx, w, to, bits[0]),
                    (_, Base::Float) => prim::u2f(cx, w, to, bits[0]),
                    (Base::Int, _) => prim::sext(w, bits[0]) & mask(to),
                    _ => bits[0] & mask(to),
                }
            }
            ExprKind::FloatToInt { saturating, .. } => {
                let to = self.w(e.ty);
                match (e.ty.base == Base::Int, *saturating) {
                    (true, false) => prim::f2i(cx, w, to, bits[0]),
                    (false, false) => prim::f2u(cx, w, to, bits[0]),
                    (true, true) => prim::f2i_sat(cx, w, to, bits[0]),
                    (false, true) => prim::f2u_sat(cx, w, to, bits[0]),
                }
            }
            ExprKind::Call(p, _) => primitive(cx, *p, operands[0].1.base, w, bits),
            _ => 0,
        }
    }

    fn reduce(&mut self, how: Reduction, ty: Ty, items: &[Out]) -> Out {
        let w = self.w(ty);
        let mut list: SmallVec<[Out; 16]> = SmallVec::from_slice(items);
        let float = how == Reduction::Sum && ty.base == Base::Float;
        // The order of a float sum is free: the two that differ most stand for all.
        if float && list.len() > 2 && self.choices.pick(2) == 1 {
            list.reverse();
        }
        let mut total: Option<Out> = None;
        for item in list {
            total = Some(match total {
                None => item,
                Some(Out::Poison) => Out::Poison,
                Some(sum) => {
                    let read = |s: &mut Self, o: Out| match o {
                        Out::Bits(v) => Ok(v),
                        Out::AnyNan => Ok(prim::nan(w)),
                        Out::Any if w == 1 => Ok(s.choices.pick(2) as u64),
                        Out::Any if s.side == Side::Before => {
                            Ok([0, mask(w), 1, 1 << (w - 1)][s.choices.pick(4)])
                        }
                        other => Err(other),
                    };
                    match (read(self, sum), read(self, item)) {
                        (Err(Out::Poison), _) | (_, Err(Out::Poison)) => Out::Poison,
                        (Ok(a), Ok(b)) => {
                            if let Some(freedom) = self.freedom.filter(|_| float) {
                                let add = |_: &Self, cx: &mut Cx, v: &[u64]| {
                                    prim::fadd(cx, w, v[0], v[1])
                                };
                                total = Some(self.step(freedom, w, (&[a, b], &[w, w], false), add));
                                continue;
                            }
                            let mut cx = self.cx();
                            let r = match (how, ty.base) {
                                (Reduction::All, _) => a & b,
                                (Reduction::Some, _) => a | b,
                                (Reduction::Sum, Base::Float) => prim::fadd(&mut cx, w, a, b),
                                (Reduction::Sum, _) => prim::iadd(w, a, b),
                            };
                            if cx.nan && float && prim::is_nan(w, r) {
                                Out::AnyNan
                            } else {
                                Out::Bits(r)
                            }
                        }
                        _ => Out::Any,
                    }
                }
            });
        }
        total.unwrap_or(Out::Bits(0))
    }
}

fn binary(cx: &mut Cx, op: BinaryOp, base: Base, w: u32, a: u64, b: u64) -> u64 {
    use BinaryOp::*;
    let float = base == Base::Float;
    let signed = base == Base::Int;
    match op {
        Add if float => prim::fadd(cx, w, a, b),
        Sub if float => prim::fsub(cx, w, a, b),
        Mul if float => prim::fmul(cx, w, a, b),
        Div if float => prim::fdiv(cx, w, a, b),
        Add => prim::iadd(w, a, b),
        Sub => prim::isub(w, a, b),
        Mul => prim::imul(w, a, b),
        Div if signed => prim::idiv(w, a, b),
        Div => prim::udiv(w, a, b),
        Rem if signed => prim::irem(w, a, b),
        Rem => prim::urem(w, a, b),
        And | AndAlso => a & b,
        Or | OrElse => a | b,
        Xor => a ^ b,
        Shl => prim::shl(w, a, b),
        Shr if signed => prim::ishr(w, a, b),
        Shr => prim::ushr(w, a, b),
        Eq if float => prim::feq(cx, w, a, b).into(),
        Ne if float => (!prim::feq(cx, w, a, b)).into(),
        Lt if float => prim::flt(cx, w, a, b).into(),
        Le if float => prim::fle(cx, w, a, b).into(),
        Gt if float => prim::flt(cx, w, b, a).into(),
        Ge if float => prim::fle(cx, w, b, a).into(),
        Eq => (a == b).into(),
        Ne => (a != b).into(),
        Lt if signed => prim::ilt(w, a, b).into(),
        Le if signed => prim::ile(w, a, b).into(),
        Gt if signed => prim::ilt(w, b, a).into(),
        Ge if signed => prim::ile(w, b, a).into(),
        Lt => (a < b).into(),
        Le => (a <= b).into(),
        Gt => (a > b).into(),
        Ge => (a >= b).into(),
    }
}

/// A primitive by its name: what the generated code calls.
pub(super) fn primitive(cx: &mut Cx, p: Prim, base: Base, w: u32, v: &[u64]) -> u64 {
    let signed = base == Base::Int;
    match p {
        Prim::Fma => prim::fma(cx, w, v[0], v[1], v[2]),
        Prim::Sqrt => prim::sqrt(cx, w, v[0]),
        Prim::Rsqrt => prim::rsqrt(cx, w, v[0]),
        Prim::RoundEven => prim::round_even(cx, w, v[0]),
        Prim::Trunc => prim::trunc_f(cx, w, v[0]),
        Prim::Floor => prim::floor(cx, w, v[0]),
        Prim::Ceil => prim::ceil(cx, w, v[0]),
        Prim::Canonicalize => prim::canonicalize(cx, w, v[0]),
        Prim::Exp2 => prim::exp2(cx, w, v[0]),
        Prim::Log2 => prim::log2(cx, w, v[0]),
        Prim::Exp => prim::exp(cx, w, v[0]),
        Prim::Log => prim::log(cx, w, v[0]),
        Prim::Pow => prim::pow(cx, w, v[0], v[1]),
        Prim::Sin => prim::sin(cx, w, v[0]),
        Prim::Cos => prim::cos(cx, w, v[0]),
        Prim::Tan => prim::tan(cx, w, v[0]),
        Prim::Asin => prim::asin(cx, w, v[0]),
        Prim::Acos => prim::acos(cx, w, v[0]),
        Prim::Atan => prim::atan(cx, w, v[0]),
        Prim::Atan2 => prim::atan2(cx, w, v[0], v[1]),
        Prim::Sinh => prim::sinh(cx, w, v[0]),
        Prim::Cosh => prim::cosh(cx, w, v[0]),
        Prim::Tanh => prim::tanh(cx, w, v[0]),
        Prim::Asinh => prim::asinh(cx, w, v[0]),
        Prim::Acosh => prim::acosh(cx, w, v[0]),
        Prim::Atanh => prim::atanh(cx, w, v[0]),
        Prim::ScalePow2 => prim::ldexp(cx, w, v[0], v[1]),
        Prim::Significand => prim::frexp_sig(cx, w, v[0]),
        Prim::Exponent => prim::frexp_exp(cx, w, v[0]),
        Prim::QuantizeF16 => prim::quantize_f16(cx, w, v[0]),
        Prim::RoundToF16Rtne => prim::round_to_f16_rtne(cx, w, v[0]),
        Prim::RoundToF16Rtz => prim::round_to_f16_rtz(cx, w, v[0]),
        Prim::CopySign => prim::copysign(w, v[0], v[1]),
        Prim::IsNan => prim::is_nan(w, v[0]).into(),
        Prim::IsInf => prim::is_inf(w, v[0]).into(),
        Prim::IsFinite => prim::is_finite(w, v[0]).into(),
        Prim::IsNormal => prim::is_normal(w, v[0]).into(),
        Prim::Bits | Prim::FromBits => v[0],
        Prim::Abs if base == Base::Float => prim::fabs(w, v[0]),
        Prim::Abs if signed => prim::iabs(w, v[0]),
        Prim::Abs => v[0],
        Prim::Min if signed => prim::imin(w, v[0], v[1]),
        Prim::Min => prim::umin(w, v[0], v[1]),
        Prim::Max if signed => prim::imax(w, v[0], v[1]),
        Prim::Max => prim::umax(w, v[0], v[1]),
        Prim::MulHigh if signed => prim::imul_high(w, v[0], v[1]),
        Prim::MulHigh => prim::umul_high(w, v[0], v[1]),
        Prim::AddSat if signed => prim::iadd_sat(w, v[0], v[1]),
        Prim::AddSat => prim::uadd_sat(w, v[0], v[1]),
        Prim::SubSat if signed => prim::isub_sat(w, v[0], v[1]),
        Prim::SubSat => prim::usub_sat(w, v[0], v[1]),
        Prim::CountOnes => prim::count_ones(w, v[0]),
        Prim::LeadingZeros => prim::leading_zeros(w, v[0]),
        Prim::TrailingZeros => prim::trailing_zeros(w, v[0]),
        Prim::Ilog2 => prim::ilog2(w, v[0]),
        Prim::ReverseBits => prim::reverse_bits(w, v[0]),
    }
}
