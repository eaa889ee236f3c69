//! The events of a run: a closed enumeration that every later step reads.
//!
//! Events are stored one per line and never rewritten. A crash after any of them loses nothing
//! that came before. [`crate::run::Run::fold`] turns them back into a run. No event holds finished
//! sentences: the words for people are the report's.

use serde::{Deserialize, Serialize};

use crate::attribute::{Attribute, Attributes, Value};
use crate::distribution::Distribution;
use crate::doubt::Doubt;
use crate::facts::{HostFacts, HostState};
use crate::failure::Failure;
use crate::plan::Plan;

/// The version of the event format. Fields may be added; none changes its meaning within a version.
pub const FORMAT: u32 = 2;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum RunEvent {
    /// The first event of every run.
    RunStarted(Box<RunStarted>),
    /// A host takes part, before its first sample.
    HostJoined(Box<HostJoined>),
    /// A case begins.
    CaseStarted {
        /// Its identifier in the plan.
        case: String,
    },
    /// A series begins; everything measured in it carries only its number.
    SeriesOpened(SeriesOpened),
    /// One measured value.
    Sample(Sample),
    /// Every single I/O, message or operation of a stretch of time.
    Distribution(Stretch<Distribution>),
    /// Rare events among all: lost of sent, late of due.
    Count(Stretch<Count>),
    /// Figures of a distribution whose values only a tool has seen.
    Figures {
        /// The series.
        series: u32,
        /// What the tool said.
        #[serde(flatten)]
        figures: Figures,
    },
    /// Something found out while measuring.
    Fact(Fact),
    /// Raw output of a tool or of a measurement, stored beside the events under its hash.
    RawOutput {
        /// The case that produced it; `None` = the run.
        case: Option<String>,
        /// What it is: `stdout`, `hpccoutf.txt` …
        name: String,
        /// BLAKE3 hash of the content, in hexadecimal.
        hash: String,
        /// Size in bytes.
        bytes: u64,
    },
    /// A doubt about one case or, without a case, about the run.
    Doubt {
        /// The case it concerns.
        case: Option<String>,
        /// The doubt.
        doubt: Doubt,
    },
    /// A case ended well; its samples count.
    CaseFinished {
        /// Its identifier in the plan.
        case: String,
        /// Why no more repetitions were made.
        stopped: Stopped,
    },
    /// A case ended badly; its samples do not count, unless it was a connection that broke.
    CaseFailed {
        /// Its identifier in the plan.
        case: String,
        /// What failed and why.
        failure: Failure,
        /// The earlier case whose failure this one would only have repeated: it was skipped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        /// The only host that it ended badly on, where it goes on elsewhere; `None` = the case is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
    },
    /// The last event of every run that was not killed.
    RunFinished {
        /// RFC 3339 time in UTC.
        finished: String,
        /// How it ended.
        status: Status,
        /// The first host after the last case.
        state: HostState,
    },
}

/// Everything known before the first host joins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Identifier of the run.
    pub run: String,
    /// What the user calls the condition it was measured under, e.g. `on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What the user says about the run, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// RFC 3339 time in UTC.
    pub started: String,
    /// What will be done.
    pub plan: Plan,
    /// What was typed behind the name of the program, word by word; empty where nobody typed it, and in runs of older assays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// In which tool's language it was asked; `None` = a suite or options of assay's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// Its place among runs of two conditions that took turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// The run that the store had as its latest, where that began later by the clock: the clock was set back in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The place of a run among those of two conditions that take turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// What all of them have in common.
    pub comparison: String,
    /// What their order was drawn from.
    pub seed: u64,
    /// Which of them it is, from 0.
    pub number: u32,
    /// Which block, from 0: the runs of a block are neighbours in time, one of each condition.
    pub block: u32,
    /// One more run of the first condition, which shows what the machine does by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_control: bool,
}

/// A question in the language of a tool, as the user put it, so that the answer can be given in that
/// language again. Files it names are raw outputs of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// `fio`, `vdbench`, `ior`, `iperf3`, `qperf`, `ping`, `osu`.
    pub language: String,
    /// The words after the command, in order.
    pub words: Vec<String>,
}

/// A host that takes part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostJoined {
    /// Its name, unique within the run: what the dimensions `host` and `peer` say.
    pub host: String,
    /// What it says about itself.
    pub facts: HostFacts,
    /// Its state before the first case.
    pub state: HostState,
    /// The clock that times everything there, measured first.
    pub clock: Clock,
    /// The groups that the user counts it to; each has totals of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

/// What the clock can distinguish and what reading it costs, and the same for an empty kernel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Clock {
    /// `CLOCK_MONOTONIC_RAW` …
    pub name: String,
    /// Smallest step seen, in seconds.
    pub resolution_s: f64,
    /// Median time of one reading, in seconds.
    pub cost_s: f64,
    /// Median time of a repetition of the null kernel, in seconds: the overhead of measuring.
    pub null_s: f64,
    /// Its offset to the coordinator's clock; `None` = it is the coordinator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<ClockOffset>,
}

/// How far a host's clock is ahead of the coordinator's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// In seconds.
    pub seconds: f64,
    /// The true offset differs from it by no more than this, in seconds.
    pub bound_s: f64,
}

