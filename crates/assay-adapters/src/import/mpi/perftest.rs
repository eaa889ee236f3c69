//! Import of perftest's tables. Latency is half of a round trip for `send` and `write`, and a full
//! round trip for `read` and `atomic`.

use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::benchmark::{Benchmark, RdmaTest};
use assay_model::event::ToolFigures;

use super::super::{
    FileContents, ImportedMeasurement, TextPart, mixed_lines, reject_cut_number, split_parts,
};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError};
use crate::perftest_text::{
    self, PerftestColumn, PerftestRow, is_head, order_violations, printed_figures,
};

pub(super) fn is_perftest(text: &str) -> bool {
    text.lines().any(is_head)
}

/// Columns and their metrics, for tests without an equivalent in assay.
const METRICS: [(PerftestColumn, &str); 8] = [
    (PerftestColumn::Min, "time_min"),
    (PerftestColumn::Max, "time_max"),
    (PerftestColumn::Typical, "time"),
    (PerftestColumn::Average, "time_mean"),
    (PerftestColumn::Deviation, "time_deviation"),
    (PerftestColumn::Rate, "bandwidth"),
    (PerftestColumn::MessageRate, "event_rate"),
    (PerftestColumn::EventRate, "event_rate"),
];

/// Reads one measurement for each row, because iterations and doubts differ from row to row. A
/// damaged table does not refuse the others.
pub(super) fn read(text: &str) -> Result<FileContents, ToolError> {
    reject_cut_number(text)?;
    let tables = split_parts(text, |line| line.ends_with(" Test") || line.ends_with(" BW"))?;
    let whole = TextPart { text: text.to_owned(), lines: 1..=text.lines().count().max(1) };
    let tables = if tables.is_empty() { vec![whole] } else { tables };
    let mut contents = FileContents::default();
    for part in &tables {
        let rows = match check_head(part).and_then(|()| read_table(&part.text)) {
            Ok(rows) => rows,
            Err(error) => {
                contents.add_part(Some(part.lines.clone()), "table of perftest", Err(error));
                continue;
            }
        };
        // Lines may be equal, so each search continues after the line of the previous row.
        let skipped = part.lines.start().saturating_sub(1);
        let mut lines = (1_usize..).zip(text.lines()).skip(skipped);
        for (row, mut measurement) in rows {
            let line = lines.find(|(_, line)| *line == row);
            measurement.lines = line.map(|(number, _)| number..=number);
            contents.measurements.push(measurement);
        }
        check_limit(contents.measurements.len(), ("rows", MAX_MEASUREMENTS))?;
    }
    Ok(contents)
}

/// Checks that a part has a table, and that its head is that of one process.
fn check_head(part: &TextPart) -> Result<(), ToolError> {
    let lines = || part.own_lines().map(|(_, line)| line);
    if !lines().any(is_head) {
        let missing = "the table of the test is missing".to_owned();
        return Err(ToolError::Truncated { missing });
    }
    let above = || lines().take_while(|line| !is_head(line));
    let is_repeated = |name: &str| above().filter(|line| line.contains(name)).count() > 1;
    match ["Connection type", "TX depth", "Max inline data"]
        .into_iter()
        .find(|it| is_repeated(it))
    {
        Some(name) => Err(mixed_lines(&format!("{name:?} occurs twice above a table"))),
        None => Ok(()),
    }
}

/// Reads the measurements of a table, each with its line.
fn read_table(text: &str) -> Result<Vec<(String, ImportedMeasurement)>, ToolError> {
    let title = text.lines().map(str::trim).find(|line| line.ends_with(" Test"));
    let title = title.unwrap_or("perftest");
    let title = title.trim_end_matches(" Test").trim_start_matches("RDMA_").trim();
    let name = measurement_name(title);
    let head = PerftestConditions {
        conditions: perftest_text::conditions(text),
        network_path: perftest_text::path_attributes(text),
    };
    let import_row = |(line, row): &(&str, PerftestRow)| {
        let measurement = build_measurement((title, &name), row, &head);
        ((*line).to_owned(), measurement)
    };
    Ok(perftest_text::parse_rows_with_lines(text)?.iter().map(import_row).collect())
}

/// Returns the name of a test for its measurements: `Send Latency Test` is `send-latency`.
pub(super) fn measurement_name(title: &str) -> String {
    let title = title.trim_end_matches(" Test").trim_start_matches("RDMA");
    let title = title.trim_start_matches(['_', ' ']).trim();
    title.to_lowercase().replace(' ', "-")
}

/// Conditions and path of a test, from the lines above its table.
pub(super) struct PerftestConditions {
    pub(super) conditions: Attributes,
    pub(super) network_path: Vec<(Attribute, AttributeValue)>,
}

