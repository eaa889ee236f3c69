//! Expectations of a user in one TOML file: claims to reach, limits of data sheets, and gates.
//!
//! Parses only. `reference` compares results with claims and limits, `gate` judges by thresholds.

use std::collections::BTreeMap;
use std::ops::Range;

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, Better, Metric};
use assay_model::quantity::{self, Quantity, QuantityError, Unit};
use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

use crate::file_location::FileLocation;
use crate::gate::MetricGate;
use crate::reference::{Claim, ClaimTarget, DEFAULT_TOLERANCE, Qualifier, find_metric};

/// Expectations of one or several files.
#[derive(Debug, Clone, Default)]
pub struct Expectations {
    /// Figures to reach.
    pub claims: Vec<Claim>,
    /// Maximum values from the data sheet of a device.
    pub limits: Vec<Claim>,
    /// Thresholds that decide the exit code.
    pub gates: Vec<MetricGate>,
}

/// Results that a command judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedResults {
    /// Results of single runs, which have no change that `worse_by` could limit.
    SingleRuns,
    /// Two conditions, the second compared with the first.
    TwoConditions,
}

/// Error in a file of expectations.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExpectationError {
    /// The file is not valid TOML of expectations.
    #[error("line {}: {message}", .place.line)]
    Toml {
        /// Location in the file.
        place: FileLocation,
        /// Error message.
        message: String,
    },
    /// The file has no entry.
    #[error("the file has no [[claim]], [[limit]] or [[gate]]")]
    NoEntry,
    /// Error in one of its entries.
    #[error("line {}: {entry}: {wrong}", .place.line)]
    Entry {
        /// Location in the file.
        place: FileLocation,
        /// Entry of the file: `claim 1`.
        entry: String,
        /// Error in the entry.
        wrong: Box<EntryError>,
    },
}

impl ExpectationError {
    /// Returns the location of the error in the file.
    pub const fn place(&self) -> Option<&FileLocation> {
        match self {
            Self::Toml { place, .. } | Self::Entry { place, .. } => Some(place),
            Self::NoEntry => None,
        }
    }

    /// Returns the remedy.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Entry { wrong, .. } => wrong.advice(),
            Self::Toml { .. } | Self::NoEntry => SEE_EXAMPLE,
        }
    }
}

/// Advice where no single figure is wrong.
const SEE_EXAMPLE: &str = "see `assay help docs/references.md` for an example";

/// Error in an entry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EntryError {
    /// Unknown metric.
    #[error("there is no metric `{0}`, write it like memory.stream/triad")]
    Metric(String),
    /// Unknown dimension.
    #[error("there is no dimension `{0}`")]
    Dimension(String),
    /// Figure whose unit does not fit the metric.
    #[error(transparent)]
    Figure(QuantityError),
    /// Limit for a time or a cost.
    #[error("`{0}` cannot have a limit: it is better when it is lower")]
    NoLimit(String),
    /// Figure without a unit.
    #[error("`{text}` has no unit; write it like `{example}`")]
    NoUnit {
        /// Text of the figure.
        text: String,
        /// Unit of the metric, as an example.
        example: &'static str,
    },
    /// Gate without a threshold.
    #[error("it has no threshold: worse_by, at_least or at_most")]
    NoThreshold,
    /// Limit of a change where single runs are judged.
    #[error("`worse_by` needs two conditions")]
    NoChange,
}

impl EntryError {
    const fn advice(&self) -> &'static str {
        match self {
            Self::NoUnit { .. } => "write the figure with its unit: value = \"260 GB/s\"",
            Self::NoChange => {
                "use at_least or at_most, or judge a change by `assay compare A B --expect FILE`"
            }
            Self::NoLimit(_) => "write it as a gate with at_least or at_most",
            Self::Metric(_) => "`assay help methods` lists the metrics",
            Self::Dimension(_) | Self::Figure(_) | Self::NoThreshold => SEE_EXAMPLE,
        }
    }
}

