//! Parameters of an iperf3 test: the JSON object that the client sends.
//!
//! The parser is lenient, because versions differ (booleans as numbers, missing or unknown keys),
//! within iperf3's own limits. The output is strict, as servers since 3.18 require.

use serde_json::{Map, Value, json};

use super::Iperf3ProtocolError;

/// Transport protocol of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportProtocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// Direction of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataDirection {
    /// Client to server.
    Forward,
    /// Server to client (`-R`).
    Reverse,
    /// Both directions (`--bidir`).
    Both,
}

/// Limit that ends the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestLimit {
    /// Duration in seconds (`-t`).
    Seconds(u32),
    /// Bytes (`-n`).
    Bytes(u64),
    /// Blocks (`-k`).
    Blocks(u64),
}

/// Full definition of a test: two ends with the same parameters run the same test.
#[derive(Debug, Clone, PartialEq)]
pub struct Iperf3Parameters {
    /// Transport protocol.
    pub protocol: TransportProtocol,
    /// Direction of the data.
    pub direction: DataDirection,
    /// Limit that ends the test.
    pub limit: TestLimit,
    /// Seconds omitted at the start (`-O`).
    pub omit_s: u32,
    /// Streams per direction (`-P`).
    pub streams: u32,
    /// Bytes per write, or per datagram (`-l`).
    pub block_bytes: u32,
    /// Rate in bit/s of each stream (`-b`); `None` = unlimited.
    pub rate_bit_per_s: Option<u64>,
    /// Blocks sent back to back at a limited rate (`-b RATE/BURST`).
    pub burst: u32,
    /// Interval of the pacing timer in microseconds, for a limited rate.
    pub pacing_timer_us: u32,
    /// Rate in bit/s to which the kernel paces each stream (`--fq-rate`).
    pub kernel_rate_bit_per_s: Option<u64>,
    /// Whether to set `TCP_NODELAY` (`-N`).
    pub no_delay: bool,
    /// Socket buffers in bytes (`-w`).
    pub window_bytes: Option<u32>,
    /// Maximum segment size in bytes (`-M`).
    pub segment_bytes: Option<u32>,
    /// Congestion control algorithm (`-C`).
    pub congestion: Option<String>,
    /// Type of service (`-S`).
    pub type_of_service: u32,
    /// Whether to send without copying (`-Z`).
    pub zero_copy: bool,
    /// Whether to receive without copying (`--skip-rx-copy`).
    pub skip_receive_copy: bool,
    /// Whether the kernel cuts and joins UDP's datagrams (`--gsro`).
    pub segmentation: bool,
    /// Whether datagrams over IPv4 are never cut on the path (`--dont-fragment`).
    pub dont_fragment: bool,
    /// IPv6 flow label of the client's streams (`-L`).
    pub flow_label: Option<u32>,
    /// Whether TCP uses several paths (`-m`).
    pub multipath: bool,
    /// CPU to which the server restricts itself for the test (`-A N,M`).
    pub server_cpu: Option<u32>,
    /// Whether the payload is a repeated pattern (`--repeating-payload`); assay's always is.
    pub repeating_payload: bool,
    /// Whether datagram numbers have 64 bits.
    pub wide_counters: bool,
    /// Whether the client prints the server's output too (`--get-server-output`).
    pub get_server_output: bool,
    /// Title printed before the output (`-T`).
    pub title: Option<String>,
    /// Extra data for the JSON output (`--extra-data`).
    pub extra_data: Option<String>,
    /// User, password and time, encrypted with the server's key, in base64 (`--username`).
    pub token: Option<String>,
    /// The client's version.
    pub client_version: String,
    /// Version of assay, if the client is assay.
    pub assay: Option<String>,
}

