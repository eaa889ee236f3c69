//! iperf3's JSON output (`-J`, `--json-stream`), key by key as version 3.12 writes it.

use serde_json::{Map, Value, json};

use super::text::{file_percent, lost_percent};
use super::{
    DiskFile, Iperf3End, Iperf3Interval, Iperf3Start, StreamInterval, StreamTotals, UdpNumbers,
};

/// Builds the whole document (`-J`). A failed test keeps its measurements and adds `error`.
pub fn build_document(
    start: Option<&Iperf3Start>,
    intervals: &[Iperf3Interval],
    end: Option<&Iperf3End>,
    error: Option<&str>,
) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("start", start.map_or_else(|| json!({ "connected": [] }), self::start_object));
    let bidirectional = start.is_some_and(|start| start.bidirectional);
    put("intervals", intervals.iter().map(|it| interval_object(it, bidirectional)).collect());
    let udp = start.is_some_and(|start| start.udp);
    put("end", end.map_or_else(|| json!({}), |end| self::end_object(end, udp, bidirectional)));
    if let Some(start) = start {
        start.title.as_ref().map(|title| put("title", json!(title)));
        start.extra_data.as_ref().map(|data| put("extra_data", json!(data)));
    }
    if let Some(end) = end {
        end.server_output_text.as_ref().map(|text| put("server_output_text", json!(text)));
        end.server_output_json.as_ref().map(|it| put("server_output_json", it.clone()));
    }
    error.map(|error| put("error", json!(error)));
    without_fractions(Value::Object(map))
}

/// Replaces floating-point numbers without a fraction by integers, as iperf3 prints them: `0`, not
/// `0.0`.
fn without_fractions(value: Value) -> Value {
    /// Below 2⁵³ every whole number has its own floating-point number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Array(items) => items.into_iter().map(without_fractions).collect(),
        Value::Object(map) => Value::Object(
            map.into_iter().map(|(key, value)| (key, without_fractions(value))).collect(),
        ),
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            Some(whole) if whole.fract() == 0.0 && whole.abs() < EXACT => json!(whole as i64),
            _ => Value::Number(number),
        },
        other => other,
    }
}

/// Formats one line of `--json-stream`, with the number of the test if several run at once.
pub fn event_line(name: &str, data: Value, test: Option<u64>) -> String {
    let data = without_fractions(data);
    match test {
        None => json!({ "event": name, "data": data }).to_string(),
        Some(test) => json!({ "event": name, "test": test, "data": data }).to_string(),
    }
}

/// Builds the object `start`.
pub fn start_object(start: &Iperf3Start) -> Value {
    let connected: Vec<Value> = start
        .connected
        .iter()
        .map(|stream| {
            json!({
                "socket": stream.socket,
                "local_host": stream.local.ip().to_string(),
                "local_port": stream.local.port(),
                "remote_host": stream.remote.ip().to_string(),
                "remote_port": stream.remote.port(),
            })
        })
        .collect();
    let peer = if start.is_client { "connecting_to" } else { "accepted_connection" };
    let mut value = json!({
        "connected": connected,
        "version": start.version,
        "system_info": start.system,
        "timestamp": {
            "time": format_date(start.time_s),
            "timesecs": start.time_s,
            "timemillisecs": start.time_s * 1000 + u64::from(start.time_ms),
        },
        peer: { "host": start.peer, "port": start.port },
        "cookie": start.cookie,
        "target_bitrate": start.target_bit_per_s,
        "fq_rate": start.kernel_bit_per_s,
        "sock_bufsize": start.window_bytes,
        "sndbuf_actual": start.buffers_bytes.0,
        "rcvbuf_actual": start.buffers_bytes.1,
        "test_start": {
            "protocol": if start.udp { "UDP" } else { "TCP" },
            "num_streams": start.streams,
            "blksize": start.block_bytes,
            "omit": start.omit_s,
            "duration": start.duration_s,
            "bytes": start.bytes,
            "blocks": start.blocks,
            "reverse": u8::from(start.reverse),
            "bidir": u8::from(start.bidirectional),
            "tos": start.type_of_service,
            "target_bitrate": start.target_bit_per_s,
            "fqrate": start.kernel_bit_per_s,
            "interval": start.interval_s,
            "gso": u8::from(start.segmentation),
            "gro": u8::from(start.segmentation),
        },
    });
    match (start.udp, start.requested_segment_bytes) {
        (true, _) => {}
        (false, 0) => value["tcp_mss_default"] = json!(start.segment_bytes),
        (false, requested) => value["tcp_mss"] = json!(requested),
    }
    value
}

