//! iperf3's output: the values of a test, and the two shapes that people and their scripts read.
//!
//! Everything here is a value or text made of values; what is measured is decided elsewhere.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

pub mod json;
pub mod text;
pub mod units;

/// One data connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connected {
    /// The number it is shown under.
    pub socket: u32,
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// Whether this end sends on it.
    pub sends: bool,
}

/// Everything known when the streams are open.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Start {
    /// Whether this end is the client.
    pub is_client: bool,
    /// The other end, as the user named it.
    pub peer: String,
    /// Its port.
    pub port: u16,
    /// The data connections.
    pub connected: Vec<Connected>,
    /// The test's cookie.
    pub cookie: String,
    /// Seconds since 1970.
    pub time_s: u64,
    /// Version and system, as this end tells them.
    pub version: String,
    /// See `version`.
    pub system: String,
    /// Datagrams instead of a byte stream.
    pub udp: bool,
    /// Data flows both ways.
    pub bidirectional: bool,
    /// Data flows from the server.
    pub reverse: bool,
    /// Streams per direction.
    pub streams: u32,
    /// Bytes per block.
    pub block_bytes: u32,
    /// Seconds that do not count.
    pub omit_s: u32,
    /// Seconds; 0 when bytes or blocks end the test.
    pub duration_s: u32,
    /// Bytes; 0 when time or blocks end the test.
    pub bytes: u64,
    /// Blocks; 0 when time or bytes end the test.
    pub blocks: u64,
    /// Type of service.
    pub type_of_service: u32,
    /// Bit/s per stream; 0 = no limit.
    pub target_bit_per_s: u64,
    /// Largest segment in bytes.
    pub segment_bytes: u32,
    /// Socket buffer requested, in bytes; 0 = the system's.
    pub window_bytes: u32,
    /// Send and receive buffer in bytes, as the system made them.
    pub buffers_bytes: (u32, u32),
    /// Printed before everything.
    pub title: Option<String>,
    /// Put into the JSON.
    pub extra_data: Option<String>,
}

/// What a TCP sender knows of its connection at the end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TcpNumbers {
    /// Segments retransmitted in the interval.
    pub retransmits: u64,
    /// Congestion window in bytes.
    pub congestion_window_bytes: u64,
    /// The peer's window in bytes.
    pub send_window_bytes: u64,
    /// Smoothed round trip in microseconds.
    pub rtt_us: u32,
    /// Its deviation in microseconds.
    pub rtt_deviation_us: u32,
    /// Path MTU in bytes.
    pub path_mtu_bytes: u32,
    /// Times that segments arrived out of order, since the connection was made.
    pub reordered: u32,
    /// What the path last delivered, in bit/s; `None` where the kernel does not report it.
    pub delivery_bit_per_s: Option<u64>,
}

/// What one end of UDP counted.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct UdpNumbers {
    /// Datagrams sent, or that should have arrived.
    pub packets: i64,
    /// Those that did not arrive.
    pub lost: i64,
    /// Those that arrived late; `None` from an end that cannot know: a sender, and iperf3's far end, whose
    /// protocol does not report them.
    pub out_of_order: Option<u64>,
    /// Jitter in seconds.
    pub jitter_s: f64,
}

/// One stream, or the sum of several, over one stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Stretch {
    /// The number the stream is shown under; `None` for a sum.
    pub socket: Option<u32>,
    /// Whether this end sends on it.
    pub sends: bool,
    /// Seconds since what counts began.
    pub start_s: f64,
    /// See `start_s`.
    pub end_s: f64,
    /// Bytes in this time.
    pub bytes: u64,
    /// Whether it counts.
    pub omitted: bool,
    /// From a TCP sender.
    pub tcp: Option<TcpNumbers>,
    /// From either end of UDP.
    pub udp: Option<UdpNumbers>,
}

/// All streams over the same stretch of time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// Per stream.
    pub streams: Vec<Stretch>,
}

impl Stretch {
    /// Length in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end_s - self.start_s
    }

    /// Bit per second; 0 over no time.
    #[must_use]
    pub fn bit_per_s(&self) -> f64 {
        if self.seconds() > 0.0 { self.bytes as f64 * 8.0 / self.seconds() } else { 0.0 }
    }

    /// The sum of streams that ran side by side; jitter is the mean. `None` for no stream.
    #[must_use]
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

impl Interval {
    /// The sum of the streams on which this end sends, or on which it receives.
    #[must_use]
    pub fn sum(&self, sends: bool) -> Option<Stretch> {
        Stretch::sum(self.streams.iter().filter(|stream| stream.sends == sends))
    }
}

/// One stream over the whole test, as both ends saw it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StreamEnd {
    /// The number it is shown under.
    pub socket: u32,
    /// Whether this end sends on it.
    pub sends: bool,
    /// The sender's view; `None` when the other end sent and did not report it.
    pub sent: Option<Stretch>,
    /// The receiver's view; `None` when the other end received and did not report it.
    pub received: Option<Stretch>,
    /// Minimum, mean and maximum smoothed round trip over the intervals, in microseconds.
    pub rtt_us: Option<(u32, u32, u32)>,
    /// Largest congestion window and peer's window over the intervals, in bytes.
    pub windows_bytes: (u64, u64),
}

/// CPU of a process in percent of one CPU: total, user, system.
pub type CpuPercent = (f64, f64, f64);

/// The whole test.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct End {
    /// Per stream.
    pub streams: Vec<StreamEnd>,
    /// This end's process.
    pub cpu_here: CpuPercent,
    /// The other end's, where it was reported.
    pub cpu_there: CpuPercent,
    /// Congestion control of the sender, then of the receiver.
    pub congestion: (Option<String>, Option<String>),
    /// The server's output as text.
    pub server_output_text: Option<String>,
    /// The server's output as JSON.
    pub server_output_json: Option<serde_json::Value>,
}

impl End {
    /// The sum of the senders' view of one direction.
    #[must_use]
    pub fn sent(&self, sends: bool) -> Option<Stretch> {
        let streams = self.streams.iter().filter(|stream| stream.sends == sends);
        Stretch::sum(streams.filter_map(|stream| stream.sent.as_ref()))
    }

    /// The sum of the receivers' view of one direction.
    #[must_use]
    pub fn received(&self, sends: bool) -> Option<Stretch> {
        let streams = self.streams.iter().filter(|stream| stream.sends == sends);
        Stretch::sum(streams.filter_map(|stream| stream.received.as_ref()))
    }
}

/// Everything that one end reports of a test, as far as it went: both shapes of the output are made of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reported {
    /// What was known when the streams were open.
    pub start: Option<Start>,
    /// What was reported while it ran.
    pub intervals: Vec<Interval>,
    /// The whole test; `None` when it failed.
    pub end: Option<End>,
    /// Why it failed.
    pub error: Option<String>,
}

impl Reported {
    /// Everything in one document (`-J`).
    #[must_use]
    pub fn document(&self) -> serde_json::Value {
        let (start, end) = (self.start.as_ref(), self.end.as_ref());
        json::document(start, &self.intervals, end, self.error.as_deref())
    }
}

#[cfg(test)]
mod tests;
