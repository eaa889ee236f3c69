//! One thread that receives everything that arrives at one port, and only counts it.

use std::collections::HashMap;
use std::ffi::c_int;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::progress::{STOP_CHECK_INTERVAL, is_retryable};
use super::socket::{self, SocketOptions};
use assay_model::poisoned_lock::PoisonedLock as _;

/// State of a port, which only its thread changes.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct PortCounters {
    /// Received bytes.
    pub bytes: AtomicU64,
    /// Accepted connections; over UDP, changes of the sender.
    pub arrivals: AtomicU64,
    /// Open connections.
    pub open: AtomicU64,
    /// Last host whose connection or datagram arrived.
    pub peer: Mutex<Option<IpAddr>>,
}

impl PortCounters {
    fn count_arrival(&self, peer: SocketAddr) {
        *self.peer.lock().even_if_poisoned() = Some(peer.ip());
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }
}

/// Connections of one port at the same time; more are closed at once.
const MAX_CONNECTIONS: usize = 25_600;
/// Reads of one connection before the others have their turn.
const READS_PER_TURN: usize = 32;
/// Events that are taken from the kernel at once.
const EVENTS: usize = 256;
/// Pause after a connection that could not be accepted, such as for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Receives on all connections to a port until `stop` is set, which takes at most 50 ms.
///
/// # Errors
/// The kernel refuses to watch the port.
pub fn receive_streams(
    listener: &TcpListener,
    block_bytes: usize,
    options: &SocketOptions,
    counters: &PortCounters,
    stop: &AtomicBool,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let watch = SocketWatch::new()?;
    watch.add(listener.as_raw_fd())?;
    let mut streams: HashMap<RawFd, TcpStream> = HashMap::new();
    let mut block = vec![0; block_bytes.max(1)];
    while !stop.load(Ordering::Relaxed) {
        for ready in watch.wait(STOP_CHECK_INTERVAL)? {
            if ready == listener.as_raw_fd() {
                accept_all(listener, options, &watch, &mut streams, counters);
            } else if let Some(stream) = streams.get(&ready)
                && !receive_turn(stream, &mut block, counters)
            {
                // Closing the descriptor also ends its watch.
                streams.remove(&ready);
            }
        }
        counters.open.store(streams.len() as u64, Ordering::Relaxed);
    }
    Ok(())
}

/// Receives all datagrams to a port until `stop` is set, which takes at most 50 ms.
///
/// # Errors
/// The system's error.
pub fn receive_datagrams(
    socket: &UdpSocket,
    block_bytes: usize,
    counters: &PortCounters,
    stop: &AtomicBool,
) -> io::Result<()> {
    socket.set_read_timeout(Some(STOP_CHECK_INTERVAL))?;
    let mut block = vec![0; block_bytes.max(1)];
    let mut last_peer = None;
    while !stop.load(Ordering::Relaxed) {
        match socket.recv_from(&mut block) {
            Ok((bytes, peer)) => {
                counters.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                if last_peer.replace(peer) != Some(peer) {
                    counters.count_arrival(peer);
                }
            }
            Err(error) if is_retryable(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn accept_all(
    listener: &TcpListener,
    options: &SocketOptions,
    watch: &SocketWatch,
    streams: &mut HashMap<RawFd, TcpStream>,
    counters: &PortCounters,
) {
    loop {
        let (stream, peer) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(error) if is_retryable(&error) => return,
            Err(_) => {
                std::thread::sleep(ACCEPT_PAUSE);
                return;
            }
        };
        let is_prepared = stream.set_nonblocking(true).is_ok()
            && socket::configure_tcp(&stream, options).is_ok()
            && streams.len() < MAX_CONNECTIONS
            && watch.add(stream.as_raw_fd()).is_ok();
        if is_prepared {
            streams.insert(stream.as_raw_fd(), stream);
            counters.open.store(streams.len() as u64, Ordering::Relaxed);
            counters.count_arrival(peer);
        }
    }
}

/// Receives what has arrived on one connection; false after its end.
fn receive_turn(mut stream: &TcpStream, block: &mut [u8], counters: &PortCounters) -> bool {
    for _ in 0..READS_PER_TURN {
        match stream.read(block) {
            Ok(0) => return false,
            Ok(bytes) => {
                counters.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
            Err(error) if is_retryable(&error) => {}
            Err(_) => return false,
        }
    }
    true
}

/// Set of descriptors that the kernel watches for data (`epoll`).
struct SocketWatch(OwnedFd);

impl SocketWatch {
    fn new() -> io::Result<Self> {
        // SAFETY: the call takes plain numbers.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just opened this descriptor, and nothing else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    fn add(&self, fd: RawFd) -> io::Result<()> {
        let mut event =
            libc::epoll_event { events: libc::EPOLLIN as u32, u64: fd.cast_unsigned().into() };
        // SAFETY: `event` is a valid `epoll_event`, which the kernel copies.
        let added = unsafe {
            libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &raw mut event)
        };
        if added < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Returns the descriptors with data or an end; none after `timeout`.
    fn wait(&self, timeout: Duration) -> io::Result<Vec<RawFd>> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let timeout_ms = c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX);
        // SAFETY: pointer and count describe `events`, which is ours to write.
        let count = unsafe {
            libc::epoll_wait(
                self.0.as_raw_fd(),
                events.as_mut_ptr(),
                EVENTS as c_int,
                timeout_ms,
            )
        };
        match usize::try_from(count) {
            Ok(count) => Ok(events[..count].iter().map(|it| it.u64 as RawFd).collect()),
            Err(_) => {
                let error = io::Error::last_os_error();
                if is_retryable(&error) { Ok(Vec::new()) } else { Err(error) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::thread;

    use super::*;

    fn wait_until(mut is_true: impl FnMut() -> bool) {
        for _ in 0..2000 {
            if is_true() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("it did not come true");
    }

    #[test]
    fn counts_bytes_of_all_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (counters, stop) = (PortCounters::default(), AtomicBool::new(false));
        let options = SocketOptions::default();
        thread::scope(|scope| {
            let receiver =
                scope.spawn(|| receive_streams(&listener, 1000, &options, &counters, &stop));
            let mut streams: Vec<_> =
                (0..5).map(|_| TcpStream::connect(address).unwrap()).collect();
            for stream in &mut streams {
                stream.write_all(&[7; 70_001]).unwrap();
            }
            wait_until(|| counters.bytes.load(Ordering::Relaxed) == 5 * 70_001);
            assert_eq!(counters.arrivals.load(Ordering::Relaxed), 5);
            assert_eq!(counters.open.load(Ordering::Relaxed), 5);
            streams.truncate(2);
            wait_until(|| counters.open.load(Ordering::Relaxed) == 2);
            stop.store(true, Ordering::Relaxed);
            receiver.join().unwrap().unwrap();
        });
    }

    #[test]
    fn counts_datagrams() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let (counters, stop) = (PortCounters::default(), AtomicBool::new(false));
        thread::scope(|scope| {
            let receiver = scope.spawn(|| receive_datagrams(&socket, 100, &counters, &stop));
            sender.send_to(&[1; 60], address).unwrap();
            // The part of a datagram beyond the block is lost.
            sender.send_to(&[1; 160], address).unwrap();
            wait_until(|| counters.bytes.load(Ordering::Relaxed) == 160);
            assert_eq!(counters.arrivals.load(Ordering::Relaxed), 1, "both are of one sender");
            assert_eq!(*counters.peer.lock().unwrap(), Some(address.ip()));
            stop.store(true, Ordering::Relaxed);
            receiver.join().unwrap().unwrap();
        });
    }
}
