//! Asking a solver, the cheapest question first.

use super::{Detail, question};
use deburr_algebraic::interp::term::Claim;
use deburr_rulegen::rules::model::{Rule, RuleSet};

/// What a solver says of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing satisfies it.
    Unsat,
    /// Something does.
    Sat,
    /// It gave up.
    Unknown,
}

/// A solver for SMT-LIB 2. This crate starts no processes: who has a solver hands it on.
pub trait Solver: Sync {
    /// Its name, for reports.
    fn name(&self) -> &str;

    /// Its answer to a script with one `(check-sat)`.
    fn ask(&self, script: &str) -> Answer;
}

/// Proves an instance of a rule under a claim; gives how, or `None` if no solver can.
///
/// `rule` is all arithmetic. Which inputs satisfy its facts is not asked: the proof is worth nothing if there are none.
pub fn prove(
    set: &RuleSet,
    rule: &Rule,
    bits: &[u8],
    claim: Claim,
    solvers: &[&dyn Solver],
) -> Option<String> {
    let mut asked = String::new();
    for detail in [Detail::Laws, Detail::Whole] {
        let script = question(set, rule, bits, claim, detail).ok()?;
        // Without steps of arithmetic both are the same question, but for the ways that are looked at.
        if script == asked {
            continue;
        }
        for solver in solvers {
            if solver.ask(&script) == Answer::Unsat {
                let laws = if detail == Detail::Laws { " (laws)" } else { "" };
                return Some(format!("{}{laws}", solver.name()));
            }
        }
        asked = script;
    }
    None
}
