//! Command-line options of `assay iperf3`, `assay qperf` and `assay ping`: those of the tools.
//!
//! Sizes and rates follow iperf3: `k` is 1024 in a size and 1000 in a rate.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use assay_dialects::iperf3::units::{self, RateFormat};
use clap::{ArgGroup, ArgMatches, Args, FromArgMatches};

use self::qperf_parameters::{
    QperfLoop, QperfVariable, parse_loop, parse_size as parse_qperf_size, parse_time,
};
use assay_console::options::{self, RecordArguments};

pub(crate) mod qperf_parameters;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("role").required(true).args(["client", "server", "tell_version"])))]
#[command(override_usage = "assay iperf3 [OPTIONS] <--client <HOST>|--server>")]
pub struct Iperf3Arguments {
    /// Run as client, connecting to this host
    #[arg(short = 'c', long, value_name = "HOST", value_parser = parse_iperf3_host)]
    pub(crate) client: Option<String>,
    /// Run as server, on loopback unless -B is given
    #[arg(short, long)]
    pub(crate) server: bool,
    /// Print the emulated version of iperf3 and the version of assay
    #[arg(short = 'v', long = "version")]
    pub(crate) tell_version: bool,
    /// Port of the server
    #[arg(short, long, default_value_t = 5201)]
    pub(crate) port: u16,
    /// Address to listen on or to send from
    #[arg(short = 'B', long, value_name = "ADDRESS")]
    pub(crate) bind: Option<IpAddr>,
    /// Seconds between reports; 0 = none
    #[arg(short, long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(crate) interval: f64,
    /// Unit of rates: k, m, g, t for bits, K, M, G, T for bytes
    #[arg(short, long, value_name = "LETTER", value_parser = parse_format_letter, default_value = "a")]
    pub(crate) format: RateFormat,
    /// Print one JSON document
    #[arg(short = 'J', long)]
    pub(crate) json: bool,
    /// Print one JSON object per event
    #[arg(long, conflicts_with = "json")]
    pub(crate) json_stream: bool,
    /// Pin each stream to its own CPU
    #[arg(long)]
    pub(crate) pinned: bool,
    /// Also print CPU utilization of both ends and the congestion control
    #[arg(short = 'V', long)]
    pub(crate) verbose: bool,
    /// Accepted for compatibility: output is always flushed
    #[arg(long)]
    pub(crate) forceflush: bool,
    /// IPv4 only
    #[arg(short = '4', long = "version4", conflicts_with = "version6")]
    pub(crate) version4: bool,
    /// IPv6 only
    #[arg(short = '6', long = "version6")]
    pub(crate) version6: bool,
    /// Idle timeout of the data connections, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 120_000)]
    pub(crate) rcv_timeout: u64,
    /// Pad logins as iperf3 before 3.17
    #[arg(long)]
    pub(crate) use_pkcs1_padding: bool,
    /// Write the process ID to this file, until the end
    #[arg(short = 'I', long, value_name = "FILE")]
    pub(crate) pidfile: Option<PathBuf>,
    /// Prefix of every output line
    #[arg(short = 'T', long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) serving: Iperf3ServerArguments,
    #[command(flatten)]
    pub(crate) test: Iperf3TestArguments,
    #[command(flatten)]
    pub(crate) keep: RecordArguments,
}

#[derive(Debug, Args)]
pub(crate) struct Iperf3ServerArguments {
    /// Server: exit after one test
    #[arg(short = '1', long, requires = "server")]
    pub(crate) one_off: bool,
    /// Server: exit after this many seconds without a client
    #[arg(long, value_name = "SECONDS", requires = "server")]
    pub(crate) idle_timeout: Option<u64>,
    /// Server: require logins, which clients encrypt for this private RSA key (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["server", "authorized_users_path"])]
    pub(crate) rsa_private_key_path: Option<PathBuf>,
    /// Server: authorized users, one line each: NAME,SHA-256 of {NAME}PASSWORD
    #[arg(long, value_name = "FILE", requires_all = ["server", "rsa_private_key_path"])]
    pub(crate) authorized_users_path: Option<PathBuf>,
    /// Server: tolerated clock difference of a login, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        requires = "rsa_private_key_path"
    )]
    pub(crate) time_skew_threshold: u64,
}

