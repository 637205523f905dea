//! A 10: mutated modules, IR texts, tables and rules each end in a diagnostic or in something that validates.
//!
//! Modules and texts go through the command in batches, under 1 GiB and a time limit; a batch that crashes is run again
//! one by one. Tables and rules go through the library in-process: a panic ends the line.

use super::corpus::{Deburr, Item, Said, has_tool, modules, start_within, words};
use super::{Args, Outcome, Verdict};
use deburr_algebraic::Target;
use deburr_fuzz::Rng;
use deburr_ir_core::{Module, ValidationError, parse, validate};
use deburr_passes::{DEFAULT, Options, Pipeline};
use deburr_rulegen::rules::Texts;
use deburr_rulegen::tables::{TableFile, Tables};
use deburr_ruleset::{OPCODES, SOURCES};
use deburr_spirv::{ReadOptions, WriteOptions, read, write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Counts at full size.
const MODULES: u64 = 10_000;
const TEXTS: u64 = 10_000;
const TABLES: u64 = 1_000;
const RULES: u64 = 1_000;
/// Inputs a process.
const BATCH: u64 = 50;
/// Seconds a process may take on one batch, and on one input.
const BATCH_SECONDS: u64 = 10;
const INPUT_SECONDS: u64 = 10;
/// Words of the largest module that is mutated.
const MOST_WORDS: usize = 4_000;
/// Shares of mutants that get past the header and type section, and that are accepted, at least.
const PAST_HEADER: f64 = 0.4;
const ACCEPTED: f64 = 0.1;

/// What became of the mutants of a kind.
#[derive(Default)]
struct Tally {
    all: u64,
    past_header: u64,
    accepted: u64,
    validated: u64,
    wrong: Vec<String>,
}

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = "10⁴ modules, 10⁴ texts, 10³ tables and rules: no crash, no limit hit, no pass that breaks a module; ≥ 40 % \
                  of the modules past the header and types, ≥ 10 % accepted, and those valid after optimisation"
        .to_owned();
    let prepared = Deburr::new(args).and_then(|deburr| {
        let sources =
            ["grilly", "taichi", "vello_shaders", "rend3-routine", "spirv-cross-sys", "examples"];
        Ok((modules(args, &deburr, &sources)?, deburr))
    });
    let (items, deburr) = match prepared {
        Ok((items, deburr)) if !items.is_empty() => (items, deburr),
        Ok(_) => return skipped(target, "no modules".into()),
        Err(why) => return skipped(target, why),
    };
    let modules = mutated_modules(args, &deburr, &items);
    let texts = mutated_texts(args, &deburr, &items);
    let (tables, table_errors) = mutated_tables(args);
    let (rules, rule_errors) = match mutated_rules(args) {
        Ok(counts) => counts,
        Err(why) => return skipped(target, why),
    };
    let share = |part: u64, tally: &Tally| part as f64 / tally.all.max(1) as f64;
    let (past, accepted) =
        (share(modules.past_header, &modules), share(modules.accepted, &modules));
    let met = past >= PAST_HEADER
        && accepted >= ACCEPTED
        && share(texts.accepted, &texts) >= ACCEPTED
        && modules.wrong.is_empty()
        && texts.wrong.is_empty();
    let figure = format!(
        "{} modules: {:.1} % past header and types, {:.1} % accepted, {} of them valid SPIR-V and checked, {} wrong; {} \
         texts: {:.1} % accepted, {} wrong; {tables} tables, {table_errors} refused; {rules} rule files, {rule_errors} \
         refused; no panic",
        modules.all,
        past * 100.0,
        accepted * 100.0,
        modules.validated,
        modules.wrong.len(),
        texts.all,
        share(texts.accepted, &texts) * 100.0,
        texts.wrong.len(),
    );
    let list = modules.wrong.into_iter().chain(texts.wrong).collect();
    Outcome { figure, target, verdict: Verdict::of(met), list }
}

fn skipped(target: String, why: String) -> Outcome {
    Outcome::skipped(target, Vec::new(), why)
}

/// Runs `deburr opt` on files under 1 GiB.
fn optimise(deburr: &Deburr, files: &[PathBuf], out: &Path, seconds: u64) -> Result<Said, String> {
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\""])
        .arg(&deburr.path)
        .args(["-q", "opt"])
        .args(files);
    command.arg("-o").arg(out);
    start_within(&mut command, &[], seconds)
}

/// The last words on an input that no input may have.
fn is_wrong(said: &Said) -> bool {
    said.crashed() || said.err.contains("[E0040]")
}

