//! Runs made of events, and the summaries they amount to.

use assay_model::event::{
    Clock, FORMAT, Learned, Parameter, RunEvent, RunStarted, Sample, Status,
};
use assay_model::facts::{HostFacts, HostState, MemoryModule};
use assay_model::plan::{Case, Plan, Stopping};
use assay_model::workload::course::Course;
use assay_model::workload::storage::{
    AccessPattern, CurvePoint, EngineChoice, Load, StorageData, StorageStream, StorageTest,
    StorageTiming, StorageWorkload, Verify,
};
use assay_model::workload::{
    Domain, LatencyWorkload, LinpackWorkload, PeakFlopsWorkload, StreamWorkload, Workload,
};
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const STOPPING: Stopping =
    Stopping { target: 0.01, repetitions: 10, preparations: 3, budget_s: 10.0 };

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

/// One case and what happened to it.
struct Script {
    case: Case,
    events: Vec<RunEvent>,
}

fn case(id: &str, by: &str, workload: Workload) -> Script {
    let case = Case { id: id.into(), by: by.into(), workload, stopping: STOPPING };
    Script { events: vec![RunEvent::CaseStarted { case: id.into() }], case }
}

impl Script {
    fn push(mut self, event: impl Fn(String) -> RunEvent) -> Self {
        self.events.push(event(self.case.id.clone()));
        self
    }

    /// Three preparations of the same values.
    fn samples(mut self, metric: &str, placement: Option<&str>, values: &[f64]) -> Self {
        for preparation in 0..3 {
            for value in values {
                self = self.push(|case| {
                    RunEvent::Sample(Sample {
                        case,
                        metric: metric.into(),
                        placement: placement.map(str::to_owned),
                        value: *value,
                        preparation,
                        at_ns: 0,
                    })
                });
            }
        }
        self
    }

    fn learned(self, metric: Option<&str>, name: &str, value: &str) -> Self {
        self.push(|case| {
            let value = Parameter::Text(value.into());
            let metric = metric.map(str::to_owned);
            RunEvent::Learned(Learned { case, metric, name: name.into(), value })
        })
    }

    fn finished(self, stopped: Stopped) -> Self {
        self.push(|case| RunEvent::CaseFinished { case, stopped })
    }

    fn failed(self) -> Self {
        self.push(|case| RunEvent::CaseFailed {
            case,
            reason: "wrong answer".into(),
            advice: "check the memory".into(),
            because: None,
        })
    }
}

fn run(scripts: Vec<Script>, modules: Option<Vec<MemoryModule>>) -> Run {
    let mut host = HostFacts { name: "host".into(), ..HostFacts::default() };
    host.versions.insert("assay".into(), "0.1.0".into());
    host.memory.modules = modules;
    let started = RunStarted {
        format: FORMAT,
        run: "run".into(),
        label: None,
        started: "2026-01-01T00:00:00Z".into(),
        plan: Plan {
            suite: "test".into(),
            budget_s: 60.0,
            cases: scripts.iter().map(|script| script.case.clone()).collect(),
        },
        host,
        state: HostState::default(),
        clock: Clock::default(),
    };
    let events = scripts.into_iter().flat_map(|script| script.events);
    let end = RunEvent::RunFinished {
        finished: "2026-01-01T00:01:00Z".into(),
        status: Status::Complete,
        state: HostState::default(),
    };
    let all =
        std::iter::once(RunEvent::RunStarted(Box::new(started))).chain(events).chain([end]);
    Run::fold(all).unwrap()
}

/// 51 values around `middle`, 0.2 % apart at most, so that their interval is narrow.
fn around(middle: f64) -> Vec<f64> {
    (0..51).map(|i| middle * (1.0 + f64::from((i * 20) % 51 - 25) * 4e-5)).collect()
}

fn shown(parameter: &Parameter) -> String {
    match parameter {
        Parameter::Flag(flag) => flag.to_string(),
        Parameter::Integer(integer) => integer.to_string(),
        Parameter::Number(number) => format!("{number:.4e}"),
        Parameter::Text(text) => text.clone(),
    }
}

