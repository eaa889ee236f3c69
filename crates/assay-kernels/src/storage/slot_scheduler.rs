//! Scheduling of slots: decides which slot may start an I/O at which time, at once, under a cap, or
//! by a schedule.
//!
//! A full lane never delays another: its arrival waits with the lane, and keeps its intended start.
//! Does not choose the offset of an I/O.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_model::workload::storage::ThinkTime;

use super::arrivals::ArrivalSource;
use super::lane::StorageLane;
use super::throttle::LoopThrottle;

/// Waits shorter than this are spent spinning. A timer on an idle CPU fires about 50 µs late in a
/// virtual machine and 5 µs late on bare metal; a longer spin would use a whole CPU at 20,000 IO/s.
pub(super) const SPIN_NS: u64 = 30_000;

/// Order in which slots start I/O.
#[derive(Debug)]
pub(super) struct SlotScheduler {
    policy: LoadPolicy,
    /// Slots that got no offset; returned after the round.
    put_back: Vec<(u32, u32, Option<u64>)>,
}

#[derive(Debug)]
enum LoadPolicy {
    Closed { ready: Vec<u32> },
    Paced { ready: Vec<u32>, pace: LoopThrottle },
    Open { due: BinaryHeap<Reverse<(u64, u32)>>, sources: Vec<ArrivalSource>, start_ns: u64 },
}

impl SlotScheduler {
    /// Creates a closed loop: every slot starts as soon as it is free, limited to the cap in B/s if
    /// there is one.
    pub(super) fn closed_loop(slots: u32, cap_bytes_per_s: Option<f64>, start_ns: u64) -> Self {
        // Slot 0 is taken first.
        let ready = (0..slots).rev().collect();
        let policy = match cap_bytes_per_s {
            None => LoadPolicy::Closed { ready },
            Some(cap) => LoadPolicy::Paced { ready, pace: LoopThrottle::cap(cap, start_ns) },
        };
        Self { policy, put_back: Vec::with_capacity(slots as usize) }
    }

    /// Creates a closed loop with a pause after every group of I/O, once the whole group is done.
    pub(super) fn closed_loop_with_pauses(slots: u32, pauses: ThinkTime) -> Self {
        let ready = (0..slots).rev().collect();
        let policy = LoadPolicy::Paced { ready, pace: LoopThrottle::pauses(pauses, slots) };
        Self { policy, put_back: Vec::with_capacity(slots as usize) }
    }

    /// Creates an open loop: lane `i` starts an I/O at each arrival of `sources[i]`, counted from
    /// `start_ns`.
    pub(super) fn open_loop(mut sources: Vec<ArrivalSource>, start_ns: u64) -> Self {
        let due = sources
            .iter_mut()
            .zip(0_u32..)
            .map(|(source, lane)| Reverse((start_ns.saturating_add(source.next_ns()), lane)))
            .collect();
        let put_back = Vec::with_capacity(sources.len());
        Self { policy: LoadPolicy::Open { due, sources, start_ns }, put_back }
    }

    /// Whether a slot starts as soon as it is free.
    pub(super) fn is_plain_loop(&self) -> bool {
        matches!(self.policy, LoadPolicy::Closed { .. })
    }

    /// Whether a slot of a closed loop is free.
    pub(super) fn has_free_slot(&self) -> bool {
        match &self.policy {
            LoadPolicy::Closed { ready } | LoadPolicy::Paced { ready, .. } => !ready.is_empty(),
            LoadPolicy::Open { .. } => false,
        }
    }

    /// Takes a slot that may start now, with its intended start in an open loop.
    #[inline]
    pub(super) fn take(
        &mut self,
        now_ns: u64,
        lanes: &mut [StorageLane],
    ) -> Option<(u32, Option<u64>)> {
        match &mut self.policy {
            LoadPolicy::Closed { ready } => Some((ready.pop()?, None)),
            LoadPolicy::Paced { ready, pace } => {
                if !pace.may_start(now_ns, ready.len()) {
                    return None;
                }
                Some((ready.pop()?, None))
            }
            LoadPolicy::Open { due, .. } => loop {
                let Reverse((due_ns, at)) = *due.peek()?;
                if due_ns > now_ns {
                    return None;
                }
                due.pop();
                let lane = &mut lanes[at as usize];
                match lane.free.pop() {
                    Some(slot) => return Some((slot, Some(due_ns))),
                    None => lane.blocked_ns = Some(due_ns),
                }
            },
        }
    }

