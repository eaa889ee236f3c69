//! Outcome of `assay ping`, and ping's lines of it.

use std::fmt::Write as _;
use std::net::IpAddr;

use assay_run::round_trips::RoundTripTimes;
use assay_run::stored_outcome::ToolOutcome;
use serde::{Deserialize, Serialize};

/// Everything that ping prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PingOutcome {
    pub style: PingStyle,
    pub start: PingStart,
    pub events: Vec<PingEvent>,
    /// Number of requests.
    pub sent: u64,
    pub elapsed_ms: u64,
}

/// Figures of the first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PingStart {
    /// Host as the user named it.
    pub host: String,
    pub address: IpAddr,
    /// Bytes of data of a request.
    pub bytes: u32,
    /// Bytes of its packet.
    pub packet_bytes: u64,
}

/// Requested form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PingStyle {
    /// A line for each reply, then the statistics.
    Text,
    /// The first line and the statistics.
    Quiet,
    /// The JSON document of the run.
    Json,
}

/// Outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PingEvent {
    Reply {
        sequence: u16,
        bytes: u64,
        time_to_live: Option<u8>,
        round_trip_ns: u64,
    },
    /// It may not be fragmented and exceeds the path MTU, which the kernel may not know.
    TooLong {
        mtu_bytes: Option<u32>,
    },
}

impl ToolOutcome for PingOutcome {
    const TOOL: &'static str = "ping";
    const VERSION: u32 = 1;
}

impl PingOutcome {
    /// Formats all lines.
    pub(super) fn format(&self) -> String {
        let mut text = self.start.format();
        if self.style == PingStyle::Text {
            text.extend(self.events.iter().map(|event| event.format(&self.start.host)));
        }
        text + &self.format_statistics()
    }

    /// Formats the lines after the last reply.
    pub(super) fn format_statistics(&self) -> String {
        let times_ns = self.round_trips_ns();
        let lost =
            self.sent.saturating_sub(times_ns.len() as u64) as f64 / self.sent.max(1) as f64;
        let mut text = format!(
            "\n--- {} ping statistics ---\n{} packets transmitted, {} received, {}% packet loss, time {}ms\n",
            self.start.host,
            self.sent,
            times_ns.len(),
            lost * 100.0,
            self.elapsed_ms
        );
        if !times_ns.is_empty() {
            text.push_str(&format_round_trips(&times_ns));
        }
        text
    }

    /// Returns the times of all replies.
    pub(super) fn round_trips_ns(&self) -> Vec<u64> {
        let times = self.events.iter().filter_map(|event| match event {
            PingEvent::Reply { round_trip_ns, .. } => Some(*round_trip_ns),
            PingEvent::TooLong { .. } => None,
        });
        times.collect()
    }
}

impl PingStart {
    /// Formats `PING localhost (127.0.0.1) 56(84) bytes of data.`
    pub(super) fn format(&self) -> String {
        let Self { host, address, bytes, packet_bytes } = self;
        format!("PING {host} ({address}) {bytes}({packet_bytes}) bytes of data.\n")
    }
}

impl PingEvent {
    /// Formats a reply, such as `64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.042 ms`, or ping's
    /// message about the path MTU, which scripts search for; empty if that MTU is unknown.
    pub(super) fn format(&self, host: &str) -> String {
        match *self {
            Self::Reply { sequence, bytes, time_to_live, round_trip_ns } => {
                let time_to_live =
                    time_to_live.map_or(String::new(), |hops| format!(" ttl={hops}"));
                let millis = format_millis(round_trip_ns as f64 / 1e6);
                format!(
                    "{bytes} bytes from {host}: icmp_seq={sequence}{time_to_live} time={millis} ms\n"
                )
            }
            Self::TooLong { mtu_bytes } => mtu_bytes.map_or(String::new(), |mtu| {
                format!("ping: local error: message too long, mtu={mtu}\n")
            }),
        }
    }
}

/// Formats milliseconds as ping does: 0.042, 1.23, 12.3 and 123.
fn format_millis(millis: f64) -> String {
    let digits = match millis {
        millis if millis < 1.0 => 3,
        millis if millis < 10.0 => 2,
        millis if millis < 100.0 => 1,
        _ => 0,
    };
    format!("{millis:.digits$}")
}

/// Formats ping's line of round trips, and one with their percentiles.
fn format_round_trips(times_ns: &[u64]) -> String {
    let times = RoundTripTimes::new(times_ns);
    let millis = |ns: f64| format!("{:.3}", ns / 1e6);
    let mean_ns = times.mean_ns();
    // ping's mdev is the population's standard deviation, √(Σ(x − mean)²/n).
    let squares: f64 = times_ns.iter().map(|ns| (*ns as f64 - mean_ns).powi(2)).sum();
    let deviation_ns = (squares / times_ns.len() as f64).sqrt();
    let percentiles: Vec<String> = times
        .percentiles_ns()
        .into_iter()
        .map(|(name, ns)| format!("{name} {}", millis(ns as f64)))
        .collect();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "rtt min/avg/max/mdev = {}/{}/{}/{} ms",
        millis(times.minimum_ns() as f64),
        millis(mean_ns),
        millis(times.maximum_ns() as f64),
        millis(deviation_ns)
    );
    let _ = writeln!(text, "rtt {} ms, full round trip", percentiles.join(", "));
    text
}
