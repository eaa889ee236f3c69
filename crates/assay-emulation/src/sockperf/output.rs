//! Lines of sockperf 3.7's output. Colours are left out.

use std::fmt::Write as _;
use std::net::SocketAddr;

use assay_run::network::sockperf_client::{SockperfEnd, SockperfMode};
use assay_run::network::sockperf_statistics::{
    PERCENTILES, SockperfFigures, SockperfReplies, WARM_UP_NS,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{SockperfResult, VERSION};

/// Payload of a datagram that fits in a packet of 1500 bytes.
const PACKET_PAYLOAD_BYTES: u32 = 1472;
/// Rates that sockperf assumes for `max`: each message of a ping-pong's burst, and any test.
const MAX_PING_RATE: u32 = 600_000;
const MAX_RATE: u32 = 10_000_000;

/// Options that appear in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SockperfStyle {
    pub(super) mode: SockperfMode,
    pub(super) is_tcp: bool,
    pub(super) full_rtt: bool,
    pub(super) giga_size: bool,
    pub(super) is_precise: bool,
    pub(super) warms_up: bool,
    pub(super) message_bytes: u32,
    pub(super) size_range: u32,
    pub(super) messages_per_s: Option<u32>,
    pub(super) burst: u32,
    pub(super) reply_every: u32,
    pub(super) seconds: u32,
    pub(super) json: bool,
}

/// Formats the line with the version.
pub(super) fn format_version() -> String {
    format!("sockperf: == version #{VERSION} == \n")
}

/// Formats the line with an address.
pub(super) fn format_address(address: SocketAddr, is_tcp: bool) -> String {
    let protocol = if is_tcp { "TCP" } else { "UDP" };
    let (ip, port) = (address.ip().to_string(), address.port());
    format!("[ 0] IP = {ip:<15} PORT = {port:5} # {protocol}\n")
}

/// Line before the first messages.
pub(super) const WARM_UP: &str = "sockperf: Warmup stage (sending a few dummy messages)...\n";

impl SockperfStyle {
    /// Formats the lines before a test.
    pub(super) fn format_start(&self, address: SocketAddr) -> String {
        let waiting = match self.mode {
            SockperfMode::Throughput => "\n",
            SockperfMode::PingPong | SockperfMode::UnderLoad => {
                "sockperf: using recvfrom() to block on socket(s)\n\n"
            }
        };
        let warm_up = if self.warms_up { WARM_UP } else { "" };
        format!(
            "{}sockperf[CLIENT] send on:{waiting}{}{warm_up}sockperf: Starting test...\n",
            format_version(),
            format_address(address, self.is_tcp)
        )
    }

    /// Formats the lines after a test.
    pub(super) fn format_end(&self, result: &SockperfResult) -> String {
        let by = match result.end {
            SockperfEnd::Timer => "timer",
            SockperfEnd::User => "user",
            SockperfEnd::Memory => "memory for times",
        };
        let mut text =
            format!("sockperf: Test end (interrupted by {by})\nsockperf: Test ended\n");
        match self.mode {
            _ if result.sent == 0 => text += "sockperf: No messages were sent\n",
            SockperfMode::Throughput => text += &self.format_throughput(result),
            SockperfMode::PingPong | SockperfMode::UnderLoad => {
                text += &self.format_latency(result, true);
            }
        }
        if result.is_rate_missed {
            text += "sockperf: Info: The requested message-per-second rate is too high. Try tuning \
                     --mps or --burst arguments\n";
        }
        text
    }

    /// Formats the statistics of replies; the log lacks the summary.
    fn format_latency(&self, result: &SockperfResult, with_summary: bool) -> String {
        if result.received == 0 {
            return "sockperf: No messages were received from the server. Is the server down?\n"
                .to_owned();
        }
        let total = format!(
            "sockperf: [Total Run] RunTime={:.3} sec; Warm up time={} msec; SentMessages={}; \
             ReceivedMessages={}\nsockperf: ========= Printing statistics for Server No: 0\n",
            result.run_s,
            WARM_UP_NS / 1_000_000,
            result.sent,
            result.received
        );
        let valid = match &result.figures {
            None => "sockperf: No valid observations found. Try tune parameters: \
                     --time/--mps/--reply-every\n"
                .to_owned(),
            Some(figures) => self.format_figures(figures, with_summary),
        };
        total + &valid
    }

