//! fio's JSON output, key by key as fio 3.33 writes it.

use super::json_value::JsonValue;
use super::outcome::FioOutcome;
use super::reported_job::ReportedJob;
use super::statistics::{
    DirectionStatistics, DiskUse, EntryResult, FioLatencyStatistics, FioRunInfo,
    PriorityLatency, SampleSummary, groups,
};
use super::steady::FioSteadyWindow;

/// Renders the document; with `bins` (`json+`), it includes every latency that occurred.
pub fn document(outcome: &FioOutcome, bins: bool) -> String {
    let FioOutcome { info, globals, jobs, entries: results, .. } = outcome;
    let mut entries = vec![
        ("fio version", JsonValue::text(&info.version)),
        ("timestamp", JsonValue::Whole(info.ended_ms / 1000)),
        ("timestamp_ms", JsonValue::Whole(info.ended_ms)),
        ("time", JsonValue::text(&info.ended)),
    ];
    if !globals.is_empty() {
        entries.push(("global options", settings(globals)));
    }
    let bandwidths = groups(results);
    let entry = |result: &EntryResult| {
        let group = bandwidths.iter().find(|group| group.0 == result.group);
        let of_group = group.map_or([0; 4], |(_, sides)| {
            sides.map(|side| side.map_or(0, |side| side.bytes_per_s))
        });
        entry_json(result, of_group, info, bins)
    };
    entries.push(("jobs", JsonValue::List(results.iter().map(entry).collect())));
    if jobs.iter().any(|job| job.engine != "null") && !info.disks.is_empty() {
        let disks = info.disks.iter().map(disk).collect();
        entries.push(("disk_util", JsonValue::List(disks)));
    }
    JsonValue::Object(
        entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    )
    .render()
}

fn settings(settings: &[(String, String)]) -> JsonValue {
    let entry = |(name, value): &(String, String)| (name.clone(), JsonValue::text(value));
    JsonValue::Object(settings.iter().map(entry).collect())
}

fn entry_json(
    result: &EntryResult,
    of_group: [u64; 4],
    run_info: &FioRunInfo,
    bins: bool,
) -> JsonValue {
    let [of_reads, of_writes, of_trims, of_all] = of_group;
    let mut entries = vec![
        ("jobname", JsonValue::text(&result.job.name)),
        ("groupid", JsonValue::Whole(result.group as u64)),
        ("error", JsonValue::Whole(result.error.0.unsigned_abs().into())),
        ("eta", JsonValue::Whole(0)),
        ("elapsed", JsonValue::Whole(run_info.elapsed_ms / 1000 + 1)),
        ("job options", settings(&result.job.settings)),
    ];
    if result.separate().is_some() {
        entries.extend([
            ("read", direction_json(result, &result.read, of_reads, bins)),
            ("write", direction_json(result, &result.write, of_writes, bins)),
            ("trim", direction_json(result, &result.trim, of_trims, bins)),
            ("sync", syncs(result, bins)),
        ]);
    }
    let mixed = result.mixed.as_deref();
    entries.extend(mixed.map(|all| ("mixed", direction_json(result, all, of_all, bins))));
    entries.extend([
        ("job_runtime", JsonValue::Whole(result.runtime_ms)),
        ("usr_cpu", JsonValue::Number(result.user_percent)),
        ("sys_cpu", JsonValue::Number(result.system_percent)),
        ("ctx", JsonValue::Whole(result.usage.switches)),
        ("majf", JsonValue::Whole(result.usage.major_faults)),
        ("minf", JsonValue::Whole(result.usage.minor_faults)),
    ]);
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let below = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"];
    let from =
        ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
    entries.extend([
        ("iodepth_level", shares(&depths, &result.depths)),
        ("iodepth_submit", shares(&batches, &result.submissions)),
        ("iodepth_complete", shares(&batches, &result.collections)),
        ("latency_ns", shares(&below, &result.below_us)),
        ("latency_us", shares(&below, &result.below_ms)),
        ("latency_ms", shares(&from, &result.from_ms)),
    ]);
    if result.job.counts_errors {
        entries.push(("total_err", JsonValue::Whole(result.errors)));
        entries
            .push(("first_error", JsonValue::Whole(result.first_error.unsigned_abs().into())));
    }
    let (target_ns, window_us, percent) = result.job.latency_goal.unwrap_or((0, 0, 100.0));
    let depth = result.found_depth.unwrap_or(result.job.depth);
    let latency_goal = [
        ("latency_depth", JsonValue::Whole(depth.into())),
        ("latency_target", JsonValue::Whole(target_ns)),
        ("latency_percentile", JsonValue::Number(percent)),
        ("latency_window", JsonValue::Whole(window_us)),
    ];
    entries.extend(latency_goal.into_iter().filter(|_| !result.job.creates_only));
    if !result.job.description.is_empty() {
        entries.push(("desc", JsonValue::text(&result.job.description)));
    }
    entries.extend(result.steady.as_ref().map(|window| ("steadystate", steady(window))));
    JsonValue::Object(
        entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    )
}

