//! Gates: thresholds from a user's file that the results of a comparison or a run must meet, for CI
//! and similar automation.

use std::fmt::Write as _;

use assay_model::attribute::Attribute;
use assay_model::benchmark::Better;
use assay_model::comparison::{Comparison, MetricComparison};
use assay_model::doubt::Doubt;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::quantity::{Quantity, Unit};
use assay_model::sanitize::escape_xml;
use assay_model::summary::MetricEstimate;
use serde::{Serialize, Serializer};

use crate::reference::{Claim, applies_to, has_dimensions, limits_result};

/// Threshold for a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricGate {
    /// Benchmark and metric: `memory.stream/triad`.
    pub metric: String,
    pub(crate) unit: Unit,
    pub(crate) dimensions: Vec<(Attribute, String)>,
    pub(crate) worse_by: Option<f64>,
    pub(crate) at_least: Option<f64>,
    pub(crate) at_most: Option<f64>,
}

/// Result of a gate for one measured result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateResult {
    /// Metric and case.
    pub name: String,
    /// Outcome of the gate.
    pub outcome: GateOutcome,
    /// Reason, with the figures; English in machine-readable formats.
    #[serde(serialize_with = "serialize_english")]
    pub reason: Phrase,
}

fn serialize_english<S: Serializer>(reason: &Phrase, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(reason)
}

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

impl GateOutcome {
    /// All outcomes.
    pub const ALL: [Self; 3] = [Self::Passed, Self::Failed, Self::CannotTell];

    /// Returns the word of machine-readable formats.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::CannotTell => "cannot-tell",
        }
    }
}

/// Judges every result of the second condition to which a gate applies. A gate without any result
/// is undecided: it must not pass because a benchmark was left out.
pub fn judge(gates: &[MetricGate], comparison: &Comparison) -> Vec<GateResult> {
    let mut gate_results = Vec::new();
    for gate in gates {
        let applies = |pair: &&MetricComparison| {
            gate.metric == format!("{}/{}", pair.b.benchmark, pair.b.metric)
                && has_dimensions(&pair.b, &gate.dimensions)
        };
        let count_before = gate_results.len();
        for pair in comparison.pairs.iter().filter(applies) {
            gate_results.extend(gate.judge_pair(pair));
        }
        if gate_results.len() == count_before {
            let reason = phrase!("gate-not-compared", "not measured under both conditions");
            gate_results.push(GateResult {
                name: gate.metric.clone(),
                outcome: GateOutcome::CannotTell,
                reason,
            });
        }
    }
    gate_results
}

impl MetricGate {
    fn judge_pair(&self, pair: &MetricComparison) -> Vec<GateResult> {
        let name = format!("{} {}", self.metric, pair.b.case);
        let mut gate_results = Vec::new();
        let mut add = |outcome, reason| {
            gate_results.push(GateResult { name: name.clone(), outcome, reason });
        };
        if let Some(max_loss) = self.worse_by {
            let (outcome, reason) = judge_change(pair, max_loss);
            add(outcome, reason);
        }
        self.judge_bounds(&pair.b)
            .into_iter()
            .for_each(|(outcome, reason)| add(outcome, reason));
        gate_results
    }

    /// Judges one value by `at_least` and `at_most`, without a comparison.
    fn judge_bounds(&self, value: &MetricEstimate) -> Vec<(GateOutcome, Phrase)> {
        let format_value = |value: f64| format_exact(Quantity::new(value, self.unit));
        let [low, high] = value.ci.unwrap_or([value.median, value.median]);
        let median = format_value(value.median);
        let mut outcomes = Vec::new();
        let outcome = |passed: bool, failed: bool| match (passed, failed) {
            (true, _) => GateOutcome::Passed,
            (_, true) => GateOutcome::Failed,
            _ => GateOutcome::CannotTell,
        };
        if let Some(minimum) = self.at_least {
            let reason = phrase!(
                "gate-at-least",
                "{value}, at least {bound}",
                value = median.clone(),
                bound = format_value(minimum)
            );
            outcomes.push((outcome(low >= minimum, high < minimum), reason));
        }
        if let Some(maximum) = self.at_most {
            let reason = phrase!(
                "gate-at-most",
                "{value}, at most {bound}",
                value = median,
                bound = format_value(maximum)
            );
            outcomes.push((outcome(high <= maximum, low > maximum), reason));
        }
        outcomes
    }
}

