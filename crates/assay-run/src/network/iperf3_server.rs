//! Server for clients of iperf3, and on the same port of qperf.
//!
//! A number of iperf3 tests run at a time, one by default, and other clients receive a busy reply;
//! ping-pongs run in parallel. The first bytes identify a connection: a cookie opens a test, the
//! same cookie is repeated by each stream of the test, and qperf begins with its request. A slow,
//! silent or malformed client occupies one thread for a bounded time.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use assay_dialects::iperf3::{ConcurrentTests, Iperf3End, Iperf3Interval, Iperf3Start};
use assay_dialects::wire::iperf3::{COOKIE_BYTES, Cookie, Iperf3Server, Iperf3ServerEvent};
use assay_kernels::clock;
use assay_kernels::network::socket::{self, SocketOptions};
use assay_model::poisoned_lock::PoisonedLock as _;

use super::admission::{
    self, Admission, Admissions, BoundedListener, ConnectionResources, POLL_INTERVAL,
};
use super::control::{self, ControlConnection};
use super::error::NetworkError;
use super::iperf3_login::{LoginGate, LoginRefusal};
use super::qperf_server;
use super::target::EndpointOptions;
use schedule::TestSchedule;
use test::Iperf3ServerTest;

mod schedule;
mod server_output;
mod test;

pub use super::iperf3_limits::{ExceededLimit, RateLimit, ServerLimits};

/// Options of a server.
#[derive(Debug, Clone)]
pub struct Iperf3Service {
    pub listen: SocketAddr,
    /// Clients whose tests may run at the same time.
    pub clients: NonZeroUsize,
    /// Whether to end after as many tests as there may be clients.
    pub once: bool,
    /// Time without clients after which the server ends.
    pub idle_limit: Option<Duration>,
    /// Longest time without progress within a test.
    pub idle_timeout: Duration,
    /// Seconds between reports; `None` for none.
    pub interval_s: Option<f64>,
    /// Whether each stream is pinned to one CPU, round robin.
    pub pinned: bool,
    /// Limits of each test.
    pub limits: ServerLimits,
    /// Settings of the sockets.
    pub endpoint: EndpointOptions,
    /// Whether TCP uses several paths (MPTCP) with clients that do.
    pub multipath: bool,
    /// File that streams send, or to which they write received data.
    pub file: Option<PathBuf>,
    /// Authentication; `None` admits everyone, including qperf, which has no authentication.
    pub gate: Option<Arc<LoginGate>>,
    /// Clock of all deadlines in nanoseconds: the monotonic one, or one that a test moves.
    pub clock: fn() -> u64,
}

impl Iperf3Service {
    /// Serves one client at a time on this address, without limits, until it is cancelled.
    pub fn new(listen: SocketAddr, idle_timeout: Duration) -> Self {
        Self {
            listen,
            clients: NonZeroUsize::MIN,
            once: false,
            idle_limit: None,
            idle_timeout,
            interval_s: None,
            pinned: false,
            limits: ServerLimits::default(),
            endpoint: EndpointOptions::default(),
            multipath: false,
            file: None,
            gate: None,
            clock: clock::now_ns,
        }
    }
}

/// Event of a server.
#[derive(Debug)]
pub enum Iperf3ServerReport {
    /// Waiting for the test with this number, from 1, on this port.
    Listening(u16, u64),
    /// Event of the test with this number.
    Test(u64, Iperf3TestReport),
    /// A connection failed that belongs to no test.
    Failed(NetworkError),
}

/// Event of one test.
#[derive(Debug)]
pub enum Iperf3TestReport {
    /// Parameters or results, sent or received, under iperf3's name for them.
    Message(&'static str, Vec<u8>),
    Start(Box<Iperf3Start>),
    Interval(Iperf3Interval),
    End(Box<Iperf3End>),
    /// The test failed, or was interrupted after its start.
    Failed(NetworkError),
}

/// Maximum number of simultaneous connections. One client opens up to 128 streams each way; no
/// client can use up all of the connections.
const TOTAL_CONNECTIONS: ConnectionResources =
    ConnectionResources { connections: 512, bytes: 0 };
const PEER_CONNECTIONS: ConnectionResources =
    ConnectionResources { connections: 384, bytes: 0 };
/// Time in which a new connection must identify itself.
const IDENTIFY_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until cancelled. Events are reported in their order.
pub fn serve(
    service: &Iperf3Service,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Iperf3ServerReport),
) -> Result<(), NetworkError> {
    let listener = listen(service)?;
    serve_on(&listener, service, cancel, observe)
}

