//! XML of ntttcp: `<ntttcps>` of a sender, `<ntttcpr>` of a receiver.

use roxmltree::{Document, Node, ParsingOptions};

use super::{FileContents, NtttcpResult, ToolError, measure, missing, parse_non_negative};

/// Maximum number of nodes of a document, of which ntttcp's have 100 and some for each thread.
const MAX_NODES: u32 = 200_000;

pub(in super::super) fn is_ntttcp_xml(text: &str) -> bool {
    let start = text.trim_start();
    let head: String = start.chars().take(300).collect();
    start.starts_with('<') && (head.contains("<ntttcps ") || head.contains("<ntttcpr "))
}

/// Reads every document of a file.
pub(in super::super) fn read_ntttcp_xml(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut first_line = 1;
    for document in split_after_roots(text) {
        let last_line = first_line + document.trim_end().matches('\n').count();
        let lines = Some(first_line..=last_line);
        first_line += document.matches('\n').count();
        super::check_limit(contents.measurements.len(), ("tests", super::MAX_MEASUREMENTS))?;
        if document.trim().is_empty() {
            continue;
        }
        contents.add_part(lines.clone(), "ntttcp test", read_document(document.trim()));
        let why = "CPU, packets, interrupts and single threads have no figure in assay";
        contents.leave_out(lines, "further elements", why);
    }
    Ok(contents)
}

/// Splits a text behind the end of each root element, in one pass.
fn split_after_roots(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("</ntttcp")
        && let Some(length) = rest[start..].find('>')
    {
        let (document, behind) = rest.split_at(start + length + 1);
        documents.push(document);
        rest = behind;
    }
    documents.push(rest);
    documents
}

fn read_document(text: &str) -> Result<super::ImportedMeasurement, ToolError> {
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| ToolError::Truncated { missing: error.to_string() })?;
    let root = document.root_element();
    let number = |name: &str, metric: &str| find_number(root, name, metric);
    let text_of = |name: &str| {
        let found = root.descendants().find(|node| node.has_tag_name(name));
        found.and_then(|node| node.text()).map(str::trim)
    };
    let version = root.attribute("version").unwrap_or_default();
    let megabytes = number("total_bytes", "MB")?.ok_or_else(|| missing("total_bytes"))?;
    let mega = if version.ends_with("-linux") { 1e6 } else { 1_048_576.0 };
    let threads = root.children().filter(|node| node.has_tag_name("thread")).count();
    let connections = text_of("conns_tested").and_then(|text| text.parse().ok());
    measure(NtttcpResult {
        bytes: Some(megabytes * mega),
        seconds: number("realtime", "s")?,
        printed_bit_per_s: number("throughput", "mbps")?.map(|rate| rate * 1e6),
        is_udp: text_of("udp").is_some_and(|it| it.eq_ignore_ascii_case("true")),
        is_sender: Some(root.has_tag_name("ntttcps")),
        streams: connections.or((threads > 0).then_some(threads as u64)),
        retransmits: match text_of("packets_retransmitted") {
            Some(count) => Some(parse_non_negative("packets_retransmitted", count)?),
            None => None,
        },
        requested_s: text_of("run_time").and_then(parse_run_time),
        version: Some(version.to_owned()).filter(|it| !it.is_empty()),
        errors: number("errors", "")?.unwrap_or(0.0),
        broke_off: false,
    })
}

/// Parses a time in seconds; Windows prints milliseconds.
fn parse_run_time(text: &str) -> Option<f64> {
    let seconds = text.parse::<f64>().ok().filter(|it| it.is_finite() && *it > 0.0)?;
    Some(if seconds >= 1000.0 { seconds / 1000.0 } else { seconds })
}

/// Returns the number of an element below the root; an empty metric means any.
fn find_number(root: Node<'_, '_>, name: &str, metric: &str) -> Result<Option<f64>, ToolError> {
    let is_it = |node: &Node<'_, '_>| {
        let found = node.attribute("metric");
        node.has_tag_name(name)
            && (metric.is_empty() || found.is_none_or(|it| it.eq_ignore_ascii_case(metric)))
    };
    let node = root.children().find(is_it);
    let text = node.and_then(|node| node.text());
    text.map(|text| parse_non_negative(name, text)).transpose()
}
