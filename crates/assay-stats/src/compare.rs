//! Two conditions side by side: the ratio of every median with its interval, and a verdict.
//!
//! The verdict needs the whole interval on one side of the margin, or within it. Intervals of the
//! two medians that overlap are no proof of equality, and those that do not overlap say nothing
//! about how much it matters; neither is used.

use std::collections::BTreeMap;

use assay_model::benchmark::Better;
use assay_model::comparison::{Comparison, Pair, SCHEMA, Side, Verdict};
use assay_model::run::{CaseEnd, CaseRecord, Run};
use assay_model::summary::Estimate;

use crate::quantile::LEVEL;
use crate::summarize::identified;

/// Least number of independent samples whose median has an interval at 95 %.
const LEAST: f64 = 6.0;
/// More samples than this nobody takes; the answer is then that they are the same.
const MOST: f64 = 1e6;

/// The runs of one condition, under a name; at least one.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'r> {
    /// What the user calls it.
    pub name: &'r str,
    /// The first run, whose host and plan stand for all.
    pub first: &'r Run,
    /// Its other runs.
    pub more: &'r [Run],
}

/// Compares what was measured under both conditions. `margin` is the relative difference that makes
/// no difference in practice.
///
/// Several runs of a condition are taken together, each as one preparation, so that what differs
/// from run to run widens the intervals.
#[must_use]
pub fn compare(a: Condition<'_>, b: Condition<'_>, margin: f64) -> Comparison {
    let (of_a, of_b) = (identified(&a.together()), identified(&b.together()));
    let mut rest: BTreeMap<String, Estimate> = of_b.into_iter().collect();
    let mut pairs = Vec::new();
    let mut unmatched = Vec::new();
    for (identity, estimate) in of_a {
        match rest.remove(&identity) {
            Some(other) => pairs.push(pair(estimate, other, margin)),
            None => unmatched.push(format!("{identity}: {} alone", a.name)),
        }
    }
    unmatched.extend(rest.into_keys().map(|identity| format!("{identity}: {} alone", b.name)));
    Comparison {
        schema: SCHEMA,
        a: a.side(),
        b: b.side(),
        margin,
        level: LEVEL,
        pairs,
        unmatched,
        differences: differences(a.first, b.first),
    }
}

impl Condition<'_> {
    fn side(self) -> Side {
        let ids = std::iter::once(self.first).chain(self.more);
        Side {
            name: self.name.to_owned(),
            runs: ids.map(|run| run.started.run.clone()).collect(),
        }
    }

    /// One run with the samples of all. A single run is taken as it is.
    fn together(self) -> Run {
        let mut all = self.first.clone();
        if self.more.is_empty() {
            return all;
        }
        all.cases.iter_mut().for_each(|record| as_preparation(record, 0));
        for (index, run) in (1..).zip(self.more) {
            for record in run.finished_cases() {
                let mut record = record.clone();
                as_preparation(&mut record, index);
                let known = all.cases.iter_mut().find(|it| {
                    it.case.id == record.case.id && matches!(it.end, Some(CaseEnd::Finished(_)))
                });
                match known {
                    Some(known) => {
                        known.samples.extend(record.samples);
                        known.warnings.extend(record.warnings);
                    }
                    None => all.cases.push(record),
                }
            }
        }
        all
    }
}

fn as_preparation(record: &mut CaseRecord, preparation: u32) {
    record.samples.iter_mut().for_each(|sample| sample.preparation = preparation);
}

fn pair(a: Estimate, b: Estimate, margin: f64) -> Pair {
    let (ratio, ratio_ci) = ratio(&a, &b);
    let verdict = match ratio_ci {
        Some(interval) => judge(interval, margin, a.better),
        None if is_always_zero(&a) && is_always_zero(&b) => Verdict::Equivalent,
        None => Verdict::CannotTell,
    };
    let n_to_tell = match verdict {
        Verdict::CannotTell => n_to_tell(&a, &b, ratio.zip(ratio_ci), margin),
        _ => None,
    };
    Pair { a, b, ratio, ratio_ci, verdict, n_to_tell }
}

