//! A 1: a fresh clone works with a Rust toolchain and nothing else.
//!
//! At full size the repository is cloned into `target/accept_a_1`, the README's optimisation is run there as it is
//! written, its output compared with the README, and every member's tests are listed. At reduced size only what needs
//! no build is looked at: the README's block, and that every member has tests. (The output is also compared by the
//! command's own tests.)

use super::clone::{cargo, fresh_clone, members};
use super::corpus::root;
use super::{Args, Outcome, Verdict};
use std::path::Path;

/// Runs the line.
pub fn run(args: &Args) -> Outcome {
    let mut list = Vec::new();
    let result = if args.cases >= 1.0 { in_a_clone(&mut list) } else { in_place(&mut list) };
    let figure = match &result {
        Ok(()) => {
            "the README's command prints what the README shows; every member has tests".into()
        }
        Err(why) => why.clone(),
    };
    Outcome {
        figure,
        target: "a clone builds, optimises an example as the README shows, and tests every member"
            .into(),
        verdict: Verdict::of(result.is_ok()),
        list,
    }
}

/// The README's optimisation: its line of shell, and the output that it shows.
fn example(folder: &Path) -> Result<(String, String), String> {
    let text =
        std::fs::read_to_string(folder.join("README.md")).map_err(|e| format!("README.md: {e}"))?;
    let blocks: Vec<&str> = text.split("```").collect();
    let command =
        |b: &&str| b.starts_with("sh\n") && b.contains("cargo run --release -- opt examples/");
    let at = blocks.iter().position(command).ok_or("the README shows no optimisation")?;
    let line = blocks[at].lines().nth(1).unwrap_or("").trim().to_owned();
    let output = blocks.get(at + 2).and_then(|b| b.strip_prefix("text\n"));
    let output = output.ok_or("the README doesn't show what the command prints")?;
    Ok((line, output.trim().to_owned()))
}

fn in_place(list: &mut Vec<String>) -> Result<(), String> {
    let folder = root();
    let (line, output) = example(&folder)?;
    list.push(format!("README: {line}"));
    if !["body", "cost"].iter().all(|word| output.contains(word)) {
        return Err("the README's output has no body counts and cost".into());
    }
    for member in members(&folder)? {
        let tests = count_tests(&folder.join(&member));
        list.push(format!("{member}: {tests} test functions in the sources"));
        if tests == 0 {
            return Err(format!("{member} has no tests"));
        }
    }
    Ok(())
}

/// Test functions and example files with their own harness under a folder.
fn count_tests(folder: &Path) -> usize {
    let mut count = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let nested = path.join("Cargo.toml").is_file();
            if path.is_dir() && !path.is_symlink() && !nested {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                count += text.matches("#[test]").count() + text.matches("Trial::test(").count();
                count += text.matches("/// ```\n").count() / 2;
            }
        }
    }
    count
}

fn in_a_clone(list: &mut Vec<String>) -> Result<(), String> {
    let folder = fresh_clone("accept_a_1")?;
    let (line, expected) = example(&folder)?;
    let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
    let run = cargo(&folder, &arguments)?;
    list.push(format!("{line}: {:.0} s", run.seconds));
    if run.stdout.trim() != expected {
        return Err(format!("the command prints:\n{}\nthe README shows:\n{expected}", run.stdout));
    }
    let written = line.split_whitespace().skip_while(|w| *w != "-o").nth(1);
    if let Some(out) = written.filter(|out| !folder.join(out).is_file()) {
        return Err(format!("no module was written to {out}"));
    }
    for member in members(&folder)? {
        let manifest = folder.join(&member).join("Cargo.toml");
        let manifest = manifest.to_string_lossy().into_owned();
        let listing = cargo(&folder, &["test", "--manifest-path", &manifest, "--", "--list"])?;
        let tests = listing.stdout.lines().filter(|l| l.ends_with(": test")).count();
        list.push(format!("{member}: {tests} tests"));
        if tests == 0 {
            return Err(format!("{member} has no tests"));
        }
        // The end-to-end suites are what this line runs in.
        if member != "tests" {
            cargo(&folder, &["test", "--manifest-path", &manifest])?;
        }
    }
    Ok(())
}
