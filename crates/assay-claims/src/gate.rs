//! Gates: thresholds from a user's file that a comparison or a run must keep, for CI and similar
//! automation.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use assay_model::attribute::Attribute;
use assay_model::benchmark::Better;
use assay_model::comparison::{Comparison, MetricComparison};
use assay_model::quantity::{self, Quantity, Unit};
use assay_model::summary::MetricEstimate;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::Spanned;

use crate::file_location::FileLocation;
use crate::reference::{EntryError, dimension_text, find_metric, has_dimensions, lacks_unit};

/// Error in a file of gates.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GateError {
    /// The file has no gate.
    #[error("{0}")]
    Read(String),
    /// The file is not valid TOML of gates.
    #[error("line {}: {message}", .place.line)]
    Toml {
        /// Location in the file.
        place: FileLocation,
        /// Error message.
        message: String,
    },
    /// Error in one gate.
    #[error("line {}: gate {number}: {what}", .place.line)]
    Gate {
        /// Location in the file.
        place: FileLocation,
        /// Number of the gate, from 1.
        number: usize,
        /// Error message.
        what: String,
    },
}

impl GateError {
    /// Returns the location of the error in the file.
    #[must_use]
    pub const fn place(&self) -> Option<&FileLocation> {
        match self {
            Self::Toml { place, .. } | Self::Gate { place, .. } => Some(place),
            Self::Read(_) => None,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GateFile {
    #[serde(default)]
    gate: Vec<GateEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GateEntry {
    metric: Spanned<String>,
    #[serde(default, rename = "where")]
    dimensions: BTreeMap<Spanned<String>, toml::Value>,
    worse_by: Option<Spanned<String>>,
    at_least: Option<Spanned<String>>,
    at_most: Option<Spanned<String>>,
}

/// Threshold for a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricGate {
    /// `memory.stream/triad`.
    pub metric: String,
    unit: Unit,
    dimensions: Vec<(Attribute, String)>,
    /// Location of `worse_by`, if given.
    change: Option<FileLocation>,
    worse_by: Option<f64>,
    at_least: Option<f64>,
    at_most: Option<f64>,
}

/// Result of a gate for one measured result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateResult {
    /// Metric and case.
    pub name: String,
    /// Outcome of the gate.
    pub outcome: GateOutcome,
    /// Reason, with the figures.
    pub reason: String,
}

/// Outcome of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// The value is within the threshold.
    Passed,
    /// The value is beyond the threshold.
    Failed,
    /// The interval contains the threshold, or nothing was measured.
    CannotTell,
}

/// Parses a file of gates.
///
/// # Errors
/// When the file is not valid TOML of gates, or a gate has no known metric, dimension, unit or
/// threshold.
pub fn read(text: &str) -> Result<Vec<MetricGate>, GateError> {
    let file: GateFile = toml::from_str(text).map_err(|error| {
        let (place, message) = FileLocation::from_toml_error(text, &error);
        GateError::Toml { place, message }
    })?;
    if file.gate.is_empty() {
        return Err(GateError::Read("the file has no [[gate]]".to_owned()));
    }
    let read = |(number, typed)| {
        build_gate(text, typed).map_err(|(span, what)| {
            let place = FileLocation::from_span(text, span);
            GateError::Gate { place, number, what }
        })
    };
    (1..).zip(file.gate).map(read).collect()
}

fn build_gate(text: &str, typed: GateEntry) -> Result<MetricGate, (Range<usize>, String)> {
    let of = typed.metric.span();
    let (_, metric) = find_metric(typed.metric.get_ref()).ok_or_else(|| {
        (of.clone(), format!("there is no metric `{}`", typed.metric.get_ref()))
    })?;
    let value = |typed: &Option<Spanned<String>>| {
        let Some(typed) = typed else { return Ok(None) };
        let text = typed.get_ref();
        if lacks_unit(text, metric.unit) {
            let wrong =
                EntryError::NoUnit { text: text.clone(), example: metric.unit.symbol() };
            return Err((typed.span(), wrong.to_string()));
        }
        let read = Quantity::parse(text, metric.unit);
        read.map(|it| Some(it.value)).map_err(|error| (typed.span(), error.to_string()))
    };
    let change = typed.worse_by.as_ref().map(|it| FileLocation::from_span(text, it.span()));
    let share = |typed: Spanned<String>| {
        quantity::parse_share(typed.get_ref())
            .map_err(|error| (typed.span(), error.to_string()))
    };
    let worse_by = typed.worse_by.map(share).transpose()?;
    let (at_least, at_most) = (value(&typed.at_least)?, value(&typed.at_most)?);
    if worse_by.is_none() && at_least.is_none() && at_most.is_none() {
        return Err((of, "it has no threshold: worse_by, at_least or at_most".to_owned()));
    }
    let dimension = |(name, value): (Spanned<String>, toml::Value)| {
        let known = Attribute::from_name(name.get_ref());
        let unknown = || (name.span(), format!("there is no dimension `{}`", name.get_ref()));
        Ok((known.ok_or_else(unknown)?, dimension_text(&value)))
    };
    let dimensions: Result<Vec<_>, _> = typed.dimensions.into_iter().map(dimension).collect();
    let (unit, metric, dimensions) = (metric.unit, typed.metric.into_inner(), dimensions?);
    Ok(MetricGate { metric, unit, dimensions, change, worse_by, at_least, at_most })
}

/// Judges every result of the second condition to which a gate applies. A gate without any result
/// is undecided: it must not pass because a benchmark was left out.
#[must_use]
pub fn judge(gates: &[MetricGate], comparison: &Comparison) -> Vec<GateResult> {
    let mut judged = Vec::new();
    for gate in gates {
        let about = |pair: &&MetricComparison| {
            gate.metric == format!("{}/{}", pair.b.benchmark, pair.b.metric)
                && has_dimensions(&pair.b, &gate.dimensions)
        };
        let before = judged.len();
        for pair in comparison.pairs.iter().filter(about) {
            judged.extend(gate.judge_pair(pair));
        }
        if judged.len() == before {
            let reason = "not measured under both conditions".to_owned();
            judged.push(GateResult {
                name: gate.metric.clone(),
                outcome: GateOutcome::CannotTell,
                reason,
            });
        }
    }
    judged
}

impl MetricGate {
    fn judge_pair(&self, pair: &MetricComparison) -> Vec<GateResult> {
        let name = format!("{} {}", self.metric, pair.b.case);
        let mut judged = Vec::new();
        let mut add = |outcome, reason| {
            judged.push(GateResult { name: name.clone(), outcome, reason });
        };
        if let Some(most) = self.worse_by {
            let (outcome, reason) = judge_change(pair, most);
            add(outcome, reason);
        }
        self.judge_bounds(&pair.b)
            .into_iter()
            .for_each(|(outcome, reason)| add(outcome, reason));
        judged
    }

