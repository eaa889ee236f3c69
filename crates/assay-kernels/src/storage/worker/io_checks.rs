//! Checks of single I/O of a worker: limits of latency and rate, contents, errors.

use std::io;

use assay_model::storage_outcome::{
    ErrorCause, FatalError, IoFailure, IoOperation, JournalEntry,
};
use assay_model::workload::storage::{StorageStream, StreamBehavior, Verify, WriteContent};

use super::super::engine::StorageEngine;
use super::super::timeline;
use super::super::{address_content, content};
use super::{IoSlot, SlotStage, StorageWorker};

/// Returns the operation that has the latency of a stream's calls on files, if it makes any: fio counts
/// all of them as reads, unless the job only writes.
pub(super) fn timed_as(stream: &StorageStream) -> Option<IoOperation> {
    let operation = if stream.has_reads() { IoOperation::Read } else { IoOperation::Write };
    stream.conduct.file_call.map(|_| operation)
}

impl SlotStage {
    /// Returns the stage of a stream whose I/O is a trim.
    pub(super) fn trimmed(conduct: &StreamBehavior) -> Option<Self> {
        match (conduct.trims, conduct.trims_first) {
            (true, _) => Some(Self::Write),
            (false, true) => Some(Self::Read),
            (false, false) => None,
        }
    }
}

