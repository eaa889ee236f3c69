//! Selection of measurers: assay itself and the available tools. Runs none of them.

use super::PlanChoices;
use crate::suite::Measure;
use crate::workload::Workload;

/// Program that measures: assay itself, or an available tool.
#[derive(Debug, Clone, Copy)]
pub struct Measurer {
    /// `assay`, `hpcc` …
    pub name: &'static str,
    /// Predicate whether it can measure a workload.
    pub supports: fn(&Workload) -> bool,
}

/// Keyword for all available measurers.
const ALL_MEASURERS: &str = "all";

/// Returns the requested measurers of a measure; `all` = all available.
fn requested_measurers<'a>(measure: &'a Measure, choices: &'a PlanChoices<'_>) -> &'a [String] {
    if measure.by.is_empty() { &choices.by } else { &measure.by }
}

/// Returns the requested measurers that are available.
pub(super) fn available_measurers(
    measure: &Measure,
    choices: &PlanChoices<'_>,
) -> Vec<Measurer> {
    let requested = requested_measurers(measure, choices);
    if requested.iter().any(|name| name == ALL_MEASURERS) {
        return choices.measurers.to_vec();
    }
    let find = |name| choices.measurers.iter().find(|it| it.name == name).copied();
    requested.iter().filter_map(|name| find(name.as_str())).collect()
}

/// Returns the requested measurers that are not available.
pub(super) fn missing_measurers<'a>(
    measure: &'a Measure,
    choices: &'a PlanChoices<'_>,
) -> Vec<&'a str> {
    let is_available = |name: &&str| {
        *name == ALL_MEASURERS || choices.measurers.iter().any(|it| it.name == *name)
    };
    let requested = requested_measurers(measure, choices).iter().map(String::as_str);
    requested.filter(|name| !is_available(name)).collect()
}
