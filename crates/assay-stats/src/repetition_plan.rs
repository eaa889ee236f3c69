//! Plan of further repetitions from stored runs: which one narrows the interval most for its time, and
//! how many runs a difference needs (Kalibera and Jones, Rigorous Benchmarking in Reasonable Time,
//! ISMM 2013).
//!
//! Logarithms of the values are analysed, so that spreads are relative. Samples of a preparation count
//! as independent; where neighbours correlate, further samples are worth less.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, identity_attributes};
use assay_model::event::Sample;
use assay_model::run::{CaseRecord, Run, SeriesRecord};
use assay_model::summary::MetricEstimate;

use crate::quantile::{self, LEVEL};
use crate::summarize::summarize;
use crate::variance_components::{NestedValue, VarianceComponent, estimate_components};
use crate::{student, warm_up, workload_key};

/// Probability that a difference of the requested size is found.
pub const POWER: f64 = 0.8;
/// Maximum number of runs that is worth printing.
const MAX_RUNS: u32 = 1000;
/// Fewest runs of each condition for an interval.
const MIN_RUNS: u32 = 3;

/// Kind of repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepetitionLevel {
    /// Another machine.
    Host,
    /// Another run.
    Run,
    /// Another preparation in each run: memory allocated, connection opened, program started.
    Preparation,
    /// Another sample in each preparation.
    Sample,
}

/// Levels in the order of their nesting.
pub const LEVELS: [RepetitionLevel; 4] = [
    RepetitionLevel::Host,
    RepetitionLevel::Run,
    RepetitionLevel::Preparation,
    RepetitionLevel::Sample,
];

/// One level of one result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepetitionEffect {
    /// The level.
    pub level: RepetitionLevel,
    /// Variance between its repetitions, relative; `None` = there are too few of them.
    pub component: Option<VarianceComponent>,
    /// Repetitions within one of the next coarser level, on average.
    pub count: f64,
    /// Time of one more in seconds, with all that is within it; `None` = unknown, or no time of its
    /// own.
    pub cost_s: Option<f64>,
    /// Share by which a minute of further ones, spread over all coarser groups, narrows the interval.
    pub narrowing_per_minute: Option<f64>,
}

/// Repetitions of one result.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRepetitions {
    /// The result in the first run that has it.
    pub estimate: MetricEstimate,
    /// Whether it is one of the main results.
    pub is_headline: bool,
    /// Its levels.
    pub effects: Vec<RepetitionEffect>,
    /// Relative half-width of the interval over runs; `None` with a single run.
    pub half_width: Option<f64>,
    /// Level whose repetition narrows it most for its time.
    pub best: Option<RepetitionLevel>,
    /// Runs of each of two conditions that find the difference.
    pub needed_runs: Option<u32>,
    /// Time of one run of this result in seconds.
    pub run_s: Option<f64>,
}

/// Samples of one result by host and run.
struct ResultSamples<'r> {
    estimate: MetricEstimate,
    /// Name of the host, number of the run, its samples, and the times of the other cases' samples.
    series: Vec<(String, usize, &'r SeriesRecord, Vec<u64>)>,
}

/// Plans repetitions of every result with samples, for a relative difference between two conditions.
pub fn plan_repetitions(runs: &[Run], difference: f64) -> Vec<ResultRepetitions> {
    let mut order: Vec<String> = Vec::new();
    let mut results: BTreeMap<String, ResultSamples<'_>> = BTreeMap::new();
    for (number, run) in runs.iter().enumerate() {
        let estimates = summarize(run).results;
        for record in run.finished_cases() {
            for series in record.series.iter().filter(|it| !it.samples.is_empty()) {
                let Some(estimate) = find_estimate(&estimates, record, series) else {
                    continue;
                };
                let key = result_key(record, series);
                let known = results.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    ResultSamples { estimate: estimate.clone(), series: Vec::new() }
                });
                let times = other_times(run, record);
                known.series.push((estimate.host.clone(), number, series, times));
            }
        }
    }
    let samples = order.iter().filter_map(|key| results.remove(key));
    samples.filter_map(|it| it.plan(difference)).collect()
}

/// Returns the times of the samples of all other cases of a run, in order. Series of one case are
/// recorded together.
fn other_times(run: &Run, record: &CaseRecord) -> Vec<u64> {
    let others = run.cases.iter().filter(|it| it.case.id != record.case.id);
    let series = others.flat_map(|record| &record.series);
    let mut times: Vec<u64> =
        series.flat_map(|it| &it.samples).map(|sample| sample.at_ns).collect();
    times.sort_unstable();
    times.dedup();
    times
}

