//! Pipelines: passes in order, with loops that run to their fixed point.

use crate::inline::Growth;
use crate::table::{Pass, Run, pass};
use deburr_algebraic::facts::Loads;
use deburr_algebraic::{Guest, RuleSet, Target, TraceEntry};
use deburr_ir_core::{Decoration, Flags, Module, TypeData, ValidationError, validate};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rounds after which a loop stops even though something still changes.
const MAX_ROUNDS: u32 = 64;
/// Depth to which loops nest in a pipeline's text.
const MAX_DEPTH: usize = 16;

/// The default: what `deburr opt` runs.
///
/// Dead values go before the control flow that made them, and before `cse` lets what follows a dead loop use its code.
/// Inlining comes again behind the inner loop: functions are judged by what the passes leave of them.
pub const DEFAULT: &str = "loop(inline,global_to_local,lower_copies,\
    loop(vars_to_ssa,copy_prop,remove_phis,dce,once_to_if,dead_cf,constant_fold,algebraic,cse,dce,peephole_select)),\
    remove_dead_vars,dce";

/// A sequence of passes.
///
/// ```
/// use deburr_passes::Pipeline;
///
/// let pipeline = Pipeline::parse("inline,loop(dce,cse)").unwrap();
/// assert_eq!(pipeline.to_string(), "inline,loop(dce,cse)");
/// assert!(Pipeline::parse("loop(dce").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Pass(&'static Pass),
    Loop(Vec<Step>),
}

/// A pipeline's text is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte offset in the text.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "pipeline, column {}: {}", self.at + 1, self.message)
    }
}

impl std::error::Error for ParseError {}

/// How a pipeline runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Validate after every pass that changed something. On by default in debug builds.
    pub validate: bool,
    /// Rules that do not fire, what is traced and counted of them, and their fuel.
    pub rules: deburr_algebraic::Options,
    /// Rounds after which a loop stops even though something still changes.
    pub max_rounds: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            validate: cfg!(debug_assertions),
            rules: deburr_algebraic::Options::default(),
            max_rounds: MAX_ROUNDS,
        }
    }
}

/// Why a run stopped.
#[derive(Clone, Debug)]
pub struct Error {
    /// Name of the pass.
    pub pass: &'static str,
    /// What went wrong.
    pub kind: RunError,
}

