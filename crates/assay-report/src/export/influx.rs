//! Line protocol of InfluxDB: <https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>.
//!
//! Every result is a point of the measurement `assay`. The protocol has no escape for a line break,
//! nor for a backslash at the end of a tag: both are written as in JSON, `\u000a`.

use std::borrow::Cow;
use std::fmt::Write as _;

use assay_model::sanitize;

use super::ExportedRun;
use super::labels::series_labels;
use super::results::{ResultRow, result_rows};

/// Lines, one for each result.
#[derive(Debug, Default)]
pub(super) struct InfluxLines {
    pub(super) text: String,
    /// Number of results without a time or a finite value.
    pub(super) left_out: usize,
}

impl InfluxLines {
    /// Adds the results of a run.
    pub(super) fn add(&mut self, run: &ExportedRun) {
        for row in result_rows(run) {
            match run.started_ns.filter(|_| row.estimate.median.is_finite()) {
                Some(started_ns) => self.add_line(&row, started_ns),
                None => self.left_out += 1,
            }
        }
    }

    fn add_line(&mut self, row: &ResultRow<'_>, started_ns: i64) {
        let estimate = row.estimate;
        let mut labels = series_labels(row);
        labels.extend([
            ("benchmark", estimate.benchmark.clone()),
            ("metric", estimate.metric.clone()),
            ("unit", estimate.unit.symbol().to_owned()),
        ]);
        self.text.push_str("assay");
        for (name, value) in &labels {
            // Writing to memory cannot fail.
            let _ = write!(self.text, ",{name}={}", escape_tag(value));
        }
        let _ = write!(self.text, " value={}", estimate.median);
        if let Some([low, high]) = estimate.ci.filter(|ci| ci.iter().all(|it| it.is_finite())) {
            let _ = write!(self.text, ",low={low},high={high}");
        }
        let run = escape_field(&row.run.summary.run.id);
        let (n, is_trusted) = (estimate.n, row.run.is_trusted);
        let _ = writeln!(self.text, ",n={n}i,trusted={is_trusted},run=\"{run}\" {started_ns}");
    }
}

/// Escapes the value of a tag: commas, equals signs and spaces by a backslash.
fn escape_tag(value: &str) -> String {
    let value = value.replace('\\', "\\u005c");
    let value = sanitize::escape_line(&value);
    value.replace(',', "\\,").replace('=', "\\=").replace(' ', "\\ ")
}

/// Escapes a text in quotes.
fn escape_field(value: &str) -> Cow<'_, str> {
    let line = sanitize::escape_line(value);
    if !line.contains(['\\', '"']) {
        return line;
    }
    Cow::Owned(line.replace('\\', "\\\\").replace('"', "\\\""))
}
