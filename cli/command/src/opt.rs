//! `deburr opt`: optimise modules.

use crate::Tree;
use crate::codes;
use crate::input::{Input, Loaded, spirv_diagnostic};
use crate::opt_report::{Done, Kinds, Left};
use crate::optimiser::{Optimiser, Optimising};
use crate::options::{Reading, parse_jobs};
use crate::output;
use crate::parallel::in_order;
use crate::report::{Diagnostic, Exit, Kind, Place, Reporter, Trouble};
use crate::rule_stats::{Meter, RuleStats};
use crate::rulebook::Rulebook;
use deburr_algebraic::Guest;
use deburr_ir_core::Module;
use deburr_passes::{Options, Report};
use deburr_rulegen::rules::RuleSet;
use deburr_spirv::{Counts, WriteOptions};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Optimise modules: SPIR-V, WGSL, GLSL or IR text.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr opt shader.wgsl -o shader.spv\n  deburr opt a.spv b.spv -o out/ --float strict"
)]
pub struct Args {
    /// Inputs; `-` is standard input
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Output; `-` is stdout, `DIR/` a folder [default: STEM.opt.spv]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Kind of output: spv, ir, wgsl [default: by OUT's extension]
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true)]
    emit: Option<Emit>,
    #[command(flatten)]
    optimising: Optimising,
    #[command(flatten)]
    reading: Reading,
    /// Refuse newer modules: vulkan1.0 … vulkan1.4, spv1.0 … spv1.6
    #[arg(long, value_name = "E", value_parser = parse_env)]
    target_env: Option<(u8, u8)>,
    /// Refuse modules whose lines or debug information would be lost
    #[arg(long)]
    debug: bool,
    /// Print counts by kind and what each pass did
    #[arg(long)]
    stats: bool,
    /// Print the time of each pass
    #[arg(long)]
    time_passes: bool,
    /// Print each rewrite
    #[arg(long)]
    trace: bool,
    /// Print by rule: fired, tried, time in the reference matcher
    #[arg(long)]
    rule_stats: bool,
    /// Print the module after each run of this pass that changed it
    #[arg(long, value_name = "PASS")]
    print_after: Option<String>,
    /// Print behind an instruction the rules that made it
    #[arg(long)]
    origins: bool,
    /// Don't validate between passes
    #[arg(long)]
    no_validate: bool,
    /// Run compute modules before and after, on random inputs
    #[arg(long)]
    check: bool,
    /// Seed of the inputs of --check
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Inputs at a time
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = parse_jobs)]
    jobs: usize,
}

/// Kinds of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Emit {
    /// SPIR-V
    Spv,
    /// IR text
    Ir,
    /// WGSL, where naga can read the result
    Wgsl,
    /// The input's own SPIR-V: of WGSL and GLSL what the front end made
    Input,
}

impl Emit {
    fn extension(self) -> &'static str {
        match self {
            Emit::Spv => "spv",
            Emit::Ir => "nir",
            Emit::Wgsl => "wgsl",
            Emit::Input => "spv",
        }
    }
}

/// The newest SPIR-V version that an environment takes.
fn parse_env(name: &str) -> Result<(u8, u8), String> {
    let versions = [(1, 0), (1, 3), (1, 5), (1, 6), (1, 6)];
    let minor = |prefix: &str| name.strip_prefix(prefix)?.parse::<u8>().ok();
    match (minor("vulkan1."), minor("spv1.")) {
        (Some(n), _) if usize::from(n) < versions.len() => Ok(versions[usize::from(n)]),
        (_, Some(n)) if n <= 6 => Ok((1, n)),
        _ => Err("vulkan1.0 to vulkan1.4 or spv1.0 to spv1.6 is expected".into()),
    }
}

