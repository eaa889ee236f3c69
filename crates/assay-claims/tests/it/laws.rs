//! Figures that contradict each other and so cannot come from one measurement, and similar figures
//! that are plausible.

use std::fmt::Write as _;

use assay_claims::lint::{Rule, lint};

/// Returns the figures of a page that the rule `impossible` reports, as printed.
fn impossible(text: &str) -> Vec<String> {
    let findings = lint(text, None);
    let findings = findings.iter().filter(|it| it.rule == Rule::Impossible);
    findings.map(|it| text[it.start..it.end].to_owned()).collect()
}

fn check(cases: &[(&str, &[&str])]) {
    let mut mismatches = String::new();
    for (text, expected) in cases {
        let reported = impossible(text);
        if reported != *expected {
            writeln!(mismatches, "{text}: {reported:?}, not {expected:?}").unwrap();
        }
    }
    assert!(mismatches.is_empty(), "{mismatches}");
}

/// Returns a table of one heading and one row.
fn table(heading: &str, row: &str) -> String {
    let separator = "-|".repeat(heading.matches('|').count() - 1);
    format!("{heading}\n|{separator}\n{row}\n")
}

#[test]
fn checks_order_of_statistics() {
    let mut mismatches = String::new();
    for (heading, row, expected) in [
        ("| size | min | mean | max |", "| 8 | 2.0 | 1.5 | 3.0 |", &["1.5"][..]),
        ("| size | min | mean | max |", "| 8 | 1.5 | 2.0 | 3.0 |", &[]),
        ("| Minimum [µs] | Average [µs] | Maximum [µs] |", "| 1 | 9 | 8 |", &["8"]),
        ("| min | median | p99 | max |", "| 1 µs | 4 µs | 3 µs | 9 µs |", &["3"]),
        ("| min | median | p99 | max |", "| 1 µs | 900 µs | 1.2 ms | 9 ms |", &[]),
        ("| p50 | p90 | p99.9 |", "| 5 | 7 | 6 |", &["6"]),
        // A mean exceeds the 99th percentile where a few values are very large.
        ("| median | mean | p99 | max |", "| 1 | 50 | 3 | 5000 |", &[]),
        ("| мин | среднее | макс |", "| 3 | 2 | 4 |", &["2"]),
        ("| 最小値 | 平均 | 最大値 |", "| 3 | 4 | 2 |", &["2"]),
        ("| 읽기 최소 | 읽기 평균 |", "| 3 | 2 |", &["2"]),
        ("| BW peak[MB/sec] | BW average[MB/sec] |", "| 900 | 1000 |", &["900"]),
        // Two groups.
        ("| min | max | min | max |", "| 1 | 2 | 9 | 8 |", &["8"]),
        // Two different subjects.
        ("| min latency | max throughput |", "| 12 | 5 |", &[]),
        ("| read min | write max |", "| 12 | 5 |", &[]),
        ("| min latency (max rate) | max latency |", "| 12 | 5 |", &[]),
    ] {
        let reported = impossible(&table(heading, row));
        if reported != expected {
            writeln!(mismatches, "{heading} {row}: {reported:?}, not {expected:?}").unwrap();
        }
    }
    assert!(mismatches.is_empty(), "{mismatches}");
}

#[test]
fn rmax_does_not_exceed_rpeak() {
    check(&[
        ("4 TeraFLOPS (Rpeak, FP64), 8 TeraFLOPS (Rmax, FP32)", &["8"]),
        ("~1,000 GigaFLOPS (Rpeak), ~860 GigaFLOPS (Rmax)", &[]),
        ("~1 TFLOPS (Rpeak), ~1 TFLOPS (Rmax)", &[]),
        ("Rmax is 860 GFLOP/s and Rpeak 1 TFLOP/s", &[]),
        ("~4 TFLOPS (Rpeak, 2.40 GHz), 8 TFLOPS (Rmax)", &[]),
        ("8 TFLOPS (Rmax), 4 TFLOPS (Rpeak, 2,40 ГГц)", &[]),
        ("4 TFLOPS (Rpeak), 8 TFLOPS (Rmax at 2.40 GHz)", &["8"]),
        // A peak of another instruction set is no limit.
        ("Rmax = 12.5 TFLOP/s with AVX-512 (Rpeak 10 TFLOP/s at AVX2).", &[]),
        ("4 TFLOPS (Rpeak, AVX2), 8 TFLOPS (Rmax)", &[]),
        ("4 TFLOPS (Rpeak, AVX2), 8 TFLOPS (Rmax, AVX2)", &["8"]),
        ("4 TFLOPS (Rpeak), 8 TFLOPS (Rmax, AVX-512)", &["8"]),
        ("The CPU has AVX2 and AVX-512. 4 TFLOPS (Rpeak), 8 TFLOPS (Rmax).", &["8"]),
        (&table("| n | Rmax AVX-512 | Rpeak AVX2 |", "| 9 | 99 GFLOP/s | 96 GFLOP/s |"), &[]),
        (&table("| n | Rmax | Rpeak at 2 GHz |", "| 9 | 99 GFLOP/s | 96 GFLOP/s |"), &[]),
        (&table("| n | Rmax [GFLOP/s] | Rpeak [GFLOP/s] |", "| 9 | 100 | 96 |"), &["100"]),
        (&table("| n | Rmax | Rpeak |", "| 9 | 91 GFLOP/s | 96 GFLOP/s |"), &[]),
    ]);
}

