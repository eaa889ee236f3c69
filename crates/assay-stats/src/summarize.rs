//! A run's samples become estimates with their uncertainty.
//!
//! Three passes: every series of every finished case becomes an estimate; limits are attached, some
//! of which other estimates of the same run provide; everything is held to the laws.

use std::collections::BTreeMap;

use assay_model::benchmark::Metric;
use assay_model::event::Stopped;
use assay_model::run::{CaseEnd, CaseRecord, Run};
use assay_model::summary::{CaseFailure, Estimate, RunHead, SCHEMA, Summary};
use assay_model::warning::Warning;
use assay_model::workload::NetworkWorkload;

use crate::analysis::Samples;
use crate::laws;

pub mod estimate;
mod limits;
mod parameters;
mod response;

/// Condenses a run. Cases that were never finished are neither results nor failures.
#[must_use]
pub fn summarize(run: &Run) -> Summary {
    let Condensed { entries, failures, warnings } = condense(run);
    Summary {
        schema: SCHEMA,
        run: head(run),
        hosts: vec![run.started.host.clone()],
        results: entries.into_iter().map(held_to_the_laws).collect(),
        failures,
        warnings,
    }
}

/// Every estimate of a run with what it is about, the same in every run that asks the same.
pub(crate) fn identified(run: &Run) -> Vec<(String, Estimate)> {
    let entries = condense(run).entries.into_iter();
    entries.map(|entry| (entry.identity(), held_to_the_laws(entry))).collect()
}

/// A run before the laws.
struct Condensed<'r> {
    entries: Vec<Entry<'r>>,
    failures: Vec<CaseFailure>,
    warnings: Vec<Warning>,
}

fn condense(run: &Run) -> Condensed<'_> {
    let mut entries = Vec::new();
    let mut failures = Vec::new();
    let mut warnings = run.warnings.clone();
    for record in &run.cases {
        match &record.end {
            Some(CaseEnd::Finished(stopped)) => {
                let (found, failed) = finished(run, record, *stopped);
                entries.extend(found);
                failures.extend(failed);
                warnings.extend(unknown_metrics(record));
            }
            Some(CaseEnd::Failed { reason, advice, because }) => {
                let because = because.clone();
                failures.push(CaseFailure { because, ..failure(run, record, reason, advice) });
            }
            None => {}
        }
    }
    limits::attach(&mut entries, &run.started.host);
    response::attach(&mut entries);
    Condensed { entries, failures, warnings }
}

/// An estimate and the case it comes from.
struct Entry<'r> {
    record: &'r CaseRecord,
    placement: Option<String>,
    estimate: Estimate,
}

impl Entry<'_> {
    /// The case, the metric and the domain or end. Which host is at the other end of a network is
    /// not part of the question.
    fn identity(&self) -> String {
        let case = &self.record.case;
        let asked = match case.workload.network() {
            Some(work) => {
                let question = NetworkWorkload { to: None, ..work.clone() };
                format!("{}/{}/{}", case.workload.benchmark().id(), question.name(), case.by)
            }
            None => case.id.clone(),
        };
        let placement = self.placement.as_deref().unwrap_or_default();
        format!("{asked} {} {placement}", self.estimate.metric).trim_end().to_owned()
    }
}

/// One metric of a case, at one domain where the case has several.
struct Series<'r> {
    metric: &'static Metric,
    placement: Option<&'r str>,
    samples: Samples,
}

fn finished<'r>(
    run: &'r Run,
    record: &'r CaseRecord,
    stopped: Stopped,
) -> (Vec<Entry<'r>>, Vec<CaseFailure>) {
    let series = series(record);
    if series.is_empty() && stopped == Stopped::NotNeeded {
        return (vec![], vec![]);
    }
    if series.is_empty() {
        let reason = "nothing measured: the case has no samples";
        return (vec![], vec![failure(run, record, reason, LOOK_AT_OUTPUT)]);
    }
    let mut entries = Vec::new();
    let mut failures = Vec::new();
    for one in &series {
        match estimate::estimate(run, record, one, stopped) {
            Some(estimate) => {
                let placement = one.placement.map(str::to_owned);
                entries.push(Entry { record, placement, estimate });
            }
            None => {
                let name = one.metric.name;
                let reason =
                    format!("nothing measured: no sample of {name} is a finite number");
                failures.push(failure(run, record, &reason, LOOK_AT_OUTPUT));
            }
        }
    }
    (entries, failures)
}

const LOOK_AT_OUTPUT: &str = "look at the raw output kept with the run; `assay show` names it";

/// The series of a case: metrics in the order of their table, then domains in order of appearance.
fn series(record: &CaseRecord) -> Vec<Series<'_>> {
    let metrics = record.case.workload.benchmark().definition().metrics;
    metrics.iter().flat_map(|metric| series_of(record, metric)).collect()
}

fn series_of<'r>(record: &'r CaseRecord, metric: &'static Metric) -> Vec<Series<'r>> {
    let mut placements: Vec<Option<&str>> = Vec::new();
    let mut preparations: Vec<BTreeMap<u32, Vec<f64>>> = Vec::new();
    for sample in record.samples.iter().filter(|sample| sample.metric == metric.name) {
        let placement = sample.placement.as_deref();
        let known = placements.iter().position(|other| *other == placement);
        let at = known.unwrap_or(placements.len());
        if known.is_none() {
            placements.push(placement);
            preparations.push(BTreeMap::new());
        }
        preparations[at].entry(sample.preparation).or_default().push(sample.value);
    }
    let one = |(placement, preparations): (_, BTreeMap<_, _>)| Series {
        metric,
        placement,
        samples: preparations.into_values().collect(),
    };
    placements.into_iter().zip(preparations).map(one).collect()
}

/// A newer assay may have measured what this one does not know.
fn unknown_metrics(record: &CaseRecord) -> Option<Warning> {
    let benchmark = record.case.workload.benchmark();
    let unknown =
        record.samples.iter().find(|sample| benchmark.metric(&sample.metric).is_none())?;
    Some(Warning::new(
        "unknown-metric",
        format!(
            "{} has samples of `{}`, which is unknown here",
            record.case.id, unknown.metric
        ),
        "read the run with the version of assay that made it",
    ))
}

fn failure(run: &Run, record: &CaseRecord, reason: &str, advice: &str) -> CaseFailure {
    CaseFailure {
        benchmark: record.case.workload.benchmark().id().to_owned(),
        case: record.case.id.clone(),
        host: run.started.host.name.clone(),
        reason: reason.to_owned(),
        advice: advice.to_owned(),
        because: None,
    }
}

fn head(run: &Run) -> RunHead {
    RunHead {
        id: run.started.run.clone(),
        label: run.started.label.clone(),
        suite: run.started.plan.suite.clone(),
        started: run.started.started.clone(),
        finished: run.finished.clone(),
        status: run.status,
    }
}

fn held_to_the_laws(entry: Entry<'_>) -> Estimate {
    let mut estimate = entry.estimate;
    for warning in laws::broken(&estimate) {
        if estimate.warnings.iter().all(|known| known.id != warning.id) {
            estimate.warnings.push(warning);
        }
    }
    estimate
}

#[cfg(test)]
mod tests;
