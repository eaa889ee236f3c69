//! Conversion of results of fio to samples, for measurements and imports.

use assay_model::attribute::Attribute;
use assay_model::event::ToolFigures;

use crate::fio_json::{FioLatency, FioResult};
use crate::outputs::{ParsedOutput, ToolError};

/// Error number with which fio reports changed data (verify.c; EILSEQ of
/// asm-generic/errno.h).
const EILSEQ: u64 = 84;

/// Converts the result of one fio process to one sample of each metric, over all jobs, reads and
/// writes. `time_s` is the weight of the rates, the measured time; empty if unknown.
pub(crate) fn convert_fio_result(
    result: FioResult,
    time_s: &[f64],
) -> Result<ParsedOutput, ToolError> {
    if let Some((what, number)) = result.failed {
        return Err(fio_failure(what, number));
    }
    let mut parsed = ParsedOutput { version: result.version, ..ParsedOutput::default() };
    let ios = vec![result.ios as f64];
    parsed.add_samples("rate", vec![result.rate_per_s]);
    parsed.set_weights(time_s.to_vec());
    parsed.add_samples("bandwidth", vec![result.bytes_per_s]);
    parsed.set_weights(time_s.to_vec());
    for latency in result.latencies {
        add_fio_latency(latency, &ios, &mut parsed);
    }
    if let Some(cpu_per_io_s) = result.cpu_per_io_s {
        parsed.add_samples("cpu_per_io", vec![cpu_per_io_s]);
        parsed.set_weights(ios);
    }
    parsed.set_attribute(Attribute::Ios, result.ios);
    Ok(parsed)
}

/// Converts an error number of fio's job. Changed data is no error of the system.
pub(crate) const fn fio_failure(what: String, number: u64) -> ToolError {
    match number {
        EILSEQ => ToolError::CheckFailed { verdict: what },
        number => ToolError::SystemError { what, number: Some(number) },
    }
}

/// Adds fio's completion latency: its median, or the mean if that is all there is.
pub(crate) fn add_fio_latency(latency: FioLatency, weight: &[f64], parsed: &mut ParsedOutput) {
    let (sample, statistic) = match latency.median_s {
        Some(median) => (median, "median"),
        None if latency.mean_s > 0.0 => (latency.mean_s, "mean"),
        None => return,
    };
    let apart = latency.operation.map(|name| (Attribute::Operation, name.into()));
    parsed.add_series("latency", apart.into_iter().collect(), vec![sample]);
    if latency.operation.is_none() {
        parsed.set_weights(weight.to_vec());
    }
    let is_new = parsed.attributes.iter().all(|it| it.metric != Some("latency"));
    if is_new {
        parsed.set_metric_attribute("latency", Attribute::Statistic, statistic);
    }
    parsed.set_figures(
        "latency",
        ToolFigures {
            min: Some(latency.min_s),
            mean: Some(latency.mean_s),
            max: Some(latency.max_s),
            percentiles: latency.percentiles,
            count: latency.count,
        },
    );
}
