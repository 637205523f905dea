//! From the untyped tree to the typed one.
//!
//! The first pass gives every node a class of base types and a class of widths, joined by union-find as operators
//! demand (Hindley–Milner without let-polymorphism); component counts are known from the leaves up. The second pass
//! reads the classes and builds the tree.

use std::ops::Range;

use super::prim::Prim;
use super::source::SourceText;
use super::syntax::{Ast, AstKind, Binding, Name};
use super::tree::{BinaryOp, Const, Expr, Reduction, UnaryOp};
use super::ty::{Base, Ty, Width};
use super::{E_AMBIGUOUS, E_ARITY, E_CAST, E_COMPONENTS, E_NAME, E_SYNTAX, E_TYPE, Scope};
use crate::diagnostics::{Code, Diagnostic};

/// Sets of base types.
const BOOL: u8 = 1 << Base::Bool as u8;
const INT: u8 = 1 << Base::Int as u8;
const UINT: u8 = 1 << Base::Uint as u8;
const FLOAT: u8 = 1 << Base::Float as u8;
const INTEGER: u8 = INT | UINT;
const NUMBER: u8 = INTEGER | FLOAT;
const ALL: u8 = BOOL | NUMBER;

/// A type under inference. `comps` 0 means that an error was reported already.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tv {
    base: usize,
    width: usize,
    pub(super) comps: u8,
}

/// What the first pass found out about a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Resolved {
    /// Nothing but its type.
    Plain,
    Var(u32),
    Const(Const),
    Prim(Prim),
    FloatToInt {
        saturating: bool,
    },
    Reduce(Reduction),
    Choose,
    Any,
    Poison,
}

pub(super) struct Infer<'a> {
    pub(super) source: &'a SourceText,
    pub(super) sizes: &'a [u8],
    /// Union-find: parent, and at the root the set of bases.
    bases: Vec<(usize, u8)>,
    /// Union-find: parent, and at the root the width if known.
    widths: Vec<(usize, Option<Width>)>,
    pub(super) nodes: Vec<(Tv, Resolved)>,
    /// Name, type, number: innermost last.
    scope: Vec<(String, Tv, u32)>,
    /// The next `let`'s number.
    pub(super) next_var: u32,
    /// The next number for a `let` that the text doesn't have.
    pub(super) extra_var: u32,
    /// Literal shift counts: `u32` unless something says otherwise.
    counts: Vec<Tv>,
    /// Integers of width `BITS` unless something says otherwise: `INT_MIN` and its like.
    open: Vec<Tv>,
    /// Operand and target of casts, looked at when everything else is known.
    casts: Vec<(Tv, Tv, Range<usize>)>,
    pub(super) errors: Vec<Diagnostic>,
}

/// Types `ast`, which has `nodes` nodes.
pub(super) fn infer(
    source: &SourceText,
    scope: &Scope<'_>,
    ast: &Ast,
    nodes: usize,
    expected: Option<Ty>,
) -> Result<Expr, Vec<Diagnostic>> {
    let mut infer = Infer {
        source,
        sizes: scope.sizes,
        bases: Vec::new(),
        widths: Vec::new(),
        nodes: vec![(Tv { base: 0, width: 0, comps: 0 }, Resolved::Plain); nodes],
        scope: Vec::new(),
        next_var: 0,
        extra_var: 0,
        counts: Vec::new(),
        open: Vec::new(),
        casts: Vec::new(),
        errors: Vec::new(),
    };
    for (name, ty) in scope.vars {
        let tv = infer.known(*ty);
        infer.declare(name, tv);
    }
    let tv = infer.visit(ast);
    let mut comps = tv.comps;
    if let Some(expected) = expected {
        let want = infer.known(expected);
        if !infer.unify(tv, want) {
            let message = format!("this is `{}`, but the result is `{expected}`", infer.show(tv));
            infer.error(E_TYPE, &ast.span, message);
        } else if tv.comps != expected.comps && tv.comps > 1 {
            let message =
                format!("this has {} components, but the result has {}", tv.comps, expected.comps);
            infer.error(E_COMPONENTS, &ast.span, message);
        }
        comps = expected.comps;
    }
    infer.defaults();
    if infer.errors.is_empty() {
        // The variables of the scope keep their numbers; `let`s are numbered again in the same order.
        infer.extra_var = infer.next_var;
        infer.next_var = scope.vars.len() as u32;
        let expr = infer.build(ast, comps);
        if infer.errors.is_empty() {
            return Ok(expr);
        }
    }
    Err(infer.errors)
}

