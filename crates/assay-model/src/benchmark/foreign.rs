//! Benchmark row for figures of other tools that no benchmark here defines. They have a unit and a
//! direction; assay cannot vouch for their method.

use super::{Asks, Better, Definition, Luck, Metric, Section};
use crate::quantity::Unit;

const MEANING: &str = "as the tool defines it; the test is named beside it";

const fn more(name: &'static str, unit: Unit) -> Metric {
    Metric::of(name, unit, Better::Higher, MEANING)
}

const fn less(name: &'static str, unit: Unit) -> Metric {
    Metric::of(name, unit, Better::Lower, MEANING)
}

pub(super) const FOREIGN: Definition = Definition {
    id: "foreign",
    title: "figures of other tools (assay import)",
    method: "\
Figures that a file of another tool's results contains and that no benchmark of assay defines. The unit is \
the one that the tool's source code gives the figure, or the file itself where it has a column for units. \
How it was measured only the tool can tell.",
    metrics: &[
        more("bandwidth", Unit::BytePerSecond),
        more("bit_rate", Unit::BitPerSecond),
        more("flop_rate", Unit::FlopPerSecond),
        more("io_rate", Unit::IoPerSecond),
        more("event_rate", Unit::Hertz),
        less("time", Unit::Second),
        less("time_min", Unit::Second),
        less("time_max", Unit::Second),
        less("time_mean", Unit::Second),
        less("time_deviation", Unit::Second),
        more("score", Unit::Count),
        less("penalty", Unit::Count),
        more("share", Unit::Ratio),
    ],
    section: Section::General,
    luck: Luck::Pages,
    preparations: 1,
    asks: Asks::Nothing,
    target: 0.01,
};
