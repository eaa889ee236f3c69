//! Recorded I/O of a stream: one after another, none before its time.

use assay_model::workload::storage::{ReplayTime, ReplayedIo, StorageStream};

use super::job_offsets::JobIo;

/// Position in recorded I/O.
#[derive(Debug)]
pub(super) struct ReplayCursor {
    ios: Vec<ReplayedIo>,
    /// Target of each file.
    targets: Vec<usize>,
    next: usize,
    started_ns: Option<u64>,
    previous_ns: u64,
}

impl ReplayCursor {
    /// Creates the cursor of a stream; `None` if it replays nothing.
    pub(super) fn new(stream: &StorageStream) -> Option<Self> {
        let ios = stream.conduct.replay.clone();
        (!ios.is_empty()).then(|| Self {
            ios,
            targets: stream.targets.clone(),
            next: 0,
            started_ns: None,
            previous_ns: 0,
        })
    }

    /// Whether the next I/O may begin, or there is none.
    pub(super) fn is_due(&mut self, now_ns: u64) -> bool {
        let started_ns = *self.started_ns.get_or_insert_with(|| {
            self.previous_ns = now_ns;
            now_ns
        });
        let due_ns = self.ios.get(self.next).map(|io| match io.due {
            ReplayTime::AfterPrevious(ns) => self.previous_ns.saturating_add(ns),
            ReplayTime::AfterStart(ns) => started_ns.saturating_add(ns),
        });
        due_ns.is_none_or(|due_ns| now_ns >= due_ns)
    }

    /// Returns the next I/O, which begins now.
    pub(super) fn next_io(&mut self, now_ns: u64) -> Option<JobIo> {
        let io = self.ios.get(self.next)?;
        self.next += 1;
        self.previous_ns = now_ns;
        let target = |file: usize| self.targets.get(file).copied();
        Some(JobIo {
            sync_target: io.sync_before.and_then(target),
            target: target(io.file)?,
            operation: io.operation,
            offset: io.offset,
            bytes: io.bytes,
            priority: 0,
            opens_file: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use assay_model::storage_outcome::IoOperation;
    use assay_model::workload::storage::AccessPattern;

    use super::*;

    #[test]
    fn io_waits_for_its_time() {
        let io = |due, offset| ReplayedIo {
            due,
            sync_before: (offset == 20).then_some(0),
            file: 1,
            operation: IoOperation::Write,
            offset,
            bytes: 5,
        };
        let mut stream = StorageStream::new(AccessPattern::Random, 5, 0.0);
        stream.targets = vec![3, 4];
        assert!(ReplayCursor::new(&stream).is_none());
        stream.conduct.replay = vec![
            io(ReplayTime::AfterPrevious(0), 10),
            io(ReplayTime::AfterPrevious(100), 20),
            io(ReplayTime::AfterStart(500), 30),
        ];
        let mut cursor = ReplayCursor::new(&stream).unwrap();
        let expected =
            [(1000, 1000, 10, None), (1099, 1150, 20, Some(3)), (1499, 1500, 30, None)];
        for (early_ns, due_ns, offset, sync_target) in expected {
            assert_eq!(cursor.is_due(early_ns), early_ns == 1000, "{offset}");
            assert!(cursor.is_due(due_ns), "{offset}");
            let found = cursor.next_io(due_ns).unwrap();
            assert_eq!(
                (found.target, found.offset, found.sync_target),
                (4, offset, sync_target)
            );
        }
        assert!(cursor.is_due(1500) && cursor.next_io(1500).is_none());
    }
}
