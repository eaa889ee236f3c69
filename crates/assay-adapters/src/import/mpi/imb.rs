//! Import of tables of the Intel MPI Benchmarks (IMB).

use super::super::{ImportedMeasurement, TextPart, missing, split_parts, word_after};
use super::read_table;
use crate::outputs::ToolError;
use crate::tool::find_imb_test;

pub(super) fn is_imb(text: &str) -> bool {
    text.contains("Intel(R) MPI Benchmarks") && text.contains("# Benchmarking ")
}

pub(super) fn read_imb(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    /// Line after the last test of a file. The parser of a single test also requires it.
    const END: &str = "# All processes entering MPI_Finalize";
    let has_end = text.contains(END);
    let tests = split_parts(text, |line| line.starts_with("# Benchmarking "))?;
    let read_part = |part: &TextPart| {
        let part = &part.text;
        let name = word_after(part, "# Benchmarking").unwrap_or_default();
        let test = find_imb_test(name)?;
        let ranks = word_after(part, "#processes").and_then(|text| text.parse().ok());
        let complete_part =
            if has_end { format!("{}\n{END}\n", part.replace(END, "")) } else { part.clone() };
        Some(read_table("imb", test, &complete_part, ranks))
    };
    let measurements: Result<Vec<ImportedMeasurement>, _> =
        tests.iter().filter_map(read_part).collect();
    measurements.and_then(|measurements| match measurements.is_empty() {
        true => Err(missing("test of IMB that assay has, like PingPong or Allreduce")),
        false => Ok(measurements),
    })
}
