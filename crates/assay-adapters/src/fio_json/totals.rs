//! Sums of the jobs of a group, and the result that they make.

use std::collections::BTreeMap;

use serde_json::Value;

use super::direction::{DirectionLatency, FioDirection};
use super::{FioCounts, FioLatency, FioResult, missing, parse_number, parse_whole};
use crate::outputs::{ToolError, system_error_text};

/// Directions in the order of [`FioCounts`].
const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

#[derive(Debug, Default)]
pub(super) struct FioTotals {
    pub(super) counts: FioCounts,
    /// Rates by direction in IO/s, and bandwidths in B/s.
    rates_per_s: [f64; 4],
    bytes_per_s: [f64; 4],
    /// Latency by direction.
    latencies: Vec<(&'static str, DirectionLatency)>,
    cpu_s: Option<f64>,
    failed: Option<(String, u64)>,
    /// Reason why a job of the group could not be read.
    pub(super) refused: Option<ToolError>,
}

impl FioTotals {
    pub(super) fn add_entry(&mut self, job: &Value) -> Result<(), ToolError> {
        self.counts.entries += 1;
        let error = parse_whole(job, "error")?;
        if error != 0 {
            let name = job.get("jobname").and_then(Value::as_str).unwrap_or("a job");
            let many = job.get("total_err").and_then(Value::as_u64);
            let many = many.map_or(String::new(), |many| format!(", {many} in all"));
            let why = system_error_text(error);
            self.failed = Some((format!("{name} ended with {why}{many}"), error));
            return Ok(());
        }
        let mut directions = Vec::new();
        for name in DIRECTIONS {
            let side = match job.get(name) {
                Some(side) => FioDirection::parse(side)?,
                None if name == "read" && job.get("mixed").is_none() => {
                    return Err(missing(name));
                }
                None => None,
            };
            directions.extend(side.map(|side| (name, side)));
        }
        // The sum of all directions repeats what they contain; only its latency is new.
        let has_several = directions.len() > 1;
        let has_sum = directions.iter().any(|it| it.0 == "mixed") && has_several;
        for (name, side) in directions {
            let is_sum = name == "mixed";
            self.add_direction(name, side, (!has_sum || !is_sum, !has_sum || is_sum));
        }
        self.add_times(job)
    }

    fn add_direction(
        &mut self,
        name: &'static str,
        side: FioDirection,
        (counts, has_latency): (bool, bool),
    ) {
        if counts {
            let at = DIRECTIONS.iter().position(|it| *it == name).unwrap_or(0);
            self.counts.ios[at] = self.counts.ios[at].saturating_add(side.ios);
            self.counts.bytes[at] += side.bytes;
            self.rates_per_s[at] += side.rate_per_s;
            self.bytes_per_s[at] += side.bytes_per_s;
            self.counts.runtime_s = self.counts.runtime_s.max(side.runtime_s);
        }
        if let Some(latency) = side.latency.filter(|_| has_latency) {
            self.add_latency(name, latency);
        }
    }

    /// Adds a latency to that of the same direction of earlier jobs.
    fn add_latency(&mut self, name: &'static str, latency: DirectionLatency) {
        let Some((_, sum)) = self.latencies.iter_mut().find(|it| it.0 == name) else {
            self.latencies.push((name, latency));
            return;
        };
        sum.mean_ns = (sum.mean_ns * sum.count + latency.mean_ns * latency.count)
            / (sum.count + latency.count);
        sum.count += latency.count;
        sum.min_ns = sum.min_ns.min(latency.min_ns);
        sum.max_ns = sum.max_ns.max(latency.max_ns);
        // Bins can be added if every job has them.
        if sum.bins.is_empty() || latency.bins.is_empty() {
            sum.bins.clear();
        } else {
            for (latency_ns, count) in latency.bins {
                let bin = sum.bins.entry(latency_ns).or_default();
                *bin = bin.saturating_add(count);
            }
        }
        // Percentiles of several jobs cannot be added; their names remain.
        for (_, value) in &mut sum.percentiles {
            *value = f64::NAN;
        }
    }

    fn add_times(&mut self, job: &Value) -> Result<(), ToolError> {
        let percent = parse_number(job, "usr_cpu")? + parse_number(job, "sys_cpu")?;
        // Older versions do not report the period that the percentage refers to.
        if let Some(runtime_ms) = job.get("job_runtime").and_then(Value::as_f64) {
            *self.cpu_s.get_or_insert(0.0) += percent / 100.0 * runtime_ms / 1e3;
            self.counts.job_seconds += runtime_ms / 1e3;
        }
        let levels = job.get("iodepth_level").and_then(Value::as_object);
        for (level, share) in levels.into_iter().flatten() {
            let level = level.trim_start_matches(">=").parse::<u64>().ok();
            let level = level.filter(|_| share.as_f64().is_some_and(|share| share > 0.0));
            self.counts.deepest_level = self.counts.deepest_level.max(level);
        }
        let syncs = job.pointer("/sync/total_ios").and_then(Value::as_u64);
        self.counts.syncs = self.counts.syncs.saturating_add(syncs.unwrap_or(0));
        Ok(())
    }

