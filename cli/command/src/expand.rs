//! `deburr expand`: the Rust that is generated from tables and rules.

use crate::Tree;
use crate::codes;
use crate::json::Object;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use crate::rulebook::Rulebook;
use deburr_rulegen::diagnostics::nearest;
use deburr_rulegen::rules::RuleSet;

/// Show the code generated from an opcode, an intrinsic, a rule or a rule file.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr expand iadd\n  deburr expand rules/pow2.rules")]
pub struct Args {
    /// Name of an opcode, intrinsic or rule, or a path to a rule file
    #[arg(value_name = "NAME")]
    name: String,
}

/// Runs the subcommand.
pub fn run(args: &Args, tree: &Tree, reporter: &mut Reporter) -> Exit {
    match expand(&args.name, tree) {
        Ok(code) if reporter.json => {
            reporter.line(&Object::line().str("name", &args.name).str("code", &code).end());
            Exit::Ok
        }
        Ok(code) => {
            reporter.line(code.trim_end());
            Exit::Ok
        }
        Err(trouble) => reporter.diagnose_all(&trouble),
    }
}

fn expand(name: &str, tree: &Tree) -> Result<String, Trouble> {
    let book = Rulebook::of(tree)?;
    if name.ends_with(".rules") || std::path::Path::new(name).is_file() {
        return Ok(deburr_rulegen::rules::emit::emit(&book.of_file(name.as_ref())?));
    }
    if let Some(code) = deburr_rulegen::emit::expand(book.tables(), name) {
        return Ok(code);
    }
    let mut set = book.rules()?;
    let names: Vec<String> = set.rules.iter().map(|r| r.base.clone()).collect();
    only(&mut set, name);
    if !set.rules.is_empty() {
        return Ok(deburr_rulegen::rules::emit::emit(&set));
    }
    let d = Diagnostic::new(
        name,
        Kind::Invalid,
        codes::ENTRY_NAME,
        "no opcode, intrinsic or rule has this name",
    );
    let ops = deburr_ir_core::ALU_INFO.iter().map(|i| i.name);
    let intrinsics = deburr_ir_core::INTRINSIC_INFO.iter().map(|i| i.name);
    let known = ops.chain(intrinsics).chain(names.iter().map(|n| &**n));
    Err(match nearest(name, known) {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d,
    }
    .into())
}

/// Leaves the rules of one name.
pub fn only(set: &mut RuleSet, name: &str) {
    set.rules.retain(|r| r.base == name || r.name == name);
}
