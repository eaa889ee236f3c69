//! Two conditions measured alternately: switches between them with the user's commands, measures each
//! several times.
//!
//! Never leaves the machine in the second condition: the first command always runs last.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_fleet::process::{self, Command, Completed, Status};
use assay_model::run::Run;
use assay_model::seed;
use assay_store::Store;

use crate::failure::Failure;
use crate::question::{self, Question, prepare};
use crate::sink::Sink;

/// Switching may take minutes where a cloud's interface has to be asked; a command that hangs must
/// end some day.
const DEADLINE: Duration = Duration::from_secs(900);

/// One condition: what it is called and the command that leads to it.
#[derive(Debug)]
pub struct Switch {
    pub name: String,
    command: String,
}

/// Two commands and their names; `A` and `B` when none are given.
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

/// Measures both conditions in turns and stores every run; the first condition holds at the end.
pub fn measure(
    question: &Question<'_>,
    conditions: &[Switch; 2],
    turns: u32,
    (store, cancel): (&Store, &AtomicBool),
    sink: &mut dyn Sink,
) -> Result<[Vec<Run>; 2], Failure> {
    // What cannot be planned is reported before anything is switched.
    prepare(question)?;
    let mut present = Present { conditions, at: None };
    let measured = in_turns(question, &mut present, turns, (store, cancel), sink);
    match (measured, present.restore()) {
        (Ok(runs), Ok(())) => Ok(runs),
        (Err(first), Err(second)) => {
            sink.note(&format!("error: {second}"));
            Err(first)
        }
        (Err(failure), Ok(())) | (Ok(_), Err(failure)) => Err(failure),
    }
}

/// First, second, second, first, and so on: what drifts steadily meets both alike.
const fn condition_of(turn: u32) -> usize {
    matches!(turn % 4, 1 | 2) as usize
}

fn in_turns(
    question: &Question<'_>,
    present: &mut Present<'_>,
    turns: u32,
    (store, cancel): (&Store, &AtomicBool),
    sink: &mut dyn Sink,
) -> Result<[Vec<Run>; 2], Failure> {
    let mut runs = [Vec::new(), Vec::new()];
    for turn in 0..turns {
        let index = condition_of(turn);
        let name = &present.conditions[index].name;
        sink.note(&format!("turn {} of {turns}: {name}", turn + 1));
        // A command that was cancelled did not fail by itself.
        present.switch_to(index, cancel).map_err(|failure| {
            let is_cancelled = cancel.load(Ordering::Relaxed);
            if is_cancelled { interrupted(&runs, turn, turns) } else { failure }
        })?;
        let seed = question.seed.map(|seed| seed::derived(seed, u64::from(turn)));
        let asked = Question { label: Some(name), seed, ..question.clone() };
        let prepared = prepare(&asked)?;
        runs[index].push(question::measure(&asked, prepared, store, cancel, sink)?);
        if cancel.load(Ordering::Relaxed) {
            return Err(interrupted(&runs, turn, turns));
        }
    }
    Ok(runs)
}

fn interrupted(runs: &[Vec<Run>; 2], turn: u32, turns: u32) -> Failure {
    let ids: Vec<&str> = runs.iter().flatten().map(|run| run.started.run.as_str()).collect();
    let failure = Failure::measurement("the comparison was interrupted")
        .explain(format!("{} of {turns} turns were begun", turn + 1));
    if ids.is_empty() {
        return failure;
    }
    failure.advise(format!("their finished cases are kept: {}", ids.join(", ")))
}

/// Which condition holds at present.
struct Present<'a> {
    conditions: &'a [Switch; 2],
    /// `None` before the first command.
    at: Option<usize>,
}

impl Present<'_> {
    fn switch_to(&mut self, index: usize, cancel: &AtomicBool) -> Result<(), Failure> {
        if self.at == Some(index) {
            return Ok(());
        }
        // From here on it may be in between.
        self.at = Some(index);
        carry_out(&self.conditions[index], cancel)
    }

    /// Back to the first condition, also after an interruption.
    fn restore(&mut self) -> Result<(), Failure> {
        match self.at {
            Some(1) => {
                self.at = Some(0);
                carry_out(&self.conditions[0], &AtomicBool::new(false))
            }
            _ => Ok(()),
        }
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
