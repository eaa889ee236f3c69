//! fio's JSON output, key by key as fio 3.33 writes it.

use super::command_line::Request;
use super::compile::FioPlan;
use super::document::Json;
use super::jobfile::Setting;
use super::statistics::{Circumstances, DiskUse, Samples, Side, Times, WorkerResult, groups};
use super::steady::Window;

/// Renders the document; with `bins` (`json+`), it includes every latency that occurred.
#[must_use]
pub fn document(
    request: &Request,
    plan: &FioPlan,
    results: &[WorkerResult<'_>],
    circumstances: &Circumstances,
    bins: bool,
) -> String {
    let mut entries = vec![
        ("fio version", Json::text(&circumstances.version)),
        ("timestamp", Json::Whole(circumstances.ended_ms / 1000)),
        ("timestamp_ms", Json::Whole(circumstances.ended_ms)),
        ("time", Json::text(&circumstances.ended)),
    ];
    let globals = settings(&request.globals);
    if globals != Json::Object(vec![]) {
        entries.push(("global options", globals));
    }
    let bandwidths = groups(results);
    let entry = |result: &WorkerResult<'_>| {
        let group = bandwidths.iter().find(|group| group.0 == result.row.group);
        let of_group = group.map_or([0; 3], |(_, sides)| {
            sides.map(|side| side.map_or(0, |side| side.bytes_per_s))
        });
        let own = request.sections.get(result.row.worker).map(|section| section.own.as_slice());
        entry_of(result, own.unwrap_or_default(), of_group, circumstances, bins)
    };
    entries.push(("jobs", Json::List(results.iter().map(entry).collect())));
    if plan.workers.iter().any(|job| job.engine != "null") && !circumstances.disks.is_empty() {
        let disks = circumstances.disks.iter().map(disk).collect();
        entries.push(("disk_util", Json::List(disks)));
    }
    Json::Object(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
        .render()
}

/// Lists options with their last values; fio omits options without a value.
fn settings(settings: &[Setting]) -> Json {
    let mut entries: Vec<(String, Json)> = vec![];
    for setting in settings {
        let Some(value) = &setting.value else { continue };
        let value = Json::text(value);
        match entries.iter_mut().find(|(name, _)| name == setting.row.name) {
            Some(entry) => entry.1 = value,
            None => entries.push((setting.row.name.to_owned(), value)),
        }
    }
    Json::Object(entries)
}

fn entry_of(
    result: &WorkerResult<'_>,
    own: &[Setting],
    of_group: [u64; 3],
    circumstances: &Circumstances,
    bins: bool,
) -> Json {
    let mut entries = vec![
        ("jobname", Json::text(&result.worker.name)),
        ("groupid", Json::Whole(result.row.group as u64)),
        ("error", Json::Whole(result.error.0.unsigned_abs().into())),
        ("eta", Json::Whole(0)),
        ("elapsed", Json::Whole(circumstances.elapsed_ms / 1000 + 1)),
        ("job options", settings(own)),
        ("read", side(result, &result.read, of_group[0], bins)),
        ("write", side(result, &result.write, of_group[1], bins)),
        ("trim", side(result, &result.trim, of_group[2], bins)),
        ("sync", syncs(result, bins)),
        ("job_runtime", Json::Whole(result.runtime_ms)),
        ("usr_cpu", Json::Number(result.user_percent)),
        ("sys_cpu", Json::Number(result.system_percent)),
        ("ctx", Json::Whole(result.usage.switches)),
        ("majf", Json::Whole(result.usage.major_faults)),
        ("minf", Json::Whole(result.usage.minor_faults)),
    ];
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let below = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"];
    let from =
        ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
    entries.extend([
        ("iodepth_level", shares(&depths, &result.depths)),
        ("iodepth_submit", shares(&batches, &[0.0; 7])),
        ("iodepth_complete", shares(&batches, &[0.0; 7])),
        ("latency_ns", shares(&below, &result.below_us)),
        ("latency_us", shares(&below, &result.below_ms)),
        ("latency_ms", shares(&from, &result.from_ms)),
        ("latency_depth", Json::Whole(u64::from(result.worker.depth))),
        ("latency_target", Json::Whole(0)),
        ("latency_percentile", Json::Number(100.0)),
        ("latency_window", Json::Whole(0)),
    ]);
    if !result.worker.description.is_empty() {
        entries.push(("desc", Json::text(&result.worker.description)));
    }
    entries.extend(result.steady.as_ref().map(|window| ("steadystate", steady(window))));
    Json::Object(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn syncs(result: &WorkerResult<'_>, bins: bool) -> Json {
    let job = result.worker;
    let list = (job.clat_percentiles || job.lat_percentiles).then_some(&job.percentiles);
    let (count, latency) = result.syncs.as_ref().map_or_else(
        || (0, no_latency()),
        |times| (times.all.len(), times_of(times, list, bins)),
    );
    Json::object([("total_ios", Json::Whole(count)), ("lat_ns", latency)])
}

fn steady(window: &Window) -> Json {
    let (rate, bandwidth) = window.means();
    let percent = if window.steady().in_percent { "%" } else { "" };
    let list = |of: fn(&(u64, u64)) -> u64| {
        let reported = window.samples.iter().map(of).chain(std::iter::repeat(0));
        Json::List(reported.take(window.seconds()).map(Json::Whole).collect())
    };
    Json::object([
        ("ss", Json::text(&window.asked())),
        ("duration", Json::Whole(window.seconds() as u64)),
        ("attained", Json::Whole(window.attained.into())),
        ("criterion", Json::text(&format!("{:.6}{percent}", window.criterion))),
        ("max_deviation", Json::Number(window.deviation)),
        ("slope", Json::Number(window.slope)),
        (
            "data",
            Json::object([
                ("bw_mean", Json::Whole(bandwidth)),
                ("iops_mean", Json::Whole(rate)),
                ("iops", list(|it| it.0)),
                ("bw", list(|it| it.1)),
            ]),
        ),
    ])
}

fn shares(names: &[&str], values: &[f64]) -> Json {
    let entry = |(name, value): (&&str, &f64)| ((*name).to_owned(), Json::Number(*value));
    Json::Object(names.iter().zip(values).map(entry).collect())
}

fn side(result: &WorkerResult<'_>, side: &Side, of_group: u64, bins: bool) -> Json {
    if side.ios == 0 {
        return counts(side, [no_latency(), no_latency(), no_latency()], 0.0);
    }
    let job = result.worker;
    let clat =
        times_of(side.completion(), job.clat_percentiles.then_some(&job.percentiles), bins);
    let lat = times_of(&side.latency, job.lat_percentiles.then_some(&job.percentiles), bins);
    let submission = side.submission.as_ref();
    let slat = submission.map_or_else(no_latency, |times| times_of(times, None, bins));
    counts(side, [slat, clat, lat], of_group_percent(&side.bandwidth, of_group))
}

/// Returns a job's mean bandwidth in percent of its group's.
pub(super) fn of_group_percent(bandwidth: &Samples, of_group: u64) -> f64 {
    if bandwidth.count == 0 || of_group <= 1024 {
        return if bandwidth.count == 0 { 0.0 } else { 100.0 };
    }
    (bandwidth.mean * 100.0 / (of_group as f64 / 1024.0)).min(100.0)
}

fn counts(side: &Side, [slat, clat, lat]: [Json; 3], percent: f64) -> Json {
    let bytes_per_s = side.bytes_per_s();
    let (bandwidth, rate) = (&side.bandwidth, &side.rate);
    Json::object([
        ("io_bytes", Json::Whole(side.bytes)),
        ("io_kbytes", Json::Whole(side.bytes >> 10)),
        ("bw_bytes", Json::Whole(bytes_per_s)),
        ("bw", Json::Whole(bytes_per_s >> 10)),
        ("iops", Json::Number(side.ios_per_s())),
        ("runtime", Json::Whole(side.runtime_ms)),
        ("total_ios", Json::Whole(side.ios)),
        ("short_ios", Json::Whole(0)),
        ("drop_ios", Json::Whole(0)),
        ("slat_ns", slat),
        ("clat_ns", clat),
        ("lat_ns", lat),
        ("bw_min", Json::Whole(bandwidth.minimum as u64)),
        ("bw_max", Json::Whole(bandwidth.maximum as u64)),
        ("bw_agg", Json::Number(percent)),
        ("bw_mean", Json::Number(bandwidth.mean)),
        ("bw_dev", Json::Number(bandwidth.deviation)),
        ("bw_samples", Json::Whole(bandwidth.count)),
        ("iops_min", Json::Whole(rate.minimum as u64)),
        ("iops_max", Json::Whole(rate.maximum as u64)),
        ("iops_mean", Json::Number(rate.mean)),
        ("iops_stddev", Json::Number(rate.deviation)),
        ("iops_samples", Json::Whole(rate.count)),
    ])
}

fn no_latency() -> Json {
    moments(0, 0, 0.0, 0.0, 0)
}

fn moments(minimum: u64, maximum: u64, mean: f64, deviation: f64, count: u64) -> Json {
    Json::object([
        ("min", Json::Whole(minimum)),
        ("max", Json::Whole(maximum)),
        ("mean", Json::Number(mean)),
        ("stddev", Json::Number(deviation)),
        ("N", Json::Whole(count)),
    ])
}

fn times_of(times: &Times, percentiles: Option<&Vec<f64>>, bins: bool) -> Json {
    let all = &times.all;
    let mut json = moments(all.min(), all.max(), times.mean_ns, times.deviation_ns, all.len());
    let (Json::Object(entries), Some(percentiles)) = (&mut json, percentiles) else {
        return json;
    };
    let at = |percent: &f64| {
        let value = all.value_at_quantile(percent / 100.0).min(all.max());
        (format!("{percent:.6}"), Json::Whole(value))
    };
    let list = percentiles.iter().map(at).collect();
    entries.push(("percentile".to_owned(), Json::Object(list)));
    if bins {
        let bin = |it: hdrhistogram::iterators::IterationValue<u64>| {
            (it.value_iterated_to().to_string(), Json::Whole(it.count_at_value()))
        };
        let list = all.iter_recorded().map(bin).collect();
        entries.push(("bins".to_owned(), Json::Object(list)));
    }
    json
}

fn disk(disk: &DiskUse) -> Json {
    Json::object([
        ("name", Json::text(&disk.name)),
        ("read_ios", Json::Whole(disk.ios.0)),
        ("write_ios", Json::Whole(disk.ios.1)),
        ("read_merges", Json::Whole(disk.merges.0)),
        ("write_merges", Json::Whole(disk.merges.1)),
        ("read_ticks", Json::Whole(disk.ticks_ms.0)),
        ("write_ticks", Json::Whole(disk.ticks_ms.1)),
        ("in_queue", Json::Whole(disk.in_queue_ms)),
        ("util", Json::Number(disk.utilisation())),
    ])
}
