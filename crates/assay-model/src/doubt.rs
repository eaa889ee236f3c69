//! Doubts about measurements, as identifiers with typed arguments.
//!
//! A doubt accompanies a result; it never removes the result and never fails a run. Stored are only
//! the identifier and its figures; the report generates the text. Shares are 0 … 1, times in
//! seconds, sizes in bytes, rates in their base unit.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::arguments::{FigureOrder, HostResource, SteadyWindow};
pub use self::level::TrustLevel;
pub use self::row::{DoubtAdvice, DoubtArgument, DoubtRow, DoubtText};
use crate::benchmark::VarianceSource;
use crate::limit::PhysicalLimit;
use crate::quantity::Unit;

mod arguments;
mod level;
mod open_loop;
mod row;
mod table;

/// Reason why a result may be misleading. The variants document the identifiers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "id", content = "arguments", rename_all = "kebab-case")]
pub enum Doubt {
    /// Too few independent samples for an interval.
    NoInterval {
        /// Samples that count.
        n: usize,
        /// Effective samples.
        n_effective: f64,
        /// Effective samples that an interval takes.
        needed: usize,
        /// Whether a tool decides the number of repetitions.
        by_tool: bool,
    },
    /// The interval is wider than was requested.
    WideInterval {
        /// Half its width over the median.
        width: f64,
        /// Requested width.
        target: f64,
        /// Samples that count.
        n: usize,
        /// Effective samples.
        n_effective: f64,
        /// Whether a tool decides the number of repetitions.
        by_tool: bool,
    },
    /// All samples come from one preparation, so the variance between preparations is unknown.
    OnePreparation {
        /// Preparations that were requested.
        asked: u32,
        /// Source of the variance.
        luck: VarianceSource,
    },
    /// There was time for fewer preparations than were requested.
    FewPreparations {
        /// Preparations that were requested.
        asked: u32,
        /// Number of preparations, at least two.
        had: usize,
    },
    /// The preparations differ more than the samples within them.
    PreparationsDiffer {
        /// Share of the variance between preparations.
        between: f64,
        /// Number of preparations.
        preparations: usize,
        /// Samples that count.
        n: usize,
        /// Effective samples.
        n_effective: f64,
        /// Source of the variance between preparations.
        luck: VarianceSource,
    },
    /// Neighbouring repetitions resemble each other.
    Autocorrelated {
        /// Samples that count.
        n: usize,
        /// Effective samples.
        n_effective: f64,
    },
    /// A considerable part of the samples was discarded as warm-up.
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
        /// Centre of the lower group.
        low: f64,
        /// Centre of the upper group.
        high: f64,
        /// Unit of both.
        unit: Unit,
    },
    /// Samples were not finite numbers.
    SamplesNotFinite {
        /// Samples that were rejected.
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
        /// Unit of the metric.
        unit: Unit,
    },
    /// A figure is zero or negative although every measured value must be positive.
    NotPositive {
        /// The metric.
        metric: String,
        figure: f64,
        /// Unit of the metric.
        unit: Unit,
    },
    /// Two figures of one sample are in the wrong order.
    OutOfOrder {
        /// The violated order.
        law: FigureOrder,
        /// Figure that should be the smaller one.
        less: f64,
        /// Figure that should be the larger one.
        more: f64,
        /// Unit of both.
        unit: Unit,
    },
    /// The median exceeds its limit.
    AboveLimit {
        /// The median.
        median: f64,
        limit: PhysicalLimit,
        /// Unit of both.
        unit: Unit,
    },
    /// The rate over cores and clock is not a plausible FLOP/cycle of a core, so there is no Rpeak.
    NoRpeak {
        /// The best rate over cores and clock.
        flop_per_cycle: f64,
    },
    /// A sample's metric is unknown to this version.
    UnknownMetric {
        /// The case.
        case: String,
        metric: String,
    },
    /// Arrays too small for STREAM's own rule.
    CacheAssisted {
        /// Size of one array.
        bytes_per_array: u64,
        /// Arrays over the sum of the last-level caches.
        multiple: f64,
        /// Minimum of STREAM's rule.
        needed: f64,
    },

    /// The idle end of loaded latency differs from memory latency.
    IdleLatencyDiffers {
        /// Latency of the chain without traffic.
        idle_s: f64,
        /// Memory latency in the same run.
        latency_s: f64,
    },
    /// Traffic of loaded latency exceeds every rate of STREAM.
    TrafficAboveStream {
        /// Bytes per second of the traffic.
        traffic: f64,
        /// Highest rate of STREAM in the same run.
        stream: f64,
    },
    /// Loads leave a cache at smaller working sets than its size.
    CacheEndsEarly {
        /// Its level.
        level: u8,
        /// Its size according to the kernel.
        bytes: u64,
        /// Largest working set with the latency of the cache.
        end_bytes: u64,
    },
    /// A cache line passed between cores faster than a core loads from its nearest cache.
    HandOverBelowLoad {
        /// Time per hand-over.
        hand_over_s: f64,
        /// Lowest memory latency in the same run.
        load_s: f64,
    },

    /// The hypervisor took CPU time away.
    Steal {
        /// CPU seconds that were taken.
        stolen_s: f64,
        /// Share of the CPU time.
        share: f64,
        /// Length of the observed time.
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
        /// Number of times.
        times: u64,
        /// Length of the observed time.
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
    /// Other processes used CPUs during the measurement.
    OtherDemand {
        /// Mean number of CPUs that they used.
        cpus: f64,
        /// Number of CPUs that assay could use.
        usable_cpus: usize,
    },
    /// Another assay was measuring.
    AnotherAssay,
    /// The processor is emulated: QEMU runs without KVM.
    EmulatedCpu,
    /// The process or the machine was paused during the measurement.
    Paused {
        /// Number of pauses.
        times: u64,
        /// Total duration of the pauses.
        seconds: f64,
        /// Part of it in which the machine was suspended.
        suspended_s: f64,
    },
    /// CPUs that assay could use at the start were taken away during the measurement.
    CpusTaken {
        /// Their numbers.
        cpus: Vec<u32>,
    },
    /// The wall clock was set during the measurement.
    ClockStepped {
        /// Size of the step; negative = backwards.
        seconds: f64,
    },
    /// The run took much longer than its budget.
    OverBudget {
        /// Elapsed time.
        elapsed_s: f64,
        /// Time budget.
        budget_s: f64,
    },

    /// The score in an imported file does not follow from the figures beside it.
    ScoreContradicted {
        /// Printed score, in the unit of the file.
        printed: f64,
        /// Score calculated from the figures, in the same unit.
        calculated: f64,
    },
    /// A tool prints too few decimals.
    RoundedOutput {
        /// The metric.
        metric: String,
        /// Message size with the coarsest rounding, as the tool prints it; empty without sizes.
        at: String,
        /// Relative uncertainty from rounding.
        share: f64,
    },
    /// An option in an imported file contradicts its figures, which are stored instead.
    OptionContradicted {
        /// Name of the dimension.
        condition: String,
        /// Value according to the options.
        option: String,
        /// Value according to the figures.
        figures: String,
    },
    /// A far end or a tool reports the CPU time of its process alone.
    ProcessCpuOnly {
        /// Whether the tool measured, and not only the far end.
        is_tool: bool,
    },
    /// It is unknown whether the far end honours the request not to copy the received data.
    CopyUnknown,
    /// The far end ran other tests at the same time.
    SharedServer {
        /// Number of the other tests.
        tests: u64,
        /// Share of this test's time in which at least one of them ran.
        share: f64,
    },
    /// A case ended early; its result covers the time before.
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
        /// Actual size.
        held_bytes: f64,
        /// Requested size.
        wanted_bytes: f64,
        /// Actual size over the last-level caches.
        multiple: f64,
    },
    /// A part of a tool's output could not be used.
    UnreadOutput {
        /// The line or row, and the problem with it.
        problem: String,
    },
    /// A tool measures once where a steady state was requested.
    MeasuredOnce {
        /// The tool.
        by: String,
    },

    /// Ranks were bound to CPUs other than requested.
    OtherBinding {
        /// Actual binding.
        bound: String,
        /// Requested CPUs, one for each rank.
        asked: Vec<u32>,
    },
    /// Both hosts of a pair are containers on one machine, so a library may use its memory instead
    /// of the network.
    OneKernel,
    /// Ranks are not bound to a single CPU.
    UnboundRanks {
        /// Number of ranks that are not bound.
        unbound: usize,
        /// Number of those that moved.
        moved: usize,
        /// Number of all ranks.
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
        /// Number of rounds.
        rounds: usize,
        /// The last rounds, if there were enough.
        window: Option<SteadyWindow>,
        /// Maximum range.
        range: f64,
        /// Maximum slope.
        slope: f64,
    },
    /// A search for the rate that meets a goal ended without a result.
    SearchNotFinished {
        /// Rates that were tried.
        tries: usize,
        /// Highest rate that was shown to meet the goal.
        keeps_per_s: f64,
        /// Lowest rate that was not shown to meet it.
        misses_per_s: f64,
    },
    /// The target is in memory.
    TargetInMemory {
        /// The file, or the folder of the tree.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// The kind of its file system.
        file_system: String,
    },
    /// A cache served reads instead of the device or the server. Derived from kernel counters, and
    /// never stored.
    CachedReads {
        /// The devices or mounts.
        place: String,
        /// Minimum share of the bytes that did not come from there.
        share: f64,
        read_bytes: u64,
        /// Bytes that came from the device or server, for any reader.
        moved_bytes: f64,
        /// Whether direct I/O was requested, which no cache of this host serves.
        is_direct: bool,
    },
    /// Written bytes did not reach the device or the server during the measurement. Derived, and
    /// never stored.
    CachedWrites {
        /// The devices or mounts.
        place: String,
        /// Minimum share of the bytes that did not get there.
        share: f64,
        written_bytes: u64,
        /// Bytes that reached the device or server, from any writer.
        moved_bytes: f64,
        /// Whether direct I/O was requested.
        is_direct: bool,
    },
    /// A network device moved much more or less than the payload. Derived, and never stored.
    CardTraffic {
        /// The device.
        device: String,
        /// Bytes of the device over bytes of the payload.
        factor: f64,
    },
    /// The NFS client sent calls again. Derived, and never stored.
    RpcRetransmits {
        /// The mount points.
        mount: String,
        /// Number of calls sent again.
        count: u64,
        /// Number of all calls.
        calls: u64,
    },
    /// One CPU did nothing but serve interrupts. Derived, and never stored.
    InterruptBound {
        /// The CPU: `cpu3`.
        cpu: String,
        /// Its share of time in interrupts and softirqs.
        share: f64,
    },
    /// I/O reached the limit of a control group. Derived, and never stored.
    IoLimitReached {
        /// The device.
        device: String,
        /// The limit per second.
        limit_per_s: f64,
        /// Reached rate per second.
        reached_per_s: f64,
        /// Unit of both.
        unit: Unit,
    },
    /// A file has holes.
    FileWithHoles {
        /// The file.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// Number of its bytes that are stored.
        stored_bytes: u64,
    },
    /// Little's law is violated: I/O in flight is not rate × latency.
    LittlesLaw {
        /// I/O in flight.
        in_flight: f64,
        /// Rate × latency.
        product: f64,
    },
    /// The requested rate was not reached.
    RateMissed {
        /// Requested rate.
        asked_per_s: f64,
        /// Reached rate.
        reached_per_s: f64,
    },
    /// I/O or operations of an open loop were due before the end and never started.
    NotStarted {
        /// Number of I/O or operations that never started.
        count: u64,
        /// Number of all that were due.
        due: u64,
    },
    /// Messages of an open loop were due faster than the replies arrived.
    MessageRateMissed {
        /// Requested rate.
        asked_per_s: f64,
        /// Messages that got a reply.
        answered: u64,
        /// Duration in seconds.
        seconds: f64,
    },
    /// The generator may have limited the result.
    GeneratorNear {
        /// Rate of the generator without I/O.
        alone_per_s: f64,
        /// Generator rate over the reached rate.
        factor: f64,
    },
    /// An I/O failed.
    IoFailed {
        /// Index of the target.
        target: usize,
        /// `read` or `write`.
        operation: String,
        /// Offset in bytes.
        offset: u64,
        /// Requested length in bytes.
        bytes: u64,
        /// Error of the kernel or the verifier.
        cause: String,
    },
    /// An operation on a file failed.
    FileOperationFailed {
        /// The file or directory.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        operation: String,
        /// Error of the kernel.
        cause: String,
    },

    /// The index of the store cannot be written. It concerns a listing and is never stored.
    StoreIndex {
        /// The index.
        #[serde(with = "crate::path_text")]
        path: PathBuf,
        /// Error of the system or the library.
        cause: String,
    },
    /// Events of the run are lost or damaged. It concerns reading and is never stored.
    EventsLost {
        /// Number of events; 0 = the beginning was changed, or a newer version wrote something
        /// unknown here.
        count: u64,
    },
    /// A host is significantly worse than the others of the run. Derived, and never stored.
    WorseThanPeers {
        /// The host.
        host: String,
        value: f64,
        /// The median over all hosts.
        median: f64,
        /// Unit of both.
        unit: Unit,
        /// Number of hosts.
        hosts: usize,
    },
    /// A host was saturated while several moved data: the result may be its limit. Derived, and
    /// never stored.
    HostSaturated {
        host: String,
        /// The saturated resource.
        resource: HostResource,
        /// Utilisation of the resource, 0 … 1.
        share: f64,
    },
    /// A pair of hosts is significantly worse than the others of the run. Derived, and never
    /// stored.
    WorseThanPairs {
        /// The first host of the pair, which begins.
        from: String,
        /// The second host of the pair.
        to: String,
        /// Value of the pair.
        value: f64,
        /// The median over all pairs.
        median: f64,
        /// Unit of both.
        unit: Unit,
        /// Number of pairs.
        pairs: usize,
    },
    /// A host is missing from this point on; its earlier results count.
    HostLost {
        /// The host.
        host: String,
        /// Reason as a stable name: `connection-ended`, `no-answer` …
        why: String,
        /// Error message with the reason.
        reason: String,
        /// Advice for the user.
        advice: String,
    },
    /// The doubt concerns one of several hosts.
    OnHost {
        /// The host.
        host: String,
        /// The doubt about that host.
        doubt: Box<Self>,
    },
}
