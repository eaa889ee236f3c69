//! Delivery of a measured run, of one host or several: its data sheet, its report, and the verdict
//! that becomes the exit code.
//!
//! All demands are read before the measurement, so that an invalid one wastes none.

use assay_claims::reference::Claim;
use assay_model::run::Run;
use assay_model::summary::RunSummary;
use assay_report::words::sentence;
use assay_report::{build, words};
use assay_run::factor_turns;
use assay_run::failure::CommandFailure;
use assay_run::listener::Listener;
use assay_run::run_request::{self, MeasuredRun};
use assay_stats::compare::compare_programs;
use assay_store::Store;

use crate::arguments::hosts::FleetArguments;
use crate::arguments::{MeasuringArguments, PageFormat};
use crate::data_sheet::DataSheet;
use crate::failure::{REGRESSION, UNDECIDED};
use crate::progress_listener::ProgressListener;
use crate::terminal::Terminal;
use crate::{page, published_figures, store_access};

mod hosts;
mod report;

use hosts::{HostDemands, JudgedHosts};
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
    data_sheet: DataSheet,
    /// Published figures to compare the results with, and their name on the command line.
    claims: Option<(Vec<Claim>, &'a str)>,
    hosts: HostDemands<'a>,
    further_page: Option<&'a FurtherPage<'a>>,
    own_page: Option<&'a FurtherPage<'a>>,
    /// Margin of the comparison of programs with the first one.
    programs_margin: Option<f64>,
    is_stored: bool,
}

impl<'a> RunDelivery<'a> {
    /// Reads the demands. Unknown references and impossible pages are reported before the
    /// measurement.
    pub(crate) fn from_options(
        typed: &'a MeasuringArguments,
        extent: ReportExtent,
    ) -> Result<Self, CommandFailure> {
        page::check_output(&typed.page)?;
        let claims = typed.expect.as_deref().map(|name| {
            let claims = published_figures::find_named_claims(name)
                .unwrap_or_else(|| published_figures::system_claims(name));
            claims.map(|claims| (claims, name))
        });
        let (claims, data_sheet) = (claims.transpose()?, typed.data_sheet.read()?);
        Ok(Self {
            typed,
            extent,
            data_sheet,
            claims,
            hosts: HostDemands::default(),
            further_page: None,
            own_page: None,
            programs_margin: None,
            is_stored: true,
        })
    }

    /// Adds the demands on every host of a run with several.
    pub(crate) fn with_hosts(self, typed: &'a FleetArguments) -> Result<Self, CommandFailure> {
        Ok(Self { hosts: HostDemands::from_options(typed)?, ..self })
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
            measure(None, &mut progress_listener(self.typed, progress, terminal))?
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
        let summary = self.data_sheet.summarize(&run);
        // If the only case of a single host failed, there is nothing to print but the reason.
        let is_lost =
            run.cases.len() == 1 && run.hosts.len() == 1 && summary.results.is_empty();
        let judged = self.hosts.judge(&summary);
        let limits = judged.as_ref().map(JudgedHosts::to_json);
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
                        limits: limits.as_ref(),
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
            judged.print(prints_report(self.typed), terminal);
        }
        self.hosts.write_drain_list(judged.as_ref(), &summary)?;
        let code = judged.as_ref().map_or(0, JudgedHosts::exit_code);
        check_result(&summary)?;
        left.map_or(Ok(()), Err)?;
        let code = if code == 0 { self.check(&summary, terminal) } else { code };
        let is_uneven = self.typed.strict && hosts::is_uneven(&summary);
        Ok(if is_uneven { REGRESSION } else { code })
    }

    /// Checks the demands on the run as a whole. Returns the exit code: a missed figure takes
    /// precedence over an undecided one.
    fn check(&self, summary: &RunSummary, terminal: &mut Terminal) -> u8 {
        let notice = build::trust_notice(summary);
        let is_doubted = self.typed.strict && !notice.is_empty();
        // A report on the screen begins with the reasons; they are not repeated.
        if is_doubted && !prints_report(self.typed) {
            terminal.note(&format!("--strict: {notice}"));
        }
        let published = match &self.claims {
            Some((claims, name)) => self.check_published(summary, (claims, name), terminal),
            None => 0,
        };
        if is_doubted && published == 0 { UNDECIDED } else { published }
    }

    fn check_published(
        &self,
        summary: &RunSummary,
        (claims, name): (&[Claim], &str),
        terminal: &mut Terminal,
    ) -> u8 {
        let Some((document, outcome, code)) =
            published_figures::compare_with_claims(summary, claims, name)
        else {
            terminal.note(&sentence("references-nothing", &[("name", name)]));
            return UNDECIDED;
        };
        if prints_report(self.typed) {
            let text = terminal.render_document(&document);
            terminal.print(&text);
        } else if !outcome.is_empty() {
            terminal.note(&outcome);
        }
        code
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
    factor_turns::report_unrestored(&store, &mut listener);
    measure(&store, &mut listener)
}

fn progress_listener<'t>(
    typed: &MeasuringArguments,
    (first_text, has_report): (Option<&str>, bool),
    terminal: &'t mut Terminal,
) -> ProgressListener<'t> {
    let mut listener =
        ProgressListener::new(terminal, typed.events, typed.quiet).with_report(has_report);
    if let Some(text) = first_text {
        listener.begin_with_text(text);
    }
    listener
}

/// Whether the report is printed as text on standard output.
fn prints_report(typed: &MeasuringArguments) -> bool {
    typed.page.format() == PageFormat::Text && typed.page.output.is_none() && !typed.events
}

/// Returns a failure if the run was interrupted, a case failed or nothing was measured.
pub(crate) fn check_result(summary: &RunSummary) -> Result<(), CommandFailure> {
    run_request::check_summary(summary, |failure| {
        let message = words::failure(failure);
        (message.text, message.advice)
    })
}
