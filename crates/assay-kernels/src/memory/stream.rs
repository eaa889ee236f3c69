//! STREAM memory bandwidth: Copy `c = a`, Scale `b = q·c`, Add `c = a + b`, Triad `a = b + q·c`.
//! Two more passes only read `a` (its sum) and only write it. Elements are `f64`.
//!
//! **Counting.** Bytes are STREAM's: each array named in the formula counts once. Further traffic of the hardware
//! is not counted, above all the write-allocate: an ordinary store first reads the line it is going
//! to overwrite, so a plain Copy really moves three arrays and is credited with two. Non-temporal
//! stores avoid that, which is why the best kernel usually uses them.
//!
//! **Placement.** Each member of the team owns one contiguous part of each array, touches it first
//! (so its pages are near it) and works on no other. The arrays start at different offsets within
//! their pages, because streams at equal offsets evict each other from the caches.
//!
//! **Time.** One repetition is one pass over the arrays: from the first member's start to the last
//! member's end; see [`crate::timed`]. Nothing is checked inside it.
//!
//! **Contents.** The expected contents of the arrays follow from any sequence of operations (see `contents`);
//! [`Stream::verify`] compares every element. Reference: `checkSTREAMresults` in J. D. Mc Calpin's
//! `stream.c`.

mod arrays;
mod contents;
mod error;
mod kernel;
mod operation;
mod pass;
pub mod sweep;
mod vector;

use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::poisoned_lock::PoisonedLock as _;

pub use error::StreamError;
pub use kernel::KernelInfo;
pub use operation::StreamOperation;

use crate::clock;
use crate::mapping::PageAdvice;
use crate::numa::MemoryNode;
use crate::timed::TimedTeam;
use arrays::Arrays;
use contents::{ExpectedContents, PatternSum};

/// Comparison of kernels, which alternate in rounds.
struct KernelComparison {
    rounds: usize,
    /// Minimum length of a pass, if the arrays are large enough.
    min_pass_s: f64,
    /// Statistic of a kernel's relative times.
    condense: fn(Vec<f64>) -> f64,
}

impl KernelComparison {
    /// Returns the same comparison with passes shortened to this share.
    fn shortened_to(&self, share: f64) -> Self {
        Self { min_pass_s: self.min_pass_s * share, ..*self }
    }

    /// Returns the seconds for this number of kernels.
    fn duration_s(&self, kernels: usize) -> f64 {
        self.rounds as f64 * kernels as f64 * self.min_pass_s
    }
}

/// Ratio of the time of a choice to the time for it after which no pass begins. Passes have a minimum
/// size, so a choice with little time takes longer on a quiet machine, too.
const MAX_LATENESS: f64 = 1.5;

/// Choice of the fastest kernel of an operation, within a time.
struct KernelSelection<'c> {
    operation: StreamOperation,
    began_ns: u64,
    within_s: f64,
    cancel: &'c AtomicBool,
}

impl KernelSelection<'_> {
    fn is_late(&self) -> bool {
        clock::seconds_between(self.began_ns, clock::now_ns()) > MAX_LATENESS * self.within_s
    }
}

/// Kernel that was chosen for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelChoice {
    /// Name of the kernel.
    pub name: &'static str,
    /// Whether other kernels may be as fast: in all rounds of the last comparison, it was not always the
    /// fastest. Not if the time ended before: the choice then shows nothing of the others.
    pub is_within_noise: bool,
}

/// First comparison: all styles of the widest instruction set. Passes are long compared with the
/// start of a team, tens of microseconds, and short compared with a budget: there are 32 of them
/// for every operation.
const FIRST_COMPARISON: KernelComparison =
    KernelComparison { rounds: 2, min_pass_s: 0.005, condense: minimum };
/// Styles that remain after it, to be compared in every instruction set.
const FINALISTS: usize = 3;
/// Second comparison, of the remaining styles; rounds are odd, so that the median ratio is a
/// measured one.
const SECOND_COMPARISON: KernelComparison =
    KernelComparison { rounds: 5, min_pass_s: 0.01, condense: median };
