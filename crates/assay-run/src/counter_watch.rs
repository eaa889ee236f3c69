//! Watch of kernel counters during the measured stretches of cases. Measures nothing and ends no
//! case.
//!
//! Counters are read before and after a stretch, and by a thread of low frequency in between where
//! no passes are timed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use assay_fleet::kernel_counters::{self, CountedPlaces, CounterKey, CounterReading};
use assay_fleet::root::Root;
use assay_kernels::clock;
use assay_kernels::network::cpu;
use assay_model::kernel_counters::{
    CountedWork, Counter, CounterRecord, OmissionReason, PayloadBytes,
};
use assay_model::poisoned_lock::PoisonedLock as _;

use crate::background_thread::BackgroundThread;
use account::{CounterAccount, CounterPoint, is_cpu};
use hardware::{HardwareCounters, HardwareReading};

mod account;
mod hardware;

/// Shortest interval between two readings: four a second take under 0.2 % of a core.
const PERIOD_S: f64 = 0.25;

/// Watch of one run; its thread ends when this is dropped.
#[derive(Debug)]
pub(crate) struct CounterWatch {
    shared: Arc<SharedWatch>,
    thread: Option<BackgroundThread>,
}

#[derive(Debug)]
struct SharedWatch {
    root: Root,
    state: Mutex<WatchState>,
    /// CPU time of the thread.
    thread_ns: AtomicU64,
}

#[derive(Debug, Default)]
struct WatchState {
    open: Option<OpenStretch>,
    by_case: BTreeMap<String, CounterAccount>,
    hardware: HardwareCounters,
}

/// Extent of a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StretchKind {
    /// A whole turn of a case, because the case has no narrower stretches.
    Turn,
    /// Timed passes of one preparation, which no reading interrupts.
    Passes,
    /// A transfer, which is read several times.
    Transfer,
}

/// Stretch in progress.
#[derive(Debug)]
struct OpenStretch {
    places: CountedPlaces,
    kind: StretchKind,
    last: CounterReading,
    last_ns: u64,
    period_s: f64,
    account: CounterAccount,
    /// Whether the thread has read these counters.
    has_begun: bool,
}

impl CounterWatch {
    /// Starts the watch; without a thread there are readings before and after stretches only. The
    /// traffic of memory controllers counts if a case has timed passes.
    pub(crate) fn start(has_passes: bool) -> Self {
        let root = Root::machine();
        let hardware = HardwareCounters::open(&root, has_passes);
        let state = Mutex::new(WatchState { hardware, ..WatchState::default() });
        let shared = Arc::new(SharedWatch { root, state, thread_ns: AtomicU64::default() });
        let watched = Arc::clone(&shared);
        let work = move |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                // Not within the `match`, which would hold the lock while the thread waits.
                let wait = watched.lock().next_reading_in();
                watched.thread_ns.store(cpu::own_time_ns(), Ordering::Relaxed);
                match wait {
                    None => thread::park(),
                    Some(wait) if !wait.is_zero() => thread::park_timeout(wait),
                    Some(_) => watched.read_open_stretch(),
                }
            }
        };
        Self { shared, thread: BackgroundThread::start("counters", work).ok() }
    }

    /// Begins a turn of a case, whose narrower stretches replace it. Hardware events of the calling
    /// thread, and of those that it starts, count if the turn has timed passes.
    pub(crate) fn begin_turn(&self, has_passes: bool) {
        match has_passes {
            true => self.shared.lock().hardware.open_threads(&self.shared.root),
            false => self.shared.lock().hardware.close_threads(),
        }
        self.begin(CountedPlaces::default(), StretchKind::Turn);
    }

    /// Begins the timed passes of a preparation.
    pub(crate) fn begin_passes(&self) {
        self.begin(CountedPlaces::default(), StretchKind::Passes);
    }

    /// Begins a transfer with the counters of some places.
    pub(crate) fn begin_stretch(&self, places: CountedPlaces) {
        self.begin(places, StretchKind::Transfer);
    }

    fn begin(&self, places: CountedPlaces, kind: StretchKind) {
        let mut state = self.shared.lock();
        let limits = places.limits(&self.shared.root);
        state.hardware.begin_stretch();
        let (last, missing, last_ns) = self.shared.read(&places, &mut state.hardware);
        let omitted = [
            places.omitted(),
            &kernel_counters::missing_cpu_times(&last),
            &state.hardware.omitted(),
        ]
        .concat();
        let inconsistent = missing;
        let account = CounterAccount {
            began_ns: last_ns,
            limits,
            omitted,
            inconsistent,
            ..CounterAccount::default()
        };
        let period_s = PERIOD_S;
        let has_begun = false;
        state.open =
            Some(OpenStretch { places, kind, last, last_ns, period_s, account, has_begun });
        drop(state);
        self.thread.iter().for_each(BackgroundThread::wake);
    }

    /// Ends a transfer that moved these bytes.
    pub(crate) fn end_stretch(&self, case: &str, payload: PayloadBytes) {
        self.end(case, StretchKind::Transfer, |account| account.payload = Some(payload));
    }

    /// Ends the timed passes of a preparation, which did this work.
    pub(crate) fn end_passes(&self, case: &str, work: Option<CountedWork>) {
        self.end(case, StretchKind::Passes, |account| account.work = work);
    }

    /// Ends a turn of a case; an unfinished narrower stretch does not count.
    pub(crate) fn end_turn(&self, case: &str) {
        self.end(case, StretchKind::Turn, |_| ());
        self.shared.lock().hardware.close_threads();
    }

    /// Drops the stretch in progress.
    pub(crate) fn discard_stretch(&self) {
        self.shared.lock().open = None;
    }

    fn end(&self, case: &str, kind: StretchKind, complete: impl FnOnce(&mut CounterAccount)) {
        let mut state = self.shared.lock();
        let Some(mut open) = state.open.take().filter(|open| open.kind == kind) else { return };
        let (now, missing, now_ns) = self.shared.read(&open.places, &mut state.hardware);
        // Without a reading in between, single CPUs count as a whole, too.
        let has_load = !open.has_begun;
        open.add_reading(now, &missing, (now_ns, has_load));
        for key in kernel_counters::dead_counters(&open.last) {
            open.account.mark_inconsistent(&key, OmissionReason::NotCounted);
        }
        complete(&mut open.account);
        open.account.seconds = clock::seconds_between(open.account.began_ns, open.last_ns);
        match state.by_case.get_mut(case) {
            Some(account) => account.append(open.account),
            None => drop(state.by_case.insert(case.to_owned(), open.account)),
        }
    }

    /// Returns the counters of a case so far; `None` without any.
    pub(crate) fn take_record(&self, case: &str) -> Option<CounterRecord> {
        let account = self.shared.lock().by_case.remove(case)?;
        Some(account.into_record(case))
    }
}

