//! A run in which much went wrong: failures, warnings, few samples, odd texts, unknown results.

use assay_model::benchmark::Benchmark::{Linpack, MemoryLatency, MemoryStream};
use assay_model::event::Status;
use assay_model::summary::{CaseFailure, Summary};
use assay_model::warning::Warning;

use crate::guest;
use crate::maker::{With, estimate, summary};

pub(crate) fn run() -> Summary {
    let mut summary = summary("it's <b>odd</b> | & 'quoted'", Status::Failed, guest::host());
    summary.hosts[0].system.virtualization = None;
    summary.run.finished = None;
    summary.warnings.push(Warning::new(
        "other-load",
        "the load was 1.8 before the run began",
        "stop other work, or measure again when the machine is idle",
    ));
    for (metric, median) in [("copy", 61.0e9), ("triad", 64.0e9)] {
        let mut estimate = estimate(MemoryStream, metric, median, 0.031)
            .text("placement", "node")
            .whole("threads", 2)
            .whole("bytes_per_array", 24 << 20)
            .text("kernel", "avx2")
            .doubted(
                "cache-assisted",
                "the arrays are 1.5 × the last-level caches, 4 × are asked for",
                "use larger arrays with --bytes",
            )
            .doubted(
                "interval-too-wide",
                &format!("the interval of {metric} is ±3.1 % wide, ±1 % was asked for"),
                "give more time with --budget, and look for other load",
            );
        (estimate.n, estimate.n_effective) = (30, 8.3);
        summary.results.push(estimate);
    }
    let mut few = estimate(MemoryLatency, "latency", 108e-9, 0.0).whole("bytes", 128 << 20);
    (few.n, few.n_effective, few.ci) = (3, 3.0, None);
    summary.results.push(few.flag("huge_pages", false));
    let mut broken = estimate(Linpack, "rmax", f64::NAN, 0.01).text("blas", "lib<script>.so");
    (broken.min, broken.max, broken.mean) = (f64::NEG_INFINITY, f64::INFINITY, f64::NAN);
    summary.results.push(broken);
    let mut unknown = estimate(MemoryStream, "bandwidth", 12.3e9, 0.01).text("colour", "blue");
    unknown.benchmark = "network.stream".to_owned();
    summary.results.push(unknown);
    summary.failures = vec![
        CaseFailure {
            benchmark: "compute.linpack".to_owned(),
            case: "compute.linpack/n=8000".to_owned(),
            host: "node-7".to_owned(),
            reason:
                "the scaled residual is 31.7, and must stay below 16: the solution is wrong"
                    .to_owned(),
            advice:
                "test the memory and the cooling of the machine; with --blas, test the library"
                    .to_owned(),
            because: None,
        },
        CaseFailure {
            benchmark: "network.tcp".to_owned(),
            case: "network.tcp/node-8/send/streams=1".to_owned(),
            host: "node-7".to_owned(),
            reason: "the host node-8 is not known".to_owned(),
            advice: "check the name, or give an address".to_owned(),
            because: None,
        },
        CaseFailure {
            benchmark: "memory.stream".to_owned(),
            case: "memory.stream/numa:1".to_owned(),
            host: "node-7".to_owned(),
            reason: "hpcc ended with exit code 1: </script><script>alert(1)</script>"
                .to_owned(),
            advice: String::new(),
            because: None,
        },
        skipped("network.tcp/node-8/send/streams=6"),
        skipped("network.tcp/node-8/latency/bytes=1"),
    ];
    summary
}

/// A case that another one's failure made needless.
fn skipped(case: &str) -> CaseFailure {
    CaseFailure {
        benchmark: "network.tcp".to_owned(),
        case: case.to_owned(),
        host: "node-7".to_owned(),
        reason: "skipped: the host node-8 could not be reached".to_owned(),
        advice: String::new(),
        because: Some("network.tcp/node-8/send/streams=1".to_owned()),
    }
}
