//! Completion of words in a shell, which asks the program for candidates: runs, labels, systems,
//! suites, metrics, tools and languages.
//!
//! Reads the store, and never writes it.

use std::collections::BTreeSet;

use assay_adapters::tool::TOOLS;
use assay_claims::reference;
use assay_console::options::StoreArguments;
use assay_help::completion::{self, CompletedNames, ListNames};
use assay_model::benchmark::Benchmark;
use assay_report::locale::Locale;
use assay_store::ListEntry;
use clap::CommandFactory as _;

use super::suggestions::TOOL_COMMANDS;
use crate::arguments::Arguments;
use crate::{store_access, suites};

/// Variable by which a shell asks for candidates, with the name of the shell as its value.
pub(super) const VARIABLE: &str = "ASSAY_COMPLETE";

/// Arguments with the names that complete them: command or none for all, argument, and names.
const NAMES: &[(&[&str], &str, ListNames)] = &[
    (&["run"], "suites", suite_names),
    (&["show", "report", "rm", "verify", "export", "runs"], "runs", run_names),
    (&["compare"], "a", run_names),
    (&["compare"], "others", runs_and_systems),
    (&["compare"], "table", run_names),
    (&["references"], "system", system_names),
    (&["history"], "metric", metric_names),
    (&["list", "export", "site", "serve"], "metric", metric_names),
    (&["help"], "topic", topic_names),
    (&[], "expect", system_names),
    (&[], "by", tool_names),
    (&[], "locale", locale_names),
    (&[], "label", labels),
    (&["list", "export", "site", "serve"], "suite", suite_names),
    (&["list", "export", "site", "serve", "history", "compare"], "host", host_names),
];

/// Arguments that are files as well.
const FILES: [&str; 4] = ["suites", "expect", "system", "others"];

/// Answers a shell that asks for candidates or for its script, and ends the process. Returns if no
/// shell asks.
pub(crate) fn answer_shell() {
    let names = CompletedNames { rows: NAMES, files: &FILES, excluded: &TOOL_COMMANDS };
    completion::answer_shell(VARIABLE, || completion::add_names(Arguments::command(), names));
}

fn suite_names() -> Vec<String> {
    let built_in = suites::BUILT_IN.iter().chain(&suites::PAGE_SUITES);
    built_in.map(|(name, _)| (*name).to_owned()).collect()
}

fn system_names() -> Vec<String> {
    let systems = reference::published_claims().into_iter().map(|claim| claim.system);
    systems.collect::<BTreeSet<_>>().into_iter().collect()
}

fn metric_names() -> Vec<String> {
    let metrics = Benchmark::ALL.into_iter().flat_map(|it| {
        let metrics = it.definition().metrics.iter();
        metrics.map(move |metric| format!("{}/{}", it.id(), metric.name))
    });
    metrics.collect()
}

fn tool_names() -> Vec<String> {
    let tools = TOOLS.iter().map(|tool| tool.name);
    ["assay", "all"].into_iter().chain(tools).map(str::to_owned).collect()
}

fn locale_names() -> Vec<String> {
    Locale::ALL.iter().map(|it| it.tag().to_owned()).chain(["auto".to_owned()]).collect()
}

fn topic_names() -> Vec<String> {
    let commands = Arguments::command();
    let commands = commands.get_subcommands().map(|it| it.get_name().to_owned());
    let topics = super::TOPICS.iter().map(|(name, _)| (*name).to_owned());
    let guides = super::guides::guide_titles().map(|(name, _)| name);
    commands.chain(topics).chain(guides).collect()
}

/// Returns the stored runs of the default store; none if it cannot be read.
fn stored_runs() -> Vec<ListEntry> {
    let listing = store_access::list_runs(&StoreArguments { folder: None });
    listing.map(|it| it.runs).unwrap_or_default()
}

fn labels() -> Vec<String> {
    let labels = stored_runs().into_iter().filter_map(|run| run.label);
    labels.collect::<BTreeSet<_>>().into_iter().collect()
}

fn host_names() -> Vec<String> {
    let hosts = stored_runs().into_iter().map(|run| run.host);
    hosts.collect::<BTreeSet<_>>().into_iter().collect()
}

fn run_names() -> Vec<String> {
    let ids = stored_runs().into_iter().map(|run| run.id);
    ["latest".to_owned()].into_iter().chain(labels()).chain(ids).collect()
}

fn runs_and_systems() -> Vec<String> {
    run_names().into_iter().chain(system_names()).collect()
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    #[test]
    fn completed_arguments_exist() {
        fn collect(command: &Command, found: &mut Vec<(String, String)>) {
            let name = command.get_name();
            let arguments = command.get_arguments();
            found.extend(arguments.map(|it| (name.to_owned(), it.get_id().to_string())));
            command.get_subcommands().for_each(|it| collect(it, found));
        }
        let mut found = Vec::new();
        collect(&Arguments::command(), &mut found);
        for (commands, id, _) in NAMES {
            let exists = |command: &str| {
                found.iter().any(|(name, argument)| {
                    (command.is_empty() || name == command) && argument == id
                })
            };
            let all: &[&str] = if commands.is_empty() { &[""] } else { commands };
            for command in all {
                assert!(exists(command), "{command} {id}");
            }
        }
        for id in FILES {
            assert!(NAMES.iter().any(|(_, named, _)| *named == id), "{id}");
        }
    }
}
