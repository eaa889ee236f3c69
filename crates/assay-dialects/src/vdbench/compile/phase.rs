//! Compiles one run of storage: its targets and streams, with the values of its loops.

use std::collections::HashMap;

use assay_model::workload::storage::{
    AccessPattern, AtEnd, Cursor, EngineChoice, HitArea, SizeShare, Skew, StorageData,
    StorageLoad, StorageStream, StorageWorkload, StreamBehavior,
};

use super::super::attributes::{SKEW_DIVISOR, SeekPattern, TransferSizes};
use super::super::definitions::{StorageDefinition, WorkloadDefinition};
use super::super::runs::RunDefinition;
use super::super::values::{ParameterValue, Scalar};
use super::super::{ResourceCounts, RunParameters};
use super::targets::{PlacedTarget, TargetSet};
use super::{Combination, Compiler, concatenation, phase_timing};

/// Compiled run of storage.
pub(super) struct BuiltPhase {
    pub(super) workload: StorageWorkload,
    pub(super) parameters: RunParameters,
    pub(super) resources: ResourceCounts,
    /// Whether the file defines the shares of the workloads.
    pub(super) has_shares: bool,
    /// Host of each target, when hosts are distributed.
    pub(super) hosts: Vec<usize>,
}

impl BuiltPhase {
    /// Whether the workloads keep their shares without a rate.
    pub(super) fn is_balanced(&self) -> bool {
        self.workload.load == StorageLoad::Balanced
    }
}

/// Values that loops set for all workloads and storage of a run.
struct LoopOverrides {
    threads: Option<u32>,
    hit_area_bytes: Option<u64>,
    compression: f64,
}

/// Returns the number of I/Os that a stream keeps in flight.
fn outstanding_ios(stream: &StorageStream) -> u64 {
    let depths = if stream.conduct.turns.is_some() { 1 } else { stream.targets.len() };
    u64::from(stream.in_flight_per_target) * depths as u64
}

impl Compiler<'_, '_> {
    /// Compiles a run; `None` after a reported error.
    pub(super) fn build_phase(
        &mut self,
        run: &RunDefinition,
        values: &Combination<'_>,
        load: StorageLoad,
    ) -> Option<BuiltPhase> {
        let (workloads, overrides) = self.resolve_workloads(run, values)?;
        let selected = self.select_storages(run, &workloads)?;
        let mut users_of_storage: HashMap<usize, u32> = HashMap::new();
        for storage in selected.iter().flatten() {
            *users_of_storage.entry(*storage).or_default() += 1;
        }
        let shares = self.divide_rate(run, &workloads)?;
        let mut targets = TargetSet::default();
        let mut streams = Vec::new();
        for ((workload, storages), share) in workloads.iter().zip(&selected).zip(&shares) {
            let mut placed = Vec::new();
            let given_threads = overrides.threads.map(|threads| divide_threads(threads, share));
            let workload_threads =
                self.concatenated_threads((run, workload), storages, given_threads)?;
            for &index in storages {
                let storage = &self.definitions.storages[index];
                let threads = overrides.threads.unwrap_or(storage.threads);
                let hit_area_bytes = overrides.hit_area_bytes.unwrap_or(storage.hit_area_bytes);
                let threads = match workload_threads {
                    Some(threads) => threads,
                    // Threads belong to the storage; workloads that share it divide them.
                    None if users_of_storage[&index] > 1 => divide_threads(threads, share),
                    None => threads,
                };
                for target in self.place_targets(run, workload, index, &mut targets)? {
                    placed.push(PlacedTarget { target, threads, hit_area_bytes });
                }
            }
            self.add_streams(workload, share, &placed, &mut streams);
        }
        let total_bytes = targets.list.iter().filter_map(|target| target.size_bytes).sum();
        let parameters = self.run_parameters((&workloads, &selected), &overrides, total_bytes);
        let mut used_storages: Vec<usize> = selected.into_iter().flatten().collect();
        used_storages.sort_unstable();
        used_storages.dedup();
        let outstanding = streams.iter().map(outstanding_ios).sum();
        let resources = ResourceCounts {
            storages: used_storages.len(),
            workloads: workloads.len(),
            outstanding,
        };
        let compressible = 1.0 - 1.0 / overrides.compression;
        let has_shares = shares.iter().any(|share| share.is_given);
        let load = if has_shares && load == StorageLoad::Closed {
            StorageLoad::Balanced
        } else {
            load
        };
        let workload = StorageWorkload {
            targets: targets.list,
            streams,
            load,
            timing: phase_timing(run, total_bytes),
            engine: EngineChoice::Auto,
            data: StorageData { compressible, verify: self.verify() },
            seed: self.input.seed,
        };
        Some(BuiltPhase { workload, parameters, resources, has_shares, hosts: targets.hosts })
    }