/// Number of windows while the length of a pass is still to be estimated: one pass takes an eighth
/// of the arrays.
const ESTIMATE_WINDOWS: usize = 8;
/// Minimum part of each array for one such pass.
const MIN_WINDOW_BYTES: usize = 16 << 20;
/// Stages of touching pages; progress is reported after each.
const TOUCH_STAGES: usize = 16;
/// Elements that a member fills or compares before it looks at the request to stop: 4 MiB.
const PIECE_ELEMENTS: usize = 1 << 19;
/// Request to stop that never comes.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Arrays to measure, and their placement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamConfig {
    /// CPUs, with one thread pinned to each entry.
    pub cpus: Vec<usize>,
    /// Size of each of the three arrays in bytes; rounded down to whole elements of 8 bytes.
    pub bytes_per_array: usize,
    /// CPUs that touch the array `a` first, so that it is near them and not near the threads that
    /// read it; empty = each member touches its own part.
    pub source_cpus: Vec<usize>,
    /// Node of the memory of the array `a`; `None` = those of the CPUs that touch it first.
    pub source_node: Option<MemoryNode>,
    /// Whether to request huge pages; [`Stream::huge_bytes`] reports the result.
    pub huge_pages: bool,
}

/// Three arrays, the team that owns them, and their expected contents.
#[derive(Debug)]
pub struct Stream {
    team: TimedTeam,
    arrays: Arrays,
    expected: ExpectedContents,
    /// Data of each member's part for checking its sum, see `contents`.
    pattern_sums: Vec<PatternSum>,
    /// Passes of kernel selection since the arrays were filled: each changes the contents of a part
    /// of them.
    windows_walked: usize,
}

impl Stream {
    /// Starts the team and maps the arrays; every member fills its parts, which touches them first.
    ///
    /// # Errors
    /// [`StreamError`]: a CPU or memory is unavailable, or arrays have less than one
    /// cache line per member; or `cancel`, which is checked while pages are touched.
    ///
    /// `touched` is called repeatedly with the share of the pages touched so far, finally with 1.
    /// The duration of touching cannot be predicted, least of all in a guest whose host has to find
    /// the memory.
    pub fn prepare(
        config: &StreamConfig,
        cancel: &AtomicBool,
        touched: &mut dyn FnMut(f64),
    ) -> Result<Self, StreamError> {
        let team = TimedTeam::new(&config.cpus).map_err(StreamError::StartTeam)?;
        let advice = PageAdvice::from_huge_pages(config.huge_pages);
        let arrays = Arrays::map(config.bytes_per_array, team.members(), advice)?;
        let expected = ExpectedContents::initial();
        let mut stream =
            Self { team, arrays, expected, pattern_sums: Vec::new(), windows_walked: 0 };
        if let Some(node) = config.source_node {
            node.request(stream.arrays.source()).map_err(StreamError::PlaceSource)?;
        }
        if !config.source_cpus.is_empty() {
            stream.place_source(&config.source_cpus)?;
        }
        for stage in 0..TOUCH_STAGES {
            stream.touch(stage, cancel);
            touched((stage + 1) as f64 / TOUCH_STAGES as f64);
        }
        stream.fill(cancel)?;
        if let Some(node) = config.source_node {
            node.check(stream.arrays.source()).map_err(StreamError::PlaceSource)?;
        }
        Ok(stream)
    }

    /// Lets every member touch its parts first, a page at a time: the kernel zeroes them, which
    /// takes seconds for arrays of gigabytes. Filling them is then a pass at memory speed.
    fn touch(&mut self, stage: usize, cancel: &AtomicBool) {
        const ELEMENTS_PER_PAGE: usize = 4096 / size_of::<f64>();
        const PAGES_PER_LOOK: usize = 1 << 10;
        let parts =
            self.arrays.parts().into_iter().map(|part| part.window(stage, TOUCH_STAGES));
        let parts: Vec<_> = parts.map(Mutex::new).collect();
        self.team.team().run(|member| {
            let part = &mut *parts[member].lock().even_if_poisoned();
            let arrays = [&mut *part.a, &mut *part.b, &mut *part.c];
            let pieces = arrays
                .into_iter()
                .flat_map(|it| it.chunks_mut(ELEMENTS_PER_PAGE * PAGES_PER_LOOK));
            for piece in pieces.take_while(|_| !cancel.load(Ordering::Relaxed)) {
                piece.iter_mut().step_by(ELEMENTS_PER_PAGE).for_each(|it| *it = 1.0);
            }
        });
    }

