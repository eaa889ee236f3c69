//! A volume: one test, one with a rate that was missed, and two response curves, of which one bends.

use assay_model::benchmark::Benchmark::Storage;
use assay_model::event::{Parameter, Status};
use assay_model::summary::{Estimate, Summary};

use crate::maker::{With, estimate, summary};
use crate::node::host;

const CEILING: f64 = 4500.0 * 1_048_576.0;

/// What every estimate of one case says.
#[derive(Clone, Copy)]
struct Case<'a> {
    test: &'a str,
    bytes: u64,
    rate_per_s: f64,
    latency_s: f64,
    /// Percent of the greatest rate; 0 = the greatest itself; `None` = not on a curve.
    point: Option<u32>,
    knee: Option<(f64, f64)>,
}

impl Case<'_> {
    fn estimate(&self, metric: &str, value: f64) -> Estimate {
        let mut it = estimate(Storage, metric, value, 0.01)
            .text("test", self.test)
            .text("target", "/mnt/vol1/assay-storage.data")
            .text("engine", "io_uring (fixed files)")
            .text("engine_reason", "the file system takes asynchronous I/O")
            .text("operation", "read")
            .text("pattern", "random")
            .whole("bytes", self.bytes)
            .whole("depth", 25)
            .whole("threads", 1)
            .number("in_flight", self.rate_per_s * self.latency_s)
            .number("little_error", 0.0004)
            .number("generator_headroom", 123.4);
        match self.point {
            None => {}
            Some(0) => it = it.text("point", "max"),
            Some(percent) => it = it.number("percent_of_max", f64::from(percent)),
        }
        if self.point.is_some() {
            it = match self.knee {
                Some((rate, latency)) => it
                    .text("knee", "found")
                    .number("knee_rate", rate)
                    .number("knee_latency", latency),
                None => it.text("knee", "none: latency does not rise by half"),
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
            self.estimate("bandwidth", bandwidth)
                .limited(CEILING, "what the volume is provisioned for"),
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
        it.number("requested_rate", 80_000.0).doubted(
            "rate-missed",
            "80.00 kIO/s were asked for and 64.00 kIO/s were reached",
            "ask for less, or for more depth",
        )
    };
    summary.results.extend(missed.estimates().into_iter().map(doubted));
    let mix = Case { test: "random-mix-8KiB", bytes: 8192, ..single };
    let apart = |it: Estimate| {
        it.number("read_rate", 44_800.0)
            .number("read_p50_s", 310e-6)
            .number("read_p99_s", 990e-6)
            .number("write_rate", 19_200.0)
            .number("write_p50_s", 620e-6)
    };
    summary.results.extend(mix.estimates().into_iter().map(apart));
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
        if estimate.parameters.get("test") == Some(&Parameter::Text("RndWrite".to_owned())) {
            estimate.limit = None;
            estimate.percent_of_limit = None;
        }
    }
    summary
}
