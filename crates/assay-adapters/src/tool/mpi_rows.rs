//! What the tools that measure MPI have in common: their rows become samples of the sizes that were asked
//! for, and rounding is reported.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;
use assay_model::quantity::{Bytes, Quantity};
use assay_model::workload::MpiWorkload;

use crate::mpi_text::Row;
use crate::outputs::{Parsed, ToolError};

/// Half of the last digit may be this share of a value before its roundness is reported.
const ROUNDNESS: f64 = 0.01;

/// Samples of the rows within the sizes requested.
///
/// # Errors
/// When a size that was asked for has no row, or a value of one is not above zero.
pub(super) fn record(
    rows: &[Row],
    work: &MpiWorkload,
    parsed: &mut Parsed,
) -> Result<(), ToolError> {
    let has_sizes = work.test.has_sizes();
    let asked = |bytes: u64| (work.from_bytes..=work.to_bytes).contains(&bytes);
    let mut largest = None;
    let mut rounded: Option<(f64, &'static str, f64)> = None;
    for row in rows {
        let bytes = row.bytes.unwrap_or(0);
        if has_sizes && !asked(bytes) {
            continue;
        }
        largest = Some(bytes);
        for (metric, value, half) in &row.values {
            // A share of nothing hidden is a figure; a time or a rate of zero was rounded away.
            if *value <= 0.0 {
                let text = format!("{value} at {bytes} B");
                if *metric == "overlap" {
                    parsed.problems.push(format!("overlap is {text}"));
                    continue;
                }
                return Err(ToolError::ReadNumber { what: (*metric).to_owned(), text });
            }
            let size = has_sizes.then(|| (Attribute::Bytes, bytes.into()));
            parsed.measure_apart(metric, Attributes::from_iter(size), vec![*value]);
            let share = half / value;
            if share > ROUNDNESS && rounded.is_none_or(|(most, _, _)| share > most) {
                rounded = Some((share, metric, *value));
            }
        }
    }
    // Tools may leave sizes out below the smallest they know; the largest is always there.
    let reached =
        largest.is_some_and(|largest| !has_sizes || largest.saturating_mul(2) > work.to_bytes);
    if !reached || parsed.values.is_empty() {
        let missing = format!("no row for messages of {}", Bytes(work.to_bytes));
        return Err(ToolError::ReachEnd { missing });
    }
    parsed.learn(Attribute::Mpi, work.mpi.label());
    parsed.doubts.extend(rounded.map(|(share, metric, value)| {
        let unit = Benchmark::Mpi(work.test).metric(metric).map(|metric| metric.unit);
        let at = unit.map_or_else(String::new, |unit| Quantity::new(value, unit).to_string());
        Doubt::RoundedOutput { metric: metric.to_owned(), at, share }
    }));
    Ok(())
}
