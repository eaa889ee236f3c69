//! Client of sockperf's protocol: ping-pong, latency under load, or throughput.

use std::net::SocketAddr;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use assay_dialects::wire::sockperf::{
    MAX_DATAGRAM_BYTES, MAX_STREAM_BYTES, SockperfHeader, SockperfProtocolError,
    SockperfReceiver,
};
use assay_kernels::clock;
use assay_kernels::network::pingpong::wait_until;
use assay_kernels::network::socket::{self, SocketOptions};
use assay_kernels::network::thread_refusal::ThreadRefusal;
use serde::{Deserialize, Serialize};

use self::sender::MessageSender;
use super::error::NetworkError;
use super::sockperf_statistics::SockperfTimes;
use super::target::NetworkTarget;

mod message_socket;
mod sender;

pub(super) use message_socket::{MessageSocket, is_no_data};

/// Kind of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SockperfMode {
    /// The next messages are sent when the replies to those before have arrived.
    PingPong,
    /// Messages are sent at a rate, and some of them are answered.
    UnderLoad,
    /// Messages are sent, and none is answered.
    Throughput,
}

/// Parameters of a test.
#[derive(Debug, Clone)]
pub struct SockperfTest {
    pub target: NetworkTarget,
    pub mode: SockperfMode,
    pub is_tcp: bool,
    pub seconds: u32,
    pub message_bytes: u32,
    /// Largest difference of a message's size from `message_bytes`, which is the longest; sizes are
    /// uniform.
    pub size_range: u32,
    /// Messages per second; `None` = as many as possible.
    pub messages_per_s: Option<u32>,
    /// Messages that are sent together.
    pub burst: u32,
    /// Number of messages of which one is answered.
    pub reply_every: u32,
    /// Whether replies must have the data of their requests.
    pub checks_data: bool,
    /// Whether receives poll instead of sleeping.
    pub is_polling: bool,
    /// Time between the connection and the first message.
    pub start_delay: Duration,
    pub socket: SocketOptions,
}

impl SockperfTest {
    pub(super) fn message_sizes(&self) -> RangeInclusive<u32> {
        let longest = self.message_bytes.max(SockperfHeader::BYTES as u32);
        let shortest = longest.saturating_sub(self.size_range);
        shortest.max(SockperfHeader::BYTES as u32)..=longest
    }
}

/// Result of a test.
#[derive(Debug)]
pub struct SockperfOutcome {
    /// Duration in nanoseconds.
    pub run_ns: u64,
    /// Number of sent messages.
    pub sent: u64,
    /// Number of their bytes.
    pub sent_bytes: u64,
    /// Times of messages with a requested reply; none in a throughput test.
    pub times: SockperfTimes,
    /// Whether the sender never had to wait for the time of the next message, so that the rate was
    /// not reached.
    pub is_rate_missed: bool,
    pub end: SockperfEnd,
}

/// Reason for the end of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SockperfEnd {
    Timer,
    User,
    /// The memory for times is used up.
    Memory,
}

/// Maximum number of messages with a requested reply: 512 MiB of times.
pub const MAX_TIMES: usize = 32 << 20;
/// Time that sockperf adds to the requested one. Its timer takes the 450 ms of the excluded start and
/// end as microseconds.
const ADDED_NS: u64 = 450_000;

