//! A 9: what is left, and how long it takes, against `spirv-opt -O`: a baseline, without a target yet.

use super::clone::children_seconds;
use super::corpus::{Deburr, Item, Said, has_tool, modules, root, start, words};
use super::{Args, Outcome, Verdict};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Interleaved runs a tool; the median counts.
const RUNS: usize = 5;

/// Small, middle and large modules, by body instructions.
const CLASSES: [(&str, u64, u64); 3] =
    [("below 500", 0, 500), ("500 to 5,000", 500, 5_001), ("above 5,000", 5_001, u64::MAX)];

/// A module's figures.
struct Row {
    name: String,
    before: Counts,
    ours: Left,
    theirs: Left,
}

/// Counts of a module.
#[derive(Clone, Copy, Default)]
struct Counts {
    body: u64,
    cost: u64,
    /// Calls, since the two tools do not inline alike.
    calls: u64,
}

/// What a tool left of a module.
struct Left {
    counts: Counts,
    time: Duration,
    /// Why it counts at its input size, if it does.
    failed: Option<String>,
}

/// CPU seconds of a round over a class, for each tool; `None` where the system does not tell.
type Cpu = [Option<f64>; 2];

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = "a table with every module (no figure is asked for yet)".to_owned();
    let skipped = |why: String| Outcome::skipped(target.clone(), Vec::new(), why);
    if !has_tool("spirv-opt") || !has_tool("spirv-val") {
        return skipped("needs spirv-opt and spirv-val".into());
    }
    let items = Deburr::new(args)
        .and_then(|deburr| Ok((modules(args, &deburr, &["grilly", "examples"])?, deburr)));
    let (items, deburr) = match items {
        Ok(items) => items,
        Err(why) => return skipped(why),
    };
    let runs = if args.cases >= 1.0 { RUNS } else { 1 };
    let mut list = Vec::new();
    let mut sized: Vec<(&Item, Counts)> = Vec::new();
    for item in &items {
        match counts(&item.path) {
            Ok(counts) => sized.push((item, counts)),
            Err(why) => list.push(format!("{}/{}: {why}", item.source, item.name)),
        }
    }
    let mut rows = Vec::new();
    let mut classes = Vec::new();
    for (name, from, to) in CLASSES {
        let class: Vec<_> =
            sized.iter().filter(|(_, c)| (from..to).contains(&c.body)).copied().collect();
        if class.is_empty() {
            continue;
        }
        match measure(&deburr, &class, runs) {
            Ok((measured, cpu)) => {
                classes.push(summary(&format!("{name} instructions"), &measured, cpu));
                rows.extend(measured);
            }
            Err(why) => list.push(why),
        }
    }
    let complete = list.is_empty() && !rows.is_empty();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    let path = root().join("docs/baseline.md");
    if args.cases >= 1.0
        && std::env::var_os("BLESS").is_some()
        && let Err(e) = std::fs::write(&path, table(&rows, &classes))
    {
        list.push(format!("{}: {e}", path.display()));
    }
    list.extend(rows.iter().map(line));
    list.extend(classes);
    list.extend(start_up(&deburr, runs));
    Outcome {
        figure: format!(
            "left of {}; not usable: {}, {}",
            summary("all", &rows, [None, None]),
            rows.iter().filter(|r| r.ours.failed.is_some()).count(),
            rows.iter().filter(|r| r.theirs.failed.is_some()).count(),
        ),
        target,
        verdict: Verdict::of(complete),
        list,
    }
}

fn counts(path: &Path) -> Result<Counts, String> {
    let words = words(path);
    let counts = deburr_spirv::count(&words).map_err(|e| e.to_string())?;
    let mut calls = 0;
    let mut at = 5;
    while let Some(&word) = words.get(at) {
        // OpFunctionCall
        calls += u64::from(word & 0xffff == 57);
        at += (word >> 16).max(1) as usize;
    }
    Ok(Counts { body: counts.body, cost: counts.cost, calls })
}

/// Runs both tools over modules in turn, several times.
fn measure(
    deburr: &Deburr,
    items: &[(&Item, Counts)],
    runs: usize,
) -> Result<(Vec<Row>, Cpu), String> {
    let outputs: Vec<[PathBuf; 2]> = items
        .iter()
        .map(|(item, _)| {
            let name = format!("{}-{}", item.source, item.name);
            ["spv", "opt.spv"].map(|end| deburr.file("a_9", &format!("{name}.{end}")))
        })
        .collect();
    let mut said: Vec<[Vec<Said>; 2]> = items.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    let mut cpu = [Vec::new(), Vec::new()];
    for _ in 0..runs {
        for tool in 0..2 {
            let before = children_seconds();
            for (n, (item, _)) in items.iter().enumerate() {
                let mut command = match tool {
                    0 => Command::new(&deburr.path),
                    _ => Command::new("spirv-opt"),
                };
                command.args(if tool == 0 { &["opt", "-q"][..] } else { &["-O"] });
                command.arg(&item.path).arg("-o").arg(&outputs[n][tool]);
                said[n][tool].push(start(&mut command, &[])?);
            }
            cpu[tool].extend(before.zip(children_seconds()).map(|(from, to)| to - from));
        }
    }
    let rows = items.iter().zip(outputs).zip(said).map(|((&(item, before), out), said)| Row {
        name: format!("{}/{}", item.source, item.name),
        before,
        ours: left(&item.path, before, &out[0], &said[0]),
        theirs: left(&item.path, before, &out[1], &said[1]),
    });
    Ok((rows.collect(), cpu.map(median)))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// What a process costs that does nothing, for each tool.
fn start_up(deburr: &Deburr, runs: usize) -> Option<String> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..runs.max(3) {
        for (tool, times) in times.iter_mut().enumerate() {
            let mut command = match tool {
                0 => Command::new(&deburr.path),
                _ => Command::new("spirv-opt"),
            };
            times.push(start(command.arg("--version"), &[]).ok()?.time.as_secs_f64() * 1e3);
        }
    }
    let [ours, theirs] = times.map(median);
    Some(format!("start-up of a process: {:.1} ms | {:.1} ms", ours?, theirs?))
}

