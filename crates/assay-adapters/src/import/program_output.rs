//! Figures of a program's output, read by the importer of its format.

use std::collections::BTreeSet;

use assay_model::benchmark::{Benchmark, Better};
use assay_model::quantity::Unit;

use super::{
    ImportError, ImportFormat, ImportedMeasurement, formats, missing, prepare_text, read_as,
    reject_nul,
};
use crate::outputs::MeasuredMetric;

#[derive(Debug, Clone, PartialEq)]
pub struct OutputFigure {
    /// Test and metric, with the dimensions that distinguish it.
    pub name: String,
    /// Metric of programs by its unit.
    pub metric: &'static str,
    /// Value in the base unit: the median, if the output has several.
    pub value: f64,
}

/// Returns the format with this name, or that of the tool with this name.
pub fn find_format(name: &str) -> Option<&'static ImportFormat> {
    let is_tool = |it: &&ImportFormat| it.tool == name;
    formats().find(|it| it.name == name).or_else(|| formats().find(is_tool))
}

/// Reads the figures of an output in a format.
///
/// # Errors
/// If the output is of another format, has a damaged or failed part, or no figure that a program can
/// have.
pub fn read_output(
    text: &str,
    format: &'static ImportFormat,
) -> Result<Vec<OutputFigure>, ImportError> {
    reject_nul(text)?;
    let prepared = prepare_text(text);
    if !(format.matches)(&prepared.text) {
        return Err(ImportError::OtherFormat { about: format.about });
    }
    let contents = read_as(format, &prepared)?.contents;
    let refused = |line: Option<usize>, error| {
        let is_at_end = line.is_none_or(|line| line >= text.lines().count());
        ImportError::Malformed { about: format.about, line, is_at_end, error }
    };
    if let Some(failed) = contents.failed.first() {
        return Err(refused(failed.line(), failed.error.clone()));
    }
    let mut taken = BTreeSet::new();
    let mut found: Vec<OutputFigure> = Vec::new();
    for measurement in &contents.measurements {
        for value in &measurement.parsed.values {
            found.extend(output_figure(measurement, value, &mut taken));
        }
    }
    match found.is_empty() {
        true => Err(refused(None, missing("figure that a program can have"))),
        false => Ok(found),
    }
}

fn output_figure(
    measurement: &ImportedMeasurement,
    value: &MeasuredMetric,
    taken: &mut BTreeSet<String>,
) -> Option<OutputFigure> {
    let metric = program_metric(measurement.benchmark, value.metric)?;
    let mut samples = value.samples.clone();
    samples.sort_unstable_by(f64::total_cmp);
    let middle = samples.len() / 2;
    let median = match samples.len() % 2 {
        1 => *samples.get(middle)?,
        _ => 0.5 * (samples.get(middle.checked_sub(1)?)? + samples.get(middle)?),
    };
    let own = value.own_dimensions.iter().filter_map(|(name, value)| {
        let text = value.as_text().map(str::to_owned);
        let text = text.or_else(|| value.as_number().map(|number| number.to_string()))?;
        Some(format!("{}={text}", name.name()))
    });
    let words = [measurement.name.clone(), value.metric.to_owned()].into_iter().chain(own);
    let name = words.collect::<Vec<_>>().join(" ");
    let numbered = (2..).map(|number| format!("{name} #{number}"));
    let name =
        std::iter::once(name.clone()).chain(numbered).find(|it| taken.insert(it.clone()))?;
    Some(OutputFigure { name, metric, value: median })
}

/// Returns the metric of programs with the unit and direction of another benchmark's metric.
fn program_metric(benchmark: Benchmark, metric: &str) -> Option<&'static str> {
    let known = benchmark.metric(metric)?;
    let candidates = Benchmark::Command.definition().metrics.iter();
    // assay itself measures the first three of every program.
    let mut candidates = candidates.skip(3);
    let is_same = |unit: Unit, better: Better| (unit, better) == (known.unit, known.better);
    candidates.find(|it| is_same(it.unit, it.better)).map(|it| it.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HPL: &str = include_str!("../../tests/import/hpl/2.3-indented-log.txt");

    #[test]
    fn formats_are_found_by_name_and_by_tool() {
        let name = |name| find_format(name).map(|it| it.name);
        assert_eq!(name("hpl"), Some("hpl"));
        assert_eq!(name("xhpl"), Some("hpl"));
        assert_eq!(name("fio"), Some("fio-json"));
        assert_eq!(name("hlp"), None);
    }

    #[test]
    fn figures_have_metrics_of_programs() {
        let found = read_output(HPL, find_format("hpl").unwrap()).unwrap();
        assert!(found.iter().any(|it| it.metric == "flop_rate" && it.value > 1e6), "{found:?}");
        let names: BTreeSet<&str> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names.len(), found.len(), "{found:?}");
    }

    #[test]
    fn other_outputs_are_refused() {
        let hpl = find_format("hpl").unwrap();
        let refused = |text: &str| read_output(text, hpl).unwrap_err().to_string();
        assert!(
            refused("hello\n").starts_with("not the output of HPL"),
            "{}",
            refused("hello\n")
        );
        let failed = HPL.replace("PASSED", "FAILED");
        assert!(refused(&failed).starts_with("recognised as HPL"), "{}", refused(&failed));
    }
}
