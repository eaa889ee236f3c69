//! Parser of the tables of perftest's programs (`ib_send_lat`, `ib_write_bw` …), by the labels in
//! their heads.
//!
//! Columns differ between the versions: before 2016 there were seven, and `MB/sec` was 2²⁰ bytes in
//! every version that printed it; since 24.07 the same figure is labelled `MiB/sec`. A table with
//! an unknown column before a known one is rejected, because all later figures would be attributed
//! to the wrong columns. Lines of other programs between the head and the figures are skipped.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::doubt::{Doubt, FigureOrder};
use assay_model::quantity::Unit;

use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ToolError, parse_non_negative};

/// Content of a column, in base units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PerftestColumn {
    /// Size of a message.
    Bytes,
    /// Number of flow-steering rules.
    Flows,
    /// Priority of the messages: InfiniBand's service level.
    ServiceLevel,
    /// Number of messages.
    Iterations,
    /// `t_min`, in s.
    Min,
    /// `t_max`, in s: not the true maximum, as perftest discards the two slowest.
    Max,
    /// `t_typical`, in s: the median.
    Typical,
    /// `t_avg`, in s.
    Average,
    /// `t_stdev`, in s; without fractions of µs since 2022.
    Deviation,
    /// 99th percentile, in s.
    P99,
    /// 99.9th percentile, in s.
    P999,
    /// Peak bandwidth: the fastest window, in B/s.
    PeakRate,
    /// Average bandwidth, in B/s.
    Rate,
    /// In messages per second.
    MessageRate,
    /// Round trips or rules per second, in tests of fixed duration.
    EventRate,
}

