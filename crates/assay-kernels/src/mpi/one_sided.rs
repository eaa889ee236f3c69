//! One-sided operations: rank 0 accesses the memory of rank 1. With active synchronisation both
//! ranks take part, and in latency tests they access each other's memory in turn.

use std::ffi::c_int;

use assay_model::benchmark::{MpiBenchmarkKind, RemoteOperation};

use super::abi::Handle;
use super::calls::MpiResult;
use super::figures::MpiFigures;
use super::prepared_benchmark::PreparedBenchmark;
use super::timing::{EachTurn, MpiPass, TurnTimer, WholeBatch};
use super::window::{MpiWindow, RemoteArguments};

/// Panic message: a one-sided benchmark always allocates a window.
pub(super) const HAS_WINDOW: &str = "a one-sided benchmark has a window";

/// Turn of a one-sided benchmark on one rank.
#[derive(Debug)]
pub(super) struct OneSidedTurn<'w, 'j, H: Handle> {
    kind: MpiBenchmarkKind,
    window: &'w MpiWindow<'j, H>,
    arguments: RemoteArguments<H>,
    in_flight: usize,
    is_first: bool,
}

impl<H: Handle> OneSidedTurn<'_, '_, H> {
    pub(super) const fn window(&self) -> &MpiWindow<'_, H> {
        self.window
    }

    /// Makes all operations of one turn.
    #[inline(always)]
    fn run_operations(&self) -> MpiResult {
        for slot in 0..self.in_flight {
            // SAFETY: the benchmark owns the memory of all slots, and the turn completes them.
            unsafe { self.window.run(&self.arguments, slot)? };
        }
        Ok(())
    }

    /// Makes the operations as the origin, with the synchronisation around them.
    #[inline(always)]
    fn run_origin(&self) -> MpiResult {
        self.window.open_access()?;
        self.run_operations()?;
        self.window.close_access()
    }

    /// Runs one turn. The branches are the same in every turn, so the processor predicts them.
    #[inline(always)]
    pub(super) fn run(&self) -> MpiResult {
        let window = self.window;
        match (self.kind, self.is_first) {
            (MpiBenchmarkKind::RemoteBidirectional, _) => {
                window.open_exposure()?;
                self.run_origin()?;
                window.close_exposure()
            }
            (MpiBenchmarkKind::RemoteLatency(_), true) => {
                self.run_origin()?;
                window.expose()
            }
            (MpiBenchmarkKind::RemoteLatency(_), false) => {
                window.expose()?;
                self.run_origin()
            }
            (_, true) => self.run_origin(),
            (_, false) => window.accept(),
        }
    }
}

impl<H: Handle> PreparedBenchmark<'_, H> {
    /// Returns this rank's turn.
    pub(super) fn one_sided_turn(&self, operation: RemoteOperation) -> OneSidedTurn<'_, '_, H> {
        let (element, element_bytes) = self.element_type();
        let is_sum = operation.has_elements();
        OneSidedTurn {
            kind: self.kind,
            window: self.window.as_ref().expect(HAS_WINDOW),
            arguments: RemoteArguments {
                operation,
                send: self.send.as_ptr().cast_const(),
                receive: self.receive.as_ptr(),
                bytes: self.message_bytes as usize,
                count: if is_sum {
                    self.message_bytes / element_bytes as c_int
                } else {
                    self.message_bytes
                },
                element: if is_sum { element } else { self.comm.constants.char },
            },
            in_flight: self.in_flight,
            is_first: self.comm.rank == 0,
        }
    }

    /// Times latencies of rank 0; half of a turn where both ranks access each other's memory.
    pub(super) fn time_remote_latency(
        &mut self,
        operation: RemoteOperation,
        pass: &MpiPass,
    ) -> MpiResult<MpiFigures> {
        let elapsed_s = self.time_remote(operation, &WholeBatch(pass))?;
        let seconds = elapsed_s.first().map_or(0.0, |it| it / pass.iterations as f64);
        Ok(MpiFigures::Latency { seconds })
    }

    /// Returns the payload of rank 0's windows over their time, of both directions if both ranks
    /// write.
    pub(super) fn measure_remote_bandwidth(
        &mut self,
        operation: RemoteOperation,
        pass: &MpiPass,
    ) -> MpiResult<MpiFigures> {
        let elapsed_s = self.time_remote(operation, &WholeBatch(pass))?;
        let payload =
            self.message_bytes as f64 * self.in_flight as f64 * pass.iterations as f64;
        let directions = f64::from(self.kind.directions());
        let bytes_per_s = elapsed_s.first().map_or(0.0, |it| directions * payload / it);
        Ok(MpiFigures::Bandwidth { bytes_per_s })
    }

    /// Returns the seconds of each turn of rank 0; empty on the other rank.
    pub(super) fn time_each_remote(
        &mut self,
        operation: RemoteOperation,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        self.time_remote(operation, &EachTurn { warm_up, count })
    }

    /// Times turns of rank 0. Where it accesses a passive target, the other rank waits in the next
    /// barrier, in which its library makes progress.
    fn time_remote(
        &mut self,
        operation: RemoteOperation,
        timer: &impl TurnTimer,
    ) -> MpiResult<Vec<f64>> {
        let turn = self.one_sided_turn(operation);
        let is_active = turn.window.synchronization.is_active();
        let mut times = Vec::new();
        if self.comm.rank == 0 || is_active {
            turn.window.begin_passive()?;
            times = timer.time_turns(self.comm, || turn.run())?;
            turn.window.end_passive()?;
        }
        self.comm.barrier()?;
        if self.comm.rank != 0 {
            return Ok(Vec::new());
        }
        if is_active && !self.kind.is_windowed() {
            times.iter_mut().for_each(|time| *time /= 2.0);
        }
        Ok(times)
    }
}
