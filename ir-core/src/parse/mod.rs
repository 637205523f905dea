//! The text of the IR, read back.
//!
//! The grammar is in the book (chapter "IR"). The parser resolves labels and checks what an instruction needs to be
//! represented at all: names, counts, shapes. Whether the result makes sense is for [`validate`](crate::validate).
//! It does not recurse on the depth of the input, and what it allocates is bounded by the length of the text.
//!
//! Sections: errors and entry points, then the cursor over the tokens. `types` has types and constants, `module` the
//! declarations, `body` control flow, `instr` instructions.

mod body;
mod instr;
mod lex;
mod module;
mod types;

use crate::dialect::Dialects;
use crate::module::Module;
use lex::{Tok, Token, lex};
use std::fmt;
use std::ops::Range;

/// Something wrong in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub col: u32,
    /// Bytes of the text that it is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.col, self.message)?;
        match &self.help {
            Some(help) => write!(f, " (help: {help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}

/// Reads a module from its text.
///
/// # Errors
/// What is wrong with the text, in order, at most 50 of them.
pub fn parse(text: &str) -> Result<Module, Vec<ParseError>> {
    parse_with(text, Dialects::default())
}

/// Reads a module whose code may use these dialects.
///
/// # Errors
/// What is wrong with the text, in order, at most 50 of them.
pub fn parse_with(text: &str, dialects: Dialects) -> Result<Module, Vec<ParseError>> {
    let mut parser = Parser::new(text, dialects);
    let module = parser.module();
    if parser.errors.is_empty() {
        return Ok(module);
    }
    parser.errors.sort_by_key(|e| e.span.start);
    Err(parser.errors)
}

impl std::str::FromStr for Module {
    type Err = Vec<ParseError>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text)
    }
}

const MAX_ERRORS: usize = 50;

type Parsed<T> = Result<T, ParseError>;

/// The tokens and a place among them.
struct Parser<'s> {
    text: &'s str,
    tokens: Vec<Token<'s>>,
    at: usize,
    errors: Vec<ParseError>,
    labels: module::Labels<'s>,
    dialects: Dialects,
}

impl<'s> Parser<'s> {
    fn new(text: &'s str, dialects: Dialects) -> Self {
        let tokens = lex(text);
        Parser {
            text,
            tokens,
            at: 0,
            errors: Vec::new(),
            labels: module::Labels::default(),
            dialects,
        }
    }

    fn token(&self) -> &Token<'s> {
        &self.tokens[self.at]
    }

    fn peek(&self) -> &Tok<'s> {
        &self.tokens[self.at].tok
    }

    fn peek_at(&self, ahead: usize) -> &Tok<'s> {
        self.tokens.get(self.at + ahead).map_or(&Tok::Eof, |t| &t.tok)
    }

    fn bump(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    /// Whether the token stands on the same line as the one before it.
    fn same_line(&self) -> bool {
        self.at > 0 && self.tokens[self.at - 1].line == self.token().line
    }

    // ---- errors -------------------------------------------------------------------------------------

    fn error_at(&self, token: usize, message: impl Into<String>) -> ParseError {
        let token = &self.tokens[token];
        let line_start = self.text[..token.start].rfind('\n').map_or(0, |at| at + 1);
        ParseError {
            line: token.line,
            col: self.text[line_start..token.start].chars().count() as u32 + 1,
            span: token.start..token.end,
            message: message.into(),
            help: None,
        }
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.at, message)
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = match self.peek() {
            Tok::Eof => "the end of the text".to_owned(),
            Tok::BadStr => "a string that does not end well".to_owned(),
            _ => format!("`{}`", &self.text[self.token().start..self.token().end]),
        };
        Err(self.error(format!("expected {what}, found {found}")))
    }

    /// Keeps an error; `false` once there are enough.
    fn report(&mut self, error: ParseError) -> bool {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
        self.errors.len() < MAX_ERRORS
    }

    // ---- tokens -------------------------------------------------------------------------------------

    fn eat(&mut self, c: char) -> bool {
        let is = *self.peek() == Tok::Punct(c);
        if is {
            self.bump();
        }
        is
    }

    fn expect(&mut self, c: char) -> Parsed<()> {
        match self.eat(c) {
            true => Ok(()),
            false => self.expected(&format!("`{c}`")),
        }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Tok::Word(w) if *w == word);
        if is {
            self.bump();
        }
        is
    }

    fn word(&mut self, what: &str) -> Parsed<&'s str> {
        match *self.peek() {
            Tok::Word(word) => {
                self.bump();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    fn sigil(&mut self, sigil: char, what: &str) -> Parsed<&'s str> {
        match *self.peek() {
            Tok::Sigil(c, word) if c == sigil => {
                self.bump();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    /// A name: a word or a string.
    fn name(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Tok::Word(word) => {
                let word = (*word).to_owned();
                self.bump();
                Ok(word)
            }
            Tok::Str(_) => self.string(what),
            _ => self.expected(what),
        }
    }

    fn string(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Tok::Str(text) => {
                let text = text.clone();
                self.bump();
                Ok(text)
            }
            _ => self.expected(what),
        }
    }

    /// An unsigned number, decimal or hexadecimal.
    fn number(&mut self, what: &str) -> Parsed<u64> {
        let value = match *self.peek() {
            Tok::Word(word) => number(word),
            _ => None,
        };
        match value {
            Some(value) => {
                self.bump();
                Ok(value)
            }
            None => self.expected(what),
        }
    }

    fn small<T: TryFrom<u64>>(&mut self, what: &str) -> Parsed<T> {
        let at = self.at;
        let value = self.number(what)?;
        T::try_from(value).map_err(|_| self.error_at(at, format!("{what} is out of range")))
    }

    /// A number that may be negative, as 32 bits.
    fn signed(&mut self, what: &str) -> Parsed<u32> {
        if !self.eat('-') {
            return self.small(what);
        }
        let at = self.at;
        let value = self.number(what)?;
        match value <= 1 << 31 {
            true => Ok((value as u32).wrapping_neg()),
            false => Err(self.error_at(at, format!("{what} is out of range"))),
        }
    }

    /// A word of a table of names.
    fn named<T: Copy>(&mut self, what: &str, names: &[(&'static str, T)]) -> Parsed<T> {
        let found = match *self.peek() {
            Tok::Word(word) => names.iter().find(|(name, _)| *name == word),
            _ => None,
        };
        match found {
            Some((_, value)) => {
                self.bump();
                Ok(*value)
            }
            None => self.expected(what),
        }
    }

    /// One item or more between the bracket that was just eaten and `close`, separated by commas.
    fn list(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        loop {
            item(self)?;
            if !self.eat(',') {
                return self.expect(close);
            }
        }
    }

    /// The same, or nothing.
    fn list_or_nothing(
        &mut self,
        close: char,
        item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        if self.eat(close) { Ok(()) } else { self.list(close, item) }
    }

    /// Skips the rest of a line.
    fn skip_line(&mut self, line: u32) {
        while self.token().line == line && *self.peek() != Tok::Eof {
            self.bump();
        }
    }
}

/// A number in decimal, or in hexadecimal with `0x`.
fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => word.parse().ok(),
    }
}
