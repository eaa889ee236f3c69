//! Functions of an MPI library as a table, one per width of a handle.
//!
//! A call through the table is one indirect call, like a compiled program's call through its
//! procedure linkage table. Never names a constant: those are in [`super::abi`].

use std::ffi::{c_char, c_double, c_int, c_void};

use crate::library::SharedLibrary;

use super::abi::Handle;

/// Name of the system's call that starts a thread; the code of its error is the system's.
pub(super) const THREAD_START: &str = "pthread_create";

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
    ($(#[$doc:meta])* $table:ident; $($field:ident = $name:literal ($($argument:ty),*) -> $result:ty;)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(super) struct $table<H: Handle> {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl<H: Handle> $table<H> {
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
/// Counts or displacements of all ranks.
type Counts = *const c_int;
/// Displacements in bytes.
type Offsets = *const isize;

table! {
    /// Functions of one library; `H` is its handle type.
    MpiCalls;
    init = "MPI_Init"(*mut c_int, *mut c_void) -> c_int;
    init_thread = "MPI_Init_thread"(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int;
    finalize = "MPI_Finalize"() -> c_int;
    abort = "MPI_Abort"(H, c_int) -> c_int;
    set_errhandler = "MPI_Comm_set_errhandler"(H, H) -> c_int;
    set_window_errhandler = "MPI_Win_set_errhandler"(H, H) -> c_int;
    error_string = "MPI_Error_string"(c_int, *mut c_char, *mut c_int) -> c_int;
    rank = "MPI_Comm_rank"(H, *mut c_int) -> c_int;
    size = "MPI_Comm_size"(H, *mut c_int) -> c_int;
    wtime = "MPI_Wtime"() -> c_double;
    send = "MPI_Send"(SendPtr, c_int, H, c_int, c_int, H) -> c_int;
    receive = "MPI_Recv"(ReceivePtr, c_int, H, c_int, c_int, H, *mut c_void) -> c_int;
    isend = "MPI_Isend"(SendPtr, c_int, H, c_int, c_int, H, *mut H) -> c_int;
    ireceive = "MPI_Irecv"(ReceivePtr, c_int, H, c_int, c_int, H, *mut H) -> c_int;
    test = "MPI_Test"(*mut H, *mut c_int, *mut c_void) -> c_int;
    send_init = "MPI_Send_init"(SendPtr, c_int, H, c_int, c_int, H, *mut H) -> c_int;
    receive_init = "MPI_Recv_init"(ReceivePtr, c_int, H, c_int, c_int, H, *mut H) -> c_int;
    start = "MPI_Start"(*mut H) -> c_int;
    start_all = "MPI_Startall"(c_int, *mut H) -> c_int;
    request_free = "MPI_Request_free"(*mut H) -> c_int;
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
    reduce_scatter = "MPI_Reduce_scatter"(SendPtr, ReceivePtr, Counts, H, H, H) -> c_int;
    reduce_scatter_block = "MPI_Reduce_scatter_block"(SendPtr, ReceivePtr, c_int, H, H, H) -> c_int;
    all_gather_v = "MPI_Allgatherv"(SendPtr, c_int, H, ReceivePtr, Counts, Counts, H, H) -> c_int;
    all_to_all_v = "MPI_Alltoallv"(SendPtr, Counts, Counts, H, ReceivePtr, Counts, Counts, H, H) -> c_int;
    all_to_all_w = "MPI_Alltoallw"(SendPtr, Counts, Counts, *const H, ReceivePtr, Counts, Counts, *const H, H) -> c_int;
    gather_v = "MPI_Gatherv"(SendPtr, c_int, H, ReceivePtr, Counts, Counts, H, c_int, H) -> c_int;
    scatter_v = "MPI_Scatterv"(SendPtr, Counts, Counts, H, ReceivePtr, c_int, H, c_int, H) -> c_int;
    ireduce_scatter = "MPI_Ireduce_scatter"(SendPtr, ReceivePtr, Counts, H, H, H, *mut H) -> c_int;
    ireduce_scatter_block = "MPI_Ireduce_scatter_block"(SendPtr, ReceivePtr, c_int, H, H, H, *mut H) -> c_int;
    iall_gather_v = "MPI_Iallgatherv"(SendPtr, c_int, H, ReceivePtr, Counts, Counts, H, H, *mut H) -> c_int;
    iall_to_all_v = "MPI_Ialltoallv"(SendPtr, Counts, Counts, H, ReceivePtr, Counts, Counts, H, H, *mut H) -> c_int;
    iall_to_all_w = "MPI_Ialltoallw"(SendPtr, Counts, Counts, *const H, ReceivePtr, Counts, Counts, *const H, H, *mut H) -> c_int;
    igather_v = "MPI_Igatherv"(SendPtr, c_int, H, ReceivePtr, Counts, Counts, H, c_int, H, *mut H) -> c_int;
    iscatter_v = "MPI_Iscatterv"(SendPtr, Counts, Counts, H, ReceivePtr, c_int, H, c_int, H, *mut H) -> c_int;
    dims_create = "MPI_Dims_create"(c_int, c_int, *mut c_int) -> c_int;
    dist_graph_create_adjacent = "MPI_Dist_graph_create_adjacent"(H, c_int, Counts, Counts, c_int, Counts, Counts, H, c_int, *mut H) -> c_int;
    communicator_free = "MPI_Comm_free"(*mut H) -> c_int;
    neighbor_all_gather = "MPI_Neighbor_allgather"(SendPtr, c_int, H, ReceivePtr, c_int, H, H) -> c_int;
    neighbor_all_gather_v = "MPI_Neighbor_allgatherv"(SendPtr, c_int, H, ReceivePtr, Counts, Counts, H, H) -> c_int;
    neighbor_all_to_all = "MPI_Neighbor_alltoall"(SendPtr, c_int, H, ReceivePtr, c_int, H, H) -> c_int;
    neighbor_all_to_all_v = "MPI_Neighbor_alltoallv"(SendPtr, Counts, Counts, H, ReceivePtr, Counts, Counts, H, H) -> c_int;
    neighbor_all_to_all_w = "MPI_Neighbor_alltoallw"(SendPtr, Counts, Offsets, *const H, ReceivePtr, Counts, Offsets, *const H, H) -> c_int;
    ineighbor_all_gather = "MPI_Ineighbor_allgather"(SendPtr, c_int, H, ReceivePtr, c_int, H, H, *mut H) -> c_int;
    ineighbor_all_gather_v = "MPI_Ineighbor_allgatherv"(SendPtr, c_int, H, ReceivePtr, Counts, Counts, H, H, *mut H) -> c_int;
    ineighbor_all_to_all = "MPI_Ineighbor_alltoall"(SendPtr, c_int, H, ReceivePtr, c_int, H, H, *mut H) -> c_int;
    ineighbor_all_to_all_v = "MPI_Ineighbor_alltoallv"(SendPtr, Counts, Counts, H, ReceivePtr, Counts, Counts, H, H, *mut H) -> c_int;
    ineighbor_all_to_all_w = "MPI_Ineighbor_alltoallw"(SendPtr, Counts, Offsets, *const H, ReceivePtr, Counts, Offsets, *const H, H, *mut H) -> c_int;
    win_allocate = "MPI_Win_allocate"(isize, c_int, H, H, *mut c_void, *mut H) -> c_int;
    win_create = "MPI_Win_create"(*mut c_void, isize, c_int, H, H, *mut H) -> c_int;
    win_create_dynamic = "MPI_Win_create_dynamic"(H, H, *mut H) -> c_int;
    win_attach = "MPI_Win_attach"(H, *mut c_void, isize) -> c_int;
    win_free = "MPI_Win_free"(*mut H) -> c_int;
    win_lock = "MPI_Win_lock"(c_int, c_int, c_int, H) -> c_int;
    win_unlock = "MPI_Win_unlock"(c_int, H) -> c_int;
    win_flush = "MPI_Win_flush"(c_int, H) -> c_int;
    win_flush_local = "MPI_Win_flush_local"(c_int, H) -> c_int;
    win_lock_all = "MPI_Win_lock_all"(c_int, H) -> c_int;
    win_unlock_all = "MPI_Win_unlock_all"(H) -> c_int;
    win_fence = "MPI_Win_fence"(c_int, H) -> c_int;
    win_start = "MPI_Win_start"(H, c_int, H) -> c_int;
    win_complete = "MPI_Win_complete"(H) -> c_int;
    win_post = "MPI_Win_post"(H, c_int, H) -> c_int;
    win_wait = "MPI_Win_wait"(H) -> c_int;
    communicator_group = "MPI_Comm_group"(H, *mut H) -> c_int;
    group_include = "MPI_Group_incl"(H, c_int, *const c_int, *mut H) -> c_int;
    group_free = "MPI_Group_free"(*mut H) -> c_int;
    put = "MPI_Put"(SendPtr, c_int, H, c_int, isize, c_int, H, H) -> c_int;
    get = "MPI_Get"(ReceivePtr, c_int, H, c_int, isize, c_int, H, H) -> c_int;
    accumulate = "MPI_Accumulate"(SendPtr, c_int, H, c_int, isize, c_int, H, H, H) -> c_int;
    get_accumulate = "MPI_Get_accumulate"(SendPtr, c_int, H, ReceivePtr, c_int, H, c_int, isize, c_int, H, H, H) -> c_int;
    fetch_and_op = "MPI_Fetch_and_op"(SendPtr, ReceivePtr, H, c_int, isize, H, H) -> c_int;
    compare_and_swap = "MPI_Compare_and_swap"(SendPtr, SendPtr, ReceivePtr, H, c_int, isize, H) -> c_int;
}

table! {
    /// Functions that create the requests of persistent collectives, new in MPI 4.
    PersistentCollectiveCalls;
    barrier = "MPI_Barrier_init"(H, H, *mut H) -> c_int;
    broadcast = "MPI_Bcast_init"(ReceivePtr, c_int, H, c_int, H, H, *mut H) -> c_int;
    reduce = "MPI_Reduce_init"(SendPtr, ReceivePtr, c_int, H, H, c_int, H, H, *mut H) -> c_int;
    all_reduce = "MPI_Allreduce_init"(SendPtr, ReceivePtr, c_int, H, H, H, H, *mut H) -> c_int;
    all_gather = "MPI_Allgather_init"(SendPtr, c_int, H, ReceivePtr, c_int, H, H, H, *mut H) -> c_int;
    all_to_all = "MPI_Alltoall_init"(SendPtr, c_int, H, ReceivePtr, c_int, H, H, H, *mut H) -> c_int;
    gather = "MPI_Gather_init"(SendPtr, c_int, H, ReceivePtr, c_int, H, c_int, H, H, *mut H) -> c_int;
    scatter = "MPI_Scatter_init"(SendPtr, c_int, H, ReceivePtr, c_int, H, c_int, H, H, *mut H) -> c_int;
    reduce_scatter = "MPI_Reduce_scatter_init"(SendPtr, ReceivePtr, Counts, H, H, H, H, *mut H) -> c_int;
    reduce_scatter_block = "MPI_Reduce_scatter_block_init"(SendPtr, ReceivePtr, c_int, H, H, H, H, *mut H) -> c_int;
    all_gather_v = "MPI_Allgatherv_init"(SendPtr, c_int, H, ReceivePtr, Counts, Counts, H, H, H, *mut H) -> c_int;
    all_to_all_v = "MPI_Alltoallv_init"(SendPtr, Counts, Counts, H, ReceivePtr, Counts, Counts, H, H, H, *mut H) -> c_int;
    all_to_all_w = "MPI_Alltoallw_init"(SendPtr, Counts, Counts, *const H, ReceivePtr, Counts, Counts, *const H, H, H, *mut H) -> c_int;
    gather_v = "MPI_Gatherv_init"(SendPtr, c_int, H, ReceivePtr, Counts, Counts, H, c_int, H, H, *mut H) -> c_int;
    scatter_v = "MPI_Scatterv_init"(SendPtr, Counts, Counts, H, ReceivePtr, c_int, H, c_int, H, H, *mut H) -> c_int;
}
