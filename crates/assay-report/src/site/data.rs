//! Data of the site as scripts that assign JSON: browsers load scripts also from `file://`.

use assay_model::benchmark::Better;
use assay_model::summary::{MetricEstimate, RunSummary};
use serde_json::{Value, json};

use super::script::assign;
use super::{SiteRun, pictures, short_text};
use crate::build;
use crate::document::Tone;
use crate::locale::format_minute;
use crate::{precision, units};

/// Renders one piece of the list of runs: the entries of the overview, the oldest first.
pub fn runs_script(piece: usize, runs: &[SiteRun<'_>]) -> String {
    let rows: Vec<Value> = runs.iter().map(run_row).collect();
    assign(&format!("(self.assayRuns ??= [])[{piece}]"), &Value::from(rows))
}

/// Renders the results of a run for comparisons. Each result has the key by which `assay compare`
/// matches it.
pub fn results_script(
    summary: &RunSummary,
    keyed: &[((String, usize), MetricEstimate)],
) -> String {
    let mut sorted: Vec<&((String, usize), MetricEstimate)> = keyed.iter().collect();
    build::sort_related(&mut sorted, |(_, estimate)| estimate);
    let rows: Vec<Value> = sorted.into_iter().map(result_row).collect();
    let run = &summary.run;
    let host = summary.hosts.first().map_or("", |host| host.name.as_str());
    let data = json!({
        "label": short_text(run.label.as_deref().unwrap_or_default()),
        "host": short_text(host),
        "suite": short_text(&run.suite),
        "started": format_minute(&run.started),
        "results": rows,
    });
    assign(&format!("(self.assayResults ??= {{}})[{}]", Value::from(run.id.as_str())), &data)
}

/// Returns the state of a run that is being measured: seconds, and finished cases of all.
pub fn running_text(elapsed_s: u64, [finished, planned]: [usize; 2]) -> String {
    let time = format!("{}:{:02}", elapsed_s / 60, elapsed_s % 60);
    message!("site-running", time = time, n = finished, all = planned)
}

/// Returns the notice that the runs of a server cannot be read at the moment.
pub fn unreadable_text(reason: &str) -> String {
    message!("site-live-store", reason = short_text(reason).into_owned())
}

/// Returns the columns that the script of the site reads by their position.
fn run_row(run: &SiteRun<'_>) -> Value {
    let listed = &run.listed;
    let (tone, state) = build::state_label(listed);
    let (values, _) = build::format_values(&listed.headlines);
    json!([
        listed.id,
        format_minute(run.started),
        short_text(listed.host),
        short_text(&build::host_label(listed)),
        short_text(run.machine),
        short_text(listed.suite),
        short_text(listed.label),
        state,
        tone_class(tone),
        short_text(&values),
        short_text(listed.note),
    ])
}

/// Returns the class of a cell with this meaning.
pub(super) const fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain | Tone::Quiet => "",
        Tone::Doubt => "doubt",
        Tone::Bad => "bad",
    }
}

/// Returns the columns that the script of the site reads by their position.
fn result_row(((key, index), estimate): &((String, usize), MetricEstimate)) -> Value {
    let [metric, case] = build::result_names(estimate);
    let tool = match estimate.tool.name.as_str() {
        "assay" => "",
        tool => tool,
    };
    json!([
        format!("{key}#{index}"),
        metric,
        short_text(&case),
        short_text(tool),
        precision::value(estimate),
        precision::interval(estimate),
        estimate.median,
        estimate.ci,
        short_text(&estimate.host),
        estimate.percent_of_limit,
        estimate.percent_of_limit.map(units::percent),
        pictures::percentiles(estimate),
        estimate.unit.symbol(),
        estimate.better == Better::Higher,
        short_text(&build::case_label_of(estimate)),
    ])
}
