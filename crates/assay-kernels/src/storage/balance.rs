//! Shares without a rate: a stream that is ahead of its share of the I/O waits for the slowest.
//!
//! Counts only; never looks at a clock and never waits itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use assay_model::workload::storage::{Load, StorageStream, StorageWorkload};

/// How far a stream may be ahead beyond what it may have in flight: below that, two streams of the same
/// speed would wait for each other at every I/O.
const SLACK: f64 = 64.0;

/// What each stream has begun.
#[derive(Debug)]
pub(super) struct Balance {
    streams: Vec<Counted>,
}

#[derive(Debug)]
struct Counted {
    /// Share of the I/O of all streams that hold shares; 0 = it holds none.
    share: f64,
    /// I/O it may be ahead.
    ahead: f64,
    begun: AtomicU64,
    ended: AtomicBool,
}

impl Balance {
    /// The shares of a workload's streams; `None` where none are to be held.
    pub(super) fn of(workload: &StorageWorkload) -> Option<Self> {
        if workload.load != Load::Balanced {
            return None;
        }
        let counted = |stream: &StorageStream| {
            let in_flight =
                u64::from(stream.in_flight_per_target) * stream.targets.len() as u64;
            Counted {
                share: if stream.own_rate_per_s.is_some() { 0.0 } else { stream.rate_share },
                ahead: SLACK.max(in_flight as f64),
                begun: AtomicU64::new(0),
                ended: AtomicBool::new(false),
            }
        };
        Some(Self { streams: workload.streams.iter().map(counted).collect() })
    }

    /// Whether the stream may begin an I/O: it is at most so far ahead of the slowest that goes on.
    #[inline]
    pub(super) fn may_begin(&self, stream: usize) -> bool {
        let own = &self.streams[stream];
        if own.share <= 0.0 {
            return true;
        }
        let going = |it: &&Counted| it.share > 0.0 && !it.ended.load(Ordering::Relaxed);
        let progress = |it: &Counted| it.begun.load(Ordering::Relaxed) as f64 / it.share;
        let slowest = self.streams.iter().filter(going).map(progress).fold(f64::MAX, f64::min);
        (own.begun.load(Ordering::Relaxed) as f64) < slowest * own.share + own.ahead
    }

    /// Notes that an I/O of the stream begins.
    #[inline]
    pub(super) fn begins(&self, stream: usize) {
        self.streams[stream].begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Nobody waits any longer for a stream that has nothing left to do on one of its targets.
    pub(super) fn ends(&self, stream: usize) {
        self.streams[stream].ended.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(share: f64) -> Counted {
        Counted { share, ahead: 10.0, begun: AtomicU64::new(0), ended: AtomicBool::new(false) }
    }

    #[test]
    fn who_is_ahead_waits_for_the_slowest() {
        let balance = Balance { streams: vec![counted(0.3), counted(0.7), counted(0.0)] };
        let begin = |stream: usize, wanted: usize| {
            let can = |_: &usize| balance.may_begin(stream);
            (0..wanted).take_while(can).map(|_| balance.begins(stream)).count()
        };
        assert_eq!(begin(0, 1000), 10, "the other has done nothing yet");
        assert_eq!(begin(2, 1000), 1000, "without a share there is no limit");
        for _ in 0..1000 {
            begin(1, 7);
            begin(0, 7);
        }
        let [small, large] =
            [0, 1].map(|nth| balance.streams[nth].begun.load(Ordering::Relaxed) as f64);
        assert!((small / (small + large) - 0.3).abs() < 0.01, "{small} {large}");
        balance.ends(1);
        assert_eq!(begin(0, 1000), 1000, "nobody waits for what is over");
    }
}
