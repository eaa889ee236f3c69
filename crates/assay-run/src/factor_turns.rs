//! Measurement of every combination of the levels of factors, in randomised complete blocks: each
//! block has each combination once, in an order by the seed.
//!
//! Never leaves a level applied whose factor has a `restore`, however the measurement ends. If assay
//! itself is killed, a record in the store tells the next run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_model::event::TurnPosition;
use assay_model::factor::{FactorLevel, format_levels};
use assay_model::phrase;
use assay_model::seed;
use assay_model::suite::factorial::{FactorialCase, FactorialSuite};
use assay_stats::compare::LevelRuns;
use assay_store::Store;
use jiff::Timestamp;

use self::levels::AppliedLevels;
use crate::block_order::BlockOrder;
use crate::coordinator::Alone;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::run_request::{self, RunRequest, prepare};
use crate::session::new_run_id;

mod levels;
mod restore_record;

pub use restore_record::report_unrestored;

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
    #[must_use]
    pub fn count(&self) -> u32 {
        self.blocks.saturating_mul(self.suite.combinations.len() as u32)
    }

    /// Time budget of each turn in seconds; `whole_s` is that of all turns [default: that of the
    /// suite].
    #[must_use]
    pub fn turn_budget_s(&self, whole_s: Option<f64>) -> f64 {
        whole_s.unwrap_or(self.suite.budget_s) / f64::from(self.count().max(1))
    }

    /// Returns the request for one combination.
    #[must_use]
    pub fn request<'r>(
        &self,
        question: &RunRequest<'r>,
        case: &'r FactorialCase,
    ) -> RunRequest<'r> {
        RunRequest {
            suite: &case.suite,
            budget_s: Some(self.turn_budget_s(question.budget_s)),
            ..question.clone()
        }
    }

    /// Checks that every combination can be measured on this machine.
    ///
    /// # Errors
    /// The failure of the first combination that cannot, with its levels.
    pub fn check(&self, question: &RunRequest<'_>) -> Result<(), CommandFailure> {
        for case in &self.suite.combinations {
            prepare(&self.request(question, case)).map_err(|failure| {
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

/// Measures all combinations and stores every run. Restores what was applied, also after a failure
/// and an interruption.
///
/// # Errors
/// If a combination is impossible; nothing was applied then.
pub fn measure(
    question: &RunRequest<'_>,
    turns: &FactorTurns<'_>,
    (store, cancel): (&Store, &AtomicBool),
    listener: &mut dyn Listener,
) -> Result<FactorOutcome, CommandFailure> {
    turns.check(question)?;
    let empty = |case: &FactorialCase| LevelRuns {
        levels: case.levels.clone(),
        runs: Vec::new(),
        are_stored: true,
    };
    let mut conditions: Vec<LevelRuns> = turns.suite.combinations.iter().map(empty).collect();
    let comparison = new_run_id(Timestamp::now());
    let mut applied = AppliedLevels::new(turns, store, &comparison);
    let mut course = TurnCourse {
        question,
        turns,
        comparison: &comparison,
        conditions: &mut conditions,
        number: 0,
    };
    let measured = course.measure(&mut applied, (store, cancel), listener);
    let restored = applied.restore(cancel.load(Ordering::Relaxed), listener);
    let failure = match (measured, restored) {
        (Err(first), Err(second)) => {
            listener.warn(&format!("error: {second}").into());
            Some(first)
        }
        (measured, restored) => measured.and(restored).err(),
    };
    Ok(FactorOutcome { conditions, failure })
}

/// Turns that are being taken.
struct TurnCourse<'a, 'q> {
    question: &'a RunRequest<'q>,
    turns: &'a FactorTurns<'a>,
    /// Identifier that all turns share.
    comparison: &'a str,
    conditions: &'a mut [LevelRuns],
    /// Number of turns measured.
    number: u32,
}

impl TurnCourse<'_, '_> {
    fn measure(
        &mut self,
        applied: &mut AppliedLevels<'_>,
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
                // A cancelled command is no failure of its own.
                applied.apply(&case.levels, cancel, listener).map_err(
                    |failure| match cancel.load(Ordering::Relaxed) {
                        true => self.interrupted(),
                        false => failure,
                    },
                )?;
                let position = self.position(block, &case.levels);
                let run = self.measure_turn(case, position, (store, cancel), listener)?;
                if cancel.load(Ordering::Relaxed) {
                    return Err(self.interrupted());
                }
                self.conditions[index].runs.push(run);
                self.number += 1;
            }
        }
        Ok(())
    }

    fn position(&self, block: u32, levels: &[FactorLevel]) -> TurnPosition {
        TurnPosition {
            comparison: self.comparison.to_owned(),
            seed: self.turns.seed,
            number: self.number,
            block,
            is_control: false,
            has_looks: false,
            levels: levels.to_vec(),
        }
    }

    fn measure_turn(
        &self,
        case: &FactorialCase,
        position: TurnPosition,
        (store, cancel): (&Store, &AtomicBool),
        listener: &mut dyn Listener,
    ) -> Result<assay_model::run::Run, CommandFailure> {
        let own = format_levels(&case.levels);
        let label = self.question.label.map_or_else(|| own.clone(), |it| format!("{it} {own}"));
        let asked = self.turns.request(self.question, case);
        let seed = asked.seed.map(|seed| seed::derive_seed(seed, u64::from(self.number)));
        let asked = RunRequest { label: Some(&label), turn: Some(position), seed, ..asked };
        let prepared = prepare(&asked)?;
        let measured = run_request::measure(
            &asked,
            prepared,
            Some(store),
            cancel,
            listener,
            Box::new(Alone),
        )?;
        measured.without_files()
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
