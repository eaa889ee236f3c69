//! Runs a storage plan: checks, files, then phase after phase.
//!
//! The caller receives events as they happen; nothing here prints.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_fleet::root::Root;
use assay_fleet::{mounts, resource_limits};
use assay_kernels::storage::{
    self as kernel, OpenTargets, PhaseControl, PhasePrecheck, PhaseStart, StorageError,
};
use assay_model::storage_outcome::{EndReason, IntervalTally, IoOperation, StorageOutcome};
use assay_model::workload::storage::{
    EngineChoice, NewFile, StorageLoad, StoragePhase, StoragePlan, StorageStream,
    StorageTarget, StorageWorkload,
};

use super::created_files::{CreatedFiles, CreatedRecord, LeftFiles};
use super::held_targets;
use super::host_check;
use super::job_tasks::JobTasks;
use super::options::RunOptions;
use super::phase_failures::impossible_phase;
use super::safety::{self, FileToLayOut};
use super::target_path::{self, StreamsByTarget};
use crate::cancellable_wait;
use crate::failure::CommandFailure;

/// Maximum number of failed I/O that are reported with their position.
const MAX_REPORTED_ERRORS: usize = 3;
/// Duration of a phase that begins when the time of its jobs is over, in seconds.
const MIN_PHASE_S: f64 = 0.001;

