//! Shares of the I/O without a rate: a stream that is ahead of its share waits for the slowest.
//!
//! Only counts; reads no clock and does not wait itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use assay_model::workload::storage::{StorageLoad, StorageStream, StorageWorkload};

/// Minimum number of I/O that a stream may be ahead: with less, two streams of the same speed would
/// wait for each other at every I/O.
const MIN_MAX_LEAD: f64 = 64.0;

/// Number of I/O started by each stream.
#[derive(Debug)]
pub(super) struct ShareBalance {
    streams: Vec<StreamShare>,
}

#[derive(Debug)]
struct StreamShare {
    /// Share of the I/O of all streams with shares; 0 for a stream without one.
    share: f64,
    /// Number of I/O that the stream may be ahead.
    max_lead: f64,
    started: AtomicU64,
    ended: AtomicBool,
}

impl ShareBalance {
    /// Creates the balance of a workload's streams; `None` if they have no shares to keep.
    pub(super) fn for_workload(workload: &StorageWorkload) -> Option<Self> {
        if workload.load != StorageLoad::Balanced {
            return None;
        }
        let counted = |stream: &StorageStream| {
            let in_flight =
                u64::from(stream.in_flight_per_target) * stream.targets.len() as u64;
            StreamShare {
                share: if stream.own_rate_per_s.is_some() { 0.0 } else { stream.rate_share },
                max_lead: MIN_MAX_LEAD.max(in_flight as f64),
                started: AtomicU64::new(0),
                ended: AtomicBool::new(false),
            }
        };
        Some(Self { streams: workload.streams.iter().map(counted).collect() })
    }

    /// Returns whether the stream may start an I/O: its lead over the slowest active stream is
    /// within the limit.
    #[inline]
    pub(super) fn may_start(&self, stream: usize) -> bool {
        let own = &self.streams[stream];
        if own.share <= 0.0 {
            return true;
        }
        let going = |it: &&StreamShare| it.share > 0.0 && !it.ended.load(Ordering::Relaxed);
        let progress = |it: &StreamShare| it.started.load(Ordering::Relaxed) as f64 / it.share;
        let slowest = self.streams.iter().filter(going).map(progress).fold(f64::MAX, f64::min);
        (own.started.load(Ordering::Relaxed) as f64) < slowest * own.share + own.max_lead
    }

    /// Records that an I/O of the stream starts.
    #[inline]
    pub(super) fn note_start(&self, stream: usize) {
        self.streams[stream].started.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that the stream has finished one of its targets; no stream waits for it any longer.
    pub(super) fn note_end(&self, stream: usize) {
        self.streams[stream].ended.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(share: f64) -> StreamShare {
        StreamShare {
            share,
            max_lead: 10.0,
            started: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        }
    }

    #[test]
    fn stream_ahead_of_its_share_waits_for_the_slowest() {
        let balance = ShareBalance { streams: vec![counted(0.3), counted(0.7), counted(0.0)] };
        let begin = |stream: usize, wanted: usize| {
            let can = |_: &usize| balance.may_start(stream);
            (0..wanted).take_while(can).map(|_| balance.note_start(stream)).count()
        };
        assert_eq!(begin(0, 1000), 10, "the other has done nothing yet");
        assert_eq!(begin(2, 1000), 1000, "without a share there is no limit");
        for _ in 0..1000 {
            begin(1, 7);
            begin(0, 7);
        }
        let [small, large] =
            [0, 1].map(|nth| balance.streams[nth].started.load(Ordering::Relaxed) as f64);
        assert!((small / (small + large) - 0.3).abs() < 0.01, "{small} {large}");
        balance.note_end(1);
        assert_eq!(begin(0, 1000), 1000, "nobody waits for what is over");
    }
}
