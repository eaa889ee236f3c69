//! File names of the libraries of each make of MPI, in the order to try them.

use super::launcher_env::MpiMake;

/// MVAPICH from version 3 on, whose sources set the version of the interface to 0.
pub const MVAPICH: &str = "libmpi.so.0";
/// MPICH and its derivatives: upstream's name, Debian's, Cray's first, and MVAPICH's.
const MPICH: &[&str] = &["libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12", MVAPICH];
/// Open MPI from version 2 on.
const OPEN_MPI: &[&str] = &["libmpi.so.40", "libmpi.so.20"];
/// Standard ABI; tried after the names of a make.
const STANDARD: &[&str] = &["libmpi_abi.so.1"];

/// Returns the library names of one make.
pub fn names_of_make(make: MpiMake) -> Vec<&'static str> {
    match make {
        MpiMake::Mpich => [MPICH, STANDARD].concat(),
        MpiMake::OpenMpi => [OPEN_MPI, STANDARD].concat(),
        MpiMake::Any => [MPICH, OPEN_MPI, STANDARD].concat(),
    }
}
