//! Comparison of two conditions: for every metric the ratio between their runs, and a verdict.
//!
//! Runs are the units. Everything that varies between runs (placement, neighbours, temperature) is
//! common to all samples within one, so that a thousand of them are still one observation: every
//! run counts as one value, its median. Where the conditions took turns, a run is compared with its
//! neighbour of the other condition, so that common effects cancel.
//!
//! Better and worse need a difference that is significant among all metrics tested (Benjamini and
//! Hochberg) and a shift beyond the margin; equivalent needs the whole interval within the margin.
//! Whether the intervals of the two medians overlap is not used: overlap does not prove equality,
//! and its absence does not show that a difference matters.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread;

use assay_model::attribute::{Attribute, Attributes, Value, identity};
use assay_model::benchmark::{Benchmark, Better};
use assay_model::comparison::{
    Comparison, Design, Only, Pair, SCHEMA, Side, Unmatched, Verdict,
};
use assay_model::run::Run;
use assay_model::summary::Estimate;

use crate::quantile::LEVEL;
use crate::shift::{self, FEWEST};
use crate::summarize::summarize;
use crate::{environment, false_discovery, question};

mod across_runs;
mod to_tell;

/// Maximum share of false differences among all reported ones (false discovery rate); where nothing
/// differs at all, the share of comparisons that report any. Below the usual 5 %, so that a suite
/// of any size stays below 5 % including the rounding of ranks.
pub const FALSE_SHARE: f64 = 0.04;
/// Default number of runs of each condition for conditions in turns. It detects a shift of 3 % in
/// more than 90 of 100 comparisons of 50 metrics where runs differ by 1 %, even if no other metric
/// has changed (`truth statistics`). With fewer pairs, no rank statistic is significant among 50
/// metrics.
pub const RUNS: u32 = 14;

/// Runs of one condition under a name; at least one, the oldest first.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'r> {
    /// User's name of the condition.
    pub name: &'r str,
    /// Its runs.
    pub runs: &'r [Run],
    /// Position of each run among all runs in order of measurement; empty = the order of their
    /// clocks.
    pub places: &'r [usize],
}

impl Condition<'_> {
    /// Returns the position of a run of this condition among all runs in order of measurement.
    fn place(&self, run: &Run) -> Option<usize> {
        let at = self.runs.iter().position(|it| std::ptr::eq(it, run))?;
        self.places.get(at).copied()
    }
}

