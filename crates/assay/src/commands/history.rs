//! `assay history`: reports one result over all stored runs.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::run::Run;
use assay_model::spelling::nearest_word;
use assay_report::{build, render};
use assay_run::failure::CommandFailure;
use assay_stats::history::{self as statistics, ResultQuery};

use crate::arguments::HistoryArguments;
use crate::page::OutputPage;
use crate::terminal::Terminal;
use crate::{run_names, store_access};

pub(crate) fn history(
    typed: &HistoryArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let query = parse_metric(typed)?;
    let runs = read_runs(typed, &query, terminal)?;
    let chosen = (typed.margin, typed.seed);
    let history = statistics::build_history(&runs, &query, build::representative, chosen)
        .ok_or_else(|| no_result_failure(typed))?;
    let (json, csv) = (render::json::history, render::csv::history);
    OutputPage::from_value(&history, build::history, json, csv)
        .publish(&typed.page, terminal)?;
    Ok(0)
}

/// Metrics with the names that other tools give them.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("rate", &["iops", "IOPS"]),
    ("bandwidth", &["bw", "BW"]),
    ("goodput", &["throughput", "tcp"]),
    ("rmax", &["flops", "gflops", "linpack", "hpl"]),
    ("triad", &["stream", "STREAM"]),
];

/// Parses the metric, which must exist.
fn parse_metric(typed: &HistoryArguments) -> Result<ResultQuery<'_>, CommandFailure> {
    let (benchmark, metric) = match typed.metric.rsplit_once('/') {
        Some((benchmark, metric)) => (Some(benchmark), metric),
        None => (None, typed.metric.as_str()),
    };
    let metrics = Benchmark::ALL.into_iter().flat_map(|it| {
        it.definition().metrics.iter().map(move |metric| (it.id(), metric.name))
    });
    let is_one = |(id, name): (&str, &str)| {
        name == metric && benchmark.is_none_or(|benchmark| benchmark == id)
    };
    if metrics.clone().any(is_one) {
        return Ok(ResultQuery { benchmark, metric, parameters: &typed.parameters });
    }
    let names: Vec<String> =
        metrics.flat_map(|(id, name)| [name.to_owned(), format!("{id}/{name}")]).collect();
    let other = OTHER_NAMES.iter().find(|(_, others)| others.contains(&&*typed.metric));
    let near = nearest_word(&typed.metric, names.iter().map(String::as_str));
    let advice = match other.map(|(name, _)| *name).or(near) {
        Some(near) => format!("did you mean {near}? `assay help methods` lists all metrics"),
        None => "`assay help methods` lists all metrics".to_owned(),
    };
    let failure = CommandFailure::usage(format!("there is no metric `{}`", typed.metric));
    let is_latest = typed.metric.starts_with("latest");
    if is_latest || run_names::is_run(&typed.store, &typed.metric) {
        let name = &typed.metric;
        return Err(failure.advise(format!(
            "it names runs: `assay show {name}` prints their results, and `--label NAME` limits a history"
        )));
    }
    Err(run_names::advise_about_system(failure.advise(advice), &typed.metric))
}

/// Reads the runs that may contain the result, oldest first, of a single host. By default this is
/// the host of the newest run with the result.
fn read_runs(
    typed: &HistoryArguments,
    query: &ResultQuery<'_>,
    terminal: &mut Terminal,
) -> Result<Vec<Run>, CommandFailure> {
    let mut host = typed.host.clone();
    let mut runs = Vec::new();
    for listed in store_access::list_runs(&typed.store)?.runs {
        let has_label = typed.label.is_none() || listed.label == typed.label;
        let is_there = host.as_ref().is_none_or(|host| listed.host == *host);
        if listed.running || !has_label || !is_there {
            continue;
        }
        let run = store_access::read_and_warn(&typed.store, &listed.id, terminal)?;
        if host.is_none() {
            if !statistics::has_result(&run, query) {
                continue;
            }
            host = Some(listed.host);
        }
        runs.push(run);
    }
    runs.reverse();
    Ok(runs)
}

fn no_result_failure(typed: &HistoryArguments) -> CommandFailure {
    if let Err(failure) = store_access::open_for_reading(&typed.store) {
        return failure;
    }
    let label = typed.label.iter().map(|label| format!(" labelled {label}"));
    let host = typed.host.iter().map(|host| format!(" of {host}"));
    let which: String = label.chain(host).collect();
    let having = |(name, value): &(Attribute, String)| format!(" with {}={value}", name.name());
    let having: String = typed.parameters.iter().map(having).collect();
    CommandFailure::usage(format!("no stored run{which} has a result {}{having}", typed.metric))
        .advise("`assay list` shows the stored runs, `assay show RUN --json` their results")
}