impl SharedWatch {
    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().even_if_poisoned()
    }

    fn read_open_stretch(&self) {
        let state = &mut *self.lock();
        if let Some(open) = &mut state.open {
            let (now, missing, now_ns) = self.read(&open.places, &mut state.hardware);
            let has_load = open.has_begun;
            open.has_begun = true;
            open.add_reading(now, &missing, (now_ns, has_load));
            open.period_s *= open.account.merge_points();
        }
    }

    /// Reads all counters: their values, the reasons for missing ones, and the time.
    fn read(
        &self,
        places: &CountedPlaces,
        hardware: &mut HardwareCounters,
    ) -> (CounterReading, BTreeMap<CounterKey, OmissionReason>, u64) {
        let mut reading = places.read(&self.root);
        let now_ns = clock::now_ns();
        let HardwareReading { values, missing } = hardware.read(&self.root, now_ns);
        reading.extend(values);
        let thread_s = self.thread_ns.load(Ordering::Relaxed) as f64 / 1e9;
        reading.insert((Counter::WatchTime, String::new()), thread_s);
        (reading, missing, now_ns)
    }
}

impl WatchState {
    /// Returns the time until the next reading; `None` without a stretch in progress. A turn with
    /// pinned threads is not interrupted.
    fn next_reading_in(&self) -> Option<Duration> {
        let open = self.open.as_ref().filter(|open| open.kind == StretchKind::Transfer)?;
        let elapsed_s = clock::seconds_between(open.last_ns, clock::now_ns());
        Some(Duration::from_secs_f64((open.period_s - elapsed_s).max(0.0)))
    }
}

impl OpenStretch {
    /// Adds the increase since the last reading. Single CPUs count only between the first and the last
    /// reading of the thread, when the stretch has its full load: connections open and close without
    /// it, which takes longest where packets wait for a busy CPU.
    fn add_reading(
        &mut self,
        now: CounterReading,
        missing: &BTreeMap<CounterKey, OmissionReason>,
        (now_ns, has_load): (u64, bool),
    ) {
        missing.iter().for_each(|(key, reason)| self.account.mark_inconsistent(key, *reason));
        let mut point =
            CounterPoint { from_ns: self.last_ns, to_ns: now_ns, increases: BTreeMap::new() };
        for (key, before) in &self.last {
            match now.get(key) {
                None => self.account.mark_inconsistent(key, OmissionReason::NotVisible),
                Some(after) if after < before => {
                    self.account.mark_inconsistent(key, OmissionReason::WentBackwards);
                }
                Some(_) if is_cpu(&key.1) && !has_load => {}
                Some(after) => {
                    let increase = after - before;
                    *self.account.totals.entry(key.clone()).or_default() += increase;
                    if self.account.keeps_points(key) {
                        point.increases.insert(key.clone(), increase);
                    }
                }
            }
        }
        self.account.points.push(point);
        self.last = now;
        self.last_ns = now_ns;
    }
}

#[cfg(test)]
mod tests;
