//! A clone of the repository, and cargo in it: for lines that measure builds.

use super::corpus::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Clones what is committed into `target/NAME`, without build products.
pub fn fresh_clone(name: &str) -> Result<PathBuf, String> {
    let from = root().canonicalize().map_err(|e| e.to_string())?;
    let folder = from.join("target").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let status = Command::new("git")
        .args(["clone", "--quiet", "--depth", "1"])
        .arg(format!("file://{}", from.display()))
        .arg(&folder)
        .status()
        .map_err(|e| format!("git: {e}"))?;
    if !status.success() {
        return Err("the repository can't be cloned".into());
    }
    Ok(folder)
}

/// A run of cargo that succeeded.
pub struct CargoRun {
    /// What it printed on stdout.
    pub stdout: String,
    /// Seconds by the clock.
    pub seconds: f64,
    /// CPU seconds of it and its children, where the system tells.
    pub cpu: Option<f64>,
}

/// Runs cargo in a folder, with the build products in the folder's own `target`.
pub fn cargo(folder: &Path, args: &[&str]) -> Result<CargoRun, String> {
    let before = children_seconds();
    let start = Instant::now();
    let output = Command::new(env!("CARGO"))
        .args(args)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let cpu = before.zip(children_seconds()).map(|(before, after)| after - before);
    if !output.status.success() {
        let tail: Vec<String> = String::from_utf8_lossy(&output.stderr)
            .lines()
            .rev()
            .take(20)
            .map(String::from)
            .collect();
        let tail: Vec<String> = tail.into_iter().rev().collect();
        return Err(format!("cargo {} fails:\n{}", args.join(" "), tail.join("\n")));
    }
    Ok(CargoRun { stdout: String::from_utf8_lossy(&output.stdout).into_owned(), seconds, cpu })
}

/// CPU seconds of ended children of this process; `None` where there is no `/proc`.
pub fn children_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in brackets may hold blanks; what follows are fields 3, 4, ….
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |n: usize| fields.get(n - 3)?.parse::<f64>().ok();
    // Linux tells in hundredths of a second, whatever its own clock is.
    Some((ticks(16)? + ticks(17)?) / 100.0)
}

/// Folders of the workspace's members.
pub fn members(folder: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(folder.join("Cargo.toml"))
        .map_err(|e| format!("Cargo.toml: {e}"))?;
    let list = text.split("members = [").nth(1).and_then(|t| t.split(']').next());
    let list = list.ok_or("Cargo.toml lists no members")?;
    Ok(list
        .split(',')
        .map(|m| m.trim().trim_matches('"').to_owned())
        .filter(|m| !m.is_empty())
        .collect())
}