/// Test parameters, chosen by the client and sent to the server.
#[derive(Debug, Args)]
#[group(conflicts_with = "server")]
pub(crate) struct Iperf3TestArguments {
    /// UDP instead of TCP
    #[arg(short, long)]
    pub(crate) udp: bool,
    /// Number of parallel streams
    #[arg(short = 'P', long, value_name = "N", default_value_t = 1)]
    pub(crate) parallel: u32,
    /// Reverse: the server sends
    #[arg(short = 'R', long)]
    pub(crate) reverse: bool,
    /// Bidirectional: both send
    #[arg(long, conflicts_with = "reverse")]
    pub(crate) bidir: bool,
    /// Duration of the test in seconds [default: 10]
    #[arg(short, long, value_name = "SECONDS", conflicts_with_all = ["bytes", "blockcount"])]
    pub(crate) time: Option<u32>,
    /// Bytes to send
    #[arg(short = 'n', long, value_name = "SIZE", value_parser = parse_size, conflicts_with = "blockcount")]
    pub(crate) bytes: Option<u64>,
    /// Blocks to send
    #[arg(short = 'k', long, value_name = "N", value_parser = parse_size)]
    pub(crate) blockcount: Option<u64>,
    /// Omit the first seconds (warm-up) from the results
    #[arg(short = 'O', long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) omit: u32,
    /// Target bit rate of each stream, with an optional burst of N blocks; 0 = unlimited [default:
    /// TCP unlimited, UDP 1 Mbit/s]
    #[arg(short = 'b', long = "bitrate", visible_alias = "bandwidth", value_name = "RATE[/N]", value_parser = parse_rate_and_burst)]
    pub(crate) bitrate: Option<(u64, u32)>,
    /// Rate of the kernel's fair-queue pacing of each stream, in bit/s
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub(crate) fq_rate: Option<u64>,
    /// Bytes per write or datagram [default: TCP 128K, UDP one segment of the path MTU]
    #[arg(short = 'l', long = "length", value_name = "SIZE", value_parser = parse_size)]
    pub(crate) length: Option<u64>,
    /// Socket buffer size
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) window: Option<u64>,
    /// TCP maximum segment size
    #[arg(short = 'M', long = "set-mss", value_name = "BYTES")]
    pub(crate) set_mss: Option<u32>,
    /// Disable Nagle's algorithm (TCP_NODELAY)
    #[arg(short = 'N', long)]
    pub(crate) no_delay: bool,
    /// TCP congestion control algorithm
    #[arg(short = 'C', long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
    /// IP type of service, decimal or 0x…
    #[arg(short = 'S', long, value_name = "N", value_parser = parse_byte, default_value = "0")]
    pub(crate) tos: u32,
    /// DSCP, 0 to 63 or a name like ef, af41, cs1
    #[arg(long, value_name = "N", value_parser = parse_dscp, conflicts_with = "tos")]
    pub(crate) dscp: Option<u32>,
    /// Interval of the server's pacing timer, in microseconds
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) pacing_timer: Option<u32>,
    /// Accepted for compatibility: UDP counters always have 64 bits
    #[arg(long = "udp-counters-64bit")]
    pub(crate) wide_counters: bool,
    /// Zero-copy send
    #[arg(short = 'Z', long)]
    pub(crate) zerocopy: bool,
    /// Drop received data without copying it (MSG_TRUNC)
    #[arg(long)]
    pub(crate) skip_rx_copy: bool,
    /// UDP: many datagrams per call, cut and joined by the kernel (UDP_SEGMENT, UDP_GRO); iperf3 3.21
    #[arg(long, requires = "udp")]
    pub(crate) gsro: bool,
    /// Local port of the first stream; the others follow
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) cport: u16,
    /// Timeout for establishing the control connection, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    pub(crate) connect_timeout: u64,
    /// Also print the server's output
    #[arg(long)]
    pub(crate) get_server_output: bool,
    /// Log in as this user; the password comes from IPERF3_PASSWORD or the terminal
    #[arg(long, value_name = "NAME", requires = "rsa_public_key_path")]
    pub(crate) username: Option<String>,
    /// RSA public key of the server (PEM), for --username
    #[arg(long, value_name = "FILE", requires = "username")]
    pub(crate) rsa_public_key_path: Option<PathBuf>,
    /// Text for the extra_data field of the JSON
    #[arg(long, value_name = "TEXT")]
    pub(crate) extra_data: Option<String>,
}

