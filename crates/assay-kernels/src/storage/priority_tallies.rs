//! Latencies of a worker by the priority of its I/O.

use assay_model::storage_outcome::{IoOperation, IoTally, PriorityTally};
use assay_model::workload::storage::IoPriorities;

use super::tally;

/// Tallies of reads and of writes: that of the threads' priority first, then in the order of the
/// shares.
#[derive(Debug)]
pub(super) struct PriorityTallies {
    ways: [Vec<(u16, IoTally)>; 2],
    from_submission: bool,
}

impl PriorityTallies {
    /// Creates empty tallies for all priorities that can occur.
    pub(super) fn new(priorities: &IoPriorities) -> Self {
        let way = |way: usize| {
            let mut tallies = Vec::new();
            let shares = &priorities.ways[way];
            let own = (!shares.is_empty()).then_some(0);
            for priority in own.into_iter().chain(shares.iter().map(|share| share.priority)) {
                if tallies.iter().all(|(known, _)| *known != priority) {
                    tallies.push((priority, tally::new_total()));
                }
            }
            tallies
        };
        Self { ways: [way(0), way(1)], from_submission: priorities.from_submission }
    }

    /// Counts an I/O with its latencies: from before its submission, and from after it.
    pub(super) fn record(
        &mut self,
        operation: IoOperation,
        priority: u16,
        (service_ns, completion_ns): (u64, u64),
    ) {
        let ns = if self.from_submission { service_ns } else { completion_ns };
        let tallies = &mut self.ways[operation as usize];
        if let Some((_, tally)) = tallies.iter_mut().find(|(known, _)| *known == priority) {
            tally::record(tally, 0, ns, None);
        }
    }

    /// Clears all tallies.
    pub(super) fn clear(&mut self) {
        self.ways.iter_mut().flatten().for_each(|(_, tally)| tally::clear(tally));
    }

    /// Returns the tallies of reads, then of writes.
    pub(super) fn into_list(self) -> impl Iterator<Item = PriorityTally> {
        let [reads, writes] = self.ways;
        let of =
            |operation| move |(priority, tally)| PriorityTally { operation, priority, tally };
        let reads = reads.into_iter().map(of(IoOperation::Read));
        reads.chain(writes.into_iter().map(of(IoOperation::Write)))
    }
}
