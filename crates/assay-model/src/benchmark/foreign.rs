//! Benchmark row for figures of other tools that no benchmark here defines. They have a unit and a
//! direction; assay cannot vouch for their method.

use super::{Better, Definition, Metric, ReportSection, SuiteSettings, VarianceSource};
use crate::quantity::Unit;

const MEANING: &str = "as the tool defines it; the result names the test";

pub(super) const fn higher_is_better(name: &'static str, unit: Unit) -> Metric {
    Metric::new(name, unit, Better::Higher, MEANING)
}

pub(super) const fn lower_is_better(name: &'static str, unit: Unit) -> Metric {
    Metric::new(name, unit, Better::Lower, MEANING)
}

pub(super) const FOREIGN: Definition = Definition {
    title: "figures of other tools (assay import)",
    method: "\
Figures that a file of another tool's results contains and that no benchmark of assay defines. The unit is \
the one that the tool's source code gives the figure, or the file itself where it has a column for units. \
The tool's documentation describes the method.",
    metrics: &[
        higher_is_better("bandwidth", Unit::BytePerSecond),
        higher_is_better("bit_rate", Unit::BitPerSecond),
        higher_is_better("flop_rate", Unit::FlopPerSecond),
        higher_is_better("io_rate", Unit::IoPerSecond),
        higher_is_better("event_rate", Unit::Hertz),
        lower_is_better("time", Unit::Second),
        lower_is_better("time_min", Unit::Second),
        lower_is_better("time_max", Unit::Second),
        lower_is_better("time_mean", Unit::Second),
        lower_is_better("time_deviation", Unit::Second),
        higher_is_better("score", Unit::Count),
        lower_is_better("penalty", Unit::Count),
        higher_is_better("share", Unit::Ratio),
    ],
    section: ReportSection::General,
    variance_source: VarianceSource::Pages,
    preparations: 1,
    settings: SuiteSettings::Nothing,
    target: 0.01,
};
