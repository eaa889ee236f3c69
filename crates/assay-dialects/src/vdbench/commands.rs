//! Commands of a parameter file around its runs, and limits that end a run early.
//!
//! This module only describes them; the caller starts the commands and counts the bytes.

use serde::{Deserialize, Serialize};

/// Commands before the first and after the last run, or around each run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Commands {
    /// Commands before.
    pub start: Option<CommandLines>,
    /// Commands after.
    pub end: Option<CommandLines>,
}

/// Shell commands in order; `$output` in them is replaced by the output folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLines {
    /// Command lines.
    pub lines: Vec<String>,
    /// Destination of their output.
    pub output: CommandOutput,
}

/// Destination of a command's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandOutput {
    /// Console, summary and log.
    Console,
    /// Summary.
    Summary,
    /// Log.
    Log,
}

/// Repetition of all runs (`loop=`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopLimit {
    /// Fixed number of passes.
    Times(u64),
    /// Passes that start until this many seconds have elapsed.
    Seconds(u64),
}

/// Bytes after which a run ends, without the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DataLimits {
    /// Bytes read.
    pub read_bytes: Option<u64>,
    /// Bytes written.
    pub written_bytes: Option<u64>,
}
