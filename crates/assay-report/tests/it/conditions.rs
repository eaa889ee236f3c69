//! Artificial comparison of two conditions: accelerated networking off and on.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::comparison::{
    Comparison, Design, Difference, Only, Pair, SCHEMA, Side, Unmatched, Verdict,
};
use assay_model::environment::Aspect;
use assay_model::summary::Estimate;

use crate::maker::{With, estimate};

fn side(name: &str, runs: [&str; 2]) -> Side {
    Side { name: name.to_owned(), runs: runs.map(str::to_owned).into() }
}

/// Builds one metric under both conditions; only printed values need to be consistent.
fn pair(estimate: impl Fn(f64) -> Estimate, medians: [f64; 2], verdict: Verdict) -> Pair {
    let ratio = medians[1] / medians[0];
    Pair {
        a: estimate(medians[0]),
        b: estimate(medians[1]),
        ratio: Some(ratio),
        ratio_ci: Some([ratio * 0.981, ratio * 1.017]),
        p: Some(0.01),
        p_adjusted: Some(0.03),
        floor: Some([0.993, 1.008]),
        verdict,
        runs_to_tell: (verdict == Verdict::CannotTell).then_some(57),
        is_headline: true,
        is_single: false,
    }
}

fn goodput(streams: u64) -> impl Fn(f64) -> Estimate {
    move |median| {
        estimate(Benchmark::NetworkTcp, "goodput", median, 0.01)
            .with(Attribute::To, "10.0.0.5")
            .with(Attribute::Streams, streams)
            .with(Attribute::Direction, "send")
            .with(Attribute::Copy, true)
    }
}

fn load(streams: u64, end: &'static str) -> impl Fn(f64) -> Estimate {
    move |median| {
        estimate(Benchmark::NetworkTcp, "cpu_load", median, 0.02)
            .with(Attribute::To, "10.0.0.5")
            .with(Attribute::Streams, streams)
            .with(Attribute::Direction, "send")
            .with(Attribute::Copy, true)
            .with(Attribute::End, end)
    }
}

fn half_round_trip(median: f64) -> Estimate {
    estimate(Benchmark::NetworkTcp, "half_round_trip", median, 0.01)
        .with(Attribute::Bytes, 1_u64)
}

fn retransmits(median: f64) -> Estimate {
    estimate(Benchmark::NetworkTcp, "retransmits", median, 0.0).with(Attribute::Streams, 6_u64)
}

fn triad(median: f64) -> Estimate {
    estimate(Benchmark::MemoryStream, "triad", median, 0.01)
        .with(Attribute::Placement, "node")
        .with(Attribute::Threads, 8_u64)
}

/// Throughput, CPU load and latency with and without a virtual function.
pub(crate) fn accelerated_networking() -> Comparison {
    let mut none = pair(retransmits, [0.0, 0.0], Verdict::Equivalent);
    (none.ratio, none.ratio_ci, none.floor) = (None, None, None);
    let mut few = pair(half_round_trip, [121e-6, 17.5e-6], Verdict::CannotTell);
    (few.ratio_ci, few.b.ci) = (None, None);
    Comparison {
        schema: SCHEMA,
        a: side("off", ["20261121-104455-7f3a", "20261121-104911-0b1c"]),
        b: side("on", ["20261121-104601-11aa", "20261121-104752-9d02"]),
        control: ["20261121-104630-00aa", "20261121-104833-00bb"].map(str::to_owned).into(),
        design: Design::Turns,
        margin: 0.02,
        level: 0.95,
        tested: 8,
        false_share: 0.04,
        pairs: vec![
            pair(goodput(6), [5.56e9, 5.58e9], Verdict::Equivalent),
            pair(load(6, "local"), [0.31, 0.3], Verdict::Worse),
            pair(load(6, "remote"), [0.39, 0.25], Verdict::Better),
            pair(load(32, "local"), [0.983, 0.5], Verdict::Better),
            none,
            pair(goodput(32), [6e9, 4e9], Verdict::Worse),
            few,
            pair(triad, [38e9, 38.6e9], Verdict::CannotTell),
        ],
        unmatched: vec![Unmatched {
            only: Only::A,
            benchmark: "network.icmp".to_owned(),
            case: "network.icmp/loopback/latency/bytes=56".to_owned(),
            metric: "round_trip".to_owned(),
            identity: [(Attribute::Bytes, 56_u64.into())].into(),
        }],
        differences: vec![Difference {
            aspect: Aspect::Kernel,
            of: String::new(),
            a: "6.1.0".to_owned(),
            b: "6.8.0".to_owned(),
        }],
    }
}
