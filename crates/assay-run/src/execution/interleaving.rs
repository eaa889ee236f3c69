//! Interleaves cases, preparation by preparation: first to last, then last to first. A burst of
//! foreign load then affects a part of each case, not all of one. A host that becomes faster or
//! slower favours none of them. The forecast decides which case is the first.
//!
//! Every case keeps its own time, stopping rule and samples; only the use of the machine
//! alternates.

use std::cell::RefCell;

use assay_model::event::StopReason;
use assay_model::facts::HostFacts;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::Case;
use assay_model::run::Run;
use assay_model::workload::Workload;
use assay_stats::compare::are_programs_decided;
use assay_stats::looks;

use super::{CasesContext, CasesEnd, end_case, keep_interrupted};
use crate::bind;
use crate::block_order::BlockOrder;
use crate::failure::CommandFailure;
use crate::measurement_loop::Turns;
use crate::recorder::{CaseError, CaseState};
use crate::session::Session;
use crate::tools::Tools;

/// Groups neighbouring cases that may take turns; every other case is a group of its own. The order
/// is kept.
///
/// - Cases of memory and processors are not mixed with those of the network, nor with programs.
/// - A pair of hosts is interleaved only with itself; its next workload follows when all pairs have
///   measured this one.
/// - MPI ranks fill a machine with processes: their cases are mixed only with the same test by
///   another MPI.
pub(super) fn group_cases<'a>(
    cases: &'a [Case],
    host: &HostFacts,
    tools: &Tools,
    known: &RefCell<bind::RunCache>,
) -> impl Iterator<Item = &'a [Case]> {
    let has_turns = move |case: &Case| bind::turns(case, host, tools, known).is_some();
    cases.chunk_by(move |a, b| {
        a.pair == b.pair
            && [a, b].into_iter().all(has_turns)
            && match (a.workload.as_mpi(), b.workload.as_mpi()) {
                (Some(a), Some(b)) => {
                    a.test == b.test && a.placement == b.placement && a.ranks == b.ranks
                }
                (None, None) => turn_kind(&a.workload) == turn_kind(&b.workload),
                (Some(_), None) | (None, Some(_)) => false,
            }
    })
}

/// Note that a comparison ends before its last block.
pub(crate) fn decided_note(blocks: u32) -> Phrase {
    phrase!(
        "decided-early",
        "decided after {blocks} blocks; the looks after each block are part of the error",
        blocks = blocks,
    )
}

/// Returns whether a workload uses the network, and whether it is a program of the user.
fn turn_kind(workload: &Workload) -> (bool, bool) {
    let uses_network = workload.as_rdma().is_some() || workload.as_network().is_some();
    (uses_network, workload.as_command().is_some())
}

/// Case that has not ended.
struct OpenCase<'c> {
    case: &'c Case,
    state: CaseState,
    turns: Turns<'c>,
}

/// Runs turns until every case has ended.
pub(super) fn measure(
    cases: &[Case],
    run: &CasesContext<'_>,
    session: &mut Session<'_>,
) -> Result<CasesEnd, CommandFailure> {
    let CasesContext { execution, known, .. } = *run;
    let mut open: Vec<OpenCase<'_>> = Vec::new();
    for case in cases {
        session.start_case(&case.id)?;
        let state = CaseState::new(case, &execution.host.name);
        open.extend(
            bind::turns(case, &execution.host, execution.tools, known).map(|turns| OpenCase {
                case,
                state,
                turns,
            }),
        );
    }
    open.sort_by_cached_key(|it| known.borrow().forecast.place(&it.case.id));
    let mut order = BlockOrder::new(cases, execution.plan.seed);
    order.arrange(&mut open);
    for turn in 1_u32.. {
        let mut left = Vec::new();
        let mut waiting = open.into_iter();
        while let Some(mut present) = waiting.next() {
            let outcome = run_turn(&mut present, turn, run, session)?;
            if cases.len() == 1 && !matches!(outcome, Ok(None)) {
                session.record_pauses(Some(&present.case.id))?;
            }
            match outcome {
                Ok(None) => left.push(present),
                Err(CaseError::Interrupted) => {
                    let begun = left.into_iter().chain([present]).chain(waiting);
                    return keep_all(begun, session);
                }
                Ok(Some(stopped)) => {
                    end_case(present.case, Ok(stopped), &mut present.state, session)?;
                }
                Err(failure) => {
                    end_case(present.case, Err(failure), &mut present.state, session)?;
                }
            }
        }
        if left.is_empty() {
            break;
        }
        if left.len() == cases.len() && are_decided(cases, turn, session.log.run_so_far()) {
            session.log.note(None, &decided_note(turn));
            for OpenCase { case, mut state, .. } in left {
                end_case(case, Ok(StopReason::Decided), &mut state, session)?;
            }
            break;
        }
        order.arrange(&mut left);
        open = left;
    }
    Ok(CasesEnd::Whole)
}

