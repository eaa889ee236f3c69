//! Delivery of a measured run, of one host or several: its report, and the verdict on expectations
//! that becomes the exit code.
//!
//! All demands are read before the measurement, so that an invalid one wastes none.

use std::path::Path;

use assay_claims::expectation::JudgedResults;
use assay_judgement::drained_hosts::{drain_list, is_uneven};
use assay_judgement::expectations::NamedExpectations;
use assay_judgement::gates::JudgedHosts;
use assay_model::run::Run;
use assay_model::summary::RunSummary;
use assay_report::{build, words};
use assay_run::failure::CommandFailure;
use assay_run::listener::Listener;
use assay_run::restore_record;
use assay_run::run_request::{self, MeasuredRun};
use assay_stats::compare::compare_programs;
use assay_store::Store;

use crate::arguments::hosts::FleetArguments;
use crate::arguments::{MeasuringArguments, PageFormat};
use crate::expectations::{outcome_status, report_hosts, report_run_claims};
use crate::failure::ExitStatus;
use crate::progress_listener::ProgressListener;
use crate::terminal::Terminal;
use crate::{output_file, page, store_access};

mod report;

use report::RunVerdicts;

/// Extent of the printed report of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportExtent {
    /// One screen: a row for each value that characterizes the machine.
    OneScreen,
    /// The whole report.
    Full,
}

/// Prints a page after the report of a run.
pub(crate) type FurtherPage<'a> =
    dyn Fn(&Run, &mut Terminal) -> Result<(), CommandFailure> + 'a;

/// Demands on a run, and the form of its report.
pub(crate) struct RunDelivery<'a> {
    typed: &'a MeasuringArguments,
    extent: ReportExtent,
    /// Expectations with which the results are compared.
    pub(crate) expectations: NamedExpectations,
    /// File for the hosts to drain.
    drain_list: Option<&'a Path>,
    further_page: Option<&'a FurtherPage<'a>>,
    own_page: Option<&'a FurtherPage<'a>>,
    /// Margin of the comparison of programs with the first one.
    programs_margin: Option<f64>,
    is_stored: bool,
}

impl<'a> RunDelivery<'a> {
    /// Reads the demands. Invalid expectations and impossible pages are reported before the
    /// measurement.
    pub(crate) fn from_options(
        typed: &'a MeasuringArguments,
        extent: ReportExtent,
    ) -> Result<Self, CommandFailure> {
        page::check_output(&typed.page)?;
        Ok(Self {
            typed,
            extent,
            expectations: typed.expect.read(JudgedResults::SingleRuns)?,
            drain_list: None,
            further_page: None,
            own_page: None,
            programs_margin: None,
            is_stored: true,
        })
    }

    /// Adds the file for the hosts to drain, which must be writable.
    pub(crate) fn with_hosts(self, typed: &'a FleetArguments) -> Result<Self, CommandFailure> {
        let drain_list = typed.drain_list.as_deref();
        drain_list.map(output_file::check_writable).transpose()?;
        Ok(Self { drain_list, ..self })
    }

    /// Compares the programs of the run with the first one, in its report.
    pub(crate) fn with_programs_compared(self, margin: f64) -> Self {
        Self { programs_margin: Some(margin), ..self }
    }

    /// Stores nothing.
    pub(crate) fn without_store(self) -> Self {
        Self { is_stored: false, ..self }
    }

    /// Adds a page after the report.
    pub(crate) fn with_further_page(self, print: &'a FurtherPage<'a>) -> Self {
        Self { further_page: Some(print), ..self }
    }

    /// Replaces the page of the run.
    pub(crate) fn with_own_page(self, print: &'a FurtherPage<'a>) -> Self {
        Self { own_page: Some(print), ..self }
    }

    /// Measures and delivers a run; `first_text` is shown until it begins. Returns the exit code.
    pub(crate) fn measure(
        &self,
        first_text: Option<&str>,
        terminal: &mut Terminal,
        measure: impl FnOnce(
            Option<&Store>,
            &mut dyn Listener,
        ) -> Result<MeasuredRun, CommandFailure>,
    ) -> Result<u8, CommandFailure> {
        let has_report = prints_report(self.typed) && terminal.is_stdout_terminal();
        let progress = (first_text, has_report);
        let measured = if self.is_stored {
            let measure =
                |store: &Store, listener: &mut dyn Listener| measure(Some(store), listener);
            self::measure(self.typed, progress, terminal, measure)?
        } else {
            let mut listener = progress_listener(self.typed, progress, terminal);
            // An unstored run is disturbed by levels of stored ones, too.
            if let Ok(store) = store_access::open_for_reading(&self.typed.store) {
                restore_record::report_unrestored(&store, &mut listener);
            }
            measure(None, &mut listener)?
        };
        self.deliver(measured, terminal)
    }

