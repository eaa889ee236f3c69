//! Conversion of an MPI job's outcome to measurement entries.
//!
//! Batches are the samples of a metric. Single messages are a distribution or samples of their own
//! (dimension `timed`). Validation results are counts that do not belong to a result.

use super::{MpiLibrary, MpiOutcome, MpiRank, MpiSizeResult, MpiValidation};
use crate::attribute::{Attribute, AttributeValue, RankBinding};
use crate::benchmark::{Benchmark, MpiTest};
use crate::distribution::LatencyDistribution;
use crate::doubt::Doubt;
use crate::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use crate::event::EventCount;

/// Values of [`Attribute::Timed`].
const BATCH: &str = "batch";
const SINGLE: &str = "single";
/// [`Attribute::Stage`] of validation counts.
const CONTENTS: &str = "contents";

/// Messages in flight of OSU's tests of bandwidth by default.
const DEFAULT_WINDOW: u32 = 64;

const NS_PER_S: f64 = 1e9;

/// Stretches that the single messages of a size are divided into. Their variation gives the median
/// an interval.
const STRETCHES: usize = 24;

/// Returns library, launcher and placement of the ranks of any MPI job.
pub fn job_facts(
    library: Option<&MpiLibrary>,
    launcher: &str,
    ranks: &[MpiRank],
) -> Vec<(Attribute, AttributeValue)> {
    let mut facts: Vec<(Attribute, AttributeValue)> = Vec::new();
    if let Some(library) = library {
        facts.extend([
            (Attribute::Mpi, library.label().into()),
            (Attribute::Abi, library.abi.name().into()),
            (Attribute::Library, library.path.as_str().into()),
            (Attribute::Standard, library.standard.as_str().into()),
        ]);
    }
    facts.push((Attribute::Launcher, launcher.into()));
    facts.push((Attribute::Cpus, AttributeValue::Ranks(rank_bindings(ranks))));
    facts
}

fn rank_bindings(ranks: &[MpiRank]) -> Vec<RankBinding> {
    let several = ranks.iter().any(|rank| rank.host != ranks[0].host);
    let one = |rank: &MpiRank| RankBinding {
        host: several.then(|| rank.host.clone()),
        cpus: rank.cpus.clone(),
    };
    ranks.iter().map(one).collect()
}

impl MpiOutcome {
    /// Converts the batches and validation results to entries, once per launch.
    pub fn to_entries(&self) -> Vec<MeasurementEntry> {
        let Some(test) = MpiTest::from_name(&self.benchmark) else { return Vec::new() };
        self.sizes.iter().flat_map(|size| self.batch_entries(test, size)).collect()
    }

    /// Converts individually timed messages, calls or windows to entries; each includes a clock
    /// reading.
    pub fn to_single_entries(&self) -> Vec<MeasurementEntry> {
        let Some(test) = MpiTest::from_name(&self.benchmark) else { return Vec::new() };
        self.sizes.iter().flat_map(|size| self.single_value_entries(test, size)).collect()
    }

    /// Returns library, launcher and placement of the ranks as facts.
    pub fn to_facts(&self) -> Vec<MeasurementEntry> {
        let mut facts = job_facts(self.library.as_ref(), &self.launcher, &self.ranks);
        if MpiTest::from_name(&self.benchmark).is_some_and(is_windowed) {
            facts.push((Attribute::Window, self.window.into()));
        }
        facts.retain(|(_, value)| value.as_text() != Some(""));
        if !self.environment.is_empty() {
            facts.push((Attribute::Variables, AttributeValue::Pairs(self.environment.clone())));
        }
        facts.into_iter().map(|(name, value)| MeasurementEntry::Fact(name, value)).collect()
    }

    /// Returns the actual CPU bindings of all ranks, with hosts if there are several.
    pub fn rank_bindings(&self) -> Vec<RankBinding> {
        rank_bindings(&self.ranks)
    }