/// Opens the listening socket of a server.
pub fn listen(service: &Iperf3Service) -> Result<TcpListener, NetworkError> {
    let (device, multipath) = (service.endpoint.device.clone(), service.multipath);
    if device.is_none() && !multipath {
        return control::listen(service.listen);
    }
    let options = SocketOptions { device, multipath, ..SocketOptions::default() };
    control::listen_with(service.listen, &options)
}

/// Serves as [`serve`], on a socket that is already listening.
pub fn serve_on(
    listener: &TcpListener,
    service: &Iperf3Service,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Iperf3ServerReport),
) -> Result<(), NetworkError> {
    let address = listener.local_addr().unwrap_or(service.listen);
    let (reports, reported) = mpsc::channel();
    let connections = Admissions::new(TOTAL_CONNECTIONS, PEER_CONNECTIONS);
    let desk = Iperf3ServerState::new(service, address, (cancel, &connections), reports);
    observe(Iperf3ServerReport::Listening(address.port(), 1));
    thread::scope(|scope| {
        let mut door = BoundedListener::new(listener, &connections);
        let (mut number, mut last_busy_ns) = (0, (service.clock)());
        while !desk.is_done(&mut last_busy_ns) {
            reported.try_iter().for_each(&mut *observe);
            let (stream, peer, guest) = match door.accept_next() {
                Ok(Some(arrived)) => arrived,
                Ok(None) => continue,
                Err(error) => {
                    observe(Iperf3ServerReport::Failed(error));
                    continue;
                }
            };
            number += 1;
            let (desk, peer) = (&desk, peer.to_string());
            let name = peer.clone();
            let welcome = move || desk.serve_connection((stream, name), guest, number);
            let started = admission::spawn_connection(scope, welcome);
            if let Err(source) = started {
                observe(Iperf3ServerReport::Failed(NetworkError::Serve { peer, source }));
            }
        }
        desk.closing.store(true, Ordering::Relaxed);
    });
    reported.try_iter().for_each(observe);
    Ok(())
}

/// State that all connections share.
struct Iperf3ServerState<'a> {
    service: &'a Iperf3Service,
    address: SocketAddr,
    cancel: &'a AtomicBool,
    closing: AtomicBool,
    connections: &'a Admissions,
    /// Admission control of qperf's connections.
    requests: Admissions,
    served: AtomicUsize,
    active: Mutex<ActiveTests<'a>>,
    schedule: Mutex<TestSchedule>,
    /// Held by the test that accepts UDP streams: their hellos do not name the test.
    hello_turn: Mutex<()>,
    reports: Mutex<mpsc::Sender<Iperf3ServerReport>>,
}

/// Running tests, and the number of tests so far.
#[derive(Default)]
struct ActiveTests<'a> {
    tests: Vec<ActiveTest<'a>>,
    begun: u64,
}

/// Running test, and the channel for its streams.
struct ActiveTest<'a> {
    /// Number of the test, from 1.
    number: u64,
    cookie: Cookie,
    /// Whether the client has ended the test; the next client then waits a moment instead of being
    /// rejected.
    is_ending: bool,
    /// Number of streams that the test still waits for.
    awaited: usize,
    streams: mpsc::Sender<AssignedStream<'a>>,
}

/// Stream of a test. It holds its place among the connections until the test ends.
struct AssignedStream<'a> {
    /// Number of the connection.
    number: u64,
    stream: TcpStream,
    place: Admission<'a>,
}

impl<'a> Iperf3ServerState<'a> {
    fn new(
        service: &'a Iperf3Service,
        address: SocketAddr,
        (cancel, connections): (&'a AtomicBool, &'a Admissions),
        reports: mpsc::Sender<Iperf3ServerReport>,
    ) -> Self {
        Self {
            service,
            address,
            cancel,
            closing: AtomicBool::new(false),
            connections,
            requests: qperf_server::request_admissions(),
            served: AtomicUsize::new(0),
            active: Mutex::default(),
            schedule: Mutex::default(),
            hello_turn: Mutex::default(),
            reports: Mutex::new(reports),
        }
    }

