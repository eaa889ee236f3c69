//! Main loop of one thread: plans due I/O, submits it, collects completions, records them.
//!
//! Three times are kept for every I/O: its intended start, its submission, and the detection of its
//! completion. The clock is read once before and once after each exchange with the kernel. Nothing
//! on this path allocates, locks or formats, except for failures.
//!
//! In an open loop, I/O unfinished at the end counts as late. I/O in flight is completed and counts
//! with its full latency from the intended start; I/O that never started counts with its waiting
//! time.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use assay_model::storage_outcome::IoOperation;
use assay_model::workload::storage::{IoBatches, Verify, WriteContent};

use crate::clock;

use super::buffers::IoBuffers;
use super::depth_control::DepthControl;
use super::engine::{IoAction, IoCompletion, IoRequest, StorageEngine, Wait};
use super::lane::{NextIo, PlannedIo, StorageLane};
use super::phase::PhaseState;
use super::rate_floor::RateFloor;
use super::slot_scheduler::{SPIN_NS, SlotScheduler};
use super::submission_chunk::SubmissionChunk;
use super::worker_recorder::WorkerRecorder;
use io_checks::timed_as;

mod batches;
mod io_checks;
mod written_data;

/// Maximum wait between two checks for the end of the phase.
const MAX_WAIT_NS: u64 = 50_000_000;
/// Time before the start in which a worker spins instead of sleeping. The lead is usually 2 ms.
const SPIN_BEFORE_START_NS: u64 = 5_000_000;
/// Wait when other workers have claimed all blocks that this one needs.
const BUSY_RETRY_NS: u64 = 50_000;

/// Engine, lanes and records of a thread.
#[derive(Debug)]
pub(super) struct StorageWorker<'a, E> {
    engine: E,
    phase: &'a PhaseState<'a>,
    stream: usize,
    lanes: Vec<StorageLane>,
    slots: Vec<IoSlot>,
    buffers: IoBuffers,
    scheduler: SlotScheduler,
    /// Slots with a follow-up I/O to queue: read back, `fsync`, retry.
    follow_ups: Vec<u32>,
    /// Slots that are queued and not submitted, the oldest first.
    batch: Vec<u32>,
    /// Number of slots in the batch that the engine has not accepted yet; they count as in flight.
    still_queued: usize,
    chunk: SubmissionChunk,
    completions: Vec<IoCompletion>,
    in_flight: usize,
    /// Number of writes so far, to make each unique.
    serial: u64,
    /// Contents of writes, if they are not unique numbers, and the number of unique ones so far.
    content: Option<&'a WriteContent>,
    unique_writes: u64,
    verifies: bool,
    sync_every: u64,
    sync: IoAction,
    /// Stage whose I/O is a trim.
    trimmed: Option<SlotStage>,
    /// Operation that has the latency of calls on files, if they replace I/O.
    file_calls: Option<IoOperation>,
    /// End of the stream, if it is before the end of the phase.
    end_ns: u64,
    /// Time at which the last completions were detected.
    detected_ns: u64,
    /// Whether each I/O is checked: for the journal, or for a maximum latency that ends the stream.
    checks_each_io: bool,
    max_latency_ns: u64,
    /// Numbers of errors of reads, of writes, and of wrong data that do not end the stream, if
    /// errors end it.
    tolerated_errors: Option<&'a [Vec<i32>; 3]>,
    /// Minimum rates, if there are any.
    rate_floor: Option<Box<RateFloor>>,
    /// Search for a depth, with given batches.
    depth_control: Option<Box<DepthControl>>,
    /// Given batches, in a closed loop without pauses.
    batches: Option<IoBatches>,
    /// Whether the lanes have the order of a job, which waits for completions between its passes.
    keeps_order: bool,
    recorder: WorkerRecorder,
}

/// State of one I/O.
#[derive(Debug, Clone, Copy)]
pub(super) struct IoSlot {
    lane: u32,
    target: u32,
    /// Target of a sync, and the stage that follows one before an I/O.
    sync_target: u32,
    after_sync: Option<SlotStage>,
    stage: SlotStage,
    bytes: u32,
    priority: u16,
    opens_file: bool,
    offset: u64,
    intended_ns: Option<u64>,
    submitted_ns: u64,
    /// Time at which the submitting call returned, if that is timed.
    submit_returned_ns: u64,
    stamp: u64,
    /// Address and length of the last write whose data its address determined.
    noise: Option<(u64, u32)>,
}

/// Stage of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotStage {
    Read,
    Write,
    /// Reads the data just written.
    ReadBack,
    Sync,
}

