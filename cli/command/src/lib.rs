//! The `deburr` command, over any rules: one file a subcommand. The `deburr` binary is this with the tree's rules; a
//! compiler with rules of its own can have a command of its own.
//!
//! Results go to stdout, diagnostics to stderr. The exit code is 0 for done and yes, 1 for invalid input or no, 2 for a
//! wrong command line, 3 for what is valid but unsupported, 4 for a budget or time limit.

#![forbid(unsafe_code)]

mod bisect;
mod check;
mod codes;
mod eval;
mod expand;
mod explain;
mod explain_error;
mod input;
mod json;
mod ledger;
#[cfg(feature = "naga")]
mod naga_front;
mod opt;
mod opt_report;
mod optimiser;
mod options;
mod output;
mod own_rules;
mod parallel;
mod parse;
mod print;
mod report;
mod rule_stats;
mod rulebook;
mod rules_check;
mod rules_fmt;
mod run;
mod simplify;
mod solvers;
mod stats;
mod tables;
mod term;
mod verify;
mod verify_egraph;
mod verify_report;
mod verify_work;

use clap::{Parser, Subcommand};
use deburr_algebraic::RuleSet;
pub use deburr_rulegen::rules::Texts;
use report::{Exit, Reporter};
use std::io::Write;
use std::process::ExitCode;

/// The rules that the command runs, and the texts that they were compiled from.
#[derive(Clone, Copy)]
pub struct Tree {
    /// Compiled.
    pub rules: &'static RuleSet,
    /// To be shown, checked and interpreted.
    pub texts: Texts<'static>,
}

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
    #[arg(short, long, global = true, display_order = 900)]
    quiet: bool,
    /// Say more; twice, still more
    #[arg(short, long, global = true, display_order = 901, action = clap::ArgAction::Count)]
    verbose: u8,
    /// JSON Lines on stdout, one object an input or item
    #[arg(long, global = true, display_order = 902)]
    json: bool,
    /// Colour of diagnostics: auto, always, never
    #[arg(long, global = true, display_order = 903, value_enum, value_name = "WHEN", default_value_t = Color::Auto, hide_possible_values = true, hide_default_value = true)]
    color: Color,
}

/// When diagnostics are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
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
    /// Find the rewrite that makes a check fail
    Bisect(bisect::Args),
    /// Say why a rule fires or doesn't
    Explain(explain::Args),
    /// Rewrite a term by the rules
    Simplify(simplify::Args),
    /// Check the rewrite rules
    Verify(verify::Args),
    /// List the rewrite rules, check and format rule files
    Rules(tables::RulesArgs),
    /// List the opcodes
    Ops(tables::OpsArgs),
    /// List the intrinsics
    Intrinsics(tables::IntrinsicsArgs),
    /// List the passes
    Passes(tables::PassesArgs),
    /// Show the code generated from tables and rules
    Expand(expand::Args),
    /// Count the instructions of modules
    Stats(stats::Args),
    /// Say what an error code means
    ExplainError(explain_error::Args),
}

/// Stack of the thread that does the work: front ends and parsers recurse, to depths that they bound.
const STACK: usize = 64 << 20;

/// Runs the command with the arguments of the process, and gives its exit code.
pub fn main(tree: Tree) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            return ExitCode::from(match (error.use_stderr(), error.print()) {
                (true, _) => Exit::Usage.number(),
                (false, Ok(())) => Exit::Ok.number(),
                // A closed pipe is no reason to complain.
                (false, Err(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => Exit::Ok.number(),
                (false, Err(e)) => {
                    complain(&format!("can't write: {e}"));
                    Exit::No.number()
                }
            });
        }
    };
    match std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || run(cli, &tree))
        .map(|t| t.join())
    {
        Ok(Ok(exit)) => ExitCode::from(exit.number()),
        // A panic has told of itself.
        Ok(Err(_)) => ExitCode::from(Exit::Bug.number()),
        Err(error) => {
            complain(&format!("can't start: {error}"));
            ExitCode::from(Exit::Limit.number())
        }
    }
}

fn complain(text: &str) {
    // Nobody is left to be told of an stderr that is closed.
    let _ = writeln!(std::io::stderr().lock(), "error: {text}");
}

fn run(cli: Cli, tree: &Tree) -> Exit {
    let reporter = &mut Reporter::new(&cli.common);
    let exit = dispatch(cli.command, tree, reporter);
    if reporter.failed { exit.max(Exit::No) } else { exit }
}

fn dispatch(command: Command, tree: &Tree, reporter: &mut Reporter) -> Exit {
    match command {
        Command::Opt(args) => opt::run(&args, tree, reporter),
        Command::Print(args) => print::run(&args, reporter),
        Command::Parse(args) => parse::run(&args, reporter),
        Command::Run(args) => run::run(&args, reporter),
        Command::Eval(args) => eval::run(&args, reporter),
        Command::Check(args) => check::run(&args, reporter),
        Command::Bisect(args) => bisect::run(&args, tree, reporter),
        Command::Explain(args) => explain::run(&args, tree, reporter),
        Command::Simplify(args) => simplify::run(&args, tree, reporter),
        Command::Verify(args) => verify::run(&args, tree, reporter),
        Command::Rules(args) => tables::rules(&args, tree, reporter),
        Command::Ops(args) => tables::ops(&args, tree, reporter),
        Command::Intrinsics(args) => tables::intrinsics(&args, tree, reporter),
        Command::Passes(args) => tables::passes(&args, reporter),
        Command::Expand(args) => expand::run(&args, tree, reporter),
        Command::Stats(args) => stats::run(&args, reporter),
        Command::ExplainError(args) => explain_error::run(&args, reporter),
    }
}

#[cfg(test)]
mod tests {
    use super::{RuleSet, Texts, Tree};

    /// The tree of this workspace.
    pub fn tree() -> Tree {
        let rules: &'static RuleSet = deburr_ruleset::rules();
        let texts = Texts {
            opcodes: deburr_ruleset::OPCODES,
            intrinsics: deburr_ruleset::INTRINSICS,
            rules: deburr_ruleset::SOURCES,
        };
        Tree { rules, texts }
    }
}
