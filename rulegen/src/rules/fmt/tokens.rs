//! A rule file as a sequence of tokens with everything that a reader sees, comments and blank lines too, and with the
//! beginnings and ends of its parts in between.

use super::super::parse::grammar::Rule;
use pest::iterators::{Pair, Pairs};

/// What a token is, as far as its surroundings care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, number, literal or string.
    Word,
    /// A keyword in front of something.
    Keyword,
    /// Anything else.
    Punct,
    /// `///`
    Doc,
    /// `//`
    Comment,
}

/// One token.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    /// Its text, comments without white space at their end.
    pub text: &'t str,
    pub kind: Kind,
    /// The part of the file that it belongs to.
    pub part: Rule,
    /// No white space in front of it.
    pub tight_left: bool,
    /// No white space behind it.
    pub tight_right: bool,
    /// Line ends between the token before it and this one.
    pub lines: usize,
}

/// Tokens, and what they are parts of.
#[derive(Clone, Debug)]
pub(super) enum Event<'t> {
    Open(Rule),
    Token(Token<'t>),
    Close,
}

/// The events of a text that parsed to these pairs.
pub(super) fn events<'t>(text: &'t str, pairs: Pairs<'t, Rule>) -> Vec<Event<'t>> {
    let mut cx = Cx { text, at: 0, lines: 0, out: Vec::new() };
    for pair in pairs {
        cx.walk(pair, Rule::file);
    }
    cx.gap(text.len(), Rule::file);
    cx.out
}

struct Cx<'t> {
    text: &'t str,
    /// Where the next token begins, or the white space in front of it.
    at: usize,
    /// Line ends since the last token.
    lines: usize,
    out: Vec<Event<'t>>,
}

/// Whether a part is one token: it holds no white space.
fn is_token(what: Rule) -> bool {
    matches!(
        what,
        Rule::doc
            | Rule::ident
            | Rule::tname
            | Rule::dotted
            | Rule::number
            | Rule::string
            | Rule::loop_word
            | Rule::literal
            | Rule::flag
            | Rule::swizzle
            | Rule::size
            | Rule::compare
            | Rule::not
    ) || is_keyword(what)
}

fn is_keyword(what: Rule) -> bool {
    // The names of the grammar say it, and there are two dozen.
    format!("{what:?}").starts_with("kw_")
}

/// Whether brackets stand directly behind a name in this part.
fn is_call(part: Rule) -> bool {
    matches!(
        part,
        Rule::op_term
            | Rule::ac_term
            | Rule::intrinsic_term
            | Rule::tex_term
            | Rule::phi_term
            | Rule::env_fact
            | Rule::fact_call
            | Rule::cond_call
            | Rule::fact_def
            | Rule::fn_def
    )
}

impl<'t> Cx<'t> {
    /// Recurses on the nesting of the text, which the parser bounds.
    fn walk(&mut self, pair: Pair<'t, Rule>, parent: Rule) {
        let (what, span) = (pair.as_rule(), pair.as_span());
        self.gap(span.start(), parent);
        if is_token(what) {
            let kind = match what {
                Rule::doc => Kind::Doc,
                _ if is_keyword(what) => Kind::Keyword,
                _ => Kind::Word,
            };
            let left = matches!(what, Rule::flag | Rule::swizzle);
            self.push(span.end(), kind, parent, left, what == Rule::not);
            return;
        }
        self.out.push(Event::Open(what));
        if matches!(what, Rule::raw_expr | Rule::raw_arg) {
            self.expr(span.end(), what);
        } else {
            for inner in pair.into_inner() {
                self.walk(inner, what);
            }
            self.gap(span.end(), what);
        }
        self.out.push(Event::Close);
    }

    fn push(&mut self, end: usize, kind: Kind, part: Rule, tight_left: bool, tight_right: bool) {
        let text = &self.text[self.at..end];
        let text = match kind {
            Kind::Doc | Kind::Comment => text.trim_end(),
            _ => text,
        };
        let lines = std::mem::take(&mut self.lines);
        self.out.push(Event::Token(Token { text, kind, part, tight_left, tight_right, lines }));
        self.at = end;
    }

