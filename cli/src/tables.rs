//! `deburr ops`, `intrinsics`, `rules`, `passes`: what there is.

use crate::report::{Exit, Reporter, json_string};
use deburr_ir_core::{ALU_INFO, AluInfo, AluType, BaseType, INTRINSIC_INFO};

/// List entries whose name contains a word.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr ops iadd\n  deburr intrinsics --json load_")]
pub struct ListArgs {
    /// Part of the name
    #[arg(default_value = "")]
    filter: String,
}

/// List the rewrite rules.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr rules fadd\n  deburr rules --json")]
pub struct RulesArgs {
    /// Part of the name
    #[arg(default_value = "")]
    filter: String,
}

/// `deburr ops`.
pub fn ops(args: &ListArgs, reporter: &mut Reporter) -> Exit {
    listing(ALU_INFO.iter().map(|info| (info.name, signature(info), "opcodes.toml", info.doc)), args, reporter)
}

/// `deburr intrinsics`.
pub fn intrinsics(args: &ListArgs, reporter: &mut Reporter) -> Exit {
    let entries = INTRINSIC_INFO.iter().map(|info| {
        let srcs: Vec<String> = info.srcs.iter().map(i8::to_string).collect();
        let dest = info.dest.map_or(String::new(), |d| format!(" -> {d}"));
        (info.name, format!("({}){dest}", srcs.join(", ")), "intrinsics.toml", info.doc)
    });
    listing(entries, args, reporter)
}

/// `deburr passes`.
pub fn passes(args: &ListArgs, reporter: &mut Reporter) -> Exit {
    listing(deburr_passes::PASSES.iter().map(|p| (p.name, String::new(), "passes/src/table.rs", p.doc)), args, reporter)
}

/// `deburr rules`.
pub fn rules(args: &RulesArgs, reporter: &mut Reporter) -> Exit {
    let set = deburr_ruleset::rules();
    let mut found = false;
    for rule in set.rules.iter().filter(|r| r.name.contains(&args.filter)) {
        found = true;
        let group = set.groups.get(usize::from(rule.group)).map_or("", |g| g.name);
        if reporter.json {
            reporter.line(&format!(
                "{{\"schema\":1,\"name\":{},\"file\":{},\"line\":{},\"group\":{},\"doc\":{}}}",
                json_string(rule.name),
                json_string(rule.file),
                rule.line,
                json_string(group),
                json_string(rule.doc)
            ));
        } else {
            reporter.line(&format!("{:40} {:8} {}:{}", rule.name, group, rule.file, rule.line));
        }
    }
    if found || args.filter.is_empty() { Exit::Ok } else { Exit::No }
}

fn listing<'a>(
    entries: impl Iterator<Item = (&'a str, String, &'a str, &'a str)>,
    args: &ListArgs,
    reporter: &mut Reporter,
) -> Exit {
    let mut found = false;
    for (name, signature, file, doc) in entries.filter(|(name, ..)| name.contains(&args.filter)) {
        found = true;
        if reporter.json {
            reporter.line(&format!(
                "{{\"schema\":1,\"name\":{},\"signature\":{},\"file\":{},\"doc\":{}}}",
                json_string(name),
                json_string(&signature),
                json_string(file),
                json_string(doc)
            ));
        } else {
            reporter.line(&format!("{name}{signature}  {doc}"));
        }
    }
    if found || args.filter.is_empty() { Exit::Ok } else { Exit::No }
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
