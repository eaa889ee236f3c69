//! Timing of collective operations, blocking and non-blocking. Rank 0 is the root where there is one.

use assay_model::benchmark::Collective;

use crate::clock::now_ns;

use super::abi::Handle;
use super::calls::MpiResult;
use super::communicator::Communicator;
use super::figures::{MpiFigures, reduce_call_times, reduce_overlap_times};
use super::prepared_benchmark::PreparedBenchmark;
use super::timing::MpiPass;

impl<H: Handle> PreparedBenchmark<'_, H> {
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

    /// Times starts and ends of a persistent request, separated like calls.
    pub(super) fn time_persistent_collective(
        &mut self,
        operation: Collective,
        pass: &MpiPass,
    ) -> MpiResult<MpiFigures> {
        let comm = self.comm;
        let mut elapsed_s = 0.0;
        if let Some(mut request) = self.init_collective(operation)? {
            let turn = || {
                comm.start_request(&mut request)?;
                comm.wait(&mut request)
            };
            elapsed_s = match operation {
                Collective::Barrier => comm.time_batch(pass, turn)?,
                _ => comm.time_separated(pass, turn)?,
            };
            comm.free_requests(&mut [request])?;
        }
        reduce_call_times(comm, elapsed_s / pass.iterations as f64)
    }

    /// Returns the mean over the ranks of each single start and end of a persistent request.
    pub(super) fn time_each_persistent_collective(
        &mut self,
        operation: Collective,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let comm = self.comm;
        let is_separated = operation != Collective::Barrier;
        let Some(mut request) = self.init_collective(operation)? else {
            return Ok(Vec::new());
        };
        let times = comm.time_each(warm_up, count, is_separated, || {
            comm.start_request(&mut request)?;
            comm.wait(&mut request)
        })?;
        comm.free_requests(&mut [request])?;
        let ranks = f64::from(comm.size);
        Ok(comm.sum(&times)?.into_iter().map(|sum| sum / ranks).collect())
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
        let _is_complete = comm.test(request)?;
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
