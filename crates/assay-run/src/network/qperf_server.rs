//! Server for qperf's clients: ping-pong and bandwidth over TCP and UDP, and the description of
//! this host. For assay's clients it also answers many short connections.
//!
//! Each request has its own thread; their number and memory are limited. The data socket is bound
//! only to the address of the request, and accepts only the requesting host. The test ends when the
//! client disconnects.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_dialects::wire::qperf::{
    MessageCounts, QperfConfiguration, QperfRequest, QperfServer, QperfServerEvent,
    QperfStatistics, QperfTestKind,
};
use assay_kernels::clock;
use assay_kernels::network::pingpong::{self, PingPongSocket};
use assay_kernels::network::socket::{self, SocketOptions};
use assay_kernels::network::stream::CopyMode;
use assay_kernels::network::thread_refusal::ThreadRefusal;
use assay_kernels::network::transfer::{Flow, Socket, Transfer};
use assay_kernels::pin;
use assay_model::cpu_times::TICKS_PER_S;

use super::admission::{
    self, Admission, Admissions, BoundedListener, ConnectionResources, POLL_INTERVAL,
};
use super::control::{self, ControlConnection};
use super::error::NetworkError;
use super::qperf_client::{DATAGRAM_FORMAT, cpu_count, host_times};

mod connections;

/// Limits of all simultaneous requests, each of which takes up to three threads. One host can use
/// half of them.
const TOTAL_REQUESTS: ConnectionResources =
    ConnectionResources { connections: 64, bytes: 256 << 20 };
/// Limits per host: memory for the longest message of the protocol.
const PEER_REQUESTS: ConnectionResources =
    ConnectionResources { connections: 32, bytes: 64 << 20 };
/// Timeout of the next step of the protocol.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);
/// Time that a client may continue a test beyond its end.
const GRACE: Duration = Duration::from_secs(2);

/// Options of a server.
#[derive(Debug, Clone, Copy)]
pub struct QperfService {
    pub listen: SocketAddr,
    /// Whether to end after one request.
    pub once: bool,
    /// Time without clients after which the server ends.
    pub idle_limit: Option<Duration>,
    /// Whether other hosts may stop the server.
    pub allow_quit: bool,
    /// Clock of all deadlines in nanoseconds: the monotonic one, or one that a test moves.
    pub clock: fn() -> u64,
}

/// Admission control of qperf's connections.
pub(super) fn request_admissions() -> Admissions {
    Admissions::new(TOTAL_REQUESTS, PEER_REQUESTS)
}

/// Serves until cancelled or asked to quit, until the idle limit, or for one request.
pub fn serve(
    service: &QperfService,
    cancel: &AtomicBool,
    observe: &(dyn Fn(Result<&QperfRequest, &NetworkError>) + Sync),
) -> Result<(), NetworkError> {
    let listener = control::listen(service.listen)?;
    let (guests, served, quit) =
        (request_admissions(), AtomicBool::new(false), AtomicBool::new(false));
    let is_closing = || cancel.load(Ordering::Relaxed) || quit.load(Ordering::Relaxed);
    let mut last_busy_ns = (service.clock)();
    let mut door = BoundedListener::new(&listener, &guests);
    let answer = |stream: TcpStream, peer: SocketAddr, guest: Admission<'_>| {
        let outcome = ControlConnection::with_clock(stream, peer.to_string(), service.clock)
            .and_then(|control| serve_one((control, guest), &[], &is_closing))
            .and_then(|request| check_quit(service, request, peer));
        if outcome.as_ref().is_ok_and(|request| request.test == QperfTestKind::Quit) {
            quit.store(true, Ordering::Relaxed);
        }
        observe(outcome.as_ref());
        served.store(true, Ordering::Relaxed);
    };
    thread::scope(|scope| {
        loop {
            let now_ns = (service.clock)();
            if !guests.is_empty() {
                last_busy_ns = now_ns;
            }
            let idle = Duration::from_nanos(now_ns.saturating_sub(last_busy_ns));
            let is_enough = service.once && served.load(Ordering::Relaxed);
            let too_idle = service.idle_limit.is_some_and(|limit| idle > limit);
            if is_closing() || is_enough || too_idle {
                return;
            }
            let (stream, peer, guest) = match door.accept_next() {
                Ok(Some(arrived)) => arrived,
                Ok(None) => continue,
                Err(error) => {
                    observe(Err(&error));
                    continue;
                }
            };
            let answer = &answer;
            let started =
                admission::spawn_connection(scope, move || answer(stream, peer, guest));
            if let Err(source) = started {
                observe(Err(&NetworkError::Serve { peer: peer.to_string(), source }));
            }
        }
    });
    Ok(())
}

