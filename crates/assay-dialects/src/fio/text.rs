//! fio's human-readable output, line by line as fio 3.33 prints it.

use std::fmt::Write as _;

use hdrhistogram::Histogram;

use super::json::group_percent;
use super::number::{SHORT_WIDTH, TimeUnit, UnitPrefixes, format_short};
use super::reported_job::ReportedJob;
use super::statistics::{
    DirectionStatistics, EntryResult, FioLatencyStatistics, FioRunInfo, GroupTotals, groups,
};
use super::steady::FioSteadyWindow;

/// Renders the text before the first job begins.
pub fn render_start(jobs: &[ReportedJob], version: &str) -> String {
    let mut text = String::new();
    let mut clones = 0;
    for job in jobs {
        let trim_bytes = job.trim_bytes.unwrap_or(job.read_bytes);
        let [reads, writes, trims] = [job.read_bytes, job.write_bytes, trim_bytes]
            .map(|range| format_size_range(range, job));
        let _ = writeln!(
            text,
            "{}: (g={}): rw={}, bs=(R) {reads}, (W) {writes}, (T) {trims}, ioengine={}, iodepth={}",
            job.name, job.group, job.rw, job.engine, job.depth
        );
        if job.clones > 1 {
            text.push_str("...\n");
        }
        clones += job.clones;
    }
    let plural = if clones == 1 { "" } else { "s" };
    let _ = writeln!(text, "{version}\nStarting {clones} thread{plural}");
    text
}

fn format_size_range((minimum, maximum): (u64, u64), job: &ReportedJob) -> String {
    format!("{}-{}", format_bytes(minimum, job, false), format_bytes(maximum, job, false))
}

/// Renders the results of all jobs and groups.
pub fn render_end(results: &[EntryResult], run_info: &FioRunInfo) -> String {
    let mut text = String::from("\n");
    let groups = groups(results);
    for result in results {
        let group = groups.iter().find(|group| group.0 == result.group);
        let (_, sides) = group.copied().unwrap_or_default();
        entry(&mut text, result, sides, run_info);
    }
    for (number, [read, write, trim, mixed]) in &groups {
        let _ = writeln!(text, "\nRun status group {number} (all jobs):");
        let base = results.iter().find(|result| result.group == *number);
        let sides =
            [("   READ", read), ("  WRITE", write), ("   TRIM", trim), ("  MIXED", mixed)];
        for (name, side) in sides {
            if let (Some(side), Some(result)) = (side, base) {
                group_line(&mut text, name, side, &result.job);
            }
        }
    }
    if !run_info.disks.is_empty() {
        text.push_str("\nDisk stats (read/write):\n");
    }
    for disk in &run_info.disks {
        let [r, w, r_merged, w_merged, r_ticks, w_ticks, in_queue, util] = disk.figures();
        let _ = writeln!(
            text,
            "  {}: ios={r}/{w}, merge={r_merged}/{w_merged}, ticks={r_ticks}/{w_ticks}, \
             in_queue={in_queue}, util={util}",
            disk.name
        );
    }
    text
}

fn entry(
    text: &mut String,
    result: &EntryResult,
    of_group: [Option<GroupTotals>; 4],
    run_info: &FioRunInfo,
) {
    let (number, reason) = &result.error;
    let reason = if *number == 0 { String::new() } else { format!(" ({reason})") };
    let _ = writeln!(
        text,
        "{}: (groupid={}, jobs={}): err={number:2}{reason}: pid={}: {}",
        result.job.name, result.group, result.members, run_info.process, run_info.ended
    );
    if !result.job.description.is_empty() {
        let _ = writeln!(text, "  Description  : [{}]", result.job.description);
    }
    if result.separate().is_some() {
        side(text, "read", "", result, &result.read, of_group[0]);
        side(text, "write", "; 0 zone resets", result, &result.write, of_group[1]);
        side(text, "trim", "", result, &result.trim, of_group[2]);
    }
    if let Some(mixed) = &result.mixed {
        side(text, "mixed", "", result, mixed, of_group[3]);
    }
    syncs(text, result);
    let below = ["2=", "4=", "10=", "20=", "50=", "100=", "250=", "500=", "750=", "1000="];
    classes(text, "nsec", &below, &result.below_us);
    classes(text, "usec", &below, &result.below_ms);
    let from: Vec<&str> = below.into_iter().chain(["2000=", ">=2000="]).collect();
    classes(text, "msec", &from, &result.from_ms);
    totals(text, result);
}

