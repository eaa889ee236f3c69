//! The file names under which each make of MPI has its library, in the order to try them.

use super::launched::Make;

/// MVAPICH's from version 3 on, whose sources set the version of the interface to 0.
pub const MVAPICH: &str = "libmpi.so.0";
/// MPICH's kin: everybody's, Debian's, the first of Cray's, and MVAPICH's.
const MPICH: &[&str] = &["libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12", MVAPICH];
/// Open MPI's, from version 2 on.
const OPEN_MPI: &[&str] = &["libmpi.so.40", "libmpi.so.20"];
/// The standard interface: what remains when there is none of its maker's own.
const STANDARD: &[&str] = &["libmpi_abi.so.1"];

/// The names of one make's libraries.
pub fn of(make: Make) -> Vec<&'static str> {
    match make {
        Make::Mpich => [MPICH, STANDARD].concat(),
        Make::OpenMpi => [OPEN_MPI, STANDARD].concat(),
        Make::Any => [MPICH, OPEN_MPI, STANDARD].concat(),
    }
}