/// Compares two conditions. `margin` is the largest relative difference that counts as equivalent.
#[must_use]
pub fn compare(a: Condition<'_>, b: Condition<'_>, margin: f64) -> Comparison {
    let (of_a, of_b) = thread::scope(|scope| {
        let of_b = scope.spawn(|| Measured::of(b));
        let of_a = Measured::of(a);
        (of_a, of_b.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let blocks = blocks(&of_a.runs, &of_b.runs);
    let mut pairs = Vec::new();
    let mut unmatched = Vec::new();
    for key in &of_a.order {
        match (&of_a.results[key], of_b.results.get(key)) {
            (in_a, Some(in_b)) => pairs.push(pair(in_a, in_b, blocks.as_deref())),
            (in_a, None) => unmatched.extend(in_a.first().map(|it| alone(it, Only::A))),
        }
    }
    let only_b = of_b.order.iter().filter(|key| !of_a.results.contains_key(key));
    let only_b = only_b.filter_map(|key| of_b.results[key].first());
    unmatched.extend(only_b.map(|it| alone(it, Only::B)));
    let tested = judge(&mut pairs, margin);
    let design = if blocks.is_some() { Design::Turns } else { Design::Independent };
    let ids = |runs: &[&Run]| runs.iter().map(|run| run.started.run.clone()).collect();
    let side =
        |name: &str, it: &Measured<'_>| Side { name: name.to_owned(), runs: ids(&it.runs) };
    let place = |run: &Run| a.place(run).or_else(|| b.place(run)).unwrap_or(0);
    Comparison {
        schema: SCHEMA,
        a: side(a.name, &of_a),
        b: side(b.name, &of_b),
        control: [of_a.control, of_b.control].concat(),
        design,
        margin,
        level: LEVEL,
        tested,
        false_share: FALSE_SHARE,
        pairs,
        unmatched,
        differences: environment::differences([&of_a.runs, &of_b.runs], design, &place),
    }
}

/// Key that matches the same result across runs: identity of the result, and its index among
/// results with the same identity. Several hosts may have the same workload.
pub(crate) type Key = (String, usize);

/// All results of the runs of a condition.
struct Measured<'r> {
    runs: Vec<&'r Run>,
    /// Identifiers of the control runs.
    control: Vec<String>,
    /// Keys of the results, in order of first appearance.
    order: Vec<Key>,
    results: BTreeMap<Key, OfRuns>,
}

/// Estimates of one result from all runs of a condition.
#[derive(Default)]
struct OfRuns {
    /// Estimates by index of the run within its condition.
    counted: BTreeMap<usize, Estimate>,
    /// Estimates of control runs, with the block of each.
    control: Vec<(Option<Block>, Estimate)>,
    /// Index of the run in each block, without control runs.
    blocks: BTreeMap<Block, usize>,
}

/// Identifier of a comparison in turns, and the number of a block.
type Block = (String, u32);

impl OfRuns {
    fn first(&self) -> Option<&Estimate> {
        self.counted.values().next()
    }
}

impl<'r> Measured<'r> {
    fn of(condition: Condition<'r>) -> Self {
        let is_control = |run: &&Run| run.started.turn.as_ref().is_some_and(|it| it.is_control);
        let (mut control, mut runs): (Vec<&Run>, Vec<&Run>) =
            condition.runs.iter().partition(is_control);
        if runs.is_empty() {
            // Only control runs: the user compares the control itself.
            std::mem::swap(&mut control, &mut runs);
        }
        let ids = control.iter().map(|run| run.started.run.clone()).collect();
        let mut measured = Self { runs, control: ids, order: vec![], results: BTreeMap::new() };
        for (at, run) in measured.runs.clone().into_iter().enumerate() {
            for (key, estimate) in identified(run) {
                let result = measured.results.entry(key.clone()).or_insert_with(|| {
                    measured.order.push(key);
                    OfRuns::default()
                });
                result.counted.insert(at, estimate);
                result.blocks.extend(block(run).map(|block| (block, at)));
            }
        }
        for run in control {
            for (key, estimate) in identified(run) {
                if let Some(result) = measured.results.get_mut(&key) {
                    result.control.push((block(run), estimate));
                }
            }
        }
        measured
    }
}

fn block(run: &Run) -> Option<Block> {
    run.started.turn.as_ref().map(|turn| (turn.comparison.clone(), turn.block))
}

/// Returns the indices of the two runs of every block; `None` unless all runs took turns in enough
/// blocks.
fn blocks(a: &[&Run], b: &[&Run]) -> Option<Vec<(usize, usize)>> {
    let places = |runs: &[&Run]| {
        let places = runs.iter().enumerate().map(|(at, run)| Some((block(run)?, at)));
        places.collect::<Option<BTreeMap<Block, usize>>>()
    };
    let (of_a, of_b) = (places(a)?, places(b)?);
    let both = of_a.iter().filter_map(|(block, at)| Some((*at, *of_b.get(block)?)));
    let both: Vec<_> = both.collect();
    (both.len() >= FEWEST).then_some(both)
}

/// Returns every estimate of a run with its key: the benchmark, the workload, the metric and every
/// attribute that matched results must share.
pub(crate) fn identified(run: &Run) -> Vec<(Key, Estimate)> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut questions: BTreeMap<&str, String> = BTreeMap::new();
    for record in &run.cases {
        questions.entry(&record.case.id).or_insert_with(|| question::of(record));
    }
    let keyed = |it: Estimate| {
        let question = questions.get(it.case.as_str()).map(String::as_str).unwrap_or_default();
        let shared = shown(&identity(&it.parameters));
        let about = format!("{}/{question}/{} {shared}", it.benchmark, it.metric);
        let before = times.entry(about.clone()).or_default();
        *before += 1;
        ((about, *before), it)
    };
    let mut results = summarize(run).results;
    // The same hosts may be listed in another order in other runs.
    let is_of_host = |it: &Estimate| it.parameters.contains_key(&Attribute::Host);
    if results.iter().any(is_of_host) {
        results.sort_by(|a, b| a.host.cmp(&b.host));
    }
    results.into_iter().map(keyed).collect()
}

/// Formats attributes as a key; 4 and 4.0 give the same text.
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

/// Compares one metric between two conditions, without a verdict, which depends on all other
/// metrics.
fn pair(a: &OfRuns, b: &OfRuns, blocks: Option<&[(usize, usize)]>) -> Pair {
    let [in_a, in_b] = [a, b].map(|it| it.counted.values().collect::<Vec<_>>());
    let shift = logarithms(in_a.iter().copied())
        .zip(logarithms(in_b.iter().copied()))
        .and_then(|(of_a, of_b)| match blocks {
            None => shift::of_groups(&of_a, &of_b, LEVEL),
            Some(blocks) => {
                let value = |it: &OfRuns, at| Some(it.counted.get(at)?.median.ln());
                let differences = blocks
                    .iter()
                    .filter_map(|(at_a, at_b)| Some(value(b, at_b)? - value(a, at_a)?));
                shift::of_pairs(&differences.collect::<Vec<_>>(), LEVEL)
            }
        });
    let known = shift.and_then(|shift| shift.known);
    let (a_all, b_all) = (across_runs::combined(&in_a), across_runs::combined(&in_b));
    let metric = Benchmark::from_id(&a_all.benchmark).and_then(|it| it.metric(&a_all.metric));
    let is_single = in_a.iter().chain(&in_b).all(|it| it.n <= 1);
    Pair {
        ratio: shift.map(|shift| shift.by.exp()),
        ratio_ci: known.map(|known| known.interval.map(f64::exp)),
        p: known.map(|known| known.p),
        p_adjusted: None,
        floor: floor(a).or_else(|| floor(b)),
        verdict: Verdict::CannotTell,
        runs_to_tell: None,
        is_headline: metric.is_some_and(|metric| metric.headline.is_some()),
        is_single,
        a: a_all,
        b: b_all,
    }
}

/// Returns the logarithms of the medians; `None` if any is not a finite number above 0, because
/// there is no ratio then.
fn logarithms<'e>(estimates: impl Iterator<Item = &'e Estimate>) -> Option<Vec<f64>> {
    let logarithm = |it: &Estimate| {
        let is_usable = it.median.is_finite() && it.median > 0.0;
        is_usable.then(|| it.median.ln())
    };
    estimates.map(logarithm).collect()
}