    /// Adds the totals of another group.
    pub(super) fn add(&mut self, other: Self) {
        self.counts.add(&other.counts);
        for at in 0..DIRECTIONS.len() {
            self.rates_per_s[at] += other.rates_per_s[at];
            self.bytes_per_s[at] += other.bytes_per_s[at];
        }
        for (name, latency) in other.latencies {
            self.add_latency(name, latency);
        }
        if let Some(cpu_s) = other.cpu_s {
            *self.cpu_s.get_or_insert(0.0) += cpu_s;
        }
        self.failed = other.failed.or(self.failed.take());
        self.refused = other.refused.or(self.refused.take());
    }

    /// Returns the number of bins.
    pub(super) fn bin_count(&self) -> usize {
        self.latencies.iter().map(|(_, it)| it.bins.len()).sum()
    }

    /// Removes the reads, which only verified earlier writes, and returns their number.
    pub(super) fn remove_reads(&mut self) -> u64 {
        let reads = std::mem::take(&mut self.counts.ios[0]);
        self.counts.bytes[0] = 0.0;
        self.rates_per_s[0] = 0.0;
        self.bytes_per_s[0] = 0.0;
        self.latencies.retain(|(name, _)| *name != "read");
        reads
    }

    pub(super) fn into_result(self, version: Option<String>) -> Result<FioResult, ToolError> {
        if let Some(error) = self.refused {
            return Err(error);
        }
        let ios = self.counts.total_ios();
        let rate_per_s: f64 = self.rates_per_s.iter().sum();
        if self.failed.is_none() && (ios == 0 || rate_per_s <= 0.0) {
            return Err(missing("completed I/O"));
        }
        let latencies = convert_latencies(&self.latencies);
        let cpu_per_io_s = self.cpu_s.map(|cpu_s| cpu_s / ios.max(1) as f64);
        Ok(FioResult {
            version,
            ios,
            rate_per_s,
            bytes_per_s: self.bytes_per_s.iter().sum(),
            latencies,
            cpu_per_io_s: cpu_per_io_s.filter(|seconds| *seconds > 0.0),
            failed: self.failed,
        })
    }
}

/// Returns the latency of all I/O if its percentiles are known, otherwise that of each direction.
fn convert_latencies(latencies: &[(&'static str, DirectionLatency)]) -> Vec<FioLatency> {
    let has_bins = latencies.iter().all(|(_, it)| !it.bins.is_empty());
    match latencies {
        [] => vec![],
        several if has_bins => vec![merge_latencies(several)],
        [(_, only)] => vec![convert_latency(None, only)],
        several => several.iter().map(|(name, it)| convert_latency(Some(*name), it)).collect(),
    }
}

/// Computes percentiles of all I/O from the bins of all directions.
fn merge_latencies(several: &[(&'static str, DirectionLatency)]) -> FioLatency {
    let all = || several.iter().map(|(_, it)| it);
    let min_s = all().map(|it| it.min_ns).fold(f64::INFINITY, f64::min) / 1e9;
    let max_s = all().map(|it| it.max_ns).fold(0.0, f64::max) / 1e9;
    let sum_ns: f64 = all().map(|it| it.mean_ns * it.count).sum();
    let count: f64 = all().map(|it| it.count).sum();
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    for (latency_ns, count) in all().flat_map(|it| &it.bins) {
        let bin = bins.entry(*latency_ns).or_default();
        *bin = bin.saturating_add(*count);
    }
    let total: f64 = bins.values().map(|count| *count as f64).sum();
    let at = |percent: f64| {
        let mut seen = 0.0;
        let found = bins.iter().find(|(_, count)| {
            seen += **count as f64;
            seen >= percent / 100.0 * total
        });
        // A bin is represented by its middle, which may be beyond every value in it.
        found.map(|(latency_ns, _)| (*latency_ns as f64 / 1e9).max(min_s).min(max_s))
    };
    let mut percents: Vec<f64> =
        all().flat_map(|it| it.percentiles.iter().map(|(percent, _)| *percent)).collect();
    percents.push(99.0);
    let printed = percents.iter().filter(|percent| !is_median(**percent));
    FioLatency {
        operation: None,
        count: Some(count as u64),
        min_s,
        mean_s: sum_ns / count.max(1.0) / 1e9,
        max_s,
        median_s: at(50.0).filter(|it| *it > 0.0),
        percentiles: printed
            .filter_map(|percent| Some((format!("p{percent}"), at(*percent)?)))
            .collect(),
        missing: vec![],
    }
}

fn convert_latency(operation: Option<&'static str>, it: &DirectionLatency) -> FioLatency {
    let known = || it.percentiles.iter().filter(|(_, value)| value.is_finite());
    let median = known().find(|(percent, value)| is_median(*percent) && *value > 0.0);
    let names = it.percentiles.iter().filter(|(_, value)| !value.is_finite());
    FioLatency {
        operation,
        count: Some(it.count as u64),
        min_s: it.min_ns / 1e9,
        mean_s: it.mean_ns / 1e9,
        max_s: it.max_ns / 1e9,
        median_s: median.map(|(_, value)| value / 1e9),
        percentiles: known()
            .filter(|(percent, _)| median.is_none() || !is_median(*percent))
            .map(|(percent, value)| (format!("p{percent}"), value / 1e9))
            .collect(),
        missing: names.map(|(percent, _)| format!("p{percent}")).collect(),
    }
}

/// Whether a percentile is the median. fio prints six decimals.
fn is_median(percent: f64) -> bool {
    (percent - 50.0).abs() < 1e-6
}