/// What a tool left. What it refuses or writes invalidly counts at the size of the input (ACCEPTANCE 5).
fn left(input: &Path, before: Counts, out: &Path, runs: &[Said]) -> Left {
    let mut times: Vec<Duration> = runs.iter().map(|said| said.time).collect();
    times.sort();
    let time = times.get(times.len() / 2).copied().unwrap_or_default();
    let refused = runs.iter().find(|said| said.code() != Some(0)).map(Said::message);
    let failed = refused.or_else(|| super::a_2::new_error(input, out));
    let counts = match (&failed, counts(out)) {
        (None, Ok(counts)) => counts,
        _ => before,
    };
    Left { counts, time, failed }
}

fn line(row: &Row) -> String {
    let note = |left: &Left| left.failed.as_ref().map_or(String::new(), |why| format!(" ({why})"));
    format!(
        "{}: body {} -> {} | {}, cost {} -> {} | {}, calls {} -> {} | {}, {:.1} ms | {:.1} ms{}{}",
        row.name,
        row.before.body,
        row.ours.counts.body,
        row.theirs.counts.body,
        row.before.cost,
        row.ours.counts.cost,
        row.theirs.counts.cost,
        row.before.calls,
        row.ours.counts.calls,
        row.theirs.counts.calls,
        row.ours.time.as_secs_f64() * 1e3,
        row.theirs.time.as_secs_f64() * 1e3,
        note(&row.ours),
        note(&row.theirs)
    )
}

/// Both tools over some modules, deburr first.
fn summary(name: &str, rows: &[Row], cpu: Cpu) -> String {
    let sum = |of: &dyn Fn(&Row) -> f64| rows.iter().map(of).sum::<f64>();
    let percent = |before: &dyn Fn(&Row) -> u64, after: &dyn Fn(&Row) -> u64| {
        sum(&|r| after(r) as f64) * 100.0 / sum(&|r| before(r) as f64).max(1.0)
    };
    let mut text = format!(
        "{name}: {} modules, body {:.1} % | {:.1} %, cost {:.1} % | {:.1} %, calls {} -> {} | {}, {:.0} ms | {:.0} ms",
        rows.len(),
        percent(&|r| r.before.body, &|r| r.ours.counts.body),
        percent(&|r| r.before.body, &|r| r.theirs.counts.body),
        percent(&|r| r.before.cost, &|r| r.ours.counts.cost),
        percent(&|r| r.before.cost, &|r| r.theirs.counts.cost),
        sum(&|r| r.before.calls as f64),
        sum(&|r| r.ours.counts.calls as f64),
        sum(&|r| r.theirs.counts.calls as f64),
        sum(&|r| r.ours.time.as_secs_f64()) * 1e3,
        sum(&|r| r.theirs.time.as_secs_f64()) * 1e3,
    );
    if let [Some(ours), Some(theirs)] = cpu {
        let _ = write!(text, ", {ours:.2} | {theirs:.2} CPU-seconds");
    }
    text
}

/// `docs/baseline.md`: every module, deburr first where a cell has two figures.
fn table(rows: &[Row], summaries: &[String]) -> String {
    let mut text = String::from(
        "# Against spirv-opt\n\nWhat `deburr opt` and `spirv-opt -O` leave of the modules of grilly and of the examples: \
         body instructions,\ncost and calls in the input and after deburr \\| spirv-opt, and milliseconds of a process. \
         deburr inlines by\ncost, spirv-opt everything. Times are of one machine and one day.\n\
         Written by `BLESS=1 cargo test --release -p deburr-tests --test accept -- accept_a_9`.\n\n",
    );
    for summary in summaries {
        let _ = writeln!(text, "- {}", summary.replace('|', "\\|"));
    }
    text.push_str(
        "\n| Module | Body | left | Cost | left | Calls | left | ms |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for r in rows {
        let (b, o, t) = (r.before, r.ours.counts, r.theirs.counts);
        let ms = |left: &Left| left.time.as_secs_f64() * 1e3;
        let _ = writeln!(
            text,
            "| {} | {} | {} \\| {} | {} | {} \\| {} | {} | {} \\| {} | {:.1} \\| {:.1} |",
            r.name,
            b.body,
            o.body,
            t.body,
            b.cost,
            o.cost,
            t.cost,
            b.calls,
            o.calls,
            t.calls,
            ms(&r.ours),
            ms(&r.theirs)
        );
    }
    text
}
