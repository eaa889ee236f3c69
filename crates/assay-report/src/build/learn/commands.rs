//! The commands that repeat the runs of a page: as they were typed, or else as much of them as a run tells.

use std::borrow::Cow;
use std::path::Path;

use assay_model::attribute::{Attribute, Value};
use assay_model::run::Run;
use assay_model::summary::Summary;

use super::{number, text};

/// What `assay import` calls the suite of its runs.
const IMPORTED: &str = "import";
/// What single commands that may be said without options call theirs.
const ALONE: [&str; 2] = ["stream", "linpack"];
/// What single commands call theirs of which nothing but what was typed tells the options.
const WITH_OPTIONS: [&str; 2] = ["storage", "net"];

/// Of all runs of a page, each once; tools that assay started have theirs beside.
pub(super) fn of(summaries: &[&Summary], runs: &[Run]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for summary in summaries {
        let reported = summary.results.iter().filter_map(|it| {
            match it.parameters.get(&Attribute::Commands) {
                Some(Value::Pairs(pairs)) => Some(pairs.values().cloned().collect::<Vec<_>>()),
                _ => None,
            }
        });
        let run = runs.iter().find(|run| run.started.run == summary.run.id);
        let typed = run.and_then(|run| typed(run, summary));
        let own = typed.map_or_else(|| rebuilt(summary), |it| vec![it]);
        for command in own.into_iter().chain(reported.flatten()) {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
    }
    commands
}

/// As it was typed, for a shell: to assay itself, or in a tool's language.
fn typed(run: &Run, summary: &Summary) -> Option<String> {
    let started = &run.started;
    if !started.command.is_empty() {
        return Some(line(&["assay"], &started.command));
    }
    let asked = started.asked.as_ref()?;
    if asked.language != "osu" {
        return Some(line(&["assay", &asked.language], &asked.words));
    }
    let ranks = summary.results.iter().find_map(|it| number(it, Attribute::Ranks));
    let ranks = ranks.unwrap_or(2.0).to_string();
    Some(line(&["mpirun", "-n", &ranks, "assay", "mpi"], &asked.words))
}

fn line(first: &[&str], rest: &[String]) -> String {
    let words = first.iter().copied().chain(rest.iter().map(String::as_str));
    words.map(shell_word).collect::<Vec<_>>().join(" ")
}

/// As a shell takes it for one word (POSIX.1-2024, Shell Command Language, 2.2).
fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,@%+=".contains(c);
    match text.chars().all(is_plain) && !text.is_empty() {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', r"'\''")).into(),
    }
}

/// Of a run that does not say what was typed: the file that was imported, or the suite once for each host that it
/// measured the way to, and once for all folders that it measured.
fn rebuilt(summary: &Summary) -> Vec<String> {
    let suite = summary.run.suite.as_str();
    if suite == IMPORTED {
        let files = named(summary, Attribute::SourceFile).into_iter();
        return files.map(|file| line(&["assay", "import"], &[file])).collect();
    }
    if WITH_OPTIONS.contains(&suite) {
        return Vec::new();
    }
    if ALONE.contains(&suite) {
        return vec![format!("assay {suite}")];
    }
    let hosts = named(summary, Attribute::To).into_iter().filter(|it| it != "loopback");
    let hosts = hosts.map(|it| vec!["--to".to_owned(), it]);
    let mut folders: Vec<String> = Vec::new();
    // Several targets of a test are one text; what others measured may be called anything.
    let targets = named(summary, Attribute::Target);
    let targets = targets.iter().flat_map(|it| it.split(", ")).filter(|it| it.starts_with('/'));
    for folder in targets.map(folder) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    let folders: Vec<String> =
        folders.into_iter().flat_map(|it| ["--target".to_owned(), it]).collect();
    let aims = hosts.chain(Some(folders).filter(|it| !it.is_empty()));
    let commands: Vec<String> = aims.map(|aim| line(&["assay", "run", suite], &aim)).collect();
    if commands.is_empty() { vec![line(&["assay", "run", suite], &[])] } else { commands }
}

/// A device is named itself; of a folder the file in it was made by the run.
fn folder(path: &str) -> String {
    match Path::new(path).parent().and_then(Path::to_str) {
        Some(folder) if !path.starts_with("/dev/") => folder.to_owned(),
        _ => path.to_owned(),
    }
}

/// What results have under a name, in order of appearance.
fn named(summary: &Summary, name: Attribute) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for it in summary.results.iter().filter_map(|it| text(it, name)) {
        if !found.contains(&it) {
            found.push(it);
        }
    }
    found
}
