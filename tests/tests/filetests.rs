//! Runs `tests/filetests/<area>/*.nir`: input and expectation in one file, every case a named test.
//!
//! ```text
//! // test: copy_prop,dce        passes, or `none`
//! // check: exact               exact (the default) | eval | stats | error
//! deburr_ir 1
//! …
//! // ----
//! what is expected
//! ```
//!
//! - `exact`: the text after the passes. It must parse back to the same module, and where the module is a compute shader
//!   that the interpreter runs, it must leave the same buffers before and after.
//! - `eval`: the words of the buffers after a run, which must be the same before and after the passes.
//! - `stats`: how many instructions of each kind are left.
//! - `error`: the diagnostics of the parser or the validator.
//!
//! A line `// deburr-run: …` (see `examples/README.md`) fills the buffers; without one they are those of the random
//! programs: 0.0 read, 0.1 written. Several cases in a file begin with `// ==== name`. `BLESS=1` rewrites expectations.

use deburr_algebraic::Target;
use deburr_eval::{Buffer, BufferResult, Dispatch, run};
use deburr_fuzz::{Verdict, compare};
use deburr_ir_core::{InstrKind, Module, parse, validate};
use deburr_passes::{Options, Pipeline};
use deburr_tests::reference::RunLine;
use libtest_mimic::{Arguments, Failed, Trial};
use similar::TextDiff;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Line between input and expectation.
const RULE: &str = "// ----";
/// Begins a case in a file with several.
const CASE: &str = "// ==== ";

