//! Initialisation of MPI by a session, new in MPI 4: a communicator is created from the processes
//! that the session names. Measurements are the same afterwards; libraries may set up less.

use std::ffi::{CStr, c_char, c_int};

use crate::library::SharedLibrary;

use super::abi::{Constants, Handle};
use super::calls::{MpiResult, check_call};

/// Standard name of the set of all processes started together.
const WORLD: &CStr = c"mpi://WORLD";
/// Distinguishes this communicator from others of the same processes.
const TAG: &CStr = c"assay";

type Init<H> = unsafe extern "C" fn(H, H, *mut H) -> c_int;
type Group<H> = unsafe extern "C" fn(H, *const c_char, *mut H) -> c_int;
type Create<H> = unsafe extern "C" fn(H, *const c_char, H, H, *mut H) -> c_int;
type Free<H> = unsafe extern "C" fn(*mut H) -> c_int;

/// Functions for MPI sessions.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessSetCalls<H: Handle> {
    init: Init<H>,
    group: Group<H>,
    create: Create<H>,
    free_group: Free<H>,
    free_communicator: Free<H>,
    finalize: Free<H>,
}

impl<H: Handle> ProcessSetCalls<H> {
    /// Looks up the functions; `None` if the library is older than MPI 4.
    ///
    /// # Safety
    /// `H` must be the handle of the library's binary interface.
    pub(super) unsafe fn load(library: &SharedLibrary) -> Option<Self> {
        let free = |name: &CStr| {
            // SAFETY: the standard gives these names this signature.
            Some(unsafe { std::mem::transmute::<*const (), Free<H>>(library.symbol(name)?) })
        };
        let init = library.symbol(c"MPI_Session_init")?;
        let group = library.symbol(c"MPI_Group_from_session_pset")?;
        let create = library.symbol(c"MPI_Comm_create_from_group")?;
        Some(Self {
            // SAFETY: the standard gives this name this signature.
            init: unsafe { std::mem::transmute::<*const (), Init<H>>(init) },
            // SAFETY: as above.
            group: unsafe { std::mem::transmute::<*const (), Group<H>>(group) },
            // SAFETY: as above.
            create: unsafe { std::mem::transmute::<*const (), Create<H>>(create) },
            free_group: free(c"MPI_Group_free")?,
            free_communicator: free(c"MPI_Comm_free")?,
            finalize: free(c"MPI_Session_finalize")?,
        })
    }
}

/// Session and the communicator of all its processes.
#[derive(Debug)]
pub(super) struct ProcessSet<H: Handle> {
    calls: ProcessSetCalls<H>,
    handle: H,
    pub(super) world: H,
}

impl<H: Handle> ProcessSet<H> {
    /// Initialises the library; all ranks together.
    pub(super) fn start(calls: ProcessSetCalls<H>, names: &Constants<H>) -> MpiResult<Self> {
        let (mut handle, mut group, mut world) = (H::default(), H::default(), H::default());
        let (info, errors) = (names.null_info, names.errors_return);
        // SAFETY: handles of the library, and one to be written.
        check_call("MPI_Session_init", unsafe { (calls.init)(info, errors, &raw mut handle) })?;
        // SAFETY: as above, and a valid string.
        check_call("MPI_Group_from_session_pset", unsafe {
            (calls.group)(handle, WORLD.as_ptr(), &raw mut group)
        })?;
        // SAFETY: as above.
        check_call("MPI_Comm_create_from_group", unsafe {
            (calls.create)(group, TAG.as_ptr(), info, errors, &raw mut world)
        })?;
        // SAFETY: the group was created above and is not needed any more.
        check_call("MPI_Group_free", unsafe { (calls.free_group)(&raw mut group) })?;
        Ok(Self { calls, handle, world })
    }

    /// Finalises the library on all ranks.
    pub(super) fn finish(&self) -> MpiResult {
        let (mut world, mut handle) = (self.world, self.handle);
        // SAFETY: the communicator was created by this session, and no operation is pending.
        check_call("MPI_Comm_free", unsafe { (self.calls.free_communicator)(&raw mut world) })?;
        // SAFETY: the session was opened once, and all its objects are freed.
        check_call("MPI_Session_finalize", unsafe { (self.calls.finalize)(&raw mut handle) })
    }
}
