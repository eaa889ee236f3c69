//! Server of sockperf's protocol: returns the messages that request it.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use assay_dialects::wire::sockperf::{SockperfHeader, SockperfReceiver};
use assay_kernels::network::socket::{self, SocketOptions};
use assay_model::poisoned_lock::PoisonedLock as _;

use super::admission::{
    self, Admission, Admissions, BoundedListener, ConnectionResources, POLL_INTERVAL,
};
use super::control;
use super::error::NetworkError;
use super::sockperf_client::{MessageSocket, is_no_data};

mod gaps;

pub use gaps::{GapEvent, SequenceGaps};

/// Limits of all simultaneous connections, and of one host.
const TOTAL_CONNECTIONS: ConnectionResources =
    ConnectionResources { connections: 128, bytes: 256 << 20 };
const PEER_CONNECTIONS: ConnectionResources =
    ConnectionResources { connections: 64, bytes: 128 << 20 };

/// Time without a message, or without room for a reply, after which a connection is closed: its
/// client may have vanished.
const IDLE_LIMIT: Duration = Duration::from_secs(120);

/// Options of a server.
#[derive(Debug, Clone)]
pub struct SockperfService {
    pub listen: SocketAddr,
    pub is_tcp: bool,
    /// Longest message that is received.
    pub max_message_bytes: usize,
    /// Whether messages that request it are returned.
    pub replies: bool,
    /// Whether numbers that are missing are reported.
    pub detects_gaps: bool,
    /// Whether other sockets that permit it, too, may have the same UDP port.
    pub shares_port: bool,
    pub socket: SocketOptions,
}

#[derive(Debug)]
pub enum SockperfServerEvent<'a> {
    /// The port is open.
    Listening,
    /// A session began, or numbers are missing.
    Gap(GapEvent),
    /// A connection failed; the others go on.
    Failed(&'a NetworkError),
}

/// Result of a server.
#[derive(Debug)]
pub struct SockperfServed {
    /// Number of received messages.
    pub received: u64,
    /// Clients with the number of their missing messages, if that was requested.
    pub sessions: Vec<(SocketAddr, u64)>,
}

/// Serves until cancelled.
///
/// # Errors
/// The port cannot be opened.
pub fn serve(
    service: &SockperfService,
    cancel: &AtomicBool,
    observe: &(dyn Fn(SockperfServerEvent<'_>) + Sync),
) -> Result<SockperfServed, NetworkError> {
    let server = SockperfServer::new(service, cancel, observe);
    match service.is_tcp {
        true => server.serve_streams()?,
        false => server.serve_datagrams()?,
    }
    Ok(SockperfServed {
        received: server.received.load(Ordering::Relaxed),
        sessions: server.gaps.into_inner().unwrap_or_else(|it| it.into_inner()).summary(),
    })
}

struct SockperfServer<'a> {
    service: &'a SockperfService,
    cancel: &'a AtomicBool,
    observe: &'a (dyn Fn(SockperfServerEvent<'_>) + Sync),
    idle_limit: Duration,
    received: AtomicU64,
    gaps: Mutex<SequenceGaps>,
}

