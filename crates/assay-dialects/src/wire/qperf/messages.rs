//! Messages of fixed length: request, configuration, statistics.

use super::QperfProtocolError;

/// Tests that need only sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QperfTestKind {
    /// Report of the server's configuration.
    Configuration,
    /// Request to the server to exit.
    Quit,
    /// Bandwidth of a TCP stream from client to server.
    TcpBandwidth,
    /// Ping-pong over TCP.
    TcpLatency,
    /// Bandwidth of datagrams from client to server.
    UdpBandwidth,
    /// Ping-pong over UDP.
    UdpLatency,
    /// Connections with one request and one response each. An extension of assay: the client
    /// connects to the data socket as often as it likes, and ends the test with
    /// [`SYNC_AFTER`](super::SYNC_AFTER).
    TcpConnections,
}

impl QperfTestKind {
    /// Name, number on the wire and qperf's default message size in bytes.
    const ALL: [(Self, &'static str, u16, u32); 7] = [
        (Self::Configuration, "conf", 0, 0),
        (Self::Quit, "quit", 1, 0),
        (Self::TcpBandwidth, "tcp_bw", 8, 64 * 1024),
        (Self::TcpLatency, "tcp_lat", 9, 1),
        (Self::UdpBandwidth, "udp_bw", 10, 32 * 1024),
        (Self::UdpLatency, "udp_lat", 11, 1),
        // qperf numbers its tests from 0 on and rejects higher numbers; this one spells "CC".
        (Self::TcpConnections, "tcp_connections", 0x4343, 1),
    ];

    fn row(self) -> (Self, &'static str, u16, u32) {
        *Self::ALL.iter().find(|row| row.0 == self).expect("every test has its row")
    }

    /// Returns the test of this qperf name; qperf lacks assay's extension.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|row| row.1 == name).map(|row| row.0);
        found.filter(|test| *test != Self::TcpConnections)
    }

    /// Returns qperf's name of the test.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns qperf's default message size in bytes.
    pub fn default_message_bytes(self) -> u32 {
        self.row().3
    }

    /// Whether the test is a ping-pong of one message.
    pub const fn is_latency(self) -> bool {
        matches!(self, Self::TcpLatency | Self::UdpLatency)
    }

    /// Whether the test uses datagrams.
    pub const fn is_udp(self) -> bool {
        matches!(self, Self::UdpBandwidth | Self::UdpLatency)
    }
}

/// Maximum message size and socket buffer: 64 MiB.
const MESSAGE_LIMIT: u32 = 1 << 26;
const DATAGRAM_LIMIT: u32 = 65507;
const TIME_LIMIT_S: u32 = 86400;
/// Maximum number of a CPU, from 1; no machine has more.
pub const CPU_LIMIT: u32 = 8192;
const VERSION: [u16; 3] = [0, 4, 11];
/// Offset of the sixteen numbers of a request.
const FIELDS_OFFSET: usize = 8;
const AFFINITY: usize = 1;
const MESSAGE_SIZE: usize = 4;
const PORT: usize = 8;
const SOCKET_BUFFER: usize = 11;
const TIME: usize = 13;
const TIMEOUT: usize = 14;
const MESSAGES: usize = 6;

/// Request for one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QperfRequest {
    /// Requested test.
    pub test: QperfTestKind,
    /// Size of a message in bytes.
    pub message_bytes: u32,
    /// Number of messages after which to stop; 0 = by time.
    pub messages: u32,
    /// Socket buffers in bytes; 0 = the system's default.
    pub socket_buffer_bytes: u32,
    /// Duration in seconds.
    pub time_s: u32,
    /// Timeout of the peer's reply, in seconds.
    pub timeout_s: u32,
    /// CPU of the peer, from 1; 0 = any.
    pub cpu: u32,
    /// Port of the peer's data socket; 0 = any.
    pub port: u16,
}

impl QperfRequest {
    /// Encoded length.
    pub const BYTES: usize = 200;

    /// Creates a request with qperf's defaults, among them a duration of two seconds.
    pub fn new(test: QperfTestKind) -> Self {
        Self {
            test,
            message_bytes: test.default_message_bytes(),
            messages: 0,
            socket_buffer_bytes: 0,
            time_s: 2,
            timeout_s: 5,
            cpu: 0,
            port: 0,
        }
    }

