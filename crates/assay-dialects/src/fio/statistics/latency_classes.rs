//! Shares of I/O in fio's latency classes.

use hdrhistogram::Histogram;

use super::DirectionStatistics;
use crate::fio::compile;
use crate::fio::section_options::FioOptions;

/// Exclusive upper bounds of the classes within a unit.
const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Returns the latencies that fio divides into classes: those of calls on files have no completion.
pub(super) fn classified_latency<'s>(
    worker: &FioOptions,
    side: &'s DirectionStatistics,
) -> &'s Histogram<u64> {
    match compile::file_call(worker) {
        Some(_) => &side.latency.all,
        None => &side.completion().all,
    }
}

/// Returns the percent of all I/O per class: below 1 µs, below 1 ms, and from 1 ms.
pub(super) fn class_shares(parts: [&Histogram<u64>; 3]) -> ([f64; 10], [f64; 10], [f64; 12]) {
    let (mut nano, mut micro, mut milli) = ([0.0; 10], [0.0; 10], [0.0; 12]);
    let total: f64 = parts.iter().map(|histogram| histogram.len() as f64).sum();
    if total <= 0.0 {
        return (nano, micro, milli);
    }
    for recorded in parts.iter().flat_map(|histogram| histogram.iter_recorded()) {
        let ns = recorded.value_iterated_to();
        let percent = 100.0 * recorded.count_at_value() as f64 / total;
        let class = |value: u64| BOUNDS.iter().position(|bound| value < *bound);
        match (ns / 1000, ns / 1_000_000) {
            (0, _) => nano[class(ns).unwrap_or(9)] += percent,
            (us, 0) => micro[class(us).unwrap_or(9)] += percent,
            (_, ms) => milli[class(ms).unwrap_or(if ms < 2000 { 10 } else { 11 })] += percent,
        }
    }
    // Keeps nonzero shares visible after rounding, as fio does.
    let seen = |share: &mut f64| {
        if *share > 0.0 {
            *share = share.max(0.01);
        }
    };
    nano.iter_mut().chain(&mut micro).chain(&mut milli).for_each(seen);
    (nano, micro, milli)
}
