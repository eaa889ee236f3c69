//! Import of figures with their own units: `ReFrame`'s performance logs and Phoronix's XML.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;

use super::{
    FileContents, ImportFormat, ImportedMeasurement, MAX_NAME_BYTES, format, max_samples,
    missing,
};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative, parse_number};

/// Formats of this family.
pub(super) const FORMATS: &[ImportFormat] = &[
    format(
        "phoronix-xml",
        "phoronix",
        "Phoronix Test Suite, composite.xml",
        is_phoronix,
        |text| read_phoronix(text).map(FileContents::from),
    ),
    format("reframe", "reframe", "ReFrame's performance log", is_reframe, |text| {
        read_reframe(text).map(FileContents::from)
    }),
];

/// Meaning of a unit: the metric of either direction, and the factor to the base unit.
struct UnitMeaning {
    higher: Option<&'static str>,
    lower: Option<&'static str>,
    factor: f64,
}

/// Parses a unit. `Gb/s` (bits) and `GB/s` (bytes) are different, as printed.
fn parse_unit(name: &str) -> Option<UnitMeaning> {
    let higher =
        |metric, factor| Some(UnitMeaning { higher: Some(metric), lower: None, factor });
    let time = |factor| Some(UnitMeaning { higher: None, lower: Some("time"), factor });
    let name = name.trim();
    let name =
        name.strip_suffix("/sec").map_or_else(|| name.to_owned(), |it| format!("{it}/s"));
    let small = name.to_ascii_lowercase();
    match small.as_str() {
        "s" | "sec" | "second" | "seconds" => return time(1.0),
        "ms" | "milliseconds" => return time(1e-3),
        "us" | "µs" | "μs" | "usec" | "microseconds" => return time(1e-6),
        "ns" | "nanoseconds" => return time(1e-9),
        "%" | "percent" => return higher("share", 0.01),
        "iops" => return higher("io_rate", 1.0),
        "kiops" => return higher("io_rate", 1e3),
        _ => {}
    }
    let prefixes = [("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12), ("p", 1e15)];
    let binary = [("Ki", 1024f64), ("Mi", 1024f64.powi(2)), ("Gi", 1024f64.powi(3))];
    for (prefix, factor) in binary {
        if name.strip_prefix(prefix) == Some("B/s") {
            return higher("bandwidth", factor);
        }
    }
    for (prefix, factor) in prefixes {
        let Some(rest) = name.get(..prefix.len()).filter(|it| it.eq_ignore_ascii_case(prefix))
        else {
            continue;
        };
        let kinds = [
            (&["B/s"][..], "bandwidth"),
            (&["bit/s", "b/s", "bits/s", "bps"][..], "bit_rate"),
            (&["FLOP/s", "FLOPS", "flops", "Flop/s", "Flops", "flop/s"][..], "flop_rate"),
            (&["IO/s", "IOPS"][..], "io_rate"),
        ];
        let found = kinds.into_iter().find(|(words, _)| words.contains(&&name[rest.len()..]));
        if let Some((_, metric)) = found {
            return higher(metric, factor);
        }
    }
    None
}

/// Returns the metric of a figure and its value in base units; a figure with an unknown unit
/// becomes a score.
///
/// # Errors
/// If the text is not a number, or is negative with a known unit: −1 marks a failed measurement.
fn to_base_unit(
    name: &str,
    (what, text): (&str, &str),
    lower_is_better: Option<bool>,
) -> Result<Option<(&'static str, f64)>, ToolError> {
    let score = UnitMeaning { higher: Some("score"), lower: Some("penalty"), factor: 1.0 };
    let (known, value) = match parse_unit(name) {
        Some(known) => (known, parse_non_negative(what, text)?),
        None => (score, parse_number(what, text)?),
    };
    let metric = match lower_is_better {
        Some(true) => known.lower,
        Some(false) => known.higher,
        None => known.higher.or(known.lower),
    };
    Ok(metric.map(|metric| (metric, value * known.factor)))
}

fn foreign_measurement(
    test: &str,
    metric: &'static str,
    samples: Vec<f64>,
) -> ImportedMeasurement {
    let mut parsed = ParsedOutput::default();
    parsed.add_samples(metric, samples);
    ImportedMeasurement {
        name: test.to_owned(),
        benchmark: Benchmark::Foreign,
        dimensions: Attributes::from([(Attribute::Test, test.into())]),
        system: None,
        began: None,
        lines: None,
        parsed,
    }
}

/// Maximum number of columns of `ReFrame`'s log; each variable looks for its own among them.
const MAX_COLUMNS: usize = 1000;

pub(super) fn is_reframe(text: &str) -> bool {
    let heading = text.lines().next().unwrap_or_default();
    heading.split('|').any(|name| name.ends_with("_value")) && heading.contains("_unit")
}

/// Reads one measurement for each performance variable of each test; every row is one run of it.
pub(super) fn read_reframe(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let names: Vec<&str> = lines.next().unwrap_or_default().split('|').collect();
    check_limit(names.len(), ("columns", MAX_COLUMNS))?;
    let at = |name: &str| names.iter().position(|it| *it == name);
    let reported: Vec<usize> = ["name", "descr", "testname", "system", "partition", "environ"]
        .iter()
        .filter_map(|name| at(name))
        .collect();
    let variables = names.iter().filter_map(|name| name.strip_suffix("_value"));
    let variables: Vec<(&str, Option<usize>, Option<usize>)> = variables
        .map(|name| (name, at(&format!("{name}_value")), at(&format!("{name}_unit"))))
        .collect();
    let mut count = 0;
    let mut samples: BTreeMap<(String, &'static str), Vec<f64>> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split('|').collect();
        // A repeated heading has other columns, so that the rows below cannot be read.
        if cells.len() != names.len() {
            let missing = format!("a row has {} of {} columns", cells.len(), names.len());
            return Err(ToolError::Truncated { missing });
        }
        let test: Vec<&str> =
            reported.iter().map(|at| cells[*at]).filter(|it| !it.is_empty()).collect();
        for (name, value, unit) in &variables {
            let value = value.map_or("", |at| cells[at]);
            if matches!(value, "" | "null" | "None") {
                continue;
            }
            let unit = unit.map_or("", |at| cells[at]);
            let placed = to_base_unit(unit, (name, value), None)?;
            let (metric, value) = placed.ok_or_else(|| missing("direction of a figure"))?;
            let unknown = if metric == "score" && !unit.is_empty() {
                format!(" [{unit}]")
            } else {
                String::new()
            };
            let test = format!("{} {name}{unknown}", test.join(" ")).trim().to_owned();
            check_limit(test.len(), ("bytes in the name of a test", MAX_NAME_BYTES))?;
            count += 1;
            check_limit(count, ("samples", max_samples(text)))?;
            samples.entry((test, metric)).or_default().push(value);
            check_limit(samples.len(), ("performance variables", MAX_MEASUREMENTS))?;
        }
    }
    Ok(samples
        .into_iter()
        .map(|((test, metric), values)| foreign_measurement(&test, metric, values))
        .collect())
}

pub(super) fn is_phoronix(text: &str) -> bool {
    text.contains("<PhoronixTestSuite")
}

/// Reads one measurement for each result and system; the raw values are the samples.
pub(super) fn read_phoronix(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    check_marks(text)?;
    let options = roxmltree::ParsingOptions {
        nodes_limit: MAX_NODES,
        ..roxmltree::ParsingOptions::default()
    };
    let document = roxmltree::Document::parse_with_options(text, options).map_err(|error| {
        ToolError::Missing { what: format!("XML: {error}"), place: "the file" }
    })?;
    let results = document.descendants().filter(|node| node.has_tag_name("Result"));
    let mut all = Vec::new();
    for result in results {
        let reported = |name: &str| {
            let child = result.children().find(|node| node.has_tag_name(name));
            child.and_then(|node| node.text()).unwrap_or_default().trim().to_owned()
        };
        let lower = match reported("Proportion").as_str() {
            "LIB" => Some(true),
            "HIB" => Some(false),
            _ => None,
        };
        let (title, description, scale) =
            (reported("Title"), reported("Description"), reported("Scale"));
        let test = format!("{title} {description}");
        check_limit(test.len() + scale.len(), ("bytes in the name of a test", MAX_NAME_BYTES))?;
        let data = result.children().filter(|node| node.has_tag_name("Data"));
        let entries = data.flat_map(|data| data.children());
        for entry in entries.filter(|node| node.has_tag_name("Entry")) {
            all.extend(read_entry(entry, &test, &scale, lower)?);
            check_limit(all.len(), ("results", MAX_MEASUREMENTS))?;
        }
    }
    Ok(all)
}

/// Maximum number of nodes and of attributes of an XML file, 70 to 80 bytes each: a composite of
/// some thousand results.
const MAX_NODES: u32 = 250_000;
/// Maximum number of attributes of one element: each is compared with the others. Phoronix writes
/// none.
const MAX_ATTRIBUTES: usize = 100;

/// Refuses an XML file by its marks, before a tree of it is built.
fn check_marks(text: &str) -> Result<(), ToolError> {
    let limit = MAX_NODES as usize;
    check_limit(text.matches('<').count(), ("tags", limit))?;
    check_limit(text.matches('=').count(), ("attributes", limit))?;
    check_limit(text.matches("xmlns").count(), ("namespaces", MAX_ATTRIBUTES))?;
    let tags = text.split('<').skip(1).filter(|tag| tag.starts_with(is_name_start));
    let most = tags.map(count_attributes).max();
    check_limit(most.unwrap_or(0), ("attributes in one element", MAX_ATTRIBUTES))
}

/// Counts the attributes of the tag at the beginning of a text. Values may contain `>`.
fn count_attributes(tag: &str) -> usize {
    let (mut count, mut quote) = (0, None);
    for letter in tag.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '=') => count += 1,
            (None, '>') => break,
            (None, _) => {}
        }
    }
    count
}