impl<'a> SockperfServer<'a> {
    fn new(
        service: &'a SockperfService,
        cancel: &'a AtomicBool,
        observe: &'a (dyn Fn(SockperfServerEvent<'_>) + Sync),
    ) -> Self {
        Self {
            service,
            cancel,
            observe,
            idle_limit: IDLE_LIMIT,
            received: AtomicU64::new(0),
            gaps: Mutex::new(SequenceGaps::default()),
        }
    }

    fn is_over(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    fn serve_datagrams(&self) -> Result<(), NetworkError> {
        let address = self.service.listen;
        let refuse = |source| NetworkError::Listen { address, source };
        let socket = match self.service.shares_port {
            true => socket::bind_udp(address).map_err(refuse)?,
            false => UdpSocket::bind(address).map_err(refuse)?,
        };
        socket::configure_udp(&socket, &self.service.socket).map_err(refuse)?;
        socket.set_read_timeout(Some(POLL_INTERVAL)).map_err(refuse)?;
        (self.observe)(SockperfServerEvent::Listening);
        let mut buffer = SockperfReceiver::new(self.service.max_message_bytes);
        while !self.is_over() {
            let room = buffer.room_for_datagram();
            let (bytes, peer) = match socket.recv_from(room) {
                Ok(received) => received,
                Err(error) if is_no_data(&error) => continue,
                Err(source) => {
                    let peer = address.to_string();
                    (self.observe)(SockperfServerEvent::Failed(&NetworkError::Serve {
                        peer,
                        source,
                    }));
                    thread::sleep(POLL_INTERVAL);
                    continue;
                }
            };
            buffer.add(bytes);
            if let Some((header, message)) = buffer.take_datagram()
                && self.take(header, peer)
            {
                answer_datagram(&socket, header, message, peer);
            }
        }
        Ok(())
    }

    fn serve_streams(&self) -> Result<(), NetworkError> {
        let listener = control::listen_with(self.service.listen, &self.service.socket)?;
        let admissions = Admissions::new(TOTAL_CONNECTIONS, PEER_CONNECTIONS);
        let mut door = BoundedListener::new(&listener, &admissions);
        (self.observe)(SockperfServerEvent::Listening);
        thread::scope(|scope| {
            while !self.is_over() {
                let (stream, peer, guest) = match door.accept_next() {
                    Ok(Some(arrived)) => arrived,
                    Ok(None) => continue,
                    Err(error) => {
                        (self.observe)(SockperfServerEvent::Failed(&error));
                        continue;
                    }
                };
                let work = move || {
                    if let Err(error) = self.serve_stream(stream, peer, guest) {
                        (self.observe)(SockperfServerEvent::Failed(&error));
                    }
                };
                if let Err(source) = admission::spawn_connection(scope, work) {
                    let error = NetworkError::Serve { peer: peer.to_string(), source };
                    (self.observe)(SockperfServerEvent::Failed(&error));
                }
            }
        });
        Ok(())
    }

    fn serve_stream(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        mut guest: Admission<'_>,
    ) -> Result<(), NetworkError> {
        let wanted = self.service.max_message_bytes;
        if !guest.reserve(wanted) {
            return Err(NetworkError::Memory { peer: peer.to_string(), wanted });
        }
        let serve_error = |source| NetworkError::Serve { peer: peer.to_string(), source };
        socket::configure_tcp(&stream, &self.service.socket).map_err(serve_error)?;
        let socket = MessageSocket::Tcp(stream);
        socket.prepare(false).map_err(serve_error)?;
        let mut buffer = SockperfReceiver::new(wanted);
        let mut active_at = Instant::now();
        while !self.is_over() {
            let received = match socket.receive(buffer.room()) {
                Ok(Some(received)) => received,
                Ok(None) if active_at.elapsed() < self.idle_limit => continue,
                Ok(None) => return Err(self.idle_error(peer, "a message")),
                Err(error) if is_end(&error) => return Ok(()),
                Err(source) => return Err(serve_error(source)),
            };
            buffer.add(received);
            active_at = Instant::now();
            loop {
                let next = buffer.take_message().map_err(|source| {
                    NetworkError::SockperfClient { peer: peer.to_string(), source }
                })?;
                let Some((header, message)) = next else { break };
                if !self.take(header, peer) {
                    continue;
                }
                SockperfHeader { is_from_client: false, ..header }.encode(message);
                let is_over = |blocked| self.is_over() || blocked >= self.idle_limit;
                match socket.send(message, is_over) {
                    Ok(true) => {}
                    Ok(false) if self.is_over() => return Ok(()),
                    Ok(false) => return Err(self.idle_error(peer, "room for a reply")),
                    Err(error) if is_end(&error) => return Ok(()),
                    Err(source) => return Err(serve_error(source)),
                }
            }
        }
        Ok(())
    }

    fn idle_error(&self, peer: SocketAddr, expected: &str) -> NetworkError {
        let (peer, expected) = (peer.to_string(), expected.to_owned());
        NetworkError::Timeout { peer, expected, seconds: self.idle_limit.as_secs_f64() }
    }

    /// Counts a message; returns whether it must be returned. Messages of servers do not count, so
    /// that two servers cannot answer each other.
    fn take(&self, header: SockperfHeader, peer: SocketAddr) -> bool {
        if !header.is_from_client || header.is_warm_up {
            return false;
        }
        self.received.fetch_add(1, Ordering::Relaxed);
        if self.service.detects_gaps {
            let mut gaps = self.gaps.lock().even_if_poisoned();
            for event in gaps.add(peer, header.sequence) {
                (self.observe)(SockperfServerEvent::Gap(event));
            }
        }
        header.requests_reply && self.service.replies
    }
}

/// Returns a datagram. One that cannot be sent is lost, as on the path.
fn answer_datagram(
    socket: &UdpSocket,
    header: SockperfHeader,
    message: &mut [u8],
    peer: SocketAddr,
) {
    SockperfHeader { is_from_client: false, ..header }.encode(message);
    drop(socket.send_to(message, peer));
}

fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn client_that_reads_no_replies_loses_its_place() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, peer) = listener.accept().unwrap();
        let service = SockperfService {
            listen: listener.local_addr().unwrap(),
            is_tcp: true,
            max_message_bytes: 60_000,
            replies: true,
            detects_gaps: false,
            shares_port: false,
            socket: SocketOptions::default(),
        };
        let cancel = AtomicBool::new(false);
        let mut server = SockperfServer::new(&service, &cancel, &|_| {});
        server.idle_limit = Duration::from_millis(200);
        let mut request = vec![0; 60_000];
        let header = SockperfHeader {
            sequence: 1,
            is_from_client: true,
            requests_reply: true,
            is_warm_up: false,
            length: 60_000,
        };
        header.encode(&mut request);
        let admissions = Admissions::new(TOTAL_CONNECTIONS, PEER_CONNECTIONS);
        let guest = admissions.admit(peer.ip()).unwrap();
        let error = thread::scope(|scope| {
            // It sends until the server closes the connection.
            scope.spawn(move || while client.write_all(&request).is_ok() {});
            server.serve_stream(stream, peer, guest).unwrap_err()
        });
        let text = error.to_string();
        assert!(text.starts_with("room for a reply did not come from 127.0.0.1:"), "{text}");
    }
}
