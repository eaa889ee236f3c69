//! Engines that make a call on each file instead of I/O: `filecreate`, `filestat`, `filedelete`.

use assay_model::workload::storage::FileCall;

use super::super::job_error::FioJobError;
use super::super::section_options::{FioOptions, VerifyMode};
use super::{LocatedOptions, conflict};

/// Engine that creates its files; nothing else creates them.
pub(super) const CREATE: &str = "filecreate";
pub(super) const STAT: &str = "filestat";
pub(super) const DELETE: &str = "filedelete";

/// Returns the call that the engine of a job makes on each of its files.
pub(in crate::fio) fn file_call(job: &FioOptions) -> Option<FileCall> {
    match job.engine.as_str() {
        CREATE => Some(FileCall::Create),
        STAT => Some(job.behaviour.inspection),
        DELETE => Some(FileCall::Delete),
        _ => None,
    }
}

/// Rejects options of I/O that such an engine does not make.
pub(super) fn check(placed: &LocatedOptions) -> Result<(), FioJobError> {
    let (job, _) = placed;
    if file_call(job).is_none() {
        return Ok(());
    }
    let excluded = [
        ("trims", job.rw.has_trims()),
        ("verify", job.verify != VerifyMode::Off),
        ("fsync and its like", job.sync_every > 0),
        ("write_iolog", job.logs.trace.is_some()),
        ("write_hist_log", job.logs.histogram.is_some()),
        ("read_iolog", job.replay.trace.is_some()),
        ("file_append", job.behaviour.appends),
        ("fill_device", job.behaviour.ends_when_full),
        ("pre_read", job.behaviour.pre_reads),
        ("max_latency", job.behaviour.max_latency_ns.is_some()),
        ("zonemode=strided", job.behaviour.strided),
    ];
    match excluded.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => {
            let why = format!(
                "ioengine={} reads and writes nothing, and excludes {name}",
                job.engine
            );
            Err(conflict(placed, why, "leave one out"))
        }
        None => Ok(()),
    }
}
