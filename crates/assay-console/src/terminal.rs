//! Terminal output, the only place that writes to it: results on standard output, everything else
//! on standard error.
//!
//! A reader that closes the pipe (`assay list | head`) causes no error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use assay_kernels::standard_output;
use assay_model::poisoned_lock::PoisonedLock as _;
use assay_model::sanitize;
use assay_report::document::Document;
use assay_report::progress::RunProgress;
use assay_report::{render, words};
use console::Term;

use crate::failure::render as render_failure;
use crate::heartbeat::Heartbeat;
use crate::status_lines::{StatusLines, StatusLinesHandle};
use assay_run::failure::CommandFailure;

/// Width of output that does not go to a terminal.
const PLAIN_WIDTH: usize = 100;
/// Maximum width: longer lines are hard to read on any terminal.
const MAX_WIDTH: usize = 120;

/// Interval of progress lines on a terminal that cannot be redrawn.
const TERMINAL_INTERVAL: Duration = Duration::from_secs(2);
/// Interval of progress lines in files and pipes, which keep them all.
const FILE_INTERVAL: Duration = Duration::from_secs(30);

/// Status lines currently drawn, for code without a [`Terminal`], such as signal handlers.
static ACTIVE_STATUS_LINES: Mutex<Option<StatusLinesHandle>> = Mutex::new(None);

/// Writes to standard error from anywhere, above the status lines.
pub fn write_above_progress(text: &str) {
    let status_lines = ACTIVE_STATUS_LINES.lock().even_if_poisoned().clone();
    if !status_lines.is_some_and(|handle| handle.write_above(|| to_stderr(text))) {
        // A line of its own, after any key that the terminal echoed.
        to_stderr(&format!("\n{text}"));
    }
}

/// Standard output and standard error of the process.
#[derive(Debug)]
pub struct Terminal {
    /// Whether standard output may be coloured.
    pub colour: bool,
    /// Columns of standard output.
    pub width: usize,
    /// Whether standard output is a terminal.
    is_stdout_terminal: bool,
    status_lines: Option<StatusLines>,
    /// Heartbeat, used instead of status lines if nothing can be redrawn.
    heartbeat: Option<Heartbeat>,
    /// Whether standard error is a terminal that can be redrawn.
    is_live: bool,
    /// First error while writing a result.
    write_error: Option<io::Error>,
}

impl Terminal {
    /// Creates a terminal for the streams attached to the process.
    pub fn for_process() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let columns = usize::from(Term::stdout().size().1);
        Self {
            colour: is_terminal && allows_colour(),
            width: if is_terminal { columns.clamp(40, MAX_WIDTH) } else { PLAIN_WIDTH },
            is_stdout_terminal: is_terminal,
            status_lines: None,
            heartbeat: None,
            is_live: io::stderr().is_terminal() && !is_dumb(),
            write_error: None,
        }
    }

    /// Renders a document as text that fits standard output.
    pub fn render_document(&self, document: &Document) -> String {
        let options = render::text::TextOptions {
            width: self.width,
            colour: self.colour,
            details: false,
        };
        render::text::document(document, &options)
    }

    /// Wraps text to the width of a terminal. For other outputs, only removes trailing white space.
    pub fn wrap(&self, words: &str) -> String {
        let wrap_words = |words| wrap_lines(words, self.width);
        if self.is_stdout_terminal { wrap_words(words) } else { words.trim_end().to_owned() }
    }

    /// Prints a result and ends the progress display.
    pub fn print(&mut self, text: &str) {
        self.end_progress();
        let text = escape_control_characters(text, self.colour);
        let result = to_stdout(&text);
        self.keep_write_error(result);
    }

    /// Prints one line of a result during the run.
    pub fn print_line(&mut self, line: &str) {
        let line = format!("{}\n", escape_control_characters(line, self.colour));
        let result = match &self.status_lines {
            Some(status_lines) => status_lines.write_above(|| to_stdout(&line)),
            None => to_stdout(&line),
        };
        self.keep_write_error(result);
    }

    /// Keeps the first write error. A closed pipe is no error: its reader has read enough.
    fn keep_write_error(&mut self, result: io::Result<()>) {
        let error = result.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        self.write_error = self.write_error.take().or(error);
    }

    /// Returns the first error while printing results.
    ///
    /// # Errors
    /// A full disk, or any other error of the file that standard output is redirected to.
    pub fn check_output(&mut self) -> Result<(), CommandFailure> {
        self.write_error.take().map_or(Ok(()), |error| Err(stdout_failure(&error)))
    }

    /// Prints a message on standard error during a measurement.
    pub fn note(&mut self, text: &str) {
        match &self.status_lines {
            Some(status_lines) => status_lines.write_above(|| to_stderr(text)),
            None => to_stderr(text),
        }
        self.heartbeat.iter().for_each(Heartbeat::defer);
    }

    /// Prints a message for people: only if standard error is a terminal.
    pub fn note_on_terminal(&self, text: &str) {
        if io::stderr().is_terminal() {
            to_stderr(text);
        }
    }

    /// Prompts for a secret without echo; `None` without a terminal.
    pub fn read_secret(&mut self, prompt: &str) -> io::Result<Option<String>> {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Ok(None);
        }
        self.end_progress();
        let terminal = Term::stderr();
        terminal.write_str(&sanitize::escape_hidden(prompt))?;
        terminal.read_secure_line().map(Some)
    }

    /// Prints a failure and ends the progress display.
    pub fn print_failure(&mut self, failure: &CommandFailure) {
        self.end_progress();
        self.note_failure(failure);
    }

    /// Prints a failure during a run, above the progress display.
    pub fn note_failure(&mut self, failure: &CommandFailure) {
        self.note(
            render_failure(failure, io::stderr().is_terminal() && allows_colour()).trim_end(),
        );
    }

    /// Whether standard error is a terminal.
    pub fn is_stderr_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Whether standard output is a terminal.
    pub const fn is_stdout_terminal(&self) -> bool {
        self.is_stdout_terminal
    }

    /// Whether progress is redrawn in place; otherwise it is printed as lines.
    pub const fn is_live(&self) -> bool {
        self.is_live
    }

    /// Starts the progress display of a run that began at `began`.
    pub fn begin_progress(&mut self, progress: &Arc<Mutex<RunProgress>>, began: Instant) {
        self.end_progress();
        let progress = Arc::clone(progress);
        if !self.is_live {
            let (is_terminal, columns) = (io::stderr().is_terminal(), Term::stderr().size().1);
            let (interval, width) = match is_terminal {
                true => (TERMINAL_INTERVAL, usize::from(columns).saturating_sub(1)),
                false => (FILE_INTERVAL, PLAIN_WIDTH),
            };
            self.heartbeat = Some(Heartbeat::new(interval, move || {
                let progress = progress.lock().even_if_poisoned();
                to_stderr(&progress.plain_line(began.elapsed().as_secs_f64(), width));
            }));
            return;
        }
        let status_lines = StatusLines::new(Box::new(move || {
            let (height, width) = Term::stderr().size();
            let width = usize::from(width).saturating_sub(1);
            let progress = progress.lock().even_if_poisoned();
            let line = progress.line(began.elapsed().as_secs_f64(), width);
            // Half of the screen stays free for earlier output.
            let mut lines = vec![line];
            lines.extend(progress.host_lines(width, usize::from(height) / 2));
            lines.iter().map(|it| sanitize::escape_hidden(it).replace('\n', " ")).collect()
        }));
        *ACTIVE_STATUS_LINES.lock().even_if_poisoned() = Some(status_lines.handle());
        self.status_lines = Some(status_lines);
    }

    /// Removes the progress display.
    pub fn end_progress(&mut self) {
        self.status_lines = None;
        self.heartbeat = None;
    }
}

