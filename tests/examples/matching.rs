//! What matching costs on a module: for a profiler, and for lines that count instructions.
//!
//! `matching FILE.spv walk|walk-busy|quiet|busy|nothing TIMES` runs it and prints `instructions rewrites nanoseconds`, the
//! last of the fastest run.

#![forbid(unsafe_code)]

use deburr_tests::accept::corpus::words;
use deburr_tests::matching::{Subject, What};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match &args[..] {
        [file, what, times] => {
            what_of(what).zip(times.parse().ok()).map(|(what, times)| (file, what, times))
        }
        _ => None,
    };
    let Some((file, what, times)) = parsed else {
        eprintln!("usage: matching FILE.spv walk|walk-busy|quiet|busy|nothing TIMES");
        return ExitCode::from(2);
    };
    let module = deburr_spirv::read(&words(file.as_ref()), &deburr_spirv::ReadOptions::default());
    let subject = module.map_err(|e| format!("{e:?}")).and_then(Subject::of);
    match subject {
        Ok(subject) => {
            let time = subject.run(what, times);
            println!("{} {} {}", subject.instrs(what), subject.rewrites, time.as_nanos());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {file}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn what_of(name: &str) -> Option<What> {
    Some(match name {
        "nothing" => What::Nothing,
        "walk" => What::Walk,
        "walk-busy" => What::WalkBusy,
        "quiet" => What::Quiet,
        "busy" => What::Busy,
        _ => return None,
    })
}
