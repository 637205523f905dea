//! Acceptance lines: one named measurement each, run by `tests/accept.rs`.
//!
//! `cargo test --release -p deburr-tests --test accept -- accept_a_6 [--seed N] [--corpus DIR]
//! [--command FILE]` runs one line at full size and prints figure, target, pass or fail, seed, and the list it ran over. Without a name every line runs at the
//! reduced size of a CI run; `DEBURR_CASES` scales both.
//!
//! A new line is a file `a_N.rs` with `pub fn run(&Args) -> Outcome` and a row in [`LINES`].

pub mod a_1;
pub mod a_10;
pub mod a_2;
pub mod a_3;
pub mod a_4;
pub mod a_5;
pub mod a_5_edits;
pub mod a_6;
pub mod a_7;
pub mod a_8;
pub mod a_9;
pub mod b_2;
pub mod b_3;
pub mod b_4;
pub mod b_5;
pub mod b_6_bisect;
pub mod b_6_explain;
pub mod b_6_order;
pub mod b_6_seeing;
pub mod c_1;
pub mod c_2;
pub mod c_3;
pub mod c_4;
pub mod c_5;
pub mod c_7;
mod clone;
pub mod corpus;
pub mod seeded;

use std::fmt;
use std::path::PathBuf;

/// What a line is given.
#[derive(Clone, Debug)]
pub struct Args {
    /// Seed of everything random in the line.
    pub seed: u64,
    /// Modules to run over in place of the line's own, where it runs over modules.
    pub corpus: Option<PathBuf>,
    /// The command to measure in place of the tree's.
    pub command: Option<PathBuf>,
    /// Scale of the random counts: 1.0 is the full size that the acceptance line states.
    pub cases: f64,
}

impl Args {
    /// `full` scaled by [`Args::cases`], at least 1.
    pub fn count(&self, full: u64) -> u64 {
        ((full as f64 * self.cases) as u64).max(1)
    }
}

/// What a line found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The measured figure, as a sentence.
    pub figure: String,
    /// The figure that the line asks for.
    pub target: String,
    /// Whether the figure meets the target.
    pub verdict: Verdict,
    /// What it ran over, one line an item, with the item's own figures.
    pub list: Vec<String>,
}

impl Outcome {
    /// What a measurement gave: whether the target is met and the figure, or why nothing was measured.
    pub fn of(
        target: String,
        list: Vec<String>,
        measured: Result<(bool, String), String>,
    ) -> Outcome {
        match measured {
            Ok((met, figure)) => Outcome { figure, target, verdict: Verdict::of(met), list },
            Err(why) => Outcome::skipped(target, list, why),
        }
    }

    /// Nothing was measured.
    pub fn skipped(target: String, list: Vec<String>, why: String) -> Outcome {
        let figure = "nothing was measured".into();
        Outcome { figure, target, verdict: Verdict::Skipped(why), list }
    }
}

/// Whether a line's figure meets its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The target is met.
    Pass,
    /// The target is missed.
    Fail,
    /// The line can't run here: an outside tool or a corpus is missing.
    Skipped(String),
}

impl Verdict {
    /// `Pass` if `met`, else `Fail`.
    pub fn of(met: bool) -> Verdict {
        if met { Verdict::Pass } else { Verdict::Fail }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Pass => f.write_str("pass"),
            Verdict::Fail => f.write_str("FAIL"),
            Verdict::Skipped(why) => write!(f, "skipped: {why}"),
        }
    }
}

/// One acceptance line.
#[derive(Clone, Copy)]
pub struct Line {
    /// `accept_LETTER_NUMBER`, after the group of lines and the number in it.
    pub name: &'static str,
    /// Measures it.
    pub run: fn(&Args) -> Outcome,
    /// Why the line is not reached yet. An open line is measured only when it is named, and fails then.
    pub open: Option<&'static str>,
}

/// Every acceptance line, in order.
pub const LINES: &[Line] = &[
    Line { name: "accept_a_1", run: a_1::run, open: None },
    Line { name: "accept_a_2", run: a_2::run, open: None },
    Line { name: "accept_a_3", run: a_3::run, open: None },
    Line { name: "accept_a_4", run: a_4::run, open: None },
    Line { name: "accept_a_5", run: a_5::run, open: None },
    Line { name: "accept_a_5_edits", run: a_5_edits::run, open: None },
    Line { name: "accept_a_6", run: a_6::run, open: None },
    Line { name: "accept_a_7", run: a_7::run, open: None },
    Line { name: "accept_a_8", run: a_8::run, open: None },
    Line { name: "accept_a_9", run: a_9::run, open: None },
    Line { name: "accept_a_10", run: a_10::run, open: None },
    Line { name: "accept_b_2", run: b_2::run, open: None },
    Line { name: "accept_b_3", run: b_3::run, open: None },
    Line { name: "accept_b_4", run: b_4::run, open: None },
    Line { name: "accept_b_5", run: b_5::run, open: None },
    Line { name: "accept_b_6_order", run: b_6_order::run, open: None },
    Line { name: "accept_b_6_seeing", run: b_6_seeing::run, open: None },
    Line {
        name: "accept_c_1",
        run: c_1::run,
        open: Some("long sums whose every step may be flushed are tested at 4,000 points"),
    },
    Line { name: "accept_c_2", run: c_2::run, open: None },
    Line { name: "accept_c_3", run: c_3::run, open: None },
    Line { name: "accept_c_4", run: c_4::run, open: None },
    Line { name: "accept_c_5", run: c_5::run, open: None },
    Line { name: "accept_c_7", run: c_7::run, open: None },
    Line { name: "accept_seeded", run: seeded::run, open: None },
];

/// The text that a line prints: list first, so that the verdict is the last thing on the screen.
pub fn report(line: &Line, args: &Args, outcome: &Outcome) -> String {
    let mut text = format!("== {}\n", line.name);
    for item in &outcome.list {
        text.push_str(&format!("   {item}\n"));
    }
    text.push_str(&format!(
        "{}: {}\n  target: {}\n  result: {}\n  seed {}, cases {}, list of {}\n",
        line.name,
        outcome.figure,
        outcome.target,
        outcome.verdict,
        args.seed,
        args.cases,
        outcome.list.len()
    ));
    text
}
