//! Task of a pass: its items one after another, with their times.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use assay_model::file_outcome::FileTally;

use super::root::{self, ParentDirectory};
use super::{
    INTERVAL, ItemFailure, ItemOperation, NewFileContents, PassState, TaskItems, TaskProgress,
};
use crate::storage::content;
use crate::storage::error::StorageError;
use crate::storage::files::{nanoseconds, record_requested};

/// Bytes at the start of a file's data that contain the number of its item.
const STAMP_BYTES: usize = 8;

/// Task with its buffers.
pub(super) struct Task<'p, 'i> {
    operation: ItemOperation,
    items: &'p TaskItems<'i>,
    parent: ParentDirectory,
    new_parent: ParentDirectory,
    /// Data of the files, which differs from item to item by its stamp only.
    data: Vec<u8>,
    read_buffer: Vec<u8>,
    name: String,
    new_name: String,
    tally: FileTally,
    /// Interval of the tally.
    interval: usize,
}

impl<'p, 'i> Task<'p, 'i> {
    pub(super) fn new(
        operation: ItemOperation,
        items: &'p TaskItems<'i>,
    ) -> Result<Self, StorageError> {
        let (written, read) = match operation {
            ItemOperation::Create(it) => (it.bytes, if it.verifies { it.bytes } else { 0 }),
            ItemOperation::Read { bytes, verifies } => {
                (if verifies { bytes } else { 0 }, bytes)
            }
            _ => (0, 0),
        };
        let mut data = allocate(written)?;
        content::fill(&mut data, 0.0, items.seed);
        Ok(Self {
            operation,
            items,
            parent: ParentDirectory::default(),
            new_parent: ParentDirectory::default(),
            data,
            read_buffer: allocate(read)?,
            name: String::new(),
            new_name: String::new(),
            tally: FileTally::default(),
            interval: 0,
        })
    }

    /// Does the operation on every item; returns when the pass is over for this task.
    pub(super) fn work(mut self, state: &PassState<'_>) -> TaskProgress {
        let started = *state.started.get_or_init(Instant::now);
        let mut progress = TaskProgress::default();
        for position in 0..self.items.count {
            if state.is_over() {
                break;
            }
            let start = Instant::now();
            if let Err(source) = self.operate(position) {
                let path = self.items.folder.join(&self.name);
                state.fail(ItemFailure { verb: self.operation.verb(), path, source });
                break;
            }
            let end = Instant::now();
            progress.done += 1;
            let since_start = end - started;
            self.count(
                state,
                (since_start.as_nanos() / INTERVAL.as_nanos()) as usize,
                end - start,
            );
            if state.deadline.is_some_and(|deadline| since_start > deadline) {
                break;
            }
        }
        progress.elapsed_s = started.elapsed().as_secs_f64();
        state.add_tally(self.interval, &self.tally);
        progress
    }

    fn count(&mut self, state: &PassState<'_>, interval: usize, took: std::time::Duration) {
        if interval != self.interval {
            state.add_tally(self.interval, &std::mem::take(&mut self.tally));
            self.interval = interval;
        }
        let ns = nanoseconds(took);
        let counted = self.operation.counted();
        record_requested(&mut self.tally, ns, None);
        self.tally.operations[counted.index()].add(ns);
        match self.operation {
            ItemOperation::Create(contents) => self.tally.written_bytes += contents.bytes,
            ItemOperation::Read { bytes, .. } => self.tally.read_bytes += bytes,
            _ => {}
        }
    }

    fn operate(&mut self, position: u64) -> io::Result<()> {
        self.name.clear();
        (self.items.name)(position, &mut self.name);
        let roots = self.items.roots;
        match self.operation {
            ItemOperation::MakeDirectory => self.parent.make_directory(roots, &self.name),
            ItemOperation::Query => root::query_item(roots, &self.name),
            ItemOperation::Rename => {
                self.new_name.clear();
                if let Some(new_name) = &self.items.new_name {
                    new_name(position, &mut self.new_name);
                }
                let target = (&mut self.new_parent, self.new_name.as_str());
                self.parent.rename(roots, &self.name, target)
            }
            ItemOperation::RemoveDirectory => {
                self.parent.remove(roots, &self.name, libc::AT_REMOVEDIR)
            }
            ItemOperation::Create(contents) => self.create(position, contents),
            ItemOperation::MakeNode => self.parent.make_node(roots, &self.name),
            ItemOperation::Read { bytes, verifies } => self.read(position, bytes, verifies),
            ItemOperation::Remove => self.parent.remove(roots, &self.name, 0),
        }
    }

    fn create(&mut self, position: u64, contents: NewFileContents) -> io::Result<()> {
        let access = if contents.verifies { libc::O_RDWR } else { libc::O_WRONLY };
        let is_new = if contents.is_new { libc::O_EXCL } else { libc::O_NONBLOCK };
        let flags = access | libc::O_CREAT | is_new;
        let file = root::open_item(self.items.roots, &self.name, flags)?;
        if contents.bytes == 0 {
            return Ok(());
        }
        self.stamp_data(position);
        file.write_all_at(&self.data, 0)?;
        if contents.syncs {
            file.sync_all()?;
        }
        if contents.verifies {
            self.check(&file)?;
        }
        Ok(())
    }

    fn read(&mut self, position: u64, bytes: u64, verifies: bool) -> io::Result<()> {
        // A pipe would wait for a writer.
        let flags = libc::O_RDONLY | libc::O_NONBLOCK;
        let file = root::open_item(self.items.roots, &self.name, flags)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        if verifies {
            self.stamp_data(position);
            return self.check(&file);
        }
        if bytes > 0 { file.read_exact_at(&mut self.read_buffer, 0) } else { Ok(()) }
    }

    /// Writes the number of an item into the data of its file.
    fn stamp_data(&mut self, position: u64) {
        let stamp = (self.items.number)(position).to_le_bytes();
        for (byte, stamp) in self.data.iter_mut().take(STAMP_BYTES).zip(stamp) {
            *byte = stamp;
        }
    }

    /// Reads a file and compares it with the expected data.
    fn check(&mut self, file: &File) -> io::Result<()> {
        file.read_exact_at(&mut self.read_buffer, 0)?;
        let differs = self.read_buffer.iter().zip(&self.data).position(|(a, b)| a != b);
        match differs {
            None => Ok(()),
            Some(byte) => Err(io::Error::other(format!("wrong data at byte {byte}"))),
        }
    }
}

/// Allocates a buffer that may be larger than memory.
fn allocate(bytes: u64) -> Result<Vec<u8>, StorageError> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(bytes as usize).map_err(|error| StorageError::Resource {
        what: format!("{bytes} bytes for the buffer of a task"),
        source: io::Error::new(io::ErrorKind::OutOfMemory, error),
    })?;
    buffer.resize(bytes as usize, 0);
    Ok(buffer)
}
