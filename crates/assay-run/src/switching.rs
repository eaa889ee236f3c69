//! Alternating measurement of two conditions: switches between them with the user's commands, and
//! measures each several times.
//!
//! Never leaves the machine in the second condition: the command of the first one always runs last.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_fleet::process::{self, Command, Completed, Status};
use assay_model::event::TurnPosition;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::run::Run;
use assay_model::seed;
use assay_stats::random::Random;
use assay_store::Store;
use jiff::Timestamp;

use crate::execution::new_run_id;
use crate::failure::Failure;
use crate::question::{self, Question, prepare};
use crate::sink::Sink;

/// Time limit of a command: switching through a cloud's API may take minutes, and a command may
/// hang.
const DEADLINE: Duration = Duration::from_secs(900);
/// Interval of checks for an interruption.
const PATIENCE: Duration = Duration::from_millis(50);

/// Condition with its name and the command that establishes it.
#[derive(Debug)]
pub struct Switch {
    pub name: String,
    command: String,
}

/// Pairs two commands with their names, `A` and `B` by default.
pub fn conditions(commands: &[String], names: &[String]) -> Result<[Switch; 2], Failure> {
    let names: [&str; 2] = match names {
        [] => ["A", "B"],
        [a, b] if a != b => [a, b],
        _ => {
            return Err(Failure::usage("--label with --switch takes two different names")
                .advise("like --label on,off, in the order of the commands"));
        }
    };
    let [first, second] = commands else {
        return Err(Failure::usage("--switch takes two commands"));
    };
    let switch = |name: &str, command: &String| Switch {
        name: name.to_owned(),
        command: command.clone(),
    };
    Ok([switch(names[0], first), switch(names[1], second)])
}

/// Number and order of the runs.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    /// Number of runs of both conditions together.
    pub turns: u32,
    /// Whether each block has an additional run of the first condition as control, to show the
    /// floor.
    pub with_control: bool,
    /// Seed of the order.
    pub seed: u64,
    /// Time to wait after a command, until the change has settled.
    pub settle: Duration,
}

/// Planned run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slot {
    /// Index of the condition: 0 or 1.
    condition: usize,
    block: u32,
    is_control: bool,
}

impl Course {
    /// Schedules blocks with one run of each condition, in a random order by the seed. Every second
    /// block reverses the order of the previous one, so that a steady drift affects all conditions
    /// equally.
    fn slots(self) -> Vec<Slot> {
        let mut random = Random::new(self.seed);
        let mut slots: Vec<Slot> = Vec::new();
        for block in 0..self.turns / 2 {
            let slot = |condition, is_control| Slot { condition, block, is_control };
            let mut members = vec![slot(0, false), slot(1, false)];
            if self.with_control {
                members.push(slot(0, true));
            }
            match block % 2 {
                0 => random.shuffle(&mut members),
                _ => {
                    let before = slots[slots.len() - members.len()..].iter().rev();
                    members = before.map(|before| Slot { block, ..*before }).collect();
                }
            }
            slots.extend(members);
        }
        slots
    }
}

/// Measures both conditions alternately and stores every run, control runs with those of the first
/// condition. Restores the first condition at the end.
pub fn measure(
    question: &Question<'_>,
    conditions: &[Switch; 2],
    course: Course,
    (store, cancel): (&Store, &AtomicBool),
    sink: &mut dyn Sink,
) -> Result<[Vec<Run>; 2], Failure> {
    // Reports an impossible plan before anything is switched.
    prepare(question)?;
    let mut present =
        Present { conditions, settle: course.settle, at: None, must_return: false };
    let measured = in_turns(question, &mut present, course, (store, cancel), sink);
    if present.must_return {
        present.announce_return(cancel.load(Ordering::Relaxed), sink);
    }
    match (measured, present.restore()) {
        (Ok(runs), Ok(())) => Ok(runs),
        (Err(first), Err(second)) => {
            sink.warn(&format!("error: {second}").into());
            Err(first)
        }
        (Err(failure), Ok(())) | (Ok(_), Err(failure)) => Err(failure),
    }
}

fn in_turns(
    question: &Question<'_>,
    present: &mut Present<'_>,
    course: Course,
    (store, cancel): (&Store, &AtomicBool),
    sink: &mut dyn Sink,
) -> Result<[Vec<Run>; 2], Failure> {
    let mut runs = [Vec::new(), Vec::new()];
    let slots = course.slots();
    let comparison = new_run_id(Timestamp::now());
    let seed = course.seed.to_string();
    sink.note(None, &phrase!("order", "the order is drawn from `--seed` {seed}", seed = seed));
    for (number, slot) in (0..).zip(&slots) {
        let name = &present.conditions[slot.condition].name;
        let turn = phrase!(
            "turn",
            "turn {turn} of {all}: {condition}",
            turn = number + 1,
            all = slots.len(),
            condition = name.as_str(),
        );
        let control = slot.is_control.then(|| phrase!("as-control", "once more, as control"));
        sink.note(None, &Phrase::list(", ", std::iter::once(turn).chain(control)));
        // A cancelled command is no failure of its own.
        present.switch_to(slot.condition, cancel, sink).map_err(|failure| {
            let is_cancelled = cancel.load(Ordering::Relaxed);
            if is_cancelled { interrupted(&runs, number, slots.len()) } else { failure }
        })?;
        let turn = TurnPosition {
            comparison: comparison.clone(),
            seed: course.seed,
            number,
            block: slot.block,
            is_control: slot.is_control,
        };
        let seed = question.seed.map(|seed| seed::derive_seed(seed, u64::from(number)));
        let asked = Question { label: Some(name), turn: Some(turn), seed, ..question.clone() };
        let prepared = prepare(&asked)?;
        runs[slot.condition].push(question::measure(
            &asked,
            prepared,
            Some(store),
            cancel,
            sink,
        )?);
        if cancel.load(Ordering::Relaxed) {
            return Err(interrupted(&runs, number, slots.len()));
        }
    }
    Ok(runs)
}

