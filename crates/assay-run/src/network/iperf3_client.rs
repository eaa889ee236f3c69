//! Client of iperf3's protocol: runs one test against any server that supports it.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_dialects::iperf3::{
    Iperf3End, Iperf3Interval, Iperf3Start, StreamInterval, StreamTotals, TcpNumbers,
    UdpNumbers,
};
use assay_dialects::wire::iperf3::parameters::{
    DataDirection, TestLimit, UDP_BLOCK_LIMIT, UDP_BLOCK_MINIMUM,
};
use assay_dialects::wire::iperf3::{
    Cookie, Iperf3Client, Iperf3ClientEvent, Iperf3Parameters, Iperf3Results,
    TransportProtocol, datagram,
};
use assay_kernels::clock;
use assay_kernels::network::socket::{self, SocketOptions};
use assay_kernels::network::transfer::{DATAGRAMS_PER_CALL, Flow, Socket};
use assay_model::cpu_account::CpuAccount;
use assay_model::failure::FailureReason;

use super::control::{ControlConnection, REPLY_TIMEOUT, StepDeadline};
use super::error::NetworkError;
use super::iperf3_flows::{self, IdleTimer, datagram_format};
use super::iperf3_login::Credentials;
use super::meter::{IntervalPlan, Meter, MeterTotals, MeteredStream, MeteredStreamTotals};
use super::plausibility::{self, BrokenLaw, OwnStream};
use super::target::NetworkTarget;

/// Parameters of a test.
#[derive(Debug, Clone)]
pub struct Iperf3ClientTest {
    pub target: NetworkTarget,
    pub parameters: Iperf3Parameters,
    /// Seconds between reports; `None` for none.
    pub interval_s: Option<f64>,
    /// Whether each stream is pinned to one CPU, round robin.
    pub pinned: bool,
    /// Time without data after which a receiver gives up.
    pub idle_timeout: Duration,
    /// Credentials for a server with authentication.
    pub credentials: Option<Credentials>,
    /// File whose contents the streams send, or to which they write received data.
    pub file: Option<PathBuf>,
    /// Whether the server runs in this process.
    pub serves_itself: bool,
}

/// Event during a test.
#[derive(Debug)]
pub enum Iperf3Event<'a> {
    /// The server has accepted the parameters and waits for the streams: hosts with a common start
    /// synchronise here.
    Agreed,
    /// Parameters or results, sent or received, under iperf3's name for them.
    Message(&'static str, &'a [u8]),
    Start(&'a Iperf3Start),
    Interval(&'a Iperf3Interval),
}

/// Result of a test.
#[derive(Debug)]
pub struct Iperf3Outcome {
    pub end: Iperf3End,
    /// CPU time of this end.
    pub local_account: CpuAccount,
    /// CPU time of the other end, if it is assay.
    pub remote_account: Option<CpuAccount>,
    /// Address of the other end.
    pub address: SocketAddr,
}

/// Block size for datagrams that fill one segment of the path, iperf3's default.
pub const DATAGRAM_OF_ONE_SEGMENT: u32 = 0;

fn one_segment_bytes(control: &TcpStream) -> u32 {
    /// Segment of Ethernet without options; used if the system reports none.
    const ETHERNET: u32 = 1460;
    let reported =
        socket::segment_bytes(control).ok().filter(|bytes| *bytes >= UDP_BLOCK_MINIMUM);
    reported.unwrap_or(ETHERNET).min(UDP_BLOCK_LIMIT)
}

/// Timeout of the reply to a UDP stream's hello.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// Time in which the other end reads its kernel's buffer, unless it is overloaded.
const SETTLE_TIME: Duration = Duration::from_millis(10);
/// Longest sleep between two checks of an unlimited test; long enough to cost nothing.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Longest sleep if a limit of bytes ends the test, which must be detected soon.
const LIMITED_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Runs the test. The observer keeps the intervals before a failure.
pub fn run(
    test: &Iperf3ClientTest,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Iperf3Event<'_>),
) -> Result<Iperf3Outcome, NetworkError> {
    let (stream, address) = test.target.connect(cancel)?;
    let peer = format!("{}:{}", test.target.host, test.target.port);
    let mut test = test.clone();
    if test.parameters.block_bytes == DATAGRAM_OF_ONE_SEGMENT {
        test.parameters.block_bytes = one_segment_bytes(&stream);
    }
    let mut conversation = Iperf3Session {
        test: &test,
        cancel,
        address,
        client: Iperf3Client::new(Cookie::from_random(random_bytes())),
        control: ControlConnection::new(stream, peer)?,
    };
    let outcome = conversation.run(observe).map_err(|it| it.unless_interrupted(cancel));
    if matches!(outcome, Err(NetworkError::Interrupted)) {
        // Releases the server from waiting for this client; the server may be gone itself.
        drop(conversation.control.send(&Iperf3Client::terminate_message()));
    }
    outcome
}

struct Iperf3Session<'a> {
    test: &'a Iperf3ClientTest,
    cancel: &'a AtomicBool,
    address: SocketAddr,
    client: Iperf3Client,
    control: ControlConnection,
}

