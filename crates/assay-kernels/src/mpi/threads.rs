//! Ping-pongs between several threads of two ranks, with a library that is initialised for them.
//!
//! The messages are numbered. Each thread of a rank takes every n-th of them, where n is the number of
//! threads of that rank, so that all are answered with any two numbers.

use std::ffi::c_int;
use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::abi::Handle;
use super::calls::{MpiCallError, MpiResult, THREAD_START};
use super::communicator::Communicator;
use super::contents::{fill_bytes, has_contents, message_seed};
use super::figures::MpiFigures;
use super::pairs::{PING_TAG, PairRole, pair_role};
use super::prepared_benchmark::PreparedBenchmark;
use super::timing::MpiPass;
use super::to_mpi_error;

/// Tag of the answers to a single sending thread, as in OSU's program.
const PONG_TAG: c_int = 2;

/// Time after an error of one thread in which the others may end before the job is aborted. Threads
/// that wait for messages of the failed one never end.
const GRACE: Duration = Duration::from_secs(2);

/// Messages of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ThreadShare {
    /// Number of the first message.
    first: u64,
    /// Number of threads.
    step: u64,
    warm_up: u64,
    timed: u64,
}

impl ThreadShare {
    /// Returns the share of a thread in `warm_up` and then `timed` messages.
    fn new(thread: u64, threads: u64, warm_up: u64, timed: u64) -> Self {
        let below = |end: u64| end.saturating_sub(thread).div_ceil(threads);
        let untimed = below(warm_up);
        Self {
            first: thread,
            step: threads,
            warm_up: untimed,
            timed: below(warm_up + timed) - untimed,
        }
    }
}

/// Communicator of a library that was initialised for several threads.
#[derive(Debug)]
struct SharedCommunicator<'c, H: Handle>(&'c Communicator<H>);

// SAFETY: nothing in it is written while threads share it, its one pointer is a constant, and
// `MPI_Init_thread` has granted calls from several threads.
unsafe impl<H: Handle> Sync for SharedCommunicator<'_, H> {}

impl<H: Handle> SharedCommunicator<'_, H> {
    fn get(&self) -> &Communicator<H> {
        self.0
    }
}

/// Addresses of the messages of all threads.
#[derive(Debug, Clone, Copy)]
struct MessageSlots {
    send: *mut u8,
    receive: *mut u8,
    count: c_int,
}

// SAFETY: each thread uses the slot of its own number only.
unsafe impl Sync for MessageSlots {}

impl MessageSlots {
    /// Sends and receives the messages of one thread in its own slot, the sender first.
    fn ping_pong<H: Handle>(
        &self,
        comm: &Communicator<H>,
        role: PairRole,
        thread: u64,
        tags: (c_int, c_int),
    ) -> MpiResult {
        let (offset, count, peer) =
            (thread as usize * self.count as usize, self.count, role.peer);
        let (out, back) = (self.send.wrapping_add(offset), self.receive.wrapping_add(offset));
        let (ping, pong) = tags;
        // SAFETY: `count` bytes are at both addresses, which no other thread uses.
        unsafe {
            if role.is_lower {
                comm.send(out, count, peer, ping)?;
                comm.receive(back, count, peer, pong)
            } else {
                comm.receive(back, count, peer, ping)?;
                comm.send(out, count, peer, pong)
            }
        }
    }
}

