//! `algebraic`, `algebraic_late`: the rewrite rules of a group, through the driver, to their fixed point.
//!
//! Any form. Keeps the control flow. See `deburr-algebraic`.

use crate::pipeline::{RuleReport, RunError};
use deburr_algebraic::{Guest, Options, RuleSet, Target, run_with};
use deburr_ir_core::Function;

/// Runs a group of rules over a function.
pub(crate) fn run(
    f: &mut Function,
    rules: &RuleSet,
    target: &Target,
    group: &str,
    options: &Options,
    report: &mut RuleReport,
    guest: Option<&mut dyn Guest>,
) -> Result<bool, RunError> {
    if rules.group(group).is_none() {
        return Ok(false);
    }
    let mut limited;
    let options = match options.limit {
        None => options,
        // The limit is one for the whole run.
        Some(limit) => {
            limited = options.clone();
            limited.limit = Some(limit.saturating_sub(report.fired));
            &limited
        }
    };
    let done = run_with(f, rules, group, target, options, guest).map_err(RunError::Rules)?;
    report.fired += done.fired;
    report.folded += done.folded;
    for (rule, n) in done.counts {
        *report.counts.entry(rule).or_default() += n;
    }
    report.trace.extend(done.trace);
    report.cycles.extend(done.cycle);
    Ok(done.changed)
}
