//! Row of a run in the list of runs, on the terminal and in a site.

use assay_report::build::ListedRun;
use assay_store::ListEntry;

/// Returns the row of a run.
pub fn list_row(run: &ListEntry) -> ListedRun<'_> {
    ListedRun {
        id: &run.id,
        label: run.label.as_deref().unwrap_or_default(),
        note: run.note.as_deref().unwrap_or_default(),
        suite: &run.suite,
        status: run.status,
        is_running: run.running,
        cases: [run.cases_finished, run.cases_failed, run.cases_planned],
        host: &run.host,
        other_hosts: run.other_hosts,
        is_readable: run.is_whole,
        headlines: run.headlines.iter().map(|it| (it.label.as_str(), it.quantity)).collect(),
        trust: run.trust,
    }
}
