//! `algebraic`, `algebraic_late`: the rewrite rules of a group, through the driver, to their fixed point.
//!
//! Any form. Keeps the control flow. See `deburr-algebraic`.

use crate::pipeline::{RuleReport, RunError};
use deburr_algebraic::{Options, RuleSet, Target, run as drive};
use deburr_ir_core::Module;

/// Runs a group of rules over every function.
pub(crate) fn run(
    module: &mut Module,
    rules: &RuleSet,
    target: &Target,
    group: &str,
    options: &Options,
    report: &mut RuleReport,
) -> Result<bool, RunError> {
    let mut changed = false;
    if rules.group(group).is_none() {
        return Ok(false);
    }
    for f in module.functions.iter_mut().filter(|f| f.has_body()) {
        let done = drive(f, rules, group, target, options).map_err(RunError::Rules)?;
        changed |= done.changed;
        report.fired += done.fired;
        report.folded += done.folded;
        for (rule, n) in done.counts {
            *report.counts.entry(rule).or_default() += n;
        }
        report.trace.extend(done.trace);
        if let Some(cycle) = done.cycle {
            report.cycles.push(cycle);
        }
    }
    Ok(changed)
}
