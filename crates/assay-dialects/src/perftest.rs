//! perftest's tables: the statistics of `ib_send_lat` and its siblings with their rules and layout.
//!
//! The rules are those of perftest since 2017 (`perftest_parameters.c`, `print_report_lat`). Its
//! order of sorting and cutting makes `t_max` the second largest of a thousand values.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Number of slowest values that are cut off: perftest's `LAT_MEASURE_TAIL`.
const TAIL: usize = 2;
const RULE: &str =
    "---------------------------------------------------------------------------------------\n";

/// Header of a latency table in duration mode (`RESULT_FMT_LAT_DUR`).
const MEAN_HEADER: &str = " #bytes        #iterations       t_avg[usec]    tps average\n";
/// Header of a latency table in iteration mode.
const LATENCY_HEADER: &str = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n";

/// Row of a latency table, in µs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyRow {
    /// Message size.
    pub bytes: u64,
    /// Number of messages sent.
    pub iterations: u64,
    /// Minimum.
    pub min_us: f64,
    /// Value at the index of the first one that is cut off: the second largest.
    pub max_us: f64,
    /// Median without the tail.
    pub typical_us: f64,
    /// Mean without the tail.
    pub avg_us: f64,
    /// Population standard deviation without the tail: √(Σ(x − mean)²/n). perftest since May 2022
    /// drops the fraction of each difference before squaring it; this does not.
    pub stdev_us: f64,
    /// 99th percentile by perftest's index, counted without the tail.
    pub p99_us: f64,
    /// 99.9th percentile, likewise.
    pub p999_us: f64,
}

impl LatencyRow {
    /// Computes the row from the times of all messages in order, in ns; `divisor` is 2 for half
    /// round trips. Returns `None` below perftest's own minimum of 5.
    pub fn from_times_ns(bytes: u64, times_ns: &[u64], divisor: u32) -> Option<Self> {
        // The last message is not timed, because no next message starts.
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
        // Index into all values including the tail, because it may be one beyond the kept ones.
        let quantile = |q: f64| sorted[(q * count as f64).ceil() as usize];
        Some(Self {
            bytes,
            iterations: times_ns.len() as u64,
            min_us: sorted[0],
            max_us: sorted[count],
            typical_us,
            avg_us,
            stdev_us: (squares / count as f64).sqrt(),
            p99_us: quantile(0.99),
            p999_us: quantile(0.999),
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

/// Row of a latency table in duration mode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeanRow {
    /// Message size.
    pub bytes: u64,
    /// Number of counted messages.
    pub iterations: u64,
    /// Mean in µs.
    pub avg_us: f64,
    /// Round trips or operations per second.
    pub per_s: f64,
}

impl MeanRow {
    /// Computes the row from the times of all counted messages, in ns; `divisor` is 2 for half
    /// round trips. Returns `None` without times.
    pub fn from_times_ns(bytes: u64, times_ns: &[u64], divisor: u32) -> Option<Self> {
        let (iterations, all_ns) = (times_ns.len() as u64, times_ns.iter().sum::<u64>());
        let mean_ns = all_ns as f64 / iterations as f64;
        let avg_us = mean_ns * 1e-3 / f64::from(divisor);
        (all_ns > 0).then_some(Self { bytes, iterations, avg_us, per_s: 1e9 / mean_ns })
    }
}

impl std::fmt::Display for MeanRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, iterations, avg_us, per_s } = self;
        writeln!(
            f,
            " {bytes:<7}       {iterations}            {avg_us:<7.2}        {per_s:<7.2}"
        )
    }
}

/// Row of a bandwidth table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BandwidthRow {
    /// Message size.
    pub bytes: u64,
    /// Number of messages.
    pub iterations: u64,
    /// Payload per second of the fastest window; `None` if not requested, printed as 0.00 like
    /// perftest with `-N`.
    pub peak_bytes_per_s: Option<f64>,
    /// Payload per second of the whole test; `None` if nothing arrived, printed as `NaN`.
    pub bytes_per_s: Option<f64>,
    /// Unit of printed rates.
    pub unit: RateUnit,
}

/// Unit of printed rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateUnit {
    /// 2²⁰ B/s.
    Mebibytes,
    /// 10⁹ bit/s, with `--report_gbits`.
    Gigabits,
}

