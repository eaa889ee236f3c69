//! Execution of one phase: starts the threads together, collects the series while it runs, and sums
//! up at the end.
//!
//! The calling thread only collects and monitors; of the workload's I/O it performs only the final
//! `fsync`.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use assay_model::engine_choice::EngineReason;
use assay_model::storage_outcome::{
    Ended, IntervalTally, IoFailure, JournalEntry, Operation, StorageOutcome, StreamRecord,
    StreamTally, Tally,
};
use assay_model::workload::storage::{Conduct, StorageTarget, StorageWorkload, Turns, Verify};

use crate::clock;
use crate::network::cpu::{self, ProcessTime};
use crate::pin;
use crate::timers;

use super::Control;
use super::agenda::Agenda;
use super::buffers::{Buffers, Need};
use super::choice::{Chosen, Engine};
use super::crew::{self, WorkerPlan};
use super::descriptor_table;
use super::engine::{Files, Libaio, Null, Setup, StorageEngine, Threads, Uring, UringPolled};
use super::error::StorageError;
use super::lane::Lane;
use super::ledger::{Apart, Exchange, Handed, LaneTotals, Ledger};
use super::phase::{Phase, Target};
use super::places::Area;
use super::series::{Contributor, Series};
use super::tally;
use super::target::Opened;
use super::timeline::Timeline;
use super::worker::{Slot, Worker};

