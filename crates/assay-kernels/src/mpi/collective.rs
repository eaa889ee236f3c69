//! Collective operations, blocking and non-blocking. Rank 0 is the root where there is one.

use std::ffi::c_int;

use crate::clock::now_ns;

use super::abi::Handle;
use super::benchmark_kind::{Collective, ELEMENT_BYTES, ReductionElement};
use super::calls::{MpiResult, check_call};
use super::communicator::Communicator;
use super::contents::{fill_bytes, fill_numbers, has_contents, has_sums, message_seed};
use super::prepared_benchmark::{MpiFigures, OverlapParts, PreparedBenchmark};
use super::timing::MpiPass;

const ROOT: c_int = 0;

/// Arguments of one collective operation's calls.
#[derive(Debug, Clone, Copy)]
struct CollectiveCall<'j, H: Handle> {
    comm: &'j Communicator<H>,
    operation: Collective,
    send_buffer: *const std::ffi::c_void,
    receive_buffer: *mut std::ffi::c_void,
    /// Number of characters.
    count: c_int,
    /// Number of elements of a reduction; `element` is their type.
    elements: c_int,
    element: H,
}

impl<H: Handle> CollectiveCall<'_, H> {
    /// Makes the blocking call. The branch is the same in every turn, so the processor predicts it.
    #[inline(always)]
    fn run_blocking(&self) -> MpiResult {
        let Self {
            comm, send_buffer: out, receive_buffer: into, count, elements, element, ..
        } = *self;
        let Communicator { calls, constants: names, .. } = comm;
        let (char, world) = (names.char, names.world);
        // SAFETY, here and below: `MpiBenchmarkKind::buffers` gave both addresses as many bytes as
        // the operation reads and writes on this rank, and the library keeps no pointer after the
        // call.
        match self.operation {
            Collective::Barrier => comm.barrier(),
            Collective::Broadcast => {
                // SAFETY: see above.
                check_call("MPI_Bcast", unsafe {
                    (calls.broadcast)(into, count, char, ROOT, world)
                })
            }
            // SAFETY: see above.
            Collective::Reduce => check_call("MPI_Reduce", unsafe {
                (calls.reduce)(out, into, elements, element, names.sum, ROOT, world)
            }),
            // SAFETY: see above.
            Collective::AllReduce => check_call("MPI_Allreduce", unsafe {
                (calls.all_reduce)(out, into, elements, element, names.sum, world)
            }),
            // SAFETY: see above.
            Collective::AllGather => check_call("MPI_Allgather", unsafe {
                (calls.all_gather)(out, count, char, into, count, char, world)
            }),
            // SAFETY: see above.
            Collective::AllToAll => check_call("MPI_Alltoall", unsafe {
                (calls.all_to_all)(out, count, char, into, count, char, world)
            }),
            // SAFETY: see above.
            Collective::Gather => check_call("MPI_Gather", unsafe {
                (calls.gather)(out, count, char, into, count, char, ROOT, world)
            }),
            // SAFETY: see above.
            Collective::Scatter => check_call("MPI_Scatter", unsafe {
                (calls.scatter)(out, count, char, into, count, char, ROOT, world)
            }),
        }
    }

    /// Starts the non-blocking call.
    ///
    /// # Safety
    /// The memory must stay until the request is complete.
    #[inline(always)]
    unsafe fn start(&self, request: &mut H) -> MpiResult {
        let Self {
            comm, send_buffer: out, receive_buffer: into, count, elements, element, ..
        } = *self;
        let Communicator { calls, constants: names, .. } = comm;
        let (char, world) = (names.char, names.world);
        // SAFETY, here and below: as for the blocking call, and the caller keeps the memory.
        match self.operation {
            Collective::Barrier => {
                // SAFETY: see above.
                check_call("MPI_Ibarrier", unsafe { (calls.ibarrier)(world, request) })
            }
            // SAFETY: see above.
            Collective::Broadcast => check_call("MPI_Ibcast", unsafe {
                (calls.ibroadcast)(into, count, char, ROOT, world, request)
            }),
            // SAFETY: see above.
            Collective::Reduce => check_call("MPI_Ireduce", unsafe {
                (calls.ireduce)(out, into, elements, element, names.sum, ROOT, world, request)
            }),
            // SAFETY: see above.
            Collective::AllReduce => check_call("MPI_Iallreduce", unsafe {
                (calls.iall_reduce)(out, into, elements, element, names.sum, world, request)
            }),
            // SAFETY: see above.
            Collective::AllGather => check_call("MPI_Iallgather", unsafe {
                (calls.iall_gather)(out, count, char, into, count, char, world, request)
            }),
            // SAFETY: see above.
            Collective::AllToAll => check_call("MPI_Ialltoall", unsafe {
                (calls.iall_to_all)(out, count, char, into, count, char, world, request)
            }),
            // SAFETY: see above.
            Collective::Gather => check_call("MPI_Igather", unsafe {
                (calls.igather)(out, count, char, into, count, char, ROOT, world, request)
            }),
            // SAFETY: see above.
            Collective::Scatter => check_call("MPI_Iscatter", unsafe {
                (calls.iscatter)(out, count, char, into, count, char, ROOT, world, request)
            }),
        }
    }
}

