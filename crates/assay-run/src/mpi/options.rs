//! Options of the ranks of a job; the same on all of them.

use std::path::PathBuf;

use assay_kernels::mpi::{Buffers, Element};
use assay_model::benchmark::MpiTest;
use assay_model::workload::MpiPreset;

/// One benchmark of MPI with its method.
#[derive(Debug, Clone)]
pub struct Options {
    pub test: MpiTest,
    /// Whose method.
    pub preset: MpiPreset,
    /// Smallest message [default: the preset's].
    pub minimum_bytes: Option<u64>,
    /// Largest message [default: the preset's].
    pub maximum_bytes: Option<u64>,
    /// Iterations that are timed together.
    pub iterations: Option<u64>,
    /// Iterations before them that are not timed.
    pub warm_up: Option<u64>,
    /// Messages in flight at once in bandwidth tests.
    pub window: Option<u32>,
    /// Where the messages of a window lie.
    pub buffers: Buffers,
    /// Calls of `MPI_Test` during the computation beside a non-blocking collective.
    pub tests: u32,
    /// Whether the library is initialised by a session, as MPI 4 has it.
    pub process_set: bool,
    /// Whether the contents of every message are compared in its own pass.
    pub validate: bool,
    /// Iterations before those whose contents are compared.
    pub validation_warm_up: u64,
    /// Whether all parts of a non-blocking collective are reported.
    pub full: bool,
    /// Percentiles of single messages; where there are any, messages are timed one by one as well.
    pub percentiles: Vec<f64>,
    /// What reductions sum [default: the preset's].
    pub element: Option<Element>,
    /// Seconds for all sizes together; only for assay's own method.
    pub budget_s: f64,
    /// The MPI to use: the folder it is installed in [default: the one whose launcher started us].
    pub prefix: Option<PathBuf>,
    /// The MPI to use: its library.
    pub library: Option<PathBuf>,
}
