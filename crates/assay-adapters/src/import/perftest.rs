//! Import of perftest's tables. Latency is half a round trip for `send` and `write`, and a whole
//! one for `read` and `atomic`.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::{Benchmark, RdmaTest};
use assay_model::event::ToolFigures;

use super::{Found, parts, whole};
use crate::outputs::{Parsed, ToolError};
use crate::perftest_text::{self, Column, Row, figures, impossible, is_head};

pub(super) fn is(text: &str) -> bool {
    text.lines().any(is_head)
}

/// Columns and their metrics, for tests that assay does not have.
const METRICS: [(Column, &str); 8] = [
    (Column::Min, "time_min"),
    (Column::Max, "time_max"),
    (Column::Typical, "time"),
    (Column::Average, "time_mean"),
    (Column::Deviation, "time_deviation"),
    (Column::Rate, "bandwidth"),
    (Column::MessageRate, "event_rate"),
    (Column::EventRate, "event_rate"),
];

/// Reads one measurement for each row: each has its own iterations and its own doubts.
pub(super) fn read(text: &str) -> Result<Vec<Found>, ToolError> {
    whole(text)?;
    let tables = parts(text, |line| line.ends_with(" Test") || line.ends_with(" BW"));
    let tables = if tables.is_empty() { vec![text.to_owned()] } else { tables };
    let tables = tables.iter().filter(|part| part.lines().any(is_head));
    let rows: Vec<Vec<(String, Found)>> =
        tables.map(|part| table(part)).collect::<Result<_, _>>()?;
    // Rows are in the order of their lines; several lines may be equal.
    let mut lines = (1_u64..).zip(text.lines());
    let numbered = |(row, mut found): (String, Found)| {
        let line = lines.find(|(_, line)| *line == row);
        line.into_iter()
            .for_each(|(number, _)| found.parsed.learn(Attribute::SourceLine, number));
        found
    };
    Ok(rows.into_iter().flatten().map(numbered).collect())
}

/// Reads the measurements of a table, each with its line.
fn table(text: &str) -> Result<Vec<(String, Found)>, ToolError> {
    let title = text.lines().map(str::trim).find(|line| line.ends_with(" Test"));
    let title = title.unwrap_or("perftest");
    let title = title.trim_end_matches(" Test").trim_start_matches("RDMA_").trim();
    let name = title.to_lowercase().replace(' ', "-");
    let way = perftest_text::way(text);
    let found = |(line, row): &(&str, Row)| {
        let whole = |column: Column| row.get(&column).map(|it| *it as u64);
        let apart = [
            (Column::Bytes, Attribute::Bytes),
            (Column::ServiceLevel, Attribute::ServiceLevel),
        ];
        let sized: Attributes = apart
            .into_iter()
            .filter_map(|(column, name)| Some((name, whole(column)?.into())))
            .collect();
        let of = whole(Column::Bytes).or_else(|| whole(Column::Flows));
        let name = format!("{name}/{}", of.unwrap_or_default());
        let mut parsed = Parsed { doubts: impossible(row), ..Parsed::default() };
        way.iter().for_each(|(name, value)| parsed.learn(*name, value.clone()));
        let (benchmark, dimensions) = match test(&name) {
            Some(test) => {
                native(test, row, &mut parsed);
                (Benchmark::Rdma(test), sized)
            }
            None => {
                foreign(row, &sized, &mut parsed);
                let of = (Attribute::Test, format!("perftest {title}").into());
                (Benchmark::Foreign, Attributes::from([of]))
            }
        };
        let found = Found { name, benchmark, dimensions, system: None, began_s: None, parsed };
        ((*line).to_owned(), found)
    };
    Ok(perftest_text::rows_with_lines(text)?.iter().map(found).collect())
}

/// Returns assay's equivalent test: `send-latency/2` is `rdma.send_lat`.
fn test(name: &str) -> Option<RdmaTest> {
    let (name, _) = name.split_once('/')?;
    let (operation, kind) = name.rsplit_once('-')?;
    // perftest names the atomic operation; assay has only fetch-and-add.
    let operation = if operation == "atomic-fetch_and_add" { "atomic" } else { operation };
    let kind = match kind {
        "latency" => "lat",
        "bw" => "bw",
        _ => return None,
    };
    let wanted = format!("{operation}_{kind}");
    RdmaTest::ALL.into_iter().find(|test| test.name() == wanted)
}

/// Adds the figures in the form of assay's own test; the median is `t_typical`.
fn native(test: RdmaTest, row: &Row, parsed: &mut Parsed) {
    let of = |column: Column| row.get(&column).copied().filter(|value| *value > 0.0);
    if let Some(iterations) = of(Column::Iterations) {
        parsed.learn(Attribute::Iterations, iterations as u64);
    }
    if test.is_bandwidth() {
        let figures = [perftest_text::bandwidth(row), of(Column::MessageRate)];
        for (metric, value) in ["bandwidth", "message_rate"].into_iter().zip(figures) {
            value.into_iter().for_each(|value| parsed.measure(metric, vec![value]));
        }
        return;
    }
    let metric = test.latency_metric();
    // A test of fixed duration records no single values and prints only the mean.
    let median = of(Column::Typical).map(|median| (median, "median"));
    let value = median.or_else(|| Some((of(Column::Average)?, "mean")));
    if let Some((value, statistic)) = value {
        parsed.measure(metric, vec![value]);
        parsed.learn_of(metric, Attribute::Statistic, statistic);
        let tails = [("p99", Column::P99), ("p99.9", Column::P999)];
        let tails = tails.into_iter().filter_map(|(name, it)| Some((name.to_owned(), of(it)?)));
        parsed.figures(
            metric,
            ToolFigures {
                min: of(Column::Min),
                mean: of(Column::Average),
                // `t_max` excludes the two slowest values, also when assay starts the tool.
                max: None,
                percentiles: tails.collect(),
            },
        );
        for (name, figure) in figures(row) {
            parsed.learn_of(metric, name, figure);
        }
    }
}

/// Adds the figures of a test that assay does not have.
fn foreign(row: &Row, sized: &Attributes, parsed: &mut Parsed) {
    for (column, metric) in METRICS {
        if let Some(value) = row.get(&column).copied().filter(|value| *value > 0.0) {
            parsed.measure_apart(metric, sized.clone(), vec![value]);
        }
    }
}
