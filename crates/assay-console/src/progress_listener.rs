//! Listeners that print the progress of a run on the terminal.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use assay_fleet::remote::SecondReport;
use assay_model::doubt::Doubt;
use assay_model::event::{RunEvent, RunStatus, StopReason};
use assay_model::phrase::Phrase;
use assay_model::poisoned_lock::PoisonedLock as _;
use assay_model::trust;
use assay_report::progress::{self, RunProgress};
use assay_report::words::{self, sentence};
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::listener::Listener;

use crate::message_dedup::MessageDedup;
use crate::options::RecordArguments;
use crate::terminal::Terminal;

/// Message that is shown until a plan is known.
pub const SEARCH_MESSAGE: &str = "progress-looking";

/// Phrases about plans that exceed their time budget. All hosts send nearly the same.
const OUTLOOK_PHRASES: [&str; 6] = [
    "cases-cut",
    "plan-in-a-hurry",
    "plan-too-short",
    "run-over-budget",
    "run-even-longer",
    "solve-over-budget",
];

/// Listener that prints a run's progress and problems on the terminal.
#[derive(Debug)]
pub struct ProgressListener<'t> {
    terminal: &'t mut Terminal,
    /// Whether every event is also printed as a line of JSON.
    echoes_events: bool,
    /// Whether only problems are printed.
    is_quiet: bool,
    progress: Arc<Mutex<RunProgress>>,
    began: Instant,
    /// Whether the run has a single case. The command then prints the failure of the case.
    is_single: bool,
    /// Whether the run's only case failed; its warnings are then not printed.
    has_failed: bool,
    /// Warnings about a run with a single case, printed once it has a result.
    pending_warnings: Vec<String>,
    /// Cases whose failure on a host has been printed.
    printed_failures: BTreeSet<String>,
    /// Whether a report follows on the same screen. It begins with the reasons to distrust the run.
    has_report: bool,
    /// Whether a case has started.
    has_started_case: bool,
    /// Doubts, failures of cases and overlong plans, each deduplicated across hosts.
    doubts: MessageDedup,
    failures: MessageDedup,
    outlooks: MessageDedup,
    /// Phrases about overlong plans that were printed, each with its host.
    printed_outlooks: BTreeSet<String>,
    /// Failure to write an event, which ends the run.
    failure: Option<CommandFailure>,
}

impl<'t> ProgressListener<'t> {
    /// Creates a listener that prints all events as JSON if `echo` is set, and only problems if
    /// `is_quiet` is set.
    pub fn new(terminal: &'t mut Terminal, echoes_events: bool, is_quiet: bool) -> Self {
        Self {
            terminal,
            echoes_events,
            is_quiet,
            progress: Arc::default(),
            began: Instant::now(),
            is_single: false,
            has_failed: false,
            pending_warnings: Vec::new(),
            printed_failures: BTreeSet::new(),
            has_report: false,
            has_started_case: false,
            doubts: MessageDedup::default(),
            failures: MessageDedup::default(),
            outlooks: MessageDedup::default(),
            printed_outlooks: BTreeSet::new(),
            failure: None,
        }
    }

    /// Sets whether a report follows on the same screen. The reasons to distrust the run are then
    /// not printed twice.
    #[must_use]
    pub fn with_report(self, has_report: bool) -> Self {
        Self { has_report, ..self }
    }

    /// Shows that a search goes on before the run starts. `message` is an identifier of the message
    /// catalogue.
    pub fn show_search(terminal: &mut Terminal, message: &str, is_quiet: bool) {
        // Skips loading the catalogue if nothing is shown.
        if !is_quiet && terminal.is_stderr_terminal() {
            Self::show_text(terminal, words::message(message));
        }
    }

    /// Shows a progress line with the given text before the run starts.
    pub fn show_text(terminal: &mut Terminal, words: &str) {
        let mut progress = RunProgress::default();
        progress.set_message(words);
        terminal.begin_progress(&Arc::new(Mutex::new(progress)), Instant::now());
    }

    /// Shows a progress line with the given text for this run.
    pub fn begin_with_text(&mut self, message: &str) {
        self.lock_progress().set_message(message);
        if !self.is_quiet {
            self.terminal.begin_progress(&self.progress, self.began);
        }
    }

    fn lock_progress(&self) -> MutexGuard<'_, RunProgress> {
        self.progress.lock().even_if_poisoned()
    }
}

