//! Exposition format of Prometheus: <https://prometheus.io/docs/specs/om/open_metrics_spec/>.
//!
//! Each metric is a gauge with its base unit in its name. The ends of the interval and the number
//! of samples are families of their own. Lines without a time are also valid for the textfile
//! collector of the node exporter.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_model::quantity::Unit;
use assay_model::sanitize;

use super::ExportedRun;
use super::labels::series_labels;
use super::results::{ResultRow, result_rows};
use crate::render::csv::format_number;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleTimes {
    /// Start of the run, for a database that is filled with the past.
    RunStart,
    /// None: the scraper adds its own.
    Omitted,
}

/// Families of metrics, by name.
#[derive(Debug)]
pub(super) struct MetricFamilies {
    times: SampleTimes,
    families: BTreeMap<String, MetricFamily>,
    left_out: usize,
}

#[derive(Debug)]
struct MetricFamily {
    help: String,
    unit: Option<&'static str>,
    /// Values by labels and time in nanoseconds.
    series: BTreeMap<String, BTreeMap<i64, f64>>,
}

impl MetricFamilies {
    /// Begins an exposition.
    pub(super) const fn new(times: SampleTimes) -> Self {
        Self { times, families: BTreeMap::new(), left_out: 0 }
    }

    /// Returns the number of results without a time, or with the labels and time of another one.
    pub(super) const fn left_out(&self) -> usize {
        self.left_out
    }

    /// Adds the results of a run.
    pub(super) fn add(&mut self, run: &ExportedRun) {
        let time = match self.times {
            SampleTimes::RunStart => run.started_ns,
            SampleTimes::Omitted => Some(0),
        };
        let Some(time) = time else {
            self.left_out += run.summary.results.len();
            return;
        };
        self.add_run_info(run, time);
        for row in result_rows(run) {
            self.add_result(&row, time);
        }
    }

    fn add_run_info(&mut self, run: &ExportedRun, time: i64) {
        let header = &run.summary.run;
        let mut labels: BTreeMap<&'static str, String> = [
            ("run", header.id.clone()),
            ("host", run.first_host().to_owned()),
            ("suite", header.suite.clone()),
            ("trust", run.trust.name().to_owned()),
            ("damaged", (!run.is_whole).to_string()),
        ]
        .into();
        labels.extend(header.label.clone().map(|label| ("label", label)));
        self.insert(
            ("assay_run_info", None),
            "Run of assay",
            (format_labels(&labels), time, 1.0),
        );
    }

    fn add_result(&mut self, row: &ResultRow<'_>, time: i64) {
        let estimate = row.estimate;
        let stem = family_stem(&estimate.benchmark, &estimate.metric);
        let unit = unit_words(estimate.unit);
        let name = |part: &str| match unit {
            Some(unit) => format!("{stem}{part}_{unit}"),
            None => format!("{stem}{part}"),
        };
        let labels = format_labels(&series_labels(row));
        let what = format!("{} of {}", estimate.metric, estimate.benchmark);
        let better = estimate.better.name();
        let median = format!("Median of {what}; {better} is better");
        if !self.insert((&name(""), unit), &median, (labels.clone(), time, estimate.median)) {
            self.left_out += 1;
            return;
        }
        let [low, high] = estimate.ci.map_or([f64::NAN; 2], |ci| ci);
        let percent = estimate.ci_level * 100.0;
        for (part, end) in [("low", low), ("high", high)] {
            let help = format!("{part} end of the {percent} % interval of {what}");
            let family = name(&format!("_ci_{part}"));
            self.insert((&family, unit), &help, (labels.clone(), time, end));
        }
        let help = format!("Number of samples of {what}");
        self.insert(
            (&format!("{stem}_samples"), None),
            &help,
            (labels, time, estimate.n as f64),
        );
    }

    /// Adds a finite value. Returns whether it is the first of its series at its time.
    fn insert(
        &mut self,
        (name, unit): (&str, Option<&'static str>),
        help: &str,
        (labels, time, value): (String, i64, f64),
    ) -> bool {
        if !value.is_finite() {
            return false;
        }
        let family = self.families.entry(name.to_owned()).or_insert_with(|| MetricFamily {
            help: help.to_owned(),
            unit,
            series: BTreeMap::new(),
        });
        let values = family.series.entry(labels).or_default();
        if values.contains_key(&time) {
            return false;
        }
        values.insert(time, value);
        true
    }

    /// Returns the text. The lines of a series are adjacent, its values in the order of time.
    pub(super) fn render(&self) -> String {
        let mut text = String::new();
        for (name, family) in &self.families {
            // Writing to memory cannot fail.
            let _ = writeln!(text, "# TYPE {name} gauge");
            if let Some(unit) = family.unit {
                let _ = writeln!(text, "# UNIT {name} {unit}");
            }
            let _ = writeln!(text, "# HELP {name} {}", family.help);
            for (labels, values) in &family.series {
                for (time, value) in values {
                    let value = format_number(Some(*value));
                    let _ = match self.times {
                        SampleTimes::RunStart => {
                            writeln!(text, "{name}{labels} {value} {}", format_seconds(*time))
                        }
                        SampleTimes::Omitted => writeln!(text, "{name}{labels} {value}"),
                    };
                }
            }
        }
        text + "# EOF\n"
    }
}

/// Returns the name of a family without its unit: `assay_memory_stream_triad`.
fn family_stem(benchmark: &str, metric: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format!("assay_{benchmark}_{metric}").chars().map(plain).collect()
}

/// Returns the unit as the end of a name; counts have none.
const fn unit_words(unit: Unit) -> Option<&'static str> {
    match unit {
        Unit::Byte => Some("bytes"),
        Unit::BytePerSecond => Some("bytes_per_second"),
        Unit::BitPerSecond => Some("bits_per_second"),
        Unit::FlopPerSecond => Some("flop_per_second"),
        Unit::IoPerSecond => Some("io_per_second"),
        Unit::Second => Some("seconds"),
        Unit::SecondPerByte => Some("seconds_per_byte"),
        Unit::Hertz => Some("hertz"),
        Unit::Ratio => Some("ratio"),
        Unit::Count => None,
    }
}

/// Formats labels. Hidden characters and line breaks are escaped as in JSON.
fn format_labels(labels: &BTreeMap<&'static str, String>) -> String {
    let label = |(name, value): (&&str, &String)| {
        let value = sanitize::escape_line(value).replace('\\', "\\\\").replace('"', "\\\"");
        format!("{name}=\"{value}\"")
    };
    format!("{{{}}}", labels.iter().map(label).collect::<Vec<_>>().join(","))
}

/// Formats nanoseconds since 1970 as seconds, with as many decimals as needed.
fn format_seconds(ns: i64) -> String {
    let (seconds, rest) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
    let text = format!("{seconds}.{rest:09}");
    let text = text.trim_end_matches('0');
    text.trim_end_matches('.').to_owned()
}
