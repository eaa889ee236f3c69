//! Which intervals of a run its average is made of, and what it is called.

use super::{average_label, first_counted};
use crate::vdbench::RunLabel;

/// From this share of its length on, an interval counts as whole: a busy machine looks at its clock a
/// little late, which makes the next interval a little shorter.
const FULL: f64 = 0.5;

/// The average of a run; `M` adds its intervals up.
#[derive(Debug, Clone)]
pub struct Average<M> {
    /// What was measured.
    pub measured: M,
    /// `avg_2-10`.
    pub label: String,
    /// Intervals of full length.
    pub full: usize,
    /// Whether it is made of what counts; otherwise of all there is, the warm-up included.
    pub counts: bool,
}

/// Whether an interval is of full length.
#[must_use]
pub fn is_whole(label: &RunLabel, length_s: f64) -> bool {
    length_s >= FULL * label.interval_s
}

/// The average over the intervals behind the warm-up that were not cut short: of one that was, a rate can
/// be reported, but no average is made of it. `M` adds intervals up and says how much was done.
pub fn average<M: Default, I>(
    label: &RunLabel,
    intervals: &[I],
    length_s: impl Fn(&I) -> f64,
    add: impl Fn(&mut M, &I),
    done: impl Fn(&M) -> u64,
) -> Average<M> {
    let is_full = |interval: &&I| is_whole(label, length_s(interval));
    let full = intervals.iter().filter(is_full).count();
    let first = first_counted(label);
    let mut measured = M::default();
    let behind = intervals.iter().skip(first.saturating_sub(1)).filter(is_full);
    behind.for_each(|interval| add(&mut measured, interval));
    if done(&measured) > 0 {
        let label = average_label(first, full.max(first));
        return Average { measured, label, full, counts: true };
    }
    let mut whole = M::default();
    intervals.iter().for_each(|interval| add(&mut whole, interval));
    let label = average_label(1, intervals.len().max(1));
    Average { measured: whole, label, full, counts: false }
}
