//! Random programs, the differential runner and the reducer: one home for tests and for the commands that search.

mod differ;
mod dispatch;
mod generate;
mod rng;

pub use differ::{Difference, Verdict, compare, compare_outcomes, inputs};
pub use dispatch::random_dispatch;
pub use generate::{INVOCATIONS, Options, WORDS, program};
pub use rng::Rng;
