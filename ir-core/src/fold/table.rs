//! One folder an opcode, generated from the `eval` column of `opcodes.toml`.
#![allow(
    clippy::all,
    unused_parens,
    unused_braces,
    reason = "generated: written for the reader of the table, not for lints"
)]

include!(concat!(env!("OUT_DIR"), "/fold.rs"));
