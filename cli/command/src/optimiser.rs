//! What the subcommands that optimise have in common: their options, and the pipeline with the user's own rules.

use crate::Tree;
use crate::codes;
use crate::own_rules::OwnRules;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use deburr_algebraic::{Guest, RuleSet, Target, TraceEntry};
use deburr_ir_core::Module;
use deburr_passes::{DEFAULT, Observer, Options, Pipeline, Report};
use deburr_rulegen::rules;
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
        let groups = pipeline.groups();
        let own = args.rules.as_deref().map(|path| OwnRules::of(path, tree, disabled, &groups));
        let own = own.transpose();
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
    pub fn rules(&self) -> &RuleSet {
        self.own.as_ref().map_or(self.tree.rules, |own| &own.all)
    }

    /// The user's own rules.
    pub fn own(&self) -> Option<&rules::RuleSet> {
        self.own.as_ref().map(|own| &own.set)
    }

    /// Runs the pipeline, in which the user's own rules are tried before the others; a guest may look on.
    pub fn run(
        &self,
        path: &str,
        module: &mut Module,
        mut options: Options,
        observer: &mut Observer<'_>,
        guest: Option<&mut dyn Guest>,
    ) -> Result<Report, Trouble> {
        options.rules.disabled.extend_from_slice(self.disabled);
        let target = match self.target {
            TargetName::Spirv => Target::spirv_of(module),
            TargetName::Generic => Target::generic("generic"),
        };
        let mut run = |guest: Option<&mut dyn Guest>| {
            self.pipeline.run_with(module, self.rules(), &target, &options, observer, guest)
        };
        let report = match &self.own {
            Some(own) => run(Some(&mut own.turns(guest))),
            None => run(guest),
        };
        report.map_err(|e| Diagnostic::new(path, Kind::Bug, codes::PASS_BUG, e.to_string()).into())
    }
}

/// A rewrite as a line.
pub fn rewrite(t: &TraceEntry) -> String {
    format!("{}: {} => {} by {} at {}:{}", t.function, t.before, t.after, t.rule, t.file, t.line)
}
