//! The only place that writes to the terminal: results on standard output, everything else on
//! standard error. A reader who closes the pipe (`assay list | head`) is not an error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_kernels::standard_output;
use assay_model::plain;
use assay_report::document::Document;
use assay_report::progress::Progress;
use assay_report::{render, words};
use console::Term;

use crate::failure::render as render_failure;
use crate::foot::{Foot, Handle};
use crate::pulse::Pulse;
use assay_run::failure::Failure;

/// Width of what is not shown on a terminal.
const PLAIN_WIDTH: usize = 100;
/// Longer lines are hard to read, whatever the terminal offers.
const WIDEST: usize = 120;

/// Who waits at a terminal that cannot be drawn on sees a line that often.
const ON_TERMINAL: Duration = Duration::from_secs(2);
/// Whatever keeps what is written elsewhere keeps few of them.
const ELSEWHERE: Duration = Duration::from_secs(30);

/// The lines that are drawn just now, for whoever has no terminal at hand: a signal comes at any time.
static DRAWN: Mutex<Option<Handle>> = Mutex::new(None);

/// Writes to standard error from anywhere, above the lines that are drawn.
pub fn interject(text: &str) {
    let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if !drawn.is_some_and(|foot| foot.beneath(|| to_stderr(text))) {
        // On a line of its own, whatever the terminal echoed of a key.
        to_stderr(&format!("\n{text}"));
    }
}

/// Standard output and standard error as they are attached.
#[derive(Debug)]
pub struct Terminal {
    /// Whether standard output may be coloured.
    pub colour: bool,
    /// Columns of standard output.
    pub width: usize,
    /// Whether somebody reads standard output on a terminal.
    is_shown: bool,
    progress: Option<Foot>,
    /// The same where nothing can be drawn.
    pulse: Option<Pulse>,
    /// Whether standard error is a terminal that can be drawn on.
    is_live: bool,
    /// Why the first part of a result could not be written.
    unwritten: Option<io::Error>,
}

impl Terminal {
    /// As the process found them.
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

    /// A document as text that fits standard output.
    pub fn text(&self, document: &Document) -> String {
        let options =
            render::text::Options { width: self.width, colour: self.colour, details: false };
        render::text::document(document, &options)
    }

    /// Words as standard output shows them: a terminal gets lines that it need not break, and a script what it was told.
    pub fn fitted(&self, words: &str) -> String {
        let fitted = |words| fitted(words, self.width);
        if self.is_shown { fitted(words) } else { words.trim_end().to_owned() }
    }

    /// Writes a result.
    pub fn print(&mut self, text: &str) {
        self.end_progress();
        let text = shown(text, self.colour);
        let written = to_stdout(&text);
        self.keep(written);
    }

    /// Writes one line of a result while the run goes on.
    pub fn print_line(&mut self, line: &str) {
        let line = format!("{}\n", shown(line, self.colour));
        let written = match &self.progress {
            Some(foot) => foot.beneath(|| to_stdout(&line)),
            None => to_stdout(&line),
        };
        self.keep(written);
    }

    /// A closed pipe is the reader's way of having enough.
    fn keep(&mut self, written: io::Result<()>) {
        let failed = written.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        self.unwritten = self.unwritten.take().or(failed);
    }

    /// What became of everything that was printed.
    ///
    /// # Errors
    /// A full disk, and whatever else a file that standard output was led into refuses.
    pub fn printed(&mut self) -> Result<(), Failure> {
        self.unwritten.take().map_or(Ok(()), |error| Err(unwritable(&error)))
    }

    /// Writes something about a measurement that is going on.
    pub fn note(&mut self, text: &str) {
        match &self.progress {
            Some(foot) => foot.beneath(|| to_stderr(text)),
            None => to_stderr(text),
        }
        self.pulse.iter().for_each(Pulse::defer);
    }

    /// Writes what only people need, where they read along.
    pub fn aside(&self, text: &str) {
        if io::stderr().is_terminal() {
            to_stderr(text);
        }
    }

    /// Asks for what is not to be shown; `None` where there is no terminal to ask at.
    pub fn secret(&mut self, question: &str) -> io::Result<Option<String>> {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Ok(None);
        }
        self.end_progress();
        let terminal = Term::stderr();
        terminal.write_str(&plain::visible(question))?;
        terminal.read_secure_line().map(Some)
    }

    /// Writes a failure.
    pub fn complain(&mut self, failure: &Failure) {
        self.end_progress();
        self.complain_meanwhile(failure);
    }

    /// The same where other things go on.
    pub fn complain_meanwhile(&mut self, failure: &Failure) {
        self.note(render_failure(failure, io::stderr().is_terminal() && coloured()).trim_end());
    }

    /// Whether somebody looks on while something goes on.
    pub fn is_watched(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Whether somebody reads results on a terminal.
    pub const fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Whether what goes on is drawn, again and again; elsewhere there are lines.
    pub const fn is_live(&self) -> bool {
        self.is_live
    }

    /// Shows how far a run is that began at `began`.
    pub fn begin_progress(&mut self, known: &Arc<Mutex<Progress>>, began: Instant) {
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
            // Half of the screen stays for what was said before.
            let mut lines = vec![line];
            lines.extend(known.table(width, usize::from(height) / 2));
            lines.iter().map(|it| plain::visible(it).replace('\n', " ")).collect()
        }));
        *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(foot.handle());
        self.progress = Some(foot);
    }

    /// Takes the line away that says how far a run is.
    pub fn end_progress(&mut self) {
        self.progress = None;
        self.pulse = None;
    }
}

fn coloured() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
}

/// A terminal that obeys no escapes says so: an editor's, a serial line's.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|kind| kind == "dumb")
}

/// What others wrote into it is not obeyed by a terminal, and JSON stays the same.
fn shown(text: &str, is_coloured: bool) -> Cow<'_, str> {
    if is_coloured { plain::coloured(text) } else { plain::visible(text) }
}

/// A result that reached nobody.
pub fn unwritable(error: &io::Error) -> Failure {
    Failure::measurement("standard output cannot be written")
        .because(error)
        .advise("what was written there is not whole; runs that were measured stay stored")
}

/// What is written to a standard output that nobody gave the program is lost, and is no success.
pub fn closed() -> Option<io::Error> {
    /// `EBADF` of Linux, everywhere the same.
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
    let text = words::plainly(&shown(text, is_terminal && coloured()));
    let text = match is_terminal {
        true => fitted(&text, usize::from(Term::stderr().size().1)),
        false => text,
    };
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Lines that a terminal would break within words are broken between them; lines of a file that are shown stay.
fn fitted(text: &str, width: usize) -> String {
    let is_drawn = |line: &str| line.contains(['│', '╭', '╰', '·', '\u{1b}']);
    let line = |line: &str| match is_drawn(line) {
        true => line.to_owned(),
        false => render::text::folded(line, width),
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
