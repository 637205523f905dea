//! A 5, second half: random sequences of control-flow edits keep the validator silent and the program's meaning.

use super::{Args, Outcome, Verdict};
use crate::edits::{Summary, sequence};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Sequences at full size.
const SEQUENCES: u64 = 100_000;
/// Edits a sequence.
const STEPS: usize = 20;
/// The share of all edits that the rarest kind has, at least.
const RAREST: f64 = 0.01;

/// Runs the line.
pub fn run(args: &Args) -> Outcome {
    let count = args.count(SEQUENCES);
    let next = AtomicU64::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut done = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= count {
                return done;
            }
            let seed = args.seed.wrapping_mul(SEQUENCES).wrapping_add(n);
            done.push((seed, sequence(seed, STEPS)));
        }
    };
    let results: Vec<(u64, Result<Summary, String>)> = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles
            .into_iter()
            .flat_map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    summarise(&results)
}

fn summarise(results: &[(u64, Result<Summary, String>)]) -> Outcome {
    let mut edits: BTreeMap<&str, u64> = BTreeMap::new();
    let mut list = Vec::new();
    let (mut failed, mut shallow, mut phis, mut events, mut steps) = (0, 0, 0, 0, 0);
    for (seed, result) in results {
        match result {
            Ok(summary) => {
                summary.edits.iter().for_each(|e| *edits.entry(e).or_default() += 1);
                shallow += u64::from(summary.depth < 4);
                phis += summary.live_phis;
                events += summary.events;
                steps += summary.edits.len();
            }
            Err(message) => {
                failed += 1;
                if failed <= 3 {
                    list.push(format!("seed {seed}: {message}"));
                }
            }
        }
    }
    list.extend(edits.iter().map(|(name, n)| format!("{name}: {n}")));
    let rarest = edits.values().min().copied().unwrap_or(0) as f64 / steps.max(1) as f64;
    let met = failed == 0
        && shallow == 0
        && phis > results.len()
        && edits.len() == 13
        && rarest >= RAREST;
    Outcome {
        figure: format!(
            "{} sequences, {steps} edits, {failed} broken, {shallow} programs less than 4 deep, {phis} live phis at \
             the end, {events} events compared",
            results.len()
        ),
        target: "0 broken, every program 4 deep, more than 1 live phi a program, every kind of edit at least 1 % of all"
            .into(),
        verdict: Verdict::of(met),
        list,
    }
}
