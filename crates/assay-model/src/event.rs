//! Events of a run, as stored.
//!
//! Events are stored one per line and never rewritten. A crash after any event loses nothing that
//! came before it. [`crate::run::Run::fold`] folds them into a run. No event contains sentences:
//! the report generates the texts.

use serde::{Deserialize, Serialize};

use crate::attribute::{Attribute, AttributeValue, Attributes};
use crate::distribution::LatencyDistribution;
use crate::doubt::Doubt;
use crate::factor::FactorLevel;
use crate::facts::{HostFacts, HostState};
use crate::failure::FailureReason;
use crate::kernel_counters::CounterRecord;
use crate::plan::Plan;

/// Version of the event format. Fields may be added; none changes its meaning within a version.
pub const FORMAT: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum RunEvent {
    /// The first event of every run.
    RunStarted(Box<RunStarted>),
    /// A host takes part, before its first sample.
    HostJoined(Box<HostJoined>),
    /// A case starts.
    CaseStarted {
        /// Its identifier in the plan.
        case: String,
    },
    /// A series starts; later events refer to it by its number.
    SeriesOpened(SeriesOpened),
    /// A measured value.
    Sample(Sample),
    /// Distribution of all I/O, messages or operations of a stretch.
    Distribution(StretchRecord<LatencyDistribution>),
    /// Rare events among their occasions: lost of sent, late of due.
    Count(StretchRecord<EventCount>),
    /// Statistics that a tool printed of values that it did not output.
    Figures {
        /// The series.
        series: u32,
        /// The statistics.
        #[serde(flatten)]
        figures: ToolFigures,
    },
    /// A fact found while measuring.
    Fact(Fact),
    /// Raw output of a tool or of a measurement, stored next to the events under its hash.
    RawOutput {
        /// The case that produced it; `None` = the run.
        case: Option<String>,
        /// Its name: `stdout`, `hpccoutf.txt` …
        name: String,
        /// BLAKE3 hash of the content, in hexadecimal.
        hash: String,
        /// Size in bytes.
        bytes: u64,
    },
    /// Kernel counters of a case on one host, before its end.
    Counters(Box<CounterRecord>),
    /// A doubt about one case or, without a case, about the run.
    Doubt {
        /// The case it concerns.
        case: Option<String>,
        /// The doubt.
        doubt: Doubt,
    },
    /// A case succeeded; its samples count.
    CaseFinished {
        /// Its identifier in the plan.
        case: String,
        /// Reason why the repetitions stopped.
        stopped: StopReason,
    },
    /// A case failed; its samples do not count, except after a lost connection.
    CaseFailed {
        /// Its identifier in the plan.
        case: String,
        /// Cause of the failure.
        failure: FailureReason,
        /// Earlier case with the same cause of failure, for which this one was skipped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        /// Only host on which it failed, if it continues on the others; `None` = the case is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
    },
    /// One of several hosts had no time for a case that others measured; before its end.
    CaseCut {
        /// Its identifier in the plan.
        case: String,
        host: String,
    },
    /// The last event of every run that was not killed.
    RunFinished {
        /// RFC 3339 time in UTC.
        finished: String,
        /// Final status.
        status: RunStatus,
        /// State of the first host after the last case.
        state: HostState,
    },
}

/// Everything that is known before the first host joins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Identifier of the run.
    pub run: String,
    /// The user's name of the condition under which it was measured, e.g. `on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The user's note about the run, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// RFC 3339 time in UTC.
    pub started: String,
    /// The plan to execute.
    pub plan: Plan,
    /// Arguments of the command line; empty without a command line, and in runs of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Request in the language of a tool; `None` = a suite or assay's own options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<RequestedCommand>,
    /// Its position among the alternating runs of two conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnPosition>,
    /// Latest run of the store at the start, if it began later by the clock: the clock was set back
    /// in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl RunStarted {
    /// Returns the start of a run in today's format, without label, note and request.
    pub fn new(run: impl Into<String>, started: impl Into<String>, plan: Plan) -> Self {
        Self {
            format: FORMAT,
            run: run.into(),
            label: None,
            note: None,
            started: started.into(),
            plan,
            command: Vec::new(),
            asked: None,
            turn: None,
            after: None,
        }
    }
}

