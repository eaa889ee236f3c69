//! Summaries of runs that are built from events.

use assay_model::attribute::Attribute as Name;
use assay_model::distribution::LatencyDistribution;
use assay_model::doubt::HostResource;
use assay_model::event::{
    EventCount, Fact, FactSubject, HostClock, RunEvent, RunStarted, RunStatus, Sample,
    SeriesOpened, StretchRecord, ToolFigures,
};
use assay_model::facts::{HostFacts, HostState, MemoryModule};
use assay_model::plan::{Case, Plan, StoppingRule};
use assay_model::workload::measurement_mode::{LatencyGoal, MeasurementMode, SteadyRule};
use assay_model::workload::storage::{
    AccessPattern, ResponseCurvePoint, StorageStream, StorageTest, StorageTiming,
    StorageWorkload,
};
use assay_model::workload::{
    Domain, LatencyWorkload, LinpackWorkload, NetworkTest, NetworkThroughput, NetworkWorkload,
    PeakFlopsWorkload, StreamWorkload, Workload,
};
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const STOPPING: StoppingRule =
    StoppingRule { target: 0.01, repetitions: 10, preparations: 3, budget_s: 10.0 };

fn domain(placement: &str, cpus: &[u32]) -> Domain {
    Domain { placement: placement.into(), cpus: cpus.to_vec() }
}

fn stream(domains: &[Domain], cache_multiple: f64) -> Workload {
    let domains = domains.to_vec();
    Workload::Stream(StreamWorkload { domains, bytes_per_array: 1 << 30, cache_multiple })
}

fn peak(cpus: &[u32], set: &str) -> Workload {
    let domain = domain("node", cpus);
    Workload::PeakFlops(PeakFlopsWorkload { domain, instruction_set: set.into() })
}

fn linpack(cpus: &[u32], blas: Option<&str>) -> Workload {
    let blas = blas.map(str::to_owned);
    Workload::Linpack(LinpackWorkload { n: 4000, cpus: cpus.to_vec(), blas, seed: 1 })
}

fn latency() -> Workload {
    Workload::Latency(LatencyWorkload { cpu: 3, bytes: 4096, line_bytes: 64 })
}

fn transfer() -> Workload {
    let test = NetworkTest::Throughput(NetworkThroughput::sending(1));
    Workload::NetworkTcp(NetworkWorkload { to: None, port: None, test })
}

/// Case with its events and series, numbered from 0.
struct CaseScript {
    case: Case,
    events: Vec<RunEvent>,
    series: u32,
}

fn case(id: &str, by: &str, workload: Workload) -> CaseScript {
    let case = Case { id: id.into(), by: by.into(), workload, stopping: STOPPING, pair: None };
    CaseScript { events: vec![RunEvent::CaseStarted { case: id.into() }], case, series: 0 }
}

impl CaseScript {
    fn push(mut self, event: impl Fn(String) -> RunEvent) -> Self {
        self.events.push(event(self.case.id.clone()));
        self
    }

    /// Opens a series, to which the following events belong.
    fn open(mut self, metric: &str, extra: &[(Name, AttributeValue)]) -> Self {
        let mut dimensions = self.case.workload.dimensions(&self.case.by);
        dimensions.insert(Name::Host, "host".into());
        dimensions.extend(extra.iter().cloned());
        self.events.push(RunEvent::SeriesOpened(SeriesOpened::new(
            self.series,
            self.case.id.clone(),
            metric,
            dimensions,
        )));
        self.series += 1;
        self
    }

    fn last_series(&self) -> u32 {
        self.series - 1
    }

    fn sample(mut self, value: f64, weight: f64, preparation: u32) -> Self {
        let series = self.last_series();
        self.events.push(RunEvent::Sample(Sample {
            series,
            value,
            weight,
            preparation,
            at_ns: 0,
        }));
        self
    }

    /// Adds the same values in three preparations.
    fn samples(self, metric: &str, placement: Option<&str>, values: &[f64]) -> Self {
        let domain = if let Some(work) = self.case.workload.as_stream() {
            placement
                .map_or_else(Vec::new, |it| work.domain_dimensions(it).into_iter().collect())
        } else {
            vec![]
        };
        let mut script = self.open(metric, &domain);
        for preparation in 0..3 {
            for value in values {
                script = script.sample(*value, 1.0, preparation);
            }
        }
        script
    }

    /// Adds stretches of one second each.
    fn stretches<T>(mut self, values: Vec<T>, event: fn(StretchRecord<T>) -> RunEvent) -> Self {
        let series = self.last_series();
        for (second, seen) in (0..).zip(values) {
            let from_ns = second * 1_000_000_000;
            let to_ns = from_ns + 1_000_000_000;
            let warmup = false;
            let preparation = 0;
            self.events.push(event(StretchRecord {
                series,
                preparation,
                from_ns,
                to_ns,
                warmup,
                seen,
            }));
        }
        self
    }

    fn distributions(self, parts: &[&[u64]]) -> Self {
        let parts =
            parts.iter().map(|values| LatencyDistribution::from_values(values)).collect();
        self.stretches(parts, RunEvent::Distribution)
    }

    fn counts(self, parts: &[(u64, u64)]) -> Self {
        let count = |(part, whole): &(u64, u64)| EventCount { part: *part, whole: *whole };
        self.stretches(parts.iter().map(count).collect(), RunEvent::Count)
    }

    fn case_fact(self, name: Name, value: impl Into<AttributeValue>) -> Self {
        let value = value.into();
        self.push(|case| {
            let (about, value) = (FactSubject::Case(case), value.clone());
            RunEvent::Fact(Fact { about, name, value })
        })
    }

    fn series_fact(self, name: Name, value: impl Into<AttributeValue>) -> Self {
        let value = value.into();
        let about = FactSubject::Series(self.last_series());
        self.push(|_| RunEvent::Fact(Fact { about: about.clone(), name, value: value.clone() }))
    }

    fn finished(self, stopped: StopReason) -> Self {
        self.push(|case| RunEvent::CaseFinished { case, stopped })
    }

    fn failed(self) -> Self {
        self.failed_with(&FailureReason::NoIo)
    }

    fn failed_with(self, failure: &FailureReason) -> Self {
        self.push(|case| RunEvent::CaseFailed {
            case,
            failure: failure.clone(),
            because: None,
            host: None,
        })
    }
}

/// Makes the series numbers of a case unique within a run.
fn renumber(event: &mut RunEvent, offset: u32) {
    match event {
        RunEvent::SeriesOpened(it) => it.series += offset,
        RunEvent::Sample(it) => it.series += offset,
        RunEvent::Distribution(it) => it.series += offset,
        RunEvent::Count(it) => it.series += offset,
        RunEvent::Figures { series, .. }
        | RunEvent::Fact(Fact { about: FactSubject::Series(series), .. }) => *series += offset,
        _ => {}
    }
}

fn host_joined(name: &str, modules: Option<Vec<MemoryModule>>) -> RunEvent {
    let mut facts = HostFacts { name: name.into(), ..HostFacts::default() };
    facts.versions.insert("assay".into(), "0.1.0".into());
    facts.memory.modules = modules;
    let (state, clock) = (HostState::default(), HostClock::default());
    RunEvent::HostJoined(Box::new(HostJoined {
        host: name.into(),
        facts,
        state,
        clock,
        labels: Vec::new(),
    }))
}