/// One case of a file.
#[derive(Clone, Debug, PartialEq)]
struct Case {
    /// Name after `// ====`; empty if the file is one case.
    name: String,
    /// Directives, comments and input, as they stand.
    input: String,
    /// What follows the rule.
    expected: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Check {
    Exact,
    Eval,
    Stats,
    Error,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let bless = std::env::var_os("BLESS").is_some();
    let mut trials = Vec::new();
    for path in files(&root) {
        let name = path
            .strip_prefix(&root)
            .unwrap_or(&path)
            .with_extension("")
            .to_string_lossy()
            .replace('\\', "/");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let (preamble, mut cases) = split(&text);
        if bless {
            cases.iter_mut().for_each(|case| case.bless());
            let blessed = join(&preamble, &cases);
            if blessed != text
                && let Err(e) = std::fs::write(&path, blessed)
            {
                eprintln!("error: {}: {e}", path.display());
                return ExitCode::FAILURE;
            }
        }
        for case in cases {
            let name =
                if case.name.is_empty() { name.clone() } else { format!("{name}::{}", case.name) };
            trials.push(Trial::test(name, move || case.check().map_err(Failed::from)));
        }
    }
    if trials.is_empty() {
        eprintln!("error: no filetests in {}", root.display());
        return ExitCode::FAILURE;
    }
    trials
        .push(Trial::test("runner::splits_and_joins", || splits_and_joins().map_err(Failed::from)));
    trials.push(Trial::test("runner::notices", || notices().map_err(Failed::from)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Every `.nir` file of the areas, sorted.
fn files(root: &Path) -> Vec<PathBuf> {
    let list = |dir: &Path| -> Vec<PathBuf> {
        let mut paths: Vec<_> = std::fs::read_dir(dir)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        paths.sort();
        paths
    };
    let areas = list(root).into_iter().filter(|path| path.is_dir());
    areas
        .flat_map(|area| list(&area))
        .filter(|path| path.extension().is_some_and(|e| e == "nir"))
        .collect()
}

/// A file's text before its first case, and its cases.
fn split(text: &str) -> (String, Vec<Case>) {
    let mut preamble = String::new();
    let mut cases: Vec<Case> = Vec::new();
    let mut after_rule = false;
    if !text.lines().any(|line| line.starts_with(CASE)) {
        cases.push(Case { name: String::new(), input: String::new(), expected: String::new() });
    }
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(CASE) {
            cases.push(Case {
                name: name.trim().into(),
                input: String::new(),
                expected: String::new(),
            });
            after_rule = false;
            continue;
        }
        let to = match cases.last_mut() {
            None => &mut preamble,
            Some(_) if line == RULE => {
                after_rule = true;
                continue;
            }
            Some(case) if after_rule => &mut case.expected,
            Some(case) => &mut case.input,
        };
        to.push_str(line);
        to.push('\n');
    }
    (preamble, cases)
}

/// The text of a file with these cases.
fn join(preamble: &str, cases: &[Case]) -> String {
    let mut text = preamble.to_owned();
    for (n, case) in cases.iter().enumerate() {
        if !case.name.is_empty() {
            let _ = writeln!(text, "{CASE}{}", case.name);
        }
        let _ = write!(text, "{}{RULE}\n{}", case.input, case.expected.trim_end());
        text.push_str(if n + 1 < cases.len() { "\n\n" } else { "\n" });
    }
    text
}

impl Case {
    fn directive(&self, key: &str) -> Option<&str> {
        let mut lines =
            self.input.lines().filter_map(|line| line.strip_prefix("// ")?.strip_prefix(key));
        lines.next().map(str::trim)
    }

    fn bless(&mut self) {
        if let Ok(actual) = self.actual() {
            self.expected = actual;
        }
    }

    fn check(&self) -> Result<(), String> {
        let actual = self.actual()?;
        if actual.trim() == self.expected.trim() {
            return Ok(());
        }
        let (expected, actual) =
            (self.expected.trim().to_owned() + "\n", actual.trim().to_owned() + "\n");
        let diff = TextDiff::from_lines(&expected, &actual);
        Err(format!("{}", diff.unified_diff().context_radius(4).header("expected", "actual")))
    }

    /// What the case gives; an error is what fails whatever the expectation says.
    fn actual(&self) -> Result<String, String> {
        let passes = self.directive("test:").ok_or("no `// test:` line")?;
        let check = match self.directive("check:").unwrap_or("exact") {
            "exact" => Check::Exact,
            "eval" => Check::Eval,
            "stats" => Check::Stats,
            "error" => Check::Error,
            other => {
                return Err(format!(
                    "`// check: {other}`: exact, eval, stats or error is expected"
                ));
            }
        };
        let before = match parsed(&self.input) {
            Ok(module) if check == Check::Error => return Err(format!("no error:\n{module}")),
            Err(message) if check == Check::Error => return Ok(message),
            module => module?,
        };
        let after = optimised(&before, passes)?;
        match check {
            Check::Exact => {
                let dispatch = self.dispatch(1)?;
                if let Ok(outcome) = run(&before, &dispatch) {
                    let written = |(given, result): (&Buffer, &BufferResult)| {
                        given.bytes != result.buffer.bytes
                    };
                    if !dispatch.buffers.iter().zip(&outcome.buffers).any(written) {
                        return Err("the input writes nothing".into());
                    }
                    same(&before, &after, &dispatch)?;
                }
                printed(&after)
            }
            Check::Eval => {
                for seed in 2..6 {
                    same(&before, &after, &self.dispatch(seed)?)?;
                }
                buffers(&before, &self.dispatch(1)?)
            }
            Check::Stats => Ok(stats(&after)),
            Check::Error => Err("no error".into()),
        }
    }

    fn dispatch(&self, seed: u64) -> Result<Dispatch, String> {
        let Some(line) = self.directive("deburr-run:") else {
            return Ok(deburr_fuzz::inputs(seed));
        };
        let inputs = RunLine::parse(line).map_err(|e| e.to_string())?.inputs(seed);
        let mut dispatch = Dispatch::default();
        dispatch.groups = inputs.groups;
        dispatch.push = inputs.push;
        dispatch.specs =
            inputs.specialisation.iter().map(|&(id, value)| (id, value.into())).collect();
        dispatch.buffers = inputs
            .buffers
            .into_iter()
            .map(|b| Buffer { set: b.set, binding: b.binding, element: 0, bytes: b.bytes })
            .collect();
        dispatch.fuel = 10_000_000;
        Ok(dispatch)
    }
}

/// The module of a text, validated.
fn parsed(text: &str) -> Result<Module, String> {
    let module = parse(text).map_err(|errors| {
        let lines: Vec<String> =
            errors.iter().map(|e| format!("{}:{}: {}", e.line, e.col, e.message)).collect();
        lines.join("\n")
    })?;
    let tell = |errors: Vec<deburr_ir_core::ValidationError>| {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    validate(&module).map_err(tell)?;
    Ok(module)
}

fn optimised(before: &Module, passes: &str) -> Result<Module, String> {
    let mut after = before.clone();
    let mut options = Options::default();
    options.validate = true;
    let target = Target::spirv();
    let pipeline = Pipeline::parse(passes).map_err(|e| e.to_string())?;
    pipeline
        .run(&mut after, deburr_ruleset::rules(), &target, &options)
        .map_err(|e| e.to_string())?;
    Ok(after)
}

/// The text of a module, which must mean the module.
fn printed(module: &Module) -> Result<String, String> {
    let text = module.to_string();
    let again =
        parsed(&text).map_err(|e| format!("the printed text does not parse: {e}\n{text}"))?;
    if again != *module {
        return Err(format!("the printed text is another module:\n{text}\nthen\n{again}"));
    }
    Ok(text)
}

fn same(before: &Module, after: &Module, dispatch: &Dispatch) -> Result<(), String> {
    match compare(before, after, dispatch) {
        Verdict::Same { compared: 1.., .. } => Ok(()),
        Verdict::Same { .. } => Err("nothing to compare: every byte is free".into()),
        Verdict::Different(difference) => {
            Err(format!("the meaning changed: {difference}\n{after}"))
        }
        Verdict::Trapped(trap) => Err(format!("after the passes: {trap}\n{after}")),
        Verdict::Skipped(why) => Err(format!("can't be compared: {why}")),
    }
}

/// The words of the buffers after a run, those that it changed; `?` where a byte is free.
fn buffers(module: &Module, dispatch: &Dispatch) -> Result<String, String> {
    let outcome = run(module, dispatch).map_err(|e| e.to_string())?;
    let mut text = String::new();
    for (given, result) in dispatch.buffers.iter().zip(&outcome.buffers) {
        if given.bytes == result.buffer.bytes {
            continue;
        }
        let _ = write!(text, "{}.{}:", given.set, given.binding);
        for (word, free) in result.buffer.bytes.chunks(4).zip(result.free.chunks(4)) {
            let bits = word.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
            let _ =
                if free.contains(&true) { write!(text, " ?") } else { write!(text, " {bits:x}") };
        }
        text.push('\n');
    }
    Ok(text)
}

/// How many instructions of each kind a module has.
fn stats(module: &Module) -> String {
    let mut counts: std::collections::BTreeMap<String, usize> = Default::default();
    for f in module.functions.iter().filter(|f| f.has_body()) {
        for instr in f.all_instrs() {
            let kind: InstrKind = f.kind(instr);
            *counts.entry(format!("{kind:?}").to_lowercase()).or_default() += 1;
        }
    }
    counts.iter().map(|(kind, n)| format!("{kind} {n}\n")).collect()
}

/// The runner on itself: a file is the join of its parts.
fn splits_and_joins() -> Result<(), String> {
    let text = "// about\n// ==== a\n// test: none\nx\n// ----\ny\n\n// ==== b\nz\n// ----\nw\n";
    let (preamble, cases) = split(text);
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    if names != ["a", "b"]
        || cases[0].directive("test:") != Some("none")
        || cases[1].expected != "w\n"
    {
        return Err(format!("{cases:?}"));
    }
    let joined = join(&preamble, &cases);
    if joined == text { Ok(()) } else { Err(joined) }
}

/// The runner on itself: it tells a wrong expectation, a wrong directive and an input that is invalid.
fn notices() -> Result<(), String> {
    let case = |input: &str, expected: &str| Case {
        name: "x".into(),
        input: input.into(),
        expected: expected.into(),
    };
    let module = "deburr_ir 1\nshader compute \"main\" entry(main) LocalSize(1, 1, 1)\ndecl_function main()\n";
    for (input, expected, why) in [
        (format!("// test: none\n{module}"), "deburr_ir 1", "a wrong expectation"),
        (format!("// check: exact\n{module}"), module, "no `test` line"),
        (format!("// test: none\n// check: odd\n{module}"), module, "an unknown check"),
        (format!("// test: nonesuch\n{module}"), module, "an unknown pass"),
        ("// test: none\nnonsense\n".to_owned(), "nonsense", "an input that doesn't parse"),
        (
            format!("// test: none\n// check: error\n{module}"),
            "1:1: nothing",
            "a valid input that should not be",
        ),
    ] {
        if case(&input, expected).check().is_ok() {
            return Err(format!("{why} went unnoticed"));
        }
    }
    Ok(())
}
