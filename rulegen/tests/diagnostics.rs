//! What is said of wrong rules, word by word and with its place: one case for everything that can be wrong.
//!
//! `tests/diagnostics/*.txt` hold cases: `==== NAME`, a text, `----`, what is said of it. A name may begin with `facts:` or
//! `groups:`, which says what the text is, or with `shipped:` for rules that are to be built in; otherwise it is rules, behind a line `rules 1` unless it begins with one.
//! `BLESS=1` writes what is said. Where the help is a change of the text, the change is made, and what comes out must
//! be accepted, or have fewer faults where others have no such help.

use deburr_rulegen::diagnostics::{Diagnostic, Span};
use deburr_rulegen::rules::{self, Library, Ops, Tree, codes::CODES};
use deburr_rulegen::tables::{TableFile, Tables};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Distinct messages, at least.
const MESSAGES: usize = 40;

fn read(path: &str) -> String {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The opcodes of the tree.
fn ops() -> Ops {
    let tables = ["opcodes.toml", "intrinsics.toml"];
    let files = tables.map(|name| TableFile::new(name, read(&format!("../{name}"))));
    Ops::from_tables(&Tables::parse(&files).unwrap())
}

/// A library of its own, so that cases say whole what they rest on.
const FACTS: &str = "rules 1

/// Exactly one bit is set.
fact is_pow2(c: uint) = c != 0 && (c & (c - 1)) == 0;
/// Less than a bound.
fact ult(a: uint, k: uint) on values = a < k;
/// Not a NaN.
fact not_nan(a: float) on values = !is_nan(a);
/// Ones at the bottom.
fn low_bits(n: u32) -> uint = (1 << n) - 1;
";
const GROUPS: &str = "rules 1

group opt;
group late;
option lower_bitops;
option has_fma;
file t;
";

/// What is said of a text of some kind, and the text as diagnostics know it.
fn diagnose(ops: &Ops, kind: &str, text: &str) -> (String, Vec<Diagnostic>) {
    let text = match text.starts_with("rules")
        || text.starts_with("//")
        || !matches!(kind, "rules" | "shipped")
    {
        true => text.to_string(),
        false => format!("rules 1\n{text}"),
    };
    let mut diags = Vec::new();
    let facts = if kind == "facts" { text.as_str() } else { FACTS };
    let groups = if kind == "groups" { text.as_str() } else { GROUPS };
    let names: [Arc<str>; 3] = ["facts.rules".into(), "groups.rules".into(), "t.rules".into()];
    if kind == "shipped" {
        let named = |name: &Arc<str>, text: &str| (name.clone(), Arc::from(text));
        let (facts, groups) = (named(&names[0], facts), named(&names[1], groups));
        let tree = Tree { ops: ops.clone(), facts, groups };
        let (result, _) = tree.compile("", |_| Ok(text.clone()));
        return (text, result.err().unwrap_or_default());
    }
    let library = Library::new(ops.clone(), (&names[0], facts), (&names[1], groups), &mut diags);
    if kind == "rules" {
        assert_eq!(diags, []);
        let file = (names[2].clone(), Arc::from(text.as_str()));
        diags.extend(rules::compile(&library, &[file]).err().into_iter().flatten());
    }
    (text, diags)
}

/// The text with every change that help speaks of.
fn fixed(text: &str, diags: &[Diagnostic]) -> String {
    let mut fixes: Vec<&(Span, String)> = diags.iter().filter_map(|d| d.fix.as_ref()).collect();
    fixes.sort_by_key(|f| std::cmp::Reverse(f.0));
    fixes.dedup();
    let mut out = text.to_string();
    for (span, with) in fixes {
        out.replace_range(span.range(), with);
    }
    out
}

struct Case {
    name: String,
    text: String,
    expected: String,
}

fn cases(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut out = Vec::new();
    for part in text.split("==== ").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap();
        let (text, expected) = rest.split_once("----\n").unwrap_or((rest, ""));
        out.push(Case {
            name: name.trim().into(),
            text: text.into(),
            expected: expected.trim_end().into(),
        });
    }
    out
}

