//! MPI benchmark at one message size, with its memory allocated: times batches and single turns,
//! and validates the contents of messages.

use std::ffi::c_int;
use std::fmt;

use assay_model::benchmark::{
    MpiBenchmarkKind, RemoteOperation, RmaSynchronization, WindowCreation,
};

use crate::mapping::Mapping;

use super::MpiError;
use super::abi::Handle;
use super::calls::MpiResult;
use super::communicator::Communicator;
use super::figures::{MpiFigures, reduce_call_times};
use super::message_memory::{
    PrepareError, ReductionElement, WindowBuffers, buffer_bytes, map_filled, slots,
};
use super::rank_parts::RankParts;
use super::timing::MpiPass;
use super::window::MpiWindow;

/// A benchmark ready to be measured.
#[derive(Debug)]
pub(super) struct PreparedBenchmark<'j, H: Handle> {
    pub(super) comm: &'j Communicator<H>,
    pub(super) kind: MpiBenchmarkKind,
    pub(super) element: ReductionElement,
    /// Bytes of a message.
    pub(super) message_bytes: c_int,
    /// Messages in flight.
    pub(super) in_flight: usize,
    /// Number of messages with a buffer of their own during validation.
    pub(super) slots: usize,
    /// Bytes from one message's buffer to the next in a window; 0 if all share one buffer.
    pub(super) stride: usize,
    /// Number of `MPI_Test` calls during the computation.
    pub(super) test_calls: u32,
    /// Whether the parts of a non-blocking operation are timed, too.
    pub(super) times_parts: bool,
    pub(super) send: Mapping,
    pub(super) receive: Mapping,
    pub(super) requests: Vec<H>,
    /// Counts and displacements of the ranks' parts, for collectives.
    pub(super) parts: RankParts<H>,
    pub(super) window: Option<MpiWindow<'j, H>>,
    /// Threads of rank 0 and of rank 1.
    pub(super) threads: (u32, u32),
    pub(super) on_stuck: StuckHandler<'j>,
}

/// Function that ends the job with an error of one thread while others wait for messages that never
/// come. They use the memory of the benchmark, so it does not return.
#[derive(Clone, Copy)]
pub struct StuckHandler<'h>(pub &'h dyn Fn(&MpiError));

impl fmt::Debug for StuckHandler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StuckHandler")
    }
}

/// Parameters of a benchmark, the same on all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MpiBenchmarkRequest {
    /// Benchmark to measure.
    pub kind: MpiBenchmarkKind,
    /// Bytes of a message or of one rank's part.
    pub bytes: usize,
    /// Messages in flight at once in bandwidth tests, or threads that have a message.
    pub window: u32,
    /// Threads of rank 0 and of rank 1.
    pub threads: (u32, u32),
    /// Element type of reductions.
    pub element: ReductionElement,
    /// Buffers of the messages of a window.
    pub buffers: WindowBuffers,
    /// Creation of the memory that one-sided operations access.
    pub window_creation: WindowCreation,
    /// Synchronisation of one-sided operations.
    pub synchronization: RmaSynchronization,
    /// Number of `MPI_Test` calls during the computation of a non-blocking operation.
    pub test_calls: u32,
    /// Whether the parts of a non-blocking operation are timed, too. This reads the clock four more
    /// times per turn.
    pub times_parts: bool,
}

