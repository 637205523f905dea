//! Generators with a bug each: the emission of matchers is copied, one place of its text is changed, and what it then
//! emits for a few rules is compiled and held to the reference matcher. Each must be found out.
//!
//! Nothing of this is in the generator. The changed copies are one crate, which writes a module of matchers for each; these
//! are another, linked with the survey. Both are compiled by `rustc` against the libraries that this test is built with.

use super::both::Matchers;
use super::survey::{Size, survey};
use deburr_algebraic::RuleSet;
use deburr_rulegen::rules::{Texts, model};
use deburr_ruleset::{INTRINSICS, OPCODES, SOURCES};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What generated code and the copies of the generator are linked with.
pub use {deburr_algebraic as algebraic, deburr_ir_core as ir_core, deburr_rulegen as rulegen};

/// The rules that faults are looked for on.
const RULES: &str = include_str!("faults.rules");

/// Functions until a fault is given up.
const FUNCTIONS: u64 = 400_000;

/// A change to the text of the generator.
struct Fault {
    /// What is wrong.
    name: &'static str,
    /// File of `rulegen/src/rules/emit`.
    file: &'static str,
    /// Text that stands there once.
    from: &'static str,
    /// What stands there instead.
    to: &'static str,
}

const fn fault(
    name: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
) -> Fault {
    Fault { name, file, from, to }
}

const M: &str = "matcher.rs";
const E: &str = "expr.rs";
const O: &str = "outside.rs";
const P: &str = "pattern.rs";
const I: &str = "mirror.rs";