    /// Returns a doubt if ranks may move between CPUs, where they would find cold caches.
    pub fn binding_doubt(&self) -> Option<Doubt> {
        let wandering = self.ranks.iter().filter(|rank| rank.cpus.len() > 1).count();
        let moved = self.ranks.iter().filter(|rank| rank.seen_on.len() > 1).count();
        let ranks = self.ranks.len();
        (wandering > 0).then_some(Doubt::UnboundRanks { unbound: wandering, moved, ranks })
    }

    /// Returns the single values, stretch by stretch, in the unit of the benchmark's first metric:
    /// seconds, or bytes per second of the messages of a window.
    pub fn single_values(&self, test: MpiTest, size: &MpiSizeResult) -> Vec<f64> {
        if !is_windowed(test) {
            let all = single_times_ns(size);
            let parts = all.chunks(all.len().div_ceil(STRETCHES).max(1));
            return parts
                .flat_map(|part| expand_values(&LatencyDistribution::from_values(part)))
                .collect();
        }
        let bytes = self.window_bytes(test, size.bytes);
        size.messages_s.iter().map(|seconds| bytes / seconds).collect()
    }

    /// Returns the bytes transferred during one window.
    fn window_bytes(&self, test: MpiTest, bytes: u64) -> f64 {
        let directions = u64::from(test.kind().directions());
        let pairs = self.ranks.len() as u64 / 2;
        bytes as f64 * (u64::from(self.window) * directions * pairs) as f64
    }

    /// Returns the entries of the single values of a size.
    fn single_value_entries(
        &self,
        test: MpiTest,
        size: &MpiSizeResult,
    ) -> Vec<MeasurementEntry> {
        let dimensions = self.dimensions(test, size);
        let timed = (Attribute::Timed, SINGLE.into());
        let key = SeriesKey::with_dimensions(
            first_metric(test),
            dimensions.into_iter().chain([timed]),
        );
        if size.messages_s.is_empty() {
            return Vec::new();
        }
        if is_windowed(test) {
            let values = self.single_values(test, size).into_iter();
            let seen = values.map(|value| EntryValue::Sample { value, weight: 1.0 });
            return seen.map(|seen| MeasurementEntry::Measured(key.clone(), seen)).collect();
        }
        let all = single_times_ns(size);
        let mut from_ns = 0;
        let stretches = all.chunks(all.len().div_ceil(STRETCHES)).map(|part| {
            let to_ns = from_ns + part.iter().sum::<u64>();
            let span = MeasuredSpan { from_ns, to_ns, warmup: false };
            from_ns = to_ns;
            MeasurementEntry::Measured(
                key.clone(),
                EntryValue::Distribution(span, LatencyDistribution::from_values(part)),
            )
        });
        stretches.collect()
    }

    /// Returns the size, and settings that are not the default ones.
    fn dimensions(
        &self,
        test: MpiTest,
        size: &MpiSizeResult,
    ) -> Vec<(Attribute, AttributeValue)> {
        let bytes = test.has_sizes().then(|| (Attribute::Bytes, size.bytes.into()));
        let settings = (!self.settings.is_empty())
            .then(|| (Attribute::Loops, self.settings.join(", ").as_str().into()));
        let window = (is_windowed(test) && self.window != DEFAULT_WINDOW)
            .then(|| (Attribute::Depth, self.window.into()));
        bytes.into_iter().chain(settings).chain(window).collect()
    }

