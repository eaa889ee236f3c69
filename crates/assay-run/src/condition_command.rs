//! Commands of the user that change the condition of the machine between measurements.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_fleet::process::{self, ChildCommand, ChildStatus, CompletedChild};

use crate::failure::CommandFailure;

/// Time limit of a command: switching through a cloud's API may take minutes, and a command may
/// hang.
pub(crate) const DEADLINE: Duration = Duration::from_secs(900);

/// Runs a line of the shell; `failed` is the failure that gets the reason.
pub(crate) fn run(
    line: &str,
    cancel: &AtomicBool,
    failed: &dyn Fn() -> CommandFailure,
) -> Result<(), CommandFailure> {
    let mut command = ChildCommand::new("sh");
    command.arguments = ["-c".into(), line.into()].into();
    command.directory = Some(PathBuf::from("."));
    command.deadline = Some(DEADLINE);
    let completed =
        process::run(&command, cancel).map_err(|error| failed().with_cause(&error))?;
    match completed.status {
        ChildStatus::Exited(0) => Ok(()),
        ChildStatus::Exited(code) => Err(failed()
            .with_reason(format!("it ended with code {code}{}", last_error_line(&completed)))
            .advise("run it by hand; it must end with code 0 when the condition is reached")),
        ChildStatus::Killed(signal) => Err(failed().with_reason(format!(
            "it was killed by signal {signal}{}",
            last_error_line(&completed)
        ))),
    }
}

/// Rejects a line of the shell whose first word is the name of a program that does not exist.
pub(crate) fn check(
    line: &str,
    failed: &dyn Fn() -> CommandFailure,
) -> Result<(), CommandFailure> {
    let word = line.split_whitespace().next().unwrap_or_default();
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    if word.is_empty() || word.starts_with('-') || !word.chars().all(is_of_name) {
        return Ok(());
    }
    let mut command = ChildCommand::new("sh");
    command.arguments = ["-c".into(), format!("command -v {word}").into()].into();
    command.directory = Some(PathBuf::from("."));
    command.deadline = Some(DEADLINE);
    let completed = process::run(&command, &AtomicBool::new(false))
        .map_err(|error| failed().with_cause(&error))?;
    match completed.status {
        ChildStatus::Exited(0) | ChildStatus::Killed(_) => Ok(()),
        ChildStatus::Exited(_) => Err(failed()
            .with_reason(format!("there is no program `{word}`"))
            .advise("check its name, give its path, or add its folder to PATH")),
    }
}

fn last_error_line(completed: &CompletedChild) -> String {
    let text = String::from_utf8_lossy(&completed.output.stderr);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.map(|line| format!("; it printed: {}", line.trim())).unwrap_or_default()
}