fn totals(text: &mut String, result: &EntryResult) {
    let used = &result.usage;
    let _ = writeln!(
        text,
        "  cpu          : usr={:.2}%, sys={:.2}%, ctx={}, majf={}, minf={}",
        result.user_percent,
        result.system_percent,
        used.switches,
        used.major_faults,
        used.minor_faults
    );
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    let calls = ["0", "4", "8", "16", "32", "64", ">=64"];
    for (title, names, shares) in [
        ("  IO depths    ", depths, result.depths),
        ("     submit    ", calls, result.submissions),
        ("     complete  ", calls, result.collections),
    ] {
        let shares =
            names.iter().zip(shares).map(|(name, share)| format!("{name}={share:.1}%"));
        let _ = writeln!(text, "{title}: {}", shares.collect::<Vec<_>>().join(", "));
    }
    let ios = match (&result.mixed, result.separate()) {
        (Some(mixed), None) => [mixed.ios, 0, 0],
        _ => [result.read.ios, result.write.ios, result.trim.ios],
    };
    let _ = writeln!(
        text,
        "     issued rwts: total={},{},{},{} short=0,0,0,0 dropped=0,0,0,0",
        ios[0],
        ios[1],
        ios[2],
        result.counted_syncs()
    );
    if result.job.counts_errors {
        let _ = writeln!(
            text,
            "     errors    : total={}, first_error={}/<{}>",
            result.errors,
            result.first_error,
            describe_error(result.first_error)
        );
    }
    let (target_ns, window_us, percent) = result.job.latency_goal.unwrap_or((0, 0, 100.0));
    let _ = writeln!(
        text,
        "     latency   : target={target_ns}, window={window_us}, percentile={percent:.2}%, depth={}",
        result.found_depth.unwrap_or(result.job.depth)
    );
    if let Some(window) = &result.steady {
        steady(text, window, &result.job);
    }
}

/// Returns the system's text for an error number.
fn describe_error(number: i32) -> String {
    let text = std::io::Error::from_raw_os_error(number).to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_owned()
}

fn steady(text: &mut String, window: &FioSteadyWindow, job: &ReportedJob) {
    let (rate, bandwidth) = window.means();
    let (one, other) = format_both_prefixes(bandwidth, job, "B/s");
    let kind = if window.steady().by_slope { "slope" } else { "mean dev" };
    let percent = if window.steady().in_percent { "%" } else { "" };
    let _ = writeln!(
        text,
        "  steadystate  : attained={}, bw={one} ({other}), iops={}, {} {kind}={:.3}{percent}",
        if window.attained { "yes" } else { "no" },
        format_short(rate, SHORT_WIDTH, UnitPrefixes::Decimal, ""),
        window.metric_name(),
        window.criterion
    );
}

fn syncs(text: &mut String, result: &EntryResult) {
    let Some(times) = &result.syncs else { return };
    text.push_str("  fsync/fdatasync/sync_file_range:\n");
    latency_line(text, "sync", times);
    percentiles(text, "sync", &times.all, &result.job.percentiles);
}

fn latency_line(
    text: &mut String,
    kind: &str,
    FioLatencyStatistics { all, mean_ns, deviation_ns }: &FioLatencyStatistics,
) {
    if all.is_empty() {
        return;
    }
    let unit = TimeUnit::choose(all.min(), all.max(), *deviation_ns);
    let number = |ns: u64| format_short(ns / unit.ns(), 6, UnitPrefixes::Decimal, "");
    let scaled = |ns: &f64| ns / unit.ns() as f64;
    let _ = writeln!(
        text,
        "    {kind} ({}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
        unit.name(),
        number(all.min()),
        number(all.max()),
        scaled(mean_ns),
        scaled(deviation_ns)
    );
}

fn side(
    text: &mut String,
    name: &str,
    behind: &str,
    result: &EntryResult,
    side: &DirectionStatistics,
    group: Option<GroupTotals>,
) {
    if side.bytes == 0 {
        return;
    }
    let job = &result.job;
    let rate = format_short(side.ios_per_s() as u64, SHORT_WIDTH, UnitPrefixes::Decimal, "");
    let (one, other) = format_both_prefixes(side.bytes_per_s(), job, "B/s");
    let total = format_bytes(side.bytes, job, false);
    let _ = writeln!(
        text,
        "  {name}: IOPS={rate}, BW={one} ({other})({total}/{}msec){behind}",
        side.runtime_ms
    );
    if let Some(times) = &side.submission {
        latency_line(text, "slat", times);
    }
    latency_line(text, "clat", side.completion());
    latency_line(text, " lat", &side.latency);
    let kind = if job.lat_percentiles { "lat" } else { "clat" };
    for it in &side.by_priority {
        latency_line(text, &format!("{kind} prio {}/{}", it.class, it.level), &it.latency);
    }
    if let Some(times) = side.submission.as_ref().filter(|_| job.slat_percentiles) {
        percentiles(text, "slat", &times.all, &job.percentiles);
    }
    if job.clat_percentiles {
        percentiles(text, "clat", &side.completion().all, &job.percentiles);
    }
    if job.lat_percentiles {
        percentiles(text, "lat", &side.latency.all, &job.percentiles);
    }
    if job.clat_percentiles || job.lat_percentiles {
        let all = if job.lat_percentiles { &side.latency } else { side.completion() };
        for it in &side.by_priority {
            let share = 100.0 * it.latency.all.len() as f64 / all.all.len().max(1) as f64;
            let name = format!("{kind} prio {}/{} ({share:.2}% of IOs)", it.class, it.level);
            percentiles(text, &name, &it.latency.all, &job.percentiles);
        }
    }
    samples(text, side, group);
}

