//! Execution of one phase: starts the threads together, collects the series while it runs, and sums
//! up at the end.
//!
//! The calling thread only collects and monitors; of the workload's I/O it performs only the final
//! `fsync`.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use assay_model::engine_reason::EngineReason;
use assay_model::storage_outcome::{
    BatchCounts, EndReason, IntervalTally, IoFailure, IoOperation, IoTally, JournalEntry,
    StorageOutcome, StreamErrors,
};
use assay_model::workload::storage::{
    StorageStream, StorageTarget, StorageWorkload, TargetRotation, Verify,
};

use crate::clock;
use crate::network::cpu::{self, ProcessTime};
use crate::pin;

use super::buffers::{BufferSpec, IoBuffers};
use super::engine::{
    EngineSetup, Libaio, Null, StorageEngine, TargetDescriptors, Threads, Uring, UringPolled,
};
use super::engine_selection::{ChosenEngine, EngineKind};
use super::error::StorageError;
use super::lane::StorageLane;
use super::offset_pattern::ByteRange;
use super::phase::{PhaseState, PhaseTarget};
use super::priority_tallies::PriorityTallies;
use super::series::{SeriesWorker, StorageSeries};
use super::size_watch::SizeWatch;
use super::slot_scheduler::SlotScheduler;
use super::tally;
use super::target::OpenedTarget;
use super::thread_setup;
use super::timeline::Timeline;
use super::worker::{IoSlot, StorageWorker};
use super::worker_plans::{self, WorkerPlan};
use super::worker_recorder::{
    FrameChannels, LaneTotals, MeasuredPart, SentFrame, SplitLatency, WorkerRecorder,
};
use super::{PhaseControl, PhaseStart};

mod records;

/// Time from the start signal to the start: long enough for a sleeping thread to wake, so that all
/// start together.
const START_LEAD_NS: u64 = 2_000_000;
/// Pause of all hosts before a common start. A limit of the kernel is granted in slices of 100 ms
/// that begin with the first I/O after a pause (`blk-throttle.c`, `throtl_slice`). Without the
/// pause they would begin with the reads of opening, on every host at another time of the first
/// interval.
const COMMON_START_PAUSE_NS: u64 = 150_000_000;
/// Maximum number of concurrent calls of `fsync`.
const MAX_CONCURRENT_SYNCS: usize = 64;
/// Maximum time between two checks for an interrupt.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs a validated workload on its targets.
pub(super) fn run_phase(
    workload: &StorageWorkload,
    opened: &[OpenedTarget],
    chosen: ChosenEngine,
    control: &mut PhaseControl<'_>,
) -> Result<StorageOutcome, StorageError> {
    let phase = PhaseState::new(workload, opened, clock::now_ns());
    let areas: Vec<ByteRange> = opened.iter().map(|target| target.area).collect();
    let plans =
        worker_plans::plan_workers(workload, &areas, chosen.engine == EngineKind::Threads);
    let cpus = worker_cpus(&plans, chosen.engine, opened);
    thread::scope(|scope| {
        let crew = WorkerThreads::start(scope, (&phase, chosen.engine), plans, &cpus)?;
        crew.run(&phase, chosen.reason, control)
    })
}

/// Returns the CPU of each worker: one each if they fill the machine. With spare CPUs the scheduler
/// does better: it moves workers away from other load and towards the device's interrupts (depth 1
/// on a virtual disk: median 41 µs against 50 µs pinned).
///
/// If the kernel hands every I/O of a ring to a thread of its own, and a worker has one in flight,
/// the two never run at the same time. They stay on one CPU (such threads stay on their creator's
/// on Linux 6.18), because waking another idle CPU takes longer than the I/O: zram under KVM,
/// median 6.5 µs against 41 µs.
fn worker_cpus(
    plans: &[WorkerPlan],
    engine: EngineKind,
    opened: &[OpenedTarget],
) -> Vec<Option<usize>> {
    let mut allowed = pin::allowed_cpus().unwrap_or_default();
    let workers = plans.len();
    let takes_turns = engine == EngineKind::IoUring
        && workers <= allowed.len()
        && opened.iter().all(|target| target.may_fall_back && !target.is_remote)
        && plans.iter().all(WorkerPlan::is_single);
    let pins = engine != EngineKind::Threads && workers == allowed.len() || takes_turns;
    if takes_turns {
        // Begins with the CPU that this thread runs on: the scheduler chose it as idle.
        let here = allowed.iter().position(|cpu| Some(*cpu) == pin::current_cpu());
        allowed.rotate_left(here.unwrap_or(0));
    }
    (0..workers).map(|nth| allowed.get(nth).copied().filter(|_| pins)).collect()
}

