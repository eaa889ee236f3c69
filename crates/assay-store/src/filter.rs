//! Selection of stored runs by their entries in the list.

use assay_model::benchmark::is_metric;

use crate::list_entry::ListEntry;

/// Conditions on a run; all that are given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Earliest start: a day, or an RFC 3339 time in UTC.
    pub since: Option<String>,
    /// Suite, or the command that recorded the run.
    pub suite: Option<String>,
    /// Label of the condition.
    pub label: Option<String>,
    /// First host.
    pub host: Option<String>,
    /// Metric of a result, alone or after its benchmark: `memory.stream/triad`.
    pub metric: Option<String>,
}

impl RunFilter {
    /// Whether a run is selected.
    pub fn matches(&self, run: &ListEntry) -> bool {
        let is_equal = |requested: &Option<String>, actual: &str| {
            requested.as_deref().is_none_or(|it| it == actual)
        };
        // Timestamps start with the year, so they sort chronologically as text.
        let is_later = self.since.as_ref().is_none_or(|since| run.started >= *since);
        is_later
            && is_equal(&self.suite, &run.suite)
            && is_equal(&self.label, run.label.as_deref().unwrap_or_default())
            && is_equal(&self.host, &run.host)
            && self.metric.as_ref().is_none_or(|metric| has_metric(run, metric))
    }
}

/// Whether a run has results of a metric, named alone or after its benchmark.
fn has_metric(run: &ListEntry, name: &str) -> bool {
    let names = run.metrics.iter().filter_map(|it| it.split_once('/'));
    names.into_iter().any(|(benchmark, metric)| is_metric(name, benchmark, metric))
}
