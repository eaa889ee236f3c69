//! Interleaves cases, preparation by preparation: first to last, then last to first. A burst of
//! foreign load then affects a part of each case, not all of one. A host that becomes faster or
//! slower favours none of them.
//!
//! Every case keeps its own time, stopping rule and samples; only the use of the machine
//! alternates.

use std::cell::RefCell;

use assay_kernels::clock;
use assay_model::event::{RunEvent, RunStatus};
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::Case;
use assay_model::workload::{MpiWorkload, Workload};

use super::{Execution, end, keep};
use crate::bind;
use crate::failure::Failure;
use crate::log::Log;
use crate::measuring::Turns;
use crate::recorder::{CaseError, CaseState, Recorder};
use crate::tools::Tools;

/// Groups neighbouring cases that may take turns; every other case is a group of its own. The order
/// is kept.
///
/// - Cases of memory and processors are not mixed with those of the network.
/// - A pair of hosts is interleaved only with itself; its next workload follows when all pairs have
///   measured this one.
/// - MPI ranks fill a machine with processes: their cases are mixed only with the same test by
///   another MPI.
pub(super) fn groups<'a>(
    cases: &'a [Case],
    tools: &Tools,
    known: &RefCell<bind::Known>,
) -> impl Iterator<Item = &'a [Case]> {
    let has_turns = move |case: &Case| bind::turns(case, tools, known).is_some();
    cases.chunk_by(move |a, b| {
        a.pair == b.pair
            && [a, b].into_iter().all(has_turns)
            && match (of_mpi(a), of_mpi(b)) {
                (Some(a), Some(b)) => {
                    a.test == b.test && a.placement == b.placement && a.ranks == b.ranks
                }
                (None, None) => goes_out(&a.workload) == goes_out(&b.workload),
                (Some(_), None) | (None, Some(_)) => false,
            }
    })
}

const fn of_mpi(case: &Case) -> Option<&MpiWorkload> {
    if let Workload::Mpi(work) = &case.workload { Some(work) } else { None }
}

fn goes_out(workload: &Workload) -> bool {
    matches!(workload, Workload::Rdma(_)) || workload.as_network().is_some()
}

/// Case that has not ended.
struct Open<'c> {
    case: &'c Case,
    state: CaseState,
    turns: Turns<'c>,
}

/// Runs turns until every case has ended.
pub(super) fn measure(
    cases: &[Case],
    execution: &Execution<'_>,
    known: &RefCell<bind::Known>,
    log: &mut Log<'_>,
    started_ns: u64,
) -> Result<RunStatus, Failure> {
    let mut open: Vec<Open<'_>> = Vec::new();
    for case in cases {
        log.add(RunEvent::CaseStarted { case: case.id.clone() })?;
        let state = CaseState::new(case, &execution.host.name);
        open.extend(bind::turns(case, execution.tools, known).map(|turns| Open {
            case,
            state,
            turns,
        }));
    }
    let mut status = RunStatus::Complete;
    for turn in 1.. {
        let mut left = Vec::new();
        let mut waiting = open.into_iter();
        while let Some(mut present) = waiting.next() {
            let name = present.case.id.as_str();
            let turn = phrase!("preparation", "preparation {n}", n = turn.to_string());
            log.progress(&Phrase::list(", ", [name.into(), turn]));
            let elapsed_s = clock::seconds_between(started_ns, clock::now_ns());
            if let Some(words) = known.borrow_mut().outlook.look(elapsed_s) {
                log.warn(&words);
            }
            let state = &mut present.state;
            let mut recorder = Recorder::new(state, log, execution.cancel, started_ns);
            let outcome = (present.turns)(&mut recorder);
            let spent_s = recorder.elapsed_s();
            recorder.pause();
            let is_over = !matches!(outcome, Ok(None));
            let mut learning = known.borrow_mut();
            learning.outlook.has_spent(&present.case.id, spent_s, is_over);
            learning.learn(present.case, &outcome);
            drop(learning);
            match outcome.transpose() {
                None => left.push(present),
                Some(Err(CaseError::Interrupted)) => {
                    let begun = left.into_iter().chain([present]).chain(waiting);
                    return interrupted(begun, log);
                }
                Some(outcome) => match end(present.case, outcome, &mut present.state, log)? {
                    RunStatus::Complete => {}
                    other => status = other,
                },
            }
        }
        if left.is_empty() {
            break;
        }
        left.reverse();
        open = left;
    }
    Ok(status)
}

