//! I/O of one job in fio's order: passes over its files, and the end of each.
//!
//! Draws only: opens nothing, submits nothing. Terms and rules are those of fio 3.33 (`io_u.c`,
//! `backend.c`); offsets, sizes and directions are the same.

use assay_model::storage_outcome::IoOperation;
use assay_model::workload::storage::{
    IoPriorities, JobOrder, SizeShare, StorageStream, TargetRotation,
};

use crate::clock;

use super::job_draws::JobDraws;
use super::job_file::{JobFile, NextOffset};
use super::modelled_queue::BusyOkUnits;
use super::verify_backlog::VerifyBacklog;
use super::write_history::{WriteHistory, WrittenPlace};

pub(super) use job_io::JobIo;
pub use pass_count::count_passes;

mod job_io;
mod pass_count;

/// I/O of a job, in order.
#[derive(Debug)]
pub(super) struct JobOffsets {
    order: JobOrder,
    turns: TargetRotation,
    sizes: [Vec<SizeShare>; 2],
    reads: bool,
    writes: bool,
    files: Vec<JobFile>,
    priorities: Option<IoPriorities>,
    draws: JobDraws,
    /// File of the next turn, and the one whose turn it is.
    next_file: usize,
    current_file: Option<usize>,
    /// I/O left in the turn of the current file.
    turn_left: u64,
    done_files: usize,
    /// Whether the file whose turn it is was opened for it.
    opens_file: bool,
    /// I/O until the next random offset.
    until_random: u64,
    /// Whether the next I/O leaves its blocks free: it is no random one, or began as such in a file
    /// that had ended (`IO_U_F_BUSY_OK` in `io_u.c`, which outlasts an attempt without a block).
    leaves_free: bool,
    /// Units of I/O that still have `IO_U_F_BUSY_OK` from such an attempt.
    busy_ok_units: BusyOkUnits,
    issues: [u64; 2],
    mix_direction: usize,
    mix_issues: u64,
    issued_bytes: [u64; 2],
    zone_bytes: u64,
    pass: PassState,
    /// Writes to read back as the job writes, and those of a pass that is read back by another job.
    backlog: Option<VerifyBacklog>,
    read_back: WriteHistory,
    /// I/O that began and is not complete.
    in_flight: usize,
    /// I/O that began.
    begun_ios: u64,
    drops_cache: bool,
    /// Whether the last I/O was a sync: none follows it.
    was_synced: bool,
    started_ns: Option<u64>,
    is_warming_up: bool,
}

/// Part of a pass.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum PassPart {
    /// No pass is running.
    #[default]
    Ended,
    Running,
    /// All of its I/O has begun.
    Issued,
    /// The rest of the backlog is read back.
    ReadingBack,
}

/// State of the passes.
#[derive(Debug, Default)]
struct PassState {
    part: PassPart,
    is_over: bool,
    /// Passes begun.
    count: u64,
    loops_left: u64,
    queued_bytes: u64,
    /// I/O of this pass, and bytes and I/O of all passes.
    ios: u64,
    written_ios: u64,
    written_bytes: u64,
    /// Its writes that another phase reads back, if they may overlap.
    written: Option<WriteHistory>,
    all_ios: u64,
    all_bytes: u64,
}

const READ: usize = 0;
const WRITE: usize = 1;

impl JobOffsets {
    /// Creates the order at its beginning.
    pub(super) fn new(order: &JobOrder, stream: &StorageStream) -> Self {
        let draws = JobDraws::new(order);
        let writes = &stream.conduct.write_sizes;
        let write_sizes = if writes.is_empty() { &stream.sizes } else { writes };
        let files = stream.targets.iter().zip(&order.files);
        Self {
            turns: stream.conduct.turns.unwrap_or(TargetRotation::Round),
            sizes: [stream.sizes.clone(), write_sizes.clone()],
            reads: order.reads,
            writes: order.writes,
            files: files
                .enumerate()
                .map(|(nth, (target, extent))| JobFile::new(*target, (nth, *extent), order))
                .collect(),
            priorities: stream.conduct.priorities.as_deref().cloned(),
            draws,
            next_file: 0,
            current_file: None,
            turn_left: 0,
            done_files: 0,
            opens_file: false,
            // The first I/O is a random one.
            until_random: 1,
            leaves_free: false,
            busy_ok_units: BusyOkUnits::new(order, stream),
            issues: [0; 2],
            mix_direction: READ,
            mix_issues: 0,
            issued_bytes: [0; 2],
            zone_bytes: 0,
            pass: PassState { loops_left: order.loops, ..PassState::default() },
            backlog: VerifyBacklog::new(order, stream),
            read_back: WriteHistory::new(true),
            in_flight: 0,
            begun_ios: 0,
            drops_cache: false,
            was_synced: false,
            started_ns: None,
            is_warming_up: false,
            order: order.clone(),
        }
    }

