//! MPI library that is open: its ABI, its functions and its version.

use std::ffi::{c_char, c_int};

use assay_model::benchmark::MpiBenchmarkKind;

use crate::c_text::text_until_nul;
use crate::library::{self, SharedLibrary, SymbolScope};

use super::abi::{self, Abi};
use super::calls::{MpiCallError, MpiCalls, PersistentCollectiveCalls};
use super::communicator::Communicator;
use super::process_set::ProcessSetCalls;
use super::{Inner, MpiError, MpiWorld};

/// Buffer size for a library's name; the longest `MPI_MAX_LIBRARY_VERSION_STRING` is 8192, in
/// MPICH.
const BANNER_BYTES: usize = 16 << 10;

/// MPI library that is open and not yet initialised.
#[derive(Debug)]
pub struct LoadedMpi {
    path: String,
    abi: Abi,
    banner: String,
    standard: (i32, i32),
    table: CallTable,
    process_sets: Option<ProcessSets>,
}

/// Functions and constants, by the width of a handle.
#[derive(Debug)]
enum CallTable {
    Narrow(MpiCalls<c_int>, abi::Constants<c_int>, OptionalCalls<c_int>),
    Wide(MpiCalls<usize>, abi::Constants<usize>, OptionalCalls<usize>),
}

/// Functions of persistent collectives, or the name of the first one that is missing.
type OptionalCalls<H> = Result<PersistentCollectiveCalls<H>, &'static str>;

/// Functions for MPI sessions, if the library has them.
#[derive(Debug)]
enum ProcessSets {
    Narrow(ProcessSetCalls<c_int>),
    Wide(ProcessSetCalls<usize>),
}

impl LoadedMpi {
    /// Opens a library by path, or by a name that the loader searches for. Does not initialise it.
    ///
    /// # Errors
    /// [`MpiError::Open`] and [`MpiError::Symbol`].
    pub fn open(file: &str) -> Result<Self, MpiError> {
        // Open MPI before 3.0 opens plug-ins that expect to find its symbols.
        let library = SharedLibrary::open(file, SymbolScope::Global)
            .map_err(|reason| MpiError::Open { path: file.to_owned(), reason })?;
        let missing = |missing| MpiError::Symbol { path: file.to_owned(), missing };
        let first = library.symbol(c"MPI_Init").ok_or(missing("MPI_Init"))?;
        let abi = abi::detect(&library);
        let table = match abi {
            // SAFETY: handles of this interface are 32-bit integers.
            Abi::Mpich => unsafe { load_calls(&library) }
                .map(|(calls, persistent)| CallTable::Narrow(calls, abi::MPICH, persistent)),
            // SAFETY: handles of this interface are pointers.
            Abi::OpenMpi => unsafe { load_calls(&library) }.and_then(|(calls, persistent)| {
                abi::open_mpi(&library).map(|names| CallTable::Wide(calls, names, persistent))
            }),
            // SAFETY: as above.
            Abi::Standard => unsafe { load_calls(&library) }
                .map(|(calls, persistent)| CallTable::Wide(calls, abi::STANDARD, persistent)),
        }
        .map_err(missing)?;
        Ok(Self {
            path: library::containing_file(first).unwrap_or_else(|| file.to_owned()),
            abi,
            banner: banner(&library).ok_or(missing("MPI_Get_library_version"))?,
            standard: standard(&library).ok_or(missing("MPI_Get_version"))?,
            table,
            process_sets: process_sets(&library, abi),
        })
    }

    /// Returns the file that the functions come from.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the library's ABI.
    pub fn abi(&self) -> Abi {
        self.abi
    }

    /// Returns the library's version string.
    pub fn banner(&self) -> &str {
        &self.banner
    }

    /// Returns the version of the MPI standard that the library implements: major and minor.
    pub fn standard(&self) -> (i32, i32) {
        self.standard
    }

    /// Checks that the library has the functions of a benchmark.
    ///
    /// # Errors
    /// [`MpiError::Unsupported`] if the library implements an older standard.
    pub fn check_support(&self, kind: MpiBenchmarkKind) -> Result<(), MpiError> {
        let persistent = match &self.table {
            CallTable::Narrow(_, _, persistent) => persistent.as_ref().err(),
            CallTable::Wide(_, _, persistent) => persistent.as_ref().err(),
        };
        match (kind, persistent) {
            (MpiBenchmarkKind::PersistentCollective(_), Some(missing)) => {
                Err(MpiError::Unsupported { path: self.path.clone(), missing })
            }
            _ => Ok(()),
        }
    }

    /// Initialises the library. Once per process, by its only thread.
    ///
    /// # Errors
    /// [`MpiError::Call`]; most libraries end the process instead.
    pub fn start(&self) -> Result<MpiWorld, MpiError> {
        let failed = start_error;
        Ok(MpiWorld(match &self.table {
            CallTable::Narrow(calls, names, persistent) => {
                Inner::Narrow(Communicator::start(*calls, *names, *persistent).map_err(failed)?)
            }
            CallTable::Wide(calls, names, persistent) => {
                Inner::Wide(Communicator::start(*calls, *names, *persistent).map_err(failed)?)
            }
        }))
    }