impl IoSlot {
    /// Creates an idle slot of a lane.
    pub(super) fn for_lane(lane: u32) -> Self {
        Self {
            lane,
            target: 0,
            sync_target: 0,
            after_sync: None,
            stage: SlotStage::Read,
            bytes: 0,
            priority: 0,
            opens_file: false,
            offset: 0,
            intended_ns: None,
            submitted_ns: 0,
            submit_returned_ns: 0,
            stamp: 0,
            noise: None,
        }
    }
}

impl<'a, E: StorageEngine> StorageWorker<'a, E> {
    /// Creates a worker of the stream `stream`, ready to start. `slots` are those of all lanes; all
    /// of them are free in the scheduler.
    pub(super) fn new(
        engine: E,
        (phase, stream): (&'a PhaseState<'a>, usize),
        (lanes, slots): (Vec<StorageLane>, Vec<IoSlot>),
        buffers: IoBuffers,
        (scheduler, recorder): (SlotScheduler, WorkerRecorder),
    ) -> Self {
        let slot_count = slots.len();
        let conduct = &phase.workload.streams[stream].conduct;
        let syncs_in_order = conduct.order.as_ref().is_some_and(|it| it.sync_every > 0);
        let batches = conduct.batches.filter(|_| scheduler.is_plain_loop());
        Self {
            engine,
            phase,
            stream,
            lanes,
            slots,
            buffers,
            scheduler,
            follow_ups: Vec::with_capacity(slot_count),
            batch: Vec::with_capacity(slot_count),
            still_queued: 0,
            chunk: SubmissionChunk::new(slot_count),
            completions: Vec::with_capacity(slot_count),
            in_flight: 0,
            serial: 0,
            content: conduct.content.as_deref(),
            unique_writes: 0,
            verifies: phase.workload.data.verify != Verify::Off,
            sync_every: match syncs_in_order {
                true => 0,
                false => phase.workload.streams[stream].sync_every,
            },
            sync: IoAction::of_syncs(conduct),
            trimmed: SlotStage::trimmed(conduct),
            file_calls: timed_as(&phase.workload.streams[stream]),
            end_ns: u64::MAX,
            detected_ns: 0,
            checks_each_io: conduct.keeps_journal
                || conduct.most_latency_ns.is_some()
                || conduct.minimum_rates.is_some()
                || conduct.latency_goal.is_some()
                || conduct.priorities.is_some(),
            max_latency_ns: conduct.most_latency_ns.unwrap_or(u64::MAX),
            tolerated_errors: conduct.ends_on_error.then_some(&conduct.tolerated_errors),
            depth_control: DepthControl::of_stream(conduct, slot_count as u32).map(Box::new),
            rate_floor: conduct
                .minimum_rates
                .as_deref()
                .map(|it| Box::new(RateFloor::new(*it))),
            batches,
            keeps_order: conduct.order.is_some(),
            recorder,
        }
    }

    /// Sets an end at `end_ns`, even if the phase continues.
    pub(super) fn with_end(self, end_ns: u64) -> Self {
        Self { end_ns, ..self }
    }

    #[inline]
    fn end_ns(&self) -> u64 {
        self.phase.end_ns.load(Ordering::Relaxed).min(self.end_ns)
    }

    /// Works from `start_ns` until the phase ends or no work is left, and completes the I/O in
    /// flight. Returns the records and the time of the last detected completion.
    pub(super) fn work(mut self, start_ns: u64) -> (WorkerRecorder, u64, io::Result<()>) {
        let mut now_ns = self.await_start(start_ns);
        let floor_from_ns = start_ns.max(self.recorder.warm_end_ns());
        if let Some(floor) = &mut self.rate_floor {
            floor.begin(floor_from_ns);
        }
        let result = match self.batches {
            Some(batches) => self.run_in_batches(batches, &mut now_ns),
            None => self.run(&mut now_ns),
        };
        self.record_not_started();
        self.recorder.close(now_ns.min(self.end_ns()));
        if result.is_err() {
            // Leaks the buffers: the kernel may still write to them.
            std::mem::forget(self.buffers);
        }
        (self.recorder, now_ns, result)
    }

    /// Sleeps until shortly before the start, then spins, so that it starts within a microsecond.
    fn await_start(&mut self, start_ns: u64) -> u64 {
        loop {
            let now_ns = clock::now_ns();
            if now_ns >= start_ns.min(self.end_ns()) {
                return now_ns;
            }
            self.advance(now_ns);
            match start_ns - now_ns {
                ..=SPIN_BEFORE_START_NS => std::hint::spin_loop(),
                left_ns => {
                    std::thread::sleep(Duration::from_nanos(left_ns.min(MAX_WAIT_NS) / 2));
                }
            }
        }
    }

