//! Generates the matchers of `constructs/`, a rule set that tests are about.

use std::path::Path;

fn main() {
    let out = std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts");
    let (opcodes, intrinsics) = (Path::new("../opcodes.toml"), Path::new("../intrinsics.toml"));
    let rules = Path::new("constructs");
    let made = deburr_rulegen::generate_rules(opcodes, intrinsics, rules, Path::new(&out));
    if let Err(errors) = made {
        eprintln!("{errors}");
        std::process::exit(1);
    }
}
