//! A team of threads, one pinned to each given CPU for its whole life, that run one closure together.
//!
//! Threads are made once, because a thread that has just been made is cold and not yet in its place.
//! Between runs a member spins for a moment and then sleeps: runs in quick succession start within
//! about a microsecond, and an idle team burns no CPU. A panic in a member is carried to the caller;
//! it never becomes a hang. A team never decides where its members run.

use std::any::Any;
use std::cell::UnsafeCell;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle, Thread};

use crate::barrier::{Barrier, OwnLines};
use crate::clock;
use crate::pin;

/// How long a member or a caller spins before it sleeps. A sleeping thread takes 5 to 50 µs to wake,
/// so spinning much longer than that no longer pays.
const SPIN_NS: u64 = 30_000;
/// Pauses between two looks at the clock and one yield.
const SPINS_PER_LOOK: u32 = 32;

/// Pinned threads that wait for work. Dropping the team ends them.
#[derive(Debug)]
pub struct Team {
    cpus: Vec<usize>,
    shared: Arc<Shared>,
    members: Vec<JoinHandle<()>>,
}

impl Team {
    /// Starts one thread per entry of `cpus`, each pinned to its CPU before this returns. Member `i`
    /// runs on `cpus[i]`; a CPU may be named more than once.
    ///
    /// # Errors
    /// No CPU given, a thread that cannot be started, or a CPU that cannot be had (it is named).
    pub fn new(cpus: &[usize]) -> io::Result<Self> {
        if cpus.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a team needs a CPU"));
        }
        let shared = Arc::new(Shared::default());
        let mut team = Self { cpus: cpus.to_vec(), shared, members: Vec::new() };
        let (report, reports) = mpsc::channel();
        for (member, &cpu) in cpus.iter().enumerate() {
            team.members.push(start_member(member, cpu, &team.shared, report.clone())?);
        }
        drop(report);
        // Every member reports exactly once; on an error, dropping `team` ends those that started.
        for result in reports {
            result?;
        }
        Ok(team)
    }

    /// Number of members, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a team is never empty")]
    pub fn len(&self) -> usize {
        self.cpus.len()
    }

    /// The CPUs of the members, in their order.
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// A barrier for all members inside one [`Team::run`]. Members who wait there for one that has
    /// panicked panic too.
    pub fn barrier(&self) -> Barrier {
        Barrier::new(self.len(), Arc::clone(&self.shared.abandoned))
    }

    /// Runs `work(member)` once on every member, `member` counting from 0, and waits for all of them.
    ///
    /// # Panics
    /// When a member panics: with the first panic's own payload, after all members have come back. The
    /// team can be used again, a barrier at which someone was left waiting cannot.
    pub fn run<F: Fn(usize) + Sync>(&mut self, work: F) {
        let work: &(dyn Fn(usize) + Sync) = &work;
        // SAFETY: only the lifetime is changed. Members call the work between the new generation below
        // and their last decrement of `unfinished`, and this function leaves, by any way, only after
        // that; `&mut self` keeps a second run out.
        let work = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), Work>(work) };
        self.shared.begin(work, self.len());
        self.wake_members();
        self.shared.wait_until_finished(&self.cpus);
        if let Some(payload) = lock(&self.shared.first_panic).take() {
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
            // A member catches the panics of its work, so there is nothing to learn from its end.
            let _ = member.join();
        }
    }
}

/// A piece of work without its lifetime; see the reasoning in [`Team::run`].
type Work = &'static (dyn Fn(usize) + Sync);

/// What caller and members have in common.
#[derive(Default)]
struct Shared {
    /// Counts the pieces of work; a member works when it has changed.
    generation: OwnLines<AtomicUsize>,
    /// Members that have not yet finished the present work.
    unfinished: OwnLines<AtomicUsize>,
    work: UnsafeCell<Option<Work>>,
    ended: AtomicBool,
    /// A member of the present work has panicked; shared with the team's barriers.
    abandoned: Arc<AtomicBool>,
    first_panic: Mutex<Option<Box<dyn Any + Send>>>,
    caller: Mutex<Option<Thread>>,
}

// SAFETY: everything but `work` is `Sync` itself. `work` is written by the caller alone, while no member
// is at work, and read by members after they have seen the new `generation` (release and acquire).
unsafe impl Sync for Shared {}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("generation", &self.generation).finish_non_exhaustive()
    }
}

impl Shared {
    fn begin(&self, work: Work, members: usize) {
        *lock(&self.caller) = Some(thread::current());
        self.abandoned.store(false, Ordering::Relaxed);
        // SAFETY: no member is at work (the previous run waited for all of them), so nobody reads.
        unsafe { *self.work.get() = Some(work) };
        self.unfinished.0.store(members, Ordering::Relaxed);
        self.generation.0.fetch_add(1, Ordering::Release);
    }

    /// Spins only where that takes no time from a member, else sleeps at once.
    fn wait_until_finished(&self, cpus: &[usize]) {
        let beside_members = pin::current_cpu().is_some_and(|cpu| !cpus.contains(&cpu));
        let spin_ns = if beside_members { SPIN_NS } else { 0 };
        wait_for(spin_ns, || self.unfinished.0.load(Ordering::Acquire) == 0);
    }

    fn serve(&self, member: usize) {
        let mut seen = 0;
        loop {
            let ended = || self.ended.load(Ordering::Acquire);
            wait_for(SPIN_NS, || self.generation.0.load(Ordering::Acquire) != seen || ended());
            if ended() {
                return;
            }
            seen = self.generation.0.load(Ordering::Acquire);
            self.carry_out(member);
        }
    }

    fn carry_out(&self, member: usize) {
        // SAFETY: the caller wrote the work before the generation this member has seen, and does not
        // write again before this member has decremented `unfinished`.
        let work =
            unsafe { *self.work.get() }.expect("a piece of work is set before its generation");
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| work(member))) {
            // The order matters: those who panic because of `abandoned` must not come first.
            lock(&self.first_panic).get_or_insert(payload);
            self.abandoned.store(true, Ordering::Release);
        }
        let last = self.unfinished.0.fetch_sub(1, Ordering::AcqRel) == 1;
        if last && let Some(caller) = &*lock(&self.caller) {
            caller.unpark();
        }
    }
}

/// Starts a member that pins itself, reports how that went, and then works until the team ends.
fn start_member(
    member: usize,
    cpu: usize,
    shared: &Arc<Shared>,
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
            shared.serve(member);
        }
    })
}

/// Waits for a condition: spinning for about `spin_ns`, then parked. Whoever makes it true must unpark.
fn wait_for(spin_ns: u64, condition: impl Fn() -> bool) {
    let deadline_ns = clock::now_ns() + spin_ns;
    while !condition() {
        if clock::now_ns() >= deadline_ns {
            thread::park();
            continue;
        }
        for _ in 0..SPINS_PER_LOOK {
            std::hint::spin_loop();
            if condition() {
                return;
            }
        }
        thread::yield_now();
    }
}

/// The mutexes here guard single values that a panic cannot leave half written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
