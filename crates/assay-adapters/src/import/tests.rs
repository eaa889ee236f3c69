//! Tests of every import format: detection and figures. Whole files are among the goldens.

use std::fmt::Write as _;
use std::path::Path;

use assay_model::attribute::Attribute;
use assay_model::doubt::{Doubt, FigureOrder};
use expect_test::{Expect, expect};

use super::*;
use crate::outputs::ParsedOutput;

/// Formats the detected format and the measurements of a text, one line per figure.
fn format_import(text: &str) -> String {
    let mut out = String::new();
    match read(text) {
        Err(error) => {
            let _ = writeln!(out, "line {:?}: {error}", error.line());
        }
        Ok(ReadFile { format, contents, .. }) => {
            let found = contents.measurements;
            let _ = writeln!(out, "{}", format.name);
            for it in found {
                let reported: Vec<String> = it
                    .dimensions
                    .iter()
                    .map(|(name, value)| format!("{}={value:?}", name.name()))
                    .collect();
                let _ = writeln!(out, "{} [{}]", it.benchmark.id(), reported.join(" "));
                for one in &it.parsed.values {
                    let apart: Vec<String> =
                        one.own_dimensions.values().map(|value| format!("{value:?}")).collect();
                    let _ =
                        writeln!(out, "  {} {} {:?}", one.metric, apart.join(" "), one.samples);
                }
                for doubt in &it.parsed.doubts {
                    let _ = writeln!(out, "  doubt {}", doubt.id());
                }
            }
        }
    }
    out
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&format_import(text));
}

fn golden(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(path);
    std::fs::read_to_string(path).unwrap()
}

/// Every golden output of a tool that assay starts is also recognised by the import.
#[test]
fn detects_formats_by_content() {
    for (path, format) in [
        ("fio/3.33-mix.out", "fio-json"),
        ("fio/3.33-note-before.out", "fio-json"),
        ("ior/3.3.0-read.out", "ior"),
        ("ior/4.0.0-json.out", "ior"),
        ("ior/4.1.0-csv.out", "ior"),
        ("iperf3/3.12-tcp-2.out", "iperf3-json"),
        ("iperf3/3.12-udp-loss.out", "iperf3-json"),
        ("osu/7.5-latency.out", "osu"),
        ("osu/7.5-barrier.out", "osu"),
        ("osu/7.0-mbw_mr.out", "osu"),
        ("imb/2021.11-allreduce.out", "imb"),
        ("xhpl/2.3-three-rows.out", "hpl"),
        ("stream/5.10-two-threads.out", "stream"),
        ("vdbench/5.04.06-mix.out", "vdbench-flatfile"),
        ("qperf/0.4.11-tcp_lat.out", "qperf"),
        ("qperf/0.4.11-tcp_bw.out", "qperf"),
    ] {
        let read = read(&golden(path));
        assert_eq!(read.as_ref().map(|it| it.format.name), Ok(format), "{path}: {read:?}");
        assert!(!read.unwrap().contents.measurements.is_empty(), "{path}");
    }
}

