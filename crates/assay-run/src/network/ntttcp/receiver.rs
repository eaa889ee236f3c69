//! Receiver of ntttcp's tests.

use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use assay_kernels::clock;
use assay_kernels::network::port_receiver::{self, PortCounters};
use assay_kernels::network::thread_refusal::ThreadRefusal;
use assay_model::poisoned_lock::PoisonedLock as _;

use super::cycle::TestCycle;
use super::sync_server::{SyncDemand, SyncServer};
use super::{NtttcpEnd, NtttcpEvent, NtttcpOutcome, NtttcpServing, NtttcpTest};
use crate::network::control;
use crate::network::error::NetworkError;

/// Interval of checks for requests while a sender is connected, and while none is.
const BUSY_INTERVAL: Duration = Duration::from_millis(5);
const IDLE_INTERVAL: Duration = Duration::from_millis(50);
/// Time after which connections that arrive together have been accepted.
const SETTLE_TIME: Duration = Duration::from_millis(20);
/// Time in which the last datagrams of a test arrive.
const DATAGRAM_TIME: Duration = Duration::from_millis(300);
/// Time after a test for its senders to close their connections.
const LINGER_TIME: Duration = Duration::from_secs(2);

/// Opens the ports of a receiver and does some work while their threads receive.
///
/// # Errors
/// A port cannot be opened, or no thread can be started.
pub fn with_server<T>(
    test: &NtttcpTest,
    serving: &NtttcpServing,
    cancel: &AtomicBool,
    work: impl FnOnce(&mut NtttcpServer<'_>) -> T,
) -> Result<T, NetworkError> {
    let ports: Vec<PortSocket> = (0..test.ports)
        .map(|port| PortSocket::open(test, serving, port as u16))
        .collect::<Result<_, _>>()?;
    let sync = open_sync(test, serving)?;
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stopped = StopAtEnd(&stop);
        for port in &ports {
            let work = || port.receive(test, &stop);
            let thread = thread::Builder::new().spawn_scoped(scope, work);
            thread.map_err(|source| NetworkError::Start {
                source: ThreadRefusal::wrap(source),
            })?;
        }
        Ok(work(&mut NtttcpServer {
            test,
            serving,
            cancel,
            ports: &ports,
            sync,
            is_asked: false,
            seen: 0,
            most_open: 0,
        }))
    })
}

fn open_sync(
    test: &NtttcpTest,
    serving: &NtttcpServing,
) -> Result<Option<SyncServer>, NetworkError> {
    if !test.is_synchronised {
        return Ok(None);
    }
    let own_s = if serving.awaits_several { test.duration_s } else { test.cycle_s() };
    let address = SocketAddr::new(serving.listen, test.base_port.saturating_sub(1));
    let listener = control::listen(address)?;
    Ok(Some(SyncServer::new(listener, own_s, serving.awaits_several)))
}

/// Stops the threads of the ports when it is dropped.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Open port with its counters.
struct PortSocket {
    socket: ReceivingSocket,
    address: SocketAddr,
    counters: PortCounters,
    /// Whether the thread of the port has failed.
    is_failed: AtomicBool,
}

enum ReceivingSocket {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

impl PortSocket {
    fn open(
        test: &NtttcpTest,
        serving: &NtttcpServing,
        port: u16,
    ) -> Result<Self, NetworkError> {
        let address = SocketAddr::new(serving.listen, test.base_port + port);
        let socket = match test.is_udp {
            false => ReceivingSocket::Tcp(control::listen(address)?),
            true => ReceivingSocket::Udp(
                UdpSocket::bind(address)
                    .map_err(|source| NetworkError::Listen { address, source })?,
            ),
        };
        Ok(Self {
            socket,
            address,
            counters: PortCounters::default(),
            is_failed: AtomicBool::new(false),
        })
    }

