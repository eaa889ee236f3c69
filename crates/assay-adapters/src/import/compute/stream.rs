//! Import of STREAM's tables.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;

use super::super::{FileContents, ImportedMeasurement, split_parts};
use crate::outputs::{ParsedOutput, ToolError};
use crate::stream_text::StreamText;

pub(super) fn is_stream(text: &str) -> bool {
    text.lines().any(|line| is_title(line.trim()))
}

fn is_title(line: &str) -> bool {
    line.starts_with("STREAM version") || line.starts_with("STREAM Version")
}

/// Reads every table of the file: users append several runs to one log.
pub(super) fn read_stream(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    for part in split_parts(text, is_title)? {
        let lines = part.lines.clone();
        contents.recognise(*lines.start()..=*lines.start(), "STREAM version", "version");
        contents.add_part(Some(lines), "stream", read_table(&part.text));
    }
    Ok(contents)
}

fn read_table(text: &str) -> Result<ImportedMeasurement, ToolError> {
    let table = StreamText::read(text)?;
    let mut parsed = ParsedOutput { version: table.version.clone(), ..ParsedOutput::default() };
    table.add_samples(table.functions.map(|function| function.rate), &mut parsed);
    let bytes = table.elements.saturating_mul(table.element_bytes);
    let mut dimensions = Attributes::from([(Attribute::BytesPerArray, bytes.into())]);
    dimensions.extend(table.threads.map(|it| (Attribute::Threads, it.into())));
    dimensions.extend(table.ranks.map(|it| (Attribute::Ranks, it.into())));
    Ok(ImportedMeasurement::new("stream", Benchmark::MemoryStream, dimensions, parsed))
}
