//! Generates the dialect from its table.

fn main() {
    let out = std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts");
    if let Err(errors) = deburr_rulegen::Dialect::new("acme", "acme.toml").generate(out.as_ref()) {
        eprintln!("{errors}");
        std::process::exit(1);
    }
}
