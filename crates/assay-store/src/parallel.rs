//! Parallel map over independent items. Results have the order of a sequential loop; no thread
//! outlives the call.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// Maximum number of threads; more would wait for the same disk or memory.
const MAX_THREADS: usize = 8;

/// Applies `map_item` to each item and returns the results in order. Each thread gets at least
/// `min_items` items, to amortise its start.
pub fn parallel_map<T: Sync, R: Send>(
    items: &[T],
    min_items: usize,
    map_item: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let threads = processors.min(items.len() / min_items.max(1));
    if threads < 2 {
        return items.iter().map(map_item).collect();
    }
    let map_item = &map_item;
    thread::scope(|scope| {
        let map_part =
            |items| move || Iterator::map(<[T]>::iter(items), map_item).collect::<Vec<R>>();
        let parts = items.chunks(items.len().div_ceil(threads));
        let start = |items| thread::Builder::new().spawn_scoped(scope, map_part(items));
        // This thread does the work of a thread that cannot be started.
        let parts: Vec<_> =
            parts.map(|items| start(items).map_err(|_| map_part(items)())).collect();
        let results = parts.into_iter().flat_map(|part| match part {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(result) => result,
        });
        results.collect()
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
            for min_items in [0, 1, 10, 5000] {
                assert_eq!(
                    parallel_map(&items, min_items, |it| it * 3),
                    expected,
                    "{count} {min_items}"
                );
            }
        }
    }
}
