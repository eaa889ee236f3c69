//! Outcome of a phase.

use assay_dialects::mdtest::result::StonewallProgress;
use assay_kernels::storage::items::{ItemOutcome, TaskProgress};
use assay_model::file_outcome::{FileInterval, FileOutcome};

/// Outcome of a phase, of one pass or of two after a deadline.
pub(super) struct PhaseOutcome {
    pub(super) files: FileOutcome,
    pub(super) intervals: Vec<FileInterval>,
    pub(super) tasks: Vec<TaskProgress>,
    pub(super) stonewall: Option<StonewallProgress>,
}

impl PhaseOutcome {
    pub(super) fn new(pass: ItemOutcome) -> Self {
        let ItemOutcome { files, intervals, tasks, .. } = pass;
        Self { files, intervals, tasks, stonewall: None }
    }

    /// Adds a pass that followed.
    pub(super) fn append(&mut self, pass: ItemOutcome) {
        let earlier_s = self.files.elapsed_s;
        for mut interval in pass.intervals {
            interval.start_s += earlier_s;
            self.intervals.push(interval);
        }
        for (task, later) in self.tasks.iter_mut().zip(&pass.tasks) {
            task.done += later.done;
            task.elapsed_s = earlier_s + later.elapsed_s;
        }
        self.files.total.merge(&pass.files.total);
        self.files.elapsed_s += pass.files.elapsed_s;
    }

    /// Adds time without operations at the end.
    pub(super) fn extend(&mut self, seconds: f64) {
        self.files.elapsed_s += seconds;
        if let Some(last) = self.intervals.last_mut() {
            last.length_s += seconds;
        }
    }
}