impl RateUnit {
    const fn bytes_per_s(self) -> f64 {
        match self {
            Self::Mebibytes => 1_048_576.0,
            Self::Gigabits => 125_000_000.0,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Mebibytes => "MiB/sec",
            Self::Gigabits => "Gb/sec",
        }
    }
}

impl std::fmt::Display for BandwidthRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, iterations, unit, .. } = self;
        let bytes_per_s = self.bytes_per_s.unwrap_or(f64::NAN);
        let average = bytes_per_s / unit.bytes_per_s();
        let peak = self.peak_bytes_per_s.unwrap_or(0.0) / unit.bytes_per_s();
        let millions = bytes_per_s / *bytes as f64 * 1e-6;
        // Below 0.1 Gb/s, two decimals are too coarse (`REPORT_FMT_EXT`).
        if *unit == RateUnit::Gigabits && average < 0.1 {
            return writeln!(
                f,
                " {bytes:<7}    {iterations}           {peak:<7.6}            {average:<7.6}            {millions:<7.6}"
            );
        }
        writeln!(
            f,
            " {bytes:<7}    {iterations:<10}       {peak:<7.2}            {average:<7.2}\t\t     {millions:<7.6}"
        )
    }
}

/// Text above a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerftestHead {
    /// Title: `Send Latency Test`.
    pub title: String,
    /// Names and values, one per line.
    pub facts: Vec<(String, String)>,
    /// Kind of columns.
    pub columns: PerftestColumns,
}

/// Kind of columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PerftestColumns {
    /// Latencies in iteration mode.
    Times,
    /// Mean latencies in duration mode.
    Means,
    /// Bandwidths and message rates.
    Rates(RateUnit),
}

impl std::fmt::Display for PerftestHead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut lines = String::new();
        for (name, value) in &self.facts {
            writeln!(lines, " {name:<15} : {value}")?;
        }
        let columns = match self.columns {
            PerftestColumns::Times => LATENCY_HEADER.to_owned(),
            PerftestColumns::Means => MEAN_HEADER.to_owned(),
            PerftestColumns::Rates(unit) => {
                let unit = unit.name();
                format!(
                    " #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]\n"
                )
            }
        };
        write!(f, "{RULE}                    {}\n{lines}{RULE}{columns}", self.title)
    }
}

/// Row of any table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PerftestTableRow {
    /// Latencies in iteration mode.
    Times(LatencyRow),
    /// Mean latencies in duration mode.
    Means(MeanRow),
    /// Bandwidths and message rates.
    Rates(BandwidthRow),
}

impl std::fmt::Display for PerftestTableRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Times(row) => row.fmt(f),
            Self::Means(row) => row.fmt(f),
            Self::Rates(row) => row.fmt(f),
        }
    }
}

/// Lists all results of one size, then the header of its row. As in perftest, `-U` keeps the order;
/// `-H` sorts and drops the tail. Uses the same times as the row.
pub fn list_results(times_ns: &[u64], divisor: u32, sorted: bool) -> String {
    let (_, timed) = times_ns.split_last().unwrap_or((&0, &[]));
    let mut kept = timed.to_vec();
    if sorted {
        kept.sort_unstable();
        kept.truncate(kept.len().saturating_sub(TAIL));
    }
    let mut text = String::from("#, usec\n");
    for (at, ns) in kept.iter().enumerate() {
        // Six significant digits, like `%g`.
        let us = *ns as f64 * 1e-3 / f64::from(divisor);
        let places = (5 - us.log10().floor().clamp(0.0, 5.0) as i32) as usize;
        let figure = format!("{us:.places$}");
        let figure = match figure.contains('.') {
            true => figure.trim_end_matches('0').trim_end_matches('.'),
            false => &figure,
        };
        let _ = writeln!(text, "{}, {figure}", at + 1);
    }
    text + RULE + LATENCY_HEADER
}

