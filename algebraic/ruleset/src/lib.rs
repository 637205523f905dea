//! The tree's rules, compiled: a leaf that only the command and tests link, so that editing a rule recompiles nothing
//! else.
//!
//! Everything here is generated from `rules/`; `deburr expand` shows it.

#![forbid(unsafe_code)]

/// The compiled matchers.
#[allow(
    clippy::all,
    unused_variables,
    unused_labels,
    unused_parens,
    missing_docs,
    reason = "generated code is regular rather than minimal: it binds values that some arms don't use"
)]
mod matchers {
    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}
include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The opcode table that the rules were compiled against.
pub static OPCODES: &str = include_str!("../opcodes.toml");

/// The intrinsic table.
pub static INTRINSICS: &str = include_str!("../intrinsics.toml");

pub use matchers::RULES;

/// Every rule of the tree, compiled.
pub fn rules() -> &'static deburr_algebraic::RuleSet {
    &RULES
}
