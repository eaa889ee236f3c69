//! Tests of the commands of storage tools.

use std::fmt::Write as _;
use std::path::PathBuf;

use assay_model::workload::storage::{
    AccessPattern, ArrivalProcess, AtEnd, Cursor, EngineChoice, RateRounding, SizeShare,
    StorageData, StorageLoad, StorageStream, StorageTarget, StorageTest, StorageTiming,
    StorageWorkload, Verify, WriteSync,
};
use expect_test::{Expect, expect};

use super::*;

const MIB: u64 = 1 << 20;

fn size(bytes: u64, share: f64) -> SizeShare {
    SizeShare { min_bytes: bytes, max_bytes: bytes, step_bytes: bytes, share }
}

fn storage_workload(workload: StorageWorkload) -> Workload {
    let name = "test".to_owned();
    Workload::Storage(Box::new(StorageTest::new(name, workload)))
}

fn work(load: StorageLoad) -> StorageWorkload {
    StorageWorkload {
        targets: vec![StorageTarget {
            direct: true,
            ..StorageTarget::new(
                "file",
                PathBuf::from("/var/tmp/assay:golden/file"),
                Some(64 * MIB),
            )
        }],
        streams: vec![StorageStream {
            name: "mix".to_owned(),
            threads: 2,
            in_flight_per_target: 8,
            ..StorageStream::new(AccessPattern::Random, 8192, 0.7)
        }],
        load,
        timing: StorageTiming {
            warmup_s: 0.5,
            duration_s: Some(2.0),
            interval_s: 1.0,
            stop_after_bytes: None,
        },
        engine: EngineChoice::Libaio,
        data: StorageData { compressible: 0.0, verify: Verify::Off },
        seed: 42,
    }
}

/// Returns 70 % random reads of 8 KiB, two threads, eight in flight.
pub(super) fn random_mix(load: StorageLoad) -> Workload {
    storage_workload(work(load))
}

/// Returns workloads that either IOR or Vdbench supports, but not both.
pub(super) fn workloads() -> Vec<Workload> {
    let mut permuted = work(StorageLoad::Closed);
    permuted.engine = EngineChoice::Auto;
    let stream = &mut permuted.streams[0];
    (stream.threads, stream.in_flight_per_target) = (4, 4);
    (stream.pattern, stream.read_share) = (AccessPattern::Permutation, 1.0);
    permuted.targets[0].path = PathBuf::from("/var/tmp/assay/file");
    let mut writes = permuted.clone();
    writes.streams[0].read_share = 0.0;
    let mut uniform =
        work(StorageLoad::Open { rate_per_s: 2000.0, arrivals: ArrivalProcess::Uniform });
    uniform.engine = EngineChoice::Auto;
    [permuted, writes, uniform].map(storage_workload).to_vec()
}

fn check_command_and_file(name: &str, workload: &Workload, expected: &Expect) {
    let tool = find(name).unwrap();
    let installed = installed_tool(tool, Some(LauncherKind::OpenMpi));
    let request = ToolRequest { workload, tool: &installed, repetitions: 1, cpu_flags: &[] };
    let output = match (tool.command)(&request) {
        Err(error) => format!("refused: {error}\n"),
        Ok(invocations) => {
            let invocation = &invocations[0];
            let file =
                invocation.files_to_write.first().map_or("", |file| file.content.as_str());
            format!("{} {}\n{file}", invocation.program, invocation.arguments.join(" "))
        }
    };
    expected.assert_eq(&output);
}

