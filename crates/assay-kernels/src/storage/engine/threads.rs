//! Engine of blocking calls, one at a time: `preadv2`, `pwritev2`, `fsync`; or of copies to and from
//! mapped files. Depth comes from more threads.
//!
//! Never starts a thread: each worker of this engine has one slot and makes its call itself.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::super::positioned_io;
use super::file_caller::{FileCaller, OpenedFile};
use super::mapped_file::MappedFile;
use super::{
    EngineSetup, IoAction, IoCompletion, IoRequest, StorageEngine, TargetDescriptors, Wait,
    trim,
};

/// Blocking engine.
#[derive(Debug)]
pub(crate) struct Threads {
    files: Vec<TargetDescriptors>,
    /// Mappings of the files; empty if I/O makes calls.
    mappings: Vec<Option<Arc<MappedFile>>>,
    /// Calls on the files; empty if there is I/O.
    callers: Vec<Option<Arc<FileCaller>>>,
    /// Error of the check before the queued call, and the file that the last call opened: both are no
    /// part of a call.
    refusal: Option<i32>,
    opened: Option<(Arc<FileCaller>, OpenedFile)>,
    queued: Vec<IoRequest>,
    /// Part of each file that was written since its last sync: start and end.
    written: Vec<Option<(u64, u64)>>,
}

impl StorageEngine for Threads {
    const NAME: &'static str = "threads";

    fn set_up(setup: EngineSetup<'_>) -> io::Result<Self> {
        let queued = Vec::with_capacity(setup.slots as usize);
        Ok(Self {
            files: setup.files.to_vec(),
            mappings: setup.mappings.to_vec(),
            callers: setup.callers.to_vec(),
            refusal: None,
            opened: None,
            queued,
            written: vec![None; setup.files.len()],
        })
    }

    fn granted_features(&self) -> String {
        match (self.mappings.is_empty(), self.callers.is_empty()) {
            (false, _) => "mapped files".to_owned(),
            (true, false) => "calls on files".to_owned(),
            (true, true) => String::new(),
        }
    }

    #[inline]
    fn queue(&mut self, request: IoRequest) {
        if request.action == IoAction::CallFile {
            self.prepare_call(request.file as usize);
        }
        self.queued.push(request);
    }

    fn exchange(
        &mut self,
        _most: usize,
        wait: Wait,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<usize> {
        if let (Wait::AtMost { ns }, true) = (wait, self.queued.is_empty()) {
            std::thread::sleep(Duration::from_nanos(ns));
        }
        for nth in 0..self.queued.len() {
            let request = self.queued[nth];
            if matches!(request.action, IoAction::CallFile | IoAction::Skip) {
                let result = self.call_file(&request);
                done.push(IoCompletion { slot: request.slot, result });
                continue;
            }
            let file = request.file as usize;
            let mapping = self.mappings.get(file).and_then(Option::as_ref);
            let written = &mut self.written[file];
            let result = mapping
                .and_then(|mapping| mapping.copy(&request))
                .unwrap_or_else(|| make_call(self.files[file], &request, *written));
            note_written(written, &request, result);
            done.push(IoCompletion { slot: request.slot, result });
        }
        self.queued.clear();
        Ok(0)
    }
}

impl Threads {
    #[cold]
    fn prepare_call(&mut self, file: usize) {
        self.close_opened();
        let caller = self.callers.get(file).and_then(Option::as_ref);
        self.refusal = caller.and_then(|caller| caller.check().err());
    }

    fn close_opened(&mut self) {
        if let Some((caller, opened)) = self.opened.take() {
            caller.close(opened);
        }
    }

    /// Makes the call of a request on its file. Returns the bytes that it stands for, or the negative
    /// error.
    fn call_file(&mut self, request: &IoRequest) -> i32 {
        // Validation limits lengths to 1 GiB.
        let bytes = request.bytes as i32;
        let caller = self.callers.get(request.file as usize).and_then(Option::as_ref);
        match (request.action, self.refusal.take(), caller) {
            (IoAction::CallFile, None, Some(caller)) => match caller.make() {
                Ok(opened) => {
                    self.opened = opened.map(|opened| (Arc::clone(caller), opened));
                    bytes
                }
                Err(error) => error,
            },
            (IoAction::CallFile, Some(error), _) => error,
            _ => bytes,
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.close_opened();
    }
}

/// Widens the written part by a write; a sync empties it.
fn note_written(written: &mut Option<(u64, u64)>, request: &IoRequest, result: i32) {
    match request.action {
        IoAction::Write if result >= 0 => {
            let (start, end) = (request.offset, request.offset + u64::from(request.bytes));
            let (from, to) = written.unwrap_or((start, end));
            *written = Some((from.min(start), to.max(end)));
        }
        IoAction::Sync | IoAction::SyncData | IoAction::SyncRange(_) => *written = None,
        IoAction::Read
        | IoAction::Write
        | IoAction::Trim
        | IoAction::CallFile
        | IoAction::Skip => {}
    }
}

/// Makes the call, and repeats it if a signal interrupts it. Returns the bytes, or the negative
/// error.
fn make_call(
    files: TargetDescriptors,
    request: &IoRequest,
    written: Option<(u64, u64)>,
) -> i32 {
    let part = libc::iovec { iov_base: request.memory.cast(), iov_len: request.bytes as usize };
    // Offsets are below 2⁶³: files cannot be longer.
    let offset = request.offset as libc::off_t;
    loop {
        let result = match request.action {
            // SAFETY: `part` refers to memory of the slab that belongs to the kernel until this
            // call is over.
            IoAction::Read => unsafe { positioned_io::preadv2(files.read, &part, offset, 0) },
            // SAFETY: as above; the memory is only read.
            IoAction::Write => unsafe { positioned_io::pwritev2(files.write, &part, offset) },
            // SAFETY: the call takes no memory.
            IoAction::Sync => unsafe { libc::fsync(files.write) as isize },
            // SAFETY: as above.
            IoAction::SyncData => unsafe { libc::fdatasync(files.write) as isize },
            IoAction::SyncRange(flags) => {
                let Some((from, to)) = written else { return 0 };
                let (from, bytes) = (from as libc::off64_t, (to - from) as libc::off64_t);
                // SAFETY: as above.
                unsafe { libc::sync_file_range(files.write, from, bytes, flags) as isize }
            }
            IoAction::Trim => return trim::trim(files.write, request.offset, request.bytes),
            // Made by `call_file`.
            IoAction::CallFile | IoAction::Skip => return 0,
        };
        if result >= 0 {
            // The result is at most the length of the request.
            return result as i32;
        }
        let error = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        if error != libc::EINTR {
            return -error;
        }
    }
}
