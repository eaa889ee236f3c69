//! Benchmarks of caches: their bandwidth, their lines between cores, and memory latency under traffic.

use super::{
    Better, DEFAULT_PREPARATIONS, Definition, Metric, ReportSection, SuiteSettings,
    VarianceSource, bandwidth,
};
use crate::quantity::Unit;

pub(super) const CACHE_BANDWIDTH: Definition = Definition {
    title: "read bandwidth of each cache level",
    method: "\
Each pinned thread sums a buffer of its own again and again, with loads of the widest vectors of the \
processor into independent sums. The figure is the bytes that all threads read over the time from the \
first start to the last end. The working set is that of one core: one core alone, and all cores at once, \
from 4 KiB to beyond the last-level cache, so that each level shows as a plateau. A shared cache serves all \
cores that share it: with all cores at work, each has its part. Every sum is checked.",
    metrics: &[Metric::new(
        "read",
        Unit::BytePerSecond,
        Better::Higher,
        "bytes read by all threads over the time of a pass",
    )],
    section: ReportSection::CacheBandwidth,
    variance_source: VarianceSource::Pages,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::Ladder,
    target: 0.01,
};

pub(super) const CORE_TO_CORE: Definition = Definition {
    title: "latency of a cache line from one core to another",
    method: "\
Two pinned threads hand one cache line back and forth: each increments its word by compare-and-swap when \
it is that thread's turn. The figure is time over hand-overs, half of a round trip. All pairs of cores are \
measured, and the two hardware threads of each core, in a random order that changes with each \
round, with no other thread at work. The thread that the line's memory is near to changes with each \
preparation. Distances are same-core, same-cache (last-level cache), same-socket and across-sockets; the \
value of a distance is the median of its pairs in one round.",
    metrics: &[
        Metric::new(
            "latency",
            Unit::Second,
            Better::Lower,
            "median over all pairs at one distance of the time per hand-over",
        )
        .with_headline("core to core"),
        Metric::new(
            "pair_latency",
            Unit::Second,
            Better::Lower,
            "time per hand-over of one pair",
        ),
    ],
    section: ReportSection::CoreToCore,
    variance_source: VarianceSource::Pages,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::Nothing,
    target: 0.01,
};

pub(super) const LOADED_LATENCY: Definition = Definition {
    title: "memory latency over the bandwidth of other traffic",
    method: "\
One core follows a chain of pointers as memory.latency does with its largest working set, while every other \
core moves data through a buffer of its own that it touched first. The buffers are at least four times \
the last-level caches together. A pause after each block of 1 KiB sets the traffic, from idle to the \
maximum. Blocks are read, or read and rewritten in place, so that all bytes of the program are bytes of \
memory: reads only, two reads for each write, and as many reads as writes. Latency is time over loads; \
bandwidth counts the bytes read and written in the same time, with the lines of the chain. \
Afterwards every buffer is checked for the number of its rewrites.",
    metrics: &[
        Metric::new(
            "latency",
            Unit::Second,
            Better::Lower,
            "time per dependent load while the others move data",
        ),
        bandwidth("bandwidth", "bytes read and written by all cores over the same time")
            .with_headline("memory traffic"),
    ],
    section: ReportSection::LoadedLatency,
    variance_source: VarianceSource::Pages,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::LoadedLatency,
    target: 0.01,
};
