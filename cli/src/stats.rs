//! `deburr stats`: counts of any module, translated or not.

use crate::input::{Input, spirv_diagnostic};
use crate::report::{Diagnostic, Exit, Kind, Reporter, json_string};
use deburr_spirv::{Counts, ReadOptions, WriteOptions};

/// Count the instructions of modules.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr stats shader.spv\n  deburr stats --json *.spv")]
pub struct Args {
    /// Inputs; `-` is standard input
    #[arg(required = true)]
    inputs: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let mut exit = Exit::Ok;
    let mut total = Counts::default();
    if !reporter.json {
        reporter.remark(&format!(
            "{:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  file",
            "body", "cost", "moves", "loads", "handles", "stores", "static"
        ));
    }
    for path in &args.inputs {
        match count(path) {
            Ok(counts) => {
                total += counts;
                tell(reporter, path, &counts);
            }
            Err(diagnostics) => {
                exit = diagnostics.iter().map(|d| reporter.diagnose(d)).max().unwrap_or(Exit::No).max(exit);
            }
        }
    }
    if args.inputs.len() > 1 && !reporter.json {
        tell(reporter, "total", &total);
    }
    exit
}

fn count(path: &str) -> Result<Counts, Vec<Diagnostic>> {
    let input = Input::open(path).map_err(|d| vec![*d])?;
    let words = match input.words().map_err(|d| vec![*d])? {
        Some(words) => words,
        None => {
            let module = input.load(&ReadOptions::default())?.module;
            deburr_spirv::write(&module, &WriteOptions::default()).map_err(|e| vec![spirv_diagnostic(path, &e)])?
        }
    };
    deburr_spirv::count(&words).map_err(|e| vec![Diagnostic::new(path, Kind::Invalid, e.message)])
}

fn tell(reporter: &mut Reporter, path: &str, c: &Counts) {
    if reporter.json {
        reporter.line(&format!(
            "{{\"schema\":1,\"file\":{},\"body\":{},\"cost\":{},\"moves\":{},\"loads\":{},\"handle_loads\":{},\"stores\":{},\"static\":{}}}",
            json_string(path), c.body, c.cost, c.moves, c.loads, c.handle_loads, c.stores, c.all
        ));
        return;
    }
    reporter.line(&format!(
        "{:8} {:8} {:8} {:8} {:8} {:8} {:8}  {path}",
        c.body, c.cost, c.moves, c.loads, c.handle_loads, c.stores, c.all
    ));
}
