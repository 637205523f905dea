//! Z3 as a process, where the path has it.

use deburr_verify::smt::{Answer, Solver};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Z3; a question may take a second.
pub struct Z3;

/// Z3, if it can be started. Without it a test is skipped, and says so.
pub fn found() -> Option<Z3> {
    let mut command = Command::new("z3");
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let found = command.status().is_ok_and(|status| status.success());
    if !found {
        assert!(std::env::var_os("DEBURR_REQUIRE_TOOLS").is_none(), "needs z3");
        println!("skipped: needs z3");
    }
    found.then_some(Z3)
}

impl Z3 {
    /// All that it prints of a script.
    pub fn says(&self, script: &str) -> String {
        let mut child = Command::new("z3")
            .args(["-in", "-t:1000"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was started a moment ago");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(script.as_bytes()).expect("it reads its input");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Solver for Z3 {
    fn name(&self) -> &str {
        "z3"
    }

    fn ask(&self, script: &str, _quick: bool) -> Answer {
        let said = self.says(script);
        match said.lines().next() {
            Some("unsat") => Answer::Unsat,
            Some("sat") => Answer::Sat,
            // A script that it can't read would prove nothing, ever.
            Some(line) if line.starts_with("(error") => panic!("{said}\n{script}"),
            _ => Answer::Unknown,
        }
    }
}
