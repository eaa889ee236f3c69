//! Measurement of every combination of the levels of factors, in randomised complete blocks: each
//! block has each combination once, in an order by the seed.
//!
//! Never leaves a level applied whose factor has a `restore`, however the measurement ends. If assay
//! itself is killed, a record in the store tells the next run.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_model::event::TurnPosition;
use assay_model::factor::{FactorLevel, fill_placeholders, format_levels};
use assay_model::run::Run;
use assay_model::suite::factorial::{FactorialCase, FactorialSuite};
use assay_stats::compare::LevelRuns;
use assay_store::Store;
use jiff::Timestamp;

use crate::block_order::BlockOrder;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::run_request::{self, RunRequest, prepare};
use crate::session::new_run_id;
use crate::turns::{PlannedTurn, TakenTurns, TurnOrder, TurnSinks, TurnSite, take_turns};

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
        for turn in self.planned() {
            let lines = lines(&self.suite.combinations[turn.condition]);
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

    /// Returns the order of all turns, under a new identifier.
    fn order(&self) -> TurnOrder {
        let combinations = self.suite.combinations.iter();
        TurnOrder {
            comparison: new_run_id(Timestamp::now()),
            seed: self.seed,
            conditions: combinations.map(|case| format_levels(&case.levels)).collect(),
            planned: self.planned(),
            interruption,
        }
    }

    /// Returns all turns, block by block.
    fn planned(&self) -> Vec<PlannedTurn> {
        let mut order = BlockOrder::from_seed(self.seed);
        let mut members: Vec<usize> = (0..self.suite.combinations.len()).collect();
        let block = |block| {
            order.arrange(&mut members);
            let turn = |condition: &usize| PlannedTurn {
                condition: *condition,
                block,
                is_control: false,
            };
            members.iter().map(turn).collect::<Vec<_>>()
        };
        (0..self.blocks).flat_map(block).collect()
    }

    /// Returns the position of a turn with its levels.
    fn position(&self, combination: usize, position: TurnPosition) -> TurnPosition {
        TurnPosition {
            levels: self.suite.combinations[combination].levels.clone(),
            combination: u32::try_from(combination).ok(),
            ..position
        }
    }
}

fn interruption(taken: &TakenTurns) -> CommandFailure {
    CommandFailure::measurement("the measurement of the factors was interrupted")
        .with_reason(format!("{} of {} turns were measured", taken.count, taken.planned))
        .advise("their runs are kept; `assay list` shows them with their levels")
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
    let order = turns.order();
    let factors = turns.suite.factors.clone();
    let applied = AppliedLevels::new(factors, turns.settle, (store.clone(), &order.comparison));
    let applied = applied.with_source(turns.file, &turns.suite.text);
    let mut site = LocalSite { request, turns, applied };
    Ok(FactorOutcome::new(
        turns,
        take_turns(&mut site, &order, TurnSinks { store, cancel, listener }),
    ))
}

impl FactorOutcome {
    fn new(
        turns: &FactorTurns<'_>,
        (runs, failure): (Vec<Vec<Run>>, Option<CommandFailure>),
    ) -> Self {
        let with_levels = |(case, runs): (&FactorialCase, Vec<Run>)| LevelRuns {
            levels: case.levels.clone(),
            runs,
            are_stored: true,
        };
        let combinations = turns.suite.combinations.iter().zip(runs);
        Self { conditions: combinations.map(with_levels).collect(), failure }
    }
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
        condition: usize,
        to: &mut TurnSinks<'_>,
    ) -> Result<(), CommandFailure> {
        let case = &self.turns.suite.combinations[condition];
        self.applied.apply(&case.levels, to.cancel, to.listener)
    }

    fn measure(
        &mut self,
        condition: usize,
        position: TurnPosition,
        to: &mut TurnSinks<'_>,
    ) -> Result<Run, CommandFailure> {
        let case = &self.turns.suite.combinations[condition];
        let label = turn_label(self.request.label, &case.levels);
        let position = self.turns.position(condition, position);
        let asked =
            RunRequest { label: Some(&label), ..self.turns.request(self.request, case) };
        run_request::measure_turn(&asked, position, to)
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

#[cfg(test)]
mod tests;