/// Error of an entry with its span.
type SpannedError = (Range<usize>, EntryError);
/// Dimensions as written, with their spans.
type DimensionTable = BTreeMap<Spanned<String>, toml::Value>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectationFile {
    #[serde(default = "own_system")]
    system: String,
    #[serde(default)]
    claim: Vec<ClaimEntry>,
    #[serde(default)]
    limit: Vec<ClaimEntry>,
    #[serde(default)]
    gate: Vec<GateEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimEntry {
    metric: Spanned<String>,
    value: Spanned<String>,
    #[serde(default, rename = "where")]
    dimensions: DimensionTable,
    #[serde(default = "exactly")]
    qualifier: Qualifier,
    tolerance: Option<Spanned<String>>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    date: String,
    #[serde(default)]
    note: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GateEntry {
    metric: Spanned<String>,
    #[serde(default, rename = "where")]
    dimensions: DimensionTable,
    worse_by: Option<Spanned<String>>,
    at_least: Option<Spanned<String>>,
    at_most: Option<Spanned<String>>,
}

fn own_system() -> String {
    "own".to_owned()
}

const fn exactly() -> Qualifier {
    Qualifier::Exactly
}

impl Expectations {
    /// Parses a file of expectations.
    ///
    /// # Errors
    /// When the file is not valid TOML of expectations, has no entry, or has one without a known
    /// metric, dimension or unit; when it limits a change, but `judged` has none.
    pub fn parse(text: &str, judged: JudgedResults) -> Result<Self, ExpectationError> {
        let file: ExpectationFile = toml::from_str(text).map_err(|error| {
            let (place, message) = FileLocation::from_toml_error(text, &error);
            ExpectationError::Toml { place, message }
        })?;
        let ExpectationFile { system, claim, limit, gate } = file;
        if claim.is_empty() && limit.is_empty() && gate.is_empty() {
            return Err(ExpectationError::NoEntry);
        }
        let build_limit =
            |entry: ClaimEntry| check_limit(&entry).and_then(|()| build_claim(entry, &system));
        Ok(Self {
            claims: build_entries(text, ("claim", claim), |it| build_claim(it, &system))?,
            limits: build_entries(text, ("limit", limit), build_limit)?,
            gates: build_entries(text, ("gate", gate), |it| build_gate(it, judged))?,
        })
    }

    /// Adds the expectations of another file.
    pub fn append(&mut self, mut other: Self) {
        self.claims.append(&mut other.claims);
        self.limits.append(&mut other.limits);
        self.gates.append(&mut other.gates);
    }
}

/// Builds all entries of a kind; an error names the entry by its number, from 1.
fn build_entries<E, T>(
    text: &str,
    (kind, entries): (&str, Vec<E>),
    build: impl Fn(E) -> Result<T, SpannedError>,
) -> Result<Vec<T>, ExpectationError> {
    let build_one = |(number, entry): (usize, E)| {
        build(entry).map_err(|(span, wrong)| {
            let (place, entry) =
                (FileLocation::from_span(text, span), format!("{kind} {number}"));
            ExpectationError::Entry { place, entry, wrong: Box::new(wrong) }
        })
    };
    (1..).zip(entries).map(build_one).collect()
}

/// Rejects the limit of a time or a cost: a maximum of a device bounds a rate.
fn check_limit(entry: &ClaimEntry) -> Result<(), SpannedError> {
    let (_, metric) = parse_metric(&entry.metric)?;
    let refusal = || (entry.metric.span(), EntryError::NoLimit(entry.metric.get_ref().clone()));
    if metric.better == Better::Lower { Err(refusal()) } else { Ok(()) }
}

fn build_claim(entry: ClaimEntry, system: &str) -> Result<Claim, SpannedError> {
    let (benchmark, metric) = parse_metric(&entry.metric)?;
    let quantity = parse_figure(&entry.value, metric.unit)?;
    let tolerance = entry.tolerance.as_ref().map(parse_share).transpose()?;
    let dimensions = parse_dimensions(entry.dimensions)?;
    Ok(Claim {
        system: system.to_owned(),
        name: system.to_owned(),
        date: entry.date,
        source: entry.source,
        what: entry.metric.into_inner(),
        conditions: String::new(),
        quantity,
        printed: entry.value.into_inner(),
        qualifier: entry.qualifier,
        tolerance: tolerance.unwrap_or(DEFAULT_TOLERANCE),
        note: entry.note,
        of: Some(ClaimTarget { benchmark, metric, dimensions }),
        is_own: true,
    })
}

fn build_gate(entry: GateEntry, judged: JudgedResults) -> Result<MetricGate, SpannedError> {
    let GateEntry { metric: name, dimensions, worse_by, at_least, at_most } = entry;
    let (_, metric) = parse_metric(&name)?;
    if let (Some(change), JudgedResults::SingleRuns) = (&worse_by, judged) {
        return Err((change.span(), EntryError::NoChange));
    }
    let parse_value = |it: Spanned<String>| Ok(parse_figure(&it, metric.unit)?.value);
    let worse_by = worse_by.as_ref().map(parse_share).transpose()?;
    let at_least = at_least.map(parse_value).transpose()?;
    let at_most = at_most.map(parse_value).transpose()?;
    if worse_by.is_none() && at_least.is_none() && at_most.is_none() {
        return Err((name.span(), EntryError::NoThreshold));
    }
    let (unit, dimensions) = (metric.unit, parse_dimensions(dimensions)?);
    Ok(MetricGate { metric: name.into_inner(), unit, dimensions, worse_by, at_least, at_most })
}

fn parse_metric(name: &Spanned<String>) -> Result<(Benchmark, &'static Metric), SpannedError> {
    let unknown = || (name.span(), EntryError::Metric(name.get_ref().clone()));
    find_metric(name.get_ref()).ok_or_else(unknown)
}

/// Parses a figure, whose unit must be that of the metric.
fn parse_figure(figure: &Spanned<String>, unit: Unit) -> Result<Quantity, SpannedError> {
    let text = figure.get_ref();
    if lacks_unit(text, unit) {
        let error = EntryError::NoUnit { text: text.clone(), example: unit.symbol() };
        return Err((figure.span(), error));
    }
    Quantity::parse(&normalize_units(text), unit)
        .map_err(|error| (figure.span(), EntryError::Figure(error)))
}

fn parse_share(share: &Spanned<String>) -> Result<f64, SpannedError> {
    quantity::parse_share(share.get_ref())
        .map_err(|error| (share.span(), EntryError::Figure(error)))
}

fn parse_dimensions(table: DimensionTable) -> Result<Vec<(Attribute, String)>, SpannedError> {
    let parse_one = |(name, value): (Spanned<String>, toml::Value)| {
        let unknown = || (name.span(), EntryError::Dimension(name.get_ref().clone()));
        let attribute = Attribute::from_name(name.get_ref()).ok_or_else(unknown)?;
        Ok((attribute, dimension_text(&value)))
    };
    table.into_iter().map(parse_one).collect()
}

/// Returns whether a number lacks a unit that could have prefixes.
fn lacks_unit(text: &str, unit: Unit) -> bool {
    text.trim().ends_with(|c: char| c.is_ascii_digit())
        && !matches!(unit, Unit::Count | Unit::Ratio)
}

/// Returns a TOML value as text for the comparison with dimensions.
fn dimension_text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(flag) => flag.to_string(),
        toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => {
            String::new()
        }
    }
}

/// Normalizes common spellings: `300k IOPS`, `1 TFLOPS`.
fn normalize_units(text: &str) -> String {
    let text = text.replace("IOPS", "IO/s").replace("FLOPS", "FLOP/s");
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests;
