//! Benchmark row for any program of the user: what the system counts for it, and the figures that it
//! prints.

use super::foreign::{higher_is_better, lower_is_better};
use super::{
    Better, DEFAULT_PREPARATIONS, Definition, Metric, ReportSection, SuiteSettings,
    VarianceSource,
};
use crate::quantity::Unit;

const WALL_TIME: &str = "wall_time";
const CPU_TIME: &str = "cpu_time";
const PEAK_MEMORY: &str = "peak_memory";

/// Metrics that assay measures of every program. All others are figures that the program prints.
pub const MEASURED_OF_PROGRAMS: [&str; 3] = [WALL_TIME, CPU_TIME, PEAK_MEMORY];

pub(super) const COMMAND: Definition = Definition {
    title: "any program (assay exec)",
    method: "\
A program is started again and again, with an empty standard input, and waited for. The wall time runs \
from just before its start to its end. CPU time and peak memory are what the kernel counts for it and for \
the children that it waited for (wait4); peak memory is that of the largest single process. A small process \
of assay's own starts it, so that the size of assay does not count as the program's. The program may print \
figures, which patterns find: exactly one for each pattern and repetition. A repetition with a wrong exit \
code, a missing figure or two figures fails. The time to start an empty program the same way is measured \
and printed, and nothing is subtracted.",
    metrics: &[
        Metric::new(
            WALL_TIME,
            Unit::Second,
            Better::Lower,
            "time from just before the start of the program to its end",
        )
        .with_headline("wall time"),
        Metric::new(
            CPU_TIME,
            Unit::Second,
            Better::Lower,
            "time on CPUs in the program and in the kernel, with the children that it waited for",
        ),
        Metric::new(
            PEAK_MEMORY,
            Unit::Byte,
            Better::Lower,
            "largest resident set of a process among the program and those children",
        ),
        higher_is_better("bandwidth", Unit::BytePerSecond),
        higher_is_better("bit_rate", Unit::BitPerSecond),
        higher_is_better("flop_rate", Unit::FlopPerSecond),
        higher_is_better("io_rate", Unit::IoPerSecond),
        higher_is_better("event_rate", Unit::Hertz),
        lower_is_better("time", Unit::Second),
        higher_is_better("score", Unit::Count),
        lower_is_better("penalty", Unit::Count),
        higher_is_better("share", Unit::Ratio),
    ],
    section: ReportSection::Programs,
    variance_source: VarianceSource::Launch,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::Command,
    target: 0.01,
};
