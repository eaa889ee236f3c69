//! Table of samples: the measured values behind the results, the warm-up included.

use assay_model::event::Sample;
use assay_model::run::{CaseRecord, SeriesRecord};

use super::ExportedRun;
use super::table::{ColumnKind, ExportCell, ExportColumn};
use crate::render::json;

/// Sample with its series.
#[derive(Debug)]
pub(super) struct SampleRow<'r> {
    run: &'r ExportedRun,
    case: &'r CaseRecord,
    series: &'r SeriesRecord,
    /// Dimensions of the series, as JSON.
    dimensions: &'r str,
    sample: &'r Sample,
}

const fn column<'r>(
    name: &'static str,
    kind: ColumnKind,
    meaning: &'static str,
    cell: for<'c> fn(&'c SampleRow<'r>) -> ExportCell<'c>,
) -> ExportColumn<SampleRow<'r>> {
    ExportColumn { name, kind, meaning, cell }
}

/// Passes every sample of the finished cases of a run to `add`.
pub(super) fn visit_samples(run: &ExportedRun, mut add: impl FnMut(&SampleRow<'_>)) {
    for case in run.run.finished_cases() {
        for series in &case.series {
            let dimensions = json::to_json_line(&json::parameters(&series.dimensions));
            for sample in &series.samples {
                add(&SampleRow { run, case, series, dimensions: &dimensions, sample });
            }
        }
    }
}

/// Returns the columns.
pub(super) fn sample_columns<'r>() -> Vec<ExportColumn<SampleRow<'r>>> {
    use ColumnKind::{Integer, Json, Number, Text};
    vec![
        column("run", Text, "identifier of the run", |it| {
            ExportCell::text(&it.run.summary.run.id)
        }),
        column("benchmark", Text, "identifier of the benchmark", |it| {
            ExportCell::text(it.case.case.workload.benchmark().id())
        }),
        column("case", Text, "identifier of the case in its run", |it| {
            ExportCell::text(&it.case.case.id)
        }),
        column("metric", Text, "name of the metric", |it| ExportCell::text(&it.series.metric)),
        column("unit", Text, "base unit of the value, if the run names it", |it| {
            ExportCell::optional_text(it.unit())
        }),
        column("value", Number, "measured value", |it| ExportCell::number(it.sample.value)),
        column("weight", Number, "weight of the value in means", |it| {
            ExportCell::number(it.sample.weight)
        }),
        column("preparation", Integer, "number of its preparation, from 0", |it| {
            ExportCell::Integer(it.sample.preparation.into())
        }),
        column("at_ns", Integer, "time since the start of the run, in nanoseconds", |it| {
            ExportCell::count(it.sample.at_ns)
        }),
        column("conditions", Json, "dimensions of its series", |it| {
            ExportCell::Json(it.dimensions.into())
        }),
    ]
}

impl SampleRow<'_> {
    /// Returns the unit of the metric: that of the benchmark's row, or of the run's result.
    fn unit(&self) -> Option<&'static str> {
        let (case, metric) = (&self.case.case, &self.series.metric);
        let defined = case.workload.benchmark().metric(metric).map(|it| it.unit);
        let results = &self.run.summary.results;
        let measured = || {
            let is_this = |it: &&_| -> bool {
                let it: &assay_model::summary::MetricEstimate = it;
                it.case == case.id && it.metric == *metric
            };
            results.iter().find(is_this).map(|it| it.unit)
        };
        defined.or_else(measured).map(|unit| unit.symbol())
    }
}