impl Iperf3Session<'_> {
    fn run(
        &mut self,
        observe: &mut dyn FnMut(Iperf3Event<'_>),
    ) -> Result<Iperf3Outcome, NetworkError> {
        self.control.send(&self.client.cookie().0.clone())?;
        self.expect(&Iperf3ClientEvent::SendParameters)?;
        let parameters = self.parameters()?;
        observe(Iperf3Event::Message("send_parameters", &parameters.to_json()));
        self.control.send(&Iperf3Client::parameters_message(&parameters))?;
        self.expect(&Iperf3ClientEvent::OpenStreams)?;
        observe(Iperf3Event::Agreed);
        let flows = self.open_streams()?;
        let lanes: Vec<MeteredStream> =
            flows.iter().map(iperf3_flows::metered_stream).collect();
        let congestion = iperf3_flows::active_congestion(&flows);
        observe(Iperf3Event::Start(&self.start_report(&flows)));
        self.expect(&Iperf3ClientEvent::Start)?;
        self.expect(&Iperf3ClientEvent::Run)?;
        let measured = self.transfer(flows, lanes, observe)?;
        self.expect(&Iperf3ClientEvent::SendResults)?;
        let ours = iperf3_flows::local_results(&measured, congestion.as_deref());
        observe(Iperf3Event::Message("send_results", &ours.to_json()));
        self.control.send(&Iperf3Client::results_message(&ours))?;
        let theirs = match self.next_event()? {
            Iperf3ClientEvent::Results(results) => *results,
            _ => unexpected_event(&self.control.peer)?,
        };
        observe(Iperf3Event::Message("get_results", &theirs.to_json()));
        self.expect(&Iperf3ClientEvent::Finished)?;
        // All results are exchanged; a failure to send the end message is harmless.
        drop(self.control.send(&Iperf3Client::done_message()));
        self.combine_results(measured, &theirs, congestion)
    }

    /// Parameters of the test, with the login token.
    fn parameters(&self) -> Result<Iperf3Parameters, NetworkError> {
        let token = self.test.credentials.as_ref().map(Credentials::token).transpose();
        let token = token.map_err(|source| NetworkError::NoLogin {
            peer: self.control.peer.clone(),
            source,
        })?;
        Ok(Iperf3Parameters { token, ..self.test.parameters.clone() })
    }

    fn next_event(&mut self) -> Result<Iperf3ClientEvent, NetworkError> {
        let step = StepDeadline::new(REPLY_TIMEOUT);
        loop {
            let event =
                self.client.next_event().map_err(|source| self.protocol_error(source))?;
            if let Some(event) = event {
                return Ok(event);
            }
            let cancel = self.cancel;
            let expected = self.client.expected();
            let is_cancelled = || cancel.load(Ordering::Relaxed);
            match self.control.receive(&step, expected, &is_cancelled) {
                Ok(bytes) => self.client.receive(&bytes),
                Err(error) => return Err(self.connection_error(error)),
            }
        }
    }

    /// Receives the next event. The state machine permits only one order, so that any other event
    /// is a protocol error.
    fn expect(&mut self, event: &Iperf3ClientEvent) -> Result<(), NetworkError> {
        match self.next_event()? {
            got if got == *event => Ok(()),
            _ => unexpected_event(&self.control.peer),
        }
    }

    /// Interprets the end of the connection.
    fn connection_error(&self, error: NetworkError) -> NetworkError {
        // iperf3 3.21 closes the connection without a message if it rejects a user.
        let asked = self.client.is_awaiting_acceptance() && self.test.credentials.is_some();
        match (self.client.closing_error(), error) {
            (Some(source), _) => self.protocol_error(source),
            (None, NetworkError::Closed { peer, .. }) if asked => {
                NetworkError::ClosedAfterLogin { peer }
            }
            (None, error) => error,
        }
    }

    fn protocol_error(
        &self,
        source: assay_dialects::wire::iperf3::Iperf3ProtocolError,
    ) -> NetworkError {
        NetworkError::Iperf3 { peer: self.control.peer.clone(), source }
    }

    fn open_streams(&self) -> Result<Vec<Flow>, NetworkError> {
        let parameters = &self.test.parameters;
        let directions: &[bool] = match parameters.direction {
            DataDirection::Forward => &[true],
            DataDirection::Reverse => &[false],
            DataDirection::Both => &[true, false],
        };
        let mut flows = Vec::new();
        for sends in directions {
            for _ in 0..parameters.streams {
                let local_port_offset = flows.len() as u16;
                let socket = self.open_stream(local_port_offset).map_err(|source| {
                    NetworkError::stream_not_opened(&self.control.peer, source)
                })?;
                let file = self.test.file.as_deref();
                flows.push(iperf3_flows::build_flow(parameters, socket, *sends, file));
            }
        }
        if self.test.pinned {
            iperf3_flows::pin_in_turn(&mut flows);
        }
        Ok(flows)
    }

    fn open_stream(&self, local_port_offset: u16) -> io::Result<Socket> {
        let endpoint = &self.test.target.endpoint;
        let mut options = SocketOptions {
            device: endpoint.device.clone(),
            user_timeout_ms: endpoint.user_timeout_ms,
            flow_label: self.test.parameters.flow_label,
            ..iperf3_flows::socket_options(&self.test.parameters)
        };
        options.local = self.test.target.local.map(|mut local| {
            if local.port() != 0 {
                local.set_port(local.port().wrapping_add(local_port_offset));
            }
            local
        });
        match self.test.parameters.protocol {
            TransportProtocol::Tcp => {
                let timeout = self.test.target.connect_timeout;
                let stream = socket::connect_tcp(self.address, &options, timeout, self.cancel)?;
                io::Write::write_all(&mut &stream, &self.client.cookie().0)?;
                Ok(Socket::Tcp(stream))
            }
            TransportProtocol::Udp => self.open_udp(&options),
        }
    }

    fn open_udp(&self, options: &SocketOptions) -> io::Result<Socket> {
        /// Interval of checks for an interruption.
        const POLL_INTERVAL: Duration = Duration::from_millis(50);
        let socket = socket::connect_udp(self.address, options)?;
        socket.send(&datagram::HELLO)?;
        let began = Instant::now();
        let mut answer = [0; 65536];
        // If the server sends, its first datagrams may overtake the reply.
        for _ in 0..3 {
            while !socket::wait_readable(&socket, POLL_INTERVAL) {
                if self.cancel.load(Ordering::Relaxed) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                if began.elapsed() > HELLO_TIMEOUT {
                    let seconds = HELLO_TIMEOUT.as_secs();
                    let text = format!("no reply to the first datagram within {seconds} s");
                    return Err(io::Error::new(io::ErrorKind::TimedOut, text));
                }
            }
            let bytes = socket.recv(&mut answer)?;
            if datagram::is_hello_reply(&answer[..bytes]) {
                return Ok(Socket::Udp {
                    socket,
                    format: datagram_format(&self.test.parameters),
                });
            }
        }
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the server did not reply to the hello of a UDP stream",
        ))
    }

    fn start_report(&self, flows: &[Flow]) -> Iperf3Start {
        let parameters = &self.test.parameters;
        let peer = (self.test.target.host.clone(), self.test.target.port);
        let cookie = self.client.cookie().text();
        Iperf3Start {
            interval_s: self.test.interval_s.unwrap_or(0.0),
            ..iperf3_flows::start_report(parameters, flows, peer, &cookie, true)
        }
    }

    fn transfer(
        &mut self,
        flows: Vec<Flow>,
        lanes: Vec<MeteredStream>,
        observe: &mut dyn FnMut(Iperf3Event<'_>),
    ) -> Result<MeterTotals, NetworkError> {
        let parameters = &self.test.parameters;
        let cut = IntervalPlan {
            udp: parameters.protocol == TransportProtocol::Udp,
            omit_s: f64::from(parameters.omit_s),
            interval_s: self.test.interval_s,
            limit_bytes: iperf3_flows::limit_bytes(parameters),
        };
        let mut meter = Meter::start(flows, lanes, cut)?;
        let mut report = |interval: &Iperf3Interval| observe(Iperf3Event::Interval(interval));
        let watched = self.wait_for_end(&mut meter, &mut report);
        // Reports the unfinished interval before a failure.
        let measured = meter.end(*watched.as_ref().unwrap_or(&None), &mut report);
        watched?;
        self.control.send(&Iperf3Client::end_message())?;
        Ok(measured)
    }

    /// Waits for the end of the test; returns its time, if it is known more exactly than "now".
    fn wait_for_end(
        &mut self,
        meter: &mut Meter,
        report: &mut dyn FnMut(&Iperf3Interval),
    ) -> Result<Option<u64>, NetworkError> {
        let limit_bytes = iperf3_flows::limit_bytes(&self.test.parameters);
        let sends = self.test.parameters.direction != DataDirection::Reverse;
        let mut idle = IdleTimer::new(self.test.idle_timeout, clock::now_ns);
        loop {
            meter.tick(report);
            let left_s = match self.test.parameters.limit {
                // Until it is interrupted.
                TestLimit::Seconds(0) => f64::INFINITY,
                TestLimit::Seconds(seconds) => f64::from(seconds) - meter.counted_s(),
                TestLimit::Bytes(_) | TestLimit::Blocks(_) => f64::INFINITY,
            };
            if left_s <= 0.0 {
                return Ok(None);
            }
            let sends_file = sends && self.test.file.is_some();
            if limit_bytes.is_some() || sends_file {
                let limit = limit_bytes.unwrap_or(u64::MAX);
                let ended_ns = meter.senders_ended_ns();
                if ended_ns.is_some() {
                    let unsent = meter.unacknowledged_bytes() > 0;
                    if !unsent || idle.is_expired(meter.unacknowledged_bytes()) {
                        // The other end may still have to read its kernel's buffer.
                        std::thread::sleep(SETTLE_TIME);
                        return Ok(ended_ns);
                    }
                } else if !sends && meter.received_bytes() >= limit {
                    return Ok(None);
                }
            }
            // With a limit, finished senders do not indicate a lost peer.
            if meter.is_over() && !sends_file && (limit_bytes.is_none() || !sends) {
                return Err(self.closed_error());
            }
            if idle.is_expired(meter.moved_bytes()) {
                return Err(idle.stalled_error(&self.control.peer));
            }
            if self.cancel.load(Ordering::Relaxed) {
                return Err(NetworkError::Interrupted);
            }
            self.poll_server(meter, left_s, limit_bytes.is_some())?;
        }
    }

    /// Sleeps until the next event is due, and handles a server that gives up.
    fn poll_server(
        &mut self,
        meter: &Meter,
        left_s: f64,
        is_limited: bool,
    ) -> Result<(), NetworkError> {
        let due_ns = meter.due_ns().saturating_sub(clock::now_ns());
        let left = Duration::try_from_secs_f64(left_s).unwrap_or(POLL_INTERVAL);
        let longest = if is_limited { LIMITED_POLL_INTERVAL } else { POLL_INTERVAL };
        let wait = longest.min(left).min(Duration::from_nanos(due_ns));
        if let Some(bytes) = self.control.poll(wait, usize::MAX, "the end of the test")? {
            self.client.receive(&bytes);
            // During the test, a server sends only the message that it gives up.
            let event =
                self.client.next_event().map_err(|source| self.protocol_error(source))?;
            if event.is_some() {
                return unexpected_event(&self.control.peer);
            }
        }
        // A poll for less than a millisecond returns at once.
        if wait < Duration::from_millis(1) {
            std::thread::sleep(wait);
        }
        Ok(())
    }

    fn closed_error(&self) -> NetworkError {
        let expected = "the end of the test".to_owned();
        NetworkError::Closed { peer: self.control.peer.clone(), expected }
    }

    fn combine_results(
        &self,
        measured: MeterTotals,
        theirs: &Iperf3Results,
        congestion: Option<String>,
    ) -> Result<Iperf3Outcome, NetworkError> {
        let streams: Vec<StreamTotals> =
            measured.streams.iter().map(|lane| stream_end(lane, theirs)).collect();
        let cpu =
            |cpu: assay_dialects::wire::iperf3::CpuPercent| (cpu.total, cpu.user, cpu.system);
        let ours_first = self.test.parameters.direction != DataDirection::Reverse;
        let congestion = match ours_first {
            true => (congestion, theirs.congestion.clone()),
            false => (theirs.congestion.clone(), congestion),
        };
        let mut end = Iperf3End {
            streams,
            cpu_here: cpu(measured.process),
            cpu_there: cpu(theirs.cpu),
            congestion,
            server_output_text: theirs.server_output_text.clone(),
            server_output_json: theirs.server_output_json.clone(),
            file: None,
            concurrent: theirs.concurrent,
        };
        let account_here = measured.account;
        let checked = self.check_results(&measured, theirs);
        measured.join()?;
        end.file = iperf3_flows::disk_file(self.test.file.as_deref());
        let moved = [true, false]
            .iter()
            .any(|sends| end.sum_received(*sends).is_some_and(|sum| sum.bytes > 0));
        if !moved {
            return Err(NetworkError::Known(FailureReason::NoData));
        }
        checked.map_err(|source| NetworkError::Implausible {
            peer: self.control.peer.clone(),
            source,
        })?;
        let address = self.address;
        Ok(Iperf3Outcome {
            end,
            local_account: account_here,
            remote_account: theirs.account,
            address,
        })
    }
}

