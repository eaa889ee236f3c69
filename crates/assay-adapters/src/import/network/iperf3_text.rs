//! Import of iperf3's text output: the totals of every test, of clients and of servers.
//!
//! Its bits are decimal (`Gbits/sec` are 10⁹ bit/s), its bytes are binary (units.c).

use std::collections::BTreeSet;

use assay_model::workload::TransferDirection;

use super::super::{FileContents, FileTime, LineSpan, mixed_lines, word_after};
use super::iperf3_json::add_cpu;
use super::transfer::{ImportedTransfer, MeanRate, Protocol};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::ToolError;

mod row;

use row::{Iperf3Row, parse_row};

pub(super) fn is_iperf3_text(text: &str) -> bool {
    let has = |mark: &str| text.contains(mark);
    has("iperf3: error - ")
        || (has("Interval ")
            && has("/sec")
            && (has("[ ID]") || has("[ID]"))
            && (has("iperf Done.") || has(" sender") || has(" receiver") || has("iperf 3.")))
        || (has("Connecting to host ") && has("[ ID] Interval"))
        || (has("Server listening on ") && has("Accepted connection from "))
}

/// Marks with which the lines of iperf3 begin; a title or a time may precede them.
const MARKS: [&str; 15] = [
    "Connecting to host ",
    "Server listening on ",
    "Accepted connection from ",
    "Reverse mode, remote host ",
    "iperf Done.",
    "- - - -",
    "--------",
    "Server output:",
    "Test Complete.",
    "Starting Test: ",
    "CPU Utilization: ",
    "Time: ",
    "iperf3: ",
    "iperf 3.",
    "Target Bitrate: ",
];
/// Maximum length of a title or a time before the marks.
const MAX_PREFIX: usize = 120;

/// Test that is being read.
#[derive(Default)]
struct OpenTest<'t> {
    lines: Option<LineSpan>,
    rows: usize,
    is_server: bool,
    is_reverse: bool,
    /// Whether the rows behind the last separator are totals.
    is_behind_separator: bool,
    heading: &'t str,
    totals: Vec<Iperf3Row<'t>>,
    first_id: &'t str,
    /// Streams with intervals: their identifiers and roles.
    streams: BTreeSet<(&'t str, Option<bool>)>,
    /// Interval of the last row of the first stream.
    last_interval: &'t str,
    /// Whether an interval was printed twice: a server does so when its client is stopped.
    is_repeated: bool,
    to: Option<&'t str>,
    began: Option<FileTime>,
    protocol: Option<Protocol>,
    block_bytes: Option<u64>,
    requested_s: Option<f64>,
    rate_bit_per_s: Option<u64>,
    congestion: Option<&'t str>,
    cpu: Option<&'t str>,
    version: Option<&'t str>,
    reordered: Option<u64>,
    message: Option<&'t str>,
    is_done: bool,
    damage: Option<ToolError>,
}

impl<'t> OpenTest<'t> {
    /// Records the interval of the first stream, and whether it was printed before.
    fn note_interval(&mut self, row: &Iperf3Row<'t>) {
        self.streams.insert((row.id, row.sends));
        if self.first_id.is_empty() {
            self.first_id = row.id;
        }
        if self.first_id == row.id {
            self.is_repeated |= self.last_interval == row.interval;
            self.last_interval = row.interval;
        }
    }

    /// Adds the total of a stream at one end; a second one belongs to another process.
    fn add_total(&mut self, row: Iperf3Row<'t>) {
        let is_same =
            |it: &Iperf3Row<'_>| (it.id, it.sends, it.end) == (row.id, row.sends, row.end);
        if self.totals.iter().any(is_same) {
            let what = format!("stream {} has two totals", row.id);
            self.damage.get_or_insert(mixed_lines(&what));
        }
        self.totals.push(row);
    }

