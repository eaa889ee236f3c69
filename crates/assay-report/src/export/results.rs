//! Table of results: one row for each estimate of a metric.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::doubt::TrustLevel;
use assay_model::summary::MetricEstimate;
use assay_model::trust::DistrustReason;

use super::ExportedRun;
use super::table::{ColumnKind, ExportCell, ExportColumn, column};
use crate::render::json;

/// Result with its run.
#[derive(Debug)]
pub(super) struct ResultRow<'r> {
    pub(super) run: &'r ExportedRun,
    pub(super) estimate: &'r MetricEstimate,
}

impl ResultRow<'_> {
    /// Returns the level of trust in the value within its run.
    pub(super) fn trust(&self) -> TrustLevel {
        DistrustReason::level_of(DistrustReason::from_run(self.estimate, &self.run.summary))
    }
}

/// Returns the rows of a run.
pub(super) fn result_rows(run: &ExportedRun) -> impl Iterator<Item = ResultRow<'_>> {
    run.summary.results.iter().map(move |estimate| ResultRow { run, estimate })
}

type ResultColumn<'r> = ExportColumn<ResultRow<'r>>;

/// Returns the columns, which do not depend on the runs.
pub(super) fn result_columns<'r>() -> Vec<ResultColumn<'r>> {
    let mut columns = identity_columns();
    columns.extend(value_columns());
    columns.extend(origin_columns());
    columns.extend(condition_columns());
    columns
}

fn identity_columns<'r>() -> Vec<ResultColumn<'r>> {
    use ColumnKind::{Text, Time};
    vec![
        column("run", Text, "identifier of the run", |it| {
            ExportCell::text(&it.run.summary.run.id)
        }),
        column("time", Time, "start of the run, in UTC", |it| it.run.start_cell()),
        column("host", Text, "host that the result is about", |it| {
            ExportCell::text(&it.estimate.host)
        }),
        column("suite", Text, "suite, or the command that measured", |it| {
            ExportCell::text(&it.run.summary.run.suite)
        }),
        column("label", Text, "label of the run", |it| {
            ExportCell::optional_text(it.run.summary.run.label.as_deref())
        }),
        column("benchmark", Text, "identifier of the benchmark", |it| {
            ExportCell::text(&it.estimate.benchmark)
        }),
        column("case", Text, "identifier of the case in its run", |it| {
            ExportCell::text(&it.estimate.case)
        }),
        column("metric", Text, "name of the metric", |it| {
            ExportCell::text(&it.estimate.metric)
        }),
    ]
}

fn value_columns<'r>() -> Vec<ResultColumn<'r>> {
    use ColumnKind::{Integer, Number, Text};
    vec![
        column("unit", Text, "base unit of all values of the row", |it| {
            ExportCell::text(it.estimate.unit.symbol())
        }),
        column("better", Text, "`higher` or `lower`", |it| {
            ExportCell::text(it.estimate.better.name())
        }),
        column("value", Number, "median of the samples", |it| {
            ExportCell::number(it.estimate.median)
        }),
        column("low", Number, "low end of the median's interval", |it| {
            ExportCell::number(it.estimate.ci.map(|[low, _]| low))
        }),
        column("high", Number, "high end of the median's interval", |it| {
            ExportCell::number(it.estimate.ci.map(|[_, high]| high))
        }),
        column("level", Number, "confidence level of the interval", |it| {
            ExportCell::number(it.estimate.ci_level)
        }),
        column("n", Integer, "number of samples after the warm-up", |it| {
            ExportCell::count(it.estimate.n)
        }),
        column("n_effective", Number, "effective samples, reduced by autocorrelation", |it| {
            ExportCell::number(it.estimate.n_effective)
        }),
        column("min", Number, "minimum of the samples", |it| {
            ExportCell::number(it.estimate.min)
        }),
        column("max", Number, "maximum of the samples", |it| {
            ExportCell::number(it.estimate.max)
        }),
        column("mean", Number, "mean: arithmetic of a cost, harmonic of a rate", |it| {
            ExportCell::number(it.estimate.mean)
        }),
        column("limit", Number, "physical limit, if known", |it| {
            ExportCell::number(it.estimate.limit.as_ref().map(|limit| limit.value))
        }),
        column("percent_of_limit", Number, "value over the limit, in percent", |it| {
            ExportCell::number(it.estimate.percent_of_limit)
        }),
    ]
}

