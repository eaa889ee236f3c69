//! State of a tree's directories and files: which exist, and which a thread works on.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use assay_model::workload::file_set::{FileOrder, FileTree};

use super::changes::Changes;
use crate::storage::anchor::Anchor;
use crate::storage::error::{StorageError, end_if_stopped};
use crate::storage::random::RandomStream;

/// Maximum number of directories or files: more would need gigabytes to keep track of.
const MAX_ENTRIES: u64 = 200_000_000;
/// Random draws before a search goes through the list.
const RANDOM_TRIES: u32 = 32;

/// State of a directory or file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum EntryPresence {
    Missing,
    /// The file exists without all of its bytes: it can be opened and removed, but not read.
    Partial,
    Present,
    /// A thread works on it.
    Busy,
}

impl EntryPresence {
    /// Exists in full.
    pub(super) const WHOLE: &'static [Self] = &[Self::Present];
    /// Exists.
    pub(super) const EXISTING: &'static [Self] = &[Self::Present, Self::Partial];
    /// Does not exist.
    pub(super) const ABSENT: &'static [Self] = &[Self::Missing];
    /// Does not exist in full.
    pub(super) const NOT_WHOLE: &'static [Self] = &[Self::Missing, Self::Partial];
    /// Any state but busy.
    pub(super) const ANY: &'static [Self] = &[Self::Present, Self::Partial, Self::Missing];

    /// Returns the state of a file of `bytes` bytes.
    pub(super) const fn from_size(bytes: u64, expected: u64) -> Self {
        if bytes == expected { Self::Present } else { Self::Partial }
    }
}

/// Tree with the state of its entries.
#[derive(Debug)]
pub(super) struct TreeState<'w> {
    pub(super) tree: &'w FileTree,
    /// Folder of the tree, from which its files are opened.
    pub(super) anchor: Anchor,
    pub(super) directories: EntryStates,
    pub(super) files: EntryStates,
}

/// States of directories or files, by number.
#[derive(Debug)]
pub(super) struct EntryStates {
    states: Vec<AtomicU8>,
}

/// Result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimResult {
    /// Number of the claimed entry, which is now busy, and its previous state.
    Claimed(u64, EntryPresence),
    /// All suitable entries are busy.
    AllBusy,
    /// No entry is suitable, nor will become so by the end of running operations.
    Exhausted,
}

impl<'w> TreeState<'w> {
    /// Reads the state of every directory and file; a file of the wrong size is partial. A link in
    /// place of one is an error: its target is not part of the tree. So is a file
    /// that would be changed under its other names. `stop` ends the scan.
    pub(super) fn scan(
        tree: &'w FileTree,
        changes: Changes,
        stop: &AtomicBool,
    ) -> Result<Self, StorageError> {
        let countable = |count: Option<u64>| {
            count.filter(|count| *count <= MAX_ENTRIES).ok_or_else(|| StorageError::Workload {
                what: format!("{} has more than {MAX_ENTRIES} directories or files", tree.name),
            })
        };
        let directories = EntryStates::all_missing(countable(tree.directories())?);
        let files = EntryStates::all_missing(countable(tree.file_count())?);
        let anchor = Anchor::open(&tree.anchor)
            .map_err(|source| StorageError::Open { path: tree.anchor.clone(), source })?;
        let no_link = |path: &Path| match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => Err(StorageError::Link { path: path.into() }),
            Ok(found) => Ok(Some(found)),
            Err(_) => Ok(None),
        };
        for number in 0..directories.len() {
            end_if_stopped(stop)?;
            let is_parent_there =
                tree.parent(number).is_none_or(|it| directories.is_present(it));
            let found = if is_parent_there { no_link(&tree.directory(number))? } else { None };
            if found.is_some_and(|found| found.is_dir()) {
                directories.set(number, EntryPresence::Present);
            }
        }
        for number in 0..files.len() {
            end_if_stopped(stop)?;
            let found = no_link(&tree.file(number))?;
            let expected = tree.file_bytes(number);
            if let Some(found) = found.filter(std::fs::Metadata::is_file) {
                changes.refuse_hard_link(tree, number, &found)?;
                files.set(number, EntryPresence::from_size(found.len(), expected));
            }
        }
        Ok(Self { tree, anchor, directories, files })
    }
}

