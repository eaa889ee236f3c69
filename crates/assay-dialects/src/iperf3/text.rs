//! iperf3's text output.
//!
//! Columns match version 3.12 exactly, because scripts parse the lines by column.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::units::{self, RateFormat};
use super::{
    ConcurrentTests, DiskFile, Iperf3End, Iperf3Interval, Iperf3Start, StreamInterval,
};

/// Options that change the format of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Iperf3TextStyle {
    /// Unit of the rates.
    pub format: RateFormat,
    /// Whether this end is the client.
    pub is_client: bool,
    /// Whether the test uses UDP.
    pub udp: bool,
    /// Whether data flows in both directions; adds a column for the direction.
    pub bidirectional: bool,
    /// Whether to add CPU use of both ends and congestion control (`-V`).
    pub verbose: bool,
}

const RULE: &str = "- - - - - - - - - - - - - - - - - - - - - - - - -\n";

/// Last line of the output of a test that failed after its start.
pub const INCOMPLETE: &str =
    "The test failed before its end: the intervals above are all that was measured.\n";

/// Formats the lines before the first interval.
pub fn format_start(start: &Iperf3Start, style: Iperf3TextStyle) -> String {
    let mut text = String::new();
    let peer = &start.peer;
    if style.is_client {
        let _ = writeln!(text, "Connecting to host {peer}, port {}", start.port);
        if start.reverse {
            let _ = writeln!(text, "Reverse mode, remote host {peer} is sending");
        }
    } else {
        let _ = writeln!(text, "Accepted connection from {peer}, port {}", start.port);
    }
    for stream in &start.connected {
        let _ = writeln!(
            text,
            "[{:3}] local {} port {} connected to {} port {}",
            stream.socket,
            stream.local.ip(),
            stream.local.port(),
            stream.remote.ip(),
            stream.remote.port()
        );
    }
    let any_sends = start.connected.iter().any(|stream| stream.sends);
    text + &column_header(style, interval_columns(style, any_sends))
}

/// Returns the column titles. A 3.12 client always prints those of a TCP sender, a server only when
/// it sends.
const fn interval_columns(style: Iperf3TextStyle, any_sends: bool) -> &'static str {
    match (style.udp, any_sends) {
        (true, true) if style.bidirectional => "         Jitter    Lost/Total Datagrams",
        (true, true) => "         Total Datagrams",
        (true, false) => "         Jitter    Lost/Total Datagrams",
        (false, true) => "         Retr  Cwnd",
        (false, false) if style.is_client => "         Retr  Cwnd",
        (false, false) => "",
    }
}

fn column_header(style: Iperf3TextStyle, columns: &str) -> String {
    let role = if style.bidirectional { "[Role]" } else { "" };
    format!("[ ID]{role} Interval           Transfer     Bitrate{columns}\n")
}

/// Formats the lines of one interval, with the sum of several streams.
pub fn format_interval(interval: &Iperf3Interval, style: Iperf3TextStyle) -> String {
    let mut text: String =
        interval.streams.iter().map(|stream| interval_line(stream, style)).collect();
    for sends in [true, false] {
        if interval.streams.iter().filter(|stream| stream.sends == sends).count() > 1 {
            let sum = interval.sum(sends);
            text.extend(sum.map(|sum| interval_line(&sum, style)));
        }
    }
    text
}

fn interval_line(interval: &StreamInterval, style: Iperf3TextStyle) -> String {
    let omitted = if interval.omitted { "(omitted)" } else { "" };
    let prefix = line_prefix(interval, interval.sends, style);
    match (interval.tcp, interval.udp) {
        (Some(tcp), _) if interval.socket.is_some() => {
            let window = units::format_bytes(tcp.congestion_window_bytes as f64);
            format!("{prefix}  {:3}   {window}s       {omitted}\n", tcp.retransmits)
        }
        (Some(tcp), _) => format!("{prefix}  {:3}             {omitted}\n", tcp.retransmits),
        (None, Some(udp)) if interval.sends => {
            format!("{prefix}  {}  {omitted}\n", udp.packets)
        }
        (None, Some(_)) => format!("{prefix}  {}  {omitted}\n", loss_columns(interval)),
        (None, None) => format!("{prefix}                  {omitted}\n"),
    }
}

