//! Import of logs of STREAM and HPL.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;

use super::{FileContents, ImportFormat, ImportedMeasurement, format, split_parts};
use crate::hpl_text::{HplLog, HplRow};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError};
use crate::stream_text::StreamText;

/// Formats of this family.
pub(super) const FORMATS: &[ImportFormat] = &[
    format("hpl", "xhpl", "HPL's log", is_hpl, |text| read_hpl(text).map(FileContents::from)),
    format("stream", "stream", "STREAM 5", is_stream, |text| {
        import_stream(text).map(FileContents::from)
    }),
];

pub(super) fn is_stream(text: &str) -> bool {
    text.contains("STREAM version") && text.contains("Function ")
}

/// Reads every table of the file: users append several runs to one log.
pub(super) fn import_stream(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let tables = split_parts(text, |line| line.starts_with("STREAM version"))?;
    tables.iter().map(|part| read_stream_table(&part.text)).collect()
}

fn read_stream_table(text: &str) -> Result<ImportedMeasurement, ToolError> {
    let table = StreamText::read(text)?;
    let mut parsed = ParsedOutput { version: table.version.clone(), ..ParsedOutput::default() };
    table.add_samples(table.functions.map(|function| function.rate), &mut parsed);
    let bytes = table.elements.saturating_mul(table.element_bytes);
    let dimensions = Attributes::from([
        (Attribute::Threads, table.threads.unwrap_or(1).into()),
        (Attribute::BytesPerArray, bytes.into()),
    ]);
    Ok(ImportedMeasurement {
        name: "stream".to_owned(),
        benchmark: Benchmark::MemoryStream,
        dimensions,
        system: None,
        began: None,
        lines: None,
        parsed,
    })
}

pub(super) fn is_hpl(text: &str) -> bool {
    // A truncated log may have nothing but the heading.
    text.contains("HPLinpack")
        && (text.contains("||Ax-b||") || text.contains("High-Performance Linpack benchmark"))
}

/// Reads one measurement for each number of equations.
pub(super) fn read_hpl(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let log = HplLog::read(text)?;
    let mut sizes: BTreeMap<u64, Vec<HplRow>> = BTreeMap::new();
    for row in log.rows {
        sizes.entry(row.n).or_default().push(row);
    }
    check_limit(sizes.len(), ("numbers of equations", MAX_MEASUREMENTS))?;
    let import_size = |(n, rows): (u64, Vec<HplRow>)| {
        let mut parsed =
            ParsedOutput { version: log.version.clone(), ..ParsedOutput::default() };
        HplLog { version: log.version.clone(), rows }.add_samples(n, &mut parsed)?;
        Ok(ImportedMeasurement {
            name: format!("n={n}"),
            benchmark: Benchmark::Linpack,
            dimensions: Attributes::from([(Attribute::N, n.into())]),
            system: None,
            began: None,
            lines: None,
            parsed,
        })
    };
    sizes.into_iter().map(import_size).collect()
}
