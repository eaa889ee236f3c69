//! Conversion of results of fio and IOR to samples, for measurements and imports.

use assay_model::attribute::Attribute;
use assay_model::event::ToolFigures;

use super::ior;
use crate::fio_json::FioResult;
use crate::ior_text::IorRow;
use crate::outputs::{Parsed, ToolError};

/// Converts one process of fio to one sample of each metric: all jobs, reads and writes together.
/// The rates are means over `time_s`; without it every process does the same work.
pub(crate) fn fio(result: FioResult, time_s: &[f64]) -> Result<Parsed, ToolError> {
    if let Some((what, number)) = result.failed {
        return Err(ToolError::Meet { what, number: Some(number) });
    }
    let mut parsed = Parsed { version: result.version, ..Parsed::default() };
    let ios = vec![result.ios as f64];
    parsed.measure("rate", vec![result.rate_per_s]);
    parsed.over(time_s.to_vec());
    parsed.measure("bandwidth", vec![result.bytes_per_s]);
    parsed.over(time_s.to_vec());
    if let Some(latency) = &result.latency {
        parsed.measure("latency", vec![latency.median_s]);
        parsed.over(ios.clone());
        // Median of all I/O, by fio's completion latency.
        parsed.learn_of("latency", Attribute::Statistic, "median");
        parsed.figures(
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
        parsed.measure("cpu_per_io", vec![cpu_per_io_s]);
        parsed.over(ios);
    }
    parsed.learn(Attribute::Ios, result.ios);
    Ok(parsed)
}

/// Converts every repetition of IOR to one sample of each metric.
pub(crate) fn ior(
    rows: &[&IorRow],
    tasks: Option<u64>,
    version: Option<String>,
) -> Result<Parsed, ToolError> {
    let mut parsed = Parsed { version, ..Parsed::default() };
    let rates: Result<Vec<f64>, _> = rows.iter().map(|row| ior::rate(row)).collect();
    let rates = rates?;
    parsed.measure("rate", rates.clone());
    parsed.over(rows.iter().map(|row| row.access_s).collect());
    parsed.measure("bandwidth", rows.iter().map(|row| row.bytes_per_s).collect());
    parsed.over(rows.iter().map(|row| row.total_s).collect());
    if let Some(tasks) = tasks {
        ior::latency(rows, &rates, tasks, &mut parsed);
        parsed.learn(Attribute::Tasks, tasks);
    }
    Ok(parsed)
}
