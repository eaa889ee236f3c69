//! Conversion of an MPI job's outcome to measurement entries, and back. A stored run printed as an
//! OSU table has the same values as the live output.
//!
//! Batches are the samples of a metric. Single messages are a distribution or samples of their own
//! (dimension `timed`). Validation results are counts that do not belong to a result.

use super::{FORMAT, MpiLibrary, MpiOutcome, MpiRank, MpiSize, MpiValidation};
use crate::attribute::{Attribute, Attributes, BoundRank, Value};
use crate::benchmark::{Benchmark, MpiTest};
use crate::distribution::Distribution;
use crate::doubt::Doubt;
use crate::entry::{Entry, Key, Seen, Span};
use crate::event::Count;
use crate::run::{CaseRecord, SeriesRecord};
use crate::workload::{MpiWorkload, Workload};

/// Values of [`Attribute::Timed`].
const BATCH: &str = "batch";
const SINGLE: &str = "single";
/// [`Attribute::Stage`] of validation counts.
const CONTENTS: &str = "contents";

const NS_PER_S: f64 = 1e9;

/// Stretches that the single messages of a size are divided into. Their variation gives the median
/// an interval.
const STRETCHES: usize = 24;

impl MpiOutcome {
    /// Converts the batches and validation results to entries, once per launch.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let Some(test) = MpiTest::from_name(&self.benchmark) else { return Vec::new() };
        self.sizes.iter().flat_map(|size| of_size(test, size)).collect()
    }

    /// Converts individually timed messages, calls or windows to entries; each includes a clock
    /// reading.
    #[must_use]
    pub fn single_entries(&self) -> Vec<Entry> {
        let Some(test) = MpiTest::from_name(&self.benchmark) else { return Vec::new() };
        self.sizes.iter().flat_map(|size| self.of_singles(test, size)).collect()
    }

    /// Returns library, launcher and placement of the ranks as facts.
    #[must_use]
    pub fn facts(&self) -> Vec<Entry> {
        let mut facts: Vec<(Attribute, Value)> = Vec::new();
        if let Some(library) = &self.library {
            facts.extend([
                (Attribute::Mpi, library.label().into()),
                (Attribute::Abi, library.abi.name().into()),
                (Attribute::Library, library.path.as_str().into()),
                (Attribute::Standard, library.standard.as_str().into()),
            ]);
        }
        facts.push((Attribute::Launcher, self.launcher.as_str().into()));
        facts.push((Attribute::Cpus, Value::Ranks(self.bound())));
        if MpiTest::from_name(&self.benchmark).is_some_and(is_windowed) {
            facts.push((Attribute::Window, self.window.into()));
        }
        facts.retain(|(_, value)| value.text() != Some(""));
        if !self.environment.is_empty() {
            facts.push((Attribute::Variables, Value::Pairs(self.environment.clone())));
        }
        facts.into_iter().map(|(name, value)| Entry::Fact(name, value)).collect()
    }

    /// Returns the actual CPU bindings of all ranks, with hosts if there are several.
    #[must_use]
    pub fn bound(&self) -> Vec<BoundRank> {
        let several = self.ranks.iter().any(|rank| rank.host != self.ranks[0].host);
        let one = |rank: &MpiRank| BoundRank {
            host: several.then(|| rank.host.clone()),
            cpus: rank.cpus.clone(),
        };
        self.ranks.iter().map(one).collect()
    }

    /// Returns a doubt if ranks may move between CPUs, where they would find cold caches.
    #[must_use]
    pub fn unbound(&self) -> Option<Doubt> {
        let wandering = self.ranks.iter().filter(|rank| rank.cpus.len() > 1).count();
        let moved = self.ranks.iter().filter(|rank| rank.seen_on.len() > 1).count();
        let ranks = self.ranks.len();
        (wandering > 0).then_some(Doubt::UnboundRanks { unbound: wandering, moved, ranks })
    }

    /// Returns the single values, stretch by stretch, in the unit of the benchmark's first metric:
    /// seconds, or bytes per second of the messages of a window.
    #[must_use]
    pub fn singles(&self, test: MpiTest, size: &MpiSize) -> Vec<f64> {
        if !is_windowed(test) {
            let all = whole_ns(size);
            let parts = all.chunks(all.len().div_ceil(STRETCHES).max(1));
            return parts.flat_map(|part| spread(&Distribution::of_values(part))).collect();
        }
        let bytes = self.window_bytes(test, size.bytes);
        size.messages_s.iter().map(|seconds| bytes / seconds).collect()
    }

    /// Returns the bytes transferred during one window.
    fn window_bytes(&self, test: MpiTest, bytes: u64) -> f64 {
        let directions = if test == MpiTest::BothWays { 2 } else { 1 };
        let pairs = self.ranks.len() as u64 / 2;
        bytes as f64 * (u64::from(self.window) * directions * pairs) as f64
    }

    /// Returns the entries of the single values of a size.
    fn of_singles(&self, test: MpiTest, size: &MpiSize) -> Vec<Entry> {
        let bytes = test.has_sizes().then_some((Attribute::Bytes, Value::from(size.bytes)));
        let timed = (Attribute::Timed, SINGLE.into());
        let key = Key::with(first_metric(test), bytes.into_iter().chain([timed]));
        if size.messages_s.is_empty() {
            return Vec::new();
        }
        if is_windowed(test) {
            let values = self.singles(test, size).into_iter();
            let seen = values.map(|value| Seen::Sample { value, weight: 1.0 });
            return seen.map(|seen| Entry::Measured(key.clone(), seen)).collect();
        }
        let all = whole_ns(size);
        let mut from_ns = 0;
        let stretches = all.chunks(all.len().div_ceil(STRETCHES)).map(|part| {
            let to_ns = from_ns + part.iter().sum::<u64>();
            let span = Span { from_ns, to_ns, warmup: false };
            from_ns = to_ns;
            Entry::Measured(
                key.clone(),
                Seen::Distribution(span, Distribution::of_values(part)),
            )
        });
        stretches.collect()
    }

    /// Reads a stored job, with all values that its table needs; `None` if the case is not an MPI
    /// test.
    #[must_use]
    pub fn of_record(record: &CaseRecord, host: &str) -> Option<Self> {
        let Workload::Mpi(work) = &record.case.workload else { return None };
        let text = |name: Attribute| Some(record.facts.get(&name)?.text()?.to_owned());
        let number = |name: Attribute| record.facts.get(&name)?.number();
        let mut outcome = Self {
            format: FORMAT,
            assay: String::new(),
            benchmark: work.test.name().to_owned(),
            preset: work.preset.name().to_owned(),
            library: Some(MpiLibrary {
                name: work.mpi.name.clone(),
                version: work.mpi.version.clone(),
                banner: String::new(),
                path: work.mpi.library.clone(),
                abi: work.mpi.abi,
                standard: text(Attribute::Standard).unwrap_or_default(),
            }),
            launcher: text(Attribute::Launcher).unwrap_or_default(),
            ranks: ranks(record.facts.get(&Attribute::Cpus), host),
            environment: std::collections::BTreeMap::new(),
            window: number(Attribute::Window).map_or(0, |it| it as u32),
            sizes: Vec::new(),
            complete: true,
            failure: None,
        };
        for series in &record.series {
            outcome.add(work, series);
        }
        Some(outcome)
    }

    fn add(&mut self, work: &MpiWorkload, series: &SeriesRecord) {
        let bytes = series.dimensions.get(&Attribute::Bytes).and_then(Value::number);
        let bytes = bytes.map_or(0, |bytes| bytes as u64);
        let window_bytes = self.window_bytes(work.test, bytes);
        let index = self.sizes.iter().position(|size| size.bytes == bytes).unwrap_or_else(|| {
            self.sizes.push(MpiSize { bytes, ..MpiSize::default() });
            self.sizes.len() - 1
        });
        let size = &mut self.sizes[index];
        let values = series.samples.iter().map(|sample| sample.value);
        if let Some(count) = series.counts.first() {
            let Count { part: wrong, whole: messages } = count.seen;
            size.validation = Some(MpiValidation { messages, wrong });
        } else if !is(&series.dimensions, Attribute::Timed, SINGLE) {
            let iterations = series.facts.get(&Attribute::Iterations).and_then(Value::number);
            size.iterations = iterations.map_or(size.iterations, |it| it as u64);
            size.samples.insert(series.metric.clone(), values.collect());
        } else if is_windowed(work.test) {
            size.messages_s = values.map(|value| window_bytes / value).collect();
        } else {
            let parts = series.distributions.iter();
            size.messages_s = parts.flat_map(|part| spread(&part.seen)).collect();
        }
    }
}