fn files() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diagnostics");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

/// A message without the names in it.
fn shape(message: &str) -> String {
    let mut out = String::new();
    for (n, part) in message.split('`').enumerate() {
        out.push_str(if n % 2 == 0 { part } else { "``" });
    }
    out.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[test]
fn wrong_rules_are_told_of_as_expected() {
    let ops = ops();
    let bless = std::env::var_os("BLESS").is_some();
    let (mut failures, mut messages, mut seen) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for path in files() {
        let mut out = String::new();
        for case in cases(&path) {
            let kind = case.name.split_once(':').map_or("rules", |(kind, _)| kind);
            let (text, diags) = diagnose(&ops, kind, &case.text);
            let said: String =
                diags.iter().map(|d| d.to_plain(|f| source(kind, f, &text))).collect();
            if said.trim_end() != case.expected && !bless {
                failures.push(format!("{}: expected\n{}\nsaid\n{said}", case.name, case.expected));
            }
            if diags.is_empty() {
                failures.push(format!("{}: nothing is said", case.name));
            }
            out += &format!("==== {}\n{}----\n{said}\n", case.name, case.text);
            for d in &diags {
                messages.insert((d.code, shape(&d.message)));
                seen.insert(d.code);
            }
            let fixable = diags.iter().filter(|d| d.fix.is_some()).count();
            if fixable > 0 {
                let better = fixed(&text, &diags);
                let (_, rest) = diagnose(&ops, kind, &better);
                if rest.len() > diags.len() - fixable {
                    let rest: String =
                        rest.iter().map(|d| d.to_plain(|f| source(kind, f, &better))).collect();
                    failures.push(format!("{}: the help gives\n{better}\n{rest}", case.name));
                }
            }
        }
        if bless {
            std::fs::write(&path, out.trim_end().to_string() + "\n").unwrap();
        }
    }
    for code in CODES.iter().map(|info| info.code).filter(|code| !seen.contains(code)) {
        failures.push(format!("{code} has no case in tests/diagnostics"));
    }
    if messages.len() < MESSAGES {
        failures.push(format!("{} distinct messages", messages.len()));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// E0378 leaves alone what is for other targets already, what SPIR-V has at some size, and single rules.
#[test]
fn rules_for_back_ends_say_so() {
    let right = "
        rule option: fadd(fmul(a, b), c) => ffma(a, b, c) with contract when target.has_fma;
        rule matched: fsat(fmul(b, fsat(a))) => fmul(b, fsat(a)) canonical \"a test\";
        rule other: fneg(frcp(a)) => frcp(fneg(a)) group late canonical \"a test\";
        rule some_size: fmul(a, 0.5) => fatan(a) canonical \"a test\";
        rule either: uhadd(a, a) => urol(a, 1) if is_const(a), iadd(a, 0) otherwise;
        rule said: ineg(inot(a)) => urol(a, 1) allow E0378 \"back ends that rotate\";
    ";
    assert_eq!(diagnose(&ops(), "rules", right).1, []);
    let library = Library::new(
        ops(),
        (&"facts.rules".into(), FACTS),
        (&"groups.rules".into(), GROUPS),
        &mut Vec::new(),
    );
    let bare = "fadd(fmul(a, b), c) => ffma(a, b, c) with contract";
    assert!(rules::compile_bare(&library, &"RULE".into(), bare).is_ok());
}

/// The text of a file that diagnostics speak of.
fn source<'a>(kind: &str, file: &str, text: &'a str) -> Option<&'a str> {
    match (kind, file) {
        ("facts", "facts.rules")
        | ("groups", "groups.rules")
        | ("rules" | "shipped", "t.rules") => Some(text),
        (_, "facts.rules") => Some(FACTS),
        (_, "groups.rules") => Some(GROUPS),
        _ => None,
    }
}
