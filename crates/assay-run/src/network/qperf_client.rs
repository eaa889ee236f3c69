//! Client of qperf's protocol: runs one test against qperf or assay.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_dialects::wire::qperf::{
    MachineTicks, MessageCounts, QperfClient, QperfClientEvent, QperfConfiguration,
    QperfRequest, QperfStatistics,
};
use assay_fleet::root::Root;
use assay_fleet::state;
use assay_kernels::clock;
use assay_kernels::network::pingpong::{
    self, PingPongLimits, PingPongSocket, RoundTrips, WaitMode,
};
use assay_kernels::network::socket::{self, SocketOptions};
use assay_kernels::network::stream::CopyMode;
use assay_kernels::network::transfer::{DatagramFormat, Flow, Snapshot, Socket, Transfer};
use assay_model::cpu_times::TICKS_PER_S;
use assay_model::failure::FailureReason;

use super::control::{ControlConnection, StepDeadline};
use super::error::NetworkError;
use super::plausibility::{self, BrokenLaw, OwnStream};
use super::target::NetworkTarget;
use crate::round_trips::RoundTripTimes;

mod connections;

pub use connections::{ConnectionsOutcome, run_connections};

/// Datagrams of bandwidth tests: numbered in assay's way, and sent one by one.
pub(super) const DATAGRAM_FORMAT: DatagramFormat =
    DatagramFormat { wide: true, batched: false };

/// Parameters of a test.
#[derive(Debug, Clone)]
pub struct QperfTest {
    pub target: NetworkTarget,
    pub request: QperfRequest,
    /// Longest wait for the far end; `request` has the one of the far end for this one.
    pub timeout: Duration,
    pub waiting: WaitMode,
    /// Messages per second at scheduled times; `None` sends each message after the previous reply.
    pub rate_per_s: Option<f64>,
    /// Microseconds for which a receive busy-polls the device; `None` for the system's setting.
    pub busy_poll_us: Option<u32>,
    /// Socket buffers of this end in bytes; `None` = those of the request.
    pub local_buffer_bytes: Option<u32>,
    /// Time for which a connection that is refused is tried again.
    pub wait_for_server: Duration,
}

/// CPU use of one host during a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QperfCpuUse {
    pub cpus: u32,
    pub ticks_per_s: u32,
    pub start: MachineTicks,
    pub end: MachineTicks,
}

/// Result of a test.
#[derive(Debug)]
pub enum QperfOutcome {
    Configuration(QperfConfiguration),
    Latency(Box<QperfLatency>),
    Bandwidth(Box<QperfBandwidth>),
}

impl QperfOutcome {
    /// Takes the error of the far end that made the result incomplete.
    pub fn take_error(&mut self) -> Option<NetworkError> {
        match self {
            Self::Bandwidth(it) => it.error.take(),
            Self::Configuration(_) | Self::Latency(_) => None,
        }
    }
}

/// Result of a ping-pong.
#[derive(Debug)]
pub struct QperfLatency {
    pub round_trips: RoundTrips,
    /// Mean half round trip in seconds. Without a rate it is qperf's figure: elapsed time over the
    /// messages received at both ends. With a rate there are pauses, and only the round trips
    /// count.
    pub mean_half_s: f64,
    pub address: SocketAddr,
    pub message_bytes: u32,
    /// Statistics of the far end; `None` after a cancelled test.
    pub remote: Option<QperfStatistics>,
    pub local: QperfCpuUse,
}

impl QperfLatency {
    /// Returns the counts of sent and of received messages; a round trip has one of each.
    pub(super) fn counts(&self) -> [MessageCounts; 2] {
        let counts = |messages: u64| MessageCounts {
            bytes: messages.saturating_mul(self.message_bytes.into()),
            messages,
            errors: 0,
        };
        let trips = self.round_trips.times_ns.len() as u64;
        [counts(trips + self.round_trips.lost), counts(trips)]
    }
}

