//! `deburr ops`, `intrinsics`, `rules`, `passes`: what there is.

use crate::json::Object;
use crate::report::{Exit, Reporter};
use deburr_ir_core::{ALU_INFO, AluInfo, AluType, BaseType, INTRINSIC_INFO, IntrinsicInfo};

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

/// List the rewrite rules.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr rules fadd\n  deburr rules --json")]
pub struct RulesArgs {
    /// Part of the name
    #[arg(default_value = "", hide_default_value = true, value_name = "NAME")]
    filter: String,
}

/// What is said of an entry.
struct Entry<'a> {
    name: &'a str,
    signature: String,
    file: &'a str,
    line: Option<u32>,
    group: Option<&'a str>,
    doc: &'a str,
}

impl Entry<'_> {
    fn json(&self) -> String {
        let mut o = Object::line().str("name", self.name).str("file", self.file);
        o = match self.line {
            Some(line) => o.raw("line", line),
            None => o.raw("line", "null"),
        };
        if let Some(group) = self.group {
            o = o.str("group", group);
        }
        if !self.signature.is_empty() {
            o = o.str("signature", &self.signature);
        }
        o.str("doc", self.doc).end()
    }

    fn text(&self) -> String {
        let mut out = format!("{}{}", self.name, self.signature);
        if let (Some(group), Some(line)) = (self.group, self.line) {
            out += &format!("  [{group}] {}:{line}", self.file);
        }
        if !self.doc.is_empty() {
            out += &format!("  {}", self.doc.replace('\n', " "));
        }
        out
    }
}

/// Prints the entries whose name has the filter in it. A filter that nothing has is answered with no.
fn listing<'a>(
    entries: impl Iterator<Item = Entry<'a>>,
    filter: &str,
    reporter: &mut Reporter,
) -> Exit {
    let mut found = filter.is_empty();
    for entry in entries.filter(|e| e.name.contains(filter)) {
        found = true;
        reporter.line(&if reporter.json { entry.json() } else { entry.text() });
    }
    if found { Exit::Ok } else { Exit::No }
}

/// `deburr ops`.
pub fn ops(args: &OpsArgs, reporter: &mut Reporter) -> Exit {
    let entry = |info: &'static AluInfo| Entry {
        name: info.name,
        signature: signature(info),
        file: "opcodes.toml",
        line: None,
        group: None,
        doc: info.doc,
    };
    listing(ALU_INFO.iter().map(entry), &args.filter, reporter)
}

/// `deburr intrinsics`.
pub fn intrinsics(args: &IntrinsicsArgs, reporter: &mut Reporter) -> Exit {
    let entry = |info: &'static IntrinsicInfo| {
        let components = |n: i8| match n {
            -1 => "any".to_owned(),
            0 => "n".to_owned(),
            n => n.to_string(),
        };
        let srcs: Vec<String> = info.srcs.iter().map(|n| components(*n)).collect();
        let dest = info.dest.map_or(String::new(), |d| format!(" -> {}", components(d)));
        Entry {
            name: info.name,
            signature: format!("({}){dest}", srcs.join(", ")),
            file: "intrinsics.toml",
            line: None,
            group: None,
            doc: info.doc,
        }
    };
    listing(INTRINSIC_INFO.iter().map(entry), &args.filter, reporter)
}

/// `deburr passes`.
pub fn passes(args: &PassesArgs, reporter: &mut Reporter) -> Exit {
    let entry = |pass: &'static deburr_passes::Pass| Entry {
        name: pass.name,
        signature: String::new(),
        file: "passes/src/table.rs",
        line: None,
        group: None,
        doc: pass.doc,
    };
    listing(deburr_passes::PASSES.iter().map(entry), &args.filter, reporter)
}

/// `deburr rules`.
pub fn rules(args: &RulesArgs, reporter: &mut Reporter) -> Exit {
    let set = deburr_ruleset::rules();
    let entry = |rule: &'static deburr_algebraic::RuleInfo| Entry {
        name: rule.name,
        signature: String::new(),
        file: rule.file,
        line: Some(rule.line),
        group: set.groups.get(usize::from(rule.group)).map(|g| g.name),
        doc: rule.doc,
    };
    listing(set.rules.iter().map(entry), &args.filter, reporter)
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
