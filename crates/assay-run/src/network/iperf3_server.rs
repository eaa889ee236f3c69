//! A server for iperf3's clients, and on the same port for qperf's.
//!
//! One test at a time, others are told that the server is busy; ping-pongs run beside it. The first
//! bytes of a connection tell what it is: a cookie that opens a test, the same cookie again for each
//! stream of that test, or a request of qperf. Whoever is slow, silent or speaks something else holds
//! one thread for a bounded time and nothing else.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use assay_dialects::iperf3::{End, Interval, Start};
use assay_dialects::wire::iperf3::{COOKIE_BYTES, Cookie, Server, ServerEvent};

use super::control::{self, Control, Step};
use super::door::{self, Door, Guest, Guests, LOOK, Share};
use super::error::NetworkError;
use super::iperf3_login::{Gate, Refusal};
use super::qperf_server;
use test::Test;

mod reported;
mod test;

/// What a server is to do.
#[derive(Debug, Clone)]
pub struct Iperf3Service {
    pub listen: SocketAddr,
    /// End after one test.
    pub once: bool,
    /// End when nobody has come for so long.
    pub idle_limit: Option<Duration>,
    /// How long nothing may move within a test.
    pub idle_timeout: Duration,
    /// Seconds between reports; `None` = none.
    pub interval_s: Option<f64>,
    /// Whether the streams are pinned, one CPU each, in turn.
    pub pinned: bool,
    /// Who may measure; `None` = everybody, with qperf too, which knows no users.
    pub gate: Option<Arc<Gate>>,
}

/// What happens while it serves.
#[derive(Debug)]
pub enum Served {
    /// Waiting for this test, counted from 1, on this port.
    Listening(u16, u64),
    Start(Box<Start>),
    Interval(Interval),
    End(Box<End>),
    /// A test or connection ended badly.
    Failed(NetworkError),
}

/// Connections that may be looked at or served at the same time. One client opens up to 128 streams each
/// way at once; no client keeps all others out.
const CONNECTIONS: Share = Share { places: 512, bytes: 0 };
const CONNECTIONS_OF_ONE: Share = Share { places: 384, bytes: 0 };
/// How long a new connection may take to say what it is.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until told to stop. Reports come in the order in which things happen.
pub fn serve(
    service: &Iperf3Service,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Served),
) -> Result<(), NetworkError> {
    let listener = control::listen(service.listen)?;
    serve_on(&listener, service, cancel, observe)
}

/// [`serve`] on a socket that listens already.
pub fn serve_on(
    listener: &TcpListener,
    service: &Iperf3Service,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Served),
) -> Result<(), NetworkError> {
    let address = listener.local_addr().unwrap_or(service.listen);
    let (reports, reported) = mpsc::channel();
    let desk = Desk::new(service, address, cancel, reports);
    observe(Served::Listening(address.port(), 1));
    thread::scope(|scope| {
        let mut door = Door::new(listener, &desk.connections);
        let (mut number, mut last_busy) = (0, Instant::now());
        while !desk.is_done(&mut last_busy) {
            reported.try_iter().for_each(&mut *observe);
            let (stream, peer, guest) = match door.next() {
                Ok(Some(arrived)) => arrived,
                Ok(None) => continue,
                Err(error) => {
                    observe(Served::Failed(error));
                    continue;
                }
            };
            number += 1;
            let (desk, peer) = (&desk, peer.to_string());
            let name = peer.clone();
            let welcome = move || desk.welcome((stream, name), guest, number);
            let started = door::start(scope, welcome);
            if let Err(source) = started {
                observe(Served::Failed(NetworkError::Serve { peer, source }));
            }
        }
        desk.closing.store(true, Ordering::Relaxed);
    });
    reported.try_iter().for_each(observe);
    Ok(())
}

/// What all connections share.
struct Desk<'a> {
    service: &'a Iperf3Service,
    address: SocketAddr,
    cancel: &'a AtomicBool,
    closing: AtomicBool,
    connections: Guests,
    /// Those of them that are qperf's.
    requests: Guests,
    served: AtomicUsize,
    active: Mutex<Option<Active>>,
    reports: Mutex<mpsc::Sender<Served>>,
}

/// The test that is running, and where its streams go.
struct Active {
    cookie: Cookie,
    /// The client has ended it; the next one only has to wait a moment.
    is_ending: bool,
    /// Streams that it still waits for.
    awaited: usize,
    streams: mpsc::Sender<(u64, TcpStream)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every value behind these locks is replaced whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Desk<'a> {
    fn new(
        service: &'a Iperf3Service,
        address: SocketAddr,
        cancel: &'a AtomicBool,
        reports: mpsc::Sender<Served>,
    ) -> Self {
        Self {
            service,
            address,
            cancel,
            closing: AtomicBool::new(false),
            connections: Guests::new(CONNECTIONS, CONNECTIONS_OF_ONE),
            requests: qperf_server::requests(),
            served: AtomicUsize::new(0),
            active: Mutex::new(None),
            reports: Mutex::new(reports),
        }
    }

