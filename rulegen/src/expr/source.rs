//! Texts inside files: a string of a table, a clause of a rule.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostics::{Code, Diagnostic, Span};

/// A piece of text that knows where in its file each byte comes from, even after the placeholders of a family were
/// replaced in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// The text itself.
    pub text: String,
    /// The file's name, as diagnostics show it.
    pub file: Arc<str>,
    pieces: Vec<Piece>,
}

/// From byte `at` of the text on, the file's bytes from `from.start`; one by one, or all of them the whole `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    at: usize,
    from: Span,
    verbatim: bool,
}

impl SourceText {
    /// Text that stands in `file` unchanged from byte `offset` on.
    pub fn new(file: &Arc<str>, offset: usize, text: impl Into<String>) -> SourceText {
        let mut source = SourceText::empty(file);
        source.push_verbatim(&text.into(), offset);
        source
    }

    /// No text yet.
    pub fn empty(file: &Arc<str>) -> SourceText {
        SourceText { text: String::new(), file: file.clone(), pieces: Vec::new() }
    }

    /// Appends text that stands in the file unchanged from byte `offset` on.
    pub fn push_verbatim(&mut self, text: &str, offset: usize) {
        let from = Span::new(offset, offset + text.len());
        self.pieces.push(Piece { at: self.text.len(), from, verbatim: true });
        self.text.push_str(text);
    }

    /// Appends text that something else in the file, `from`, was replaced by.
    pub fn push_replaced(&mut self, text: &str, from: Span) {
        self.pieces.push(Piece { at: self.text.len(), from, verbatim: false });
        self.text.push_str(text);
    }

    /// Where in the file a range of the text comes from.
    pub fn span(&self, range: Range<usize>) -> Span {
        let start = self.byte(range.start);
        if range.end <= range.start {
            return Span { start: start.start, end: start.start };
        }
        // The end belongs to the piece of the last byte, not to what follows it.
        Span { start: start.start, end: self.byte(range.end - 1).end }
    }

    /// Where one byte of the text comes from; the byte past the end is right behind the last.
    fn byte(&self, offset: usize) -> Span {
        let index = self.pieces.partition_point(|piece| piece.at <= offset);
        let Some(piece) = index.checked_sub(1).map(|i| &self.pieces[i]) else {
            return Span::default();
        };
        if piece.verbatim {
            let start = piece.from.start as usize + (offset - piece.at);
            Span::new(start, start + 1)
        } else {
            piece.from
        }
    }

    /// The whole text.
    pub fn whole(&self) -> Span {
        self.span(0..self.text.len())
    }

    /// An error at a range of the text.
    pub fn error(&self, code: Code, range: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, &self.file, self.span(range), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_survive_replacement() {
        // File bytes 10.. are `x${n}yz`, with ${n} replaced by 16.
        let mut source = SourceText::empty(&"f".into());
        source.push_verbatim("x", 10);
        source.push_replaced("16", Span::new(11, 15));
        source.push_verbatim("yz", 15);
        assert_eq!(source.text, "x16yz");
        assert_eq!(source.span(0..1), Span::new(10, 11));
        assert_eq!(
            source.span(2..3),
            Span::new(11, 15),
            "inside the replacement: the whole placeholder"
        );
        assert_eq!(source.span(0..3), Span::new(10, 15));
        assert_eq!(source.span(3..5), Span::new(15, 17));
        assert_eq!(source.span(5..5), Span::new(17, 17), "the end");
        assert_eq!(source.whole(), Span::new(10, 17));
    }
}