/// Runs the subcommand.
pub fn run(args: &Args, tree: &Tree, reporter: &mut Reporter) -> Exit {
    if let Some(pass) = args.print_after.as_deref().filter(|p| deburr_passes::pass(p).is_none()) {
        return reporter.usage(&format!("no pass is called `{pass}`"));
    }
    let out = args.output.as_deref();
    let folder =
        out.is_some_and(|o| o.as_os_str().as_encoded_bytes().ends_with(b"/") || o.is_dir());
    if args.inputs.len() > 1 && !folder {
        return reporter.usage("several inputs need `-o DIR/`");
    }
    let optimiser = match Optimiser::of(&args.optimising, tree, reporter) {
        Ok(optimiser) => optimiser,
        Err(exit) => return exit,
    };
    let built_in = match args.rule_stats.then(|| Rulebook::of(tree)?.rules()).transpose() {
        Ok(built_in) => built_in,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    let job = Job { args, folder, optimiser: &optimiser, built_in };
    if let Some((a, b, out)) = job.collision() {
        return reporter.usage(&format!(
            "`{}` and `{}` would both be written to `{}`",
            a.display(),
            b.display(),
            out.display()
        ));
    }
    if let Some(dir) = out.filter(|_| folder)
        && let Err(e) = std::fs::create_dir_all(dir)
    {
        let message = format!("can't make the folder: {e}");
        let dir = dir.to_string_lossy();
        return reporter.diagnose(&Diagnostic::new(&dir, Kind::Invalid, codes::FILE, message));
    }
    // Whoever reads what is told may stop reading: the modules are written all the same.
    reporter.lasting = out != Some(Path::new("-"));
    let mut exit = Exit::Ok;
    let mut all = RuleStats::new(optimiser.rules().rules);
    in_order(
        &args.inputs,
        args.jobs,
        |path| job.one(path),
        |result| {
            if let Some(stats) = result.as_ref().ok().and_then(|f| f.done.rule_stats.as_ref()) {
                all.add(stats);
            }
            exit = exit.max(job.tell(result, reporter));
        },
    );
    if args.rule_stats && args.inputs.len() > 1 && !reporter.json {
        reporter.remark("all inputs:");
        all.lines(true).iter().for_each(|line| reporter.remark(line));
    }
    exit
}

struct Job<'a> {
    args: &'a Args,
    folder: bool,
    optimiser: &'a Optimiser<'a>,
    /// The rules of the tree, to be tried by the reference matcher where that is asked for.
    built_in: Option<RuleSet>,
}

/// What an input came to.
struct Finished {
    done: Done,
    /// Options that do nothing here.
    warnings: Trouble,
    /// The module, where it goes to stdout.
    stdout: Option<Vec<u8>>,
    /// Module texts that were asked for.
    prints: Vec<String>,
    /// What `--check` found. Then there is no result, and all that can be told is how it came about.
    failed: Option<Trouble>,
}

