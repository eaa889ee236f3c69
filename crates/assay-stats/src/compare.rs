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

use assay_model::attribute::{Attribute, AttributeValue, Attributes, identity_attributes};
use assay_model::benchmark::{Benchmark, Better};
use assay_model::comparison::{
    ComparedCondition, Comparison, ComparisonDesign, ComparisonVerdict, ConditionLetter,
    MetricComparison, SCHEMA, UnmatchedResult,
};
use assay_model::run::Run;
use assay_model::summary::MetricEstimate;

use crate::quantile::LEVEL;
use crate::shift::{self, MIN_SHIFT_VALUES};
use crate::summarize::summarize;
use crate::{environment, false_discovery, looks, workload_key};

mod across_runs;
mod imports;
mod levels;
mod programs;
mod required_runs;
mod tools;

use self::tools::OpenResult;
pub use levels::{FAMILY_ERROR, LevelRuns, compare_labels, compare_levels};
pub use programs::{
    are_programs_decided, compare_programs, compare_stored_programs, program_levels,
};

/// Maximum share of false differences among all reported ones (false discovery rate); where nothing
/// differs at all, the share of comparisons that report any. Below the usual 5 %, so that a suite
/// of any size stays below 5 % including the rounding of ranks.
pub const FALSE_DISCOVERY_RATE: f64 = 0.04;
/// Default number of runs of each condition for conditions in turns. It detects a shift of 3 % in
/// more than 90 of 100 comparisons of 50 metrics where runs differ by 1 %, even if no other metric
/// has changed (`truth statistics`). With fewer pairs, no rank statistic is significant among 50
/// metrics.
pub const DEFAULT_RUNS: u32 = 14;
/// Margin of a comparison without another one.
pub const DEFAULT_MARGIN: f64 = 0.02;

/// Runs of one condition under a name; at least one, the oldest first.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'r> {
    /// User's name of the condition.
    pub name: &'r str,
    pub runs: &'r [Run],
    /// Position of each run among all runs in order of measurement; empty = the order of their
    /// clocks.
    pub positions: &'r [usize],
}

impl Condition<'_> {
    /// Returns the position of a run of this condition among all runs in order of measurement.
    fn position_of(&self, run: &Run) -> Option<usize> {
        let at = self.runs.iter().position(|it| std::ptr::eq(it, run))?;
        self.positions.get(at).copied()
    }
}

/// Source of the results of a run with their keys.
pub type KeyedResults<'s> = dyn Fn(&Run) -> Vec<(ResultKey, MetricEstimate)> + Sync + 's;

/// Compares two conditions. `margin` is the largest relative difference that counts as equivalent.
pub fn compare(a: Condition<'_>, b: Condition<'_>, margin: f64) -> Comparison {
    compare_results(a, b, margin, &keyed_estimates).0
}

/// Compares two conditions by results that the caller may keep between comparisons; also returns
/// the key of each pair.
pub fn compare_results(
    a: Condition<'_>,
    b: Condition<'_>,
    margin: f64,
    results: &KeyedResults<'_>,
) -> (Comparison, Vec<ResultKey>) {
    let (of_a, of_b) = thread::scope(|scope| {
        let of_b = || ConditionResults::from_condition(b, results);
        let started = thread::Builder::new().spawn_scoped(scope, of_b);
        let of_a = ConditionResults::from_condition(a, results);
        // This thread does the work of a thread that cannot be started.
        let of_b = started.map_or_else(
            |_| of_b(),
            |started| started.join().unwrap_or_else(|panic| resume_unwind(panic)),
        );
        (of_a, of_b)
    });
    let blocks = match_blocks(&of_a.runs, &of_b.runs);
    let design = find_design(&of_a.runs, &of_b.runs, blocks.as_deref());
    let partners = imports::pair_imports(&of_a, &of_b);
    let MatchedResults { mut pairs, keys, unmatched } =
        match_results([&of_a, &of_b], &partners, (design, blocks.as_deref()));
    let tested = assign_verdicts(&mut pairs, design, margin);
    let ids = |runs: &[&Run]| runs.iter().map(|run| run.started.run.clone()).collect();
    let side = |name: &str, it: &ConditionResults<'_>| ComparedCondition {
        name: name.to_owned(),
        runs: ids(&it.runs),
    };
    let place = |run: &Run| a.position_of(run).or_else(|| b.position_of(run)).unwrap_or(0);
    let mut differences = environment::differences([&of_a.runs, &of_b.runs], design, &place);
    let imported = partners
        .iter()
        .filter_map(|(a, b)| Some((of_a.results[*a].first()?, of_b.results[*b].first()?)));
    differences.extend(imports::unrecorded_conditions(&imported.collect::<Vec<_>>()));
    let comparison = Comparison {
        schema: SCHEMA,
        a: side(a.name, &of_a),
        b: side(b.name, &of_b),
        control: [of_a.control, of_b.control].concat(),
        design,
        margin,
        level: LEVEL,
        tested,
        false_share: FALSE_DISCOVERY_RATE,
        pairs,
        unmatched,
        differences,
        suspect: Vec::new(),
    };
    (comparison, keys)
}

