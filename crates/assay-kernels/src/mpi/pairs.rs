//! Point-to-point benchmarks between pairs of ranks: rank i of the lower half with rank i + half.

use std::ffi::c_int;

use assay_model::benchmark::MpiBenchmarkKind;

use super::abi::Handle;
use super::calls::MpiResult;
use super::communicator::Communicator;
use super::contents::{fill_bytes, has_contents, message_seed};
use super::figures::MpiFigures;
use super::prepared_benchmark::PreparedBenchmark;
use super::timing::{EachTurn, MpiPass, TurnTimer, WholeBatch};

/// Message tags of the OSU benchmarks: for ping-pongs, for data in each direction, and for the
/// acknowledgement of a window.
pub(super) const PING_TAG: c_int = 1;
pub(super) const DATA_TAG: c_int = 100;
pub(super) const REVERSE_DATA_TAG: c_int = 10;
pub(super) const ACK_TAG: c_int = 101;
/// Bytes of the acknowledgement, as in OSU 5; one byte in OSU 7 takes the same time.
pub(super) const ACK_BYTES: c_int = 4;

/// Peer of a rank, and the half that the rank is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairRole {
    pub(super) peer: c_int,
    pub(super) is_lower: bool,
}

/// Returns the rank's role; `None` for the last rank of an odd number.
pub(super) fn pair_role<H: Handle>(comm: &Communicator<H>) -> Option<PairRole> {
    let half = comm.size / 2;
    match comm.rank {
        rank if rank < half => Some(PairRole { peer: rank + half, is_lower: true }),
        rank if rank < 2 * half => Some(PairRole { peer: rank - half, is_lower: false }),
        _ => None,
    }
}

