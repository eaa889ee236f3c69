//! Loops around one turn of a benchmark, with their clock readings.
//!
//! A turn is a closure, so that each loop is compiled for each benchmark and each width of a
//! handle, without decisions inside it.

use crate::clock::now_ns;

use super::abi::Handle;
use super::calls::MpiResult;
use super::communicator::Communicator;

/// Placement of the clock readings of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// A reading before the first turn and another after the last. Collectives are separated by
    /// untimed barriers, so each call is timed by this program's clock.
    Batch,
    /// Two readings of the library's clock around every turn, summed, as OSU does since 5.7.
    Turns,
}

/// Number of turns of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MpiPass {
    /// Untimed turns before the timed ones.
    pub warm_up: u64,
    /// Timed turns; at least one.
    pub iterations: u64,
    /// Placement of the clock readings.
    pub timing: Timing,
}

/// Times turns, all together or each by itself. Each implementation has its own loop: with both
/// loops in one function, the turn is not inlined, which costs a window of small messages 0.7 %.
pub(super) trait TurnTimer {
    /// Returns the seconds of all timed turns together, or of each.
    fn time_turns<H: Handle>(
        &self,
        comm: &Communicator<H>,
        turn: impl FnMut() -> MpiResult,
    ) -> MpiResult<Vec<f64>>;
}

/// Times a batch as a whole.
pub(super) struct WholeBatch<'p>(pub(super) &'p MpiPass);

impl TurnTimer for WholeBatch<'_> {
    #[inline(always)]
    fn time_turns<H: Handle>(
        &self,
        comm: &Communicator<H>,
        turn: impl FnMut() -> MpiResult,
    ) -> MpiResult<Vec<f64>> {
        Ok(vec![comm.time_batch(self.0, turn)?])
    }
}

/// Times `count` turns one by one after `warm_up` untimed turns.
pub(super) struct EachTurn {
    pub(super) warm_up: u64,
    pub(super) count: usize,
}

impl TurnTimer for EachTurn {
    #[inline(always)]
    fn time_turns<H: Handle>(
        &self,
        comm: &Communicator<H>,
        turn: impl FnMut() -> MpiResult,
    ) -> MpiResult<Vec<f64>> {
        comm.time_each(self.warm_up, self.count, false, turn)
    }
}

impl<H: Handle> Communicator<H> {
    /// Returns the seconds of all timed turns together; nothing else runs between the turns.
    #[inline(always)]
    pub(super) fn time_batch(
        &self,
        pass: &MpiPass,
        mut turn: impl FnMut() -> MpiResult,
    ) -> MpiResult<f64> {
        for _ in 0..pass.warm_up {
            turn()?;
        }
        match pass.timing {
            Timing::Batch => {
                let start = now_ns();
                for _ in 0..pass.iterations {
                    turn()?;
                }
                Ok((now_ns() - start) as f64 * 1e-9)
            }
            Timing::Turns => {
                let mut sum = 0.0;
                for _ in 0..pass.iterations {
                    let start = self.wtime();
                    turn()?;
                    sum += self.wtime() - start;
                }
                Ok(sum)
            }
        }
    }

    /// Returns the seconds of all timed turns together, with an untimed barrier after each.
    #[inline(always)]
    pub(super) fn time_separated(
        &self,
        pass: &MpiPass,
        mut turn: impl FnMut() -> MpiResult,
    ) -> MpiResult<f64> {
        for _ in 0..pass.warm_up {
            turn()?;
            self.barrier()?;
        }
        let mut sum = 0.0;
        match pass.timing {
            Timing::Batch => {
                let mut sum_ns = 0;
                for _ in 0..pass.iterations {
                    let start = now_ns();
                    turn()?;
                    sum_ns += now_ns() - start;
                    self.barrier()?;
                }
                sum += sum_ns as f64 * 1e-9;
            }
            Timing::Turns => {
                for _ in 0..pass.iterations {
                    let start = self.wtime();
                    turn()?;
                    sum += self.wtime() - start;
                    self.barrier()?;
                }
            }
        }
        Ok(sum)
    }

    /// Returns the seconds of every single turn, in order. Each includes two clock readings. If
    /// `is_separated`, an untimed barrier follows each turn.
    #[inline(always)]
    pub(super) fn time_each(
        &self,
        warm_up: u64,
        count: usize,
        is_separated: bool,
        mut turn: impl FnMut() -> MpiResult,
    ) -> MpiResult<Vec<f64>> {
        let mut times = vec![0.0; count];
        for _ in 0..warm_up {
            turn()?;
        }
        for time in &mut times {
            let start = now_ns();
            turn()?;
            *time = (now_ns() - start) as f64 * 1e-9;
            if is_separated {
                self.barrier()?;
            }
        }
        Ok(times)
    }
}
