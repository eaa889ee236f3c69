//! Sender of ntttcp's tests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, mpsc};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use assay_kernels::barrier::CachePadded;
use assay_kernels::clock;
use assay_kernels::network::pace::SendRate;
use assay_kernels::network::socket::{self, SocketOptions};
use assay_kernels::network::thread_refusal::ThreadRefusal;
use assay_kernels::network::turn_sender::{SendError, SendingSocket, TurnSender};
use assay_model::poisoned_lock::PoisonedLock as _;

use super::cycle::TestCycle;
use super::sender_sync::SenderSync;
use super::{EARLY_END_NS, NtttcpEnd, NtttcpEvent, NtttcpOutcome, NtttcpSending, NtttcpTest};
use crate::network::error::NetworkError;

/// Interval of checks whether the test is over.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Result of a sender's thread.
struct SenderEnd {
    error: Option<SendError>,
    round_trips_us: Vec<u32>,
}

/// Sender that has agreed on the time of its test.
#[expect(missing_debug_implementations, reason = "an open connection")]
pub struct NtttcpSender<'a> {
    test: &'a NtttcpTest,
    sending: &'a NtttcpSending,
    cancel: &'a AtomicBool,
    sync: Option<SenderSync<'a>>,
    /// Agreed seconds of the whole test; 0 = until an end stops it.
    cycle_s: u32,
}

impl<'a> NtttcpSender<'a> {
    /// Connects to the receiver and agrees on the time, unless the test has no synchronisation.
    ///
    /// # Errors
    /// The receiver is unreachable or busy, or leaves no time to measure.
    pub fn connect(
        test: &'a NtttcpTest,
        sending: &'a NtttcpSending,
        cancel: &'a AtomicBool,
        observe: &mut dyn FnMut(NtttcpEvent),
    ) -> Result<Self, NetworkError> {
        let mut cycle_s = test.cycle_s();
        let mut sync = None;
        if test.is_synchronised {
            let mut opened = SenderSync::connect(test, &sending.target, cancel)?;
            cycle_s = opened.agree(test)?;
            if cycle_s != test.duration_s {
                observe(NtttcpEvent::Negotiated(cycle_s));
            }
            sync = Some(opened);
        } else {
            observe(NtttcpEvent::NoSync);
        }
        Ok(Self { test, sending, cancel, sync, cycle_s })
    }

    /// Returns the measured seconds of the test; 0 = until an end stops it.
    pub fn measured_s(&self) -> u32 {
        self.test.measured_s(self.cycle_s)
    }

    /// Runs the test. Returns its result, and the error that ended it before its time.
    ///
    /// # Errors
    /// The receiver refuses the test, or a connection cannot be opened.
    pub fn run(
        mut self,
        observe: &mut dyn FnMut(NtttcpEvent),
    ) -> Result<(NtttcpOutcome, Option<NetworkError>), NetworkError> {
        let threads = SenderThreads::new(self.test, self.sending, self.cancel)?;
        let (mut outcome, ends, started_ns) =
            thread::scope(|scope| threads.run(scope, (&mut self.sync, self.cycle_s), observe))?;
        let round_trips: Vec<u32> =
            ends.iter().flat_map(|it| it.round_trips_us.clone()).collect();
        let sum: u64 = round_trips.iter().map(|us| u64::from(*us)).sum();
        outcome.round_trip_us = sum.checked_div(round_trips.len() as u64).map(|us| us as u32);
        outcome.connections = Some(self.sending.connections(self.test));
        let early_ns = match self.cycle_s {
            // Without a limit the receiver may end the test, too.
            0 if outcome.bytes() > 0 => 0,
            0 => u64::MAX,
            seconds => {
                (started_ns + u64::from(seconds) * 1_000_000_000).saturating_sub(EARLY_END_NS)
            }
        };
        let failed = ends.into_iter().zip(0..).find_map(|(end, thread)| {
            end.error.filter(|error| error.at_ns < early_ns).map(|error| (thread, error.source))
        });
        let error =
            failed.filter(|_| outcome.end != NtttcpEnd::User).map(|(thread, source)| {
                let peer = threads.remote(thread).to_string();
                NetworkError::Broken {
                    peer,
                    expected: "the end of the test".to_owned(),
                    source,
                }
            });
        Ok((outcome, error))
    }
}

