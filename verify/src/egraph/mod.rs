//! Rules as equations, offline: which follow from the others, which are missing, and how far the driver's result is from
//! the best that the rules can reach.
//!
//! - `greedy` runs the driver on terms, with some rules left out; `bench` makes terms of the sides of rules.
//! - `redundant` finds rules that the driver could do without.
//! - `graph` is the e-graph, `equations` runs rules on it, and `derive` proves rules by others.
//! - `mutate` makes variants of rules, `siblings` finds those that are missing, and `text` writes them out.
//! - `gap` compares the driver's results with the cheapest terms of an e-graph, which `extract` chooses.
//!
//! Rules are taken as equations though they are refinements: what a replacement may give is among what the pattern may.
//! So an equality that follows from several is a hint, not a proof. Siblings are checked by themselves, and the driver's
//! runs are what they are.
//!
//! Everything is bounded by counts, so that reports are the same each time.

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
#[cfg(test)]
mod tests;
mod text;

pub use derive::derivation;
pub use equations::Limits;
pub use gap::{Gap, PIECE, gap, pieces};
pub use greedy::{Greedy, Ran};
pub use redundant::{Need, need, together};
pub use siblings::{Sibling, Variant, objections, sibling, variants, verdicts};
