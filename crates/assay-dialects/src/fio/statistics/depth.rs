//! Distribution of the queue depth, estimated from the mean depth of every interval.

use assay_model::storage_outcome::{IntervalTally, StorageOutcome};

use super::super::compile::ReportRow;

/// Returns the percent of an entry's I/O done with 1, 2, 3–4, 5–8, 9–16, 17–32 and more in flight.
///
/// The mean depth of an interval is divided among streams in proportion to their I/O in it. This
/// holds if they wait for the same storage.
pub(super) fn levels(row: &ReportRow, outcomes: &[StorageOutcome]) -> [f64; 7] {
    let mut levels = [0.0; 7];
    let mut total = 0.0;
    for (index, outcome) in outcomes.iter().enumerate() {
        let parts: Vec<usize> =
            row.parts.iter().filter(|it| it.phase == index).map(|it| it.stream).collect();
        for interval in outcome.intervals.iter().filter(|it| !it.warmup) {
            let all: u64 = interval.streams.iter().map(|it| it.reads + it.writes).sum();
            let mine: u64 = parts.iter().map(|stream| ios(interval, *stream)).sum();
            if mine == 0 {
                continue;
            }
            let share = mine as f64 / all.max(1) as f64 / parts.len() as f64;
            levels[level(interval.in_flight * share)] += mine as f64;
            total += mine as f64;
        }
    }
    if total > 0.0 {
        levels.iter_mut().for_each(|level| *level *= 100.0 / total);
    }
    levels
}

fn ios(interval: &IntervalTally, stream: usize) -> u64 {
    interval.streams.get(stream).map_or(0, |it| it.reads + it.writes)
}

fn level(in_flight: f64) -> usize {
    match in_flight.round() as u64 {
        0 | 1 => 0,
        2 => 1,
        3..=4 => 2,
        5..=8 => 3,
        9..=16 => 4,
        17..=32 => 5,
        _ => 6,
    }
}
