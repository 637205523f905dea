//! Tokens of the text.

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tok<'s> {
    /// Letters, digits and `_`: names, keywords, numbers, shapes.
    Word(&'s str),
    /// `%`, `&`, `$`, `@` or `#` with the word behind it.
    Sigil(char, &'s str),
    /// A string literal, unescaped.
    Str(String),
    /// `->`.
    Arrow,
    /// Any other character.
    Punct(char),
    /// A string that does not end, or holds an escape that is none.
    BadStr,
    /// The end of the text.
    Eof,
}

/// A token with its place: bytes of the text, line from 1.
#[derive(Clone, Debug)]
pub(super) struct Token<'s> {
    pub tok: Tok<'s>,
    pub start: usize,
    pub end: usize,
    pub line: u32,
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    start + bytes[start..].iter().take_while(|b| is_word_byte(**b)).count()
}

/// Splits the text into tokens; the last one is [`Tok::Eof`].
pub(super) fn lex(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let (mut at, mut line) = (0, 1);
    while let Some(&b) = bytes.get(at) {
        let start = at;
        let first_line = line;
        let tok = match b {
            b'\n' => {
                line += 1;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += bytes[at..].iter().take_while(|b| **b != b'\n').count();
                continue;
            }
            b if is_word_byte(b) => {
                at = word_end(bytes, at);
                Tok::Word(&text[start..at])
            }
            b'%' | b'&' | b'$' | b'@' | b'#' if word_end(bytes, at + 1) > at + 1 => {
                at = word_end(bytes, at + 1);
                Tok::Sigil(b.into(), &text[start + 1..at])
            }
            b'-' if bytes.get(at + 1) == Some(&b'>') => {
                at += 2;
                Tok::Arrow
            }
            b'"' => {
                let (tok, len) = string(&text[at..]);
                line += bytes[at..at + len].iter().filter(|b| **b == b'\n').count() as u32;
                at += len;
                tok
            }
            _ => {
                let c = text[at..].chars().next().unwrap_or('\0');
                at += c.len_utf8();
                Tok::Punct(c)
            }
        };
        tokens.push(Token { tok, start, end: at, line: first_line });
    }
    tokens.push(Token { tok: Tok::Eof, start: at, end: at, line });
    tokens
}

/// Reads a string literal at the start of `text`; also gives its length in bytes.
fn string(text: &str) -> (Tok<'static>, usize) {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (Tok::Str(value), at + 1),
            '\\' => match chars.next() {
                Some((_, c @ ('"' | '\\'))) => value.push(c),
                Some((_, 'n')) => value.push('\n'),
                Some((_, 'u')) => {
                    let digits: String =
                        chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '}').collect();
                    let code = digits.strip_prefix('{');
                    let code = code.and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    match code.and_then(char::from_u32) {
                        Some(c) => value.push(c),
                        None => return (Tok::BadStr, text.len() - chars.as_str_len()),
                    }
                }
                _ => return (Tok::BadStr, text.len() - chars.as_str_len()),
            },
            c => value.push(c),
        }
    }
    (Tok::BadStr, text.len())
}

/// The bytes that an iterator over a string has left.
trait Remaining {
    fn as_str_len(&self) -> usize;
}

impl Remaining for std::iter::Skip<std::str::CharIndices<'_>> {
    fn as_str_len(&self) -> usize {
        self.clone().map(|(_, c)| c.len_utf8()).sum()
    }
}