#[test]
fn rejects_unknown_and_broken_files_with_line() {
    check(
        "",
        &expect![[r#"
        line Some(1): unknown format: the file is empty
    "#]],
    );
    check(
        "\n\nhello, world\n",
        &expect![[r#"
        line Some(1): unknown format; it begins with "hello, world"
    "#]],
    );
    check(
        "{\n  \"schema\": 2,\n  \"results\": []\n}\n",
        &expect![[r#"
        line Some(1): it is a document of assay, not the output of a tool
    "#]],
    );
    check(
        "{\n  \"schema\": \"https://example.org/results\"\n}\n",
        &expect![[r#"
        line Some(1): unknown format; it begins with "{"
    "#]],
    );
    check(
        "{\"fio version\": \"fio-3.36\", \"jobs\": [",
        &expect![[r#"
            line Some(1): recognised as fio 2 and 3 --output-format=json or json+, also of --client, but the output is truncated: the end of fio's JSON is missing
        "#]],
    );
    let broken = golden("stream/5.10-two-threads.out").replace("Solution Validates", "");
    check(
        &broken,
        &expect![[r#"
            line Some(33): recognised as STREAM 5: C, Fortran, MPI, but the output is truncated: STREAM's "Solution Validates" is missing
        "#]],
    );
}

/// A log without a result, but with the message of a program, is refused with this message.
#[test]
fn messages_of_programs_are_the_cause() {
    let table = [
        (
            "fio: unrecognized option '--bogus'\n",
            1,
            "fio reported: unrecognized option '--bogus'",
        ),
        (
            "note\niperf3: option requires an argument -- 'P'\n",
            2,
            "iperf3 reported: option requires",
        ),
        (
            "/bin/bash: line 1: fio: command not found\n",
            1,
            "bash reported: line 1: fio: command",
        ),
        (
            "ping: nosuch: Name or service not known\n",
            1,
            "ping reported: nosuch: Name or service",
        ),
        ("tcp_bw:\n127.0.0.1: failed to connect\n", 2, "qperf reported: 127.0.0.1: failed to"),
        ("udp_lat:\ntcp_bw:\n    bw  =  1 MB/sec\n", 1, "no latency or bandwidth of udp_lat"),
    ];
    for (text, line, cause) in table {
        let (found, printed) = match read(text) {
            Err(error) => (error.line(), error.to_string()),
            Ok(file) => {
                let failed = &file.contents.failed[0];
                (failed.line(), failed.error.to_string())
            }
        };
        assert!(printed.contains(cause) && found == Some(line), "{found:?}: {printed}");
    }
}

/// A tool that could not write reports a system error, which does not mean that the machine
/// computes wrongly.
#[test]
fn system_errors_have_their_own_advice() {
    let check = |text: &str, said: &str, advice: &str| {
        let refused = read(text).unwrap_err();
        assert!(refused.to_string().contains(said), "{refused}");
        assert!(refused.advice().contains(advice), "{}", refused.advice());
    };
    let no_space = "stream0 ended with No space left on device (os error 28)";
    check(&golden("fio/3.33-no-space.out"), no_space, "free some space");
    let text = "stream0: (groupid=0, jobs=1): err=28 (file:io_u.c:1876, func=io_u error, \
                error=No space left on device): pid=1: Sat Nov 21 14:32:16 2026\n  \
                write: IOPS=1, BW=1KiB/s (1kB/s)(1KiB/1000msec)\n\n\
                Run status group 0 (all jobs):\n";
    check(text, "error=No space left on device", "free some space");
    let no_file = "open64(\"/var/tmp/assay/none\", 0) failed: No such file or directory";
    check(&golden("ior/4.1.0-no-file.out"), no_file, "name an existing file");
}

/// A file truncated right after its heading is still detected as its format.
#[test]
fn file_cut_after_heading_is_truncated() {
    for (path, lines, format) in [
        ("ior/4.1.0-both.out", 3, "IOR 2.10 to 4.1"),
        ("xhpl/2.3-three-rows.out", 8, "HPL's log"),
        // The last line is no part of the writes, whose rows and maximum end before it.
        ("../import/ior/3.3.0-cut.txt", 38, "IOR 2.10 to 4.1"),
    ] {
        let whole = golden(path);
        let text: String = whole.split_inclusive('\n').take(lines).collect();
        let refused = read(&text).unwrap_err();
        let said = refused.to_string();
        assert!(said.contains(format) && said.contains("truncated"), "{said}");
        assert!(refused.advice().contains("cut off"), "{}", refused.advice());
    }
}

/// A table truncated within its last number would have a wrong value, although the rest is
/// complete.
#[test]
fn file_cut_within_number_is_truncated() {
    for path in [
        "osu/5.4.3-bw.out",
        "osu/7.5-latency-tails.out",
        "perftest/ib_send_lat.txt",
        "vdbench/5.04.06-mix.out",
    ] {
        let whole = golden(path);
        let end = whole.rfind(|c: char| c.is_ascii_digit()).unwrap();
        assert!(read(&whole[..=end]).is_err() && read(&whole).is_ok(), "{path}");
        let refused = read(&whole[..end]).unwrap_err();
        assert!(refused.to_string().contains("truncated"), "{path}: {refused}");
        assert_eq!(refused.line(), Some(whole[..end].lines().count()), "{path}");
    }
}

#[test]
fn unescapes_colons_in_fio_file_names() {
    let read = read(&golden("fio/3.33-mix.out")).unwrap();
    let target = read.contents.measurements[0].dimensions.get(&Attribute::Target).cloned();
    assert_eq!(target, Some("/var/tmp/assay:golden/file".into()));
    let files = fio::options::format_file_names(r"/a:/b\:c:/d\e");
    assert_eq!(files, r"/a, /b:c, /d\e");
}

#[test]
fn perftest_uses_mebibytes_and_flags_impossible_rows() {
    check(
        "---------------\n                    Send Latency Test\n Dual-port       : OFF\n\
         ---------------\n #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]\n\
         2       1000          1.80           7.50         1.85     \t       1.86        \t0.20\n\
         256     1000          2.24           6.39         2.28     \t       2.02        \t0.18\n---------------\n",
        &expect![[r#"
            perftest
            rdma.send_lat [bytes=Integer(2)]
              half_round_trip  [1.85e-6]
            rdma.send_lat [bytes=Integer(256)]
              half_round_trip  [2.2799999999999998e-6]
              doubt out-of-order
        "#]],
    );
    check(
        "                    RDMA_Write BW Test\n #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n\
         65536      5000             11500.00            11000.00\t\t   0.176000\n\
         131072     5000             10500.00            11000.00\t\t   0.088000\n\
         262144     5000             0.00                11000.00\t\t   0.044000\n",
        &expect![[r#"
            perftest
            rdma.write_bw [bytes=Integer(65536)]
              bandwidth  [11534336000.0]
              message_rate  [176000.0]
            rdma.write_bw [bytes=Integer(131072)]
              bandwidth  [11534336000.0]
              message_rate  [88000.0]
              doubt out-of-order
            rdma.write_bw [bytes=Integer(262144)]
              bandwidth  [11534336000.0]
              message_rate  [44000.0]
        "#]],
    );
}

/// Equal rows and rows of several tables are attributed to their own lines.
#[test]
fn perftest_contradictions_have_their_line() {
    let head =
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n";
    let good = " 2       1000          1.80           7.50         1.85            1.86\n";
    let table =
        |rows: &[&str]| format!("   Send Latency Test\n----\n{head}{}\n----\n", rows.concat());
    let mean = " 2       1000          1.80           7.50         1.85            1.20\n";
    let typical = " 2       1000          1.80           7.50         7.51            1.86\n";
    let text = table(&[good, good, mean]) + &table(&[good, typical]);
    let found = read(&text).unwrap().contents.measurements.into_iter().map(|it| {
        let line = it.lines.as_ref().map_or(0, |lines| *lines.start());
        let laws = it.parsed.doubts.iter().map(|doubt| match doubt {
            Doubt::OutOfOrder { law, .. } => *law,
            other => panic!("{other:?}"),
        });
        (line, laws.collect::<Vec<_>>())
    });
    let expected = [
        (4, vec![]),
        (5, vec![]),
        (6, vec![FigureOrder::MinMean]),
        (12, vec![]),
        (13, vec![FigureOrder::MedianMax]),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// A head is rejected at its line if figures could be attributed to the wrong column.
#[test]
fn rejects_unreadable_perftest_tables_with_line() {
    let table = |head: &str, row: &str| format!("   RDMA_Write BW Test\n----\n{head}\n{row}\n");
    check(
        &table(
            " #bytes    #sl      #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]",
            " 65536   3           5000           11500.00            11000.00                  0.176000",
        ),
        &expect![[r#"
            perftest
            rdma.write_bw [bytes=Integer(65536) service_level=Integer(3)]
              bandwidth  [11534336000.0]
              message_rate  [176000.0]
        "#]],
    );
    for (head, row) in [
        (
            " #bytes    #vl      #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]",
            " 65536   3           5000           11500.00            11000.00                  0.176000",
        ),
        (
            " #bytes     #iterations    BW peak[KB/sec]    BW average[KB/sec]   MsgRate[Mpps]",
            " 65536      5000           11500.00            11000.00                  0.176000",
        ),
        (
            " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]",
            " 65536      5000           11500.00            110.00                  0.176000",
        ),
    ] {
        let error = read(&table(head, row)).unwrap_err();
        // The figures of the last one contradict each other; the heads of the others have unknown
        // columns.
        let is_known = head.contains("MiB") && !head.contains("#vl");
        assert_eq!(error.line(), Some(if is_known { 4 } else { 3 }), "{error}");
    }
    let other =
        golden("perftest/ib_send_lat.txt").replace("t_typical[usec]", "t_typical[nsec]");
    let error = read(&other).unwrap_err();
    assert_eq!(error.line(), Some(21));
    assert!(error.to_string().ends_with("unknown column \"t_typical[nsec]\""));
}

/// The same rule as when assay starts the tool.
#[test]
fn perftest_omits_maximum_and_records_statistic() {
    let read_one = |text: &str| read(text).unwrap().contents.measurements.remove(0).parsed;
    let parsed = read_one(&golden("perftest/ib_send_lat.txt"));
    let figures = parsed.values[0].figures.as_ref().unwrap();
    assert_eq!(
        (figures.max, figures.min.is_some(), figures.mean.is_some()),
        (None, true, true)
    );
    let facts = parsed.facts(Some("half_round_trip"));
    assert_eq!(facts[&Attribute::PerftestMax], (16_838.93 * 1e-6).into());
    assert_eq!(facts[&Attribute::PerftestDeviation], (1987.32 * 1e-6).into());
    let statistic = |parsed: &ParsedOutput| {
        let facts = parsed.facts(Some("half_round_trip"));
        facts[&Attribute::Statistic].as_text().map(str::to_owned)
    };
    assert_eq!(statistic(&parsed).as_deref(), Some("median"));
    let lasting = "   Send Latency Test\n #bytes        #iterations       t_avg[usec]    tps average\n 2             5000000            2.00        250000.00\n";
    let parsed = read_one(lasting);
    assert_eq!(statistic(&parsed).as_deref(), Some("mean"));
    assert_eq!(parsed.values[0].samples, [2e-6]);
    check(
        "   Send Test\n #flows\tfs_min_time[usec]\tfs_max_time[usec]\tfs_typical_time[usec]\tfs_avg_time[usec]\tfps[flow per sec]\n100          8.00        \t\t40.00      \t9.00  \t       \t\t10.00     \t100000.00\n",
        &expect![[r#"
            perftest
            foreign [test=Text("perftest Send")]
              time_min  [8e-6]
              time_max  [3.9999999999999996e-5]
              time  [9e-6]
              time_mean  [9.999999999999999e-6]
              event_rate  [100000.0]
        "#]],
    );
}

#[test]
fn fio_text_separates_reads_and_writes() {
    check(
        "job: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=32\nfio-3.33\n\
         job: (groupid=0, jobs=2): err= 0: pid=42: Sun Nov 22 10:00:00 2026\n\
         \x20 read: IOPS=70.1k, BW=274MiB/s (287MB/s)(16.0GiB/60001msec)\n\
         \x20   slat (nsec): min=900, max=120k, avg=1500.1, stdev=12.0\n\
         \x20   clat (usec): min=52, max=9000, avg=400.50, stdev=80.1\n\
         \x20   clat percentiles (usec):\n     |  1.00th=[  190], 50.00th=[  388], 99.00th=[  701], 99.99th=[ 1713]\n\
         \x20 write: IOPS=30.0k, BW=117MiB/s (123MB/s)(6.87GiB/60001msec); 0 zone resets\n\
         \x20   clat (msec): min=1, max=9, avg= 2.50, stdev= 0.10\n",
        &expect![[r#"
            fio-text
            storage [phase=Text("job") operation=Text("mix") bytes=Integer(4096) threads=Integer(2) depth=Integer(64) read_share=Number(0.7) pattern=Text("random") engine=Text("libaio")]
              rate Text("read") [70100.0]
              bandwidth Text("read") [287000000.0]
              latency Text("read") [0.000388]
              rate Text("write") [30000.0]
              bandwidth Text("write") [123000000.0]
              latency Text("write") [0.0025]
              doubt rounded-output
              doubt rounded-output
        "#]],
    );
}

#[test]
fn iperf3_text_uses_decimal_bits() {
    check(
        "Connecting to host 10.0.0.2, port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n\
         [  5]   0.00-10.00  sec  5.47 GBytes  4.70 Gbits/sec   12             sender\n\
         [  5]   0.00-10.00  sec  5.46 GBytes  4.69 Gbits/sec                  receiver\n\
         [  7]   0.00-10.00  sec  5.47 GBytes  4.70 Gbits/sec   11             sender\n\
         [  7]   0.00-10.00  sec  5.46 GBytes  4.69 Gbits/sec                  receiver\n\
         [SUM]   0.00-10.00  sec  10.9 GBytes  9.40 Gbits/sec   23             sender\n\
         [SUM]   0.00-10.00  sec  10.9 GBytes  9.38 Gbits/sec                  receiver\n",
        &expect![[r#"
            iperf3-text
            network.tcp [to=Text("10.0.0.2") direction=Text("send") streams=Integer(2) copy=Flag(true) seconds=Integer(10)]
              goodput  [9380000000.0]
              send_rate  [9400000000.0]
              retransmits  [23.0]
        "#]],
    );
}

#[test]
fn other_logs_are_converted_to_base_units() {
    check(
        "sockperf: == version #3.7-no.git ==\nsockperf[CLIENT] send on:[ 0] IP = 10.0.0.2 PORT = 11111 # TCP\n\
         sockperf: ====> avg-latency=20.5\nsockperf: Summary: Latency is 20.500 usec\nsockperf: Total 100 observations\n\
         sockperf: ---> <MAX> observation =   90.100\nsockperf: ---> percentile 99.000 =   41.000\n\
         sockperf: ---> percentile 50.000 =   20.100\nsockperf: ---> <MIN> observation =   15.000\n",
        &expect![[r#"
            sockperf
            network.udp [load_streams=Integer(0)]
              half_round_trip  [2.01e-5]
        "#]],
    );
    check(
        "sockperf: Summary: Message Rate is 100 [msg/sec]\nsockperf: Summary: BandWidth is 10.000 MBps (80.000 Mbps)\n",
        &expect![[r#"
            line Some(2): recognised as sockperf ping-pong, under-load, playback and throughput, but the output contradicts itself or the request: 10.000 MBps do not fit the message rate
        "#]],
    );
    check(
        "mdtest-4.0.0 was launched with 4 total task(s) on 1 node(s)\n4 tasks, 4000 files/directories\n\n\
         SUMMARY rate (in ops/sec): (of 3 iterations)\n   Operation                      Max            Min           Mean        Std Dev\n\
         \x20  File creation             : 1200.500      1000.000      1100.250         82.000\n\
         \x20  File read                 :    0.000         0.000         0.000          0.000\n",
        &expect![[r#"
            mdtest
            storage.files [operation=Text("create") files=Integer(4000) threads=Integer(4)]
              rate  [1100.25]
        "#]],
    );
    check(
        "12:00:00.000 Starting RD=RndRead; I/O rate: 5000; elapsed=4\n\n\
         Nov 21, 2026  interval        i/o   MB/sec   bytes   read     resp\n\
         12:00:01.001         1    4000.00    31.25    8192 100.00    0.900\n\
         12:00:02.001         2    5000.00    39.06    8192 100.00    0.800\n\
         12:00:03.001         3    5002.00    39.08    8192 100.00    0.810\n\
         12:00:03.002   avg_2-3    5001.00    39.07    8192 100.00    0.805\n",
        &expect![[r#"
            line Some(7): recognised as Vdbench's summary.html, totals.html or console, of blocks and file systems, but the output is truncated: the averages (avg_…) of run "RndRead" are missing
        "#]],
    );
    check(
        "result|system|partition|environ|descr|triad_value|triad_unit|lat_value|lat_unit\n\
         pass|hb|p|gnu|STREAM|260|GB/s|2.4|us\npass|hb|p|gnu|STREAM|261|GB/s|null|null\n",
        &expect![[r#"
            reframe
            foreign [test=Text("STREAM hb p gnu triad")]
              bandwidth  [260000000000.0, 261000000000.0]
            foreign [test=Text("STREAM hb p gnu lat")]
              time  [2.4e-6]
        "#]],
    );
    check(
        "<?xml version=\"1.0\"?><PhoronixTestSuite><Result><Title>Stream</Title><Description>Type: Copy</Description>\
         <Scale>MB/s</Scale><Proportion>HIB</Proportion><Data><Entry><Identifier>a</Identifier><Value>10</Value>\
         <RawString>9:10:11</RawString></Entry><Entry><Identifier>b</Identifier><Value>20</Value></Entry></Data></Result>\
         <Result><Title>Compile</Title><Scale>Seconds</Scale><Proportion>LIB</Proportion><Data><Entry><Identifier>a</Identifier>\
         <Value>33.5</Value></Entry></Data></Result></PhoronixTestSuite>",
        &expect![[r#"
            phoronix-xml
            foreign [test=Text("Stream Type: Copy")]
              bandwidth  [9000000.0, 10000000.0, 11000000.0]
            foreign [test=Text("Stream Type: Copy")]
              bandwidth  [20000000.0]
            foreign [test=Text("Compile")]
              time  [33.5]
        "#]],
    );
}

#[test]
fn advice_fits_a_file_of_a_failed_tool() {
    let text = include_str!("../../tests/import/iperf3/3.12-error.json");
    let error = read(text).unwrap_err();
    assert!(error.to_string().contains("unable to connect"), "{error}");
    assert!(error.advice().contains("run it again"), "{}", error.advice());
}
