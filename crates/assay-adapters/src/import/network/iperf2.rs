//! Import of iperf 2: text with and without `-e`, of clients and servers, and `-y C`.

use assay_model::attribute::Attribute;

use super::super::{FileContents, FileTime, LineSpan, mixed_lines, shorten};
use super::printed_rate::{parse_datagrams, parse_rate};
use super::transfer::{DatagramCounts, ImportedTransfer, MeanRate, Protocol};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ToolError, parse_non_negative};
use assay_model::workload::TransferDirection;

pub(super) mod csv;

pub(super) fn is_iperf2(text: &str) -> bool {
    let marks = [
        "Client connecting to ",
        "Server listening on TCP port",
        "Server listening on UDP port",
    ];
    text.lines().any(|line| marks.iter().any(|mark| line.starts_with(mark)))
}

/// Connection of one stream.
struct Connection<'t> {
    id: &'t str,
    /// Whether this end is the server of the connection.
    is_accepted: bool,
    is_reverse: bool,
    peer: &'t str,
}

/// Row of one stream.
struct Iperf2Row<'t> {
    id: &'t str,
    rate: Option<MeanRate>,
    retransmits: Option<f64>,
    datagrams: Option<DatagramCounts>,
    /// Whether the far end reported it.
    is_report: bool,
}

/// Test that is being read.
#[derive(Default)]
struct OpenTest<'t> {
    lines: Option<LineSpan>,
    protocol: Option<Protocol>,
    connections: Vec<Connection<'t>>,
    /// Latest row of each stream that begins with the test: intervals come before the total.
    totals: Vec<Iperf2Row<'t>>,
    rows: usize,
    heading: &'t str,
    is_report: bool,
    began: Option<FileTime>,
    reordered: u64,
    message: Option<&'t str>,
    /// First error that ended a transfer, whose figures are those until then.
    error: Option<&'t str>,
    /// Errors after which iperf continued.
    warnings: Vec<&'t str>,
    /// Whether a client and a server announced themselves.
    has_client: bool,
    has_server: bool,
    damage: Option<ToolError>,
}

impl OpenTest<'_> {
    /// Records the heading of an end. A second one before any row belongs to another process.
    fn note_heading(&mut self, is_server: bool) {
        let known = if is_server { &mut self.has_server } else { &mut self.has_client };
        if *known {
            let what = "two tests begin before the first result";
            self.damage.get_or_insert(mixed_lines(what));
        }
        *known = true;
    }
}

/// Reads every test of a file.
pub(super) fn read_iperf2(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut test = OpenTest::default();
    let (mut server_port, mut protocol) = (None, None);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let is_header = line.starts_with("Client connecting to ")
            || line.starts_with("Server listening on ");
        let is_over = test.rows > 0 || (is_header && test.error.is_some());
        if (is_header || line.contains(" connected with ")) && is_over {
            finish_test(std::mem::take(&mut test), &mut contents);
            check_limit(contents.measurements.len() + 1, ("tests", MAX_MEASUREMENTS))?;
        }
        if is_header {
            test.note_heading(line.starts_with("Server"));
            let name = if line.contains("UDP port") { Protocol::Udp } else { Protocol::Tcp };
            protocol = Some(name);
            if line.starts_with("Server") {
                server_port = line.split(" port ").nth(1).and_then(|it| it.split(' ').next());
            }
        }
        test.protocol = test.protocol.or_else(|| protocol.clone());
        if !line.is_empty() && !line.starts_with("----") {
            let first = test.lines.as_ref().map_or(at + 1, |it| *it.start());
            test.lines = Some(first..=at + 1);
        }
        read_line(line, server_port, &mut test);
        check_limit(test.totals.len(), ("streams of a test", MAX_MEASUREMENTS))?;
        check_limit(test.connections.len(), ("connections of a test", MAX_MEASUREMENTS))?;
    }
    finish_test(test, &mut contents);
    Ok(contents)
}

/// Calls of the system whose failure ends a transfer. Names of iperf's own functions begin with
/// them: `writen`.
const TRANSFER_CALLS: [&str; 4] = ["read", "write", "recv", "connect"];
/// Maximum number of warnings of a test that are listed.
const MAX_WARNINGS: usize = 4;

/// Records an error of the system: `read failed: Connection refused` ends the transfer. After
/// others iperf continues: `shutdown failed: Transport endpoint is not connected`.
fn note_error<'t>(line: &'t str, test: &mut OpenTest<'t>) {
    let Some((call, _)) = line.split_once(" failed: ") else { return };
    let call = call.rsplit(' ').next().unwrap_or(call);
    if TRANSFER_CALLS.iter().any(|name| call.starts_with(name)) {
        test.error.get_or_insert(line);
    } else if test.warnings.len() < MAX_WARNINGS && !test.warnings.contains(&line) {
        test.warnings.push(line);
    }
}

