//! Generates the opcode and intrinsic tables.

use std::path::Path;

fn main() {
    let out = std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts");
    let (opcodes, intrinsics) = (Path::new("opcodes.toml"), Path::new("intrinsics.toml"));
    if let Err(errors) = deburr_rulegen::generate_tables(opcodes, intrinsics, out.as_ref()) {
        eprintln!("{errors}");
        std::process::exit(1);
    }
    // For build scripts of crates that depend on this one: dialects are checked against the tables.
    for (key, path) in [("opcodes", opcodes), ("intrinsics", intrinsics)] {
        let path = path.canonicalize().expect("the table was read from there");
        println!("cargo:{key}={}", path.display());
    }
}
