//! The longer explanations: what a name might have meant, where a clause belongs, how a constant is matched.

use super::ast::{self, Clause};
use super::clauses::{COUNT, ONLY_USED_AS};
use super::codes;
use super::model::*;
use super::resolve::{Binding, Resolver, VarDraft};
use super::syntax::{CLAUSES, before, is_word};
use crate::diagnostics::{Diagnostic, Span, nearest};

/// Says that a rule may have one clause more, and what; it is put where it belongs.
pub(super) fn with_clause(
    d: Diagnostic,
    set: &RuleSet,
    rule: &Rule,
    clause: &str,
    help: &str,
) -> Diagnostic {
    let text = &*set.files[rule.file].1;
    let word = clause.split(' ').next().unwrap_or("");
    let place = |w: &str| CLAUSES.iter().position(|c| *c == w);
    let (mut at, end) = (rule.span.start as usize, rule.span.end as usize);
    let mut depth = 0;
    while at < end {
        let rest = &text[at..end];
        let first = rest.chars().next().unwrap_or(' ');
        let length = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |n| n + 2),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        match first {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            ';' if depth == 0 => break,
            _ if depth == 0 && place(&rest[..length]) > place(word) => break,
            _ => {}
        }
        at += length;
    }
    let at = before(text, at);
    d.replace(Span::new(at, at), format!(" {clause}"), format!("{help} `{clause}`"))
}

/// Says that a fact may be left out: with its comma, or with `where` if it is the only one.
pub(super) fn without_fact(d: Diagnostic, set: &RuleSet, rule: &Rule, fact: Span) -> Diagnostic {
    let text = &*set.files[rule.file].1;
    let (head, tail) = (text[..fact.start as usize].trim_end(), &text[fact.end as usize..]);
    let span = match (head.strip_suffix("where"), head.strip_suffix(',')) {
        (Some(_), _) if tail.trim_start().starts_with(',') => {
            let behind = tail.trim_start()[1..].trim_start();
            Span::new(fact.start as usize, text.len() - behind.len())
        }
        (Some(head), _) => Span::new(head.trim_end().len(), fact.end as usize),
        (_, Some(head)) => Span::new(head.len(), fact.end as usize),
        _ => return d.help("leave it out"),
    };
    d.replace(span, "", "leave it out")
}

