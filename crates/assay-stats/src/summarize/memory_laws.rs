//! Laws between the benchmarks of memory of one run: a figure of one bounds a figure of another.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;
use assay_model::facts::HostFacts;
use assay_model::summary::MetricEstimate;

use super::case_doubts;

/// Largest relative difference of two latencies of the same working set. Preparations of one case
/// differ by a few percent, by their pages.
const LATENCY_TOLERANCE: f64 = 0.1;
/// Largest excess over STREAM's best rate, whose traffic is that of another mix.
const STREAM_TOLERANCE: f64 = 0.05;

/// Largest latency of a cache relative to its plateau. Beyond its end, each doubling of the working set
/// adds a multiple of the plateau.
const PLATEAU_FACTOR: f64 = 1.5;
/// Smallest set of the plateau of the last-level cache, relative to the cache below: a part of smaller
/// sets is still in that cache.
const PLATEAU_START: u64 = 4;

/// Adds a doubt to each result that breaks a law.
///
/// - `idle-latency-differs`: the idle end of loaded latency is `memory.latency` of the same working
///   set and CPU, if their intervals are disjoint and more than 10 % apart;
/// - `traffic-above-stream`: the bandwidth of loaded latency is at most 5 % above STREAM's best rate;
/// - `cache-assisted`: the buffers of the generators of loaded latency have at least four times the
///   bytes of all caches;
/// - `cache-ends-early`: the latency of half of the last-level cache is at most 1.5 times that of the
///   smallest set of four times the cache below;
/// - `hand-over-below-load`: a hand-over between CPUs takes at least the shortest load.
pub(super) fn attach(results: &mut [MetricEstimate], hosts: &[HostFacts]) {
    let run = RunOfHosts { all: results, hosts, shortest_loads_s: shortest_loads_s(results) };
    let doubts: Vec<Vec<Doubt>> =
        results.iter().map(|estimate| broken_laws(estimate, &run)).collect();
    for (estimate, doubts) in results.iter_mut().zip(doubts) {
        estimate.warnings.extend(doubts);
    }
    let early_ends: Vec<(usize, Doubt)> =
        hosts.iter().filter_map(|host| early_end(host, results)).collect();
    for (index, doubt) in early_ends {
        results[index].warnings.push(doubt);
    }
}

/// Returns the doubt about a last-level cache whose plateau ends before half of its size, with the
/// index of the result that it is about: the largest set within that half.
fn early_end(host: &HostFacts, results: &[MetricEstimate]) -> Option<(usize, Doubt)> {
    let number = |it: &MetricEstimate, name| it.parameters.get(&name)?.as_number();
    let mut ladder: Vec<(usize, u64, f64)> = results
        .iter()
        .enumerate()
        .filter(|(_, it)| {
            it.benchmark == Benchmark::MemoryLatency.id()
                && it.host == host.name
                && it.tool.name == "assay"
                // With small pages, address translation explains the rise.
                && number(it, Attribute::HugePages).is_none_or(|share| share >= 0.5)
        })
        .filter_map(|(index, it)| {
            Some((index, number(it, Attribute::Bytes)? as u64, it.median))
        })
        .collect();
    ladder.sort_by_key(|(_, bytes, _)| *bytes);
    let cpu = number(&results[ladder.first()?.0], Attribute::Cpu)? as u32;
    let mut caches: Vec<_> =
        host.topology.caches.iter().filter(|cache| cache.cpus.contains(&cpu)).collect();
    caches.sort_by_key(|cache| cache.level);
    let [.., below, last] = caches[..] else { return None };
    ladder
        .retain(|(_, bytes, _)| (PLATEAU_START * below.bytes..=last.bytes / 2).contains(bytes));
    let (_, _, plateau_s) = *ladder.first()?;
    let in_plateau = |it: &&(usize, u64, f64)| it.2 <= PLATEAU_FACTOR * plateau_s;
    // A single high set within the plateau is an outlier: the set after the last low one is not.
    let (_, end_bytes, _) = *ladder.iter().rfind(in_plateau)?;
    let (index, largest_bytes, _) = *ladder.last()?;
    let (level, bytes) = (last.level, last.bytes);
    (end_bytes < largest_bytes)
        .then_some((index, Doubt::CacheEndsEarly { level, bytes, end_bytes }))
}

