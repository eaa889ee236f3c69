//! The three ABIs of MPI libraries: detection before initialisation, and the values of the
//! constants of `mpi.h` in each.
//!
//! The functions are the same everywhere. The width of a handle and the values of the constants
//! differ. Both are known once the library is open, so that no timed loop contains a decision.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use crate::library::SharedLibrary;

/// ABI of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// MPICH's, since 3.1: handles are 32-bit integers. Also used by Intel MPI, MVAPICH and Cray
    /// MPICH.
    Mpich,
    /// Open MPI's: handles are addresses of objects in the library.
    OpenMpi,
    /// ABI of the MPI 5 standard: handles have the width of a pointer and fixed small values.
    Standard,
}

/// Handle of a communicator, type, operation, request or window, as it is passed to a function.
pub(super) trait Handle: Copy + Default + std::fmt::Debug + 'static {}
impl Handle for c_int {}
// A pointer-wide integer, passed like a pointer; only the library dereferences it.
impl Handle for usize {}

/// Values of the constants of `mpi.h` that are used here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constants<H> {
    pub(super) world: H,
    pub(super) char: H,
    pub(super) int: H,
    pub(super) float: H,
    pub(super) double: H,
    pub(super) uint64: H,
    pub(super) sum: H,
    pub(super) min: H,
    pub(super) max: H,
    pub(super) null_info: H,
    pub(super) errors_return: H,
    pub(super) status_ignore: *mut c_void,
    pub(super) lock_exclusive: c_int,
    pub(super) lock_shared: c_int,
    pub(super) thread_multiple: c_int,
}

type AbiVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;

/// Detects the ABI of an open library. Allowed before `MPI_Init`, and the same result on every
/// rank.
///
/// Exporting `MPI_Abi_get_version` does not suffice for the standard ABI; the function must also
/// return a version. The native libraries of MPICH 5 and Intel MPI have the function and return −1.
pub(super) fn detect(library: &SharedLibrary) -> Abi {
    if let Some(function) = library.symbol(c"MPI_Abi_get_version") {
        // SAFETY: the standard gives this name this signature.
        let get = unsafe { std::mem::transmute::<*const (), AbiVersion>(function) };
        let (mut major, mut minor) = (-1, -1);
        // SAFETY: two integers to be written; the standard allows the call at any time.
        let code = unsafe { get(&raw mut major, &raw mut minor) };
        if code == 0 && major >= 1 {
            return Abi::Standard;
        }
    }
    match library.symbol(c"ompi_mpi_comm_world") {
        Some(_) => Abi::OpenMpi,
        None => Abi::Mpich,
    }
}

/// Values of MPICH's `mpi.h`, unchanged since 3.1 by its ABI initiative.
pub(super) const MPICH: Constants<c_int> = Constants {
    world: 0x4400_0000,
    char: 0x4c00_0101,
    int: 0x4c00_0405,
    float: 0x4c00_040a,
    double: 0x4c00_080b,
    uint64: 0x4c00_083e,
    sum: 0x5800_0003,
    min: 0x5800_0002,
    max: 0x5800_0001,
    null_info: 0x1c00_0000,
    errors_return: 0x5400_0001,
    status_ignore: ptr::without_provenance_mut(1),
    lock_exclusive: 234,
    lock_shared: 235,
    thread_multiple: 3,
};

/// Values of the MPI 5.0 standard, chapter "Application Binary Interface".
pub(super) const STANDARD: Constants<usize> = Constants {
    world: 0x101,
    char: 0x243,
    int: 0x209,
    float: 0x210,
    double: 0x214,
    uint64: 0x259,
    sum: 0x21,
    min: 0x22,
    max: 0x23,
    null_info: 0x130,
    errors_return: 0x143,
    status_ignore: ptr::null_mut(),
    lock_exclusive: 301,
    lock_shared: 302,
    thread_multiple: 4096,
};

/// Looks up the addresses of Open MPI's objects, by the names in its `mpi.h` since 1.3. The error
/// is the missing name.
pub(super) fn open_mpi(library: &SharedLibrary) -> Result<Constants<usize>, &'static str> {
    let address = |name: &'static CStr| -> Result<usize, &'static str> {
        let missing = name.to_str().unwrap_or("an object");
        library.symbol(name).map(|address| address.expose_provenance()).ok_or(missing)
    };
    Ok(Constants {
        world: address(c"ompi_mpi_comm_world")?,
        char: address(c"ompi_mpi_char")?,
        int: address(c"ompi_mpi_int")?,
        float: address(c"ompi_mpi_float")?,
        double: address(c"ompi_mpi_double")?,
        uint64: address(c"ompi_mpi_uint64_t")?,
        sum: address(c"ompi_mpi_op_sum")?,
        min: address(c"ompi_mpi_op_min")?,
        max: address(c"ompi_mpi_op_max")?,
        null_info: address(c"ompi_mpi_info_null")?,
        errors_return: address(c"ompi_mpi_errors_return")?,
        status_ignore: ptr::null_mut(),
        lock_exclusive: 1,
        lock_shared: 2,
        thread_multiple: 3,
    })
}