/// Runs a turn of a case, if the run has time for it; returns the stop reason of its last one.
fn run_turn(
    present: &mut OpenCase<'_>,
    turn: u32,
    run: &CasesContext<'_>,
    session: &mut Session<'_>,
) -> Result<Result<Option<StopReason>, CaseError>, CommandFailure> {
    let CasesContext { execution, known, deadline } = *run;
    let OpenCase { case, state, turns } = present;
    let case = *case;
    if turn == 1 {
        super::warn_of_case(case, session);
    }
    let place = phrase!("preparation", "preparation {n}", n = turn.to_string());
    session.log.progress(&Phrase::list(", ", [case.id.as_str().into(), place]));
    if let Some(words) = known.borrow_mut().forecast.check_budget(session.elapsed_s()) {
        session.log.warn(&words);
    }
    if let Some(stopped) = run.grant_turn(case, state, session) {
        known.borrow_mut().forecast.record_end(&case.id);
        return Ok(Ok(Some(stopped)));
    }
    session.begin_turn(case);
    let mut recorder = session.recorder(state, execution.cancel).with_deadline(deadline);
    let outcome = turns(&mut recorder);
    let spent_s = recorder.elapsed_s();
    recorder.end_turn();
    session.end_turn(&case.id);
    let outcome = run.end_turn((case, state), outcome, session)?;
    let mut learning = known.borrow_mut();
    match &outcome {
        Ok(Some(StopReason::Cut)) => learning.forecast.record_cut(&case.id, spent_s),
        Err(_) => learning.forecast.record_end(&case.id),
        Ok(stopped) => learning.forecast.record_turn(&case.id, spent_s, stopped.is_some()),
    }
    learning.record_outcome(case, &outcome);
    Ok(outcome)
}

/// Looks after a block whether the programs are decided, if their comparison may end early.
fn are_decided(cases: &[Case], blocks: u32, run: &Run) -> bool {
    let margin = |case: &Case| case.workload.as_command()?.decided_by_margin;
    cases.first().and_then(margin).is_some_and(|margin| {
        looks::is_early_look(blocks as usize) && are_programs_decided(run, margin)
    })
}

/// Keeps the results of all cases that had begun.
fn keep_all<'c>(
    begun: impl Iterator<Item = OpenCase<'c>>,
    session: &mut Session<'_>,
) -> Result<CasesEnd, CommandFailure> {
    for OpenCase { case, mut state, .. } in begun {
        keep_interrupted(case, &mut state, session)?;
    }
    Ok(CasesEnd::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use assay_model::benchmark::RdmaTest;
    use assay_model::plan::{CasePair, StoppingRule};
    use assay_model::workload::{
        LatencyWorkload, NetworkTest, NetworkThroughput, NetworkWorkload, RdmaWorkload,
    };

    use super::*;

    /// Checks that memory shares no turns with the network, and that all network cases share
    /// theirs.
    #[test]
    fn groups_neighbours_of_one_kind() {
        let streams = |streams| {
            let test = NetworkTest::Throughput(NetworkThroughput {
                streams,
                ..NetworkThroughput::sending(1)
            });
            NetworkWorkload { to: None, port: None, test }
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
        let case = |workload| Case::new("", workload, stopping);
        let cases: Vec<Case> = workloads.into_iter().map(case).collect();
        let known = RefCell::default();
        // Any existing program serves as perftest's; its version is not queried.
        let given = [("ib_send_lat".to_owned(), PathBuf::from("/bin/true"))];
        let tools = Tools::find(&given, &|_| false).unwrap();
        let lengths = |cases: &[Case]| {
            group_cases(cases, &HostFacts::default(), &tools, &known)
                .map(<[_]>::len)
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(&cases), [2, 3, 1]);
        let test =
            || Workload::Rdma(RdmaWorkload::perftest_default(RdmaTest::SendLatency, None));
        let perftest = Case { by: "ib_send_lat".to_owned(), ..case(test()) };
        let both = [case(test()), perftest, case(test())];
        assert_eq!(lengths(&both), [3], "assay and perftest");
        let pair = CasePair::new("b");
        let [own, perftest, next] = both;
        let of_pair =
            |case: &Case, pair: &CasePair| Case { pair: Some(pair.clone()), ..case.clone() };
        let second = CasePair { round: 1, peer: "c".to_owned(), ..pair.clone() };
        let other = CasePair { workload_number: 1, ..pair.clone() };
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