fn read_line<'t>(line: &'t str, server_port: Option<&str>, test: &mut OpenTest<'t>) {
    if line.contains(" failed: ")
        || line.starts_with("iperf: ")
        || line.starts_with("WARNING: ")
    {
        test.message.get_or_insert(line);
        note_error(line, test);
        if line.contains("connect failed") {
            return;
        }
    }
    let Some((id, rest)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) else {
        return;
    };
    let (id, rest) = (id.trim(), rest.trim());
    if id == "ID" {
        test.heading = line;
    } else if let Some((before, behind)) = rest.split_once(" connected with ") {
        let mut local = before.split_whitespace().skip_while(|word| *word != "port").skip(1);
        if test.connections.iter().any(|it| it.id == id) {
            let what = format!("stream {id} connects twice");
            test.damage.get_or_insert(mixed_lines(&what));
        }
        test.connections.push(Connection {
            id,
            is_accepted: server_port.is_some() && local.next() == server_port,
            is_reverse: behind.contains("(reverse)"),
            peer: behind.split(' ').next().unwrap_or_default(),
        });
        if let Some((_, time)) = behind.rsplit_once(" on ") {
            let time = time.replace(['(', ')'], "");
            let local = time.get(..19).and_then(FileTime::parse_iso);
            test.began = test.began.or(FileTime::parse_iso(&time).or(local));
        }
    } else if rest.starts_with("Server Report") {
        test.is_report = true;
    } else if let Some((count, _)) = rest.split_once(" datagrams received out-of-order") {
        let count = count.rsplit(' ').next().and_then(|it| it.parse::<u64>().ok());
        test.reordered = test.reordered.saturating_add(count.unwrap_or(0));
    } else {
        read_row(id, rest, test);
    }
}

/// Maximum number of words of a row that are read.
const MAX_WORDS: usize = 20;

fn read_row<'t>(id: &'t str, rest: &'t str, test: &mut OpenTest<'t>) {
    // Older versions align the end of an interval: `0.0- 1.0 sec`.
    let Some((from, rest)) = rest.split_once('-') else { return };
    let words: Vec<&str> = rest.split_whitespace().take(MAX_WORDS).collect();
    let [to, "sec", amount, amount_unit, rate, rate_unit, rest @ ..] = &words[..] else {
        return;
    };
    test.rows += 1;
    let read = || -> Result<Option<Iperf2Row<'t>>, ToolError> {
        let from = parse_non_negative("the interval", from)?;
        let seconds = parse_non_negative("the interval", to)? - from;
        let retransmits = rest.get(1).filter(|_| test.heading.contains("Rtry"));
        let retransmits = retransmits.map(|it| parse_non_negative("Rtry", it)).transpose()?;
        let row = Iperf2Row {
            id,
            rate: parse_rate((amount, amount_unit), (rate, rate_unit), seconds)?,
            retransmits,
            datagrams: parse_datagrams(rest)?,
            is_report: test.is_report,
        };
        Ok((from == 0.0).then_some(row))
    };
    match read() {
        Ok(None) => {}
        Ok(Some(row)) => {
            test.totals.retain(|it| it.id != row.id || it.is_report != row.is_report);
            test.totals.push(row);
        }
        Err(error) => {
            test.damage.get_or_insert(error);
        }
    }
}

fn finish_test(test: OpenTest<'_>, contents: &mut FileContents) {
    let Some(lines) = test.lines.clone() else { return };
    if test.rows == 0 {
        if let Some(message) = test.error.or(test.message) {
            let how = "iperf reported".to_owned();
            let error = ToolError::ProcessFailed { how, last_words: message.to_owned() };
            contents.add_part(Some(lines), "iperf test", Err(error));
        } else if !test.connections.is_empty() {
            let missing = "the rates are missing".to_owned();
            let error = ToolError::Truncated { missing };
            contents.add_part(Some(lines), "iperf test", Err(error));
        }
        return;
    }
    let columns = list_unused_columns(test.heading);
    if !columns.is_empty() {
        let what = format!("columns {}", columns.join(", "));
        contents.leave_out(Some(lines.clone()), what, "assay has no figure for them");
    }
    let intervals = test.rows - test.totals.len().min(test.rows);
    if intervals > 0 {
        let what = format!("{intervals} rows of intervals and sums");
        contents.recognise(lines.clone(), what, "parts of the totals of their test");
    }
    contents.add_part(Some(lines), "iperf test", measure(test));
}