/// Result of a TCP or UDP transfer from this host to the far end.
#[derive(Debug)]
pub struct QperfBandwidth {
    pub sent: Snapshot,
    pub elapsed_s: f64,
    /// Statistics of the far end; some servers send none when a test ends early.
    pub remote: Option<QperfStatistics>,
    /// Reason why statistics were expected and did not arrive.
    pub error: Option<NetworkError>,
    pub local: QperfCpuUse,
    pub message_bytes: u32,
}

impl QperfBandwidth {
    /// Returns the counts of sent messages; a stream has whole messages only.
    pub(super) fn sent_counts(&self) -> MessageCounts {
        let messages = self.sent.bytes / u64::from(self.message_bytes.max(1));
        MessageCounts { bytes: self.sent.bytes, messages, errors: 0 }
    }
}

/// Maximum number of stored round trips: 64 MiB of times.
const MAX_ROUND_TRIPS: usize = 8 << 20;
/// Time that the far end may take beyond its own timer.
const GRACE: Duration = Duration::from_secs(5);

/// Runs the test. A cancelled test returns the measurements so far, if there are any.
pub fn run(test: &QperfTest, cancel: &AtomicBool) -> Result<QperfOutcome, NetworkError> {
    let (stream, address) = connect(test, cancel)?;
    let peer = format!("{}:{}", test.target.host, test.target.port);
    let control = ControlConnection::new(stream, peer)?;
    let client = QperfClient::new(test.request);
    let outcome = QperfSession { test, cancel, address, client, control }.run();
    outcome.map_err(|it| it.unless_interrupted(cancel))
}

/// Connects to the server; waits until it accepts, as long as the test says.
fn connect(
    test: &QperfTest,
    cancel: &AtomicBool,
) -> Result<(std::net::TcpStream, SocketAddr), NetworkError> {
    const PAUSE: Duration = Duration::from_millis(100);
    let until_ns = clock::now_ns().saturating_add(test.wait_for_server.as_nanos() as u64);
    loop {
        match test.target.connect(cancel) {
            Err(NetworkError::Known(FailureReason::NotConnected { .. }))
                if clock::now_ns() < until_ns && !cancel.load(Ordering::Relaxed) =>
            {
                std::thread::sleep(PAUSE);
            }
            result => return result,
        }
    }
}

struct QperfSession<'a> {
    test: &'a QperfTest,
    cancel: &'a AtomicBool,
    address: SocketAddr,
    client: QperfClient,
    control: ControlConnection,
}