fn of_size(test: MpiTest, size: &MpiSize) -> Vec<Entry> {
    let benchmark = Benchmark::Mpi(test);
    let bytes = test.has_sizes().then_some((Attribute::Bytes, Value::from(size.bytes)));
    let first = first_metric(test);
    let mut entries = Vec::new();
    for (name, samples) in &size.samples {
        // Both ends have the same version, so every name is known.
        let Some(metric) = benchmark.metric(name) else { continue };
        let key = Key::with(metric.name, bytes.clone());
        let weight = 1.0;
        let sample = |value: &f64| Seen::Sample { value: *value, weight };
        entries.extend(samples.iter().map(|value| Entry::Measured(key.clone(), sample(value))));
        let mut fact = |name, value| {
            entries.push(Entry::SeriesFact(key.clone(), name, value));
        };
        fact(Attribute::Timed, BATCH.into());
        fact(Attribute::Iterations, size.iterations.into());
    }
    if let Some(MpiValidation { messages, wrong }) = size.validation {
        let stage = (Attribute::Stage, CONTENTS.into());
        let key = Key::with(first, bytes.into_iter().chain([stage]));
        let count = Count { part: wrong, whole: messages };
        entries.push(Entry::Measured(key, Seen::Count(whole(size), count)));
    }
    entries
}

