//! C 7: the reports on redundant and missing rules, over the rules of the day, in the time that there is. What they found is
//! acted on or answered in the note.
//!
//! At reduced size a share of the rules is looked at.

use super::corpus::{Deburr, Said, modules, start_within};
use super::{Args, Outcome};
use std::process::Command;
use std::time::Instant;

/// Seconds that both reports may take together, on two cores.
const MAX_SECONDS: f64 = 600.0;

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = format!("both reports end within {MAX_SECONDS} s on two cores");
    let mut list = Vec::new();
    let measured = measure(args, &mut list);
    Outcome::of(target, list, measured)
}

fn measure(args: &Args, list: &mut Vec<String>) -> Result<(bool, String), String> {
    let deburr = Deburr::new(args)?;
    let share = args.cases.clamp(0.001, 1.0).to_string();
    let start = Instant::now();
    let redundant = report(&deburr, &["--redundant"], &share)?;
    let first = start.elapsed().as_secs_f64();
    let siblings = report(&deburr, &["--siblings"], &share)?;
    let both = start.elapsed().as_secs_f64();
    let summary = |lines: &[String]| lines.last().cloned().unwrap_or_default();
    let figure = format!(
        "{} in {first:.1} s; {} in {:.1} s; {both:.1} s together",
        summary(&redundant),
        summary(&siblings),
        both - first
    );
    list.extend(redundant);
    list.extend(siblings);
    // No part of the line, but what the rules are worth together: real modules, as far as they are there.
    if let Ok(items) = modules(args, &deburr, &["vello_shaders", "spirv-cross-sys"]) {
        let paths: Vec<&str> = items.iter().filter_map(|item| item.path.to_str()).collect();
        let said = deburr.call(["verify", "--gap"].iter().chain(&paths))?;
        list.extend(said.text().lines().last().map(str::to_owned));
    }
    Ok((both <= MAX_SECONDS, figure))
}

/// The lines of a report.
fn report(deburr: &Deburr, which: &[&str], share: &str) -> Result<Vec<String>, String> {
    let mut command = Command::new(&deburr.path);
    command.args(["verify", "--cases", share, "-j", "2"]).args(which);
    // What takes too long is to be told with its figure.
    let said: Said = start_within(&mut command, &[], 2 * MAX_SECONDS as u64)?;
    match said.code() {
        Some(0) => Ok(said.text().lines().map(str::to_owned).collect()),
        _ => Err(format!("{which:?}: {}", said.message())),
    }
}
