//! Invocations of tools: names, arguments, files, CPUs.
//!
//! Nothing here touches the machine; the caller writes the files, starts the process and reads
//! the files back.

use assay_model::workload::Workload;

use crate::launcher::Launcher;

/// One request to one tool.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What is to be measured.
    pub workload: &'a Workload,
    /// The tool that measures.
    pub found: &'a Found,
    /// How many samples are wanted of each metric.
    pub repetitions: u32,
    /// Instruction-set flags of the processor as the kernel prints them.
    pub cpu_flags: &'a [String],
}

/// A tool that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Path of the executable.
    pub path: String,
    /// Its version, where it reports it without measuring.
    pub version: Option<String>,
    /// The MPI launcher to start it with, if there is one.
    pub launcher: Option<Launcher>,
}

/// One process to start.
///
/// It must run in its own empty folder: hpcc appends to an old output file. The caller
/// restricts the process to `cpus` before it starts; what the tool can do itself to pin its
/// threads is already among the arguments and the environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// What it measures, or its part of it.
    pub workload: Workload,
    /// Distinguishes the invocations of one request: `copy`, `triad` …, or the tool's name.
    pub label: String,
    /// What to execute: a path, or a name to be looked for in `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables added to the environment.
    pub environment: Vec<(String, String)>,
    /// Files to write into the folder first.
    pub files_to_write: Vec<TextFile>,
    /// Files to read from the folder afterwards; a file that is not there is left out.
    pub files_to_read: Vec<String>,
    /// The CPUs that the process and its children may use.
    pub cpus: Vec<u32>,
    /// How often to run it. Every run adds at least one sample to each metric it measures, and any
    /// number of runs is a valid measurement: a caller out of time stops after a run.
    pub repetitions: u32,
}

/// A file with text in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Its name, without a folder.
    pub name: String,
    /// What is in it.
    pub content: String,
}

/// Numbers must come with a decimal point, whatever the user's language.
pub(crate) fn plain_language() -> (String, String) {
    ("LC_ALL".to_owned(), "C".to_owned())
}

/// Makes every BLAS and OpenMP run-time use `threads` threads per process.
///
/// Each library has its own variable, and which one is linked in cannot be seen from here.
pub(crate) fn threads_per_process(threads: usize) -> Vec<(String, String)> {
    const VARIABLES: [&str; 5] = [
        "BLIS_NUM_THREADS",
        "GOTO_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
    ];
    VARIABLES.iter().map(|name| ((*name).to_owned(), threads.to_string())).collect()
}
