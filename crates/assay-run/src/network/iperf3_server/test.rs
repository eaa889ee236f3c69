//! Execution of one test by the server, from its parameters to the exchange of results.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{MutexGuard, TryLockError, mpsc};
use std::time::{Duration, Instant};

use assay_dialects::iperf3::{Iperf3End, Iperf3Interval, Iperf3Start, StreamTotals};
use assay_dialects::wire::iperf3::parameters::{DataDirection, TIME_LIMIT_S, TestLimit};
use assay_dialects::wire::iperf3::{
    ControlState, Cookie, Iperf3Parameters, Iperf3ProtocolError, Iperf3Server,
    Iperf3ServerEvent, NOT_AUTHORIZED, TransportProtocol, datagram,
};
use assay_kernels::clock;
use assay_kernels::network::socket::{self, SocketOptions};
use assay_kernels::network::transfer::{Flow, Socket};
use assay_kernels::pin;
use assay_model::poisoned_lock::PoisonedLock as _;

use super::super::admission::{Admission, POLL_INTERVAL};
use super::super::control::{ControlConnection, REPLY_TIMEOUT, StepDeadline};
use super::super::error::NetworkError;
use super::super::iperf3_flows::{self, IdleTimer, datagram_format};
use super::super::iperf3_limits::{ExceededLimit, RateWatch};
use super::super::iperf3_login::LoginRefusal;
use super::super::meter::{
    IntervalPlan, Meter, MeterTotals, MeteredStream, MeteredStreamTotals,
};
use super::server_output::ServerOutput;
use super::{
    AssignedStream, Iperf3ServerReport, Iperf3ServerState, Iperf3TestReport, protocol_error,
};

/// Timeout of the streams of a test.
const STREAMS_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of each UDP stream while other clients may wait for their turn.
const SHARED_HELLO_TIMEOUT: Duration = Duration::from_secs(2);
/// Time that a server permits beyond the length of a test, as iperf3 does.
const GRACE: Duration = Duration::from_secs(40);
/// Error number of iperf3 for parameters that the server cannot accept.
const IPERF3_CANNOT_RECEIVE_PARAMETERS: i32 = 114;
/// Error number of iperf3 for a CPU that the server cannot use.
const IPERF3_CANNOT_RESTRICT: i32 = 132;

pub(super) struct Iperf3ServerTest<'s, 'a> {
    shared: &'s Iperf3ServerState<'a>,
    pub(super) control: ControlConnection,
    server: Iperf3Server,
    /// Number of the test, from 1.
    number: u64,
    cookie: Cookie,
    streams: mpsc::Receiver<AssignedStream<'a>>,
    /// Places of the TCP streams among the connections.
    places: Vec<Admission<'a>>,
    /// Whether its start was reported.
    pub(super) has_started: bool,
}

impl<'s, 'a> Iperf3ServerTest<'s, 'a> {
    pub(super) fn new(
        shared: &'s Iperf3ServerState<'a>,
        (control, server): (ControlConnection, Iperf3Server),
        (number, cookie): (u64, Cookie),
        streams: mpsc::Receiver<AssignedStream<'a>>,
    ) -> Self {
        let (places, has_started) = (Vec::new(), false);
        Self { shared, control, server, number, cookie, streams, places, has_started }
    }

    fn report(&self, report: Iperf3TestReport) {
        self.shared.report(Iperf3ServerReport::Test(self.number, report));
    }

