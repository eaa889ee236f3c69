//! The rows of storage: blocks of files and devices, and trees of files.

use super::{Asks, Better, Bound, Definition, Luck, Metric, Section};
use crate::quantity::Unit;

const CPU_USER: Metric = Metric::of(
    "cpu_user",
    Unit::Ratio,
    Better::Lower,
    "busy share of the machine's CPUs in user mode",
);
const CPU_SYSTEM: Metric = Metric::of(
    "cpu_system",
    Unit::Ratio,
    Better::Lower,
    "busy share of the machine's CPUs in the kernel",
);

pub(super) const STORAGE: Definition = Definition {
    id: "storage",
    title: "storage: rates, bandwidth and latency of a file, a volume or a device",
    method: "\
Blocks are read from and written to files or devices, past the page cache unless asked otherwise. \
A file is written fully before it is read, with data that cannot be compressed. Without a rate the \
loop is closed: a fixed number of I/O is always in flight. With a rate the moments at which I/O is \
due are fixed in advance, whatever happened to earlier ones, and latency is told twice: from \
submission to completion, as most tools print it, and from the moment the I/O was due, which is \
what a user waits. A rate that was not reached is said so. The time is cut into at least twelve \
stretches, long enough to hold many bursts of a throttle; each gives one sample: its rate, its \
bandwidth and the median latency of the I/O that completed in it, so the intervals of confidence \
show how much the storage changes over time. Least, greatest and mean \
latency and the percentiles are of every single I/O, from a histogram with 3 digits, and printed \
only where there are enough of them. A response curve holds shares of the greatest rate that a \
closed loop reached; its knee is where latency begins to rise faster than the rate (Kneedle), and \
there is none where latency does not rise by half. Where the greatest rate that keeps a latency is \
asked for, the range is halved until it is known to 2 %, and a rate counts as kept only where the \
interval at 95 % lies below the limit. Where a steady state is asked for, rounds go on until the \
rates of the last five differ by at most 20 % and drift by at most 10 % of their mean (SNIA's \
definition); that none was reached is a warning. Little's law, in flight = rate × latency, is \
checked, and the same workload is put to an engine that does no I/O, so that the generator is \
never mistaken for the storage.",
    metrics: &[
        Metric::of(
            "rate",
            Unit::IoPerSecond,
            Better::Higher,
            "I/O completed in a stretch of the run over its length",
        )
        .headline("storage rate"),
        Metric::of(
            "bandwidth",
            Unit::BytePerSecond,
            Better::Higher,
            "bytes of the I/O completed in a stretch of the run over its length",
        )
        .within(Bound::Provisioned)
        .headline("storage"),
        Metric::of(
            "latency",
            Unit::Second,
            Better::Lower,
            "submission to completion; a sample is the median of a stretch, while minimum, \
             maximum, mean and percentiles are of all I/O",
        ),
        Metric::of(
            "latency_from_intended",
            Unit::Second,
            Better::Lower,
            "the moment the I/O was due to its completion, open loop only; otherwise as \
             latency",
        ),
        Metric::of(
            "cpu_per_io",
            Unit::Second,
            Better::Lower,
            "CPU time of the threads that generated the load, user and system, over I/O \
             done",
        ),
        Metric::of(
            "late",
            Unit::Ratio,
            Better::Lower,
            "I/O that took longer than the goal from the moment it was due, over all I/O",
        )
        .pooled(),
        Metric::of(
            "in_flight",
            Unit::Count,
            Better::Higher,
            "I/O in flight: the integral over a stretch of time, over its length",
        ),
        CPU_USER,
        CPU_SYSTEM,
    ],
    section: Section::Storage,
    luck: Luck::Pages,
    // A file is laid out once; what changes over time is in the stretches.
    preparations: 1,
    asks: Asks::Storage,
    target: 0.01,
};

pub(super) const FILES: Definition = Definition {
    id: "storage.files",
    title: "trees of files: directories and files created, asked about, read and removed",
    method: "\
Threads work on a tree of files in a folder of assay's own, one operation at a time each, through \
the calls that programs use and through the page cache. Before an operation is timed the tree is \
brought into the state that it needs, and that is not timed: removed before it is created, there \
before it is asked about, read or removed. One pass does the operation on every file or directory \
once and gives one sample: operations over the time from the start of the threads to the end of the \
last one. Passes are repeated like every other measurement. With a length, operations go on for that \
time instead, and its stretches are the samples. Operations on directories have as many directories \
as the tree has files, side by side. A file is created when it is opened, written whole and closed; \
a read is one call that reads, and opening and closing count into the rate but not into its latency. \
Names and data are as a rule in this machine's memory when they are asked for again: what is \
measured is the file system and its caches, as for any program that has just made its files. With a \
rate, operations are due at moments fixed in advance, and latency is told from those as well.",
    metrics: &[
        Metric::of(
            "rate",
            Unit::IoPerSecond,
            Better::Higher,
            "operations completed in a pass, or in a stretch of the time, over its length",
        )
        .headline("files"),
        Metric::of(
            "bandwidth",
            Unit::BytePerSecond,
            Better::Higher,
            "bytes read and written over the same length",
        ),
        Metric::of(
            "latency",
            Unit::Second,
            Better::Lower,
            "one operation; a sample is the median of a pass or stretch, while minimum, maximum, \
             mean and percentiles are of all operations",
        ),
        Metric::of(
            "latency_from_intended",
            Unit::Second,
            Better::Lower,
            "the moment the operation was due to its completion, open loop only",
        ),
        CPU_USER,
        CPU_SYSTEM,
    ],
    section: Section::General,
    luck: Luck::Pages,
    // Every pass makes what it needs afresh.
    preparations: 1,
    asks: Asks::Files,
    target: 0.01,
};
