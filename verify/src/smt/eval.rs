//! Expressions as terms, with their freedom.
//!
//! The twin of `deburr_algebraic::interp::expr`, which takes values: whatever one of them says of an operator, the other
//! says too, and a test holds both to the folder.

use super::choices::{Choices, Owner, Place, Taking};
use super::prims;
use super::steps::{self, Detail, Step};
use super::term::{Sort, Term, Terms};
use deburr_algebraic::interp::expr::is_step;
use deburr_algebraic::interp::term::Claim;
use deburr_ir_core::{Denorm, FloatEnv, Rounding};
use deburr_rulegen::expr::{
    Base, BinaryOp, Const, Expr, ExprKind, Prim, Reduction, Ty, UnaryOp, Width,
};
use smallvec::{SmallVec, smallvec};

/// A component: its bits, and where it is more than these. Bools are of sort `Bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    pub bits: Term,
    /// Where it is any NaN: the bits are some NaN.
    pub nan: Option<Term>,
    /// Where it is any value: the bits are some value.
    pub any: Option<Term>,
    /// Where a promise is broken: the bits mean nothing.
    pub poison: Option<Term>,
}

impl Scalar {
    pub(super) fn plain(bits: Term) -> Scalar {
        Scalar { bits, nan: None, any: None, poison: None }
    }
}

/// A scalar or vector by component.
pub(super) type Value = SmallVec<[Scalar; 4]>;

/// What float arithmetic does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Floats {
    /// What the environment says, and the canonical NaN: as the folder.
    Folded(FloatEnv),
    /// All that a claim allows of an instruction.
    Free(Claim),
    /// Rounds to nearest and keeps denormals: an operation on which the environment has no say.
    Exact,
}

/// One of two where a flag may be missing.
pub(super) fn either_flag(t: &mut Terms, list: &[Option<Term>]) -> Option<Term> {
    let mut flags: SmallVec<[Term; 4]> = SmallVec::new();
    for flag in list.iter().flatten() {
        if !flags.contains(flag) {
            flags.push(*flag);
        }
    }
    (!flags.is_empty()).then(|| t.some(&flags))
}

fn chosen_flag(t: &mut Terms, c: Term, a: Option<Term>, b: Option<Term>) -> Option<Term> {
    if a.is_none() && b.is_none() {
        return None;
    }
    let no = t.truth(false);
    Some(t.ite(c, a.unwrap_or(no), b.unwrap_or(no)))
}

/// `a` if `c`, else `b`.
pub(super) fn chosen(t: &mut Terms, c: Term, a: Scalar, b: Scalar) -> Scalar {
    Scalar {
        bits: t.ite(c, a.bits, b.bits),
        nan: chosen_flag(t, c, a.nan, b.nan),
        any: chosen_flag(t, c, a.any, b.any),
        poison: chosen_flag(t, c, a.poison, b.poison),
    }
}

/// An evaluation of one expression, for one component of one instruction.
pub(super) struct Evaluator<'a> {
    pub t: &'a mut Terms,
    pub choices: &'a mut Choices,
    pub floats: Floats,
    pub detail: Detail,
    pub owner: Owner,
    /// What `BITS` stands for.
    pub width: u8,
    /// Values of variables by number.
    pub vars: Vec<Option<Value>>,
}