/// Every fault. The first is none.
const FAULTS: &[Fault] = &[
    fault("no fault", M, "", ""),
    fault(
        "no operand orders",
        P,
        "sig.commutative && args.len() >= 2 && !same_var",
        "false && args.len() >= 2 && !same_var",
    ),
    fault(
        "operand orders of the root only",
        P,
        "sig.commutative && args.len() >= 2 && !same_var",
        "is_root && sig.commutative && args.len() >= 2 && !same_var",
    ),
    fault("the other operand order first", P, "{node} in 0..2 {{", "{node} in [1, 0] {{"),
    fault(
        "one variable under two swizzles is taken for one value",
        P,
        "a == b && self.rule.nodes[args[0]].swizzle == self.rule.nodes[args[1]].swizzle",
        "a == b",
    ),
    fault("variables that stand elsewhere are taken for free", I, "mirror.is_closed(a, b) && ", ""),
    fault("a truth value is kept as 1", M, "if expr.ty.base == Base::Bool {", "if false {"),
    fault(
        "an alternative without its constant ends the rule",
        M,
        "(Some(label), _) => format!(\"break {label}\"),",
        "(Some(_), _) => format!(\"break 'r{}\", self.index),",
    ),
    fault("what users read isn't asked", M, "        self.used();\n", ""),
    fault(
        "what users read is asked of one component",
        M,
        "cx.reads_within(read, {comps}, |cx",
        "cx.reads_within(read, 1, |cx",
    ),
    fault(
        "the bits that users may read are those of the first component",
        M,
        "{{ let _ = &cx; {bits} }})",
        "{{ let _ = (&cx, i); let i = 0; {bits} }})",
    ),
    fault("what facts say one way is taken for both", I, "mirror.facts() && ", ""),
    fault("every fact is taken for symmetric", I, "is_symmetric(body, body)", "true"),
    fault(
        "swizzles are not composed",
        P,
        "format!(\"cx.under(v{node}, {slot})\")",
        "format!(\"cx.arg(n{node}, {slot})\")",
    ),
    fault(
        "swizzle of a variable is not tested",
        P,
        "self.test(format!(\"cx.takes(v{id}, &{s:?})\"));",
        "let _ = s;",
    ),
    fault(
        "a result of several components may be taken in any order",
        P,
        "self.test(format!(\"cx.takes(v{id}, &{all:?})\"));",
        "let _ = all;",
    ),
    fault(
        "a repeated variable may be two values",
        P,
        "                    self.test(text);\n                    return;",
        "                    let _ = text;\n                    return;",
    ),
    fault(
        "a repeated variable is compared without its swizzle",
        P,
        "format!(\"{quick}cx.same({first}, v{id}, {comps})\")",
        "format!(\"{quick}{first}.def == v{id}.def\")",
    ),
    fault(
        "a repeated variable is compared in one component",
        P,
        "format!(\"{quick}cx.same({first}, v{id}, {comps})\")",
        "format!(\"{quick}cx.same({first}, v{id}, 1)\")",
    ),
    fault(
        "a constant may be any value",
        P,
        "self.test(format!(\"cx.is_const(v{id})\"));",
        "let _ = id;",
    ),
    fault(
        "a literal is compared in one component",
        P,
        "cx.is_bits(v{id}, {comps}, {literal})",
        "cx.is_bits(v{id}, 1, {literal})",
    ),
    fault(
        "a literal is one more",
        M,
        "format!(\"{:#x}\", value.encode(base, n).unwrap_or(0))",
        "format!(\"{:#x}\", value.encode(base, n).unwrap_or(0) ^ 1)",
    ),
    fault(
        "a literal of an open size has 32 bits",
        M,
        "{:#x})\", *v as u64)",
        "{:#x})\", *v as u32)",
    ),
    fault("float literals of two sizes are exchanged", M, "at(16), at(32)", "at(32), at(16)"),
    fault(
        "a NaN literal is one pattern",
        P,
        "(true, _) => format!(\"cx.is_nan(v{id}, {comps})\"),",
        "(true, _) => format!(\"cx.is_bits(v{id}, {comps}, 0)\"),",
    ),
    fault("promises are not tested", M, "let wanted = promises | if", "let wanted = 0 | if"),
    fault(
        "licences are not tested",
        M,
        "let wanted = promises | if float",
        "let wanted = promises | if false",
    ),
    fault(
        "licences are tested at the root only",
        M,
        "let wanted = promises | if float",
        "let wanted = promises | if float && node == self.rule.pattern",
    ),
    fault("licences of the root are kept", M, "flags.join(\" & \")", "flags[0]"),
    fault("licences of any operation are kept", M, "flags.join(\" & \")", "flags.join(\" | \")"),
    fault("promises are kept", M, "{} & Flags::LICENCES", "{}"),
    fault(
        "licences are not kept",
        M,
        "(true, 0) => \"keep\".to_string(),",
        "(true, 0) => \"Flags::empty()\".to_string(),",
    ),
    fault(
        "promises are not given",
        M,
        "(false, p) => flag_names(p),",
        "(false, _) => \"Flags::empty()\".to_string(),",
    ),
    fault("the environment is not tested", M, "if env == EnvClause::ALL {", "if true {"),
    fault(
        "denormals and rounding are exchanged",
        M,
        "env.denorm, env.rounding));",
        "env.rounding, env.denorm));",
    ),
    fault(
        "the environment is tested at one size",
        M,
        "for class in self.float_classes() {",
        "for class in self.float_classes().into_iter().take(1) {",
    ),
    fault(
        "sizes are not tested",
        M,
        "let Some(test) = &self.rule.size_test else { return };",
        "let Some(test) = self.rule.size_test.as_ref().filter(|_| false) else { return };",
    ),
    fault(
        "the first size only",
        M,
        ".allowed\n            .iter()",
        ".allowed\n            .iter()\n            .take(1)",
    ),
    fault(
        "the number of components is not tested",
        M,
        "self.test(format!(\"comps == {n}\"));",
        "let _ = n;",
    ),
    fault("a fact is negated", M, "\"cx.holds({comps}, |cx, i|", "\"!cx.holds({comps}, |cx, i|"),
    fault(
        "a fact holds of one component",
        M,
        "\"cx.holds({comps}, |cx, i|",
        "\"cx.holds({comps}.min(1), |cx, i|",
    ),
    fault(
        "a fact's arguments are reversed",
        M,
        "let _ = write!(names, \", a{i}\");",
        "names.insert_str(0, &format!(\", a{i}\"));",
    ),
    fault("facts are not tested", M, "        self.facts();\n", ""),
    fault(
        "a constant's first component is taken",
        M,
        "format!(\"cx.component({value}, {at})\")",
        "format!(\"cx.component({value}, 0)\")",
    ),
    fault(
        "a computed constant's swizzle is lost",
        M,
        "at = format!(\"{swizzle:?}[{at}]\");",
        "let _ = swizzle;",
    ),
    fault(
        "constants are computed with 32 bits",
        M,
        "let width = self.wide_bits(*bits);",
        "let width = String::from(\"32\");\n            let _ = bits;",
    ),
    fault(
        "the target's options are not tested",
        M,
        "if let Some(when) = &rule.when {",
        "if let Some(when) = rule.when.as_ref().filter(|_| false) {",
    ),
    fault(
        "options are not negated",
        M,
        "Cond::Not(c) => format!(\"!{}\", self.cond(c)),",
        "Cond::Not(c) => self.cond(c),",
    ),
    fault(
        "profit is not tested",
        M,
        "if let Some(profit) = &alt.profit {",
        "if let Some(profit) = alt.profit.as_ref().filter(|_| false) {",
    ),
    fault(
        "one profit is enough",
        M,
        "Cond::And(list) => join(list, \" && \"),",
        "Cond::And(list) => join(list, \" || \"),",
    ),
    fault(
        "uses of the root are counted",
        M,
        "format!(\"cx.once({value})\")",
        "format!(\"cx.once(Val::from(n0.def()))\")",
    ),
    fault(
        "uses are not counted up to the bound",
        M,
        "format!(\"cx.uses({value}, {}) {} {bound}\", bound + 1, compare.text())",
        "format!(\"cx.uses({value}, {}) {} {bound}\", bound, compare.text())",
    ),
    fault(
        "the root's users are looked at",
        M,
        "format!(\"cx.only_used_as({value}, &[{}],",
        "format!(\"cx.only_used_as(v0, &[{}],",
    ),
    fault("legality is not tested", M, "if have.contains(&(op, class)) {", "if true {"),
    fault(
        "what the pattern has is legal at every size",
        M,
        "if have.contains(&(op, class)) {",
        "if have.iter().any(|h| h.0 == op) {",
    ),
    fault(
        "legality is tested at 32 bits",
        M,
        "op_path(self.set.ops.get(op)), self.bits(class));",
        "op_path(self.set.ops.get(op)), 32);",
    ),
    fault(
        "the guard looks at the first operand only",
        P,
        "true => format!(\"k0 == {a} || k1 == {a}\"),",
        "true => format!(\"k0 == {a}\"),",
    ),
    fault("the guard knows one order", P, "|| (k0 == {b} && k1 == {a})", ""),
    fault(
        "rules that are switched off fire",
        M,
        "self.test(format!(\"cx.begin({})\", self.index));",
        "",
    ),
    fault(
        "a replacement's swizzle is lost",
        M,
        "text = format!(\"{text}.swz(&{s:?})\");",
        "let _ = s;",
    ),
    fault(
        "operands are built in reverse",
        M,
        "args.iter().map(|a| done[a].clone()).collect();",
        "args.iter().rev().map(|a| done[a].clone()).collect();",
    ),
    fault(
        "a whole value is what the pattern sees of it",
        P,
        "true => format!(\"Val::from(v{id}.def)\"),",
        "true => format!(\"v{id}\"),",
    ),
    fault(
        "what goes is used by the root alone",
        M,
        "format!(\"cx.dies({value}, &[{ops}], &[{chains}])\")",
        "format!(\"cx.dies({value}, &[n0], &[{chains}])\")",
    ),
    fault(
        "parts of chains don't go",
        M,
        "format!(\"cx.dies({value}, &[{ops}], &[{chains}])\")",
        "format!(\"cx.dies({value}, &[{ops}], &[])\")",
    ),
    fault(
        "a chain below may be longer",
        P,
        "false => self.test(format!(\"c{node}.len() == {}\", operands.len())),",
        "false => self.test(format!(\"c{node}.len() >= {}\", operands.len())),",
    ),
    fault(
        "an operand of a chain is taken twice",
        P,
        "self.test(taken.join(\" && \"));",
        "let _ = taken;",
    ),
    fault(
        "what is left of a chain is lost",
        M,
        "value = \"all\".to_string();",
        "value = String::from(\"cx.arg(n0, 0)\");",
    ),
    fault(
        "licences of a chain's root are kept",
        M,
        "Some(_) => format!(\"c{n}.flags()\"),",
        "Some(_) => format!(\"cx.flags(n{n})\"),",
    ),
    fault(
        "licences inside of chains are not tested",
        P,
        "if sig.float { flag_names(self.rule.licences) }",
        "if false { flag_names(self.rule.licences) }",
    ),
    fault(
        "constants under phis are used where they are",
        M,
        "copied: rule.constants_under_phis(),",
        "copied: Vec::new(),",
    ),
    fault(
        "a const index is not tested",
        O,
        "self.test(format!(\"cx.index(n{node}, {}) == {value}\", index(self.set, *at)));",
        "let _ = (at, value);",
    ),
    fault(
        "a const index is not given",
        O,
        "format!(\"({}, {value})\", index(set, *at))",
        "format!(\"({}, {value} & 1)\", index(set, *at))",
    ),
    fault("attributes are exchanged", O, "*value != 0", "*value == 0"),
    fault(
        "the sources of a texture operation are not counted",
        O,
        "self.test(format!(\"cx.sources(n{node}) == {}\", srcs.len()));",
        "",
    ),
    fault("sources are of one kind", O, "camel(TEX_SRCS[srcs[i]])", "camel(TEX_SRCS[srcs[0]])"),
    fault(
        "a phi that is made has its sides exchanged",
        O,
        "cx.build_phi(n0, {first}, v{a}, v{b})",
        "cx.build_phi(n0, {first}, v{b}, v{a})",
    ),
    fault("a phi has one order", O, "for o{node} in 0..2 {{", "for o{node} in 0..1 {{"),
    fault("a phi's other order first", O, "for o{node} in 0..2 {{", "for o{node} in [1, 0] {{"),
    fault(
        "values of one edge are used behind phis",
        O,
        "in self.rule.needed_at_phis() {",
        "in self.rule.needed_at_phis().into_iter().take(0) {",
    ),
    fault(
        "rules in reverse",
        "mod.rs",
        "    for rule in rules {\n",
        "    for rule in rules.iter().rev() {\n",
    ),
    fault(
        "floats are negated as integers",
        E,
        "(UnaryOp::Neg, Base::Float) => \"fneg\",",
        "(UnaryOp::Neg, Base::Float) => \"neg\",",
    ),
    fault(
        "at least is at most",
        E,
        "Ge => (by(\"ile\", \"ule\", \"fle\"), true),",
        "Ge => (by(\"ile\", \"ule\", \"fle\"), false),",
    ),
    fault(
        "signed numbers are compared as unsigned",
        E,
        "Lt => (by(\"ilt\", \"ult\", \"flt\"), false),",
        "Lt => (by(\"ult\", \"ult\", \"flt\"), false),",
    ),
    fault(
        "differences are sums",
        E,
        "Sub => (by(\"sub\", \"sub\", \"fsub\"), false),",
        "Sub => (by(\"add\", \"sub\", \"fsub\"), false),",
    ),
    fault(
        "a difference's sides are exchanged",
        E,
        "Sub => (by(\"sub\", \"sub\", \"fsub\"), false),",
        "Sub => (by(\"sub\", \"sub\", \"fsub\"), true),",
    ),
    fault(
        "the lesser is so unsigned",
        E,
        "(\"min\", Base::Int) => \"imin\",",
        "(\"min\", Base::Int) => \"umin\",",
    ),
    fault(
        "the open width is 32",
        E,
        "(_, Width::Bits) => \"w\".to_string(),",
        "(_, Width::Bits) => \"32\".to_string(),",
    ),
    fault(
        "numbers in expressions are one more",
        E,
        "ExprKind::Int(v) => write!(out, \"abs::int({w}, {v:#x})\").ok()?,",
        "ExprKind::Int(v) => write!(out, \"abs::int({w}, {:#x})\", v.wrapping_add(1)).ok()?,",
    ),
];

