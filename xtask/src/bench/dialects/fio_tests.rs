//! fio jobs that both tools run.

/// Metric that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FioMetric {
    /// I/O per second, of all jobs of the file together.
    Rate,
    /// Mean completion latency, for jobs with a fixed rate.
    Latency,
    /// 99th percentile of `fsync` and `fdatasync`.
    SyncP99,
}

/// State of the job's files at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InitialFiles {
    /// Files that the same tool created before.
    Existing,
    /// No files.
    Missing,
}

/// Job file and the metrics that are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct FioTest {
    pub name: &'static str,
    /// Lines of the file, separated by blanks; options before the first section are global.
    pub lines: &'static str,
    pub initial_files: InitialFiles,
    pub metrics: &'static [FioMetric],
}

const RATE: &[FioMetric] = &[FioMetric::Rate];

const fn timed(name: &'static str, lines: &'static str) -> FioTest {
    FioTest { name, lines, initial_files: InitialFiles::Existing, metrics: RATE }
}

/// Test that creates its files and ends when its work is done.
const fn creating(name: &'static str, lines: &'static str) -> FioTest {
    FioTest { name, lines, initial_files: InitialFiles::Missing, metrics: RATE }
}

const fn paced(name: &'static str, lines: &'static str) -> FioTest {
    FioTest {
        name,
        lines,
        initial_files: InitialFiles::Existing,
        metrics: &[FioMetric::Rate, FioMetric::Latency],
    }
}

pub(super) const FIO_TESTS: &[FioTest] = &[
    // Page cache
    timed("buffered random read", "rw=randread bs=4k ioengine=psync"),
    timed(
        "buffered random read, cache kept",
        "rw=randread bs=4k ioengine=psync invalidate=0 size=8m",
    ),
    timed("buffered sequential read", "rw=read bs=128k ioengine=psync size=256m"),
    timed("buffered sequential read, no hints", "rw=read bs=16k ioengine=sync fadvise_hint=0"),
    timed("buffered random write", "rw=randwrite bs=4k ioengine=psync"),
    // File layouts
    creating(
        "new file, fsync at the end",
        "rw=write bs=128k ioengine=psync end_fsync=1 size=128m",
    ),
    creating(
        "new file, not allocated",
        "rw=write bs=64k ioengine=psync fallocate=none direct=1 size=48m",
    ),
    creating(
        "new file, written before",
        "rw=randwrite bs=16k ioengine=psync overwrite=1 direct=1 size=32m",
    ),
    creating("new file, random writes", "rw=randwrite bs=16k ioengine=psync direct=1 size=32m"),
    timed("64 files", "rw=randread bs=4k ioengine=libaio iodepth=8 direct=1 nrfiles=64"),
    timed(
        "strided zones",
        "rw=read bs=16k ioengine=psync direct=1 zonemode=strided zonesize=256k zoneskip=768k time_based=0 size=256m",
    ),
    // Synchronization
    FioTest {
        name: "etcd's line",
        lines: "rw=write bs=2300 ioengine=sync fdatasync=1 size=1m",
        initial_files: InitialFiles::Missing,
        metrics: &[FioMetric::Rate, FioMetric::SyncP99],
    },
    timed("fsync after 8 writes", "rw=randwrite bs=4k ioengine=psync fsync=8"),
    timed("O_SYNC", "rw=randwrite bs=4k ioengine=psync sync=1"),
    timed("O_DSYNC, direct", "rw=write bs=8k ioengine=psync sync=dsync direct=1"),
    // Sizes
    timed("256 KiB, direct", "rw=read bs=256k ioengine=libaio iodepth=16 direct=1 size=256m"),
    timed("mixed sizes", "rw=randread bssplit=4k/60:16k/30:64k/10 ioengine=psync direct=1"),
    timed("a range of sizes", "rw=randwrite bsrange=4k-32k ioengine=psync direct=1"),
    // Engines
    timed("sync", "rw=randread bs=4k ioengine=sync direct=1"),
    timed("pvsync2", "rw=randread bs=4k ioengine=pvsync2 direct=1"),
    timed("libaio", "rw=randread bs=4k ioengine=libaio iodepth=16 direct=1"),
    timed("io_uring", "rw=randread bs=4k ioengine=io_uring iodepth=16 direct=1"),
    timed("posixaio", "rw=randread bs=4k ioengine=posixaio iodepth=4 direct=1"),
    // Several jobs
    timed(
        "four jobs",
        "rw=randread bs=4k ioengine=psync direct=1 numjobs=4 size=16m group_reporting=1",
    ),
    timed(
        "reader beside writer",
        "bs=4k ioengine=psync direct=1 [reader] rw=randread [writer] rw=randwrite",
    ),
    // Rates
    paced("rate_iops", "rw=randread bs=4k ioengine=psync direct=1 rate_iops=1000"),
    paced("rate", "rw=write bs=64k ioengine=libaio iodepth=4 direct=1 rate=16m"),
    paced("thinktime", "rw=randread bs=4k ioengine=psync direct=1 thinktime=500"),
    // Mixes
    timed("mix", "rw=randrw rwmixread=70 bs=4k ioengine=libaio iodepth=8 direct=1"),
    timed(
        "hot spots",
        "rw=randread random_distribution=zipf:1.1 bs=4k ioengine=psync direct=1",
    ),
    // Verification
    creating("verify", "rw=write bs=16k ioengine=psync direct=1 verify=crc32c size=32m"),
];
