//! Division of a workload's I/O among workers, with a lane per target in each.
//!
//! Pure arithmetic: opens nothing and starts nothing.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use assay_model::workload::storage::{
    AccessPattern, ArrivalProcess, Cursor, StorageLoad, StorageStream, StorageWorkload,
};

use super::arrivals::{ArrivalSchedule, ArrivalSource};
use super::offset_pattern::{ByteRange, OffsetPattern, Position};
use super::random::RandomStream;

/// Work of one thread.
#[derive(Debug)]
pub(super) struct WorkerPlan {
    /// Index of its stream.
    pub(super) stream: usize,
    /// Lanes, one per target.
    pub(super) lanes: Vec<LanePlan>,
    /// Its share of a maximum rate, in B/s.
    pub(super) cap_bytes_per_s: Option<f64>,
}

impl WorkerPlan {
    /// Returns whether it has at most one I/O in flight.
    pub(super) fn is_single(&self) -> bool {
        self.lanes.iter().map(|lane| u64::from(lane.slots)).sum::<u64>() == 1
    }
}

/// Work of one thread on one target.
#[derive(Debug, Clone)]
pub(super) struct LanePlan {
    /// Index of the target in the workload.
    pub(super) target: usize,
    /// Maximum number of I/O in flight, at least 1.
    pub(super) slots: u32,
    /// Part of the target that the lane works on.
    pub(super) area: ByteRange,
    /// Position in the area, possibly shared with other lanes.
    pub(super) position: Position,
    /// Arrivals of I/O; `None` in a closed loop.
    pub(super) arrivals: Option<ArrivalSource>,
    /// Number of the lane's random sequence.
    pub(super) id: u64,
    /// Targets that alternate with the first, each with its area and position.
    pub(super) others: Vec<(usize, ByteRange, Position)>,
}

/// Bit of the sequence number that separates random arrivals from random offsets.
const ARRIVALS_ID: u64 = 1 << 63;
/// Range of sequence numbers of a lane that is split into single slots.
const SLOTS_PER_LANE: u64 = 1 << 20;

/// Divides the workload among workers. `areas` are the used parts of the targets. If
/// `single_slots`, every worker has one slot, which blocking calls require.
pub(super) fn plan_workers(
    workload: &StorageWorkload,
    areas: &[ByteRange],
    single_slots: bool,
) -> Vec<WorkerPlan> {
    let mut workers: Vec<WorkerPlan> = Vec::new();
    for (index, stream) in workload.streams.iter().enumerate() {
        let lane_count = workers.iter().map(|worker| worker.lanes.len()).sum::<usize>() as u64;
        let mut stream_workers = plan_threads(index, stream, areas);
        assign_ids(&mut stream_workers, lane_count);
        assign_arrivals(&mut stream_workers, workload, stream, single_slots);
        if single_slots {
            stream_workers = stream_workers.into_iter().flat_map(split_by_slot).collect();
        }
        assign_caps(&mut stream_workers, workload, stream);
        workers.append(&mut stream_workers);
    }
    workers
}

/// Returns thread `thread`'s share of the `total` I/O in flight on one target of a stream. Shares
/// are equal; the threads that get one more rotate from target to target.
fn slots_of_thread(total: u32, threads: u32, thread: u32, target_index: usize) -> u32 {
    let (base, extra) = (total / threads, total % threads);
    let shift = (target_index as u64 * u64::from(extra) % u64::from(threads)) as u32;
    base + u32::from((thread + threads - shift) % threads < extra)
}

fn plan_threads(index: usize, stream: &StorageStream, areas: &[ByteRange]) -> Vec<WorkerPlan> {
    let count = stream.threads.max(1);
    let mut workers: Vec<_> = (0..count)
        .map(|_| WorkerPlan { stream: index, lanes: Vec::new(), cap_bytes_per_s: None })
        .collect();
    if stream.conduct.turns.is_some() {
        workers[0].lanes.push(plan_rotating_lane(stream, areas));
        return workers;
    }
    for (target_index, &target) in stream.targets.iter().enumerate() {
        let slots =
            |thread| slots_of_thread(stream.in_flight_per_target, count, thread, target_index);
        let active_threads: Vec<u32> = (0..count).filter(|&thread| slots(thread) > 0).collect();
        let parts = thread_areas(stream, areas[target], active_threads.len() as u64);
        for (thread, (area, position)) in active_threads.into_iter().zip(parts) {
            let slots = slots(thread);
            let others = Vec::new();
            let lane =
                LanePlan { target, slots, area, position, arrivals: None, id: 0, others };
            workers[thread as usize].lanes.push(lane);
        }
    }
    workers.retain(|worker| !worker.lanes.is_empty());
    workers
}

/// Plans one lane over all targets of a stream.
fn plan_rotating_lane(stream: &StorageStream, areas: &[ByteRange]) -> LanePlan {
    let placed_target = |&target: &usize| {
        let position = Arc::new(AtomicU64::new(OffsetPattern::initial_position(
            areas[target],
            stream.pattern,
        )));
        (target, areas[target], position)
    };
    let mut targets = stream.targets.iter().map(placed_target);
    // Workloads with a stream without targets are rejected earlier.
    let (target, area, position) = targets.next().expect("a stream has a target");
    let slots = stream.in_flight_per_target;
    LanePlan { target, slots, area, position, arrivals: None, id: 0, others: targets.collect() }
}