    fn format_figures(&self, figures: &SockperfFigures, with_summary: bool) -> String {
        let mean = self.microseconds(figures.mean_ns);
        let name = if self.full_rtt { "rtt" } else { "latency" };
        let counts = format!(
            "sockperf: [Valid Duration] RunTime={:.3} sec; SentMessages={}; ReceivedMessages={}\n\
             sockperf: ====> avg-{name}={mean:.3} (std-dev={:.3})\n\
             sockperf: # dropped messages = {}; # duplicated messages = {}; # out-of-order \
             messages = {}\n",
            figures.run_s,
            figures.sent,
            figures.replies,
            self.microseconds(figures.deviation_ns),
            figures.dropped,
            figures.duplicated,
            figures.out_of_order
        );
        let title = if self.full_rtt { "Round trip" } else { "Latency" };
        let burst = match self.burst {
            1 => String::new(),
            burst => format!(" of burst of {burst} messages"),
        };
        let summary = match with_summary {
            true => format!("sockperf: Summary: {title}{burst} is {mean:.3} usec\n"),
            false => String::new(),
        };
        counts + &summary + &self.format_percentiles(figures)
    }

    fn format_percentiles(&self, figures: &SockperfFigures) -> String {
        let count = figures.replies;
        let time = |ns: u64| format!("{:8.3}", self.microseconds(ns as f64));
        let head = format!(
            "sockperf: Total {count} observations; each percentile contains {:.2} observations\n\
             sockperf: ---> <MAX> observation = {}\n",
            count as f64 / 100.0,
            time(figures.max_ns)
        );
        let row = |(share, ns): (&f64, Option<u64>)| {
            let (share, ns) = (share * 100.0, ns?);
            Some(format!("sockperf: ---> percentile {share:6.3} = {}\n", time(ns)))
        };
        let rows: String =
            PERCENTILES.iter().zip(figures.percentiles_ns).filter_map(row).collect();
        format!("{head}{rows}sockperf: ---> <MIN> observation = {}\n", time(figures.min_ns))
    }

    /// Converts a round trip to the reported time in microseconds.
    fn microseconds(&self, round_trip_ns: f64) -> f64 {
        round_trip_ns / if self.full_rtt { 1000.0 } else { 2000.0 }
    }

    fn format_throughput(&self, result: &SockperfResult) -> String {
        let (bytes, range) = (self.message_bytes, self.size_range);
        let size = match range {
            0 => format!("msg-size={bytes}"),
            _ => format!("average msg-size={bytes} (+/-{range})"),
        };
        let total = format!(
            "sockperf: Total of {} messages sent in {:.3} sec\n\n",
            result.sent, result.run_s
        );
        let note = match self.messages_per_s {
            // sockperf lacks the last parenthesis, too, if sizes are random.
            Some(rate) => {
                let end = if range == 0 { ")" } else { "" };
                format!(
                    "sockperf: NOTE: test was performed, using {size}, mps={rate}. For getting \
                     maximum throughput use --mps=max (and consider --msg-size=1472 or \
                     --msg-size=4096{end}\n"
                )
            }
            None if bytes != PACKET_PAYLOAD_BYTES => format!(
                "sockperf: NOTE: test was performed, using {size}. For getting maximum throughput \
                 consider using --msg-size=1472\n"
            ),
            None => String::new(),
        };
        let rate = result.messages_per_s();
        let packets = bytes.div_ceil(PACKET_PAYLOAD_BYTES);
        let per_packet = match packets {
            1 => String::new(),
            _ => format!(
                ", Packet Rate is about {} [pkt/sec] ({packets} ip frags / msg)",
                rate * u64::from(packets)
            ),
        };
        let summary =
            format!("sockperf: Summary: Message Rate is {rate} [msg/sec]{per_packet}\n");
        total + &note + &summary + &self.format_bandwidth(rate)
    }

