//! Options for the logs of a job: kinds, file names, resolution; and for its disks in the report.

/// The logs of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogOptions {
    /// `write_bw_log`: file name prefix; empty = the job's name.
    pub bandwidth: Option<String>,
    /// `write_iops_log`.
    pub rate: Option<String>,
    /// `write_lat_log`: three files.
    pub latency: Option<String>,
    /// `write_hist_log`.
    pub histogram: Option<String>,
    /// `write_iolog`: a file of all I/O, which fio replays.
    pub trace: Option<String>,
    /// `per_job_logs`: one file per clone.
    pub per_clone: bool,
    /// `log_avg_msec`; 0 = log every I/O.
    pub average_ms: u64,
    /// `log_hist_msec`.
    pub histogram_ms: u64,
    /// `log_hist_coarseness`, 0 to 6.
    pub coarseness: u32,
    /// `log_max_value`: log maximum values rather than means.
    pub maximum: bool,
    /// `log_offset`.
    pub offset: bool,
    /// `log_prio`: priorities as `ioprio_set(2)` takes them, instead of whether they are real time.
    pub priority: bool,
    /// `log_issue_time`: the time of submission of each I/O.
    pub issue_time: bool,
    /// `log_unix_epoch`: times since 1970.
    pub unix_epoch: bool,
    /// `disable_lat`, `disable_slat` and `disable_clat`: omit these files.
    pub disabled: [bool; 3],
    /// `disk_util=0`: the disks of its files are not reported.
    pub hides_disks: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            bandwidth: None,
            rate: None,
            latency: None,
            histogram: None,
            trace: None,
            per_clone: true,
            average_ms: 0,
            histogram_ms: 0,
            coarseness: 0,
            maximum: false,
            offset: false,
            priority: false,
            issue_time: false,
            unix_epoch: false,
            disabled: [false; 3],
            hides_disks: false,
        }
    }
}

impl LogOptions {
    /// Returns whether any log is written.
    pub const fn is_any_enabled(&self) -> bool {
        self.bandwidth.is_some()
            || self.rate.is_some()
            || self.latency.is_some()
            || self.histogram.is_some()
    }

    /// Returns whether the logs need a record of every I/O.
    pub const fn needs_every_io(&self) -> bool {
        let each = self.bandwidth.is_some() || self.rate.is_some() || self.latency.is_some();
        let draws_histograms = self.histogram.is_some() && self.histogram_ms > 0;
        (each && self.average_ms == 0) || draws_histograms || self.trace.is_some()
    }
}
