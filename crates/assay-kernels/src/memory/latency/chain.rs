//! Working set whose lines are linked into one random cycle.
//!
//! Never reads the clock, and never follows a pointer that it has not written or checked.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use assay_model::seed;

use super::LatencyError;
use crate::mapping::{Mapping, PageAdvice};
use crate::numa::{MemoryNode, MemoryPlacementError};

/// Loads per step of the loop, unrolled so that the loop itself takes negligible time.
pub(super) const LOADS_PER_STEP: usize = 16;

/// Seed of the random sequence: the same chain for the same number of lines, in every run.
const SEED: u64 = 0x5EED_0F0C_4A15;

/// Walks that check a chain at the same time: several times the outstanding memory requests of a
/// core, because they end one by one.
const CHECK_WALKS: usize = 64;

/// Lines between two checks of the cancel flag: some milliseconds.
const LINES_PER_CANCEL_CHECK: usize = 1 << 15;

fn is_cancelled(line: usize, cancel: &AtomicBool) -> bool {
    line.is_multiple_of(LINES_PER_CANCEL_CHECK) && cancel.load(Ordering::Relaxed)
}

/// First word of each line: the address of the next line's link.
type Link = *const u8;

/// Lines of the working set, and the position of the next repetition.
#[derive(Debug)]
pub(super) struct Chain {
    mapping: Mapping,
    lines: usize,
    line_bytes: usize,
    cursor: AtomicPtr<u8>,
}

impl Chain {
    /// Maps the set without touching it; [`Chain::link`] must be called before anything else.
    pub(super) fn map(
        bytes: usize,
        line_bytes: usize,
        advice: PageAdvice,
    ) -> Result<Self, LatencyError> {
        let holds_links = line_bytes > 0 && line_bytes.is_multiple_of(size_of::<Link>());
        if !holds_links || bytes / line_bytes < 2 {
            return Err(LatencyError::LinkLines { bytes, line_bytes });
        }
        let lines = bytes / line_bytes;
        let mapping = Mapping::new(lines * line_bytes, advice).map_err(LatencyError::MapSet)?;
        let cursor = AtomicPtr::new(mapping.as_ptr());
        Ok(Self { mapping, lines, line_bytes, cursor })
    }

    /// Requests the memory of a node; must come before [`Chain::link`], which touches the rest.
    pub(super) fn place(&mut self, memory: MemoryNode) -> Result<(), MemoryPlacementError> {
        memory.request(&self.mapping)?;
        memory.touch(&mut self.mapping)
    }

    /// Checks that the linked set is on a node.
    pub(super) fn check_place(&self, memory: MemoryNode) -> Result<(), MemoryPlacementError> {
        memory.check(&self.mapping)
    }

    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    pub(super) fn bytes(&self) -> usize {
        self.mapping.len_bytes()
    }

    pub(super) fn huge_bytes(&self) -> io::Result<usize> {
        self.mapping.huge_bytes()
    }

    /// Links all lines into one cycle by Sattolo's algorithm, in place: uniformly random among all
    /// cyclic permutations. Reference: S. Sattolo, Information Processing Letters 22 (1986). Sets
    /// of gigabytes take seconds; after cancellation the set is linked, but not into one cycle.
    pub(super) fn link(&mut self, cancel: &AtomicBool) {
        for line in 0..self.lines {
            self.set_link(line, self.line(line));
            if is_cancelled(line, cancel) {
                return;
            }
        }
        let mut random = SplitMix64(SEED);
        for line in (1..self.lines).rev() {
            if is_cancelled(line, cancel) {
                return;
            }
            let other = random.uniform_below(line);
            let (link, other_link) = (self.link_of(line), self.link_of(other));
            self.set_link(line, other_link);
            self.set_link(other, link);
        }
    }

