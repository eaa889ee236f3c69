//! Number of runs needed to decide a comparison that is undecided.

use assay_model::comparison::{ComparisonDesign, MetricComparison};

use super::{DEFAULT_RUNS, FALSE_DISCOVERY_RATE};
use crate::quantile::LEVEL;
use crate::rank_statistic::RankStatistic;
use crate::shift::MIN_RANKED;
use crate::{looks, student};

/// Maximum number of runs; above it the conditions are as good as equal.
const MAX_RUNS: u64 = 1000;

/// Returns the runs of each condition needed to decide, if the shift stays as it is: to distinguish
/// it from 0 among all `tested` metrics, or to bring its interval within the margin. Widths fall
/// with the square root of the number of runs. Returns `None` where no number suffices, because
/// there is no ratio or the shift equals the margin.
pub(super) fn required_runs(
    pair: &MetricComparison,
    design: ComparisonDesign,
    (margin, tested): (f64, usize),
) -> Option<u64> {
    let shift = pair.ratio?.ln().abs();
    let present = pair.a.n.min(pair.b.n) as u64;
    let (distance, risk) = match shift > margin {
        true => (shift, FALSE_DISCOVERY_RATE / tested.max(1) as f64),
        false => (margin - shift, 1.0 - LEVEL),
    };
    let Some(error) = single_run_error(pair, design) else {
        // The variance between runs is unknown: suggest the default of a comparison in turns.
        return Some(u64::from(DEFAULT_RUNS).max(present + 1));
    };
    let would_tell = |n: u64| {
        let half = student::critical_t(risk, n as u32 - 1) * error / (n as f64).sqrt();
        half <= distance && (n < MIN_RANKED as u64 || minimum_rank_p(n as usize) <= risk)
    };
    let minimum = (present + 1).max(3);
    (would_tell(MAX_RUNS))
        .then(|| (minimum..=MAX_RUNS).find(|n| would_tell(*n)).unwrap_or(MAX_RUNS))
}

/// Returns the smallest p value that ranks of `n` pairs can have; from 30 runs on it is small
/// enough for any test.
fn minimum_rank_p(n: usize) -> f64 {
    RankStatistic::signed_rank(n.min(30)).minimum_p()
}

/// Returns the standard error of a shift between single runs, from the interval over all runs.
fn single_run_error(pair: &MetricComparison, design: ComparisonDesign) -> Option<f64> {
    let [low, high] = pair.ratio_ci?;
    let n = pair.a.n.min(pair.b.n);
    let share = match design {
        ComparisonDesign::Looks => looks::error_share(n),
        ComparisonDesign::Turns | ComparisonDesign::Independent => 1.0,
    };
    let freedom = u32::try_from(n).ok()?.saturating_sub(1).max(1);
    let critical = student::critical_t((1.0 - LEVEL) * share, freedom);
    Some(0.5 * (high / low).ln() * (n as f64).sqrt() / critical)
}
