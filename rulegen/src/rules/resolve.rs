//! From a stamped rule to the model: names are looked up in the tables, sizes and component counts inferred.
//!
//! Inference runs twice over the same classes. After the pattern alone the classes say what the IR guarantees of
//! anything that matches; annotations and the replacement then restrict them further. What the second adds is what
//! the matcher has to test, and a size that only the second has is ambiguous.

use super::ast::{self, Term, TermKind};
use super::classes::{self, Classes, Conflict};
use super::codes;
use super::library::Library;
use super::model::*;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::expr::{Base, Expr, Prim, Scope, SourceText, Ty, Width, parse_expr_any};
use std::collections::HashMap;
use std::sync::Arc;

/// Where an operand stands: what the surroundings want of it.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub class: usize,
    pub comps: usize,
    pub base: Base,
    /// Whether the operand is only moved, so that a literal of any base may stand there.
    pub untyped: bool,
    /// Whether the width is the operand's own, so that negative numbers are bit patterns in it.
    pub unsized_: bool,
}

/// What a name stands for.
#[derive(Clone, Copy)]
pub(super) enum Binding {
    Var(VarId),
    Let(NodeId),
}

/// A node whose size and components are still classes of the inference.
pub(super) struct Draft {
    pub kind: NodeKind,
    pub swizzle: Option<Vec<u8>>,
    pub class: usize,
    pub comps: usize,
    pub span: Span,
}

pub(super) struct VarDraft {
    pub name: String,
    pub kind: VarKind,
    pub base: Base,
    pub class: usize,
    pub comps: usize,
    pub whole: bool,
    /// Highest component that a swizzle names, plus one.
    pub used: u8,
    pub span: Span,
}

/// The resolution of one rule.
pub(super) struct Resolver<'a> {
    pub lib: &'a Library,
    pub file: &'a Arc<str>,
    pub text: &'a str,
    pub diags: &'a mut Vec<Diagnostic>,
    pub nodes: Vec<Draft>,
    pub vars: Vec<VarDraft>,
    pub names: HashMap<String, Binding>,
    pub used: HashMap<String, u32>,
    pub classes: Classes,
    /// What is written of sizes: classes of bits and components, and the note.
    pub notes: Vec<(usize, usize, ast::SizeNote)>,
    pub size_names: HashMap<String, usize>,
    pub comp_names: HashMap<String, usize>,
    /// The chains of the pattern.
    pub chains: Vec<Chain>,
    pub in_pattern: bool,
    /// Nodes of the pattern, once it is resolved: they come first.
    pub pattern_len: usize,
    pub failed: bool,
    /// `[x=iand]`, said in messages about stamped rules.
    instance: String,
}

impl<'a> Resolver<'a> {
    pub fn new(
        lib: &'a Library,
        file: &'a Arc<str>,
        text: &'a str,
        instance: String,
        diags: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Resolver {
            lib,
            file,
            text,
            diags,
            nodes: Vec::new(),
            vars: Vec::new(),
            names: HashMap::new(),
            used: HashMap::new(),
            classes: Classes::default(),
            notes: Vec::new(),
            size_names: HashMap::new(),
            comp_names: HashMap::new(),
            chains: Vec::new(),
            in_pattern: true,
            pattern_len: 0,
            failed: false,
            instance,
        }
    }

