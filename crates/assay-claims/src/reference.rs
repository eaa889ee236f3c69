//! References: published figures (claims), each with its source, date and qualifier.
//!
//! Conflicting claims are all kept. A suspect claim is reported, but does not affect a verdict.

use std::collections::BTreeSet;

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, Better, Metric};
use assay_model::limit::{LimitBasis, PhysicalLimit};
use assay_model::quantity::{Quantity, Unit};
use assay_model::spelling::nearest_word;
use assay_model::summary::MetricEstimate;
use serde::{Deserialize, Serialize};
use thiserror::Error;

mod claim_check;

pub use claim_check::{ClaimCheck, ClaimVerdict, check_claims};

/// Built-in table of published figures, with cells separated by tabs. The first cell of a line is
/// `=` for a system, `@` for date and source, `%` for workload and metric, otherwise the value of a
/// figure, followed by its unit, qualifier, conditions, dimensions and note.
const PUBLISHED: &str = include_str!("../data/references.tsv");

/// Default tolerance of a claim. The how-to of STREAM for the HB series (2026-02-24) calls a result
/// "excellent" from 95 % of the expected figure on.
pub const DEFAULT_TOLERANCE: f64 = 0.05;

/// Published figure.
#[derive(Debug, Clone, Serialize)]
pub struct Claim {
    /// Identifier of the system: `azure/hbv4`.
    pub system: String,
    /// Name of the system in the source, or a description.
    pub name: String,
    /// Date of publication: `2024-07-25`, or a part of that.
    pub date: String,
    /// Source of the figure.
    pub source: String,
    /// Workload and metric, in the source's words.
    pub what: String,
    /// Conditions of the measurement.
    pub conditions: String,
    /// Figure in its base unit.
    #[serde(flatten)]
    pub quantity: Quantity,
    /// Figure as printed.
    pub printed: String,
    /// Qualifier of the source.
    pub qualifier: Qualifier,
    /// Relative deviation for the worse with which a result still meets the claim.
    pub tolerance: f64,
    /// Doubts and remarks.
    pub note: String,
    /// Results of assay to which the claim applies; `None` if no metric corresponds.
    #[serde(skip)]
    pub of: Option<ClaimTarget>,
    /// Whether a file of the user has it, and not the table of published figures: the user expects
    /// a result for it.
    #[serde(skip)]
    pub is_own: bool,
}

/// Qualifier of a figure in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Qualifier {
    /// No qualifier.
    Exactly,
    /// Approximate value.
    About,
    /// Lower bound: a threshold, or the low end of a range.
    AtLeast,
    /// Upper bound: a threshold, or the high end of a range.
    AtMost,
    /// Best of many: the shortest time, or the highest rate.
    Best,
    Mean,
    /// Calculated, not measured.
    Derived,
}

impl Qualifier {
    /// Returns the word before the figure; empty if there is none.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exactly => "",
            Self::About => "about",
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
            Self::Best => "best",
            Self::Mean => "mean",
            Self::Derived => "calculated",
        }
    }
}

/// Result to which a claim applies.
#[derive(Debug, Clone)]
pub struct ClaimTarget {
    /// Benchmark of the result.
    pub benchmark: Benchmark,
    /// Metric of the benchmark.
    pub metric: &'static Metric,
    /// Dimensions that the result must have.
    pub dimensions: Vec<(Attribute, String)>,
}

/// Name of a system without published figures.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no reference `{name}`{}", did_you_mean(.near))]
pub struct UnknownSystem {
    /// Requested name.
    pub name: String,
    /// Most similar known name.
    pub near: Option<String>,
}