    fn report(&self, served: Served) {
        // The receiver outlives every connection.
        drop(lock(&self.reports).send(served));
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed) || self.cancel.load(Ordering::Relaxed)
    }

    fn is_done(&self, last_busy: &mut Instant) -> bool {
        if !self.connections.is_empty() {
            *last_busy = Instant::now();
        }
        let too_idle = self.service.idle_limit.is_some_and(|it| last_busy.elapsed() > it);
        let is_enough = self.service.once && self.served.load(Ordering::Relaxed) > 0;
        self.cancel.load(Ordering::Relaxed) || too_idle || is_enough
    }

    /// Finds out what a connection wants, and serves it. It has its place until then.
    fn welcome(&self, (stream, peer): (TcpStream, String), _place: Guest<'_>, number: u64) {
        let outcome =
            Control::new(stream, peer).and_then(|control| self.greet(control, number));
        match outcome {
            Ok(()) | Err(NetworkError::Interrupted) => {}
            Err(error) => self.report(Served::Failed(error)),
        }
    }

    fn greet(&self, mut control: Control, number: u64) -> Result<(), NetworkError> {
        let mut server = Server::default();
        let mut taken = Vec::new();
        let step = Step::of(GREETING_TIMEOUT);
        while taken.len() < COOKIE_BYTES {
            let expected = "the beginning of a test";
            // Not a byte more than the cookie: what follows it belongs to the stream.
            let most = COOKIE_BYTES - taken.len();
            match control.poll(LOOK, most, expected)? {
                Some(bytes) => taken.extend(bytes),
                None if self.is_closing() => return Err(NetworkError::Interrupted),
                None => {}
            }
            if step.is_over() && taken.len() < COOKIE_BYTES {
                return Err(step.missed(&control.peer, expected));
            }
            // A request of qperf begins with its version, 0; no cookie does.
            if taken.first() == Some(&0) {
                return self.serve_qperf(control, &taken);
            }
        }
        server.receive(&taken);
        let event = server.next_event().map_err(|source| broke(&control, source))?;
        match event {
            Some(ServerEvent::Cookie(cookie)) => self.admit(control, server, cookie, number),
            _ => Ok(()),
        }
    }

    /// A request of qperf, of which these bytes have arrived. Nobody ends this server by one, and where
    /// users are asked for nobody has one.
    fn serve_qperf(&self, control: Control, taken: &[u8]) -> Result<(), NetworkError> {
        if self.service.gate.is_some() {
            return Err(NetworkError::NotAdmitted {
                peer: control.peer,
                source: Refusal::NoLogin,
            });
        }
        let peer = control.stream().peer_addr().ok();
        let Some(guest) = peer.and_then(|peer| self.requests.admit(peer.ip())) else {
            return Ok(());
        };
        qperf_server::serve_one((control, guest), taken, &|| self.is_closing()).map(drop)
    }

    /// A stream of the present test, the next test, or one too many.
    fn admit(
        &self,
        mut control: Control,
        server: Server,
        cookie: Cookie,
        number: u64,
    ) -> Result<(), NetworkError> {
        let streams = match self.place(&control, cookie, number) {
            Place::Stream => return Ok(()),
            Place::None => return control.send(&Server::deny()),
            Place::Test(streams) => streams,
        };
        let mut test = Test { desk: self, control, server, cookie, streams };
        let outcome = test.run();
        if outcome.is_err() {
            // The client should not wait for a server that gave up; it may be gone itself.
            drop(test.control.send(&Server::terminate()));
        }
        *lock(&self.active) = None;
        let failure = outcome.err().filter(|error| !matches!(error, NetworkError::Interrupted));
        if let Some(error) = failure {
            self.report(Served::Failed(error));
        }
        let served = self.served.fetch_add(1, Ordering::Relaxed) as u64 + 1;
        if !self.service.once {
            self.report(Served::Listening(self.address.port(), served + 1));
        }
        Ok(())
    }

    fn place(&self, control: &Control, cookie: Cookie, number: u64) -> Place {
        /// How long a test may take to end after its client has said so.
        const ENDING: Duration = Duration::from_secs(5);
        let deadline = Instant::now() + ENDING;
        loop {
            let mut active = lock(&self.active);
            match &mut *active {
                Some(test) if test.cookie == cookie && test.awaited > 0 => {
                    test.awaited -= 1;
                    let stream = control.stream().try_clone();
                    // A test that has ended meanwhile drops the stream, which closes it.
                    drop(stream.map(|stream| test.streams.send((number, stream))));
                    return Place::Stream;
                }
                Some(test)
                    if test.is_ending && test.cookie != cookie && Instant::now() < deadline => {
                }
                Some(_) => return Place::None,
                None => {
                    let (streams, receiver) = mpsc::channel();
                    *active = Some(Active { cookie, is_ending: false, awaited: 0, streams });
                    return Place::Test(receiver);
                }
            }
            drop(active);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What becomes of a connection that sent a cookie.
enum Place {
    /// It was handed to its test.
    Stream,
    /// It is the test now.
    Test(mpsc::Receiver<(u64, TcpStream)>),
    /// Another test is running.
    None,
}

fn broke(
    control: &Control,
    source: assay_dialects::wire::iperf3::ProtocolError,
) -> NetworkError {
    NetworkError::Iperf3 { peer: control.peer.clone(), source }
}
