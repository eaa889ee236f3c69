//! The loops around one turn of a benchmark, and where they read the clock.
//!
//! A turn is a closure, so that each loop is compiled for each benchmark and each width of a handle, and
//! nothing is decided inside it.

use crate::clock::now_ns;

use super::abi::Handle;
use super::calls::Done;
use super::communicator::Communicator;

/// How a batch is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// One reading before the first turn and one after the last; collectives, which are kept apart by
    /// barriers that do not count, are timed call by call by this program's clock.
    Batch,
    /// Two readings of the library's clock around every turn, summed, as OSU does since 5.7.
    Turns,
}

/// How often a batch repeats its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// Turns before the clock starts.
    pub warm_up: u64,
    /// Turns that are timed; at least one.
    pub iterations: u64,
    /// Where the clock is read.
    pub timing: Timing,
}

/// Whether turns are timed together or one by one: a type for each, so that each has its own loop. With
/// both in one function the turn is not inlined, which costs a window of small messages 0.7 %.
pub(super) trait Timed {
    /// Seconds of all timed turns together, or of each of them.
    fn times<H: Handle>(
        &self,
        comm: &Communicator<H>,
        turn: impl FnMut() -> Done,
    ) -> Done<Vec<f64>>;
}

/// As a batch.
pub(super) struct Together<'p>(pub(super) &'p Pass);

impl Timed for Together<'_> {
    #[inline(always)]
    fn times<H: Handle>(
        &self,
        comm: &Communicator<H>,
        turn: impl FnMut() -> Done,
    ) -> Done<Vec<f64>> {
        Ok(vec![comm.time(self.0, turn)?])
    }
}

/// So many after so many that are not timed.
pub(super) struct OneByOne {
    pub(super) warm_up: u64,
    pub(super) count: usize,
}

impl Timed for OneByOne {
    #[inline(always)]
    fn times<H: Handle>(
        &self,
        comm: &Communicator<H>,
        turn: impl FnMut() -> Done,
    ) -> Done<Vec<f64>> {
        comm.time_each(self.warm_up, self.count, false, turn)
    }
}

impl<H: Handle> Communicator<H> {
    /// Seconds of all timed turns together; nothing but turns happens between them.
    #[inline(always)]
    pub(super) fn time(&self, pass: &Pass, mut turn: impl FnMut() -> Done) -> Done<f64> {
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

    /// Seconds of all timed turns together, with a barrier after each that does not count.
    #[inline(always)]
    pub(super) fn time_apart(&self, pass: &Pass, mut turn: impl FnMut() -> Done) -> Done<f64> {
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

    /// Seconds of every single turn, in order. The cost of two clock readings is in each. With `apart`
    /// there is a barrier after each that does not count.
    #[inline(always)]
    pub(super) fn time_each(
        &self,
        warm_up: u64,
        count: usize,
        apart: bool,
        mut turn: impl FnMut() -> Done,
    ) -> Done<Vec<f64>> {
        let mut times = vec![0.0; count];
        for _ in 0..warm_up {
            turn()?;
        }
        for time in &mut times {
            let start = now_ns();
            turn()?;
            *time = (now_ns() - start) as f64 * 1e-9;
            if apart {
                self.barrier()?;
            }
        }
        Ok(times)
    }
}