/// Returns the line below a table.
pub const fn rule() -> &'static str {
    RULE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 messages with round trips of 2, 4, … µs give 999 values of 1 … 999 µs, of which 997
    /// count.
    #[test]
    fn latency_figures_follow_perftest_rules() {
        let times_ns: Vec<u64> = (1..=1000).rev().map(|us| us * 2000).collect();
        // The last message in time has the shortest time and is not counted.
        let row = LatencyRow::from_times_ns(2, &times_ns, 2).unwrap();
        assert_eq!((row.bytes, row.iterations), (2, 1000));
        assert_eq!((row.min_us, row.max_us, row.typical_us), (2.0, 999.0, 500.0));
        assert_eq!((row.avg_us, row.p99_us, row.p999_us), (500.0, 990.0, 999.0));
        // Deviation of a discrete uniform distribution: √((n² − 1)/12).
        let expected = ((997.0_f64.powi(2) - 1.0) / 12.0).sqrt();
        assert!((row.stdev_us - expected).abs() < 1e-9, "{}", row.stdev_us);
    }

    #[test]
    fn latency_row_needs_five_messages() {
        for n in 0..5 {
            assert_eq!(LatencyRow::from_times_ns(2, &vec![1000; n], 2), None, "{n}");
        }
        assert!(LatencyRow::from_times_ns(2, &[1000; 5], 2).is_some());
    }

    #[test]
    fn bandwidth_rows_match_perftest() {
        let row = |peak_bytes_per_s, bytes_per_s, unit| {
            let (bytes, iterations) = (65_536, 1000);
            let bytes_per_s = Some(bytes_per_s);
            BandwidthRow { bytes, iterations, peak_bytes_per_s, bytes_per_s, unit }.to_string()
        };
        let mebi = 1_048_576.0;
        // Formats are `REPORT_FMT` and `REPORT_FMT_EXT` of perftest 26.
        for (printed, expected) in [
            (
                row(Some(2000.0 * mebi), 1000.0 * mebi, RateUnit::Mebibytes),
                " 65536      1000             2000.00            1000.00\t\t     0.016000\n",
            ),
            (
                row(None, 1000.0 * mebi, RateUnit::Mebibytes),
                " 65536      1000             0.00               1000.00\t\t     0.016000\n",
            ),
            (
                row(Some(25e9), 12.5e9, RateUnit::Gigabits),
                " 65536      1000             200.00             100.00 \t\t     0.190735\n",
            ),
            (
                row(Some(2.5e6), 1.25e6, RateUnit::Gigabits),
                " 65536      1000           0.020000            0.010000            0.000019\n",
            ),
        ] {
            assert_eq!(printed, expected);
        }
        for (unit, name) in [(RateUnit::Mebibytes, "MiB/sec"), (RateUnit::Gigabits, "Gb/sec")] {
            let head = PerftestHead {
                title: String::new(),
                facts: vec![],
                columns: PerftestColumns::Rates(unit),
            };
            let columns = format!(
                " #bytes     #iterations    BW peak[{name}]    BW average[{name}]   MsgRate[Mpps]\n"
            );
            assert!(head.to_string().ends_with(&columns), "{head}");
        }
    }

    /// Format is `REPORT_FMT_LAT_DUR`: half of a 4 µs round trip, 250,000 round trips per second.
    #[test]
    fn duration_mode_prints_the_mean_only() {
        let row = MeanRow::from_times_ns(2, &[3000, 4000, 5000], 2).unwrap();
        assert_eq!(row.to_string(), " 2             3            2.00           250000.00\n");
        assert_eq!(MeanRow::from_times_ns(2, &[], 2), None);
    }

    #[test]
    fn lists_results_in_order_or_sorted_without_tail() {
        let times_ns = [5000, 1000, 4_000_000, 2468, 3000, 1];
        let unsorted = list_results(&times_ns, 2, false);
        let expected = "#, usec\n1, 2.5\n2, 0.5\n3, 2000\n4, 1.234\n5, 1.5\n";
        assert_eq!(unsorted, format!("{expected}{RULE}{LATENCY_HEADER}"));
        let sorted = list_results(&times_ns, 1, true);
        assert!(sorted.starts_with("#, usec\n1, 1\n2, 2.468\n3, 3\n-----"), "{sorted}");
    }

    #[test]
    fn latency_rows_match_perftest() {
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
        // Output of perftest 4.5+0.17 over soft-RoCE.
        let printed = " 2       1000          15.07          16838.93      28.82    \t       636.95      \t1987.32\t\t11892.80 \t\t16838.93\n";
        assert_eq!(row.to_string(), printed);
    }
}