    // ---- diagnostics

    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        let d = Diagnostic::error(code, self.file, span, message);
        self.report(d);
    }

    pub fn report(&mut self, mut d: Diagnostic) {
        self.failed = true;
        if self.diags.iter().any(|o| o.span == d.span && o.code == d.code && o.file == d.file) {
            return;
        }
        if !self.instance.is_empty() && d.help.is_none() {
            d = d.help(format!("in the instance {}", self.instance));
        }
        self.diags.push(d);
    }

    pub fn conflict(&mut self, code: Code, span: Span, what: &str, c: Conflict) {
        let mut d = Diagnostic::error(
            code,
            self.file,
            span,
            format!("{what} is {} here, and {} elsewhere", c.left, c.right),
        );
        for (why, value) in [(c.left_why, c.left), (c.right_why, c.right)] {
            if why != span && why != Span::default() {
                d = d.label(why, format!("{value} by this"));
            }
        }
        self.report(d);
    }

    pub fn same_size(&mut self, a: usize, b: usize, span: Span) {
        if let Err(c) = self.classes.unify(a, b) {
            self.conflict(codes::SIZE_CONFLICT, span, "the bit size", c);
        }
    }

    pub fn same_comps(&mut self, a: usize, b: usize, span: Span) {
        if let Err(c) = self.classes.unify_comps(a, b) {
            self.conflict(codes::COMPS_CONFLICT, span, "the number of components", c);
        }
    }

    pub fn fixed_class(&mut self, bits: u8, span: Span) -> usize {
        self.classes.size(classes::size_set(bits.into()), span)
    }

    /// A slot that wants nothing.
    pub fn open_slot(&mut self, span: Span) -> Slot {
        let class = self.classes.size(classes::ALL_SIZES, span);
        let comps = self.classes.comp(None, span);
        Slot { class, comps, base: Base::Uint, untyped: true, unsized_: true }
    }

    pub fn push(
        &mut self,
        kind: NodeKind,
        swizzle: Option<Vec<u8>>,
        slot: Slot,
        span: Span,
    ) -> NodeId {
        self.nodes.push(Draft { kind, swizzle, class: slot.class, comps: slot.comps, span });
        self.nodes.len() - 1
    }

    // ---- terms

    /// The node of a term. Depth is bounded by the parser.
    pub fn term(&mut self, term: &Term, slot: Slot) -> Option<NodeId> {
        let swizzle = match &term.swizzle {
            Some(letters) => Some(self.swizzle(letters)?),
            None => None,
        };
        if term.bind.is_some() && !(self.in_pattern && binds(&term.kind)) {
            let d = Diagnostic::error(
                codes::TERM_ONLY,
                self.file,
                term.span,
                "`@` binds an operation of the pattern",
            );
            self.report(d.help("what is shared in a replacement is named by `let`"));
        }
        match &term.kind {
            TermKind::Op { op, flags, args } => self.op(term, op, flags, args, swizzle, slot),
            TermKind::Var(name, note) => self.var(name, note.as_ref(), swizzle, slot, term.span),
            TermKind::Const(name, note) => self.constant(term, name, note.as_ref(), slot),
            TermKind::Literal(literal) => Some(self.literal(literal, slot)),
            TermKind::Ac(op, args) => self.chain(term, op, args, slot),
            TermKind::Intrinsic(name, args, attrs) => {
                self.intrinsic(term, name, args, attrs, swizzle, slot)
            }
            TermKind::Tex(name, srcs, attrs) => self.tex(term, name, srcs, attrs, swizzle, slot),
            TermKind::Phi(args) => self.phi(term, args, slot),
            TermKind::Undef(note) => Some(self.undef(term, note.as_ref(), slot)),
        }
    }

    fn swizzle(&mut self, letters: &ast::Name) -> Option<Vec<u8>> {
        let text = &letters.text;
        let by_name = |alphabet: &str| -> Option<Vec<u8>> {
            text.chars().map(|c| alphabet.find(c).map(|i| i as u8)).collect()
        };
        match by_name("xyzw").or_else(|| by_name("abcdefghijklmnop")) {
            Some(comps) if matches!(comps.len(), 1..=5 | 8 | 16) => Some(comps),
            Some(comps) => {
                let n = comps.len();
                self.error(codes::SWIZZLE, letters.span, format!("no vector has {n} components"));
                None
            }
            None => {
                self.error(codes::SWIZZLE, letters.span, format!("`{text}` is not a swizzle"));
                None
            }
        }
    }

    fn op(
        &mut self,
        term: &Term,
        op: &ast::Name,
        flags: &[ast::Name],
        args: &[Term],
        swizzle: Option<Vec<u8>>,
        slot: Slot,
    ) -> Option<NodeId> {
        let Some(index) = self.lib.ops.find(&op.text) else {
            return self.call(term, op, args, swizzle, slot);
        };
        let sig = self.lib.ops.get(index).clone();
        let promises = self.promises(&sig, flags);
        if sig.inputs.len() != args.len() {
            let (want, got) = (sig.inputs.len(), args.len());
            let s = if want == 1 { "" } else { "s" };
            let text = format!("`{}` takes {want} operand{s}, not {got}", op.text);
            let d = Diagnostic::error(codes::ARITY, self.file, term.span, text);
            self.report(d.help(format!("it is `{}`", sig.signature())));
            return None;
        }
        let width = self.classes.size(sig.sizes, op.span);
        // The swizzle of a per-component op is that of its operands.
        let count = match (sig.output.comps, &swizzle) {
            (0, Some(s)) => self.classes.comp(Some(s.len() as u8), term.span),
            (0, None) => self.classes.comp(None, op.span),
            (n, _) => self.classes.comp(Some(n), op.span),
        };
        if sig.output.comps == 0 && swizzle.is_some() && !self.in_pattern {
            self.error(
                codes::SWIZZLE,
                term.span,
                format!("`{}` works per component: swizzle its operands", op.text),
            );
        }
        let class = match sig.output.bits {
            0 => width,
            n => self.fixed_class(n, op.span),
        };
        let seen = match &swizzle {
            Some(s) if sig.output.comps != 0 => {
                if s.iter().any(|c| *c >= sig.output.comps) {
                    let text = format!("`{}` has {} components", op.text, sig.output.comps);
                    self.error(codes::SWIZZLE, term.span, text);
                }
                self.classes.comp(Some(s.len() as u8), term.span)
            }
            _ => count,
        };
        self.same_size(class, slot.class, term.span);
        self.same_comps(seen, slot.comps, term.span);
        // The node is made before its operands, so that parents come first; they are filled in below.
        let own = Slot { class, comps: seen, ..slot };
        let kind = NodeKind::Op { op: index, promises, args: Vec::new(), bind: None };
        let id = self.push(kind, swizzle, own, term.span);
        let mut operands = Vec::new();
        for (ty, arg) in sig.inputs.iter().zip(args) {
            let class = match ty.bits {
                0 => width,
                n => self.fixed_class(n, op.span),
            };
            let comps = match ty.comps {
                0 => count,
                n => self.classes.comp(Some(n), op.span),
            };
            let untyped = sig.moves && ty.base == Base::Uint;
            operands.push(
                self.term(
                    arg,
                    Slot { class, comps, base: ty.base, untyped, unsized_: ty.bits == 0 },
                ),
            );
        }
        let operands = operands.into_iter().collect::<Option<Vec<_>>>()?;
        let bind = match &term.bind {
            Some(name) => {
                let var = self.bind(name, VarKind::Bound(id), sig.output.base, own, false, 0)?;
                Some(var)
            }
            None => None,
        };
        self.nodes[id].kind = NodeKind::Op { op: index, promises, args: operands, bind };
        Some(id)
    }

    fn promises(&mut self, sig: &super::ops::OpSig, names: &[ast::Name]) -> u16 {
        let mut out = 0;
        for name in names {
            match flags::by_name(&name.text) {
                None => {
                    let d = Diagnostic::error(
                        codes::UNKNOWN_FLAG,
                        self.file,
                        name.span,
                        format!("there is no promise `{}`", name.text),
                    );
                    let known = flags::NAMES.iter().enumerate();
                    let known = known.filter(|(i, _)| flags::PROMISES & (1 << i) != 0);
                    self.report(d.suggest(&name.text, known.map(|(_, n)| *n)));
                }
                Some(flag) if flag & flags::PROMISES == 0 => {
                    let d = Diagnostic::error(
                        codes::FLAG_KIND,
                        self.file,
                        name.span,
                        format!("`{}` is a licence, not a promise", name.text),
                    );
                    self.report(
                        d.help(format!("write `with {}` behind the replacement", name.text)),
                    );
                }
                Some(flag) if flag & sig.promises == 0 => {
                    let text = format!("`{}` can't carry the promise `{}`", sig.name, name.text);
                    let known = flags::NAMES.iter().enumerate();
                    let known = known.filter(|(i, _)| sig.promises & (1 << i) != 0);
                    let known: Vec<&str> = known.map(|(_, n)| *n).collect();
                    let d = Diagnostic::error(codes::PROMISE, self.file, name.span, text);
                    // The dot goes with it.
                    let dotted = Span { start: name.span.start.saturating_sub(1), ..name.span };
                    self.report(match known.as_slice() {
                        [] => d.replace(dotted, "", "it carries no promise"),
                        list => d.help(format!("it can carry {}", list.join(", "))),
                    });
                }
                Some(flag) => out |= flag,
            }
        }
        out
    }

    pub fn bind(
        &mut self,
        name: &ast::Name,
        kind: VarKind,
        base: Base,
        slot: Slot,
        whole: bool,
        used: u8,
    ) -> Option<VarId> {
        if let Some(old) = self.names.get(&name.text) {
            let first = self.place_of(*old);
            let d = Diagnostic::error(
                codes::REBOUND,
                self.file,
                name.span,
                format!("`{}` is bound twice", name.text),
            );
            self.report(d.label(first, "first bound here"));
            return None;
        }
        let id = self.vars.len();
        self.vars.push(VarDraft {
            name: name.text.clone(),
            kind,
            base,
            class: slot.class,
            comps: slot.comps,
            whole,
            used,
            span: name.span,
        });
        self.names.insert(name.text.clone(), Binding::Var(id));
        Some(id)
    }

    fn var(
        &mut self,
        name: &ast::Name,
        note: Option<&ast::SizeNote>,
        swizzle: Option<Vec<u8>>,
        slot: Slot,
        span: Span,
    ) -> Option<NodeId> {
        let high = swizzle.as_ref().map_or(0, |s| s.iter().max().map_or(0, |m| m + 1));
        let seen = match &swizzle {
            Some(s) => {
                let comps = self.classes.comp(Some(s.len() as u8), span);
                self.same_comps(comps, slot.comps, span);
                comps
            }
            None => slot.comps,
        };
        let bound = self.names.get(&name.text).copied();
        let var = match bound {
            None if self.in_pattern => {
                // A whole def's component count is its own affair.
                let comps =
                    if swizzle.is_some() { self.classes.comp(None, span) } else { slot.comps };
                let own = Slot { comps, ..slot };
                self.bind(name, VarKind::Value, slot.base, own, swizzle.is_some(), high)?
            }
            None => {
                let d = Diagnostic::error(
                    codes::UNBOUND,
                    self.file,
                    span,
                    format!("the pattern doesn't bind `{}`", name.text),
                );
                let known = self.known_names();
                self.report(d.suggest(&name.text, known.iter().map(String::as_str)));
                return None;
            }
            Some(Binding::Let(node)) => {
                *self.used.entry(name.text.clone()).or_default() += 1;
                self.same_size(self.nodes[node].class, slot.class, span);
                if swizzle.is_none() {
                    self.same_comps(self.nodes[node].comps, slot.comps, span);
                    return Some(node);
                }
                return Some(self.components_of(node, swizzle, slot, span));
            }
            Some(Binding::Var(var)) => {
                *self.used.entry(name.text.clone()).or_default() += 1;
                if self.in_pattern && matches!(self.vars[var].kind, VarKind::Bound(_)) {
                    let first = self.vars[var].span;
                    let d = Diagnostic::error(
                        codes::REBOUND,
                        self.file,
                        span,
                        format!("`{}` names an operation and can't be matched again", name.text),
                    );
                    self.report(d.label(first, "bound here"));
                    return None;
                }
                self.same_size(self.vars[var].class, slot.class, span);
                if self.in_pattern && self.vars[var].whole != swizzle.is_some() {
                    let first = self.vars[var].span;
                    let text = format!("`{}` is matched with and without a swizzle", name.text);
                    let d = Diagnostic::error(codes::SWIZZLE, self.file, span, text);
                    self.report(d.label(first, "first here"));
                }
                if swizzle.is_none() {
                    self.same_comps(self.vars[var].comps, slot.comps, span);
                }
                self.vars[var].used = self.vars[var].used.max(high);
                var
            }
        };
        if let Some(note) = note {
            self.notes.push((self.vars[var].class, self.vars[var].comps, note.clone()));
        }
        Some(self.push(NodeKind::Var(var), swizzle, Slot { comps: seen, ..slot }, span))
    }

    fn constant(
        &mut self,
        term: &Term,
        name: &ast::Name,
        note: Option<&ast::SizeNote>,
        slot: Slot,
    ) -> Option<NodeId> {
        let span = term.span;
        if !self.in_pattern {
            let d = Diagnostic::error(
                codes::TERM_ONLY,
                self.file,
                span,
                "`#` binds a constant of the pattern",
            );
            let letters = term.swizzle.as_ref().map(|s| format!(".{}", s.text));
            let plain = format!("{}{}", name.text, letters.unwrap_or_default());
            self.report(d.replace(span, plain.as_str(), format!("write `{plain}`")));
            return None;
        }
        if let Some(letters) = &term.swizzle {
            let text =
                "a constant of the pattern is what its operand reads, under whatever swizzle";
            let d = Diagnostic::error(codes::SWIZZLE, self.file, letters.span, text);
            let plain = format!("#{}", name.text);
            self.report(d.replace(dotted(letters), "", format!("match `{plain}`")));
            return None;
        }
        let var = self.bind(name, VarKind::Const, slot.base, slot, false, 0)?;
        if let Some(note) = note {
            self.notes.push((self.vars[var].class, self.vars[var].comps, note.clone()));
        }
        Some(self.push(NodeKind::Var(var), None, slot, span))
    }

    /// `undef`
    fn undef(&mut self, term: &Term, note: Option<&ast::SizeNote>, slot: Slot) -> NodeId {
        if let Some(letters) = &term.swizzle {
            let text = "what is undefined has just the components that its place has";
            let d = Diagnostic::error(codes::SWIZZLE, self.file, letters.span, text);
            self.report(d.replace(dotted(letters), "", "leave the swizzle out"));
        }
        if let Some(note) = note {
            self.notes.push((slot.class, slot.comps, note.clone()));
        }
        self.push(NodeKind::Undef, None, slot, term.span)
    }

    pub fn literal(&mut self, literal: &ast::Literal, slot: Slot) -> NodeId {
        let value = lower_literal(literal);
        let mut base = slot.base;
        let set = match (&value, slot.base) {
            (Literal::Float(_), Base::Float) | (Literal::Bool(_), Base::Bool) => None,
            (Literal::Float(_), Base::Uint) if slot.untyped => {
                base = Base::Float;
                Some(classes::FLOAT_SIZES)
            }
            (Literal::Bool(_), Base::Uint | Base::Int) => {
                base = Base::Bool;
                Some(classes::BOOL_SIZES)
            }
            (Literal::Float(_), other) => {
                let text = format!("`{}` is a float, the operand {}", literal.text, article(other));
                let d = Diagnostic::error(codes::LITERAL, self.file, literal.span, text);
                let whole = literal.text.strip_suffix(".0").filter(|_| other != Base::Bool);
                self.report(match whole {
                    Some(n) => d.replace(literal.span, n, format!("write `{n}`")),
                    None => d,
                });
                None
            }
            (Literal::Bool(_), other) => {
                let text = format!("`{}` is a bool, the operand {}", literal.text, article(other));
                self.error(codes::LITERAL, literal.span, text);
                None
            }
            (Literal::Int(v), Base::Uint) if *v < 0 && !slot.unsized_ => {
                let text = format!("`{}` doesn't fit this unsigned operand", literal.text);
                self.error(codes::LITERAL, literal.span, text);
                None
            }
            _ => None,
        };
        if let Some(set) = set
            && let Err(c) = self.classes.restrict(slot.class, set, literal.span)
        {
            self.conflict(codes::SIZE_CONFLICT, literal.span, "the bit size", c);
        }
        self.push(NodeKind::Literal(value, base), None, slot, literal.span)
    }

    /// A call of a function over constants.
    fn call(
        &mut self,
        term: &Term,
        name: &ast::Name,
        args: &[Term],
        swizzle: Option<Vec<u8>>,
        slot: Slot,
    ) -> Option<NodeId> {
        let prim = Prim::by_name(&name.text);
        let function = self.lib.facts.iter().position(|f| f.function && f.name == name.text);
        if prim.is_none() && function.is_none() {
            let known: Vec<&str> = self.lib.ops.iter().map(|o| o.name.as_str()).collect();
            let functions = self.lib.facts.iter().filter(|f| f.function).map(|f| f.name.as_str());
            let d = Diagnostic::error(
                codes::UNKNOWN_OP,
                self.file,
                name.span,
                format!("there is no op or function `{}`", name.text),
            );
            // What computes a constant is no pattern.
            let prims = Prim::ALL.iter().map(|p| p.info().name).filter(|_| !self.in_pattern);
            self.report(d.suggest(&name.text, known.into_iter().chain(functions).chain(prims)));
            return None;
        }
        if self.in_pattern {
            let text = format!("`{}` computes a constant and can't be matched", name.text);
            let d = Diagnostic::error(codes::TERM_ONLY, self.file, name.span, text);
            self.report(d.help("match a constant as `#c`, and say in `where` what holds for it"));
            return None;
        }
        let arity = match (prim, function) {
            (_, Some(f)) => self.lib.facts[f].params.len(),
            (Some(p), _) => p.arity(),
            _ => 0,
        };
        if arity != args.len() {
            let s = if arity == 1 { "" } else { "s" };
            let text = format!("`{}` takes {arity} constant{s}, not {}", name.text, args.len());
            self.error(codes::ARITY, term.span, text);
            return None;
        }
        // A swizzle takes components of the constant that is computed.
        let whole = match swizzle {
            Some(_) => Slot { comps: self.classes.comp(None, term.span), ..slot },
            None => slot,
        };
        let mut operands = Vec::new();
        for arg in args {
            let open = self.open_slot(arg.span);
            let node = self.term(arg, open)?;
            self.same_comps(self.nodes[node].comps, whole.comps, arg.span);
            if self.const_ty(node).is_none() {
                let text = format!("`{}` is computed from constants only", name.text);
                let d = Diagnostic::error(codes::FACT_ARG, self.file, arg.span, text);
                let d = self.as_constant(d, node);
                self.report(d);
                return None;
            }
            operands.push(node);
        }
        let letters: Vec<String> = (0..args.len()).map(|i| format!("v{i}")).collect();
        let (expr, bits) = match function {
            Some(f) => {
                let body = self.lib.facts[f].body.clone();
                let mut open = None;
                for (node, (_, ty)) in operands.iter().zip(&self.lib.params[f]) {
                    let (class, span) = (self.nodes[*node].class, self.nodes[*node].span);
                    self.match_ty(*ty, class, &mut open, span);
                }
                (body, open)
            }
            None => {
                let text = format!("{}({})", name.text, letters.join(", "));
                // What the text has in these places is told at the call.
                let mut source = SourceText::empty(self.file);
                source.push_replaced(&text, term.span);
                let (expr, bits) = self.typed(&source, &letters, &operands, term.span)?;
                (expr, Some(bits))
            }
        };
        let bits = bits.unwrap_or(slot.class);
        let node = self.computed(expr, operands, bits, whole, term.span);
        Some(match swizzle {
            Some(_) => self.components_of(node, swizzle, slot, term.span),
            None => node,
        })
    }

    /// Components of another node.
    fn components_of(
        &mut self,
        node: NodeId,
        swizzle: Option<Vec<u8>>,
        slot: Slot,
        span: Span,
    ) -> NodeId {
        let count = swizzle.as_ref().map_or(0, |s| s.len() as u8);
        let comps = self.classes.comp(Some(count), span);
        self.same_comps(comps, slot.comps, span);
        self.push(NodeKind::Ref(node), swizzle, Slot { comps, ..slot }, span)
    }

    /// Makes a class agree with the width of a type; `open` is the class that `BITS` stands for.
    pub fn match_ty(&mut self, ty: Ty, class: usize, open: &mut Option<usize>, span: Span) {
        match (ty.width, *open) {
            (Width::Fixed(_), _) if ty.base == Base::Bool => {}
            (Width::Fixed(n), _) => {
                let fixed = self.fixed_class(n, span);
                self.same_size(class, fixed, span);
            }
            (Width::Bits, Some(bits)) => self.same_size(class, bits, span),
            (Width::Bits, None) => *open = Some(class),
        }
    }

    pub fn computed(
        &mut self,
        expr: Expr,
        args: Vec<NodeId>,
        bits: usize,
        slot: Slot,
        span: Span,
    ) -> NodeId {
        let class = match (expr.ty.base, expr.ty.width) {
            (Base::Bool, _) => slot.class,
            (_, Width::Fixed(n)) => self.fixed_class(n, span),
            (_, Width::Bits) => bits,
        };
        self.same_size(class, slot.class, span);
        let kind = NodeKind::Compute { expr: Arc::new(expr), args, bits };
        self.push(kind, None, Slot { class, ..slot }, span)
    }

    /// The type of a node in the expression language, if it is a constant: its base and whether its width is open.
    pub fn const_ty(&self, node: NodeId) -> Option<Ty> {
        let draft = &self.nodes[node];
        let mut of = node;
        while let NodeKind::Ref(inner) = self.nodes[of].kind {
            of = inner;
        }
        let base = match &self.nodes[of].kind {
            NodeKind::Var(v) if self.vars[*v].kind == VarKind::Const => self.vars[*v].base,
            NodeKind::Literal(_, base) => *base,
            NodeKind::Compute { expr, .. } => expr.ty.base,
            _ => return None,
        };
        let width = match self.classes.fixed(draft.class) {
            Some(n) => Width::Fixed(n),
            None => Width::Bits,
        };
        Some(Ty::scalar(base, width))
    }

    /// Types an expression over constants; also gives the class that `BITS` stands for.
    pub fn typed(
        &mut self,
        source: &SourceText,
        names: &[String],
        nodes: &[NodeId],
        span: Span,
    ) -> Option<(Expr, usize)> {
        let mut open = None;
        let mut scope = Vec::new();
        for (name, node) in names.iter().zip(nodes) {
            let ty = self.const_ty(*node)?;
            if ty.width == Width::Bits {
                let class = self.nodes[*node].class;
                self.match_ty(ty, class, &mut open, span);
            }
            scope.push((name.as_str(), ty));
        }
        let first = nodes.first().map(|n| self.nodes[*n].class);
        let bits = open.or(first).unwrap_or_else(|| self.fixed_class(32, span));
        let set = self.classes.allowed(bits);
        let sizes: Vec<u8> = classes::SIZES
            .iter()
            .enumerate()
            .filter(|(i, _)| set & (1 << i) != 0)
            .map(|(_, s)| *s)
            .collect();
        let scope = Scope { vars: &scope, sizes: &sizes };
        match parse_expr_any(source, &scope) {
            Ok(expr) => Some((expr, bits)),
            Err(list) => {
                for d in list {
                    let place = if d.span == Span::default() { span } else { d.span };
                    let d = self.value_in_expr(Diagnostic { span: place, ..d });
                    self.report(d);
                }
                None
            }
        }
    }

    // ---- the rest of the rule

    /// Text of the expression language with its place, which is lost where a template changed it.
    pub fn source(&self, name: &ast::Name) -> SourceText {
        let unchanged = self.text.get(name.span.range()) == Some(name.text.as_str());
        let mut source = SourceText::empty(self.file);
        match unchanged {
            true => source.push_verbatim(&name.text, name.span.start as usize),
            false => source.push_replaced(&name.text, name.span),
        }
        source
    }

    /// The names in a text that are constants of the rule, with their nodes.
    pub fn constants_in(&mut self, text: &str, span: Span) -> (Vec<String>, Vec<NodeId>) {
        let mut names: Vec<String> = Vec::new();
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            if self.names.contains_key(word) && !names.iter().any(|n| n == word) {
                names.push(word.to_string());
            }
        }
        let mut nodes = Vec::new();
        let mut kept = Vec::new();
        for name in names {
            *self.used.entry(name.clone()).or_default() += 1;
            let node = match self.names[&name] {
                Binding::Let(node) => node,
                Binding::Var(v) => {
                    let slot = Slot {
                        class: self.vars[v].class,
                        comps: self.vars[v].comps,
                        base: self.vars[v].base,
                        untyped: false,
                        unsized_: true,
                    };
                    self.push(NodeKind::Var(v), None, slot, span)
                }
            };
            if self.const_ty(node).is_some() {
                kept.push(name);
                nodes.push(node);
            }
        }
        (kept, nodes)
    }

    /// Marks a use of a variable in a clause and gives it.
    pub fn use_var(&mut self, name: &ast::Name) -> Option<VarId> {
        *self.used.entry(name.text.clone()).or_default() += 1;
        match self.names.get(&name.text) {
            Some(Binding::Var(v)) => Some(*v),
            _ => {
                let d = Diagnostic::error(
                    codes::UNBOUND,
                    self.file,
                    name.span,
                    format!("the pattern doesn't bind `{}`", name.text),
                );
                let known = self.known_names();
                self.report(d.suggest(&name.text, known.iter().map(String::as_str)));
                None
            }
        }
    }

    /// A node for a variable as the argument of a clause.
    pub fn var_node(&mut self, var: VarId, swizzle: Option<Vec<u8>>, span: Span) -> NodeId {
        let v = &self.vars[var];
        let comps = match &swizzle {
            Some(s) => self.classes.comp(Some(s.len() as u8), span),
            None => v.comps,
        };
        let slot = Slot { class: v.class, comps, base: v.base, untyped: true, unsized_: true };
        self.push(NodeKind::Var(var), swizzle, slot, span)
    }

    pub fn is_const(&self, node: NodeId) -> bool {
        self.const_ty(node).is_some()
    }

    pub fn swizzle_of(&mut self, letters: &ast::Name) -> Option<Vec<u8>> {
        self.swizzle(letters)
    }
}

/// Whether a term is an instruction.
fn binds(kind: &TermKind) -> bool {
    match kind {
        TermKind::Op { .. }
        | TermKind::Ac(..)
        | TermKind::Intrinsic(..)
        | TermKind::Tex(..)
        | TermKind::Phi(_) => true,
        TermKind::Var(..) | TermKind::Const(..) | TermKind::Literal(_) | TermKind::Undef(_) => {
            false
        }
    }
}

/// A swizzle with its dot.
fn dotted(letters: &ast::Name) -> Span {
    Span { start: letters.span.start.saturating_sub(1), end: letters.span.end }
}

fn article(base: Base) -> &'static str {
    match base {
        Base::Bool => "a bool",
        Base::Int => "an integer",
        Base::Uint => "an unsigned integer",
        Base::Float => "a float",
    }
}

/// A literal without its place.
pub(super) fn lower_literal(literal: &ast::Literal) -> Literal {
    match literal.kind {
        ast::LiteralKind::Int(v) => Literal::Int(v),
        ast::LiteralKind::Hex(v) => Literal::Hex(v),
        ast::LiteralKind::Float(v) => Literal::Float(v),
        ast::LiteralKind::Bool(v) => Literal::Bool(v),
    }
}