/// Returns the floor: interval of the ratio between control runs and the others of their block.
fn floor(of: &OfRuns) -> Option<[f64; 2]> {
    let differences = of.control.iter().filter_map(|(block, control)| {
        let other = of.counted.get(of.blocks.get(block.as_ref()?)?)?;
        let both = logarithms([control, other].into_iter())?;
        Some(both[0] - both[1])
    });
    let shift = shift::of_pairs(&differences.collect::<Vec<_>>(), LEVEL)?;
    Some(shift.known?.interval.map(f64::exp))
}

/// Assigns a verdict to every pair; returns the number of pairs tested.
fn judge(pairs: &mut [Pair], margin: f64) -> usize {
    let tested: Vec<f64> = pairs.iter().filter_map(|pair| pair.p).collect();
    let mut adjusted = false_discovery::adjusted(&tested).into_iter();
    for pair in pairs {
        pair.p_adjusted = pair.p.and_then(|_| adjusted.next());
        pair.verdict = verdict(pair, margin.ln_1p());
        if pair.verdict == Verdict::CannotTell {
            pair.runs_to_tell = to_tell::runs(pair, margin.ln_1p(), tested.len());
        }
    }
    tested.len()
}

fn verdict(pair: &Pair, margin: f64) -> Verdict {
    if is_always_zero(&pair.a) && is_always_zero(&pair.b) {
        return Verdict::Equivalent;
    }
    let (Some(ratio), Some(interval), Some(p)) = (pair.ratio, pair.ratio_ci, pair.p_adjusted)
    else {
        return Verdict::CannotTell;
    };
    let shift = ratio.ln();
    if interval.iter().all(|end| end.ln().abs() <= margin) {
        return Verdict::Equivalent;
    }
    // Rounding may lift a shift equal to the margin above it.
    if p > FALSE_SHARE || shift.abs() <= margin * (1.0 + 1e-9) {
        return Verdict::CannotTell;
    }
    let is_better = (shift > 0.0) == (pair.a.better == Better::Higher);
    if is_better { Verdict::Better } else { Verdict::Worse }
}

/// Returns whether a count is 0 throughout, such as retransmits or lost datagrams: equivalent,
/// although there is no ratio.
fn is_always_zero(estimate: &Estimate) -> bool {
    estimate.min == 0.0 && estimate.max == 0.0
}

#[cfg(test)]
pub(crate) mod tests;