impl QperfSession<'_> {
    fn run(&mut self) -> Result<QperfOutcome, NetworkError> {
        self.control.send(&self.client.request_message())?;
        let port = match self.next_event("the port of the test")? {
            QperfClientEvent::Configuration(it) => return Ok(QperfOutcome::Configuration(it)),
            QperfClientEvent::Connect(port) => port,
            _ => return Err(self.closed_error()),
        };
        // Changes only the port: a link-local address also contains its device.
        let mut address = self.address;
        address.set_port(port);
        let data = self.open_data_socket(address)?;
        self.control.send(&QperfClient::sync_message())?;
        match self.next_event("the start of the test")? {
            QperfClientEvent::Run => {}
            _ => return Err(self.closed_error()),
        }
        if self.test.request.test.is_latency() {
            self.measure_latency(data)
        } else {
            self.measure_bandwidth(data)
        }
    }

    fn next_event(&mut self, expected: &str) -> Result<QperfClientEvent, NetworkError> {
        let timeout = self.test.timeout + GRACE;
        let step = StepDeadline::new(timeout);
        loop {
            // An out-of-band byte announces the text of a rejection.
            let refused = socket::has_urgent(self.control.stream());
            let cancel = self.cancel;
            if !refused
                && let Some(event) =
                    self.client.next_event().map_err(|it| self.protocol_error(it))?
            {
                return Ok(event);
            }
            let waited =
                self.control.receive(&step, expected, &|| cancel.load(Ordering::Relaxed));
            match waited {
                Ok(bytes) => self.client.receive(&bytes),
                Err(_) if refused => return Err(self.protocol_error(self.client.rejection())),
                Err(error) => return Err(error),
            }
        }
    }

    fn protocol_error(
        &self,
        source: assay_dialects::wire::qperf::QperfProtocolError,
    ) -> NetworkError {
        NetworkError::Qperf { peer: self.control.peer.clone(), source }
    }

    fn implausible_error(&self, source: BrokenLaw) -> NetworkError {
        NetworkError::Implausible { peer: self.control.peer.clone(), source }
    }

    fn closed_error(&self) -> NetworkError {
        let expected = "the next step of the protocol".to_owned();
        NetworkError::Closed { peer: self.control.peer.clone(), expected }
    }

    fn ended_early_error(&self) -> NetworkError {
        let expected = "the end of the test".to_owned();
        NetworkError::Closed { peer: self.control.peer.clone(), expected }
    }

    fn open_data_socket(&self, address: SocketAddr) -> Result<Socket, NetworkError> {
        let of_request = self.test.request.socket_buffer_bytes;
        let bytes = self.test.local_buffer_bytes.unwrap_or(of_request);
        let options = SocketOptions {
            local: self.test.target.local.map(|local| SocketAddr::new(local.ip(), 0)),
            window_bytes: (bytes > 0).then_some(bytes),
            // Disabled in qperf; Nagle's algorithm would delay a ping-pong of messages above one
            // segment.
            no_delay: self.test.request.test.is_latency(),
            busy_poll_us: self.test.busy_poll_us,
            ..SocketOptions::default()
        };
        let opened = if self.test.request.test.is_udp() {
            socket::connect_udp(address, &options)
                .map(|socket| Socket::Udp { socket, format: DATAGRAM_FORMAT })
        } else {
            let timeout = self.test.target.connect_timeout;
            socket::connect_tcp(address, &options, timeout, self.cancel).map(Socket::Tcp)
        };
        opened.map_err(|source| NetworkError::stream_not_opened(&self.control.peer, source))
    }

    fn measure_latency(&mut self, data: Socket) -> Result<QperfOutcome, NetworkError> {
        let line = match data {
            Socket::Tcp(stream) => PingPongSocket::Tcp(stream),
            Socket::Udp { socket, .. } => PingPongSocket::Udp(socket),
        };
        let request = self.test.request;
        let until = PingPongLimits {
            deadline_ns: clock::now_ns() + u64::from(request.time_s) * 1_000_000_000,
            round_trips: MAX_ROUND_TRIPS,
            cancel: self.cancel,
        };
        let bytes = request.message_bytes as usize;
        let start = host_times();
        let measured = match self.test.rate_per_s {
            Some(rate) => pingpong::ping_at_rate(&line, bytes, rate, until),
            None => pingpong::ping(&line, bytes, self.test.waiting, until),
        };
        let measured = measured.map_err(|source| NetworkError::PingPong {
            peer: self.control.peer.clone(),
            source,
        })?;
        let end = host_times();
        let trips = measured.times_ns.len() as u64;
        let mut remote = None;
        let messages = match self.cancel.load(Ordering::Relaxed) {
            true if trips == 0 => return Err(NetworkError::Interrupted),
            // Each round trip has two messages; the far end's count is not awaited.
            true => 2 * trips,
            false => {
                let there = self.statistics()?;
                let answered = trips.saturating_sub(measured.overdue);
                // The last message may have no reply.
                let sent = trips + measured.lost + 1;
                plausibility::check_echoes(&there, answered, sent, request.test.is_udp())
                    .map_err(|source| self.implausible_error(source))?;
                remote = Some(there);
                trips.saturating_add(there.received.messages)
            }
        };
        if measured.times_ns.is_empty() || messages == 0 {
            return Err(NetworkError::Known(FailureReason::NoData));
        }
        let mean_half_s = match self.test.rate_per_s {
            Some(_) => RoundTripTimes::new(&measured.times_ns).mean_ns() * 1e-9 / 2.0,
            None => measured.total_ns as f64 * 1e-9 / messages as f64,
        };
        Ok(QperfOutcome::Latency(Box::new(QperfLatency {
            round_trips: measured,
            mean_half_s,
            address: self.address,
            message_bytes: request.message_bytes,
            remote,
            local: QperfCpuUse { cpus: cpu_count(), ticks_per_s: TICKS_PER_S, start, end },
        })))
    }

    fn measure_bandwidth(&mut self, socket: Socket) -> Result<QperfOutcome, NetworkError> {
        let request = self.test.request;
        let flow = Flow {
            socket,
            sends: true,
            block_bytes: (request.message_bytes as usize).max(1),
            copying: CopyMode::Copy,
            pace: None,
            cpu: None,
            file: None,
        };
        let (start_ns, start) = (clock::now_ns(), host_times());
        let transfer = Transfer::start(vec![flow], None)
            .map_err(|source| NetworkError::Start { source })?;
        let end_ns = start_ns + u64::from(request.time_s) * 1_000_000_000;
        while clock::now_ns() < end_ns && !self.cancel.load(Ordering::Relaxed) {
            if self.control.is_closed() {
                transfer.finish();
                return Err(self.ended_early_error());
            }
            let left = Duration::from_nanos(end_ns.saturating_sub(clock::now_ns()));
            std::thread::sleep(left.min(Duration::from_millis(20)));
        }
        let sent = transfer.snapshots().first().copied().unwrap_or_default();
        let mut elapsed_s = clock::seconds_between(start_ns, clock::now_ns());
        let end = host_times();
        let last = transfer.finish();
        // Keeps the sent bytes if the far end hangs or is gone, or the test is cancelled.
        let (there, lost) = match self.cancel.load(Ordering::Relaxed) {
            false => match self.statistics() {
                Ok(told) => (Some(told), None),
                Err(NetworkError::Interrupted) => (None, None),
                Err(error) => (None, Some(error)),
            },
            true => (self.late_statistics(), None),
        };
        if there.is_some() && self.cancel.load(Ordering::Relaxed) {
            // The far end has received everything, including data in flight.
            elapsed_s = clock::seconds_between(start_ns, clock::now_ns());
        }
        if let Some(there) = &there {
            let last = last.first().map(|it| it.last).unwrap_or_default();
            let own = OwnStream {
                sends: true,
                udp: request.test.is_udp(),
                bytes: sent.bytes,
                call_bytes: 0,
                moved_bytes: last.bytes,
                moved_packets: last.packets,
                seconds: elapsed_s,
                omits: false,
                serves_itself: false,
            };
            plausibility::check_received(there, &own)
                .map_err(|source| self.implausible_error(source))?;
        }
        let here = QperfCpuUse { cpus: cpu_count(), ticks_per_s: TICKS_PER_S, start, end };
        if there.as_ref().map_or(sent.bytes, |it| it.received.bytes) == 0 {
            return Err(lost.unwrap_or(NetworkError::Known(FailureReason::NoData)));
        }
        let found = QperfBandwidth {
            sent,
            elapsed_s,
            remote: there,
            error: lost,
            local: here,
            message_bytes: request.message_bytes,
        };
        Ok(QperfOutcome::Bandwidth(Box::new(found)))
    }

    /// Waits briefly for the far end's statistics after a cancelled test.
    fn late_statistics(&mut self) -> Option<QperfStatistics> {
        const LONGEST: Duration = Duration::from_millis(500);
        let step = StepDeadline::new(LONGEST);
        loop {
            if let Some(QperfClientEvent::Statistics(statistics)) =
                self.client.next_event().ok()?
            {
                return Some(*statistics);
            }
            let bytes =
                self.control.receive(&step, "the server's statistics", &|| false).ok()?;
            self.client.receive(&bytes);
        }
    }

    fn statistics(&mut self) -> Result<QperfStatistics, NetworkError> {
        match self.next_event("the server's statistics")? {
            QperfClientEvent::Statistics(statistics) => {
                // The server closes the connection in either case.
                drop(self.control.send(&QperfClient::closing_message()));
                Ok(*statistics)
            }
            _ => Err(self.closed_error()),
        }
    }
}

/// Clock and CPU times of the host, in ticks.
pub(super) fn host_times() -> MachineTicks {
    let real = clock::now_ns() / (1_000_000_000 / u64::from(TICKS_PER_S));
    MachineTicks { real, cpu: state::cpu_times(&Root::machine()).sum_cpus() }
}

pub(super) fn cpu_count() -> u32 {
    state::cpu_times(&Root::machine()).cpus.len() as u32
}