    fn report(&self, served: Iperf3ServerReport) {
        // The receiver outlives every connection.
        drop(self.reports.lock().even_if_poisoned().send(served));
    }

    /// Changes the state of a running test.
    fn update_test(&self, number: u64, change: impl FnOnce(&mut ActiveTest<'_>)) {
        let mut active = self.active.lock().even_if_poisoned();
        if let Some(test) = active.tests.iter_mut().find(|it| it.number == number) {
            change(test);
        }
    }

    /// Ends the measurement of a test after this many counted seconds. Returns the tests beside it,
    /// if the server permits any.
    fn end_measurement(&self, number: u64, counted_s: f64) -> Option<ConcurrentTests> {
        let now_ns = clock::now_ns();
        let from_ns = now_ns.saturating_sub((counted_s * 1e9) as u64);
        let mut schedule = self.schedule.lock().even_if_poisoned();
        let found = schedule.concurrent(number, from_ns, now_ns);
        schedule.end(number, now_ns);
        (self.service.clients.get() > 1).then_some(found)
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed) || self.cancel.load(Ordering::Relaxed)
    }

    fn is_done(&self, last_busy_ns: &mut u64) -> bool {
        let now_ns = (self.service.clock)();
        if !self.connections.is_empty() {
            *last_busy_ns = now_ns;
        }
        let idle = Duration::from_nanos(now_ns.saturating_sub(*last_busy_ns));
        let too_idle = self.service.idle_limit.is_some_and(|limit| idle > limit);
        let places = self.service.clients.get();
        let is_enough = self.service.once && self.served.load(Ordering::Relaxed) >= places;
        self.cancel.load(Ordering::Relaxed) || too_idle || is_enough
    }

    /// Identifies a connection and serves it; it holds its place until the end.
    fn serve_connection(
        &self,
        (stream, peer): (TcpStream, String),
        place: Admission<'a>,
        number: u64,
    ) {
        let prepared = self
            .prepare_control(&stream)
            .map_err(|source| NetworkError::OpenStream { peer: peer.clone(), source });
        let outcome = prepared
            .and_then(|()| ControlConnection::with_clock(stream, peer, self.service.clock))
            .and_then(|control| self.identify((control, place), number));
        match outcome {
            Ok(()) | Err(NetworkError::Interrupted) => {}
            Err(error) => self.report(Iperf3ServerReport::Failed(error)),
        }
    }

    /// Applies the settings of this end to a new connection.
    fn prepare_control(&self, stream: &TcpStream) -> io::Result<()> {
        let EndpointOptions { user_timeout_ms, keepalive, .. } = self.service.endpoint;
        let options = SocketOptions { user_timeout_ms, keepalive, ..SocketOptions::default() };
        socket::configure_tcp(stream, &options)
    }

