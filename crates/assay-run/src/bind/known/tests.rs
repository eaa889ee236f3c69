//! Tests: which failures are remembered, and which cases they skip.

use assay_model::event::Stopped;
use assay_model::plan::Stopping;
use assay_model::workload::{Direction, Throughput, Workload};

use super::*;

fn work(to: &str, port: Option<u16>) -> NetworkWorkload {
    let question = NetworkQuestion::Throughput(Throughput {
        streams: 1,
        direction: Direction::Send,
        seconds: 1,
        copy: true,
        rate_bit_per_s: None,
        congestion: None,
    });
    NetworkWorkload { to: Some(to.to_owned()), port, question }
}

fn case(id: &str, work: &NetworkWorkload) -> Case {
    let stopping = Stopping { target: 0.02, repetitions: 1, preparations: 1, budget_s: 1.0 };
    let workload = Workload::NetworkTcp(work.clone());
    Case { id: id.to_owned(), by: "assay".to_owned(), workload, stopping, pair: None }
}

fn lacking(what: Lack) -> Result<Stopped, CaseError> {
    Err(CaseError::from(Failure::NoEcho).for_lack_of(what))
}

/// Checks the reason for which a later case to `host` with a need for `what` is skipped, after
/// these outcomes of streams to `a`.
fn check(outcomes: &[Result<Stopped, CaseError>], host: &str, what: Lack, expected: &str) {
    let mut known = Known::default();
    for (index, outcome) in outcomes.iter().enumerate() {
        known.learn(&case(&format!("case {index}"), &work("a", None)), outcome);
    }
    let reported = match known.need(&work(host, None), what) {
        Ok(()) => String::new(),
        Err(CaseError::Skipped { failure: Failure::Skipped { host, lack }, because }) => {
            format!("{host} {lack:?} ({because})")
        }
        Err(other) => panic!("{other:?}"),
    };
    assert_eq!(reported, expected, "{outcomes:?} {host} {what:?}");
}

#[test]
fn what_a_host_lacks_spares_the_cases_that_need_it() {
    let port = Lack::Port(5201);
    let no_address = "a Address (case 0)";
    check(&[lacking(Lack::Address)], "a", Lack::Address, no_address);
    check(&[lacking(Lack::Address)], "b", Lack::Address, "");
    check(&[lacking(port), lacking(port)], "a", port, "a Port(5201) (case 0)");
    check(&[lacking(port)], "a", Lack::Port(19765), "");
    check(&[lacking(Lack::Echo)], "a", Lack::Echo, "a Echo (case 0)");
    check(&[Err(Failure::NoEcho.into())], "a", port, "");
    // iperf3 briefly does not listen between two tests.
    check(&[Ok(Stopped::Precise), lacking(port)], "a", port, "");
}
