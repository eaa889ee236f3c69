//! Ping-pongs of ranks that forked processes: a fork marks the memory of the library as shared, and
//! may break a transport that had registered it with a device.

use std::io;

use super::abi::Handle;
use super::calls::MpiResult;
use super::communicator::Communicator;
use super::figures::MpiFigures;
use super::pairs::{PING_TAG, PairRole, pair_role};
use super::prepared_benchmark::PreparedBenchmark;
use super::timing::MpiPass;

/// Seconds after which a forked process ends, as in OSU's program.
const FORKED_LIFE_S: u32 = 2;

impl<H: Handle> Communicator<H> {
    /// Forks processes that send nothing and end by themselves.
    pub(super) fn fork_processes(&mut self, count: u32) -> io::Result<()> {
        for _ in 0..count {
            // SAFETY: the new process makes two system calls and ends, without using memory.
            match unsafe { libc::fork() } {
                -1 => return Err(io::Error::last_os_error()),
                0 => {
                    // SAFETY: takes a number, and a signal cannot end it early without ending the
                    // process.
                    unsafe { libc::sleep(FORKED_LIFE_S) };
                    // SAFETY: ends the process without running what the parent has registered.
                    unsafe { libc::_exit(0) }
                }
                process => self.forked.push(process),
            }
        }
        Ok(())
    }

    /// Waits until the forked processes have ended.
    pub(super) fn await_forked(&self) {
        for process in &self.forked {
            // SAFETY: a child of this process, and nothing to be written.
            unsafe { libc::waitpid(*process, std::ptr::null_mut(), 0) };
        }
    }
}

impl<H: Handle> PreparedBenchmark<'_, H> {
    /// Times ping-pongs that an untimed barrier separates; the result is a half round trip.
    pub(super) fn time_forked(&mut self, pass: &MpiPass) -> MpiResult<MpiFigures> {
        let elapsed_s =
            self.separate_round_trips(|comm, turn| comm.time_separated(pass, turn))?;
        let seconds = elapsed_s.unwrap_or_default() / (2 * pass.iterations) as f64;
        Ok(MpiFigures::Latency { seconds })
    }

    /// Returns half of every single round trip of rank 0.
    pub(super) fn time_each_forked(
        &mut self,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let times =
            self.separate_round_trips(|comm, turn| comm.time_each(warm_up, count, true, turn))?;
        Ok(times.unwrap_or_default().into_iter().map(|time| time / 2.0).collect())
    }

    fn separate_round_trips<T>(
        &mut self,
        time: impl FnOnce(&Communicator<H>, &mut dyn FnMut() -> MpiResult) -> MpiResult<T>,
    ) -> MpiResult<Option<T>> {
        let (comm, count) = (self.comm, self.message_bytes);
        let (out, back) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let Some(PairRole { peer, is_lower }) = pair_role(comm) else { return Ok(None) };
        let mut turn = || {
            // SAFETY: `count` bytes are at both addresses, which this benchmark owns.
            unsafe {
                if is_lower {
                    comm.send(out, count, peer, PING_TAG)?;
                    comm.receive(back, count, peer, PING_TAG)
                } else {
                    comm.receive(back, count, peer, PING_TAG)?;
                    comm.send(out, count, peer, PING_TAG)
                }
            }
        };
        time(comm, &mut turn).map(Some)
    }
}