impl Resolver<'_> {
    /// What the expression language doesn't know may be a variable of the pattern.
    pub(super) fn value_in_expr(&self, d: Diagnostic) -> Diagnostic {
        let name = self.text.get(d.span.range()).unwrap_or("");
        match self.names.get(name) {
            Some(Binding::Var(v)) if matches!(self.vars[*v].kind, VarKind::Value) => {
                let text =
                    format!("`{name}` is a value, and expressions are computed from constants");
                let d = Diagnostic::error(codes::EXPR, self.file, d.span, text);
                self.matched_as_constant(d, *v)
            }
            Some(Binding::Var(v)) => {
                let text = format!(
                    "`{name}` is an operation, and expressions are computed from constants"
                );
                let d = Diagnostic::error(codes::EXPR, self.file, d.span, text);
                d.label(self.vars[*v].span, "bound here")
            }
            Some(Binding::Let(n)) => {
                let text =
                    format!("`{name}` is a term, and expressions are computed from constants");
                let d = Diagnostic::error(codes::EXPR, self.file, d.span, text);
                d.label(self.nodes[*n].span, "built here")
            }
            None => d,
        }
    }

    /// Where a name was bound.
    pub(super) fn place_of(&self, binding: Binding) -> Span {
        match binding {
            Binding::Var(v) => self.vars[v].span,
            Binding::Let(n) => self.nodes[n].span,
        }
    }

    /// The names that are bound so far, in alphabetical order.
    pub(super) fn known_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.names.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// Says how a variable of the pattern is matched as a constant.
    pub(super) fn as_constant(&self, d: Diagnostic, node: NodeId) -> Diagnostic {
        match self.nodes[node].kind {
            NodeKind::Var(v) if self.vars[v].kind == VarKind::Value => {
                self.matched_as_constant(d, v)
            }
            _ => d,
        }
    }

    fn matched_as_constant(&self, d: Diagnostic, var: VarId) -> Diagnostic {
        let VarDraft { name, span, .. } = &self.vars[var];
        let here = Span { end: span.start, ..*span };
        d.label(*span, "matches any value").replace(here, "#", format!("match it as `#{name}`"))
    }

    /// A clause that stands behind a later one, or a second time.
    pub(super) fn misplaced(&mut self, rule: &ast::Rule, clause: &Clause, span: Span) {
        let (word, position) = clause.keyword();
        let before = rule.clauses.iter().take_while(|(_, s)| *s != span);
        let mut twins = before.clone().filter(|(c, _)| c.keyword().1 == position);
        let repeatable = matches!(clause, Clause::Allow(..) | Clause::Test(..));
        if let Some((_, first)) = twins.next().filter(|_| !repeatable) {
            let text = format!("`{word}` is written twice");
            let d = Diagnostic::error(codes::CLAUSE_ORDER, self.file, span, text);
            let d = d.label(*first, "first here");
            self.report(match word {
                "where" | "with" => d.help("write one, its entries separated by commas"),
                "when" | "if" => d.help("write one, its conditions joined by `&&`"),
                _ => d,
            });
            return;
        }
        let text = format!("`{word}` stands too late");
        let mut d = Diagnostic::error(codes::CLAUSE_ORDER, self.file, span, text);
        if let Some((later, at)) = before.clone().find(|(c, _)| c.keyword().1 > position) {
            d = d.label(*at, format!("`{}` comes behind it", later.keyword().0));
        }
        let help = format!("the order is {}", super::syntax::CLAUSES.join(", "));
        let mut sorted: Vec<&(Clause, Span)> = rule.clauses.iter().collect();
        sorted.sort_by_key(|(c, _)| c.keyword().1);
        let texts: Option<Vec<&str>> =
            sorted.iter().map(|(_, s)| self.text.get(s.range())).collect();
        let whole = rule.clauses.iter().map(|c| c.1).reduce(Span::to);
        self.report(match (texts, whole) {
            (Some(texts), Some(whole)) if !texts.iter().any(|t| t.contains("//")) => {
                d.replace(whole, texts.join(" "), help)
            }
            _ => d.help(help),
        });
    }

    /// A name without brackets in a condition.
    pub(super) fn no_such_option(&self, name: &ast::Name, options: bool) -> Diagnostic {
        if !options {
            let text = format!("there is no profit test `{}`", name.text);
            let d = Diagnostic::error(codes::UNKNOWN_PROFIT, self.file, name.span, text);
            return match name.text.starts_with("target.") {
                true => d.help("options of the target are tested by `when`"),
                false => d.help("profit tests are written as calls, as in `once(m)`"),
            };
        }
        let text = format!("there is no target option `{}`", name.text);
        let d = Diagnostic::error(codes::UNKNOWN_OPTION, self.file, name.span, text);
        let all: Vec<String> = self.lib.options.iter().map(|o| format!("target.{}", o.0)).collect();
        let full = format!("target.{}", name.text);
        let meant = if all.contains(&full) { &full } else { &name.text };
        match nearest(meant, all.iter().map(String::as_str)) {
            Some(best) => d.replace(name.span, best, format!("did you mean `{best}`?")),
            None => d,
        }
    }

    /// A name with brackets in a condition.
    pub(super) fn no_such_test(&self, name: &ast::Name, options: bool) -> Diagnostic {
        if options {
            let text = format!("`when` tests options of the target, and `{}` is none", name.text);
            let d = Diagnostic::error(codes::UNKNOWN_OPTION, self.file, name.span, text);
            return match profit_tests().any(|n| n == name.text) {
                true => d.help("profit is tested by `if`"),
                false => d.help("options are written `target.NAME`; what correctness rests on stands behind `where`"),
            };
        }
        let text = format!("there is no profit test `{}`", name.text);
        let d = Diagnostic::error(codes::UNKNOWN_PROFIT, self.file, name.span, text);
        if self.lib.facts.iter().any(|f| f.name == name.text) {
            return d.help("facts stand behind `where`");
        }
        if name.text == COUNT {
            return d.help("compare the number of uses, as in `uses(m) <= 2`");
        }
        d.suggest(&name.text, profit_tests())
    }
}

/// The names of profit tests.
fn profit_tests() -> impl Iterator<Item = &'static str> {
    Profit::ALL.iter().map(|(n, _)| *n).chain([ONLY_USED_AS, COUNT])
}