/// Formats a time like `Sat, 21 Nov 2026 11:38:42 GMT`, with Hinnant's algorithm (days from civil).
fn format_date(time_s: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, second) = (time_s / 86400, time_s % 86400);
    let weekday = DAYS[(days % 7) as usize];
    // The algorithm's years begin in March, so that the leap day comes last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era + u64::from(month >= 10);
    let name = MONTHS[((month + 2) % 12) as usize];
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{weekday}, {day:02} {name} {year} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Builds one element of `intervals`.
pub fn interval_object(interval: &Iperf3Interval, bidirectional: bool) -> Value {
    let streams: Vec<Value> = interval.streams.iter().map(stream_interval_object).collect();
    let mut value = json!({ "streams": streams });
    let forward = interval.streams.first().is_none_or(|first| first.sends);
    if let Some(sum) = interval.sum(forward) {
        value["sum"] = stream_interval_object(&sum);
    }
    if bidirectional && let Some(sum) = interval.sum(!forward) {
        value["sum_bidir_reverse"] = stream_interval_object(&sum);
    }
    value
}

fn stream_interval_object(stretch: &StreamInterval) -> Value {
    let mut value = basic_object(stretch, stretch.sends);
    value["omitted"] = json!(stretch.omitted);
    if let Some(tcp) = stretch.tcp {
        value["retransmits"] = json!(tcp.retransmits);
        if stretch.socket.is_some() {
            value["snd_cwnd"] = json!(tcp.congestion_window_bytes);
            value["snd_wnd"] = json!(tcp.send_window_bytes);
            value["rtt"] = json!(tcp.rtt_us);
            value["rttvar"] = json!(tcp.rtt_deviation_us);
            value["pmtu"] = json!(tcp.path_mtu_bytes);
            value["reorder"] = json!(tcp.reordered);
        }
    }
    if let Some(udp) = stretch.udp {
        value["packets"] = json!(udp.packets);
        if !stretch.sends {
            put_losses(&mut value, stretch);
        }
    }
    value
}

fn basic_object(stretch: &StreamInterval, sender: bool) -> Value {
    let mut value = json!({
        "start": stretch.start_s,
        "end": stretch.end_s,
        "seconds": stretch.seconds(),
        "bytes": stretch.bytes,
        "bits_per_second": stretch.bit_per_s(),
        "sender": sender,
    });
    if let Some(socket) = stretch.socket {
        value["socket"] = json!(socket);
    }
    value
}

fn put_losses(value: &mut Value, stretch: &StreamInterval) {
    let udp = stretch.udp.unwrap_or_default();
    value["jitter_ms"] = json!(udp.jitter_s * 1e3);
    value["lost_packets"] = json!(udp.lost);
    value["packets"] = json!(udp.packets);
    value["lost_percent"] = json!(lost_percent(udp.lost, udp.packets));
}

/// Builds the object `end`.
pub fn end_object(end: &Iperf3End, udp: bool, bidirectional: bool) -> Value {
    let file = end.file.as_ref();
    let streams: Vec<Value> =
        end.streams.iter().map(|it| stream_totals_object(it, file, udp)).collect();
    let mut value = json!({
        "streams": streams,
        "cpu_utilization_percent": {
            "host_total": end.cpu_here.0,
            "host_user": end.cpu_here.1,
            "host_system": end.cpu_here.2,
            "remote_total": end.cpu_there.0,
            "remote_user": end.cpu_there.1,
            "remote_system": end.cpu_there.2,
        },
    });
    // In a bidirectional test the client's streams come first at either end. `sum_sent` is
    // therefore always the client's data.
    let forward = end.streams.first().is_none_or(|first| first.sends);
    let ways = if bidirectional {
        &[(forward, ""), (!forward, "_bidir_reverse")][..]
    } else {
        &[(forward, "")][..]
    };
    for (sends, suffix) in ways {
        let (sent, received) = (end.sum_sent(*sends), end.sum_received(*sends));
        let Some(known) = sent.or(received) else { continue };
        if udp {
            value[format!("sum{suffix}")] = datagram_object(sent, received, *sends);
        }
        // As iperf3, a server prints 0 for the other end.
        for (key, sum, is_sent) in [("sum_sent", sent, true), ("sum_received", received, false)]
        {
            let sum = sum.unwrap_or_else(|| unknown_side(&known));
            let sender = if udp { is_sent } else { *sends };
            value[format!("{key}{suffix}")] = totals_object(&sum, is_sent, sender);
        }
    }
    if let Some(concurrent) = &end.concurrent {
        // assay's own key, only with a server of several clients at once.
        value["concurrent_tests"] = json!(concurrent);
    }
    if let Some(name) = &end.congestion.0 {
        value["sender_tcp_congestion"] = json!(name);
    }
    if let Some(name) = &end.congestion.1 {
        value["receiver_tcp_congestion"] = json!(name);
    }
    value
}

