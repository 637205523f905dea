//! The `deburr` command: the subcommands, with the rules of the tree linked in. It is small because every edit of a rule
//! compiles it again.

#![forbid(unsafe_code)]

use deburr_command::{Texts, Tree};
use deburr_ruleset::{INTRINSICS, OPCODES, SOURCES, rules};
use std::process::ExitCode;

fn main() -> ExitCode {
    let texts = Texts { opcodes: OPCODES, intrinsics: INTRINSICS, rules: SOURCES };
    deburr_command::main(Tree { rules: rules(), texts })
}
