//! Sums of counters over the stretches of a case, and the record that is stored of them.

use std::collections::{BTreeMap, BTreeSet};

use assay_fleet::kernel_counters::CounterKey;
use assay_kernels::clock;
use assay_model::kernel_counters::{
    CountedSeries, CountedWork, Counter, CounterLimit, CounterRecord, OmissionReason,
    OmittedCounter, PayloadBytes,
};

/// Maximum number of points; neighbours are merged above it, and the interval doubles.
pub(super) const MAX_POINTS: usize = 60;

/// Counters of one or several stretches.
#[derive(Debug, Clone, Default)]
pub(super) struct CounterAccount {
    pub(super) began_ns: u64,
    pub(super) seconds: f64,
    pub(super) payload: Option<PayloadBytes>,
    pub(super) work: Option<CountedWork>,
    pub(super) points: Vec<CounterPoint>,
    pub(super) totals: BTreeMap<CounterKey, f64>,
    pub(super) inconsistent: BTreeMap<CounterKey, OmissionReason>,
    pub(super) limits: Vec<CounterLimit>,
    pub(super) omitted: Vec<OmittedCounter>,
}

/// Increases between two readings.
#[derive(Debug, Clone)]
pub(super) struct CounterPoint {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) increases: BTreeMap<CounterKey, f64>,
}

impl CounterAccount {
    pub(super) fn mark_inconsistent(&mut self, key: &CounterKey, reason: OmissionReason) {
        self.inconsistent.entry(key.clone()).or_insert(reason);
    }

    /// Whether the increases in each point are kept: for the time line, or beside a limit.
    pub(super) fn keeps_points(&self, key: &CounterKey) -> bool {
        let is_limited = |it: &CounterLimit| (it.counter, &it.of) == (key.0, &key.1);
        has_points(key) || self.limits.iter().any(is_limited)
    }

    /// Merges neighbouring points if there are too many; returns the factor of their length.
    pub(super) fn merge_points(&mut self) -> f64 {
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
    pub(super) fn append(&mut self, later: Self) {
        self.seconds += later.seconds;
        self.payload = match (self.payload, later.payload) {
            (Some(sum), Some(more)) => Some(PayloadBytes {
                read: sum.read.saturating_add(more.read),
                written: sum.written.saturating_add(more.written),
            }),
            _ => None,
        };
        self.work = self.work.zip(later.work).map(|(sum, more)| sum.plus(more));
        self.points.extend(later.points);
        self.merge_points();
        // A counter that one stretch lacks has no total.
        for key in self.totals.keys().filter(|it| !later.totals.contains_key(*it)) {
            self.inconsistent.entry(key.clone()).or_insert(OmissionReason::NotVisible);
        }
        for (key, increase) in later.totals {
            match self.totals.get_mut(&key) {
                Some(total) => *total += increase,
                None => self.mark_inconsistent(&key, OmissionReason::NotVisible),
            }
        }
        self.inconsistent.extend(later.inconsistent);
        add_new(&mut self.limits, later.limits);
        add_new(&mut self.omitted, later.omitted);
    }

    pub(super) fn into_record(mut self, case: &str) -> CounterRecord {
        self.merge_points();
        self.totals.retain(|key, _| !self.inconsistent.contains_key(key));
        let busiest = self.busiest_cpu();
        self.totals.retain(|(_, of), _| !is_cpu(of) || Some(of) == busiest.as_ref());
        let since_s = |ns: u64| round(clock::seconds_between(self.began_ns, ns));
        let points = &self.points;
        let kept: BTreeSet<_> =
            self.totals.keys().filter(|key| self.keeps_points(key)).collect();
        let counted = |(key, total): (&CounterKey, &f64)| CountedSeries {
            counter: key.0,
            of: key.1.clone(),
            total: round(*total),
            points: match kept.contains(key) && *total > 0.0 {
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
            work: self.work,
            points_s: points
                .iter()
                .map(|it| [since_s(it.from_ns), since_s(it.to_ns)])
                .collect(),
            counted: self.totals.iter().map(counted).collect(),
            limits: self.limits,
            omitted: self.omitted.into_iter().chain(inconsistent).collect(),
        }
    }

    /// Returns the CPU with the largest share of interrupts, if there are several.
    fn busiest_cpu(&self) -> Option<String> {
        let share = |of: &String| {
            let value = |counter| self.totals.get(&(counter, of.clone())).copied();
            Some(value(Counter::CpuInterrupts)? / value(Counter::CpuAll)?)
        };
        let names: BTreeSet<&String> =
            self.totals.keys().map(|(_, of)| of).filter(|of| is_cpu(of)).collect();
        if names.len() < 2 {
            return None;
        }
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

pub(super) fn is_cpu(of: &str) -> bool {
    of.strip_prefix("cpu").is_some_and(|number| number.bytes().all(|it| it.is_ascii_digit()))
}

/// Rounds to microseconds or whole bytes, so that stored numbers are short.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Whether the increases in each point are on the time line: without single CPUs.
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
        | Counter::CpuThrottled
        | Counter::WatchTime
        | Counter::ThreadTime
        | Counter::UserCycles
        | Counter::KernelCycles
        | Counter::UserInstructions
        | Counter::KernelInstructions
        | Counter::MemoryReadBytes
        | Counter::MemoryWrittenBytes
        | Counter::PackageEnergy => false,
    }
}