    /// Returns the next I/O; `None` when the job is done, or waits for the I/O in flight.
    pub(super) fn next_io(&mut self) -> Option<JobIo> {
        if self.order.reads_back && (!self.has_reads_back() || self.has_verified_all()) {
            return None;
        }
        let next = match self.order.reads_back && self.order.overlaps {
            true => self.next_read_back(),
            false => self.next_in_order(),
        };
        self.in_flight += usize::from(next.is_some());
        self.begun_ios += u64::from(next.is_some());
        next
    }

    /// Whether the I/O in flight is to be completed before the next: fio does so before it reads
    /// the rest of a pass back, and before another pass.
    pub(super) fn awaits_completions(&self) -> bool {
        self.in_flight > 0 && matches!(self.pass.part, PassPart::Ended | PassPart::Issued)
    }

    /// Notes that an I/O is complete.
    pub(super) fn note_completion(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Whether anything is left to read back after a pass: not of jobs that never end, that only
    /// read, or that read back as they write.
    const fn has_reads_back(&self) -> bool {
        !self.order.is_endless && self.writes && self.order.verify_backlog.is_none()
    }

    /// Whether as many writes are read back as a saved state tells.
    fn has_verified_all(&self) -> bool {
        self.order.verified_writes.is_some_and(|writes| self.begun_ios >= writes)
    }

    /// Returns the next I/O of all passes.
    fn next_in_order(&mut self) -> Option<JobIo> {
        while !self.pass.is_over && !self.awaits_completions() {
            let next = match self.pass.part {
                PassPart::Ended => {
                    self.begin_pass();
                    continue;
                }
                PassPart::Running => self.next_in_pass(),
                PassPart::Issued | PassPart::ReadingBack => self.take_rest_of_backlog(),
            };
            match (next, self.pass.part) {
                (None, PassPart::Running) => {
                    self.pass.part = PassPart::Issued;
                    self.complete_all();
                }
                (None, _) => self.end_pass(),
                (Some(io), part) => {
                    if part == PassPart::Issued {
                        self.pass.part = PassPart::ReadingBack;
                    }
                    if !self.is_left_out(io) {
                        return Some(self.as_read_back(io));
                    }
                }
            }
        }
        None
    }

    /// Returns the next block to read back, where writes may overlap: all of the pass are known first.
    fn next_read_back(&mut self) -> Option<JobIo> {
        while let Some(io) = self.next_in_order() {
            self.read_back.push((io.target, io.offset, io.bytes));
        }
        let (target, offset, bytes) = self.read_back.pop()?;
        Some(JobIo::new(target, IoOperation::Read, offset, bytes))
    }

    /// Returns whether the page cache is to be dropped before this I/O, once for each pass.
    pub(super) fn take_cache_drop(&mut self) -> bool {
        std::mem::take(&mut self.drops_cache)
    }

    /// Returns the targets of all files.
    pub(super) fn targets(&self) -> impl Iterator<Item = usize> {
        self.files.iter().map(|file| file.target)
    }

    /// Notes whether the next I/O is measured; at the end of a warm-up, most counts start again.
    pub(super) fn note_measured(&mut self, is_measured: bool) {
        let ends = is_measured && self.is_warming_up;
        self.is_warming_up = !is_measured;
        if !ends {
            return;
        }
        self.pass.all_ios = 0;
        self.pass.all_bytes = 0;
        self.issues = [0; 2];
        self.zone_bytes = 0;
        self.mix_issues = 0;
    }

    /// Whether an I/O belongs to another pass, or is a read of a job that is read back.
    fn is_left_out(&self, io: JobIo) -> bool {
        let is_other = self.order.pass.is_some_and(|pass| self.pass.count != pass + 1);
        is_other || (self.order.reads_back && io.operation == IoOperation::Read)
    }

    fn as_read_back(&self, io: JobIo) -> JobIo {
        match self.order.reads_back {
            true => JobIo::new(io.target, IoOperation::Read, io.offset, io.bytes),
            false => io,
        }
    }

    /// Begins another pass, unless the job is done.
    fn begin_pass(&mut self) {
        let has_done_all = self.order.pass.is_some_and(|pass| self.pass.count > pass);
        if has_done_all || !self.may_continue() {
            self.pass.is_over = true;
            return;
        }
        if self.pass.count > 0 {
            self.restart();
        }
        self.pass.count += 1;
        self.pass.part = PassPart::Running;
        (self.pass.ios, self.pass.queued_bytes) = (0, 0);
        (self.pass.written_ios, self.pass.written_bytes) = (0, 0);
        self.pass.written =
            (self.is_read_back_apart() && self.order.overlaps).then(|| WriteHistory::new(true));
    }

    fn may_continue(&mut self) -> bool {
        if self.order.is_endless {
            return true;
        }
        if self.pass.loops_left > 0 {
            self.pass.loops_left -= 1;
            return true;
        }
        let left = self.order.total_bytes.saturating_sub(self.pass.all_bytes);
        !self.has_enough_ios()
            && left > 0
            && left >= self.order.largest_bytes
            && (self.done_files < self.files.len()
                || self.order.has_own_total
                || self.order.reopens_files)
    }

    /// Sets files and draws back to the beginning of a pass.
    fn restart(&mut self) {
        if self.order.restarts_draws {
            self.draws = JobDraws::new(&self.order);
        }
        if self.order.restarts_files {
            self.done_files = 0;
        }
        for file in &mut self.files {
            file.restart();
        }
        self.current_file = None;
        self.was_synced = false;
        (self.zone_bytes, self.mix_issues) = (0, 0);
        self.drops_cache = true;
    }

    fn end_pass(&mut self) {
        self.pass.part = PassPart::Ended;
        self.complete_all();
        if self.is_read_back_apart() {
            // What is verified by another phase counts as I/O, too.
            let PassState { written_ios, written_bytes, .. } = self.pass;
            let written = self.pass.written.as_ref();
            let (ios, bytes) =
                written.map_or((written_ios, written_bytes), |it| (it.len(), it.bytes()));
            self.pass.all_ios += ios;
            self.pass.all_bytes += bytes;
            self.busy_ok_units.clear_marks(ios);
            self.busy_ok_units.complete_all();
        }
        if self.pass.ios == 0 {
            self.pass.is_over = true;
        }
    }

    /// Whether another phase reads back what each pass wrote.
    const fn is_read_back_apart(&self) -> bool {
        self.order.verifies && self.order.verify_backlog.is_none()
    }

    fn has_enough_ios(&self) -> bool {
        let most = self.order.ios.map(|ios| ios.saturating_mul(self.order.loops));
        most.is_some_and(|most| self.pass.all_ios >= most)
    }

    fn is_pass_complete(&self) -> bool {
        let order = &self.order;
        let issued = match (self.reads, self.writes) {
            (true, true) => self.issued_bytes[READ] + self.issued_bytes[WRITE],
            (true, false) => self.issued_bytes[READ],
            (false, _) => self.issued_bytes[WRITE],
        };
        let most = order.total_bytes.saturating_mul(order.loops.max(1));
        if !order.is_endless && (issued >= most || self.has_enough_ios()) {
            return true;
        }
        let is_limited = !order.is_endless || order.verifies;
        is_limited && order.queues && self.pass.queued_bytes >= order.pass_bytes
    }

    fn next_in_pass(&mut self) -> Option<JobIo> {
        if self.is_pass_complete() {
            return None;
        }
        if let Some(place) = self.backlog.as_mut().and_then(VerifyBacklog::take_due) {
            return Some(self.verify(place));
        }
        let mut sync_target = None;
        self.leaves_free = self.busy_ok_units.take_mark();
        if self.is_sync_due() {
            // A sync takes the turn of a file.
            sync_target = self.choose_file().map(|at| self.files[at].target);
            self.was_synced = sync_target.is_some();
            // The sync ends what an attempt of an I/O left.
            self.leaves_free &= sync_target.is_none();
        }
        loop {
            let Some(at) = self.choose_file() else {
                if self.leaves_free {
                    self.busy_ok_units.keep_mark();
                }
                // The sync comes before fio finds that nothing is left.
                return sync_target.map(JobIo::only_sync);
            };
            if let Some(io) = self.fill(at) {
                let opens_file = std::mem::take(&mut self.opens_file);
                return Some(JobIo { sync_target, opens_file, ..io });
            }
            self.files[at].finish();
            self.done_files += 1;
            self.current_file = None;
        }
    }

    /// Whether fio would sync now: after a number of writes, and again after each read until the
    /// next write.
    const fn is_sync_due(&self) -> bool {
        let (writes, every) = (self.issues[WRITE], self.order.sync_every);
        every > 0 && !self.was_synced && writes > 0 && writes.is_multiple_of(every)
    }

    fn choose_file(&mut self) -> Option<usize> {
        let count = self.files.len();
        if self.done_files >= count {
            return None;
        }
        if let Some(current) = self.current_file {
            if self.turns == TargetRotation::InOrder {
                return Some(current);
            }
            if self.turn_left > 0 {
                self.turn_left -= 1;
                return Some(current);
            }
        }
        let opens_more = self.order.open_files == 0
            || self.files.iter().filter(|file| file.is_open).count() < self.order.open_files;
        let is_free = |file: &JobFile| !file.is_done && (opens_more || file.is_open);
        let chosen = match self.turns {
            TargetRotation::Round | TargetRotation::InOrder => {
                let at = (0..count).map(|step| (self.next_file + step) % count);
                let at = at.into_iter().find(|at| is_free(&self.files[*at]))?;
                self.next_file = (at + 1) % count;
                at
            }
            TargetRotation::Random | TargetRotation::BySize => loop {
                let at = self.draws.draw_file(count);
                if is_free(&self.files[at]) {
                    break at;
                }
            },
        };
        self.opens_file = !std::mem::replace(&mut self.files[chosen].is_open, true);
        self.turn_left = self.order.turn_length.saturating_sub(1);
        self.current_file = Some(chosen);
        Some(chosen)
    }

    /// Returns the next I/O in a file; `None` at its end.
    fn fill(&mut self, at: usize) -> Option<JobIo> {
        let direction = match self.order.trims_first {
            true => self.files[at].next_of_pair(),
            false => self.choose_direction(),
        };
        let file = &mut self.files[at];
        let order = &self.order;
        if let Some(zones) = order.zones {
            file.enter_zone(zones, &mut self.zone_bytes, direction);
        }
        self.until_random = self.until_random.saturating_sub(1);
        let is_run_over = self.until_random == 0;
        if is_run_over {
            self.until_random = order.run_length;
        }
        if order.trims_first && order.is_random && direction == WRITE {
            let (offset, bytes) = file.repeat_trim()?;
            file.note_io(direction, offset, bytes);
            let (target, operation) = (file.target, IoOperation::Write);
            self.note_issue(direction, bytes);
            return Some(JobIo::new(target, operation, offset, bytes));
        }
        let NextOffset { offset, is_marked } = file.next_offset(
            order,
            &mut self.draws,
            (direction, is_run_over),
            &mut self.leaves_free,
        )?;
        let fits = |bytes: u64| offset.saturating_add(bytes) <= file.io_end();
        let smallest = |sizes: &[SizeShare]| {
            sizes.iter().map(|size| size.min_bytes).min().unwrap_or(1).max(1)
        };
        // The order of an I/O may select its sizes instead of its direction.
        let of_sizes = if order.sizes_by_order { usize::from(is_marked) } else { direction };
        let sizes = &self.sizes[of_sizes];
        let varies = sizes.iter().any(|size| size.max_bytes != smallest(sizes));
        if varies && !fits(smallest(sizes)) {
            return None;
        }
        let bytes = self.draws.draw_bytes(of_sizes, sizes, fits);
        let least = smallest(&self.sizes[direction]);
        if offset.checked_add(bytes)? > file.size_bytes() {
            return None;
        }
        let leaves_free = std::mem::take(&mut self.leaves_free);
        let is_used = is_marked && !leaves_free;
        let bytes = if is_used { file.mark(offset, bytes, least) } else { bytes };
        if order.trims_first && order.is_random {
            file.separate_trim(offset);
        }
        file.note_io(direction, offset, bytes);
        self.drops_cache |= file.take_cache_drop();
        let target = file.target;
        let operation = if direction == READ { IoOperation::Read } else { IoOperation::Write };
        if direction == WRITE
            && let Some(written) = &mut self.pass.written
        {
            written.push((target, offset, bytes));
        }
        if let Some(backlog) = &mut self.backlog {
            backlog.note_io(operation, (target, offset, bytes));
        }
        self.note_issue(direction, bytes);
        let priority = self.choose_priority(direction, bytes);
        Some(JobIo { priority, ..JobIo::new(target, operation, offset, bytes) })
    }

    fn choose_priority(&mut self, direction: usize, bytes: u64) -> u16 {
        let draws = &mut self.draws;
        let priorities = self.priorities.as_ref();
        priorities.map_or(0, |it| it.choose(direction, bytes, || draws.draw_priority_percent()))
    }

    fn note_issue(&mut self, direction: usize, bytes: u64) {
        self.was_synced = false;
        self.zone_bytes += bytes;
        self.issues[direction] += 1;
        self.issued_bytes[direction] += bytes;
        self.busy_ok_units.begin_io();
        let pass = &mut self.pass;
        pass.queued_bytes += bytes;
        pass.ios += 1;
        pass.all_ios += 1;
        pass.all_bytes += bytes;
        if direction == WRITE {
            pass.written_ios += 1;
            pass.written_bytes += bytes;
        }
    }

    fn choose_direction(&mut self) -> usize {
        match (self.reads, self.writes) {
            (true, true) => {}
            (true, false) => return READ,
            (false, _) => return WRITE,
        }
        let percents = [self.order.read_percent, 100.0 - self.order.read_percent];
        if self.issues[self.mix_direction] >= self.mix_issues {
            let drawn = if self.draws.draw_mix(percents[READ]) { READ } else { WRITE };
            if drawn != self.mix_direction {
                let issues = self.issues[self.mix_direction] as f64;
                self.mix_issues = (issues * percents[1 - self.mix_direction] / 100.0) as u64;
            }
            self.mix_direction = drawn;
        }
        if self.is_ahead(self.mix_direction) {
            self.mix_direction = 1 - self.mix_direction;
        }
        self.mix_direction
    }

    /// Whether a direction is ahead of its rate.
    fn is_ahead(&mut self, direction: usize) -> bool {
        let Some(per_s) = self.order.paces_per_s[direction] else { return false };
        let now_ns = clock::now_ns();
        let elapsed_ns = now_ns.saturating_sub(*self.started_ns.get_or_insert(now_ns));
        self.issues[direction] as f64 > elapsed_ns as f64 / 1e9 * per_s
    }

    fn complete_all(&mut self) {
        self.busy_ok_units.complete_all();
        if let Some(backlog) = &mut self.backlog {
            backlog.complete_all();
        }
    }

    /// Returns the next write of the backlog at the end of a pass.
    fn take_rest_of_backlog(&mut self) -> Option<JobIo> {
        let place = self.backlog.as_mut()?.take_rest()?;
        Some(self.verify(place))
    }

    /// Returns the I/O that reads a write back.
    fn verify(&mut self, (target, offset, bytes): WrittenPlace) -> JobIo {
        self.was_synced = false;
        self.busy_ok_units.clear_marks(1);
        self.pass.queued_bytes += bytes;
        self.pass.all_ios += 1;
        self.pass.all_bytes += bytes;
        JobIo::new(target, IoOperation::Read, offset, bytes)
    }
}

#[cfg(test)]
mod tests;
