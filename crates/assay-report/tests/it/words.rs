//! Every identifier has a text: each variant once, with matching arguments.

use std::collections::BTreeMap;

use assay_model::benchmark::{Benchmark, RdmaTest, VarianceSource};
use assay_model::doubt::{Doubt, FigureOrder, SteadyWindow};
use assay_model::engine_reason::EngineReason;
use assay_model::failure::{
    ConnectFailure, ErrorArea, FailureReason, MissingHostFeature, TriedRate,
};
use assay_model::limit::{LimitBasis, PhysicalLimit, Rpeak};
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;
use assay_model::trust::DistrustReason;
use assay_report::words;

const PER_BYTE: Unit = Unit::BytePerSecond;

fn sample_doubts() -> Vec<Doubt> {
    let (n, n_effective, by_tool, luck) = (12, 4.5, false, VarianceSource::Pages);
    vec![
        Doubt::NoInterval { n, n_effective, needed: 6, by_tool },
        Doubt::WideInterval { width: 0.03, target: 0.01, n, n_effective, by_tool: true },
        Doubt::OnePreparation { asked: 3, luck: VarianceSource::Launch },
        Doubt::FewPreparations { asked: 3, had: 2 },
        Doubt::PreparationsDiffer { between: 0.8, preparations: 3, n, n_effective, luck },
        Doubt::Autocorrelated { n, n_effective },
        Doubt::SeveralModes { share_low: 0.4, low: 1e9, high: 2e9, unit: PER_BYTE },
        Doubt::SamplesNotFinite { refused: 1, all: 9 },
        Doubt::NotFinite { metric: "rate".into(), figure: "NaN".into(), unit: PER_BYTE },
        Doubt::NotPositive { metric: "rate".into(), figure: -1.0, unit: PER_BYTE },
        Doubt::OutOfOrder {
            law: FigureOrder::MedianP99,
            less: 2.0,
            more: 1.0,
            unit: Unit::Second,
        },
        Doubt::AboveLimit {
            median: 2e9,
            limit: PhysicalLimit { value: 1e9, basis: LimitBasis::Provisioned },
            unit: PER_BYTE,
        },
        Doubt::NoRpeak { flop_per_cycle: 24.2 },
        Doubt::UnknownMetric { case: "storage/x".into(), metric: "colour".into() },
        Doubt::CacheAssisted { bytes_per_array: 1 << 20, multiple: 1.5, needed: 4.0 },
        Doubt::IdleLatencyDiffers { idle_s: 131e-9, latency_s: 97.2e-9 },
        Doubt::TrafficAboveStream { traffic: 31.2e9, stream: 24.8e9 },
        Doubt::CacheEndsEarly { level: 3, bytes: 32 << 20, end_bytes: 4 << 20 },
        Doubt::HandOverBelowLoad { hand_over_s: 0.8e-9, load_s: 1.1e-9 },
    ]
}

fn machine_doubts() -> Vec<Doubt> {
    let span_s = 60.0;
    vec![
        Doubt::Steal { stolen_s: 1.5, share: 0.02, span_s },
        Doubt::CpuPressure { share: 0.2 },
        Doubt::OtherDemand { cpus: 1.04, usable_cpus: 2 },
        Doubt::MemoryPressure { share: 0.2 },
        Doubt::Throttled { times: 3, span_s },
        Doubt::FrequencyDrop { before_hz: 3e9, after_hz: 2e9 },
        Doubt::OtherLoad { load: 1.8 },
        Doubt::AnotherAssay,
        Doubt::EmulatedCpu,
        Doubt::Paused { times: 1, seconds: 2.5, suspended_s: 0.0 },
        Doubt::Paused { times: 2, seconds: 60.0, suspended_s: 60.0 },
        Doubt::CpusTaken { cpus: vec![1] },
        Doubt::CpusTaken { cpus: vec![1, 3] },
        Doubt::ClockStepped { seconds: -3600.0 },
        Doubt::OverBudget { elapsed_s: 100.0, budget_s: 50.0 },
    ]
}