    /// Follows `steps` times [`LOADS_PER_STEP`] links and stores the final position.
    #[inline(never)]
    pub(super) fn follow(&self, steps: usize) {
        let mut at: Link = self.cursor.load(Ordering::Relaxed);
        for _ in 0..steps {
            for _ in 0..LOADS_PER_STEP {
                // SAFETY: the cursor starts at a line, and every link holds the address of a line:
                // `link` is called before this and nothing else writes to the mapping.
                at = unsafe { *at.cast::<Link>() };
            }
        }
        self.cursor.store(at.cast_mut(), Ordering::Relaxed);
    }

    /// Returns the number of lines visited before the chain returns to the first: all of them if
    /// and only if the links form one cycle. An error, with the lines visited so far, if a link
    /// leads to no line or the first line is not reached again in as many steps as there are lines.
    pub(super) fn lines_before_return(&self, cancel: &AtomicBool) -> Result<usize, usize> {
        if self.is_one_cycle(cancel) {
            return Ok(self.lines);
        }
        let mut line = 0;
        for visited in 1..=self.lines {
            if is_cancelled(visited, cancel) {
                return Err(visited);
            }
            line = self.next_line(line).ok_or(visited)?;
            if line == 0 {
                return Ok(visited);
            }
        }
        Err(self.lines)
    }

    /// Whether the links form one cycle of all lines. Several walks take a fraction of the time of
    /// one, since memory serves many requests in parallel. Each walk leads from a mark to the next
    /// mark that it meets. The lines are one cycle when the marks are, and when the walks together
    /// have as many steps as there are lines. `false` also when cancelled.
    fn is_one_cycle(&self, cancel: &AtomicBool) -> bool {
        let between = self.lines.div_ceil(CHECK_WALKS).next_power_of_two();
        let marks = self.lines.div_ceil(between);
        let mut walks: Vec<(usize, usize)> =
            (0..marks).map(|mark| (mark, mark * between)).collect();
        let mut next_marks = vec![0; marks];
        let mut steps = 0;
        // Walks that meet no mark never end.
        while !walks.is_empty() && steps <= self.lines {
            if is_cancelled(steps / CHECK_WALKS, cancel) {
                return false;
            }
            steps += walks.len();
            for (_, line) in &mut walks {
                let Some(next) = self.next_line(*line) else { return false };
                *line = next;
            }
            walks.retain(|(mark, line)| {
                let is_over = line & (between - 1) == 0;
                if is_over {
                    next_marks[*mark] = line / between;
                }
                !is_over
            });
        }
        let mut mark = 0;
        let before_return = (1..=marks).find(|_| {
            mark = next_marks[mark];
            mark == 0
        });
        steps == self.lines && before_return == Some(marks)
    }

    /// Returns the line that the link of `line` leads to; `None` if it leads to no line.
    fn next_line(&self, line: usize) -> Option<usize> {
        let offset = (self.link_of(line) as usize).wrapping_sub(self.line(0) as usize);
        let next = offset / self.line_bytes;
        (next < self.lines && offset.is_multiple_of(self.line_bytes)).then_some(next)
    }

    fn line(&self, line: usize) -> Link {
        debug_assert!(line < self.lines);
        // SAFETY: the mapping holds `lines` lines of `line_bytes` bytes.
        unsafe { self.mapping.as_ptr().add(line * self.line_bytes) }
    }

    fn link_of(&self, line: usize) -> Link {
        // SAFETY: each line begins with an aligned link; all bit patterns are pointers that may be
        // read, if not followed.
        unsafe { *self.line(line).cast::<Link>() }
    }

    /// Returns the line where the next repetition begins.
    #[cfg(test)]
    pub(super) fn cursor_line(&self) -> usize {
        (self.cursor.load(Ordering::Relaxed) as usize - self.line(0) as usize) / self.line_bytes
    }

    /// Returns to the first line.
    #[cfg(test)]
    pub(super) fn rewind(&mut self) {
        self.cursor.store(self.line(0).cast_mut(), Ordering::Relaxed);
    }