/// Results of two conditions.
struct MatchedResults {
    pairs: Vec<MetricComparison>,
    /// Key of each pair in the first condition.
    keys: Vec<ResultKey>,
    unmatched: Vec<UnmatchedResult>,
}

/// Compares every result that both conditions have, also those by another tool in each, and those of
/// an import with its partner.
fn match_results(
    [of_a, of_b]: [&ConditionResults<'_>; 2],
    partners: &BTreeMap<&ResultKey, &ResultKey>,
    design: (ComparisonDesign, Option<&[(usize, usize)]>),
) -> MatchedResults {
    let (mut pairs, mut keys) = (Vec::new(), Vec::new());
    let mut open_a = Vec::new();
    for key in &of_a.order {
        let partner = partners.get(key).copied().unwrap_or(key);
        match (&of_a.results[key], of_b.results.get(partner)) {
            (in_a, Some(in_b)) => {
                pairs.push(compare_metric(in_a, in_b, design));
                keys.push(key.clone());
            }
            (in_a, None) => open_a.extend(in_a.first().map(|it| (key, it))),
        }
    }
    let is_paired = |key: &ResultKey| {
        of_a.results.contains_key(key) || partners.values().any(|it| *it == key)
    };
    let only_b = of_b.order.iter().filter(|key| !is_paired(key));
    let mut open_b: Vec<_> =
        only_b.filter_map(|key| Some((key, of_b.results[key].first()?))).collect();
    for (key_a, key_b) in tools::match_tools(&open_a, &open_b) {
        pairs.push(compare_metric(&of_a.results[key_a], &of_b.results[key_b], design));
        keys.push(key_a.clone());
        open_a.retain(|(key, _)| *key != key_a);
        open_b.retain(|(key, _)| *key != key_b);
    }
    let alone = |open: &[OpenResult<'_>], side| -> Vec<UnmatchedResult> {
        open.iter().map(|(_, it)| unmatched_result(it, side)).collect()
    };
    let unmatched =
        [alone(&open_a, ConditionLetter::A), alone(&open_b, ConditionLetter::B)].concat();
    MatchedResults { pairs, keys, unmatched }
}

/// Key that matches the same result across runs: identity of the result, and its index among
/// results with the same identity. Several hosts may have the same workload.
pub type ResultKey = (String, usize);

/// All results of the runs of a condition.
struct ConditionResults<'r> {
    runs: Vec<&'r Run>,
    /// Identifiers of the control runs.
    control: Vec<String>,
    /// Keys of the results, in order of first appearance.
    order: Vec<ResultKey>,
    results: BTreeMap<ResultKey, RunEstimates>,
}

/// Estimates of one result from all runs of a condition.
#[derive(Default)]
struct RunEstimates {
    /// Estimates by index of the run within its condition.
    by_run: BTreeMap<usize, MetricEstimate>,
    /// Estimates of control runs, with the block of each.
    control: Vec<(Option<BlockKey>, MetricEstimate)>,
    /// Index of the run in each block, without control runs.
    blocks: BTreeMap<BlockKey, usize>,
}

/// Identifier of a comparison in turns, and the number of a block.
type BlockKey = (String, u32);

impl RunEstimates {
    fn first(&self) -> Option<&MetricEstimate> {
        self.by_run.values().next()
    }
}

impl<'r> ConditionResults<'r> {
    fn from_condition(condition: Condition<'r>, results: &KeyedResults<'_>) -> Self {
        let (control, runs) = split_control(condition.runs);
        let ids = control.iter().map(|run| run.started.run.clone()).collect();
        let mut measured = Self { runs, control: ids, order: vec![], results: BTreeMap::new() };
        for (at, run) in measured.runs.clone().into_iter().enumerate() {
            for (key, estimate) in results(run) {
                let result = measured.results.entry(key.clone()).or_insert_with(|| {
                    measured.order.push(key);
                    RunEstimates::default()
                });
                result.by_run.insert(at, estimate);
                result.blocks.extend(block_key(run).map(|block| (block, at)));
            }
        }
        for run in control {
            for (key, estimate) in results(run) {
                if let Some(result) = measured.results.get_mut(&key) {
                    result.control.push((block_key(run), estimate));
                }
            }
        }
        measured
    }
}