#[test]
fn checks_littles_law() {
    let heading = "| in flight | rate [IOPS] | latency [ms] |";
    let with_percentile = "| in flight | rate | p99 |";
    check(&[
        (&table(heading, "| 4 | 3500 | 1.14 |"), &[]),
        (&table(heading, "| 4 | 5000 | 1.30 |"), &["5000"]),
        (
            &table("| en cours | débit [IOPS] | latence [ms] |", "| 4 | 5000 | 1,30 |"),
            &["5000"],
        ),
        (
            &table("| in Bearbeitung | Rate [IOPS] | Latenz [ms] |", "| 4 | 5000 | 1,30 |"),
            &["5000"],
        ),
        (&table("| 在途 | 速率 [IOPS] | 延迟 [ms] |", "| 4 | 5000 | 1.30 |"), &["5000"]),
        (&table("| глубина | частота [IOPS] | p99 [мс] |", "| 4 | 5000 | 1,30 |"), &[]),
        // An open loop has fewer I/O in flight than its limit.
        (&table(heading, "| 64 | 3500 | 1.14 |"), &[]),
        (&table(with_percentile, "| 4 | 5000 IOPS | 9 ms |"), &[]),
        (&table("| queue depth | rate | mean |", "| 8 | 25 kIO/s | 990 µs |"), &["25 kIO/s"]),
    ]);
}

/// Jobs and hosts multiply the depth.
#[test]
fn littles_law_counts_jobs() {
    let heading = "| jobs | hosts | in flight | rate [IOPS] | latency [ms] |";
    check(&[
        (&table(heading, "| 2 | 2 | 4 | 5000 | 1.30 |"), &[]),
        (&table(heading, "| 1 | 1 | 4 | 5000 | 1.30 |"), &["5000"]),
    ]);
}

/// Statistics in rows are checked as those in columns.
#[test]
fn checks_order_of_statistics_in_rows() {
    let rows = |rows: [&str; 3]| {
        format!("| latency | read [µs] | write [µs] |\n|-|-|-|\n{}\n", rows.join("\n"))
    };
    check(&[
        (
            &rows(["| min | 2.0 | 3.0 |", "| avg | 1.5 | 4.0 |", "| max | 9.0 | 9.0 |"]),
            &["1.5"],
        ),
        (&rows(["| min | 1.0 | 3.0 |", "| avg | 1.5 | 4.0 |", "| max | 9.0 | 9.0 |"]), &[]),
        (&rows(["| p50 | 4 | 3 |", "| p99 | 9 | 2 |", "| p99.9 | 10 | 20 |"]), &["2"]),
        // Two parts of one table.
        (&rows(["| min | 9 | 3 |", "| max | 10 | 4 |", "| min | 1 | 1 |"]), &[]),
    ]);
}

#[test]
fn checks_percentages_of_columns() {
    let rows = |last: &str| {
        format!(
            "| test | old | new | change |\n|-|-|-|-|\n| a | 100 | 150 | 50 % |\n\
             | b | 200 | 220 | +10 % |\n| c | 50 | 40 | -20 % |\n| d | 80 | 100 | {last} |\n"
        )
    };
    check(&[
        (&rows("25 %"), &[]),
        // A load in percent is of something else.
        (&rows("52 %").replace("change", "CPU"), &[]),
        (&rows("52 %"), &["52"]),
        // Percentages of something else.
        (
            "| a | b | c |\n|-|-|-|\n| 1 | 2 | 3 % |\n| 4 | 5 | 7 % |\n| 6 | 7 | 9 % |\n| 8 | 9 | 4 % |",
            &[],
        ),
    ]);
}

