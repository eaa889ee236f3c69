//! Tests of command lines and job files: compiled plans, and errors with their locations.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use assay_model::workload::storage::{NewFile, StorageLoad, StorageStream, StreamBehavior};
use expect_test::{Expect, ExpectFile, expect, expect_file};
use proptest::prelude::*;

use super::command_line::parse;
use super::compile::{FioCompileEnv, FioPlan, compile};
use super::job_error::FioJobError;
use super::jobfile::FioParseContext;
use super::option;
use super::request::FioRequest;
use super::section_options::FioOptions;
use super::value::{self, NumberBase, SizeOrPercent};

mod behaviour;
mod debug;
mod report;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Parses a command line, with in-memory files.
fn request(line: &str, files: &[(&str, &str)]) -> Result<FioRequest, FioJobError> {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let read_file = |path: &str| {
        files.get(path).map(|text| (*text).to_owned()).ok_or_else(|| "not found".to_owned())
    };
    let context = FioParseContext {
        read_file: &read_file,
        variable: &|name| (name == "SIZE").then(|| "64m".to_owned()),
        page_bytes: 4096,
        memory_mib: 1000,
        cpus: 2,
    };
    parse(&words(line), &context)
}

/// Compiles a request; files below `/there` have 1 GiB, and NUMA node 3 has memory only.
fn compile_request(request: &FioRequest) -> Result<FioPlan, FioJobError> {
    let size_of = |path: &Path| path.starts_with("/there").then_some(1 << 30);
    let cpus_of_node = |node: usize| (node == 0).then(|| vec![0, 1]);
    let count_passes =
        |stream: &StorageStream, _| stream.conduct.order.as_deref().map_or(1, |it| it.loops);
    let env = FioCompileEnv {
        size_of: &size_of,
        assumed_bytes: None,
        cpus_of_node: &cpus_of_node,
        memory_nodes: Some(&[0, 3]),
        count_passes: &count_passes,
        read_state: &|path| Err(format!("{path} is not there")),
        fresh_seed: 7,
    };
    compile(request, &env)
}

fn plan(line: &str, files: &[(&str, &str)]) -> Result<FioPlan, FioJobError> {
    compile_request(&request(line, files)?)
}

fn render_refused(line: &str, file: &str) -> String {
    let fault = plan(line, &[("job", file)]).unwrap_err();
    format!("{fault}\n{}\n", fault.hint())
}

fn check_refused(line: &str, file: &str, expected: &Expect) {
    expected.assert_eq(&render_refused(line, file));
}

/// Checks the cases of a file, separated by empty lines. Each has a command line, followed by the contents
/// of the file `job` if it is `job`, and what it is rendered as.
fn check_cases(count: usize, cases: &ExpectFile, render: fn(&str, &str) -> String) {
    let text = cases.data();
    assert_eq!(text.split("\n\n").count(), count, "number of cases");
    let rendered = text.split("\n\n").map(|case| {
        let (input, _) = case.split_once('\n').expect("a case has an output");
        let (line, file) = match input.split_once("job ") {
            Some(("", file)) => ("job", file.replace("\\n", "\n")),
            _ => (input, String::new()),
        };
        format!("{input}\n{}", render(line, &file))
    });
    cases.assert_eq(&rendered.collect::<Vec<_>>().join("\n"));
}

