//! `formatsds=yes`: adds a first run that writes every file and device from start to end.

use std::collections::BTreeSet;

use assay_model::workload::storage::{
    AccessPattern, AtEnd, Cursor, StorageData, StorageLoad, StoragePhase, StorageStream,
    StorageTarget, StorageTiming, StorageWorkload,
};

use super::super::{RateLabel, ResourceCounts, RunLabel, RunParameters};
use super::Compiler;
use super::phase::common_value;
use crate::vdbench::commands::{Commands, DataLimits};

/// Threads per storage definition, as in Vdbench.
const THREADS: u32 = 2;
/// Reporting interval, in seconds.
const INTERVAL_S: f64 = 1.0;

impl Compiler<'_, '_> {
    /// Inserts a first run that writes all storage.
    pub(super) fn add_storage_format(&mut self) {
        let (targets, hosts) = self.full_targets();
        let bytes = self.definitions.general.format_bytes.max(512);
        if let Some(target) =
            targets.iter().find(|target| !target.size_bytes.unwrap_or(0).is_multiple_of(bytes))
        {
            let message = format!(
                "the size of `{}` is not a multiple of {bytes} bytes, the I/O size of its format",
                target.name
            );
            let storage =
                self.definitions.storages.iter().find(|sd| sd.name.text == target.name);
            if let Some(spot) = storage.map(|storage| storage.name.spot) {
                let help = "make size= a multiple of formatxfersize= (128k unless given)";
                self.lines.report_error("V154", spot, message).add_help(help);
            }
            return;
        }
        if targets.is_empty() {
            return;
        }
        for phase in &mut self.execution.plan.phases {
            if let StorageLoad::ShareOf { phase, .. } = &mut phase.workload.load {
                *phase += 1;
            }
        }
        self.execution.runs.iter_mut().for_each(|label| label.number += 1);
        let mut label = format_label(&targets, bytes, self.definitions.general.compression);
        // It writes the storage of all runs.
        let ratios = self.execution.runs.iter().map(|run| run.parameters.dedup_ratio);
        label.parameters.dedup_ratio = common_value(ratios);
        let (name, loops) = (label.name.clone(), label.loops.clone());
        let workload = self.format_workload(targets, bytes);
        self.execution.runs.insert(0, label);
        let phase = StoragePhase { name, loops, workload, pause_before_s: 0.0 };
        self.execution.plan.phases.insert(0, phase);
        if self.input.is_apart {
            self.execution.host_indices.insert(0, hosts);
        }
    }

    /// Returns every file or device of all runs once and in full, with its host when hosts are
    /// distributed.
    fn full_targets(&self) -> (Vec<StorageTarget>, Vec<usize>) {
        let mut seen = BTreeSet::new();
        let all = self.execution.placed_targets();
        all.filter(|(host, target)| seen.insert((*host, &target.path)))
            .map(|(host, target)| {
                (StorageTarget { range_bytes: None, ..target.clone() }, host.unwrap_or(0))
            })
            .unzip()
    }

    fn format_workload(&self, targets: Vec<StorageTarget>, bytes: u64) -> StorageWorkload {
        let in_flight = THREADS * u32::try_from(targets.len()).unwrap_or(u32::MAX / THREADS);
        let stream = StorageStream {
            name: "SD_format".into(),
            targets: (0..targets.len()).collect(),
            threads: self.input.submitters.clamp(1, in_flight),
            in_flight_per_target: THREADS,
            ..StorageStream::new(
                AccessPattern::Sequential {
                    cursor: Cursor::Shared,
                    at_end: AtEnd::Stop,
                    gap_bytes: 0,
                },
                bytes,
                0.0,
            )
        };
        StorageWorkload {
            timing: StorageTiming { interval_s: INTERVAL_S, ..StorageTiming::new(None) },
            data: StorageData {
                compressible: 1.0 - 1.0 / self.definitions.general.compression,
                verify: self.verify(),
            },
            seed: self.input.seed,
            ..StorageWorkload::new(targets, vec![stream], None)
        }
    }
}

fn format_label(targets: &[StorageTarget], bytes: u64, compression: f64) -> RunLabel {
    let threads = f64::from(THREADS);
    let loops = [("threads", THREADS.to_string()), ("iorate", "max".to_owned())];
    RunLabel {
        number: 0,
        name: "SD_format".into(),
        rate: RateLabel::UncontrolledMax,
        elapsed_s: 0.0,
        warmup_s: 0.0,
        interval_s: INTERVAL_S,
        loops: loops.map(|(key, value)| (key.to_owned(), value)).to_vec(),
        stop_curve_ms: None,
        shares_observed: false,
        limits: DataLimits::default(),
        commands: Commands::default(),
        parameters: RunParameters {
            xfer_bytes: Some(bytes as f64),
            threads: Some(threads),
            read_percent: Some(0.0),
            read_hit_percent: Some(0.0),
            write_hit_percent: Some(0.0),
            seek_percent: Some(-1.0),
            storage_bytes: targets.iter().filter_map(|target| target.size_bytes).sum(),
            compression: Some(compression),
            dedup_ratio: None,
        },
        resources: ResourceCounts {
            storages: targets.len(),
            workloads: 1,
            outstanding: u64::from(THREADS) * targets.len() as u64,
        },
    }
}
