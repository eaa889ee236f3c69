//! iperf3's JSON output (`-J`, `--json-stream`), key by key as version 3.12 writes it.

use serde_json::{Map, Value, json};

use super::text::lost_percent;
use super::{Iperf3End, Iperf3Interval, Iperf3Start, StreamInterval, StreamTotals};

/// Builds the whole document (`-J`). A failed test keeps its measurements and adds `error`.
#[must_use]
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
    Value::Object(map)
}

/// Formats one line of `--json-stream`.
#[must_use]
pub fn event_line(name: &str, data: &Value) -> String {
    json!({ "event": name, "data": data }).to_string()
}

/// Builds the object `start`.
#[must_use]
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
        "timestamp": { "time": format_date(start.time_s), "timesecs": start.time_s },
        peer: { "host": start.peer, "port": start.port },
        "cookie": start.cookie,
        "target_bitrate": start.target_bit_per_s,
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
        },
    });
    if start.segmentation {
        // Members of iperf3 3.21.
        value["test_start"]["gso"] = json!(1);
        value["test_start"]["gro"] = json!(1);
    }
    if !start.udp {
        value["tcp_mss_default"] = json!(start.segment_bytes);
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
#[must_use]
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
            if let Some(rate) = tcp.delivery_bit_per_s {
                // assay's own key: iperf3 does not report it, and readers of its JSON ignore it.
                value["delivery_bits_per_second"] = json!(rate);
            }
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
#[must_use]
pub fn end_object(end: &Iperf3End, udp: bool, bidirectional: bool) -> Value {
    let mut value = json!({
        "streams": end.streams.iter().map(|it| stream_totals_object(it, udp)).collect::<Vec<_>>(),
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
    let mut put = |key: &str, sum: Option<StreamInterval>, is_sent: bool, sender: bool| {
        if let Some(sum) = sum {
            value[key] = totals_object(&sum, is_sent, sender);
        }
    };
    if udp {
        put("sum", end.sum_received(forward).or_else(|| end.sum_sent(forward)), false, forward);
    }
    put("sum_sent", end.sum_sent(forward), true, forward || udp);
    put("sum_received", end.sum_received(forward), false, forward && !udp);
    if bidirectional {
        put("sum_sent_bidir_reverse", end.sum_sent(!forward), true, !forward);
        put("sum_received_bidir_reverse", end.sum_received(!forward), false, !forward);
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

fn stream_totals_object(stream: &StreamTotals, udp: bool) -> Value {
    if udp {
        let seen = stream.received.or(stream.sent).unwrap_or_default();
        let mut value = totals_object(&seen, false, stream.sends);
        value["socket"] = json!(stream.socket);
        value["out_of_order"] = json!(seen.udp.and_then(|udp| udp.out_of_order).unwrap_or(0));
        return json!({ "udp": value });
    }
    let side = |side: Option<StreamInterval>, is_sent: bool| {
        let known = side.unwrap_or_default();
        let mut value = totals_object(&known, is_sent, stream.sends);
        value["socket"] = json!(stream.socket);
        value
    };
    let mut sender = side(stream.sent, true);
    if let Some((minimum, mean, maximum)) = stream.rtt_us {
        sender["min_rtt"] = json!(minimum);
        sender["mean_rtt"] = json!(mean);
        sender["max_rtt"] = json!(maximum);
        sender["max_snd_cwnd"] = json!(stream.windows_bytes.0);
        sender["max_snd_wnd"] = json!(stream.windows_bytes.1);
    }
    json!({ "sender": sender, "receiver": side(stream.received, false) })
}
