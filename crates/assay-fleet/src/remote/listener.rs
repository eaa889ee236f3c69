//! Single thread that reads from all agents: splits the input into messages, forwards them, and
//! keeps partial ones. A thread per agent would keep the stack memory of its largest message.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::mem;
use std::os::fd::OwnedFd;
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, SyncSender, TrySendError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};

use super::agents::{Batch, Heard, Input, ROUND, Target};
use super::controller::Course;
use super::endings::Ending;
use super::failure::HostFailure;
use super::line::{self, Ends, Line, Lines, lock};
use super::relay::RelayAsked;
use super::stderr::Tail;
use super::{Reply, Request, frame};

/// Maximum read from one pipe before the next: the capacity of a pipe (pipe(7)).
const CHUNK: usize = 64 << 10;
/// Interval of heartbeats to active agents.
const WORD: Duration = Duration::from_secs(1);
/// Interval of retries while the event queue is full.
const NAP: Duration = Duration::from_millis(1);

/// Reader of the joined agents.
pub(super) struct Listener<'s, 'h> {
    clock: fn() -> u64,
    course: &'s Course<'s>,
    /// Epoll instance that wakes the thread (epoll(7)); agents can be added while it waits.
    ready: OwnedFd,
    /// Pipes by the number of the first host reached through them.
    joined: Mutex<BTreeMap<usize, Speaker<'h>>>,
    heard: SyncSender<Batch>,
    endings: Sender<Ending<'h>>,
}

/// Transport process to read from.
struct Speaker<'h> {
    target: Target<'h>,
    line: Arc<Line>,
    output: ChildStdout,
    said: Tail,
    /// Received part of an incomplete message.
    received: Vec<u8>,
    /// Time of the last heartbeat to the agent.
    told: Instant,
}

impl<'s, 'h> Listener<'s, 'h> {
    /// Creates a listener without agents.
    ///
    /// # Errors
    /// If the kernel cannot create an epoll instance.
    pub(super) fn new(
        (clock, course): (fn() -> u64, &'s Course<'s>),
        heard: SyncSender<Batch>,
        endings: Sender<Ending<'h>>,
    ) -> io::Result<Self> {
        let ready = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { clock, course, ready, joined: Mutex::default(), heard, endings })
    }

    /// Starts an agent, or reports its failure.
    pub(super) fn start(&self, target: &Target<'h>, lines: &Lines) {
        let admit = |ends, line: &Arc<Line>| self.admit(target, ends, line);
        if let Err(failure) = line::talk_to(target.name, self.course, lines, &admit) {
            // The receiver is gone at shutdown.
            let _is_heard = self.heard.send(target.losses(failure));
        }
    }

    /// Adds an agent after its first message.
    ///
    /// # Errors
    /// [`HostFailure`] if the agent cannot be written to or its input after that message is
    /// malformed.
    fn admit(
        &self,
        target: &Target<'h>,
        ends: Ends,
        line: &Arc<Line>,
    ) -> Result<(), HostFailure> {
        let Ends { mut input, output, said } = ends;
        if target.is_relay {
            let (hosts, via) = (target.hosts.to_vec(), self.course.via.clone());
            let asked = RelayAsked { hosts, via, deadline: self.course.deadline };
            frame::write(&mut input, &Request::Relay(asked)).map_err(HostFailure::of_pipe)?;
        }
        *lock(&target.input) = Some(input);
        let mut speaker = Speaker {
            target: target.clone(),
            line: Arc::clone(line),
            received: output.buffer().to_vec(),
            output: output.into_inner(),
            said,
            told: Instant::now(),
        };
        let mut heard = Batch::new();
        if !target.is_relay {
            heard.push((target.first, Heard::Joined));
        }
        let outcome = speaker.understand((self.clock)(), &mut heard);
        // The receiver is gone at shutdown.
        let _is_heard = self.heard.send(heard);
        outcome?;
        let number = target.first;
        let data = epoll::EventData::new_u64(number as u64);
        let mut joined = lock(&self.joined);
        epoll::add(&self.ready, &speaker.output, data, epoll::EventFlags::IN).map_err(
            |error| HostFailure::of_pipe(frame::FrameError::Pipe(io::Error::from(error))),
        )?;
        joined.insert(number, speaker);
        Ok(())
    }

    /// Reads from the agents until everything is over, then kills the rest.
    pub(super) fn listen(&self, over: &AtomicBool) {
        let mut events = Vec::with_capacity(64);
        let mut chunk = vec![0; CHUNK];
        let wait = Timespec::try_from(ROUND).ok();
        while !over.load(Ordering::Relaxed) {
            events.clear();
            // A signal may interrupt the wait.
            let _ready = epoll::wait(&self.ready, spare_capacity(&mut events), wait.as_ref());
            for event in &events {
                let number = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
                self.hear(number, &mut chunk, over);
            }
        }
        lock(&self.joined).clear();
    }

    /// Reads from a pipe that is readable or closed, so that it does not block.
    fn hear(&self, number: usize, chunk: &mut [u8], over: &AtomicBool) {
        let mut joined = lock(&self.joined);
        let Some(speaker) = joined.get_mut(&number) else { return };
        let mut heard = Batch::new();
        let outcome = match speaker.output.read(chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
            Err(error) => Err(HostFailure::of_pipe(frame::FrameError::Pipe(error))),
            Ok(0) => Err(HostFailure::of_pipe(frame::FrameError::Closed)),
            Ok(read) => {
                speaker.received.extend_from_slice(&chunk[..read]);
                speaker.understand((self.clock)(), &mut heard)
            }
        };
        speaker.stay(self.course.deadline);
        self.hand_on(heard, &mut joined, over);
        let Err(failure) = outcome else { return };
        let Some(Speaker { target, line, output, said, .. }) = joined.remove(&number) else {
            return;
        };
        let _is_known = epoll::delete(&self.ready, &output);
        drop(lock(&target.input).take());
        // The receiver lives as long as this listener.
        let _is_heard = self.endings.send(Ending::new(target, line, said, failure));
    }

    /// Forwards events; waits while the queue is full, unless everything is over. Agents that are
    /// not read meanwhile get heartbeats and do not count as silent.
    fn hand_on(
        &self,
        mut heard: Batch,
        joined: &mut BTreeMap<usize, Speaker<'h>>,
        over: &AtomicBool,
    ) {
        while !heard.is_empty() && !over.load(Ordering::Relaxed) {
            match self.heard.try_send(heard) {
                Err(TrySendError::Full(back)) => heard = back,
                Ok(()) | Err(TrySendError::Disconnected(_)) => return,
            }
            joined.values_mut().for_each(|it| it.stay(self.course.deadline));
            thread::sleep(NAP);
        }
    }
}

