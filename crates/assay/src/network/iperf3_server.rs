//! A server for iperf3's clients, and on the same port for qperf's.
//!
//! One test at a time, others are told that the server is busy; ping-pongs run beside it. The first
//! bytes of a connection tell what it is: a cookie that opens a test, the same cookie again for each
//! stream of that test, or a request of qperf. Whoever is slow, silent or speaks something else holds
//! one thread for a bounded time and nothing else.

use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use assay_adapters::dialect::iperf3::{End, Interval, Start, StreamEnd};
use assay_adapters::wire::iperf3::parameters::{Direction, Length};
use assay_adapters::wire::iperf3::{
    COOKIE_BYTES, Cookie, Parameters, Protocol, Server, ServerEvent, datagram,
};
use assay_kernels::clock;
use assay_kernels::network::socket;
use assay_kernels::network::transfer::{Flow, Socket};

use super::control::{ANSWER_TIMEOUT, Control};
use super::error::NetworkError;
use super::iperf3_client::{self, Idle};
use super::meter::{Cut, Lane, LaneEnd, Measured, Meter};
use super::qperf_server;

/// What a server is to do.
#[derive(Debug, Clone)]
pub(crate) struct Iperf3Service {
    pub(crate) listen: SocketAddr,
    /// End after one test.
    pub(crate) once: bool,
    /// End when nobody has come for so long.
    pub(crate) idle_limit: Option<Duration>,
    /// Seconds between reports; `None` = none.
    pub(crate) interval_s: Option<f64>,
    /// Whether the streams are pinned, one CPU each, in turn.
    pub(crate) pinned: bool,
}

/// What happens while it serves.
#[derive(Debug)]
pub(crate) enum Served {
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
/// How long the streams of a test may take to come.
const STREAMS_TIMEOUT: Duration = Duration::from_secs(10);
/// What a server allows beyond the length of a test, as iperf3 does.
const GRACE: Duration = Duration::from_secs(40);
/// How long nothing may move.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
/// How soon an end is noticed.
const LOOK: Duration = Duration::from_millis(100);
/// iperf3's own number for parameters that it cannot take.
const IPERF3_CANNOT_RECEIVE_PARAMETERS: i32 = 114;

/// Serves until told to stop. Reports come in the order in which things happen.
pub(crate) fn serve(
    service: &Iperf3Service,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Served),
) -> Result<(), NetworkError> {
    let listener = listen(service.listen)?;
    serve_on(&listener, service, cancel, observe)
}

/// A listening socket, or why there is none.
pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener, NetworkError> {
    let listener = socket::listen(address);
    let listener = listener.and_then(|it| it.set_nonblocking(true).map(|()| it));
    listener.map_err(|source| NetworkError::Listen { address, source })
}

/// [`serve`] on a socket that listens already.
pub(crate) fn serve_on(
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
    source: assay_adapters::wire::iperf3::ProtocolError,
) -> NetworkError {
    NetworkError::Iperf3 { peer: control.peer.clone(), source }
}

/// One test.
struct Test<'a> {
    desk: &'a Desk<'a>,
    control: Control,
    server: Server,
    cookie: Cookie,
    streams: mpsc::Receiver<(u64, TcpStream)>,
}

