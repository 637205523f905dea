//! Rules and expressions interpreted at run time, from the same trees that the generator emits.
//!
//! - [`expr`] evaluates expressions, one choice after the other.
//! - [`abstractly`] evaluates them over sets of values.
//! - [`matcher`] rewrites by rules that were not compiled.
//! - [`term`] evaluates the terms of rules: what a pattern or a replacement may give for given inputs.

pub mod abstractly;
pub mod expr;
pub mod matcher;
pub mod term;
