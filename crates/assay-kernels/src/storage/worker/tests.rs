//! Tests that waiting within the load generator is part of an I/O's latency.

use std::sync::mpsc;

use assay_model::workload::storage::{
    AccessPattern, ArrivalProcess, EngineChoice, StorageLoad, StorageStream, StorageTarget,
    StorageTiming, StorageWorkload,
};

use super::super::buffers::BufferSpec;
use super::super::engine::EngineSetup;
use super::super::target::OpenedTarget;
use super::super::timeline::Timeline;
use super::super::worker_recorder::{FrameChannels, SeriesFrame};
use super::super::{tally, worker_plans};
use super::*;

/// Engine that performs one I/O at a time, in a millisecond each.
struct SerialEngine {
    queued: Vec<u32>,
}

const EACH_NS: u64 = 1_000_000;
const BYTES: u64 = 4096;

impl StorageEngine for SerialEngine {
    const NAME: &'static str = "one at a time";

    fn set_up(_: EngineSetup<'_>) -> io::Result<Self> {
        Ok(Self { queued: Vec::new() })
    }

    fn granted_features(&self) -> String {
        String::new()
    }

    fn queue(&mut self, request: IoRequest) {
        self.queued.push(request.slot);
    }

    fn exchange(
        &mut self,
        most: usize,
        _: Wait,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<usize> {
        if most > 0 && !self.queued.is_empty() {
            std::thread::sleep(Duration::from_nanos(EACH_NS));
            done.push(IoCompletion { slot: self.queued.remove(0), result: BYTES as i32 });
        }
        Ok(self.queued.len())
    }
}

fn workload(depth: u32, ios: u64) -> StorageWorkload {
    StorageWorkload {
        timing: StorageTiming {
            warmup_s: 0.0,
            duration_s: None,
            interval_s: 1000.0,
            stop_after_bytes: Some(ios * BYTES),
        },
        engine: EngineChoice::Null,
        ..StorageWorkload::new(
            vec![StorageTarget::new("nothing", "/never/opened", Some(1 << 20))],
            vec![StorageStream {
                in_flight_per_target: depth,
                ..StorageStream::new(AccessPattern::Random, BYTES, 1.0)
            }],
            None,
        )
    }
}

/// Runs one worker; returns its records and the frames of its series.
fn run_worker(workload: &StorageWorkload) -> (WorkerRecorder, Vec<SeriesFrame>) {
    let opened = [OpenedTarget::without_file(&workload.targets[0]).unwrap()];
    let phase = PhaseState::new(workload, &opened, 0);
    let plan = worker_plans::plan_workers(workload, &[opened[0].area], false).remove(0);
    let mut lanes = vec![StorageLane::new(
        &plan.lanes[0],
        (0, &workload.streams[0]),
        &workload.targets,
        workload.seed,
    )];
    let slots = plan.lanes[0].slots;
    lanes[0].free.extend(0..slots);
    let need = BufferSpec {
        slots,
        bytes: BYTES,
        reads: true,
        writes: None,
        content: None,
        seed: 1,
        huge: true,
    };
    let (full, frames) = mpsc::channel();
    let (_sender, empty) = mpsc::channel();
    let timeline = Timeline::new(clock::now_ns(), workload.timing);
    let totals = vec![[Some(Box::new(tally::new_total())), None]];
    let exchange = FrameChannels { worker: 0, full, empty };
    let ledger = WorkerRecorder::new(totals, &workload.streams[0], exchange, timeline);
    let agenda = match plan.lanes[0].arrivals.clone() {
        Some(source) => SlotScheduler::open_loop(vec![source], timeline.start_ns),
        None => SlotScheduler::closed_loop(slots, None, timeline.start_ns),
    };
    phase.end_no_later_than(timeline.deadline_ns);
    let worker = StorageWorker::new(
        SerialEngine { queued: Vec::new() },
        (&phase, 0),
        (lanes, vec![IoSlot::for_lane(0); slots as usize]),
        IoBuffers::new(need).unwrap(),
        (agenda, ledger),
    );
    let (ledger, _, result) = worker.work(timeline.start_ns);
    result.unwrap();
    (ledger, frames.try_iter().map(|handed| *handed.frame).collect())
}

#[test]
fn latency_includes_waiting_for_submission() {
    let (depth, ios) = (16, 48);
    let (ledger, frames) = run_worker(&workload(depth, ios));
    let total = ledger.totals[0][0].as_ref().unwrap();
    let in_flight_ns = frames.iter().map(|frame| frame.in_flight_ns).sum::<u64>();
    assert_eq!(total.count, ios);
    // The first ones wait for those before them, the others for all that are in flight.
    let depth = u64::from(depth);
    let minimum_ns = (depth * (depth + 1) / 2 + (ios - depth) * depth) * EACH_NS;
    assert!(total.service_sum_ns >= minimum_ns, "{} of {minimum_ns}", total.service_sum_ns);
    // Little's law: the integral of I/O in flight is the sum of all latencies.
    assert!(total.service_sum_ns.abs_diff(in_flight_ns) <= in_flight_ns / 50);
}

#[test]
fn unfinished_io_of_an_open_loop_is_late() {
    // Twice the rate that the engine can do, for a fifth of a second. Of 400 due I/O it completes
    // at most 200; the others had waited for up to half of the time.
    let mut workload = workload(4, 0);
    workload.load =
        StorageLoad::Open { rate_per_s: 2000.0, arrivals: ArrivalProcess::Constant };
    workload.timing.stop_after_bytes = None;
    workload.timing.duration_s = Some(0.2);
    workload.timing.interval_s = 0.1;
    let (ledger, frames) = run_worker(&workload);
    let total = ledger.totals[0][0].as_ref().unwrap();
    assert!(total.count <= 200, "{}", total.count);
    assert_eq!(total.service_ns.len(), total.count);
    assert_eq!(total.from_intended_ns.len(), 400);
    // I/O in flight at the end is completed, but late.
    let in_flight = 400 - ledger.not_started - total.count;
    assert!(in_flight <= 4, "{in_flight}");
    let late = 400 - total.from_intended_ns.count_between(0, 10_000_000);
    assert!(late >= 300, "{late}");
    // The series contains all I/O.
    let in_series = frames.iter().map(|frame| frame.tallies[0].from_intended_ns.len());
    assert_eq!(in_series.collect::<Vec<_>>().iter().take(2).sum::<u64>(), 400);
}