fn measurer_doubts() -> Vec<Doubt> {
    let name = || "x".to_owned();
    vec![
        Doubt::ScoreContradicted { printed: 2.5, calculated: 2.0 },
        Doubt::RoundedOutput { metric: name(), at: name(), share: 0.1 },
        Doubt::OptionContradicted { condition: name(), option: name(), figures: name() },
        Doubt::ProcessCpuOnly { is_tool: false },
        Doubt::ProcessCpuOnly { is_tool: true },
        Doubt::CopyUnknown,
        Doubt::SharedServer { tests: 2, share: 0.8 },
        Doubt::BrokeOff,
        Doubt::OtherThreadCount { asked: 4, ran: 1 },
        Doubt::SmallerArrays { held_bytes: 1e6, wanted_bytes: 2e6, multiple: 2.0 },
        Doubt::UnreadOutput { problem: "line 3 is odd".into() },
        Doubt::MeasuredOnce { by: "fio".into() },
        Doubt::OtherBinding { bound: "0; 1".into(), asked: vec![2, 3] },
        Doubt::OneKernel,
        Doubt::UnboundRanks { unbound: 2, moved: 1, ranks: 4 },
        Doubt::FunctionBypassed { function: name(), device: name(), share: 0.1 },
        Doubt::SteadyStateNotReached { rounds: 25, window: None, range: 0.2, slope: 0.1 },
        Doubt::SteadyStateNotReached {
            rounds: 25,
            window: Some(SteadyWindow { rounds: 5, range: 0.3, slope: -0.2, drift: None }),
            range: 0.2,
            slope: 0.1,
        },
        Doubt::SearchNotFinished { tries: 3, keeps_per_s: 1e3, misses_per_s: 4e3 },
        Doubt::TargetInMemory { path: "/x".into(), file_system: "tmpfs".into() },
        Doubt::CachedReads {
            place: "sda1".into(),
            share: 0.41,
            read_bytes: 1 << 30,
            moved_bytes: 6.3e8,
            is_direct: false,
        },
        Doubt::CachedWrites {
            place: "/mnt/volume".into(),
            share: 0.3,
            written_bytes: 1 << 30,
            moved_bytes: 7.5e8,
            is_direct: true,
        },
        Doubt::CardTraffic { device: "eth0".into(), factor: 1.31 },
        Doubt::CardTraffic { device: "eth0".into(), factor: 0.6 },
        Doubt::RpcRetransmits { mount: "/mnt/volume".into(), count: 2, calls: 1000 },
        Doubt::InterruptBound { cpu: "cpu3".into(), share: 0.99 },
        Doubt::IoLimitReached {
            device: "sda".into(),
            limit_per_s: 419_430_400.0,
            reached_per_s: 417e6,
            unit: PER_BYTE,
        },
        Doubt::FileWithHoles { path: "/x".into(), bytes: 1 << 20, stored_bytes: 0 },
        Doubt::IoFailed {
            target: 0,
            operation: "read".into(),
            offset: 4096,
            bytes: 4096,
            cause: "Input/output error (os error 5)".into(),
        },
        Doubt::FileOperationFailed {
            path: "/x".into(),
            operation: "open".into(),
            cause: "denied".into(),
        },
        Doubt::LittlesLaw { in_flight: 4.0, product: 3.0 },
        Doubt::RateMissed { asked_per_s: 10.0, reached_per_s: 9.0 },
        Doubt::NotStarted { count: 95, due: 1000 },
        Doubt::MessageRateMissed { asked_per_s: 1e6, answered: 150_000, seconds: 1.0 },
        Doubt::WarmUpDiscarded { discarded: 781, all: 2698 },
        Doubt::GeneratorNear { alone_per_s: 1e6, factor: 2.0 },
        Doubt::EventsLost { count: 2 },
        Doubt::WorseThanPeers {
            host: "vm3".into(),
            value: 12.1e9,
            median: 19.9e9,
            unit: Unit::BytePerSecond,
            hosts: 8,
        },
        Doubt::HostSaturated {
            host: "vm7".into(),
            resource: assay_model::doubt::HostResource::OneCpu,
            share: 0.99,
        },
        Doubt::WorseThanPairs {
            from: "north1".into(),
            to: "east1".into(),
            value: 1e9,
            median: 9e9,
            unit: Unit::BitPerSecond,
            pairs: 12,
        },
        Doubt::HostLost {
            host: "vm1".into(),
            why: "connection-ended".into(),
            reason: "the connection ended".into(),
            advice: "try it by hand".into(),
        },
        Doubt::StoreIndex { path: "/x".into(), cause: "no space".into() },
    ]
}