impl Default for Iperf3Parameters {
    /// iperf3's defaults: one TCP stream for ten seconds.
    fn default() -> Self {
        Self {
            protocol: TransportProtocol::Tcp,
            direction: DataDirection::Forward,
            limit: TestLimit::Seconds(10),
            omit_s: 0,
            streams: 1,
            block_bytes: TCP_BLOCK_BYTES,
            rate_bit_per_s: None,
            burst: 0,
            pacing_timer_us: PACING_TIMER_US,
            kernel_rate_bit_per_s: None,
            no_delay: false,
            window_bytes: None,
            segment_bytes: None,
            congestion: None,
            type_of_service: 0,
            zero_copy: false,
            skip_receive_copy: false,
            segmentation: false,
            dont_fragment: false,
            flow_label: None,
            multipath: false,
            server_cpu: None,
            repeating_payload: false,
            wide_counters: false,
            get_server_output: false,
            title: None,
            extra_data: None,
            token: None,
            client_version: CLIENT_VERSION.to_owned(),
            assay: None,
        }
    }
}

/// iperf3's default block size for TCP.
pub const TCP_BLOCK_BYTES: u32 = 128 * 1024;
/// Protocol version that assay supports and announces as a client.
pub const CLIENT_VERSION: &str = "3.12";
/// iperf3's default interval of the pacing timer.
pub const PACING_TIMER_US: u32 = 1000;

/// Maximum number of streams. This and the following limits are those of iperf3 3.21, so that both
/// reject the same tests.
pub const STREAMS_LIMIT: u32 = 128;
/// Maximum size of a TCP write.
pub const TCP_BLOCK_LIMIT: u32 = 1024 * 1024;
/// Minimum size of a datagram: the header with the 64-bit counter.
pub const UDP_BLOCK_MINIMUM: u32 = 16;
/// Maximum size of a datagram that fits an IP packet.
pub const UDP_BLOCK_LIMIT: u32 = 65507;
/// Maximum duration: one day.
pub const TIME_LIMIT_S: u32 = 86400;
/// Maximum omitted time: ten minutes.
pub const OMIT_LIMIT_S: u32 = 600;
/// Maximum flow label: 20 bits.
pub const FLOW_LABEL_LIMIT: u32 = 0xF_FFFF;
/// Maximum number of a CPU.
pub const CPU_LIMIT: u32 = 1024;
const SEGMENT_LIMIT: u32 = 32767;
const WINDOW_LIMIT: u32 = 512 * 1024 * 1024;
const BURST_LIMIT: u32 = 1000;

impl Iperf3Parameters {
    /// Builds the message without its length prefix.
    pub fn to_json(&self) -> Vec<u8> {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put(if self.protocol == TransportProtocol::Tcp { "tcp" } else { "udp" }, json!(true));
        put("omit", json!(self.omit_s));
        let (time, bytes, blocks) = match self.limit {
            TestLimit::Seconds(seconds) => (seconds, 0, 0),
            TestLimit::Bytes(bytes) => (0, bytes, 0),
            TestLimit::Blocks(blocks) => (0, 0, blocks),
        };
        put("time", json!(time));
        put("num", json!(bytes));
        put("blockcount", json!(blocks));
        put("parallel", json!(self.streams));
        put("len", json!(self.block_bytes));
        put("pacing_timer", json!(self.pacing_timer_us));
        put("client_version", json!(self.client_version));
        let flags = [
            ("reverse", self.direction == DataDirection::Reverse),
            ("bidirectional", self.direction == DataDirection::Both),
            ("nodelay", self.no_delay),
            ("mptcp", self.multipath),
        ];
        for (key, _) in flags.into_iter().filter(|(_, set)| *set) {
            put(key, json!(true));
        }
        let numbers = [
            ("bandwidth", self.rate_bit_per_s),
            ("fqrate", self.kernel_rate_bit_per_s),
            ("window", self.window_bytes.map(u64::from)),
            ("MSS", self.segment_bytes.map(u64::from)),
            ("burst", nonzero(self.burst)),
            ("TOS", nonzero(self.type_of_service)),
            ("zerocopy", self.zero_copy.then_some(1)),
            ("skip_rx_copy", self.skip_receive_copy.then_some(1)),
            ("dont_fragment", self.dont_fragment.then_some(1)),
            ("flowlabel", self.flow_label.map(u64::from)),
            ("server_affinity", self.server_cpu.map(u64::from)),
            ("repeating_payload", self.repeating_payload.then_some(1)),
            ("udp_counters_64bit", self.wide_counters.then_some(1)),
            ("get_server_output", self.get_server_output.then_some(1)),
        ];
        for (key, value) in numbers {
            value.map(|value| put(key, json!(value)));
        }
        if self.segmentation {
            self.segmentation_numbers().into_iter().for_each(|(key, value)| {
                put(key, json!(value));
            });
        }
        let texts = [
            ("congestion", &self.congestion),
            ("title", &self.title),
            ("extra_data", &self.extra_data),
            ("authtoken", &self.token),
        ];
        for (key, text) in texts {
            text.as_ref().map(|text| put(key, json!(text)));
        }
        self.assay.as_ref().map(|version| put("assay", json!({ "version": version })));
        Value::Object(map).to_string().into_bytes()
    }

