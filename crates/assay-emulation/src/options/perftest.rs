//! Options of `assay rdma`: perftest's own.

mod rules;
pub mod unsupported;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use assay_model::benchmark::RdmaTest;
use assay_model::workload::{
    MAX_DATAGRAM_BYTES, PORTABLE_DATAGRAM_BYTES, RdmaConnection, RdmaDevice, RdmaDuration,
    RdmaTuning, RdmaWorkload,
};
use assay_run::failure::CommandFailure;
use assay_run::rdma::{MAX_BYTES, PORT};
use clap::{Args, ValueEnum};

use assay_console::options::{self, RecordArguments};

/// Exponents of the sizes of perftest's `-a`: 2¹ … 2²³ bytes.
const ALL_SIZE_EXPONENTS: std::ops::RangeInclusive<u32> = 1..=23;

/// Arguments of `assay rdma`.
#[derive(Debug, Args)]
pub struct RdmaArguments {
    /// Test, named like perftest's programs without ib_
    #[arg(value_enum, value_name = "TEST")]
    pub test: RdmaTestArgument,
    /// Host that runs the same command without a host; without one, wait for the other end
    #[arg(value_name = "HOST", value_parser = |text: &str| options::parse_host(text, Some("-p")))]
    pub host: Option<String>,
    /// Measure all sizes from 2 B to 8 MiB
    #[arg(short, long, conflicts_with = "size")]
    pub all: bool,
    /// Message size in bytes, or like 64K or 1M [default: 2 for latency, 65536 for bandwidth]
    #[arg(short, long, value_name = "BYTES", value_parser = parse_size)]
    pub size: Option<u64>,
    /// Number of messages of each size [default: 1000; write-bw: 5000]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(5..=100_000_000))]
    pub iters: Option<u64>,
    /// Measure for this many seconds instead of a number of messages; latency tests then print the
    /// mean
    #[arg(short = 'D', long, value_name = "SECONDS", conflicts_with_all = ["iters", "all"], value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub duration: Option<u64>,
    /// With -D: exclude this many seconds at the beginning and at the end [default: a quarter of
    /// -D]
    #[arg(short = 'f', long, value_name = "SECONDS", requires = "duration")]
    pub margin: Option<u64>,
    /// RDMA device, like mlx5_0 [default: one with an active link, InfiniBand first, then the fastest]
    #[arg(short = 'd', long, value_name = "DEVICE")]
    pub ib_dev: Option<String>,
    /// Port of the device
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    pub ib_port: u8,
    /// GID index [default: a RoCE v2 address, of IPv4 if there is one]
    #[arg(short = 'x', long, value_name = "N", value_parser = clap::value_parser!(u32).range(..256))]
    pub gid_index: Option<u32>,
    /// Path MTU in bytes: 256, 512, 1024, 2048 or 4096 [default: the port's]
    #[arg(short, long, value_name = "BYTES", value_parser = parse_mtu)]
    pub mtu: Option<u32>,
    /// Copy messages up to this size into the request (inline), if the device can [default:
    /// send-lat 236, UD 188; write-lat 220]
    #[arg(short = 'I', long, alias = "inline_size", value_name = "BYTES", value_parser = clap::value_parser!(u32).range(..=4096))]
    pub inline_size: Option<u32>,
    /// Bandwidth: requests in flight [default: 128]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=65_536))]
    pub tx_depth: Option<u64>,
    /// send-lat, send-bw: number of receives posted before the first message arrives [default: 512]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_384))]
    pub rx_depth: Option<u32>,
    /// Bandwidth: request one completion for this many requests [default: 100, or half of those in
    /// flight]
    #[arg(short = 'Q', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub cq_mod: Option<u64>,
    /// Outstanding reads and atomic operations [default: the maximum of both devices]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub outs: Option<u8>,
    /// Service level, on RoCE the priority, from 0 to 15
    #[arg(short = 'S', long, value_name = "N", value_parser = clap::value_parser!(u8).range(..=15))]
    pub sl: Option<u8>,
    /// Traffic class of packets with a GID; on RoCE DSCP × 4
    #[arg(long, value_name = "N")]
    pub tclass: Option<u8>,
    /// Retransmit a packet after 4.096 µs × 2 to the power of N; 0 = never [default: 14, which is
    /// 67 ms]
    #[arg(short = 'u', long, value_name = "N", value_parser = clap::value_parser!(u8).range(..=31))]
    pub qp_timeout: Option<u8>,
    /// Bandwidth: number of parallel connections (queue pairs)
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    pub qp: u32,
    /// Bandwidth: send from both ends at the same time, and add their rates
    #[arg(short, long)]
    pub bidirectional: bool,
    /// write-bw, read-bw: send as many requests as are in flight before each size, without counting
    /// them
    #[arg(long = "perform_warm_up")]
    pub perform_warm_up: bool,
    /// Connection type: RC (reliable connected), or UD (datagrams) for send-lat and send-bw
    #[arg(short, long, value_name = "RC|UD", default_value = "RC", value_parser = parse_connection)]
    pub connection: RdmaConnection,
    /// TCP port of the far end, for the exchange of parameters
    #[arg(short, long, default_value_t = PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// Without a host: address to listen on [default: loopback, which other hosts cannot reach]
    #[arg(short = 'B', long, value_name = "ADDRESS", conflicts_with = "host")]
    pub bind: Option<IpAddr>,
    /// Print the emulated version of perftest and the version of assay
    #[arg(short = 'V', long = "version")]
    pub tell_version: bool,
    /// Without a host: serve one test after another until interrupted
    #[arg(long, conflicts_with_all = ["host", "loopback"])]
    pub forever: bool,
    /// Measure loopback on this machine: both ends in this process
    #[arg(long, conflicts_with_all = ["host", "bind"])]
    pub loopback: bool,
    /// Atomic operation: FETCH_AND_ADD
    #[arg(short = 'A', long = "atomic_type", value_name = "TYPE", value_parser = parse_atomic)]
    pub atomic_type: Option<()>,
    /// Latency: print every result, in its order
    #[arg(short = 'U', long)]
    pub report_unsorted: bool,
    /// Latency: print every result, sorted, without the two slowest
    #[arg(short = 'H', long, alias = "report-histogrm")]
    pub report_histogram: bool,
    /// Bandwidth: print Gb/s instead of MiB/s
    #[arg(long = "report_gbits")]
    pub report_gbits: bool,
    /// Bandwidth: print no peak (0.00)
    #[arg(short = 'N', long = "noPeak")]
    pub no_peak: bool,
    /// Accepted for compatibility: results do not depend on the CPU frequency
    #[arg(short = 'F', long = "CPU-freq")]
    pub cpu_freq: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Also write perftest's JSON to perftest_out.json
    #[arg(long = "out_json")]
    pub out_json: bool,
    /// Also write perftest's JSON to this file
    #[arg(long = "out_json_file", value_name = "FILE")]
    pub out_json_file: Option<PathBuf>,
    #[command(flatten)]
    pub keep: RecordArguments,
}

