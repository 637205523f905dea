//! Rules as equations, offline: which follow from the others, which are missing, and how far the driver's result is from
//! the best that the rules can reach.
//!
//! - [`greedy`] runs the driver on terms, with some rules left out.
//! - [`bench`] makes terms of the sides of rules.
//! - [`redundant`] finds rules that the driver could do without.

mod bench;
mod derive;
mod equations;
mod graph;
mod greedy;
mod redundant;

pub use derive::derivation;
pub use equations::Limits;
pub use greedy::{Greedy, Ran};
pub use redundant::{Need, need, together};