    fn identify(
        &self,
        (mut control, place): (ControlConnection, Admission<'a>),
        number: u64,
    ) -> Result<(), NetworkError> {
        let mut server = Iperf3Server::default();
        let mut taken = Vec::new();
        let step = control.start_step(IDENTIFY_TIMEOUT);
        while taken.len() < COOKIE_BYTES {
            let expected = "the beginning of a test";
            // Reads the cookie only: the following bytes belong to the stream.
            let most = COOKIE_BYTES - taken.len();
            match control.poll(POLL_INTERVAL, most, expected)? {
                Some(bytes) => taken.extend(bytes),
                None if self.is_closing() => return Err(NetworkError::Interrupted),
                None => {}
            }
            if step.is_over() && taken.len() < COOKIE_BYTES {
                return Err(step.timeout_error(&control.peer, expected));
            }
            // A request of qperf begins with its version, 0; a cookie never does.
            if taken.first() == Some(&0) {
                return self.serve_qperf(control, &taken);
            }
        }
        server.receive(&taken);
        let event = server.next_event().map_err(|source| protocol_error(&control, source))?;
        match event {
            Some(Iperf3ServerEvent::Cookie(cookie)) => {
                self.serve_iperf3((control, place), server, cookie, number)
            }
            _ => Ok(()),
        }
    }

    /// Serves a request of qperf whose first bytes have arrived. It cannot end this server, and is
    /// rejected by a server with authentication.
    fn serve_qperf(
        &self,
        control: ControlConnection,
        taken: &[u8],
    ) -> Result<(), NetworkError> {
        if self.service.gate.is_some() {
            return Err(NetworkError::NotAdmitted {
                peer: control.peer,
                source: LoginRefusal::NoLogin,
            });
        }
        let peer = control.stream().peer_addr().ok();
        let Some(guest) = peer.and_then(|peer| self.requests.admit(peer.ip())) else {
            return Ok(());
        };
        qperf_server::serve_one((control, guest), taken, &|| self.is_closing()).map(drop)
    }

    /// Assigns a connection to its running test, starts a test, or rejects it.
    fn serve_iperf3(
        &self,
        (mut control, place): (ControlConnection, Admission<'a>),
        server: Iperf3Server,
        cookie: Cookie,
        connection: u64,
    ) -> Result<(), NetworkError> {
        let (number, streams, _place) = match self.assign_role(&control, cookie) {
            ConnectionRole::Stream(streams) => {
                let stream = control.stream().try_clone();
                let assigned =
                    stream.map(|stream| AssignedStream { number: connection, stream, place });
                // If the test has ended meanwhile, the stream is dropped and thereby closed.
                drop(assigned.map(|it| streams.send(it)));
                return Ok(());
            }
            ConnectionRole::Rejected => return control.send(&Iperf3Server::denial_message()),
            ConnectionRole::Test(number, streams) => (number, streams, place),
        };
        let mut test =
            Iperf3ServerTest::new(self, (control, server), (number, cookie), streams);
        let outcome = test.run();
        if outcome.is_err() {
            // Releases the client from waiting for this server; the client may be gone itself.
            drop(test.control.send(&Iperf3Server::terminate_message()));
        }
        self.schedule.lock().even_if_poisoned().end(number, clock::now_ns());
        self.active.lock().even_if_poisoned().tests.retain(|it| it.number != number);
        let is_silent = |error: &NetworkError| {
            matches!(error, NetworkError::Interrupted) && !test.has_started
        };
        if let Some(error) = outcome.err().filter(|error| !is_silent(error)) {
            self.report(Iperf3ServerReport::Test(number, Iperf3TestReport::Failed(error)));
        }
        let served = self.served.fetch_add(1, Ordering::Relaxed) as u64 + 1;
        if !self.service.once && self.service.clients.get() == 1 {
            self.report(Iperf3ServerReport::Listening(self.address.port(), served + 1));
        }
        Ok(())
    }

    fn assign_role(&self, control: &ControlConnection, cookie: Cookie) -> ConnectionRole<'a> {
        /// Time that a test may take to end after its client has requested the end.
        const ENDING: Duration = Duration::from_secs(5);
        let step = control.start_step(ENDING);
        let places = self.service.clients.get();
        loop {
            let mut active = self.active.lock().even_if_poisoned();
            if let Some(test) = active.tests.iter_mut().find(|it| it.cookie == cookie) {
                if test.awaited == 0 {
                    return ConnectionRole::Rejected;
                }
                test.awaited -= 1;
                return ConnectionRole::Stream(test.streams.clone());
            }
            if self.service.once && active.begun >= places as u64 {
                return ConnectionRole::Rejected;
            }
            if active.tests.len() < places {
                return active.begin(cookie);
            }
            if step.is_over() || active.tests.iter().all(|it| !it.is_ending) {
                return ConnectionRole::Rejected;
            }
            drop(active);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl<'a> ActiveTests<'a> {
    fn begin(&mut self, cookie: Cookie) -> ConnectionRole<'a> {
        self.begun += 1;
        let (number, (streams, receiver)) = (self.begun, mpsc::channel());
        self.tests.push(ActiveTest { number, cookie, is_ending: false, awaited: 0, streams });
        ConnectionRole::Test(number, receiver)
    }
}

/// Assignment of a connection that sent a cookie.
enum ConnectionRole<'a> {
    /// Stream of a running test.
    Stream(mpsc::Sender<AssignedStream<'a>>),
    /// New test, with its number.
    Test(u64, mpsc::Receiver<AssignedStream<'a>>),
    /// Rejected, because as many tests are running as the server permits.
    Rejected,
}

fn protocol_error(
    control: &ControlConnection,
    source: assay_dialects::wire::iperf3::Iperf3ProtocolError,
) -> NetworkError {
    NetworkError::Iperf3 { peer: control.peer.clone(), source }
}
