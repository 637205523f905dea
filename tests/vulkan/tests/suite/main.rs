//! Compute modules of the examples and of the corpus on a Vulkan device: before = after optimisation, and = the
//! interpreter (`deburr run`).
//!
//! Every module is a named test. `DEBURR_CASES` scales how many modules of the corpus are taken (1.0 = all up to
//! 16 KiB). A module counts only if 70 % of its blocks ran and it left a value that differs between two seeds; the suite
//! asks for thirty that count. Where there is no Vulkan device, it says so and passes, or fails under
//! `DEBURR_REQUIRE_TOOLS`.
//! `--seed N` and `--corpus DIR` (in place of examples and corpus) are its own options; all others are libtest's.

mod compare;
mod modules;
#[path = "../../../src/reference/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    clippy::all,
    reason = "the main workspace checks it, and uses the rest"
)]
mod reference;

use libtest_mimic::{Arguments, Trial};
use modules::{Counts, Deburr, Module, list};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex};

/// Modules that must have been compared, when no filter is given and the corpus is there.
const AT_LEAST: usize = 30;

/// What the suite is given beside libtest's options.
pub struct Options {
    /// The first of the two seeds of the inputs.
    seed: u64,
    /// Modules in place of the suite's own.
    corpus: Option<PathBuf>,
}

fn main() -> ExitCode {
    let (options, arguments) = match options(std::env::args().collect()) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let probe = Command::new(env!("CARGO_BIN_EXE_vkrun")).arg("--probe").output();
    let subgroup = match probe {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            let (subgroup, name) = text.trim().split_once(' ').unwrap_or(("32", "unnamed"));
            println!("device: {name}, subgroups of {subgroup}");
            subgroup.to_owned()
        }
        _ if std::env::var_os("DEBURR_REQUIRE_TOOLS").is_some() => {
            eprintln!("error: no Vulkan device");
            return ExitCode::FAILURE;
        }
        _ => {
            println!("skipped: needs a Vulkan device");
            return ExitCode::SUCCESS;
        }
    };
    let deburr = match Deburr::build(subgroup) {
        Ok(deburr) => Arc::new(deburr),
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::FAILURE;
        }
    };
    let counts = Arc::new(Mutex::new(Counts::default()));
    let modules = list(options.corpus.as_deref());
    let all = modules.len();
    let seed = options.seed;
    let trials = modules.into_iter().map(|module: Module| {
        let (deburr, counts) = (deburr.clone(), counts.clone());
        Trial::test(module.name.clone(), move || {
            let found = module.check(&deburr, seed);
            counts.lock().expect("no test panics while it counts").add(&module, &found);
            found.map(drop).map_err(Into::into)
        })
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    let counts = counts.lock().expect("no test panics while it counts");
    println!("{counts}");
    let whole = arguments.filter.is_none() && !arguments.list && conclusion.num_ignored == 0;
    let (compared, interpreted) = (counts.compared(), counts.interpreted());
    if whole && all >= AT_LEAST && compared.min(interpreted) < AT_LEAST {
        eprintln!(
            "error: {compared} and {interpreted} modules were compared, {AT_LEAST} are asked for"
        );
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// Takes this suite's options out of the command line.
fn options(argv: Vec<String>) -> Result<(Options, Arguments), String> {
    let mut options = Options { seed: 1, corpus: None };
    let mut rest = Vec::new();
    let mut argv = argv.into_iter();
    while let Some(word) = argv.next() {
        let mut value = || argv.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--seed" => {
                let text = value()?;
                options.seed = text.parse().map_err(|_| format!("--seed {text}: not a number"))?;
            }
            "--corpus" => options.corpus = Some(value()?.into()),
            _ => rest.push(word),
        }
    }
    Ok((options, Arguments::from_iter(rest)))
}
