//! Result of one check of `assay doctor` on a host.

use serde::{Deserialize, Serialize};

use crate::phrase::Phrase;

/// Result of one check. Checks never change anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DoctorFinding {
    /// A stable name for scripts: `cpu.governor`.
    pub id: String,
    /// Kind of result.
    pub outcome: CheckOutcome,
    /// Observed value, in words with units, or the reason why there is none.
    pub observed: String,
    /// The observed value as a translatable message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Phrase>,
    /// Expected value.
    pub expected: String,
    /// Reason why it matters for a measurement.
    pub why: String,
    /// Source of the recommendation: a public document.
    pub source: String,
    /// Effect of a deviation.
    pub severity: FindingSeverity,
    /// A command or setting that changes it; printed, never applied.
    pub change: String,
}

/// Kind of a check's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// As expected.
    Ok,
    /// Visible, but not as expected.
    Deviates,
    /// Hidden in this guest or container; neither good nor bad.
    NotVisible,
    /// Should be visible but could not be read.
    Unreadable,
}

/// Effect of a deviation on a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingSeverity {
    /// Informative; sources may even disagree.
    Note,
    /// Results will be biased.
    Skews,
    /// Results will be meaningless.
    Blocks,
}
