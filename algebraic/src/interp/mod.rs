//! Rules and expressions interpreted at run time, from the same trees that the generator emits.
//!
//! - [`expr`] evaluates expressions, one choice after the other.
//! - [`term`] evaluates the terms of rules: what a pattern or a replacement may give for given inputs.

pub mod expr;
pub mod term;
