//! Diagnostics and results: the one place where either becomes text.

use crate::Color;
use crate::codes;
use crate::json::Object;
use std::io::{ErrorKind, IsTerminal, Write};

/// How the command ends. The order is that of severity: with several inputs the largest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Done, and the answer is yes.
    Ok,
    /// The input is invalid, or the answer is no.
    No,
    /// The command line is wrong.
    Usage,
    /// Valid but unsupported, or an outside tool is missing.
    Unsupported,
    /// A budget or time limit.
    Limit,
    /// A bug: a pass left an invalid module behind.
    Bug,
}

impl Exit {
    /// The process's exit code.
    pub fn number(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::No => 1,
            Exit::Usage => 2,
            Exit::Unsupported => 3,
            Exit::Limit => 4,
            Exit::Bug => 101,
        }
    }
}

/// What kind of trouble a [`Diagnostic`] tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The input is wrong.
    Invalid,
    /// The input may be right, but isn't supported.
    Unsupported,
    /// A budget ran out.
    Limit,
    /// An outside tool is missing or can't be run.
    Tool,
    /// A pass is wrong.
    Bug,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Invalid | Kind::Bug => "invalid",
            Kind::Unsupported => "unsupported",
            Kind::Limit => "limit",
            Kind::Tool => "tool",
        }
    }

    /// The exit code that goes with it.
    pub fn exit(self) -> Exit {
        match self {
            Kind::Invalid => Exit::No,
            Kind::Unsupported => Exit::Unsupported,
            Kind::Limit => Exit::Limit,
            Kind::Tool => Exit::Unsupported,
            Kind::Bug => Exit::Bug,
        }
    }
}

/// Where in an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The input as a whole.
    #[default]
    None,
    /// A line and column, from 1, with the line's text and how many characters of it are meant.
    Text { line: usize, col: usize, len: usize, text: String },
    /// A word of a binary, with the instruction there.
    Word { word: usize, op: String },
}

impl Place {
    /// A range of bytes of a text.
    pub fn of_bytes(source: &str, range: std::ops::Range<usize>) -> Place {
        let (line, col) = deburr_rulegen::diagnostics::line_column(source, range.start);
        let len = source.get(range).and_then(|s| s.lines().next()).map_or(1, |s| s.chars().count());
        let text = source.lines().nth(line - 1).unwrap_or("").to_owned();
        Place::Text { line, col, len: len.max(1), text }
    }
}

/// One thing to tell about an input.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// File name, `-` for standard input.
    pub file: String,
    /// Whether the result is there all the same.
    pub warning: bool,
    /// Kind of trouble.
    pub kind: Kind,
    /// Error code.
    pub code: String,
    /// What is wrong, without a full stop.
    pub message: String,
    /// Where.
    pub place: Place,
    /// Further places: file, place, what is to be seen there.
    pub labels: Vec<(String, Place, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// About a file as a whole.
    pub fn new(file: &str, kind: Kind, code: codes::Cli, message: impl Into<String>) -> Self {
        Diagnostic {
            file: file.into(),
            warning: false,
            kind,
            code: code.name(),
            message: message.into(),
            place: Place::None,
            labels: Vec::new(),
            help: None,
        }
    }

    /// Not an error: the result is there, but may not be what was meant.
    pub fn warning(file: &str, code: codes::Cli, message: impl Into<String>) -> Self {
        Diagnostic { warning: true, ..Self::new(file, Kind::Invalid, code, message) }
    }

    fn severity(&self) -> &'static str {
        if self.warning { "warning" } else { "error" }
    }

    /// At a place.
    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// With a line of help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// A complaint of the generator library, whose texts `source` gives by name.
    pub fn of_rules<'a>(
        d: &deburr_rulegen::diagnostics::Diagnostic,
        source: impl Fn(&str) -> Option<&'a str>,
    ) -> Self {
        let place = |file: &str, span: deburr_rulegen::diagnostics::Span| {
            source(file).map_or(Place::None, |text| Place::of_bytes(text, span.range()))
        };
        let labels =
            d.labels.iter().map(|l| (l.file.to_string(), place(&l.file, l.span), l.text.clone()));
        Diagnostic {
            file: d.file.to_string(),
            warning: false,
            kind: Kind::Invalid,
            code: d.code.to_string(),
            message: d.message.clone(),
            place: place(&d.file, d.span),
            labels: labels.collect(),
            help: d.help.clone(),
        }
    }

    fn json(&self) -> String {
        let place = match &self.place {
            Place::None => "null".to_owned(),
            Place::Text { line, col, .. } => {
                Object::nested().raw("line", line).raw("col", col).end()
            }
            Place::Word { word, op } => Object::nested().raw("word", word).str("op", op).end(),
        };
        let line = Object::line().str("file", &self.file).str("severity", self.severity());
        let line = line.str("code", &self.code).str("kind", self.kind.name());
        line.str("message", &self.message).raw("place", place).end()
    }
}