/// Decimal and binary units of one quantity differ by 1.0486 for mega.
#[test]
fn checks_decimal_and_binary_columns() {
    let rows = |last: &str| {
        format!(
            "| test | rate (MiB/s) | rate (MB/s) |\n|-|-|-|\n| a | 100 | 104.86 |\n\
             | b | 200 | 209.72 |\n| c | 300 | 314.57 |\n| d | 400 | {last} |\n"
        )
    };
    check(&[(&rows("419.43"), &[]), (&rows("409.60"), &["409.60"])]);
    let equal = "| test | rate (MiB/s) | rate (MB/s) |\n|-|-|-|\n| a | 123 | 123 |\n\
                 | b | 201 | 201 |\n| c | 304 | 304 |\n";
    assert_eq!(lint(equal, None).len(), 1, "{:?}", lint(equal, None));
}

/// Units in a second row of the heading.
#[test]
fn reads_heading_in_two_rows() {
    let rows = |last: &str| {
        format!(
            "| n | rate | goodput |\n|-|-|-|\n| | MB/s | Mbit/s |\n| 1 | 10.0 | 80.0 |\n\
             | 2 | 20.0 | 160.0 |\n| 3 | 30.0 | {last} |\n"
        )
    };
    check(&[(&rows("240.0"), &[]), (&rows("24.0"), &["24.0"])]);
}

/// A heading of HTML that spans three columns and has their unit, next to one that spans two rows.
#[test]
fn reads_spanning_headings_of_html() {
    let table = |mean: &str, second: &str| {
        format!(
            "<table><tr><th rowspan=\"2\">t</th><th colspan=\"3\">latency (ms)</th></tr>{second}\
             <tr><td>a</td><td>2.4</td><td>{mean}</td><td>9</td></tr></table>"
        )
    };
    let heads = "<tr><th>min</th><th>mean</th><th>max</th></tr>";
    let two = "<tr><th>min</th><th>mean</th></tr>";
    let cells = "<tr><td>min</td><td>mean</td><td>max</td></tr>";
    check(&[
        (&table("2.6", heads), &[]),
        (&table("2.1", heads), &["2.1"]),
        // Neither the first row nor these are a heading of all columns.
        (&table("2.1", two), &[]),
        (&table("2.1", cells), &[]),
    ]);
}

/// A link carries an eighth of its rate in bytes.
#[test]
fn checks_rate_of_link_in_sentence() {
    for (text, expected) in [
        ("The copy reaches 9.4 GB/s over a 10 Gbit/s Ethernet link.", 1),
        ("The copy reaches 9.4 Gbit/s over a 10 Gbit/s Ethernet link.", 0),
        ("The copy reaches 1.1 GB/s over a 10 Gbit/s Ethernet link.", 0),
        ("Both directions reach 2.3 GB/s over a 10 Gbit/s network.", 0),
        ("Disks reach 9.4 GB/s. They are behind a 10 Gbit/s network.", 0),
        ("Two ports of a 10 Gbit/s network reach 9.4 GB/s.", 0),
    ] {
        let findings = lint(text, None);
        assert_eq!(findings.len(), expected, "{text}: {findings:?}");
    }
}

/// A disk carries no more than its rate.
#[test]
fn checks_rate_of_disk_in_sentence() {
    for (text, expected) in [
        ("The copy reached 950 MB/s on a 550 MB/s SSD.", 1),
        ("On a P30 disk (200 MB/s) fio reached 350 MB/s.", 1),
        ("Der Test erreicht 950 MB/s auf einer Festplatte (200 MB/s).", 1),
        ("The copy reached 560 MB/s on a 550 MB/s SSD.", 0),
        ("Two 550 MB/s SSDs reached 1,050 MB/s.", 0),
        ("From the cache it reached 3 GB/s on a 550 MB/s SSD.", 0),
        ("The NVMe drive reached 3.5 GB/s, faster than the 550 MB/s SSD.", 0),
        ("The server reached 3 GB/s. It has a 550 MB/s SSD.", 0),
    ] {
        let findings = lint(text, None);
        assert_eq!(findings.len(), expected, "{text}: {findings:?}");
    }
}

#[test]
fn finds_lost_prefix() {
    let rows = |last: &str| {
        format!(
            "| t | IOPS |\n|-|-|\n| a | 102k |\n| b | 98k |\n| c | 110k |\n| d | {last} |\n"
        )
    };
    for (last, expected) in [("115", 1), ("115k", 0), ("3", 0), ("115 IOPS", 1), ("99,000", 0)]
    {
        let findings = lint(&rows(last), None);
        assert_eq!(findings.len(), expected, "{last}: {findings:?}");
    }
}

