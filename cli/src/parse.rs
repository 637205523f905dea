//! `deburr parse`: is an input well formed?

use crate::input::Input;
use crate::report::{Exit, Reporter, json_string};
use deburr_spirv::ReadOptions;

/// Check that inputs parse and are valid.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr parse shader.nir\n  deburr parse --json *.spv")]
pub struct Args {
    /// Inputs; `-` is standard input
    #[arg(required = true)]
    inputs: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let mut exit = Exit::Ok;
    for path in &args.inputs {
        let loaded = Input::open(path).map_err(|d| vec![*d]).and_then(|i| i.load(&ReadOptions::default()));
        match loaded {
            Ok(loaded) if reporter.json => {
                let functions = loaded.module.functions.len();
                let file = json_string(path);
                reporter.line(&format!("{{\"schema\":1,\"file\":{file},\"ok\":true,\"functions\":{functions}}}"));
            }
            Ok(_) => reporter.remark(&format!("{path}: valid")),
            Err(diagnostics) => {
                exit = diagnostics.iter().map(|d| reporter.diagnose(d)).max().unwrap_or(Exit::No).max(exit);
            }
        }
    }
    exit
}
