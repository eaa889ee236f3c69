//! Concatenated storage (`concatenatesds=yes`): all files of a workload form one range of addresses
//! with one number of threads.

use assay_model::workload::storage::{TargetRotation, Verify};

use super::super::attributes::SeekPattern;
use super::super::definitions::WorkloadDefinition;
use super::super::runs::RunDefinition;
use super::Compiler;

/// Order in which a workload's I/O uses its files: sequential access finishes one before the next,
/// random access weights them by size.
pub(super) const fn target_rotation(workload: &WorkloadDefinition) -> TargetRotation {
    match workload.seek {
        SeekPattern::Percent(percent) if percent >= 100.0 => TargetRotation::BySize,
        SeekPattern::Percent(_) | SeekPattern::Eof | SeekPattern::Skewed(_) => {
            TargetRotation::InOrder
        }
    }
}

impl Compiler<'_, '_> {
    /// Returns the threads of a workload on concatenated storage. `Some(None)` if storage is not
    /// concatenated; `None` after a reported error.
    #[expect(
        clippy::option_option,
        reason = "a fault and storage of its own are different things"
    )]
    pub(super) fn concatenated_threads(
        &mut self,
        (run, workload): (&RunDefinition, &WorkloadDefinition),
        storages: &[usize],
        given_threads: Option<u32>,
    ) -> Option<Option<u32>> {
        let name = &workload.name;
        if !self.definitions.general.concatenates {
            if workload.threads.is_none() {
                return Some(None);
            }
            let message = format!("`threads` of `{name}` needs concatenated storage");
            let help = "set threads= of the sd or the rd, or concatenatesds=yes";
            self.lines.report_error("V166", workload.spot, message).advise(help, "stops");
            return None;
        }
        if let Some((option, vdbench_action)) = self.concatenation_conflict(workload, storages)
        {
            let message = format!("not supported together: {option} and concatenatesds=yes");
            let help = "remove one of them";
            self.lines
                .report_error("V114", workload.spot, message)
                .advise(help, vdbench_action);
            return None;
        }
        let threads = given_threads.or(workload.threads);
        if threads.is_none() {
            let message =
                format!("neither `{name}` nor its run `{}` sets threads=", run.name.text);
            let help = "add threads= to the wd or the rd: concatenated storage has no threads of its own";
            self.lines.report_error("V166", workload.spot, message).advise(help, "stops");
            return None;
        }
        Some(threads)
    }

    /// Finds an option that excludes concatenated storage, with Vdbench's behaviour for it.
    fn concatenation_conflict(
        &self,
        workload: &WorkloadDefinition,
        storages: &[usize],
    ) -> Option<(&'static str, &'static str)> {
        let has_too_many_targets = storages.len() > TargetRotation::MAX_DISTINCT_TARGETS;
        let mut storages = storages.iter().map(|index| &self.definitions.storages[*index]);
        let has_sub_range = storages
            .any(|sd| sd.range.is_some() || sd.offset_bytes > 0 || sd.align_bytes.is_some());
        let is_partly_random = match workload.seek {
            SeekPattern::Percent(percent) => percent > 0.0 && percent < 100.0,
            SeekPattern::Eof | SeekPattern::Skewed(_) => false,
        };
        let (stops, carries_out) = ("stops", "carries it out");
        [
            (self.definitions.general.formats_storage, "formatsds=yes", stops),
            (self.verify() != Verify::Off, "checking data", stops),
            (has_sub_range, "range=, offset= or align= of storage", stops),
            (workload.hit_percents != (0.0, 0.0), "rhpct= or whpct=", stops),
            (workload.range.is_some(), "range= or hotband= of a workload", carries_out),
            (is_partly_random, "a seekpct between 0 and 100", carries_out),
            (matches!(workload.seek, SeekPattern::Skewed(_)), "seekpct=poisson", carries_out),
            (workload.strides.is_some(), "stride=", carries_out),
            (workload.streams.is_some(), "streams=", carries_out),
            (self.input.is_apart, "several hosts", carries_out),
            (
                has_too_many_targets,
                "more than 256 storage definitions of one workload",
                carries_out,
            ),
        ]
        .into_iter()
        .find_map(|(applies, option, vdbench_action)| {
            applies.then_some((option, vdbench_action))
        })
    }
}