    /// Returns the run's workloads with the values of its loops.
    fn resolve_workloads(
        &mut self,
        run: &RunDefinition,
        values: &Combination<'_>,
    ) -> Option<(Vec<WorkloadDefinition>, LoopOverrides)> {
        let mut workloads: Vec<WorkloadDefinition> = if run.workloads.is_empty() {
            vec![self.definitions.default_workload.clone()]
        } else {
            let selected =
                self.workloads.select(self.lines, "workload (wd)", &run.workloads)?;
            selected
                .into_iter()
                .map(|index| self.definitions.workloads[index].clone())
                .collect()
        };
        let mut overrides = LoopOverrides {
            threads: None,
            hit_area_bytes: None,
            compression: self.definitions.general.compression,
        };
        for (key, parsed) in values {
            let number = parsed.number_or_zero();
            match *key {
                "threads" => overrides.threads = Some(number as u32),
                "hitarea" => overrides.hit_area_bytes = Some(number as u64),
                "compratio" => overrides.compression = number,
                _ => workloads
                    .iter_mut()
                    .for_each(|workload| apply_loop_value(workload, key, parsed)),
            }
        }
        Some((workloads, overrides))
    }

    /// Selects the storage of each workload; the run's own list replaces those of its workloads.
    fn select_storages(
        &mut self,
        run: &RunDefinition,
        workloads: &[WorkloadDefinition],
    ) -> Option<Vec<Vec<usize>>> {
        let mut selected = Vec::with_capacity(workloads.len());
        for workload in workloads {
            let selectors =
                if run.storages.is_empty() { &workload.storages } else { &run.storages };
            if selectors.is_empty() {
                let message = format!(
                    "neither the run `{}` nor its workload `{}` names storage",
                    run.name.text, workload.name
                );
                self.lines
                    .report_error("V131", run.name.spot, message)
                    .advise("add sd=*", "stops");
                return None;
            }
            selected.push(self.storages.select(self.lines, "storage (sd)", selectors)?);
        }
        Some(selected)
    }

    /// Divides the rate among the workloads.
    fn divide_rate(
        &mut self,
        run: &RunDefinition,
        workloads: &[WorkloadDefinition],
    ) -> Option<Vec<RateShare>> {
        let sum: f64 = workloads.iter().filter_map(|workload| workload.skew_percent).sum();
        let has_no_rate = |workload: &&WorkloadDefinition| {
            workload.skew_percent.is_none() && workload.rate_per_s.is_none()
        };
        let unset = workloads.iter().filter(has_no_rate).count();
        let has_shares = workloads.iter().any(|workload| workload.skew_percent.is_some());
        if has_shares {
            self.check_shares(run, (sum, unset), "wd")?;
        }
        self.check_priorities(run, workloads)?;
        self.check_strides(workloads)?;
        let share = |workload: &WorkloadDefinition| {
            let percent = match (workload.skew_percent, workload.rate_per_s) {
                (Some(percent), _) => percent,
                (None, Some(_)) => 0.0,
                (None, None) => (100.0 - sum) / unset as f64,
            };
            let is_given = workload.skew_percent.is_some() || workload.rate_per_s.is_some();
            RateShare { fraction: percent / 100.0, rate_per_s: workload.rate_per_s, is_given }
        };
        Some(workloads.iter().map(share).collect())
    }

    /// Checks priorities. Workloads with a rate have priority over the one without, because they
    /// have their own threads. Priorities among workloads without a rate would need a queue, which
    /// assay lacks.
    fn check_priorities(
        &mut self,
        run: &RunDefinition,
        workloads: &[WorkloadDefinition],
    ) -> Option<()> {
        let Some((_, spot)) = workloads.iter().find_map(|workload| workload.priority) else {
            return Some(());
        };
        let without_rate =
            workloads.iter().filter(|workload| workload.rate_per_s.is_none()).count();
        let last = workloads
            .iter()
            .filter_map(|w| Some((w.priority?.0, w.rate_per_s)))
            .max_by_key(|priority| priority.0);
        let is_last_free = last.is_none_or(|(_, rate)| without_rate == 0 || rate.is_none());
        if without_rate <= 1 && is_last_free {
            return Some(());
        }
        let message = format!(
            "the priorities of the workloads of `{}` are not supported here",
            run.name.text
        );
        let help = "give every workload but the last one an iorate=, or shares with skew=";
        self.lines
            .report_error("V114", spot, message)
            .advise(help, "serves the workload of the lower number first");
        None
    }