fn interrupted(runs: &[Vec<Run>; 2], turn: u32, turns: usize) -> Failure {
    let ids: Vec<&str> = runs.iter().flatten().map(|run| run.started.run.as_str()).collect();
    let failure = Failure::measurement("the comparison was interrupted")
        .explain(format!("{} of {turns} turns were begun", turn + 1));
    if ids.is_empty() {
        return failure;
    }
    failure.advise(format!("their finished cases are kept: {}", ids.join(", ")))
}

/// Condition of the machine.
struct Present<'a> {
    conditions: &'a [Switch; 2],
    settle: Duration,
    /// Index of the condition; `None` before the first command, and after one that did not
    /// complete.
    at: Option<usize>,
    /// Whether another condition than the first one may be active.
    must_return: bool,
}

impl Present<'_> {
    fn switch_to(
        &mut self,
        index: usize,
        cancel: &AtomicBool,
        sink: &mut dyn Sink,
    ) -> Result<(), Failure> {
        if self.at == Some(index) {
            return Ok(());
        }
        // The condition is undefined until the command completes.
        self.at = None;
        self.must_return |= index == 1;
        let Switch { name, command } = &self.conditions[index];
        sink.progress(&phrase!(
            "to-condition",
            "to {condition}: {command}",
            condition = name.as_str(),
            command = format!("`{command}`"),
        ));
        let reached = carry_out(&self.conditions[index], cancel);
        // An interrupted command leaves an undefined condition, even if it is that of the first
        // one.
        self.must_return |= reached.is_err() && cancel.load(Ordering::Relaxed);
        reached?;
        self.at = Some(index);
        self.must_return = index == 1;
        sink.progress(&phrase!("settling", "{condition}: settling", condition = name.as_str()));
        let settled = Instant::now() + self.settle;
        while Instant::now() < settled && !cancel.load(Ordering::Relaxed) {
            std::thread::sleep(PATIENCE.min(settled.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }

    /// Announces the return to the first condition. The user's command must not be interrupted, as
    /// it could leave an undefined condition. After an interruption, also reports the longest
    /// duration and the condition that ending it would leave.
    fn announce_return(&self, is_interrupted: bool, sink: &mut dyn Sink) {
        let [Switch { name, command }, second] = self.conditions;
        let back = phrase!(
            "back-to",
            "back to {condition}: {command}",
            condition = name.as_str(),
            command = format!("`{command}`"),
        );
        sink.progress(&back);
        if !is_interrupted {
            return sink.note(None, &back);
        }
        let within = phrase!(
            "back-within",
            "it may take up to {minutes} minutes; ending now leaves {condition} in place",
            minutes = DEADLINE.as_secs() / 60,
            condition = second.name.as_str(),
        );
        sink.warn(&Phrase::list("; ", [back, within]));
    }

    /// Restores the first condition, also after an interruption.
    fn restore(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.must_return) {
            return Ok(());
        }
        let [first, second] = self.conditions;
        carry_out(first, &AtomicBool::new(false)).map_err(|failure| {
            failure.advise(format!("{second} may still be what holds on this machine"))
        })
    }
}

fn carry_out(switch: &Switch, cancel: &AtomicBool) -> Result<(), Failure> {
    let mut command = Command::new("sh");
    command.arguments = ["-c".into(), switch.command.clone().into()].into();
    command.directory = Some(PathBuf::from("."));
    command.deadline = Some(DEADLINE);
    let failed = || {
        Failure::measurement(format!("`{}` failed, which switches to {switch}", switch.command))
    };
    let completed = process::run(&command, cancel).map_err(|error| failed().because(&error))?;
    match completed.status {
        Status::Exited(0) => Ok(()),
        Status::Exited(code) => Err(failed()
            .explain(format!("it ended with code {code}{}", last_words(&completed)))
            .advise("run it by hand; it must end with code 0 when the condition is reached")),
        Status::Killed(signal) => Err(failed()
            .explain(format!("it was killed by signal {signal}{}", last_words(&completed)))),
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn last_words(completed: &Completed) -> String {
    let text = String::from_utf8_lossy(&completed.output.stderr);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.map(|line| format!("; it said: {}", line.trim())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean position of the runs of a kind: equal for all kinds after an even number of blocks.
    fn middle(slots: &[Slot], condition: usize, is_control: bool) -> f64 {
        let is_one = |slot: &Slot| slot.condition == condition && slot.is_control == is_control;
        let numbers: Vec<f64> = (0..)
            .zip(slots)
            .filter(|(_, slot)| is_one(slot))
            .map(|(i, _)| f64::from(i))
            .collect();
        numbers.iter().sum::<f64>() / numbers.len() as f64
    }

    #[test]
    fn turns_are_balanced_and_come_again_from_their_seed() {
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..200 {
            for with_control in [false, true] {
                let course = Course { turns: 12, with_control, seed, settle: Duration::ZERO };
                let slots = course.slots();
                assert_eq!(slots, course.slots());
                let kinds: &[(usize, bool)] = if with_control {
                    &[(0, false), (1, false), (0, true)]
                } else {
                    &[(0, false), (1, false)]
                };
                assert_eq!(slots.len(), 6 * kinds.len());
                for (condition, is_control) in kinds {
                    let found = middle(&slots, *condition, *is_control);
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