impl Evaluator<'_> {
    fn w(&self, ty: Ty) -> u32 {
        match (ty.base, ty.width) {
            (Base::Bool, _) => 1,
            (_, Width::Fixed(n)) => n.into(),
            (_, Width::Bits) => self.width.into(),
        }
    }

    fn sort(&self, ty: Ty) -> Sort {
        if ty.base == Base::Bool { Sort::Bool } else { Sort::Bits(self.w(ty)) }
    }

    /// The value of an expression. Recursion is bounded by the parser's limit on depth.
    pub(super) fn eval(&mut self, e: &Expr) -> Value {
        let comps = usize::from(e.ty.comps);
        match &e.kind {
            ExprKind::Var { id, .. } => {
                let value = self.vars.get(*id as usize).cloned().flatten();
                value.unwrap_or_else(|| self.poison(e.ty))
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
            ExprKind::If { condition, then, otherwise } => {
                let c = self.scalar(condition);
                let (then, otherwise) = (self.eval(then), self.eval(otherwise));
                then.iter().zip(&otherwise).map(|(a, b)| self.select(c, *a, *b)).collect()
            }
            ExprKind::Choose(a, b) => {
                let (a, b) = (self.eval(a), self.eval(b));
                if matches!(self.floats, Floats::Folded(_)) {
                    return a;
                }
                let operands = a.iter().chain(&b).map(|s| s.bits).collect();
                let place = self.place(e, 0, operands);
                let second = self.choices.either(self.t, self.owner, place);
                a.iter().zip(&b).map(|(a, b)| chosen(self.t, second, *b, *a)).collect()
            }
            ExprKind::Any => (0..comps).map(|i| self.any(e, i)).collect(),
            ExprKind::Poison => self.poison(e.ty),
            ExprKind::Vector(items) => items.iter().map(|i| self.scalar(i)).collect(),
            ExprKind::Splat(a) => {
                let value = self.scalar(a);
                smallvec![value; comps]
            }
            ExprKind::Component(a, i) => {
                let value = self.eval(a);
                match value.get(usize::from(*i)) {
                    Some(one) => smallvec![*one],
                    None => self.poison(e.ty),
                }
            }
            ExprKind::Reduce(how, a) => {
                let value = self.eval(a);
                smallvec![self.reduce(e, *how, a.ty, &value)]
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::FloatToInt { value: a, .. } => {
                let operand = self.eval(a);
                operand.iter().enumerate().map(|(i, o)| self.apply(e, i, &[(*o, a.ty)])).collect()
            }
            ExprKind::Binary(_, a, b) => {
                let (x, y) = (self.eval(a), self.eval(b));
                let pairs = x.iter().zip(&y).enumerate();
                pairs.map(|(i, (x, y))| self.apply(e, i, &[(*x, a.ty), (*y, b.ty)])).collect()
            }
            ExprKind::Call(_, args) => {
                let values: Vec<Value> = args.iter().map(|a| self.eval(a)).collect();
                let apply = |i: usize| {
                    let operands = values.iter().zip(args);
                    let operands: Vec<(Scalar, Ty)> =
                        operands.map(|(v, a)| (v[i.min(v.len() - 1)], a.ty)).collect();
                    self.apply(e, i, &operands)
                };
                (0..comps).map(apply).collect()
            }
            ExprKind::Const(Const::Nan) => (0..comps).map(|i| self.nan(e, i)).collect(),
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Const(_) => {
                let bits = self.literal(e);
                smallvec![Scalar::plain(bits); comps]
            }
        }
    }

    fn scalar(&mut self, e: &Expr) -> Scalar {
        let value = self.eval(e);
        value[0]
    }

    fn zero(&mut self, sort: Sort) -> Term {
        match sort {
            Sort::Bits(w) | Sort::Float(w) => self.t.bits(w, 0),
            Sort::Bool | Sort::Mode => self.t.truth(false),
        }
    }

    fn poison(&mut self, ty: Ty) -> Value {
        let bits = self.zero(self.sort(ty));
        let poison = Some(self.t.truth(true));
        smallvec![Scalar { poison, ..Scalar::plain(bits) }; usize::from(ty.comps)]
    }

    fn place(&self, e: &Expr, which: usize, operands: Vec<Term>) -> Place {
        Place { site: (std::ptr::from_ref(e) as usize, which), operands }
    }

    /// `any()`, or what stands for it.
    fn any(&mut self, e: &Expr, which: usize) -> Scalar {
        let sort = self.sort(e.ty);
        let yes = self.t.truth(true);
        let bits = match self.floats {
            Floats::Folded(_) => self.zero(sort),
            Floats::Free(_) | Floats::Exact => {
                let operands = self.vars.iter().flatten().flatten().map(|s| s.bits).collect();
                let place = self.place(e, which, operands);
                self.choices.any(self.t, self.owner, place, sort)
            }
        };
        let known =
            self.choices.taking == Taking::Freely && !matches!(self.floats, Floats::Folded(_));
        Scalar { any: (!known).then_some(yes), ..Scalar::plain(bits) }
    }

    /// The constant `NAN`, which is like a NaN that arithmetic gives.
    fn nan(&mut self, e: &Expr, which: usize) -> Scalar {
        let w = self.w(e.ty);
        let folded = matches!(self.floats, Floats::Folded(_));
        let bits = match folded {
            true => self.t.bits(w, deburr_ir_core::fold::prim::nan(w)),
            false => {
                let place = self.place(e, which, Vec::new());
                let bits = self.choices.any(self.t, self.owner, place, Sort::Bits(w));
                let is_nan = prims::is(self.t, "fp.isNaN", bits);
                self.t.assert(is_nan);
                bits
            }
        };
        let free = folded || self.choices.taking == Taking::ByScript;
        let nan = free.then(|| self.t.truth(true));
        Scalar { nan, ..Scalar::plain(bits) }
    }

    fn literal(&mut self, e: &Expr) -> Term {
        use deburr_ir_core::fold::prim;
        let w = self.w(e.ty);
        let ones = u64::MAX >> (64 - w);
        let value = match &e.kind {
            ExprKind::Bool(v) => return self.t.truth(*v),
            ExprKind::Int(v) => *v,
            ExprKind::Float(v) => prim::fconst(w, *v),
            ExprKind::Const(Const::Bits) => self.width.into(),
            ExprKind::Const(Const::IntMin) => 1 << (w - 1),
            ExprKind::Const(Const::IntMax) => ones >> 1,
            ExprKind::Const(Const::UintMax) => ones,
            ExprKind::Const(Const::Inf) => prim::inf(w),
            _ => 0,
        };
        self.t.bits(w, value)
    }

    fn select(&mut self, c: Scalar, a: Scalar, b: Scalar) -> Scalar {
        let mut out = chosen(self.t, c.bits, a, b);
        out.poison = either_flag(self.t, &[c.poison, out.poison]);
        out
    }

    /// Whether an operator gives every value where one operand may be any and the other is another.
    fn is_onto(e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Unary(..) => true,
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Xor, a, b) => {
                let same = match (&a.kind, &b.kind) {
                    (ExprKind::Var { id: x, .. }, ExprKind::Var { id: y, .. }) => x == y,
                    _ => false,
                };
                e.ty.base != Base::Float && !same
            }
            _ => false,
        }
    }

    /// One operator on scalars.
    fn apply(&mut self, e: &Expr, at: usize, operands: &[(Scalar, Ty)]) -> Scalar {
        let flags: SmallVec<[Option<Term>; 3]> = operands.iter().map(|o| o.0.poison).collect();
        let poison = either_flag(self.t, &flags);
        let wild: SmallVec<[Option<Term>; 3]> = operands.iter().map(|o| o.0.any).collect();
        let wild = either_flag(self.t, &wild);
        let folded = matches!(self.floats, Floats::Folded(_));
        // To a constant it has no value then, so that nothing follows.
        let wild = if folded || Self::is_onto(e) { wild } else { None };
        let bits: SmallVec<[Term; 3]> = operands.iter().map(|o| o.0.bits).collect();
        let step = is_step(e) && !self.is_move(e, operands);
        let mut out = match step {
            true => {
                let floats: SmallVec<[bool; 3]> =
                    operands.iter().map(|o| o.1.base == Base::Float).collect();
                self.step(e, at, &bits, &floats, |me, mode, v| me.arithmetic(e, mode, v, operands))
            }
            false => self.plain(e, at, &bits, operands),
        };
        out.poison = either_flag(self.t, &[out.poison, poison]);
        out.any = either_flag(self.t, &[out.any, wild]);
        out
    }

    /// An operator that is no float arithmetic.
    fn plain(&mut self, e: &Expr, at: usize, v: &[Term], operands: &[(Scalar, Ty)]) -> Scalar {
        let from = operands[0].1;
        let to = self.w(e.ty);
        if self.is_move(e, operands) {
            return Scalar { nan: operands[0].0.nan, ..Scalar::plain(v[0]) };
        }
        let bits = match &e.kind {
            ExprKind::Unary(UnaryOp::Neg, _) if e.ty.base == Base::Float => {
                let bits = prims::float_neg(self.t, v[0]);
                return Scalar { nan: operands[0].0.nan, ..Scalar::plain(bits) };
            }
            ExprKind::Unary(UnaryOp::Neg, _) => self.t.bv("bvneg", v),
            ExprKind::Unary(UnaryOp::Not, _) => match self.t.sort(v[0]) {
                Sort::Bool => self.t.not(v[0]),
                _ => self.t.bv("bvnot", v),
            },
            ExprKind::Binary(op, ..) if from.base == Base::Float => {
                let (a, b) = (self.settled(v[0]), self.settled(v[1]));
                prims::float_compare(self.t, *op, a, b)
            }
            ExprKind::Binary(op, ..) => prims::integer(self.t, *op, from.base, v[0], v[1]),
            ExprKind::Cast(_) => match from.base {
                Base::Bool if e.ty.base == Base::Float => {
                    let (one, zero) = (prims::float_literal(self.t, to, 1.0), self.t.bits(to, 0));
                    self.t.ite(v[0], one, zero)
                }
                Base::Bool => self.t.from_bool(v[0], to),
                Base::Int | Base::Uint | Base::Float => {
                    self.t.resize(v[0], to, from.base == Base::Int)
                }
            },
            ExprKind::FloatToInt { saturating, .. } => {
                return self.float_to_int(e, at, v[0], *saturating);
            }
            ExprKind::Call(p, _) => match prims::pure(self.t, *p, from.base, v, to) {
                Some(bits) => bits,
                // It isn't arithmetic by its result: the exponent of a float.
                None => {
                    let a = self.settled(v[0]);
                    self.unknown(*p, "", &[a], Sort::Bits(to))
                }
            },
            _ => self.literal(e),
        };
        Scalar::plain(bits)
    }

    /// An operand as a compare reads it: flushed if the folder does.
    fn settled(&mut self, a: Term) -> Term {
        match self.floats {
            Floats::Folded(env) if env.denorm(self.t.width(a)) == Denorm::Flush => {
                prims::flushed(self.t, a)
            }
            _ => a,
        }
    }

    /// A float as an integer: any value where it doesn't fit.
    fn float_to_int(&mut self, e: &Expr, at: usize, a: Term, saturating: bool) -> Scalar {
        let (from, to) = (self.t.width(a), self.w(e.ty));
        let signed = e.ty.base == Base::Int;
        let (zero_mode, float) = (self.t.mode("RTZ"), self.t.float(a));
        let whole = self.t.rounded("fp.roundToIntegral", zero_mode, &[float], from);
        let bound = |t: &mut Terms, v: f64| {
            let bits = prims::float_literal(t, from, v);
            t.float(bits)
        };
        let power = if signed { to - 1 } else { to };
        let above = bound(self.t, 2f64.powi(power as i32));
        let below = bound(self.t, if signed { -(2f64.powi(power as i32)) } else { 0.0 });
        // Where a format has no such number, the bound is infinite, and only infinity is beyond it.
        let inf = self.t.test("fp.isInfinite", &[float]);
        let (too_small, too_large) =
            (self.t.test("fp.lt", &[whole, below]), self.t.test("fp.geq", &[whole, above]));
        let nan = self.t.test("fp.isNaN", &[float]);
        let outside = self.t.some(&[nan, inf, too_small, too_large]);
        let head = if signed { "fp.to_sbv" } else { "fp.to_ubv" };
        let inside = self.t.apply(format!("(_ {head} {to})"), &[zero_mode, float], Sort::Bits(to));
        let other = match saturating {
            true => {
                let ones = u64::MAX >> (64 - to);
                let (least, most) = if signed { (1 << (to - 1), ones >> 1) } else { (0, ones) };
                let (least, most) = (self.t.bits(to, least), self.t.bits(to, most));
                let zero = self.t.bits(to, 0);
                let negative = self.t.test("fp.isNegative", &[float]);
                let limit = self.t.ite(negative, least, most);
                Scalar::plain(self.t.ite(nan, zero, limit))
            }
            false => {
                let mut any = self.any(e, at);
                any.any = any.any.map(|_| outside);
                any
            }
        };
        Scalar { bits: self.t.ite(outside, other.bits, inside), ..other }
    }

    /// Whether it converts to the size that its operand has: a move (semantics 23).
    fn is_move(&self, e: &Expr, operands: &[(Scalar, Ty)]) -> bool {
        let same = |from: Ty| from.base == Base::Float && self.w(from) == self.w(e.ty);
        let converts = match &e.kind {
            ExprKind::Cast(_) => true,
            ExprKind::Call(p, _) => matches!(p, Prim::RoundToF16Rtne | Prim::RoundToF16Rtz),
            _ => false,
        };
        converts && operands.iter().any(|o| same(o.1))
    }

    /// One step of float arithmetic: `compute` gives the float for a rounding mode and operands, of which those are floats
    /// that `floats` says.
    fn step(
        &mut self,
        e: &Expr,
        at: usize,
        given: &[Term],
        floats: &[bool],
        compute: impl FnOnce(&mut Self, Term, &[Term]) -> Term,
    ) -> Scalar {
        let mut v: SmallVec<[Term; 3]> = SmallVec::from_slice(given);
        for i in (0..v.len()).filter(|i| floats[*i]) {
            v[i] = match self.floats {
                Floats::Folded(env) if env.denorm(self.t.width(v[i])) == Denorm::Flush => {
                    prims::flushed(self.t, v[i])
                }
                Floats::Free(claim) if claim.denorm != Denorm::Keep => {
                    // What an instruction does to one value it does to all of its uses.
                    let first = given.iter().position(|a| *a == given[i]).unwrap_or(i);
                    let place = self.place(e, 8 * at + first, given.to_vec());
                    let flushes = self.choices.either(self.t, self.owner, place);
                    let flushed = prims::flushed(self.t, v[i]);
                    self.t.ite(flushes, flushed, v[i])
                }
                _ => v[i],
            };
        }
        let w = if e.ty.base == Base::Float { self.w(e.ty) } else { self.t.width(v[0]) };
        let mode = self.mode(e, at, w, given);
        let result = compute(self, mode, &v);
        self.result(e, at, result, given)
    }

    fn mode(&mut self, e: &Expr, at: usize, w: u32, given: &[Term]) -> Term {
        let rounding = match self.floats {
            Floats::Folded(env) => env.rounding(w),
            Floats::Free(claim) => claim.rounding,
            Floats::Exact => Rounding::Rte,
        };
        let (nearest, zero) = (self.t.mode("RNE"), self.t.mode("RTZ"));
        match rounding {
            Rounding::Rtz => zero,
            Rounding::Any if !matches!(self.floats, Floats::Folded(_)) && rounds(e) => {
                let place = self.place(e, 8 * at + 6, given.to_vec());
                let toward_zero = self.choices.either(self.t, self.owner, place);
                self.t.ite(toward_zero, zero, nearest)
            }
            _ => nearest,
        }
    }

    /// A float result: of a NaN any, and flushed where results are.
    fn result(&mut self, e: &Expr, at: usize, float: Term, given: &[Term]) -> Scalar {
        let w = self.t.width(float);
        let is_nan = self.t.test("fp.isNaN", &[float]);
        let place = Place { site: (usize::MAX, 0), operands: vec![float] };
        let bits = match (self.detail, self.floats) {
            (Detail::Calculated, _) => self.t.ieee_bits(float),
            (_, Floats::Folded(_)) => self.t.named_after("r", float, Sort::Bits(w)),
            _ => self.choices.any(self.t, self.owner, place, Sort::Bits(w)),
        };
        if self.detail != Detail::Calculated {
            let back = self.t.float(bits);
            let same = self.t.equal(back, float);
            self.t.assert(same);
        }
        let flushed = prims::flushed(self.t, bits);
        let bits = match self.floats {
            Floats::Folded(env) => {
                let canonical = prims::canonical_nan(self.t, bits);
                match env.denorm(w) {
                    Denorm::Flush => prims::flushed(self.t, canonical),
                    _ => canonical,
                }
            }
            Floats::Free(claim) => match claim.denorm {
                Denorm::Keep => bits,
                Denorm::Flush => flushed,
                Denorm::Any => {
                    let place = self.place(e, 8 * at + 7, given.to_vec());
                    let flushes = self.choices.either(self.t, self.owner, place);
                    self.t.ite(flushes, flushed, bits)
                }
            },
            Floats::Exact => bits,
        };
        let free =
            self.choices.taking == Taking::ByScript || matches!(self.floats, Floats::Folded(_));
        Scalar { nan: free.then_some(is_nan), ..Scalar::plain(bits) }
    }

    /// The float that an arithmetic operator gives.
    fn arithmetic(&mut self, e: &Expr, mode: Term, v: &[Term], operands: &[(Scalar, Ty)]) -> Term {
        let to = self.w(e.ty);
        let from = operands[0].1;
        match &e.kind {
            ExprKind::Binary(op, ..) => {
                let step = match op {
                    BinaryOp::Add => Step::Add,
                    BinaryOp::Sub => Step::Sub,
                    BinaryOp::Mul => Step::Mul,
                    _ => Step::Div,
                };
                steps::step(self.t, self.detail, step, mode, v)
            }
            ExprKind::Cast(_) => match from.base {
                Base::Float => {
                    let a = self.t.float(v[0]);
                    self.t.rounded(&Terms::to_float(to), mode, &[a], to)
                }
                Base::Int => self.t.rounded(&Terms::to_float(to), mode, &[v[0]], to),
                _ => self.t.rounded(&Terms::to_float_unsigned(to), mode, &[v[0]], to),
            },
            ExprKind::Call(Prim::Sqrt, _) => steps::step(self.t, self.detail, Step::Sqrt, mode, v),
            ExprKind::Call(Prim::Fma, _) => steps::step(self.t, self.detail, Step::Fma, mode, v),
            ExprKind::Call(p, _) => match prims::arithmetic(self.t, *p, v, to) {
                Some(float) => float,
                None => self.unknown_float(*p, mode, v, to),
            },
            _ => self.t.float(v[0]),
        }
    }

    /// A function of which nothing is known, in each rounding another.
    fn unknown_float(&mut self, p: Prim, mode: Term, v: &[Term], to: u32) -> Term {
        let nearest = self.t.mode("RNE");
        let a = self.unknown(p, "rne", v, Sort::Bits(to));
        let a = self.t.float(a);
        if mode == nearest {
            return a;
        }
        let b = self.unknown(p, "rtz", v, Sort::Bits(to));
        let b = self.t.float(b);
        let is_nearest = self.t.equal(mode, nearest);
        self.t.ite(is_nearest, a, b)
    }

    fn unknown(&mut self, p: Prim, mode: &str, v: &[Term], sort: Sort) -> Term {
        let w = self.t.width(v[0]);
        let name = format!("{p}_{w}{mode}");
        // It doesn't look at which NaN it has.
        let mut args: Vec<Term> = Vec::new();
        for (i, a) in v.iter().enumerate() {
            let integer = p == Prim::ScalePow2 && i == 1;
            args.push(if integer { *a } else { prims::canonical_nan(self.t, *a) });
        }
        self.t.unknown(&name, &args, sort)
    }

    fn reduce(&mut self, e: &Expr, how: Reduction, ty: Ty, items: &[Scalar]) -> Scalar {
        let float = how == Reduction::Sum && ty.base == Base::Float;
        let forward = self.sum(e, how, ty, items, 0);
        if !float || items.len() < 3 || matches!(self.floats, Floats::Folded(_)) {
            return forward;
        }
        // The order of a float sum is free: the two that differ most stand for all.
        let reversed: Value = items.iter().rev().copied().collect();
        let backward = self.sum(e, how, ty, &reversed, 16);
        let place = self.place(e, 1000, items.iter().map(|s| s.bits).collect());
        let turned = self.choices.either(self.t, self.owner, place);
        chosen(self.t, turned, backward, forward)
    }

    fn sum(&mut self, e: &Expr, how: Reduction, ty: Ty, items: &[Scalar], from: usize) -> Scalar {
        let mut total = items[0];
        for (i, item) in items.iter().enumerate().skip(1) {
            let mut next = match (how, ty.base) {
                (Reduction::Sum, Base::Float) => {
                    let v = [total.bits, item.bits];
                    self.step(e, from + i, &v, &[true; 2], |me, mode, v| {
                        steps::step(me.t, me.detail, Step::Add, mode, v)
                    })
                }
                (Reduction::Sum, _) => Scalar::plain(self.t.bv("bvadd", &[total.bits, item.bits])),
                (Reduction::All, _) => Scalar::plain(self.t.test("and", &[total.bits, item.bits])),
                (Reduction::Some, _) => Scalar::plain(self.t.test("or", &[total.bits, item.bits])),
            };
            next.poison = either_flag(self.t, &[total.poison, item.poison]);
            total = next;
        }
        total
    }
}

/// Whether the rounding mode matters to a step.
fn rounds(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call(p, _) => !matches!(
            p,
            Prim::RoundEven
                | Prim::Trunc
                | Prim::Floor
                | Prim::Ceil
                | Prim::Canonicalize
                | Prim::ScalePow2
                | Prim::Significand
                | Prim::QuantizeF16
                | Prim::RoundToF16Rtne
                | Prim::RoundToF16Rtz
        ),
        _ => true,
    }
}
