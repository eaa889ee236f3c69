//! Counters of I/O: one record per completion, merged exactly.
//!
//! Latencies are rounded only to a histogram's bucket; sums and squares are exact.

use assay_model::storage_outcome::IoTally;
use hdrhistogram::Histogram;

/// Digits of a latency in the totals: 0.1 %.
const TOTAL_DIGITS: u8 = 3;
/// Digits in the series: an hour of seconds at three digits would fill gigabytes.
const SERIES_DIGITS: u8 = 2;
/// Maximum latency that is distinguished: an hour, in nanoseconds.
const MAXIMUM_NS: u64 = 3_600_000_000_000;

/// Creates a tally for a total, fully allocated, so that recording never allocates.
pub(super) fn new_total() -> IoTally {
    empty(|| {
        Histogram::new_with_bounds(1, MAXIMUM_NS, TOTAL_DIGITS)
            .expect("the bounds and the digits are constants that the histogram allows")
    })
}

/// Creates a tally for one interval of the series.
pub(super) fn new_interval() -> IoTally {
    empty(|| {
        Histogram::new(SERIES_DIGITS)
            .expect("the digits are a constant that the histogram allows")
    })
}

fn empty(histogram: impl Fn() -> Histogram<u64>) -> IoTally {
    IoTally {
        count: 0,
        bytes: 0,
        service_ns: histogram(),
        from_intended_ns: histogram(),
        service_square_sum: 0.0,
        service_sum_ns: 0,
    }
}

/// Counts one I/O.
#[inline]
pub(super) fn record(
    tally: &mut IoTally,
    bytes: u64,
    service_ns: u64,
    from_intended_ns: Option<u64>,
) {
    tally.count += 1;
    tally.bytes += bytes;
    tally.service_sum_ns += service_ns;
    tally.service_square_sum += (service_ns as f64) * (service_ns as f64);
    record_latency(&mut tally.service_ns, service_ns);
    if let Some(ns) = from_intended_ns {
        record_latency(&mut tally.from_intended_ns, ns);
    }
}

/// Counts I/O whose latency is not measured.
pub(super) fn count(tally: &mut IoTally, bytes: u64) {
    tally.count += 1;
    tally.bytes += bytes;
}

/// Adds a latency to I/O that [`count`] counts.
pub(super) fn add_latency(tally: &mut IoTally, service_ns: u64) {
    tally.service_sum_ns += service_ns;
    tally.service_square_sum += (service_ns as f64) * (service_ns as f64);
    record_latency(&mut tally.service_ns, service_ns);
}

#[inline]
fn record_latency(histogram: &mut Histogram<u64>, ns: u64) {
    histogram
        .record(ns.min(MAXIMUM_NS))
        .expect("a histogram of the series grows, one of the totals reaches the maximum");
}

/// Counts I/O that was due and not completed when the phase ended: only its latency from the
/// intended start.
pub(super) fn record_overdue(tally: &mut IoTally, from_intended_ns: u64, count: u64) {
    tally
        .from_intended_ns
        .record_n(from_intended_ns.min(MAXIMUM_NS), count)
        .expect("a histogram of the series grows, one of the totals reaches the maximum");
}

/// Adds another tally.
pub(super) fn add(sum: &mut IoTally, part: &IoTally) {
    sum.count += part.count;
    sum.bytes += part.bytes;
    sum.service_sum_ns += part.service_sum_ns;
    sum.service_square_sum += part.service_square_sum;
    for (sum, part) in [
        (&mut sum.service_ns, &part.service_ns),
        (&mut sum.from_intended_ns, &part.from_intended_ns),
    ] {
        if !part.is_empty() {
            sum.add(part).expect("both have the same digits, and the sum reaches as far");
        }
    }
}

/// Clears a tally and keeps its memory.
pub(super) fn clear(tally: &mut IoTally) {
    tally.count = 0;
    tally.bytes = 0;
    tally.service_sum_ns = 0;
    tally.service_square_sum = 0.0;
    tally.service_ns.reset();
    tally.from_intended_ns.reset();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_exactly() {
        for make in [new_total, new_interval] {
            let (mut whole, mut sum, mut parts) = (make(), make(), [make(), make()]);
            for n in 1..10_000_u64 {
                let (service, intended) = (n * 37, (n % 3 == 0).then_some(n * 41));
                record(&mut whole, 4096, service, intended);
                record(&mut parts[(n % 2) as usize], 4096, service, intended);
            }
            parts.iter().for_each(|part| add(&mut sum, part));
            assert_eq!((sum.count, sum.bytes), (whole.count, whole.bytes));
            assert_eq!(sum.service_ns, whole.service_ns);
            assert_eq!(sum.from_intended_ns, whole.from_intended_ns);
            assert_eq!(sum.service_sum_ns, whole.service_sum_ns);
            clear(&mut sum);
            assert_eq!((sum.count, sum.service_ns.len()), (0, 0));
        }
    }

    #[test]
    fn no_latency_is_too_long() {
        for make in [new_total, new_interval] {
            let mut tally = make();
            record(&mut tally, 1, u64::MAX / 4, Some(0));
            assert_eq!(tally.service_ns.len(), 1);
            assert!(tally.service_ns.max() >= MAXIMUM_NS / 1000 * 999);
        }
    }
}