/// Rejects requests of other hosts to stop the server, unless they are allowed.
fn check_quit(
    service: &QperfService,
    request: QperfRequest,
    peer: SocketAddr,
) -> Result<QperfRequest, NetworkError> {
    let is_near = peer.ip().to_canonical().is_loopback();
    match request.test {
        QperfTestKind::Quit if !is_near && !service.allow_quit => {
            Err(NetworkError::Quit { peer: peer.to_string() })
        }
        _ => Ok(request),
    }
}

/// Serves one request, whose first bytes may have arrived already, and returns it.
pub(super) fn serve_one(
    (control, guest): (ControlConnection, Admission<'_>),
    taken: &[u8],
    is_closing: &(dyn Fn() -> bool + Sync),
) -> Result<QperfRequest, NetworkError> {
    let mut machine = QperfServer::default();
    machine.receive(taken);
    let mut conversation =
        QperfServerSession { control, admission: guest, server: machine, is_closing };
    let QperfServerEvent::Request(request) = conversation.next_event("a request of qperf")?
    else {
        return Err(conversation.closed_error());
    };
    match request.test {
        QperfTestKind::Quit => {}
        QperfTestKind::Configuration => {
            conversation.control.send(&QperfServer::configuration_message(&configuration()))?;
        }
        _ => conversation.measure(&request)?,
    }
    Ok(request)
}

struct QperfServerSession<'a> {
    control: ControlConnection,
    admission: Admission<'a>,
    server: QperfServer,
    is_closing: &'a (dyn Fn() -> bool + Sync),
}

/// Socket for the client's data.
enum DataListener {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

impl QperfServerSession<'_> {
    fn next_event(&mut self, expected: &str) -> Result<QperfServerEvent, NetworkError> {
        let step = self.control.start_step(STEP_TIMEOUT);
        loop {
            let peer = &self.control.peer;
            let broke = |source| NetworkError::Qperf { peer: peer.clone(), source };
            if let Some(event) = self.server.next_event().map_err(broke)? {
                return Ok(event);
            }
            let bytes = self.control.receive(&step, expected, self.is_closing)?;
            self.server.receive(&bytes);
        }
    }

    fn closed_error(&self) -> NetworkError {
        let expected = "the next step of the protocol".to_owned();
        NetworkError::Closed { peer: self.control.peer.clone(), expected }
    }

    fn open_error(&self, source: io::Error) -> NetworkError {
        NetworkError::OpenStream { peer: self.control.peer.clone(), source }
    }

    fn measure(&mut self, request: &QperfRequest) -> Result<(), NetworkError> {
        let wanted = buffer_bytes(request);
        if !self.admission.reserve(wanted) {
            return Err(NetworkError::Memory { peer: self.control.peer.clone(), wanted });
        }
        if let Some(cpu) = request.cpu.checked_sub(1) {
            // The thread of the connection, which starts those of the test.
            pin::pin_current_thread(cpu as usize).map_err(|source| NetworkError::Cpu {
                peer: self.control.peer.clone(),
                cpu: request.cpu,
                source,
            })?;
        }
        if request.test == QperfTestKind::TcpConnections {
            return self.measure_connections(request);
        }
        let awaited =
            self.open_data_socket(request).map_err(|source| self.open_error(source))?;
        let port = match &awaited {
            DataListener::Tcp(listener) => listener.local_addr(),
            DataListener::Udp(socket) => socket.local_addr(),
        };
        let port = port.map_err(|source| self.open_error(source))?.port();
        self.control.send(&QperfServer::port_message(port))?;
        let data = self.accept_data(awaited, request)?;
        self.control.send(&QperfServer::sync_message())?;
        match self.next_event("the start of the test")? {
            QperfServerEvent::Run => {}
            _ => return Err(self.closed_error()),
        }
        let statistics = self.run(data, request)?;
        self.finish(&statistics)
    }

