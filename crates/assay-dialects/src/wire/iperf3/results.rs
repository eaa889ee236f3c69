//! Results of an iperf3 test: the JSON object that both ends exchange.

use assay_model::cpu_account::CpuAccount;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Iperf3ProtocolError;
use crate::iperf3::ConcurrentTests;

/// CPU time of the process over wall time, in percent of one CPU, as iperf3 defines it. It omits
/// softirq time that the kernel attributes elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CpuPercent {
    /// User and system together.
    pub total: f64,
    /// User mode.
    pub user: f64,
    /// Kernel mode on the program's behalf.
    pub system: f64,
}

/// Measurement of a stream by one end.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StreamResult {
    /// Stream number; see [`super::stream_id`].
    pub id: u64,
    /// Bytes sent or received after the omitted time.
    pub bytes: u64,
    /// Segments retransmitted; `None` from a receiver, and where the kernel does not report it.
    pub retransmits: Option<u64>,
    /// UDP receiver: jitter of RFC 1889, in seconds.
    pub jitter_s: f64,
    /// UDP receiver: lost datagrams; negative when some arrived twice.
    pub errors: i64,
    /// Lost datagrams of the omitted time; 3.14 and later.
    pub omitted_errors: i64,
    /// Datagrams sent, or the highest number received.
    pub packets: i64,
    /// Datagrams of the omitted time; 3.14 and later.
    pub omitted_packets: i64,
    /// UDP receiver: datagrams out of order after the omitted time; only from another assay.
    pub out_of_order: Option<u64>,
    /// TCP sender: its round trips and windows; only from another assay.
    pub tcp: Option<SenderTcp>,
    /// End of the omitted time, in seconds by the end's own clock.
    pub start_s: f64,
    /// End of the measurement, by the same clock.
    pub end_s: f64,
}

/// TCP state of a sender over the test, which real iperf3 does not exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SenderTcp {
    /// Minimum, mean and maximum smoothed round-trip time, in microseconds.
    pub rtt_us: (u32, u32, u32),
    /// Largest congestion window and largest send window, in bytes.
    pub windows_bytes: (u64, u64),
    /// Reordering events.
    pub reordered: u32,
}

/// Measurements of a test by one end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Iperf3Results {
    /// CPU use of the process.
    pub cpu: CpuPercent,
    /// Whether the sender counts retransmits: 1, 0, or −1 from an end that sends nothing.
    pub sender_has_retransmits: i64,
    /// Congestion control algorithm of the streams.
    pub congestion: Option<String>,
    /// Server's output as text, if requested.
    pub server_output_text: Option<String>,
    /// Server's output as JSON, if requested.
    pub server_output_json: Option<Value>,
    /// Entries per stream.
    pub streams: Vec<StreamResult>,
    /// Full account of CPU time, from another assay.
    pub account: Option<CpuAccount>,
    /// Other tests of the server at the same time, from another assay.
    pub concurrent: Option<ConcurrentTests>,
    /// Whether the message reports omitted datagrams, for all streams or none.
    pub has_omitted: bool,
}

impl Iperf3Results {
    /// Builds the message without its length prefix.
    pub fn to_json(&self) -> Vec<u8> {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("cpu_util_total", json!(self.cpu.total));
        put("cpu_util_user", json!(self.cpu.user));
        put("cpu_util_system", json!(self.cpu.system));
        put("sender_has_retransmits", json!(self.sender_has_retransmits));
        self.congestion.as_ref().map(|name| put("congestion_used", json!(name)));
        self.server_output_text.as_ref().map(|text| put("server_output_text", json!(text)));
        self.server_output_json.as_ref().map(|it| put("server_output_json", it.clone()));
        put("streams", self.streams.iter().map(|stream| self.stream_json(stream)).collect());
        let mut own = Map::new();
        self.account.as_ref().map(|account| own.insert("cpu".to_owned(), json!(account)));
        self.concurrent.as_ref().map(|it| own.insert("concurrent_tests".to_owned(), json!(it)));
        if !own.is_empty() {
            put("assay", Value::Object(own));
        }
        Value::Object(map).to_string().into_bytes()
    }

    fn stream_json(&self, stream: &StreamResult) -> Value {
        let mut value = json!({
            "id": stream.id,
            "bytes": stream.bytes,
            "retransmits": stream.retransmits.map_or(json!(-1), |count| json!(count)),
            "jitter": stream.jitter_s,
            "errors": stream.errors,
            "packets": stream.packets,
            "start_time": stream.start_s,
            "end_time": stream.end_s,
        });
        if self.has_omitted {
            value["omitted_errors"] = json!(stream.omitted_errors);
            value["omitted_packets"] = json!(stream.omitted_packets);
        }
        if let Some(late) = stream.out_of_order {
            value["assay"]["out_of_order"] = json!(late);
        }
        if let Some(tcp) = &stream.tcp {
            value["assay"]["tcp"] = json!(tcp);
        }
        value
    }

