//! Sinks that print the progress of a run on the terminal.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use assay_model::doubt::Doubt;
use assay_model::event::{RunEvent, RunStatus, StopReason};
use assay_model::phrase::Phrase;
use assay_model::trust;
use assay_report::progress::{self, RunProgress};
use assay_report::words::{self, sentence};
use assay_run::failure::{Failure, Kind};
use assay_run::sink::{Second, Sink};

use crate::alike::Alike;
use crate::options::KeepArguments;
use crate::terminal::Terminal;

/// Message that is shown until a plan is known.
pub const LOOKING: &str = "progress-looking";

/// Phrases about plans that exceed their time. Hosts send nearly identical ones.
const OUTLOOKS: [&str; 4] =
    ["plan-in-a-hurry", "run-over-budget", "run-even-longer", "solve-over-budget"];

/// Sink that prints a run's progress and problems on the terminal.
#[derive(Debug)]
pub struct Listening<'t> {
    terminal: &'t mut Terminal,
    /// Whether every event is also printed as a line of JSON.
    echo: bool,
    /// Whether only problems are printed.
    is_quiet: bool,
    progress: Arc<Mutex<RunProgress>>,
    began: Instant,
    /// Whether the run has a single case, whose failure is that of the command.
    is_single: bool,
    /// Whether the run's only case failed; its warnings are then not printed.
    is_lost: bool,
    /// Warnings about a run with a single case, printed once it has a result.
    held: Vec<String>,
    /// Cases whose failure on a host has been printed.
    told: BTreeSet<String>,
    /// Whether a report follows on the same screen. It begins with the reasons to distrust the run.
    is_reported: bool,
    /// Whether a case has started.
    has_measured: bool,
    /// Doubts, failures of cases and overlong plans, each deduplicated across hosts.
    doubts: Alike,
    failures: Alike,
    outlooks: Alike,
    /// Phrases about overlong plans that were printed, each with its host.
    foretold: BTreeSet<String>,
}

impl<'t> Listening<'t> {
    /// Creates a sink that prints all events as JSON if `echo` is set, and only problems if
    /// `is_quiet` is set.
    pub fn new(terminal: &'t mut Terminal, echo: bool, is_quiet: bool) -> Self {
        Self {
            terminal,
            echo,
            is_quiet,
            progress: Arc::default(),
            began: Instant::now(),
            is_single: false,
            is_lost: false,
            held: Vec::new(),
            told: BTreeSet::new(),
            is_reported: false,
            has_measured: false,
            doubts: Alike::default(),
            failures: Alike::default(),
            outlooks: Alike::default(),
            foretold: BTreeSet::new(),
        }
    }

    /// Sets whether a report follows on the same screen. The reasons to distrust the run are then
    /// not printed twice.
    #[must_use]
    pub fn reported(self, is_reported: bool) -> Self {
        Self { is_reported, ..self }
    }

    /// Shows that a search goes on before the run starts. `message` is an identifier of the message
    /// catalogue.
    pub fn before(terminal: &mut Terminal, message: &str, is_quiet: bool) {
        // Skips loading the catalogue if nothing is shown.
        if !is_quiet && terminal.is_watched() {
            Self::before_saying(terminal, words::message(message));
        }
    }

    /// Shows a progress line with the given text before the run starts.
    pub fn before_saying(terminal: &mut Terminal, words: &str) {
        let mut progress = RunProgress::default();
        progress.set_message(words);
        terminal.begin_progress(&Arc::new(Mutex::new(progress)), Instant::now());
    }

    /// Shows a progress line with the given text for this run.
    pub fn begin(&mut self, message: &str) {
        self.known().set_message(message);
        if !self.is_quiet {
            self.terminal.begin_progress(&self.progress, self.began);
        }
    }

