//! One-sided operations: rank 0 writes or reads the memory of rank 1, which stays passive.

use super::abi::Handle;
use super::calls::Done;
use super::contents::{fill, is_right, seed};
use super::kind::Kind;
use super::prepared::{Figures, Prepared};
use super::timing::Pass;
use super::window::TARGET;

/// Reason for which the window is present: a benchmark of put or get allocates it.
const HAS_WINDOW: &str = "put and get are prepared with a window";

impl<H: Handle> Prepared<'_, H> {
    /// Times single puts or gets, each with its flush, by rank 0. The others wait in the next
    /// barrier, in which their library makes progress.
    pub(super) fn one_sided(&mut self, pass: &Pass) -> Done<Figures> {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        let (comm, count) = (self.comm, self.count);
        let (out, into) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let mut elapsed_s = 0.0;
        if comm.rank == 0 {
            window.lock()?;
            elapsed_s = match self.kind {
                Kind::Put => comm.time(pass, || {
                    // SAFETY: the bytes are ours, locked and flushed right here.
                    unsafe { window.put(out, count)? };
                    window.flush()
                })?,
                _ => comm.time(pass, || {
                    // SAFETY: as above.
                    unsafe { window.get(into, count)? };
                    window.flush()
                })?,
            };
            window.unlock()?;
        }
        comm.barrier()?;
        Ok(Figures::Latency { seconds: elapsed_s / pass.iterations as f64 })
    }

    pub(super) fn each_one_sided(&mut self, warm_up: u64, count: usize) -> Done<Vec<f64>> {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        let (comm, bytes) = (self.comm, self.count);
        let (out, into) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let mut times = Vec::new();
        if comm.rank == 0 {
            window.lock()?;
            times = match self.kind {
                Kind::Put => comm.time_each(warm_up, count, false, || {
                    // SAFETY: the bytes are ours, locked and flushed right here.
                    unsafe { window.put(out, bytes)? };
                    window.flush()
                })?,
                _ => comm.time_each(warm_up, count, false, || {
                    // SAFETY: as above.
                    unsafe { window.get(into, bytes)? };
                    window.flush()
                })?,
            };
            window.unlock()?;
        }
        comm.barrier()?;
        Ok(times)
    }

    /// Validates the contents: rank 0 puts and the target compares its own memory, or rank 0 gets
    /// and compares.
    pub(super) fn validate_one_sided(&mut self, turn: u64) -> Done<Vec<bool>> {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        let (comm, bytes) = (self.comm, self.count as usize);
        let seed = seed(turn, TARGET, 0);
        if self.kind == Kind::Get && comm.rank == TARGET {
            // SAFETY: the window has `bytes` bytes here, and no rank accesses it before the
            // barrier.
            fill(unsafe { std::slice::from_raw_parts_mut(window.own, window.bytes) }, seed);
        }
        fill(&mut self.send.as_mut_slice::<u8>()[..bytes], seed);
        self.receive.as_mut_slice::<u8>().fill(0xff);
        comm.barrier()?;
        if comm.rank == 0 {
            window.lock()?;
            // SAFETY: the bytes are ours, locked, and complete when unlocked.
            unsafe {
                match self.kind {
                    Kind::Put => window.put(self.send.as_ptr(), self.count)?,
                    _ => window.get(self.receive.as_ptr(), self.count)?,
                }
            }
            window.unlock()?;
        }
        comm.barrier()?;
        Ok(match (self.kind, comm.rank) {
            (Kind::Put, TARGET) => {
                // The barrier came after the unlock; locking once makes the memory visible here.
                window.lock()?;
                // SAFETY: the window has `bytes` bytes here, and no rank writes them any more.
                let own = unsafe { std::slice::from_raw_parts(window.own, window.bytes) };
                let right = is_right(own, seed);
                window.unlock()?;
                vec![right]
            }
            (Kind::Get, 0) => vec![is_right(&self.receive.as_slice::<u8>()[..bytes], seed)],
            _ => Vec::new(),
        })
    }
}
