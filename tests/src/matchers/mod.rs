//! The compiled matchers against the reference matcher: random functions, both under one driver, the same rule chosen at
//! each step and the same text left.
//!
//! - [`grow`] builds left sides of rules on values of which something or nothing is known.
//!   `outside` does so for chains and for what isn't arithmetic; `read` has users that read a part of a root.
//! - [`change`] changes one thing in such a function, so that the rule just misses it.
//! - [`terms`] makes random terms over every opcode, and functions of several left sides that share values.
//! - [`both`] runs both matchers and compares; [`values`] compares what a function computes before and after.
//! - [`fixed`] compares the driver with the naive loop.
//! - [`facts`] holds what facts say of values to their definitions.
//! - [`survey`] goes through all of it for a rule set and counts; [`faults`] does so for generators with a bug each.

pub mod both;
pub mod change;
pub mod facts;
pub mod faults;
pub mod fixed;
pub mod grow;
mod outside;
mod read;
pub mod survey;
pub mod terms;
pub mod values;

use deburr_fuzz::Rng;

/// True in so many cases of a hundred.
fn chance(rng: &mut Rng, percent: usize) -> bool {
    rng.below(100) < percent
}

/// The bits that a number of a size may have.
fn mask(bits: u8) -> u64 {
    u64::MAX >> (64 - u32::from(bits.clamp(1, 64)))
}