    pub(super) fn run(&mut self) -> Result<(), NetworkError> {
        self.control.send(&Iperf3Server::parameters_request())?;
        let parameters = match self.next_event(REPLY_TIMEOUT, "the parameters") {
            Ok(Iperf3ServerEvent::Parameters(parameters)) => *parameters,
            Ok(_) => return Ok(()),
            Err(error) => return Err(self.reject_parameters(error)),
        };
        self.report(Iperf3TestReport::Message("get_parameters", parameters.to_json()));
        self.authenticate(&parameters)?;
        self.check_limits(&parameters)?;
        self.restrict_cpu(&parameters)?;
        let mut flows =
            self.open_streams(&parameters).map_err(|error| self.reject_parameters(error))?;
        if self.shared.service.pinned {
            iperf3_flows::pin_in_turn(&mut flows);
        }
        let congestion = iperf3_flows::active_congestion(&flows);
        let start = self.start_report(&parameters, &flows);
        let mut reported = parameters.get_server_output.then(|| ServerOutput::new(&start));
        self.report(Iperf3TestReport::Start(Box::new(start)));
        self.has_started = true;
        self.control.send(&Iperf3Server::start_message())?;
        let measured = self.transfer(&parameters, flows, &mut reported)?;
        let counted_s = measured.streams.iter().map(|it| it.whole.end_s).fold(0.0, f64::max);
        let concurrent = self.shared.end_measurement(self.number, counted_s);
        self.shared.update_test(self.number, |test| test.is_ending = true);
        // iperf3 before 3.16 drains its streams in whole blocks before it listens again.
        measured.close_sending();
        self.control.send(&Iperf3Server::results_request())?;
        match self.next_event(REPLY_TIMEOUT, "the client's results")? {
            Iperf3ServerEvent::Results(results) => {
                self.report(Iperf3TestReport::Message("get_results", results.to_json()));
            }
            _ => return Ok(()),
        }
        let mut results = iperf3_flows::local_results(&measured, congestion.as_deref());
        let end = Iperf3End {
            concurrent,
            congestion: match measured.streams.iter().any(|it| it.stream.sends) {
                true => (congestion, None),
                false => (None, congestion),
            },
            file: iperf3_flows::disk_file(self.shared.service.file.as_deref()),
            ..end_report(&measured)
        };
        results.concurrent = concurrent;
        results.server_output_text = reported.map(|reported| reported.finish(&end));
        self.report(Iperf3TestReport::Message("send_results", results.to_json()));
        self.control.send(&Iperf3Server::results_message(&results))?;
        // A client that closes without its last message has sent all results.
        drop(self.next_event(Duration::from_secs(2), "the client's last word"));
        // A test whose file could not be written has failed, and has no other end.
        measured.join()?;
        self.report(Iperf3TestReport::End(Box::new(end)));
        Ok(())
    }

    fn next_event(
        &mut self,
        timeout: Duration,
        expected: &str,
    ) -> Result<Iperf3ServerEvent, NetworkError> {
        let step = self.control.start_step(timeout);
        loop {
            let event =
                self.server.next_event().map_err(|it| protocol_error(&self.control, it))?;
            if let Some(event) = event {
                return Ok(event);
            }
            let desk = self.shared;
            let bytes = self.control.receive(&step, expected, &|| desk.is_closing())?;
            self.server.receive(&bytes);
        }
    }

    /// Authenticates the client, before any stream is opened.
    fn authenticate(&mut self, parameters: &Iperf3Parameters) -> Result<(), NetworkError> {
        let Some(gate) = &self.shared.service.gate else { return Ok(()) };
        let since = Instant::now();
        gate.admit(parameters.token.as_deref()).map_err(|source| {
            std::thread::sleep(LoginRefusal::DELAY.saturating_sub(since.elapsed()));
            // A failure to send means that the client is gone.
            drop(self.control.send(&Iperf3Server::error_message(NOT_AUTHORIZED, 0)));
            NetworkError::NotAdmitted { peer: self.control.peer.clone(), source }
        })
    }

    /// Refuses a test above the limits of this server, and several streams for one file.
    fn check_limits(&mut self, parameters: &Iperf3Parameters) -> Result<(), NetworkError> {
        let is_single = parameters.streams == 1 && parameters.direction != DataDirection::Both;
        if self.shared.service.file.is_some() && !is_single {
            return Err(self.reject_above(ExceededLimit::OneFile));
        }
        let checked = self.shared.service.limits.check_request(parameters);
        checked.map_err(|limit| self.reject_above(limit))
    }

    /// Reports to the client which limit it exceeds.
    fn reject_above(&mut self, source: ExceededLimit) -> NetworkError {
        drop(self.control.send(&Iperf3Server::error_message(source.number(), 0)));
        NetworkError::AboveLimit { peer: self.control.peer.clone(), source }
    }

