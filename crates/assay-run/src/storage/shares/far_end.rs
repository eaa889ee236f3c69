//! Far end of a storage job that several hosts share: creates its files, and runs phases one by one
//! on request.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

use assay_fleet::capacity;
use assay_fleet::remote::coordinator_link::CoordinatorLink;
use assay_fleet::remote::{
    AgentReply, ReadyReport, RemotePathInfo, ShareRequest, TreeMark, TreesPhase, TreesRequest,
};
use assay_kernels::storage::files::FileControl;
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::quantity::Bytes;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::{AccessPattern, Cursor, StoragePhase, StoragePlan};

use crate::failure::CommandFailure;
use crate::fleet::member::StartReport;
use crate::storage::file_trees::{self, MissingParents};
use crate::storage::job_tasks::JobTasks;
use crate::storage::options::RunOptions;
use crate::storage::runner::{self, StorageEvent};
use crate::storage::volume;

/// Far end of one job on this host.
#[derive(Debug)]
pub struct StorageFarEnd {
    options: RunOptions,
}

impl StorageFarEnd {
    /// Refuses forbidden targets, and lays files out; they stay after the job.
    ///
    /// # Errors
    /// When a target is forbidden, or laying out fails.
    pub fn prepare(
        asked: ShareRequest,
        line: &Arc<CoordinatorLink>,
    ) -> Result<Self, CommandFailure> {
        let ShareRequest { plan, destroy_data, target_on_root, writers_make_files } = asked;
        let options = RunOptions {
            destroy_data,
            target_on_root,
            writers_make_files,
            keep: true,
            ..RunOptions::default()
        };
        volume::check(&plan, &FilePlan::default(), &options)?;
        let mut on = |event: StorageEvent<'_>| report_layout(&event, line);
        runner::prepare(&plan, &options, line.cancel(), &mut on)?;
        Ok(Self { options })
    }

    /// Runs one phase from the start time that the coordinator names. Partial results of a phase
    /// that ended early are sent, too.
    ///
    /// # Errors
    /// When nothing of it could be done.
    pub fn run_phase(
        &mut self,
        mut phase: StoragePhase,
        line: &Arc<CoordinatorLink>,
    ) -> Result<StorageOutcome, CommandFailure> {
        let cpus = available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1));
        for stream in &mut phase.workload.streams {
            // Vdbench's streams are threads; all others get at most one thread per CPU of this
            // host.
            let is_divided = matches!(
                stream.pattern,
                AccessPattern::Sequential { cursor: Cursor::Divided, .. }
            );
            let most = stream.in_flight_per_target.saturating_mul(stream.targets.len() as u32);
            stream.threads = if is_divided { stream.threads } else { cpus.min(most).max(1) };
        }
        let ends = line.phase_end();
        ends.store(false, Ordering::Relaxed);
        let mut outcome = None;
        let mut start = StartReport::new(line);
        let mut on = |event: StorageEvent<'_>| match event {
            StorageEvent::LayingOut { .. } => report_layout(&event, line),
            StorageEvent::PhaseReady { begins_ns } => {
                begins_ns.set(wait_for_start(line));
                match begins_ns.get() {
                    Some(at_ns) => drop(start.wait_until(at_ns)),
                    None => ends.store(true, Ordering::Relaxed),
                }
            }
            StorageEvent::Interval { tally } => {
                start.send();
                line.send(&AgentReply::Interval(Box::new(tally.clone())));
            }
            StorageEvent::PhaseDone { outcome: done } => {
                start.send();
                outcome = Some(done.clone());
            }
            StorageEvent::PhaseStarts { .. } | StorageEvent::PhaseFailed => {}
        };
        let plan = StoragePlan { phases: vec![phase] };
        let asked = (&self.options, &JobTasks::Threads);
        let done = runner::run_phases(&plan, asked, ends, &mut on);
        // Only the first phase is known to fill the files it creates.
        self.options.writers_make_files = false;
        match outcome {
            // The series has been sent already.
            Some(outcome) => Ok(StorageOutcome { intervals: Vec::new(), ..outcome }),
            None => Err(done.err().unwrap_or_else(CommandFailure::interrupted)),
        }
    }

    /// Records the state of the files.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn finish(&self) -> Result<(), CommandFailure> {
        runner::finish(&self.options).map(drop)
    }
}

/// Prepares file trees, or checks that they are those that another host has prepared; returns their
/// marks.
///
/// # Errors
/// When a tree is forbidden, or preparation fails.
pub fn prepare_trees(
    asked: TreesRequest,
    far_end: &mut Option<StorageFarEnd>,
) -> Result<Vec<TreeMark>, CommandFailure> {
    let TreesRequest { plan, destroy_data, target_on_root, makes_above, prepared } = asked;
    let options =
        RunOptions { destroy_data, target_on_root, keep: true, ..RunOptions::default() };
    let above = MissingParents::from_create_anchors(makes_above);
    match prepared {
        Some(marks) => file_trees::check_shared(&plan, &options, &marks)?,
        // The agent ends when its coordinator does.
        None => file_trees::prepare(&plan, &options, above, &AtomicBool::new(false))?,
    }
    far_end.get_or_insert(StorageFarEnd { options });
    Ok(file_trees::tree_marks(&plan))
}

/// Runs one phase on file trees from the start time that the coordinator names.
///
/// # Errors
/// When it cannot run.
pub fn run_trees_phase(
    asked: &TreesPhase,
    line: &Arc<CoordinatorLink>,
) -> Result<FileOutcome, CommandFailure> {
    let ends = line.phase_end();
    ends.store(false, Ordering::Relaxed);
    let start = RefCell::new(StartReport::new(line));
    let mut on_ready = || match wait_for_start(line) {
        Some(at_ns) => drop(start.borrow_mut().wait_until(at_ns)),
        None => ends.store(true, Ordering::Relaxed),
    };
    let mut on_interval = |interval: &FileInterval| {
        start.borrow_mut().send();
        line.send(&AgentReply::TreesInterval(Box::new(interval.clone())));
    };
    let mut control = FileControl {
        stop: ends,
        on_ready: &mut on_ready,
        on_interval: &mut on_interval,
        max_errors: asked.most_errors,
    };
    let outcome = file_trees::run_phase(&asked.phase, &mut control);
    start.borrow_mut().send();
    outcome
}

/// Reports that a phase is ready, and waits for the start time.
fn wait_for_start(line: &CoordinatorLink) -> Option<u64> {
    line.send(&AgentReply::Ready(ReadyReport {
        cases: Vec::new(),
        step: 0,
        run_started_ns: 0,
    }));
    line.next_start()
}

fn report_layout(event: &StorageEvent<'_>, line: &CoordinatorLink) {
    let StorageEvent::LayingOut { target, done_bytes: 0, total_bytes } = event else { return };
    let size = Phrase::Measured(Bytes(*total_bytes).to_quantity(), 4);
    let path = target.path.display().to_string();
    let said = phrase!("laying-out", "laying out {path} ({size})", path = path, size = size);
    line.send(&AgentReply::Note(said));
}

/// Returns the size and kind of each path; `None` for one that cannot be read.
pub fn inspect_paths(paths: &[PathBuf]) -> Vec<Option<RemotePathInfo>> {
    use std::os::unix::fs::FileTypeExt;
    let at = |path: &PathBuf| {
        let is_device = std::fs::metadata(path).ok()?.file_type().is_block_device();
        let bytes = capacity::size(path).ok().flatten()?;
        Some(RemotePathInfo { bytes, is_device })
    };
    paths.iter().map(at).collect()
}
