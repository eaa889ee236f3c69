//! Linux AIO, the kernel's older asynchronous interface, by raw system calls: `io_submit` and
//! `io_getevents`.
//!
//! Asynchronous only with `O_DIRECT`; with the page cache a submission blocks until the data is
//! there. Does not use the library libaio.

use std::io;

use super::{
    EngineSetup, IoAction, IoCompletion, IoRequest, StorageEngine, TargetDescriptors, Wait,
};

/// Engine of `io_submit`.
#[derive(Debug)]
pub(crate) struct Libaio {
    context: libc::c_ulong,
    files: Vec<TargetDescriptors>,
    /// Control blocks, one per slot, with stable addresses.
    blocks: Vec<AioControlBlock>,
    queued: Vec<*mut AioControlBlock>,
    events: Vec<AioEvent>,
    in_flight: usize,
}

/// `struct iocb` of `linux/aio_abi.h`, for little-endian machines.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct AioControlBlock {
    data: u64,
    key: u32,
    flags: u32,
    opcode: u16,
    priority: i16,
    descriptor: u32,
    memory: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    more_flags: u32,
    event_descriptor: u32,
}

/// `struct io_event` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct AioEvent {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

const READ: u16 = 0;
const WRITE: u16 = 1;
const FSYNC: u16 = 2;
const FDSYNC: u16 = 3;
/// `IOCB_FLAG_IOPRIO`.
const HAS_PRIORITY: u32 = 1 << 1;
/// `IOCB_CMD_NOOP`, which the kernel refuses.
const NOOP: u16 = 6;

impl StorageEngine for Libaio {
    const NAME: &'static str = "libaio";

    fn set_up(setup: EngineSetup<'_>) -> io::Result<Self> {
        let slots = setup.slots as usize;
        let mut context: libc::c_ulong = 0;
        // SAFETY: `context` is writable and zero, as the call requires.
        let result =
            unsafe { libc::syscall(libc::SYS_io_setup, setup.slots, &raw mut context) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            context,
            files: setup.files.to_vec(),
            blocks: vec![AioControlBlock::default(); slots],
            queued: Vec::with_capacity(slots),
            events: vec![AioEvent::default(); slots],
            in_flight: 0,
        })
    }

    fn granted_features(&self) -> String {
        String::new()
    }

    #[inline]
    fn queue(&mut self, request: IoRequest) {
        let files = self.files[request.file as usize];
        let (opcode, descriptor) = match request.action {
            IoAction::Read => (READ, files.read),
            IoAction::Write => (WRITE, files.write),
            IoAction::Sync => (FSYNC, files.write),
            IoAction::SyncData => (FDSYNC, files.write),
            // Workloads with trims or syncs of a range are rejected for this engine; the kernel's
            // refusal would reveal one.
            IoAction::Trim | IoAction::SyncRange(_) | IoAction::CallFile | IoAction::Skip => {
                (NOOP, files.write)
            }
        };
        let transfers = matches!(request.action, IoAction::Read | IoAction::Write);
        let has_priority = transfers && request.priority > 0;
        let block = &mut self.blocks[request.slot as usize];
        *block = AioControlBlock {
            data: u64::from(request.slot),
            opcode,
            more_flags: if has_priority { HAS_PRIORITY } else { 0 },
            // The class is in the highest bits.
            priority: if has_priority { request.priority.cast_signed() } else { 0 },
            // Descriptors of open files are not negative, and offsets are below 2⁶³.
            descriptor: descriptor as u32,
            memory: if transfers { request.memory as u64 } else { 0 },
            bytes: if transfers { u64::from(request.bytes) } else { 0 },
            offset: if transfers { request.offset as i64 } else { 0 },
            ..AioControlBlock::default()
        };
        self.queued.push(block);
    }

    fn submit(
        &mut self,
        most: usize,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<Option<usize>> {
        self.submit_queued(most, done)?;
        Ok(Some(self.queued.len()))
    }

    fn exchange(
        &mut self,
        most: usize,
        wait: Wait,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<usize> {
        self.submit_queued(most, done)?;
        // Refused I/O is already complete, and there may be nothing to wait for.
        let wait = if done.is_empty() { wait } else { Wait::No };
        let (least, ns) = match wait {
            Wait::No => (0, Some(0)),
            Wait::UntilDone => (1, None),
            Wait::AtMost { ns } => (1, Some(ns)),
        };
        self.collect_completions((least, self.events.len()), ns, done)?;
        Ok(self.queued.len())
    }

    fn reap(
        &mut self,
        least: usize,
        most: usize,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<()> {
        let (before, most) = (done.len(), most.min(self.events.len()));
        loop {
            let known = done.len() - before;
            let left = least.saturating_sub(known);
            let ns = (left == 0).then_some(0);
            self.collect_completions((left, most.saturating_sub(known)), ns, done)?;
            if done.len() - before >= least {
                return Ok(());
            }
        }
    }
}

impl Libaio {
    /// Submits as many as the kernel accepts, at most `most`. I/O that it refuses becomes a
    /// completion with the error.
    fn submit_queued(&mut self, most: usize, done: &mut Vec<IoCompletion>) -> io::Result<()> {
        let most = most.min(self.queued.len());
        let mut handed = 0;
        while handed < most {
            let rest = &mut self.queued[handed..most];
            // SAFETY: every pointer refers to a block of `self.blocks`, which is never resized,
            // filled by `queue`; the memory in it belongs to the kernel until its event.
            let result = unsafe {
                libc::syscall(libc::SYS_io_submit, self.context, rest.len(), rest.as_mut_ptr())
            };
            if result > 0 {
                handed += result as usize;
                self.in_flight += result as usize;
                continue;
            }
            let error = io::Error::last_os_error();
            if super::is_transient(&error) && self.in_flight > 0 {
                break;
            }
            if error.raw_os_error() == Some(libc::EINTR) {
                continue;
            }
            // SAFETY: the pointer refers to a block of `self.blocks`, and no reference to it is
            // alive. The first of the batch caused the error; the others are tried next.
            let slot = unsafe { (*rest[0]).data } as u32;
            let number = error.raw_os_error().unwrap_or(libc::EIO);
            done.push(IoCompletion { slot, result: -number });
            handed += 1;
        }
        self.queued.drain(..handed);
        Ok(())
    }

    /// Collects between `least` and `most` completions, for at most `ns`.
    fn collect_completions(
        &mut self,
        (least, most): (usize, usize),
        ns: Option<u64>,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<()> {
        let mut limit = ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (ns % 1_000_000_000) as libc::c_long,
        });
        let limit = limit.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let most = most.min(self.events.len());
        // SAFETY: `events` has room for as many as the passed number, and `limit` is null or a
        // valid `timespec`.
        let result = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                least as libc::c_long,
                most,
                self.events.as_mut_ptr(),
                limit,
            )
        };
        if result < 0 {
            let error = io::Error::last_os_error();
            return if super::is_transient(&error) { Ok(()) } else { Err(error) };
        }
        self.in_flight -= result as usize;
        done.extend(self.events[..result as usize].iter().map(|event| IoCompletion {
            // Slots are below 2³², and results are a length below 2³⁰ or an error number.
            slot: event.data as u32,
            result: event.result as i32,
        }));
        Ok(())
    }
}

impl Drop for Libaio {
    fn drop(&mut self) {
        // SAFETY: the context came from `io_setup`. The call waits for I/O in flight, so that no
        // memory is written after it.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
