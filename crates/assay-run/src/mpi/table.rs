//! Table of an MPI job: columns and rows, from the outcome on rank 0, and the doubts about rows.

use assay_dialects::osu::{OsuLayout, OsuRow, OsuTable};
use assay_model::benchmark::{Benchmark, VarianceSource};
use assay_model::doubt::Doubt;
use assay_model::event::StopReason;
use assay_model::mpi_outcome::{MpiOutcome, MpiSizeResult};
use assay_model::plan::StoppingRule;
use assay_model::workload::MpiPreset;
use assay_stats::analysis::{Analysis, analyse};
use assay_stats::doubts::series_doubts;
use assay_stats::quantile::supports_quantile;
use assay_stats::tails::quantile_effective_count;

use super::method;
use super::options::MpiOptions;
use super::single_size::TARGET_PRECISION;

/// Percentile that is reported by default, next to the interval.
const DEFAULT_PERCENTILE: f64 = 99.0;

/// Returns the layout of a preset's tables.
pub const fn table_layout(preset: MpiPreset) -> OsuLayout {
    match preset {
        MpiPreset::Assay => OsuLayout::Assay,
        MpiPreset::Osu5 => OsuLayout::Osu5,
        MpiPreset::Osu7 => OsuLayout::Osu7,
    }
}

/// Builds the table without rows.
pub fn empty_table(options: &MpiOptions, outcome: &MpiOutcome) -> OsuTable {
    let has_default_percentile =
        options.preset == MpiPreset::Assay && method::has_single_turns(options.test);
    let percentiles = match options.percentiles.is_empty() {
        true if has_default_percentile => vec![DEFAULT_PERCENTILE],
        _ => options.percentiles.clone(),
    };
    OsuTable {
        test: options.test,
        layout: table_layout(options.preset),
        full: options.overlap_parts,
        percentiles,
        validation: options.validate,
        ranks: outcome.ranks.len() as u32,
        window: method::window(options),
        topology: outcome.topology.clone(),
        workers: method::workers(options),
        element: method::element_name(method::reduction_element(options)).to_owned(),
        window_creation: method::window_creation(options),
        synchronization: method::synchronization(options),
    }
}

/// Builds the row of one size.
pub fn build_row(table: &OsuTable, outcome: &MpiOutcome, size: &MpiSizeResult) -> OsuRow {
    let metrics = size.samples.keys();
    let values = metrics
        .filter_map(|name| Some((name.clone(), analyse_metric(size, name)?.median)))
        .collect();
    let analysis = analyse_metric(size, first_metric(size));
    OsuRow {
        bytes: size.bytes,
        values,
        iterations: size.iterations,
        interval: analysis.as_ref().and_then(|it| it.interval),
        batches: size.samples.get(first_metric(size)).map_or(0, Vec::len),
        percentiles: percentile_values(
            &outcome.single_values(table.test, size),
            &table.percentiles,
        ),
        is_valid: size.validation.filter(|it| it.messages > 0).map(|it| it.wrong == 0),
    }
}

/// Returns the doubts about the median of a size, except for a wide interval: the row prints the
/// interval.
pub fn size_doubts(options: &MpiOptions, size: &MpiSizeResult) -> Vec<Doubt> {
    let metric = Benchmark::Mpi(options.test).metric(first_metric(size));
    let (Some(analysis), Some(metric)) = (analyse_metric(size, first_metric(size)), metric)
    else {
        return Vec::new();
    };
    let is_about_median =
        |it: &Doubt| matches!(it, Doubt::SeveralModes { .. } | Doubt::Autocorrelated { .. });
    let stopping = StoppingRule {
        target: TARGET_PRECISION,
        repetitions: 1,
        preparations: 1,
        budget_s: 0.0,
    };
    let doubts = series_doubts(
        &analysis,
        &stopping,
        StopReason::Budget,
        metric.unit,
        VarianceSource::Launch,
    );
    doubts.into_iter().filter(is_about_median).collect()
}

/// Returns the metric of the first column.
fn first_metric(size: &MpiSizeResult) -> &'static str {
    if size.samples.contains_key("bandwidth") { "bandwidth" } else { "latency" }
}

/// Analyses the batches of one metric; `None` without a finite sample.
fn analyse_metric(size: &MpiSizeResult, metric: &str) -> Option<Analysis> {
    analyse(&[size.samples.get(metric)?.clone()])
}

/// Returns nearest-rank percentiles of single turns, which are given in order of time. A percentile
/// is `None` without enough effective samples.
fn percentile_values(values: &[f64], percents: &[f64]) -> Vec<Option<f64>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let percentile = |percent: &f64| {
        let share = percent / 100.0;
        let rank = (share * n as f64).ceil().max(1.0) as usize;
        let value = sorted.get(rank - 1).copied()?;
        supports_quantile(quantile_effective_count(share, value, values), share)
            .then_some(value)
    };
    percents.iter().map(percentile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_needs_enough_samples() {
        // Every value of 1 … 996 once, in an order without a trend: 7 is a primitive root of 997.
        let steps = std::iter::successors(Some(1_u32), |last| Some(last * 7 % 997));
        let mut messages: Vec<f64> = steps.take(996).map(f64::from).collect();
        assert_eq!(
            percentile_values(&messages, &[50.0, 99.0, 99.9]),
            [Some(498.0), Some(987.0), None],
            "p99.9 takes 2995 values"
        );
        messages.sort_by(f64::total_cmp);
        assert_eq!(
            percentile_values(&messages, &[50.0, 99.0]),
            [Some(498.0), None],
            "the longest came all at once"
        );
        assert_eq!(percentile_values(&[], &[50.0]), [None]);
    }
}
