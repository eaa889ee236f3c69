//! Watch of kernel counters during the measured stretches of cases. Measures nothing and ends no
//! case.
//!
//! Counters are read before and after a stretch, and by a thread of low frequency in between where
//! no passes are timed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use assay_fleet::kernel_counters::{self, CountedPlaces, CounterKey, CounterReading};
use assay_fleet::root::Root;
use assay_kernels::clock;
use assay_model::kernel_counters::{
    CountedSeries, Counter, CounterLimit, CounterRecord, OmissionReason, OmittedCounter,
    PayloadBytes,
};
use assay_model::poisoned_lock::PoisonedLock as _;

use crate::background_thread::BackgroundThread;

/// Shortest interval between two readings: four a second take under 0.2 % of a core.
const PERIOD_S: f64 = 0.25;
/// Maximum number of points; neighbours are merged above it, and the interval doubles.
const MAX_POINTS: usize = 60;

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
}

#[derive(Debug, Default)]
struct WatchState {
    open: Option<OpenStretch>,
    by_case: BTreeMap<String, CounterAccount>,
}

/// Stretch in progress.
#[derive(Debug)]
struct OpenStretch {
    places: CountedPlaces,
    /// Whether it is a whole turn of a case, because the case has no narrower stretches.
    is_turn: bool,
    last: CounterReading,
    last_ns: u64,
    period_s: f64,
    account: CounterAccount,
}

/// Counters of one or several stretches.
#[derive(Debug, Clone, Default)]
struct CounterAccount {
    began_ns: u64,
    seconds: f64,
    payload: Option<PayloadBytes>,
    points: Vec<CounterPoint>,
    totals: BTreeMap<CounterKey, f64>,
    inconsistent: BTreeMap<CounterKey, OmissionReason>,
    limits: Vec<CounterLimit>,
    omitted: Vec<OmittedCounter>,
}

/// Increases between two readings.
#[derive(Debug, Clone)]
struct CounterPoint {
    from_ns: u64,
    to_ns: u64,
    increases: BTreeMap<CounterKey, f64>,
}

impl CounterWatch {
    /// Starts the watch; without a thread there are readings before and after stretches only.
    pub(crate) fn start() -> Self {
        let shared = SharedWatch { root: Root::machine(), state: Mutex::default() };
        let shared = Arc::new(shared);
        let watched = Arc::clone(&shared);
        let work = move |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                // Not within the `match`, which would hold the lock while the thread waits.
                let wait = watched.lock().next_reading_in();
                match wait {
                    None => thread::park(),
                    Some(wait) if !wait.is_zero() => thread::park_timeout(wait),
                    Some(_) => watched.read_open_stretch(),
                }
            }
        };
        Self { shared, thread: BackgroundThread::start("counters", work).ok() }
    }

    /// Begins a turn of a case, whose narrower stretches replace it.
    pub(crate) fn begin_turn(&self) {
        self.begin(CountedPlaces::default(), true);
    }

    /// Begins a measured stretch with the counters of some places.
    pub(crate) fn begin_stretch(&self, places: CountedPlaces) {
        self.begin(places, false);
    }

    fn begin(&self, places: CountedPlaces, is_turn: bool) {
        let mut state = self.shared.lock();
        let limits = places.limits(&self.shared.root);
        let last = places.read(&self.shared.root);
        let last_ns = clock::now_ns();
        let omitted = [places.omitted(), &kernel_counters::missing_cpu_times(&last)].concat();
        let account =
            CounterAccount { began_ns: last_ns, limits, omitted, ..CounterAccount::default() };
        let period_s = PERIOD_S;
        state.open = Some(OpenStretch { places, is_turn, last, last_ns, period_s, account });
        drop(state);
        self.thread.iter().for_each(BackgroundThread::wake);
    }

    /// Ends a measured stretch that moved these bytes.
    pub(crate) fn end_stretch(&self, case: &str, payload: PayloadBytes) {
        self.end(case, |open| !open.is_turn, Some(payload));
    }

    /// Ends a turn of a case; an unfinished narrower stretch does not count.
    pub(crate) fn end_turn(&self, case: &str) {
        self.end(case, |open| open.is_turn, None);
    }

    /// Drops the stretch in progress.
    pub(crate) fn discard_stretch(&self) {
        self.shared.lock().open = None;
    }

    fn end(
        &self,
        case: &str,
        counts: impl Fn(&OpenStretch) -> bool,
        payload: Option<PayloadBytes>,
    ) {
        let mut state = self.shared.lock();
        let Some(mut open) = state.open.take().filter(counts) else { return };
        open.add_reading(open.places.read(&self.shared.root), clock::now_ns());
        for key in kernel_counters::dead_counters(&open.last) {
            open.account.mark_inconsistent(&key, OmissionReason::NotCounted);
        }
        open.account.payload = payload;
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
        let mut state = self.lock();
        if let Some(open) = &mut state.open {
            open.add_reading(open.places.read(&self.root), clock::now_ns());
            open.period_s *= open.account.merge_points();
        }
    }
}