impl Job<'_> {
    fn tell(&self, result: Result<Finished, Trouble>, reporter: &mut Reporter) -> Exit {
        let finished = match result {
            Ok(finished) => finished,
            Err(trouble) => return reporter.diagnose_all(&trouble),
        };
        reporter.warn(&finished.warnings);
        let done = finished.done;
        let detailed = self.args.stats || reporter.verbose > 0;
        let mut traces = finished.prints;
        if self.args.trace {
            traces.extend(done.trace());
        }
        if let Some(trouble) = finished.failed {
            if self.args.rule_stats {
                traces.extend(done.rules(reporter.verbose > 0));
            }
            let tell = match reporter.json || done.out == "-" {
                true => Reporter::aside,
                false => Reporter::remark,
            };
            traces.iter().for_each(|line| tell(reporter, line));
            return reporter.diagnose_all(&trouble);
        }
        let mut text = done.text(self.args.inputs.len() > 1 && !detailed, detailed);
        if detailed || self.args.time_passes {
            text.extend(done.passes());
        }
        if self.args.rule_stats {
            text.extend(done.rules(reporter.verbose > 0));
        }
        if reporter.json {
            text = vec![done.json()];
        }
        match finished.stdout {
            // With the module on stdout nothing else may be there.
            Some(bytes) => {
                traces.iter().chain(&text).for_each(|line| reporter.aside(line));
                reporter.bytes(&bytes);
            }
            None if reporter.json => {
                traces.iter().for_each(|line| reporter.aside(line));
                reporter.line(&text[0]);
            }
            None => traces.iter().chain(&text).for_each(|line| reporter.remark(line)),
        }
        Exit::Ok
    }

    /// Two inputs whose results would have one name, and the name.
    fn collision(&self) -> Option<(&Path, &Path, PathBuf)> {
        let mut names: HashMap<PathBuf, &Path> = HashMap::new();
        self.args.inputs.iter().find_map(|path| {
            let out = self.destination(path);
            let earlier = names.insert(out.clone(), path)?;
            Some((earlier, &**path, out))
        })
    }

    /// Where the result of an input goes.
    fn destination(&self, path: &Path) -> PathBuf {
        let stem = match path.as_os_str().as_encoded_bytes() {
            b"-" => OsStr::new("stdin"),
            _ => path.file_stem().unwrap_or(OsStr::new("out")),
        };
        let extension = self.args.emit.unwrap_or(Emit::Spv).extension();
        let mut name = stem.to_owned();
        match self.args.output.as_deref() {
            Some(dir) if self.folder => {
                name.push(format!(".{extension}"));
                dir.join(name)
            }
            Some(out) => out.to_owned(),
            None => {
                name.push(format!(".opt.{extension}"));
                name.into()
            }
        }
    }

    fn emit(&self, out: &Path) -> Emit {
        self.args.emit.unwrap_or_else(|| match out.extension().and_then(OsStr::to_str) {
            Some("nir" | "ir") => Emit::Ir,
            Some("wgsl") => Emit::Wgsl,
            _ => Emit::Spv,
        })
    }

    fn one(&self, path: &Path) -> Result<Finished, Trouble> {
        let start = Instant::now();
        let input = Input::open(path)?;
        if self.args.emit == Some(Emit::Input) {
            return self.untouched(path, &input);
        }
        let reading = &self.args.reading;
        input.refuse_frozen_ir(reading)?;
        let Loaded { mut module, warnings, words } = input.load(reading)?;
        let name = &*input.name;
        self.check_env(name, &module)?;
        self.check_debug(name, words.as_deref())?;
        // IR text has no binary to count: it is written once as it is.
        let words = words.or_else(|| deburr_spirv::write(&module, &WriteOptions::default()).ok());
        let before = words.as_deref().and_then(|w| deburr_spirv::count(w).ok());
        let kinds = Kinds::of(&module);
        let original = self.args.check.then(|| module.clone());
        let (report, prints, rule_stats) = self.optimise(name, &mut module)?;
        let out = self.destination(path);
        let same =
            |original: Module| crate::check::same(name, &original, &module, self.args.seed).err();
        let failed = original.and_then(same);
        let (stdout, after) = match failed {
            Some(_) => (None, None),
            None => {
                let (bytes, after) = self.result(name, &out, &module)?;
                (give(&out, bytes)?, after)
            }
        };
        let done = Done {
            path: input.name,
            out: out.to_string_lossy().into_owned(),
            before,
            after,
            kinds_before: kinds,
            kinds_after: Kinds::of(&module),
            left: Left::of(&module, &report),
            report,
            rule_stats,
            ms: start.elapsed().as_secs_f64() * 1e3,
        };
        Ok(Finished { done, warnings, stdout, prints, failed })
    }

    /// The binary of an input as it came, for other tools to start from.
    fn untouched(&self, path: &Path, input: &Input) -> Result<Finished, Trouble> {
        let words = input.binary()?.ok_or_else(|| {
            let message = "IR text has no binary of its own";
            Diagnostic::new(&input.name, Kind::Invalid, codes::KIND_OF_INPUT, message)
        })?;
        let counts = deburr_spirv::count(&words).ok();
        let out = self.destination(path);
        let stdout = give(&out, output::bytes(&words))?;
        let kinds = Kinds::default();
        let done = Done {
            path: input.name.clone(),
            out: out.to_string_lossy().into_owned(),
            before: counts,
            after: counts,
            kinds_before: kinds,
            kinds_after: kinds,
            left: Left::default(),
            report: Report::default(),
            rule_stats: None,
            ms: 0.0,
        };
        Ok(Finished { done, warnings: Trouble::new(), stdout, prints: Vec::new(), failed: None })
    }

    /// With `--debug` nothing of what a module tells of its source may be lost, and the IR holds names only.
    fn check_debug(&self, path: &str, words: Option<&[u32]>) -> Result<(), Diagnostic> {
        let found = words.filter(|_| self.args.debug).and_then(deburr_spirv::debug_information);
        let Some((word, op)) = found else { return Ok(()) };
        let message = "lines and debug information can't be kept yet";
        let d = Diagnostic::new(path, Kind::Unsupported, codes::DEBUG_INFO, message);
        Err(d.at(Place::Word { word, op }).help("without `--debug` they are dropped; names stay"))
    }

    fn check_env(&self, path: &str, module: &Module) -> Result<(), Diagnostic> {
        let (major, minor) = module.spirv.version;
        match self.args.target_env {
            Some(newest) if (major, minor) > newest => {
                let message = format!(
                    "SPIR-V {major}.{minor}, the environment takes {}.{}",
                    newest.0, newest.1
                );
                Err(Diagnostic::new(path, Kind::Unsupported, codes::TARGET_ENV, message))
            }
            _ => Ok(()),
        }
    }

    fn optimise(
        &self,
        path: &str,
        module: &mut Module,
    ) -> Result<(Report, Vec<String>, Option<RuleStats>), Trouble> {
        let mut options = Options::default();
        options.validate &= !self.args.no_validate;
        options.rules.trace = self.args.trace;
        options.rules.counts = self.args.rule_stats;
        options.rules.origins = self.args.origins;
        let mut prints = Vec::new();
        let mut observer = |pass: &'static str, m: &Module, changed: bool| {
            if changed && self.args.print_after.as_deref() == Some(pass) {
                prints.push(format!("// after {pass}\n{m}"));
            }
        };
        let (optimiser, rules) = (self.optimiser, self.optimiser.rules().rules);
        let mut meter = self.built_in.as_ref().map(|set| Meter::new(rules, set, optimiser.own()));
        let guest = meter.as_mut().map(|meter| meter as &mut dyn Guest);
        let report = optimiser.run(path, module, options, &mut observer, guest)?;
        let stats = meter.map(|meter| {
            let mut stats = meter.stats();
            stats.fired(report.rules.counts.iter().map(|(name, n)| (*name, *n)));
            stats
        });
        Ok((report, prints, stats))
    }

    /// The bytes of the result, and the counts of its SPIR-V where it has one.
    fn result(
        &self,
        path: &str,
        out: &Path,
        module: &Module,
    ) -> Result<(Vec<u8>, Option<Counts>), Trouble> {
        let written = deburr_spirv::write(module, &WriteOptions::default());
        let counts = written.as_ref().ok().and_then(|w| deburr_spirv::count(w).ok());
        let emit = self.emit(out);
        if emit == Emit::Ir {
            return Ok((module.to_string().into_bytes(), counts));
        }
        let words = written.map_err(|e| spirv_diagnostic(path, &e))?;
        match emit {
            Emit::Wgsl => {
                let text = wgsl_of(&words)
                    .map_err(|e| Diagnostic::new(path, Kind::Unsupported, codes::WGSL_OUT, e))?;
                Ok((text.into_bytes(), counts))
            }
            Emit::Spv | Emit::Ir | Emit::Input => Ok((output::bytes(&words), counts)),
        }
    }
}

/// Writes a result, or gives it back where it goes to stdout.
fn give(out: &Path, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, Diagnostic> {
    if out == Path::new("-") {
        return Ok(Some(bytes));
    }
    output::write_file(out, &bytes)?;
    Ok(None)
}

#[cfg(feature = "naga")]
use crate::naga_front::wgsl_of;

#[cfg(not(feature = "naga"))]
fn wgsl_of(_: &[u32]) -> Result<String, String> {
    Err("this deburr was built without the feature `naga`".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_have_versions() {
        assert_eq!(parse_env("vulkan1.2"), Ok((1, 5)));
        assert_eq!(parse_env("spv1.4"), Ok((1, 4)));
        assert!(parse_env("vulkan1.9").is_err());
        assert!(parse_env("opengl").is_err());
    }
}
