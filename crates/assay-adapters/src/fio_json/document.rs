//! Reader of one JSON document of fio, job by job: only the sums of a group stay in memory.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::Value;

use super::missing;
use super::totals::FioTotals;
use crate::json_selection::JsonSelection;
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::ToolError;

/// Maximum number of values of one job. fio has 1856 bins for each direction
/// (`FIO_IO_U_PLAT_NR` in stat.h).
pub(super) const MAX_VALUES: usize = 20_000;
/// Maximum number of bins of all groups of a document together; each takes about 32 bytes.
const MAX_BINS: usize = 1_000_000;
/// Maximum length of an option in bytes: a path (`PATH_MAX`).
const MAX_OPTION_BYTES: usize = 4096;
/// Members of a job that are read.
const MEMBERS: [&str; 35] = [
    "jobname",
    "groupid",
    "job_start",
    "hostname",
    "port",
    "error",
    "total_err",
    "job options",
    "read",
    "write",
    "trim",
    "mixed",
    "sync",
    "usr_cpu",
    "sys_cpu",
    "job_runtime",
    "iodepth_level",
    "total_ios",
    "iops",
    "bw",
    "bw_bytes",
    "runtime",
    "io_bytes",
    "io_kbytes",
    "clat",
    "clat_ns",
    "lat",
    "lat_ns",
    "N",
    "mean",
    "min",
    "max",
    "percentile",
    "bins",
    "fio version",
];
/// Members whose names are numbers are kept whole: percentiles, bins and levels of the queue.
const WHOLE_MEMBERS: [&str; 3] = ["percentile", "bins", "iodepth_level"];
/// Options that are conditions of a result, or decide the meaning of its figures.
const FIO_OPTIONS: [&str; 23] = [
    "rw",
    "readwrite",
    "numjobs",
    "iodepth",
    "rwmixread",
    "rwmixwrite",
    "bs",
    "blocksize",
    "bssplit",
    "bsrange",
    "blocksize_range",
    "ioengine",
    "filename",
    "direct",
    "buffered",
    "verify",
    "size",
    "runtime",
    "loops",
    "io_size",
    "number_ios",
    "group_reporting",
    "rate_iops",
];

/// Name that `fio --client` gives the sum of all clients (client.c).
const ALL_CLIENTS: &str = "All clients";

/// Options by name.
pub(crate) type FioOptionValues = BTreeMap<String, String>;

/// Document, with the sums of its groups.
#[derive(Debug, Default)]
pub(super) struct FioDocument {
    /// Version, like `3.33`.
    pub(super) version: Option<String>,
    /// Time at which it was written, in seconds and in milliseconds since 1970.
    pub(super) ended_s: Option<u64>,
    pub(super) ended_ms: Option<u64>,
    /// Options of all jobs.
    pub(super) global_options: FioOptionValues,
    /// Groups in the order of their first job.
    pub(super) groups: Vec<FioSum>,
    /// Whether it has a list of jobs.
    pub(super) has_entries: bool,
    /// Reason to refuse it.
    pub(super) refused: Option<ToolError>,
    positions: HashMap<GroupKey, usize>,
    bins: usize,
}

/// Sums of a group of jobs.
#[derive(Debug)]
pub(super) struct FioSum {
    pub(super) name: String,
    pub(super) number: u64,
    pub(super) host: Option<String>,
    pub(super) began_s: Option<u64>,
    pub(super) options: FioOptionValues,
    pub(super) sum: FioTotals,
}

/// Number and name of a group, its options, and the client that ran it.
#[derive(Debug, Clone)]
struct GroupKey {
    number: u64,
    name: String,
    options: FioOptionValues,
    client: Option<(String, u64)>,
}

impl PartialEq for GroupKey {
    fn eq(&self, other: &Self) -> bool {
        #[cfg(test)]
        tests::COMPARISONS.set(tests::COMPARISONS.get() + 1);
        self.number == other.number
            && self.name == other.name
            && self.options == other.options
            && self.client == other.client
    }
}

impl Eq for GroupKey {}

impl Hash for GroupKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.number, &self.name, &self.options, &self.client).hash(state);
    }
}

