//! Thread of a file workload: takes the next operation, performs it, counts it.

use std::fs;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use assay_model::file_outcome::{FileFailure, FileTally};
use assay_model::poisoned_lock::PoisonedLock as _;
use assay_model::workload::file_set::{FileAccess, FileOperation, FileOrder, FileWorkload};
use hdrhistogram::Histogram;

use super::open_file::{OpenFile, open_tree_file};
use super::tree::{ClaimResult, EntryPresence};
use super::{FilePhaseState, StreamState};
use crate::mapping::{Mapping, PageAdvice};
use crate::storage::content;
use crate::storage::error::StorageError;
use crate::storage::random::RandomStream;

/// Pause before a thread retries when it waits for another.
const RETRY_PAUSE: Duration = Duration::from_micros(200);
/// Maximum number of attempts to remove a directory whose children other threads are removing, or
/// to create one whose parent is missing.
const MAX_DIRECTORY_TRIES: u32 = 50_000;
/// Digits of a latency, as in every other series: 1 %.
const DIGITS: u8 = 2;

/// Thread of a stream, with its open file and buffers.
pub(super) struct FileWorker<'s, 'w> {
    shared: &'s FilePhaseState<'w>,
    stream: &'s StreamState<'w>,
    index: usize,
    draws: RandomStream,
    /// Buffers for reads and for writes.
    read_buffer: Mapping,
    write_buffer: Mapping,
    open_file: Option<OpenFile>,
    /// Number of the last write, so that no two blocks are equal.
    serial: u64,
}

/// Result of a step.
enum StepResult {
    /// A requested operation was performed.
    Requested(Instant),
    /// An auxiliary operation was performed, or one failed: the worker takes the next step.
    Auxiliary,
    /// Other threads must finish first.
    Blocked,
    /// No work is left.
    Exhausted,
}

impl<'s, 'w> FileWorker<'s, 'w> {
    pub(super) fn new(
        shared: &'s FilePhaseState<'w>,
        index: usize,
        workload: &FileWorkload,
        id: u64,
    ) -> Result<Self, StorageError> {
        let stream = &shared.streams[index];
        let largest = stream.stream.sizes.iter().map(|size| size.max_bytes).max();
        let bytes = largest.unwrap_or(4096).max(4096) as usize;
        let map_buffer = || {
            Mapping::new(bytes, PageAdvice::Default).map_err(|error| StorageError::Resource {
                what: format!("{bytes} bytes for the buffers of a thread"),
                source: error.source,
            })
        };
        let mut writes = map_buffer()?;
        content::fill(writes.as_mut_slice::<u8>(), workload.compressible, workload.seed ^ id);
        Ok(Self {
            shared,
            stream,
            index,
            draws: RandomStream::new(workload.seed, id),
            read_buffer: map_buffer()?,
            write_buffer: writes,
            open_file: None,
            serial: id << 32,
        })
    }

