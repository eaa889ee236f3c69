//! Open file, with the offset of the next read or write.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use assay_model::workload::file_set::{FileAccess, FileStream, StopAfter};
use assay_model::workload::storage::SizeShare;

use super::tree::{EntryPresence, TreeState};
use crate::storage::hard_links;
use crate::storage::random::RandomStream;

/// File that a thread works on.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) number: u64,
    file: File,
    bytes: u64,
    position: u64,
    /// Presence when the file was opened; for a partial file it is determined again at the end.
    initial_presence: EntryPresence,
    /// Remaining reads and writes.
    operations_left: u64,
    /// Remaining bytes.
    bytes_left: u64,
}

/// Offset and length of one read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TransferRange {
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// Opens a file of a tree, with its flags; does not follow links. A file opened `anew` is truncated only
/// after its link count was checked.
pub(super) fn open_tree_file(
    state: &TreeState<'_>,
    number: u64,
    writes: bool,
    anew: bool,
) -> io::Result<File> {
    let tree = state.tree;
    let mut flags = match (anew, writes) {
        (true, _) => libc::O_WRONLY | libc::O_CREAT,
        (false, true) => libc::O_RDWR,
        (false, false) => libc::O_RDONLY,
    };
    if tree.direct {
        flags |= libc::O_DIRECT;
    }
    if tree.sync && writes {
        flags |= libc::O_DSYNC;
    }
    let file = state.anchor.open_below(&tree.file(number), flags)?;
    if writes || anew {
        let found = hard_links::refuse_in_tree(&file)?;
        if anew && found.len() > 0 {
            file.set_len(0)?;
        }
    }
    Ok(file)
}

impl OpenFile {
    /// Creates the state of a newly opened file.
    pub(super) fn new(
        file: File,
        (number, initial_presence): (u64, EntryPresence),
        bytes: u64,
        stream: &FileStream,
    ) -> Self {
        // Without a limit, the file is closed after as many bytes as it contains.
        let (operations_left, bytes_left) = match stream.stop_after {
            None => (u64::MAX, bytes),
            Some(StopAfter::Operations(operations)) => (operations, u64::MAX),
            Some(StopAfter::Bytes(bytes)) => (u64::MAX, bytes),
            Some(StopAfter::Share(share)) => (u64::MAX, (bytes as f64 * share) as u64),
        };
        Self { number, file, bytes, position: 0, initial_presence, operations_left, bytes_left }
    }

    /// Returns the next read or write; `None` when the file is to be closed.
    pub(super) fn next_transfer(
        &mut self,
        stream: &FileStream,
        draws: &mut RandomStream,
    ) -> Option<TransferRange> {
        if self.operations_left == 0 || self.bytes_left == 0 || self.bytes == 0 {
            return None;
        }
        let wanted = draw_size(&stream.sizes, draws);
        let piece = match stream.access {
            FileAccess::Sequential | FileAccess::SequentialAnew => {
                let left = self.bytes - self.position;
                if left == 0 {
                    return None;
                }
                TransferRange { offset: self.position, bytes: wanted.min(left) }
            }
            FileAccess::Random | FileAccess::RandomShared => {
                let bytes = wanted.min(self.bytes);
                TransferRange { offset: draws.uniform_below(self.bytes / bytes) * bytes, bytes }
            }
        };
        self.position = piece.offset + piece.bytes;
        self.operations_left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(piece.bytes);
        Some(piece)
    }

    /// Reads a piece in full.
    pub(super) fn read(&self, buffer: &mut [u8], piece: TransferRange) -> io::Result<()> {
        self.file.read_exact_at(&mut buffer[..piece.bytes as usize], piece.offset)
    }

    /// Writes a piece in full.
    pub(super) fn write(&self, buffer: &[u8], piece: TransferRange) -> io::Result<()> {
        self.file.write_all_at(&buffer[..piece.bytes as usize], piece.offset)
    }

    /// Returns the current presence.
    pub(super) fn presence(&self) -> EntryPresence {
        match (self.initial_presence, self.file.metadata()) {
            (EntryPresence::Partial, Ok(found)) => {
                EntryPresence::from_size(found.len(), self.bytes)
            }
            (was, _) => was,
        }
    }

    /// Closes the file, with `sync` after its data is on stable storage.
    pub(super) fn close(self, sync: bool) -> io::Result<()> {
        if sync { self.file.sync_all() } else { Ok(()) }
    }
}

/// Draws the size of one read or write.
fn draw_size(sizes: &[SizeShare], draws: &mut RandomStream) -> u64 {
    let mut draw = if sizes.len() > 1 { draws.uniform_unit() } else { 0.0 };
    let last = sizes.len().saturating_sub(1);
    for (index, size) in sizes.iter().enumerate() {
        if draw < size.share || index == last {
            let steps = (size.max_bytes - size.min_bytes) / size.step_bytes.max(1);
            return size.min_bytes + draws.uniform_below(steps + 1) * size.step_bytes;
        }
        draw -= size.share;
    }
    4096
}