/// Position of a run among the runs of conditions that take turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnPosition {
    /// Identifier that they share.
    pub comparison: String,
    /// Seed of their order.
    pub seed: u64,
    /// Number of this run, from 0.
    pub number: u32,
    /// Number of the block, from 0: a block has neighbouring runs, one of each condition.
    pub block: u32,
    /// Whether it is a control: an extra run of the first condition, which shows the machine's own
    /// variation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_control: bool,
    /// Whether the comparison ends early, once a look after a block decides it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_looks: bool,
    /// Levels of the factors that are varied; empty for two conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<FactorLevel>,
    /// Number of the combination of levels, from 0; 0 is the reference. Runs of older versions have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combination: Option<u32>,
}

impl TurnPosition {
    /// Returns the position of a run of two conditions, which is no control.
    pub fn new(comparison: impl Into<String>, seed: u64, number: u32, block: u32) -> Self {
        Self {
            comparison: comparison.into(),
            seed,
            number,
            block,
            is_control: false,
            has_looks: false,
            levels: Vec::new(),
            combination: None,
        }
    }
}

/// Command line in the language of a tool, as the user typed it, so that the result can be printed
/// in that language again. The files that it names are raw outputs of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedCommand {
    /// `fio`, `vdbench`, `ior`, `mdtest`, `iperf3`, `qperf`, `ping`, `osu`.
    pub language: String,
    /// Arguments after the command, in order.
    pub words: Vec<String>,
}

/// A host that takes part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostJoined {
    /// Its name, unique within the run; the value of the dimensions `host` and `peer`.
    pub host: String,
    /// Facts about it.
    pub facts: HostFacts,
    /// Its state before the first case.
    pub state: HostState,
    /// Its clock, measured before anything else.
    pub clock: HostClock,
    /// Groups that the user assigned it to; each has totals of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl HostJoined {
    /// Returns a host without state, clock and groups.
    pub fn new(host: impl Into<String>, facts: HostFacts) -> Self {
        Self {
            host: host.into(),
            facts,
            state: HostState::default(),
            clock: HostClock::default(),
            labels: Vec::new(),
        }
    }
}

/// Resolution and cost of a host's clock, and the time of a null kernel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HostClock {
    /// Name: `CLOCK_MONOTONIC_RAW` …
    pub name: String,
    /// Smallest step seen, in seconds.
    pub resolution_s: f64,
    /// Median time of one reading, in seconds.
    pub cost_s: f64,
    /// Median time of a repetition of the null kernel, in seconds: the overhead of measuring.
    pub null_s: f64,
    /// Its offset to the coordinator's clock; `None` = it is the coordinator's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<ClockOffset>,
}

/// Offset of a host's clock, relative to the coordinator's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// In seconds.
    pub seconds: f64,
    /// Maximum error of the offset, in seconds.
    pub bound_s: f64,
}

/// Start of a series: the subject of all later events with its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeriesOpened {
    /// Its number, unique within the run.
    pub series: u32,
    /// The case it belongs to.
    pub case: String,
    /// Name of the metric in the benchmark's row.
    pub metric: String,
    /// Dimensions that distinguish it from other series, including the host.
    pub dimensions: Attributes,
}

impl SeriesOpened {
    /// Returns the start of a series.
    pub fn new(
        series: u32,
        case: impl Into<String>,
        metric: impl Into<String>,
        dimensions: Attributes,
    ) -> Self {
        Self { series, case: case.into(), metric: metric.into(), dimensions }
    }
}

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The series it belongs to.
    pub series: u32,
    /// In the metric's base unit.
    pub value: f64,
    /// Weight of the value when means are pooled: the seconds of a rate, the operations of a cost.
    /// 1 where all samples weigh the same.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: f64,
    /// Number of its preparation, from 0.
    pub preparation: u32,
    /// Nanoseconds since the run started.
    pub at_ns: u64,
}

impl Sample {
    /// Returns a sample of the first preparation, at the start of the run, with the weight 1.
    pub const fn new(series: u32, value: f64) -> Self {
        Self { series, value, weight: 1.0, preparation: 0, at_ns: 0 }
    }
}

const fn one() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(weight: &f64) -> bool {
    weight.to_bits() == one().to_bits()
}