    /// Encodes the request.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let words = VERSION.into_iter().chain([self.test.row().2]);
        for (place, word) in bytes.chunks_exact_mut(2).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let mut put = |field: usize, value: u32| {
            let at = FIELDS_OFFSET + 4 * field;
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        };
        put(AFFINITY, self.cpu);
        put(MESSAGE_SIZE, self.message_bytes);
        put(PORT, self.port.into());
        put(MESSAGES, self.messages);
        put(SOCKET_BUFFER, self.socket_buffer_bytes);
        put(TIME, self.time_s);
        put(TIMEOUT, self.timeout_s);
        bytes
    }

    /// Decodes a request.
    ///
    /// # Errors
    /// If the version differs, the test is not supported, or a number exceeds its limit.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, QperfProtocolError> {
        let word = |at: usize| u16::from_le_bytes([bytes[2 * at], bytes[2 * at + 1]]);
        if [word(0), word(1)] != VERSION[..2] {
            return Err(QperfProtocolError::Version { major: word(0), minor: word(1) });
        }
        let field = |index: usize| u32_at(bytes, FIELDS_OFFSET + 4 * index);
        let test = QperfTestKind::ALL.iter().find(|row| row.2 == word(3)).map(|row| row.0);
        let test = test.ok_or(QperfProtocolError::UnknownTest { index: word(3) })?;
        let bounded = |what, value, limit| match value {
            value if value <= limit => Ok(value),
            value => Err(QperfProtocolError::LimitExceeded { what, value, limit }),
        };
        let most = if test.is_udp() { DATAGRAM_LIMIT } else { MESSAGE_LIMIT };
        Ok(Self {
            test,
            message_bytes: bounded("a message size", field(MESSAGE_SIZE), most)?,
            messages: field(MESSAGES),
            socket_buffer_bytes: bounded(
                "socket buffers",
                field(SOCKET_BUFFER),
                MESSAGE_LIMIT,
            )?,
            time_s: bounded("a time", field(TIME), TIME_LIMIT_S)?,
            timeout_s: bounded("a timeout", field(TIMEOUT), TIME_LIMIT_S)?,
            cpu: bounded("a CPU", field(AFFINITY), CPU_LIMIT)?,
            port: bounded("a port", field(PORT), u16::MAX.into())? as u16,
        })
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Description of a machine: four texts of at most 63 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QperfConfiguration {
    /// Host name.
    pub node: String,
    /// CPUs.
    pub cpu: String,
    /// Operating system.
    pub os: String,
    /// Version of qperf, or of assay.
    pub qperf: String,
}

impl QperfConfiguration {
    /// Encoded length.
    pub const BYTES: usize = 256;
    const TEXT_BYTES: usize = 64;

    /// Encodes the configuration; longer texts are truncated.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let texts = [&self.node, &self.cpu, &self.os, &self.qperf];
        for (place, text) in bytes.chunks_exact_mut(Self::TEXT_BYTES).zip(texts) {
            let length = text.len().min(Self::TEXT_BYTES - 1);
            place[..length].copy_from_slice(&text.as_bytes()[..length]);
        }
        bytes
    }

    /// Decodes a configuration.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let text = |index: usize| {
            let place = &bytes[index * Self::TEXT_BYTES..][..Self::TEXT_BYTES];
            let end = place.iter().position(|byte| *byte == 0).unwrap_or(place.len());
            String::from_utf8_lossy(&place[..end]).into_owned()
        };
        Self { node: text(0), cpu: text(1), os: text(2), qperf: text(3) }
    }
}

/// Wall clock and CPU times of the machine in ticks, since an arbitrary moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MachineTicks {
    /// Wall clock.
    pub real: u64,
    /// user, nice, kernel, idle, iowait, irq, softirq, steal: the columns of `/proc/stat`.
    pub cpu: [u64; 8],
}

/// Counts of messages in one direction, by one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageCounts {
    /// Bytes.
    pub bytes: u64,
    /// Messages.
    pub messages: u64,
    /// Errors.
    pub errors: u64,
}

/// Server's measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QperfStatistics {
    /// Number of CPUs.
    pub cpus: u32,
    /// Clock ticks per second.
    pub ticks_per_s: u32,
    /// Times at the start.
    pub start: MachineTicks,
    /// Times at the end.
    pub end: MachineTicks,
    /// Messages sent by the server.
    pub sent: MessageCounts,
    /// Messages received by the server.
    pub received: MessageCounts,
}

impl QperfStatistics {
    /// Encoded length.
    pub const BYTES: usize = 256;
    const START_OFFSET: usize = 12;
    const TIMES_BYTES: usize = 72;
    const COUNTS_OFFSET: usize = Self::START_OFFSET + 2 * Self::TIMES_BYTES;

    /// Encodes the statistics.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut words: Vec<u64> = Vec::new();
        for times in [self.start, self.end] {
            words.push(times.real);
            words.extend(times.cpu);
        }
        for counts in [self.sent, self.received] {
            words.extend([counts.bytes, counts.messages, counts.errors]);
        }
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.cpus.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.ticks_per_s.to_le_bytes());
        for (place, word) in bytes[Self::START_OFFSET..].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Decodes statistics; any bytes are valid.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let times = |at: usize| MachineTicks {
            real: u64_at(bytes, at),
            cpu: std::array::from_fn(|column| u64_at(bytes, at + 8 * (column + 1))),
        };
        let counts = |index: usize| {
            let at = Self::COUNTS_OFFSET + 24 * index;
            MessageCounts {
                bytes: u64_at(bytes, at),
                messages: u64_at(bytes, at + 8),
                errors: u64_at(bytes, at + 16),
            }
        };
        Self {
            cpus: u32_at(bytes, 0),
            ticks_per_s: u32_at(bytes, 4),
            start: times(Self::START_OFFSET),
            end: times(Self::START_OFFSET + Self::TIMES_BYTES),
            sent: counts(0),
            received: counts(1),
        }
    }
}
