//! B 2: rule files with a token deleted, doubled or exchanged with the next, or with the next of its kind, give a
//! diagnostic in the file, or rules whose code is right.
//!
//! Every token of every rule, loop, fact and group is a place for four mutants; at less than full size some of them are
//! taken. A mutant of a rule is compiled with the rule behind it, one of the library with the whole tree. Code of what is
//! accepted is parsed; at full size a crate of some of it is type-checked. A panic ends the line.

use super::{Args, Outcome, Verdict};
use deburr_fuzz::Rng;
use deburr_rulegen::diagnostics::Diagnostic;
use deburr_rulegen::rules::{Book, RuleSet, Texts, emit};
use deburr_ruleset::{INTRINSICS, OPCODES, SOURCES};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Mutants at least, at full size.
const MUTANTS: usize = 2_000;
/// Mutants of rules that are taken at full size, and of the library.
const OF_RULES: u64 = 12_000;
const OF_LIBRARY: u64 = 600;
/// Accepted mutants whose code is type-checked at full size, and the size from which any are.
const CHECKED: u64 = 400;
const CHECKED_FROM: f64 = 0.5;

#[derive(Default)]
struct Tally {
    refused: usize,
    accepted: usize,
    /// Code of accepted mutants, for the compiler.
    code: Vec<String>,
    wrong: Vec<String>,
}

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = format!(
        "≥ {MUTANTS} mutants at full size: each a diagnostic within its file or code that compiles, no panic"
    );
    let texts = Texts { opcodes: OPCODES, intrinsics: INTRINSICS, rules: SOURCES };
    let book = match texts.load() {
        Ok(book) => book,
        Err(list) => {
            let why = list.first().map_or(String::new(), |d| d.message.clone());
            let why = format!("the rules of the tree are wrong: {why}");
            return Outcome::skipped(target, Vec::new(), why);
        }
    };
    let mut rng = Rng::new(args.seed ^ 0xb2);
    let mut tally = Tally::default();
    of_rules(args, &book, &mut rng, &mut tally);
    of_library(args, &mut rng, &mut tally);
    let mut checked = String::from("none type-checked");
    if args.cases >= CHECKED_FROM {
        let sample = sample(&mut rng, std::mem::take(&mut tally.code), args.count(CHECKED));
        match type_check(&sample) {
            Ok(()) => checked = format!("{} type-checked", sample.len()),
            Err(why) => tally.wrong.push(why),
        }
    }
    let all = tally.refused + tally.accepted;
    let enough = args.cases < 1.0 || all >= MUTANTS;
    let figure = format!(
        "{all} mutants: {} refused with a diagnostic, {} accepted and their code parsed, {checked}, {} wrong; no panic",
        tally.refused,
        tally.accepted,
        tally.wrong.len()
    );
    let verdict = Verdict::of(enough && tally.accepted > 0 && tally.wrong.is_empty());
    Outcome { figure, target, verdict, list: tally.wrong }
}

/// Mutants of the rule files, an item at a time.
fn of_rules(args: &Args, book: &Book, rng: &mut Rng, tally: &mut Tally) {
    let mut places = Vec::new();
    let files: Vec<Vec<&str>> = book.files.iter().map(|(_, text)| items(text)).collect();
    for (file, list) in files.iter().enumerate() {
        for (item, text) in list.iter().enumerate() {
            let count = tokens(text).len();
            places.extend((0..count).flat_map(|t| (0..4).map(move |how| (file, item, t, how))));
        }
    }
    for (file, item, token, how) in sample(rng, places, args.count(OF_RULES)) {
        let list = &files[file];
        let next = list.get(item + 1).copied().unwrap_or("");
        let text = format!("rules 1\n{}\n{next}", mutate(list[item], token, how));
        let name = &*book.files[file].0;
        judge(name, &text, book.rules_of(name, &text), tally);
    }
}

/// Mutants of the facts and of the list of groups, under all rules.
fn of_library(args: &Args, rng: &mut Rng, tally: &mut Tally) {
    let mut places = Vec::new();
    for (file, (name, text)) in SOURCES.iter().enumerate() {
        if name.ends_with("facts.rules") || name.ends_with("groups.rules") {
            places.extend((0..tokens(text).len()).flat_map(|t| (0..4).map(move |h| (file, t, h))));
        }
    }
    for (file, token, how) in sample(rng, places, args.count(OF_LIBRARY)) {
        let text = mutate(SOURCES[file].1, token, how);
        let mut rules = SOURCES.to_vec();
        rules[file].1 = &text;
        let texts = Texts { opcodes: OPCODES, intrinsics: INTRINSICS, rules: &rules };
        let result = texts.load().and_then(|book| book.rules());
        judge(SOURCES[file].0, &text, result, tally);
    }
}

/// Looks at what became of a mutant of a file.
fn judge(name: &str, text: &str, result: Result<RuleSet, Vec<Diagnostic>>, tally: &mut Tally) {
    let mut wrong = |what: &str| tally.wrong.push(format!("{name}: {what}\n{text}"));
    match result {
        Err(list) => {
            tally.refused += 1;
            let outside = |d: &&Diagnostic| &*d.file == name && text.get(d.span.range()).is_none();
            if list.is_empty() {
                wrong("refused without a word");
            } else if let Some(d) = list.iter().find(outside) {
                wrong(&format!("`{}` is told at a place outside the file", d.message));
            }
        }
        Ok(set) => {
            let code = emit::emit(&set);
            if let Err(e) = syn::parse_file(&code) {
                wrong(&format!("the code doesn't parse: {e}"));
            }
            tally.accepted += 1;
            tally.code.push(code);
        }
    }
}

