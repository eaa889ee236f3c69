//! Alternating measurement of two conditions: switches between them with the user's commands, and
//! measures each several times.
//!
//! Never leaves the machine in the second condition: the command of the first one always runs last.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_model::event::TurnPosition;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::run::Run;
use assay_stats::compare::{Condition, compare};
use assay_stats::looks;
use assay_store::Store;
use jiff::Timestamp;

use crate::block_order::BlockOrder;
use crate::cancellable_wait;
use crate::condition_command;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::run_request::{self, RunRequest, prepare};
use crate::session::new_run_id;
use crate::turns::{PlannedTurn, TakenTurns, TurnOrder, TurnSinks, TurnSite, take_turns};

/// Condition with its name and the command that establishes it.
#[derive(Debug)]
pub struct SwitchCommand {
    pub name: String,
    command: String,
}

/// Pairs two commands with their names, `A` and `B` by default.
pub fn pair_conditions(
    commands: &[String],
    names: &[String],
) -> Result<[SwitchCommand; 2], CommandFailure> {
    let names: [&str; 2] = match names {
        [] => ["A", "B"],
        [a, b] if a != b => [a, b],
        _ => {
            return Err(CommandFailure::usage(
                "--label with --switch expects two different names",
            )
            .advise("use --label on,off, in the order of the commands"));
        }
    };
    let [first, second] = commands else {
        return Err(CommandFailure::usage("--switch expects two commands"));
    };
    let switch = |name: &str, command: &String| SwitchCommand {
        name: name.to_owned(),
        command: command.clone(),
    };
    Ok([switch(names[0], first), switch(names[1], second)])
}

/// Checks before anything is measured or switched that both commands name programs that exist.
///
/// # Errors
/// Names the first command whose program does not exist.
pub fn check_commands(conditions: &[SwitchCommand; 2]) -> Result<(), CommandFailure> {
    conditions.iter().try_for_each(|switch| {
        let failed =
            || CommandFailure::usage(format!("`{}` cannot switch to {switch}", switch.command));
        condition_command::check(&switch.command, &failed)
    })
}

/// Number and order of the runs.
#[derive(Debug, Clone, Copy)]
pub struct TurnSchedule {
    /// Number of runs of both conditions together.
    pub turns: u32,
    /// Whether each block has an additional run of the first condition as control, to show the
    /// floor.
    pub with_control: bool,
    /// Seed of the order.
    pub seed: u64,
    /// Time to wait after a command, until the change has settled.
    pub settle: Duration,
    /// Margin of the comparison that ends the turns once it is decided; `None` = all turns are taken.
    pub decided_by_margin: Option<f64>,
}

/// Extent of a schedule, without the time of the commands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScheduleExtent {
    /// Number of runs, control runs included.
    pub runs: usize,
    /// Number of commands, with the last one that restores the first condition.
    pub commands: usize,
    /// Total time for changes to settle.
    pub settling_s: f64,
}

impl TurnSchedule {
    /// Returns the number of runs and commands, and the time to settle.
    pub fn extent(self) -> ScheduleExtent {
        let slots = self.slots();
        let changes =
            slots.windows(2).filter(|pair| pair[0].condition != pair[1].condition).count();
        let settled = changes + usize::from(!slots.is_empty());
        let returns = slots.last().is_some_and(|slot| slot.condition == 1);
        ScheduleExtent {
            runs: slots.len(),
            commands: settled + usize::from(returns),
            settling_s: settled as f64 * self.settle.as_secs_f64(),
        }
    }

    /// Schedules blocks with one run of each condition, in a random order by the seed. Every second
    /// block reverses the order of the previous one, so that a steady drift affects all conditions
    /// equally.
    fn slots(self) -> Vec<PlannedTurn> {
        let mut order = BlockOrder::from_seed(self.seed);
        let mut slots: Vec<PlannedTurn> = Vec::new();
        let mut members = Vec::new();
        for block in 0..self.turns / 2 {
            let slot = |condition, is_control| PlannedTurn { condition, block, is_control };
            if block % 2 == 0 {
                members = vec![slot(0, false), slot(1, false)];
                members.extend(self.with_control.then(|| slot(0, true)));
            }
            order.arrange(&mut members);
            slots.extend(members.iter().map(|it| PlannedTurn { block, ..*it }));
        }
        slots
    }
}

