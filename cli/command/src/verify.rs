//! `deburr verify`: are the rewrite rules sound?

use crate::Tree;
use crate::codes;
use crate::eval::parse_size;
use crate::expand::only;
use crate::ledger::Store;
use crate::options::parse_jobs;
use crate::parallel::{cores, in_order};
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use crate::rulebook::Rulebook;
use crate::solvers::{self, Process};
use crate::verify_report::{Format, Report, told};
use crate::verify_work::{Done, Job, Recheck, Worker, jobs};
use deburr_rulegen::rules::RuleSet;
use deburr_rulegen::rules::model::Rule;
use deburr_verify::Options;
use deburr_verify::smt::{Detail, Solver, question};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Check the rewrite rules: every instance, in every float environment that it claims.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr verify --rule imul_pow2 --cases 0.01\n  deburr verify --expr 'isub(a, a) => 0' --size 8 --json"
)]
pub struct Args {
    /// A rule file in place of the rules that are built in
    #[arg(long, value_name = "F", conflicts_with = "expr")]
    rules: Option<PathBuf>,
    /// One rule: L => R where … with …
    #[arg(long, value_name = "RULE")]
    expr: Option<String>,
    /// Rules whose name has this in it
    #[arg(long, value_name = "NAME")]
    rule: Option<String>,
    /// Instances of this bit size
    #[arg(long, value_name = "N", value_parser = parse_size)]
    size: Option<u8>,
    /// Try now, with this share of the inputs, and leave the ledger alone
    #[arg(long, value_name = "X", value_parser = parse_cases)]
    cases: Option<f64>,
    /// Seed of random inputs and of --recheck
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Seconds a question to solvers [default: 5, of the ledger's rules]
    #[arg(long, value_name = "SECONDS", value_parser = parse_budget)]
    budget: Option<Duration>,
    /// Rules at a time [default: as many as the machine has cores]
    #[arg(short, long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<usize>,
    /// Folder of the ledger [default: verify/ledger of the tree around]
    #[arg(long, value_name = "DIR")]
    ledger: Option<PathBuf>,
    /// Work out everything again
    #[arg(long)]
    all: bool,
    /// Find this share of the ledger's verdicts again
    #[arg(long, value_name = "SHARE", value_parser = parse_share, conflicts_with = "all")]
    recheck: Option<f64>,
    /// And those that aren't in this older ledger
    #[arg(long, value_name = "DIR", requires = "recheck")]
    since: Option<PathBuf>,
    /// Write the questions to solvers into a folder
    #[arg(long, value_name = "DIR")]
    emit_smt: Option<PathBuf>,
    /// Say how the verdicts are spread: text, json, html
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    report: Option<Format>,
    #[command(flatten)]
    egraph: crate::verify_egraph::Asked,
}

/// Seconds a question for what the ledger lacks.
const BUDGET: Duration = Duration::from_secs(5);

/// Runs the subcommand.
pub fn run(args: &Args, tree: &Tree, reporter: &mut Reporter) -> Exit {
    reporter.json |= args.report == Some(Format::Json);
    if args.egraph.any() {
        let with = crate::verify_egraph::With {
            rules: args.rules.as_deref(),
            rule: args.rule.as_deref(),
            cases: args.cases.unwrap_or(1.0),
            budget: args.budget,
            jobs: args.jobs.unwrap_or_else(cores),
        };
        return crate::verify_egraph::run(&args.egraph, &with, tree, reporter);
    }
    match verify(args, tree, reporter) {
        Ok(exit) => exit,
        Err(trouble) => reporter.diagnose_all(&trouble),
    }
}

fn verify(args: &Args, tree: &Tree, reporter: &mut Reporter) -> Result<Exit, Trouble> {
    let set = rules(args, tree)?;
    let mut options = Options::scaled(args.cases.unwrap_or(1.0));
    options.seed = args.seed;
    let rules: Vec<Rule> = set.rules.iter().filter_map(|rule| of_size(rule, args.size)).collect();
    if rules.is_empty() {
        return Err(no_such_size(&set, args).into());
    }
    if let Some(folder) = &args.emit_smt {
        return emit(&set, &rules, folder).map(|()| Exit::Ok).map_err(Trouble::from);
    }
    // The ledger is about the rules of the tree, at full size.
    let own = args.rules.is_none() && args.expr.is_none() && args.cases.is_none();
    let store = if own { Store::open(args.ledger.as_deref())? } else { None };
    let wanted = args.budget.or((store.is_some()).then_some(BUDGET));
    let must = args.budget.is_some() || args.all || args.recheck.is_some();
    let found = found_solvers(wanted, must)?;
    let solvers: Vec<&dyn Solver> = found.iter().map(|s| s as &dyn Solver).collect();
    let since = match &args.since {
        Some(folder) => Store::open(Some(folder))?.map(Box::new),
        None => None,
    };
    let recheck = match (args.all, args.recheck) {
        (true, _) => Recheck::All,
        (_, Some(share)) => Recheck::Some { share, seed: args.seed, since },
        _ => Recheck::None,
    };
    let list = jobs(&set, &rules, store.is_some());
    let whole = args.rule.is_none() && args.size.is_none();
    let worker = Worker {
        set: &set,
        options,
        solvers,
        store: store.map(Mutex::new),
        recheck,
        advises: !reporter.json,
        every_size: args.size.is_none(),
    };
    Ok(work(args, &worker, &list, whole, reporter))
}

/// The solvers on the path, for so long a question; if there must be one, there is.
pub fn found_solvers(budget: Option<Duration>, must: bool) -> Result<Vec<Process>, Diagnostic> {
    let found = budget.map(solvers::on_path).unwrap_or_default();
    if must && found.is_empty() {
        let message = "there is no solver on the path";
        let d = Diagnostic::new("verify", Kind::Tool, codes::SOLVER, message);
        return Err(d.help("install bitwuzla, z3 or cvc5"));
    }
    Ok(found)
}

/// Works through the jobs, and tells.
fn work(
    args: &Args,
    worker: &Worker<'_>,
    list: &[Job<'_>],
    whole: bool,
    reporter: &mut Reporter,
) -> Exit {
    let mut report = Report::new(args.report);
    let mut exit = Exit::Ok;
    let mut told_of = 0;
    // What is found goes on file even if nobody reads on.
    reporter.lasting = worker.store.is_some();
    let examine = |job: &Job<'_>| worker.examine(job);
    let mut rules = list.iter().map(|job| job.rule);
    in_order(list, args.jobs.unwrap_or_else(cores), examine, |done| {
        let Some(rule) = rules.next() else { return };
        let Done { verdicts, failed, advice, errors } = done;
        verdicts.iter().for_each(|verdict| report.add(worker.set, rule, verdict));
        match (reporter.json, args.report) {
            (true, _) => verdicts.iter().for_each(|v| reporter.line(&v.to_json())),
            (false, Some(Format::Html)) => {}
            (false, _) => {
                let lines = told(&verdicts, reporter.verbose > 0);
                let file = worker.set.files.get(rule.file).map(|(file, _)| file);
                if let Some(file) = file.filter(|f| &***f != "RULE" && !lines.is_empty()) {
                    reporter.line(&format!("{}, {file}:{}:", rule.name, rule.line));
                }
                lines.iter().chain(&advice).for_each(|line| reporter.line(line));
            }
        }
        for why in failed {
            let message = format!("a test of the rule fails: {why}");
            let d = Diagnostic::new(&rule.name, Kind::Invalid, codes::VERIFY, message);
            exit = exit.max(reporter.diagnose(&d));
        }
        for d in &errors {
            exit = exit.max(reporter.diagnose(d));
        }
        told_of += 1;
        reporter.progress(told_of, list.len(), "rules");
    });
    if let Some(store) = &worker.store {
        let mut store = store.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if whole {
            let mut current: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
            for job in list {
                let own = current.entry(job.file.clone()).or_default();
                own.extend(job.places.iter().map(|p| (p.key, p.name.clone())));
            }
            match store.prune(&current) {
                0 => {}
                n => reporter
                    .aside(&format!("note: {n} verdicts of rules that are gone were removed")),
            }
        }
        if let Some(d) = store.failure() {
            exit = exit.max(reporter.diagnose(&d));
        }
    }
    report.end(reporter);
    match report.is_good() {
        true => exit,
        false => exit.max(Exit::No),
    }
}

/// Writes the questions of all instances into a folder.
fn emit(set: &RuleSet, rules: &[Rule], folder: &Path) -> Result<(), Diagnostic> {
    let unwritable = |path: &Path, e: std::io::Error| {
        let message = format!("can't write: {e}");
        Diagnostic::new(&path.to_string_lossy(), Kind::Invalid, codes::FILE, message)
    };
    std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, e))?;
    for rule in rules {
        let opaque = rule.has_outside().then(|| rule.over_any_values(set));
        let asked = match &opaque {
            Some(Ok(opaque)) => opaque,
            Some(Err(_)) => continue,
            None => rule,
        };
        for instance in 0..rule.instances.len() {
            for claim in deburr_verify::claims(set, rule) {
                let name = rule.instance_name(instance);
                let context = deburr_verify::context(rule, claim);
                for (detail, word) in [(Detail::Laws, "laws"), (Detail::Whole, "whole")] {
                    let bits = &asked.instances[instance];
                    let Ok(script) = question(set, asked, bits, claim, detail) else { continue };
                    let path = folder.join(format!("{name}.{context}.{word}.smt2"));
                    std::fs::write(&path, script).map_err(|e| unwritable(&path, e))?;
                }
            }
        }
    }
    Ok(())
}

