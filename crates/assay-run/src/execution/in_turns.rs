//! The same workload under several MPIs, alternating launch by launch: first to last, then last to first, so
//! that drift of the host favours none of them.
//!
//! Every case keeps its own time, stopping rule and samples; only who has the machine changes.

use assay_model::event::{RunEvent, Status};
use assay_model::plan::Case;

use super::{Execution, end};
use crate::bind;
use crate::failure::Failure;
use crate::log::Log;
use crate::recorder::{CaseState, Recorder};
use crate::tools::Tools;

/// Neighbours that ask the same of different MPIs together, all other cases alone, in their order.
pub(super) fn groups<'a>(cases: &'a [Case], tools: &Tools) -> impl Iterator<Item = &'a [Case]> {
    cases.chunk_by(|a, b| match (bind::in_turns(a, tools), bind::in_turns(b, tools)) {
        (Some(a), Some(b)) => {
            a.test == b.test && a.placement == b.placement && a.ranks == b.ranks
        }
        _ => false,
    })
}

/// Turns until every case has ended.
pub(super) fn measure(
    cases: &[Case],
    execution: &Execution<'_>,
    log: &mut Log<'_>,
    started_ns: u64,
) -> Result<Status, Failure> {
    let mut open: Vec<(&Case, CaseState)> = Vec::new();
    for case in cases {
        log.add(RunEvent::CaseStarted { case: case.id.clone() })?;
        open.push((case, CaseState::new(case, &execution.host.name)));
    }
    let mut status = Status::Complete;
    for turn in 0.. {
        let mut left = Vec::new();
        for (case, mut state) in open {
            let Some(work) = bind::in_turns(case, execution.tools) else { continue };
            log.progress(&format!("{}, launch {}", case.id, turn + 1));
            let mut recorder = Recorder::new(&mut state, log, execution.cancel, started_ns);
            let outcome = bind::turn(case, work, turn, &mut recorder);
            recorder.pause();
            let ended = match outcome.transpose() {
                None => {
                    left.push((case, state));
                    continue;
                }
                Some(outcome) => end(case, outcome, log)?,
            };
            match ended {
                Status::Interrupted => return Ok(ended),
                Status::Complete => {}
                other => status = other,
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
