//! Benchmark rows of storage: blocks of files and devices, and file trees.

use super::{
    Better, Definition, LimitKind, Metric, ReportSection, SuiteSettings, VarianceSource,
};
use crate::quantity::Unit;

const CPU_USER: Metric = Metric::new(
    "cpu_user",
    Unit::Ratio,
    Better::Lower,
    "share of the machine's CPU time in user mode",
);
const CPU_SYSTEM: Metric = Metric::new(
    "cpu_system",
    Unit::Ratio,
    Better::Lower,
    "share of the machine's CPU time in the kernel",
);

pub(super) const STORAGE: Definition = Definition {
    title: "storage: IOPS, bandwidth and latency of a file, a volume or a device",
    method: "\
Blocks are read from and written to files or devices with direct I/O, unless buffered. A file is \
written in full before it is read, with incompressible data. Without a rate the load is a closed \
loop: a fixed number of I/O is always in flight. With a rate it is an open loop: the times at which \
I/O is due are fixed in advance, and latency is reported twice: from submission to completion \
(service time), as most tools print it, and from when the I/O was due, which is what a user waits \
and has no coordinated omission; what was due and not done at the end is late with the time it had \
waited. A missed rate is reported. The time is divided into at least twelve stretches, each longer \
than many bursts of a rate limiter. Each stretch is one sample: its rate, its bandwidth and the \
median latency of the I/O completed in it; so confidence intervals show how much \
the storage varies over time. Minimum, maximum, mean and percentiles of latency are over every \
single I/O, from a histogram with 3 significant digits; a percentile is printed only if there is \
enough I/O for it. A response curve has open loops at fractions of the maximum rate, which a closed \
loop finds. Its knee is the maximum rate at which the median latency is at most twice that of an idle \
target, of a monotone fit of all points; there is none if latency stays below that. The maximum rate \
for a latency goal is found by bisection to 4 % and confirmed by a run of its own; a rate meets the \
goal only if the 95 % interval is below the limit. Steady state (SNIA): rounds of 60 s are repeated \
until the rates of the last five have a range of at most 20 % and a slope of at most 10 % of their \
mean, and no trend goes on; a warning says if it was not reached. The same workload runs with an \
engine that does no I/O, so that the load generator \
is not mistaken for the storage.",
    metrics: &[
        Metric::new(
            "rate",
            Unit::IoPerSecond,
            Better::Higher,
            "I/O completed in a stretch of the run over its length",
        )
        .with_headline("storage rate"),
        Metric::new(
            "bandwidth",
            Unit::BytePerSecond,
            Better::Higher,
            "bytes of the I/O completed in a stretch of the run over its length",
        )
        .with_limit(LimitKind::Provisioned)
        .with_headline("storage"),
        Metric::new(
            "latency",
            Unit::Second,
            Better::Lower,
            "submission to completion; a sample is the median of a stretch, while minimum, \
             maximum, mean and percentiles are of all I/O",
        ),
        Metric::new(
            "latency_from_intended",
            Unit::Second,
            Better::Lower,
            "from when the I/O was due to its completion; open loop only, otherwise as \
             latency",
        ),
        Metric::new(
            "cpu_per_io",
            Unit::Second,
            Better::Lower,
            "CPU time of the threads that generated the load, user and system, over I/O \
             completed",
        ),
        Metric::new(
            "late",
            Unit::Ratio,
            Better::Lower,
            "I/O that took longer than the goal, from when it was due, over all I/O",
        )
        .with_ratio_pooling(),
        Metric::new(
            "in_flight",
            Unit::Count,
            Better::Higher,
            "mean I/O in flight: the integral over a stretch of time, over its length",
        ),
        CPU_USER,
        CPU_SYSTEM,
    ],
    section: ReportSection::Storage,
    variance_source: VarianceSource::Pages,
    // A file is laid out once; variation over time shows in the stretches.
    preparations: 1,
    settings: SuiteSettings::Storage,
    target: 0.01,
};

