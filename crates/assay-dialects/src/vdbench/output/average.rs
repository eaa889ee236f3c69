//! Average of a run: its intervals and its label.

use serde::{Deserialize, Serialize};

use super::{average_label, first_averaged_interval};
use crate::vdbench::RunLabel;

/// Share of its nominal length from which an interval counts as full. A busy machine reads its
/// clock a little late, which makes the next interval a little shorter.
const FULL_LENGTH_SHARE: f64 = 0.5;

/// Average of a run; `M` holds sums of intervals.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Average<M> {
    /// Sum of the intervals.
    pub totals: M,
    /// Label, like `avg_2-10`.
    pub label: String,
    /// Number of intervals of full length.
    pub full_intervals: usize,
    /// Whether the average excludes the warm-up; otherwise it includes all intervals.
    pub excludes_warmup: bool,
}

/// Whether an interval has its full length.
pub fn is_full_length(label: &RunLabel, length_s: f64) -> bool {
    length_s >= FULL_LENGTH_SHARE * label.interval_s
}

/// Computes the average over the full intervals after the warm-up. Intervals that were cut short
/// are excluded; if nothing remains, all intervals are included. `add` sums intervals, `done`
/// returns the number of operations in a sum.
pub fn average<M: Default, I>(
    label: &RunLabel,
    intervals: &[I],
    length_s: impl Fn(&I) -> f64,
    add: impl Fn(&mut M, &I),
    done: impl Fn(&M) -> u64,
) -> Average<M> {
    let is_full = |interval: &&I| is_full_length(label, length_s(interval));
    let full = intervals.iter().filter(is_full).count();
    let first = first_averaged_interval(label);
    let mut measured = M::default();
    let behind = intervals.iter().skip(first.saturating_sub(1)).filter(is_full);
    behind.for_each(|interval| add(&mut measured, interval));
    if done(&measured) > 0 {
        let label = average_label(first, full.max(first));
        return Average {
            totals: measured,
            label,
            full_intervals: full,
            excludes_warmup: true,
        };
    }
    let mut whole = M::default();
    intervals.iter().for_each(|interval| add(&mut whole, interval));
    let label = average_label(1, intervals.len().max(1));
    Average { totals: whole, label, full_intervals: full, excludes_warmup: false }
}
