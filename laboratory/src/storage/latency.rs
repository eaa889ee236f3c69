//! Latency of a device with a fixed completion time: assay's values, the kernel's for the same
//! reads, and the time that ioping adds to the kernel's.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::super::{LabFigure, parse_document};
use super::relative_figure;
use crate::judge::{Evidence, Excused};

/// Device with a fixed latency.
#[derive(Clone, Copy)]
pub(super) struct DelayedDevice {
    pub(super) name: &'static str,
    pub(super) depth: f64,
    /// Minimum latency of a read.
    pub(super) minimum_ms: f64,
    /// Maximum of the kernel's mean in an undisturbed guest.
    pub(super) undisturbed_mean_ms: f64,
}

/// Maximum of assay's latency above the kernel's plus the time that ioping adds (issue: 20 ms ± 0.5
/// ms, without the overhead of the emulated kernel).
const TOLERANCE_MS: f64 = 0.5;
/// Relative error of the histogram, which has three digits.
const HISTOGRAM_FACTOR: f64 = 0.995;

/// assay's results for reads.
pub(super) struct ReadResults {
    pub(super) median_ms: f64,
    mean_ms: f64,
    pub(super) rate_per_s: f64,
}

impl ReadResults {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let reported = parse_document(text)?;
        let read = &reported["jobs"][0]["read"];
        let number = |value: &Value| value.as_f64().context("a figure is missing");
        Ok(Self {
            median_ms: number(&read["lat_ns"]["percentile"]["50.000000"])? * 1e-6,
            mean_ms: number(&read["lat_ns"]["mean"])? * 1e-6,
            rate_per_s: number(&read["iops"])?,
        })
    }
}

/// Durations of reads, ascending.
struct ReadTimes(Vec<f64>);

type TimeStatistic = fn(&ReadTimes) -> f64;

