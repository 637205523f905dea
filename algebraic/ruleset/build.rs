//! Generates the matchers of the tree's rules.

use std::path::Path;

fn main() {
    let out = std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts");
    let (opcodes, intrinsics) = (Path::new("opcodes.toml"), Path::new("intrinsics.toml"));
    let made =
        deburr_rulegen::generate_rules(opcodes, intrinsics, Path::new("rules"), Path::new(&out));
    if let Err(errors) = made {
        eprintln!("{errors}");
        std::process::exit(1);
    }
}