/// Event of a run.
#[derive(Debug)]
pub enum StorageEvent<'a> {
    /// A file is being laid out before the first phase.
    LayingOut { target: &'a StorageTarget, done_bytes: u64, total_bytes: u64 },
    /// A phase is prepared; `rate_per_s` in IO/s if it has a fixed rate.
    PhaseStarts { rate_per_s: Option<f64> },
    /// A phase is about to begin; the listener may wait for other hosts and set a common start.
    PhaseReady { begins_ns: &'a Cell<Option<u64>> },
    /// Interval of a phase's series.
    Interval { tally: &'a IntervalTally },
    /// A phase ended; the outcome includes failed I/O.
    PhaseDone { outcome: &'a StorageOutcome },
    /// A phase could not be carried out; the others continue.
    PhaseFailed,
}

type StorageListener<'l> = dyn FnMut(StorageEvent<'_>) + 'l;

#[derive(Debug)]
pub struct PlanResults {
    /// Result of each phase, up to the one that the user interrupted.
    pub phases: Vec<Result<StorageOutcome, CommandFailure>>,
    /// Failure to remove or recognise the created files, which the results outlive.
    pub left: Option<CommandFailure>,
}

/// Runs a plan and removes the files created for it, unless they are to be kept.
///
/// Failed I/O is not a failure here: [`io_failure`] judges the outcomes.
pub fn run_plan(
    plan: &StoragePlan,
    options: &RunOptions,
    stop: &AtomicBool,
    on: &mut StorageListener<'_>,
) -> Result<PlanResults, CommandFailure> {
    let phases = run_each_phase(plan, (options, &JobTasks::Threads), stop, on);
    let left = finish(options).err();
    Ok(PlanResults { phases: phases?, left })
}

/// Like [`run_plan`], on the tasks of a job; one failed phase fails the plan, and all files stay
/// until [`finish`].
pub fn run_phases(
    plan: &StoragePlan,
    (options, tasks): (&RunOptions, &JobTasks),
    stop: &AtomicBool,
    on: &mut StorageListener<'_>,
) -> Result<Vec<StorageOutcome>, CommandFailure> {
    run_each_phase(plan, (options, tasks), stop, on)?.into_iter().collect()
}

fn run_each_phase(
    plan: &StoragePlan,
    (options, tasks): (&RunOptions, &JobTasks),
    stop: &AtomicBool,
    on: &mut StorageListener<'_>,
) -> Result<Vec<Result<StorageOutcome, CommandFailure>>, CommandFailure> {
    let mut fillings = create_files(plan, options, stop, on)?;
    let reached_per_s = vec![None; plan.phases.len()];
    let (enough, held) = (options.end_phase.as_deref(), options.held.as_ref());
    let jobs = JobProgress::default();
    let created = &CreatedFiles::open(options.store.as_deref())?;
    let mut run = PhaseRun {
        reached_per_s,
        jobs,
        stop,
        end_phase: enough,
        held,
        tasks,
        created,
        listener: on,
    };
    let mut outcomes = Vec::new();
    for (index, phase) in plan.phases.iter().enumerate() {
        match run.run_phase(index, phase) {
            Ok(outcome) => {
                (run.listener)(StorageEvent::PhaseDone { outcome: &outcome });
                let here = fillings.iter_mut().filter(|filling| filling.phase == index);
                let here: Vec<_> = here.collect();
                // A host of several writes only its part of a file that its writers make.
                if options.writers_make_files || has_filled(&here, phase, &outcome) {
                    record_filled(here, &outcome)?;
                }
                outcomes.push(Ok(outcome));
            }
            Err(failure) => {
                (run.listener)(StorageEvent::PhaseFailed);
                outcomes.push(Err(failure));
            }
        }
        if stop.load(Ordering::Relaxed) {
            return if options.keeps_partial {
                Ok(outcomes)
            } else {
                Err(CommandFailure::interrupted())
            };
        }
    }
    Ok(outcomes)
}

/// Refuses a plan that must not be carried out, before anything is written.
pub fn check(plan: &StoragePlan, options: &RunOptions) -> Result<(), CommandFailure> {
    host_check::check(plan)?;
    let created = CreatedFiles::open(options.store.as_deref())?;
    safety::check(plan, options, &created).map(drop)
}

/// File that a phase fills, so that it need not be laid out now or later.
#[derive(Debug)]
struct FillingPhase {
    record: CreatedRecord,
    phase: usize,
    bytes: u64,
}

/// Whether a phase wrote all whole blocks of its files. One whose streams were ended early or had
/// nothing to do also ends by its work.
fn has_filled(
    files: &[&mut FillingPhase],
    phase: &StoragePhase,
    outcome: &StorageOutcome,
) -> bool {
    let sizes = phase.workload.streams.iter().flat_map(StorageStream::all_sizes);
    let block_bytes = sizes.map(|size| size.min_bytes).min().unwrap_or(1).max(1);
    let needed_bytes: u64 = files.iter().map(|it| it.bytes - it.bytes % block_bytes).sum();
    let writes = outcome.tallies.iter().filter(|it| it.operation == IoOperation::Write);
    let written_bytes: u64 = writes.map(|it| it.tally.bytes).sum();
    written_bytes >= needed_bytes
}

/// Records that the files of a phase are complete, if it did all its work.
fn record_filled(
    files: Vec<&mut FillingPhase>,
    outcome: &StorageOutcome,
) -> Result<(), CommandFailure> {
    if outcome.ended != EndReason::Work || outcome.error_count > 0 {
        return Ok(());
    }
    files.into_iter().try_for_each(|it| check_recorded(it.record.set_laid_out(it.bytes)))
}

/// Checks a plan, and creates and lays out the files it needs.
pub fn prepare(
    plan: &StoragePlan,
    options: &RunOptions,
    stop: &AtomicBool,
    on: &mut StorageListener<'_>,
) -> Result<(), CommandFailure> {
    create_files(plan, options, stop, on).map(drop)
}

/// Like [`prepare`]; returns the files that a phase fills.
fn create_files(
    plan: &StoragePlan,
    options: &RunOptions,
    stop: &AtomicBool,
    on: &mut StorageListener<'_>,
) -> Result<Vec<FillingPhase>, CommandFailure> {
    host_check::check(plan)?;
    let created = CreatedFiles::open(options.store.as_deref())?;
    let mut fillings = Vec::new();
    let files = safety::check(plan, options, &created)?;
    let files = create_missing(plan, files, &created, &options.held)?;
    for phase in &plan.phases {
        held_targets::hold(&options.held, &phase.workload)?;
    }
    record_uses(plan, &created)?;
    for mut file in files.into_iter().filter(|file| !file.is_made_by_call) {
        // The record has changed since, because the file is in use now.
        let record = file.record.as_ref().map(|it| created.find(&it.path));
        file.record = record.flatten();
        fillings.extend(lay_out(plan, file, (stop, &options.held), on)?);
    }
    for path in trimmed_targets(plan) {
        let record = path.canonicalize().ok().and_then(|path| created.find(&path));
        record.map_or(Ok(()), |mut it| check_recorded(it.clear_laid_out()))?;
    }
    Ok(fillings)
}

/// Returns the targets that the plan deallocates, so that a later run lays them out again.
fn trimmed_targets(plan: &StoragePlan) -> impl Iterator<Item = &PathBuf> {
    let workloads = plan.phases.iter().map(|phase| &phase.workload);
    let real = workloads.filter(|workload| workload.engine != EngineChoice::Null);
    real.flat_map(|workload| {
        let has_trims =
            |stream: &&StorageStream| stream.conduct.trims || stream.conduct.trims_first;
        let trims = workload.streams.iter().filter(has_trims);
        let targets = trims.flat_map(|stream| &stream.targets);
        targets.map(|target| &workload.targets[*target].path)
    })
}

/// Records which of the files that assay created this run writes.
fn record_uses(plan: &StoragePlan, created: &CreatedFiles) -> Result<(), CommandFailure> {
    // A record that does not describe the file may have the same path.
    let mut records: BTreeMap<PathBuf, CreatedRecord> = {
        let unchanged = created.list().into_iter().filter(CreatedRecord::is_unchanged);
        unchanged.map(|record| (record.path.clone(), record)).collect()
    };
    for workload in plan.phases.iter().map(|phase| &phase.workload) {
        if workload.engine == EngineChoice::Null {
            continue;
        }
        let streams = StreamsByTarget::collect(workload);
        for (index, target) in workload.targets.iter().enumerate() {
            let path = target_path::resolve_path(&target.path)?;
            // Laying out a file is writing it.
            let Some(mut record) = records.remove(&path) else { continue };
            let bytes = target.size_bytes.unwrap_or(0);
            let lacks = record.laid_out_bytes.is_none_or(|it| it < bytes);
            if lacks || streams.is_written(index) {
                check_recorded(record.begin_use(bytes))?;
            } else {
                // A store that cannot be written may still be read.
                drop(record.hold());
                records.insert(path, record);
            }
        }
    }
    Ok(())
}

/// Reason for which a directory of a removed tree stays.
pub const OTHERS_FILES: &str = "it contains files that assay did not create";

/// Finishes a run: removes created files, unless they are to be kept, and records the state of the
/// others. Returns the directories of removed trees that stay, because they contain others' files.
///
/// # Errors
/// Names the files that could not be removed or are not recognised; their records stay.
pub fn finish(options: &RunOptions) -> Result<Vec<PathBuf>, CommandFailure> {
    let removed = if options.keep { Ok(Vec::new()) } else { remove_created(options) };
    let ended = CreatedFiles::open(options.store.as_deref())?.end_all_uses(options.keep);
    let mut directories = removed?;
    let left = match ended {
        Err(error) => return check_recorded(Err(error)).map(|()| directories),
        Ok(left) => left,
    };
    check_left_files(&left)?;
    directories.extend(left.directories);
    Ok(directories)
}

/// Fails if files were changed by others while they were used.
///
/// # Errors
/// Names them; their records stay.
pub fn check_left_files(left: &LeftFiles) -> Result<(), CommandFailure> {
    files_failure("cannot recognise", left).map_or(Ok(()), |failure| {
        Err(failure
            .advise("find out what changed it; assay never writes or removes it again")
            .advise("`assay storage clean --forget` leaves the file and removes its record"))
    })
}

/// Removes the files that this process created. Returns the directories of trees that stay, because
/// they contain others' files.
///
/// # Errors
/// Names the files that could not be removed; their records stay.
pub fn remove_created(options: &RunOptions) -> Result<Vec<PathBuf>, CommandFailure> {
    let is_device =
        |file: &File| file.metadata().is_ok_and(|it| it.file_type().is_block_device());
    options.held.retain(|_, file| is_device(file));
    let left = CreatedFiles::open(options.store.as_deref())?.remove_created();
    files_failure("cannot remove", &left).map_or(Ok(left.directories), |failure| {
        Err(failure
            .advise("run `assay storage clean` once it can be removed, or remove it yourself"))
    })
}

/// Returns the failure that names these files; `None` without any.
fn files_failure(what: &str, left: &LeftFiles) -> Option<CommandFailure> {
    let ((path, error), others) = left.failed.split_first()?;
    let first = CommandFailure::measurement(format!("{what} the file {}", path.display()))
        .with_cause(error);
    let add = |failure: CommandFailure, (path, error): &(PathBuf, std::io::Error)| {
        failure.with_reason(format!("nor {}: {error}", path.display()))
    };
    let failure = others.iter().fold(first, add);
    Some(left.directories.iter().fold(failure, |failure, directory| {
        failure.with_reason(format!("{} stays: {OTHERS_FILES}", directory.display()))
    }))
}

/// Returns the failure for I/O errors of a plan; `None` if all I/O succeeded.
pub fn io_failure(plan: &StoragePlan, outcomes: &[StorageOutcome]) -> Option<CommandFailure> {
    let phases = plan.phases.iter().zip(outcomes);
    let (phase, outcome) = phases.into_iter().find(|(_, outcome)| outcome.error_count > 0)?;
    let what = match outcome.error_count {
        1 => format!("one I/O of {} failed", phase.name),
        more => format!("{more} I/O of {} failed", phase.name),
    };
    let reported = outcome.errors.iter().take(MAX_REPORTED_ERRORS).map(|error| {
        let operation = error.operation.name();
        let target = phase.workload.targets.get(error.target);
        let target = target.map_or_else(String::new, |it| it.path.display().to_string());
        format!(
            "{operation} of {} bytes at byte {} of {target}: {}",
            error.bytes, error.offset, error.reason
        )
    });
    let failure =
        CommandFailure::measurement(what).with_reason(reported.collect::<Vec<_>>().join("; "));
    Some(failure.with_known_advice())
}

/// State of a plan while its phases run.
struct PhaseRun<'r, 'l> {
    /// Rate of each finished phase in IO/s.
    reached_per_s: Vec<Option<f64>>,
    /// Progress of the jobs whose passes are phases.
    jobs: JobProgress,
    stop: &'r AtomicBool,
    end_phase: Option<&'r AtomicBool>,
    held: &'r OpenTargets,
    tasks: &'r JobTasks,
    created: &'r CreatedFiles,
    listener: &'r mut StorageListener<'l>,
}

/// Progress of jobs over the phases that are their passes: these share one duration.
#[derive(Debug, Default)]
struct JobProgress {
    elapsed_s: f64,
    has_timed_out: bool,
    /// Streams that a limit or an error ended: they do nothing more.
    limited: BTreeSet<usize>,
    /// Whether a stream ended the whole plan.
    is_plan_over: bool,
    /// Whether the jobs began after the end of the plan, and do nothing.
    skips: bool,
}

impl JobProgress {
    /// Shortens a phase that continues the jobs of the one before; it is empty if their time is over.
    fn shorten(&mut self, workload: &mut StorageWorkload) {
        let continues = workload.streams.iter().any(|stream| {
            let pass = stream.conduct.order.as_deref().and_then(|order| order.pass);
            stream.conduct.reads_back || pass.is_some_and(|pass| pass > 0)
        });
        if !continues {
            let is_plan_over = self.is_plan_over;
            *self = Self { is_plan_over, skips: is_plan_over, ..Self::default() };
        }
        let all_over = self.has_timed_out || self.skips;
        let is_over = |index: &usize| all_over || self.limited.contains(index);
        for (_, stream) in workload.streams.iter_mut().enumerate().filter(|it| is_over(&it.0)) {
            stream.stop_after_bytes = Some(0);
        }
        if let Some(duration_s) = &mut workload.timing.duration_s {
            *duration_s = (*duration_s - self.elapsed_s).max(MIN_PHASE_S);
        }
    }

    fn note_phase(&mut self, workload: &StorageWorkload, outcome: &StorageOutcome) {
        let mut ended = workload.streams.iter().zip(&outcome.streams);
        self.is_plan_over |= ended.any(|(stream, details)| {
            let conduct = &stream.conduct;
            let has_failed = details.errors.fatal.is_some();
            conduct.ends_plan
                && (conduct.ends_phase || conduct.ends_phase_on_error && has_failed)
        });
        self.elapsed_s += outcome.elapsed_s;
        self.has_timed_out |= outcome.ended == EndReason::Time;
        let limited = outcome.streams.iter().enumerate().filter(|(_, it)| it.ended_early);
        self.limited.extend(limited.map(|(index, _)| index));
    }
}

impl PhaseRun<'_, '_> {
    fn run_phase(
        &mut self,
        index: usize,
        phase: &StoragePhase,
    ) -> Result<StorageOutcome, CommandFailure> {
        let mut workload = phase.workload.clone();
        workload.load = self.resolve_load(&workload.load)?;
        self.jobs.shorten(&mut workload);
        let rate_per_s = workload.load.rate_per_s();
        cancellable_wait::wait_seconds(phase.pause_before_s, self.stop);
        held_targets::recheck(self.held, &workload, &mounts::read(&Root::machine()))?;
        let sizes = held_targets::read_sizes(self.held, &workload);
        (self.listener)(StorageEvent::PhaseStarts { rate_per_s });
        let (on, stop, enough) = (RefCell::new(&mut self.listener), self.stop, self.end_phase);
        if let Some(enough) = enough {
            enough.store(false, Ordering::Relaxed);
        }
        let mut on_interval = |tally: &IntervalTally| {
            on.borrow_mut()(StorageEvent::Interval { tally });
            if let Some(enough) = enough.filter(|_| stop.load(Ordering::Relaxed)) {
                enough.store(true, Ordering::Relaxed);
            }
        };
        let mut on_ready = || {
            let begins_ns = Cell::new(None);
            on.borrow_mut()(StorageEvent::PhaseReady { begins_ns: &begins_ns });
            begins_ns.get().map_or(PhaseStart::Now, PhaseStart::At)
        };
        let mut control = PhaseControl {
            stop: enough.unwrap_or(stop),
            held: self.held,
            on_ready: Some(&mut on_ready),
            on_interval: &mut on_interval,
        };
        let result = self.tasks.run_phase(phase, &workload, &mut control);
        let settled = self.created.settle_calls(&workload, self.held);
        let mut outcome = result?;
        settled?;
        if outcome.error_count == 0 {
            // Failed I/O is a failure already, with a better reason.
            held_targets::check_unchanged(self.held, &workload, &sizes)?;
        }
        if outcome.ended == EndReason::Interrupted && !stop.load(Ordering::Relaxed) {
            outcome.ended = EndReason::Work;
        }
        let count: u64 = outcome.tallies.iter().map(|it| it.tally.count).sum();
        self.jobs.note_phase(&workload, &outcome);
        if outcome.elapsed_s > 0.0 && count > 0 {
            self.reached_per_s[index] = Some(count as f64 / outcome.elapsed_s);
        }
        Ok(outcome)
    }

    /// Converts a share of another phase's rate into a rate.
    fn resolve_load(&self, load: &StorageLoad) -> Result<StorageLoad, CommandFailure> {
        let StorageLoad::ShareOf { phase, percent, rounding, arrivals } = load else {
            return Ok(load.clone());
        };
        let reached = self.reached_per_s.get(*phase).copied().flatten();
        let reached = reached.ok_or_else(|| {
            CommandFailure::measurement("there is no rate to take a share of").with_reason(
                "the phase that was to find the maximum rate did no I/O, or did not end well",
            )
        })?;
        let rate_per_s = rounding.round_share(reached, *percent);
        if rate_per_s > 0.0 {
            Ok(StorageLoad::Open { rate_per_s, arrivals: *arrivals })
        } else {
            Err(CommandFailure::measurement(format!(
                "{percent} % of {reached:.1} IO/s rounds to 0"
            )))
        }
    }
}

/// Creates missing files, empty, and prechecks every phase on their file system. Nothing is written
/// if none of the phases is possible.
fn create_missing(
    plan: &StoragePlan,
    mut files: Vec<FileToLayOut>,
    created: &CreatedFiles,
    held: &OpenTargets,
) -> Result<Vec<FileToLayOut>, CommandFailure> {
    if files.is_empty() {
        return Ok(files);
    }
    // Each file needs one descriptor, and its lock another.
    resource_limits::raise_open_files();
    let mut new = Vec::new();
    let done = files.iter_mut().filter(|file| file.is_missing).try_for_each(|file| {
        if file.is_made_by_call {
            new.push(created.announce_call(&file.target.path)?);
            return Ok(());
        }
        let bytes = file.target.size_bytes.unwrap_or(0);
        let (record, opened) = created.create(&file.target.path, bytes)?;
        held_targets::release(held, &file.target.path);
        held.insert(&file.target.path, Arc::new(opened));
        file.record = Some(record);
        new.extend(file.record.clone());
        Ok(())
    });
    if let Err(failure) = done.and_then(|()| precheck(plan)) {
        for record in &new {
            held.retain(|path, _| *path != record.path);
            // Remaining files are in the list, and `assay storage clean` reports the reason.
            drop(record.remove());
        }
        return Err(failure);
    }
    Ok(files)
}

/// Fails if every phase would fail; single phases fail in their turn.
fn precheck(plan: &StoragePlan) -> Result<(), CommandFailure> {
    let mut foresight = PhasePrecheck::default();
    let mut first = None;
    for phase in &plan.phases {
        match foresight.check(&phase.workload) {
            Ok(()) => return Ok(()),
            Err(error) => first = first.or(Some(impossible_phase(phase, &error))),
        }
    }
    first.map_or(Ok(()), Err)
}

fn lay_out(
    plan: &StoragePlan,
    file: FileToLayOut,
    (stop, held): (&AtomicBool, &OpenTargets),
    on: &mut StorageListener<'_>,
) -> Result<Option<FillingPhase>, CommandFailure> {
    let target = &file.target;
    let record = file.record;
    let bytes = target.size_bytes.unwrap_or(0);
    let filling = |record: Option<CreatedRecord>| {
        let record = record.filter(|_| file.is_filled_first);
        record.map(|record| FillingPhase { record, phase: file.phase, bytes })
    };
    if file.create_only {
        return Ok(filling(record));
    }
    if target.opening.new_file != NewFile::Written {
        kernel::create_unwritten(target, held)
            .map_err(|error| layout_failure(target, &error))?;
        return Ok(filling(record));
    }
    let workload = &plan.phases[file.phase].workload;
    let mut on_progress = |done_bytes, total_bytes| {
        on(StorageEvent::LayingOut { target, done_bytes, total_bytes });
    };
    kernel::lay_out(target, &workload.data, workload.seed, (stop, held), &mut on_progress)
        .map_err(|error| layout_failure(target, &error))?;
    if stop.load(Ordering::Relaxed) {
        return Err(CommandFailure::interrupted());
    }
    record.map_or(Ok(()), |mut it| check_recorded(it.set_laid_out(bytes)))?;
    Ok(None)
}

fn layout_failure(target: &StorageTarget, error: &StorageError) -> CommandFailure {
    let what = format!("cannot lay out the file {}", target.path.display());
    CommandFailure::measurement(what).with_cause(error).with_known_advice()
}

fn check_recorded(result: std::io::Result<()>) -> Result<(), CommandFailure> {
    result.map_err(|error| {
        CommandFailure::measurement("cannot write the list of files that assay created")
            .with_cause(&error)
    })
}
