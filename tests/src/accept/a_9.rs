//! A 9: what is left, and how long it takes, against `spirv-opt -O`: a baseline, without a target yet.

use super::corpus::{Deburr, Item, Said, has_tool, modules, start, words};
use super::{Args, Outcome, Verdict};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Interleaved runs a tool; the median counts.
const RUNS: usize = 5;

/// A module's figures.
struct Row {
    name: String,
    before: (u64, u64),
    ours: Left,
    theirs: Left,
}

/// What a tool left of a module.
struct Left {
    body: u64,
    cost: u64,
    time: Duration,
    /// Why it counts at its input size, if it does.
    failed: Option<String>,
}

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = "a table with every module (no figure is asked for yet)".to_owned();
    let skipped = |why: String| Outcome {
        figure: "nothing was measured".into(),
        target: target.clone(),
        verdict: Verdict::Skipped(why),
        list: Vec::new(),
    };
    if !has_tool("spirv-opt") || !has_tool("spirv-val") {
        return skipped("needs spirv-opt and spirv-val".into());
    }
    let items = Deburr::build()
        .and_then(|deburr| Ok((modules(args, &deburr, &["grilly", "examples"])?, deburr)));
    let (items, deburr) = match items {
        Ok(items) => items,
        Err(why) => return skipped(why),
    };
    let runs = if args.cases >= 1.0 { RUNS } else { 1 };
    let mut rows = Vec::new();
    let mut list = Vec::new();
    for item in &items {
        match row(&deburr, item, runs) {
            Ok(row) => rows.push(row),
            Err(why) => list.push(format!("{}/{}: {why}", item.source, item.name)),
        }
    }
    let complete = list.is_empty() && !rows.is_empty();
    let csv = deburr.file("a_9", "table.csv");
    if let Err(e) = std::fs::write(&csv, table(&rows)) {
        list.push(format!("{}: {e}", csv.display()));
    }
    list.extend(rows.iter().map(line));
    list.extend(by_size(&rows));
    let sum = |of: fn(&Row) -> u64| rows.iter().map(of).sum::<u64>();
    let percent = |part: u64, whole: u64| part as f64 * 100.0 / whole.max(1) as f64;
    let (body, cost) = (sum(|r| r.before.0), sum(|r| r.before.1));
    Outcome {
        figure: format!(
            "{} modules, left of the body: deburr {:.1} %, spirv-opt {:.1} %; of the cost: {:.1} %, {:.1} %; time a \
             process, in total: {:.0} ms, {:.0} ms; not usable: {}, {}",
            rows.len(),
            percent(sum(|r| r.ours.body), body),
            percent(sum(|r| r.theirs.body), body),
            percent(sum(|r| r.ours.cost), cost),
            percent(sum(|r| r.theirs.cost), cost),
            total(&rows, |r| r.ours.time),
            total(&rows, |r| r.theirs.time),
            rows.iter().filter(|r| r.ours.failed.is_some()).count(),
            rows.iter().filter(|r| r.theirs.failed.is_some()).count(),
        ),
        target,
        verdict: Verdict::of(complete),
        list,
    }
}

fn total(rows: &[Row], of: fn(&Row) -> Duration) -> f64 {
    rows.iter().map(of).sum::<Duration>().as_secs_f64() * 1e3
}

fn counts(path: &Path) -> Result<(u64, u64), String> {
    deburr_spirv::count(&words(path)).map(|c| (c.body, c.cost)).map_err(|e| e.to_string())
}

