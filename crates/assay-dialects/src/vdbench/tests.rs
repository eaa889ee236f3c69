//! Tests with parameter files of a published page, every diagnostic, and arbitrary bytes.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use assay_model::workload::storage::{
    AccessPattern, ArrivalProcess, AtEnd, Cursor, RateRounding, SizeShare, Skew, StorageLoad,
    StorageWorkload, Verify, WriteSync,
};

use super::commands::LoopLimit;
use super::diagnostic::{Diagnostic, DiagnosticSeverity};
use super::{
    PathInfo, RateLabel, VdbenchEnv, VdbenchExecution, VdbenchInput, compile_files, output,
};

mod bytes;
mod concatenation;
mod diagnostics;
mod duplicates;
mod file_systems;
mod generated;
mod golden;
mod page;
mod simulation;
mod text;

/// Compiles files that exist only in memory; `/dev/…` are devices of 1 GiB.
fn compile(
    files: &HashMap<PathBuf, Vec<u8>>,
    input: &VdbenchInput,
) -> Result<VdbenchExecution, Vec<Diagnostic>> {
    let mut load = |path: &Path| {
        files.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    };
    let mut look = |path: &Path| {
        path.starts_with("/dev").then_some(PathInfo { bytes: 1 << 30, device: true })
    };
    compile_files(input, &mut VdbenchEnv { read_file: &mut load, inspect: &mut look })
}

fn input(file: &str) -> VdbenchInput {
    VdbenchInput {
        files: vec![file.into()],
        variables: Vec::new(),
        elapsed_s: None,
        interval_s: None,
        warmup_s: None,
        format: None,
        verify: Verify::Off,
        submitters: 2,
        seed: 1,
        is_apart: false,
        simulates: false,
    }
}

/// Compiles one file without includes.
fn compile_text(text: &str) -> Result<VdbenchExecution, Vec<Diagnostic>> {
    let files = HashMap::from([(PathBuf::from("file"), text.as_bytes().to_vec())]);
    compile(&files, &input("file"))
}

/// Compiles one file with distributed hosts.
fn compile_distributed(text: &str) -> Result<VdbenchExecution, Vec<Diagnostic>> {
    let files = HashMap::from([(PathBuf::from("file"), text.as_bytes().to_vec())]);
    compile(&files, &VdbenchInput { is_apart: true, ..input("file") })
}

/// Compiles one valid file.
fn compile_valid(text: &str) -> VdbenchExecution {
    match compile_text(text) {
        Ok(execution) => execution,
        Err(found) => panic!("{text}\n{}", render(&found)),
    }
}

fn render(found: &[Diagnostic]) -> String {
    found.iter().map(ToString::to_string).collect()
}

/// Returns the workload of a file with the usual run and storage.
fn workload(middle: &str) -> StorageWorkload {
    let text = format!(
        "sd=sd1,lun=/a,size=1g\n{middle}\nrd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1"
    );
    compile_valid(&text).plan.phases.remove(0).workload
}

#[test]
fn seekpct_selects_the_access_pattern() {
    let sequential =
        |cursor, at_end| AccessPattern::Sequential { cursor, at_end, gap_bytes: 0 };
    let table = [
        ("wd=wd1,sd=sd1", AccessPattern::Random),
        ("wd=wd1,sd=sd1,seekpct=100", AccessPattern::Random),
        ("wd=wd1,sd=sd1,seekpct=random", AccessPattern::Random),
        ("wd=wd1,sd=sd1,seekpct=0", sequential(Cursor::Shared, AtEnd::Wrap)),
        ("wd=wd1,sd=sd1,seekpct=seq", sequential(Cursor::Shared, AtEnd::Wrap)),
        ("wd=wd1,sd=sd1,seekpct=eof", sequential(Cursor::Shared, AtEnd::Stop)),
        ("wd=wd1,sd=sd1,seekpct=-1", sequential(Cursor::Shared, AtEnd::Stop)),
        ("wd=wd1,sd=sd1,see=20", AccessPattern::Mixed { random_share: 0.2 }),
        ("wd=wd1,sd=sd1,seekpct=0,streams=4", sequential(Cursor::Divided, AtEnd::Wrap)),
        (
            "wd=wd1,sd=sd1,stride=(8k,1m)",
            AccessPattern::Strides { least_bytes: 8192, most_bytes: 1 << 20 },
        ),
    ];
    for (text, expected) in table {
        assert_eq!(workload(text).streams[0].pattern, expected, "{text}");
    }
}

#[test]
fn each_run_of_each_pass_has_its_own_seed() {
    let execution = compile_valid(
        "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1,forthreads=(1,2,3)",
    );
    assert_eq!(execution.for_pass(1), execution);
    let seeds = (1..=4).flat_map(|number| {
        let phases = execution.for_pass(number).plan.phases;
        phases.into_iter().map(|phase| phase.workload.seed)
    });
    assert_eq!(seeds.collect::<std::collections::BTreeSet<_>>().len(), 12);
}

