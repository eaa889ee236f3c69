//! Engine of `io_uring`: one pair of rings per worker, with every feature that the kernel grants.
//!
//! All features are optional: flags and registrations that an older kernel or a small memory limit
//! refuses are omitted one by one, and the granted ones are reported.

use std::io;
use std::mem::ManuallyDrop;

use io_uring::squeue::Flags;
use io_uring::types::{Fd, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{CompletionQueue, EnterFlags, IoUring, SubmissionQueue, Submitter, opcode};

use super::{
    EngineSetup, IoAction, IoCompletion, IoRequest, StorageEngine, TargetDescriptors, Wait,
};

/// Largest size of one registered buffer (`io_uring_register(2)`).
const MAXIMUM_REGISTERED_BYTES: usize = 1 << 30;

/// Engine of `io_uring`, which sleeps until a device interrupts.
pub(crate) type Uring = UringEngine<false>;
/// Engine for polled devices without interrupts: each check for completions queries the device
/// (`IORING_SETUP_IOPOLL`).
pub(crate) type UringPolled = UringEngine<true>;

/// Engine of `io_uring`, with or without polling.
pub(crate) struct UringEngine<const POLLED: bool> {
    /// The three parts borrow from `ring`, so they are dropped before it.
    parts: ManuallyDrop<RingParts>,
    ring: *mut IoUring,
    files: Vec<TargetDescriptors>,
    fixed_files: bool,
    fixed_buffers: bool,
    granted: Vec<&'static str>,
}

struct RingParts {
    submitter: Submitter<'static>,
    queue: SubmissionQueue<'static>,
    completions: CompletionQueue<'static>,
}

/// Name of a flag of the ring, and the function that requests it.
type RingFlag = (&'static str, fn(&mut io_uring::Builder));

/// Flags, least important first: those unknown to a kernel are dropped from the front. Since 6.6,
/// 6.1, 6.0 and 5.19; deferred task work requires the single issuer, and so comes before it.
const FLAGS: [RingFlag; 4] = [
    ("no array", |builder| {
        builder.setup_no_sqarray();
    }),
    ("deferred task work", |builder| {
        builder.setup_defer_taskrun();
    }),
    ("single issuer", |builder| {
        builder.setup_single_issuer();
    }),
    ("cooperative task work", |builder| {
        builder.setup_coop_taskrun();
    }),
];

impl<const POLLED: bool> StorageEngine for UringEngine<POLLED> {
    const NAME: &'static str = if POLLED { "io_uring-polled" } else { "io_uring" };

    fn set_up(setup: EngineSetup<'_>) -> io::Result<Self> {
        let (ring, mut granted) = build_ring(setup.slots, POLLED)?;
        if !ring.params().is_feature_ext_arg() {
            let what = "this kernel's io_uring cannot wait for a limited time (before 5.11)";
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        }
        check_enter(&ring.submitter())?;
        let ring = Box::into_raw(Box::new(ring));
        // SAFETY: the box lives until `drop`, which drops the parts first and then takes it back.
        // Nothing else uses the pointer.
        let (mut submitter, queue, completions) = unsafe { (*ring).split() };
        let fixed_files = register_files(&submitter, setup.files);
        let fixed_buffers = register_slab(&submitter, setup.slab);
        // Without it every call looks the descriptor up, which costs a little time.
        let fixed_ring = submitter.register_ring_fd().is_ok();
        if setup.is_remote {
            // If I/O cannot be started without blocking, the kernel uses threads, at most four per
            // CPU. Threads that wait for another host need no CPU, so there may be one per slot;
            // for a device in this machine more threads only slow each other down. A kernel that
            // cannot set the number keeps its default.
            let _ = submitter.register_iowq_max_workers(&mut [setup.slots, 0]);
        }
        for (name, is_granted) in [
            ("fixed files", fixed_files),
            ("fixed buffers", fixed_buffers),
            ("fixed ring", fixed_ring),
        ] {
            granted.extend(is_granted.then_some(name));
        }
        let parts = ManuallyDrop::new(RingParts { submitter, queue, completions });
        Ok(Self {
            parts,
            ring,
            files: setup.files.to_vec(),
            fixed_files,
            fixed_buffers,
            granted,
        })
    }

    fn granted_features(&self) -> String {
        self.granted.join(", ")
    }

    #[inline]
    fn queue(&mut self, request: IoRequest) {
        let writes = request.action != IoAction::Read;
        let fd = if self.fixed_files {
            // Order of `register_files`; there are fewer than 2³⁰.
            Fd((request.file * 2 + u32::from(writes)) as i32)
        } else {
            let files = self.files[request.file as usize];
            Fd(if writes { files.write } else { files.read })
        };
        let IoRequest { memory, bytes, offset, priority, .. } = request;
        let entry = match (request.action, self.fixed_buffers) {
            (IoAction::Read, true) => opcode::ReadFixed::new(fd, memory, bytes, 0)
                .offset(offset)
                .ioprio(priority)
                .build(),
            (IoAction::Write, true) => opcode::WriteFixed::new(fd, memory, bytes, 0)
                .offset(offset)
                .ioprio(priority)
                .build(),
            (IoAction::Read, false) => {
                opcode::Read::new(fd, memory, bytes).offset(offset).ioprio(priority).build()
            }
            (IoAction::Write, false) => {
                opcode::Write::new(fd, memory, bytes).offset(offset).ioprio(priority).build()
            }
            (IoAction::Sync, _) => opcode::Fsync::new(fd).build(),
            (IoAction::SyncData, _) => {
                opcode::Fsync::new(fd).flags(FsyncFlags::DATASYNC).build()
            }
            // Workloads with trims or syncs of a range are rejected for this engine.
            (
                IoAction::Trim | IoAction::SyncRange(_) | IoAction::CallFile | IoAction::Skip,
                _,
            ) => opcode::Nop::new().build(),
        };
        let flags = if self.fixed_files { Flags::FIXED_FILE } else { Flags::empty() };
        let entry = entry.flags(flags).user_data(u64::from(request.slot));
        // SAFETY: the memory belongs to the kernel until the completion, and descriptors outlive
        // the engine.
        unsafe { self.parts.queue.push(&entry) }
            .expect("the queue has room for every slot, and a slot is queued once at most");
    }

    fn submit(
        &mut self,
        most: usize,
        _done: &mut Vec<IoCompletion>,
    ) -> io::Result<Option<usize>> {
        let RingParts { submitter, queue, .. } = &mut *self.parts;
        queue.sync();
        // At most the number of the ring's entries, which is a 32-bit number.
        enter(submitter, most.min(queue.len()) as u32, 0)?;
        queue.sync();
        Ok(Some(queue.len()))
    }

    fn reap(
        &mut self,
        least: usize,
        most: usize,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<()> {
        let RingParts { submitter, completions, .. } = &mut *self.parts;
        let before = done.len();
        loop {
            completions.sync();
            let room = most - (done.len() - before).min(most);
            done.extend(completions.by_ref().take(room).map(to_completion));
            completions.sync();
            let left = least.saturating_sub(done.len() - before);
            if left == 0 {
                return Ok(());
            }
            enter(submitter, 0, left as u32)?;
        }
    }

    #[inline]
    fn exchange(
        &mut self,
        most: usize,
        wait: Wait,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<usize> {
        let RingParts { submitter, queue, completions } = &mut *self.parts;
        queue.sync();
        // At most the number of the ring's entries, which is a 32-bit number.
        let handed = most.min(queue.len()) as u32;
        let flags = EnterFlags::GETEVENTS.bits();
        let result = match wait {
            // The call with a time limit submits the whole queue; callers that limit `most` do not
            // wait.
            Wait::AtMost { ns } if !POLLED => {
                let limit = Timespec::from(std::time::Duration::from_nanos(ns));
                submitter.submit_with_args(1, &SubmitArgs::new().timespec(&limit))
            }
            // SAFETY: no argument is passed; entries in the queue were checked in `queue`. A poll
            // of the device lasts until a completion, regardless of a limit (`io_iopoll_check`), so
            // the device is polled once, and the worker calls again.
            Wait::No | Wait::UntilDone | Wait::AtMost { .. } => unsafe {
                let minimum = u32::from(wait == Wait::UntilDone);
                submitter.enter::<libc::sigset_t>(handed, minimum, flags, None)
            },
        };
        if let Err(error) = result
            && !super::is_transient(&error)
        {
            return Err(error);
        }
        // Publishes that the kernel has taken entries; otherwise the queue would appear full for
        // ever.
        queue.sync();
        completions.sync();
        done.extend(completions.by_ref().map(to_completion));
        completions.sync();
        Ok(queue.len())
    }
}

/// Submits entries and waits for completions, in one call, which may be interrupted.
fn enter(submitter: &Submitter<'_>, submitted: u32, least: u32) -> io::Result<()> {
    // SAFETY: no argument is passed; entries in the queue were checked in `queue`.
    let result = unsafe {
        submitter.enter::<libc::sigset_t>(submitted, least, EnterFlags::GETEVENTS.bits(), None)
    };
    match result {
        Err(error) if !super::is_transient(&error) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn to_completion(entry: io_uring::cqueue::Entry) -> IoCompletion {
    IoCompletion { slot: entry.user_data() as u32, result: entry.result() }
}

/// Builds a ring with all flags that the kernel accepts; returns it with their names.
fn build_ring(slots: u32, polled: bool) -> io::Result<(IoUring, Vec<&'static str>)> {
    let entries = slots.next_power_of_two();
    let mut flags = &FLAGS[..];
    loop {
        let mut builder = IoUring::builder();
        if polled {
            builder.setup_iopoll();
        }
        for (_, ask) in flags {
            ask(&mut builder);
        }
        match (builder.build(entries), flags) {
            (Ok(ring), _) => {
                return Ok((ring, flags.iter().rev().map(|(name, _)| *name).collect()));
            }
            (Err(error), [_, rest @ ..]) if error.raw_os_error() == Some(libc::EINVAL) => {
                flags = rest;
            }
            (Err(error), _) => return Err(error),
        }
    }
}

/// Enters the empty ring once: a filter of system calls may permit to create a ring, but not to use
/// it.
fn check_enter(submitter: &Submitter<'_>) -> io::Result<()> {
    enter(submitter, 0, 0)
}

fn register_files(submitter: &Submitter<'_>, files: &[TargetDescriptors]) -> bool {
    let all: Vec<_> = files.iter().flat_map(|files| [files.read, files.write]).collect();
    submitter.register_files(&all).is_ok()
}

fn register_slab(submitter: &Submitter<'_>, (start, bytes): (*mut u8, usize)) -> bool {
    let slab = libc::iovec { iov_base: start.cast(), iov_len: bytes };
    // SAFETY: the setup guarantees that its memory outlives the engine.
    bytes <= MAXIMUM_REGISTERED_BYTES && unsafe { submitter.register_buffers(&[slab]) }.is_ok()
}

impl<const POLLED: bool> Drop for UringEngine<POLLED> {
    fn drop(&mut self) {
        // A registered ring stays alive until its thread ends. An error means that it was not
        // registered.
        let _ = self.parts.submitter.unregister_ring_fd();
        // SAFETY: the parts are not used after this.
        unsafe { ManuallyDrop::drop(&mut self.parts) };
        // SAFETY: the pointer came from a box in `set_up`, and all its borrowers are dropped.
        drop(unsafe { Box::from_raw(self.ring) });
    }
}
