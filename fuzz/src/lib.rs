//! Random programs, the differential runner and the reducer: one home for tests and for the commands that search.

#![forbid(unsafe_code)]

mod differ;
mod dispatch;
mod generate;
mod histogram;
mod licensed;
mod reduce;
mod rng;
mod trial;

pub use differ::{
    Difference, Tolerance, Verdict, compare, compare_outcomes, compare_within, inputs,
};
pub use dispatch::random_dispatch;
pub use generate::{INVOCATIONS, OUTPUTS, Options, Term, TermKind, TermNode, WORDS, program};
pub use histogram::{Histogram, INTRINSICS};
pub use licensed::licensed_program;
pub use reduce::reduce;
pub use rng::Rng;
pub use trial::{Culprit, Subject, Trial, bisect, explain, trial};