    /// Judges one value by the bounds, without a comparison.
    fn judge_bounds(&self, value: &MetricEstimate) -> Vec<(GateOutcome, String)> {
        let shown = |value: f64| Quantity::new(value, self.unit).to_string();
        let [low, high] = value.ci.unwrap_or([value.median, value.median]);
        let median = shown(value.median);
        let mut judged = Vec::new();
        let of = |passed: bool, failed: bool| match (passed, failed) {
            (true, _) => GateOutcome::Passed,
            (_, true) => GateOutcome::Failed,
            _ => GateOutcome::CannotTell,
        };
        if let Some(least) = self.at_least {
            let reason = format!("{median}, at least {}", shown(least));
            judged.push((of(low >= least, high < least), reason));
        }
        if let Some(most) = self.at_most {
            let reason = format!("{median}, at most {}", shown(most));
            judged.push((of(high <= most, low > most), reason));
        }
        judged
    }
}

/// Judges each host of a run; `hosts` are all that took part. A host without a result for a gate is
/// undecided. Totals of several hosts are judged only by gates that name `host`.
///
/// # Errors
/// When a gate has `worse_by`, which needs two conditions.
pub fn judge_hosts<'r>(
    gates: &[MetricGate],
    hosts: &[&'r str],
    results: &'r [MetricEstimate],
) -> Result<Vec<(&'r str, GateResult)>, GateError> {
    let changes =
        (1..).zip(gates).find_map(|(number, gate)| Some((number, gate.change.clone()?)));
    if let Some((number, place)) = changes {
        let what = "`worse_by` needs two conditions; use assay compare --gate".to_owned();
        return Err(GateError::Gate { place, number, what });
    }
    let mut judged = Vec::new();
    for gate in gates {
        let names_host = gate.dimensions.iter().any(|(name, _)| *name == Attribute::Host);
        let is_about = |it: &&MetricEstimate| {
            gate.metric == format!("{}/{}", it.benchmark, it.metric)
                && has_dimensions(it, &gate.dimensions)
                && (names_host || !it.spans_hosts())
        };
        let about: Vec<&MetricEstimate> = results.iter().filter(is_about).collect();
        for estimate in &about {
            let name = format!("{} {}", gate.metric, estimate.case);
            let said = gate.judge_bounds(estimate).into_iter();
            let said = said.map(|(outcome, reason)| GateResult {
                name: name.clone(),
                outcome,
                reason,
            });
            judged.extend(said.map(|it| (estimate.host.as_str(), it)));
        }
        let measured = |host: &str| about.iter().any(|it| it.host == host);
        for host in hosts.iter().filter(|host| !names_host && !measured(host)) {
            let (name, reason) = (gate.metric.clone(), "nothing was measured".to_owned());
            judged.push((host, GateResult { name, outcome: GateOutcome::CannotTell, reason }));
        }
    }
    Ok(judged)
}

/// Judges the loss of the second condition, by the interval of the ratio. With too few runs for an
/// interval it uses the ratio and adds a note.
fn judge_change(pair: &MetricComparison, most: f64) -> (GateOutcome, String) {
    let Some(ratio) = pair.ratio else {
        return (GateOutcome::CannotTell, "a run has no value above 0".to_owned());
    };
    let loss = |ratio: f64| match pair.b.better {
        Better::Higher => 1.0 - ratio,
        Better::Lower => ratio - 1.0,
    };
    let ends = pair.ratio_ci.map(|[a, b]| {
        let (a, b) = (loss(a), loss(b));
        [a.min(b), a.max(b)]
    });
    let [least_loss, most_loss] = ends.unwrap_or([loss(ratio); 2]);
    let outcome = if least_loss > most {
        GateOutcome::Failed
    } else if most_loss <= most {
        GateOutcome::Passed
    } else {
        GateOutcome::CannotTell
    };
    let basis = if ends.is_some() { "" } else { "; too few runs for an interval" };
    let word = if loss(ratio) > 0.0 { "worse" } else { "better" };
    let share = 100.0 * loss(ratio).abs();
    (
        outcome,
        format!("{share:.1} % {word}, at most {:.1} % worse allowed{basis}", 100.0 * most),
    )
}

/// Combines all outcomes: a failure outweighs everything.
#[must_use]
pub fn overall_outcome(judged: &[GateResult]) -> GateOutcome {
    let has = |outcome| judged.iter().any(|it| it.outcome == outcome);
    if has(GateOutcome::Failed) {
        GateOutcome::Failed
    } else if has(GateOutcome::CannotTell) || judged.is_empty() {
        GateOutcome::CannotTell
    } else {
        GateOutcome::Passed
    }
}

/// Formats the results as `JUnit` XML for code hosts; undecided gates are skipped tests.
#[must_use]
pub fn junit(judged: &[GateResult]) -> String {
    let count = |outcome| judged.iter().filter(|it| it.outcome == outcome).count();
    let (failed, unclear) = (count(GateOutcome::Failed), count(GateOutcome::CannotTell));
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"assay\" tests=\"{}\" \
         failures=\"{failed}\" skipped=\"{unclear}\">\n",
        judged.len()
    );
    for it in judged {
        let (name, reason) = (escape_xml(&it.name), escape_xml(&it.reason));
        let _ = write!(text, "  <testcase classname=\"assay\" name=\"{name}\">");
        let _ = match it.outcome {
            GateOutcome::Passed => write!(text, "<system-out>{reason}</system-out>"),
            GateOutcome::Failed => write!(text, "<failure message=\"{reason}\"/>"),
            GateOutcome::CannotTell => write!(text, "<skipped message=\"{reason}\"/>"),
        };
        text.push_str("</testcase>\n");
    }
    text + "</testsuite>\n"
}

