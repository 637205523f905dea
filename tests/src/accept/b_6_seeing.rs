//! B 6, the part about seeing what happens: `explain` names the test that fails, the value seen and the rule that came
//! first; `bisect` finds a wrong rule among hundreds of rewrites, in as many runs as halving takes.

use super::corpus::Deburr;
use super::{Args, Outcome, b_6_bisect, b_6_explain};

/// Planted rules at full size, and cases of `explain`, at least.
const PLANTED: u64 = 20;
const CASES: usize = 20;

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = format!(
        "≥ {CASES} cases of `explain` and {PLANTED} wrong rules, each among ≥ 500 rewrites, at full size: all named"
    );
    let mut list = Vec::new();
    let measured = measure(args, &mut list);
    Outcome::of(target, list, measured)
}

fn measure(args: &Args, list: &mut Vec<String>) -> Result<(bool, String), String> {
    let deburr = Deburr::new(args)?;
    let full = args.cases >= 1.0;
    let (cases, missed) = b_6_explain::run(&deburr)?;
    let wrong = missed.len();
    list.extend(missed);
    let found = b_6_bisect::run(&deburr, args.seed, args.count(PLANTED))?;
    let right = found.iter().filter(|f| f.right).count();
    let among = found.iter().map(|f| f.among).min().unwrap_or(0);
    let runs = found.iter().map(|f| f.runs).max().unwrap_or(0);
    let planted = found.len();
    list.extend(found.into_iter().map(|f| f.text));
    let enough = !full || cases >= CASES && planted as u64 == PLANTED;
    let figure = format!(
        "explain: {cases} cases, {wrong} answers wrong; bisect: {right} of {planted} wrong rules found, among {among} \
         rewrites at least, in {runs} runs of the check at most"
    );
    Ok((enough && wrong == 0 && right == planted, figure))
}
