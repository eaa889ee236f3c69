//! `assay verify`: checks the integrity of stored runs. Changes nothing.

use assay_archive::verification::VerifiedRun;
use assay_report::words::{count_message, message, sentence};
use assay_run::failure::{CommandFailure, FailureKind};
use serde::Serialize;

use crate::arguments::VerifyArguments;
use crate::failure::exit_code;
use crate::terminal::Terminal;
use crate::{page, run_names, store_access};

/// Machine-readable result.
#[derive(Debug, Serialize)]
struct VerifyDocument {
    runs: Vec<VerifiedRun>,
}

pub(crate) fn verify(
    typed: &VerifyArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let store = store_access::open_for_reading(&typed.store)?;
    let ids = match &typed.runs[..] {
        [] => store.run_ids()?,
        names => run_names::resolve_ids(&store, names)?,
    };
    let (mut document, mut text) = (VerifyDocument { runs: Vec::new() }, String::new());
    for verification in store.verify_each(&ids) {
        let verified = VerifiedRun::new(verification);
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

/// Formats a line for the run, and one below it for each problem.
fn format_result(found: &VerifiedRun) -> String {
    let verdict = match (found.is_sound, found.losses) {
        (true, _) => count_message("verify-intact", found.outputs),
        (false, 0) => message("state-damaged").to_owned(),
        (false, losses) => sentence("verify-lost", &[("n", &losses.to_string())]),
    };
    let problems = found.problems.iter().map(|problem| format!("  {problem}\n"));
    format!("{}  {verdict}\n{}", found.id, problems.collect::<String>())
}
