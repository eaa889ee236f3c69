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

use super::family::{FamilyMark, ProcessFamily};
use super::{ChildOutput, StreamOverflow};

/// Maximum sleep, and thus the delay of a cancellation.
const MAX_SLEEP: Duration = Duration::from_millis(50);
/// Sleep while both streams are closed and only the end of the child is awaited.
const DRAIN_SLEEP: Duration = Duration::from_millis(2);
/// Time to drain the pipes after the child and its descendants have ended. Only a hidden descendant
/// can hold them open longer; it is not waited for.
const DRAIN_TIME: Duration = Duration::from_millis(200);
/// Capacity of a pipe (pipe(7)).
const CHUNK_BYTES: usize = 64 << 10;

pub(super) struct ChildLimits<'a> {
    pub(super) cancel: &'a AtomicBool,
    pub(super) deadline: Option<Duration>,
    pub(super) cap_bytes: u64,
    pub(super) overflow: StreamOverflow,
}

/// Child that ended by itself.
pub(super) struct FollowedChild {
    pub(super) status: ExitStatus,
    pub(super) output: ChildOutput,
    pub(super) killed_descendants: usize,
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
    ) -> Result<FollowedChild, ChildStop> {
        let mut streams = OutputStreams::from_child(&mut child, self);
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
        let killed_descendants = family.kill_remaining();
        let ended = Instant::now();
        while streams.is_open() && ended.elapsed() < DRAIN_TIME {
            streams.wait(DRAIN_SLEEP)?;
        }
        let status = family.reap().map_err(ChildStop::Failed)?;
        Ok(FollowedChild { status, output: streams.into_captured(), killed_descendants })
    }
}

/// Both streams of a child and their captured bytes.
struct OutputStreams {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    captured: [KeptOutput; 2],
    cap_bytes: u64,
    overflow: StreamOverflow,
    chunk: Vec<u8>,
}

impl OutputStreams {
    fn from_child(child: &mut Child, limits: &ChildLimits<'_>) -> Self {
        Self {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            captured: Default::default(),
            cap_bytes: limits.cap_bytes,
            overflow: limits.overflow,
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
        let Self { captured: [out, error], chunk, cap_bytes, .. } = self;
        if stdout {
            read_chunk(&mut self.stdout, out, chunk)?;
        }
        if stderr {
            read_chunk(&mut self.stderr, error, chunk)?;
        }
        for (what, kept) in [("standard output", out), ("standard error", error)] {
            match self.overflow {
                StreamOverflow::Kill if kept.head.len() as u64 > *cap_bytes => {
                    return Err(ChildStop::TooLarge(what));
                }
                StreamOverflow::Kill => {}
                StreamOverflow::KeepEnds => kept.shorten(*cap_bytes as usize / 2),
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
        let half = self.cap_bytes as usize / 2;
        let [stdout, stderr] = self.captured.map(|kept| kept.into_bytes(half));
        ChildOutput { stdout, stderr }
    }
}

/// Output of one stream: its beginning and, of a long one, its end.
#[derive(Default)]
struct KeptOutput {
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: u64,
}

impl KeptOutput {
    fn append(&mut self, bytes: &[u8]) {
        match self.left_out == 0 && self.tail.is_empty() {
            true => self.head.extend_from_slice(bytes),
            false => self.tail.extend_from_slice(bytes),
        }
    }

    /// Leaves out the middle once both ends have `half` bytes. The tail may grow to twice that,
    /// so that not every chunk moves it.
    fn shorten(&mut self, half: usize) {
        if self.head.len() > half {
            let rest = self.head.split_off(half);
            self.tail.extend_from_slice(&rest);
        }
        if self.tail.len() > 2 * half {
            self.drop_middle(half);
        }
    }

    fn drop_middle(&mut self, half: usize) {
        let beyond = self.tail.len() - half;
        self.tail.drain(..beyond);
        self.left_out += beyond as u64;
    }

    fn into_bytes(mut self, half: usize) -> Vec<u8> {
        if self.tail.len() > half && self.left_out > 0 {
            self.drop_middle(half);
        }
        if self.left_out > 0 {
            let note = format!("\n[assay: {} bytes left out]\n", self.left_out);
            self.head.extend_from_slice(note.as_bytes());
        }
        self.head.append(&mut self.tail);
        self.head
    }
}

/// Appends the available bytes of a pipe, and closes it at its end.
fn read_chunk(
    pipe: &mut Option<impl Read>,
    kept: &mut KeptOutput,
    chunk: &mut [u8],
) -> Result<(), ChildStop> {
    let Some(open) = pipe else { return Ok(()) };
    match open.read(chunk) {
        Ok(0) => *pipe = None,
        Ok(count) => kept.append(&chunk[..count]),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(ChildStop::Failed(error)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::KeptOutput;

    #[test]
    fn long_output_keeps_both_ends() {
        let keep = |length: usize| {
            let mut kept = KeptOutput::default();
            let bytes: Vec<u8> = (0..length).map(|at| b'a' + (at % 26) as u8).collect();
            for chunk in bytes.chunks(3) {
                kept.append(chunk);
                kept.shorten(4);
            }
            String::from_utf8(kept.into_bytes(4)).unwrap()
        };
        for (length, expected) in [
            (3, "abc"),
            (8, "abcdefgh"),
            (12, "abcdefghijkl"),
            (15, "abcd\n[assay: 7 bytes left out]\nlmno"),
            (26, "abcd\n[assay: 18 bytes left out]\nwxyz"),
        ] {
            assert_eq!(keep(length), expected, "{length}");
        }
    }
}