    /// Begins another block of rows. With several streams each interval has a block, so that rows
    /// without an end were no totals.
    fn begin_block(&mut self) {
        self.is_behind_separator = true;
        let (totals, intervals) =
            std::mem::take(&mut self.totals).into_iter().partition(|row| row.end.is_some());
        self.totals = totals;
        let intervals: Vec<Iperf3Row<'t>> = intervals;
        intervals.iter().for_each(|row| self.note_interval(row));
    }

    /// Returns a stream with intervals whose total is missing, at either end that counted.
    fn find_lost_stream(&self) -> Option<&'t str> {
        let lost = self.streams.iter().find(|(id, sends)| {
            let ends = |of: &dyn Fn(&&Iperf3Row<'_>) -> bool| -> BTreeSet<Option<bool>> {
                self.totals.iter().filter(of).map(|it| it.end).collect()
            };
            let all = ends(&|it| it.sends == *sends);
            all.is_empty() || all != ends(&|it| (it.id, it.sends) == (*id, *sends))
        });
        lost.map(|(id, _)| *id)
    }
}

/// Reads every test of a file.
pub(super) fn read(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut test = OpenTest::default();
    let mut is_far_output = false;
    for (at, line) in text.lines().enumerate() {
        let line = cut_prefix(line).trim();
        if line.starts_with("iperf Done.") {
            is_far_output = false;
            test.is_done = true;
        }
        if line.starts_with("Server output:") {
            is_far_output = true;
        }
        if is_far_output {
            contents.recognise(at + 1..=at + 1, "server output", "the far end's account");
            continue;
        }
        if begins_test(line) && (test.rows > 0 || test.is_done || test.message.is_some()) {
            finish_test(std::mem::take(&mut test), &mut contents);
            check_limit(contents.measurements.len() + 1, ("tests", MAX_MEASUREMENTS))?;
        }
        if !line.is_empty() && !line.starts_with("-----") {
            let first = test.lines.as_ref().map_or(at + 1, |it| *it.start());
            test.lines = Some(first..=at + 1);
        }
        read_line(line, &mut test);
        check_limit(test.totals.len(), ("lines of totals", MAX_MEASUREMENTS))?;
        check_limit(test.streams.len(), ("streams of a test", MAX_MEASUREMENTS))?;
    }
    finish_test(test, &mut contents);
    Ok(contents)
}

/// Whether a line is the first of another test, if the present one has results.
fn begins_test(line: &str) -> bool {
    let marks = [
        "Connecting to host ",
        "Server listening on ",
        "Accepted connection from ",
        "iperf 3.",
    ];
    marks.iter().any(|mark| line.starts_with(mark))
}

/// Removes a title, or a time in a format of the user, from before iperf3's own text.
fn cut_prefix(line: &str) -> &str {
    let marks = MARKS.iter().filter_map(|mark| line.find(mark));
    let row = line.match_indices('[').map(|(at, _)| at).find(|at| is_row_id(&line[*at..]));
    let at = marks.chain(row).filter(|at| *at <= MAX_PREFIX).min();
    at.map_or(line, |at| &line[at..])
}

/// Whether a text begins with `[ ID]`, `[  5]` or `[SUM]`.
fn is_row_id(text: &str) -> bool {
    let id = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|it| it.0.trim());
    id.is_some_and(|id| {
        id == "ID" || id == "SUM" || (id.len() <= 5 && id.parse::<u32>().is_ok())
    })
}

fn read_line<'t>(line: &'t str, test: &mut OpenTest<'t>) {
    if line.starts_with('[') {
        read_bracketed(line, test);
    } else if line.starts_with("- - - -") {
        test.begin_block();
    } else if let Some(rest) = line.strip_prefix("Connecting to host ") {
        if test.to.is_some() && !test.is_server {
            test.damage.get_or_insert(mixed_lines("two tests begin before the first result"));
        }
        test.to = Some(rest.split(", port").next().unwrap_or(rest).trim_end_matches(','));
    } else if let Some(rest) = line.strip_prefix("Accepted connection from ") {
        test.is_server = true;
        test.to = rest.split(',').next();
    } else if line.starts_with("Reverse mode, remote host ") {
        test.is_reverse = true;
    } else if let Some(message) = line.strip_prefix("iperf3: ") {
        test.message = Some(message);
    } else {
        read_verbose_line(line, test);
    }
}

