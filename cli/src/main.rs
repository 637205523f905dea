//! The `deburr` command: one file a subcommand.
//!
//! Results go to stdout, diagnostics to stderr. The exit code is 0 for done and yes, 1 for invalid input or no, 2 for a
//! wrong command line, 3 for what is valid but unsupported, 4 for a budget or time limit.

mod check;
mod eval;
mod expand;
mod explain_error;
mod input;
mod opt;
mod output;
mod parse;
mod print;
mod report;
mod run;
mod simplify;
mod stats;
mod tables;
mod term;
mod verify;

use clap::{Parser, Subcommand};
use report::Reporter;
use std::process::ExitCode;

/// Optimise shaders, and look at what the optimiser does.
#[derive(Parser)]
#[command(name = "deburr", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Examples:\n  deburr opt shader.spv -o shader.opt.spv\n  deburr print shader.wgsl")]
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
    /// Run a compute shader on buffers
    Run(run::Args),
    /// Evaluate a term
    Eval(eval::Args),
    /// Compare what two compute modules do
    Check(check::Args),
    /// Rewrite a term by the rules
    Simplify(simplify::Args),
    /// Check the rewrite rules
    Verify(verify::Args),
    /// List the rewrite rules
    Rules(tables::RulesArgs),
    /// List the opcodes
    Ops(tables::ListArgs),
    /// List the intrinsics
    Intrinsics(tables::ListArgs),
    /// List the passes
    Passes(tables::ListArgs),
    /// Show the code generated from tables and rules
    Expand(expand::Args),
    /// Count the instructions of modules
    Stats(stats::Args),
    /// Say what an error code means
    ExplainError(explain_error::Args),
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
        Command::Run(args) => run::run(&args, &mut reporter),
        Command::Eval(args) => eval::run(&args, &mut reporter),
        Command::Check(args) => check::run(&args, &mut reporter),
        Command::Simplify(args) => simplify::run(&args, &mut reporter),
        Command::Verify(args) => verify::run(&args, &mut reporter),
        Command::Rules(args) => tables::rules(&args, &mut reporter),
        Command::Ops(args) => tables::ops(&args, &mut reporter),
        Command::Intrinsics(args) => tables::intrinsics(&args, &mut reporter),
        Command::Passes(args) => tables::passes(&args, &mut reporter),
        Command::Expand(args) => expand::run(&args, &mut reporter),
        Command::Stats(args) => stats::run(&args, &mut reporter),
        Command::ExplainError(args) => explain_error::run(&args, &mut reporter),
    };
    ExitCode::from(code.number())
}