    fn batch_entries(&self, test: MpiTest, size: &MpiSizeResult) -> Vec<MeasurementEntry> {
        let benchmark = Benchmark::Mpi(test);
        let dimensions = self.dimensions(test, size);
        let first = first_metric(test);
        let mut entries = Vec::new();
        for (name, samples) in &size.samples {
            // Both ends have the same version, so every name is known.
            let Some(metric) = benchmark.metric(name) else { continue };
            let key = SeriesKey::with_dimensions(metric.name, dimensions.clone());
            let weight = 1.0;
            let sample = |value: &f64| EntryValue::Sample { value: *value, weight };
            entries.extend(
                samples
                    .iter()
                    .map(|value| MeasurementEntry::Measured(key.clone(), sample(value))),
            );
            let mut fact = |name, value| {
                entries.push(MeasurementEntry::SeriesFact(key.clone(), name, value));
            };
            fact(Attribute::Timed, BATCH.into());
            fact(Attribute::Iterations, size.iterations.into());
        }
        if let Some(MpiValidation { messages, wrong }) = size.validation {
            let stage = (Attribute::Stage, CONTENTS.into());
            let key = SeriesKey::with_dimensions(first, dimensions.into_iter().chain([stage]));
            let count = EventCount { part: wrong, whole: messages };
            entries.push(MeasurementEntry::Measured(
                key,
                EntryValue::Count(whole_span(size), count),
            ));
        }
        entries
    }
}

impl MpiLibrary {
    /// Returns name and version.
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
fn whole_span(size: &MpiSizeResult) -> MeasuredSpan {
    MeasuredSpan::from_seconds(0.0, size.messages_s.iter().sum(), false)
}

/// Returns the times of the single messages in whole nanoseconds.
fn single_times_ns(size: &MpiSizeResult) -> Vec<u64> {
    size.messages_s.iter().map(|seconds| (seconds * NS_PER_S).round() as u64).collect()
}

/// Expands a distribution to its values in seconds, each to the precision of the histogram.
fn expand_values(distribution: &LatencyDistribution) -> Vec<f64> {
    let values = distribution.decode_histogram();
    let one = |ns: u64, times: u64| std::iter::repeat_n(ns as f64 / NS_PER_S, times as usize);
    values
        .iter_recorded()
        .flat_map(|it| one(it.value_iterated_to(), it.count_at_value()))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::mpi_outcome::{FORMAT, MpiAbi};
    use crate::run::record_for_tests;

    fn outcome(test: MpiTest, metric: &str, value: f64) -> MpiOutcome {
        let size = |bytes: u64| MpiSizeResult {
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
            settings: Vec::new(),
            topology: None,
            sizes: vec![size(8), size(16)],
            complete: true,
            failure: None,
        }
    }

    /// The interval of a median takes at least six values.
    #[test]
    fn single_messages_form_adjacent_stretches() {
        for (messages, expected) in [(1, 1), (20, 20), (24, 24), (100, 20), (3000, 24)] {
            let mut outcome = outcome(MpiTest::Latency, "latency", 1e-6);
            outcome.sizes.truncate(1);
            outcome.sizes[0].messages_s = vec![1e-6; messages];
            let record = record_for_tests(outcome.to_single_entries());
            let parts = &record.series[0].distributions;
            assert_eq!(parts.len(), expected, "{messages}");
            assert!(parts.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns));
            let count: u64 = parts.iter().map(|part| part.seen.count).sum();
            assert_eq!(count, messages as u64);
        }
    }

    #[test]
    fn unusual_settings_are_conditions() {
        let mut outcome = outcome(MpiTest::Latency, "latency", 1e-6);
        outcome.settings = vec!["Window creation: MPI_Win_create".to_owned()];
        let record = record_for_tests(outcome.to_entries());
        let condition = AttributeValue::from("Window creation: MPI_Win_create");
        for series in &record.series {
            assert_eq!(series.dimensions.get(&Attribute::Loops), Some(&condition));
        }
    }

    #[test]
    fn keeps_hosts_of_ranks() {
        let mut outcome = outcome(MpiTest::Latency, "latency", 1e-6);
        let mut check = |host: &str, expected: &str| {
            host.clone_into(&mut outcome.ranks[1].host);
            let line = RankBinding::format_line(&outcome.rank_bindings());
            assert_eq!(line, expected);
        };
        check("a", "0,1; 4");
        check("b", "a:0,1; b:4");
    }
}