/// Results of a run, with what the laws need of them.
struct RunOfHosts<'a> {
    all: &'a [MetricEstimate],
    hosts: &'a [HostFacts],
    /// Shortest median of `memory.latency` by host: thousands of pairs are compared with it.
    shortest_loads_s: BTreeMap<String, f64>,
}

fn shortest_loads_s(results: &[MetricEstimate]) -> BTreeMap<String, f64> {
    let mut shortest: BTreeMap<String, f64> = BTreeMap::new();
    for load in results.iter().filter(|it| it.benchmark == Benchmark::MemoryLatency.id()) {
        let current = shortest.entry(load.host.clone()).or_insert(load.median);
        *current = current.min(load.median);
    }
    shortest
}

fn broken_laws(estimate: &MetricEstimate, run: &RunOfHosts<'_>) -> Vec<Doubt> {
    let laws = [
        (Benchmark::LoadedLatency, "latency", idle_latency_differs as Law),
        (Benchmark::LoadedLatency, "latency", cache_assisted),
        (Benchmark::LoadedLatency, "bandwidth", cache_assisted),
        (Benchmark::LoadedLatency, "bandwidth", traffic_above_stream),
        (Benchmark::CoreToCore, "latency", hand_over_below_load),
        (Benchmark::CoreToCore, "pair_latency", hand_over_below_load),
    ];
    let of_estimate = laws.into_iter().filter(|(benchmark, metric, _)| {
        estimate.benchmark == benchmark.id() && estimate.metric == *metric
    });
    of_estimate.filter_map(|(_, _, check)| check(estimate, run)).collect()
}

/// Check of one result against all results of the run.
type Law = fn(&MetricEstimate, &RunOfHosts<'_>) -> Option<Doubt>;

/// Returns the results of a benchmark on the same host.
fn results_of_host<'a>(
    all: &'a [MetricEstimate],
    benchmark: Benchmark,
    host: &str,
) -> impl Iterator<Item = &'a MetricEstimate> {
    all.iter().filter(move |it| it.benchmark == benchmark.id() && it.host == host)
}

fn idle_latency_differs(estimate: &MetricEstimate, run: &RunOfHosts<'_>) -> Option<Doubt> {
    estimate.parameters.get(&Attribute::Point)?;
    let is_same = |it: &&MetricEstimate| {
        [Attribute::Bytes, Attribute::Cpu]
            .iter()
            .all(|name| it.parameters.get(name) == estimate.parameters.get(name))
    };
    let ladder =
        results_of_host(run.all, Benchmark::MemoryLatency, &estimate.host).find(is_same)?;
    let difference = (estimate.median / ladder.median - 1.0).abs();
    let differs = difference > LATENCY_TOLERANCE && are_disjoint(estimate, ladder);
    let (idle_s, latency_s) = (estimate.median, ladder.median);
    differs.then_some(Doubt::IdleLatencyDiffers { idle_s, latency_s })
}

fn traffic_above_stream(estimate: &MetricEstimate, run: &RunOfHosts<'_>) -> Option<Doubt> {
    let is_node = |it: &&MetricEstimate| {
        let place = it.parameters.get(&Attribute::Placement);
        place.and_then(AttributeValue::as_text) == Some("node")
    };
    let rates =
        results_of_host(run.all, Benchmark::MemoryStream, &estimate.host).filter(is_node);
    let best = rates.max_by(|a, b| a.median.total_cmp(&b.median))?;
    let is_above = estimate.median > best.median * (1.0 + STREAM_TOLERANCE)
        && are_disjoint(estimate, best);
    let (traffic, stream) = (estimate.median, best.median);
    is_above.then_some(Doubt::TrafficAboveStream { traffic, stream })
}

