//! Reader of fio's JSON: converts to base units and checks the figures for consistency.
//!
//! `bw_bytes` is in B/s, `runtime` in ms, latencies in ns (fio's manual, "Output"); `bw` is in
//! KiB/s and not read. fio may print messages before the document, on the same stream.

mod document;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json_selection;
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ToolError, system_error_text};
pub(crate) use document::FIO_OPTIONS;
use document::FioDocument;

/// Maximum number of bytes of global options, which every group repeats, in all groups.
const MAX_REPEATED_BYTES: usize = 16 << 20;

/// Result of one run of fio: the totals of all jobs, reads and writes together.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FioResult {
    /// Version, like `3.33`.
    pub(crate) version: Option<String>,
    /// Number of completed I/Os.
    pub(crate) ios: u64,
    /// Rate in IO/s.
    pub(crate) rate_per_s: f64,
    /// Bandwidth in B/s.
    pub(crate) bytes_per_s: f64,
    /// Latency, if fio recorded it.
    pub(crate) latency: Option<FioLatency>,
    /// CPU seconds per I/O, user and system, if reported.
    pub(crate) cpu_per_io_s: Option<f64>,
    /// Message of the job that failed, and its error number (`errno`).
    pub(crate) failed: Option<(String, u64)>,
}

/// Latency from submission to completion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FioLatency {
    pub(crate) min_s: f64,
    pub(crate) median_s: f64,
    pub(crate) p99_s: f64,
    pub(crate) max_s: f64,
    pub(crate) mean_s: f64,
}

/// Tolerance of a rate that fio computed from whole milliseconds: 1 ms of 100 ms.
const RATE_TOLERANCE: f64 = 0.01;

impl FioResult {
    pub(crate) fn read(text: &str) -> Result<Self, ToolError> {
        let mut documents = read_documents(text)?;
        let Some(document) = documents.pop().filter(|_| documents.is_empty()) else {
            let what = format!("{} documents instead of one", documents.len() + 1);
            return Err(ToolError::Contradiction { what });
        };
        let mut sum = FioTotals::default();
        for group in document.groups {
            sum.add(group.sum);
        }
        sum.into_result(document.version)
    }
}

/// Group of jobs of a document: its options and its totals.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FioGroup {
    /// Name of its jobs.
    pub(crate) name: String,
    /// Options by name, as far as they are dimensions; those of the job override global ones.
    pub(crate) options: BTreeMap<String, String>,
    /// Number of entries that the document has for the group.
    pub(crate) entries: u64,
    /// Time at which it ended, in seconds since 1970.
    pub(crate) ended_s: Option<u64>,
    /// Totals of all its entries.
    pub(crate) result: FioResult,
}

/// Reads every group of every document in the text.
pub(crate) fn read_groups(text: &str) -> Result<Vec<FioGroup>, ToolError> {
    let mut groups = Vec::new();
    for document in read_documents(text)? {
        let global: usize = document.global_options.values().map(String::len).sum();
        let repeated = global.saturating_mul(document.groups.len());
        check_limit(repeated, ("bytes of options that jobs share", MAX_REPEATED_BYTES))?;
        for group in document.groups {
            let mut options = document.global_options.clone();
            options.extend(group.options);
            groups.push(FioGroup {
                name: group.name,
                options,
                entries: group.entries,
                ended_s: document.ended_s,
                result: group.sum.into_result(document.version.clone())?,
            });
        }
    }
    Ok(groups)
}

/// Parses every JSON document in the text. A second one with a damaged beginning is an error.
fn read_documents(text: &str) -> Result<Vec<FioDocument>, ToolError> {
    let mut documents = Vec::new();
    let mut rest = text;
    let mut groups = 0;
    while let Some(start) = find_document(rest) {
        let (document, end) = parse_document(&rest[start..])?;
        groups += document.groups.len();
        check_limit(groups, ("groups of jobs", MAX_MEASUREMENTS))?;
        documents.push(document);
        rest = &rest[start + end..];
    }
    if documents.is_empty() {
        return Err(missing("document"));
    }
    if let Some(part) = ["\"fio version\"", "\"jobs\""].into_iter().find(|it| rest.contains(it))
    {
        let what = format!("{part} follows the end of the document");
        return Err(ToolError::Contradiction { what });
    }
    Ok(documents)
}

