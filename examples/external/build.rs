//! Generates the dialect and its rules.

fn main() {
    let out = std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts");
    let acme = deburr_rulegen::Dialect::new("acme", "acme.toml");
    if let Err(errors) = acme.rules("../../rules", &["acme.rules"]).generate(out.as_ref()) {
        eprintln!("{errors}");
        std::process::exit(1);
    }
}