/// Tests by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RdmaTestArgument {
    /// Latency of messages: half of a round trip
    SendLat,
    /// Bandwidth of messages
    SendBw,
    /// Latency of writes: half of a round trip
    WriteLat,
    /// Bandwidth of writes
    WriteBw,
    /// Latency of reads: the full time
    ReadLat,
    /// Bandwidth of reads
    ReadBw,
    /// Latency of atomic additions: the full time
    AtomicLat,
    /// Bandwidth of atomic additions
    AtomicBw,
}

impl RdmaTestArgument {
    pub const fn to_test(self) -> RdmaTest {
        match self {
            Self::SendLat => RdmaTest::SendLatency,
            Self::SendBw => RdmaTest::SendBandwidth,
            Self::WriteLat => RdmaTest::WriteLatency,
            Self::WriteBw => RdmaTest::WriteBandwidth,
            Self::ReadLat => RdmaTest::ReadLatency,
            Self::ReadBw => RdmaTest::ReadBandwidth,
            Self::AtomicLat => RdmaTest::AtomicLatency,
            Self::AtomicBw => RdmaTest::AtomicBandwidth,
        }
    }
}

impl RdmaArguments {
    /// Returns the device with its settings.
    pub fn to_device(&self) -> RdmaDevice {
        RdmaDevice {
            name: self.ib_dev.clone(),
            device_port: Some(self.ib_port),
            gid_index: self.gid_index,
            mtu_bytes: self.mtu,
            inline_bytes: self.inline_size,
            tuning: RdmaTuning {
                receives: self.rx_depth,
                service_level: self.sl,
                traffic_class: self.tclass,
                timeout: self.qp_timeout,
                reads: self.outs,
            },
        }
    }

