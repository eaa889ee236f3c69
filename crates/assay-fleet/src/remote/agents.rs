//! Coordinator's connections to many hosts at once, with their events in order of arrival.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};
use std::vec;

use assay_model::poisoned_lock::PoisonedLock as _;

use super::connection_options::{ConnectionOptions, MAX_CONCURRENT_HOSTS};
use super::failure::HostFailure;
use super::host_events::{
    CHECK_INTERVAL, EventBatch, HostConnections, HostEvent, HostRoute, SharedInput,
    TransportTarget,
};
use super::listener::AgentListener;
use super::transport::{self, TransportList};
use super::{AgentRequest, closing_agents};
use crate::resource_limits;

/// Capacity of the queue of event batches, each from one read of a pipe. Faster hosts must wait.
const MAX_QUEUED_BATCHES: usize = 64;
/// Stack of a thread that starts agents or reads from them.
const THREAD_STACK: usize = 512 << 10;
/// Time for agents to end after a cancellation; they have sent their results by then.
const CANCEL_GRACE: Duration = Duration::from_millis(300);

/// Agents of directly connected or relayed hosts.
pub(super) struct Agents<'s> {
    clock: fn() -> u64,
    events: Receiver<EventBatch>,
    /// Remaining events of the last batch; at first the losses of hosts without a thread.
    pending: vec::IntoIter<(usize, HostEvent)>,
    routes: Vec<HostRoute>,
    /// Input pipes of the processes on this machine.
    inputs: Vec<SharedInput>,
    lines: &'s TransportList,
    /// Number of the next target to start.
    next: &'s AtomicUsize,
    over: &'s AtomicBool,
    checked: Instant,
}

impl HostConnections for Agents<'_> {
    fn now_ns(&self) -> u64 {
        (self.clock)()
    }

    fn next_event(&mut self, within: Duration) -> Option<(usize, HostEvent)> {
        if self.checked.elapsed() >= CHECK_INTERVAL {
            self.checked = Instant::now();
            transport::kill_overdue(self.lines, self.over);
        }
        if self.pending.len() == 0 {
            self.pending =
                self.events.recv_timeout(within.min(CHECK_INTERVAL)).ok()?.into_iter();
        }
        self.pending.next()
    }

    fn send_request(&mut self, host: usize, request: &AgentRequest) {
        self.routes[host].send(request);
    }

    fn disconnect(&mut self, host: usize) {
        self.routes[host].close();
    }
}

/// Starts agents on all hosts and runs `body` with their connections; remaining agents are ended
/// when it returns. A host that sends nothing for longer than the deadline is lost.
pub fn with_hosts<T>(
    hosts: &[String],
    course: &ConnectionOptions<'_>,
    clock: fn() -> u64,
    body: impl FnOnce(&mut dyn HostConnections) -> T,
) -> T {
    with_agents(hosts, course, clock, |agents| body(agents))
}

/// Same as [`with_hosts`], with access to the routes for relays.
pub(super) fn with_agents<T>(
    hosts: &[String],
    course: &ConnectionOptions<'_>,
    clock: fn() -> u64,
    body: impl FnOnce(&mut Agents<'_>) -> T,
) -> T {
    resource_limits::raise_open_files();
    let (speaking, heard) = mpsc::sync_channel(MAX_QUEUED_BATCHES);
    let (ending, endings) = mpsc::channel();
    let lines = TransportList::default();
    let (targets, ways) = plan_targets(hosts, course.relays);
    let inputs: Vec<SharedInput> = targets.iter().map(|it| Arc::clone(&it.input)).collect();
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let is_wanted = course.cancel;
    let course = ConnectionOptions { cancel: &over, ..*course };
    let listener = AgentListener::new((clock, &course), speaking.clone(), ending);
    thread::scope(|scope| {
        let is_heard = listener.as_ref().is_ok_and(|listener| {
            let (course, over) = (&course, &over);
            let attend =
                move || closing_agents::await_exits(&endings, &speaking, (course, over));
            let listen = move || listener.listen(over);
            let start = || start_targets(&targets, &next, listener, &lines);
            let thread = || thread::Builder::new().stack_size(THREAD_STACK);
            let is_started = |_: &usize| thread().spawn_scoped(scope, start).is_ok();
            // Running threads take over the hosts of a thread that cannot be started.
            thread().spawn_scoped(scope, attend).is_ok()
                && thread().spawn_scoped(scope, listen).is_ok()
                && (0..targets.len().min(MAX_CONCURRENT_HOSTS)).take_while(is_started).count()
                    > 0
        });
        let nobody = if is_heard { &[][..] } else { &targets };
        let left: EventBatch =
            nobody.iter().flat_map(|it| it.lost_events(HostFailure::NoThread)).collect();
        let mut agents = Agents {
            clock,
            events: heard,
            pending: left.into_iter(),
            routes: ways,
            inputs,
            lines: &lines,
            next: &next,
            over: &over,
            checked: Instant::now(),
        };
        let outcome = body(&mut agents);
        agents.shut_down(is_wanted);
        outcome
    })
}

/// Starts targets one after another, in parallel with other threads. Limits the number of
/// concurrent starts, since more would delay each other beyond their deadlines.
fn start_targets<'h>(
    targets: &[TransportTarget<'h>],
    next: &AtomicUsize,
    listener: &AgentListener<'_, 'h>,
    lines: &TransportList,
) {
    while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
        listener.start(target, lines);
    }
}

impl Agents<'_> {
    pub(super) const fn routes(&self) -> &Vec<HostRoute> {
        &self.routes
    }

    /// Closes all pipes, which ends the agents. Kills remaining processes after a grace period,
    /// which is shorter after a cancellation.
    fn shut_down(self, is_wanted: &AtomicBool) {
        let Self { events: heard, inputs, lines, next, over, .. } = self;
        drop(heard);
        // Stops further starts. Half of the range leaves room for threads that still increment.
        next.store(usize::MAX / 2, Ordering::Relaxed);
        inputs.iter().for_each(|input| drop(input.lock().even_if_poisoned().take()));
        let patience = if is_wanted.load(Ordering::Relaxed) {
            CANCEL_GRACE
        } else {
            transport::EXIT_GRACE
        };
        let kill = Instant::now() + patience;
        while Instant::now() < kill
            && lines.lock().even_if_poisoned().iter().any(|it| it.strong_count() > 0)
        {
            thread::sleep(Duration::from_millis(10));
        }
        over.store(true, Ordering::Relaxed);
        transport::kill_overdue(lines, over);
    }
}

/// Creates a target for each host, or for each relay with an equal part of the hosts, and the route
/// to each host.
fn plan_targets<'h>(
    hosts: &'h [String],
    relays: &'h [String],
) -> (Vec<TransportTarget<'h>>, Vec<HostRoute>) {
    let is_relay = !relays.is_empty();
    let size = if is_relay { hosts.len().div_ceil(relays.len()).max(1) } else { 1 };
    let names = if is_relay { relays } else { hosts };
    let (mut targets, mut ways) = (Vec::new(), Vec::new());
    for (name, hosts) in names.iter().zip(hosts.chunks(size)) {
        let (first, input) = (ways.len(), SharedInput::default());
        ways.extend((0..hosts.len()).map(|number| match is_relay {
            true => HostRoute::Relayed(Arc::clone(&input), number),
            false => HostRoute::Direct(Arc::clone(&input)),
        }));
        targets.push(TransportTarget { name, first, hosts, is_relay, input });
    }
    (targets, ways)
}
