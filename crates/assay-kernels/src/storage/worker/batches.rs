//! The loop of a worker with given batches, in the order of calls of fio 3.33 (`backend.c`,
//! `ioengines.c`): I/O begins one by one, a full batch is submitted, and completions are collected
//! when every slot is in use.

use std::io;
use std::time::Duration;

use assay_model::workload::storage::IoBatches;

use crate::clock;

use super::super::depth_control::DepthStep;
use super::super::engine::{StorageEngine, Wait};
use super::super::lane::NextIo;
use super::{BUSY_RETRY_NS, StorageWorker};

/// Result of an attempt to begin an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BeginResult {
    /// It is in the batch.
    Begun,
    /// No slot is free.
    NoSlot,
    /// Other I/O has claimed its blocks, or the stream is ahead of its share.
    Busy,
    /// All I/O in flight is to be completed first.
    Collect,
    /// No I/O is left.
    Done,
}

impl<E: StorageEngine> StorageWorker<'_, E> {
    /// Works in batches until the phase ends or no I/O is left, and collects all I/O in flight.
    pub(super) fn run_in_batches(
        &mut self,
        batches: IoBatches,
        now_ns: &mut u64,
    ) -> io::Result<()> {
        // I/O since the depth was last counted.
        let mut uncounted = 0;
        while *now_ns < self.end_ns() {
            self.queue_follow_ups();
            self.control_depth(now_ns)?;
            let result = self.begin_next(*now_ns);
            uncounted += self.batch.len() - self.still_queued;
            *now_ns = self.start_clocks().unwrap_or(*now_ns);
            self.still_queued = self.batch.len();
            if uncounted >= batches.submit as usize {
                self.count_depth(uncounted);
                uncounted = 0;
                self.submit_batch()?;
                if E::HOLDS_ONE_BATCH {
                    self.reap((self.in_flight, self.in_flight), now_ns)?;
                    continue;
                }
            }
            let is_full = !self.scheduler.has_free_slot() || self.has_enough_in_flight();
            let polls = batches.collect_least == 0 && batches.collect_most == 0;
            match result {
                BeginResult::Done => break,
                BeginResult::Collect => {
                    self.collect_all(now_ns)?;
                    *now_ns = clock::now_ns();
                }
                BeginResult::Busy if self.in_flight == 0 => {
                    std::thread::sleep(Duration::from_nanos(BUSY_RETRY_NS));
                    *now_ns = clock::now_ns();
                }
                // The next recorded I/O may be due before any in flight completes.
                BeginResult::Busy if self.repeats_trace() => {
                    self.submit_batch()?;
                    self.reap((0, self.in_flight), now_ns)?;
                    std::thread::sleep(Duration::from_nanos(BUSY_RETRY_NS));
                    *now_ns = clock::now_ns();
                }
                BeginResult::Busy => self.collect((batches, is_full), now_ns)?,
                BeginResult::Begun | BeginResult::NoSlot => {
                    if is_full || polls {
                        self.collect((batches, is_full), now_ns)?;
                    }
                }
            }
        }
        self.collect_all(now_ns)
    }

    fn repeats_trace(&self) -> bool {
        !self.phase.workload.streams[self.stream].conduct.replay.is_empty()
    }

    /// Whether as many I/O are in flight as a search for a depth allows.
    fn has_enough_in_flight(&self) -> bool {
        let control = self.depth_control.as_ref();
        control.is_some_and(|control| self.in_flight >= control.depth() as usize)
    }

    /// Carries out the next step of a search for a depth.
    fn control_depth(&mut self, now_ns: &mut u64) -> io::Result<()> {
        let Some(control) = &mut self.depth_control else { return Ok(()) };
        let Some(step) = control.next_step(*now_ns) else { return Ok(()) };
        match step {
            DepthStep::Raised => {}
            DepthStep::Lowered => self.collect_all(now_ns)?,
            DepthStep::Found => {
                self.collect_all(now_ns)?;
                self.recorder.restart(*now_ns);
            }
            DepthStep::Done => self.end_early(*now_ns),
            DepthStep::Missed => self.miss_latency(*now_ns),
        }
        if let Some(control) = &mut self.depth_control {
            control.begin_window(*now_ns);
            self.recorder.measured.depth = Some(control.depth());
        }
        Ok(())
    }

    /// Plans the next I/O and adds it to the batch.
    fn begin_next(&mut self, now_ns: u64) -> BeginResult {
        if self.has_enough_in_flight() {
            return BeginResult::NoSlot;
        }
        let counts = self.recorder.is_counting(now_ns);
        let Some((slot, intended_ns)) = self.scheduler.take(now_ns, &mut self.lanes) else {
            return BeginResult::NoSlot;
        };
        let lane = self.slots[slot as usize].lane;
        match self.lanes[lane as usize].plan_next(self.phase, counts) {
            NextIo::Io(planned) => {
                self.scheduler.note_issued(lane, planned.bytes);
                self.start_io(slot, planned, intended_ns);
                BeginResult::Begun
            }
            next @ (NextIo::Busy | NextIo::Collect) => {
                self.scheduler.put_back(slot, lane, intended_ns);
                self.scheduler.return_put_back(&mut self.lanes);
                match next {
                    NextIo::Collect => BeginResult::Collect,
                    NextIo::Io(_) | NextIo::Busy | NextIo::Done => BeginResult::Busy,
                }
            }
            NextIo::Done => {
                self.scheduler.retire();
                BeginResult::Done
            }
        }
    }

    /// Collects completions once; if every slot is in use, until few enough are in flight.
    fn collect(
        &mut self,
        (batches, is_full): (IoBatches, bool),
        now_ns: &mut u64,
    ) -> io::Result<()> {
        let least = (batches.collect_least as usize).min(self.in_flight).max(1);
        let most = (batches.collect_most as usize).max(least);
        while self.in_flight > 0 {
            self.submit_batch()?;
            self.reap((least, most), now_ns)?;
            if !is_full || self.in_flight <= batches.refill_below as usize {
                break;
            }
        }
        Ok(())
    }

    /// Submits the rest and collects all I/O, follow-ups included.
    fn collect_all(&mut self, now_ns: &mut u64) -> io::Result<()> {
        loop {
            self.queue_follow_ups();
            *now_ns = self.start_clocks().unwrap_or(*now_ns);
            self.still_queued = self.batch.len();
            if self.in_flight == 0 {
                return Ok(());
            }
            self.submit_batch()?;
            self.reap((self.in_flight, self.in_flight), now_ns)?;
        }
    }

    /// Submits the batch; refused I/O stays in it.
    fn submit_batch(&mut self) -> io::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let limit = self.batch.len();
        if self.time_submission(limit)? > 0 {
            // The engine has no such call: this one submits as well.
            self.still_queued = self.engine.exchange(limit, Wait::No, &mut self.completions)?;
            self.remove_submitted();
        }
        Ok(())
    }

    /// Waits for completions of submitted I/O, and handles them.
    fn reap(&mut self, (least, most): (usize, usize), now_ns: &mut u64) -> io::Result<()> {
        let submitted = self.in_flight - self.batch.len();
        let known = self.completions.len();
        let least = if known > 0 { 0 } else { least.min(submitted) };
        if most > known {
            self.engine.reap(least, most - known, &mut self.completions)?;
        }
        *now_ns = self.take_completions();
        Ok(())
    }

    fn count_depth(&mut self, ios: usize) {
        let depth = self.in_flight;
        if let Some(counts) = self.recorder.counted_batches() {
            counts.note_depth(depth, ios);
        }
    }
}
