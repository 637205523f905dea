//! A rule as a whole: pattern, annotations, `let`s, clauses and alternatives, in the order in which they know of each other.

use super::ast::{self, SizeExpr, TermKind};
use super::classes;
use super::codes;
use super::expand::Stamped;
use super::model::*;
use super::resolve::{Binding, Resolver, Slot};
use crate::diagnostics::{Diagnostic, Span};
use crate::expr::Base;

impl Resolver<'_> {
    /// Resolves the rule. What is wrong with it is in the diagnostics; `None` if it can't be used.
    pub(super) fn rule(mut self, stamped: &Stamped, file_index: usize, line: u32) -> Option<Rule> {
        let ast = &stamped.rule;
        if let TermKind::Var(..) | TermKind::Const(..) | TermKind::Literal(_) | TermKind::Undef(_) =
            &ast.pattern.kind
        {
            self.error(codes::ROOT, ast.pattern.span, "the left side must be an operation");
            return None;
        }
        if ast.pattern.swizzle.is_some() {
            self.error(
                codes::SWIZZLE,
                ast.pattern.span,
                "the matched root is a whole instruction: it has no swizzle",
            );
        }
        let root = self.open_slot(ast.pattern.span);
        let pattern = self.term(&ast.pattern, root);
        let before = self.classes.clone();
        self.pattern_len = self.nodes.len();
        // Of what stands under swizzles in the pattern, these components are there.
        let taken: Vec<u8> = self.vars.iter().map(|v| v.used).collect();
        self.apply_notes();
        self.in_pattern = false;
        let pattern = pattern?;
        let lets = self.lets(&ast.lets);
        let clauses = self.clauses(ast, pattern);
        self.check_chains(clauses.licences);
        lets?;
        let root = Slot {
            class: self.nodes[pattern].class,
            comps: self.nodes[pattern].comps,
            base: Base::Uint,
            untyped: true,
            unsized_: true,
        };
        let mut alts = Vec::new();
        for (i, alt) in ast.alts.iter().enumerate() {
            let last = i + 1 == ast.alts.len();
            let profit = match &alt.guard {
                ast::Guard::If(cond) => self.cond(cond, false),
                ast::Guard::None if !last => {
                    let text = "the alternatives behind this one are never reached";
                    self.error(codes::ALTERNATIVES, alt.term.span, text);
                    None
                }
                ast::Guard::Otherwise(span) if !last || i == 0 => {
                    self.error(
                        codes::ALTERNATIVES,
                        *span,
                        "`otherwise` stands on the last of several alternatives",
                    );
                    None
                }
                _ => None,
            };
            let term = self.term(&alt.term, root)?;
            alts.push(Alt { term, profit });
        }
        if let (Some(profit), [alt]) = (&clauses.profit, alts.as_mut_slice()) {
            alt.profit = Some(match alt.profit.take() {
                Some(own) => Cond::And(vec![own, profit.clone()]),
                None => profit.clone(),
            });
        } else if clauses.profit.is_some() {
            self.error(
                codes::ALTERNATIVES,
                ast.span,
                "with several alternatives each has its own `if`",
            );
        }
        self.apply_notes();
        self.check_absorbing(pattern, &alts);
        self.check_outside(ast, pattern);
        self.check_made(pattern, &alts);
        self.check_components(&taken);
        if !self.failed {
            self.check_unused(ast);
        }
        self.finish(stamped, clauses, pattern, alts, before, (file_index, line))
    }

    fn lets(&mut self, lets: &[ast::Let]) -> Option<()> {
        for l in lets {
            let node = match &l.value {
                ast::LetValue::Term(t) => {
                    let slot = self.open_slot(t.span);
                    self.term(t, slot)?
                }
                ast::LetValue::Expr(text) => {
                    let (names, nodes) = self.constants_in(&text.text, text.span);
                    let source = self.source(text);
                    let (expr, bits) = self.typed(&source, &names, &nodes, text.span)?;
                    let slot = self.open_slot(text.span);
                    for node in &nodes {
                        self.same_comps(self.nodes[*node].comps, slot.comps, text.span);
                    }
                    self.computed(expr, nodes, bits, slot, text.span)
                }
            };
            if let Some(old) = self.names.get(&l.name.text) {
                let first = self.place_of(*old);
                let text = format!("`{}` is bound twice", l.name.text);
                let d = Diagnostic::error(codes::REBOUND, self.file, l.name.span, text);
                self.report(d.label(first, "first bound here"));
                return None;
            }
            self.names.insert(l.name.text.clone(), Binding::Let(node));
        }
        Some(())
    }

    /// Applies annotations.
    fn apply_notes(&mut self) {
        for (class, comps, note) in std::mem::take(&mut self.notes) {
            let result = match &note.size {
                SizeExpr::Bits(n) => {
                    let set = classes::size_set(*n);
                    if set == 0 {
                        self.error(
                            codes::SIZE_CONFLICT,
                            note.span,
                            format!("no value has {n} bits"),
                        );
                        continue;
                    }
                    self.classes.restrict(class, set, note.span)
                }
                SizeExpr::Base(base) => {
                    let set = match base {
                        ast::BaseWord::Int | ast::BaseWord::Uint => classes::ALL_SIZES,
                        ast::BaseWord::Float => classes::FLOAT_SIZES,
                        ast::BaseWord::Bool => classes::BOOL_SIZES,
                    };
                    self.classes.restrict(class, set, note.span)
                }
                SizeExpr::Var(factor, name) => {
                    let of = match self.size_names.get(name) {
                        Some(of) => *of,
                        None => {
                            let of = self.classes.size(classes::ALL_SIZES, note.span);
                            self.size_names.insert(name.clone(), of);
                            of
                        }
                    };
                    if *factor == 1 {
                        self.classes.unify(class, of)
                    } else {
                        self.classes.relate(class, *factor, of);
                        Ok(())
                    }
                }
                SizeExpr::Loop(_) => Ok(()),
            };
            if let Err(c) = result {
                self.conflict(codes::SIZE_CONFLICT, note.span, "the bit size", c);
            }
            let count = match &note.count {
                Some(ast::CountExpr::Number(n)) if matches!(n, 1..=5 | 8 | 16) => {
                    self.classes.comp(Some(*n as u8), note.span)
                }
                Some(ast::CountExpr::Number(n)) => {
                    self.error(
                        codes::COMPS_CONFLICT,
                        note.span,
                        format!("no vector has {n} components"),
                    );
                    continue;
                }
                Some(ast::CountExpr::Var(name)) => match self.comp_names.get(name) {
                    Some(c) => *c,
                    None => {
                        let c = self.classes.comp(None, note.span);
                        self.comp_names.insert(name.clone(), c);
                        c
                    }
                },
                _ => continue,
            };
            self.same_comps(comps, count, note.span);
        }
    }

    /// Swizzles behind the pattern take components that there are. `taken` are those that the pattern takes of its
    /// variables.
    fn check_components(&mut self, taken: &[u8]) {
        let mut wrong: Vec<(Span, String, Option<Span>)> = Vec::new();
        let count = |comps: Comps| match comps {
            Comps::Fixed(n) => n,
            Comps::Generic => 1,
        };
        for node in &self.nodes[self.pattern_len..] {
            let high = node.swizzle.as_ref().map(|s| s.iter().fold(0, |high, c| high.max(c + 1)));
            let (has, name, place) = match (&node.kind, high) {
                (NodeKind::Var(v), _) if self.vars[*v].whole => {
                    (taken[*v], self.vars[*v].name.clone(), Some(self.vars[*v].span))
                }
                (NodeKind::Var(v), Some(_)) => {
                    let var = &self.vars[*v];
                    (count(self.classes.comps(var.comps)), var.name.clone(), Some(var.span))
                }
                (NodeKind::Ref(of), Some(_)) => {
                    let inner = &self.nodes[*of];
                    let text = self.text.get(inner.span.range()).unwrap_or("this");
                    (count(self.classes.comps(inner.comps)), text.to_string(), None)
                }
                (NodeKind::Outside { what: Outside::Intrinsic { id, .. }, .. }, Some(_)) => {
                    let sig = self.lib.ops.intrinsic(*id);
                    // One without a count of its own is made with as many as are taken.
                    let has = sig.dest.map_or(0, |n| n.max(0) as u8);
                    (if has == 0 { 1 } else { has }, format!("@{}", sig.name), None)
                }
                (NodeKind::Outside { what: Outside::Tex { op, .. }, .. }, Some(_)) => {
                    (1, super::outside::name_of_tex(*op), None)
                }
                _ => continue,
            };
            let wanted = high.unwrap_or(match self.classes.comps(node.comps) {
                Comps::Fixed(n) => n,
                Comps::Generic => 16,
            });
            if wanted > has {
                let s = if has == 1 { "" } else { "s" };
                let text = format!("`{name}` is only known to have {has} component{s}");
                wrong.push((node.span, text, place));
            }
        }
        for (span, text, place) in wrong {
            let d = Diagnostic::error(codes::SWIZZLE, self.file, span, text);
            self.report(match place {
                Some(place) => d.label(place, "as it is matched here"),
                None => d,
            });
        }
    }

    fn check_unused(&mut self, ast: &ast::Rule) {
        let unused = |s: &Self, name: &str| !s.used.contains_key(name);
        let consts: Vec<(String, Span, &str)> = self
            .vars
            .iter()
            .filter(|v| v.kind != VarKind::Value && unused(self, &v.name))
            .map(|v| {
                let what = if v.kind == VarKind::Const { "constant" } else { "operation" };
                (v.name.clone(), v.span, what)
            })
            .collect();
        for (name, span, what) in consts {
            self.error(codes::UNUSED, span, format!("the {what} `{name}` is bound and never used"));
        }
        for l in &ast.lets {
            if unused(self, &l.name.text) {
                self.error(
                    codes::UNUSED,
                    l.name.span,
                    format!("`let {}` is never used", l.name.text),
                );
            }
        }
    }
}