/// Threads that are ready, with their channels.
struct WorkerThreads<'scope> {
    members: Vec<ScopedJoinHandle<'scope, Option<WorkerOutcome>>>,
    starts: Vec<Sender<Timeline>>,
    contributors: Vec<SeriesWorker>,
    frames: Receiver<SentFrame>,
    /// Engine with the features granted to the first worker; all workers request the same.
    engine: String,
}

/// Parameters of a worker's thread.
struct WorkerSetup<'a> {
    phase: &'a PhaseState<'a>,
    plan: WorkerPlan,
    cpu: Option<usize>,
    ready: Sender<Result<String, StorageError>>,
    start: Receiver<Timeline>,
    exchange: FrameChannels,
}

/// Results of a worker.
struct WorkerOutcome {
    stream: usize,
    /// Totals with their targets.
    totals: Vec<(usize, LaneTotals)>,
    failures: Vec<IoFailure>,
    failure_count: u64,
    not_started: u64,
    ended_early: bool,
    errors: StreamErrors,
    measured: MeasuredPart,
    first_ns: u64,
    last_ns: u64,
    syncs: Option<Box<IoTally>>,
    split_latency: Option<Box<[SplitLatency; 2]>>,
    by_priority: Option<Box<PriorityTallies>>,
    journal: Vec<JournalEntry>,
    batch_counts: Option<Box<BatchCounts>>,
    result: io::Result<()>,
}