pub(super) const FILES: Definition = Definition {
    title: "metadata: directories and files created, queried, read and removed (mdtest)",
    method: "\
Threads work on a file tree in assay's own folder, one operation at a time each, with ordinary system \
calls through the page cache. The tree is brought into the state that an operation needs before timing \
starts: removed before it is created, present before it is queried, read or removed. One pass does the \
operation on every file or directory once and is one sample: operations over the time from the start \
of the threads to the end of the last one. Passes are repeated like every other measurement. With a \
length, operations continue for that time instead, and its stretches are the samples. Directory \
operations use as many directories, side by side, as the tree has files. Creating a file means open, \
write in full, close. A read is one read call; open and close count towards the rate but not towards \
its latency. Names and data are usually cached in memory when they are accessed again: this measures \
the file system with its caches. With a rate, the times at which operations are due are fixed in \
advance, and latency is also reported from then.",
    metrics: &[
        Metric::new(
            "rate",
            Unit::IoPerSecond,
            Better::Higher,
            "operations completed in a pass, or in a stretch of the time, over its length",
        )
        .with_headline("files"),
        Metric::new(
            "bandwidth",
            Unit::BytePerSecond,
            Better::Higher,
            "bytes read and written over the same length",
        ),
        Metric::new(
            "latency",
            Unit::Second,
            Better::Lower,
            "one operation; a sample is the median of a pass or stretch, while minimum, maximum, \
             mean and percentiles are of all operations",
        ),
        Metric::new(
            "latency_from_intended",
            Unit::Second,
            Better::Lower,
            "from when the operation was due to its completion; open loop only",
        ),
        CPU_USER,
        CPU_SYSTEM,
    ],
    section: ReportSection::Files,
    variance_source: VarianceSource::Pages,
    // Every pass creates what it needs.
    preparations: 1,
    settings: SuiteSettings::Files,
    target: 0.01,
};

pub(super) const IO500: Definition = Definition {
    title: "IO500: bandwidth and metadata of a file system in one score",
    method: "\
The twelve scored phases of IO500 in their order, with its command lines for IOR and mdtest, by assay's own \
engines; tasks are threads. In ior-easy each task writes a file of its own in transfers of 2 MiB, in \
ior-hard all tasks write one file in interleaved transfers of 47008 bytes. In mdtest-easy each task creates \
empty files in a directory of its own, in mdtest-hard all tasks create files of 3901 bytes in one directory. \
A write phase ends after the stonewall, 300 s; then all tasks continue until each has done as much as \
the fastest. A task reads and queries what the next one wrote. The find phase looks at all files of the run for those of 3901 bytes whose names \
contain 01 and that are newer than the write phases of ior-easy and mdtest-easy. Each phase runs once \
and is one sample. The score is the geometric mean of all bandwidths in GiB/s, times that of all rates in \
thousands of operations per second, under the square root; a run without a result of each phase has none.",
    metrics: &[
        Metric::new(
            "bandwidth",
            Unit::BytePerSecond,
            Better::Higher,
            "bytes of a phase of IOR over its time, with opening, fsync and closing",
        )
        .with_headline("IO500"),
        Metric::new(
            "rate",
            Unit::IoPerSecond,
            Better::Higher,
            "files created, queried, read, removed or looked at in a phase, over its time",
        )
        .with_headline("IO500"),
        Metric::new("time", Unit::Second, Better::Lower, "duration of a phase"),
        Metric::new(
            "files",
            Unit::Count,
            Better::Higher,
            "files created, queried, read, removed or looked at in a phase",
        ),
        Metric::new("found", Unit::Count, Better::Higher, "files that the find phase found"),
        Metric::new(
            "score",
            Unit::Count,
            Better::Higher,
            "the score of a run with results of all phases",
        ),
    ],
    section: ReportSection::Io500,
    variance_source: VarianceSource::Pages,
    preparations: 1,
    settings: SuiteSettings::Io500,
    target: 0.01,
};
