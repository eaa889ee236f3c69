//! A transfer: several streams at once, one thread each, with counters that can be read meanwhile.
//!
//! Starting a transfer starts its threads; it ends when it is told to, when its limit is spent or
//! when the peer closes. A stream's failure stays with the stream and is told at the end.

use std::io;
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use super::pace::Pace;
use super::stream::{self, Copying};
use super::tcp_info::{self, TcpInfo};
use super::{cpu, socket, udp};
use crate::barrier::OwnLines;
use crate::{clock, pin};

/// A connected socket.
#[derive(Debug)]
pub enum Socket {
    /// A byte stream.
    Tcp(TcpStream),
    /// Datagrams; `wide` = numbered with 64 bits.
    Udp {
        /// The socket.
        socket: UdpSocket,
        /// 64-bit numbers.
        wide: bool,
    },
}

/// What one thread is to do.
#[derive(Debug)]
pub struct Flow {
    /// The connected socket.
    pub socket: Socket,
    /// Whether this end sends.
    pub sends: bool,
    /// Bytes per system call, or per datagram.
    pub block_bytes: usize,
    /// Whether the program's memory is touched.
    pub copying: Copying,
    /// The rate to keep; `None` = as fast as it goes.
    pub pace: Option<Pace>,
    /// The CPU to run on; `None` = wherever the system puts it.
    pub cpu: Option<usize>,
}

/// What all streams of a transfer look at.
#[derive(Debug)]
pub struct Control {
    stopped: AtomicBool,
    /// Bytes that may still be sent; `None` = no limit.
    left: Option<OwnLines<AtomicI64>>,
    /// Bytes received by all streams, kept only under a limit, because all of them write to it.
    received: OwnLines<AtomicU64>,
}