    fn run(&mut self, now_ns: &mut u64) -> io::Result<()> {
        loop {
            let end_ns = self.end_ns();
            if *now_ns >= end_ns {
                break;
            }
            self.queue_follow_ups();
            let Some(wait) = self.queue_due(*now_ns) else { break };
            *now_ns = self.exchange(wait.limit(end_ns - *now_ns))?;
        }
        loop {
            self.queue_follow_ups();
            if self.in_flight == 0 && self.batch.is_empty() {
                return Ok(());
            }
            *now_ns = self.exchange(Wait::UntilDone)?;
        }
    }

    /// Advances the series to now. The last interval stays open until the recorder is closed, so
    /// that I/O overdue at the end belongs to it.
    #[inline]
    fn advance(&mut self, now_ns: u64) {
        let end_ns = self.phase.end_ns.load(Ordering::Relaxed);
        let limit_ns = end_ns.saturating_sub(u64::from(!self.phase.late_counts));
        self.recorder.advance(now_ns.min(limit_ns), self.in_flight);
    }

    /// Counts I/O that was due and never started.
    fn record_not_started(&mut self) {
        let end_ns = self.end_ns();
        let counts = self.recorder.is_counting(end_ns);
        let (lanes, recorder) = (&mut self.lanes, &mut self.recorder);
        self.scheduler.drain_not_started(end_ns, |lane, due_ns, count| {
            let lane_state = &mut lanes[lane as usize];
            let key = (lane as usize, lane_state.target, lane_state.draw_operation());
            recorder.record_overdue(key, (end_ns - due_ns, count), counts);
            recorder.not_started += if counts { count } else { 0 };
        });
    }

    /// Queues the slots with a follow-up I/O.
    #[inline]
    fn queue_follow_ups(&mut self) {
        while let Some(slot) = self.follow_ups.pop() {
            self.queue(slot);
        }
    }

    /// Queues due I/O. Returns how to wait for completions, or `None` when no I/O is left.
    fn queue_due(&mut self, now_ns: u64) -> Option<Wait> {
        let counts = self.recorder.is_counting(now_ns);
        let mut is_blocked = false;
        while let Some((slot, intended_ns)) = self.scheduler.take(now_ns, &mut self.lanes) {
            let lane = self.slots[slot as usize].lane;
            match self.lanes[lane as usize].plan_next(self.phase, counts) {
                NextIo::Io(planned) => {
                    self.scheduler.note_issued(lane, planned.bytes);
                    self.start_io(slot, planned, intended_ns);
                }
                NextIo::Busy | NextIo::Collect => {
                    self.scheduler.put_back(slot, lane, intended_ns);
                    is_blocked = true;
                }
                // The slot and the lane's next arrival are not reused.
                NextIo::Done => self.scheduler.retire(),
            }
        }
        self.scheduler.return_put_back(&mut self.lanes);
        let is_idle = self.in_flight == 0 && self.batch.is_empty();
        match self.scheduler.next_start_ns() {
            _ if is_blocked => Some(Wait::AtMost { ns: BUSY_RETRY_NS }),
            None if is_idle => None,
            None => Some(Wait::UntilDone),
            Some(due_ns) if due_ns.saturating_sub(now_ns) <= SPIN_NS => Some(Wait::No),
            Some(due_ns) => {
                Some(Wait::AtMost { ns: (due_ns - now_ns - SPIN_NS).min(MAX_WAIT_NS) })
            }
        }
    }

    #[inline]
    fn start_io(&mut self, slot: u32, planned: PlannedIo, intended_ns: Option<u64>) {
        let PlannedIo { sync_target, operation, offset, bytes, priority, opens_file } = planned;
        let state = &mut self.slots[slot as usize];
        state.target = self.lanes[state.lane as usize].target as u32;
        state.sync_target = state.target;
        state.after_sync = None;
        (state.offset, state.priority) = (offset, priority);
        state.opens_file = opens_file;
        // Validation limits sizes to 1 GiB.
        state.bytes = bytes as u32;
        state.intended_ns = intended_ns;
        state.stage = match operation {
            IoOperation::Read => SlotStage::Read,
            IoOperation::Write => SlotStage::Write,
        };
        let has_data = self.trimmed != Some(SlotStage::Write) && self.file_calls.is_none();
        if operation == IoOperation::Write && has_data {
            self.prepare_data(slot);
        }
        if let Some(target) = sync_target {
            self.sync_first(slot, target);
        }
        self.queue(slot);
    }

