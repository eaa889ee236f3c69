//! Doubts about measurements, as identifiers with typed arguments.
//!
//! A doubt travels with a result; it never removes the result and never fails a run. The words for
//! people are written by the report alone; what is stored is which doubt and about which figures.
//! Shares are 0 … 1, times in seconds, sizes in bytes, rates in their base unit.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::arguments::{Order, Resource, SteadyWindow};
use crate::benchmark::Luck;
use crate::limit::Limit;
use crate::quantity::Unit;

mod arguments;

/// One doubt. The variants are the documentation: `assay help methods` prints them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "id", content = "arguments", rename_all = "kebab-case")]
pub enum Doubt {
    /// Too few independent samples for an interval.
    NoInterval {
        /// Samples that count.
        n: usize,
        /// What they are worth.
        n_effective: f64,
        /// Independent samples that an interval takes.
        needed: usize,
        /// Whether a tool decides how often it repeats.
        by_tool: bool,
    },
    /// The interval is wider than was requested.
    WideInterval {
        /// Half its width over the median.
        width: f64,
        /// What was requested.
        target: f64,
        /// Samples that count.
        n: usize,
        /// What they are worth.
        n_effective: f64,
        /// Whether a tool decides how often it repeats.
        by_tool: bool,
    },
    /// All samples share the luck of one preparation.
    OnePreparation {
        /// Preparations that were requested.
        asked: u32,
        /// What they share.
        luck: Luck,
    },
    /// There was time for fewer preparations than were requested.
    FewPreparations {
        /// Preparations that were requested.
        asked: u32,
        /// Those that there were, two at least.
        had: usize,
    },
    /// The preparations differ more than what is measured within them.
    PreparationsDiffer {
        /// Share of the variance between preparations.
        between: f64,
        /// Number of preparations.
        preparations: usize,
        /// Samples that count.
        n: usize,
        /// What they are worth.
        n_effective: f64,
        /// What a preparation's luck consists of.
        luck: Luck,
    },
    /// Neighbouring repetitions resemble each other.
    Autocorrelated {
        /// Samples that count.
        n: usize,
        /// What they are worth.
        n_effective: f64,
    },
    /// A part of the samples that matters was taken for warm-up and does not count.
    WarmUpDiscarded {
        /// Leading samples that were discarded.
        discarded: usize,
        /// All samples.
        all: usize,
    },
    /// The samples fall into two groups.
    SeveralModes {
        /// Share of the lower group.
        share_low: f64,
        /// Where the lower group lies.
        low: f64,
        /// Where the upper group lies.
        high: f64,
        /// Unit of both.
        unit: Unit,
    },
    /// Some samples were no numbers.
    SamplesNotFinite {
        /// Samples that were refused.
        refused: usize,
        /// All samples.
        all: usize,
    },
    /// A figure is not finite, which no measured value can be.
    NotFinite {
        /// The metric.
        metric: String,
        /// The figure as text, as JSON has no such number.
        figure: String,
        /// Its unit.
        unit: Unit,
    },
    /// A figure is zero or negative where nothing measured can be.
    NotPositive {
        /// The metric.
        metric: String,
        /// The figure.
        figure: f64,
        /// Its unit.
        unit: Unit,
    },
    /// Two figures of one sample are in the wrong order.
    OutOfOrder {
        /// Which law.
        law: Order,
        /// What should be less.
        less: f64,
        /// What should be more.
        more: f64,
        /// Unit of both.
        unit: Unit,
    },
    /// The median exceeds its limit.
    AboveLimit {
        /// The median.
        median: f64,
        /// The limit.
        limit: Limit,
        /// Unit of both.
        unit: Unit,
    },
    /// Rate over cores and clock is no FLOP/cycle that a core has, so there is no Rpeak.
    NoRpeak {
        /// The best rate over cores and clock.
        flop_per_cycle: f64,
    },
    /// Samples of a metric that this version does not know.
    UnknownMetric {
        /// The case.
        case: String,
        /// The metric.
        metric: String,
    },
    /// Arrays too small for STREAM's own rule.
    CacheAssisted {
        /// Size of one array.
        bytes_per_array: u64,
        /// Arrays over the sum of the last-level caches.
        multiple: f64,
        /// What the rule asks for.
        needed: f64,
    },

