//! Team of threads that run one closure together, each pinned to a given CPU for its whole life.
//!
//! Threads are created once, because a new thread has cold caches and is not yet on its CPU.
//! Between runs a member spins briefly and then sleeps: runs in quick succession start within about
//! a microsecond, and an idle team uses no CPU time. A panic in a member is passed to the caller
//! and never becomes a hang. The caller chooses the members' CPUs.

use std::any::Any;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use assay_model::poisoned_lock::PoisonedLock as _;

use crate::barrier::{Barrier, CachePadded};
use crate::pin;
use crate::sync::{
    self, AtomicBool, AtomicUsize, JoinHandle, Mutex, Ordering, PublishedCell,
    SPINS_PER_CLOCK_READ, TEAM_SPIN_NS, Thread, mpsc, thread,
};

/// Pinned threads that wait for work. Dropping the team ends them.
#[derive(Debug)]
pub struct Team {
    cpus: Vec<usize>,
    shared: Arc<TeamState>,
    members: Vec<JoinHandle<()>>,
}

impl Team {
    /// Starts one thread per entry of `cpus`, each pinned to its CPU before this returns. Member
    /// `i` runs on `cpus[i]`; a CPU may occur more than once.
    ///
    /// # Errors
    /// No CPU given, a thread that cannot be started, or a CPU that is not available (the error
    /// names it).
    pub fn new(cpus: &[usize]) -> io::Result<Self> {
        if cpus.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a team needs a CPU"));
        }
        let shared = Arc::new(TeamState::default());
        let mut team = Self { cpus: cpus.to_vec(), shared, members: Vec::new() };
        let (report, reports) = mpsc::channel();
        for (member, &cpu) in cpus.iter().enumerate() {
            team.members.push(start_member(member, cpu, &team.shared, report.clone())?);
        }
        drop(report);
        // Every member reports exactly once; on an error, dropping `team` ends those that started.
        for _ in cpus {
            reports.recv().map_err(io::Error::other)??;
        }
        Ok(team)
    }

    /// Returns the number of members, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a team is never empty")]
    pub fn len(&self) -> usize {
        self.cpus.len()
    }

    /// Returns the CPUs of the members, in their order.
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// Creates a barrier for all members inside one [`Team::run`]. Members that wait there for a
    /// panicked member panic too.
    pub fn barrier(&self) -> Barrier {
        Barrier::new(self.len(), Arc::clone(&self.shared.abandoned))
    }

    /// Runs `work(member)` once on every member, `member` counting from 0, and waits for all of
    /// them.
    ///
    /// # Panics
    /// When a member panics: with the first panic's own payload, after all members have returned.
    /// The team can be used again; a barrier with an incomplete phase cannot.
    pub fn run<F: Fn(usize) + Sync>(&mut self, work: F) {
        let work: &(dyn Fn(usize) + Sync) = &work;
        // SAFETY: only the lifetime is changed. Members call the work between the new generation
        // below and their last decrement of `unfinished`, and this function returns or unwinds only
        // after that; `&mut self` excludes a second run.
        let work = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), Work>(work) };
        self.shared.publish_work(work, self.len());
        self.wake_members();
        self.shared.wait_until_finished(&self.cpus);
        if let Some(payload) = self.shared.first_panic.lock().even_if_poisoned().take() {
            panic::resume_unwind(payload);
        }
    }

    fn wake_members(&self) {
        for member in &self.members {
            member.thread().unpark();
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        self.wake_members();
        for member in self.members.drain(..) {
            // A member catches the panics of its work, so its result contains no information.
            let _ = member.join();
        }
    }
}

/// Closure without its lifetime; see the reasoning in [`Team::run`].
type Work = &'static (dyn Fn(usize) + Sync);

