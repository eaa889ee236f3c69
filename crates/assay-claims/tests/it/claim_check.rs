//! Comparison of results with claims: the claims that apply to each result, and the verdict.

use assay_claims::gate::{self, GateOutcome};
use assay_claims::reference::{ClaimVerdict, check_claims, claims_for_system};
use assay_model::attribute::Attribute;
use assay_model::doubt::{Doubt, TrustLevel};
use assay_model::limit::{LimitBasis, PhysicalLimit};
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use crate::hosts::{bandwidth, parse};

/// Returns the peak of one instruction set in a placement.
fn peak((placement, instruction_set): (&str, &str), median: f64) -> MetricEstimate {
    let mut peak = MetricEstimate {
        benchmark: "compute.peak_flops".to_owned(),
        case: format!("{placement}/{instruction_set}"),
        metric: "fp64".to_owned(),
        unit: Unit::FlopPerSecond,
        ..bandwidth("one", median, None)
    };
    peak.parameters.insert(Attribute::Placement, placement.into());
    peak.parameters.insert(Attribute::InstructionSet, instruction_set.into());
    peak
}

#[test]
fn peak_claim_applies_to_fastest_instruction_set() {
    let results = [
        peak(("node", "portable"), 6e9),
        peak(("node", "avx2"), 30e9),
        peak(("core:0", "sse2"), 12e9),
    ];
    let claim = |filter: &str| {
        format!(
            "[[claim]]\nmetric = \"compute.peak_flops/fp64\"\nvalue = \"7 TFLOP/s\"\n{filter}"
        )
    };
    for (filter, expected) in [
        ("", &["node/avx2", "core:0/sse2"][..]),
        ("where = { placement = \"node\" }", &["node/avx2"]),
        ("where = { instruction_set = \"portable\" }", &["node/portable"]),
        ("where = { instruction_set = \"avx512\" }", &[]),
    ] {
        let claims = parse(&claim(filter)).claims;
        let checks = check_claims(&results, &claims, |_| TrustLevel::Sound);
        let cases: Vec<&str> = checks.iter().map(|it| it.estimate.case.as_str()).collect();
        assert_eq!(cases, expected, "{filter}");
    }
    let published = claims_for_system("azure/hbv4").unwrap();
    let checks = check_claims(&results, &published, |_| TrustLevel::Sound);
    assert!(checks.iter().all(|it| it.estimate.case == "node/avx2"), "{checks:?}");
    assert!(!checks.is_empty());
}

#[test]
fn every_claim_has_its_own_verdict() {
    let claims: String =
        ["6 GB/s\"\nqualifier = \"at-least", "4 GB/s", "9 GB/s\"\nqualifier = \"best"]
            .map(|value| {
                format!("[[claim]]\nmetric = \"storage/bandwidth\"\nvalue = \"{value}\"\n")
            })
            .concat();
    let claims = parse(&claims).claims;
    use ClaimVerdict::{CannotTell, Conflict, Missed, Reached, Shown};
    use TrustLevel::{Noisy, Suspect};
    for ((value, interval, trust), expected, verdict) in [
        ((5e9, Some([5e9, 5e9]), Noisy), [Missed, Reached, Shown], Conflict),
        ((5e9, Some([4e9, 6e9]), Noisy), [Reached, Reached, Shown], Reached),
        ((3e9, Some([2e9, 3.5e9]), Noisy), [Missed, Missed, Shown], Missed),
        ((3e9, Some([2e9, 3.5e9]), Suspect), [CannotTell, CannotTell, Shown], CannotTell),
        ((3e9, None, Noisy), [CannotTell, CannotTell, Shown], CannotTell),
        ((5e9, None, Noisy), [CannotTell, Reached, Shown], CannotTell),
        ((7e9, None, Noisy), [Reached, Reached, Shown], Reached),
    ] {
        let results = [MetricEstimate { ci: interval, ..bandwidth("one", value, None) }];
        let checks = check_claims(&results, &claims, |_| trust);
        let found: Vec<ClaimVerdict> =
            claims.iter().map(|it| checks[0].claim_verdict(it)).collect();
        assert_eq!((found.as_slice(), checks[0].verdict), (&expected[..], verdict), "{value}");
    }
}