    /// Checks strides. Gaps require random access; with mixed access Vdbench leaves none before the
    /// sequential share.
    fn check_strides(&mut self, workloads: &[WorkloadDefinition]) -> Option<()> {
        let needs_all_random = |workload: &&WorkloadDefinition| {
            let is_all_random =
                matches!(workload.seek, SeekPattern::Percent(percent) if percent >= 100.0);
            workload.strides.is_some() && !is_all_random
        };
        let Some(workload) = workloads.iter().find(needs_all_random) else { return Some(()) };
        let message = format!("`stride` of `{}` needs seekpct=100 here", workload.name);
        let help = "set seekpct=100, or remove stride";
        self.lines
            .report_error("V114", workload.spot, message)
            .advise(help, "leaves gaps before the random share");
        None
    }

    /// Adds the streams of one workload: one per number of threads and hit area of its storage.
    fn add_streams(
        &self,
        workload: &WorkloadDefinition,
        share: &RateShare,
        placed: &[PlacedTarget],
        streams: &mut Vec<StorageStream>,
    ) {
        let mut groups: Vec<((u32, u64), Vec<usize>)> = Vec::new();
        let has_hits = workload.hit_percents != (0.0, 0.0);
        for target in placed {
            let key = (target.threads, if has_hits { target.hit_area_bytes } else { 0 });
            match groups.iter_mut().find(|(other, _)| *other == key) {
                Some((_, targets)) => targets.push(target.target),
                None => groups.push((key, vec![target.target])),
            }
        }
        for ((threads, hit_area_bytes), targets) in groups {
            let part = targets.len() as f64 / placed.len() as f64;
            let in_flight = u64::from(threads) * targets.len() as u64;
            let max_submitters = u32::try_from(in_flight).unwrap_or(u32::MAX);
            let turns = self
                .definitions
                .general
                .concatenates
                .then(|| concatenation::target_rotation(workload));
            let submitters = match (workload.streams, turns) {
                // A single thread alternates between the targets.
                (_, Some(_)) => 1,
                (Some(streams), None) => streams.min(threads),
                (None, None) => self.input.submitters.clamp(1, max_submitters.max(1)),
            };
            let (read, write) = workload.hit_percents;
            streams.push(StorageStream {
                name: workload.name.clone(),
                targets,
                threads: submitters,
                in_flight_per_target: threads,
                pattern: access_pattern(workload),
                sizes: size_shares(&workload.sizes),
                read_share: workload.read_percent / 100.0,
                hit_area: has_hits.then_some(HitArea {
                    bytes: hit_area_bytes,
                    read_share: read / 100.0,
                    write_share: write / 100.0,
                }),
                rate_share: share.fraction * part,
                own_rate_per_s: share.rate_per_s.map(|rate| rate * part),
                sync_every: 0,
                stop_after_bytes: None,
                conduct: StreamBehavior {
                    skew: access_skew(workload),
                    turns,
                    ..StreamBehavior::default()
                },
            });
        }
    }

    fn run_parameters(
        &mut self,
        (workloads, selected): (&[WorkloadDefinition], &[Vec<usize>]),
        overrides: &LoopOverrides,
        storage_bytes: u64,
    ) -> RunParameters {
        let storages =
            || selected.iter().flatten().map(|index| &self.definitions.storages[*index]);
        let threads = |storage: &StorageDefinition| {
            f64::from(overrides.threads.unwrap_or(storage.threads))
        };
        RunParameters {
            xfer_bytes: common_value(workloads.iter().map(|workload| match &workload.sizes {
                TransferSizes::Shares(shares) if shares.len() == 1 => Some(shares[0].0 as f64),
                _ => None,
            })),
            threads: if self.definitions.general.concatenates {
                common_value(
                    workloads
                        .iter()
                        .map(|workload| overrides.threads.or(workload.threads).map(f64::from)),
                )
            } else {
                common_value(storages().map(|storage| Some(threads(storage))))
            },
            read_percent: common_value(
                workloads.iter().map(|workload| Some(workload.read_percent)),
            ),
            read_hit_percent: common_value(workloads.iter().map(|w| Some(w.hit_percents.0))),
            write_hit_percent: common_value(workloads.iter().map(|w| Some(w.hit_percents.1))),
            seek_percent: common_value(workloads.iter().map(|workload| match workload.seek {
                SeekPattern::Percent(percent) => Some(percent),
                SeekPattern::Eof => Some(-1.0),
                SeekPattern::Skewed(_) => Some(100.0),
            })),
            storage_bytes,
            compression: Some(overrides.compression),
            dedup_ratio: None,
        }
    }
}

