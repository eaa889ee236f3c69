//! Summary of a run: converts its events into estimates with their uncertainty.
//!
//! Every series of every finished case becomes an estimate, and so do the totals of several hosts.
//! Steps add their facts. Limits are attached, some of them from other estimates of the same run.
//! Every estimate is checked against the plausibility laws.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, AttributeValue, Role};
use assay_model::benchmark::Metric;
use assay_model::doubt::Doubt;
use assay_model::event::{HostJoined, RunStatus, StopReason};
use assay_model::facts::HostFacts;
use assay_model::failure::FailureReason;
use assay_model::plan::{MissingRequirement, OmittedMeasure};
use assay_model::run::{CaseOutcome, CaseRecord, Run, SeriesRecord};
use assay_model::summary::{
    CaseFailure, MeasuringTool, MetricEstimate, RunHeader, RunSummary, SCHEMA,
};

use self::case_doubts::CaseDoubts;
use self::mix::covers_all_operations;
use crate::outliers::HostMeasurement;
use crate::{STATISTICS_VERSION, laws};

mod case_doubts;
pub mod estimate;
mod limits;
mod memory_laws;
mod mix;
mod peers;
mod response;
mod saturation;
mod steps;
pub mod totals;

pub use limits::apply_data_sheet;

/// Summarizes a run. Unfinished cases are neither results nor failures, except for interrupted
/// network cases, whose samples count.
pub fn summarize(run: &Run) -> RunSummary {
    let totals: Vec<CaseRecord> =
        run.cases.iter().flat_map(|record| totals::host_totals(run, record)).collect();
    let CondensedRun { mut results, steps, failures, warnings } = condense(run, &totals);
    saturation::attach(&mut results);
    let facts: Vec<HostFacts> = run.hosts.iter().map(|host| host.facts.clone()).collect();
    memory_laws::attach(&mut results, &facts);
    RunSummary {
        schema: SCHEMA,
        statistics: STATISTICS_VERSION,
        run: run_head(run),
        hosts: facts,
        results,
        steps,
        failures,
        omitted: omitted_measures(run),
        warnings,
        counters: run.finished_cases().flat_map(|it| it.counters.iter().cloned()).collect(),
    }
}

/// Returns the measures that the plan omits, and the cases for which the run had no time.
fn omitted_measures(run: &Run) -> Vec<OmittedMeasure> {
    let is_cut = |it: &&CaseRecord| {
        let is_whole = it.outcome == Some(CaseOutcome::Finished(StopReason::Cut));
        is_whole || !it.cut_hosts.is_empty()
    };
    let cut = run.cases.iter().filter(is_cut).map(|it| OmittedMeasure {
        benchmark: it.case.id.clone(),
        reason: MissingRequirement::Time,
        hosts: it.cut_hosts.clone(),
    });
    run.started.plan.omitted.iter().cloned().chain(cut).collect()
}

/// Estimates of a run, checked against the laws, and its hosts against each other.
struct CondensedRun {
    results: Vec<MetricEstimate>,
    steps: Vec<MetricEstimate>,
    failures: Vec<CaseFailure>,
    warnings: Vec<Doubt>,
}

