//! What the lines that run the command make of one that is wrong: each seeded fault must fail them (ACCEPTANCE 3).
//!
//! A faulty command is a script around the real one.

use super::corpus::{Deburr, has_tool, root, words};
use super::{Args, Outcome, Verdict, a_2, a_3, a_9, a_10};
use std::path::{Path, PathBuf};

/// A line that runs the command.
type Run = fn(&Args) -> Outcome;

/// A fault, the shell that makes it, and the lines that must fail by it.
struct Fault {
    name: &'static str,
    /// Runs in place of the command; `real` is the command, `out` what its `-o` says.
    script: &'static str,
    lines: &'static [(&'static str, Run)],
}

/// The modules of examples are made by the command too: faults leave that alone.
const FAULTS: &[Fault] = &[
    Fault {
        name: "a signal",
        script: "case $* in *opt*) kill -SEGV $$ ;; esac",
        lines: &[("a_2", a_2::run), ("a_3", a_3::run), ("a_9", a_9::run), ("a_10", a_10::run)],
    },
    Fault {
        name: "a panic",
        script: "case $* in *opt*) echo 'thread main panicked' >&2; exit 101 ;; esac",
        lines: &[("a_2", a_2::run), ("a_3", a_3::run), ("a_9", a_9::run), ("a_10", a_10::run)],
    },
    Fault {
        name: "a pass that breaks modules",
        script: "case $* in *opt*) echo 'error[E0040]: pass cse broke the module' >&2; exit 1 ;; esac",
        lines: &[("a_2", a_2::run), ("a_3", a_3::run), ("a_9", a_9::run), ("a_10", a_10::run)],
    },
    Fault {
        name: "refusals",
        script: "case $* in *opt*) echo 'error[E0021]: not supported' >&2; exit 3 ;; esac",
        lines: &[("a_2", a_2::run), ("a_3", a_3::run), ("a_9", a_9::run)],
    },
    Fault {
        name: "modules that spirv-val refuses",
        script: "case $* in *opt*) \"$real\" \"$@\"; code=$?; \
                 for f in $(find \"$out\" -type f); do printf '\\1\\0\\0\\0' >>\"$f\"; done; exit $code ;; esac",
        lines: &[("a_2", a_2::run), ("a_9", a_9::run), ("a_10", a_10::run)],
    },
    Fault {
        name: "another operation",
        script: "case $* in *opt*victim*) cp \"$dir/faulty\" \"$out\"; exit ;; esac",
        lines: &[("a_3", a_3::run)],
    },
    Fault {
        name: "modules larger than they were",
        script: "case $* in *opt*none*) cp \"$dir/large\" \"$out\"; exit ;; esac",
        lines: &[("a_3", a_3::run)],
    },
    Fault {
        name: "a text that lacks a flag",
        script: "case $* in *print*) \"$real\" \"$@\" | sed 's/LocalSize([0-9]*/LocalSize(7/'; exit ;; esac",
        lines: &[("a_3", a_3::run)],
    },
];

/// Runs it.
pub fn run(args: &Args) -> Outcome {
    let target = "every fault fails its lines, and none fails them without one".to_owned();
    let prepared = match has_tool("spirv-val") && has_tool("spirv-opt") && cfg!(unix) {
        true => Deburr::new(args).and_then(|deburr| prepare(&deburr).map(|dir| (deburr, dir))),
        false => Err("needs spirv-val, spirv-opt and a shell".into()),
    };
    let (deburr, dir) = match prepared {
        Ok(prepared) => prepared,
        Err(why) => return Outcome::skipped(target, Vec::new(), why),
    };
    let sound = Fault {
        name: "no fault",
        script: "",
        lines: &[("a_2", a_2::run), ("a_3", a_3::run), ("a_9", a_9::run), ("a_10", a_10::run)],
    };
    let (mut list, mut wrong, mut runs) = (Vec::new(), 0, 0);
    for fault in std::iter::once(&sound).chain(FAULTS) {
        let command = match wrapped(&deburr.path, &dir, fault) {
            Ok(command) => Some(command),
            Err(e) => {
                list.push(e.to_string());
                None
            }
        };
        for (name, line) in fault.lines {
            let corpus = Some(dir.join("corpus"));
            let args = Args { seed: args.seed, corpus, command: command.clone(), cases: 0.005 };
            let outcome = line(&args);
            // A 9 has no figure to reach: what can't be used is counted in it.
            let noticed = outcome.verdict == Verdict::Fail
                || *name == "a_9" && !outcome.figure.contains("not usable: 0,");
            runs += 1;
            if noticed == fault.script.is_empty() {
                wrong += 1;
                list.push(format!("{}: {name}: {}", fault.name, outcome.figure));
                list.extend(outcome.list.into_iter().take(5));
            }
        }
    }
    Outcome {
        figure: format!("{} faults, {runs} runs of lines, {wrong} wrong", FAULTS.len()),
        target,
        verdict: Verdict::of(wrong == 0 && list.is_empty()),
        list,
    }
}

/// A folder with a module to run over, what a faulty optimiser makes of it, and what a wasteful one makes.
fn prepare(deburr: &Deburr) -> Result<PathBuf, String> {
    let dir = deburr.file("seeded", "corpus");
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let victim = root().join("examples/miller_rabin.spv");
    std::fs::copy(&victim, dir.join("victim.spv")).map_err(|e| e.to_string())?;
    let dir = dir.parent().unwrap_or(&dir).to_owned();
    let mut words = words(&victim);
    let mut at = 5;
    let mut changed = 0;
    while let Some(word) = words.get_mut(at) {
        // OpIAdd and OpISub
        if let 128 | 130 = *word & 0xffff {
            *word ^= 128 ^ 130;
            changed += 1;
        }
        at += (*word >> 16).max(1) as usize;
    }
    if changed == 0 {
        return Err("the module has no sum".into());
    }
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(dir.join("faulty"), bytes).map_err(|e| e.to_string())?;
    let large = root().join("examples/sha256.spv");
    std::fs::copy(large, dir.join("large")).map_err(|e| e.to_string())?;
    Ok(dir)
}

/// The command with a fault.
fn wrapped(real: &Path, dir: &Path, fault: &Fault) -> std::io::Result<PathBuf> {
    let path = dir.join(format!("{}.sh", fault.name.replace(' ', "_")));
    let text = format!(
        "#!/bin/sh\nreal='{}'\ndir='{}'\ncase $* in *'--emit input'*) exec \"$real\" \"$@\" ;; esac\n\
         for a; do [ \"$last\" = -o ] && out=$a; last=$a; done\n{}\nexec \"$real\" \"$@\"\n",
        real.display(),
        dir.display(),
        fault.script
    );
    // A script can't be started while a child that was just forked still has it open for writing: it is made once.
    if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(path);
    }
    std::fs::write(&path, text)?;
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(path)
}