/// Reads a line that `--verbose` adds.
fn read_verbose_line<'t>(line: &'t str, test: &mut OpenTest<'t>) {
    if let Some(rest) = line.strip_prefix("iperf 3.") {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        test.version = line.get("iperf ".len().."iperf 3.".len() + end);
    } else if let Some(time) = line.strip_prefix("Time: ") {
        test.began = FileTime::parse_rfc1123(time);
    } else if let Some(rate) = line.strip_prefix("Target Bitrate: ") {
        test.rate_bit_per_s = rate.trim().parse().ok();
    } else if line.starts_with("CPU Utilization: ") {
        test.cpu = Some(line);
    } else if let Some(rest) = line.strip_prefix("snd_tcp_congestion ") {
        test.congestion = Some(rest.trim());
    } else if let Some(rest) = line.strip_prefix("rcv_tcp_congestion ") {
        test.congestion = test.congestion.or(Some(rest.trim()));
    } else if let Some(rest) = line.strip_prefix("Starting Test: ") {
        test.protocol = word_after(rest, "protocol:")
            .map(|name| Protocol::parse(name.trim_end_matches(',')));
        let number_before = |mark: &str| {
            let before = rest.split_once(mark)?.0;
            before.rsplit([' ', ',']).next()?.parse::<u64>().ok()
        };
        test.block_bytes = number_before(" byte blocks");
        test.requested_s = number_before(" second test").map(|seconds| seconds as f64);
    }
}

/// Reads a heading, a row, or a remark on a stream.
fn read_bracketed<'t>(line: &'t str, test: &mut OpenTest<'t>) {
    if line.contains("Interval ") {
        test.heading = line;
        if line.contains("Datagrams") {
            test.protocol.get_or_insert(Protocol::Udp);
        }
        return;
    }
    if let Some((before, _)) = line.split_once(" datagrams received out-of-order") {
        let count = before.split_whitespace().next_back().and_then(|it| it.parse::<u64>().ok());
        test.reordered = Some(test.reordered.unwrap_or(0).max(count.unwrap_or(0)));
        return;
    }
    match parse_row(line, test.heading) {
        Ok(None) => {}
        Ok(Some(row)) => {
            test.rows += 1;
            if row.end.is_some() || test.is_behind_separator {
                test.add_total(row);
            } else if !line.ends_with("(omitted)") {
                test.note_interval(&row);
            }
        }
        Err(error) => {
            test.rows += 1;
            test.damage.get_or_insert(error);
        }
    }
}

/// Adds the measurement of a test, or the reason why it is none.
fn finish_test(test: OpenTest<'_>, contents: &mut FileContents) {
    let lines = test.lines.clone();
    let message = test.message.unwrap_or_default();
    let is_terminated = message.contains("terminated");
    if test.rows == 0 {
        if !message.is_empty() && !is_terminated {
            let how = "iperf3 reported".to_owned();
            let last_words = message.strip_prefix("error - ").unwrap_or(message).to_owned();
            contents.add_part(
                lines,
                "iperf3 test",
                Err(ToolError::ProcessFailed { how, last_words }),
            );
        } else if test.to.is_some() {
            let why = if message.is_empty() { "it has no results" } else { message };
            contents.leave_out(lines, "iperf3 test without results", why);
        }
        return;
    }
    if test.is_server && test.is_repeated {
        let why =
            "its client was stopped: the totals count bytes beyond the time that they name";
        contents.leave_out(lines, "interrupted iperf3 test", why);
        return;
    }
    let intervals = test.rows - test.totals.len().min(test.rows);
    contents.add_part(lines.clone(), "iperf3 test", measure(test));
    if let (Some(lines), true) = (lines, intervals > 0) {
        let what = format!("{intervals} rows of intervals");
        contents.recognise(lines, what, "parts of the totals of their test");
    }
}

