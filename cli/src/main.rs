//! The `deburr` command.
fn main() {}