/// Share of the rate of one workload.
struct RateShare {
    fraction: f64,
    rate_per_s: Option<f64>,
    is_given: bool,
}

/// Returns a workload's part of threads that it shares with others.
fn divide_threads(threads: u32, share: &RateShare) -> u32 {
    ((f64::from(threads) * share.fraction).round() as u32).max(1)
}

/// Returns the common value, or `None` if the values differ.
pub(super) fn common_value(mut values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let first = values.next()??;
    values.all(|value| value == Some(first)).then_some(first)
}

/// Sets a workload's parameter to the value of a loop; the parser has checked the value.
fn apply_loop_value(workload: &mut WorkloadDefinition, key: &str, parsed: &ParameterValue) {
    let number = parsed.number_or_zero();
    match key {
        "xfersize" => workload.sizes = TransferSizes::Shares(vec![(number as u64, 100.0)]),
        "rdpct" => workload.read_percent = number,
        "rhpct" => workload.hit_percents.0 = number,
        "whpct" => workload.hit_percents.1 = number,
        "seekpct" => {
            workload.seek = match &parsed.value {
                Scalar::Number(number) if number.value < 0.0 => SeekPattern::Eof,
                Scalar::Number(number) => SeekPattern::Percent(number.value),
                Scalar::Word(word) if word == "eof" => SeekPattern::Eof,
                Scalar::Word(word) if word.starts_with("rand") => SeekPattern::Percent(100.0),
                Scalar::Word(word) if word.starts_with("po") => {
                    SeekPattern::Skewed(SKEW_DIVISOR)
                }
                Scalar::Word(_) => SeekPattern::Percent(0.0),
            };
        }
        _ => {}
    }
}

fn access_pattern(workload: &WorkloadDefinition) -> AccessPattern {
    let cursor = if workload.streams.is_some() { Cursor::Divided } else { Cursor::Shared };
    let sequential = |at_end| AccessPattern::Sequential { cursor, at_end, gap_bytes: 0 };
    match workload.seek {
        SeekPattern::Eof => sequential(AtEnd::Stop),
        SeekPattern::Skewed(_) => AccessPattern::Random,
        SeekPattern::Percent(percent) if percent >= 100.0 => match workload.strides {
            Some((least_bytes, most_bytes)) => {
                AccessPattern::Strides { least_bytes, most_bytes }
            }
            None => AccessPattern::Random,
        },
        SeekPattern::Percent(percent) if percent <= 0.0 => sequential(AtEnd::Wrap),
        SeekPattern::Percent(percent) => AccessPattern::Mixed { random_share: percent / 100.0 },
    }
}

fn access_skew(workload: &WorkloadDefinition) -> Option<Skew> {
    match workload.seek {
        SeekPattern::Skewed(divisor) => Some(Skew::Exponential { mean_share: 1.0 / divisor }),
        SeekPattern::Percent(_) | SeekPattern::Eof => None,
    }
}

pub(super) fn size_shares(sizes: &TransferSizes) -> Vec<SizeShare> {
    match sizes {
        TransferSizes::Shares(shares) => {
            let total: f64 = shares.iter().map(|(_, percent)| percent).sum();
            shares
                .iter()
                .map(|&(bytes, percent)| SizeShare {
                    min_bytes: bytes,
                    max_bytes: bytes,
                    step_bytes: bytes,
                    share: percent / total,
                })
                .collect()
        }
        &TransferSizes::Uniform(min_bytes, max_bytes, step_bytes) => {
            vec![SizeShare { min_bytes, max_bytes, step_bytes, share: 1.0 }]
        }
    }
}