/// Checks the buffers of the generators against the caches that the run's CPUs use.
fn cache_assisted(estimate: &MetricEstimate, run: &RunOfHosts<'_>) -> Option<Doubt> {
    let number = |name| estimate.parameters.get(&name).and_then(AttributeValue::as_number);
    if estimate.parameters.contains_key(&Attribute::Point) {
        return None;
    }
    let (bytes, threads) = (number(Attribute::BytesPerArray)?, number(Attribute::Threads)?);
    let topology = &run.hosts.iter().find(|host| host.name == estimate.host)?.topology;
    let caches = topology.cache_bytes(&topology.cpu_ids());
    case_doubts::cache_assisted(bytes as u64, bytes * threads / caches as f64)
}

fn hand_over_below_load(estimate: &MetricEstimate, run: &RunOfHosts<'_>) -> Option<Doubt> {
    let (hand_over_s, load_s) = (estimate.median, *run.shortest_loads_s.get(&estimate.host)?);
    (hand_over_s < load_s).then_some(Doubt::HandOverBelowLoad { hand_over_s, load_s })
}

/// Whether the intervals have no value in common; a result without an interval has its median.
fn are_disjoint(a: &MetricEstimate, b: &MetricEstimate) -> bool {
    let interval = |it: &MetricEstimate| it.ci.unwrap_or([it.median, it.median]);
    let ([a_low, a_high], [b_low, b_high]) = (interval(a), interval(b));
    a_high < b_low || b_high < a_low
}

#[cfg(test)]
mod tests {
    use assay_model::attribute::Attributes;
    use assay_model::benchmark::Better;
    use assay_model::facts::{Cache, Cpu};
    use assay_model::summary::MeasuringTool;

    use super::*;

    /// Returns a result with an interval of ±2 %.
    fn result(
        benchmark: Benchmark,
        metric: &str,
        median: f64,
        parameters: Attributes,
    ) -> MetricEstimate {
        MetricEstimate {
            benchmark: benchmark.id().into(),
            case: benchmark.id().into(),
            metric: metric.into(),
            parameters,
            unit: benchmark.metric(metric).unwrap().unit,
            better: Better::Lower,
            n: 30,
            n_effective: 30.0,
            median,
            ci: Some([median * 0.98, median * 1.02]),
            ci_level: 0.95,
            min: median,
            max: median,
            mean: median,
            percentiles: None,
            limit: None,
            percent_of_limit: None,
            host: "host".into(),
            tool: MeasuringTool { name: "assay".into(), version: None },
            warnings: vec![],
        }
    }

    /// Checks the doubts about the first of three results: of loaded latency or core-to-core latency,
    /// memory latency of two sets, and STREAM.
    fn check(estimate: MetricEstimate, expected: &[&str]) {
        let set = |bytes: u64, median: f64| {
            let parameters = Attributes::from([
                (Attribute::Bytes, bytes.into()),
                (Attribute::Cpu, 0_u64.into()),
            ]);
            result(Benchmark::MemoryLatency, "latency", median, parameters)
        };
        let node = Attributes::from([(Attribute::Placement, "node".into())]);
        let stream =
            |metric, median| result(Benchmark::MemoryStream, metric, median, node.clone());
        let mut results = vec![
            estimate,
            set(4096, 1e-9),
            set(1 << 30, 100e-9),
            stream("triad", 90e9),
            stream("read", 100e9),
        ];
        attach(&mut results, &[]);
        let found: Vec<&str> = results[0].warnings.iter().map(Doubt::id).collect();
        assert_eq!(found, expected);
        assert!(results[1..].iter().all(|it| it.warnings.is_empty()));
    }

    #[test]
    fn idle_end_is_the_memory_latency() {
        let idle = |median: f64, bytes: u64| {
            let parameters = Attributes::from([
                (Attribute::Bytes, bytes.into()),
                (Attribute::Cpu, 0_u64.into()),
                (Attribute::Point, "idle".into()),
            ]);
            result(Benchmark::LoadedLatency, "latency", median, parameters)
        };
        check(idle(109e-9, 1 << 30), &[]);
        check(idle(112e-9, 1 << 30), &["idle-latency-differs"]);
        check(idle(88e-9, 1 << 30), &["idle-latency-differs"]);
        check(idle(112e-9, 1 << 20), &[]);
        let wide = MetricEstimate { ci: Some([90e-9, 140e-9]), ..idle(112e-9, 1 << 30) };
        check(wide, &[]);
    }

