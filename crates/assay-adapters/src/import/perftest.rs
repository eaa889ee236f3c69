//! Tables of perftest. Its `MB/sec` are 2²⁰ B/s and its `Gb/sec` 10⁹ bit/s (`perftest_resources.c` divides by
//! 0x100000 and, with `--report_gbits`, by 10⁹ after × 8); its latency is half a round trip for `send` and
//! `write`, and a whole one for `read` and `atomic`.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::{Doubt, Order};
use assay_model::quantity::Unit;

use super::{Found, missing, parts};
use crate::outputs::{Parsed, ToolError, not_negative, number, whole};

pub(super) fn is(text: &str) -> bool {
    text.lines().any(is_heading)
}

fn is_heading(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("#bytes") && line.contains("#iterations")
}

const MIB: f64 = 1024.0 * 1024.0;
/// Start of a heading, metric, factor to its base unit.
const COLUMNS: [(&str, &str, f64); 12] = [
    ("t_min[usec]", "time_min", 1e-6),
    ("t_max[usec]", "time_max", 1e-6),
    ("t_typical[usec]", "time", 1e-6),
    ("t_avg[usec]", "time_mean", 1e-6),
    ("t_stdev[usec]", "time_deviation", 1e-6),
    ("BW peak[MB/sec]", "", MIB),
    ("BW average[MB/sec]", "bandwidth", MIB),
    ("BW peak[MiB/sec]", "", MIB),
    ("BW average[MiB/sec]", "bandwidth", MIB),
    ("BW peak[Gb/sec]", "", 1e9),
    ("BW average[Gb/sec]", "bit_rate", 1e9),
    ("MsgRate[Mpps]", "event_rate", 1e6),
];

/// One measurement for each table.
pub(super) fn read(text: &str) -> Result<Vec<Found>, ToolError> {
    let tables = parts(text, |line| line.ends_with(" Test") || line.ends_with(" BW"));
    let tables = if tables.is_empty() { vec![text.to_owned()] } else { tables };
    let tables = tables.iter().filter(|part| part.lines().any(is_heading));
    tables.map(|part| table(part)).collect()
}

fn table(text: &str) -> Result<Found, ToolError> {
    let mut lines = text.lines().map(str::trim);
    let title = lines.clone().find(|line| line.ends_with(" Test")).unwrap_or("perftest");
    let title = title.trim_end_matches(" Test").trim_start_matches("RDMA_").trim();
    let heading = lines.find(|line| is_heading(line)).unwrap_or_default();
    let mut columns: Vec<(usize, &str, f64)> = COLUMNS
        .iter()
        .filter_map(|(word, metric, factor)| Some((heading.find(word)?, *metric, *factor)))
        .collect();
    columns.sort_by_key(|(at, _, _)| *at);
    if columns.is_empty() {
        return Err(missing("column of perftest that assay knows"));
    }
    let mut parsed = Parsed::default();
    for line in lines.take_while(|line| !line.starts_with("---")) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if !fields.first().is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit())) {
            continue;
        }
        row(&fields, &columns, &mut parsed)?;
    }
    Ok(Found {
        name: title.to_lowercase().replace(' ', "-"),
        benchmark: Benchmark::Foreign,
        dimensions: Attributes::from([(Attribute::Test, format!("perftest {title}").into())]),
        system: None,
        began_s: None,
        parsed,
    })
}

fn row(
    fields: &[&str],
    columns: &[(usize, &'static str, f64)],
    parsed: &mut Parsed,
) -> Result<(), ToolError> {
    if fields.len() < columns.len() + 2 {
        let missing = format!("a row has {} of {} columns", fields.len(), columns.len() + 2);
        return Err(ToolError::ReachEnd { missing });
    }
    let bytes = whole("#bytes", fields[0])?;
    let values = columns.iter().zip(&fields[2..]);
    let mut ordered: Vec<(&str, f64)> = Vec::new();
    for ((_, metric, factor), field) in values {
        let value = number(metric, field)? * factor;
        not_negative(metric, field)?;
        ordered.push((metric, value));
        if !metric.is_empty() && value > 0.0 {
            let apart = Attributes::from([(Attribute::Bytes, bytes.into())]);
            parsed.measure_apart(metric, apart, vec![value]);
        }
    }
    // A table whose mean is below its minimum was not measured so: it has been edited or misprinted.
    let of = |name: &str| ordered.iter().find(|(metric, _)| *metric == name).map(|it| it.1);
    let laws = [
        (Order::MinMean, "time_min", "time_mean"),
        (Order::MeanMax, "time_mean", "time_max"),
        (Order::MinMedian, "time_min", "time"),
    ];
    for (law, less, more) in laws {
        if let (Some(less), Some(more)) = (of(less), of(more))
            && less > more
        {
            parsed.doubts.push(Doubt::OutOfOrder { law, less, more, unit: Unit::Second });
        }
    }
    Ok(())
}