    fn finish(&mut self, statistics: &QperfStatistics) -> Result<(), NetworkError> {
        self.control.send(&QperfServer::statistics_message(statistics))?;
        // The client closes the connection in either case.
        drop(self.next_event("the client's last words"));
        Ok(())
    }

    /// Returns the address of the data, with the port that the client requests; 0 = any.
    fn data_address(&self, request: &QperfRequest) -> io::Result<SocketAddr> {
        let mut address = self.control.stream().local_addr()?;
        address.set_port(request.port);
        Ok(address)
    }

    fn open_data_socket(&self, request: &QperfRequest) -> io::Result<DataListener> {
        let address = self.data_address(request)?;
        if request.test.is_udp() {
            let socket = socket::bind_udp(address)?;
            socket::configure_udp(&socket, &socket_options(request))?;
            Ok(DataListener::Udp(socket))
        } else {
            let listener = socket::listen(address)?;
            listener.set_nonblocking(true)?;
            Ok(DataListener::Tcp(listener))
        }
    }

    /// Waits for the client's TCP stream; a UDP socket waits for its first datagram later.
    fn accept_data(
        &self,
        awaited: DataListener,
        request: &QperfRequest,
    ) -> Result<Socket, NetworkError> {
        let listener = match awaited {
            DataListener::Udp(socket) => {
                return Ok(Socket::Udp { socket, format: DATAGRAM_FORMAT });
            }
            DataListener::Tcp(listener) => listener,
        };
        let step = self.control.start_step(STEP_TIMEOUT);
        let stream = loop {
            if (self.is_closing)() {
                return Err(NetworkError::Interrupted);
            }
            if step.is_over() {
                return Err(step.timeout_error(&self.control.peer, "the data connection"));
            }
            if !socket::wait_readable(&listener, POLL_INTERVAL) {
                continue;
            }
            match listener.accept() {
                Ok((stream, peer)) if self.is_client(peer.ip()) => break stream,
                // Drops and thereby closes a connection of another host.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(source) => return Err(self.open_error(source)),
            }
        };
        let adopted = stream.set_nonblocking(false);
        let adopted =
            adopted.and_then(|()| socket::configure_tcp(&stream, &socket_options(request)));
        adopted.map_err(|source| self.open_error(source))?;
        Ok(Socket::Tcp(stream))
    }

    fn is_client(&self, ip: IpAddr) -> bool {
        let client = self.control.stream().peer_addr();
        client.is_ok_and(|client| client.ip().to_canonical() == ip.to_canonical())
    }

    /// Whether the test is over because the client has disconnected or the server ends.
    fn is_abandoned(&self) -> bool {
        (self.is_closing)() || self.control.has_input()
    }

    fn run(
        &self,
        data: Socket,
        request: &QperfRequest,
    ) -> Result<QperfStatistics, NetworkError> {
        let deadline_ns = clock::now_ns() + u64::from(request.time_s) * 1_000_000_000;
        let start = host_times();
        let (sent, received) = if request.test.is_latency() {
            self.echo(data, request, deadline_ns)?
        } else {
            (MessageCounts::default(), self.receive(data, request, deadline_ns)?)
        };
        Ok(QperfStatistics {
            cpus: cpu_count(),
            ticks_per_s: TICKS_PER_S,
            start,
            end: host_times(),
            sent,
            received,
        })
    }