/// Formats the start of a line: `[  5]   0.00-1.00   sec  1.61 GBytes  13.9 Gbits/sec`.
fn line_prefix(interval: &StreamInterval, sends: bool, style: Iperf3TextStyle) -> String {
    let name = interval.socket.map_or("SUM".to_owned(), |socket| format!("{socket:3}"));
    let side = if style.is_client { 'C' } else { 'S' };
    let role = match (style.bidirectional, sends) {
        (false, _) => String::new(),
        (true, true) => format!("[TX-{side}]"),
        (true, false) => format!("[RX-{side}]"),
    };
    format!(
        "[{name}]{role} {:6.2}-{:<6.2} sec  {}s  {}s/sec",
        interval.start_s,
        interval.end_s,
        units::format_bytes(interval.bytes as f64),
        units::format_rate(interval.bit_per_s(), style.format)
    )
}

/// Formats jitter and lost datagrams: `0.054 ms  0/31 (0%)`.
fn loss_columns(interval: &StreamInterval) -> String {
    let udp = interval.udp.unwrap_or_default();
    let percent = lost_percent(udp.lost, udp.packets);
    format!(
        "{:5.3} ms  {}/{} ({}%)",
        udp.jitter_s * 1e3,
        udp.lost,
        udp.packets,
        format_two_digits(percent)
    )
}

/// Returns the lost datagrams in percent; 0 without datagrams.
pub(super) fn lost_percent(lost: i64, packets: i64) -> f64 {
    if packets > 0 { lost as f64 * 100.0 / packets as f64 } else { 0.0 }
}