impl Control {
    fn new(limit_bytes: Option<u64>) -> Self {
        let left = limit_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        Self {
            stopped: AtomicBool::new(false),
            left: left.map(|left| OwnLines(AtomicI64::new(left))),
            received: OwnLines::default(),
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Takes a block out of what may still be sent; false when nothing is left.
    pub(super) fn claim(&self, bytes: u64) -> bool {
        let Some(left) = &self.left else { return true };
        left.0.fetch_sub(bytes.cast_signed(), Ordering::Relaxed) > 0
    }

    pub(super) const fn is_limited(&self) -> bool {
        self.left.is_some()
    }

    pub(super) fn count_received(&self, bytes: u64) {
        if self.left.is_some() {
            self.received.0.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}

/// Counters of one stream, written by its thread alone.
#[derive(Debug, Default)]
pub struct Progress(OwnLines<Counters>);

#[derive(Debug, Default)]
struct Counters {
    bytes: AtomicU64,
    blocks: AtomicU64,
    packets: AtomicU64,
    lost: AtomicI64,
    out_of_order: AtomicU64,
    jitter_ns: AtomicU64,
    /// CPU time of the thread when it ended, in nanoseconds; 0 while it runs.
    ended_cpu_ns: AtomicU64,
    /// When it ended, by the clock.
    ended_at_ns: AtomicU64,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Bytes sent or received.
    pub bytes: u64,
    /// Blocks or datagrams sent.
    pub blocks: u64,
    /// Datagrams sent, or the highest number received.
    pub packets: u64,
    /// Datagrams lost, see [`udp::Arrivals`].
    pub lost: i64,
    /// Datagrams out of order.
    pub out_of_order: u64,
    /// Jitter in nanoseconds.
    pub jitter_ns: u64,
}

impl Progress {
    pub(super) fn bytes(&self) -> u64 {
        self.0.0.bytes.load(Ordering::Relaxed)
    }

    /// One thread writes, so a load and a store do without the cost of an atomic addition.
    pub(super) fn add_bytes(&self, bytes: u64) {
        self.0.0.bytes.store(self.bytes() + bytes, Ordering::Relaxed);
    }

    pub(super) fn add_block(&self) {
        let blocks = &self.0.0.blocks;
        blocks.store(blocks.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(super) fn set_packets(&self, packets: u64) {
        self.0.0.packets.store(packets, Ordering::Relaxed);
    }

    pub(super) fn set_arrivals(&self, arrivals: &udp::Arrivals) {
        let counters = &self.0.0;
        counters.packets.store(arrivals.highest, Ordering::Relaxed);
        counters.lost.store(arrivals.lost, Ordering::Relaxed);
        counters.out_of_order.store(arrivals.out_of_order, Ordering::Relaxed);
        counters.jitter_ns.store(arrivals.jitter_ns as u64, Ordering::Relaxed);
    }

    fn snapshot(&self) -> Snapshot {
        let counters = &self.0.0;
        Snapshot {
            bytes: counters.bytes.load(Ordering::Relaxed),
            blocks: counters.blocks.load(Ordering::Relaxed),
            packets: counters.packets.load(Ordering::Relaxed),
            lost: counters.lost.load(Ordering::Relaxed),
            out_of_order: counters.out_of_order.load(Ordering::Relaxed),
            jitter_ns: counters.jitter_ns.load(Ordering::Relaxed),
        }
    }
}

/// How a stream ended.
#[derive(Debug)]
pub struct FlowEnd {
    /// Its last counters.
    pub last: Snapshot,
    /// CPU time of its thread in nanoseconds.
    pub cpu_ns: u64,
    /// What the kernel knew about the connection at the end.
    pub tcp: Option<TcpInfo>,
    /// Why it failed, if it did.
    pub error: Option<io::Error>,
}

/// Streams at work.
#[derive(Debug)]
pub struct Transfer {
    control: Arc<Control>,
    running: Vec<Running>,
}

#[derive(Debug)]
struct Running {
    sends: bool,
    progress: Arc<Progress>,
    /// A second handle of a TCP connection, to look at it while its thread is blocked.
    look: Option<TcpStream>,
    thread: JoinHandle<(u64, io::Result<()>)>,
}

impl Transfer {
    /// Starts one thread per flow. With a limit, the senders together send so many bytes, up to the
    /// next whole block.
    ///
    /// # Errors
    /// The system's error when a thread cannot be started; those that were are stopped again.
    pub fn start(flows: Vec<Flow>, limit_bytes: Option<u64>) -> io::Result<Self> {
        let control = Arc::new(Control::new(limit_bytes));
        let mut transfer = Self { control, running: Vec::new() };
        for (index, flow) in flows.into_iter().enumerate() {
            match start_flow(index, flow, &transfer.control) {
                Ok(running) => transfer.running.push(running),
                Err(error) => {
                    transfer.finish();
                    return Err(error);
                }
            }
        }
        Ok(transfer)
    }

    /// The counters of every stream, in the order given.
    pub fn snapshots(&self) -> Vec<Snapshot> {
        self.running.iter().map(|running| running.progress.snapshot()).collect()
    }

    /// What the kernel knows about every TCP connection.
    pub fn tcp_infos(&self) -> Vec<Option<TcpInfo>> {
        let look = |running: &Running| tcp_info::read(running.look.as_ref()?).ok();
        self.running.iter().map(look).collect()
    }

    /// CPU time of every thread so far, in nanoseconds.
    pub fn cpu_ns(&self) -> Vec<u64> {
        self.running
            .iter()
            .map(|running| match running.progress.0.0.ended_cpu_ns.load(Ordering::Acquire) {
                0 => cpu::thread_time_ns(&running.thread),
                ended_cpu_ns => ended_cpu_ns,
            })
            .collect()
    }

    /// Bytes that TCP senders have handed to the kernel and their peers have not acknowledged.
    pub fn unacknowledged_bytes(&self) -> u64 {
        let senders = self.running.iter().filter(|running| running.sends);
        senders.filter_map(|running| socket::queued_bytes(running.look.as_ref()?).ok()).sum()
    }

    /// Bytes received by all streams together; kept only under a limit.
    pub fn received_bytes(&self) -> u64 {
        self.control.received.0.load(Ordering::Relaxed)
    }

    /// Whether every thread has ended by itself: limit spent, peer gone or failure.
    pub fn is_over(&self) -> bool {
        self.running.iter().all(Running::has_ended)
    }

    /// When the last sender ended, by the clock; `None` while one is at work or when there is none.
    pub fn senders_ended_ns(&self) -> Option<u64> {
        let senders = || self.running.iter().filter(|running| running.sends);
        let ended_at_ns = |it: &Running| it.progress.0.0.ended_at_ns.load(Ordering::Relaxed);
        senders().all(Running::has_ended).then(|| senders().map(ended_at_ns).max())?
    }

    /// Tells every stream to stop; they do so within a twentieth of a second.
    pub fn stop(&self) {
        self.control.stopped.store(true, Ordering::Relaxed);
    }

    /// Tells every TCP receiver at the other end that nothing more comes, whatever is on its way.
    pub fn close_sending(&self) {
        let senders = self.running.iter().filter(|running| running.sends);
        for stream in senders.filter_map(|running| running.look.as_ref()) {
            // A peer that has gone needs not be told.
            drop(stream.shutdown(Shutdown::Write));
        }
    }

    /// Stops every stream and waits for its thread.
    pub fn finish(self) -> Vec<FlowEnd> {
        self.stop();
        self.running.into_iter().map(Running::finish).collect()
    }
}

impl Running {
    fn has_ended(&self) -> bool {
        self.progress.0.0.ended_cpu_ns.load(Ordering::Acquire) != 0
    }

    fn finish(self) -> FlowEnd {
        let tcp = self.look.as_ref().and_then(|stream| tcp_info::read(stream).ok());
        let (cpu_ns, result) = match self.thread.join() {
            Ok(ended) => ended,
            Err(_) => (0, Err(io::Error::other("the stream's thread panicked"))),
        };
        FlowEnd { last: self.progress.snapshot(), cpu_ns, tcp, error: result.err() }
    }
}

fn start_flow(index: usize, flow: Flow, control: &Arc<Control>) -> io::Result<Running> {
    let look = match &flow.socket {
        Socket::Tcp(stream) => Some(stream.try_clone()?),
        Socket::Udp { .. } => None,
    };
    let (sends, progress) = (flow.sends, Arc::new(Progress::default()));
    let (shared, control) = (Arc::clone(&progress), Arc::clone(control));
    let thread = thread::Builder::new().name(format!("stream-{index}")).spawn(move || {
        let result = run(&flow, (&shared, &control));
        let cpu_ns = cpu::own_time_ns();
        shared.0.0.ended_at_ns.store(clock::now_ns(), Ordering::Relaxed);
        shared.0.0.ended_cpu_ns.store(cpu_ns.max(1), Ordering::Release);
        (cpu_ns, result)
    })?;
    Ok(Running { sends, progress, look, thread })
}

fn run(flow: &Flow, shared: (&Progress, &Control)) -> io::Result<()> {
    if let Some(cpu) = flow.cpu {
        pin::pin_current_thread(cpu)?;
    }
    match (&flow.socket, flow.sends) {
        (Socket::Tcp(tcp), true) => {
            stream::send(tcp, flow.block_bytes, flow.copying, flow.pace, shared)
        }
        (Socket::Tcp(tcp), false) => {
            stream::receive(tcp, flow.block_bytes, flow.copying, shared)
        }
        (Socket::Udp { socket, wide }, true) => {
            udp::send(socket, flow.block_bytes, *wide, flow.pace, shared)
        }
        (Socket::Udp { socket, wide }, false) => udp::receive(socket, *wide, shared),
    }
}

#[cfg(test)]
mod tests;