    /// Initialises the library for several threads. Once per process.
    ///
    /// # Errors
    /// [`MpiError::OneThread`] if the library does not support them, and [`MpiError::Call`].
    pub fn start_threaded(&self) -> Result<MpiWorld, MpiError> {
        let failed = start_error;
        let world = match &self.table {
            CallTable::Narrow(calls, names, persistent) => {
                Communicator::start_threaded(*calls, *names, *persistent)
                    .map_err(failed)?
                    .map(Inner::Narrow)
            }
            CallTable::Wide(calls, names, persistent) => {
                Communicator::start_threaded(*calls, *names, *persistent)
                    .map_err(failed)?
                    .map(Inner::Wide)
            }
        };
        world.map(MpiWorld).ok_or_else(|| MpiError::OneThread { path: self.path.clone() })
    }

    /// Initialises the library by an MPI 4 session instead of `MPI_Init`.
    ///
    /// # Errors
    /// [`MpiError::Symbol`] if the library is older, and [`MpiError::Call`].
    pub fn start_session(&self) -> Result<MpiWorld, MpiError> {
        let failed = start_error;
        Ok(MpiWorld(match (&self.table, &self.process_sets) {
            (
                CallTable::Narrow(calls, names, persistent),
                Some(ProcessSets::Narrow(process_set)),
            ) => Inner::Narrow(
                Communicator::start_session(*calls, *names, *persistent, *process_set)
                    .map_err(failed)?,
            ),
            (
                CallTable::Wide(calls, names, persistent),
                Some(ProcessSets::Wide(process_set)),
            ) => Inner::Wide(
                Communicator::start_session(*calls, *names, *persistent, *process_set)
                    .map_err(failed)?,
            ),
            _ => {
                let path = self.path.clone();
                return Err(MpiError::Symbol { path, missing: "MPI_Session_init" });
            }
        }))
    }
}

fn start_error(refused: MpiCallError) -> MpiError {
    MpiError::Call { call: refused.call, text: format!("code {}", refused.code) }
}

/// Looks up the functions that every library has, and those of persistent collectives. The error is
/// the name of the first function that a library of MPI 3 lacks.
///
/// # Safety
/// `H` must be the handle of the library's binary interface.
unsafe fn load_calls<H: abi::Handle>(
    library: &SharedLibrary,
) -> Result<(MpiCalls<H>, OptionalCalls<H>), &'static str> {
    // SAFETY: guaranteed by the caller.
    let calls = unsafe { MpiCalls::load(library) }?;
    // SAFETY: as above.
    let persistent = unsafe { PersistentCollectiveCalls::load(library) };
    Ok((calls, persistent))
}

/// Looks up the functions for sessions; `None` if the library lacks them.
fn process_sets(library: &SharedLibrary, abi: Abi) -> Option<ProcessSets> {
    if abi == Abi::Mpich {
        // SAFETY: handles of this interface are 32-bit integers.
        let calls = unsafe { ProcessSetCalls::load(library) };
        return calls.map(ProcessSets::Narrow);
    }
    // SAFETY: handles of the other two interfaces are pointers.
    let calls = unsafe { ProcessSetCalls::load(library) };
    calls.map(ProcessSets::Wide)
}

/// Returns the library's version string; allowed before initialisation.
fn banner(library: &SharedLibrary) -> Option<String> {
    type Fill = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    let function = library.symbol(c"MPI_Get_library_version")?;
    // SAFETY: the standard gives this name this signature.
    let fill = unsafe { std::mem::transmute::<*const (), Fill>(function) };
    let mut text = vec![0_u8; BANNER_BYTES];
    let mut length = 0;
    // SAFETY: more room than any library writes, and an integer to be written.
    if unsafe { fill(text.as_mut_ptr().cast(), &raw mut length) } != 0 {
        return None;
    }
    Some(text_until_nul(&text).trim().to_owned())
}

/// Returns the version of the MPI standard; allowed before initialisation.
fn standard(library: &SharedLibrary) -> Option<(i32, i32)> {
    type Get = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    let function = library.symbol(c"MPI_Get_version")?;
    // SAFETY: the standard gives this name this signature.
    let get = unsafe { std::mem::transmute::<*const (), Get>(function) };
    let (mut major, mut minor) = (0, 0);
    // SAFETY: two integers to be written.
    let code = unsafe { get(&raw mut major, &raw mut minor) };
    (code == 0).then_some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_files_that_are_not_mpi() {
        for (file, expected) in [
            ("", "the name is empty"),
            ("/nonexistent/libmpi.so", "/nonexistent/libmpi.so"),
            ("libc.so.6", "not a usable MPI library: it lacks MPI_Init"),
        ] {
            let message = LoadedMpi::open(file).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
