//! `deburr rules fmt`: rule files as the formatter writes them.

use crate::codes;
use crate::json::Object;
use crate::report::{Diagnostic, Exit, Kind, Place, Reporter, Trouble};
use deburr_rulegen::rules::fmt::format;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the rules of a tree are.
const FOLDER: &str = "rules";

/// Format rule files.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr rules fmt rules/pow2.rules\n  deburr rules fmt --check"
)]
pub struct Args {
    /// Files, `-` for standard input; all of the folder `rules` if none is given
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Write nothing; answer whether all are formatted
    #[arg(long)]
    check: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let files = match args.files.is_empty() {
        true => match all_files(Path::new(FOLDER)) {
            Ok(files) => files,
            Err(d) => return reporter.diagnose(&d),
        },
        false => args.files.clone(),
    };
    let mut exit = Exit::Ok;
    for path in &files {
        exit = exit.max(match file(path, args.check, reporter) {
            Ok(exit) => exit,
            Err(trouble) => reporter.diagnose_all(&trouble),
        });
    }
    exit
}

/// The rule files of a folder.
fn all_files(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let told = |e: std::io::Error| {
        let d = Diagnostic::new(FOLDER, Kind::Invalid, codes::FILE, format!("can't read: {e}"));
        match e.kind() {
            ErrorKind::NotFound => d.help("name the files, or run it beside the folder"),
            _ => d,
        }
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        if path.extension().is_some_and(|e| e == "rules") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn file(path: &Path, check: bool, reporter: &mut Reporter) -> Result<Exit, Trouble> {
    let bytes = crate::input::read_bytes(path)?;
    let name: Arc<str> = path.to_string_lossy().into();
    let text = String::from_utf8(bytes).map_err(|_| {
        Diagnostic::new(&name, Kind::Invalid, codes::KIND_OF_INPUT, "not UTF-8 text")
    })?;
    let formatted = format(&name, &text).map_err(|d| Diagnostic::of_rules(&d, |_| Some(&text)))?;
    let differs = formatted != text;
    if reporter.json {
        let line = Object::line().str("file", &name).raw("formatted", !differs);
        reporter.line(&line.raw("written", differs && !check).end());
    }
    if check && differs {
        return Ok(reporter.diagnose(&difference(&name, &text, &formatted)));
    }
    let stdin = path == Path::new("-");
    if !check && (differs || stdin) {
        crate::output::write(path, formatted.as_bytes(), reporter)?;
    }
    if !check && differs && !stdin {
        reporter.remark(&format!("{name}: formatted"));
    }
    Ok(Exit::Ok)
}

/// What is wrong with a line of which only the white space around it is.
fn indentation(line: &str, want: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let spaces = |n| if n == 1 { "1 space".to_owned() } else { format!("{n} spaces") };
    let before = &line[..indent(line)];
    match () {
        () if before == &want[..indent(want)] => {
            "`deburr rules fmt` takes away the white space at the end of this line".to_owned()
        }
        () if before.chars().all(|c| c == ' ') => format!(
            "`deburr rules fmt` indents this line by {}, not by {}",
            spaces(indent(want)),
            spaces(before.len())
        ),
        () => format!("`deburr rules fmt` indents this line by {}", spaces(indent(want))),
    }
}

/// The first line that the formatter writes otherwise.
fn difference(name: &str, text: &str, formatted: &str) -> Diagnostic {
    let d = Diagnostic::new(name, Kind::Invalid, codes::NOT_FORMATTED, "this is not formatted");
    let mut start = 0;
    let mut wanted = formatted.lines();
    for line in text.split_inclusive('\n') {
        let shown = line.trim_end_matches('\n');
        match wanted.next() {
            Some(want) if want == shown => start += line.len(),
            want => {
                let place = Place::of_bytes(text, start..start + shown.len());
                let help = match want {
                    Some(want) if want.trim() == shown.trim() && !want.trim().is_empty() => {
                        indentation(shown, want)
                    }
                    Some(want) if !want.trim().is_empty() => {
                        format!("`deburr rules fmt` writes `{}`", want.trim())
                    }
                    _ => "`deburr rules fmt` leaves this line out".to_owned(),
                };
                return d.at(place).help(help);
            }
        }
    }
    d.at(Place::of_bytes(text, text.len()..text.len())).help("`deburr rules fmt` writes it")
}
