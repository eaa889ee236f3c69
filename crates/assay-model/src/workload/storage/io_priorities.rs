//! Priorities of single I/O of a stream.

use serde::{Deserialize, Serialize};

/// Priorities that some I/O of a stream has instead of that of its threads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoPriorities {
    /// Shares of reads, and of writes.
    pub ways: [Vec<PriorityShare>; 2],
    /// Whether latencies by priority begin before submission; otherwise after it.
    pub from_submission: bool,
}

/// Share of the I/O with a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorityShare {
    /// Length of the I/O in bytes; `None` = any.
    pub bytes: Option<u64>,
    /// Percent of such I/O.
    pub percent: u64,
    /// Priority as `ioprio_set(2)` takes it; never 0.
    pub priority: u16,
}

impl IoPriorities {
    /// Returns the priority of an I/O; 0 = that of its thread. `draw` gives a whole percentage below
    /// 100, and is called only if such I/O may have another priority.
    pub fn choose(&self, way: usize, bytes: u64, draw: impl FnOnce() -> u64) -> u16 {
        let own = || {
            let shares = self.ways[way].iter();
            shares.filter(move |share| share.bytes.is_none_or(|it| it == bytes))
        };
        if own().all(|share| share.percent == 0) {
            return 0;
        }
        let drawn = draw();
        let mut percent = 0;
        let mut is_chosen = |share: &&PriorityShare| {
            percent += share.percent;
            drawn < percent
        };
        own().find(|share| is_chosen(share)).map_or(0, |share| share.priority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_share_is_its_part_of_all_draws() {
        let share = |bytes, percent, priority| PriorityShare { bytes, percent, priority };
        let split =
            [share(Some(4096), 20, 1), share(Some(4096), 30, 2), share(Some(8192), 0, 3)];
        let priorities = IoPriorities {
            ways: [split.to_vec(), vec![share(None, 100, 4)]],
            from_submission: false,
        };
        let count = |way, bytes, priority| {
            let draws =
                (0..100).filter(|drawn| priorities.choose(way, bytes, || *drawn) == priority);
            draws.count()
        };
        assert_eq!([0, 1, 2].map(|priority| count(0, 4096, priority)), [50, 20, 30]);
        assert_eq!(count(1, 512, 4), 100);
        for bytes in [8192, 16384] {
            assert_eq!(priorities.choose(0, bytes, || unreachable!()), 0);
        }
    }
}