/// Result of a stretch of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StretchRecord<T> {
    /// The series it belongs to.
    pub series: u32,
    /// Number of its preparation, from 0.
    pub preparation: u32,
    /// Its start, in nanoseconds since the measurement of the case began.
    pub from_ns: u64,
    /// Its end, likewise.
    pub to_ns: u64,
    /// Whether it belongs to the warm-up, and does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warmup: bool,
    /// The result.
    #[serde(flatten)]
    pub seen: T,
}

/// Rare events and their occasions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCount {
    /// Number of events.
    pub part: u64,
    /// Number of occasions.
    pub whole: u64,
}

/// Statistics of a distribution, as a tool printed them; they cannot be derived again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolFigures {
    /// The minimum, in the metric's base unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// The maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Percentiles by name: `p50`, `p99.9`.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub percentiles: std::collections::BTreeMap<String, f64>,
    /// Number of values behind the percentiles, if known. It decides which of them are printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// A fact found while measuring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Subject of the fact.
    #[serde(flatten)]
    pub about: FactSubject,
    /// The attribute.
    pub name: Attribute,
    /// Its value.
    pub value: AttributeValue,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactSubject {
    Series(u32),
    /// All series of a case.
    Case(String),
    /// All series of a case on one host.
    CaseOn {
        case: String,
        host: String,
    },
    Host(String),
}

/// Reason why the repetitions stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The interval is as narrow as requested.
    Precise,
    /// The time was used up.
    Budget,
    /// An official tool or the user's own job decides the number of repetitions.
    Tool,
    /// Its result was already known; it has no samples.
    NotNeeded,
    /// The comparison with the other programs is decided.
    Decided,
    /// The budget of the run ended before it had a result; it has no samples.
    Cut,
}

/// Final status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// Every case finished.
    Complete,
    /// At least one case failed.
    Failed,
    /// At least one host is missing from the results.
    Partial,
    /// Interrupted by a signal; the finished cases count.
    Interrupted,
    /// The end is missing: assay was killed, or is still running.
    Unfinished,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::LatencyDistribution;

    #[test]
    fn events_round_trip() {
        let stretch = |seen| StretchRecord {
            series: 3,
            preparation: 1,
            from_ns: 5,
            to_ns: 1_000_000_005,
            warmup: false,
            seen,
        };
        let distribution = LatencyDistribution::from_values(&[10, 20, 4_000_000_000]);
        let events = [
            RunEvent::Sample(Sample {
                series: 0,
                value: 2.0,
                weight: 0.1,
                preparation: 0,
                at_ns: u64::MAX,
            }),
            RunEvent::Distribution(stretch(distribution)),
            RunEvent::Count(StretchRecord {
                series: 3,
                preparation: 0,
                from_ns: 0,
                to_ns: 1,
                warmup: true,
                seen: EventCount { part: 0, whole: u64::MAX },
            }),
            RunEvent::Figures {
                series: 1,
                figures: ToolFigures {
                    mean: Some(3.0),
                    percentiles: [("p99.9".to_owned(), 1e-3)].into(),
                    ..ToolFigures::default()
                },
            },
            RunEvent::Fact(Fact {
                about: FactSubject::Case("memory.stream/node".to_owned()),
                name: Attribute::HugePages,
                value: AttributeValue::Number(0.5),
            }),
            RunEvent::Fact(Fact {
                about: FactSubject::Series(7),
                name: Attribute::Kernel,
                value: AttributeValue::Text("avx2".to_owned()),
            }),
            RunEvent::Doubt { case: None, doubt: Doubt::AnotherAssay },
            RunEvent::Doubt {
                case: Some("x".to_owned()),
                doubt: Doubt::RateMissed { asked_per_s: 10.0, reached_per_s: 9.0 },
            },
            RunEvent::CaseFailed {
                case: "x".to_owned(),
                failure: FailureReason::NoSamples,
                because: None,
                host: None,
            },
            RunEvent::CaseCut { case: "x".to_owned(), host: "vm1".to_owned() },
            RunEvent::Fact(Fact {
                about: FactSubject::CaseOn { case: "x".to_owned(), host: "vm1".to_owned() },
                name: Attribute::Kernel,
                value: AttributeValue::Text("avx2".to_owned()),
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
