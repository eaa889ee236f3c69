//! Sums of the results of all workers: totals by stream, target and operation, and the details of
//! each stream.

use std::collections::BTreeMap;

use assay_model::storage_outcome::{
    ErrorCause, FatalError, IoFailure, IoOperation, IoTally, StreamDetails, StreamTally,
};

use crate::clock;

use super::super::phase::PhaseState;
use super::super::tally;
use super::super::timeline::Timeline;
use super::WorkerOutcome;

/// Failed `fsync` at the end, with its error number.
pub(super) type SyncFailure = (IoFailure, i32);

/// Builds the records of the streams from the results of their workers.
pub(super) fn stream_records(
    ends: &mut [WorkerOutcome],
    phase: &PhaseState<'_>,
    (timeline, end_ns): (Timeline, u64),
) -> Vec<StreamDetails> {
    let streams = &phase.workload.streams;
    let mut records = vec![StreamDetails::default(); streams.len()];
    for end in ends {
        let record = &mut records[end.stream];
        let syncs_at_end = |target: &usize| phase.workload.targets[*target].sync_at_end;
        let is_late = streams[end.stream].targets.iter().any(syncs_at_end);
        let last_ns = if is_late { end_ns } else { end.last_ns.min(end_ns) };
        let mut first_ns = end.first_ns.max(timeline.warm_end_ns);
        record.found_depth = record.found_depth.or(end.measured.depth);
        record.never_measured |= end.measured.is_nothing;
        if let Some(restarted_ns) = end.measured.restarted_ns {
            first_ns = first_ns.max(restarted_ns);
            let after_s = clock::seconds_between(timeline.start_ns, restarted_ns);
            record.restarted_s = Some(after_s);
        }
        record.ended_early |= end.ended_early;
        record.errors.merge(&end.errors);
        record.active_s = record.active_s.max(last_ns.saturating_sub(first_ns) as f64 * 1e-9);
        if let Some(part) = end.syncs.take().filter(|part| part.count > 0) {
            tally::add(record.syncs.get_or_insert_with(tally::new_total), &part);
        }
        for (at, parts) in end.split_latency.take().into_iter().flat_map(|it| *it).enumerate() {
            let sums = [&mut record.submissions[at], &mut record.completions[at]];
            for (sum, part) in sums.into_iter().zip([parts.submission, parts.completion]) {
                if part.count > 0 {
                    tally::add(sum.get_or_insert_with(tally::new_total), &part);
                }
            }
        }
        // A stream with priorities has one worker.
        record
            .by_priority
            .extend(end.by_priority.take().into_iter().flat_map(|it| it.into_list()));
        record.journal.append(&mut end.journal);
        if let Some(counts) = &end.batch_counts {
            record.batches.get_or_insert_default().merge(counts);
        }
    }
    for record in &mut records {
        record.journal.sort_by_key(|entry| entry.at_ns);
    }
    records
}

/// Adds failures of `fsync` at the end to the errors of their streams.
pub(super) fn note_sync_failures(records: &mut [StreamDetails], failures: &[SyncFailure]) {
    for (failure, number) in failures {
        if let Some(record) = records.get_mut(failure.stream) {
            record.errors.note_fatal(FatalError {
                number: *number,
                operation: failure.operation,
                cause: ErrorCause::Transfer,
            });
        }
    }
}

/// Adds up the workers' totals, by stream, target and operation.
pub(super) fn merge_totals(ends: Vec<WorkerOutcome>) -> Vec<StreamTally> {
    let mut sums: BTreeMap<(usize, usize, usize), Box<IoTally>> = BTreeMap::new();
    for end in ends {
        for (target, totals) in end.totals {
            for (operation, total) in totals.into_iter().enumerate() {
                // A call on a file may be timed as that of another operation than its I/O.
                let used = total.filter(|it| it.count > 0 || !it.service_ns.is_empty());
                let Some(total) = used else { continue };
                match sums.entry((end.stream, target, operation)) {
                    std::collections::btree_map::Entry::Vacant(place) => {
                        place.insert(total);
                    }
                    std::collections::btree_map::Entry::Occupied(mut sum) => {
                        tally::add(sum.get_mut(), &total);
                    }
                }
            }
        }
    }
    let named =
        |((stream, target, operation), tally): ((usize, usize, usize), Box<IoTally>)| {
            let operation = if operation == 0 { IoOperation::Read } else { IoOperation::Write };
            StreamTally { stream, target, operation, tally: *tally }
        };
    sums.into_iter().map(named).collect()
}
