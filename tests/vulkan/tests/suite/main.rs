//! Compute modules of the examples and of the corpus on a Vulkan device: before = after optimisation, and for the
//! examples = the interpreter (`deburr run`).
//!
//! Every module is a named test. `DEBURR_CASES` scales how many modules of the corpus are taken (1.0 = all). A module
//! counts only if it left a value that differs between two seeds, and the suite asks for thirty that count. Where there
//! is no Vulkan device, it says so and passes, or fails under `DEBURR_REQUIRE_TOOLS`.

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
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex};

/// Modules that must have been compared, when no filter is given and the corpus is there.
const AT_LEAST: usize = 30;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let probe = Command::new(env!("CARGO_BIN_EXE_vkrun")).arg("--probe").output();
    match probe {
        Ok(output) if output.status.success() => {
            println!("device: {}", String::from_utf8_lossy(&output.stdout).trim());
        }
        _ if std::env::var_os("DEBURR_REQUIRE_TOOLS").is_some() => {
            eprintln!("error: no Vulkan device");
            return ExitCode::FAILURE;
        }
        _ => {
            println!("skipped: needs a Vulkan device");
            return ExitCode::SUCCESS;
        }
    }
    let deburr = match Deburr::build() {
        Ok(deburr) => Arc::new(deburr),
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::FAILURE;
        }
    };
    let counts = Arc::new(Mutex::new(Counts::default()));
    let modules = list();
    let all = modules.len();
    let trials = modules.into_iter().map(|module: Module| {
        let (deburr, counts) = (deburr.clone(), counts.clone());
        Trial::test(module.name.clone(), move || {
            let found = module.check(&deburr);
            counts.lock().expect("no test panics while it counts").add(&module, &found);
            found.map(drop).map_err(Into::into)
        })
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    let counts = counts.lock().expect("no test panics while it counts");
    println!("{counts}");
    let whole = arguments.filter.is_none() && !arguments.list && conclusion.num_ignored == 0;
    if whole && all >= AT_LEAST && counts.compared() < AT_LEAST {
        eprintln!("error: {} modules were compared, {AT_LEAST} are asked for", counts.compared());
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}