    fn last(&self) -> Option<&Token<'t>> {
        self.out.iter().rev().find_map(|e| match e {
            Event::Token(t) if t.kind != Kind::Comment => Some(t),
            _ => None,
        })
    }

    /// Skips white space up to `end`; takes a comment.
    fn skip(&mut self, end: usize, part: Rule) -> bool {
        while self.at < end {
            let rest = &self.text[self.at..end];
            let trimmed = rest.trim_start();
            let space = rest.len() - trimmed.len();
            self.lines += rest[..space].matches('\n').count();
            self.at += space;
            if !trimmed.starts_with("//") {
                return self.at < end;
            }
            let length = trimmed.find('\n').unwrap_or(trimmed.len());
            self.push(self.at + length, Kind::Comment, part, false, false);
        }
        false
    }

    /// The white space, comments and marks between two parts.
    fn gap(&mut self, end: usize, part: Rule) {
        while self.skip(end, part) {
            let rest = &self.text[self.at..end];
            let length = match rest.get(..2) {
                Some("=>" | "->" | "&&" | "||") => 2,
                _ => rest.chars().next().map_or(0, char::len_utf8),
            };
            let before = self.last().map_or("", |t| t.text);
            let (left, right) = match &rest[..length] {
                "(" => {
                    let call = is_call(part) && !matches!(before, "," | ":" | "=>");
                    (call, true)
                }
                ")" | "]" | "," | ";" => (true, false),
                "[" | "#" => (false, true),
                ":" => (true, part == Rule::size_note),
                "=" => (part == Rule::attr, part == Rule::attr),
                "@" => (part == Rule::bind, true),
                "." => (true, true),
                _ => (false, false),
            };
            self.push(self.at + length, Kind::Punct, part, left, right);
        }
    }

    /// Text of the expression language.
    fn expr(&mut self, end: usize, part: Rule) {
        // What an expression's first token may stand behind is not part of the expression.
        let mut before: Option<Token<'t>> = None;
        while self.skip(end, part) {
            let rest = &self.text[self.at..end];
            let length = expr_token(rest);
            let text = &rest[..length];
            let word = is_word(text);
            let operand = before.as_ref().is_some_and(ends_operand);
            let (mut left, right) = match text {
                "," | ";" => (true, false),
                ":" => (true, false),
                // With a space behind it, what could be a component is none: `a. x` stays an expression.
                "." => (true, !rest[1..].starts_with(char::is_whitespace)),
                "::" | ".." => (true, true),
                ")" | "]" => (true, false),
                "(" | "[" => (operand, true),
                "-" | "!" | "*" | "&" if !operand => (false, true),
                _ => (false, false),
            };
            let tight = left || before.as_ref().is_some_and(|b| b.tight_right);
            if let Some(last) = before.as_ref().filter(|_| tight) {
                let both = format!("{}{text}", last.text);
                if expr_token(&both) != last.text.len() {
                    left = false;
                    if let Some(Event::Token(t)) = self.out.last_mut() {
                        t.tight_right = false;
                    }
                }
            }
            let kind = if word { Kind::Word } else { Kind::Punct };
            self.push(self.at + length, kind, part, left, right);
            before = self.last().cloned();
        }
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Whether a token of an expression may be the end of an operand, so that an operator behind it has two.
fn ends_operand(token: &Token<'_>) -> bool {
    match token.text {
        "if" | "else" | "let" | "as" | "in" | "return" | "match" => false,
        ")" | "]" | "}" => true,
        text => is_word(text),
    }
}

/// Length of the first token of an expression.
pub(super) fn expr_token(text: &str) -> usize {
    const LONG: [&str; 12] =
        ["<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "::", "..", "->", "=>"];
    let word = |from: usize| {
        let rest = &text[from..];
        from + rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
    };
    let digit = |at: usize| text[at..].starts_with(|c: char| c.is_ascii_digit());
    if text.starts_with("/*") {
        return text.find("*/").map_or(text.trim_end().len(), |n| n + 2);
    }
    if LONG.iter().any(|l| text.starts_with(l)) {
        return 2;
    }
    if !is_word(text) {
        return text.chars().next().map_or(0, char::len_utf8);
    }
    let mut end = word(0);
    if digit(0) {
        if text[end..].starts_with('.') && digit(end + 1) {
            end = word(end + 1);
        }
        let exponent = text[..end].ends_with(['e', 'E']) && !text.starts_with("0x");
        if exponent && text[end..].starts_with(['+', '-']) && digit(end + 1) {
            end = word(end + 1);
        }
    }
    end
}
