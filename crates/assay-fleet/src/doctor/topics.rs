//! Topics of the checks of `assay doctor`: which findings are kept, printed and rejected.

use std::collections::BTreeSet;

use assay_model::finding::{CheckOutcome, DoctorFinding, FindingSeverity};
use thiserror::Error;

/// Topic without a check.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no topic `{name}`")]
pub struct UnknownTopic {
    /// Requested topic.
    pub name: String,
    /// Topics with a check.
    pub known: Vec<String>,
}

/// Returns the topic of a check: `network` for `network.send-buffer`.
fn topic(finding: &DoctorFinding) -> &str {
    finding.id.split('.').next().unwrap_or_default()
}

/// Whether no check of a requested topic can observe anything on this machine. The report is then
/// printed in full, to show that.
pub fn is_unobservable(requested_topic: &str, findings: &[DoctorFinding]) -> bool {
    let mut of_topic = findings.iter().filter(|it| topic(it) == requested_topic);
    of_topic.all(|it| matches!(it.outcome, CheckOutcome::NotVisible | CheckOutcome::Unreadable))
}

/// Whether `--strict` rejects the finding.
pub fn is_strict_violation(finding: &DoctorFinding) -> bool {
    finding.outcome == CheckOutcome::Deviates && finding.severity > FindingSeverity::Note
}

/// Removes the findings of other topics than the requested ones. A topic may exist on only some of
/// the machines.
///
/// # Errors
/// A topic that no machine has.
pub fn keep_topics(
    machines: &mut [&mut Vec<DoctorFinding>],
    topics: &[String],
) -> Result<(), UnknownTopic> {
    /// The limit of locked memory also determines whether RDMA works.
    const OF_RDMA: &str = "limits.locked-memory";
    let available: BTreeSet<&str> =
        machines.iter().flat_map(|it| it.iter()).map(topic).collect();
    if let Some(unknown) =
        topics.iter().find(|requested| !available.contains(requested.as_str()))
        && !machines.is_empty()
    {
        let known = available.into_iter().map(str::to_owned).collect();
        return Err(UnknownTopic { name: unknown.clone(), known });
    }
    let is_requested = |it: &DoctorFinding| {
        topics
            .iter()
            .any(|requested| requested == topic(it) || requested == "rdma" && it.id == OF_RDMA)
    };
    machines.iter_mut().for_each(|it| it.retain(|it| topics.is_empty() || is_requested(it)));
    Ok(())
}
