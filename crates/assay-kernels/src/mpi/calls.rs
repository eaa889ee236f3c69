//! Functions of an MPI library as a table, one per width of a handle.
//!
//! A call through the table is one indirect call, like a compiled program's call through its
//! procedure linkage table. Never names a constant: those are in [`super::abi`].

use std::ffi::{c_char, c_double, c_int, c_void};

use crate::library::SharedLibrary;

use super::abi::Handle;

/// MPI call that returned an error.
#[derive(Debug, Clone, Copy)]
pub(super) struct MpiCallError {
    pub(super) call: &'static str,
    pub(super) code: c_int,
}

pub(super) type MpiResult<T = ()> = Result<T, MpiCallError>;

/// Converts a return code to a result; 0 is success in all three ABIs.
#[inline(always)]
pub(super) fn check_call(call: &'static str, code: c_int) -> MpiResult {
    if code == 0 { Ok(()) } else { Err(MpiCallError { call, code }) }
}

/// Declares the table and its loader: field, name in the library, arguments.
macro_rules! table {
    ($($field:ident = $name:literal ($($argument:ty),*) -> $result:ty;)*) => {
        /// Functions of one library; `H` is its handle type.
        #[derive(Debug, Clone, Copy)]
        pub(super) struct MpiCalls<H: Handle> {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl<H: Handle> MpiCalls<H> {
            /// Looks up all functions. The error is the name of the first missing one.
            ///
            /// # Safety
            /// `H` must be the handle of the library's binary interface.
            pub(super) unsafe fn load(library: &SharedLibrary) -> Result<Self, &'static str> {
                Ok(Self {
                    // SAFETY: the standard gives this name these arguments, and the caller
                    // guarantees the width of the handles.
                    $($field: unsafe { library.load_function(&[$name]) }?,)*
                })
            }
        }
    };
}

type SendPtr = *const c_void;
type ReceivePtr = *mut c_void;

table! {
    init = "MPI_Init"(*mut c_int, *mut c_void) -> c_int;
    finalize = "MPI_Finalize"() -> c_int;
    abort = "MPI_Abort"(H, c_int) -> c_int;
    set_errhandler = "MPI_Comm_set_errhandler"(H, H) -> c_int;
    error_string = "MPI_Error_string"(c_int, *mut c_char, *mut c_int) -> c_int;
    rank = "MPI_Comm_rank"(H, *mut c_int) -> c_int;
    size = "MPI_Comm_size"(H, *mut c_int) -> c_int;
    wtime = "MPI_Wtime"() -> c_double;
    send = "MPI_Send"(SendPtr, c_int, H, c_int, c_int, H) -> c_int;
    receive = "MPI_Recv"(ReceivePtr, c_int, H, c_int, c_int, H, *mut c_void) -> c_int;
    isend = "MPI_Isend"(SendPtr, c_int, H, c_int, c_int, H, *mut H) -> c_int;
    ireceive = "MPI_Irecv"(ReceivePtr, c_int, H, c_int, c_int, H, *mut H) -> c_int;
    test = "MPI_Test"(*mut H, *mut c_int, *mut c_void) -> c_int;
    wait = "MPI_Wait"(*mut H, *mut c_void) -> c_int;
    wait_all = "MPI_Waitall"(c_int, *mut H, *mut c_void) -> c_int;
    barrier = "MPI_Barrier"(H) -> c_int;
    broadcast = "MPI_Bcast"(ReceivePtr, c_int, H, c_int, H) -> c_int;
    reduce = "MPI_Reduce"(SendPtr, ReceivePtr, c_int, H, H, c_int, H) -> c_int;
    all_reduce = "MPI_Allreduce"(SendPtr, ReceivePtr, c_int, H, H, H) -> c_int;
    all_gather = "MPI_Allgather"(SendPtr, c_int, H, ReceivePtr, c_int, H, H) -> c_int;
    all_to_all = "MPI_Alltoall"(SendPtr, c_int, H, ReceivePtr, c_int, H, H) -> c_int;
    gather = "MPI_Gather"(SendPtr, c_int, H, ReceivePtr, c_int, H, c_int, H) -> c_int;
    scatter = "MPI_Scatter"(SendPtr, c_int, H, ReceivePtr, c_int, H, c_int, H) -> c_int;
    ibarrier = "MPI_Ibarrier"(H, *mut H) -> c_int;
    ibroadcast = "MPI_Ibcast"(ReceivePtr, c_int, H, c_int, H, *mut H) -> c_int;
    ireduce = "MPI_Ireduce"(SendPtr, ReceivePtr, c_int, H, H, c_int, H, *mut H) -> c_int;
    iall_reduce = "MPI_Iallreduce"(SendPtr, ReceivePtr, c_int, H, H, H, *mut H) -> c_int;
    iall_gather = "MPI_Iallgather"(SendPtr, c_int, H, ReceivePtr, c_int, H, H, *mut H) -> c_int;
    iall_to_all = "MPI_Ialltoall"(SendPtr, c_int, H, ReceivePtr, c_int, H, H, *mut H) -> c_int;
    igather = "MPI_Igather"(SendPtr, c_int, H, ReceivePtr, c_int, H, c_int, H, *mut H) -> c_int;
    iscatter = "MPI_Iscatter"(SendPtr, c_int, H, ReceivePtr, c_int, H, c_int, H, *mut H) -> c_int;
    win_allocate = "MPI_Win_allocate"(isize, c_int, H, H, *mut c_void, *mut H) -> c_int;
    win_free = "MPI_Win_free"(*mut H) -> c_int;
    win_lock = "MPI_Win_lock"(c_int, c_int, c_int, H) -> c_int;
    win_unlock = "MPI_Win_unlock"(c_int, H) -> c_int;
    win_flush = "MPI_Win_flush"(c_int, H) -> c_int;
    put = "MPI_Put"(SendPtr, c_int, H, c_int, isize, c_int, H, H) -> c_int;
    get = "MPI_Get"(ReceivePtr, c_int, H, c_int, isize, c_int, H, H) -> c_int;
}
