//! Options about the logs that a job writes: which, where, how fine.

use super::super::value;
use super::read::number;

/// The logs of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// `write_bw_log`: what its name begins with; empty = the job's name.
    pub bandwidth: Option<String>,
    /// `write_iops_log`.
    pub rate: Option<String>,
    /// `write_lat_log`: three files.
    pub latency: Option<String>,
    /// `write_hist_log`.
    pub histogram: Option<String>,
    /// `per_job_logs`: whether every clone has its own file.
    pub per_clone: bool,
    /// `log_avg_msec`; 0 = every I/O is reported.
    pub average_ms: u64,
    /// `log_hist_msec`.
    pub histogram_ms: u64,
    /// `log_hist_coarseness`, 0 to 6.
    pub coarseness: u32,
    /// `log_max_value`: the maximum value of a time rather than the mean.
    pub maximum: bool,
    /// `log_offset`.
    pub offset: bool,
    /// `log_unix_epoch`: times since 1970.
    pub unix_epoch: bool,
    /// `disable_lat`, `disable_slat` and `disable_clat`: these files are not written.
    pub without: [bool; 3],
}

impl Default for Logs {
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
            without: [false; 3],
        }
    }
}

impl Logs {
    /// Reads one option; whether it was one of these.
    pub(super) fn apply(&mut self, name: &str, text: Option<&str>) -> Result<bool, String> {
        let given = || text.unwrap_or_default();
        let flag = || value::flag(text).ok_or("it must be 0 or 1");
        let times = |most| number(given(), 0, most);
        // Longer than a day is a mistake.
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
            "disable_lat" => self.without[0] = flag()?,
            "disable_slat" => self.without[1] = flag()?,
            "disable_clat" => self.without[2] = flag()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether any is written.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.bandwidth.is_some()
            || self.rate.is_some()
            || self.latency.is_some()
            || self.histogram.is_some()
    }

    /// Whether every I/O must be kept to write them.
    #[must_use]
    pub const fn need_every_io(&self) -> bool {
        let each = self.bandwidth.is_some() || self.rate.is_some() || self.latency.is_some();
        (each && self.average_ms == 0) || (self.histogram.is_some() && self.histogram_ms > 0)
    }
}
