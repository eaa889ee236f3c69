//! Termination of a child together with all its descendants.
//!
//! The process group is not enough: launchers such as `mpirun` create groups of their own, and
//! daemons leave their parents. Both would disturb the next measurement. So every child carries a
//! mark in its environment, which its descendants inherit. Descendants that cleared their
//! environment are still found as children of their parents.

use std::collections::BTreeSet;
use std::process::{Child, Command, ExitStatus};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use crate::process_table::{self, ProcessEntry};
use crate::root::Root;

/// Time between SIGTERM and SIGKILL, in which a launcher can end its own children.
const GRACE: Duration = Duration::from_secs(2);
/// Same time after a cancellation; the user waits one second at most for everything.
const CANCEL_GRACE: Duration = Duration::from_millis(700);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
const MARK_VARIABLE: &str = "ASSAY_CHILD";

/// Mark of one process family: id of this process, and a number within it.
#[derive(Debug, Clone)]
pub(super) struct FamilyMark(String);

impl FamilyMark {
    /// Adds a new mark to the environment of a child to be started.
    pub(super) fn add_to(command: &mut Command) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let value = format!("{}.{number}", std::process::id());
        command.env(MARK_VARIABLE, &value);
        Self(value)
    }
}

/// Running child that leads its own process group. Dropping it ends the whole family.
pub(super) struct ProcessFamily {
    child: Child,
    mark: FamilyMark,
    reaped: bool,
    grace: Duration,
}

impl ProcessFamily {
    pub(super) const fn new(child: Child, mark: FamilyMark) -> Self {
        Self { child, mark, reaped: false, grace: GRACE }
    }

    /// Shortens the time to end cleanly after a cancellation.
    pub(super) const fn shorten_grace(&mut self) {
        self.grace = CANCEL_GRACE;
    }

    /// Returns whether the child has ended. It stays a zombie, so that its id, also that of its
    /// group, cannot be reused yet.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(self.id()), options), Ok(None))
    }

    /// Kills the remaining descendants of an ended child and returns their number.
    pub(super) fn kill_remaining(&self) -> usize {
        let remaining = self.descendants();
        self.signal_group(Signal::KILL);
        send_signal(&remaining, Signal::KILL);
        remaining.iter().filter(|process| !process.zombie).count()
    }

    /// Reaps the child. Call only after [`Self::has_ended`].
    pub(super) fn reap(mut self) -> std::io::Result<ExitStatus> {
        self.reaped = true;
        self.child.wait()
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn terminate(&mut self) {
        let outside = self.other_groups();
        self.signal_group(Signal::TERM);
        send_signal(&outside, Signal::TERM);
        let began = Instant::now();
        while began.elapsed() < self.grace && !(self.has_ended() && outside.iter().all(is_gone))
        {
            thread::sleep(POLL_INTERVAL);
        }
        send_signal(&outside, Signal::KILL);
        let _ = self.kill_remaining();
        // The child is dead or was just killed: returns at once, and the status is not needed.
        let _ = self.child.wait();
    }

    fn signal_group(&self, signal: Signal) {
        // Fails only if there is no such process any more.
        let _ = kill_process_group(self.id(), signal);
    }

    /// Returns the descendants in other process groups.
    fn other_groups(&self) -> Vec<ProcessEntry> {
        let leader = self.child.id();
        self.descendants().into_iter().filter(|entry| entry.group != leader).collect()
    }

    /// Returns all descendants, without the child itself.
    fn descendants(&self) -> Vec<ProcessEntry> {
        let root = Root::machine();
        let leader = self.child.id();
        let assignment = format!("{MARK_VARIABLE}={}", self.mark.0);
        let mut known = BTreeSet::from([leader]);
        let mut family = Vec::new();
        let mut rest = process_table::snapshot(&root);
        loop {
            let (found, others): (Vec<ProcessEntry>, Vec<ProcessEntry>) =
                rest.into_iter().partition(|entry| {
                    known.contains(&entry.parent)
                        || process_table::has_environment(&root, entry.id, &assignment)
                });
            if found.is_empty() {
                return family;
            }
            known.extend(found.iter().map(|entry| entry.id));
            family.extend(found.into_iter().filter(|entry| entry.id != leader));
            rest = others;
        }
    }
}

impl Drop for ProcessFamily {
    fn drop(&mut self) {
        if !self.reaped {
            self.terminate();
        }
    }
}

/// Makes this process inherit orphaned descendants, so that [`kill_descendants`] finds all of them.
pub fn adopt_orphans() {
    // Supported since Linux 3.4. Without it, only descendants with living parents are found.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Thread that ends this process, set before it kills the descendants.
static ENDING_THREAD: OnceLock<ThreadId> = OnceLock::new();

/// Blocks every other thread forever after [`kill_descendants`] was called. Reporting the end of a
/// killed child could end this process in another way than intended.
pub(super) fn park_if_ending() {
    let own = thread::current().id();
    while ENDING_THREAD.get().is_some_and(|it| *it != own) {
        thread::park();
    }
}

/// Kills all descendants of this process at once. The calling thread ends this process next, and may
/// run children until then; other threads that wait for a child do not return.
pub fn kill_descendants() {
    ENDING_THREAD.get_or_init(|| thread::current().id());
    if has_no_child() {
        return;
    }
    let mut known = BTreeSet::from([std::process::id()]);
    let mut rest = process_table::snapshot(&Root::machine());
    loop {
        let (found, others): (Vec<ProcessEntry>, Vec<ProcessEntry>) =
            rest.into_iter().partition(|entry| known.contains(&entry.parent));
        if found.is_empty() {
            return;
        }
        known.extend(found.iter().map(|entry| entry.id));
        send_signal(&found, Signal::KILL);
        rest = others;
    }
}

/// Returns whether this process has no child, and thus no descendant: orphans become its own
/// children (prctl(2), `PR_SET_CHILD_SUBREAPER`). Spares agents that end together the scan of all
/// processes.
fn has_no_child() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

fn send_signal(processes: &[ProcessEntry], signal: Signal) {
    for process in processes.iter().filter(|process| !is_gone(process)) {
        if let Some(id) = i32::try_from(process.id).ok().and_then(Pid::from_raw) {
            // The process may have ended since the snapshot.
            let _ = kill_process(id, signal);
        }
    }
}

/// Returns whether the process has ended. A process with the same id but another start time is a
/// different one.
fn is_gone(process: &ProcessEntry) -> bool {
    process_table::read(&Root::machine(), process.id)
        .is_none_or(|now| now.zombie || now.start_ticks != process.start_ticks)
}
