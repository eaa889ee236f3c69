//! Results of jobs that ended within their warm-up.

use assay_model::storage_outcome::{IntervalTally, IoOperation, IoTally, StorageOutcome};

use super::super::compile::{self, StreamRef};
use super::super::section_options::FioOptions;
use super::samples;

/// Returns I/O, bytes and seconds of a stream in a phase that ended within its warm-up: fio reports
/// them without latencies.
pub(super) fn only_warm_up(
    outcome: &StorageOutcome,
    part: StreamRef,
    operations: &[IoOperation],
) -> Option<(u64, u64, f64)> {
    let is_unmeasured = outcome.streams.get(part.stream).is_some_and(|it| it.never_measured);
    if !is_unmeasured && outcome.intervals.iter().any(|interval| !interval.warmup) {
        return None;
    }
    let (mut ios, mut bytes, mut elapsed_s, mut length_s) = (0, 0, 0.0, 0.0);
    for interval in &outcome.intervals {
        elapsed_s += interval.length_s;
        for operation in operations {
            let more = samples::stream_counts(interval, part.stream, *operation);
            (ios, bytes) = (ios + more.0, bytes + more.1);
            // Other streams may go on after this one.
            if more.0 > 0 || !is_unmeasured {
                length_s = elapsed_s;
            }
        }
    }
    (ios > 0).then_some((ios, bytes, length_s))
}

/// Returns the latencies of calls on files in a phase of one stream that ended within its warm-up, which
/// fio counts. The intervals do not tell those of several streams apart.
pub(super) fn calls_of_warm_up<'o>(
    job: &FioOptions,
    outcome: &'o StorageOutcome,
    operations: &[IoOperation],
) -> Vec<&'o IoTally> {
    if compile::file_call(job).is_none() || outcome.streams.len() > 1 {
        return vec![];
    }
    let of_interval =
        |it: &'o IntervalTally| operations.iter().map(|operation| it.tally_of(*operation));
    outcome.intervals.iter().flat_map(of_interval).collect()
}
