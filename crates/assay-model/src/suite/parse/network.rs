//! Parser of the network measures of a suite.

use super::super::{MeasureRequest, NetworkProtocol, NetworkRequest};
use super::storage::flag;
use super::{
    ParseResult, Table, Value, count, error_at, list_of, number, positive, size, suggest,
    text_value,
};
use crate::quantity::{Bytes, Quantity, Unit};
use crate::workload::{
    NetworkConnections, NetworkLatency, NetworkTest, NetworkThroughput, NetworkWorkload,
    TransferDirection,
};

/// Default length of a repetition in seconds, if the time suffices.
const DEFAULT_SECONDS: u32 = 2;
/// Default rate of a UDP stream in bit/s, which any current link can carry.
const UDP_RATE_BIT_PER_S: u64 = 100_000_000;
/// Word for a rate without a limit.
pub const UNLIMITED: &str = "unlimited";
/// Default payload of `ping`.
const ECHO_BYTES: u64 = 56;

/// Parses the tests of one measure: throughput for every number of streams and direction, or
/// latency for every size.
pub(super) fn request(
    protocol: NetworkProtocol,
    table: &Table<'_>,
) -> ParseResult<MeasureRequest> {
    let measures = table.optional("measures", text_value)?;
    let questions = match measures.as_deref() {
        _ if protocol == NetworkProtocol::Icmp => latencies(table, ECHO_BYTES)?,
        None | Some("throughput") => throughputs(protocol, table)?,
        Some("latency") => latencies(table, 1)?,
        Some("connections") => connections(protocol, table)?,
        Some(other) => {
            let help = suggest(other, &["throughput", "latency", "connections"]);
            let place = table.require("measures")?;
            return Err(error_at(place, format!("unknown choice `{other}`"), Some(help)));
        }
    };
    let to = table.optional("to", text_value)?;
    let port = table.optional("port", port)?;
    let workload = |test| NetworkWorkload { to: to.clone(), port, test };
    let questions = questions.into_iter().map(workload).collect();
    let is_length_told = table.optional("seconds", count)?.is_some();
    Ok(MeasureRequest::Network(NetworkRequest {
        protocol,
        tests: questions,
        has_explicit_length: is_length_told,
    }))
}

/// Parses the time of `busy-poll`, like `50us`, to whole microseconds.
///
/// # Errors
/// A message if it is not a time from 1 µs to 1 s.
pub fn parse_busy_poll_us(text: &str) -> Result<u32, String> {
    let seconds = Quantity::parse(text, Unit::Second).map_err(|error| error.to_string())?.value;
    let us = (seconds * 1e6).round();
    if (1.0..=1e6).contains(&us) {
        Ok(us as u32)
    } else {
        Err(format!("`{text}` must be between 1us and 1s"))
    }
}

fn throughputs(protocol: NetworkProtocol, table: &Table<'_>) -> ParseResult<Vec<NetworkTest>> {
    let streams = table.optional("streams", list_of(count))?.unwrap_or_else(|| vec![1]);
    let directions = table.optional("direction", list_of(direction))?;
    let segmentation = segmentation(protocol, table)?;
    let udp_rate =
        (protocol == NetworkProtocol::Udp && !segmentation).then_some(UDP_RATE_BIT_PER_S);
    let rate_bit_per_s = table.optional("rate", rate)?.unwrap_or(udp_rate);
    let congestion = table.optional("congestion", text_value)?;
    let seconds = table.optional("seconds", count)?.unwrap_or(DEFAULT_SECONDS);
    let copy = table.optional("copy", flag)?.unwrap_or(true);
    let mut questions = Vec::new();
    for direction in directions.unwrap_or_else(|| vec![TransferDirection::Send]) {
        for streams in &streams {
            let congestion = congestion.clone();
            let streams = *streams;
            let it = NetworkThroughput {
                streams,
                direction,
                seconds,
                copy,
                segmentation,
                rate_bit_per_s,
                congestion,
            };
            questions.push(NetworkTest::Throughput(it));
        }
    }
    Ok(questions)
}

