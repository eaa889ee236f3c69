//! The near end of a run: many hosts under way at once, heard in the order in which they speak.

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

/// Batches that wait to be heard, each of what was read of a pipe at once; who speaks faster than that waits, too.
const WAITING: usize = 64;
/// Of a thread that starts agents, or hears them.
const STACK: usize = 512 << 10;
/// Time in which agents end where the user waits for it: they have handed over what they had by then.
const HASTE: Duration = Duration::from_millis(300);
/// How often lines are looked at that may have fallen silent.
pub(super) const ROUND: Duration = Duration::from_millis(50);

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
pub(super) type Batch = Vec<(usize, Heard)>;
pub(super) type Input = Arc<Mutex<Option<ChildStdin>>>;

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
    /// The number of the next that is to be started.
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
            // Those that run take over the hosts of one that cannot be started.
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

/// Starts one after another, beside others that do the same: more at a time would only keep each other from being done
/// before their deadlines, which begin with their start.
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

    /// Every agent ends as its pipe closes; what has not ended by then is ended, sooner where the user waits for it.
    fn end(self, is_wanted: &AtomicBool) {
        let Self { heard, inputs, lines, next, over, .. } = self;
        drop(heard);
        // Nobody else is to start. Half of what there is leaves room for those who count on.
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

/// What a process of this machine leads to.
#[derive(Clone)]
pub(super) struct Target<'h> {
    pub(super) name: &'h String,
    /// The hosts that are reached through it, by the number of the first; it is one of them unless it is a relay.
    pub(super) first: usize,
    pub(super) hosts: &'h [String],
    pub(super) is_relay: bool,
    pub(super) input: Input,
}

impl Target<'_> {
    /// Every host that is reached through it is gone.
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