    /// Works until the phase is over or no work is left.
    pub(super) fn work(mut self, tally: &Mutex<FileTally>) {
        if self.wait_for_turn() {
            self.run_operations(tally);
        }
        if let Some(open) = self.open_file.take() {
            self.stream.tree.files.set(open.number, open.presence());
        }
        self.shared.ended_ns.fetch_max(self.shared.elapsed_ns(), Ordering::AcqRel);
        if self.stream.active.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.turn.fetch_add(1, Ordering::AcqRel);
        }
        self.shared.active.fetch_sub(1, Ordering::AcqRel);
    }

    /// Waits for the turn of the stream. Returns `false` if the phase ends before.
    fn wait_for_turn(&self) -> bool {
        while self.shared.in_turn && self.shared.turn.load(Ordering::Acquire) != self.index {
            if self.shared.is_over() {
                return false;
            }
            thread::sleep(RETRY_PAUSE);
        }
        true
    }

    fn run_operations(&mut self, tally: &Mutex<FileTally>) {
        let mut due_ns = self.next_due_ns();
        while !self.shared.is_over() {
            if !self.wait_until(due_ns) {
                break;
            }
            match self.step(tally) {
                StepResult::Requested(start) => {
                    let ns = nanoseconds(start.elapsed());
                    let ended_ns = self.shared.elapsed_ns();
                    let from_intended_ns = due_ns.map(|due_ns| ended_ns.saturating_sub(due_ns));
                    record_requested(
                        &mut tally.lock().even_if_poisoned(),
                        ns,
                        from_intended_ns,
                    );
                    due_ns = self.next_due_ns();
                }
                StepResult::Auxiliary => {}
                StepResult::Blocked => thread::sleep(RETRY_PAUSE),
                StepResult::Exhausted if self.stream.has_feeder => thread::sleep(RETRY_PAUSE),
                StepResult::Exhausted => return,
            }
        }
        self.record_not_started(due_ns, tally);
    }

    /// Records the operations due and not started at the end of the phase, with the time that they
    /// have waited.
    fn record_not_started(&self, due_ns: Option<u64>, tally: &Mutex<FileTally>) {
        let (Some(first_ns), Some(schedule)) = (due_ns, &self.stream.schedule) else { return };
        let now_ns = self.shared.elapsed_ns();
        let mut tally = tally.lock().even_if_poisoned();
        let mut record = |due_ns: u64, count| {
            record_latency(&mut tally.from_intended_ns, now_ns - due_ns, count);
        };
        if first_ns < now_ns {
            record(first_ns, 1);
            schedule.lock().even_if_poisoned().take_until(now_ns, &mut record);
        }
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.stream
            .schedule
            .as_ref()
            .map(|schedule| schedule.lock().even_if_poisoned().next_ns())
    }

    /// Waits until the operation is due. Returns `false` if the phase ends before.
    fn wait_until(&self, due_ns: Option<u64>) -> bool {
        /// Maximum sleep, so that the end of the phase is noticed in time.
        const SLICE_NS: u64 = 20_000_000;
        let Some(due_ns) = due_ns else { return true };
        loop {
            let left_ns = due_ns.saturating_sub(self.shared.elapsed_ns());
            if left_ns == 0 {
                return true;
            }
            if self.shared.is_over() {
                return false;
            }
            thread::sleep(Duration::from_nanos(left_ns.min(SLICE_NS)));
        }
    }

    fn step(&mut self, tally: &Mutex<FileTally>) -> StepResult {
        match self.stream.stream.operation {
            FileOperation::Read | FileOperation::Write => self.transfer(tally),
            FileOperation::Mkdir | FileOperation::Rmdir => {
                self.create_or_remove_directory(tally)
            }
            FileOperation::Create => self.create(tally),
            FileOperation::Delete => {
                self.call_on_file(tally, Some(EntryPresence::Missing), |worker, number| {
                    fs::remove_file(worker.stream.tree.tree.file(number))
                })
            }
            FileOperation::Getattr if self.stream.stream.of_directories => {
                self.examine_directory(tally)
            }
            FileOperation::Getattr => self.call_on_file(tally, None, |worker, number| {
                fs::symlink_metadata(worker.stream.tree.tree.file(number)).map(drop)
            }),
            FileOperation::Setattr => self.call_on_file(tally, None, |worker, number| {
                worker.stream.tree.anchor.set_mode(&worker.stream.tree.tree.file(number))
            }),
            FileOperation::Access => self.call_on_file(tally, None, |worker, number| {
                worker.stream.tree.tree.file(number).try_exists().map(drop)
            }),
            FileOperation::Open | FileOperation::Close => self.open_and_close(tally),
        }
    }

    /// Claims a file in one of the `accepted` states.
    fn take_file(&mut self, accepted: &[EntryPresence]) -> ClaimResult {
        let tree = self.stream.tree;
        let limit = tree.tree.used_file_count().unwrap_or(u64::MAX);
        let order = (self.stream.stream.order, &self.stream.cursor);
        tree.files.claim_next(accepted, (limit, false), order, &mut self.draws)
    }

    /// Makes one call on one existing file. Its state becomes `state_after`, or stays the same.
    fn call_on_file(
        &mut self,
        tally: &Mutex<FileTally>,
        state_after: Option<EntryPresence>,
        call: impl FnOnce(&Self, u64) -> io::Result<()>,
    ) -> StepResult {
        let (number, state_before) = match self.take_file(EntryPresence::EXISTING) {
            ClaimResult::Claimed(number, state_before) => (number, state_before),
            ClaimResult::AllBusy => return StepResult::Blocked,
            ClaimResult::Exhausted => return StepResult::Exhausted,
        };
        let operation = self.stream.stream.operation;
        let start = Instant::now();
        let result = call(self, number);
        let files = &self.stream.tree.files;
        match result {
            Ok(()) => {
                count_operation(tally, operation, start);
                files.set(number, state_after.unwrap_or(state_before));
                StepResult::Requested(start)
            }
            Err(error) if self.was_done_elsewhere(operation, &error) => {
                files.set(number, EntryPresence::Missing);
                StepResult::Auxiliary
            }
            Err(error) => {
                files.set(number, state_before);
                self.record_file_failure(number, operation, &error)
            }
        }
    }

    /// Returns whether another host that shares the tree has already created or removed the entry.
    fn was_done_elsewhere(&self, operation: FileOperation, error: &io::Error) -> bool {
        let expected = match operation {
            FileOperation::Mkdir => io::ErrorKind::AlreadyExists,
            FileOperation::Rmdir | FileOperation::Delete => io::ErrorKind::NotFound,
            _ => return false,
        };
        self.stream.tree.tree.part.is_some() && error.kind() == expected
    }

    fn examine_directory(&mut self, tally: &Mutex<FileTally>) -> StepResult {
        let state = self.stream.tree;
        let order = (self.stream.stream.order, &self.stream.cursor);
        let claim = state.directories.claim_next(
            EntryPresence::WHOLE,
            (u64::MAX, false),
            order,
            &mut self.draws,
        );
        let number = match claim {
            ClaimResult::Claimed(number, _) => number,
            ClaimResult::AllBusy => return StepResult::Blocked,
            ClaimResult::Exhausted => return StepResult::Exhausted,
        };
        let (path, operation) = (state.tree.directory(number), FileOperation::Getattr);
        let start = Instant::now();
        let result = fs::symlink_metadata(&path);
        state.directories.set(number, EntryPresence::Present);
        match result {
            Ok(_) => {
                count_operation(tally, operation, start);
                StepResult::Requested(start)
            }
            Err(error) => {
                let reason = error.to_string();
                self.shared.record_failure(FileFailure { path, operation, reason });
                StepResult::Auxiliary
            }
        }
    }

    fn open_and_close(&mut self, tally: &Mutex<FileTally>) -> StepResult {
        let operation = self.stream.stream.operation;
        let mut close_start = None;
        // Like Vdbench: open operations open for reading, close operations for writing.
        let writes = operation == FileOperation::Close;
        let step = self.call_on_file(tally, None, |worker, number| {
            let file = open_tree_file(worker.stream.tree, number, writes, false)?;
            close_start = Some(Instant::now());
            drop(file);
            Ok(())
        });
        let other = match operation {
            FileOperation::Open => FileOperation::Close,
            _ => FileOperation::Open,
        };
        if let Some(start) = close_start {
            count_operation(tally, other, start);
        }
        step
    }

    /// Creates a file and writes all of it, or leaves it empty; includes opening, writing and
    /// closing.
    fn create(&mut self, tally: &Mutex<FileTally>) -> StepResult {
        let writes_data = self.stream.stream.stop_after.is_none();
        let accepted =
            if writes_data { EntryPresence::NOT_WHOLE } else { EntryPresence::ABSENT };
        let (number, state_before) = match self.take_file(accepted) {
            ClaimResult::Claimed(number, state_before) => (number, state_before),
            ClaimResult::AllBusy => return StepResult::Blocked,
            ClaimResult::Exhausted => return StepResult::Exhausted,
        };
        let start = Instant::now();
        let state = self.stream.tree;
        match self.write_whole(number, writes_data, tally) {
            Ok(()) => {
                count_operation(tally, FileOperation::Create, start);
                let expected = state.tree.file_bytes(number);
                let bytes = if writes_data { expected } else { 0 };
                state.files.set(number, EntryPresence::from_size(bytes, expected));
                StepResult::Requested(start)
            }
            Err(error) => {
                state.files.set(number, state_before);
                self.record_file_failure(number, FileOperation::Create, &error)
            }
        }
    }

    /// Creates a file and, unless it stays empty, writes all of it, in order.
    fn write_whole(
        &mut self,
        number: u64,
        writes_data: bool,
        tally: &Mutex<FileTally>,
    ) -> io::Result<()> {
        let state = self.stream.tree;
        let bytes = if writes_data { state.tree.file_bytes(number) } else { 0 };
        let start = Instant::now();
        let file = open_tree_file(state, number, true, true)?;
        count_operation(tally, FileOperation::Open, start);
        let stream = assay_model::workload::file_set::FileStream {
            access: FileAccess::Sequential,
            stop_after: None,
            ..self.stream.stream.clone()
        };
        let mut file = OpenFile::new(file, (number, EntryPresence::Partial), bytes, &stream);
        while let Some(transfer) = file.next_transfer(&stream, &mut self.draws) {
            self.prepare_write(transfer.offset, transfer.bytes);
            let start = Instant::now();
            file.write(self.write_buffer.as_mut_slice::<u8>(), transfer)?;
            let mut tally = tally.lock().even_if_poisoned();
            tally.operations[FileOperation::Write.index()].add(nanoseconds(start.elapsed()));
            tally.written_bytes += transfer.bytes;
        }
        let start = Instant::now();
        file.close(state.tree.sync_at_close)?;
        count_operation(tally, FileOperation::Close, start);
        Ok(())
    }

    fn prepare_write(&mut self, offset: u64, bytes: u64) {
        self.serial += 1;
        let memory = &mut self.write_buffer.as_mut_slice::<u8>()[..bytes as usize];
        content::make_unique(memory, offset, self.serial);
    }

    /// Performs one read or write; includes opening and closing.
    fn transfer(&mut self, tally: &Mutex<FileTally>) -> StepResult {
        let Some(mut open) = self.open_file.take() else { return self.open_next(tally) };
        let Some(next) = open.next_transfer(self.stream.stream, &mut self.draws) else {
            return self.close(open, tally);
        };
        let is_read = match (self.stream.stream.read_share, self.stream.stream.operation) {
            (Some(share), _) => self.draws.chance(share),
            (None, operation) => operation == FileOperation::Read,
        };
        if !is_read {
            self.prepare_write(next.offset, next.bytes);
        }
        let start = Instant::now();
        let (operation, result) = if is_read {
            (FileOperation::Read, open.read(self.read_buffer.as_mut_slice::<u8>(), next))
        } else {
            (FileOperation::Write, open.write(self.write_buffer.as_mut_slice::<u8>(), next))
        };
        match result {
            Ok(()) => {
                let mut tally = tally.lock().even_if_poisoned();
                tally.operations[operation.index()].add(nanoseconds(start.elapsed()));
                let bytes =
                    if is_read { &mut tally.read_bytes } else { &mut tally.written_bytes };
                *bytes += next.bytes;
                self.open_file = Some(open);
                StepResult::Requested(start)
            }
            Err(error) => {
                let number = open.number;
                self.stream.tree.files.set(number, open.presence());
                self.record_file_failure(number, operation, &error)
            }
        }
    }

    fn open_next(&mut self, tally: &Mutex<FileTally>) -> StepResult {
        let (state, stream) = (self.stream.tree, self.stream.stream);
        let writes = match stream.read_share {
            Some(share) => share < 1.0,
            None => stream.operation == FileOperation::Write,
        };
        let in_order =
            matches!(stream.access, FileAccess::Sequential | FileAccess::SequentialAnew);
        // A file written sequentially may be new. A file that is read or written at random offsets
        // must be complete.
        let may_create = in_order && stream.read_share.is_none() && writes;
        let accepted = if may_create { EntryPresence::ANY } else { EntryPresence::WHOLE };
        let (number, presence) = match self.take_file(accepted) {
            ClaimResult::Claimed(number, presence) => (number, presence),
            ClaimResult::AllBusy => return StepResult::Blocked,
            ClaimResult::Exhausted => return StepResult::Exhausted,
        };
        let is_shared = stream.access == FileAccess::RandomShared;
        if is_shared {
            state.files.set(number, presence);
        }
        let recreates = stream.access == FileAccess::SequentialAnew && writes;
        let is_missing = presence == EntryPresence::Missing;
        let removed = if recreates && !is_missing {
            let start = Instant::now();
            fs::remove_file(state.tree.file(number))
                .inspect(|()| count_operation(tally, FileOperation::Delete, start))
        } else {
            Ok(())
        };
        let start = Instant::now();
        let opened = removed
            .and_then(|()| open_tree_file(state, number, writes, recreates || is_missing));
        match opened {
            Ok(file) => {
                count_operation(tally, FileOperation::Open, start);
                if recreates || is_missing {
                    count_operation(tally, FileOperation::Create, start);
                }
                let bytes = state.tree.file_bytes(number);
                let presence =
                    if recreates || is_missing { EntryPresence::Partial } else { presence };
                self.open_file = Some(OpenFile::new(file, (number, presence), bytes, stream));
                StepResult::Auxiliary
            }
            Err(error) => {
                state.files.set(number, presence);
                self.record_file_failure(number, FileOperation::Open, &error)
            }
        }
    }

    fn close(&mut self, open: OpenFile, tally: &Mutex<FileTally>) -> StepResult {
        let (state, number, presence) = (self.stream.tree, open.number, open.presence());
        let start = Instant::now();
        let result = open.close(state.tree.sync_at_close);
        state.files.set(number, presence);
        match result {
            Ok(()) => {
                count_operation(tally, FileOperation::Close, start);
                StepResult::Auxiliary
            }
            Err(error) => self.record_file_failure(number, FileOperation::Close, &error),
        }
    }

    /// Creates or removes a directory.
    fn create_or_remove_directory(&mut self, tally: &Mutex<FileTally>) -> StepResult {
        let (state, operation) = (self.stream.tree, self.stream.stream.operation);
        let is_create = operation == FileOperation::Mkdir;
        let (accepted, state_after) = if is_create {
            (EntryPresence::ABSENT, EntryPresence::Present)
        } else {
            (EntryPresence::WHOLE, EntryPresence::Missing)
        };
        let order = (self.stream.stream.order, &self.stream.cursor);
        let claim = state.directories.claim_next(
            accepted,
            (u64::MAX, !is_create),
            order,
            &mut self.draws,
        );
        let (number, state_before) = match claim {
            ClaimResult::Claimed(number, presence) => (number, presence),
            ClaimResult::AllBusy => return StepResult::Blocked,
            ClaimResult::Exhausted => return StepResult::Exhausted,
        };
        let path = state.tree.directory(number);
        for _ in 0..MAX_DIRECTORY_TRIES {
            let start = Instant::now();
            let result = if is_create { fs::create_dir(&path) } else { fs::remove_dir(&path) };
            match result {
                Ok(()) => {
                    count_operation(tally, operation, start);
                    state.directories.set(number, state_after);
                    return StepResult::Requested(start);
                }
                Err(error) if self.was_done_elsewhere(operation, &error) => {
                    state.directories.set(number, state_after);
                    return StepResult::Auxiliary;
                }
                // The parent is not created yet, or a child is not removed yet.
                Err(error) if is_order_error(&error) && self.must_wait() => {
                    thread::sleep(RETRY_PAUSE);
                }
                Err(error) if is_order_error(&error) => {
                    state.directories.set(number, state_before);
                    return StepResult::Blocked;
                }
                Err(error) => {
                    state.directories.set(number, state_before);
                    let reason = error.to_string();
                    self.shared.record_failure(FileFailure { path, operation, reason });
                    return StepResult::Auxiliary;
                }
            }
        }
        state.directories.set(number, state_before);
        let reason = "its parent is missing, or it is not empty".to_owned();
        self.shared.record_failure(FileFailure { path, operation, reason });
        StepResult::Auxiliary
    }

    /// Returns whether the worker must wait for this directory because the order visits each
    /// directory once.
    fn must_wait(&self) -> bool {
        self.stream.stream.order == FileOrder::Once && !self.shared.is_over()
    }

    fn record_file_failure(
        &self,
        number: u64,
        operation: FileOperation,
        error: &io::Error,
    ) -> StepResult {
        let path = self.stream.tree.tree.file(number);
        self.shared.record_failure(FileFailure { path, operation, reason: error.to_string() });
        StepResult::Auxiliary
    }
}

fn is_order_error(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty)
}

fn count_operation(tally: &Mutex<FileTally>, operation: FileOperation, start: Instant) {
    let ns = nanoseconds(start.elapsed());
    tally.lock().even_if_poisoned().operations[operation.index()].add(ns);
}

/// Counts a requested operation with its latencies.
pub(in crate::storage) fn record_requested(
    tally: &mut FileTally,
    ns: u64,
    from_intended_ns: Option<u64>,
) {
    tally.requested.add(ns);
    record_latency(&mut tally.service_ns, ns, 1);
    if let Some(ns) = from_intended_ns {
        record_latency(&mut tally.from_intended_ns, ns, 1);
    }
}

fn record_latency(histogram: &mut Option<Histogram<u64>>, ns: u64, count: u64) {
    let histogram = histogram.get_or_insert_with(|| {
        Histogram::new(DIGITS).expect("the digits are a constant that it allows")
    });
    histogram.record_n(ns, count).expect("a histogram without bounds grows as it must");
}

pub(in crate::storage) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