    /// Returns the members of `--gsro`: the size of a datagram, and those of the messages that the
    /// kernel cuts into datagrams and joins from them.
    fn segmentation_numbers(&self) -> [(&'static str, u32); 5] {
        let whole = UDP_BLOCK_LIMIT - UDP_BLOCK_LIMIT % self.block_bytes.max(1);
        [
            ("gso", 1),
            ("gso_dg_size", self.block_bytes),
            ("gso_bf_size", whole),
            ("gro", 1),
            ("gro_bf_size", UDP_BLOCK_LIMIT),
        ]
    }

    /// Parses the message.
    ///
    /// # Errors
    /// If it is not a JSON object, or exceeds iperf3's limits.
    pub fn from_json(message: &[u8]) -> Result<Self, Iperf3ProtocolError> {
        let value: Value =
            serde_json::from_slice(message).map_err(|error| malformed(&error.to_string()))?;
        let Value::Object(map) = value else { return Err(malformed("not a JSON object")) };
        let keys = ParameterKeys(&map);
        let protocol =
            if keys.is_set("udp") { TransportProtocol::Udp } else { TransportProtocol::Tcp };
        if keys.is_set("sctp") {
            return Err(malformed("SCTP is not supported"));
        }
        let blocks = match protocol {
            TransportProtocol::Tcp => (1, TCP_BLOCK_LIMIT),
            TransportProtocol::Udp => (UDP_BLOCK_MINIMUM, UDP_BLOCK_LIMIT),
        };
        let block_bytes = match (keys.number("len")?, protocol) {
            (None | Some(0), TransportProtocol::Tcp) => TCP_BLOCK_BYTES,
            (given, _) => check_range("len", given.unwrap_or(0), blocks)?,
        };
        Ok(Self {
            protocol,
            direction: keys.direction(),
            limit: keys.limit()?,
            omit_s: keys.number_in_range("omit", (0, OMIT_LIMIT_S))?.unwrap_or(0),
            streams: keys.number_in_range("parallel", (1, STREAMS_LIMIT))?.unwrap_or(1),
            block_bytes,
            rate_bit_per_s: keys.number("bandwidth")?.filter(|rate| *rate > 0),
            burst: keys.number_in_range("burst", (0, BURST_LIMIT))?.unwrap_or(0),
            pacing_timer_us: keys
                .number_in_range("pacing_timer", (0, 1_000_000))?
                .filter(|timer| *timer > 0)
                .unwrap_or(PACING_TIMER_US),
            kernel_rate_bit_per_s: keys.number("fqrate")?.filter(|rate| *rate > 0),
            no_delay: keys.is_set("nodelay"),
            window_bytes: keys
                .number_in_range("window", (0, WINDOW_LIMIT))?
                .filter(|bytes| *bytes > 0),
            segment_bytes: keys
                .number_in_range("MSS", (0, SEGMENT_LIMIT))?
                .filter(|bytes| *bytes > 0),
            congestion: keys.text("congestion"),
            type_of_service: keys.number_in_range("TOS", (0, 255))?.unwrap_or(0),
            zero_copy: keys.is_set("zerocopy"),
            skip_receive_copy: keys.is_set("skip_rx_copy"),
            segmentation: protocol == TransportProtocol::Udp
                && (keys.is_set("gso") || keys.is_set("gro")),
            dont_fragment: keys.is_set("dont_fragment"),
            flow_label: keys.number_in_range("flowlabel", (1, FLOW_LABEL_LIMIT))?,
            multipath: keys.is_set("mptcp"),
            server_cpu: keys.number_in_range("server_affinity", (0, CPU_LIMIT))?,
            repeating_payload: keys.is_set("repeating_payload"),
            wide_counters: keys.is_set("udp_counters_64bit"),
            get_server_output: keys.is_set("get_server_output"),
            title: keys.text("title"),
            extra_data: keys.text("extra_data"),
            token: keys.text("authtoken"),
            client_version: keys.text("client_version").unwrap_or_default(),
            assay: map
                .get("assay")
                .and_then(|it| Some(it.get("version")?.as_str()?.to_owned())),
        })
    }
}

fn nonzero(number: u32) -> Option<u64> {
    (number > 0).then_some(u64::from(number))
}

fn malformed(reason: &str) -> Iperf3ProtocolError {
    Iperf3ProtocolError::Malformed { what: "parameters", reason: reason.to_owned() }
}

fn check_range(
    key: &str,
    value: u64,
    (minimum, most): (u32, u32),
) -> Result<u32, Iperf3ProtocolError> {
    match u32::try_from(value) {
        Ok(value) if (minimum..=most).contains(&value) => Ok(value),
        _ => Err(malformed(&format!("{key} must be {minimum} to {most}, not {value}"))),
    }
}

/// Typed access to the keys of the JSON object.
struct ParameterKeys<'a>(&'a Map<String, Value>);