impl<H: Handle> PreparedBenchmark<'_, H> {
    /// Times ping-pongs; the result is the mean half round trip over the messages of all threads of
    /// rank 0.
    pub(super) fn time_threads(&mut self, pass: &MpiPass) -> MpiResult<MpiFigures> {
        let times = self.run_threads(pass.warm_up, pass.iterations, |comm, share, turn| {
            let pass = MpiPass { warm_up: share.warm_up, iterations: share.timed, ..*pass };
            comm.time_batch(&pass, turn)
        })?;
        let elapsed_s: f64 = times.iter().map(|(_, elapsed_s)| elapsed_s).sum();
        Ok(MpiFigures::Latency { seconds: elapsed_s / (2 * pass.iterations) as f64 })
    }

    /// Returns half of every single round trip of rank 0, in the order of the messages.
    pub(super) fn time_each_of_threads(
        &mut self,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let times = self.run_threads(warm_up, count as u64, |comm, share, turn| {
            comm.time_each(share.warm_up, share.timed as usize, false, turn)
        })?;
        let mut in_order = vec![0.0; count];
        for (share, own) in times {
            let numbers =
                (share.first + share.warm_up * share.step..).step_by(share.step as usize);
            for (number, time) in numbers.zip(own) {
                in_order[(number - warm_up) as usize] = time / 2.0;
            }
        }
        Ok(in_order)
    }

    /// Exchanges one message between each thread and the thread of the same number at the other
    /// rank. Returns whether each message received on this rank is correct.
    pub(super) fn validate_threads(&mut self, turn: u64) -> MpiResult<Vec<bool>> {
        let (rank, bytes) = (self.comm.rank, self.message_bytes as usize);
        let peer = pair_role(self.comm).map_or(rank, |role| role.peer);
        let threads = self.threads.0.min(self.threads.1) as usize;
        for slot in 0..threads {
            let own = &mut self.send.as_mut_slice::<u8>()[slot * bytes..(slot + 1) * bytes];
            fill_bytes(own, message_seed(turn, rank, slot));
        }
        self.receive.as_mut_slice::<u8>().fill(0xff);
        let (slots, comm) = (self.message_slots(), SharedCommunicator(self.comm));
        let on_stuck = |error| (self.on_stuck.0)(&to_mpi_error(self.comm, error));
        let Some(role) = pair_role(self.comm) else { return Ok(Vec::new()) };
        let exchange = |thread: u64| {
            let tag = thread as c_int;
            slots.ping_pong(comm.get(), role, thread, (tag, tag))
        };
        in_threads(threads as u64, || Ok(()), exchange, on_stuck)?;
        let received = self.receive.as_slice::<u8>();
        let is_correct = |slot: usize| {
            let message = &received[slot * bytes..(slot + 1) * bytes];
            has_contents(message, message_seed(turn, peer, slot))
        };
        Ok((0..threads).map(is_correct).collect())
    }

    fn message_slots(&mut self) -> MessageSlots {
        MessageSlots {
            send: self.send.as_ptr(),
            receive: self.receive.as_ptr(),
            count: self.message_bytes,
        }
    }

    /// Runs `timed` messages after `warm_up` untimed ones, once the threads of all ranks exist.
    /// Returns the results of `time` in the threads of this rank.
    fn run_threads<T: Send>(
        &mut self,
        warm_up: u64,
        timed: u64,
        time: impl Fn(&Communicator<H>, ThreadShare, &mut dyn FnMut() -> MpiResult) -> MpiResult<T>
        + Sync,
    ) -> MpiResult<Vec<(ThreadShare, T)>> {
        let Some(role) = pair_role(self.comm) else {
            self.comm.barrier()?;
            return Ok(Vec::new());
        };
        let (senders, receivers) = (u64::from(self.threads.0), u64::from(self.threads.1));
        let threads = if role.is_lower { senders } else { receivers };
        let (slots, comm) = (self.message_slots(), SharedCommunicator(self.comm));
        let await_peers = || comm.get().barrier();
        let on_stuck = |error| (self.on_stuck.0)(&to_mpi_error(self.comm, error));
        let work = |thread| {
            let share = ThreadShare::new(thread, threads, warm_up, timed);
            let mut number = share.first;
            let mut turn = || {
                // A single sender does not choose the thread that answers.
                let tags = match senders {
                    1 => (PING_TAG, PONG_TAG),
                    _ => (number as c_int, number as c_int),
                };
                number += share.step;
                slots.ping_pong(comm.get(), role, thread, tags)
            };
            time(comm.get(), share, &mut turn).map(|times| (share, times))
        };
        in_threads(threads, await_peers, work, on_stuck)
    }
}

const fn refused(code: c_int) -> MpiCallError {
    MpiCallError { call: THREAD_START, code }
}

