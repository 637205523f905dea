//! Diagnostics as values: what is wrong, where, and what to do about it.
//!
//! Everything in this crate that reads a text collects its complaints as [`Diagnostic`]s and goes on, so that one run
//! reports them all. Rendering belongs to the command line; build scripts, which have nothing but stderr, use
//! [`Diagnostic::to_plain`]. This module does no I/O.

use std::fmt;
use std::sync::Arc;

/// A stable error code, shown as `E0123`.
///
/// The hundreds say where it comes from: `E01xx` opcode and intrinsic tables, `E02xx` the expression language, `E03xx`
/// and above the rule language. Each module lists its codes with an explanation in a table named `CODES`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{:04}", self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A code with the text that `explain-error` prints.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// The code.
    pub code: Code,
    /// The rule that was broken, as one short sentence.
    pub title: &'static str,
    /// Why the rule exists and how to keep it.
    pub explanation: &'static str,
}

/// Whether a diagnostic stops the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing is generated.
    Error,
    /// Reported, and the run goes on.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// A range of bytes of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end`. Files above 4 GiB don't occur; their offsets saturate.
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |v: usize| u32::try_from(v).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether the other span lies in this one.
    pub fn holds(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The span as a range that slices the file's text.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl From<std::ops::Range<usize>> for Span {
    fn from(range: std::ops::Range<usize>) -> Span {
        Span::new(range.start, range.end)
    }
}

/// A second place that a diagnostic points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The file, as in [`Diagnostic::file`]; labels may point into another file than their diagnostic.
    pub file: Arc<str>,
    /// Where.
    pub span: Span,
    /// What is to be seen there.
    pub text: String,
}

/// One complaint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The stable code.
    pub code: Code,
    /// One sentence, without a full stop.
    pub message: String,
    /// The file's name as the reader of the message should see it.
    pub file: Arc<str>,
    /// The place.
    pub span: Span,
    /// Further places.
    pub labels: Vec<Label>,
    /// What to do, if that can be said.
    pub help: Option<String>,
    /// The change that the help speaks of, where it is one: this text in place of those bytes of the file.
    pub fix: Option<(Span, String)>,
}

impl Diagnostic {
    /// An error at `span` of `file`.
    pub fn error(
        code: Code,
        file: &Arc<str>,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            file: file.clone(),
            span,
            labels: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// A warning at `span` of `file`.
    pub fn warning(
        code: Code,
        file: &Arc<str>,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, file, span, message) }
    }

    /// Adds a place in the same file.
    pub fn label(self, span: Span, text: impl Into<String>) -> Diagnostic {
        let file = self.file.clone();
        self.label_in(&file, span, text)
    }

    /// Adds a place in any file.
    pub fn label_in(mut self, file: &Arc<str>, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { file: file.clone(), span, text: text.into() });
        self
    }

    /// Sets the help text.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// Sets the help text, and the change of the file that it speaks of.
    pub fn replace(
        mut self,
        span: Span,
        with: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        self.fix = Some((span, with.into()));
        self.help(help)
    }

    /// Sets the help text to "did you mean …?" where one of `candidates` resembles `name`.
    pub fn suggest<'a>(
        self,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Diagnostic {
        match nearest(name, candidates) {
            Some(best) => {
                let help = format!("did you mean `{best}`?");
                // The name may be a part of what is marked.
                match self.span.range().len() == name.len() {
                    true => {
                        let span = self.span;
                        self.replace(span, best, help)
                    }
                    false => self.help(help),
                }
            }
            None => self,
        }
    }

    /// The diagnostic in rustc's form without colour. `source` gives the text of a file by name; a file it doesn't
    /// know is shown by byte offset.
    pub fn to_plain<'a>(&self, source: impl Fn(&str) -> Option<&'a str>) -> String {
        use std::fmt::Write;
        let mut out = format!("{}[{}]: {}\n", self.severity, self.code, self.message);
        place(&mut out, source(&self.file), &self.file, self.span, '^', "");
        for label in &self.labels {
            place(&mut out, source(&label.file), &label.file, label.span, '-', &label.text);
        }
        if let Some(help) = &self.help {
            // Writing to a string can't fail.
            let _ = writeln!(out, "help: {help}");
        }
        out
    }
}

/// Appends one place: file, line, column, the line and a mark under it.
fn place(out: &mut String, source: Option<&str>, file: &str, span: Span, mark: char, text: &str) {
    use std::fmt::Write;
    let Some(source) = source else {
        let _ = writeln!(out, " --> {file}: byte {} {text}", span.start);
        return;
    };
    let (line, column) = line_column(source, span.start as usize);
    let _ = writeln!(out, " --> {file}:{line}:{column}");
    let content = source.lines().nth(line - 1).unwrap_or("");
    let gutter = line.to_string();
    let length = source
        .get(span.range())
        .and_then(|s| s.lines().next())
        .map_or(1, |s| s.chars().count().max(1));
    let pad: String =
        content.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let _ = writeln!(out, "{gutter} | {content}");
    let marks: String = std::iter::repeat_n(mark, length).collect();
    let line = format!("{} | {pad}{marks} {text}", " ".repeat(gutter.len()));
    let _ = writeln!(out, "{}", line.trim_end());
}

/// Line and column of a byte offset, both from 1, the column in characters. Offsets past the end give the end.
pub fn line_column(source: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &source[..offset];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The candidate closest to `name`, if it is close enough to be a typing error: at most a third of the characters
/// differ, and not the only one. The first of equals wins.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = if length < 2 { 0 } else { length.div_ceil(3) };
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate, limit), candidate))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, candidate)| candidate)
}

/// Edit distance with adjacent transpositions (optimal string alignment), or `limit + 1` if it is surely greater.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let swap = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + swap);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_rendering_shows_every_place() {
        let file: Arc<str> = "ops.toml".into();
        let other: Arc<str> = "more.toml".into();
        let text = "one\ntwo three\n";
        let diagnostic = Diagnostic::error(Code(123), &file, Span::new(8, 13), "no such word")
            .label(Span::new(0, 3), "first seen here")
            .label_in(&other, Span::new(5, 6), "and there")
            .suggest("three", ["tree", "threw"]);
        let plain = diagnostic.to_plain(|name| (name == "ops.toml").then_some(text));
        assert_eq!(
            plain,
            "error[E0123]: no such word\n --> ops.toml:2:5\n2 | two three\n  |     ^^^^^\n \
             --> ops.toml:1:1\n1 | one\n  | --- first seen here\n --> more.toml: byte 5 and there\n\
             help: did you mean `tree`?\n"
        );
    }

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        assert_eq!(line_column("", 0), (1, 1));
        assert_eq!(line_column("äb\nc", 2), (1, 2));
        assert_eq!(line_column("äb\nc", 1), (1, 1), "inside a character");
        assert_eq!(line_column("äb\nc", 4), (2, 1));
        assert_eq!(line_column("ab", 99), (1, 3));
    }

    #[test]
    fn suggestions_are_close_or_absent() {
        assert_eq!(nearest("fadd", ["iadd", "fmul", "fsub"]), Some("iadd"));
        assert_eq!(nearest("isbu", ["isub", "iabs"]), Some("isub"), "a transposition is one edit");
        assert_eq!(nearest("frobnicate", ["fadd", "fmul"]), None);
        assert_eq!(nearest("x", ["y"]), None, "one letter resembles every other");
    }
}