impl Listener for ProgressListener<'_> {
    fn event(&mut self, event: &RunEvent) {
        if self.echoes_events {
            match event.to_json() {
                Ok(line) => self.terminal.print_line(&line),
                Err(error) => {
                    let what = "an event cannot be written as JSON";
                    let failure = CommandFailure::new(FailureKind::Internal, what);
                    self.failure.get_or_insert(failure.with_cause(&error));
                }
            }
        }
        let elapsed_s = self.began.elapsed().as_secs_f64();
        self.lock_progress().record_event(event, elapsed_s);
        self.handle_event(event, elapsed_s);
        self.print_settled();
    }

    fn take_failure(&mut self) -> Option<CommandFailure> {
        self.failure.take()
    }

    fn progress(&mut self, phrase: &Phrase) {
        self.lock_progress().set_message(&words::phrase(phrase));
    }

    fn report_second(&mut self, host: Option<&str>, second: &SecondReport) {
        self.print_settled();
        let SecondReport { at_s, rates, latency_s, cpu, .. } = second;
        let (latency_s, cpu) = (*latency_s, *cpu);
        if let Some(host) = host {
            return self.lock_progress().update_host(host, rates, latency_s, cpu);
        }
        // With several cases the progress line shows the rates.
        if self.is_single && !self.is_quiet && self.terminal.is_live() {
            self.terminal.note(&progress::format_second(*at_s, rates, latency_s, cpu));
        }
    }

    fn note(&mut self, about: Option<&str>, phrase: &Phrase) {
        let indent = if about.is_some() { "  " } else { "" };
        let line = format!("{indent}{}", words::phrase(phrase));
        let (id, at_s) = (phrase.id().unwrap_or_default(), self.began.elapsed().as_secs_f64());
        let line = match about {
            // Hosts that take turns repeat a phrase for every case; it is printed once per host.
            Some(host) if OUTLOOK_PHRASES.contains(&id) => self
                .printed_outlooks
                .insert(format!("{id} {host}"))
                .then(|| self.outlooks.add(id, host, (line, 0.0), at_s))
                .flatten(),
            _ => Some(line),
        };
        if !self.is_quiet {
            line.iter().for_each(|line| self.terminal.note(line));
        }
    }

    fn warn(&mut self, phrase: &Phrase) {
        self.terminal.note(&words::phrase(phrase));
    }

    fn doubt(&mut self, doubt: &Doubt) {
        let message = words::doubt(doubt);
        let warning = sentence("progress-warning", &[("what", &message.text)]);
        let help = sentence("progress-help", &[("what", &message.advice)]);
        self.terminal.note(&format!("{warning}\n  {help}"));
    }
}

/// Listener of commands that emulate another tool and print its output during the run.
///
/// Prints only warnings and, at the end, the name of the stored run. That name is printed only on a
/// terminal: the emulated tool prints no such line, and scripts read both outputs.
#[derive(Debug)]
pub struct EmulationListener {
    terminal: Terminal,
    is_stored: bool,
    /// Identifier of the current run.
    current_run: String,
    /// Identifiers of the runs that were stored completely.
    stored_runs: Vec<String>,
}

impl EmulationListener {
    /// Creates a listener with its own terminal, separate from the one that the command prints on.
    pub fn new(keep: &RecordArguments) -> Self {
        let (current_run, stored_runs) = (String::new(), Vec::new());
        Self {
            terminal: Terminal::for_process(),
            is_stored: !keep.no_store,
            current_run,
            stored_runs,
        }
    }
}

impl Drop for EmulationListener {
    fn drop(&mut self) {
        for run in &self.stored_runs {
            self.terminal.note_on_terminal(&format!("Stored as {run}: assay show {run}"));
        }
    }
}

impl Listener for EmulationListener {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted(started) => self.current_run.clone_from(&started.run),
            // A failed run has reported its failure and has nothing to show.
            RunEvent::RunFinished { status, .. }
                if self.is_stored && *status != RunStatus::Failed =>
            {
                self.stored_runs.push(std::mem::take(&mut self.current_run));
            }
            _ => {}
        }
    }

    fn progress(&mut self, _: &Phrase) {}

    fn note(&mut self, _: Option<&str>, _: &Phrase) {}

    fn doubt(&mut self, doubt: &Doubt) {
        self.terminal.note(&format!("warning: {}", words::doubt(doubt).text));
    }
}

