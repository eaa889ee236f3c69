//! Turns of a comparison: each applies a condition and measures a run under it, in a given order.
//!
//! What was applied is restored, however the turns end.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::event::TurnPosition;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::run::Run;
use assay_store::Store;

use crate::execution::interleaving::decided_note;
use crate::failure::CommandFailure;
use crate::listener::Listener;

/// Turn to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlannedTurn {
    /// Index of the condition.
    pub(crate) condition: usize,
    /// Number of the block, from 0: a block has neighbouring turns, one of each condition.
    pub(crate) block: u32,
    /// Whether it is an additional run of its condition, as control.
    pub(crate) is_control: bool,
}

/// Turns in their order.
#[derive(Debug)]
pub(crate) struct TurnOrder {
    /// Identifier that all runs share.
    pub(crate) comparison: String,
    /// Seed of the order.
    pub(crate) seed: u64,
    /// Names of the conditions.
    pub(crate) conditions: Vec<String>,
    pub(crate) planned: Vec<PlannedTurn>,
    /// Returns the failure of turns that were interrupted.
    pub(crate) interruption: fn(&TakenTurns) -> CommandFailure,
}

/// Turns that were taken.
#[derive(Debug)]
pub(crate) struct TakenTurns {
    /// Runs of each condition.
    pub(crate) runs: Vec<Vec<Run>>,
    /// Run that an interruption ended, with its condition.
    pub(crate) interrupted: Option<(usize, Run)>,
    /// Number of complete turns.
    pub(crate) count: usize,
    /// Number of all turns of the order.
    pub(crate) planned: usize,
}

/// Store of the runs, the flag that ends the turns, and the listener.
pub(crate) struct TurnSinks<'s> {
    pub(crate) store: &'s Store,
    pub(crate) cancel: &'s AtomicBool,
    pub(crate) listener: &'s mut dyn Listener,
}

/// Where turns are measured.
pub(crate) trait TurnSite {
    /// Applies a condition.
    fn apply(&mut self, condition: usize, to: &mut TurnSinks<'_>)
    -> Result<(), CommandFailure>;

    /// Measures a turn under the applied condition.
    fn measure(
        &mut self,
        condition: usize,
        position: TurnPosition,
        to: &mut TurnSinks<'_>,
    ) -> Result<Run, CommandFailure>;

    /// Whether the runs of so many complete blocks decide the comparison.
    fn is_decided(&self, _blocks: u32, _runs: &[Vec<Run>]) -> bool {
        false
    }

    /// Restores everything that was applied.
    fn restore(
        &mut self,
        is_interrupted: bool,
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure>;
}

/// Takes the turns, and restores what was applied however they end. Returns the runs, and the failure
/// that ended the turns early or left a condition applied.
pub(crate) fn take_turns(
    site: &mut dyn TurnSite,
    order: &TurnOrder,
    mut to: TurnSinks<'_>,
) -> (Vec<Vec<Run>>, Option<CommandFailure>) {
    let mut taken = TakenTurns {
        runs: vec![Vec::new(); order.conditions.len()],
        interrupted: None,
        count: 0,
        planned: order.planned.len(),
    };
    let measured = measure_turns(site, order, &mut taken, &mut to);
    let is_interrupted = to.cancel.load(Ordering::Relaxed);
    // A cancelled command or measurement is no failure of its own.
    let measured = measured.map_err(|failure| match is_interrupted {
        true => (order.interruption)(&taken),
        false => failure,
    });
    let restored = site.restore(is_interrupted, to.listener);
    let failure = match (measured, restored) {
        (Err(first), Err(second)) => {
            to.listener.warn(&format!("error: {second}").into());
            Some(first)
        }
        (measured, restored) => measured.and(restored).err(),
    };
    (taken.runs, failure)
}

fn measure_turns(
    site: &mut dyn TurnSite,
    order: &TurnOrder,
    taken: &mut TakenTurns,
    to: &mut TurnSinks<'_>,
) -> Result<(), CommandFailure> {
    let TurnOrder { comparison, seed, conditions, planned, interruption } = order;
    let drawn =
        phrase!("order", "the order is drawn from `--seed` {seed}", seed = seed.to_string());
    to.listener.note(None, &drawn);
    for (number, turn) in (0..).zip(planned) {
        let PlannedTurn { condition, block, is_control } = *turn;
        let name = phrase!(
            "turn",
            "turn {turn} of {all}: {condition}",
            turn = number + 1,
            all = planned.len(),
            condition = conditions[condition].as_str(),
        );
        let control = is_control.then(|| phrase!("as-control", "once more, as control"));
        to.listener.note(None, &Phrase::list(", ", std::iter::once(name).chain(control)));
        site.apply(condition, to)?;
        let position = TurnPosition {
            is_control,
            ..TurnPosition::new(comparison.clone(), *seed, number, block)
        };
        let run = site.measure(condition, position, to)?;
        if to.cancel.load(Ordering::Relaxed) {
            taken.interrupted = Some((condition, run));
            return Err(interruption(taken));
        }
        taken.runs[condition].push(run);
        taken.count += 1;
        let ends_block = planned.get(taken.count).is_none_or(|next| next.block != block);
        if ends_block && site.is_decided(block + 1, &taken.runs) {
            to.listener.note(None, &decided_note(block + 1));
            break;
        }
    }
    Ok(())
}
