//! mdtest's figures, derived from the times of the phases.

use std::collections::BTreeSet;

use assay_model::facts::FileSystemCapacity;
use serde::{Deserialize, Serialize};

use super::options::MdtestOptions;
use super::phase::MdtestPhase;

/// Everything that the output of a run depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MdtestReport {
    /// `4.1.0+dev (assay 0.2.0)`.
    pub version: String,
    /// Command as mdtest prints it: `mdtest '-n' '100'`.
    pub command: String,
    /// Start time: `11/29/2026 06:31:53`.
    pub began: String,
    /// End time; empty for a run that did not end.
    pub finished: String,
    /// Requested options.
    pub options: MdtestOptions,
    /// Hosts of the tasks; `None` if tasks are threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<TaskHosts>,
    /// Capacity of the file system of the first folder, if it reports one.
    pub capacity: Option<FileSystemCapacity>,
    /// Tests by number of tasks.
    pub tests: Vec<MdtestTest>,
}

/// Hosts of the tasks of an MPI job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskHosts {
    /// Number of hosts.
    pub nodes: u32,
    /// A digit for each task: 1 if it runs on the host of the first, otherwise 0.
    pub map: String,
}

/// All iterations of one number of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MdtestTest {
    /// Number of tasks.
    pub tasks: u32,
    /// Requested items of a task.
    pub items: u64,
    /// Results in the order of the measurements.
    pub results: Vec<PhaseResult>,
}

/// Result of a phase in one iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseResult {
    /// The phase.
    pub phase: MdtestPhase,
    /// Iteration, from 0.
    pub iteration: u32,
    /// Items of a task; directories of a tree.
    pub items: u64,
    /// Seconds from the common start to the end of the last task.
    pub elapsed_s: f64,
    /// Seconds until each task was done.
    pub tasks_s: Vec<f64>,
    /// Progress of the tasks when the time of `-W` was over, if they had to catch up.
    pub stonewall: Option<StonewallProgress>,
}

/// Items that the tasks had created when the time was over.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StonewallProgress {
    /// Items of the task with the fewest.
    pub minimum: u64,
    /// Items of the task with the most, which all create in the end.
    pub maximum: u64,
    /// Mean number of items.
    pub mean: f64,
}

/// Maximum, minimum, mean and standard deviation over iterations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct IterationStatistics {
    /// Maximum.
    pub maximum: f64,
    /// Minimum.
    pub minimum: f64,
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation; 0 for one iteration.
    pub deviation: f64,
}

/// Quantity of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// Operations per second.
    Rates,
    /// Seconds of a phase, which mdtest labels as ms per operation.
    Times,
}

impl TaskHosts {
    /// Returns the hosts of tasks by the host of each.
    pub fn new<'h>(hosts: impl Iterator<Item = &'h str>) -> Self {
        let hosts: Vec<&str> = hosts.collect();
        let digit = |host: &&str| if Some(host) == hosts.first() { '1' } else { '0' };
        let nodes = hosts.iter().collect::<BTreeSet<_>>().len();
        Self { nodes: nodes as u32, map: hosts.iter().map(digit).collect() }
    }
}

impl PhaseResult {
    /// Returns operations per second of all tasks; of a tree, directories per second.
    pub fn rate_per_s(&self) -> f64 {
        let tasks = if self.phase.is_of_trees() { 1 } else { self.tasks_s.len() };
        divide(self.items as f64 * tasks as f64, self.elapsed_s)
    }

    fn value(&self, kind: TableKind) -> f64 {
        match kind {
            TableKind::Rates => self.rate_per_s(),
            TableKind::Times => self.elapsed_s,
        }
    }

    /// Returns the value of each task, before it waits for the others. mdtest has none for trees.
    pub fn task_values(&self, kind: TableKind) -> Vec<f64> {
        let of_task = |seconds: &f64| match kind {
            _ if self.phase.is_of_trees() => 0.0,
            TableKind::Rates => divide(self.items as f64, *seconds),
            TableKind::Times => *seconds,
        };
        self.tasks_s.iter().map(of_task).collect()
    }
}

impl MdtestTest {
    /// Returns the results of a phase by iteration.
    pub fn results_of(&self, phase: MdtestPhase) -> impl Iterator<Item = &PhaseResult> {
        self.results.iter().filter(move |it| it.phase == phase)
    }

    /// Summarizes the iterations of a phase; all values of a phase that was not run are 0.
    pub fn summarize(&self, phase: MdtestPhase, kind: TableKind) -> IterationStatistics {
        let values: Vec<f64> = self.results_of(phase).map(|it| it.value(kind)).collect();
        IterationStatistics::from_values(&values)
    }

    /// Summarizes the values of single tasks of a phase; those of a tree are the phase's.
    pub fn summarize_tasks(&self, phase: MdtestPhase, kind: TableKind) -> IterationStatistics {
        if phase.is_of_trees() {
            return self.summarize(phase, kind);
        }
        let values: Vec<f64> =
            self.results_of(phase).flat_map(|it| it.task_values(kind)).collect();
        IterationStatistics::from_values(&values)
    }
}

impl IterationStatistics {
    fn from_values(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            maximum: values.iter().copied().fold(0.0, f64::max),
            minimum: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            deviation: if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 },
        }
    }
}

fn divide(items: f64, seconds: f64) -> f64 {
    if items > 0.0 && seconds > 0.0 { items / seconds } else { 0.0 }
}
