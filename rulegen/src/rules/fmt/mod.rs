//! The formatter of rule files: one way to write each rule, comments kept.
//!
//! Works on tokens between the marks of the syntax tree, so whatever parses is formatted, also a rule that names no op.
//! A rule stands on one line if it fits; else its clauses do, each on its own; else pattern and replacement too. Lines
//! that are still too long are broken behind commas and in front of `&&` and `||`, the outermost first. Only blank
//! lines between rules, and where comments stand, are taken from the input, so formatting twice changes nothing.

mod lines;
mod tokens;

use super::parse::{self, grammar::Rule};
use crate::diagnostics::Diagnostic;
use lines::{Layout, WIDTH, fill, flat};
use std::sync::Arc;
use tokens::{Event, Kind, Token, events};

/// A step of indentation.
const STEP: usize = 4;

/// Formats a file of rules, of facts or of groups.
///
/// # Errors
/// Where the text doesn't follow the grammar.
pub fn format(name: &Arc<str>, text: &str) -> Result<String, Diagnostic> {
    let kinds = [Rule::file, Rule::facts_file, Rule::groups_file];
    let mut furthest: Option<Diagnostic> = None;
    for kind in kinds {
        match parse::run(name, text, kind) {
            Ok(pairs) => return Ok(File::default().print(events(text, pairs))),
            // The kind of file that explains most of the text is the one that is meant.
            Err(d) if furthest.as_ref().is_none_or(|f| d.span.start > f.span.start) => {
                furthest = Some(d);
            }
            Err(_) => {}
        }
    }
    Err(furthest.unwrap_or_else(|| {
        Diagnostic::error(super::codes::SYNTAX, name, (0..0).into(), "nothing to parse")
    }))
}

/// The file as it is written.
#[derive(Default)]
struct File {
    out: Layout,
    depth: usize,
}

/// A piece of a rule that may have lines of its own.
struct Segment<'t> {
    indent: usize,
    part: Part,
    tokens: Vec<Token<'t>>,
}

/// The pieces of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Name, pattern, replacement.
    Head,
    Clause,
    Test,
}

impl File {
    fn print(mut self, list: Vec<Event<'_>>) -> String {
        let mut at = 0;
        while at < list.len() {
            at = match &list[at] {
                Event::Open(Rule::for_loop) => self.for_header(&list, at),
                Event::Open(_) => {
                    let end = close(&list, at);
                    self.item(&list[at..=end]);
                    end + 1
                }
                Event::Token(t) => {
                    self.between(t);
                    at + 1
                }
                Event::Close => at + 1,
            };
        }
        self.out.finish()
    }

    /// A token outside of rules: a comment, or the end of a loop.
    fn between(&mut self, token: &Token<'_>) {
        if token.text == "}" {
            self.depth = self.depth.saturating_sub(STEP);
            self.out.tight();
        }
        match token.kind == Kind::Comment && token.lines == 0 {
            true => self.out.trail(self.depth, token.text),
            false => self.out.line(self.depth, token.text, token.lines),
        }
    }

