//! Import of the Phoronix Test Suite's composite.xml. One file may hold several documents.

use std::collections::HashMap;

use super::super::contents::LineSpan;
use super::super::foreign::{foreign_measurement, to_base_unit};
use super::super::{FileContents, FileTime, ImportedMeasurement, MAX_NAME_BYTES, missing};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ToolError, parse_number};

pub(super) fn is_phoronix(text: &str) -> bool {
    text.contains("<PhoronixTestSuite")
}

/// Reads one measurement for each result and system; the raw values are the samples.
pub(super) fn read_phoronix(text: &str) -> Result<FileContents, ToolError> {
    check_marks(text)?;
    let mut contents = FileContents::default();
    let documents = split_xml(text);
    for (first_line, document) in &documents {
        let last_line = first_line + document.trim_end().matches('\n').count();
        let read = read_document(document, first_line - 1, &mut contents);
        if let Err(error) = read {
            if documents.len() == 1 {
                return Err(error);
            }
            contents.add_part(Some(*first_line..=last_line), "document", Err(error));
        }
    }
    Ok(contents)
}

/// Splits a file at the declarations of XML, with the first line of each document.
fn split_xml(text: &str) -> Vec<(usize, &str)> {
    let starts: Vec<usize> = text.match_indices("<?xml").map(|(at, _)| at).collect();
    if starts.len() < 2 {
        return vec![(1, text)];
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let (mut line, mut counted) = (1, 0);
    let parts = starts.iter().zip(ends).map(|(start, end)| {
        line += text[counted..*start].matches('\n').count();
        counted = *start;
        (line, &text[*start..end])
    });
    parts.collect()
}

fn read_document(
    text: &str,
    lines_before: usize,
    contents: &mut FileContents,
) -> Result<(), ToolError> {
    let options = roxmltree::ParsingOptions {
        nodes_limit: MAX_NODES,
        ..roxmltree::ParsingOptions::default()
    };
    let document = roxmltree::Document::parse_with_options(text, options).map_err(|error| {
        ToolError::Missing { what: format!("XML: {error}"), place: "the file" }
    })?;
    let mut known: HashMap<EntryKey, Vec<u64>> = HashMap::new();
    let results = document.descendants().filter(|node| node.has_tag_name("Result"));
    let mut lines = LineCounter { text, at: 0, line: lines_before + 1 };
    let times = find_times(&document);
    for result in results {
        let lower = match child_text(result, "Proportion") {
            "LIB" => Some(true),
            "HIB" => Some(false),
            _ => None,
        };
        let (title, description, scale) = (
            child_text(result, "Title"),
            child_text(result, "Description"),
            child_text(result, "Scale"),
        );
        let test = format!("{title} {description}");
        check_limit(test.len() + scale.len(), ("bytes in the name of a test", MAX_NAME_BYTES))?;
        let shape = child_text(result, "DisplayFormat");
        if !matches!(shape, "" | "BAR_GRAPH") {
            let why = format!("its display format {shape} is no value for each system");
            contents.leave_out(Some(lines.span(result.range())), test.trim(), why);
            continue;
        }
        let version = Some(child_text(result, "AppVersion")).filter(|it| !it.is_empty());
        let bytes = version.map_or(0, str::len);
        check_limit(bytes, ("bytes in the version of a test", MAX_NAME_BYTES))?;
        let data = result.children().filter(|node| node.has_tag_name("Data"));
        let entries = data.flat_map(|data| data.children());
        for entry in entries.filter(|node| node.has_tag_name("Entry")) {
            let span = lines.span(entry.range());
            let what = format!("{} of {:?}", test.trim(), child_text(entry, "Identifier"));
            match read_entry(entry, &test, scale, lower) {
                Ok(Some(mut made)) => {
                    made.parsed.version = version.map(str::to_owned);
                    let began = made.system.as_ref().and_then(|it| times.get(it.as_str()));
                    made.began = began.copied();
                    add_entry(contents, &mut known, (span, what), made);
                }
                Ok(None) => {
                    let is_empty = child_text(entry, "Value").is_empty();
                    let why = if is_empty { "the test gave no value" } else { NO_DIRECTION };
                    contents.leave_out(Some(span), what, why);
                }
                Err(error) => contents.add_part(Some(span), what, Err(error)),
            }
            let count = contents.measurements.len() + contents.failed.len();
            check_limit(count, ("results", MAX_MEASUREMENTS))?;
        }
    }
    Ok(())
}

/// Returns the time of each system, by its identifier: `2023-03-05 18:21:22`, without a zone.
fn find_times<'t>(document: &'t roxmltree::Document<'_>) -> HashMap<&'t str, FileTime> {
    let systems = document.descendants().filter(|node| node.has_tag_name("System"));
    let time = |node| {
        let began = FileTime::parse_iso(child_text(node, "TimeStamp"))?;
        Some((child_text(node, "Identifier"), began))
    };
    systems.filter_map(time).collect()
}

/// Reason for leaving out a value that is neither better if higher nor if lower.
const NO_DIRECTION: &str = "it has no value with a direction";

/// Test, metric and system of an entry.
type EntryKey = (String, &'static str, Option<String>);

/// Adds an entry. A second one of the same test, metric and system is a copy, or
/// contradicts the first.
fn add_entry(
    contents: &mut FileContents,
    known: &mut HashMap<EntryKey, Vec<u64>>,
    (span, what): (LineSpan, String),
    made: ImportedMeasurement,
) {
    let samples = made.parsed.values.iter().flat_map(|it| &it.samples);
    let bits: Vec<u64> = samples.map(|value| value.to_bits()).collect();
    // One test may have results in two units: I/O and bytes per second.
    let metric = made.parsed.values.first().map_or("", |it| it.metric);
    let key = (made.name.clone(), metric, made.system.clone());
    match known.get(&key) {
        None => {
            known.insert(key, bits);
            contents.add_part(Some(span), what, Ok(made));
        }
        Some(first) if *first == bits => {
            contents.leave_out(Some(span), what, "it repeats an entry above");
        }
        Some(_) => {
            let error = ToolError::Contradiction {
                what: format!("{what} has two entries with other values"),
            };
            contents.add_part(Some(span), what, Err(error));
        }
    }
}

/// Counter of the lines of increasing places, in one pass.
struct LineCounter<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    fn span(&mut self, range: std::ops::Range<usize>) -> LineSpan {
        let before = self.text.get(self.at..range.start).unwrap_or_default();
        self.line += before.matches('\n').count();
        self.at = self.at.max(range.start);
        let inside = self.text.get(range).unwrap_or_default();
        self.line..=self.line + inside.matches('\n').count()
    }
}

fn child_text<'t>(node: roxmltree::Node<'t, '_>, name: &str) -> &'t str {
    let child = node.children().find(|child| child.has_tag_name(name));
    child.and_then(|child| child.text()).unwrap_or_default().trim()
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
    let (raw, value) = (child_text(entry, "RawString"), child_text(entry, "Value"));
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
    check_mean(raw, value)?;
    let unknown = matches!(metric, "score" | "penalty") && !scale.is_empty();
    let test =
        if unknown { format!("{} [{scale}]", test.trim()) } else { test.trim().to_owned() };
    let system = Some(child_text(entry, "Identifier").to_owned());
    let system = system.filter(|name| !name.is_empty());
    Ok(Some(ImportedMeasurement { system, ..foreign_measurement(&test, metric, samples) }))
}

/// Checks that the value lies between the raw values, of which it is a mean.
fn check_mean(raw: &str, value: &str) -> Result<(), ToolError> {
    /// Relative tolerance: a value is printed with at least three digits.
    const ROUNDING: f64 = 0.01;
    if raw.is_empty() || value.is_empty() {
        return Ok(());
    }
    let mean = parse_number("a value", value)?;
    let values: Result<Vec<f64>, _> = raw
        .split(':')
        .filter(|text| !text.is_empty())
        .map(|text| parse_number("a value", text))
        .collect();
    let values = values?;
    let min = values.iter().copied().reduce(f64::min).ok_or_else(|| missing("raw value"))?;
    let max = values.iter().copied().reduce(f64::max).ok_or_else(|| missing("raw value"))?;
    let slack = ROUNDING * max.abs().max(mean.abs());
    if mean < min - slack || mean > max + slack {
        let what = format!("the value {value} is no mean of {raw}");
        return Err(ToolError::Contradiction { what });
    }
    Ok(())
}
