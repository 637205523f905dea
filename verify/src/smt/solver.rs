//! Asking a solver, the cheapest question first.

use super::{Detail, question};
use deburr_algebraic::interp::term::Claim;
use deburr_rulegen::rules::model::{Rule, RuleSet};
use rustc_hash::FxHashMap;

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

    /// Its answer to a script with one `(check-sat)`. What is `quick` to decide, if it is so at all, is worth less time.
    fn ask(&self, script: &str, quick: bool) -> Answer;
}

/// Solvers, and what they said of the questions of one rule: under several environments a rule often asks the same.
pub struct Prover<'a> {
    solvers: &'a [&'a dyn Solver],
    known: FxHashMap<String, Said>,
}

/// What was said of a question, all solvers together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    /// It is proved, by the solver of that place.
    Proved(usize),
    /// It is no theorem as it was asked.
    Refuted,
    Nothing,
}

impl<'a> Prover<'a> {
    /// These solvers, the most useful first.
    pub fn new(solvers: &'a [&'a dyn Solver]) -> Prover<'a> {
        Prover { solvers, known: FxHashMap::default() }
    }

    /// Whether there is anybody to ask.
    pub fn is_idle(&self) -> bool {
        self.solvers.is_empty()
    }

    /// Proves an instance of a rule under a claim; gives how, or `None` if no solver can.
    ///
    /// `rule` is all arithmetic. Which inputs satisfy its facts is not asked: the proof is worth nothing if there are none.
    pub fn prove(
        &mut self,
        set: &RuleSet,
        rule: &Rule,
        bits: &[u8],
        claim: Claim,
    ) -> Option<String> {
        for detail in [Detail::Laws, Detail::Whole] {
            let script = question(set, rule, bits, claim, detail).ok()?;
            if let Said::Proved(by) = self.ask(script, detail == Detail::Laws) {
                let laws = if detail == Detail::Laws { " (laws)" } else { "" };
                return Some(format!("{}{laws}", self.solvers[by].name()));
            }
        }
        None
    }

    /// Without steps of arithmetic both details are the same question, but for the ways that are looked at.
    fn ask(&mut self, script: String, quick: bool) -> Said {
        if let Some(said) = self.known.get(&script) {
            return *said;
        }
        let mut said = Said::Nothing;
        // Where the first can't tell quickly, the others can't either.
        let several = if quick { 1 } else { self.solvers.len() };
        for (by, solver) in self.solvers.iter().enumerate().take(several) {
            said = match solver.ask(&script, quick) {
                Answer::Unsat => Said::Proved(by),
                Answer::Sat => Said::Refuted,
                Answer::Unknown => continue,
            };
            break;
        }
        self.known.insert(script, said);
        said
    }
}