/// Threads of a sender, each with its connections.
struct SenderThreads<'a> {
    test: &'a NtttcpTest,
    sending: &'a NtttcpSending,
    cancel: &'a AtomicBool,
    address: IpAddr,
    /// Contents of a send, which all threads share.
    block: Vec<u8>,
    bytes: Vec<CachePadded<AtomicU64>>,
    gate: StartGate,
    stop: AtomicBool,
}

/// Position at which all threads wait for the start.
#[derive(Default)]
struct StartGate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl StartGate {
    fn open(&self) {
        *self.is_open.lock().even_if_poisoned() = true;
        self.opened.notify_all();
    }

    fn wait(&self) {
        let mut is_open = self.is_open.lock().even_if_poisoned();
        while !*is_open {
            is_open = self.opened.wait(is_open).even_if_poisoned();
        }
    }
}

impl<'a> SenderThreads<'a> {
    fn new(
        test: &'a NtttcpTest,
        sending: &'a NtttcpSending,
        cancel: &'a AtomicBool,
    ) -> Result<Self, NetworkError> {
        let addresses = sending.target.addresses()?;
        let address = addresses.first().map_or(IpAddr::from([127, 0, 0, 1]), SocketAddr::ip);
        let bytes = (0..sending.threads(test)).map(|_| CachePadded::default()).collect();
        Ok(Self {
            test,
            sending,
            cancel,
            address,
            block: vec![b'A'; test.block_bytes as usize],
            bytes,
            gate: StartGate::default(),
            stop: AtomicBool::new(false),
        })
    }

    /// Connects, starts the test and measures it. Returns the ends of the threads, and the time of
    /// the start.
    fn run<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        (sync, cycle_s): (&mut Option<SenderSync<'a>>, u32),
        observe: &mut dyn FnMut(NtttcpEvent),
    ) -> Result<(NtttcpOutcome, Vec<SenderEnd>, u64), NetworkError> {
        let stopped = StopAtEnd(self);
        let began_ns = clock::now_ns();
        let (connected, results) = mpsc::channel();
        let mut threads = Vec::with_capacity(self.bytes.len());
        for number in 0..self.bytes.len() {
            let connected = connected.clone();
            let thread = thread::Builder::new()
                .spawn_scoped(scope, move || self.connect_and_send(number, &connected));
            threads.push(thread.map_err(|source| NetworkError::Start {
                source: ThreadRefusal::wrap(source),
            })?);
        }
        observe(NtttcpEvent::Threads(self.bytes.len() as u32));
        for _ in 0..threads.len() {
            results.recv().unwrap_or(Err(NetworkError::Interrupted))?;
        }
        let microseconds = clock::now_ns().saturating_sub(began_ns) / 1000;
        let count = self.sending.connections(self.test);
        observe(NtttcpEvent::Connections { count, microseconds });
        if let Some(sync) = sync.as_mut() {
            sync.start(self.sending.is_last, observe)?;
            observe(NtttcpEvent::Started);
        }
        let started_ns = clock::now_ns();
        self.gate.open();
        let outcome = TestCycle {
            test: self.test,
            started_ns,
            cycle_s,
            read_bytes: &|| self.bytes.iter().map(|it| it.0.load(Ordering::Relaxed)).collect(),
            wait: &mut |until_ns| self.wait(until_ns, &threads),
            observe: &mut *observe,
        }
        .run();
        // The receiver reads the end of the test before that of the data.
        if let (Some(sync), NtttcpEnd::User) = (sync, outcome.end) {
            observe(NtttcpEvent::ReceiverExited(sync.exit()));
        }
        drop(stopped);
        let ends = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        Ok((outcome, ends.collect(), started_ns))
    }

