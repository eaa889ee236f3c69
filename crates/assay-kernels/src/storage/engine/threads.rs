//! Engine of blocking calls, one at a time: `preadv2`, `pwritev2`, `fsync`; or of copies to and from
//! mapped files. Depth comes from more threads.
//!
//! Never starts a thread: each worker of this engine has one slot and makes its call itself.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::super::positioned_io;
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
    queued: Vec<IoRequest>,
}

impl StorageEngine for Threads {
    const NAME: &'static str = "threads";

    fn set_up(setup: EngineSetup<'_>) -> io::Result<Self> {
        let queued = Vec::with_capacity(setup.slots as usize);
        Ok(Self { files: setup.files.to_vec(), mappings: setup.mappings.to_vec(), queued })
    }

    fn granted_features(&self) -> String {
        if self.mappings.is_empty() { String::new() } else { "mapped files".to_owned() }
    }

    #[inline]
    fn queue(&mut self, request: IoRequest) {
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
        for request in self.queued.drain(..) {
            let mapping = self.mappings.get(request.file as usize).and_then(Option::as_ref);
            let result = mapping
                .and_then(|mapping| mapping.copy(&request))
                .unwrap_or_else(|| make_call(self.files[request.file as usize], &request));
            done.push(IoCompletion { slot: request.slot, result });
        }
        Ok(0)
    }
}

/// Makes the call, and repeats it if a signal interrupts it. Returns the bytes, or the negative
/// error.
fn make_call(files: TargetDescriptors, request: &IoRequest) -> i32 {
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
            IoAction::Trim => return trim::trim(files.write, request.offset, request.bytes),
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
