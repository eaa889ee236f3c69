//! Ping-pong: one message goes back and forth, and every round trip is timed by itself.
//!
//! The far end only echoes. A round trip is the time from before the send to after the receive on
//! one clock; half round trips are left to the caller, because they are not measured.

use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::progress::STOP_CHECK_INTERVAL;
use crate::clock;
use watch::{PendingMessage, WaitBounds};

mod watch;

/// Connected socket of a ping-pong.
#[derive(Debug)]
pub enum PingPongSocket {
    /// Byte stream: messages may arrive in parts.
    Tcp(TcpStream),
    /// Datagrams: one is one message, and may be lost.
    Udp(UdpSocket),
}

/// Method of waiting for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitMode {
    /// The thread sleeps until the kernel wakes it.
    Sleep,
    /// The thread polls, which avoids the wake-up latency and uses a whole CPU.
    Spin,
}

/// Limits of a ping-pong; the first one reached ends it.
#[derive(Debug, Clone, Copy)]
pub struct PingPongLimits<'a> {
    /// Deadline by the clock, in nanoseconds.
    pub deadline_ns: u64,
    /// Number of round trips; also bounds the memory for their times.
    pub round_trips: usize,
    /// Flag of the caller that ends it.
    pub cancel: &'a AtomicBool,
}

/// Result of a ping-pong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoundTrips {
    /// Round-trip times in nanoseconds, in order.
    pub times_ns: Vec<u64>,
    /// Time from the first send to the last receive, in nanoseconds.
    pub total_ns: u64,
    /// Datagrams without a reply in time.
    pub lost: u64,
    /// Messages of an open loop that were due before the end and had no reply by then. The times
    /// include them, with their waiting times.
    pub overdue: u64,
}

/// Timeout of a reply, after which a datagram counts as lost, or a stream's peer as dead.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

impl PingPongSocket {
    fn fd(&self) -> RawFd {
        match self {
            Self::Tcp(stream) => stream.as_raw_fd(),
            Self::Udp(socket) => socket.as_raw_fd(),
        }
    }

    fn is_stream(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    /// Sets the receive timeout, after which the flags are checked; `None` = none.
    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
            Self::Udp(socket) => socket.set_read_timeout(timeout),
        }
    }

    /// Runs `work` in its own thread, so that each of its receives ends. A datagram may be lost,
    /// which only a receive timeout can detect, and a spinning receive does not sleep at all.
    fn run_bounded<T: Send>(
        &self,
        waiting: WaitMode,
        bounds: &WaitBounds<'_>,
        work: impl FnOnce(&PendingMessage) -> io::Result<T> + Send,
    ) -> io::Result<T> {
        let watched = match self {
            Self::Tcp(stream) if waiting == WaitMode::Sleep => Some(stream),
            _ => None,
        };
        self.set_timeout(watched.is_none().then_some(STOP_CHECK_INTERVAL))?;
        let beat = PendingMessage::default();
        watch::run_watched((self.fd(), watched), bounds, &beat, || work(&beat))?
    }
}