impl Iperf3Session<'_> {
    /// Checks the server's figures against this end's.
    fn check_results(
        &self,
        measured: &MeterTotals,
        theirs: &Iperf3Results,
    ) -> Result<(), BrokenLaw> {
        let counters = measured.counters();
        let parameters = &self.test.parameters;
        let blocks = if parameters.segmentation { DATAGRAMS_PER_CALL as u64 } else { 1 };
        let block_bytes = u64::from(parameters.block_bytes);
        for (ours, counted) in measured.streams.iter().zip(&counters) {
            let Some(it) = theirs.streams.iter().find(|it| it.id == ours.result.id) else {
                continue;
            };
            let own = OwnStream {
                sends: ours.stream.sends,
                udp: ours.whole.udp.is_some(),
                bytes: ours.whole.bytes,
                call_bytes: block_bytes,
                // A call that still runs has delivered a part of its blocks.
                moved_bytes: counted.bytes + blocks * block_bytes,
                moved_packets: counted.packets + blocks,
                seconds: ours.whole.end_s,
                omits: self.test.parameters.omit_s > 0,
                serves_itself: self.test.serves_itself,
            };
            plausibility::check_stream(&own, it)?;
        }
        let (streams, longest_s) = (
            measured.streams.len(),
            measured.streams.iter().map(|it| it.whole.end_s).fold(0.0, f64::max),
        );
        match &theirs.account {
            // Such a server serves others at the same time, with the same process.
            Some(account) => {
                let measured_s = (!self.test.serves_itself).then_some(longest_s);
                plausibility::check_account(account, streams, measured_s)
            }
            None => plausibility::check_process(theirs.cpu, streams, longest_s),
        }
    }
}

