//! `deburr print`: a module as IR text.

use crate::input::Input;
use crate::json::Object;
use crate::options::Reading;
use crate::output;
use crate::report::{Exit, Reporter, Trouble};
use std::path::{Path, PathBuf};

/// Print a module as IR text.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr print shader.spv\n  deburr print shader.wgsl -o shader.nir"
)]
pub struct Args {
    /// Input; `-` is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Output file
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    match print(args, reporter) {
        Ok(()) => Exit::Ok,
        Err(trouble) => reporter.diagnose_all(&trouble),
    }
}

fn print(args: &Args, reporter: &mut Reporter) -> Result<(), Trouble> {
    let input = Input::open(&args.input)?;
    input.refuse_frozen_ir(&args.reading)?;
    let loaded = input.load(&args.reading)?;
    reporter.warn(&loaded.warnings);
    let text = loaded.module.to_string();
    if !reporter.json {
        return Ok(output::write(&args.output, text.as_bytes(), reporter)?);
    }
    let mut line = Object::line().str("file", &input.name);
    if args.output == Path::new("-") {
        line = line.str("text", &text);
    } else {
        output::write_file(&args.output, text.as_bytes())?;
        line = line.str("out", &args.output.to_string_lossy());
    }
    reporter.line(&line.end());
    Ok(())
}
