//! A 4: the examples compute the same before and after optimisation, and what they must; modules on a Vulkan device
//! compute the same before, after and in the interpreter.
//!
//! The device's part is the suite of `tests/vulkan`, a workspace of its own, since calling Vulkan takes unsafe code.

use super::corpus::{Deburr, Item, examples, start_within, words};
use super::{Args, Outcome, Verdict};
use crate::reference::{self, RunLine};
use deburr_eval::{Buffer, Dispatch};
use deburr_ir_core::Module;
use deburr_passes::{DEFAULT, Options, Pipeline};
use deburr_spirv::{FloatMode, ReadOptions, WriteOptions, read, write};
use std::path::Path;
use std::process::Command;

/// Examples that must equal their reference.
const REFERENCES: usize = 10;
/// Share of the blocks that must run for an example to count.
const COVERED: f64 = 0.7;
/// Modules that must be equal on a Vulkan device.
const ON_DEVICE: usize = 30;
/// Seconds that the suite on the device may take, its build included.
const DEVICE_SECONDS: u64 = 3600;

/// What was found of an example.
#[derive(Default)]
struct Found {
    coverage: f64,
    varies: bool,
    reference: bool,
}

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = format!(
        "every example under --float strict bit-equal before and after; ≥ {REFERENCES} equal their reference, before, \
         after, and after with default floats; ≥ 70 % of the blocks run; on a Vulkan device ≥ {ON_DEVICE} modules \
         before = after, and = the interpreter"
    );
    let mut list = Vec::new();
    let (figure, here) = match args.corpus {
        // Other modules have no lines that say how they are run: the device's suite fills their buffers.
        Some(_) => ("other modules are for the device alone".into(), Verdict::Pass),
        None => interpreted(args, &mut list),
    };
    let (device, there) = match device(args, &mut list) {
        Ok(found) => found,
        Err(why) => {
            let why = format!("on a device: {why}");
            (why.clone(), Verdict::Skipped(why))
        }
    };
    let verdict = match (here, there) {
        (Verdict::Fail, _) | (_, Verdict::Fail) => Verdict::Fail,
        (Verdict::Pass, there) => there,
        (here, _) => here,
    };
    Outcome { figure: format!("{figure}; {device}"), target, verdict, list }
}

/// The examples in the interpreter.
fn interpreted(args: &Args, list: &mut Vec<String>) -> (String, Verdict) {
    let items = match Deburr::new(args).and_then(|deburr| examples(&deburr)) {
        Ok(items) => items,
        Err(why) => return ("no example was measured".into(), Verdict::Skipped(why)),
    };
    let (mut equal, mut references) = (0, 0);
    for item in &items {
        match example(item, args.seed) {
            Ok(found) if found.coverage >= COVERED && found.varies => {
                equal += 1;
                references += usize::from(found.reference);
                let reference = if found.reference { ", equals its reference" } else { "" };
                list.push(format!(
                    "{}: equal, {:.0} % of the blocks ran{reference}",
                    item.name,
                    found.coverage * 100.0
                ));
            }
            Ok(found) => list.push(format!(
                "{}: NOT COUNTED, {:.0} % of the blocks ran, outputs vary: {}",
                item.name,
                found.coverage * 100.0,
                found.varies
            )),
            Err(why) => list.push(format!("{}: WRONG, {why}", item.name)),
        }
    }
    let figure =
        format!("{equal} of {} bit-equal, {references} equal their reference", items.len());
    let met = !items.is_empty() && equal == items.len() && references >= REFERENCES;
    (figure, Verdict::of(met))
}

/// The suite of `tests/vulkan`: its last line is the figure. An error is why it can't run here.
fn device(args: &Args, list: &mut Vec<String>) -> Result<(String, Verdict), String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("vulkan/Cargo.toml");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["test", "--quiet", "--test", "modules", "--manifest-path"]).arg(manifest);
    command.args(["--", "--seed", &args.seed.to_string()]);
    if let Some(corpus) = &args.corpus {
        // The suite runs in its own folder.
        let corpus = corpus.canonicalize().map_err(|e| format!("{}: {e}", corpus.display()))?;
        command.arg("--corpus").arg(corpus);
    }
    command.env("DEBURR_CASES", args.cases.to_string());
    let said = start_within(&mut command, &[], DEVICE_SECONDS)?;
    let text = said.text();
    let skipped = text.lines().find_map(|line| line.strip_prefix("skipped: "));
    if let Some(why) = skipped {
        return Err(why.to_owned());
    }
    let named = |line: &&str| {
        line.starts_with("   not") || line.ends_with("FAILED") || line.starts_with("device: ")
    };
    list.extend(text.lines().filter(named).map(|line| line.trim().to_owned()));
    let figure = text.lines().rev().find(|line| line.starts_with("before = after: "));
    let figure = figure.map_or_else(|| said.err.trim().to_owned(), str::to_owned);
    let passed = said.status.is_some_and(|status| status.success());
    Ok((format!("on a device: {figure}"), Verdict::of(passed)))
}