/// Condenses the cases of a run and the `totals` of cases that several hosts measured together.
fn condense<'r>(run: &'r Run, totals: &'r [CaseRecord]) -> CondensedRun {
    let mut entries = Vec::new();
    let mut failures = Vec::new();
    let mut warnings = run.doubts.clone();
    for record in run.cases.iter().chain(totals) {
        entries.extend(interrupted_estimates(run, record));
        match &record.outcome {
            Some(CaseOutcome::Finished(StopReason::Cut)) => {}
            Some(CaseOutcome::Finished(stopped)) => {
                let (estimates, case_failures) = finished_estimates(run, record, *stopped);
                entries.extend(estimates);
                failures.extend(case_failures);
                warnings.extend(unknown_metrics(record));
            }
            // Each host has its own failure, added below.
            Some(CaseOutcome::Failed { .. }) if !record.failed_hosts.is_empty() => {}
            Some(CaseOutcome::Failed { failure, because }) => {
                entries.extend(failed_search_steps(run, record));
                let because = because.clone();
                failures.push(CaseFailure {
                    because,
                    ..case_failure(run, record, failure.clone())
                });
            }
            None => {}
        }
        failures.extend(record.failed_hosts.iter().map(|host_failure| CaseFailure {
            host: host_failure.host.clone(),
            because: host_failure.because.clone(),
            ..case_failure(run, record, host_failure.failure.clone())
        }));
    }
    let (mut steps, mut results): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.step.is_some());
    add_step_results(&mut results, &mut steps);
    limits::attach_limits(&mut results);
    response::attach(&mut results);
    let measured: Vec<HostMeasurement> = results.iter().map(|entry| entry.measured).collect();
    let check_all =
        |entries: Vec<EstimateEntry<'_>>| entries.into_iter().map(apply_laws).collect();
    let (mut results, steps): (Vec<MetricEstimate>, _) = (check_all(results), check_all(steps));
    peers::attach(&mut results, &measured);
    CondensedRun { results, steps, failures, warnings }
}

/// Estimate with its origin.
struct EstimateEntry<'r> {
    record: &'r CaseRecord,
    host: Option<&'r HostJoined>,
    /// Number of the round or try, unless it is a result.
    step: Option<u64>,
    /// Whether it covers all operations of the case, not one side of a mix.
    is_whole: bool,
    estimate: MetricEstimate,
    /// Values to compare with other hosts.
    measured: HostMeasurement,
}

/// Role of a series in the summary.
enum SeriesRole {
    Result,
    Step(u64),
    /// Part of a result.
    Part,
}

impl SeriesRole {
    fn from_series(series: &SeriesRecord) -> Self {
        let parts = series.dimensions.iter().filter(|(name, _)| name.row().role == Role::Part);
        match parts.collect::<Vec<_>>()[..] {
            [] => Self::Result,
            [(Attribute::Step, AttributeValue::Integer(step))] => Self::Step(*step),
            _ => Self::Part,
        }
    }
}

fn finished_estimates<'r>(
    run: &'r Run,
    record: &'r CaseRecord,
    stopped: StopReason,
) -> (Vec<EstimateEntry<'r>>, Vec<CaseFailure>) {
    let mut entries = Vec::new();
    let mut failures = Vec::new();
    let benchmark = record.case.workload.benchmark();
    let doubts = CaseDoubts::from_record(record);
    for metric in benchmark.definition().metrics {
        let of_metric = |it: &&SeriesRecord| {
            it.metric == metric.name && !is_empty(it) && host_has_finished(record, it)
        };
        let mut all_series: Vec<&SeriesRecord> =
            record.series.iter().filter(of_metric).collect();
        all_series.sort_by_cached_key(|it| host_index(run, it));
        for series in all_series {
            let step = match SeriesRole::from_series(series) {
                SeriesRole::Result => None,
                SeriesRole::Step(step) => Some(step),
                SeriesRole::Part => continue,
            };
            let (host, context) = estimate_context(run, record, series, metric);
            let mut warnings = doubts.for_host(&context.host);
            warnings.retain(|doubt| doubt_applies(doubt, series));
            let context = estimate::EstimateContext { warnings, ..context };
            match estimate::estimate_series(record, series, stopped, context) {
                Some((estimate, measured)) => {
                    let is_whole = covers_all_operations(record, &series.dimensions);
                    entries.push(EstimateEntry {
                        record,
                        host,
                        step,
                        is_whole,
                        estimate,
                        measured,
                    });
                }
                None if step.is_none() => {
                    let metric = metric.name.to_owned();
                    failures.push(case_failure(
                        run,
                        record,
                        FailureReason::NoFiniteSample { metric },
                    ));
                }
                None => {}
            }
        }
    }
    let has_result = entries.iter().any(|entry| entry.step.is_none());
    if !has_result && failures.is_empty() && stopped != StopReason::NotNeeded {
        failures.push(case_failure(run, record, FailureReason::NoSamples));
    }
    (entries, failures)
}

