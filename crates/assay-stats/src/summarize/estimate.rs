//! Estimate of one series of one case, without its limit.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::{Benchmark, Metric, Pooling};
use assay_model::doubt::Doubt;
use assay_model::event::{EventCount, Sample, StopReason};
use assay_model::quantity::Unit;
use assay_model::run::{CaseRecord, SeriesRecord};
use assay_model::summary::{MeasuringTool, MetricEstimate};

use super::mix;
use crate::analysis::{Analysis, Samples, analyse};
use crate::doubts::{no_interval, series_doubts};
use crate::mean;
use crate::outliers::HostMeasurement;
use crate::quantile::{LEVEL, percentiles, supports_quantile};
use crate::ratio::PooledRatio;
use crate::tails::Tails;

/// Largest relative width of the buckets in which tools count: 1/64 in fio, a quarter of a power of
/// two in elbencho.
const TOOL_BUCKET_WIDTH: f64 = 0.19;

#[derive(Debug)]
pub struct EstimateContext<'m> {
    pub benchmark: Benchmark,
    /// Identifier of the case.
    pub case: &'m str,
    /// Metric of the case.
    pub metric: &'m Metric,
    /// Dimensions and facts.
    pub parameters: Attributes,
    /// Name of the host.
    pub host: String,
    /// Measurer.
    pub tool: MeasuringTool,
    /// Doubts.
    pub warnings: Vec<Doubt>,
}

/// Location of many values, and their effective number.
#[derive(Clone, Copy)]
struct EstimateFigures {
    n: usize,
    n_effective: f64,
    median: f64,
    ci: Option<[f64; 2]>,
    min: f64,
    max: f64,
    mean: f64,
}

impl EstimateContext<'_> {
    fn into_estimate(self, figures: EstimateFigures) -> MetricEstimate {
        MetricEstimate {
            benchmark: self.benchmark.id().to_owned(),
            case: self.case.to_owned(),
            metric: self.metric.name.to_owned(),
            parameters: self.parameters,
            unit: self.metric.unit,
            better: self.metric.better,
            n: figures.n,
            n_effective: figures.n_effective,
            median: figures.median,
            ci: figures.ci,
            ci_level: LEVEL,
            min: figures.min,
            max: figures.max,
            mean: figures.mean,
            percentiles: None,
            limit: None,
            percent_of_limit: None,
            host: self.host,
            tool: self.tool,
            warnings: self.warnings,
        }
    }
}

/// Returns the estimate of an analysed series in the metric's base unit, without a limit; `None`
/// without a finite sample.
pub fn estimate_from_analysis(
    analysis: &Analysis,
    about: EstimateContext<'_>,
) -> Option<MetricEstimate> {
    let mean = mean::mean_for_unit(about.metric.unit, &analysis.sorted)?;
    let figures = EstimateFigures {
        n: analysis.sorted.len(),
        n_effective: analysis.effective.n,
        median: analysis.median,
        ci: analysis.interval.map(|(low, high)| [low, high]),
        min: *analysis.sorted.first()?,
        max: *analysis.sorted.last()?,
        mean,
    };
    let percentiles = percentiles(&analysis.sorted, analysis.effective.n);
    Some(MetricEstimate { percentiles, ..about.into_estimate(figures) })
}

