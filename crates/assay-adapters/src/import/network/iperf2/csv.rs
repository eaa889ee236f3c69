//! Import of iperf's `-y C`: lines of 9 fields, or of 14 for datagrams.

use assay_model::workload::TransferDirection;

use super::super::super::{FileContents, FileTime, LineSpan, mixed_lines};
use super::super::transfer::{DatagramCounts, ImportedTransfer, MeanRate, Protocol};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ToolError, parse_non_negative, parse_number};

/// Line of a stream, or of the sum of all.
struct CsvRow<'t> {
    line: usize,
    time: &'t str,
    local_port: &'t str,
    peer: &'t str,
    /// Number of the stream; −1 is the sum of all.
    id: &'t str,
    is_sum: bool,
    from_s: f64,
    to_s: f64,
    rate: Option<MeanRate>,
    is_udp: bool,
    sends: bool,
    datagrams: Option<DatagramCounts>,
}

impl<'t> CsvRow<'t> {
    /// Returns the number of the stream, and whether it is sent.
    fn stream(&self) -> (&'t str, bool) {
        (self.id, self.sends)
    }
}

pub(in super::super) fn is_iperf2_csv(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| split_fields(line).is_some())
}

/// Splits a line whose first field is a time and whose seventh is an interval.
fn split_fields(line: &str) -> Option<Vec<&str>> {
    const MAX_FIELDS: usize = 15;
    let fields: Vec<&str> = line.trim().split(',').take(MAX_FIELDS).collect();
    let is_shape = fields.len() == 9 || fields.len() == 14;
    let time = fields.first()?.rsplit(':').next()?.split('.').next()?;
    let is_time = time.len() == 14 && time.bytes().all(|it| it.is_ascii_digit());
    let has_interval = fields.get(6)?.contains('-');
    (is_shape && is_time && has_interval).then_some(fields)
}

/// Reads every test of a file. Streams of one test end at the same time.
pub(in super::super) fn read_iperf2_csv(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut totals: Vec<CsvRow<'_>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let Some(fields) = split_fields(line) else { continue };
        let row = match parse_row(at + 1, &fields) {
            Ok(row) => row,
            Err(error) => {
                contents.add_part(Some(at + 1..=at + 1), "iperf test", Err(error));
                continue;
            }
        };
        if row.is_sum || row.from_s > 0.0 {
            let what = "row of an interval or a sum";
            contents.recognise(at + 1..=at + 1, what, "part of the totals of its test");
            continue;
        }
        let is_longer = |it: &CsvRow<'_>| {
            it.local_port == row.local_port && it.sends == row.sends && it.to_s < row.to_s
        };
        totals.pop_if(|it| is_longer(it));
        totals.push(row);
        check_limit(totals.len(), ("tests", MAX_MEASUREMENTS))?;
    }
    for rows in totals.chunk_by(|a, b| a.time == b.time && a.is_udp == b.is_udp) {
        let length = count_streams(rows);
        for test in rows.chunks(length) {
            let (first, last) = (test[0].line, test[test.len() - 1].line);
            let lines: LineSpan = first..=last;
            let measured = check_streams(test, &rows[..length]).and_then(|()| measure(test));
            contents.add_part(Some(lines), "iperf test", measured);
        }
    }
    Ok(contents)
}