/// Label of a head, its column if the figures are used, and their factor to the base unit.
type ColumnLabel = (&'static str, Option<PerftestColumn>, f64);

/// Every label of perftest 4 to 26 (`perftest_parameters.h`, `RESULT_FMT…`).
const LABELS: [ColumnLabel; 36] = [
    ("#bytes", Some(PerftestColumn::Bytes), 1.0),
    ("#flows", Some(PerftestColumn::Flows), 1.0),
    ("#sl", Some(PerftestColumn::ServiceLevel), 1.0),
    ("#iterations", Some(PerftestColumn::Iterations), 1.0),
    ("t_min[usec]", Some(PerftestColumn::Min), MICRO),
    ("t_max[usec]", Some(PerftestColumn::Max), MICRO),
    ("t_typical[usec]", Some(PerftestColumn::Typical), MICRO),
    ("t_avg[usec]", Some(PerftestColumn::Average), MICRO),
    ("t_stdev[usec]", Some(PerftestColumn::Deviation), MICRO),
    ("99% percentile[usec]", Some(PerftestColumn::P99), MICRO),
    ("99.9% percentile[usec]", Some(PerftestColumn::P999), MICRO),
    ("fs_min_time[usec]", Some(PerftestColumn::Min), MICRO),
    ("fs_max_time[usec]", Some(PerftestColumn::Max), MICRO),
    ("fs_typical_time[usec]", Some(PerftestColumn::Typical), MICRO),
    ("fs_avg_time[usec]", Some(PerftestColumn::Average), MICRO),
    ("tps average", Some(PerftestColumn::EventRate), 1.0),
    ("fps[flow per sec]", Some(PerftestColumn::EventRate), 1.0),
    ("BW peak[MB/sec]", Some(PerftestColumn::PeakRate), MEBI),
    ("BW peak[MiB/sec]", Some(PerftestColumn::PeakRate), MEBI),
    ("BW peak[Gb/sec]", Some(PerftestColumn::PeakRate), GIGABIT),
    ("BW average[MB/sec]", Some(PerftestColumn::Rate), MEBI),
    ("BW average[MiB/sec]", Some(PerftestColumn::Rate), MEBI),
    ("BW average[Gb/sec]", Some(PerftestColumn::Rate), GIGABIT),
    ("MsgRate[Mpps]", Some(PerftestColumn::MessageRate), 1e6),
    // Unused: figures of one port, of the slowest stretch and of the processor. Only the totals
    // count.
    ("BW min[MiB/sec]", None, MEBI),
    ("BW min[Gb/sec]", None, GIGABIT),
    ("BW Port1[MB/sec]", None, MEBI),
    ("BW Port2[MB/sec]", None, MEBI),
    ("BW Port1[MiB/sec]", None, MEBI),
    ("BW Port2[MiB/sec]", None, MEBI),
    ("BW Port1[Gb/sec]", None, GIGABIT),
    ("BW Port2[Gb/sec]", None, GIGABIT),
    ("MsgRate Port1[Mpps]", None, 1e6),
    ("MsgRate Port2[Mpps]", None, 1e6),
    ("CPU_Util[%]", None, 0.01),
    ("CPU_Util[%%]", None, 0.01),
];
const MICRO: f64 = 1e-6;
/// Holds for both labels: `format_factor` is 0x100000 in every version.
const MEBI: f64 = 1_048_576.0;
const GIGABIT: f64 = 1e9 / 8.0;

/// Columns of times, and the facts that they become.
const TIME_FACTS: [(PerftestColumn, Attribute); 7] = [
    (PerftestColumn::Min, Attribute::PerftestMin),
    (PerftestColumn::Max, Attribute::PerftestMax),
    (PerftestColumn::Typical, Attribute::PerftestTypical),
    (PerftestColumn::Average, Attribute::PerftestAverage),
    (PerftestColumn::Deviation, Attribute::PerftestDeviation),
    (PerftestColumn::P99, Attribute::PerftestP99),
    (PerftestColumn::P999, Attribute::PerftestP999),
];

/// Row of a table: the figures of one size.
pub type PerftestRow = BTreeMap<PerftestColumn, f64>;

/// Parses all rows of the first table.
///
/// # Errors
/// If there is no table, its head has an unknown column before a known one, a line of figures does
/// not match the head, or the figures of a line contradict each other.
pub fn parse_rows(text: &str) -> Result<Vec<PerftestRow>, ToolError> {
    Ok(parse_rows_with_lines(text)?.into_iter().map(|(_, row)| row).collect())
}

/// Parses all rows of the first table, each with its line.
pub(crate) fn parse_rows_with_lines(text: &str) -> Result<Vec<(&str, PerftestRow)>, ToolError> {
    let find = |what: &str| ToolError::Missing {
        what: what.to_owned(),
        place: "the output of perftest",
    };
    let mut lines = text.lines();
    let head = lines.find(|line| is_head(line)).ok_or_else(|| find("table"))?;
    let head = TableHead::parse(head)?;
    if head.labels.len() < 3 {
        return Err(find("known column"));
    }
    let mut rows = Vec::new();
    for text in lines.take_while(|line| !line.trim_start().starts_with("-----")) {
        // Other programs may print lines in between.
        if text.trim_start().starts_with(|first: char| first.is_ascii_digit()) {
            check_limit(rows.len() + 1, ("rows of a table", MAX_MEASUREMENTS))?;
            rows.push((text, head.parse_row(text)?));
        }
    }
    if rows.is_empty() { Err(find("figures below the head of a table")) } else { Ok(rows) }
}

/// Largest message whose number per second, `0.002493` million, is printed with more digits than
/// the bandwidth, `0.00`.
const MAX_BYTES_BY_MESSAGE_RATE: f64 = 4096.0;

/// Returns the bandwidth of a row, from the figure with more digits; the parser has checked that
/// both agree. `None` if that figure is 0, which is not a measurement.
pub(crate) fn bandwidth(row: &PerftestRow) -> Option<f64> {
    let of = |column: PerftestColumn| row.get(&column).copied();
    let bytes = of(PerftestColumn::Bytes).filter(|bytes| *bytes <= MAX_BYTES_BY_MESSAGE_RATE);
    let by_number =
        bytes.zip(of(PerftestColumn::MessageRate)).map(|(bytes, each)| bytes * each);
    by_number.or_else(|| of(PerftestColumn::Rate)).filter(|rate| *rate > 0.0)
}

/// Returns the figures of a row as perftest printed them.
pub(crate) fn printed_figures(row: &PerftestRow) -> impl Iterator<Item = (Attribute, f64)> {
    TIME_FACTS.iter().filter_map(|(column, name)| Some((*name, *row.get(column)?)))
}

/// Finds a value in the head of an output. Names are on lines of their own or two on a line, with
/// the value up to the next tab.
fn find_head_value(text: &str, name: &str) -> Option<String> {
    let named = |part: &str| {
        let (found, value) = part.split_once(':')?;
        (found.trim() == name).then(|| value.trim().to_owned())
    };
    text.lines().flat_map(|line| line.split('\t')).find_map(named)
}

/// Parses the conditions in the head of an output.
pub(crate) fn conditions(text: &str) -> Attributes {
    make_conditions(|name| find_head_value(text, name))
}

/// Makes the conditions from the values of the head. A single queue pair is not counted as a stream.
pub(crate) fn make_conditions(value_of: impl Fn(&str) -> Option<String>) -> Attributes {
    let number = |name: &str| value_of(name)?.parse::<u64>().ok();
    let connection = value_of("Connection type").filter(|it| !it.is_empty());
    [
        (Attribute::Depth, number("TX depth").map(AttributeValue::from)),
        (Attribute::Connection, connection.map(|it| it.to_lowercase().into())),
        (Attribute::Streams, number("Number of qps").filter(|it| *it > 1).map(Into::into)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// Parses the network path in the head of an output.
pub(crate) fn path_attributes(text: &str) -> Vec<(Attribute, AttributeValue)> {
    let value_of = |name: &str| find_head_value(text, name);
    let number = |name: &str| value_of(name)?.trim_end_matches("[B]").parse::<u64>().ok();
    let device = value_of("Device").filter(|it| !it.is_empty());
    let link =
        value_of("Link type").map(|it| if it == "IB" { "InfiniBand".to_owned() } else { it });
    [
        (Attribute::Device, device.map(AttributeValue::from)),
        (Attribute::LinkLayer, link.map(AttributeValue::from)),
        (Attribute::GidIndex, number("GID index").map(AttributeValue::from)),
        (Attribute::PathMtuBytes, number("Mtu").map(AttributeValue::from)),
        (Attribute::InlineBytes, number("Max inline data").map(AttributeValue::from)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// Returns a doubt for each pair of figures in the wrong order. A mean below its minimum was edited
/// or misprinted.
pub(crate) fn order_violations(row: &PerftestRow) -> Vec<Doubt> {
    let of = |column: PerftestColumn| row.get(&column).copied();
    let laws = [
        (FigureOrder::MinMean, PerftestColumn::Min, PerftestColumn::Average, Unit::Second),
        (FigureOrder::MeanMax, PerftestColumn::Average, PerftestColumn::Max, Unit::Second),
        (FigureOrder::MinMedian, PerftestColumn::Min, PerftestColumn::Typical, Unit::Second),
        (FigureOrder::MedianMax, PerftestColumn::Typical, PerftestColumn::Max, Unit::Second),
        (FigureOrder::MedianP99, PerftestColumn::Typical, PerftestColumn::P99, Unit::Second),
        (FigureOrder::P99Max, PerftestColumn::P99, PerftestColumn::Max, Unit::Second),
        (
            FigureOrder::MeanMax,
            PerftestColumn::Rate,
            PerftestColumn::PeakRate,
            Unit::BytePerSecond,
        ),
    ];
    let broken = laws.into_iter().filter_map(|(law, less, more, unit)| {
        let (less, more) = (of(less)?, of(more)?);
        // A peak of 0 is missing: tests by duration have none.
        let is_none = unit == Unit::BytePerSecond && more <= 0.0;
        (less > more && !is_none).then_some(Doubt::OutOfOrder { law, less, more, unit })
    });
    broken.collect()
}

/// Whether a line is the head of a table.
pub(crate) fn is_head(line: &str) -> bool {
    let line = line.trim_start();
    let is_of = |first: &str, other: &str| line.starts_with(first) && line.contains(other);
    is_of("#bytes", "#iterations") || is_of("#flows", "fps[")
}

/// Columns of a table from left to right.
struct TableHead {
    labels: Vec<&'static ColumnLabel>,
    /// Whether unknown columns of a later version follow after the known ones.
    has_unknown_columns: bool,
}

impl TableHead {
    fn parse(line: &str) -> Result<Self, ToolError> {
        let mut labels = Vec::new();
        let mut unknown: Option<&str> = None;
        let mut rest = line.trim();
        while !rest.is_empty() {
            let stands = |label: &&ColumnLabel| {
                let behind = rest.strip_prefix(label.0);
                behind.is_some_and(|it| it.is_empty() || it.starts_with(char::is_whitespace))
            };
            let known = LABELS.iter().find(stands);
            let length = match (known, unknown) {
                (Some(_), Some(since)) => {
                    let name = since[..since.len() - rest.len()].trim().to_owned();
                    return Err(ToolError::UnknownColumn { name });
                }
                (Some(label), None) => {
                    labels.push(label);
                    label.0.len()
                }
                (None, since) => {
                    unknown = since.or(Some(rest));
                    rest.find(char::is_whitespace).unwrap_or(rest.len())
                }
            };
            rest = rest[length..].trim_start();
        }
        Ok(Self { labels, has_unknown_columns: unknown.is_some() })
    }

    fn parse_row(&self, text: &str) -> Result<PerftestRow, ToolError> {
        let figures: Vec<&str> = text.split_whitespace().collect();
        let (are, known) = (figures.len(), self.labels.len());
        if are < known {
            let missing = format!("a row has {are} of {known} columns");
            return Err(ToolError::Truncated { missing });
        }
        if are > known && !self.has_unknown_columns {
            let what = format!("a row has {are} figures, but its head has {known} columns");
            return Err(ToolError::InconsistentLine { what, line: text.to_owned() });
        }
        let (mut row, mut rounding) = (PerftestRow::new(), PerftestRow::new());
        for (figure, (label, column, factor)) in figures.iter().zip(&self.labels) {
            let Some(column) = *column else { continue };
            if *figure == "inf" {
                let what = "it could not determine the frequency of the CPU (a busy machine, or no cpu MHz in /proc/cpuinfo) and printed inf";
                return Err(ToolError::SystemError { what: what.to_owned(), number: None });
            }
            // perftest prints -nan for no data, and negative times in very long tests.
            row.insert(column, parse_non_negative(label, figure)? * factor);
            let decimals = figure.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            rounding.insert(column, 0.5 * factor / 10_f64.powi(decimals.min(20) as i32));
        }
        match find_contradiction(&row, &rounding) {
            Some(what) => Err(ToolError::InconsistentLine { what, line: text.to_owned() }),
            None => Ok(row),
        }
    }
}

/// Describes figures of a row that contradict each other. Size times messages per second is the
/// bandwidth, which also verifies the unit of `MB/sec`. The mean time, whole or halved, times the
/// events per second is 1.
fn find_contradiction(row: &PerftestRow, rounding: &PerftestRow) -> Option<String> {
    // Relative tolerance: the clocks are read at slightly different times.
    const TOLERANCE: f64 = 0.01;
    let of = |column: PerftestColumn| Some((*row.get(&column)?, *rounding.get(&column)?));
    let sized = of(PerftestColumn::Rate)
        .zip(of(PerftestColumn::MessageRate))
        .zip(of(PerftestColumn::Bytes));
    if let Some((((rate, half), (messages, half_messages)), (bytes, _))) = sized {
        let rounded = half + half_messages * bytes;
        if (rate - messages * bytes).abs() > rounded + TOLERANCE * rate {
            return Some(format!("{rate} B/s, and {messages} messages of {bytes} B a second"));
        }
    }
    let ((time_s, half_s), (per_s, half)) =
        of(PerftestColumn::Average).zip(of(PerftestColumn::EventRate))?;
    let rounded = half_s * per_s + half * time_s;
    let differs = |whole: f64| (time_s * per_s - whole).abs() > rounded + TOLERANCE * whole;
    (differs(1.0) && differs(0.5))
        .then(|| format!("{time_s} s each, and {per_s} of them a second"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: &str = include_str!("../tests/golden/perftest/ib_send_lat.txt");
    const BANDWIDTH: &str = include_str!("../tests/golden/perftest/ib_send_bw.txt");

    #[test]
    fn bandwidth_uses_figure_with_more_digits() {
        const HEAD: &str = " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n";
        for (row, expected) in [
            (" 2 100 0.00 0.00 0.002493", 4986.0),
            (" 4096 100 9.80 9.77 0.002501", 4096.0 * 2501.0),
            (" 65536 100 11500.00 11000.25 0.176004", 11000.25 * MEBI),
        ] {
            let found = bandwidth(&parse_rows(&[HEAD, row].concat()).unwrap()[0]).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-12, "{row}: {found}");
        }
        let nothing = parse_rows(&[HEAD, " 65536 100 0.00 0.00 0.000000"].concat()).unwrap();
        let latency = parse_rows(LATENCY).unwrap();
        for row in [&nothing[0], &latency[0]] {
            assert_eq!(bandwidth(row), None, "{row:?}");
        }
    }

    #[test]
    fn real_tables_are_in_base_units() {
        let latency = parse_rows(LATENCY).unwrap();
        let first = &latency[0];
        assert_eq!(
            (first[&PerftestColumn::Bytes], first[&PerftestColumn::Iterations]),
            (2.0, 1000.0)
        );
        assert!((first[&PerftestColumn::Min] - 15.07e-6).abs() < 1e-12);
        assert!((first[&PerftestColumn::Typical] - 28.82e-6).abs() < 1e-12);
        assert!((first[&PerftestColumn::P999] - 16_838.93e-6).abs() < 1e-9);
        let bandwidth = parse_rows(BANDWIDTH).unwrap();
        let last = bandwidth.last().unwrap();
        // The figures show the unit: 9.21 "MB/sec" and 147 messages of 64 KiB a second.
        assert!((last[&PerftestColumn::Rate] - 9.21 * MEBI).abs() < 1.0);
        let by_messages = last[&PerftestColumn::MessageRate] * last[&PerftestColumn::Bytes];
        assert!(
            (last[&PerftestColumn::Rate] / by_messages - 1.0).abs() < 0.01,
            "{by_messages}"
        );
    }

    #[test]
    fn reads_path_above_the_table() {
        let expected = [
            (Attribute::Device, AttributeValue::from("rxe0")),
            (Attribute::LinkLayer, AttributeValue::from("Ethernet")),
            (Attribute::GidIndex, AttributeValue::from(1_u64)),
            (Attribute::PathMtuBytes, AttributeValue::from(1024_u64)),
            (Attribute::InlineBytes, AttributeValue::from(0_u64)),
        ];
        assert_eq!(path_attributes(LATENCY), expected);
        assert_eq!(path_attributes(BANDWIDTH), expected);
        let other = LATENCY.replace(" GID index       : 1\n", "").replace("Ethernet", "IB");
        assert_eq!(
            path_attributes(&other)[1],
            (Attribute::LinkLayer, AttributeValue::from("InfiniBand"))
        );
        assert_eq!(path_attributes(&other).len(), 4);
        assert_eq!(path_attributes("nothing"), []);
    }

    #[test]
    fn skips_lines_of_other_programs() {
        let head = "Conflicting CPU frequency values detected: 1.0 != 2.0. CPU Frequency is not max.\n";
        let noisy = LATENCY.replace("\n 2  ", &format!("\n{head}libibverbs: Warning\n 2  "));
        assert_ne!(noisy, LATENCY);
        assert_eq!(parse_rows(&noisy), parse_rows(LATENCY));
    }

    /// Heads of perftest 4 to 26 (`perftest_parameters.h`, `RESULT_FMT…`), each with a row in its own format
    /// (`REPORT_FMT…`).
    #[test]
    fn parses_every_perftest_layout() {
        let rate = |per_s| {
            vec![(PerftestColumn::Rate, per_s), (PerftestColumn::MessageRate, 176_000.0)]
        };
        for (head, line, expected) in [
            // RESULT_FMT, before 24.07 and since.
            (
                " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
                " 65536      5000             11500.00            11000.00\t\t   0.176000",
                rate(11_000.0 * MEBI),
            ),
            (
                " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]    CPU_Util[%]",
                " 65536      5000             11500.00            11000.00\t\t     0.176000\t    12.50",
                rate(11_000.0 * MEBI),
            ),
            // RESULT_FMT_G: 10⁹ bit/s.
            (
                " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]",
                " 65536      5000             96.47              92.27\t\t     0.176000",
                rate(92.27e9 / 8.0),
            ),
            // RESULT_FMT_QOS and RESULT_FMT_G_QOS.
            (
                " #bytes    #sl      #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]",
                " 65536   3           5000           11500.00            11000.00                  0.176000",
                [rate(11_000.0 * MEBI), vec![(PerftestColumn::ServiceLevel, 3.0)]].concat(),
            ),
            (
                " #bytes    #sl      #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]",
                " 65536   3           5000           96.47            92.27                  0.176000",
                [rate(92.27e9 / 8.0), vec![(PerftestColumn::ServiceLevel, 3.0)]].concat(),
            ),
            // RESULT_FMT_PER_PORT: the total, and each port.
            (
                " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]   BW Port1[MiB/sec]   MsgRate Port1[Mpps]   BW Port2[MiB/sec]   MsgRate Port2[Mpps]",
                " 65536      5000           11500.00            11000.00\t\t   0.176000        5500.00            0.088000              5500.00            0.088000",
                rate(11_000.0 * MEBI),
            ),
            (
                " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]       BW min[MiB/sec]",
                " 65536      5000             11500.00            11000.00\t\t   0.176000\t\t  10000.00",
                rate(11_000.0 * MEBI),
            ),
            // RESULT_FMT_LAT_DUR: a round trip is twice the average.
            (
                " #bytes        #iterations       t_avg[usec]    tps average",
                " 2             5000000            2.00        250000.00",
                vec![(PerftestColumn::Average, 2e-6), (PerftestColumn::EventRate, 250_000.0)],
            ),
            // Before 2016.
            (
                " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]",
                " 2       1000          1.80           7.50         1.85",
                vec![(PerftestColumn::Typical, 1.85e-6)],
            ),
            // A column of a future version after all known ones.
            (
                " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]  t_mode[usec]",
                " 2       1000          1.80           7.50         1.85   1.84",
                vec![(PerftestColumn::Typical, 1.85e-6)],
            ),
            // RESULT_FMT_FS_RATE.
            (
                " #flows\tfs_min_time[usec]\tfs_max_time[usec]\tfs_typical_time[usec]\tfs_avg_time[usec]\tfps[flow per sec]",
                "100          8.00        \t\t40.00      \t9.00  \t       \t\t10.00     \t100000.00",
                vec![
                    (PerftestColumn::Flows, 100.0),
                    (PerftestColumn::Average, 1e-5),
                    (PerftestColumn::EventRate, 1e5),
                ],
            ),
        ] {
            let found = parse_rows(&format!("{head}\n{line}\n-----\n")).unwrap();
            for (column, value) in expected {
                let is = found[0].get(&column).copied().unwrap_or(f64::NAN);
                assert!((is / value - 1.0).abs() < 1e-9, "{column:?} is {is}: {head}");
            }
            let counts = [PerftestColumn::Iterations, PerftestColumn::Flows];
            let count = counts.iter().find_map(|it| found[0].get(it)).copied().unwrap();
            let printed = line.split_whitespace().map(|it| it.parse::<f64>().unwrap());
            assert!(printed.take(3).any(|it| it.total_cmp(&count).is_eq()), "{count}: {head}");
        }
    }

    #[test]
    fn rejects_unknown_column_before_known() {
        let bandwidth = BANDWIDTH.replace("MB/sec]", "KB/sec]");
        let typical = LATENCY.replace("t_typical[usec]", "t_typical[nsec]");
        let first = LATENCY.replace(" #bytes #iter", " #bytes #qps  #iter");
        for (text, unknown) in [
            (bandwidth, "BW peak[KB/sec]    BW average[KB/sec]"),
            (typical, "t_typical[nsec]"),
            (first, "#qps"),
        ] {
            let error = ToolError::UnknownColumn { name: unknown.to_owned() };
            assert_eq!(parse_rows(&text), Err(error));
        }
    }

    #[test]
    fn rejects_contradicting_figures() {
        const RATES: &str = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 65536 5000 11500.00 ";
        const TIMES: &str =
            " #bytes        #iterations       t_avg[usec]    tps average\n 2 5000000 ";
        for (head, figures) in [
            (RATES, "110.00 0.176000"),
            (RATES, "11000.00 176.000000"),
            (TIMES, "2.00 25000.00"),
            (TIMES, "200.00 250000.00"),
        ] {
            let read = parse_rows(&format!("{head}{figures}\n"));
            let refused = matches!(read, Err(ToolError::InconsistentLine { .. }));
            assert!(refused, "{figures}: {read:?}");
        }
        // One-way time and whole round trip; a time below its last digit.
        for figures in ["2.00 250000.00", "2.00 500000.00", "0.00 250000000.00"] {
            assert!(parse_rows(&format!("{TIMES}{figures}\n")).is_ok(), "{figures}");
        }
    }

    #[test]
    fn rejects_damaged_tables_with_reason() {
        for (text, expected) in [
            ("", "no table in the output of perftest"),
            ("Couldn't connect to 10.0.0.1:18515\n", "no table in the output of perftest"),
            (
                " #bytes #iterations    t_min[usec]\n-----\n",
                "no figures below the head of a table in the output of perftest",
            ),
            (
                " #bytes #iterations    t_min[usec]\n 2 1000\n",
                "the output is truncated: a row has 2 of 3 columns",
            ),
            (
                " #bytes #iterations    t_min[usec]\n 2 1000 1.80 7.50\n",
                "the output contradicts itself: a row has 4 figures, but its head has 3 columns",
            ),
            (
                " #bytes #iterations    t_min[usec]\n 2 1000 -nan\n",
                "expected a plain number for t_min[usec], found \"-nan\"",
            ),
            (
                " #bytes #iterations    t_min[usec]\n 2 1000 inf\n",
                "the tool reported an error: it could not determine the frequency of the CPU (a busy machine, or no cpu MHz in /proc/cpuinfo) and printed inf",
            ),
            (
                " #bytes #iterations    t_min[usec]\n 2 1000 -3.5\n",
                "expected a plain number for t_min[usec], found \"-3.5\"",
            ),
        ] {
            assert_eq!(parse_rows(text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
