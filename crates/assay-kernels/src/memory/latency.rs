//! Latency of dependent loads (pointer chasing): each load gives the address of the next, so none
//! can start before the one before it has ended, and time over loads is the latency of one.
//!
//! **Order.** One pointer per cache line, in a single random cycle over all lines of the working set
//! (see `chain`). A random order has no stride, so stream and stride prefetchers find nothing to
//! fetch; a set that fits a cache is served by that cache in any case. No order can hide a
//! prefetcher that fetches each line's neighbour too: it may serve some loads of a set a little
//! larger than a cache. In a working set of a few lines neighbours follow each other often, but
//! those are all in the first-level cache anyway.
//!
//! **Address translation.** The time of a load includes its address translation. With pages of 4 KiB a set
//! beyond the reach of the TLB costs page walks, with huge pages hardly any: request them, and
//! report [`PointerChase::huge_bytes`] with the result.
//!
//! **Time.** One repetition follows the chain for at least 2 ms and continues where the last one stopped,
//! so all of a large set is visited in turn and the clock's own cost is below 0.01 %.

mod chain;
pub mod loaded;

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::poisoned_lock::PoisonedLock as _;

use crate::clock;
use crate::mapping::{MapError, PageAdvice};
use crate::numa::{MemoryNode, MemoryPlacementError};
use crate::timed::TimedTeam;
use chain::{Chain, LOADS_PER_STEP};

/// Minimum length of a repetition: 10⁵ times the cost of reading the clock, and short compared with
/// a scheduler's tick of 4 ms, so that many repetitions are not interrupted at all.
const REPETITION_S: f64 = 2e-3;
/// Passes that must all be long enough before the number of loads is accepted.
const CALIBRATION_PASSES: usize = 3;

/// Working set to measure, and its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatencyConfig {
    /// CPU that the thread is pinned to.
    pub cpu: usize,
    /// Size of the working set in bytes; rounded down to whole lines, at least two.
    pub bytes: usize,
    /// Distance of the pointers in bytes, the size of a cache line.
    pub line_bytes: usize,
    /// Whether to request huge pages; [`PointerChase::huge_bytes`] reports the result.
    pub huge_pages: bool,
    /// Node of the set's memory; `None` = that of the CPU.
    pub memory: Option<MemoryNode>,
}

/// Working set with its chain, and the pinned thread that follows it.
#[derive(Debug)]
pub struct PointerChase {
    team: TimedTeam,
    chain: Chain,
    steps: usize,
}

impl PointerChase {
    /// Starts the thread, which touches the set first and links the chain. Checks the chain (which
    /// also warms the caches), and determines the number of loads of a repetition.
    ///
    /// # Errors
    /// [`LatencyError`]: a CPU or memory is unavailable, there are fewer than two lines, or lines cannot
    /// hold a pointer; or `cancel`, which is checked while the set is touched, linked and checked.
    pub fn prepare(config: &LatencyConfig, cancel: &AtomicBool) -> Result<Self, LatencyError> {
        let team = TimedTeam::new(&[config.cpu]).map_err(LatencyError::StartThread)?;
        Self::prepare_on(team, config, cancel)
    }

    /// Prepares the chain on the first member of a team; the others have no part in it.
    fn prepare_on(
        team: TimedTeam,
        config: &LatencyConfig,
        cancel: &AtomicBool,
    ) -> Result<Self, LatencyError> {
        let advice = PageAdvice::from_huge_pages(config.huge_pages);
        let mut chain = Chain::map(config.bytes, config.line_bytes, advice)?;
        if let Some(memory) = config.memory {
            chain.place(memory).map_err(LatencyError::PlaceSet)?;
        }
        let mut latency = Self { team, chain, steps: 1 };
        latency.on_thread(|chain| chain.link(cancel));
        if cancel.load(Ordering::Relaxed) {
            return Err(LatencyError::Cancelled);
        }
        if let Some(memory) = config.memory {
            latency.chain.check_place(memory).map_err(LatencyError::PlaceSet)?;
        }
        latency.verify(cancel)?;
        latency.calibrate();
        Ok(latency)
    }

    /// Returns the actual size of the working set, in bytes.
    pub fn bytes(&self) -> usize {
        self.chain.bytes()
    }

    /// Returns the number of loads in one repetition.
    pub fn loads_per_repetition(&self) -> usize {
        self.steps * LOADS_PER_STEP
    }

    /// Returns the bytes of the working set that are in huge pages.
    ///
    /// # Errors
    /// The system does not report it.
    pub fn huge_bytes(&self) -> io::Result<usize> {
        self.chain.huge_bytes()
    }

    /// Follows the chain from the end of the last repetition. Returns seconds per load.
    pub fn repetition(&mut self) -> f64 {
        self.pass_s() / self.loads_per_repetition() as f64
    }

