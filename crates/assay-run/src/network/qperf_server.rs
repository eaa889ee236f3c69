//! A server for qperf's clients: ping-pong and bandwidth over TCP and UDP, and what this host is.
//!
//! One thread per request, a bounded number of them; the data socket waits on the address that the
//! request came to and nowhere else.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use assay_dialects::wire::qperf::{
    Configuration, Counts, Request, Server, ServerEvent, Statistics, Test,
};
use assay_kernels::clock;
use assay_kernels::network::pingpong::{self, Line};
use assay_kernels::network::socket::{self, SocketOptions};
use assay_kernels::network::stream::Copying;
use assay_kernels::network::transfer::{Flow, Socket, Transfer};
use assay_model::cpu_times::TICKS_PER_S;

use super::control::{self, Control};
use super::error::NetworkError;
use super::qperf_client::{times, times_cpus};

/// Requests served at the same time.
const REQUESTS_LIMIT: usize = 64;
/// How long the next step of the protocol may take.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);

/// Serves until cancelled, until nobody has come for `idle_limit`, or, with `once`, after one request.
pub fn serve(
    address: SocketAddr,
    once: bool,
    idle_limit: Option<Duration>,
    cancel: &AtomicBool,
    observe: &(dyn Fn(Result<&Request, &NetworkError>) + Sync),
) -> Result<(), NetworkError> {
    let listener = control::listen(address)?;
    let (present, served, quit) =
        (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let is_closing = || cancel.load(Ordering::Relaxed) || quit.load(Ordering::Relaxed);
    let mut last_busy = Instant::now();
    std::thread::scope(|scope| {
        loop {
            let busy = present.load(Ordering::Relaxed);
            if busy > 0 {
                last_busy = Instant::now();
            }
            let is_enough = once && served.load(Ordering::Relaxed) > 0;
            let too_idle = idle_limit.is_some_and(|limit| last_busy.elapsed() > limit);
            if is_closing() || is_enough || too_idle {
                return;
            }
            if !socket::wait_readable(&listener, LOOK) {
                continue;
            }
            let Ok((stream, peer)) = listener.accept() else { continue };
            if busy >= REQUESTS_LIMIT || stream.set_nonblocking(false).is_err() {
                continue;
            }
            present.fetch_add(1, Ordering::Relaxed);
            let (present, served, quit, is_closing) = (&present, &served, &quit, &is_closing);
            scope.spawn(move || {
                let outcome = Control::new(stream, peer.to_string())
                    .and_then(|control| serve_one(control, &[], is_closing));
                match &outcome {
                    Ok(request) if request.test == Test::Quit => {
                        quit.store(true, Ordering::Relaxed);
                    }
                    _ => {}
                }
                observe(outcome.as_ref());
                served.fetch_add(1, Ordering::Relaxed);
                present.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    Ok(())
}

/// Serves one request, of which some bytes may have arrived already. What it was comes back.
pub fn serve_one(
    control: Control,
    taken: &[u8],
    is_closing: &dyn Fn() -> bool,
) -> Result<Request, NetworkError> {
    let mut machine = Server::default();
    machine.receive(taken);
    let mut conversation = Conversation { control, machine, is_closing };
    let ServerEvent::Request(request) = conversation.next("a request of qperf")? else {
        return Err(conversation.closed());
    };
    match request.test {
        Test::Quit => {}
        Test::Configuration => {
            conversation.control.send(&Server::configuration(&configuration()))?;
        }
        _ => conversation.measure(&request)?,
    }
    Ok(request)
}

struct Conversation<'a> {
    control: Control,
    machine: Server,
    is_closing: &'a dyn Fn() -> bool,
}

/// The socket on which the client's data will arrive.
enum Door {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

impl Conversation<'_> {
    fn next(&mut self, expected: &str) -> Result<ServerEvent, NetworkError> {
        loop {
            let peer = &self.control.peer;
            let broke = |source| NetworkError::Qperf { peer: peer.clone(), source };
            if let Some(event) = self.machine.next_event().map_err(broke)? {
                return Ok(event);
            }
            let bytes = self.control.wait(STEP_TIMEOUT, expected, self.is_closing)?;
            self.machine.receive(&bytes);
        }
    }

    fn closed(&self) -> NetworkError {
        let expected = "the next step of the protocol".to_owned();
        NetworkError::Closed { peer: self.control.peer.clone(), expected }
    }

    fn not_opened(&self, source: io::Error) -> NetworkError {
        NetworkError::OpenStream { peer: self.control.peer.clone(), source }
    }

    fn measure(&mut self, request: &Request) -> Result<(), NetworkError> {
        let door = self.open(request).map_err(|source| self.not_opened(source))?;
        let port = match &door {
            Door::Tcp(listener) => listener.local_addr(),
            Door::Udp(socket) => socket.local_addr(),
        };
        let port = port.map_err(|source| self.not_opened(source))?.port();
        self.control.send(&Server::port(port))?;
        let data = self.enter(door, request)?;
        self.control.send(&Server::ready())?;
        match self.next("the start of the test")? {
            ServerEvent::Run => {}
            _ => return Err(self.closed()),
        }
        let statistics = self.run(data, request)?;
        self.control.send(&Server::statistics(&statistics))?;
        // The client closes either way.
        drop(self.next("the client's last words"));
        Ok(())
    }

    fn open(&self, request: &Request) -> io::Result<Door> {
        let mut address = self.control.stream().local_addr()?;
        address.set_port(0);
        if request.test.is_udp() {
            let socket = socket::bind_udp(address)?;
            socket::adopt_udp(&socket, &options(request))?;
            Ok(Door::Udp(socket))
        } else {
            let listener = socket::listen(address)?;
            listener.set_nonblocking(true)?;
            Ok(Door::Tcp(listener))
        }
    }

    /// A stream has to come; a datagram socket waits for its first datagram later.
    fn enter(&self, door: Door, request: &Request) -> Result<Socket, NetworkError> {
        let listener = match door {
            Door::Udp(socket) => return Ok(Socket::Udp { socket, wide: true }),
            Door::Tcp(listener) => listener,
        };
        let deadline = Instant::now() + STEP_TIMEOUT;
        while !socket::wait_readable(&listener, LOOK) {
            if (self.is_closing)() {
                return Err(NetworkError::Interrupted);
            }
            if Instant::now() > deadline {
                let (peer, seconds) = (self.control.peer.clone(), STEP_TIMEOUT.as_secs());
                let expected = "the data connection".to_owned();
                return Err(NetworkError::Silent { peer, expected, seconds });
            }
        }
        let opened = listener.accept().and_then(|(stream, _)| {
            stream.set_nonblocking(false)?;
            socket::adopt_tcp(&stream, &options(request))?;
            Ok(Socket::Tcp(stream))
        });
        opened.map_err(|source| self.not_opened(source))
    }

    fn run(&self, data: Socket, request: &Request) -> Result<Statistics, NetworkError> {
        let deadline_ns = clock::now_ns() + u64::from(request.time_s) * 1_000_000_000;
        let start = times();
        let (sent, received) = if request.test.is_latency() {
            self.echo(data, request, deadline_ns)?
        } else {
            (Counts::default(), self.receive(data, request, deadline_ns)?)
        };
        Ok(Statistics {
            cpus: times_cpus(),
            ticks_per_s: TICKS_PER_S,
            start,
            end: times(),
            sent,
            received,
        })
    }

    fn echo(
        &self,
        data: Socket,
        request: &Request,
        deadline_ns: u64,
    ) -> Result<(Counts, Counts), NetworkError> {
        let line = match data {
            Socket::Tcp(stream) => Line::Tcp(stream),
            Socket::Udp { socket, .. } => match self.first_sender(&socket, deadline_ns) {
                true => Line::Udp(socket),
                false => return Ok((Counts::default(), Counts::default())),
            },
        };
        let bytes = request.message_bytes.max(1) as usize;
        let stop = AtomicBool::new(false);
        let messages = pingpong::echo(&line, bytes, deadline_ns, &stop).map_err(|source| {
            NetworkError::PingPong { peer: self.control.peer.clone(), source }
        })?;
        let counts = Counts { bytes: messages * bytes as u64, messages, errors: 0 };
        Ok((counts, counts))
    }

    /// Ties the socket to whoever sends the first datagram from the client's host.
    fn first_sender(&self, socket: &UdpSocket, deadline_ns: u64) -> bool {
        let client = self.control.stream().peer_addr().map(|address| address.ip());
        while clock::now_ns() < deadline_ns && !(self.is_closing)() {
            if !socket::wait_readable(socket, LOOK) {
                continue;
            }
            match socket.peek_from(&mut [0; 1]) {
                Ok((_, peer)) if client.as_ref().is_ok_and(|ip| *ip == peer.ip()) => {
                    return socket.connect(peer).is_ok();
                }
                // A stranger's datagram is taken out of the way.
                _ => drop(socket.recv(&mut [0; 1])),
            }
        }
        false
    }

    fn receive(
        &self,
        socket: Socket,
        request: &Request,
        deadline_ns: u64,
    ) -> Result<Counts, NetworkError> {
        let block_bytes = request.message_bytes.max(1) as usize;
        let is_udp = matches!(socket, Socket::Udp { .. });
        if let Socket::Udp { socket, .. } = &socket
            && !self.first_sender(socket, deadline_ns)
        {
            return Ok(Counts::default());
        }
        let copying = Copying::Copy;
        // What qperf sends are whole messages; a stream's are put together in a buffer of their size.
        let block_bytes = block_bytes.min(RECEIVE_LIMIT_BYTES);
        let flow = Flow { socket, sends: false, block_bytes, copying, pace: None, cpu: None };
        let transfer = Transfer::start(vec![flow], None)
            .map_err(|source| NetworkError::Start { source })?;
        while clock::now_ns() < deadline_ns && !(self.is_closing)() && !transfer.is_over() {
            let left = Duration::from_nanos(deadline_ns.saturating_sub(clock::now_ns()));
            std::thread::sleep(left.min(Duration::from_millis(20)));
        }
        let seen = transfer.snapshots().first().copied().unwrap_or_default();
        transfer.finish();
        let bytes = seen.bytes;
        let message = u64::from(request.message_bytes.max(1));
        let messages = if is_udp { bytes.div_ceil(message) } else { bytes / message };
        Ok(Counts { bytes, messages, errors: 0 })
    }
}

/// A peer may announce messages of any size; this much is received at once at most.
const RECEIVE_LIMIT_BYTES: usize = 1 << 20;

fn options(request: &Request) -> SocketOptions {
    let bytes = request.socket_buffer_bytes;
    SocketOptions {
        window_bytes: (bytes > 0).then_some(bytes),
        no_delay: request.test.is_latency(),
        ..SocketOptions::default()
    }
}

/// What this host is, in qperf's four texts.
pub fn configuration() -> Configuration {
    let facts = assay_fleet::facts::read(&assay_fleet::root::Root::machine());
    Configuration {
        node: facts.name,
        cpu: format!("{} Cores: {}", facts.topology.cpus.len(), facts.cpu.model),
        os: format!("Linux {}", facts.system.kernel),
        qperf: format!("assay {}", env!("CARGO_PKG_VERSION")),
    }
}