    #[inline]
    fn queue(&mut self, slot: u32) {
        let state = &self.slots[slot as usize];
        let (action, memory) = match state.stage {
            stage if self.trimmed == Some(stage) => {
                (IoAction::Trim, self.buffers.write_part(slot))
            }
            SlotStage::Read | SlotStage::ReadBack => {
                (IoAction::Read, self.buffers.read_part(slot))
            }
            SlotStage::Write => (IoAction::Write, self.buffers.write_part(slot)),
            SlotStage::Sync => (self.sync, self.buffers.write_part(slot)),
        };
        let action = match self.file_calls {
            Some(_) => IoAction::of_file_call(state.opens_file),
            None => action,
        };
        let is_sync = state.stage == SlotStage::Sync;
        let file = if is_sync { state.sync_target } else { state.target };
        let IoSlot { bytes, offset, priority, .. } = *state;
        self.engine.queue(IoRequest { slot, action, file, bytes, offset, priority, memory });
        self.batch.push(slot);
    }

    /// Submits a chunk of the batch and collects completions; waits only if nothing is left to
    /// submit. Returns the time after it.
    #[inline]
    fn exchange(&mut self, wait: Wait) -> io::Result<u64> {
        let _ = self.start_clocks();
        let mut limit = self.chunk.size();
        if self.recorder.split_latency.is_some() && !self.batch.is_empty() {
            limit = self.time_submission(limit)?;
        }
        let wait = if self.batch.len() > limit { Wait::No } else { wait };
        self.still_queued = self.engine.exchange(limit, wait, &mut self.completions)?;
        self.remove_submitted();
        let now_ns = self.take_completions();
        self.chunk.adapt(self.still_queued, self.in_flight);
        Ok(now_ns)
    }

    /// Handles the completions; returns the time of their detection.
    #[inline]
    fn take_completions(&mut self) -> u64 {
        let now_ns = clock::now_ns();
        self.detected_ns = now_ns;
        let end_ns = self.phase.end_ns.load(Ordering::Relaxed);
        let in_time = now_ns <= end_ns || self.phase.late_counts;
        self.advance(now_ns);
        let counts = in_time && self.recorder.is_counting(now_ns);
        self.in_flight -= self.completions.len();
        if let Some(counts) = self.recorder.counted_batches()
            && !self.completions.is_empty()
        {
            counts.note_collection(self.completions.len());
        }
        let mut completions = std::mem::take(&mut self.completions);
        for completion in completions.drain(..) {
            self.complete(completion, now_ns, (in_time, counts));
        }
        self.completions = completions;
        now_ns
    }

    /// Starts the latency of the whole batch, regardless of the chunk that an I/O is submitted
    /// with: waiting in the batch is part of its latency. Returns the time, if there is any.
    #[inline]
    fn start_clocks(&mut self) -> Option<u64> {
        if self.batch.len() == self.still_queued {
            return None;
        }
        let now_ns = clock::now_ns();
        self.advance(now_ns);
        self.in_flight += self.batch.len() - self.still_queued;
        for &slot in &self.batch[self.still_queued..] {
            self.slots[slot as usize].submitted_ns = now_ns;
        }
        Some(now_ns)
    }

    /// Removes the submitted part of the batch.
    #[inline]
    fn remove_submitted(&mut self) {
        let submitted = self.batch.len() - self.still_queued;
        if let Some(counts) = self.recorder.counted_batches()
            && submitted > 0
        {
            counts.note_submission(submitted);
            // With given batches, the depth is counted where I/O begins.
            if self.batches.is_none() {
                counts.note_depth(self.in_flight, submitted);
            }
        }
        self.batch.drain(..submitted);
    }

