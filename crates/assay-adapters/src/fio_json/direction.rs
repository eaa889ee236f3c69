//! One direction of a job: reads, writes, trims, or all of them as `mixed`.
//!
//! Since 3.0 `io_bytes` is in bytes and times are in ns (`clat_ns`); before, `io_bytes` was in KiB
//! and times in µs (`clat`). `N` exists since 3.18, `bw_bytes` since 3.2.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{missing, parse_number, parse_whole};
use crate::outputs::ToolError;

/// Tolerance of a rate that fio computed from whole milliseconds: 1 ms of 100 ms.
const RATE_TOLERANCE: f64 = 0.01;

/// Figures of one direction of one job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FioDirection {
    pub(super) ios: u64,
    pub(super) bytes: f64,
    pub(super) rate_per_s: f64,
    pub(super) bytes_per_s: f64,
    pub(super) runtime_s: f64,
    /// Latency, if fio recorded it.
    pub(super) latency: Option<DirectionLatency>,
}

/// Latency of one direction in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DirectionLatency {
    pub(super) count: f64,
    pub(super) mean_ns: f64,
    pub(super) min_ns: f64,
    pub(super) max_ns: f64,
    /// Printed percentiles: percent and nanoseconds.
    pub(super) percentiles: Vec<(f64, f64)>,
    /// Number of I/O by latency in nanoseconds (`json+`).
    pub(super) bins: BTreeMap<u64, u64>,
}

impl FioDirection {
    /// Parses a direction; `None` if it had no I/O.
    pub(super) fn parse(side: &Value) -> Result<Option<Self>, ToolError> {
        let printed = side.get("total_ios").map(|_| parse_whole(side, "total_ios"));
        if let Some(Ok(0)) = printed {
            return Ok(None);
        }
        let runtime_s = parse_number(side, "runtime")? / 1e3;
        let rate_per_s = parse_number(side, "iops")?;
        let ios = match printed {
            Some(ios) => ios?,
            // Before 2.1 fio printed the rate alone.
            None => (rate_per_s * runtime_s).round() as u64,
        };
        if ios == 0 {
            return Ok(None);
        }
        let bytes = parse_bytes(side, runtime_s)?;
        let bytes_per_s = match side.get("bw_bytes") {
            Some(_) => parse_number(side, "bw_bytes")?,
            None if runtime_s > 0.0 => bytes / runtime_s,
            None => return Err(missing("runtime")),
        };
        check_rate("iops", rate_per_s, ios as f64, runtime_s)?;
        check_rate("bw_bytes", bytes_per_s, bytes, runtime_s)?;
        let latency = parse_latency(side, ios)?;
        Ok(Some(Self { ios, bytes, rate_per_s, bytes_per_s, runtime_s, latency }))
    }
}

/// Parses the transferred bytes. Before 3.0 `io_bytes` is in KiB; the bandwidth, which is always in
/// KiB/s, decides.
fn parse_bytes(side: &Value, runtime_s: f64) -> Result<f64, ToolError> {
    let amount = parse_number(side, "io_bytes")?;
    if side.get("io_kbytes").is_some() || side.get("bw_bytes").is_some() {
        return Ok(amount);
    }
    let kib = parse_number(side, "bw")? * runtime_s;
    // The two readings differ by 1024; half way, as a ratio, is 32.
    Ok(if amount > kib * 32.0 { amount } else { amount * 1024.0 })
}

/// Checks that `rate` is `amount` over `seconds`; older versions cut the fraction off.
fn check_rate(what: &str, rate: f64, amount: f64, seconds: f64) -> Result<(), ToolError> {
    let expected = amount / seconds;
    let tolerance = (RATE_TOLERANCE * expected).max(1.0);
    if seconds > 0.0 && (rate - expected).abs() <= tolerance {
        return Ok(());
    }
    Err(ToolError::Contradiction {
        what: format!("{what} {rate} is not {amount} in {seconds} s"),
    })
}

/// Parses the completion latency; the total latency if that alone has percentiles, or was recorded.
fn parse_latency(side: &Value, ios: u64) -> Result<Option<DirectionLatency>, ToolError> {
    let completion = parse_one_latency(side, "clat", ios)?;
    if completion.as_ref().is_some_and(|it| !it.percentiles.is_empty()) {
        return Ok(completion);
    }
    let total = parse_one_latency(side, "lat", ios)?;
    let is_better = total.as_ref().is_some_and(|it| !it.percentiles.is_empty());
    Ok(if is_better { total } else { completion.or(total) })
}

fn parse_one_latency(
    side: &Value,
    name: &str,
    ios: u64,
) -> Result<Option<DirectionLatency>, ToolError> {
    let nanoseconds = side.get(format!("{name}_ns")).map(|it| (it, 1.0));
    let microseconds = || side.get(name).map(|it| (it, 1e3));
    let Some((latency, unit_ns)) = nanoseconds.or_else(microseconds) else { return Ok(None) };
    let count = match latency.get("N") {
        Some(_) => parse_whole(latency, "N")?,
        None => ios,
    };
    let number = |name: &str| Ok(parse_number(latency, name)? * unit_ns);
    let (mean_ns, min_ns, max_ns) = (number("mean")?, number("min")?, number("max")?);
    if count == 0 || (mean_ns <= 0.0 && max_ns <= 0.0) {
        return Ok(None);
    }
    Ok(Some(DirectionLatency {
        count: count as f64,
        mean_ns,
        min_ns,
        max_ns,
        percentiles: parse_percentiles(latency, unit_ns)?,
        bins: parse_bins(latency)?,
    }))
}

fn parse_percentiles(latency: &Value, unit_ns: f64) -> Result<Vec<(f64, f64)>, ToolError> {
    let mut found = Vec::new();
    let printed = latency.get("percentile").and_then(Value::as_object);
    for (percent, value) in printed.into_iter().flatten() {
        let refused = || ToolError::InvalidNumber {
            what: "a percentile of latency".to_owned(),
            text: format!("{percent}: {value}"),
        };
        let percent: f64 = percent.parse().map_err(|_| refused())?;
        let value = value.as_f64().filter(|it| *it >= 0.0).ok_or_else(refused)?;
        // Unused places of the list have the percentile 0.
        if percent > 0.0 && percent <= 100.0 {
            found.push((percent, value * unit_ns));
        }
    }
    Ok(found)
}

fn parse_bins(latency: &Value) -> Result<BTreeMap<u64, u64>, ToolError> {
    let mut found = BTreeMap::new();
    let bins = latency.get("bins").and_then(Value::as_object);
    for (latency_ns, count) in bins.into_iter().flatten() {
        let refused = || ToolError::InvalidNumber {
            what: "a bin of clat_ns".to_owned(),
            text: format!("{latency_ns}: {count}"),
        };
        let latency_ns: u64 = latency_ns.parse().map_err(|_| refused())?;
        found.insert(latency_ns, count.as_u64().ok_or_else(refused)?);
    }
    Ok(found)
}