/// Time from the start signal to the start: long enough for a sleeping thread to wake, so that all
/// start together.
const LEAD_NS: u64 = 2_000_000;
/// Pause of all hosts before a common start. A limit of the kernel is granted in slices of 100 ms
/// that begin with the first I/O after a pause (`blk-throttle.c`, `throtl_slice`). Without the
/// pause they would begin with the reads of opening, on every host at another time of the first
/// interval.
const REST_NS: u64 = 150_000_000;
/// Maximum number of concurrent calls of `fsync`.
const SYNCS: usize = 64;
/// Maximum time between two checks for an interrupt.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a validated workload on its targets.
pub(super) fn carry_out(
    workload: &StorageWorkload,
    opened: &[Opened],
    chosen: Chosen,
    control: &mut Control<'_>,
) -> Result<StorageOutcome, StorageError> {
    let phase = Phase::new(workload, opened, clock::now_ns());
    let areas: Vec<Area> = opened.iter().map(|target| target.area).collect();
    let plans = crew::divide(workload, &areas, chosen.engine == Engine::Threads);
    let cpus = cpus(&plans, chosen.engine, opened);
    thread::scope(|scope| {
        let crew = Crew::start(scope, (&phase, chosen.engine), plans, &cpus)?;
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
fn cpus(plans: &[WorkerPlan], engine: Engine, opened: &[Opened]) -> Vec<Option<usize>> {
    let mut allowed = pin::allowed_cpus().unwrap_or_default();
    let workers = plans.len();
    let takes_turns = engine == Engine::IoUring
        && workers <= allowed.len()
        && opened.iter().all(|target| target.may_detour && !target.is_far)
        && plans.iter().all(WorkerPlan::is_single);
    let pins = engine != Engine::Threads && workers == allowed.len() || takes_turns;
    if takes_turns {
        // Begins with the CPU that this thread runs on: the scheduler chose it as idle.
        let here = allowed.iter().position(|cpu| Some(*cpu) == pin::current_cpu());
        allowed.rotate_left(here.unwrap_or(0));
    }
    (0..workers).map(|nth| allowed.get(nth).copied().filter(|_| pins)).collect()
}

/// Threads that are ready, with their channels.
struct Crew<'scope> {
    members: Vec<ScopedJoinHandle<'scope, Option<End>>>,
    starts: Vec<Sender<Timeline>>,
    contributors: Vec<Contributor>,
    frames: Receiver<Handed>,
    /// Engine with the features granted to the first worker; all workers request the same.
    engine: String,
}

/// Parameters of a worker's thread.
struct Member<'a> {
    phase: &'a Phase<'a>,
    plan: WorkerPlan,
    cpu: Option<usize>,
    ready: Sender<Result<String, StorageError>>,
    start: Receiver<Timeline>,
    exchange: Exchange,
}

/// Results of a worker.
struct End {
    stream: usize,
    /// Totals with their targets.
    totals: Vec<(usize, LaneTotals)>,
    failures: Vec<IoFailure>,
    failure_count: u64,
    not_started: u64,
    first_ns: u64,
    last_ns: u64,
    syncs: Option<Box<Tally>>,
    apart: Option<Box<[Apart; 2]>>,
    journal: Vec<JournalEntry>,
    result: io::Result<()>,
}

impl<'scope> Crew<'scope> {
    fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        (phase, engine): (&'env Phase<'env>, Engine),
        plans: Vec<WorkerPlan>,
        cpus: &[Option<usize>],
    ) -> Result<Self, StorageError> {
        let body = move |member: Member<'env>| match engine {
            Engine::IoUring => live::<Uring>(member),
            Engine::IoUringPolled => live::<UringPolled>(member),
            Engine::Libaio => live::<Libaio>(member),
            Engine::Threads => live::<Threads>(member),
            Engine::Null => live::<Null>(member),
        };
        let (full, frames) = mpsc::channel();
        let (ready, readiness) = mpsc::channel();
        let (mut members, mut starts) = (Vec::new(), Vec::new());
        let mut contributors = Vec::new();
        for (worker, (plan, &cpu)) in plans.into_iter().zip(cpus).enumerate() {
            let (start_sender, start) = mpsc::channel();
            let (empty_sender, empty) = mpsc::channel();
            contributors.push(Contributor::new(plan.stream, empty_sender));
            starts.push(start_sender);
            let exchange = Exchange { worker, full: full.clone(), empty };
            let member = Member { phase, plan, cpu, ready: ready.clone(), start, exchange };
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
        phase: &Phase<'_>,
        engine_reason: EngineReason,
        control: &mut Control<'_>,
    ) -> Result<StorageOutcome, StorageError> {
        let workload = phase.workload;
        let common_ns = control.on_ready.as_mut().and_then(|on_ready| on_ready());
        let now_ns = clock::now_ns();
        // A host that misses the common start still runs a whole phase.
        let start_ns = common_ns
            .map(|at_ns| at_ns.saturating_add(REST_NS))
            .filter(|at_ns| *at_ns > now_ns)
            .unwrap_or(now_ns + LEAD_NS);
        let timeline = Timeline::new(start_ns, workload.timing);
        phase.end_at(timeline.deadline_ns);
        for start in self.starts {
            // A closed channel means that the worker has panicked, which its join reports.
            let _ = start.send(timeline);
        }
        let mut series = Series::new(timeline, workload.streams.len(), self.contributors);
        let mut watch = Watch { phase, timeline, control, intervals: Vec::new() };
        let cpu_before = watch.until_all_ended(&self.frames, &mut series);
        let (mut ends, broken) = join(self.members);
        if let Some(source) = broken {
            return Err(StorageError::Engine {
                engine: "of a worker",
                failed: "broke",
                source,
            });
        }
        let (failures_of_sync, end_ns) = watch.end(&ends);
        watch.emit(series.finish(end_ns));
        let (mut errors, mut error_count) = (failures_of_sync, 0);
        error_count += errors.len() as u64;
        let not_started = ends.iter().map(|end| end.not_started).sum();
        for end in &ends {
            error_count += end.failure_count;
            errors.extend(end.failures.iter().cloned());
        }
        let cpu = cpu::process_time();
        let seconds =
            |now_ns: u64, before_ns: u64| now_ns.saturating_sub(before_ns) as f64 * 1e-9;
        Ok(StorageOutcome {
            elapsed_s: clock::seconds_between(timeline.warm_end_ns, end_ns),
            // Set by the caller, which opens and closes the targets.
            open_s: 0.0,
            close_s: 0.0,
            ended: watch.reason(end_ns),
            intervals: watch.intervals,
            streams: records(&mut ends, phase, (timeline, end_ns)),
            tallies: merge(ends),
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
struct Watch<'a, 'c> {
    phase: &'a Phase<'a>,
    timeline: Timeline,
    control: &'a mut Control<'c>,
    intervals: Vec<IntervalTally>,
}

impl Watch<'_, '_> {
    /// Collects frames until no worker is left. Returns the CPU time at the end of the warm-up.
    fn until_all_ended(
        &mut self,
        frames: &Receiver<Handed>,
        series: &mut Series,
    ) -> ProcessTime {
        let first = cpu::process_time();
        let mut at_warm_end = None;
        loop {
            let now_ns = clock::now_ns();
            if self.control.stop.load(Ordering::Relaxed) || self.phase.is_given_up() {
                self.phase.end_at(now_ns);
            }
            let left_ns = self.timeline.warm_end_ns.saturating_sub(now_ns);
            if left_ns == 0 {
                at_warm_end.get_or_insert_with(cpu::process_time);
            }
            let wait =
                if left_ns == 0 { LOOK } else { LOOK.min(Duration::from_nanos(left_ns)) };
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
    fn end(&self, ends: &[End]) -> (Vec<IoFailure>, u64) {
        let last_ns = ends.iter().map(|end| end.last_ns).max().unwrap_or(0);
        let planned_ns = self.phase.end_ns.load(Ordering::Relaxed);
        if !self.phase.late_counts {
            return (Vec::new(), last_ns.min(planned_ns));
        }
        (self.sync(), clock::now_ns())
    }

    /// Calls `fsync` on every target that requires it, concurrently, as processes with a file each
    /// do. One after another, 256 MiB in eight files on a virtual disk took 184 ms instead of 137
    /// ms (real IOR: 131 ms; medians of 12, alternating).
    fn sync(&self) -> Vec<IoFailure> {
        let targets = self.phase.workload.targets.iter().zip(&self.phase.targets);
        let wanted: Vec<_> = targets.enumerate().filter(|(_, it)| it.0.sync_at_end).collect();
        let one = |&(index, (target, at)): &(usize, (&StorageTarget, &Target<'_>))| {
            let error = at.opened.sync().err()?;
            Some(IoFailure {
                target: index,
                operation: Operation::Write,
                offset: 0,
                bytes: 0,
                reason: format!("fsync of {}: {error}", target.path.display()),
            })
        };
        let share = wanted.len().div_ceil(SYNCS).max(1);
        thread::scope(|scope| {
            let parts = wanted.chunks(share);
            let parts: Vec<_> = parts
                .map(|part| {
                    scope.spawn(move || part.iter().filter_map(one).collect::<Vec<_>>())
                })
                .collect();
            let joined = parts.into_iter().flat_map(|part| {
                part.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
            });
            joined.collect()
        })
    }

    fn reason(&self, end_ns: u64) -> Ended {
        if self.control.stop.load(Ordering::Relaxed) && end_ns < self.timeline.deadline_ns {
            Ended::Interrupted
        } else if self.phase.is_given_up() {
            Ended::Errors
        } else if end_ns >= self.timeline.deadline_ns {
            Ended::Time
        } else {
            Ended::Work
        }
    }
}

fn join(members: Vec<ScopedJoinHandle<'_, Option<End>>>) -> (Vec<End>, Option<io::Error>) {
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

/// Builds the records of the streams from the results of their workers.
fn records(
    ends: &mut [End],
    phase: &Phase<'_>,
    (timeline, end_ns): (Timeline, u64),
) -> Vec<StreamRecord> {
    let streams = &phase.workload.streams;
    let mut records = vec![StreamRecord::default(); streams.len()];
    for end in ends {
        let record = &mut records[end.stream];
        let syncs_at_end = |target: &usize| phase.workload.targets[*target].sync_at_end;
        let is_late = streams[end.stream].targets.iter().any(syncs_at_end);
        let last_ns = if is_late { end_ns } else { end.last_ns.min(end_ns) };
        let first_ns = end.first_ns.max(timeline.warm_end_ns);
        record.active_s = record.active_s.max(last_ns.saturating_sub(first_ns) as f64 * 1e-9);
        if let Some(part) = end.syncs.take().filter(|part| part.count > 0) {
            tally::add(record.syncs.get_or_insert_with(tally::total), &part);
        }
        for (at, parts) in end.apart.take().into_iter().flat_map(|it| *it).enumerate() {
            let sums = [&mut record.submissions[at], &mut record.completions[at]];
            for (sum, part) in sums.into_iter().zip([parts.submission, parts.completion]) {
                if part.count > 0 {
                    tally::add(sum.get_or_insert_with(tally::total), &part);
                }
            }
        }
        record.journal.append(&mut end.journal);
    }
    for record in &mut records {
        record.journal.sort_by_key(|entry| entry.at_ns);
    }
    records
}

/// Adds up the workers' totals, by stream, target and operation.
fn merge(ends: Vec<End>) -> Vec<StreamTally> {
    let mut sums: BTreeMap<(usize, usize, usize), Box<Tally>> = BTreeMap::new();
    for end in ends {
        for (target, totals) in end.totals {
            for (operation, total) in totals.into_iter().enumerate() {
                let Some(total) = total.filter(|total| total.count > 0) else { continue };
                match sums.entry((end.stream, target, operation)) {
                    std::collections::btree_map::Entry::Vacant(place) => {
                        place.insert(total);
                    }
                    std::collections::btree_map::Entry::Occupied(mut sum) => {
                        tally::add(sum.get_mut(), &total);
                    }
                }
            }
        }
    }
    let named = |((stream, target, operation), tally): ((usize, usize, usize), Box<Tally>)| {
        let operation = if operation == 0 { Operation::Read } else { Operation::Write };
        StreamTally { stream, target, operation, tally: *tally }
    };
    sums.into_iter().map(named).collect()
}

/// Runs a worker's thread: sets up, reports readiness, waits for the start, works.
fn live<E: StorageEngine>(member: Member<'_>) -> Option<End> {
    let Member { phase, plan, cpu, ready, start, exchange } = member;
    let (engine, buffers) = match set_up::<E>(phase, &plan, cpu) {
        Ok(both) => both,
        Err(error) => {
            // The receiver gives up at the first error.
            let _ = ready.send(Err(error));
            return None;
        }
    };
    let stream = &phase.workload.streams[plan.stream];
    let lane = |lane: &crew::LanePlan| {
        Lane::new(lane, (plan.stream, stream), &phase.workload.targets, phase.workload.seed)
    };
    let mut lanes: Vec<Lane> = plan.lanes.iter().map(lane).collect();
    let slots = slots(&plan, &mut lanes);
    let (reported, of_target) = reported_targets(&plan.lanes);
    let totals = reported.iter().map(|_| totals(stream.read_share)).collect();
    let _ = ready.send(Ok(engine.granted()));
    drop(ready);
    let timeline = start.recv().ok()?;
    let sources: Option<Vec<_>> = plan.lanes.iter().map(|lane| lane.arrivals.clone()).collect();
    let (start_ns, end_ns) = own_time(&stream.conduct, timeline);
    let agenda = match (sources, stream.conduct.pauses) {
        (Some(sources), _) => Agenda::open(sources, start_ns),
        (None, Some(pauses)) => Agenda::pausing(slots.len() as u32, pauses),
        (None, None) => Agenda::closed(slots.len() as u32, plan.cap_bytes_per_s, start_ns),
    };
    let ledger = Ledger::new(totals, stream, exchange, timeline).by_target(of_target);
    let numbers = (phase, plan.stream);
    let worker = Worker::new(engine, numbers, (lanes, slots), buffers, (agenda, ledger));
    let (ledger, last_ns, result) = worker.until(end_ns).work(start_ns);
    // Its own end may come before that of other streams, which must not wait for it.
    if let Some(balance) =
        phase.balance.as_ref().filter(|_| stream.conduct.duration_s.is_some())
    {
        balance.ends(plan.stream);
    }
    if stream.conduct.ends_phase {
        phase.end_at(last_ns);
    }
    Some(End {
        stream: plan.stream,
        totals: reported.into_iter().zip(ledger.totals).collect(),
        failures: ledger.failures,
        failure_count: ledger.failure_count,
        not_started: ledger.not_started,
        first_ns: start_ns,
        last_ns,
        syncs: ledger.syncs,
        apart: ledger.apart,
        journal: ledger.journal.unwrap_or_default(),
        result,
    })
}

/// Returns the start of a stream and its latest end.
fn own_time(conduct: &Conduct, timeline: Timeline) -> (u64, u64) {
    // Casts saturate: times out of range become the maximum.
    let ns = |seconds: f64| (seconds.max(0.0) * 1e9) as u64;
    let start_ns = timeline.start_ns.saturating_add(ns(conduct.start_after_s));
    let end_ns = conduct.duration_s.map_or(u64::MAX, |s| start_ns.saturating_add(ns(s)));
    (start_ns, end_ns)
}

fn set_up<E: StorageEngine>(
    phase: &Phase<'_>,
    plan: &WorkerPlan,
    cpu: Option<usize>,
) -> Result<(E, Buffers), StorageError> {
    let failed = |what: &str, source| StorageError::Resource { what: what.to_owned(), source };
    let own_cpus = &phase.workload.streams[plan.stream].conduct.cpus;
    if !own_cpus.is_empty() {
        pin::keep_current_thread_on(own_cpus).map_err(|source| failed("its CPUs", source))?;
    } else if let Some(cpu) = cpu {
        pin::pin_current_thread(cpu).map_err(|source| failed("the worker's CPU", source))?;
    }
    timers::wake_on_time();
    descriptor_table::make_own();
    let stream = &phase.workload.streams[plan.stream];
    let slots = plan.lanes.iter().map(|lane| lane.slots).sum();
    let verifies_writes = phase.workload.data.verify == Verify::AfterWrite;
    let need = Need {
        slots,
        bytes: crew::maximum_bytes(stream),
        reads: stream.read_share > 0.0 || verifies_writes,
        writes: (stream.read_share < 1.0).then_some(phase.workload.data.compressible),
        seed: phase.workload.seed ^ plan.lanes[0].id,
        huge: !stream.conduct.plain_pages,
    };
    let buffers = Buffers::new(need)
        .map_err(|error| failed(&format!("{} B for I/O", error.bytes), error.source))?;
    let files: Vec<Files> =
        phase.targets.iter().map(|target| target.opened.descriptors()).collect();
    let is_far = phase.targets.iter().any(|target| target.opened.is_far);
    let setup = Setup { files: &files, slab: buffers.all(), slots, is_far };
    let engine = E::set_up(setup).map_err(|source| StorageError::Engine {
        engine: E::NAME,
        failed: "cannot be set up",
        source,
    })?;
    Ok((engine, buffers))
}

/// Creates the slots of all lanes, and adds them to the lanes' free slots.
fn slots(plan: &WorkerPlan, lanes: &mut [Lane]) -> Vec<Slot> {
    let mut slots = Vec::new();
    // Slots are assigned round robin, so that a closed loop begins on all targets at once.
    let most = plan.lanes.iter().map(|lane| lane.slots).max().unwrap_or(0);
    for round in 0..most {
        for (at, _) in plan.lanes.iter().enumerate().filter(|(_, it)| it.slots > round) {
            lanes[at].free.push(slots.len() as u32);
            slots.push(Slot::of(at as u32));
        }
    }
    slots
}

/// Returns the targets whose totals are reported, one per lane, or all that alternate within the
/// only lane. Also returns, for the latter, the index of each target's totals.
fn reported_targets(lanes: &[crew::LanePlan]) -> (Vec<usize>, Vec<usize>) {
    let of_lanes: Vec<usize> = lanes.iter().map(|lane| lane.target).collect();
    let [lane] = lanes else { return (of_lanes, Vec::new()) };
    // A total takes a megabyte; thousands of small files that alternate are reported together.
    if lane.others.is_empty() || lane.others.len() >= Turns::MOST_TOLD_APART {
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

fn totals(read_share: f64) -> LaneTotals {
    let total = |is_used: bool| is_used.then(|| Box::new(tally::total()));
    [total(read_share > 0.0), total(read_share < 1.0)]
}

#[cfg(test)]
mod tests;
