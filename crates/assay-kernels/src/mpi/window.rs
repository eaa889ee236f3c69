//! Memory of a rank that other ranks access, and the synchronisation around accesses.

use std::ffi::{c_int, c_void};
use std::ptr;

use assay_model::benchmark::{RemoteOperation, RmaSynchronization, WindowCreation};

use crate::mapping::Mapping;

use super::abi::Handle;
use super::calls::{MpiResult, check_call};
use super::communicator::Communicator;
use super::message_memory::{PrepareError, map_filled};

/// Minimum size of a rank's part. OSU allocates one window for its largest message. MPICH 4.0.2
/// writes to the wrong address in windows of less than 16 bytes; a short C program reproduces that.
const MIN_WINDOW_BYTES: usize = 4096;

/// Memory that the other rank can access.
#[derive(Debug)]
pub(super) struct MpiWindow<'j, H: Handle> {
    comm: &'j Communicator<H>,
    handle: H,
    /// Group of the other rank, for post and start.
    group: H,
    peer: c_int,
    /// Displacement of the other rank's memory: its address in a dynamic window, otherwise 0.
    displacement: isize,
    pub(super) synchronization: RmaSynchronization,
    /// Whether other ranks' locks wait for this one.
    is_exclusive: bool,
    pub(super) base: *mut u8,
    /// The memory, unless the library allocated it.
    _own: Option<Mapping>,
}

/// Arguments of a one-sided operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct RemoteArguments<H> {
    pub(super) operation: RemoteOperation,
    pub(super) send: *const u8,
    pub(super) receive: *mut u8,
    /// Bytes from one slot to the next.
    pub(super) bytes: usize,
    pub(super) count: c_int,
    pub(super) element: H,
}

impl<'j, H: Handle> MpiWindow<'j, H> {
    /// Creates the window; both ranks together.
    pub(super) fn new(
        comm: &'j Communicator<H>,
        bytes: usize,
        creation: WindowCreation,
        (synchronization, is_exclusive): (RmaSynchronization, bool),
    ) -> Result<Self, PrepareError> {
        let length = bytes.max(MIN_WINDOW_BYTES);
        let own = match creation {
            WindowCreation::Allocate => None,
            WindowCreation::Create | WindowCreation::Dynamic => Some(map_filled(length, b'b')?),
        };
        let mut window = Self {
            comm,
            handle: H::default(),
            group: H::default(),
            peer: 1 - comm.rank.min(1),
            displacement: 0,
            synchronization,
            is_exclusive,
            base: own.as_ref().map_or(ptr::null_mut(), Mapping::as_ptr),
            _own: own,
        };
        window.create(creation, length).map_err(PrepareError::Call)?;
        window.find_group().map_err(PrepareError::Call)?;
        // SAFETY: the window has `length` bytes; no rank accesses them before the next barrier.
        unsafe { window.base.write_bytes(b'b', length) };
        Ok(window)
    }

    fn create(&mut self, creation: WindowCreation, length: usize) -> MpiResult {
        let Communicator { calls, constants: names, .. } = self.comm;
        let (info, world, size) = (names.null_info, names.world, length as isize);
        match creation {
            WindowCreation::Allocate => {
                let mut own: *mut c_void = ptr::null_mut();
                // SAFETY: an address and a handle to be written.
                check_call("MPI_Win_allocate", unsafe {
                    let address = (&raw mut own).cast();
                    (calls.win_allocate)(size, 1, info, world, address, &raw mut self.handle)
                })?;
                self.base = own.cast();
            }
            // SAFETY: `length` bytes that stay as long as the window, and a handle to be written.
            WindowCreation::Create => check_call("MPI_Win_create", unsafe {
                let base = self.base.cast();
                (calls.win_create)(base, size, 1, info, world, &raw mut self.handle)
            })?,
            WindowCreation::Dynamic => {
                // SAFETY: a handle to be written.
                check_call("MPI_Win_create_dynamic", unsafe {
                    (calls.win_create_dynamic)(info, world, &raw mut self.handle)
                })?;
                // SAFETY: `length` bytes that stay as long as the window.
                check_call("MPI_Win_attach", unsafe {
                    (calls.win_attach)(self.handle, self.base.cast(), size)
                })?;
                self.displacement = self.exchange_addresses()?;
            }
        }
        // SAFETY: the window was created above.
        check_call("MPI_Win_set_errhandler", unsafe {
            (calls.set_window_errhandler)(self.handle, names.errors_return)
        })
    }

