//! Outcomes of gates: of the hosts of a run, as pages and as lines.

use assay_claims::gate::{self, GateOutcome, GateResult, MetricGate};
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::DistrustReason;
use assay_report::document::{Block, ColumnCell, Document, ReportTable, left};
use assay_report::words::{self, message};
use serde::Serialize;
use serde_json::{Value, json};

/// Returns the page of all outcomes.
pub fn outcomes_page(judged: &[GateResult]) -> Document {
    let mut table = ReportTable::with_caption("");
    judged.iter().for_each(|it| table.push(gate_columns(it)));
    table_page(table)
}

fn gate_columns(it: &GateResult) -> [ColumnCell; 3] {
    [
        left(message("column-gate"), &*it.name),
        left(message("column-outcome"), outcome_word(it.outcome)),
        left(message("column-why"), words::phrase(&it.reason)),
    ]
}

fn table_page(table: ReportTable) -> Document {
    let mut document = Document::new(message("gates-title"));
    document.blocks.push(Block::Table(table));
    document
}

/// Returns a line with the first gate that is not met, and the number of others; `None` if all are
/// met.
pub fn exceptions_line(judged: &[GateResult]) -> Option<String> {
    let named: Vec<_> = judged.iter().map(|it| ("", it)).collect();
    format_exceptions(&named)
}

/// Hosts with the outcome of each gate.
#[derive(Debug)]
pub struct JudgedHosts<'s>(Vec<(&'s str, GateResult)>);

/// Outcome of a gate for a host in the JSON document.
#[derive(Serialize)]
struct JudgedGate<'s> {
    host: &'s str,
    #[serde(flatten)]
    result: &'s GateResult,
}

impl<'s> JudgedHosts<'s> {
    /// Judges all hosts of a run. A suspect value decides nothing.
    pub fn judge(gates: &[MetricGate], summary: &'s RunSummary) -> Self {
        let hosts: Vec<&str> = summary.hosts.iter().map(|host| host.name.as_str()).collect();
        let doubt = |estimate: &MetricEstimate| {
            let reason = DistrustReason::from_run(estimate, summary)?;
            // A wide interval decides by itself whether it contains the threshold.
            let is_wide = matches!(reason, DistrustReason::WideInterval { .. });
            (!is_wide).then(|| words::distrust_phrase(reason))
        };
        Self(gate::judge_hosts(gates, &hosts, &summary.results, &doubt))
    }

    /// Returns the hosts that fail a gate.
    pub fn failed_hosts(&self) -> impl Iterator<Item = &'s str> {
        let failed = self.0.iter().filter(|(_, it)| it.outcome == GateOutcome::Failed);
        failed.map(|(host, _)| *host)
    }

    /// Returns all outcomes, without their hosts.
    pub fn results(&self) -> Vec<GateResult> {
        self.0.iter().map(|(_, it)| it.clone()).collect()
    }

    /// Returns the outcomes for the JSON document.
    pub fn to_json(&self) -> Value {
        let judged = |(host, result): &(&str, GateResult)| json!(JudgedGate { host, result });
        self.0.iter().map(judged).collect()
    }

    /// Returns the page of the gates that hosts do not meet; `None` if all are met.
    pub fn exceptions_page(&self) -> Option<Document> {
        let mut table = ReportTable::with_caption("");
        let exceptions = self.0.iter().filter(|(_, it)| it.outcome != GateOutcome::Passed);
        for (host, it) in exceptions {
            let host = left(message("column-host"), *host);
            table.push(std::iter::once(host).chain(gate_columns(it)));
        }
        (!table.rows.is_empty()).then(|| table_page(table))
    }

    /// Returns a line with the first gate that a host does not meet, and the number of others.
    pub fn exceptions_line(&self) -> Option<String> {
        let named: Vec<_> = self.0.iter().map(|(host, it)| (*host, it)).collect();
        format_exceptions(&named)
    }

    /// Returns the outcome of all gates and hosts.
    pub fn outcome(&self) -> GateOutcome {
        gate::overall_outcome(&self.results())
    }
}

/// Returns a line with the first gate that is not met, after its host if it has one, and the number
/// of others.
fn format_exceptions(judged: &[(&str, &GateResult)]) -> Option<String> {
    let of_outcome = |outcome| {
        let mut all = judged.iter().filter(|(_, it)| it.outcome == outcome);
        let (host, first) = all.next()?;
        let others = match all.count() {
            0 => String::new(),
            n => format!(" {}", words::count_message("gates-others", n)),
        };
        let host = if host.is_empty() { String::new() } else { format!("{host}: ") };
        let word = outcome_word(outcome);
        let reason = words::phrase(&first.reason);
        Some(format!("--expect: {word}: {host}{}: {reason}{others}", first.name))
    };
    of_outcome(GateOutcome::Failed).or_else(|| of_outcome(GateOutcome::CannotTell))
}

fn outcome_word(outcome: GateOutcome) -> &'static str {
    message(match outcome {
        GateOutcome::Passed => "gate-passed",
        GateOutcome::Failed => "gate-failed",
        GateOutcome::CannotTell => "verdict-cannot-tell",
    })
}

#[cfg(test)]
mod tests {
    use assay_claims::expectation::{Expectations, JudgedResults};
    use assay_report::locale::{Language, Locale};

    use super::*;

    #[test]
    fn reasons_are_in_the_language_of_the_screen() {
        let text = "[[claim]]\nmetric = \"memory.stream/triad\"\nvalue = \"6 GB/s\"\n";
        let expected = Expectations::parse(text, JudgedResults::SingleRuns).unwrap();
        let claims = expected.claims.as_slice();
        let judged = gate::judge_unmeasured((claims, &[]), &[]);
        let twice = [judged.clone(), judged.clone()].concat();
        for (locale, expected) in [
            (Locale::En, "cannot tell: claim memory.stream/triad: nothing was measured"),
            (Locale::De, "es wurde nichts gemessen (und 1 weitere)"),
            (Locale::Fr, "rien n’a été mesuré (et 1 de plus)"),
        ] {
            let language = Language { locale, has_invariant_units: false };
            let line = language.scope(|| exceptions_line(&twice)).unwrap();
            assert!(line.contains(expected), "{line}");
        }
        assert_eq!(json!(judged)[0]["reason"], "nothing was measured");
    }
}
