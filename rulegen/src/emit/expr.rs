//! Expressions as Rust over `u64` bit patterns.
//!
//! A number is a `u64` with its pattern in the low bits and zeros above, a bool a `bool`, a vector an indexable of
//! these. Widths stay run-time values, so that one function serves all sizes and the generated code compiles fast.
//! Calls that take the context are bound to variables first, since two of them can't be operands of one call.

use proc_macro2::{Ident, Literal, TokenStream, TokenTree};
use quote::quote;

use super::ident;
use crate::expr::prim::Convention;
use crate::expr::{Base, BinaryOp, Const, Expr, ExprKind, Prim, Reduction, Ty, UnaryOp, Width};

/// What a variable is in generated code.
#[derive(Clone, Debug)]
pub enum Place {
    /// Tokens of a `u64` or, for a bool, of a `bool`.
    Scalar(TokenStream),
    /// Tokens that are indexed to give a `u64`, or, for a vector of bools, one that isn't 0 for true.
    Words(TokenStream),
    /// Tokens that are indexed to give a `bool`.
    Bools(TokenStream),
}

/// A value in generated code.
#[derive(Clone, Debug)]
struct Value {
    tokens: TokenStream,
    /// An operator stands at the top.
    infix: bool,
    /// A call in it takes the context.
    effects: bool,
    /// A block stands at the top.
    block: bool,
}

impl Value {
    fn plain(tokens: TokenStream) -> Value {
        Value { tokens, infix: false, effects: false, block: false }
    }

