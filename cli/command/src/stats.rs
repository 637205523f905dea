//! `deburr stats`: counts of any module, translated or not.

use crate::input::{Input, spirv_diagnostic};
use crate::json::Object;
use crate::options::Reading;
use crate::report::{Exit, Reporter, Trouble};
use deburr_spirv::{Counts, WriteOptions};
use std::path::{Path, PathBuf};

/// Count the instructions of modules.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr stats shader.spv\n  deburr stats a.spv b.wgsl --json")]
pub struct Args {
    /// Inputs; `-` is standard input
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let mut exit = Exit::Ok;
    let mut total = Counts::default();
    reporter.remark(&format!(
        "{:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  file",
        "body", "cost", "moves", "loads", "handles", "stores", "static"
    ));
    for path in &args.inputs {
        match count(path) {
            Ok(counts) => {
                total += counts;
                tell(reporter, &path.to_string_lossy(), &counts);
            }
            Err(trouble) => exit = exit.max(reporter.diagnose_all(&trouble)),
        }
    }
    if args.inputs.len() > 1 && !reporter.json {
        tell(reporter, "total", &total);
    }
    exit
}

fn count(path: &Path) -> Result<Counts, Trouble> {
    let input = Input::open(path)?;
    let words = match input.binary()? {
        Some(words) => words,
        None => {
            let module = input.load(&Reading::default())?.module;
            deburr_spirv::write(&module, &WriteOptions::default())
                .map_err(|e| spirv_diagnostic(&input.name, &e))?
        }
    };
    Ok(deburr_spirv::count(&words).map_err(|e| spirv_diagnostic(&input.name, &e))?)
}

fn tell(reporter: &mut Reporter, path: &str, c: &Counts) {
    if reporter.json {
        let line = Object::line().str("file", path).raw("body", c.body).raw("cost", c.cost);
        let line =
            line.raw("moves", c.moves).raw("loads", c.loads).raw("handle_loads", c.handle_loads);
        reporter.line(&line.raw("stores", c.stores).raw("static", c.all).end());
        return;
    }
    reporter.line(&format!(
        "{:8} {:8} {:8} {:8} {:8} {:8} {:8}  {path}",
        c.body, c.cost, c.moves, c.loads, c.handle_loads, c.stores, c.all
    ));
}
