//! Table of all doubts: identifier, severity, level, text, arguments with their units, advice.
//!
//! A row names its variant and identifier. The optional columns default to: severity 0, a sound
//! value, the message
//! `doubt-` with the identifier, no arguments, the message's own advice.

use super::row::DoubtAdvice::{self, ForSystemError, Message, Verbatim};
use super::row::DoubtArgument::{
    self, Basis, ClockStep, Count, ExactNumber, Figure, Number, Numbers, Order, RequestedShare,
    Resource, RoughShare, RoundedAt, RoundingShare, Seconds, Share, Size, Value, Window, Word,
};
use super::row::{DoubtRow, DoubtText};
use super::{Doubt, TrustLevel};
use crate::benchmark::VarianceSource;
use crate::limit::LimitBasis;
use crate::quantity::Unit;

/// Confidence level of the intervals in doubts.
const LEVEL: f64 = 0.95;
/// Version of iperf3 from which on its server reports whether it copies.
const COPY_KNOWN_SINCE: &str = "3.19";

macro_rules! doubts {
    ($(
        $variant:ident $({ $($field:tt)* })?, $id:literal
        $(, severity: $severity:expr)?
        $(, level: $level:expr)?
        $(, text: $text:expr)?
        $(, [$($name:ident = $argument:expr),+ $(,)?])?
        $(, advice: $advice:expr)?;
    )+) => {
        impl Doubt {
            /// Returns the row of the table for this doubt; for a doubt about one of several
            /// hosts, that of the doubt about the host.
            pub fn row(&self) -> DoubtRow<'_> {
                match self {
                    Self::OnHost { doubt, .. } => doubt.row(),
                    $(Self::$variant $({ $($field)* })? => DoubtRow {
                        id: $id,
                        severity: doubts!(0.0 $(, $severity)?),
                        level: doubts!(TrustLevel::Sound $(, $level)?),
                        text: doubts!(
                            DoubtText::Message(concat!("doubt-", $id)) $(, $text)?
                        ),
                        arguments: vec![$($((stringify!($name), $argument)),+)?],
                        advice: doubts!(DoubtAdvice::OfMessage $(, $advice)?),
                    },)+
                }
            }
        }
    };
    ($default:expr) => { $default };
    ($default:expr, $given:expr) => { $given };
}

