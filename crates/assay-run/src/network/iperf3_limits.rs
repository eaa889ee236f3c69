//! Limits that a server sets to its tests: their bit rate and their duration.

use std::collections::VecDeque;

use assay_dialects::wire::iperf3::Iperf3Parameters;
use assay_dialects::wire::iperf3::parameters::{DataDirection, TestLimit};
use assay_kernels::clock;
use thiserror::Error;

/// Limits of every test of a server.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ServerLimits {
    /// Bit rate of all streams together (`--server-bitrate-limit`).
    pub rate: Option<RateLimit>,
    /// Seconds, with the omitted ones (`--server-max-duration`).
    pub duration_s: Option<u32>,
}

/// Maximum bit rate, and the time over which it is averaged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimit {
    pub bit_per_s: u64,
    /// 0 = only the requested rate is checked.
    pub interval_s: f64,
}

/// Limit that a test exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum ExceededLimit {
    #[error("it requested {requested} bit/s, more than the limit of {limit} bit/s")]
    RequestedRate { requested: u64, limit: u64 },
    #[error(
        "it transferred {measured:.0} bit/s over {seconds:.1} s, more than the limit of {limit} bit/s"
    )]
    MeasuredRate { measured: f64, seconds: f64, limit: u64 },
    #[error("it requested {requested_s} s, more than the limit of {limit_s} s")]
    Duration { requested_s: u32, limit_s: u32 },
    #[error("it requested a test without a duration, and the limit is {limit_s} s")]
    NoDuration { limit_s: u32 },
    #[error("it requested several streams, and this server has one file for them (-F)")]
    OneFile,
}

impl ExceededLimit {
    pub(super) const fn advice(self) -> &'static str {
        match self {
            Self::OneFile => "start the server without -F to permit the test",
            Self::RequestedRate { .. }
            | Self::MeasuredRate { .. }
            | Self::Duration { .. }
            | Self::NoDuration { .. } => {
                "raise --server-bitrate-limit or --server-max-duration to permit the test"
            }
        }
    }

    /// Returns iperf3's error number.
    pub(super) const fn number(self) -> i32 {
        match self {
            Self::RequestedRate { .. } | Self::MeasuredRate { .. } => 27,
            Self::Duration { .. } | Self::NoDuration { .. } => 37,
            Self::OneFile => 14,
        }
    }
}

impl ServerLimits {
    /// Checks the request of a client.
    pub(super) fn check_request(
        &self,
        parameters: &Iperf3Parameters,
    ) -> Result<(), ExceededLimit> {
        if let Some(limit_s) = self.duration_s {
            match parameters.limit {
                TestLimit::Seconds(seconds) if seconds > 0 => {
                    let requested_s = seconds.saturating_add(parameters.omit_s);
                    if requested_s > limit_s {
                        return Err(ExceededLimit::Duration { requested_s, limit_s });
                    }
                }
                TestLimit::Seconds(_) | TestLimit::Bytes(_) | TestLimit::Blocks(_) => {
                    return Err(ExceededLimit::NoDuration { limit_s });
                }
            }
        }
        let Some(RateLimit { bit_per_s: limit, .. }) = self.rate else { return Ok(()) };
        let streams = count_streams(parameters);
        let rates = [parameters.rate_bit_per_s, parameters.kernel_rate_bit_per_s];
        for requested in rates.into_iter().flatten().map(|rate| rate.saturating_mul(streams)) {
            if requested > limit {
                return Err(ExceededLimit::RequestedRate { requested, limit });
            }
        }
        Ok(())
    }
}

/// Bytes of a running test, over the time of its rate limit.
#[derive(Debug)]
pub(super) struct RateWatch {
    limit: RateLimit,
    /// Bytes that may exceed the limit: streams send whole blocks.
    spare_bytes: u64,
    /// Times in nanoseconds and bytes until then, oldest first: they span the time of the limit.
    readings: VecDeque<(u64, u64)>,
}

impl RateWatch {
    /// Watches a test with these parameters, each of whose streams may be a block ahead.
    pub(super) fn new(limit: RateLimit, parameters: &Iperf3Parameters, now_ns: u64) -> Self {
        let spare_bytes = count_streams(parameters) * u64::from(parameters.block_bytes);
        Self { limit, spare_bytes, readings: VecDeque::from([(now_ns, 0)]) }
    }