    /// Waits until the client has read why its test ends, and closes its control connection. Streams
    /// that were reset earlier would hide the reason from a client that writes to them.
    fn wait_for_leaving(&mut self) {
        let step = self.control.start_step(Duration::from_secs(2));
        while !step.is_over() && !self.shared.is_closing() {
            if self.control.poll(POLL_INTERVAL, usize::MAX, "the end of the test").is_err() {
                break;
            }
        }
    }

    /// Restricts this test to the CPU that its client names: the threads of the streams inherit it.
    fn restrict_cpu(&mut self, parameters: &Iperf3Parameters) -> Result<(), NetworkError> {
        let Some(cpu) = parameters.server_cpu else { return Ok(()) };
        pin::restrict_current_thread(&[cpu as usize]).map_err(|source| {
            let system = source.raw_os_error().unwrap_or(0);
            drop(
                self.control.send(&Iperf3Server::error_message(IPERF3_CANNOT_RESTRICT, system)),
            );
            self.open_error(source)
        })
    }

    /// Reports to the client that its parameters are not accepted.
    fn reject_parameters(&mut self, error: NetworkError) -> NetworkError {
        let system = match &error {
            NetworkError::OpenStream { source, .. } => source.raw_os_error().unwrap_or(0),
            _ => 0,
        };
        drop(
            self.control
                .send(&Iperf3Server::error_message(IPERF3_CANNOT_RECEIVE_PARAMETERS, system)),
        );
        error
    }

    fn open_streams(
        &mut self,
        parameters: &Iperf3Parameters,
    ) -> Result<Vec<Flow>, NetworkError> {
        let per_direction = parameters.streams as usize;
        let both = parameters.direction == DataDirection::Both;
        let count = per_direction * (1 + usize::from(both));
        let sockets = match parameters.protocol {
            TransportProtocol::Tcp => self.accept_tcp(parameters, count)?,
            TransportProtocol::Udp => self.accept_udp(parameters, count)?,
        };
        let sends = |index: usize| match parameters.direction {
            DataDirection::Forward => false,
            DataDirection::Reverse => true,
            DataDirection::Both => index >= per_direction,
        };
        let file = self.shared.service.file.as_deref();
        let flow =
            |(index, socket)| iperf3_flows::build_flow(parameters, socket, sends(index), file);
        Ok(sockets.into_iter().enumerate().map(flow).collect())
    }