fn syncs(result: &EntryResult, bins: bool) -> JsonValue {
    let job = &result.job;
    let list = (job.clat_percentiles || job.lat_percentiles).then_some(&job.percentiles);
    let (count, latency) = result.syncs.as_ref().map_or_else(
        || (0, no_latency()),
        |times| (result.counted_syncs(), latency_json(times, list, bins)),
    );
    JsonValue::object([("total_ios", JsonValue::Whole(count)), ("lat_ns", latency)])
}

fn steady(window: &FioSteadyWindow) -> JsonValue {
    let (rate, bandwidth) = window.means();
    let percent = if window.steady().in_percent { "%" } else { "" };
    let list = |of: fn(&(u64, u64)) -> u64| {
        let reported = window.samples.iter().map(of).chain(std::iter::repeat(0));
        JsonValue::List(reported.take(window.seconds()).map(JsonValue::Whole).collect())
    };
    JsonValue::object([
        ("ss", JsonValue::text(&window.criterion_text())),
        ("duration", JsonValue::Whole(window.seconds() as u64)),
        ("attained", JsonValue::Whole(window.attained.into())),
        ("criterion", JsonValue::text(&format!("{:.6}{percent}", window.criterion))),
        ("max_deviation", JsonValue::Number(window.deviation)),
        ("slope", JsonValue::Number(window.slope)),
        (
            "data",
            JsonValue::object([
                ("bw_mean", JsonValue::Whole(bandwidth)),
                ("iops_mean", JsonValue::Whole(rate)),
                ("iops", list(|it| it.0)),
                ("bw", list(|it| it.1)),
            ]),
        ),
    ])
}

fn shares(names: &[&str], values: &[f64]) -> JsonValue {
    let entry = |(name, value): (&&str, &f64)| ((*name).to_owned(), JsonValue::Number(*value));
    JsonValue::Object(names.iter().zip(values).map(entry).collect())
}

fn direction_json(
    result: &EntryResult,
    side: &DirectionStatistics,
    of_group: u64,
    bins: bool,
) -> JsonValue {
    if side.ios == 0 {
        return counts(side, [no_latency(), no_latency(), no_latency()], 0.0);
    }
    let job = &result.job;
    let clat =
        latency_json(side.completion(), job.clat_percentiles.then_some(&job.percentiles), bins);
    let lat =
        latency_json(&side.latency, job.lat_percentiles.then_some(&job.percentiles), bins);
    let submission = side.submission.as_ref();
    let slat = submission.map_or_else(no_latency, |times| {
        latency_json(times, job.slat_percentiles.then_some(&job.percentiles), bins)
    });
    let mut json = counts(side, [slat, clat, lat], group_percent(&side.bandwidth, of_group));
    if let (JsonValue::Object(entries), false) = (&mut json, side.by_priority.is_empty()) {
        let at = entries.iter().position(|(name, _)| name == "bw_min").unwrap_or(entries.len());
        entries.insert(at, ("prios".to_owned(), priorities(job, side, bins)));
    }
    json
}

fn priorities(job: &ReportedJob, side: &DirectionStatistics, bins: bool) -> JsonValue {
    let list = (job.clat_percentiles || job.lat_percentiles).then_some(&job.percentiles);
    let name = if job.lat_percentiles { "lat_ns" } else { "clat_ns" };
    let entry = |it: &PriorityLatency| {
        JsonValue::object([
            ("prioclass", JsonValue::Whole(it.class.into())),
            ("prio", JsonValue::Whole(it.level.into())),
            (name, latency_json(&it.latency, list, bins)),
        ])
    };
    JsonValue::List(side.by_priority.iter().map(entry).collect())
}

