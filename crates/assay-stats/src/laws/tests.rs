//! Plausibility laws, with a broken law per row.

use std::collections::BTreeMap;

use assay_model::benchmark::Better;
use assay_model::limit::{LimitBasis, PhysicalLimit};
use assay_model::quantity::Unit;
use assay_model::summary::MeasuringTool;

use super::*;
use crate::summarize::apply_data_sheet;

/// Returns an estimate that breaks no law.
fn valid_estimate() -> MetricEstimate {
    MetricEstimate {
        benchmark: "memory.stream".into(),
        case: "memory.stream/node".into(),
        metric: "triad".into(),
        parameters: BTreeMap::new(),
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        n: 300,
        n_effective: 300.0,
        median: 5.0,
        ci: Some([4.9, 5.1]),
        ci_level: 0.95,
        min: 1.0,
        max: 9.0,
        mean: 4.0,
        percentiles: Some(BTreeMap::from([("p99".to_owned(), 8.0)])),
        limit: Some(PhysicalLimit { value: 10.0, basis: LimitBasis::Provisioned }),
        percent_of_limit: Some(50.0),
        host: "host".into(),
        tool: MeasuringTool { name: "assay".into(), version: None },
        warnings: vec![],
    }
}

fn check(what: &str, change: impl Fn(&mut MetricEstimate), expected: &[&str]) {
    let mut estimate = valid_estimate();
    change(&mut estimate);
    let found = broken_laws(&estimate);
    let found: Vec<&str> = found.iter().map(Doubt::id).collect();
    assert_eq!(found, expected, "{what}");
}

fn p99(value: f64) -> Option<BTreeMap<String, f64>> {
    Some(BTreeMap::from([("p99".to_owned(), value)]))
}

#[test]
fn every_law_is_checked() {
    check("sound", |_| {}, &[]);
    check(
        "one sample",
        |e| (e.min, e.max, e.mean, e.ci) = (5.0, 5.0, 5.0, None),
        &["out-of-order"],
    );
    check("no percentiles", |e| (e.percentiles, e.ci) = (None, None), &[]);
    check("median below min", |e| e.min = 6.0, &["out-of-order"]);
    check("p99 below median", |e| e.percentiles = p99(4.0), &["out-of-order"]);
    check("p99 above max", |e| e.percentiles = p99(9.5), &["out-of-order"]);
    let tails = |values: [f64; 2]| {
        Some(["p99", "p99.9"].map(str::to_owned).into_iter().zip(values).collect())
    };
    check("p99.9 above max", |e| e.percentiles = tails([8.0, 9.5]), &["out-of-order"]);
    check("p99.9 below p99", |e| e.percentiles = tails([8.0, 7.0]), &["out-of-order"]);
    check("p99.9 at max", |e| e.percentiles = tails([8.0, 9.0]), &[]);
    check("mean below min", |e| e.mean = 0.5, &["out-of-order"]);
    check("mean above max", |e| e.mean = 9.5, &["out-of-order"]);
    check("median outside the interval", |e| e.ci = Some([5.5, 6.0]), &["out-of-order"]);
    check("zero", |e| (e.min, e.mean) = (0.0, 0.0), &["not-positive"]);
    let none = |e: &mut MetricEstimate| (e.min, e.mean, e.unit) = (0.0, 0.0, Unit::Count);
    check("no loss at all", none, &[]);
    check("a negative count", |e| (e.min, e.unit) = (-1.0, Unit::Count), &["not-positive"]);
    check("negative", |e| e.min = -1.0, &["not-positive"]);
    let reaches = |e: &mut MetricEstimate| (e.max, e.percentiles) = (5.05, None);
    check("the interval of a median lies among the samples", reaches, &["out-of-order"]);
    let by_student = |e: &mut MetricEstimate| {
        reaches(e);
        e.n_effective = 4.6;
    };
    check("that of few effective samples may reach beyond", by_student, &[]);
    let pooled = |e: &mut MetricEstimate| {
        reaches(e);
        (e.benchmark, e.metric, e.limit) = ("network.udp".into(), "loss".into(), None);
    };
    check("that of a pooled share may reach beyond", pooled, &[]);
    check("not a number", |e| e.mean = f64::NAN, &["not-finite"]);
    check("without end", |e| e.max = f64::INFINITY, &["not-finite"]);
}

#[test]
fn broken_order_names_figures_that_exist() {
    let order = |change: fn(&mut MetricEstimate)| {
        let mut estimate = valid_estimate();
        (estimate.percentiles, estimate.ci) = (None, None);
        change(&mut estimate);
        broken_laws(&estimate).into_iter().find_map(|doubt| match doubt {
            Doubt::OutOfOrder { law, .. } => Some(law),
            _ => None,
        })
    };
    // A tool without a median has its mean as the median.
    assert_eq!(
        order(|e| (e.median, e.mean, e.min) = (15.0, 15.0, 20.0)),
        Some(FigureOrder::MinMean)
    );
    assert_eq!(order(|e| (e.median, e.mean) = (11.0, 11.0)), Some(FigureOrder::MeanMax));
    assert_eq!(order(|e| e.median = 11.0), Some(FigureOrder::MedianMax));
}

#[test]
fn limit_tolerance_follows_basis() {
    let limit = |value| Some(PhysicalLimit { value, basis: LimitBasis::Provisioned });
    let compute = |e: &mut MetricEstimate, value| {
        e.benchmark = "compute.linpack".into();
        e.metric = "rmax".into();
        e.limit = limit(value);
    };
    check("no limit", |e| e.limit = None, &[]);
    check("at the limit", |e| e.limit = limit(5.0), &[]);
    check("just above memory's limit", |e| e.limit = limit(4.999), &["above-limit"]);
    let data_sheet = |value| {
        Some(PhysicalLimit { value, basis: LimitBasis::DataSheet { source: "rounded".into() } })
    };
    check("just above a data sheet", |e| e.limit = data_sheet(4.8), &[]);
    check("far above a data sheet", |e| e.limit = data_sheet(4.7), &["above-limit"]);
    check("just above a measured limit", |e| compute(e, 4.95), &[]);
    check("far above a measured limit", |e| compute(e, 4.89), &["above-limit"]);
}

#[test]
fn lower_limit_overrides_data_sheet() {
    let sheet =
        |value| PhysicalLimit { value, basis: LimitBasis::DataSheet { source: "x".into() } };
    let held = |value| {
        let mut estimate = valid_estimate();
        apply_data_sheet(&mut estimate, sheet(value));
        (estimate.limit.unwrap().value, estimate.percent_of_limit, estimate.warnings.len())
    };
    assert_eq!(held(20.0), (10.0, Some(50.0), 0));
    assert_eq!(held(8.0), (8.0, Some(62.5), 0));
    assert_eq!(held(2.0), (2.0, Some(250.0), 1));
}