fn failures() -> Vec<FailureReason> {
    let name = || "x".to_owned();
    let last = TriedRate { asked_per_s: 2.0, reached_per_s: 1.0, late: 0.1, is_missed: true };
    let mut all = vec![
        FailureReason::NoSamples,
        FailureReason::NoFiniteSample { metric: name() },
        FailureReason::NoIo,
        FailureReason::ToolCannotSearch { by: name() },
        FailureReason::CurveWithoutMaximum,
        FailureReason::NoRateKeepsGoal { goal: name(), last: None },
        FailureReason::NoRateKeepsGoal { goal: name(), last: Some(last) },
        FailureReason::IoFailed {
            count: 2,
            operation: "read".into(),
            offset: 4096,
            target: name(),
            causes: vec!["Input/output error (os error 5)".into()],
        },
        FailureReason::FileOperationFailed {
            count: 2,
            operation: name(),
            path: name(),
            causes: vec![name()],
        },
        FailureReason::UnknownHost { host: name(), causes: vec![name()] },
        FailureReason::NoAddress { host: name() },
        FailureReason::NoInterface { host: name(), interfaces: vec![name()] },
        FailureReason::NoPingPong { host: name() },
        FailureReason::NoData,
        FailureReason::Stalled { peer: name(), seconds: 10.0 },
        FailureReason::PeerBusy { peer: name() },
        FailureReason::PeerStopped { peer: name() },
        FailureReason::IcmpHasNoStreams,
        FailureReason::NoEcho,
        FailureReason::ResidualTooLarge { residual: 31.7, bound: 16.0 },
        FailureReason::UnknownInstructionSet { name: name() },
        FailureReason::WrongContents { bytes: 8 },
        FailureReason::RankDied { how: name(), by_hand: name() },
        FailureReason::LaunchFailed { code: None, last_words: String::new(), by_hand: name() },
        FailureReason::LaunchFailed { code: Some(1), last_words: name(), by_hand: name() },
        FailureReason::LauncherNotRun { launcher: name(), causes: vec![name()] },
        FailureReason::NoOutcome { elsewhere: true },
        FailureReason::NoOutcome { elsewhere: false },
        FailureReason::OtherVersion { found: "0.1".into(), own: "0.2".into() },
        FailureReason::OtherRankCount { found: 2, asked: 4, by_hand: name() },
        FailureReason::LaunchBrokeOff { by_hand: name() },
    ];
    let ways = [ConnectFailure::Refused, ConnectFailure::TimedOut, ConnectFailure::Other];
    all.extend(ways.map(|how| FailureReason::NotConnected {
        address: name(),
        how,
        causes: vec![],
    }));
    let lacks = [
        MissingHostFeature::Address,
        MissingHostFeature::Port(5201),
        MissingHostFeature::Echo,
        MissingHostFeature::Connection,
    ];
    all.extend(lacks.map(|lack| FailureReason::Skipped { host: name(), lack }));
    let areas = [
        ErrorArea::Stream,
        ErrorArea::Threads,
        ErrorArea::Latency,
        ErrorArea::PeakFlops,
        ErrorArea::Linpack,
        ErrorArea::Blas,
        ErrorArea::Storage,
        ErrorArea::Generator,
        ErrorArea::Network,
        ErrorArea::Icmp,
        ErrorArea::Launcher,
        ErrorArea::Rank,
        ErrorArea::Tool,
        ErrorArea::Process,
        ErrorArea::TemporaryFolder,
        ErrorArea::OwnProgram,
    ];
    let error =
        |area| FailureReason::Error { area, causes: vec![name()], advice: String::new() };
    all.extend(areas.map(error));
    all
}

fn check(text: &str) {
    assert!(!text.trim().is_empty());
    assert!(!text.contains(['{', '}', '\n']) && !text.contains("  "), "{text:?}");
    assert!(!text.ends_with('.'), "{text:?}");
}

fn tag(stored: &serde_json::Value) -> String {
    stored["id"].as_str().unwrap().to_owned()
}

#[test]
fn every_doubt_has_a_text() {
    let mut explanations = BTreeMap::new();
    for doubt in [sample_doubts(), machine_doubts(), measurer_doubts()].concat() {
        assert_eq!(doubt.id(), tag(&serde_json::to_value(&doubt).unwrap()));
        let words = words::doubt(&doubt);
        check(&words.text);
        check(&words.advice);
        // A missing message is replaced by its identifier.
        assert!(!format!("{words:?}").contains("doubt-"), "{words:?}");
        explanations.insert(doubt.id().to_owned(), words);
    }
    // A new doubt of the model must be added above.
    assert_eq!(explanations.len(), 71);
    // An identifier has one meaning.
    for reason in [
        DistrustReason::OneSample,
        DistrustReason::NoInterval,
        DistrustReason::WideInterval { width: 1.0 },
    ] {
        assert!(!explanations.contains_key(reason.id()), "{reason:?}");
    }
}

