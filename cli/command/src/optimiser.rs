//! What the subcommands that optimise have in common: their options, and the pipeline with the user's own rules.

use crate::Tree;
use crate::codes;
use crate::own_rules::OwnRules;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use deburr_algebraic::{RuleSet, Target, TraceEntry};
use deburr_ir_core::Module;
use deburr_passes::{DEFAULT, Observer, Options, Pipeline, Report};
use std::path::PathBuf;

/// What is done to a module.
#[derive(clap::Args, Clone, Debug)]
pub struct Optimising {
    /// Passes, e.g. `inline,loop(dce,cse)`; `none` reads and writes
    #[arg(long, default_value = DEFAULT, hide_default_value = true, value_name = "PIPELINE")]
    passes: String,
    /// Operations that may be created: spirv, generic
    #[arg(long, value_enum, value_name = "T", default_value_t = TargetName::Spirv, hide_possible_values = true)]
    target: TargetName,
    /// A file of rules that are tried before those built in
    #[arg(long, value_name = "F")]
    rules: Option<PathBuf>,
    /// A rule that must not fire
    #[arg(long = "disable-rule", value_name = "NAME")]
    disabled: Vec<String>,
}

/// Targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TargetName {
    /// What SPIR-V and the module's capabilities have
    Spirv,
    /// Everything
    Generic,
}

/// Rounds of a file's rules and the pipeline after which no more is tried.
const MAX_ROUNDS: usize = 16;

/// A pipeline, its target and its rules.
pub struct Optimiser<'a> {
    pipeline: Pipeline,
    target: TargetName,
    disabled: &'a [String],
    tree: &'a Tree,
    /// Rules of the user's own.
    own: Option<OwnRules>,
}

impl<'a> Optimiser<'a> {
    /// Reads the options; what is wrong with them has been told.
    pub fn of(args: &'a Optimising, tree: &'a Tree, reporter: &mut Reporter) -> Result<Self, Exit> {
        let pipeline = Pipeline::parse(&args.passes).map_err(|e| reporter.usage(&e.to_string()))?;
        let disabled = &*args.disabled;
        let own = args.rules.as_deref().map(|path| OwnRules::of(path, tree, disabled)).transpose();
        let own = own.map_err(|trouble| reporter.diagnose_all(&trouble))?;
        reporter.warn(own.as_ref().map_or(&Trouble::new(), |own| &own.warnings));
        let optimiser = Optimiser { pipeline, target: args.target, disabled, tree, own };
        let known = |name: &String| {
            optimiser.rules().rules.iter().any(|r| [r.base, r.name].contains(&&**name))
        };
        match disabled.iter().find(|name| !known(name)) {
            Some(rule) => Err(reporter.usage(&format!("no rule is called `{rule}`"))),
            None => Ok(optimiser),
        }
    }

    /// The rules that are counted and can be disabled.
    fn rules(&self) -> &RuleSet {
        self.own.as_ref().map_or(self.tree.rules, |own| &own.all)
    }

    /// Runs the pipeline and the user's own rules in turn, until those find nothing.
    pub fn run(
        &self,
        path: &str,
        module: &mut Module,
        mut options: Options,
        observer: &mut Observer<'_>,
    ) -> Result<Report, Trouble> {
        options.rules.disabled.extend_from_slice(self.disabled);
        let target = match self.target {
            TargetName::Spirv => Target::spirv_of(module),
            TargetName::Generic => Target::generic("generic"),
        };
        let bug = |message: String| Diagnostic::new(path, Kind::Bug, codes::PASS_BUG, message);
        let limit = options.rules.limit;
        let mut run = |module: &mut Module, options: &Options| {
            let report =
                self.pipeline.run_observed(module, self.rules(), &target, options, observer);
            report.map_err(|e| bug(e.to_string()))
        };
        let mut report = run(module, &options)?;
        let Some(own) = &self.own else { return Ok(report) };
        for round in 0.. {
            options.rules.limit = limit.map(|limit| limit.saturating_sub(report.rules.fired));
            let fired = own
                .rewrite(module, &target, &options.rules, &mut report)
                .map_err(|e| bug(e.to_string()))?;
            if fired == 0 {
                break;
            }
            if round == MAX_ROUNDS {
                report.budget_stop = true;
                break;
            }
            options.rules.limit = limit.map(|limit| limit.saturating_sub(report.rules.fired));
            add(&mut report, run(module, &options)?);
        }
        Ok(report)
    }
}

/// A rewrite as a line.
pub fn rewrite(t: &TraceEntry) -> String {
    format!("{}: {} => {} by {} at {}:{}", t.function, t.before, t.after, t.rule, t.file, t.line)
}

/// Adds what another run of the pipeline did.
fn add(total: &mut Report, again: Report) {
    for pass in again.passes {
        match total.passes.iter_mut().find(|p| p.name == pass.name) {
            Some(entry) => {
                entry.runs += pass.runs;
                entry.changed += pass.changed;
                entry.time += pass.time;
                entry.delta += pass.delta;
            }
            None => total.passes.push(pass),
        }
    }
    total.rules.fired += again.rules.fired;
    total.rules.folded += again.rules.folded;
    total.rules.trace.extend(again.rules.trace);
    total.rules.cycles.extend(again.rules.cycles);
    for (rule, n) in again.rules.counts {
        *total.rules.counts.entry(rule).or_default() += n;
    }
    total.rounds = total.rounds.max(again.rounds);
    total.budget_stop |= again.budget_stop;
}
