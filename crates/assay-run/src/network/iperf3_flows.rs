//! Common parts of iperf3's client and server: streams according to the parameters, and the reports
//! on them before and after a test. Neither connects nor listens.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use assay_dialects::iperf3::{DataConnection, DiskFile, Iperf3Start};
use assay_dialects::wire::iperf3::parameters::{DataDirection, TestLimit};
use assay_dialects::wire::iperf3::{Iperf3Parameters, Iperf3Results, TransportProtocol};
use assay_kernels::network::pace::SendRate;
use assay_kernels::network::socket::{self, SocketOptions};
use assay_kernels::network::stream::CopyMode;
use assay_kernels::network::transfer::{DatagramFormat, Flow, Socket};
use assay_kernels::pin;
use assay_model::failure::FailureReason;

use super::error::NetworkError;
use super::meter::{MeterTotals, MeteredStream};

/// Detects a transfer without progress.
pub(super) struct IdleTimer {
    timeout: Duration,
    moved_bytes: u64,
    since_ns: u64,
    clock: fn() -> u64,
}

impl IdleTimer {
    /// Starts now, by this clock in nanoseconds.
    pub(super) fn new(timeout: Duration, clock: fn() -> u64) -> Self {
        Self { timeout, moved_bytes: 0, since_ns: clock(), clock }
    }

    pub(super) fn is_expired(&mut self, moved_bytes: u64) -> bool {
        let now_ns = (self.clock)();
        if moved_bytes != self.moved_bytes {
            self.moved_bytes = moved_bytes;
            self.since_ns = now_ns;
        }
        now_ns.saturating_sub(self.since_ns) > self.timeout.as_nanos() as u64
    }

    /// Returns the error of a stalled transfer; a transfer that never moved any data has one of its
    /// own.
    pub(super) fn stalled_error(&self, peer: &str) -> NetworkError {
        NetworkError::Known(match self.moved_bytes {
            0 => FailureReason::NoData,
            _ => FailureReason::Stalled {
                peer: peer.to_owned(),
                seconds: self.timeout.as_secs_f64(),
            },
        })
    }
}

/// Number of bytes that ends the test, if one does.
pub(super) fn limit_bytes(parameters: &Iperf3Parameters) -> Option<u64> {
    match parameters.limit {
        TestLimit::Seconds(_) => None,
        TestLimit::Bytes(bytes) => Some(bytes),
        TestLimit::Blocks(blocks) => {
            Some(blocks.saturating_mul(u64::from(parameters.block_bytes)))
        }
    }
}

/// Socket options according to the parameters.
pub(super) fn socket_options(parameters: &Iperf3Parameters) -> SocketOptions {
    SocketOptions {
        local: None,
        busy_poll_us: None,
        no_delay: parameters.no_delay,
        window_bytes: parameters.window_bytes,
        segment_bytes: parameters
            .segment_bytes
            .filter(|_| parameters.protocol == TransportProtocol::Tcp),
        congestion: parameters.congestion.clone(),
        type_of_service: parameters.type_of_service,
        pacing_bytes_per_s: parameters.kernel_rate_bit_per_s.map(|rate| rate / 8),
        device: None,
        user_timeout_ms: None,
        keepalive: None,
        dont_fragment: parameters.dont_fragment,
        flow_label: None,
        multipath: parameters.multipath,
    }
}

/// Numbers of the datagrams and datagrams per call, according to the parameters.
pub(super) const fn datagram_format(parameters: &Iperf3Parameters) -> DatagramFormat {
    DatagramFormat { wide: parameters.wide_counters, batched: parameters.segmentation }
}

/// Stream according to the parameters.
pub(super) fn build_flow(
    parameters: &Iperf3Parameters,
    socket: Socket,
    sends: bool,
    file: Option<&Path>,
) -> Flow {
    let no_copy = if sends { parameters.zero_copy } else { parameters.skip_receive_copy };
    let pace = parameters.rate_bit_per_s.filter(|_| sends).map(|rate| SendRate {
        bytes_per_s: rate as f64 / 8.0,
        burst: parameters.burst.max(1),
    });
    Flow {
        socket,
        sends,
        block_bytes: parameters.block_bytes as usize,
        copying: if no_copy { CopyMode::NoCopy } else { CopyMode::Copy },
        pace,
        cpu: None,
        file: file.map(Path::to_owned),
    }
}

/// Assigns a CPU to every stream, round robin: senders from the first CPU on, receivers from the
/// last one down. On one machine, both ends of a stream then use different CPUs.
pub(super) fn pin_in_turn(flows: &mut [Flow]) {
    // Pins nothing if the system does not report the CPUs.
    let cpus = pin::allowed_cpus().unwrap_or_default();
    let mut counts = [0_usize; 2];
    for flow in flows {
        let count = &mut counts[usize::from(flow.sends)];
        let turn = *count % cpus.len().max(1);
        let at = if flow.sends { turn } else { cpus.len().saturating_sub(turn + 1) };
        flow.cpu = cpus.get(at).copied();
        *count += 1;
    }
}