    /// As the operand of an operator.
    fn operand(&self) -> TokenStream {
        let tokens = &self.tokens;
        if self.infix { quote!((#tokens)) } else { tokens.clone() }
    }
}

/// Which component of a vector is wanted.
#[derive(Clone, Debug)]
enum At {
    Scalar,
    Fixed(usize),
    Running(Ident),
}

/// Emits expressions: statements that go first, and a value.
#[derive(Debug)]
pub struct Emitter {
    /// Path of the module with the primitives.
    prim: TokenStream,
    /// Where variables are, by number.
    places: Vec<Option<Place>>,
    /// The width `BITS`, a `u32`.
    bits: TokenStream,
    next: usize,
}

impl Emitter {
    /// An emitter for expressions over these variables, which calls the primitives in module `prim` with the context
    /// `cx`.
    pub fn new(
        prim: TokenStream,
        bits: TokenStream,
        vars: impl IntoIterator<Item = Place>,
    ) -> Emitter {
        Emitter { prim, places: vars.into_iter().map(Some).collect(), bits, next: 0 }
    }

    /// A scalar expression: statements, and the value that they lead to.
    pub fn scalar(&mut self, expr: &Expr) -> (TokenStream, TokenStream) {
        let mut before = TokenStream::new();
        let value = self.value(expr, &At::Scalar, &mut before);
        (before, value.tokens)
    }

    /// Statements that store every component of an expression, converted by `store`.
    pub fn store(
        &mut self,
        expr: &Expr,
        store: &dyn Fn(TokenStream, TokenStream) -> TokenStream,
    ) -> TokenStream {
        let mut out = TokenStream::new();
        self.store_into(expr, store, &mut out);
        out
    }

    fn store_into(
        &mut self,
        expr: &Expr,
        store: &dyn Fn(TokenStream, TokenStream) -> TokenStream,
        out: &mut TokenStream,
    ) {
        match &expr.kind {
            ExprKind::Let { id, name, value, body } => {
                self.bind(*id, name, value, out);
                self.store_into(body, store, out);
            }
            ExprKind::If { condition, then, otherwise } if expr.ty.comps > 1 => {
                let condition = self.value(condition, &At::Scalar, out).tokens;
                let (mut a, mut b) = (TokenStream::new(), TokenStream::new());
                self.store_into(then, store, &mut a);
                self.store_into(otherwise, store, &mut b);
                let b = else_arm(b, matches!(otherwise.kind, ExprKind::If { .. }));
                out.extend(quote!(if #condition { #a } else #b));
            }
            _ if expr.ty.comps == 1 => {
                let value = self.value(expr, &At::Scalar, out).tokens;
                out.extend(store(quote!(0), value));
            }
            _ => self
                .each(expr, out, &mut |index, value, body| body.extend(store(index, value.tokens))),
        }
    }

    /// Statements for every component of a vector: written out if it is put together from scalars, else a loop.
    fn each(
        &mut self,
        expr: &Expr,
        out: &mut TokenStream,
        visit: &mut dyn FnMut(TokenStream, Value, &mut TokenStream),
    ) {
        let comps = usize::from(expr.ty.comps);
        if has_vector(expr) {
            for i in 0..comps {
                let value = self.value(expr, &At::Fixed(i), out);
                let index = Literal::usize_unsuffixed(i);
                visit(quote!(#index), value, out);
            }
            return;
        }
        let i = self.fresh("i");
        let mut body = TokenStream::new();
        let value = self.value(expr, &At::Running(i.clone()), &mut body);
        visit(quote!(#i), value, &mut body);
        let comps = Literal::usize_unsuffixed(comps);
        out.extend(quote!(for #i in 0..#comps { #body }));
    }

    fn fresh(&mut self, stem: &str) -> Ident {
        self.next += 1;
        ident(&format!("{stem}{}", self.next))
    }

    /// `let` of a variable.
    fn bind(&mut self, id: u32, name: &str, value: &Expr, out: &mut TokenStream) {
        let name = ident(&format!("{name}_{id}"));
        let place = if value.ty.comps == 1 {
            let tokens = self.value(value, &At::Scalar, out).tokens;
            let ty = rust_ty(value.ty);
            out.extend(quote!(let #name: #ty = #tokens;));
            Place::Scalar(quote!(#name))
        } else {
            let comps = Literal::usize_unsuffixed(usize::from(value.ty.comps));
            let zero = if value.ty.base == Base::Bool { quote!(false) } else { quote!(0u64) };
            out.extend(quote!(let mut #name = [#zero; #comps];));
            let target = name.clone();
            self.each(value, out, &mut |index, value, body| {
                let tokens = value.tokens;
                body.extend(quote!(#target[#index] = #tokens;));
            });
            if value.ty.base == Base::Bool {
                Place::Bools(quote!(#name))
            } else {
                Place::Words(quote!(#name))
            }
        };
        let slot = id as usize;
        if self.places.len() <= slot {
            self.places.resize(slot + 1, None);
        }
        self.places[slot] = Some(place);
    }

    /// The width of a type, a `u32`.
    fn width(&self, ty: Ty) -> TokenStream {
        match ty.width {
            Width::Bits => self.bits.clone(),
            Width::Fixed(n) => {
                let n = Literal::u8_unsuffixed(n);
                quote!(#n)
            }
        }
    }

    /// The value, bound to a variable if it takes the context or is a block.
    fn settled(&mut self, expr: &Expr, at: &At, out: &mut TokenStream) -> Value {
        let value = self.value(expr, at, out);
        if !value.effects && !value.block {
            return value;
        }
        let name = self.fresh("t");
        let (ty, tokens) = (rust_ty(expr.ty), value.tokens);
        out.extend(quote!(let #name: #ty = #tokens;));
        Value::plain(quote!(#name))
    }

    /// A value in a block of its own: an arm, the right side of `&&`.
    fn block(&mut self, expr: &Expr, at: &At) -> (TokenStream, bool) {
        let mut before = TokenStream::new();
        let value = self.value(expr, at, &mut before);
        let alone = before.is_empty() && !value.block;
        let tokens = value.tokens;
        (quote!(#before #tokens), alone)
    }

    /// One component of an expression; statements that it needs go to `out`.
    fn value(&mut self, expr: &Expr, at: &At, out: &mut TokenStream) -> Value {
        let scalar_bool = expr.ty.base == Base::Bool;
        let prim = self.prim.clone();
        match &expr.kind {
            ExprKind::Int(value) => Value::plain(number(*value)),
            ExprKind::Float(value) => {
                let (w, value) = (self.width(expr.ty), Literal::f64_unsuffixed(*value));
                Value::plain(quote!(#prim::fconst(#w, #value)))
            }
            ExprKind::Bool(value) => Value::plain(quote!(#value)),
            ExprKind::Const(constant) => self.constant(*constant, expr.ty, out),
            ExprKind::Var { id, .. } => self.variable(*id, expr.ty, at),
            ExprKind::Let { id, name, value, body } => {
                self.bind(*id, name, value, out);
                self.value(body, at, out)
            }
            ExprKind::Unary(op, a) => {
                let a = self.settled(a, at, out);
                let (w, tokens) = (self.width(expr.ty), &a.tokens);
                match (op, expr.ty.base) {
                    (UnaryOp::Not, Base::Bool) => {
                        let a = a.operand();
                        Value::plain(quote!(!#a))
                    }
                    (UnaryOp::Not, _) => Value::plain(quote!(#prim::inot(#w, #tokens))),
                    (UnaryOp::Neg, Base::Float) => Value::plain(quote!(#prim::fneg(#w, #tokens))),
                    (UnaryOp::Neg, _) => Value::plain(quote!(#prim::ineg(#w, #tokens))),
                }
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, expr.ty, at, out),
            ExprKind::If { condition, then, otherwise } => {
                let condition = self.value(condition, &At::Scalar, out).tokens;
                let ((a, _), (b, _)) = (self.block(then, at), self.block(otherwise, at));
                let b = else_arm(b, matches!(otherwise.kind, ExprKind::If { .. }));
                Value {
                    tokens: quote!(if #condition { #a } else #b),
                    infix: true,
                    effects: true,
                    block: true,
                }
            }
            ExprKind::Cast(a) => self.cast(a, expr.ty, at, out),
            ExprKind::FloatToInt { value, saturating } => {
                let function = match (expr.ty.base, saturating) {
                    (Base::Int, false) => "f2i",
                    (Base::Int, true) => "f2i_sat",
                    (_, false) => "f2u",
                    (_, true) => "f2u_sat",
                };
                self.convert(function, value, expr.ty, at, out)
            }
            ExprKind::Call(primitive, operands) => self.call(*primitive, operands, at, out),
            ExprKind::Vector(items) => match at {
                At::Fixed(i) if *i < items.len() => self.value(&items[*i], &At::Scalar, out),
                // A vector under a running index is written out by `each`; this is the general form of it.
                At::Fixed(_) | At::Scalar => Value::plain(quote!(0)),
                At::Running(i) => {
                    let items: Vec<TokenStream> = items
                        .iter()
                        .map(|item| self.settled(item, &At::Scalar, out).tokens)
                        .collect();
                    Value::plain(quote!([#(#items),*][#i]))
                }
            },
            ExprKind::Component(a, index) => self.value(a, &At::Fixed(usize::from(*index)), out),
            ExprKind::Splat(a) => self.value(a, &At::Scalar, out),
            ExprKind::Reduce(reduction, a) => self.reduce(*reduction, a, out),
            ExprKind::Choose(a, b) => {
                let (a, b) = (self.settled(a, at, out).tokens, self.settled(b, at, out).tokens);
                let function = if scalar_bool { ident("choose_bool") } else { ident("choose") };
                Value { effects: true, ..Value::plain(quote!(#prim::#function(cx, #a, #b))) }
            }
            ExprKind::Any | ExprKind::Poison => {
                let function =
                    if expr.kind == ExprKind::Any { ident("any") } else { ident("poison") };
                let compare = scalar_bool.then(|| quote!(!= 0));
                Value {
                    effects: true,
                    infix: scalar_bool,
                    ..Value::plain(quote!(#prim::#function(cx) #compare))
                }
            }
        }
    }

    fn constant(&mut self, constant: Const, ty: Ty, out: &mut TokenStream) -> Value {
        let (prim, w) = (self.prim.clone(), self.width(ty));
        let ones = |bits: u8| if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
        match (constant, ty.width) {
            (Const::Bits, _) => {
                let bits = &self.bits;
                Value::plain(quote!(u64::from(#bits)))
            }
            (Const::IntMin, Width::Fixed(n)) => Value::plain(number(1 << (n - 1))),
            (Const::IntMax, Width::Fixed(n)) => Value::plain(number(ones(n - 1))),
            (Const::UintMax, Width::Fixed(n)) => Value::plain(number(ones(n))),
            (Const::IntMin, Width::Bits) => {
                Value { infix: true, ..Value::plain(quote!(1u64 << (#w - 1))) }
            }
            (Const::IntMax, Width::Bits) => {
                Value { infix: true, ..Value::plain(quote!(#prim::trunc(#w, u64::MAX) >> 1)) }
            }
            (Const::UintMax, Width::Bits) => Value::plain(quote!(#prim::trunc(#w, u64::MAX))),
            (Const::Inf, _) => Value::plain(quote!(#prim::inf(#w))),
            (Const::Nan, _) => {
                // A NaN that an expression gives is like one that arithmetic gives: its payload is free.
                out.extend(quote!(cx.nan = true;));
                Value::plain(quote!(#prim::nan(#w)))
            }
        }
    }

    fn variable(&self, id: u32, ty: Ty, at: &At) -> Value {
        let index = match at {
            At::Scalar => None,
            At::Fixed(i) => {
                let i = Literal::usize_unsuffixed(*i);
                Some(quote!([#i]))
            }
            At::Running(i) => Some(quote!([#i])),
        };
        match self.places.get(id as usize).and_then(Option::as_ref) {
            Some(Place::Scalar(tokens)) => Value::plain(tokens.clone()),
            Some(Place::Bools(tokens)) => Value::plain(quote!(#tokens #index)),
            Some(Place::Words(tokens)) if ty.base == Base::Bool => {
                Value { infix: true, ..Value::plain(quote!(#tokens #index != 0)) }
            }
            Some(Place::Words(tokens)) => Value::plain(quote!(#tokens #index)),
            // A tree with a variable that nothing binds doesn't come from the parser.
            None => Value::plain(quote!(0)),
        }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: &Expr,
        b: &Expr,
        ty: Ty,
        at: &At,
        out: &mut TokenStream,
    ) -> Value {
        let operand = a.ty;
        if matches!(op, BinaryOp::AndAlso | BinaryOp::OrElse) {
            let left = self.settled(a, at, out).operand();
            let (right, alone) = self.block(b, at);
            let right = if alone { quote!((#right)) } else { quote!({ #right }) };
            let tokens = if op == BinaryOp::AndAlso {
                quote!(#left && #right)
            } else {
                quote!(#left || #right)
            };
            return Value { tokens, infix: true, effects: true, block: false };
        }
        let (left, right) = (self.settled(a, at, out), self.settled(b, at, out));
        let (prim, w) = (self.prim.clone(), self.width(operand));
        let infix = |op: TokenStream| {
            let (left, right) = (left.operand(), right.operand());
            Value { infix: true, ..Value::plain(quote!(#left #op #right)) }
        };
        let pure = |name: &str, swap: bool| {
            let name = ident(name);
            let (left, right) =
                if swap { (&right.tokens, &left.tokens) } else { (&left.tokens, &right.tokens) };
            Value::plain(quote!(#prim::#name(#w, #left, #right)))
        };
        let env = |name: &str, swap: bool| {
            let name = ident(name);
            let (left, right) =
                if swap { (&right.tokens, &left.tokens) } else { (&left.tokens, &right.tokens) };
            Value { effects: true, ..Value::plain(quote!(#prim::#name(cx, #w, #left, #right))) }
        };
        let not = |value: Value| {
            let tokens = value.tokens;
            Value { effects: true, ..Value::plain(quote!(!#tokens)) }
        };
        match (op, ty.base) {
            (BinaryOp::And, _) => return infix(quote!(&)),
            (BinaryOp::Or, _) => return infix(quote!(|)),
            (BinaryOp::Xor, _) => return infix(quote!(^)),
            _ => {}
        }
        match (op, operand.base) {
            (BinaryOp::Add, Base::Float) => env("fadd", false),
            (BinaryOp::Sub, Base::Float) => env("fsub", false),
            (BinaryOp::Mul, Base::Float) => env("fmul", false),
            (BinaryOp::Div, Base::Float) => env("fdiv", false),
            (BinaryOp::Eq, Base::Float) => env("feq", false),
            (BinaryOp::Ne, Base::Float) => not(env("feq", false)),
            (BinaryOp::Lt, Base::Float) => env("flt", false),
            (BinaryOp::Le, Base::Float) => env("fle", false),
            (BinaryOp::Gt, Base::Float) => env("flt", true),
            (BinaryOp::Ge, Base::Float) => env("fle", true),
            (BinaryOp::Eq, _) => infix(quote!(==)),
            (BinaryOp::Ne, _) => infix(quote!(!=)),
            (BinaryOp::Lt, Base::Int) => pure("ilt", false),
            (BinaryOp::Le, Base::Int) => pure("ile", false),
            (BinaryOp::Gt, Base::Int) => pure("ilt", true),
            (BinaryOp::Ge, Base::Int) => pure("ile", true),
            (BinaryOp::Lt, _) => infix(quote!(<)),
            (BinaryOp::Le, _) => infix(quote!(<=)),
            (BinaryOp::Gt, _) => infix(quote!(>)),
            (BinaryOp::Ge, _) => infix(quote!(>=)),
            (BinaryOp::Add, _) => pure("iadd", false),
            (BinaryOp::Sub, _) => pure("isub", false),
            (BinaryOp::Mul, _) => pure("imul", false),
            (BinaryOp::Div, Base::Int) => pure("idiv", false),
            (BinaryOp::Div, _) => pure("udiv", false),
            (BinaryOp::Rem, Base::Int) => pure("irem", false),
            (BinaryOp::Rem, _) => pure("urem", false),
            (BinaryOp::Shl, _) => pure("shl", false),
            (BinaryOp::Shr, Base::Int) => pure("ishr", false),
            (BinaryOp::Shr, _) => pure("ushr", false),
            // Handled above.
            (
                BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::AndAlso | BinaryOp::OrElse,
                _,
            ) => left,
        }
    }

    fn convert(
        &mut self,
        function: &str,
        a: &Expr,
        to: Ty,
        at: &At,
        out: &mut TokenStream,
    ) -> Value {
        let value = self.settled(a, at, out).tokens;
        let (prim, from, to, function) =
            (self.prim.clone(), self.width(a.ty), self.width(to), ident(function));
        Value { effects: true, ..Value::plain(quote!(#prim::#function(cx, #from, #to, #value))) }
    }

    fn cast(&mut self, a: &Expr, to: Ty, at: &At, out: &mut TokenStream) -> Value {
        let from = a.ty;
        match (from.base, to.base) {
            (Base::Float, Base::Float) => return self.convert("f2f", a, to, at, out),
            (Base::Int, Base::Float) => return self.convert("i2f", a, to, at, out),
            (Base::Uint, Base::Float) => return self.convert("u2f", a, to, at, out),
            _ => {}
        }
        let value = self.settled(a, at, out);
        let (prim, w_from, w_to, tokens) =
            (self.prim.clone(), self.width(from), self.width(to), &value.tokens);
        match (from.base, to.base) {
            (Base::Bool, Base::Float) => Value::plain(quote!(#prim::bool_to_float(#w_to, #tokens))),
            (Base::Bool, Base::Bool) => value,
            (Base::Bool, _) => Value::plain(quote!(u64::from(#tokens))),
            _ if from.width == to.width => value,
            // Both widths known: a narrower destination truncates, a wider one extends.
            (base, _) => match (from.width, to.width, base) {
                (Width::Fixed(a), Width::Fixed(b), _) if b < a => {
                    Value::plain(quote!(#prim::trunc(#w_to, #tokens)))
                }
                (Width::Fixed(_), Width::Fixed(_), Base::Uint) => value,
                (_, _, Base::Int) => {
                    Value::plain(quote!(#prim::trunc(#w_to, #prim::sext(#w_from, #tokens))))
                }
                _ => Value::plain(quote!(#prim::trunc(#w_to, #tokens))),
            },
        }
    }

    fn call(
        &mut self,
        primitive: Prim,
        operands: &[Expr],
        at: &At,
        out: &mut TokenStream,
    ) -> Value {
        let values: Vec<TokenStream> =
            operands.iter().map(|o| self.settled(o, at, out).tokens).collect();
        let info = primitive.info();
        let first = operands.first().map_or(Ty::U32, |o| o.ty);
        let name = match first.base {
            Base::Uint => info.rust_uint,
            Base::Float => info.rust_float,
            Base::Int | Base::Bool => info.rust,
        };
        let (prim, w) = (self.prim.clone(), self.width(first));
        match info.convention {
            Convention::Identity => Value::plain(quote!(#(#values)*)),
            Convention::Pure => {
                let name = ident(name);
                Value::plain(quote!(#prim::#name(#w, #(#values),*)))
            }
            Convention::Env => {
                let name = ident(name);
                Value { effects: true, ..Value::plain(quote!(#prim::#name(cx, #w, #(#values),*))) }
            }
        }
    }

    fn reduce(&mut self, reduction: Reduction, a: &Expr, out: &mut TokenStream) -> Value {
        let total = self.fresh("t");
        let (prim, w, base) = (self.prim.clone(), self.width(a.ty), a.ty.base);
        match reduction {
            Reduction::All | Reduction::Some => {
                let (start, op) = if reduction == Reduction::All {
                    (true, quote!(&=))
                } else {
                    (false, quote!(|=))
                };
                out.extend(quote!(let mut #total = #start;));
                let target = total.clone();
                self.each(a, out, &mut |_, value, body| {
                    let tokens = value.tokens;
                    body.extend(quote!(#target #op #tokens;));
                });
            }
            Reduction::Sum => {
                // From left to right, starting with the first component: 0 + x isn't x for x = -0.
                let first = self.value(a, &At::Fixed(0), out).tokens;
                out.extend(quote!(let mut #total: u64 = #first;));
                for i in 1..usize::from(a.ty.comps) {
                    let next = self.settled(a, &At::Fixed(i), out).tokens;
                    out.extend(match base {
                        Base::Float => quote!(#total = #prim::fadd(cx, #w, #total, #next);),
                        _ => quote!(#total = #prim::iadd(#w, #total, #next);),
                    });
                }
            }
        }
        Value::plain(quote!(#total))
    }
}

/// What stands behind `else`: a block, or the next `if` where nothing has to be computed before it.
fn else_arm(arm: TokenStream, is_if: bool) -> TokenStream {
    let leads =
        matches!(arm.clone().into_iter().next(), Some(TokenTree::Ident(word)) if word == "if");
    if is_if && leads { arm } else { quote!({ #arm }) }
}

/// The type of a scalar in generated code.
fn rust_ty(ty: Ty) -> TokenStream {
    if ty.base == Base::Bool { quote!(bool) } else { quote!(u64) }
}

fn number(value: u64) -> TokenStream {
    if value < 10 {
        let value = Literal::u64_unsuffixed(value);
        return quote!(#value);
    }
    // Written in hexadecimal: it is a bit pattern.
    let literal: Literal =
        format!("{value:#x}").parse().unwrap_or_else(|_| Literal::u64_unsuffixed(value));
    quote!(#literal)
}

/// Whether a vector is put together from scalars somewhere in the tree.
fn has_vector(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Vector(_)));
    found
}
