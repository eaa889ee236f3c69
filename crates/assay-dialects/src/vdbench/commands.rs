//! Commands of a parameter file around its runs, and early ends of a run.
//!
//! Only named here; whoever carries the runs out starts the commands and counts the bytes.

use serde::{Deserialize, Serialize};

/// Commands before the first and behind the last run, or around each one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Commands {
    /// Before.
    pub start: Option<CommandLines>,
    /// Behind.
    pub end: Option<CommandLines>,
}

/// Commands in their order, each a line for the shell; `$output` in them is the output folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLines {
    /// The lines.
    pub lines: Vec<String>,
    /// Where what they print goes.
    pub to: OutputOf,
}

/// Where the output of a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputOf {
    /// On the console, into the summary and the log.
    Console,
    /// Into the summary.
    Summary,
    /// Into the log.
    Log,
}

/// How often all runs are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// This many times.
    Times(u64),
    /// They begin again until this many seconds have passed.
    Seconds(u64),
}

/// Bytes after which a run ends, warm-up not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataLimits {
    /// Bytes read.
    pub read_bytes: Option<u64>,
    /// Bytes written.
    pub written_bytes: Option<u64>,
}