/// Lists the columns of `-e` that are not imported.
fn list_unused_columns(heading: &str) -> Vec<&str> {
    let names = [
        "Write/Err",
        "Cwnd/RTT",
        "NetPwr",
        "Reads=Dist",
        "Latency avg/min/max/stdev",
        "Rx/inP",
        "Burst Latency",
        "PPS",
    ];
    names.into_iter().filter(|name| heading.contains(name)).collect()
}

impl OpenTest<'_> {
    /// Checks that every connection has a total.
    fn check_totals(&self) -> Result<(), ToolError> {
        // A star marks the other direction of a connection.
        let has_total = |id: &str| {
            let base = id.trim_start_matches('*');
            self.totals.iter().any(|it| it.id.trim_start_matches('*') == base)
        };
        match self.connections.iter().find(|it| !has_total(it.id)) {
            None => Ok(()),
            Some(lost) => {
                let missing = format!("the total of stream {} is missing", lost.id);
                Err(ToolError::Truncated { missing })
            }
        }
    }

    /// Whether this end receives a stream. A star marks the other direction of its connection.
    fn receives(&self, id: &str) -> bool {
        if let Some(connection) = self.connections.iter().find(|it| it.id == id) {
            let is_star = id.starts_with('*');
            return connection.is_accepted != (connection.is_reverse && !is_star);
        }
        let base = id.trim_start_matches('*');
        let connection = self.connections.iter().find(|it| it.id == base);
        let is_accepted = connection.is_some_and(|it| it.is_accepted);
        is_accepted != (base != id)
    }
}

fn measure(mut test: OpenTest<'_>) -> Result<super::ImportedMeasurement, ToolError> {
    if let Some(error) = test.damage.take() {
        return Err(error);
    }
    if let Some(error) = test.error {
        return Err(ToolError::SystemError { what: error.to_owned(), number: None });
    }
    if test.totals.is_empty() {
        return Err(ToolError::Truncated { missing: "the totals are missing".to_owned() });
    }
    let is_sum_only = test.totals.iter().all(|it| it.id == "SUM");
    if !is_sum_only {
        test.check_totals()?;
    }
    let (mut sent, mut received, mut reported) = (Vec::new(), Vec::new(), Vec::new());
    for row in test.totals.iter().filter(|it| it.id != "SUM" || is_sum_only) {
        let id =
            if is_sum_only { test.connections.first().map_or("", |it| it.id) } else { row.id };
        match (row.is_report, test.receives(id)) {
            (true, _) => reported.push(row),
            (false, true) => received.push(row),
            (false, false) => sent.push(row),
        }
    }
    let rates = |rows: &[&Iperf2Row<'_>]| {
        MeanRate::sum(&rows.iter().map(|row| row.rate).collect::<Vec<_>>())
    };
    let is_both = !sent.is_empty() && !received.is_empty();
    let counted = if reported.is_empty() { &received } else { &reported };
    let datagrams = counted.iter().filter_map(|row| row.datagrams).reduce(DatagramCounts::with);
    let retransmits: Vec<f64> = sent.iter().filter_map(|row| row.retransmits).collect();
    let streams =
        if is_sum_only { test.connections.len() } else { sent.len().max(counted.len()) };
    let mut transfer = ImportedTransfer {
        tool: "iperf",
        protocol: test.protocol.clone(),
        direction: Some(match received.is_empty() {
            true => TransferDirection::Send,
            false => TransferDirection::Receive,
        }),
        streams: Some(streams as u64).filter(|streams| *streams > 0),
        to: test.connections.first().map(|it| it.peer.to_owned()),
        sent: rates(&sent),
        received: rates(counted),
        retransmits: (!retransmits.is_empty()).then(|| retransmits.iter().sum()),
        datagrams: datagrams.map(|counts| DatagramCounts {
            reordered: Some(test.reordered).filter(|count| *count > 0),
            ..counts
        }),
        began: test.began,
        ..ImportedTransfer::default()
    };
    let warnings = test.warnings.iter();
    let problems = warnings.map(|line| format!("iperf reported: {}", shorten(line)));
    transfer.problems.extend(problems);
    let is_unacknowledged = counted.is_empty() && !sent.is_empty();
    if is_unacknowledged && transfer.protocol == Some(Protocol::Udp) {
        let problem = "no report of the server: no datagram may have arrived";
        transfer.problems.push(problem.to_owned());
    }
    if is_both {
        transfer.direction = None;
        transfer.extra.insert(Attribute::Concurrent, 2_u64.into());
        transfer.problems.push("each rate is that of one of two directions at once".to_owned());
    }
    transfer.into_measurement()
}
