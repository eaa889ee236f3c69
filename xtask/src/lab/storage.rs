//! Scenario `storage`: devices whose completion times are set: `null_blk` with a timer, and `dm-delay`.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Figure, Machine, Place, Scenario, document, section};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "storage",
    title: "Devices with set completion times (null_blk, dm-delay)",
    about: "Random reads of 4 KiB. `null_blk` completes each by a high-resolution timer after 20 ms: latency \
            and the rate that follows from it and from the I/O in flight (Little's law). `dm-delay` of \
            20 ms counts ticks of 4 ms, so that a read takes from 16 to 24 ms.",
    place: Place::Guest(Machine::PLAIN, SCRIPT),
    deadline: Duration::from_secs(240),
    judge,
};

const SCRIPT: &str = "\
set -e
modprobe null_blk irqmode=2 completion_nsec=20000000 queue_mode=2 gb=1 nr_devices=1
modprobe dm-mod
modprobe dm-delay
read_from() {
  echo \"== $3 $2\"
  /lab/assay fio --name=read --filename=$1 --rw=randread --bs=4k --iodepth=$2 --ioengine=libaio \\
    --direct=1 --time_based --runtime=5 --output-format=json --no-store
}
read_from /dev/nullb0 1 null_blk
read_from /dev/nullb0 8 null_blk
rmmod null_blk
modprobe null_blk irqmode=0 gb=1 nr_devices=1
dmsetup create slow --noudevsync --table \"0 $(cat /sys/block/nullb0/size) delay /dev/nullb0 0 20\"
read_from /dev/dm-0 1 dm-delay
";

fn judge(said: &str) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, low_ms, high_ms) in
        [("null_blk 1", 20.0, 20.5), ("null_blk 8", 20.0, 20.5), ("dm-delay 1", 16.0, 24.5)]
    {
        let text = section(said, name)?;
        let (device, depth) = name.split_once(' ').expect("names have two words");
        figures.extend(of_device(device, depth.parse()?, (low_ms, high_ms), text)?);
    }
    Ok(figures)
}

fn of_device(
    device: &str,
    depth: f64,
    (low_ms, high_ms): (f64, f64),
    text: &str,
) -> Result<[Figure; 2]> {
    let reported = document(text)?;
    let read = &reported["jobs"][0]["read"];
    let number = |value: &Value| value.as_f64().context("a figure is missing");
    let median_ms = number(&read["clat_ns"]["percentile"]["50.000000"])? * 1e-6;
    let mean_ms = number(&read["lat_ns"]["mean"])? * 1e-6;
    let rate = number(&read["iops"])?;
    let expected = depth / (mean_ms * 1e-3);
    Ok([
        Figure {
            what: format!("{device}, depth {depth}: median latency"),
            truth: format!("{low_ms} to {high_ms} ms"),
            reported: format!("{median_ms:.2} ms"),
            // The histogram has three digits.
            holds: Some((low_ms * 0.995..=high_ms).contains(&median_ms)),
        },
        Figure {
            what: format!("{device}, depth {depth}: rate"),
            truth: format!("{expected:.1} per second, ± 1 %: depth ÷ mean latency"),
            reported: format!("{rate:.1} per second"),
            holds: Some((rate / expected - 1.0).abs() <= 0.01),
        },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(median_ns: u64, mean_ns: u64, iops: f64) -> String {
        format!(
            r#"{{"jobs":[{{"read":{{"iops":{iops},"clat_ns":{{"percentile":{{"50.000000":{median_ns}}}}},"lat_ns":{{"mean":{mean_ns}}}}}}}]}}"#
        )
    }

    #[test]
    fn latency_and_rate_are_held_against_the_device() {
        for (median_ns, iops, expected) in [
            (20_100_000, 50.0, [true, true]),
            (20_600_000, 50.0, [false, true]),
            (19_000_000, 50.6, [false, false]),
        ] {
            let text = reported(median_ns, 20_000_000, iops);
            let figures = of_device("null_blk", 1.0, (20.0, 20.5), &text).unwrap();
            assert_eq!(figures.map(|it| it.holds), expected.map(Some), "{median_ns} {iops}");
        }
    }
}
