//! assay itself, as one contender among others: started as a user would, read from its JSON.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use assay_model::event::Parameter;
use assay_model::summary::{Estimate, Summary};

use super::workplace::Workplace;

/// `assay <arguments> --json --store …`, kept on the CPUs of the comparison.
pub(crate) fn command(workplace: &Workplace, program: &Path, arguments: &[&str]) -> Command {
    let mut command = workplace.pinned(program);
    command.args(arguments).args(["--json", "--store"]).arg(workplace.folder.join("store"));
    command
}

/// The document that assay printed; a case that failed is an error.
pub(crate) fn read(output: &str) -> Result<Summary> {
    let summary: Summary =
        serde_json::from_str(output).with_context(|| format!("assay printed {output:?}"))?;
    if let Some(failure) = summary.failures.first() {
        bail!("assay could not measure {}: {}", failure.benchmark, failure.reason);
    }
    Ok(summary)
}

/// The one estimate of this metric.
pub(crate) fn estimate<'a>(
    summary: &'a Summary,
    benchmark: &str,
    metric: &str,
) -> Result<&'a Estimate> {
    let mut found = summary
        .results
        .iter()
        .filter(|estimate| estimate.benchmark == benchmark && estimate.metric == metric);
    match (found.next(), found.next()) {
        (Some(estimate), None) => Ok(estimate),
        (None, _) => bail!("assay measured no {metric} of {benchmark}"),
        (Some(_), Some(_)) => bail!("assay measured {metric} of {benchmark} more than once"),
    }
}

/// A parameter of an estimate as text.
pub(crate) fn parameter(estimate: &Estimate, name: &str) -> String {
    match estimate.parameters.get(name) {
        Some(Parameter::Text(text)) => text.clone(),
        Some(Parameter::Integer(number)) => number.to_string(),
        Some(Parameter::Number(number)) => number.to_string(),
        Some(Parameter::Flag(flag)) => flag.to_string(),
        None => "–".into(),
    }
}
