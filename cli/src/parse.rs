//! `deburr parse`: is an input well formed?

use crate::input;
use crate::json::Object;
use crate::report::{Exit, Reporter};
use deburr_spirv::ReadOptions;

/// Check that inputs parse and are valid.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr parse shader.nir\n  deburr parse a.spv b.spv --json")]
pub struct Args {
    /// Inputs; `-` is standard input
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let mut exit = Exit::Ok;
    for path in &args.inputs {
        match input::load(path, &ReadOptions::default()) {
            Ok(loaded) if reporter.json => {
                let functions = loaded.module.functions.len();
                let line =
                    Object::line().str("file", path).raw("ok", true).raw("functions", functions);
                reporter.line(&line.end());
            }
            Ok(_) => reporter.remark(&format!("{path}: valid")),
            Err(trouble) => exit = exit.max(reporter.diagnose_all(&trouble)),
        }
    }
    exit
}
