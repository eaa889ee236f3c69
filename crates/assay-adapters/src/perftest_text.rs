//! The tables of perftest's programs (`ib_send_lat`, `ib_write_bw` …), by the names in their heads.
//!
//! Columns have come and gone: before 2016 there were seven, and `MB/sec` was 2²⁰ bytes in every version
//! that printed it; since 24.07 the same figure is labelled `MiB/sec`. Lines of other programs between the
//! head and the figures are passed over.

use std::collections::BTreeMap;

use assay_model::doubt::{Doubt, Order};
use assay_model::quantity::Unit;

use crate::outputs::{ToolError, not_negative};

/// What a column holds, in base units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// Size of a message.
    Bytes,
    /// Messages.
    Iterations,
    /// `t_min`, in s.
    Min,
    /// `t_max`, in s: not the true maximum, as perftest cuts off the two slowest.
    Max,
    /// `t_typical`, in s: the median.
    Typical,
    /// `t_avg`, in s.
    Average,
    /// `t_stdev`, in s; without fractions of µs between 2022 and now.
    Deviation,
    /// In s.
    P99,
    /// In s.
    P999,
    /// The luckiest window, in B/s.
    PeakRate,
    /// The whole, in B/s.
    Rate,
    /// In messages per second.
    MessageRate,
}

/// Labels with what they stand for, and what a figure is multiplied by.
const COLUMNS: [(&str, Column, f64); 16] = [
    ("#bytes", Column::Bytes, 1.0),
    ("#iterations", Column::Iterations, 1.0),
    ("t_min[usec]", Column::Min, 1e-6),
    ("t_max[usec]", Column::Max, 1e-6),
    ("t_typical[usec]", Column::Typical, 1e-6),
    ("t_avg[usec]", Column::Average, 1e-6),
    ("t_stdev[usec]", Column::Deviation, 1e-6),
    ("99% percentile[usec]", Column::P99, 1e-6),
    ("99.9% percentile[usec]", Column::P999, 1e-6),
    ("BW peak[MB/sec]", Column::PeakRate, MEBI),
    ("BW peak[MiB/sec]", Column::PeakRate, MEBI),
    ("BW average[MB/sec]", Column::Rate, MEBI),
    ("BW average[MiB/sec]", Column::Rate, MEBI),
    ("BW peak[Gb/sec]", Column::PeakRate, 1e9 / 8.0),
    ("BW average[Gb/sec]", Column::Rate, 1e9 / 8.0),
    ("MsgRate[Mpps]", Column::MessageRate, 1e6),
];
const MEBI: f64 = 1_048_576.0;

/// One size.
pub type Row = BTreeMap<Column, f64>;

/// All rows of the first table.
///
/// # Errors
/// When there is no table, or a line of figures does not fit its head.
pub fn rows(text: &str) -> Result<Vec<Row>, ToolError> {
    let find =
        |what: &str| ToolError::Find { what: what.to_owned(), place: "the output of perftest" };
    let mut lines = text.lines();
    let head = lines.find(|line| is_head(line)).ok_or_else(|| find("table"))?;
    let columns = columns(head);
    if columns.len() < 3 {
        return Err(find("column that assay knows"));
    }
    let mut rows = Vec::new();
    for text in lines.take_while(|line| !line.trim_start().starts_with("-----")) {
        // A program may say something meanwhile.
        if text.trim_start().starts_with(|first: char| first.is_ascii_digit()) {
            rows.push(row(text, &columns)?);
        }
    }
    if rows.is_empty() { Err(find("figures below the head of a table")) } else { Ok(rows) }
}

/// Laws that a row breaks: one whose mean is below its minimum was not measured so, but edited or misprinted.
pub(crate) fn impossible(row: &Row) -> Vec<Doubt> {
    let of = |column: Column| row.get(&column).copied();
    let laws = [
        (Order::MinMean, Column::Min, Column::Average, Unit::Second),
        (Order::MeanMax, Column::Average, Column::Max, Unit::Second),
        (Order::MinMedian, Column::Min, Column::Typical, Unit::Second),
        (Order::MeanMax, Column::Rate, Column::PeakRate, Unit::BytePerSecond),
    ];
    let broken = laws.into_iter().filter_map(|(law, less, more, unit)| {
        let (less, more) = (of(less)?, of(more)?);
        // A peak of 0 was not measured: there is none in a test by duration.
        let is_none = unit == Unit::BytePerSecond && more <= 0.0;
        (less > more && !is_none).then_some(Doubt::OutOfOrder { law, less, more, unit })
    });
    broken.collect()
}

