//! From text to syntax tree: the pest grammar in `rules.pest`, and the walk over its pairs.

use super::ast::*;
use super::codes;
use crate::diagnostics::{Diagnostic, Span};
use pest::Parser as _;
use pest::iterators::{Pair, Pairs};
use std::sync::Arc;

#[allow(missing_docs, reason = "the derive makes undocumented items")]
pub(super) mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "rules/rules.pest"]
    pub struct Grammar;
}
use grammar::{Grammar, Rule};

/// Deepest nesting of brackets that is parsed; the parser recurses, and no sensible rule comes near it.
const MAX_DEPTH: usize = 64;

/// Parses a rule file.
pub fn parse_rules(name: &Arc<str>, text: &str) -> Result<File, Diagnostic> {
    let pairs = run(name, text, Rule::file)?;
    let cx = Cx { file: name };
    Ok(File { name: name.clone(), items: cx.items(pairs)? })
}

/// Parses the fact library.
pub fn parse_facts(name: &Arc<str>, text: &str) -> Result<Vec<FactDef>, Diagnostic> {
    let pairs = run(name, text, Rule::facts_file)?;
    let cx = Cx { file: name };
    let mut out = Vec::new();
    for pair in pairs {
        match pair.as_rule() {
            Rule::header => cx.header(pair)?,
            Rule::fact_def | Rule::fn_def => out.push(cx.fact_def(pair)?),
            _ => {}
        }
    }
    Ok(out)
}

/// Parses the list of groups and files.
pub fn parse_groups(name: &Arc<str>, text: &str) -> Result<Groups, Diagnostic> {
    let pairs = run(name, text, Rule::groups_file)?;
    let cx = Cx { file: name };
    let mut out = Groups::default();
    for pair in pairs {
        match pair.as_rule() {
            Rule::header => cx.header(pair)?,
            Rule::group_def | Rule::option_def | Rule::file_def => {
                let what = pair.as_rule();
                let mut doc = String::new();
                for part in pair.into_inner() {
                    let list = match (part.as_rule(), what) {
                        (Rule::dotted, Rule::group_def) => &mut out.groups,
                        (Rule::ident, Rule::option_def) => &mut out.options,
                        (Rule::tname, Rule::file_def) => &mut out.files,
                        (Rule::doc, _) => {
                            push_doc(&mut doc, part.as_str());
                            continue;
                        }
                        _ => continue,
                    };
                    list.push((name_of(&part), std::mem::take(&mut doc)));
                }
            }
            _ => {}
        }
    }
    Ok(out)
}

/// Parses one term, as given on a command line.
pub fn parse_term(name: &Arc<str>, text: &str) -> Result<Term, Diagnostic> {
    let pairs = run(name, text, Rule::term_only)?;
    let cx = Cx { file: name };
    let term = pairs.into_iter().find(|p| p.as_rule() == Rule::term);
    cx.term(cx.expect(term, Span::new(0, text.len()))?)
}

/// Parses `L => R where … with …`, a rule without name and semicolon, as given on a command line.
pub fn parse_bare_rule(file: &Arc<str>, text: &str) -> Result<super::ast::Rule, Diagnostic> {
    let pairs = run(file, text, Rule::expr_only)?;
    let cx = Cx { file };
    let span = Span::new(0, text.len());
    cx.rule_parts(pairs, span, Some(Name { text: "expr".into(), span }))
}

/// The pairs inside the top rule.
pub(super) fn run<'t>(
    name: &Arc<str>,
    text: &'t str,
    top: Rule,
) -> Result<Pairs<'t, Rule>, Diagnostic> {
    if let Some(at) = too_deep(text) {
        return Err(Diagnostic::error(
            codes::SYNTAX,
            name,
            Span::new(at, at + 1),
            format!("brackets are nested more than {MAX_DEPTH} deep"),
        ));
    }
    match Grammar::parse(top, text) {
        Ok(mut pairs) => match pairs.next() {
            Some(top) => Ok(top.into_inner()),
            None => {
                Err(Diagnostic::error(codes::SYNTAX, name, Span::new(0, 0), "nothing to parse"))
            }
        },
        Err(e) => {
            // Which tokens the parser would have taken it says only with this switch on, which is one for the whole
            // process. Nothing rests on its being off: it is never turned off here, makes parsers slower, and adds to
            // errors what only those see who ask for it. A text without errors doesn't touch it.
            pest::set_error_detail(true);
            let detailed = Grammar::parse(top, text).err().unwrap_or(e);
            Err(super::syntax::error(name, text, &detailed))
        }
    }
}

fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(at);
        }
    }
    None
}

fn span_of(pair: &Pair<'_, Rule>) -> Span {
    // White space and comments before the next token are inside the pair.
    let start = pair.as_span().start();
    Span::new(start, start + trimmed(pair.as_str()).len())
}

/// The text without white space and comment lines at its end.
fn trimmed(text: &str) -> &str {
    let mut text = text.trim_end();
    while let Some(at) = text.rfind('\n') {
        let last = text[at..].trim_start();
        if !last.starts_with("//") || last.starts_with("///") {
            break;
        }
        text = text[..at].trim_end();
    }
    text
}

fn name_of(pair: &Pair<'_, Rule>) -> Name {
    Name { text: trimmed(pair.as_str()).to_string(), span: span_of(pair) }
}

/// Text of the expression language, with blanks in place of comments, so that places stay.
fn expr_of(pair: &Pair<'_, Rule>) -> Name {
    let name = name_of(pair);
    if !name.text.contains("//") {
        return name;
    }
    let mut text = String::new();
    for line in name.text.split_inclusive('\n') {
        let code = line.find("//").unwrap_or(line.len());
        text.push_str(&line[..code]);
        text.extend(line[code..].chars().map(|c| if c == '\n' { c } else { ' ' }));
    }
    let text = text.trim_end().to_string();
    Name { span: Span { end: name.span.start + text.len() as u32, ..name.span }, text }
}

fn push_doc(doc: &mut String, line: &str) {
    if !doc.is_empty() {
        doc.push('\n');
    }
    doc.push_str(line.trim_start_matches("///").trim());
}

/// The walk. Every `expect` here restates what the grammar guarantees; a mistake shows as a diagnostic.
struct Cx<'a> {
    file: &'a Arc<str>,
}

type Res<T> = Result<T, Diagnostic>;