/// Returns area and position of each of `count` threads that work on one target.
fn thread_areas(
    stream: &StorageStream,
    area: ByteRange,
    count: u64,
) -> Vec<(ByteRange, Position)> {
    let new_position =
        |area| Arc::new(AtomicU64::new(OffsetPattern::initial_position(area, stream.pattern)));
    let shared = new_position(area);
    let part_bytes = (area.end - area.start) / count.max(1);
    // Parts begin at multiples of the I/O size, so that no I/O is lost between them.
    let part_bytes = part_bytes / maximum_bytes(stream) * maximum_bytes(stream);
    (0..count)
        .map(|index| match stream.pattern {
            AccessPattern::Random
            | AccessPattern::Permutation
            | AccessPattern::Strides { .. }
            | AccessPattern::Blocks { .. }
            | AccessPattern::Sequential { cursor: Cursor::Shared, .. } => {
                (area, Arc::clone(&shared))
            }
            AccessPattern::Mixed { .. }
            | AccessPattern::Sequential { cursor: Cursor::PerThread, .. } => {
                (area, new_position(area))
            }
            AccessPattern::Sequential { cursor: Cursor::Divided, .. } => {
                let start = area.start + index * part_bytes;
                let part = ByteRange { start, end: start + part_bytes };
                (part, new_position(part))
            }
        })
        .collect()
}

/// Returns the largest I/O of a stream, at least one byte.
pub(super) fn maximum_bytes(stream: &StorageStream) -> u64 {
    stream.all_sizes().map(|size| size.max_bytes.max(size.min_bytes)).max().unwrap_or(1).max(1)
}

fn assign_ids(workers: &mut [WorkerPlan], first_lane: u64) {
    let lanes = workers.iter_mut().flat_map(|worker| &mut worker.lanes);
    for (lane, id) in lanes.zip(first_lane..) {
        lane.id = id * SLOTS_PER_LANE;
    }
}

fn total_slots(workers: &[WorkerPlan]) -> f64 {
    workers.iter().flat_map(|worker| &worker.lanes).map(|lane| f64::from(lane.slots)).sum()
}

/// Returns the stream's share of the phase's rate among the streams without a rate of their own.
fn rate_share(workload: &StorageWorkload, stream: &StorageStream) -> f64 {
    let sharing_streams = workload.streams.iter().filter(|it| it.own_rate_per_s.is_none());
    let sum: f64 = sharing_streams.map(|it| it.rate_share).sum();
    if sum > 0.0 { stream.rate_share / sum } else { 0.0 }
}

fn assign_arrivals(
    workers: &mut [WorkerPlan],
    workload: &StorageWorkload,
    stream: &StorageStream,
    single_slots: bool,
) {
    let own_rates: f64 = workload.streams.iter().filter_map(|it| it.own_rate_per_s).sum();
    let (rate, process) = match (&workload.load, stream.own_rate_per_s) {
        (StorageLoad::Open { arrivals, .. }, Some(rate)) => (rate, *arrivals),
        (_, Some(rate)) => (rate, ArrivalProcess::Constant),
        (StorageLoad::Open { rate_per_s, arrivals }, None) => {
            ((rate_per_s - own_rates).max(0.0) * rate_share(workload, stream), *arrivals)
        }
        (
            StorageLoad::Closed
            | StorageLoad::Balanced
            | StorageLoad::Capped { .. }
            | StorageLoad::ShareOf { .. },
            None,
        ) => {
            return;
        }
    };
    let total = total_slots(workers);
    let count = workers.iter().map(|worker| worker.lanes.len()).sum::<usize>() as f64;
    for (index, lane) in workers.iter_mut().flat_map(|worker| &mut worker.lanes).enumerate() {
        let lane_rate = rate * f64::from(lane.slots) / total;
        let draws = RandomStream::new(workload.seed, lane.id | ARRIVALS_ID);
        let schedule = ArrivalSchedule::new(process, lane_rate, index as f64 / count, draws);
        lane.arrivals = Some(match single_slots {
            true => ArrivalSource::Shared(Arc::new(Mutex::new(schedule))),
            false => ArrivalSource::Own(schedule),
        });
    }
}

fn assign_caps(workers: &mut [WorkerPlan], workload: &StorageWorkload, stream: &StorageStream) {
    let StorageLoad::Capped { bytes_per_s } = workload.load else { return };
    if stream.own_rate_per_s.is_some() {
        return;
    }
    let total = total_slots(workers);
    let share = bytes_per_s * rate_share(workload, stream);
    for worker in workers {
        worker.cap_bytes_per_s =
            Some(share * total_slots(std::slice::from_ref(worker)) / total);
    }
}

/// Splits a worker into one per slot; they share the lane's position and arrivals.
fn split_by_slot(worker: WorkerPlan) -> Vec<WorkerPlan> {
    let WorkerPlan { stream, lanes, cap_bytes_per_s } = worker;
    let singles = lanes.into_iter().flat_map(|lane| {
        let id = lane.id;
        (0..u64::from(lane.slots)).map(move |slot| LanePlan {
            slots: 1,
            id: id + slot,
            ..lane.clone()
        })
    });
    singles.map(|lane| WorkerPlan { stream, lanes: vec![lane], cap_bytes_per_s }).collect()
}

#[cfg(test)]
mod tests;