    fn echo(
        &self,
        data: Socket,
        request: &QperfRequest,
        deadline_ns: u64,
    ) -> Result<(MessageCounts, MessageCounts), NetworkError> {
        let line = match data {
            Socket::Tcp(stream) => PingPongSocket::Tcp(stream),
            Socket::Udp { socket, .. } => match self.connect_first_sender(&socket, deadline_ns)
            {
                true => PingPongSocket::Udp(socket),
                false => return Ok((MessageCounts::default(), MessageCounts::default())),
            },
        };
        let bytes = request.message_bytes.max(1) as usize;
        let (stop, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let echoed = thread::scope(|scope| {
            // The client's timer ends the test; this one stops a client that continues.
            let watch = || {
                let last_ns = deadline_ns + GRACE.as_nanos() as u64;
                while !is_over.load(Ordering::Relaxed) {
                    thread::park_timeout(POLL_INTERVAL);
                    if self.is_abandoned() || clock::now_ns() > last_ns {
                        stop.store(true, Ordering::Relaxed);
                        return;
                    }
                }
            };
            let started = thread::Builder::new().spawn_scoped(scope, watch);
            let watcher = started.map_err(ThreadRefusal::wrap)?;
            let echoed = pingpong::echo(&line, bytes, deadline_ns, &stop);
            is_over.store(true, Ordering::Relaxed);
            watcher.thread().unpark();
            echoed
        });
        let messages = echoed.map_err(|source| NetworkError::PingPong {
            peer: self.control.peer.clone(),
            source,
        })?;
        let counts = MessageCounts { bytes: messages * bytes as u64, messages, errors: 0 };
        Ok((counts, counts))
    }

    /// Connects the socket to the first sender on the client's host.
    fn connect_first_sender(&self, socket: &UdpSocket, deadline_ns: u64) -> bool {
        while clock::now_ns() < deadline_ns && !self.is_abandoned() {
            if !socket::wait_readable(socket, POLL_INTERVAL) {
                continue;
            }
            match socket.peek_from(&mut [0; 1]) {
                Ok((_, peer)) if self.is_client(peer.ip()) => {
                    return socket.connect(peer).is_ok();
                }
                // Discards a datagram of another host.
                _ => drop(socket.recv(&mut [0; 1])),
            }
        }
        false
    }

    fn receive(
        &self,
        socket: Socket,
        request: &QperfRequest,
        deadline_ns: u64,
    ) -> Result<MessageCounts, NetworkError> {
        let block_bytes = buffer_bytes(request);
        let is_udp = matches!(socket, Socket::Udp { .. });
        if let Socket::Udp { socket, .. } = &socket
            && !self.connect_first_sender(socket, deadline_ns)
        {
            return Ok(MessageCounts::default());
        }
        let copying = CopyMode::Copy;
        let flow = Flow {
            socket,
            sends: false,
            block_bytes,
            copying,
            pace: None,
            cpu: None,
            file: None,
        };
        let transfer = Transfer::start(vec![flow], None)
            .map_err(|source| NetworkError::Start { source })?;
        while clock::now_ns() < deadline_ns && !self.is_abandoned() && !transfer.is_over() {
            let left = Duration::from_nanos(deadline_ns.saturating_sub(clock::now_ns()));
            thread::sleep(left.min(Duration::from_millis(20)));
        }
        let seen = transfer.snapshots().first().copied().unwrap_or_default();
        transfer.finish();
        let bytes = seen.bytes;
        let message = u64::from(request.message_bytes.max(1));
        let messages = if is_udp { bytes.div_ceil(message) } else { bytes / message };
        Ok(MessageCounts { bytes, messages, errors: 0 })
    }
}

/// Memory of a test: an echoed message is held completely, a stream is received in parts of limited
/// size.
fn buffer_bytes(request: &QperfRequest) -> usize {
    const RECEIVE_LIMIT_BYTES: usize = 1 << 20;
    let bytes = request.message_bytes.max(1) as usize;
    let is_whole = request.test.is_latency() || request.test == QperfTestKind::TcpConnections;
    if is_whole { bytes } else { bytes.min(RECEIVE_LIMIT_BYTES) }
}

fn socket_options(request: &QperfRequest) -> SocketOptions {
    let bytes = request.socket_buffer_bytes;
    SocketOptions {
        window_bytes: (bytes > 0).then_some(bytes),
        no_delay: request.test.is_latency(),
        ..SocketOptions::default()
    }
}

/// Description of this host in qperf's four texts.
pub fn configuration() -> QperfConfiguration {
    let facts = assay_fleet::facts::read(&assay_fleet::root::Root::machine());
    QperfConfiguration {
        node: facts.name,
        cpu: format!("{} Cores: {}", facts.topology.cpus.len(), facts.cpu.model),
        os: format!("Linux {}", facts.system.kernel),
        qperf: format!("assay {}", env!("CARGO_PKG_VERSION")),
    }
}
