//! Violation of a rule of `tidy`: location, description and reason.

use std::fmt;

/// Violation of a rule at a location in the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TidyFinding {
    /// Path from the root of the repository.
    pub path: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Description of the violation.
    pub what: String,
    /// Reason for the rule, or advice.
    pub why: &'static str,
}

impl TidyFinding {
    /// Creates a finding at `path:line`.
    pub(crate) fn new(
        path: impl Into<String>,
        line: usize,
        what: impl Into<String>,
        why: &'static str,
    ) -> Self {
        Self { path: path.into(), line, what: what.into(), why }
    }
}

impl fmt::Display for TidyFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} — {}", self.path, self.line, self.what, self.why)
    }
}
