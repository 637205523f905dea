//! `deburr ops`, `intrinsics`, `rules`, `passes`: what there is.

use crate::Tree;
use crate::codes;
use crate::json::Object;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use crate::rulebook::Rulebook;
use crate::{rules_check, rules_fmt};
use deburr_ir_core::{ALU_INFO, AluInfo, AluType, BaseType, INTRINSIC_INFO, IntrinsicInfo};
use deburr_passes::Run;
use deburr_rulegen::diagnostics::nearest;

/// List the opcodes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr ops iadd\n  deburr ops --json")]
pub struct OpsArgs {
    /// Part of the name
    #[arg(default_value = "", hide_default_value = true, value_name = "NAME")]
    filter: String,
}

/// List the intrinsics.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr intrinsics load_\n  deburr intrinsics --json")]
pub struct IntrinsicsArgs {
    /// Part of the name
    #[arg(default_value = "", hide_default_value = true, value_name = "NAME")]
    filter: String,
}

/// List the passes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr passes\n  deburr passes --json dce")]
pub struct PassesArgs {
    /// Part of the name
    #[arg(default_value = "", hide_default_value = true, value_name = "NAME")]
    filter: String,
}

/// List the rewrite rules, or check or format the files they are written in.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "check|fmt")]
#[command(
    after_help = "Examples:\n  deburr rules fadd\n  deburr rules fmt --check rules/pow2.rules"
)]
pub struct RulesArgs {
    /// Part of the name
    #[arg(default_value = "", hide_default_value = true, value_name = "NAME")]
    filter: String,
    #[command(subcommand)]
    command: Option<RulesCommand>,
}

#[derive(clap::Subcommand)]
#[command(disable_help_subcommand = true)]
enum RulesCommand {
    /// Check rule files as the build does
    Check(rules_check::Args),
    /// Format rule files
    Fmt(rules_fmt::Args),
}

/// What is said of an entry.
struct Entry {
    name: &'static str,
    signature: String,
    file: String,
    line: u32,
    group: String,
    doc: &'static str,
}

impl Entry {
    fn json(&self) -> String {
        let o = Object::line().str("name", self.name).str("file", &self.file);
        let mut o = o.raw("line", self.line).str("group", &self.group);
        if !self.signature.is_empty() {
            o = o.str("signature", &self.signature);
        }
        o.str("doc", self.doc).end()
    }

    /// The place of rules is shown too: their names don't lead to it.
    fn text(&self, place: bool) -> String {
        let mut out = format!("{}{}", self.name, self.signature);
        if place {
            out += &format!("  [{}] {}:{}", self.group, self.file, self.line);
        }
        if !self.doc.is_empty() {
            out += &format!("  {}", self.doc.replace('\n', " "));
        }
        out
    }
}

/// Prints the entries whose name has the filter in it. A filter that nothing has is answered with no.
fn listing(what: &str, entries: &[Entry], filter: &str, reporter: &mut Reporter) -> Exit {
    let place = what == "rule";
    let found: Vec<&Entry> = entries.iter().filter(|e| e.name.contains(filter)).collect();
    if found.is_empty() {
        let message = format!("no {what} has `{filter}` in its name");
        let d = Diagnostic::new(filter, Kind::Invalid, codes::ENTRY_NAME, message);
        return reporter.diagnose(&match nearest(filter, entries.iter().map(|e| e.name)) {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => d,
        });
    }
    for entry in found {
        reporter.line(&if reporter.json { entry.json() } else { entry.text(place) });
    }
    Exit::Ok
}

/// The heading of a table's section that a line stands in: `# Title` between two rules, or `# ---- title`.
fn section(text: &str, line: u32) -> String {
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    let is_rule = |n: usize| lines.get(n).is_some_and(|l| l.starts_with("# ---"));
    let heading = (0..lines.len()).rev().find_map(|n| {
        let after_rule =
            lines[n].strip_prefix("# ").filter(|_| is_rule(n + 1) && n > 0 && is_rule(n - 1));
        let on_rule = lines[n].strip_prefix("# ").filter(|_| is_rule(n));
        let title = on_rule.map(|t| t.trim_start_matches('-').trim()).filter(|t| !t.is_empty());
        title.or(after_rule)
    });
    let title = heading.unwrap_or("").split('.').next().unwrap_or("");
    let mut letters = title.chars();
    match letters.next() {
        // A name such as GLSL stays as it is.
        Some(first) if !letters.as_str().starts_with(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => title.to_owned(),
    }
}

/// Tells what there is, or why that can't be told.
fn tell(
    what: &str,
    entries: Result<Vec<Entry>, Trouble>,
    filter: &str,
    reporter: &mut Reporter,
) -> Exit {
    match entries {
        Ok(entries) => listing(what, &entries, filter, reporter),
        Err(trouble) => reporter.diagnose_all(&trouble),
    }
}

/// `deburr ops`.
pub fn ops(args: &OpsArgs, tree: &Tree, reporter: &mut Reporter) -> Exit {
    tell("opcode", opcodes(tree), &args.filter, reporter)
}

fn opcodes(tree: &Tree) -> Result<Vec<Entry>, Trouble> {
    let book = Rulebook::of(tree)?;
    let tables = book.tables();
    let entry = |info: &'static AluInfo| {
        let line = tables.op(info.name).map_or(0, |(_, op)| op.place.line);
        Entry {
            name: info.name,
            signature: signature(info),
            file: "opcodes.toml".into(),
            line,
            group: section(tree.texts.opcodes, line),
            doc: info.doc,
        }
    };
    Ok(ALU_INFO.iter().map(entry).collect())
}