fn is_name_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_' || letter == ':'
}

fn read_entry(
    entry: roxmltree::Node<'_, '_>,
    test: &str,
    scale: &str,
    lower: Option<bool>,
) -> Result<Option<ImportedMeasurement>, ToolError> {
    let reported = |name: &str| {
        let child = entry.children().find(|node| node.has_tag_name(name));
        child.and_then(|node| node.text()).unwrap_or_default().trim()
    };
    let (raw, value) = (reported("RawString"), reported("Value"));
    let texts = if raw.is_empty() { value } else { raw };
    let mut samples = Vec::new();
    let mut placed = None;
    for text in texts.split(':').filter(|text| !text.is_empty()) {
        let Some((metric, value)) = to_base_unit(scale, ("a value", text), lower)? else {
            return Ok(None);
        };
        placed = Some(metric);
        samples.push(value);
    }
    let Some(metric) = placed else { return Ok(None) };
    let unknown = matches!(metric, "score" | "penalty") && !scale.is_empty();
    let test =
        if unknown { format!("{} [{scale}]", test.trim()) } else { test.trim().to_owned() };
    let system = Some(reported("Identifier").to_owned()).filter(|name| !name.is_empty());
    Ok(Some(ImportedMeasurement { system, ..foreign_measurement(&test, metric, samples) }))
}