    /// Waits until a clock reading, an interruption, or the end of all threads.
    fn wait(
        &self,
        until_ns: u64,
        threads: &[ScopedJoinHandle<'_, SenderEnd>],
    ) -> Option<NtttcpEnd> {
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Some(NtttcpEnd::User);
            }
            if threads.iter().all(ScopedJoinHandle::is_finished) {
                return Some(NtttcpEnd::Closed);
            }
            let left_ns = until_ns.saturating_sub(clock::now_ns());
            if left_ns == 0 {
                return None;
            }
            thread::sleep(CHECK_INTERVAL.min(Duration::from_nanos(left_ns)));
        }
    }

    /// Work of one thread.
    fn connect_and_send(
        &self,
        number: usize,
        connected: &mpsc::Sender<Result<(), NetworkError>>,
    ) -> SenderEnd {
        let sockets: Result<Vec<SendingSocket>, NetworkError> =
            (0..self.sending.connections_per_thread)
                .map(|index| self.connect(number as u32, index))
                .collect();
        let (sockets, result) = match sockets {
            Ok(sockets) => (sockets, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        // The receiver of the results is gone if another thread has failed.
        drop(connected.send(result));
        self.gate.wait();
        let threads = f64::from(self.sending.threads(self.test));
        let rate = self.sending.rate_bit_per_s.map(|bit_per_s| SendRate {
            bytes_per_s: bit_per_s as f64 / 8.0 / threads,
            burst: 1,
        });
        let sender = TurnSender {
            sockets: &sockets,
            block: &self.block,
            rate,
            bytes: &self.bytes[number].0,
            stop: &self.stop,
        };
        let error = sender.run().err();
        let round_trips_us = sockets.iter().filter_map(SendingSocket::round_trip_us).collect();
        SenderEnd { error, round_trips_us }
    }

    /// Opens one connection of a thread to its port.
    fn connect(&self, thread: u32, index: u32) -> Result<SendingSocket, NetworkError> {
        let number = thread * self.sending.connections_per_thread + index;
        let remote = self.remote(thread);
        let options = SocketOptions {
            local: self.local_address(number),
            device: self.sending.target.endpoint.device.clone(),
            ..self.test.socket.clone()
        };
        let timeout = self.sending.target.connect_timeout;
        let opened = match self.test.is_udp {
            false => socket::connect_tcp(remote, &options, timeout, self.cancel)
                .map(SendingSocket::Tcp),
            true => socket::connect_udp(remote, &options).map(SendingSocket::Udp),
        };
        opened.map_err(|source| NetworkError::not_connected(remote, &source).of_ntttcp())
    }

    /// Returns the address and port to which a thread sends.
    fn remote(&self, thread: u32) -> SocketAddr {
        let port = thread / self.sending.threads_per_port;
        SocketAddr::new(self.address, self.test.base_port + port as u16)
    }

    /// Returns the address and port of a connection at this end, if the user requested either.
    fn local_address(&self, number: u32) -> Option<SocketAddr> {
        let bound = self.sending.target.local.map(|it| it.ip());
        let any: IpAddr = match self.address.is_ipv4() {
            true => Ipv4Addr::UNSPECIFIED.into(),
            false => Ipv6Addr::UNSPECIFIED.into(),
        };
        let port = self.sending.source_port.map(|first| first + number as u16);
        match (bound, port) {
            (None, None) => None,
            (bound, port) => Some(SocketAddr::new(bound.unwrap_or(any), port.unwrap_or(0))),
        }
    }
}

/// Ends all threads when it is dropped, also those that wait for the start.
struct StopAtEnd<'a>(&'a SenderThreads<'a>);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
        self.0.gate.open();
    }
}
