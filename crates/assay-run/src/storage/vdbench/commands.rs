//! Commands of a parameter file before and after its runs (`startcmd`, `endcmd`).
//!
//! They run with the user's permissions, one after another; background processes that they leave
//! are ended with them.

use std::path::Path;

use assay_dialects::vdbench::commands::CommandLines;
use assay_fleet::process::{self, ChildCommand};

use super::ExecutionState;
use super::run_notes::RunNote;
use crate::failure::CommandFailure;

/// Runs the commands and reports their output.
pub(super) fn run_commands(
    commands: Option<&CommandLines>,
    underway: &mut ExecutionState<'_, '_, '_>,
) -> Result<(), CommandFailure> {
    let Some(commands) = commands else { return Ok(()) };
    for line in &commands.lines {
        let line = line.replace("$output", &underway.request.output.display().to_string());
        underway.log.add_note(RunNote::Command { line: line.clone() });
        let failed = |why: String| {
            CommandFailure::measurement(format!(
                "the command '{line}' of the parameter file failed"
            ))
            .with_reason(why)
        };
        let completed = process::run(&shell_command(&line), underway.stop)
            .map_err(|error| failed(error.to_string()))?;
        let (out, err) = (&completed.output.stdout, &completed.output.stderr);
        for text in [out, err].map(|bytes| String::from_utf8_lossy(bytes)) {
            for printed in text.lines() {
                let (to, line) = (commands.output, printed.to_owned());
                underway.log.add_note(RunNote::Printed { to, line });
            }
        }
        if !completed.is_success() {
            return Err(failed(format!("it ended with {:?}", completed.status)));
        }
    }
    Ok(())
}

fn shell_command(line: &str) -> ChildCommand {
    let mut command = ChildCommand::new("sh");
    command.arguments = ["-c", line].map(Into::into).to_vec();
    // Paths in a parameter file are relative to the current folder.
    command.directory = Some(std::env::current_dir().unwrap_or_else(|_| Path::new(".").into()));
    command
}
