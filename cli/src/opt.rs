//! `deburr opt`: optimise modules.

use crate::codes;
use crate::input::{Input, Loaded, spirv_diagnostic};
use crate::opt_report::{Done, Kinds};
use crate::options::Reading;
use crate::output;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use crate::rulebook::{Rulebook, of_file};
use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::{Rewriter, Target, run_with};
use deburr_ir_core::Module;
use deburr_passes::{DEFAULT, Options, Pipeline, Report};
use deburr_rulegen::rules::RuleSet;
use deburr_spirv::{Counts, WriteOptions};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Optimise modules: SPIR-V, WGSL, GLSL or IR text.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr opt shader.wgsl -o shader.spv\n  deburr opt a.spv b.spv -o out/ --float strict"
)]
pub struct Args {
    /// Inputs; `-` is standard input
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<String>,
    /// Output; `-` is stdout, `DIR/` a folder [default: STEM.opt.spv]
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    /// Kind of output: spv, ir, wgsl [default: by OUT's extension]
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true)]
    emit: Option<Emit>,
    /// Passes, e.g. `inline,loop(dce,cse)`; `none` reads and writes
    #[arg(long, default_value = DEFAULT, hide_default_value = true, value_name = "PIPELINE")]
    passes: String,
    #[command(flatten)]
    reading: Reading,
    /// Operations that may be created: spirv, generic
    #[arg(long, value_enum, value_name = "T", default_value_t = TargetName::Spirv, hide_possible_values = true)]
    target: TargetName,
    /// Refuse newer modules: vulkan1.0 … vulkan1.4, spv1.0 … spv1.6
    #[arg(long, value_name = "E", value_parser = parse_env)]
    target_env: Option<(u8, u8)>,
    /// A file of rules that are tried before those built in
    #[arg(long, value_name = "F")]
    rules: Option<String>,
    /// A rule that must not fire
    #[arg(long = "disable-rule", value_name = "NAME")]
    disabled: Vec<String>,
    /// Keep lines and debug information
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
    /// Print how often each rule fired
    #[arg(long)]
    rule_stats: bool,
    /// Print the module after each run of this pass that changed it
    #[arg(long, value_name = "PASS")]
    print_after: Option<String>,
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
    #[arg(short, long, value_name = "N", default_value_t = 1)]
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

/// Targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TargetName {
    /// What SPIR-V and the module's capabilities have
    Spirv,
    /// Everything
    Generic,
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
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let pipeline = match Pipeline::parse(&args.passes) {
        Ok(pipeline) => pipeline,
        Err(error) => return reporter.usage(&error.to_string()),
    };
    if let Some(pass) = args.print_after.as_deref().filter(|p| deburr_passes::pass(p).is_none()) {
        return reporter.usage(&format!("no pass is called `{pass}`"));
    }
    let known = |name: &String| {
        deburr_ruleset::rules().rules.iter().any(|r| r.base == *name || r.name == *name)
    };
    if let Some(rule) = args.disabled.iter().find(|name| !known(name)) {
        return reporter.usage(&format!("no rule is called `{rule}`"));
    }
    let folder = args.output.as_deref().is_some_and(|o| o.ends_with('/') || Path::new(o).is_dir());
    if args.inputs.len() > 1 && !folder {
        return reporter.usage("several inputs need `-o DIR/`");
    }
    let rules = match args.rules.as_deref().map(own_rules).transpose() {
        Ok(rules) => rules,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    if let Some(dir) = args.output.as_deref().filter(|_| folder)
        && let Err(e) = std::fs::create_dir_all(dir)
    {
        let message = format!("can't make the folder: {e}");
        return reporter.diagnose(&Diagnostic::new(dir, Kind::Invalid, codes::FILE, message));
    }
    let job = Job { args, pipeline: &pipeline, folder, rules: rules.as_ref() };
    match args.jobs.min(args.inputs.len()) {
        0 | 1 => {
            let tell = |path: &String| job.tell(job.one(path), reporter);
            args.inputs.iter().map(tell).max().unwrap_or(Exit::Ok)
        }
        jobs => {
            let results = in_parallel(&args.inputs, jobs, |path| job.one(path));
            results.into_iter().map(|r| job.tell(r, reporter)).max().unwrap_or(Exit::Ok)
        }
    }
}

