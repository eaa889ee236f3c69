//! Machine-readable results: every field of the summary, and texts in addition to identifiers.
//!
//! Numbers are in base units and never localised. Non-finite numbers, which JSON cannot represent,
//! are `null`.

#![expect(non_camel_case_types, reason = "each member of an object has a type of its name")]

use std::collections::BTreeMap;

use assay_model::attribute::{AttributeValue as Attribute, Attributes};
use assay_model::benchmark::Better;
use assay_model::comparison::{Comparison, EnvironmentDifference, MetricComparison};
use assay_model::doubt::{Doubt, TrustLevel};
use assay_model::facts::HostFacts;
use assay_model::history::{
    DetectionMethod, EnvironmentChange, History, HistoryPoint, LevelChange, Sensitivity,
};
use assay_model::kernel_counters::CounterRecord;
use assay_model::level_comparison::LevelComparison;
use assay_model::limit::PhysicalLimit;
use assay_model::plan::OmittedMeasure;
use assay_model::quantity::Unit;
use assay_model::run_table::{RunTable, RunTableRow};
use assay_model::summary::{CaseFailure, MetricEstimate, RunHeader, RunSummary};
use assay_model::trust::{self, DistrustReason};
use serde::Serialize;
use serde_json::{Value, json};

use crate::locale::Language;
use crate::{build, words};

/// Returns an object with these members, in this order.
macro_rules! object {
    ($($name:ident: $value:expr,)+) => {{
        #[derive(serde::Serialize)]
        struct Object<$($name),+> {
            $($name: $name),+
        }
        Object { $($name: $value),+ }
    }};
}

mod levels;

#[derive(Serialize)]
struct SummaryOut<'a, R, L, C> {
    schema: u32,
    statistics: u32,
    run: &'a RunHeader,
    trust: TrustOut,
    hosts: &'a [HostFacts],
    results: Vec<R>,
    steps: Vec<R>,
    failures: Vec<FailureOut<'a>>,
    omitted: Vec<OmittedOut<'a>>,
    warnings: Vec<DoubtOut<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    counters: &'a [CounterRecord],
    #[serde(skip_serializing_if = "Option::is_none")]
    gates: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<L>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comparisons: Vec<C>,
}

#[derive(Serialize)]
struct TrustOut {
    verdict: &'static str,
    level: TrustLevel,
    because: Vec<DistrustOut>,
}

#[derive(Serialize)]
struct DistrustOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    case: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<String>,
    id: String,
    level: TrustLevel,
    text: String,
}

#[derive(Serialize)]
struct OmittedOut<'a> {
    #[serde(flatten)]
    omitted: &'a OmittedMeasure,
    text: String,
    advice: String,
}

#[derive(Serialize)]
struct LimitOut {
    value: f64,
    basis: String,
    basis_id: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    basis_arguments: Value,
}

#[derive(Serialize)]
struct DoubtOut<'a> {
    id: &'a str,
    text: String,
    advice: String,
    #[serde(skip_serializing_if = "Value::is_null")]
    arguments: Value,
}

#[derive(Serialize)]
struct FailureOut<'a> {
    benchmark: &'a str,
    case: &'a str,
    host: &'a str,
    id: &'a str,
    reason: String,
    advice: String,
    #[serde(skip_serializing_if = "Value::is_null")]
    arguments: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'a str>,
}

#[derive(Serialize)]
struct HistoryOut<'a> {
    schema: u32,
    statistics: u32,
    benchmark: &'a str,
    metric: &'a str,
    parameters: BTreeMap<&'static str, Value>,
    unit: Unit,
    better: Better,
    host: &'a str,
    points: &'a [HistoryPoint],
    changes: &'a [LevelChange],
    environment: &'a [EnvironmentChange],
    method: &'a DetectionMethod,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    conditions: BTreeMap<&'static str, Value>,
    sensitivity: Sensitivity,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_conditions: Vec<Self>,
}

#[derive(Serialize)]
struct DifferenceOut<'a> {
    #[serde(flatten)]
    difference: &'a EnvironmentDifference,
    text: String,
}

/// Renders the summary as one JSON document and a final line break.
pub fn summary(summary: &RunSummary) -> String {
    summary_with(summary, SummaryVerdicts::default())
}

/// What a document contains beside the summary.
#[derive(Debug, Default)]
pub struct SummaryVerdicts<'v> {
    /// Outcomes of the user's gates.
    pub gates: Option<Value>,
    /// Compared levels of factors.
    pub levels: Option<&'v LevelComparison>,
    /// Programs compared with the first one.
    pub comparisons: &'v [Comparison],
}

