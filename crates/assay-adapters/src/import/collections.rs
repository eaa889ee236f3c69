//! Import of figures with their own units: `ReFrame`'s performance logs and Phoronix's XML.

use std::collections::BTreeMap;

use super::foreign::{foreign_measurement, to_base_unit};
use super::{
    FileContents, ImportFormat, ImportedMeasurement, MAX_NAME_BYTES, format, max_samples,
    missing,
};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::ToolError;

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
