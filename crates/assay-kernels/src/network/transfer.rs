//! Transfer of several streams at once, one thread each, with counters that can be read during it.
//!
//! A transfer starts its threads when it is created. It ends when it is stopped, when its limit is
//! reached or when the peer closes. A stream's failure does not affect the others and is reported
//! at the end.

use std::fs::File;
use std::io;
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::pace::SendRate;
use super::progress::{StreamProgress, TransferControl};
use super::stream::{self, BlockSource, CopyMode};
use super::tcp_info::{self, TcpInfo};
use super::thread_refusal::ThreadRefusal;
use super::{cpu, socket, udp};
use crate::pin;

pub use super::datagram_batch::DATAGRAMS_PER_CALL;
pub use super::progress::Snapshot;
pub use super::udp::DatagramFormat;

/// Connected socket.
#[derive(Debug)]
pub enum Socket {
    /// Byte stream.
    Tcp(TcpStream),
    /// Datagrams.
    Udp {
        /// The socket.
        socket: UdpSocket,
        /// Numbers of the datagrams, and datagrams per system call.
        format: DatagramFormat,
    },
}

/// Socket and settings of one thread.
#[derive(Debug)]
pub struct Flow {
    /// Connected socket.
    pub socket: Socket,
    /// Whether this end sends.
    pub sends: bool,
    /// Bytes per system call, or per datagram.
    pub block_bytes: usize,
    /// Whether data is copied from or into the program's memory.
    pub copying: CopyMode,
    /// Rate to keep; `None` = as fast as possible.
    pub pace: Option<SendRate>,
    /// CPU to run on; `None` = chosen by the system.
    pub cpu: Option<usize>,
    /// File whose contents a TCP stream sends once, or to which it writes received data.
    pub file: Option<PathBuf>,
}

/// Final result of a stream.
#[derive(Debug)]
pub struct FlowResult {
    /// Final values of its counters.
    pub last: Snapshot,
    /// CPU time of its thread in nanoseconds.
    pub cpu_ns: u64,
    /// Statistics of the connection at the end.
    pub tcp: Option<TcpInfo>,
    /// Error of the stream, if it failed.
    pub error: Option<io::Error>,
}

/// Running streams.
#[derive(Debug)]
pub struct Transfer {
    control: Arc<TransferControl>,
    running: Vec<Running>,
}

#[derive(Debug)]
struct Running {
    sends: bool,
    progress: Arc<StreamProgress>,
    /// Second handle of a TCP connection, to monitor it while its thread is blocked.
    monitor: Option<TcpStream>,
    thread: JoinHandle<(u64, io::Result<()>)>,
}

