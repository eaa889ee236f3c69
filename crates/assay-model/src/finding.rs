//! What one check of `assay doctor` found on a host.

use serde::{Deserialize, Serialize};

use crate::phrase::Phrase;

/// One check, carried out. Nothing is ever changed by a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable name for scripts: `cpu.governor`.
    pub id: String,
    /// How it went.
    pub outcome: Outcome,
    /// What was seen, in words with units; for the outcomes without a value, why there is none.
    pub observed: String,
    /// The same in its parts, for other languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Phrase>,
    /// What benchmarking wants to see.
    pub expected: String,
    /// Why it matters for a measurement.
    pub why: String,
    /// Who recommends it: a document a reader can look up.
    pub source: String,
    /// How much a deviation matters.
    pub severity: Severity,
    /// A command or setting that changes it; printed, never applied.
    pub change: String,
}

/// The four ways a check can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As expected.
    Ok,
    /// Visible, and not as expected.
    Deviates,
    /// This guest or container does not show it; neither good nor bad.
    NotVisible,
    /// It should be visible but could not be read.
    Unreadable,
}

/// How much a deviation matters for a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing; two sources may even disagree.
    Note,
    /// Numbers will be off.
    Skews,
    /// Numbers will be meaningless.
    Blocks,
}