/// Returns the estimate of a series, and the measurement that is compared with other hosts. Returns
/// `None` when the series has no finite value.
///
/// A pooled share comes from its counts. Everything else comes from the samples; where there are
/// none, the medians of the stretches' distributions are the samples. Minimum, maximum, mean and
/// percentiles are those of all single values where these are available, else those that a tool
/// reported, else those of the samples.
pub(super) fn estimate_series(
    record: &CaseRecord,
    series: &SeriesRecord,
    stopped: StopReason,
    mut about: EstimateContext<'_>,
) -> Option<(MetricEstimate, HostMeasurement)> {
    let alone = |estimate: MetricEstimate| {
        let measured = HostMeasurement::from_median(estimate.median, estimate.ci);
        (estimate, measured)
    };
    if about.metric.pooling == Pooling::Ratio
        && let Some(pooled) = PooledRatio::from_counts(&counts(series))
    {
        return Some(alone(estimate_from_counts(&pooled, about)));
    }
    // Histograms hold only times.
    let holds_times = about.metric.unit == Unit::Second;
    let seen = mix::counted_distributions(record, series).into_iter().filter(|_| holds_times);
    let tails = Tails::from_stretches(seen);
    let samples = weighted_samples(series);
    let analysis = match &tails {
        Some(tails) if samples.values.is_empty() && stretch_medians(series).len() < 2 => {
            return Some(alone(estimate_from_single_stretch(tails, stopped, about)));
        }
        Some(_) if samples.values.is_empty() => {
            analyse(&group_by_preparation(stretch_medians(series).into_iter()))
        }
        _ => analyse(&samples.values),
    };
    let Some(analysis) = analysis else {
        return estimate_from_tool_figures(series, stopped, about).map(alone);
    };
    if analysis.discarded > 0 {
        about.parameters.insert(Attribute::Discarded, analysis.discarded.into());
    }
    let (unit, luck) = (about.metric.unit, about.benchmark.definition().variance_source);
    let found = series_doubts(&analysis, &record.case.stopping, stopped, unit, luck);
    // A single value of the whole test; it does not hide differences between repetitions.
    let is_single = about.metric.name == "cpu_per_io";
    let hides = |doubt: &Doubt| is_single && matches!(doubt, Doubt::NoInterval { .. });
    about.warnings.extend(found.into_iter().filter(|doubt| !hides(doubt)));
    let mut estimate = estimate_from_analysis(&analysis, about)?;
    if let Some(mean) = samples.mean(unit, &analysis) {
        estimate.mean = mean;
    }
    match tails {
        Some(tails) => apply_tails(&mut estimate, tails),
        None => apply_tool_figures(&mut estimate, series),
    }
    Some((estimate, HostMeasurement::from_analysis(&analysis)))
}

fn estimate_from_counts(pooled: &PooledRatio, about: EstimateContext<'_>) -> MetricEstimate {
    about.into_estimate(EstimateFigures {
        n: usize::try_from(pooled.whole).unwrap_or(usize::MAX),
        n_effective: pooled.n_effective,
        median: pooled.share,
        ci: Some([pooled.interval.0, pooled.interval.1]),
        min: pooled.min,
        max: pooled.max,
        mean: pooled.share,
    })
}

/// Returns the estimate of a single stretch: its variation is unknown.
fn estimate_from_single_stretch(
    tails: &Tails,
    stopped: StopReason,
    mut about: EstimateContext<'_>,
) -> MetricEstimate {
    let n = usize::try_from(tails.count).unwrap_or(usize::MAX);
    let n_effective = 1.0;
    about.warnings.push(no_interval(n, n_effective, stopped));
    let Tails { median, min, max, mean, .. } = *tails;
    let figures = EstimateFigures { n, n_effective, median, ci: None, min, max, mean };
    let mut estimate = about.into_estimate(figures);
    apply_tails(&mut estimate, tails.clone());
    estimate
}

/// Returns the estimate of a tool that reported only its median.
fn estimate_from_tool_figures(
    series: &SeriesRecord,
    stopped: StopReason,
    mut about: EstimateContext<'_>,
) -> Option<MetricEstimate> {
    let reported = series.figures.as_ref()?;
    let median =
        reported.percentiles.get("p50").copied().filter(|median| median.is_finite())?;
    about.warnings.push(no_interval(1, 1.0, stopped));
    let (min, max, mean) = (median, median, median);
    let figures = EstimateFigures { n: 1, n_effective: 1.0, median, ci: None, min, max, mean };
    let mut estimate = about.into_estimate(figures);
    apply_tool_figures(&mut estimate, series);
    Some(estimate)
}

