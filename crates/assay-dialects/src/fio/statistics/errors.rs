//! Errors of jobs, numbered and counted as by fio 3.33.
//!
//! fio counts tolerated errors, and of the others those after which it consults
//! `continue_on_error`: errors of engines that do not queue, unless they occur while writes are read
//! back (`backend.c`, `io_u.c`).

use assay_model::storage_outcome::{ErrorCause, FatalError, IoOperation, StorageOutcome};

use super::super::compile::{self, FioClone, FioPlan, ReportRow, StreamRef};
use super::super::section_options::FioOptions;

/// Number of the error that fio counts after an I/O that completed and failed a check.
const EPERM: i32 = 1;

/// Errors of a job, or of the jobs of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct JobErrors {
    /// Number of the error that is reported; 0 = none.
    pub(super) number: i32,
    /// Its message.
    pub(super) reason: String,
    /// Number of the first counted error; 0 = none.
    pub(super) first: i32,
    /// Number of counted errors.
    pub(super) count: u64,
    /// Whether an error ended the job that it does not tolerate.
    has_failed: bool,
}

/// Whether an error ended any job that does not tolerate it.
pub fn has_failed(plan: &FioPlan, outcomes: &[StorageOutcome]) -> bool {
    let jobs = plan.reports.iter().flat_map(|row| errors_by_job(plan, row, outcomes));
    jobs.into_iter().any(|job| job.has_failed)
}

/// Returns the errors of an entry: of its jobs, the first error and the last first counted one.
pub(super) fn entry_errors(
    plan: &FioPlan,
    row: &ReportRow,
    outcomes: &[StorageOutcome],
) -> JobErrors {
    let mut all = JobErrors::default();
    for job in errors_by_job(plan, row, outcomes) {
        if all.number == 0 {
            (all.number, all.reason) = (job.number, job.reason);
        }
        all.first = job.first;
        all.count = all.count.saturating_add(job.count);
    }
    all
}

/// Returns the errors of each job of an entry, in order.
fn errors_by_job(
    plan: &FioPlan,
    row: &ReportRow,
    outcomes: &[StorageOutcome],
) -> Vec<JobErrors> {
    let clones = plan.clones.iter().filter(|clone| row.parts.contains(&clone.part));
    clones.map(|clone| job_errors(plan, clone, row, outcomes)).collect()
}

fn job_errors(
    plan: &FioPlan,
    clone: &FioClone,
    row: &ReportRow,
    outcomes: &[StorageOutcome],
) -> JobErrors {
    let options = &plan.options[clone.section];
    let mut job = JobErrors::default();
    let own = row
        .parts
        .iter()
        .filter(|part| part.stream == clone.part.stream && part.phase >= clone.part.phase);
    for StreamRef { phase, stream } in own {
        let Some(outcome) = outcomes.get(*phase) else { continue };
        let Some(details) = outcome.streams.get(*stream) else { continue };
        job.count(details.errors.tolerated, details.errors.first_tolerated);
        if let Some(error) = details.errors.fatal {
            let workload = &plan.plan.phases[*phase].workload;
            job.add_fatal(options, error, workload.streams[*stream].conduct.reads_back);
        }
        if job.reason.is_empty()
            && let Some(failure) = outcome.errors.iter().find(|it| it.stream == *stream)
        {
            job.reason.clone_from(&failure.reason);
        }
    }
    if job.number == 0 && options.load.counts_errors() {
        job.number = job.first;
    }
    job
}

impl JobErrors {
    const fn count(&mut self, errors: u64, first: i32) {
        self.count = self.count.saturating_add(errors);
        if self.first == 0 {
            self.first = first;
        }
    }

    /// Adds the error that ended the job.
    fn add_fatal(&mut self, job: &FioOptions, error: FatalError, reads_back: bool) {
        let [reads, writes, _] = job.load.continues_on;
        if error.cause == ErrorCause::Contents && job.load.tolerates_damage() {
            // `verify_fatal` ends the job after an error that was counted.
            return self.count(1, error.number);
        }
        self.has_failed = true;
        if self.number == 0 {
            self.number = error.number;
        }
        let continues = match error.operation {
            IoOperation::Read => reads,
            IoOperation::Write => writes,
        };
        if reads_back || compile::queues(job) || !continues {
            return;
        }
        match error.cause {
            ErrorCause::Transfer => self.count(1, error.number),
            ErrorCause::Contents | ErrorCause::Latency => self.count(1, EPERM),
            ErrorCause::Rate => {}
        }
    }
}