/// Lists the properties of a stream that differ from the defaults.
fn non_default_properties(conduct: &StreamBehavior) -> String {
    let fields = |conduct: &StreamBehavior| match serde_json::to_value(conduct).unwrap() {
        serde_json::Value::Object(fields) => fields,
        other => panic!("{other}"),
    };
    // Defaults of every job.
    let nothing = fields(&StreamBehavior {
        plain_pages: true,
        ends_on_error: true,
        ..StreamBehavior::default()
    });
    // Orders have tests of their own, beside the real fio.
    let differing = fields(conduct)
        .into_iter()
        .filter(|(name, value)| name != "order" && nothing.get(name) != Some(value));
    let order = conduct.order.as_deref();
    let skew =
        order.and_then(|it| it.skew.as_ref()).map(|it| ("skew", serde_json::to_value(it)));
    let skew = skew.map(|(name, value)| (name.to_owned(), value.unwrap()));
    let all = differing.chain(skew);
    all.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

/// Renders every phase with its length, load and streams.
fn render_plan(plan: &FioPlan) -> String {
    let mut text = String::new();
    for phase in &plan.plan.phases {
        let work = &phase.workload;
        let _ = writeln!(
            text,
            "{}: {:?} warm {} s, {:?}, {:?}, seed {}",
            phase.name,
            work.timing.duration_s,
            work.timing.warmup_s,
            work.load,
            work.engine,
            work.seed
        );
        for stream in &work.streams {
            let sizes: Vec<_> =
                stream.sizes.iter().map(|it| (it.min_bytes, it.max_bytes, it.share)).collect();
            let _ = writeln!(
                text,
                "  {}: {:?} {sizes:?} read {} depth {}×{} sync {} share {:.2} own {:?} stop {:?}",
                stream.name,
                stream.pattern,
                stream.read_share,
                stream.threads,
                stream.in_flight_per_target,
                stream.sync_every,
                stream.rate_share,
                stream.own_rate_per_s,
                stream.stop_after_bytes
            );
            let properties = non_default_properties(&stream.conduct);
            if !properties.is_empty() {
                let _ = writeln!(text, "    besides {properties}");
            }
            for target in stream.targets.iter().map(|index| &work.targets[*index]) {
                let _ = writeln!(
                    text,
                    "    {} {:?} make {:?}{}",
                    target.path.display(),
                    target.range_bytes,
                    target.size_bytes,
                    if target.direct { " direct" } else { "" }
                );
            }
        }
    }
    for row in &plan.reports {
        let _ = writeln!(
            text,
            "report {} group {} jobs {} parts {}",
            plan.options[row.section].name,
            row.group,
            row.members,
            row.parts.len()
        );
    }
    text
}

fn render_compiled(line: &str, file: &str) -> String {
    let plan = plan(line, &[("job", file)]).unwrap_or_else(|fault| panic!("{fault}"));
    render_plan(&plan)
}

fn check(line: &str, file: &str, expected: &Expect) {
    expected.assert_eq(&render_compiled(line, file));
}

#[test]
fn parses_numbers_like_fio() {
    let table = [
        (1024, "4k", Some(4096)),
        (1024, "4kB", Some(4096)),
        (1024, "4KiB", Some(4000)),
        (1024, "4ki", Some(4000)),
        (1000, "4k", Some(4000)),
        (1000, "4KiB", Some(4096)),
        (1024, "1M", Some(1 << 20)),
        (1024, "2g", Some(2 << 30)),
        (1024, "1t", Some(1 << 40)),
        (1024, "0x1000", Some(4096)),
        (1024, "(8*1024)", Some(8192)),
        (1024, "(4k+2^2)*2", Some(8200)),
        (1024, "8*512", Some(4096)),
        (1024, "(1/0)", None),
        (1024, "4x", None),
        (1024, "", None),
        (1024, "-1", None),
        (1024, "1e3", None),
        (1024, "9999999p", None),
        (1024, "((((((1", None),
    ];
    for (kb, text, expected) in table {
        assert_eq!(NumberBase { kb }.parse_bytes(text), expected, "{text} at {kb}");
    }
    assert_eq!(NumberBase { kb: 1024 }.parse_size("20%"), Some(SizeOrPercent::Percent(20.0)));
    assert_eq!(NumberBase { kb: 1024 }.parse_size("120%"), None);
    let times = [("30", 30.0), ("5m", 300.0), ("500ms", 0.5), ("2h", 7200.0), ("1d", 86_400.0)];
    for (text, expected) in times {
        assert_eq!(value::parse_seconds(text), Some(expected), "{text}");
    }
    assert_eq!(value::parse_seconds("1w"), None);
}

/// fio's own examples `waitfor.fio` and `steadystate.fio` contain it.
#[test]
fn ignores_profile_option() {
    let plan = plan("--name=x --threads=1 --ioengine=null --size=1m", &[]).unwrap();
    assert!(plan.notes.iter().any(|note| note.contains("tiobench")), "{:?}", plan.notes);
}

#[test]
fn compiles_netapp_command_line() {
    check(
        "--name=8krandomreads --rw=randread --direct=1 --ioengine=libaio --bs=8k --numjobs=2 \
         --iodepth=128 --size=4G --runtime=600 --group_reporting",
        "",
        &expect![[r#"
            8krandomreads: Some(600.0) warm 0 s, Closed, Libaio, seed 137
              8krandomreads.0: Permutation [(8192, 8192, 1.0)] read 1 depth 1×128 sync 0 share 0.50 own None stop Some(4294967296)
                besides batches {"collect_least":1,"collect_most":1,"refill_below":128,"submit":1}, times_submission true
                8krandomreads.0.0 Some((0, 4294967296)) make Some(4294967296) direct
              8krandomreads.1: Permutation [(8192, 8192, 1.0)] read 1 depth 1×128 sync 0 share 0.50 own None stop Some(4294967296)
                besides batches {"collect_least":1,"collect_most":1,"refill_below":128,"submit":1}, times_submission true
                8krandomreads.1.0 Some((0, 4294967296)) make Some(4294967296) direct
            report 8krandomreads group 0 jobs 2 parts 2
        "#]],
    );
}

#[test]
fn excludes_incomplete_last_block() {
    check(
        "--name=etcd --rw=write --ioengine=sync --fdatasync=1 --size=1m --bs=2300 --nrfiles=2",
        "",
        &expect![[r#"
            etcd: None warm 0 s, Closed, Threads, seed 137
              etcd.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(2300, 2300, 1.0)] read 0 depth 1×1 sync 1 share 1.00 own None stop Some(1048576)
                besides syncs_data_only true, turns "round"
                etcd.0.0 Some((0, 522100)) make Some(524288)
                etcd.0.1 Some((0, 522100)) make Some(524288)
            report etcd group 0 jobs 1 parts 1
        "#]],
    );
}

#[test]
fn sections_inherit_and_stonewall_separates() {
    let file = "; a comment\n[global]\nioengine=io_uring\nbs=4k\nsize=${SIZE}\ndirect=1\n\
                [fill]\nrw=write ; to the end\n[global]\nruntime=10\ntime_based\n\
                [read]\nstonewall\nrw=randread\niodepth=8\nnumjobs=2\n\
                [write]\nrw=randwrite\nbs=16k\nnew_group\nfilename=/there/x\n";
    check(
        "job",
        file,
        &expect![[r#"
            fill: None warm 0 s, Closed, IoUring, seed 137
              fill.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 0 depth 1×1 sync 0 share 1.00 own None stop Some(67108864)
                besides batches {"collect_least":1,"collect_most":1,"refill_below":1,"submit":1}, times_submission true
                fill.0.0 Some((0, 67108864)) make Some(67108864) direct
            read+write: Some(10.0) warm 0 s, Closed, IoUring, seed 138
              read.0: Permutation [(4096, 4096, 1.0)] read 1 depth 1×8 sync 0 share 0.33 own None stop None
                besides batches {"collect_least":1,"collect_most":1,"refill_below":8,"submit":1}, times_submission true
                read.0.0 Some((0, 67108864)) make Some(67108864) direct
              read.1: Permutation [(4096, 4096, 1.0)] read 1 depth 1×8 sync 0 share 0.33 own None stop None
                besides batches {"collect_least":1,"collect_most":1,"refill_below":8,"submit":1}, times_submission true
                read.1.0 Some((0, 67108864)) make Some(67108864) direct
              write.0: Permutation [(16384, 16384, 1.0)] read 0 depth 1×1 sync 0 share 0.33 own None stop None
                besides batches {"collect_least":1,"collect_most":1,"refill_below":1,"submit":1}, times_submission true
                /there/x Some((0, 67108864)) make None direct
            report fill group 0 jobs 1 parts 1
            report read group 1 jobs 1 parts 1
            report read group 1 jobs 1 parts 1
            report write group 2 jobs 1 parts 1
        "#]],
    );
    check(
        "--section=fill job",
        file,
        &expect![[r#"
            fill: None warm 0 s, Closed, IoUring, seed 137
              fill.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 0 depth 1×1 sync 0 share 1.00 own None stop Some(67108864)
                besides batches {"collect_least":1,"collect_most":1,"refill_below":1,"submit":1}, times_submission true
                fill.0.0 Some((0, 67108864)) make Some(67108864) direct
            report fill group 0 jobs 1 parts 1
        "#]],
    );
}

#[test]
fn compiles_sizes_mixes_and_rates() {
    let base = "[a]\nfilename=/there/x\ndirect=1\n";
    check(
        "job",
        &format!(
            "{base}rw=randrw\nrwmixread=70\nbssplit=4k/25:64k/\nsize=8m\nrate_iops=70,30\nrate_process=poisson\n"
        ),
        &expect![[r#"
            a: None warm 0 s, Open { rate_per_s: 100.0, arrivals: Exponential }, Threads, seed 137
              a.0: Permutation [(4096, 4096, 0.25), (65536, 65536, 0.75)] read 0.7 depth 1×1 sync 0 share 1.00 own None stop Some(8388608)
                /there/x Some((0, 8388608)) make None direct
            report a group 0 jobs 1 parts 1
        "#]],
    );
    check(
        "job",
        &format!(
            "{base}rw=read:8k\nbs=8k\nrate=1m\nsize=50%\noffset=10%\nloops=2\nramp_time=5\nruntime=60\n"
        ),
        &expect![[r#"
            a: Some(60.0) warm 5 s, Open { rate_per_s: 128.0, arrivals: Constant }, Threads, seed 137
              a.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 8192 } [(8192, 8192, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(1073741824)
                /there/x Some((107380736, 644251648)) make None direct
            report a group 0 jobs 1 parts 1
        "#]],
    );
    check(
        "job",
        &format!(
            "{base}rw=randwrite\npercentage_random=30\nbsrange=4k-16k\nio_size=1m\nfsync=4\nrandrepeat=0\nnumber_ios=100\n"
        ),
        &expect![[r#"
            a: None warm 0 s, Closed, Threads, seed 7
              a.0: Mixed { random_share: 0.3 } [(4096, 16384, 1.0)] read 0 depth 1×1 sync 4 share 1.00 own None stop Some(1048576)
                /there/x Some((0, 1073741824)) make None direct
            report a group 0 jobs 1 parts 1
        "#]],
    );
    check(
        "job",
        "[a]\nrw=randread\nioengine=libaio\niodepth=8\nnrfiles=2\nsize=8m\noffset_increment=1m\nnumjobs=2\ndirectory=/data\n",
        &expect![[r#"
            a: None warm 0 s, Closed, Libaio, seed 137
              a.0: Permutation [(4096, 4096, 1.0)] read 1 depth 1×8 sync 0 share 0.50 own None stop Some(8388608)
                besides batches {"collect_least":1,"collect_most":1,"refill_below":8,"submit":1}, times_submission true, turns "round"
                /data/a.0.0 Some((0, 4194304)) make Some(4194304)
                /data/a.0.1 Some((0, 4194304)) make Some(4194304)
              a.1: Permutation [(4096, 4096, 1.0)] read 1 depth 1×8 sync 0 share 0.50 own None stop Some(8388608)
                besides batches {"collect_least":1,"collect_most":1,"refill_below":8,"submit":1}, times_submission true, turns "round"
                /data/a.1.0 Some((1048576, 5242880)) make Some(5242880)
                /data/a.1.1 Some((1048576, 5242880)) make Some(5242880)
            report a group 0 jobs 1 parts 1
            report a group 0 jobs 1 parts 1
        "#]],
    );
}

#[test]
fn verify_adds_read_back_phase() {
    let file = "[a]\nrw=randwrite\nbs=4k\nsize=1m\nverify=crc32c\nfilename=/there/x\n";
    check(
        "job",
        file,
        &expect![[r#"
            a: None warm 0 s, Closed, Threads, seed 137
              a.0: Permutation [(4096, 4096, 1.0)] read 0 depth 1×1 sync 0 share 1.00 own None stop Some(1048576)
                /there/x Some((0, 1048576)) make None
            a (verify): None warm 0 s, Closed, Threads, seed 137
              a.0: Sequential { cursor: Shared, at_end: Stop, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(1052672)
                besides reads_back true
                /there/x Some((0, 1048576)) make None
            report a group 0 jobs 1 parts 2
        "#]],
    );
    check(
        "job",
        &format!("{file}do_verify=0\n"),
        &expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Permutation [(4096, 4096, 1.0)] read 0 depth 1×1 sync 0 share 1.00 own None stop Some(1048576)
            /there/x Some((0, 1048576)) make None
        report a group 0 jobs 1 parts 1
    "#]],
    );
}

#[test]
fn faults_have_a_place_and_a_hint() {
    check_cases(22, &expect_file!["tests/cases/faults.txt"], render_refused);
}

#[test]
fn limits_one_direction_of_a_mix() {
    let file = "[a]\nrw=randrw\nrate_iops=100,\nsize=1m\ntime_based\n";
    let plan = plan("job", &[("job", file)]).unwrap();
    let workload = &plan.plan.phases[0].workload;
    let order = workload.streams[0].conduct.order.as_ref().unwrap();
    assert_eq!(order.paces_per_s, [Some(100.0), None]);
    assert_eq!(workload.load, StorageLoad::Closed);
    assert!(
        plan.notes
            .contains(&"time_based has no effect without a runtime, as in fio".to_owned())
    );
}

#[test]
fn options_take_a_value_for_each_direction() {
    let sizes = |text: &str| {
        let file = format!("[a]\nsize=1m\nbs={text}\n");
        let plan = plan("job", &[("job", &file)]).unwrap();
        let sizes = &plan.options[0].sizes;
        [&sizes.read, &sizes.write, &sizes.trim].map(|list| list[0].min_bytes >> 10)
    };
    // As fio 3.33: a comma at the end leaves the other directions alone.
    for (text, expected) in [
        ("16k", [16, 16, 16]),
        ("16k,", [16, 4, 4]),
        (",8k", [4, 8, 8]),
        ("8k,16k", [8, 16, 16]),
        ("8k,16k,", [8, 16, 4]),
        ("8k,,32k", [8, 4, 32]),
        ("8k,16k,32k", [8, 16, 32]),
    ] {
        assert_eq!(sizes(text), expected, "{text}");
    }
    check_refused(
        "job",
        "[a]\nsize=1m\npercentage_random=1,2,3,4\n",
        &expect![[r#"
            job:3:1: invalid value `1,2,3,4` for `percentage_random`: it must be up to three values, for reads,writes,trims
            see `man fio` for the values of this option
        "#]],
    );
}

#[test]
fn verification_follows_each_pass() {
    let names = |file: &str| {
        let plan = plan("job", &[("job", file)]).unwrap();
        plan.plan.phases.iter().map(|phase| phase.name.clone()).collect::<Vec<_>>().join(", ")
    };
    for (more, expected) in [
        ("", "a, a (verify)"),
        ("loops=2\n", "a, a (verify), a, a (verify)"),
        ("do_verify=0\n", "a"),
        ("verify_backlog=16\n", "a"),
        ("time_based\nruntime=5\n", "a"),
        ("verify_only\n", "a, a (verify)"),
        ("verify_only\ndo_verify=0\n", "a"),
    ] {
        let file = format!("[a]\nrw=randwrite\nsize=1m\nverify=crc32c\n{more}");
        assert_eq!(names(&file), expected, "{more}");
    }
}

#[test]
fn includes_are_relative_and_not_cyclic() {
    let main = "[global]\ninclude more.fio\n[a]\nsize=1m\n";
    let files = [("dir/job", main), ("dir/more.fio", "bs=16k\ndirect=1\n")];
    let plan = plan("dir/job", &files).unwrap();
    assert_eq!(plan.plan.phases[0].workload.streams[0].sizes[0].min_bytes, 16384);
    let round = request("job", &[("job", "[a]\ninclude job\n")]).unwrap_err();
    assert!(round.to_string().contains("16 deep"), "{round}");
}

#[test]
fn arithmetic_expands_machine_keywords() {
    let request = request("--name=a --size=8*$pagesize --numjobs=$ncpus", &[]).unwrap();
    let job = FioOptions::from_section(&request.sections[0]).unwrap();
    assert_eq!(job.size, Some(SizeOrPercent::Bytes(32768)));
    assert_eq!(job.clones, 2);
}

/// Generates nearly valid lines: they reach deeper into the parser than noise.
fn line() -> impl Strategy<Value = String> {
    let names: Vec<&str> = option::all_options().flat_map(|row| row.spellings()).collect();
    let value = prop_oneof![
        "[0-9]{1,20}[kmgtp%]?i?b?",
        "[(0-9k+*/^)-]{0,80}",
        "[a-z:/,.$0-9-]{0,30}",
        "\\PC{0,20}",
    ];
    let setting = (prop::sample::select(names), value).prop_map(|(n, v)| format!("{n}={v}"));
    prop_oneof![
        4 => setting,
        1 => "\\[[a-z]{0,5}\\]?",
        1 => "\\PC{0,40}",
        1 => Just("rw=randrw".to_owned()),
        1 => Just("size=1m".to_owned()),
    ]
}

proptest! {
    #[test]
    fn no_job_file_panics(lines in prop::collection::vec(line(), 0..12), bytes in any::<Vec<u8>>()) {
        let file = format!("[a]\nsize=1m\n{}", lines.join("\n"));
        if let Ok(plan) = plan("job", &[("job", &file)]) {
            prop_assert!(!plan.plan.phases.is_empty());
        }
        let noise = String::from_utf8_lossy(&bytes);
        drop(plan("job", &[("job", &noise)]));
        drop(plan(&noise, &[]));
    }
}