/// Any number of diagnostics, in place of a result.
pub type Trouble = Vec<Diagnostic>;

impl From<Diagnostic> for Trouble {
    fn from(d: Diagnostic) -> Trouble {
        vec![d]
    }
}

/// Writes results and diagnostics.
pub struct Reporter {
    quiet: bool,
    colour: bool,
    terminal: bool,
    /// How much more to say.
    pub verbose: u8,
    /// JSON Lines instead of text.
    pub json: bool,
    /// Whether the work goes on when nobody reads stdout any more: it has files to write.
    pub lasting: bool,
    /// Nobody reads stdout.
    closed: bool,
    /// Something of stdout is lost.
    pub failed: bool,
}

impl Reporter {
    /// As the command line and the terminal have it.
    pub fn new(common: &super::Common) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let colour = match common.color {
            Color::Always => true,
            Color::Never => false,
            // An empty NO_COLOR counts as none (no-color.org).
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        Reporter {
            quiet: common.quiet,
            colour,
            terminal,
            verbose: common.verbose,
            json: common.json,
            lasting: false,
            closed: false,
            failed: false,
        }
    }

    /// Tells of trouble, and gives the exit code that goes with it.
    pub fn diagnose(&mut self, d: &Diagnostic) -> Exit {
        match self.json {
            true => self.line(&d.json()),
            false => self.complain(&render(d, self.colour)),
        }
        if d.warning { Exit::Ok } else { d.kind.exit() }
    }

    /// Tells of warnings, unless only errors are wanted.
    pub fn warn(&mut self, warnings: &Trouble) {
        if !self.quiet {
            for d in warnings {
                self.complain(&render(d, self.colour));
            }
        }
    }

    /// Tells of everything, and gives the largest exit code.
    pub fn diagnose_all(&mut self, trouble: &Trouble) -> Exit {
        trouble.iter().map(|d| self.diagnose(d)).max().unwrap_or(Exit::No)
    }

    /// A result on stdout.
    pub fn line(&mut self, text: &str) {
        self.bytes(format!("{text}\n").as_bytes());
    }

    /// A result on stdout, as it is.
    pub fn bytes(&mut self, bytes: &[u8]) {
        if self.closed {
            return;
        }
        let mut out = std::io::stdout().lock();
        let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) else { return };
        drop(out);
        self.closed = true;
        // A closed pipe ends quietly: whoever reads has seen enough.
        if error.kind() != ErrorKind::BrokenPipe {
            self.failed = true;
            let message = format!("can't write: {error}");
            let d = Diagnostic::new("stdout", Kind::Invalid, codes::FILE, message);
            self.complain(&render(&d, self.colour));
        }
        if !self.lasting {
            std::process::exit(if self.failed { Exit::No } else { Exit::Ok }.number().into());
        }
    }

    /// A place of a text with what is to be seen there.
    pub fn pointing(file: &str, place: &Place, label: &str) -> String {
        let mut out = String::new();
        snippet(&mut out, file, place, '^', label);
        out.truncate(out.trim_end().len());
        out
    }

    /// A remark for a person: not with `--json`, not with `-q`.
    pub fn remark(&mut self, text: &str) {
        if !self.quiet && !self.json {
            self.line(text);
        }
    }

    /// The same on stderr, where stdout has the result.
    pub fn aside(&mut self, text: &str) {
        if !self.quiet {
            self.complain(text);
        }
    }

    /// How far the work is, where somebody looks on.
    pub fn progress(&mut self, done: usize, all: usize, what: &str) {
        if self.terminal && !self.quiet {
            let end = if done == all { "\r\x1b[K" } else { "" };
            let _ = write!(std::io::stderr().lock(), "\r{done} of {all} {what}{end}");
        }
    }

    fn complain(&mut self, text: &str) {
        // Nobody is left to be told of an stderr that is closed.
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// A wrong command line.
    pub fn usage(&mut self, message: &str) -> Exit {
        self.complain(&format!("error: {message}"));
        Exit::Usage
    }
}