/// The rule with the instances of this size; `None` if there are none.
fn of_size(rule: &Rule, size: Option<u8>) -> Option<Rule> {
    let mut rule = rule.clone();
    if let Some(size) = size {
        let own = rule.clone();
        rule.instances.retain(|bits| own.size(bits) == size);
    }
    Some(rule).filter(|rule| !rule.instances.is_empty())
}

/// The rules have no instance of the size that is asked for: which sizes there are.
fn no_such_size(set: &RuleSet, args: &Args) -> Diagnostic {
    let sizes = set.rules.iter().flat_map(|r| r.instances.iter().map(|bits| r.size(bits)));
    let sizes: BTreeSet<u8> = sizes.collect();
    let sizes: Vec<String> = sizes.iter().map(u8::to_string).collect();
    let file = match (&args.expr, &args.rules) {
        (Some(_), _) => "RULE".into(),
        (None, Some(file)) => file.to_string_lossy(),
        (None, None) => "rules".into(),
    };
    let wanted = args.size.map_or(String::new(), |size| format!(" of {size} bits"));
    let d = Diagnostic::new(
        &file,
        Kind::Invalid,
        codes::ENTRY_NAME,
        format!("there is no instance{wanted}"),
    );
    d.help(format!("the sizes there are: {}", sizes.join(", ")))
}

/// A scale above 0; 1000 would take days.
fn parse_cases(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if scale > 0.0 && scale <= 1000.0 => Ok(scale),
        _ => Err("a number above 0, up to 1000, is expected".into()),
    }
}

/// A time above 0, an hour at most.
fn parse_budget(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("seconds above 0, up to 3600, are expected".into()),
    }
}

/// A share of all.
fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a number from 0 to 1 is expected".into()),
    }
}

fn rules(args: &Args, tree: &Tree) -> Result<RuleSet, Trouble> {
    let book = Rulebook::of(tree)?;
    let mut set = match (&args.expr, &args.rules) {
        (Some(text), _) => book.bare_rule(text)?,
        (None, Some(file)) => book.of_file(file)?,
        (None, None) => book.rules()?,
    };
    if let Some(name) = &args.rule {
        match set.rules.iter().any(|r| r.base == *name || r.name == *name) {
            true => only(&mut set, name),
            false => set.rules.retain(|r| r.name.contains(name.as_str())),
        }
        if set.rules.is_empty() {
            let message = format!("no rule is called `{name}`");
            return Err(Diagnostic::new("rules", Kind::Invalid, codes::ENTRY_NAME, message).into());
        }
    }
    Ok(set)
}
