//! Termination of a child together with all its descendants.
//!
//! The process group is not enough: launchers such as `mpirun` create groups of their own, and
//! daemons leave their parents. Both would disturb the next measurement. So every child carries a
//! mark in its environment, which its descendants inherit. Descendants that cleared their
//! environment are still found as children of their parents.

use std::collections::BTreeSet;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use crate::process_table::{self, Entry};
use crate::root::Root;

/// Time between SIGTERM and SIGKILL, in which a launcher can end its own children.
const GRACE: Duration = Duration::from_secs(2);
/// Same time after a cancellation; the user waits one second at most for everything.
const HASTE: Duration = Duration::from_millis(700);
const NAP: Duration = Duration::from_millis(5);
const MARK: &str = "ASSAY_CHILD";

/// Mark of one process family: id of this process, and a number within it.
#[derive(Debug, Clone)]
pub(super) struct Mark(String);

impl Mark {
    /// Adds a new mark to the environment of a child to be started.
    pub(super) fn put_on(command: &mut Command) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let value = format!("{}.{number}", std::process::id());
        command.env(MARK, &value);
        Self(value)
    }
}

/// Running child that leads its own process group. Dropping it ends the whole family.
pub(super) struct Family {
    child: Child,
    mark: Mark,
    reaped: bool,
    grace: Duration,
}

impl Family {
    pub(super) const fn new(child: Child, mark: Mark) -> Self {
        Self { child, mark, reaped: false, grace: GRACE }
    }

    /// Shortens the time to end cleanly after a cancellation.
    pub(super) const fn hasten(&mut self) {
        self.grace = HASTE;
    }

    /// Returns whether the child has ended. It stays a zombie, so that its id, also that of its
    /// group, cannot be reused yet.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(self.id()), options), Ok(None))
    }

    /// Kills the remaining descendants of an ended child.
    pub(super) fn end_rest(&self) {
        self.signal_group(Signal::KILL);
        send(&self.outside(), Signal::KILL);
    }

    /// Reaps the child. Call only after [`Self::has_ended`].
    pub(super) fn reap(mut self) -> std::io::Result<ExitStatus> {
        self.reaped = true;
        self.child.wait()
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn end(&mut self) {
        let outside = self.outside();
        self.signal_group(Signal::TERM);
        send(&outside, Signal::TERM);
        let began = Instant::now();
        while began.elapsed() < self.grace && !(self.has_ended() && outside.iter().all(gone)) {
            std::thread::sleep(NAP);
        }
        send(&outside, Signal::KILL);
        self.end_rest();
        // The child is dead or was just killed: returns at once, and the status is not needed.
        let _ = self.child.wait();
    }

    fn signal_group(&self, signal: Signal) {
        // Fails only if there is no such process any more.
        let _ = kill_process_group(self.id(), signal);
    }

    /// Returns the descendants in other process groups.
    fn outside(&self) -> Vec<Entry> {
        let root = Root::machine();
        let leader = self.child.id();
        let assignment = format!("{MARK}={}", self.mark.0);
        let mut known = BTreeSet::from([leader]);
        let mut family = Vec::new();
        let mut rest = process_table::snapshot(&root);
        loop {
            let (found, others): (Vec<Entry>, Vec<Entry>) =
                rest.into_iter().partition(|entry| {
                    known.contains(&entry.parent)
                        || process_table::has_environment(&root, entry.id, &assignment)
                });
            if found.is_empty() {
                return family;
            }
            known.extend(found.iter().map(|entry| entry.id));
            family.extend(found.into_iter().filter(|entry| entry.group != leader));
            rest = others;
        }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if !self.reaped {
            self.end();
        }
    }
}

/// Makes this process inherit orphaned descendants, so that [`end_descendants`] finds all of them.
pub fn adopt_orphans() {
    // Supported since Linux 3.4. Without it, only descendants with living parents are found.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Whether descendants are being killed because this process ends.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Blocks forever after [`end_descendants`] was called. Reporting the end of a killed child could
/// end this process in another way than intended.
pub(super) fn wait_for_the_end() {
    while IS_ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Kills all descendants of this process at once. The caller ends this process next; threads that
/// wait for a child do not return.
pub fn end_descendants() {
    IS_ENDING.store(true, Ordering::SeqCst);
    if has_no_child() {
        return;
    }
    let mut known = BTreeSet::from([std::process::id()]);
    let mut rest = process_table::snapshot(&Root::machine());
    loop {
        let (found, others): (Vec<Entry>, Vec<Entry>) =
            rest.into_iter().partition(|entry| known.contains(&entry.parent));
        if found.is_empty() {
            return;
        }
        known.extend(found.iter().map(|entry| entry.id));
        send(&found, Signal::KILL);
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

fn send(processes: &[Entry], signal: Signal) {
    for process in processes.iter().filter(|process| !gone(process)) {
        if let Some(id) = i32::try_from(process.id).ok().and_then(Pid::from_raw) {
            // The process may have ended since the snapshot.
            let _ = kill_process(id, signal);
        }
    }
}

/// Returns whether the process has ended. A process with the same id but another start time is a
/// different one.
fn gone(process: &Entry) -> bool {
    process_table::read(&Root::machine(), process.id)
        .is_none_or(|now| now.zombie || now.start_ticks != process.start_ticks)
}