/// Runs a test. `on_start` is called with the address of the server before the first message.
///
/// # Errors
/// The server is unreachable, disconnects, or violates the protocol.
pub fn run(
    test: &SockperfTest,
    cancel: &AtomicBool,
    on_start: &mut dyn FnMut(SocketAddr),
) -> Result<SockperfOutcome, NetworkError> {
    let (socket, address) = connect(test, cancel)?;
    let start_ns = clock::now_ns().saturating_add(test.start_delay.as_nanos() as u64);
    wait_until(start_ns, cancel);
    on_start(address);
    let start_ns = clock::now_ns();
    let period = TestPeriod {
        deadline_ns: start_ns + u64::from(test.seconds) * 1_000_000_000 + ADDED_NS,
        cancel,
        is_failed: AtomicBool::new(false),
        is_full: AtomicBool::new(false),
    };
    let exchange = SockperfExchange {
        test,
        socket: &socket,
        peer: address.to_string(),
        period: &period,
        sent: AtomicU64::new(0),
    };
    let mut sender = MessageSender::new(&exchange, start_ns);
    let times = match test.mode {
        SockperfMode::PingPong => exchange.ping_pong(&mut sender)?,
        SockperfMode::UnderLoad => exchange.load(&mut sender)?,
        SockperfMode::Throughput => {
            while exchange.send_burst(&mut sender)?.is_continue() {}
            SockperfTimes::default()
        }
    };
    let times = times
        .with_sends(std::mem::take(&mut sender.times_ns), test.reply_every)
        .map_err(|source| exchange.protocol_error(source))?;
    let end_ns = clock::now_ns().min(period.deadline_ns);
    Ok(SockperfOutcome {
        run_ns: end_ns.saturating_sub(start_ns),
        sent: exchange.sent.load(Ordering::Relaxed),
        sent_bytes: sender.sent_bytes,
        times,
        is_rate_missed: test.messages_per_s.is_some() && !sender.has_waited,
        end: period.end(),
    })
}

/// Opens the connection, or the UDP socket, to the first address of the server.
fn connect(
    test: &SockperfTest,
    cancel: &AtomicBool,
) -> Result<(MessageSocket, SocketAddr), NetworkError> {
    let options = SocketOptions { local: test.target.local, ..test.socket.clone() };
    let mut last = None;
    for address in test.target.addresses()? {
        let opened = match test.is_tcp {
            true => {
                let timeout = test.target.connect_timeout;
                socket::connect_tcp(address, &options, timeout, cancel).map(MessageSocket::Tcp)
            }
            false => socket::connect_udp(address, &options).map(MessageSocket::Udp),
        };
        match opened.and_then(|it| it.prepare(test.is_polling).map(|()| it)) {
            Ok(socket) => return Ok((socket, address)),
            Err(source) => last = Some(NetworkError::not_connected(address, &source)),
        }
    }
    Err(last.unwrap_or(NetworkError::Interrupted))
}

/// Time in which messages are sent and received.
#[derive(Debug)]
struct TestPeriod<'a> {
    deadline_ns: u64,
    cancel: &'a AtomicBool,
    /// Whether the other thread has failed.
    is_failed: AtomicBool,
    /// Whether the memory for times is used up.
    is_full: AtomicBool,
}

impl TestPeriod<'_> {
    fn is_over_at(&self, now_ns: u64) -> bool {
        now_ns >= self.deadline_ns
            || self.cancel.load(Ordering::Relaxed)
            || self.is_failed.load(Ordering::Relaxed)
            || self.is_full.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        self.is_over_at(clock::now_ns())
    }

    fn end(&self) -> SockperfEnd {
        if self.cancel.load(Ordering::Relaxed) {
            SockperfEnd::User
        } else if self.is_full.load(Ordering::Relaxed) {
            SockperfEnd::Memory
        } else {
            SockperfEnd::Timer
        }
    }
}

/// Exchange of messages with the server.
struct SockperfExchange<'a> {
    test: &'a SockperfTest,
    socket: &'a MessageSocket,
    peer: String,
    period: &'a TestPeriod<'a>,
    /// Number of sent messages, which is that of the last one.
    sent: AtomicU64,
}

