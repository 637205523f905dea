//! Laying out tokens as readable Rust: a statement, field or arm a line, blocks indented.
//!
//! Far from a formatter, but enough that generated code can be read and stepped through in a build that doesn't want to
//! compile one.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Longest list that stays on its line.
const WIDTH: usize = 100;

/// The text of one item, ending in a newline.
pub fn item(tokens: &TokenStream) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    printer.stream(tokens.clone(), Delimiter::None);
    let mut out = printer.out.trim_end().to_owned();
    out.push('\n');
    out
}

struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    fn newline(&mut self) {
        while self.out.ends_with(' ') {
            self.out.pop();
        }
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
    }

    /// Tokens inside brackets of kind `inside`. The depth of generated code is bounded by that of expressions.
    fn stream(&mut self, tokens: TokenStream, inside: Delimiter) {
        let list: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < list.len() {
            if let Some(doc) = doc_comment(&list[at..]) {
                for line in wrap(&doc, WIDTH - 4 * self.indent) {
                    self.out.push_str("///");
                    if !line.is_empty() {
                        self.out.push(' ');
                        self.out.push_str(&line);
                    }
                    self.newline();
                }
                at += 2;
                continue;
            }
            let next = list.get(at + 1);
            match &list[at] {
                TokenTree::Group(group) => self.group(group, next, &list[..at]),
                TokenTree::Punct(punct) => self.punct(punct, &list[..at], next, inside),
                token => {
                    self.out.push_str(&token.to_string());
                    if spaced(token, next) {
                        self.out.push(' ');
                    }
                }
            }
            at += 1;
        }
    }

    fn punct(
        &mut self,
        punct: &proc_macro2::Punct,
        before: &[TokenTree],
        next: Option<&TokenTree>,
        inside: Delimiter,
    ) {
        let c = punct.as_char();
        let joint = punct.spacing() == Spacing::Joint;
        match c {
            ';' | ',' | '.' | '?' | ':' => {
                while self.out.ends_with(' ') {
                    self.out.pop();
                }
            }
            _ => {}
        }
        let prefix =
            is_prefix(before) || (c == '!' && !joint && matches!(next, Some(TokenTree::Group(_))));
        let binary = matches!(c, '=' | '+' | '*' | '/' | '%' | '^' | '|')
            || (matches!(c, '-' | '&' | '<' | '>') && !prefix);
        let starts =
            !matches!(before.last(), Some(TokenTree::Punct(p)) if p.spacing() == Spacing::Joint);
        if binary && starts && !self.out.ends_with([' ', '\n', '(', '[']) && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.out.push(c);
        match c {
            ';' if inside != Delimiter::Bracket => self.newline(),
            ',' if inside == Delimiter::Brace => self.newline(),
            ';' | ',' => self.out.push(' '),
            '#' | '.' | '\'' | '?' | '$' | '@' => {}
            ':' => {
                let path = joint
                    || matches!(before.last(), Some(TokenTree::Punct(p)) if p.as_char() == ':' && p.spacing() == Spacing::Joint);
                if !path {
                    self.out.push(' ');
                }
            }
            _ if joint || prefix => {}
            _ if binary || !starts => self.out.push(' '),
            _ => {}
        }
    }

    fn group(
        &mut self,
        group: &proc_macro2::Group,
        next: Option<&TokenTree>,
        before: &[TokenTree],
    ) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => ("", ""),
        };
        let empty = group.stream().is_empty();
        if group.delimiter() == Delimiter::Brace && !empty {
            if !self.out.ends_with([' ', '\n', '(', '[']) && !self.out.is_empty() {
                self.out.push(' ');
            }
            self.out.push_str(open);
            self.indent += 1;
            self.newline();
            self.stream(group.stream(), Delimiter::Brace);
            self.indent -= 1;
            self.trim_blank();
            self.newline();
            self.out.push_str(close);
            match next {
                Some(TokenTree::Punct(p)) if matches!(p.as_char(), ';' | ',' | '.') => {}
                Some(TokenTree::Ident(word)) if word == "else" => self.out.push(' '),
                _ => self.newline(),
            }
            return;
        }
        self.out.push_str(open);
        self.stream(group.stream(), group.delimiter());
        while self.out.ends_with(' ') {
            self.out.pop();
        }
        self.out.push_str(close);
        let attribute = group.delimiter() == Delimiter::Bracket
            && matches!(before.last(), Some(TokenTree::Punct(p)) if p.as_char() == '#');
        if attribute {
            self.newline();
        } else if matches!(next, Some(TokenTree::Ident(_) | TokenTree::Literal(_))) {
            self.out.push(' ');
        }
    }

    fn trim_blank(&mut self) {
        let length = self.out.trim_end().len();
        self.out.truncate(length);
    }
}

