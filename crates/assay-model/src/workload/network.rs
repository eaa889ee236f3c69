//! Network workloads: to another host, or to this one over loopback.

use serde::{Deserialize, Serialize};

/// Network test with one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkWorkload {
    /// The host, as the user named it; `None` = this machine over loopback, with a server in this
    /// process.
    pub to: Option<String>,
    /// Port of the server; `None` = the default port of its protocol.
    pub port: Option<u16>,
    /// Kind of test and its parameters.
    #[serde(rename = "question")]
    pub test: NetworkTest,
}

/// Kind of network test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "measures", rename_all = "kebab-case")]
pub enum NetworkTest {
    /// Throughput of streams.
    Throughput(NetworkThroughput),
    /// Round trip of messages.
    Latency(NetworkLatency),
    /// Connections with one request and one response each.
    Connections(NetworkConnections),
}

/// Throughput test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkThroughput {
    /// Number of concurrent streams per direction.
    pub streams: u32,
    /// Direction of the data transfer.
    pub direction: TransferDirection,
    /// Length of one repetition in seconds.
    pub seconds: u32,
    /// Whether both ends copy the data between program and kernel; otherwise zero-copy sends, and
    /// receives that discard the data.
    pub copy: bool,
    /// Whether one system call carries many datagrams, which the kernel cuts and joins
    /// (`UDP_SEGMENT`, `UDP_GRO`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub segmentation: bool,
    /// Rate of each stream in bit/s; `None` = unlimited.
    pub rate_bit_per_s: Option<u64>,
    /// Congestion control; `None` = the system's default.
    pub congestion: Option<String>,
}

impl NetworkThroughput {
    /// Returns the test of one stream that sends, copies its data and is not limited.
    pub const fn sending(seconds: u32) -> Self {
        Self {
            streams: 1,
            direction: TransferDirection::Send,
            seconds,
            copy: true,
            segmentation: false,
            rate_bit_per_s: None,
            congestion: None,
        }
    }
}

/// Round-trip test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkLatency {
    /// Size of a message in bytes.
    pub bytes: u64,
    /// Length of one repetition in seconds.
    pub seconds: u32,
    /// Whether the waiting thread spins instead of sleeping.
    pub spin: bool,
    /// Rate of an open loop in messages per second; `None` = the next message follows the reply.
    pub rate_per_s: Option<f64>,
    /// Number of TCP streams that load the link during the test; 0 = none.
    pub load_streams: u32,
    /// Microseconds for which a receive polls the device's queue (`SO_BUSY_POLL`); `None` = the
    /// system's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_poll_us: Option<u32>,
}

impl NetworkLatency {
    /// Returns the test of one message at a time, over an otherwise idle link.
    pub const fn new(bytes: u64, seconds: u32) -> Self {
        Self {
            bytes,
            seconds,
            spin: false,
            rate_per_s: None,
            load_streams: 0,
            busy_poll_us: None,
        }
    }
}

/// Test of connections: connect, request, response, close.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkConnections {
    /// Number of streams, each of which opens one connection after the other.
    pub streams: u32,
    /// Size of the request and of the response in bytes.
    pub bytes: u64,
    /// Length of one repetition in seconds.
    pub seconds: u32,
}

/// Direction of the data transfer, relative to this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferDirection {
    /// This end sends.
    Send,
    /// This end receives.
    Receive,
    /// Both ends send at once.
    Both,
}

impl TransferDirection {
    /// Every direction with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("send", Self::Send), ("receive", Self::Receive), ("both", Self::Both)];

    /// Returns the name in suites and results.
    pub fn name(self) -> &'static str {
        let row = Self::ALL.iter().find(|(_, direction)| *direction == self);
        row.map(|(name, _)| *name).expect("every direction has its row")
    }
}

impl NetworkWorkload {
    /// Returns the name within the benchmark, for case identifiers.
    pub fn name(&self) -> String {
        let to = self.to.as_deref().unwrap_or("loopback");
        match &self.test {
            NetworkTest::Throughput(test) => {
                let copy = if test.copy { "" } else { "/no-copy" };
                let segmentation = if test.segmentation { "/segmentation" } else { "" };
                let (direction, streams) = (test.direction.name(), test.streams);
                format!("{to}/{direction}/streams={streams}{copy}{segmentation}")
            }
            NetworkTest::Latency(test) => {
                let spin = if test.spin { "/spin" } else { "" };
                let rate =
                    test.rate_per_s.map_or(String::new(), |rate| format!("/rate={rate}"));
                let load = match test.load_streams {
                    0 => String::new(),
                    streams => format!("/load={streams}"),
                };
                let poll =
                    test.busy_poll_us.map_or(String::new(), |us| format!("/poll={us}us"));
                format!("{to}/latency/bytes={}{spin}{poll}{rate}{load}", test.bytes)
            }
            NetworkTest::Connections(test) => {
                format!("{to}/connections/streams={}/bytes={}", test.streams, test.bytes)
            }
        }
    }
}