impl FioDocument {
    fn add_entry(&mut self, job: &Value) -> Result<(), ToolError> {
        let name = job.get("jobname").and_then(Value::as_str).unwrap_or("job");
        let number = job.get("groupid").and_then(Value::as_u64).unwrap_or(0);
        let options = read_options(job.get("job options"))?;
        let text = |name: &str| job.get(name).and_then(Value::as_str).map(str::to_owned);
        // The sum of all clients repeats the last client's name.
        let host = text("hostname").filter(|_| name != ALL_CLIENTS);
        let port = job.get("port").and_then(Value::as_u64).unwrap_or(0);
        let client = host.clone().map(|host| (host, port));
        let key = GroupKey { number, name: name.to_owned(), options, client };
        let next = self.groups.len();
        let options = key.options.clone();
        let at = *self.positions.entry(key).or_insert(next);
        if at == next {
            check_limit(next + 1, ("groups of jobs", MAX_MEASUREMENTS))?;
            let began_ms = job.get("job_start").and_then(Value::as_u64);
            self.groups.push(FioSum {
                name: name.to_owned(),
                number,
                host,
                began_s: began_ms.filter(|it| *it > 0).map(|it| it / 1000),
                options,
                sum: FioTotals::default(),
            });
        }
        let group = &mut self.groups[at];
        self.bins -= group.sum.bin_count();
        if let Err(error) = group.sum.add_entry(job) {
            group.sum.refused = Some(error);
        }
        self.bins += group.sum.bin_count();
        check_limit(self.bins, ("bins of latency in all groups", MAX_BINS))
    }

    fn read_global_options(&mut self, of: &Value) {
        match read_options(Some(of)) {
            Ok(options) => self.global_options = options,
            Err(error) => self.refused = Some(error),
        }
    }
}

fn read_options(of: Option<&Value>) -> Result<FioOptionValues, ToolError> {
    let mut options = FioOptionValues::new();
    for name in FIO_OPTIONS {
        let value = of.and_then(|of| of.get(name)).and_then(Value::as_str);
        let Some(value) = value else { continue };
        check_limit(value.len(), ("bytes in an option of a job", MAX_OPTION_BYTES))?;
        options.insert(name.to_owned(), value.to_owned());
    }
    Ok(options)
}

impl<'de> Deserialize<'de> for FioDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = FioDocument;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fio's document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<FioDocument, A::Error> {
        let mut document = FioDocument::default();
        while let Some(name) = members.next_key::<String>()? {
            let left = Cell::new(MAX_VALUES);
            let options = JsonSelection::new(&FIO_OPTIONS, &[], (MAX_VALUES, &left));
            match name.as_str() {
                "fio version" => {
                    let version = members.next_value_seed(options)?;
                    let version =
                        version.as_str().map(|it| it.strip_prefix("fio-").unwrap_or(it));
                    document.version = version.map(|it| it.chars().take(64).collect());
                }
                "timestamp_ms" => {
                    document.ended_ms = members.next_value_seed(options)?.as_u64();
                }
                "timestamp" => document.ended_s = members.next_value_seed(options)?.as_u64(),
                "global options" => {
                    document.read_global_options(&members.next_value_seed(options)?);
                }
                "jobs" | "client_stats" if document.has_entries => {
                    return Err(de::Error::custom("a second list of jobs"));
                }
                "jobs" | "client_stats" => {
                    document.has_entries = true;
                    members.next_value_seed(EntryList { document: &mut document })?;
                }
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(document)
    }
}

/// Reader of the list of jobs.
struct EntryList<'d> {
    document: &'d mut FioDocument,
}

impl<'de> DeserializeSeed<'de> for EntryList<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for EntryList<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fio's list of jobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let names = [&MEMBERS[..], &FIO_OPTIONS[..]].concat();
        loop {
            // After a refusal the rest is read only to find the end of a truncated document.
            if self.document.refused.is_some() {
                match items.next_element::<IgnoredAny>()? {
                    Some(_) => continue,
                    None => return Ok(()),
                }
            }
            let left = Cell::new(MAX_VALUES);
            let selection = JsonSelection::new(&names, &WHOLE_MEMBERS, (MAX_VALUES, &left));
            let Some(job) = items.next_element_seed(selection)? else { return Ok(()) };
            let added = match job.is_object() {
                true => self.document.add_entry(&job),
                false => Err(missing("job")),
            };
            self.document.refused = added.err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        /// Number of comparisons of keys.
        pub(super) static COMPARISONS: Cell<usize> = const { Cell::new(0) };
    }

    /// Returns the number of comparisons that reading `jobs` groups takes.
    fn count_comparisons(jobs: usize) -> usize {
        let job = |at: usize| format!("{{\"jobname\":\"{at}\",\"error\":1}}");
        let jobs: Vec<String> = (0..jobs).map(job).collect();
        COMPARISONS.set(0);
        let text = format!("{{\"jobs\":[{}]}}", jobs.join(","));
        let document: FioDocument = serde_json::from_str(&text).unwrap();
        assert_eq!((document.groups.len(), document.refused), (jobs.len(), None));
        COMPARISONS.get()
    }

    /// Twice as many groups take twice as many comparisons, not four times.
    #[test]
    fn comparisons_grow_with_number_of_groups() {
        let (half, whole) = (count_comparisons(1200), count_comparisons(2400));
        // Without any order among the hashes, few keys collide.
        assert!(whole <= 2 * half.max(1200), "{half} {whole}");
    }
}
