//! Volume with one test, one with a missed rate, and two response curves, of which one bends.

use assay_model::attribute::Attribute;
use assay_model::attribute::AttributeValue;
use assay_model::benchmark::Benchmark::{Storage, StorageFiles};
use assay_model::doubt::Doubt;
use assay_model::engine_reason::EngineReason;
use assay_model::event::RunStatus;
use assay_model::limit::LimitBasis;
use assay_model::summary::{MetricEstimate, RunSummary};

use crate::maker::{EstimateBuilder, estimate, summary};
use crate::node::host;

const PROVISIONED: f64 = 4500.0 * 1_048_576.0;

/// Values common to every estimate of one case.
#[derive(Clone, Copy)]
struct StorageCase<'a> {
    test: &'a str,
    bytes: u64,
    rate_per_s: f64,
    latency_s: f64,
    /// Percent of the maximum rate; 0 = the maximum itself; `None` = not on a curve.
    point: Option<u32>,
    knee: Option<(f64, f64)>,
}

impl StorageCase<'_> {
    fn estimate(&self, metric: &str, value: f64) -> MetricEstimate {
        let mut it = estimate(Storage, metric, value, 0.01)
            .with(Attribute::Test, self.test)
            .with(Attribute::Target, "/mnt/vol1/assay-storage.data")
            .with(Attribute::Engine, "io_uring (fixed files)")
            .with(Attribute::EngineReason, AttributeValue::Reason(EngineReason::Best))
            .with(Attribute::Operation, "read")
            .with(Attribute::Pattern, "random")
            .with(Attribute::Bytes, self.bytes)
            .with(Attribute::Depth, 25_u64)
            .with(Attribute::Threads, 1_u64)
            .with(Attribute::InFlight, self.rate_per_s * self.latency_s)
            .with(Attribute::GeneratorHeadroom, 123.4);
        match self.point {
            None => {}
            Some(0) => it = it.with(Attribute::Point, "max"),
            Some(percent) => it = it.with(Attribute::PercentOfMax, f64::from(percent)),
        }
        if self.point.is_some() {
            it = match self.knee {
                Some((rate, latency)) => it
                    .with(Attribute::Knee, "found")
                    .with(Attribute::KneeRate, rate)
                    .with(Attribute::KneeLatency, latency),
                None => it.with(Attribute::Knee, "flat"),
            };
        }
        it
    }

    fn latency(&self, metric: &str, factor: f64) -> MetricEstimate {
        let mut it = self.estimate(metric, self.latency_s * factor);
        let percentile =
            |name: &str, times: f64| (name.to_owned(), self.latency_s * times * factor);
        let all = [percentile("p50", 1.0), percentile("p99", 3.0), percentile("p99.9", 7.0)];
        it.percentiles = Some(all.into());
        it.max = self.latency_s * 20.0;
        it
    }

    fn estimates(&self) -> Vec<MetricEstimate> {
        let bandwidth = self.rate_per_s * self.bytes as f64;
        let mut all = vec![
            self.estimate("rate", self.rate_per_s),
            self.estimate("bandwidth", bandwidth)
                .with_limit(PROVISIONED, LimitBasis::Provisioned),
            self.latency("latency", 1.0),
        ];
        if !matches!(self.point, None | Some(0)) {
            all.push(self.latency("latency_from_intended", 1.1));
        }
        let mut cpu = self.estimate("cpu_per_io", 1.3e-6);
        cpu.ci = None;
        all.push(cpu);
        all
    }
}

fn curve(
    test: &str,
    rates: &[(u32, f64, f64)],
    knee: Option<(f64, f64)>,
) -> Vec<MetricEstimate> {
    let point = |(percent, rate_per_s, latency_s): &(u32, f64, f64)| {
        let point = Some(*percent);
        let (rate_per_s, latency_s) = (*rate_per_s, *latency_s);
        StorageCase { test, bytes: 8192, rate_per_s, latency_s, point, knee }.estimates()
    };
    rates.iter().flat_map(point).collect()
}