impl Infer<'_> {
    fn error(&mut self, code: Code, span: &Range<usize>, message: impl Into<String>) {
        let diagnostic = self.source.error(code, span.clone(), message);
        self.errors.push(diagnostic);
    }

    fn fresh(&mut self, bases: u8, width: Option<Width>, comps: u8) -> Tv {
        let width =
            if bases == BOOL { Some(Width::Fixed(1)) } else { width.map(|w| self.normal(w)) };
        self.bases.push((self.bases.len(), bases));
        self.widths.push((self.widths.len(), width));
        Tv { base: self.bases.len() - 1, width: self.widths.len() - 1, comps }
    }

    /// With one admissible size `BITS` is that size.
    fn normal(&self, width: Width) -> Width {
        match (width, self.sizes) {
            (Width::Bits, [only]) => Width::Fixed(*only),
            _ => width,
        }
    }

    fn known(&mut self, ty: Ty) -> Tv {
        self.fresh(1 << ty.base as u8, Some(ty.width), ty.comps)
    }

    fn base(&mut self, tv: Tv) -> u8 {
        let root = root(&mut self.bases, tv.base);
        self.bases[root].1
    }

    fn width(&mut self, tv: Tv) -> Option<Width> {
        let root = root(&mut self.widths, tv.width);
        self.widths[root].1
    }

    /// Joins element types; components are not looked at. False if they contradict each other.
    fn unify(&mut self, a: Tv, b: Tv) -> bool {
        let (base_a, base_b) = (root(&mut self.bases, a.base), root(&mut self.bases, b.base));
        let both = self.bases[base_a].1 & self.bases[base_b].1;
        let (width_a, width_b) = (root(&mut self.widths, a.width), root(&mut self.widths, b.width));
        let width = match (self.widths[width_a].1, self.widths[width_b].1) {
            (Some(a), Some(b)) if a != b => return false,
            (a, b) => a.or(b),
        };
        if both == 0 || (both == BOOL && width.is_some_and(|w| w != Width::Fixed(1))) {
            return false;
        }
        self.bases[base_b].0 = base_a;
        self.bases[base_a].1 = both;
        self.widths[width_b].0 = width_a;
        self.widths[width_a].1 = if both == BOOL { Some(Width::Fixed(1)) } else { width };
        true
    }

    /// Restricts the bases of a type.
    fn restrict(&mut self, tv: Tv, bases: u8) -> bool {
        let root = root(&mut self.bases, tv.base);
        let both = self.bases[root].1 & bases;
        if both != 0 {
            self.bases[root].1 = both;
        }
        both != 0
    }

    /// The type as far as it is known.
    fn show(&mut self, tv: Tv) -> String {
        let base = match self.base(tv) {
            BOOL => Base::Bool,
            INT => Base::Int,
            UINT => Base::Uint,
            FLOAT => match self.width(tv) {
                None => return "{float}".into(),
                Some(_) => Base::Float,
            },
            INTEGER => return "{integer}".into(),
            NUMBER => return "{number}".into(),
            _ => return "{any type}".into(),
        };
        match self.width(tv) {
            None => "{integer}".into(),
            Some(width) => Ty::scalar(base, width).with_comps(tv.comps.max(1)).to_string(),
        }
    }

    fn declare(&mut self, name: &str, tv: Tv) -> u32 {
        let id = self.next_var;
        self.next_var += 1;
        self.scope.push((name.to_owned(), tv, id));
        id
    }

    /// The common component count of operands of an operator at `span`.
    fn join_comps(&mut self, a: u8, b: u8, span: &Range<usize>) -> u8 {
        match (a, b) {
            (0, _) | (_, 0) => 0,
            (1, n) | (n, 1) => n,
            (a, b) if a == b => a,
            (a, b) => {
                self.error(E_COMPONENTS, span, format!("vectors of {a} and of {b} components"));
                0
            }
        }
    }

    fn visit(&mut self, ast: &Ast) -> Tv {
        let (tv, resolved) = self.type_of(ast);
        self.nodes[ast.id] = (tv, resolved);
        tv
    }

    fn type_of(&mut self, ast: &Ast) -> (Tv, Resolved) {
        let tv = match &ast.kind {
            AstKind::Int { suffix: None, .. } => self.fresh(INTEGER, None, 1),
            AstKind::Float { suffix: None, .. } => self.fresh(FLOAT, None, 1),
            AstKind::Int { suffix: Some(name), .. } => self.suffix(name, INTEGER),
            AstKind::Float { suffix: Some(name), .. } => self.suffix(name, FLOAT),
            AstKind::Bool(_) => self.known(Ty::BOOL),
            AstKind::Name(name) => return self.name(name, &ast.span),
            AstKind::Call(name, operands) => return self.call(name, operands, &ast.span),
            AstKind::Unary(op, operand) => {
                let tv = self.visit(operand);
                let bases = if *op == UnaryOp::Neg { NUMBER } else { INTEGER | BOOL };
                self.operand(tv, bases, &operand.span, if *op == UnaryOp::Neg { "-" } else { "!" });
                tv
            }
            AstKind::Binary(op, a, b) => self.binary(*op, a, b, &ast.span),
            AstKind::If(condition, then, otherwise) => self.conditional(condition, then, otherwise),
            AstKind::Block(bindings, body) => return (self.block(bindings, body), Resolved::Plain),
            AstKind::Cast(operand, name) => self.cast(operand, name, &ast.span),
            AstKind::Array(items) => self.array(items, &ast.span),
            AstKind::Field(operand, name) => self.field(operand, name),
            AstKind::Index(operand, index) => {
                let tv = self.visit(operand);
                self.component(tv, usize::from(*index), &ast.span);
                Tv { comps: tv.comps.min(1), ..tv }
            }
        };
        (tv, Resolved::Plain)
    }

    /// Whether an operand's base is among `bases`; reports it otherwise.
    fn operand(&mut self, tv: Tv, bases: u8, span: &Range<usize>, what: &str) {
        if !self.restrict(tv, bases) {
            let message = format!("`{what}` doesn't work on `{}`", self.show(tv));
            self.error(E_TYPE, span, message);
        }
    }

    fn suffix(&mut self, name: &Name, bases: u8) -> Tv {
        match Ty::by_name(&name.text) {
            Some(ty) if (1 << ty.base as u8) & bases != 0 => self.known(ty),
            _ => {
                self.error(
                    E_SYNTAX,
                    &name.span,
                    format!("no literal has the suffix `{}`", name.text),
                );
                self.fresh(bases, None, 0)
            }
        }
    }

    fn name(&mut self, name: &str, span: &Range<usize>) -> (Tv, Resolved) {
        if let Some((_, tv, id)) = self.scope.iter().rev().find(|(n, _, _)| n == name) {
            return (*tv, Resolved::Var(*id));
        }
        if let Some((_, constant)) = Const::ALL.iter().find(|(n, _)| *n == name) {
            let tv = match constant {
                Const::Bits => self.known(Ty::U32),
                Const::IntMin | Const::IntMax => self.fresh(INT, None, 1),
                Const::UintMax => self.fresh(UINT, None, 1),
                Const::Nan | Const::Inf => self.fresh(FLOAT, None, 1),
            };
            self.open.push(tv);
            return (tv, Resolved::Const(*constant));
        }
        let mut diagnostic =
            self.source.error(E_NAME, span.clone(), format!("`{name}` is unknown"));
        if Prim::by_name(name).is_some() {
            diagnostic = diagnostic.help(format!("`{name}` is a primitive: call it, `{name}(…)`"));
        } else {
            let names = self.scope.iter().map(|(n, _, _)| n.as_str());
            diagnostic = diagnostic.suggest(name, names.chain(Const::ALL.iter().map(|(n, _)| *n)));
        }
        self.errors.push(diagnostic);
        (self.fresh(ALL, None, 0), Resolved::Plain)
    }

    /// Reports a wrong number of operands; the operands are visited all the same.
    fn arity(&mut self, name: &str, want: usize, got: usize, span: &Range<usize>) -> bool {
        if want != got {
            let s = if want == 1 { "" } else { "s" };
            self.error(E_ARITY, span, format!("`{name}` takes {want} operand{s}, not {got}"));
        }
        want == got
    }

    fn call(&mut self, name: &Name, operands: &[Ast], span: &Range<usize>) -> (Tv, Resolved) {
        let types: Vec<Tv> = operands.iter().map(|operand| self.visit(operand)).collect();
        let text = name.text.as_str();
        if let Some(prim) = Prim::by_name(text) {
            if !self.arity(text, prim.arity(), types.len(), span) {
                return (self.fresh(ALL, None, 0), Resolved::Plain);
            }
            return (self.primitive(prim, operands, &types, span), Resolved::Prim(prim));
        }
        if let Some((_, reduction)) = Reduction::ALL.iter().find(|(n, _)| *n == text) {
            if !self.arity(text, 1, types.len(), span) {
                return (self.fresh(ALL, None, 0), Resolved::Plain);
            }
            let bases = if *reduction == Reduction::Sum { NUMBER } else { BOOL };
            self.operand(types[0], bases, &operands[0].span, text);
            if types[0].comps == 1 {
                self.error(
                    E_COMPONENTS,
                    &operands[0].span,
                    format!("`{text}` reduces a vector, and this is a scalar"),
                );
            }
            return (Tv { comps: 1, ..types[0] }, Resolved::Reduce(*reduction));
        }
        match text {
            "any" | "poison" => {
                let ok = self.arity(text, 0, types.len(), span);
                let resolved = if text == "any" { Resolved::Any } else { Resolved::Poison };
                return (self.fresh(ALL, None, u8::from(ok)), resolved);
            }
            "choose" => {
                if !self.arity(text, 2, types.len(), span) {
                    return (self.fresh(ALL, None, 0), Resolved::Plain);
                }
                return (
                    self.same_pair(types[0], types[1], &operands[0], &operands[1], span),
                    Resolved::Choose,
                );
            }
            _ => {}
        }
        let (target, saturating) = match text.strip_suffix("_sat") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        if let Some(ty) =
            target.strip_prefix("to_").and_then(Ty::by_name).filter(|ty| ty.base.is_integer())
        {
            if self.arity(text, 1, types.len(), span) {
                self.operand(types[0], FLOAT, &operands[0].span, text);
            }
            let comps = types.first().map_or(0, |tv| tv.comps);
            let tv = self.known(ty.with_comps(comps));
            return (tv, Resolved::FloatToInt { saturating });
        }
        let names =
            Prim::ALL.iter().map(|p| p.info().name).chain(Reduction::ALL.iter().map(|(n, _)| *n));
        let names = names.chain(["any", "poison", "choose", "to_i32", "to_u32"]);
        let diagnostic =
            self.source.error(E_NAME, name.span.clone(), format!("no primitive `{text}`"));
        self.errors.push(diagnostic.suggest(text, names));
        (self.fresh(ALL, None, 0), Resolved::Plain)
    }

    /// Types a call by the letters of the primitive's signature.
    fn primitive(&mut self, prim: Prim, operands: &[Ast], types: &[Tv], span: &Range<usize>) -> Tv {
        // What the letters stand for: F, U and S share the width with I and N but not the base.
        let shared = self.fresh(ALL, None, 1);
        let mut comps = 1;
        let mut words = prim.info().sig.split(' ');
        for (operand, tv) in operands.iter().zip(types) {
            let want = self.letter(words.next().unwrap_or(""), shared);
            if !self.unify(*tv, want) {
                let message = format!(
                    "operand of `{prim}` is `{}`, not {}",
                    self.show(*tv),
                    self.describe(want)
                );
                self.error(E_TYPE, &operand.span, message);
            }
            comps = self.join_comps(comps, tv.comps, span);
        }
        let result = words.nth(1).unwrap_or("");
        let tv = self.letter(result, shared);
        Tv { comps, ..tv }
    }

    fn letter(&mut self, word: &str, shared: Tv) -> Tv {
        let bases = match word {
            "F" => FLOAT,
            "U" => UINT,
            "S" => INT,
            "I" => INTEGER,
            "N" => NUMBER,
            // The table's own test parses every signature; an unknown word would be seen there.
            name => return self.known(Ty::by_name(name).unwrap_or(Ty::BOOL)),
        };
        let own = self.fresh(bases, None, 1);
        if bases == INTEGER || bases == NUMBER {
            self.restrict(shared, bases);
            return Tv { base: shared.base, width: shared.width, comps: 1 };
        }
        Tv { base: own.base, width: shared.width, comps: 1 }
    }

    /// A wanted type in words.
    fn describe(&mut self, tv: Tv) -> String {
        let class = match self.base(tv) {
            INTEGER => "an integer",
            NUMBER => "a number",
            FLOAT if self.width(tv).is_none() => "a float",
            UINT if self.width(tv).is_none() => "an unsigned integer",
            INT if self.width(tv).is_none() => "a signed integer",
            _ => return format!("`{}`", self.show(tv)),
        };
        class.to_owned()
    }

    fn binary(&mut self, op: BinaryOp, a: &Ast, b: &Ast, span: &Range<usize>) -> Tv {
        let (left, right) = (self.visit(a), self.visit(b));
        let bases = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => NUMBER,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => NUMBER,
            BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => INTEGER,
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => INTEGER | BOOL,
            BinaryOp::Eq | BinaryOp::Ne => ALL,
            BinaryOp::AndAlso | BinaryOp::OrElse => BOOL,
        };
        if op.is_shift() {
            self.operand(left, bases, &a.span, op.symbol());
            self.operand(right, INTEGER, &b.span, op.symbol());
            self.counts.push(right);
            let comps = self.join_comps(left.comps, right.comps, span);
            return Tv { comps, ..left };
        }
        let before = self.errors.len();
        let tv = self.same_pair(left, right, a, b, span);
        if self.errors.len() == before {
            self.operand(tv, bases, span, op.symbol());
        }
        if op.is_compare() {
            return self.known(Ty::BOOL.with_comps(tv.comps));
        }
        tv
    }

    /// Two operands of one type.
    fn same_pair(&mut self, left: Tv, right: Tv, a: &Ast, b: &Ast, span: &Range<usize>) -> Tv {
        if !self.unify(left, right) {
            let (shown_left, shown_right) = (self.show(left), self.show(right));
            let message = format!("`{shown_left}` and `{shown_right}` are different types");
            let diagnostic = self
                .source
                .error(E_TYPE, span.clone(), message)
                .label(self.source.span(a.span.clone()), format!("this is `{shown_left}`"))
                .label(self.source.span(b.span.clone()), format!("this is `{shown_right}`"));
            self.errors.push(diagnostic);
        }
        let comps = self.join_comps(left.comps, right.comps, span);
        Tv { comps, ..left }
    }

    fn conditional(&mut self, condition: &Ast, then: &Ast, otherwise: &Ast) -> Tv {
        let tv = self.visit(condition);
        if !self.restrict(tv, BOOL) {
            let message = format!("a condition is `bool`, and this is `{}`", self.show(tv));
            self.error(E_TYPE, &condition.span, message);
        } else if tv.comps > 1 {
            self.error(
                E_COMPONENTS,
                &condition.span,
                "a condition is a scalar: reduce it with `all` or `some`",
            );
        }
        let (left, right) = (self.visit(then), self.visit(otherwise));
        self.same_pair(left, right, then, otherwise, &(then.span.start..otherwise.span.end))
    }

    fn block(&mut self, bindings: &[Binding], body: &Ast) -> Tv {
        let outer = self.scope.len();
        for binding in bindings {
            let tv = self.visit(&binding.value);
            if let Some(name) = &binding.ty {
                match Ty::by_name(&name.text) {
                    Some(ty) => {
                        let want = self.known(ty);
                        if !self.unify(tv, want) {
                            let message = format!("this is `{}`, not `{ty}`", self.show(tv));
                            self.error(E_TYPE, &binding.value.span, message);
                        }
                    }
                    None => self.unknown_type(name),
                }
            }
            self.declare(&binding.name.text, tv);
        }
        let tv = self.visit(body);
        self.scope.truncate(outer);
        tv
    }

    fn unknown_type(&mut self, name: &Name) {
        let names =
            ["bool", "int", "uint", "float", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
        let names = names.into_iter().chain(["f16", "f32", "f64", "i1", "u1"]);
        let diagnostic =
            self.source.error(E_NAME, name.span.clone(), format!("no type `{}`", name.text));
        self.errors.push(diagnostic.suggest(&name.text, names));
    }

    fn cast(&mut self, operand: &Ast, name: &Name, span: &Range<usize>) -> Tv {
        let tv = self.visit(operand);
        match Ty::by_name(&name.text) {
            Some(ty) => {
                let target = self.known(ty.with_comps(tv.comps));
                self.casts.push((tv, target, span.clone()));
                target
            }
            None => {
                self.unknown_type(name);
                self.fresh(ALL, None, 0)
            }
        }
    }

    fn array(&mut self, items: &[Ast], span: &Range<usize>) -> Tv {
        let types: Vec<Tv> = items.iter().map(|item| self.visit(item)).collect();
        if !(2..=16).contains(&items.len()) {
            self.error(
                E_COMPONENTS,
                span,
                format!("a vector has 2 to 16 components, not {}", items.len()),
            );
            return self.fresh(ALL, None, 0);
        }
        for (item, tv) in items.iter().zip(&types) {
            if tv.comps > 1 {
                self.error(
                    E_COMPONENTS,
                    &item.span,
                    "a component is a scalar, and this is a vector",
                );
            }
        }
        for index in 1..items.len() {
            if !self.unify(types[0], types[index]) {
                let (first, other) = (self.show(types[0]), self.show(types[index]));
                let diagnostic = self
                    .source
                    .error(
                        E_TYPE,
                        items[index].span.clone(),
                        format!("`{other}` in a vector of `{first}`"),
                    )
                    .label(self.source.span(items[0].span.clone()), format!("this is `{first}`"));
                self.errors.push(diagnostic);
            }
        }
        Tv { comps: items.len() as u8, ..types[0] }
    }

    fn component(&mut self, tv: Tv, index: usize, span: &Range<usize>) {
        match tv.comps {
            0 => {}
            1 => self.error(E_COMPONENTS, span, "a scalar has no components"),
            n if index >= usize::from(n) => {
                self.error(E_COMPONENTS, span, format!("component {index} of a vector of {n}"));
            }
            _ => {}
        }
    }

    fn field(&mut self, operand: &Ast, name: &Name) -> Tv {
        let tv = self.visit(operand);
        match swizzle(&name.text) {
            Some(indices) => {
                if let Some(worst) = indices.iter().max() {
                    self.component(tv, usize::from(*worst), &name.span);
                }
                let comps = if tv.comps == 0 { 0 } else { indices.len() as u8 };
                Tv { comps, ..tv }
            }
            None => {
                let message = format!("`.{}` is not made of x, y, z, w", name.text);
                self.error(E_COMPONENTS, &name.span, message);
                Tv { comps: 0, ..tv }
            }
        }
    }

    /// What is still open gets the type that the language documents, and casts are checked.
    fn defaults(&mut self) {
        for tv in std::mem::take(&mut self.open) {
            if self.width(tv).is_none() {
                let root = root(&mut self.widths, tv.width);
                self.widths[root].1 = Some(self.normal(Width::Bits));
            }
        }
        for (tv, target, span) in std::mem::take(&mut self.casts) {
            let (from, to) = (self.base(tv), self.base(target));
            // A literal under a cast is of the target's type, if it can be.
            if (self.width(tv).is_none() || from.count_ones() > 1) && self.unify(tv, target) {
                continue;
            }
            let allowed = match to {
                BOOL => BOOL,
                FLOAT => ALL,
                _ => INTEGER | BOOL,
            };
            if from & allowed == 0 {
                let (from, to) = (self.show(tv), self.show(target));
                let help = match (from.starts_with(['f', '{']), to.as_str()) {
                    (_, "bool") => "compare with 0".to_owned(),
                    (true, to) => {
                        format!("say what happens out of range: `to_{to}(x)` or `to_{to}_sat(x)`")
                    }
                    _ => "`bits` and `from_bits` reinterpret".to_owned(),
                };
                let diagnostic = self.source.error(
                    E_CAST,
                    span,
                    format!("no conversion from `{from}` to `{to}`"),
                );
                self.errors.push(diagnostic.help(help));
            }
        }
        for tv in std::mem::take(&mut self.counts) {
            if self.base(tv) == INTEGER && self.width(tv).is_none() {
                let u32 = self.known(Ty::U32);
                self.unify(tv, u32);
            }
        }
    }

    /// The type of a node, which inference has settled.
    pub(super) fn settled(&mut self, tv: Tv, span: &Range<usize>) -> Ty {
        let bases = self.base(tv);
        let base = match bases {
            BOOL => Some(Base::Bool),
            INT => Some(Base::Int),
            UINT => Some(Base::Uint),
            FLOAT => Some(Base::Float),
            _ => None,
        };
        match (base, self.width(tv)) {
            (Some(Base::Bool), _) => Ty::BOOL.with_comps(tv.comps),
            (Some(base), Some(width)) => Ty::scalar(base, width).with_comps(tv.comps),
            _ => {
                if self.errors.is_empty() {
                    let message = format!("nothing says what type this `{}` is", self.show(tv));
                    let help = "give a literal a suffix, as in `1u32`, or a `let` a type";
                    self.errors
                        .push(self.source.error(E_AMBIGUOUS, span.clone(), message).help(help));
                }
                Ty::U32.with_comps(tv.comps)
            }
        }
    }
}

/// Component numbers of `.x`, `.wzyx` and the like.
pub(super) fn swizzle(text: &str) -> Option<Vec<u8>> {
    let index = |c| "xyzw".find(c).map(|i| i as u8);
    text.chars()
        .map(index)
        .collect::<Option<Vec<u8>>>()
        .filter(|list| (1..=4).contains(&list.len()))
}

/// The root of a union-find class, halving the path on the way.
fn root<T: Copy>(classes: &mut [(usize, T)], mut index: usize) -> usize {
    while classes[index].0 != index {
        let above = classes[classes[index].0].0;
        classes[index].0 = above;
        index = above;
    }
    index
}