fn measure(mut test: OpenTest<'_>) -> Result<super::ImportedMeasurement, ToolError> {
    if let Some(error) = test.damage.take() {
        return Err(error);
    }
    if let Some(message) = test.message.and_then(|it| it.strip_prefix("error - "))
        && test.totals.is_empty()
    {
        let how = "iperf3 reported".to_owned();
        return Err(ToolError::ProcessFailed { how, last_words: message.to_owned() });
    }
    if test.totals.is_empty() {
        return Err(ToolError::Truncated { missing: "the totals are missing".to_owned() });
    }
    let names_end = |row: &Iperf3Row<'_>| row.end.is_some();
    let has_ends = test.totals.iter().any(names_end) || test.protocol != Some(Protocol::Udp);
    if has_ends && !test.totals.iter().all(names_end) {
        let missing = "a total names neither sender nor receiver".to_owned();
        return Err(ToolError::Truncated { missing });
    }
    if let Some(stream) = test.find_lost_stream() {
        let missing = format!("the total of stream {stream} is missing");
        return Err(ToolError::Truncated { missing });
    }
    let roles: Vec<bool> = row::list_roles(&test.totals);
    let is_both = roles.len() > 1;
    let mut transfer = read_conditions(&test, is_both);
    transfer.streams = Some(row::count_streams(&test.totals));
    let rates = |received: bool| -> Vec<Option<MeanRate>> {
        roles.iter().map(|role| row::total_rate(&test.totals, *role, received)).collect()
    };
    add_totals(&test, (&rates(false), &rates(true)), &mut transfer);
    transfer.into_measurement()
}

fn add_totals(
    test: &OpenTest<'_>,
    (sent, received): (&[Option<MeanRate>], &[Option<MeanRate>]),
    transfer: &mut ImportedTransfer,
) {
    transfer.set_directions(sent, received);
    transfer.retransmits = row::sum_retransmits(&test.totals);
    transfer.datagrams = row::sum_datagrams(&test.totals);
    if let (Some(counts), Some(reordered)) = (&mut transfer.datagrams, test.reordered) {
        counts.reordered = Some(reordered);
    }
    let is_cut = transfer.received.is_none() && transfer.sent.is_some() && !test.is_server;
    let is_stopped = test.message.is_some_and(|it| it.contains("terminated"));
    // A server's messages may stand before or behind the test that they are about.
    let has_end = test.is_done || test.totals.iter().any(|it| it.end.is_some());
    transfer.broke_off =
        !test.is_server && (is_stopped || !has_end || (is_cut && !test.is_done));
    for (mark, end) in [("local/", "local"), ("remote/", "remote")] {
        let share = test.cpu.and_then(|line| line.split_once(mark)).map(|it| it.1);
        let percent = share.and_then(|rest| rest.split_whitespace().nth(1));
        let percent = percent.and_then(|it| it.strip_suffix('%')?.parse::<f64>().ok());
        add_cpu(transfer, end, percent.filter(|it| it.is_finite()).unwrap_or(0.0));
    }
}

/// Reads the conditions; the direction is that of the end that printed the file.
fn read_conditions(test: &OpenTest<'_>, is_both: bool) -> ImportedTransfer {
    let only = |receiver: bool| test.totals.iter().all(|it| it.end == Some(receiver));
    let direction = match (is_both, test.is_server) {
        (true, _) => TransferDirection::Both,
        (false, true) if only(false) => TransferDirection::Send,
        (false, true) => TransferDirection::Receive,
        (false, false) if test.is_reverse => TransferDirection::Receive,
        (false, false) => TransferDirection::Send,
    };
    ImportedTransfer {
        tool: "iperf3",
        protocol: test.protocol.clone().or(Some(Protocol::Tcp)),
        direction: Some(direction),
        to: test.to.map(str::to_owned),
        requested_s: test.requested_s,
        rate_bit_per_s: test.rate_bit_per_s.filter(|rate| *rate > 0),
        congestion: test.congestion.map(str::to_owned),
        version: test.version.map(str::to_owned),
        block_bytes: test.block_bytes,
        began: test.began,
        ..ImportedTransfer::default()
    }
}