/// Error for an event that violates the order of the protocol; the state machines exclude it.
fn unexpected_event<T>(peer: &str) -> Result<T, NetworkError> {
    let expected = "the next step of the protocol".to_owned();
    Err(NetworkError::Closed { peer: peer.to_owned(), expected })
}

/// Combines both ends' results of one stream.
fn stream_end(ours: &MeteredStreamTotals, theirs: &Iperf3Results) -> StreamTotals {
    let lane = ours.stream;
    let result = theirs.streams.iter().find(|stream| stream.id == ours.result.id);
    let sender_there = result.and_then(|it| it.tcp).filter(|_| !lane.sends);
    let there = result.map(|it| StreamInterval {
        start_s: 0.0,
        // A server that reports no time is assumed to have measured as long as this end.
        end_s: if it.end_s > it.start_s { it.end_s - it.start_s } else { ours.whole.end_s },
        bytes: it.bytes,
        tcp: it.retransmits.filter(|_| ours.whole.udp.is_none()).map(|retransmits| {
            TcpNumbers {
                retransmits,
                reordered: sender_there.map_or(0, |tcp| tcp.reordered),
                ..TcpNumbers::default()
            }
        }),
        udp: ours.whole.udp.map(|_| UdpNumbers {
            // Up to 3.13 a receiver does not report the packets of the omitted time; the sender
            // counted them.
            packets: match theirs.has_omitted {
                true => it.packets - it.omitted_packets,
                false => it.packets - ours.result.omitted_packets,
            },
            lost: it.errors - it.omitted_errors,
            out_of_order: it.out_of_order,
            jitter_s: it.jitter_s,
        }),
        ..ours.whole
    });
    let (sent, received) =
        if lane.sends { (Some(ours.whole), there) } else { (there, Some(ours.whole)) };
    let (rtt_us, windows_bytes) = match sender_there {
        Some(tcp) => (Some(tcp.rtt_us), tcp.windows_bytes),
        None if lane.sends => (ours.rtt_us, ours.windows_bytes),
        None => (None, (0, 0)),
    };
    StreamTotals {
        socket: lane.socket,
        sends: lane.sends,
        sent,
        received,
        rtt_us,
        windows_bytes,
    }
}

/// Random bytes; a cookie only has to differ from those of other tests.
fn random_bytes<const N: usize>() -> [u8; N] {
    use std::hash::{BuildHasher, Hasher, RandomState};
    std::array::from_fn(|_| RandomState::new().build_hasher().finish() as u8)
}