impl SockperfExchange<'_> {
    fn io_error(&self, source: std::io::Error) -> NetworkError {
        NetworkError::Messages { peer: self.peer.clone(), source }
            .unless_interrupted(self.period.cancel)
    }

    fn protocol_error(&self, source: SockperfProtocolError) -> NetworkError {
        NetworkError::Sockperf { peer: self.peer.clone(), source }
    }

    /// Sends the messages of one burst; breaks at the end of the test.
    fn send_burst(
        &self,
        sender: &mut MessageSender<'_>,
    ) -> Result<ControlFlow<()>, NetworkError> {
        sender.wait_for_burst();
        for _ in 0..self.test.burst {
            if sender.send().map_err(|source| self.io_error(source))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn ping_pong(&self, sender: &mut MessageSender<'_>) -> Result<SockperfTimes, NetworkError> {
        let mut replies = ReplyReader::new(self);
        while self.send_burst(sender)?.is_continue() {
            let mut received = 0;
            while received < self.test.burst {
                match replies.receive(sender.last_message())? {
                    ControlFlow::Continue(more) => received += more,
                    ControlFlow::Break(()) => return Ok(replies.times),
                }
            }
        }
        Ok(replies.times)
    }

    /// Sends in this thread and receives in another one.
    fn load(&self, sender: &mut MessageSender<'_>) -> Result<SockperfTimes, NetworkError> {
        thread::scope(|scope| {
            let receiver = thread::Builder::new().spawn_scoped(scope, || {
                let mut replies = ReplyReader::new(self);
                let result = loop {
                    match replies.receive(&[]) {
                        Ok(ControlFlow::Continue(_)) => {}
                        Ok(ControlFlow::Break(())) => break Ok(replies.times),
                        Err(error) => break Err(error),
                    }
                };
                self.period.is_failed.fetch_or(result.is_err(), Ordering::Relaxed);
                result
            });
            let receiver = receiver.map_err(|source| NetworkError::Start {
                source: ThreadRefusal::wrap(source),
            })?;
            let sent = loop {
                match self.send_burst(sender) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            self.period.is_failed.fetch_or(sent.is_err(), Ordering::Relaxed);
            let received =
                receiver.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            sent.and(received)
        })
    }
}

/// Replies of the server.
struct ReplyReader<'a> {
    exchange: &'a SockperfExchange<'a>,
    buffer: SockperfReceiver,
    times: SockperfTimes,
}

impl<'a> ReplyReader<'a> {
    fn new(exchange: &'a SockperfExchange<'a>) -> Self {
        let limit = if exchange.test.is_tcp { MAX_STREAM_BYTES } else { MAX_DATAGRAM_BYTES };
        Self { exchange, buffer: SockperfReceiver::new(limit), times: SockperfTimes::default() }
    }

    /// Receives until replies have arrived, and returns their number; breaks at the end of the test.
    /// `request` is the last sent message, with whose data replies are compared if requested.
    fn receive(&mut self, request: &[u8]) -> Result<ControlFlow<(), u32>, NetworkError> {
        let Self { exchange, buffer, times } = self;
        let is_stream = exchange.test.is_tcp;
        loop {
            let room = if is_stream { buffer.room() } else { buffer.room_for_datagram() };
            let received =
                exchange.socket.receive(room).map_err(|source| exchange.io_error(source))?;
            let now_ns = clock::now_ns();
            if exchange.period.is_over_at(now_ns) {
                return Ok(ControlFlow::Break(()));
            }
            times.watched_until_ns = now_ns;
            buffer.add(received.unwrap_or(0));
            let mut replies = 0;
            loop {
                let next = match is_stream {
                    true => buffer.take_message().map_err(|it| exchange.protocol_error(it))?,
                    false => buffer.take_datagram(),
                };
                let Some((header, message)) = next else { break };
                if header.is_from_client || header.is_warm_up {
                    continue;
                }
                let sent = exchange.sent.load(Ordering::Acquire);
                let sequence = header.sequence;
                if sequence > sent {
                    let error = SockperfProtocolError::Sequence { sequence, sent };
                    return Err(exchange.protocol_error(error));
                }
                if exchange.test.checks_data && has_other_data(message, request) {
                    return Err(
                        exchange.protocol_error(SockperfProtocolError::Data { sequence })
                    );
                }
                times.add_reply(sequence, exchange.test.reply_every, now_ns);
                replies += 1;
            }
            if replies > 0 {
                return Ok(ControlFlow::Continue(replies));
            }
        }
    }
}

/// Whether a reply differs from its request behind the header.
fn has_other_data(reply: &[u8], request: &[u8]) -> bool {
    reply.get(SockperfHeader::BYTES..) != request.get(SockperfHeader::BYTES..)
}