fn find_estimate<'e>(
    estimates: &'e [MetricEstimate],
    record: &CaseRecord,
    series: &SeriesRecord,
) -> Option<&'e MetricEstimate> {
    // Results of a single host have no such parameter.
    let has_dimensions = |it: &MetricEstimate| {
        series.dimensions.iter().all(|(name, value)| match name {
            Attribute::Host => value.as_text() == Some(it.host.as_str()),
            name => it.parameters.get(name) == Some(value),
        })
    };
    estimates.iter().find(|it| {
        it.case == record.case.id && it.metric == series.metric && has_dimensions(it)
    })
}

fn result_key(record: &CaseRecord, series: &SeriesRecord) -> String {
    let mut identity = identity_attributes(&series.dimensions);
    identity.remove(&Attribute::Host);
    let case = workload_key::workload_key(record);
    format!("{case} {} {identity:?}", series.metric)
}

impl ResultSamples<'_> {
    fn plan(self, difference: f64) -> Option<ResultRepetitions> {
        let hosts: BTreeSet<&str> = self.series.iter().map(|it| it.0.as_str()).collect();
        let hosts: Vec<&str> = hosts.into_iter().collect();
        let values = self.values(&hosts)?;
        let components = estimate_components(&values, LEVELS.len());
        let counts = group_counts(&values);
        let costs = self.costs();
        let mut effects: Vec<RepetitionEffect> = LEVELS
            .iter()
            .zip(components)
            .zip(counts)
            .zip(costs.by_level(counts))
            .map(|(((level, component), count), cost_s)| RepetitionEffect {
                level: *level,
                component,
                count,
                cost_s,
                narrowing_per_minute: None,
            })
            .collect();
        set_narrowing(&mut effects, counts);
        let best = effects
            .iter()
            .filter(|it| it.narrowing_per_minute.is_some_and(|share| share > 0.0))
            .max_by(|a, b| {
                f64::total_cmp(
                    &a.narrowing_per_minute.unwrap_or(0.0),
                    &b.narrowing_per_minute.unwrap_or(0.0),
                )
            })
            .map(|it| it.level);
        let variance = run_variance(&effects, counts);
        let runs = counts[1].round() as u32;
        let half_width = variance.filter(|_| runs > 1).map(|variance| {
            student::critical_t(1.0 - LEVEL, runs - 1) * (variance / f64::from(runs)).sqrt()
        });
        let metric = assay_model::benchmark::Benchmark::from_id(&self.estimate.benchmark)
            .and_then(|it| it.metric(&self.estimate.metric));
        Some(ResultRepetitions {
            is_headline: metric.is_some_and(|metric| metric.headline.is_some()),
            run_s: effects[1].cost_s,
            estimate: self.estimate,
            effects,
            half_width,
            best,
            needed_runs: variance.and_then(|variance| needed_runs(variance, difference)),
        })
    }

    /// Returns the logarithms of all samples after the warm-up, with host, run, preparation and
    /// number; `None` if one is not above 0.
    fn values(&self, hosts: &[&str]) -> Option<Vec<NestedValue>> {
        let mut values = Vec::new();
        for (host, run, series, _) in &self.series {
            let host = hosts.iter().position(|it| it == host)?;
            let preparations = by_preparation(series);
            let grouped: Vec<Vec<f64>> = preparations
                .values()
                .map(|samples| samples.iter().map(|it| it.value).collect())
                .collect();
            let warm_up = warm_up::detect_warm_up(&grouped);
            for ((preparation, samples), skipped) in preparations.iter().zip(warm_up) {
                for (index, sample) in samples.iter().enumerate().skip(skipped) {
                    if !sample.value.is_finite() || sample.value <= 0.0 {
                        return None;
                    }
                    let path = vec![host, *run, *preparation as usize, index];
                    values.push((path, sample.value.ln()));
                }
            }
        }
        Some(values)
    }

    /// Measures the times of repetitions: of each from the sample before it in the run, of any case.
    fn costs(&self) -> RepetitionCosts {
        let (mut samples, mut preparations, mut starts) = (vec![], vec![], vec![]);
        for (_, _, series, times) in &self.series {
            let mut previous = None;
            let own_first = series.samples.iter().map(|sample| sample.at_ns).min();
            let first_ns = own_first.into_iter().chain(times.first().copied()).min();
            starts.extend(first_ns.map(|first_ns| first_ns as f64 * 1e-9));
            for preparation in by_preparation(series).values() {
                for (index, sample) in preparation.iter().enumerate() {
                    let other = times.partition_point(|it| *it < sample.at_ns).checked_sub(1);
                    let before = other.map(|at| times[at]).max(previous);
                    previous = Some(sample.at_ns);
                    let Some(before) = before else { continue };
                    let took_s = sample.at_ns.saturating_sub(before) as f64 * 1e-9;
                    let all = if index == 0 { &mut preparations } else { &mut samples };
                    all.push(took_s);
                }
            }
        }
        let typical =
            |times: Vec<f64>| quantile::unsorted_median(times).filter(|time| *time > 0.0);
        RepetitionCosts {
            sample_s: typical(samples),
            first_sample_s: typical(preparations),
            start_s: typical(starts),
        }
    }
}