#[test]
fn every_failure_has_a_text() {
    let mut ids = BTreeMap::new();
    for failure in failures() {
        assert_eq!(failure.id(), tag(&serde_json::to_value(&failure).unwrap()));
        let words = words::failure(&failure);
        check(&words.text);
        check(&words.advice);
        ids.insert(failure.id(), words);
    }
    assert_eq!(ids.len(), 31);
}

#[test]
fn every_limit_and_choice_has_a_text() {
    let rpeak = Rpeak { cores: 2, flop_per_cycle: 32, clock_hz: 3.7e9 };
    for (basis, expected) in [
        (
            LimitBasis::MemoryChannels {
                channels: 1,
                transfers_per_s: 3_200_000_000,
                width_bits: 64,
            },
            "1 memory channel × 3200 MT/s × 64 bit (SMBIOS)",
        ),
        (
            LimitBasis::Rpeak(rpeak),
            "2 cores × 32 FLOP/cycle × 3.70 GHz (clock measured at this load)",
        ),
        (
            LimitBasis::MeasuredPeak { instruction_set: "avx2".into(), cores: 2 },
            "multiply-add peak in double precision, avx2 on 2 cores, measured in this run",
        ),
        (LimitBasis::Link { device: Some("eth0".into()) }, "link speed that eth0 reports"),
        (LimitBasis::Provisioned, "what the volume is provisioned for"),
        (LimitBasis::DataSheet { source: "PM9A3, 2021".into() }, "data sheet: PM9A3, 2021"),
    ] {
        assert_eq!(words::without_no_break_spaces(&words::basis(&basis)), expected);
    }
    let refused = || "denied".to_owned();
    for reason in [
        EngineReason::AskedFor,
        EngineReason::Best,
        EngineReason::BestOfRefused,
        EngineReason::Refused { io_uring: refused(), libaio: None },
        EngineReason::Refused { io_uring: refused(), libaio: Some(refused()) },
        EngineReason::RefusedAndBuffered { io_uring: refused() },
        EngineReason::UntriedContest,
        EngineReason::Contest { rates_per_s: [2e5, 1e5] },
    ] {
        check(&words::engine_reason(&reason));
    }
    for id in ["found", "too-few-points", "flat", "within-uncertainty", "no-idle", "erratic"] {
        assert_ne!(words::knee(id), id);
    }
}

/// The identifier is that of the inner doubt, by which hosts are grouped.
#[test]
fn host_doubts_name_their_host() {
    let doubt = Doubt::OnHost { host: "vm1".into(), doubt: Box::new(Doubt::AnotherAssay) };
    assert_eq!(doubt.id(), Doubt::AnotherAssay.id());
    assert!(assay_report::words::doubt(&doubt).text.starts_with("vm1: another assay"));
}

/// Half of a last digrecognised as a small share, but never zero.
#[test]
fn rounding_error_is_never_zero() {
    let explanation = |share| {
        let doubt =
            Doubt::RoundedOutput { metric: "rate".to_owned(), at: String::new(), share };
        words::doubt(&doubt).text.replace('\u{a0}', " ")
    };
    assert!(explanation(0.005).ends_with("±0.50 %"), "{}", explanation(0.005));
    assert!(explanation(0.1).ends_with("±10 %"), "{}", explanation(0.1));
}

/// A loss of 0 has no relative width: the upper end of its interval decides.
#[test]
fn no_loss_is_sound_if_its_interval_ends_near_zero() {
    let benchmark = Benchmark::Rdma(RdmaTest::SendBandwidth);
    let loss = |high| MetricEstimate {
        ci: Some([0.0, high]),
        ..crate::maker::estimate(benchmark, "loss", 0.0, 0.0)
    };
    assert_eq!(DistrustReason::from_estimate(&loss(75e-6)), None);
    let wide = DistrustReason::WideInterval { width: f64::INFINITY };
    assert_eq!(DistrustReason::from_estimate(&loss(0.26)), Some(wide));
}
