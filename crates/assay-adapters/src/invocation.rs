//! Invocations of tools: program, arguments, files, CPUs.
//!
//! Nothing here touches the machine. The caller writes the files, starts the process and reads the
//! files back.

use assay_model::workload::Workload;

use crate::launcher::Launcher;

/// Request to measure a workload with a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolRequest<'a> {
    /// Workload to measure.
    pub workload: &'a Workload,
    /// Tool that measures it.
    pub tool: &'a InstalledTool,
    /// Number of samples wanted of each metric.
    pub repetitions: u32,
    /// Instruction-set flags of the processor as the kernel prints them.
    pub cpu_flags: &'a [String],
}

/// Tool found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledTool {
    /// Path of the executable.
    pub path: String,
    /// Version, if the tool reports it without measuring.
    pub version: Option<String>,
    /// MPI launcher to start it with, if there is one.
    pub launcher: Option<Launcher>,
}

/// Process to start.
///
/// It must run in its own empty folder: hpcc appends to an old output file. The caller restricts
/// the process to `cpus` before it starts. Options with which the tool pins its own threads are
/// already among the arguments and the environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// Workload that it measures, or a part of it.
    pub workload: Workload,
    /// Distinguishes the invocations of one request: `copy`, `triad` …, or the tool's name.
    pub label: String,
    /// Path of the executable, or a name to look up in `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables added to the environment.
    pub environment: Vec<(String, String)>,
    /// Files to write into the folder first.
    pub files_to_write: Vec<TextFile>,
    /// Files to read from the folder afterwards; missing ones are skipped.
    pub files_to_read: Vec<String>,
    /// CPUs that the process and its children may use.
    pub cpus: Vec<u32>,
    /// Number of times to run it. Every run adds at least one sample to each of its metrics, and
    /// any number of runs is a valid measurement: a caller may stop after any run.
    pub repetitions: u32,
}

impl Invocation {
    /// Process of the tool without arguments, files or CPUs, with numbers as in the C locale.
    pub(crate) fn new(request: &ToolRequest<'_>, label: &str) -> Self {
        Self {
            workload: request.workload.clone(),
            label: label.to_owned(),
            program: request.tool.path.clone(),
            arguments: vec![],
            environment: vec![c_locale()],
            files_to_write: vec![],
            files_to_read: vec![],
            cpus: vec![],
            repetitions: request.repetitions.max(1),
        }
    }
}

/// Text file: name and content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Name without a folder.
    pub name: String,
    pub content: String,
}

/// Returns the variable that makes tools print numbers with a decimal point in any locale.
pub(crate) fn c_locale() -> (String, String) {
    ("LC_ALL".to_owned(), "C".to_owned())
}

/// Returns variables that limit every BLAS and OpenMP run-time to `threads` threads per process.
///
/// Each library has its own variable, and the linked one is not known here.
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
