//! `assay verify`: checks the integrity of stored runs. Changes nothing.

use std::error::Error;

use assay_store::RunVerification;
use serde::Serialize;

use crate::arguments::VerifyArguments;
use crate::failure::exit_code;
use crate::terminal::Terminal;
use crate::{page, run_names, store_access};
use assay_report::words::{count_message, message, sentence};
use assay_run::failure::{CommandFailure, FailureKind};

/// Machine-readable result.
#[derive(Debug, Serialize)]
struct VerifyDocument {
    runs: Vec<VerifiedRun>,
}

#[derive(Debug, Serialize)]
struct VerifiedRun {
    id: String,
    is_sound: bool,
    /// Number of lost events.
    losses: u64,
    /// Number of intact raw outputs.
    outputs: usize,
    problems: Vec<String>,
}

pub(crate) fn verify(
    typed: &VerifyArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let store = store_access::open_for_reading(&typed.store)?;
    let ids = match &typed.runs[..] {
        [] => store.run_ids().map_err(|error| CommandFailure::from_store(&error))?,
        names => run_names::resolve_ids(&store, names)?,
    };
    let (mut document, mut text) = (VerifyDocument { runs: Vec::new() }, String::new());
    for verification in store.verify_each(&ids) {
        let verified = check_run(verification);
        let lines = format_result(&verified);
        if typed.answer.is_interactive() {
            let fitted = terminal.wrap(&lines);
            terminal.print_line(&fitted);
        }
        text.push_str(&lines);
        document.runs.push(verified);
    }
    if !typed.answer.is_interactive() {
        page::publish_brief(&text, &document, &typed.answer, terminal)?;
    }
    let is_sound = document.runs.iter().all(|run| run.is_sound);
    Ok(if is_sound { 0 } else { exit_code(FailureKind::Measurement) })
}

fn check_run(verified: RunVerification) -> VerifiedRun {
    let is_sound = verified.is_sound();
    let mut problems = Vec::new();
    let losses = match &verified.read {
        Ok(read) => {
            let path = read.path.display();
            problems.extend(read.problems.iter().map(|problem| format!("{path} {problem}")));
            read.lost_events()
        }
        Err(error) => {
            problems.push(with_causes(error));
            0
        }
    };
    let outputs = verified.damaged_outputs.iter();
    problems.extend(outputs.map(|(name, error)| format!("{name}: {}", with_causes(error))));
    if !verified.index_agrees {
        let reported =
            "the index does not match the events; remove index.jsonl, it is recreated";
        problems.push(reported.to_owned());
    }
    if verified.is_running && !is_sound {
        problems.push("the run is still being written; verify it again later".to_owned());
    }
    VerifiedRun { id: verified.id, is_sound, losses, outputs: verified.outputs, problems }
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Formats a line for the run, and one below it for each problem.
fn format_result(found: &VerifiedRun) -> String {
    let verdict = match (found.is_sound, found.losses) {
        (true, _) => count_message("verify-sound", found.outputs),
        (false, 0) => message("state-damaged").to_owned(),
        (false, losses) => sentence("verify-lost", &[("n", &losses.to_string())]),
    };
    let problems = found.problems.iter().map(|problem| format!("  {problem}\n"));
    format!("{}  {verdict}\n{}", found.id, problems.collect::<String>())
}