/// What became of the faults.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Faults.
    pub planted: usize,
    /// Those that were found out, with how.
    pub found: Vec<String>,
    /// Those that were not.
    pub missed: Vec<String>,
}

/// Plants every fault and looks for it. `folder` is where the crates are made.
///
/// # Errors
/// If one of them can't be made: the generator doesn't have the text that is to be changed, or what comes out is no Rust.
pub fn check(root: &Path, folder: &Path, seed: u64) -> Result<Found, String> {
    let library = Library::of(root)?;
    let modules = emitted(root, folder, &library)?;
    let program = linked(folder, &library, &modules)?;
    let mut found = Found { planted: FAULTS.len() - 1, ..Found::default() };
    for (n, fault) in FAULTS.iter().enumerate() {
        let mut command = Command::new(&program);
        let output = command.args([n.to_string(), seed.to_string()]).output();
        let output = output.map_err(|e| format!("{}: {e}", program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let said = text.lines().next().unwrap_or("").to_string();
        match (n, output.status.code()) {
            (0, Some(0)) => {}
            (0, _) => return Err(format!("without a fault: {text}")),
            (_, Some(0)) => found.missed.push(fault.name.to_string()),
            (_, Some(1)) => found.found.push(format!("{}: {said}", fault.name)),
            (_, _) => found.found.push(format!("{}: the matcher panics", fault.name)),
        }
    }
    Ok(found)
}

/// What the linked program does: looks for a disagreement of one set of matchers with the reference; true if there is one,
/// which is printed.
pub fn search(compiled: &'static RuleSet, healthy: &'static RuleSet, seed: u64) -> bool {
    let set = match rules() {
        Ok(set) => set,
        Err(why) => {
            println!("{why}");
            return true;
        }
    };
    // Faults show in what the matchers do, so what is known of values is always the same.
    let compiled: &'static RuleSet = Box::leak(Box::new(RuleSet {
        transfers: healthy.transfers,
        reads: healthy.reads,
        ..*compiled
    }));
    let matchers = Matchers::new(&set, compiled);
    let size = Size { functions: FUNCTIONS, need: 20, enough: 1, values: false };
    let found = survey(&matchers, seed, size);
    if let Some(why) = found.wrong.first() {
        println!("function {}: {why}", found.functions);
    }
    !found.wrong.is_empty()
}

