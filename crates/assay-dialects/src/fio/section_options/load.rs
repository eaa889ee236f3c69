//! Options on the batches of a job, its minimum rates, and its errors.

use assay_model::workload::storage::{IoBatches, LatencyTarget, MinimumRates};

use super::PerDirection;

/// Number of the error of wrong data, the same on every Linux.
const EILSEQ: i32 = 84;

/// Batches, minimum rates and errors of a job; the defaults are fio's.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadOptions {
    /// `iodepth_batch`; 0 = `iodepth`.
    pub submit: u64,
    /// `iodepth_batch_complete_min`.
    pub complete_least: u64,
    /// `iodepth_batch_complete_max`; 0 = the minimum.
    pub complete_most: u64,
    /// `iodepth_low`; 0 = `iodepth`.
    pub refill_below: u64,
    /// `rate_min` in B/s.
    pub least_bytes_per_s: PerDirection<Option<f64>>,
    /// `rate_iops_min`.
    pub least_ios_per_s: PerDirection<Option<f64>>,
    /// `rate_cycle`.
    pub cycle_ms: u64,
    /// `continue_on_error`: errors of reads, of writes, and wrong data that do not end the job.
    pub continues_on: [bool; 3],
    /// `ignore_error`: numbers of such errors of each kind; empty = fio's.
    pub tolerated_errors: [Vec<i32>; 3],
    /// `verify_fatal`: wrong data ends the job in any case.
    pub ends_on_damage: bool,
    /// `exitall_on_error`: an error of the job ends all.
    pub ends_all_on_error: bool,
    /// `latency_target` in nanoseconds; 0 = none.
    pub latency_ns: u64,
    /// `latency_window` in nanoseconds.
    pub latency_window_ns: u64,
    /// `latency_percentile`, in percent.
    pub latency_percent: f64,
    /// `latency_run`: the depth is adjusted until the end.
    pub adjusts_depth: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            submit: 1,
            complete_least: 1,
            complete_most: 0,
            refill_below: 0,
            least_bytes_per_s: PerDirection::uniform(None),
            least_ios_per_s: PerDirection::uniform(None),
            cycle_ms: 1000,
            continues_on: [false; 3],
            tolerated_errors: [vec![], vec![], vec![]],
            ends_on_damage: false,
            ends_all_on_error: false,
            latency_ns: 0,
            latency_window_ns: 0,
            latency_percent: 100.0,
            adjusts_depth: false,
        }
    }
}

impl LoadOptions {
    /// Returns the batches at a depth; values above it are lowered to it, as in fio.
    pub fn batches(&self, depth: u32) -> IoBatches {
        let at_most_depth = |value: u64| match u32::try_from(value) {
            Ok(value) if (1..=depth).contains(&value) => value,
            Ok(_) | Err(_) => depth,
        };
        let collect_least = self.complete_least.min(depth.into()) as u32;
        IoBatches {
            submit: at_most_depth(self.submit),
            collect_least,
            collect_most: (self.complete_most.min(depth.into()) as u32).max(collect_least),
            refill_below: at_most_depth(self.refill_below),
        }
    }

    /// Returns the minimum rates, if there are any.
    pub fn minimum_rates(&self) -> Option<MinimumRates> {
        let limits = |of: &PerDirection<Option<f64>>| {
            [of.read, of.write].map(|rate| rate.map(|rate| rate as u64))
        };
        let rates = MinimumRates {
            bytes_per_s: limits(&self.least_bytes_per_s),
            ios_per_s: limits(&self.least_ios_per_s),
            cycle_ms: self.cycle_ms,
        };
        let all = rates.bytes_per_s.iter().chain(&rates.ios_per_s);
        all.flatten().next().map(|_| rates)
    }

    /// Returns the latency to keep by the depth, if there is one.
    pub fn latency_goal(&self) -> Option<LatencyTarget> {
        (self.latency_ns > 0).then_some(LatencyTarget {
            most_ns: self.latency_ns,
            window_ns: self.latency_window_ns,
            percent: self.latency_percent,
            keeps_adjusting: self.adjusts_depth,
        })
    }

    /// Whether errors are counted in the report.
    pub fn counts_errors(&self) -> bool {
        self.continues_on.contains(&true)
    }

    /// Whether wrong data is an error that the job tolerates, even if it ends the job.
    pub fn tolerates_damage(&self) -> bool {
        let given = &self.tolerated_errors[2];
        self.continues_on[2] && (given.is_empty() || given.contains(&EILSEQ))
    }

    /// Returns the errors that do not end the job: of reads, of writes, and wrong data.
    pub fn tolerated_errors(&self) -> [Vec<i32>; 3] {
        /// fio's list if `ignore_error` is not given: `EIO` and `EILSEQ`, the same on every Linux.
        const USUAL: [i32; 2] = [5, EILSEQ];
        let [reads, writes, damage] = self.continues_on;
        let continues = [reads, writes, damage && !self.ends_on_damage];
        std::array::from_fn(|kind| match (continues[kind], &self.tolerated_errors[kind]) {
            (false, _) => vec![],
            (true, given) if given.is_empty() => USUAL.to_vec(),
            (true, given) => given.clone(),
        })
    }

    /// Gives writes the values of trims.
    pub(super) fn write_as_trim(&mut self) {
        self.least_bytes_per_s.write_as_trim();
        self.least_ios_per_s.write_as_trim();
    }
}
