//! The near end of a run: many hosts under way at once, heard in the order in which they speak.

use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::vec;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::controller::{AT_ONCE, Course};
use super::failure::HostFailure;
use super::line::{self, Ends, Line, Lines, lock};
use super::relay::RelayAsked;
use super::{Reply, Request, frame};
use crate::resource_limits;

/// Batches of messages that wait to be heard; who speaks faster than that waits, too.
const WAITING: usize = 512;
/// Messages of a batch. Events come by the thousand when a case ends, and handing on costs more than reading them.
const BATCH: usize = 8;
/// Of a thread that reads one pipe and hands on what it hears.
const STACK: usize = 512 << 10;
/// Time in which agents end where the user waits for it: they have handed over what they had by then.
const HASTE: Duration = Duration::from_millis(300);
/// How often an agent that speaks hears that this end is there.
const WORD: Duration = Duration::from_secs(1);
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

/// What was heard of hosts, in the order of each.
type Batch = Vec<(usize, Heard)>;
type Input = Arc<Mutex<Option<ChildStdin>>>;

/// Where what is said to a host goes.
#[derive(Clone)]
pub(super) enum Way {
    /// Into its own pipe.
    Own(Input),
    /// Into that of a relay, which calls it by this number.
    Behind(Input, usize),
}

impl Way {
    pub(super) fn report(&self, request: &Request) {
        // Who reads no more is heard to be gone.
        match self {
            Self::Own(input) => drop(lock(input).as_mut().map(|it| frame::write(it, request))),
            Self::Behind(relay, number) => {
                let request = Request::To(*number, Box::new(request.clone()));
                drop(lock(relay).as_mut().map(|it| frame::write(it, &request)));
            }
        }
    }

    pub(super) fn leave(&self) {
        match self {
            Self::Own(input) => drop(lock(input).take()),
            Self::Behind(relay, number) => {
                let request = Request::Leave(*number);
                drop(lock(relay).as_mut().map(|it| frame::write(it, &request)));
            }
        }
    }
}

/// Agents over processes of their own, or behind relays that are.
pub(super) struct Agents<'s> {
    clock: fn() -> u64,
    heard: Receiver<Batch>,
    /// What is left of the last batch; at first the hosts that nobody could be made to listen to.
    left: vec::IntoIter<(usize, Heard)>,
    ways: Vec<Way>,
    /// The pipes of this machine.
    inputs: Vec<Input>,
    lines: &'s Lines,
    doors: &'s Doors,
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
        if self.left.len() == 0 {
            self.left = self.heard.recv_timeout(within.min(ROUND)).ok()?.into_iter();
        }
        self.left.next()
    }

    fn report(&mut self, host: usize, request: &Request) {
        self.ways[host].report(request);
    }

    fn leave(&mut self, host: usize) {
        self.ways[host].leave();
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
    under_way(hosts, course, clock, |agents| body(agents))
}

/// The same for who hands on what is said.
pub(super) fn under_way<T>(
    hosts: &[String],
    course: &Course<'_>,
    clock: fn() -> u64,
    body: impl FnOnce(&mut Agents<'_>) -> T,
) -> T {
    resource_limits::raise_open_files();
    let (speaking, heard) = mpsc::sync_channel(WAITING);
    let lines = Lines::default();
    let doors = Doors { free: Mutex::new(Some(AT_ONCE)), freed: Condvar::new() };
    let (targets, ways) = targets(hosts, course.relays);
    let inputs: Vec<Input> = targets.iter().map(|it| Arc::clone(&it.input)).collect();
    let over = AtomicBool::new(false);
    let is_wanted = course.cancel;
    let course = Course { cancel: &over, ..*course };
    let mut left = Batch::new();
    thread::scope(|scope| {
        for target in targets {
            let speaker = Speaker { target, clock, course: &course, heard: speaking.clone() };
            let (lines, doors, silent) = (&lines, &doors, speaker.clone());
            let thread = thread::Builder::new().stack_size(STACK);
            if thread.spawn_scoped(scope, move || speaker.work(lines, doors)).is_err() {
                left.extend(silent.losses(HostFailure::NoThread));
            }
        }
        drop(speaking);
        let mut agents = Agents {
            clock,
            heard,
            left: left.into_iter(),
            ways,
            inputs,
            lines: &lines,
            doors: &doors,
            over: &over,
            looked: Instant::now(),
        };
        let outcome = body(&mut agents);
        agents.end(is_wanted);
        outcome
    })
}

impl Agents<'_> {
    pub(super) const fn ways(&self) -> &Vec<Way> {
        &self.ways
    }

    /// Every agent ends as its pipe closes; what has not ended by then is ended, sooner where the user waits for it.
    fn end(self, is_wanted: &AtomicBool) {
        let Self { heard, inputs, lines, doors, over, .. } = self;
        drop(heard);
        doors.close();
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

/// What a process of this machine leads to.
#[derive(Clone)]
struct Target<'h> {
    name: &'h String,
    /// The hosts that are reached through it, by the number of the first; it is one of them unless it is a relay.
    first: usize,
    hosts: &'h [String],
    is_relay: bool,
    input: Input,
}

/// Every host by itself, or equal parts of them behind each relay; and by host the way to it.
fn targets<'h>(hosts: &'h [String], relays: &'h [String]) -> (Vec<Target<'h>>, Vec<Way>) {
    let is_relay = !relays.is_empty();
    let size = if is_relay { hosts.len().div_ceil(relays.len()).max(1) } else { 1 };
    let names = if is_relay { relays } else { hosts };
    let (mut targets, mut ways) = (Vec::new(), Vec::new());
    for (name, hosts) in names.iter().zip(hosts.chunks(size)) {
        let (first, input) = (ways.len(), Input::default());
        ways.extend((0..hosts.len()).map(|number| match is_relay {
            true => Way::Behind(Arc::clone(&input), number),
            false => Way::Own(Arc::clone(&input)),
        }));
        targets.push(Target { name, first, hosts, is_relay, input });
    }
    (targets, ways)
}

