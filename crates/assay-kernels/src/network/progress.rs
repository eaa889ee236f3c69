//! Progress counters of the streams of a transfer, and their common stop flag and limit.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use super::datagram::DatagramArrivals;
use crate::barrier::CachePadded;
use crate::clock;

/// Interval at which a waiting stream checks whether it is stopped.
pub(super) const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// State shared by all streams of a transfer.
#[derive(Debug)]
pub(super) struct TransferControl {
    stopped: AtomicBool,
    /// Bytes that may still be sent; `None` = no limit.
    left: Option<CachePadded<AtomicI64>>,
    /// Bytes received by all streams, kept only under a limit, because all of them write to it.
    received: CachePadded<AtomicU64>,
}

impl TransferControl {
    pub(super) fn new(limit_bytes: Option<u64>) -> Self {
        let left = limit_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        Self {
            stopped: AtomicBool::new(false),
            left: left.map(|left| CachePadded(AtomicI64::new(left))),
            received: CachePadded::default(),
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Claims a block of the bytes that may still be sent; false when nothing is left.
    pub(super) fn claim(&self, bytes: u64) -> bool {
        let Some(left) = &self.left else { return true };
        left.0.fetch_sub(bytes.cast_signed(), Ordering::Relaxed) > 0
    }

    pub(super) const fn is_limited(&self) -> bool {
        self.left.is_some()
    }

    /// Returns the bytes received by all streams together; kept only under a limit.
    pub(super) fn received(&self) -> u64 {
        self.received.0.load(Ordering::Relaxed)
    }

    /// Stops all streams.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn count_received(&self, bytes: u64) {
        if self.left.is_some() {
            self.received.0.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}

/// Counters of one stream, written only by its thread.
#[derive(Debug, Default)]
pub(super) struct StreamProgress(CachePadded<Counters>);

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
    /// Clock reading at its end.
    ended_at_ns: AtomicU64,
}

/// Values of the counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Bytes sent or received.
    pub bytes: u64,
    /// Blocks or datagrams sent.
    pub blocks: u64,
    /// Datagrams sent, or the highest number received.
    pub packets: u64,
    /// Datagrams lost, see [`DatagramArrivals`].
    pub lost: i64,
    /// Datagrams out of order.
    pub out_of_order: u64,
    /// Jitter in nanoseconds.
    pub jitter_ns: u64,
}

impl StreamProgress {
    pub(super) fn bytes(&self) -> u64 {
        self.0.0.bytes.load(Ordering::Relaxed)
    }

    /// Adds bytes with a load and a store: only one thread writes, so no atomic addition is needed.
    pub(super) fn add_bytes(&self, bytes: u64) {
        self.0.0.bytes.store(self.bytes() + bytes, Ordering::Relaxed);
    }

    pub(super) fn add_blocks(&self, count: u64) {
        let blocks = &self.0.0.blocks;
        blocks.store(blocks.load(Ordering::Relaxed) + count, Ordering::Relaxed);
    }

    pub(super) fn set_packets(&self, packets: u64) {
        self.0.0.packets.store(packets, Ordering::Relaxed);
    }

    pub(super) fn set_arrivals(&self, arrivals: &DatagramArrivals) {
        let counters = &self.0.0;
        counters.packets.store(arrivals.highest, Ordering::Relaxed);
        counters.lost.store(arrivals.lost, Ordering::Relaxed);
        counters.out_of_order.store(arrivals.out_of_order, Ordering::Relaxed);
        counters.jitter_ns.store(arrivals.jitter_ns as u64, Ordering::Relaxed);
    }

    /// Records the end of the thread, and its CPU time.
    pub(super) fn end(&self, cpu_ns: u64) {
        let counters = &self.0.0;
        counters.ended_at_ns.store(clock::now_ns(), Ordering::Relaxed);
        counters.ended_cpu_ns.store(cpu_ns.max(1), Ordering::Release);
    }

    /// Returns the CPU time of the thread in nanoseconds; `None` while it runs.
    pub(super) fn ended_cpu_ns(&self) -> Option<u64> {
        Some(self.0.0.ended_cpu_ns.load(Ordering::Acquire)).filter(|cpu_ns| *cpu_ns > 0)
    }

    /// Returns the clock reading at the end of the thread.
    pub(super) fn ended_at_ns(&self) -> u64 {
        self.0.0.ended_at_ns.load(Ordering::Relaxed)
    }

    pub(super) fn snapshot(&self) -> Snapshot {
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

/// Whether the stream can try again after checking the stop flag: a timeout, an interruption or
/// lack of buffers.
pub(super) fn is_retryable(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
        || error.raw_os_error() == Some(libc::ENOBUFS)
}