/// State shared by caller and members.
#[derive(Default)]
struct TeamState {
    /// Number of the current work; a change starts the members.
    generation: CachePadded<AtomicUsize>,
    /// Members that have not yet finished the current work.
    unfinished: CachePadded<AtomicUsize>,
    work: PublishedCell<Option<Work>>,
    ended: AtomicBool,
    /// Set when a member has panicked in the current work; shared with the team's barriers.
    abandoned: Arc<AtomicBool>,
    first_panic: Mutex<Option<Box<dyn Any + Send>>>,
    caller: Mutex<Option<Thread>>,
}

// SAFETY: everything but `work` is `Sync` itself. `work` is written by the caller alone, while no
// member is working, and read by members after they have seen the new `generation` (release and
// acquire).
unsafe impl Sync for TeamState {}

impl std::fmt::Debug for TeamState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TeamState")
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

impl TeamState {
    fn publish_work(&self, work: Work, members: usize) {
        *self.caller.lock().even_if_poisoned() = Some(thread::current());
        self.abandoned.store(false, Ordering::Relaxed);
        // SAFETY: no member is working (the previous run waited for all of them), so no thread
        // reads it.
        unsafe { self.work.write(Some(work)) };
        self.unfinished.0.store(members, Ordering::Relaxed);
        self.generation.0.fetch_add(1, Ordering::Release);
    }

    /// Spins only if the caller does not share a member's CPU, otherwise sleeps at once.
    fn wait_until_finished(&self, cpus: &[usize]) {
        let beside_members = pin::current_cpu().is_some_and(|cpu| !cpus.contains(&cpu));
        let spin_ns = if beside_members { TEAM_SPIN_NS } else { 0 };
        wait_for(spin_ns, || self.unfinished.0.load(Ordering::Acquire) == 0);
    }

    fn run_member(&self, member: usize) {
        let mut seen = 0;
        loop {
            let ended = || self.ended.load(Ordering::Acquire);
            wait_for(TEAM_SPIN_NS, || {
                self.generation.0.load(Ordering::Acquire) != seen || ended()
            });
            if ended() {
                return;
            }
            seen = self.generation.0.load(Ordering::Acquire);
            self.run_work(member);
        }
    }

    fn run_work(&self, member: usize) {
        // SAFETY: the caller wrote the work before the generation this member has seen, and does not
        // write again before this member has decremented `unfinished`.
        let work =
            unsafe { self.work.read() }.expect("a piece of work is set before its generation");
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| work(member))) {
            // The order matters: panics caused by `abandoned` must not come first.
            self.first_panic.lock().even_if_poisoned().get_or_insert(payload);
            self.abandoned.store(true, Ordering::Release);
        }
        let last = self.unfinished.0.fetch_sub(1, Ordering::AcqRel) == 1;
        if last && let Some(caller) = &*self.caller.lock().even_if_poisoned() {
            caller.unpark();
        }
    }
}

/// Starts a member that pins itself, reports the result, and then works until the team ends.
fn start_member(
    member: usize,
    cpu: usize,
    shared: &Arc<TeamState>,
    report: mpsc::Sender<io::Result<()>>,
) -> io::Result<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    thread::Builder::new().name(format!("kernel-{member}")).spawn(move || {
        let pinned = pin::pin_current_thread(cpu);
        let works = pinned.is_ok();
        // The team may already be gone because another member failed; then `ended` is set.
        let _ = report.send(pinned);
        drop(report);
        if works {
            shared.run_member(member);
        }
    })
}

/// Waits for a condition: spins for about `spin_ns`, then parks. The thread that makes it true must
/// unpark.
fn wait_for(spin_ns: u64, condition: impl Fn() -> bool) {
    let deadline_ns = sync::now_ns() + spin_ns;
    while !condition() {
        if sync::now_ns() >= deadline_ns {
            thread::park();
            continue;
        }
        for _ in 0..SPINS_PER_CLOCK_READ {
            sync::spin_loop();
            if condition() {
                return;
            }
        }
        thread::yield_now();
    }
}

#[cfg(test)]
#[cfg(loom)]
mod model;
#[cfg(test)]
#[cfg(not(loom))]
mod tests;