/// Splits runs into control runs and the others. If all are control runs, the user compares the
/// control itself, and none counts as control.
pub fn split_control(runs: &[Run]) -> (Vec<&Run>, Vec<&Run>) {
    let is_control = |run: &&Run| run.started.turn.as_ref().is_some_and(|it| it.is_control);
    let (control, measured): (Vec<&Run>, Vec<&Run>) = runs.iter().partition(is_control);
    if measured.is_empty() { (measured, control) } else { (control, measured) }
}

fn block_key(run: &Run) -> Option<BlockKey> {
    run.started.turn.as_ref().map(|turn| (turn.comparison.clone(), turn.block))
}

/// Returns the indices of the two runs of every block; `None` unless all runs took turns in enough
/// blocks.
fn match_blocks(a: &[&Run], b: &[&Run]) -> Option<Vec<(usize, usize)>> {
    let places = |runs: &[&Run]| {
        let places = runs.iter().enumerate().map(|(at, run)| Some((block_key(run)?, at)));
        places.collect::<Option<BTreeMap<BlockKey, usize>>>()
    };
    let (of_a, of_b) = (places(a)?, places(b)?);
    let both = of_a.iter().filter_map(|(block, at)| Some((*at, *of_b.get(block)?)));
    let both: Vec<_> = both.collect();
    (both.len() >= MIN_SHIFT_VALUES).then_some(both)
}

/// Returns the arrangement of the runs. Looks need all runs from a single comparison that has them:
/// their shares of the error are those of its blocks.
fn find_design(a: &[&Run], b: &[&Run], blocks: Option<&[(usize, usize)]>) -> ComparisonDesign {
    if blocks.is_none() {
        return ComparisonDesign::Independent;
    }
    let turns = || a.iter().chain(b).filter_map(|run| run.started.turn.as_ref());
    let is_one =
        turns().zip(turns().skip(1)).all(|(one, next)| one.comparison == next.comparison);
    match is_one && turns().all(|turn| turn.has_looks) {
        true => ComparisonDesign::Looks,
        false => ComparisonDesign::Turns,
    }
}

/// Returns every estimate of a run with its key: the benchmark, the workload, the metric and every
/// attribute that matched results must share.
pub(crate) fn keyed_estimates(run: &Run) -> Vec<(ResultKey, MetricEstimate)> {
    key_results(run, summarize(run).results)
}

/// Assigns its key to every result of a run. Results with equal keys are matched by
/// [`compare`].
pub fn key_results(
    run: &Run,
    results: Vec<MetricEstimate>,
) -> Vec<(ResultKey, MetricEstimate)> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut workloads: BTreeMap<&str, String> = BTreeMap::new();
    for record in &run.cases {
        workloads.entry(&record.case.id).or_insert_with(|| workload_key::workload_key(record));
    }
    let keyed = |it: MetricEstimate| {
        let workload = workloads.get(it.case.as_str()).map(String::as_str).unwrap_or_default();
        let shared = format_attributes(&identity_attributes(&it.parameters));
        let about = format!("{}/{workload}/{} {shared}", it.benchmark, it.metric);
        let before = times.entry(about.clone()).or_default();
        *before += 1;
        ((about, *before), it)
    };
    let mut results = results;
    // The same hosts may be listed in another order in other runs.
    let is_of_host = |it: &MetricEstimate| it.parameters.contains_key(&Attribute::Host);
    if results.iter().any(is_of_host) {
        results.sort_by(|a, b| a.host.cmp(&b.host));
    }
    results.into_iter().map(keyed).collect()
}

