//! Memory of a rank that other ranks write and read.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::abi::Handle;
use super::calls::{MpiResult, check_call};
use super::communicator::Communicator;

/// Rank whose memory rank 0 accesses.
pub(super) const TARGET_RANK: c_int = 1;

/// Minimum size of a rank's part. OSU allocates one window for its largest message. MPICH 4.0.2
/// writes to the wrong address in windows of less than 16 bytes; a short C program reproduces that.
const MIN_WINDOW_BYTES: usize = 4096;

/// Memory that all ranks can access, allocated by the library.
#[derive(Debug)]
pub(super) struct MpiWindow<'j, H: Handle> {
    comm: &'j Communicator<H>,
    handle: H,
    pub(super) base: *mut u8,
    pub(super) bytes: usize,
}

impl<'j, H: Handle> MpiWindow<'j, H> {
    /// Allocates the window; all ranks together.
    pub(super) fn allocate(comm: &'j Communicator<H>, bytes: usize) -> MpiResult<Self> {
        let mut own: *mut c_void = ptr::null_mut();
        let mut handle = H::default();
        let Communicator { calls, constants: names, .. } = comm;
        // SAFETY: an address and a handle to be written; the size has no sign bit, as it is an `i32`.
        check_call("MPI_Win_allocate", unsafe {
            (calls.win_allocate)(
                bytes.max(MIN_WINDOW_BYTES) as isize,
                1,
                names.null_info,
                names.world,
                (&raw mut own).cast(),
                &raw mut handle,
            )
        })?;
        let window = Self { comm, handle, base: own.cast(), bytes };
        // SAFETY: the library gave as many bytes; no rank accesses them before the next barrier.
        unsafe { window.base.write_bytes(b'b', bytes.max(MIN_WINDOW_BYTES)) };
        Ok(window)
    }

    /// Frees the window; all ranks together.
    pub(super) fn free(mut self) -> MpiResult {
        // SAFETY: the handle is that of this window, and no access is pending.
        check_call("MPI_Win_free", unsafe { (self.comm.calls.win_free)(&raw mut self.handle) })
    }

    /// Allows this rank to access the target's memory until [`Self::unlock`].
    pub(super) fn lock(&self) -> MpiResult {
        let Communicator { calls, constants: names, .. } = self.comm;
        // SAFETY: a rank of the world and a window over the world.
        check_call("MPI_Win_lock", unsafe {
            (calls.win_lock)(names.lock_shared, TARGET_RANK, 0, self.handle)
        })
    }

    pub(super) fn unlock(&self) -> MpiResult {
        // SAFETY: locked before.
        check_call("MPI_Win_unlock", unsafe {
            (self.comm.calls.win_unlock)(TARGET_RANK, self.handle)
        })
    }

    #[inline(always)]
    pub(super) fn flush(&self) -> MpiResult {
        // SAFETY: locked by the caller.
        check_call("MPI_Win_flush", unsafe {
            (self.comm.calls.win_flush)(TARGET_RANK, self.handle)
        })
    }

    /// # Safety
    /// `count` bytes must be at `from` until the next flush, and the window must be locked.
    #[inline(always)]
    pub(super) unsafe fn put(&self, from: *const u8, count: c_int) -> MpiResult {
        let Communicator { calls, constants: names, .. } = self.comm;
        let char = names.char;
        // SAFETY: guaranteed by the caller; the target's memory has `count` bytes.
        check_call("MPI_Put", unsafe {
            (calls.put)(from.cast(), count, char, TARGET_RANK, 0, count, char, self.handle)
        })
    }

    /// # Safety
    /// `count` bytes at `into` must be ours until the next flush, and the window must be locked.
    #[inline(always)]
    pub(super) unsafe fn get(&self, into: *mut u8, count: c_int) -> MpiResult {
        let Communicator { calls, constants: names, .. } = self.comm;
        let char = names.char;
        // SAFETY: guaranteed by the caller; the target's memory has `count` bytes.
        check_call("MPI_Get", unsafe {
            (calls.get)(into.cast(), count, char, TARGET_RANK, 0, count, char, self.handle)
        })
    }
}
