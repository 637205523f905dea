//! Running two modules on the same inputs and comparing what they write.

use crate::rng::Rng;
use deburr_eval::{Buffer, BufferResult, Dispatch, Outcome, Trap, run};
use deburr_ir_core::Module;

/// How two runs compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every clean byte is the same.
    Same {
        /// Bytes that were compared.
        compared: usize,
        /// Bytes that were free in the first run.
        free: usize,
    },
    /// A byte that is clean before differs after.
    Different(Difference),
    /// The second run did not come to its end, though the first one did.
    Trapped(Trap),
    /// Nothing can be said: control flow depended on a free value, or a run was given up.
    Skipped(String),
}

/// The first byte that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Set and binding.
    pub buffer: (u32, u32),
    /// Byte offset.
    pub offset: usize,
    /// The word around it before.
    pub before: u32,
    /// The word around it after.
    pub after: u32,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (set, binding) = self.buffer;
        write!(
            f,
            "set {set} binding {binding} byte {}: {:#010x} before, {:#010x} after",
            self.offset, self.before, self.after
        )
    }
}

/// Inputs for the programs of [`program`](crate::program).
pub fn inputs(seed: u64) -> Dispatch {
    let mut rng = Rng::new(seed);
    let words = (crate::generate::INVOCATIONS * crate::generate::WORDS) as usize;
    let input: Vec<u8> = (0..words).flat_map(|_| (rng.edge(32) as u32).to_le_bytes()).collect();
    let mut dispatch = Dispatch::default();
    let buffer = |binding, bytes| Buffer { set: 0, binding, element: 0, bytes };
    let outputs = (crate::generate::INVOCATIONS * crate::generate::OUTPUTS) as usize;
    let counters = words.min(16);
    dispatch.buffers =
        vec![buffer(0, input), buffer(1, vec![0; outputs * 4]), buffer(2, vec![1; counters * 4])];
    dispatch.fuel = 2_000_000;
    dispatch
}

/// How far the words of a buffer may be off where licences were used: a bound for each word, as an absolute error.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerance {
    /// Set and binding of the buffer.
    pub buffer: (u32, u32),
    /// For each 32-bit word of the buffer, read as a float, the largest difference.
    pub words: Vec<f64>,
}

/// Runs both modules and compares the buffers bit for bit where the first run is clean.
pub fn compare(before: &Module, after: &Module, dispatch: &Dispatch) -> Verdict {
    compare_within(before, after, dispatch, None)
}

/// As [`compare`], but the words of one buffer may differ as far as is said.
pub fn compare_within(
    before: &Module,
    after: &Module,
    dispatch: &Dispatch,
    tolerance: Option<&Tolerance>,
) -> Verdict {
    let first = match run(before, dispatch) {
        Ok(outcome) => outcome,
        Err(trap) => return Verdict::Skipped(format!("before: {trap}")),
    };
    if first.free_control {
        return Verdict::Skipped("control flow depends on a free value".into());
    }
    match run(after, dispatch) {
        Ok(second) => match tolerance {
            None => compare_outcomes(&first, &second),
            Some(tolerance) => compare_floats(&first, &second, tolerance),
        },
        Err(Trap::Fuel) => Verdict::Skipped("after: the fuel ran out".into()),
        // What ran before must run after.
        Err(trap) => Verdict::Trapped(trap),
    }
}

/// Compares one buffer word by word within the tolerance, as floats. Choices, such as whether a sum of products is
/// fused, are within the tolerance too.
fn compare_floats(first: &Outcome, second: &Outcome, tolerance: &Tolerance) -> Verdict {
    let find = |outcome: &Outcome| {
        let is_it = |b: &&BufferResult| (b.buffer.set, b.buffer.binding) == tolerance.buffer;
        outcome.buffers.iter().find(is_it).cloned()
    };
    let (Some(a), Some(b)) = (find(first), find(second)) else {
        return Verdict::Skipped("the buffer of the tolerance is not there".into());
    };
    let mut compared = 0;
    for (n, bound) in tolerance.words.iter().enumerate() {
        let at = 4 * n;
        compared += 4;
        let word = |b: &BufferResult| {
            let w = &b.buffer.bytes[at..at + 4];
            u32::from_le_bytes([w[0], w[1], w[2], w[3]])
        };
        let (x, y) = (word(&a), word(&b));
        let apart = (f64::from(f32::from_bits(x)) - f64::from(f32::from_bits(y))).abs();
        // A NaN is never near.
        if x != y && (apart.is_nan() || apart > *bound) {
            let buffer = tolerance.buffer;
            return Verdict::Different(Difference { buffer, offset: at, before: x, after: y });
        }
    }
    Verdict::Same { compared, free: 0 }
}

/// Compares the buffers of two runs.
pub fn compare_outcomes(first: &Outcome, second: &Outcome) -> Verdict {
    let (mut compared, mut free) = (0, 0);
    for (a, b) in first.buffers.iter().zip(&second.buffers) {
        let word = |bytes: &[u8], at: usize| {
            let at = at & !3;
            bytes.get(at..at + 4).map_or(0, |w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
        };
        for (n, (x, y)) in a.buffer.bytes.iter().zip(&b.buffer.bytes).enumerate() {
            // A NaN's payload is free, and so is what the word around it holds.
            if a.free[n] || a.nan[n] {
                free += 1;
                continue;
            }
            compared += 1;
            if x != y {
                return Verdict::Different(Difference {
                    buffer: (a.buffer.set, a.buffer.binding),
                    offset: n,
                    before: word(&a.buffer.bytes, n),
                    after: word(&b.buffer.bytes, n),
                });
            }
        }
    }
    Verdict::Same { compared, free }
}