impl Test<'_> {
    fn run(&mut self) -> Result<(), NetworkError> {
        self.control.send(&Server::ask_parameters())?;
        let parameters = match self.next(ANSWER_TIMEOUT, "the parameters") {
            Ok(ServerEvent::Parameters(parameters)) => *parameters,
            Ok(_) => return Ok(()),
            Err(error) => return Err(self.refuse(error)),
        };
        let mut flows = self.open_streams(&parameters).map_err(|error| self.refuse(error))?;
        if self.desk.service.pinned {
            iperf3_client::pin_in_turn(&mut flows);
        }
        let congestion = iperf3_client::congestion(&flows);
        self.report_start(&parameters, &flows);
        self.control.send(&Server::start())?;
        let measured = self.transfer(&parameters, flows)?;
        if let Some(active) = &mut *lock(&self.desk.active) {
            active.is_ending = true;
        }
        self.control.send(&Server::ask_results())?;
        match self.next(ANSWER_TIMEOUT, "the client's results")? {
            ServerEvent::Results(_) => {}
            _ => return Ok(()),
        }
        let results = iperf3_client::own_results(&measured, congestion.as_deref());
        self.control.send(&Server::results(&results))?;
        self.desk.report(Served::End(Box::new(end(&measured))));
        // A client that closes without its last word has said everything that matters.
        drop(self.next(Duration::from_secs(2), "the client's last word"));
        measured.join()
    }

    fn next(&mut self, timeout: Duration, expected: &str) -> Result<ServerEvent, NetworkError> {
        loop {
            let event = self.server.next_event().map_err(|it| broke(&self.control, it))?;
            if let Some(event) = event {
                return Ok(event);
            }
            let desk = self.desk;
            let bytes = self.control.wait(timeout, expected, &|| desk.is_closing())?;
            self.server.receive(&bytes);
        }
    }

    /// Tells the client that its parameters cannot be had.
    fn refuse(&mut self, error: NetworkError) -> NetworkError {
        let system = match &error {
            NetworkError::OpenStream { source, .. } => source.raw_os_error().unwrap_or(0),
            _ => 0,
        };
        drop(self.control.send(&Server::refuse(IPERF3_CANNOT_RECEIVE_PARAMETERS, system)));
        error
    }

    fn open_streams(&mut self, parameters: &Parameters) -> Result<Vec<Flow>, NetworkError> {
        let per_direction = parameters.streams as usize;
        let both = parameters.direction == Direction::Both;
        let count = per_direction * (1 + usize::from(both));
        let sockets = match parameters.protocol {
            Protocol::Tcp => self.accept_tcp(parameters, count)?,
            Protocol::Udp => self.accept_udp(parameters, count)?,
        };
        let sends = |index: usize| match parameters.direction {
            Direction::Forward => false,
            Direction::Reverse => true,
            Direction::Both => index >= per_direction,
        };
        let flow = |(index, socket)| iperf3_client::flow(parameters, socket, sends(index));
        Ok(sockets.into_iter().enumerate().map(flow).collect())
    }

    fn accept_tcp(
        &mut self,
        parameters: &Parameters,
        count: usize,
    ) -> Result<Vec<Socket>, NetworkError> {
        self.control.send(&Server::ask_streams())?;
        let deadline = Instant::now() + STREAMS_TIMEOUT;
        let mut numbered = Vec::new();
        while numbered.len() < count {
            match self.streams.recv_timeout(LOOK) {
                Ok(stream) => numbered.push(stream),
                Err(_) => self.check_waiting(deadline)?,
            }
        }
        // Their numbers go by their arrival, whichever thread was first to look at them.
        numbered.sort_unstable_by_key(|(number, _)| *number);
        let options = iperf3_client::options(parameters);
        let adopt = |(_, stream): (u64, TcpStream)| {
            socket::adopt_tcp(&stream, &options).map(|()| Socket::Tcp(stream))
        };
        let adopted: std::io::Result<Vec<Socket>> = numbered.into_iter().map(adopt).collect();
        adopted.map_err(|source| self.not_opened(source))
    }

    fn accept_udp(
        &mut self,
        parameters: &Parameters,
        count: usize,
    ) -> Result<Vec<Socket>, NetworkError> {
        let address = match self.control.stream().local_addr() {
            Ok(own) => SocketAddr::new(self.desk.address.ip(), own.port()),
            Err(_) => self.desk.address,
        };
        let options = iperf3_client::options(parameters);
        // The socket that hears the next hello exists before the client may send it.
        let mut next = socket::bind_udp(address).map_err(|source| self.not_opened(source))?;
        self.control.send(&Server::ask_streams())?;
        let deadline = Instant::now() + STREAMS_TIMEOUT;
        let mut sockets = Vec::new();
        while sockets.len() < count {
            if !socket::wait_readable(&next, LOOK) {
                self.check_waiting(deadline)?;
                continue;
            }
            let is_last = sockets.len() + 1 == count;
            let following = welcome_udp(&next, address, is_last, &options);
            match following.map_err(|source| self.not_opened(source))? {
                Hello::Foreign => {}
                Hello::Last => {
                    sockets.push(next);
                    break;
                }
                Hello::More(following) => sockets.push(std::mem::replace(&mut next, following)),
            }
        }
        let wide = parameters.wide_counters;
        Ok(sockets.into_iter().map(|socket| Socket::Udp { socket, wide }).collect())
    }

    /// While streams are awaited, the client may give up or vanish.
    fn check_waiting(&mut self, deadline: Instant) -> Result<(), NetworkError> {
        if self.desk.is_closing() {
            return Err(NetworkError::Interrupted);
        }
        let expected = "the streams of the test";
        if let Some(bytes) = self.control.poll(Duration::ZERO, usize::MAX, expected)? {
            self.server.receive(&bytes);
            self.server.next_event().map_err(|source| broke(&self.control, source))?;
        }
        if Instant::now() > deadline {
            let (peer, seconds) = (self.control.peer.clone(), STREAMS_TIMEOUT.as_secs());
            return Err(NetworkError::Silent { peer, expected: expected.to_owned(), seconds });
        }
        Ok(())
    }

    fn not_opened(&self, source: std::io::Error) -> NetworkError {
        NetworkError::OpenStream { peer: self.control.peer.clone(), source }
    }

    fn report_start(&self, parameters: &Parameters, flows: &[Flow]) {
        let peer = self.control.stream().peer_addr();
        let peer = peer.map_or((self.control.peer.clone(), 0), |address| {
            (address.ip().to_canonical().to_string(), address.port())
        });
        let start = iperf3_client::start(parameters, flows, peer, &self.cookie.text(), false);
        self.desk.report(Served::Start(Box::new(start)));
    }

    fn transfer(
        &mut self,
        parameters: &Parameters,
        flows: Vec<Flow>,
    ) -> Result<Measured, NetworkError> {
        let lanes: Vec<Lane> = flows.iter().map(iperf3_client::lane).collect();
        let cut = Cut {
            udp: parameters.protocol == Protocol::Udp,
            omit_s: f64::from(parameters.omit_s),
            interval_s: self.desk.service.interval_s,
            limit_bytes: iperf3_client::limit_bytes(parameters),
        };
        let mut meter = Meter::start(flows, lanes, cut)?;
        let desk = self.desk;
        let mut tell = |interval: &Interval| desk.report(Served::Interval(interval.clone()));
        self.watch(&mut meter, parameters, &mut tell)?;
        Ok(meter.end(None, &mut tell))
    }

    /// Waits until the client ends the test.
    fn watch(
        &mut self,
        meter: &mut Meter,
        parameters: &Parameters,
        tell: &mut dyn FnMut(&Interval),
    ) -> Result<(), NetworkError> {
        let longest = match parameters.length {
            Length::Seconds(seconds) => {
                let counted = Duration::from_secs(u64::from(seconds + parameters.omit_s));
                Some(Instant::now() + counted + GRACE)
            }
            Length::Bytes(_) | Length::Blocks(_) => None,
        };
        let mut idle = Idle::new(IDLE_TIMEOUT);
        loop {
            meter.tick(tell);
            let due = Duration::from_nanos(meter.due_ns().saturating_sub(clock::now_ns()));
            let wait = due.clamp(Duration::from_millis(1), LOOK);
            if let Some(bytes) = self.control.poll(wait, usize::MAX, "the end of the test")? {
                self.server.receive(&bytes);
            }
            let event = self.server.next_event().map_err(|it| broke(&self.control, it))?;
            if event == Some(ServerEvent::Ended) {
                if parameters.direction == Direction::Forward {
                    take_the_rest(meter, parameters);
                }
                return Ok(());
            }
            if self.desk.is_closing() {
                return Err(NetworkError::Interrupted);
            }
            let is_late = longest.is_some_and(|longest| Instant::now() > longest);
            if is_late || idle.is_too_long(meter.moved_bytes()) {
                let (peer, seconds) = (self.control.peer.clone(), GRACE.as_secs());
                let expected = "the end of the test".to_owned();
                return Err(NetworkError::Silent { peer, expected, seconds });
            }
        }
    }
}

