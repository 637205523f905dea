//! Generates the matchers of the tree's rules.

use std::path::Path;

fn main() {
    let out = std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts");
    let (opcodes, rules) = (Path::new("opcodes.toml"), Path::new("rules"));
    if let Err(errors) = deburr_rulegen::generate_rules(opcodes, rules, out.as_ref()) {
        eprintln!("{errors}");
        std::process::exit(1);
    }
}