/// Runs `work` in each of `count` threads; the results are in the order of their numbers. The threads
/// begin together, after `on_ready`, which is called once all of them exist.
///
/// After an error of one thread, the others may wait for messages that never come. `on_stuck` is called
/// then, and does not return unless they end.
///
/// # Errors
/// The system's reason if a thread cannot be started, and the error of `on_ready`: no thread has done
/// anything then. Otherwise the first error of `work`.
fn in_threads<T: Send>(
    count: u64,
    on_ready: impl FnOnce() -> MpiResult,
    work: impl Fn(u64) -> MpiResult<T> + Sync,
    on_stuck: impl FnOnce(MpiCallError),
) -> MpiResult<Vec<T>> {
    let (ending, ended) = mpsc::channel();
    // Whether the threads work: the messages of one that does not exist would never be answered.
    let gate = OnceLock::<bool>::new();
    let (work, is_released) = (&work, &gate);
    thread::scope(|scope| {
        let spawn = |number| {
            let ending = ending.clone();
            let held = move || {
                let result = match is_released.wait() {
                    true => work(number),
                    false => Err(refused(libc::EAGAIN)),
                };
                // Nobody waits if the threads were never released.
                let _ = ending.send(result.as_ref().err().copied());
                result
            };
            thread::Builder::new().spawn_scoped(scope, held)
        };
        let spawned: io::Result<Vec<_>> = (0..count).map(spawn).collect();
        let ready = spawned
            .map_err(|why| refused(why.raw_os_error().unwrap_or(libc::EAGAIN)))
            .and_then(|threads| on_ready().map(|()| threads));
        let _ = gate.set(ready.is_ok());
        let join = |thread: thread::ScopedJoinHandle<'_, MpiResult<T>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let threads = ready?;
        drop(ending);
        if let Some(error) = find_stuck(&ended, threads.len()) {
            on_stuck(error);
        }
        threads.into_iter().map(join).collect()
    })
}

/// Waits until `count` threads have ended; returns the first error if others do not end after it.
fn find_stuck(ended: &Receiver<Option<MpiCallError>>, count: usize) -> Option<MpiCallError> {
    let mut failure = None;
    for _ in 0..count {
        let next = match failure {
            None => ended.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(_) => ended.recv_timeout(GRACE),
        };
        match next {
            Ok(error) => failure = failure.or(error),
            Err(RecvTimeoutError::Timeout) => return failure,
            // A thread panicked, which its end reports.
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use super::*;

    #[test]
    fn threads_begin_once_all_exist_or_not_at_all() {
        let is_ready = AtomicBool::new(false);
        let on_ready = || {
            is_ready.store(true, Ordering::SeqCst);
            Ok(())
        };
        let work = |number| Ok((number, is_ready.load(Ordering::SeqCst)));
        let never = |_| unreachable!("no thread is stuck");
        let results = in_threads(3, on_ready, work, never).unwrap();
        assert_eq!(results, [(0, true), (1, true), (2, true)]);

        let worked = AtomicU64::new(0);
        let on_ready = || Err(MpiCallError { call: THREAD_START, code: libc::EAGAIN });
        let work = |_| {
            worked.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        assert_eq!(in_threads(3, on_ready, work, never).unwrap_err().code, libc::EAGAIN);
        assert_eq!(worked.into_inner(), 0);
    }

    #[test]
    fn threads_that_wait_after_an_error_are_reported() {
        let is_freed = AtomicBool::new(false);
        let work = |number| match number {
            1 => Err(MpiCallError { call: "MPI_Recv", code: 15 }),
            _ => {
                while !is_freed.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
                Ok(())
            }
        };
        let mut reported = None;
        let on_stuck = |error: MpiCallError| {
            reported = Some(error.code);
            is_freed.store(true, Ordering::SeqCst);
        };
        let error = in_threads(3, || Ok(()), work, on_stuck).unwrap_err();
        assert_eq!((error.call, error.code, reported), ("MPI_Recv", 15, Some(15)));

        let fails_at_once = |_| Err::<(), _>(MpiCallError { call: "MPI_Send", code: 1 });
        let never = |_| unreachable!("all threads end");
        assert!(in_threads(3, || Ok(()), fails_at_once, never).is_err());
    }

    #[test]
    fn threads_take_each_message_once() {
        for (threads, warm_up, timed) in [(1, 100, 1000), (2, 10, 5), (3, 1, 1), (5, 0, 2)] {
            let shares = (0..threads).map(|it| ThreadShare::new(it, threads, warm_up, timed));
            let mut numbers: Vec<u64> = shares
                .clone()
                .flat_map(|it| (0..it.warm_up + it.timed).map(move |n| it.first + n * it.step))
                .collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..warm_up + timed).collect::<Vec<_>>(), "{threads} threads");
            assert_eq!(shares.map(|it| it.timed).sum::<u64>(), timed, "{threads} threads");
        }
    }
}
