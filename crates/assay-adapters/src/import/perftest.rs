//! Tables of perftest. Latency is half a round trip for `send` and `write`, and a whole one for `read` and
//! `atomic`.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::{Doubt, Order};
use assay_model::quantity::Unit;

use super::{Found, parts};
use crate::outputs::{Parsed, ToolError};
use crate::perftest_text::{self, Column, Row, is_head};

pub(super) fn is(text: &str) -> bool {
    text.lines().any(is_head)
}

/// Columns, and the metrics that they are of.
const METRICS: [(Column, &str); 7] = [
    (Column::Min, "time_min"),
    (Column::Max, "time_max"),
    (Column::Typical, "time"),
    (Column::Average, "time_mean"),
    (Column::Deviation, "time_deviation"),
    (Column::Rate, "bandwidth"),
    (Column::MessageRate, "event_rate"),
];

/// One measurement for each table.
pub(super) fn read(text: &str) -> Result<Vec<Found>, ToolError> {
    let tables = parts(text, |line| line.ends_with(" Test") || line.ends_with(" BW"));
    let tables = if tables.is_empty() { vec![text.to_owned()] } else { tables };
    let tables = tables.iter().filter(|part| part.lines().any(is_head));
    tables.map(|part| table(part)).collect()
}

fn table(text: &str) -> Result<Found, ToolError> {
    let title = text.lines().map(str::trim).find(|line| line.ends_with(" Test"));
    let title = title.unwrap_or("perftest");
    let title = title.trim_end_matches(" Test").trim_start_matches("RDMA_").trim();
    let mut parsed = Parsed::default();
    perftest_text::rows(text)?.iter().for_each(|found| row(found, &mut parsed));
    Ok(Found {
        name: title.to_lowercase().replace(' ', "-"),
        benchmark: Benchmark::Foreign,
        dimensions: Attributes::from([(Attribute::Test, format!("perftest {title}").into())]),
        system: None,
        began_s: None,
        parsed,
    })
}

fn row(row: &Row, parsed: &mut Parsed) {
    let bytes = row.get(&Column::Bytes).copied().unwrap_or_default() as u64;
    let of = |column: Column| row.get(&column).copied();
    for (column, metric) in METRICS {
        if let Some(value) = of(column).filter(|value| *value > 0.0) {
            let apart = Attributes::from([(Attribute::Bytes, bytes.into())]);
            parsed.measure_apart(metric, apart, vec![value]);
        }
    }
    // A table whose mean is below its minimum was not measured so: it has been edited or misprinted.
    let laws = [
        (Order::MinMean, Column::Min, Column::Average),
        (Order::MeanMax, Column::Average, Column::Max),
        (Order::MinMedian, Column::Min, Column::Typical),
    ];
    for (law, less, more) in laws {
        if let (Some(less), Some(more)) = (of(less), of(more))
            && less > more
        {
            parsed.doubts.push(Doubt::OutOfOrder { law, less, more, unit: Unit::Second });
        }
    }
}
