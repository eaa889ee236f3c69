//! Ending a child together with everything it started.
//!
//! The process group is not enough: launchers such as `mpirun` put what they start into groups of its
//! own, and daemons leave their parents. Both would go on computing beside the next measurement. So
//! every child carries a mark in its environment, which its descendants inherit; those that cleared
//! their environment are still found as children of their parents.

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
/// The same where the user wants to stop, who is to wait a second at most for everything.
const HASTE: Duration = Duration::from_millis(700);
const NAP: Duration = Duration::from_millis(5);
const MARK: &str = "ASSAY_CHILD";

/// The value of the mark of one family: this process, and a number within it.
#[derive(Debug, Clone)]
pub(super) struct Mark(String);

impl Mark {
    /// Puts its own mark on a child that is to be started.
    pub(super) fn put_on(command: &mut Command) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let value = format!("{}.{number}", std::process::id());
        command.env(MARK, &value);
        Self(value)
    }
}

/// A running child that is the leader of its own process group. Dropping it ends the whole family.
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

    /// Leaves less time to end in good order: the user waits.
    pub(super) const fn hasten(&mut self) {
        self.grace = HASTE;
    }

    /// Whether the child has ended. It is left as a zombie, so that its number, which is also that of
    /// its group, cannot go to another process yet.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(self.id()), options), Ok(None))
    }

    /// Ends what a child that has ended left behind.
    pub(super) fn end_rest(&self) {
        self.signal_group(Signal::KILL);
        send(&self.outside(), Signal::KILL);
    }

    /// The child's own end. Call only after [`Self::has_ended`].
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
        // The child is dead or has just been killed: this ends at once, and its status is not wanted.
        let _ = self.child.wait();
    }

    fn signal_group(&self, signal: Signal) {
        // The only possible failure is that there is no such process any more.
        let _ = kill_process_group(self.id(), signal);
    }

    /// The descendants that are in other process groups.
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

/// Has this process inherit the children of those it starts, so that [`end_descendants`] finds all of them.
pub fn adopt_orphans() {
    // Kernels know it since 3.4; where it is refused, those whose parents live are found.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Whether what was started is being ended because this process is.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Does not return where [`end_descendants`] was called: how a child ended then is nobody's business, and who heard of it
/// could end this process in another way than its caller is about to.
pub(super) fn wait_for_the_end() {
    while IS_ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Ends everything that this process has started, at once. Its caller ends this process next: whoever waits for a child
/// hears no more of it.
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

/// Then it has no descendants either: those whose parents have ended are its own children (prctl(2),
/// `PR_SET_CHILD_SUBREAPER`). Agents that end together look through no list of all processes of their machine.
fn has_no_child() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

fn send(processes: &[Entry], signal: Signal) {
    for process in processes.iter().filter(|process| !gone(process)) {
        if let Some(id) = i32::try_from(process.id).ok().and_then(Pid::from_raw) {
            // It may have ended since it was looked at.
            let _ = kill_process(id, signal);
        }
    }
}

/// A process with the same number that started at another time is not the same.
fn gone(process: &Entry) -> bool {
    process_table::read(&Root::machine(), process.id)
        .is_none_or(|now| now.zombie || now.start_ticks != process.start_ticks)
}
