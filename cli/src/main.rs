//! The `deburr` command: one file a subcommand.
//!
//! Results go to stdout, diagnostics to stderr. The exit code is 0 for done and yes, 1 for invalid input or no, 2 for a
//! wrong command line, 3 for what is valid but unsupported, 4 for a budget or time limit.

mod check;
mod codes;
mod input;
mod json;
#[cfg(feature = "naga")]
mod naga_front;
mod opt;
mod opt_report;
mod options;
mod output;
mod parse;
mod print;
mod report;
mod stats;
mod tables;

use clap::{Parser, Subcommand};
use report::Reporter;
use std::process::ExitCode;

/// Optimise shaders, and look at what the optimiser does.
#[derive(Parser)]
#[command(name = "deburr", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Examples:\n  deburr opt shader.spv -o shader.opt.spv\n  deburr print shader.wgsl"
)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// What every subcommand takes.
#[derive(clap::Args, Clone)]
struct Common {
    /// Say nothing but errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more; twice, still more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// JSON Lines on stdout, one object an input or item
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Optimise modules
    Opt(opt::Args),
    /// Print a module as IR text
    Print(print::Args),
    /// Check that IR text parses and is valid
    Parse(parse::Args),
    /// Compare what two compute modules do
    Check(check::Args),
    /// List the rewrite rules
    Rules(tables::RulesArgs),
    /// List the opcodes
    Ops(tables::OpsArgs),
    /// List the intrinsics
    Intrinsics(tables::IntrinsicsArgs),
    /// List the passes
    Passes(tables::PassesArgs),
    /// Count the instructions of modules
    Stats(stats::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            // A closed pipe is no reason to complain.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let mut reporter = Reporter::new(&cli.common);
    let code = match cli.command {
        Command::Opt(args) => opt::run(&args, &mut reporter),
        Command::Print(args) => print::run(&args, &mut reporter),
        Command::Parse(args) => parse::run(&args, &mut reporter),
        Command::Check(args) => check::run(&args, &mut reporter),
        Command::Rules(args) => tables::rules(&args, &mut reporter),
        Command::Ops(args) => tables::ops(&args, &mut reporter),
        Command::Intrinsics(args) => tables::intrinsics(&args, &mut reporter),
        Command::Passes(args) => tables::passes(&args, &mut reporter),
        Command::Stats(args) => stats::run(&args, &mut reporter),
    };
    ExitCode::from(code.number())
}