impl<'scope> WorkerThreads<'scope> {
    fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        (phase, engine): (&'env PhaseState<'env>, EngineKind),
        plans: Vec<WorkerPlan>,
        cpus: &[Option<usize>],
    ) -> Result<Self, StorageError> {
        let body = move |member: WorkerSetup<'env>| match engine {
            EngineKind::IoUring => run_worker::<Uring>(member),
            EngineKind::IoUringPolled => run_worker::<UringPolled>(member),
            EngineKind::Libaio => run_worker::<Libaio>(member),
            EngineKind::Threads => run_worker::<Threads>(member),
            EngineKind::Null => run_worker::<Null>(member),
        };
        let (full, frames) = mpsc::channel();
        let (ready, readiness) = mpsc::channel();
        let (mut members, mut starts) = (Vec::new(), Vec::new());
        let mut contributors = Vec::new();
        for (worker, (plan, &cpu)) in plans.into_iter().zip(cpus).enumerate() {
            let (start_sender, start) = mpsc::channel();
            let (empty_sender, empty) = mpsc::channel();
            contributors.push(SeriesWorker::new(plan.stream, empty_sender));
            starts.push(start_sender);
            let exchange = FrameChannels { worker, full: full.clone(), empty };
            let member =
                WorkerSetup { phase, plan, cpu, ready: ready.clone(), start, exchange };
            let builder = thread::Builder::new().name(format!("storage-{worker}"));
            // Threads already started find their channels closed, and end.
            let spawned = builder.spawn_scoped(scope, move || body(member));
            members.push(spawned.map_err(|source| StorageError::Resource {
                what: format!("thread {worker} of the load"),
                source,
            })?);
        }
        drop((full, ready));
        let granted: Vec<String> = readiness.into_iter().collect::<Result<_, _>>()?;
        let engine = match granted.first() {
            Some(granted) if !granted.is_empty() => format!("{} ({granted})", engine.name()),
            Some(_) | None => engine.name().to_owned(),
        };
        Ok(Self { members, starts, contributors, frames, engine })
    }

    fn run(
        self,
        phase: &PhaseState<'_>,
        engine_reason: EngineReason,
        control: &mut PhaseControl<'_>,
    ) -> Result<StorageOutcome, StorageError> {
        let workload = phase.workload;
        let start = control.on_ready.as_mut().map_or(PhaseStart::Now, |on_ready| on_ready());
        let now_ns = clock::now_ns();
        let start_ns = match start {
            // A host that misses the common start still runs a whole phase.
            PhaseStart::At(at_ns) if at_ns.saturating_add(COMMON_START_PAUSE_NS) > now_ns => {
                at_ns.saturating_add(COMMON_START_PAUSE_NS)
            }
            PhaseStart::At(_) | PhaseStart::Now | PhaseStart::Never => now_ns + START_LEAD_NS,
        };
        let timeline = Timeline::new(start_ns, workload.timing);
        let last_ns = if start == PhaseStart::Never { now_ns } else { timeline.deadline_ns };
        phase.end_no_later_than(last_ns);
        for start in self.starts {
            // A closed channel means that the worker has panicked, which its join reports.
            let _ = start.send(timeline);
        }
        let mut series =
            StorageSeries::new(timeline, workload.streams.len(), self.contributors);
        let sizes = SizeWatch::new(&phase.targets, now_ns);
        let mut watch = PhaseMonitor { phase, timeline, control, intervals: Vec::new(), sizes };
        let cpu_before = watch.collect_until_ended(&self.frames, &mut series);
        let (mut ends, broken) = join(self.members);
        if let Some(source) = broken {
            return Err(StorageError::Engine {
                engine: "of a worker",
                failed: "broke",
                source,
            });
        }
        let (failures_of_sync, end_ns) = watch.finish(&ends);
        watch.emit(series.finish(end_ns));
        let not_started = ends.iter().map(|end| end.not_started).sum();
        let failed_ios: u64 = ends.iter().map(|end| end.failure_count).sum();
        let error_count = failed_ios + failures_of_sync.len() as u64;
        let mut errors: Vec<_> = ends.iter().flat_map(|end| end.failures.clone()).collect();
        let mut streams = records::stream_records(&mut ends, phase, (timeline, end_ns));
        records::note_sync_failures(&mut streams, &failures_of_sync);
        errors.extend(failures_of_sync.into_iter().map(|(failure, _)| failure));
        if error_count == 0 {
            watch.sizes.check(&workload.targets)?;
        }
        let cpu = cpu::process_time();
        let seconds =
            |now_ns: u64, before_ns: u64| now_ns.saturating_sub(before_ns) as f64 * 1e-9;
        Ok(StorageOutcome {
            elapsed_s: clock::seconds_between(timeline.warm_end_ns, end_ns),
            // Set by the caller, which opens and closes the targets.
            open_s: 0.0,
            close_s: 0.0,
            ended: watch.end_reason(end_ns),
            intervals: watch.intervals,
            streams,
            tallies: records::merge_totals(ends),
            cpu_user_s: seconds(cpu.user_ns, cpu_before.user_ns),
            cpu_system_s: seconds(cpu.system_ns, cpu_before.system_ns),
            engine: self.engine,
            engine_reason,
            errors,
            error_count,
            not_started,
        })
    }
}

/// Monitoring by the calling thread while the phase runs.
struct PhaseMonitor<'a, 'c> {
    phase: &'a PhaseState<'a>,
    timeline: Timeline,
    control: &'a mut PhaseControl<'c>,
    intervals: Vec<IntervalTally>,
    sizes: SizeWatch,
}