    /// The hypervisor took CPU time away.
    Steal {
        /// CPU seconds that were taken.
        stolen_s: f64,
        /// Share of the CPU time.
        share: f64,
        /// The time looked at.
        span_s: f64,
    },
    /// Tasks waited for a CPU.
    CpuPressure {
        /// Share of the time.
        share: f64,
    },
    /// Tasks waited for memory.
    MemoryPressure {
        /// Share of the time.
        share: f64,
    },
    /// The control group ran out of its CPU quota.
    Throttled {
        /// How often.
        times: u64,
        /// The time looked at.
        span_s: f64,
    },
    /// The clock frequency fell.
    FrequencyDrop {
        /// Before, in Hz.
        before_hz: f64,
        /// After, in Hz.
        after_hz: f64,
    },
    /// The machine was busy before anything was measured.
    OtherLoad {
        /// Load average over one minute.
        load: f64,
    },
    /// Another assay was measuring.
    AnotherAssay,
    /// The processor is a program: QEMU without KVM carries out every instruction itself.
    EmulatedCpu,
    /// The process or the machine stood still meanwhile.
    Paused {
        /// How often.
        times: u64,
        /// How long in all.
        seconds: f64,
        /// How long of it the machine was suspended.
        suspended_s: f64,
    },
    /// CPUs that assay could use at first were taken away meanwhile.
    CpusTaken {
        /// Their numbers.
        cpus: Vec<u32>,
    },
    /// The clock of the day was set meanwhile.
    ClockStepped {
        /// By how much; backwards is negative.
        seconds: f64,
    },
    /// The run took much longer than its budget.
    OverBudget {
        /// What it took.
        elapsed_s: f64,
        /// What it was given.
        budget_s: f64,
    },

    /// A tool prints too few decimals.
    RoundedOutput {
        /// The metric.
        metric: String,
        /// Size of the message it is coarsest at, as the tool prints it; empty where there is none.
        at: String,
        /// Relative uncertainty from rounding.
        share: f64,
    },
    /// A far end or a tool reports the CPU time of its process alone.
    ProcessCpuOnly {
        /// Whether it is the tool that measured, and not the far end of our own test.
        is_tool: bool,
    },
    /// The far end copies what it receives, whatever it is asked.
    CopyUnknown,
    /// A case ended before its time; its result is about what came before.
    BrokeOff,
    /// A tool ran another number of threads.
    OtherThreadCount {
        /// Threads that were requested.
        asked: u64,
        /// Threads that ran.
        ran: u64,
    },
    /// A tool's arrays are smaller than was requested.
    SmallerArrays {
        /// What they hold.
        held_bytes: f64,
        /// What was requested.
        wanted_bytes: f64,
        /// Over the last-level caches.
        multiple: f64,
    },
    /// A part of a tool's output could not be used.
    UnreadOutput {
        /// The line or row, and what is wrong with it.
        problem: String,
    },
    /// A tool measures once where a steady state was requested.
    MeasuredOnce {
        /// The tool.
        by: String,
    },

    /// Ranks were bound to other CPUs than requested.
    OtherBinding {
        /// What they were bound to.
        bound: String,
        /// What was requested, one CPU for each rank.
        asked: Vec<u32>,
    },
    /// Both hosts of a pair are containers of one machine, whose memory a library may use instead of the network.
    OneKernel,
    /// Ranks are bound to no single CPU.
    UnboundRanks {
        /// How many.
        unbound: usize,
        /// How many of them moved.
        moved: usize,
        /// All ranks.
        ranks: usize,
    },
    /// The virtual function carried little of the traffic.
    FunctionBypassed {
        /// The virtual function.
        function: String,
        /// The device it belongs to.
        device: String,
        /// Share of the traffic that it carried.
        share: f64,
    },