/// Formats like C's `%.2g`, for values from 0 to 100: two significant digits, no trailing zeros.
fn format_two_digits(value: f64) -> String {
    let magnitude = if value.abs() > 0.0 { value.abs().log10().floor() as i32 } else { 0 };
    if !(-4..2).contains(&magnitude) {
        let text = format!("{value:.1e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        let mantissa = mantissa.strip_suffix(".0").unwrap_or(mantissa);
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let decimals = usize::try_from(1 - magnitude).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats the summary after the last interval.
pub fn format_end(end: &Iperf3End, style: Iperf3TextStyle) -> String {
    let mut text = RULE.to_owned();
    let columns =
        match (style.udp, style.is_client || end.streams.iter().any(|stream| stream.sends)) {
            (true, _) => "         Jitter    Lost/Total Datagrams",
            (false, true) => "         Retr",
            (false, false) => "",
        };
    text.push_str(&column_header(style, columns));
    for stream in &end.streams {
        let file = end.file.as_ref();
        text.push_str(&summary_lines(
            (stream.sent, stream.received),
            stream.sends,
            file,
            style,
        ));
    }
    for sends in [true, false] {
        if end.streams.iter().filter(|stream| stream.sends == sends).count() > 1 {
            let sums = (end.sum_sent(sends), end.sum_received(sends));
            text.push_str(&summary_lines(sums, sends, None, style));
        }
    }
    if style.verbose {
        text.push_str(&cpu_and_congestion_lines(end, style));
    }
    if let Some(concurrent) = &end.concurrent {
        text.push_str(&interference_line(concurrent));
    }
    if let Some(output) = &end.server_output_text {
        let _ = write!(text, "\nServer output:\n{output}");
    }
    if style.is_client {
        text.push_str("\niperf Done.\n");
    }
    text
}

/// Formats the other tests of the server: `Interference: 2 other tests ran during 80 % of this one`.
fn interference_line(concurrent: &ConcurrentTests) -> String {
    let percent = concurrent.share * 100.0;
    match concurrent.count {
        0 => "Interference: no other test ran during this one\n".to_owned(),
        1 => format!("Interference: 1 other test ran during {percent:.0} % of this one\n"),
        count => format!(
            "Interference: {count} other tests ran during {percent:.0} % of this one, {:.1} of them at a time\n",
            concurrent.mean / concurrent.share.max(f64::MIN_POSITIVE)
        ),
    }
}

/// Formats CPU use and congestion control:
/// `CPU Utilization: local/sender 23.0% (0.0%u/23.0%s), remote/receiver 70.4% (1.2%u/69.2%s)`.
fn cpu_and_congestion_lines(end: &Iperf3End, style: Iperf3TextStyle) -> String {
    let sends = end.streams.first().is_none_or(|first| first.sends);
    let (local_role, remote_role) =
        if sends { ("sender", "receiver") } else { ("receiver", "sender") };
    let percent = |(total, user, system)| format!("{total:.1}% ({user:.1}%u/{system:.1}%s)");
    let mut text = String::new();
    // The client does not report its CPU use to the server.
    if style.is_client {
        let (local, remote) = (percent(end.cpu_here), percent(end.cpu_there));
        let _ = writeln!(
            text,
            "CPU Utilization: local/{local_role} {local}, remote/{remote_role} {remote}"
        );
    } else {
        let _ = writeln!(text, "CPU Utilization: local/{local_role} {}", percent(end.cpu_here));
    }
    for (name, congestion) in [("snd", &end.congestion.0), ("rcv", &end.congestion.1)] {
        if let Some(congestion) = congestion {
            let _ = writeln!(text, "{name}_tcp_congestion {congestion}");
        }
    }
    text
}

/// Formats the summary of a stream or sum: a server prints only its own measurement, a client both.
fn summary_lines(
    (sent, received): (Option<StreamInterval>, Option<StreamInterval>),
    sends: bool,
    file: Option<&DiskFile>,
    style: Iperf3TextStyle,
) -> String {
    let mut text = String::new();
    if let Some(sent) = sent.filter(|_| style.is_client || sends) {
        let prefix = line_prefix(&sent, sends, style);
        let _ = match (sent.tcp, sent.udp) {
            (Some(tcp), _) => {
                writeln!(text, "{prefix}  {:3}             sender", tcp.retransmits)
            }
            (None, Some(udp)) => {
                writeln!(text, "{prefix}  0.000 ms  0/{} (0%)  sender", udp.packets)
            }
            (None, None) => writeln!(text, "{prefix}                  sender"),
        };
    }
    if let (Some(file), Some(moved)) = (file, if sends { sent } else { received }) {
        text.push_str(&disk_file_line(file, moved.bytes));
    }
    if let Some(received) = received.filter(|_| style.is_client || !sends) {
        let prefix = line_prefix(&received, sends, style);
        let _ = match received.udp {
            Some(_) => writeln!(text, "{prefix}  {}  receiver", loss_columns(&received)),
            None => writeln!(text, "{prefix}                  receiver"),
        };
    }
    text
}

/// Formats the part of a file that was sent or received, which iperf3 both calls sent.
fn disk_file_line(file: &DiskFile, bytes: u64) -> String {
    let [moved, size] = [bytes, file.bytes].map(|bytes| units::format_bytes(bytes as f64));
    let percent = file_percent(bytes, file.bytes);
    format!("        Sent {moved} / {size} ({percent}%) of {}\n", file.name)
}

/// Returns a number of bytes in whole percent of a file; an empty file is complete.
pub(super) const fn file_percent(bytes: u64, size: u64) -> u64 {
    match size {
        0 => 100,
        size => bytes.saturating_mul(100) / size,
    }
}

/// Formats the banner of a server of several clients at once.
pub fn concurrent_banner(port: u16, clients: usize) -> String {
    let rule = "-".repeat(59);
    format!("{rule}\nServer listening on {port} (up to {clients} clients at once)\n{rule}\n")
}

/// Formats the banner of a server that waits for test number `test`.
pub fn listening_banner(port: u16, test: u64) -> String {
    let rule = "-".repeat(59);
    format!("{rule}\nServer listening on {port} (test #{test})\n{rule}\n")
}