impl<E: StorageEngine> StorageWorker<'_, E> {
    /// Adds an I/O to the journal, and ends the stream if it took too long or the rate is too low.
    #[inline(never)]
    pub(super) fn check_io(
        &mut self,
        slot: u32,
        operation: IoOperation,
        (now_ns, service_ns): (u64, u64),
    ) {
        let state = self.slots[slot as usize];
        let (target, offset, bytes) = (state.target, state.offset, state.bytes);
        let submission_ns = state.submit_returned_ns.saturating_sub(state.submitted_ns);
        let submission_ns = submission_ns.min(service_ns).try_into().unwrap_or(u32::MAX);
        let entry = JournalEntry {
            at_ns: 0,
            service_ns,
            submission_ns,
            target,
            offset,
            bytes,
            operation: self.file_calls.unwrap_or(operation),
            priority: state.priority,
        };
        if self.file_calls.is_none() || state.opens_file {
            self.recorder.record_journal(now_ns, entry);
        }
        let completion_ns =
            now_ns.saturating_sub(state.submit_returned_ns.max(state.submitted_ns));
        self.recorder.record_priority(operation, state.priority, (service_ns, completion_ns));
        if let Some(control) = &mut self.depth_control {
            control.note_io(service_ns);
        }
        let is_slow = service_ns > self.max_latency_ns;
        let too_slow = is_slow.then(|| {
            let reason = format!(
                "it took {} µs, more than the maximum of {} µs",
                service_ns / 1000,
                self.max_latency_ns / 1000
            );
            (ErrorCause::Latency, libc::ETIMEDOUT, reason)
        });
        let floor = self.rate_floor.as_deref_mut();
        let below = floor.and_then(|it| it.note_io(operation, u64::from(bytes), now_ns));
        let below = below.map(|reason| (ErrorCause::Rate, libc::EIO, reason));
        if let Some((cause, number, reason)) = too_slow.or(below) {
            self.recorder.record_failure(IoFailure {
                stream: self.stream,
                target: state.target as usize,
                operation,
                offset,
                bytes: u64::from(bytes),
                reason: format!("{reason} (os error {number})"),
            });
            if !self.tolerates(FatalError { number, operation, cause }) {
                self.end_early(now_ns);
            }
        }
    }

    /// Syncs a target before the I/O of a slot.
    #[cold]
    pub(super) fn sync_first(&mut self, slot: u32, target: usize) {
        let state = &mut self.slots[slot as usize];
        state.sync_target = target as u32;
        state.after_sync = (state.bytes > 0).then_some(state.stage);
        state.stage = SlotStage::Sync;
    }

    /// Adds an I/O to a warm-up by bytes; after it, limits of rates and of time begin.
    #[cold]
    pub(super) fn note_warm_up(&mut self, bytes: u64, now_ns: u64) {
        if !self.recorder.note_warm_up(bytes, now_ns, &self.phase.warm_up_bytes) {
            return;
        }
        let duration_s = self.phase.workload.streams[self.stream].conduct.duration_s;
        if let Some(duration_s) = duration_s.filter(|_| !self.recorder.ended_early) {
            self.end_ns = now_ns.saturating_add(timeline::ns(duration_s));
        }
        if let Some(floor) = &mut self.rate_floor {
            floor.begin(now_ns);
        }
    }

    /// Ends the stream, whose latency is too long at any depth.
    pub(super) fn miss_latency(&mut self, now_ns: u64) {
        let (target, operation) = (self.lanes[0].target, IoOperation::Read);
        let number = libc::ETIMEDOUT;
        self.recorder.record_failure(IoFailure {
            stream: self.stream,
            target,
            operation,
            offset: 0,
            bytes: 0,
            reason: format!("its latency exceeds the target at depth 1 (os error {number})"),
        });
        self.tolerates(FatalError { number, operation, cause: ErrorCause::Latency });
        self.end_early(now_ns);
    }

    /// Ends the stream, because of a limit or an error. At the time of the detection, the loop
    /// begins nothing more.
    pub(super) const fn end_early(&mut self, now_ns: u64) {
        self.end_ns = now_ns;
        self.recorder.ended_early = true;
    }

    /// Counts an error. Returns whether the stream goes on after it, if errors end it.
    #[cold]
    fn tolerates(&mut self, error: FatalError) -> bool {
        let Some([reads, writes, contents]) = self.tolerated_errors else { return false };
        let tolerated: &[i32] = match (error.cause, error.operation) {
            (ErrorCause::Contents, _) => contents,
            (ErrorCause::Rate, _) => &[],
            (ErrorCause::Transfer | ErrorCause::Latency, IoOperation::Read) => reads,
            (ErrorCause::Transfer | ErrorCause::Latency, IoOperation::Write) => writes,
        };
        let is_tolerated = tolerated.contains(&error.number);
        match is_tolerated {
            true => self.recorder.errors.note_tolerated(error.number),
            false => self.recorder.errors.note_fatal(error),
        }
        is_tolerated
    }

    /// Ends the stream if this error does. Returns whether it is tolerated.
    fn note_error(&mut self, error: FatalError) -> bool {
        let is_tolerated = self.tolerates(error);
        if !is_tolerated && self.tolerated_errors.is_some() {
            self.end_early(self.detected_ns);
        }
        is_tolerated
    }

    /// Notes that the data of a read was wrong.
    fn note_damage(&mut self) {
        let (operation, cause) = (IoOperation::Read, ErrorCause::Contents);
        self.note_error(FatalError { number: libc::EILSEQ, operation, cause });
    }

    /// Compares the data read with the pattern of the writes.
    fn verify_pattern(&mut self, slot: u32, content: &WriteContent) {
        let state = self.slots[slot as usize];
        let (offset, bytes) = (state.offset, u64::from(state.bytes));
        let generations = self.phase.targets[state.target as usize].generations.as_ref();
        // A mix of reads and writes also reads what nobody has written yet.
        let share = self.phase.workload.streams[self.stream].read_share;
        let is_mixed = share > 0.0 && share < 1.0;
        if is_mixed && !generations.is_some_and(|all| all.is_written(offset, bytes)) {
            return;
        }
        let memory = self.buffers.readable(slot, state.bytes as usize);
        if let Some(at) = content::find_deviation(memory, &content::pattern_at(content, offset))
        {
            let reason = format!("wrong data: byte {at} differs from the pattern");
            self.recorder.record_failure(IoFailure {
                stream: self.stream,
                target: state.target as usize,
                operation: IoOperation::Read,
                offset: state.offset,
                bytes: u64::from(state.bytes),
                reason,
            });
            self.note_damage();
        }
    }

    /// Compares data that was read with that of its address, if that determines the data; reports the
    /// first sector that differs.
    pub(super) fn verify_address(&mut self, slot: u32) {
        let state = self.slots[slot as usize];
        let workload = self.phase.workload;
        let is_read = matches!(state.stage, SlotStage::Read | SlotStage::ReadBack);
        let seed = workload.targets[state.target as usize].data_seed;
        let verifies = is_read && workload.data.verify != Verify::Off;
        let Some(seed) = seed.filter(|_| verifies) else { return };
        let memory = self.buffers.readable(slot, state.bytes as usize);
        let Some(at) = address_content::find_damage(memory, state.offset, seed) else { return };
        let byte = state.offset + at as u64;
        let sector_bytes = content::SECTOR_BYTES as u64;
        let sector = byte / sector_bytes * sector_bytes;
        let end = (sector + sector_bytes).min(state.offset + u64::from(state.bytes));
        let offset = sector.max(state.offset);
        self.recorder.record_failure(IoFailure {
            stream: self.stream,
            target: state.target as usize,
            operation: IoOperation::Read,
            offset,
            bytes: end - offset,
            reason: format!("wrong data: byte {byte} has another value than was written"),
        });
        self.note_damage();
    }

    /// Compares every sector that was read with its expected stamp, or all of it with the pattern.
    pub(super) fn verify(&mut self, slot: u32) {
        if let Some(content) = self.content.filter(|content| !content.pattern.is_empty()) {
            return self.verify_pattern(slot, content);
        }
        let state = self.slots[slot as usize];
        let target = state.target as usize;
        let Some(generations) = &self.phase.targets[target].generations else { return };
        let memory = self.buffers.readable(slot, state.bytes as usize);
        let mut is_damaged = false;
        let sectors = memory.chunks_exact(content::SECTOR_BYTES);
        for (sector, offset) in sectors.zip((state.offset..).step_by(content::SECTOR_BYTES)) {
            if let Some(damage) =
                content::check_sector(sector, offset, generations.expected(offset))
            {
                self.recorder.record_failure(IoFailure {
                    stream: self.stream,
                    target,
                    operation: IoOperation::Read,
                    offset,
                    bytes: content::SECTOR_BYTES as u64,
                    reason: format!("wrong data: {damage}"),
                });
                is_damaged = true;
            }
        }
        if is_damaged {
            self.note_damage();
        }
    }

    /// Whether a write found its target full, where that is the end of the stream.
    fn is_full(&self, state: IoSlot, result: i32) -> bool {
        let conduct = &self.phase.workload.streams[self.stream].conduct;
        let has_no_room = result >= 0 || matches!(-result, libc::ENOSPC | libc::EDQUOT);
        conduct.ends_when_full && state.stage == SlotStage::Write && has_no_room
    }

    /// Queues what a short write left, in a stream that its first error ends: only that write fails
    /// with the number of the error (`ENOSPC`).
    fn continue_short_write(&mut self, slot: u32, result: i32) -> bool {
        let state = self.slots[slot as usize];
        let is_verified = self.phase.targets[state.target as usize].generations.is_some();
        let is_short_write = state.stage == SlotStage::Write && result > 0;
        let keeps_data = is_verified || self.content.is_some();
        let is_write = self.trimmed.is_none() && is_short_write;
        if self.tolerated_errors.is_none() || keeps_data || !is_write {
            return false;
        }
        let written = result as usize;
        let memory = self.buffers.writable(slot, state.bytes as usize);
        memory.copy_within(written.., 0);
        let state = &mut self.slots[slot as usize];
        state.offset += written as u64;
        state.bytes -= written as u32;
        self.follow_ups.push(slot);
        true
    }

    /// Handles an I/O that failed, was short, or must be retried.
    pub(super) fn handle_failure(&mut self, slot: u32, result: i32) {
        let state = self.slots[slot as usize];
        if matches!(-result, libc::EAGAIN | libc::EINTR) {
            return self.follow_ups.push(slot);
        }
        let target = state.target as usize;
        let failed_target = &self.phase.targets[target];
        let is_write = matches!(state.stage, SlotStage::Write | SlotStage::Sync);
        let operation = if is_write { IoOperation::Write } else { IoOperation::Read };
        let is_sync = state.stage == SlotStage::Sync;
        let failed = if is_sync { state.sync_target as usize } else { target };
        let reason = match (result, state.stage) {
            (..0, SlotStage::Sync) => {
                format!("fsync: {}", io::Error::from_raw_os_error(-result))
            }
            (..0, _) => io::Error::from_raw_os_error(-result).to_string(),
            (transferred, _) => format!("short: {transferred} of {} B", state.bytes),
        };
        if self.is_full(state, result) {
            self.end_early(self.detected_ns);
        } else if self.continue_short_write(slot, result) {
            return;
        } else {
            self.recorder.record_failure(IoFailure {
                stream: self.stream,
                target: failed,
                operation,
                offset: state.offset,
                bytes: u64::from(state.bytes),
                reason,
            });
            // A short transfer has no number.
            let number = if result < 0 { -result } else { libc::EIO };
            let cause = ErrorCause::Transfer;
            if !self.note_error(FatalError { number, operation, cause }) {
                self.phase.targets[failed].note_failure();
            }
        }
        if let Some(generations) = &failed_target.generations
            && (state.stage != SlotStage::Sync || state.after_sync.is_some())
        {
            if state.stage == SlotStage::Write {
                generations.record_write(state.offset, u64::from(state.bytes), None);
            }
            generations.release(state.offset, u64::from(state.bytes));
        }
        self.release(slot);
    }
}