    /// Returns the address of the other rank's memory.
    fn exchange_addresses(&self) -> MpiResult<isize> {
        let own = self.base.expose_provenance().to_le_bytes();
        let all = self.comm.all_gather(&own)?;
        let other = all.get(self.peer as usize).and_then(|it| it.as_slice().try_into().ok());
        Ok(other.map_or(0, usize::from_le_bytes).cast_signed())
    }

    fn find_group(&mut self) -> MpiResult {
        let Communicator { calls, constants: names, .. } = self.comm;
        let mut all = H::default();
        // SAFETY: a handle to be written.
        check_call("MPI_Comm_group", unsafe {
            (calls.communicator_group)(names.world, &raw mut all)
        })?;
        // SAFETY: one rank of the group, and a handle to be written.
        check_call("MPI_Group_incl", unsafe {
            (calls.group_include)(all, 1, &raw const self.peer, &raw mut self.group)
        })?;
        // SAFETY: the group was created above and is not needed any more.
        check_call("MPI_Group_free", unsafe { (calls.group_free)(&raw mut all) })
    }

    /// Frees the window; both ranks together.
    pub(super) fn free(mut self) -> MpiResult {
        let calls = &self.comm.calls;
        // SAFETY: the handle is that of this window's group.
        check_call("MPI_Group_free", unsafe { (calls.group_free)(&raw mut self.group) })?;
        // SAFETY: the handle is that of this window, and no access is pending.
        check_call("MPI_Win_free", unsafe { (calls.win_free)(&raw mut self.handle) })
    }

    /// Locks the other rank's memory for all following turns, if the synchronisation flushes.
    pub(super) fn begin_passive(&self) -> MpiResult {
        if self.synchronization.is_flush() { self.lock(self.peer) } else { Ok(()) }
    }

    pub(super) fn end_passive(&self) -> MpiResult {
        if self.synchronization.is_flush() { self.unlock(self.peer) } else { Ok(()) }
    }

    /// Locks a rank's memory.
    pub(super) fn lock(&self, rank: c_int) -> MpiResult {
        let Communicator { calls, constants: names, .. } = self.comm;
        let kind = if self.is_exclusive { names.lock_exclusive } else { names.lock_shared };
        // SAFETY: a rank of the world and a window over the world.
        check_call("MPI_Win_lock", unsafe { (calls.win_lock)(kind, rank, 0, self.handle) })
    }

    pub(super) fn unlock(&self, rank: c_int) -> MpiResult {
        // SAFETY: locked before.
        check_call("MPI_Win_unlock", unsafe { (self.comm.calls.win_unlock)(rank, self.handle) })
    }

    /// Begins the accesses of one turn to the other rank's memory.
    #[inline(always)]
    pub(super) fn open_access(&self) -> MpiResult {
        let calls = &self.comm.calls;
        match self.synchronization {
            RmaSynchronization::Flush | RmaSynchronization::FlushLocal => Ok(()),
            RmaSynchronization::Lock => self.lock(self.peer),
            RmaSynchronization::LockAll => {
                // SAFETY: a window that is not locked.
                let code = unsafe { (calls.win_lock_all)(0, self.handle) };
                check_call("MPI_Win_lock_all", code)
            }
            // SAFETY: the group of the other rank, which exposes its memory.
            RmaSynchronization::Pscw => check_call("MPI_Win_start", unsafe {
                (calls.win_start)(self.group, 0, self.handle)
            }),
            RmaSynchronization::Fence => self.fence(),
        }
    }

    /// Completes the accesses of one turn.
    #[inline(always)]
    pub(super) fn close_access(&self) -> MpiResult {
        let calls = &self.comm.calls;
        match self.synchronization {
            // SAFETY: locked by `begin_passive`.
            RmaSynchronization::Flush => check_call("MPI_Win_flush", unsafe {
                (calls.win_flush)(self.peer, self.handle)
            }),
            // SAFETY: as above.
            RmaSynchronization::FlushLocal => check_call("MPI_Win_flush_local", unsafe {
                (calls.win_flush_local)(self.peer, self.handle)
            }),
            RmaSynchronization::Lock => self.unlock(self.peer),
            RmaSynchronization::LockAll => {
                // SAFETY: locked by `open_access`.
                let code = unsafe { (calls.win_unlock_all)(self.handle) };
                check_call("MPI_Win_unlock_all", code)
            }
            RmaSynchronization::Pscw => {
                // SAFETY: started by `open_access`.
                let code = unsafe { (calls.win_complete)(self.handle) };
                check_call("MPI_Win_complete", code)
            }
            RmaSynchronization::Fence => self.fence(),
        }
    }

