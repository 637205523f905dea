//! Compiled matchers as Rust text.
//!
//! One module a group and root opcode, whose function has one arm a rule in the order in which rules are tried. The text
//! is readable by itself: every arm stands under the name and place of its rule. (Modules, because the compiler makes code
//! of several at once, and of one alone on one core.)

mod expr;
mod matcher;
mod mirror;
mod outside;
mod pattern;
mod reads;

use super::model::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// Operands that a `Turn` shows.
const MAX_KINDS: usize = 4;

/// What is generated from a rule set: Rust that a crate with `deburr-algebraic` and `deburr-ir-core` includes. It
/// defines `pub static RULES: RuleSet`.
pub fn emit(set: &RuleSet) -> String {
    let outside = set.rules.iter().any(Rule::has_outside);
    let (root, names) = match outside {
        true => ("Root, ", "AluOp, Flags, Index, Intrinsic, TexOp, TexSrc"),
        false => ("", "AluOp, Flags"),
    };
    let mut out = format!(
        "// Generated from the rule files. Each arm names its rule.\n\n\
         use deburr_algebraic::facts::abs::{{self, Abs}};\n\
         use deburr_algebraic::facts::used::{{self, Reads}};\n\
         use deburr_algebraic::{{Group, MatchFn, Rewriter, {root}RuleInfo, RuleSet, TransferFn, Turn, Val, Watch, seldom}};\n\
         use deburr_ir_core::fold::prim;\n\
         use deburr_ir_core::{{{names}}};\n\n",
    );
    let fact_names = facts(set, &mut out);
    let functions = matchers(set, &fact_names, &mut out);
    let transfers = transfers(set, &mut out);
    let reads = reads::reads(set, &mut out);
    tables(set, &functions, (&transfers, &reads), &mut out);
    out
}

/// The texts of a tree as Rust: `pub static SOURCES: &[(&str, &str)]`.
pub fn sources(files: &[(std::sync::Arc<str>, std::sync::Arc<str>)]) -> String {
    let mut out = String::from(
        "/// Name and text of every rule file, the fact library and the groups first.\n",
    );
    out.push_str("pub static SOURCES: &[(&str, &str)] = &[\n");
    for (name, text) in files {
        let _ = writeln!(out, "    ({name:?}, {text:?}),");
    }
    out.push_str("];\n");
    out
}

/// One function a fact, over abstract values.
fn facts(set: &RuleSet, out: &mut String) -> Vec<String> {
    let used: Vec<bool> = (0..set.facts.len())
        .map(|i| {
            set.facts[i].on_values || set.rules.iter().any(|r| r.facts.iter().any(|f| f.fact == i))
        })
        .collect();
    let mut names = Vec::new();
    for (fact, used) in set.facts.iter().zip(used) {
        let name = format!("fact_{}", fact.name);
        if used {
            let params: Vec<String> =
                (0..fact.params.len()).map(|i| format!("v{i}: Abs")).collect();
            let body = expr::emit(&fact.body).unwrap_or_else(|| "abs::top(1)".to_string());
            for line in fact.doc.lines() {
                let _ = writeln!(out, "/// {line}");
            }
            let _ = writeln!(
                out,
                "fn {name}(e: &abs::Env, w: u32, {}) -> Abs {{\n    let _ = (e, w);\n    {body}\n}}\n",
                params.join(", ")
            );
        }
        names.push(name);
    }
    names
}

/// The matcher functions: their names by group and opcode, and by group and root where that is no ALU operation.
#[derive(Default)]
struct Matchers {
    ops: BTreeMap<(usize, usize), String>,
    outside: BTreeMap<(usize, String), String>,
}

