//! `assay verify`: checks the integrity of stored runs. Changes nothing.

use std::error::Error;

use assay_store::Verified;
use serde::Serialize;

use crate::arguments::VerifyArguments;
use crate::failure::exit_code;
use crate::terminal::Terminal;
use crate::{page, stored};
use assay_report::words::{message, sentence};
use assay_run::failure::{Failure, Kind};

/// Machine-readable result.
#[derive(Debug, Serialize)]
struct Document {
    runs: Vec<Found>,
}

#[derive(Debug, Serialize)]
struct Found {
    id: String,
    is_sound: bool,
    /// Number of lost events.
    losses: u64,
    /// Number of intact raw outputs.
    outputs: usize,
    problems: Vec<String>,
}

pub(crate) fn verify(typed: &VerifyArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let store = stored::existing(&typed.store)?;
    let ids = match &typed.runs[..] {
        [] => store.run_ids().map_err(|error| Failure::of_store(&error))?,
        names => names
            .iter()
            .map(|name| stored::identifier(&store, name))
            .collect::<Result<_, _>>()?,
    };
    let (mut document, mut text) = (Document { runs: Vec::new() }, String::new());
    for id in ids {
        let found = found(store.verify(&id));
        let lines = lines(&found);
        if typed.answer.is_read_along() {
            let fitted = terminal.fitted(&lines);
            terminal.print_line(&fitted);
        }
        text.push_str(&lines);
        document.runs.push(found);
    }
    if !typed.answer.is_read_along() {
        page::answer(&text, &document, &typed.answer, terminal)?;
    }
    let is_sound = document.runs.iter().all(|run| run.is_sound);
    Ok(if is_sound { 0 } else { exit_code(Kind::Measurement) })
}

fn found(verified: Verified) -> Found {
    let is_sound = verified.is_sound();
    let mut problems = Vec::new();
    let losses = match &verified.read {
        Ok(read) => {
            let path = read.path.display();
            problems.extend(read.problems.iter().map(|problem| format!("{path} {problem}")));
            read.losses()
        }
        Err(error) => {
            problems.push(with_causes(error));
            0
        }
    };
    let outputs = verified.damaged_outputs.iter();
    problems.extend(outputs.map(|(name, error)| format!("{name}: {}", with_causes(error))));
    if !verified.index_agrees {
        let reported = "the index says something else than its events; remove index.jsonl, which is made anew";
        problems.push(reported.to_owned());
    }
    if verified.is_running && !is_sound {
        problems.push("it is being written at this moment; verify it again later".to_owned());
    }
    Found { id: verified.id, is_sound, losses, outputs: verified.outputs, problems }
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
fn lines(found: &Found) -> String {
    let verdict = match (found.is_sound, found.losses) {
        (true, _) => sentence("verify-sound", &[("n", &found.outputs.to_string())]),
        (false, 0) => message("state-damaged").to_owned(),
        (false, losses) => sentence("verify-lost", &[("n", &losses.to_string())]),
    };
    let problems = found.problems.iter().map(|problem| format!("  {problem}\n"));
    format!("{}  {verdict}\n{}", found.id, problems.collect::<String>())
}
