//! fio's terse output: one line per job, fields between semicolons, versions 3 to 5.

use std::fmt::Write as _;

use super::json::of_group_percent;
use super::statistics::{Circumstances, Side, WorkerResult, groups};

/// fio has room for so many percentiles.
const PERCENTILES: usize = 20;

/// One line per entry of the report.
#[must_use]
pub fn lines(
    results: &[WorkerResult<'_>],
    circumstances: &Circumstances,
    version: u32,
) -> String {
    let groups = groups(results);
    let mut text = String::new();
    for result in results {
        let group = groups.iter().find(|group| group.0 == result.row.group);
        let (_, read, write) = group.copied().unwrap_or_default();
        let rate =
            |side: Option<super::statistics::GroupSide>| side.map_or(0, |s| s.bytes_per_s);
        let _ = write!(
            text,
            "{version};{};{};{};{}",
            circumstances.version, result.worker.name, result.row.group, result.error.0
        );
        side(&mut text, result, Some(&result.read), rate(read), version);
        side(&mut text, result, Some(&result.write), rate(write), version);
        if version > 3 {
            side(&mut text, result, None, 0, version);
        }
        totals(&mut text, result, circumstances);
    }
    text
}

fn totals(text: &mut String, result: &WorkerResult<'_>, circumstances: &Circumstances) {
    let used = &result.usage;
    let _ = write!(
        text,
        ";{:.6}%;{:.6}%;{};{};{}",
        result.user_percent,
        result.system_percent,
        used.switches,
        used.major_faults,
        used.minor_faults
    );
    for share in result.depths {
        let _ = write!(text, ";{share:.1}%");
    }
    // There is no field below a microsecond; what is faster counts as the first.
    let faster: f64 = result.below_us.iter().sum();
    for (index, share) in result.below_ms.iter().enumerate() {
        let share = if index == 0 { share + faster } else { *share };
        let _ = write!(text, ";{share:.2}%");
    }
    for share in result.from_ms {
        let _ = write!(text, ";{share:.2}%");
    }
    for disk in &circumstances.disks {
        let _ = write!(
            text,
            ";{};{};{};{};{};{};{};{};{:.2}%",
            disk.name,
            disk.ios.0,
            disk.ios.1,
            disk.merges.0,
            disk.merges.1,
            disk.ticks_ms.0,
            disk.ticks_ms.1,
            disk.in_queue_ms,
            disk.utilisation()
        );
    }
    if !result.worker.description.is_empty() {
        let _ = write!(text, ";{}", result.worker.description);
    }
    text.push('\n');
}

/// Latencies are in microseconds here, bandwidths in KiB/s.
fn side(
    text: &mut String,
    result: &WorkerResult<'_>,
    side: Option<&Side>,
    of_group: u64,
    version: u32,
) {
    let done = side.filter(|side| side.ios > 0);
    let count = done.map_or((0, 0, 0, 0), |side| {
        let kib_per_s = side.bytes_per_s() / 1024;
        (side.bytes >> 10, kib_per_s, side.ios_per_s() as u64, side.runtime_ms)
    });
    let _ = write!(text, ";{};{};{};{}", count.0, count.1, count.2, count.3);
    let none = ";0;0;0.000000;0.000000".to_owned();
    let moments = done.map_or_else(
        || none.clone(),
        |side| {
            let (least, most) = (side.latency.min() / 1000, side.latency.max() / 1000);
            let (mean, deviation) = (side.mean_ns / 1e3, side.deviation_ns / 1e3);
            format!(";{least};{most};{mean:.6};{deviation:.6}")
        },
    );
    let _ = write!(text, "{none}{moments}");
    let list = &result.worker.percentiles;
    for index in 0..PERCENTILES {
        let _ = match list.get(index) {
            None => write!(text, ";0%=0"),
            Some(percent) => {
                let at = |side: &Side| side.latency.value_at_quantile(percent / 100.0) / 1000;
                write!(text, ";{percent:.6}%={}", done.map_or(0, at))
            }
        };
    }
    text.push_str(&moments);
    samples(text, done, of_group, version);
}

fn samples(text: &mut String, done: Option<&Side>, of_group: u64, version: u32) {
    let (bandwidth, rate) =
        done.map_or_else(Default::default, |side| (side.bandwidth, side.rate));
    let _ = write!(
        text,
        ";{};{};{:.6}%;{:.6};{:.6}",
        bandwidth.least as u64,
        bandwidth.greatest as u64,
        of_group_percent(&bandwidth, of_group),
        bandwidth.mean,
        bandwidth.deviation
    );
    if version == 5 {
        let _ = write!(
            text,
            ";{};{};{};{:.6};{:.6};{}",
            bandwidth.count,
            rate.least as u64,
            rate.greatest as u64,
            rate.mean,
            rate.deviation,
            rate.count
        );
    }
}
