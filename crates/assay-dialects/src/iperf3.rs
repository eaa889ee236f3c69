//! iperf3's output: the values of one test, and its text and JSON formats.
//!
//! This module holds values and formats them; other modules decide what to measure.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

pub mod json;
pub mod text;
pub mod units;

/// Data connection of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataConnection {
    /// Stream number in the output.
    pub socket: u32,
    /// Address of this end.
    pub local: SocketAddr,
    /// Address of the other end.
    pub remote: SocketAddr,
    /// Whether this end sends on the connection.
    pub sends: bool,
}

/// Facts known once the streams are open: the JSON object `start`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Iperf3Start {
    /// Whether this end is the client.
    pub is_client: bool,
    /// Other end, as the user named it.
    pub peer: String,
    /// Port of the other end.
    pub port: u16,
    /// The data connections.
    pub connected: Vec<DataConnection>,
    /// The test's cookie.
    pub cookie: String,
    /// Start of the test, in seconds since 1970.
    pub time_s: u64,
    /// Milliseconds after `time_s`.
    #[serde(default)]
    pub time_ms: u32,
    /// Version that this end reports.
    pub version: String,
    /// Operating system that this end reports.
    pub system: String,
    /// Whether the test uses UDP.
    pub udp: bool,
    /// Whether data flows in both directions.
    pub bidirectional: bool,
    /// Whether the server sends.
    pub reverse: bool,
    /// Streams per direction.
    pub streams: u32,
    /// Bytes per block.
    pub block_bytes: u32,
    /// Seconds omitted at the start.
    pub omit_s: u32,
    /// Duration in seconds; 0 when bytes or blocks end the test.
    pub duration_s: u32,
    /// Bytes to transfer; 0 when time or blocks end the test.
    pub bytes: u64,
    /// Blocks to transfer; 0 when time or bytes end the test.
    pub blocks: u64,
    /// Type of service.
    pub type_of_service: u32,
    /// Whether the kernel cuts and joins UDP's datagrams (`--gsro`).
    pub segmentation: bool,
    /// Target rate in bit/s per stream; 0 = no limit.
    pub target_bit_per_s: u64,
    /// Rate in bit/s to which the kernel paces each stream; 0 = no limit.
    #[serde(default)]
    pub kernel_bit_per_s: u64,
    /// Seconds between reports; 0 = none.
    #[serde(default)]
    pub interval_s: f64,
    /// Maximum segment size in bytes.
    pub segment_bytes: u32,
    /// Requested maximum segment size in bytes; 0 = the path's.
    #[serde(default)]
    pub requested_segment_bytes: u32,
    /// Requested socket buffer in bytes; 0 = the system's default.
    pub window_bytes: u32,
    /// Actual send and receive buffer in bytes, as the system set them.
    pub buffers_bytes: (u32, u32),
    /// Title printed before the output.
    pub title: Option<String>,
    /// Extra data for the JSON output.
    pub extra_data: Option<String>,
}

/// TCP state of a sending connection at the end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TcpNumbers {
    /// Segments retransmitted in the interval.
    pub retransmits: u64,
    /// Congestion window in bytes.
    pub congestion_window_bytes: u64,
    /// Send window advertised by the peer, in bytes.
    pub send_window_bytes: u64,
    /// Smoothed round-trip time in microseconds.
    pub rtt_us: u32,
    /// Mean deviation of the round-trip time in microseconds.
    pub rtt_deviation_us: u32,
    /// Path MTU in bytes.
    pub path_mtu_bytes: u32,
    /// Reordering events since the connection was opened.
    pub reordered: u32,
    /// Latest delivery rate of the path in bit/s; `None` where the kernel does not report it.
    pub delivery_bit_per_s: Option<u64>,
}

/// Datagram counts of one end of a UDP stream.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct UdpNumbers {
    /// Datagrams sent, or expected by the receiver.
    pub packets: i64,
    /// Datagrams that did not arrive.
    pub lost: i64,
    /// Datagrams that arrived out of order.
    ///
    /// `None` from an end that cannot count them: a sender, and the remote end of a real iperf3,
    /// whose protocol does not report them.
    pub out_of_order: Option<u64>,
    /// Jitter in seconds.
    pub jitter_s: f64,
}

/// Interval of a stream, or of a sum of streams.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamInterval {
    /// Stream number in the output; `None` for a sum.
    pub socket: Option<u32>,
    /// Whether this end sends on the stream.
    pub sends: bool,
    /// Start in seconds since the end of the omitted time.
    pub start_s: f64,
    /// End, on the same scale as `start_s`.
    pub end_s: f64,
    /// Bytes transferred in the interval.
    pub bytes: u64,
    /// Whether the interval belongs to the omitted time.
    pub omitted: bool,
    /// TCP state, from a sender only.
    pub tcp: Option<TcpNumbers>,
    /// Datagram counts, from either end of a UDP stream.
    pub udp: Option<UdpNumbers>,
}

/// All streams over the same interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Iperf3Interval {
    /// Entries per stream.
    pub streams: Vec<StreamInterval>,
}