/// Hosts that may start at the same time. Beyond that they would only keep each other from being done before their
/// deadlines, which begin with their start.
struct Doors {
    /// `None` once nobody is to start any more.
    free: Mutex<Option<usize>>,
    freed: Condvar,
}

/// Held while a host starts.
struct Door<'d>(&'d Doors);

impl Doors {
    /// `None` where everything ends before it is a host's turn.
    fn enter(&self) -> Option<Door<'_>> {
        let free = self.freed.wait_while(lock(&self.free), |free| *free == Some(0));
        let mut free = free.unwrap_or_else(PoisonError::into_inner);
        *free = Some((*free)? - 1);
        Some(Door(self))
    }

    fn close(&self) {
        *lock(&self.free) = None;
        self.freed.notify_all();
    }
}

impl Drop for Door<'_> {
    fn drop(&mut self) {
        let mut free = lock(&self.0.free);
        *free = free.map(|free| free + 1);
        self.0.freed.notify_one();
    }
}

/// Says that this end is there, from the thread that listens: an agent hears it whatever the others wait for. Who is spoken to
/// just now hears enough, and nothing may wait here: the agent may itself be waiting until it is listened to.
fn say_alive(input: &Input) {
    let Ok(mut input) = input.try_lock() else { return };
    let Some(input) = input.as_mut() else { return };
    // A pipe that can be written takes a page at least (pipe(7)), and this is a few bytes.
    let mut way = [PollFd::new(input, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let is_free = poll(&mut way, Some(&now)).is_ok_and(|ready| ready > 0);
    if is_free && way[0].revents().contains(PollFlags::OUT) {
        // Who reads no more is heard to be gone.
        drop(frame::write(input, &Request::Alive));
    }
}

/// What is heard from one process.
#[derive(Clone)]
struct Speaker<'s, 'h> {
    target: Target<'h>,
    clock: fn() -> u64,
    course: &'s Course<'s>,
    heard: SyncSender<Batch>,
}

impl Speaker<'_, '_> {
    /// Starts the process when it is its turn, and listens to it until it ends.
    fn work(&self, lines: &Lines, doors: &Doors) {
        let Some(door) = doors.enter() else { return };
        let door = Mutex::new(Some(door));
        let talk = |ends, line: &Line| {
            drop(lock(&door).take());
            self.listen(ends, line)
        };
        if let Err(failure) = line::talk_to(self.target.name, self.course, lines, &talk) {
            self.report(self.losses(failure));
        }
    }

    /// Every host that is reached through it is gone.
    fn losses(&self, failure: HostFailure) -> Batch {
        let Target { name, first, hosts, is_relay, .. } = &self.target;
        if !is_relay {
            return vec![(*first, Heard::Lost(failure))];
        }
        let source = Arc::new(failure);
        let lost = |number: usize| {
            let relay =
                HostFailure::Relay { relay: (*name).clone(), source: Arc::clone(&source) };
            (first + number, Heard::Lost(relay))
        };
        (0..hosts.len()).map(lost).collect()
    }

    /// `false` when nobody listens any more.
    fn report(&self, heard: Batch) -> bool {
        heard.is_empty() || self.heard.send(heard).is_ok()
    }

    /// Hands on what is said until it ends.
    fn listen(&self, ends: Ends, line: &Line) -> Result<(), HostFailure> {
        let Ends { mut input, mut output, .. } = ends;
        let Target { first, hosts, is_relay, input: kept, .. } = &self.target;
        if *is_relay {
            let (hosts, via) = (hosts.to_vec(), self.course.via.clone());
            let asked = RelayAsked { hosts, via, deadline: self.course.deadline };
            frame::write(&mut input, &Request::Relay(asked)).map_err(HostFailure::of_pipe)?;
        }
        *lock(kept) = Some(input);
        let mut spoke = Instant::now();
        let joined = (!is_relay).then_some((*first, Heard::Joined));
        let mut is_heard = self.report(joined.into_iter().collect());
        let mut heard = Vec::new();
        let outcome = loop {
            if !is_heard {
                break Ok(());
            }
            let said = frame::read(&mut output).map_err(HostFailure::of_pipe);
            let at_ns = (self.clock)();
            if spoke.elapsed() >= WORD {
                spoke = Instant::now();
                say_alive(kept);
            }
            line.lives_until(Instant::now() + self.course.deadline);
            match said.and_then(|reply| self.understand(reply, at_ns)) {
                Ok(said) => heard.extend(said),
                Err(failure) => break Err(failure),
            }
            if heard.len() >= BATCH || !frame::is_complete(output.buffer()) {
                is_heard = self.report(std::mem::take(&mut heard));
            }
        };
        self.report(heard);
        drop(lock(kept).take());
        line.let_end();
        outcome
    }

    /// What a reply says of which host; nothing where it only says that somebody is there.
    fn understand(
        &self,
        reply: Reply,
        at_ns: u64,
    ) -> Result<Option<(usize, Heard)>, HostFailure> {
        let Target { name, first, hosts, is_relay, .. } = &self.target;
        Ok(match reply {
            // Heard by the deadline alone: who is busy for minutes does not find thousands of them waiting.
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
