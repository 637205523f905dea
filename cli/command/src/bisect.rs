//! `deburr bisect`: the first rewrite that makes a check fail.

use crate::Tree;
use crate::codes;
use crate::input::{Input, spirv_diagnostic};
use crate::json::Object;
use crate::optimiser::{Optimiser, Optimising, rewrite};
use crate::options::Reading;
use crate::output;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use deburr_algebraic::TraceEntry;
use deburr_ir_core::Module;
use deburr_passes::Options;
use deburr_spirv::WriteOptions;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Find the first rewrite that makes a check fail.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr bisect shader.spv --check 'sh renders-right.sh {}'\n  deburr bisect a.wgsl --check 'deburr print {} | grep -q imul' --json"
)]
pub struct Args {
    /// Input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Shell command that succeeds on a good module; `{}` is the module's path
    #[arg(long, value_name = "CMD")]
    check: String,
    #[command(flatten)]
    optimising: Optimising,
    #[command(flatten)]
    reading: Reading,
}

/// Runs the subcommand.
pub fn run(args: &Args, tree: &Tree, reporter: &mut Reporter) -> Exit {
    let optimiser = match Optimiser::of(&args.optimising, tree, reporter) {
        Ok(optimiser) => optimiser,
        Err(exit) => return exit,
    };
    match Search::new(args, &optimiser).and_then(|mut search| search.run(reporter)) {
        Ok(Some(found)) => {
            tell(&found, reporter);
            Exit::Ok
        }
        Ok(None) => {
            reporter.remark("the check succeeds with every rewrite");
            Exit::No
        }
        Err(trouble) => reporter.diagnose_all(&trouble),
    }
}

/// The rewrite that was looked for.
struct Found {
    /// Its number, from 1, and how many there are.
    number: u64,
    all: u64,
    entry: TraceEntry,
    /// Whether the check succeeds with this rule disabled and all others at work.
    alone: bool,
    /// How often the check was run.
    runs: u32,
}

fn tell(found: &Found, reporter: &mut Reporter) {
    let Found { number, all, entry, alone, runs } = found;
    if reporter.json {
        let line = Object::line().raw("rewrite", number).raw("of", all).str("rule", entry.rule);
        let line = line.str("file", entry.file).raw("line", entry.line);
        let line = line.str("function", &entry.function).str("before", &entry.before);
        let line = line.str("after", &entry.after).raw("alone", alone).raw("runs", runs);
        return reporter.line(&line.end());
    }
    reporter.line(&format!("rewrite {number} of {all}: {}", rewrite(entry)));
    reporter.line(&match alone {
        true => format!("with `--disable-rule {}` the check succeeds", entry.rule),
        false => format!("with `--disable-rule {}` the check fails all the same", entry.rule),
    });
}

struct Search<'a> {
    args: &'a Args,
    optimiser: &'a Optimiser<'a>,
    /// The input's name and module.
    name: String,
    module: Module,
    /// Where modules are written for the check.
    folder: tempfile::TempDir,
    runs: u32,
}

impl<'a> Search<'a> {
    fn new(args: &'a Args, optimiser: &'a Optimiser<'a>) -> Result<Self, Trouble> {
        let input = Input::open(&args.input)?;
        input.refuse_frozen_ir(&args.reading)?;
        let module = input.load(&args.reading)?.module;
        let folder = tempfile::tempdir().map_err(|e| {
            let message = format!("can't make a temporary folder: {e}");
            Diagnostic::new(&input.name, Kind::Invalid, codes::FILE, message)
        })?;
        Ok(Search { args, optimiser, name: input.name, module, folder, runs: 0 })
    }

    fn run(&mut self, reporter: &mut Reporter) -> Result<Option<Found>, Trouble> {
        let all = self.rewrites(Options::default())?.len() as u64;
        if self.is_good(all, None)? {
            return Ok(None);
        }
        if !self.is_good(0, None)? {
            let message = "the check fails without any rewrite";
            let d = Diagnostic::new(&self.name, Kind::Invalid, codes::BISECT, message);
            return Err(d.help("look at the passes: `--passes none`, then more and more").into());
        }
        // Good with `low` rewrites, bad with `high`.
        let (mut low, mut high) = (0, all);
        let steps = usize::try_from(u64::BITS - all.leading_zeros()).unwrap_or(0);
        while high - low > 1 {
            reporter.progress(self.runs as usize, steps + 2, "runs");
            let middle = low + (high - low) / 2;
            match self.is_good(middle, None)? {
                true => low = middle,
                false => high = middle,
            }
        }
        let mut options = Options::default();
        options.rules.limit = Some(high);
        let Some(entry) = self.rewrites(options)?.pop() else { return Ok(None) };
        let alone = self.is_good(u64::MAX, Some(entry.rule))?;
        Ok(Some(Found { number: high, all, entry, alone, runs: self.runs }))
    }

    /// The rewrites that are made.
    fn rewrites(&self, mut options: Options) -> Result<Vec<TraceEntry>, Trouble> {
        options.rules.trace = true;
        let mut module = self.module.clone();
        let report =
            self.optimiser.run(&self.name, &mut module, options, &mut |_, _, _| {}, None)?;
        Ok(report.rules.trace)
    }

    /// Whether the check succeeds after so many rewrites, without those of a rule.
    fn is_good(&mut self, limit: u64, without: Option<&str>) -> Result<bool, Trouble> {
        let mut options = Options::default();
        options.rules.limit = Some(limit);
        options.rules.disabled.extend(without.map(str::to_owned));
        let mut module = self.module.clone();
        self.optimiser.run(&self.name, &mut module, options, &mut |_, _, _| {}, None)?;
        let words = deburr_spirv::write(&module, &WriteOptions::default())
            .map_err(|e| spirv_diagnostic(&self.name, &e))?;
        let path = self.folder.path().join("module.spv");
        output::write_file(&path, &output::bytes(&words))?;
        self.runs += 1;
        self.check(&path)
    }

    fn check(&self, path: &Path) -> Result<bool, Trouble> {
        let text = match self.args.check.contains("{}") {
            true => self.args.check.replace("{}", "\"$1\""),
            false => format!("{} \"$1\"", self.args.check),
        };
        let status = Command::new("sh")
            .args(["-c", &text, "deburr-bisect"])
            .arg(path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let complain = |message: String| {
            Trouble::from(Diagnostic::new(&self.name, Kind::Tool, codes::BISECT, message))
        };
        let status = status.map_err(|e| complain(format!("can't run `sh`: {e}")))?;
        match status.code() {
            // What a shell says of a command that it doesn't find or can't run.
            Some(126 | 127) => Err(complain(format!("`{}` can't be run", self.args.check))),
            code => Ok(code == Some(0)),
        }
    }
}
