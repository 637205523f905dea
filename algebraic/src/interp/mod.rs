//! Rules and expressions interpreted at run time, from the same trees that the generator emits.
//!
//! - [`expr`] evaluates expressions, one choice after the other.
//! - [`abstractly`] evaluates them over sets of values.
//! - [`direct`] compiles the terms of rules, for points at which nothing is free.
//! - [`matcher`] rewrites by rules that were not compiled.
//! - [`term`] evaluates the terms of rules: what a pattern or a replacement may give for given inputs.

pub mod abstractly;
pub mod direct;
pub mod expr;
pub mod matcher;
mod miss;
mod outside;
mod results;
pub mod term;
