//! Outcome of fio's jobs: everything that fio's output depends on, without the job files.

use assay_model::storage_outcome::StorageOutcome;
use serde::{Deserialize, Serialize};

use super::compile::FioPlan;
use super::reported_job::{ReportedJob, last_values, reported_jobs};
use super::request::FioRequest;
use super::statistics::{self, EntryResult, FioRunInfo};

/// Outcome of all jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FioOutcome {
    /// Time, version, disks and resource usage.
    pub info: FioRunInfo,
    /// Version of the terse format.
    pub terse_version: u32,
    /// Global options with their last values.
    pub globals: Vec<(String, String)>,
    /// The jobs in order.
    pub jobs: Vec<ReportedJob>,
    /// Results of all report entries in order.
    pub entries: Vec<EntryResult>,
}

impl FioOutcome {
    /// Derives the outcome from those of the phases.
    pub fn new(
        request: &FioRequest,
        plan: &FioPlan,
        outcomes: &[StorageOutcome],
        info: FioRunInfo,
    ) -> Self {
        let jobs = reported_jobs(request, plan);
        let entries = statistics::results(plan, &jobs, outcomes, &info);
        let globals = last_values(&request.globals);
        let terse_version = request.output.terse_version;
        Self { info, terse_version, globals, jobs, entries }
    }
}
