//! Conversion of rows of IOR to samples, for measurements and imports.

use assay_model::attribute::Attribute;

use crate::ior_text::IorRow;
use crate::outputs::{ParsedOutput, ToolError};

/// Converts every repetition of IOR to one sample of each metric.
pub(crate) fn convert_ior_rows(
    rows: &[&IorRow],
    tasks: Option<u64>,
    version: Option<String>,
) -> Result<ParsedOutput, ToolError> {
    let mut parsed = ParsedOutput { version, ..ParsedOutput::default() };
    let rates: Result<Vec<f64>, _> = rows.iter().map(|row| checked_rate(row)).collect();
    let rates = rates?;
    parsed.add_samples("rate", rates.clone());
    parsed.set_weights(rows.iter().map(|row| row.access_s).collect());
    parsed.add_samples("bandwidth", rows.iter().map(|row| row.bytes_per_s).collect());
    parsed.set_weights(rows.iter().map(|row| row.total_s).collect());
    if let Some(tasks) = tasks {
        add_latency(rows, &rates, tasks, &mut parsed);
        parsed.set_attribute(Attribute::Tasks, tasks);
    }
    Ok(parsed)
}

/// Returns transfers per second during access, after a check that data and times of the row match.
fn checked_rate(row: &IorRow) -> Result<f64, ToolError> {
    /// Relative tolerance: rates have two decimals or six digits, times above a second two
    /// decimals.
    const ROUNDING: f64 = 0.02;
    let bytes = row.bytes_per_s * row.total_s;
    let expected = bytes / row.transfer_bytes / row.access_s;
    let rate = row.transfers_per_s.unwrap_or(expected);
    // Except in the text table, times have four decimals.
    let rounding = ROUNDING + 1e-4 / row.access_s;
    let differs = (rate - expected).abs() > rounding * expected;
    if differs || row.access_s > row.total_s * (1.0 + rounding) {
        let what = format!(
            "{rate} transfers/s are not {bytes:.0} bytes in {} of {} s",
            row.access_s, row.total_s
        );
        return Err(ToolError::Contradiction { what });
    }
    Ok(rate)
}

/// Adds the latency if it is plausible. A task always has one transfer in flight, so that no mean
/// can exceed tasks over rate. Means of IOR 3.3 and 4.0 do where a block is one transfer: they use
/// the whole time for each.
fn add_latency(rows: &[&IorRow], rates: &[f64], tasks: u64, parsed: &mut ParsedOutput) {
    const ROUNDING: f64 = 0.1;
    let Some(means) = rows.iter().map(|row| row.latency_s).collect::<Option<Vec<f64>>>() else {
        return;
    };
    let is_lawful = |(mean, rate): (&f64, &f64)| mean * rate <= tasks as f64 * (1.0 + ROUNDING);
    if means.iter().zip(rates).all(is_lawful) {
        // IOR reports the mean of the task with the smallest one.
        parsed.add_samples("latency", means);
        parsed.set_weights(
            rows.iter().zip(rates).map(|(row, rate)| rate * row.access_s).collect(),
        );
        parsed.set_metric_attribute("latency", Attribute::Statistic, "mean");
    } else {
        parsed.problems.push(
            "the latency is omitted: times the rate it exceeds the number of transfers in \
             flight, as with IOR 3.3 and 4.0 where a block is one transfer"
                .to_owned(),
        );
    }
}
