//! Ping-pong: one message goes back and forth, and every round trip is timed alone.
//!
//! The far end only echoes. A round trip is the time from before the send to after the receive on
//! one clock; half of it is nobody's measurement and left to whoever wants it.

use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::progress::LOOK_EVERY;
use crate::clock;
use watch::{Beat, Bounds};

mod watch;

/// The connected socket of a ping-pong.
#[derive(Debug)]
pub enum Line {
    /// A byte stream: messages may arrive in parts.
    Tcp(TcpStream),
    /// Datagrams: one is one message, and may be lost.
    Udp(UdpSocket),
}

/// How a receive waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// The thread sleeps until the kernel wakes it.
    Sleep,
    /// The thread asks again and again, which saves the wake-up and costs a CPU.
    Spin,
}

/// When a ping-pong ends, whichever comes first.
#[derive(Debug, Clone, Copy)]
pub struct Until<'a> {
    /// Reading of the clock.
    pub deadline_ns: u64,
    /// Number of round trips; also bounds the memory for their times.
    pub round_trips: usize,
    /// The same, told from outside.
    pub cancel: &'a AtomicBool,
}

/// What a ping-pong measured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoundTrips {
    /// The time of each, in nanoseconds, in order.
    pub times_ns: Vec<u64>,
    /// From the first send to the last receive.
    pub total_ns: u64,
    /// Datagrams that were not answered in time.
    pub lost: u64,
    /// Messages of an open loop that were due before the end and not answered by then. They are among the
    /// times, with what they had waited.
    pub overdue: u64,
}

/// How long an answer may take before a datagram counts as lost, or a stream's peer as dead.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

impl Line {
    fn fd(&self) -> RawFd {
        match self {
            Self::Tcp(stream) => stream.as_raw_fd(),
            Self::Udp(socket) => socket.as_raw_fd(),
        }
    }

    fn is_stream(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    /// Sets how long a receive sleeps before it looks around; `None` = for ever.
    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
            Self::Udp(socket) => socket.set_read_timeout(timeout),
        }
    }

    /// Runs `work` in its own thread, so that each of its receives has an end. A datagram may be
    /// lost, which only a timeout of the receive itself can tell, and a receive that spins does not
    /// sleep at all.
    fn bounded<T: Send>(
        &self,
        waiting: Waiting,
        bounds: &Bounds<'_>,
        work: impl FnOnce(&Beat) -> io::Result<T> + Send,
    ) -> io::Result<T> {
        let watched = match self {
            Self::Tcp(stream) if waiting == Waiting::Sleep => Some(stream),
            _ => None,
        };
        self.set_timeout(watched.is_none().then_some(LOOK_EVERY))?;
        let beat = Beat::default();
        watch::watched((self.fd(), watched), bounds, &beat, || work(&beat))?
    }
}

/// Sends and waits for the echo, again and again. An unpaced ping-pong is a closed loop: the next
/// message is sent when the answer to the one before is there.
///
/// # Errors
/// A peer that closed or did not answer; the round trips before that are lost with it, because they
/// may have been made of a dying peer.
pub fn ping(
    line: &Line,
    message_bytes: usize,
    waiting: Waiting,
    until: Until<'_>,
) -> io::Result<RoundTrips> {
    line.bounded(waiting, &until.bounds(), |beat| {
        let mut pinger = Pinger::new((line, beat), message_bytes, waiting, until);
        let start_ns = clock::now_ns();
        let mut before_ns = start_ns;
        // The end of one round trip is the start of the next: one reading of the clock for both.
        while pinger.has_more(before_ns) {
            match pinger.exchange(before_ns, before_ns)? {
                Some(after_ns) => before_ns = after_ns,
                None => break,
            }
        }
        pinger.measured.total_ns = before_ns - start_ns;
        Ok(pinger.measured)
    })
}