/// A published "FIO, 50 GB/s" is about large sequential I/O, not small random I/O.
#[test]
fn published_bandwidth_applies_to_sequential_io() {
    let result_with_pattern = |pattern: &str| {
        let mut estimate = bandwidth("one", 376e6, None);
        estimate.case = pattern.to_owned();
        estimate.parameters.insert(Attribute::Operation, "read".into());
        estimate.parameters.insert(Attribute::Pattern, pattern.into());
        estimate
    };
    let results = ["random", "sequential", "parts"].map(result_with_pattern);
    for (system, expected) in
        [("azure/hbv5", &["sequential"][..]), ("azure/hb", &["sequential", "parts"])]
    {
        let published = claims_for_system(system).unwrap();
        let checks = check_claims(&results, &published, |_| TrustLevel::Sound);
        let cases: Vec<&str> =
            checks.iter().map(|check| check.estimate.case.as_str()).collect();
        assert_eq!(cases, expected, "{system}");
    }
}

/// A result above a lower limit, such as that of its memory, may be below the one of the file.
#[test]
fn limit_is_exceeded_by_its_own_doubt_alone() {
    let limits =
        parse("[[limit]]\nmetric = \"storage/bandwidth\"\nvalue = \"6 GB/s\"\n").limits;
    for (median, applied, expected) in [
        (5e9, 4e9, (GateOutcome::Passed, "5.000 GB/s, limit 6.000 GB/s")),
        (7e9, 6e9, (GateOutcome::CannotTell, "7.000 GB/s, above the limit 6.000 GB/s")),
    ] {
        let limit = PhysicalLimit { value: applied, basis: LimitBasis::Provisioned };
        let mut estimate = bandwidth("one", median, None);
        let unit = estimate.unit;
        estimate.warnings.push(Doubt::AboveLimit { median, limit, unit });
        let judged = gate::judge_limits(&limits, &[estimate]);
        assert_eq!((judged[0].outcome, &*judged[0].reason.to_string()), expected);
    }
}

/// An own claim or limit without a result cannot be decided; published figures are compared as far
/// as they were measured.
#[test]
fn own_entries_without_result_are_undecided() {
    let results = [bandwidth("one", 5e9, None), bandwidth("all", 9e9, Some("one,two"))];
    let entries = |kind: &str| {
        let entry = |metric: &str, more: &str| {
            format!("[[{kind}]]\nmetric = \"{metric}\"\nvalue = \"6 GB/s\"\n{more}\n")
        };
        entry("storage/bandwidth", "")
            + &entry("storage/bandwidth", "where = { operation = \"read\" }")
            + &entry("memory.stream/triad", "")
    };
    let expected = parse(&(entries("claim") + &entries("limit")));
    let judged = gate::judge_unmeasured((&expected.claims, &expected.limits), &results);
    let named: Vec<&str> = judged.iter().map(|it| it.name.as_str()).collect();
    let [read, triad] = ["storage/bandwidth operation=read", "memory.stream/triad"];
    let all = [("claim", read), ("claim", triad), ("limit", read), ("limit", triad)];
    assert_eq!(named, all.map(|(kind, name)| format!("{kind} {name}")));
    assert!(judged.iter().all(|it| it.outcome == GateOutcome::CannotTell));
    let published = claims_for_system("azure/hbv4").unwrap();
    assert_eq!(gate::judge_unmeasured((&published, &[]), &results), []);
    // The limit of a device does not bound the total of two.
    let judged = gate::judge_limits(&expected.limits, &results);
    let outcomes: Vec<(String, GateOutcome)> =
        judged.iter().map(|it| (it.reason.to_string(), it.outcome)).collect();
    let passed = ("5.000 GB/s, limit 6.000 GB/s".to_owned(), GateOutcome::Passed);
    assert_eq!(outcomes, [passed]);
}
