//! Tests of IOR's options, plans and output.

use std::fmt::Write as _;

use assay_model::workload::storage::{AccessPattern, NewFile, StorageStream};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::Value;

use super::command_line;
use super::compile::{self, IorAccess, compile};
use super::json;
use super::options::{IorOptions, IorOptionsError};
use super::result::{AccessResult, IorTestResult, Stonewall};
use super::text::{self, IorRunInfo};
use assay_model::facts::FileSystemCapacity;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Parses a command line with one test and no script.
fn read(words: &[String]) -> Result<IorOptions, IorOptionsError> {
    let mut load = |_: &str| Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    command_line::parse(words, &mut load).map(|mut tests| tests.remove(0))
}

/// Formats an error with its location; words are counted from 0.
fn error_with_location(error: &IorOptionsError) -> String {
    match error {
        IorOptionsError::Words { at, .. } => format!("{at:?}: {error}"),
        IorOptionsError::Line { file, line, .. } => format!("{file}:{line}: {error}"),
        _ => error.to_string(),
    }
}

fn check_refused(line: &str, expected: &Expect) {
    let error = read(&words(line)).unwrap_err();
    expected.assert_eq(&format!("{}\n{}\n", error_with_location(&error), error.hint()));
}

#[test]
fn accepts_glued_values_and_clustered_flags() {
    let all = ["-w -r -k -b 4m -t 1m -o f", "-wrk -b4m -t=1m -o=f", "-wrkb 4m -t1m -of"];
    let expected = IorOptions {
        write: true,
        read: true,
        keep: true,
        block_bytes: 4 << 20,
        transfer_bytes: 1 << 20,
        test_file: "f".to_owned(),
        ..IorOptions::default()
    };
    for line in all {
        assert_eq!(read(&words(line)).unwrap(), expected, "{line}");
    }
    let neither = read(&words("-o f")).unwrap();
    assert!(neither.write && neither.read, "without -w and -r both are done");
}

