//! Bencher Metric Format: <https://bencher.dev/docs/reference/bencher-metric-format>.
//!
//! A benchmark is a case with its conditions, a measure is a metric with its unit. The names of
//! Bencher's own measures are not used: `latency` is in nanoseconds there.

use std::collections::BTreeMap;

use assay_model::sanitize;
use serde::Serialize;

use super::ExportedRun;
use super::labels::series_labels;
use super::results::{ResultRow, result_rows};
use crate::render::json;

/// Maximum length of the name of a benchmark, and of a measure, in characters.
const MAX_BENCHMARK_CHARS: usize = 1024;
const MAX_MEASURE_CHARS: usize = 64;
/// Labels that Bencher has places of its own for, or that the name begins with.
const OTHER_LABELS: [&str; 4] = ["case", "suite", "label", "host"];

/// Results by benchmark and measure.
#[derive(Debug, Default)]
pub(super) struct BencherReport {
    benchmarks: BTreeMap<String, BTreeMap<String, BencherMetric>>,
    /// Number of results without a finite value, or with the name of another one.
    pub(super) left_out: usize,
}

#[derive(Debug, Serialize)]
struct BencherMetric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

impl BencherReport {
    /// Adds the results of a run.
    pub(super) fn add(&mut self, run: &ExportedRun) {
        let has_hosts = run.summary.hosts.len() > 1;
        for row in result_rows(run) {
            let estimate = row.estimate;
            if !estimate.median.is_finite() {
                self.left_out += 1;
                continue;
            }
            let metric = BencherMetric {
                value: estimate.median,
                lower_value: estimate.ci.map(|[low, _]| low).filter(|it| it.is_finite()),
                upper_value: estimate.ci.map(|[_, high]| high).filter(|it| it.is_finite()),
            };
            let measure = format!("{} ({})", estimate.metric, estimate.unit.symbol());
            let measures = self.benchmarks.entry(benchmark_name(&row, has_hosts)).or_default();
            let is_new =
                measures.insert(shorten(&measure, MAX_MEASURE_CHARS), metric).is_none();
            self.left_out += usize::from(!is_new);
        }
    }

    /// Returns the document.
    pub(super) fn render(&self) -> String {
        json::to_json_text(&self.benchmarks)
    }
}

/// Returns the case with its conditions: `memory.stream/node {placement=node, threads=8}`.
fn benchmark_name(row: &ResultRow<'_>, has_hosts: bool) -> String {
    let is_part = |name: &str| !OTHER_LABELS.contains(&name) || (name == "host" && has_hosts);
    let labels = series_labels(row);
    let labels = labels.iter().filter(|(name, _)| is_part(name));
    let labels: Vec<String> = labels.map(|(name, value)| format!("{name}={value}")).collect();
    let name = format!("{} {{{}}}", row.estimate.case, labels.join(", "));
    shorten(&sanitize::escape_line(&name), MAX_BENCHMARK_CHARS)
}

fn shorten(name: &str, chars: usize) -> String {
    name.chars().take(chars).collect()
}