#[derive(Debug, Args)]
pub struct QperfArguments {
    /// Positions of options and tests: the first field, because reading the others removes them.
    #[command(flatten)]
    pub(crate) order: QperfOrder,
    /// Host that runs `qperf` or `assay iperf3 -s`; without one, run as server
    #[arg(value_name = "HOST", value_parser = parse_qperf_host)]
    pub(crate) host: Option<String>,
    /// Tests: tcp_lat, tcp_bw, udp_lat, udp_bw, conf; each has the options before it
    #[arg(value_name = "TEST", value_parser = parse_qperf_test)]
    pub(crate) tests: Vec<assay_dialects::wire::qperf::QperfTestKind>,
    /// Port of the server (qperf: -lp)
    #[arg(long, alias = "lp", visible_alias = "listen_port", default_value_t = 19765)]
    pub(crate) listen_port: u16,
    /// Time per test in seconds, or with the unit m, h or d [default: 2]
    #[arg(short, long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) time: Vec<u64>,
    /// Time to wait for the far end in seconds [default: 5] (qperf: -to, -lto, -rto)
    #[arg(long, alias = "to", value_name = "TIME", value_parser = parse_time)]
    pub(crate) timeout: Vec<u64>,
    /// The same, at this end only
    #[arg(long = "loc_timeout", visible_alias = "loc-timeout", alias = "lto", value_name = "TIME", value_parser = parse_time)]
    pub(crate) loc_timeout: Vec<u64>,
    /// The same, at the far end only
    #[arg(long = "rem_timeout", visible_alias = "rem-timeout", alias = "rto", value_name = "TIME", value_parser = parse_time)]
    pub(crate) rem_timeout: Vec<u64>,
    /// Time for which a server that refuses the connection is tried again (qperf: -ws)
    #[arg(long = "wait_server", visible_alias = "wait-server", alias = "ws", value_name = "TIME", value_parser = parse_time, default_value = "0")]
    pub(crate) wait_server: u64,
    /// Bytes per message; k = 1000, K = 1024 [default: 1 for latency, 64K for tcp_bw, 32K for udp_bw]
    #[arg(short, long = "msg_size", visible_alias = "msg-size", value_name = "SIZE", value_parser = parse_qperf_size)]
    pub(crate) msg_size: Vec<u64>,
    /// Socket buffer size (qperf: -sb, -lsb, -rsb)
    #[arg(long = "sock_buf_size", visible_alias = "sock-buf-size", alias = "sb", value_name = "SIZE", value_parser = parse_qperf_size)]
    pub(crate) sock_buf_size: Vec<u64>,
    /// The same, at this end only
    #[arg(long = "loc_sock_buf_size", visible_alias = "loc-sock-buf-size", alias = "lsb", value_name = "SIZE", value_parser = parse_qperf_size)]
    pub(crate) loc_sock_buf_size: Vec<u64>,
    /// The same, at the far end only
    #[arg(long = "rem_sock_buf_size", visible_alias = "rem-sock-buf-size", alias = "rsb", value_name = "SIZE", value_parser = parse_qperf_size)]
    pub(crate) rem_sock_buf_size: Vec<u64>,
    /// Repeat each test over the values of an option, like msg_size:1:64K:*2; may be repeated (qperf: -oo)
    #[arg(long = "loop", alias = "oo", value_name = "NAME:FIRST:LAST:STEP", value_parser = parse_loop)]
    pub(crate) loops: Vec<QperfLoop>,
    /// Also print statistics (vs), times (vt) and used parameters (vu), more with two v; v: all
    #[arg(short, long, value_name = "LETTERS", num_args = 0..=1, require_equals = true, default_missing_value = "v", value_parser = ["v", "vc", "vs", "vt", "vu", "vv", "vvc", "vvs", "vvt", "vvu"])]
    pub(crate) verbose: Vec<String>,
    /// Digits of a figure [default: 3]
    #[arg(short = 'e', long, value_name = "DIGITS")]
    pub(crate) precision: Vec<u64>,
    /// Rates in bits per second (qperf: -ub)
    #[arg(long = "use_bits_per_sec", visible_alias = "use-bits-per-sec", alias = "ub")]
    pub(crate) use_bits_per_sec: bool,
    /// All figures in the smallest unit (qperf: -uu)
    #[arg(long = "unify_units", visible_alias = "unify-units", alias = "uu")]
    pub(crate) unify_units: bool,
    /// Figures of the local and the remote node, rather than of sender and receiver (qperf: -un)
    #[arg(long = "unify_nodes", visible_alias = "unify-nodes", alias = "un")]
    pub(crate) unify_nodes: bool,
    /// Print the emulated version of qperf
    #[arg(short = 'V', long = "version")]
    pub(crate) tell_version: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Server: address to listen on [default: loopback]
    #[arg(short = 'B', long, value_name = "ADDRESS")]
    pub(crate) bind: Option<IpAddr>,
    /// Server: exit after one request
    #[arg(short = '1', long)]
    pub(crate) one_off: bool,
    /// Server: exit after this many seconds without a client
    #[arg(long, value_name = "SECONDS")]
    pub(crate) idle_timeout: Option<u64>,
    /// Server: let other hosts stop it with qperf's `quit`
    #[arg(long)]
    pub(crate) allow_quit: bool,
    #[command(flatten)]
    pub(crate) keep: RecordArguments,
}