fn origin_columns<'r>() -> Vec<ResultColumn<'r>> {
    use ColumnKind::{Flag, Json, Text};
    vec![
        column("state", Text, "how the run ended: `complete`, `failed`, `partial` …", |it| {
            it.run.state_cell()
        }),
        column("trust", Text, "trust in the value: `sound`, `noisy` or `suspect`", |it| {
            ExportCell::text(it.trust().name())
        }),
        column("damaged", Flag, "whether events of the run are lost", |it| {
            ExportCell::Flag(!it.run.is_whole)
        }),
        column("tool", Text, "measurer: `assay` or a tool", |it| {
            ExportCell::text(&it.estimate.tool.name)
        }),
        column("version", Text, "version of the measurer", |it| {
            ExportCell::optional_text(it.estimate.tool.version.as_deref())
        }),
        column("warnings", Json, "identifiers of the doubts about the result", |it| {
            let ids: Vec<&str> = it.estimate.warnings.iter().map(|doubt| doubt.id()).collect();
            ExportCell::Json(json::to_json_line(&ids).into())
        }),
    ]
}

/// Returns the conditions: the common ones as columns of their own, and all as one object.
fn condition_columns<'r>() -> Vec<ResultColumn<'r>> {
    use ColumnKind::{Integer, Json, Text};
    vec![
        column("placement", Text, "CPUs that the workload ran on", |it| {
            it.text_condition(Attribute::Placement)
        }),
        column("threads", Integer, "number of threads", |it| {
            it.integer_condition(Attribute::Threads)
        }),
        column("ranks", Integer, "number of processes of an MPI program", |it| {
            it.integer_condition(Attribute::Ranks)
        }),
        column(
            "bytes",
            Integer,
            "size of a message, an I/O or a working set, in bytes",
            |it| it.integer_condition(Attribute::Bytes),
        ),
        column("operation", Text, "kind of operation: `read`, `write`, `mix` …", |it| {
            it.text_condition(Attribute::Operation)
        }),
        column("direction", Text, "direction of the data transfer", |it| {
            it.text_condition(Attribute::Direction)
        }),
        column("depth", Integer, "I/O in flight on each target", |it| {
            it.integer_condition(Attribute::Depth)
        }),
        column("streams", Integer, "number of concurrent connections", |it| {
            it.integer_condition(Attribute::Streams)
        }),
        column("peer", Text, "the other host of a pair", |it| {
            it.text_condition(Attribute::Peer)
        }),
        column("percentiles", Json, "percentiles with enough samples, by name", |it| {
            let percentiles = it.estimate.percentiles.as_ref();
            percentiles.map_or(ExportCell::Missing, |all| {
                ExportCell::Json(json::to_json_line(all).into())
            })
        }),
        column(
            "conditions",
            Json,
            "all conditions and facts: `parameters` of the JSON document",
            |it| {
                let all = json::parameters(&it.estimate.parameters);
                ExportCell::Json(json::to_json_line(&all).into())
            },
        ),
    ]
}

impl ResultRow<'_> {
    fn text_condition(&self, name: Attribute) -> ExportCell<'_> {
        ExportCell::optional_text(
            self.estimate.parameters.get(&name).and_then(AttributeValue::as_text),
        )
    }

    fn integer_condition(&self, name: Attribute) -> ExportCell<'_> {
        match self.estimate.parameters.get(&name) {
            Some(AttributeValue::Integer(number)) => ExportCell::count(*number),
            Some(
                AttributeValue::Flag(_)
                | AttributeValue::Number(_)
                | AttributeValue::Text(_)
                | AttributeValue::Reason(_)
                | AttributeValue::Pairs(_)
                | AttributeValue::Ranks(_),
            )
            | None => ExportCell::Missing,
        }
    }
}
