//! assay itself, as one contender among others: started as a user would, read from its JSON.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::workplace::Workplace;

/// `assay <arguments> --json --store …`, kept on the CPUs of the comparison.
pub(crate) fn command(workplace: &Workplace, program: &Path, arguments: &[&str]) -> Command {
    let mut command = workplace.pinned(program);
    command.args(arguments).args(["--json", "--store"]).arg(workplace.folder.join("store"));
    command
}

/// What the document says about one metric.
pub(crate) struct Estimate {
    /// The median, in base units.
    pub(crate) median: f64,
    /// Samples that count.
    pub(crate) n: usize,
    parameters: Value,
}

/// The document that assay printed; a case that failed is an error.
pub(crate) fn read(output: &str) -> Result<Value> {
    let summary: Value =
        serde_json::from_str(output).with_context(|| format!("assay printed {output:?}"))?;
    if let Some(failure) = summary["failures"].get(0) {
        bail!("assay could not measure {}: {}", failure["benchmark"], failure["reason"]);
    }
    Ok(summary)
}

/// The one estimate of this metric.
pub(crate) fn estimate(summary: &Value, benchmark: &str, metric: &str) -> Result<Estimate> {
    let results = summary["results"].as_array().context("assay printed no results")?;
    let mut found = results
        .iter()
        .filter(|estimate| estimate["benchmark"] == benchmark && estimate["metric"] == metric);
    match (found.next(), found.next()) {
        (Some(estimate), None) => Ok(Estimate {
            median: estimate["median"].as_f64().context("the median is no number")?,
            n: estimate["n"].as_u64().context("n is no number")?.try_into()?,
            parameters: estimate["parameters"].clone(),
        }),
        (None, _) => bail!("assay measured no {metric} of {benchmark}"),
        (Some(_), Some(_)) => bail!("assay measured {metric} of {benchmark} more than once"),
    }
}

/// A parameter of an estimate as text.
pub(crate) fn parameter(estimate: &Estimate, name: &str) -> String {
    match &estimate.parameters[name] {
        Value::String(text) => text.clone(),
        Value::Null => "–".into(),
        other => other.to_string(),
    }
}
