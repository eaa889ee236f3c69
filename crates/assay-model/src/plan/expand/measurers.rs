//! Selection of measurers: assay itself and the tools that were found. Runs none of them.

use super::Choices;
use crate::suite::Measure;
use crate::workload::Workload;

/// Measurer: assay itself or an official tool that was found.
#[derive(Debug, Clone, Copy)]
pub struct Measurer {
    /// `assay`, `hpcc` …
    pub name: &'static str,
    /// Predicate whether it can measure a workload.
    pub takes: fn(&Workload) -> bool,
}

/// Keyword for all available measurers.
const EVERYONE: &str = "all";

/// Returns the requested measurers of a measure; `all` = all available.
fn asked<'a>(measure: &'a Measure, choices: &'a Choices<'_>) -> &'a [String] {
    if measure.by.is_empty() { &choices.by } else { &measure.by }
}

/// Returns the requested measurers that are available.
pub(super) fn present(measure: &Measure, choices: &Choices<'_>) -> Vec<Measurer> {
    let asked = asked(measure, choices);
    if asked.iter().any(|name| name == EVERYONE) {
        return choices.measurers.to_vec();
    }
    let find = |name| choices.measurers.iter().find(|it| it.name == name).copied();
    asked.iter().filter_map(|name| find(name.as_str())).collect()
}

/// Returns the requested measurers that are not available.
pub(super) fn absent<'a>(measure: &'a Measure, choices: &'a Choices<'_>) -> Vec<&'a str> {
    let is_here =
        |name: &&str| *name == EVERYONE || choices.measurers.iter().any(|it| it.name == *name);
    let asked = asked(measure, choices).iter().map(String::as_str);
    asked.filter(|name| !is_here(name)).collect()
}
