//! Compiles Vdbench's parameter files into a storage plan, and formats results as Vdbench's
//! reports.
//!
//! The caller opens files and inspects devices; this module does no I/O. Every parameter is carried
//! out, reported as ignored, or rejected with its location; none is ignored silently.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use assay_model::path_text;
use assay_model::seed;
use assay_model::workload::file_set::{FilePlan, FileTree};
use assay_model::workload::storage::{StoragePlan, StorageTarget, Verify};
use serde::{Deserialize, Serialize};

mod attributes;
pub mod commands;
mod compile;
mod definitions;
pub mod diagnostic;
pub mod explain;
#[cfg(test)]
mod keyword_page_tests;
mod keywords;
mod lines;
pub mod output;
mod runs;
mod statements;
mod tokens;
mod values;

use commands::{Commands, DataLimits, LoopLimit};
use compile::Compiler;
pub use compile::host_path;
use definitions::Definitions;
use diagnostic::{Diagnostic, DiagnosticSeverity, SourceLocation};
use lines::{Lines, SourceSpan};

/// Parameter files and the options of the command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VdbenchInput {
    /// Parameter files, read in order as if they were one file.
    #[serde(with = "path_text::each")]
    pub files: Vec<PathBuf>,
    /// Variables from the command line, `name=value`.
    pub variables: Vec<(String, String)>,
    /// Override of `elapsed` for every run, in seconds.
    pub elapsed_s: Option<f64>,
    /// Override of `interval`, in seconds.
    pub interval_s: Option<f64>,
    /// Override of `warmup`, in seconds.
    pub warmup_s: Option<f64>,
    /// Option `-c`, which overrides `format=` in the files.
    pub format: Option<FormatOption>,
    /// Data verification.
    pub verify: Verify,
    /// Maximum number of threads that submit I/O: the CPUs of the machine.
    pub submitters: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Whether each host does its own part, with its own paths; otherwise one machine acts for all
    /// hosts.
    #[serde(default)]
    pub is_apart: bool,
    /// Whether nothing runs: targets may be missing, of unknown size, or not openable as asked.
    #[serde(default)]
    pub simulates: bool,
}

/// Preparation of file trees before each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormatOption {
    /// Remove the trees and create them again.
    Yes,
    /// Leave the trees unchanged.
    No,
    /// Remove the trees and run nothing.
    CleanOnly,
}

/// Callbacks through which the parser reads files and inspects paths.
#[expect(missing_debug_implementations, reason = "functions have nothing to show")]
pub struct VdbenchEnv<'a> {
    /// Reads a file.
    pub read_file: &'a mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
    /// Inspects a path; `None` where nothing exists. With distributed hosts the path is
    /// `host:path`.
    pub inspect: &'a mut dyn FnMut(&Path) -> Option<PathInfo>,
}

/// Size and type of an existing file or device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathInfo {
    /// Size in bytes.
    pub bytes: u64,
    /// Whether it is a block device.
    pub device: bool,
}

/// Parameter files compiled into a plan that is ready to run.
#[derive(Debug, Clone, PartialEq)]
pub struct VdbenchExecution {
    /// Storage plan with one phase per run.
    pub plan: StoragePlan,
    /// File plan with one phase per run; either this or `plan` is empty.
    pub files: FilePlan,
    /// Whether missing parent folders of an anchor are created.
    pub create_anchors: bool,
    /// Vdbench's label of each phase, in the order of the plan.
    pub runs: Vec<RunLabel>,
    /// Hosts that any run uses.
    pub hosts: Vec<UsedHost>,
    /// Indices into `hosts` by phase and target (or tree), when hosts are distributed.
    pub host_indices: Vec<Vec<usize>>,
    /// Commands around all runs.
    pub commands: Commands,
    /// File whose contents end one run (`end_rd`) or all runs (`end_vdbench`).
    pub monitor: Option<PathBuf>,
    /// Repetition of all runs; `None` = once.
    pub repetition: Option<LoopLimit>,
    /// Number of failed I/O that ends the execution.
    pub data_errors: u64,
    /// Warnings and notes.
    pub notes: Vec<Diagnostic>,
    /// Paths of all storage and file-system definitions, with their locations in the files.
    pub paths: Vec<(PathBuf, SourceLocation)>,
}

impl VdbenchExecution {
    /// Returns the execution for pass `number`, counted from 1. Each pass has its own random
    /// numbers, so that it does not find the blocks of an earlier pass in a cache.
    #[must_use]
    pub fn for_pass(&self, number: u64) -> Self {
        let mut own = self.clone();
        if number > 1 {
            own.seeds().for_each(|it| *it = seed::derive_seed(*it, number));
        }
        own
    }

    /// Iterates over the targets of all storage runs, with their hosts when hosts are distributed.
    pub fn placed_targets(&self) -> impl Iterator<Item = (Option<usize>, &StorageTarget)> {
        self.plan.phases.iter().enumerate().flat_map(|(index, phase)| {
            let hosts = self.host_indices.get(index);
            let targets = phase.workload.targets.iter().enumerate();
            targets.map(move |(position, target)| (hosts.map(|it| it[position]), target))
        })
    }

    /// Iterates over the trees of all runs, with their hosts when hosts are distributed and do not
    /// share the tree.
    pub fn placed_trees(&self) -> impl Iterator<Item = (Option<usize>, &FileTree)> {
        self.files.phases.iter().enumerate().flat_map(|(index, phase)| {
            let hosts = self.host_indices.get(index);
            let trees = phase.workload.trees.iter().enumerate();
            trees.map(move |(position, tree)| {
                let host = hosts.filter(|_| tree.part.is_none()).map(|it| it[position]);
                (host, tree)
            })
        })
    }