fn run(scripts: Vec<CaseScript>, modules: Option<Vec<MemoryModule>>) -> Run {
    run_on(vec![host_joined("host", modules)], scripts)
}

fn run_on(hosts: Vec<RunEvent>, scripts: Vec<CaseScript>) -> Run {
    let started = RunStarted::new(
        "run",
        "2026-01-01T00:00:00Z",
        Plan::new("test", 60.0, scripts.iter().map(|script| script.case.clone()).collect()),
    );
    let mut events = vec![RunEvent::RunStarted(Box::new(started))];
    events.extend(hosts);
    let mut series_count = 0;
    for mut script in scripts {
        script.events.iter_mut().for_each(|event| renumber(event, series_count));
        series_count += script.series;
        events.extend(script.events);
    }
    events.push(RunEvent::RunFinished {
        finished: "2026-01-01T00:01:00Z".into(),
        status: RunStatus::Complete,
        state: HostState::default(),
    });
    let run = Run::fold(events).unwrap();
    assert!(run.inconsistent_events.is_empty(), "{:?}", run.inconsistent_events);
    run
}

/// Returns 51 values around `middle`, 0.2 % apart at most, so that their interval is narrow.
fn around(centre: f64) -> Vec<f64> {
    (0..51).map(|i| centre * (1.0 + f64::from((i * 20) % 51 - 25) * 4e-5)).collect()
}

fn format_value(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Flag(flag) => flag.to_string(),
        AttributeValue::Integer(integer) => integer.to_string(),
        AttributeValue::Number(number) => format!("{number:.4e}"),
        AttributeValue::Text(text) => text.clone(),
        AttributeValue::Reason(_) | AttributeValue::Pairs(_) | AttributeValue::Ranks(_) => {
            format!("{value:?}")
        }
    }
}

fn format_estimate(estimate: &MetricEstimate) -> String {
    let parameters: Vec<String> = estimate
        .parameters
        .iter()
        .map(|(name, value)| format!("{}={}", name.name(), format_value(value)))
        .collect();
    let limit = estimate.limit.as_ref().map(|limit| {
        let percent = estimate.percent_of_limit.unwrap_or_default();
        format!("\n  {percent:.1} % of {:.4e}: {:?}", limit.value, limit.basis)
    });
    let warnings: String =
        estimate.warnings.iter().map(|doubt| format!("\n  ! {doubt:?}")).collect();
    format!(
        "{} {} {:.4e} {} n={} by {} {}\n  {}{}{}\n",
        estimate.benchmark,
        estimate.metric,
        estimate.median,
        estimate.unit.symbol(),
        estimate.n,
        estimate.tool.name,
        estimate.tool.version.as_deref().unwrap_or("?"),
        parameters.join(" "),
        limit.unwrap_or_default(),
        warnings
    )
}

fn check(run: &Run, expected: &Expect) {
    let summary = summarize(run);
    let results: String = summary.results.iter().map(format_estimate).collect();
    let failed = |f: &CaseFailure| format!("failed {}: {:?}\n", f.case, f.failure);
    let failures: String = summary.failures.iter().map(failed).collect();
    let doubt = |doubt: &Doubt| format!("! {doubt:?}\n");
    let warnings: String = summary.warnings.iter().map(doubt).collect();
    expected.assert_eq(&format!("{results}{failures}{warnings}"));
}

