//! Laying out tokens as readable Rust: a statement, field or arm a line, blocks indented.
//!
//! Far from a formatter, but enough that generated code can be read and stepped through in a build that doesn't want to
//! compile one.

use proc_macro2::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};

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
        self.trim_blanks();
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
        punct: &Punct,
        before: &[TokenTree],
        next: Option<&TokenTree>,
        inside: Delimiter,
    ) {
        let c = punct.as_char();
        let joint = next.is_some_and(|next| joins(punct, next));
        // An operator of several characters is one with its first: `==`, `->`, `::`, `..`.
        let this = TokenTree::Punct(punct.clone());
        let continues = matches!(before.last(), Some(TokenTree::Punct(p)) if joins(p, &this));
        if continues {
            self.out.push(c);
            // Paths and ranges stand close.
            if !joint && !matches!(c, ':' | '.') {
                self.out.push(' ');
            }
            return;
        }
        if matches!(c, ';' | ',' | '.' | '?' | ':') {
            self.trim_blanks();
        }
        let prefix = match c {
            '!' => !joint,
            '-' | '&' | '*' | '<' | '>' => is_prefix(before) && !joint,
            '|' => !joint && (is_prefix(before) || closes_parameters(before)),
            _ => false,
        };
        let generic = matches!(c, '<' | '>') && !joint && is_generic(before, next);
        let binary =
            matches!(c, '=' | '+' | '*' | '/' | '%' | '^' | '|' | '-' | '&' | '<' | '>' | '!');
        if binary
            && !prefix
            && !generic
            && !self.out.ends_with([' ', '\n', '(', '['])
            && !self.out.is_empty()
        {
            self.out.push(' ');
        }
        self.out.push(c);
        match c {
            ';' if inside != Delimiter::Bracket => self.newline(),
            ',' if inside == Delimiter::Brace => self.newline(),
            ';' | ',' => self.out.push(' '),
            ':' if !joint => self.out.push(' '),
            '|' if closes_parameters(before) => self.out.push(' '),
            '>' if generic && matches!(next, Some(TokenTree::Ident(_))) => self.out.push(' '),
            _ if binary && !joint && !prefix && !generic => self.out.push(' '),
            _ => {}
        }
    }

    fn trim_blanks(&mut self) {
        while self.out.ends_with(' ') {
            self.out.pop();
        }
    }

    fn group(&mut self, group: &Group, next: Option<&TokenTree>, before: &[TokenTree]) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => ("", ""),
        };
        let empty = group.stream().is_empty();
        if let Some(line) = short(group, before) {
            self.out.push_str(&line);
            return;
        }
        if group.delimiter() == Delimiter::Brace && !empty {
            if !self.out.ends_with([' ', '\n', '(', '[', ':']) && !self.out.is_empty() {
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
        let limit = if group.delimiter() == Delimiter::Bracket { 28 } else { 48 };
        if group.delimiter() != Delimiter::None && weight(group) > limit {
            self.indent += 1;
            self.newline();
            // Commas of a brace break the line.
            self.stream(group.stream(), Delimiter::Brace);
            self.indent -= 1;
            self.trim_blank();
            self.newline();
        } else {
            self.stream(group.stream(), group.delimiter());
            self.trim_blanks();
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

/// Number of tokens in a list; above a limit it is written an item a line.
fn weight(group: &Group) -> usize {
    let mut count = 0;
    let mut stack = vec![group.stream().into_iter()];
    while let Some(top) = stack.last_mut() {
        match top.next() {
            Some(TokenTree::Group(group)) => stack.push(group.stream().into_iter()),
            Some(_) => count += 1,
            None => {
                stack.pop();
            }
        }
    }
    count
}

/// Whether a character and the next token are one operator.
fn joins(punct: &Punct, next: &TokenTree) -> bool {
    let TokenTree::Punct(next) = next else { return false };
    let path = match punct.as_char() {
        ',' | ';' => false,
        ':' => next.as_char() == ':',
        _ => true,
    };
    punct.spacing() == Spacing::Joint && next.as_char() != '\'' && path
}

/// A struct literal or a list of imports that fits on a line.
fn short(group: &Group, before: &[TokenTree]) -> Option<String> {
    let after_name = match before.last() {
        Some(TokenTree::Ident(name)) => {
            name.to_string().starts_with(|c: char| c.is_ascii_uppercase())
        }
        Some(TokenTree::Punct(punct)) => punct.as_char() == ':',
        _ => false,
    };
    // Nor is what follows a result type.
    let result =
        matches!(before, [.., TokenTree::Punct(p), TokenTree::Ident(_)] if p.as_char() == '>');
    // `impl Name { … }` and the like are no literals.
    // They stand close by: `pub trait A`, `impl A for B<'_>`.
    let near = &before[before.len().saturating_sub(8)..];
    let declares = near
        .iter()
        .any(|t| matches!(t, TokenTree::Ident(i) if i == "impl" || i == "struct" || i == "trait"));
    if group.delimiter() != Delimiter::Brace || !after_name || declares || result {
        return None;
    }
    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
    if inner.len() > 24
        || inner
            .iter()
            .any(|t| matches!(t, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace))
    {
        return None;
    }
    let mut printer = Printer { out: String::new(), indent: 0 };
    printer.stream(group.stream(), Delimiter::Parenthesis);
    let text = printer.out.trim_end().trim_end_matches(',').to_owned();
    if text.len() > 80 || text.contains('\n') {
        return None;
    }
    let path = matches!(before.last(), Some(TokenTree::Punct(_)));
    Some(if path { format!("{{{text}}}") } else { format!("{{ {text} }}") })
}

/// Whether `<` or `>` is a bracket of a path's types: after a name that starts with a capital, or closing one.
fn is_generic(before: &[TokenTree], next: Option<&TokenTree>) -> bool {
    let capital = |t: Option<&TokenTree>| matches!(t, Some(TokenTree::Ident(i)) if i.to_string().starts_with(|c: char| c.is_ascii_uppercase()));
    let lifetime = matches!(next, Some(TokenTree::Punct(p)) if p.as_char() == '\'');
    let closes = matches!(before, [.., TokenTree::Punct(p), TokenTree::Ident(_)] if matches!(p.as_char(), '<' | '\''));
    capital(before.last()) || lifetime || closes
}

/// Whether `|` ends the one parameter of a closure.
fn closes_parameters(before: &[TokenTree]) -> bool {
    let [outer @ .., TokenTree::Punct(p), TokenTree::Ident(_)] = before else { return false };
    p.as_char() == '|' && is_prefix(outer)
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
            _ => ["if", "in", "return", "match", "as", "else", "mut"]
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
        let without_blanks = |tokens: TokenStream| tokens.to_string().replace(' ', "");
        assert_eq!(without_blanks(again), without_blanks(tokens), "the tokens are the same");
    }

    #[test]
    fn statements_stand_on_lines() {
        check(
            "pub fn f(cx:&mut Cx,a:u64)->u64{let b:u64=g(cx,a)+1;if !h(b)||b== -1{b}else if c{a<<3}else{b}}",
            "pub fn f(cx: &mut Cx, a: u64) -> u64 {\n    let b: u64 = g(cx, a) + 1;\n    if !h(b) || b == -1 {\n        \
             b\n    } else if c {\n        a << 3\n    } else {\n        b\n    }\n}\n",
        );
        check(
            "for i in 0..4{a[i]=b::c(&mut d[i]);}",
            "for i in 0..4 {\n    a[i] = b::c(&mut d[i]);\n}\n",
        );
        check(
            "fn f(a:&mut[u64])->Option<A>{a==b}",
            "fn f(a: &mut [u64]) -> Option<A> {\n    a == b\n}\n",
        );
        check("a.b(&c,|d|d.0);", "a.b(&c, |d| d.0);\n");
        check("a &= !b&&c!=d<e;", "a &= !b && c != d < e;\n");
    }

    #[test]
    fn lists_and_paths() {
        check(
            "static X: &[(&str,u16)]= &[(\"a\",1),(\"b\",2)];",
            "static X: &[(&str, u16)] = &[(\"a\", 1), (\"b\", 2)];\n",
        );
        check("use a::{B,c};", "use a::{B, c};\n");
        check("static A:B=B{c:1,d: &[2]};", "static A: B = B { c: 1, d: &[2] };\n");
        check(
            "impl A<'_>{#[inline]pub const B:C=C(1);}",
            "impl A<'_> {\n    #[inline]\n    pub const B: C = C(1);\n}\n",
        );
    }
}