/// Runs a batch, and one by one if something is wrong in it.
fn batch(deburr: &Deburr, files: &[PathBuf], out: &Path, tally: &mut Tally) {
    let _ = std::fs::remove_dir_all(out);
    if let Err(e) = std::fs::create_dir_all(out) {
        tally.wrong.push(e.to_string());
        return;
    }
    match optimise(deburr, files, out, BATCH_SECONDS) {
        Ok(said) if !is_wrong(&said) => return,
        Ok(_) => {}
        Err(why) => tally.wrong.push(why),
    }
    for file in files {
        match optimise(deburr, std::slice::from_ref(file), &out.join("one.spv"), INPUT_SECONDS) {
            Ok(said) if !is_wrong(&said) => {}
            Ok(said) => {
                // The input is kept beside the batches: the next run overwrites only its own names.
                let kept = out
                    .join("..")
                    .join(file.file_name().unwrap_or_default())
                    .with_extension("kept");
                let _ = std::fs::copy(file, &kept);
                tally.wrong.push(format!("{}: {}", kept.display(), said.message()));
            }
            Err(why) => tally.wrong.push(why),
        }
    }
}

fn mutated_modules(args: &Args, deburr: &Deburr, items: &[Item]) -> Tally {
    let mut rng = Rng::new(args.seed);
    let bases: Vec<Vec<u32>> = items
        .iter()
        .map(|item| words(&item.path))
        .filter(|w| w.len() > 20 && w.len() < MOST_WORDS)
        .collect();
    let mut tally = Tally::default();
    let validates = has_tool("spirv-val");
    let count = args.count(MODULES);
    while tally.all < count && !bases.is_empty() {
        let mut files = Vec::new();
        for n in 0..BATCH.min(count - tally.all) {
            let mut words = rng.pick(&bases).clone();
            let functions = first_function(&words);
            for _ in 0..=rng.below(3) {
                mutate_words(&mut rng, &mut words);
            }
            let path = deburr.file("a_10/in", &format!("{}.spv", tally.all + n));
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            if let Err(e) = std::fs::write(&path, bytes) {
                tally.wrong.push(e.to_string());
            }
            files.push((path, words, functions));
        }
        let paths: Vec<PathBuf> = files.iter().map(|(path, ..)| path.clone()).collect();
        let out = deburr.file("a_10", "out");
        batch(deburr, &paths, &out, &mut tally);
        for (path, words, functions) in &files {
            tally.all += 1;
            let result = out.join(path.file_name().unwrap_or_default());
            if result.exists() {
                tally.accepted += 1;
                tally.past_header += 1;
                let passes = |path: &Path| {
                    let mut command = Command::new("spirv-val");
                    let said = start_within(
                        command.args(["--target-env", "spv1.6"]).arg(path),
                        &[],
                        INPUT_SECONDS,
                    );
                    said.is_ok_and(|said| said.code() == Some(0))
                };
                if validates && passes(path) {
                    tally.validated += 1;
                    if !passes(&result) {
                        let kept = out.join("..").join(path.file_name().unwrap_or_default());
                        let _ = std::fs::copy(path, &kept);
                        tally
                            .wrong
                            .push(format!("{}: valid, and not after optimisation", kept.display()));
                    }
                }
            }
            match read(words, &ReadOptions::default()) {
                Ok(module) => {
                    // Those that only the writer refused got past the header as well.
                    tally.past_header += u64::from(!result.exists());
                    if let Err(why) = in_process(module) {
                        tally.wrong.push(format!("{}: in-process: {why}", path.display()));
                    }
                }
                Err(error) if result.exists() => tally.wrong.push(format!(
                    "{}: the library refuses what the command takes: {error}",
                    path.display()
                )),
                Err(error) => {
                    tally.past_header +=
                        u64::from(error.word.is_some_and(|word| word >= *functions));
                }
            }
        }
    }
    tally
}

/// What the command does, by the library and in this process: a panic ends the line. A module that is read validates,
/// and so does what every pass makes of it; the writer may refuse it.
fn in_process(mut module: Module) -> Result<(), String> {
    let first =
        |errors: Vec<ValidationError>| errors.first().map_or(String::new(), |e| e.to_string());
    validate(&module).map_err(|errors| format!("as read: {}", first(errors)))?;
    let pipeline = Pipeline::parse(DEFAULT).map_err(|e| e.to_string())?;
    let mut options = Options::default();
    options.validate = true;
    let target = Target::spirv_of(&module);
    pipeline
        .run(&mut module, deburr_ruleset::rules(), &target, &options)
        .map_err(|e| e.to_string())?;
    drop(write(&module, &WriteOptions::default()));
    Ok(())
}