    #[test]
    fn traffic_is_at_most_the_best_rate_of_stream() {
        let traffic =
            |median| result(Benchmark::LoadedLatency, "bandwidth", median, Attributes::new());
        check(traffic(104e9), &[]);
        check(traffic(110e9), &["traffic-above-stream"]);
    }

    #[test]
    fn traffic_within_the_caches_is_named() {
        let mut host = HostFacts { name: "host".into(), ..HostFacts::default() };
        // Second-level caches of 2 MiB, and a smaller last-level cache.
        let cache = |level, bytes, cpus| Cache { level, bytes, line_bytes: 64, cpus };
        let second = (0..4).map(|cpu| cache(2, 2 << 20, vec![cpu]));
        host.topology.caches = second.chain([cache(3, 4 << 20, (0..4).collect())]).collect();
        let cpu = |id| Cpu { id, core: id, socket: 0, numa: 0 };
        host.topology.cpus = (0..4).map(cpu).collect();
        let found = |bytes: u64, metric| {
            let parameters = Attributes::from([
                (Attribute::BytesPerArray, bytes.into()),
                (Attribute::Threads, 3_u64.into()),
            ]);
            let mut results = [result(Benchmark::LoadedLatency, metric, 1.0, parameters)];
            attach(&mut results, std::slice::from_ref(&host));
            results[0].warnings.clone()
        };
        let assisted =
            Doubt::CacheAssisted { bytes_per_array: 8 << 20, multiple: 2.0, needed: 4.0 };
        for metric in ["latency", "bandwidth"] {
            assert_eq!(found(8 << 20, metric), std::slice::from_ref(&assisted));
            assert_eq!(found(16 << 20, metric), []);
        }
    }

    /// A guest shows a cache of 32 MiB, of which it has a share.
    #[test]
    fn cache_whose_plateau_ends_early_is_named() {
        let cache = |level, bytes| Cache { level, bytes, line_bytes: 64, cpus: vec![0] };
        let mut host = HostFacts { name: "host".into(), ..HostFacts::default() };
        host.topology.caches = vec![cache(1, 32 << 10), cache(2, 1 << 20), cache(3, 32 << 20)];
        let found = |share_bytes: u64, outlier: u64| {
            let set = |megabytes: u64| {
                let is_near = megabytes << 20 <= share_bytes && megabytes != outlier;
                let latency_s = if is_near { 15e-9 } else { 60e-9 };
                let parameters = Attributes::from([
                    (Attribute::Bytes, (megabytes << 20).into()),
                    (Attribute::Cpu, 0_u64.into()),
                ]);
                result(Benchmark::MemoryLatency, "latency", latency_s, parameters)
            };
            let mut results: Vec<_> = [1, 2, 4, 8, 16, 32, 64].map(set).to_vec();
            attach(&mut results, std::slice::from_ref(&host));
            let doubts = |it: &MetricEstimate| it.warnings.clone();
            results.iter().flat_map(doubts).collect::<Vec<_>>()
        };
        assert_eq!(found(32 << 20, 0), []);
        // One slow set within the plateau.
        assert_eq!(found(32 << 20, 8), []);
        let doubt = Doubt::CacheEndsEarly { level: 3, bytes: 32 << 20, end_bytes: 4 << 20 };
        assert_eq!(found(4 << 20, 0), [doubt]);
    }

    #[test]
    fn hand_over_is_no_faster_than_a_load() {
        let pair =
            |median| result(Benchmark::CoreToCore, "pair_latency", median, Attributes::new());
        check(pair(20e-9), &[]);
        check(pair(0.9e-9), &["hand-over-below-load"]);
    }
}
