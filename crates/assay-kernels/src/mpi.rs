//! MPI benchmarks with any MPI library: opened at run time, its ABI detected, its functions called
//! through a table.
//!
//! Building and starting this program requires no MPI. Two libraries are never open in one process,
//! because their symbols would conflict. This module neither searches for libraries nor starts
//! jobs: its input is a file, its output are plain numbers. The loops follow OSU's benchmarks: the
//! messages sent, the places of the clock readings, and the divisors.

use std::ffi::c_int;
use std::io;

mod abi;
mod calls;
mod collective;
mod collective_call;
mod collective_contents;
mod communicator;
mod contents;
mod fan;
mod fan_partners;
mod figures;
mod forked;
mod job_messages;
mod loaded_library;
mod message_memory;
mod neighborhood;
mod one_sided;
mod one_sided_contents;
mod pairs;
mod persistent;
mod prepared_benchmark;
mod process_set;
mod rank_parts;
mod threads;
mod timing;
mod window;

use assay_model::benchmark::Neighbors;

use calls::{MpiCallError, THREAD_START};
use communicator::Communicator;
use prepared_benchmark::PreparedBenchmark;

pub use abi::Abi;
pub use fan_partners::FanPartners;
pub use figures::{MpiFigures, OverlapParts};
pub use loaded_library::LoadedMpi;
pub use message_memory::{ELEMENT_BYTES, ReductionElement, WindowBuffers, memory_bytes};
pub use prepared_benchmark::{MpiBenchmarkRequest, StuckHandler};
pub use timing::{MpiPass, Timing};

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
    /// The library is older than a benchmark needs.
    #[error("{path} lacks {missing}, which is new in MPI 4")]
    Unsupported {
        /// The file.
        path: String,
        /// The missing function.
        missing: &'static str,
    },
    /// The library was built for one thread per process.
    #[error("{path} does not support several threads of a rank (MPI_THREAD_MULTIPLE)")]
    OneThread {
        /// The file.
        path: String,
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
    pub fn rank(&self) -> u32 {
        with!(&self.0, Inner, comm => comm.rank.cast_unsigned())
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> u32 {
        with!(&self.0, Inner, comm => comm.size.cast_unsigned())
    }

    /// Divides the ranks among the dimensions of a grid, as the library does.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn divide_ranks(&self, dimensions: u32) -> Result<Vec<u32>, MpiError> {
        with!(&self.0, Inner, comm => comm.divide_ranks(dimensions).map_err(|refused| to_mpi_error(comm, refused)))
    }

    /// Creates the communicator in which neighbourhood collectives run. Returns the seconds that it
    /// took, mean over the ranks; valid only on rank 0.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn join_neighborhood(&mut self, neighbors: Neighbors) -> Result<f64, MpiError> {
        with!(&mut self.0, Inner, comm => comm.join_neighborhood(neighbors).map_err(|refused| to_mpi_error(comm, refused)))
    }

    /// Sets the ranks with which this rank exchanges messages if one host does so with all others.
    pub fn join_fan(&mut self, partners: FanPartners) {
        with!(&mut self.0, Inner, comm => comm.fan = partners);
    }

    /// Forks processes that send nothing and end after two seconds, as `osu_latency_mp` does.
    ///
    /// # Errors
    /// The system's reason.
    pub fn fork_processes(&mut self, count: u32) -> io::Result<()> {
        with!(&mut self.0, Inner, comm => comm.fork_processes(count))
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

    /// Waits until every rank has called this; the waiting ranks take whole CPUs.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn barrier(&self) -> Result<(), MpiError> {
        with!(&self.0, Inner, comm => comm.barrier().map_err(|refused| to_mpi_error(comm, refused)))
    }

    /// Sends a message to another rank.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn send_message(&self, bytes: &[u8], to: u32) -> Result<(), MpiError> {
        let to = to.cast_signed();
        with!(&self.0, Inner, comm => comm.send_message(bytes, to).map_err(|refused| to_mpi_error(comm, refused)))
    }

    /// Receives a message from another rank; `None` if `gives_up` returns true before it arrives.
    /// Nothing can be received from that rank afterwards.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn receive_message(
        &self,
        from: u32,
        gives_up: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<u8>>, MpiError> {
        let from = from.cast_signed();
        with!(&self.0, Inner, comm => comm.receive_message(from, gives_up).map_err(|refused| to_mpi_error(comm, refused)))
    }

    /// Allocates and touches the memory of a benchmark at one size. `on_stuck` ends the job if threads
    /// wait in vain after an error.
    ///
    /// # Errors
    /// [`MpiError::Memory`] and [`MpiError::Call`].
    pub fn prepare<'w>(
        &'w self,
        request: &MpiBenchmarkRequest,
        on_stuck: StuckHandler<'w>,
    ) -> Result<MpiBenchmark<'w>, MpiError> {
        fn explained<H: abi::Handle>(
            comm: &Communicator<H>,
            bytes: usize,
            why: message_memory::PrepareError,
        ) -> MpiError {
            match why {
                message_memory::PrepareError::Memory(source) => {
                    MpiError::Memory { bytes, source }
                }
                message_memory::PrepareError::Call(refused) => to_mpi_error(comm, refused),
            }
        }
        Ok(MpiBenchmark(match &self.0 {
            Inner::Narrow(comm) => Ready::Narrow(
                PreparedBenchmark::new(comm, request, on_stuck)
                    .map_err(|why| explained(comm, request.bytes, why))?,
            ),
            Inner::Wide(comm) => Ready::Wide(
                PreparedBenchmark::new(comm, request, on_stuck)
                    .map_err(|why| explained(comm, request.bytes, why))?,
            ),
        }))
    }

    /// Finalises the library; all ranks together.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn finish(&self) -> Result<(), MpiError> {
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
    let text = match refused.call {
        THREAD_START => io::Error::from_raw_os_error(refused.code).to_string(),
        _ => comm.error_text(refused.code),
    };
    MpiError::Call { call: refused.call, text }
}