    /// Iterates over the seeds of all runs.
    fn seeds(&mut self) -> impl Iterator<Item = &mut u64> {
        let raw = self.plan.phases.iter_mut().map(|it| &mut it.workload.seed);
        raw.chain(self.files.phases.iter_mut().map(|it| &mut it.workload.seed))
    }
}

/// Host of a run and its definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedHost {
    /// Label in the parameter file.
    pub label: String,
    /// Network name.
    pub system: String,
    /// User for the login, if defined.
    pub user: Option<String>,
    /// Location of its definition; `None` for the implicit local host.
    pub location: Option<SourceLocation>,
}

/// Description of a run for the reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunLabel {
    /// Position among all runs, from 0.
    pub number: usize,
    /// Name: `RndRead`, or `RndRead_(50%)` for a point of a curve.
    pub name: String,
    /// Rate as Vdbench reports it.
    pub rate: RateLabel,
    /// Measured seconds.
    pub elapsed_s: f64,
    /// Seconds of warm-up before them.
    pub warmup_s: f64,
    /// Seconds per line of the report.
    pub interval_s: f64,
    /// Loop keys and values, the outermost first.
    pub loops: Vec<(String, String)>,
    /// Mean service time in ms above which a curve ends after this point.
    pub stop_curve_ms: Option<f64>,
    /// Whether the workloads share the rate as they did in the first run of the curve.
    pub shares_observed: bool,
    /// Bytes after which the run ends.
    pub limits: DataLimits,
    /// Commands around the run.
    pub commands: Commands,
    /// Parameters for the flat file.
    pub parameters: RunParameters,
    /// Counts of hosts, storage and workloads.
    pub resources: ResourceCounts,
}

impl RunLabel {
    /// Whether the run creates or removes trees for the following runs.
    pub fn is_format(&self) -> bool {
        self.name.starts_with(FORMAT_PREFIX)
    }
}

/// Name prefix of runs that create or remove trees.
pub(crate) const FORMAT_PREFIX: &str = "format_for_";

/// Kind of rate limit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateLabel {
    /// Maximum rate.
    UncontrolledMax,
    /// Maximum rate with fixed shares of the workloads.
    ControlledMax,
    /// Maximum rate, as the first run of a curve.
    UncontrolledCurve,
    /// Maximum rate with fixed shares, as the first run of a curve.
    ControlledCurve,
    /// IO/s.
    PerSecond(f64),
    /// Percent of an earlier run, whose rate is known only after it has run.
    Percent(f64),
}

/// Parameters of a run; `None` where they differ among workloads or storage.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RunParameters {
    /// Bytes of one I/O.
    pub xfer_bytes: Option<f64>,
    /// Threads per storage definition.
    pub threads: Option<f64>,
    /// Percent of reads.
    pub read_percent: Option<f64>,
    /// Percent of reads in the hit area.
    pub read_hit_percent: Option<f64>,
    /// Percent of writes in the hit area.
    pub write_hit_percent: Option<f64>,
    /// Percent of random access; -1 = sequential to the end.
    pub seek_percent: Option<f64>,
    /// Bytes of all storage definitions together.
    pub storage_bytes: u64,
    /// Compression ratio of written data.
    pub compression: Option<f64>,
    /// Blocks of written data for each different one.
    #[serde(default)]
    pub dedup_ratio: Option<f64>,
}

/// Number of definitions that a run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ResourceCounts {
    /// Storage definitions.
    pub storages: usize,
    /// Workload definitions.
    pub workloads: usize,
    /// Maximum number of I/O in flight.
    pub outstanding: u64,
}

/// Parses parameter files and compiles them.
///
/// # Errors
/// All diagnostics in reading order, with warnings and notes, when any of them is an error.
pub fn compile_files(
    input: &VdbenchInput,
    around: &mut VdbenchEnv<'_>,
) -> Result<VdbenchExecution, Vec<Diagnostic>> {
    let mut lines = Lines::read(input, around);
    let statements = statements::parse_statements(&mut lines);
    let definitions = Definitions::from_statements(&mut lines, &statements);
    let is_broken = |found: &[Diagnostic]| {
        found.iter().any(|one| one.severity == DiagnosticSeverity::Error)
    };
    // Compiling a broken file would only report the same errors again in other words.
    if is_broken(&lines.diagnostics) {
        return Err(lines.diagnostics);
    }
    let mut execution = Compiler::new(input, &definitions, &mut lines, around).compile();
    if is_broken(&lines.diagnostics) {
        return Err(lines.diagnostics);
    }
    execution.notes = lines.diagnostics;
    Ok(execution)
}

/// Lists the parsed lines for `parmscan.html`: each line, its keywords and their values.
pub fn scan(input: &VdbenchInput, around: &mut VdbenchEnv<'_>) -> String {
    let mut lines = Lines::read(input, around);
    let mut text = String::new();
    for line in 0..lines.count() {
        if lines.is_include(line) {
            continue;
        }
        let _ = writeln!(text, "line: {}", lines.text(line));
        for token in tokens::tokenize(&mut lines, line) {
            let SourceSpan { start, end, .. } = token.spot;
            let _ = writeln!(text, "keyw: {}", &lines.text(line)[start..end]);
            for element in &token.elements {
                let _ = writeln!(text, "parm: {}", element.text);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