/// Renders the summary as [`summary`], with verdicts as `gates`, `levels` and `comparisons`.
pub fn summary_with(summary: &RunSummary, verdicts: SummaryVerdicts<'_>) -> String {
    let judged =
        |it: &MetricEstimate| DistrustReason::level_of(DistrustReason::from_run(it, summary));
    let render = || {
        to_json_text(&SummaryOut {
            schema: summary.schema,
            statistics: summary.statistics,
            run: &summary.run,
            trust: trust(summary),
            hosts: &summary.hosts,
            results: summary.results.iter().map(|it| estimate(it, judged(it))).collect(),
            steps: summary.steps.iter().map(|it| estimate(it, own_trust(it))).collect(),
            failures: summary.failures.iter().map(failure).collect(),
            omitted: summary.omitted.iter().map(omitted).collect(),
            warnings: summary.warnings.iter().map(doubt).collect(),
            counters: &summary.counters,
            gates: verdicts.gates,
            levels: verdicts.levels.map(levels::object),
            comparisons: verdicts.comparisons.iter().map(comparison_object).collect(),
        })
    };
    Language::INVARIANT.scope(render)
}

/// Renders the comparison as one JSON document and a final line break.
pub fn comparison(comparison: &Comparison) -> String {
    Language::INVARIANT.scope(|| to_json_text(&comparison_object(comparison)))
}

fn comparison_object(comparison: &Comparison) -> impl Serialize {
    object! {
        schema: comparison.schema,
        a: &comparison.a,
        b: &comparison.b,
        control: &comparison.control,
        design: comparison.design,
        margin: comparison.margin,
        level: comparison.level,
        tested: comparison.tested,
        false_share: comparison.false_share,
        pairs: comparison.pairs.iter().map(pair).collect::<Vec<_>>(),
        unmatched: &comparison.unmatched,
        differences: comparison.differences.iter().map(difference).collect::<Vec<_>>(),
        suspect: comparison.suspect.iter().map(|it| &it.run).collect::<Vec<_>>(),
    }
}

/// Renders the comparison of levels as one JSON document and a final line break.
pub fn level_comparison(comparison: &LevelComparison) -> String {
    Language::INVARIANT.scope(|| to_json_text(&levels::object(comparison)))
}

/// Renders the history as one JSON document and a final line break.
pub fn history(history: &History) -> String {
    to_json_text(&history_out(history))
}

fn history_out(history: &History) -> HistoryOut<'_> {
    HistoryOut {
        schema: history.schema,
        statistics: history.statistics,
        benchmark: &history.benchmark,
        metric: &history.metric,
        parameters: parameters(&history.identity),
        unit: history.unit,
        better: history.better,
        host: &history.host,
        points: &history.points,
        changes: &history.changes,
        environment: &history.environment,
        method: &history.method,
        label: history.label.as_deref(),
        conditions: parameters(&history.conditions),
        sensitivity: history.sensitivity,
        other_conditions: history.other_conditions.iter().map(history_out).collect(),
    }
}

/// Returns a result as the documents of runs have it.
pub fn result(result: &MetricEstimate) -> Value {
    Language::INVARIANT.scope(|| to_json_value(&plain_estimate(result)))
}

/// Renders a document on several lines, with a final line break.
///
/// # Panics
/// If a key of the document is no text.
pub fn document(document: &impl Serialize) -> String {
    to_json_text(document)
}

/// Renders a value on several lines, with a final line break.
pub(crate) fn to_json_text(out: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(out);
    json.expect("a summary has only keys that are text") + "\n"
}

/// Renders a value on one line.
pub(crate) fn to_json_line(out: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(out).expect("a summary has only keys that are text")
}

fn to_json_value(out: &impl Serialize) -> Value {
    serde_json::to_value(out).expect("a summary has only keys that are text")
}

/// Renders a table of runs as one JSON document and a final line break.
pub fn run_table(table: &RunTable) -> String {
    let render = || {
        to_json_text(&object! {
            schema: assay_model::summary::SCHEMA,
            runs: &table.runs,
            rows: table.rows.iter().map(run_table_row).collect::<Vec<_>>(),
        })
    };
    Language::INVARIANT.scope(render)
}

fn run_table_row(row: &RunTableRow) -> impl Serialize {
    let results = row.estimates.iter().map(|it| Some(plain_estimate(it.as_ref()?)));
    object! {
        results: results.collect::<Vec<_>>(),
        // Median over that of the first run.
        ratios: (0..row.estimates.len()).map(|run| row.ratio(run)).collect::<Vec<_>>(),
    }
}

