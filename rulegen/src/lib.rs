//! Generator library: the opcode and intrinsic tables, the expression language and the rule language, their checks, and
//! the Rust that is emitted from them. It knows texts and tables, not the IR.
//!
//! - [`diagnostics`]: what is wrong and where, as values.
//! - [`expr`]: the typed expression language.
//! - [`tables`]: `opcodes.toml` and `intrinsics.toml`.
//! - [`emit`]: Rust from tables; [`generate_tables`] and [`Dialect`] are for build scripts.
//! - [`mod@reference`]: the book's pages of opcodes and intrinsics.
//! - [`rules`]: the rule language.

#![forbid(unsafe_code)]

pub mod diagnostics;
#[cfg(feature = "tables")]
pub mod emit;
#[cfg(feature = "tables")]
pub mod expr;
#[cfg(feature = "tables")]
mod generate;
#[cfg(feature = "tables")]
pub mod reference;
#[cfg(feature = "rules")]
pub mod rules;
#[cfg(feature = "tables")]
pub mod tables;

#[cfg(feature = "rules")]
pub use generate::generate_rules;
#[cfg(feature = "tables")]
pub use generate::{Dialect, Errors, generate_tables};