/// Where the first function begins.
fn first_function(words: &[u32]) -> usize {
    let mut at = 5;
    while at < words.len() && words[at] & 0xffff != 54 {
        at += (words[at] >> 16).max(1) as usize;
    }
    at
}

/// Where the instructions of a module begin.
fn starts(words: &[u32]) -> Vec<usize> {
    let (mut at, mut starts) = (5, Vec::new());
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if length == 0 || at + length > words.len() {
            break;
        }
        starts.push(at);
        at += length;
    }
    starts
}

/// One change: of a word anywhere, of an operand, of whole instructions.
fn mutate_words(rng: &mut Rng, words: &mut Vec<u32>) {
    let all = starts(words);
    if all.is_empty() {
        return;
    }
    let functions = first_function(words);
    let body: Vec<usize> = all.iter().copied().filter(|at| *at > functions).collect();
    // Mostly in the functions: declarations are a small part of what can go wrong.
    let at = if body.is_empty() || rng.one_in(6) { *rng.pick(&all) } else { *rng.pick(&body) };
    let length = (words[at] >> 16) as usize;
    let bound = words[3].max(2) as usize;
    match rng.below(10) {
        // A constant's value, or a decoration's.
        0..=2 => {
            let literals: Vec<usize> = all
                .iter()
                .copied()
                .filter(|at| words[*at] & 0xffff == 43 && words[*at] >> 16 == 4)
                .collect();
            if !literals.is_empty() {
                let at = *rng.pick(&literals);
                words[at + 3] = rng.edge(32) as u32;
            }
        }
        // Operands changed, or exchanged.
        3 if length > 1 => words[at + 1 + rng.below(length - 1)] = rng.below(bound) as u32,
        4 if length > 4 => words.swap(at + length - 1, at + length - 2),
        5 if length > 1 => words[at + 1 + rng.below(length - 1)] ^= 1 << rng.below(32),
        // An opcode of the same length.
        6 => {
            let others: Vec<u32> =
                body.iter().map(|at| words[*at]).filter(|w| *w >> 16 == words[at] >> 16).collect();
            if !others.is_empty() {
                words[at] = *rng.pick(&others);
            }
        }
        // An instruction twice, or not at all.
        7 => {
            let copy = words[at..at + length].to_vec();
            words.splice(at..at, copy);
        }
        8 => drop(words.drain(at..at + length)),
        _ if rng.one_in(3) => words.truncate(at + rng.below(length)),
        _ => {
            let at = rng.below(words.len());
            words[at] = rng.bits() as u32;
        }
    }
}

fn mutated_texts(args: &Args, deburr: &Deburr, items: &[Item]) -> Tally {
    let mut rng = Rng::new(args.seed ^ 0x7e87);
    let mut bases = Vec::new();
    for item in items.iter().filter(|item| item.source == "examples").take(12) {
        if let Ok(module) = read(&words(&item.path), &ReadOptions::default()) {
            bases.push(module.to_string());
        }
    }
    bases.extend((0..40).map(|n| {
        deburr_fuzz::program(args.seed + n, &deburr_fuzz::Options::default()).to_string()
    }));
    let mut tally = Tally::default();
    let count = args.count(TEXTS);
    while tally.all < count {
        let (mut paths, mut texts) = (Vec::new(), Vec::new());
        for n in 0..BATCH.min(count - tally.all) {
            let mut text = rng.pick(&bases).clone();
            for _ in 0..=rng.below(2) {
                text = mutate_text(&mut rng, &text);
            }
            let path = deburr.file("a_10/in", &format!("{}.nir", tally.all + n));
            if let Err(e) = std::fs::write(&path, &text) {
                tally.wrong.push(e.to_string());
            }
            paths.push(path);
            texts.push(text);
        }
        let out = deburr.file("a_10", "out");
        batch(deburr, &paths, &out, &mut tally);
        for (path, text) in paths.iter().zip(&texts) {
            tally.all += 1;
            // What SPIR-V has no form for is refused by the writer only: accepted is what validates.
            let accepted = parse(text).ok().filter(|module| validate(module).is_ok());
            if let Some(module) = accepted {
                tally.accepted += 1;
                if let Err(why) = in_process(module) {
                    tally.wrong.push(format!("{}: in-process: {why}", path.display()));
                }
            }
        }
    }
    tally
}