fn matchers(set: &RuleSet, fact_names: &[String], out: &mut String) -> Matchers {
    let mut by_op: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    let mut outside: BTreeMap<(usize, String), (String, Vec<usize>)> = BTreeMap::new();
    for (i, rule) in set.rules.iter().enumerate() {
        match &rule.nodes[rule.pattern].kind {
            NodeKind::Op { op, .. } => by_op.entry((rule.group, *op)).or_default().push(i),
            NodeKind::Outside { what, .. } => {
                let name = super::outside::name_of(set, what);
                let key = (rule.group, outside::root(set, what));
                outside.entry(key).or_insert((name, Vec::new())).1.push(i);
            }
            _ => {}
        }
    }
    let mut found = Matchers::default();
    for ((group, op), rules) in by_op {
        let sig = set.ops.get(op);
        let name = format!("{}_{}", set.groups[group].0.replace('.', "_"), sig.name);
        let place = format!("group `{}` at `{}`", set.groups[group].0, sig.name);
        let kinds = sig.inputs.len().min(MAX_KINDS);
        module(set, &rules, &name, &place, Some(kinds), fact_names, out);
        found.ops.insert((group, op), format!("{name}::rules"));
    }
    for ((group, root), (text, rules)) in outside {
        let ident = text.trim_start_matches('@').replace('.', "_");
        let name = format!("{}_at_{ident}", set.groups[group].0.replace('.', "_"));
        let place = format!("group `{}` at `{text}`", set.groups[group].0);
        module(set, &rules, &name, &place, None, fact_names, out);
        found.outside.insert((group, root), format!("{name}::rules"));
    }
    found
}

/// One matcher as a module: the arms of some rules, and what they call. `kinds` operands of an ALU root are looked at first.
fn module(
    set: &RuleSet,
    rules: &[usize],
    name: &str,
    place: &str,
    kinds: Option<usize>,
    fact_names: &[String],
    out: &mut String,
) {
    let mut text = String::from("use super::*;\n\n");
    let mut body = String::new();
    // Neighbours that ask for the same stand under one test.
    let mut guard = String::new();
    let mut compared = BTreeSet::new();
    for rule in rules {
        let arm = matcher::arm(set, *rule, fact_names);
        text.push_str(&arm.functions);
        if arm.guard != guard {
            if !guard.is_empty() {
                body.push_str("    }\n");
            }
            if !arm.guard.is_empty() {
                let _ = writeln!(body, "    if {} {{\n        seldom();", arm.guard);
            }
            guard = arm.guard;
        }
        compared.extend(arm.compared);
        body.push_str(&arm.body);
    }
    if !guard.is_empty() {
        body.push_str("    }\n");
    }
    text.push_str("pub fn rules(cx: &mut Rewriter<'_>, turn: &Turn) -> bool {\n");
    let list: String = (0..kinds.unwrap_or(0)).map(|k| format!("k{k}, ")).collect();
    let _ = writeln!(text, "    let &Turn {{ instr: n0, comps, kinds: [{list}..], .. }} = turn;");
    let _ = writeln!(text, "    let _ = (comps, {list});");
    for n in compared {
        let _ = writeln!(text, "    let u{n} = cx.uniform(turn, {n});");
    }
    text.push_str(&body);
    text.push_str("    false\n}\n");
    let _ = writeln!(out, "/// Rules of {place}.\nmod {name} {{");
    for line in text.lines() {
        let indent = if line.is_empty() { "" } else { "    " };
        let _ = writeln!(out, "{indent}{line}");
    }
    out.push_str("}\n\n");
}

/// Transfer functions of the value analysis, one an opcode whose `eval` is scalar.
fn transfers(set: &RuleSet, out: &mut String) -> Vec<Option<String>> {
    let mut names = Vec::new();
    let mut bodies: HashMap<String, String> = HashMap::new();
    for sig in set.ops.iter() {
        let scalar = sig.output.comps == 0 && sig.inputs.iter().all(|t| t.comps == 0);
        let body = match &sig.eval {
            Some(eval) if scalar && sig.id < 0x4000 && eval.size() <= 40 => expr::emit(eval),
            _ => None,
        };
        let Some(body) = body else {
            names.push(None);
            continue;
        };
        let count = sig.inputs.len();
        let key = format!("{count} {body}");
        let name = match bodies.get(&key) {
            Some(name) => name.clone(),
            None => {
                let name = format!("value_{}", sig.name);
                let operands: Vec<String> = (0..count).map(|i| format!("v{i}")).collect();
                let _ = writeln!(
                    out,
                    "/// What `{}` gives for sets of operands.\nfn {name}(e: &abs::Env, w: u32, v: &[Abs]) -> Abs {{\n    \
                     let &[{}] = v else {{ return abs::top(w) }};\n    let _ = (e, w);\n    {body}\n}}\n",
                    sig.name,
                    operands.join(", ")
                );
                bodies.insert(key, name.clone());
                name
            }
        };
        names.push(Some(name));
    }
    names
}