doubts! {
    NoInterval { n, n_effective, needed, by_tool }, "no-interval",
        text: DoubtText::Message(match *n_effective < *n as f64 {
            true => "doubt-no-interval-worth",
            false => "doubt-no-interval",
        }),
        [
            level = Share(LEVEL, 0),
            n = DoubtArgument::count(*n),
            worth = Number(*n_effective, 1),
            needed = DoubtArgument::count(*needed),
        ],
        advice: Message(repetition_advice(*by_tool));
    // An interval this wide is described without its digits.
    WideInterval { width, target, n, n_effective, by_tool }, "wide-interval",
        text: DoubtText::Message(match width.is_nan() || *width > 1.0 {
            true => "doubt-wider-than-value",
            false => "doubt-wide-interval",
        }),
        [
            level = Share(LEVEL, 0),
            width = RoughShare(*width),
            target = RequestedShare(*target),
            n = DoubtArgument::count(*n),
            worth = Number(*n_effective, 1),
            first = Word(repetition_advice(*by_tool)),
        ];
    OnePreparation { asked, luck }, "one-preparation",
        [luck = Word(variance_source(*luck)), asked = Count(u64::from(*asked))],
        advice: Message("advice-more-time");
    FewPreparations { asked, had }, "few-preparations",
        [had = DoubtArgument::count(*had), asked = Count(u64::from(*asked))],
        advice: Message("advice-more-time");
    PreparationsDiffer { between, preparations, n, n_effective, luck }, "preparations-differ",
        [
            share = RoughShare(*between),
            preparations = DoubtArgument::count(*preparations),
            n = DoubtArgument::count(*n),
            worth = Number(*n_effective, 1),
        ],
        advice: Message(variance_advice(*luck));
    Autocorrelated { n, n_effective }, "autocorrelated",
        [n = DoubtArgument::count(*n), worth = Number(*n_effective, 1)];
    WarmUpDiscarded { discarded, all }, "warm-up-discarded",
        [discarded = DoubtArgument::count(*discarded), all = DoubtArgument::count(*all)];
    SeveralModes { share_low, low, high, unit }, "several-modes", level: modes_level(*low, *high),
        [
            few = RoughShare(*share_low),
            low = Figure(*low, *unit, 4),
            many = RoughShare(1.0 - share_low),
            high = Figure(*high, *unit, 4),
        ];
    SamplesNotFinite { refused, all }, "samples-not-finite", level: TrustLevel::Suspect,
        [refused = DoubtArgument::count(*refused), all = DoubtArgument::count(*all)];
    NotFinite { metric, figure, unit }, "not-finite", level: TrustLevel::Suspect,
        text: DoubtText::Message("doubt-not-a-value"),
        [
            metric = DoubtArgument::text(metric),
            figure = DoubtArgument::text(with_unit(figure, *unit)),
        ];
    NotPositive { metric, figure, unit }, "not-positive", level: TrustLevel::Suspect,
        text: DoubtText::Message("doubt-not-a-value"),
        [metric = DoubtArgument::text(metric), figure = Figure(*figure, *unit, 4)];
    OutOfOrder { law, less, more, unit }, "out-of-order", level: TrustLevel::Suspect,
        [
            law = Order(*law),
            less = Figure(*less, *unit, 4),
            more = Figure(*more, *unit, 4),
        ];
    AboveLimit { median, limit, unit }, "above-limit", level: TrustLevel::Suspect,
        [
            share = Share(median / limit.value, 1),
            limit = Figure(limit.value, *unit, 4),
            basis = Basis(&limit.basis),
        ],
        advice: limit_advice(&limit.basis);
    NoRpeak { flop_per_cycle }, "no-rpeak",
        [rate = Number(*flop_per_cycle, 1)];
    UnknownMetric { case, metric }, "unknown-metric",
        [case = DoubtArgument::text(case), metric = DoubtArgument::text(metric)];
    CacheAssisted { bytes_per_array, multiple, needed }, "cache-assisted",
        [
            size = Size(*bytes_per_array),
            multiple = ExactNumber(*multiple),
            needed = ExactNumber(*needed),
        ];
    IdleLatencyDiffers { idle_s, latency_s }, "idle-latency-differs", level: TrustLevel::Suspect,
        [
            idle = Figure(*idle_s, Unit::Second, 3),
            latency = Figure(*latency_s, Unit::Second, 3),
        ];
    TrafficAboveStream { traffic, stream }, "traffic-above-stream", level: TrustLevel::Suspect,
        [
            traffic = Figure(*traffic, Unit::BytePerSecond, 3),
            stream = Figure(*stream, Unit::BytePerSecond, 3),
        ];
    CacheEndsEarly { level, bytes, end_bytes }, "cache-ends-early",
        [
            level = Count(u64::from(*level)),
            size = Size(*bytes),
            end = Size(*end_bytes),
        ];
    HandOverBelowLoad { hand_over_s, load_s }, "hand-over-below-load", level: TrustLevel::Suspect,
        [
            time = Figure(*hand_over_s, Unit::Second, 3),
            load = Figure(*load_s, Unit::Second, 3),
        ];

    Steal { stolen_s, share, span_s }, "steal", severity: *share, level: steal_level(*share),
        [
            stolen = Seconds(*stolen_s, 2),
            share = Share(*share, 1),
            span = Figure(*span_s, Unit::Second, 3),
        ];
    CpuPressure { share }, "cpu-pressure", severity: *share, level: TrustLevel::Noisy, [share = Share(*share, 0)];
    MemoryPressure { share }, "memory-pressure", severity: *share, [share = Share(*share, 0)];
    Throttled { times, span_s }, "throttled", severity: *times as f64, level: TrustLevel::Suspect,
        [n = Count(*times), span = Figure(*span_s, Unit::Second, 3)];
    FrequencyDrop { before_hz, after_hz }, "frequency-drop",
        [
            before = Figure(*before_hz, Unit::Hertz, 3),
            after = Figure(*after_hz, Unit::Hertz, 3),
            change = Share(after_hz / before_hz - 1.0, 0),
        ];
    OtherLoad { load }, "other-load", severity: *load, [load = Number(*load, 2)];
    OtherDemand { cpus, usable_cpus }, "other-demand", severity: *cpus,
        level: TrustLevel::Suspect,
        [
            cpus = Number(*cpus, 1),
            share = Share(*cpus / *usable_cpus as f64, 0),
            all = DoubtArgument::count(*usable_cpus),
        ];
    AnotherAssay, "another-assay", level: TrustLevel::Suspect;
    EmulatedCpu, "emulated-cpu";
    Paused { times, seconds, suspended_s }, "paused", severity: *seconds, level: TrustLevel::Suspect,
        text: DoubtText::Message(match is_suspended(*seconds, *suspended_s) {
            true => "doubt-suspended",
            false => "doubt-paused",
        }),
        [
            time = Seconds(
                if is_suspended(*seconds, *suspended_s) { *suspended_s } else { *seconds },
                1,
            ),
            n = Count(*times),
        ];
    CpusTaken { cpus }, "cpus-taken", severity: cpus.len() as f64, level: TrustLevel::Suspect,
        [n = DoubtArgument::count(cpus.len()), cpus = Numbers(cpus)];
    ClockStepped { seconds }, "clock-stepped", level: TrustLevel::Suspect, [step = ClockStep(*seconds)];
    OverBudget { elapsed_s, budget_s }, "over-budget", severity: *elapsed_s,
        [elapsed = Seconds(*elapsed_s, 0), budget = Seconds(*budget_s, 0)];

    ScoreContradicted { printed, calculated }, "score-contradicted", level: TrustLevel::Suspect,
        [
            printed = Number(*printed, 6),
            calculated = Number(*calculated, 6),
        ];
    RoundedOutput { metric, at, share }, "rounded-output",
        [
            metric = DoubtArgument::text(metric),
            share = RoundingShare(*share),
            at = RoundedAt(at),
        ];
    OptionContradicted { condition, option, figures }, "option-contradicted",
        [
            condition = DoubtArgument::text(condition),
            option = DoubtArgument::text(option),
            figures = DoubtArgument::text(figures),
        ];
    ProcessCpuOnly { is_tool }, "process-cpu-only",
        text: DoubtText::Message(match *is_tool {
            true => "doubt-process-cpu-only",
            false => "doubt-far-process-cpu-only",
        });
    CopyUnknown, "copy-unknown", [version = DoubtArgument::text(COPY_KNOWN_SINCE)];
    SharedServer { tests, share }, "shared-server", severity: *share, level: TrustLevel::Suspect,
        [n = DoubtArgument::plain(tests), share = Share(*share, 0)];
    BrokeOff, "broke-off";
    OtherThreadCount { asked, ran }, "other-thread-count",
        [asked = DoubtArgument::plain(asked), ran = DoubtArgument::plain(ran)];
    SmallerArrays { held_bytes, wanted_bytes, multiple }, "smaller-arrays",
        [
            held = Figure(*held_bytes, Unit::Byte, 3),
            wanted = Figure(*wanted_bytes, Unit::Byte, 3),
            multiple = Number(*multiple, 2),
        ];
    UnreadOutput { problem }, "unread-output",
        text: DoubtText::Verbatim(problem.into()),
        advice: Message("advice-raw-output");
    MeasuredOnce { by }, "measured-once", [by = DoubtArgument::text(by)];

    OtherBinding { bound, asked }, "other-binding",
        [bound = DoubtArgument::text(bound), asked = DoubtArgument::text(format!("{asked:?}"))];
    OneKernel, "one-kernel";
    UnboundRanks { unbound, moved, ranks }, "unbound-ranks",
        [
            unbound = DoubtArgument::plain(unbound),
            moved = DoubtArgument::plain(moved),
            ranks = DoubtArgument::plain(ranks),
        ];
    FunctionBypassed { function, device, share }, "function-bypassed",
        [
            function = DoubtArgument::text(function),
            device = DoubtArgument::text(device),
            share = Share(*share, 0),
        ];

    SteadyStateNotReached { rounds, window, range, slope }, "steady-state-not-reached",
        [
            rounds = DoubtArgument::count(*rounds),
            found = Window(*window),
            range = Share(*range, 0),
            slope = Share(*slope, 0),
        ];
    SearchNotFinished { tries, keeps_per_s, misses_per_s }, "search-not-finished",
        [
            n = DoubtArgument::count(*tries),
            keeps = Figure(*keeps_per_s, Unit::IoPerSecond, 4),
            misses = Figure(*misses_per_s, Unit::IoPerSecond, 4),
        ];
    TargetInMemory { path, file_system }, "target-in-memory",
        [path = DoubtArgument::path(path), kind = DoubtArgument::text(file_system)];
    CachedReads { place, share, read_bytes, moved_bytes, is_direct }, "cached-reads",
        severity: *share, level: cache_level(*is_direct),
        [
            place = DoubtArgument::text(place),
            share = Share(*share, 0),
            payload = Figure(*read_bytes as f64, Unit::Byte, 3),
            moved = Figure(*moved_bytes, Unit::Byte, 3),
        ],
        advice: Message(cache_advice(*is_direct));
    CachedWrites { place, share, written_bytes, moved_bytes, is_direct }, "cached-writes",
        severity: *share, level: cache_level(*is_direct),
        [
            place = DoubtArgument::text(place),
            share = Share(*share, 0),
            payload = Figure(*written_bytes as f64, Unit::Byte, 3),
            moved = Figure(*moved_bytes, Unit::Byte, 3),
        ],
        advice: Message(cache_advice(*is_direct));
    CardTraffic { device, factor }, "card-traffic", severity: (factor - 1.0).abs(),
        text: DoubtText::Message(match *factor > 1.0 {
            true => "doubt-card-traffic-more",
            false => "doubt-card-traffic-less",
        }),
        [device = DoubtArgument::text(device), factor = Number(*factor, 2)];
    RpcRetransmits { mount, count, calls }, "rpc-retransmits", severity: *count as f64,
        [mount = DoubtArgument::text(mount), n = Count(*count), calls = Count(*calls)];
    InterruptBound { cpu, share }, "interrupt-bound", severity: *share,
        [cpu = DoubtArgument::text(cpu), share = Share(*share, 0)];
    IoLimitReached { device, limit_per_s, reached_per_s, unit }, "io-limit-reached",
        [
            device = DoubtArgument::text(device),
            limit = Figure(*limit_per_s, *unit, 3),
            reached = Figure(*reached_per_s, *unit, 3),
        ];
    FileWithHoles { path, bytes, stored_bytes }, "file-with-holes",
        [
            path = DoubtArgument::path(path),
            size = Size(*bytes),
            stored = Figure(*stored_bytes as f64, Unit::Byte, 3),
        ];
    LittlesLaw { in_flight, product }, "littles-law", level: TrustLevel::Suspect,
        [
            flight = Number(*in_flight, 2),
            product = Number(*product, 2),
            difference = Share((in_flight - product).abs() / in_flight, 1),
        ];
    RateMissed { asked_per_s, reached_per_s }, "rate-missed",
        [
            asked = Figure(*asked_per_s, Unit::IoPerSecond, 4),
            reached = Figure(*reached_per_s, Unit::IoPerSecond, 4),
        ];
    NotStarted { count, due }, "not-started", [n = Count(*count), due = Count(*due)];
    MessageRateMissed { asked_per_s, answered, seconds }, "message-rate-missed",
        [
            asked = message_rate(*asked_per_s),
            reached = message_rate(*answered as f64 / seconds),
        ];
    GeneratorNear { alone_per_s, factor }, "generator-near",
        [rate = Figure(*alone_per_s, Unit::IoPerSecond, 3), factor = Number(*factor, 1)];
    IoFailed { target, operation, offset, bytes, cause }, "io-failed",
        [
            operation = DoubtArgument::text(operation),
            size = DoubtArgument::plain(bytes),
            offset = DoubtArgument::plain(offset),
            target = DoubtArgument::plain(target),
            cause = DoubtArgument::text(cause),
        ],
        advice: ForSystemError(cause);
    FileOperationFailed { path, operation, cause }, "file-operation-failed",
        [
            operation = DoubtArgument::text(operation),
            path = DoubtArgument::path(path),
            cause = DoubtArgument::text(cause),
        ],
        advice: ForSystemError(cause);

    StoreIndex { path, cause }, "store-index",
        [path = DoubtArgument::path(path), cause = DoubtArgument::text(cause)];
    EventsLost { count }, "events-lost",
        text: DoubtText::Message(match *count {
            0 => "doubt-events-changed",
            _ => "doubt-events-lost",
        }),
        [n = Count(*count)];
    WorseThanPeers { host, value, median, unit, hosts }, "worse-than-peers",
        [
            host = DoubtArgument::text(host),
            value = Value(*value, *unit),
            median = Value(*median, *unit),
            change = Share(value / median - 1.0, 0),
            hosts = DoubtArgument::count(*hosts),
        ];
    HostSaturated { host, resource, share }, "host-saturated",
        [
            host = DoubtArgument::text(host),
            resource = Resource(*resource),
            share = Share(*share, 0),
        ];
    WorseThanPairs { from, to, value, median, unit, pairs }, "worse-than-pairs",
        [
            from = DoubtArgument::text(from),
            to = DoubtArgument::text(to),
            value = Value(*value, *unit),
            median = Value(*median, *unit),
            change = Share(value / median - 1.0, 0),
            pairs = DoubtArgument::count(*pairs),
        ];
    HostLost { host, why: _, reason, advice }, "host-lost",
        text: DoubtText::Verbatim(format!("{host}: {reason}").into()),
        advice: Verbatim(advice);
}

