//! Tests of the refinement: rates of a curve after some of its points, and the bound of a solve.

use assay_model::attribute::Attributes;
use assay_model::event::{Fact, FactSubject, RunEvent, RunStarted, Sample, SeriesOpened};
use assay_model::facts::HostFacts;
use assay_model::plan::Plan;
use assay_model::plan::expand::{self, Measurer, PlanChoices};
use assay_model::suite::parse_suite;

use super::*;

/// Plan of a curve with its maximum, five shares of it, and two points at the bend.
fn curve_plan() -> Plan {
    let suite = "name = \"x\"\n[[measure]]\nbenchmark = \"storage\"\nname = \"R\"\n\
                 operation = \"read\"\npath = \"/v\"\ncurve = [10, 20, 30, 50, 90]\nbend-points = 2";
    let mut host = HostFacts::default();
    host.memory.available_bytes = 64 << 30;
    let measurers = [Measurer { name: "assay", supports: |_| true }];
    let choices = PlanChoices::new(&measurers, 1);
    expand::expand(&parse_suite(suite).unwrap(), &host, &choices).unwrap()
}

/// Measured point: case, its rate in IO/s, its latency in seconds, and its share of the maximum if
/// that was chosen.
type Point = (&'static str, f64, f64, Option<f64>);

/// Run of the plan with these points so far.
fn run_with(plan: &Plan, points: &[Point]) -> Run {
    let mut events = vec![RunEvent::RunStarted(Box::new(RunStarted::new(
        "r",
        "2026-01-01T00:00:00Z",
        plan.clone(),
    )))];
    for (number, (name, rate, latency_s, percent)) in (0..).zip(points) {
        let case = format!("storage/R/{name}");
        events.push(RunEvent::CaseStarted { case: case.clone() });
        for (series, metric, value) in
            [(2 * number, "rate", rate), (2 * number + 1, "latency_from_intended", latency_s)]
        {
            let (case, metric) = (case.clone(), metric.to_owned());
            let dimensions = Attributes::default();
            events.push(RunEvent::SeriesOpened(SeriesOpened::new(
                series, case, metric, dimensions,
            )));
            let (value, weight) = (*value, 1.0);
            let sample = Sample { series, value, weight, preparation: 0, at_ns: 0 };
            events.push(RunEvent::Sample(sample));
        }
        events.extend(percent.map(|percent| {
            let (about, name) = (FactSubject::Case(case), Attribute::PercentOfMax);
            RunEvent::Fact(Fact { about, name, value: percent.into() })
        }));
    }
    Run::fold(events).unwrap()
}

/// Requested rate in IO/s, and the share of the maximum if it was chosen.
type RateAndShare = (Option<f64>, Option<f64>);

/// Refines a case of the curve; returns its rate and its chosen share.
fn refined_rate(name: &str, points: &[Point]) -> Result<Option<RateAndShare>, FailureReason> {
    let plan = curve_plan();
    let id = format!("storage/R/{name}");
    let case = plan.cases.iter().find(|case| case.id == id).unwrap();
    let refined = refine(case, &run_with(&plan, points))?;
    Ok(refined.map(|it| {
        let rate = it.case.workload.as_storage().unwrap().workload.load.rate_per_s();
        (rate, it.chosen_percent)
    }))
}

#[test]
fn rates_follow_from_maximum_and_earlier_points() {
    const MAXIMUM: Point = ("max", 1000.0, 5e-3, None);
    const SHARES: [Point; 5] = [
        ("10%", 100.0, 1e-3, None),
        ("20%", 200.0, 1e-3, None),
        ("30%", 300.0, 1e-3, None),
        ("50%", 500.0, 1e-3, None),
        ("90%", 900.0, 9e-3, None),
    ];
    let with_bend = |rate: f64| {
        let bend = ("bend-1", rate, 1e-3, Some(rate / 10.0));
        [&[MAXIMUM], &SHARES[..], &[bend]].concat()
    };
    let curve = [&[MAXIMUM], &SHARES[..]].concat();
    for (name, points, expected) in [
        ("max", vec![], Ok(Some((None, None)))),
        ("50%", vec![], Err(FailureReason::CurveWithoutMaximum)),
        ("50%", vec![MAXIMUM], Ok(Some((Some(500.0), None)))),
        // The knee is between 50 % and 90 %, then between 70 % and 90 %.
        ("bend-1", curve, Ok(Some((Some(700.0), Some(70.0))))),
        ("bend-2", with_bend(700.0), Ok(Some((Some(800.0), Some(80.0))))),
        // A knee that is known to 5 % needs no further point.
        ("bend-2", with_bend(870.0), Ok(None)),
    ] {
        assert_eq!(refined_rate(name, &points), expected, "{name} after {points:?}");
    }
}

#[test]
fn shortest_solve_follows_peak_of_own_cpus() {
    let work = LinpackWorkload { n: 3000, cpus: vec![0, 1, 2, 3], seed: 1, blas: None };
    // 2/3 N³ + 3/2 N² = 18.0135 GFLOP.
    let least = |peaks: &[(f64, usize)]| shortest_solve_s(&work, peaks.iter().copied());
    assert_eq!(least(&[]), None);
    assert_eq!(least(&[(4e9, 4)]), Some(18.0135e9 / 4e9));
    assert_eq!(least(&[(1e9, 1)]), Some(18.0135e9 / 4e9), "one core is a quarter of it");
    assert_eq!(least(&[(2e9, 1), (4e9, 4)]), Some(18.0135e9 / 8e9));
}
