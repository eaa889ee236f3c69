//! Compares the output with a line of a published result.

use assay_model::storage_outcome::{IntervalTally, IoTally};
use hdrhistogram::Histogram;

use super::*;
use crate::vdbench::output::{RowTime, StorageTotals, flat_file, histogram};

pub(super) const MOMENT: RowTime<'_> =
    RowTime { tod: "15:28:54.017", timestamp: "05/03/2016-15:28:54-UTC" };

/// Returns an interval of one second with `reads` reads of 1 ms and `writes` writes of 3 ms, 8 KiB
/// each.
pub(super) fn interval(reads: u64, writes: u64) -> IntervalTally {
    let tally = |count: u64, ns: u64| {
        let mut service_ns = Histogram::new(2).unwrap();
        service_ns.record_n(ns, count).unwrap();
        IoTally {
            count,
            bytes: count * 8192,
            service_ns,
            from_intended_ns: Histogram::new(2).unwrap(),
            service_square_sum: count as f64 * (ns as f64).powi(2),
            service_sum_ns: count * ns,
        }
    };
    IntervalTally {
        start_s: 0.0,
        length_s: 1.0,
        warmup: false,
        reads: tally(reads, 1_000_000),
        writes: tally(writes, 3_000_000),
        streams: Vec::new(),
        in_flight: 1.25,
        cpu_user: 0.02,
        cpu_system: 0.03,
    }
}

pub(super) fn runs(text: &str) -> Vec<crate::vdbench::RunLabel> {
    compile_valid(&format!("sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1,xfersize=8k\n{text}")).runs
}

#[test]
fn formats_run_headers() {
    let runs = runs(
        "rd=rd1,wd=wd1,iorate=max,threads=32,warmup=15,elapsed=60,interval=1\n\
         rd=rd2,wd=wd1,iorate=500,elapsed=60,interval=1",
    );
    let headers: Vec<String> =
        runs.iter().map(|run| output::starting_line(run, None)).collect();
    assert_eq!(
        headers,
        [
            "Starting RD=rd1; I/O rate: Uncontrolled MAX; elapsed=60 warmup=15; For loops: threads=32",
            "Starting RD=rd2; I/O rate: 500; elapsed=60; For loops: None",
        ]
    );
    let firsts: Vec<usize> = runs.iter().map(output::first_averaged_interval).collect();
    assert_eq!(firsts, [16, 2]);
}

#[test]
fn table_columns_match_published_output() {
    // From a published output of 5.04.03: columns begin and end at the same positions.
    let published = "15:28:54.017 avg_16-75     916.12     7.16    8192  69.76   34.922   49.906    \
                     0.348  545.142   50.451  32.0   4.0   1.8";
    let mut measured = StorageTotals::from_interval(&interval(3, 1));
    measured.add(&interval(3, 1));
    let line = output::table_line("15:28:54.017", "avg_16-75", &measured);
    assert_eq!(line.len(), published.len());
    expect_test::expect![[r#"
        Nov 21, 2026  interval        i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue  cpu%  cpu%
                                     rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth sys+u   sys
        15:28:54.017 avg_16-75       4.00     0.03    8192  75.00    1.500    1.000    3.000    3.015    0.926   1.2   5.0   3.0
    "#]].assert_eq(&format!("{}\n{line}\n", output::heading("Nov 21, 2026")));
}

#[test]
fn flat_file_has_a_name_per_column() {
    let run = runs("rd=rd1,wd=wd1,iorate=500,elapsed=60,interval=1").remove(0);
    let row = flat_file::row(
        MOMENT,
        &run,
        "1",
        Some(500.0),
        &StorageTotals::from_interval(&interval(3, 1)),
    );
    let heading = flat_file::heading();
    let heading = heading.lines().last().unwrap();
    let pairs: Vec<String> = heading
        .split_whitespace()
        .zip(row.split_whitespace())
        .map(|(name, value)| {
            format!("{name}={}\n", value.replace(env!("CARGO_PKG_VERSION"), "VERSION"))
        })
        .collect();
    assert_eq!(heading.split_whitespace().count(), row.split_whitespace().count());
    expect_test::expect![[r#"
        tod=15:28:54.017
        timestamp=05/03/2016-15:28:54-UTC
        Run=rd1
        Interval=1
        reqrate=500.0000
        rate=4.0000
        MB/sec=0.0312
        bytes/io=8192
        read%=75.0000
        resp=1.5000
        read_resp=1.0000
        write_resp=3.0000
        resp_max=3.0147
        resp_std=1.0000
        xfersize=8192
        threads=8.0000
        rdpct=100.0000
        rhpct=0.0000
        whpct=0.0000
        seekpct=100.0000
        lunsize=1.0000
        version=assayVERSION
        compratio=1.0000
        dedupratio=n/a
        queue_depth=1.2500
        cpu_used=5.0000
        cpu_user=2.0000
        cpu_kernel=3.0000
        cpu_wait=n/a
        cpu_idle=95.0000
    "#]]
    .assert_eq(&pairs.concat());
}

#[test]
fn rate_is_missed_only_beyond_chance() {
    let table = [
        (100.0, 376, 4.0, false),
        (100.0, 330, 4.0, true),
        (5000.0, 19_500, 4.0, false),
        (5000.0, 16_000, 4.0, true),
        (100.0, 0, 0.0, false),
    ];
    for (rate, count, seconds, expected) in table {
        assert_eq!(output::is_rate_missed(rate, count, seconds), expected, "{rate} {count}");
    }
}

#[test]
fn histogram_counts_each_io_once() {
    let text = histogram::format_sections(&StorageTotals::from_interval(&interval(3, 1)));
    let shown: String = text
        .lines()
        .filter(|line| !line.contains(" 0   0.0000"))
        .fold(String::new(), |all, line| all + line + "\n");
    expect_test::expect![[r#"
        Reads and writes:
          min(ms) <     max(ms)        count       %%    cum%%  '+': Individual%; '+-': Cumulative%

            1.000 <       2.000            3  75.0000  75.0000  +++++++++++++++++++++++++++++++++++++
            2.000 <       4.000            1  25.0000 100.0000  ++++++++++++-------------------------------------

        Reads:
          min(ms) <     max(ms)        count       %%    cum%%  '+': Individual%; '+-': Cumulative%

            1.000 <       2.000            3 100.0000 100.0000  ++++++++++++++++++++++++++++++++++++++++++++++++++

        Writes:
          min(ms) <     max(ms)        count       %%    cum%%  '+': Individual%; '+-': Cumulative%

            2.000 <       4.000            1 100.0000 100.0000  ++++++++++++++++++++++++++++++++++++++++++++++++++

    "#]]
    .assert_eq(&shown);
}