impl PhaseMonitor<'_, '_> {
    /// Collects frames until no worker is left. Returns the CPU time at the end of the warm-up.
    fn collect_until_ended(
        &mut self,
        frames: &Receiver<SentFrame>,
        series: &mut StorageSeries,
    ) -> ProcessTime {
        let first = cpu::process_time();
        let mut at_warm_end = None;
        loop {
            let now_ns = clock::now_ns();
            self.sizes.look(now_ns);
            if self.control.stop.load(Ordering::Relaxed) || self.phase.is_given_up() {
                self.phase.end_no_later_than(now_ns);
            }
            let left_ns = self.timeline.warm_end_ns.saturating_sub(now_ns);
            if left_ns == 0 {
                at_warm_end.get_or_insert_with(cpu::process_time);
            }
            let wait = if left_ns == 0 {
                POLL_INTERVAL
            } else {
                POLL_INTERVAL.min(Duration::from_nanos(left_ns))
            };
            match frames.recv_timeout(wait) {
                Ok(handed) => {
                    let complete = series.add(handed);
                    self.emit(complete);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return at_warm_end.unwrap_or(first),
            }
        }
    }

    fn emit(&mut self, entries: Vec<IntervalTally>) {
        for entry in entries {
            (self.control.on_interval)(&entry);
            self.intervals.push(entry);
        }
    }

    /// Ends the phase, with `fsync` if it counts. Returns failures and the end time.
    fn finish(&self, ends: &[WorkerOutcome]) -> (Vec<records::SyncFailure>, u64) {
        let last_ns = ends.iter().map(|end| end.last_ns).max().unwrap_or(0);
        let planned_ns = self.phase.end_ns.load(Ordering::Relaxed);
        if !self.phase.late_counts {
            return (Vec::new(), last_ns.min(planned_ns));
        }
        (self.sync_targets(), clock::now_ns())
    }

    /// Calls `fsync` on every target that requires it, concurrently, as processes with a file each
    /// do. One after another, 256 MiB in eight files on a virtual disk took 184 ms instead of 137
    /// ms (real IOR: 131 ms; medians of 12, alternating).
    fn sync_targets(&self) -> Vec<records::SyncFailure> {
        let targets = self.phase.workload.targets.iter().zip(&self.phase.targets);
        let wanted: Vec<_> = targets.enumerate().filter(|(_, it)| it.0.sync_at_end).collect();
        let phase = self.phase;
        let one = |&(index, (target, at)): &(usize, (&StorageTarget, &PhaseTarget<'_>))| {
            let (call, result) = match syncs_file_system(phase, index) {
                true => ("syncfs", at.opened.sync_file_system()),
                false => ("fsync", at.opened.sync()),
            };
            let error = result.err()?;
            let mut streams = phase.workload.streams.iter();
            let failure = IoFailure {
                stream: streams.position(|it| it.targets.contains(&index)).unwrap_or(0),
                target: index,
                operation: IoOperation::Write,
                offset: 0,
                bytes: 0,
                reason: format!("{call} of {}: {error}", target.path.display()),
            };
            Some((failure, error.raw_os_error().unwrap_or(libc::EIO)))
        };
        let share = wanted.len().div_ceil(MAX_CONCURRENT_SYNCS).max(1);
        thread::scope(|scope| {
            let parts = wanted.chunks(share);
            let parts: Vec<_> = parts
                .map(|part| {
                    let sync = move || part.iter().filter_map(one).collect::<Vec<_>>();
                    // This thread does the work of a thread that cannot be started.
                    thread::Builder::new().spawn_scoped(scope, sync).map_err(|_| sync())
                })
                .collect();
            let joined = parts.into_iter().flat_map(|part| match part {
                Ok(part) => {
                    part.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
                }
                Err(done) => done,
            });
            joined.collect()
        })
    }

    fn end_reason(&self, end_ns: u64) -> EndReason {
        if self.control.stop.load(Ordering::Relaxed) && end_ns < self.timeline.deadline_ns {
            EndReason::Interrupted
        } else if self.phase.is_given_up() {
            EndReason::Errors
        } else if end_ns >= self.timeline.deadline_ns {
            EndReason::Time
        } else {
            EndReason::Work
        }
    }
}

/// Whether the sync of a target at the end is one of its whole file system.
fn syncs_file_system(phase: &PhaseState<'_>, target: usize) -> bool {
    let streams = &phase.workload.streams;
    let mut users = streams.iter().filter(|stream| stream.targets.contains(&target));
    users.any(|stream| stream.conduct.syncs_file_system)
}

fn join(
    members: Vec<ScopedJoinHandle<'_, Option<WorkerOutcome>>>,
) -> (Vec<WorkerOutcome>, Option<io::Error>) {
    let (mut ends, mut broken) = (Vec::new(), None);
    for member in members {
        match member.join() {
            Ok(Some(mut end)) => {
                let result = std::mem::replace(&mut end.result, Ok(()));
                broken = broken.or(result.err());
                ends.push(end);
            }
            // The worker never started, because another one could not.
            Ok(None) => {}
            Err(payload) => std::panic::resume_unwind(payload),
        }
    }
    (ends, broken)
}

/// Runs a worker's thread: sets up, reports readiness, waits for the start, works.
fn run_worker<E: StorageEngine>(member: WorkerSetup<'_>) -> Option<WorkerOutcome> {
    let WorkerSetup { phase, plan, cpu, ready, start, exchange } = member;
    let (engine, buffers) = match set_up::<E>(phase, &plan, cpu) {
        Ok(both) => both,
        Err(error) => {
            // The receiver gives up at the first error.
            let _ = ready.send(Err(error));
            return None;
        }
    };
    let stream = &phase.workload.streams[plan.stream];
    let lane = |lane: &worker_plans::LanePlan| {
        StorageLane::new(
            lane,
            (plan.stream, stream),
            &phase.workload.targets,
            phase.workload.seed,
        )
    };
    let mut lanes: Vec<StorageLane> = plan.lanes.iter().map(lane).collect();
    let slots = assign_slots(&plan, &mut lanes);
    let (reported, of_target) = reported_targets(&plan.lanes);
    let totals = reported.iter().map(|_| new_totals(stream)).collect();
    let _ = ready.send(Ok(engine.granted_features()));
    drop(ready);
    let timeline = start.recv().ok()?;
    let sources: Option<Vec<_>> = plan.lanes.iter().map(|lane| lane.arrivals.clone()).collect();
    let (start_ns, end_ns) = timeline.stream_times(&stream.conduct);
    let agenda = match (sources, stream.conduct.pauses) {
        (Some(sources), _) => SlotScheduler::open_loop(sources, start_ns),
        (None, Some(pauses)) => {
            SlotScheduler::closed_loop_with_pauses(slots.len() as u32, pauses)
        }
        (None, None) => {
            SlotScheduler::closed_loop(slots.len() as u32, plan.cap_bytes_per_s, start_ns)
        }
    };
    let ledger = WorkerRecorder::new(totals, stream, exchange, timeline)
        .with_totals_by_target(of_target);
    let numbers = (phase, plan.stream);
    let worker = StorageWorker::new(engine, numbers, (lanes, slots), buffers, (agenda, ledger));
    let (ledger, last_ns, result) = worker.with_end(end_ns).work(start_ns);
    // Its own end, or an error, may come before the end of other streams, which must not wait for
    // it.
    if let Some(balance) = &phase.balance {
        balance.note_end(plan.stream);
    }
    let fails_all = stream.conduct.ends_phase_on_error && ledger.errors.fatal.is_some();
    if stream.conduct.ends_phase || fails_all {
        phase.end_no_later_than(last_ns);
    }
    Some(WorkerOutcome {
        stream: plan.stream,
        totals: reported.into_iter().zip(ledger.totals).collect(),
        failures: ledger.failures,
        failure_count: ledger.failure_count,
        not_started: ledger.not_started,
        ended_early: ledger.ended_early,
        errors: ledger.errors,
        measured: ledger.measured,
        first_ns: start_ns,
        last_ns,
        syncs: ledger.syncs,
        split_latency: ledger.split_latency,
        by_priority: ledger.by_priority,
        journal: ledger.journal.unwrap_or_default(),
        batch_counts: ledger.batch_counts,
        result,
    })
}

fn set_up<E: StorageEngine>(
    phase: &PhaseState<'_>,
    plan: &WorkerPlan,
    cpu: Option<usize>,
) -> Result<(E, IoBuffers), StorageError> {
    let stream = &phase.workload.streams[plan.stream];
    let conduct = &stream.conduct;
    thread_setup::prepare_thread(conduct, cpu)?;
    let slots = plan.lanes.iter().map(|lane| lane.slots).sum();
    let verifies_writes = phase.workload.data.verify == Verify::AfterWrite;
    let need = BufferSpec {
        slots,
        bytes: worker_plans::maximum_bytes(stream),
        reads: stream.has_reads() || verifies_writes,
        writes: (stream.read_share < 1.0).then_some(phase.workload.data.compressible),
        content: conduct.content.as_deref(),
        // Streams that share a set of contents write equal ones.
        seed: match conduct.content.as_deref().and_then(|it| it.working_set) {
            Some(set) if set.streams > 1 => phase.workload.seed,
            Some(_) | None => phase.workload.seed ^ plan.lanes[0].id,
        },
        huge: !stream.conduct.plain_pages,
    };
    let buffers = IoBuffers::new(need).map_err(|error| StorageError::Resource {
        what: format!("{} B for I/O", error.bytes),
        source: error.source,
    })?;
    let files: Vec<TargetDescriptors> =
        phase.targets.iter().map(|target| target.opened.descriptors()).collect();
    let mappings = of_targets(phase, stream, conduct.maps_files, OpenedTarget::mapping);
    let calls_files = conduct.file_call.is_some();
    let callers = of_targets(phase, stream, calls_files, OpenedTarget::caller);
    let is_far = phase.targets.iter().any(|target| target.opened.is_remote);
    let setup = EngineSetup {
        files: &files,
        slab: buffers.slab(),
        slots,
        is_remote: is_far,
        mappings: &mappings,
        callers: &callers,
    };
    let engine = E::set_up(setup).map_err(|source| StorageError::Engine {
        engine: E::NAME,
        failed: "cannot be set up",
        source,
    })?;
    Ok((engine, buffers))
}

/// Returns something of a stream's targets, at their indices; nothing at all unless it is needed.
fn of_targets<T: Clone>(
    phase: &PhaseState<'_>,
    stream: &StorageStream,
    is_needed: bool,
    of: impl Fn(&OpenedTarget) -> Option<T>,
) -> Vec<Option<T>> {
    let mut found = if is_needed { vec![None; phase.targets.len()] } else { Vec::new() };
    for &target in stream.targets.iter().filter(|_| is_needed) {
        found[target] = of(phase.targets[target].opened);
    }
    found
}

/// Creates the slots of all lanes, and adds them to the lanes' free slots.
fn assign_slots(plan: &WorkerPlan, lanes: &mut [StorageLane]) -> Vec<IoSlot> {
    let mut slots = Vec::new();
    // Slots are assigned round robin, so that a closed loop begins on all targets at once.
    let most = plan.lanes.iter().map(|lane| lane.slots).max().unwrap_or(0);
    for round in 0..most {
        for (at, _) in plan.lanes.iter().enumerate().filter(|(_, it)| it.slots > round) {
            lanes[at].free.push(slots.len() as u32);
            slots.push(IoSlot::for_lane(at as u32));
        }
    }
    slots
}

/// Returns the targets whose totals are reported, one per lane, or all that alternate within the
/// only lane. Also returns, for the latter, the index of each target's totals.
fn reported_targets(lanes: &[worker_plans::LanePlan]) -> (Vec<usize>, Vec<usize>) {
    let of_lanes: Vec<usize> = lanes.iter().map(|lane| lane.target).collect();
    let [lane] = lanes else { return (of_lanes, Vec::new()) };
    // A total takes a megabyte; thousands of small files that alternate are reported together.
    if lane.others.is_empty() || lane.others.len() >= TargetRotation::MAX_DISTINCT_TARGETS {
        return (of_lanes, Vec::new());
    }
    let reported: Vec<usize> =
        of_lanes.into_iter().chain(lane.others.iter().map(|other| other.0)).collect();
    let mut of_target = vec![0; reported.iter().max().map_or(0, |last| last + 1)];
    for (book, target) in reported.iter().enumerate() {
        of_target[*target] = book;
    }
    (reported, of_target)
}

fn new_totals(stream: &StorageStream) -> LaneTotals {
    let total = |is_used: bool| is_used.then(|| Box::new(tally::new_total()));
    [total(stream.has_reads()), total(stream.read_share < 1.0)]
}

#[cfg(test)]
mod tests;
