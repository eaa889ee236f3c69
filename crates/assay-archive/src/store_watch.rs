//! Notices that runs of a store began, ended or were removed. Reads no run for that: a look at it
//! each second does not disturb a measurement.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use assay_run::failure::CommandFailure;
use assay_store::{ListEntry, RunFollower, RunListing, Store, StoreLocation};
use jiff::Timestamp;

/// Interval between two looks at the store, and in which a cancellation is noticed.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// User of a store's runs that follows their changes.
pub trait StoreFollower {
    /// Takes the list of runs, which may differ from the previous one.
    ///
    /// # Errors
    /// If its result cannot be used. The next look tries again.
    fn update(
        &mut self,
        store: Option<&Store>,
        listing: RunListing,
    ) -> Result<(), CommandFailure>;

    /// Takes a failure that differs from the previous one; `None` once it is over.
    fn report_problem(&mut self, failure: Option<&CommandFailure>);

    /// Takes the runs that are being written, at each look.
    fn show_running(&mut self, _: &mut [RunningRun]) {}
}

/// Watch over the runs of a store.
#[derive(Debug)]
pub struct StoreWatch {
    location: StoreLocation,
    /// State at the last look.
    seen: Option<Option<SystemTime>>,
    /// Whether the store had changed at the last look. The list is then read once more: a time may
    /// be too coarse, and a new run may have had no event yet.
    is_settling: bool,
    /// Whether the store existed at an earlier look.
    was_present: bool,
    /// Text of the last failure; empty if there was none.
    problem: String,
    /// Runs that are being written.
    running: Vec<RunningRun>,
}

/// Run that is being written.
#[derive(Debug)]
pub struct RunningRun {
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

    /// Returns the identifier of the run.
    pub fn id(&self) -> &str {
        self.follower.run()
    }

    /// Returns the whole seconds since the start, and the number of cases that ended and of all.
    pub fn progress(&mut self) -> (u64, [usize; 2]) {
        let now = Timestamp::now();
        let elapsed = self.started.map_or(0, |started| now.duration_since(started).as_secs());
        // Unreadable events stay uncounted until the next look.
        let ended = self.follower.count_ended_cases().unwrap_or(0);
        (u64::try_from(elapsed).unwrap_or(0), [ended, self.cases_planned])
    }
}

impl StoreWatch {
    /// Returns a watch that has not looked yet.
    pub const fn new(location: StoreLocation) -> Self {
        Self {
            location,
            seen: None,
            is_settling: false,
            was_present: false,
            problem: String::new(),
            running: Vec::new(),
        }
    }

    /// Looks each second until `cancel` is set.
    pub fn follow(&mut self, follower: &mut dyn StoreFollower, cancel: &AtomicBool) {
        let mut next_look = Instant::now() + LOOK_INTERVAL;
        while !cancel.load(Ordering::Relaxed) {
            thread::sleep(POLL_INTERVAL);
            if Instant::now() >= next_look {
                next_look = Instant::now() + LOOK_INTERVAL;
                self.look(follower);
            }
        }
    }

    /// Updates the follower if the runs may have changed, or if the last look failed.
    pub fn look(&mut self, follower: &mut dyn StoreFollower) {
        let store = self.location.open_existing().ok();
        if self.has_changed(store.as_ref()) || !self.problem.is_empty() {
            let failure = self.update(store.as_ref(), follower).err();
            let problem = failure.as_ref().map(ToString::to_string).unwrap_or_default();
            if problem != self.problem {
                follower.report_problem(failure.as_ref());
                self.problem = problem;
            }
        }
        follower.show_running(&mut self.running);
    }

    /// Looks for the first time.
    ///
    /// # Errors
    /// If the runs cannot be listed, or the follower cannot use them.
    pub fn look_first(
        &mut self,
        follower: &mut dyn StoreFollower,
    ) -> Result<(), CommandFailure> {
        let store = self.location.open_existing().ok();
        self.has_changed(store.as_ref());
        self.update(store.as_ref(), follower)
    }

    fn update(
        &mut self,
        store: Option<&Store>,
        follower: &mut dyn StoreFollower,
    ) -> Result<(), CommandFailure> {
        // What was made of a store remains when the store has gone.
        if store.is_none() && self.was_present {
            return self.location.open_existing().map(drop).map_err(CommandFailure::from);
        }
        self.was_present |= store.is_some();
        let listing = self.location.list()?;
        self.follow_running(store, &listing);
        follower.update(store, listing)
    }

    /// Whether the list of runs has to be read: at the first look, and whenever it may differ.
    fn has_changed(&mut self, store: Option<&Store>) -> bool {
        let changed = store.and_then(Store::changed);
        let has_ended = self.running.iter().any(|run| !run.follower.is_running());
        let differs = self.seen != Some(changed) || has_ended;
        self.seen = Some(changed);
        std::mem::replace(&mut self.is_settling, differs) || differs
    }

    /// Follows the runs of the list that are being written.
    fn follow_running(&mut self, store: Option<&Store>, listing: &RunListing) {
        let Some(store) = store else { return self.running.clear() };
        let mut before = std::mem::take(&mut self.running);
        let running = listing.runs.iter().filter(|run| run.running);
        self.running.extend(running.map(|run| {
            let known = before.iter().position(|it| it.id() == run.id);
            known.map_or_else(|| RunningRun::new(store, run), |at| before.swap_remove(at))
        }));
    }
}
