//! A rule set about the constructs of the rule language that few rules of the tree have, or none, a group a construct:
//! `tests/constructs/*.rules`, compiled.

use deburr_algebraic::RuleSet;
use deburr_rulegen::rules::{Texts, model};

#[allow(
    clippy::all,
    unused,
    missing_docs,
    reason = "generated code is regular rather than minimal: it binds values that some arms don't use"
)]
mod matchers {
    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}
include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The compiled matchers.
pub fn rules() -> &'static RuleSet {
    &matchers::RULES
}

/// The same rules, as the reference matcher reads them.
///
/// # Panics
/// Never: they have been compiled.
pub fn set() -> model::RuleSet {
    let texts = Texts {
        opcodes: deburr_ruleset::OPCODES,
        intrinsics: deburr_ruleset::INTRINSICS,
        rules: SOURCES,
    };
    match texts.load().and_then(|book| book.rules()) {
        Ok(set) => set,
        Err(list) => panic!("{:?}", list.iter().map(|d| &d.message).collect::<Vec<_>>()),
    }
}
