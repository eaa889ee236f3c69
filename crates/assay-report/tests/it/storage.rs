//! Volume with one test, one with a missed rate, and two response curves, of which one bends.

use assay_model::attribute::Attribute;
use assay_model::attribute::Value;
use assay_model::benchmark::Benchmark::{Storage, StorageFiles};
use assay_model::doubt::Doubt;
use assay_model::engine_choice::EngineReason;
use assay_model::event::Status;
use assay_model::limit::Basis;
use assay_model::summary::{Estimate, Summary};

use crate::maker::{With, estimate, summary};
use crate::node::host;

const PROVISIONED: f64 = 4500.0 * 1_048_576.0;

/// Values common to every estimate of one case.
#[derive(Clone, Copy)]
struct Case<'a> {
    test: &'a str,
    bytes: u64,
    rate_per_s: f64,
    latency_s: f64,
    /// Percent of the maximum rate; 0 = the maximum itself; `None` = not on a curve.
    point: Option<u32>,
    knee: Option<(f64, f64)>,
}

impl Case<'_> {
    fn estimate(&self, metric: &str, value: f64) -> Estimate {
        let mut it = estimate(Storage, metric, value, 0.01)
            .with(Attribute::Test, self.test)
            .with(Attribute::Target, "/mnt/vol1/assay-storage.data")
            .with(Attribute::Engine, "io_uring (fixed files)")
            .with(Attribute::EngineReason, Value::Reason(EngineReason::Best))
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

    fn latency(&self, metric: &str, factor: f64) -> Estimate {
        let mut it = self.estimate(metric, self.latency_s * factor);
        let percentile =
            |name: &str, times: f64| (name.to_owned(), self.latency_s * times * factor);
        let all = [percentile("p50", 1.0), percentile("p99", 3.0), percentile("p99.9", 7.0)];
        it.percentiles = Some(all.into());
        it.max = self.latency_s * 20.0;
        it
    }

    fn estimates(&self) -> Vec<Estimate> {
        let bandwidth = self.rate_per_s * self.bytes as f64;
        let mut all = vec![
            self.estimate("rate", self.rate_per_s),
            self.estimate("bandwidth", bandwidth).limited(PROVISIONED, Basis::Provisioned),
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

fn curve(test: &str, rates: &[(u32, f64, f64)], knee: Option<(f64, f64)>) -> Vec<Estimate> {
    let point = |(percent, rate_per_s, latency_s): &(u32, f64, f64)| {
        let point = Some(*percent);
        let (rate_per_s, latency_s) = (*rate_per_s, *latency_s);
        Case { test, bytes: 8192, rate_per_s, latency_s, point, knee }.estimates()
    };
    rates.iter().flat_map(point).collect()
}

pub(crate) fn volume() -> Summary {
    let mut summary = summary("storage-volume", Status::Complete, host());
    let single = Case {
        test: "sequential-read-64KiB",
        bytes: 65_536,
        rate_per_s: 64_000.0,
        latency_s: 390e-6,
        point: None,
        knee: None,
    };
    summary.results.extend(single.estimates());
    let missed = Case { test: "random-read-8KiB", bytes: 8192, ..single };
    let doubted = |it: Estimate| {
        it.with(Attribute::RequestedRate, 80_000.0)
            .doubted(Doubt::RateMissed { asked_per_s: 80_000.0, reached_per_s: 64_000.0 })
    };
    summary.results.extend(missed.estimates().into_iter().map(doubted));
    let mix = Case { test: "random-mix-8KiB", bytes: 8192, ..single };
    let shared = |it: Estimate| {
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
            == Some(&Value::Text("RndWrite".to_owned()))
        {
            estimate.limit = None;
            estimate.percent_of_limit = None;
        }
    }
    summary
}

/// Steady state after five rounds, and a search for the maximum rate that keeps a goal.
pub(crate) fn courses() -> Summary {
    let mut summary = summary("storage-courses", Status::Complete, host());
    let case = Case {
        test: "random-write-4KiB",
        bytes: 4096,
        rate_per_s: 90_000.0,
        latency_s: 270e-6,
        point: None,
        knee: None,
    };
    let steady = |it: Estimate| {
        it.case("storage/steady")
            .with(Attribute::Steady, true)
            .with(Attribute::Rounds, 5_u64)
            .with(Attribute::SteadyRange, 0.08)
            .with(Attribute::SteadySlope, -0.03)
    };
    summary.results.extend(case.estimates().into_iter().map(steady));
    let step = |case: &Case<'_>, id: &str, number: usize, metric: &str, value: f64| {
        let mut it = case.estimate(metric, value).case(id).with(Attribute::Step, number);
        it.unit = Storage.metric(metric).unwrap().unit;
        it
    };
    for (number, rate) in (1..).zip([120e3, 99e3, 93e3, 90e3, 89e3]) {
        summary.steps.push(step(&case, "storage/steady", number, "rate", rate));
    }
    let search = Case { test: "random-read-4KiB", ..case };
    let kept = |it: Estimate| {
        it.case("storage/search")
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
pub(crate) fn files() -> Summary {
    let mut summary = summary("storage-files", Status::Complete, host());
    let mut add = |operation: &str, metric: &str, median: f64| {
        let it = estimate(StorageFiles, metric, median, 0.01)
            .case(&format!("storage.files/tree/{operation}"))
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
    let all =
        estimate(StorageFiles, "rate", 5e3, 0.02).case("rd1").with(Attribute::Phase, "rd1");
    let busy = estimate(StorageFiles, "cpu_user", 0.2, 0.02).case("rd1");
    summary.results.extend([all, busy.with(Attribute::Phase, "rd1")]);
    summary
}