/// Finds the next document: a brace at the beginning of a line.
fn find_document(text: &str) -> Option<usize> {
    let begins = |at: &usize| *at == 0 || text.as_bytes()[at - 1] == b'\n';
    text.match_indices('{').map(|(at, _)| at).find(begins)
}

/// Parses the document at the beginning of the text, and returns its length.
fn parse_document(text: &str) -> Result<(FioDocument, usize), ToolError> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<FioDocument>();
    match documents.next() {
        Some(Ok(document)) if !document.has_entries => Err(missing("jobs")),
        Some(Ok(FioDocument { refused: Some(error), .. })) => Err(error),
        Some(Ok(document)) if document.groups.is_empty() => Err(missing("jobs")),
        Some(Ok(document)) => Ok((document, documents.byte_offset())),
        Some(Err(error)) if !error.is_eof() => {
            let limit = json_selection::limit_error(&error, document::MAX_VALUES);
            Err(limit.unwrap_or_else(|| ToolError::Missing {
                what: format!("JSON: {error}"),
                place: "fio's output",
            }))
        }
        _ => {
            Err(ToolError::Truncated { missing: "the end of fio's JSON is missing".to_owned() })
        }
    }
}

#[derive(Debug, Default)]
struct FioTotals {
    ios: u64,
    rate_per_s: f64,
    bytes_per_s: f64,
    latency_ns: f64,
    /// Exact minimum and maximum; bins have only the resolution of their width.
    range_ns: Option<(f64, f64)>,
    bins: BTreeMap<u64, u64>,
    /// Number of directions (read, write) that had I/O, and the median and p99 that the last of
    /// them printed. Printed percentiles of several directions cannot be pooled.
    directions: u32,
    printed_ns: Option<(f64, f64)>,
    cpu_s: Option<f64>,
    failed: Option<(String, u64)>,
}

impl FioTotals {
    fn add_entry(&mut self, job: &Value) -> Result<(), ToolError> {
        let error = parse_whole(job, "error")?;
        if error != 0 {
            let name = job.get("jobname").and_then(Value::as_str).unwrap_or("a job");
            let many = job.get("total_err").and_then(Value::as_u64);
            let many = many.map_or(String::new(), |many| format!(", {many} in all"));
            let why = system_error_text(error);
            self.failed = Some((format!("{name} ended with {why}{many}"), error));
            return Ok(());
        }
        for way in ["read", "write"] {
            let side = job.get(way).ok_or_else(|| missing(way))?;
            self.add_direction(side)?;
        }
        let percent = parse_number(job, "usr_cpu")? + parse_number(job, "sys_cpu")?;
        // Older versions do not report the period that the percentage refers to.
        if let Some(runtime_ms) = job.get("job_runtime").and_then(Value::as_f64) {
            *self.cpu_s.get_or_insert(0.0) += percent / 100.0 * runtime_ms / 1e3;
        }
        Ok(())
    }

    fn add_direction(&mut self, side: &Value) -> Result<(), ToolError> {
        let ios = parse_whole(side, "total_ios")?;
        if ios == 0 {
            return Ok(());
        }
        let (rate, bandwidth) = (parse_number(side, "iops")?, parse_number(side, "bw_bytes")?);
        let seconds = parse_number(side, "runtime")? / 1e3;
        let bytes = parse_number(side, "io_bytes")?;
        check_rate("iops", rate, ios as f64, seconds)?;
        check_rate("bw_bytes", bandwidth, bytes, seconds)?;
        self.ios = self.ios.saturating_add(ios);
        self.rate_per_s += rate;
        self.bytes_per_s += bandwidth;
        let clat = side.get("clat_ns").ok_or_else(|| missing("clat_ns"))?;
        let count = parse_whole(clat, "N")?;
        self.latency_ns += parse_number(clat, "mean")? * count as f64;
        let (min, max) = (parse_number(clat, "min")?, parse_number(clat, "max")?);
        let known = self.range_ns.unwrap_or((min, max));
        self.range_ns = Some((known.0.min(min), known.1.max(max)));
        self.directions += 1;
        let printed = |name: &str| clat.pointer(&format!("/percentile/{name}"))?.as_f64();
        self.printed_ns = printed("50.000000").zip(printed("99.000000"));
        let bins = clat.get("bins").and_then(Value::as_object);
        for (latency_ns, count) in bins.into_iter().flatten() {
            let refused = || ToolError::InvalidNumber {
                what: "a bin of clat_ns".to_owned(),
                text: format!("{latency_ns}: {count}"),
            };
            let latency_ns: u64 = latency_ns.parse().map_err(|_| refused())?;
            let count = count.as_u64().ok_or_else(refused)?;
            let bin = self.bins.entry(latency_ns).or_default();
            *bin = bin.saturating_add(count);
        }
        Ok(())
    }

