//! Measurement of every combination of the levels of factors, in randomised complete blocks: each
//! block has each combination once, in an order by the seed.
//!
//! Never leaves a level applied whose factor has a `restore`, however the measurement ends. If assay
//! itself is killed, a record in the store tells the next run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_model::event::TurnPosition;
use assay_model::factor::{FactorLevel, fill_placeholders, format_levels};
use assay_model::phrase;
use assay_model::run::Run;
use assay_model::seed;
use assay_model::suite::factorial::{FactorialCase, FactorialSuite};
use assay_stats::compare::LevelRuns;
use assay_store::Store;
use jiff::Timestamp;

use crate::block_order::BlockOrder;
use crate::coordinator::Alone;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::run_request::{self, RunRequest, prepare};
use crate::session::new_run_id;

mod levels;
pub mod on_hosts;

pub use levels::AppliedLevels;

/// Suite with factors, and how its combinations take turns.
#[derive(Debug, Clone, Copy)]
pub struct FactorTurns<'a> {
    /// The suite.
    pub suite: &'a FactorialSuite,
    /// Name of its file, for error messages.
    pub file: &'a str,
    /// Number of blocks.
    pub blocks: u32,
    /// Seed of the order.
    pub seed: u64,
    /// Time to wait after a command, until the change has settled.
    pub settle: Duration,
}

/// Results of all turns.
#[derive(Debug)]
pub struct FactorOutcome {
    /// Runs of each combination.
    pub conditions: Vec<LevelRuns>,
    /// Failure that ended the turns early, or that left a level applied.
    pub failure: Option<CommandFailure>,
}

impl FactorTurns<'_> {
    /// Number of all turns.
    pub fn count(&self) -> u32 {
        self.blocks.saturating_mul(self.suite.combinations.len() as u32)
    }

    /// Time budget of each turn in seconds; `whole_s` is that of all turns [default: that of the
    /// suite].
    pub fn turn_budget_s(&self, whole_s: Option<f64>) -> f64 {
        whole_s.unwrap_or(self.suite.budget_s) / f64::from(self.count().max(1))
    }

    /// Seconds of all turns, and those of it that changes need to settle, without the time of the
    /// commands; `whole_s` as in [`FactorTurns::turn_budget_s`].
    pub fn planned_s(&self, whole_s: Option<f64>) -> (f64, f64) {
        let settling_s = f64::from(self.change_count()) * self.settle.as_secs_f64();
        (f64::from(self.count()) * self.turn_budget_s(whole_s) + settling_s, settling_s)
    }

    /// Number of turns before which a command changes a level.
    fn change_count(&self) -> u32 {
        let lines = |case: &FactorialCase| -> Vec<Option<String>> {
            let commands = self.suite.factors.iter().filter_map(|it| it.apply.as_ref());
            commands.map(|it| fill_placeholders(&it.line, &case.levels).ok()).collect()
        };
        let mut before: Vec<Option<String>> = Vec::new();
        let mut changes = 0;
        for index in self.order().concat() {
            let lines = lines(&self.suite.combinations[index]);
            changes += u32::from(lines != before);
            before = lines;
        }
        changes
    }

    /// Returns the request for one combination.
    pub fn request<'r>(
        &self,
        request: &RunRequest<'r>,
        case: &'r FactorialCase,
    ) -> RunRequest<'r> {
        RunRequest {
            suite: &case.suite,
            budget_s: Some(self.turn_budget_s(request.budget_s)),
            ..request.clone()
        }
    }

    /// Checks that every combination can be measured on this machine.
    ///
    /// # Errors
    /// The failure of the first combination that cannot, with its levels.
    pub fn check(&self, request: &RunRequest<'_>) -> Result<(), CommandFailure> {
        for case in &self.suite.combinations {
            prepare(&self.request(request, case)).map_err(|failure| {
                failure.with_reason(format!("with {}", format_levels(&case.levels)))
            })?;
        }
        Ok(())
    }

    /// Returns the index of the combination of every turn, block by block.
    fn order(&self) -> Vec<Vec<usize>> {
        let mut order = BlockOrder::from_seed(self.seed);
        let mut members: Vec<usize> = (0..self.suite.combinations.len()).collect();
        let block = |_| {
            order.arrange(&mut members);
            members.clone()
        };
        (0..self.blocks).map(block).collect()
    }
}

/// Measures all combinations on this machine and stores every run. Restores the factors, also after a
/// failure and an interruption.
///
/// # Errors
/// If a combination is impossible; nothing was applied then.
pub fn measure(
    request: &RunRequest<'_>,
    turns: &FactorTurns<'_>,
    (store, cancel): (&Store, &AtomicBool),
    listener: &mut dyn Listener,
) -> Result<FactorOutcome, CommandFailure> {
    turns.check(request)?;
    let comparison = new_run_id(Timestamp::now());
    let factors = turns.suite.factors.clone();
    let applied = AppliedLevels::new(factors, turns.settle, (store.clone(), &comparison));
    let applied = applied.with_source(turns.file, &turns.suite.text);
    let mut site = LocalSite { request, turns, applied };
    Ok(take_turns(&mut site, (turns, &comparison), (store, cancel), listener))
}