/// Whether a line is the head of a table.
pub(crate) fn is_head(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("#bytes") && line.contains("#iterations")
}

/// The columns of a head, from left to right: name, meaning, factor.
fn columns(head: &str) -> Vec<(&'static str, Column, f64)> {
    let mut found: Vec<_> = COLUMNS
        .iter()
        .filter_map(|(label, column, factor)| {
            Some((head.find(label)?, (*label, *column, *factor)))
        })
        .collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, column)| column).collect()
}

/// Columns beyond those that are known, such as that of `--cpu_util`, come last.
fn row(text: &str, columns: &[(&str, Column, f64)]) -> Result<Row, ToolError> {
    let figures: Vec<&str> = text.split_whitespace().collect();
    if figures.len() < columns.len() {
        let missing = format!("a row has {} of {} columns", figures.len(), columns.len());
        return Err(ToolError::ReachEnd { missing });
    }
    // perftest prints -nan of nothing, and negative times of very long tests.
    let one = |(figure, (label, column, factor)): (&&str, &(&str, Column, f64))| {
        Ok((*column, not_negative(label, figure)? * factor))
    };
    figures.iter().zip(columns).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: &str = include_str!("../tests/golden/perftest/ib_send_lat.txt");
    const BANDWIDTH: &str = include_str!("../tests/golden/perftest/ib_send_bw.txt");

    #[test]
    fn tables_of_real_programs_are_read_in_base_units() {
        let latency = rows(LATENCY).unwrap();
        let first = &latency[0];
        assert_eq!((first[&Column::Bytes], first[&Column::Iterations]), (2.0, 1000.0));
        assert!((first[&Column::Min] - 15.07e-6).abs() < 1e-12);
        assert!((first[&Column::Typical] - 28.82e-6).abs() < 1e-12);
        assert!((first[&Column::P999] - 16_838.93e-6).abs() < 1e-9);
        let bandwidth = rows(BANDWIDTH).unwrap();
        let last = bandwidth.last().unwrap();
        // Its own arithmetic shows the unit: 9.21 "MB/sec" and 147 messages of 64 KiB a second.
        assert!((last[&Column::Rate] - 9.21 * MEBI).abs() < 1.0);
        let by_messages = last[&Column::MessageRate] * last[&Column::Bytes];
        assert!((last[&Column::Rate] / by_messages - 1.0).abs() < 0.01, "{by_messages}");
    }

    #[test]
    fn what_others_say_between_head_and_figures_is_passed_over() {
        let head = "Conflicting CPU frequency values detected: 1.0 != 2.0. CPU Frequency is not max.\n";
        let noisy = LATENCY.replace("\n 2  ", &format!("\n{head}libibverbs: Warning\n 2  "));
        assert_ne!(noisy, LATENCY);
        assert_eq!(rows(&noisy), rows(LATENCY));
    }

    #[test]
    fn damaged_tables_are_refused_with_the_reason() {
        for (text, expected) in [
            ("", "no table in the output of perftest"),
            ("Couldn't connect to 10.0.0.1:18515\n", "no table in the output of perftest"),
            (
                " #bytes #iterations    t_min[usec]\n-----\n",
                "no figures below the head of a table in the output of perftest",
            ),
            (
                " #bytes #iterations    t_min[usec]\n 2 1000\n",
                "the output breaks off: a row has 2 of 3 columns",
            ),
            (
                " #bytes #iterations    t_min[usec]\n 2 1000 -nan\n",
                "t_min[usec] is \"-nan\", which is no plain number",
            ),
            (
                " #bytes #iterations    t_min[usec]\n 2 1000 -3.5\n",
                "t_min[usec] is \"-3.5\", which is no plain number",
            ),
        ] {
            assert_eq!(rows(text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