#[test]
fn checks_unit_conversions() {
    check(&[
        ("757,820.9 MB/s = ~740 GB/s", &["740"]),
        ("757,820.9 MB/s = ~760 GB/s", &[]),
        ("4,500 MiB/s (4.39 GiB/s)", &[]),
        ("4.5 GiB/s (4,500 MiB/s)", &["4,500"]),
        ("16 Gbit/s = 2000 MB/s", &[]),
        ("16 Gbit/s = 2000 MiB/s", &["2000"]),
        ("100 Gbit/s (12.5 GB/s)", &[]),
        // A burst next to the sustained rate, and a rate per part.
        ("125 MB/s (1 GB/s)", &[]),
        ("260 GB/s (32-33 GB/s per CCX)", &[]),
        ("1 TiB (1024 GiB)", &[]),
    ]);
}

/// A single fall of bandwidth after steady growth is a misprint; several falls are noise, and an
/// interval shows the uncertainty.
#[test]
fn finds_single_fall_of_bandwidth() {
    let sizes = [32768, 65536, 131_072, 262_144, 524_288];
    let page = |rates: &[f64], extra_column: [&str; 2]| {
        let rows = sizes.iter().zip(rates);
        let rows =
            rows.map(|(size, rate)| format!("| {size} | {rate:.2} |{}\n", extra_column[1]));
        format!(
            "| #bytes | Bandwidth (MB/s) |{}\n|-|-|\n{}",
            extra_column[0],
            rows.collect::<String>()
        )
    };
    for (rates, extra_column, expected) in [
        (&[900.0, 950.0, 1000.0, 1050.0, 930.0][..], ["", ""], &["930.00"][..]),
        (&[900.0, 950.0, 1000.0, 1050.0, 1040.0], ["", ""], &[]),
        (&[900.0, 950.0, 800.0, 1050.0, 930.0], ["", ""], &[]),
        (&[900.0, 700.0, 1000.0, 1050.0, 930.0], ["", ""], &[]),
        (&[900.0, 950.0, 1000.0, 1050.0, 930.0], [" interval 95 % |", " 900–1060 |"], &[]),
        (&[900.0, 950.0, 1000.0, 1050.0, 930.0], [" 95% 区间 |", " |"], &[]),
        (&[900.0, 950.0, 1000.0, 1050.0, 930.0], [" note |", " |"], &["930.00"]),
    ] {
        let text = page(rates, extra_column)
            .replace("|-|-|", if extra_column[0].is_empty() { "|-|-|" } else { "|-|-|-|" });
        assert_eq!(impossible(&text), expected, "{text}");
    }
}

#[test]
fn percentiles_of_other_subjects_have_no_order() {
    check(&[
        ("For A p99 12 ms, for B p50 3 ms, p99 9 ms, p50 10 ms for C.", &[]),
        ("For A p99 12.5 ms, for B p50 3.2 ms, p99 9.1 ms, p50 10 ms for C.", &[]),
        ("On ext4 p99 9 ms, p50 10 ms on XFS.", &[]),
        ("For A p50 10 ms, p99 9 ms.", &["9"]),
        ("p50 10 ms, p99 9 ms for A.", &["9"]),
        ("Good for A. p50 10 ms, p99 9 ms for B.", &["9"]),
    ]);
}

#[test]
fn messages_name_the_right_value() {
    for (text, expected) in [
        ("10 Gbit/s = 10 GB/s", "`10 Gbit/s` would be 1.25 GB/s"),
        ("25 Gbit/s = 25 GB/s", "`25 Gbit/s` would be 3.125 GB/s"),
        ("5 ms = 5000 ns", "`5 ms` would be 5000000 ns"),
        ("757,820.9 MB/s = ~74 GB/s", "`757,820.9 MB/s` would be 757.8209 GB/s"),
        (
            &table("| nodes | depth | IOPS | mean |", "| 2 | 1 | 1000 IOPS | 9 ms |"),
            "rate × latency = 9.0 in flight, but the depth × nodes is 2 (Little's law)",
        ),
    ] {
        let findings = lint(text, None);
        let messages: Vec<&str> = findings.iter().map(|it| it.message.as_str()).collect();
        assert!(messages.contains(&expected), "{text}: {messages:?}");
    }
}