    /// A steady state was not reached.
    SteadyStateNotReached {
        /// Rounds that were made.
        rounds: usize,
        /// The last rounds, where there were enough.
        window: Option<SteadyWindow>,
        /// Range that is allowed.
        range: f64,
        /// Slope that is allowed.
        slope: f64,
    },
    /// A search for the rate that meets a goal ended before it knew it.
    SearchNotFinished {
        /// Rates that were tried.
        tries: usize,
        /// The maximum rate that was shown to meet the goal.
        keeps_per_s: f64,
        /// The lowest rate that was not.
        misses_per_s: f64,
    },
    /// What was measured is memory.
    TargetInMemory {
        /// The file, or the folder of the tree.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// The kind of its file system.
        file_system: String,
    },
    /// A file has holes.
    FileWithHoles {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// What of it is stored.
        stored_bytes: u64,
    },
    /// In flight is not rate × latency.
    LittlesLaw {
        /// I/O in flight.
        in_flight: f64,
        /// Rate × latency.
        product: f64,
    },
    /// The rate that was asked for was not reached.
    RateMissed {
        /// What was requested.
        asked_per_s: f64,
        /// What was reached.
        reached_per_s: f64,
    },
    /// I/O or operations of an open loop were due before the end and never started.
    NotStarted {
        /// How many.
        count: u64,
        /// All that were due.
        due: u64,
    },
    /// Messages of an open loop were due faster than they were answered.
    MessageRateMissed {
        /// What was requested.
        asked_per_s: f64,
        /// Messages that were answered.
        answered: u64,
        /// In which time, in seconds.
        seconds: f64,
    },
    /// The generator may be what was measured.
    GeneratorNear {
        /// What it does without I/O.
        alone_per_s: f64,
        /// That over what was reached.
        factor: f64,
    },
    /// One I/O failed.
    IoFailed {
        /// Index of the target.
        target: usize,
        /// `read` or `write`.
        operation: String,
        /// Where, in bytes.
        offset: u64,
        /// How much was requested, in bytes.
        bytes: u64,
        /// What the kernel or the verifier said.
        cause: String,
    },
    /// One operation on a file failed.
    FileOperationFailed {
        /// The file or directory.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// What was to be done.
        operation: String,
        /// What the kernel said.
        cause: String,
    },

    /// The index of the store cannot be written. It concerns a listing and is never stored.
    StoreIndex {
        /// The index.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// What the system or the library said.
        cause: String,
    },
    /// Events of the run are lost or damaged. It concerns what is read and is never stored.
    EventsLost {
        /// How many; 0 = its beginning was changed, or a newer assay wrote what is not known here.
        count: u64,
    },
    /// A host is worse than the others of the run, by more than chance explains. Derived, and never stored.
    WorseThanPeers {
        /// The host.
        host: String,
        /// Its value.
        value: f64,
        /// The median over all hosts.
        median: f64,
        /// Unit of both.
        unit: Unit,
        /// Number of hosts.
        hosts: usize,
    },
    /// A host was busy up to its limit while several moved data: what was measured may be its limit. Derived, and
    /// never stored.
    HostSaturated {
        /// The host.
        host: String,
        /// What of it.
        resource: Resource,
        /// How much of that was in use, 0 … 1.
        share: f64,
    },
    /// A pair of hosts is worse than the others of the run, likewise. Derived, and never stored.
    WorseThanPairs {
        /// The host that began.
        from: String,
        /// The other end.
        to: String,
        /// Their value.
        value: f64,
        /// The median over all pairs.
        median: f64,
        /// Unit of both.
        unit: Unit,
        /// Number of pairs.
        pairs: usize,
    },
    /// A host is missing from here on; what it measured before counts.
    HostLost {
        /// The host.
        host: String,
        /// Why, as a stable name: `connection-ended`, `no-answer` …
        why: String,
        /// The same in the words of what leads to it.
        reason: String,
        /// What to do.
        advice: String,
    },
    /// It is about one of several hosts.
    OnHost {
        /// The host.
        host: String,
        /// What is doubtful there.
        doubt: Box<Self>,
    },
    /// In the words of a run that format 1 stored.
    #[serde(rename = "told")]
    Reported {
        /// What it was called.
        name: String,
        /// What is doubtful.
        text: String,
        /// What to do about it.
        advice: String,
    },
}

/// Where more of what was due than this share never started, p99 is the least that it can be.
const NOT_STARTED: f64 = 0.01;

impl Doubt {
    /// The doubt of an open loop that left so many undone of those that were due. A single one may have
    /// become due with the end.
    #[must_use]
    pub fn not_started(count: u64, due: u64) -> Option<Self> {
        (count > 1 && count as f64 > NOT_STARTED * due as f64)
            .then_some(Self::NotStarted { count, due })
    }

    /// The same of messages on one connection, where as much is due as was asked for in the time.
    #[must_use]
    pub fn message_rate(
        asked_per_s: f64,
        (answered, left): (u64, u64),
        seconds: f64,
    ) -> Option<Self> {
        Self::not_started(left, answered + left)?;
        Some(Self::MessageRateMissed { asked_per_s, answered, seconds })
    }