    /// Lets the other rank access this rank's memory for one turn, and waits for its end.
    #[inline(always)]
    pub(super) fn expose(&self) -> MpiResult {
        match self.synchronization {
            RmaSynchronization::Pscw => {
                self.open_exposure()?;
                self.close_exposure()
            }
            RmaSynchronization::Fence => self.fence(),
            // A passive target takes no part.
            _ => Ok(()),
        }
    }

    /// Takes part in a turn in which the other rank alone accesses memory.
    #[inline(always)]
    pub(super) fn accept(&self) -> MpiResult {
        if self.synchronization == RmaSynchronization::Fence {
            self.fence()?;
        }
        self.expose()
    }

    #[inline(always)]
    pub(super) fn open_exposure(&self) -> MpiResult {
        if self.synchronization != RmaSynchronization::Pscw {
            return Ok(());
        }
        // SAFETY: the group of the other rank.
        check_call("MPI_Win_post", unsafe {
            (self.comm.calls.win_post)(self.group, 0, self.handle)
        })
    }

    #[inline(always)]
    pub(super) fn close_exposure(&self) -> MpiResult {
        if self.synchronization != RmaSynchronization::Pscw {
            return Ok(());
        }
        // SAFETY: posted by `open_exposure`.
        check_call("MPI_Win_wait", unsafe { (self.comm.calls.win_wait)(self.handle) })
    }

    #[inline(always)]
    fn fence(&self) -> MpiResult {
        // SAFETY: both ranks call it.
        check_call("MPI_Win_fence", unsafe { (self.comm.calls.win_fence)(0, self.handle) })
    }

    /// Starts the operation of one slot.
    ///
    /// # Safety
    /// The memory of the slot must be ours until the next synchronisation, and accesses must be
    /// open.
    #[inline(always)]
    pub(super) unsafe fn run(&self, it: &RemoteArguments<H>, slot: usize) -> MpiResult {
        let Communicator { calls, constants: names, .. } = self.comm;
        let offset = slot * it.bytes;
        let (send, receive) =
            (it.send.wrapping_add(offset).cast(), it.receive.wrapping_add(offset).cast());
        let at = self.displacement.wrapping_add_unsigned(offset);
        let (count, element, peer, win) = (it.count, it.element, self.peer, self.handle);
        // SAFETY, here and below: guaranteed by the caller; the peer's memory has the slot, too.
        match it.operation {
            // SAFETY: see above.
            RemoteOperation::Put => check_call("MPI_Put", unsafe {
                (calls.put)(send, count, element, peer, at, count, element, win)
            }),
            // SAFETY: see above.
            RemoteOperation::Get => check_call("MPI_Get", unsafe {
                (calls.get)(receive, count, element, peer, at, count, element, win)
            }),
            // SAFETY: see above.
            RemoteOperation::Accumulate => check_call("MPI_Accumulate", unsafe {
                let sum = names.sum;
                (calls.accumulate)(send, count, element, peer, at, count, element, sum, win)
            }),
            // SAFETY: see above.
            RemoteOperation::GetAccumulate => check_call("MPI_Get_accumulate", unsafe {
                (calls.get_accumulate)(
                    send, count, element, receive, count, element, peer, at, count, element,
                    names.sum, win,
                )
            }),
            // SAFETY: see above.
            RemoteOperation::FetchAndOp => check_call("MPI_Fetch_and_op", unsafe {
                (calls.fetch_and_op)(send, receive, element, peer, at, names.sum, win)
            }),
            RemoteOperation::CompareAndSwap => {
                // The value to compare with follows the new one.
                let compared = it.send.wrapping_add(it.bytes).cast();
                // SAFETY: see above.
                check_call("MPI_Compare_and_swap", unsafe {
                    (calls.compare_and_swap)(send, compared, receive, element, peer, at, win)
                })
            }
        }
    }
}
