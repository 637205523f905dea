//! End-to-end suites of deburr: the acceptance lines and the oracles they compare with.
//!
//! Everything here is on the outside of the compiler: it may link every crate of the workspace, and nothing links it.

#![forbid(unsafe_code)]

pub mod accept;
pub mod constructs;
pub mod edits;
pub mod faults;
pub mod matchers;
pub mod matching;
pub mod mutate;
pub mod oracle;
pub mod ranges;
pub mod reference;
pub mod terms;

/// The book's guide for compiler writers: its examples compile and hold.
#[cfg(doctest)]
#[doc = include_str!("../../docs/book/compiler-writer.md")]
pub struct CompilerWriterGuide;
