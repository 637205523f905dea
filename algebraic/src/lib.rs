//! Algebraic rewriting: the driver that runs compiled rules over a function, and what is known of values.
//!
//! - [`RuleSet`] is what the generator makes of the rule files: plain tables of functions.
//! - [`run`] brings a function to the fixed point of one group of rules.
//! - [`Rewriter`] is what the compiled matchers work with.
//! - [`facts`] knows ranges, bits and float classes of values.
//! - [`Target`] says which operations are legal and which options hold.
//! - `interp` (feature) interprets rules at run time; with it come `run_naive` and `forgotten`, which tests hold the driver to.

#![forbid(unsafe_code)]

mod chain;
mod driver;
pub mod facts;
#[cfg(feature = "interp")]
pub mod interp;
mod moves;
#[cfg(feature = "interp")]
mod naive;
mod outside;
mod rewriter;
mod ruleset;
mod target;
mod trace;
mod turn;

pub use chain::Chain;
pub use driver::{Counts, Error, Guest, Options, Report, TraceEntry, run, run_with};
#[cfg(feature = "interp")]
pub use naive::{Order, forgotten, run_naive};
pub use rewriter::{Rewriter, Val, seldom};
pub use ruleset::{Group, MatchFn, Root, RuleInfo, RuleSet, TransferFn, Watch};
pub use target::Target;
pub use turn::Turn;