#[test]
fn rejects_unsupported_options_by_name() {
    check_refused(
        "-a MPIIO",
        &expect![[r#"
            0..2: invalid value `MPIIO` for `-a`: only POSIX is supported
            see docs/ior.md for the supported options, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
        "#]],
    );
    check_refused(
        "-L",
        &expect![[r#"
            0..1: IOR has no option `-L`
            see docs/ior.md for the supported options, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
        "#]],
    );
    check_refused(
        "-c",
        &expect![[r#"
            0..1: `assay ior` does not support -c: POSIX I/O is never collective
            remove it, or run this test with IOR itself; docs/ior.md lists the supported options
        "#]],
    );
    check_refused(
        "--posix.odirct",
        &expect![[r#"
            0..1: IOR has no option `--posix.odirct`
            did you mean `--posix.odirect`?
        "#]],
    );
    check_refused(
        "-b 1m -t 300k",
        &expect![[r#"
            0..4: block size (-b) must be a multiple of transfer size (-t)
            see docs/ior.md; IOR itself rejects this, too
        "#]],
    );
    check_refused(
        "-b 1m -t 1m -z",
        &expect![[r#"
            0..5: -z shuffles the transfers of a block, and there is one transfer in a block
            see docs/ior.md; IOR itself rejects this, too
        "#]],
    );
    check_refused(
        "-b 1x",
        &expect![[r#"
            0..2: invalid value `1x` for `-b`: it must be a number, or a size like 4k, 1m or 2g
            see docs/ior.md for the supported options, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
        "#]],
    );
    check_refused(
        "-t",
        &expect![[r#"
            0..1: `-t` has no value: it must be a number, or a size like 4k, 1m or 2g
            see docs/ior.md for the supported options, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
        "#]],
    );
    let table = [
        "-O stoneWallingWearOut=1",
        "-O stoneWallingWearOut=2 -D 1",
        "-O stoneWallingStatusFile=x",
        "-O stoneWallingStatusFile=x -k -w -D 1",
        "-O minTimeDuration=5",
        "-O savePerOpDataCSV=x",
        "-O keepFile=yes",
        "-O checkRea=1",
        "-O",
        "-C -Z",
        "-z -Z",
        "--randomPrefill=1m",
        "--randomPrefill=3m -z -b 4m",
        "--randomPrefill=x -z",
        "--posix.rangelocks",
        "--mmap.madv_dont_need",
        "-l x",
        "-X a",
        "-O saveRankPerformanceDetailsCSV=",
        "-f script",
        "-kf script",
        "-f",
    ];
    let mut shown = String::new();
    for line in table {
        writeln!(shown, "{line}: {}", error_with_location(&read(&words(line)).unwrap_err()))
            .unwrap();
    }
    expect![[r#"
        -O stoneWallingWearOut=1: 0..2: -O stoneWallingWearOut needs a deadline, -D
        -O stoneWallingWearOut=2 -D 1: 0..2: invalid value `2` for `stoneWallingWearOut`: it must be 0 or 1
        -O stoneWallingStatusFile=x: 0..2: -O stoneWallingStatusFile needs kept files, -k
        -O stoneWallingStatusFile=x -k -w -D 1: 0..6: -O stoneWallingStatusFile needs -O stoneWallingWearOut=1 when writing
        -O minTimeDuration=5: 0..2: `assay ior` does not support minTimeDuration=5: a repetition is done once
        -O savePerOpDataCSV=x: 0..2: `assay ior` does not support savePerOpDataCSV=x: single transfers are not logged
        -O keepFile=yes: 0..2: invalid value `yes` for `keepFile`: it must be 0 or 1
        -O checkRea=1: 0..2: IOR has no option `checkRea`
        -O: 0..1: `-O` has no value: it must be NAME=VALUE, like blockSize=4m
        -C -Z: 0..2: -C and -Z exclude each other
        -z -Z: 0..2: -z cannot be combined with -C or -Z on a shared file
        --randomPrefill=1m: 0..1: --randomPrefill needs -z
        --randomPrefill=3m -z -b 4m: 0..4: --randomPrefill must divide the block size (-b)
        --randomPrefill=x -z: 0..1: invalid value `x` for `--randomPrefill`: it must be a size like 2m
        --posix.rangelocks: 0..1: `assay ior` does not support --posix.rangelocks: range locks have no effect between ranks of one process
        --mmap.madv_dont_need: 0..1: `assay ior` does not support --mmap.madv_dont_need: only POSIX is supported
        -l x: 0..2: invalid value `x` for `-l`: it must be offset, incompressible, timestamp or random
        -X a: 0..2: invalid value `a` for `-X`: it must be a whole number
        -O saveRankPerformanceDetailsCSV=: 0..2: `saveRankPerformanceDetailsCSV` has no value: it must be a file
        -f script: 0..2: cannot read the script `script`: entity not found
        -kf script: 0..1: `assay ior` does not support -f: a script needs a separate option
        -f: 0..1: cannot read the script ``: entity not found
    "#]].assert_eq(&shown);
    check_refused(
        "-O sumaryFormat=JSON",
        &expect![[r#"
            0..2: IOR has no option `sumaryFormat`
            did you mean `summaryFormat`?
        "#]],
    );
    check_refused(
        "-N 4 -b 8388607t -t 1t -s 1000",
        &expect![[r#"
            0..8: the total size exceeds 2^63 - 1 bytes
            see docs/ior.md; IOR itself rejects this, too
        "#]],
    );
    check_refused(
        "file",
        &expect![[r#"
            0..1: IOR has no option `file`
            see docs/ior.md for the supported options, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
        "#]],
    );
}

/// Checks file, first byte, block stride and end of every rank's part.
fn check_layout(line: &str, access: IorAccess, expected: &[(&str, u64, u64, u64)]) {
    let options = read(&words(line)).unwrap();
    let (plan, accesses) = compile(&options, 0);
    let index = accesses.iter().position(|it| *it == access).unwrap();
    let workload = &plan.phases[index].workload;
    let found: Vec<_> = workload
        .streams
        .iter()
        .map(|stream| {
            let target = &workload.targets[stream.targets[0]];
            let (start, end) = target.range_bytes.unwrap();
            let AccessPattern::Blocks { stride_bytes, .. } = stream.pattern else {
                panic!("{:?}", stream.pattern)
            };
            (target.name.as_str(), start, stride_bytes, end)
        })
        .collect();
    assert_eq!(found, expected, "{line}");
}

#[test]
fn assigns_parts_to_ranks() {
    const K: u64 = 1024;
    let shared = "-N 3 -b 4k -t 1k -s 2 -o f -C";
    check_layout(
        shared,
        IorAccess::Write,
        &[("f", 0, 12 * K, 24 * K), ("f", 4 * K, 12 * K, 24 * K), ("f", 8 * K, 12 * K, 24 * K)],
    );
    check_layout(
        shared,
        IorAccess::Read,
        &[("f", 4 * K, 12 * K, 24 * K), ("f", 8 * K, 12 * K, 24 * K), ("f", 0, 12 * K, 24 * K)],
    );
    check_layout(
        "-N 2 -F -b 4k -t 1k -s 2 -o f",
        IorAccess::Read,
        &[("f.00000000", 0, 4 * K, 8 * K), ("f.00000001", 0, 4 * K, 8 * K)],
    );
}

#[test]
fn text_output_matches_ior() {
    let options = read(&words("-N 2 -b 4m -t 1m -s 2 -i 2 -C -e -o /data/f")).unwrap();
    let run_info = IorRunInfo {
        version: "4.1.0+dev".to_owned(),
        began: "Sat Nov 21 14:47:44 2026".to_owned(),
        command: "ior -a POSIX".to_owned(),
        machine: ("Linux".to_owned(), "vm".to_owned()),
    };
    let result = |access, repetition, elapsed_s| AccessResult {
        access,
        repetition,
        bytes: 16 << 20,
        transfers: 16,
        open_s: 0.000_5,
        elapsed_s,
        close_s: 0.000_25,
        latency_s: 0.020_088,
        stonewall: None,
    };
    let results = vec![
        result(IorAccess::Write, 0, 0.166_817),
        result(IorAccess::Read, 0, 0.027_768),
        result(IorAccess::Write, 1, 0.067_906),
        result(IorAccess::Read, 1, 0.027_981),
    ];
    let mut shown = text::render_head(&run_info);
    let began = run_info.began;
    let test = IorTestResult { options, began, capacity: None, results };
    shown += &text::render_start(&test, 0);
    shown.extend(test.results.iter().map(|it| text::render_result(&test.options, it)));
    shown += &text::render_maximum(&test);
    shown += &text::render_end(&[test], "Sat Nov 21 14:47:45 2026");
    expect![[r#"
        IOR-4.1.0+dev: MPI Coordinated Test of Parallel I/O
        Began               : Sat Nov 21 14:47:44 2026
        Command line        : ior -a POSIX
        Machine             : Linux vm
        TestID              : 0
        StartTime           : Sat Nov 21 14:47:44 2026
        Path                : /data/f

        Options: 
        api                 : POSIX
        apiVersion          : 
        test filename       : /data/f
        access              : single-shared-file
        type                : independent
        segments            : 2
        ordering in a file  : sequential
        ordering inter file : constant task offset
        task offset         : 1
        nodes               : 1
        tasks               : 2
        clients per node    : 2
        memoryBuffer        : CPU
        dataAccess          : CPU
        GPUDirect           : 0
        repetitions         : 2
        xfersize            : 1 MiB
        blocksize           : 4 MiB
        aggregate filesize  : 16 MiB

        Results: 

        access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
        ------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
        write     95.48      95.91      0.020088    4096       1024.00    0.000500   0.166817   0.000250   0.167567   0   
        read      561.05     576.20     0.020088    4096       1024.00    0.000500   0.027768   0.000250   0.028518   0   
        write     233.05     235.62     0.020088    4096       1024.00    0.000500   0.067906   0.000250   0.068656   1   
        read      556.89     571.82     0.020088    4096       1024.00    0.000500   0.027981   0.000250   0.028731   1   
        Max Write: 233.05 MiB/sec (244.37 MB/sec)
        Max Read:  561.05 MiB/sec (588.30 MB/sec)

        Summary of all tests:
        Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum
        write         233.05      95.48     164.27      68.78     233.05      95.48     164.27      68.78    0.11811         NA            NA     0      2   2    2   0     1        1         0    0      2  4194304  1048576      16.0 POSIX      0
        read          561.05     556.89     558.97       2.08     561.05     556.89     558.97       2.08    0.02862         NA            NA     0      2   2    2   0     1        1         0    0      2  4194304  1048576      16.0 POSIX      0
        Finished            : Sat Nov 21 14:47:45 2026
    "#]].assert_eq(&shown);
}

/// Collects every path of a document with the type of its value.
fn keys_of(value: &Value, path: &str, keys: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            entries.iter().for_each(|(name, it)| keys_of(it, &format!("{path}/{name}"), keys));
        }
        Value::Array(values) => {
            values.iter().for_each(|it| keys_of(it, &format!("{path}[]"), keys));
        }
        Value::String(_) => keys.push(format!("{path} text")),
        Value::Number(_) => keys.push(format!("{path} number")),
        Value::Bool(_) | Value::Null => keys.push(format!("{path} other")),
    }
}

/// Returns a test with these options and constant results.
fn constant_result(line: &str) -> IorTestResult {
    let options = read(&words(line)).unwrap();
    let (_, accesses) = compile(&options, 0);
    let result = |access| AccessResult {
        access,
        repetition: 0,
        bytes: 2 << 20,
        transfers: 8,
        open_s: 0.01,
        elapsed_s: 0.1,
        close_s: 0.02,
        latency_s: 0.01,
        stonewall: options.wear_out.then_some(Stonewall {
            elapsed_s: 0.05,
            minimum: 1,
            maximum: 2,
            all: 3,
        }),
    };
    let results = accesses.into_iter().map(result).collect();
    let capacity =
        FileSystemCapacity { bytes: 1 << 40, free_bytes: 1 << 39, files: 100, free_files: 50 };
    IorTestResult { options, began: "now".to_owned(), capacity: Some(capacity), results }
}

/// Checks that our document has the names and types of the real one, and the same parameters and
/// options.
fn check_json(real: &str, tests: &[IorTestResult]) {
    let real: Value = serde_json::from_str(real).unwrap();
    let ours = json::document(&IorRunInfo::default(), tests, "later");
    let ours: Value = serde_json::from_str(&ours).unwrap();
    let (mut expected, mut found) = (vec![], vec![]);
    keys_of(&real, "", &mut expected);
    keys_of(&ours, "", &mut found);
    for keys in [&mut expected, &mut found] {
        keys.sort();
        keys.dedup();
    }
    assert_eq!(found, expected);
    for (number, _) in tests.iter().enumerate() {
        for name in ["Parameters", "Options"] {
            let entries = |document: &Value| {
                let mut it = document["tests"][number][name].clone();
                it.as_object_mut().unwrap().remove("platform");
                it
            };
            assert_eq!(entries(&ours), entries(&real), "{name} of test {number}");
        }
    }
}

#[test]
fn json_has_keys_and_types_of_ior() {
    check_json(
        include_str!("../../tests/golden/ior/4.1.0-random-files.json"),
        &[constant_result(
            "-N 2 -F -b 1m -t 256k -z -e -w -r -O summaryFormat=JSON -o /var/tmp/data/file",
        )],
    );
    check_json(
        include_str!("../../tests/golden/ior/4.1.0-wear-out.json"),
        &[constant_result(
            "-N 2 -F -u -m -Z -X -3 -l random -b 1m -t 256k -s 4 -w -r -k -K -D 2 -Q 2 -A 7 -d 1 -v \
             -O stoneWallingWearOut=1 -o /var/tmp/assay/file",
        )],
    );
}

#[test]
fn parses_script_with_several_tests() {
    let script = "left out\nIOR START\n api=POSIX # as ever\n testFile=/var/tmp/assay/file\n\n\
                  blockSize=1m, writeFile=1\nRUN\n  transferSize=64k\n  filePerProc=1\nRUN\n\
                  RUN\nIOR STOP\nnonsense\n";
    let tests = |text: &str| {
        let mut load = |name: &str| {
            assert_eq!(name, "s");
            Ok(text.to_owned())
        };
        command_line::parse(&words("-N 2 -f s -O summaryFormat=JSON"), &mut load)
    };
    let all = tests(script).unwrap();
    let key =
        |it: &IorOptions| (it.transfer_bytes, it.file_per_rank, it.write, it.read, it.ranks);
    let expected =
        [(256 << 10, false, true, false, 2), (64 << 10, true, true, false, 2)].map(Some);
    assert_eq!(all.len(), 3);
    assert_eq!([all.first().map(key), all.last().map(key)], expected);
    let wrong = tests("ior start\nRUN\nblockSize=7x\n").unwrap_err();
    expect![[r#"
        s:3: invalid value `7x` for `blockSize`: it must be a number, or a size like 4k, 1m or 2g
        see docs/ior.md for the supported options, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
    "#]]
    .assert_eq(&format!("{}\n{}\n", error_with_location(&wrong), wrong.hint()));
    assert_eq!(tests("no start").unwrap().len(), 1);
    check_json(
        include_str!("../../tests/golden/ior/4.1.0-script.json"),
        &[
            constant_result("-N 2 -w -b 1m -t 256k -o /var/tmp/assay/file"),
            constant_result("-N 2 -w -b 1m -t 64k -F -o /var/tmp/assay/file"),
            constant_result("-N 2 -w -b 1m -t 64k -F -o /var/tmp/assay/file"),
        ],
    );
}

#[test]
fn reordered_ranks_read_other_parts() {
    let parts = |line: &str, repetition| {
        let options = read(&words(line)).unwrap();
        let (plan, accesses) = compile(&options, repetition);
        let at = accesses.iter().position(|it| *it == IorAccess::Read).unwrap();
        let targets = &plan.phases[at].workload.targets;
        targets.iter().map(|it| it.name.clone()).collect::<Vec<_>>()
    };
    let shuffled = parts("-N 8 -F -ZZ -X 3 -o f", 0);
    let mut sorted = shuffled.clone();
    sorted.sort();
    assert_eq!(sorted, parts("-N 8 -F -o f", 0), "-Z twice deals every part out once");
    assert_ne!(shuffled, sorted);
    assert_eq!(shuffled, parts("-N 8 -F -ZZ -X 3 -o f", 1));
    assert_ne!(parts("-N 8 -F -ZZ -X -3 -o f", 0), parts("-N 8 -F -ZZ -X -3 -o f", 1));
    let random = parts("-N 8 -F -Z -o f", 0);
    assert!(random.iter().all(|name| sorted.contains(name)));
    assert_eq!(parts("-N 2 -F -u -m -o d/f", 4), ["d/0/f.00000000.4", "d/1/f.00000001.4"]);
    assert_eq!(parts("-N 1 -u -m -o d/f", 4), ["d/f.4"]);
}

/// Checks the number of the first transfer and the bytes of each rank's remaining work.
fn check_rest(line: &str, done: &[u64], expected: &[(u64, u64)]) {
    let options = read(&words(line)).unwrap();
    let phase = compile::wear_out_phase(&options, IorAccess::Write, 0, done);
    let one = |stream: &StorageStream| {
        let first = match stream.pattern {
            AccessPattern::Blocks { first_io, .. } => first_io,
            _ => 0,
        };
        (first, stream.stop_after_bytes.unwrap())
    };
    let streams = phase.iter().flat_map(|phase| {
        assert!(phase.workload.timing.duration_s.is_none());
        &phase.workload.streams
    });
    assert_eq!(streams.map(one).collect::<Vec<_>>(), expected, "{line} {done:?}");
}

#[test]
fn slower_ranks_catch_up_after_deadline() {
    let wear_out = "-D 1 -O stoneWallingWearOut=1 -o f";
    let files = format!("-N 2 -F -b 8k -t 1k -s 2 {wear_out}");
    check_rest(&files, &[3, 10], &[(3, 7 << 10)]);
    check_rest(&files, &[5, 5], &[]);
    let three = format!("-N 3 -z -b 4k -t 1k -s 9 {wear_out}");
    check_rest(&three, &[1, 9, 4], &[(1, 8 << 10), (4, 5 << 10)]);
    let anywhere = format!("-N 2 -z -z -b 1k -t 1k -s 9 {wear_out}");
    check_rest(&anywhere, &[9, 4], &[(0, 5 << 10)]);
}

/// What a read fills before it checks could not fail.
#[test]
fn reads_that_check_fill_nothing() {
    for (line, access, expected) in [
        ("-r -R", IorAccess::Read, NewFile::Empty),
        ("-r -R -D 9 -O stoneWallingWearOutIterations=5", IorAccess::Read, NewFile::Empty),
        ("-r", IorAccess::Read, NewFile::Written),
        ("-w -W", IorAccess::CheckWrite, NewFile::Empty),
        ("-w -W -r -R", IorAccess::Write, NewFile::Written),
    ] {
        let options = read(&words(&format!("-N 2 -F -b 8k -t 1k -o f {line}"))).unwrap();
        let phase = compile::phase(&options, access, 0);
        assert_eq!(phase.workload.targets[0].opening.new_file, expected, "{line}");
    }
}

#[test]
fn reads_are_limited_to_what_was_written() {
    for (line, expected) in [
        ("-F -b 8k -t 1k -s 2", [3_u64 << 10, 10 << 10]),
        ("-F -C -b 8k -t 1k -s 2", [10 << 10, 3 << 10]),
        ("-F -b 8k -t 1k -s 2 -O stoneWallingWearOutIterations=5", [3 << 10, 5 << 10]),
        ("-z -z -b 1k -t 1k -s 9", [3 << 10, 9 << 10]),
    ] {
        let options = read(&words(&format!("-N 2 -w -W -D 1 -o f {line}"))).unwrap();
        let mut phase = compile::phase(&options, IorAccess::CheckWrite, 0);
        compile::limit_to_written(&options, 0, &[3, 10], &mut phase);
        let limits = phase.workload.streams.iter().map(|stream| stream.stop_after_bytes);
        assert_eq!(limits.collect::<Vec<_>>(), expected.map(Some), "{line}");
    }
}

proptest! {
    #[test]
    fn arbitrary_words_do_not_panic(line in "[ -zA-Z0-9=.,-]{0,60}", other in "\\PC{0,40}") {
        for text in [&line, &other] {
            if let Ok(options) = read(&words(text)) {
                drop(text::describe_options(&options));
                if options.ranks <= 64 {
                    drop(compile(&options, 0));
                }
            }
        }
    }
}