/// Keeps the results of all cases that had begun.
fn interrupted<'c>(
    begun: impl Iterator<Item = Open<'c>>,
    log: &mut Log<'_>,
) -> Result<RunStatus, Failure> {
    for Open { case, mut state, .. } in begun {
        keep(case, &mut state, log)?;
    }
    Ok(RunStatus::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use assay_model::benchmark::RdmaTest;
    use assay_model::plan::{CasePair, StoppingRule};
    use assay_model::workload::{
        LatencyWorkload, NetworkTest, NetworkThroughput, NetworkWorkload, RdmaDevice,
        RdmaWorkload, TransferDirection,
    };

    use super::*;

    /// Checks that memory shares no turns with the network, and that all network cases share
    /// theirs.
    #[test]
    fn neighbours_of_a_kind_take_turns() {
        let streams = |streams| {
            let question = NetworkTest::Throughput(NetworkThroughput {
                streams,
                direction: TransferDirection::Send,
                seconds: 1,
                copy: true,
                rate_bit_per_s: None,
                congestion: None,
            });
            NetworkWorkload { to: None, port: None, question }
        };
        let latency =
            |bytes| Workload::Latency(LatencyWorkload { cpu: 0, bytes, line_bytes: 64 });
        let workloads = [
            latency(4096),
            latency(8192),
            Workload::NetworkTcp(streams(1)),
            Workload::NetworkTcp(streams(2)),
            Workload::NetworkUdp(streams(1)),
            latency(16384),
        ];
        let stopping =
            StoppingRule { target: 0.01, repetitions: 3, preparations: 3, budget_s: 1.0 };
        let case = |workload| Case {
            id: String::new(),
            by: "assay".to_owned(),
            workload,
            stopping,
            pair: None,
        };
        let cases: Vec<Case> = workloads.into_iter().map(case).collect();
        let known = RefCell::default();
        // Any existing program serves as perftest's; its version is not queried.
        let given = [("ib_send_lat".to_owned(), PathBuf::from("/bin/true"))];
        let tools = Tools::find(&given, &|_| false).unwrap();
        let lengths =
            |cases: &[Case]| groups(cases, &tools, &known).map(<[_]>::len).collect::<Vec<_>>();
        assert_eq!(lengths(&cases), [2, 3, 1]);
        let test =
            || Workload::Rdma(RdmaWorkload::perftest_default(RdmaTest::SendLatency, None));
        let perftest = Case { by: "ib_send_lat".to_owned(), ..case(test()) };
        let both = [case(test()), perftest, case(test())];
        assert_eq!(lengths(&both), [3], "assay and perftest");
        let pair = CasePair {
            peer: "b".to_owned(),
            address: None,
            question: 0,
            round: 0,
            together: 1,
            own: RdmaDevice::default(),
            far: RdmaDevice::default(),
        };
        let [own, perftest, next] = both;
        let of_pair =
            |case: &Case, pair: &CasePair| Case { pair: Some(pair.clone()), ..case.clone() };
        let second = CasePair { round: 1, peer: "c".to_owned(), ..pair.clone() };
        let other = CasePair { question: 1, ..pair.clone() };
        let of_pairs = [
            of_pair(&own, &pair),
            of_pair(&perftest, &pair),
            of_pair(&own, &second),
            of_pair(&perftest, &second),
            of_pair(&next, &other),
        ];
        assert_eq!(lengths(&of_pairs), [2, 2, 1], "a pair has its hosts to itself");
    }
}
