//! Vdbench's parameter files as a storage plan, and results in the shape of Vdbench's reports.
//!
//! Files are opened and devices looked at by the caller; nothing here does I/O. Whatever a file says
//! is carried out, reported, or refused with its place: nothing is ignored silently.

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
mod keywords;
mod lines;
pub mod output;
mod runs;
mod statements;
mod tokens;
mod values;

use commands::{Commands, DataLimits, Repetition};
use compile::Compiler;
pub use compile::at_host;
use definitions::Definitions;
use diagnostic::{Diagnostic, Place, Severity};
use lines::{Lines, Spot};

/// What is to be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Parameter files, read one after another as if they were one.
    #[serde(with = "path_text::each")]
    pub files: Vec<PathBuf>,
    /// `name=value` from the command line.
    pub variables: Vec<(String, String)>,
    /// Seconds that replace `elapsed` of every run.
    pub elapsed_s: Option<f64>,
    /// Seconds that replace `interval`.
    pub interval_s: Option<f64>,
    /// Seconds that replace `warmup`.
    pub warmup_s: Option<f64>,
    /// What `-c` says of trees, instead of `format=` in the files.
    pub format: Option<FormatOption>,
    /// Whether data is checked.
    pub verify: Verify,
    /// Threads that submit I/O at most: the CPUs of the machine.
    pub submitters: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether every host does its own part, with paths of its own; otherwise one machine plays them all.
    #[serde(default)]
    pub is_apart: bool,
}

/// What becomes of trees before every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormatOption {
    /// Removed and made again.
    Yes,
    /// They stay as they are.
    No,
    /// Removed, and nothing runs.
    CleanOnly,
}

/// What the reader may ask of the world.
#[expect(missing_debug_implementations, reason = "functions have nothing to show")]
pub struct Surroundings<'a> {
    /// The contents of a file.
    pub load: &'a mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
    /// What is at a path; `None` for nothing. Where hosts are apart, it is written `host:path`.
    pub look: &'a mut dyn FnMut(&Path) -> Option<Present>,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Present {
    /// Its size.
    pub bytes: u64,
    /// Whether it is a block device.
    pub device: bool,
}

/// A parameter file, ready to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// One phase per run.
    pub plan: StoragePlan,
    /// The same for file-system workloads; one of both is empty.
    pub files: FilePlan,
    /// Whether missing folders above an anchor are made.
    pub create_anchors: bool,
    /// What Vdbench would call each phase, in the order of the plan.
    pub runs: Vec<RunLabel>,
    /// Hosts that any run uses.
    pub hosts: Vec<UsedHost>,
    /// Where hosts are apart: by phase and target or tree, which of them it is on.
    pub places: Vec<Vec<usize>>,
    /// Commands around all runs.
    pub commands: Commands,
    /// A file whose contents end a run (`end_rd`) or all of them (`end_vdbench`).
    pub monitor: Option<PathBuf>,
    /// How often all runs are done; `None` = once.
    pub repetition: Option<Repetition>,
    /// Failed I/O that end the execution.
    pub data_errors: u64,
    /// Warnings and notes.
    pub notes: Vec<Diagnostic>,
    /// Every path of a storage or file system definition, and where it stands.
    pub paths: Vec<(PathBuf, Place)>,
}

impl Execution {
    /// What the pass of this number does, counted from 1: every pass goes on with other random numbers, so that
    /// none finds the blocks of another in a cache.
    #[must_use]
    pub fn pass(&self, number: u64) -> Self {
        let mut own = self.clone();
        if number > 1 {
            own.seeds().for_each(|it| *it = seed::derived(*it, number));
        }
        own
    }

    /// The targets of all runs on files and devices, with their hosts where these are apart.
    pub fn placed_targets(&self) -> impl Iterator<Item = (Option<usize>, &StorageTarget)> {
        self.plan.phases.iter().enumerate().flat_map(|(index, phase)| {
            let hosts = self.places.get(index);
            let targets = phase.workload.targets.iter().enumerate();
            targets.map(move |(at, target)| (hosts.map(|it| it[at]), target))
        })
    }

    /// The trees of all runs, with their hosts where these are apart and do not share them.
    pub fn placed_trees(&self) -> impl Iterator<Item = (Option<usize>, &FileTree)> {
        self.files.phases.iter().enumerate().flat_map(|(index, phase)| {
            let hosts = self.places.get(index);
            let trees = phase.workload.trees.iter().enumerate();
            trees.map(move |(at, tree)| {
                let host = hosts.filter(|_| tree.part.is_none()).map(|it| it[at]);
                (host, tree)
            })
        })
    }