#[test]
fn parses_transfer_sizes() {
    let one = |bytes, share| SizeShare {
        min_bytes: bytes,
        max_bytes: bytes,
        step_bytes: bytes,
        share,
    };
    let table = [
        ("wd=wd1,sd=sd1", vec![one(4096, 1.0)]),
        ("wd=wd1,sd=sd1,xf=8k", vec![one(8192, 1.0)]),
        ("wd=wd1,sd=sd1,xfersizes=0.25m", vec![one(262_144, 1.0)]),
        ("wd=wd1,sd=sd1,xfersize=8kb", vec![one(8192, 1.0)]),
        ("wd=wd1,sd=sd1,xfersize=(4k,25,8k,75)", vec![one(4096, 0.25), one(8192, 0.75)]),
        (
            "wd=wd1,sd=sd1,xfersize=(4k,16k,4k)",
            vec![SizeShare { min_bytes: 4096, max_bytes: 16384, step_bytes: 4096, share: 1.0 }],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(workload(text).streams[0].sizes, expected, "{text}");
    }
}

#[test]
fn skew_divides_rate_and_threads() {
    let two = "wd=wd1,sd=sd1,skew=75\nwd=wd2,sd=sd1";
    let text = format!(
        "sd=sd1,lun=/a,size=1g,threads=8\n{two}\nrd=rd1,wd=wd*,iorate=1000,elapsed=10,interval=1"
    );
    let workload = compile_valid(&text).plan.phases.remove(0).workload;
    assert_eq!(workload.targets.len(), 1);
    let shares: Vec<_> = workload
        .streams
        .iter()
        .map(|stream| (stream.name.as_str(), stream.rate_share, stream.in_flight_per_target))
        .collect();
    assert_eq!(shares, [("wd1", 0.75, 6), ("wd2", 0.25, 2)]);
    let arrivals = ArrivalProcess::Exponential;
    assert_eq!(workload.load, StorageLoad::Open { rate_per_s: 1000.0, arrivals });
}

#[test]
fn loops_nest_in_written_order() {
    let text = "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,forthreads=(1-4,d),forxfersize=(4k,8k),iorate=(100,200),el=4,in=2";
    let execution = compile_valid(text);
    let labels: Vec<String> = execution
        .runs
        .iter()
        .map(|run| {
            format!("{} {}", output::format_loops(run), output::format_rate(run.rate, None))
        })
        .collect();
    assert_eq!(labels.len(), 12);
    assert_eq!(labels[0], "threads=1 xfersize=4k iorate=100 100");
    assert_eq!(labels[1], "threads=1 xfersize=4k iorate=200 200");
    assert_eq!(labels[2], "threads=1 xfersize=8k iorate=100 100");
    assert_eq!(labels[11], "threads=4 xfersize=8k iorate=200 200");
}

#[test]
fn curve_expands_to_maximum_and_percentages() {
    let text = "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,curve=(10-30,10),iorate=curve,stopcurve=5,elapsed=4,interval=1";
    let execution = compile_valid(text);
    let names: Vec<_> = execution.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["rd1", "rd1_(10%)", "rd1_(20%)", "rd1_(30%)"]);
    assert_eq!(execution.runs[0].rate, RateLabel::UncontrolledCurve);
    assert_eq!(execution.runs[0].stop_curve_ms, None, "the maximum rate never ends a curve");
    assert_eq!(execution.runs[1].stop_curve_ms, Some(5.0));
    for phase in &execution.plan.phases[1..] {
        let vdbench = RateRounding::Vdbench;
        assert!(
            matches!(phase.workload.load, StorageLoad::ShareOf { phase: 0, rounding, .. } if rounding == vdbench)
        );
    }
}

