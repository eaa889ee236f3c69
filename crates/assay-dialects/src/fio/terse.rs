//! fio's terse output: one line per job, fields between semicolons, versions 3 to 5.

use std::fmt::Write as _;

use super::json::group_percent;
use super::statistics::{
    DirectionStatistics, EntryResult, FioLatencyStatistics, FioRunInfo, groups,
};

/// Number of percentile fields in fio's terse format.
const PERCENTILES: usize = 20;

/// Renders one line per report entry.
pub fn lines(results: &[EntryResult], run_info: &FioRunInfo, version: u32) -> String {
    let groups = groups(results);
    let mut text = String::new();
    for result in results {
        let group = groups.iter().find(|group| group.0 == result.group);
        let (_, sides) = group.copied().unwrap_or_default();
        let [read, write, trim, all] =
            sides.map(|side| side.map_or(0, |side| side.bytes_per_s));
        let _ = write!(
            text,
            "{version};{};{};{};{}",
            run_info.version, result.job.name, result.group, result.error.0
        );
        let mut directions = vec![];
        if let Some(separate) = result.separate() {
            directions.extend([(&separate.read, read), (&separate.write, write)]);
            // Version 3 has no trims.
            directions.extend((version > 3).then_some((&separate.trim, trim)));
        }
        directions.extend(result.mixed.as_deref().map(|mixed| (mixed, all)));
        for (direction, of_group) in directions {
            side(&mut text, result, direction, of_group, version);
        }
        totals(&mut text, result, run_info);
    }
    text
}

fn totals(text: &mut String, result: &EntryResult, run_info: &FioRunInfo) {
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
    // The format has no classes below a microsecond; faster I/O counts in the first class.
    let faster: f64 = result.below_us.iter().sum();
    for (index, share) in result.below_ms.iter().enumerate() {
        let share = if index == 0 { share + faster } else { *share };
        let _ = write!(text, ";{share:.2}%");
    }
    for share in result.from_ms {
        let _ = write!(text, ";{share:.2}%");
    }
    for disk in &run_info.disks {
        let _ = write!(text, ";{};{}", disk.name, disk.figures().join(";"));
    }
    if result.job.counts_errors {
        let _ = write!(text, ";{};{}", result.errors, result.first_error);
    }
    if !result.job.description.is_empty() {
        let _ = write!(text, ";{}", result.job.description);
    }
    text.push('\n');
}

/// Appends one direction; latencies in microseconds, bandwidths in KiB/s.
fn side(
    text: &mut String,
    result: &EntryResult,
    side: &DirectionStatistics,
    of_group: u64,
    version: u32,
) {
    let done = Some(side).filter(|side| side.ios > 0);
    let count = done.map_or((0, 0, 0, 0), |side| {
        let kib_per_s = side.bytes_per_s() / 1024;
        (side.bytes >> 10, kib_per_s, side.ios_per_s() as u64, side.runtime_ms)
    });
    let _ = write!(text, ";{};{};{};{}", count.0, count.1, count.2, count.3);
    let none = ";0;0;0.000000;0.000000".to_owned();
    let reported = |times: Option<&FioLatencyStatistics>| {
        let Some(FioLatencyStatistics { all, mean_ns, deviation_ns }) = times else {
            return none.clone();
        };
        let (minimum, most) = (all.min() / 1000, all.max() / 1000);
        format!(";{minimum};{most};{:.6};{:.6}", mean_ns / 1e3, deviation_ns / 1e3)
    };
    text.push_str(&reported(done.and_then(|side| side.submission.as_ref())));
    text.push_str(&reported(done.map(DirectionStatistics::completion)));
    percentiles(text, result, done);
    text.push_str(&reported(done.map(|side| &side.latency)));
    samples(text, done, of_group, version);
}

/// Appends the percentiles of the latency if it is asked for, otherwise of its part after submission.
fn percentiles(text: &mut String, result: &EntryResult, done: Option<&DirectionStatistics>) {
    let job = &result.job;
    let is_any = job.lat_percentiles || job.clat_percentiles;
    for index in 0..PERCENTILES {
        let _ = match job.percentiles.get(index).filter(|_| is_any) {
            None => write!(text, ";0%=0"),
            Some(percent) => {
                let at = |side: &DirectionStatistics| {
                    let times =
                        if job.lat_percentiles { &side.latency } else { side.completion() };
                    times.all.value_at_quantile(percent / 100.0) / 1000
                };
                write!(text, ";{percent:.6}%={}", done.map_or(0, at))
            }
        };
    }
}

fn samples(text: &mut String, done: Option<&DirectionStatistics>, of_group: u64, version: u32) {
    let (bandwidth, rate) =
        done.map_or_else(Default::default, |side| (side.bandwidth, side.rate));
    let _ = write!(
        text,
        ";{};{};{:.6}%;{:.6};{:.6}",
        bandwidth.minimum as u64,
        bandwidth.maximum as u64,
        group_percent(&bandwidth, of_group),
        bandwidth.mean,
        bandwidth.deviation
    );
    if version == 5 {
        let _ = write!(
            text,
            ";{};{};{};{:.6};{:.6};{}",
            bandwidth.count,
            rate.minimum as u64,
            rate.maximum as u64,
            rate.mean,
            rate.deviation,
            rate.count
        );
    }
}