/// Counts the rows of the first test among rows of one time. Some versions print the same time for
/// every test, whose streams are numbered from the same number.
fn count_streams(rows: &[CsvRow<'_>]) -> usize {
    let first = rows.first().map(CsvRow::stream);
    let again = rows.iter().skip(1).position(|row| Some(row.stream()) == first);
    again.map_or(rows.len(), |at| at + 1)
}

/// Checks that a test has the streams of the first one.
fn check_streams(test: &[CsvRow<'_>], first: &[CsvRow<'_>]) -> Result<(), ToolError> {
    let is_same = test.len() == first.len()
        && test.iter().zip(first).all(|(row, known)| row.stream() == known.stream());
    let is_mixed = !is_same
        || (1..test.len())
            .any(|at| test[..at].iter().any(|row| row.stream() == test[at].stream()));
    if is_mixed { Err(mixed_lines("the streams of a test are not in order")) } else { Ok(()) }
}

fn parse_row<'t>(line: usize, fields: &[&'t str]) -> Result<CsvRow<'t>, ToolError> {
    let field = |at: usize| fields.get(at).copied().unwrap_or_default();
    let (from, to) = field(6).split_once('-').unwrap_or_default();
    let from_s = parse_non_negative("the interval", from)?;
    let to_s = parse_non_negative("the interval", to)?;
    let bytes = parse_non_negative("the transferred bytes", field(7))?;
    let bit_per_s = parse_non_negative("the rate", field(8))?;
    let is_udp = fields.len() == 14;
    let datagrams = if is_udp { parse_counts(&fields[9..])? } else { None };
    let port = |at: usize| field(at).parse::<u32>().unwrap_or(0);
    let rate = MeanRate { bit_per_s, seconds: to_s - from_s };
    Ok(CsvRow {
        line,
        time: field(0),
        local_port: field(2),
        peer: field(3),
        id: field(5),
        is_sum: field(5) == "-1",
        from_s,
        to_s,
        rate: Some(rate).filter(|_| bytes > 0.0 && bit_per_s > 0.0),
        is_udp,
        // The server has the lower, well-known port.
        sends: port(2) > port(4) && datagrams.is_none(),
        datagrams,
    })
}

/// Parses jitter in ms, lost, all, the lost share and the reordered datagrams.
fn parse_counts(fields: &[&str]) -> Result<Option<DatagramCounts>, ToolError> {
    let [jitter, lost, all, _, reordered] = fields else { return Ok(None) };
    let all = parse_number("datagrams", all)?;
    // The sender knows no total and prints −1.
    if all <= 0.0 {
        return Ok(None);
    }
    Ok(Some(DatagramCounts {
        lost: parse_number("lost datagrams", lost)?.max(0.0) as u64,
        all: all as u64,
        reordered: Some(parse_number("reordered datagrams", reordered)?.max(0.0) as u64),
        jitter_s: Some(parse_non_negative("the jitter", jitter)? / 1e3),
    }))
}

fn measure(rows: &[CsvRow<'_>]) -> Result<super::super::ImportedMeasurement, ToolError> {
    let rates = |sends: bool| {
        let of = rows.iter().filter(|it| it.sends == sends).map(|it| it.rate);
        MeanRate::sum(&of.collect::<Vec<_>>())
    };
    let sending = rows.iter().filter(|it| it.sends).count();
    let is_sender = sending > 0;
    let time = rows.first().map_or("", |it| it.time);
    ImportedTransfer {
        tool: "iperf",
        protocol: Some(match rows.iter().any(|it| it.is_udp) {
            true => Protocol::Udp,
            false => Protocol::Tcp,
        }),
        direction: Some(match is_sender {
            true => TransferDirection::Send,
            false => TransferDirection::Receive,
        }),
        streams: Some(sending.max(rows.len() - sending) as u64),
        to: rows.first().map(|it| it.peer.to_owned()),
        sent: rates(true),
        received: rates(false),
        datagrams: rows.iter().filter_map(|it| it.datagrams).reduce(DatagramCounts::with),
        began: parse_time(time).filter(|it| it.unix_s >= EARLIEST_S),
        ..ImportedTransfer::default()
    }
    .into_measurement()
}

/// iperf 2.1.8 prints the time 0 for some tests.
const EARLIEST_S: u64 = 86_400 * 366;

/// Parses `20230104100000`, with an optional zone before: `+0100:20230104100000.123`.
fn parse_time(text: &str) -> Option<FileTime> {
    let (zone, digits) = text.split_once(':').unwrap_or(("", text));
    let part = |from: usize, to: usize| digits.get(from..to);
    let date = format!("{}-{}-{}", part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let clock = format!("{}:{}:{}", part(8, 10)?, part(10, 12)?, part(12, 14)?);
    FileTime::parse_iso(&format!("{date}T{clock}{zone}"))
}
