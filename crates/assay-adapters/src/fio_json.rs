//! Reader of fio's JSON of versions 2.0 to 3.42: converts to base units and checks the figures for
//! consistency. fio may print messages before the document, on the same stream.

mod direction;
mod document;
mod totals;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json_selection;
use crate::limits::check_limit;
use crate::outputs::ToolError;
pub(crate) use document::FioOptionValues;
use document::{FioDocument, FioSum};
use totals::FioTotals;

/// Maximum number of bytes of global options, which every group repeats, in all groups.
const MAX_REPEATED_BYTES: usize = 16 << 20;

/// Result of one run of fio: the totals of all jobs and directions together.
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
    /// Latency of all I/O, or of each direction; empty if fio did not record it.
    pub(crate) latencies: Vec<FioLatency>,
    /// CPU seconds per I/O, user and system, if reported.
    pub(crate) cpu_per_io_s: Option<f64>,
    /// Message of the job that failed, and its error number (`errno`).
    pub(crate) failed: Option<(String, u64)>,
}

/// Latency from submission to completion.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FioLatency {
    /// Direction that it belongs to; `None` = all I/O.
    pub(crate) operation: Option<&'static str>,
    /// Number of values, if printed with them.
    pub(crate) count: Option<u64>,
    pub(crate) min_s: f64,
    pub(crate) mean_s: f64,
    pub(crate) max_s: f64,
    /// Median, if the percentiles contain it.
    pub(crate) median_s: Option<f64>,
    /// Other percentiles by name: `p99.9`.
    pub(crate) percentiles: BTreeMap<String, f64>,
    /// Names of percentiles that are printed for each job only.
    pub(crate) missing: Vec<String>,
}

/// Counts of a group, from which conditions follow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct FioCounts {
    /// Number of I/Os: reads, writes, trims, and I/O of unknown direction.
    pub(crate) ios: [u64; 4],
    /// Their bytes.
    pub(crate) bytes: [f64; 4],
    /// Number of entries in the file.
    pub(crate) entries: u64,
    /// Time of the longest direction in seconds.
    pub(crate) runtime_s: f64,
    /// Time of all jobs in seconds; 0 = not printed.
    pub(crate) job_seconds: f64,
    /// Lower end of the deepest level of `iodepth_level` that occurred.
    pub(crate) deepest_level: Option<u64>,
    /// Number of calls of fsync.
    pub(crate) syncs: u64,
}

impl FioCounts {
    /// Returns the number of I/Os of all directions.
    pub(crate) fn total_ios(&self) -> u64 {
        self.ios.iter().fold(0, |sum, ios| sum.saturating_add(*ios))
    }

    fn add(&mut self, other: &Self) {
        for at in 0..self.ios.len() {
            self.ios[at] = self.ios[at].saturating_add(other.ios[at]);
            self.bytes[at] += other.bytes[at];
        }
        self.entries += other.entries;
        self.runtime_s = self.runtime_s.max(other.runtime_s);
        self.job_seconds += other.job_seconds;
        self.deepest_level = self.deepest_level.max(other.deepest_level);
        self.syncs = self.syncs.saturating_add(other.syncs);
    }
}

impl FioResult {
    /// Reads the only document of an output, and adds up all its groups.
    pub(crate) fn read(text: &str) -> Result<Self, ToolError> {
        let begins = |at: &usize| *at == 0 || text.as_bytes()[at - 1] == b'\n';
        let start = text.match_indices('{').map(|(at, _)| at).find(begins);
        let start = start.ok_or_else(|| missing("document"))?;
        let (document, end) = parse_document(&text[start..])?;
        let rest = &text[start + end..];
        if let Some(part) = FILE_MARKS.into_iter().find(|it| rest.contains(it)) {
            let what = format!("{part} follows the end of the document");
            return Err(ToolError::Contradiction { what });
        }
        let mut sum = FioTotals::default();
        for group in document.groups {
            sum.add(group.sum);
        }
        sum.into_result(document.version)
    }
}

/// Members of every document.
const FILE_MARKS: [&str; 2] = ["\"fio version\"", "\"jobs\""];

/// Document of one run of fio.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FioRun {
    /// Time at which it was written, in milliseconds since 1970, and whether the file has
    /// milliseconds.
    pub(crate) ended_ms: Option<u64>,
    pub(crate) has_ms: bool,
    /// Groups of jobs with equal names and options, as fio itself sums them up.
    pub(crate) groups: Vec<FioGroup>,
}

/// Group of jobs of a document: its options and its totals.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FioGroup {
    /// Name of its jobs.
    pub(crate) name: String,
    /// Number of its group.
    pub(crate) number: u64,
    /// Client that ran it (`fio --client`).
    pub(crate) host: Option<String>,
    /// Options by name, as far as they are conditions; those of the job override global ones.
    pub(crate) options: FioOptionValues,
    /// Time at which it began, in seconds since 1970, if the file has it.
    pub(crate) began_s: Option<u64>,
    /// Counts of all its entries.
    pub(crate) counts: FioCounts,
    /// Reads that verified written data, which the result does not contain.
    pub(crate) verifying_reads: u64,
    /// Totals of all its entries.
    pub(crate) result: Result<FioResult, ToolError>,
}

/// Reads the document that a text contains.
pub(crate) fn read_run(text: &str) -> Result<FioRun, ToolError> {
    let (document, _) = parse_document(text)?;
    let global: usize = document.global_options.values().map(String::len).sum();
    let repeated = global.saturating_mul(document.groups.len());
    check_limit(repeated, ("bytes of options that jobs share", MAX_REPEATED_BYTES))?;
    let ended_ms = document.ended_ms.or(document.ended_s.map(|it| it.saturating_mul(1000)));
    let convert = |group: FioSum| {
        let mut options = document.global_options.clone();
        options.extend(group.options);
        let mut sum = group.sum;
        let verifying_reads = match verifies_only(&options) && sum.counts.ios[1] > 0 {
            true => sum.remove_reads(),
            false => 0,
        };
        FioGroup {
            name: group.name,
            number: group.number,
            host: group.host,
            options,
            began_s: group.began_s,
            counts: sum.counts,
            verifying_reads,
            result: sum.into_result(document.version.clone()),
        }
    };
    let has_ms = document.ended_ms.is_some();
    Ok(FioRun { ended_ms, has_ms, groups: document.groups.into_iter().map(convert).collect() })
}

/// Whether all reads of a job check its own writes.
fn verifies_only(options: &FioOptionValues) -> bool {
    let option = |name: &str| options.get(name).map(String::as_str);
    let way = option("rw").or_else(|| option("readwrite")).unwrap_or_default();
    let writes = ["write", "randwrite"].contains(&way.split(':').next().unwrap_or_default());
    writes && option("verify").is_some_and(|it| !["0", "none", "null"].contains(&it))
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