    /// A loop up to its brace; gives the place behind it.
    fn for_header(&mut self, list: &[Event<'_>], start: usize) -> usize {
        let mut tokens = Vec::new();
        let mut at = start + 1;
        while let Some(event) = list.get(at) {
            if let Event::Token(t) = event {
                match t.kind {
                    Kind::Doc => self.out.line(self.depth, t.text, t.lines),
                    _ => tokens.push(t.clone()),
                }
                if t.part == Rule::for_loop && t.text == "{" {
                    break;
                }
            }
            at += 1;
        }
        let lines = tokens.first().map_or(0, |t| t.lines);
        let tokens = tidy(tokens);
        match flat(&tokens).filter(|l| self.depth + l.chars().count() <= WIDTH) {
            Some(line) => self.out.line(self.depth, &line, lines),
            None => {
                let place = |text: &str| {
                    let found = |t: &Token<'_>| t.part == Rule::for_loop && t.text == text;
                    tokens.iter().position(found).unwrap_or(tokens.len())
                };
                let (open, shut) = (place("[") + 1, place("]"));
                let (head, rest) = tokens.split_at(open.min(shut));
                let (values, tail) = rest.split_at(shut - open.min(shut));
                self.out.lines(fill(head, self.depth, STEP), lines);
                self.out.lines(fill(values, self.depth + STEP, 0), 1);
                self.out.lines(fill(tail, self.depth, STEP), 1);
            }
        }
        self.depth += STEP;
        self.out.open();
        at + 1
    }

    /// A rule, a definition, or the header.
    fn item(&mut self, list: &[Event<'_>]) {
        let Some(Event::Open(what)) = list.first() else { return };
        let mut segments = segments(list);
        let mut documented = false;
        // What stands above the item, and what stands behind it, has lines of its own.
        if let Some(first) = segments.first_mut() {
            let above = |t: &Token<'_>| matches!(t.kind, Kind::Doc | Kind::Comment);
            let n = first.tokens.iter().position(|t| !above(t)).unwrap_or(0);
            for token in first.tokens.drain(..n) {
                documented = true;
                self.out.line(self.depth, token.text, token.lines);
            }
        }
        let mut behind = Vec::new();
        if let Some(last) = segments.last_mut() {
            let n = last.tokens.iter().rposition(|t| t.kind != Kind::Comment).map_or(0, |n| n + 1);
            behind = last.tokens.split_off(n);
        }
        // Where several pieces share a line, the line is one piece.
        let mut joined: Vec<Segment<'_>> = Vec::new();
        let fits = |list: &[Segment<'_>]| {
            let tokens: Vec<Token<'_>> = list.iter().flat_map(|s| s.tokens.clone()).collect();
            // Comments behind the line may be longer.
            let n = tokens.iter().rposition(|t| t.kind != Kind::Comment).map_or(0, |n| n + 1);
            let indent = self.depth + list.first().map_or(0, |s| s.indent);
            flat(&tokens[..n]).is_some_and(|l| indent + l.chars().count() <= WIDTH)
        };
        let count = |parts: &[Part]| {
            segments.iter().position(|s| !parts.contains(&s.part)).unwrap_or(segments.len())
        };
        let (line, head) = (count(&[Part::Head, Part::Clause]), count(&[Part::Head]));
        let together = match () {
            () if fits(&segments[..line]) => 0..line,
            () if fits(&segments[..head]) => 0..head,
            // The name on a line of its own.
            () if head > 1 && fits(&segments[1..head]) => 1..head,
            () => 0..0,
        };
        for (i, segment) in segments.into_iter().enumerate() {
            match joined.last_mut() {
                Some(first) if together.contains(&i) && i != together.start => {
                    first.tokens.extend(segment.tokens);
                }
                _ => joined.push(segment),
            }
        }
        let first = joined.first().and_then(|s| s.tokens.first()).filter(|_| !documented);
        let blank = first.map_or(1, |t| t.lines);
        for (i, segment) in joined.iter().enumerate() {
            let lines = if i == 0 { blank } else { 1 };
            let indent = self.depth + segment.indent;
            self.out.lines(fill(&segment.tokens, indent, STEP), lines);
        }
        for comment in &behind {
            self.between(comment);
        }
        if *what == Rule::header {
            self.out.blank();
        }
    }
}

/// The place of the event that closes the part opened at `start`.
fn close(list: &[Event<'_>], start: usize) -> usize {
    let mut depth = 0usize;
    for (at, event) in list.iter().enumerate().skip(start) {
        match event {
            Event::Open(_) => depth += 1,
            Event::Close => depth -= 1,
            Event::Token(_) => {}
        }
        if depth == 0 {
            return at;
        }
    }
    list.len() - 1
}

/// The pieces of an item, with commas in front of the comments that they follow.
fn segments<'t>(list: &[Event<'t>]) -> Vec<Segment<'t>> {
    let mut out = vec![Segment { indent: 0, part: Part::Head, tokens: Vec::new() }];
    let mut stack: Vec<Rule> = Vec::new();
    let mut alts = 0;
    let mut braced = false;
    let start = |indent, part, out: &mut Vec<Segment<'t>>| {
        out.push(Segment { indent, part, tokens: Vec::new() });
    };
    for event in list {
        match event {
            Event::Open(what) => {
                let parent = stack.last().copied();
                match what {
                    Rule::term if parent == Some(Rule::rule) => {
                        start(STEP, Part::Head, &mut out);
                    }
                    Rule::let_stmt if braced => start(2 * STEP, Part::Head, &mut out),
                    Rule::alt => {
                        let lets = out.last().is_some_and(ends_let);
                        match alts {
                            0 if lets && !braced => start(STEP, Part::Head, &mut out),
                            0 => {}
                            _ => start(2 * STEP, Part::Head, &mut out),
                        }
                        alts += 1;
                    }
                    Rule::let_stmt if out.last().is_some_and(ends_let) => {
                        start(STEP, Part::Head, &mut out);
                    }
                    Rule::test_clause => start(STEP, Part::Test, &mut out),
                    what if parent == Some(Rule::rule) && is_clause(*what) => {
                        start(STEP, Part::Clause, &mut out);
                    }
                    Rule::raw_expr if matches!(parent, Some(Rule::fact_def | Rule::fn_def)) => {
                        start(STEP, Part::Clause, &mut out);
                    }
                    _ => {}
                }
                stack.push(*what);
            }
            Event::Close => {
                stack.pop();
            }
            Event::Token(token) => {
                let own = stack.last();
                match token.text {
                    "=>" if own == Some(&Rule::rule) => start(STEP, Part::Head, &mut out),
                    "{" if own == Some(&Rule::replacement) => braced = true,
                    "}" if own == Some(&Rule::replacement) => {
                        start(STEP, Part::Head, &mut out);
                    }
                    _ => {}
                }
                if let Some(segment) = out.last_mut() {
                    segment.tokens.push(token.clone());
                }
            }
        }
    }
    settle(out)
}

