//! Statistics of latency in sockperf's text, for its adapter and its import.

use assay_model::event::ToolFigures;

use crate::outputs::{ToolError, parse_positive};

/// Returns name and value of a statistic: `---> percentile 99.900 = 20.876`.
pub(crate) fn find_statistic(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once("---> ")?.1.split_once('=')?;
    Some((name.trim_start_matches("percentile").trim(), value.trim()))
}

/// Returns the mean with the statistics, which are in microseconds, as figures of `count` messages.
pub(crate) fn latency_figures(
    mean_s: f64,
    statistics: &[(&str, &str)],
    count: Option<u64>,
) -> Result<ToolFigures, ToolError> {
    let mut figures = ToolFigures { mean: Some(mean_s), count, ..ToolFigures::default() };
    for (name, value) in statistics {
        let value = parse_positive(name, value)? * 1e-6;
        match *name {
            "<MAX> observation" => figures.max = Some(value),
            "<MIN> observation" => figures.min = Some(value),
            percentile => {
                figures.percentiles.insert(percentile_name(percentile), value);
            }
        }
    }
    Ok(figures)
}

/// Names a percentile: `99.900` → `p99.9`.
fn percentile_name(percentile: &str) -> String {
    let digits = match percentile.contains('.') {
        true => percentile.trim_end_matches('0').trim_end_matches('.'),
        false => percentile,
    };
    format!("p{digits}")
}
