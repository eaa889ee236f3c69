//! Options of `assay sockperf`: those of sockperf 3.7.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use assay_console::options::{self, RecordArguments};
use assay_dialects::wire::sockperf::{
    DEFAULT_PORT, MAX_DATAGRAM_BYTES, MAX_STREAM_BYTES, SockperfHeader,
};
use assay_kernels::network::socket::SocketOptions;
use assay_run::failure::CommandFailure;
use assay_run::network::sockperf_client::{SockperfMode, SockperfTest};
use assay_run::network::target::NetworkTarget;
use clap::Args;

/// Rate of `under-load` without `--mps`.
const DEFAULT_RATE: u32 = 10_000;
/// Distance of requested replies of `under-load` without `--reply-every`.
const DEFAULT_REPLY_EVERY: u32 = 100;
/// Longest test that sockperf permits, in seconds.
const MAX_SECONDS: i64 = 36_000_000;

#[derive(Debug, Args)]
pub struct SockperfArguments {
    /// ping-pong (pp), under-load (ul), throughput (tp) or server (sr)
    #[arg(value_name = "MODE", value_parser = parse_role)]
    pub(crate) role: Option<SockperfRole>,
    /// Client: host of the server; server: address to listen on [default: loopback]
    #[arg(short = 'i', long = "ip", value_name = "HOST", value_parser = parse_sockperf_host)]
    pub(crate) ip: Option<String>,
    /// Port of the server
    #[arg(short, long, default_value_t = DEFAULT_PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// TCP instead of UDP
    #[arg(long)]
    pub(crate) tcp: bool,
    /// Bytes of a message [default: 14]; server: longest message [default: 65507]
    #[arg(short, long = "msg-size", value_name = "BYTES")]
    pub(crate) msg_size: Option<u32>,
    /// Send messages of random sizes, at most this much below -m
    #[arg(short, long, value_name = "BYTES")]
    pub(crate) range: Option<u32>,
    /// Time in seconds [default: 1]
    #[arg(short, long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=MAX_SECONDS))]
    pub(crate) time: Option<u32>,
    /// Messages per second, or max [default: 10000 for under-load, max for the others]
    #[arg(long, visible_alias = "pps", value_name = "N|max", value_parser = parse_message_rate)]
    pub(crate) mps: Option<SockperfRate>,
    /// Messages that are sent together [default: 1]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) burst: Option<u32>,
    /// under-load: number of messages of which one is answered [default: 100]
    #[arg(long = "reply-every", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    pub(crate) reply_every: Option<u32>,
    /// Report round trips instead of latencies, which are their halves
    #[arg(long = "full-rtt")]
    pub(crate) full_rtt: bool,
    /// Write the times of all messages that count to a file, as CSV
    #[arg(long = "full-log", value_name = "FILE")]
    pub(crate) full_log: Option<PathBuf>,
    /// throughput: bandwidth in GBps and Gbps
    #[arg(long = "giga-size")]
    pub(crate) giga_size: bool,
    /// throughput: nine digits of the bandwidth instead of three
    #[arg(long = "increase_output_precision")]
    pub(crate) increase_output_precision: bool,
    /// ping-pong: compare the data of each reply with its request
    #[arg(long = "data-integrity", conflicts_with = "burst")]
    pub(crate) data_integrity: bool,
    /// Address to send from
    #[arg(long = "client_ip", value_name = "ADDRESS")]
    pub(crate) client_ip: Option<IpAddr>,
    /// Port to send from
    #[arg(long = "client_port", value_name = "PORT")]
    pub(crate) client_port: Option<u16>,
    /// Socket buffers in bytes [default: the system's]
    #[arg(long = "buffer-size", value_name = "BYTES")]
    pub(crate) buffer_size: Option<u32>,
    /// Type of service, the byte in the IP header
    #[arg(long, value_name = "BYTE", value_parser = clap::value_parser!(u8))]
    pub(crate) tos: Option<u8>,
    /// Microseconds for which a receive busy-polls the device
    #[arg(long, value_name = "MICROSECONDS")]
    pub(crate) lls: Option<u32>,
    /// Poll instead of sleeping until a message arrives
    #[arg(long)]
    pub(crate) nonblocked: bool,
    /// TCP: use Nagle's algorithm; throughput, which uses it: do not
    #[arg(long = "tcp-avoid-nodelay")]
    pub(crate) tcp_avoid_nodelay: bool,
    /// Send no warm-up messages, which only multicast has
    #[arg(long)]
    pub(crate) dontwarmup: bool,
    /// Seconds before the first message
    #[arg(long = "pre-warmup-wait", value_name = "SECONDS")]
    pub(crate) pre_warmup_wait: Option<u32>,
    /// Server: report missing numbers of each client
    #[arg(short, long = "gap-detection")]
    pub(crate) gap_detection: bool,
    /// Server: answer nothing
    #[arg(long = "dont-reply", conflicts_with = "tcp")]
    pub(crate) dont_reply: bool,
    /// Accepted for compatibility: every reply goes to its sender
    #[arg(long = "force-unicast-reply")]
    pub(crate) force_unicast_reply: bool,
    /// Server over UDP: share the port with servers that permit it, too
    #[arg(long = "uc-reuseaddr")]
    pub(crate) uc_reuseaddr: bool,
    /// Accepted for compatibility: times are always those of the monotonic clock
    #[arg(long = "no-rdtsc")]
    pub(crate) no_rdtsc: bool,
    /// Accepted for compatibility: only sockperf's connection lists (-f) have this timeout
    #[arg(long, value_name = "MILLISECONDS", allow_negative_numbers = true)]
    pub(crate) timeout: Option<i64>,
    /// Accepted for compatibility: all messages that have arrived are received
    #[arg(long = "recv_looping_num", value_name = "N", allow_negative_numbers = true)]
    pub(crate) recv_looping_num: Option<i64>,
    /// Print the emulated version of sockperf
    #[arg(long = "version")]
    pub(crate) tell_version: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) keep: RecordArguments,
}

