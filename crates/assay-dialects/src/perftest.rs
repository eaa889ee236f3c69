//! perftest's tables: the figures that `ib_send_lat` and its siblings print of the same measurements, by
//! their rules, and their layout.
//!
//! The rules are those of perftest since 2017 (`perftest_parameters.c`, `print_report_lat`); the order in
//! which it sorts and cuts is what makes its `t_max` the second largest value of a thousand.

use std::fmt::Write as _;

/// What the two slowest are cut off from: perftest's `LAT_MEASURE_TAIL`.
const TAIL: usize = 2;
const RULE: &str =
    "---------------------------------------------------------------------------------------\n";

/// A row of a latency table, in µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyRow {
    /// Size of a message.
    pub bytes: u64,
    /// Messages that were sent.
    pub iterations: u64,
    /// The minimum.
    pub min_us: f64,
    /// The maximum without the tail: the second largest but one cut.
    pub max_us: f64,
    /// The median without the tail.
    pub typical_us: f64,
    /// The mean without the tail.
    pub avg_us: f64,
    /// The population's standard deviation without the tail: √(Σ(x − mean)²/n). perftest between May 2022
    /// and now drops the fraction of each difference before it squares it; this does not.
    pub stdev_us: f64,
    /// 99 % of those without the tail are at most this.
    pub p99_us: f64,
    /// The same of 99.9 %.
    pub p999_us: f64,
}

impl LatencyRow {
    /// From the times of all messages in order, in ns; `divisor` is 2 where half of a round trip counts.
    /// `None` of fewer than perftest itself can print (5).
    #[must_use]
    pub fn of(bytes: u64, times_ns: &[u64], divisor: u32) -> Option<Self> {
        // The last message has no successor whose start would time it.
        let (_, timed) = times_ns.split_last()?;
        let count = timed.len().checked_sub(TAIL).filter(|count| *count >= 2)?;
        let mut sorted: Vec<f64> =
            timed.iter().map(|ns| *ns as f64 * 1e-3 / f64::from(divisor)).collect();
        sorted.sort_by(f64::total_cmp);
        let kept = &sorted[..count];
        let middle = count / 2;
        let typical_us = match count % 2 {
            0 => f64::midpoint(kept[middle - 1], kept[middle]),
            _ => kept[middle],
        };
        let avg_us = kept.iter().sum::<f64>() / count as f64;
        let squares: f64 = kept.iter().map(|us| (us - avg_us).powi(2)).sum();
        // Into all of them, the tail too: the index may be one beyond the kept.
        let at = |q: f64| sorted[(q * count as f64).ceil() as usize];
        Some(Self {
            bytes,
            iterations: times_ns.len() as u64,
            min_us: sorted[0],
            max_us: sorted[count],
            typical_us,
            avg_us,
            stdev_us: (squares / count as f64).sqrt(),
            p99_us: at(0.99),
            p999_us: at(0.999),
        })
    }
}

impl std::fmt::Display for LatencyRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, iterations, min_us, max_us, typical_us, .. } = self;
        let Self { avg_us, stdev_us, p99_us, p999_us, .. } = self;
        writeln!(
            f,
            " {bytes:<7} {iterations:<7}       {min_us:<7.2}        {max_us:<7.2}      {typical_us:<7.2}  \t       {avg_us:<7.2}     \t{stdev_us:<7.2}\t\t{p99_us:<7.2} \t\t{p999_us:<7.2}"
        )
    }
}

/// A row of a bandwidth table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandwidthRow {
    /// Size of a message.
    pub bytes: u64,
    /// Messages.
    pub iterations: u64,
    /// Payload per second of the whole.
    pub bytes_per_s: f64,
}

impl std::fmt::Display for BandwidthRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, iterations, .. } = self;
        let mebibytes = self.bytes_per_s / f64::from(1 << 20);
        let millions = self.bytes_per_s / *bytes as f64 * 1e-6;
        writeln!(
            f,
            " {bytes:<7}    {iterations:<10}       {mebibytes:<7.2}\t\t   {millions:<7.6}"
        )
    }
}

/// What stands above a table.
#[derive(Debug, Clone)]
pub struct Head {
    /// `Send Latency Test`.
    pub title: String,
    /// Lines of names and values.
    pub facts: Vec<(&'static str, String)>,
    /// Whether it is a table of rates.
    pub is_bandwidth: bool,
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut lines = String::new();
        for (name, value) in &self.facts {
            writeln!(lines, " {name:<15} : {value}")?;
        }
        let columns = match self.is_bandwidth {
            true => " #bytes     #iterations    BW average[MiB/sec]   MsgRate[Mpps]\n",
            false => {
                " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
            }
        };
        write!(f, "{RULE}                    {}\n{lines}{RULE}{columns}", self.title)
    }
}

/// The line below a table.
#[must_use]
pub const fn rule() -> &'static str {
    RULE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `ib_send_lat` makes of 1000 messages of 2, 4, … µs there and back: 999 values of 1 … 999 µs, of
    /// which 997 count.
    #[test]
    fn figures_follow_the_rules_of_perftest() {
        let times_ns: Vec<u64> = (1..=1000).rev().map(|us| us * 2000).collect();
        // The last of them in time is the shortest, and is not timed.
        let row = LatencyRow::of(2, &times_ns, 2).unwrap();
        assert_eq!((row.bytes, row.iterations), (2, 1000));
        assert_eq!((row.min_us, row.max_us, row.typical_us), (2.0, 999.0, 500.0));
        assert_eq!((row.avg_us, row.p99_us, row.p999_us), (500.0, 990.0, 999.0));
        // Of a discrete uniform distribution: √((n² − 1)/12).
        let expected = ((997.0_f64.powi(2) - 1.0) / 12.0).sqrt();
        assert!((row.stdev_us - expected).abs() < 1e-9, "{}", row.stdev_us);
    }

    #[test]
    fn too_few_have_no_figures() {
        for n in 0..5 {
            assert_eq!(LatencyRow::of(2, &vec![1000; n], 2), None, "{n}");
        }
        assert!(LatencyRow::of(2, &[1000; 5], 2).is_some());
    }

    #[test]
    fn rows_are_laid_out_as_perftest_does() {
        let row = LatencyRow {
            bytes: 2,
            iterations: 1000,
            min_us: 15.07,
            max_us: 16838.93,
            typical_us: 28.82,
            avg_us: 636.95,
            stdev_us: 1987.32,
            p99_us: 11892.80,
            p999_us: 16838.93,
        };
        // From perftest 4.5+0.17 over soft-RoCE.
        let printed = " 2       1000          15.07          16838.93      28.82    \t       636.95      \t1987.32\t\t11892.80 \t\t16838.93\n";
        assert_eq!(row.to_string(), printed);
    }
}
