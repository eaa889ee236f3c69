//! Options of fio's jobs that their report depends on.

use assay_model::workload::storage::SizeShare;
use serde::{Deserialize, Serialize};

use super::compile::FioPlan;
use super::jobfile::FioSetting;
use super::request::FioRequest;
use super::section_options::{DirectionReport, FioOptions};

/// Options of a job that its report depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedJob {
    /// Name of its section.
    pub name: String,
    /// `description`.
    pub description: String,
    /// fio's group.
    pub group: usize,
    /// Options of its section with their last values.
    pub settings: Vec<(String, String)>,
    /// `rw` as written.
    pub rw: String,
    /// Minimum and maximum bytes of a read.
    pub read_bytes: (u64, u64),
    /// Minimum and maximum bytes of a write.
    pub write_bytes: (u64, u64),
    /// Minimum and maximum bytes of a trim.
    #[serde(default)]
    pub trim_bytes: Option<(u64, u64)>,
    /// `ioengine`.
    pub engine: String,
    /// `iodepth`.
    pub depth: u32,
    /// `numjobs`.
    pub clones: u32,
    /// `percentile_list`, in percent.
    pub percentiles: Vec<f64>,
    /// `clat_percentiles`.
    pub clat_percentiles: bool,
    /// `lat_percentiles`.
    pub lat_percentiles: bool,
    /// `slat_percentiles`.
    #[serde(default)]
    pub slat_percentiles: bool,
    /// `unified_rw_reporting`.
    #[serde(default, skip_serializing_if = "DirectionReport::is_separate")]
    pub direction_report: DirectionReport,
    /// `kb_base`.
    pub kb_base: u32,
    /// `continue_on_error`: the number of errors is reported.
    #[serde(default)]
    pub counts_errors: bool,
    /// `latency_target` in ns, `latency_window` in µs, `latency_percentile` in percent; `None` = no
    /// target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_goal: Option<(u64, u64, f64)>,
    /// `fdatasync` or `sync_file_range`, which fio does not count among the syncs.
    #[serde(default)]
    pub uncounted_syncs: bool,
    /// `create_only`: no I/O, whose depth and latency goal are then not printed.
    #[serde(default)]
    pub creates_only: bool,
}

/// Returns the options of each job that its report depends on.
pub fn reported_jobs(request: &FioRequest, plan: &FioPlan) -> Vec<ReportedJob> {
    let mut group = 0;
    let job = |(index, options): (usize, &FioOptions)| {
        let row = plan.reports.iter().find(|row| row.section == index);
        group = row.map_or(group, |row| row.group);
        ReportedJob {
            name: options.name.clone(),
            description: options.description.clone(),
            group,
            settings: request
                .sections
                .get(index)
                .map_or_else(Vec::new, |section| last_values(&section.own)),
            rw: options.rw_text.clone(),
            read_bytes: size_range(&options.given_sizes.read),
            write_bytes: size_range(&options.given_sizes.write),
            trim_bytes: Some(size_range(&options.given_sizes.trim)),
            engine: options.engine.clone(),
            depth: options.depth,
            clones: options.clones,
            percentiles: options.percentiles.clone(),
            clat_percentiles: options.clat_percentiles && !options.logs.disabled[2],
            lat_percentiles: options.lat_percentiles && !options.logs.disabled[0],
            slat_percentiles: options.slat_percentiles && !options.logs.disabled[1],
            direction_report: options.direction_report,
            kb_base: options.kb_base,
            counts_errors: options.load.counts_errors(),
            latency_goal: options
                .load
                .latency_goal()
                .map(|goal| (goal.most_ns, goal.window_ns / 1000, goal.percent)),
            uncounted_syncs: options.behaviour.syncs_data_only
                || options.behaviour.sync_range_flags.is_some(),
            creates_only: options.behaviour.creates_only,
        }
    };
    plan.options.iter().enumerate().map(job).collect()
}

fn size_range(sizes: &[SizeShare]) -> (u64, u64) {
    let minimum = sizes.iter().map(|size| size.min_bytes).min().unwrap_or(0);
    let maximum = sizes.iter().map(|size| size.max_bytes).max().unwrap_or(0);
    (minimum, maximum)
}

/// Lists options with their last values; fio omits options without a value.
pub(super) fn last_values(settings: &[FioSetting]) -> Vec<(String, String)> {
    let mut entries: Vec<(String, String)> = vec![];
    for setting in settings {
        let Some(value) = &setting.value else { continue };
        match entries.iter_mut().find(|(name, _)| name == setting.name) {
            Some(entry) => entry.1.clone_from(value),
            None => entries.push((setting.name.to_owned(), value.clone())),
        }
    }
    entries
}
