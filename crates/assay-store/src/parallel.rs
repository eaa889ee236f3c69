//! Parallel map over independent items. Results have the order of a sequential loop; no thread
//! outlives the call.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// Maximum number of threads; more would wait for the same disk or memory.
const MAX_THREADS: usize = 8;

/// Applies `of` to each item and returns the results in order. Each thread gets at least `fewest`
/// items, to amortise its start.
pub(crate) fn parallel_map<T: Sync, R: Send>(
    items: &[T],
    fewest: usize,
    of: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let threads = processors.min(items.len() / fewest.max(1));
    if threads < 2 {
        return items.iter().map(of).collect();
    }
    let of = &of;
    thread::scope(|scope| {
        let part = |items| move || Iterator::map(<[T]>::iter(items), of).collect::<Vec<R>>();
        let parts = items.chunks(items.len().div_ceil(threads));
        let start = |items| thread::Builder::new().spawn_scoped(scope, part(items));
        // This thread does the work of a thread that cannot be started.
        let parts: Vec<_> =
            parts.map(|items| start(items).map_err(|_| part(items)())).collect();
        let done = parts.into_iter().flat_map(|it| match it {
            Ok(started) => started.join().unwrap_or_else(|it| resume_unwind(it)),
            Err(done) => done,
        });
        done.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_map_matches_loop() {
        for count in [0, 1, 2, 7, 100, 1001] {
            let items: Vec<usize> = (0..count).collect();
            let expected: Vec<usize> = items.iter().map(|it| it * 3).collect();
            for fewest in [0, 1, 10, 5000] {
                assert_eq!(
                    parallel_map(&items, fewest, |it| it * 3),
                    expected,
                    "{count} {fewest}"
                );
            }
        }
    }
}