impl Cx<'_> {
    fn bad(&self, span: Span, message: &str) -> Diagnostic {
        Diagnostic::error(codes::SYNTAX, self.file, span, message)
    }

    fn expect<T>(&self, value: Option<T>, span: Span) -> Res<T> {
        value.ok_or_else(|| self.bad(span, "incomplete"))
    }

    fn header(&self, pair: Pair<'_, Rule>) -> Res<()> {
        let span = span_of(&pair);
        let version = pair.into_inner().find(|p| p.as_rule() == Rule::number);
        match version {
            Some(v) if v.as_str() == "1" => Ok(()),
            _ => Err(self.bad(span, "the only version of the language is `rules 1`")),
        }
    }

    fn items(&self, pairs: Pairs<'_, Rule>) -> Res<Vec<Item>> {
        let mut out = Vec::new();
        for pair in pairs {
            let span = span_of(&pair);
            match pair.as_rule() {
                Rule::header => self.header(pair)?,
                Rule::rule => {
                    out.push(Item::Rule(Box::new(self.rule_parts(
                        pair.into_inner(),
                        span,
                        None,
                    )?)));
                }
                Rule::for_loop => out.push(Item::For(self.for_loop(pair)?)),
                _ => {}
            }
        }
        Ok(out)
    }

    fn for_loop(&self, pair: Pair<'_, Rule>) -> Res<For> {
        let span = span_of(&pair);
        let mut out = For { names: Vec::new(), tuples: Vec::new(), items: Vec::new(), span };
        for part in pair.into_inner() {
            let part_span = span_of(&part);
            match part.as_rule() {
                Rule::binder => out.names = part.into_inner().map(|p| name_of(&p)).collect(),
                Rule::tuple => {
                    let values =
                        part.into_inner().map(|p| self.loop_value(p)).collect::<Res<_>>()?;
                    out.tuples.push((values, part_span));
                }
                Rule::rule => {
                    let rule = self.rule_parts(part.into_inner(), part_span, None)?;
                    out.items.push(Item::Rule(Box::new(rule)));
                }
                Rule::for_loop => out.items.push(Item::For(self.for_loop(part)?)),
                _ => {}
            }
        }
        Ok(out)
    }

    fn loop_value(&self, pair: Pair<'_, Rule>) -> Res<LoopValue> {
        let (text, span) = (pair.as_str().to_string(), span_of(&pair));
        let literal = match pair.into_inner().next() {
            Some(p) if p.as_rule() == Rule::literal => Some(self.literal(p)?),
            _ => None,
        };
        Ok(LoopValue { text, literal, span })
    }

    fn rule_parts(
        &self,
        pairs: Pairs<'_, Rule>,
        span: Span,
        fallback: Option<Name>,
    ) -> Res<super::ast::Rule> {
        let (mut name, mut doc, mut pattern) = (fallback, String::new(), None);
        let (mut lets, mut alts, mut clauses) = (Vec::new(), Vec::new(), Vec::new());
        for part in pairs {
            match part.as_rule() {
                Rule::doc => push_doc(&mut doc, part.as_str()),
                Rule::tname => name = Some(name_of(&part)),
                Rule::term => pattern = Some(self.term(part)?),
                Rule::replacement => {
                    for p in part.into_inner() {
                        match p.as_rule() {
                            Rule::let_stmt => lets.push(self.let_stmt(p)?),
                            Rule::alt => alts.push(self.alt(p)?),
                            _ => {}
                        }
                    }
                }
                Rule::kw_rule | Rule::EOI => {}
                _ => clauses.push((self.clause(part.clone())?, span_of(&part))),
            }
        }
        let name = self.expect(name, span)?;
        // Without the documentation above it.
        let span = Span { start: name.span.start, end: span.end };
        Ok(super::ast::Rule {
            name,
            doc,
            pattern: self.expect(pattern, span)?,
            lets,
            alts,
            clauses,
            span,
        })
    }

    fn let_stmt(&self, pair: Pair<'_, Rule>) -> Res<Let> {
        let span = span_of(&pair);
        let (mut name, mut value) = (None, None);
        for p in pair.into_inner() {
            match p.as_rule() {
                Rule::ident => name = Some(name_of(&p)),
                Rule::term => value = Some(LetValue::Term(self.term(p)?)),
                Rule::raw_expr => value = Some(LetValue::Expr(expr_of(&p))),
                _ => {}
            }
        }
        Ok(Let { name: self.expect(name, span)?, value: self.expect(value, span)? })
    }

    fn alt(&self, pair: Pair<'_, Rule>) -> Res<Alt> {
        let span = span_of(&pair);
        let (mut term, mut guard) = (None, Guard::None);
        for p in pair.into_inner() {
            let at = span_of(&p);
            match p.as_rule() {
                Rule::term => term = Some(self.term(p)?),
                Rule::alt_if => guard = Guard::If(self.cond_in(p)?),
                Rule::kw_otherwise => guard = Guard::Otherwise(at),
                _ => {}
            }
        }
        Ok(Alt { term: self.expect(term, span)?, guard })
    }

    fn clause(&self, pair: Pair<'_, Rule>) -> Res<Clause> {
        let span = span_of(&pair);
        let kind = pair.as_rule();
        let one = |pair: Pair<'_, Rule>, want: &[Rule]| -> Res<Vec<Name>> {
            Ok(pair
                .into_inner()
                .filter(|p| want.contains(&p.as_rule()))
                .map(|p| name_of(&p))
                .collect())
        };
        let first = |names: Vec<Name>| self.expect(names.into_iter().next(), span);
        Ok(match kind {
            Rule::where_clause => Clause::Where(
                pair.into_inner()
                    .filter(|p| p.as_rule() == Rule::fact)
                    .filter_map(|p| p.into_inner().next())
                    .map(|p| self.fact(p))
                    .collect::<Res<_>>()?,
            ),
            Rule::with_clause => Clause::With(one(pair, &[Rule::ident])?),
            Rule::when_clause => Clause::When(self.cond_in(pair)?),
            Rule::if_clause => Clause::If(self.cond_in(pair)?),
            Rule::group_clause => Clause::Group(first(one(pair, &[Rule::dotted])?)?),
            Rule::canonical_clause => {
                Clause::Canonical(unquote(first(one(pair, &[Rule::string])?)?))
            }
            Rule::waive_clause => Clause::Waive(unquote(first(one(pair, &[Rule::string])?)?)),
            Rule::ulps_clause => {
                let n = first(one(pair, &[Rule::number])?)?;
                let value =
                    n.text.parse().map_err(|_| self.bad(n.span, "a bound is at most 2^32 - 1"))?;
                Clause::Ulps(value, n.span)
            }
            Rule::allow_clause => {
                let mut names = one(pair, &[Rule::ident, Rule::string])?.into_iter();
                let code = self.expect(names.next(), span)?;
                Clause::Allow(code, unquote(self.expect(names.next(), span)?))
            }
            Rule::test_clause => {
                let (mut args, mut result) = (Vec::new(), None);
                for p in pair.into_inner() {
                    match p.as_rule() {
                        Rule::test_arg => {
                            let mut inner = p.into_inner();
                            let name = inner.next().map(|p| name_of(&p));
                            let value = self.expect(inner.next(), span)?;
                            args.push((self.expect(name, span)?, self.literal(value)?));
                        }
                        Rule::literal => result = Some(self.literal(p)?),
                        _ => {}
                    }
                }
                Clause::Test(args, self.expect(result, span)?)
            }
            _ => return Err(self.bad(span, "unknown clause")),
        })
    }

    fn fact(&self, pair: Pair<'_, Rule>) -> Res<FactUse> {
        let span = span_of(&pair);
        if pair.as_rule() == Rule::env_fact {
            let items = pair.into_inner().filter(|p| p.as_rule() == Rule::env_item);
            let items = items.map(|p| {
                let mut names = p.into_inner().map(|p| name_of(&p));
                let key = self.expect(names.next(), span)?;
                Ok((key, names.collect()))
            });
            return Ok(FactUse::Env(items.collect::<Res<_>>()?, span));
        }
        let mut inner = pair.into_inner();
        let name = self.expect(inner.next().map(|p| name_of(&p)), span)?;
        let mut args = Vec::new();
        for arg in inner {
            let Some(p) = arg.into_inner().next() else { continue };
            args.push(match p.as_rule() {
                // `BITS` and its like belong to the expression language.
                Rule::var_use if !p.as_str().starts_with(|c: char| c.is_ascii_uppercase()) => {
                    let mut parts = p.into_inner();
                    let var = self.expect(parts.next().map(|p| name_of(&p)), span)?;
                    FactArg::Var(var, parts.next().and_then(swizzle_letters))
                }
                _ => FactArg::Expr(expr_of(&p)),
            });
        }
        Ok(FactUse::Call { name, args, span })
    }

    fn cond_in(&self, pair: Pair<'_, Rule>) -> Res<Cond> {
        let span = span_of(&pair);
        let cond = pair.into_inner().find(|p| p.as_rule() == Rule::cond);
        self.cond(self.expect(cond, span)?)
    }

    fn cond(&self, pair: Pair<'_, Rule>) -> Res<Cond> {
        let span = span_of(&pair);
        match pair.as_rule() {
            Rule::cond | Rule::cond_and => {
                let or = pair.as_rule() == Rule::cond;
                let mut parts = pair.into_inner().map(|p| self.cond(p)).collect::<Res<Vec<_>>>()?;
                Ok(match (parts.len(), or) {
                    (1, _) => parts.swap_remove(0),
                    (_, true) => Cond::Or(parts),
                    (_, false) => Cond::And(parts),
                })
            }
            Rule::cond_not => {
                let mut negate = false;
                let mut atom = None;
                for p in pair.into_inner() {
                    if p.as_rule() == Rule::not {
                        negate = !negate;
                    } else {
                        atom = Some(self.cond(p)?);
                    }
                }
                let atom = self.expect(atom, span)?;
                Ok(if negate { Cond::Not(Box::new(atom)) } else { atom })
            }
            Rule::cond_atom => {
                let inner = self.expect(pair.into_inner().next(), span)?;
                self.cond(inner)
            }
            Rule::count_test => {
                let mut parts = pair.into_inner();
                let call = self.expect(parts.next(), span)?;
                let compare = self.expect(parts.next().map(|p| name_of(&p)), span)?;
                let bound = self.expect(parts.next().map(|p| name_of(&p)), span)?;
                match self.cond(call)? {
                    Cond::Call(name, args, _) => {
                        Ok(Cond::Count { name, args, compare, bound, span })
                    }
                    other => Ok(other),
                }
            }
            Rule::cond_call => {
                let mut names = pair.into_inner().map(|p| name_of(&p));
                let name = self.expect(names.next(), span)?;
                Ok(Cond::Call(name, names.collect(), span))
            }
            _ => Ok(Cond::Option(name_of(&pair))),
        }
    }

    fn term(&self, pair: Pair<'_, Rule>) -> Res<Term> {
        let span = span_of(&pair);
        let (mut bind, mut atom) = (None, None);
        for p in pair.into_inner() {
            if p.as_rule() == Rule::bind {
                bind = p.into_inner().next().map(|p| name_of(&p));
            } else {
                atom = Some(p);
            }
        }
        let atom = self.expect(atom, span)?;
        let (mut names, mut flags, mut args) = (Vec::new(), Vec::new(), Vec::new());
        let (mut kinds, mut attrs) = (Vec::new(), Vec::new());
        let (mut swizzle, mut note) = (None, None);
        let shape = atom.as_rule();
        if shape == Rule::literal {
            let kind = TermKind::Literal(self.literal(atom)?);
            return Ok(Term { bind, kind, swizzle: None, span });
        }
        for p in atom.into_inner() {
            match p.as_rule() {
                Rule::tname | Rule::ident => names.push(name_of(&p)),
                Rule::flag => flags.extend(p.into_inner().next().map(|p| name_of(&p))),
                Rule::term => args.push(self.term(p)?),
                Rule::tex_src => {
                    let at = span_of(&p);
                    let mut parts = p.into_inner();
                    kinds.push(self.expect(parts.next().map(|p| name_of(&p)), at)?);
                    args.push(self.term(self.expect(parts.next(), at)?)?);
                }
                Rule::attr => {
                    let at = span_of(&p);
                    let mut parts = p.into_inner();
                    let key = self.expect(parts.next().map(|p| name_of(&p)), at)?;
                    let value = self.expect(parts.next(), at)?;
                    let name = name_of(&value);
                    let literal = match value.as_rule() {
                        Rule::literal => Some(self.literal(value)?),
                        _ => None,
                    };
                    attrs.push(Attr { key, value: name, literal });
                }
                Rule::swizzle => swizzle = swizzle_letters(p),
                Rule::size_note => note = Some(self.size_note(p)?),
                _ => {}
            }
        }
        let name = names.into_iter().next();
        let kind = match shape {
            Rule::op_term => TermKind::Op { op: self.expect(name, span)?, flags, args },
            Rule::var_term => TermKind::Var(self.expect(name, span)?, note),
            Rule::const_term => TermKind::Const(self.expect(name, span)?, note),
            Rule::ac_term => TermKind::Ac(self.expect(name, span)?, args),
            Rule::intrinsic_term => TermKind::Intrinsic(self.expect(name, span)?, args, attrs),
            Rule::tex_term => {
                let srcs = kinds.into_iter().zip(args).collect();
                TermKind::Tex(self.expect(name, span)?, srcs, attrs)
            }
            Rule::phi_term => TermKind::Phi(args),
            Rule::undef_term => TermKind::Undef(note),
            _ => return Err(self.bad(span, "expected a term")),
        };
        Ok(Term { bind, kind, swizzle, span })
    }

    fn size_note(&self, pair: Pair<'_, Rule>) -> Res<SizeNote> {
        let span = span_of(&pair);
        let (mut size, mut count) = (None, None);
        for p in pair.into_inner().flat_map(Pair::into_inner) {
            let at = span_of(&p);
            let text = p.as_str().to_string();
            let shape = p.as_rule();
            let mut inner = p.into_inner();
            match shape {
                Rule::size_bits => {
                    let first = self.expect(inner.next(), at)?;
                    let second = inner.next();
                    let number =
                        || first.as_str().parse::<u32>().map_err(|_| self.bad(at, "not a size"));
                    size = Some(match (first.as_rule(), second) {
                        (Rule::number, Some(var)) => {
                            SizeExpr::Var(number()?, var.as_str().to_string())
                        }
                        (Rule::number, None) => SizeExpr::Bits(number()?),
                        (Rule::size_var, _) => SizeExpr::Var(1, text),
                        (Rule::base_type, _) => SizeExpr::Base(match first.as_str() {
                            "int" => BaseWord::Int,
                            "uint" => BaseWord::Uint,
                            "float" => BaseWord::Float,
                            _ => BaseWord::Bool,
                        }),
                        (Rule::hole, _) => SizeExpr::Loop(hole_name(&text)),
                        _ => SizeExpr::Loop(text),
                    });
                }
                Rule::count => {
                    let first = self.expect(inner.next(), at)?;
                    count = Some(match first.as_rule() {
                        Rule::number => CountExpr::Number(
                            first
                                .as_str()
                                .parse()
                                .map_err(|_| self.bad(at, "not a component count"))?,
                        ),
                        Rule::size_var => CountExpr::Var(text),
                        _ => CountExpr::Loop(hole_name(&text)),
                    });
                }
                _ => {}
            }
        }
        Ok(SizeNote { size: self.expect(size, span)?, count, span })
    }

    fn literal(&self, pair: Pair<'_, Rule>) -> Res<Literal> {
        let (text, span) = (pair.as_str().to_string(), span_of(&pair));
        let inner = self.expect(pair.into_inner().next(), span)?;
        let (negative, digits) = match text.as_bytes()[0] {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, &text[..]),
        };
        let integer = |digits: &str, radix| {
            let value = i128::from_str_radix(digits, radix).ok().filter(|v| *v < 1 << 64);
            let value = value.ok_or_else(|| self.bad(span, "no operand is wider than 64 bits"))?;
            Ok::<i128, Diagnostic>(if negative { -value } else { value })
        };
        let float =
            |v: f64| LiteralKind::Float(if negative { (-v).to_bits() } else { v.to_bits() });
        let kind = match inner.as_rule() {
            Rule::hex_lit => LiteralKind::Hex(integer(&digits[2..], 16)?),
            Rule::int_lit => LiteralKind::Int(integer(digits, 10)?),
            Rule::float_lit => float(digits.parse().map_err(|_| self.bad(span, "not a number"))?),
            _ => match digits {
                "nan" => float(f64::NAN),
                "inf" => float(f64::INFINITY),
                word => LiteralKind::Bool(word == "true"),
            },
        };
        Ok(Literal { text, kind, span })
    }

    fn fact_def(&self, pair: Pair<'_, Rule>) -> Res<FactDef> {
        let span = span_of(&pair);
        let is_fn = pair.as_rule() == Rule::fn_def;
        let mut doc = String::new();
        let (mut names, mut params, mut body, mut on_values) =
            (Vec::new(), Vec::new(), None, false);
        for p in pair.into_inner() {
            match p.as_rule() {
                Rule::doc => push_doc(&mut doc, p.as_str()),
                Rule::ident => names.push(name_of(&p)),
                Rule::param => {
                    let mut parts = p.into_inner().map(|p| name_of(&p));
                    if let (Some(n), Some(t)) = (parts.next(), parts.next()) {
                        params.push((n, t));
                    }
                }
                Rule::on_values => {
                    on_values = true;
                    if let Some(word) = p.into_inner().find(|p| p.as_rule() == Rule::ident)
                        && word.as_str() != "values"
                    {
                        return Err(self.bad(span_of(&word), "expected `values`"));
                    }
                }
                Rule::raw_expr => body = Some(expr_of(&p)),
                _ => {}
            }
        }
        let mut names = names.into_iter();
        let name = self.expect(names.next(), span)?;
        let result = names.next().filter(|_| is_fn);
        Ok(FactDef { name, doc, params, result, on_values, body: self.expect(body, span)?, span })
    }
}

fn hole_name(text: &str) -> String {
    text.trim_start_matches("${").trim_end_matches('}').to_string()
}

fn swizzle_letters(pair: Pair<'_, Rule>) -> Option<Name> {
    pair.into_inner().next().map(|p| name_of(&p))
}

fn unquote(name: Name) -> Name {
    Name { text: name.text.trim_matches('"').to_string(), span: name.span }
}