    /// Adds a reading of the bytes so far, and checks the mean rate over the time of the limit.
    pub(super) fn check(&mut self, now_ns: u64, bytes: u64) -> Result<(), ExceededLimit> {
        let RateLimit { bit_per_s: limit, interval_s } = self.limit;
        self.readings.push_back((now_ns, bytes));
        let spans_limit = |at_ns: u64| clock::seconds_between(at_ns, now_ns) >= interval_s;
        while self.readings.get(1).is_some_and(|it| spans_limit(it.0)) {
            self.readings.pop_front();
        }
        let (first_ns, before) = self.readings.front().copied().unwrap_or((now_ns, bytes));
        let seconds = clock::seconds_between(first_ns, now_ns);
        if interval_s <= 0.0 || seconds < interval_s {
            return Ok(());
        }
        let moved = bytes.saturating_sub(before);
        let counted = moved.saturating_sub(self.spare_bytes);
        if counted as f64 * 8.0 / seconds <= limit as f64 {
            return Ok(());
        }
        let measured = moved as f64 * 8.0 / seconds;
        Err(ExceededLimit::MeasuredRate { measured, seconds, limit })
    }
}

/// Number of streams of a test, in both directions.
fn count_streams(parameters: &Iperf3Parameters) -> u64 {
    let directions = if parameters.direction == DataDirection::Both { 2 } else { 1 };
    u64::from(parameters.streams) * directions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_above_a_limit_are_refused() {
        let limits = ServerLimits {
            rate: Some(RateLimit { bit_per_s: 1000, interval_s: 5.0 }),
            duration_s: Some(10),
        };
        let default = Iperf3Parameters { rate_bit_per_s: Some(500), ..Default::default() };
        let both = DataDirection::Both;
        for (parameters, number) in [
            (default.clone(), None),
            (Iperf3Parameters { streams: 2, ..default.clone() }, None),
            (Iperf3Parameters { streams: 3, ..default.clone() }, Some(27)),
            (Iperf3Parameters { streams: 2, direction: both, ..default.clone() }, Some(27)),
            (
                Iperf3Parameters { kernel_rate_bit_per_s: Some(1001), ..default.clone() },
                Some(27),
            ),
            (Iperf3Parameters { rate_bit_per_s: None, ..default.clone() }, None),
            (Iperf3Parameters { omit_s: 1, ..default.clone() }, Some(37)),
            (Iperf3Parameters { limit: TestLimit::Bytes(1), ..default.clone() }, Some(37)),
            (Iperf3Parameters { limit: TestLimit::Seconds(0), ..default }, Some(37)),
        ] {
            let found = limits.check_request(&parameters).err().map(ExceededLimit::number);
            assert_eq!(found, number, "{parameters:?}");
            assert_eq!(ServerLimits::default().check_request(&parameters), Ok(()));
        }
    }

    /// One reading a second; the limit of 800 bit/s is 100 bytes/s over three seconds.
    #[test]
    fn rate_is_averaged_over_the_time_of_the_limit() {
        let check_blocks = |interval_s: f64, rates: &[u64], block_bytes: u32| {
            let limit = RateLimit { bit_per_s: 800, interval_s };
            let parameters =
                Iperf3Parameters { block_bytes, streams: 2, ..Iperf3Parameters::default() };
            let mut watch = RateWatch::new(limit, &parameters, 0);
            let mut bytes = 0;
            rates.iter().zip(1..).find_map(|(rate, second)| {
                bytes += rate;
                watch.check(second * 1_000_000_000, bytes).err().map(|_| second)
            })
        };
        let check = |interval_s: f64, rates: &[u64]| check_blocks(interval_s, rates, 0);
        assert_eq!(check(3.0, &[100, 100, 100, 100]), None);
        assert_eq!(check(3.0, &[900, 0, 0]), Some(3), "not before a whole time has passed");
        assert_eq!(check(3.0, &[0, 0, 0, 200, 100, 1]), Some(6), "only the last three count");
        assert_eq!(check(3.0, &[300, 0, 0, 0, 300, 0, 0]), None);
        assert_eq!(check(0.0, &[900, 900, 900]), None, "only requests are checked");
        // Each of the two streams may be a block ahead.
        assert_eq!(check_blocks(3.0, &[120, 100, 100], 10), None);
        assert_eq!(check_blocks(3.0, &[121, 100, 100], 10), Some(3));
    }
}