    /// Parses the message.
    ///
    /// # Errors
    /// If it is not a JSON object, or a stream lacks its number or bytes or exceeds the limit of
    /// counts.
    pub fn from_json(message: &[u8]) -> Result<Self, Iperf3ProtocolError> {
        let value: Value =
            serde_json::from_slice(message).map_err(|error| malformed(&error.to_string()))?;
        if !value.is_object() {
            return Err(malformed("not a JSON object"));
        }
        let streams = value.get("streams").and_then(Value::as_array);
        let streams = streams.ok_or_else(|| malformed("`streams` is missing"))?;
        let percent = |key: &str| number_or_zero(&value, key).max(0.0);
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let own = |key: &str| value.get("assay").and_then(|it| it.get(key)).cloned();
        let concurrent = own("concurrent_tests")
            .and_then(|it| serde_json::from_value::<ConcurrentTests>(it).ok())
            .filter(|it| (0.0..=1.0).contains(&it.share) && it.mean >= 0.0);
        Ok(Self {
            cpu: CpuPercent {
                total: percent("cpu_util_total"),
                user: percent("cpu_util_user"),
                system: percent("cpu_util_system"),
            },
            sender_has_retransmits: signed_or_zero(&value, "sender_has_retransmits"),
            congestion: text("congestion_used"),
            server_output_text: text("server_output_text"),
            server_output_json: value.get("server_output_json").cloned(),
            streams: streams.iter().map(parse_stream).collect::<Result<_, _>>()?,
            account: own("cpu").and_then(|it| serde_json::from_value(it).ok()),
            concurrent,
            has_omitted: streams.iter().any(|stream| stream.get("omitted_packets").is_some()),
        })
    }
}

fn malformed(reason: &str) -> Iperf3ProtocolError {
    Iperf3ProtocolError::Malformed { what: "results", reason: reason.to_owned() }
}

fn parse_stream(value: &Value) -> Result<StreamResult, Iperf3ProtocolError> {
    let count = |key: &str| {
        let number = value.get(key).and_then(Value::as_f64).filter(|number| *number >= 0.0);
        let exact = || value.get(key).and_then(Value::as_u64);
        number
            .map(|number| exact().unwrap_or(number as u64))
            .filter(|count| *count <= MAX_COUNT)
            .ok_or_else(|| malformed(&format!("a stream's `{key}` is missing or out of range")))
    };
    let signed = |key: &str| {
        let number = signed_or_zero(value, key);
        let sane = Some(number).filter(|number| number.unsigned_abs() <= MAX_COUNT);
        sane.ok_or_else(|| {
            malformed(&format!("a stream's `{key}` of {number} is out of range"))
        })
    };
    Ok(StreamResult {
        id: count("id")?,
        bytes: count("bytes")?,
        retransmits: u64::try_from(signed("retransmits")?).ok(),
        jitter_s: number_or_zero(value, "jitter"),
        errors: signed("errors")?,
        omitted_errors: signed("omitted_errors")?,
        packets: signed("packets")?,
        omitted_packets: signed("omitted_packets")?,
        out_of_order: value
            .get("assay")
            .and_then(|it| it.get("out_of_order")?.as_u64())
            .filter(|late| *late <= MAX_COUNT),
        tcp: value
            .get("assay")
            .and_then(|it| serde_json::from_value(it.get("tcp")?.clone()).ok()),
        start_s: number_or_zero(value, "start_time"),
        end_s: number_or_zero(value, "end_time"),
    })
}

/// Maximum count, 2⁵³: a double, as in JSON, is exact up to here (9 PB in one test). Larger counts
/// are invalid, and their sums would overflow 64 bits.
const MAX_COUNT: u64 = 1 << 53;

fn number_or_zero(value: &Value, key: &str) -> f64 {
    value.get(key).and_then(Value::as_f64).unwrap_or(0.0)
}

/// Parses a signed number. 3.12 prints −1 as 2⁶⁴ − 1, so the upper half of the 64-bit range is
/// negative.
fn signed_or_zero(value: &Value, key: &str) -> i64 {
    match value.get(key) {
        Some(Value::Number(number)) => match (number.as_i64(), number.as_u64()) {
            (Some(signed), _) => signed,
            (None, Some(unsigned)) => unsigned.cast_signed(),
            (None, None) => {
                /// 2⁶³: a float at or above it is a wrapped negative number too.
                const WRAPPED: f64 = 9_223_372_036_854_775_808.0;
                number.as_f64().map_or(0, |it| if it >= WRAPPED { -1 } else { it as i64 })
            }
        },
        _ => 0,
    }
}
