//! `deburr print`: a module as IR text.

use crate::input;
use crate::options::Reading;
use crate::output;
use crate::report::{Exit, Reporter, Trouble};

/// Print a module as IR text.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr print shader.spv\n  deburr print shader.wgsl -o shader.nir"
)]
pub struct Args {
    /// Input; `-` is standard input
    #[arg(value_name = "IN")]
    input: String,
    /// Output file
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: String,
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
    let loaded = input::load(&args.input, &args.reading.options())?;
    Ok(output::write(&args.output, loaded.module.to_string().as_bytes(), reporter)?)
}