    fn format_bandwidth(&self, messages_per_s: u64) -> String {
        let mega = messages_per_s as f64 * f64::from(self.message_bytes) / 1024.0 / 1024.0;
        let mega_bits = mega * 8.0;
        let figures = match (self.giga_size, self.is_precise) {
            (true, _) => format!("{:.3} GBps ({:.3} Gbps)", mega / 1000.0, mega_bits / 1000.0),
            // sockperf names gigabytes here, and prints megabytes.
            (false, true) => format!("{mega:.9} GBps ({mega_bits:.9} Gbps)"),
            (false, false) => format!("{mega:.3} MBps ({mega_bits:.3} Mbps)"),
        };
        format!("sockperf: Summary: BandWidth is {figures}\n")
    }

    /// Formats the log of all messages that count.
    pub(super) fn format_full_log(
        &self,
        result: &SockperfResult,
        observed: Option<&SockperfReplies>,
    ) -> String {
        const LINE: &str = "------------------------------\n";
        let most = match self.mode {
            SockperfMode::PingPong => MAX_PING_RATE.saturating_mul(self.burst).min(MAX_RATE),
            SockperfMode::UnderLoad | SockperfMode::Throughput => MAX_RATE,
        };
        let mut text = format!(
            "{LINE}test was performed using the following parameters: --mps={} --burst={} \
             --reply-every={} --msg-size={} --time={}{}\n{LINE}{}",
            self.messages_per_s.unwrap_or(most),
            self.burst,
            self.reply_every,
            self.message_bytes,
            self.seconds,
            if self.full_rtt { " --full-rtt" } else { "" },
            self.format_latency(result, false)
        );
        let Some(observed) = observed else { return text };
        let name = if self.full_rtt { "rtt" } else { "latency" };
        text.push_str(&[LINE, "packet, txTime(sec), rxTime(sec), ", name, "(usec)\n"].concat());
        let all = observed.sends_ns.iter().zip(&observed.round_trips_ns);
        for (number, (sent_ns, round_trip_ns)) in all.enumerate() {
            // A write to a string cannot fail.
            let _ = writeln!(
                text,
                "{number}, {:.9}, {:.9}, {:.3}",
                *sent_ns as f64 * 1e-9,
                (sent_ns + round_trip_ns) as f64 * 1e-9,
                self.microseconds(*round_trip_ns as f64)
            );
        }
        text + LINE
    }

    /// Formats the result as JSON.
    pub(super) fn format_json(&self, result: &SockperfResult) -> String {
        let figures = result.figures.as_ref();
        let mut value = json!({
            "schema": 1,
            "mode": self.mode,
            "protocol": if self.is_tcp { "tcp" } else { "udp" },
            "msg_size_bytes": self.message_bytes,
            "run_s": result.run_s,
            "sent_messages": result.sent,
        });
        if self.mode == SockperfMode::Throughput {
            value["messages_per_s"] = json!(result.messages_per_s());
            value["send_bytes_per_s"] =
                json!(result.sent_bytes as f64 / result.run_s.max(1e-9));
        } else {
            value["received_messages"] = json!(result.received);
            value["round_trip_s"] = match &result.round_trips {
                Some(it) => it.to_json(),
                None => Value::Null,
            };
            value["latency_s"] = json!(figures.map(|it| it.mean_ns * 1e-9 / 2.0));
            value["latency_is"] = json!("half round trip, mean");
            value["dropped"] = json!(figures.map(|it| it.dropped));
            value["duplicated"] = json!(figures.map(|it| it.duplicated));
            value["out_of_order"] = json!(figures.map(|it| it.out_of_order));
        }
        format!("{value:#}\n")
    }
}

#[cfg(test)]
mod tests;