impl Speaker<'_> {
    /// Extends the agent's deadline and sends a heartbeat if due.
    fn stay(&mut self, deadline: Duration) {
        self.line.lives_until(Instant::now() + deadline);
        if self.told.elapsed() >= WORD {
            self.told = Instant::now();
            say_alive(&self.target.input);
        }
    }

    /// Splits the received bytes into complete messages.
    fn understand(&mut self, at_ns: u64, heard: &mut Batch) -> Result<(), HostFailure> {
        let mut taken = 0;
        let outcome = loop {
            match frame::first(&self.received[taken..]).map_err(HostFailure::of_pipe) {
                Err(failure) => break Err(failure),
                Ok(None) => break Ok(()),
                Ok(Some((reply, bytes))) => {
                    taken += bytes;
                    match self.target.heard(reply, at_ns) {
                        Ok(said) => heard.extend(said),
                        Err(failure) => break Err(failure),
                    }
                }
            }
        };
        match taken == self.received.len() {
            // Frees the buffer instead of keeping one for each of a thousand agents.
            true => drop(mem::take(&mut self.received)),
            false => drop(self.received.drain(..taken)),
        }
        outcome
    }
}

impl Target<'_> {
    /// Converts a reply into an event of its host; `None` for a heartbeat.
    fn heard(&self, reply: Reply, at_ns: u64) -> Result<Option<(usize, Heard)>, HostFailure> {
        let Target { name, first, hosts, is_relay, .. } = self;
        Ok(match reply {
            // Only extends the deadline: thousands of heartbeats would fill the queue of a busy
            // receiver.
            Reply::Alive => None,
            Reply::Of(number, passed) if *is_relay && number < hosts.len() => {
                Some((first + number, passed.heard(name, at_ns)))
            }
            Reply::Failed { reason, advice } if *is_relay => {
                return Err(HostFailure::Refused { reason, advice });
            }
            _ if *is_relay => None,
            reply => Some((*first, Heard::Said { reply: Box::new(reply), at_ns })),
        })
    }
}

/// Sends a heartbeat without blocking. A locked input is in use for another message, and an agent
/// may itself be blocked until it is read from.
fn say_alive(input: &Input) {
    let Ok(mut input) = input.try_lock() else { return };
    let Some(input) = input.as_mut() else { return };
    if is_free(input) {
        // A closed pipe is reported as a lost host.
        drop(frame::write(input, &Request::Alive));
    }
}

