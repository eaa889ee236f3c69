//! Table of several runs: the same results in one row, a column for each run. Data types only.

use serde::Serialize;

use crate::summary::{MetricEstimate, RunHeader};

/// Results of several runs, matched as for a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTable {
    /// The runs, in the order of the columns.
    pub runs: Vec<RunColumn>,
    /// The results, in order of first appearance.
    pub rows: Vec<RunTableRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunColumn {
    /// Identity and status.
    #[serde(flatten)]
    pub header: RunHeader,
    /// Name of the first host; empty if none joined.
    pub host: String,
}

/// One result in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTableRow {
    /// Estimate in each run; `None` if the run has no such result.
    pub estimates: Vec<Option<MetricEstimate>>,
}

impl RunTableRow {
    /// Returns the first estimate, which names the row.
    pub fn first_estimate(&self) -> Option<&MetricEstimate> {
        self.estimates.iter().flatten().next()
    }

    /// Returns the median of a run over that of the first run; `None` for the first run itself, and
    /// unless both are positive.
    pub fn ratio(&self, run: usize) -> Option<f64> {
        if run == 0 {
            return None;
        }
        let median = |at: usize| {
            let estimate = self.estimates.get(at)?.as_ref();
            estimate.map(|it| it.median).filter(|it| *it > 0.0 && it.is_finite())
        };
        Some(median(run)? / median(0)?)
    }
}