    /// Returns the kernels for this operation that this CPU can run, the widest first. Never empty.
    pub fn kernels(operation: StreamOperation) -> Vec<&'static KernelInfo> {
        kernel::runnable(operation).map(|kernel| &kernel.info).collect()
    }

    /// Returns the actual size of each array, in bytes.
    pub fn bytes_per_array(&self) -> usize {
        self.arrays.bytes_per_array()
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.team.members()
    }

    /// Returns the bytes of the three arrays that are in huge pages.
    ///
    /// # Errors
    /// The system does not report it.
    pub fn huge_bytes(&self) -> io::Result<usize> {
        self.arrays.huge_bytes()
    }

    /// Runs one timed pass of `operation` with the named kernel by all members. Returns seconds;
    /// [`bytes_moved`] over it is the rate.
    ///
    /// # Errors
    /// The kernel does not exist for this operation or this CPU cannot run it; the sum after
    /// [`StreamOperation::Read`] is wrong; or wrong contents were found when the values had to be
    /// renewed (see `contents`).
    pub fn repetition(
        &mut self,
        operation: StreamOperation,
        kernel: &str,
    ) -> Result<f64, StreamError> {
        let pass = kernel::find(operation, kernel)?.pass;
        if self.expected.is_extreme() {
            self.verify(&NEVER)?;
            self.fill(&NEVER)?;
        }
        self.restore(&NEVER)?;
        let parts: Vec<_> =
            self.arrays.parts().into_iter().map(|part| Mutex::new((part, 0.0))).collect();
        let seconds = self.team.pass(|member| {
            let (part, sum) = &mut *parts[member].lock().even_if_poisoned();
            // SAFETY: `find` returns only kernels whose instructions this CPU has.
            *sum = unsafe { pass(operation, part) };
        });
        self.expected.apply(operation);
        if operation == StreamOperation::Read {
            for (member, slot) in parts.into_iter().enumerate() {
                let (_, sum) = slot.into_inner().even_if_poisoned();
                self.expected.check_sum(member, self.pattern_sums[member], sum)?;
            }
        }
        Ok(seconds)
    }

    /// Returns the rate of these members alone in the last pass, which was one of `operation`, in
    /// B/s by STREAM's counting: their own bytes over the time from their first start to their last
    /// end.
    ///
    /// # Panics
    /// When there are no such members.
    pub fn rate(&self, operation: StreamOperation, members: Range<usize>) -> f64 {
        let bytes = self.arrays.member_elements(members.clone()) * size_of::<f64>();
        bytes_moved(operation, bytes) as f64 / self.team.members_s(members)
    }

    /// Compares every element of the three arrays with the expected contents after the operations
    /// so far. Each member checks its own parts; nothing is timed.
    ///
    /// # Errors
    /// [`StreamError::WrongContents`] names the first wrong element found; [`StreamError::Cancelled`].
    pub fn verify(&mut self, cancel: &AtomicBool) -> Result<(), StreamError> {
        self.restore(cancel)?;
        let expected = &self.expected;
        let parts: Vec<_> = self.arrays.parts().into_iter().map(Mutex::new).collect();
        let first_error = Mutex::new(None);
        self.team.team().run(|member| {
            let mut part = parts[member].lock().even_if_poisoned();
            let mut pieces =
                part.pieces(PIECE_ELEMENTS).take_while(|_| !cancel.load(Ordering::Relaxed));
            if let Err(error) = pieces.try_for_each(|piece| expected.check_part(&piece)) {
                first_error.lock().even_if_poisoned().get_or_insert(error);
            }
        });
        let first_error = first_error.into_inner().even_if_poisoned();
        first_error.map_or_else(|| stop_if_cancelled(cancel), Err)
    }

    /// Times kernels for `operation` in turn and chooses the one that is fastest now: first all
    /// styles of the widest instruction set, then the best of these in every instruction set. The
    /// statistic is the median over rounds of a kernel's time relative to the fastest of that
    /// round, so that a disturbance longer than a round changes nothing.
    ///
    /// If a pass takes long, each walks another window of the arrays. A window has left every cache
    /// before it is walked again, since all windows together are as large as the arrays. If there
    /// is less time than [`Stream::selection_s`], the passes are shortened as far as the arrays
    /// allow, and no pass but the first begins later than after 1.5 times `within_s`: on a busy
    /// machine, each pass waits for a CPU. The selected kernel may then be slower than the best.
    ///
    /// # Errors
    /// Those of [`Stream::repetition`], and [`StreamError::Cancelled`] between two passes.
    pub fn pick_best(
        &mut self,
        operation: StreamOperation,
        within_s: f64,
        cancel: &AtomicBool,
    ) -> Result<KernelChoice, StreamError> {
        let haste = (within_s / Self::selection_s(operation)).min(1.0);
        let (qualifying, last) =
            (FIRST_COMPARISON.shortened_to(haste), SECOND_COMPARISON.shortened_to(haste));
        let selection =
            KernelSelection { operation, began_ns: clock::now_ns(), within_s, cancel };
        let all = Self::kernels(operation);
        let widest: Vec<_> =
            all.iter().filter(|info| info.isa == all[0].isa).copied().collect();
        let (mut styles, _) = self.rank_kernels(&widest, &qualifying, &selection)?;
        if selection.is_late() {
            return Ok(KernelChoice { name: styles[0].name, is_within_noise: false });
        }
        styles.truncate(FINALISTS);
        let has_finalist_style =
            |info: &&KernelInfo| styles.iter().any(|it| it.has_style_of(info));
        let left: Vec<_> = all.into_iter().filter(has_finalist_style).collect();
        let (ranked, is_within_noise) = self.rank_kernels(&left, &last, &selection)?;
        Ok(KernelChoice { name: ranked[0].name, is_within_noise })
    }

    /// Returns the seconds that [`Stream::pick_best`] takes for arrays of many windows, without a
    /// shorter limit.
    pub fn selection_s(operation: StreamOperation) -> f64 {
        let all = Self::kernels(operation);
        let widest = all.iter().filter(|info| info.isa == all[0].isa).count();
        let finals = FINALISTS.min(widest) * all.len() / widest;
        FIRST_COMPARISON.duration_s(widest) + SECOND_COMPARISON.duration_s(finals)
    }

    /// Returns the kernels, the fastest first, and whether others are within the noise of the first one.
    fn rank_kernels(
        &mut self,
        kernels: &[&'static KernelInfo],
        contest: &KernelComparison,
        selection: &KernelSelection<'_>,
    ) -> Result<(Vec<&'static KernelInfo>, bool), StreamError> {
        let ratios = self.relative_times(kernels, contest, selection)?;
        let condensed = ratios.iter().map(|it| (contest.condense)(it.clone()));
        let mut ranked: Vec<_> = kernels.iter().copied().zip(condensed).zip(&ratios).collect();
        ranked.sort_by(|x, y| x.0.1.total_cmp(&y.0.1));
        let is_within_noise = ranked.first().is_some_and(|it| loses_a_round(it.1));
        Ok((ranked.into_iter().map(|((info, _), _)| info).collect(), is_within_noise))
    }

    /// Returns each kernel's times over the fastest time of the same round, of all complete rounds. A kernel
    /// whose pass would begin late in the first round is infinitely slow.
    fn relative_times(
        &mut self,
        kernels: &[&'static KernelInfo],
        contest: &KernelComparison,
        selection: &KernelSelection<'_>,
    ) -> Result<Vec<Vec<f64>>, StreamError> {
        let operation = selection.operation;
        let mut ratios = vec![Vec::new(); kernels.len()];
        let Some(first) = kernels.first() else { return Ok(Vec::new()) };
        let most = (self.bytes_per_array() / MIN_WINDOW_BYTES).max(1);
        let parts = most.min(ESTIMATE_WINDOWS);
        let whole_s = parts as f64 * self.walk_window(operation, first, parts);
        let windows = ((whole_s / contest.min_pass_s) as usize).clamp(1, most);
        for round in 0..contest.rounds {
            let mut times_s = Vec::new();
            for info in kernels {
                stop_if_cancelled(selection.cancel)?;
                if selection.is_late() && (round > 0 || !times_s.is_empty()) {
                    break;
                }
                times_s.push(self.walk_window(operation, info, windows));
            }
            if round > 0 && times_s.len() < kernels.len() {
                break;
            }
            times_s.resize(kernels.len(), f64::INFINITY);
            let fastest_s = minimum(times_s.clone());
            for (ratios, time_s) in ratios.iter_mut().zip(times_s) {
                ratios.push(time_s / fastest_s);
            }
        }
        Ok(ratios)
    }

    /// Times a pass over the next of `windows` windows of each member's part, and leaves its
    /// contents unknown.
    fn walk_window(
        &mut self,
        operation: StreamOperation,
        info: &KernelInfo,
        windows: usize,
    ) -> f64 {
        let pass = kernel::find(operation, info.name).expect("one of the runnable ones").pass;
        let nth = self.windows_walked % windows;
        self.windows_walked += 1;
        let parts = self.arrays.parts().into_iter();
        let parts: Vec<_> = parts.map(|part| Mutex::new(part.window(nth, windows))).collect();
        self.team.pass(|member| {
            let part = &mut *parts[member].lock().even_if_poisoned();
            // SAFETY: `find` returns only kernels whose instructions this CPU has.
            std::hint::black_box(unsafe { pass(operation, part) });
        })
    }

    /// Refills the arrays if kernel selection has changed their contents, as the next repetition would.
    ///
    /// # Errors
    /// [`StreamError::Cancelled`]
    pub fn restore(&mut self, cancel: &AtomicBool) -> Result<(), StreamError> {
        if self.windows_walked > 0 { self.fill(cancel) } else { Ok(()) }
    }

    /// Lets other threads touch every page of `a` first. [`Stream::fill`] replaces the values that
    /// they write.
    fn place_source(&mut self, cpus: &[usize]) -> Result<(), StreamError> {
        let mut others = TimedTeam::new(cpus).map_err(StreamError::StartTeam)?;
        let count = others.members();
        let parts: Vec<_> = self.arrays.parts().into_iter().map(Mutex::new).collect();
        others.team().run(|member| {
            for part in parts.iter().skip(member).step_by(count) {
                part.lock().even_if_poisoned().a.fill(1.0);
            }
        });
        Ok(())
    }

    /// Writes the initial values; every member fills its own parts. The contents are unknown after
    /// it was cancelled.
    fn fill(&mut self, cancel: &AtomicBool) -> Result<(), StreamError> {
        self.windows_walked = 1;
        self.expected = ExpectedContents::initial();
        let expected = &self.expected;
        let parts: Vec<_> = self
            .arrays
            .parts()
            .into_iter()
            .map(|part| Mutex::new((part, PatternSum::default())))
            .collect();
        self.team.team().run(|member| {
            let (part, pattern_sum) = &mut *parts[member].lock().even_if_poisoned();
            for mut piece in
                part.pieces(PIECE_ELEMENTS).take_while(|_| !cancel.load(Ordering::Relaxed))
            {
                pattern_sum.add(expected.write(&mut piece));
            }
        });
        self.pattern_sums =
            parts.into_iter().map(|slot| slot.into_inner().even_if_poisoned().1).collect();
        stop_if_cancelled(cancel)?;
        self.windows_walked = 0;
        Ok(())
    }
}

fn stop_if_cancelled(cancel: &AtomicBool) -> Result<(), StreamError> {
    if cancel.load(Ordering::Relaxed) { Err(StreamError::Cancelled) } else { Ok(()) }
}

/// Returns the bytes that STREAM counts for one pass: Copy and Scale 2, Add and Triad 3, read and
/// write 1 times the size of an array. Write-allocates are not counted.
pub fn bytes_moved(operation: StreamOperation, bytes_per_array: usize) -> u64 {
    operation.arrays_counted() * bytes_per_array as u64
}

/// Whether a kernel was not the fastest of each round, by its times over the fastest ones, if all rounds of
/// the second comparison ended. Of k equal kernels, one wins all five rounds with a probability of 1 / k⁴:
/// 1 / 16 of two.
fn loses_a_round(ratios: &[f64]) -> bool {
    ratios.len() >= SECOND_COMPARISON.rounds && ratios.iter().any(|ratio| *ratio > 1.0)
}

fn minimum(values: Vec<f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests;