    fn known(&self) -> MutexGuard<'_, RunProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Listening<'_> {
    fn event(&mut self, event: &RunEvent) -> Result<(), Failure> {
        if self.echo {
            let line = serde_json::to_string(event).map_err(|error| {
                Failure::new(Kind::Internal, "an event cannot be written as JSON")
                    .because(&error)
            })?;
            self.terminal.print_line(&line);
        }
        let elapsed_s = self.began.elapsed().as_secs_f64();
        self.known().record_event(event, elapsed_s);
        self.show(event, elapsed_s);
        self.settle();
        Ok(())
    }

    fn progress(&mut self, said: &Phrase) {
        self.known().set_message(&words::phrase(said));
    }

    fn second(&mut self, second: &Second<'_>) {
        self.settle();
        if let Some(host) = second.host {
            let Second { rates, latency_s, cpu, .. } = *second;
            return self.known().update_host(host, rates, latency_s, cpu);
        }
        // With several cases the progress bar shows the rates; a line per second would hide it.
        if self.is_single && !self.is_quiet && self.terminal.is_live() {
            let Second { at_s, rates, latency_s, cpu, .. } = *second;
            self.terminal.note(&progress::format_second(at_s, rates, latency_s, cpu));
        }
    }

    fn note(&mut self, about: Option<&str>, said: &Phrase) {
        let indent = if about.is_some() { "  " } else { "" };
        let line = format!("{indent}{}", words::phrase(said));
        let (id, at_s) = (said.id().unwrap_or_default(), self.began.elapsed().as_secs_f64());
        let line = match about {
            // Prints each phrase once per host: hosts that take turns repeat it with every case.
            Some(host) if OUTLOOKS.contains(&id) => self
                .foretold
                .insert(format!("{id} {host}"))
                .then(|| self.outlooks.hear(id, host, (line, 0.0), at_s))
                .flatten(),
            _ => Some(line),
        };
        if !self.is_quiet {
            line.iter().for_each(|line| self.terminal.note(line));
        }
    }

    fn warn(&mut self, said: &Phrase) {
        self.terminal.note(&words::phrase(said));
    }

    fn doubt(&mut self, doubt: &Doubt) {
        let said = words::doubt(doubt);
        let what = sentence("progress-warning", &[("what", &said.text)]);
        let help = sentence("progress-help", &[("what", &said.advice)]);
        self.terminal.note(&format!("{what}\n  {help}"));
    }
}

/// Sink for commands in another tool's language, which print their own output during the run.
///
/// Prints only warnings and, at the end, the name of the stored run. That name is printed only on a
/// terminal: the emulated tool prints no such line, and scripts read both outputs.
#[derive(Debug)]
pub struct Silently {
    terminal: Terminal,
    stores: bool,
    /// Identifier of the current run.
    run: String,
    /// Identifiers of the runs that were stored completely.
    stored: Vec<String>,
}

impl Silently {
    /// Creates a sink with its own terminal, separate from the one that the command prints on.
    pub fn beside(keep: &KeepArguments) -> Self {
        let (run, stored) = (String::new(), Vec::new());
        Self { terminal: Terminal::attached(), stores: !keep.no_store, run, stored }
    }
}

impl Drop for Silently {
    fn drop(&mut self) {
        for run in &self.stored {
            self.terminal.aside(&format!("Stored as {run}: assay show {run}"));
        }
    }
}

impl Sink for Silently {
    fn event(&mut self, event: &RunEvent) -> Result<(), Failure> {
        match event {
            RunEvent::RunStarted(started) => self.run.clone_from(&started.run),
            // A failed run has reported its failure and has nothing to show.
            RunEvent::RunFinished { status, .. }
                if self.stores && *status != RunStatus::Failed =>
            {
                self.stored.push(std::mem::take(&mut self.run));
            }
            _ => {}
        }
        Ok(())
    }

    fn progress(&mut self, _: &Phrase) {}

    fn note(&mut self, _: Option<&str>, _: &Phrase) {}

    fn doubt(&mut self, doubt: &Doubt) {
        self.terminal.note(&format!("warning: {}", words::doubt(doubt).text));
    }
}

impl Listening<'_> {
    /// Prints the grouped messages of several hosts once no more arrive.
    fn settle(&mut self) {
        let at_s = self.began.elapsed().as_secs_f64();
        let all = [&self.doubts, &self.failures, &self.outlooks];
        if all.iter().any(|it| !it.is_settled(at_s)) {
            return;
        }
        self.say_outlooks();
        self.say_failures();
        // Hosts that take turns finish one by one, with the same doubts.
        if !self.has_measured {
            self.say_doubts();
        }
    }

