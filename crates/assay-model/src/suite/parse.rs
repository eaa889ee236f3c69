//! Parser of suite files. Every error points at its position in the text and suggests a correction.

use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{
    InstructionSets, LinpackSize, MAX_MATRIX_MEMORY_SHARE, Measure, MeasureRequest,
    NetworkProtocol, Placement, Suite, SuiteSource,
};
use crate::benchmark::{Benchmark, SuiteSettings};
use crate::quantity::{self, Bytes, Quantity, Unit};
use crate::spelling::nearest_word;

mod command;
mod factorial;
mod files;
mod io500;
mod mpi;
mod network;
mod rdma;
mod storage;

pub use factorial::parse_factorial_suite;
pub use network::{UNLIMITED, parse_busy_poll_us};

/// Error in a suite text, with its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SuiteError {
    /// The problem.
    pub message: String,
    /// Byte range in the text.
    pub span: Range<usize>,
    /// Suggested correction.
    pub help: Option<String>,
}

const SUITE_KEYS: &[&str] = &["name", "title", "budget", "measure", "factor", "blocks"];
const MEASURE_KEYS: &[&str] = &["benchmark", "by", "share", "interval", "optional"];

const HELP: &str = "see `assay help suites`";

type Value<'a> = Spanned<DeValue<'a>>;

/// Parses a suite from TOML.
///
/// # Errors
/// If the text is not TOML, has an unknown key or value, or lacks a required key.
pub fn parse_suite(text: &str) -> Result<Suite, SuiteError> {
    let root = parse_root(text)?;
    if let Some(factors) = root.get_ref().get(factorial::FACTOR) {
        let help =
            "measure it with `assay run`, on its own, on this machine and without --switch";
        return Err(error_at(
            factors,
            "a suite with factors is several suites",
            Some(help.into()),
        ));
    }
    read_suite(&root, text)
}

fn parse_root(text: &str) -> Result<Spanned<DeTable<'_>>, SuiteError> {
    DeTable::parse(text).map_err(|error| SuiteError {
        message: format!("not TOML: {}", error.message()),
        span: error.span().unwrap_or(0..0),
        help: None,
    })
}

/// Reads a suite from its table; `text` is its whole text.
fn read_suite(root: &Spanned<DeTable<'_>>, text: &str) -> Result<Suite, SuiteError> {
    let table = Table { span: root.span(), table: root.get_ref(), keys: vec![SUITE_KEYS] };
    table.check_keys()?;
    if table.table.is_empty() {
        return Err(SuiteError {
            message: "the file is empty".to_owned(),
            span: 0..0,
            help: Some(HELP.to_owned()),
        });
    }
    let measures = table.require("measure")?;
    let DeValue::Array(list) = measures.get_ref() else {
        return Err(error_at(measures, "`measure` must be written `[[measure]]`", None));
    };
    let whole: Arc<str> = text.into();
    let measures =
        list.iter().map(|value| measure(value, &whole)).collect::<Result<Vec<_>, _>>()?;
    if measures.is_empty() {
        return Err(error_at(table.require("measure")?, "the suite has no measures", None));
    }
    Ok(Suite {
        name: table.required("name", text_value)?,
        title: table.optional("title", text_value)?.unwrap_or_default(),
        budget_s: table.optional("budget", seconds)?.unwrap_or(600.0),
        measures,
    })
}

fn measure(value: &Value<'_>, whole: &Arc<str>) -> Result<Measure, SuiteError> {
    let DeValue::Table(inner) = value.get_ref() else {
        return Err(error_at(value, "a measure must be a table", None));
    };
    let mut table = Table { span: value.span(), table: inner, keys: vec![MEASURE_KEYS] };
    let benchmark = table.required("benchmark", benchmark)?;
    table.keys.push(request_keys(benchmark.definition().settings));
    table.check_keys()?;
    Ok(Measure {
        by: table.optional("by", list_of(text_value))?.unwrap_or_default(),
        share: table.optional("share", share)?.unwrap_or(1.0),
        target: table
            .optional("interval", ratio("interval", 1.0))?
            .unwrap_or(benchmark.definition().target),
        optional: table.optional("optional", storage::flag)?.unwrap_or(false),
        request: request(benchmark, &table)?,
        origin: Some(SuiteSource {
            file: String::new(),
            text: Arc::clone(whole),
            heading: value.span(),
            keys: table.present_keys(),
        }),
    })
}

