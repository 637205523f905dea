//! `deburr parse`: is an input well formed?

use crate::input;
use crate::json::Object;
use crate::options::{Reading, parse_jobs};
use crate::parallel::in_order;
use crate::report::{Exit, Reporter};
use std::path::PathBuf;

/// Check that inputs parse and are valid.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr parse shader.nir\n  deburr parse a.spv b.spv --json")]
pub struct Args {
    /// Inputs; `-` is standard input
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Inputs at a time
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = parse_jobs)]
    jobs: usize,
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let mut exit = Exit::Ok;
    let reading = Reading::default();
    let parse = |path: &PathBuf| {
        let functions = input::load(path, &reading).map(|loaded| loaded.module.functions.len());
        (path.to_string_lossy().into_owned(), functions)
    };
    in_order(&args.inputs, args.jobs, parse, |(path, functions)| match functions {
        Ok(functions) if reporter.json => {
            let line = Object::line().str("file", &path).raw("ok", true);
            reporter.line(&line.raw("functions", functions).end());
        }
        Ok(_) => reporter.remark(&format!("{path}: valid")),
        Err(trouble) => exit = exit.max(reporter.diagnose_all(&trouble)),
    });
    exit
}