fn did_you_mean(near: &Option<String>) -> String {
    near.as_ref().map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

impl Claim {
    /// Returns whether its source contradicts itself or a physical law. A suspect claim is
    /// reported, but does not affect a verdict.
    pub fn is_suspect(&self) -> bool {
        self.note.starts_with("SUSPECT")
    }

    /// Returns number and unit as printed, `26.89` and `GB/s`; `None` if it is not a plain number.
    pub fn as_printed(&self) -> Option<(&str, &str)> {
        let printed = self.printed.trim();
        let is_number_char = |c: char| c.is_ascii_digit() || c == '.';
        let end = printed.find(|c| !is_number_char(c)).unwrap_or(printed.len());
        let (number, unit) = (&printed[..end], printed[end..].trim_start());
        let is_known = UNITS
            .iter()
            .any(|(name, unit_of, _)| *name == unit && *unit_of == self.quantity.unit);
        (is_known && number.parse::<f64>().is_ok()).then_some((number, unit))
    }

    /// Returns whether a figure meets the claim; `None` if the claim cannot decide. The best of
    /// many and the high end of a range of rates are no minimum that a figure could miss.
    pub fn is_met_by(&self, value: f64, better: Better) -> Option<bool> {
        let is_threshold = match (self.qualifier, better) {
            (Qualifier::Exactly | Qualifier::About | Qualifier::Mean, _) => false,
            (Qualifier::AtLeast, Better::Higher) | (Qualifier::AtMost, Better::Lower) => true,
            _ => return None,
        };
        if self.is_suspect() {
            return None;
        }
        let tolerance = if is_threshold { 0.0 } else { self.tolerance };
        Some(match better {
            Better::Higher => value >= self.quantity.value * (1.0 - tolerance),
            Better::Lower => value <= self.quantity.value * (1.0 + tolerance),
        })
    }
}

/// Returns every published figure of the program.
pub fn published_claims() -> Vec<Claim> {
    let (mut system, mut name, mut date, mut source) = ("", "", "", "");
    let (mut workload, mut metric, mut target_metric) = ("", "", None);
    let mut claims = Vec::new();
    for line in PUBLISHED.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |index: usize| cells.get(index).copied().unwrap_or_default();
        match cell(0) {
            "=" => (system, name) = (cell(1), cell(2)),
            "@" => (date, source) = (cell(1), cell(2)),
            "%" => {
                (workload, metric) = (cell(1), cell(2));
                target_metric = find_metric(cell(3));
            }
            value => {
                let (unit, factor) = source_unit(cell(1));
                let value: f64 = value.parse().unwrap_or(f64::NAN);
                let dimensions = parse_dimensions(cell(4));
                claims.push(Claim {
                    system: system.to_owned(),
                    name: name.to_owned(),
                    date: date.to_owned(),
                    source: source.to_owned(),
                    what: format!("{workload}, {}", metric.replace('_', " ")),
                    conditions: cell(3).to_owned(),
                    quantity: Quantity::new(value * factor, unit),
                    printed: format!("{} {}", cell(0), cell(1)),
                    qualifier: parse_qualifier(cell(2)),
                    tolerance: DEFAULT_TOLERANCE,
                    note: cell(5).to_owned(),
                    of: target_metric.map(|(benchmark, metric)| ClaimTarget {
                        benchmark,
                        metric,
                        dimensions,
                    }),
                    is_own: false,
                });
            }
        }
    }
    claims
}

/// Finds a metric by its path: `memory.stream/triad`.
pub(crate) fn find_metric(text: &str) -> Option<(Benchmark, &'static Metric)> {
    let (benchmark, metric) = text.rsplit_once('/')?;
    let benchmark = Benchmark::from_id(benchmark)?;
    Some((benchmark, benchmark.metric(metric)?))
}

/// Parses dimensions of the built-in file: `operation=read bytes=4096`. Unknown ones are ignored.
fn parse_dimensions(text: &str) -> Vec<(Attribute, String)> {
    let pairs = text.split(' ').filter_map(|pair| pair.split_once('='));
    pairs
        .filter_map(|(name, value)| Some((Attribute::from_name(name)?, value.to_owned())))
        .collect()
}

/// Units as printed by sources, with their base unit and factor.
const UNITS: [(&str, Unit, f64); 13] = [
    ("us", Unit::Second, 1e-6),
    ("ms", Unit::Second, 1e-3),
    ("s", Unit::Second, 1.0),
    ("MB/s", Unit::BytePerSecond, 1e6),
    ("GB/s", Unit::BytePerSecond, 1e9),
    ("MiB/s", Unit::BytePerSecond, 1_048_576.0),
    ("GiB/s", Unit::BytePerSecond, 1_073_741_824.0),
    ("Gbit/s", Unit::BitPerSecond, 1e9),
    ("IOPS", Unit::IoPerSecond, 1.0),
    ("GFLOP/s", Unit::FlopPerSecond, 1e9),
    ("TFLOP/s", Unit::FlopPerSecond, 1e12),
    ("TiB", Unit::Byte, 1_099_511_627_776.0),
    ("%", Unit::Ratio, 0.01),
];

/// Returns the base unit and the factor of a unit as printed by sources.
fn source_unit(name: &str) -> (Unit, f64) {
    let row = UNITS.iter().find(|(printed, _, _)| *printed == name);
    row.map_or((Unit::Count, 1.0), |(_, unit, factor)| (*unit, *factor))
}

fn parse_qualifier(name: &str) -> Qualifier {
    match name {
        "approx" => Qualifier::About,
        "min" => Qualifier::AtLeast,
        "max" => Qualifier::AtMost,
        "best" => Qualifier::Best,
        "mean" => Qualifier::Mean,
        "derived" => Qualifier::Derived,
        _ => Qualifier::Exactly,
    }
}