impl<H: Handle> PreparedBenchmark<'_, H> {
    fn collective_call(&self, operation: Collective) -> CollectiveCall<'_, H> {
        let names = &self.comm.constants;
        CollectiveCall {
            comm: self.comm,
            operation,
            send_buffer: self.send.as_ptr().cast_const().cast(),
            receive_buffer: self.receive.as_ptr().cast(),
            count: self.message_bytes,
            elements: self.message_bytes / ELEMENT_BYTES as c_int,
            element: match self.element {
                ReductionElement::Integer => names.int,
                ReductionElement::Float => names.float,
            },
        }
    }

    /// Times calls separated by untimed barriers. Calls of the barrier itself are not separated.
    pub(super) fn time_collective(
        &mut self,
        operation: Collective,
        pass: &MpiPass,
    ) -> MpiResult<MpiFigures> {
        let call = self.collective_call(operation);
        let elapsed_s = match operation {
            Collective::Barrier => self.comm.time_batch(pass, || call.run_blocking())?,
            _ => self.comm.time_separated(pass, || call.run_blocking())?,
        };
        reduce_call_times(self.comm, elapsed_s / pass.iterations as f64)
    }

    /// Returns the mean over the ranks of each single call.
    pub(super) fn time_each_collective(
        &mut self,
        operation: Collective,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let call = self.collective_call(operation);
        let is_separated = operation != Collective::Barrier;
        let times =
            self.comm.time_each(warm_up, count, is_separated, || call.run_blocking())?;
        let ranks = f64::from(self.comm.size);
        Ok(self.comm.sum(&times)?.into_iter().map(|sum| sum / ranks).collect())
    }

    /// Times the call alone, then with computation of the same length between its start and its
    /// end.
    ///
    /// overlap = 1 − (overall − compute) / pure, not below 0: OSU's formula, from means over the
    /// ranks.
    pub(super) fn time_overlap(
        &mut self,
        operation: Collective,
        pass: &MpiPass,
    ) -> MpiResult<MpiFigures> {
        let (comm, call, mut request) =
            (self.comm, self.collective_call(operation), H::default());
        let (tests, times_parts) = (self.test_calls, self.times_parts);
        let pure_s = comm.time_separated(pass, || {
            // SAFETY: completed right here.
            unsafe { call.start(&mut request)? };
            comm.wait(&mut request)
        })? / pass.iterations as f64;
        let compute_ns = (pure_s * 1e9) as u64;
        // Sums for computation, start, tests and wait, without the warm-up turns.
        let mut sums_ns = [0_u64; 4];
        let mut warm_up_left = pass.warm_up;
        let clock = || if times_parts { now_ns() } else { 0 };
        let overall_s = comm.time_separated(pass, || {
            let begin_ns = clock();
            // SAFETY: completed right here.
            unsafe { call.start(&mut request)? };
            let started_ns = clock();
            let computed_ns = compute_with_tests(comm, &mut request, compute_ns, tests)?;
            let tested_ns = clock();
            comm.wait(&mut request)?;
            if warm_up_left == 0 {
                let testing_ns = if tests == 0 { 0 } else { tested_ns - started_ns };
                let times_ns = [
                    computed_ns,
                    started_ns - begin_ns,
                    testing_ns.saturating_sub(computed_ns),
                    clock() - tested_ns,
                ];
                sums_ns.iter_mut().zip(times_ns).for_each(|(sum, time)| *sum += time);
            }
            warm_up_left = warm_up_left.saturating_sub(1);
            Ok(())
        })? / pass.iterations as f64;
        let means_s = sums_ns.map(|sum_ns| sum_ns as f64 * 1e-9 / pass.iterations as f64);
        reduce_overlap_times(comm, [overall_s, pure_s], means_s, times_parts)
    }

    /// Times call, computation and wait together; returns the mean over the ranks of each single
    /// turn.
    pub(super) fn time_each_overlap(
        &mut self,
        operation: Collective,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let (comm, call, mut request) =
            (self.comm, self.collective_call(operation), H::default());
        let tests = self.test_calls;
        let pure_s = comm.time_each(warm_up, count, true, || {
            // SAFETY: completed right here.
            unsafe { call.start(&mut request)? };
            comm.wait(&mut request)
        })?;
        let compute_ns = (pure_s.iter().sum::<f64>() / count.max(1) as f64 * 1e9) as u64;
        let times = comm.time_each(warm_up, count, true, || {
            // SAFETY: completed right here.
            unsafe { call.start(&mut request)? };
            compute_with_tests(comm, &mut request, compute_ns, tests)?;
            comm.wait(&mut request)
        })?;
        let ranks = f64::from(comm.size);
        Ok(comm.sum(&times)?.into_iter().map(|sum| sum / ranks).collect())
    }

    /// Runs one operation with contents that identify their origin. Returns whether each part
    /// received on this rank is correct.
    pub(super) fn validate_collective(
        &mut self,
        operation: Collective,
        turn: u64,
        is_non_blocking: bool,
    ) -> MpiResult<Vec<bool>> {
        self.fill_collective(operation, turn);
        self.comm.barrier()?;
        let call = self.collective_call(operation);
        if is_non_blocking {
            let mut request = H::default();
            // SAFETY: completed right here.
            unsafe { call.start(&mut request)? };
            self.comm.wait(&mut request)?;
        } else {
            call.run_blocking()?;
        }
        Ok(self.check_collective(operation, turn))
    }

    fn fill_collective(&mut self, operation: Collective, turn: u64) {
        let (rank, bytes) = (self.comm.rank, self.message_bytes as usize);
        self.receive.as_mut_slice::<u8>().fill(0xff);
        match operation {
            Collective::Barrier => {}
            Collective::Broadcast if rank == ROOT => {
                fill_bytes(
                    &mut self.receive.as_mut_slice::<u8>()[..bytes],
                    message_seed(turn, ROOT, 0),
                );
            }
            Collective::Broadcast => {}
            Collective::Reduce | Collective::AllReduce => match self.element {
                ReductionElement::Integer => {
                    fill_numbers(self.send.as_mut_slice::<u32>(), turn, rank);
                }
                ReductionElement::Float => {
                    fill_numbers(self.send.as_mut_slice::<f32>(), turn, rank);
                }
            },
            Collective::AllGather
            | Collective::Gather
            | Collective::AllToAll
            | Collective::Scatter => {
                // The seed of a part identifies its sender and its receiver.
                let parts = self.send.as_mut_slice::<u8>().chunks_exact_mut(bytes.max(1));
                for (to, part) in parts.enumerate() {
                    fill_bytes(part, message_seed(turn, rank, to));
                }
            }
        }
    }

    fn check_collective(&self, operation: Collective, turn: u64) -> Vec<bool> {
        let (rank, ranks, bytes) =
            (self.comm.rank, self.comm.size, self.message_bytes as usize);
        let received = self.receive.as_slice::<u8>();
        let part = |from: c_int| &received[from as usize * bytes..(from as usize + 1) * bytes];
        match operation {
            Collective::Barrier => Vec::new(),
            Collective::Broadcast => vec![has_contents(part(0), message_seed(turn, ROOT, 0))],
            Collective::Reduce if rank != ROOT => Vec::new(),
            Collective::Reduce | Collective::AllReduce => {
                let elements = bytes / ELEMENT_BYTES;
                vec![match self.element {
                    ReductionElement::Integer => {
                        has_sums(&self.receive.as_slice::<u32>()[..elements], turn, ranks)
                    }
                    ReductionElement::Float => {
                        has_sums(&self.receive.as_slice::<f32>()[..elements], turn, ranks)
                    }
                }]
            }
            Collective::Gather if rank != ROOT => Vec::new(),
            // Each rank sends the same part to all, so it is the first of its parts.
            Collective::AllGather | Collective::Gather => (0..ranks)
                .map(|from| has_contents(part(from), message_seed(turn, from, 0)))
                .collect(),
            Collective::AllToAll => (0..ranks)
                .map(|from| has_contents(part(from), message_seed(turn, from, rank as usize)))
                .collect(),
            Collective::Scatter => {
                vec![has_contents(part(0), message_seed(turn, ROOT, rank as usize))]
            }
        }
    }
}

