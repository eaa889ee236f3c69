//! assay as one of the contenders: started like any user's command, its JSON output parsed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::workplace::BenchWorkplace;

/// Returns `assay <arguments> --json --store …`, pinned to the CPUs of the comparison.
pub(crate) fn command(
    workplace: &BenchWorkplace,
    program: &Path,
    arguments: &[&str],
) -> Command {
    let mut command = workplace.pinned_command(program);
    command.args(arguments).args(["--json", "--store"]).arg(workplace.folder.join("store"));
    command
}

/// Estimate of one metric, as assay printed it.
pub(crate) struct AssayEstimate {
    /// Median, in base units.
    pub(crate) median: f64,
    /// Number of samples after the warm-up.
    pub(crate) n: usize,
    parameters: Value,
}

/// Parses assay's JSON output; a failed case is an error.
pub(crate) fn parse_output(output: &str) -> Result<Value> {
    let summary: Value =
        serde_json::from_str(output).with_context(|| format!("assay printed {output:?}"))?;
    if let Some(failure) = summary["failures"].get(0) {
        bail!("assay failed to measure {}: {}", failure["benchmark"], failure["reason"]);
    }
    Ok(summary)
}

/// Returns the only estimate of this metric.
pub(crate) fn find_estimate(
    summary: &Value,
    benchmark: &str,
    metric: &str,
) -> Result<AssayEstimate> {
    let results = summary["results"].as_array().context("assay printed no results")?;
    let mut found = results
        .iter()
        .filter(|estimate| estimate["benchmark"] == benchmark && estimate["metric"] == metric);
    match (found.next(), found.next()) {
        (Some(estimate), None) => Ok(AssayEstimate {
            median: estimate["median"].as_f64().context("the median is not a number")?,
            n: estimate["n"].as_u64().context("n is not a number")?.try_into()?,
            parameters: estimate["parameters"].clone(),
        }),
        (None, _) => bail!("assay measured no {metric} of {benchmark}"),
        (Some(_), Some(_)) => bail!("assay measured {metric} of {benchmark} more than once"),
    }
}

/// Formats a parameter of an estimate as text.
pub(crate) fn format_parameter(estimate: &AssayEstimate, name: &str) -> String {
    match &estimate.parameters[name] {
        Value::String(text) => text.clone(),
        Value::Null => "–".into(),
        other => other.to_string(),
    }
}
