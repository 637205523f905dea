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
use deburr_rulegen::rules::RuleSet;
use deburr_rulegen::rules::model::Rule;
use deburr_verify::{Kind as Found, Options, Verdict, check_rule, run_tests};
use std::path::PathBuf;

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
    /// Rules at a time [default: as many as the machine has cores]
    #[arg(short, long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<usize>,
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
    let set = match rules(args, tree) {
        Ok(set) => set,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    let mut options = Options::scaled(args.cases);
    options.seed = args.seed;
    let rules: Vec<Rule> = set.rules.iter().filter_map(|rule| of_size(rule, args.size)).collect();
    if rules.is_empty() {
        return reporter.usage("no rule has the name and size");
    }
    let mut summary = Summary { rules: rules.len(), ..Summary::default() };
    let mut done = 0;
    let check =
        |rule: &Rule| (rule.name.clone(), check_rule(&set, rule, &options), run_tests(&set, rule));
    in_order(&rules, args.jobs.unwrap_or_else(cores), check, |(name, verdicts, failed)| {
        for verdict in verdicts {
            summary.add(&verdict);
            tell(&verdict, reporter);
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
        let root = rule.nodes[rule.pattern].class;
        rule.instances.retain(|bits| bits[root] == size);
    }
    Some(rule).filter(|rule| !rule.instances.is_empty())
}

/// A scale above 0; 1000 would take days.
fn parse_cases(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if scale > 0.0 && scale <= 1000.0 => Ok(scale),
        _ => Err("a number above 0, up to 1000, is expected".into()),
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

fn tell(verdict: &Verdict, reporter: &mut Reporter) {
    if reporter.json {
        reporter.line(&verdict.to_json());
    } else if !verdict.is_good() || reporter.verbose > 0 {
        reporter.line(&verdict.to_string());
    }
}
