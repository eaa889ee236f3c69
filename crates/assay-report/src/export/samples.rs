//! Table of samples: the measured values behind the results, the warm-up included.

use std::rc::Rc;

use assay_model::event::Sample;
use assay_model::run::{CaseRecord, SeriesRecord};
use assay_model::summary::MetricEstimate;

use super::ExportedRun;
use super::table::{ColumnKind, ExportCell, ExportColumn, column};
use crate::render::json;

/// Sample with its series.
#[derive(Debug)]
pub(super) struct SampleRow<'r> {
    run: &'r ExportedRun,
    case: &'r CaseRecord,
    series: &'r SeriesRecord,
    /// Unit of the metric, if the run names it.
    unit: Option<&'static str>,
    /// Dimensions of the series, as JSON.
    dimensions: Rc<str>,
    sample: &'r Sample,
}

/// Returns the samples of the finished cases of a run.
pub(super) fn sample_rows(run: &ExportedRun) -> impl Iterator<Item = SampleRow<'_>> {
    let all = run
        .run
        .finished_cases()
        .flat_map(|case| case.series.iter().map(move |series| (case, series)));
    all.flat_map(move |(case, series)| {
        let dimensions: Rc<str> =
            json::to_json_line(&json::parameters(&series.dimensions)).into();
        let unit = metric_unit(run, case, &series.metric);
        series.samples.iter().map(move |sample| SampleRow {
            run,
            case,
            series,
            unit,
            dimensions: Rc::clone(&dimensions),
            sample,
        })
    })
}

/// Returns the unit of a metric: that of the benchmark's row, or of the run's result.
fn metric_unit(run: &ExportedRun, record: &CaseRecord, metric: &str) -> Option<&'static str> {
    let case = &record.case;
    let defined = case.workload.benchmark().metric(metric).map(|it| it.unit);
    let is_this = |it: &&MetricEstimate| it.case == case.id && it.metric == metric;
    let measured = || run.summary.results.iter().find(is_this).map(|it| it.unit);
    defined.or_else(measured).map(|unit| unit.symbol())
}

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
            ExportCell::optional_text(it.unit)
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
            ExportCell::Json((&*it.dimensions).into())
        }),
    ]
}
