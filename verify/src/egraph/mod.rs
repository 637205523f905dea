//! Rules as equations, offline: which follow from the others, which are missing, and how far the driver's result is from
//! the best that the rules can reach.
//!
//! - [`greedy`] runs the driver on terms, with some rules left out.
//! - [`bench`] makes terms of the sides of rules.
//! - [`redundant`] finds rules that the driver could do without.

mod bench;
mod derive;
mod equations;
mod extract;
mod gap;
mod graph;
mod greedy;
mod mutate;
mod redundant;
mod siblings;
mod text;

pub use derive::derivation;
pub use equations::Limits;
pub use gap::{Gap, PIECE, gap, pieces};
pub use greedy::{Greedy, Ran};
pub use redundant::{Need, need, together};
pub use siblings::{Sibling, Variant, objections, sibling, variants, verdicts};
