//! Results of a batch, and the statistics over the ranks that they are made of.

use super::abi::Handle;
use super::calls::MpiResult;
use super::communicator::Communicator;

/// Result of a batch over all ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MpiFigures {
    /// Seconds of half a round trip, or of one one-sided operation by rank 0.
    Latency {
        /// Mean over the turns and pairs.
        seconds: f64,
    },
    /// Payload of all pairs over the mean of their times.
    Bandwidth {
        /// Bytes per second, both directions where both are used.
        bytes_per_s: f64,
    },
    /// Seconds of one call: the mean on each rank, then statistics over the ranks.
    Call {
        /// Mean over the ranks.
        mean_s: f64,
        /// Minimum over the ranks.
        minimum_s: f64,
        /// Maximum over the ranks.
        maximum_s: f64,
    },
    /// Non-blocking call with computation between its start and its end, means over the ranks.
    Overlap {
        /// Time from the start of the call to its end, computation included.
        overall_s: f64,
        /// The computation alone.
        compute_s: f64,
        /// The call without computation.
        pure_s: f64,
        /// Share of the pure call that the computation hid, 0 … 1.
        share: f64,
        /// Parts of the time, if requested.
        parts: Option<OverlapParts>,
    },
}

/// Parts of a non-blocking call with computation, means over the ranks, and the extremes of the
/// pure call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverlapParts {
    /// Seconds in the call that starts the operation.
    pub start_s: f64,
    /// Seconds in all calls of `MPI_Test`.
    pub tests_s: f64,
    /// Seconds in `MPI_Wait`.
    pub wait_s: f64,
    /// Minimum over the ranks of the call without computation, in seconds.
    pub minimum_s: f64,
    /// Maximum over the ranks of the call without computation, in seconds.
    pub maximum_s: f64,
}

/// Returns mean, minimum and maximum over the ranks; valid only on rank 0.
pub(super) fn reduce_call_times<H: Handle>(
    comm: &Communicator<H>,
    own_s: f64,
) -> MpiResult<MpiFigures> {
    let (minimum_s, maximum_s) = comm.min_max(own_s)?;
    let mean_s = comm.sum(&[own_s])?[0] / f64::from(comm.size);
    Ok(MpiFigures::Call { mean_s, minimum_s, maximum_s })
}

/// Returns means over the ranks of a call with computation and without, and of `computation, start,
/// tests, wait`; valid only on rank 0.
pub(super) fn reduce_overlap_times<H: Handle>(
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
