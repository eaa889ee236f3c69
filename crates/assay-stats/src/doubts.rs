//! Statistical doubts about one series: properties of its interval and its distribution that may
//! mislead.

use assay_model::benchmark::VarianceSource;
use assay_model::doubt::Doubt;
use assay_model::event::StopReason;
use assay_model::plan::StoppingRule;
use assay_model::quantity::Unit;
use assay_model::trust;

use crate::analysis::Analysis;
use crate::modality::find_modes;
use crate::quantile::MIN_SAMPLES;

/// Ratio of effective samples to samples below which the samples are doubted as dependent.
const MIN_EFFECTIVE_RATIO: f64 = 0.2;

/// Share of samples discarded as warm-up above which a doubt is raised.
const MAX_DISCARDED: f64 = 0.05;

/// Returns every doubt that the samples raise about their own median.
///
/// - `no-interval`: too few effective samples for an interval;
/// - `wide-interval`: the interval is wider than `stopping.target`;
/// - `one-preparation`: all samples share one placement, where several preparations were requested;
/// - `few-preparations`: there were several, but fewer than requested;
/// - `preparations-differ`, `autocorrelated`: effective samples are fewer than a fifth of the
///   samples, for the named cause;
/// - `warm-up-discarded`: more than one sample in twenty was discarded as warm-up;
/// - `several-modes`: the samples fall into groups, and the median describes none of them;
/// - `samples-not-finite`: some samples were not finite and were rejected.
pub fn series_doubts(
    analysis: &Analysis,
    stopping: &StoppingRule,
    stopped: StopReason,
    unit: Unit,
    variance_source: VarianceSource,
) -> Vec<Doubt> {
    let doubts = [
        check_precision(analysis, stopping, stopped),
        check_preparations(analysis, stopping, stopped, variance_source),
        check_dependence(analysis, variance_source),
        check_warm_up(analysis),
        check_modes(analysis, unit),
        check_finite(analysis),
    ];
    doubts.into_iter().flatten().collect()
}

/// Returns the doubt `no-interval` for `n` samples with `n_effective` effective ones.
pub fn no_interval(n: usize, n_effective: f64, stopped: StopReason) -> Doubt {
    Doubt::NoInterval {
        n,
        n_effective,
        needed: MIN_SAMPLES,
        by_tool: stopped == StopReason::Tool,
    }
}

fn check_precision(
    analysis: &Analysis,
    stopping: &StoppingRule,
    stopped: StopReason,
) -> Option<Doubt> {
    let (n, n_effective) = (analysis.sorted.len(), analysis.effective.n);
    let Some(width) = analysis.relative_half_width() else {
        // Around a median of 0 there is an interval, but no relative width.
        let has_no_interval = analysis.interval.is_none();
        return has_no_interval.then(|| no_interval(n, n_effective, stopped));
    };
    let wider_side = analysis
        .interval
        .and_then(|(low, high)| trust::relative_wider_side(analysis.median, [low, high]));
    (width > stopping.target).then(|| Doubt::WideInterval {
        width: wider_side.unwrap_or(width),
        target: stopping.target,
        n,
        n_effective,
        by_tool: stopped == StopReason::Tool,
    })
}

fn check_preparations(
    analysis: &Analysis,
    stopping: &StoppingRule,
    stopped: StopReason,
    variance_source: VarianceSource,
) -> Option<Doubt> {
    let (requested, measured) = (stopping.preparations, analysis.preparations);
    if measured > 1 && measured < requested as usize && stopped != StopReason::Tool {
        return Some(Doubt::FewPreparations { asked: requested, had: measured });
    }
    let has_one = analysis.preparations == 1 && requested > 1 && analysis.interval.is_some();
    (has_one && stopped != StopReason::Tool)
        .then_some(Doubt::OnePreparation { asked: requested, luck: variance_source })
}

fn check_dependence(analysis: &Analysis, variance_source: VarianceSource) -> Option<Doubt> {
    let n = analysis.sorted.len();
    let effective = analysis.effective;
    if effective.n >= n as f64 * MIN_EFFECTIVE_RATIO {
        return None;
    }
    let per_preparation = n as f64 / analysis.preparations as f64;
    let preparation_effect = effective.intraclass_correlation * per_preparation;
    Some(
        if preparation_effect
            > (1.0 - effective.intraclass_correlation) * effective.autocorrelation_time
        {
            Doubt::PreparationsDiffer {
                between: effective.intraclass_correlation,
                preparations: analysis.preparations,
                n,
                n_effective: effective.n,
                luck: variance_source,
            }
        } else {
            Doubt::Autocorrelated { n, n_effective: effective.n }
        },
    )
}

fn check_warm_up(analysis: &Analysis) -> Option<Doubt> {
    let all = analysis.sorted.len() + analysis.discarded;
    let is_large = analysis.discarded as f64 > all as f64 * MAX_DISCARDED;
    is_large.then_some(Doubt::WarmUpDiscarded { discarded: analysis.discarded, all })
}

fn check_modes(analysis: &Analysis, unit: Unit) -> Option<Doubt> {
    let independent = analysis.sorted.len() as f64 / analysis.effective.autocorrelation_time;
    let modes = find_modes(&analysis.sorted, independent)?;
    Some(Doubt::SeveralModes {
        share_low: modes.share_low,
        low: modes.low,
        high: modes.high,
        unit,
    })
}

fn check_finite(analysis: &Analysis) -> Option<Doubt> {
    let rejected = analysis.non_finite;
    let all = analysis.sorted.len() + analysis.discarded + rejected;
    (rejected > 0).then_some(Doubt::SamplesNotFinite { refused: rejected, all })
}

#[cfg(test)]
mod tests;