/// First word of a sockperf command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SockperfRole {
    Client(SockperfMode),
    Server,
}

/// Rate of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SockperfRate {
    Unlimited,
    PerSecond(u32),
}

impl SockperfRole {
    /// Roles with sockperf's name and abbreviation of each.
    const ALL: [(&str, &str, Self); 4] = [
        ("ping-pong", "pp", Self::Client(SockperfMode::PingPong)),
        ("under-load", "ul", Self::Client(SockperfMode::UnderLoad)),
        ("throughput", "tp", Self::Client(SockperfMode::Throughput)),
        ("server", "sr", Self::Server),
    ];

    fn name(self) -> &'static str {
        let row = Self::ALL.iter().find(|(_, _, role)| *role == self);
        row.map_or("", |(name, _, _)| name)
    }
}

fn parse_role(text: &str) -> Result<SockperfRole, String> {
    let row = SockperfRole::ALL.iter().find(|(name, short, _)| text == *name || text == *short);
    match (row, text) {
        (Some((_, _, role)), _) => Ok(*role),
        (None, "playback" | "pb") => Err(
            "playback is not supported: its times come from a file; use under-load with --mps"
                .to_owned(),
        ),
        (None, _) => {
            Err(format!("expected ping-pong, under-load, throughput or server, found `{text}`"))
        }
    }
}

fn parse_sockperf_host(text: &str) -> Result<String, String> {
    options::parse_host(text, Some("-p"))
}

fn parse_message_rate(text: &str) -> Result<SockperfRate, String> {
    const MAX: u32 = 1 << 30;
    match text {
        "max" | "MAX" => Ok(SockperfRate::Unlimited),
        _ => match text.parse() {
            Ok(rate @ 1..=MAX) => Ok(SockperfRate::PerSecond(rate)),
            _ => Err(format!("expected max, or messages per second up to {MAX}")),
        },
    }
}