impl WatchState {
    /// Returns the time until the next reading; `None` without a stretch in progress. A turn with
    /// pinned threads is not interrupted.
    fn next_reading_in(&self) -> Option<Duration> {
        let open = self.open.as_ref().filter(|open| !open.is_turn)?;
        let elapsed_s = clock::seconds_between(open.last_ns, clock::now_ns());
        Some(Duration::from_secs_f64((open.period_s - elapsed_s).max(0.0)))
    }
}

impl OpenStretch {
    fn add_reading(&mut self, now: CounterReading, now_ns: u64) {
        let mut point =
            CounterPoint { from_ns: self.last_ns, to_ns: now_ns, increases: BTreeMap::new() };
        for (key, before) in &self.last {
            match now.get(key) {
                None => self.account.mark_inconsistent(key, OmissionReason::NotVisible),
                Some(after) if after < before => {
                    self.account.mark_inconsistent(key, OmissionReason::WentBackwards);
                }
                Some(after) => {
                    let increase = after - before;
                    *self.account.totals.entry(key.clone()).or_default() += increase;
                    if has_points(key) {
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

/// Whether the increases in each point are kept: for the time line, without single CPUs.
fn has_points((counter, of): &CounterKey) -> bool {
    match counter {
        Counter::DeviceReadBytes
        | Counter::DeviceWrittenBytes
        | Counter::NfsReadBytes
        | Counter::NfsWrittenBytes
        | Counter::ReceivedBytes
        | Counter::SentBytes
        | Counter::CpuPressure
        | Counter::IoPressure => true,
        Counter::CpuUser
        | Counter::CpuSystem
        | Counter::CpuInterrupts
        | Counter::CpuStolen
        | Counter::CpuAll => of.is_empty(),
        Counter::DeviceReads
        | Counter::DeviceWrites
        | Counter::DeviceBusy
        | Counter::NfsCalls
        | Counter::NfsRetransmits
        | Counter::TcpSegments
        | Counter::TcpRetransmits
        | Counter::ContextSwitches
        | Counter::MajorFaults
        | Counter::MemoryPressure
        | Counter::CpuThrottled => false,
    }
}

impl CounterAccount {
    fn mark_inconsistent(&mut self, key: &CounterKey, reason: OmissionReason) {
        self.inconsistent.entry(key.clone()).or_insert(reason);
    }

    /// Merges neighbouring points if there are too many; returns the factor of their length.
    fn merge_points(&mut self) -> f64 {
        if self.points.len() <= MAX_POINTS {
            return 1.0;
        }
        let mut merged: Vec<CounterPoint> = Vec::with_capacity(MAX_POINTS);
        for (index, point) in std::mem::take(&mut self.points).into_iter().enumerate() {
            match merged.last_mut().filter(|_| index % 2 == 1) {
                Some(last) => last.append(point),
                None => merged.push(point),
            }
        }
        self.points = merged;
        2.0
    }

    /// Adds a later stretch of the same case.
    fn append(&mut self, later: Self) {
        self.seconds += later.seconds;
        self.payload = match (self.payload, later.payload) {
            (Some(sum), Some(more)) => Some(PayloadBytes {
                read: sum.read.saturating_add(more.read),
                written: sum.written.saturating_add(more.written),
            }),
            _ => None,
        };
        self.points.extend(later.points);
        self.merge_points();
        // A counter that one stretch lacks has no total.
        for key in self.totals.keys().filter(|it| !later.totals.contains_key(*it)) {
            self.inconsistent.entry(key.clone()).or_insert(OmissionReason::NotVisible);
        }
        for (key, increase) in later.totals {
            match self.totals.get_mut(&key) {
                Some(total) => *total += increase,
                None => drop(self.inconsistent.insert(key, OmissionReason::NotVisible)),
            }
        }
        self.inconsistent.extend(later.inconsistent);
        add_new(&mut self.limits, later.limits);
        add_new(&mut self.omitted, later.omitted);
    }

    fn into_record(mut self, case: &str) -> CounterRecord {
        self.merge_points();
        self.totals.retain(|key, _| !self.inconsistent.contains_key(key));
        let busiest = self.busiest_cpu();
        self.totals.retain(|(_, of), _| !is_cpu(of) || Some(of) == busiest.as_ref());
        let since_s = |ns: u64| round(clock::seconds_between(self.began_ns, ns));
        let points = &self.points;
        let counted = |(key, total): (&CounterKey, &f64)| CountedSeries {
            counter: key.0,
            of: key.1.clone(),
            total: round(*total),
            points: match has_points(key) && *total > 0.0 {
                true => points
                    .iter()
                    .map(|it| round(it.increases.get(key).copied().unwrap_or(0.0)))
                    .collect(),
                false => Vec::new(),
            },
        };
        let inconsistent =
            self.inconsistent.iter().map(|((counter, of), reason)| OmittedCounter {
                name: format!("{of} {}", counter.id()).trim_start().to_owned(),
                reason: *reason,
            });
        CounterRecord {
            case: case.to_owned(),
            host: None,
            seconds: self.seconds,
            payload: self.payload,
            points_s: points
                .iter()
                .map(|it| [since_s(it.from_ns), since_s(it.to_ns)])
                .collect(),
            counted: self.totals.iter().map(counted).collect(),
            limits: self.limits,
            omitted: self.omitted.into_iter().chain(inconsistent).collect(),
        }
    }

    /// Returns the CPU with the largest share of interrupts.
    fn busiest_cpu(&self) -> Option<String> {
        let share = |of: &String| {
            let value = |counter| self.totals.get(&(counter, of.clone())).copied();
            Some(value(Counter::CpuInterrupts)? / value(Counter::CpuAll)?)
        };
        let names: BTreeSet<&String> =
            self.totals.keys().map(|(_, of)| of).filter(|of| is_cpu(of)).collect();
        let shares = names.into_iter().filter_map(|of| Some((share(of)?, of)));
        let busiest = shares.filter(|it| it.0.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0));
        busiest.map(|(_, of)| of.clone())
    }
}

impl CounterPoint {
    fn append(&mut self, later: Self) {
        // The pause between two stretches is not counted.
        self.to_ns += later.to_ns.saturating_sub(later.from_ns);
        for (key, increase) in later.increases {
            *self.increases.entry(key).or_default() += increase;
        }
    }
}

fn add_new<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for it in more {
        if !all.contains(&it) {
            all.push(it);
        }
    }
}

fn is_cpu(of: &str) -> bool {
    of.strip_prefix("cpu").is_some_and(|number| number.bytes().all(|it| it.is_ascii_digit()))
}

/// Rounds to microseconds or whole bytes, so that stored numbers are short.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests;