    fn receive(&self, test: &NtttcpTest, stop: &AtomicBool) {
        let bytes = test.block_bytes as usize;
        let received = match &self.socket {
            ReceivingSocket::Tcp(listener) => port_receiver::receive_streams(
                listener,
                bytes,
                &test.socket,
                &self.counters,
                stop,
            ),
            ReceivingSocket::Udp(socket) => {
                port_receiver::receive_datagrams(socket, bytes, &self.counters, stop)
            }
        };
        self.is_failed.store(received.is_err(), Ordering::Relaxed);
    }
}

/// Receiver whose ports are open.
#[expect(missing_debug_implementations, reason = "sockets and counters of threads")]
pub struct NtttcpServer<'a> {
    test: &'a NtttcpTest,
    serving: &'a NtttcpServing,
    cancel: &'a AtomicBool,
    ports: &'a [PortSocket],
    sync: Option<SyncServer>,
    /// Whether a sender has asked for the next test while the last one ended.
    is_asked: bool,
    /// Arrivals before the next test.
    seen: u64,
    /// Most connections at the same time during the last test.
    most_open: u64,
}

impl NtttcpServer<'_> {
    /// Returns the number of threads that ntttcp would have.
    pub fn threads(&self) -> u32 {
        self.test.ports + u32::from(self.test.is_synchronised)
    }

    /// Waits for a test. False if the user ends a receiver that is held.
    ///
    /// # Errors
    /// A port cannot be read, or the user interrupts the wait.
    pub fn wait_for_test(&mut self) -> Result<bool, NetworkError> {
        if !std::mem::take(&mut self.is_asked) && !self.wait_for_start()? {
            return Ok(false);
        }
        thread::sleep(SETTLE_TIME);
        self.most_open = self.count(|it| &it.open);
        Ok(true)
    }

    /// Returns the number of connections of the test so far; over UDP, of its ports.
    pub fn connections(&self) -> u32 {
        match self.test.is_udp {
            true => self.test.ports,
            false => self.most_open as u32,
        }
    }

    /// Returns the agreed seconds of the whole test; 0 = until an end stops it.
    fn agreed_s(&self) -> u32 {
        self.sync.as_ref().map_or_else(|| self.test.cycle_s(), SyncServer::agreed_s)
    }

    /// Returns the measured seconds of the test; 0 = until an end stops it.
    pub fn measured_s(&self) -> u32 {
        self.test.measured_s(self.agreed_s())
    }

    /// Returns the number of arrived connections, or of bytes over UDP.
    fn arrived(&self) -> u64 {
        arrived(self.test, self.ports)
    }

    /// Returns the last host that sent data.
    pub fn peer(&self) -> Option<IpAddr> {
        self.ports.iter().find_map(|it| *it.counters.peer.lock().even_if_poisoned())
    }

    /// Adds a counter of all ports.
    fn count(&self, counter: impl Fn(&PortCounters) -> &AtomicU64) -> u64 {
        count(self.ports, counter)
    }

    /// Waits until the senders ask for the start, or until data arrives without synchronisation. False
    /// if the user ends a receiver that is held.
    fn wait_for_start(&mut self) -> Result<bool, NetworkError> {
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return if self.serving.is_held {
                    Ok(false)
                } else {
                    Err(NetworkError::Interrupted)
                };
            }
            if let Some(failed) =
                self.ports.iter().find(|it| it.is_failed.load(Ordering::Relaxed))
            {
                let source = std::io::Error::other("the port cannot be read");
                return Err(NetworkError::Listen { address: failed.address, source });
            }
            let starts = match &mut self.sync {
                Some(sync) => sync.serve() == Some(SyncDemand::Start),
                None => self.arrived() > self.seen,
            };
            if starts {
                return Ok(true);
            }
            let has_senders = self.sync.as_ref().is_some_and(SyncServer::has_senders);
            thread::sleep(if has_senders { BUSY_INTERVAL } else { IDLE_INTERVAL });
        }
    }

    /// Starts the test and measures it.
    pub fn run_test(&mut self, observe: &mut dyn FnMut(NtttcpEvent)) -> NtttcpOutcome {
        let (test, ports, cancel) = (self.test, self.ports, self.cancel);
        let cycle_s = self.agreed_s();
        let started_ns = clock::now_ns();
        if let Some(sync) = &mut self.sync {
            if cycle_s != test.cycle_s() {
                observe(NtttcpEvent::Negotiated(cycle_s));
            }
            sync.start();
            observe(NtttcpEvent::Started);
        }
        let (sync, most_open, seen) = (&mut self.sync, &mut self.most_open, &mut self.seen);
        let mut observe = |event| {
            if event == NtttcpEvent::Measured {
                *seen = arrived(test, ports);
            }
            observe(event);
        };
        let mut was_open = false;
        let outcome = TestCycle {
            test,
            started_ns,
            cycle_s,
            read_bytes: &|| {
                let bytes = ports.iter().map(|it| it.counters.bytes.load(Ordering::Relaxed));
                bytes.collect()
            },
            wait: &mut |until_ns| {
                let open = (&mut was_open, &mut *most_open);
                wait((test, ports, cancel), sync.as_mut(), open, until_ns)
            },
            observe: &mut observe,
        }
        .run();
        if let Some(sync) = &mut self.sync {
            sync.finish();
        }
        outcome
    }

    /// Answers senders and drains their connections until they have closed them, or ask for the next
    /// test.
    pub fn linger(&mut self) {
        let began = Instant::now();
        if self.test.is_udp {
            thread::sleep(DATAGRAM_TIME);
            self.seen = self.arrived();
        }
        loop {
            let demand = self.sync.as_mut().and_then(SyncServer::serve);
            if demand == Some(SyncDemand::Start) {
                self.is_asked = true;
                return;
            }
            let is_used = self.count(|it| &it.open) > 0
                || self.sync.as_ref().is_some_and(SyncServer::has_senders);
            let is_over = self.cancel.load(Ordering::Relaxed)
                || (self.sync.is_none() && self.arrived() > self.seen);
            if !is_used || is_over || began.elapsed() >= LINGER_TIME {
                return;
            }
            thread::sleep(BUSY_INTERVAL);
        }
    }
}