impl StreamInterval {
    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        self.end_s - self.start_s
    }

    /// Rate in bit/s; 0 for an empty interval.
    pub fn bit_per_s(&self) -> f64 {
        if self.seconds() > 0.0 { self.bytes as f64 * 8.0 / self.seconds() } else { 0.0 }
    }

    /// Sums concurrent streams; jitter is their mean. `None` without a stream.
    pub fn sum<'a>(streams: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let streams: Vec<&Self> = streams.collect();
        let first = streams.first()?;
        let mut sum = Self { socket: None, bytes: 0, tcp: None, udp: None, ..**first };
        for stream in &streams {
            sum.bytes += stream.bytes;
            sum.end_s = sum.end_s.max(stream.end_s);
            if let Some(tcp) = stream.tcp {
                sum.tcp.get_or_insert_default().retransmits += tcp.retransmits;
            }
            if let Some(udp) = stream.udp {
                let is_first = sum.udp.is_none();
                let total = sum.udp.get_or_insert_default();
                total.packets += udp.packets;
                total.lost += udp.lost;
                let before = if is_first { Some(0) } else { total.out_of_order };
                total.out_of_order =
                    before.zip(udp.out_of_order).map(|(sum, late)| sum.saturating_add(late));
                total.jitter_s += udp.jitter_s / streams.len() as f64;
            }
        }
        Some(sum)
    }
}

impl Iperf3Interval {
    /// Sums the streams on which this end sends, or those on which it receives.
    pub fn sum(&self, sends: bool) -> Option<StreamInterval> {
        StreamInterval::sum(self.streams.iter().filter(|stream| stream.sends == sends))
    }
}

/// Totals of a stream over the whole test, as both ends measured it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StreamTotals {
    /// Stream number in the output.
    pub socket: u32,
    /// Whether this end sends on the stream.
    pub sends: bool,
    /// Sender's measurement; `None` when the other end sent and did not report it.
    pub sent: Option<StreamInterval>,
    /// Receiver's measurement; `None` when the other end received and did not report it.
    pub received: Option<StreamInterval>,
    /// Minimum, mean and maximum smoothed round-trip time over the intervals, in microseconds.
    pub rtt_us: Option<(u32, u32, u32)>,
    /// Largest congestion window and largest send window over the intervals, in bytes.
    pub windows_bytes: (u64, u64),
}

/// File that the streams sent, or to which they wrote (`-F`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DiskFile {
    /// Name, as the user wrote it.
    pub name: String,
    /// Size in bytes at the end.
    pub bytes: u64,
}

/// Other tests that the same server ran during a test (`assay iperf3 -s --clients`).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ConcurrentTests {
    /// Other tests that ran at any time of this one.
    pub count: u32,
    /// Share of this test's time in which at least one of them ran, from 0 to 1.
    pub share: f64,
    /// Mean number of them over this test's time.
    pub mean: f64,
}

/// CPU of a process in percent of one CPU: total, user, system.
pub type CpuPercentTuple = (f64, f64, f64);

/// Totals of the whole test: the JSON object `end`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Iperf3End {
    /// Entries per stream.
    pub streams: Vec<StreamTotals>,
    /// CPU use of this end's process.
    pub cpu_here: CpuPercentTuple,
    /// CPU use of the other end's process, where it was reported.
    pub cpu_there: CpuPercentTuple,
    /// Congestion control of the sender, then of the receiver.
    pub congestion: (Option<String>, Option<String>),
    /// The server's output as text.
    pub server_output_text: Option<String>,
    /// The server's output as JSON.
    pub server_output_json: Option<serde_json::Value>,
    /// File of the streams (`-F`).
    #[serde(default)]
    pub file: Option<DiskFile>,
    /// Other tests of the server at the same time; `None` from a server of one client at a time.
    #[serde(default)]
    pub concurrent: Option<ConcurrentTests>,
}

impl Iperf3End {
    /// Sums the senders' measurements of one direction.
    pub fn sum_sent(&self, sends: bool) -> Option<StreamInterval> {
        let streams = self.streams.iter().filter(|stream| stream.sends == sends);
        StreamInterval::sum(streams.filter_map(|stream| stream.sent.as_ref()))
    }

    /// Sums the receivers' measurements of one direction.
    pub fn sum_received(&self, sends: bool) -> Option<StreamInterval> {
        let streams = self.streams.iter().filter(|stream| stream.sends == sends);
        StreamInterval::sum(streams.filter_map(|stream| stream.received.as_ref()))
    }
}

/// Everything that one end reports of a test, complete or failed: the input of both output formats.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Iperf3Report {
    /// Facts known once the streams were open.
    pub start: Option<Iperf3Start>,
    /// Intervals reported so far.
    pub intervals: Vec<Iperf3Interval>,
    /// Totals of the whole test; `None` when it failed.
    pub end: Option<Iperf3End>,
    /// Reason of a failure.
    pub error: Option<String>,
}

impl Iperf3Report {
    /// Returns the whole test as one JSON document (`-J`).
    pub fn to_json(&self) -> serde_json::Value {
        let (start, end) = (self.start.as_ref(), self.end.as_ref());
        json::build_document(start, &self.intervals, end, self.error.as_deref())
    }
}

#[cfg(test)]
mod tests;
