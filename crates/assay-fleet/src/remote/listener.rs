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

use assay_model::poisoned_lock::PoisonedLock as _;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};

use super::closing_agents::ClosingAgent;
use super::connection_options::{ConnectionOptions, RelayRequest};
use super::failure::HostFailure;
use super::host_events::{CHECK_INTERVAL, EventBatch, HostEvent, SharedInput, TransportTarget};
use super::stderr::StderrTail;
use super::transport::{self, TransportList, TransportPipes, TransportProcess};
use super::{AgentReply, AgentRequest, frame};

/// Maximum read from one pipe before the next: the capacity of a pipe (pipe(7)).
const CHUNK_BYTES: usize = 64 << 10;
/// Interval of heartbeats to active agents.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of retries while the event queue is full.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// Reader of the joined agents.
pub(super) struct AgentListener<'s, 'h> {
    clock: fn() -> u64,
    course: &'s ConnectionOptions<'s>,
    /// Epoll instance that wakes the thread (epoll(7)); agents can be added while it waits.
    ready: OwnedFd,
    /// Pipes by the number of the first host reached through them.
    joined: Mutex<BTreeMap<usize, AgentOutput<'h>>>,
    events: SyncSender<EventBatch>,
    endings: Sender<ClosingAgent<'h>>,
}

/// Transport process to read from.
struct AgentOutput<'h> {
    target: TransportTarget<'h>,
    line: Arc<TransportProcess>,
    output: ChildStdout,
    stderr_tail: StderrTail,
    /// Received part of an incomplete message.
    received: Vec<u8>,
    /// Time of the last heartbeat to the agent.
    last_heartbeat: Instant,
}

impl<'s, 'h> AgentListener<'s, 'h> {
    /// Creates a listener without agents.
    ///
    /// # Errors
    /// If the kernel cannot create an epoll instance.
    pub(super) fn new(
        (clock, course): (fn() -> u64, &'s ConnectionOptions<'s>),
        heard: SyncSender<EventBatch>,
        endings: Sender<ClosingAgent<'h>>,
    ) -> io::Result<Self> {
        let ready = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { clock, course, ready, joined: Mutex::default(), events: heard, endings })
    }

    /// Starts an agent, or reports its failure.
    pub(super) fn start(&self, target: &TransportTarget<'h>, lines: &TransportList) {
        let admit = |ends, line: &Arc<TransportProcess>| self.admit(target, ends, line);
        if let Err(failure) = transport::run_agent(target.name, self.course, lines, &admit) {
            // The receiver is gone at shutdown.
            let _is_heard = self.events.send(target.lost_events(failure));
        }
    }

    /// Adds an agent after its first message.
    ///
    /// # Errors
    /// [`HostFailure`] if the agent cannot be written to or its input after that message is
    /// malformed.
    fn admit(
        &self,
        target: &TransportTarget<'h>,
        ends: TransportPipes,
        line: &Arc<TransportProcess>,
    ) -> Result<(), HostFailure> {
        let TransportPipes { mut input, output, stderr_tail: said } = ends;
        if target.is_relay {
            let (hosts, via) = (target.hosts.to_vec(), self.course.via.clone());
            let asked = RelayRequest { hosts, via, deadline: self.course.deadline };
            frame::write(&mut input, &AgentRequest::Relay(asked))
                .map_err(HostFailure::from_frame_error)?;
        }
        *target.input.lock().even_if_poisoned() = Some(input);
        let mut speaker = AgentOutput {
            target: target.clone(),
            line: Arc::clone(line),
            received: output.buffer().to_vec(),
            output: output.into_inner(),
            stderr_tail: said,
            last_heartbeat: Instant::now(),
        };
        let mut heard = EventBatch::new();
        if !target.is_relay {
            heard.push((target.first, HostEvent::Joined));
        }
        let outcome = speaker.parse_messages((self.clock)(), &mut heard);
        // The receiver is gone at shutdown.
        let _is_heard = self.events.send(heard);
        outcome?;
        let number = target.first;
        let data = epoll::EventData::new_u64(number as u64);
        let mut joined = self.joined.lock().even_if_poisoned();
        epoll::add(&self.ready, &speaker.output, data, epoll::EventFlags::IN).map_err(
            |error| {
                HostFailure::from_frame_error(frame::FrameError::Pipe(io::Error::from(error)))
            },
        )?;
        joined.insert(number, speaker);
        Ok(())
    }

    /// Reads from the agents until everything is over, then kills the rest.
    pub(super) fn listen(&self, over: &AtomicBool) {
        let mut events = Vec::with_capacity(64);
        let mut chunk = vec![0; CHUNK_BYTES];
        let wait = Timespec::try_from(CHECK_INTERVAL).ok();
        while !over.load(Ordering::Relaxed) {
            events.clear();
            // A signal may interrupt the wait.
            let _ready = epoll::wait(&self.ready, spare_capacity(&mut events), wait.as_ref());
            for event in &events {
                let number = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
                self.read_agent(number, &mut chunk, over);
            }
        }
        self.joined.lock().even_if_poisoned().clear();
    }

    /// Reads from a pipe that is readable or closed, so that it does not block.
    fn read_agent(&self, number: usize, chunk: &mut [u8], over: &AtomicBool) {
        let mut joined = self.joined.lock().even_if_poisoned();
        let Some(speaker) = joined.get_mut(&number) else { return };
        let mut heard = EventBatch::new();
        let outcome = match speaker.output.read(chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
            Err(error) => Err(HostFailure::from_frame_error(frame::FrameError::Pipe(error))),
            Ok(0) => Err(HostFailure::from_frame_error(frame::FrameError::Closed)),
            Ok(read) => {
                speaker.received.extend_from_slice(&chunk[..read]);
                speaker.parse_messages((self.clock)(), &mut heard)
            }
        };
        speaker.keep_alive(self.course.deadline);
        self.forward(heard, &mut joined, over);
        let Err(failure) = outcome else { return };
        let Some(AgentOutput { target, line, output, stderr_tail: said, .. }) =
            joined.remove(&number)
        else {
            return;
        };
        let _is_known = epoll::delete(&self.ready, &output);
        drop(target.input.lock().even_if_poisoned().take());
        // The receiver lives as long as this listener.
        let _is_heard = self.endings.send(ClosingAgent::new(target, line, said, failure));
    }

    /// Forwards events; waits while the queue is full, unless everything is over. Agents that are
    /// not read meanwhile get heartbeats and do not count as silent.
    fn forward(
        &self,
        mut heard: EventBatch,
        joined: &mut BTreeMap<usize, AgentOutput<'h>>,
        over: &AtomicBool,
    ) {
        while !heard.is_empty() && !over.load(Ordering::Relaxed) {
            match self.events.try_send(heard) {
                Err(TrySendError::Full(back)) => heard = back,
                Ok(()) | Err(TrySendError::Disconnected(_)) => return,
            }
            joined.values_mut().for_each(|it| it.keep_alive(self.course.deadline));
            thread::sleep(RETRY_INTERVAL);
        }
    }
}

