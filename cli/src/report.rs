//! Diagnostics and results: the one place where either becomes text.

use std::io::Write;

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
        }
    }
}

/// What kind of trouble a [`Diagnostic`] tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Invalid,
    Unsupported,
    Limit,
    Tool,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Invalid => "invalid",
            Kind::Unsupported => "unsupported",
            Kind::Limit => "limit",
            Kind::Tool => "tool",
        }
    }

    /// The exit code that goes with it.
    pub fn exit(self) -> Exit {
        match self {
            Kind::Invalid => Exit::No,
            Kind::Unsupported | Kind::Tool => Exit::Unsupported,
            Kind::Limit => Exit::Limit,
        }
    }
}

/// Where in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The input as a whole.
    None,
    /// A line and column, from 1.
    Text { line: usize, col: usize },
    /// A word of a binary, with the instruction there.
    Word { word: usize, op: String },
}

/// One thing to tell about an input.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// File name, `-` for standard input.
    pub file: String,
    /// Kind of trouble.
    pub kind: Kind,
    /// Error code, `E0000` where there is none of its own.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub place: Place,
    /// The source, for the caret.
    pub source: Option<String>,
    /// What to do about it.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// About a file as a whole.
    pub fn new(file: &str, kind: Kind, message: impl Into<String>) -> Self {
        Diagnostic {
            file: file.into(),
            kind,
            code: match kind {
                Kind::Invalid => "E0000",
                Kind::Unsupported => "E0001",
                Kind::Limit => "E0002",
                Kind::Tool => "E0003",
            }
            .into(),
            message: message.into(),
            place: Place::None,
            source: None,
            help: Vec::new(),
        }
    }

    /// At a place.
    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// With a line of help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// Writes results and diagnostics.
pub struct Reporter {
    quiet: bool,
    /// How much more to say.
    pub verbose: u8,
    /// JSON Lines instead of text.
    pub json: bool,
}

impl Reporter {
    pub fn new(common: &super::Common) -> Self {
        Reporter { quiet: common.quiet, verbose: common.verbose, json: common.json }
    }

    /// Tells of trouble, and gives the exit code that goes with it.
    pub fn diagnose(&mut self, d: &Diagnostic) -> Exit {
        if self.json {
            let place = match &d.place {
                Place::None => "null".to_owned(),
                Place::Text { line, col } => format!("{{\"line\":{line},\"col\":{col}}}"),
                Place::Word { word, op } => format!("{{\"word\":{word},\"op\":{}}}", json_string(op)),
            };
            self.line(&format!(
                "{{\"schema\":1,\"file\":{},\"severity\":\"error\",\"code\":{},\"kind\":\"{}\",\"message\":{},\"place\":{place}}}",
                json_string(&d.file),
                json_string(&d.code),
                d.kind.name(),
                json_string(&d.message),
            ));
        } else {
            self.complain(&render(d));
        }
        d.kind.exit()
    }

    /// A result on stdout.
    pub fn line(&mut self, text: &str) {
        // A closed pipe ends quietly: whoever reads has seen enough.
        if writeln!(std::io::stdout().lock(), "{text}").is_err() {
            std::process::exit(0);
        }
    }

    /// A remark for a person: not with `--json`, not with `-q`.
    pub fn remark(&mut self, text: &str) {
        if !self.quiet && !self.json {
            self.line(text);
        }
    }

    fn complain(&mut self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// A wrong command line.
    pub fn usage(&mut self, message: &str) -> Exit {
        self.complain(&format!("error: {message}"));
        Exit::Usage
    }
}

/// rustc's look.
fn render(d: &Diagnostic) -> String {
    let mut out = format!("error[{}]: {}\n", d.code, d.message);
    match &d.place {
        Place::None => out += &format!(" --> {}\n", d.file),
        Place::Word { word, op } => out += &format!(" --> {}: word {word} ({op})\n", d.file),
        Place::Text { line, col } => {
            out += &format!(" --> {}:{line}:{col}\n", d.file);
            if let Some(text) = d.source.as_deref().and_then(|s| s.lines().nth(line - 1)) {
                let gutter = line.to_string().len();
                // Long lines and control characters would hide the caret.
                let shown: String = text.chars().take(160).map(|c| if c.is_control() { ' ' } else { c }).collect();
                out += &format!("{:gutter$} |\n{line} | {shown}\n", "");
                if *col <= 160 {
                    out += &format!("{:gutter$} | {:>col$}\n", "", "^");
                }
            }
        }
    }
    for help in &d.help {
        out += &format!("help: {help}\n");
    }
    out.truncate(out.trim_end().len());
    out
}

/// A string as JSON.
pub fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if c.is_control() => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