fn trust(summary: &RunSummary) -> TrustOut {
    let value_reason = |estimate: &MetricEstimate| {
        let reason = DistrustReason::from_estimate(estimate)?;
        let (case, metric) = (estimate.case.clone(), estimate.metric.clone());
        let (id, text) = (reason.id().to_owned(), words::distrust(reason));
        let level = reason.level();
        Some(DistrustOut { case: Some(case), metric: Some(metric), id, level, text })
    };
    let run_reason = |doubt: &Doubt| {
        let (id, text) = (doubt.id().to_owned(), words::doubt(doubt).text);
        DistrustOut { case: None, metric: None, id, level: doubt.row().level, text }
    };
    let values = build::judged_estimates(summary).into_iter().filter_map(value_reason);
    let because = trust::run_doubts(summary).map(run_reason).chain(values).collect();
    let level = build::trust_level(summary);
    let verdict = if level == TrustLevel::Sound { "trusted" } else { "untrusted" };
    TrustOut { verdict, level, because }
}

fn omitted(omitted: &OmittedMeasure) -> OmittedOut<'_> {
    let words::Explanation { text, advice } = words::omitted(omitted);
    OmittedOut { omitted, text, advice }
}

fn difference(difference: &EnvironmentDifference) -> DifferenceOut<'_> {
    DifferenceOut {
        difference,
        text: words::without_no_break_spaces(&words::difference(difference)),
    }
}

fn pair(pair: &MetricComparison) -> impl Serialize {
    object! {
        a: plain_estimate(&pair.a),
        b: plain_estimate(&pair.b),
        ratio: pair.ratio,
        ratio_ci: pair.ratio_ci,
        p: pair.p,
        p_adjusted: pair.p_adjusted,
        floor: pair.floor,
        verdict: pair.verdict,
        runs_to_tell: pair.runs_to_decide,
        headline: pair.is_headline,
    }
}

/// Returns a result with the trust that its own doubts leave.
fn plain_estimate(it: &MetricEstimate) -> impl Serialize {
    estimate(it, own_trust(it))
}

fn own_trust(it: &MetricEstimate) -> TrustLevel {
    DistrustReason::level_of(DistrustReason::from_estimate(it))
}

fn estimate(it: &MetricEstimate, trust: TrustLevel) -> impl Serialize {
    object! {
        benchmark: &it.benchmark,
        case: &it.case,
        metric: &it.metric,
        parameters: parameters(&it.parameters),
        unit: it.unit,
        better: it.better,
        n: it.n,
        n_effective: it.n_effective,
        median: it.median,
        ci: it.ci,
        ci_level: it.ci_level,
        min: it.min,
        max: it.max,
        mean: it.mean,
        percentiles: it.percentiles.as_ref(),
        limit: it.limit.as_ref().map(limit),
        percent_of_limit: it.percent_of_limit,
        host: &it.host,
        tool: &it.tool,
        warnings: it.warnings.iter().map(doubt).collect::<Vec<_>>(),
        trust: trust,
    }
}

/// Returns the attributes by name, as the JSON document has them.
pub(crate) fn parameters(attributes: &Attributes) -> BTreeMap<&'static str, Value> {
    let plain = |stored: &Attribute| match stored {
        Attribute::Reason(reason) => {
            let (id, arguments) = id_and_arguments(reason);
            json!({ "id": id, "text": words::without_no_break_spaces(&words::engine_reason(reason)), "arguments": arguments })
        }
        other => to_json_value(other),
    };
    attributes.iter().map(|(name, value)| (name.name(), plain(value))).collect()
}

fn limit(limit: &PhysicalLimit) -> LimitOut {
    let (basis_id, basis_arguments) = id_and_arguments(&limit.basis);
    LimitOut {
        value: limit.value,
        basis: words::without_no_break_spaces(&words::basis(&limit.basis)),
        basis_id,
        basis_arguments,
    }
}

fn doubt(doubt: &Doubt) -> DoubtOut<'_> {
    let words = words::doubt(doubt).without_no_break_spaces();
    let arguments = id_and_arguments(doubt).1;
    DoubtOut { id: doubt.id(), text: words.text, advice: words.advice, arguments }
}

fn failure(it: &CaseFailure) -> FailureOut<'_> {
    let words = words::failure(&it.failure).without_no_break_spaces();
    let arguments = id_and_arguments(&it.failure).1;
    FailureOut {
        benchmark: &it.benchmark,
        case: &it.case,
        host: &it.host,
        id: it.failure.id(),
        reason: words.text,
        advice: words.advice,
        arguments,
        because: it.because.as_deref(),
    }
}

/// Splits a value that is stored as identifier and arguments.
fn id_and_arguments(it: &impl Serialize) -> (Value, Value) {
    let mut stored = to_json_value(it);
    (stored["id"].take(), stored["arguments"].take())
}
