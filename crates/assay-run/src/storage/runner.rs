//! Carries out a storage plan: the checks, the files, then phase after phase.
//!
//! The caller receives notices as things happen; nothing here prints.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_fleet::mounts;
use assay_fleet::root::Root;
use assay_kernels::storage::{self as kernel, Control, Foresight, Held, StorageError};
use assay_model::storage_outcome::{Ended, IntervalTally, StorageOutcome};
use assay_model::workload::storage::{
    EngineChoice, Load, NewFile, StoragePhase, StoragePlan, StorageTarget,
};

use super::created::{Created, Record};
use super::holding;
use super::options::RunOptions;
use super::safety::{self, ToLayOut};
use crate::failure::Failure;

/// I/O that failed is reported with its place, up to this many.
const TOLD: usize = 3;

/// Something that happened.
#[derive(Debug)]
pub enum StorageEvent<'a> {
    /// A file is being written fully, before the first phase.
    LayingOut { target: &'a StorageTarget, done_bytes: u64, total_bytes: u64 },
    /// A phase is prepared; with the rate in IO/s, where it has one.
    PhaseStarts { rate_per_s: Option<f64> },
    /// A phase is about to begin: whoever waits for others does so now, and says the moment at which all begin.
    PhaseReady { begins_ns: &'a Cell<Option<u64>> },
    /// One entry of a phase's series.
    Interval { tally: &'a IntervalTally },
    /// A phase ended; I/O that failed is told in the outcome.
    PhaseDone { outcome: &'a StorageOutcome },
    /// A phase could not be carried out; the others go on.
    PhaseFailed,
}

type Listener<'l> = dyn FnMut(StorageEvent<'_>) + 'l;

/// Carries a plan out and removes what was made for it, unless it is to be kept. What became of each
/// phase is reported, up to the one in which the user wanted the end.
///
/// I/O that failed is not a failure here: [`io_failure`] judges the outcomes.
pub fn run_plan(
    plan: &StoragePlan,
    options: &RunOptions,
    stop: &AtomicBool,
    on: &mut Listener<'_>,
) -> Result<Vec<Result<StorageOutcome, Failure>>, Failure> {
    let outcomes = phases(plan, options, stop, on);
    finish(options)?;
    outcomes
}

/// The same where one phase that fails is a failure of all, and all files stay until [`finish`].
pub fn carry_out(
    plan: &StoragePlan,
    options: &RunOptions,
    stop: &AtomicBool,
    on: &mut Listener<'_>,
) -> Result<Vec<StorageOutcome>, Failure> {
    phases(plan, options, stop, on)?.into_iter().collect()
}

fn phases(
    plan: &StoragePlan,
    options: &RunOptions,
    stop: &AtomicBool,
    on: &mut Listener<'_>,
) -> Result<Vec<Result<StorageOutcome, Failure>>, Failure> {
    let mut fillings = make_files(plan, options, stop, on)?;
    let reached_per_s = vec![None; plan.phases.len()];
    let (enough, held) = (options.enough.as_deref(), options.held.as_ref());
    let mut run = PhaseRun { reached_per_s, stop, enough, held, on };
    let mut outcomes = Vec::new();
    for (index, phase) in plan.phases.iter().enumerate() {
        match run.phase(index, phase) {
            Ok(outcome) => {
                (run.on)(StorageEvent::PhaseDone { outcome: &outcome });
                let here = fillings.iter_mut().filter(|filling| filling.phase == index);
                here.into_iter().try_for_each(|filling| filling.is_done(&outcome))?;
                outcomes.push(Ok(outcome));
            }
            Err(failure) => {
                (run.on)(StorageEvent::PhaseFailed);
                outcomes.push(Err(failure));
            }
        }
        if stop.load(Ordering::Relaxed) {
            return if options.keeps_partial { Ok(outcomes) } else { Err(interrupted()) };
        }
    }
    Ok(outcomes)
}

/// Refuses a plan that must not be carried out, before anything is written.
pub fn check(plan: &StoragePlan, options: &RunOptions) -> Result<(), Failure> {
    let created = Created::open(options.store.as_deref())?;
    safety::check(plan, options, &created).map(drop)
}

/// A file that a phase fills, so that it need not be laid out before that or later.
#[derive(Debug)]
struct Filling {
    record: Record,
    phase: usize,
    bytes: u64,
}

impl Filling {
    /// Notes that the file is whole, if the phase did all its work.
    fn is_done(&mut self, outcome: &StorageOutcome) -> Result<(), Failure> {
        if outcome.ended != Ended::Work || outcome.error_count > 0 {
            return Ok(());
        }
        noted(self.record.laid_out(self.bytes))
    }
}

/// Checks a plan and makes and lays out the files it needs.
pub fn prepare(
    plan: &StoragePlan,
    options: &RunOptions,
    stop: &AtomicBool,
    on: &mut Listener<'_>,
) -> Result<(), Failure> {
    make_files(plan, options, stop, on).map(drop)
}

/// The same; gives back the files that a phase fills.
fn make_files(
    plan: &StoragePlan,
    options: &RunOptions,
    stop: &AtomicBool,
    on: &mut Listener<'_>,
) -> Result<Vec<Filling>, Failure> {
    let created = Created::open(options.store.as_deref())?;
    let mut fillings = Vec::new();
    let files = safety::check(plan, options, &created)?;
    let files = made(plan, files, &created, &options.held)?;
    for phase in &plan.phases {
        holding::hold(&options.held, &phase.workload)?;
    }
    use_written(plan, &created)?;
    for mut file in files {
        // Its record has changed since, as it is used now.
        let record = file.record.as_ref().map(|it| created.find(&it.path));
        file.record = record.flatten();
        fillings.extend(lay_out(plan, file, (stop, &options.held), on)?);
    }
    for path in trimmed(plan) {
        let record = path.canonicalize().ok().and_then(|path| created.find(&path));
        record.map_or(Ok(()), |mut it| noted(it.has_holes()))?;
    }
    Ok(fillings)
}

/// What the plan gives back to the file system, so that a later run lays it out again.
fn trimmed(plan: &StoragePlan) -> impl Iterator<Item = &PathBuf> {
    let workloads = plan.phases.iter().map(|phase| &phase.workload);
    let real = workloads.filter(|workload| workload.engine != EngineChoice::Null);
    real.flat_map(|workload| {
        let trims = workload.streams.iter().filter(|stream| stream.conduct.trims);
        let targets = trims.flat_map(|stream| &stream.targets);
        targets.map(|target| &workload.targets[*target].path)
    })
}

/// Notes of the files that assay made which of them this run writes.
fn use_written(plan: &StoragePlan, created: &Created) -> Result<(), Failure> {
    let mut records: BTreeMap<PathBuf, Record> =
        created.list().into_iter().map(|record| (record.path.clone(), record)).collect();
    for workload in plan.phases.iter().map(|phase| &phase.workload) {
        if workload.engine == EngineChoice::Null {
            continue;
        }
        for (index, target) in workload.targets.iter().enumerate() {
            let path = safety::resolved(&target.path)?;
            // Being laid out is being written.
            let record = records.remove(&path).filter(Record::is_still_there);
            let Some(mut record) = record else { continue };
            let bytes = target.size_bytes.unwrap_or(0);
            let lacks = record.laid_out_bytes.is_none_or(|it| it < bytes);
            if lacks || safety::is_written(workload, index) {
                noted(record.used(bytes))?;
            } else {
                records.insert(path, record);
            }
        }
    }
    Ok(())
}

/// The end of a run: the files that were made for it are removed, unless they are to be kept, and how those
/// that stay are left is noted.
pub fn finish(options: &RunOptions) -> Result<(), Failure> {
    if !options.keep {
        remove_made(options)?;
    }
    noted(Created::open(options.store.as_deref())?.leave_used())
}

/// Removes the files that this process made.
pub fn remove_made(options: &RunOptions) -> Result<(), Failure> {
    let is_device =
        |file: &File| file.metadata().is_ok_and(|it| it.file_type().is_block_device());
    options.held.retain(|_, file| is_device(file));
    let left = Created::open(options.store.as_deref())?.remove_own();
    match left.first() {
        None => Ok(()),
        Some((path, error)) => {
            Err(Failure::measurement(format!("the file {} cannot be removed", path.display()))
                .because(error)
                .advise("`assay storage clean` removes what is left once it can be removed"))
        }
    }
}

/// The failure that I/O errors of a plan amount to; `None` when all I/O was done.
pub fn io_failure(plan: &StoragePlan, outcomes: &[StorageOutcome]) -> Option<Failure> {
    let phases = plan.phases.iter().zip(outcomes);
    let (phase, outcome) = phases.into_iter().find(|(_, outcome)| outcome.error_count > 0)?;
    let what = match outcome.error_count {
        1 => format!("one I/O of {} failed", phase.name),
        more => format!("{more} I/O of {} failed", phase.name),
    };
    let reported = outcome.errors.iter().take(TOLD).map(|error| {
        let operation = error.operation.word();
        let target = phase.workload.targets.get(error.target);
        let target = target.map_or_else(String::new, |it| it.path.display().to_string());
        format!(
            "{operation} of {} bytes at byte {} of {target}: {}",
            error.bytes, error.offset, error.reason
        )
    });
    let failure = Failure::measurement(what).explain(reported.collect::<Vec<_>>().join("; "));
    Some(failure.with_known_advice())
}

/// What is done at one time or another in a plan.
struct PhaseRun<'r, 'l> {
    /// IO/s of each phase that is done.
    reached_per_s: Vec<Option<f64>>,
    stop: &'r AtomicBool,
    enough: Option<&'r AtomicBool>,
    held: &'r Held,
    on: &'r mut Listener<'l>,
}

impl PhaseRun<'_, '_> {
    fn phase(&mut self, index: usize, phase: &StoragePhase) -> Result<StorageOutcome, Failure> {
        let mut workload = phase.workload.clone();
        workload.load = self.resolved(&workload.load)?;
        let rate_per_s = workload.load.rate_per_s();
        pause(phase.pause_before_s, self.stop);
        holding::check_again(self.held, &workload, &mounts::read(&Root::machine()))?;
        (self.on)(StorageEvent::PhaseStarts { rate_per_s });
        let (on, stop, enough) = (RefCell::new(&mut self.on), self.stop, self.enough);
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
            begins_ns.get()
        };
        let mut control = Control {
            stop: enough.unwrap_or(stop),
            held: self.held,
            on_ready: Some(&mut on_ready),
            on_interval: &mut on_interval,
        };
        let mut outcome = kernel::run(&workload, &mut control)
            .map_err(|error| phase_failed(phase, &error))?;
        if outcome.ended == Ended::Interrupted && !stop.load(Ordering::Relaxed) {
            outcome.ended = Ended::Work;
        }
        let count: u64 = outcome.tallies.iter().map(|it| it.tally.count).sum();
        if outcome.elapsed_s > 0.0 && count > 0 {
            self.reached_per_s[index] = Some(count as f64 / outcome.elapsed_s);
        }
        Ok(outcome)
    }

    /// A share of another phase's rate becomes a rate.
    fn resolved(&self, load: &Load) -> Result<Load, Failure> {
        let Load::ShareOf { phase, percent, rounding, arrivals } = load else {
            return Ok(load.clone());
        };
        let reached = self.reached_per_s.get(*phase).copied().flatten();
        let reached = reached.ok_or_else(|| {
            Failure::measurement("there is no rate to take a share of").explain(
                "the phase that was to find the maximum rate did no I/O, or did not end well",
            )
        })?;
        let rate_per_s = rounding.share(reached, *percent);
        if rate_per_s > 0.0 {
            Ok(Load::Open { rate_per_s, arrivals: *arrivals })
        } else {
            Err(Failure::measurement(format!("{percent} % of {reached:.1} IO/s is nothing")))
        }
    }
}

/// Makes the files that are missing, empty, and looks at what the file system will ask of every phase:
/// where none of them can take place, nothing is written.
fn made(
    plan: &StoragePlan,
    mut files: Vec<ToLayOut>,
    created: &Created,
    held: &Held,
) -> Result<Vec<ToLayOut>, Failure> {
    if files.is_empty() {
        return Ok(files);
    }
    let mut new = Vec::new();
    let done = files.iter_mut().filter(|file| file.is_missing).try_for_each(|file| {
        let bytes = file.target.size_bytes.unwrap_or(0);
        let (record, opened) = created.create(&file.target.path, bytes)?;
        holding::let_go(held, &file.target.path);
        held.hold(&file.target.path, Arc::new(opened));
        file.record = Some(record);
        new.extend(file.record.clone());
        Ok(())
    });
    if let Err(failure) = done.and_then(|()| foresee(plan)) {
        for record in &new {
            held.retain(|path, _| *path != record.path);
            // Whatever stays is in the list, and `assay storage clean` reports why.
            drop(record.remove());
        }
        return Err(failure);
    }
    Ok(files)
}

/// Fails where every phase will; where some will, they do so when it is their turn.
fn foresee(plan: &StoragePlan) -> Result<(), Failure> {
    let mut foresight = Foresight::default();
    let mut first = None;
    for phase in &plan.phases {
        match foresight.check(&phase.workload) {
            Ok(()) => return Ok(()),
            Err(error) => first = first.or(Some(impossible(phase, &error))),
        }
    }
    first.map_or(Ok(()), Err)
}

fn phase_failed(phase: &StoragePhase, error: &StorageError) -> Failure {
    stated(format!("phase {} failed", phase.name), error)
}

/// What was not tried, and cannot be done.
pub(super) fn impossible(phase: &StoragePhase, error: &StorageError) -> Failure {
    stated(format!("phase {} cannot be carried out", phase.name), error)
}

fn stated(what: String, error: &StorageError) -> Failure {
    Failure::measurement(what).because(error).with_known_advice()
}

fn lay_out(
    plan: &StoragePlan,
    file: ToLayOut,
    (stop, held): (&AtomicBool, &Held),
    on: &mut Listener<'_>,
) -> Result<Option<Filling>, Failure> {
    let target = &file.target;
    let record = file.record;
    let bytes = target.size_bytes.unwrap_or(0);
    let filling = |record: Option<Record>| {
        let record = record.filter(|_| file.is_filled_first);
        record.map(|record| Filling { record, phase: file.phase, bytes })
    };
    if file.only_made {
        return Ok(filling(record));
    }
    if target.opening.new_file != NewFile::Written {
        kernel::make_unwritten(target, held).map_err(|error| cannot_lay_out(target, &error))?;
        return Ok(filling(record));
    }
    let workload = &plan.phases[file.phase].workload;
    let mut on_progress = |done_bytes, total_bytes| {
        on(StorageEvent::LayingOut { target, done_bytes, total_bytes });
    };
    kernel::lay_out(target, &workload.data, workload.seed, (stop, held), &mut on_progress)
        .map_err(|error| cannot_lay_out(target, &error))?;
    if stop.load(Ordering::Relaxed) {
        return Err(interrupted());
    }
    record.map_or(Ok(()), |mut it| noted(it.laid_out(bytes)))?;
    Ok(None)
}

fn cannot_lay_out(target: &StorageTarget, error: &StorageError) -> Failure {
    let what = format!("the file {} cannot be laid out", target.path.display());
    Failure::measurement(what).because(error).with_known_advice()
}

fn noted(result: std::io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| {
        Failure::measurement("the list of files that assay made cannot be written")
            .because(&error)
    })
}

/// Waits, unless the user wants to stop.
fn pause(seconds: f64, stop: &AtomicBool) {
    const SLICE: Duration = Duration::from_millis(50);
    let Ok(whole) = Duration::try_from_secs_f64(seconds) else { return };
    let began = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let left = whole.saturating_sub(began.elapsed());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(SLICE));
    }
}

/// The user wanted the end.
pub fn interrupted() -> Failure {
    Failure::measurement("the run was interrupted")
}