/// Returns whether a write does not block: a writable pipe takes at least a page (pipe(7)), a
/// heartbeat a few bytes.
fn is_free(input: &ChildStdin) -> bool {
    let mut way = [PollFd::new(input, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut way, Some(&now)).is_ok_and(|ready| ready > 0)
        && way[0].revents().contains(PollFlags::OUT)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver, RecvTimeoutError};

    use super::super::{Clocks, Program, Via};
    use super::*;

    /// Runs `body` while a listener reads from a transport of this script with a queue of one
    /// batch. The host name is a file with the text.
    fn listening<T>(
        script: &str,
        text: &[u8],
        body: impl FnOnce(&Receiver<Batch>, &Receiver<Ending<'_>>, &Tail) -> T,
    ) -> T {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        std::fs::write(&file, text).unwrap();
        let name = file.display().to_string();
        let via = Via::parse(script).unwrap();
        let program = Program::running().unwrap();
        let (cancel, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let deadline = Duration::from_secs(60);
        let course =
            Course { via: &via, program: &program, relays: &[], deadline, cancel: &cancel };
        let target = Target {
            name: &name,
            first: 7,
            hosts: std::slice::from_ref(&name),
            is_relay: false,
            input: Input::default(),
        };
        let (speaking, heard) = mpsc::sync_channel(1);
        let (ending, endings) = mpsc::channel();
        let listener = Listener::new((|| 5, &course), speaking, ending).unwrap();
        let (line, ends) = line::open(&name, &via, Instant::now() + deadline).unwrap();
        let said = Arc::clone(&ends.said);
        thread::scope(|scope| {
            scope.spawn(|| listener.listen(&over));
            listener.admit(&target, ends, &Arc::new(line)).unwrap();
            let outcome = body(&heard, &endings, &said);
            over.store(true, Ordering::Relaxed);
            outcome
        })
    }

    /// Returns the events of a transport that sends a text in two parts, and its failure.
    fn heard_of(text: &[u8]) -> (Vec<Heard>, HostFailure) {
        let script = "sh -c 'head -c 700 {host}; sleep 0.1; tail -c +701 {host}'";
        let mut said = Vec::new();
        let failure = listening(script, text, |heard, endings, _| {
            let failure = loop {
                match endings.recv_timeout(Duration::from_millis(5)) {
                    Ok(ending) => break ending.failure,
                    Err(RecvTimeoutError::Timeout) => said.extend(heard.try_iter().flatten()),
                    Err(RecvTimeoutError::Disconnected) => unreachable!(),
                }
            };
            said.extend(heard.try_iter().flatten());
            failure
        });
        assert!(said.iter().all(|(number, _)| *number == 7));
        (said.into_iter().map(|(_, heard)| heard).collect(), failure)
    }

    /// Creates more messages than a pipe and the queue hold together.
    fn clocks() -> (Vec<Reply>, Vec<u8>) {
        let clock = |day_ns| Reply::Clock(Clocks { day_ns, measuring_ns: 0 });
        let replies: Vec<Reply> = (0..10_000).map(clock).collect();
        let mut text = Vec::new();
        replies.iter().for_each(|reply| frame::write(&mut text, reply).unwrap());
        (replies, text)
    }

    #[test]
    fn every_message_is_heard_once_and_in_order_though_it_comes_in_parts() {
        let (replies, text) = clocks();
        let (heard, failure) = heard_of(&text);
        let said = heard.iter().filter_map(|heard| match heard {
            Heard::Said { reply, at_ns: 5 } => Some(&**reply),
            _ => None,
        });
        assert!(said.eq(&replies) && matches!(heard[0], Heard::Joined));
        assert!(matches!(failure, HostFailure::Closed), "{failure:?}");
    }

    #[test]
    fn who_is_not_heard_is_told_that_this_end_is_there() {
        // The transport writes its input on its standard error.
        let script = "sh -c 'cat {host} & cat >&2'";
        let is_told = listening(script, &clocks().1, |_, _, said| {
            let is_told = || lock(said).windows(7).any(|word| word == b"\"alive\"");
            let end = Instant::now() + Duration::from_secs(30);
            while !is_told() && Instant::now() < end {
                thread::sleep(Duration::from_millis(10));
            }
            is_told()
        });
        assert!(is_told);
    }

    #[test]
    fn what_was_whole_before_a_message_that_is_none_is_heard() {
        let (replies, mut text) = clocks();
        text.extend(b"Connection reset by peer\n");
        let (heard, failure) = heard_of(&text);
        assert_eq!(heard.len(), 1 + replies.len());
        assert!(matches!(failure, HostFailure::Foreign(_)), "{failure:?}");
    }
}
