//! Members of iperf3's JSON documents that are read, and their names in all versions.

use serde_json::{Map, Value};

use crate::json_selection::{self, limit_error};
use crate::outputs::ToolError;

/// Maximum number of values that are used of one document, which has about fifty.
const MAX_VALUES: usize = 10_000;
/// Members that are read, at any depth; the intervals are none of them.
const MEMBERS: [&str; 43] = [
    "event",
    "data",
    "start",
    "test_start",
    "end",
    "error",
    "connecting_to",
    "accepted_connection",
    "host",
    "timestamp",
    "timesecs",
    "cookie",
    "version",
    "protocol",
    "num_streams",
    "reverse",
    "bidir",
    "duration",
    "target_bitrate",
    "omit",
    "blksize",
    "tcp_mss_default",
    "skip_rx_copy",
    "gso",
    "gro",
    "streams",
    "cpu_utilization_percent",
    "host_total",
    "remote_total",
    "sender_tcp_congestion",
    "receiver_tcp_congestion",
    "sum",
    "sum_sent",
    "sum_received",
    "sum_bidir_reverse",
    "sum_sent_bidir_reverse",
    "sum_received_bidir_reverse",
    "bytes",
    "seconds",
    "retransmits",
    "packets",
    "lost_packets",
    "jitter_ms",
];
/// Suffix of the sums of the second direction.
pub(crate) const REVERSE_SUFFIX: &str = "_bidir_reverse";
/// Suffix that the reader gives to a repeated member.
const REPEATED: &str = "#2";

/// Resolution of CPU times in seconds: a tick at either end.
pub(crate) const CPU_TICKS_S: f64 = 0.02;

/// Parses a count; −1, also printed as 2⁶⁴ − 1, means unknown.
pub(crate) fn known_count(value: &Value) -> Option<f64> {
    /// 2⁶³.
    const WRAPPED: f64 = 9_223_372_036_854_775_808.0;
    value.as_f64().filter(|count| (0.0..WRAPPED).contains(count))
}

/// Reads the members of one document. iperf3 3.7 to 3.11 writes the sums of both directions under
/// one name; the second ones get the names of later versions here.
///
/// # Errors
/// [`ToolError::LimitExceeded`], or the conversion by `invalid` of the error of the JSON.
pub(crate) fn read(
    text: &str,
    invalid: impl FnOnce(&serde_json::Error) -> ToolError,
) -> Result<Value, ToolError> {
    let mut document = json_selection::select_with_repeated(text, &MEMBERS, MAX_VALUES)
        .map_err(|error| limit_error(&error, MAX_VALUES).unwrap_or_else(|| invalid(&error)))?;
    for parent in ["/end", "/data"] {
        if let Some(Value::Object(sums)) = document.pointer_mut(parent) {
            rename_second_sums(sums);
        }
    }
    Ok(document)
}

fn rename_second_sums(sums: &mut Map<String, Value>) {
    let repeated: Vec<String> =
        sums.keys().filter(|name| name.ends_with(REPEATED)).cloned().collect();
    for name in repeated {
        let Some(value) = sums.remove(&name) else { continue };
        let first = name.trim_end_matches(REPEATED);
        sums.entry(format!("{first}{REVERSE_SUFFIX}")).or_insert(value);
    }
}