#[derive(Debug, Args)]
pub struct PingArguments {
    /// Host to ping
    #[arg(value_name = "HOST", value_parser = parse_plain_host)]
    pub(crate) host: String,
    /// Number of requests
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) count: u32,
    /// Seconds between requests; 0 = send the next one when the reply arrives
    #[arg(short, long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(crate) interval: f64,
    /// Payload bytes per request
    #[arg(short, long, value_name = "BYTES", default_value_t = 56)]
    pub(crate) size: u32,
    /// Seconds to wait for a reply
    #[arg(short = 'W', long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(crate) timeout: f64,
    /// Stop sending requests after this many seconds
    #[arg(short = 'w', long, value_name = "SECONDS")]
    pub(crate) deadline: Option<f64>,
    /// Path MTU discovery. do: never fragment, and report the path MTU if a request does not fit
    #[arg(short = 'M', long = "pmtudisc", value_name = "do|want", value_parser = ["do", "want"], default_value = "want")]
    pub(crate) cutting: String,
    /// IP time to live
    #[arg(short = 't', long = "ttl", value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) hops: Option<u8>,
    /// Accepted for compatibility: addresses are never resolved to names
    #[arg(short = 'n', long)]
    pub(crate) numeric: bool,
    /// Print only the summary
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// IPv4 only
    #[arg(short = '4', long = "ipv4", conflicts_with = "ipv6")]
    pub(crate) ipv4: bool,
    /// IPv6 only
    #[arg(short = '6', long = "ipv6")]
    pub(crate) ipv6: bool,
    #[command(flatten)]
    pub(crate) keep: RecordArguments,
}