/// Formats attributes as a key; 4 and 4.0 give the same text.
fn format_attributes(attributes: &Attributes) -> String {
    let one = |(name, value): (&Attribute, &AttributeValue)| {
        let number = value.as_number().map(|number| number.to_string());
        format!("{}={}", name.name(), number.unwrap_or_else(|| format!("{value:?}")))
    };
    attributes.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn unmatched_result(estimate: &MetricEstimate, only: ConditionLetter) -> UnmatchedResult {
    UnmatchedResult {
        only,
        benchmark: estimate.benchmark.clone(),
        case: estimate.case.clone(),
        metric: estimate.metric.clone(),
        identity: identity_attributes(&estimate.parameters),
    }
}

/// Compares one metric between two conditions, without a verdict, which depends on all other
/// metrics.
fn compare_metric(
    a: &RunEstimates,
    b: &RunEstimates,
    (design, blocks): (ComparisonDesign, Option<&[(usize, usize)]>),
) -> MetricComparison {
    let [in_a, in_b] = [a, b].map(|it| it.by_run.values().collect::<Vec<_>>());
    let shift = log_medians(in_a.iter().copied())
        .zip(log_medians(in_b.iter().copied()))
        .and_then(|(of_a, of_b)| match blocks {
            None => shift::group_shift(&of_a, &of_b, LEVEL),
            Some(blocks) => {
                let value = |it: &RunEstimates, at| Some(it.by_run.get(at)?.median.ln());
                let differences = blocks
                    .iter()
                    .filter_map(|(at_a, at_b)| Some(value(b, at_b)? - value(a, at_a)?))
                    .collect::<Vec<_>>();
                match design {
                    ComparisonDesign::Looks => looks::sequential_shift(&differences, LEVEL),
                    ComparisonDesign::Turns | ComparisonDesign::Independent => {
                        shift::paired_shift(&differences, LEVEL)
                    }
                }
            }
        });
    let known = shift.and_then(|shift| shift.significance);
    let (a_all, b_all) = (across_runs::combine_runs(&in_a), across_runs::combine_runs(&in_b));
    let metric = Benchmark::from_id(&a_all.benchmark).and_then(|it| it.metric(&a_all.metric));
    let is_single = in_a.iter().chain(&in_b).all(|it| it.n <= 1);
    MetricComparison {
        ratio: shift.map(|shift| shift.amount.exp()),
        ratio_ci: known.map(|known| known.interval.map(f64::exp)),
        p: known.map(|known| known.p),
        p_adjusted: None,
        floor: control_floor(a).or_else(|| control_floor(b)),
        verdict: ComparisonVerdict::CannotTell,
        runs_to_decide: None,
        is_headline: metric.is_some_and(|metric| metric.headline.is_some()),
        has_single_values: is_single,
        a: a_all,
        b: b_all,
    }
}

/// Returns the logarithms of the medians; `None` if any is not a finite number above 0, because
/// there is no ratio then.
fn log_medians<'e>(estimates: impl Iterator<Item = &'e MetricEstimate>) -> Option<Vec<f64>> {
    let logarithm = |it: &MetricEstimate| {
        let is_usable = it.median.is_finite() && it.median > 0.0;
        is_usable.then(|| it.median.ln())
    };
    estimates.map(logarithm).collect()
}

/// Returns the floor: interval of the ratio between control runs and the others of their block.
fn control_floor(of: &RunEstimates) -> Option<[f64; 2]> {
    let differences = of.control.iter().filter_map(|(block, control)| {
        let other = of.by_run.get(of.blocks.get(block.as_ref()?)?)?;
        let both = log_medians([control, other].into_iter())?;
        Some(both[0] - both[1])
    });
    let shift = shift::paired_shift(&differences.collect::<Vec<_>>(), LEVEL)?;
    Some(shift.significance?.interval.map(f64::exp))
}

/// Assigns a verdict to every pair; returns the number of pairs tested.
fn assign_verdicts(
    pairs: &mut [MetricComparison],
    design: ComparisonDesign,
    margin: f64,
) -> usize {
    let tested: Vec<f64> = pairs.iter().filter_map(|pair| pair.p).collect();
    let mut adjusted = false_discovery::adjust_p_values(&tested).into_iter();
    for pair in pairs {
        pair.p_adjusted = pair.p.and_then(|_| adjusted.next());
        pair.verdict = judge_pair(pair, margin.ln_1p());
        if pair.verdict == ComparisonVerdict::CannotTell {
            pair.runs_to_decide =
                required_runs::required_runs(pair, design, (margin.ln_1p(), tested.len()));
        }
    }
    tested.len()
}

fn judge_pair(pair: &MetricComparison, margin: f64) -> ComparisonVerdict {
    if is_always_zero(&pair.a) && is_always_zero(&pair.b) {
        return ComparisonVerdict::Equivalent;
    }
    let (Some(ratio), Some(interval), Some(p)) = (pair.ratio, pair.ratio_ci, pair.p_adjusted)
    else {
        return ComparisonVerdict::CannotTell;
    };
    let shift = ratio.ln();
    if interval.iter().all(|end| end.ln().abs() <= margin) {
        return ComparisonVerdict::Equivalent;
    }
    // Rounding may lift a shift equal to the margin above it.
    if p > FALSE_DISCOVERY_RATE || shift.abs() <= margin * (1.0 + 1e-9) {
        return ComparisonVerdict::CannotTell;
    }
    let is_better = (shift > 0.0) == (pair.a.better == Better::Higher);
    if is_better { ComparisonVerdict::Better } else { ComparisonVerdict::Worse }
}

/// Returns whether a count is 0 throughout, such as retransmits or lost datagrams: equivalent,
/// although there is no ratio.
fn is_always_zero(estimate: &MetricEstimate) -> bool {
    estimate.min == 0.0 && estimate.max == 0.0
}

#[cfg(test)]
pub(crate) mod tests;
