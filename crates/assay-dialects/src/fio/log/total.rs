//! Bandwidth of all jobs together over time, a file for each direction (`--bandwidth-log`).

use std::collections::HashMap;
use std::io::{self, Write};

use assay_model::storage_outcome::{IntervalTally, IoOperation, StorageOutcome};

use super::super::compile::FioPlan;
use super::super::section_options::{DirectionReport, RwMode};
use super::{FULL_WINDOW_SHARE, clone_parts, direction_counts, direction_number};

/// Names of fio's files, by the number of their direction.
pub(super) const PATHS: [&str; 3] = ["agg-read_bw.log", "agg-write_bw.log", "agg-trim_bw.log"];

/// Writes a line per window of `bwavgtime`, also without I/O: `time in ms, KiB/s, direction, 0, 0`.
/// The time is that since the first phase began.
pub(super) fn write(
    plan: &FioPlan,
    direction: u8,
    (outcomes, began_ms): (&[StorageOutcome], &[u64]),
    to: &mut dyn Write,
) -> io::Result<()> {
    let modes = stream_modes(plan);
    let is_mixed =
        plan.options.iter().any(|job| job.direction_report == DirectionReport::Mixed);
    let window_s = plan.options.iter().map(|job| job.sample_s).fold(f64::INFINITY, f64::min);
    let began = |phase: usize| began_ms.get(phase).copied().unwrap_or(0);
    for (phase, outcome) in outcomes.iter().enumerate() {
        let mut bytes = 0;
        let (mut length_s, mut at_s) = (0.0, 0.0);
        for interval in outcome.intervals.iter().filter(|it| !it.warmup) {
            length_s += interval.length_s;
            at_s += interval.length_s;
            bytes += interval_bytes(interval, |stream, operation| {
                let mode = modes.get(&(phase, stream)).copied().unwrap_or(RwMode::READ);
                let number = if is_mixed { 0 } else { direction_number(mode, operation) };
                number == direction
            });
            if length_s < window_s * FULL_WINDOW_SHARE {
                continue;
            }
            let at_ms = began(phase).saturating_sub(began(0)) + (at_s * 1e3).round() as u64;
            let value = (bytes as f64 / 1024.0 / length_s) as u64;
            writeln!(to, "{at_ms}, {value}, {direction}, 0, 0")?;
            (bytes, length_s) = (0, 0.0);
        }
    }
    Ok(())
}

/// Returns the mode of each stream of each phase.
fn stream_modes(plan: &FioPlan) -> HashMap<(usize, usize), RwMode> {
    let parts = plan.clones.iter().flat_map(|clone| {
        let mode = plan.options[clone.section].rw;
        clone_parts(plan, *clone).map(move |part| ((part.phase, part.stream), mode))
    });
    parts.collect()
}

/// Returns the bytes of an interval in the operations that count.
fn interval_bytes(
    interval: &IntervalTally,
    counts: impl Fn(usize, IoOperation) -> bool,
) -> u64 {
    let operations = [IoOperation::Read, IoOperation::Write];
    let of_stream = |(stream, count)| {
        let counted = operations.into_iter().filter(|it| counts(stream, *it));
        counted.map(|it| direction_counts(count, it).1).sum::<u64>()
    };
    interval.streams.iter().enumerate().map(of_stream).sum()
}
