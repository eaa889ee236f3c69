//! Lines at the foot of a terminal that are drawn again and again. Never decides what stands in them.
//!
//! The cursor waits before the first of them: what a terminal echoes of a key (`^C`) then lies on them until they are
//! drawn again. Behind them it would move everything by a line, and leave a copy of them above what is said next.

use std::fmt::{self, Debug, Formatter, Write as _};
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// What is drawn may not take time from a core that measures: twice a second is seldom enough.
const EVERY: Duration = Duration::from_millis(500);
/// To the first column, and what is on the line taken away. Not what is below it, too, in one: a terminal that is cleared
/// from its first line on keeps a copy in what it can be scrolled back to.
const CLEARED: &str = "\r\u{1b}[2K";

/// The lines that are to be seen now.
pub(crate) type Lines = Box<dyn Fn() -> Vec<String> + Send>;

/// Is drawn until it is dropped.
pub(crate) struct Foot(Arc<Shared>);

struct Shared {
    drawing: Mutex<Drawing>,
    ended: Condvar,
}

struct Drawing {
    lines: Lines,
    to: Box<dyn Write + Send>,
    /// Lines that are to be seen.
    drawn: usize,
    is_over: bool,
}

impl Debug for Foot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foot").finish_non_exhaustive()
    }
}

impl Foot {
    /// Draws on standard error from now on.
    pub(crate) fn new(lines: Lines) -> Self {
        let to = Box::new(io::stderr());
        let drawing = Mutex::new(Drawing { lines, to, drawn: 0, is_over: false });
        let shared = Arc::new(Shared { drawing, ended: Condvar::new() });
        let drawn = Arc::clone(&shared);
        std::thread::spawn(move || drawn.draw());
        Self(shared)
    }

    /// For whoever has nothing else at hand.
    pub(crate) fn handle(&self) -> Handle {
        Handle(Arc::downgrade(&self.0))
    }

    /// Writes something else above it.
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

/// A foot that may be gone.
#[derive(Clone)]
pub(crate) struct Handle(Weak<Shared>);

impl Handle {
    /// Writes something above it; gives it back where there is nothing to be above of.
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
        // Those of before may be more.
        lines.resize(seen.max(self.drawn), String::new());
        self.put(&lines);
        self.drawn = seen;
    }

    fn clear(&mut self) {
        self.put(&vec![String::new(); self.drawn]);
        self.drawn = 0;
    }

    /// Lines over those that are there, and the cursor back before the first.
    fn put(&mut self, lines: &[String]) {
        let lines: Vec<String> = lines.iter().map(|line| format!("{CLEARED}{line}")).collect();
        let mut text = lines.join("\n") + "\r";
        if lines.len() > 1 {
            // Writing to memory does not fail.
            let _ = write!(text, "\u{1b}[{}A", lines.len() - 1);
        }
        self.write(&text);
    }

    /// In one piece; a terminal that is gone sees nothing, and the run goes on.
    fn write(&mut self, text: &str) {
        drop(self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps what is written.
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