const fn request_keys(asks: SuiteSettings) -> &'static [&'static str] {
    match asks {
        SuiteSettings::Nothing => &[],
        SuiteSettings::Stream => &["placement", "threads", "array-size"],
        SuiteSettings::Ladder => &["from", "to"],
        SuiteSettings::LoadedLatency => &["to", "array-size"],
        SuiteSettings::PeakFlops => &["placement", "threads", "instruction-sets"],
        SuiteSettings::Linpack => &["n", "memory", "threads", "blas"],
        SuiteSettings::Tcp | SuiteSettings::Udp => &[
            "to",
            "port",
            "measures",
            "streams",
            "direction",
            "seconds",
            "copy",
            "segmentation",
            "rate",
            "congestion",
            "message-size",
            "spin",
            "messages-per-second",
            "load-streams",
            "busy-poll",
        ],
        SuiteSettings::Icmp => &["to", "message-size"],
        SuiteSettings::Storage => storage::KEYS,
        SuiteSettings::Files => files::KEYS,
        SuiteSettings::Io500 => io500::KEYS,
        SuiteSettings::Mpi => &["placement", "ranks", "from", "to"],
        SuiteSettings::Rdma => rdma::KEYS,
        SuiteSettings::Command => command::KEYS,
    }
}

fn request(benchmark: Benchmark, table: &Table<'_>) -> Result<MeasureRequest, SuiteError> {
    let placements = || {
        let given = table.optional("placement", list_of(parse_text::<Placement>))?;
        Ok(given.unwrap_or_else(|| vec![Placement::Node]))
    };
    match benchmark {
        Benchmark::Mpi(test) => return mpi::request(test, table),
        Benchmark::Rdma(test) => return rdma::request(test, table),
        Benchmark::MemoryStream
        | Benchmark::MemoryLatency
        | Benchmark::MemoryCopy
        | Benchmark::CacheBandwidth
        | Benchmark::CoreToCore
        | Benchmark::LoadedLatency
        | Benchmark::PeakFlops
        | Benchmark::Linpack
        | Benchmark::NetworkTcp
        | Benchmark::NetworkUdp
        | Benchmark::NetworkIcmp
        | Benchmark::Storage
        | Benchmark::StorageFiles
        | Benchmark::Io500
        | Benchmark::Command
        | Benchmark::Foreign => {}
    }
    Ok(match benchmark.definition().settings {
        SuiteSettings::Nothing | SuiteSettings::Mpi | SuiteSettings::Rdma => {
            MeasureRequest::Machine(benchmark)
        }
        SuiteSettings::Stream => MeasureRequest::Stream {
            placements: placements()?,
            threads: table.optional("threads", count)?,
            bytes: table.optional("array-size", size)?,
        },
        SuiteSettings::Ladder => {
            let from = table.optional("from", size)?.unwrap_or(Bytes::kib(4));
            let to = table.optional("to", size)?;
            if benchmark == Benchmark::CacheBandwidth {
                MeasureRequest::CacheBandwidth { from, to }
            } else {
                MeasureRequest::Latency { from, to }
            }
        }
        SuiteSettings::LoadedLatency => MeasureRequest::LoadedLatency {
            to: table.optional("to", size)?,
            bytes: table.optional("array-size", size)?,
        },
        SuiteSettings::PeakFlops => MeasureRequest::PeakFlops {
            placements: placements()?,
            threads: table.optional("threads", count)?,
            instruction_sets: table
                .optional("instruction-sets", instruction_sets)?
                .unwrap_or(InstructionSets::Widest),
        },
        SuiteSettings::Linpack => MeasureRequest::Linpack {
            size: linpack_size(table)?,
            threads: table.optional("threads", count)?,
            blas: table.optional("blas", text_value)?,
        },
        SuiteSettings::Tcp => network::request(NetworkProtocol::Tcp, table)?,
        SuiteSettings::Udp => network::request(NetworkProtocol::Udp, table)?,
        SuiteSettings::Icmp => network::request(NetworkProtocol::Icmp, table)?,
        SuiteSettings::Storage => storage::request(table)?,
        SuiteSettings::Files => files::request(table)?,
        SuiteSettings::Io500 => io500::request(table)?,
        SuiteSettings::Command => command::request(table)?,
    })
}