impl ProgressListener<'_> {
    /// Prints the grouped messages of several hosts once no more arrive.
    fn print_settled(&mut self) {
        let at_s = self.began.elapsed().as_secs_f64();
        let groups = [&self.doubts, &self.failures, &self.outlooks];
        if groups.iter().any(|it| !it.is_settled(at_s)) {
            return;
        }
        self.print_outlooks();
        self.print_failures();
        // Hosts that take turns finish one by one and have the same doubts.
        if !self.has_started_case {
            self.print_doubts();
        }
    }

    fn print_outlooks(&mut self) {
        let rest = self.outlooks.take_queued();
        if !self.is_quiet {
            rest.iter().for_each(|line| self.terminal.note(line));
        }
    }

    fn print_doubts(&mut self) {
        self.doubts.take_queued().into_iter().for_each(|line| self.print_doubt(line));
    }

    fn print_failures(&mut self) {
        self.failures.take_queued().iter().for_each(|line| self.terminal.note(line));
    }

    fn print_done(&mut self, case: &str) {
        if self.is_quiet || self.terminal.is_live() {
            return;
        }
        let value = self.lock_progress().value_so_far(case).map(|value| value.to_string());
        let done = match &value {
            Some(value) => sentence("progress-done-with", &[("case", case), ("value", value)]),
            None => sentence("progress-done", &[("case", case)]),
        };
        self.terminal.note(&format!("  {done}"));
    }

    fn print_doubt(&mut self, line: String) {
        match self.is_single {
            true => self.pending_warnings.push(line),
            false => self.terminal.note(&line),
        }
    }

    fn add_doubt(&mut self, doubt: &Doubt, at_s: f64) {
        let text = words::doubt(doubt).text;
        let warning = format!("  {}", sentence("progress-warning", &[("what", &text)]));
        let line = match words::host_and_text(doubt) {
            Some((host, _)) => {
                let is_lost = matches!(doubt, Doubt::HostLost { .. });
                let group = if is_lost { &mut self.failures } else { &mut self.doubts };
                group.add(doubt.id(), host, (warning, doubt.severity()), at_s)
            }
            None => Some(warning),
        };
        line.into_iter().for_each(|line| self.print_doubt(line));
    }

    fn handle_event(&mut self, event: &RunEvent, at_s: f64) {
        match event {
            RunEvent::RunStarted(started) => {
                self.is_single = started.plan.cases.len() == 1;
                *self.lock_progress() = RunProgress::for_plan(&started.plan);
                self.began = Instant::now();
                if !self.is_quiet {
                    self.terminal.begin_progress(&self.progress, self.began);
                }
            }
            RunEvent::CaseStarted { .. } => self.has_started_case = true,
            // The report repeats doubts about the run. Contention is printed before the first
            // measurement all the same, while the user can still stop.
            RunEvent::Doubt { case: None, doubt }
                if self.has_report && self.has_started_case && trust::lowers_trust(doubt) => {}
            // Nothing was measured: the point of a curve was skipped, or there was no time.
            RunEvent::CaseFinished {
                stopped: StopReason::NotNeeded | StopReason::Cut, ..
            } => {
                self.print_failures();
            }
            // Doubts stay queued: other hosts may finish later with the same doubts.
            RunEvent::CaseFinished { case, .. } => {
                self.print_failures();
                self.print_done(case);
            }
            RunEvent::CaseFailed { case, failure, host: Some(host), .. } => {
                let why = words::failure(failure).text;
                let arguments = [("case", case.as_str()), ("host", host), ("why", &why)];
                let line = format!("  {}", sentence("progress-failed-on", &arguments));
                let key = format!("{case} {why}");
                let line = self.failures.add(&key, host, (line, 0.0), at_s);
                line.iter().for_each(|line| self.terminal.note(line));
                self.printed_failures.insert(case.clone());
            }
            RunEvent::CaseFailed { .. } if self.is_single => self.has_failed = true,
            RunEvent::CaseFailed { case, host: None, .. }
                if self.printed_failures.contains(case) => {}
            RunEvent::CaseFailed { case, failure, because, host: None } => {
                let why = words::failure(failure).text;
                let failed = match because {
                    Some(_) => format!("{case} {why}"),
                    None => sentence("progress-failed", &[("case", case), ("why", &why)]),
                };
                self.terminal.note(&format!("  {failed}"));
            }
            RunEvent::Doubt { case: None, doubt } => self.add_doubt(doubt, at_s),
            RunEvent::RunFinished { .. } => {
                // Files are removed and the store is written now; the progress line stays until
                // there is output.
                self.print_outlooks();
                self.print_failures();
                self.print_doubts();
                self.lock_progress().finish_measuring();
                self.lock_progress().set_message(words::message("progress-finishing"));
                if !self.has_failed {
                    self.pending_warnings
                        .drain(..)
                        .for_each(|warning| self.terminal.note(&warning));
                }
            }
            _ => {}
        }
    }
}
