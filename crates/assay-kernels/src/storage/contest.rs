//! Which of two engines is faster on these targets: the workload itself, twice, for a moment.
//!
//! Nothing of it counts, and nothing is written that the workload would not write.

use assay_model::engine_choice::EngineReason;
use assay_model::seed;
use assay_model::workload::storage::{Load, StorageTiming, StorageWorkload, Verify};

use super::choice::{Chosen, Engine};
use super::error::StorageError;
use super::target::Opened;
use super::{Control, session};

/// Long enough for a few hundred I/O of a slow server.
const MOMENT: StorageTiming = StorageTiming {
    warmup_s: 0.1,
    duration_s: Some(0.4),
    interval_s: 1.0,
    stop_after_bytes: None,
};
/// Numbers of contests among the steps of a case: beyond all of those.
const CONTESTS: u64 = 1 << 32;
/// The second engine must be this much faster to be taken: less is noise of a moment.
const CLEARLY: f64 = 1.05;

/// Tries both in a closed loop, which is where they differ.
pub(super) fn decide(
    workload: &StorageWorkload,
    opened: &[Opened],
    engines: [Engine; 2],
    watched: &Control<'_>,
) -> Result<Chosen, StorageError> {
    let mut short = StorageWorkload { timing: MOMENT, load: Load::Closed, ..workload.clone() };
    for stream in &mut short.streams {
        stream.own_rate_per_s = None;
        stream.stop_after_bytes = None;
    }
    for target in &mut short.targets {
        target.sync_at_end = false;
    }
    // Stamps of a contest would be taken for older writes.
    if short.data.verify != Verify::Off {
        return Ok(Chosen { engine: engines[0], reason: EngineReason::UntriedContest });
    }
    let mut rates = [0.0; 2];
    for (nth, (rate, engine)) in rates.iter_mut().zip(engines).enumerate() {
        // Blocks that the other engine, or the measurement, does not find warm.
        short.seed = seed::derived(workload.seed, CONTESTS + nth as u64);
        let mut control = Control {
            stop: watched.stop,
            held: watched.held,
            on_ready: None,
            on_interval: &mut |_| {},
        };
        let chosen = Chosen { engine, reason: EngineReason::AskedFor };
        let outcome = session::carry_out(&short, opened, chosen, &mut control)?;
        let count: u64 = outcome.tallies.iter().map(|it| it.tally.count).sum();
        *rate = count as f64 / outcome.elapsed_s.max(f64::MIN_POSITIVE);
    }
    let [first, second] = rates;
    let engine = engines[usize::from(second > first * CLEARLY)];
    if engine != engines[0] {
        rates.reverse();
    }
    let reason = EngineReason::Contest { rates_per_s: rates };
    Ok(Chosen { engine, reason })
}
