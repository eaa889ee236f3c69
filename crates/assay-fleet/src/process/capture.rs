//! Capture of a running child's output. Reads both streams as they fill, so that the child never
//! blocks on a full pipe, and checks the deadline, the cap and the cancel flag.
//!
//! A single thread uses poll(2) and sleeps nearly always, to disturb the child's measurement as
//! little as possible.

use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Captured;
use super::family::{Family, Mark};

/// Maximum sleep, and thus the delay of a cancellation.
const NAP: Duration = Duration::from_millis(50);
/// Sleep while both streams are closed and only the end of the child is awaited.
const SHORT_NAP: Duration = Duration::from_millis(2);
/// Time to drain the pipes after the child and its descendants have ended. Only a hidden descendant
/// can hold them open longer; it is not waited for.
const DRAIN: Duration = Duration::from_millis(200);
/// Capacity of a pipe (pipe(7)).
const CHUNK_BYTES: usize = 64 << 10;

/// Limits of a child.
pub(super) struct Watch<'a> {
    pub(super) cancel: &'a AtomicBool,
    pub(super) deadline: Option<Duration>,
    pub(super) cap_bytes: u64,
}

/// Reason why a child was ended early.
pub(super) enum Stop {
    Cancelled,
    Deadline(Duration, Captured),
    TooLarge(&'static str),
    Failed(io::Error),
}

impl Watch<'_> {
    /// Follows a child, the leader of its process group, to its end.
    pub(super) fn follow(
        &self,
        mut child: Child,
        mark: Mark,
        began: Instant,
    ) -> Result<(ExitStatus, Captured), Stop> {
        let mut streams = Streams::of(&mut child, self.cap_bytes);
        let mut family = Family::new(child, mark);
        while !family.has_ended() {
            if self.cancel.load(Ordering::Relaxed) {
                family.hasten();
                return Err(Stop::Cancelled);
            }
            let nap = match self.deadline {
                None => NAP,
                Some(limit) => match limit.checked_sub(began.elapsed()) {
                    Some(rest) => rest.min(NAP),
                    None => return Err(Stop::Deadline(limit, streams.into_captured())),
                },
            };
            streams.wait(nap)?;
        }
        family.end_rest();
        let ended = Instant::now();
        while streams.open() && ended.elapsed() < DRAIN {
            streams.wait(SHORT_NAP)?;
        }
        let status = family.reap().map_err(Stop::Failed)?;
        Ok((status, streams.into_captured()))
    }
}

/// Both streams of a child and their captured bytes.
struct Streams {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    captured: Captured,
    cap_bytes: u64,
    chunk: Vec<u8>,
}

impl Streams {
    fn of(child: &mut Child, cap_bytes: u64) -> Self {
        Self {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            captured: Captured::default(),
            cap_bytes,
            chunk: vec![0; CHUNK_BYTES],
        }
    }

    const fn open(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some()
    }

    /// Sleeps until a stream is readable, at most `nap`, and reads the available bytes.
    fn wait(&mut self, nap: Duration) -> Result<(), Stop> {
        if !self.open() {
            std::thread::sleep(nap.min(SHORT_NAP));
            return Ok(());
        }
        let (stdout, stderr) = self.ready(nap).map_err(Stop::Failed)?;
        let Self { captured, chunk, cap_bytes, .. } = self;
        if stdout {
            take_in(&mut self.stdout, &mut captured.stdout, chunk)?;
        }
        if stderr {
            take_in(&mut self.stderr, &mut captured.stderr, chunk)?;
        }
        for (what, bytes) in
            [("standard output", &captured.stdout), ("standard error", &captured.stderr)]
        {
            if bytes.len() as u64 > *cap_bytes {
                return Err(Stop::TooLarge(what));
            }
        }
        Ok(())
    }

    /// Returns whether stdout and stderr can be read without blocking; end of file counts, too.
    fn ready(&self, nap: Duration) -> io::Result<(bool, bool)> {
        let mut polled = Vec::with_capacity(2);
        polled.extend(
            self.stdout
                .as_ref()
                .map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)),
        );
        polled.extend(
            self.stderr
                .as_ref()
                .map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)),
        );
        let timeout = Timespec::try_from(nap).expect("a nap is far shorter than time itself");
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = polled.iter().map(|pipe| !pipe.revents().is_empty());
        let stdout = self.stdout.is_some() && ready.next().unwrap_or(false);
        let stderr = self.stderr.is_some() && ready.next().unwrap_or(false);
        Ok((stdout, stderr))
    }

    fn into_captured(self) -> Captured {
        self.captured
    }
}

/// Appends the available bytes of a pipe, and closes it at its end.
fn take_in(
    pipe: &mut Option<impl Read>,
    bytes: &mut Vec<u8>,
    chunk: &mut [u8],
) -> Result<(), Stop> {
    let Some(open) = pipe else { return Ok(()) };
    match open.read(chunk) {
        Ok(0) => *pipe = None,
        Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(Stop::Failed(error)),
    }
    Ok(())
}
