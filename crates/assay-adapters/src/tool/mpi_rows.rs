//! Conversion of MPI tools' rows to samples of the requested sizes, with a doubt about rounding.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;
use assay_model::quantity::{Bytes, Quantity};
use assay_model::workload::MpiWorkload;

use crate::mpi_text::MpiRow;
use crate::outputs::{ParsedOutput, ToolError};

/// Share of a value that half of its last digit may be before the rounding is reported.
const MAX_ROUNDING: f64 = 0.01;

/// Adds samples of the rows within the requested sizes.
///
/// # Errors
/// If the largest requested size has no row, or a value is not above zero.
pub(super) fn add_rows(
    rows: &[MpiRow],
    work: &MpiWorkload,
    parsed: &mut ParsedOutput,
) -> Result<(), ToolError> {
    let has_sizes = work.test.has_sizes();
    let has_range = work.test.has_size_range();
    let asked = |bytes: u64| (work.from_bytes..=work.to_bytes).contains(&bytes);
    let mut largest = None;
    let mut rounded: Option<(f64, &'static str, f64)> = None;
    for row in rows {
        let bytes = row.bytes.unwrap_or(0);
        if has_range && !asked(bytes) {
            continue;
        }
        largest = Some(bytes);
        for (metric, value, half) in &row.values {
            // An overlap of zero is a valid figure; a time or a rate of zero was rounded.
            if *value <= 0.0 {
                let text = format!("{value} at {bytes} B");
                if *metric == "overlap" {
                    parsed.problems.push(format!("overlap is {text}"));
                    continue;
                }
                return Err(ToolError::InvalidNumber { what: (*metric).to_owned(), text });
            }
            let size = has_sizes.then(|| (Attribute::Bytes, bytes.into()));
            parsed.add_series(metric, Attributes::from_iter(size), vec![*value]);
            let share = half / value;
            if share > MAX_ROUNDING && rounded.is_none_or(|(most, _, _)| share > most) {
                rounded = Some((share, metric, *value));
            }
        }
    }
    // Tools may skip sizes below their minimum; the largest is always measured.
    let reached =
        largest.is_some_and(|largest| !has_range || largest.saturating_mul(2) > work.to_bytes);
    if !reached || parsed.values.is_empty() {
        let missing = format!("no row for messages of {}", Bytes(work.to_bytes));
        return Err(ToolError::Truncated { missing });
    }
    parsed.set_attribute(Attribute::Mpi, work.mpi.label());
    parsed.doubts.extend(rounded.map(|(share, metric, value)| {
        let unit = Benchmark::Mpi(work.test).metric(metric).map(|metric| metric.unit);
        let at = unit.map_or_else(String::new, |unit| Quantity::new(value, unit).to_string());
        Doubt::RoundedOutput { metric: metric.to_owned(), at, share }
    }));
    Ok(())
}
