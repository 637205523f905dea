//! Running two modules on the same inputs and comparing what they write.

use crate::rng::Rng;
use deburr_eval::{Buffer, Dispatch, Outcome, Trap, run};
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
    dispatch.buffers = vec![buffer(0, input), buffer(1, vec![0; words * 4])];
    dispatch.fuel = 2_000_000;
    dispatch
}

/// Runs both modules and compares the buffers bit for bit where the first run is clean.
pub fn compare(before: &Module, after: &Module, dispatch: &Dispatch) -> Verdict {
    let first = match run(before, dispatch) {
        Ok(outcome) => outcome,
        Err(trap) => return Verdict::Skipped(format!("before: {trap}")),
    };
    if first.free_control {
        return Verdict::Skipped("control flow depends on a free value".into());
    }
    match run(after, dispatch) {
        Ok(second) => compare_outcomes(&first, &second),
        Err(Trap::Fuel) => Verdict::Skipped("after: the fuel ran out".into()),
        // What ran before must run after.
        Err(trap) => Verdict::Trapped(trap),
    }
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
