//! Work on several items at once, told of in the order of the items.

use crate::STACK;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Applies a function to every item on some threads. `each` is given the results on the thread of the caller, in the
/// order of the items, each as soon as those before it are there.
pub fn in_order<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    f: impl Fn(&T) -> R + Sync,
    mut each: impl FnMut(R),
) {
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < items.len());
    let (f, take) = (&f, &take);
    std::thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 1..jobs.min(items.len()) {
            let sender = sender.clone();
            let work = move || {
                while let Some(n) = take() {
                    // The receiver lives as long as the scope.
                    let _ = sender.send((n, f(&items[n])));
                }
            };
            // Front ends and parsers recurse: every thread has the stack of the first.
            if std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut told = 0;
        let mut tell = |n: usize, result: R| {
            waiting.insert(n, result);
            while let Some(result) = waiting.remove(&told) {
                told += 1;
                each(result);
            }
        };
        // This thread works too, so that there is one at least.
        while let Some(n) = take() {
            let result = f(&items[n]);
            tell(n, result);
            results.try_iter().for_each(|(n, result)| tell(n, result));
        }
        results.iter().for_each(|(n, result)| tell(n, result));
    });
}

/// Threads that the machine runs at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order() {
        let items: Vec<u32> = (0..100).collect();
        for jobs in [1, 2, 7, 200] {
            let mut results = Vec::new();
            in_order(&items, jobs, |n| n * 2, |r| results.push(r));
            assert_eq!(results, items.iter().map(|n| n * 2).collect::<Vec<_>>(), "{jobs}");
        }
        in_order(&[] as &[u32], 4, |n| *n, |_| unreachable!("there is no item"));
    }
}