    /// Returns the path for perftest's JSON, if requested.
    pub fn perftest_json_path(&self) -> Option<&Path> {
        /// File name that perftest uses.
        const FILE: &str = "perftest_out.json";
        let usual = self.out_json.then(|| Path::new(FILE));
        self.out_json_file.as_deref().or(usual)
    }

    /// Returns the workload, measured with the far end.
    pub fn to_workload(&self) -> Result<RdmaWorkload, CommandFailure> {
        let test = self.test.to_test();
        let is_datagram = self.connection == RdmaConnection::Ud;
        self.check(test)?;
        let mut work = RdmaWorkload::perftest_default(test, self.host.clone());
        if is_datagram && test.is_bandwidth() {
            // The other tests' default exceeds a datagram; like perftest, use the path MTU.
            work.sizes = vec![u64::from(self.mtu.unwrap_or(PORTABLE_DATAGRAM_BYTES))];
        }
        work.queue_pairs = self.qp;
        work.both = self.bidirectional;
        if let Some(bytes) = self.size {
            work.sizes = vec![bytes];
        }
        if self.all {
            let most = if is_datagram {
                u64::from(self.mtu.unwrap_or(PORTABLE_DATAGRAM_BYTES).min(MAX_DATAGRAM_BYTES))
            } else {
                u64::MAX
            };
            let sizes = ALL_SIZE_EXPONENTS.map(|power| 1 << power);
            work.sizes = sizes.filter(|bytes| *bytes <= most).collect();
        }
        work.port = self.host.is_some().then_some(self.port);
        work.iterations = self.iters.unwrap_or(work.iterations);
        work.depth = self.tx_depth.unwrap_or(work.depth);
        work.connection = self.connection;
        work.moderation = self.cq_mod;
        work.warms_up = self.perform_warm_up;
        // A quarter, as in perftest.
        work.duration = self.duration.map(|seconds| RdmaDuration {
            seconds,
            margin_s: self.margin.unwrap_or(seconds / 4),
        });
        work.device = self.to_device();
        Ok(work)
    }
}

/// Parses a size as perftest does: a number, optionally with K or M.
fn parse_size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M') => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(factor));
    let wanted =
        || format!("expected a number from 1 to {MAX_BYTES}, or one with K or M, like 64K");
    bytes.filter(|bytes| (1..=MAX_BYTES).contains(bytes)).ok_or_else(wanted)
}

fn parse_connection(text: &str) -> Result<RdmaConnection, String> {
    match text.to_uppercase().as_str() {
        "RC" => Ok(RdmaConnection::Rc),
        "UD" => Ok(RdmaConnection::Ud),
        "UC" => Err("UC is not supported: the sender does not notice losses; \
                     use RC, which is reliable, or UD, whose losses are counted"
            .to_owned()),
        "XRC" | "DC" | "SRD" | "RAWETH" => {
            Err("only some devices support it; use RC or UD".to_owned())
        }
        _ => Err("expected RC or UD".to_owned()),
    }
}

fn parse_atomic(text: &str) -> Result<(), String> {
    match text {
        "FETCH_AND_ADD" => Ok(()),
        "CMP_AND_SWAP" => {
            Err("only additions are supported: their sum shows whether any was lost; \
                               use FETCH_AND_ADD, perftest's default"
                .to_owned())
        }
        _ => Err("expected FETCH_AND_ADD".to_owned()),
    }
}

fn parse_mtu(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(bytes @ (256 | 512 | 1024 | 2048 | 4096)) => Ok(bytes),
        _ => Err("expected 256, 512, 1024, 2048 or 4096".to_owned()),
    }
}
