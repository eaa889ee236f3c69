//! Artificial comparison of two conditions: accelerated networking off and on.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::comparison::{
    ComparedCondition, Comparison, ComparisonDesign, ComparisonVerdict, ConditionLetter,
    EnvironmentDifference, MetricComparison, SCHEMA, SuspectRun, UnmatchedResult,
};
use assay_model::doubt::Doubt;
use assay_model::environment::EnvironmentAspect;
use assay_model::summary::MetricEstimate;
use assay_report::{build, render};

use crate::maker::{EstimateBuilder, estimate};

fn side(name: &str, runs: [&str; 2]) -> ComparedCondition {
    ComparedCondition { name: name.to_owned(), runs: runs.map(str::to_owned).into() }
}

/// Builds one metric under both conditions; only printed values need to be consistent.
fn pair(
    estimate: impl Fn(f64) -> MetricEstimate,
    medians: [f64; 2],
    verdict: ComparisonVerdict,
) -> MetricComparison {
    let ratio = medians[1] / medians[0];
    MetricComparison {
        a: estimate(medians[0]),
        b: estimate(medians[1]),
        ratio: Some(ratio),
        ratio_ci: Some([ratio * 0.981, ratio * 1.017]),
        p: Some(0.01),
        p_adjusted: Some(0.03),
        floor: Some([0.993, 1.008]),
        verdict,
        runs_to_decide: (verdict == ComparisonVerdict::CannotTell).then_some(57),
        is_headline: true,
        has_single_values: false,
    }
}

fn goodput(streams: u64) -> impl Fn(f64) -> MetricEstimate {
    move |median| {
        estimate(Benchmark::NetworkTcp, "goodput", median, 0.01)
            .with(Attribute::To, "10.0.0.5")
            .with(Attribute::Streams, streams)
            .with(Attribute::Direction, "send")
            .with(Attribute::Copy, true)
    }
}

fn load(streams: u64, end: &'static str) -> impl Fn(f64) -> MetricEstimate {
    move |median| {
        estimate(Benchmark::NetworkTcp, "cpu_load", median, 0.02)
            .with(Attribute::To, "10.0.0.5")
            .with(Attribute::Streams, streams)
            .with(Attribute::Direction, "send")
            .with(Attribute::Copy, true)
            .with(Attribute::End, end)
    }
}

fn half_round_trip(median: f64) -> MetricEstimate {
    estimate(Benchmark::NetworkTcp, "half_round_trip", median, 0.01)
        .with(Attribute::Bytes, 1_u64)
}

fn retransmits(median: f64) -> MetricEstimate {
    estimate(Benchmark::NetworkTcp, "retransmits", median, 0.0).with(Attribute::Streams, 6_u64)
}

fn triad(median: f64) -> MetricEstimate {
    estimate(Benchmark::MemoryStream, "triad", median, 0.01)
        .with(Attribute::Placement, "node")
        .with(Attribute::Threads, 8_u64)
}

/// Throughput, CPU load and latency with and without a virtual function.
pub(crate) fn accelerated_networking() -> Comparison {
    let mut none = pair(retransmits, [0.0, 0.0], ComparisonVerdict::Equivalent);
    (none.ratio, none.ratio_ci, none.floor) = (None, None, None);
    let mut few = pair(half_round_trip, [121e-6, 17.5e-6], ComparisonVerdict::CannotTell);
    (few.ratio_ci, few.b.ci) = (None, None);
    Comparison {
        schema: SCHEMA,
        a: side("off", ["20261121-104455-7f3a", "20261121-104911-0b1c"]),
        b: side("on", ["20261121-104601-11aa", "20261121-104752-9d02"]),
        control: ["20261121-104630-00aa", "20261121-104833-00bb"].map(str::to_owned).into(),
        design: ComparisonDesign::Turns,
        margin: 0.02,
        level: 0.95,
        tested: 8,
        false_share: 0.04,
        pairs: vec![
            pair(goodput(6), [5.56e9, 5.58e9], ComparisonVerdict::Equivalent),
            pair(load(6, "local"), [0.31, 0.3], ComparisonVerdict::Worse),
            pair(load(6, "remote"), [0.39, 0.25], ComparisonVerdict::Better),
            pair(load(32, "local"), [0.983, 0.5], ComparisonVerdict::Better),
            none,
            pair(goodput(32), [6e9, 4e9], ComparisonVerdict::Worse),
            few,
            pair(triad, [38e9, 38.6e9], ComparisonVerdict::CannotTell),
        ],
        suspect: vec![],
        unmatched: vec![UnmatchedResult {
            only: ConditionLetter::A,
            benchmark: "network.icmp".to_owned(),
            case: "network.icmp/loopback/latency/bytes=56".to_owned(),
            metric: "round_trip".to_owned(),
            identity: [(Attribute::Bytes, 56_u64.into())].into(),
        }],
        differences: vec![EnvironmentDifference {
            aspect: EnvironmentAspect::Kernel,
            of: String::new(),
            a: "6.1.0".to_owned(),
            b: "6.8.0".to_owned(),
        }],
    }
}

#[test]
fn suspect_runs_are_counted() {
    let mut comparison = accelerated_networking();
    let run = comparison.b.runs[0].clone();
    comparison.suspect = vec![SuspectRun { run, doubt: Doubt::AnotherAssay }];
    let page = render::markdown::document(&build::comparison(&comparison));
    let said = "Suspect: 1 of 6 runs. The first one because: another assay is measuring";
    assert!(page.contains(said), "{page}");
}
