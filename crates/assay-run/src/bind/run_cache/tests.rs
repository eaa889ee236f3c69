//! Tests: which failures are remembered, and which cases they skip.

use assay_model::event::StopReason;
use assay_model::plan::StoppingRule;
use assay_model::workload::{NetworkThroughput, Workload};

use super::*;

fn work(to: &str, port: Option<u16>) -> NetworkWorkload {
    let test = NetworkTest::Throughput(NetworkThroughput::sending(1));
    NetworkWorkload { to: Some(to.to_owned()), port, test }
}

fn case(id: &str, work: &NetworkWorkload) -> Case {
    let stopping =
        StoppingRule { target: 0.02, repetitions: 1, preparations: 1, budget_s: 1.0 };
    let workload = Workload::NetworkTcp(work.clone());
    Case::new(id, workload, stopping)
}

fn lacking(what: MissingHostFeature) -> Result<StopReason, CaseError> {
    Err(CaseError::from(FailureReason::NoEcho).with_lack(what))
}

/// Checks the reason for which a later case to `host` with a need for `what` is skipped, after
/// these outcomes of streams to `a`.
fn check(
    outcomes: &[Result<StopReason, CaseError>],
    host: &str,
    what: MissingHostFeature,
    expected: &str,
) {
    let mut known = RunCache::default();
    for (index, outcome) in outcomes.iter().enumerate() {
        known.record_outcome(&case(&format!("case {index}"), &work("a", None)), outcome);
    }
    let reported = match known.require(&work(host, None), what) {
        Ok(()) => String::new(),
        Err(CaseError::Skipped { failure: FailureReason::Skipped { host, lack }, because }) => {
            format!("{host} {lack:?} ({because})")
        }
        Err(other) => panic!("{other:?}"),
    };
    assert_eq!(reported, expected, "{outcomes:?} {host} {what:?}");
}

#[test]
fn skips_cases_that_need_a_missing_service() {
    let port = MissingHostFeature::Port(5201);
    let no_address = "a Address (case 0)";
    check(
        &[lacking(MissingHostFeature::Address)],
        "a",
        MissingHostFeature::Address,
        no_address,
    );
    check(&[lacking(MissingHostFeature::Address)], "b", MissingHostFeature::Address, "");
    check(&[lacking(port), lacking(port)], "a", port, "a Port(5201) (case 0)");
    check(&[lacking(port)], "a", MissingHostFeature::Port(19765), "");
    check(
        &[lacking(MissingHostFeature::Echo)],
        "a",
        MissingHostFeature::Echo,
        "a Echo (case 0)",
    );
    check(&[Err(FailureReason::NoEcho.into())], "a", port, "");
    // iperf3 briefly does not listen between two tests.
    check(&[Ok(StopReason::Precise), lacking(port)], "a", port, "");
}
