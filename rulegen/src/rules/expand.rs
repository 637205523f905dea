//! Templates: every loop is stamped out before anything is resolved, so that what is checked is what is compiled.
//!
//! A loop name stands where an op, a size, a value, a fact or a licence stands, or as `${x}` inside a name. It never
//! becomes a variable of a rule: a word from a loop in the place of a variable is an error, so no rule captures one.

use super::ast::*;
use super::codes;
use crate::diagnostics::{Diagnostic, Span};
use std::sync::Arc;

/// Most turns that the loops of a file take together.
const MAX_TURNS: u32 = 1 << 15;

/// Most bytes of a name or value that loop names are put into.
const MAX_TEXT: usize = 256;

/// A rule after expansion.
#[derive(Clone, Debug)]
pub struct Stamped {
    /// The rule with every loop name replaced.
    pub rule: Rule,
    /// The loops' bindings from outermost to innermost.
    pub bindings: Vec<(String, String)>,
    /// Position of the source rule in its file: equal for the stamps of one rule.
    pub source: usize,
}

/// Stamps a file's rules in source order.
pub fn expand(file: &File, diags: &mut Vec<Diagnostic>) -> Vec<Stamped> {
    let mut cx = Cx { file: &file.name, diags, env: Vec::new(), turns: 0, out: Vec::new() };
    cx.items(&file.items);
    cx.out
}

struct Cx<'a> {
    file: &'a Arc<str>,
    diags: &'a mut Vec<Diagnostic>,
    env: Vec<(String, LoopValue)>,
    /// How often a loop of the file went round.
    turns: u32,
    out: Vec<Stamped>,
}

