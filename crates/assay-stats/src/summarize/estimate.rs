//! One series of one case becomes one estimate, without its limit.

use std::collections::BTreeMap;

use assay_model::benchmark::{Benchmark, Metric};
use assay_model::event::{Parameter, Parameters, Stopped};
use assay_model::quantity::Bytes;
use assay_model::run::{CaseRecord, Run};
use assay_model::summary::{Estimate, Tool};
use assay_model::warning::Warning;
use assay_model::workload::{StreamWorkload, Workload};

use super::Series;
use super::parameters::describe;
use crate::analysis::{Analysis, analyse};
use crate::doubts::{Luck, doubts};
use crate::mean;
use crate::quantile::{LEVEL, percentiles};

/// STREAM's own rule: arrays of at least four times the last-level caches.
const CACHE_MULTIPLE: f64 = 4.0;

/// What an estimate is about.
#[derive(Debug)]
pub struct About<'m> {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// Its metric.
    pub metric: &'m Metric,
    /// What distinguishes and describes it.
    pub parameters: Parameters,
    /// What is doubtful.
    pub warnings: Vec<Warning>,
}

/// An analysed series as an estimate in the metric's base unit, without a limit; `None` without a
/// finite sample.
#[must_use]
pub fn of_analysis(
    analysis: &Analysis,
    about: About<'_>,
    host: &str,
    tool: Tool,
) -> Option<Estimate> {
    let About { benchmark, metric, parameters, warnings } = about;
    Some(Estimate {
        benchmark: benchmark.id().to_owned(),
        metric: metric.name.to_owned(),
        parameters,
        unit: metric.unit,
        better: metric.better,
        n: analysis.sorted.len(),
        n_effective: analysis.effective.n,
        median: analysis.median,
        ci: analysis.interval.map(|(low, high)| [low, high]),
        ci_level: LEVEL,
        min: *analysis.sorted.first()?,
        max: *analysis.sorted.last()?,
        mean: mean::of_unit(metric.unit, &analysis.sorted)?,
        percentiles: percentiles(&analysis.sorted, analysis.effective.n),
        limit: None,
        percent_of_limit: None,
        host: host.to_owned(),
        tool,
        warnings,
    })
}

/// `None` when no sample of the series is a finite number.
pub(super) fn estimate(
    run: &Run,
    record: &CaseRecord,
    series: &Series<'_>,
    stopped: Stopped,
) -> Option<Estimate> {
    let analysis = analyse(&series.samples)?;
    let host = &run.started.host;
    let case = &record.case;
    let metric = series.metric;
    let (mut parameters, tool) = describe(record, series, host);
    if analysis.discarded > 0 {
        let discarded = Parameter::Integer(analysis.discarded as u64);
        parameters.insert("discarded".to_owned(), discarded);
    }
    let mut warnings = record.warnings.clone();
    if let Workload::Stream(stream) = &case.workload {
        let known = warnings.iter().any(|warning| warning.id == "cache-assisted");
        warnings.extend(cache_assisted(stream).filter(|_| !known));
    }
    warnings.extend(doubts(
        &analysis,
        &case.stopping,
        stopped,
        metric.unit,
        Luck::of(&case.workload),
    ));
    // It is one figure of the whole test, which no repetition is hidden behind.
    warnings.retain(|warning| metric.name != "cpu_per_io" || warning.id != "no-interval");
    let is_storage = matches!(case.workload, Workload::Storage(_));
    let every_io = is_storage.then(|| EveryIo::take(&mut parameters)).flatten();
    let about = About { benchmark: case.workload.benchmark(), metric, parameters, warnings };
    let mut estimate = of_analysis(&analysis, about, &host.name, tool)?;
    every_io.into_iter().for_each(|all| all.put_into(&mut estimate));
    Some(estimate)
}

/// What is known of every single I/O where samples are the medians of intervals: told while
/// measuring as `all_min_s`, `all_mean_s`, `all_max_s` and `all_p…_s`.
struct EveryIo {
    min: f64,
    mean: f64,
    max: f64,
    percentiles: BTreeMap<String, f64>,
}

impl EveryIo {
    fn take(parameters: &mut Parameters) -> Option<Self> {
        let mut number = |name: &str| match parameters.remove(name) {
            Some(Parameter::Number(value)) => Some(value),
            _ => None,
        };
        let [min, mean, max] = ["all_min_s", "all_mean_s", "all_max_s"].map(&mut number);
        let percentiles = ["p50", "p90", "p99", "p99.9", "p99.99"];
        let percentiles = percentiles
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), number(&format!("all_{name}_s"))?)))
            .collect();
        Some(Self { min: min?, mean: mean?, max: max?, percentiles })
    }

    fn put_into(self, estimate: &mut Estimate) {
        estimate.min = self.min;
        estimate.mean = self.mean;
        estimate.max = self.max;
        estimate.percentiles = Some(self.percentiles).filter(|all| !all.is_empty());
    }
}

fn cache_assisted(stream: &StreamWorkload) -> Option<Warning> {
    let multiple = stream.cache_multiple;
    (multiple < CACHE_MULTIPLE).then(|| {
        Warning::new(
            "cache-assisted",
            format!(
                "arrays of {} are only {multiple} times the last-level caches, so part of the \
                 traffic never reached memory",
                Bytes(stream.bytes_per_array)
            ),
            format!("use arrays of at least {CACHE_MULTIPLE} times the caches, or free memory"),
        )
    })
}