/// Characters of a line that are shown; longer ones would hide the caret.
const SHOWN: usize = 160;

/// rustc's look.
fn render(d: &Diagnostic, colour: bool) -> String {
    let paint = |code: &str, text: &str| match colour {
        true => format!("\x1b[{code}m{text}\x1b[0m"),
        false => text.to_owned(),
    };
    let head =
        paint(if d.warning { "1;33" } else { "1;31" }, &format!("{}[{}]", d.severity(), d.code));
    let mut out = format!("{head}{}", paint("1", &format!(": {}\n", d.message)));
    snippet(&mut out, &d.file, &d.place, '^', "");
    for (file, place, text) in &d.labels {
        snippet(&mut out, file, place, '-', text);
    }
    if let Some(help) = &d.help {
        out += &format!("{}: {help}\n", paint("1;36", "help"));
    }
    out.truncate(out.trim_end().len());
    out
}

fn snippet(out: &mut String, file: &str, place: &Place, mark: char, label: &str) {
    match place {
        Place::None => *out += &format!(" --> {file}\n"),
        Place::Word { word, op } => *out += &format!(" --> {file}: word {word} ({op})\n"),
        Place::Text { line, col, len, text } => {
            *out += &format!(" --> {file}:{line}:{col}\n");
            let gutter = line.to_string().len();
            // Control characters would move the terminal's cursor; a tab is as wide as a blank here.
            let tame = |c: char| if c.is_control() { ' ' } else { c };
            let shown: String = text.chars().take(SHOWN).map(tame).collect();
            *out += &format!("{:gutter$} |\n{line} | {}\n", "", shown.trim_end());
            if *col <= SHOWN {
                let len = (*len).min(SHOWN + 1 - col).max(1);
                let marks: String = std::iter::repeat_n(mark, len).collect();
                let line = format!(
                    "{:gutter$} | {:pad$}{marks} {label}",
                    "",
                    "",
                    pad = col.saturating_sub(1)
                );
                *out += line.trim_end();
                out.push('\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_points_at_its_text() {
        let source = "one\ntwo three\n";
        let mut d = Diagnostic::new("a.nir", Kind::Invalid, codes::IR_TEXT, "no such word");
        d.place = Place::of_bytes(source, 8..13);
        d.labels.push(("b.nir".into(), Place::None, String::new()));
        let text = render(&d.help("try four"), false);
        let expected = "error[E0010]: no such word\n --> a.nir:2:5\n  |\n2 | two three\n  |     ^^^^^\n --> b.nir\nhelp: try four";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_word_is_named() {
        let place = Place::Word { word: 17, op: "OpLoad %5".into() };
        let d =
            Diagnostic::new("a.spv", Kind::Unsupported, codes::SPIRV_UNSUPPORTED, "what").at(place);
        assert!(render(&d, false).ends_with(" --> a.spv: word 17 (OpLoad %5)"));
        assert!(d.json().contains(
            r#""kind":"unsupported","message":"what","place":{"word":17,"op":"OpLoad %5"}}"#
        ));
    }

    #[test]
    fn long_lines_are_cut() {
        let source = "x".repeat(1000);
        let d = Diagnostic::new("-", Kind::Invalid, codes::IR_TEXT, "m")
            .at(Place::of_bytes(&source, 100..900));
        assert!(render(&d, false).lines().all(|l| l.len() < 200));
    }
}