    /// Checks that the chain visits every line exactly once before it returns to the first. Nothing
    /// is timed.
    ///
    /// # Errors
    /// [`LatencyError::WrongChain`], with the number of lines visited before the fault.
    pub fn verify(&mut self, cancel: &AtomicBool) -> Result<(), LatencyError> {
        let visited = self.on_thread(|chain| chain.lines_before_return(cancel));
        self.check_visited(visited, cancel)
    }

    fn check_visited(
        &self,
        visited: Result<usize, usize>,
        cancel: &AtomicBool,
    ) -> Result<(), LatencyError> {
        let lines = self.chain.lines();
        match visited {
            Ok(visited) if visited == lines => Ok(()),
            Ok(_) | Err(_) if cancel.load(Ordering::Relaxed) => Err(LatencyError::Cancelled),
            Ok(visited) | Err(visited) => Err(LatencyError::WrongChain { visited, lines }),
        }
    }

    /// Repeats the last steps of [`PointerChase::prepare`], then follows the chain for one repetition,
    /// for use after other work. Returns seconds per load.
    ///
    /// The check reads every line, so that caches and translation caches contain the set and not
    /// the data of the other work; the passes of the calibration let the clocks settle. All other
    /// members of a team sleep.
    ///
    /// # Errors
    /// [`LatencyError::WrongChain`], or `cancel`.
    pub fn repetition_as_prepared(&mut self, cancel: &AtomicBool) -> Result<f64, LatencyError> {
        let (steps, lines) = (self.steps, self.chain.lines());
        let (visited, seconds) = self.on_thread(|chain| {
            let visited = chain.lines_before_return(cancel);
            if visited != Ok(lines) {
                return (visited, 0.0);
            }
            chain.follow(CALIBRATION_PASSES * steps);
            let start_ns = clock::now_ns();
            chain.follow(steps);
            (visited, clock::seconds_between(start_ns, clock::now_ns()))
        });
        self.check_visited(visited, cancel)?;
        Ok(seconds / self.loads_per_repetition() as f64)
    }

    /// Doubles the steps until a repetition is long enough. The shortest of a few passes counts:
    /// one interrupted pass must not end the calibration with a handful of loads.
    fn calibrate(&mut self) {
        while (0..CALIBRATION_PASSES).any(|_| self.pass_s() < REPETITION_S) {
            self.steps *= 2;
        }
    }

    fn pass_s(&mut self) -> f64 {
        let (chain, steps) = (&self.chain, self.steps);
        self.team.pass(|member| {
            if member == 0 {
                chain.follow(steps);
            }
        });
        self.team.members_s(0..1)
    }

    /// Runs `work` on the pinned thread and returns its result.
    fn on_thread<T: Send>(&mut self, work: impl Fn(&mut Chain) -> T + Sync) -> T {
        let place = Mutex::new((&mut self.chain, None));
        self.team.team().run(|member| {
            if member > 0 {
                return;
            }
            let (chain, result) = &mut *place.lock().even_if_poisoned();
            *result = Some(work(chain));
        });
        let (_, result) = place.into_inner().even_if_poisoned();
        result.expect("the first member has run")
    }
}

/// Error of preparing a latency measurement, or of its chain.
#[derive(Debug, thiserror::Error)]
pub enum LatencyError {
    /// The pinned thread could not be started.
    #[error("cannot start the thread")]
    StartThread(#[source] io::Error),
    /// The memory of the working set could not be mapped.
    #[error("cannot map the memory of the working set")]
    MapSet(#[source] MapError),
    /// The memory of the working set is not on the requested node.
    #[error("cannot place the working set")]
    PlaceSet(#[source] MemoryPlacementError),
    /// The working set has fewer than two lines, or its lines cannot hold an aligned pointer.
    #[error(
        "cannot link a working set of {bytes} B in lines of {line_bytes} B: expected at least two lines, \
         each a multiple of 8 B"
    )]
    LinkLines {
        /// Requested size.
        bytes: usize,
        /// Requested size of a line.
        line_bytes: usize,
    },
    /// The caller cancelled the measurement.
    #[error("the measurement was cancelled")]
    Cancelled,
    /// The chain leaves the set, or returns before it has visited all lines.
    #[error("wrong chain: visited {visited} of {lines} lines")]
    WrongChain {
        /// Lines visited until then.
        visited: usize,
        /// Lines in the set.
        lines: usize,
    },
    /// A traffic generator has not rewritten its buffer as often as counted.
    #[error("wrong traffic: {found} words were rewritten, expected {expected}")]
    WrongTraffic {
        /// Words according to the buffer.
        found: u64,
        /// Words according to the generator.
        expected: u64,
    },
}

#[cfg(test)]
mod tests;
