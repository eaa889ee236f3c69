//! Runs of several hosts: thresholds and limits of one host do not apply to totals.

use std::collections::BTreeMap;

use assay_claims::expectation::{Expectations, JudgedResults};
use assay_claims::gate::{self, GateOutcome};
use assay_claims::reference::data_sheet_limit;
use assay_model::attribute::Attribute;
use assay_model::benchmark::Better;
use assay_model::phrase::Phrase;
use assay_model::quantity::Unit;
use assay_model::summary::{MeasuringTool, MetricEstimate};

/// Returns a bandwidth of one host, or a total of `hosts`.
pub(crate) fn bandwidth(host: &str, value: f64, hosts: Option<&str>) -> MetricEstimate {
    let mut parameters = BTreeMap::from([(Attribute::Host, host.into())]);
    parameters.extend(hosts.map(|hosts| (Attribute::Hosts, hosts.into())));
    MetricEstimate {
        benchmark: "storage".to_owned(),
        case: "read".to_owned(),
        metric: "bandwidth".to_owned(),
        parameters,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        n: 1,
        n_effective: 1.0,
        median: value,
        ci: None,
        ci_level: 0.95,
        min: value,
        max: value,
        mean: value,
        percentiles: None,
        limit: None,
        percent_of_limit: None,
        host: host.to_owned(),
        tool: MeasuringTool { name: "assay".to_owned(), version: None },
        warnings: Vec::new(),
    }
}

/// Parses the expectations of a single run.
pub(crate) fn parse(text: &str) -> Expectations {
    Expectations::parse(text, JudgedResults::SingleRuns).unwrap()
}

fn results() -> Vec<MetricEstimate> {
    vec![
        bandwidth("one", 5e9, None),
        bandwidth("two", 6e9, None),
        bandwidth("three", 6e9, None),
        bandwidth("all", 17e9, Some("one,two,three")),
        bandwidth("near", 11e9, Some("one,two")),
    ]
}

#[test]
fn gate_applies_to_totals_only_if_named() {
    let outcomes = |rest: &str| {
        let text = format!("[[gate]]\nmetric = \"storage/bandwidth\"\n{rest}");
        let (gates, results) = (parse(&text).gates, results());
        let hosts = ["one", "two", "three"];
        let gate_results = gate::judge_hosts(&gates, &hosts, &results, &|_| None);
        let by_host = gate_results.iter().map(|(host, it)| ((*host).to_owned(), it.outcome));
        by_host.collect::<Vec<_>>()
    };
    let outcome_of = |host: &str, outcome| (host.to_owned(), outcome);
    assert_eq!(
        outcomes("at_most = \"5.5 GB/s\""),
        [
            outcome_of("one", GateOutcome::Passed),
            outcome_of("two", GateOutcome::Failed),
            outcome_of("three", GateOutcome::Failed)
        ]
    );
    assert_eq!(
        outcomes("at_least = \"12 GB/s\"\nwhere = { host = \"near\" }"),
        [outcome_of("near", GateOutcome::Failed)]
    );
    // A host without any result passes nothing, whether it took part or not.
    for host in ["nine", "two"] {
        let rest = format!("at_least = \"1 GB/s\"\nwhere = {{ host = \"{host}\", depth = 9 }}");
        let named = if host == "two" { host } else { "" };
        assert_eq!(outcomes(&rest), [outcome_of(named, GateOutcome::CannotTell)]);
    }
}

/// A result in doubt decides nothing, however far it is beyond the threshold.
#[test]
fn doubted_result_is_undecided() {
    let text = "[[gate]]\nmetric = \"storage/bandwidth\"\nat_least = \"5.5 GB/s\"";
    let (gates, results) = (parse(text).gates, results());
    let doubt = |it: &MetricEstimate| (it.host != "two").then(|| Phrase::from("one sample"));
    let judged = gate::judge_hosts(&gates, &["one", "two"], &results, &doubt);
    let outcomes: Vec<(&str, GateOutcome)> =
        judged.iter().map(|(host, it)| (*host, it.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("one", GateOutcome::CannotTell),
            ("two", GateOutcome::Passed),
            ("three", GateOutcome::CannotTell)
        ]
    );
    assert!(judged[0].1.reason.to_string().ends_with("; in doubt: one sample"));
}

#[test]
fn data_sheet_applies_to_totals_only_if_named() {
    let limited_hosts = |rest: &str| {
        let text =
            format!("[[limit]]\nmetric = \"storage/bandwidth\"\nvalue = \"7 GB/s\"\n{rest}");
        let limits = parse(&text).limits;
        let limited_results =
            results().into_iter().filter(|it| data_sheet_limit(it, &limits).is_some());
        limited_results.map(|it| it.host).collect::<Vec<_>>()
    };
    assert_eq!(limited_hosts(""), ["one", "two", "three"]);
    assert_eq!(limited_hosts("where = { host = \"all\" }"), ["all"]);
}