fn apply_tails(estimate: &mut MetricEstimate, tails: Tails) {
    let median = estimate.median;
    let tails = tails.reconcile_with(median, estimate.ci.unwrap_or([median; 2]));
    (estimate.min, estimate.max, estimate.mean) = (tails.min, tails.max, tails.mean);
    estimate.percentiles = tails.percentiles;
    estimate.parameters.insert(Attribute::Io, tails.count.into());
}

fn apply_tool_figures(estimate: &mut MetricEstimate, series: &SeriesRecord) {
    let Some(reported) = &series.figures else { return };
    estimate.min = reported.min.unwrap_or(estimate.min);
    // A tool without a maximum (perftest) has one no less than the largest of its figures.
    let known = reported.percentiles.values().copied().chain(reported.mean);
    estimate.max = reported.max.unwrap_or_else(|| known.fold(estimate.max, f64::max));
    estimate.mean = reported.mean.unwrap_or(estimate.mean);
    let carries = |name: &String| {
        let percent = name.strip_prefix('p').and_then(|it| it.parse::<f64>().ok());
        let (Some(count), Some(percent)) = (reported.count, percent) else { return true };
        percent >= 100.0 || supports_quantile(count as f64, percent / 100.0)
    };
    // The value of a bucket may be beyond every value in it.
    let max = reported.max.filter(|_| estimate.unit == Unit::Second);
    let bound = |value: f64| match max {
        Some(max) if value <= max * (1.0 + TOOL_BUCKET_WIDTH) => value.min(max),
        _ => value,
    };
    let supported = reported.percentiles.iter().filter(|(name, _)| carries(name));
    let percentiles: BTreeMap<String, f64> =
        supported.map(|(name, value)| (name.clone(), bound(*value))).collect();
    if !percentiles.is_empty() {
        estimate.percentiles = Some(percentiles);
    }
}

fn counts(series: &SeriesRecord) -> Vec<EventCount> {
    series.counts.iter().filter(|it| !it.warmup).map(|it| it.seen).collect()
}

/// Returns the median of every stretch, with its preparation.
fn stretch_medians(series: &SeriesRecord) -> Vec<(u32, f64)> {
    let counting = series.distributions.iter().filter(|it| !it.warmup);
    counting
        .filter_map(|it| Some((it.preparation, Tails::from_stretches([it])?.median)))
        .collect()
}

/// Samples by preparation, each with its weight.
struct WeightedSamples {
    values: Samples,
    weights: Samples,
}

fn weighted_samples(series: &SeriesRecord) -> WeightedSamples {
    let of = |what: fn(&Sample) -> f64| {
        group_by_preparation(series.samples.iter().map(|it| (it.preparation, what(it))))
    };
    WeightedSamples { values: of(|it| it.value), weights: of(|it| it.weight) }
}

fn group_by_preparation(values: impl Iterator<Item = (u32, f64)>) -> Samples {
    let mut preparations = std::collections::BTreeMap::<u32, Vec<f64>>::new();
    for (preparation, value) in values {
        preparations.entry(preparation).or_default().push(value);
    }
    preparations.into_values().collect()
}

impl WeightedSamples {
    /// Returns the mean of the samples after the warm-up.
    fn mean(&self, unit: Unit, analysis: &Analysis) -> Option<f64> {
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        for (at, preparation) in self.values.iter().enumerate() {
            let finite = preparation.iter().zip(self.weights.get(at)?);
            let finite = finite.filter(|(value, _)| value.is_finite());
            for (value, weight) in finite.skip(analysis.warm_up.get(at).copied().unwrap_or(0)) {
                values.push(*value);
                weights.push(*weight);
            }
        }
        mean::weighted_mean(unit, &values, &weights)
    }
}