pub(crate) fn volume() -> RunSummary {
    let mut summary = summary("storage-volume", RunStatus::Complete, host());
    let single = StorageCase {
        test: "sequential-read-64KiB",
        bytes: 65_536,
        rate_per_s: 64_000.0,
        latency_s: 390e-6,
        point: None,
        knee: None,
    };
    summary.results.extend(single.estimates());
    let missed = StorageCase { test: "random-read-8KiB", bytes: 8192, ..single };
    let doubted = |it: MetricEstimate| {
        it.with(Attribute::RequestedRate, 80_000.0)
            .with_doubt(Doubt::RateMissed { asked_per_s: 80_000.0, reached_per_s: 64_000.0 })
    };
    summary.results.extend(missed.estimates().into_iter().map(doubted));
    let mix = StorageCase { test: "random-mix-8KiB", bytes: 8192, ..single };
    let shared = |it: MetricEstimate| {
        it.with(Attribute::Operation, "mix")
            .with(Attribute::ReadShare, 0.7)
            .with(Attribute::ReadRate, 44_800.0)
            .with(Attribute::WriteRate, 19_200.0)
    };
    let all = mix.estimates().into_iter().map(shared);
    let side = |operation: &str, seconds: &[(&str, f64)]| {
        let mut it = shared(mix.latency("latency", 1.0)).with(Attribute::Operation, operation);
        it.median = seconds[0].1;
        it.percentiles =
            Some(seconds.iter().map(|(name, s)| ((*name).to_owned(), *s)).collect());
        it
    };
    summary.results.extend(all);
    summary.results.push(side("read", &[("p50", 310e-6), ("p99", 990e-6)]));
    summary.results.push(side("write", &[("p50", 620e-6)]));
    let due = |operation: &str| {
        shared(mix.latency("latency_from_intended", 1.2)).with(Attribute::Operation, operation)
    };
    summary.results.extend(["read", "write"].map(due));
    let bent = [
        (0, 300e3, 1.9e-3),
        (10, 30e3, 0.51e-3),
        (50, 150e3, 0.55e-3),
        (80, 240e3, 0.71e-3),
        (90, 270e3, 1.4e-3),
        (95, 284e3, 3.9e-3),
    ];
    summary.results.extend(curve("RndRead", &bent, Some((240e3, 0.71e-3 * 1.1))));
    let flat =
        [(0, 100e3, 0.5e-3), (10, 10e3, 0.41e-3), (50, 50e3, 0.42e-3), (90, 90e3, 0.5e-3)];
    summary.results.extend(curve("RndWrite", &flat, None));
    for estimate in &mut summary.results {
        if estimate.parameters.get(&Attribute::Test)
            == Some(&AttributeValue::Text("RndWrite".to_owned()))
        {
            estimate.limit = None;
            estimate.percent_of_limit = None;
        }
    }
    summary
}

/// Steady state after five rounds, and a search for the maximum rate that keeps a goal.
pub(crate) fn steady_state_and_search() -> RunSummary {
    let mut summary = summary("storage-courses", RunStatus::Complete, host());
    let case = StorageCase {
        test: "random-write-4KiB",
        bytes: 4096,
        rate_per_s: 90_000.0,
        latency_s: 270e-6,
        point: None,
        knee: None,
    };
    let steady = |it: MetricEstimate| {
        it.with_case("storage/steady")
            .with(Attribute::Steady, true)
            .with(Attribute::Rounds, 5_u64)
            .with(Attribute::SteadyRange, 0.08)
            .with(Attribute::SteadySlope, -0.03)
    };
    summary.results.extend(case.estimates().into_iter().map(steady));
    let step = |case: &StorageCase<'_>, id: &str, number: usize, metric: &str, value: f64| {
        let mut it = case.estimate(metric, value).with_case(id).with(Attribute::Step, number);
        it.unit = Storage.metric(metric).unwrap().unit;
        it
    };
    for (number, rate) in (1..).zip([120e3, 99e3, 93e3, 90e3, 89e3]) {
        summary.steps.push(step(&case, "storage/steady", number, "rate", rate));
    }
    let search = StorageCase { test: "random-read-4KiB", ..case };
    let kept = |it: MetricEstimate| {
        it.with_case("storage/search")
            .with(Attribute::Goal, "p99 <= 1.000 ms")
            .with(Attribute::GoalRate, 100e3)
            .with(Attribute::GoalMissedAt, 150e3)
            .with(Attribute::MaximumRate, 300e3)
    };
    summary.results.extend(search.estimates().into_iter().map(kept));
    // In the order of the search, not of the rates.
    for (number, (asked, late, verdict)) in
        (1..).zip([(150e3, 0.031, "misses"), (75e3, 0.0, "keeps"), (100e3, 0.004, "keeps")])
    {
        for (metric, value) in [("rate", asked * 0.999), ("late", late)] {
            let it = step(&search, "storage/search", number, metric, value);
            let it = it.with(Attribute::RequestedRate, asked).with(Attribute::Shown, verdict);
            summary.steps.push(it);
        }
    }
    summary
}

/// Every operation of mdtest on one tree, and a Vdbench phase with several operations.
pub(crate) fn files() -> RunSummary {
    let mut summary = summary("storage-files", RunStatus::Complete, host());
    let mut add = |operation: &str, metric: &str, median: f64| {
        let it = estimate(StorageFiles, metric, median, 0.01)
            .with_case(&format!("storage.files/tree/{operation}"))
            .with(Attribute::Files, 10_000_u64)
            .with(Attribute::Operation, operation);
        summary.results.push(it);
    };
    for (operation, rate) in [
        ("mkdir", 41e3),
        ("stat-directory", 720e3),
        ("create", 28e3),
        ("stat", 690e3),
        ("read", 95e3),
        ("delete", 37e3),
    ] {
        add(operation, "rate", rate);
        add(operation, "latency", 4.0 / rate);
        if matches!(operation, "create" | "read") {
            add(operation, "bandwidth", rate * 4096.0);
        }
    }
    let all = estimate(StorageFiles, "rate", 5e3, 0.02)
        .with_case("rd1")
        .with(Attribute::Phase, "rd1");
    let busy = estimate(StorageFiles, "cpu_user", 0.2, 0.02).with_case("rd1");
    summary.results.extend([all, busy.with(Attribute::Phase, "rd1")]);
    summary
}
