//! Messages of the parser: what may stand where it gave up, in the words of the language.

use super::codes;
use super::parse::grammar::Rule;
use crate::diagnostics::{Diagnostic, Span, nearest};
use pest::error::{Error, InputLocation};
use std::sync::Arc;

/// The words that clauses begin with, in the order in which clauses stand.
pub const CLAUSES: [&str; 10] =
    ["where", "with", "when", "if", "group", "canonical", "ulps", "allow", "waive", "test"];

/// A text that doesn't follow the grammar.
pub(super) fn error(file: &Arc<str>, text: &str, e: &Error<Rule>) -> Diagnostic {
    let attempts = e.parse_attempts().filter(|a| !a.expected_tokens().is_empty());
    let (at, tokens) = match (&attempts, &e.location) {
        (Some(a), _) => {
            (a.max_position, a.expected_tokens().iter().map(ToString::to_string).collect())
        }
        (None, InputLocation::Pos(p) | InputLocation::Span((p, _))) => (*p, Vec::new()),
    };
    let rest = text.get(at..).unwrap_or("");
    // A name that may go on is not what is missing, unless nothing else is.
    let mut list = expected(&tokens, text[..at].ends_with(is_word));
    if list.is_empty() {
        list = expected(&tokens, false);
    }
    let length = found(rest);
    let shown = match length {
        0 => "the end of the file".to_string(),
        n => format!("`{}`", &rest[..n]),
    };
    let message = match list.as_slice() {
        [] if rest.starts_with('"') => "a string ends in the line in which it begins".to_string(),
        [] => format!("unexpected {shown}"),
        [one] => format!("expected {one}, found {shown}"),
        [most @ .., last] => format!("expected {} or {last}, found {shown}", most.join(", ")),
    };
    let d = Diagnostic::error(codes::SYNTAX, file, Span::new(at, at + length), message);
    help(d, text, at, &rest[..length], &tokens, &list)
}

/// Says what to change, where that can be seen.
fn help(
    d: Diagnostic,
    text: &str,
    at: usize,
    word: &str,
    tokens: &[String],
    list: &[String],
) -> Diagnostic {
    let span = d.span;
    let has = |token: &str| tokens.iter().any(|t| t == token);
    if has("rules") {
        let start = Span::new(at, at);
        return d.replace(start, "rules 1\n\n", "a file begins with `rules 1`");
    }
    let keywords = CLAUSES.into_iter().filter(|c| has(c));
    let others =
        tokens.iter().map(String::as_str).filter(|t| t.len() > 1 && t.starts_with(is_word));
    if let Some(near) = nearest(word, keywords.chain(others)) {
        return d.replace(span, near, format!("did you mean `{near}`?"));
    }
    let end = before(text, at);
    let insert = |d: Diagnostic, mark: &str| {
        let here = Span::new(end, end);
        let d = d.label(here, format!("`{mark}` goes here"));
        d.replace(here, mark, format!("add `{mark}`"))
    };
    let is_name = word.starts_with(is_word);
    match list {
        _ if has(";") && ends_statement(word) => insert(d, ";"),
        [comma, close] if comma == "`,`" && close == "`)`" => match is_name || word == "#" {
            true => insert(d, ","),
            false => insert(d, ")"),
        },
        [one] if one == "`=>`" && matches!(word, "->" | "=" | "==") => {
            d.replace(span, "=>", "write `=>`")
        }
        [one] if one == "`:`" && is_name => insert(d, ":"),
        [one] if one == "`in`" && word == "[" => insert(d, " in"),
        [one] if one == "a string" && is_name => {
            d.replace(span, format!("\"{word}\""), "reasons are written in quotes")
        }
        _ => d,
    }
}

/// Whether what was found begins something new.
fn ends_statement(word: &str) -> bool {
    matches!(word, "" | "rule" | "for" | "}" | "fact" | "fn" | "group" | "option" | "file" | "let")
}

/// The end of the last token in front of a place.
pub(super) fn before(text: &str, at: usize) -> usize {
    let mut end = text[..at].trim_end().len();
    loop {
        let line = text[..end].rfind('\n').map_or(0, |n| n + 1);
        match text[line..end].find("//") {
            Some(n) => end = text[..line + n].trim_end().len(),
            None => return end,
        }
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of the word or mark that a text begins with.
fn found(text: &str) -> usize {
    match text.chars().next() {
        None => 0,
        Some(c) if is_word(c) => text.find(|c| !is_word(c)).unwrap_or(text.len()),
        Some(_) if ["=>", "->", "&&", "||"].iter().any(|m| text.starts_with(m)) => 2,
        Some(c) => c.len_utf8(),
    }
}

/// The tokens that may stand somewhere, in words.
fn expected(tokens: &[String], inside: bool) -> Vec<String> {
    let has = |token: &str| tokens.iter().any(|t| t == token);
    let mut out: Vec<String> = Vec::new();
    for mark in [";", ",", ")", "]", "}", "=>", "->", "=", "in"] {
        if has(mark) {
            out.push(format!("`{mark}`"));
        }
    }
    // Behind a name these are always possible, and seldom what is missing.
    if out.is_empty() {
        for mark in ["(", ":", "["] {
            if has(mark) && !has("#") && !has("!") {
                out.push(format!("`{mark}`"));
            }
        }
    }
    let name = has("a..z") && !inside;
    let what = match () {
        () if has("\"") => Some("a string"),
        () if name && has("#") => Some("a term"),
        () if name && has("!") => Some("a condition"),
        () if name && has("float") => Some("a size"),
        () if name && has("nan") => Some("a value"),
        () if name => Some("a name"),
        () if has("nan") => Some("a literal"),
        () if has("0..9") && !inside => Some("a number"),
        () => None,
    };
    out.extend(what.map(String::from));
    let is_clause = |t: &str| CLAUSES.contains(&t);
    if tokens.iter().filter(|t| is_clause(t)).count() > 1 {
        out.push("a clause".into());
    }
    let words =
        ["rules", "rule", "for", "fact", "fn", "group", "option", "file", "let", "otherwise"];
    let clauses = has("where");
    for word in words {
        // `let` and `otherwise` go without saying.
        if has(word)
            && !(clauses && matches!(word, "group" | "otherwise"))
            && what != Some("a term")
        {
            out.push(format!("`{word}`"));
        }
    }
    out
}