#[test]
fn stream_reports_domains() {
    let pair = [domain("l3:0", &[0, 1]), domain("l3:1", &[2])];
    let alone = case("memory.stream/node", "assay", stream(&[domain("node", &[0, 1])], 4.0))
        .samples("triad", None, &around(3e10))
        .series_fact(Name::Kernel, "avx512-nt")
        .samples("copy", None, &around(2e10))
        .case_fact(Name::Kernel, "avx2")
        .finished(StopReason::Precise);
    let together = case("memory.stream/l3:together", "assay", stream(&pair, 1.5))
        .samples("triad", Some("l3:1"), &around(1e10))
        .samples("triad", Some("l3:0"), &around(2e10))
        .finished(StopReason::Precise);
    check(
        &run(vec![alone, together], None),
        &expect![[r#"
            memory.stream copy 2.0000e10 B/s n=153 by assay 0.1.0
              placement=node bytes_per_array=1073741824 threads=2 kernel=avx2
            memory.stream triad 3.0000e10 B/s n=153 by assay 0.1.0
              placement=node bytes_per_array=1073741824 threads=2 kernel=avx512-nt
            memory.stream triad 1.0000e10 B/s n=153 by assay 0.1.0
              placement=l3:1 concurrent=2 bytes_per_array=1073741824 threads=1
              ! CacheAssisted { bytes_per_array: 1073741824, multiple: 1.5, needed: 4.0 }
            memory.stream triad 2.0000e10 B/s n=153 by assay 0.1.0
              placement=l3:0 concurrent=2 bytes_per_array=1073741824 threads=2
              ! CacheAssisted { bytes_per_array: 1073741824, multiple: 1.5, needed: 4.0 }
        "#]],
    );
}

#[test]
fn memory_limit_comes_from_modules() {
    let module = MemoryModule {
        locator: "DIMM 0".into(),
        bank: "A".into(),
        bytes: 1 << 34,
        width_bits: 64,
        transfers_per_s: 3_200_000_000,
        kind: "DDR4".into(),
    };
    let stream_case = |value| {
        case("memory.stream/node", "assay", stream(&[domain("node", &[0])], 4.0))
            .samples("triad", None, &around(value))
            .finished(StopReason::Precise)
    };
    check(
        &run(vec![stream_case(2e10)], Some(vec![module.clone()])),
        &expect![[r#"
            memory.stream triad 2.0000e10 B/s n=153 by assay 0.1.0
              placement=node bytes_per_array=1073741824 threads=1
              78.1 % of 2.5600e10: MemoryChannels { channels: 1, transfers_per_s: 3200000000, width_bits: 64 }
        "#]],
    );
    check(
        &run(vec![stream_case(3e10)], Some(vec![module])),
        &expect![[r#"
            memory.stream triad 3.0000e10 B/s n=153 by assay 0.1.0
              placement=node bytes_per_array=1073741824 threads=1
              117.2 % of 2.5600e10: MemoryChannels { channels: 1, transfers_per_s: 3200000000, width_bits: 64 }
              ! AboveLimit { median: 30000000000.0, limit: PhysicalLimit { value: 25600000000.0, basis: MemoryChannels { channels: 1, transfers_per_s: 3200000000, width_bits: 64 } }, unit: BytePerSecond }
        "#]],
    );
}

#[test]
fn compute_limit_comes_from_clock_and_peak() {
    let peak_case = |set: &str, fp64: f64| {
        case(&format!("compute.peak_flops/node/{set}"), "assay", peak(&[0, 1], set))
            .samples("fp64", None, &around(fp64))
            .samples("fp32", None, &around(2.0 * fp64))
            .samples("core_clock", None, &around(3.7e9))
            .finished(StopReason::Precise)
    };
    let linpack_case = |id: &str, by: &str, cpus: &[u32]| {
        case(id, by, linpack(cpus, None))
            .samples("rmax", None, &[1.08e11])
            .case_fact(Name::Residual, 0.01)
            .finished(StopReason::Budget)
    };
    check(
        &run(
            vec![
                linpack_case("compute.linpack/n=4000", "assay", &[0, 1]),
                peak_case("avx2", 6e10),
                peak_case("avx512", 1.18e11),
                linpack_case("compute.linpack/n=4000/hpcc", "hpcc", &[0]),
            ],
            None,
        ),
        &expect![[r#"
            compute.linpack rmax 1.0800e11 FLOP/s n=3 by assay 0.1.0
              n=4000 threads=2 blas=assay residual=1.0000e-2 rpeak=1.1840e11 rpeak_cores=2 flop_per_cycle=16 rpeak_clock=3.7000e9 percent_of_rpeak=9.1216e1
              91.5 % of 1.1800e11: MeasuredPeak { instruction_set: "avx512", cores: 2 }
              ! NoInterval { n: 3, n_effective: 3.0, needed: 6, by_tool: false }
            compute.peak_flops fp64 6.0000e10 FLOP/s n=153 by assay 0.1.0
              placement=node instruction_set=avx2 threads=2 rpeak=5.9200e10 rpeak_cores=2 flop_per_cycle=8 rpeak_clock=3.7000e9
              101.4 % of 5.9200e10: Rpeak(Rpeak { cores: 2, flop_per_cycle: 8, clock_hz: 3700000000.0 })
            compute.peak_flops fp32 1.2000e11 FLOP/s n=153 by assay 0.1.0
              placement=node instruction_set=avx2 threads=2 rpeak=1.1840e11 rpeak_cores=2 flop_per_cycle=16 rpeak_clock=3.7000e9
              101.4 % of 1.1840e11: Rpeak(Rpeak { cores: 2, flop_per_cycle: 16, clock_hz: 3700000000.0 })
            compute.peak_flops core_clock 3.7000e9 Hz n=153 by assay 0.1.0
              placement=node instruction_set=avx2 threads=2
            compute.peak_flops fp64 1.1800e11 FLOP/s n=153 by assay 0.1.0
              placement=node instruction_set=avx512 threads=2 rpeak=1.1840e11 rpeak_cores=2 flop_per_cycle=16 rpeak_clock=3.7000e9
              99.7 % of 1.1840e11: Rpeak(Rpeak { cores: 2, flop_per_cycle: 16, clock_hz: 3700000000.0 })
            compute.peak_flops fp32 2.3600e11 FLOP/s n=153 by assay 0.1.0
              placement=node instruction_set=avx512 threads=2 rpeak=2.3680e11 rpeak_cores=2 flop_per_cycle=32 rpeak_clock=3.7000e9
              99.7 % of 2.3680e11: Rpeak(Rpeak { cores: 2, flop_per_cycle: 32, clock_hz: 3700000000.0 })
            compute.peak_flops core_clock 3.7000e9 Hz n=153 by assay 0.1.0
              placement=node instruction_set=avx512 threads=2
            compute.linpack rmax 1.0800e11 FLOP/s n=3 by hpcc ?
              n=4000 threads=1 residual=1.0000e-2
              ! NoInterval { n: 3, n_effective: 3.0, needed: 6, by_tool: false }
        "#]],
    );
}

#[test]
fn contended_peak_has_no_rpeak() {
    let disturbed = case("compute.peak_flops/node/avx512", "assay", peak(&[0, 1], "avx512"))
        .samples("fp64", None, &around(2.0 * 24.0 * 1.32e9))
        .samples("core_clock", None, &around(1.32e9))
        .finished(StopReason::Precise);
    check(
        &run(vec![disturbed], None),
        &expect![[r#"
        compute.peak_flops fp64 6.3360e10 FLOP/s n=153 by assay 0.1.0
          placement=node instruction_set=avx512 threads=2
          ! NoRpeak { flop_per_cycle: 24.023999999999997 }
        compute.peak_flops core_clock 1.3200e9 Hz n=153 by assay 0.1.0
          placement=node instruction_set=avx512 threads=2
    "#]],
    );
}

/// Two processes share each core: repetitions reach half of the rate, bursts all of it.
#[test]
fn halved_peak_keeps_its_rpeak() {
    let halved = case("compute.peak_flops/node/avx512", "assay", peak(&[0, 1], "avx512"))
        .samples("fp64", None, &around(2.0 * 16.0 * 1.32e9))
        .series_fact(Name::BurstFlopPerCycle, 31.9)
        .samples("core_clock", None, &around(1.32e9))
        .finished(StopReason::Precise);
    check(
        &run(vec![halved], None),
        &expect![[r#"
        compute.peak_flops fp64 4.2240e10 FLOP/s n=153 by assay 0.1.0
          placement=node instruction_set=avx512 threads=2 rpeak=8.4480e10 rpeak_cores=2 flop_per_cycle=32 burst_flop_per_cycle=3.1900e1 rpeak_clock=1.3200e9
          50.0 % of 8.4480e10: Rpeak(Rpeak { cores: 2, flop_per_cycle: 32, clock_hz: 1320000000.0 })
        compute.peak_flops core_clock 1.3200e9 Hz n=153 by assay 0.1.0
          placement=node instruction_set=avx512 threads=2
    "#]],
    );
}

#[test]
fn reports_tool_version_and_statistic() {
    let script =
        case("memory.stream/node/stream", "stream", stream(&[domain("node", &[0])], 4.0))
            .samples("triad", None, &[3e10])
            .case_fact(Name::ToolVersion, "5.10")
            .case_fact(Name::Statistic, "best of 10")
            .finished(StopReason::Tool);
    check(
        &run(vec![script], None),
        &expect![[r#"
            memory.stream triad 3.0000e10 B/s n=3 by stream 5.10
              placement=node bytes_per_array=1073741824 threads=1 statistic=best of 10
              ! NoInterval { n: 3, n_effective: 3.0, needed: 6, by_tool: true }
        "#]],
    );
}

#[test]
fn missing_measurement_is_a_failure() {
    check(
        &run(
            vec![
                case("a", "assay", latency()).samples("latency", None, &[1e-9]).failed(),
                case("b", "assay", latency()).finished(StopReason::Budget),
                case("c", "assay", latency())
                    .samples("latency", None, &[f64::NAN])
                    .finished(StopReason::Budget),
                case("d", "assay", latency()).samples("latency", None, &[1e-9]),
                case("e", "assay", latency())
                    .samples("latency", None, &[1e-9; 4])
                    .samples("jitter", None, &[1e-9])
                    .finished(StopReason::Precise),
            ],
            None,
        ),
        &expect![[r#"
            memory.latency latency 1.0000e-9 s n=12 by assay 0.1.0
              bytes=4096 cpu=3
            failed a: NoIo
            failed b: NoSamples
            failed c: NoFiniteSample { metric: "latency" }
            ! UnknownMetric { case: "e", metric: "jitter" }
        "#]],
    );
}

/// When the connection breaks or the user interrupts a run, earlier samples remain valid. After a
/// wrong result they do not, nor do they in cases that count only as a whole.
#[test]
fn samples_before_broken_connection_count() {
    let peer = || "far".to_owned();
    let case_with_samples =
        |workload| case("a", "assay", workload).samples("goodput", None, &[1e9, 2e9]);
    let count_results = |script, status| {
        let mut run = run(vec![script], None);
        run.status = status;
        let summary = summarize(&run);
        let is_marked = |it: &MetricEstimate| it.warnings.contains(&Doubt::BrokeOff);
        assert!(summary.results.iter().all(is_marked), "{:?}", summary.results);
        (summary.results.len(), summary.failures.len())
    };
    let peer_stopped = FailureReason::PeerStopped { peer: peer() };
    for (failure, expected) in [
        (Some(peer_stopped.clone()), (1, 1)),
        (Some(FailureReason::NoData), (0, 1)),
        // Still running, or of unknown state.
        (None, (0, 0)),
    ] {
        let script = case_with_samples(transfer());
        let script = failure.iter().fold(script, CaseScript::failed_with);
        assert_eq!(count_results(script, RunStatus::Failed), expected, "{failure:?}");
    }
    assert_eq!(count_results(case_with_samples(transfer()), RunStatus::Interrupted), (1, 0));
    assert_eq!(
        count_results(
            case_with_samples(latency()).failed_with(&peer_stopped),
            RunStatus::Failed
        ),
        (0, 1)
    );
    assert_eq!(count_results(case("a", "assay", transfer()), RunStatus::Interrupted), (0, 0));
}

/// CPU time that is counted differently at the far end does not affect throughput.
#[test]
fn cpu_time_doubt_applies_only_to_cpu_metrics() {
    for (is_tool, expected) in [(false, &["remote"][..]), (true, &["local", "remote"])] {
        let mut script = case("a", "assay", transfer()).samples("goodput", None, &[1e9]);
        for end in ["local", "remote"] {
            script = script.open("cpu_load", &[(Name::End, end.into())]).sample(0.5, 1.0, 0);
        }
        let doubt = Doubt::ProcessCpuOnly { is_tool };
        let script =
            script.push(|case| RunEvent::Doubt { case: Some(case), doubt: doubt.clone() });
        let summary = summarize(&run(vec![script.finished(StopReason::Budget)], None));
        let with_doubt = summary.results.iter().filter(|it| it.warnings.contains(&doubt));
        let ends = with_doubt.map(|it| it.parameters[&Name::End].as_text().unwrap());
        assert_eq!(ends.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn warm_up_is_discarded_and_counted() {
    let mut values = around(1e-9);
    values[..8].iter_mut().for_each(|value| *value *= 2.0);
    let script = case("memory.latency/bytes=4 KiB", "assay", latency())
        .samples("latency", None, &values)
        .finished(StopReason::Precise);
    check(
        &run(vec![script], None),
        &expect![[r#"
            memory.latency latency 1.0000e-9 s n=129 by assay 0.1.0
              bytes=4096 cpu=3 discarded=24
              ! WarmUpDiscarded { discarded: 24, all: 153 }
        "#]],
    );
}

fn sample() -> impl Strategy<Value = (usize, f64, u32, bool)> {
    let value = prop_oneof![any::<f64>(), 1e-9_f64..1e12];
    (0_usize..4, value, prop_oneof![0_u32..4, any::<u32>()], any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any stored run has a summary, and every figure in it is finite.
    #[test]
    fn any_run_has_a_summary(samples in prop::collection::vec(sample(), 0..60)) {
        let metrics = ["fp64", "core_clock", "triad", "unknown"];
        let mut scripts = vec![
            case("peak", "assay", peak(&[0], "sse2")),
            case("stream", "assay", stream(&[domain("l3:0", &[0])], 0.0)),
        ];
        for (metric, value, preparation, is_elsewhere) in samples {
            let placement =
                [(Name::Placement, if is_elsewhere { "elsewhere" } else { "here" }.into())];
            scripts = scripts
                .into_iter()
                .map(|script| script.open(metrics[metric], &placement))
                .map(|script| script.sample(value, value, preparation))
                .collect();
        }
        let scripts = scripts.into_iter().map(|script| script.finished(StopReason::Budget)).collect();
        for estimate in summarize(&run(scripts, None)).results {
            let figures = [estimate.median, estimate.mean, estimate.min, estimate.max, estimate.n_effective];
            prop_assert!(figures.into_iter().all(f64::is_finite), "{:?}", estimate);
            prop_assert!(estimate.percent_of_limit.is_none_or(f64::is_finite));
            prop_assert!(estimate.warnings.iter().all(|w| w.id() != "out-of-order"), "{:?}", estimate);
        }
    }
}

/// Returns the case of one point of a response curve, on a volume provisioned for 1 GB/s.
fn curve_case(percent: Option<f64>, rate: f64, latency_s: f64) -> CaseScript {
    let point = percent
        .map_or(ResponseCurvePoint::Maximum, |percent| ResponseCurvePoint::Share { percent });
    let id = format!("storage/RndRead/{percent:?}");
    let metric = if percent.is_some() { "latency_from_intended" } else { "latency" };
    let ns = |factor: f64| (latency_s * factor * 1e9) as u64;
    let latencies_ns = [&[ns(0.5), ns(9.0)][..], &[ns(1.0); 380], &[ns(3.0); 18]].concat();
    let stretch =
        |index| latencies_ns.iter().copied().skip(index).step_by(8).collect::<Vec<u64>>();
    let stretches: Vec<Vec<u64>> = (0..8).map(stretch).collect();
    let stretches: Vec<&[u64]> = stretches.iter().map(Vec::as_slice).collect();
    case(&id, "assay", storage(Some(point), MeasurementMode::Once, 1.0))
        .samples("rate", None, &around(rate))
        .samples("bandwidth", None, &around(rate * 8192.0))
        .samples(metric, None, &around(latency_s))
        .distributions(&stretches)
        .finished(StopReason::Precise)
}

fn storage(
    point: Option<ResponseCurvePoint>,
    mode: MeasurementMode,
    read_share: f64,
) -> Workload {
    let stream = StorageStream {
        name: "read".into(),
        targets: vec![],
        in_flight_per_target: 25,
        ..StorageStream::new(AccessPattern::Random, 8192, read_share)
    };
    let test = StorageTest {
        name: "RndRead".into(),
        point,
        provisioned_bytes_per_s: Some(1e9),
        precondition_passes: 0,
        course: mode,
        workload: StorageWorkload {
            timing: StorageTiming { interval_s: 0.1, ..StorageTiming::new(Some(1.0)) },
            ..StorageWorkload::new(vec![], vec![stream], None)
        },
    };
    Workload::Storage(Box::new(test))
}

#[test]
fn unneeded_case_is_no_failure() {
    let needed = curve_case(None, 100e3, 5e-3);
    let workload = stream(&[domain("node", &[0])], 4.0);
    let scripts = vec![needed, case("idle", "assay", workload).finished(StopReason::NotNeeded)];
    let summary = summarize(&run(scripts, None));
    assert!(summary.failures.is_empty() && !summary.results.is_empty());
}

#[test]
fn reports_knee_and_latency_tail() {
    let mut scripts = vec![curve_case(None, 100e3, 5e-3)];
    for (percent, latency_s) in
        [(10.0, 1e-3), (30.0, 1e-3), (50.0, 1.1e-3), (70.0, 1.2e-3), (90.0, 9e-3)]
    {
        scripts.push(curve_case(Some(percent), percent * 1e3, latency_s));
    }
    let run = run(scripts, None);
    let summary = summarize(&run);
    for estimate in &summary.results {
        assert_eq!(estimate.parameters[&Name::Knee], "found".into());
        let rate = summary.results.iter().find(|it| it.metric == "rate" && it.median > 69e3);
        let knee = estimate.parameters[&Name::KneeRate].as_number().unwrap();
        // Twice 1 ms lies between 1.2 ms at 70 and 9 ms at 90, interpolated linearly in 1 /
        // latency.
        assert!((knee - 79_230.8).abs() < 1.0, "{knee} {rate:?}");
        if estimate.metric.starts_with("latency") {
            let p99 = estimate.percentiles.as_ref().unwrap()["p99"];
            assert!((p99 / estimate.median - 3.0).abs() < 0.01, "{p99}");
            assert!((estimate.max / estimate.median - 9.0).abs() < 0.02);
            assert_eq!(estimate.parameters[&Name::Io], 400_u64.into());
        }
        let limit = estimate.limit.as_ref().map(|limit| limit.value as u64);
        assert_eq!(limit, (estimate.metric == "bandwidth").then_some(1_000_000_000));
    }
    assert_eq!((summary.statistics, summary.schema), (STATISTICS_VERSION, SCHEMA));
}

#[test]
fn estimates_from_distributions_only() {
    let estimate_from = |parts: &[&[u64]]| {
        let script = case("a", "assay", latency()).open("latency", &[]).distributions(parts);
        summarize(&run(vec![script.finished(StopReason::Budget)], None)).results.remove(0)
    };
    let single = estimate_from(&[&[1000; 400]]);
    assert_eq!((single.n, single.n_effective, single.ci), (400, 1.0, None));
    assert!(matches!(single.warnings[..], [Doubt::NoInterval { n: 400, .. }]), "{single:?}");
    assert!(
        single.min <= single.median && single.median <= single.max && single.max < 1.01e-6,
        "{single:?}"
    );
    assert_eq!(single.percentiles, None, "nobody knows whether they came in bursts");
    // Seven stretches: their medians are the samples, and all 30 values the tail.
    let slow: &[u64] = &[1010; 24];
    let multiple = estimate_from(&[&[1000], &[9000], &[990], slow, &[995], &[1015], &[1005]]);
    assert_eq!((multiple.n, multiple.parameters[&Name::Io].clone()), (7, 30_u64.into()));
    let [low, high] = multiple.ci.unwrap();
    assert!(low <= multiple.median && multiple.median <= high, "{multiple:?}");
    assert!((multiple.median / 1005e-9 - 1.0).abs() < 2e-3 && multiple.max > 8.9e-6);
    assert!(!multiple.warnings.iter().any(|it| it.id() == "out-of-order"), "{multiple:?}");
}

#[test]
fn uses_tool_figures_without_samples() {
    let figures = ToolFigures {
        min: Some(0.5),
        mean: Some(1.25),
        max: Some(9.0),
        percentiles: [("p99".to_owned(), 4.0)].into(),
        count: None,
    };
    let with_figures = |script: CaseScript| {
        let series = script.last_series();
        script.push(|_| RunEvent::Figures { series, figures: figures.clone() })
    };
    let with_samples =
        with_figures(case("a", "fio", latency()).samples("latency", None, &[1.0, 2.0]));
    let without_samples = with_figures(case("b", "fio", latency()).open("latency", &[]));
    let scripts = [with_samples, without_samples].map(|it| it.finished(StopReason::Tool));
    let summary = summarize(&run(scripts.into(), None));
    let it = &summary.results[0];
    assert_eq!((it.min, it.mean, it.max, it.n), (0.5, 1.25, 9.0, 6));
    assert_eq!(it.percentiles, Some(figures.percentiles.clone()));
    // p99 needs 299 values.
    for (count, expected) in [(298, None), (299, Some(figures.percentiles.clone()))] {
        let counted = ToolFigures { count: Some(count), ..figures.clone() };
        let script = case("d", "fio", latency()).samples("latency", None, &[1.0]);
        let series = script.last_series();
        let script = script.push(|_| RunEvent::Figures { series, figures: counted.clone() });
        let found = summarize(&run(vec![script.finished(StopReason::Tool)], None));
        assert_eq!(found.results[0].percentiles, expected, "{count}");
    }
    // A tool without a maximum (perftest) gets one not below its own figures: no `out-of-order`
    // doubt.
    let without = ToolFigures { max: None, mean: Some(2.5), ..figures.clone() };
    let script = case("c", "ib_send_lat", latency()).samples("latency", None, &[1.0]);
    let series = script.last_series();
    let script = script.push(|_| RunEvent::Figures { series, figures: without.clone() });
    let raised = summarize(&run(vec![script.finished(StopReason::Tool)], None));
    let it = &raised.results[0];
    assert_eq!((it.median, it.mean, it.max), (1.0, 2.5, 4.0));
    assert!(!it.warnings.iter().any(|it| it.id() == "out-of-order"), "{it:?}");
    // Without a median, no figure can represent the series.
    let failure = FailureReason::NoFiniteSample { metric: "latency".into() };
    assert_eq!((summary.results.len(), &summary.failures[0].failure), (1, &failure));
}

#[test]
fn pools_shares_and_skips_empty_series() {
    let script = case("a", "assay", storage(None, MeasurementMode::Once, 1.0))
        .open("late", &[])
        .counts(&[(0, 1000), (3, 1000), (1, 2000), (0, 0)])
        .open("rate", &[])
        .open("latency", &[])
        .distributions(&[&[]])
        .open("bandwidth", &[])
        .sample(1e6, 1.0, 0)
        .sample(3e6, 3.0, 0)
        .finished(StopReason::Budget);
    let summary = summarize(&run(vec![script], None));
    let names: Vec<&str> = summary.results.iter().map(|it| it.metric.as_str()).collect();
    assert_eq!((names, summary.failures.len()), (vec!["bandwidth", "late"], 0));
    assert_eq!((summary.results[0].mean, summary.results[0].median), (2.5e6, 2e6));
    let late = &summary.results[1];
    assert_eq!((late.n, late.median, late.min, late.max), (4000, 0.001, 0.0, 0.003));
    let [low, high] = late.ci.unwrap();
    assert!(low < 0.0004 && high > 0.0025 && late.warnings.is_empty(), "{late:?}");
    // Format 1 stored one share per repetition.
    let script = case("a", "assay", storage(None, MeasurementMode::Once, 1.0));
    let script = script.samples("late", None, &around(0.1)).finished(StopReason::Precise);
    assert_eq!(summarize(&run(vec![script], None)).results[0].n, 153);
}

/// Adds one step: a round, or a try of a rate, as an open loop if a rate was requested.
fn step(script: CaseScript, number: u32, requested: Option<f64>, rate: f64) -> CaseScript {
    let mut dimensions = vec![(Name::Step, number.into())];
    dimensions.extend(requested.map(|rate| (Name::RequestedRate, rate.into())));
    // Two stretches of unequal length: the rate is all work over all time.
    let script = script.open("rate", &dimensions).sample(rate * 1.5, 1.0, 0);
    let script = script.sample(rate * 0.5, 1.0, 0);
    match requested {
        Some(_) => script.open("late", &dimensions),
        None => script,
    }
}

#[test]
fn rounds_report_steady_state() {
    let estimate_from = |rates: &[f64]| {
        let workload = storage(None, MeasurementMode::Rounds(SteadyRule::SNIA), 1.0);
        let mut script = case("a", "assay", workload).samples("rate", None, &around(100.0));
        for (number, rate) in (1..).zip(rates) {
            script = step(script, number, None, *rate);
        }
        let stream = [(Name::Stream, 0_u64.into())];
        let script = script.open("rate", &stream).sample(7.0, 1.0, 0);
        let summary = summarize(&run(vec![script.finished(StopReason::Precise)], None));
        assert_eq!((summary.results.len(), summary.steps.len()), (1, rates.len()));
        assert_eq!(summary.steps[0].parameters[&Name::Step], 1_u64.into());
        summary.results.into_iter().next().unwrap()
    };
    let steady = estimate_from(&[300.0, 100.0, 101.0, 99.0, 100.0, 100.0]);
    assert_eq!(steady.parameters[&Name::Steady], true.into());
    assert_eq!(steady.parameters[&Name::Rounds], 6_u64.into());
    let range = steady.parameters[&Name::SteadyRange].as_number().unwrap();
    assert!((range - 0.02).abs() < 1e-9 && steady.warnings.is_empty(), "{steady:?}");
    let falling = estimate_from(&[300.0, 250.0, 200.0, 150.0, 100.0]);
    assert_eq!(falling.parameters[&Name::Steady], false.into());
    assert!(matches!(
        falling.warnings[..],
        [Doubt::SteadyStateNotReached { rounds: 5, window: Some(_), .. }]
    ));
}

#[test]
fn tries_report_rate_that_meets_goal() {
    let goal = LatencyGoal { percent: 99.0, most_s: 1e-3 };
    let script = case("a", "assay", storage(None, MeasurementMode::Search(goal), 1.0)).samples(
        "rate",
        None,
        &around(500.0),
    );
    let script = step(script, 1, None, 1000.0);
    let script = step(script, 2, Some(500.0), 500.0).counts(&[(0, 500); 60]);
    // 0.4 % on average, but all in one stretch; a second try decides.
    let burst = [&[(0, 750); 59][..], &[(180, 750)]].concat();
    let script = step(script, 3, Some(750.0), 750.0).counts(&burst);
    let script = step(script, 4, Some(750.0), 750.0).counts(&[(75, 750); 12]);
    let script = script.case_fact(Name::RequestedRate, 500.0);
    let summary = summarize(&run(vec![script.finished(StopReason::Budget)], None));
    let parameters = &summary.results[0].parameters;
    assert_eq!(parameters[&Name::RequestedRate], 500.0.into());
    // The rate of the result is not that of the tries before it.
    let requested_rate = |it: &MetricEstimate| {
        it.parameters.get(&Name::RequestedRate).and_then(AttributeValue::as_number)
    };
    let rates = summary.steps.iter().filter(|it| it.metric == "rate");
    let requested_rates: Vec<_> = rates.map(requested_rate).collect();
    assert_eq!(requested_rates, [None, Some(500.0), Some(750.0), Some(750.0)]);
    assert_eq!(parameters[&Name::GoalRate], 500.0.into());
    assert_eq!(parameters[&Name::GoalMissedAt], 750.0.into());
    assert_eq!(parameters[&Name::MaximumRate], 1000.0.into());
    let late = summary.steps.iter().filter(|it| it.metric == "late");
    let outcomes: Vec<&str> =
        late.filter_map(|it| it.parameters[&Name::Shown].as_text()).collect();
    assert_eq!((outcomes, summary.results.len()), (vec!["keeps", "unclear", "misses"], 1));
}

#[test]
fn mix_reports_read_and_write_rates() {
    let operation = |name: &str| [(Name::Operation, name.into())];
    let script = case("a", "assay", storage(None, MeasurementMode::Once, 0.7))
        .samples("rate", None, &around(100.0))
        .samples("latency", None, &around(510e-9))
        .open("latency", &operation("read"))
        .distributions(&[&[500; 70], &[500; 72]])
        .open("latency", &operation("write"))
        .distributions(&[&[900; 30], &[900; 28]])
        .finished(StopReason::Budget);
    let summary = summarize(&run(vec![script], None));
    let rates = |it: &MetricEstimate| {
        [Name::ReadRate, Name::WriteRate].map(|name| it.parameters.get(&name)?.as_number())
    };
    let reported: Vec<_> = summary.results.iter().map(rates).collect();
    let expected = [Some(71.0), Some(29.0)];
    assert_eq!(reported, [expected, expected, [None, None], [None, None]]);
    // The mix consists of its reads and writes.
    let mix = &summary.results[1];
    assert_eq!(mix.parameters[&Name::Io], 200_u64.into());
    assert!((mix.max / 900e-9 - 1.0).abs() < 1e-12 && mix.min < 501e-9, "{mix:?}");
    let mean = (142.0 * 500e-9 + 58.0 * 900e-9) / 200.0;
    assert!((mix.mean / mean - 1.0).abs() < 1e-9 && mix.n == 153, "{mix:?}");
}

#[test]
fn results_of_several_hosts_name_host() {
    let host_dimension = |host: &str| [(Name::Host, host.into())];
    let script = case("a", "assay", latency())
        .open("latency", &host_dimension("two"))
        .sample(1e-9, 1.0, 0)
        .open("latency", &host_dimension("one"))
        .sample(1e-9, 1.0, 0)
        .finished(StopReason::Budget);
    let summary = summarize(&run_on(
        vec![host_joined("one", None), host_joined("two", None)],
        vec![script],
    ));
    let hosts: Vec<_> = summary
        .results
        .iter()
        .map(|it| (&*it.host, it.parameters[&Name::Host].as_text()))
        .collect();
    assert_eq!(hosts, [("one", Some("one")), ("two", Some("two"))], "in the order of hosts");
    assert_eq!(summary.hosts.len(), 2);
}

#[test]
fn totals_add_simultaneous_stretches() {
    let host_dimension = |host: &str| [(Name::Host, host.into())];
    let mut script = case("a", "assay", storage(None, MeasurementMode::Once, 1.0));
    for (host, rates) in [("one", &[100.0, 200.0, 300.0][..]), ("two", &[30.0, 20.0])] {
        script = script.open("rate", &host_dimension(host));
        for rate in rates {
            script = script.sample(*rate, 2.0, 0);
        }
        script = script.open("latency", &host_dimension(host)).sample(1e-3, 1.0, 0);
        script = script.distributions(&[&[1_000_000; 50], &[3_000_000; 50]]);
        script = script.open("cpu_per_io", &host_dimension(host)).sample(1e-6, 1.0, 0);
    }
    let hosts = || vec![host_joined("one", None), host_joined("two", None)];
    let summary = summarize(&run_on(hosts(), vec![script.finished(StopReason::Budget)]));
    let totals: Vec<&MetricEstimate> =
        summary.results.iter().filter(|it| it.host == "all").collect();
    let metrics: Vec<&str> = totals.iter().map(|it| it.metric.as_str()).collect();
    assert_eq!(metrics, ["rate", "latency"], "what costs and what fills adds up to nothing");
    // 100 + 30 and 200 + 20: the third stretch has only one host.
    assert_eq!((totals[0].n, totals[0].min, totals[0].max), (2, 130.0, 220.0));
    assert_eq!(totals[0].limit, None, "the volume of one is no limit of two");
    assert_eq!(totals[0].parameters[&Name::Hosts].as_text(), Some("one,two"));
    assert_eq!(totals[1].parameters[&Name::Io], 200_u64.into());
    // Memory of different hosts has no total.
    let script = case("a", "assay", latency())
        .open("latency", &host_dimension("two"))
        .sample(1e-9, 1.0, 0)
        .open("latency", &host_dimension("one"))
        .sample(1e-9, 1.0, 0);
    let summary = summarize(&run_on(hosts(), vec![script.finished(StopReason::Budget)]));
    assert!(summary.results.iter().all(|it| it.host != "all"));
}

#[test]
fn total_latency_is_that_of_all_hosts_together() {
    // More I/O of the near host: half of all take 1 ms. Were the samples of the far host to follow those
    // of the near one, the latter would be a warm-up.
    for (has_samples, has_distributions) in [(true, true), (false, true), (true, false)] {
        let mut script = case("a", "assay", storage(None, MeasurementMode::Once, 1.0));
        for (host, latency_ns, count) in [("near", 1_000_000, 60), ("far", 3_000_000, 40)] {
            script = script.open("latency", &[(Name::Host, host.into())]);
            for _ in 0..if has_samples { 20 } else { 0 } {
                script = script.sample(latency_ns as f64 * 1e-9, 1.0, 0);
            }
            if has_distributions {
                let values = vec![latency_ns; count];
                script = script.distributions(&[values.as_slice(); 20]);
            }
        }
        let hosts = vec![host_joined("near", None), host_joined("far", None)];
        let summary = summarize(&run_on(hosts, vec![script.finished(StopReason::Budget)]));
        let total = summary.results.iter().find(|it| it.host == "all").unwrap();
        assert!(!total.parameters.contains_key(&Name::Discarded), "{:?}", total.parameters);
        if has_distributions {
            assert!((total.median - 1e-3).abs() < 1e-6, "{}", total.median);
            assert_eq!((total.n, total.parameters[&Name::Io].clone()), (20, 2000_u64.into()));
        } else {
            assert_eq!(total.n, 40);
        }
    }
}

#[test]
fn transfers_at_other_times_have_no_total() {
    let mut script = case("a", "assay", transfer());
    for (host, rate, end_times_s) in
        [("one", 1e9, [1.1, 2.2, 3.3]), ("two", 2e9, [1.2, 3.3, 3.4])]
    {
        script = script.open("goodput", &[(Name::Host, host.into())]);
        for (number, end_s) in (1..).zip(end_times_s) {
            script = script.sample(rate * f64::from(number), 1.0, 0);
            let Some(RunEvent::Sample(sample)) = script.events.last_mut() else { panic!() };
            sample.at_ns = (end_s * 1e9) as u64;
        }
    }
    let hosts = vec![host_joined("one", None), host_joined("two", None)];
    let summary = summarize(&run_on(hosts, vec![script.finished(StopReason::Budget)]));
    let total = summary.results.iter().find(|it| it.host == "all").unwrap();
    // The second transfer of one host overlaps with none of the other.
    assert_eq!((total.n, total.min, total.max), (2, 3e9, 9e9));
}

#[test]
fn doubts_host_worse_than_peers() {
    let hosts = ["a", "b", "c", "d", "e", "f"];
    let values = [1.00e-9, 1.01e-9, 0.99e-9, 1.70e-9, 1.005e-9, 0.995e-9];
    let mut script = case("a", "assay", latency());
    for (host, value) in hosts.iter().zip(values) {
        script = script.open("latency", &[(Name::Host, (*host).into())]).sample(value, 1.0, 0);
    }
    let host_events = hosts.iter().map(|host| host_joined(host, None)).collect();
    let summary = summarize(&run_on(host_events, vec![script.finished(StopReason::Budget)]));
    let has_doubt = |it: &&MetricEstimate| {
        it.warnings.iter().any(|doubt| matches!(doubt, Doubt::WorseThanPeers { .. }))
    };
    let doubted: Vec<_> = summary.results.iter().filter(has_doubt).collect();
    assert_eq!(doubted.iter().map(|it| it.host.as_str()).collect::<Vec<_>>(), ["d"]);
    let Some(Doubt::WorseThanPeers { host, value, median, hosts, .. }) =
        doubted[0].warnings.last()
    else {
        panic!("{:?}", doubted[0].warnings);
    };
    assert_eq!((host.as_str(), *hosts), ("d", 6));
    assert!((value - 1.7e-9).abs() < 1e-15 && (median - 1.0025e-9).abs() < 1e-15);
}

#[test]
fn overlapping_host_raises_no_doubt() {
    let count_doubts = |last_host_samples: [f64; 3]| {
        let mut script = case("a", "assay", latency());
        for host in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            let samples =
                if host == "h" { last_host_samples } else { [1.000e-9, 1.001e-9, 1.002e-9] };
            script = script.open("latency", &[(Name::Host, host.into())]);
            script = samples.iter().fold(script, |script, it| script.sample(*it, 1.0, 0));
        }
        let host_events =
            ('a'..='h').map(|host| host_joined(&host.to_string(), None)).collect();
        let summary =
            summarize(&run_on(host_events, vec![script.finished(StopReason::Budget)]));
        let doubts = summary.results.into_iter().flat_map(|it| it.warnings);
        doubts.filter(|doubt| doubt.id() == "worse-than-peers").count()
    };
    assert_eq!(count_doubts([1.040e-9, 1.041e-9, 1.042e-9]), 1);
    assert_eq!(
        count_doubts([1.000e-9, 1.041e-9, 1.042e-9]),
        0,
        "its best is as good as the others'"
    );
}

#[test]
fn doubts_pair_worse_than_peers() {
    let hosts = ["a", "b", "c", "d", "e"];
    let mut values = [1.01e-9, 0.99e-9, 1.005e-9, 0.995e-9, 1.0e-9].into_iter().cycle();
    let mut scripts = Vec::new();
    for from in hosts {
        for to in hosts.into_iter().filter(|to| *to != from) {
            let value = if (from, to) == ("d", "b") { 1.7e-9 } else { values.next().unwrap() };
            let ends = [(Name::Host, from.into()), (Name::Peer, to.into())];
            // Every pair has its own case.
            let script = case(&format!("{from}:{to}"), "assay", latency());
            let script = script.open("latency", &ends).sample(value, 1.0, 0);
            scripts.push(script.finished(StopReason::Budget));
        }
    }
    let host_events = hosts.iter().map(|host| host_joined(host, None)).collect();
    let summary = summarize(&run_on(host_events, scripts));
    let doubts = summary.results.iter().flat_map(|it| &it.warnings);
    let doubted_pairs: Vec<_> = doubts
        .filter_map(|doubt| match doubt {
            Doubt::WorseThanPairs { from, to, pairs, .. } => Some((&**from, &**to, *pairs)),
            _ => None,
        })
        .collect();
    assert_eq!(doubted_pairs, [("d", "b", 20)]);
}

#[test]
fn groups_have_totals() {
    let mut script = case("a", "assay", storage(None, MeasurementMode::Once, 1.0));
    // In the order of their start.
    for (host, rate) in [("three", 7.0), ("two", 30.0), ("one", 100.0)] {
        let dimensions = [(Name::Host, host.into()), (Name::Target, format!("/{host}").into())];
        script = script.open("rate", &dimensions).sample(rate, 1.0, 0);
    }
    let labelled = |name: &str, label: &str| {
        let RunEvent::HostJoined(mut host) = host_joined(name, None) else { panic!() };
        host.labels = vec![label.to_owned(), "everywhere".to_owned()];
        RunEvent::HostJoined(host)
    };
    let hosts =
        vec![labelled("one", "near"), labelled("two", "far"), labelled("three", "near")];
    let summary = summarize(&run_on(hosts, vec![script.finished(StopReason::Budget)]));
    let totals = summary.results.iter().filter(|it| it.spans_hosts());
    let totals: Vec<_> = totals
        .map(|it| (&*it.host, it.median, it.parameters[&Name::Hosts].as_text().unwrap_or("")))
        .collect();
    assert!(!summary.results[3].parameters.contains_key(&Name::Target), "the path is another");
    // A label of all hosts would repeat `all`.
    assert_eq!(
        totals,
        [("all", 137.0, "one,two,three"), ("near", 107.0, "one,three"), ("far", 30.0, "two")]
    );
}

#[test]
fn total_of_host_chosen_points_is_on_curve() {
    let workload =
        storage(Some(ResponseCurvePoint::Bend { nth: 1 }), MeasurementMode::Once, 1.0);
    let mut script = case("a", "assay", workload);
    for (host, rate, percent) in [("one", 60.0, 60.0), ("two", 100.0, 50.0)] {
        script = script.open("rate", &[(Name::Host, host.into())]).sample(rate, 1.0, 0);
        for (name, value) in [(Name::RequestedRate, rate), (Name::PercentOfMax, percent)] {
            let about = FactSubject::CaseOn { case: "a".to_owned(), host: host.to_owned() };
            script = script.push(|_| {
                RunEvent::Fact(Fact { about: about.clone(), name, value: value.into() })
            });
        }
    }
    let hosts = vec![host_joined("one", None), host_joined("two", None)];
    let summary = summarize(&run_on(hosts, vec![script.finished(StopReason::Budget)]));
    let shares: Vec<_> = summary
        .results
        .iter()
        .map(|it| (&*it.host, it.parameters[&Name::PercentOfMax].as_number().unwrap()))
        .collect();
    // 160 of the 100 and 200 that they can reach.
    assert_eq!(shares[..2], [("one", 60.0), ("two", 50.0)]);
    assert_eq!(shares[2].0, "all");
    assert!((shares[2].1 - 100.0 * 160.0 / 300.0).abs() < 1e-9, "{shares:?}");
}

#[test]
fn failed_host_prevents_total() {
    let mut script = case("a", "assay", storage(None, MeasurementMode::Once, 1.0));
    for (host, rate) in [("one", 100.0), ("two", 30.0)] {
        script = script.open("rate", &[(Name::Host, host.into())]).sample(rate, 1.0, 0);
    }
    let (case, host) = ("a".to_owned(), Some("three".to_owned()));
    let failure = assay_model::failure::FailureReason::NoSamples;
    script.events.push(RunEvent::CaseFailed { case, failure, because: None, host });
    let labelled = |name: &str, label: &str| {
        let RunEvent::HostJoined(mut host) = host_joined(name, None) else { panic!() };
        host.labels = vec![label.to_owned()];
        RunEvent::HostJoined(host)
    };
    let hosts =
        vec![labelled("one", "near"), labelled("two", "near"), labelled("three", "far")];
    let summary = summarize(&run_on(hosts, vec![script.finished(StopReason::Budget)]));
    let hosts: Vec<&str> = summary.results.iter().map(|it| it.host.as_str()).collect();
    assert_eq!(hosts, ["one", "two", "near"], "`all` would be the sum of two of three");
}

/// A host that had no time for a case is named, and so is a case that none had time for.
#[test]
fn names_hosts_without_time() {
    let one_host = [(Name::Host, "one".into())];
    let mut some = case("a", "assay", storage(None, MeasurementMode::Once, 1.0));
    some = some.open("rate", &one_host).sample(100.0, 1.0, 0);
    some.events.push(RunEvent::CaseCut { case: "a".to_owned(), host: "two".to_owned() });
    let none = case("b", "assay", storage(None, MeasurementMode::Once, 1.0));
    let scripts = vec![some.finished(StopReason::Budget), none.finished(StopReason::Cut)];
    let hosts = vec![host_joined("one", None), host_joined("two", None)];
    let summary = summarize(&run_on(hosts, scripts));
    let omitted: Vec<(&str, String)> =
        summary.omitted.iter().map(|it| (&*it.benchmark, it.hosts.join(","))).collect();
    assert_eq!(omitted, [("a", "two".to_owned()), ("b", String::new())]);
    assert!(summary.omitted.iter().all(|it| it.reason == MissingRequirement::Time));
    let hosts: Vec<&str> = summary.results.iter().map(|it| it.host.as_str()).collect();
    assert_eq!(hosts, ["one"], "`all` would be the sum of one of two");
}

#[test]
fn reports_saturated_host() {
    let host_dimension = |host: &str| [(Name::Host, host.into())];
    let hosts = || {
        let RunEvent::HostJoined(mut two) = host_joined("two", None) else { panic!() };
        two.labels = vec!["far".to_owned()];
        vec![host_joined("one", None), RunEvent::HostJoined(two)]
    };
    let usage = |host: &str, name: Name, percent: f64| {
        let about = FactSubject::CaseOn { case: "a".to_owned(), host: host.to_owned() };
        RunEvent::Fact(Fact { about, name, value: percent.into() })
    };
    let named = |script: CaseScript, facts: Vec<RunEvent>| {
        let mut events = script.events;
        events.extend(facts);
        let script = CaseScript { events, ..script };
        let summary = summarize(&run_on(hosts(), vec![script.finished(StopReason::Budget)]));
        let named = summary.results.iter().filter_map(|it| {
            it.warnings.iter().find_map(|doubt| match doubt {
                Doubt::HostSaturated { host, resource, .. } => {
                    Some((it.host.clone(), host.clone(), *resource))
                }
                _ => None,
            })
        });
        named.collect::<Vec<_>>()
    };
    let storage = || {
        let mut script = case("a", "assay", storage(None, MeasurementMode::Once, 1.0));
        for host in ["one", "two"] {
            script = script
                .open("rate", &host_dimension(host))
                .sample(100.0, 2.0, 0)
                .sample(101.0, 2.0, 0);
        }
        script
    };
    let saturated = named(
        storage(),
        vec![usage("one", Name::HostCpu, 79.0), usage("two", Name::HostNetworkShare, 97.0)],
    );
    let two = |about: &str| (about.to_owned(), "two".to_owned(), HostResource::Network);
    // The host is part of `all` and of its group.
    assert_eq!(saturated, [two("two"), two("all"), two("far")]);
    assert_eq!(named(storage(), vec![usage("one", Name::HostBusiestCpu, 94.0)]), []);
    let saturated = named(storage(), vec![usage("one", Name::HostCpu, 81.0)]);
    assert_eq!(saturated[0].2, HostResource::Cpus);
    // Memory benchmarks keep all CPUs busy on purpose.
    let script = case("a", "assay", latency())
        .open("latency", &host_dimension("one"))
        .sample(1e-9, 1.0, 0);
    assert_eq!(named(script, vec![usage("one", Name::HostCpu, 100.0)]), []);
}
