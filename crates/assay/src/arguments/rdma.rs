//! What may be typed after `rdma`: perftest's own options.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use assay_model::benchmark::RdmaTest;
use assay_model::workload::{
    DATAGRAM_BYTES, DATAGRAM_BYTES_ANYWHERE, RdmaConnection, RdmaDevice, RdmaWorkload,
};
use assay_run::failure::Failure;
use assay_run::rdma::{MOST_BYTES, PORT};
use clap::{Args, ValueEnum};

use assay_console::options::KeepArguments;

/// perftest's `-a`: 2¹ … 2²³ bytes.
const ALL_SIZES: std::ops::RangeInclusive<u32> = 1..=23;

#[derive(Debug, Args)]
pub(crate) struct RdmaArguments {
    /// What to measure; names are those of perftest's programs after ib_
    #[arg(value_enum, value_name = "TEST")]
    pub(crate) test: TestName,
    /// The host that runs the same command without a host; without one, wait for the other end
    #[arg(value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// All sizes from 2 B to 8 MiB
    #[arg(short, long, conflicts_with = "size")]
    pub(crate) all: bool,
    /// Size of a message in bytes [default: 2 for latency, 65536 for bandwidth]
    #[arg(short, long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..=MOST_BYTES))]
    pub(crate) size: Option<u64>,
    /// Number of messages of each size [default: 1000; write-bw: 5000]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(5..=100_000_000))]
    pub(crate) iters: Option<u64>,
    /// RDMA device, like mlx5_0 [default: one with an active link, InfiniBand first, then the fastest]
    #[arg(short = 'd', long, value_name = "DEVICE")]
    pub(crate) ib_dev: Option<String>,
    /// Port of the device
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub(crate) ib_port: u8,
    /// Index of the GID [default: a RoCE v2 address, of IPv4 if there is one]
    #[arg(short = 'x', long, value_name = "N", value_parser = clap::value_parser!(u32).range(..256))]
    pub(crate) gid_index: Option<u32>,
    /// Path MTU in bytes: 256, 512, 1024, 2048 or 4096 [default: the port's]
    #[arg(short, long, value_name = "BYTES", value_parser = mtu)]
    pub(crate) mtu: Option<u32>,
    /// Copy messages up to this size into the request, if the device can [default: send-lat 236, UD 188; write-lat 220]
    #[arg(short = 'I', long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(..=4096))]
    pub(crate) inline_size: Option<u32>,
    /// Bandwidth: requests in flight [default: 128]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=65_536))]
    pub(crate) tx_depth: Option<u64>,
    /// Bandwidth: connections side by side
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    pub(crate) qp: u32,
    /// Bandwidth: both ends send at the same time, and their rates are added
    #[arg(short, long)]
    pub(crate) bidirectional: bool,
    /// Kind of connection; UD for send-lat and send-bw
    #[arg(
        short,
        long,
        value_enum,
        ignore_case = true,
        value_name = "RC|UD",
        default_value = "rc"
    )]
    pub(crate) connection: ConnectionName,
    /// TCP port of the far end, for what both ends tell each other
    #[arg(short, long, default_value_t = PORT)]
    pub(crate) port: u16,
    /// Without a host: address to wait on [default: loopback, which no other host reaches]
    #[arg(short = 'B', long, value_name = "ADDRESS", conflicts_with = "host")]
    pub(crate) bind: Option<IpAddr>,
    /// Without a host: serve one test after another until interrupted
    #[arg(long, visible_alias = "run_infinitely", conflicts_with_all = ["host", "loopback"])]
    pub(crate) forever: bool,
    /// Measure this machine with itself: both ends in this process
    #[arg(long, conflicts_with_all = ["host", "bind"])]
    pub(crate) loopback: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Write perftest's JSON as well, into perftest_out.json
    #[arg(long = "out_json")]
    pub(crate) out_json: bool,
    /// Write perftest's JSON as well, into this file
    #[arg(long = "out_json_file", value_name = "FILE")]
    pub(crate) out_json_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) keep: KeepArguments,
}