/// Returns estimates of a network case whose connection broke, or that the user interrupted: its
/// samples are valid, with the doubt `BrokeOff`.
fn interrupted_estimates<'r>(run: &'r Run, record: &'r CaseRecord) -> Vec<EstimateEntry<'r>> {
    let has_samples = match &record.outcome {
        Some(CaseOutcome::Finished(_)) => false,
        Some(CaseOutcome::Failed { failure, .. }) => failure.is_connection_failure(),
        None => run.status == RunStatus::Interrupted,
    };
    if !has_samples || record.case.workload.as_network().is_none() {
        return Vec::new();
    }
    let (mut entries, _) = finished_estimates(run, record, StopReason::Budget);
    entries.iter_mut().for_each(|entry| entry.estimate.warnings.insert(0, Doubt::BrokeOff));
    entries
}

/// Returns the rates that a search has tried without meeting its goal.
fn failed_search_steps<'r>(run: &'r Run, record: &'r CaseRecord) -> Vec<EstimateEntry<'r>> {
    if record.case.workload.latency_goal().is_none() {
        return Vec::new();
    }
    let (mut entries, _) = finished_estimates(run, record, StopReason::Budget);
    entries.retain(|entry| entry.step.is_some());
    entries
}

/// Returns whether a doubt about a case applies to this series.
fn doubt_applies(doubt: &Doubt, series: &SeriesRecord) -> bool {
    let Doubt::ProcessCpuOnly { is_tool } = doubt else { return true };
    let end = series.dimensions.get(&Attribute::End).and_then(AttributeValue::as_text);
    series.metric.starts_with("cpu_") && (*is_tool || end == Some("remote"))
}

/// Returns the index of the series' host: results are sorted by it, because hosts report in any
/// order.
fn host_index(run: &Run, series: &SeriesRecord) -> Option<usize> {
    let host = series.dimensions.get(&Attribute::Host).and_then(AttributeValue::as_text)?;
    run.hosts.iter().position(|it| it.host == host)
}

/// Returns whether the host of the series completed the case.
fn host_has_finished(record: &CaseRecord, series: &SeriesRecord) -> bool {
    let host = series.dimensions.get(&Attribute::Host).and_then(AttributeValue::as_text);
    record.hosts_without_result().all(|without| Some(without) != host)
}

/// Returns whether a series was opened but has no values.
fn is_empty(series: &SeriesRecord) -> bool {
    let counted = |seen: u64, warmup: bool| seen > 0 && !warmup;
    series.samples.is_empty()
        && series.figures.is_none()
        && !series.distributions.iter().any(|it| counted(it.seen.count, it.warmup))
        && !series.counts.iter().any(|it| counted(it.seen.whole, it.warmup))
}

/// Collects the context of a series: requested parameters and facts from the measurement.
///
/// Facts replace requested parameters, because a tool may not do exactly as requested; facts of the
/// series replace those of the case. The host remains a parameter only if the run has several.
fn estimate_context<'r>(
    run: &'r Run,
    record: &'r CaseRecord,
    series: &SeriesRecord,
    metric: &'static Metric,
) -> (Option<&'r HostJoined>, estimate::EstimateContext<'r>) {
    let mut parameters = series.dimensions.clone();
    parameters.extend(mix::read_write_rates(record, series));
    let host_name =
        parameters.get(&Attribute::Host).and_then(AttributeValue::as_text).map(str::to_owned);
    let mut facts = record.facts.clone();
    if series.dimensions.contains_key(&Attribute::Step) {
        // The rate that a search has found is not the rate of its tries.
        facts.remove(&Attribute::RequestedRate);
    }
    parameters.extend(facts);
    let host_facts = host_name.as_ref().and_then(|host| record.facts_by_host.get(host));
    parameters.extend(host_facts.cloned().unwrap_or_default());
    parameters.extend(series.facts.clone());
    let joined = run.hosts.iter().find(|host| Some(&host.host) == host_name.as_ref());
    let host = joined.or_else(|| run.first_host());
    if run.hosts.len() < 2 {
        parameters.remove(&Attribute::Host);
    }
    let name = record.case.by.clone();
    let tool_version = parameters.remove(&Attribute::ToolVersion);
    let tool_version =
        tool_version.as_ref().and_then(AttributeValue::as_text).map(str::to_owned);
    let version = tool_version.or_else(|| host?.facts.versions.get(&name).cloned());
    let context = estimate::EstimateContext {
        benchmark: record.case.workload.benchmark(),
        case: &record.case.id,
        metric,
        parameters,
        host: host_name.or_else(|| Some(host?.host.clone())).unwrap_or_default(),
        tool: MeasuringTool { name, version },
        warnings: Vec::new(),
    };
    (host, context)
}