/// Where turns are measured.
trait TurnSite {
    /// Applies the levels of a combination.
    fn apply(
        &mut self,
        case: &FactorialCase,
        cancel: &AtomicBool,
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure>;

    /// Measures a turn under the applied levels.
    fn measure(
        &mut self,
        case: &FactorialCase,
        position: TurnPosition,
        sinks: (&Store, &AtomicBool),
        listener: &mut dyn Listener,
    ) -> Result<Run, CommandFailure>;

    /// Restores everything that was applied.
    fn restore(
        &mut self,
        is_interrupted: bool,
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure>;
}

/// This machine.
struct LocalSite<'a, 'q> {
    request: &'a RunRequest<'q>,
    turns: &'a FactorTurns<'a>,
    applied: AppliedLevels,
}

impl TurnSite for LocalSite<'_, '_> {
    fn apply(
        &mut self,
        case: &FactorialCase,
        cancel: &AtomicBool,
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure> {
        self.applied.apply(&case.levels, cancel, listener)
    }

    fn measure(
        &mut self,
        case: &FactorialCase,
        position: TurnPosition,
        (store, cancel): (&Store, &AtomicBool),
        listener: &mut dyn Listener,
    ) -> Result<Run, CommandFailure> {
        let label = turn_label(self.request.label, &case.levels);
        let asked = self.turns.request(self.request, case);
        let number = u64::from(position.number);
        let seed = asked.seed.map(|seed| seed::derive_seed(seed, number));
        let asked = RunRequest { label: Some(&label), turn: Some(position), seed, ..asked };
        let prepared = prepare(&asked)?;
        let alone = Box::new(Alone);
        let measured =
            run_request::measure(&asked, prepared, Some(store), cancel, listener, alone)?;
        measured.without_files()
    }

    fn restore(
        &mut self,
        is_interrupted: bool,
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure> {
        self.applied.restore(is_interrupted, listener)
    }
}

/// Returns the label of a turn: the user's, and the levels.
fn turn_label(label: Option<&str>, levels: &[FactorLevel]) -> String {
    let own = format_levels(levels);
    label.map_or_else(|| own.clone(), |it| format!("{it} {own}"))
}

/// Takes all turns, and restores the factors however they end.
fn take_turns(
    site: &mut dyn TurnSite,
    (turns, comparison): (&FactorTurns<'_>, &str),
    (store, cancel): (&Store, &AtomicBool),
    listener: &mut dyn Listener,
) -> FactorOutcome {
    let empty = |case: &FactorialCase| LevelRuns {
        levels: case.levels.clone(),
        runs: Vec::new(),
        are_stored: true,
    };
    let mut conditions: Vec<LevelRuns> = turns.suite.combinations.iter().map(empty).collect();
    let mut course = TurnCourse { turns, comparison, conditions: &mut conditions, number: 0 };
    let measured = course.measure(site, (store, cancel), listener);
    let restored = site.restore(cancel.load(Ordering::Relaxed), listener);
    let failure = match (measured, restored) {
        (Err(first), Err(second)) => {
            listener.warn(&format!("error: {second}").into());
            Some(first)
        }
        (measured, restored) => measured.and(restored).err(),
    };
    FactorOutcome { conditions, failure }
}

/// Turns that are being taken.
struct TurnCourse<'a> {
    turns: &'a FactorTurns<'a>,
    /// Identifier that all turns share.
    comparison: &'a str,
    conditions: &'a mut [LevelRuns],
    /// Number of turns measured.
    number: u32,
}

impl TurnCourse<'_> {
    fn measure(
        &mut self,
        site: &mut dyn TurnSite,
        (store, cancel): (&Store, &AtomicBool),
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure> {
        let seed = self.turns.seed.to_string();
        listener.note(
            None,
            &phrase!("order", "the order is drawn from `--seed` {seed}", seed = seed),
        );
        for (block, members) in (0..).zip(self.turns.order()) {
            for index in members {
                let case = &self.turns.suite.combinations[index];
                let name = format_levels(&case.levels);
                let turn = phrase!(
                    "turn",
                    "turn {turn} of {all}: {condition}",
                    turn = self.number + 1,
                    all = self.turns.count(),
                    condition = name,
                );
                listener.note(None, &turn);
                // A cancelled command or measurement is no failure of its own.
                let ended = |failure| match cancel.load(Ordering::Relaxed) {
                    true => self.interrupted(),
                    false => failure,
                };
                site.apply(case, cancel, listener).map_err(ended)?;
                let position = self.position(block, (index, &case.levels));
                let run = site.measure(case, position, (store, cancel), listener);
                let run = run.map_err(ended)?;
                if cancel.load(Ordering::Relaxed) {
                    return Err(self.interrupted());
                }
                self.conditions[index].runs.push(run);
                self.number += 1;
            }
        }
        Ok(())
    }

    fn position(
        &self,
        block: u32,
        (combination, levels): (usize, &[FactorLevel]),
    ) -> TurnPosition {
        TurnPosition {
            levels: levels.to_vec(),
            combination: u32::try_from(combination).ok(),
            ..TurnPosition::new(self.comparison.to_owned(), self.turns.seed, self.number, block)
        }
    }

    fn interrupted(&self) -> CommandFailure {
        let done = self.conditions.iter().map(|it| it.runs.len()).sum::<usize>();
        CommandFailure::measurement("the measurement of the factors was interrupted")
            .with_reason(format!("{done} of {} turns were measured", self.turns.count()))
            .advise("their runs are kept; `assay list` shows them with their levels")
    }
}

#[cfg(test)]
mod tests;
