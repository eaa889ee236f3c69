//! Options of `assay iperf3`: those of iperf3, and assay's own.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use assay_console::options::RecordArguments;
use assay_dialects::iperf3::units::RateFormat;
use assay_kernels::network::socket::Keepalive;
use assay_run::network::iperf3_server::RateLimit;
use clap::{ArgGroup, Args};

use super::iperf3_values::{
    BoundAddress, parse_affinity, parse_bound_address, parse_byte, parse_dscp,
    parse_flow_label, parse_format_letter, parse_iperf3_host, parse_keepalive, parse_rate,
    parse_rate_and_burst, parse_rate_limit, parse_size, parse_time_format,
};

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
    #[arg(short = 'B', long, value_name = "ADDRESS", value_parser = parse_bound_address)]
    pub(crate) bind: Option<BoundAddress>,
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
    /// With --json-stream: also print the whole document at the end; iperf3 3.20
    #[arg(long)]
    pub(crate) json_stream_full_output: bool,
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
    /// Restrict this end to CPU N, and a server to CPU M for the test
    #[arg(short = 'A', long, value_name = "N[,M]", value_parser = parse_affinity, conflicts_with = "pinned")]
    pub(crate) affinity: Option<(u32, Option<u32>)>,
    /// Network device that the sockets are bound to (also -B or -c ADDRESS%DEVICE)
    #[arg(long, value_name = "DEVICE")]
    pub(crate) bind_dev: Option<String>,
    /// TCP: send the contents of this file, or write received data to it
    #[arg(short = 'F', long, value_name = "FILE", conflicts_with = "udp")]
    pub(crate) file: Option<PathBuf>,
    /// Append the output to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) logfile: Option<PathBuf>,
    /// Begin every line of text with the time, in a format of strftime [default: %c]
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "%c ", value_parser = parse_time_format)]
    pub(crate) timestamps: Option<String>,
    /// Time that sent TCP data may stay unacknowledged, in milliseconds; 0 = the system's rule
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(0..=86_400_000))]
    pub(crate) snd_timeout: Option<u32>,
    /// Probes of the control connection: seconds before the first, between two, and their number;
    /// iperf3 3.19
    #[arg(long, value_name = "IDLE/INTERVAL/COUNT", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = parse_keepalive)]
    pub(crate) cntl_ka: Option<Keepalive>,
    /// TCP over several paths (MPTCP), at both ends; iperf3 3.19
    #[arg(short = 'm', long, conflicts_with = "udp")]
    pub(crate) mptcp: bool,
    /// Also print the exchanged parameters and results
    #[arg(short = 'd', long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "4", value_parser = clap::value_parser!(u8).range(1..=4))]
    pub(crate) debug: Option<u8>,
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
    /// Server: clients whose tests may run at the same time; each has its own output and result,
    /// which reports the others. More clients get the reply that the server is busy
    #[arg(long, value_name = "N", requires = "server", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=128))]
    pub(crate) clients: u32,
    /// Server: exit after one test, or after N tests with --clients N
    #[arg(short = '1', long, requires = "server")]
    pub(crate) one_off: bool,
    /// Server: exit after this many seconds without a client
    #[arg(long, value_name = "SECONDS", requires = "server")]
    pub(crate) idle_timeout: Option<u64>,
    /// Server: run in the background, once it listens
    #[arg(short = 'D', long, requires = "server")]
    pub(crate) daemon: bool,
    /// Server: maximum bit rate of a test, requested or as the mean over this many seconds
    /// [default: 5]; 0 = unlimited
    #[arg(long, value_name = "RATE[/SECONDS]", requires = "server", value_parser = parse_rate_limit)]
    pub(crate) server_bitrate_limit: Option<RateLimit>,
    /// Server: maximum duration of a test, with the omitted seconds; iperf3 3.20
    #[arg(long, value_name = "SECONDS", requires = "server", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) server_max_duration: Option<u32>,
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
    /// Duration of the test in seconds; 0 = until a signal ends it [default: 10]
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
    #[arg(short = 'C', long, alias = "linux-congestion", value_name = "NAME")]
    pub(crate) congestion: Option<String>,
    /// IP type of service, decimal or 0x…
    #[arg(short = 'S', long, value_name = "N", value_parser = parse_byte, default_value = "0")]
    pub(crate) tos: u32,
    /// DSCP, 0 to 63 or a name like ef, af41, cs1
    #[arg(long, value_name = "N", value_parser = parse_dscp, conflicts_with = "tos")]
    pub(crate) dscp: Option<u32>,
    /// Accepted for compatibility: the kernel paces only with --fq-rate
    #[arg(long, conflicts_with = "fq_rate")]
    pub(crate) no_fq_socket_pacing: bool,
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
    /// UDP over IPv4: datagrams are never cut on the path
    #[arg(long)]
    pub(crate) dont_fragment: bool,
    /// IPv6 flow label of the client's streams, decimal or 0x…
    #[arg(short = 'L', long = "flowlabel", value_name = "N", value_parser = parse_flow_label)]
    pub(crate) flow_label: Option<u32>,
    /// Payload that repeats; only a sending iperf3 has another
    #[arg(long)]
    pub(crate) repeating_payload: bool,
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

impl Iperf3Arguments {
    /// Returns the address to listen on, loopback by default.
    pub(crate) fn listen_address(&self) -> SocketAddr {
        let loopback = if self.version6 {
            IpAddr::from(std::net::Ipv6Addr::LOCALHOST)
        } else {
            IpAddr::from(std::net::Ipv4Addr::LOCALHOST)
        };
        let bound = self.bind.as_ref().map(|bound| bound.address);
        SocketAddr::new(bound.unwrap_or(loopback), self.port)
    }
}
