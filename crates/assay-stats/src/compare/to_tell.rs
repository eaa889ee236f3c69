//! Number of runs needed to decide a comparison that is undecided.

use assay_model::comparison::Pair;

use super::{FALSE_SHARE, RUNS};
use crate::quantile::LEVEL;
use crate::rank_statistic::RankStatistic;
use crate::shift::FEWEST_RANKED;
use crate::student;

/// Maximum number of runs; above it the conditions are as good as equal.
const MOST: u64 = 1000;

/// Returns the runs of each condition needed to decide, if the shift stays as it is: to distinguish
/// it from 0 among all `tested` metrics, or to bring its interval within the margin. Widths fall
/// with the square root of the number of runs. Returns `None` where no number suffices, because
/// there is no ratio or the shift equals the margin.
pub(super) fn runs(pair: &Pair, margin: f64, tested: usize) -> Option<u64> {
    let shift = pair.ratio?.ln().abs();
    let present = pair.a.n.min(pair.b.n) as u64;
    let (distance, risk) = match shift > margin {
        true => (shift, FALSE_SHARE / tested.max(1) as f64),
        false => (margin - shift, 1.0 - LEVEL),
    };
    let Some(error) = error_of_one(pair) else {
        // The variance between runs is unknown: suggest the default of a comparison in turns.
        return Some(u64::from(RUNS).max(present + 1));
    };
    let would_tell = |n: u64| {
        let half = student::critical(risk, n as u32 - 1) * error / (n as f64).sqrt();
        half <= distance && (n < FEWEST_RANKED as u64 || minimum_of_ranks(n as usize) <= risk)
    };
    let minimum = (present + 1).max(3);
    (would_tell(MOST)).then(|| (minimum..=MOST).find(|n| would_tell(*n)).unwrap_or(MOST))
}

/// Returns the smallest p value that ranks of `n` pairs can have; from 30 runs on it is small
/// enough for any test.
fn minimum_of_ranks(n: usize) -> f64 {
    RankStatistic::of_pairs(n.min(30)).minimum()
}

/// Returns the standard error of a shift between single runs, from the interval over all runs.
fn error_of_one(pair: &Pair) -> Option<f64> {
    let [low, high] = pair.ratio_ci?;
    let n = pair.a.n.min(pair.b.n);
    let critical =
        student::critical(1.0 - LEVEL, u32::try_from(n).ok()?.saturating_sub(1).max(1));
    Some(0.5 * (high / low).ln() * (n as f64).sqrt() / critical)
}