/// What can go wrong in a pass.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The pass left an invalid module behind: a bug of the pass.
    Invalid(Vec<ValidationError>),
    /// The options name a rule or group that there isn't.
    Rules(deburr_algebraic::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            RunError::Invalid(errors) => {
                write!(f, "the module is invalid after the pass `{}`", self.pass)?;
                errors.iter().try_for_each(|e| write!(f, "\n  {e}"))
            }
            RunError::Rules(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {}

/// What rules did over a run.
#[derive(Clone, Debug, Default)]
pub struct RuleReport {
    /// Rewrites.
    pub fired: u64,
    /// Instructions folded on the way.
    pub folded: u64,
    /// Rewrites by rule, where the options ask for counts.
    pub counts: BTreeMap<&'static str, u64>,
    /// Every rewrite, where the options ask for a trace.
    pub trace: Vec<TraceEntry>,
    /// The last rules that fired, for each time that the fuel ran out.
    pub cycles: Vec<Vec<&'static str>>,
}

/// What one pass did over a run.
#[derive(Clone, Debug)]
pub struct PassReport {
    /// Name.
    pub name: &'static str,
    /// Times it ran.
    pub runs: u32,
    /// Times it changed something.
    pub changed: u32,
    /// Time it took, validation apart.
    pub time: Duration,
    /// Instructions added (positive) or removed, over all its runs.
    pub delta: i64,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Passes in the order of their first run.
    pub passes: Vec<PassReport>,
    /// What rules did.
    pub rules: RuleReport,
    /// Rounds of the longest loop.
    pub rounds: u32,
    /// Whether a loop was stopped before its fixed point.
    pub budget_stop: bool,
}

/// Called after each pass with its name, the module and whether it changed.
pub type Observer<'a> = dyn FnMut(&'static str, &Module, bool) + 'a;

impl Pipeline {
    /// The pipeline of this text: names separated by commas, `loop(…)` around what runs to its fixed point. Empty
    /// and `none` are no passes.
    ///
    /// # Errors
    /// Unknown passes, unbalanced brackets, loops nested deeper than 16.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut stack: Vec<Vec<Step>> = vec![Vec::new()];
        let mut at = 0;
        let error = |at: usize, message: String| Err(ParseError { at, message });
        if text.trim() == "none" {
            return Ok(Pipeline { steps: Vec::new() });
        }
        while at < text.len() {
            let rest = &text[at..];
            let word = rest.find([',', '(', ')']).map_or(rest, |n| &rest[..n]);
            let name = word.trim();
            let next = rest[word.len()..].chars().next();
            match (name, next) {
                ("loop", Some('(')) if stack.len() <= MAX_DEPTH => stack.push(Vec::new()),
                ("loop", Some('(')) => {
                    return error(at, format!("loops nest deeper than {MAX_DEPTH}"));
                }
                (_, Some('(')) => return error(at, format!("`{name}(`: only `loop` takes a list")),
                ("", _) => {}
                _ => match pass(name) {
                    Some(pass) => top(&mut stack).push(Step::Pass(pass)),
                    None => return error(at, format!("no pass is called `{name}`")),
                },
            }
            if next == Some(')') {
                let inner = stack.pop().unwrap_or_default();
                match stack.last_mut() {
                    Some(outer) => outer.push(Step::Loop(inner)),
                    None => return error(at + word.len(), "`)` without `loop(`".into()),
                }
            }
            at += word.len() + usize::from(next.is_some());
        }
        match stack.len() {
            1 => Ok(Pipeline { steps: stack.pop().unwrap_or_default() }),
            _ => error(text.len(), "`)` is missing".into()),
        }
    }

    /// The groups of rules that its passes run.
    pub fn groups(&self) -> Vec<&'static str> {
        let mut groups = Vec::new();
        let mut steps: Vec<&Step> = self.steps.iter().collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::Loop(inner) => steps.extend(inner),
                Step::Pass(Pass { run: Run::Rules(group), .. }) => groups.push(*group),
                Step::Pass(_) => {}
            }
        }
        groups
    }

    /// Runs the passes on a module.
    ///
    /// # Errors
    /// If the options name a rule that there isn't, or if a pass leaves an invalid module behind and
    /// [`Options::validate`] is set: a bug of that pass.
    pub fn run(
        &self,
        module: &mut Module,
        rules: &RuleSet,
        target: &Target,
        options: &Options,
    ) -> Result<Report, Error> {
        self.run_observed(module, rules, target, options, &mut |_, _, _| {})
    }

    /// As [`Pipeline::run`], telling the observer after each pass.
    ///
    /// # Errors
    /// As [`Pipeline::run`].
    pub fn run_observed(
        &self,
        module: &mut Module,
        rules: &RuleSet,
        target: &Target,
        options: &Options,
        observer: &mut Observer<'_>,
    ) -> Result<Report, Error> {
        self.run_with(module, rules, target, options, observer, None)
    }

    /// As [`Pipeline::run_observed`], with a guest in each run of rules.
    ///
    /// # Errors
    /// As [`Pipeline::run`].
    pub fn run_with(
        &self,
        module: &mut Module,
        rules: &RuleSet,
        target: &Target,
        options: &Options,
        observer: &mut Observer<'_>,
        guest: Option<&mut dyn Guest>,
    ) -> Result<Report, Error> {
        let (report, growth, count) = (Report::default(), Growth::default(), count(module));
        let settled = Vec::new();
        let mut options = options.clone();
        if has_invariant(module) {
            options.rules.withheld |= Flags::LICENCES.difference(Flags::NSZ);
        }
        let mut runner = Runner {
            module,
            rules,
            target,
            options,
            observer,
            guest,
            report,
            growth,
            count,
            settled,
            loads: None,
        };
        runner.steps(&self.steps)?;
        Ok(runner.report)
    }
}

/// Whether an output is to be the same in every shader that computes it by the same expressions (semantics 27). Rules
/// with licences look at the uses around an expression, so they would give one shader what they don't give another.
fn has_invariant(m: &Module) -> bool {
    let is = |list: &[Decoration]| list.iter().any(|d| d.name == "Invariant");
    let member = |(_, ty): (_, &TypeData)| match ty {
        TypeData::Struct(s) => s.members.iter().any(|member| is(&member.decorations)),
        _ => false,
    };
    m.vars.iter().any(|var| is(&var.decorations)) || m.types.iter().any(member)
}

fn top(stack: &mut [Vec<Step>]) -> &mut Vec<Step> {
    stack.last_mut().expect("the outermost list is never popped")
}

struct Runner<'a, 'o, 'g> {
    module: &'a mut Module,
    rules: &'a RuleSet,
    target: &'a Target,
    options: Options,
    observer: &'a mut Observer<'o>,
    guest: Option<&'a mut (dyn Guest + 'g)>,
    report: Report,
    growth: Growth,
    /// Instructions in the module.
    count: usize,
    /// For each function: passes that have found nothing to do there since it last changed.
    settled: Vec<Vec<&'static str>>,
    /// For each function: what the module says of its loads, once rules ran since functions or variables changed places.
    loads: Option<Vec<Arc<Loads>>>,
}