/// Whether an operator after these tokens has no left operand.
fn is_prefix(before: &[TokenTree]) -> bool {
    match before.last() {
        None => true,
        Some(TokenTree::Punct(p)) => !matches!(p.as_char(), '>' | '?'),
        Some(TokenTree::Ident(word)) => {
            ["return", "in", "if", "else", "match", "let"].iter().any(|k| word == k)
        }
        Some(_) => false,
    }
}

/// Whether a blank stands between a word and what follows it.
fn spaced(token: &TokenTree, next: Option<&TokenTree>) -> bool {
    match next {
        Some(TokenTree::Ident(_) | TokenTree::Literal(_)) => true,
        Some(TokenTree::Group(group)) => match group.delimiter() {
            Delimiter::Brace | Delimiter::None => true,
            // Words of the language are not called or indexed.
            _ => ["if", "in", "return", "match", "as", "else"]
                .iter()
                .any(|word| token.to_string() == *word),
        },
        Some(TokenTree::Punct(p)) if matches!(p.as_char(), '&' | '!' | '#') => {
            ["if", "in", "return", "match", "else", "mut"]
                .iter()
                .any(|word| token.to_string() == *word)
                || p.as_char() == '#'
        }
        _ => false,
    }
}

/// The text of `#[doc = "…"]`, if that is how the tokens start.
fn doc_comment(tokens: &[TokenTree]) -> Option<String> {
    let (Some(TokenTree::Punct(hash)), Some(TokenTree::Group(group))) =
        (tokens.first(), tokens.get(1))
    else {
        return None;
    };
    if hash.as_char() != '#' || group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let mut inner = group.stream().into_iter();
    match (inner.next(), inner.next(), inner.next()) {
        (
            Some(TokenTree::Ident(word)),
            Some(TokenTree::Punct(_)),
            Some(TokenTree::Literal(text)),
        ) if word == "doc" => {
            syn::parse_str::<syn::LitStr>(&text.to_string()).ok().map(|text| text.value())
        }
        _ => None,
    }
}

/// Lines of at most `width` characters, broken at blanks.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expect: &str) {
        let tokens: TokenStream = source.parse().unwrap();
        let text = item(&tokens);
        assert_eq!(text, expect);
        let again: TokenStream = text.parse().unwrap();
        assert_eq!(again.to_string(), tokens.to_string(), "the tokens are the same");
    }

    #[test]
    fn statements_stand_on_lines() {
        check(
            "pub fn f(cx:&mut Cx,a:u64)->u64{let b:u64=g(cx,a)+1;if !h(b)||b==-1{b}else{a<<3}}",
            "pub fn f(cx: &mut Cx, a: u64) -> u64 {\n    let b: u64 = g(cx, a) + 1;\n    if !h(b) || b == -1 {\n        b\n    } else {\n        a << 3\n    }\n}\n",
        );
    }

    #[test]
    fn lists_and_paths() {
        check(
            "static X:&[(&str,u16)]=&[(\"a\",1),(\"b\",2)];",
            "static X: &[(&str, u16)] = &[(\"a\", 1), (\"b\", 2)];\n",
        );
        check(
            "for i in 0..4{a[i]=b::c(&mut d[i]);}",
            "for i in 0..4 {\n    a[i] = b::c(&mut d[i]);\n}\n",
        );
        check(
            "impl A<'_>{#[inline]pub const B:C=C(1);}",
            "impl A<'_> {\n    #[inline]\n    pub const B: C = C(1);\n}\n",
        );
    }
}