impl MpiLibrary {
    /// Returns name and version.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} {}", self.name, self.version).trim().to_owned()
    }
}

/// Whether single values are windows of messages, with a bandwidth as result.
fn is_windowed(test: MpiTest) -> bool {
    Benchmark::Mpi(test).metric("bandwidth").is_some()
}

fn first_metric(test: MpiTest) -> &'static str {
    if is_windowed(test) { "bandwidth" } else { "latency" }
}

/// Returns the span from 0 over all single messages, which have no clock that counts from the start
/// of the case.
fn whole(size: &MpiSize) -> Span {
    Span::of_seconds(0.0, size.messages_s.iter().sum(), false)
}

/// Returns the times of the single messages in whole nanoseconds.
fn whole_ns(size: &MpiSize) -> Vec<u64> {
    size.messages_s.iter().map(|seconds| (seconds * NS_PER_S).round() as u64).collect()
}

/// Expands a distribution to its values in seconds, each to the precision of the histogram.
fn spread(distribution: &Distribution) -> Vec<f64> {
    let values = distribution.values();
    let one = |ns: u64, times: u64| std::iter::repeat_n(ns as f64 / NS_PER_S, times as usize);
    values
        .iter_recorded()
        .flat_map(|it| one(it.value_iterated_to(), it.count_at_value()))
        .collect()
}

fn is(attributes: &Attributes, name: Attribute, word: &str) -> bool {
    attributes.get(&name).and_then(Value::text) == Some(word)
}

/// Reads the ranks from the result of [`MpiOutcome::rank_bindings`]; ranks without a host are on
/// `host`.
fn ranks(bound: Option<&Value>, host: &str) -> Vec<MpiRank> {
    let one = |(rank, bound): (u32, BoundRank)| MpiRank {
        rank,
        host: bound.host.unwrap_or_else(|| host.to_owned()),
        cpus: bound.cpus,
        seen_on: Vec::new(),
    };
    let bound = match bound {
        Some(Value::Ranks(bound)) => bound.clone(),
        Some(Value::Text(line)) => of_line(line),
        _ => Vec::new(),
    };
    (0..).zip(bound).map(one).collect()
}