    /// The seed of every run.
    fn seeds(&mut self) -> impl Iterator<Item = &mut u64> {
        let raw = self.plan.phases.iter_mut().map(|it| &mut it.workload.seed);
        raw.chain(self.files.phases.iter_mut().map(|it| &mut it.workload.seed))
    }
}

/// A host and where it was defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedHost {
    /// Its name in the file.
    pub label: String,
    /// Its name in the network.
    pub system: String,
    /// Who logs in there, if it says so.
    pub user: Option<String>,
    /// Its definition; `None` for the host that nobody defined.
    pub place: Option<Place>,
}

/// What a report says about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLabel {
    /// Its place among all runs, from 0.
    pub number: usize,
    /// `RndRead`, or `RndRead_(50%)` for a point of a curve.
    pub name: String,
    /// What is said of its rate.
    pub rate: RateLabel,
    /// Seconds that count.
    pub elapsed_s: f64,
    /// Seconds before them.
    pub warmup_s: f64,
    /// Seconds per line of the report.
    pub interval_s: f64,
    /// Loop keys and values, the outermost first.
    pub loops: Vec<(String, String)>,
    /// A curve ends behind a point whose mean service time is greater, in ms.
    pub stop_curve_ms: Option<f64>,
    /// Whether the workloads share the rate as they did in the curve's first run.
    pub shares_observed: bool,
    /// Bytes that end it.
    pub limits: DataLimits,
    /// Commands around it.
    pub commands: Commands,
    /// Parameters for the flat file.
    pub parameters: RunParameters,
    /// Hosts, storage and workloads it uses.
    pub used: Used,
}

impl RunLabel {
    /// Whether it makes or removes trees for the runs behind it.
    #[must_use]
    pub fn is_format(&self) -> bool {
        self.name.starts_with(FORMAT)
    }
}

/// What the names of runs that make trees begin with.
pub(crate) const FORMAT: &str = "format_for_";

/// How a run's rate came about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RateLabel {
    /// As fast as it goes.
    UncontrolledMax,
    /// As fast as it goes, workloads in given shares.
    ControlledMax,
    /// As fast as it goes, as the first run of a curve.
    UncontrolledCurve,
    /// The same, workloads in given shares.
    ControlledCurve,
    /// IO/s.
    PerSecond(f64),
    /// Percent of an earlier run; the IO/s are known when that has run.
    Percent(f64),
}

/// Parameters of a run; `None` where workloads or storage differ.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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
    /// Compression ratio of what is written.
    pub compression: Option<f64>,
}

/// How much a run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Storage definitions.
    pub storages: usize,
    /// Workload definitions.
    pub workloads: usize,
    /// I/O in flight at most.
    pub outstanding: u64,
}

/// Reads parameter files and compiles them.
///
/// # Errors
/// Everything that is wrong with them, in reading order, warnings and notes among it.
pub fn read(
    input: &Input,
    around: &mut Surroundings<'_>,
) -> Result<Execution, Vec<Diagnostic>> {
    let mut lines = Lines::read(input, around);
    let statements = statements::statements(&mut lines);
    let definitions = Definitions::from_statements(&mut lines, &statements);
    let is_broken =
        |found: &[Diagnostic]| found.iter().any(|one| one.severity == Severity::Error);
    // What is wrong already would only be reported again in other words.
    if is_broken(&lines.found) {
        return Err(lines.found);
    }
    let mut execution = Compiler::new(input, &definitions, &mut lines, around).compile();
    if is_broken(&lines.found) {
        return Err(lines.found);
    }
    execution.notes = lines.found;
    Ok(execution)
}

/// What the reader made of the lines, for `parmscan.html`: every line, its keywords, their values.
#[must_use]
pub fn scan(input: &Input, around: &mut Surroundings<'_>) -> String {
    let mut lines = Lines::read(input, around);
    let mut text = String::new();
    for line in 0..lines.count() {
        if lines.is_obeyed(line) {
            continue;
        }
        let _ = writeln!(text, "line: {}", lines.text(line));
        for token in tokens::tokens(&mut lines, line) {
            let Spot { start, end, .. } = token.spot;
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
