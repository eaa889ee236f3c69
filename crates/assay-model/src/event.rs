//! What happens during a run, as a closed enumeration that every reader downstream consumes.
//!
//! Events are stored one per line and never rewritten. A crash after any of them loses nothing
//! that came before. [`crate::run::Run::fold`] turns them back into a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::{HostFacts, HostState};
use crate::plan::Plan;
use crate::warning::Warning;

/// The version of the event format. Fields may be added; none changes its meaning within a version.
pub const FORMAT: u32 = 1;

/// Names and values that describe a result, e.g. `placement` → `l3:0`.
pub type Parameters = BTreeMap<String, Parameter>;

/// One value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Parameter {
    /// A truth value.
    Flag(bool),
    /// A whole number.
    Integer(u64),
    /// Any other number, in a base unit.
    Number(f64),
    /// Anything else.
    Text(String),
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum RunEvent {
    /// The first event of every run.
    RunStarted(Box<RunStarted>),
    /// A case begins.
    CaseStarted {
        /// Its identifier in the plan.
        case: String,
    },
    /// One measured value.
    Sample(Sample),
    /// Something about a result that was only found out while measuring, e.g. the kernel's name.
    Learned(Learned),
    /// Raw output of a tool, stored beside the events under its hash.
    RawOutput {
        /// The case that produced it.
        case: String,
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
        warning: Warning,
    },
    /// A case ended well; its samples count.
    CaseFinished {
        /// Its identifier in the plan.
        case: String,
        /// Why no more repetitions were made.
        stopped: Stopped,
    },
    /// A case ended badly; its samples do not count.
    CaseFailed {
        /// Its identifier in the plan.
        case: String,
        /// What failed and why.
        reason: String,
        /// What to do.
        advice: String,
        /// The earlier case whose failure this one would only have repeated: it was skipped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    /// The last event of every run that was not killed.
    RunFinished {
        /// RFC 3339 time in UTC.
        finished: String,
        /// How it ended.
        status: Status,
        /// The host after the last case.
        state: HostState,
    },
}

/// Everything known before the first case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Identifier of the run.
    pub run: String,
    /// What the user calls the condition it was measured under, e.g. `on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// RFC 3339 time in UTC.
    pub started: String,
    /// What will be done.
    pub plan: Plan,
    /// The host that does it.
    pub host: HostFacts,
    /// The host before the first case.
    pub state: HostState,
    /// The clock that times everything, measured first.
    pub clock: Clock,
}

/// What the clock can tell apart and what reading it costs, and the same for an empty kernel.
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
}

/// One measured value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The case it belongs to.
    pub case: String,
    /// Name of the metric in the benchmark's row.
    pub metric: String,
    /// The domain it is about, when a case measures several at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
    /// In the metric's base unit.
    pub value: f64,
    /// Which preparation it was measured in, from 0.
    pub preparation: u32,
    /// Nanoseconds since the run started.
    pub at_ns: u64,
}

/// Something found out about a result while measuring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// The case it belongs to.
    pub case: String,
    /// The metric; `None` = all metrics of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Name of the parameter.
    pub name: String,
    /// Its value.
    pub value: Parameter,
}

/// Why no more repetitions were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// The interval is as narrow as asked.
    Precise,
    /// The time was spent.
    Budget,
    /// An official tool decides itself how often it repeats.
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
    /// Stopped from outside; the finished cases count.
    Interrupted,
    /// The end was never written: assay was killed, or is still running.
    Unfinished,
}