/// Sends at a fixed rate and times each answer from the time at which its message was due, so that
/// a slow answer is charged to all the messages that it delayed: an open loop.
///
/// # Errors
/// Those of [`ping`].
pub fn ping_at_rate(
    line: &Line,
    message_bytes: usize,
    messages_per_s: f64,
    until: Until<'_>,
) -> io::Result<RoundTrips> {
    line.bounded(Waiting::Sleep, &until.bounds(), |beat| {
        let mut pinger = Pinger::new((line, beat), message_bytes, Waiting::Sleep, until);
        let start_ns = clock::now_ns();
        let mut due = (0_u32..)
            .map(|message| start_ns + (f64::from(message) / messages_per_s * 1e9) as u64);
        while let Some(due_ns) = due.next().filter(|due_ns| pinger.has_more(*due_ns)) {
            let sent_ns = wait_until(due_ns, until.cancel);
            // Who cannot keep up sends what is due long before the end when the far end has gone already.
            if !pinger.has_more(sent_ns) || pinger.exchange(due_ns, sent_ns)?.is_none() {
                pinger.leave_the_rest(std::iter::once(due_ns).chain(due));
                break;
            }
        }
        pinger.measured.total_ns = clock::now_ns() - start_ns;
        Ok(pinger.measured)
    })
}

/// Waits until the clock reads `due_ns`, or until nobody wants to wait any more; what it read then comes back.
fn wait_until(due_ns: u64, cancel: &AtomicBool) -> u64 {
    loop {
        let now_ns = clock::now_ns();
        if now_ns >= due_ns || cancel.load(Ordering::Relaxed) {
            return now_ns;
        }
        sleep_towards(due_ns - now_ns);
    }
}

/// Sleeps most of the way, so that the last part can be spun.
fn sleep_towards(left_ns: u64) {
    /// Timer slack and wake-up take some 60 µs.
    const SPIN_NS: u64 = 100_000;
    if left_ns > SPIN_NS {
        std::thread::sleep(Duration::from_nanos(left_ns - SPIN_NS).min(LOOK_EVERY));
    } else {
        std::hint::spin_loop();
    }
}

/// Echoes messages until `stop`, until `deadline_ns` or until the peer closes. Returns how many.
///
/// # Errors
/// The system's error, except those by which a peer's end shows.
pub fn echo(
    line: &Line,
    message_bytes: usize,
    deadline_ns: u64,
    stop: &AtomicBool,
) -> io::Result<u64> {
    let bounds = Bounds { deadline_ns, stop, answer_timeout: None };
    line.bounded(Waiting::Sleep, &bounds, |beat| {
        let mut buffer = vec![0; message_bytes.max(1)];
        let is_over = || stop.load(Ordering::Relaxed) || clock::now_ns() >= deadline_ns;
        let mut echoed = 0;
        // A peer that never pauses is never waited for, and ends all the same when it is told to.
        while !(echoed > 0 && stop.load(Ordering::Relaxed)) {
            beat.set(echoed + 1);
            let answered = match receive_whole(line, &mut buffer, 0, is_over) {
                Ok(true) => send_whole(line, &buffer),
                Ok(false) => return Ok(echoed),
                Err(error) => Err(error),
            };
            match answered {
                Ok(()) => echoed += 1,
                Err(error) if is_end(&error) => return Ok(echoed),
                Err(error) => return Err(error),
            }
        }
        Ok(echoed)
    })
}

impl Until<'_> {
    const fn bounds(&self) -> Bounds<'_> {
        Bounds {
            deadline_ns: self.deadline_ns,
            stop: self.cancel,
            answer_timeout: Some(ANSWER_TIMEOUT),
        }
    }
}

struct Pinger<'a> {
    line: &'a Line,
    beat: &'a Beat,
    out: Vec<u8>,
    back: Vec<u8>,
    flags: libc::c_int,
    until: Until<'a>,
    measured: RoundTrips,
}

impl<'a> Pinger<'a> {
    fn new(
        (line, beat): (&'a Line, &'a Beat),
        message_bytes: usize,
        waiting: Waiting,
        until: Until<'a>,
    ) -> Self {
        let bytes = message_bytes.max(1);
        Self {
            line,
            beat,
            out: vec![0xCE; bytes],
            back: vec![0; bytes],
            flags: if waiting == Waiting::Spin { libc::MSG_DONTWAIT } else { 0 },
            until,
            measured: RoundTrips {
                times_ns: Vec::with_capacity(until.round_trips.min(FIRST_CAPACITY)),
                ..RoundTrips::default()
            },
        }
    }

    fn has_more(&self, now_ns: u64) -> bool {
        now_ns < self.until.deadline_ns
            && self.measured.times_ns.len() < self.until.round_trips
            && !self.until.cancel.load(Ordering::Relaxed)
    }