impl Transfer {
    /// Starts one thread per flow. With a limit, the senders together send this many bytes, rounded
    /// up to the next whole block.
    ///
    /// # Errors
    /// The system's error when a thread cannot be started; threads already started are stopped
    /// again.
    pub fn start(flows: Vec<Flow>, limit_bytes: Option<u64>) -> io::Result<Self> {
        let control = Arc::new(TransferControl::new(limit_bytes));
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

    /// Returns the counters of every stream, in the order given.
    pub fn snapshots(&self) -> Vec<Snapshot> {
        self.running.iter().map(|running| running.progress.snapshot()).collect()
    }

    /// Returns the statistics of every TCP connection.
    pub fn tcp_infos(&self) -> Vec<Option<TcpInfo>> {
        let look = |running: &Running| tcp_info::read(running.monitor.as_ref()?).ok();
        self.running.iter().map(look).collect()
    }

    /// Returns the CPU time of every thread so far, in nanoseconds.
    pub fn cpu_ns(&self) -> Vec<u64> {
        self.running
            .iter()
            .map(|it| {
                let ended_cpu_ns = it.progress.ended_cpu_ns();
                ended_cpu_ns.unwrap_or_else(|| cpu::thread_time_ns(&it.thread))
            })
            .collect()
    }

    /// Returns the bytes that TCP senders have passed to the kernel and their peers have not
    /// acknowledged.
    pub fn unacknowledged_bytes(&self) -> u64 {
        let senders = self.running.iter().filter(|running| running.sends);
        senders.filter_map(|running| socket::queued_bytes(running.monitor.as_ref()?).ok()).sum()
    }

    /// Returns the bytes received by all streams together; kept only under a limit.
    pub fn received_bytes(&self) -> u64 {
        self.control.received()
    }

    /// Whether every thread has ended by itself: limit reached, peer closed or failure.
    pub fn is_over(&self) -> bool {
        self.running.iter().all(Running::has_ended)
    }

    /// Returns the clock reading at the end of the last sender; `None` while one is running or when
    /// there is none.
    pub fn senders_ended_ns(&self) -> Option<u64> {
        let senders = || self.running.iter().filter(|running| running.sends);
        let ended_at_ns = |it: &Running| it.progress.ended_at_ns();
        senders().all(Running::has_ended).then(|| senders().map(ended_at_ns).max())?
    }

    /// Stops all streams, which takes at most 50 ms.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// Shuts down the sending direction of every TCP sender, so that its receiver sees the end of
    /// the data.
    pub fn close_sending(&self) {
        let senders = self.running.iter().filter(|running| running.sends);
        for stream in senders.filter_map(|running| running.monitor.as_ref()) {
            // A peer that has closed needs no shutdown.
            drop(stream.shutdown(Shutdown::Write));
        }
    }

    /// Stops every stream and waits for its thread.
    pub fn finish(self) -> Vec<FlowResult> {
        self.stop();
        self.running.into_iter().map(Running::finish).collect()
    }
}

impl Running {
    fn has_ended(&self) -> bool {
        self.progress.ended_cpu_ns().is_some()
    }

    fn finish(self) -> FlowResult {
        let tcp = self.monitor.as_ref().and_then(|stream| tcp_info::read(stream).ok());
        let (cpu_ns, result) = match self.thread.join() {
            Ok(ended) => ended,
            Err(_) => (0, Err(io::Error::other("the stream's thread panicked"))),
        };
        FlowResult { last: self.progress.snapshot(), cpu_ns, tcp, error: result.err() }
    }
}

fn start_flow(index: usize, flow: Flow, control: &Arc<TransferControl>) -> io::Result<Running> {
    let look = match &flow.socket {
        Socket::Tcp(stream) => Some(stream.try_clone()?),
        Socket::Udp { .. } => None,
    };
    let (sends, progress) = (flow.sends, Arc::new(StreamProgress::default()));
    let (shared, control) = (Arc::clone(&progress), Arc::clone(control));
    let builder = thread::Builder::new().name(format!("stream-{index}"));
    let started = builder.spawn(move || {
        let result = run(&flow, (&shared, &control));
        let cpu_ns = cpu::own_time_ns();
        shared.end(cpu_ns);
        (cpu_ns, result)
    });
    let thread = started.map_err(ThreadRefusal::wrap)?;
    Ok(Running { sends, progress, monitor: look, thread })
}

fn run(flow: &Flow, shared: (&StreamProgress, &TransferControl)) -> io::Result<()> {
    if let Some(cpu) = flow.cpu {
        pin::pin_current_thread(cpu)?;
    }
    match (&flow.socket, flow.sends) {
        (Socket::Tcp(tcp), true) => {
            let source =
                BlockSource::new(flow.block_bytes, flow.copying, flow.file.as_deref())?;
            stream::send(tcp, source, flow.pace, shared)
        }
        (Socket::Tcp(tcp), false) => {
            let sink = flow.file.as_deref().map(create_private).transpose()?;
            stream::receive(tcp, flow.block_bytes, (flow.copying, sink), shared)
        }
        (Socket::Udp { socket, format }, true) => {
            udp::send(socket, flow.block_bytes, *format, flow.pace, shared)
        }
        (Socket::Udp { socket, format }, false) => udp::receive(socket, *format, shared),
    }
}

/// Creates or empties a file that only its owner may read.
fn create_private(path: &Path) -> io::Result<File> {
    let opened = File::options().write(true).create(true).truncate(true).mode(0o600).open(path);
    opened.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests;
