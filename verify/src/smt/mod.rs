//! Rules as questions to an SMT solver, made from the definitions that folder and interpreter are made from.
//!
//! The goal compares bits, never floats: a result that is NaN is any NaN where arithmetic gave it, and these bits elsewhere.
//! `term` is the text, `prims` the operators, `steps` float arithmetic, `eval` expressions, `rule` a rule's two sides, `choices` what is free.

mod calculation;
mod choices;
mod eval;
mod prims;
mod rule;
mod solver;
mod steps;
mod term;

pub use calculation::{Calculation, calculations};
pub use rule::question;
pub use solver::{Answer, Prover, Solver};
pub use steps::Detail;