fn linpack_size(table: &Table<'_>) -> Result<LinpackSize, SuiteError> {
    let memory = table.optional("memory", ratio("memory", MAX_MATRIX_MEMORY_SHARE))?;
    let n = table.optional("n", |value| count(value).map(u64::from))?;
    match (n, memory) {
        (Some(_), Some(_)) => {
            let place = table.require("memory")?;
            Err(error_at(place, "`n` and `memory` exclude each other", None))
        }
        (Some(n), None) => Ok(LinpackSize::Equations(n)),
        (None, Some(share)) => Ok(LinpackSize::Memory(share)),
        (None, None) => Ok(LinpackSize::Budget),
    }
}

/// A table with its permitted keys.
struct Table<'a> {
    span: Range<usize>,
    table: &'a DeTable<'a>,
    keys: Vec<&'static [&'static str]>,
}

impl<'a> Table<'a> {
    fn check_keys(&self) -> Result<(), SuiteError> {
        let known: Vec<&str> = self.keys.iter().copied().flatten().copied().collect();
        for key in self.table.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                return Err(SuiteError {
                    message: format!("unknown key `{name}`"),
                    span: key.span(),
                    help: Some(suggest(name, &known)),
                });
            }
        }
        Ok(())
    }

    /// Returns the value of a key, with the byte range of both.
    fn find_entry(&self, key: &str) -> Option<(Range<usize>, &'a Value<'a>)> {
        let found = self.table.iter().find(|(name, _)| name.get_ref() == key);
        found.map(|(name, value)| (name.span().start..value.span().end, value))
    }

    /// Returns the present keys with their byte ranges.
    fn present_keys(&self) -> Vec<(&'static str, Range<usize>)> {
        let known = self.keys.iter().copied().flatten().copied();
        known.filter_map(|key| Some((key, self.find_entry(key)?.0))).collect()
    }

    fn get(&self, key: &str) -> Option<&'a Value<'a>> {
        self.find_entry(key).map(|(_, value)| value)
    }

    fn require(&self, key: &str) -> Result<&'a Value<'a>, SuiteError> {
        self.get(key).ok_or_else(|| SuiteError {
            message: format!("`{key}` is missing"),
            span: self.span.clone(),
            help: Some(match key {
                "name" => "add a line like `name = \"nightly\"`".to_owned(),
                _ => HELP.to_owned(),
            }),
        })
    }

    fn required<T>(
        &self,
        key: &str,
        read: impl Fn(&Value<'_>) -> ParseResult<T>,
    ) -> ParseResult<T> {
        read(self.require(key)?)
    }

    fn optional<T>(
        &self,
        key: &str,
        read: impl Fn(&Value<'_>) -> ParseResult<T>,
    ) -> ParseResult<Option<T>> {
        self.get(key).map(read).transpose()
    }
}

type ParseResult<T> = Result<T, SuiteError>;

fn error_at(value: &Value<'_>, message: impl Into<String>, help: Option<String>) -> SuiteError {
    SuiteError { message: message.into(), span: value.span(), help }
}

/// Suggests the nearest known word, or lists all if none is near.
pub fn suggest(word: &str, known: &[&str]) -> String {
    match nearest_word(word, known.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("expected one of: {}", known.join(", ")),
    }
}

fn text_value(value: &Value<'_>) -> ParseResult<String> {
    value
        .get_ref()
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| error_at(value, "expected a text in quotes", None))
}

fn benchmark(value: &Value<'_>) -> ParseResult<Benchmark> {
    let id = text_value(value)?;
    let known = Benchmark::ALL.map(Benchmark::id);
    Benchmark::from_id(&id).ok_or_else(|| {
        error_at(value, format!("unknown benchmark `{id}`"), Some(suggest(&id, &known)))
    })
}

