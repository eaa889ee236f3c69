//! Two conditions side by side: the ratio of every median with its interval, and a verdict.
//!
//! The verdict needs the whole interval on one side of the margin, or within it. Intervals of the
//! two medians that overlap are no proof of equality, and those that do not overlap say nothing
//! about how much it matters; neither is used.

use std::collections::{BTreeMap, VecDeque};

use assay_model::attribute::{Attribute, Attributes, Role, Value};
use assay_model::benchmark::Better;
use assay_model::comparison::{
    Aspect, Comparison, Difference, Only, Pair, SCHEMA, Side, Unmatched, Verdict,
};
use assay_model::facts::HostFacts;
use assay_model::run::{CaseEnd, CaseRecord, Run, SeriesRecord};
use assay_model::summary::Estimate;
use assay_model::workload::NetworkWorkload;

use crate::quantile::{LEAST, LEVEL};
use crate::summarize::summarize;

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
    // Several hosts may have been asked the same: the first is compared with the first.
    let mut waiting: BTreeMap<&str, VecDeque<usize>> = BTreeMap::new();
    for (at, (identity, _)) in of_b.iter().enumerate() {
        waiting.entry(identity).or_default().push_back(at);
    }
    let mut pairs = Vec::new();
    let mut unmatched = Vec::new();
    let mut is_matched = vec![false; of_b.len()];
    for (identity, estimate) in of_a {
        match waiting.get_mut(&*identity).and_then(VecDeque::pop_front) {
            Some(at) => {
                is_matched[at] = true;
                pairs.push(pair(estimate, of_b[at].1.clone(), margin));
            }
            None => unmatched.push(alone(&estimate, Only::A)),
        }
    }
    let rest = of_b.iter().zip(&is_matched).filter(|(_, is_matched)| !**is_matched);
    unmatched.extend(rest.map(|((_, estimate), _)| alone(estimate, Only::B)));
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

/// Every estimate of a run with what it is about, the same in every run that asks the same: the
/// benchmark, the question, the metric and every attribute that two results must share.
fn identified(run: &Run) -> Vec<(String, Estimate)> {
    let identity = |it: &Estimate| {
        let question = run.case(&it.case).map(question).unwrap_or_default();
        let shared = shown(&identity(&it.parameters));
        format!("{}/{question}/{} {shared}", it.benchmark, it.metric)
    };
    summarize(run).results.into_iter().map(|it| (identity(&it), it)).collect()
}

/// Which host is at the other end of a network is not part of the question.
fn question(record: &CaseRecord) -> String {
    let case = &record.case;
    match case.workload.network() {
        Some(work) => {
            let question = NetworkWorkload { to: None, ..work.clone() };
            format!("{}/{}", question.name(), case.by)
        }
        None => case.id.clone(),
    }
}

fn identity(attributes: &Attributes) -> Attributes {
    let of_identity = attributes.iter().filter(|(name, _)| name.row().role == Role::Identity);
    of_identity.map(|(name, value)| (*name, value.clone())).collect()
}

/// 4 and 4.0 are the same value.
fn shown(attributes: &Attributes) -> String {
    let one = |(name, value): (&Attribute, &Value)| {
        let number = value.number().map(|number| number.to_string());
        format!("{}={}", name.name(), number.unwrap_or_else(|| format!("{value:?}")))
    };
    attributes.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn alone(estimate: &Estimate, only: Only) -> Unmatched {
    Unmatched {
        only,
        benchmark: estimate.benchmark.clone(),
        case: estimate.case.clone(),
        metric: estimate.metric.clone(),
        identity: identity(&estimate.parameters),
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

    /// One run with what all have measured. A single run is taken as it is.
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
                    Some(known) => join(known, record),
                    None => all.cases.push(record),
                }
            }
        }
        all
    }
}

/// Each run counts as one preparation.
fn as_preparation(record: &mut CaseRecord, preparation: u32) {
    for series in &mut record.series {
        series.samples.iter_mut().for_each(|it| it.preparation = preparation);
        series.distributions.iter_mut().for_each(|it| it.preparation = preparation);
        series.counts.iter_mut().for_each(|it| it.preparation = preparation);
    }
}

/// Adds what another run has measured in the same case. Series that add up to a result, such as steps,
/// stay those of the first run: the steps of two searches are no search.
fn join(known: &mut CaseRecord, more: CaseRecord) {
    known.doubts.extend(more.doubts);
    let mut taken = vec![false; known.series.len()];
    for series in more.series.into_iter().filter(is_result) {
        let is_same = |it: &SeriesRecord| {
            it.metric == series.metric
                && is_result(it)
                && shown(&identity(&it.dimensions)) == shown(&identity(&series.dimensions))
        };
        let at = (0..known.series.len())
            .find(|at| taken.get(*at) == Some(&false) && is_same(&known.series[*at]));
        match at {
            Some(at) => {
                taken[at] = true;
                known.series[at].samples.extend(series.samples);
                known.series[at].distributions.extend(series.distributions);
                known.series[at].counts.extend(series.counts);
                // What a tool says of one run says nothing about both.
                known.series[at].figures = None;
            }
            None => known.series.push(series),
        }
    }
}

fn is_result(series: &SeriesRecord) -> bool {
    series.dimensions.keys().all(|name| name.row().role != Role::Part)
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

/// No segment was retransmitted, no datagram was lost: there is no ratio, and no difference.
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
        let share = |it: &Estimate| LEAST as f64 / it.n_effective.max(1.0);
        let more = share(a).max(share(b));
        return (more > 1.0).then(|| (present * more).ceil() as u64);
    };
    let width = (ratio / low).ln().max((high / ratio).ln());
    let border = margin.ln_1p();
    let distance = (ratio.ln().abs() - border).abs();
    let n = present * (width / distance).powi(2);
    (n.is_finite() && n <= MOST).then(|| n.ceil() as u64)
}

/// What a ratio may be about instead of the condition. Of hosts, the first of each run.
fn differences(a: &Run, b: &Run) -> Vec<Difference> {
    let facts = |run: &Run| run.first_host().map(|it| it.facts.clone()).unwrap_or_default();
    let (of_a, of_b) = (facts(a), facts(b));
    let version = |of: &HostFacts| of.versions.get("assay").cloned().unwrap_or_default();
    let of_facts = [
        (Aspect::Version, version(&of_a), version(&of_b)),
        (Aspect::Kernel, of_a.system.kernel, of_b.system.kernel),
        (Aspect::Processor, of_a.cpu.model, of_b.cpu.model),
        (Aspect::Host, of_a.name, of_b.name),
    ];
    let count = |run: &Run| run.hosts.len().to_string();
    let all = of_facts.into_iter().rev().chain([(Aspect::HostCount, count(a), count(b))]);
    let differing = all.filter(|(_, a, b)| a != b);
    differing.map(|(aspect, a, b)| Difference { aspect, a, b }).collect()
}

#[cfg(test)]
mod tests;