    /// One round trip, sent now and timed from `from_ns`; when it ended, or `None` when the deadline
    /// came before the answer. The far end may have its own timer, which then fired a little before
    /// ours.
    fn exchange(&mut self, from_ns: u64, now_ns: u64) -> io::Result<Option<u64>> {
        self.beat.set(now_ns);
        let until_ns = (now_ns + ANSWER_TIMEOUT.as_nanos() as u64).min(self.until.deadline_ns);
        send_whole(self.line, &self.out)?;
        let cancel = self.until.cancel;
        let is_over = || clock::now_ns() >= until_ns || cancel.load(Ordering::Relaxed);
        let is_answered = receive_whole(self.line, &mut self.back, self.flags, is_over)?;
        let end_ns = clock::now_ns();
        self.beat.set(0);
        if is_answered {
            self.measured.times_ns.push(end_ns - from_ns);
            return Ok(Some(end_ns));
        }
        if cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let is_last = until_ns == self.until.deadline_ns;
        let waited = Duration::from_nanos(end_ns - now_ns);
        if is_last && waited <= self.longest_end() {
            return Ok(None);
        }
        if self.line.is_stream() {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("the peer did not answer within {:.1} s", waited.as_secs_f64()),
            ));
        }
        self.measured.lost += 1;
        Ok(if is_last { None } else { Some(end_ns) })
    }

    /// What was due before the end and is not answered has taken as long as it has waited at least. A peer
    /// that answered nothing at all has no round trips.
    fn leave_the_rest(&mut self, due: impl Iterator<Item = u64>) {
        if self.measured.times_ns.is_empty() {
            return;
        }
        let now_ns = clock::now_ns();
        for due_ns in due.take_while(|due_ns| *due_ns < now_ns) {
            if !self.has_more(due_ns) {
                break;
            }
            self.measured.times_ns.push(now_ns - due_ns);
            self.measured.overdue += 1;
        }
    }

    /// How long the last message may stay unanswered because the far end's timer fired a little before
    /// ours. What takes longer has stalled, and figures that leave it out would be too good.
    fn longest_end(&self) -> Duration {
        /// Timers of both ends start one half round trip apart; a busy machine adds to that.
        const MINIMUM: Duration = Duration::from_millis(500);
        match self.measured.times_ns.iter().max() {
            // Nothing was measured, and whoever asked says so.
            None => Duration::MAX,
            Some(longest_ns) => MINIMUM.max(Duration::from_nanos(*longest_ns) * 4),
        }
    }
}

/// Times kept before the list grows; growing copies it, which would be seen in one round trip.
const FIRST_CAPACITY: usize = 1 << 20;

fn send_whole(line: &Line, message: &[u8]) -> io::Result<()> {
    let mut sent = 0;
    while sent < message.len() {
        let part = &message[sent..];
        // SAFETY: pointer and length describe `part`, which the call only reads.
        let result = unsafe {
            libc::send(line.fd(), part.as_ptr().cast(), part.len(), libc::MSG_NOSIGNAL)
        };
        match usize::try_from(result) {
            Ok(bytes) => sent += bytes,
            Err(_) => {
                let error = io::Error::last_os_error();
                if !is_no_data(&error) {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// Receives one message; false when `is_over` says so while none has come.
fn receive_whole(
    line: &Line,
    message: &mut [u8],
    flags: libc::c_int,
    is_over: impl Fn() -> bool,
) -> io::Result<bool> {
    let mut received = 0;
    loop {
        let part = &mut message[received..];
        // SAFETY: pointer and length describe `part`, which is ours to be written.
        let result =
            unsafe { libc::recv(line.fd(), part.as_mut_ptr().cast(), part.len(), flags) };
        match usize::try_from(result) {
            // Either the peer closed or the watcher did.
            Ok(0) if line.is_stream() && is_over() => return Ok(false),
            Ok(0) if line.is_stream() => {
                return Err(io::Error::from(io::ErrorKind::ConnectionReset));
            }
            Ok(bytes) => received += bytes,
            Err(_) => {
                let error = io::Error::last_os_error();
                if !is_no_data(&error) {
                    return Err(error);
                }
                if is_over() {
                    return Ok(false);
                }
                continue;
            }
        }
        if received == message.len() || !line.is_stream() {
            return Ok(true);
        }
    }
}

fn is_no_data(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset | ConnectionRefused)
}

#[cfg(test)]
mod tests;