/// Adds the results of each case's steps to its results and steps.
fn add_step_results<'r>(results: &mut [EstimateEntry<'r>], steps: &mut [EstimateEntry<'r>]) {
    // Results are sorted by metric, then by host; the cache avoids repeated searches for the series
    // of a host.
    let mut cache: BTreeMap<(*const CaseRecord, String), steps::StepResults> = BTreeMap::new();
    for entry in results.iter_mut().chain(steps) {
        let (record, host) = (entry.record, &entry.estimate.host);
        let cached = cache.entry((std::ptr::from_ref(record), host.clone()));
        let step_results = cached.or_insert_with(|| steps::step_results(record, host));
        let MetricEstimate { parameters, warnings, .. } = &mut entry.estimate;
        if let Some(step) = entry.step {
            let verdict = step_results.verdicts.get(&step).map(|verdict| verdict.name().into());
            parameters.extend(verdict.map(|verdict| (Attribute::Shown, verdict)));
            continue;
        }
        for (name, value) in &step_results.facts {
            parameters.entry(*name).or_insert_with(|| value.clone());
        }
        let doubt =
            step_results.doubt.iter().filter(|it| !warnings.iter().any(|w| w.id() == it.id()));
        let doubt: Vec<Doubt> = doubt.cloned().collect();
        warnings.extend(doubt);
    }
}

/// Returns a doubt if the series has metrics that this version does not support; a newer assay may
/// have measured them.
fn unknown_metrics(record: &CaseRecord) -> Option<Doubt> {
    let benchmark = record.case.workload.benchmark();
    let is_unknown = |it: &&SeriesRecord| benchmark.metric(&it.metric).is_none();
    let unknown = record.series.iter().find(is_unknown)?;
    let (case, metric) = (record.case.id.clone(), unknown.metric.clone());
    Some(Doubt::UnknownMetric { case, metric })
}

fn case_failure(run: &Run, record: &CaseRecord, failure: FailureReason) -> CaseFailure {
    CaseFailure {
        benchmark: record.case.workload.benchmark().id().to_owned(),
        case: record.case.id.clone(),
        host: run.first_host().map(|host| host.host.clone()).unwrap_or_default(),
        failure,
        because: None,
    }
}

fn run_head(run: &Run) -> RunHeader {
    RunHeader {
        id: run.started.run.clone(),
        label: run.started.label.clone(),
        note: run.started.note.clone(),
        suite: run.started.plan.suite.clone(),
        started: run.started.started.clone(),
        finished: run.finished.clone(),
        status: run.status,
        seed: run.started.plan.seed.filter(|_| is_random(run)),
    }
}

fn is_random(run: &Run) -> bool {
    run.started.plan.cases.iter().any(|case| case.workload.is_random())
}

fn apply_laws(entry: EstimateEntry<'_>) -> MetricEstimate {
    let mut estimate = entry.estimate;
    for doubt in laws::broken_laws(&estimate) {
        if estimate.warnings.iter().all(|existing| existing.id() != doubt.id()) {
            estimate.warnings.push(doubt);
        }
    }
    estimate
}

#[cfg(test)]
mod tests;