impl ParameterKeys<'_> {
    /// Whether a flag is set: `true`, or any number but 0, as old versions write it.
    fn is_set(&self, key: &str) -> bool {
        match self.0.get(key) {
            Some(Value::Bool(set)) => *set,
            Some(Value::Number(number)) => number.as_f64() != Some(0.0),
            _ => false,
        }
    }

    fn number(&self, key: &str) -> Result<Option<u64>, Iperf3ProtocolError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_f64()
                .filter(|number| *number >= 0.0 && number.is_finite())
                .map(|number| Some(value.as_u64().unwrap_or(number as u64)))
                .ok_or_else(|| malformed(&format!("{key} must be a number of at least 0"))),
        }
    }

    fn number_in_range(
        &self,
        key: &str,
        limits: (u32, u32),
    ) -> Result<Option<u32>, Iperf3ProtocolError> {
        self.number(key)?.map(|number| check_range(key, number, limits)).transpose()
    }

    fn text(&self, key: &str) -> Option<String> {
        self.0.get(key)?.as_str().map(str::to_owned)
    }

    fn direction(&self) -> DataDirection {
        match (self.is_set("bidirectional"), self.is_set("reverse")) {
            (true, _) => DataDirection::Both,
            (false, true) => DataDirection::Reverse,
            (false, false) => DataDirection::Forward,
        }
    }

    fn limit(&self) -> Result<TestLimit, Iperf3ProtocolError> {
        let bytes = self.number("num")?.filter(|bytes| *bytes > 0);
        let blocks = self.number("blockcount")?.filter(|blocks| *blocks > 0);
        let seconds = self.number_in_range("time", (0, TIME_LIMIT_S))?.unwrap_or(0);
        Ok(match (bytes, blocks) {
            (Some(bytes), _) => TestLimit::Bytes(bytes),
            (None, Some(blocks)) => TestLimit::Blocks(blocks),
            (None, None) => TestLimit::Seconds(seconds),
        })
    }
}
