//! Levels that are applied to the machine: runs the commands of the factors, and restores.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_model::factor::{FactorLevel, fill_placeholders};
use assay_model::phrase;
use assay_model::suite::factorial::{Factor, FactorCommand};
use assay_store::Store;

use crate::cancellable_wait;
use crate::condition_command;
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::restore_record::{RestoreRecord, UnrestoredFactor};

/// Levels of this machine, as far as commands apply them.
#[derive(Debug)]
pub struct AppliedLevels {
    factors: Vec<Factor>,
    settle: Duration,
    /// Name and text of the suite's file, to which the spans of the commands refer; on other hosts
    /// `None`.
    source: Option<(String, Arc<str>)>,
    store: Store,
    /// Name of the record.
    name: String,
    /// Line that last completed for each factor; `None` before the first, and after a failure.
    lines: Vec<Option<String>>,
    /// Whether a line of the factor was begun, so that it has to be restored.
    is_changed: Vec<bool>,
    record: Option<RestoreRecord>,
}

impl AppliedLevels {
    /// Prepares to apply levels, each with `settle` of waiting; the store keeps the record.
    pub fn new(factors: Vec<Factor>, settle: Duration, (store, name): (Store, &str)) -> Self {
        let (lines, is_changed) = (vec![None; factors.len()], vec![false; factors.len()]);
        let (name, source, record) = (name.to_owned(), None, None);
        Self { factors, settle, source, store, name, lines, is_changed, record }
    }

    /// Adds the place of the commands for error messages.
    pub(super) fn with_source(self, file: &str, text: &Arc<str>) -> Self {
        Self { source: Some((file.to_owned(), Arc::clone(text))), ..self }
    }

    /// Records the factors to restore, before anything is applied.
    fn ensure_record(&mut self) -> Result<(), CommandFailure> {
        let unrestored = |factor: &Factor| {
            let command = factor.restore.as_ref()?.line.clone();
            Some(UnrestoredFactor { factor: factor.levels.name.clone(), command })
        };
        let factors = self.factors.iter();
        let all: Vec<UnrestoredFactor> = factors.filter_map(unrestored).collect();
        if self.record.is_none() && !all.is_empty() {
            self.record = Some(RestoreRecord::write(&self.store, &self.name, &all)?);
        }
        Ok(())
    }

    /// Applies the levels of a combination, factor by factor; a factor whose line would be the same
    /// as before is left alone.
    ///
    /// # Errors
    /// A command that fails or is cancelled, or a record that cannot be written.
    pub fn apply(
        &mut self,
        levels: &[FactorLevel],
        cancel: &AtomicBool,
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure> {
        let mut has_changed = false;
        for (index, factor) in self.factors.clone().iter().enumerate() {
            let Some(apply) = &factor.apply else { continue };
            let own = levels.iter().find(|it| it.factor == factor.levels.name);
            let name = own.map(ToString::to_string).unwrap_or_default();
            let line = fill_placeholders(&apply.line, levels)
                .map_err(|error| self.located(&error.to_string(), apply))?;
            if self.lines[index].as_ref() == Some(&line) {
                continue;
            }
            self.ensure_record()?;
            self.lines[index] = None;
            self.is_changed[index] = true;
            has_changed = true;
            listener.progress(&phrase!(
                "to-condition",
                "to {condition}: {command}",
                condition = name.as_str(),
                command = format!("`{line}`"),
            ));
            let failed =
                || self.located(&format!("cannot apply {name}: `{line}` failed"), apply);
            condition_command::run(&line, cancel, &failed)?;
            self.lines[index] = Some(line);
        }
        if has_changed {
            cancellable_wait::wait(self.settle, cancel);
        }
        Ok(())
    }

    /// Runs the `restore` of every factor that was changed, the last one first. All are tried; those
    /// that fail are tried again by the next call.
    ///
    /// # Errors
    /// The first command that fails, whose level is still applied, or a record that cannot be
    /// written.
    pub fn restore(
        &mut self,
        is_interrupted: bool,
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure> {
        let mut left = Vec::new();
        let mut first_failure = None;
        for (index, factor) in self.factors.iter().enumerate().rev() {
            let Some(restore) = factor.restore.as_ref().filter(|_| self.is_changed[index])
            else {
                continue;
            };
            let name = factor.levels.name.as_str();
            let line = format!("`{}`", restore.line);
            let restoring = phrase!(
                "restoring",
                "restoring {factor}: {command}",
                factor = name,
                command = line.as_str()
            );
            match is_interrupted {
                // The user waits for the end, and learns what it depends on.
                true => listener.warn(&restoring),
                false => listener.progress(&restoring),
            }
            let failed =
                || self.located(&format!("cannot restore {name}: {line} failed"), restore);
            let restored =
                condition_command::run(&restore.line, &AtomicBool::new(false), &failed);
            if let Err(failure) = restored {
                let command = restore.line.clone();
                left.push(UnrestoredFactor { factor: name.to_owned(), command });
                let failure = failure.advise(format!("a level of {name} is still applied"));
                if let Some(earlier) = first_failure.replace(failure) {
                    listener.warn(&format!("error: {earlier}").into());
                }
            }
        }
        for (factor, is_changed) in self.factors.iter().zip(&mut self.is_changed) {
            *is_changed = left.iter().any(|it| it.factor == factor.levels.name);
        }
        self.lines.fill(None);
        match (self.finish_record(&left), first_failure) {
            (recorded, None) => recorded,
            (recorded, Some(failure)) => {
                if let Err(second) = recorded {
                    listener.warn(&format!("error: {second}").into());
                }
                Err(failure)
            }
        }
    }

    /// Removes the record, or keeps it for another try with what is left to restore.
    fn finish_record(&mut self, left: &[UnrestoredFactor]) -> Result<(), CommandFailure> {
        match &mut self.record {
            Some(record) if !left.is_empty() => record.update(left),
            record => record.take().map_or(Ok(()), RestoreRecord::remove),
        }
    }

    fn located(&self, what: &str, command: &FactorCommand) -> CommandFailure {
        let failure = CommandFailure::measurement(what);
        match self.source.as_ref().filter(|_| !command.span.is_empty()) {
            None => failure,
            Some((file, text)) => failure.at_span(file, text, command.span.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