fn instruction_sets(value: &Value<'_>) -> ParseResult<InstructionSets> {
    match text_value(value)?.as_str() {
        "widest" => Ok(InstructionSets::Widest),
        "every" => Ok(InstructionSets::Every),
        other => {
            let help = Some(suggest(other, &["widest", "every"]));
            Err(error_at(value, format!("unknown choice `{other}`"), help))
        }
    }
}

fn parse_text<T: FromStr<Err: ToString>>(value: &Value<'_>) -> ParseResult<T> {
    text_value(value)?.parse().map_err(|error: T::Err| error_at(value, error.to_string(), None))
}

fn size(value: &Value<'_>) -> ParseResult<Bytes> {
    match number(value) {
        Some(_) => {
            Err(error_at(value, "a size needs its unit", Some("like `\"64MiB\"`".into())))
        }
        None => parse_text(value),
    }
}

fn seconds(value: &Value<'_>) -> ParseResult<f64> {
    if number(value).is_some() {
        return Err(error_at(value, "a time needs its unit", Some("like `\"60s\"`".into())));
    }
    let read = Quantity::parse(&text_value(value)?, Unit::Second);
    let seconds = read.map_err(|error| error_at(value, error.to_string(), None))?.value;
    if seconds > 0.0 && seconds <= quantity::MAX_DURATION_S {
        Ok(seconds)
    } else {
        Err(error_at(value, "a time must be more than zero and at most a year", None))
    }
}

/// Parses the weight of a time share. Larger numbers are probably meant as another unit.
fn share(value: &Value<'_>) -> ParseResult<f64> {
    const MOST: f64 = 1000.0;
    let share = positive(value)?;
    let is_weight = (1.0 / MOST..=MOST).contains(&share);
    is_weight
        .then_some(share)
        .ok_or_else(|| error_at(value, "`share` must be between 0.001 and 1000", None))
}

/// Returns a parser of shares, with or without quotes, as on the command line: `"80%"`, `80` and
/// `0.8` are equal.
fn ratio(key: &'static str, most: f64) -> impl Fn(&Value<'_>) -> ParseResult<f64> {
    move |value| {
        let text = number(value).map_or_else(|| text_value(value), |it| Ok(it.to_string()))?;
        let ratio = quantity::parse_share(&text)
            .map_err(|error| error_at(value, error.to_string(), None))?;
        let is_within = ratio > 0.0 && ratio <= most;
        is_within.then_some(ratio).ok_or_else(|| {
            let most = most * 100.0;
            error_at(value, format!("`{key}` must be above 0 % and at most {most} %"), None)
        })
    }
}

fn positive(value: &Value<'_>) -> ParseResult<f64> {
    number(value)
        .filter(|number| *number > 0.0 && number.is_finite())
        .ok_or_else(|| error_at(value, "expected a number above zero", None))
}

fn count(value: &Value<'_>) -> ParseResult<u32> {
    number(value)
        .filter(|number| *number >= 1.0 && number.fract() <= 0.0 && *number <= 4e9)
        .map(|number| number as u32)
        .ok_or_else(|| error_at(value, "expected a whole number of at least 1", None))
}

fn number(value: &Value<'_>) -> Option<f64> {
    match value.get_ref() {
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|n| n as f64)
        }
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    }
}

/// Returns a parser of a single value or a list, without duplicates.
fn list_of<T: PartialEq>(
    read: impl Fn(&Value<'_>) -> ParseResult<T>,
) -> impl Fn(&Value<'_>) -> ParseResult<Vec<T>> {
    move |value| match value.get_ref() {
        DeValue::Array(list) if list.is_empty() => {
            Err(error_at(value, "the list is empty", None))
        }
        DeValue::Array(list) => {
            let mut read_so_far = Vec::new();
            for value in list {
                let one = read(value)?;
                if !read_so_far.contains(&one) {
                    read_so_far.push(one);
                }
            }
            Ok(read_so_far)
        }
        _ => Ok(vec![read(value)?]),
    }
}
