//! What tools of storage are asked.

use std::path::PathBuf;

use assay_model::workload::course::Course;
use assay_model::workload::storage::{
    AccessPattern, Arrivals, AtEnd, Conduct, Cursor, EngineChoice, Load, RateRounding,
    SizeShare, StorageData, StorageStream, StorageTarget, StorageTest, StorageTiming,
    StorageWorkload, Verify, WriteSync,
};
use expect_test::{Expect, expect};

use super::*;

const MIB: u64 = 1 << 20;

fn size(bytes: u64, share: f64) -> SizeShare {
    SizeShare { min_bytes: bytes, max_bytes: bytes, step_bytes: bytes, share }
}

fn test(workload: StorageWorkload) -> Workload {
    let name = "test".to_owned();
    Workload::Storage(Box::new(StorageTest {
        name,
        point: None,
        provisioned_bytes_per_s: None,
        precondition_passes: 0,
        course: Course::Once,
        workload,
    }))
}

fn work(load: Load) -> StorageWorkload {
    StorageWorkload {
        targets: vec![StorageTarget {
            name: "file".to_owned(),
            path: PathBuf::from("/var/tmp/assay:golden/file"),
            size_bytes: Some(64 * MIB),
            range_bytes: None,
            align_bytes: None,
            direct: true,
            sync: WriteSync::None,
            sync_at_end: false,
        }],
        streams: vec![StorageStream {
            name: "mix".to_owned(),
            targets: vec![0],
            threads: 2,
            in_flight_per_target: 8,
            pattern: AccessPattern::Random,
            sizes: vec![size(8192, 1.0)],
            read_share: 0.7,
            hit_area: None,
            rate_share: 1.0,
            own_rate_per_s: None,
            sync_every: 0,
            stop_after_bytes: None,
            conduct: Conduct::default(),
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

/// 70 % random reads of 8 KiB, two threads, eight in flight.
pub(super) fn random_mix(load: Load) -> Workload {
    test(work(load))
}

fn check(name: &str, workload: &Workload, expected: &Expect) {
    let tool = find(name).unwrap();
    let found = found(tool, None);
    let request = Request { workload, found: &found, repetitions: 1, cpu_flags: &[] };
    let shown = match (tool.command)(&request) {
        Err(error) => format!("refused: {error}\n"),
        Ok(invocations) => {
            let it = &invocations[0];
            let file = &it.files_to_write[0];
            format!("{} {}\n{}", it.program, it.arguments.join(" "), file.content)
        }
    };
    expected.assert_eq(&shown);
}

#[test]
fn fio_is_asked_for_the_same_io() {
    check(
        "fio",
        &random_mix(Load::Closed),
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
    let arrivals = Arrivals::Exponential;
    let mut open = work(Load::Open { rate_per_s: 1000.0, arrivals });
    open.engine = EngineChoice::Threads;
    open.streams[0].sizes = vec![size(4096, 0.25), size(65536, 0.75)];
    check(
        "fio",
        &test(open),
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
    let mut sequential = work(Load::Capped { bytes_per_s: 1e8 });
    sequential.targets[0].range_bytes = Some((MIB, 9 * MIB));
    sequential.targets[0].sync_at_end = true;
    sequential.streams[0].read_share = 0.0;
    sequential.streams[0].pattern = AccessPattern::Sequential {
        cursor: Cursor::Shared,
        at_end: AtEnd::Wrap,
        gap_bytes: 4096,
    };
    check(
        "fio",
        &test(sequential),
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
fn fio_refuses_what_it_has_no_words_for() {
    let arrivals = Arrivals::Exponential;
    let rounding = RateRounding::Exact;
    let share = Load::ShareOf { phase: 0, percent: 50.0, rounding, arrivals };
    assert!((find("fio").unwrap().takes)(&random_mix(share.clone())));
    check(
        "fio",
        &random_mix(share),
        &expect![[r#"
        refused: fio cannot be asked for this: its rate is not known yet
    "#]],
    );
    let mut verified = work(Load::Closed);
    verified.data.verify = Verify::OnRead;
    check(
        "fio",
        &test(verified),
        &expect![[r#"
        refused: fio cannot be asked for this: its stamps are not fio's
    "#]],
    );
    let mut relative = work(Load::Closed);
    relative.targets[0].path = PathBuf::from("file");
    check(
        "fio",
        &test(relative),
        &expect![[r#"
        refused: fio cannot be asked for this: a path is not absolute, or not plain text
    "#]],
    );
}
