//! Generates the matchers of the tree's rules, and those of a rule set that tests are about.

use std::path::Path;

fn main() {
    let out = std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts");
    let out = Path::new(&out);
    let constructs = out.join("constructs");
    if let Err(error) = std::fs::create_dir_all(&constructs) {
        eprintln!("error: {}: {error}", constructs.display());
        std::process::exit(1);
    }
    for (rules, out) in [("rules", out), ("tests/constructs", &*constructs)] {
        let (opcodes, intrinsics) = (Path::new("opcodes.toml"), Path::new("intrinsics.toml"));
        let made = deburr_rulegen::generate_rules(opcodes, intrinsics, Path::new(rules), out);
        if let Err(errors) = made {
            eprintln!("{errors}");
            std::process::exit(1);
        }
    }
}
