//! A 8: build times, the cost of the IR's dependencies, bytes an instruction.
//!
//! At full size builds are measured in a clone under `target/accept_a_8`; at reduced size only the bytes are.

use super::clone::{cargo, fresh_clone};
use super::corpus::{Deburr, SOURCES, modules, words};
use super::{Args, Outcome, Verdict};
use deburr_fuzz::{Options, program};
use deburr_ir_core::{Function, Module};
use deburr_spirv::{ReadOptions, read};
use std::path::{Path, PathBuf};

/// Bytes an instruction, at most.
const MAX_BYTES: f64 = 96.0;
/// Seconds of a release build without naga, from a rule's edit to a linked command, and CPU seconds of `ir-core`'s
/// dependencies, at most.
const MAX_SECONDS: [f64; 3] = [120.0, 15.0, 5.0];

/// Runs the line.
pub fn run(args: &Args) -> Outcome {
    let mut list = Vec::new();
    let [build, edit, dependencies] = MAX_SECONDS;
    let target = format!(
        "<= {MAX_BYTES} bytes an instruction; <= {build} s, {edit} s, {dependencies} CPU-seconds on two cores"
    );
    let bytes = match bytes(args, &mut list) {
        Ok(bytes) => bytes,
        Err(why) => return Outcome::skipped(target, list, why),
    };
    let mut met = bytes <= MAX_BYTES;
    let mut figure = format!("{bytes:.1} bytes an instruction");
    if args.cases >= 1.0 {
        match builds(&mut list) {
            Ok(seconds) => {
                met &= seconds.iter().zip(MAX_SECONDS).all(|(s, max)| *s <= max);
                figure += &format!(
                    ", release build without naga {:.0} s, rule edit to linked command {:.1} s, \
                     ir-core's dependencies {:.1} CPU-seconds",
                    seconds[0], seconds[1], seconds[2]
                );
            }
            Err(why) => {
                met = false;
                figure += &format!(", {why}");
            }
        }
    } else {
        list.push("builds are measured when the line is run by name".into());
    }
    Outcome { figure, target, verdict: Verdict::of(met), list }
}

/// Bytes an instruction over the corpora, the examples and some random programs, all as they are read.
fn bytes(args: &Args, list: &mut Vec<String>) -> Result<f64, String> {
    let deburr = Deburr::new(args)?;
    let mut names: Vec<&str> = SOURCES.iter().map(|(name, _)| *name).collect();
    names.push("examples");
    let mut total = Size::default();
    let mut sources: Vec<(String, Size)> = Vec::new();
    for item in modules(args, &deburr, &names)? {
        // What can't be read is counted by line 2.
        let Ok(module) = read(&words(&item.path), &ReadOptions::default()) else { continue };
        let size = size(&module);
        total.add(size);
        match sources.last_mut().filter(|(source, _)| *source == item.source) {
            Some((_, sum)) => sum.add(size),
            None => sources.push((item.source, size)),
        }
    }
    let mut random = Size::default();
    for n in 0..args.count(1000) {
        let mut module = program(args.seed.wrapping_add(n), &Options::default());
        module.functions.iter_mut().for_each(Function::shrink_to_fit);
        random.add(size(&module));
    }
    sources.push(("random programs".into(), random));
    total.add(random);
    for (source, size) in sources {
        list.push(format!(
            "{source}: {} modules, {} instructions, {:.1} bytes each",
            size.modules,
            size.instrs,
            size.each()
        ));
    }
    Ok(total.each())
}

/// Bytes and instructions of some modules.
#[derive(Clone, Copy, Default)]
struct Size {
    modules: usize,
    bytes: usize,
    instrs: usize,
}

impl Size {
    fn add(&mut self, other: Size) {
        self.modules += other.modules;
        self.bytes += other.bytes;
        self.instrs += other.instrs;
    }

    fn each(self) -> f64 {
        self.bytes as f64 / self.instrs.max(1) as f64
    }
}

/// Bytes of the functions' arenas, and instructions in them.
fn size(module: &Module) -> Size {
    let mut size = Size { modules: 1, ..Size::default() };
    for f in module.functions.iter().filter(|f| f.has_body()) {
        size.bytes += f.arena_bytes();
        size.instrs += f.all_instrs().count();
    }
    size
}

/// Seconds of a release build without naga, of a rule's edit, and CPU seconds of dependencies.
fn builds(list: &mut Vec<String>) -> Result<[f64; 3], String> {
    let folder = fresh_clone("accept_a_8")?;
    let clean = |folder: &Path| std::fs::remove_dir_all(folder.join("target")).ok();
    let mut measure = |what: &str, args: &[&str]| -> Result<(f64, f64), String> {
        let run = cargo(&folder, args)?;
        let cpu = run.cpu.unwrap_or(0.0);
        list.push(format!("{what}: {:.1} s, {cpu:.1} CPU-seconds", run.seconds));
        Ok((run.seconds, cpu))
    };
    let without = ["build", "--release", "-p", "deburr", "--no-default-features"];
    let (build, _) = measure("clean release build without naga", &without)?;
    let (path, text) = edit_a_rule(&folder)?;
    let (edit, _) = measure("rule edit to linked release command", &without)?;
    std::fs::write(path, text).map_err(|e| e.to_string())?;
    clean(&folder);
    let tree =
        cargo(&folder, &["tree", "-p", "deburr-ir-core", "-e", "normal", "--prefix", "none"])?;
    let mut names: Vec<String> = tree
        .stdout
        .lines()
        .filter(|l| !l.contains("deburr-"))
        .filter_map(|l| {
            // `name v1.2.3`: a name alone may be that of two versions.
            let mut words = l.split_whitespace();
            Some(format!("{}@{}", words.next()?, words.next()?.trim_start_matches('v')))
        })
        .collect();
    names.sort();
    names.dedup();
    let mut args = vec!["build", "--release"];
    args.extend(names.iter().flat_map(|name| ["-p", name]));
    let (_, dependencies) =
        measure(&format!("run-time dependencies of ir-core ({})", names.join(", ")), &args)?;
    clean(&folder);
    measure("clean release build", &["build", "--release"])?;
    measure("clean build of the tests", &["test", "--no-run"])?;
    measure("tests, run", &["test"])?;
    Ok([build, edit, dependencies])
}

/// Adds a rule rooted at fmul to the first file that has one: the file, and the text that it had.
pub(super) fn edit_a_rule(folder: &Path) -> Result<(PathBuf, String), String> {
    let mut files: Vec<_> = std::fs::read_dir(folder.join("rules"))
        .map_err(|e| e.to_string())?
        .flatten()
        .map(|e| e.path())
        .collect();
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if path.extension().is_some_and(|e| e == "rules") && text.contains(": fmul(") {
            let rule =
                "\nrule accept_probe: fmul(bcsel(c, 3.0625, 1.0), 2.0) => bcsel(c, 6.125, 2.0);\n";
            std::fs::write(&path, format!("{text}{rule}")).map_err(|e| e.to_string())?;
            return Ok((path, text));
        }
    }
    Err("no rule is rooted at fmul".into())
}