/// Share of stolen CPU time up to which values are sound: the default margin of comparisons.
const SOUND_STEAL: f64 = 0.02;

/// Ratio of two groups of samples from which a median between them describes neither: the widest
/// interval of a sound value reaches 10 % to either side.
const MODES_APART: f64 = 1.2;

fn steal_level(share: f64) -> TrustLevel {
    if share > SOUND_STEAL { TrustLevel::Suspect } else { TrustLevel::Sound }
}

/// Returns the level of a value of which a cache served a part: expected through the page cache.
const fn cache_level(is_direct: bool) -> TrustLevel {
    if is_direct { TrustLevel::Suspect } else { TrustLevel::Sound }
}

const fn cache_advice(is_direct: bool) -> &'static str {
    if is_direct { "advice-cache-below" } else { "advice-page-cache" }
}

fn modes_level(low: f64, high: f64) -> TrustLevel {
    if high > MODES_APART * low { TrustLevel::Noisy } else { TrustLevel::Sound }
}

/// Returns the advice for too few repetitions.
const fn repetition_advice(by_tool: bool) -> &'static str {
    if by_tool { "advice-tool-repeats" } else { "advice-more-time" }
}

const fn variance_source(luck: VarianceSource) -> &'static str {
    match luck {
        VarianceSource::Pages => "luck-pages",
        VarianceSource::Connections => "luck-connections",
        VarianceSource::Launch => "luck-launch",
    }
}