/// Returns a job's mean bandwidth in percent of its group's.
pub(super) fn group_percent(bandwidth: &SampleSummary, of_group: u64) -> f64 {
    if bandwidth.count == 0 || of_group <= 1024 {
        return if bandwidth.count == 0 { 0.0 } else { 100.0 };
    }
    (bandwidth.mean * 100.0 / (of_group as f64 / 1024.0)).min(100.0)
}

fn counts(
    side: &DirectionStatistics,
    [slat, clat, lat]: [JsonValue; 3],
    percent: f64,
) -> JsonValue {
    let bytes_per_s = side.bytes_per_s();
    let (bandwidth, rate) = (&side.bandwidth, &side.rate);
    JsonValue::object([
        ("io_bytes", JsonValue::Whole(side.bytes)),
        ("io_kbytes", JsonValue::Whole(side.bytes >> 10)),
        ("bw_bytes", JsonValue::Whole(bytes_per_s)),
        ("bw", JsonValue::Whole(bytes_per_s >> 10)),
        ("iops", JsonValue::Number(side.ios_per_s())),
        ("runtime", JsonValue::Whole(side.runtime_ms)),
        ("total_ios", JsonValue::Whole(side.ios)),
        ("short_ios", JsonValue::Whole(0)),
        ("drop_ios", JsonValue::Whole(0)),
        ("slat_ns", slat),
        ("clat_ns", clat),
        ("lat_ns", lat),
        ("bw_min", JsonValue::Whole(bandwidth.minimum as u64)),
        ("bw_max", JsonValue::Whole(bandwidth.maximum as u64)),
        ("bw_agg", JsonValue::Number(percent)),
        ("bw_mean", JsonValue::Number(bandwidth.mean)),
        ("bw_dev", JsonValue::Number(bandwidth.deviation)),
        ("bw_samples", JsonValue::Whole(bandwidth.count)),
        ("iops_min", JsonValue::Whole(rate.minimum as u64)),
        ("iops_max", JsonValue::Whole(rate.maximum as u64)),
        ("iops_mean", JsonValue::Number(rate.mean)),
        ("iops_stddev", JsonValue::Number(rate.deviation)),
        ("iops_samples", JsonValue::Whole(rate.count)),
    ])
}

fn no_latency() -> JsonValue {
    moments(0, 0, 0.0, 0.0, 0)
}

fn moments(minimum: u64, maximum: u64, mean: f64, deviation: f64, count: u64) -> JsonValue {
    JsonValue::object([
        ("min", JsonValue::Whole(minimum)),
        ("max", JsonValue::Whole(maximum)),
        ("mean", JsonValue::Number(mean)),
        ("stddev", JsonValue::Number(deviation)),
        ("N", JsonValue::Whole(count)),
    ])
}

fn latency_json(
    times: &FioLatencyStatistics,
    percentiles: Option<&Vec<f64>>,
    bins: bool,
) -> JsonValue {
    let all = &times.all;
    let mut json = moments(all.min(), all.max(), times.mean_ns, times.deviation_ns, all.len());
    let percentiles = percentiles.filter(|_| !all.is_empty());
    let (JsonValue::Object(entries), Some(percentiles)) = (&mut json, percentiles) else {
        return json;
    };
    let at = |percent: &f64| {
        let value = all.value_at_quantile(percent / 100.0).min(all.max());
        (format!("{percent:.6}"), JsonValue::Whole(value))
    };
    let list = percentiles.iter().map(at).collect();
    entries.push(("percentile".to_owned(), JsonValue::Object(list)));
    if bins {
        let bin = |it: hdrhistogram::iterators::IterationValue<u64>| {
            (it.value_iterated_to().to_string(), JsonValue::Whole(it.count_at_value()))
        };
        let list = all.iter_recorded().map(bin).collect();
        entries.push(("bins".to_owned(), JsonValue::Object(list)));
    }
    json
}

fn disk(disk: &DiskUse) -> JsonValue {
    JsonValue::object([
        ("name", JsonValue::text(&disk.name)),
        ("read_ios", JsonValue::Whole(disk.ios.0)),
        ("write_ios", JsonValue::Whole(disk.ios.1)),
        ("read_merges", JsonValue::Whole(disk.merges.0)),
        ("write_merges", JsonValue::Whole(disk.merges.1)),
        ("read_ticks", JsonValue::Whole(disk.ticks_ms.0)),
        ("write_ticks", JsonValue::Whole(disk.ticks_ms.1)),
        ("in_queue", JsonValue::Whole(disk.in_queue_ms)),
        ("util", JsonValue::Number(disk.utilisation())),
    ])
}