/// Parses `segmentation`, which only datagrams have.
fn segmentation(protocol: NetworkProtocol, table: &Table<'_>) -> ParseResult<bool> {
    let is_on = table.optional("segmentation", flag)?.unwrap_or(false);
    if is_on && protocol != NetworkProtocol::Udp {
        let place = table.require("segmentation")?;
        let help = "TCP's segments are always cut by the kernel or the device".to_owned();
        return Err(error_at(place, "only network.udp has segmentation", Some(help)));
    }
    Ok(is_on)
}

fn latencies(table: &Table<'_>, default_bytes: u64) -> ParseResult<Vec<NetworkTest>> {
    let sizes = table.optional("message-size", list_of(size))?;
    let seconds = table.optional("seconds", count)?.unwrap_or(1);
    let spin = table.optional("spin", flag)?.unwrap_or(false);
    let rate_per_s = table.optional("messages-per-second", positive)?;
    let load_streams = table.optional("load-streams", count)?.unwrap_or(0);
    let busy_poll_us = table.optional("busy-poll", busy_poll)?;
    let test = |bytes: Bytes| {
        let bytes = bytes.0;
        NetworkTest::Latency(NetworkLatency {
            bytes,
            seconds,
            spin,
            rate_per_s,
            load_streams,
            busy_poll_us,
        })
    };
    Ok(sizes.unwrap_or_else(|| vec![Bytes(default_bytes)]).into_iter().map(test).collect())
}

/// Parses tests of connections, which only TCP has.
fn connections(protocol: NetworkProtocol, table: &Table<'_>) -> ParseResult<Vec<NetworkTest>> {
    if protocol != NetworkProtocol::Tcp {
        let place = table.require("measures")?;
        let help = "UDP has no connections; use `benchmark = \"network.tcp\"`".to_owned();
        return Err(error_at(place, "only network.tcp has connections", Some(help)));
    }
    let streams = table.optional("streams", list_of(count))?.unwrap_or_else(|| vec![1]);
    let sizes =
        table.optional("message-size", list_of(size))?.unwrap_or_else(|| vec![Bytes(1)]);
    let seconds = table.optional("seconds", count)?.unwrap_or(1);
    let test = |(streams, bytes): (u32, u64)| {
        NetworkTest::Connections(NetworkConnections { streams, bytes, seconds })
    };
    let pairs = streams.iter().flat_map(|streams| sizes.iter().map(|size| (*streams, size.0)));
    Ok(pairs.map(test).collect())
}

fn direction(value: &Value<'_>) -> ParseResult<TransferDirection> {
    let name = text_value(value)?;
    let known = TransferDirection::ALL.map(|(name, _)| name);
    TransferDirection::ALL
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, it)| *it)
        .ok_or_else(|| {
            error_at(value, format!("unknown direction `{name}`"), Some(suggest(&name, &known)))
        })
}

fn port(value: &Value<'_>) -> ParseResult<u16> {
    let port = count(value)?;
    u16::try_from(port).map_err(|_| error_at(value, "a port is at most 65535", None))
}

/// Parses a rate in bit/s; `None` = unlimited.
fn rate(value: &Value<'_>) -> ParseResult<Option<u64>> {
    if number(value).is_some() {
        return Err(error_at(
            value,
            "a rate needs its unit",
            Some("like `\"100Mbit/s\"`".into()),
        ));
    }
    let text = text_value(value)?;
    if text == UNLIMITED {
        return Ok(None);
    }
    let read = Quantity::parse(&text, Unit::BitPerSecond);
    let rate = read.map_err(|error| error_at(value, error.to_string(), None))?.value;
    if rate >= 1.0 {
        Ok(Some(rate as u64))
    } else {
        Err(error_at(value, "must be at least 1 bit/s", None))
    }
}

fn busy_poll(value: &Value<'_>) -> ParseResult<u32> {
    parse_busy_poll_us(&text_value(value)?).map_err(|reason| error_at(value, reason, None))
}