const fn variance_advice(luck: VarianceSource) -> &'static str {
    match luck {
        VarianceSource::Pages => "depends-pages",
        VarianceSource::Connections => "depends-connections",
        VarianceSource::Launch => "depends-launch",
    }
}

/// Returns the advice for a value above its limit. A peak was timed on the same CPUs as the value,
/// and no cache helps.
const fn limit_advice(basis: &LimitBasis) -> DoubtAdvice<'static> {
    match basis {
        LimitBasis::Rpeak(_) | LimitBasis::MeasuredPeak { .. } => {
            Message("advice-limit-contended")
        }
        LimitBasis::MemoryChannels { .. }
        | LimitBasis::Link { .. }
        | LimitBasis::Provisioned
        | LimitBasis::DataSheet { .. } => DoubtAdvice::OfMessage,
    }
}

/// Whether most of the pauses was a suspension of the machine.
const fn is_suspended(paused_s: f64, suspended_s: f64) -> bool {
    suspended_s > 0.5 * paused_s
}

/// Returns messages per second, with a decimal if there are few.
fn message_rate(per_s: f64) -> DoubtArgument<'static> {
    Number(per_s, usize::from(per_s < 1000.0))
}

/// Appends the symbol of the unit to a figure that is no number.
fn with_unit(figure: &str, unit: Unit) -> String {
    format!("{figure} {}", unit.symbol()).trim_end().to_owned()
}
