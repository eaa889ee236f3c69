//! Shares of the I/O by depth, and of the calls that submitted and collected it by their size.

use assay_model::storage_outcome::{BatchCounts, StorageOutcome};

use super::super::compile::{ReportRow, blocks};
use super::super::section_options::FioOptions;

/// Classes of depths and of calls.
const CLASSES: usize = 7;

/// Percent of I/O with 1, 2, 4, … 64 and more in flight, and percent of calls with 0, 4, 8, … 64 and
/// more I/O.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BatchShares {
    pub(super) depths: [f64; CLASSES],
    pub(super) submissions: [f64; CLASSES],
    pub(super) collections: [f64; CLASSES],
}

impl BatchShares {
    /// Returns the shares of an entry with `ios` I/O.
    pub(super) fn new(
        worker: &FioOptions,
        row: &ReportRow,
        outcomes: &[StorageOutcome],
        ios: u64,
    ) -> Self {
        let streams = row
            .parts
            .iter()
            .filter_map(|part| outcomes.get(part.phase)?.streams.get(part.stream));
        let mut counts: Option<BatchCounts> = None;
        for part in streams.filter_map(|stream| stream.batches.as_ref()) {
            counts.get_or_insert_default().merge(part);
        }
        let counts = counts.unwrap_or_else(|| {
            // One I/O at a time; only engines that block count it as a call.
            let calls = [0, if blocks(worker) { ios } else { 0 }, 0, 0, 0, 0, 0];
            let depths = [ios, 0, 0, 0, 0, 0, 0];
            BatchCounts { depths, submissions: calls, collections: calls }
        });
        Self {
            depths: shares(&counts.depths, ios),
            submissions: shares(&counts.submissions, counts.submissions.iter().sum()),
            collections: shares(&counts.collections, counts.collections.iter().sum()),
        }
    }
}

/// Returns percentages of a total; those that are not zero are 0.1 at least, as in fio.
fn shares(counts: &[u64; CLASSES], total: u64) -> [f64; CLASSES] {
    counts.map(|count| match (count, total) {
        (0, _) | (_, 0) => 0.0,
        (count, total) => (count as f64 / total as f64 * 100.0).max(0.1),
    })
}
