//! One-sided operations: rank 0 writes or reads the memory of rank 1, which stays passive.

use super::abi::Handle;
use super::benchmark_kind::MpiBenchmarkKind;
use super::calls::MpiResult;
use super::contents::{fill_bytes, has_contents, message_seed};
use super::prepared_benchmark::{MpiFigures, PreparedBenchmark};
use super::timing::MpiPass;
use super::window::TARGET_RANK;

/// Panic message: a benchmark of put or get always allocates a window.
const HAS_WINDOW: &str = "a benchmark of put or get has a window";

impl<H: Handle> PreparedBenchmark<'_, H> {
    /// Times single puts or gets, each with its flush, by rank 0. The others wait in the next
    /// barrier, in which their library makes progress.
    pub(super) fn time_one_sided(&mut self, pass: &MpiPass) -> MpiResult<MpiFigures> {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        let (comm, count) = (self.comm, self.message_bytes);
        let (out, into) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let mut elapsed_s = 0.0;
        if comm.rank == 0 {
            window.lock()?;
            elapsed_s = match self.kind {
                MpiBenchmarkKind::Put => comm.time_batch(pass, || {
                    // SAFETY: the bytes are ours, locked and flushed right here.
                    unsafe { window.put(out, count)? };
                    window.flush()
                })?,
                _ => comm.time_batch(pass, || {
                    // SAFETY: as above.
                    unsafe { window.get(into, count)? };
                    window.flush()
                })?,
            };
            window.unlock()?;
        }
        comm.barrier()?;
        Ok(MpiFigures::Latency { seconds: elapsed_s / pass.iterations as f64 })
    }

    /// Returns the seconds of each put or get by rank 0, with its flush; empty on other ranks.
    pub(super) fn time_each_one_sided(
        &mut self,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        let (comm, bytes) = (self.comm, self.message_bytes);
        let (out, into) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let mut times = Vec::new();
        if comm.rank == 0 {
            window.lock()?;
            times = match self.kind {
                MpiBenchmarkKind::Put => comm.time_each(warm_up, count, false, || {
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
    pub(super) fn validate_one_sided(&mut self, turn: u64) -> MpiResult<Vec<bool>> {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        let (comm, bytes) = (self.comm, self.message_bytes as usize);
        let seed = message_seed(turn, TARGET_RANK, 0);
        if self.kind == MpiBenchmarkKind::Get && comm.rank == TARGET_RANK {
            // SAFETY: the window has `bytes` bytes here, and no rank accesses it before the
            // barrier.
            fill_bytes(
                unsafe { std::slice::from_raw_parts_mut(window.base, window.bytes) },
                seed,
            );
        }
        fill_bytes(&mut self.send.as_mut_slice::<u8>()[..bytes], seed);
        self.receive.as_mut_slice::<u8>().fill(0xff);
        comm.barrier()?;
        if comm.rank == 0 {
            window.lock()?;
            // SAFETY: the bytes are ours, locked, and complete when unlocked.
            unsafe {
                match self.kind {
                    MpiBenchmarkKind::Put => {
                        window.put(self.send.as_ptr(), self.message_bytes)?;
                    }
                    _ => window.get(self.receive.as_ptr(), self.message_bytes)?,
                }
            }
            window.unlock()?;
        }
        comm.barrier()?;
        Ok(match (self.kind, comm.rank) {
            (MpiBenchmarkKind::Put, TARGET_RANK) => {
                // The barrier came after the unlock; locking once makes the memory visible here.
                window.lock()?;
                // SAFETY: the window has `bytes` bytes here, and no rank writes them any more.
                let contents = unsafe { std::slice::from_raw_parts(window.base, window.bytes) };
                let is_correct = has_contents(contents, seed);
                window.unlock()?;
                vec![is_correct]
            }
            (MpiBenchmarkKind::Get, 0) => {
                vec![has_contents(&self.receive.as_slice::<u8>()[..bytes], seed)]
            }
            _ => Vec::new(),
        })
    }
}