    fn say_outlooks(&mut self) {
        let rest = self.outlooks.rest();
        if !self.is_quiet {
            rest.iter().for_each(|line| self.terminal.note(line));
        }
    }

    fn say_doubts(&mut self) {
        self.doubts.rest().into_iter().for_each(|line| self.say_doubt(line));
    }

    fn say_failures(&mut self) {
        self.failures.rest().iter().for_each(|line| self.terminal.note(line));
    }

    fn say_done(&mut self, case: &str) {
        if self.is_quiet || self.terminal.is_live() {
            return;
        }
        let value = self.known().value_so_far(case).map(|value| value.to_string());
        let done = match &value {
            Some(value) => sentence("progress-done-with", &[("case", case), ("value", value)]),
            None => sentence("progress-done", &[("case", case)]),
        };
        self.terminal.note(&format!("  {done}"));
    }

    fn say_doubt(&mut self, line: String) {
        match self.is_single {
            true => self.held.push(line),
            false => self.terminal.note(&line),
        }
    }

    fn hear_doubt(&mut self, doubt: &Doubt, at_s: f64) {
        let what = words::doubt(doubt).text;
        let warning = format!("  {}", sentence("progress-warning", &[("what", &what)]));
        let said = match words::host_and_text(doubt) {
            Some((host, _)) => {
                let is_lost = matches!(doubt, Doubt::HostLost { .. });
                let kind = if is_lost { &mut self.failures } else { &mut self.doubts };
                kind.hear(doubt.id(), host, (warning, doubt.severity()), at_s)
            }
            None => Some(warning),
        };
        said.into_iter().for_each(|line| self.say_doubt(line));
    }

    fn show(&mut self, event: &RunEvent, at_s: f64) {
        match event {
            RunEvent::RunStarted(started) => {
                self.is_single = started.plan.cases.len() == 1;
                *self.known() = RunProgress::for_plan(&started.plan);
                self.began = Instant::now();
                if !self.is_quiet {
                    self.terminal.begin_progress(&self.progress, self.began);
                }
            }
            RunEvent::CaseStarted { .. } => self.has_measured = true,
            // Contention is still printed before the first measurement, while there is time to
            // stop.
            RunEvent::Doubt { case: None, doubt }
                if self.is_reported && self.has_measured && trust::is_contention(doubt) => {}
            // A point that its curve no longer needs; nothing was measured.
            RunEvent::CaseFinished { stopped: StopReason::NotNeeded, .. } => {
                self.say_failures()
            }
            // Doubts stay queued: hosts that finish one after another have the same ones.
            RunEvent::CaseFinished { case, .. } => {
                self.say_failures();
                self.say_done(case);
            }
            RunEvent::CaseFailed { case, failure, host: Some(host), .. } => {
                let why = words::failure(failure).text;
                let all = [("case", case.as_str()), ("host", host), ("why", &why)];
                let line = format!("  {}", sentence("progress-failed-on", &all));
                let key = format!("{case} {why}");
                let said = self.failures.hear(&key, host, (line, 0.0), at_s);
                said.iter().for_each(|line| self.terminal.note(line));
                self.told.insert(case.clone());
            }
            RunEvent::CaseFailed { .. } if self.is_single => self.is_lost = true,
            RunEvent::CaseFailed { case, host: None, .. } if self.told.contains(case) => {}
            RunEvent::CaseFailed { case, failure, because, host: None } => {
                let why = words::failure(failure).text;
                let failed = match because {
                    Some(_) => format!("{case} {why}"),
                    None => sentence("progress-failed", &[("case", case), ("why", &why)]),
                };
                self.terminal.note(&format!("  {failed}"));
            }
            RunEvent::Doubt { case: None, doubt } => self.hear_doubt(doubt, at_s),
            RunEvent::RunFinished { .. } => {
                // Files are removed and the store is written now; the progress line stays until
                // there is output.
                self.say_outlooks();
                self.say_failures();
                self.say_doubts();
                self.known().finish_measuring();
                self.known().set_message(words::message("progress-finishing"));
                if !self.is_lost {
                    self.held.drain(..).for_each(|warning| self.terminal.note(&warning));
                }
            }
            _ => {}
        }
    }
}