/// Returns the system of a machine by the product name in its firmware or by its cloud size:
/// `Amazon EC2 c5n.18xlarge`, `Standard_HB120rs_v3`. Only whole words with letters and digits
/// match, because words such as `Machine` are not specific.
pub fn find_system(product: &str) -> Option<String> {
    let normalise = |word: &str| word.trim_start_matches("Standard_").to_ascii_lowercase();
    let is_name = |word: &String| {
        let has_char = |predicate: fn(char) -> bool| word.chars().any(predicate);
        has_char(|c| c.is_ascii_digit()) && has_char(|c| c.is_ascii_alphabetic())
    };
    let words: Vec<String> =
        product.split_whitespace().map(normalise).filter(is_name).collect();
    published_claims().into_iter().find_map(|claim| {
        // Systems such as `aws/c5n.18xlarge/rhel8` are variants of one type.
        let type_path: Vec<&str> = claim.system.split('/').take(2).collect();
        let product_name = claim.name.split([' ', '(']).nth(1).unwrap_or_default();
        let names =
            [type_path.get(1).copied().unwrap_or_default(), product_name].map(normalise);
        words.iter().any(|word| names.contains(word)).then(|| type_path.join("/"))
    })
}

/// Returns the full name of a system, like `azure/hbv4` for `hbv4`; `None` for an unknown or
/// ambiguous name.
pub fn full_system_name(name: &str) -> Option<String> {
    let wanted = name.to_ascii_lowercase();
    let type_name = |claim: &Claim| -> Option<String> {
        let mut parts = claim.system.split('/');
        let (vendor, model) = (parts.next()?, parts.next()?);
        let is_wanted = model == wanted || format!("{vendor}/{model}") == wanted;
        is_wanted.then(|| format!("{vendor}/{model}"))
    };
    let names: BTreeSet<String> = published_claims().iter().filter_map(type_name).collect();
    let mut names = names.into_iter();
    names.next().filter(|_| names.next().is_none())
}

/// Minimum number of bytes of a part of a name that is answered with a name.
const MIN_PART_BYTES: usize = 4;

/// Returns the published figures of one system, by its full name or an unambiguous model.
///
/// # Errors
/// When the system is unknown; the error contains the most similar name.
pub fn claims_for_system(name: &str) -> Result<Vec<Claim>, UnknownSystem> {
    let full_name = if name.contains('/') { None } else { full_system_name(name) };
    let wanted = full_name.unwrap_or_else(|| name.to_ascii_lowercase());
    let mut all = published_claims();
    let variant_prefix = format!("{wanted}/");
    let is_wanted =
        |claim: &Claim| claim.system == wanted || claim.system.starts_with(&variant_prefix);
    if !all.iter().any(is_wanted) {
        let (suffix, names) =
            (format!("/{wanted}"), || all.iter().map(|it| it.system.as_str()));
        let nearest = || {
            nearest_word(&wanted, names()).or_else(|| names().find(|it| it.ends_with(&suffix)))
        };
        // Users may type the product after the vendor: `azure/HB120rs_v3`.
        let by_product = wanted.rsplit('/').next().and_then(find_system);
        let containing = || {
            let is_long = wanted.len() >= MIN_PART_BYTES;
            names().find(|it| is_long && it.contains(&wanted))
        };
        let near = by_product.or_else(|| nearest().or_else(containing).map(str::to_owned));
        let name = name.to_owned();
        return Err(UnknownSystem { name, near });
    }
    all.retain(is_wanted);
    Ok(all)
}

/// Returns the lowest data-sheet limit that applies to a result. A limit applies to a device of one
/// host, unless it names `host` for a total of several.
pub fn data_sheet_limit(estimate: &MetricEstimate, sheet: &[Claim]) -> Option<PhysicalLimit> {
    let applicable = sheet.iter().filter(|limit| limits_result(limit, estimate));
    let lowest = applicable.min_by(|a, b| a.quantity.value.total_cmp(&b.quantity.value))?;
    let parts = [lowest.source.as_str(), lowest.date.as_str()];
    let nonempty: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let source = if nonempty.is_empty() { lowest.system.clone() } else { nonempty.join(", ") };
    Some(PhysicalLimit {
        value: lowest.quantity.value,
        basis: LimitBasis::DataSheet { source },
    })
}

/// Whether a limit applies to a result.
pub(crate) fn limits_result(limit: &Claim, estimate: &MetricEstimate) -> bool {
    let target = limit.of.as_ref();
    let names_host = target.is_some_and(|target| names_dimension(target, Attribute::Host));
    applies_to(limit, estimate) && (names_host || !estimate.spans_hosts())
}

fn names_dimension(target: &ClaimTarget, wanted: Attribute) -> bool {
    target.dimensions.iter().any(|(name, _)| *name == wanted)
}

/// Whether a claim is about the metric and the dimensions of a result.
pub(crate) fn applies_to(claim: &Claim, estimate: &MetricEstimate) -> bool {
    let Some(target) = &claim.of else { return false };
    target.benchmark.id() == estimate.benchmark
        && target.metric.name == estimate.metric
        && has_dimensions(estimate, &target.dimensions)
}

/// Returns whether a result has these dimensions.
pub(crate) fn has_dimensions(
    estimate: &MetricEstimate,
    dimensions: &[(Attribute, String)],
) -> bool {
    dimensions.iter().all(|(name, wanted)| {
        estimate.parameters.get(name).is_some_and(|value| value.is_denoted_by(wanted))
    })
}

#[cfg(test)]
mod tests;
