//! A trial: one program through a transformation, and what it wrote before and after. A failed trial explains itself
//! by the smallest program and the pass at fault.

use crate::differ::{Tolerance, Verdict, compare_within};
use crate::reduce::reduce;
use deburr_algebraic::{RuleSet, Target};
use deburr_eval::Dispatch;
use deburr_ir_core::{Module, validate};
use deburr_passes::{Options, Pipeline};

/// What is tested: a pipeline with all that it needs, and in tests a fault that is put in behind it.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The passes.
    pub pipeline: &'a Pipeline,
    /// The rules.
    pub rules: &'a RuleSet,
    /// The target.
    pub target: &'a Target,
    /// How the pipeline runs. With `validate` set, invalid modules are failures.
    pub options: &'a Options,
    /// A wrong transformation that is applied behind the pipeline, to see that it is noticed.
    pub fault: Option<fn(&mut Module) -> bool>,
}

impl Subject<'_> {
    /// Transforms a module; the error says what a pass did wrong.
    ///
    /// # Errors
    /// If a pass leaves an invalid module behind.
    pub fn apply(&self, module: &mut Module) -> Result<(), String> {
        let run = self.pipeline.run(module, self.rules, self.target, self.options);
        let report = run.map_err(|e| e.to_string())?;
        if report.budget_stop {
            return Err("a loop of passes did not come to its fixed point".into());
        }
        if let Some(cycle) = report.rules.cycles.first() {
            return Err(format!("rules do not terminate: {}", cycle.join(", ")));
        }
        if let Some(fault) = self.fault {
            fault(module);
        }
        Ok(())
    }
}

/// How a trial went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial {
    /// The transformation did nothing.
    Unchanged,
    /// Every run agreed, or could not be compared.
    Agreed {
        /// Runs in which clean bytes were compared.
        compared: u32,
        /// Runs of which nothing can be said.
        skipped: u32,
    },
    /// A run differed, or the transformation went wrong.
    Failed(String),
}

/// Runs a program before and after the transformation on each of the inputs.
pub fn trial(
    before: &Module,
    inputs: &[Dispatch],
    tolerance: Option<&Tolerance>,
    subject: &Subject<'_>,
) -> Trial {
    if let Err(errors) = validate(before) {
        let list: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
        return Trial::Failed(format!("the program is invalid: {}", list.join("\n  ")));
    }
    let mut after = before.clone();
    if let Err(why) = subject.apply(&mut after) {
        return Trial::Failed(why);
    }
    if *before == after {
        return Trial::Unchanged;
    }
    let (mut compared, mut skipped) = (0, 0);
    for dispatch in inputs {
        match compare_within(before, &after, dispatch, tolerance) {
            Verdict::Same { compared: bytes, .. } => compared += u32::from(bytes > 0),
            Verdict::Skipped(_) => skipped += 1,
            Verdict::Different(difference) => return Trial::Failed(difference.to_string()),
            Verdict::Trapped(trap) => return Trial::Failed(format!("after: {trap}")),
        }
    }
    Trial::Agreed { compared, skipped }
}

/// The run of a pass behind which a module first fails a test.
#[derive(Clone, Debug)]
pub struct Culprit {
    /// Name of the pass.
    pub pass: &'static str,
    /// How many passes had run before it.
    pub position: usize,
    /// The module as the pass got it.
    pub before: Module,
    /// The module as it left it.
    pub after: Module,
}

/// Finds the first run of a pass behind which `differs` says yes; `None` if none does.
pub fn bisect(
    module: &Module,
    subject: &Subject<'_>,
    differs: &mut dyn FnMut(&Module) -> bool,
) -> Option<Culprit> {
    let mut steps: Vec<(&'static str, Module)> = Vec::new();
    let mut work = module.clone();
    // Where the run stops with an error, the steps up to it are what there is to look at.
    let _ = subject.pipeline.run_observed(
        &mut work,
        subject.rules,
        subject.target,
        subject.options,
        &mut |pass, module, changed| {
            if changed {
                steps.push((pass, module.clone()));
            }
        },
    );
    // A later pass may hide a difference or move it, so the steps are gone through in order.
    let position = steps.iter().position(|(_, after)| differs(after))?;
    let before = position.checked_sub(1).map_or(module, |n| &steps[n].1).clone();
    let (pass, after) = steps.swap_remove(position);
    Some(Culprit { pass, position, before, after })
}

/// A failed trial, made small: the reduced program, what it does, and the pass at fault.
pub fn explain(
    before: &Module,
    inputs: &[Dispatch],
    tolerance: Option<&Tolerance>,
    subject: &Subject<'_>,
) -> String {
    let failure = |m: &Module| match trial(m, inputs, tolerance, subject) {
        Trial::Failed(why) => Some(kind(&why)),
        Trial::Unchanged | Trial::Agreed { .. } => None,
    };
    // Another failure than the one that was found is for another day.
    let wanted = failure(before);
    let small = reduce(before, &mut |m| wanted.is_some() && failure(m) == wanted);
    let Trial::Failed(why) = trial(&small, inputs, tolerance, subject) else {
        return "the failure can't be repeated".into();
    };
    let mut differs = |m: &Module| {
        inputs.iter().any(|dispatch| {
            let verdict = compare_within(&small, m, dispatch, tolerance);
            matches!(verdict, Verdict::Different(_) | Verdict::Trapped(_))
        })
    };
    match bisect(&small, subject, &mut differs) {
        Some(culprit) => format!(
            "{why}\n// the smallest program:\n{small}\n// after run {} of a pass, `{}`, which got:\n{}\n// and gave:\n{}",
            culprit.position, culprit.pass, culprit.before, culprit.after
        ),
        None => format!("{why}\n// the smallest program:\n{small}"),
    }
}

/// What of a failure's text stays the same while the program shrinks: no numbers, and of an invalid module the rule.
fn kind(why: &str) -> String {
    let mut lines = why.lines();
    let first = lines.next().unwrap_or_default().chars().filter(|c| !c.is_ascii_hexdigit());
    let rule = lines.next().and_then(|l| l.rsplit_once('[')).map_or("", |(_, rule)| rule);
    first.collect::<String>() + rule
}
