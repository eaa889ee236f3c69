//! Run with many problems: failures, warnings, few samples, odd texts, unknown results.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark::{Command, Linpack, MemoryLatency, MemoryStream};
use assay_model::doubt::Doubt;
use assay_model::event::RunStatus;
use assay_model::failure::{ErrorArea, FailureReason, MissingHostFeature};
use assay_model::summary::{CaseFailure, RunSummary};
use assay_report::{build, render};

use crate::guest;
use crate::maker::{EstimateBuilder, estimate, summary};

pub(crate) fn run() -> RunSummary {
    let mut summary = summary("it's <b>odd</b> | & 'quoted'", RunStatus::Failed, guest::host());
    summary.hosts[0].system.virtualization = None;
    summary.run.finished = None;
    summary.warnings.push(Doubt::OtherLoad { load: 1.8 });
    for (metric, median) in [("copy", 61.0e9), ("triad", 64.0e9)] {
        let mut estimate = estimate(MemoryStream, metric, median, 0.031)
            .with(Attribute::Placement, "node")
            .with(Attribute::Threads, 2_u64)
            .with(Attribute::BytesPerArray, 24_u64 << 20)
            .with(Attribute::Kernel, "avx2")
            .with_doubt(Doubt::CacheAssisted {
                bytes_per_array: 24 << 20,
                multiple: 1.5,
                needed: 4.0,
            })
            .with_doubt(Doubt::WideInterval {
                width: if metric == "copy" { 0.031 } else { 0.027 },
                target: 0.01,
                n: 30,
                n_effective: 8.3,
                by_tool: false,
            });
        (estimate.n, estimate.n_effective) = (30, 8.3);
        summary.results.push(estimate);
    }
    let mut few =
        estimate(MemoryLatency, "latency", 108e-9, 0.0).with(Attribute::Bytes, 128_u64 << 20);
    (few.n, few.n_effective, few.ci) = (3, 3.0, None);
    summary.results.push(few.with(Attribute::HugePages, false));
    let mut broken =
        estimate(Linpack, "rmax", f64::NAN, 0.01).with(Attribute::Blas, "lib<script>.so");
    (broken.min, broken.max, broken.mean) = (f64::NEG_INFINITY, f64::INFINITY, f64::NAN);
    summary.results.push(broken);
    let mut unknown =
        estimate(MemoryStream, "bandwidth", 12.3e9, 0.01).with(Attribute::Direction, "up");
    unknown.benchmark = "network.stream".to_owned();
    summary.results.push(unknown);
    let known = |host: &str| FailureReason::Error {
        area: ErrorArea::Network,
        causes: vec![format!("the host {host} is not known")],
        advice: "check the name, or give an address".to_owned(),
    };
    let by_hpcc = FailureReason::Error {
        area: ErrorArea::Tool,
        causes: vec![
            "hpcc failed: exit code 1".to_owned(),
            "</script><script>alert(1)</script>".to_owned(),
        ],
        advice: String::new(),
    };
    let linpack = FailureReason::ResidualTooLarge { residual: 31.7, bound: 16.0 };
    summary.failures = vec![
        failed("compute.linpack", "compute.linpack/n=8000", linpack),
        failed("network.tcp", NETWORK, known("node-8")),
        failed("memory.stream", "memory.stream/numa:1", by_hpcc),
        skipped("network.tcp/node-8/send/streams=6"),
        skipped("network.tcp/node-8/latency/bytes=1"),
    ];
    summary
}

/// Three cases refused by one host, and one refused by another for the same reason.
pub(crate) fn refused_for_one_reason() -> RunSummary {
    let refused = |host: &str, bytes: &str| {
        let causes = vec!["both hosts are one machine".to_owned()];
        let failure =
            FailureReason::Error { area: ErrorArea::Tool, causes, advice: String::new() };
        let case = failed("mpi.latency", &format!("mpi.latency/a:b/{bytes}"), failure);
        CaseFailure { host: host.to_owned(), ..case }
    };
    let failures = ["8B", "16B", "32B"].map(|bytes| refused("node-7", bytes));
    let failures = failures.into_iter().chain([refused("node-8", "8B")]).collect();
    RunSummary { failures, ..run() }
}

const NETWORK: &str = "network.tcp/node-8/send/streams=1";

fn failed(benchmark: &str, case: &str, failure: FailureReason) -> CaseFailure {
    CaseFailure {
        benchmark: benchmark.to_owned(),
        case: case.to_owned(),
        host: "node-7".to_owned(),
        failure,
        because: None,
    }
}

/// Case skipped because of another case's failure.
fn skipped(case: &str) -> CaseFailure {
    let failure =
        FailureReason::Skipped { host: "node-8".to_owned(), lack: MissingHostFeature::Address };
    CaseFailure { because: Some(NETWORK.to_owned()), ..failed("network.tcp", case, failure) }
}

#[test]
fn failed_case_is_no_answer() {
    let mut summary = summary("quick", RunStatus::Failed, guest::host());
    let triad = estimate(MemoryStream, "triad", 64.0e9, 0.01);
    summary.results = vec![triad.clone()];
    assert_eq!(build::answer_rows(&summary).len(), 1);
    let failure = failed(&triad.benchmark, &triad.case, FailureReason::NoData);
    summary.failures = vec![CaseFailure { host: triad.host, ..failure }];
    assert!(build::answer_rows(&summary).is_empty());
}

/// An empty program that takes longer than a measured one was disturbed.
#[test]
fn start_time_is_below_measured_times() {
    for (start_s, is_shown) in [(1e-3, true), (5e-3, false)] {
        let mut summary = summary("exec", RunStatus::Complete, guest::host());
        let time = estimate(Command, "wall_time", 2e-3, 0.01);
        summary.results = vec![time.with(Attribute::StartTime, start_s)];
        let page = render::markdown::document(&build::run(&summary, None));
        assert_eq!(page.contains("An empty program takes at least"), is_shown, "{page}");
    }
}
