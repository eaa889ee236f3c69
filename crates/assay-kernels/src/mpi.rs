//! MPI benchmarks with any MPI library: opened at run time, its ABI detected, its functions called
//! through a table.
//!
//! Building and starting this program requires no MPI. Two libraries are never open in one process,
//! because their symbols would conflict. This module neither searches for libraries nor starts
//! jobs: its input is a file, its output are plain numbers. The loops follow OSU's benchmarks: the
//! messages sent, the places of the clock readings, and the divisors.

use std::ffi::{c_char, c_int};
use std::io;

use crate::c_text::text_until_nul;
use crate::library::{self, SharedLibrary, SymbolScope};

mod abi;
mod benchmark_kind;
mod calls;
mod collective;
mod communicator;
mod contents;
mod one_sided;
mod pairs;
mod prepared_benchmark;
mod process_set;
mod timing;
mod window;

use calls::{MpiCallError, MpiCalls};
use communicator::Communicator;
use prepared_benchmark::PreparedBenchmark;
use process_set::ProcessSetCalls;

pub use abi::Abi;
pub use benchmark_kind::{
    Collective, ELEMENT_BYTES, MpiBenchmarkKind, ReductionElement, WindowBuffers,
};
pub use prepared_benchmark::{MpiBenchmarkRequest, MpiFigures, OverlapParts};
pub use timing::{MpiPass, Timing};

/// Buffer size for a library's name; the longest `MPI_MAX_LIBRARY_VERSION_STRING` is 8192, in
/// MPICH.
const BANNER_BYTES: usize = 16 << 10;

/// Reason for which an MPI library cannot be used for a measurement.
#[derive(Debug, thiserror::Error)]
pub enum MpiError {
    /// The file cannot be opened.
    #[error("cannot open the MPI library {path}: {reason}")]
    Open {
        /// The file.
        path: String,
        /// The loader's reason.
        reason: String,
    },
    /// The file is not an MPI library, or too old.
    #[error("{path} is not a usable MPI library: it lacks {missing}")]
    Symbol {
        /// The file.
        path: String,
        /// The missing function.
        missing: &'static str,
    },
    /// The library refused a call.
    #[error("{call} failed: {text}")]
    Call {
        /// The function.
        call: &'static str,
        /// The library's message.
        text: String,
    },
    /// The buffers exceed the memory or the library's `int` counts.
    #[error("cannot allocate memory for messages of {bytes} B")]
    Memory {
        /// Bytes of a message.
        bytes: usize,
        /// The system's reason.
        source: io::Error,
    },
}

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
    Narrow(MpiCalls<c_int>, abi::Constants<c_int>),
    Wide(MpiCalls<usize>, abi::Constants<usize>),
}

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
            Abi::Mpich => unsafe { MpiCalls::load(&library) }
                .map(|calls| CallTable::Narrow(calls, abi::MPICH)),
            // SAFETY: handles of this interface are pointers.
            Abi::OpenMpi => unsafe { MpiCalls::load(&library) }.and_then(|calls| {
                abi::open_mpi(&library).map(|names| CallTable::Wide(calls, names))
            }),
            // SAFETY: as above.
            Abi::Standard => unsafe { MpiCalls::load(&library) }
                .map(|calls| CallTable::Wide(calls, abi::STANDARD)),
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
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the library's ABI.
    #[must_use]
    pub fn abi(&self) -> Abi {
        self.abi
    }

    /// Returns the library's version string.
    #[must_use]
    pub fn banner(&self) -> &str {
        &self.banner
    }

    /// Returns the version of the MPI standard that the library implements: major and minor.
    #[must_use]
    pub fn standard(&self) -> (i32, i32) {
        self.standard
    }

    /// Initialises the library. Once per process, by its only thread.
    ///
    /// # Errors
    /// [`MpiError::Call`]; most libraries end the process instead.
    pub fn start(&self) -> Result<MpiWorld, MpiError> {
        let failed = start_error;
        Ok(MpiWorld(match &self.table {
            CallTable::Narrow(calls, names) => {
                Inner::Narrow(Communicator::start(*calls, *names).map_err(failed)?)
            }
            CallTable::Wide(calls, names) => {
                Inner::Wide(Communicator::start(*calls, *names).map_err(failed)?)
            }
        }))
    }

    /// Initialises the library by an MPI 4 session instead of `MPI_Init`.
    ///
    /// # Errors
    /// [`MpiError::Symbol`] if the library is older, and [`MpiError::Call`].
    pub fn start_session(&self) -> Result<MpiWorld, MpiError> {
        let failed = start_error;
        Ok(MpiWorld(match (&self.table, &self.process_sets) {
            (CallTable::Narrow(calls, names), Some(ProcessSets::Narrow(process_set))) => {
                Inner::Narrow(
                    Communicator::start_session(*calls, *names, *process_set)
                        .map_err(failed)?,
                )
            }
            (CallTable::Wide(calls, names), Some(ProcessSets::Wide(process_set))) => {
                Inner::Wide(
                    Communicator::start_session(*calls, *names, *process_set)
                        .map_err(failed)?,
                )
            }
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

/// All ranks of a job, and this rank's number. All ranks must make collective calls together.
#[derive(Debug)]
pub struct MpiWorld(Inner);

#[derive(Debug)]
enum Inner {
    Narrow(Communicator<c_int>),
    Wide(Communicator<usize>),
}

/// Evaluates the same expression for both widths of a handle.
macro_rules! with {
    ($inner:expr, $type:ident, $it:ident => $body:expr) => {
        match $inner {
            $type::Narrow($it) => $body,
            $type::Wide($it) => $body,
        }
    };
}

impl MpiWorld {
    /// Returns this rank's number.
    #[must_use]
    pub fn rank(&self) -> u32 {
        with!(&self.0, Inner, comm => comm.rank.cast_unsigned())
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn size(&self) -> u32 {
        with!(&self.0, Inner, comm => comm.size.cast_unsigned())
    }

    /// Broadcasts rank 0's number to all ranks.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn broadcast_number(&self, number: u64) -> Result<u64, MpiError> {
        with!(&self.0, Inner, comm => comm.broadcast_number(number).map_err(|refused| to_mpi_error(comm, refused)))
    }

    /// Gathers the contributions of all ranks, in the order of ranks, on all ranks.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn all_gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, MpiError> {
        with!(&self.0, Inner, comm => comm.all_gather(own).map_err(|refused| to_mpi_error(comm, refused)))
    }

    /// Allocates and touches the memory of a benchmark at one size.
    ///
    /// # Errors
    /// [`MpiError::Memory`] and [`MpiError::Call`].
    pub fn prepare(&self, request: &MpiBenchmarkRequest) -> Result<MpiBenchmark<'_>, MpiError> {
        fn explained<H: abi::Handle>(
            comm: &Communicator<H>,
            bytes: usize,
            why: prepared_benchmark::PrepareError,
        ) -> MpiError {
            match why {
                prepared_benchmark::PrepareError::Memory(source) => {
                    MpiError::Memory { bytes, source }
                }
                prepared_benchmark::PrepareError::Call(refused) => to_mpi_error(comm, refused),
            }
        }
        Ok(MpiBenchmark(match &self.0 {
            Inner::Narrow(comm) => Ready::Narrow(
                PreparedBenchmark::new(comm, request)
                    .map_err(|why| explained(comm, request.bytes, why))?,
            ),
            Inner::Wide(comm) => Ready::Wide(
                PreparedBenchmark::new(comm, request)
                    .map_err(|why| explained(comm, request.bytes, why))?,
            ),
        }))
    }

    /// Finalises the library; all ranks together.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn finish(self) -> Result<(), MpiError> {
        with!(&self.0, Inner, comm => comm.finish().map_err(|refused| to_mpi_error(comm, refused)))
    }

    /// Ends all processes of the job with an exit code.
    pub fn abort(&self, code: u8) -> ! {
        with!(&self.0, Inner, comm => comm.abort(c_int::from(code)))
    }
}

/// Benchmark at one size with its memory allocated. All ranks make the same calls in the same
/// order.
#[derive(Debug)]
pub struct MpiBenchmark<'w>(Ready<'w>);

