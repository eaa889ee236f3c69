//! Tests of fio's three output formats for known outcomes.

use assay_model::storage_outcome::{
    BatchCounts, EndReason, ErrorCause, FatalError, IntervalTally, IoFailure, IoOperation,
    IoTally, JournalEntry, StorageOutcome, StreamCount, StreamDetails, StreamErrors,
    StreamTally,
};
use hdrhistogram::Histogram;
use serde_json::Value;

use super::super::outcome::FioOutcome;
use super::super::request::FioFormat;
use super::super::statistics::{DiskUse, EntryResult, FioProcessUsage, FioRunInfo};
use super::super::steady::FioSteadyWindow;
use super::super::{json, log, report, terse, text};
use super::*;

fn tally(latencies_ns: &[u64], block_bytes: u64) -> IoTally {
    let mut service_ns = Histogram::new(3).unwrap();
    latencies_ns.iter().for_each(|ns| service_ns.record(*ns).unwrap());
    IoTally {
        count: latencies_ns.len() as u64,
        bytes: latencies_ns.len() as u64 * block_bytes,
        service_ns,
        from_intended_ns: Histogram::new(3).unwrap(),
        service_square_sum: latencies_ns.iter().map(|ns| (*ns as f64).powi(2)).sum(),
        service_sum_ns: latencies_ns.iter().sum(),
    }
}

/// Outcome of one second in two halves, in each of which every stream reads 3 × 8 KiB.
fn outcome(streams: usize) -> StorageOutcome {
    let latencies = [20_000, 30_000, 40_000, 100_000, 150_000, 2_000_000];
    let count = StreamCount {
        reads: 3,
        read_bytes: 3 * 8192,
        read_service_ns: 90_000,
        read_maximum_ns: 40_000,
        ..StreamCount::default()
    };
    let interval = |start_s| IntervalTally {
        start_s,
        length_s: 0.5,
        warmup: false,
        reads: tally(&latencies[..3], 8192),
        writes: tally(&[], 8192),
        streams: vec![count; streams],
        in_flight: 4.0 * streams as f64,
        cpu_user: 0.1,
        cpu_system: 0.1,
    };
    let stream_tally = |stream| StreamTally {
        stream,
        target: 0,
        operation: IoOperation::Read,
        tally: tally(&latencies, 8192),
    };
    StorageOutcome {
        open_s: 0.0,
        close_s: 0.0,
        elapsed_s: 1.0,
        tallies: (0..streams).map(stream_tally).collect(),
        intervals: vec![interval(0.0), interval(0.5)],
        cpu_user_s: 0.1,
        cpu_system_s: 0.3,
        engine: "null".to_owned(),
        engine_reason: assay_model::engine_reason::EngineReason::AskedFor,
        errors: vec![],
        error_count: 0,
        not_started: 0,
        ended: EndReason::Time,
        streams: vec![
            StreamDetails {
                active_s: 1.0,
                batches: Some(counted_batches()),
                ..StreamDetails::default()
            };
            streams
        ],
    }
}

fn run_info() -> FioRunInfo {
    FioRunInfo {
        ended_ms: 1_795_271_689_309,
        ended: "Sat Nov 21 14:34:49 2026".to_owned(),
        process: 42,
        version: "fio-3.33".to_owned(),
        uses: vec![FioProcessUsage { switches: 100, major_faults: 0, minor_faults: 20 }],
        disks: vec![DiskUse {
            name: "vda".to_owned(),
            ios: (12, 0),
            merges: (1, 0),
            ticks_ms: (3, 0),
            in_queue_ms: 3,
            busy_ms: 250,
            elapsed_ms: 1000,
        }],
        elapsed_ms: 1000,
    }
}

const JOB: &str = "[global]\nioengine=libaio\ndirect=1\n[a]\nrw=randread\nbs=8k\niodepth=4\n\
                   numjobs=2\ngroup_reporting\nfilename=/there/x\ntime_based\nruntime=1\n\
                   description=hello\n";

/// Six I/O, submitted one by one with four in flight, and collected at once.
fn counted_batches() -> BatchCounts {
    let mut counts = BatchCounts::default();
    for _ in 0..6 {
        counts.note_depth(4, 1);
        counts.note_submission(1);
    }
    counts.note_collection(6);
    counts
}

