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

/// Where a stretch of the text, from byte `at` on, comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    at: usize,
    /// The file's bytes of the stretch.
    from: Span,
    /// The bytes correspond one by one.
    verbatim: bool,
    /// What stands in the surrounding text in place of the stretch, if that is somewhere else.
    outer: Option<Span>,
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
        self.pieces.push(Piece { at: self.text.len(), from, verbatim: true, outer: None });
        self.text.push_str(text);
    }

    /// Appends text that stands for something else in the file: an escape, a number.
    pub fn push_replaced(&mut self, text: &str, from: Span) {
        self.pieces.push(Piece { at: self.text.len(), from, verbatim: false, outer: None });
        self.text.push_str(text);
    }

    /// Appends a range of another text of the same file. `outer` is what stands for it at this place, if it comes from
    /// another one.
    pub fn push_slice(&mut self, other: &SourceText, range: Range<usize>, outer: Option<Span>) {
        let ends = other.pieces.iter().skip(1).map(|p| p.at).chain([other.text.len()]);
        for (piece, end) in other.pieces.iter().zip(ends) {
            let (start, end) = (piece.at.max(range.start), end.min(range.end));
            if start >= end {
                continue;
            }
            let mut from = piece.from;
            if piece.verbatim {
                let first = piece.from.start as usize + (start - piece.at);
                from = Span::new(first, first + (end - start));
            }
            let outer = outer.or(piece.outer);
            self.pieces.push(Piece { at: self.text.len(), from, verbatim: piece.verbatim, outer });
            self.text.push_str(&other.text[start..end]);
        }
    }

    /// Where in the file a range of the text comes from.
    pub fn span(&self, range: Range<usize>) -> Span {
        let (first, start) = self.byte(range.start);
        if range.end <= range.start {
            return Span { start: start.start, end: start.start };
        }
        // The end belongs to the piece of the last byte, not to what follows it.
        let (last, end) = self.byte(range.end - 1);
        if first == last {
            return start.to(end);
        }
        let outer = |piece: Option<usize>, span: Span| {
            piece.and_then(|i| self.pieces[i].outer).unwrap_or(span)
        };
        outer(first, start).to(outer(last, end))
    }

    /// The piece of one byte of the text and where the byte comes from; the byte past the end is right behind the last.
    fn byte(&self, offset: usize) -> (Option<usize>, Span) {
        let index = self.pieces.partition_point(|piece| piece.at <= offset).checked_sub(1);
        let Some(piece) = index.map(|i| &self.pieces[i]) else { return (None, Span::default()) };
        if piece.verbatim {
            let start = piece.from.start as usize + (offset - piece.at);
            (index, Span::new(start, start + 1))
        } else {
            (index, piece.from)
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

        // The same with a value that stands elsewhere in the file, at 3..5.
        let value = SourceText::new(&"f".into(), 3, "16");
        let template = SourceText::new(&"f".into(), 10, "x${n}yz");
        let mut source = SourceText::empty(&"f".into());
        source.push_slice(&template, 0..1, None);
        source.push_slice(&value, 0..2, Some(template.span(1..5)));
        source.push_slice(&template, 5..7, None);
        assert_eq!(source.text, "x16yz");
        assert_eq!(source.span(1..2), Span::new(3, 4), "within the value: its own place");
        assert_eq!(source.span(0..3), Span::new(10, 15), "across: the placeholder");
        assert_eq!(source.span(3..5), Span::new(15, 17));
    }
}
