//! Level of trust in a run, and the notice that opens its report.

use assay_model::comparison::SuspectRun;
use assay_model::doubt::{Doubt, TrustLevel};
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::{self, DistrustReason};

use super::{answer_rows, suspect_latency};
use crate::build::run::estimate_parts::metric_name;
use crate::document::{Document, Tone};
use crate::locale::{semicolon, with_detail};
use crate::words;

/// Returns the level of trust in a run: that of its least trusted headline value.
pub fn trust_level(summary: &RunSummary) -> TrustLevel {
    let of_run = trust::run_doubts(summary).map(|doubt| doubt.row().level);
    let of_values = judged_estimates(summary).into_iter();
    let of_values =
        of_values.map(|it| DistrustReason::level_of(DistrustReason::from_estimate(it)));
    of_run.chain(of_values).max().unwrap_or_default()
}

/// Returns the reasons for the level of trust in a run; empty if it is sound.
pub fn distrust_reasons(summary: &RunSummary) -> Vec<String> {
    let level = trust_level(summary);
    if level == TrustLevel::Sound {
        return Vec::new();
    }
    let of_run = trust::run_doubts(summary).filter(|doubt| doubt.row().level == level);
    let mut reasons = words::doubts(of_run);
    let judged = judged_results(summary);
    let reason = |estimate| DistrustReason::from_estimate(estimate);
    let doubted = judged.iter().filter_map(|(label, it)| Some((label, reason(*it)?)));
    let mut doubted = doubted.filter(|(_, reason)| reason.level() == level);
    if let Some((first, why)) = doubted.next() {
        let why = words::distrust(why);
        reasons.push(match 1 + doubted.count() {
            1 => message!("answer-doubted-one", first = first, why = why),
            some => {
                let all = judged.len();
                message!("answer-doubted", some = some, all = all, first = first, why = why)
            }
        });
    }
    reasons
}

/// Returns the run with the first doubt that makes it suspect; `None` if it is not.
pub fn suspect_run(summary: &RunSummary) -> Option<SuspectRun> {
    let is_suspect = |doubt: &&Doubt| doubt.row().level == TrustLevel::Suspect;
    let of_value = |it| match DistrustReason::from_estimate(it)? {
        DistrustReason::Doubted(doubt) => Some(doubt),
        _ => None,
    };
    let of_values = judged_estimates(summary).into_iter().filter_map(of_value);
    let doubt = trust::run_doubts(summary).chain(of_values).find(is_suspect)?;
    Some(SuspectRun { run: summary.run.id.clone(), doubt: doubt.clone() })
}

/// Returns the results that decide on the trust in a run: its headlines, with suspect latencies beside them,
/// or all results of a run without headlines, such as one imported from another tool.
pub fn judged_estimates(summary: &RunSummary) -> Vec<&MetricEstimate> {
    judged_results(summary).into_iter().map(|(_, estimate)| estimate).collect()
}

/// Returns these results with their labels.
fn judged_results(summary: &RunSummary) -> Vec<(String, &MetricEstimate)> {
    let rows = answer_rows(summary);
    if rows.is_empty() {
        return summary.results.iter().map(|it| (metric_name(it), it)).collect();
    }
    let latencies = rows.iter().filter_map(|row| {
        let latency = suspect_latency(summary, row.estimate)?;
        Some((with_detail(&row.label, &metric_name(latency)), latency))
    });
    let latencies: Vec<(String, &MetricEstimate)> = latencies.collect();
    let headlines = rows.into_iter().map(|row| (row.label, row.estimate));
    headlines.chain(latencies).collect()
}

/// Returns the notice that opens the report of a run that is not sound; otherwise empty.
pub fn trust_notice(summary: &RunSummary) -> String {
    let reasons = distrust_reasons(summary).join(semicolon());
    match trust_level(summary) {
        TrustLevel::Sound => String::new(),
        TrustLevel::Noisy => message!("answer-noisy", reasons = reasons),
        TrustLevel::Suspect => message!("answer-suspect", reasons = reasons),
    }
}

/// Adds the notice to a document.
pub(in crate::build) fn add_trust_notice(document: &mut Document, summary: &RunSummary) {
    document.paragraph(level_tone(trust_level(summary)), trust_notice(summary));
}

pub(in crate::build) const fn level_tone(level: TrustLevel) -> Tone {
    match level {
        TrustLevel::Sound => Tone::Plain,
        TrustLevel::Noisy => Tone::Doubt,
        TrustLevel::Suspect => Tone::Bad,
    }
}