impl<'j, H: Handle> PreparedBenchmark<'j, H> {
    /// Maps and fills the memory; all ranks together.
    pub(super) fn new(
        comm: &'j Communicator<H>,
        request: &MpiBenchmarkRequest,
        on_stuck: StuckHandler<'j>,
    ) -> Result<Self, PrepareError> {
        let MpiBenchmarkRequest {
            kind,
            bytes,
            window,
            threads,
            element,
            buffers: window_buffers,
            window_creation,
            synchronization,
            test_calls: tests,
            times_parts,
        } = *request;
        let too_large =
            || PrepareError::Memory(std::io::Error::from_raw_os_error(libc::ENOMEM));
        let part_count = comm.part_count(kind);
        let buffers = buffer_bytes(kind, bytes, part_count, window, window_buffers);
        let (send_bytes, receive_bytes) = buffers.ok_or_else(too_large)?;
        // The library may count a part of a collective in the sum over all ranks.
        let count = c_int::try_from(bytes).map_err(|_| too_large())?;
        let parts = RankParts::new(kind, bytes, part_count, comm.constants.char)
            .ok_or_else(too_large)?;
        let mut send = map_filled(send_bytes, b'a')?;
        let receive = map_filled(receive_bytes, b'b')?;
        if kind.collective().is_some() {
            // Numbers whose sums neither overflow nor are subnormal.
            send.as_mut_slice::<f32>().fill(1.0);
        }
        let in_flight = if kind.is_windowed() { window.max(1) as usize } else { 1 };
        let mpi_window = match kind.is_one_sided() {
            true => {
                let locking = (synchronization, locks_exclusively(kind, synchronization));
                Some(MpiWindow::new(comm, receive_bytes, window_creation, locking)?)
            }
            false => None,
        };
        Ok(Self {
            comm,
            kind,
            element,
            message_bytes: count,
            in_flight,
            slots: slots(kind, bytes, window, window_buffers),
            stride: if window_buffers == WindowBuffers::Multiple { bytes } else { 0 },
            test_calls: tests,
            times_parts,
            send,
            receive,
            requests: vec![H::default(); comm.fan.partners.len().max(2) * in_flight],
            parts,
            window: mpi_window,
            threads,
            on_stuck,
        })
    }

    /// Times one batch. The figures are valid only on rank 0.
    pub(super) fn time_batch(&mut self, pass: &MpiPass) -> MpiResult<MpiFigures> {
        self.comm.barrier()?;
        match self.kind {
            MpiBenchmarkKind::Latency | MpiBenchmarkKind::PairsLatency => {
                self.time_ping_pong(pass)
            }
            MpiBenchmarkKind::Bandwidth
            | MpiBenchmarkKind::PairsBandwidth
            | MpiBenchmarkKind::Bidirectional => self.measure_bandwidth(pass),
            MpiBenchmarkKind::ThreadsLatency => self.time_threads(pass),
            MpiBenchmarkKind::ForkedLatency => self.time_forked(pass),
            MpiBenchmarkKind::FanIn | MpiBenchmarkKind::FanOut => self.measure_fan(pass),
            MpiBenchmarkKind::Startup => reduce_call_times(self.comm, self.comm.startup_s),
            MpiBenchmarkKind::PersistentLatency => self.time_persistent_latency(pass),
            MpiBenchmarkKind::PersistentBandwidth
            | MpiBenchmarkKind::PersistentBidirectional => {
                self.measure_persistent_bandwidth(pass)
            }
            MpiBenchmarkKind::PersistentCollective(operation) => {
                self.time_persistent_collective(operation, pass)
            }
            MpiBenchmarkKind::RemoteLatency(operation) => {
                self.time_remote_latency(operation, pass)
            }
            MpiBenchmarkKind::RemoteBandwidth(operation) => {
                self.measure_remote_bandwidth(operation, pass)
            }
            MpiBenchmarkKind::RemoteBidirectional => {
                self.measure_remote_bandwidth(RemoteOperation::Put, pass)
            }
            MpiBenchmarkKind::Collective(operation) => self.time_collective(operation, pass),
            MpiBenchmarkKind::Overlap(operation) => self.time_overlap(operation, pass),
        }
    }

