//! Status lines at the bottom of a terminal that are redrawn in place. The caller provides their
//! text.
//!
//! The cursor rests at the start of the first line. A key that the terminal echoes (`^C`) then
//! overwrites the lines until the next redraw. After the last line, the echo would scroll the
//! screen by a line and leave a stale copy above the next message.

use std::fmt::{self, Debug, Formatter, Write as _};
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Redraw interval: twice a second, so that drawing takes little time from cores that measure.
const EVERY: Duration = Duration::from_millis(500);
/// Moves to the first column and clears the line.
///
/// Clears line by line instead of everything below at once: a terminal cleared from its first line
/// on keeps a copy in its scrollback.
const CLEARED: &str = "\r\u{1b}[2K";

/// Function that returns the current lines.
pub(crate) type Lines = Box<dyn Fn() -> Vec<String> + Send>;

/// Status lines, redrawn by a thread until they are dropped.
pub(crate) struct Foot(Arc<Shared>);

struct Shared {
    drawing: Mutex<Drawing>,
    ended: Condvar,
}

struct Drawing {
    lines: Lines,
    to: Box<dyn Write + Send>,
    /// Number of lines on the screen.
    drawn: usize,
    is_over: bool,
}

impl Debug for Foot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foot").finish_non_exhaustive()
    }
}

impl Foot {
    /// Starts drawing on standard error.
    pub(crate) fn new(lines: Lines) -> Self {
        let to = Box::new(io::stderr());
        let drawing = Mutex::new(Drawing { lines, to, drawn: 0, is_over: false });
        let shared = Arc::new(Shared { drawing, ended: Condvar::new() });
        let drawn = Arc::clone(&shared);
        std::thread::spawn(move || drawn.draw());
        Self(shared)
    }

    /// Returns a weak handle for code without access to the terminal.
    pub(crate) fn handle(&self) -> Handle {
        Handle(Arc::downgrade(&self.0))
    }

    /// Calls `write`, whose output appears above the status lines.
    pub(crate) fn beneath<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.beneath(write)
    }
}

impl Drop for Foot {
    fn drop(&mut self) {
        let mut drawing = self.0.locked();
        drawing.is_over = true;
        drawing.clear();
        self.0.ended.notify_all();
    }
}

/// Weak handle to status lines that may have been dropped.
#[derive(Clone)]
pub(crate) struct Handle(Weak<Shared>);

impl Handle {
    /// Calls `write`, whose output appears above the status lines. Returns `false`, without a call,
    /// if there are none.
    pub(crate) fn beneath(&self, write: impl FnOnce()) -> bool {
        let shared = self.0.upgrade();
        shared.map(|shared| shared.beneath(write)).is_some()
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, Drawing> {
        self.drawing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self) {
        let mut drawing = self.locked();
        while !drawing.is_over {
            drawing.draw();
            let waited = self.ended.wait_timeout(drawing, EVERY);
            drawing = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn beneath<T>(&self, write: impl FnOnce() -> T) -> T {
        let mut drawing = self.locked();
        drawing.clear();
        let written = write();
        if !drawing.is_over {
            drawing.draw();
        }
        written
    }
}

impl Drawing {
    fn draw(&mut self) {
        let mut lines = (self.lines)();
        let seen = lines.len();
        // The previous drawing may have had more lines.
        lines.resize(seen.max(self.drawn), String::new());
        self.put(&lines);
        self.drawn = seen;
    }

    fn clear(&mut self) {
        self.put(&vec![String::new(); self.drawn]);
        self.drawn = 0;
    }

    /// Overwrites the lines on the screen and moves the cursor back to the first one.
    fn put(&mut self, lines: &[String]) {
        let lines: Vec<String> = lines.iter().map(|line| format!("{CLEARED}{line}")).collect();
        let mut text = lines.join("\n") + "\r";
        if lines.len() > 1 {
            // Writing to memory does not fail.
            let _ = write!(text, "\u{1b}[{}A", lines.len() - 1);
        }
        self.write(&text);
    }

    /// Writes in one call. Errors are ignored: the run continues without its terminal.
    fn write(&mut self, text: &str) {
        drop(self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writer that collects its output.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_cursor_waits_before_the_first_line() {
        let kept = Kept::default();
        let left = Mutex::new(vec![vec!["three"], vec!["one", "two"]]);
        let lines: Lines = Box::new(move || {
            let lines = left.lock().unwrap().pop().unwrap_or_default();
            lines.into_iter().map(str::to_owned).collect()
        });
        let to = Box::new(kept.clone());
        let mut drawing = Drawing { lines, to, drawn: 0, is_over: false };
        let written = || {
            let written = String::from_utf8(std::mem::take(&mut *kept.0.lock().unwrap()));
            written.unwrap().replace('\u{1b}', "^")
        };
        drawing.draw();
        assert_eq!(written(), "\r^[2Kone\n\r^[2Ktwo\r^[1A");
        drawing.draw();
        assert_eq!(written(), "\r^[2Kthree\n\r^[2K\r^[1A");
        drawing.clear();
        assert_eq!(written(), "\r^[2K\r");
    }
}