/// What everything measured under one number is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeriesOpened {
    /// Its number, unique within the run.
    pub series: u32,
    /// The case it belongs to.
    pub case: String,
    /// Name of the metric in the benchmark's row.
    pub metric: String,
    /// What distinguishes it from other series, the host among them.
    pub dimensions: Attributes,
}

/// One measured value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The series it belongs to.
    pub series: u32,
    /// In the metric's base unit.
    pub value: f64,
    /// What the value is a mean over, so that means are pooled rightly: seconds of a rate, operations
    /// of a cost. 1 where all samples weigh the same.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: f64,
    /// Which preparation it was measured in, from 0.
    pub preparation: u32,
    /// Nanoseconds since the run started.
    pub at_ns: u64,
}

const fn one() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(weight: &f64) -> bool {
    weight.to_bits() == one().to_bits()
}

/// What was seen in a stretch of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stretch<T> {
    /// The series it belongs to.
    pub series: u32,
    /// Which preparation it was measured in, from 0.
    pub preparation: u32,
    /// Its beginning, in nanoseconds since the measurement of the case began.
    pub from_ns: u64,
    /// Its end, likewise.
    pub to_ns: u64,
    /// Whether it belongs to the warm-up, and does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warmup: bool,
    /// What was seen.
    #[serde(flatten)]
    pub seen: T,
}

/// Rare events among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How many it happened to.
    pub part: u64,
    /// How many it could have happened to.
    pub whole: u64,
}

/// Figures of a distribution, as a tool printed them: nothing can derive them again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Figures {
    /// The minimum, in the metric's base unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// The maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Percentiles by name: `p50`, `p99.9`.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub percentiles: std::collections::BTreeMap<String, f64>,
}

/// Something found out while measuring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is about.
    #[serde(flatten)]
    pub about: About,
    /// Which fact.
    pub name: Attribute,
    /// Its value.
    pub value: Value,
}

/// What a fact is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// One series.
    Series(u32),
    /// All series of a case.
    Case(String),
    /// Those of one of its hosts.
    CaseOn {
        /// The case.
        case: String,
        /// The host.
        host: String,
    },
    /// A host.
    Host(String),
}

/// Why no more repetitions were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// The interval is as narrow as asked.
    Precise,
    /// The time was spent.
    Budget,
    /// An official tool or the user's own job decides how often it repeats.
    Tool,
    /// What it was to find out was known already: it has no samples.
    NotNeeded,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every case finished.
    Complete,
    /// At least one case failed.
    Failed,
    /// At least one host is missing from what others measured.
    Partial,
    /// Stopped from outside; the finished cases count.
    Interrupted,
    /// The end was never written: assay was killed, or is still running.
    Unfinished,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::Distribution;

    /// Every kind of event that flattens or tags something comes back as what it was.
    #[test]
    fn events_come_back() {
        let stretch = |seen| Stretch {
            series: 3,
            preparation: 1,
            from_ns: 5,
            to_ns: 1_000_000_005,
            warmup: false,
            seen,
        };
        let distribution = Distribution::of_values(&[10, 20, 4_000_000_000]);
        let events = [
            RunEvent::Sample(Sample {
                series: 0,
                value: 2.0,
                weight: 0.1,
                preparation: 0,
                at_ns: u64::MAX,
            }),
            RunEvent::Distribution(stretch(distribution)),
            RunEvent::Count(Stretch {
                series: 3,
                preparation: 0,
                from_ns: 0,
                to_ns: 1,
                warmup: true,
                seen: Count { part: 0, whole: u64::MAX },
            }),
            RunEvent::Figures {
                series: 1,
                figures: Figures {
                    mean: Some(3.0),
                    percentiles: [("p99.9".to_owned(), 1e-3)].into(),
                    ..Figures::default()
                },
            },
            RunEvent::Fact(Fact {
                about: About::Case("memory.stream/node".to_owned()),
                name: Attribute::HugePages,
                value: Value::Number(0.5),
            }),
            RunEvent::Fact(Fact {
                about: About::Series(7),
                name: Attribute::Kernel,
                value: Value::Text("avx2".to_owned()),
            }),
            RunEvent::Doubt { case: None, doubt: Doubt::AnotherAssay },
            RunEvent::Doubt {
                case: Some("x".to_owned()),
                doubt: Doubt::RateMissed { asked_per_s: 10.0, reached_per_s: 9.0 },
            },
            RunEvent::CaseFailed {
                case: "x".to_owned(),
                failure: Failure::NoSamples,
                because: None,
                host: None,
            },
            RunEvent::Fact(Fact {
                about: About::CaseOn { case: "x".to_owned(), host: "vm1".to_owned() },
                name: Attribute::Kernel,
                value: Value::Text("avx2".to_owned()),
            }),
            RunEvent::Doubt {
                case: Some("x".to_owned()),
                doubt: Doubt::OnHost {
                    host: "vm1".to_owned(),
                    doubt: Box::new(Doubt::AnotherAssay),
                },
            },
        ];
        for event in events {
            let line = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<RunEvent>(&line).unwrap(), event, "{line}");
        }
    }
}