/// Measures both conditions alternately and stores every run, control runs with those of the first
/// condition. Restores the first condition at the end.
pub fn measure(
    request: &RunRequest<'_>,
    conditions: &[SwitchCommand; 2],
    schedule: TurnSchedule,
    (store, cancel): (&Store, &AtomicBool),
    listener: &mut dyn Listener,
) -> Result<[Vec<Run>; 2], CommandFailure> {
    // Reports an impossible plan before anything is switched.
    prepare(request)?;
    let present = CurrentCondition {
        conditions,
        settle: schedule.settle,
        index: None,
        must_return: false,
    };
    let mut site = SwitchSite { request, schedule, present };
    let order = TurnOrder {
        comparison: new_run_id(Timestamp::now()),
        seed: schedule.seed,
        conditions: conditions.iter().map(|it| it.name.clone()).collect(),
        planned: schedule.slots(),
        interruption,
    };
    let (runs, failure) = take_turns(&mut site, &order, TurnSinks { store, cancel, listener });
    match (failure, <[Vec<Run>; 2]>::try_from(runs)) {
        (None, Ok(runs)) => Ok(runs),
        (failure, _) => Err(failure.expect("both conditions have their runs")),
    }
}

/// This machine, between two conditions.
struct SwitchSite<'a, 'q> {
    request: &'a RunRequest<'q>,
    schedule: TurnSchedule,
    present: CurrentCondition<'a>,
}

impl TurnSite for SwitchSite<'_, '_> {
    fn apply(
        &mut self,
        condition: usize,
        to: &mut TurnSinks<'_>,
    ) -> Result<(), CommandFailure> {
        self.present.switch_to(condition, to.cancel, to.listener)
    }

    fn measure(
        &mut self,
        condition: usize,
        position: TurnPosition,
        to: &mut TurnSinks<'_>,
    ) -> Result<Run, CommandFailure> {
        let name = &self.present.conditions[condition].name;
        let has_looks = self.schedule.decided_by_margin.is_some();
        let position = TurnPosition { has_looks, ..position };
        let asked = RunRequest { label: Some(name), ..self.request.clone() };
        run_request::measure_turn(&asked, position, to)
    }

    /// Looks at the runs of complete blocks.
    fn is_decided(&self, blocks: u32, runs: &[Vec<Run>]) -> bool {
        let Some(margin) = self.schedule.decided_by_margin else { return false };
        if !looks::is_early_look(blocks as usize) {
            return false;
        }
        let condition = |index: usize| Condition {
            name: &self.present.conditions[index].name,
            runs: &runs[index],
            positions: &[],
        };
        compare(condition(0), condition(1), margin).is_decided()
    }

    fn restore(
        &mut self,
        is_interrupted: bool,
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure> {
        if !std::mem::take(&mut self.present.must_return) {
            return Ok(());
        }
        self.present.announce_return(is_interrupted, listener);
        self.present.restore()
    }
}

fn interruption(taken: &TakenTurns) -> CommandFailure {
    let failure = CommandFailure::measurement("the comparison was interrupted")
        .with_reason(format!("{} of {} turns were begun", taken.count + 1, taken.planned));
    let last = |condition| {
        taken.interrupted.iter().filter(move |it| it.0 == condition).map(|it| &it.1)
    };
    let runs = taken.runs.iter().enumerate();
    let runs = runs.flat_map(|(condition, runs)| runs.iter().chain(last(condition)));
    let ids: Vec<&str> = runs.map(|run| run.started.run.as_str()).collect();
    if ids.is_empty() {
        return failure;
    }
    failure.advise(format!("their finished cases are kept: {}", ids.join(", ")))
}

/// Condition of the machine.
struct CurrentCondition<'a> {
    conditions: &'a [SwitchCommand; 2],
    settle: Duration,
    /// Index of the condition; `None` before the first command, and after one that did not
    /// complete.
    index: Option<usize>,
    /// Whether another condition than the first one may be active.
    must_return: bool,
}

impl CurrentCondition<'_> {
    fn switch_to(
        &mut self,
        index: usize,
        cancel: &AtomicBool,
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure> {
        if self.index == Some(index) {
            return Ok(());
        }
        // The condition is undefined until the command completes.
        self.index = None;
        self.must_return |= index == 1;
        let SwitchCommand { name, command } = &self.conditions[index];
        listener.progress(&phrase!(
            "to-condition",
            "to {condition}: {command}",
            condition = name.as_str(),
            command = format!("`{command}`"),
        ));
        let reached = run_switch(&self.conditions[index], cancel);
        // An interrupted command leaves an undefined condition, even if it is that of the first
        // one.
        self.must_return |= reached.is_err() && cancel.load(Ordering::Relaxed);
        reached?;
        self.index = Some(index);
        self.must_return = index == 1;
        listener.progress(&phrase!(
            "settling",
            "{condition}: settling",
            condition = name.as_str()
        ));
        cancellable_wait::wait(self.settle, cancel);
        Ok(())
    }

    /// Announces the return to the first condition. The user's command must not be interrupted, as
    /// it could leave an undefined condition. After an interruption, also reports the longest
    /// duration and the condition that ending it would leave.
    fn announce_return(&self, is_interrupted: bool, listener: &mut dyn Listener) {
        let [SwitchCommand { name, command }, second] = self.conditions;
        let back = phrase!(
            "back-to",
            "back to {condition}: {command}",
            condition = name.as_str(),
            command = format!("`{command}`"),
        );
        listener.progress(&back);
        if !is_interrupted {
            return listener.note(None, &back);
        }
        let within = phrase!(
            "back-within",
            "it may take up to {minutes} minutes; ending now leaves {condition} in place",
            minutes = condition_command::DEADLINE.as_secs() / 60,
            condition = second.name.as_str(),
        );
        listener.warn(&Phrase::list("; ", [back, within]));
    }

    /// Restores the first condition, also after an interruption.
    fn restore(&self) -> Result<(), CommandFailure> {
        let [first, second] = self.conditions;
        run_switch(first, &AtomicBool::new(false)).map_err(|failure| {
            failure.advise(format!(
                "check the condition: {second} may still be active on this machine"
            ))
        })
    }
}