fn row(deburr: &Deburr, item: &Item, runs: usize) -> Result<Row, String> {
    let before = counts(&item.path)?;
    let name = format!("{}-{}", item.source, item.name);
    let (ours, theirs) = (
        deburr.file("a_9", &format!("{name}.spv")),
        deburr.file("a_9", &format!("{name}.opt.spv")),
    );
    let mut our_command = Command::new(&deburr.path);
    our_command.arg("opt").arg(&item.path).arg("-o").arg(&ours);
    let mut their_command = Command::new("spirv-opt");
    their_command.arg("-O").arg(&item.path).arg("-o").arg(&theirs);
    let (mut our_runs, mut their_runs) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        our_runs.push(start(&mut our_command, &[])?);
        their_runs.push(start(&mut their_command, &[])?);
    }
    let (ours, theirs) = (
        left(&item.path, before, &ours, &our_runs),
        left(&item.path, before, &theirs, &their_runs),
    );
    Ok(Row { name: format!("{}/{}", item.source, item.name), before, ours, theirs })
}

/// What a tool left. What it refuses or writes invalidly counts at the size of the input (ACCEPTANCE 5).
fn left(input: &Path, before: (u64, u64), out: &Path, runs: &[Said]) -> Left {
    let mut times: Vec<Duration> = runs.iter().map(|said| said.time).collect();
    times.sort();
    let time = times.get(times.len() / 2).copied().unwrap_or_default();
    let refused = runs.iter().find(|said| said.code() != Some(0)).map(Said::message);
    let failed = refused.or_else(|| super::a_2::new_error(input, out));
    let (body, cost) = match (&failed, counts(out)) {
        (None, Ok(counts)) => counts,
        _ => before,
    };
    Left { body, cost, time, failed }
}

fn line(row: &Row) -> String {
    let note = |left: &Left| left.failed.as_ref().map_or(String::new(), |why| format!(" ({why})"));
    format!(
        "{}: body {} -> {} | {}, cost {} -> {} | {}, {:.1} ms | {:.1} ms{}{}",
        row.name,
        row.before.0,
        row.ours.body,
        row.theirs.body,
        row.before.1,
        row.ours.cost,
        row.theirs.cost,
        row.ours.time.as_secs_f64() * 1e3,
        row.theirs.time.as_secs_f64() * 1e3,
        note(&row.ours),
        note(&row.theirs)
    )
}

/// Small, middle and large modules apart.
fn by_size(rows: &[Row]) -> Vec<String> {
    let classes =
        [("below 500", 0, 500), ("500 to 5,000", 500, 5_001), ("above 5,000", 5_001, u64::MAX)];
    classes
        .iter()
        .filter_map(|&(name, from, to)| {
            let rows: Vec<&Row> = rows.iter().filter(|r| (from..to).contains(&r.before.0)).collect();
            let sum = |of: fn(&&Row) -> f64| rows.iter().map(of).sum::<f64>();
            (!rows.is_empty()).then(|| {
                format!(
                    "{name} instructions: {} modules, body left {:.1} % | {:.1} %, cost left {:.1} % | {:.1} %, time \
                     {:.1} ms | {:.1} ms",
                    rows.len(),
                    sum(|r| r.ours.body as f64) * 100.0 / sum(|r| r.before.0 as f64),
                    sum(|r| r.theirs.body as f64) * 100.0 / sum(|r| r.before.0 as f64),
                    sum(|r| r.ours.cost as f64) * 100.0 / sum(|r| r.before.1 as f64),
                    sum(|r| r.theirs.cost as f64) * 100.0 / sum(|r| r.before.1 as f64),
                    sum(|r| r.ours.time.as_secs_f64()) * 1e3,
                    sum(|r| r.theirs.time.as_secs_f64()) * 1e3,
                )
            })
        })
        .collect()
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "module,body,body deburr,body spirv-opt,cost,cost deburr,cost spirv-opt,ms deburr,ms spirv-opt\n",
    );
    for r in rows {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{:.3},{:.3}",
            r.name,
            r.before.0,
            r.ours.body,
            r.theirs.body,
            r.before.1,
            r.ours.cost,
            r.theirs.cost,
            r.ours.time.as_secs_f64() * 1e3,
            r.theirs.time.as_secs_f64() * 1e3
        );
    }
    text
}
