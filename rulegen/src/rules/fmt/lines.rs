//! From tokens to lines: where a line is broken, and blank lines between them.

use super::tokens::{Kind, Token};

/// The longest line, in characters.
pub(super) const WIDTH: usize = 120;

/// Lines written so far.
#[derive(Default)]
pub(super) struct Layout {
    out: Vec<String>,
    /// No blank line may stand here: at the start, behind an opening brace.
    opened: bool,
    /// A blank line must stand here.
    blank: bool,
    /// The last line ends with a comment: nothing may be put behind it.
    commented: bool,
}

impl Layout {
    /// Writes a line, with a blank one above it if there were two line ends there.
    pub fn line(&mut self, indent: usize, text: &str, lines: usize) {
        self.lines(vec![format!("{:indent$}{text}", "")], lines);
        self.commented = text.starts_with("//");
    }

    /// Writes lines, of which the last doesn't end with a comment.
    pub fn lines(&mut self, list: Vec<String>, lines: usize) {
        if (lines > 1 || self.blank) && !self.opened && !self.out.is_empty() {
            self.out.push(String::new());
        }
        (self.opened, self.blank, self.commented) = (false, false, false);
        self.out.extend(list);
    }

    /// Writes a comment at the end of the last line, or below it if there is one already.
    pub fn trail(&mut self, indent: usize, text: &str) {
        match self.out.last_mut() {
            Some(last) if !self.commented => {
                last.push(' ');
                last.push_str(text);
                self.commented = true;
            }
            _ => self.line(indent, text, 0),
        }
    }

    /// Something was opened: no blank line follows.
    pub fn open(&mut self) {
        self.opened = true;
    }

    /// Something ends: no blank line stands in front.
    pub fn tight(&mut self) {
        self.opened = true;
    }

    /// A blank line follows, if anything does.
    pub fn blank(&mut self) {
        self.blank = true;
    }

    /// The text.
    pub fn finish(self) -> String {
        self.out.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

fn spaced(before: &Token<'_>, token: &Token<'_>) -> bool {
    !before.tight_right && !token.tight_left
}

/// The tokens on one line; `None` if there is a comment among them.
pub(super) fn flat(tokens: &[Token<'_>]) -> Option<String> {
    let mut out = String::new();
    for (i, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Comment {
            return None;
        }
        if i > 0 && spaced(&tokens[i - 1], token) {
            out.push(' ');
        }
        out.push_str(token.text);
    }
    Some(out)
}

/// The tokens on as many lines as are needed: the first at `indent`, the others a `step` further in.
pub(super) fn fill(tokens: &[Token<'_>], indent: usize, step: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let (mut begun, mut commented) = (false, false);
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        let column = if begun { indent + step } else { indent };
        if first.kind == Kind::Comment {
            match out.last_mut() {
                Some(line) if first.lines == 0 && !commented => {
                    line.push(' ');
                    line.push_str(first.text);
                }
                _ => out.push(format!("{:column$}{}", "", first.text)),
            }
            rest = &rest[1..];
            commented = true;
            continue;
        }
        let end = rest.iter().position(|t| t.kind == Kind::Comment).unwrap_or(rest.len());
        let taken = fitting(&rest[..end], WIDTH.saturating_sub(column));
        let line = flat(&rest[..taken]).unwrap_or_default();
        out.push(format!("{:column$}{line}", ""));
        (begun, commented) = (true, false);
        rest = &rest[taken..];
    }
    out
}

/// How many of the tokens are put on a line of `width`: all, or those up to the outermost place to break it.
fn fitting(tokens: &[Token<'_>], width: usize) -> usize {
    let (mut column, mut depth) = (0, 0usize);
    // Depth and place.
    let mut best: Option<(usize, usize)> = None;
    for (i, token) in tokens.iter().enumerate() {
        if i > 0 && breaks(&tokens[i - 1], token) {
            best = match best {
                // Beyond the width a place only counts where there was none before it.
                Some(found) if found.0 < depth || column > width => Some(found),
                _ => Some((depth, i)),
            };
        }
        column += usize::from(i > 0 && spaced(&tokens[i - 1], token));
        column += token.text.chars().count();
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    match best {
        Some((_, place)) if column > width => place,
        _ => tokens.len(),
    }
}

/// Whether a line may be broken between two tokens.
fn breaks(before: &Token<'_>, token: &Token<'_>) -> bool {
    before.text == ","
        || before.text == ";"
        || matches!(token.text, "&&" | "||")
        || (token.kind == Kind::Keyword && matches!(token.text, "if" | "otherwise"))
}