/// Rewrites the words for clap if the command is `qperf`: its long options have a single dash, and
/// the host may be given by an option.
pub fn normalize_qperf_words(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|word| word != "qperf") {
        return words;
    }
    let mut normalized = Vec::with_capacity(words.len());
    let mut host = None;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("-H" | "--host") => host = words.next(),
            Some("-oo") => normalized.push("--loop".into()),
            Some(text) if text.starts_with("-v") && text[1..].len() <= 3 => {
                normalized.push(format!("--verbose={}", &text[1..]).into());
            }
            Some(text) if text.starts_with("--verbose_") => {
                normalized.push(format!("--verbose={}", verbosity_letters(text)).into());
            }
            // Options that assay does not support keep their full name for the error.
            Some(text) if is_long_with_one_dash(text) => {
                normalized.push(format!("-{text}").into());
            }
            _ => normalized.push(word),
        }
    }
    if let Some(host) = host {
        normalized.insert(2, host);
    }
    normalized
}

/// Returns the letters of `--verbose_more_stat`: `vvs`.
fn verbosity_letters(text: &str) -> String {
    let name = text.trim_start_matches("--verbose_");
    let (letters, kind) = match name.strip_prefix("more") {
        Some(kind) => ("vv", kind.trim_start_matches('_')),
        None => ("v", name),
    };
    let letter = ["conf", "stat", "time", "used"].iter().find(|it| **it == kind);
    format!("{letters}{}", letter.map_or(kind, |it| &it[..1]))
}

/// Positions of qperf's options and tests: an option applies to the tests after it.
#[derive(Debug, Clone, Default)]
pub(crate) struct QperfOrder(Vec<(&'static str, Vec<usize>)>);

impl QperfOrder {
    /// Ordered fields.
    const FIELDS: [&str; 12] = [
        "tests",
        "time",
        "timeout",
        "loc_timeout",
        "rem_timeout",
        "msg_size",
        "sock_buf_size",
        "loc_sock_buf_size",
        "rem_sock_buf_size",
        "loops",
        "verbose",
        "precision",
    ];

    /// Returns the positions of the values of a field.
    pub(crate) fn positions(&self, field: &str) -> impl Iterator<Item = usize> + '_ {
        let found = self.0.iter().find(|(name, _)| *name == field);
        found.into_iter().flat_map(|(_, positions)| positions.iter().copied())
    }

    /// Returns the values of a field that are before a position.
    pub(crate) fn values_before<'v, T>(
        &'v self,
        field: &str,
        values: &'v [T],
        at: usize,
    ) -> impl Iterator<Item = &'v T> {
        let placed = self.positions(field).zip(values);
        placed.filter(move |(position, _)| *position < at).map(|(_, value)| value)
    }
}

