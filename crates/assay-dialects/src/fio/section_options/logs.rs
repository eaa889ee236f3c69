//! Options for the logs of a job: kinds, file names, resolution.

use super::super::value;
use super::parse_values::parse_integer;

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
    /// `log_unix_epoch`: times since 1970.
    pub unix_epoch: bool,
    /// `disable_lat`, `disable_slat` and `disable_clat`: omit these files.
    pub disabled: [bool; 3],
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            bandwidth: None,
            rate: None,
            latency: None,
            histogram: None,
            per_clone: true,
            average_ms: 0,
            histogram_ms: 0,
            coarseness: 0,
            maximum: false,
            offset: false,
            unix_epoch: false,
            disabled: [false; 3],
        }
    }
}

impl LogOptions {
    /// Applies one option; returns whether `name` is a log option.
    pub(super) fn apply(&mut self, name: &str, text: Option<&str>) -> Result<bool, String> {
        let given = || text.unwrap_or_default();
        let flag = || value::parse_flag(text).ok_or("it must be 0 or 1");
        let times = |most| parse_integer(given(), 0, most);
        // Above a day, the value is a mistake.
        const DAY_MS: u64 = 86_400_000;
        match name {
            "write_bw_log" => self.bandwidth = Some(given().to_owned()),
            "write_iops_log" => self.rate = Some(given().to_owned()),
            "write_lat_log" => self.latency = Some(given().to_owned()),
            "write_hist_log" => self.histogram = Some(given().to_owned()),
            "per_job_logs" => self.per_clone = flag()?,
            "log_avg_msec" => self.average_ms = times(DAY_MS)?,
            "log_hist_msec" => self.histogram_ms = times(DAY_MS)?,
            "log_hist_coarseness" => self.coarseness = times(6)? as u32,
            "log_max_value" => self.maximum = flag()?,
            "log_offset" => self.offset = flag()?,
            "log_unix_epoch" | "log_alternate_epoch" => self.unix_epoch = flag()?,
            "disable_lat" => self.disabled[0] = flag()?,
            "disable_slat" => self.disabled[1] = flag()?,
            "disable_clat" => self.disabled[2] = flag()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns whether any log is written.
    #[must_use]
    pub const fn is_any_enabled(&self) -> bool {
        self.bandwidth.is_some()
            || self.rate.is_some()
            || self.latency.is_some()
            || self.histogram.is_some()
    }

    /// Returns whether the logs need a record of every I/O.
    #[must_use]
    pub const fn needs_every_io(&self) -> bool {
        let each = self.bandwidth.is_some() || self.rate.is_some() || self.latency.is_some();
        (each && self.average_ms == 0) || (self.histogram.is_some() && self.histogram_ms > 0)
    }
}