    /// Returns the seconds of single turns, defined as in [`MpiFigures::Latency`], or as the mean
    /// over ranks of [`MpiFigures::Call`] and [`MpiFigures::Overlap`]; for windows, the mean over
    /// the pairs. Valid only on rank 0.
    pub(super) fn time_turns(&mut self, warm_up: u64, count: usize) -> MpiResult<Vec<f64>> {
        self.comm.barrier()?;
        match self.kind {
            MpiBenchmarkKind::Latency | MpiBenchmarkKind::PairsLatency => {
                self.time_each_round_trip(warm_up, count)
            }
            MpiBenchmarkKind::ThreadsLatency => self.time_each_of_threads(warm_up, count),
            MpiBenchmarkKind::ForkedLatency => self.time_each_forked(warm_up, count),
            MpiBenchmarkKind::FanIn | MpiBenchmarkKind::FanOut => {
                self.time_each_fan_window(warm_up, count)
            }
            // It happened once.
            MpiBenchmarkKind::Startup => Ok(Vec::new()),
            MpiBenchmarkKind::PersistentLatency
            | MpiBenchmarkKind::PersistentBandwidth
            | MpiBenchmarkKind::PersistentBidirectional => {
                self.time_each_persistent(warm_up, count)
            }
            MpiBenchmarkKind::PersistentCollective(operation) => {
                self.time_each_persistent_collective(operation, warm_up, count)
            }
            MpiBenchmarkKind::RemoteLatency(operation)
            | MpiBenchmarkKind::RemoteBandwidth(operation) => {
                self.time_each_remote(operation, warm_up, count)
            }
            MpiBenchmarkKind::RemoteBidirectional => {
                self.time_each_remote(RemoteOperation::Put, warm_up, count)
            }
            MpiBenchmarkKind::Collective(operation) => {
                self.time_each_collective(operation, warm_up, count)
            }
            MpiBenchmarkKind::Bandwidth
            | MpiBenchmarkKind::Bidirectional
            | MpiBenchmarkKind::PairsBandwidth => self.time_each_window(warm_up, count),
            MpiBenchmarkKind::Overlap(operation) => {
                self.time_each_overlap(operation, warm_up, count)
            }
        }
    }

    /// Runs `turns` turns with different contents and compares the messages received. Returns the
    /// numbers of messages and of wrong ones over all ranks; valid only on rank 0.
    pub(super) fn validate(&mut self, turns: u64) -> MpiResult<(u64, u64)> {
        let (mut messages, mut wrong) = (0.0, 0.0);
        for turn in 0..turns {
            let correct = match (self.kind, self.kind.remote_operation()) {
                (_, Some(operation)) => self.validate_remote(operation, turn)?,
                (
                    MpiBenchmarkKind::Collective(operation)
                    | MpiBenchmarkKind::Overlap(operation)
                    | MpiBenchmarkKind::PersistentCollective(operation),
                    _,
                ) => self.validate_collective(operation, turn)?,
                (MpiBenchmarkKind::Startup, _) => Vec::new(),
                (MpiBenchmarkKind::ThreadsLatency, _) => self.validate_threads(turn)?,
                (MpiBenchmarkKind::FanIn | MpiBenchmarkKind::FanOut, _) => {
                    self.validate_fan(turn)?
                }
                _ => self.validate_pairs(turn)?,
            };
            messages += correct.len() as f64;
            wrong += correct.iter().filter(|correct| !**correct).count() as f64;
            self.comm.barrier()?;
        }
        let sums = self.comm.sum(&[messages, wrong])?;
        Ok((sums[0] as u64, sums[1] as u64))
    }

    /// Returns the handle of the element type and its bytes.
    pub(super) fn element_type(&self) -> (H, usize) {
        let names = &self.comm.constants;
        let handle = match self.element {
            ReductionElement::Integer => names.int,
            ReductionElement::Float => names.float,
            ReductionElement::Unsigned64 => names.uint64,
        };
        (handle, self.element.bytes())
    }

    /// Frees the memory shared by the ranks; all ranks together.
    pub(super) fn release(self) -> MpiResult {
        self.window.map_or(Ok(()), MpiWindow::free)
    }
}

/// Whether OSU's program locks the other rank's memory exclusively.
fn locks_exclusively(kind: MpiBenchmarkKind, synchronization: RmaSynchronization) -> bool {
    match kind.remote_operation() {
        Some(RemoteOperation::GetAccumulate) => true,
        Some(RemoteOperation::FetchAndOp | RemoteOperation::CompareAndSwap) => {
            synchronization == RmaSynchronization::Lock
        }
        _ => false,
    }
}
