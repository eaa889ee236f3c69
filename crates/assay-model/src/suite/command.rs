//! Measure of a program in a suite.

use crate::workload::command::CommandWorkload;

/// A program, fully described: nothing about it depends on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandRequest {
    /// The program with its figures and checks.
    pub workload: CommandWorkload,
}