pub(super) fn metered_stream(flow: &Flow) -> MeteredStream {
    let fd = match &flow.socket {
        Socket::Tcp(stream) => stream.as_raw_fd(),
        Socket::Udp { socket, .. } => socket.as_raw_fd(),
    };
    MeteredStream { socket: fd.unsigned_abs(), sends: flow.sends }
}

fn first_tcp(flows: &[Flow]) -> Option<&TcpStream> {
    match &flows.first()?.socket {
        Socket::Tcp(stream) => Some(stream),
        Socket::Udp { .. } => None,
    }
}

/// Active congestion control; `None` for UDP.
pub(super) fn active_congestion(flows: &[Flow]) -> Option<String> {
    socket::congestion(first_tcp(flows)?).ok()
}

/// Start report, when all streams are open.
pub(super) fn start_report(
    parameters: &Iperf3Parameters,
    flows: &[Flow],
    peer: (String, u16),
    cookie: &str,
    is_client: bool,
) -> Iperf3Start {
    let buffers_bytes = match flows.first().map(|flow| &flow.socket) {
        Some(Socket::Tcp(stream)) => socket::buffers_bytes(stream).unwrap_or_default(),
        Some(Socket::Udp { socket, .. }) => socket::buffers_bytes(socket).unwrap_or_default(),
        None => (0, 0),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Iperf3Start {
        connected: flows.iter().filter_map(connected_addresses).collect(),
        cookie: cookie.to_owned(),
        time_s: now.as_secs(),
        time_ms: now.subsec_millis(),
        version: version(),
        system: system(),
        segment_bytes: first_tcp(flows)
            .and_then(|it| socket::segment_bytes(it).ok())
            .unwrap_or(0),
        buffers_bytes,
        ..requested_start(parameters, peer, is_client)
    }
}

/// Part of the start report that is known before the connection.
fn requested_start(
    parameters: &Iperf3Parameters,
    (peer, port): (String, u16),
    is_client: bool,
) -> Iperf3Start {
    let (duration_s, bytes, blocks) = match parameters.limit {
        TestLimit::Seconds(seconds) => (seconds, 0, 0),
        TestLimit::Bytes(bytes) => (0, bytes, 0),
        TestLimit::Blocks(blocks) => (0, 0, blocks),
    };
    Iperf3Start {
        is_client,
        peer,
        port,
        udp: parameters.protocol == TransportProtocol::Udp,
        bidirectional: parameters.direction == DataDirection::Both,
        reverse: parameters.direction == DataDirection::Reverse,
        streams: parameters.streams,
        block_bytes: parameters.block_bytes,
        omit_s: parameters.omit_s,
        duration_s,
        bytes,
        blocks,
        type_of_service: parameters.type_of_service,
        segmentation: parameters.segmentation,
        target_bit_per_s: parameters.rate_bit_per_s.unwrap_or(0),
        kernel_bit_per_s: parameters.kernel_rate_bit_per_s.unwrap_or(0),
        window_bytes: parameters.window_bytes.unwrap_or(0),
        requested_segment_bytes: parameters.segment_bytes.unwrap_or(0),
        title: parameters.title.clone(),
        extra_data: parameters.extra_data.clone(),
        ..Iperf3Start::default()
    }
}

/// Emulated version of iperf3, with the version of assay.
pub fn version() -> String {
    format!("iperf 3.12 (assay {})", env!("CARGO_PKG_VERSION"))
}

/// System description in iperf3's form.
pub fn system() -> String {
    let read = |path: &str| fs_err::read_to_string(path).unwrap_or_default().trim().to_owned();
    let host = read("/proc/sys/kernel/hostname");
    let release = read("/proc/sys/kernel/osrelease");
    format!("Linux {host} {release} {}", std::env::consts::ARCH)
}

fn connected_addresses(flow: &Flow) -> Option<DataConnection> {
    let (local, remote) = match &flow.socket {
        Socket::Tcp(stream) => (stream.local_addr(), stream.peer_addr()),
        Socket::Udp { socket, .. } => (socket.local_addr(), socket.peer_addr()),
    };
    let plain =
        |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    Some(DataConnection {
        socket: metered_stream(flow).socket,
        local: plain(local.ok()?),
        remote: plain(remote.ok()?),
        sends: flow.sends,
    })
}

/// Returns a file of the streams with its size by now.
pub(super) fn disk_file(path: Option<&Path>) -> Option<DiskFile> {
    let path = path?;
    let bytes = fs_err::metadata(path).map_or(0, |metadata| metadata.len());
    Some(DiskFile { name: path.display().to_string(), bytes })
}

/// Results of this end as sent to the other one.
pub(super) fn local_results(measured: &MeterTotals, congestion: Option<&str>) -> Iperf3Results {
    let sends = measured.streams.iter().any(|lane| lane.stream.sends);
    let counts = measured.streams.iter().any(|lane| lane.whole.tcp.is_some());
    Iperf3Results {
        cpu: measured.process,
        sender_has_retransmits: if sends { i64::from(counts) } else { -1 },
        congestion: congestion.map(str::to_owned),
        streams: measured.streams.iter().map(|lane| lane.result).collect(),
        account: Some(measured.account),
        has_omitted: true,
        ..Iperf3Results::default()
    }
}
