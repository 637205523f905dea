//! C 5: without a solver verdicts come from the ledger, neither better nor worse; what it lacks is tried and reported as
//! missing, and goes on file by no way.

use super::c_4::{copy, forget};
use super::corpus::{Deburr, root};
use super::{Args, Outcome};
use std::path::Path;
use std::process::Command;

/// Rules whose verdicts are taken away.
const GONE: [&str; 3] = ["iadd_ineg", "fneg_fsub", "imul_pow2"];

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = "the same verdicts without a solver, exit 0; what is missing is told with its points, exit 1, and not recorded"
        .to_string();
    let mut list = Vec::new();
    let measured = measure(args, &mut list);
    Outcome::of(target, list, measured)
}

fn measure(args: &Args, list: &mut Vec<String>) -> Result<(bool, String), String> {
    let deburr = Deburr::new(args)?;
    let ledger = root().join("verify/ledger");
    let with = said(&deburr, &ledger, &[], false)?;
    let without = said(&deburr, &ledger, &[], true)?;
    let same = with == without && with.0 == Some(0);
    let last = without.1.lines().last().unwrap_or("").to_owned();
    list.push(format!("the whole ledger, without a solver: exit {:?}, {last}", without.0));
    let scratch = deburr.scratch.join("c_5");
    let mut right = 0;
    for rule in GONE {
        copy(&ledger, &scratch)?;
        forget(&scratch, rule)?;
        let before = texts(&scratch)?;
        let (exit, out) = said(&deburr, &scratch, &["--rule", rule], true)?;
        let lines: Vec<&str> = out.lines().filter(|l| l.contains("\"rule\":")).collect();
        let missing = lines
            .iter()
            .filter(|l| l.contains("\"verdict\":\"missing\"") && !l.contains("\"points\":0,"))
            .count();
        let kept = texts(&scratch)? == before;
        list.push(format!(
            "{rule} without its {} lines: exit {exit:?}, {missing} missing with points, ledger {}",
            lines.len(),
            if kept { "as it was" } else { "CHANGED" }
        ));
        right += usize::from(exit == Some(1) && kept && missing == lines.len() && missing > 0);
    }
    let figure = format!(
        "{} with and without a solver; {right} of {} rules that the ledger lacks told as they must be",
        if same { "the same" } else { "NOT the same" },
        GONE.len()
    );
    Ok((same && right == GONE.len(), figure))
}

/// Exit code and verdicts, without the times that they took.
fn said(
    deburr: &Deburr,
    ledger: &Path,
    more: &[&str],
    alone: bool,
) -> Result<(Option<i32>, String), String> {
    let mut command = Command::new(&deburr.path);
    command.args(["verify", "--json", "--ledger"]).arg(ledger).args(more);
    if alone {
        command.env("PATH", "");
    }
    let output = command.output().map_err(|e| e.to_string())?;
    Ok((output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// The ledger's files, in one text.
fn texts(ledger: &Path) -> Result<String, String> {
    let list = std::fs::read_dir(ledger).map_err(|e| e.to_string())?;
    let mut paths: Vec<_> = list.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    paths.iter().map(|p| std::fs::read_to_string(p).map_err(|e| e.to_string())).collect()
}
