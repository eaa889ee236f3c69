//! Conversion of results of fio and IOR to samples, for measurements and imports.

use assay_model::attribute::Attribute;
use assay_model::event::ToolFigures;

use super::ior;
use crate::fio_json::FioResult;
use crate::ior_text::IorRow;
use crate::outputs::{ParsedOutput, ToolError};

/// Converts the result of one fio process to one sample of each metric, over all jobs, reads and
/// writes. `time_s` is the weight of the rates, the measured time; empty if unknown.
pub(crate) fn convert_fio_result(
    result: FioResult,
    time_s: &[f64],
) -> Result<ParsedOutput, ToolError> {
    if let Some((what, number)) = result.failed {
        return Err(ToolError::SystemError { what, number: Some(number) });
    }
    let mut parsed = ParsedOutput { version: result.version, ..ParsedOutput::default() };
    let ios = vec![result.ios as f64];
    parsed.add_samples("rate", vec![result.rate_per_s]);
    parsed.set_weights(time_s.to_vec());
    parsed.add_samples("bandwidth", vec![result.bytes_per_s]);
    parsed.set_weights(time_s.to_vec());
    if let Some(latency) = &result.latency {
        parsed.add_samples("latency", vec![latency.median_s]);
        parsed.set_weights(ios.clone());
        // fio's completion latency, over all I/O.
        parsed.set_metric_attribute("latency", Attribute::Statistic, "median");
        parsed.set_figures(
            "latency",
            ToolFigures {
                min: Some(latency.min_s),
                mean: Some(latency.mean_s),
                max: Some(latency.max_s),
                percentiles: [("p99".to_owned(), latency.p99_s)].into(),
            },
        );
    }
    if let Some(cpu_per_io_s) = result.cpu_per_io_s {
        parsed.add_samples("cpu_per_io", vec![cpu_per_io_s]);
        parsed.set_weights(ios);
    }
    parsed.set_attribute(Attribute::Ios, result.ios);
    Ok(parsed)
}

/// Converts every repetition of IOR to one sample of each metric.
pub(crate) fn convert_ior_rows(
    rows: &[&IorRow],
    tasks: Option<u64>,
    version: Option<String>,
) -> Result<ParsedOutput, ToolError> {
    let mut parsed = ParsedOutput { version, ..ParsedOutput::default() };
    let rates: Result<Vec<f64>, _> = rows.iter().map(|row| ior::checked_rate(row)).collect();
    let rates = rates?;
    parsed.add_samples("rate", rates.clone());
    parsed.set_weights(rows.iter().map(|row| row.access_s).collect());
    parsed.add_samples("bandwidth", rows.iter().map(|row| row.bytes_per_s).collect());
    parsed.set_weights(rows.iter().map(|row| row.total_s).collect());
    if let Some(tasks) = tasks {
        ior::add_latency(rows, &rates, tasks, &mut parsed);
        parsed.set_attribute(Attribute::Tasks, tasks);
    }
    Ok(parsed)
}