fn samples(text: &mut String, side: &DirectionStatistics, group: Option<GroupTotals>) {
    let (bandwidth, rate) = (&side.bandwidth, &side.rate);
    if bandwidth.count == 0 {
        return;
    }
    let (unit, by) = if bandwidth.mean > 1048576.0 { ("MiB", 1024.0) } else { ("KiB", 1.0) };
    let _ = writeln!(
        text,
        "   bw ({unit:>5}/s): min={:5}, max={:5}, per={:.2}%, avg={:5.2}, stdev={:5.2}, samples={}",
        (bandwidth.minimum / by) as u64,
        (bandwidth.maximum / by) as u64,
        group_percent(bandwidth, group.map_or(0, |side| side.bytes_per_s)),
        bandwidth.mean / by,
        bandwidth.deviation / by,
        bandwidth.count
    );
    let _ = writeln!(
        text,
        "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}",
        rate.minimum as u64, rate.maximum as u64, rate.mean, rate.deviation, rate.count
    );
}

fn percentiles(text: &mut String, kind: &str, all: &Histogram<u64>, list: &[f64]) {
    if all.is_empty() {
        return;
    }
    let at = |percent: &f64| all.value_at_quantile(percent / 100.0).min(all.max());
    let values: Vec<u64> = list.iter().map(at).collect();
    let minimum = values.iter().copied().min().unwrap_or(0);
    let most = values.iter().copied().max().unwrap_or(0);
    let unit = match (minimum, most) {
        (2_000_001.., 100_000_000..) => TimeUnit::Milli,
        (2001.., 100_000..) => TimeUnit::Micro,
        _ => TimeUnit::Nano,
    };
    let _ = write!(text, "    {kind} percentiles ({}):\n     |", unit.name());
    let width = (most / unit.ns()).to_string().len().max(5);
    let per_line = (80 - 7) / (2 + 10 + width);
    for (index, (percent, value)) in list.iter().zip(&values).enumerate() {
        if index > 0 && index % per_line == 0 {
            text.push_str("\n     |");
        }
        let end = if index + 1 == list.len() { '\n' } else { ',' };
        let value = value.div_ceil(unit.ns());
        let _ = write!(text, " {percent:5.2}th=[{value:width$}]{end}");
    }
}

fn classes(text: &mut String, unit: &str, names: &[&str], shares: &[f64]) {
    let shown = names.iter().zip(shares).filter(|(_, share)| **share > 0.0);
    let shown: Vec<String> = shown.map(|(name, share)| format!("{name}{share:.2}%")).collect();
    for line in shown.chunks(5) {
        let _ = writeln!(text, "  lat ({unit})   : {}", line.join(", "));
    }
}

fn group_line(text: &mut String, name: &str, side: &GroupTotals, job: &ReportedJob) {
    let (all, all_other) = format_both_prefixes(side.bytes_per_s, job, "B/s");
    let (minimum, minimum_other) = format_both_prefixes(side.minimum, job, "B/s");
    let (most, most_other) = format_both_prefixes(side.maximum, job, "B/s");
    let (amount, amount_other) = format_both_prefixes(side.bytes, job, "B");
    let _ = writeln!(
        text,
        "{name}: bw={all} ({all_other}), {minimum}-{most} ({minimum_other}-{most_other}), \
         io={amount} ({amount_other}), run={}-{}msec",
        side.shortest_ms, side.longest_ms
    );
}

fn format_bytes(value: u64, job: &ReportedJob, other: bool) -> String {
    let binary = (job.kb_base == 1024) != other;
    format_short(
        value,
        SHORT_WIDTH,
        if binary { UnitPrefixes::Binary } else { UnitPrefixes::Decimal },
        "B",
    )
}

/// Formats a value with the job's unit prefixes and with the other kind.
fn format_both_prefixes(value: u64, job: &ReportedJob, unit: &str) -> (String, String) {
    let rest = unit.strip_prefix('B').unwrap_or_default();
    (format_bytes(value, job, false) + rest, format_bytes(value, job, true) + rest)
}
