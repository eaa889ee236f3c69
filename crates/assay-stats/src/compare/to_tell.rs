//! How many runs would tell what these cannot.

use assay_model::comparison::Pair;

use super::{FALSE_SHARE, RUNS};
use crate::quantile::LEVEL;
use crate::rank_statistic::RankStatistic;
use crate::shift::FEWEST_RANKED;
use crate::student;

/// More runs than this nobody makes; the answer is then that they are the same.
const MOST: u64 = 1000;

/// Runs of each condition with which the shift, were it as it is, would be told from 0 among all that are
/// `tested`, or its interval would lie within the margin: widths fall with the square root of their number.
/// `None` where no number does it, because there is no ratio or it lies on the margin itself.
pub(super) fn runs(pair: &Pair, margin: f64, tested: usize) -> Option<u64> {
    let shift = pair.ratio?.ln().abs();
    let present = pair.a.n.min(pair.b.n) as u64;
    let (distance, risk) = match shift > margin {
        true => (shift, FALSE_SHARE / tested.max(1) as f64),
        false => (margin - shift, 1.0 - LEVEL),
    };
    let Some(error) = error_of_one(pair) else {
        // What differs from run to run is not known: as many as a comparison in turns takes.
        return Some(u64::from(RUNS).max(present + 1));
    };
    let would_tell = |n: u64| {
        let half = student::critical(risk, n as u32 - 1) * error / (n as f64).sqrt();
        half <= distance && (n < FEWEST_RANKED as u64 || minimum_of_ranks(n as usize) <= risk)
    };
    let minimum = (present + 1).max(3);
    (would_tell(MOST)).then(|| (minimum..=MOST).find(|n| would_tell(*n)).unwrap_or(MOST))
}

/// From 30 runs on nothing of interest is too improbable for ranks.
fn minimum_of_ranks(n: usize) -> f64 {
    RankStatistic::of_pairs(n.min(30)).minimum()
}

/// The standard error of a shift between single runs, from the interval of all.
fn error_of_one(pair: &Pair) -> Option<f64> {
    let [low, high] = pair.ratio_ci?;
    let n = pair.a.n.min(pair.b.n);
    let critical =
        student::critical(1.0 - LEVEL, u32::try_from(n).ok()?.saturating_sub(1).max(1));
    Some(0.5 * (high / low).ln() * (n as f64).sqrt() / critical)
}