/// Returns mean, minimum and maximum over the ranks; valid only on rank 0.
fn reduce_call_times<H: Handle>(comm: &Communicator<H>, own_s: f64) -> MpiResult<MpiFigures> {
    let (minimum_s, maximum_s) = comm.min_max(own_s)?;
    let mean_s = comm.sum(&[own_s])?[0] / f64::from(comm.size);
    Ok(MpiFigures::Call { mean_s, minimum_s, maximum_s })
}

/// Returns means over the ranks of a call with computation and without, and of `computation, start,
/// tests, wait`; valid only on rank 0.
fn reduce_overlap_times<H: Handle>(
    comm: &Communicator<H>,
    [overall_s, pure_s]: [f64; 2],
    [compute_s, start_s, tests_s, wait_s]: [f64; 4],
    parts: bool,
) -> MpiResult<MpiFigures> {
    let ranks = f64::from(comm.size);
    let sums = comm.sum(&[overall_s, compute_s, pure_s, start_s, tests_s, wait_s])?;
    let mean_s = |i: usize| sums[i] / ranks;
    let (minimum_s, maximum_s) = comm.min_max(pure_s)?;
    let [overall_s, compute_s, pure_s] = [0, 1, 2].map(mean_s);
    let [start_s, tests_s, wait_s] = [3, 4, 5].map(mean_s);
    Ok(MpiFigures::Overlap {
        overall_s,
        compute_s,
        pure_s,
        share: (1.0 - (overall_s - compute_s) / pure_s).clamp(0.0, 1.0),
        parts: parts.then_some(OverlapParts { start_s, tests_s, wait_s, minimum_s, maximum_s }),
    })
}

/// Computes for `length_ns`, split into `tests` parts with a test after each. Returns the
/// nanoseconds spent computing, without the tests.
fn compute_with_tests<H: Handle>(
    comm: &Communicator<H>,
    request: &mut H,
    length_ns: u64,
    tests: u32,
) -> MpiResult<u64> {
    if tests == 0 {
        return Ok(spin(length_ns));
    }
    let mut computed_ns = 0;
    for _ in 0..tests {
        computed_ns += spin(length_ns / u64::from(tests));
        comm.test(request)?;
    }
    Ok(computed_ns)
}

/// Keeps the processor busy without calling the library. Returns the actual nanoseconds.
fn spin(length_ns: u64) -> u64 {
    let start = now_ns();
    loop {
        let took_ns = now_ns() - start;
        if took_ns >= length_ns {
            return took_ns;
        }
    }
}
