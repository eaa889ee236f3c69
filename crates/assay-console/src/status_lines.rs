//! Status lines at the bottom of a terminal that are redrawn in place. The caller provides their
//! text.
//!
//! Between redraws the cursor is at the start of the first line. A key that the terminal echoes
//! (`^C`) overwrites that line until the next redraw. With the cursor after the last line, the echo
//! could scroll the screen and leave a stale copy.

use std::fmt::{self, Debug, Formatter, Write as _};
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Duration;

use assay_model::poisoned_lock::PoisonedLock as _;

/// Redraw interval: twice a second, so that drawing takes little time from cores that measure.
const REDRAW_INTERVAL: Duration = Duration::from_millis(500);
/// Escape sequence that moves to the first column and clears the line.
///
/// Lines are cleared one by one: a terminal that is cleared from its first line to its end keeps a
/// copy in its scrollback.
const CLEAR_LINE: &str = "\r\u{1b}[2K";

/// Function that returns the current lines.
pub(crate) type LineSource = Box<dyn Fn() -> Vec<String> + Send>;

/// Status lines, redrawn by a thread until they are dropped.
pub(crate) struct StatusLines(Arc<Shared>);

/// State shared with the thread.
struct Shared {
    drawing: Mutex<Drawing>,
    ended: Condvar,
}

/// Lines, and their state on the screen.
struct Drawing {
    lines: LineSource,
    output: Box<dyn Write + Send>,
    /// Number of lines on the screen.
    drawn_lines: usize,
    is_over: bool,
}

impl Debug for StatusLines {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatusLines").finish_non_exhaustive()
    }
}

impl StatusLines {
    /// Starts drawing on standard error.
    pub(crate) fn new(lines: LineSource) -> Self {
        let output = Box::new(io::stderr());
        let drawing = Mutex::new(Drawing { lines, output, drawn_lines: 0, is_over: false });
        let shared = Arc::new(Shared { drawing, ended: Condvar::new() });
        let thread_shared = Arc::clone(&shared);
        let draw = move || thread_shared.draw_until_dropped();
        // Without a thread the lines are drawn only together with other output.
        drop(std::thread::Builder::new().spawn(draw));
        Self(shared)
    }

    /// Returns a weak handle for code without access to the terminal.
    pub(crate) fn handle(&self) -> StatusLinesHandle {
        StatusLinesHandle(Arc::downgrade(&self.0))
    }

    /// Calls `write`, whose output appears above the status lines.
    pub(crate) fn write_above<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.write_above(write)
    }
}

impl Drop for StatusLines {
    fn drop(&mut self) {
        let mut drawing = self.0.lock_drawing();
        drawing.is_over = true;
        drawing.clear();
        self.0.ended.notify_all();
    }
}

/// Weak handle to status lines that may have been dropped.
#[derive(Clone)]
pub(crate) struct StatusLinesHandle(Weak<Shared>);

impl StatusLinesHandle {
    /// Calls `write`, whose output appears above the status lines. Returns `false` without calling
    /// it if the status lines were dropped.
    pub(crate) fn write_above(&self, write: impl FnOnce()) -> bool {
        let shared = self.0.upgrade();
        shared.map(|shared| shared.write_above(write)).is_some()
    }
}

impl Shared {
    fn lock_drawing(&self) -> MutexGuard<'_, Drawing> {
        self.drawing.lock().even_if_poisoned()
    }

    fn draw_until_dropped(&self) {
        let mut drawing = self.lock_drawing();
        while !drawing.is_over {
            drawing.draw();
            let result = self.ended.wait_timeout(drawing, REDRAW_INTERVAL);
            drawing = result.even_if_poisoned().0;
        }
    }

    fn write_above<T>(&self, write: impl FnOnce() -> T) -> T {
        let mut drawing = self.lock_drawing();
        drawing.clear();
        let result = write();
        if !drawing.is_over {
            drawing.draw();
        }
        result
    }
}

impl Drawing {
    fn draw(&mut self) {
        let mut lines = (self.lines)();
        let count = lines.len();
        // The previous drawing may have had more lines.
        lines.resize(count.max(self.drawn_lines), String::new());
        self.overwrite_lines(&lines);
        self.drawn_lines = count;
    }

    fn clear(&mut self) {
        self.overwrite_lines(&vec![String::new(); self.drawn_lines]);
        self.drawn_lines = 0;
    }

    /// Overwrites the lines on the screen and moves the cursor back to the first one.
    fn overwrite_lines(&mut self, lines: &[String]) {
        let lines: Vec<String> =
            lines.iter().map(|line| format!("{CLEAR_LINE}{line}")).collect();
        let mut text = lines.join("\n") + "\r";
        if lines.len() > 1 {
            // Writing to memory does not fail.
            let _ = write!(text, "\u{1b}[{}A", lines.len() - 1);
        }
        self.write(&text);
    }

    /// Writes in one call. Errors are ignored: the run continues without its terminal.
    fn write(&mut self, text: &str) {
        drop(self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writer that collects its output.
    #[derive(Clone, Default)]
    struct CapturedOutput(Arc<Mutex<Vec<u8>>>);

    impl Write for CapturedOutput {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn leaves_cursor_at_first_line() {
        let captured = CapturedOutput::default();
        let frames = Mutex::new(vec![vec!["three"], vec!["one", "two"]]);
        let lines: LineSource = Box::new(move || {
            let lines = frames.lock().unwrap().pop().unwrap_or_default();
            lines.into_iter().map(str::to_owned).collect()
        });
        let output = Box::new(captured.clone());
        let mut drawing = Drawing { lines, output, drawn_lines: 0, is_over: false };
        let take_output = || {
            let text = String::from_utf8(std::mem::take(&mut *captured.0.lock().unwrap()));
            text.unwrap().replace('\u{1b}', "^")
        };
        drawing.draw();
        assert_eq!(take_output(), "\r^[2Kone\n\r^[2Ktwo\r^[1A");
        drawing.draw();
        assert_eq!(take_output(), "\r^[2Kthree\n\r^[2K\r^[1A");
        drawing.clear();
        assert_eq!(take_output(), "\r^[2K\r");
    }
}