#[test]
fn fio_job_file_is_equivalent() {
    check_command_and_file(
        "fio",
        &random_mix(StorageLoad::Closed),
        &expect![[r#"
        /opt/fio --output-format=json+ assay.fio
        [global]
        thread=1
        group_reporting=1
        randrepeat=1
        ioengine=libaio
        randseed=21
        time_based=1
        runtime=2000ms
        ramp_time=500ms
        refill_buffers=1
        fallocate=none
        allow_file_create=0

        [stream0]
        filename=/var/tmp/assay\:golden/file
        direct=1
        offset=0
        size=67108864
        rw=randrw
        norandommap=1
        bs=8192
        rwmixread=70
        numjobs=2
        iodepth=4
    "#]],
    );
    let arrivals = ArrivalProcess::Exponential;
    let mut open = work(StorageLoad::Open { rate_per_s: 1000.0, arrivals });
    open.engine = EngineChoice::Threads;
    open.streams[0].sizes = vec![size(4096, 0.25), size(65536, 0.75)];
    check_command_and_file(
        "fio",
        &storage_workload(open),
        &expect![[r#"
        /opt/fio --output-format=json+ assay.fio
        [global]
        thread=1
        group_reporting=1
        randrepeat=1
        ioengine=psync
        randseed=21
        time_based=1
        runtime=2000ms
        ramp_time=500ms
        refill_buffers=1
        fallocate=none
        allow_file_create=0

        [stream0]
        filename=/var/tmp/assay\:golden/file
        direct=1
        offset=0
        size=67108864
        rw=randrw
        norandommap=1
        bssplit=4096/25:65536/75
        rwmixread=70
        numjobs=8
        iodepth=1
        rate_iops=88,38
        rate_process=poisson
    "#]],
    );
    let mut sequential = work(StorageLoad::Capped { bytes_per_s: 1e8 });
    sequential.targets[0].range_bytes = Some((MIB, 9 * MIB));
    sequential.targets[0].sync_at_end = true;
    sequential.streams[0].read_share = 0.0;
    sequential.streams[0].pattern = AccessPattern::Sequential {
        cursor: Cursor::Shared,
        at_end: AtEnd::Wrap,
        gap_bytes: 4096,
    };
    check_command_and_file(
        "fio",
        &storage_workload(sequential),
        &expect![[r#"
        /opt/fio --output-format=json+ assay.fio
        [global]
        thread=1
        group_reporting=1
        randrepeat=1
        ioengine=libaio
        randseed=21
        time_based=1
        runtime=2000ms
        ramp_time=500ms
        refill_buffers=1
        fallocate=none
        allow_file_create=0

        [stream0]
        filename=/var/tmp/assay\:golden/file
        direct=1
        offset=1048576
        size=8388608
        end_fsync=1
        rw=write:4096
        bs=8192
        numjobs=1
        iodepth=8
        rate=100000000
    "#]],
    );
}

#[test]
fn fio_rejects_unsupported_workloads() {
    let arrivals = ArrivalProcess::Exponential;
    let rounding = RateRounding::Exact;
    let share = StorageLoad::ShareOf { phase: 0, percent: 50.0, rounding, arrivals };
    assert!((find("fio").unwrap().supports)(&random_mix(share.clone())));
    check_command_and_file(
        "fio",
        &random_mix(share),
        &expect![[r#"
            refused: fio does not support this workload: its rate is not known yet
        "#]],
    );
    let mut verified = work(StorageLoad::Closed);
    verified.data.verify = Verify::OnRead;
    check_command_and_file(
        "fio",
        &storage_workload(verified),
        &expect![[r#"
            refused: fio does not support this workload: fio cannot check assay's stamps
        "#]],
    );
    let mut relative = work(StorageLoad::Closed);
    relative.targets[0].path = PathBuf::from("file");
    check_command_and_file(
        "fio",
        &storage_workload(relative),
        &expect![[r#"
            refused: fio does not support this workload: a path is not absolute, or not UTF-8
        "#]],
    );
}

/// Returns a workload of one stream without a rate, with the default engine.
fn plain(pattern: AccessPattern, read_share: f64, threads: u32, depth: u32) -> StorageWorkload {
    let mut plain = work(StorageLoad::Closed);
    plain.engine = EngineChoice::Auto;
    plain.targets[0].path = PathBuf::from("/data/file");
    let stream = &mut plain.streams[0];
    (stream.pattern, stream.read_share) = (pattern, read_share);
    (stream.threads, stream.in_flight_per_target) = (threads, depth);
    stream.sizes = vec![size(MIB, 1.0)];
    plain
}

const fn sequential(cursor: Cursor) -> AccessPattern {
    AccessPattern::Sequential { cursor, at_end: AtEnd::Wrap, gap_bytes: 0 }
}

#[test]
fn ior_command_is_equivalent() {
    check_command_and_file(
        "ior",
        &storage_workload(plain(sequential(Cursor::Shared), 1.0, 1, 8)),
        &expect![[r#"
        /usr/bin/mpirun --oversubscribe --bind-to none -np 8 /opt/ior -a POSIX -k -E -r -b 1048576 -t 1048576 -s 8 -i 6 -D 1 -O useO_DIRECT=1 -o /data/file
    "#]],
    );
    let mut parts = plain(sequential(Cursor::Divided), 0.0, 4, 4);
    parts.targets[0].sync_at_end = true;
    parts.targets[0].direct = false;
    check_command_and_file(
        "ior",
        &storage_workload(parts),
        &expect![[r#"
        /usr/bin/mpirun --oversubscribe --bind-to none -np 4 /opt/ior -a POSIX -k -E -w -e -b 16777216 -t 1048576 -s 1 -i 6 -D 1 -O useO_DIRECT=0 -o /data/file
    "#]],
    );
    let mut random = plain(AccessPattern::Random, 0.0, 2, 16);
    random.streams[0].sizes = vec![size(4096, 1.0)];
    random.streams[0].sync_every = 1;
    check_command_and_file(
        "ior",
        &storage_workload(random.clone()),
        &expect![[r#"
        /usr/bin/mpirun --oversubscribe --bind-to none -np 16 /opt/ior -a POSIX -k -E -w -z -Y -b 4194304 -t 4096 -s 1 -i 6 -D 1 -O useO_DIRECT=1 -o /data/file
    "#]],
    );
    random.targets[0].size_bytes = None;
    check_command_and_file(
        "ior",
        &storage_workload(random.clone()),
        &expect![[r#"
            refused: ior does not support this workload: the size of its target is not known
        "#]],
    );
    random.targets[0].size_bytes = Some(64 << 10);
    check_command_and_file(
        "ior",
        &storage_workload(random),
        &expect![[r#"
            refused: ior does not support this workload: its target is too small for this number of tasks
        "#]],
    );
}

#[test]
fn ior_needs_a_launcher_for_more_than_one_task() {
    let tool = find("ior").unwrap();
    let installed = installed_tool(tool, None);
    let build_command = |depth| {
        let workload = storage_workload(plain(sequential(Cursor::Shared), 1.0, 1, depth));
        let request = ToolRequest {
            workload: &workload,
            tool: &installed,
            repetitions: 10,
            cpu_flags: &[],
        };
        (tool.command)(&request)
            .map(|invocations| (invocations[0].program.clone(), invocations[0].repetitions))
    };
    assert_eq!(build_command(1).unwrap(), ("/opt/ior".to_owned(), 2));
    expect![[r#"
        ior does not support this workload: 8 in flight are 8 tasks of an MPI launcher, and no usable mpirun was found
    "#]].assert_eq(&format!("{}\n", build_command(8).unwrap_err()));
}

#[test]
fn vdbench_parameters_are_equivalent() {
    let mut curve =
        work(StorageLoad::Open { rate_per_s: 916.126, arrivals: ArrivalProcess::Exponential });
    curve.engine = EngineChoice::Auto;
    curve.streams[0].sizes = vec![size(4096, 0.255), size(65536, 0.745)];
    curve.targets[0].sync = WriteSync::Data;
    curve.data.compressible = 0.5;
    check_command_and_file(
        "vdbench",
        &storage_workload(curve),
        &expect![[r#"
        /opt/vdbench -f assay.vdbench -o output
        messagescan=no
        compratio=2.0000
        sd=sd1,lun="/var/tmp/assay:golden/file",size=67108864,threads=8,openflags=(o_direct,o_dsync)
        wd=wd1,sd=sd*,xfersize=(4096,25.5,65536,74.5),rdpct=70,seekpct=100
        rd=run,wd=wd1,iorate=916.13,distribution=exponential,elapsed=3,interval=1,warmup=1
    "#]],
    );
    let mut parts = plain(sequential(Cursor::Divided), 1.0, 4, 8);
    parts.targets[0].path = PathBuf::from("/mnt/a b/file");
    parts.timing.warmup_s = 0.0;
    check_command_and_file(
        "vdbench",
        &storage_workload(parts),
        &expect![[r#"
        /opt/vdbench -f assay.vdbench -o output
        messagescan=no
        sd=sd1,lun="/mnt/a b/file",size=67108864,threads=8,openflags=o_direct
        wd=wd1,sd=sd*,xfersize=1048576,rdpct=100,seekpct=seq,streams=4
        rd=run,wd=wd1,iorate=max,elapsed=3,interval=1
    "#]],
    );
}

#[test]
fn ior_and_vdbench_reject_unsupported_workloads() {
    type Change = fn(&mut StorageWorkload);
    let table: &[(&str, Change)] = &[
        ("ior", |work| work.load = StorageLoad::Capped { bytes_per_s: 1e6 }),
        ("ior", |work| work.streams[0].read_share = 0.5),
        ("ior", |work| work.targets.push(work.targets[0].clone())),
        ("ior", |work| work.streams[0].pattern = sequential(Cursor::PerThread)),
        ("ior", |work| work.streams[0].threads = 2),
        ("ior", |work| work.engine = EngineChoice::IoUring),
        ("ior", |work| work.targets[0].path = PathBuf::from("/a@b")),
        ("ior", |work| work.targets[0].sync = WriteSync::All),
        ("vdbench", |work| work.load = StorageLoad::Capped { bytes_per_s: 1e6 }),
        ("vdbench", |work| work.streams[0].sizes = vec![size(1000, 1.0)]),
        ("vdbench", |work| work.streams[0].pattern = AccessPattern::Permutation),
        ("vdbench", |work| work.streams[0].threads = 3),
        ("vdbench", |work| work.targets[0].path = PathBuf::from("/data/$x")),
        ("vdbench", |work| work.targets[0].sync_at_end = true),
        ("vdbench", |work| work.data.verify = Verify::OnRead),
    ];
    let mut messages = String::new();
    for (name, change) in table {
        let mut changed = plain(sequential(Cursor::Divided), 0.0, 4, 4);
        assert!((find(name).unwrap().supports)(&storage_workload(changed.clone())), "{name}");
        change(&mut changed);
        let (tool, workload) = (find(name).unwrap(), storage_workload(changed));
        assert!(!(tool.supports)(&workload));
        let installed = installed_tool(tool, Some(LauncherKind::OpenMpi));
        let request = ToolRequest {
            workload: &workload,
            tool: &installed,
            repetitions: 1,
            cpu_flags: &[],
        };
        writeln!(messages, "{}", (tool.command)(&request).unwrap_err()).unwrap();
    }
    expect![[r#"
        ior does not support this workload: IOR has no rate
        ior does not support this workload: IOR does not mix reads and writes
        ior does not support this workload: IOR supports only one stream and one file
        ior does not support this workload: each byte belongs to one of IOR's tasks
        ior does not support this workload: a task of IOR has one transfer in flight in its part
        ior does not support this workload: tasks of IOR use blocking calls
        ior does not support this workload: a path is not absolute, not UTF-8, or has an @
        ior does not support this workload: IOR opens without O_SYNC and O_DSYNC
        vdbench does not support this workload: Vdbench limits IO/s, not bytes
        vdbench does not support this workload: Vdbench does not support this mix of sizes
        vdbench does not support this workload: Vdbench does not support this access pattern
        vdbench does not support this workload: Vdbench needs a number of threads that is a multiple of its streams
        vdbench does not support this workload: a path is not absolute, or has special characters of Vdbench
        vdbench does not support this workload: Vdbench does not time the final fsync
        vdbench does not support this workload: Vdbench cannot check assay's stamps
    "#]].assert_eq(&messages);
}