/// Parses the line format of the first runs of format 2.
fn of_line(line: &str) -> Vec<BoundRank> {
    let one = |text: &str| {
        let (host, cpus) = text
            .rsplit_once(':')
            .map_or((None, text), |(host, cpus)| (Some(host.to_owned()), cpus));
        let cpus = cpus.split(',').filter_map(|cpu| cpu.parse().ok()).collect();
        BoundRank { host, cpus }
    };
    line.split("; ").map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::mpi_installation::{MpiInstallation, MpiStarter};
    use crate::mpi_outcome::MpiAbi;
    use crate::run::recorded_for_tests;
    use crate::workload::{Domain, MpiHosts, MpiPreset};

    fn outcome(test: MpiTest, metric: &str, value: f64) -> MpiOutcome {
        let size = |bytes: u64| MpiSize {
            bytes,
            iterations: 100,
            warm_up: 0,
            samples: BTreeMap::from([(metric.to_owned(), vec![value, 2.0 * value])]),
            messages_s: vec![0.25e-6, 0.5e-6],
            validation: Some(MpiValidation { messages: 40, wrong: bytes / 16 }),
            precise: None,
        };
        let rank =
            |rank, cpus| MpiRank { rank, host: "a".to_owned(), cpus, seen_on: Vec::new() };
        MpiOutcome {
            format: FORMAT,
            assay: String::new(),
            benchmark: test.name().to_owned(),
            preset: "assay".to_owned(),
            library: Some(MpiLibrary {
                name: "Open MPI".to_owned(),
                version: "4.1.4".to_owned(),
                banner: String::new(),
                path: "/lib/libmpi.so".to_owned(),
                abi: MpiAbi::OpenMpi,
                standard: "3.1".to_owned(),
            }),
            launcher: "orterun".to_owned(),
            ranks: vec![rank(0, vec![0, 1]), rank(1, vec![4])],
            environment: BTreeMap::new(),
            window: if is_windowed(test) { 64 } else { 0 },
            sizes: vec![size(8), size(16)],
            complete: true,
            failure: None,
        }
    }

    fn work(test: MpiTest, library: &MpiLibrary) -> MpiWorkload {
        MpiWorkload {
            test,
            mpi: MpiInstallation {
                key: String::new(),
                name: library.name.clone(),
                version: library.version.clone(),
                prefix: String::new(),
                library: library.path.clone(),
                abi: library.abi,
                launcher: String::new(),
                starter: MpiStarter::Orte,
            },
            ranks: 2,
            placement: Domain { placement: "launcher".to_owned(), cpus: Vec::new() },
            hosts: MpiHosts::default(),
            from_bytes: 8,
            to_bytes: 16,
            preset: MpiPreset::Assay,
        }
    }

    #[test]
    fn a_job_comes_back_from_its_record() {
        for (test, metric, value) in [
            (MpiTest::Latency, "latency", 0.25e-6),
            (MpiTest::BothWays, "bandwidth", 1e9),
            (MpiTest::Iallreduce, "overlap", 0.5),
        ] {
            let before = outcome(test, metric, value);
            let parts = [before.facts(), before.entries(), before.single_entries()];
            let mut record = recorded_for_tests(parts.concat());
            let library = before.library.as_ref().unwrap();
            record.case.workload = Workload::Mpi(work(test, library));
            let after = MpiOutcome::of_record(&record, "a").unwrap();
            assert_eq!(after, before, "{}", test.name());
        }
    }

    /// The interval of a median takes at least six values.
    #[test]
    fn single_messages_are_stretches_that_follow_each_other() {
        for (messages, expected) in [(1, 1), (20, 20), (24, 24), (100, 20), (3000, 24)] {
            let mut outcome = outcome(MpiTest::Latency, "latency", 1e-6);
            outcome.sizes.truncate(1);
            outcome.sizes[0].messages_s = vec![1e-6; messages];
            let record = recorded_for_tests(outcome.single_entries());
            let parts = &record.series[0].distributions;
            assert_eq!(parts.len(), expected, "{messages}");
            assert!(parts.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns));
            let count: u64 = parts.iter().map(|part| part.seen.count).sum();
            assert_eq!(count, messages as u64);
        }
    }

    #[test]
    fn ranks_of_several_hosts_have_their_hosts() {
        let mut outcome = outcome(MpiTest::Latency, "latency", 1e-6);
        let mut check = |host: &str, expected: &str| {
            host.clone_into(&mut outcome.ranks[1].host);
            let line = BoundRank::line(&outcome.bound());
            assert_eq!(line, expected);
            // Older runs contain only the line.
            for stored in [Value::Ranks(outcome.bound()), Value::Text(line)] {
                assert_eq!(ranks(Some(&stored), "a"), outcome.ranks);
            }
        };
        check("a", "0,1; 4");
        check("b", "a:0,1; b:4");
    }
}
