//! Destination of the output: standard output or a log file, with the time before each line.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use assay_run::failure::CommandFailure;
use jiff::Zoned;
use jiff::fmt::strtime;

use crate::options::network::Iperf3Arguments;
use crate::terminal::Terminal;

/// Destination of a command's output.
#[derive(Debug)]
pub(super) struct Iperf3Sink {
    log: Option<OutputLog>,
    /// Format of the time before each line of text.
    timestamps: Option<String>,
    /// Whether the output is text.
    is_text: bool,
}

#[derive(Debug)]
struct OutputLog {
    path: PathBuf,
    file: File,
    /// First error while writing.
    error: Option<io::Error>,
}

impl Iperf3Sink {
    /// Opens the log file, if there is one.
    pub(super) fn open(typed: &Iperf3Arguments) -> Result<Self, CommandFailure> {
        let log = typed.logfile.clone().map(OutputLog::open).transpose()?;
        // JSON has the time in its first object.
        let is_text = !typed.json && !typed.json_stream;
        Ok(Self { log, timestamps: typed.timestamps.clone().filter(|_| is_text), is_text })
    }

    /// Prints lines of a result.
    pub(super) fn print(&mut self, terminal: &mut Terminal, text: &str) {
        let text = self.with_time(text);
        match &mut self.log {
            None => terminal.print(&text),
            Some(log) => log.write(&text),
        }
    }

    /// Prints a message of the protocol under its name (`-d`): between lines of text, and on
    /// standard error with JSON, which it would damage. `label` is before each line.
    pub(super) fn print_message(
        &mut self,
        terminal: &mut Terminal,
        (label, name): (&str, &str),
        message: &[u8],
    ) {
        let mut value: serde_json::Value = serde_json::from_slice(message).unwrap_or_default();
        if let Some(token) = value.get_mut("authtoken") {
            // A reader could log in with it for some seconds.
            *token = "(omitted)".into();
        }
        let message = format!("{value:#}");
        let text = with_label(label, &format!("{name}:\n{message}\n"));
        if self.is_text { self.print(terminal, &text) } else { self.note(terminal, &text) }
    }

    /// Prints a message on standard error, and in a log of text, the only output of a server in the
    /// background.
    pub(super) fn note(&mut self, terminal: &mut Terminal, text: &str) {
        terminal.note(text);
        if let Some(log) = self.log.as_mut().filter(|_| self.is_text) {
            log.write(&format!("{}\n", text.trim_end()));
        }
    }

    fn with_time(&self, text: &str) -> String {
        let Some(format) = &self.timestamps else { return text.to_owned() };
        // The format was checked when the options were parsed.
        let time = strtime::format(format, &Zoned::now()).unwrap_or_default();
        text.lines().map(|line| format!("{time}{line}\n")).collect()
    }

    /// Ends the output.
    pub(super) fn finish(self) -> Result<(), CommandFailure> {
        match self.log {
            Some(OutputLog { path, error: Some(error), .. }) => {
                Err(CommandFailure::measurement(format!(
                    "cannot write the log file {}",
                    path.display()
                ))
                .with_cause(&error)
                .advise("free space, or choose another file with --logfile"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the lines of a text with a label before each.
pub(super) fn with_label(label: &str, text: &str) -> String {
    text.lines().map(|line| format!("{label}{line}\n")).collect()
}

impl OutputLog {
    fn open(path: PathBuf) -> Result<Self, CommandFailure> {
        match File::options().append(true).create(true).open(&path) {
            Ok(file) => Ok(Self { path, file, error: None }),
            Err(error) => Err(CommandFailure::usage(format!(
                "cannot open the log file {}",
                path.display()
            ))
            .with_cause(&error)
            .advise("choose another file with --logfile")),
        }
    }

    fn write(&mut self, text: &str) {
        let written = self.file.write_all(text.as_bytes());
        self.error = self.error.take().or(written.err());
    }
}