    /// The stable name for scripts: `cache-assisted`, `wide-interval` …
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::NoInterval { .. } => "no-interval",
            Self::WideInterval { .. } => "wide-interval",
            Self::OnePreparation { .. } => "one-preparation",
            Self::FewPreparations { .. } => "few-preparations",
            Self::PreparationsDiffer { .. } => "preparations-differ",
            Self::Autocorrelated { .. } => "autocorrelated",
            Self::WarmUpDiscarded { .. } => "warm-up-discarded",
            Self::SeveralModes { .. } => "several-modes",
            Self::SamplesNotFinite { .. } => "samples-not-finite",
            Self::NotFinite { .. } => "not-finite",
            Self::NotPositive { .. } => "not-positive",
            Self::OutOfOrder { .. } => "out-of-order",
            Self::AboveLimit { .. } => "above-limit",
            Self::NoRpeak { .. } => "no-rpeak",
            Self::UnknownMetric { .. } => "unknown-metric",
            Self::CacheAssisted { .. } => "cache-assisted",
            Self::Steal { .. } => "steal",
            Self::CpuPressure { .. } => "cpu-pressure",
            Self::MemoryPressure { .. } => "memory-pressure",
            Self::Throttled { .. } => "throttled",
            Self::FrequencyDrop { .. } => "frequency-drop",
            Self::OtherLoad { .. } => "other-load",
            Self::AnotherAssay => "another-assay",
            Self::EmulatedCpu => "emulated-cpu",
            Self::Paused { .. } => "paused",
            Self::CpusTaken { .. } => "cpus-taken",
            Self::ClockStepped { .. } => "clock-stepped",
            Self::OverBudget { .. } => "over-budget",
            Self::RoundedOutput { .. } => "rounded-output",
            Self::ProcessCpuOnly { .. } => "process-cpu-only",
            Self::CopyUnknown => "copy-unknown",
            Self::BrokeOff => "broke-off",
            Self::OtherThreadCount { .. } => "other-thread-count",
            Self::SmallerArrays { .. } => "smaller-arrays",
            Self::UnreadOutput { .. } => "unread-output",
            Self::MeasuredOnce { .. } => "measured-once",
            Self::OtherBinding { .. } => "other-binding",
            Self::OneKernel => "one-kernel",
            Self::UnboundRanks { .. } => "unbound-ranks",
            Self::FunctionBypassed { .. } => "function-bypassed",
            Self::SteadyStateNotReached { .. } => "steady-state-not-reached",
            Self::SearchNotFinished { .. } => "search-not-finished",
            Self::TargetInMemory { .. } => "target-in-memory",
            Self::FileWithHoles { .. } => "file-with-holes",
            Self::LittlesLaw { .. } => "littles-law",
            Self::RateMissed { .. } => "rate-missed",
            Self::NotStarted { .. } => "not-started",
            Self::MessageRateMissed { .. } => "message-rate-missed",
            Self::GeneratorNear { .. } => "generator-near",
            Self::IoFailed { .. } => "io-failed",
            Self::FileOperationFailed { .. } => "file-operation-failed",
            Self::StoreIndex { .. } => "store-index",
            Self::EventsLost { .. } => "events-lost",
            Self::WorseThanPeers { .. } => "worse-than-peers",
            Self::HostSaturated { .. } => "host-saturated",
            Self::WorseThanPairs { .. } => "worse-than-pairs",
            Self::HostLost { .. } => "host-lost",
            Self::OnHost { doubt, .. } => doubt.id(),
            Self::Reported { name, .. } => name,
        }
    }

    /// How bad it is beside the same doubt about another host; 0 where one is as bad as another.
    #[must_use]
    pub fn extent(&self) -> f64 {
        match self {
            Self::OnHost { doubt, .. } => doubt.extent(),
            Self::Steal { share, .. }
            | Self::CpuPressure { share }
            | Self::MemoryPressure { share } => *share,
            Self::Throttled { times, .. } => *times as f64,
            Self::Paused { seconds, .. } => *seconds,
            Self::OverBudget { elapsed_s, .. } => *elapsed_s,
            Self::OtherLoad { load } => *load,
            Self::CpusTaken { cpus } => cpus.len() as f64,
            _ => 0.0,
        }
    }
}