#[test]
fn expands_value_ranges() {
    let threads = |list: &str| {
        let text = format!(
            "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\n\
             rd=rd1,wd=wd1,forthreads=({list}),iorate=max,elapsed=4,interval=1"
        );
        let values = compile_valid(&text);
        values.runs.iter().filter_map(|run| run.parameters.threads).collect::<Vec<_>>()
    };
    assert_eq!(threads("1-5,2"), [1.0, 3.0, 5.0]);
    assert_eq!(threads("1-64,d"), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
    assert_eq!(threads("1,64,d").len(), 7, "Vdbench's manual promises it");
    assert_eq!(threads("8-1,d"), [8.0, 4.0, 2.0, 1.0]);
    assert_eq!(threads("64-1,1"), [64.0], "as Vdbench does, with a warning");
    assert_eq!(threads("1,2,7"), [1.0, 2.0, 7.0]);
}

#[test]
fn device_ranges_skip_first_block_and_are_aligned() {
    let range = |storage: &str, workload: &str| {
        let text = format!(
            "{storage}\nwd=wd1,sd=sd1,xfersize=64k{workload}\n\
             rd=rd1,wd=wd1,iorate=max,elapsed=4,interval=1"
        );
        compile_valid(&text).plan.phases[0].workload.targets[0].range_bytes
    };
    let device = "sd=sd1,lun=/dev/sdx,openflags=o_direct";
    assert_eq!(range(device, ""), Some((65536, 1 << 30)));
    assert_eq!(range("sd=sd1,lun=/a,size=1g", ""), None);
    assert_eq!(range("sd=sd1,lun=/a,size=1g,range=(0,50)", ""), Some((0, 1 << 29)));
    assert_eq!(range("sd=sd1,lun=/a,size=1g", ",range=(1m,2m)"), Some((1 << 20, 2 << 20)));
}

#[test]
fn repeats_lines_per_host() {
    let text = "hd=default,user=root\nhd=a,system=localhost\nhd=b,system=localhost\n\
                sd=sd_$host,lun=/data/#host-of-#hosts,host=$host,size=1g\n\
                wd=wd1,sd=sd_*\nrd=rd1,wd=wd1,iorate=max,elapsed=4,interval=1";
    let execution = compile_valid(text);
    let targets = &execution.plan.phases[0].workload.targets;
    let paths: Vec<_> =
        targets.iter().map(|target| (target.name.as_str(), target.path.to_str())).collect();
    assert_eq!(paths, [("sd_a", Some("/data/1-of-2")), ("sd_b", Some("/data/2-of-2"))]);
    let hosts: Vec<_> = execution.hosts.iter().map(|host| host.label.as_str()).collect();
    assert_eq!(hosts, ["a", "b"]);
}

#[test]
fn variables_are_replaced_longest_first() {
    let files = HashMap::from([(
        PathBuf::from("file"),
        b"sd=sd1,lun=$dir/$dirname,size=!size\nwd=wd1,sd=sd1\n\
          rd=rd1,wd=wd1,iorate=max,elapsed=4,interval=1"
            .to_vec(),
    )]);
    let variables = [("dir", "/x"), ("dirname", "y"), ("size", "1g"), ("other", "1")];
    let mut input = input("file");
    input.variables =
        variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let execution = compile(&files, &input).unwrap();
    let target = &execution.plan.phases[0].workload.targets[0];
    assert_eq!((target.path.to_str(), target.size_bytes), (Some("/x/y"), Some(1 << 30)));
    let unused: Vec<_> = execution.notes.iter().map(|note| note.code).collect();
    assert_eq!(unused, ["V104"], "one variable is not used");
}

#[test]
fn count_replicates_storage() {
    let text = "sd=sd,lun=/a/f%04d,size=1g,count=(3,2)\nwd=wd1,sd=(sd3-sd4)\n\
                rd=rd1,wd=wd1,iorate=max,elapsed=4,interval=1";
    let targets = &compile_valid(text).plan.phases[0].workload.targets;
    let paths: Vec<_> =
        targets.iter().map(|target| target.path.display().to_string()).collect();
    assert_eq!(paths, ["/a/f0003", "/a/f0004"]);
}

#[test]
fn command_line_overrides_times() {
    let text = b"sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\n\
                 rd=rd1,wd=wd1,iorate=max,elapsed=10m,interval=5,warmup=1m";
    let files = HashMap::from([(PathBuf::from("file"), text.to_vec())]);
    let written = compile(&files, &input("file")).unwrap();
    assert_eq!((written.runs[0].elapsed_s, written.runs[0].warmup_s), (600.0, 60.0));
    let mut input = input("file");
    (input.elapsed_s, input.interval_s, input.warmup_s) = (Some(4.0), Some(1.0), Some(2.0));
    let run = compile(&files, &input).unwrap().runs.remove(0);
    assert_eq!((run.elapsed_s, run.interval_s, run.warmup_s), (4.0, 1.0, 2.0));
}

#[test]
fn poisson_and_hotband_set_skew_and_range() {
    for (text, mean_share, range) in [
        ("seekpct=poisson", 1.0 / 3.0, None),
        ("seekpct=(poisson,5)", 0.2, None),
        ("hotband=(50,75)", 1.0 / 3.0, Some((1 << 29, 3 << 28))),
    ] {
        let workload = workload(&format!("wd=wd1,sd=sd1,{text}"));
        let stream = &workload.streams[0];
        assert_eq!(stream.pattern, AccessPattern::Random, "{text}");
        assert_eq!(stream.conduct.skew, Some(Skew::Exponential { mean_share }), "{text}");
        assert_eq!(workload.targets[0].range_bytes, range, "{text}");
    }
}

#[test]
fn skew_without_rate_balances_load() {
    let table = [
        (
            "wd=wd1,sd=sd1,skew=30\nwd=wd2,sd=sd1,skew=70",
            StorageLoad::Balanced,
            RateLabel::ControlledMax,
        ),
        ("wd=wd1,sd=sd1\nwd=wd2,sd=sd1", StorageLoad::Closed, RateLabel::UncontrolledMax),
    ];
    for (text, load, label) in table {
        let text = format!(
            "sd=sd1,lun=/a,size=1g\n{text}\nrd=rd1,wd=wd*,iorate=max,elapsed=10,interval=1"
        );
        let execution = compile_valid(&text);
        assert_eq!(execution.plan.phases[0].workload.load, load, "{text}");
        assert_eq!(execution.runs[0].rate, label, "{text}");
    }
}

#[test]
fn accepts_priority_only_for_workloads_with_rate() {
    let usual = |middle: &str| {
        format!(
            "sd=sd1,lun=/a,size=1g\n{middle}\nrd=rd1,wd=wd*,iorate=max,elapsed=10,interval=1"
        )
    };
    compile_valid(&usual("wd=wd1,sd=sd1,iorate=50,priority=1\nwd=wd2,sd=sd1,priority=2"));
    for refused in [
        "wd=wd1,sd=sd1,priority=1\nwd=wd2,sd=sd1,priority=2",
        "wd=wd1,sd=sd1,priority=1\nwd=wd2,sd=sd1,iorate=50,priority=2",
    ] {
        let found = compile_text(&usual(refused)).unwrap_err();
        assert!(found.iter().any(|one| one.code == "V114"), "{}", render(&found));
    }
}

#[test]
fn parses_validate_and_loop() {
    let with = |general: &str| {
        compile_valid(&format!(
            "{general}\nsd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\n\
             rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1"
        ))
    };
    let table = [
        ("validate=no", Verify::Off),
        ("validate=yes", Verify::OnRead),
        ("validate=(yes,read_after_write)", Verify::AfterWrite),
        ("validate=(read,time)", Verify::AfterWrite),
        ("validate=(time,no)", Verify::Off),
    ];
    for (general, verify) in table {
        let workload = &with(general).plan.phases[0].workload;
        assert_eq!(workload.data.verify, verify, "{general}");
    }
    let table = [
        ("loop=3", Some(LoopLimit::Times(3))),
        ("loop=90s", Some(LoopLimit::Seconds(90))),
        ("loop=2h", Some(LoopLimit::Seconds(7200))),
        ("compratio=1", None),
    ];
    for (general, repetition) in table {
        assert_eq!(with(general).repetition, repetition, "{general}");
    }
    for wrong in ["loop=0", "loop=x", "loop=1d", "validate=perhaps", "validate=(yes,)"] {
        assert!(compile_text(&format!("{wrong}\nsd=sd1,lun=/a,size=1g\n")).is_err(), "{wrong}");
    }
}

#[test]
fn parses_open_flags_by_name_and_number() {
    let table = [
        ("o_direct", (true, WriteSync::None)),
        ("0x4000", (true, WriteSync::None)),
        ("0x5000", (true, WriteSync::Data)),
        ("(0x4000,o_sync)", (true, WriteSync::All)),
        ("0x101000", (false, WriteSync::All)),
    ];
    for (flags, expected) in table {
        let workload = workload(&format!("wd=wd1,sd=sd1,openflags={flags}"));
        let target = &workload.targets[0];
        assert_eq!((target.direct, target.sync), expected, "{flags}");
    }
    for wrong in ["0x", "0x4001", "0x100000", "0xffffffffff", "o_nothing"] {
        let text = format!("sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1,openflags={wrong}\n");
        assert_eq!(compile_text(&text).unwrap_err()[0].code, "V113", "{wrong}");
    }
}

#[test]
fn formatsds_shifts_following_runs() {
    let execution = compile_valid(
        "formatsds=yes\nsd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\n\
         rd=rd1,wd=wd1,iorate=curve,curve=50,elapsed=10,interval=1",
    );
    let names: Vec<&str> = execution.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["SD_format", "rd1", "rd1_(50%)"]);
    let numbers: Vec<usize> = execution.runs.iter().map(|run| run.number).collect();
    assert_eq!(numbers, [0, 1, 2]);
    let StorageLoad::ShareOf { phase, .. } = execution.plan.phases[2].workload.load else {
        panic!("a point of a curve is a share");
    };
    assert_eq!(phase, 1);
    let found = compile_text(
        "formatsds=yes,formatxfersize=1m\nsd=sd1,lun=/a,size=1536k\nwd=wd1,sd=sd1\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1",
    )
    .unwrap_err();
    assert_eq!(found[0].code, "V154");
}