impl<H: Handle> PreparedBenchmark<'_, H> {
    /// Times ping-pongs; the result is a half round trip.
    pub(super) fn time_ping_pong(&mut self, pass: &MpiPass) -> MpiResult<MpiFigures> {
        let (comm, count) = (self.comm, self.message_bytes);
        let (out, back) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let elapsed_s = match pair_role(comm) {
            None => None,
            Some(PairRole { peer, is_lower: true }) => Some(comm.time_batch(pass, || {
                // SAFETY: `count` bytes are at both addresses, which this benchmark owns.
                unsafe { comm.send(out, count, peer, PING_TAG)? };
                // SAFETY: as above.
                unsafe { comm.receive(back, count, peer, PING_TAG) }
            })?),
            Some(PairRole { peer, is_lower: false }) => Some(comm.time_batch(pass, || {
                // SAFETY: as above.
                unsafe { comm.receive(back, count, peer, PING_TAG)? };
                // SAFETY: as above.
                unsafe { comm.send(out, count, peer, PING_TAG) }
            })?),
        };
        let half_round_trip_s =
            elapsed_s.map(|elapsed_s| elapsed_s / (2 * pass.iterations) as f64);
        let seconds = match self.kind {
            // Only rank 0's time counts: rank 1's includes its wait for the first message.
            MpiBenchmarkKind::Latency => half_round_trip_s.unwrap_or_default(),
            _ => mean_over_ranks(comm, half_round_trip_s)?,
        };
        Ok(MpiFigures::Latency { seconds })
    }

    /// Returns half of every single round trip of rank 0.
    pub(super) fn time_each_round_trip(
        &mut self,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let (comm, bytes) = (self.comm, self.message_bytes);
        let (out, back) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let mut times = match pair_role(comm) {
            None => Vec::new(),
            Some(PairRole { peer, is_lower: true }) => {
                comm.time_each(warm_up, count, false, || {
                    // SAFETY: `bytes` bytes are at both addresses, which this benchmark owns.
                    unsafe { comm.send(out, bytes, peer, PING_TAG)? };
                    // SAFETY: as above.
                    unsafe { comm.receive(back, bytes, peer, PING_TAG) }
                })?
            }
            Some(PairRole { peer, is_lower: false }) => {
                comm.time_each(warm_up, count, false, || {
                    // SAFETY: as above.
                    unsafe { comm.receive(back, bytes, peer, PING_TAG)? };
                    // SAFETY: as above.
                    unsafe { comm.send(out, bytes, peer, PING_TAG) }
                })?
            }
        };
        times.iter_mut().for_each(|time| *time /= 2.0);
        Ok(times)
    }

    /// Returns the payload of all pairs over the mean of the times of their senders.
    pub(super) fn measure_bandwidth(&mut self, pass: &MpiPass) -> MpiResult<MpiFigures> {
        let own_s = self.time_windows(&WholeBatch(pass))?;
        self.divide_payload(own_s, pass)
    }

    /// Returns the payload of all pairs over the mean of these times, one for each pair.
    pub(super) fn divide_payload(
        &self,
        own_s: Option<Vec<f64>>,
        pass: &MpiPass,
    ) -> MpiResult<MpiFigures> {
        let directions = f64::from(self.kind.directions());
        let pairs = f64::from(self.comm.size / 2);
        let payload =
            self.message_bytes as f64 * self.in_flight as f64 * pass.iterations as f64;
        let mean_s =
            mean_over_ranks(self.comm, own_s.and_then(|times| times.first().copied()))?;
        Ok(MpiFigures::Bandwidth { bytes_per_s: pairs * directions * payload / mean_s })
    }

    /// Returns the seconds of every single window, mean over the pairs.
    pub(super) fn time_each_window(
        &mut self,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let own_s = self.time_windows(&EachTurn { warm_up, count })?;
        self.average_pairs(own_s, count)
    }

    /// Returns the means over the pairs of `count` times.
    pub(super) fn average_pairs(
        &self,
        own_s: Option<Vec<f64>>,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let sums = self.comm.sum(&own_s.unwrap_or_else(|| vec![0.0; count]))?;
        let pairs = f64::from(self.comm.size / 2);
        Ok(sums.into_iter().map(|sum| sum / pairs).collect())
    }

    /// Times windows; the times are valid on one rank of each pair.
    fn time_windows(&mut self, timer: &impl TurnTimer) -> MpiResult<Option<Vec<f64>>> {
        if self.kind == MpiBenchmarkKind::Bidirectional {
            self.time_both_ways(timer)
        } else {
            self.time_one_way(timer)
        }
    }

    /// Times windows of messages from the lower to the upper half, each ended by an
    /// acknowledgement. Never inlined, so that the surrounding code does not change the machine code
    /// of its loops.
    #[inline(never)]
    fn time_one_way(&mut self, timer: &impl TurnTimer) -> MpiResult<Option<Vec<f64>>> {
        let (comm, count) = (self.comm, self.message_bytes);
        let (out, back) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let stride = self.stride;
        let requests = &mut self.requests[..self.in_flight];
        // The acknowledgement has its own buffer: messages may be shorter than it.
        let mut ack = [0_u8; ACK_BYTES as usize];
        let ack = ack.as_mut_ptr();
        Ok(match pair_role(comm) {
            None => None,
            Some(PairRole { peer, is_lower: true }) => Some(timer.time_turns(comm, || {
                let mut from = out;
                for request in &mut *requests {
                    // SAFETY: the bytes are ours and stay until all requests are complete, below.
                    unsafe { comm.isend(from, count, peer, DATA_TAG, request)? };
                    from = from.wrapping_add(stride);
                }
                comm.wait_all(requests)?;
                // SAFETY: room for the acknowledgement.
                unsafe { comm.receive(ack, ACK_BYTES, peer, ACK_TAG) }
            })?),
            Some(PairRole { peer, is_lower: false }) => {
                timer.time_turns(comm, || {
                    let mut into = back;
                    for request in &mut *requests {
                        // SAFETY: as above. All messages of a window may share one buffer, as in
                        // OSU.
                        unsafe { comm.ireceive(into, count, peer, DATA_TAG, request)? };
                        into = into.wrapping_add(stride);
                    }
                    comm.wait_all(requests)?;
                    // SAFETY: the bytes of the acknowledgement.
                    unsafe { comm.send(ack, ACK_BYTES, peer, ACK_TAG) }
                })?;
                // The sender's time counts: it ends when the acknowledgement has arrived.
                None
            }
        })
    }

    /// Times windows of messages in both directions at once; never inlined, like `time_one_way`.
    #[inline(never)]
    fn time_both_ways(&mut self, timer: &impl TurnTimer) -> MpiResult<Option<Vec<f64>>> {
        let (comm, count) = (self.comm, self.message_bytes);
        let (out, back) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let stride = self.stride;
        let (receives, sends) = self.requests.split_at_mut(self.in_flight);
        Ok(match pair_role(comm) {
            None => None,
            Some(PairRole { peer, is_lower }) => {
                let (send_tag, receive_tag) = if is_lower {
                    (DATA_TAG, REVERSE_DATA_TAG)
                } else {
                    (REVERSE_DATA_TAG, DATA_TAG)
                };
                let times = timer.time_turns(comm, || {
                    let (mut from, mut into) = (out, back);
                    for request in &mut *receives {
                        // SAFETY: the bytes are ours and stay until all requests are complete, below.
                        unsafe { comm.ireceive(into, count, peer, receive_tag, request)? };
                        into = into.wrapping_add(stride);
                    }
                    for request in &mut *sends {
                        // SAFETY: as above.
                        unsafe { comm.isend(from, count, peer, send_tag, request)? };
                        from = from.wrapping_add(stride);
                    }
                    comm.wait_all(sends)?;
                    comm.wait_all(receives)
                })?;
                is_lower.then_some(times)
            }
        })
    }

    /// Sends one message per slot from the lower to the upper half and then back. Returns whether
    /// each message received on this rank is correct.
    pub(super) fn validate_pairs(&mut self, turn: u64) -> MpiResult<Vec<bool>> {
        let Some(PairRole { peer, is_lower }) = pair_role(self.comm) else {
            return Ok(Vec::new());
        };
        let (comm, bytes) = (self.comm, self.message_bytes as usize);
        let (slots, is_persistent) = (self.slots, self.kind.is_persistent_pair());
        for slot in 0..slots {
            let range = slot * bytes..(slot + 1) * bytes;
            fill_bytes(
                &mut self.send.as_mut_slice::<u8>()[range],
                message_seed(turn, comm.rank, slot),
            );
        }
        self.receive.as_mut_slice::<u8>().fill(0xff);
        for is_sender in [is_lower, !is_lower] {
            for slot in 0..slots {
                let request = &mut self.requests[slot];
                let from = self.send.as_ptr().wrapping_add(slot * bytes);
                let into = self.receive.as_ptr().wrapping_add(slot * bytes);
                let count = self.message_bytes;
                // SAFETY: each slot is within its buffer, and all requests are completed below.
                unsafe {
                    match (is_sender, is_persistent) {
                        (true, false) => comm.isend(from, count, peer, DATA_TAG, request)?,
                        (false, false) => {
                            comm.ireceive(into, count, peer, DATA_TAG, request)?;
                        }
                        (true, true) => comm.send_init(from, count, peer, DATA_TAG, request)?,
                        (false, true) => {
                            comm.receive_init(into, count, peer, DATA_TAG, request)?;
                        }
                    }
                }
            }
            let requests = &mut self.requests[..slots];
            if is_persistent {
                comm.start_all(requests)?;
            }
            comm.wait_all(requests)?;
            if is_persistent {
                comm.free_requests(requests)?;
            }
        }
        let received = self.receive.as_slice::<u8>();
        let is_correct = |slot| {
            has_contents(
                &received[slot * bytes..(slot + 1) * bytes],
                message_seed(turn, peer, slot),
            )
        };
        Ok((0..slots).map(is_correct).collect())
    }
}

/// Returns the mean over the ranks that have a value; valid only on rank 0.
fn mean_over_ranks<H: Handle>(comm: &Communicator<H>, value: Option<f64>) -> MpiResult<f64> {
    let own = value.map_or([0.0, 0.0], |value| [value, 1.0]);
    let sums = comm.sum(&own)?;
    Ok(sums[0] / sums[1])
}
