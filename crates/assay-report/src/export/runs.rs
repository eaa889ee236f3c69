//! Table of runs.

use assay_model::event::RunStatus;
use assay_model::run::CaseOutcome;

use super::ExportedRun;
use super::table::{ColumnKind, ExportCell, ExportColumn, column};
use crate::render::json;

pub(super) fn run_columns() -> Vec<ExportColumn<ExportedRun>> {
    use ColumnKind::{Flag, Integer, Json, Text, Time};
    vec![
        column("run", Text, "identifier", |it| ExportCell::text(&it.summary.run.id)),
        column("time", Time, "start, in UTC", ExportedRun::start_cell),
        column("host", Text, "first host", |it| ExportCell::text(it.first_host())),
        column("hosts", Integer, "number of hosts", |it| {
            ExportCell::count(it.summary.hosts.len())
        }),
        column("suite", Text, "suite, or the command that measured", |it| {
            ExportCell::text(&it.summary.run.suite)
        }),
        column("label", Text, "label", |it| {
            ExportCell::optional_text(it.summary.run.label.as_deref())
        }),
        column("note", Text, "note of the user", |it| {
            ExportCell::optional_text(it.summary.run.note.as_deref())
        }),
        column("state", Text, "how it ended: `complete`, `failed`, `partial` …", |it| {
            it.state_cell()
        }),
        column("trust", Text, "trust in the results: `sound`, `noisy` or `suspect`", |it| {
            ExportCell::text(it.trust.name())
        }),
        column("damaged", Flag, "whether events are lost", |it| ExportCell::Flag(!it.is_whole)),
        column("cases_planned", Integer, "cases of the plan", |it| {
            ExportCell::count(it.run.started.plan.cases.len())
        }),
        column("cases_finished", Integer, "cases with valid samples", |it| {
            ExportCell::count(it.run.finished_cases().count())
        }),
        column("cases_failed", Integer, "cases that failed", |it| {
            let outcomes = it.run.cases.iter().filter_map(|record| record.outcome.as_ref());
            let failed = outcomes.filter(|it| matches!(it, CaseOutcome::Failed { .. }));
            ExportCell::count(failed.count())
        }),
        column("statistics", Integer, "version of the statistics", |it| {
            ExportCell::Integer(it.summary.statistics.into())
        }),
        column("facts", Json, "facts about the hosts: `hosts` of the JSON document", |it| {
            ExportCell::Json(json::to_json_line(&it.summary.hosts).into())
        }),
    ]
}

impl ExportedRun {
    pub(super) fn start_cell(&self) -> ExportCell<'_> {
        ExportCell::Time(&self.summary.run.started, self.started_ns.map(|ns| ns / 1000))
    }

    /// Returns the cell of the status.
    pub(super) const fn state_cell(&self) -> ExportCell<'_> {
        ExportCell::text(match self.summary.run.status {
            RunStatus::Complete => "complete",
            RunStatus::Failed => "failed",
            RunStatus::Partial => "partial",
            RunStatus::Interrupted => "interrupted",
            RunStatus::Unfinished => "unfinished",
        })
    }

    /// Returns the name of the first host; empty if none joined.
    pub(super) fn first_host(&self) -> &str {
        self.run.first_host().map(|joined| joined.host.as_str()).unwrap_or_default()
    }
}