fn totals_object(stretch: &StreamInterval, is_sent: bool, sender: bool) -> Value {
    let mut value = basic_object(stretch, sender);
    if let Some(tcp) = stretch.tcp.filter(|_| is_sent) {
        value["retransmits"] = json!(tcp.retransmits);
    }
    if stretch.udp.is_some() {
        put_losses(&mut value, stretch);
    }
    value
}

/// Returns zeros for an end whose totals are not known here, over the time of the known end.
fn unknown_side(known: &StreamInterval) -> StreamInterval {
    let udp = known.udp.map(|_| UdpNumbers::default());
    StreamInterval { bytes: 0, tcp: None, udp, ..*known }
}

/// Builds the figures of a datagram stream, or of their sum, as iperf3 combines them: the data and
/// time of the sender, the losses of the receiver.
fn datagram_object(
    sent: Option<StreamInterval>,
    received: Option<StreamInterval>,
    sender: bool,
) -> Value {
    let data = sent.or(received).unwrap_or_default();
    let losses = received.and_then(|received| received.udp).unwrap_or_default();
    let udp = data.udp.map(|udp| UdpNumbers { packets: udp.packets, ..losses });
    totals_object(&StreamInterval { udp, ..data }, false, sender)
}

fn stream_totals_object(stream: &StreamTotals, file: Option<&DiskFile>, udp: bool) -> Value {
    if udp {
        let mut value = datagram_object(stream.sent, stream.received, stream.sends);
        let late = stream.received.and_then(|received| received.udp?.out_of_order);
        value["socket"] = json!(stream.socket);
        value["out_of_order"] = json!(late.unwrap_or(0));
        return json!({ "udp": value });
    }
    let known = stream.sent.or(stream.received).unwrap_or_default();
    let side = |side: Option<StreamInterval>, is_sent: bool| {
        let side = side.unwrap_or_else(|| unknown_side(&known));
        let mut value = totals_object(&side, is_sent, stream.sends);
        value["socket"] = json!(stream.socket);
        value
    };
    let mut sender = side(stream.sent, true);
    if let Some(tcp) = stream.sent.and_then(|sent| sent.tcp) {
        // As iperf3, 0 for values that the other end does not report.
        let (minimum, mean, maximum) = stream.rtt_us.unwrap_or_default();
        sender["reorder"] = json!(tcp.reordered);
        sender["min_rtt"] = json!(minimum);
        sender["mean_rtt"] = json!(mean);
        sender["max_rtt"] = json!(maximum);
        sender["max_snd_cwnd"] = json!(stream.windows_bytes.0);
        sender["max_snd_wnd"] = json!(stream.windows_bytes.1);
    }
    let mut value = json!({ "sender": sender, "receiver": side(stream.received, false) });
    if let Some(file) = file {
        let bytes = |side: Option<StreamInterval>| side.map_or(0, |side| side.bytes);
        let (sent, received) = (bytes(stream.sent), bytes(stream.received));
        value["diskfile"] = json!({
            "sent": sent,
            "received": received,
            "size": file.bytes,
            "percent_sent": file_percent(sent, file.bytes),
            "percent_received": file_percent(received, file.bytes),
            "filename": file.name,
        });
    }
    value
}
