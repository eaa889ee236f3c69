//! Line protocol of `InfluxDB`: <https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>.
//!
//! Every result is a point of the measurement `assay`. The protocol has no escape for a line break,
//! nor for a backslash at the end of a tag: both are written as in JSON, `\u000a`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use assay_model::sanitize;

use super::ExportedRun;
use super::labels::series_labels;
use super::results::{ResultRow, result_rows};
use crate::render::csv::format_number;

/// Lines, one for each result.
#[derive(Debug, Default)]
pub(super) struct InfluxLines {
    pub(super) text: String,
    /// Tags and times so far: a second point would replace the first.
    points: HashSet<(String, i64)>,
    /// Number of results without a time or a finite value, or with the tags and time of another.
    pub(super) left_out: usize,
}

impl InfluxLines {
    /// Adds the results of a run.
    pub(super) fn add(&mut self, run: &ExportedRun) {
        for row in result_rows(run) {
            match run.started_ns.filter(|_| row.estimate.median.is_finite()) {
                Some(started_ns) => self.add_point(&row, started_ns),
                None => self.left_out += 1,
            }
        }
    }

    fn add_point(&mut self, row: &ResultRow<'_>, started_ns: i64) {
        let estimate = row.estimate;
        let mut labels = series_labels(row);
        labels.extend([
            ("benchmark", estimate.benchmark.clone()),
            ("metric", estimate.metric.clone()),
            ("unit", estimate.unit.symbol().to_owned()),
        ]);
        let mut tags = String::new();
        for (name, value) in &labels {
            // Writing to memory cannot fail.
            let _ = write!(tags, ",{name}={}", escape_tag(value));
        }
        if !self.points.insert((tags.clone(), started_ns)) {
            self.left_out += 1;
            return;
        }
        let [low, high] = estimate.ci.map_or([None, None], |ci| ci.map(Some));
        let fields = [("value", Some(estimate.median)), ("low", low), ("high", high)];
        let fields = fields.map(|(name, value)| (name, format_number(value)));
        let _ = write!(self.text, "assay{tags} ");
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(self.text, "{name}={value},");
        }
        let run = escape_field(&row.run.summary.run.id);
        let (n, trust) = (estimate.n, row.trust().name());
        let _ = writeln!(self.text, "n={n}i,trust=\"{trust}\",run=\"{run}\" {started_ns}");
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