impl EntryStates {
    fn all_missing(count: u64) -> Self {
        let states = (0..count).map(|_| AtomicU8::new(EntryPresence::Missing as u8)).collect();
        Self { states }
    }

    pub(super) fn len(&self) -> u64 {
        self.states.len() as u64
    }

    pub(super) fn set(&self, number: u64, presence: EntryPresence) {
        self.states[number as usize].store(presence as u8, Ordering::Release);
    }

    pub(super) fn is_present(&self, number: u64) -> bool {
        self.states[number as usize].load(Ordering::Acquire) == EntryPresence::Present as u8
    }

    /// Claims one of the first `limit` entries that is in a `wanted` state; with `backwards` from
    /// the last.
    pub(super) fn claim_next(
        &self,
        wanted: &[EntryPresence],
        (limit, backwards): (u64, bool),
        (order, cursor): (FileOrder, &AtomicU64),
        draws: &mut RandomStream,
    ) -> ClaimResult {
        let limit = limit.min(self.len());
        if limit == 0 {
            return ClaimResult::Exhausted;
        }
        let place = |step: u64| if backwards { limit - 1 - step } else { step };
        match order {
            FileOrder::Once => loop {
                let step = cursor.fetch_add(1, Ordering::Relaxed);
                if step >= limit {
                    return ClaimResult::Exhausted;
                }
                if let Some(was) = self.claim(place(step), wanted) {
                    return ClaimResult::Claimed(place(step), was);
                }
            },
            FileOrder::Sequential => {
                let next = || place(cursor.fetch_add(1, Ordering::Relaxed) % limit);
                self.search(wanted, limit, next)
            }
            FileOrder::Random | FileOrder::Skewed(_) => {
                for _ in 0..RANDOM_TRIES {
                    let number = draw_number(order, limit, draws);
                    if let Some(was) = self.claim(number, wanted) {
                        return ClaimResult::Claimed(number, was);
                    }
                }
                let mut number = draw_number(order, limit, draws);
                self.search(wanted, limit, || {
                    number = (number + 1) % limit;
                    number
                })
            }
        }
    }

    fn search(
        &self,
        wanted: &[EntryPresence],
        limit: u64,
        mut next: impl FnMut() -> u64,
    ) -> ClaimResult {
        let mut any_busy = false;
        for _ in 0..limit {
            let number = next();
            if let Some(was) = self.claim(number, wanted) {
                return ClaimResult::Claimed(number, was);
            }
            let state = self.states[number as usize].load(Ordering::Relaxed);
            any_busy |= state == EntryPresence::Busy as u8;
        }
        if any_busy { ClaimResult::AllBusy } else { ClaimResult::Exhausted }
    }

    fn claim(&self, number: u64, wanted: &[EntryPresence]) -> Option<EntryPresence> {
        let state = &self.states[number as usize];
        let takes = |was: &&EntryPresence| {
            let (was, busy) = (**was as u8, EntryPresence::Busy as u8);
            state.compare_exchange(was, busy, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        wanted.iter().find(takes).copied()
    }
}

/// Draws a number below `limit`, uniformly distributed or skewed.
fn draw_number(order: FileOrder, limit: u64, draws: &mut RandomStream) -> u64 {
    match order {
        // −ln u of a uniform u above 0 is exponential with mean 1.
        FileOrder::Skewed(mean_share) => {
            (-(1.0 - draws.uniform_unit()).ln() * mean_share * limit as f64) as u64 % limit
        }
        FileOrder::Random | FileOrder::Sequential | FileOrder::Once => {
            draws.uniform_below(limit)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skewed_draws_have_their_mean_and_stay_in_range() {
        let mut draws = RandomStream::new(1, 2);
        let limit = 1000;
        let below = |share: f64, draws: &mut RandomStream| {
            let numbers =
                (0..10_000).map(|_| draw_number(FileOrder::Skewed(share), limit, draws));
            let counted: Vec<u64> = numbers.collect();
            assert!(counted.iter().all(|number| *number < limit));
            counted.iter().filter(|number| **number < limit / 10).count()
        };
        // The share below x of an exponential distribution with mean m, wrapped around at the end,
        // is (1 − e^(−x/m)) / (1 − e^(−1/m)); five standard deviations of a binomial with n =
        // 10,000.
        assert!(below(0.1, &mut draws).abs_diff(6321) < 242);
        assert!(below(1.0 / 3.0, &mut draws).abs_diff(2728) < 223);
    }
}
