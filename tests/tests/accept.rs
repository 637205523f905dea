//! Runs the acceptance lines of `deburr_tests::accept`.
//!
//! `--seed N`, `--corpus DIR` and `--command FILE` are this harness's own; everything else is libtest's command line.

use deburr_tests::accept::{Args, LINES, Verdict, report};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (args, rest, named) = match split_arguments(std::env::args().collect()) {
        Ok(split) => split,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let mut libtest = Arguments::from_iter(rest);
    // The lines print as they end; two at once would mix their tables and disturb each other's timings.
    libtest.test_threads = Some(1);
    let trials = LINES
        .iter()
        .map(|&line| {
            let args = args.clone();
            Trial::test(line.name, move || {
                if let (Some(why), false) = (line.open, named) {
                    println!("{}: open: {why}", line.name);
                    return Ok(());
                }
                let outcome = (line.run)(&args);
                print!("{}", report(&line, &args, &outcome));
                match outcome.verdict {
                    Verdict::Pass => Ok(()),
                    Verdict::Fail => Err(Failed::from(format!("{} misses its target", line.name))),
                    Verdict::Skipped(why) if std::env::var_os("DEBURR_REQUIRE_TOOLS").is_some() => {
                        Err(Failed::from(format!("{} was skipped: {why}", line.name)))
                    }
                    Verdict::Skipped(_) => Ok(()),
                }
            })
        })
        .collect();
    libtest_mimic::run(&libtest, trials).exit_code()
}

/// Takes this harness's options out of the command line; what is left is for libtest.
fn split_arguments(argv: Vec<String>) -> Result<(Args, Vec<String>, bool), String> {
    let mut args = Args { seed: 1, corpus: None, command: None, cases: 0.0 };
    let mut rest = Vec::new();
    let mut named = false;
    let mut argv = argv.into_iter();
    rest.extend(argv.next());
    while let Some(word) = argv.next() {
        let (key, inline) = match word.split_once('=') {
            Some((key, value)) => (key, Some(value.to_string())),
            None => (word.as_str(), None),
        };
        match key {
            "--seed" | "--corpus" | "--command" => {
                let value = inline.or_else(|| argv.next()).ok_or(format!("{key} needs a value"))?;
                match key {
                    "--corpus" => args.corpus = Some(value.into()),
                    "--command" => args.command = Some(value.into()),
                    _ => {
                        args.seed =
                            value.parse().map_err(|_| format!("--seed {value}: not a number"))?;
                    }
                }
            }
            "--skip" | "--test-threads" | "--logfile" | "--format" | "--color" => {
                rest.push(word.clone());
                if inline.is_none() {
                    rest.extend(argv.next());
                }
            }
            _ => {
                named |= !key.starts_with('-');
                if LINES.iter().any(|line| line.name == key) {
                    // A line's name means that line, and not those whose names go on.
                    rest.push("--exact".into());
                }
                rest.push(word);
            }
        }
    }
    let scale = match std::env::var("DEBURR_CASES") {
        Ok(text) => {
            text.parse::<f64>().map_err(|_| format!("DEBURR_CASES={text}: not a number"))?
        }
        Err(_) if named => 1.0,
        Err(_) => 0.01,
    };
    args.cases = scale;
    Ok((args, rest, named))
}
