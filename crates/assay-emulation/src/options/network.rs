//! Command-line options of `assay iperf3`, `assay qperf`, `assay sockperf`, `assay ntttcp` and
//! `assay ping`: those of the tools.

use std::ffi::OsString;
use std::net::IpAddr;

use clap::builder::ArgPredicate;
use clap::{ArgMatches, Args, FromArgMatches};

use self::qperf_parameters::{
    QperfLoop, QperfVariable, parse_loop, parse_size as parse_qperf_size, parse_time,
};
use assay_console::options::{self, RecordArguments};

pub use self::iperf3::Iperf3Arguments;
pub(crate) use self::iperf3::Iperf3TestArguments;
pub use self::ntttcp::NtttcpArguments;
pub use self::sockperf::SockperfArguments;

mod iperf3;
mod iperf3_values;
pub(crate) mod ntttcp;
pub(crate) mod qperf_parameters;
pub(crate) mod sockperf;

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
    /// CPU of both ends, from 1; 0 = any (qperf: -ca, -lca, -rca)
    #[arg(
        long = "cpu_affinity",
        visible_alias = "cpu-affinity",
        alias = "ca",
        value_name = "CPU"
    )]
    pub(crate) cpu_affinity: Vec<u64>,
    /// The same, of this end only
    #[arg(
        long = "loc_cpu_affinity",
        visible_alias = "loc-cpu-affinity",
        alias = "lca",
        value_name = "CPU"
    )]
    pub(crate) loc_cpu_affinity: Vec<u64>,
    /// The same, of the far end only
    #[arg(
        long = "rem_cpu_affinity",
        visible_alias = "rem-cpu-affinity",
        alias = "rca",
        value_name = "CPU"
    )]
    pub(crate) rem_cpu_affinity: Vec<u64>,
    /// Port of the server's data socket [default: any] (qperf: -ip)
    #[arg(long = "ip_port", visible_alias = "ip-port", alias = "ip", value_name = "PORT")]
    pub(crate) ip_port: Vec<u64>,
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
    #[arg(value_name = "HOST", value_parser = options::parse_plain_host, required = false,
        required_unless_present = "tell_version",
        default_value_if("tell_version", ArgPredicate::IsPresent, "localhost"))]
    pub(crate) host: String,
    /// Print the version of assay
    #[arg(short = 'V')]
    pub(crate) tell_version: bool,
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
    const FIELDS: [&str; 16] = [
        "tests",
        "time",
        "timeout",
        "loc_timeout",
        "rem_timeout",
        "msg_size",
        "sock_buf_size",
        "loc_sock_buf_size",
        "rem_sock_buf_size",
        "cpu_affinity",
        "loc_cpu_affinity",
        "rem_cpu_affinity",
        "ip_port",
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
            QperfVariable::Cpu => &self.cpu_affinity,
            QperfVariable::LocalCpu => &self.loc_cpu_affinity,
            QperfVariable::RemoteCpu => &self.rem_cpu_affinity,
            QperfVariable::Port => &self.ip_port,
            QperfVariable::Precision => &self.precision,
        }
    }
}

fn parse_qperf_host(text: &str) -> Result<String, String> {
    options::parse_host(text, Some("-lp"))
}

/// Whether this is a long option with one dash: `-cm1`, but not `-t2` or `-m64K`, a letter with its
/// value.
fn is_long_with_one_dash(text: &str) -> bool {
    let mut letters = text.strip_prefix('-').unwrap_or_default().chars();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.next().is_some_and(|second| second.is_ascii_lowercase())
}

fn parse_qperf_test(text: &str) -> Result<assay_dialects::wire::qperf::QperfTestKind, String> {
    assay_dialects::wire::qperf::QperfTestKind::from_name(text).ok_or_else(|| {
        format!("expected tcp_lat, tcp_bw, udp_lat, udp_bw, conf or quit, found `{text}`")
    })
}

#[cfg(test)]
mod tests;
