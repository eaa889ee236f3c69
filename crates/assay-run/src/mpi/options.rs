//! Options of the ranks of an MPI job; the same on all of them.

use std::path::PathBuf;

use assay_kernels::mpi::{ReductionElement, WindowBuffers};
use assay_model::benchmark::{MpiTest, NeighborTopology, RmaSynchronization, WindowCreation};
use assay_model::workload::MpiPreset;

/// MPI benchmark with its method.
#[derive(Debug, Clone)]
pub struct MpiOptions {
    pub test: MpiTest,
    /// Preset whose method is used.
    pub preset: MpiPreset,
    /// Smallest message [default: the preset's].
    pub minimum_bytes: Option<u64>,
    /// Largest message [default: the preset's].
    pub maximum_bytes: Option<u64>,
    /// Iterations that are timed together.
    pub iterations: Option<u64>,
    /// Untimed iterations before them.
    pub warm_up: Option<u64>,
    /// Messages in flight at once in bandwidth tests.
    pub window: Option<u32>,
    /// Placement of the messages of a window in memory.
    pub buffers: WindowBuffers,
    /// Creation of the memory that one-sided operations access [default: OSU's].
    pub window_creation: Option<WindowCreation>,
    /// Synchronisation of one-sided operations [default: OSU's].
    pub synchronization: Option<RmaSynchronization>,
    /// Threads, or forked processes, of rank 0 and of rank 1 [default: OSU's].
    pub workers: Option<(u32, u32)>,
    /// Topology of neighbourhood collectives.
    pub topology: NeighborTopology,
    /// Calls of `MPI_Test` during the computation that overlaps a non-blocking collective.
    pub test_calls: u32,
    /// Whether the library is initialised through a session (MPI 4).
    pub process_set: bool,
    /// Whether the contents of every message are compared, in a pass of their own.
    pub validate: bool,
    /// Iterations before those whose contents are compared.
    pub validation_warm_up: u64,
    /// Whether all parts of a non-blocking collective are reported.
    pub overlap_parts: bool,
    /// Percentiles of single messages; if there are any, messages are also timed one by one.
    pub percentiles: Vec<f64>,
    /// Type of the elements that reductions sum [default: the preset's].
    pub element: Option<ReductionElement>,
    /// Time budget in seconds for all sizes together; only for assay's own method.
    pub budget_s: f64,
    pub library: RequestedLibrary,
}

/// MPI library that the user names [default: the one that belongs to the launcher].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestedLibrary {
    /// Folder of an MPI installation.
    pub prefix: Option<PathBuf>,
    /// File of the library.
    pub file: Option<PathBuf>,
}