/// `deburr intrinsics`.
pub fn intrinsics(args: &IntrinsicsArgs, tree: &Tree, reporter: &mut Reporter) -> Exit {
    tell("intrinsic", intrinsic_entries(tree), &args.filter, reporter)
}

fn intrinsic_entries(tree: &Tree) -> Result<Vec<Entry>, Trouble> {
    let book = Rulebook::of(tree)?;
    let tables = book.tables();
    let entry = |info: &'static IntrinsicInfo| {
        let components = |n: i8| match n {
            -1 => "any".to_owned(),
            0 => "n".to_owned(),
            n => n.to_string(),
        };
        let srcs: Vec<String> = info.srcs.iter().map(|n| components(*n)).collect();
        let dest = info.dest.map_or(String::new(), |d| format!(" -> {}", components(d)));
        let line = tables.intrinsic(info.name).map_or(0, |(_, i)| i.place.line);
        Entry {
            name: info.name,
            signature: format!("({}){dest}", srcs.join(", ")),
            file: "intrinsics.toml".into(),
            line,
            group: section(tree.texts.intrinsics, line),
            doc: info.doc,
        }
    };
    Ok(INTRINSIC_INFO.iter().map(entry).collect())
}

/// `deburr passes`.
pub fn passes(args: &PassesArgs, reporter: &mut Reporter) -> Exit {
    listing("pass", &pass_entries(), &args.filter, reporter)
}

fn pass_entries() -> Vec<Entry> {
    let entry = |pass: &'static deburr_passes::Pass| {
        // One file a pass; the groups of rules share the one that runs them.
        let (file, group) = match pass.run {
            Run::Module(_) | Run::Growing(_) => (pass.name, "module"),
            Run::Function(_) | Run::Typed(_) => (pass.name, "function"),
            Run::Rules(_) => ("algebraic", "rules"),
        };
        Entry {
            name: pass.name,
            signature: String::new(),
            file: format!("passes/src/{file}.rs"),
            line: 1,
            group: group.into(),
            doc: pass.doc,
        }
    };
    deburr_passes::PASSES.iter().map(entry).collect()
}

/// `deburr rules`.
pub fn rules(args: &RulesArgs, tree: &Tree, reporter: &mut Reporter) -> Exit {
    match &args.command {
        Some(RulesCommand::Fmt(args)) => return rules_fmt::run(args, reporter),
        Some(RulesCommand::Check(args)) => return rules_check::run(args, tree, reporter),
        None => {}
    }
    let set = tree.rules;
    let entry = |rule: &'static deburr_algebraic::RuleInfo| Entry {
        name: rule.name,
        signature: String::new(),
        file: rule.file.into(),
        line: rule.line,
        group: set.groups.get(usize::from(rule.group)).map_or("", |g| g.name).into(),
        doc: rule.doc,
    };
    let entries: Vec<Entry> = set.rules.iter().map(entry).collect();
    listing("rule", &entries, &args.filter, reporter)
}

fn signature(info: &AluInfo) -> String {
    let inputs: Vec<String> = info.inputs.iter().map(type_name).collect();
    format!("({}) -> {}", inputs.join(", "), type_name(&info.output))
}

fn type_name(ty: &AluType) -> String {
    let base = match ty.base {
        BaseType::Int => "int",
        BaseType::Uint => "uint",
        BaseType::Float => "float",
        BaseType::Bool => "bool",
    };
    let bits = if ty.bits == 0 { String::new() } else { ty.bits.to_string() };
    let comps = if ty.comps == 0 { String::new() } else { format!("x{}", ty.comps) };
    format!("{base}{bits}{comps}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_its_place_and_group() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let tree = crate::tests::tree();
        let read = |file: &str| std::fs::read_to_string(format!("{root}/{file}")).unwrap();
        for entries in [opcodes(&tree).unwrap(), intrinsic_entries(&tree).unwrap()] {
            let text = read(&entries[0].file);
            let lines: Vec<&str> = text.lines().collect();
            for entry in &entries {
                assert!(!entry.group.is_empty(), "{} has no group", entry.name);
                assert!(lines[entry.line as usize - 1].contains(['"', '[']), "{}", entry.name);
            }
        }
        let ops = opcodes(&tree).unwrap();
        let iadd = ops.iter().find(|e| e.name == "iadd").unwrap();
        assert_eq!(iadd.group, "integer arithmetic");
        assert!(read("opcodes.toml").lines().nth(iadd.line as usize - 1).unwrap().contains("iadd"));
        for pass in pass_entries() {
            assert!(read(&pass.file).starts_with("//! "), "{}", pass.file);
        }
    }

    #[test]
    fn headings_have_two_forms() {
        let text = "x\n# -----\n# Big words. More\n# -----\na\n# ------ small\nb\n# GLSL\nc\n";
        let of = |line| section(text, line);
        assert_eq!((of(1).as_str(), of(5).as_str(), of(7).as_str()), ("", "big words", "small"));
    }
}