fn arrived(test: &NtttcpTest, ports: &[PortSocket]) -> u64 {
    match test.is_udp {
        true => count(ports, |it| &it.bytes),
        false => count(ports, |it| &it.arrivals),
    }
}

fn count(ports: &[PortSocket], counter: impl Fn(&PortCounters) -> &AtomicU64) -> u64 {
    ports.iter().map(|it| counter(&it.counters).load(Ordering::Relaxed)).sum()
}

/// Waits until a clock reading, while requests of senders are answered, unless the test ends before.
/// `was_open` is set once a connection is open: the test ends when all are closed again. `most_open`
/// is the largest number of open connections.
fn wait(
    (test, ports, cancel): (&NtttcpTest, &[PortSocket], &AtomicBool),
    mut sync: Option<&mut SyncServer>,
    (was_open, most_open): (&mut bool, &mut u64),
    until_ns: u64,
) -> Option<NtttcpEnd> {
    loop {
        if cancel.load(Ordering::Relaxed) {
            return Some(NtttcpEnd::User);
        }
        if sync.as_mut().and_then(|it| it.serve()) == Some(SyncDemand::Exit) {
            return Some(NtttcpEnd::Sender);
        }
        let open = count(ports, |it| &it.open);
        *most_open = open.max(*most_open);
        match open > 0 {
            true => *was_open = true,
            false if *was_open && !test.is_udp => return Some(NtttcpEnd::Closed),
            false => {}
        }
        let left_ns = until_ns.saturating_sub(clock::now_ns());
        if left_ns == 0 {
            return None;
        }
        thread::sleep(BUSY_INTERVAL.min(Duration::from_nanos(left_ns)));
    }
}