fn allows_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
}

/// Whether the terminal ignores escape sequences, as in editors and on serial lines.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|kind| kind == "dumb")
}

/// Escapes control characters in text from other programs or hosts, so that the terminal does not
/// interpret them. JSON stays unchanged.
fn escape_control_characters(text: &str, is_coloured: bool) -> Cow<'_, str> {
    if is_coloured {
        sanitize::escape_hidden_except_colours(text)
    } else {
        sanitize::escape_hidden(text)
    }
}

/// Returns the failure for a result that could not be written to standard output.
pub fn stdout_failure(error: &io::Error) -> CommandFailure {
    CommandFailure::measurement("cannot write to standard output")
        .with_cause(error)
        .advise("the output is incomplete; the measured runs are stored")
}

/// Returns an error if the process was started with standard output closed: its results would be
/// lost.
pub fn closed_stdout_error() -> Option<io::Error> {
    /// `EBADF` on Linux, the same on every architecture.
    const BAD_DESCRIPTOR: i32 = 9;
    standard_output::was_closed().then(|| io::Error::from_raw_os_error(BAD_DESCRIPTOR))
}

fn to_stdout(text: &str) -> io::Result<()> {
    if let Some(error) = closed_stdout_error() {
        return Err(error);
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn to_stderr(text: &str) {
    let is_terminal = io::stderr().is_terminal();
    let text = words::without_no_break_spaces(&escape_control_characters(
        text,
        is_terminal && allows_colour(),
    ));
    let text = match is_terminal {
        true => wrap_lines(&text, usize::from(Term::stderr().size().1)),
        false => text,
    };
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Wraps long lines between words. Lines of source excerpts stay unchanged.
fn wrap_lines(text: &str, width: usize) -> String {
    let is_excerpt = |line: &str| line.contains(['│', '╭', '╰', '·', '\u{1b}']);
    let wrap = |line: &str| match is_excerpt(line) {
        true => line.to_owned(),
        false => render::text::wrap_line(line, width),
    };
    text.lines().map(wrap).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_lines_between_words() {
        let text = "error: there is no suite `qick`\n  help: did you mean `quick`, or one that is written by you?";
        assert_eq!(
            wrap_lines(text, 40),
            "error: there is no suite `qick`\n  help: did you mean `quick`, or one\n    that is written by you?"
        );
        assert_eq!(wrap_lines(text, 200), text);
        let drawn = " 4 │ bytes = \"5s\" # as long as a line of somebody's file may be";
        assert_eq!(wrap_lines(drawn, 30), drawn);
    }
}
