//! Notices that runs of a store began, ended or were removed. Reads no run for that: a look at it
//! each second does not disturb a measurement.

use std::time::SystemTime;

use assay_store::{ListEntry, RunFollower, RunListing, Store};
use jiff::Timestamp;

/// Watch over the runs of a store.
#[derive(Debug, Default)]
pub(crate) struct StoreWatch {
    /// State at the last look.
    seen: Option<Option<SystemTime>>,
    /// Whether the store had changed at the last look. The list is then read once more: a time may
    /// be too coarse, and a new run may have had no event yet.
    is_settling: bool,
    /// Runs that are being written.
    running: Vec<RunningRun>,
}

/// Run that is being written.
#[derive(Debug)]
pub(crate) struct RunningRun {
    follower: RunFollower,
    /// Start; `None` if the stored time is damaged.
    started: Option<Timestamp>,
    cases_planned: usize,
}

impl RunningRun {
    fn new(store: &Store, run: &ListEntry) -> Self {
        Self {
            follower: store.follow(&run.id),
            started: run.started.parse().ok(),
            cases_planned: run.cases_planned,
        }
    }

    pub(crate) fn id(&self) -> &str {
        self.follower.run()
    }

    /// Returns the whole seconds since the start, and the number of cases that ended and of all.
    pub(crate) fn progress(&mut self) -> (u64, [usize; 2]) {
        let now = Timestamp::now();
        let elapsed = self.started.map_or(0, |started| now.duration_since(started).as_secs());
        // Unreadable events stay uncounted until the next look.
        let ended = self.follower.count_ended_cases().unwrap_or(0);
        (u64::try_from(elapsed).unwrap_or(0), [ended, self.cases_planned])
    }
}

impl StoreWatch {
    /// Whether the list of runs has to be read: at the first look, and whenever it may differ.
    pub(crate) fn has_changed(&mut self, store: Option<&Store>) -> bool {
        let changed = store.and_then(Store::changed);
        let has_ended = self.running.iter().any(|run| !run.follower.is_running());
        let differs = self.seen != Some(changed) || has_ended;
        self.seen = Some(changed);
        std::mem::replace(&mut self.is_settling, differs) || differs
    }

    /// Follows the runs of the list that are being written.
    pub(crate) fn follow_running(&mut self, store: Option<&Store>, listing: &RunListing) {
        let Some(store) = store else { return self.running.clear() };
        let mut before = std::mem::take(&mut self.running);
        let running = listing.runs.iter().filter(|run| run.running);
        self.running.extend(running.map(|run| {
            let known = before.iter().position(|it| it.id() == run.id);
            known.map_or_else(|| RunningRun::new(store, run), |at| before.swap_remove(at))
        }));
    }

    /// Returns the runs that are being written.
    pub(crate) fn running(&mut self) -> &mut [RunningRun] {
        &mut self.running
    }
}