/// No segment was sent again, no datagram was lost: there is no ratio, and no difference.
fn is_always_zero(estimate: &Estimate) -> bool {
    estimate.min == 0.0 && estimate.max == 0.0
}

/// The ratio of the medians, and its interval from those of the two medians:
/// ln r ± √(Δa² + Δb²), with Δa and Δb the distances, in logarithms, from each median to that end of
/// its interval which moves the ratio the same way.
///
/// This is the method of variance estimates recovery (Zou and Donner, Statistics in Medicine
/// 27:1693, 2008) on logarithms. It assumes that the two conditions are independent and nothing
/// about their distributions beyond what the intervals of the medians do.
fn ratio(a: &Estimate, b: &Estimate) -> (Option<f64>, Option<[f64; 2]>) {
    let is_usable = |value: f64| value > 0.0 && value.is_finite();
    if !is_usable(a.median) || !is_usable(b.median) {
        return (None, None);
    }
    let ratio = b.median / a.median;
    let (Some(of_a), Some(of_b)) = (a.ci, b.ci) else { return (Some(ratio), None) };
    if !of_a.iter().chain(&of_b).copied().all(is_usable) {
        return (Some(ratio), None);
    }
    let distance = |from: f64, to: f64| (to / from).ln();
    let below = distance(of_b[0], b.median).hypot(distance(a.median, of_a[1]));
    let above = distance(b.median, of_b[1]).hypot(distance(of_a[0], a.median));
    (Some(ratio), Some([ratio * (-below).exp(), ratio * above.exp()]))
}

fn judge([low, high]: [f64; 2], margin: f64, better: Better) -> Verdict {
    let (least, most) = (1.0 / (1.0 + margin), 1.0 + margin);
    let of_more = match better {
        Better::Higher => (Verdict::Better, Verdict::Worse),
        Better::Lower => (Verdict::Worse, Verdict::Better),
    };
    if low > most {
        of_more.0
    } else if high < least {
        of_more.1
    } else if low >= least && high <= most {
        Verdict::Equivalent
    } else {
        Verdict::CannotTell
    }
}

/// Samples of each condition with which the interval would clear the nearest border of the margin,
/// were the medians as they are: its width falls with the square root of their number.
fn n_to_tell(
    a: &Estimate,
    b: &Estimate,
    known: Option<(f64, [f64; 2])>,
    margin: f64,
) -> Option<u64> {
    let present = a.n.max(b.n) as f64;
    let Some((ratio, [low, high])) = known else {
        // Without intervals it takes enough independent samples for one first.
        let share = |it: &Estimate| LEAST / it.n_effective.max(1.0);
        let more = share(a).max(share(b));
        return (more > 1.0).then(|| (present * more).ceil() as u64);
    };
    let width = (ratio / low).ln().max((high / ratio).ln());
    let border = margin.ln_1p();
    let distance = (ratio.ln().abs() - border).abs();
    let n = present * (width / distance).powi(2);
    (n.is_finite() && n <= MOST).then(|| n.ceil() as u64)
}

/// What a ratio may be about instead of the condition.
fn differences(a: &Run, b: &Run) -> Vec<String> {
    let (host_a, host_b) = (&a.started.host, &b.started.host);
    let version =
        |run: &Run| run.started.host.versions.get("assay").cloned().unwrap_or_default();
    let pairs = [
        ("the host", host_a.name.clone(), host_b.name.clone()),
        ("the processor", host_a.cpu.model.clone(), host_b.cpu.model.clone()),
        ("the kernel", host_a.system.kernel.clone(), host_b.system.kernel.clone()),
        ("assay's version", version(a), version(b)),
    ];
    let differing = pairs.into_iter().filter(|(_, a, b)| a != b);
    differing.map(|(what, a, b)| format!("{what}: {a} and {b}")).collect()
}

#[cfg(test)]
mod tests;
