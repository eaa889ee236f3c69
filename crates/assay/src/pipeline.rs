//! Measurement pipeline: suite → plan → events → run → summary → document.

use assay_console::json_document::to_json;
use assay_console::options::program_arguments;
use assay_model::plan::{Case, Plan};
use assay_model::suite::Suite;
use assay_report::build::{self, PlannedTurns};
use assay_report::document::Document;
use assay_run::coordinator::Alone;
use assay_run::failure::CommandFailure;
use assay_run::run_request::{self, PlanForecast, PreparedRun, RunRequest};
use assay_run::switching::TurnSchedule;
use serde::Serialize;

use crate::arguments::values::TimeBudget;
use crate::arguments::{MeasuringArguments, PageArguments, PageFormat};
use crate::delivery::{ReportExtent, RunDelivery};
use crate::page;
use crate::progress_listener::{ProgressListener, SEARCH_MESSAGE};
use crate::signals;
use crate::terminal::Terminal;

/// Returns the request for a suite that was built from options.
pub(crate) fn request_from_options<'a>(
    suite: &'a Suite,
    typed: &MeasuringArguments,
) -> RunRequest<'a> {
    let mut request = RunRequest {
        by: typed.by.clone(),
        budget_s: typed.budget.map(TimeBudget::seconds),
        keeps_budget: typed.budget.is_some_and(TimeBudget::is_kept),
        tools: typed.tools.clone(),
        seed: typed.seed,
        command: program_arguments(),
        ..RunRequest::from_suite(suite)
    };
    request.storage.store = typed.store.folder.clone();
    request
}

/// Measures a suite that was built from options.
pub(crate) fn run_options(
    suite: &Suite,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    run_suite(&request_from_options(suite, typed), typed, ReportExtent::Full, terminal)
}

/// Measures a suite, stores the run and prints its results. Returns the exit code.
pub(crate) fn run_suite(
    request: &RunRequest<'_>,
    typed: &MeasuringArguments,
    extent: ReportExtent,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    deliver_suite(request, typed, &RunDelivery::from_options(typed, extent)?, terminal)
}

/// Measures a suite like [`run_suite`], for a delivery with further demands.
pub(crate) fn deliver_suite(
    request: &RunRequest<'_>,
    typed: &MeasuringArguments,
    delivery: &RunDelivery<'_>,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let request = &with_label(request, typed)?;
    ProgressListener::show_search(
        terminal,
        SEARCH_MESSAGE,
        typed.page.screen.quiet || typed.dry_run,
    );
    let prepared = run_request::prepare(request)?;
    if typed.dry_run {
        let compared = delivery.expectations.describe_claims(&prepared.plan);
        compared.iter().for_each(|it| terminal.note(it));
        return dry_run(&prepared, None, typed, terminal);
    }
    if typed.page.format() == PageFormat::Svg
        && (prepared.plan.cases.iter().all(is_single_number)
            || is_single_stream(&prepared.plan))
    {
        return Err(page::no_plot_failure(&request.suite.title));
    }
    let cancel = signals::cancel_on_signals_with_notice()?;
    delivery.measure(None, terminal, |store, listener| {
        run_request::measure(request, prepared, store, &cancel, listener, Box::new(Alone))
    })
}

/// Whether the case yields a single number, which cannot be plotted.
const fn is_single_number(case: &Case) -> bool {
    case.workload.as_linpack().is_some() || case.workload.as_peak_flops().is_some()
}

/// Whether the plan is STREAM in one placement: scaling and several domains have a plot.
const fn is_single_stream(plan: &Plan) -> bool {
    matches!(plan.cases.as_slice(), [case] if case.workload.as_stream().is_some())
}

/// Adds the label and the note to the request.
fn with_label<'a>(
    request: &RunRequest<'a>,
    typed: &'a MeasuringArguments,
) -> Result<RunRequest<'a>, CommandFailure> {
    let label = match typed.label.as_slice() {
        [] => None,
        [label] => Some(label.as_str()),
        _ => {
            return Err(CommandFailure::usage("--label needs a single name")
                .advise("use two names only with `assay run --switch`"));
        }
    };
    Ok(RunRequest { label, note: typed.note.as_deref(), ..request.clone() })
}

/// Machine-readable plan with its time estimate.
#[derive(Serialize)]
struct PlannedDocument<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    outlook: ForecastDocument,
    /// Runs of two alternating conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<PlannedTurns>,
}

/// Time estimate of a plan, in English.
#[derive(Serialize)]
pub(crate) struct ForecastDocument {
    /// Whether it takes longer than its budget.
    is_beyond_budget: bool,
    said: Vec<String>,
}

impl ForecastDocument {
    pub(crate) fn from_forecast(outlook: &PlanForecast) -> Self {
        let notes = outlook.notes.iter().map(ToString::to_string).collect();
        Self { is_beyond_budget: outlook.exceeds_budget, said: notes }
    }
}

/// Prints the resolved plan without measuring; `schedule` repeats it under two conditions.
pub(crate) fn dry_run(
    prepared: &PreparedRun,
    schedule: Option<TurnSchedule>,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let (plan, outlook) = (&prepared.plan, prepared.forecast());
    let turns = schedule.map(|schedule| plan_turns(schedule, &outlook));
    let document = build::plan(plan, &outlook.notes, outlook.is_too_long(), turns);
    let outlook = ForecastDocument::from_forecast(&outlook);
    let json = PlannedDocument { plan, outlook, turns };
    publish_plan(&document, &json, &typed.page, terminal)?;
    Ok(0)
}

/// Returns the number of runs of a schedule, and the time of all.
pub(crate) fn plan_turns(schedule: TurnSchedule, outlook: &PlanForecast) -> PlannedTurns {
    let (extent, settle_s) = (schedule.extent(), schedule.settle.as_secs_f64());
    let total_s = extent.runs as f64 * outlook.total_s + extent.settling_s;
    PlannedTurns { runs: extent.runs, commands: extent.commands, settle_s, total_s }
}

/// Prints or writes a plan, of one host or several, in the requested format.
pub(crate) fn publish_plan(
    document: &Document,
    plan: &impl Serialize,
    typed: &PageArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let text = match typed.format() {
        PageFormat::Json => to_json(plan)?,
        PageFormat::Text => terminal.render_document(document),
        _ => return Err(CommandFailure::usage("a plan has only the formats text and json")),
    };
    page::print_or_write(&text, typed, terminal)
}
