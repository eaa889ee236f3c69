//! Windows of messages between the ranks of one host and those of all others.

use super::abi::Handle;
use super::calls::MpiResult;
use super::contents::{fill_bytes, has_contents, message_seed};
use super::figures::MpiFigures;
use super::pairs::{ACK_BYTES, ACK_TAG, DATA_TAG};
use super::prepared_benchmark::PreparedBenchmark;
use super::timing::{EachTurn, MpiPass, TurnTimer, WholeBatch};

use assay_model::benchmark::MpiBenchmarkKind;

impl<H: Handle> PreparedBenchmark<'_, H> {
    /// Returns the payload of all pairs of partners over the mean of the times of the senders.
    pub(super) fn measure_fan(&mut self, pass: &MpiPass) -> MpiResult<MpiFigures> {
        let own_s = self.time_fan(&WholeBatch(pass))?;
        let own_s = own_s.first().copied().unwrap_or_default();
        let [pairs, senders, sum_s] = self.sum_over_senders(own_s)?;
        let payload =
            self.message_bytes as f64 * self.in_flight as f64 * pass.iterations as f64;
        Ok(MpiFigures::Bandwidth { bytes_per_s: pairs * payload / (sum_s / senders) })
    }

    /// Returns the seconds of every single window, mean over the senders.
    pub(super) fn time_each_fan_window(
        &mut self,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let own_s = self.time_fan(&EachTurn { warm_up, count })?;
        let [_, senders, _] = self.sum_over_senders(0.0)?;
        let own_s = if self.sends() { own_s } else { vec![0.0; count] };
        let sums = self.comm.sum(&own_s)?;
        Ok(sums.into_iter().map(|sum| sum / senders).collect())
    }

    /// Whether this rank sends the messages.
    fn sends(&self) -> bool {
        self.comm.fan.is_center == (self.kind == MpiBenchmarkKind::FanOut)
    }

    /// Returns the numbers of pairs of partners and of senders, and the sum of their times; valid
    /// only on rank 0.
    fn sum_over_senders(&self, own_s: f64) -> MpiResult<[f64; 3]> {
        let own = match self.sends() {
            true => [self.comm.fan.partners.len() as f64, 1.0, own_s],
            false => [0.0; 3],
        };
        let sums = self.comm.sum(&own)?;
        Ok([sums[0], sums[1], sums[2]])
    }

    /// Times windows with all partners at once, each ended by an acknowledgement.
    fn time_fan(&mut self, timer: &impl TurnTimer) -> MpiResult<Vec<f64>> {
        let (comm, count, sends) = (self.comm, self.message_bytes, self.sends());
        let (out, back) = (self.send.as_ptr().cast_const(), self.receive.as_ptr());
        let (stride, in_flight) = (self.stride, self.in_flight);
        let partners = &comm.fan.partners;
        let requests = &mut self.requests[..partners.len() * in_flight];
        let mut ack = [0_u8; ACK_BYTES as usize];
        let ack = ack.as_mut_ptr();
        timer.time_turns(comm, || {
            let mut offset = 0;
            for of_message in requests.chunks_mut(partners.len().max(1)) {
                for (request, partner) in of_message.iter_mut().zip(partners) {
                    let peer = partner.cast_signed();
                    // SAFETY: the bytes are ours and stay until all requests are complete, below.
                    // Messages of all partners share a buffer, as in OSU.
                    unsafe {
                        if sends {
                            comm.isend(
                                out.wrapping_add(offset),
                                count,
                                peer,
                                DATA_TAG,
                                request,
                            )?;
                        } else {
                            let into = back.wrapping_add(offset);
                            comm.ireceive(into, count, peer, DATA_TAG, request)?;
                        }
                    }
                }
                offset += stride;
            }
            comm.wait_all(requests)?;
            for partner in partners {
                let peer = partner.cast_signed();
                // SAFETY: room for the acknowledgement.
                unsafe {
                    if sends {
                        comm.receive(ack, ACK_BYTES, peer, ACK_TAG)?;
                    } else {
                        comm.send(ack, ACK_BYTES, peer, ACK_TAG)?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Sends as many messages as have a buffer of their own, to one partner after the other. Returns
    /// whether each message received on this rank is correct.
    pub(super) fn validate_fan(&mut self, turn: u64) -> MpiResult<Vec<bool>> {
        let (comm, bytes, slots) = (self.comm, self.message_bytes as usize, self.slots);
        let mut correct = Vec::new();
        for partner in &comm.fan.partners {
            let (peer, sends) = (partner.cast_signed(), self.sends());
            for slot in 0..slots {
                let range = slot * bytes..(slot + 1) * bytes;
                let (own, other) =
                    (&mut self.send.as_mut_slice::<u8>()[range.clone()], &mut self.receive);
                fill_bytes(own, message_seed(turn, comm.rank, slot));
                other.as_mut_slice::<u8>()[range].fill(0xff);
            }
            let requests = &mut self.requests[..slots];
            for (slot, request) in requests.iter_mut().enumerate() {
                let count = self.message_bytes;
                let from = self.send.as_ptr().wrapping_add(slot * bytes);
                let into = self.receive.as_ptr().wrapping_add(slot * bytes);
                // SAFETY: each slot is within its buffer, and all requests are completed below.
                unsafe {
                    if sends {
                        comm.isend(from, count, peer, DATA_TAG, request)?;
                    } else {
                        comm.ireceive(into, count, peer, DATA_TAG, request)?;
                    }
                }
            }
            comm.wait_all(requests)?;
            let received = self.receive.as_slice::<u8>();
            let is_correct = |slot| {
                let message = &received[slot * bytes..(slot + 1) * bytes];
                has_contents(message, message_seed(turn, peer, slot))
            };
            correct.extend((0..slots).filter(|_| !sends).map(is_correct));
        }
        Ok(correct)
    }
}