fn example(item: &Item, seed: u64) -> Result<Found, String> {
    let text = item.text.as_ref().ok_or("no source text")?;
    let source = std::fs::read_to_string(text).map_err(|e| e.to_string())?;
    let line = RunLine::of_source(&source).map_err(|e| e.to_string())?;
    let module = words(&item.path);
    let strict = read(&module, &ReadOptions::default().with_float(FloatMode::Strict))
        .map_err(|e| e.to_string())?;
    // What counts is what is written: the optimised module goes through the writer and the reader.
    let strict_after = optimised(&strict, FloatMode::Strict).map_err(|e| format!("strict: {e}"))?;
    let default = read(&module, &ReadOptions::default()).map_err(|e| e.to_string())?;
    let default_after = optimised(&default, FloatMode::Vulkan)?;
    let mut found = Found::default();
    let mut first: Option<Vec<Vec<u8>>> = None;
    for seed in [seed, seed + 1] {
        let inputs = line.inputs(seed);
        let dispatch = dispatch(&inputs);
        let before = deburr_eval::run(&strict, &dispatch).map_err(|e| format!("before: {e}"))?;
        let after =
            deburr_eval::run(&strict_after, &dispatch).map_err(|e| format!("after: {e}"))?;
        found.coverage = before.covered.len() as f64 / before.blocks.max(1) as f64;
        match deburr_fuzz::compare_outcomes(&before, &after) {
            deburr_fuzz::Verdict::Same { .. } => {}
            other => return Err(format!("strict, before and after: {other:?}")),
        }
        let loose = deburr_eval::run(&default_after, &dispatch)
            .map_err(|e| format!("default floats: {e}"))?;
        if let Some(reference) = reference::find(&item.name) {
            let expected = (reference.expected)(&inputs);
            for (name, outcome) in
                [("before", &before), ("after", &after), ("after, default floats", &loose)]
            {
                let output = |binding| {
                    let buffer = outcome.buffers.iter().find(|b| b.buffer.binding == binding)?;
                    Some(&buffer.buffer.bytes[..])
                };
                reference::check(&expected, output)
                    .map_err(|e| format!("{name}, reference: {e}"))?;
            }
            found.reference = true;
        }
        let bytes: Vec<Vec<u8>> = before.buffers.iter().map(|b| b.buffer.bytes.clone()).collect();
        found.varies |= first.as_ref().is_some_and(|first| *first != bytes);
        first.get_or_insert(bytes);
    }
    Ok(found)
}

fn dispatch(inputs: &reference::Inputs) -> Dispatch {
    let mut dispatch = Dispatch::default();
    dispatch.groups = inputs.groups;
    dispatch.push = inputs.push.clone();
    dispatch.specs = inputs.specialisation.iter().map(|&(id, value)| (id, value.into())).collect();
    let buffer = |b: &reference::Buffer| Buffer {
        set: b.set,
        binding: b.binding,
        element: 0,
        bytes: b.bytes.clone(),
    };
    dispatch.buffers = inputs.buffers.iter().map(buffer).collect();
    dispatch
}

/// The module after the default pipeline, the writer and the reader.
fn optimised(before: &Module, float: FloatMode) -> Result<Module, String> {
    let mut after = before.clone();
    let target = deburr_algebraic::Target::spirv_of(&after);
    let pipeline = Pipeline::parse(DEFAULT).map_err(|e| e.to_string())?;
    pipeline
        .run(&mut after, deburr_ruleset::rules(), &target, &Options::default())
        .map_err(|e| e.to_string())?;
    let words = write(&after, &WriteOptions::default()).map_err(|e| e.to_string())?;
    read(&words, &ReadOptions::default().with_float(float))
        .map_err(|e| format!("what was written: {e}"))
}