/// One change of a text: a character, a word of another line, a number, a whole line.
fn mutate_text(rng: &mut Rng, text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return String::new();
    }
    let at = rng.below(lines.len());
    let other = lines[rng.below(lines.len())].clone();
    let line = lines[at].clone();
    let words: Vec<&str> = line.split(' ').collect();
    match rng.below(12) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, other),
        2 => {
            let n = rng.below(words.len());
            let from: Vec<&str> = other.split(' ').collect();
            let mut words = words;
            words[n] = from[rng.below(from.len())];
            lines[at] = words.join(" ");
        }
        // Another value label.
        3 | 4 => {
            if let Some((head, tail)) = line.rsplit_once('%') {
                let rest = tail.trim_start_matches(|c: char| c.is_ascii_digit());
                lines[at] = format!("{head}%{}{rest}", rng.below(40));
            }
        }
        // Another constant.
        5 | 8 => {
            let constants: Vec<usize> =
                (0..lines.len()).filter(|n| lines[*n].contains("load_const (0x")).collect();
            if !constants.is_empty() {
                let at = *rng.pick(&constants);
                let (head, tail) = lines[at].split_once("0x").unwrap_or_default();
                let rest = tail.trim_start_matches(|c: char| c.is_ascii_hexdigit());
                let width = rng.pick(&[1u8, 8, 32]);
                lines[at] = format!("{head}{:#x}{rest}", rng.edge(*width));
            }
        }
        // Operands exchanged.
        9 => {
            if let Some((head, last)) = line.rsplit_once(", ")
                && let Some((start, middle)) = head.rsplit_once(' ')
            {
                lines[at] = format!("{start} {last}, {middle}");
            }
        }
        // Another opcode.
        10 | 11 => {
            let ops =
                ["iadd", "isub", "fadd", "fmul", "iand", "ior", "ishl", "udiv", "fmin", "ieq"];
            let known: Vec<usize> = (0..lines.len())
                .filter(|n| ops.iter().any(|op| lines[*n].contains(&format!("= {op} "))))
                .collect();
            if !known.is_empty() {
                let at = *rng.pick(&known);
                let (head, tail) = lines[at].split_once("= ").unwrap_or_default();
                let rest = tail.split_once(' ').map_or("", |(_, rest)| rest);
                lines[at] = format!("{head}= {} {rest}", *rng.pick(&ops));
            }
        }
        6 => {
            let chars: Vec<char> = line.chars().collect();
            let cut = rng.below(chars.len() + 1);
            lines[at] =
                chars.iter().enumerate().filter(|(n, _)| *n != cut).map(|(_, c)| c).collect();
        }
        _ => {
            let pieces =
                ["(", ")", "{", "}", "%", "&", ",", ".x", "64", "b0", "-1", "\"", "é", "phi", "="];
            let boundary: Vec<usize> =
                line.char_indices().map(|(n, _)| n).chain([line.len()]).collect();
            lines[at].insert_str(*rng.pick(&boundary), pieces[rng.below(pieces.len())]);
        }
    }
    lines.join("\n") + "\n"
}

/// Parses mutated excerpts of the opcode table: how many, and how many were refused.
fn mutated_tables(args: &Args) -> (u64, u64) {
    let mut rng = Rng::new(args.seed ^ 0x7ab1e);
    let entries: Vec<&str> = OPCODES.split("\n[[op]]").collect();
    let (count, mut refused) = (args.count(TABLES), 0);
    for _ in 0..count {
        let mut text = entries[0].to_owned();
        for _ in 0..4 {
            text.push_str("\n[[op]]");
            text.push_str(entries[1 + rng.below(entries.len() - 1)]);
        }
        for _ in 0..=rng.below(2) {
            text = mutate_text(&mut rng, &text);
        }
        let tables = Tables::parse(&[TableFile::new("opcodes.toml", text)]);
        refused += u64::from(tables.is_err_and(|diagnostics| !diagnostics.is_empty()));
    }
    (count, refused)
}

/// Compiles mutated rule files: how many, and how many were refused.
fn mutated_rules(args: &Args) -> Result<(u64, u64), String> {
    let mut rng = Rng::new(args.seed ^ 0x701e5);
    let texts = Texts { opcodes: OPCODES, intrinsics: "", rules: SOURCES };
    let book = texts.load().map_err(|_| "the rule files are not there")?;
    let (count, mut refused) = (args.count(RULES), 0);
    for _ in 0..count {
        let (name, text) = rng.pick(&book.files);
        let mut text = text.to_string();
        for _ in 0..=rng.below(2) {
            text = mutate_text(&mut rng, &text);
        }
        refused += u64::from(book.rules_of(name, &text).is_err_and(|list| !list.is_empty()));
    }
    Ok((count, refused))
}