fn run_switch(switch: &SwitchCommand, cancel: &AtomicBool) -> Result<(), CommandFailure> {
    let failed = || {
        CommandFailure::measurement(format!(
            "`{}` failed, which switches to {switch}",
            switch.command
        ))
    };
    condition_command::run(&switch.command, cancel, &failed)
}

impl fmt::Display for SwitchCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_programs_are_found_before_switching() {
        for (line, reason) in [
            ("true", ""),
            ("cd / && true", ""),
            ("if true; then true; fi", ""),
            ("LEVEL=1 no-such-program", ""),
            ("no-such-program", "there is no program `no-such-program`"),
            ("/no/such/program --on", "there is no program `/no/such/program`"),
        ] {
            let lines = ["true".to_owned(), line.to_owned()];
            let checked = check_commands(&pair_conditions(&lines, &[]).unwrap());
            let found = checked.map_or_else(|failure| failure.reason(), |()| String::new());
            let is_right = found.ends_with(reason) && found.is_empty() == reason.is_empty();
            assert!(is_right, "{line}: {found}");
        }
    }

    /// Mean position of the runs of a kind: equal for all kinds after an even number of blocks.
    fn mean_position(slots: &[PlannedTurn], condition: usize, is_control: bool) -> f64 {
        let is_one =
            |slot: &PlannedTurn| slot.condition == condition && slot.is_control == is_control;
        let numbers: Vec<f64> = (0..)
            .zip(slots)
            .filter(|(_, slot)| is_one(slot))
            .map(|(i, _)| f64::from(i))
            .collect();
        numbers.iter().sum::<f64>() / numbers.len() as f64
    }

    /// Every change of the condition takes a command and time to settle; the return only a command.
    #[test]
    fn extent_counts_turns_and_settling() {
        for seed in 0..50 {
            for (with_control, runs) in [(false, 12), (true, 18)] {
                let settle = Duration::from_secs(5);
                let schedule = TurnSchedule {
                    turns: 12,
                    with_control,
                    seed,
                    settle,
                    decided_by_margin: None,
                };
                let (mut present, mut changes) = (None, 0);
                for slot in schedule.slots() {
                    changes += usize::from(present != Some(slot.condition));
                    present = Some(slot.condition);
                }
                let extent = schedule.extent();
                let returns = usize::from(present == Some(1));
                assert_eq!((extent.runs, extent.commands), (runs, changes + returns));
                assert!((extent.settling_s - 5.0 * changes as f64).abs() < 1e-9, "{extent:?}");
            }
        }
    }

    #[test]
    fn schedule_is_balanced_and_reproducible() {
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..200 {
            for with_control in [false, true] {
                let schedule = TurnSchedule {
                    turns: 12,
                    with_control,
                    seed,
                    settle: Duration::ZERO,
                    decided_by_margin: None,
                };
                let slots = schedule.slots();
                assert_eq!(slots, schedule.slots());
                let kinds: &[(usize, bool)] = if with_control {
                    &[(0, false), (1, false), (0, true)]
                } else {
                    &[(0, false), (1, false)]
                };
                assert_eq!(slots.len(), 6 * kinds.len());
                for (condition, is_control) in kinds {
                    let found = mean_position(&slots, *condition, *is_control);
                    assert!((found - (slots.len() - 1) as f64 / 2.0).abs() < 1e-9, "{slots:?}");
                }
                for block in slots.chunks(kinds.len()) {
                    assert!(block.iter().all(|slot| slot.block == block[0].block));
                }
                orders.insert(
                    slots
                        .iter()
                        .map(|slot| (slot.condition, slot.is_control))
                        .collect::<Vec<_>>(),
                );
            }
        }
        // Three independent draws: 2³ orders without and 6³ with a control.
        assert!(orders.len() > 100, "{}", orders.len());
    }
}
