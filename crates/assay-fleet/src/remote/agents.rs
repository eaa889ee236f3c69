//! Coordinator's connections to many hosts at once, with their events in order of arrival.

use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use std::vec;

use super::controller::{AT_ONCE, Course};
use super::failure::HostFailure;
use super::line::{self, Lines, lock};
use super::listener::Listener;
use super::{Reply, Request, endings, frame};
use crate::resource_limits;

/// Capacity of the queue of event batches, each from one read of a pipe. Faster hosts must wait.
const WAITING: usize = 64;
/// Stack of a thread that starts agents or reads from them.
const STACK: usize = 512 << 10;
/// Time for agents to end after a cancellation; they have sent their results by then.
const HASTE: Duration = Duration::from_millis(300);
/// Interval of checks for silent hosts.
pub(super) const ROUND: Duration = Duration::from_millis(50);

/// Event of a host.
#[derive(Debug)]
pub enum Heard {
    /// The agent is ready for requests.
    Joined,
    /// Reply of the agent.
    Said {
        /// Reply.
        reply: Box<Reply>,
        /// Clock of this end when the reply arrived.
        at_ns: u64,
    },
    /// The host is lost.
    Lost(HostFailure),
}

/// Connections to hosts, by their numbers in the order of the list.
pub trait Hosts {
    /// Returns the monotonic clock of this end.
    fn now_ns(&self) -> u64;

    /// Returns the next event of any host, or `None` after the timeout.
    fn hear(&mut self, within: Duration) -> Option<(usize, Heard)>;

    /// Sends a request to a host. If the host is gone, a separate event reports it.
    fn report(&mut self, host: usize, request: &Request);

    /// Closes the pipe to a host, which ends its agent.
    fn leave(&mut self, host: usize);
}

/// Events of hosts; those of one host are in order.
pub(super) type Batch = Vec<(usize, Heard)>;
pub(super) type Input = Arc<Mutex<Option<ChildStdin>>>;

/// Route of messages to a host.
#[derive(Clone)]
pub(super) enum Way {
    /// Pipe of the host itself.
    Own(Input),
    /// Pipe of a relay, and the relay's number for the host.
    Behind(Input, usize),
}

impl Way {
    pub(super) fn report(&self, request: &Request) {
        // A closed pipe is reported as a lost host.
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

/// Agents of directly connected or relayed hosts.
pub(super) struct Agents<'s> {
    clock: fn() -> u64,
    heard: Receiver<Batch>,
    /// Remaining events of the last batch; at first the losses of hosts without a thread.
    left: vec::IntoIter<(usize, Heard)>,
    ways: Vec<Way>,
    /// Input pipes of the processes on this machine.
    inputs: Vec<Input>,
    lines: &'s Lines,
    /// Number of the next target to start.
    next: &'s AtomicUsize,
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

/// Starts agents on all hosts and runs `body` with their connections; remaining agents are ended
/// when it returns. A host that sends nothing for longer than the deadline is lost.
pub fn with<T>(
    hosts: &[String],
    course: &Course<'_>,
    clock: fn() -> u64,
    body: impl FnOnce(&mut dyn Hosts) -> T,
) -> T {
    under_way(hosts, course, clock, |agents| body(agents))
}

/// Same as [`with_hosts`], with access to the routes for relays.
pub(super) fn under_way<T>(
    hosts: &[String],
    course: &Course<'_>,
    clock: fn() -> u64,
    body: impl FnOnce(&mut Agents<'_>) -> T,
) -> T {
    resource_limits::raise_open_files();
    let (speaking, heard) = mpsc::sync_channel(WAITING);
    let (ending, endings) = mpsc::channel();
    let lines = Lines::default();
    let (targets, ways) = targets(hosts, course.relays);
    let inputs: Vec<Input> = targets.iter().map(|it| Arc::clone(&it.input)).collect();
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let is_wanted = course.cancel;
    let course = Course { cancel: &over, ..*course };
    let listener = Listener::new((clock, &course), speaking.clone(), ending);
    thread::scope(|scope| {
        let is_heard = listener.as_ref().is_ok_and(|listener| {
            let (course, over) = (&course, &over);
            let attend = move || endings::attend(&endings, &speaking, (course, over));
            let listen = move || listener.listen(over);
            let start = || start_each(&targets, &next, listener, &lines);
            let thread = || thread::Builder::new().stack_size(STACK);
            let is_started = |_: &usize| thread().spawn_scoped(scope, start).is_ok();
            // Running threads take over the hosts of a thread that cannot be started.
            thread().spawn_scoped(scope, attend).is_ok()
                && thread().spawn_scoped(scope, listen).is_ok()
                && (0..targets.len().min(AT_ONCE)).take_while(is_started).count() > 0
        });
        let nobody = if is_heard { &[][..] } else { &targets };
        let left: Batch =
            nobody.iter().flat_map(|it| it.losses(HostFailure::NoThread)).collect();
        let mut agents = Agents {
            clock,
            heard,
            left: left.into_iter(),
            ways,
            inputs,
            lines: &lines,
            next: &next,
            over: &over,
            looked: Instant::now(),
        };
        let outcome = body(&mut agents);
        agents.end(is_wanted);
        outcome
    })
}

/// Starts targets one after another, in parallel with other threads. Limits the number of
/// concurrent starts, since more would delay each other beyond their deadlines.
fn start_each<'h>(
    targets: &[Target<'h>],
    next: &AtomicUsize,
    listener: &Listener<'_, 'h>,
    lines: &Lines,
) {
    while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
        listener.start(target, lines);
    }
}

impl Agents<'_> {
    pub(super) const fn ways(&self) -> &Vec<Way> {
        &self.ways
    }

    /// Closes all pipes, which ends the agents. Kills remaining processes after a grace period,
    /// which is shorter after a cancellation.
    fn end(self, is_wanted: &AtomicBool) {
        let Self { heard, inputs, lines, next, over, .. } = self;
        drop(heard);
        // Stops further starts. Half of the range leaves room for threads that still increment.
        next.store(usize::MAX / 2, Ordering::Relaxed);
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

/// Transport process on this machine and the hosts it leads to.
#[derive(Clone)]
pub(super) struct Target<'h> {
    pub(super) name: &'h String,
    /// Number of the first host reached through the process; for a relay, the process itself is no
    /// host.
    pub(super) first: usize,
    pub(super) hosts: &'h [String],
    pub(super) is_relay: bool,
    pub(super) input: Input,
}

impl Target<'_> {
    /// Returns the loss of every host reached through the process.
    pub(super) fn losses(&self, failure: HostFailure) -> Batch {
        let Target { name, first, hosts, is_relay, .. } = self;
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
}

/// Creates a target for each host, or for each relay with an equal part of the hosts, and the route
/// to each host.
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
