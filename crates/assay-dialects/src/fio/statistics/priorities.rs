//! Latencies of an entry by priority, as fio sums them up (`sum_clat_prio_stats` in stat.c).

use assay_model::storage_outcome::{IoOperation, IoTally, StorageOutcome};
use serde::{Deserialize, Serialize};

use super::super::compile::{FioPlan, ReportRow, StreamRef};
use super::super::section_options::FioOptions;
use super::FioLatencyStatistics;

/// Latencies of the I/O of one priority.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorityLatency {
    /// Class: 1 = real time, 2 = best effort, 3 = idle; 0 = none.
    pub class: u16,
    /// Level within the class.
    pub level: u16,
    /// Latencies.
    pub latency: FioLatencyStatistics,
}

/// Returns the latencies of all priorities; empty if all I/O has the same.
pub(super) fn by_priority(
    (plan, worker): (&FioPlan, &FioOptions),
    row: &ReportRow,
    outcomes: &[StorageOutcome],
    operations: &[IoOperation],
) -> Vec<PriorityLatency> {
    let conduct =
        |part: &StreamRef| &plan.plan.phases[part.phase].workload.streams[part.stream].conduct;
    let base = |part: &StreamRef| conduct(part).io_priority.unwrap_or(0);
    let first = row.parts.first().map_or(0, base);
    let is_any = |part: &StreamRef| conduct(part).priorities.is_some() || base(part) != first;
    if !row.parts.iter().any(is_any) {
        return vec![];
    }
    let mut found: Vec<(u16, Vec<&IoTally>)> = vec![];
    let mut add = |priority: u16, tally| match found.iter_mut().find(|it| it.0 == priority) {
        Some((_, tallies)) => tallies.push(tally),
        None => found.push((priority, vec![tally])),
    };
    for part in &row.parts {
        let Some(outcome) = outcomes.get(part.phase) else { continue };
        let Some(record) = outcome.streams.get(part.stream) else { continue };
        for operation in operations {
            let mut own = record.by_priority.iter().filter(|it| it.operation == *operation);
            let completions = &record.completions[*operation as usize];
            let totals = outcome
                .tallies
                .iter()
                .filter(|tally| tally.stream == part.stream && tally.operation == *operation);
            if let Some(threads) = own.next() {
                add(base(part), &threads.tally);
                own.for_each(|it| add(it.priority, &it.tally));
            } else if let (Some(tally), false) = (completions, worker.lat_percentiles) {
                add(base(part), tally);
            } else {
                totals.for_each(|total| add(base(part), &total.tally));
            }
        }
    }
    let latency = |(priority, tallies): (u16, Vec<&IoTally>)| {
        let latency = FioLatencyStatistics::from_tallies(&tallies)?;
        Some(PriorityLatency { class: priority >> 13, level: priority & 7, latency })
    };
    let all: Vec<_> = found.into_iter().filter_map(latency).collect();
    // fio prints nothing of a single one.
    if all.len() > 1 { all } else { vec![] }
}
