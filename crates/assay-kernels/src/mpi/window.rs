//! Memory of a rank that others write and read: put and get.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::abi::Handle;
use super::communicator::{Communicator, Done, done};
use super::contents::{fill, is_right, seed};
use super::kind::Kind;
use super::prepared::{Figures, Prepared};
use super::timing::Pass;

/// Rank 0 acts, rank 1's memory is acted upon.
const TARGET: c_int = 1;

/// Least size of a rank's part. OSU allocates one window for its largest message; and MPICH 4.0.2 writes to
/// the wrong place in windows of less than 16 bytes, as a short C program shows, too.
const LEAST_BYTES: usize = 4096;

/// Memory that all ranks can reach, allocated by the library.
#[derive(Debug)]
pub(super) struct Window<'j, H: Handle> {
    comm: &'j Communicator<H>,
    handle: H,
    own: *mut u8,
    bytes: usize,
}

impl<'j, H: Handle> Window<'j, H> {
    /// Every rank does so together.
    pub(super) fn allocate(comm: &'j Communicator<H>, bytes: usize) -> Done<Self> {
        let mut own: *mut c_void = ptr::null_mut();
        let mut handle = H::default();
        let Communicator { calls, names, .. } = comm;
        // SAFETY: an address and a handle to be written; the size has no sign bit, as it is an `i32`.
        done("MPI_Win_allocate", unsafe {
            (calls.win_allocate)(
                bytes.max(LEAST_BYTES) as isize,
                1,
                names.null_info,
                names.world,
                (&raw mut own).cast(),
                &raw mut handle,
            )
        })?;
        let window = Self { comm, handle, own: own.cast(), bytes };
        // SAFETY: the library gave as many bytes; nobody reaches them before the next barrier.
        unsafe { window.own.write_bytes(b'b', bytes.max(LEAST_BYTES)) };
        Ok(window)
    }

    /// Every rank does so together.
    pub(super) fn free(mut self) -> Done {
        // SAFETY: the handle is that of this window, and no access is under way.
        done("MPI_Win_free", unsafe { (self.comm.calls.win_free)(&raw mut self.handle) })
    }

    /// Allows this rank to reach the target's memory until [`Self::unlock`].
    fn lock(&self) -> Done {
        let Communicator { calls, names, .. } = self.comm;
        // SAFETY: a rank of the world and a window over the world.
        done("MPI_Win_lock", unsafe {
            (calls.win_lock)(names.lock_shared, TARGET, 0, self.handle)
        })
    }

    fn unlock(&self) -> Done {
        // SAFETY: locked before.
        done("MPI_Win_unlock", unsafe { (self.comm.calls.win_unlock)(TARGET, self.handle) })
    }

    #[inline(always)]
    fn flush(&self) -> Done {
        // SAFETY: locked by the caller.
        done("MPI_Win_flush", unsafe { (self.comm.calls.win_flush)(TARGET, self.handle) })
    }

    /// # Safety
    /// `count` bytes must lie at `from` until the next flush, and the window must be locked.
    #[inline(always)]
    unsafe fn put(&self, from: *const u8, count: c_int) -> Done {
        let Communicator { calls, names, .. } = self.comm;
        let char = names.char;
        // SAFETY: vouched for by the caller; the target's memory has `count` bytes.
        done("MPI_Put", unsafe {
            (calls.put)(from.cast(), count, char, TARGET, 0, count, char, self.handle)
        })
    }

    /// # Safety
    /// `count` bytes at `into` must be ours until the next flush, and the window must be locked.
    #[inline(always)]
    unsafe fn get(&self, into: *mut u8, count: c_int) -> Done {
        let Communicator { calls, names, .. } = self.comm;
        let char = names.char;
        // SAFETY: vouched for by the caller; the target's memory has `count` bytes.
        done("MPI_Get", unsafe {
            (calls.get)(into.cast(), count, char, TARGET, 0, count, char, self.handle)
        })
    }
}

/// What a request that got its memory has.
const HAS_WINDOW: &str = "put and get are prepared with a window";

impl<H: Handle> Prepared<'_, H> {
    /// One put or get and its flush at a time, by rank 0; the others wait in the next barrier, where
    /// their library makes progress for them.
    pub(super) fn one_sided(&mut self, pass: &Pass) -> Done<Figures> {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        let (comm, count) = (self.comm, self.count);
        let (out, into) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let mut elapsed_s = 0.0;
        if comm.rank == 0 {
            window.lock()?;
            elapsed_s = match self.kind {
                Kind::Put => comm.time(pass, || {
                    // SAFETY: the bytes are ours, locked and flushed right here.
                    unsafe { window.put(out, count)? };
                    window.flush()
                })?,
                _ => comm.time(pass, || {
                    // SAFETY: as above.
                    unsafe { window.get(into, count)? };
                    window.flush()
                })?,
            };
            window.unlock()?;
        }
        comm.barrier()?;
        Ok(Figures::Latency { seconds: elapsed_s / pass.iterations as f64 })
    }

    pub(super) fn each_one_sided(&mut self, warm_up: u64, count: usize) -> Done<Vec<f64>> {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        let (comm, bytes) = (self.comm, self.count);
        let (out, into) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let mut times = Vec::new();
        if comm.rank == 0 {
            window.lock()?;
            times = match self.kind {
                Kind::Put => comm.time_each(warm_up, count, false, || {
                    // SAFETY: the bytes are ours, locked and flushed right here.
                    unsafe { window.put(out, bytes)? };
                    window.flush()
                })?,
                _ => comm.time_each(warm_up, count, false, || {
                    // SAFETY: as above.
                    unsafe { window.get(into, bytes)? };
                    window.flush()
                })?,
            };
            window.unlock()?;
        }
        comm.barrier()?;
        Ok(times)
    }

    /// Rank 0 puts, and the target compares its own memory; or rank 0 gets and compares.
    pub(super) fn validate_one_sided(&mut self, turn: u64) -> Done<Vec<bool>> {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        let (comm, bytes) = (self.comm, self.count as usize);
        let seed = seed(turn, TARGET, 0);
        if self.kind == Kind::Get && comm.rank == TARGET {
            // SAFETY: the window has `bytes` bytes here, and nobody reaches it before the barrier.
            fill(unsafe { std::slice::from_raw_parts_mut(window.own, window.bytes) }, seed);
        }
        fill(&mut self.send.as_mut_slice::<u8>()[..bytes], seed);
        self.receive.as_mut_slice::<u8>().fill(0xff);
        comm.barrier()?;
        if comm.rank == 0 {
            window.lock()?;
            // SAFETY: the bytes are ours, locked, and complete when unlocked.
            unsafe {
                match self.kind {
                    Kind::Put => window.put(self.send.as_ptr(), self.count)?,
                    _ => window.get(self.receive.as_ptr(), self.count)?,
                }
            }
            window.unlock()?;
        }
        comm.barrier()?;
        Ok(match (self.kind, comm.rank) {
            (Kind::Put, TARGET) => {
                // The barrier came after the unlock; locking once makes the memory visible here.
                window.lock()?;
                // SAFETY: the window has `bytes` bytes here, and nobody writes them any more.
                let own = unsafe { std::slice::from_raw_parts(window.own, window.bytes) };
                let right = is_right(own, seed);
                window.unlock()?;
                vec![right]
            }
            (Kind::Get, 0) => vec![is_right(&self.receive.as_slice::<u8>()[..bytes], seed)],
            _ => Vec::new(),
        })
    }
}
