//! `deburr verify`: are the rewrite rules sound?

use crate::Tree;
use crate::codes;
use crate::eval::parse_size;
use crate::expand::only;
use crate::json::Object;
use crate::options::parse_jobs;
use crate::parallel::{cores, in_order};
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use crate::rulebook::Rulebook;
use crate::solvers;
use deburr_ir_core::BaseType;
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::RuleSet;
use deburr_rulegen::rules::model::Rule;
use deburr_verify::smt::Solver;
use deburr_verify::{
    Kind as Found, Options, Verdict, check_rule, needless_licences, remedy, run_tests,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
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
    /// Scale of the number of inputs; 1 is full size
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_cases)]
    cases: f64,
    /// Seed of the random inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Seconds that solvers on the path have for a question [default: ask none]
    #[arg(long, value_name = "SECONDS", value_parser = parse_budget)]
    budget: Option<Duration>,
    /// Rules at a time [default: as many as the machine has cores]
    #[arg(short, long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<usize>,
    #[command(flatten)]
    egraph: crate::verify_egraph::Asked,
    /// `--report json` is `--json`
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text", hide = true)]
    report: String,
}

/// Counts of verdicts, in the order of the summary line.
#[derive(Default)]
struct Summary {
    rules: usize,
    instances: usize,
    proved: usize,
    tested: usize,
    bounded: usize,
    waived: usize,
    refuted: usize,
    missing: usize,
    examples: usize,
}

impl Summary {
    fn add(&mut self, verdict: &Verdict) {
        self.instances += 1;
        *match verdict.kind {
            Found::Proved => &mut self.proved,
            Found::Tested => &mut self.tested,
            Found::Bounded => &mut self.bounded,
            Found::Waived => &mut self.waived,
            Found::Refuted => &mut self.refuted,
            Found::Missing => &mut self.missing,
        } += 1;
    }

    fn json(&self) -> String {
        let o = Object::nested().raw("rules", self.rules).raw("instances", self.instances);
        let o =
            o.raw("proved", self.proved).raw("tested", self.tested).raw("bounded", self.bounded);
        let o = o.raw("waived", self.waived).raw("refuted", self.refuted);
        Object::line().raw("summary", o.raw("missing", self.missing).end()).end()
    }

    fn text(&self) -> String {
        format!(
            "{} rules, {} instances: {} proved, {} tested, {} bounded, {} waived, {} refuted, {} missing",
            self.rules,
            self.instances,
            self.proved,
            self.tested,
            self.bounded,
            self.waived,
            self.refuted,
            self.missing
        )
    }
}