/// What the driver watches for a group.
fn watch(set: &RuleSet, group: usize) -> String {
    let chains = set.chain_ops(group);
    let chains: Vec<String> = chains.iter().map(|op| matcher::op_path(set.ops.get(*op))).collect();
    let reads = set.read_ops(group);
    let reads: Vec<String> = reads.iter().map(|op| matcher::op_path(set.ops.get(*op))).collect();
    format!(
        "Watch {{ depth: {}, few: {}, many: {}, outside: {}, roots: {}, chains: &[{}], reads: &[{}] }}",
        set.depth(group),
        set.few_uses(group),
        set.many_uses(group),
        set.reaches_outside(group),
        set.roots_outside(group),
        chains.join(", "),
        reads.join(", ")
    )
}

/// The tables: groups with their matchers, `transfers` and `reads` by opcode, rules, facts.
fn tables(
    set: &RuleSet,
    functions: &Matchers,
    (transfers, reads): (&[Option<String>], &[Option<String>]),
    out: &mut String,
) {
    let builtin = set.ops.iter().filter(|o| o.id < 0x4000).count();
    for (g, (name, _)) in set.groups.iter().enumerate() {
        let ident = name.replace('.', "_").to_uppercase();
        let _ = writeln!(out, "static BY_OP_{ident}: [Option<MatchFn>; {builtin}] = [");
        for (i, sig) in set.ops.iter().enumerate().take(builtin) {
            let _ = match functions.ops.get(&(g, i)) {
                Some(f) => writeln!(out, "    Some({f}), // {}", sig.name),
                None => writeln!(out, "    None,"),
            };
        }
        out.push_str("];\n\n");
    }
    for (name, ty, entries) in [("TRANSFERS", "TransferFn", transfers), ("READS", "Reads", reads)] {
        let _ = writeln!(out, "static {name}: [Option<{ty}>; {builtin}] = [");
        for entry in entries.iter().take(builtin) {
            let _ = match entry {
                Some(f) => writeln!(out, "    Some({f}),"),
                None => writeln!(out, "    None,"),
            };
        }
        out.push_str("];\n\n");
    }
    out.push_str("/// Every rule of the tree, compiled.\npub static RULES: RuleSet = RuleSet {\n    groups: &[\n");
    for (g, (name, doc)) in set.groups.iter().enumerate() {
        let ident = name.replace('.', "_").to_uppercase();
        let dialect: Vec<String> = functions
            .ops
            .iter()
            .filter(|((group, op), _)| *group == g && set.ops.get(*op).id >= 0x4000)
            .map(|((_, op), f)| format!("({:#x}, {f} as MatchFn)", set.ops.get(*op).id))
            .collect();
        let others = functions.outside.iter().filter(|((group, _), _)| *group == g);
        let others: Vec<String> =
            others.map(|((_, root), f)| format!("({root}, {f} as MatchFn)")).collect();
        let _ = writeln!(
            out,
            "        Group {{ name: {name:?}, doc: {doc:?}, by_op: &BY_OP_{ident}, dialect: &[{}], outside: &[{}], watch: {} }},",
            dialect.join(", "),
            others.join(", "),
            watch(set, g)
        );
    }
    out.push_str("    ],\n    rules: &[\n");
    for rule in &set.rules {
        let _ = writeln!(
            out,
            "        RuleInfo {{ name: {:?}, base: {:?}, file: {:?}, line: {}, group: {}, instances: {}, licences: Flags::from_bits_truncate({}), doc: {:?} }},",
            rule.name,
            rule.base,
            set.files[rule.file].0,
            rule.line,
            rule.group,
            rule.instances.len(),
            rule.licences,
            rule.doc
        );
    }
    let options: Vec<String> = set.options.iter().map(|o| format!("{:?}", o.0)).collect();
    let _ = writeln!(
        out,
        "    ],\n    options: &[{}],\n    transfers: &TRANSFERS,\n    reads: &READS,\n    facts: &[",
        options.join(", ")
    );
    for fact in set.facts.iter().filter(|f| f.on_values) {
        let args: Vec<String> = (0..fact.params.len()).map(|i| format!("v[{i}]")).collect();
        let (name, args) = (&fact.name, args.join(", "));
        let _ = writeln!(out, "        ({name:?}, |e, w, v| fact_{name}(e, w, {args})),");
    }
    out.push_str("    ],\n};\n");
}
