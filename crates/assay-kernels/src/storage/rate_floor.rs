//! Minimum rates of a stream, judged as fio does: two seconds after the start, then once per cycle,
//! over the cycle that ended (`__check_min_rate` of fio 3.33).
//!
//! Never reads a clock.

use assay_model::storage_outcome::IoOperation;
use assay_model::workload::storage::MinimumRates;

/// Time before the first check.
const SETTLE_NS: u64 = 2_000_000_000;

/// State of the checks.
#[derive(Debug)]
pub(super) struct RateFloor {
    limits: MinimumRates,
    start_ns: u64,
    directions: [DirectionCount; 2],
}

/// I/O of a direction, now and at the last check.
#[derive(Debug, Clone, Copy, Default)]
struct DirectionCount {
    bytes: u64,
    ios: u64,
    checked: Option<(u64, u64, u64)>,
}

impl RateFloor {
    /// Creates the state before the first I/O.
    pub(super) fn new(limits: MinimumRates) -> Self {
        Self { limits, start_ns: 0, directions: Default::default() }
    }

    /// Sets the time from which the rates count.
    pub(super) const fn begin(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// Counts an I/O that completed at `now_ns`; returns the error of a low rate.
    pub(super) fn note_io(
        &mut self,
        operation: IoOperation,
        bytes: u64,
        now_ns: u64,
    ) -> Option<String> {
        let index = operation as usize;
        let count = &mut self.directions[index];
        count.bytes += bytes;
        count.ios += 1;
        let limits = (self.limits.bytes_per_s[index], self.limits.ios_per_s[index]);
        if limits == (None, None) || now_ns.saturating_sub(self.start_ns) < SETTLE_NS {
            return None;
        }
        if let Some((bytes, ios, at_ns)) = count.checked {
            let spent_ms = now_ns.saturating_sub(at_ns) / 1_000_000;
            if spent_ms < self.limits.cycle_ms.max(1) {
                return None;
            }
            let per_s = |more: u64| (u128::from(more) * 1000 / u128::from(spent_ms)) as u64;
            let (found, text) = match limits {
                (Some(least), _) => {
                    let found = per_s(count.bytes - bytes);
                    (found < least, format!("rate_min={least}B/s not met, got {found}B/s"))
                }
                (None, least) => {
                    let (found, least) = (per_s(count.ios - ios), least.unwrap_or(0));
                    (found < least, format!("rate_iops_min={least} not met, got {found} IOPS"))
                }
            };
            if found {
                return Some(text);
            }
        }
        count.checked = Some((count.bytes, count.ios, now_ns));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Completes an I/O of 4 KiB every `gap_ms` for 5 s; returns the time of the error in ms.
    fn first_error(limits: MinimumRates, gap_ms: u64) -> Option<(u64, String)> {
        let mut floor = RateFloor::new(limits);
        (1..5000).filter(|ms| ms % gap_ms == 0).find_map(|ms| {
            let error = floor.note_io(IoOperation::Read, 4096, ms * MS)?;
            Some((ms, error))
        })
    }

    #[test]
    fn low_rates_are_found_in_the_second_cycle_after_two_seconds() {
        let limit = |bytes, ios| MinimumRates {
            bytes_per_s: [bytes, None],
            ios_per_s: [ios, None],
            cycle_ms: 500,
        };
        // 100 IO/s of 4 KiB.
        let found = first_error(limit(Some(409_601), None), 10);
        assert_eq!(found, Some((2500, "rate_min=409601B/s not met, got 409600B/s".to_owned())));
        let found = first_error(limit(None, Some(101)), 10);
        assert_eq!(found, Some((2500, "rate_iops_min=101 not met, got 100 IOPS".to_owned())));
        assert_eq!(first_error(limit(Some(409_600), None), 10), None);
        assert_eq!(first_error(limit(None, Some(100)), 10), None);
        assert_eq!(first_error(limit(None, None), 10), None);
        // A limit of writes does not concern reads.
        let writes = MinimumRates { bytes_per_s: [None, Some(1 << 40)], ..limit(None, None) };
        assert_eq!(first_error(writes, 10), None);
    }
}
