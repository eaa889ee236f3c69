//! Import of IOR's tables.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;

use super::super::{ImportedMeasurement, split_parts, word_after};
use crate::ior_text::{IorRow, IorText};
use crate::outputs::ToolError;
use crate::tool::storage as figures;

pub(super) fn is_ior(text: &str) -> bool {
    let heading = |line: &str| line.starts_with("access") && line.contains("bw(MiB/s)");
    let json = text.contains("\"wrRdTime\"") && text.contains("\"tests\"");
    // A truncated file may have nothing but the title.
    let title =
        |line: &str| line.starts_with("IOR-") && line.contains(": MPI Coordinated Test");
    json || text.lines().any(|line| heading(line) || title(line))
}

/// Reads writes and reads of each test of the file.
pub(super) fn read_ior(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let parts = split_parts(text, |line| line.starts_with("IOR-") && line.contains(": MPI"))?;
    let mut tests: Vec<String> = parts.into_iter().map(|part| part.text).collect();
    if tests.is_empty() || text.contains("\"wrRdTime\"") {
        tests = vec![text.to_owned()];
    }
    let mut found = Vec::new();
    for test in &tests {
        let read = IorText::read(test)?;
        for (writes, operation) in [(true, "write"), (false, "read")] {
            let rows: Vec<&IorRow> =
                read.rows.iter().filter(|row| row.writes == writes).collect();
            if let Some(first) = rows.first() {
                let dimensions = ior_dimensions(test, first, read.tasks, operation);
                let parsed =
                    figures::convert_ior_rows(&rows, read.tasks, read.version.clone())?;
                found.push(ImportedMeasurement {
                    name: operation.to_owned(),
                    benchmark: Benchmark::Storage,
                    dimensions,
                    system: None,
                    began: None,
                    lines: None,
                    parsed,
                });
            }
        }
    }
    Ok(found)
}

fn ior_dimensions(text: &str, row: &IorRow, tasks: Option<u64>, operation: &str) -> Attributes {
    let mut asked = Attributes::from([
        (Attribute::Operation, operation.into()),
        (Attribute::Bytes, (row.transfer_bytes as u64).into()),
    ]);
    asked.extend(tasks.map(|tasks| (Attribute::Depth, tasks.into())));
    let pattern = match word_after(text, "ordering in a file") {
        Some("random") => Some("random"),
        Some(_) => Some("sequential"),
        None => None,
    };
    asked.extend(pattern.map(|pattern| (Attribute::Pattern, pattern.into())));
    asked
        .extend(word_after(text, "test filename").map(|name| (Attribute::Target, name.into())));
    asked
}
