//! `deburr print`: a module as IR text.

use crate::input::Input;
use crate::opt::Float;
use crate::output;
use crate::report::{Exit, Reporter};
use deburr_spirv::ReadOptions;

/// Print a module as IR text.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr print shader.spv\n  deburr print shader.wgsl -o shader.nir")]
pub struct Args {
    /// Input; `-` is standard input
    input: String,
    /// Output file
    #[arg(short, long, default_value = "-")]
    output: String,
    /// What float arithmetic may do without a mode that says so
    #[arg(long, value_enum, default_value_t = Float::Vulkan)]
    float: Float,
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let mut options = ReadOptions::default();
    options.float = args.float.mode();
    let result = Input::open(&args.input).map_err(|d| vec![*d]).and_then(|input| input.load(&options));
    let written = result.and_then(|loaded| {
        output::write(&args.output, loaded.module.to_string().as_bytes()).map_err(|d| vec![*d])
    });
    match written {
        Ok(()) => Exit::Ok,
        Err(diagnostics) => diagnostics.iter().map(|d| reporter.diagnose(d)).max().unwrap_or(Exit::No),
    }
}