/// Sends messages and waits for each echo. An unpaced ping-pong is a closed loop: the next message
/// is sent when the reply to the one before has arrived.
///
/// # Errors
/// The peer closed or did not reply; the round trips before that are discarded, because a failing
/// peer may have distorted them.
pub fn ping(
    line: &PingPongSocket,
    message_bytes: usize,
    waiting: WaitMode,
    until: PingPongLimits<'_>,
) -> io::Result<RoundTrips> {
    line.run_bounded(waiting, &until.bounds(), |beat| {
        let mut pinger = PingPong::new((line, beat), message_bytes, waiting, until);
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

/// Sends at a fixed rate (an open loop) and times each reply from the time at which its message was
/// due. So the delay of a slow reply is included in the times of all messages that it delays.
///
/// # Errors
/// Those of [`ping`].
pub fn ping_at_rate(
    line: &PingPongSocket,
    message_bytes: usize,
    messages_per_s: f64,
    until: PingPongLimits<'_>,
) -> io::Result<RoundTrips> {
    line.run_bounded(WaitMode::Sleep, &until.bounds(), |beat| {
        let mut pinger = PingPong::new((line, beat), message_bytes, WaitMode::Sleep, until);
        let start_ns = clock::now_ns();
        let mut due = (0_u32..)
            .map(|message| start_ns + (f64::from(message) / messages_per_s * 1e9) as u64);
        while let Some(due_ns) = due.next().filter(|due_ns| pinger.has_more(*due_ns)) {
            let sent_ns = wait_until(due_ns, until.cancel);
            // A sender that falls behind sends overdue messages when the far end has already ended.
            if !pinger.has_more(sent_ns) || pinger.exchange(due_ns, sent_ns)?.is_none() {
                pinger.record_overdue(std::iter::once(due_ns).chain(due));
                break;
            }
        }
        pinger.measured.total_ns = clock::now_ns() - start_ns;
        Ok(pinger.measured)
    })
}

/// Waits until the clock reads `due_ns`, or until cancelled; returns the last reading.
pub fn wait_until(due_ns: u64, cancel: &AtomicBool) -> u64 {
    loop {
        let now_ns = clock::now_ns();
        if now_ns >= due_ns || cancel.load(Ordering::Relaxed) {
            return now_ns;
        }
        sleep_towards(due_ns - now_ns);
    }
}

/// Sleeps for most of the time left, so that the last part can be spun.
fn sleep_towards(left_ns: u64) {
    /// Timer slack and wake-up take some 60 µs.
    const SPIN_NS: u64 = 100_000;
    if left_ns > SPIN_NS {
        std::thread::sleep(Duration::from_nanos(left_ns - SPIN_NS).min(STOP_CHECK_INTERVAL));
    } else {
        std::hint::spin_loop();
    }
}

/// Echoes messages until `stop`, until `deadline_ns` or until the peer closes. Returns their
/// number.
///
/// # Errors
/// The system's error, except those that mean that the peer closed.
pub fn echo(
    line: &PingPongSocket,
    message_bytes: usize,
    deadline_ns: u64,
    stop: &AtomicBool,
) -> io::Result<u64> {
    let bounds = WaitBounds { deadline_ns, stop, reply_timeout: None };
    line.run_bounded(WaitMode::Sleep, &bounds, |beat| {
        let mut buffer = vec![0; message_bytes.max(1)];
        let is_over = || stop.load(Ordering::Relaxed) || clock::now_ns() >= deadline_ns;
        let mut echoed = 0;
        // The stop flag must also end the loop for a peer that sends without a pause.
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

impl PingPongLimits<'_> {
    const fn bounds(&self) -> WaitBounds<'_> {
        WaitBounds {
            deadline_ns: self.deadline_ns,
            stop: self.cancel,
            reply_timeout: Some(REPLY_TIMEOUT),
        }
    }
}

struct PingPong<'a> {
    line: &'a PingPongSocket,
    beat: &'a PendingMessage,
    out: Vec<u8>,
    back: Vec<u8>,
    flags: libc::c_int,
    until: PingPongLimits<'a>,
    measured: RoundTrips,
}

impl<'a> PingPong<'a> {
    fn new(
        (line, beat): (&'a PingPongSocket, &'a PendingMessage),
        message_bytes: usize,
        waiting: WaitMode,
        until: PingPongLimits<'a>,
    ) -> Self {
        let bytes = message_bytes.max(1);
        Self {
            line,
            beat,
            out: vec![0xCE; bytes],
            back: vec![0; bytes],
            flags: if waiting == WaitMode::Spin { libc::MSG_DONTWAIT } else { 0 },
            until,
            measured: RoundTrips {
                times_ns: Vec::with_capacity(until.round_trips.min(INITIAL_CAPACITY)),
                ..RoundTrips::default()
            },
        }
    }

    fn has_more(&self, now_ns: u64) -> bool {
        now_ns < self.until.deadline_ns
            && self.measured.times_ns.len() < self.until.round_trips
            && !self.until.cancel.load(Ordering::Relaxed)
    }

    /// Performs one round trip, sent now and timed from `from_ns`. Returns its end, or `None` when
    /// the deadline came before the reply. The far end may have its own timer, which then fired a
    /// little before ours.
    fn exchange(&mut self, from_ns: u64, now_ns: u64) -> io::Result<Option<u64>> {
        self.beat.set(now_ns);
        let until_ns = (now_ns + REPLY_TIMEOUT.as_nanos() as u64).min(self.until.deadline_ns);
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
        if is_last && waited <= self.end_tolerance() {
            return Ok(None);
        }
        if self.line.is_stream() {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("the peer did not reply within {:.1} s", waited.as_secs_f64()),
            ));
        }
        self.measured.lost += 1;
        Ok(if is_last { None } else { Some(end_ns) })
    }

    /// Records the overdue messages: those due before the end without a reply, with their waiting
    /// times so far. For a peer that never replied, nothing is recorded.
    fn record_overdue(&mut self, due: impl Iterator<Item = u64>) {
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

    /// Returns the longest time that the last message may lack a reply because the far end's timer
    /// fired a little before ours. A longer wait is a stall, and omitting it would make the figures
    /// too good.
    fn end_tolerance(&self) -> Duration {
        /// Timers of both ends start one half round trip apart; a busy machine adds to that.
        const MINIMUM: Duration = Duration::from_millis(500);
        match self.measured.times_ns.iter().max() {
            // Nothing was measured, which the caller reports.
            None => Duration::MAX,
            Some(longest_ns) => MINIMUM.max(Duration::from_nanos(*longest_ns) * 4),
        }
    }
}

/// Initial capacity of the list of times; growing it copies it, which would distort one round trip.
const INITIAL_CAPACITY: usize = 1 << 20;

fn send_whole(line: &PingPongSocket, message: &[u8]) -> io::Result<()> {
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

/// Receives one message; false if `is_over` returns true before one has arrived.
fn receive_whole(
    line: &PingPongSocket,
    message: &mut [u8],
    flags: libc::c_int,
    is_over: impl Fn() -> bool,
) -> io::Result<bool> {
    let mut received = 0;
    loop {
        let part = &mut message[received..];
        // SAFETY: pointer and length describe `part`, which is ours to write.
        let result =
            unsafe { libc::recv(line.fd(), part.as_mut_ptr().cast(), part.len(), flags) };
        match usize::try_from(result) {
            // Either the peer or the watcher closed the connection.
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