fn ends_let(segment: &Segment<'_>) -> bool {
    let last = segment.tokens.iter().rfind(|t| t.kind != Kind::Comment);
    last.is_some_and(|t| t.part == Rule::let_stmt)
}

fn is_clause(what: Rule) -> bool {
    matches!(
        what,
        Rule::where_clause
            | Rule::with_clause
            | Rule::when_clause
            | Rule::if_clause
            | Rule::group_clause
            | Rule::canonical_clause
            | Rule::ulps_clause
            | Rule::allow_clause
            | Rule::waive_clause
    )
}

/// Gives comments at the end of a piece to the piece that they stand above, and marks that end a piece to that piece.
fn settle(mut list: Vec<Segment<'_>>) -> Vec<Segment<'_>> {
    list.retain(|s| !s.tokens.is_empty());
    for i in 0..list.len() {
        let tokens = tidy(std::mem::take(&mut list[i].tokens));
        let own = tokens.iter().rposition(|t| t.kind != Kind::Comment).map_or(0, |n| n + 1);
        let above =
            tokens[own..].iter().position(|t| t.lines > 0).map_or(tokens.len(), |n| own + n);
        let last = i + 1 == list.len();
        let mut tokens = tokens;
        if !last && tokens[..above].iter().any(|t| t.kind != Kind::Comment) {
            let moved = tokens.split_off(above);
            list[i + 1].tokens.splice(0..0, moved);
        }
        list[i].tokens = tokens;
    }
    list
}

/// Puts commas and semicolons in front of comments, and drops commas that end a list.
///
/// A `///` in an expression stays in it: behind it would be the documentation of the next rule.
fn tidy(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::new();
    for mut token in tokens {
        // Where a mark between two comments goes up, the second begins a line.
        if token.kind == Kind::Comment && out.last().is_some_and(|t| t.kind == Kind::Comment) {
            token.lines = token.lines.max(1);
        }
        let last = out.iter().rposition(|t| t.kind != Kind::Comment || t.text.starts_with("///"));
        let in_expr = matches!(token.part, Rule::raw_expr | Rule::raw_arg);
        match (token.text, last) {
            ("," | ";", Some(n)) => out.insert(n + 1, token),
            (")" | "]", Some(n)) if out[n].text == "," && !in_expr => {
                out.remove(n);
                out.push(token);
            }
            _ => out.push(token),
        }
    }
    out
}
