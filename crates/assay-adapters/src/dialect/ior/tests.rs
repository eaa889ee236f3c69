//! Words become options, options a plan, outcomes IOR's lines.

use assay_model::workload::storage::AccessPattern;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::Value;

use super::compile::{Access, compile};
use super::json;
use super::options::{Options, read};
use super::result::AccessResult;
use super::text::{self, Circumstances};
use assay_model::facts::Capacity;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn check_refused(line: &str, expected: &Expect) {
    let error = read(&words(line)).unwrap_err();
    expected.assert_eq(&format!("{error}\n{}\n", error.hint()));
}

#[test]
fn words_may_be_glued_and_flags_clustered() {
    let all = ["-w -r -k -b 4m -t 1m -o f", "-wrk -b4m -t=1m -o=f", "-wrkb 4m -t1m -of"];
    let expected = Options {
        write: true,
        read: true,
        keep: true,
        block_bytes: 4 << 20,
        transfer_bytes: 1 << 20,
        test_file: "f".to_owned(),
        ..Options::default()
    };
    for line in all {
        assert_eq!(read(&words(line)).unwrap(), expected, "{line}");
    }
    let neither = read(&words("-o f")).unwrap();
    assert!(neither.write && neither.read, "without -w and -r both are done");
}

#[test]
fn what_is_not_carried_out_is_refused_by_name() {
    check_refused(
        "-a MPIIO",
        &expect![[r#"
        `MPIIO` is no value of `-a`: assay has POSIX alone
        docs/ior.md lists the options that run, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
    "#]],
    );
    check_refused(
        "-q",
        &expect![[r#"
        IOR has no option `-q`
        docs/ior.md lists the options that run, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
    "#]],
    );
    check_refused(
        "-c",
        &expect![[r#"
        assay does not carry out IOR's `-c`: POSIX I/O is never collective
        remove it, or run this test with IOR itself; docs/ior.md lists what runs
    "#]],
    );
    check_refused(
        "--posix.odirct",
        &expect![[r#"
        IOR has no option `--posix.odirct`
        did you mean `posix.odirect`?
    "#]],
    );
    check_refused(
        "-b 1m -t 300k",
        &expect![[r#"
        block size (-b) must be a multiple of transfer size (-t)
        IOR itself refuses this, too; see docs/ior.md
    "#]],
    );
    check_refused(
        "-b 1m -t 1m -z",
        &expect![[r#"
        -z shuffles the transfers of a block, and there is one transfer in a block
        IOR itself refuses this, too; see docs/ior.md
    "#]],
    );
    check_refused(
        "-b 1x",
        &expect![[r#"
        `1x` is no value of `-b`: it must be a number, or a size like 4k, 1m or 2g
        docs/ior.md lists the options that run, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
    "#]],
    );
    check_refused(
        "-t",
        &expect![[r#"
        `` is no value of `-t`: it must be a number, or a size like 4k, 1m or 2g
        docs/ior.md lists the options that run, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
    "#]],
    );
    check_refused(
        "-O stoneWallingWearOut=1",
        &expect![[r#"
        assay does not carry out IOR's `-O stoneWallingWearOut=1`: a deadline ends every rank where it stands
        remove it, or run this test with IOR itself; docs/ior.md lists what runs
    "#]],
    );
    check_refused(
        "-O sumaryFormat=JSON",
        &expect![[r#"
        IOR has no option `-O sumaryFormat`
        did you mean `summaryFormat`?
    "#]],
    );
    check_refused(
        "-N 4 -b 8388607t -t 1t -s 1000",
        &expect![[r#"
        so much data cannot be counted
        IOR itself refuses this, too; see docs/ior.md
    "#]],
    );
    check_refused(
        "file",
        &expect![[r#"
        IOR has no option `file`
        docs/ior.md lists the options that run, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE
    "#]],
    );
}

/// Where every rank begins, how far its blocks lie apart, and where its part ends.
fn check_layout(line: &str, access: Access, expected: &[(&str, u64, u64, u64)]) {
    let options = read(&words(line)).unwrap();
    let (plan, accesses) = compile(&options, true);
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
fn ranks_have_their_parts() {
    const K: u64 = 1024;
    let shared = "-N 3 -b 4k -t 1k -s 2 -o f -C";
    check_layout(
        shared,
        Access::Write,
        &[("f", 0, 12 * K, 24 * K), ("f", 4 * K, 12 * K, 24 * K), ("f", 8 * K, 12 * K, 24 * K)],
    );
    check_layout(
        shared,
        Access::Read,
        &[("f", 4 * K, 12 * K, 24 * K), ("f", 8 * K, 12 * K, 24 * K), ("f", 0, 12 * K, 24 * K)],
    );
    check_layout(
        "-N 2 -F -b 4k -t 1k -s 2 -o f",
        Access::Read,
        &[("f.00000000", 0, 4 * K, 8 * K), ("f.00000001", 0, 4 * K, 8 * K)],
    );
}

#[test]
fn lines_are_as_ior_prints_them() {
    let options = read(&words("-N 2 -b 4m -t 1m -s 2 -i 2 -C -e -o /data/f")).unwrap();
    let circumstances = Circumstances {
        version: "4.1.0+dev".to_owned(),
        began: "Sat Nov 21 14:47:44 2026".to_owned(),
        command: "ior -a POSIX".to_owned(),
        machine: ("Linux".to_owned(), "vm".to_owned()),
        capacity: None,
    };
    let result = |access, repetition, elapsed_s| AccessResult {
        access,
        repetition,
        bytes: 16 << 20,
        transfers: 16,
        elapsed_s,
        latency_s: 0.020_088,
    };
    let results = [
        result(Access::Write, 0, 0.166_817),
        result(Access::Read, 0, 0.027_768),
        result(Access::Write, 1, 0.067_906),
        result(Access::Read, 1, 0.027_981),
    ];
    let mut shown = text::start(&options, &circumstances);
    shown.extend(results.iter().map(|it| text::result(&options, it)));
    shown.push_str(&text::end(&options, &results, "Sat Nov 21 14:47:45 2026"));
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
        write     95.91      95.91      0.020088    4096       1024.00    -          0.166817   -          0.166817   0   
        read      576.20     576.20     0.020088    4096       1024.00    -          0.027768   -          0.027768   0   
        write     235.62     235.62     0.020088    4096       1024.00    -          0.067906   -          0.067906   1   
        read      571.82     571.82     0.020088    4096       1024.00    -          0.027981   -          0.027981   1   
        Max Write: 235.62 MiB/sec (247.07 MB/sec)
        Max Read:  576.20 MiB/sec (604.19 MB/sec)

        Summary of all tests:
        Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum
        write         235.62      95.91     165.77      69.85     235.62      95.91     165.77      69.85    0.11736         NA            NA     0      2   2    2   0     1        1         0    0      2  4194304  1048576      16.0 POSIX      0
        read          576.20     571.82     574.01       2.19     576.20     571.82     574.01       2.19    0.02787         NA            NA     0      2   2    2   0     1        1         0    0      2  4194304  1048576      16.0 POSIX      0
        Finished            : Sat Nov 21 14:47:45 2026
    "#]].assert_eq(&shown);
}

/// Every path with the type of what is there.
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

#[test]
fn json_has_the_keys_and_types_of_the_real_one() {
    let real = include_str!("../../../tests/golden/ior/4.1.0-random-files.json");
    let real: Value = serde_json::from_str(real).unwrap();
    let line = "-N 2 -F -b 1m -t 256k -z -e -w -r -O summaryFormat=JSON -o /var/tmp/data/file";
    let options = read(&words(line)).unwrap();
    let capacity = Capacity { bytes: 1 << 40, free_bytes: 1 << 39, files: 100, free_files: 50 };
    let circumstances = Circumstances { capacity: Some(capacity), ..Circumstances::default() };
    let result = |access| AccessResult {
        access,
        repetition: 0,
        bytes: 2 << 20,
        transfers: 8,
        elapsed_s: 0.1,
        latency_s: 0.01,
    };
    let results = [result(Access::Write), result(Access::Read)];
    let ours = json::document(&options, &circumstances, &results, "later");
    let ours: Value = serde_json::from_str(&ours).unwrap();
    let (mut expected, mut found) = (vec![], vec![]);
    keys_of(&real, "", &mut expected);
    keys_of(&ours, "", &mut found);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    for name in ["Parameters", "Options"] {
        let (mut real, mut ours) =
            (real["tests"][0][name].clone(), ours["tests"][0][name].clone());
        for both in [&mut real, &mut ours] {
            both.as_object_mut().unwrap().remove("platform");
        }
        assert_eq!(ours, real, "{name}");
    }
}

proptest! {
    #[test]
    fn no_words_panic(line in "[ -zA-Z0-9=.,-]{0,60}", other in "\\PC{0,40}") {
        for text in [&line, &other] {
            if let Ok(options) = read(&words(text)) {
                drop(text::described(&options));
                if options.ranks <= 64 {
                    drop(compile(&options, true));
                }
            }
        }
    }
}