    /// Adds the totals of another group.
    fn add(&mut self, other: Self) {
        self.ios = self.ios.saturating_add(other.ios);
        self.rate_per_s += other.rate_per_s;
        self.bytes_per_s += other.bytes_per_s;
        self.latency_ns += other.latency_ns;
        let ranges = [self.range_ns, other.range_ns].into_iter().flatten();
        self.range_ns = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        for (latency_ns, count) in other.bins {
            let bin = self.bins.entry(latency_ns).or_default();
            *bin = bin.saturating_add(count);
        }
        self.directions += other.directions;
        self.printed_ns = other.printed_ns.or(self.printed_ns);
        if let Some(cpu_s) = other.cpu_s {
            *self.cpu_s.get_or_insert(0.0) += cpu_s;
        }
        self.failed = other.failed.or(self.failed.take());
    }

    fn into_result(self, version: Option<String>) -> Result<FioResult, ToolError> {
        if self.failed.is_none() && (self.ios == 0 || self.rate_per_s <= 0.0) {
            return Err(missing("completed I/O"));
        }
        let latency = self.latency();
        let cpu_per_io_s = self.cpu_s.map(|cpu_s| cpu_s / self.ios.max(1) as f64);
        Ok(FioResult {
            version,
            ios: self.ios,
            rate_per_s: self.rate_per_s,
            bytes_per_s: self.bytes_per_s,
            latency,
            cpu_per_io_s: cpu_per_io_s.filter(|seconds| *seconds > 0.0),
            failed: self.failed,
        })
    }

    fn latency(&self) -> Option<FioLatency> {
        let total: f64 = self.bins.values().map(|count| *count as f64).sum();
        let (min_s, max_s) = self.range_ns.map(|(min, max)| (min / 1e9, max / 1e9))?;
        let at = |share: f64| {
            let mut seen = 0.0;
            let found = self.bins.iter().find(|(_, count)| {
                seen += **count as f64;
                seen >= share * total
            });
            // A bin is represented by its middle, which may be beyond every value in it.
            found.map(|(latency_ns, _)| (*latency_ns as f64 / 1e9).max(min_s).min(max_s))
        };
        let printed = self.printed_ns.filter(|_| self.directions == 1);
        let (median_s, p99_s) = match printed.filter(|_| total <= 0.0) {
            Some((median, p99)) => (median / 1e9, p99 / 1e9),
            None => (at(0.5)?, at(0.99)?),
        };
        let total = if total > 0.0 { total } else { self.ios as f64 };
        let mean_s = self.latency_ns / total / 1e9;
        (total > 0.0 && median_s > 0.0 && mean_s.is_finite()).then_some(FioLatency {
            min_s,
            median_s,
            p99_s,
            max_s,
            mean_s,
        })
    }
}

/// Checks that `rate` is `amount` over `seconds`.
fn check_rate(what: &str, rate: f64, amount: f64, seconds: f64) -> Result<(), ToolError> {
    let expected = amount / seconds;
    if seconds > 0.0 && (rate - expected).abs() <= RATE_TOLERANCE * expected.max(1.0) {
        return Ok(());
    }
    Err(ToolError::Contradiction {
        what: format!("{what} {rate} is not {amount} in {seconds} s"),
    })
}

fn parse_number(of: &Value, name: &str) -> Result<f64, ToolError> {
    let value = of.get(name).ok_or_else(|| missing(name))?;
    value.as_f64().filter(|number| number.is_finite() && *number >= 0.0).ok_or_else(|| {
        ToolError::InvalidNumber { what: name.to_owned(), text: value.to_string() }
    })
}

fn parse_whole(of: &Value, name: &str) -> Result<u64, ToolError> {
    let value = of.get(name).ok_or_else(|| missing(name))?;
    let refused =
        || ToolError::InvalidNumber { what: name.to_owned(), text: value.to_string() };
    value.as_u64().ok_or_else(refused)
}

fn missing(what: &str) -> ToolError {
    ToolError::Missing { what: what.to_owned(), place: "fio's JSON" }
}