/// The rules of a file.
fn own_rules(path: &str) -> Result<RuleSet, Trouble> {
    of_file(path, &Rulebook::built_in()?)
}

/// Applies a function to every item on some threads; results are in the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], jobs: usize, f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(n) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < items.len())
                {
                    let result = f(&items[n]);
                    // A thread that panics ends the program.
                    *results[n].lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
                }
            });
        }
    });
    results.into_iter().filter_map(|r| r.into_inner().unwrap_or_else(|e| e.into_inner())).collect()
}

struct Job<'a> {
    args: &'a Args,
    pipeline: &'a Pipeline,
    folder: bool,
    /// Rules of the user's own.
    rules: Option<&'a RuleSet>,
}

/// What an input came to.
struct Finished {
    done: Done,
    /// The module, where it goes to stdout.
    stdout: Option<Vec<u8>>,
    /// Module texts that were asked for.
    prints: Vec<String>,
}

impl Job<'_> {
    fn tell(&self, result: Result<Finished, Trouble>, reporter: &mut Reporter) -> Exit {
        let finished = match result {
            Ok(finished) => finished,
            Err(trouble) => return reporter.diagnose_all(&trouble),
        };
        let detailed = self.args.stats || reporter.verbose > 0;
        let mut text = finished.prints;
        text.extend(finished.done.text(self.args.inputs.len() > 1 && !detailed, detailed));
        if detailed || self.args.time_passes {
            text.extend(finished.done.passes());
        }
        if self.args.rule_stats {
            text.extend(finished.done.rules());
        }
        if self.args.trace {
            text.extend(finished.done.trace());
        }
        match finished.stdout {
            // With the module on stdout nothing else may be there.
            Some(bytes) => {
                text.iter().for_each(|line| reporter.aside(line));
                reporter.bytes(&bytes);
            }
            None if reporter.json => reporter.line(&finished.done.json()),
            None => text.iter().for_each(|line| reporter.remark(line)),
        }
        Exit::Ok
    }

    /// Where the result of an input goes.
    fn destination(&self, path: &str) -> String {
        let stem = match path {
            "-" => "stdin".into(),
            _ => Path::new(path)
                .file_stem()
                .map_or("out".into(), |s| s.to_string_lossy().into_owned()),
        };
        let extension = self.args.emit.unwrap_or(Emit::Spv).extension();
        match self.args.output.as_deref() {
            Some(dir) if self.folder => format!("{}/{stem}.{extension}", dir.trim_end_matches('/')),
            Some(out) => out.to_owned(),
            None => format!("{stem}.opt.{extension}"),
        }
    }

    fn emit(&self, out: &str) -> Emit {
        self.args.emit.unwrap_or_else(|| match out.rsplit_once('.').map(|(_, e)| e) {
            Some("nir" | "ir") => Emit::Ir,
            Some("wgsl") => Emit::Wgsl,
            _ => Emit::Spv,
        })
    }

    fn one(&self, path: &str) -> Result<Finished, Trouble> {
        let start = Instant::now();
        let input = Input::open(path)?;
        if self.args.emit == Some(Emit::Input) {
            return self.untouched(path, &input);
        }
        let mut read = self.args.reading.options();
        read.debug = self.args.debug;
        let Loaded { mut module, words } = input.load(&read)?;
        self.check_env(path, &module)?;
        // IR text has no binary to count: it is written once as it is.
        let words = words.or_else(|| deburr_spirv::write(&module, &WriteOptions::default()).ok());
        let before = words.as_deref().and_then(|w| deburr_spirv::count(w).ok());
        let kinds = Kinds::of(&module);
        let original = self.args.check.then(|| module.clone());
        let (report, prints) = self.optimise(path, &mut module)?;
        if let Some(original) = original {
            crate::check::same(path, &original, &module, self.args.seed)?;
        }
        let out = self.destination(path);
        let (bytes, after) = self.result(path, &out, &module)?;
        let stdout = match out.as_str() {
            "-" => Some(bytes),
            _ => {
                output::write_file(&out, &bytes)?;
                None
            }
        };
        let done = Done {
            path: path.into(),
            out,
            before,
            after,
            kinds_before: kinds,
            kinds_after: Kinds::of(&module),
            report,
            ms: start.elapsed().as_secs_f64() * 1e3,
        };
        Ok(Finished { done, stdout, prints })
    }

    /// The binary of an input as it came, for other tools to start from.
    fn untouched(&self, path: &str, input: &Input) -> Result<Finished, Trouble> {
        let words = input.binary()?.ok_or_else(|| {
            Diagnostic::new(
                path,
                Kind::Invalid,
                codes::KIND_OF_INPUT,
                "IR text has no binary of its own",
            )
        })?;
        let counts = deburr_spirv::count(&words).ok();
        let out = self.destination(path);
        let bytes = output::bytes(&words);
        let stdout = match out.as_str() {
            "-" => Some(bytes),
            _ => {
                output::write_file(&out, &bytes)?;
                None
            }
        };
        let kinds = Kinds::default();
        let done = Done {
            path: path.into(),
            out,
            before: counts,
            after: counts,
            kinds_before: kinds,
            kinds_after: kinds,
            report: Report::default(),
            ms: 0.0,
        };
        Ok(Finished { done, stdout, prints: Vec::new() })
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

    fn optimise(&self, path: &str, module: &mut Module) -> Result<(Report, Vec<String>), Trouble> {
        let mut options = Options::default();
        options.validate &= !self.args.no_validate;
        options.rules.disabled = self.args.disabled.clone();
        options.rules.trace = self.args.trace;
        options.rules.counts = self.args.rule_stats;
        let target = match self.args.target {
            TargetName::Spirv => Target::spirv_of(module),
            TargetName::Generic => Target::generic("generic"),
        };
        let mut prints = Vec::new();
        let mut observer = |pass: &'static str, m: &Module, changed: bool| {
            if changed && self.args.print_after.as_deref() == Some(pass) {
                prints.push(format!("// after {pass}\n{m}"));
            }
        };
        let rules = deburr_ruleset::rules();
        let bug = |message: String| Diagnostic::new(path, Kind::Bug, codes::PASS_BUG, message);
        let mut run = |module: &mut Module| {
            let report =
                self.pipeline.run_observed(module, rules, &target, &options, &mut observer);
            report.map_err(|e| bug(e.to_string()))
        };
        let mut report = run(module)?;
        let Some(own) = self.rules else { return Ok((report, prints)) };
        for _ in 0..MAX_ROUNDS {
            let fired =
                rewrite(module, own, &target, &options.rules).map_err(|e| bug(e.to_string()))?;
            if fired == 0 {
                break;
            }
            let again = run(module)?;
            report.rules.fired += fired + again.rules.fired;
            report.rules.folded += again.rules.folded;
        }
        Ok((report, prints))
    }

    /// The bytes of the result, and the counts of its SPIR-V where it has one.
    fn result(
        &self,
        path: &str,
        out: &str,
        module: &Module,
    ) -> Result<(Vec<u8>, Option<Counts>), Trouble> {
        let mut options = WriteOptions::default();
        options.debug = self.args.debug;
        let written = deburr_spirv::write(module, &options);
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

/// Rounds of a file's rules and the pipeline after which no more is tried.
const MAX_ROUNDS: usize = 16;

/// Rewrites by the user's rules and those built in, the former first; gives the number of rewrites.
fn rewrite(
    module: &mut Module,
    own: &RuleSet,
    target: &Target,
    options: &deburr_algebraic::Options,
) -> Result<u64, deburr_algebraic::Error> {
    let built_in = deburr_ruleset::rules();
    let Some(interpreter) = Interpreter::new(own, "opt") else { return Ok(0) };
    let first = built_in.rules.len();
    let mut fired = 0;
    for f in module.functions.iter_mut().filter(|f| f.has_body()) {
        let mut extra = |cx: &mut Rewriter<'_>, instr| {
            interpreter.apply(cx, instr, |rule| first + rule).is_some()
        };
        fired += run_with(f, built_in, "opt", target, options, Some(&mut extra))?.fired;
    }
    Ok(fired)
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

    #[test]
    fn parallel_results_keep_their_order() {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(
            in_parallel(&items, 4, |n| n * 2),
            items.iter().map(|n| n * 2).collect::<Vec<_>>()
        );
    }
}