impl SockperfArguments {
    /// Returns the role.
    ///
    /// # Errors
    /// None was given, or an option that it does not have.
    pub(crate) fn role(&self) -> Result<SockperfRole, CommandFailure> {
        let Some(role) = self.role else {
            return Err(CommandFailure::usage("no mode given")
                .advise("name one of ping-pong, under-load, throughput, server"));
        };
        use SockperfMode::{PingPong, Throughput, UnderLoad};
        let clients = [PingPong, UnderLoad, Throughput].map(SockperfRole::Client);
        let (latency, load) = (&clients[..2], &clients[1..2]);
        let (pings, server) = (&clients[..1], &[SockperfRole::Server][..]);
        for (is_given, option, roles) in [
            (self.range.is_some(), "--range", &clients[..]),
            (self.time.is_some(), "--time", &clients),
            (self.mps.is_some(), "--mps", &clients),
            (self.burst.is_some(), "--burst", &clients),
            (self.reply_every.is_some(), "--reply-every", load),
            (self.full_log.is_some(), "--full-log", latency),
            (self.data_integrity, "--data-integrity", pings),
            (self.client_ip.is_some(), "--client_ip", &clients),
            (self.client_port.is_some(), "--client_port", &clients),
            (self.json, "--json", &clients),
            (self.gap_detection, "--gap-detection", server),
            (self.dont_reply, "--dont-reply", server),
        ] {
            if is_given && !roles.contains(&role) {
                let names: Vec<_> = roles.iter().map(|role| role.name()).collect();
                return Err(CommandFailure::usage(format!(
                    "{} does not have {option}",
                    role.name()
                ))
                .advise(format!("leave it out; it is an option of {}", names.join(", "))));
            }
        }
        Ok(role)
    }

    /// Returns the parameters of a client.
    ///
    /// # Errors
    /// The size of a message is impossible.
    pub(crate) fn client_test(
        &self,
        mode: SockperfMode,
    ) -> Result<SockperfTest, CommandFailure> {
        let host = self.ip.as_deref().unwrap_or(LOOPBACK);
        let rate = self.mps.unwrap_or(match mode {
            SockperfMode::UnderLoad => SockperfRate::PerSecond(DEFAULT_RATE),
            SockperfMode::PingPong | SockperfMode::Throughput => SockperfRate::Unlimited,
        });
        let mut target = NetworkTarget::new(host, self.port);
        target.local = self.local_address(host);
        Ok(SockperfTest {
            target,
            mode,
            is_tcp: self.tcp,
            seconds: self.time.unwrap_or(1),
            message_bytes: self.message_bytes(SockperfHeader::BYTES)? as u32,
            size_range: self.range.unwrap_or(0),
            messages_per_s: match rate {
                SockperfRate::Unlimited => None,
                SockperfRate::PerSecond(rate) => Some(rate),
            },
            burst: self.burst.unwrap_or(1),
            reply_every: match mode {
                SockperfMode::UnderLoad => self.reply_every.unwrap_or(DEFAULT_REPLY_EVERY),
                SockperfMode::PingPong | SockperfMode::Throughput => 1,
            },
            checks_data: self.data_integrity,
            is_polling: self.nonblocked,
            start_delay: Duration::from_secs(self.pre_warmup_wait.unwrap_or(0).into()),
            socket: self.socket_options(mode != SockperfMode::Throughput),
        })
    }

    /// Returns the options of a socket; `no_delay` is the default for TCP.
    pub(crate) fn socket_options(&self, no_delay: bool) -> SocketOptions {
        SocketOptions {
            window_bytes: self.buffer_size.filter(|bytes| *bytes > 0),
            type_of_service: self.tos.unwrap_or(0).into(),
            busy_poll_us: self.lls,
            no_delay: self.tcp && no_delay != self.tcp_avoid_nodelay,
            ..SocketOptions::default()
        }
    }

    /// Returns the size of a message.
    ///
    /// # Errors
    /// It is shorter than the header, or longer than the protocol permits.
    pub(crate) fn message_bytes(&self, default: usize) -> Result<usize, CommandFailure> {
        let limit = if self.tcp { MAX_STREAM_BYTES } else { MAX_DATAGRAM_BYTES };
        let bytes = self.msg_size.map_or(default, |bytes| bytes as usize);
        match (SockperfHeader::BYTES..=limit).contains(&bytes) {
            true => Ok(bytes),
            false => Err(CommandFailure::usage(format!("-m is {bytes}"))
                .advise(format!("use {} to {limit} bytes", SockperfHeader::BYTES))),
        }
    }

    fn local_address(&self, host: &str) -> Option<SocketAddr> {
        if self.client_ip.is_none() && self.client_port.is_none() {
            return None;
        }
        let any: IpAddr = match host.contains(':') {
            true => Ipv6Addr::UNSPECIFIED.into(),
            false => Ipv4Addr::UNSPECIFIED.into(),
        };
        Some(SocketAddr::new(self.client_ip.unwrap_or(any), self.client_port.unwrap_or(0)))
    }
}

/// Address of both roles without `-i`.
pub(crate) const LOOPBACK: &str = "127.0.0.1";

#[cfg(test)]
mod tests;