/// The tests as they are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestName {
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConnectionName {
    /// Reliable, connected
    Rc,
    /// Datagrams
    Ud,
}

impl TestName {
    pub(crate) const fn test(self) -> RdmaTest {
        match self {
            Self::SendLat => RdmaTest::SendLatency,
            Self::SendBw => RdmaTest::SendBandwidth,
            Self::WriteLat => RdmaTest::WriteLatency,
            Self::WriteBw => RdmaTest::WriteBandwidth,
            Self::ReadLat => RdmaTest::ReadLatency,
            Self::ReadBw => RdmaTest::ReadBandwidth,
            Self::AtomicLat => RdmaTest::AtomicLatency,
        }
    }
}

impl RdmaArguments {
    /// Which device, and how it is used.
    pub(crate) fn device(&self) -> RdmaDevice {
        RdmaDevice {
            name: self.ib_dev.clone(),
            device_port: Some(self.ib_port),
            gid_index: self.gid_index,
            mtu_bytes: self.mtu,
            inline_bytes: self.inline_size,
        }
    }

    /// Where perftest's JSON goes, if anywhere.
    pub(crate) fn perftest_json(&self) -> Option<&Path> {
        /// perftest's own name for it.
        const FILE: &str = "perftest_out.json";
        let usual = self.out_json.then(|| Path::new(FILE));
        self.out_json_file.as_deref().or(usual)
    }

    /// What is measured with the far end.
    pub(crate) fn workload(&self) -> Result<RdmaWorkload, Failure> {
        let test = self.test.test();
        let is_datagram = self.connection == ConnectionName::Ud;
        let sends = matches!(test, RdmaTest::SendLatency | RdmaTest::SendBandwidth);
        if is_datagram && !sends {
            return Err(Failure::usage(
                "UD carries messages only, and drops what is not received",
            )
            .advise("`-c UD` goes with send-lat and send-bw; leave it out for the others"));
        }
        if is_datagram && self.bidirectional {
            return Err(Failure::usage("datagrams are counted where they arrive, one way")
                .advise("leave out -b or `-c UD`"));
        }
        if test == RdmaTest::AtomicLatency && (self.all || self.size.is_some_and(|it| it != 8))
        {
            return Err(
                Failure::usage("atomic operations have 8 bytes").advise("leave out -a and -s")
            );
        }
        let is_many = self.tx_depth.is_some() || self.qp > 1 || self.bidirectional;
        if is_many && !test.is_bandwidth() {
            return Err(Failure::usage("latency is measured one by one")
                .advise("-t, -q and -b go with the tests of bandwidth"));
        }
        let mut work = RdmaWorkload::usual(test, self.host.clone());
        if is_datagram && test.is_bandwidth() {
            // The default of the others does not fit a datagram; perftest takes the path MTU, too.
            work.sizes = vec![u64::from(self.mtu.unwrap_or(DATAGRAM_BYTES_ANYWHERE))];
        }
        work.queue_pairs = self.qp;
        work.both = self.bidirectional;
        if let Some(bytes) = self.size {
            work.sizes = vec![bytes];
        }
        if self.all {
            let most = if is_datagram {
                u64::from(self.mtu.unwrap_or(DATAGRAM_BYTES_ANYWHERE).min(DATAGRAM_BYTES))
            } else {
                u64::MAX
            };
            let sizes = ALL_SIZES.map(|power| 1 << power);
            work.sizes = sizes.filter(|bytes| *bytes <= most).collect();
        }
        work.port = self.host.is_some().then_some(self.port);
        work.iterations = self.iters.unwrap_or(work.iterations);
        work.depth = self.tx_depth.unwrap_or(work.depth);
        work.connection = if is_datagram { RdmaConnection::Ud } else { RdmaConnection::Rc };
        work.device = self.device();
        Ok(work)
    }
}

fn mtu(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(bytes @ (256 | 512 | 1024 | 2048 | 4096)) => Ok(bytes),
        _ => Err("it is one of 256, 512, 1024, 2048 and 4096".to_owned()),
    }
}