    fn accept_tcp(
        &mut self,
        parameters: &Iperf3Parameters,
        count: usize,
    ) -> Result<Vec<Socket>, NetworkError> {
        self.shared.update_test(self.number, |test| test.awaited = count);
        self.control.send(&Iperf3Server::streams_request())?;
        let step = self.control.start_step(STREAMS_TIMEOUT);
        let mut numbered = Vec::new();
        while numbered.len() < count {
            match self.streams.recv_timeout(POLL_INTERVAL) {
                Ok(stream) => numbered.push(stream),
                Err(_) => self.check_waiting(&step)?,
            }
        }
        // Numbers the streams by arrival, independent of the order of their threads.
        numbered.sort_unstable_by_key(|it| it.number);
        let options = SocketOptions {
            user_timeout_ms: self.shared.service.endpoint.user_timeout_ms,
            ..iperf3_flows::socket_options(parameters)
        };
        let places = &mut self.places;
        let adopt = |AssignedStream { stream, place, .. }: AssignedStream<'a>| {
            places.push(place);
            socket::configure_tcp(&stream, &options).map(|()| Socket::Tcp(stream))
        };
        let adopted: io::Result<Vec<Socket>> = numbered.into_iter().map(adopt).collect();
        adopted.map_err(|source| self.open_error(source))
    }

    fn accept_udp(
        &mut self,
        parameters: &Iperf3Parameters,
        count: usize,
    ) -> Result<Vec<Socket>, NetworkError> {
        let address = match self.control.stream().local_addr() {
            Ok(own) => SocketAddr::new(self.shared.address.ip(), own.port()),
            Err(_) => self.shared.address,
        };
        let client = self.control.stream().peer_addr();
        let client = client.map_err(|source| self.open_error(source))?.ip().to_canonical();
        let options = SocketOptions {
            device: self.shared.service.endpoint.device.clone(),
            ..iperf3_flows::socket_options(parameters)
        };
        let _turn = self.await_hello_turn()?;
        // Binds the socket for the next hello before the client may send it.
        let mut next = socket::bind_udp(address).map_err(|source| self.open_error(source))?;
        self.control.send(&Iperf3Server::streams_request())?;
        let timeout = match self.shared.service.clients.get() {
            1 => STREAMS_TIMEOUT,
            _ => SHARED_HELLO_TIMEOUT,
        };
        let mut step = self.control.start_step(timeout);
        let mut sockets = Vec::new();
        while sockets.len() < count {
            self.check_waiting(&step)?;
            if !socket::wait_readable(&next, POLL_INTERVAL) {
                continue;
            }
            let is_last = sockets.len() + 1 == count;
            let following = accept_hello((&next, client), address, is_last, &options);
            match following.map_err(|source| self.open_error(source))? {
                HelloOutcome::Foreign => {}
                HelloOutcome::Last => {
                    sockets.push(next);
                    break;
                }
                HelloOutcome::More(following) => {
                    sockets.push(std::mem::replace(&mut next, following));
                    step = self.control.start_step(timeout);
                }
            }
        }
        let format = datagram_format(parameters);
        Ok(sockets.into_iter().map(|socket| Socket::Udp { socket, format }).collect())
    }

    /// Waits until no other test accepts UDP streams: a hello names neither its test nor, behind
    /// one address, its client.
    fn await_hello_turn(&mut self) -> Result<MutexGuard<'s, ()>, NetworkError> {
        let shared = self.shared;
        let tests = u32::try_from(shared.service.clients.get()).unwrap_or(u32::MAX);
        let step = self.control.start_step(STREAMS_TIMEOUT.saturating_mul(tests));
        loop {
            match shared.hello_turn.try_lock() {
                Ok(turn) => return Ok(turn),
                // The lock protects no data.
                Err(TryLockError::Poisoned(turn)) => return Ok(turn.into_inner()),
                Err(TryLockError::WouldBlock) => self.check_waiting(&step)?,
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Checks whether the client gave up or disconnected while its streams are awaited.
    fn check_waiting(&mut self, step: &StepDeadline) -> Result<(), NetworkError> {
        if self.shared.is_closing() {
            return Err(NetworkError::Interrupted);
        }
        let expected = "the streams of the test";
        if let Some(bytes) = self.control.poll(Duration::ZERO, usize::MAX, expected)? {
            self.server.receive(&bytes);
            let event = self
                .server
                .next_event()
                .map_err(|source| protocol_error(&self.control, source))?;
            if event == Some(Iperf3ServerEvent::Ended) {
                let early = Iperf3ProtocolError::UnexpectedState {
                    state: ControlState::TestEnd,
                    expected,
                };
                return Err(protocol_error(&self.control, early));
            }
        }
        match step.is_over() {
            true => Err(step.timeout_error(&self.control.peer, expected)),
            false => Ok(()),
        }
    }

    fn open_error(&self, source: io::Error) -> NetworkError {
        NetworkError::OpenStream { peer: self.control.peer.clone(), source }
    }

    fn start_report(&self, parameters: &Iperf3Parameters, flows: &[Flow]) -> Iperf3Start {
        let peer = self.control.stream().peer_addr();
        let peer = peer.map_or((self.control.peer.clone(), 0), |address| {
            (address.ip().to_canonical().to_string(), address.port())
        });
        Iperf3Start {
            interval_s: self.shared.service.interval_s.unwrap_or(0.0),
            ..iperf3_flows::start_report(parameters, flows, peer, &self.cookie.text(), false)
        }
    }

    fn transfer(
        &mut self,
        parameters: &Iperf3Parameters,
        flows: Vec<Flow>,
        reported: &mut Option<ServerOutput>,
    ) -> Result<MeterTotals, NetworkError> {
        let lanes: Vec<MeteredStream> =
            flows.iter().map(iperf3_flows::metered_stream).collect();
        let cut = IntervalPlan {
            udp: parameters.protocol == TransportProtocol::Udp,
            omit_s: f64::from(parameters.omit_s),
            interval_s: self.shared.service.interval_s,
            limit_bytes: iperf3_flows::limit_bytes(parameters),
        };
        self.shared.schedule.lock().even_if_poisoned().begin(self.number, clock::now_ns());
        let mut meter = Meter::start(flows, lanes, cut)?;
        let (desk, number) = (self.shared, self.number);
        let mut report = |interval: &Iperf3Interval| {
            if let Some(reported) = reported.as_mut() {
                reported.add_interval(interval);
            }
            let report = Iperf3TestReport::Interval(interval.clone());
            desk.report(Iperf3ServerReport::Test(number, report));
        };
        let watched = self.wait_for_end(&mut meter, parameters, &mut report);
        // Reports the unfinished interval before a failure.
        let measured = meter.end(*watched.as_ref().unwrap_or(&None), &mut report);
        watched.map(|_| measured)
    }

    /// Waits until the client ends the test. Returns the time of its end message, or `None` if the
    /// test ends now, because all data of a limited test has arrived.
    fn wait_for_end(
        &mut self,
        meter: &mut Meter,
        parameters: &Iperf3Parameters,
        report: &mut dyn FnMut(&Iperf3Interval),
    ) -> Result<Option<u64>, NetworkError> {
        let counted_s = match parameters.limit {
            TestLimit::Seconds(seconds) if seconds > 0 => seconds,
            // Bounds a test whose client determines the end: it occupies the server.
            TestLimit::Seconds(_) | TestLimit::Bytes(_) | TestLimit::Blocks(_) => TIME_LIMIT_S,
        };
        let counted = Duration::from_secs(u64::from(counted_s + parameters.omit_s));
        let longest = self.control.start_step(counted + GRACE);
        let service = self.shared.service;
        let mut idle = IdleTimer::new(service.idle_timeout, service.clock);
        let watch = |limit| RateWatch::new(limit, parameters, clock::now_ns());
        let mut rate = service.limits.rate.map(watch);
        loop {
            meter.tick(report);
            if let Some(watch) = &mut rate
                && let Err(limit) = watch.check(clock::now_ns(), meter.moved_bytes())
            {
                let error = self.reject_above(limit);
                self.wait_for_leaving();
                return Err(error);
            }
            let due = Duration::from_nanos(meter.due_ns().saturating_sub(clock::now_ns()));
            let wait = due.clamp(Duration::from_millis(1), POLL_INTERVAL);
            if let Some(bytes) = self.control.poll(wait, usize::MAX, "the end of the test")? {
                self.server.receive(&bytes);
            }
            let event =
                self.server.next_event().map_err(|it| protocol_error(&self.control, it))?;
            if event == Some(Iperf3ServerEvent::Ended) {
                let ended_ns = clock::now_ns();
                let takes = parameters.direction == DataDirection::Forward;
                let is_whole = takes && self.drain_receivers(meter, parameters);
                return Ok(Some(ended_ns).filter(|_| !is_whole));
            }
            if self.shared.is_closing() {
                return Err(NetworkError::Interrupted);
            }
            if idle.is_expired(meter.moved_bytes()) {
                return Err(idle.stalled_error(&self.control.peer));
            }
            if longest.is_over() {
                return Err(longest.timeout_error(&self.control.peer, "the end of the test"));
            }
        }
    }

    /// Reads the remaining data after the client has ended a limited test, and returns whether all
    /// arrived. Waiting for lost datagrams does not count as test time. Data for a file is read in
    /// any test, as long as something arrives, for a bounded time.
    fn drain_receivers(&self, meter: &Meter, parameters: &Iperf3Parameters) -> bool {
        /// Longest wait: received data is read at once, so that later data was lost.
        const LONGEST: Duration = Duration::from_millis(200);
        /// End of the wait for data of a file, which a client may send without end.
        const FILE_LONGEST: Duration = Duration::from_secs(5);
        let has_file = self.shared.service.file.is_some();
        let limit_bytes = iperf3_flows::limit_bytes(parameters);
        if limit_bytes.is_none() && !has_file {
            return false;
        }
        let last = Instant::now() + FILE_LONGEST;
        let (mut deadline, mut moved_bytes) = (Instant::now() + LONGEST, meter.moved_bytes());
        while limit_bytes.is_none_or(|limit_bytes| meter.received_bytes() < limit_bytes) {
            if has_file && meter.moved_bytes() > moved_bytes {
                moved_bytes = meter.moved_bytes();
                deadline = last.min(Instant::now() + LONGEST);
            }
            if Instant::now() > deadline || self.shared.is_closing() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }
}

/// Outcome of a datagram on the socket for hellos.
enum HelloOutcome {
    Foreign,
    Last,
    More(UdpSocket),
}

/// Accepts one hello: its socket becomes the stream. Unless it was the last one, another socket is
/// bound.
fn accept_hello(
    (waiting, client): (&UdpSocket, IpAddr),
    address: SocketAddr,
    is_last: bool,
    options: &SocketOptions,
) -> io::Result<HelloOutcome> {
    let mut hello = [0; 64];
    let (bytes, peer) = waiting.recv_from(&mut hello)?;
    // Only the client of the test may open streams.
    if hello[..bytes] != datagram::HELLO || peer.ip().to_canonical() != client {
        return Ok(HelloOutcome::Foreign);
    }
    waiting.connect(peer)?;
    discard_pending(waiting)?;
    socket::configure_udp(waiting, options)?;
    // Binds before the reply, because the next hello may follow it immediately.
    let more = if is_last { None } else { Some(socket::bind_udp(address)?) };
    waiting.send(&datagram::HELLO_REPLY)?;
    Ok(more.map_or(HelloOutcome::Last, HelloOutcome::More))
}

/// Discards the datagrams that arrived before the socket was connected, perhaps from other tests.
fn discard_pending(connected: &UdpSocket) -> io::Result<()> {
    /// More than fit into a socket buffer of the usual size.
    const LIMIT: usize = 1 << 16;
    connected.set_nonblocking(true)?;
    for _ in 0..LIMIT {
        match connected.recv(&mut [0; 1]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            // Errors are those of earlier datagrams, too.
            Ok(_) | Err(_) => {}
        }
    }
    connected.set_nonblocking(false)
}

/// End report with this end's view only.
fn end_report(measured: &MeterTotals) -> Iperf3End {
    let stream = |lane: &MeteredStreamTotals| StreamTotals {
        socket: lane.stream.socket,
        sends: lane.stream.sends,
        sent: lane.stream.sends.then_some(lane.whole),
        received: (!lane.stream.sends).then_some(lane.whole),
        rtt_us: lane.rtt_us,
        windows_bytes: lane.windows_bytes,
    };
    let process = measured.process;
    Iperf3End {
        streams: measured.streams.iter().map(stream).collect(),
        cpu_here: (process.total, process.user, process.system),
        ..Iperf3End::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Datagrams that arrived before the stream had its socket are not counted in it.
    #[test]
    fn stream_begins_after_its_hello() {
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let waiting = UdpSocket::bind(any).unwrap();
        let client = UdpSocket::bind(any).unwrap();
        client.connect(waiting.local_addr().unwrap()).unwrap();
        for bytes in [&datagram::HELLO[..], b"of another test", &[0; 1000]] {
            client.send(bytes).unwrap();
        }
        let own = client.local_addr().unwrap().ip();
        let outcome = accept_hello((&waiting, own), any, true, &SocketOptions::default());
        assert!(matches!(outcome, Ok(HelloOutcome::Last)));
        waiting.set_nonblocking(true).unwrap();
        let left = waiting.recv(&mut [0; 64]).map_err(|error| error.kind());
        assert_eq!(left, Err(ErrorKind::WouldBlock));
    }
}
