//! SMT solvers on the path, as processes.

use crate::codes;
use crate::report::{Diagnostic, Kind};
use deburr_verify::smt::{Answer, Solver};
use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A solver that is asked by starting it.
pub struct Process {
    name: &'static str,
    limit: Duration,
    /// The option that limits a question, of so many milliseconds.
    option: fn(u128) -> Vec<OsString>,
}

/// Solvers by name, the most useful first.
const KNOWN: [(&str, fn(u128) -> Vec<OsString>); 3] = [
    ("bitwuzla", |ms| vec!["--time-limit".into(), ms.to_string().into()]),
    ("z3", |ms| vec![format!("-t:{ms}").into()]),
    ("cvc5", |ms| vec!["--fp-exp".into(), format!("--tlimit={ms}").into()]),
];

/// The solvers that can be started; each question may take so long.
pub fn on_path(limit: Duration) -> Vec<Process> {
    let starts = |name: &str| {
        let mut command = Command::new(name);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = KNOWN.iter().filter(|(name, _)| starts(name));
    found.map(|(name, option)| Process { name, limit, option: *option }).collect()
}

/// The solvers for a budget; none are wanted without one, and one at least is needed with it.
pub fn of_budget(budget: Option<Duration>) -> Result<Vec<Process>, Diagnostic> {
    let found = budget.map(on_path).unwrap_or_default();
    match budget.is_some() && found.is_empty() {
        true => {
            let message = "there is no solver on the path";
            let d = Diagnostic::new("verify", Kind::Tool, codes::SOLVER, message);
            Err(d.help("install bitwuzla, z3 or cvc5"))
        }
        false => Ok(found),
    }
}

impl Solver for Process {
    fn name(&self) -> &str {
        self.name
    }

    fn ask(&self, script: &str) -> Answer {
        self.try_ask(script).unwrap_or(Answer::Unknown)
    }
}

impl Process {
    fn try_ask(&self, script: &str) -> std::io::Result<Answer> {
        let mut file = tempfile::Builder::new().prefix("deburr").suffix(".smt2").tempfile()?;
        file.write_all(script.as_bytes())?;
        file.flush()?;
        let mut child = Command::new(self.name)
            .args((self.option)(self.limit.as_millis()))
            .arg(file.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        // It looks at its clock now and then only.
        let end = Instant::now() + self.limit * 2 + Duration::from_secs(1);
        let mut pause = Duration::from_millis(1);
        while child.try_wait()?.is_none() {
            if Instant::now() > end {
                child.kill()?;
                child.wait()?;
                return Ok(Answer::Unknown);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        // It has ended, and an answer is shorter than what a pipe holds.
        let output = child.wait_with_output()?;
        Ok(match String::from_utf8_lossy(&output.stdout).lines().next() {
            Some("unsat") => Answer::Unsat,
            Some("sat") => Answer::Sat,
            _ => Answer::Unknown,
        })
    }
}