fn line(estimate: &Estimate) -> String {
    let parameters: Vec<String> = estimate
        .parameters
        .iter()
        .map(|(name, value)| format!("{name}={}", shown(value)))
        .collect();
    let limit = estimate.limit.as_ref().map(|limit| {
        let percent = estimate.percent_of_limit.unwrap_or_default();
        format!("\n  {percent:.1} % of {:.4e}: {}", limit.value, limit.basis)
    });
    let warnings: String =
        estimate.warnings.iter().map(|w| format!("\n  ! {}: {}", w.id, w.text)).collect();
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
    let results: String = summary.results.iter().map(line).collect();
    let failed = |f: &CaseFailure| format!("failed {}: {}\n", f.case, f.reason);
    let failures: String = summary.failures.iter().map(failed).collect();
    let doubt = |w: &Warning| format!("! {}: {}\n", w.id, w.text);
    let warnings: String = summary.warnings.iter().map(doubt).collect();
    expected.assert_eq(&format!("{results}{failures}{warnings}"));
}

#[test]
fn stream_names_its_domains() {
    let pair = [domain("l3:0", &[0, 1]), domain("l3:1", &[2])];
    let alone = case("memory.stream/node", "assay", stream(&[domain("node", &[0, 1])], 4.0))
        .samples("triad", None, &around(3e10))
        .samples("copy", None, &around(2e10))
        .learned(None, "kernel", "avx2")
        .learned(Some("triad"), "kernel", "avx512-nt")
        .finished(Stopped::Precise);
    let together = case("memory.stream/l3:together", "assay", stream(&pair, 1.5))
        .samples("triad", Some("l3:1"), &around(1e10))
        .samples("triad", Some("l3:0"), &around(2e10))
        .finished(Stopped::Precise);
    check(
        &run(vec![alone, together], None),
        &expect![[r#"
        memory.stream copy 2.0000e10 B/s n=153 by assay 0.1.0
          bytes_per_array=1073741824 kernel=avx2 placement=node threads=2
        memory.stream triad 3.0000e10 B/s n=153 by assay 0.1.0
          bytes_per_array=1073741824 kernel=avx512-nt placement=node threads=2
        memory.stream triad 1.0000e10 B/s n=153 by assay 0.1.0
          bytes_per_array=1073741824 concurrent=2 placement=l3:1 threads=1
          ! cache-assisted: arrays of 1 GiB are only 1.5 times the last-level caches, so part of the traffic never reached memory
        memory.stream triad 2.0000e10 B/s n=153 by assay 0.1.0
          bytes_per_array=1073741824 concurrent=2 placement=l3:0 threads=2
          ! cache-assisted: arrays of 1 GiB are only 1.5 times the last-level caches, so part of the traffic never reached memory
    "#]],
    );
}

#[test]
fn memory_is_held_against_its_modules() {
    let module = MemoryModule {
        locator: "DIMM 0".into(),
        bank: "A".into(),
        bytes: 1 << 34,
        width_bits: 64,
        transfers_per_s: 3_200_000_000,
        kind: "DDR4".into(),
    };
    let measured = |value| {
        case("memory.stream/node", "assay", stream(&[domain("node", &[0])], 4.0))
            .samples("triad", None, &around(value))
            .finished(Stopped::Precise)
    };
    check(
        &run(vec![measured(2e10)], Some(vec![module.clone()])),
        &expect![[r#"
            memory.stream triad 2.0000e10 B/s n=153 by assay 0.1.0
              bytes_per_array=1073741824 placement=node threads=1
              78.1 % of 2.5600e10: 1 memory channel × 3200 MT/s × 64 bit (SMBIOS)
        "#]],
    );
    check(
        &run(vec![measured(3e10)], Some(vec![module])),
        &expect![[r#"
            memory.stream triad 3.0000e10 B/s n=153 by assay 0.1.0
              bytes_per_array=1073741824 placement=node threads=1
              117.2 % of 2.5600e10: 1 memory channel × 3200 MT/s × 64 bit (SMBIOS)
              ! above-limit: the median is 117.2 % of its limit, 25.60 GB/s (1 memory channel × 3200 MT/s × 64 bit (SMBIOS))
        "#]],
    );
}

#[test]
fn compute_is_held_against_clock_and_peak() {
    let peak_of = |set: &str, fp64: f64| {
        case(&format!("compute.peak_flops/node/{set}"), "assay", peak(&[0, 1], set))
            .samples("fp64", None, &around(fp64))
            .samples("fp32", None, &around(2.0 * fp64))
            .samples("core_clock", None, &around(3.7e9))
            .finished(Stopped::Precise)
    };
    let solve = |id: &str, by: &str, cpus: &[u32]| {
        case(id, by, linpack(cpus, None))
            .samples("rmax", None, &[1.08e11])
            .learned(None, "residual", "0.01")
            .finished(Stopped::Budget)
    };
    check(
        &run(
            vec![
                solve("compute.linpack/n=4000", "assay", &[0, 1]),
                peak_of("avx2", 6e10),
                peak_of("avx512", 1.18e11),
                solve("compute.linpack/n=4000/hpcc", "hpcc", &[0]),
            ],
            None,
        ),
        &expect![[r#"
            compute.linpack rmax 1.0800e11 FLOP/s n=3 by assay 0.1.0
              blas=assay n=4000 percent_of_rpeak=9.1216e1 residual=0.01 rpeak=1.1840e11 rpeak_factors=2 cores × 16 FLOP/cycle × 3.70 GHz (clock measured at this load) threads=2
              91.5 % of 1.1800e11: multiply-add peak in double precision, avx512 on 2 cores, measured in this run
              ! no-interval: no 95 % interval of the median from 3 samples: it takes 6 independent ones
            compute.peak_flops fp64 6.0000e10 FLOP/s n=153 by assay 0.1.0
              flop_per_cycle=8 instruction_set=avx2 placement=node rpeak=5.9200e10 rpeak_factors=2 cores × 8 FLOP/cycle × 3.70 GHz (clock measured at this load) threads=2
              101.4 % of 5.9200e10: 2 cores × 8 FLOP/cycle × 3.70 GHz (clock measured at this load)
            compute.peak_flops fp32 1.2000e11 FLOP/s n=153 by assay 0.1.0
              flop_per_cycle=16 instruction_set=avx2 placement=node rpeak=1.1840e11 rpeak_factors=2 cores × 16 FLOP/cycle × 3.70 GHz (clock measured at this load) threads=2
              101.4 % of 1.1840e11: 2 cores × 16 FLOP/cycle × 3.70 GHz (clock measured at this load)
            compute.peak_flops core_clock 3.7000e9 Hz n=153 by assay 0.1.0
              instruction_set=avx2 placement=node threads=2
            compute.peak_flops fp64 1.1800e11 FLOP/s n=153 by assay 0.1.0
              flop_per_cycle=16 instruction_set=avx512 placement=node rpeak=1.1840e11 rpeak_factors=2 cores × 16 FLOP/cycle × 3.70 GHz (clock measured at this load) threads=2
              99.7 % of 1.1840e11: 2 cores × 16 FLOP/cycle × 3.70 GHz (clock measured at this load)
            compute.peak_flops fp32 2.3600e11 FLOP/s n=153 by assay 0.1.0
              flop_per_cycle=32 instruction_set=avx512 placement=node rpeak=2.3680e11 rpeak_factors=2 cores × 32 FLOP/cycle × 3.70 GHz (clock measured at this load) threads=2
              99.7 % of 2.3680e11: 2 cores × 32 FLOP/cycle × 3.70 GHz (clock measured at this load)
            compute.peak_flops core_clock 3.7000e9 Hz n=153 by assay 0.1.0
              instruction_set=avx512 placement=node threads=2
            compute.linpack rmax 1.0800e11 FLOP/s n=3 by hpcc ?
              n=4000 residual=0.01 threads=1
              ! no-interval: no 95 % interval of the median from 3 samples: it takes 6 independent ones
        "#]],
    );
}

#[test]
fn tools_tell_their_version_and_statistic() {
    let script =
        case("memory.stream/node/stream", "stream", stream(&[domain("node", &[0])], 4.0))
            .samples("triad", None, &[3e10])
            .learned(None, "tool_version", "5.10")
            .learned(None, "statistic", "best of 10")
            .finished(Stopped::Tool);
    check(
        &run(vec![script], None),
        &expect![[r#"
            memory.stream triad 3.0000e10 B/s n=3 by stream 5.10
              bytes_per_array=1073741824 placement=node statistic=best of 10 threads=1
              ! no-interval: no 95 % interval of the median from 3 samples: it takes 6 independent ones
        "#]],
    );
}

#[test]
fn what_was_not_measured_is_a_failure() {
    check(
        &run(
            vec![
                case("a", "assay", latency()).samples("latency", None, &[1e-9]).failed(),
                case("b", "assay", latency()).finished(Stopped::Budget),
                case("c", "assay", latency())
                    .samples("latency", None, &[f64::NAN])
                    .finished(Stopped::Budget),
                case("d", "assay", latency()).samples("latency", None, &[1e-9]),
                case("e", "assay", latency())
                    .samples("latency", None, &[1e-9; 4])
                    .samples("jitter", None, &[1e-9])
                    .finished(Stopped::Precise),
            ],
            None,
        ),
        &expect![[r#"
            memory.latency latency 1.0000e-9 s n=12 by assay 0.1.0
              bytes=4096 cpu=3
            failed a: wrong answer
            failed b: nothing measured: the case has no samples
            failed c: nothing measured: no sample of latency is a finite number
            ! unknown-metric: e has samples of `jitter`, which is unknown here
        "#]],
    );
}

#[test]
fn warm_up_is_discarded_and_counted() {
    let mut values = around(1e-9);
    values[..8].iter_mut().for_each(|value| *value *= 2.0);
    let script = case("memory.latency/bytes=4 KiB", "assay", latency())
        .samples("latency", None, &values)
        .finished(Stopped::Precise);
    check(
        &run(vec![script], None),
        &expect![[r#"
        memory.latency latency 1.0000e-9 s n=129 by assay 0.1.0
          bytes=4096 cpu=3 discarded=24
    "#]],
    );
}

fn sample() -> impl Strategy<Value = (usize, f64, u32, bool)> {
    let value = prop_oneof![any::<f64>(), 1e-9_f64..1e12];
    (0_usize..4, value, prop_oneof![0_u32..4, any::<u32>()], any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever was stored, a summary comes out, and every figure in it is finite.
    #[test]
    fn any_run_has_a_summary(samples in prop::collection::vec(sample(), 0..60)) {
        let metrics = ["fp64", "core_clock", "triad", "unknown"];
        let mut scripts = vec![
            case("peak", "assay", peak(&[0], "sse2")),
            case("stream", "assay", stream(&[domain("l3:0", &[0])], 0.0)),
        ];
        for (metric, value, preparation, placed) in samples {
            scripts = scripts.into_iter().map(|script| script.push(|case| RunEvent::Sample(Sample {
                case,
                metric: metrics[metric].into(),
                placement: placed.then(|| "elsewhere".to_owned()),
                value,
                preparation,
                at_ns: 0,
            }))).collect();
        }
        let scripts = scripts.into_iter().map(|script| script.finished(Stopped::Budget)).collect();
        for estimate in summarize(&run(scripts, None)).results {
            let figures = [estimate.median, estimate.mean, estimate.min, estimate.max, estimate.n_effective];
            prop_assert!(figures.into_iter().all(f64::is_finite), "{:?}", estimate);
            prop_assert!(estimate.percent_of_limit.is_none_or(f64::is_finite));
            prop_assert!(estimate.warnings.iter().all(|w| w.id != "out-of-order"), "{:?}", estimate);
        }
    }
}

/// One point of a curve on a volume provisioned for 1 GB/s.
fn on_a_curve(percent: Option<f64>, rate: f64, latency_s: f64) -> Script {
    let point = percent.map_or(CurvePoint::Greatest, |percent| CurvePoint::Share { percent });
    let stream = StorageStream {
        name: "read".into(),
        targets: vec![],
        in_flight_per_target: 25,
        ..StorageStream::of(AccessPattern::Random, 8192, 1.0)
    };
    let test = StorageTest {
        name: "RndRead".into(),
        point: Some(point),
        provisioned_bytes_per_s: Some(1e9),
        precondition_passes: 0,
        course: Course::Once,
        workload: StorageWorkload {
            targets: vec![],
            streams: vec![stream],
            load: Load::Closed,
            timing: StorageTiming {
                warmup_s: 0.0,
                duration_s: Some(1.0),
                interval_s: 0.1,
                stop_after_bytes: None,
            },
            engine: EngineChoice::Auto,
            data: StorageData { compressible: 0.0, verify: Verify::Off },
            seed: 1,
        },
    };
    let id = format!("storage/RndRead/{percent:?}");
    let mut script = case(&id, "assay", Workload::Storage(Box::new(test)))
        .samples("rate", None, &around(rate))
        .samples("bandwidth", None, &around(rate * 8192.0));
    let metric = if percent.is_some() { "latency_from_intended" } else { "latency" };
    script = script.samples(metric, None, &around(latency_s));
    for (name, factor) in
        [("min", 0.5), ("mean", 1.1), ("max", 9.0), ("p50", 1.0), ("p99", 3.0)]
    {
        script = script.push(|case| {
            RunEvent::Learned(Learned {
                case,
                metric: Some(metric.into()),
                name: format!("all_{name}_s"),
                value: Parameter::Number(latency_s * factor),
            })
        });
    }
    script.finished(Stopped::Precise)
}

#[test]
fn a_case_that_was_not_needed_is_no_failure() {
    let work = on_a_curve(None, 100e3, 5e-3);
    let idle = stream(&[domain("node", &[0])], 4.0);
    let scripts = vec![work, case("idle", "assay", idle).finished(Stopped::NotNeeded)];
    let summary = summarize(&run(scripts, None));
    assert!(summary.failures.is_empty() && !summary.results.is_empty());
}

#[test]
fn curves_have_their_knee_and_latency_its_tail() {
    let mut scripts = vec![on_a_curve(None, 100e3, 5e-3)];
    for (percent, latency_s) in
        [(10.0, 1e-3), (30.0, 1e-3), (50.0, 1.1e-3), (70.0, 1.2e-3), (90.0, 9e-3)]
    {
        scripts.push(on_a_curve(Some(percent), percent * 1e3, latency_s));
    }
    let run = run(scripts, None);
    let summary = summarize(&run);
    for estimate in &summary.results {
        assert_eq!(estimate.parameters["knee"], Parameter::Text("found".into()));
        let rate = summary.results.iter().find(|it| it.metric == "rate" && it.median > 69e3);
        let Parameter::Number(knee) = estimate.parameters["knee_rate"] else { panic!() };
        assert!((knee - 70e3).abs() < 1.0, "{knee} {rate:?}");
        assert!(!estimate.parameters.keys().any(|name| name.starts_with("all_")));
        if estimate.metric.starts_with("latency") {
            let p99 = estimate.percentiles.as_ref().unwrap()["p99"];
            assert!((p99 / estimate.median - 3.0).abs() < 1e-6);
            assert!((estimate.max / estimate.median - 9.0).abs() < 1e-6);
        }
        let limit = estimate.limit.as_ref().map(|limit| limit.value as u64);
        assert_eq!(limit, (estimate.metric == "bandwidth").then_some(1_000_000_000));
    }
}
