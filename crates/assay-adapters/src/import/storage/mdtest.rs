//! Import of mdtest's summary.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;

use super::super::{ImportedMeasurement, missing, word_after};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative};

/// Operations in mdtest's summary and their names in assay.
const MDTEST_OPERATIONS: [(&str, &str); 10] = [
    ("Directory creation", "mkdir"),
    ("Directory stat", "stat-directory"),
    ("Directory rename", "rename-directory"),
    ("Directory removal", "rmdir"),
    ("File creation", "create"),
    ("File stat", "stat"),
    ("File read", "read"),
    ("File removal", "delete"),
    ("Tree creation", "create-tree"),
    ("Tree removal", "delete-tree"),
];

pub(super) fn is_mdtest(text: &str) -> bool {
    text.contains("SUMMARY rate") && text.contains("File creation")
}

/// Reads rates in operations per second. A row has maximum, minimum, mean and standard deviation
/// over the iterations; the mean is the sample.
pub(super) fn read_mdtest(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let rows = text.lines().skip_while(|line| !line.contains("SUMMARY rate")).skip(1);
    let version = word_after(text, "mdtest-").map(str::to_owned);
    let ranks = word_after(text, "launched with").and_then(|text| text.parse::<u64>().ok());
    let files = text.lines().find(|line| line.contains(" tasks, ")).and_then(|line| {
        line.split(", ").nth(1)?.split_whitespace().next()?.parse::<u64>().ok()
    });
    let mut found = Vec::new();
    for line in rows {
        let known =
            MDTEST_OPERATIONS.iter().find(|(word, _)| line.trim_start().starts_with(word));
        let Some((word, operation)) = known else { continue };
        let rest = line.trim_start()[word.len()..].trim_start_matches([' ', ':']);
        let numbers: Result<Vec<f64>, _> =
            rest.split_whitespace().map(|field| parse_non_negative(word, field)).collect();
        let [max, min, mean, _deviation] = numbers?[..] else {
            let missing = format!("the row {word:?} has not 4 numbers");
            return Err(ToolError::Truncated { missing });
        };
        // Operations that were not run have a rate of 0.
        if mean <= 0.0 {
            continue;
        }
        let mut parsed = ParsedOutput { version: version.clone(), ..ParsedOutput::default() };
        parsed.add_samples("rate", vec![mean]);
        parsed.set_metric_attribute("rate", Attribute::Statistic, "mean");
        let figures = ToolFigures {
            min: Some(min),
            mean: Some(mean),
            max: Some(max),
            ..ToolFigures::default()
        };
        parsed.set_figures("rate", figures);
        let mut dimensions = Attributes::from([(Attribute::Operation, (*operation).into())]);
        dimensions.extend(ranks.map(|ranks| (Attribute::Threads, ranks.into())));
        dimensions.extend(files.map(|files| (Attribute::Files, files.into())));
        check_limit(found.len() + 1, ("rows", MAX_MEASUREMENTS))?;
        found.push(ImportedMeasurement {
            name: (*operation).to_owned(),
            benchmark: Benchmark::StorageFiles,
            dimensions,
            system: None,
            began: None,
            lines: None,
            parsed,
        });
    }
    if found.is_empty() {
        Err(missing("row of mdtest's summary with a rate"))
    } else {
        Ok(found)
    }
}