fn by_preparation(series: &SeriesRecord) -> BTreeMap<u32, Vec<&Sample>> {
    let mut preparations: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    for sample in &series.samples {
        preparations.entry(sample.preparation).or_default().push(sample);
    }
    preparations
}

/// Returns the mean number of groups of each level within one of the next coarser.
fn group_counts(values: &[NestedValue]) -> [f64; LEVELS.len()] {
    let groups = |level: usize| {
        let paths = values.iter().map(|(path, _)| &path[..level.min(path.len())]);
        paths.collect::<BTreeSet<_>>().len() as f64
    };
    [1, 2, 3, 4].map(|level| groups(level) / groups(level - 1).max(1.0))
}

/// Times of repetitions in seconds.
#[derive(Debug, Clone, Copy)]
struct RepetitionCosts {
    /// A further sample of a preparation.
    sample_s: Option<f64>,
    /// A preparation with its first sample.
    first_sample_s: Option<f64>,
    /// The start of a run up to the first sample of all.
    start_s: Option<f64>,
}

impl RepetitionCosts {
    /// Returns the time of one more at each level, with all that is within it. Hosts measure at the
    /// same time.
    fn by_level(self, counts: [f64; LEVELS.len()]) -> [Option<f64>; LEVELS.len()] {
        let [_, _, preparations, samples] = counts;
        // Where each preparation has one sample, a further sample was never timed.
        let further_s = self.sample_s.unwrap_or(0.0) * (samples - 1.0).max(0.0);
        let preparation_s = self.first_sample_s.map(|first_s| first_s + further_s);
        let run_s = preparation_s
            .zip(self.start_s)
            .map(|(each_s, start_s)| start_s + preparations * each_s);
        [None, run_s, preparation_s, self.sample_s]
    }
}

/// Returns the relative variance of the mean of one run; `None` if that between runs is unknown.
fn run_variance(effects: &[RepetitionEffect], counts: [f64; LEVELS.len()]) -> Option<f64> {
    let [_, _, preparations, samples] = counts;
    let variance =
        |level: usize| effects[level].component.map_or(0.0, |component| component.variance);
    effects[1].component?;
    Some(variance(1) + variance(2) / preparations + variance(3) / (preparations * samples))
}

/// Fills in how much a minute of repetitions of each level narrows the interval.
fn set_narrowing(effects: &mut [RepetitionEffect], counts: [f64; LEVELS.len()]) {
    let of_mean =
        |counts: [f64; LEVELS.len()]| Some(run_variance(effects, counts)? / counts[1]);
    let present = of_mean(counts);
    let narrowing = |level: usize| {
        // One more in each preparation of each run costs as many times as there are.
        let repeated: f64 = counts[1..level].iter().product();
        let mut more = counts;
        more[level] += 60.0 / (effects[level].cost_s? * repeated);
        let factor = (of_mean(more)? / present.filter(|it| *it > 0.0)?).sqrt();
        Some(1.0 - factor)
    };
    let found: Vec<Option<f64>> = (0..effects.len())
        .map(|level| if level == 0 { None } else { narrowing(level) })
        .collect();
    effects.iter_mut().zip(found).for_each(|(it, share)| it.narrowing_per_minute = share);
}

/// Returns the runs of each of two conditions that find a relative difference with [`POWER`], at
/// [`LEVEL`]: n ≥ 2 s² (t + u)² / δ², t and u the quantiles of both, with 2n − 2 degrees of freedom.
fn needed_runs(variance: f64, difference: f64) -> Option<u32> {
    let distance = difference.ln_1p();
    let is_enough = |n: &u32| {
        let freedom = 2 * n - 2;
        let critical = student::critical_t(1.0 - LEVEL, freedom)
            + student::critical_t(2.0 * (1.0 - POWER), freedom);
        2.0 * variance * critical.powi(2) <= f64::from(*n) * distance.powi(2)
    };
    (MIN_RUNS..=MAX_RUNS).find(is_enough)
}

#[cfg(test)]
mod tests;
