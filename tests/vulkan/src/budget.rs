//! How long a process may go on.
//!
//! A shader that doesn't end burns processor time, one that is compiled on a busy machine waits for it. So time on the
//! clock counts only where the system doesn't tell the processor time, and where it is far beyond it: a barrier that
//! nobody comes to burns none.

use std::time::{Duration, Instant};

/// Times on the clock that make up for one of processor time.
const PATIENCE: u32 = 10;

/// A budget of processor time.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    started: Instant,
    /// Processor time at the start.
    used: Option<Duration>,
    limit: Duration,
}

impl Budget {
    /// A budget that begins now.
    pub fn new(seconds: u64) -> Budget {
        Budget { started: Instant::now(), used: used(), limit: Duration::from_secs(seconds) }
    }

    /// Whether it is spent.
    pub fn is_spent(&self) -> bool {
        let elapsed = self.started.elapsed();
        match used().zip(self.used) {
            Some((now, then)) => {
                now.saturating_sub(then) >= self.limit || elapsed >= PATIENCE * self.limit
            }
            None => elapsed >= self.limit,
        }
    }
}

/// Processor time of the process, where `/proc` tells it: in hundredths of a second on every Linux that has a Vulkan
/// driver.
fn used() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name before it may hold anything, a closing parenthesis too.
    let (_, numbers) = stat.rsplit_once(')')?;
    let mut times = numbers.split_whitespace().skip(11);
    let mut next = || times.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (next()? + next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_spends_it() {
        let budget = Budget::new(0);
        assert!(budget.is_spent());
        let Some(before) = used() else { return };
        let mut n = 0u64;
        while used().expect("told before") < before + Duration::from_millis(50) {
            n = std::hint::black_box(n.wrapping_mul(3) + 1);
        }
        let budget = Budget {
            started: Instant::now(),
            used: Some(before),
            limit: Duration::from_millis(50),
        };
        assert!(budget.is_spent());
        assert!(!Budget { limit: Duration::from_secs(1000), ..budget }.is_spent());
    }
}