#[derive(Debug)]
enum Ready<'w> {
    Narrow(PreparedBenchmark<'w, c_int>),
    Wide(PreparedBenchmark<'w, usize>),
}

impl MpiBenchmark<'_> {
    /// Times one batch. The figures are valid only on rank 0.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn time_batch(&mut self, pass: &MpiPass) -> Result<MpiFigures, MpiError> {
        with!(&mut self.0, Ready, it => it.time_batch(pass).map_err(|refused| to_mpi_error(it.comm, refused)))
    }

    /// Times single turns, or windows of messages in bandwidth tests. Returns the seconds of each,
    /// including two clock readings; valid only on rank 0.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn time_turns(&mut self, warm_up: u64, count: usize) -> Result<Vec<f64>, MpiError> {
        with!(&mut self.0, Ready, it => {
            it.time_turns(warm_up, count).map_err(|refused| to_mpi_error(it.comm, refused))
        })
    }

    /// Compares the contents of all messages in some turns. Returns the numbers of messages and of
    /// wrong ones; valid only on rank 0.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn validate(&mut self, turns: u64) -> Result<(u64, u64), MpiError> {
        with!(&mut self.0, Ready, it => {
            it.validate(turns).map_err(|refused| to_mpi_error(it.comm, refused))
        })
    }

    /// Returns the send and receive addresses, so that a foreign loop can run on the same memory.
    #[must_use]
    pub fn buffer_addresses(&self) -> (*const u8, *mut u8) {
        with!(&self.0, Ready, it => (it.send.as_ptr().cast_const(), it.receive.as_ptr()))
    }

    /// Frees the memory; all ranks together.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn release(self) -> Result<(), MpiError> {
        with!(self.0, Ready, it => {
            let comm = it.comm;
            it.release().map_err(|refused| to_mpi_error(comm, refused))
        })
    }
}

fn to_mpi_error<H: abi::Handle>(comm: &Communicator<H>, refused: MpiCallError) -> MpiError {
    MpiError::Call { call: refused.call, text: comm.error_text(refused.code) }
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
