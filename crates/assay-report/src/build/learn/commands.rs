//! Commands that repeat the runs of a page: as typed, or reconstructed from the stored results.

use std::borrow::Cow;
use std::path::Path;

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::run::Run;
use assay_model::summary::RunSummary;

use super::{number, text};
use crate::first_seen::distinct;

/// Suite name of runs that `assay import` stored.
const IMPORT_SUITE: &str = "import";
/// Suite names of single commands that work without options.
const SUITES_WITHOUT_OPTIONS: [&str; 2] = ["stream", "linpack"];
/// Suite names of single commands whose options are only known from the typed command.
const SUITES_WITH_OPTIONS: [&str; 2] = ["storage", "net"];

/// Returns the commands of all runs of a page, each once, including those of tools that assay
/// started.
pub(super) fn page_commands(summaries: &[&RunSummary], runs: &[Run]) -> Vec<String> {
    distinct(summaries.iter().flat_map(|summary| {
        let tool_commands = summary.results.iter().filter_map(|it| {
            match it.parameters.get(&Attribute::Commands) {
                Some(AttributeValue::Pairs(pairs)) => {
                    Some(pairs.values().cloned().collect::<Vec<_>>())
                }
                _ => None,
            }
        });
        let run = runs.iter().find(|run| run.started.run == summary.run.id);
        let command = run.and_then(|run| typed_command(run, summary));
        let assay_commands =
            command.map_or_else(|| reconstruct_commands(summary), |it| vec![it]);
        assay_commands.into_iter().chain(tool_commands.flatten()).collect::<Vec<_>>()
    }))
}

/// Returns the command as typed, quoted for a shell: a command of assay, or one that uses the
/// options of another tool.
fn typed_command(run: &Run, summary: &RunSummary) -> Option<String> {
    let started = &run.started;
    if !started.command.is_empty() {
        return Some(command_line(&["assay"], &started.command));
    }
    let request = started.asked.as_ref()?;
    if request.language != "osu" {
        return Some(command_line(&["assay", &request.language], &request.words));
    }
    let ranks = summary.results.iter().find_map(|it| number(it, Attribute::Ranks));
    let ranks = ranks.unwrap_or(2.0).to_string();
    Some(command_line(&["mpirun", "-n", &ranks, "assay", "mpi"], &request.words))
}

/// Joins words to a command line of a POSIX shell.
pub(crate) fn command_line(first: &[&str], rest: &[String]) -> String {
    let words = first.iter().copied().chain(rest.iter().map(String::as_str));
    words.map(shell_word).collect::<Vec<_>>().join(" ")
}

/// Quotes a text as one shell word (POSIX.1-2024, Shell Command Language, 2.2).
fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,@%+=".contains(c);
    match text.chars().all(is_plain) && !text.is_empty() {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', r"'\''")).into(),
    }
}

/// Reconstructs the commands of a run without a stored command. An import has one for each file; a
/// suite has one for each remote host, and one for all measured folders.
fn reconstruct_commands(summary: &RunSummary) -> Vec<String> {
    let suite = summary.run.suite.as_str();
    if suite == IMPORT_SUITE {
        let files = attribute_values(summary, Attribute::SourceFile).into_iter();
        return files.map(|file| command_line(&["assay", "import"], &[file])).collect();
    }
    if SUITES_WITH_OPTIONS.contains(&suite) {
        return Vec::new();
    }
    if SUITES_WITHOUT_OPTIONS.contains(&suite) {
        return vec![format!("assay {suite}")];
    }
    let hosts =
        attribute_values(summary, Attribute::To).into_iter().filter(|it| it != "loopback");
    let hosts = hosts.map(|it| vec!["--to".to_owned(), it]);
    // A test with several targets stores them as one text. Imported targets may have any name.
    let targets = attribute_values(summary, Attribute::Target);
    let targets = targets.iter().flat_map(|it| it.split(", ")).filter(|it| it.starts_with('/'));
    let folders = distinct(targets.map(target_folder));
    let folders: Vec<String> =
        folders.into_iter().flat_map(|it| ["--target".to_owned(), it]).collect();
    let option_lists = hosts.chain(Some(folders).filter(|it| !it.is_empty()));
    let commands: Vec<String> =
        option_lists.map(|options| command_line(&["assay", "run", suite], &options)).collect();
    if commands.is_empty() {
        vec![command_line(&["assay", "run", suite], &[])]
    } else {
        commands
    }
}

/// Returns the parent folder of a file, which the run created; returns a device unchanged.
fn target_folder(path: &str) -> String {
    match Path::new(path).parent().and_then(Path::to_str) {
        Some(folder) if !path.starts_with("/dev/") => folder.to_owned(),
        _ => path.to_owned(),
    }
}

/// Returns the values of an attribute in order of appearance, each once.
fn attribute_values(summary: &RunSummary, name: Attribute) -> Vec<String> {
    distinct(summary.results.iter().filter_map(|it| text(it, name)))
}