    /// Prints the report and decides on the exit code.
    fn deliver(
        &self,
        measured: MeasuredRun,
        terminal: &mut Terminal,
    ) -> Result<u8, CommandFailure> {
        let MeasuredRun { run, left } = measured;
        let is_text = self.typed.page.format() == PageFormat::Text;
        let summary = self.expectations.summarize(&run);
        // If the only case of a single host failed, there is nothing to print but the reason.
        let is_lost =
            run.cases.len() == 1 && run.hosts.len() == 1 && summary.results.is_empty();
        let judged = self.expectations.judge_hosts(&summary);
        let gates = judged.as_ref().map(JudgedHosts::to_json);
        let margin = self.programs_margin;
        let comparisons =
            margin.map(|margin| compare_programs(&run, margin)).unwrap_or_default();
        match self.own_page {
            Some(print) => print(&run, terminal)?,
            None if is_lost && is_text => {}
            None => {
                report::publish_run(
                    &run,
                    &summary,
                    &RunVerdicts {
                        gates: gates.as_ref(),
                        comparisons: &comparisons,
                        is_stored: self.is_stored,
                    },
                    (self.typed, self.extent),
                    terminal,
                )?;
            }
        }
        if let Some(print) = self.further_page {
            print(&run, terminal)?;
        }
        if let Some(judged) = &judged {
            report_hosts(judged, prints_report(self.typed), terminal);
        }
        if let Some(file) = self.drain_list {
            output_file::write(file, drain_list(&summary, judged.as_ref()))?;
        }
        let of_gates = judged.map_or(ExitStatus::Success, |it| outcome_status(it.outcome()));
        check_result(&summary)?;
        left.map_or(Ok(()), Err)?;
        let is_uneven = self.typed.strict && is_uneven(&summary);
        let of_hosts = if is_uneven { ExitStatus::Regression } else { ExitStatus::Success };
        Ok(of_gates.max(of_hosts).max(self.check(&summary, terminal)).code())
    }

    /// Checks the demands on the run as a whole.
    fn check(&self, summary: &RunSummary, terminal: &mut Terminal) -> ExitStatus {
        let notice = build::trust_notice(summary);
        let is_doubted = self.typed.strict && !notice.is_empty();
        // A report on the screen begins with the reasons; they are not repeated.
        if is_doubted && !prints_report(self.typed) {
            terminal.note(&format!("--strict: {notice}"));
        }
        let is_text = prints_report(self.typed);
        let of_trust = if is_doubted { ExitStatus::Undecided } else { ExitStatus::Success };
        of_trust.max(report_run_claims(&self.expectations, summary, is_text, terminal))
    }
}

/// Opens the store and measures, with progress on the terminal: the text until the run begins, and
/// whether a report of the run follows.
pub(crate) fn measure<T>(
    typed: &MeasuringArguments,
    progress: (Option<&str>, bool),
    terminal: &mut Terminal,
    measure: impl FnOnce(&Store, &mut dyn Listener) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    let store = store_access::open(&typed.store)?;
    let mut listener = progress_listener(typed, progress, terminal);
    restore_record::report_unrestored(&store, &mut listener);
    measure(&store, &mut listener)
}

fn progress_listener<'t>(
    typed: &MeasuringArguments,
    (first_text, has_report): (Option<&str>, bool),
    terminal: &'t mut Terminal,
) -> ProgressListener<'t> {
    let mut listener = ProgressListener::new(terminal, typed.events, typed.page.screen.quiet)
        .with_report(has_report);
    if let Some(text) = first_text {
        listener.begin_with_text(text);
    }
    listener
}

/// Whether the report is printed as text on standard output.
fn prints_report(typed: &MeasuringArguments) -> bool {
    typed.page.is_on_screen() && !typed.events
}

/// Returns a failure if the run was interrupted, a case failed or nothing was measured.
pub(crate) fn check_result(summary: &RunSummary) -> Result<(), CommandFailure> {
    run_request::check_summary(summary, |failure| {
        let message = words::failure(failure);
        (message.text, message.advice)
    })
}