/// Judges each host of a run; `hosts` are all hosts that took part. A host is undecided without a
/// result for a gate, or if `doubt` names a reason not to decide by its result. Totals of several
/// hosts are judged only by gates that name `host`.
pub fn judge_hosts<'r>(
    gates: &[MetricGate],
    hosts: &[&'r str],
    results: &'r [MetricEstimate],
    doubt: &dyn Fn(&MetricEstimate) -> Option<Phrase>,
) -> Vec<(&'r str, GateResult)> {
    let mut gate_results = Vec::new();
    for gate in gates {
        let names_host = gate.dimensions.iter().any(|(name, _)| *name == Attribute::Host);
        let applies = |it: &&MetricEstimate| {
            gate.metric == format!("{}/{}", it.benchmark, it.metric)
                && has_dimensions(it, &gate.dimensions)
                && (names_host || !it.spans_hosts())
        };
        let applicable: Vec<&MetricEstimate> = results.iter().filter(applies).collect();
        for estimate in &applicable {
            let name = format!("{} {}", gate.metric, estimate.case);
            let outcomes = gate.judge_bounds(estimate).into_iter();
            let doubt = doubt(estimate);
            let host_results = outcomes.map(|(outcome, reason)| match &doubt {
                None => GateResult { name: name.clone(), outcome, reason },
                Some(doubt) => GateResult {
                    name: name.clone(),
                    outcome: GateOutcome::CannotTell,
                    reason: phrase!(
                        "gate-in-doubt",
                        "{reason}; in doubt: {doubt}",
                        reason = reason,
                        doubt = doubt.clone()
                    ),
                },
            });
            gate_results.extend(host_results.map(|it| (estimate.host.as_str(), it)));
        }
        let has_result = |host: &str| applicable.iter().any(|it| it.host == host);
        for host in hosts.iter().filter(|host| !names_host && !has_result(host)) {
            let (name, reason) = (gate.metric.clone(), unmeasured());
            gate_results
                .push((host, GateResult { name, outcome: GateOutcome::CannotTell, reason }));
        }
        if names_host && applicable.is_empty() {
            let dimensions = gate.dimensions.iter();
            let dimensions = dimensions.map(|(name, it)| format!("{}={it}", name.name()));
            let name = format!("{} {}", gate.metric, dimensions.collect::<Vec<_>>().join(" "));
            let is_named = |host: &&&str| {
                gate.dimensions.contains(&(Attribute::Host, (**host).to_owned()))
            };
            let host = hosts.iter().find(is_named).copied().unwrap_or_default();
            let (outcome, reason) = (GateOutcome::CannotTell, unmeasured());
            gate_results.push((host, GateResult { name, outcome, reason }));
        }
    }
    gate_results
}

/// Returns the own claims and limits that no result fits: nothing shows whether they are met.
pub fn judge_unmeasured(
    (claims, limits): (&[Claim], &[Claim]),
    results: &[MetricEstimate],
) -> Vec<GateResult> {
    let has_result = |fits: fn(&Claim, &MetricEstimate) -> bool, claim: &Claim| {
        results.iter().any(|estimate| fits(claim, estimate))
    };
    let claims = claims.iter().filter(|it| it.is_own && !has_result(applies_to, it));
    let limits = limits.iter().filter(|it| it.is_own && !has_result(limits_result, it));
    let undecided = |(kind, claim): (&str, &Claim)| GateResult {
        name: format!("{kind} {}", target_name(claim)),
        outcome: GateOutcome::CannotTell,
        reason: unmeasured(),
    };
    let claims = claims.map(|it| ("claim", it));
    claims.chain(limits.map(|it| ("limit", it))).map(undecided).collect()
}

/// Judges results whose limits were applied. A value above its limit is in doubt and decides
/// nothing.
pub fn judge_limits(limits: &[Claim], results: &[MetricEstimate]) -> Vec<GateResult> {
    let mut gate_results = Vec::new();
    for limit in limits {
        let Quantity { value: maximum, unit } = limit.quantity;
        for estimate in results.iter().filter(|it| limits_result(limit, it)) {
            let mut doubts = estimate.warnings.iter();
            // A lower limit of the hardware may be exceeded while this one holds.
            let is_above = doubts.any(
                |it| matches!(it, Doubt::AboveLimit { limit, .. } if limit.value >= maximum),
            );
            let value = format_exact(Quantity::new(estimate.median, unit));
            let bound = format_exact(Quantity::new(maximum, unit));
            gate_results.push(GateResult {
                name: format!("limit {} {}", limit.what, estimate.case),
                outcome: match is_above {
                    true => GateOutcome::CannotTell,
                    false => GateOutcome::Passed,
                },
                reason: match is_above {
                    true => phrase!(
                        "gate-above-limit",
                        "{value}, above the limit {bound}",
                        value = value,
                        bound = bound
                    ),
                    false => phrase!(
                        "gate-limit",
                        "{value}, limit {bound}",
                        value = value,
                        bound = bound
                    ),
                },
            });
        }
    }
    gate_results
}

