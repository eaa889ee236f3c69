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

use super::ChildOutput;
use super::family::{FamilyMark, ProcessFamily};

/// Maximum sleep, and thus the delay of a cancellation.
const MAX_SLEEP: Duration = Duration::from_millis(50);
/// Sleep while both streams are closed and only the end of the child is awaited.
const DRAIN_SLEEP: Duration = Duration::from_millis(2);
/// Time to drain the pipes after the child and its descendants have ended. Only a hidden descendant
/// can hold them open longer; it is not waited for.
const DRAIN_TIME: Duration = Duration::from_millis(200);
/// Capacity of a pipe (pipe(7)).
const CHUNK_BYTES: usize = 64 << 10;

/// Limits of a child.
pub(super) struct ChildLimits<'a> {
    pub(super) cancel: &'a AtomicBool,
    pub(super) deadline: Option<Duration>,
    pub(super) cap_bytes: u64,
}

/// Reason why a child was ended early.
pub(super) enum ChildStop {
    Cancelled,
    Deadline(Duration, ChildOutput),
    TooLarge(&'static str),
    Failed(io::Error),
}

impl ChildLimits<'_> {
    /// Follows a child, the leader of its process group, to its end.
    pub(super) fn follow(
        &self,
        mut child: Child,
        mark: FamilyMark,
        began: Instant,
    ) -> Result<(ExitStatus, ChildOutput), ChildStop> {
        let mut streams = OutputStreams::from_child(&mut child, self.cap_bytes);
        let mut family = ProcessFamily::new(child, mark);
        while !family.has_ended() {
            if self.cancel.load(Ordering::Relaxed) {
                family.shorten_grace();
                return Err(ChildStop::Cancelled);
            }
            let nap = match self.deadline {
                None => MAX_SLEEP,
                Some(limit) => match limit.checked_sub(began.elapsed()) {
                    Some(rest) => rest.min(MAX_SLEEP),
                    None => return Err(ChildStop::Deadline(limit, streams.into_captured())),
                },
            };
            streams.wait(nap)?;
        }
        family.kill_remaining();
        let ended = Instant::now();
        while streams.is_open() && ended.elapsed() < DRAIN_TIME {
            streams.wait(DRAIN_SLEEP)?;
        }
        let status = family.reap().map_err(ChildStop::Failed)?;
        Ok((status, streams.into_captured()))
    }
}

/// Both streams of a child and their captured bytes.
struct OutputStreams {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    captured: ChildOutput,
    cap_bytes: u64,
    chunk: Vec<u8>,
}

impl OutputStreams {
    fn from_child(child: &mut Child, cap_bytes: u64) -> Self {
        Self {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            captured: ChildOutput::default(),
            cap_bytes,
            chunk: vec![0; CHUNK_BYTES],
        }
    }

    const fn is_open(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some()
    }

    /// Sleeps until a stream is readable, at most `nap`, and reads the available bytes.
    fn wait(&mut self, nap: Duration) -> Result<(), ChildStop> {
        if !self.is_open() {
            std::thread::sleep(nap.min(DRAIN_SLEEP));
            return Ok(());
        }
        let (stdout, stderr) = self.ready(nap).map_err(ChildStop::Failed)?;
        let Self { captured, chunk, cap_bytes, .. } = self;
        if stdout {
            read_chunk(&mut self.stdout, &mut captured.stdout, chunk)?;
        }
        if stderr {
            read_chunk(&mut self.stderr, &mut captured.stderr, chunk)?;
        }
        for (what, bytes) in
            [("standard output", &captured.stdout), ("standard error", &captured.stderr)]
        {
            if bytes.len() as u64 > *cap_bytes {
                return Err(ChildStop::TooLarge(what));
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

    fn into_captured(self) -> ChildOutput {
        self.captured
    }
}

/// Appends the available bytes of a pipe, and closes it at its end.
fn read_chunk(
    pipe: &mut Option<impl Read>,
    bytes: &mut Vec<u8>,
    chunk: &mut [u8],
) -> Result<(), ChildStop> {
    let Some(open) = pipe else { return Ok(()) };
    match open.read(chunk) {
        Ok(0) => *pipe = None,
        Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(ChildStop::Failed(error)),
    }
    Ok(())
}
