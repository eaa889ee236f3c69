//! The near end of a run: many hosts under way at once, heard in the order in which they speak.

use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::controller::{AT_ONCE, Course};
use super::failure::HostFailure;
use super::line::{self, Ends, Line, Lines, lock};
use super::{Reply, Request, frame};
use crate::resource_limits;

/// Messages that wait to be heard; who speaks faster than that waits, too.
const WAITING: usize = 4096;
/// Time in which agents end where the user waits for it: they have handed over what they had by then.
const HASTE: Duration = Duration::from_millis(300);
/// How often lines are looked at that may have fallen silent.
const ROUND: Duration = Duration::from_millis(50);

/// What is heard of a host.
#[derive(Debug)]
pub enum Heard {
    /// It can be talked to.
    Joined,
    /// It spoke when the clock of this end showed `at_ns`.
    Said {
        /// What it said.
        reply: Box<Reply>,
        /// When that was heard.
        at_ns: u64,
    },
    /// It is gone.
    Lost(HostFailure),
}

/// Hosts by their numbers, in the order of the list.
pub trait Hosts {
    /// The clock of measurements of this end.
    fn now_ns(&self) -> u64;

    /// The next that is heard of any host, if that is soon enough.
    fn hear(&mut self, within: Duration) -> Option<(usize, Heard)>;

    /// Says something to a host. That it is gone is heard by itself.
    fn report(&mut self, host: usize, request: &Request);

    /// Ends the pipe to a host, which ends its agent.
    fn leave(&mut self, host: usize);
}

type Input = Arc<Mutex<Option<ChildStdin>>>;

/// Agents over processes of their own.
struct Agents<'s> {
    clock: fn() -> u64,
    heard: Receiver<(usize, Heard)>,
    inputs: Vec<Input>,
    lines: &'s Lines,
    over: &'s AtomicBool,
    looked: Instant,
}

impl Hosts for Agents<'_> {
    fn now_ns(&self) -> u64 {
        (self.clock)()
    }

    fn hear(&mut self, within: Duration) -> Option<(usize, Heard)> {
        if self.looked.elapsed() >= ROUND {
            self.looked = Instant::now();
            line::cut_late(self.lines, self.over);
        }
        self.heard.recv_timeout(within.min(ROUND)).ok()
    }

    fn report(&mut self, host: usize, request: &Request) {
        if let Some(input) = &mut *lock(&self.inputs[host]) {
            // Who reads no more is heard to be gone.
            drop(frame::write(input, request));
        }
    }

    fn leave(&mut self, host: usize) {
        lock(&self.inputs[host]).take();
    }
}

/// Starts agents on all hosts and has `body` talk to them; what still runs when that returns is ended. A host
/// from which nothing is heard for as long as the course allows is lost.
pub fn with<T>(
    hosts: &[String],
    course: &Course<'_>,
    clock: fn() -> u64,
    body: impl FnOnce(&mut dyn Hosts) -> T,
) -> T {
    resource_limits::raise_open_files();
    let (speaking, heard) = mpsc::sync_channel(WAITING);
    let lines = Lines::default();
    let doors = Doors { free: Mutex::new(AT_ONCE), freed: Condvar::new() };
    let inputs: Vec<Input> = hosts.iter().map(|_| Input::default()).collect();
    let over = AtomicBool::new(false);
    let is_wanted = course.cancel;
    let course = Course { cancel: &over, ..*course };
    thread::scope(|scope| {
        for (number, (host, input)) in hosts.iter().zip(&inputs).enumerate() {
            let speaker = Speaker { number, clock, input, heard: speaking.clone() };
            let (lines, course, lost, doors) = (&lines, &course, speaking.clone(), &doors);
            let work = move || {
                let door = Mutex::new(doors.enter(course.cancel));
                let talk = |ends, line: &Line| {
                    drop(lock(&door).take());
                    speaker.listen(ends, line, course.deadline)
                };
                if let Err(failure) = line::talk_to(host, course, lines, &talk) {
                    speaker.report(Heard::Lost(failure));
                }
            };
            let thread = thread::Builder::new().stack_size(512 << 10);
            if thread.spawn_scoped(scope, work).is_err() {
                drop(lost.try_send((number, Heard::Lost(HostFailure::NoThread))));
            }
        }
        drop(speaking);
        let mut agents = Agents {
            clock,
            heard,
            inputs: inputs.clone(),
            lines: &lines,
            over: &over,
            looked: Instant::now(),
        };
        let outcome = body(&mut agents);
        agents.end(is_wanted);
        outcome
    })
}

impl Agents<'_> {
    /// Every agent ends as its pipe closes; what has not ended by then is ended, sooner where the user waits for it.
    fn end(self, is_wanted: &AtomicBool) {
        let Self { heard, inputs, lines, over, .. } = self;
        drop(heard);
        inputs.iter().for_each(|input| drop(lock(input).take()));
        let patience =
            if is_wanted.load(Ordering::Relaxed) { HASTE } else { line::LAST_SECOND };
        let kill = Instant::now() + patience;
        while Instant::now() < kill && lock(lines).iter().any(|it| it.strong_count() > 0) {
            thread::sleep(Duration::from_millis(10));
        }
        over.store(true, Ordering::Relaxed);
        line::cut_late(lines, over);
    }
}

/// Hosts that may start at the same time. Beyond that they would only keep each other from being done before their
/// deadlines, which begin with their start.
struct Doors {
    free: Mutex<usize>,
    freed: Condvar,
}

/// Held while a host starts.
struct Door<'d>(&'d Doors);

impl Doors {
    /// `None` where everything ends before it is a host's turn.
    fn enter(&self, over: &AtomicBool) -> Option<Door<'_>> {
        let mut free = lock(&self.free);
        while *free == 0 {
            if over.load(Ordering::Relaxed) {
                return None;
            }
            let waited = self.freed.wait_timeout(free, ROUND);
            free = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Some(Door(self))
    }
}

impl Drop for Door<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}

/// One host as it is listened to.
struct Speaker<'s> {
    number: usize,
    clock: fn() -> u64,
    input: &'s Input,
    heard: SyncSender<(usize, Heard)>,
}

impl Speaker<'_> {
    /// `false` when nobody listens any more.
    fn report(&self, heard: Heard) -> bool {
        self.heard.send((self.number, heard)).is_ok()
    }

    /// Hands on what the host says until it ends.
    fn listen(&self, ends: Ends, line: &Line, silence: Duration) -> Result<(), HostFailure> {
        let Ends { input, mut output, .. } = ends;
        *lock(self.input) = Some(input);
        let mut is_heard = self.report(Heard::Joined);
        let outcome = loop {
            if !is_heard {
                break Ok(());
            }
            match frame::read(&mut output) {
                Ok(reply) => {
                    let at_ns = (self.clock)();
                    line.lives_until(Instant::now() + silence);
                    is_heard = self.report(Heard::Said { reply: Box::new(reply), at_ns });
                }
                Err(error) => break Err(HostFailure::of_pipe(error)),
            }
        };
        drop(lock(self.input).take());
        line.let_end();
        outcome
    }
}
