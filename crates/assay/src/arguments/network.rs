//! Options of `assay net`.

use assay_fleet::root::Root;
use assay_kernels::network::socket;
use assay_model::quantity::{Bytes, Quantity, Unit};
use assay_model::suite::{UNLIMITED, parse_busy_poll_us};
use assay_model::workload::TransferDirection;
use clap::{Args, Subcommand};

use super::MeasuringArguments;
use super::values::Bandwidth;

#[derive(Debug, Args)]
pub(crate) struct NetArguments {
    #[command(subcommand)]
    pub(crate) what: NetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NetCommand {
    /// Goodput; the far end runs `assay iperf3 -s` or `iperf3 -s`
    Throughput(ThroughputArguments),
    /// Round-trip latency of messages; the far end runs `assay iperf3 -s` or `qperf`
    Latency(LatencyArguments),
    /// Round-trip latency at a fixed rate (open loop), counted from when each message was due
    RequestResponse(RequestResponseArguments),
    /// Connections per second with one request and one response each; the far end runs
    /// `assay iperf3 -s`
    Connections(ConnectionsArguments),
}

/// Far end and measured time.
#[derive(Debug, Args)]
pub(crate) struct FarEndArguments {
    /// Far end [default: this machine over loopback]
    #[arg(value_name = "HOST", value_parser = super::values::parse_host)]
    pub(crate) host: Option<String>,
    /// Port of the far end [default: 5201 for throughput, otherwise 19765 then 5201]
    #[arg(short, long, requires = "host", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Measured time, like 10s
    #[arg(long = "for", value_name = "TIME", value_parser = parse_whole_seconds, default_value = "10s", conflicts_with = "budget")]
    pub(crate) length: f64,
}

/// Protocol of the messages or streams.
#[derive(Debug, Args)]
pub(crate) struct ProtocolArguments {
    /// UDP instead of TCP
    #[arg(short, long)]
    pub(crate) udp: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThroughputArguments {
    #[command(flatten)]
    pub(crate) place: FarEndArguments,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArguments,
    /// Number of parallel streams per direction; several like 1,4,16
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1")]
    pub(crate) streams: Vec<u32>,
    /// Direction: send, receive or both
    #[arg(long, value_name = "WAY", value_delimiter = ',', value_parser = parse_direction, default_value = "send")]
    pub(crate) direction: Vec<TransferDirection>,
    /// Bandwidth of each stream, like 100Mbit/s, or unlimited [default: unlimited; UDP without
    /// --segmentation 100Mbit/s]
    #[arg(long, value_name = "BANDWIDTH", value_parser = parse_stream_rate)]
    pub(crate) rate: Option<StreamRate>,
    /// TCP congestion control algorithm [default: the system's]
    #[arg(long, value_name = "NAME", conflicts_with = "udp", value_parser = parse_congestion)]
    pub(crate) congestion: Option<String>,
    /// Zero-copy send, and receive without copying
    #[arg(long)]
    pub(crate) no_copy: bool,
    /// UDP: many datagrams per system call, cut and joined by the kernel (UDP_SEGMENT, UDP_GRO)
    #[arg(long, requires = "udp")]
    pub(crate) segmentation: bool,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArguments,
}

/// Rate of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StreamRate {
    Unlimited,
    Limited(Bandwidth),
}

fn parse_stream_rate(text: &str) -> Result<StreamRate, String> {
    match text.trim() {
        UNLIMITED => Ok(StreamRate::Unlimited),
        limited => Bandwidth::parse(limited)
            .map(StreamRate::Limited)
            .map_err(|reason| format!("{reason}, or `{UNLIMITED}`")),
    }
}

#[derive(Debug, Args)]
pub(crate) struct LatencyArguments {
    #[command(flatten)]
    pub(crate) place: FarEndArguments,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArguments,
    /// Size of one message, like 64B or 8k; several like 64B,8k
    #[arg(long, value_name = "SIZE", value_delimiter = ',', default_value = "1B")]
    pub(crate) message_size: Vec<Bytes>,
    /// Spin on non-blocking receives instead of sleeping until the reply arrives
    #[arg(long)]
    pub(crate) spin: bool,
    /// Busy-poll the device queue for this long, like 50us (SO_BUSY_POLL)
    #[arg(long, value_name = "TIME", value_parser = parse_busy_poll_us)]
    pub(crate) busy_poll: Option<u32>,
    /// Number of TCP streams that load the link during the measurement
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) load_streams: u32,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RequestResponseArguments {
    #[command(flatten)]
    pub(crate) place: FarEndArguments,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArguments,
    /// Messages per second
    #[arg(long, value_name = "N", default_value = "1000", value_parser = parse_message_rate)]
    pub(crate) rate: f64,
    /// Size of one message, like 64B or 8k; several like 64B,8k
    #[arg(long, value_name = "SIZE", value_delimiter = ',', default_value = "1B")]
    pub(crate) message_size: Vec<Bytes>,
    /// Number of TCP streams that load the link during the measurement
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) load_streams: u32,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ConnectionsArguments {
    #[command(flatten)]
    pub(crate) place: FarEndArguments,
    /// Number of parallel streams, each of one connection after the other; several like 1,4
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1")]
    pub(crate) streams: Vec<u32>,
    /// Size of the request and of the response, like 64B or 8k; several like 64B,8k
    #[arg(long, value_name = "SIZE", value_delimiter = ',', default_value = "1B")]
    pub(crate) message_size: Vec<Bytes>,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArguments,
}

fn parse_direction(text: &str) -> Result<TransferDirection, String> {
    let directions = TransferDirection::ALL;
    let direction = directions.into_iter().find(|(name, _)| *name == text);
    direction
        .map(|(_, direction)| direction)
        .ok_or_else(|| format!("expected send, receive or both, found `{text}`"))
}

/// Parses a duration of at least a second: both protocols use whole seconds.
fn parse_whole_seconds(text: &str) -> Result<f64, String> {
    match super::parse_seconds(text)? {
        length if length < 1.0 => Err("expected at least 1s: tests take whole seconds".into()),
        length => Ok(length),
    }
}

/// Checks an algorithm by setting it on a socket, because the kernel may load its module on demand.
fn parse_congestion(text: &str) -> Result<String, String> {
    let names = || Root::machine().text("proc/sys/net/ipv4/tcp_available_congestion_control");
    match socket::supports_congestion(text) {
        true => Ok(text.to_owned()),
        false => Err(match names() {
            Some(names) => {
                format!("the kernel does not support this algorithm; supported are {names}")
            }
            None => "the kernel does not support this algorithm".to_owned(),
        }),
    }
}

fn parse_message_rate(text: &str) -> Result<f64, String> {
    let bare = text.trim().strip_suffix("/s").unwrap_or(text);
    let rate = Quantity::parse(bare, Unit::Count).map_err(|error| error.to_string())?.value;
    if (0.1..=1e6).contains(&rate) {
        Ok(rate)
    } else {
        Err("expected a rate of 0.1 to 1000000 per second".into())
    }
}
