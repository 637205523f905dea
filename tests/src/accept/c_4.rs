//! C 4: how long proofs take: of a rule that changed, of nothing, and, at full size, of everything.

use super::corpus::{Deburr, root};
use super::{Args, Outcome};
use deburr_fuzz::Rng;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Minutes for everything, seconds for nothing, and the median of changed rules.
const EVERYTHING: f64 = 90.0;
const NOTHING: f64 = 5.0;
const CHANGED: f64 = 30.0;
/// Changed rules at full size.
const RULES: u64 = 20;

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = format!(
        "everything ≤ {EVERYTHING} min, a full ledger ≤ {NOTHING} s, a changed rule ≤ {CHANGED} s in the median over {RULES}"
    );
    let mut list = Vec::new();
    let measured = measure(args, &mut list);
    Outcome::of(target, list, measured)
}

fn measure(args: &Args, list: &mut Vec<String>) -> Result<(bool, String), String> {
    if !["bitwuzla", "z3", "cvc5"].iter().any(|name| super::corpus::has_tool(name)) {
        return Err("needs bitwuzla, z3 or cvc5".into());
    }
    let deburr = Deburr::new(args)?;
    let ledger = root().join("verify/ledger");
    let (nothing, done) = verify(&deburr, &ledger, &[])?;
    list.push(format!("a full ledger: {:.2} s", nothing.as_secs_f64()));
    let scratch = deburr.scratch.join("c_4");
    copy(&ledger, &scratch)?;
    let mut names = Vec::new();
    for path in files(&ledger)? {
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let instances = text.lines().skip(1).filter_map(|l| l.split('\t').nth(1)?.split_once('@'));
        names.extend(instances.map(|(rule, _)| rule.to_owned()));
    }
    names.sort();
    names.dedup();
    let mut rng = Rng::new(args.seed ^ 0xc4);
    let mut times = Vec::new();
    let mut right = done;
    for _ in 0..args.count(RULES).min(names.len() as u64) {
        let name = names.swap_remove(rng.below(names.len()));
        forget(&scratch, &name)?;
        let (time, done) = verify(&deburr, &scratch, &["--rule", &name])?;
        right &= done;
        list.push(format!("{name}: {:.2} s", time.as_secs_f64()));
        times.push(time.as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or(0.0);
    let mut met = right && nothing.as_secs_f64() <= NOTHING && median <= CHANGED;
    let mut everything = String::from("everything not measured");
    if args.cases >= 1.0 {
        let (time, done) = verify(&deburr, &scratch, &["--all"])?;
        let minutes = time.as_secs_f64() / 60.0;
        everything = format!("everything {minutes:.1} min");
        met &= done && minutes <= EVERYTHING;
    }
    let figure = format!(
        "{everything}, a full ledger {:.2} s, a changed rule {median:.2} s in the median of {}",
        nothing.as_secs_f64(),
        times.len()
    );
    Ok((met, figure))
}

/// Runs the command over a ledger; how long it took, and whether all is proved.
fn verify(deburr: &Deburr, ledger: &Path, more: &[&str]) -> Result<(Duration, bool), String> {
    let start = Instant::now();
    let status = Command::new(&deburr.path)
        .args(["verify", "-q", "--ledger"])
        .arg(ledger)
        .args(more)
        .stdout(Stdio::null())
        .status()
        .map_err(|e| e.to_string())?;
    Ok((start.elapsed(), status.success()))
}

fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let list = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut out: Vec<_> = list.filter_map(|e| Some(e.ok()?.path())).collect();
    out.retain(|path| path.extension().is_some_and(|e| e == "txt"));
    out.sort();
    Ok(out)
}

/// A fresh copy of a ledger.
pub fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if to.exists() {
        std::fs::remove_dir_all(to).map_err(|e| e.to_string())?;
    }
    std::fs::create_dir_all(to).map_err(|e| e.to_string())?;
    for path in files(from)? {
        let name = path.file_name().unwrap_or_default();
        std::fs::copy(&path, to.join(name)).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Takes a rule's lines out of a ledger, as a change of the rule does.
pub fn forget(ledger: &Path, rule: &str) -> Result<(), String> {
    for path in files(ledger)? {
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let of_rule = |line: &&str| {
            let instance = line.split('\t').nth(1).and_then(|i| i.split_once('@'));
            instance.is_some_and(|(name, _)| name == rule)
        };
        let kept: String =
            text.lines().filter(|l| !of_rule(l)).map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, kept).map_err(|e| e.to_string())?;
    }
    Ok(())
}
