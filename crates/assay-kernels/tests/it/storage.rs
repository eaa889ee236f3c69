//! Tests of the load generator with files, devices and limits that the tests create.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use assay_kernels::storage::{self, OpenTargets, PhaseControl, PhaseStart, StorageError};
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::{
    AccessPattern, AtEnd, Cursor, EngineChoice, SizeShare, StorageData, StorageLoad,
    StorageStream, StorageTarget, StorageTiming, StorageWorkload, Verify,
};

pub(crate) mod device;
mod endings;
mod failures;
mod fallback;
mod opening;
mod rates;
mod steps;
mod verification;

pub(crate) const MIB: u64 = 1 << 20;

/// Folder that is removed when dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("assay-storage-{}-{nth}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn target(path: &Path, size_bytes: u64) -> StorageTarget {
    StorageTarget::new("t", path.to_owned(), Some(size_bytes))
}

/// Returns the sizes of I/O that is always `bytes` long.
pub(crate) fn size(bytes: u64) -> Vec<SizeShare> {
    vec![SizeShare::single(bytes)]
}

/// Creates a stream on target 0 with eight I/O in flight.
pub(crate) fn stream(pattern: AccessPattern, bytes: u64, read_share: f64) -> StorageStream {
    StorageStream {
        name: "s".to_owned(),
        in_flight_per_target: 8,
        ..StorageStream::new(pattern, bytes, read_share)
    }
}

pub(crate) fn sequential(at_end: AtEnd) -> AccessPattern {
    AccessPattern::Sequential { cursor: Cursor::Shared, at_end, gap_bytes: 0 }
}

/// Creates a workload that lasts for `duration_s`, or until its work is done.
pub(crate) fn workload(
    targets: Vec<StorageTarget>,
    stream: StorageStream,
    duration_s: Option<f64>,
) -> StorageWorkload {
    StorageWorkload {
        timing: StorageTiming { interval_s: 0.25, ..StorageTiming::new(duration_s) },
        seed: 11,
        ..StorageWorkload::new(targets, vec![stream], None)
    }
}

pub(crate) fn run(workload: &StorageWorkload) -> Result<StorageOutcome, StorageError> {
    let stop = AtomicBool::new(false);
    storage::run(
        workload,
        &mut PhaseControl {
            stop: &stop,
            held: &OpenTargets::default(),
            on_ready: None,
            on_interval: &mut |_| {},
        },
    )
}

pub(crate) fn lay_out(target: &StorageTarget, verify: Verify) {
    let data = StorageData { compressible: 0.0, verify };
    let stop = AtomicBool::new(false);
    storage::lay_out(target, &data, 5, (&stop, &OpenTargets::default()), &mut |_, _| {})
        .unwrap();
}

pub(crate) fn count(outcome: &StorageOutcome) -> u64 {
    outcome.tallies.iter().map(|part| part.tally.count).sum()
}