impl ReadTimes {
    /// Parses all lines with this prefix, each of which is one stretch.
    fn parse_all(text: &str, start: &str) -> Result<Vec<Self>> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(start));
        let times = |line: &str| -> Result<Self> {
            let parse_ms =
                |ns: &str| Ok::<_, std::num::ParseFloatError>(ns.parse::<f64>()? * 1e-6);
            let mut times: Vec<f64> =
                line.split_whitespace().map(parse_ms).collect::<Result<_, _>>()?;
            times.sort_by(f64::total_cmp);
            ensure!(!times.is_empty(), "`{start}` has no reads");
            Ok(Self(times))
        };
        lines.map(times).collect()
    }

    fn median_ms(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    fn mean_ms(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
}

/// Results of one device: assay's reads, and ioping's before and after.
struct DeviceResults {
    read: ReadResults,
    by_kernel: ReadTimes,
    /// ioping's times, and the kernel's for the same reads.
    ioping: [(ReadTimes, ReadTimes); 2],
}

impl DeviceResults {
    fn parse(text: &str) -> Result<Self> {
        let mut of_assay = ReadTimes::parse_all(text, "kernel of assay ")?;
        ensure!(of_assay.len() == 1, "the kernel's times of assay's reads are missing");
        let by_ioping = ReadTimes::parse_all(text, "ioping ")?;
        let pairs: Vec<_> = by_ioping
            .into_iter()
            .zip(ReadTimes::parse_all(text, "kernel of ioping ")?)
            .collect();
        let beside = pairs.try_into().ok().context("ioping has not run twice")?;
        Ok(Self {
            read: ReadResults::parse(text)?,
            by_kernel: of_assay.remove(0),
            ioping: beside,
        })
    }

    /// Returns the time that ioping adds to the kernel's: the minimum and the maximum of both
    /// stretches.
    fn added_ms(&self, figure: TimeStatistic) -> (f64, f64) {
        let [before, after] =
            self.ioping.each_ref().map(|(own, kernel)| figure(own) - figure(kernel));
        (before.min(after), before.max(after))
    }

    /// Returns whether the added time is the same before and after.
    fn is_steady(&self) -> bool {
        let (less, more) = self.added_ms(ReadTimes::median_ms);
        more - less <= TOLERANCE_MS
    }
}

impl DelayedDevice {
    /// Returns whether the guest was undisturbed, by the kernel's mean.
    pub(super) fn is_undisturbed(self, text: &str) -> Result<bool> {
        Ok(self.has_undisturbed_mean(&DeviceResults::parse(text)?))
    }

    fn has_undisturbed_mean(self, section: &DeviceResults) -> bool {
        section.by_kernel.mean_ms() <= self.undisturbed_mean_ms
    }

    /// Checks the latencies and the rate. Too low a latency is always wrong, too high a one only in
    /// an undisturbed guest.
    pub(super) fn check(self, text: &str) -> Result<[LabFigure; 3]> {
        let section = DeviceResults::parse(text)?;
        let Self { name, depth, minimum_ms: least_ms, .. } = self;
        let is_quiet = self.has_undisturbed_mean(&section) && section.is_steady();
        let judged = |what, figure: TimeStatistic, reported_ms: f64| {
            let kernel_ms = figure(&section.by_kernel);
            let (less, more) = section.added_ms(figure);
            let from = kernel_ms.max(least_ms) * HISTOGRAM_FACTOR;
            let to = kernel_ms + more + TOLERANCE_MS;
            LabFigure::new(
                format!("{name}, depth {depth}: {what} latency"),
                format!(
                    "{kernel_ms:.2} ms by the kernel, ioping adds {less:.2} and {more:.2}: {from:.2} to {to:.2} ms"
                ),
                format!("{reported_ms:.2} ms"),
                Evidence::Number(reported_ms, from..=to)
                    .judge_despite(Excused::NotTooLow.when(!is_quiet)),
            )
        };
        let read = &section.read;
        let expected = depth / (read.mean_ms * 1e-3);
        let rate = relative_figure(
            &format!("{name}, depth {depth}: rate by its mean latency"),
            (expected, "per second", 0.01),
            read.rate_per_s,
            // A stall at the start counts towards a latency but not towards the measured time.
            Excused::Everything.when(!is_quiet),
        );
        Ok([
            judged("median", ReadTimes::median_ms, read.median_ms),
            judged("mean", ReadTimes::mean_ms, read.mean_ms),
            rate,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: DelayedDevice = DelayedDevice {
        name: "null_blk",
        depth: 1.0,
        minimum_ms: 20.0,
        undisturbed_mean_ms: 21.0,
    };

    /// Output with the kernel's median of 20.1 ms and mean of 20.2 ms; ioping adds 0.2 and 0.3 ms
    /// to both.
    fn reported(median_ns: u64, mean_ns: u64, iops: f64) -> String {
        format!(
            r#"ioping 20200000 20300000 20400000
kernel of ioping 20100000 20000000 20200000
{{"jobs":[{{"read":{{"iops":{iops},"lat_ns":{{"mean":{mean_ns},"percentile":{{"50.000000":{median_ns}}}}}}}}}]}}
kernel of assay 20000000 20500000 20100000
ioping 20500000 20400000 20300000
kernel of ioping 20000000 20100000 20200000
"#
        )
    }

    #[test]
    fn compares_latency_and_rate_with_kernel_and_ioping() {
        for (median_ns, mean_ns, iops, expected) in [
            (20_200_000, 20_300_000, 49.3, [true, true, true]),
            // 0.5 ms above the sum of the kernel's and ioping's times, 20.4 and 20.5 ms.
            (20_880_000, 20_980_000, 47.7, [true, true, true]),
            (20_920_000, 20_300_000, 49.3, [false, true, true]),
            (20_200_000, 21_020_000, 47.6, [true, false, true]),
            // Below the kernel's time of the same reads.
            (19_950_000, 20_300_000, 49.3, [false, true, true]),
            (20_200_000, 20_050_000, 49.9, [true, false, true]),
            (20_200_000, 20_300_000, 50.2, [true, true, false]),
        ] {
            let text = reported(median_ns, mean_ns, iops);
            let figures = DEVICE.check(&text).unwrap();
            assert_eq!(figures.map(|it| it.is_correct()), expected.map(Some), "{text}");
        }
    }

    #[test]
    fn latency_below_device_minimum_is_wrong() {
        let slower = DelayedDevice { minimum_ms: 20.5, ..DEVICE };
        let figures = slower.check(&reported(20_200_000, 20_500_000, 48.8)).unwrap();
        assert_eq!(figures.map(|it| it.is_correct()), [Some(false), Some(true), Some(true)]);
    }

    #[test]
    fn reported_values_do_not_change_bounds() {
        // 22 ms is too high, regardless of how much of it is reported as submission.
        let text = reported(22_000_000, 22_000_000, 45.4)
            .replace(r#""lat_ns""#, r#""slat_ns":{"mean":1900000},"lat_ns""#);
        let figures = DEVICE.check(&text).unwrap();
        assert_eq!(figures.map(|it| it.is_correct()), [Some(false), Some(false), Some(true)]);
    }

    #[test]
    fn requires_kernel_and_ioping_times() {
        let text = reported(20_200_000, 20_300_000, 49.3);
        assert!(DEVICE.check(&text.replacen("\nioping ", "\n", 1)).is_err());
        assert!(DEVICE.check(&text.replacen("kernel of ioping ", "", 1)).is_err());
        assert!(DEVICE.check(&text.replace("kernel of assay ", "")).is_err());
        assert!(DEVICE.check(&text.replace(" 20000000 20500000 20100000", " ")).is_err());
    }

    #[test]
    fn disturbed_guest_only_detects_low_latency() {
        let restless = DelayedDevice { undisturbed_mean_ms: 20.0, ..DEVICE };
        let steady = |text: String| text;
        let moves =
            |text: String| text.replace("ioping 20500000 20400000", "ioping 21500000 21400000");
        for (device, changed, median_ns, mean_ns, iops, expected) in [
            (restless, steady as fn(String) -> String, 22_000_000, 28_000_000, 50.2, [None; 3]),
            (restless, steady, 19_000_000, 19_000_000, 50.2, [Some(false), Some(false), None]),
            (DEVICE, moves, 23_000_000, 23_000_000, 50.2, [None; 3]),
            (DEVICE, moves, 19_000_000, 19_000_000, 50.2, [Some(false), Some(false), None]),
        ] {
            let text = changed(reported(median_ns, mean_ns, iops));
            let figures = device.check(&text).unwrap();
            assert_eq!(figures.map(|it| it.is_correct()), expected, "{text}");
        }
    }
}
