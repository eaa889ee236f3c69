//! Commands that a parameter file wants to have run around its runs.
//!
//! They run as the user does, one after another; what they leave running ends with them.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_dialects::vdbench::commands::{CommandLines, OutputOf};
use assay_fleet::process::{self, Command};

use super::report::{Report, time_of_day};
use assay_run::failure::Failure;

/// Runs the commands and shows what they print.
pub(super) fn run(
    commands: Option<&CommandLines>,
    report: &mut Report<'_>,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let Some(commands) = commands else { return Ok(()) };
    for line in &commands.lines {
        let line = line.replace("$output", &report.folder.path.display().to_string());
        report.say_now(&format!("Start/end command: executing '{line}'"));
        let failed = |why: String| {
            Failure::measurement(format!("the command '{line}' of the parameter file failed"))
                .explain(why)
        };
        let completed =
            process::run(&shell(&line), stop).map_err(|error| failed(error.to_string()))?;
        let (out, err) = (&completed.output.stdout, &completed.output.stderr);
        for text in [out, err].map(|bytes| String::from_utf8_lossy(bytes)) {
            text.lines().for_each(|printed| show(report, commands.to, printed));
        }
        if !completed.success() {
            return Err(failed(format!("it ended with {:?}", completed.status)));
        }
    }
    Ok(())
}

fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.arguments = ["-c", line].map(Into::into).to_vec();
    // Paths in a parameter file are meant from where it was started.
    command.directory = Some(std::env::current_dir().unwrap_or_else(|_| Path::new(".").into()));
    command
}

fn show(report: &mut Report<'_>, to: OutputOf, printed: &str) {
    let line = format!("{} Cmd: {printed}", time_of_day());
    match to {
        OutputOf::Console => report.say(&line),
        OutputOf::Summary => report.folder.summary.line(&line),
        OutputOf::Log => report.folder.log.line(&line),
    }
}