/// Under a limit, what the client has sent may still lie in the kernel when it ends the test.
fn take_the_rest(meter: &Meter, parameters: &Parameters) {
    /// Data that is there is read at once; what takes longer was lost.
    const LONGEST: Duration = Duration::from_millis(200);
    let Some(limit_bytes) = iperf3_client::limit_bytes(parameters) else { return };
    let deadline = Instant::now() + LONGEST;
    while meter.received_bytes() < limit_bytes && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What came on the socket that waits for hellos.
enum Hello {
    Foreign,
    Last,
    More(UdpSocket),
}

/// Takes one hello: the socket becomes the stream, and unless it was the last, another waits.
fn welcome_udp(
    waiting: &UdpSocket,
    address: SocketAddr,
    is_last: bool,
    options: &socket::SocketOptions,
) -> std::io::Result<Hello> {
    let mut hello = [0; 64];
    let (bytes, peer) = waiting.recv_from(&mut hello)?;
    if hello[..bytes] != datagram::HELLO {
        return Ok(Hello::Foreign);
    }
    waiting.connect(peer)?;
    socket::adopt_udp(waiting, options)?;
    // Before the answer, because the next hello may follow it at once.
    let more = if is_last { None } else { Some(socket::bind_udp(address)?) };
    waiting.send(&datagram::HELLO_REPLY)?;
    Ok(more.map_or(Hello::Last, Hello::More))
}

/// A server knows its own view alone.
fn end(measured: &Measured) -> End {
    let stream = |lane: &LaneEnd| StreamEnd {
        socket: lane.lane.socket,
        sends: lane.lane.sends,
        sent: lane.lane.sends.then_some(lane.whole),
        received: (!lane.lane.sends).then_some(lane.whole),
        rtt_us: lane.rtt_us,
        windows_bytes: lane.windows_bytes,
    };
    let process = measured.process;
    End {
        streams: measured.lanes.iter().map(stream).collect(),
        cpu_here: (process.total, process.user, process.system),
        ..End::default()
    }
}