impl FromArgMatches for QperfOrder {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let positions = |field: &'static str| {
            let indices = matches.indices_of(field);
            (field, indices.map_or_else(Vec::new, Iterator::collect))
        };
        Ok(Self(Self::FIELDS.map(positions).to_vec()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for QperfOrder {
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}

impl QperfArguments {
    /// Returns the values of a variable, in their order.
    pub(crate) fn values(&self, variable: QperfVariable) -> &[u64] {
        match variable {
            QperfVariable::MessageSize => &self.msg_size,
            QperfVariable::SocketBuffer => &self.sock_buf_size,
            QperfVariable::LocalSocketBuffer => &self.loc_sock_buf_size,
            QperfVariable::RemoteSocketBuffer => &self.rem_sock_buf_size,
            QperfVariable::Time => &self.time,
            QperfVariable::Timeout => &self.timeout,
            QperfVariable::LocalTimeout => &self.loc_timeout,
            QperfVariable::RemoteTimeout => &self.rem_timeout,
            QperfVariable::Precision => &self.precision,
        }
    }
}

fn parse_iperf3_host(text: &str) -> Result<String, String> {
    options::parse_host(text, Some("-p"))
}

fn parse_qperf_host(text: &str) -> Result<String, String> {
    options::parse_host(text, Some("-lp"))
}

fn parse_plain_host(text: &str) -> Result<String, String> {
    options::parse_host(text, None)
}

/// Whether this is a long option with one dash: `-cm1`, but not `-t2` or `-m64K`, a letter with its
/// value.
fn is_long_with_one_dash(text: &str) -> bool {
    let mut letters = text.strip_prefix('-').unwrap_or_default().chars();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.next().is_some_and(|second| second.is_ascii_lowercase())
}

impl Iperf3Arguments {
    /// Returns the address to listen on, loopback by default.
    pub(crate) fn listen_address(&self) -> SocketAddr {
        let loopback = if self.version6 {
            IpAddr::from(std::net::Ipv6Addr::LOCALHOST)
        } else {
            IpAddr::from(std::net::Ipv4Addr::LOCALHOST)
        };
        SocketAddr::new(self.bind.unwrap_or(loopback), self.port)
    }
}

fn parse_size(text: &str) -> Result<u64, String> {
    units::parse_size(text)
        .ok_or_else(|| format!("`{text}` is not a size; write it like 128K or 1M"))
}

fn parse_rate(text: &str) -> Result<u64, String> {
    units::parse_rate(text)
        .ok_or_else(|| format!("`{text}` is not a rate; write it like 100M or 1G"))
}

fn parse_rate_and_burst(text: &str) -> Result<(u64, u32), String> {
    match text.split_once('/') {
        None => parse_rate(text).map(|rate| (rate, 0)),
        Some((first, burst)) => match burst.parse() {
            Ok(burst @ 1..=1000) => parse_rate(first).map(|rate| (rate, burst)),
            _ => Err(format!("expected a burst of 1 to 1000 blocks, found `{burst}`")),
        },
    }
}

fn parse_byte(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed
        .map(u32::from)
        .map_err(|_| format!("expected a number from 0 to 255, found `{text}`"))
}

/// Parses a DSCP value into the upper six bits of the type of service (RFC 2474). Names are from
/// RFC 2597, RFC 3246 and RFC 5865.
fn parse_dscp(text: &str) -> Result<u32, String> {
    let name = text.to_ascii_lowercase();
    let digit = |at: usize| name.as_bytes().get(at).map(|it| u32::from(it.wrapping_sub(b'0')));
    let point = match (&*name, digit(2), digit(3)) {
        ("ef", ..) => Some(46),
        ("voice-admit" | "va", ..) => Some(44),
        ("be" | "default", ..) => Some(0),
        (_, Some(class @ 0..=7), None) if name.starts_with("cs") => Some(class * 8),
        (_, Some(class @ 1..=4), Some(drop @ 1..=3))
            if name.starts_with("af") && name.len() == 4 =>
        {
            Some(class * 8 + drop * 2)
        }
        _ => match name.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => name.parse().ok(),
        },
    };
    point.filter(|point| *point < 64).map(|point| point << 2).ok_or_else(|| {
        format!("expected a number from 0 to 63 or a name like ef, af41 or cs1, found `{text}`")
    })
}

fn parse_format_letter(text: &str) -> Result<RateFormat, String> {
    RateFormat::from_letter(text)
        .ok_or_else(|| format!("expected k, m, g, t, K, M, G or T, found `{text}`"))
}

fn parse_qperf_test(text: &str) -> Result<assay_dialects::wire::qperf::QperfTestKind, String> {
    assay_dialects::wire::qperf::QperfTestKind::from_name(text).ok_or_else(|| {
        format!("expected tcp_lat, tcp_bw, udp_lat, udp_bw, conf or quit, found `{text}`")
    })
}

#[cfg(test)]
mod tests;
