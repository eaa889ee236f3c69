//! `memory.core_to_core`: all pairs of CPUs in a random order, one pair at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_kernels::memory::core_to_core::{CorePair, CoreToCoreError};
use assay_model::entry::SeriesKey;
use assay_model::event::StopReason;
use assay_model::seed;
use assay_model::workload::{CoreToCoreWorkload, CpuPairs};
use assay_stats::quantile;

use crate::measurement_loop::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Seed of the order of the pairs.
const ORDER_SEED: u64 = 0xC04E;
/// Minimum number of repetitions of a pair in one round; their median is a sample.
const MIN_REPETITIONS: usize = 3;
/// Repetitions of all pairs in one round, at least: 10 ms.
const ROUND_REPETITIONS: usize = 100;

/// Accepted round trips of each pair, by its group and its index there.
type RoundTrips = BTreeMap<(usize, usize), u64>;

/// Returns turns with one round over all pairs as a repetition.
pub(super) fn turns(work: &CoreToCoreWorkload) -> Turns<'_> {
    let (mut is_first_home, mut round_trips) = (false, RoundTrips::new());
    Box::new(move |recorder| {
        is_first_home = !is_first_home;
        turn(work, is_first_home, &mut round_trips, recorder)
    })
}

/// Measures one preparation. The lines are in memory near the first CPU of each pair, or near the
/// second.
fn turn(
    work: &CoreToCoreWorkload,
    is_first_home: bool,
    round_trips: &mut RoundTrips,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    let mut measurement = Measurement {
        prepare: &mut |_: &mut Recorder<'_, '_>| Ok(PairOrder::new(work)),
        repetition: &mut |order: &mut PairOrder, recorder| {
            order.shuffle();
            measure_round(work, (order, is_first_home), round_trips, recorder)
        },
        // Every repetition has checked its number of hand-overs.
        check: &mut |_, _| Ok(()),
    };
    measurement_loop::run_preparation(&mut measurement, recorder)
}

fn measure_round(
    work: &CoreToCoreWorkload,
    (order, is_first_home): (&PairOrder, bool),
    round_trips: &mut RoundTrips,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let mut latencies_s: Vec<Vec<f64>> = work.groups.iter().map(|_| Vec::new()).collect();
    let repetitions = (ROUND_REPETITIONS / order.pairs.len().max(1)).max(MIN_REPETITIONS);
    for &(group, pair) in &order.pairs {
        if recorder.cancel().load(Ordering::Relaxed) {
            return Err(CaseError::Interrupted);
        }
        let cpus = work.groups[group].pairs[pair];
        let accepted = round_trips.get(&(group, pair)).copied();
        let mut core_pair = prepare_pair((cpus, is_first_home), accepted, recorder.cancel())?;
        round_trips.insert((group, pair), core_pair.round_trips());
        let seconds = measure_pair(&mut core_pair, repetitions, &|| {
            let is_late = recorder.elapsed_s() > recorder.budget_s();
            is_late || recorder.cancel().load(Ordering::Relaxed)
        })?;
        latencies_s[group].push(seconds);
        recorder.add_series_sample(pair_key(&work.groups[group], cpus), seconds);
    }
    for (group, latencies_s) in work.groups.iter().zip(latencies_s) {
        let key = SeriesKey { metric: "latency", dimensions: group.dimensions() };
        recorder.add_series_sample(key, median(latencies_s));
    }
    Ok(())
}

fn prepare_pair(
    (cpus, is_first_home): ([u32; 2], bool),
    accepted: Option<u64>,
    cancel: &AtomicBool,
) -> Result<CorePair, CoreToCoreError> {
    let mut cpus = cpus.map(|cpu| cpu as usize);
    if !is_first_home {
        cpus.reverse();
    }
    CorePair::prepare(cpus, accepted, cancel)
}

/// Returns the median seconds per hand-over of a few repetitions, of fewer once the time of the case is
/// over: with ten other threads, 100 repetitions of two CPUs took 20 s.
fn measure_pair(
    pair: &mut CorePair,
    repetitions: usize,
    is_over: &dyn Fn() -> bool,
) -> Result<f64, CoreToCoreError> {
    let mut latencies_s = Vec::new();
    while latencies_s.len() < repetitions {
        if latencies_s.len() >= MIN_REPETITIONS && is_over() {
            break;
        }
        latencies_s.push(pair.repetition()?);
    }
    Ok(median(latencies_s))
}

fn pair_key(group: &CpuPairs, cpus: [u32; 2]) -> SeriesKey {
    SeriesKey { metric: "pair_latency", dimensions: group.pair_dimensions(cpus) }
}

/// Returns the median; NaN without values, which a distance never is.
fn median(values: Vec<f64>) -> f64 {
    quantile::unsorted_median(values).unwrap_or(f64::NAN)
}

/// Order of the pairs: index of the group, and of the pair within it.
struct PairOrder {
    pairs: Vec<(usize, usize)>,
    /// Number of rounds so far.
    rounds: u64,
}

impl PairOrder {
    fn new(work: &CoreToCoreWorkload) -> Self {
        let pairs = work
            .groups
            .iter()
            .enumerate()
            .flat_map(|(group, it)| (0..it.pairs.len()).map(move |pair| (group, pair)));
        Self { pairs: pairs.collect(), rounds: 0 }
    }

    /// Sorts the pairs by random numbers that differ in each round.
    fn shuffle(&mut self) {
        self.rounds += 1;
        let round_seed = seed::mix(ORDER_SEED ^ self.rounds);
        self.pairs.sort_by_key(|(group, pair)| {
            seed::mix(round_seed ^ ((*group as u64) << 32 | *pair as u64))
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_round_has_every_pair_in_another_order() {
        let pairs = (1..40).map(|cpu| [0, cpu]).collect();
        let far = CpuPairs { distance: "same-socket".to_owned(), pairs };
        let near = CpuPairs { distance: "same-core".to_owned(), pairs: vec![[0, 40]] };
        let mut order = PairOrder::new(&CoreToCoreWorkload { groups: vec![near, far] });
        let all: BTreeSet<_> = order.pairs.iter().copied().collect();
        let mut orders = BTreeSet::new();
        for _ in 0..5 {
            order.shuffle();
            assert_eq!(order.pairs.iter().copied().collect::<BTreeSet<_>>(), all);
            orders.insert(order.pairs.clone());
        }
        assert_eq!((all.len(), orders.len()), (40, 5));
    }
}
