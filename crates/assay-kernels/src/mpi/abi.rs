//! The three binary interfaces of MPI: how to distinguish them before anything is initialised, and what
//! the names of `mpi.h` stand for in each.
//!
//! The functions are the same everywhere. What differs is the width of a handle and the values of the
//! constants; both are known once the library is open, so that nothing is decided inside a timed loop.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use crate::library::Library;

/// Which binary interface a library has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// MPICH's, since 3.1: handles are 32-bit integers. Intel MPI, MVAPICH and Cray MPICH share it.
    Mpich,
    /// Open MPI's: handles are addresses of objects in the library.
    OpenMpi,
    /// The one of the MPI 5 standard: handles have the width of a pointer and fixed small values.
    Standard,
}

/// A handle as it is passed: to a communicator, a type, an operation, a request, a window.
pub(super) trait Handle: Copy + Default + std::fmt::Debug + 'static {}
impl Handle for c_int {}
// As wide as a pointer, and passed like one; what it points to is the library's own business.
impl Handle for usize {}

/// What the names of `mpi.h` that are used here stand for.
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
    pub(super) lock_shared: c_int,
}

type AbiVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;

/// The interface of an open library. Allowed before `MPI_Init`, and the same answer on every rank.
///
/// A library that exports `MPI_Abi_get_version` follows the standard interface only if it also answers
/// with a version: the native libraries of MPICH 5 and Intel MPI have the function and say −1.
pub(super) fn detect(library: &Library) -> Abi {
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
    lock_shared: 235,
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
    lock_shared: 302,
};

/// Addresses of Open MPI's objects, by the names its `mpi.h` uses since 1.3; the missing name otherwise.
pub(super) fn open_mpi(library: &Library) -> Result<Constants<usize>, &'static str> {
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
        lock_shared: 2,
    })
}
