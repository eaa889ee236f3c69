//! Server for clients of iperf3, and on the same port of qperf.
//!
//! One iperf3 test runs at a time, and other clients receive a busy reply; ping-pongs run in
//! parallel. The first bytes identify a connection: a cookie opens a test, the same cookie is
//! repeated by each stream of the test, and qperf begins with its request. A slow, silent or
//! malformed client occupies one thread for a bounded time.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use assay_dialects::iperf3::{Iperf3End, Iperf3Interval, Iperf3Start};
use assay_dialects::wire::iperf3::{COOKIE_BYTES, Cookie, Iperf3Server, Iperf3ServerEvent};

use super::admission::{
    self, Admission, Admissions, BoundedListener, ConnectionResources, POLL_INTERVAL,
};
use super::control::{self, ControlConnection};
use super::error::NetworkError;
use super::iperf3_login::{LoginGate, LoginRefusal};
use super::qperf_server;
use test::Iperf3ServerTest;

mod server_output;
mod test;

/// Options of a server.
#[derive(Debug, Clone)]
pub struct Iperf3Service {
    pub listen: SocketAddr,
    /// Whether to end after one test.
    pub once: bool,
    /// Time without clients after which the server ends.
    pub idle_limit: Option<Duration>,
    /// Longest time without progress within a test.
    pub idle_timeout: Duration,
    /// Seconds between reports; `None` for none.
    pub interval_s: Option<f64>,
    /// Whether each stream is pinned to one CPU, round robin.
    pub pinned: bool,
    /// Authentication; `None` admits everyone, including qperf, which has no authentication.
    pub gate: Option<Arc<LoginGate>>,
    /// Clock of all deadlines in nanoseconds: the monotonic one, or one that a test moves.
    pub clock: fn() -> u64,
}

/// Event of a server.
#[derive(Debug)]
pub enum Iperf3ServerReport {
    /// Waiting for the test with this number, from 1, on this port.
    Listening(u16, u64),
    Start(Box<Iperf3Start>),
    Interval(Iperf3Interval),
    End(Box<Iperf3End>),
    /// A test or connection failed.
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
    let listener = control::listen(service.listen)?;
    serve_on(&listener, service, cancel, observe)
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
    let desk = Iperf3ServerState::new(service, address, cancel, reports);
    observe(Iperf3ServerReport::Listening(address.port(), 1));
    thread::scope(|scope| {
        let mut door = BoundedListener::new(listener, &desk.connections);
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
    connections: Admissions,
    /// Admission control of qperf's connections.
    requests: Admissions,
    served: AtomicUsize,
    active: Mutex<Option<ActiveTest>>,
    reports: Mutex<mpsc::Sender<Iperf3ServerReport>>,
}

/// Running test, and the channel for its streams.
struct ActiveTest {
    cookie: Cookie,
    /// Whether the client has ended the test; the next client then waits a moment instead of being
    /// rejected.
    is_ending: bool,
    /// Number of streams that the test still waits for.
    awaited: usize,
    streams: mpsc::Sender<(u64, TcpStream)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Values behind these locks are only replaced as a whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Iperf3ServerState<'a> {
    fn new(
        service: &'a Iperf3Service,
        address: SocketAddr,
        cancel: &'a AtomicBool,
        reports: mpsc::Sender<Iperf3ServerReport>,
    ) -> Self {
        Self {
            service,
            address,
            cancel,
            closing: AtomicBool::new(false),
            connections: Admissions::new(TOTAL_CONNECTIONS, PEER_CONNECTIONS),
            requests: qperf_server::request_admissions(),
            served: AtomicUsize::new(0),
            active: Mutex::new(None),
            reports: Mutex::new(reports),
        }
    }

    fn report(&self, served: Iperf3ServerReport) {
        // The receiver outlives every connection.
        drop(lock(&self.reports).send(served));
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
        let is_enough = self.service.once && self.served.load(Ordering::Relaxed) > 0;
        self.cancel.load(Ordering::Relaxed) || too_idle || is_enough
    }

    /// Identifies a connection and serves it; it holds its place until the end.
    fn serve_connection(
        &self,
        (stream, peer): (TcpStream, String),
        _place: Admission<'_>,
        number: u64,
    ) {
        let outcome = ControlConnection::with_clock(stream, peer, self.service.clock)
            .and_then(|control| self.identify(control, number));
        match outcome {
            Ok(()) | Err(NetworkError::Interrupted) => {}
            Err(error) => self.report(Iperf3ServerReport::Failed(error)),
        }
    }

    fn identify(
        &self,
        mut control: ControlConnection,
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
                self.serve_iperf3(control, server, cookie, number)
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

    /// Assigns a connection to the running test, starts the next test, or rejects it.
    fn serve_iperf3(
        &self,
        mut control: ControlConnection,
        server: Iperf3Server,
        cookie: Cookie,
        number: u64,
    ) -> Result<(), NetworkError> {
        let streams = match self.assign_role(&control, cookie, number) {
            ConnectionRole::Stream => return Ok(()),
            ConnectionRole::Rejected => return control.send(&Iperf3Server::denial_message()),
            ConnectionRole::Test(streams) => streams,
        };
        let mut test = Iperf3ServerTest { shared: self, control, server, cookie, streams };
        let outcome = test.run();
        if outcome.is_err() {
            // Releases the client from waiting for this server; the client may be gone itself.
            drop(test.control.send(&Iperf3Server::terminate_message()));
        }
        *lock(&self.active) = None;
        let failure = outcome.err().filter(|error| !matches!(error, NetworkError::Interrupted));
        if let Some(error) = failure {
            self.report(Iperf3ServerReport::Failed(error));
        }
        let served = self.served.fetch_add(1, Ordering::Relaxed) as u64 + 1;
        if !self.service.once {
            self.report(Iperf3ServerReport::Listening(self.address.port(), served + 1));
        }
        Ok(())
    }

    fn assign_role(
        &self,
        control: &ControlConnection,
        cookie: Cookie,
        number: u64,
    ) -> ConnectionRole {
        /// Time that a test may take to end after its client has requested the end.
        const ENDING: Duration = Duration::from_secs(5);
        let step = control.start_step(ENDING);
        loop {
            let mut active = lock(&self.active);
            match &mut *active {
                Some(test) if test.cookie == cookie && test.awaited > 0 => {
                    test.awaited -= 1;
                    let stream = control.stream().try_clone();
                    // If the test has ended meanwhile, the stream is dropped and thereby closed.
                    drop(stream.map(|stream| test.streams.send((number, stream))));
                    return ConnectionRole::Stream;
                }
                Some(test) if test.is_ending && test.cookie != cookie && !step.is_over() => {}
                Some(_) => return ConnectionRole::Rejected,
                None => {
                    let (streams, receiver) = mpsc::channel();
                    *active =
                        Some(ActiveTest { cookie, is_ending: false, awaited: 0, streams });
                    return ConnectionRole::Test(receiver);
                }
            }
            drop(active);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Assignment of a connection that sent a cookie.
enum ConnectionRole {
    /// Stream of the running test.
    Stream,
    /// New test.
    Test(mpsc::Receiver<(u64, TcpStream)>),
    /// Rejected, because another test is running.
    Rejected,
}

fn protocol_error(
    control: &ControlConnection,
    source: assay_dialects::wire::iperf3::Iperf3ProtocolError,
) -> NetworkError {
    NetworkError::Iperf3 { peer: control.peer.clone(), source }
}