fn escape_xml(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Formats the results as a Markdown table, for the summary of a job.
#[must_use]
pub fn markdown(judged: &[GateResult]) -> String {
    let mut text = "| gate | outcome | reason |\n|---|---|---|\n".to_owned();
    for it in judged {
        let outcome = match it.outcome {
            GateOutcome::Passed => "passed",
            GateOutcome::Failed => "**failed**",
            GateOutcome::CannotTell => "cannot tell",
        };
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(text, "| {} | {outcome} | {} |", cell(&it.name), cell(&it.reason));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_needs_metric_and_threshold() {
        let check = |text: &str, expected: &str| {
            let said =
                read(text).map_or_else(|error| error.to_string(), |it| format!("{it:?}"));
            assert!(said.contains(expected), "{text}: {said}");
        };
        check("", "no [[gate]]");
        check(
            "[[gate]]\nmetric = \"memory.stream/triad\"",
            "line 2: gate 1: it has no threshold",
        );
        check("[[gate]]\nmetric = \"a/b\"\nworse_by = \"5%\"", "no metric `a/b`");
        check(
            "[[gate]]\nmetric = \"storage/latency\"\nat_most = \"2s\"\nworse_by = \"x\"",
            "line 4: gate 1: ",
        );
        check(
            "[[gate]]\nmetric = \"storage/latency\"\nat_most = \"2\"",
            "line 3: gate 1: `2` has no unit",
        );
        let worse_by = |text: &str| {
            format!("[[gate]]\nmetric = \"storage/latency\"\nworse_by = \"{text}\"")
        };
        check(&worse_by("10"), "worse_by: Some(0.1)");
        check(&worse_by("150%"), "worse_by: Some(1.5)");
        check(&worse_by("1"), "line 3: gate 1: ");
        check("[[gate]]\nmetric = 3", "line 2: ");
        check(
            "[[gate]]\nmetric = \"storage/latency\"\nat_most = \"2ms\"\n[[gate]]\nworst = 1",
            "line 5: unknown key `worst`",
        );
        check(
            "[[gate]]\nmetric = \"storage/latency\"\nat_most = \"2ms\"",
            "at_most: Some(0.002)",
        );
    }

    #[test]
    fn documents_escape_text() {
        let judged = |outcome| GateResult {
            name: "a<b>&\"c\"|\u{1}".to_owned(),
            outcome,
            reason: "r".to_owned(),
        };
        let all =
            [GateOutcome::Passed, GateOutcome::Failed, GateOutcome::CannotTell].map(judged);
        let xml = junit(&all);
        assert!(xml.contains("tests=\"3\" failures=\"1\" skipped=\"1\""), "{xml}");
        assert!(xml.contains("name=\"a&lt;b&gt;&amp;&quot;c&quot;|\""), "{xml}");
        assert!(markdown(&all).contains("a<b>&\"c\"\\|"));
        assert_eq!(overall_outcome(&all), GateOutcome::Failed);
        assert_eq!(overall_outcome(&all[..1]), GateOutcome::Passed);
        assert_eq!(overall_outcome(&[]), GateOutcome::CannotTell);
    }
}