/// Some of a list, in its order.
fn sample<T>(rng: &mut Rng, list: Vec<T>, count: u64) -> Vec<T> {
    let (mut left, mut wanted) = (list.len(), count as usize);
    let take = |_: &T| {
        let taken = rng.below(left) < wanted;
        left -= 1;
        wanted -= usize::from(taken);
        taken
    };
    list.into_iter().filter(take).collect()
}

/// The rules and loops of a file. Both end with their line.
pub(super) fn items(text: &str) -> Vec<&str> {
    let (mut out, mut start, mut at, mut depth) = (Vec::new(), 0, 0, 0i32);
    for line in text.split_inclusive('\n') {
        at += line.len();
        let code = line.split("//").next().unwrap_or("").trim_end();
        depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
        if depth == 0 && (code.ends_with(';') || code.ends_with('}')) {
            out.push(&text[start..at]);
            start = at;
        }
    }
    // The first has the header.
    if let Some(first) = out.first_mut() {
        *first = first.strip_prefix("rules 1").unwrap_or(first);
    }
    out
}

/// The tokens of a text, without comments.
pub(super) fn tokens(text: &str) -> Vec<std::ops::Range<usize>> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |n| n + 2),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ if ["=>", "->", "&&", "||", "==", "!=", "<<", ">>", "<=", ">="]
                .iter()
                .any(|m| rest.starts_with(m)) =>
            {
                2
            }
            c => c.len_utf8(),
        };
        if !first.is_whitespace() && !rest.starts_with("//") {
            out.push(at..at + length);
        }
        at += length;
    }
    out
}

/// A text with one token deleted, doubled or exchanged with the next, or the next of its kind.
fn mutate(text: &str, token: usize, how: usize) -> String {
    let tokens = tokens(text);
    let here = tokens[token].clone();
    let word = |r: &std::ops::Range<usize>| {
        text[r.clone()].starts_with(|c: char| c.is_alphanumeric() || c == '_')
    };
    // The last way looks for a word where this is one, and for a mark where it is not.
    let fits = |r: &&std::ops::Range<usize>| how < 3 || word(r) == word(&here);
    let next = tokens[token + 1..].iter().find(fits).cloned().unwrap_or(here.clone());
    let (a, b) = (&text[here.clone()], &text[next.clone()]);
    let (head, tail) = (&text[..here.start], &text[here.end..]);
    match how {
        0 => format!("{head}{tail}"),
        1 => format!("{head}{a} {a}{tail}"),
        _ if next == here => format!("{a} {head}{tail}"),
        _ => format!("{head}{b}{}{a}{}", &text[here.end..next.start], &text[next.end..]),
    }
}

/// The functions of facts, as what calls them sees them.
fn signatures(module: &str) -> String {
    let facts: Vec<&str> = module.lines().filter(|l| l.starts_with("fn fact_")).collect();
    facts.join("\n")
}

/// A module without the functions and modules that an earlier one has word by word, which it takes from there: nearly all
/// that is generated is the same for all. Of what matchers call, `calls` must be the same.
pub(crate) fn shared(
    number: usize,
    module: &str,
    calls: &str,
    seen: &mut HashMap<(String, String), usize>,
) -> String {
    let (mut out, mut lines) = (String::new(), module.split_inclusive('\n'));
    while let Some(line) = lines.next() {
        let starts = ["fn ", "mod ", "static "].iter().filter_map(|word| line.strip_prefix(word));
        let shared = |rest: &&str| !line.starts_with("static ") || rest.starts_with("TRANSFERS");
        let Some(rest) = starts.into_iter().find(shared) else {
            out.push_str(line);
            continue;
        };
        let mut item = line.to_string();
        for line in lines.by_ref() {
            item.push_str(line);
            if matches!(line.trim_end(), "}" | "];") && !line.starts_with(' ') {
                break;
            }
        }
        let name = rest.split(['(', ' ', ':']).next().unwrap_or(rest);
        // Transfer functions call nothing of the module.
        let calls = if name.starts_with("value_") { "" } else { calls };
        match seen.get(&(calls.to_string(), item.clone())) {
            Some(first) => out.push_str(&format!("use super::m{first}::{name};\n")),
            None => {
                out.push_str(&format!("pub(super) {item}"));
                seen.insert((calls.to_string(), item), number);
            }
        }
    }
    out
}

/// Type-checks generated code as one crate.
fn type_check(list: &[String]) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.canonicalize().map_err(|e| e.to_string())?;
    let folder: PathBuf = root.join("target/b_2");
    let mut code = String::from(
        "#![allow(warnings, clippy::all, reason = \"generated\")]\n//! Code of mutated rules.\n",
    );
    let mut seen = HashMap::new();
    for (n, module) in list.iter().enumerate() {
        let _ = writeln!(
            code,
            "mod m{n} {{\n{}\n}}",
            shared(n, module, &signatures(module), &mut seen)
        );
    }
    let manifest = format!(
        "[package]\nname = \"mutants\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         deburr-algebraic = {{ path = {:?} }}\ndeburr-ir-core = {{ path = {:?} }}\n",
        root.join("algebraic"),
        root.join("ir-core")
    );
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text);
    std::fs::create_dir_all(folder.join("src"))
        .and_then(|()| write("Cargo.toml", &manifest))
        .and_then(|()| write("src/lib.rs", &code))
        .and_then(|()| std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")))
        .map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut command = Command::new("cargo");
    command.args(["check", "--quiet", "--offline"]).current_dir(&folder);
    command.env("CARGO_TARGET_DIR", folder.join("target"));
    let output = command.output().map_err(|e| format!("cargo: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let first: Vec<&str> =
                text.lines().skip_while(|l| !l.starts_with("error")).take(20).collect();
            Err(format!("{}: {}", folder.join("src/lib.rs").display(), first.join("\n")))
        }
    }
}