impl AgentOutput<'_> {
    /// Extends the agent's deadline and sends a heartbeat if due.
    fn keep_alive(&mut self, deadline: Duration) {
        self.line.set_deadline(Instant::now() + deadline);
        if self.last_heartbeat.elapsed() >= HEARTBEAT_INTERVAL {
            self.last_heartbeat = Instant::now();
            send_heartbeat(&self.target.input);
        }
    }

    /// Splits the received bytes into complete messages.
    fn parse_messages(
        &mut self,
        at_ns: u64,
        heard: &mut EventBatch,
    ) -> Result<(), HostFailure> {
        let mut taken = 0;
        let outcome = loop {
            match frame::parse_first(&self.received[taken..])
                .map_err(HostFailure::from_frame_error)
            {
                Err(failure) => break Err(failure),
                Ok(None) => break Ok(()),
                Ok(Some((reply, bytes))) => {
                    taken += bytes;
                    match self.target.event_from_reply(reply, at_ns, bytes) {
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

impl TransportTarget<'_> {
    /// Converts a reply into an event of its host; `None` for a heartbeat.
    fn event_from_reply(
        &self,
        reply: AgentReply,
        at_ns: u64,
        bytes: usize,
    ) -> Result<Option<(usize, HostEvent)>, HostFailure> {
        let TransportTarget { name, first, hosts, is_relay, .. } = self;
        Ok(match reply {
            // Only extends the deadline: thousands of heartbeats would fill the queue of a busy
            // receiver.
            AgentReply::Alive => None,
            AgentReply::Of(number, passed) if *is_relay && number < hosts.len() => {
                Some((first + number, passed.into_event(name, at_ns, bytes)))
            }
            AgentReply::Failed { reason, advice } if *is_relay => {
                return Err(HostFailure::Refused { reason, advice });
            }
            _ if *is_relay => None,
            reply => {
                let reply = Box::new(reply);
                Some((*first, HostEvent::Replied { reply, at_ns, bytes }))
            }
        })
    }
}

/// Sends a heartbeat without blocking. A locked input is in use for another message, and an agent
/// may itself be blocked until it is read from.
fn send_heartbeat(input: &SharedInput) {
    let Ok(mut input) = input.try_lock() else { return };
    let Some(input) = input.as_mut() else { return };
    if can_write(input) {
        // A closed pipe is reported as a lost host.
        drop(frame::write(input, &AgentRequest::Alive));
    }
}

/// Returns whether a write does not block: a writable pipe takes at least a page (pipe(7)), a
/// heartbeat a few bytes.
fn can_write(input: &ChildStdin) -> bool {
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
    fn with_listener<T>(
        script: &str,
        text: &[u8],
        body: impl FnOnce(&Receiver<EventBatch>, &Receiver<ClosingAgent<'_>>, &StderrTail) -> T,
    ) -> T {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        std::fs::write(&file, text).unwrap();
        let name = file.display().to_string();
        let via = Via::parse(script).unwrap();
        let program = Program::running().unwrap();
        let (cancel, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let deadline = Duration::from_secs(60);
        let course = ConnectionOptions {
            via: &via,
            program: &program,
            relays: &[],
            deadline,
            cancel: &cancel,
        };
        let target = TransportTarget {
            name: &name,
            first: 7,
            hosts: std::slice::from_ref(&name),
            is_relay: false,
            input: SharedInput::default(),
        };
        let (speaking, heard) = mpsc::sync_channel(1);
        let (ending, endings) = mpsc::channel();
        let listener = AgentListener::new((|| 5, &course), speaking, ending).unwrap();
        let (line, ends) =
            transport::start_transport(&name, &via, Instant::now() + deadline).unwrap();
        let said = Arc::clone(&ends.stderr_tail);
        thread::scope(|scope| {
            scope.spawn(|| listener.listen(&over));
            listener.admit(&target, ends, &Arc::new(line)).unwrap();
            let outcome = body(&heard, &endings, &said);
            over.store(true, Ordering::Relaxed);
            outcome
        })
    }

    /// Returns the events of a transport that sends a text in two parts, and its failure.
    fn events_of_text(text: &[u8]) -> (Vec<HostEvent>, HostFailure) {
        let script = "sh -c 'head -c 700 {host}; sleep 0.1; tail -c +701 {host}'";
        let mut said = Vec::new();
        let failure = with_listener(script, text, |heard, endings, _| {
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
    fn clock_replies() -> (Vec<AgentReply>, Vec<u8>) {
        let clock = |day_ns| AgentReply::Clock(Clocks { day_ns, measuring_ns: 0 });
        let replies: Vec<AgentReply> = (0..10_000).map(clock).collect();
        let mut text = Vec::new();
        replies.iter().for_each(|reply| frame::write(&mut text, reply).unwrap());
        (replies, text)
    }

    #[test]
    fn split_messages_arrive_once_and_in_order() {
        let (replies, text) = clock_replies();
        let (heard, failure) = events_of_text(&text);
        let said = heard.iter().filter_map(|heard| match heard {
            HostEvent::Replied { reply, at_ns: 5, .. } => Some(&**reply),
            _ => None,
        });
        assert!(said.eq(&replies) && matches!(heard[0], HostEvent::Joined));
        assert!(matches!(failure, HostFailure::Closed), "{failure:?}");
    }

    #[test]
    fn blocked_agents_receive_heartbeats() {
        // The transport writes its input on its standard error.
        let script = "sh -c 'cat {host} & cat >&2'";
        let is_told = with_listener(script, &clock_replies().1, |_, _, said| {
            let is_told =
                || said.lock().even_if_poisoned().windows(7).any(|word| word == b"\"alive\"");
            let end = Instant::now() + Duration::from_secs(30);
            while !is_told() && Instant::now() < end {
                thread::sleep(Duration::from_millis(10));
            }
            is_told()
        });
        assert!(is_told);
    }

    #[test]
    fn keeps_messages_before_malformed_input() {
        let (replies, mut text) = clock_replies();
        text.extend(b"Connection reset by peer\n");
        let (heard, failure) = events_of_text(&text);
        assert_eq!(heard.len(), 1 + replies.len());
        assert!(matches!(failure, HostFailure::Malformed(_)), "{failure:?}");
    }
}
