//! Statistics of the disks under the files of a plan, over the duration of the run.

use std::os::unix::fs::{FileTypeExt, MetadataExt};

use assay_dialects::fio::compile::FioPlan;
use assay_dialects::fio::statistics::DiskUse;
use assay_fleet::block_device;
use assay_fleet::disk_stats::{self, DiskCounters};
use assay_fleet::mounts::DeviceNumber;
use assay_fleet::root::Root;
use assay_model::workload::storage::{EngineChoice, FileCall};

/// Disks with their counters at the start.
#[derive(Debug, Default)]
pub(super) struct Disks {
    before: Vec<(DeviceNumber, DiskCounters)>,
}

impl Disks {
    pub(super) fn from_plan(plan: &FioPlan) -> Self {
        let root = Root::machine();
        let mut disks = Self::default();
        let shown = plan.clones.iter().filter(|it| !plan.options[it.section].logs.hides_disks);
        let targets = shown.flat_map(|clone| {
            let workload = &plan.plan.phases[clone.part.phase].workload;
            let stream = &workload.streams[clone.part.stream];
            // fio counts no disk for files that it creates itself.
            let has_files = workload.engine != EngineChoice::Null
                && stream.conduct.file_call != Some(FileCall::Create);
            let own = stream.targets.iter();
            own.filter(move |_| has_files).map(|target| &workload.targets[*target])
        });
        for target in targets {
            let Ok(metadata) = fs_err::metadata(&target.path) else { continue };
            let device = metadata.file_type().is_block_device();
            let number = block_device::unpack_number(if device {
                metadata.rdev()
            } else {
                metadata.dev()
            });
            if let Some(counters) = disk_stats::read(&root, number)
                && disks.before.iter().all(|(_, known)| known.name != counters.name)
            {
                disks.before.push((number, counters));
            }
        }
        disks
    }

    /// Returns the activity of each disk since the start, over `elapsed_ms`.
    pub(super) fn usage(&self, elapsed_ms: u64) -> Vec<DiskUse> {
        let root = Root::machine();
        let used = |(number, before): &(DeviceNumber, DiskCounters)| {
            let now = disk_stats::read(&root, *number)?;
            let less = |now: u64, before: u64| now.saturating_sub(before);
            let both = |now: (u64, u64), before: (u64, u64)| {
                (less(now.0, before.0), less(now.1, before.1))
            };
            Some(DiskUse {
                ios: both(now.ios, before.ios),
                merges: both(now.merges, before.merges),
                ticks_ms: both(now.ticks_ms, before.ticks_ms),
                in_queue_ms: less(now.in_queue_ms, before.in_queue_ms),
                busy_ms: less(now.busy_ms, before.busy_ms),
                elapsed_ms,
                name: now.name,
            })
        };
        self.before.iter().filter_map(used).collect()
    }
}
