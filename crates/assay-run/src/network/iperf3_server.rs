//! A server for iperf3's clients, and on the same port for qperf's.
//!
//! One test at a time, others are told that the server is busy; ping-pongs run beside it. The first
//! bytes of a connection tell what it is: a cookie that opens a test, the same cookie again for each
//! stream of that test, or a request of qperf. Whoever is slow, silent or speaks something else holds
//! one thread for a bounded time and nothing else.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use assay_dialects::iperf3::{End, Interval, Start};
use assay_dialects::wire::iperf3::{COOKIE_BYTES, Cookie, Server, ServerEvent};
use assay_kernels::network::socket;

use super::control::{self, Control};
use super::error::NetworkError;
use super::qperf_server;
use test::Test;

mod test;
mod told;

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

/// Connections that may be looked at or served at the same time: 128 streams each way, and some.
const CONNECTIONS_LIMIT: usize = 512;
/// How long a new connection may take to say what it is.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);
/// How soon an end is noticed.
const LOOK: Duration = Duration::from_millis(100);

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
    std::thread::scope(|scope| {
        let mut doorman =
            Doorman { desk: &desk, listener, number: 0, last_busy: Instant::now() };
        while !doorman.is_done() {
            reported.try_iter().for_each(&mut *observe);
            if let Some((stream, number)) = doorman.next() {
                let desk = &desk;
                desk.present.fetch_add(1, Ordering::Relaxed);
                scope.spawn(move || {
                    desk.welcome(stream, number);
                    desk.present.fetch_sub(1, Ordering::Relaxed);
                });
            }
        }
        desk.closing.store(true, Ordering::Relaxed);
    });
    reported.try_iter().for_each(observe);
    Ok(())
}

/// Accepts connections.
struct Doorman<'a> {
    desk: &'a Desk<'a>,
    listener: &'a TcpListener,
    number: u64,
    last_busy: Instant,
}

impl Doorman<'_> {
    fn is_done(&mut self) -> bool {
        let desk = self.desk;
        if desk.present.load(Ordering::Relaxed) > 0 {
            self.last_busy = Instant::now();
        }
        let too_idle = desk.service.idle_limit.is_some_and(|it| self.last_busy.elapsed() > it);
        let is_enough = desk.service.once && desk.served.load(Ordering::Relaxed) > 0;
        desk.cancel.load(Ordering::Relaxed) || too_idle || is_enough
    }

    /// The next connection and its number in the order of arrival, if one comes soon.
    fn next(&mut self) -> Option<(TcpStream, u64)> {
        if !socket::wait_readable(self.listener, LOOK) {
            return None;
        }
        let (stream, _) = self.listener.accept().ok()?;
        self.number += 1;
        // Beyond the bound a connection is closed at once; its peer sees that.
        let fits = self.desk.present.load(Ordering::Relaxed) < CONNECTIONS_LIMIT;
        let stream = Some(stream).filter(|it| fits && it.set_nonblocking(false).is_ok())?;
        Some((stream, self.number))
    }
}

/// What all connections share.
struct Desk<'a> {
    service: &'a Iperf3Service,
    address: SocketAddr,
    cancel: &'a AtomicBool,
    closing: AtomicBool,
    present: AtomicUsize,
    served: AtomicUsize,
    active: Mutex<Option<Active>>,
    reports: Mutex<mpsc::Sender<Served>>,
}

/// The test that is running, and where its streams go.
struct Active {
    cookie: Cookie,
    /// The client has ended it; the next one only has to wait a moment.
    is_ending: bool,
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
            present: AtomicUsize::new(0),
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

    /// Finds out what a connection wants, and serves it.
    fn welcome(&self, stream: TcpStream, number: u64) {
        let peer = stream.peer_addr().map_or("a client".to_owned(), |it| it.to_string());
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
        let deadline = Instant::now() + GREETING_TIMEOUT;
        while taken.len() < COOKIE_BYTES {
            let expected = "the beginning of a test";
            // Not a byte more than the cookie: what follows it belongs to the stream.
            let most = COOKIE_BYTES - taken.len();
            match control.poll(LOOK, most, expected)? {
                Some(bytes) => taken.extend(bytes),
                None if Instant::now() > deadline || self.is_closing() => {
                    let seconds = GREETING_TIMEOUT.as_secs();
                    let expected = expected.to_owned();
                    return Err(NetworkError::Silent { peer: control.peer, expected, seconds });
                }
                None => {}
            }
            // A request of qperf begins with its version, 0; no cookie does.
            if taken.first() == Some(&0) {
                return qperf_server::serve_one(control, &taken, &|| self.is_closing())
                    .map(drop);
            }
        }
        server.receive(&taken);
        let event = server.next_event().map_err(|source| broke(&control, source))?;
        match event {
            Some(ServerEvent::Cookie(cookie)) => self.admit(control, server, cookie, number),
            _ => Ok(()),
        }
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
            match &*active {
                Some(test) if test.cookie == cookie => {
                    let stream = control.stream().try_clone();
                    // A test that has ended meanwhile drops the stream, which closes it.
                    drop(stream.map(|stream| test.streams.send((number, stream))));
                    return Place::Stream;
                }
                Some(test) if test.is_ending && Instant::now() < deadline => {}
                Some(_) => return Place::None,
                None => {
                    let (sender, receiver) = mpsc::channel();
                    *active = Some(Active { cookie, is_ending: false, streams: sender });
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