/// Runs the subcommand.
pub fn run(args: &Args, tree: &Tree, reporter: &mut Reporter) -> Exit {
    reporter.json |= args.report == "json";
    if args.egraph.any() {
        let with = crate::verify_egraph::With {
            rules: args.rules.as_deref(),
            rule: args.rule.as_deref(),
            cases: args.cases,
            budget: args.budget,
            jobs: args.jobs.unwrap_or_else(cores),
        };
        return crate::verify_egraph::run(&args.egraph, &with, tree, reporter);
    }
    let set = match rules(args, tree) {
        Ok(set) => set,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    let mut options = Options::scaled(args.cases);
    options.seed = args.seed;
    let rules: Vec<Rule> = set.rules.iter().filter_map(|rule| of_size(rule, args.size)).collect();
    if rules.is_empty() {
        return reporter.diagnose(&no_such_size(&set, args));
    }
    let mut summary = Summary { rules: rules.len(), ..Summary::default() };
    let mut done = 0;
    let text = !reporter.json;
    let found = match solvers::of_budget(args.budget) {
        Ok(found) => found,
        Err(d) => return reporter.diagnose(&d),
    };
    let solvers: Vec<&dyn Solver> = found.iter().map(|s| s as &dyn Solver).collect();
    let check = |rule: &Rule| {
        let verdicts = check_rule(&set, rule, &options, &solvers);
        let advice = text.then(|| advice(&set, rule, &verdicts, &options));
        (rule.clone(), verdicts, run_tests(&set, rule), advice.unwrap_or_default())
    };
    in_order(&rules, args.jobs.unwrap_or_else(cores), check, |(rule, verdicts, failed, advice)| {
        verdicts.iter().for_each(|verdict| summary.add(verdict));
        let name = rule.name.clone();
        match reporter.json {
            true => verdicts.iter().for_each(|verdict| reporter.line(&verdict.to_json())),
            false => {
                let lines = told(&verdicts, reporter.verbose > 0);
                let file = set.files.get(rule.file).map(|(file, _)| file);
                if let Some(file) = file.filter(|f| &***f != "RULE" && !lines.is_empty()) {
                    reporter.line(&format!("{}, {file}:{}:", rule.name, rule.line));
                }
                lines.iter().chain(&advice).for_each(|line| reporter.line(line));
            }
        }
        for why in failed {
            summary.examples += 1;
            let message = format!("a test of the rule fails: {why}");
            reporter.diagnose(&Diagnostic::new(&name, Kind::Invalid, codes::VERIFY, message));
        }
        done += 1;
        reporter.progress(done, rules.len(), "rules");
    });
    match reporter.json {
        true => reporter.line(&summary.json()),
        false => reporter.line(&summary.text()),
    }
    match summary.refuted + summary.missing + summary.examples {
        0 => Exit::Ok,
        _ => Exit::No,
    }
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

/// What could be written otherwise: a clause with which a refuted rule holds, licences that nothing shows to be needed.
fn advice(set: &RuleSet, rule: &Rule, verdicts: &[Verdict], options: &Options) -> Vec<String> {
    if verdicts.iter().any(|v| v.kind == Found::Refuted) {
        let clause = remedy(set, rule, options);
        return clause.map(|clause| format!("help: it holds `{clause}`")).into_iter().collect();
    }
    let needless = needless_licences(set, rule, options);
    let note = |l: &&str| format!("note: `{}` holds as well without `{l}`", rule.name);
    needless.iter().map(note).collect()
}

/// The verdicts that are told: all, or those that are bad. Verdicts of one instance that say the same are one line.
fn told(verdicts: &[Verdict], all: bool) -> Vec<String> {
    let mut lines: Vec<(Vec<&str>, &Verdict, u64)> = Vec::new();
    for v in verdicts.iter().filter(|v| all || !v.is_good()) {
        let same = |other: &Verdict| {
            (&v.instance, v.kind, &v.witness, &v.why)
                == (&other.instance, other.kind, &other.witness, &other.why)
        };
        match lines.iter_mut().find(|(_, first, _)| same(first)) {
            Some((contexts, _, points)) => {
                contexts.push(&v.context);
                *points += v.points;
            }
            None => lines.push((vec![&v.context], v, v.points)),
        }
    }
    let line = |(contexts, v, points): (Vec<&str>, &Verdict, u64)| {
        let contexts = folded(&contexts);
        let mut out = format!("{} ({contexts}): {}, {points} points", v.instance, v.kind);
        if let Some(w) = &v.witness {
            let read = |at: usize, text: &str| with_numbers(text, w.types.get(at));
            let inputs = w.inputs.iter().enumerate();
            let inputs: Vec<String> =
                inputs.map(|(i, (n, text))| format!("{n} = {}", read(i, text))).collect();
            let root = w.types.len().wrapping_sub(1);
            let (before, after) = (read(root, &w.before), read(root, &w.after));
            out += &format!("; at {}: before {before}, after {after}", inputs.join(", "));
        }
        if !v.why.is_empty() {
            out += &format!("; {}", v.why);
        }
        out
    };
    lines.into_iter().map(line).collect()
}

/// Contexts as one: `keep | any, rte` where they are all that can be made of the words, else a list.
fn folded(contexts: &[&str]) -> String {
    let parts: Option<Vec<(&str, &str, &str)>> = contexts
        .iter()
        .map(|c| {
            let (denorm, rest) = c.split_once(',')?;
            let (rounding, licences) = rest.split_at(rest.find('+').unwrap_or(rest.len()));
            Some((denorm, rounding, licences))
        })
        .collect();
    let Some(parts) = parts.filter(|p| p.iter().all(|x| x.2 == p[0].2)) else {
        return contexts.join("; ");
    };
    let distinct = |words: Vec<&str>| {
        let mut out: Vec<String> = Vec::new();
        for word in words {
            if !out.iter().any(|w| w == word) {
                out.push(word.into());
            }
        }
        out
    };
    let denorm = distinct(parts.iter().map(|p| p.0).collect());
    let rounding = distinct(parts.iter().map(|p| p.1).collect());
    match denorm.len() * rounding.len() == contexts.len() {
        true => format!("{},{}{}", denorm.join("|"), rounding.join("|"), parts[0].2),
        false => contexts.join("; "),
    }
}

/// Values in hexadecimal, each with the number that it is.
fn with_numbers(text: &str, ty: Option<&(u8, Base)>) -> String {
    let Some((bits, base)) = ty else { return text.to_owned() };
    let base = match base {
        Base::Float => BaseType::Float,
        Base::Bool => BaseType::Bool,
        Base::Int => BaseType::Int,
        Base::Uint => BaseType::Uint,
    };
    let mut out = String::new();
    for (n, part) in text.split("0x").enumerate() {
        if n == 0 {
            out += part;
            continue;
        }
        let digits = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
        let (value, rest) = part.split_at(digits);
        out += &format!("0x{value}");
        if let Ok(value) = u64::from_str_radix(value, 16) {
            out += &format!(" = {}", crate::term::show(value, *bits, base));
        }
        out += rest;
    }
    out
}
