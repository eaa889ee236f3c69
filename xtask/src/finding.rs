//! One thing the tree does that its rules forbid: where, what, and why it matters.

use std::fmt;

/// A broken rule at a place in the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Path from the root of the repository.
    pub path: String,
    /// Line, counted from 1.
    pub line: usize,
    /// What is there.
    pub what: String,
    /// Why the rule exists, or what to do instead.
    pub why: &'static str,
}

impl Finding {
    /// A finding at `path:line`.
    pub(crate) fn new(
        path: impl Into<String>,
        line: usize,
        what: impl Into<String>,
        why: &'static str,
    ) -> Self {
        Self { path: path.into(), line, what: what.into(), why }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} — {}", self.path, self.line, self.what, self.why)
    }
}