/// Returns the metric of a claim and its dimensions.
fn target_name(claim: &Claim) -> String {
    let dimensions = claim.of.iter().flat_map(|target| &target.dimensions);
    let dimensions = dimensions.map(|(name, value)| format!(" {}={value}", name.name()));
    claim.what.clone() + &dimensions.collect::<String>()
}

/// Judges by how much the second condition is worse, from the interval of the ratio. With too few
/// runs for an interval it uses the ratio and adds a note.
fn judge_change(pair: &MetricComparison, max_loss: f64) -> (GateOutcome, Phrase) {
    let Some(ratio) = pair.ratio else {
        return (
            GateOutcome::CannotTell,
            phrase!("gate-no-ratio", "a run has no positive value"),
        );
    };
    let loss = |ratio: f64| match pair.b.better {
        Better::Higher => 1.0 - ratio,
        Better::Lower => ratio - 1.0,
    };
    let ends = pair.ratio_ci.map(|[a, b]| {
        let (a, b) = (loss(a), loss(b));
        [a.min(b), a.max(b)]
    });
    let [loss_low, loss_high] = ends.unwrap_or([loss(ratio); 2]);
    let outcome = if loss_low > max_loss {
        GateOutcome::Failed
    } else if loss_high <= max_loss {
        GateOutcome::Passed
    } else {
        GateOutcome::CannotTell
    };
    let percent = |share: f64| Phrase::exact_value(format!("{:.1} %", 100.0 * share));
    let (share, allowed) = (percent(loss(ratio).abs()), percent(max_loss));
    let reason = match loss(ratio) > 0.0 {
        true => phrase!(
            "gate-worse",
            "{share} worse, at most {allowed} worse allowed",
            share = share,
            allowed = allowed
        ),
        false => phrase!(
            "gate-better",
            "{share} better, at most {allowed} worse allowed",
            share = share,
            allowed = allowed
        ),
    };
    let reason = match ends {
        Some(_) => reason,
        None => {
            phrase!("gate-few-runs", "{reason}; too few runs for an interval", reason = reason)
        }
    };
    (outcome, reason)
}

/// Reason of an entry without a result.
fn unmeasured() -> Phrase {
    phrase!("gate-unmeasured", "nothing was measured")
}

fn format_exact(quantity: Quantity) -> Phrase {
    Phrase::exact_value(quantity.to_string())
}

/// Combines all outcomes: failed if any gate failed, otherwise undecided if any is undecided.
pub fn overall_outcome(results: &[GateResult]) -> GateOutcome {
    let has = |outcome| results.iter().any(|it| it.outcome == outcome);
    if has(GateOutcome::Failed) {
        GateOutcome::Failed
    } else if has(GateOutcome::CannotTell) || results.is_empty() {
        GateOutcome::CannotTell
    } else {
        GateOutcome::Passed
    }
}

/// Formats the results as `JUnit` XML for code hosts; undecided gates are skipped tests.
pub fn junit(results: &[GateResult]) -> String {
    let count = |outcome| results.iter().filter(|it| it.outcome == outcome).count();
    let (failed, unclear) = (count(GateOutcome::Failed), count(GateOutcome::CannotTell));
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"assay\" tests=\"{}\" \
         failures=\"{failed}\" skipped=\"{unclear}\">\n",
        results.len()
    );
    for it in results {
        let (name, reason) = (escape_xml(&it.name), escape_xml(&it.reason.to_string()));
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

/// Formats the results as a Markdown table, for the summary of a job.
pub fn markdown(results: &[GateResult]) -> String {
    let mut text = "| gate | outcome | reason |\n|---|---|---|\n".to_owned();
    for it in results {
        let outcome = match it.outcome {
            GateOutcome::Passed => "passed",
            GateOutcome::Failed => "**failed**",
            GateOutcome::CannotTell => "cannot tell",
        };
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| {} | {outcome} | {} |",
            cell(&it.name),
            cell(&it.reason.to_string())
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_escape_text() {
        let gate_result = |outcome| GateResult {
            name: "a<b>&\"c\"|\u{1}".to_owned(),
            outcome,
            reason: "r".into(),
        };
        let results = [GateOutcome::Passed, GateOutcome::Failed, GateOutcome::CannotTell]
            .map(gate_result);
        let xml = junit(&results);
        assert!(xml.contains("tests=\"3\" failures=\"1\" skipped=\"1\""), "{xml}");
        assert!(xml.contains("name=\"a&lt;b&gt;&amp;&quot;c&quot;|\\u0001\""), "{xml}");
        assert!(markdown(&results).contains("a<b>&\"c\"\\|"));
        assert_eq!(overall_outcome(&results), GateOutcome::Failed);
        assert_eq!(overall_outcome(&results[..1]), GateOutcome::Passed);
        assert_eq!(overall_outcome(&[]), GateOutcome::CannotTell);
    }
}