impl Cx<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(codes::TEMPLATE, self.file, span, message));
    }

    fn report(&mut self, d: Diagnostic) {
        // The same mistake in every turn is one mistake.
        let same = |o: &Diagnostic| o.span == d.span && o.message == d.message && o.file == d.file;
        if !self.diags.iter().any(same) {
            self.diags.push(d);
        }
    }

    /// Recurses on the nesting of loops, which the parser bounds.
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Rule(rule) => {
                    let source = rule.span.start as usize;
                    let rule = self.rule(rule);
                    let bindings =
                        self.env.iter().map(|(n, v)| (n.clone(), v.text.clone())).collect();
                    self.out.push(Stamped { rule, bindings, source });
                }
                Item::For(f) => self.stamp(f),
            }
        }
    }

    fn stamp(&mut self, f: &For) {
        if f.tuples.is_empty() || f.items.is_empty() {
            let what = if f.tuples.is_empty() { "no values" } else { "no rules" };
            self.diags.push(Diagnostic::error(
                codes::EMPTY_TEMPLATE,
                self.file,
                f.span,
                format!("this loop has {what} and expands to nothing"),
            ));
        }
        for name in &f.names {
            if self.env.iter().any(|(n, _)| *n == name.text) {
                self.error(
                    name.span,
                    format!("`{}` is already the name of an outer loop", name.text),
                );
            }
        }
        for (values, span) in &f.tuples {
            if self.turns == MAX_TURNS {
                let message =
                    format!("the loops of this file go round more than {MAX_TURNS} times");
                self.error(f.span, message);
                // One mistake, not one in each rule.
                self.out.clear();
            }
            self.turns = self.turns.saturating_add(1);
            if self.turns > MAX_TURNS {
                return;
            }
            if values.len() != f.names.len() {
                let (n, v) = (f.names.len(), values.len());
                self.error(*span, format!("the loop has {n} names, this turn {v} values"));
                continue;
            }
            let depth = self.env.len();
            for (name, value) in f.names.iter().zip(values) {
                let text = self.fill(&value.text, value.span);
                let bound = LoopValue { text, literal: value.literal.clone(), span: value.span };
                self.env.push((name.text.clone(), bound));
            }
            self.items(&f.items);
            self.env.truncate(depth);
        }
    }

    fn lookup(&self, name: &str) -> Option<&LoopValue> {
        self.env.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// Replaces each `${x}`.
    fn fill(&mut self, text: &str, span: Span) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            out.push_str(&rest[..at]);
            let Some(end) = rest[at..].find('}') else { break };
            let name = &rest[at + 2..at + end];
            match self.lookup(name).map(|v| v.text.clone()) {
                Some(value) => out.push_str(&value),
                None => {
                    let known: Vec<String> = self.env.iter().map(|e| e.0.clone()).collect();
                    let text = format!("no loop binds `{name}`");
                    let d = Diagnostic::error(codes::TEMPLATE, self.file, span, text);
                    self.report(d.suggest(name, known.iter().map(String::as_str)));
                }
            }
            rest = &rest[at + end + 1..];
            if out.len() > MAX_TEXT {
                self.error(span, format!("with its loop names it has more than {MAX_TEXT} bytes"));
                return String::new();
            }
        }
        out.push_str(rest);
        out
    }

    /// A name in a place where a loop name is written plain.
    fn word(&mut self, name: &Name) -> Name {
        let text = match self.lookup(&name.text) {
            Some(value) => value.text.clone(),
            None => self.fill(&name.text, name.span),
        };
        Name { text, span: name.span }
    }

    /// Text of the expression language: loop names are replaced word by word.
    fn expr(&mut self, name: &Name) -> Name {
        let filled = self.fill(&name.text, name.span);
        let mut out = String::new();
        let mut word = String::new();
        for c in filled.chars().chain(['\n']) {
            if c.is_ascii_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            match self.lookup(&word) {
                Some(value) if !word.is_empty() => out.push_str(&value.text),
                _ => out.push_str(&word),
            }
            word.clear();
            out.push(c);
        }
        out.truncate(out.len() - 1);
        Name { text: out, span: name.span }
    }

    /// A name of the rule's own, which no loop name may be.
    fn own(&mut self, name: &Name) -> Name {
        if self.lookup(&name.text).is_some() {
            self.error(
                name.span,
                format!("`{}` is the name of a loop, not of a variable", name.text),
            );
        }
        name.clone()
    }

    fn rule(&mut self, rule: &Rule) -> Rule {
        let name = Name { text: self.fill(&rule.name.text, rule.name.span), span: rule.name.span };
        let doc = self.fill(&rule.doc, rule.name.span);
        let pattern = self.term(&rule.pattern);
        let lets = rule.lets.iter().map(|l| Let {
            name: self.own(&l.name),
            value: match &l.value {
                LetValue::Term(t) => LetValue::Term(self.term(t)),
                LetValue::Expr(e) => LetValue::Expr(self.expr(e)),
            },
        });
        let lets = lets.collect();
        let alts = rule.alts.iter().map(|a| Alt {
            term: self.term(&a.term),
            guard: match &a.guard {
                Guard::None => Guard::None,
                Guard::If(c) => Guard::If(self.cond(c)),
                Guard::Otherwise(s) => Guard::Otherwise(*s),
            },
        });
        let alts = alts.collect();
        let clauses = rule.clauses.iter().map(|(c, s)| (self.clause(c), *s)).collect();
        Rule { name, doc, pattern, lets, alts, clauses, span: rule.span }
    }

    fn clause(&mut self, clause: &Clause) -> Clause {
        match clause {
            Clause::Where(facts) => Clause::Where(facts.iter().map(|f| self.fact(f)).collect()),
            Clause::With(names) => Clause::With(names.iter().map(|n| self.word(n)).collect()),
            Clause::When(c) => Clause::When(self.cond(c)),
            Clause::If(c) => Clause::If(self.cond(c)),
            Clause::Group(n) => Clause::Group(self.word(n)),
            Clause::Test(args, result) => {
                let args = args.iter().map(|(n, l)| (self.own(n), l.clone())).collect();
                Clause::Test(args, result.clone())
            }
            Clause::Canonical(_) | Clause::Ulps(..) | Clause::Allow(..) | Clause::Waive(_) => {
                clause.clone()
            }
        }
    }

    fn fact(&mut self, fact: &FactUse) -> FactUse {
        match fact {
            FactUse::Env(items, span) => {
                let items = items.iter().map(|(k, vs)| {
                    let values = vs.iter().map(|v| self.word(v)).collect();
                    (self.word(k), values)
                });
                FactUse::Env(items.collect(), *span)
            }
            FactUse::Call { name, args, span } => {
                let name = self.word(name);
                let args = args.iter().map(|arg| match arg {
                    FactArg::Var(v, swizzle) => {
                        match self.lookup(&v.text).map(|v| v.text.clone()) {
                            Some(text) => FactArg::Expr(Name { text, span: v.span }),
                            None => FactArg::Var(v.clone(), swizzle.clone()),
                        }
                    }
                    FactArg::Expr(e) => FactArg::Expr(self.expr(e)),
                });
                FactUse::Call { name, args: args.collect(), span: *span }
            }
        }
    }

    fn cond(&mut self, cond: &Cond) -> Cond {
        match cond {
            Cond::And(list) => Cond::And(list.iter().map(|c| self.cond(c)).collect()),
            Cond::Or(list) => Cond::Or(list.iter().map(|c| self.cond(c)).collect()),
            Cond::Not(c) => Cond::Not(Box::new(self.cond(c))),
            Cond::Option(n) => Cond::Option(self.word(n)),
            Cond::Call(n, args, span) => {
                let name = self.word(n);
                Cond::Call(name, args.iter().map(|a| self.word(a)).collect(), *span)
            }
            Cond::Count { name, args, compare, bound, span } => Cond::Count {
                name: self.word(name),
                args: args.iter().map(|a| self.word(a)).collect(),
                compare: compare.clone(),
                bound: bound.clone(),
                span: *span,
            },
        }
    }

    fn attrs(&mut self, attrs: &[Attr]) -> Vec<Attr> {
        let attr = |a: &Attr| match (&a.literal, self.lookup(&a.value.text).cloned()) {
            (None, Some(value)) => Attr {
                key: a.key.clone(),
                value: Name { text: value.text, span: a.value.span },
                literal: value.literal.map(|l| Literal { span: a.value.span, ..l }),
            },
            _ => a.clone(),
        };
        attrs.iter().map(attr).collect()
    }

    fn terms(&mut self, terms: &[Term]) -> Vec<Term> {
        terms.iter().map(|t| self.term(t)).collect()
    }

    fn term(&mut self, term: &Term) -> Term {
        let bind = term.bind.as_ref().map(|n| self.own(n));
        let kind = match &term.kind {
            TermKind::Op { op, flags, args } => TermKind::Op {
                op: self.word(op),
                flags: flags.iter().map(|f| self.word(f)).collect(),
                args: self.terms(args),
            },
            TermKind::Var(name, note) => match self.lookup(&name.text).cloned() {
                Some(LoopValue { literal: Some(literal), .. }) => {
                    TermKind::Literal(Literal { span: name.span, ..literal })
                }
                Some(value) => {
                    let text = format!(
                        "`{}` stands for `{}` here, which is no value",
                        name.text, value.text
                    );
                    self.error(name.span, text);
                    TermKind::Var(name.clone(), None)
                }
                None => TermKind::Var(name.clone(), note.as_ref().map(|n| self.note(n))),
            },
            TermKind::Const(name, note) => {
                TermKind::Const(self.own(name), note.as_ref().map(|n| self.note(n)))
            }
            TermKind::Literal(l) => TermKind::Literal(l.clone()),
            TermKind::Ac(op, args) => TermKind::Ac(self.word(op), self.terms(args)),
            TermKind::Intrinsic(n, args, attrs) => {
                TermKind::Intrinsic(self.word(n), self.terms(args), self.attrs(attrs))
            }
            TermKind::Tex(n, srcs, attrs) => {
                let srcs = srcs.iter().map(|(kind, t)| (self.word(kind), self.term(t))).collect();
                TermKind::Tex(self.word(n), srcs, self.attrs(attrs))
            }
            TermKind::Phi(args) => TermKind::Phi(self.terms(args)),
            TermKind::Undef(note) => TermKind::Undef(note.as_ref().map(|n| self.note(n))),
        };
        Term { bind, kind, swizzle: term.swizzle.clone(), span: term.span }
    }

    fn number(&mut self, name: &str, span: Span) -> Option<u32> {
        match self.lookup(name).map(|v| v.text.parse().ok()) {
            Some(Some(n)) => Some(n),
            Some(None) => {
                self.error(span, format!("`{name}` is not a number in this loop"));
                None
            }
            None => {
                self.error(span, format!("`{name}` is neither a size nor the name of a loop"));
                None
            }
        }
    }

    fn note(&mut self, note: &SizeNote) -> SizeNote {
        let size = match &note.size {
            SizeExpr::Loop(name) => {
                let base = self.lookup(name).and_then(|v| match v.text.as_str() {
                    "int" => Some(BaseWord::Int),
                    "uint" => Some(BaseWord::Uint),
                    "float" => Some(BaseWord::Float),
                    "bool" => Some(BaseWord::Bool),
                    _ => None,
                });
                match base {
                    Some(base) => SizeExpr::Base(base),
                    None => SizeExpr::Bits(self.number(name, note.span).unwrap_or(32)),
                }
            }
            other => other.clone(),
        };
        let count = match &note.count {
            Some(CountExpr::Loop(name)) => {
                Some(CountExpr::Number(self.number(name, note.span).unwrap_or(1)))
            }
            other => other.clone(),
        };
        SizeNote { size, count, span: note.span }
    }
}