#[test]
fn text_and_terse_output_match_fio() {
    let request = request("job", &[("job", JOB)]).unwrap();
    let plan = compile_request(&request).unwrap();
    let found = FioOutcome::new(&request, &plan, &[outcome(2)], run_info());
    let stored = serde_json::to_vec(&found).unwrap();
    assert_eq!(serde_json::from_slice::<FioOutcome>(&stored).unwrap(), found);
    let shown = report::render(&found, &[FioFormat::Normal]);
    expect![[r#"
        a: (g=0): rw=randread, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, iodepth=4
        ...
        fio-3.33
        Starting 2 threads

        a: (groupid=0, jobs=2): err= 0: pid=42: Sat Nov 21 14:34:49 2026
          Description  : [hello]
          read: IOPS=12, BW=96.0KiB/s (98.3kB/s)(96.0KiB/1000msec)
            clat (usec): min=20, max=2000, avg=390.00, stdev=753.51
             lat (usec): min=20, max=2000, avg=390.00, stdev=753.51
            clat percentiles (usec):
             |  1.00th=[   21],  5.00th=[   21], 10.00th=[   21], 20.00th=[   31],
             | 30.00th=[   31], 40.00th=[   41], 50.00th=[   41], 60.00th=[  101],
             | 70.00th=[  151], 80.00th=[  151], 90.00th=[ 2001], 95.00th=[ 2001],
             | 99.00th=[ 2001], 99.50th=[ 2001], 99.90th=[ 2001], 99.95th=[ 2001],
             | 99.99th=[ 2001]
           bw (  KiB/s): min=   96, max=   96, per=100.00%, avg=96.00, stdev= 0.00, samples=2
           iops        : min=   12, max=   12, avg=12.00, stdev= 0.00, samples=2
          lat (usec)   : 50=50.00%, 250=33.33%
          lat (msec)   : 4=16.67%
          cpu          : usr=5.00%, sys=15.00%, ctx=100, majf=0, minf=20
          IO depths    : 1=0.0%, 2=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
             submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
             complete  : 0=0.0%, 4=0.0%, 8=100.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
             issued rwts: total=12,0,0,0 short=0,0,0,0 dropped=0,0,0,0
             latency   : target=0, window=0, percentile=100.00%, depth=4

        Run status group 0 (all jobs):
           READ: bw=96.0KiB/s (98.3kB/s), 96.0KiB/s-96.0KiB/s (98.3kB/s-98.3kB/s), io=96.0KiB (98.3kB), run=1000-1000msec

        Disk stats (read/write):
          vda: ios=12/0, merge=1/0, ticks=3/0, in_queue=3, util=25.00%
    "#]].assert_eq(&shown);
    expect![[r#"
        3;fio-3.33;a;0;0;96;96;12;1000;0;0;0.000000;0.000000;20;2000;390.000000;753.512985;1.000000%=20;5.000000%=20;10.000000%=20;20.000000%=30;30.000000%=30;40.000000%=40;50.000000%=40;60.000000%=100;70.000000%=150;80.000000%=150;90.000000%=2000;95.000000%=2000;99.000000%=2000;99.500000%=2000;99.900000%=2000;99.950000%=2000;99.990000%=2000;0%=0;0%=0;0%=0;20;2000;390.000000;753.512985;96;96;100.000000%;96.000000;0.000000;0;0;0;0;0;0;0.000000;0.000000;0;0;0.000000;0.000000;1.000000%=0;5.000000%=0;10.000000%=0;20.000000%=0;30.000000%=0;40.000000%=0;50.000000%=0;60.000000%=0;70.000000%=0;80.000000%=0;90.000000%=0;95.000000%=0;99.000000%=0;99.500000%=0;99.900000%=0;99.950000%=0;99.990000%=0;0%=0;0%=0;0%=0;0;0;0.000000;0.000000;0;0;0.000000%;0.000000;0.000000;5.000000%;15.000000%;100;0;20;0.0%;0.0%;100.0%;0.0%;0.0%;0.0%;0.0%;0.00%;0.00%;0.00%;0.00%;50.00%;0.00%;33.33%;0.00%;0.00%;0.00%;0.00%;16.67%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;vda;12;0;1;0;3;0;3;25.00%;hello
    "#]].assert_eq(&terse::lines(&found.entries, &found.info, 3));
}

/// Field counts of versions 3, 4 and 5 without disk and description, taken from the output and the
/// manual of fio 3.33.
#[test]
fn terse_lines_have_fio_field_counts() {
    for (directions, counts) in [
        ("none", [(3, 121), (4, 162), (5, 180)]),
        ("mixed", [(3, 80), (4, 80), (5, 86)]),
        ("both", [(3, 162), (4, 203), (5, 227)]),
    ] {
        let unified = format!("unified_rw_reporting={directions}\n");
        let job = JOB.replace("description=hello\n", &unified);
        let request = request("job", &[("job", &job)]).unwrap();
        let plan = compile_request(&request).unwrap();
        let run_info = FioRunInfo { disks: vec![], ..run_info() };
        let found = FioOutcome::new(&request, &plan, &[outcome(2)], run_info);
        for (version, fields) in counts {
            let line = terse::lines(&found.entries, &found.info, version);
            let found = line.trim_end().split(';').count();
            assert_eq!(found, fields, "version {version}, {directions}");
        }
    }
}

#[test]
fn terse_lines_have_no_percentiles_that_are_off() {
    for (settings, zeros) in [("", 6), ("clat_percentiles=0\n", 40), ("lat_percentiles=1\n", 6)]
    {
        let job = format!("{JOB}{settings}");
        let request = request("job", &[("job", &job)]).unwrap();
        let plan = compile_request(&request).unwrap();
        let found = FioOutcome::new(&request, &plan, &[outcome(2)], run_info());
        let line = terse::lines(&found.entries, &found.info, 3);
        assert_eq!(line.matches(";0%=0").count(), zeros, "{settings}");
    }
}

/// Collects every path of a document with the type of its value. Options, disks and bins are
/// skipped, because their names differ between documents.
fn collect_paths(value: &Value, path: &str, shape: &mut Vec<String>) {
    let free = ["global options", "job options", "bins", "percentile"];
    match value {
        Value::Object(entries) if !free.iter().any(|name| path.ends_with(name)) => {
            for (name, value) in entries {
                self::collect_paths(value, &format!("{path}/{name}"), shape);
            }
        }
        Value::Object(_) => shape.push(format!("{path} object")),
        Value::Array(values) => {
            for value in values.iter().take(1) {
                self::collect_paths(value, &format!("{path}[]"), shape);
            }
        }
        Value::Number(number) if number.is_f64() => shape.push(format!("{path} fraction")),
        Value::Number(_) => shape.push(format!("{path} whole")),
        Value::String(_) => shape.push(format!("{path} text")),
        Value::Bool(_) | Value::Null => shape.push(format!("{path} other")),
    }
}

#[test]
fn json_has_the_keys_and_types_of_the_real_one() {
    let real = include_str!("../../../../assay-adapters/tests/golden/fio/3.33-mix.out");
    let real: Value = serde_json::from_str(real).unwrap();
    let mixed = JOB.replace("randread", "randrw").replace("description=hello\n", "");
    let request = request("job", &[("job", &mixed)]).unwrap();
    let plan = compile_request(&request).unwrap();
    let mut outcome = outcome(2);
    let writes: Vec<StreamTally> = outcome
        .tallies
        .iter()
        .map(|read| StreamTally { operation: IoOperation::Write, ..read.clone() })
        .collect();
    outcome.tallies.extend(writes);
    let found = FioOutcome::new(&request, &plan, &[outcome], run_info());
    let written = json::document(&found, true);
    let ours: Value = serde_json::from_str(&written).unwrap();
    let (mut expected, mut found) = (vec![], vec![]);
    collect_paths(&real, "", &mut expected);
    collect_paths(&ours, "", &mut found);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    let percentiles = |document: &Value| {
        let entries = document["jobs"][0]["read"]["clat_ns"]["percentile"].as_object().unwrap();
        entries.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(percentiles(&ours), percentiles(&real));
}

#[test]
fn clat_begins_where_slat_ends() {
    let request = request("job", &[("job", JOB)]).unwrap();
    let plan = compile_request(&request).unwrap();
    let mut outcome = outcome(1);
    let [submissions, completions] = [15_000, 45_000].map(|ns| Some(tally(&[ns; 6], 8192)));
    outcome.streams[0].submissions[0] = submissions;
    outcome.streams[0].completions[0] = completions;
    let found = FioOutcome::new(&request, &plan, &[outcome], run_info());
    let written = json::document(&found, true);
    let document: Value = serde_json::from_str(&written).unwrap();
    let mean = |kind: &str| document["jobs"][0]["read"][kind]["mean"].as_f64().unwrap();
    let means = ["slat_ns", "clat_ns", "lat_ns"].map(mean).map(|ns| ns as u64);
    assert_eq!(means, [15_000, 45_000, 390_000]);
    assert_eq!(document["jobs"][0]["latency_us"]["50"], 100.0, "fio's classes are of clat");
}

#[test]
fn figures_are_consistent() {
    let request = request("job", &[("job", JOB)]).unwrap();
    let plan = compile_request(&request).unwrap();
    let found = FioOutcome::new(&request, &plan, &[outcome(2)], run_info());
    let written = json::document(&found, true);
    let document: Value = serde_json::from_str(&written).unwrap();
    let read = &document["jobs"][0]["read"];
    assert_eq!(read["total_ios"], 12);
    assert_eq!(read["io_bytes"], 12 * 8192);
    assert_eq!(read["bw_bytes"], 12 * 8192);
    assert_eq!(read["bw"], 96);
    assert_eq!(read["clat_ns"]["N"], 12);
    assert_eq!(read["clat_ns"]["min"], 20_000 / 8 * 8);
    let bins = read["clat_ns"]["bins"].as_object().unwrap();
    assert_eq!(bins.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 12);
    assert_eq!(read["slat_ns"]["N"], 0, "submission is not timed by itself");
    assert_eq!(read["bw_samples"], 2);
    assert_eq!(read["bw_mean"], 96.0);
    assert_eq!(document["jobs"][0]["iodepth_level"]["4"], 100.0);
    assert_eq!(document["jobs"][0]["latency_us"]["50"], 50.0);
    assert_eq!(document["jobs"][0]["usr_cpu"], 5.0);
    assert_eq!(document["jobs"][0]["ctx"], 100);
    assert_eq!(document["disk_util"][0]["util"], 25.0);
}

fn failure(stream: usize, reason: &str) -> IoFailure {
    IoFailure {
        stream,
        target: 0,
        operation: IoOperation::Read,
        offset: 0,
        bytes: 8192,
        reason: reason.to_owned(),
    }
}

fn fatal(number: i32, cause: ErrorCause) -> StreamErrors {
    let operation = IoOperation::Read;
    StreamErrors {
        fatal: Some(FatalError { number, operation, cause }),
        ..StreamErrors::default()
    }
}

/// Returns the outcome of two jobs of which the second failed.
fn failed_outcome(file: &str, errors: StreamErrors) -> FioOutcome {
    let request = request("job", &[("job", file)]).unwrap();
    let plan = compile_request(&request).unwrap();
    let mut outcome = outcome(2);
    outcome.error_count = 3;
    outcome.errors.push(failure(1, "No space left on device (os error 28)"));
    outcome.streams[1].errors = errors;
    FioOutcome::new(&request, &plan, &[outcome], run_info())
}

#[test]
fn reports_error_number_of_failed_io() {
    let found = failed_outcome(JOB, fatal(28, ErrorCause::Transfer));
    assert_eq!(found.entries[0].error.0, 28);
    let shown = text::render_end(&found.entries, &found.info);
    assert!(shown.contains("err=28 (No space left"), "{shown}");
    assert!(!shown.contains("errors    :"), "{shown}");
    let job = format!("{JOB}continue_on_error=io\n");
    let tolerated = StreamErrors { tolerated: 3, first_tolerated: 5, fatal: None };
    let counted = failed_outcome(&job, tolerated);
    let shown = text::render_end(&counted.entries, &counted.info);
    assert!(
        shown.contains("errors    : total=3, first_error=5/<Input/output error>"),
        "{shown}"
    );
    let written = json::document(&counted, false);
    let document: Value = serde_json::from_str(&written).unwrap();
    let job = &document["jobs"][0];
    assert_eq!((&job["total_err"], &job["first_error"]), (&3.into(), &5.into()));
    assert_eq!(job["error"], 5);
}

/// Numbers of fio 3.33: the error, the first counted one, and their number.
#[test]
fn errors_belong_to_their_jobs() {
    const JOBS: &str = "[global]\nfilename=/there/x\nsize=1m\nrw=read\n[a]\n[b]\n";
    for (options, errors, expected) in [
        ("", fatal(5, ErrorCause::Transfer), (5, 0, 0)),
        (
            "continue_on_error=verify\nverify_fatal=1\n",
            fatal(84, ErrorCause::Contents),
            (84, 84, 1),
        ),
        ("continue_on_error=io\n", fatal(84, ErrorCause::Contents), (84, 1, 1)),
        ("continue_on_error=io\n", fatal(110, ErrorCause::Latency), (110, 1, 1)),
        ("continue_on_error=io\n", fatal(5, ErrorCause::Rate), (5, 0, 0)),
        ("continue_on_error=io\n", fatal(28, ErrorCause::Transfer), (28, 28, 1)),
        (
            "continue_on_error=io\nioengine=libaio\n",
            fatal(28, ErrorCause::Transfer),
            (28, 0, 0),
        ),
    ] {
        let found =
            failed_outcome(&JOBS.replace("rw=read\n", &format!("rw=read\n{options}")), errors);
        let numbers = |entry: &EntryResult| (entry.error.0, entry.first_error, entry.errors);
        assert_eq!(
            found.entries.iter().map(numbers).collect::<Vec<_>>(),
            [(0, 0, 0), expected]
        );
    }
}

#[test]
fn early_job_has_its_own_runtime() {
    let file = "[a]\nfilename=/there/x\nsize=1m\n[b]\nfilename=/there/x\nsize=2m\n";
    let request = request("job", &[("job", file)]).unwrap();
    let plan = compile_request(&request).unwrap();
    let mut outcome = outcome(2);
    outcome.elapsed_s = 2.0;
    outcome.streams[1].active_s = 2.0;
    let mut later = outcome.intervals[0].clone();
    later.streams[0] = StreamCount::default();
    outcome.intervals.extend([later.clone(), later]);
    let found = FioOutcome::new(&request, &plan, &[outcome], run_info());
    assert_eq!(
        (found.entries[0].read.runtime_ms, found.entries[1].read.runtime_ms),
        (1000, 2000)
    );
}

/// Concatenates a job's logs for the known outcome, with two I/O in its journal.
fn logs(options: &str) -> String {
    let file =
        format!("[a]\nfilename=/there/x\nrw=randrw\nbs=8k\nruntime=1\ntime_based\n{options}");
    let request = request("job", &[("job", &file)]).unwrap();
    let plan = compile_request(&request).unwrap();
    let mut outcome = outcome(1);
    let entry = |at_ns, service_ns, operation| JournalEntry {
        at_ns,
        service_ns,
        submission_ns: 4_000,
        target: 0,
        offset: 16384,
        bytes: 8192,
        operation,
        priority: 0,
    };
    outcome.streams[0].journal = vec![
        entry(1_000_000, 20_000, IoOperation::Read),
        entry(600_000_000, 30_000, IoOperation::Write),
    ];
    let mut all = String::new();
    for file in log::log_files(&plan) {
        let mut text = vec![];
        file.write(&plan, &[outcome.clone()], &[1_000_000], &mut text).unwrap();
        let _ = write!(all, "{}:\n{}", file.path, String::from_utf8(text).unwrap());
    }
    all
}

#[test]
fn logs_contain_windows_or_every_io() {
    for (options, expected) in [
        (
            "write_bw_log=b\nwrite_iops_log\nwrite_lat_log=d/l\ndisable_slat=1\nlog_avg_msec=500\n",
            expect![[r#"
                b_bw.1.log:
                500, 48, 0, 0, 0
                1000, 48, 0, 0, 0
                a_iops.1.log:
                500, 6, 0, 0, 0
                1000, 6, 0, 0, 0
                d/l_lat.1.log:
                500, 30000, 0, 0, 0
                1000, 30000, 0, 0, 0
                d/l_clat.1.log:
                500, 30000, 0, 0, 0
                1000, 30000, 0, 0, 0
            "#]],
        ),
        // The last window is shorter: fio logs its latencies only.
        (
            "write_bw_log\nwrite_iops_log\nwrite_lat_log\ndisable_slat=1\ndisable_clat=1\nlog_avg_msec=750\n",
            expect![[r#"
                a_bw.1.log:
                1000, 48, 0, 0, 0
                a_iops.1.log:
                1000, 6, 0, 0, 0
                a_lat.1.log:
                1000, 30000, 0, 0, 0
            "#]],
        ),
        (
            "write_lat_log\nlog_avg_msec=1000\nlog_max_value\nlog_unix_epoch\n",
            expect![[r#"
            a_lat.1.log:
            1001000, 40000, 0, 0, 0
            a_slat.1.log:
            a_clat.1.log:
            1001000, 40000, 0, 0, 0
        "#]],
        ),
        (
            "write_lat_log\ndisable_slat=1\ndisable_clat=1\nlog_avg_msec=1000\nlog_window_value=max\n",
            expect![[r#"
                a_lat.1.log:
                1000, 40000, 0, 0, 0
            "#]],
        ),
        (
            "write_bw_log\nwrite_iops_log\nlog_offset\nper_job_logs=0\n",
            expect![[r#"
            a_bw.log:
            1, 409600, 0, 8192, 16384, 0
            600, 273066, 1, 8192, 16384, 0
            a_iops.log:
            1, 1, 0, 8192, 16384, 0
            600, 1, 1, 8192, 16384, 0
        "#]],
        ),
    ] {
        expected.assert_eq(&logs(options));
    }
    let histogram = logs("write_hist_log=h\nlog_hist_msec=500\nlog_hist_coarseness=6\n");
    // 29 groups of 64 classes. Of 20 µs and 30 µs, submission takes 4 µs: 16 µs are in group 8, 26 µs in 9.
    let line = |start: &str, group: usize| {
        let counts: Vec<&str> = (0..29).map(|it| if it == group { "1" } else { "0" }).collect();
        format!("{start}, 8192, {}\n", counts.join(", "))
    };
    let expected = [line("500, 0", 8), line("1000, 1", 9)].concat();
    assert_eq!(histogram, format!("h_clat_hist.1.log:\n{expected}"));
}

/// Feeds seconds of given IO/s to a window and checks the verdict.
#[test]
fn steady_window_applies_its_criterion() {
    for (option, rates, expected) in [
        ("iops:5%", &[100, 100, 100][..], (true, "0.000")),
        ("iops:5%", &[100, 200, 100, 101, 102], (true, "0.990")),
        ("iops:5%", &[100, 120, 100], (false, "12.500")),
        ("iops:30", &[100, 120, 100], (true, "13.333")),
        ("iops_slope:1%", &[100, 101, 105], (false, "2.451")),
        ("iops_slope:0.5%", &[200, 100, 102, 100], (true, "0.000")),
        ("bw_slope:9000", &[1, 2, 3], (true, "8192.000")),
        ("iops:5%", &[100, 100], (false, "0.000")),
    ] {
        let file = format!("[a]\nsize=1m\nss={option}\nss_dur=3\n");
        let request = request("job", &[("job", &file)]).unwrap();
        let job = FioOptions::from_section(&request.sections[0]).unwrap();
        let mut window = FioSteadyWindow::from_behaviour(&job.behaviour).unwrap();
        let known = outcome(1).intervals.remove(0);
        for rate in rates {
            let count = StreamCount {
                reads: *rate / 2,
                writes: *rate - *rate / 2,
                read_bytes: *rate * 8192,
                ..StreamCount::default()
            };
            let interval =
                IntervalTally { length_s: 1.0, streams: vec![count], ..known.clone() };
            window.add(&interval, &[0]);
        }
        let found = (window.attained, format!("{:.3}", window.criterion));
        assert_eq!((found.0, found.1.as_str()), expected, "{option} {rates:?}");
    }
}

#[test]
fn bandwidth_of_all_jobs_has_a_log_for_each_direction() {
    let line =
        "--bandwidth-log --ioengine=null --size=1m --name=a --rw=randrw --name=b --rw=trim";
    let plan = plan(line, &[]).unwrap();
    let mut outcome = outcome(2);
    let count = |read_bytes, write_bytes| StreamCount {
        read_bytes,
        write_bytes,
        ..StreamCount::default()
    };
    outcome.intervals[0].streams = vec![count(1024, 2048), count(0, 4096)];
    outcome.intervals[1].streams = vec![StreamCount::default(); 2];
    let warm_up = IntervalTally { warmup: true, ..outcome.intervals[0].clone() };
    outcome.intervals.insert(0, warm_up);
    let logs = log::log_files(&plan).into_iter().map(|file| {
        let mut text = vec![];
        file.write(&plan, std::slice::from_ref(&outcome), &[1000], &mut text).unwrap();
        format!("{}:\n{}", file.path, String::from_utf8(text).unwrap())
    });
    expect![[r"
        agg-read_bw.log:
        500, 2, 0, 0, 0
        1000, 0, 0, 0, 0
        agg-write_bw.log:
        500, 4, 1, 0, 0
        1000, 0, 1, 0, 0
        agg-trim_bw.log:
        500, 8, 2, 0, 0
        1000, 0, 2, 0, 0
    "]]
    .assert_eq(&logs.collect::<String>());
}