/// Builds the measurement of one row.
pub(super) fn build_measurement(
    (title, name): (&str, &str),
    row: &PerftestRow,
    head: &PerftestConditions,
) -> ImportedMeasurement {
    let integer = |column: PerftestColumn| row.get(&column).map(|it| *it as u64);
    let size_columns = [
        (PerftestColumn::Bytes, Attribute::Bytes),
        (PerftestColumn::ServiceLevel, Attribute::ServiceLevel),
    ];
    let size_dimensions: Attributes = size_columns
        .into_iter()
        .filter_map(|(column, name)| Some((name, integer(column)?.into())))
        .collect();
    let size = integer(PerftestColumn::Bytes).or_else(|| integer(PerftestColumn::Flows));
    let name = format!("{name}/{}", size.unwrap_or_default());
    let mut parsed = ParsedOutput { doubts: order_violations(row), ..ParsedOutput::default() };
    let path = head.network_path.iter();
    path.for_each(|(name, value)| parsed.set_attribute(*name, value.clone()));
    let mut dimensions = head.conditions.clone();
    let benchmark = match find_test(&name) {
        Some((test, is_both)) => {
            add_native_figures(test, row, &mut parsed);
            dimensions.extend(size_dimensions);
            dimensions.extend(is_both.then(|| (Attribute::Direction, "both".into())));
            Benchmark::Rdma(test)
        }
        None => {
            add_foreign_figures(row, &size_dimensions, &mut parsed);
            dimensions.insert(Attribute::Test, format!("perftest {title}").into());
            Benchmark::Foreign
        }
    };
    ImportedMeasurement::new(name, benchmark, dimensions, parsed)
}

/// Returns assay's equivalent test, and whether both ends send: `send-latency/2` is `rdma.send_lat`.
fn find_test(name: &str) -> Option<(RdmaTest, bool)> {
    let (name, _) = name.split_once('/')?;
    let one_way = name.replace("-bidirectional", "");
    let is_both = one_way != name;
    let name = one_way.as_str();
    let (operation, kind) = name.rsplit_once('-')?;
    // perftest has two atomic operations, assay only fetch-and-add.
    let operation = if operation == "atomic-fetch_and_add" { "atomic" } else { operation };
    let kind = match kind {
        "latency" => "lat",
        "bw" => "bw",
        _ => return None,
    };
    let wanted = format!("{operation}_{kind}");
    let test = RdmaTest::ALL.into_iter().find(|test| test.name() == wanted)?;
    Some((test, is_both))
}

/// Adds the figures with the metrics of assay's equivalent test; the median is `t_typical`.
fn add_native_figures(test: RdmaTest, row: &PerftestRow, parsed: &mut ParsedOutput) {
    let positive =
        |column: PerftestColumn| row.get(&column).copied().filter(|value| *value > 0.0);
    if let Some(iterations) = positive(PerftestColumn::Iterations) {
        parsed.set_attribute(Attribute::Iterations, iterations as u64);
    }
    if test.is_bandwidth() {
        let figures = [perftest_text::bandwidth(row), positive(PerftestColumn::MessageRate)];
        for (metric, value) in ["bandwidth", "message_rate"].into_iter().zip(figures) {
            value.into_iter().for_each(|value| parsed.add_samples(metric, vec![value]));
        }
        return;
    }
    let metric = test.latency_metric();
    // A test of fixed duration (`-D`) records no single times and prints only the mean.
    let median = positive(PerftestColumn::Typical).map(|median| (median, "median"));
    let value = median.or_else(|| Some((positive(PerftestColumn::Average)?, "mean")));
    if let Some((value, statistic)) = value {
        parsed.add_samples(metric, vec![value]);
        parsed.set_metric_attribute(metric, Attribute::Statistic, statistic);
        let tails = [("p99", PerftestColumn::P99), ("p99.9", PerftestColumn::P999)];
        let tails =
            tails.into_iter().filter_map(|(name, it)| Some((name.to_owned(), positive(it)?)));
        parsed.set_figures(
            metric,
            ToolFigures {
                min: positive(PerftestColumn::Min),
                mean: positive(PerftestColumn::Average),
                // `t_max` is not the maximum: perftest excludes the two slowest values.
                max: None,
                percentiles: tails.collect(),
                count: positive(PerftestColumn::Iterations).map(|it| it as u64),
            },
        );
        for (name, figure) in printed_figures(row) {
            parsed.set_metric_attribute(metric, name, figure);
        }
    }
}

/// Adds the figures of a test without an equivalent in assay.
fn add_foreign_figures(row: &PerftestRow, sized: &Attributes, parsed: &mut ParsedOutput) {
    for (column, metric) in METRICS {
        if let Some(value) = row.get(&column).copied().filter(|value| *value > 0.0) {
            parsed.add_series(metric, sized.clone(), vec![value]);
        }
    }
}
