//! Terminal output, the only place that writes to it: results on standard output, everything else
//! on standard error.
//!
//! A reader that closes the pipe (`assay list | head`) causes no error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_kernels::standard_output;
use assay_model::sanitize;
use assay_report::document::Document;
use assay_report::progress::RunProgress;
use assay_report::{render, words};
use console::Term;

use crate::failure::render as render_failure;
use crate::foot::{Foot, Handle};
use crate::pulse::Pulse;
use assay_run::failure::Failure;

/// Width of output that does not go to a terminal.
const PLAIN_WIDTH: usize = 100;
/// Maximum width: longer lines are hard to read on any terminal.
const WIDEST: usize = 120;

/// Interval of progress lines on a terminal that cannot be redrawn.
const ON_TERMINAL: Duration = Duration::from_secs(2);
/// Interval of progress lines in files and pipes, which keep them all.
const ELSEWHERE: Duration = Duration::from_secs(30);

/// Status lines currently drawn, for code without a terminal such as signal handlers.
static DRAWN: Mutex<Option<Handle>> = Mutex::new(None);

/// Writes to standard error from anywhere, above the status lines.
pub fn interject(text: &str) {
    let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if !drawn.is_some_and(|foot| foot.beneath(|| to_stderr(text))) {
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
    is_shown: bool,
    progress: Option<Foot>,
    /// Heartbeat, used instead of status lines if nothing can be redrawn.
    pulse: Option<Pulse>,
    /// Whether standard error is a terminal that can be redrawn.
    is_live: bool,
    /// First error while writing a result.
    unwritten: Option<io::Error>,
}

impl Terminal {
    /// Creates a terminal for the streams attached to the process.
    pub fn attached() -> Self {
        let shown = io::stdout().is_terminal();
        let columns = usize::from(Term::stdout().size().1);
        Self {
            colour: shown && coloured(),
            width: if shown { columns.clamp(40, WIDEST) } else { PLAIN_WIDTH },
            is_shown: shown,
            progress: None,
            pulse: None,
            is_live: io::stderr().is_terminal() && !is_dumb(),
            unwritten: None,
        }
    }

    /// Renders a document as text that fits standard output.
    pub fn text(&self, document: &Document) -> String {
        let options = render::text::TextOptions {
            width: self.width,
            colour: self.colour,
            details: false,
        };
        render::text::document(document, &options)
    }

    /// Wraps text to the width of a terminal. For other outputs, only removes trailing white space.
    pub fn fitted(&self, words: &str) -> String {
        let fitted = |words| fitted(words, self.width);
        if self.is_shown { fitted(words) } else { words.trim_end().to_owned() }
    }

    /// Prints a result and ends the progress display.
    pub fn print(&mut self, text: &str) {
        self.end_progress();
        let text = shown(text, self.colour);
        let written = to_stdout(&text);
        self.keep(written);
    }

    /// Prints one line of a result during the run.
    pub fn print_line(&mut self, line: &str) {
        let line = format!("{}\n", shown(line, self.colour));
        let written = match &self.progress {
            Some(foot) => foot.beneath(|| to_stdout(&line)),
            None => to_stdout(&line),
        };
        self.keep(written);
    }

    /// Keeps the first write error. A closed pipe is none: the reader has read enough.
    fn keep(&mut self, written: io::Result<()>) {
        let failed = written.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        self.unwritten = self.unwritten.take().or(failed);
    }

    /// Returns the first error while printing results.
    ///
    /// # Errors
    /// A full disk, or any other error of the file that standard output is redirected to.
    pub fn printed(&mut self) -> Result<(), Failure> {
        self.unwritten.take().map_or(Ok(()), |error| Err(unwritable(&error)))
    }

    /// Prints a message on standard error during a measurement.
    pub fn note(&mut self, text: &str) {
        match &self.progress {
            Some(foot) => foot.beneath(|| to_stderr(text)),
            None => to_stderr(text),
        }
        self.pulse.iter().for_each(Pulse::defer);
    }

    /// Prints a message for people: only if standard error is a terminal.
    pub fn aside(&self, text: &str) {
        if io::stderr().is_terminal() {
            to_stderr(text);
        }
    }

    /// Prompts for a secret without echo; `None` without a terminal.
    pub fn secret(&mut self, question: &str) -> io::Result<Option<String>> {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Ok(None);
        }
        self.end_progress();
        let terminal = Term::stderr();
        terminal.write_str(&sanitize::escape_hidden(question))?;
        terminal.read_secure_line().map(Some)
    }

    /// Prints a failure and ends the progress display.
    pub fn complain(&mut self, failure: &Failure) {
        self.end_progress();
        self.complain_meanwhile(failure);
    }

    /// Prints a failure during a run, above the progress display.
    pub fn complain_meanwhile(&mut self, failure: &Failure) {
        self.note(render_failure(failure, io::stderr().is_terminal() && coloured()).trim_end());
    }

    /// Whether standard error is a terminal.
    pub fn is_watched(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Whether standard output is a terminal.
    pub const fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Whether progress is redrawn in place; otherwise it is printed as lines.
    pub const fn is_live(&self) -> bool {
        self.is_live
    }

    /// Starts the progress display of a run that began at `began`.
    pub fn begin_progress(&mut self, known: &Arc<Mutex<RunProgress>>, began: Instant) {
        self.end_progress();
        let known = Arc::clone(known);
        if !self.is_live {
            let (is_terminal, columns) = (io::stderr().is_terminal(), Term::stderr().size().1);
            let (every, width) = match is_terminal {
                true => (ON_TERMINAL, usize::from(columns).saturating_sub(1)),
                false => (ELSEWHERE, PLAIN_WIDTH),
            };
            self.pulse = Some(Pulse::new(every, move || {
                let known = known.lock().unwrap_or_else(PoisonError::into_inner);
                to_stderr(&known.plain_line(began.elapsed().as_secs_f64(), width));
            }));
            return;
        }
        let foot = Foot::new(Box::new(move || {
            let (height, width) = Term::stderr().size();
            let width = usize::from(width).saturating_sub(1);
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            let line = known.line(began.elapsed().as_secs_f64(), width);
            // Half of the screen stays free for earlier output.
            let mut lines = vec![line];
            lines.extend(known.host_lines(width, usize::from(height) / 2));
            lines.iter().map(|it| sanitize::escape_hidden(it).replace('\n', " ")).collect()
        }));
        *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(foot.handle());
        self.progress = Some(foot);
    }

    /// Removes the progress display.
    pub fn end_progress(&mut self) {
        self.progress = None;
        self.pulse = None;
    }
}

fn coloured() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
}