/// The rules that faults are looked for on, checked.
fn rules() -> Result<model::RuleSet, String> {
    let texts = Texts { opcodes: OPCODES, intrinsics: INTRINSICS, rules: SOURCES };
    let set = texts.load().and_then(|book| book.rules_of("faults.rules", RULES));
    set.map_err(|list| list.iter().map(|d| format!("{}\n", d.message)).collect())
}

/// This crate as it is built for the test, which brings all others with it.
struct Library(PathBuf);

impl Library {
    /// Asks cargo, which has built it.
    fn of(root: &Path) -> Result<Library, String> {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .args([
                "test",
                "--release",
                "--package",
                "deburr-tests",
                "--test",
                "accept",
                "--no-run",
            ])
            .args(["--message-format", "json"])
            .current_dir(root)
            .output()
            .map_err(|e| format!("cargo: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find(|l| l.contains("\"name\":\"deburr_tests\""));
        let files = line.and_then(|l| l.split_once("\"filenames\":[\""));
        let file = files.and_then(|(_, rest)| rest.split('"').next());
        match file.filter(|f| output.status.success() && f.ends_with(".rlib")) {
            Some(file) => Ok(Library(PathBuf::from(file))),
            None => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Compiles a crate of one root file into a program.
    fn compile(&self, main: &Path, program: &Path) -> Result<(), String> {
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        command.arg(main).arg("-o").arg(program);
        command.args(["--edition", "2024", "--cap-lints", "allow", "-C", "opt-level=0"]);
        command.args(["-C", "debuginfo=0", "-C", "codegen-units=16"]);
        command.arg("--extern").arg(format!("deburr_tests={}", self.0.display()));
        for folder in self.0.ancestors().skip(1).take(2) {
            command.arg("-L").arg(format!("dependency={}", folder.display()));
            command.arg("-L").arg(format!("dependency={}", folder.join("deps").display()));
        }
        let output = command.output().map_err(|e| format!("rustc: {e}"))?;
        match output.status.success() {
            true => Ok(()),
            false => {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                let first: Vec<&str> = text.lines().take(30).collect();
                Err(format!("{}: {}", main.display(), first.join("\n")))
            }
        }
    }
}

/// What the generators with faults emit.
fn emitted(root: &Path, folder: &Path, library: &Library) -> Result<Vec<String>, String> {
    let emit = root.join("rulegen/src/rules/emit");
    let here = folder.join("generators");
    let say = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    let mut sources: Vec<(String, String)> = Vec::new();
    for entry in std::fs::read_dir(&emit).map_err(|e| say(&emit, e))? {
        let path = entry.map_err(|e| say(&emit, e))?.path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        let text = std::fs::read_to_string(&path).map_err(|e| say(&path, e))?;
        sources.extend(name.map(|name| (name, text)));
    }
    let mut main = String::from(
        "mod expr { pub use deburr_tests::matchers::faults::rulegen::expr::*; }\nmod diagnostics { pub use deburr_tests::matchers::faults::rulegen::diagnostics::*; }\n",
    );
    let mut calls = String::new();
    for (n, fault) in FAULTS.iter().enumerate() {
        let place = here.join(format!("f{n}/emit"));
        std::fs::create_dir_all(&place).map_err(|e| say(&place, e))?;
        for (name, text) in &sources {
            let text = match name == fault.file && n > 0 {
                true if text.matches(fault.from).count() == 1 => text.replace(fault.from, fault.to),
                true => {
                    let times = text.matches(fault.from).count();
                    return Err(format!(
                        "{}: `{}` stands {times} times in {name}",
                        fault.name, fault.from
                    ));
                }
                false => text.clone(),
            };
            let file = place.join(name);
            std::fs::write(&file, text).map_err(|e| say(&file, e))?;
        }
        let _ = writeln!(
            main,
            "mod f{n} {{ pub mod emit; mod model {{ pub use deburr_tests::matchers::faults::rulegen::rules::model::*; }} \
             mod ops {{ pub use deburr_tests::matchers::faults::rulegen::rules::ops::*; }} \
             mod outside {{ pub use deburr_tests::matchers::faults::rulegen::rules::outside::*; }} }}"
        );
        let _ = writeln!(calls, "    write({n}, f{n}::emit::emit(&set));");
    }
    let _ = writeln!(
        main,
        "fn main() {{\n    let set = deburr_tests::matchers::faults::rules_or_exit();\n    \
         let folder = std::env::args().nth(1).unwrap();\n    \
         let write = |n: usize, text: String| std::fs::write(format!(\"{{folder}}/m{{n}}.rs\"), text).unwrap();\n{calls}}}"
    );
    let file = here.join("main.rs");
    std::fs::write(&file, main).map_err(|e| say(&file, e))?;
    let program = here.join("generators");
    library.compile(&file, &program)?;
    let output = Command::new(&program).arg(&here).output().map_err(|e| say(&program, e))?;
    if !output.status.success() {
        return Err(format!(
            "the generators: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let read = |n| {
        let file = here.join(format!("m{n}.rs"));
        std::fs::read_to_string(&file).map_err(|e| say(&file, e))
    };
    (0..FAULTS.len()).map(read).collect()
}

/// The functions of facts in a module: what its matchers call.
fn called(module: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in module.lines() {
        inside |= line.starts_with("fn fact_");
        if inside {
            out.push_str(line);
            out.push('\n');
        }
        inside &= line != "}";
    }
    out
}

/// The matchers of every generator, linked with the search.
fn linked(folder: &Path, library: &Library, modules: &[String]) -> Result<PathBuf, String> {
    let here = folder.join("matchers");
    std::fs::create_dir_all(&here).map_err(|e| format!("{}: {e}", here.display()))?;
    let mut main = String::from(
        "use deburr_tests::matchers::faults::{algebraic as deburr_algebraic, ir_core as deburr_ir_core};\n",
    );
    let mut seen = HashMap::new();
    for (n, module) in modules.iter().enumerate() {
        let module = crate::accept::b_2::shared(n, module, &called(module), &mut seen);
        let module = module.replace("use deburr_", "use crate::deburr_");
        let _ = writeln!(main, "mod m{n} {{\n{module}\n}}");
    }
    let sets: Vec<String> = (0..modules.len()).map(|n| format!("&m{n}::RULES")).collect();
    let _ = writeln!(
        main,
        "static SETS: [&deburr_algebraic::RuleSet; {}] = [{}];\n\
         fn main() {{\n    let mut args = std::env::args().skip(1);\n    \
         let mut number = || args.next().unwrap().parse::<u64>().unwrap();\n    \
         let (n, seed) = (number() as usize, number());\n    \
         let found = deburr_tests::matchers::faults::search(SETS[n], SETS[0], seed);\n    \
         std::process::exit(found.into());\n}}",
        modules.len(),
        sets.join(", ")
    );
    let file = here.join("main.rs");
    std::fs::write(&file, main).map_err(|e| format!("{}: {e}", file.display()))?;
    let program = here.join("matchers");
    library.compile(&file, &program)?;
    Ok(program)
}

/// The rules that faults are looked for on, for the program of generators.
///
/// # Panics
/// If they are wrong.
pub fn rules_or_exit() -> model::RuleSet {
    match rules() {
        Ok(set) => set,
        Err(why) => panic!("{why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_right() {
        assert_eq!(rules().map(|_| ()), Ok(()));
    }

    /// An edit of the generator that a fault no longer fits is told at once, and not by the line that plants them all.
    #[test]
    fn every_fault_has_its_place() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rulegen/src/rules/emit");
        for fault in &FAULTS[1..] {
            let path = folder.join(fault.file);
            let text = std::fs::read_to_string(&path).expect("the generator can be read");
            let times = text.matches(fault.from).count();
            assert_eq!(times, 1, "{}: `{}` in {}", fault.name, fault.from, fault.file);
        }
    }
}