    /// Records that the slot just taken starts an I/O of `bytes`.
    #[inline]
    pub(super) fn note_issued(&mut self, lane: u32, bytes: u64) {
        match &mut self.policy {
            LoadPolicy::Closed { .. } => {}
            LoadPolicy::Paced { pace, .. } => pace.note_issued(bytes),
            LoadPolicy::Open { due, sources, start_ns } => match &mut sources[lane as usize] {
                // The next arrival belongs to the thread that is free then.
                ArrivalSource::Shared(_) => {}
                own @ ArrivalSource::Own(_) => {
                    due.push(Reverse((start_ns.saturating_add(own.next_ns()), lane)));
                }
            },
        }
    }

    /// Records that the slot just taken never comes back.
    pub(super) fn retire(&mut self) {
        if let LoadPolicy::Paced { pace, .. } = &mut self.policy {
            pace.retire();
        }
    }

    /// Puts back a slot that got no offset, with its arrival.
    pub(super) fn put_back(&mut self, slot: u32, lane: u32, intended_ns: Option<u64>) {
        self.put_back.push((slot, lane, intended_ns));
    }

    /// Makes the slots that were put back available again.
    #[inline]
    pub(super) fn return_put_back(&mut self, lanes: &mut [StorageLane]) {
        while let Some((slot, lane, intended_ns)) = self.put_back.pop() {
            match &mut self.policy {
                LoadPolicy::Closed { ready } => ready.push(slot),
                LoadPolicy::Paced { ready, pace } => {
                    ready.push(slot);
                    pace.undo_start();
                }
                LoadPolicy::Open { due, .. } => {
                    lanes[lane as usize].free.push(slot);
                    due.extend(intended_ns.map(|ns| Reverse((ns, lane))));
                }
            }
        }
    }

    /// Releases a slot.
    #[inline]
    pub(super) fn release_slot(&mut self, slot: u32, at: u32, lanes: &mut [StorageLane]) {
        match &mut self.policy {
            LoadPolicy::Closed { ready } | LoadPolicy::Paced { ready, .. } => ready.push(slot),
            LoadPolicy::Open { due, sources, start_ns } => {
                let lane = &mut lanes[at as usize];
                lane.free.push(slot);
                due.extend(lane.blocked_ns.take().map(|due_ns| Reverse((due_ns, at))));
                if let shared @ ArrivalSource::Shared(_) = &mut sources[at as usize] {
                    due.push(Reverse((start_ns.saturating_add(shared.next_ns()), at)));
                }
            }
        }
    }

    /// Removes the arrivals before `end_ns` that have not started, once nothing is in flight any
    /// more. Calls `each` with the lane, the intended start and the number of I/O.
    pub(super) fn drain_not_started(
        &mut self,
        end_ns: u64,
        mut each: impl FnMut(u32, u64, u64),
    ) {
        let LoadPolicy::Open { due, sources, start_ns } = &mut self.policy else { return };
        let start_ns = *start_ns;
        while let Some(Reverse((due_ns, lane))) = due.pop().filter(|next| next.0.0 < end_ns) {
            each(lane, due_ns, 1);
            sources[lane as usize].take_until(
                end_ns.saturating_sub(start_ns),
                &mut |ns, count| {
                    each(lane, start_ns.saturating_add(ns), count);
                },
            );
        }
    }

    /// Returns the time at which a free slot may start next; `None` if none waits.
    #[inline]
    pub(super) fn next_start_ns(&self) -> Option<u64> {
        match &self.policy {
            LoadPolicy::Closed { .. } => None,
            LoadPolicy::Paced { ready, pace } => pace.next_start_ns(ready.len()),
            LoadPolicy::Open { due, .. } => due.peek().map(|Reverse((due_ns, _))| *due_ns),
        }
    }
}

#[cfg(test)]
mod tests;