    #[inline]
    fn complete(
        &mut self,
        completion: IoCompletion,
        now_ns: u64,
        (in_time, counts): (bool, bool),
    ) {
        let IoCompletion { slot, result } = completion;
        let state = self.slots[slot as usize];
        let expected = if state.stage == SlotStage::Sync { 0 } else { state.bytes as i32 };
        if result != expected {
            return self.handle_failure(slot, result);
        }
        let operation = match state.stage {
            SlotStage::Read => IoOperation::Read,
            SlotStage::Write => IoOperation::Write,
            SlotStage::Sync if counts => {
                self.recorder.record_sync(now_ns.saturating_sub(state.submitted_ns));
                return self.continue_slot(slot);
            }
            SlotStage::ReadBack | SlotStage::Sync => return self.continue_slot(slot),
        };
        if in_time {
            let service_ns = now_ns.saturating_sub(state.submitted_ns);
            let from_intended_ns = state.intended_ns.map(|ns| now_ns.saturating_sub(ns));
            let key = (state.lane as usize, state.target as usize, operation);
            let times = (service_ns, from_intended_ns);
            match self.file_calls {
                None => self.recorder.record(key, u64::from(state.bytes), times, counts),
                Some(timed) => {
                    let call = state.opens_file.then_some((timed, service_ns));
                    self.recorder.record_call(key, u64::from(state.bytes), call, counts);
                }
            }
            if counts {
                let completion_ns =
                    now_ns.saturating_sub(state.submit_returned_ns.max(state.submitted_ns));
                self.recorder.record_completion(operation, completion_ns);
                // Not that of an earlier I/O of the slot.
                if state.submit_returned_ns >= state.submitted_ns {
                    let submission_ns = state.submit_returned_ns - state.submitted_ns;
                    self.recorder.record_submission(operation, submission_ns);
                }
            }
            if self.checks_each_io && counts {
                self.check_io(slot, operation, (now_ns, service_ns));
            } else if !counts && self.recorder.is_warming_up() {
                self.note_warm_up(u64::from(state.bytes), now_ns);
            }
        } else if let Some(due_ns) = state.intended_ns {
            let key = (state.lane as usize, state.target as usize, operation);
            let counts = self.recorder.is_counting(self.end_ns());
            self.recorder.record_overdue(key, (now_ns.saturating_sub(due_ns), 1), counts);
        }
        if operation == IoOperation::Write || self.verifies {
            self.continue_slot(slot);
        } else {
            self.release(slot);
        }
    }

    /// Frees the slot of an I/O that has ended.
    #[inline]
    fn release(&mut self, slot: u32) {
        let lane = self.slots[slot as usize].lane;
        if self.keeps_order {
            self.lanes[lane as usize].note_completion();
        }
        self.scheduler.release_slot(slot, lane, &mut self.lanes);
    }

    /// Submits a chunk and notes for each I/O when that returned, if the engine submits without
    /// waiting. Returns how many more may be submitted in the exchange that follows.
    #[inline(never)]
    fn time_submission(&mut self, limit: usize) -> io::Result<usize> {
        let Some(held_back) = self.engine.submit(limit, &mut self.completions)? else {
            return Ok(limit);
        };
        let end_ns = clock::now_ns();
        for slot in &self.batch[..self.batch.len() - held_back] {
            self.slots[*slot as usize].submit_returned_ns = end_ns;
        }
        self.still_queued = held_back;
        self.remove_submitted();
        Ok(0)
    }

    /// Continues after an I/O that completed: verification, reading back, `fsync`, the next I/O.
    fn continue_slot(&mut self, slot: u32) {
        let state = self.slots[slot as usize];
        if state.stage == SlotStage::Sync
            && let Some(stage) = state.after_sync
        {
            self.slots[slot as usize].after_sync = None;
            return self.set_stage(slot, stage);
        }
        let bytes = u64::from(state.bytes);
        let target = state.target as usize;
        let verify = self.phase.workload.data.verify;
        self.verify_address(slot);
        if let Some(generations) = &self.phase.targets[target].generations {
            match state.stage {
                SlotStage::Write => {
                    generations.record_write(state.offset, bytes, Some(state.stamp));
                }
                SlotStage::Read | SlotStage::ReadBack => self.verify(slot),
                SlotStage::Sync => {}
            }
            if state.stage == SlotStage::Write && verify == Verify::AfterWrite {
                return self.set_stage(slot, SlotStage::ReadBack);
            }
            if state.stage != SlotStage::Sync {
                generations.release(state.offset, bytes);
            }
        }
        if matches!(state.stage, SlotStage::Write | SlotStage::ReadBack)
            && self.is_sync_due(state.lane)
        {
            return self.set_stage(slot, SlotStage::Sync);
        }
        self.release(slot);
    }

    fn set_stage(&mut self, slot: u32, stage: SlotStage) {
        self.slots[slot as usize].stage = stage;
        self.follow_ups.push(slot);
    }

    fn is_sync_due(&mut self, lane: u32) -> bool {
        let interval = self.sync_every;
        let lane = &mut self.lanes[lane as usize];
        lane.writes_since_sync += 1;
        let is_due = interval > 0 && lane.writes_since_sync >= interval;
        if is_due {
            lane.writes_since_sync = 0;
        }
        is_due
    }
}

#[cfg(test)]
mod tests;