    /// Returns the line that follows each line.
    #[cfg(test)]
    pub(super) fn order(&self) -> Vec<Option<usize>> {
        (0..self.lines).map(|line| self.next_line(line)).collect()
    }

    /// Makes the first line point to itself, to simulate a fault.
    #[cfg(test)]
    pub(super) fn shorten(&mut self) {
        self.set_link(0, self.line(0));
    }

    fn set_link(&mut self, line: usize, link: Link) {
        // SAFETY: as for `link_of`; `&mut self` makes this the only access.
        unsafe { *self.line(line).cast_mut().cast::<Link>() = link }
    }
}

/// Random sequence of sufficient quality for the chain. Reference: Steele, Lea and Flood, OOPSLA
/// 2014.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(seed::GAMMA);
        seed::mix(self.0)
    }

    /// Returns a number below `bound`; its bias of `bound`/2⁶⁴ is negligible here.
    fn uniform_below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn linked(lines: usize) -> Chain {
        let mut chain = Chain::map(lines * 64, 64, PageAdvice::Default).unwrap();
        chain.link(&NEVER);
        chain
    }

    #[test]
    fn visits_every_line_once() {
        for lines in [2, 3, 16, 17, 63, 64, 65, 1000, 4097, 65_536] {
            let chain = linked(lines);
            assert!(chain.is_one_cycle(&NEVER), "{lines}");
            assert_eq!(chain.lines_before_return(&NEVER), Ok(lines));
            let links: BTreeSet<usize> =
                (0..lines).map(|line| chain.link_of(line) as usize).collect();
            assert_eq!(links.len(), lines);
        }
    }

    #[test]
    fn order_has_no_stride() {
        let lines = 4096;
        let chain = linked(lines);
        let mut strides = BTreeSet::new();
        for line in 0..lines {
            strides
                .insert((chain.link_of(line) as usize).wrapping_sub(chain.line(line) as usize));
        }
        // Two random lines have one of some 8000 differences, so few differences occur twice.
        assert!(strides.len() > lines / 2, "{}", strides.len());
    }

    #[test]
    fn follow_continues_at_the_cursor() {
        let chain = linked(1000);
        let cursor = || chain.cursor.load(Ordering::Relaxed) as usize;
        let mut seen = BTreeSet::new();
        for _ in 0..1000 {
            chain.follow(1);
            seen.insert(cursor());
        }
        // 16 and 1000 have the common divisor 8, so the repetitions stop at every eighth line.
        assert_eq!(seen.len(), 125);
        assert_eq!(cursor(), chain.line(0) as usize);
    }

    /// Cuts the cycle in two by exchanging two links; each line is still visited once.
    #[test]
    fn detects_two_cycles() {
        for (lines, a, b) in [(2, 0, 1), (3, 1, 2), (65, 0, 64), (1000, 10, 700), (4097, 5, 6)]
        {
            let mut chain = linked(lines);
            let (link, other_link) = (chain.link_of(a), chain.link_of(b));
            chain.set_link(a, other_link);
            chain.set_link(b, link);
            assert!(!chain.is_one_cycle(&NEVER), "{lines}");
            assert_ne!(chain.lines_before_return(&NEVER), Ok(lines), "{lines}");
        }
    }

    #[test]
    fn detects_damaged_links() {
        for (line, damage) in [(0, 0), (500, 0), (999, 7)] {
            let mut chain = linked(1000);
            chain.set_link(line, chain.line(damage));
            assert_ne!(chain.lines_before_return(&NEVER), Ok(1000), "line {line} to {damage}");
        }
        for damage in [std::ptr::null(), std::ptr::without_provenance(usize::MAX)] {
            let mut chain = linked(1000);
            chain.set_link(77, damage);
            assert!(chain.lines_before_return(&NEVER).is_err());
        }
        let mut chain = linked(1000);
        chain.set_link(5, chain.line(8).wrapping_add(8));
        assert!(chain.lines_before_return(&NEVER).is_err());
    }
}