/// Whether the terminal ignores escape sequences, as in editors and on serial lines.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|kind| kind == "dumb")
}

/// Neutralises control characters of foreign origin, so that a terminal does not obey them. JSON
/// stays unchanged.
fn shown(text: &str, is_coloured: bool) -> Cow<'_, str> {
    if is_coloured {
        sanitize::escape_hidden_except_colours(text)
    } else {
        sanitize::escape_hidden(text)
    }
}

/// Returns the failure for a result that could not be written to standard output.
pub fn unwritable(error: &io::Error) -> Failure {
    Failure::measurement("standard output cannot be written")
        .because(error)
        .advise("what was written there is not whole; runs that were measured stay stored")
}

/// Returns an error if the process was started with standard output closed: its results would be
/// lost.
pub fn closed() -> Option<io::Error> {
    /// `EBADF` on Linux, the same on every architecture.
    const BAD_DESCRIPTOR: i32 = 9;
    standard_output::was_closed().then(|| io::Error::from_raw_os_error(BAD_DESCRIPTOR))
}

fn to_stdout(text: &str) -> io::Result<()> {
    if let Some(error) = closed() {
        return Err(error);
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn to_stderr(text: &str) {
    let is_terminal = io::stderr().is_terminal();
    let text = words::without_no_break_spaces(&shown(text, is_terminal && coloured()));
    let text = match is_terminal {
        true => fitted(&text, usize::from(Term::stderr().size().1)),
        false => text,
    };
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Wraps lines between words that a terminal would break within them. Excerpts of files stay
/// unchanged.
fn fitted(text: &str, width: usize) -> String {
    let is_drawn = |line: &str| line.contains(['│', '╭', '╰', '·', '\u{1b}']);
    let line = |line: &str| match is_drawn(line) {
        true => line.to_owned(),
        false => render::text::wrap_line(line, width),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_broken_between_words() {
        let text = "error: there is no suite `qick`\n  help: did you mean `quick`, or one that is written by you?";
        assert_eq!(
            fitted(text, 40),
            "error: there is no suite `qick`\n  help: did you mean `quick`, or one\n    that is written by you?"
        );
        assert_eq!(fitted(text, 200), text);
        let drawn = " 4 │ bytes = \"5s\" # as long as a line of somebody's file may be";
        assert_eq!(fitted(drawn, 30), drawn);
    }
}