impl Runner<'_, '_, '_> {
    /// Runs steps once. Nesting is bounded by [`MAX_DEPTH`].
    fn steps(&mut self, steps: &[Step]) -> Result<bool, Error> {
        let mut changed = false;
        for step in steps {
            changed |= self.step(step)?;
        }
        Ok(changed)
    }

    fn step(&mut self, step: &Step) -> Result<bool, Error> {
        match step {
            Step::Pass(pass) => self.pass(pass),
            Step::Loop(steps) => self.to_fixed_point(steps),
        }
    }

    /// Runs steps in turn until each has run without effect since the last change.
    fn to_fixed_point(&mut self, steps: &[Step]) -> Result<bool, Error> {
        let mut changed = false;
        let mut quiet = 0;
        for round in 1..=self.options.max_rounds {
            self.report.rounds = self.report.rounds.max(round);
            for step in steps {
                let did = self.step(step)?;
                changed |= did;
                quiet = match step {
                    Step::Pass(_) | Step::Loop(_) if !did => quiet + 1,
                    Step::Pass(_) => 0,
                    // It has come to its fixed point itself.
                    Step::Loop(_) => 1,
                };
                if quiet >= steps.len() {
                    return Ok(changed);
                }
            }
        }
        self.report.budget_stop = true;
        Ok(changed)
    }

    fn pass(&mut self, pass: &'static Pass) -> Result<bool, Error> {
        let start = Instant::now();
        let changed = match pass.run {
            Run::Module(run) => run(self.module),
            Run::Growing(run) => run(self.module, &mut self.growth),
            Run::Function(_) | Run::Typed(_) | Run::Rules(_) => self.functions(pass)?,
        };
        if changed && matches!(pass.run, Run::Module(_) | Run::Growing(_)) {
            self.settled = vec![Vec::new(); self.module.functions.len()];
            self.loads = None;
        }
        let time = start.elapsed();
        let before = self.count;
        if changed {
            self.count = count(self.module);
        }
        let delta = self.count as i64 - before as i64;
        self.note(pass.name, time, delta, changed);
        if changed && self.options.validate {
            let invalid = |errors| Error { pass: pass.name, kind: RunError::Invalid(errors) };
            validate(self.module).map_err(invalid)?;
        }
        (self.observer)(pass.name, self.module, changed);
        Ok(changed)
    }

    /// Runs a pass on the functions that changed since it last found nothing to do there.
    fn functions(&mut self, pass: &'static Pass) -> Result<bool, Error> {
        if matches!(pass.run, Run::Rules(_)) && self.loads.is_none() {
            self.loads = Some(Loads::of_module(self.module));
        }
        let Runner { module, rules, target, options, guest, report, settled, loads, .. } = self;
        let Module { functions, types, .. } = &mut **module;
        settled.resize(functions.len(), Vec::new());
        let mut changed = false;
        for (n, (f, settled)) in functions.iter_mut().zip(settled).enumerate() {
            if !f.has_body() || settled.contains(&pass.name) {
                continue;
            }
            let did = match pass.run {
                Run::Function(run) => run(f),
                Run::Typed(run) => run(f, types),
                Run::Rules(group) => {
                    let (rules, report) = (*rules, &mut report.rules);
                    options.rules.loads = loads.as_ref().and_then(|all| all.get(n)).cloned();
                    let guest = guest.as_mut().map(|guest| &mut **guest as &mut dyn Guest);
                    crate::algebraic::run(f, rules, target, group, &options.rules, report, guest)
                        .map_err(|kind| Error { pass: pass.name, kind })?
                }
                Run::Module(_) | Run::Growing(_) => false,
            };
            match did {
                true => settled.clear(),
                false => settled.push(pass.name),
            }
            changed |= did;
        }
        Ok(changed)
    }

    fn note(&mut self, name: &'static str, time: Duration, delta: i64, changed: bool) {
        let slot = match self.report.passes.iter().position(|p| p.name == name) {
            Some(slot) => slot,
            None => {
                let new = PassReport { name, runs: 0, changed: 0, time: Duration::ZERO, delta: 0 };
                self.report.passes.push(new);
                self.report.passes.len() - 1
            }
        };
        let entry = &mut self.report.passes[slot];
        entry.runs += 1;
        entry.changed += u32::from(changed);
        entry.time += time;
        entry.delta += delta;
    }
}

fn count(m: &Module) -> usize {
    m.functions.iter().filter(|f| f.has_body()).map(|f| f.all_instrs().count()).sum()
}

impl std::fmt::Display for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn list(steps: &[Step], f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            for (n, step) in steps.iter().enumerate() {
                if n > 0 {
                    f.write_str(",")?;
                }
                match step {
                    Step::Pass(pass) => f.write_str(pass.name)?,
                    Step::Loop(inner) => {
                        f.write_str("loop(")?;
                        list(inner, f)?;
                        f.write_str(")")?;
                    }
                }
            }
            Ok(())
        }
        list(&self.steps, f)
    }
}
